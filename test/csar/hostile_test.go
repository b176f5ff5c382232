package csar_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/vimbroker/vimbroker/lifecycle"
	"github.com/vimbroker/vimbroker/policy"
	"github.com/vimbroker/vimbroker/test/csar"
	"github.com/vimbroker/vimbroker/test/fake"
	"github.com/vimbroker/vimbroker/test/field"
)

// chief may have plans that reach the whole cluster.
var chief = policy.Principal{Name: "chief", Project: "core", Roles: []string{policy.RoleMember, policy.RoleProjectAdmin}}

const hostileFile = "Files/kubernetes/hostile.yaml"

// hostile is a package with one manifest, and an instance of it.
func (r *rig) hostile(manifest string) string {
	r.t.Helper()
	vnfd := fmt.Sprintf("hostile-%d", time.Now().UnixNano())
	r.upload(csar.Tacker().As(vnfd).With(csar.Files{hostileFile: manifest}))
	return r.made(vnfd)
}

var hostileWay = lifecycle.Instantiation{Flavour: "simple", VIM: "edge", Namespace: "edge", Files: []string{hostileFile}}

// bystander is an instance that is made and ended beside others.
func (r *rig) bystander() {
	r.t.Helper()
	id, o, err := r.instantiate(csar.TackerVNFD, lifecycle.Instantiation{Flavour: "simple", Namespace: "quiet", Files: []string{"Files/kubernetes/deployment.yaml"}})
	r.ends(lifecycle.Completed, o, err)
	o, err = r.Terminate(r.t.Context(), alice, id, nil)
	r.ends(lifecycle.Completed, o, err)
}

func settings(name, more string) string {
	return "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: " + name + more + "}\n"
}

// TestHostileManifestsAreRefused: nothing is made of them, and the operation says why.
func TestHostileManifestsAreRefused(t *testing.T) {
	r := newRig(t)
	const pod = "apiVersion: v1\nkind: Pod\nmetadata: {name: p}\nspec:\n  %s\n  containers: [{name: c, image: i%s}]\n  volumes: [{name: v, %s}]\n"
	plain := fmt.Sprintf(pod, "restartPolicy: Always", "", "emptyDir: {}")
	const denied = "policy"
	for name, c := range map[string]struct{ manifest, why string }{
		"too many objects":      {strings.Repeat(settings("a", "")+"---\n", 10_001), "more than 10000 objects"},
		"too large":             {settings("a", "") + "data: {a: " + strings.Repeat("x", 1_600_000) + "}\n", "1500000 are the most"},
		"foreign namespace":     {settings("a", ", namespace: kube-system"), "it reaches: cluster"},
		"owner's label":         {settings("a", ", labels: {vimbroker.io/instance: other}"), "vimbroker.io/"},
		"unset variable":        {settings("a", "") + `data: {a: "${NOBODY_SET_IT}"}`, "NOBODY_SET_IT"},
		"anchors":               {settings("a", "") + "data: &a {a: b}\nx: [*a, *a]\n", "anchor"},
		"anchors upon anchors":  {"a: &a [x,x]\nb: &b [*a,*a]\nc: &c [*b,*b]\n", "anchor"},
		"unending nesting":      {settings("a", "") + "x: " + strings.Repeat("{a: ", 200) + strings.Repeat("}", 200), "deep"},
		"privileged":            {strings.Replace(plain, "image: i", "image: i, securityContext: {privileged: true}", 1), denied},
		"path of the node":      {strings.Replace(plain, "emptyDir: {}", "hostPath: {path: /}", 1), denied},
		"network of the node":   {strings.Replace(plain, "restartPolicy: Always", "hostNetwork: true", 1), denied},
		"processes of the node": {strings.Replace(plain, "restartPolicy: Always", "hostPID: true", 1), denied},
		"roles":                 {"apiVersion: rbac.authorization.k8s.io/v1\nkind: Role\nmetadata: {name: a}\nrules: [{apiGroups: [\"\"], resources: [secrets], verbs: [get]}]\n", denied},
		"definition":            {strings.ReplaceAll(definition, "NAME", "slices"), denied},
		"webhook":               {"apiVersion: admissionregistration.k8s.io/v1\nkind: ValidatingWebhookConfiguration\nmetadata: {name: a}\n", denied},
	} {
		t.Run(name, func(t *testing.T) {
			o, err := r.Instantiate(t.Context(), alice, r.hostile(c.manifest), hostileWay)
			o = r.ends(lifecycle.RolledBack, o, err)
			if o.Failure == nil || !strings.Contains(o.Failure.Detail, c.why) {
				t.Errorf("the reason is %+v, want %q in it", o.Failure, c.why)
			}
			if calls := r.cluster.Calls(); len(calls) > 0 {
				t.Errorf("the cluster was changed: %v", calls)
			}
		})
	}
	o, err := r.Instantiate(t.Context(), alice, r.hostile(plain), hostileWay)
	r.ends(lifecycle.Completed, o, err) // without what is hostile in it
}

const definition = `apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: NAME.example.com}
spec:
  group: example.com
  scope: Namespaced
  names: {kind: Slice, plural: NAME}
  versions: [{name: v1, served: true, storage: true}]
`

// TestObjectsOfOthers are never touched: those of another instance, and nobody's.
func TestObjectsOfOthers(t *testing.T) {
	r := newRig(t)
	first := r.hostile(settings("shared", "") + "data: {of: first}\n")
	o, err := r.Instantiate(t.Context(), alice, first, hostileWay)
	r.ends(lifecycle.Completed, o, err)
	r.cluster.Put("/api/v1/namespaces/edge/configmaps/nobodys", map[string]any{"kind": "ConfigMap", "apiVersion": "v1", "metadata": map[string]any{"name": "nobodys"}})

	for _, name := range []string{"shared", "nobodys"} {
		id := r.hostile(settings("own", "") + "---\n" + settings(name, ""))
		o, err = r.Instantiate(t.Context(), alice, id, hostileWay)
		o = r.ends(lifecycle.FailedTemp, o, err)
		if want := "ConfigMap edge/" + name + " exists on the cluster and is not the instance's"; !strings.Contains(o.Failure.Detail, want) {
			t.Errorf("the reason is %q, want %q", o.Failure.Detail, want)
		}
		o, err = r.Rollback(t.Context(), alice, o.ID)
		r.ends(lifecycle.RolledBack, o, err)
	}
	if got, want := r.names("edge"), "configmaps/nobodys configmaps/shared"; got != want {
		t.Errorf("there is %s, want %s", got, want)
	}
	if data, _ := r.cluster.Get("/api/v1/namespaces/edge/configmaps/shared")["data"].(map[string]any); data["of"] != "first" {
		t.Errorf("the object of the first instance is %v", data)
	}
	o, err = r.Terminate(t.Context(), alice, first, nil)
	r.ends(lifecycle.Completed, o, err)
}

// TestWhatNeverEnds keeps its own operation waiting and no other; it can be canceled, and ends when its time is up,
// with the name of what it waited for.
func TestWhatNeverEnds(t *testing.T) {
	for name, c := range map[string]struct {
		manifest string
		who      policy.Principal
		stuck    func(*rig)
		// ending: it is the termination that does not end.
		ending bool
		// object is what is waited for, and seen what is shown of it meanwhile; empty where it cannot be seen.
		object, seen string
	}{
		"object":     {"apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: d}\nspec: {selector: {}, template: {metadata: {labels: {a: b}}, spec: {containers: [{name: c, image: i}]}}}\n", alice, unready, false, "Deployment edge/d", "is not ready"},
		"definition": {strings.ReplaceAll(definition, "NAME", "slices"), chief, unready, false, "CustomResourceDefinition slices.example.com", "is not ready"},
		"webhook": {settings("a", ""), alice, func(r *rig) {
			r.cluster.Fail(fake.Fault{Method: "PATCH", Path: "/namespaces/edge/", Kind: fake.Hang, Times: -1})
		}, false, "ConfigMap edge/a", ""},
		"finalizer": {settings("a", ", finalizers: [example.com/never]"), alice, func(*rig) {}, true, "ConfigMap edge/a", "waits for example.com/never"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t)
			r.upload(csar.Tacker())
			id := r.hostile(c.manifest)
			begin := func(l *lifecycle.Lifecycle) (lifecycle.Operation, error) {
				return l.Instantiate(t.Context(), c.who, id, hostileWay)
			}
			if c.ending {
				o, err := begin(r.Lifecycle)
				r.ends(lifecycle.Completed, o, err)
				begin = func(l *lifecycle.Lifecycle) (lifecycle.Operation, error) {
					return l.Terminate(t.Context(), c.who, id, nil)
				}
			}
			o, err := begin(r.Lifecycle)
			if err != nil {
				t.Fatal(err)
			}
			c.stuck(r)
			ended := make(chan error, 1)
			go func() { ended <- r.Work(t.Context(), o.ID) }()
			r.until(o.ID, lifecycle.Processing)
			r.poll("nothing is shown of what is waited for", func() bool {
				o, err := r.Operation(t.Context(), alice, o.ID)
				return err == nil && (c.seen == "" || len(o.Steps) == 1 && strings.Contains(o.Steps[0].Message, c.seen))
			})
			r.cluster.Unready(false) // for others
			r.bystander()
			r.until(o.ID, lifecycle.Processing)
			if _, err := r.Cancel(t.Context(), c.who, o.ID, lifecycle.Forceful); err != nil {
				t.Fatal(err)
			}
			if err := <-ended; err != nil {
				t.Error(err)
			}
			r.until(o.ID, lifecycle.FailedTemp)

			c.stuck(r)
			o, err = r.hasty.Retry(t.Context(), c.who, o.ID)
			o = r.endsBy(r.hasty, lifecycle.FailedTemp, o, err)
			if o.Failure == nil || o.Failure.Status != 504 || !strings.Contains(o.Failure.Detail, c.object) {
				t.Errorf("the reason is %+v, want %q in it", o.Failure, c.object)
			}
		})
	}
}

func unready(r *rig) { r.cluster.Unready(true) }

// until waits for an operation to be in a state.
func (r *rig) until(id string, want lifecycle.OperationState) {
	r.t.Helper()
	r.poll("the operation is never "+string(want), func() bool {
		o, err := r.Operation(r.t.Context(), alice, id)
		if err != nil || o.State != want && !o.State.Working() {
			r.t.Fatalf("%s is %s (%+v), %v, want %s", o.Type, o.State, o.Failure, err, want)
		}
		return o.State == want
	})
}

func (r *rig) poll(otherwise string, done func() bool) {
	r.t.Helper()
	for end := time.Now().Add(2 * time.Minute); !done(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			r.t.Fatal(otherwise)
		}
	}
}

// TestTwoThousandObjects are made and removed.
func TestTwoThousandObjects(t *testing.T) { manyObjects(t, 2_000) }

// TestFieldTenThousandObjects are as many as a large CNF has.
func TestFieldTenThousandObjects(t *testing.T) {
	field.Only(t)
	manyObjects(t, 10_000)
}

func manyObjects(t *testing.T, many int) {
	t.Helper()
	r := newRig(t)
	var b strings.Builder
	for n := range many {
		b.WriteString(settings(fmt.Sprintf("c%d", n), "") + "---\n")
	}
	id := r.hostile(b.String())
	began := time.Now()
	o, err := r.Instantiate(t.Context(), alice, id, hostileWay)
	r.ends(lifecycle.Completed, o, err)
	t.Log("instantiated in", time.Since(began))
	if n := len(r.cluster.Paths()); n != many {
		t.Errorf("there are %d objects", n)
	}
	o, err = r.Terminate(t.Context(), alice, id, nil)
	r.ends(lifecycle.Completed, o, err)
	t.Log("terminated after", time.Since(began))
	if n := len(r.cluster.Paths()); n != 0 {
		t.Errorf("there are %d objects left", n)
	}
}
