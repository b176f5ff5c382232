package manifests_test

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"testing"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/drivers/manifests"
	"github.com/vimbroker/vimbroker/lifecycle"
	"github.com/vimbroker/vimbroker/test/fake"
	"github.com/vimbroker/vimbroker/test/fakeobjects"
)

// TestPodsAreJudgedByTheVersionThatTheNamespaceNames: a probe's host is a matter of 1.34 and later.
func TestPodsAreJudgedByTheVersionThatTheNamespaceNames(t *testing.T) {
	const probe = "apiVersion: v1\nkind: Pod\nmetadata: {name: a}\n" +
		"spec: {containers: [{name: c, image: i, livenessProbe: {httpGet: {host: 169.254.169.254, port: 80}}}]}\n"
	for label, want := range map[string]string{
		"v1.33": lifecycle.PodsBaseline, "v1.34": lifecycle.PodsPrivileged, "latest": lifecycle.PodsPrivileged, "": lifecycle.PodsPrivileged,
		"newest": lifecycle.PodsPrivileged,
	} {
		s := fakeobjects.New(t)
		labels := map[string]any{"pod-security.kubernetes.io/enforce-version": label}
		if label == "" {
			labels = map[string]any{}
		}
		s.Put("/api/v1/namespaces/cnf", map[string]any{"kind": "Namespace", "metadata": map[string]any{"name": "cnf", "labels": labels}})
		if p := mustPlan(t, s, input(probe)); p.Facts.PodSecurity != want {
			t.Errorf("in a namespace that names %q: %s, want %s", label, p.Facts.PodSecurity, want)
		}
	}
	if p := mustPlan(t, fakeobjects.New(t), input(probe)); p.Facts.PodSecurity != lifecycle.PodsPrivileged {
		t.Errorf("in a namespace that is not there yet: %s", p.Facts.PodSecurity)
	}
	s := fakeobjects.New(t)
	s.Fail(fake.Fault{Method: http.MethodGet, Path: "/namespaces/cnf$", Kind: fake.Refuse, Status: 500})
	if _, err := plan(t, s, input(probe)); err == nil {
		t.Error("a cluster that does not say is not asked again")
	}
}

const plainService = "apiVersion: v1\nkind: Service\nmetadata: {name: a}\nspec: {ports: [{port: 80}]}\n"

const webHost = "apiVersion: networking.k8s.io/v1\nkind: Ingress\nmetadata: {name: a}\nspec: {rules: [{host: WEB.example.com}]}\n"

// TestAHostThatAnIngressOfOthersHasReaches: whatever its case, of other namespaces alone, and as far as it may be read.
func TestAHostThatAnIngressOfOthersHasReaches(t *testing.T) {
	labelled := func(namespace, host, instance string) *fakeobjects.Server {
		s := fakeobjects.New(t)
		s.Put("/apis/networking.k8s.io/v1/namespaces/"+namespace+"/ingresses/x", map[string]any{
			"kind": "Ingress", "metadata": map[string]any{
				"name": "x", "namespace": namespace, "labels": map[string]any{lifecycle.InstanceLabel: instance},
			},
			"spec": map[string]any{"rules": []any{map[string]any{"host": host}}},
		})
		return s
	}
	others := func(namespace, host string) *fakeobjects.Server { return labelled(namespace, host, "") }
	forbidden := others("other", "web.example.com")
	forbidden.Fail(fake.Fault{Method: http.MethodGet, Path: "/ingresses$", Kind: fake.Refuse, Status: 403, Times: -1})
	for name, c := range map[string]struct {
		server  *fakeobjects.Server
		reaches bool
	}{
		"another namespace's": {others("other", "web.example.com"), true},
		"in another case":     {others("other", "Web.Example.com"), true},
		"its own elsewhere":   {labelled("other", "web.example.com", input(webHost).Instance), false},
		"another instance's":  {labelled("other", "web.example.com", "another"), true},
		"its own namespace's": {others("cnf", "web.example.com"), false},
		"another host":        {others("other", "db.example.com"), false},
		"not to be read":      {forbidden, false},
	} {
		p := mustPlan(t, c.server, input(webHost))
		found := slices.ContainsFunc(p.Facts.Reaches, func(r lifecycle.Reach) bool {
			return r.What == lifecycle.ReachCluster && r.Field == "rules.host" && r.Name == "a"
		})
		if found != c.reaches {
			t.Errorf("%s: %+v", name, p.Facts.Reaches)
		}
	}
	for _, text := range []string{plainService, webHost} {
		d, in, s, asked := manifests.New(), input(text), others("other", "web.example.com"), []lifecycle.StageRules{}
		c := s.Connection(d.Survey(in))
		c.Further = func(_ context.Context, g lifecycle.StageRules, do func(lifecycle.Connection) error) error {
			asked = append(asked, g)
			return &broker.Error{Kind: broker.ErrDenied}
		}
		if _, err := d.Plan(t.Context(), c, in); errors.Is(err, broker.ErrDenied) != (text == webHost) || len(asked) > 0 != (text == webHost) {
			t.Errorf("the plan of %q asks for %+v, and is %v", text, asked, err)
		}
	}
}
