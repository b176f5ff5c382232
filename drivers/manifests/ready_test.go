package manifests_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/drivers/manifests"
	"github.com/vimbroker/vimbroker/lifecycle"
	"github.com/vimbroker/vimbroker/test/fakeobjects"
)

// A claim whose class does not exist, and a load balancer without an address, are not ready; a claim that waits for its
// first consumer is.
func TestWhatIsNotReady(t *testing.T) {
	const claim = "apiVersion: v1\nkind: PersistentVolumeClaim\nmetadata: {name: data}\nspec: {storageClassName: x}\n"
	const service = "apiVersion: v1\nkind: Service\nmetadata: {name: edge}\nspec: {type: LoadBalancer}\n"
	for name, c := range map[string]struct{ manifest, event, message, want string }{
		"no class":       {claim, "ProvisioningFailed", `storageclass "x" not found`, `ProvisioningFailed (storageclass "x" not found)`},
		"no event":       {claim, "", "", "it has no volume"},
		"first consumer": {claim, "WaitForFirstConsumer", "waiting", ""},
		"no address":     {service, "", "", "no load balancer"},
	} {
		s := fakeobjects.New(t)
		s.Unready(true)
		s.Serve(fakeobjects.Kind{Version: "v1", Kind: "Event", Plural: "events", Namespaced: true})
		s.Serve(fakeobjects.Kind{Version: "v1", Kind: "PersistentVolumeClaim", Plural: "persistentvolumeclaims", Namespaced: true})
		if c.event != "" {
			s.Put("/api/v1/namespaces/cnf/events/one", map[string]any{
				"kind": "Event", "metadata": map[string]any{"name": "one", "namespace": "cnf"}, "reason": c.event, "message": c.message,
				"lastTimestamp": "2031-01-01T00:00:00Z",
			})
		}
		stage := mustPlan(t, s, input(c.manifest)).Stages[0]
		ctx, stop := context.WithTimeout(t.Context(), time.Minute)
		made := false
		err := manifests.New().Run(ctx, s.Connection(stage.Grant), instance, stage.Waves[0], func(o lifecycle.Observation) {
			if !made && c.manifest == claim {
				made = true
				go s.Change("/api/v1/namespaces/cnf/persistentvolumeclaims/data", "binder", func(o map[string]any) {
					o["status"] = map[string]any{"phase": "Pending"}
				})
			}
			if c.want != "" && strings.Contains(o.Message, c.want) {
				stop()
			}
		})
		stop()
		if c.want == "" && err != nil || c.want != "" && (!errors.Is(err, lifecycle.ErrNotReady) || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
}

// A Job that the cluster removes as soon as its work is done has been done, or has failed, as the event says; its absence
// is no drift.
func TestJobsThatTheClusterRemoves(t *testing.T) {
	const job = "apiVersion: batch/v1\nkind: Job\nmetadata: {name: once}\nspec: {ttlSecondsAfterFinished: 0, template: {spec: {containers: []}}}\n"
	const path = "/apis/batch/v1/namespaces/cnf/jobs/once"
	for event, fails := range map[string]bool{"Completed": false, "BackoffLimitExceeded": true} {
		s := fakeobjects.New(t)
		s.Unready(true)
		s.Serve(fakeobjects.Kind{Version: "v1", Kind: "Event", Plural: "events", Namespaced: true})
		p := mustPlan(t, s, input(job))
		stage := p.Stages[0]
		if !slices.ContainsFunc(stage.Grant.Rules, func(r broker.Rule) bool { return slices.Contains(r.Resources, "events") }) {
			t.Error("the lease does not list events")
		}
		var once sync.Once
		err := manifests.New().Run(t.Context(), s.Connection(stage.Grant), instance, stage.Waves[0], func(lifecycle.Observation) {
			once.Do(func() {
				go func() {
					s.Put("/api/v1/namespaces/cnf/events/one", map[string]any{
						"kind": "Event", "metadata": map[string]any{"name": "one", "namespace": "cnf"}, "reason": event, "message": "m",
						"lastTimestamp": "2031-01-01T00:00:00Z",
					})
					s.Remove(path)
				}()
			})
		})
		if fails != (err != nil) || fails && !strings.Contains(err.Error(), event) {
			t.Errorf("%s: Run = %v", event, err)
		}
		if !p.Resources[0].Passes {
			t.Errorf("%s: the instance's resource is %+v, want one that passes", event, p.Resources[0])
		}
	}
}

// No manifest knows the UID of an owner.
func TestOwnersAreRefused(t *testing.T) {
	owned := strings.Replace(configMap("a"), "metadata: {", "metadata: {ownerReferences: [{apiVersion: v1, kind: ConfigMap, name: b, uid: u}], ", 1)
	if _, err := plan(t, fakeobjects.New(t), input(owned)); !errors.Is(err, broker.ErrInvalid) || !strings.Contains(err.Error(), "ownerReferences") {
		t.Errorf("an object with an owner = %v", err)
	}
}

// A machine of KubeVirt is ready when it says so, or where nothing starts it: kstatus takes one that says nothing for ready.
func TestReadinessOfMachines(t *testing.T) {
	s := fakeobjects.New(t)
	type m = map[string]any
	says := func(status, reason string) m {
		return m{"conditions": []any{m{"type": "AgentConnected", "status": "True"}, m{"type": "Ready", "status": status, "reason": reason}}}
	}
	for kind, plural := range map[string]string{"VirtualMachine": "virtualmachines", "VirtualMachineInstance": "virtualmachineinstances"} {
		s.Serve(fakeobjects.Kind{Group: "kubevirt.io", Version: "v1", Kind: kind, Plural: plural, Namespaced: true})
		for _, c := range []struct {
			spec, status m
			want         string // empty: ready
		}{
			{m{"runStrategy": "Always"}, nil, "is not ready"},
			{m{"running": true}, says("False", "GuestNotRunning"), "is not ready (GuestNotRunning)"},
			{m{"running": true}, says("True", ""), ""},
			{m{"running": false}, says("False", "VMINotExists"), ""},
			{m{"runStrategy": "Halted"}, nil, ""},
			{m{"runStrategy": "Manual"}, nil, ""},
		} {
			r := lifecycle.Resource{Group: "kubevirt.io", Version: "v1", Kind: kind, Plural: plural, Namespace: "cnf", Name: "vm"}
			s.Put(fakeobjects.Path(r), m{
				"kind": kind, "apiVersion": "kubevirt.io/v1", "spec": c.spec, "status": c.status,
				"metadata": m{"name": "vm", "namespace": "cnf", "labels": m{"vimbroker.io/instance": instance}},
			})
			g := lifecycle.StageRules{Namespaces: []string{"cnf"}, Rules: rulesFor(r, "get")}
			seen, err := manifests.New().Observe(t.Context(), s.Connection(g), instance, []lifecycle.Resource{r})
			if err != nil {
				t.Fatal(err)
			}
			if o := seen[0]; o.Ready != (c.want == "") || o.Message != c.want {
				t.Errorf("%s of %v with %v: ready %t, %q, want %q", kind, c.spec, c.status, o.Ready, o.Message, c.want)
			}
		}
	}
}
