package clusterapi

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/broker/hub"
	"github.com/vimbroker/vimbroker/broker/onboard"
)

// What each answer of a management cluster means, and what can be done.
func TestMeaningOfRefusals(t *testing.T) {
	status := func(code int, reason, more string) string {
		return fmt.Sprintf(`{"kind":"Status","status":"Failure","code":%d,"reason":%q%s}`, code, reason, more)
	}
	const details, again, endpoint = `,"details":{"name":"a","kind":"secrets"}`, "try again later", "check the endpoint, and what stands in front of it"
	const nobody = "the management cluster does not answer as a Kubernetes API server does"
	for _, c := range []struct {
		code           int
		body           string
		kind           error
		detail, remedy string
	}{
		{401, "", broker.ErrUnauthorized, server + " refuses the lease (401)", ""},
		{429, "", broker.ErrUnreachable, server + " limits requests (429)", again},
		{500, "", broker.ErrUnreachable, server + " cannot answer now (500)", again},
		{499, "", broker.ErrUnreachable, nobody + " (499)", endpoint},
		{403, "", broker.ErrUnreachable, nobody + " (403)", endpoint},
		{403, status(403, "", ""), broker.ErrForbidden, "the lease may not read it (403)", "see whether somebody changed its role on the management cluster"},
		{403, strings.Replace(status(403, "", ""), "Failure", "Success", 1), broker.ErrUnreachable, nobody + " (403)", endpoint},
		{403, strings.Replace(status(403, "", ""), "Status", "Page", 1), broker.ErrUnreachable, nobody + " (403)", endpoint},
		{422, status(422, "", ""), broker.ErrUnreachable, nobody + " (422)", endpoint},
		{404, status(404, "NotFound", details), broker.ErrNotFound, "it is not there", ""},
		{403, `{"kind":"Status","status":"Failure","code":"403"}`, broker.ErrUnreachable, nobody + " (403)", endpoint},
		{404, strings.Replace(status(404, "NotFound", details), "Status", "Page", 1), broker.ErrUnsupported, "the management cluster does not serve it", "see whether Cluster API is installed there"},
		{404, status(404, "Other", details), broker.ErrUnsupported, "the management cluster does not serve it", "see whether Cluster API is installed there"},
		{404, status(404, "NotFound", ""), broker.ErrUnsupported, "the management cluster does not serve it", "see whether Cluster API is installed there"},
		{404, status(404, "NotFound", `,"details":{"name":"a"}`), broker.ErrUnsupported, "the management cluster does not serve it", "see whether Cluster API is installed there"},
		{404, status(404, "NotFound", `,"details":{"kind":"a"}`), broker.ErrUnsupported, "the management cluster does not serve it", "see whether Cluster API is installed there"},
		{404, "", broker.ErrUnsupported, "the management cluster does not serve it", "see whether Cluster API is installed there"},
	} {
		e, is := errors.AsType[*broker.Error](refusal(c.code, []byte(c.body), "it"))
		if !is || e.Kind != c.kind || e.Detail != c.detail || e.Remedy != c.remedy {
			t.Errorf("%d %s: %#v, want %v: %s; %s", c.code, c.body, e, c.kind, c.detail, c.remedy)
		}
	}
	for code, body := range map[int]string{410: "", 400: status(400, "Expired", "")} {
		if err := refusal(code, []byte(body), "it"); !errors.Is(err, errHistory) {
			t.Errorf("%d %s: %v, want that the history is gone", code, body, err)
		}
	}
	if err := refusal(400, []byte(`{"reason":"Expired"}`), "it"); errors.Is(err, errHistory) {
		t.Errorf("a page that speaks of it: %v", err)
	}
}

// Of an object only what can be one is kept, and no more of it than is used.
func TestWhatIsKeptOfObjects(t *testing.T) {
	long := func(n int) string { return strings.Repeat("x", n) }
	for n, ok := range map[int]bool{maxName: true, maxName + 1: false} {
		for name, set := range map[string]func(*cluster){
			"namespace": func(c *cluster) { c.Metadata.Namespace = long(n) }, "name": func(c *cluster) { c.Metadata.Name = long(n) }, "UID": func(c *cluster) { c.Metadata.UID = long(n) },
			"version": func(c *cluster) { c.Metadata.ResourceVersion = long(n) },
		} {
			var c cluster
			if set(&c); c.trim(nil) != ok {
				t.Errorf("a cluster whose %s has %d bytes can be one: %t", name, n, !ok)
			}
		}
		for name, set := range map[string]func(*controlPlaneRef){
			"group": func(r *controlPlaneRef) { r.APIGroup = long(n) }, "version": func(r *controlPlaneRef) { r.APIVersion = long(n) }, "kind": func(r *controlPlaneRef) { r.Kind = long(n) },
			"name": func(r *controlPlaneRef) { r.Name = long(n) },
		} {
			var c cluster
			set(&c.Spec.ControlPlaneRef)
			if !c.trim(nil) || (c.Spec.ControlPlaneRef != controlPlaneRef{}) != ok {
				t.Errorf("a control plane whose %s has %d bytes is kept: %t", name, n, !ok)
			}
		}
		var m metadata
		m.Metadata.Labels = map[string]string{clusterLabel: long(n), "other": "x"}
		m.Metadata.OwnerReferences = append(m.Metadata.OwnerReferences, struct {
			APIVersion string `json:"apiVersion"`
			Kind       string `json:"kind"`
			Name       string `json:"name"`
			UID        string `json:"uid"`
		}{})
		if m.trim() != ok || len(m.Metadata.Labels) != 1 || m.Metadata.OwnerReferences != nil {
			t.Errorf("a label of %d bytes: %+v", n, m)
		}
		empty := cluster{}
		empty.Metadata.Labels = map[string]string{"a": "", "b": "x", "c": ""}
		if empty.trim(func(label string) bool { return label != "c" }); len(empty.Metadata.Labels) != 2 {
			t.Errorf("of labels without values %v are kept", empty.Metadata.Labels)
		}
		c := cluster{}
		c.Metadata.Labels = map[string]string{"a": long(n), "b": "x"}
		if c.trim(nil); len(c.Metadata.Labels) != map[bool]int{true: 2, false: 1}[ok] {
			t.Errorf("of a label of %d bytes and another are kept %d", n, len(c.Metadata.Labels))
		}
	}
	c := cluster{}
	c.Metadata.Labels = map[string]string{"a": "1", "b": "2"}
	c.Status.Conditions = []condition{{"Other", "True"}, {"ControlPlaneInitialized", "False"}}
	if c.trim(func(label string) bool { return label == "b" }); !reflect.DeepEqual(c.Metadata.Labels, map[string]string{"b": "2"}) || c.Status.Conditions != nil {
		t.Errorf("kept are %+v, %+v", c.Metadata.Labels, c.Status.Conditions)
	}
	c.Status.Conditions = []condition{{"Other", "True"}, initialized, initialized}
	if c.trim(nil); !slices.Equal(c.Status.Conditions, []condition{initialized}) || !c.seen().Ready {
		t.Errorf("kept are %+v", c.Status.Conditions)
	}
	for said, want := range map[string]string{"true": "true", "false": "false", "maybe": "", "": ""} {
		c.Metadata.Annotations.Onboard = said
		if c.trim(nil); c.Metadata.Annotations.Onboard != want {
			t.Errorf("%q is kept as %q", said, c.Metadata.Annotations.Onboard)
		}
	}
	paused := ""
	for name, set := range map[string]func(*cluster){"annotation": func(c *cluster) { c.Metadata.Annotations.Paused = &paused }, "field": func(c *cluster) { c.Spec.Paused = true }} {
		var c cluster
		if c.seen().Paused || c.seen().Ready || c.seen().Deleting {
			t.Errorf("nothing said: %+v", c.seen())
		}
		set(&c)
		c.Metadata.DeletionTimestamp, c.Status.Initialization.ControlPlaneInitialized, c.Spec.ControlPlaneRef.APIVersion = "x", true, "g/v1"
		if s := c.seen(); !s.Paused || !s.Deleting || !s.Ready || s.ControlPlane.Group != "g" {
			t.Errorf("paused by its %s: %+v", name, s)
		}
		c.Spec.ControlPlaneRef.APIGroup = "h"
		if s := c.seen(); s.ControlPlane.Group != "h" {
			t.Errorf("a group of its own: %+v", s)
		}
	}
	for version, want := range map[string]string{"g/v1": "g", "v1": "", "": ""} {
		if got := groupOf(version); got != want {
			t.Errorf("the group of %q is %q", version, got)
		}
	}
}

// Paths, and which namespaces are watched.
func TestPathsAndNamespaces(t *testing.T) {
	for want, got := range map[string][]string{
		"api/v1/namespaces/n/secrets/a": inNamespace("", "v1", "n", "secrets", "a"), "apis/g/v1/clusters": inNamespace("g", "v1", onboard.AllNamespaces, "clusters"), "api/v1/secrets": inNamespace("", "v1", onboard.AllNamespaces, "secrets"),
	} {
		if strings.Join(got, "/") != want {
			t.Errorf("%q, want %s", got, want)
		}
	}
	for _, c := range []struct {
		in, watched string
		want        bool
	}{{"a", "a", true}, {"a", "b", false}, {"a", onboard.AllNamespaces, true}, {"", onboard.AllNamespaces, false}} {
		if lies(c.in, c.watched) != c.want {
			t.Errorf("%q lies in %q: %t", c.in, c.watched, !c.want)
		}
	}
	if where("a") != " in namespace a" || where(onboard.AllNamespaces) != " in all namespaces" {
		t.Errorf("%q, %q", where("a"), where(onboard.AllNamespaces))
	}
}

// A profile says what its VIM is; its condition keeps the time since when it is so.
func TestShapeOfProfiles(t *testing.T) {
	since := metav1.Time{Time: time.Unix(1, 0)}
	had := func(conditions ...metav1.Condition) profile {
		return profile{Status: &profileStatus{Conditions: conditions}}
	}
	same := metav1.Condition{Status: "True", LastTransitionTime: since}
	w := hub.ClusterProfile{Name: "p", VIM: "v", VIMName: "one", Project: "acme", Healthy: "True", Reason: "Checked", Version: "v1.30", Server: "https://s", CA: "ca", ServerName: "n", Insecure: true, Role: "view", System: "s"}
	for name, c := range map[string]struct {
		now  profile
		kept bool
	}{
		"new": {profile{}, false}, "the same": {had(same), true}, "another status": {had(metav1.Condition{Status: "False", LastTransitionTime: since}), false}, "two conditions": {had(same, same), false}, "no condition": {had(), false},
	} {
		p := shaped(w, "n", "h", c.now)
		if got := p.Status.Conditions[0].LastTransitionTime.Equal(&since); got != c.kept || len(p.Status.Conditions) != 1 {
			t.Errorf("%s: the time is kept: %t", name, got)
		}
	}
	p := shaped(w, "n", "h", profile{})
	condition := p.Status.Conditions[0]
	cluster := p.Status.AccessProviders[0].Cluster
	if p.APIVersion != "multicluster.x-k8s.io/v1alpha1" || p.Kind != "ClusterProfile" || !reflect.DeepEqual(p.Metadata, profileMetadata{"n", "p", map[string]string{managerLabel: manager, hubLabel: "h"}}) ||
		p.Spec.DisplayName != "acme/one" || p.Spec.ClusterManager.Name != manager || p.Status.Version.Kubernetes != "v1.30" || condition.Type != "ControlPlaneHealthy" || condition.Reason != "Checked" ||
		condition.Message != "the last check of VIM v" || !slices.Equal(p.Status.Properties, []profileProperty{{"cluster.clusterset.k8s.io", "s"}, {"vimbroker.io/project", "acme"}}) ||
		cluster.Server != "https://s" || string(cluster.CertificateAuthorityData) != "ca" || cluster.TLSServerName != "n" || !cluster.InsecureSkipTLSVerify || string(cluster.Extensions[0].Extension.Raw) != `{"role":"view","vim":"v"}` {
		t.Errorf("the profile is %+v, %+v", p, p.Status)
	}
	w.Role, w.System = "", ""
	if p = shaped(w, "n", "h", profile{}); string(p.Status.AccessProviders[0].Cluster.Extensions[0].Extension.Raw) != `{"vim":"v"}` || len(p.Status.Properties) != 1 {
		t.Errorf("one without a role: %+v", p.Status)
	}
	if !equal(p, shaped(w, "n", "h", p)) || equal(p, shaped(w, "n", "g", p)) {
		t.Error("profiles are compared wrongly")
	}
}

// An error of which nothing is known says nothing of itself.
func TestErrorsThatNobodyKnows(t *testing.T) {
	if err := unanswered(errors.New("canary")); !errors.Is(err, broker.ErrUnreachable) || strings.Contains(err.Error(), "canary") {
		t.Errorf("%v", err)
	}
}
