package clusterapi

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"github.com/vimbroker/vimbroker/broker/onboard"
)

// cluster holds the fields of a Cluster object that are read. The only annotations are the
// one that pauses it and our own: others may hold whole kubeconfigs.
type cluster struct {
	Metadata struct {
		Namespace         string            `json:"namespace"`
		Name              string            `json:"name"`
		UID               string            `json:"uid"`
		ResourceVersion   string            `json:"resourceVersion"`
		Labels            map[string]string `json:"labels"`
		DeletionTimestamp string            `json:"deletionTimestamp"`
		Annotations       struct {
			Paused  *string `json:"cluster.x-k8s.io/paused"`
			Onboard string  `json:"vimbroker.io/onboard"`
		} `json:"annotations"`
	} `json:"metadata"`
	Spec struct {
		Paused          bool            `json:"paused"`
		ControlPlaneRef controlPlaneRef `json:"controlPlaneRef"`
	} `json:"spec"`
	Status struct {
		Initialization struct {
			ControlPlaneInitialized bool `json:"controlPlaneInitialized"`
		} `json:"initialization"`
		Conditions []condition `json:"conditions"`
	} `json:"status"`
}

type controlPlaneRef struct {
	APIGroup   string `json:"apiGroup"`   // v1beta2
	APIVersion string `json:"apiVersion"` // v1beta1
	Kind       string `json:"kind"`
	Name       string `json:"name"`
}

type condition struct {
	Type   string `json:"type"`
	Status string `json:"status"`
}

// initialized is the condition that says that there is a control plane.
var initialized = condition{"ControlPlaneInitialized", "True"}

func (c *cluster) seen() onboard.Seen {
	s := onboard.Seen{
		Namespace: c.Metadata.Namespace, Name: c.Metadata.Name, UID: c.Metadata.UID, Labels: c.Metadata.Labels,
		Paused:   c.Spec.Paused || c.Metadata.Annotations.Paused != nil,
		Onboard:  c.Metadata.Annotations.Onboard,
		Deleting: c.Metadata.DeletionTimestamp != "",
		Ready:    c.Status.Initialization.ControlPlaneInitialized,
		ControlPlane: onboard.ObjectReference{
			Group: c.Spec.ControlPlaneRef.APIGroup, Kind: c.Spec.ControlPlaneRef.Kind, Name: c.Spec.ControlPlaneRef.Name,
		},
	}
	if s.ControlPlane.Group == "" {
		s.ControlPlane.Group = groupOf(c.Spec.ControlPlaneRef.APIVersion)
	}
	s.Ready = s.Ready || slices.Contains(c.Status.Conditions, initialized)
	return s
}

// maxName bounds the names and ids of an object, in bytes; Kubernetes has none that is longer.
const maxName = 253

// trim leaves what is used, however much there is; false if it cannot be an object of Kubernetes'.
func (c *cluster) trim(counts func(label string) bool) bool {
	maps.DeleteFunc(c.Metadata.Labels, func(key, value string) bool {
		return len(value) > maxName || counts != nil && !counts(key)
	})
	if c.Metadata.Annotations.Onboard != "true" && c.Metadata.Annotations.Onboard != "false" {
		c.Metadata.Annotations.Onboard = "" // a tenant can write what he likes
	}
	ref := &c.Spec.ControlPlaneRef
	if !short(ref.APIGroup, ref.APIVersion, ref.Kind, ref.Name) {
		*ref = controlPlaneRef{} // its schema bounds none of them
	}
	ready := slices.Contains(c.Status.Conditions, initialized)
	if c.Status.Conditions = nil; ready {
		c.Status.Conditions = []condition{initialized}
	}
	return short(c.Metadata.Namespace, c.Metadata.Name, c.Metadata.UID, c.Metadata.ResourceVersion)
}

func (m *metadata) trim() bool {
	maps.DeleteFunc(m.Metadata.Labels, func(key, _ string) bool { return key != clusterLabel })
	m.Metadata.OwnerReferences = nil
	return short(m.Metadata.Namespace, m.Metadata.Name, m.Metadata.UID, m.Metadata.ResourceVersion, m.Metadata.Labels[clusterLabel])
}

func short(names ...string) bool {
	return !slices.ContainsFunc(names, func(n string) bool { return len(n) > maxName })
}

// metadata holds the fields that are read of a secret in a watch, and of a control plane.
type metadata struct {
	Metadata struct {
		Namespace       string            `json:"namespace"`
		Name            string            `json:"name"`
		UID             string            `json:"uid"`
		ResourceVersion string            `json:"resourceVersion"`
		Labels          map[string]string `json:"labels"`
		OwnerReferences []struct {
			APIVersion string `json:"apiVersion"`
			Kind       string `json:"kind"`
			Name       string `json:"name"`
			UID        string `json:"uid"`
		} `json:"ownerReferences"`
	} `json:"metadata"`
}

// clusterLabel is on everything that belongs to a cluster.
const clusterLabel = "cluster.x-k8s.io/cluster-name"

func (m *metadata) version() onboard.SecretVersion {
	return onboard.SecretVersion{
		Namespace: m.Metadata.Namespace, Name: m.Metadata.Name, Cluster: m.Metadata.Labels[clusterLabel],
		Version: m.Metadata.UID + "/" + m.Metadata.ResourceVersion,
	}
}

// secretObject holds the fields of one secret that are read.
type secretObject struct {
	metadata
	Data map[string]json.RawMessage `json:"data"`
}

func (s *secretObject) owners() []onboard.OwnerReference {
	var all []onboard.OwnerReference
	for _, o := range s.Metadata.OwnerReferences {
		all = append(all, onboard.OwnerReference{Group: groupOf(o.APIVersion), Kind: o.Kind, Name: o.Name, UID: o.UID})
	}
	return all
}

// groupOf is the group of an apiVersion; empty for the core group.
func groupOf(apiVersion string) string {
	group, _, ok := strings.Cut(apiVersion, "/")
	if !ok {
		return ""
	}
	return group
}
