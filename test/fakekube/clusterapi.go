package fakekube

import (
	"slices"

	"github.com/google/uuid"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
)

const clusterGroup = "cluster.x-k8s.io"

// Cluster is a Cluster object of Cluster API, as its core manager would leave it.
type Cluster struct {
	Namespace, Name string
	// UID is made up where it is empty and the object is not there.
	UID    string
	Labels map[string]string
	// Ready: the control plane was initialised.
	Ready, Paused bool
	// Kubeconfig is written to its secret, which the Cluster owns; empty writes none.
	Kubeconfig string
}

// ServeClusterAPI changes which versions of Cluster API are served; none is what a cluster
// without its CRDs answers.
func (s *Server) ServeClusterAPI(versions ...string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.opts.ClusterAPI = versions
}

func (s *Server) clusterVersions() any {
	versions := []any{}
	for _, v := range s.opts.ClusterAPI {
		versions = append(versions, map[string]string{"groupVersion": clusterGroup + "/" + v, "version": v})
	}
	return map[string]any{"kind": "APIGroup", "apiVersion": "v1", "name": clusterGroup, "versions": versions, "preferredVersion": versions[0]}
}

// PutCluster writes a Cluster and its secret, and the namespace where there is none. It
// returns the UID that the Cluster has.
func (s *Server) PutCluster(c Cluster) (uid string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.needNamespace(c.Namespace)
	r := capi("v1beta2")
	uid = c.UID
	if uid == "" {
		uid = uuid.NewString()
		if old, err := s.get(r, c.Namespace, c.Name); err == nil {
			uid = string(old.GetUID())
		}
	}
	o := &unstructured.Unstructured{Object: map[string]any{
		"spec": map[string]any{"paused": c.Paused},
		"status": map[string]any{
			"initialization": map[string]any{"controlPlaneInitialized": c.Ready},
			"conditions":     []any{map[string]any{"type": "ControlPlaneInitialized", "status": map[bool]string{true: "True", false: "False"}[c.Ready]}},
		},
	}}
	o.SetNamespace(c.Namespace)
	o.SetName(c.Name)
	o.SetUID(types.UID(uid))
	o.SetLabels(c.Labels)
	s.put(r, c.Namespace, o)
	if c.Kubeconfig != "" {
		s.putSecret(ClusterSecret(c.Namespace, c.Name, uid, c.Kubeconfig))
	}
	return uid
}

// DropCluster removes a Cluster and its secret, as a deletion that has ended does.
func (s *Server) DropCluster(namespace, name string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.drop(key{"clusters", namespace, name})
	s.drop(key{"secrets", namespace, name + "-kubeconfig"})
}

// ClusterSecret is the secret that the core manager writes for a Cluster.
func ClusterSecret(namespace, name, uid, kubeconfig string) *corev1.Secret {
	return &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: namespace, Name: name + "-kubeconfig", Labels: map[string]string{clusterGroup + "/cluster-name": name},
			OwnerReferences: []metav1.OwnerReference{{APIVersion: clusterGroup + "/v1beta2", Kind: "Cluster", Name: name, UID: types.UID(uid)}},
		},
		Type: clusterGroup + "/secret", Data: map[string][]byte{"value": []byte(kubeconfig)},
	}
}

// PutSecret writes a secret as it is, and the namespace where there is none.
func (s *Server) PutSecret(o *corev1.Secret) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.needNamespace(o.Namespace)
	s.putSecret(o.DeepCopy())
}

func (s *Server) putSecret(o *corev1.Secret) {
	r := resources[slices.IndexFunc(resources, func(r resource) bool { return r.Resource == "secrets" })]
	o.UID = types.UID(uuid.NewString())
	if old, err := s.get(r, o.Namespace, o.Name); err == nil {
		o.UID = old.GetUID()
	}
	s.put(r, o.Namespace, o)
}

func (s *Server) needNamespace(name string) {
	if _, err := s.get(resources[0], "", name); err != nil {
		o := &corev1.Namespace{}
		o.Name = name
		_, _ = s.create(resources[0], "", o) // a name that no namespace can have is the test's fault
	}
}
