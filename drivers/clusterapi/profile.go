package clusterapi

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clientcmdv1 "k8s.io/client-go/tools/clientcmd/api/v1"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/broker/hub"
	"github.com/vimbroker/vimbroker/broker/onboard"
	"github.com/vimbroker/vimbroker/broker/remote"
)

var _ hub.Publisher = (*Driver)(nil)

const (
	profiles      = "multicluster.x-k8s.io"
	profileServed = "v1alpha1"
	// manager is the name of the cluster manager, of the field manager, and of the access provider.
	manager      = "vimbroker"
	managerLabel = "x-k8s.io/cluster-manager"
	// hubLabel is the id of the hub's VIM: other brokers may write on the same cluster.
	hubLabel = "vimbroker.io/shown-by"
	// execExtension is handed to the exec plugin as its cluster's config.
	execExtension = "client.authentication.k8s.io/exec"
)

// profile is a ClusterProfile, with the fields that are written
// (https://github.com/kubernetes-sigs/cluster-inventory-api/blob/main/apis/v1alpha1/clusterprofile_types.go).
type profile struct {
	APIVersion string          `json:"apiVersion"`
	Kind       string          `json:"kind"`
	Metadata   profileMetadata `json:"metadata"`
	Spec       *profileSpec    `json:"spec,omitempty"`
	Status     *profileStatus  `json:"status,omitempty"`
}

type profileMetadata struct {
	Namespace string            `json:"namespace"`
	Name      string            `json:"name"`
	Labels    map[string]string `json:"labels,omitempty"`
}

type profileSpec struct {
	DisplayName    string         `json:"displayName"`
	ClusterManager profileManager `json:"clusterManager"`
}

type profileManager struct {
	Name string `json:"name"`
}

type profileStatus struct {
	Conditions []metav1.Condition `json:"conditions"`
	Version    struct {
		Kubernetes string `json:"kubernetes,omitempty"`
	} `json:"version,omitzero"`
	Properties      []profileProperty `json:"properties,omitempty"`
	AccessProviders []profileAccess   `json:"accessProviders,omitempty"`
}

type profileProperty struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

type profileAccess struct {
	Name    string              `json:"name"`
	Cluster clientcmdv1.Cluster `json:"cluster"`
}

// Publish implements [hub.Publisher].
func (d *Driver) Publish(ctx context.Context, a onboard.ManagementAccess, namespace, ofHub string, wanted []hub.ClusterProfile) error {
	there := map[string]profile{}
	path := inNamespace(profiles, profileServed, namespace, "clusterprofiles")
	_, err := list(ctx, d, a, followed[profile]{
		path: path, what: "clusterprofiles" + where(namespace),
		all: func(found []profile) {
			for _, p := range found {
				there[p.Metadata.Name] = p
			}
		},
		trim: func(p *profile) bool { return short(p.Metadata.Name) },
	})
	if err != nil {
		return err
	}
	var inTheWay []string
	for _, w := range wanted {
		now, is := there[w.Name]
		delete(there, w.Name)
		if is && now.Metadata.Labels[hubLabel] != ofHub {
			inTheWay = append(inTheWay, w.Name)
			continue
		}
		if err := d.writeProfile(ctx, a, now, shaped(w, namespace, ofHub, now)); err != nil {
			return err
		}
	}
	for name, p := range there {
		if p.Metadata.Labels[hubLabel] != ofHub {
			continue
		}
		err := d.write(ctx, a, call{method: http.MethodDelete, path: append(path, name), what: "the clusterprofile " + name})
		if err != nil && !errors.Is(err, broker.ErrNotFound) {
			return err
		}
	}
	if len(inTheWay) > 0 {
		return &broker.Error{
			Kind: broker.ErrConflict,
			Detail: "namespace " + namespace + " has clusterprofiles of another manager in the way: " +
				strings.Join(inTheWay[:min(len(inTheWay), 3)], ", "),
			Remedy: "give the hub a namespace of its own, by label " + hub.LabelNamespace,
		}
	}
	return nil
}

// writeProfile makes one object what it is to be, where it is not: first the object, then its status.
func (d *Driver) writeProfile(ctx context.Context, a onboard.ManagementAccess, now, want profile) error {
	path := inNamespace(profiles, profileServed, want.Metadata.Namespace, "clusterprofiles", want.Metadata.Name)
	status := want
	status.Spec, status.Metadata.Labels = nil, nil
	want.Status = nil
	for _, part := range []struct {
		path []string
		body profile
		same bool
	}{
		{path, want, equal(now.Spec, want.Spec) && equal(now.Metadata.Labels, want.Metadata.Labels)},
		{append(path, "status"), status, equal(now.Status, status.Status)},
	} {
		if part.same {
			continue
		}
		err := d.write(ctx, a, call{
			method: http.MethodPatch, path: part.path, body: part.body, patch: "application/apply-patch+yaml",
			query: url.Values{"fieldManager": {manager}, "force": {"true"}}, what: "the clusterprofile " + want.Metadata.Name,
		})
		if err != nil {
			return err
		}
	}
	return nil
}

func (d *Driver) write(ctx context.Context, a onboard.ManagementAccess, c call) error {
	body, err := d.send(remote.Expect(ctx, remote.Small), a, c)
	if err == nil {
		err = body.Close()
	}
	return err
}

// equal compares what is written as JSON.
func equal(a, b any) bool {
	one, _ := json.Marshal(a) // plain data always encodes
	two, _ := json.Marshal(b)
	return bytes.Equal(one, two)
}

// shaped is the object of a VIM. A condition keeps the time since when it is so.
func shaped(w hub.ClusterProfile, namespace, ofHub string, now profile) profile {
	p := profile{
		APIVersion: profiles + "/" + profileServed, Kind: "ClusterProfile",
		Metadata: profileMetadata{Namespace: namespace, Name: w.Name, Labels: map[string]string{managerLabel: manager, hubLabel: ofHub}},
		Spec:     &profileSpec{DisplayName: w.Project + "/" + w.VIMName, ClusterManager: profileManager{manager}},
		Status:   &profileStatus{},
	}
	healthy := metav1.Condition{
		Type: "ControlPlaneHealthy", Status: metav1.ConditionStatus(w.Healthy), Reason: w.Reason,
		Message:            fmt.Sprintf("the last check of VIM %s", w.VIM),
		LastTransitionTime: metav1.Time{Time: time.Now().UTC().Truncate(time.Second)},
	}
	if now.Status != nil && len(now.Status.Conditions) == 1 && now.Status.Conditions[0].Status == healthy.Status {
		healthy.LastTransitionTime = now.Status.Conditions[0].LastTransitionTime
	}
	p.Status.Conditions = []metav1.Condition{healthy}
	p.Status.Version.Kubernetes = w.Version
	for _, property := range []profileProperty{{"cluster.clusterset.k8s.io", w.System}, {"vimbroker.io/project", w.Project}} {
		if property.Value != "" {
			p.Status.Properties = append(p.Status.Properties, property)
		}
	}
	access := map[string]string{"vim": w.VIM, "role": w.Role}
	if w.Role == "" {
		delete(access, "role")
	}
	config, _ := json.Marshal(access) // of texts: it cannot fail
	cluster := clientcmdv1.Cluster{
		Server: w.Server, CertificateAuthorityData: []byte(w.CA), TLSServerName: w.ServerName, InsecureSkipTLSVerify: w.Insecure,
	}
	cluster.Extensions = []clientcmdv1.NamedExtension{{Name: execExtension}}
	cluster.Extensions[0].Extension.Raw = config
	p.Status.AccessProviders = []profileAccess{{Name: manager, Cluster: cluster}}
	return p
}
