package bundle_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/lifecycle"
	"github.com/vimbroker/vimbroker/lifecycle/bundle"
	"github.com/vimbroker/vimbroker/policy"
)

// TestLifeOfAnInstance makes, finds, changes and removes one.
func TestLifeOfAnInstance(t *testing.T) {
	b := newBench(t)
	edge := b.region("edge")
	b.define("front")
	r := asked
	r.Labels = map[string]string{"stage": "prod"}
	r.Overrides = map[string]string{"a.b": "c", "k8s-rb-instance-pre-install-timeout": "60"}
	i := b.made(r)
	want := bundle.Request{
		Definition: "rb", Version: "1", Profile: "p", Release: "rel", Region: "edge", Labels: r.Labels,
		Overrides: map[string]string{"a.b": "<hidden>", "k8s-rb-instance-pre-install-timeout": "<hidden>"},
	}
	same(t, "the instance", i, bundle.Instance{
		ID: i.ID, Request: want, Namespace: "default", Release: "rel", State: "DONE",
		Resources: []bundle.Resource{{GVK: bundle.GVK{Version: "v1", Kind: "ConfigMap"}, Name: "front"}},
	})
	in := b.yard.planned()
	if got := string(in.Parameters); got != `{"overlay":{"sets":[{"name":"a.b","value":"c"},{"name":"k8s-rb-instance-id","value":"`+i.ID+`"}]}}` {
		t.Errorf("the overlay is %s", got)
	}
	if in.Labels["k8splugin.io/rb-instance-id"] != i.ID || in.Release != "rel" || in.Namespace != "default" || in.Name != i.ID {
		t.Errorf("planned as %+v", in)
	}
	row := b.row(bundle.OfInstance, i.ID)
	if row.Busy || row.Claim != edge.ID+"/rel/rb/1/p" {
		t.Errorf("the row is busy %v, of claim %q", row.Busy, row.Claim)
	}
	if again := b.made(r); again.ID != i.ID {
		t.Errorf("asked again, another is made: %s", again.ID)
	}
	b.ok(b.DeleteInstance(t.Context(), alice, i.ID))
	b.gone(bundle.OfInstance, i.ID)
	_, err := b.Instance(t.Context(), alice, i.ID)
	wants(t, err, broker.ErrNotFound, "", "no such instance")
	if strings.Contains(b.log.String(), "left to be undone") {
		t.Error(b.log)
	}
}

// overrides are so many.
func overrides(n int) map[string]string {
	all := map[string]string{}
	for i := range n {
		all[fmt.Sprint("v", i)] = ""
	}
	return all
}

// TestRequestsThatAreRefused are so with the field at fault, before anything is made. What is asked in the right form of a
// definition that is missing is not found.
func TestRequestsThatAreRefused(t *testing.T) {
	b := newBench(t)
	edge := b.region("edge")
	b.define("front")
	b.ok(b.Create(t.Context(), alice, bundle.Definition{Name: "bare", Version: "1"}))
	set := func(name, value string) func(*bundle.Request) {
		return func(r *bundle.Request) { r.Definition, r.Overrides = "none", map[string]string{name: value} }
	}
	for name, c := range map[string]struct {
		change func(*bundle.Request)
		kind   error
		field  string
		says   string
	}{
		"definition":         {func(r *bundle.Request) { r.Definition = "" }, broker.ErrInvalid, "rb-name", ""},
		"version":            {func(r *bundle.Request) { r.Version = "" }, broker.ErrInvalid, "rb-version", ""},
		"profile":            {func(r *bundle.Request) { r.Profile = "" }, broker.ErrInvalid, "profile-name", ""},
		"region":             {func(r *bundle.Request) { r.Region = "" }, broker.ErrInvalid, "cloud-region", ""},
		"release":            {func(r *bundle.Request) { r.Release = "R" }, broker.ErrInvalid, "release-name", ""},
		"labels":             {func(r *bundle.Request) { r.Labels = map[string]string{"a b": ""} }, broker.ErrInvalid, "labels", ""},
		"value's name":       {set("a b", ""), broker.ErrInvalid, "override-values", "at most 1000 names"},
		"name of 255":        {set(strings.Repeat("v", 255), ""), broker.ErrNotFound, "", "no such definition"},
		"name of 256":        {set(strings.Repeat("v", 256), ""), broker.ErrInvalid, "override-values", "at most 1000 names"},
		"1000 values":        {func(r *bundle.Request) { r.Definition, r.Overrides = "none", overrides(1000) }, broker.ErrNotFound, "", ""},
		"1001 values":        {func(r *bundle.Request) { r.Overrides = overrides(1001) }, broker.ErrInvalid, "override-values", "at most 1000 names"},
		"the id":             {set("k8s-rb-instance-id", "a"), broker.ErrInvalid, "override-values", "which is set for the chart"},
		"no seconds":         {set("k8s-rb-instance-pre-install-timeout", "a"), broker.ErrInvalid, "override-values", "a number of seconds"},
		"seconds":            {set("k8s-rb-instance-post-delete-timeout", "60"), broker.ErrNotFound, "", "no such definition"},
		"a value of no form": {set("a", "b"), broker.ErrNotFound, "", "no such definition"},
		"NUL":                {set("a", "a\x00"), broker.ErrInvalid, "override-values", "must not hold a NUL"},
		"no content":         {func(r *bundle.Request) { r.Definition, r.Profile = "bare", "default" }, broker.ErrInvalid, "rb-name", "has no content"},
		"no such profile":    {func(r *bundle.Request) { r.Profile = "none" }, broker.ErrNotFound, "", "no such profile"},
		"no such region":     {func(r *bundle.Request) { r.Region = "none" }, broker.ErrNotFound, "", "no such cloud region"},
		"a VIM's id":         {func(r *bundle.Request) { r.Region = edge.ID }, broker.ErrNotFound, "", "no such cloud region"},
	} {
		r := asked
		c.change(&r)
		t.Run(name, func(t *testing.T) {
			_, err := b.CreateInstance(t.Context(), alice, r)
			wants(t, err, c.kind, c.field, c.says)
		})
	}
	_, err := b.CreateInstance(t.Context(), rita, asked)
	wants(t, err, broker.ErrDenied, "", "")
	back := b.store.failing("CreateBundles", 1)
	_, err = b.CreateInstance(t.Context(), alice, asked)
	wants(t, err, errDisk, "", "")
	back()
	if all, err := b.Instances(t.Context(), alice, bundle.Request{}); err != nil || len(all) != 0 {
		t.Errorf("there are %+v, %v", all, err)
	}
}

// TestWhichInstancesAreListed: each thing that is asked for selects alone.
func TestWhichInstancesAreListed(t *testing.T) {
	b := newBench(t)
	b.region("edge")
	b.define("front")
	r := asked
	r.Labels = map[string]string{"a": "1", "b": "2"}
	i := b.made(r)
	for name, c := range map[string]struct {
		q    bundle.Request
		want int
	}{
		"all":                {bundle.Request{}, 1},
		"of all":             {bundle.Request{Definition: "rb", Version: "1", Profile: "p", Region: "edge", Labels: map[string]string{"a": "1"}}, 1},
		"another definition": {bundle.Request{Definition: "r"}, 0},
		"another version":    {bundle.Request{Version: "2"}, 0},
		"another profile":    {bundle.Request{Profile: "q"}, 0},
		"another region":     {bundle.Request{Region: "far"}, 0},
		"another label":      {bundle.Request{Labels: map[string]string{"a": "2"}}, 0},
		"one label more":     {bundle.Request{Labels: map[string]string{"c": "1"}}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			all, err := b.Instances(t.Context(), rita, c.q)
			if err != nil || len(all) != c.want {
				t.Fatalf("%+v, %v, want %d", all, err, c.want)
			}
			if c.want == 1 && (all[0].ID != i.ID || all[0].Resources != nil || all[0].State != "DONE") {
				t.Errorf("listed as %+v", all[0])
			}
		})
	}
	if all, err := b.Instances(t.Context(), bob, bundle.Request{}); err != nil || len(all) != 0 {
		t.Errorf("of another project: %+v, %v", all, err)
	}
	_, err := b.Instances(t.Context(), policy.Principal{Name: "nobody", Project: "core"}, bundle.Request{})
	wants(t, err, broker.ErrDenied, "", "")
}

// TestWhatUsesSomethingKeepsIt: what an instance is made of, or is on, stays as long as it does.
func TestWhatUsesSomethingKeepsIt(t *testing.T) {
	b := newBench(t)
	b.region("edge")
	b.region("far")
	b.define("front")
	ctx := t.Context()
	b.ok(b.Create(ctx, alice, bundle.Profile{Definition: "rb", Version: "1", Name: "q", Release: "rel", Namespace: "default"}))
	i := b.made(asked)
	for name, remove := range map[string]func() error{
		"definition": func() error { return b.Delete(ctx, alice, bundle.OfDefinition, "rb/1") },
		"profile":    func() error { return b.Delete(ctx, alice, bundle.OfProfile, "rb/1/p") },
		"region":     func() error { return b.DeleteRegion(ctx, alice, "edge") },
	} {
		t.Run(name, func(t *testing.T) { wants(t, remove(), broker.ErrConflict, "", "instances use it: "+i.ID) })
	}
	b.ok(b.Delete(ctx, alice, bundle.OfProfile, "rb/1/q"))
	b.ok(b.DeleteRegion(ctx, alice, "far"))
	wants(t, b.Upload(ctx, alice, bundle.OfDefinition, "rb/1", chart("web", "x")), broker.ErrConflict, "", "VNF instances use the definition")
	back := b.store.failing("Bundles", 1)
	wants(t, b.DeleteRegion(ctx, alice, "edge"), errDisk, "", "")
	back()
	b.ok(b.DeleteInstance(ctx, alice, i.ID))
	b.ok(b.DeleteRegion(ctx, alice, "edge"))
	// All that is below a definition goes with it, and nothing of one whose name begins alike.
	b.ok(b.Create(ctx, alice, bundle.Definition{Name: "rb", Version: "10"}))
	for _, version := range []string{"1", "10"} {
		for _, name := range []string{"s", "t"} {
			b.ok(b.Create(ctx, alice, bundle.Template{Definition: "rb", Version: version, Name: name}))
			b.ok(b.Upload(ctx, alice, bundle.OfTemplate, "rb/"+version+"/"+name, chart("conf", "conf")))
		}
	}
	b.ok(b.Delete(ctx, alice, bundle.OfDefinition, "rb/1"))
	b.gone(bundle.OfProfile, "rb/1/p")
	b.gone(bundle.OfProfile, "rb/1/default")
	b.gone(bundle.OfDefinition, "rb/1")
	b.row(bundle.OfProfile, "rb/10/default")
	for _, name := range []string{"/s", "/t"} {
		b.gone(bundle.OfTemplate, "rb/1"+name)
		b.row(bundle.OfTemplate, "rb/10"+name)
		_, gone := b.Packages.Package(ctx, alice, packageOf("rb/1"+name))
		_, stays := b.Packages.Package(ctx, alice, packageOf("rb/10"+name))
		if !errors.Is(gone, broker.ErrNotFound) || stays != nil {
			t.Errorf("the packages of the templates %s are %v, and of the other definition %v", name, gone, stays)
		}
	}
}

// brief has requests wait for a moment only.
func brief(o *bundle.Options) { o.Wait = 500 * time.Millisecond }

// TestWorkThatTakesLongerThanARequest goes on: the request says so, another one waits for the same, and a pass ends it.
func TestWorkThatTakesLongerThanARequest(t *testing.T) {
	b := newBench(t, brief)
	b.region("edge")
	b.define("front")
	ctx := t.Context()
	b.rest()
	for range 2 {
		_, err := b.CreateInstance(ctx, alice, asked)
		wants(t, err, context.DeadlineExceeded, "", " goes on")
	}
	id := b.only("CREATING")
	if !b.row(bundle.OfInstance, id).Busy {
		t.Error("nothing goes on with it")
	}
	wants(t, b.DeleteRegion(ctx, alice, "edge"), broker.ErrConflict, "", id)
	_, err := b.UpgradeInstance(ctx, alice, id, asked)
	wants(t, err, broker.ErrConflict, "", "another request is at the instance")
	_, err = b.KeepConfig(ctx, alice, id, "", bundle.Configuration{Name: "c"})
	wants(t, err, broker.ErrConflict, "", "the instance is not made")
	b.settles(time.Time{}) // nothing has ended
	b.only("CREATING")
	b.worked()
	b.settles(time.Time{})
	if got := b.only("DONE"); got != id {
		t.Errorf("%s is there, not %s", got, id)
	}
	b.rest()
	b.ok(b.DeleteInstance(ctx, alice, id))
	b.only("DELETING")
	b.worked()
	b.settles(b.clock.Now())
	b.gone(bundle.OfInstance, id)
}

// only is the id of the only instance, which has a state.
func (b *bench) only(state string) string {
	b.t.Helper()
	all, err := b.Instances(b.t.Context(), alice, bundle.Request{})
	if err != nil || len(all) != 1 || all[0].State != state {
		b.t.Fatalf("there are %+v, %v; want one that is %s", all, err, state)
	}
	return all[0].ID
}

// settles runs the pass.
func (b *bench) settles(before time.Time) {
	b.t.Helper()
	b.ok(b.Settle(b.t.Context(), before))
}

// worked works all operations that are begun, and that follow from them, here.
func (b *bench) worked() {
	b.t.Helper()
	places, err := b.store.Places(b.t.Context())
	b.ok(err)
	for _, p := range places {
		b.ok(b.life.Work(b.t.Context(), p.Operation))
	}
}

func refusal(kind error) error { return &broker.Error{Kind: kind, Detail: "the yard says no"} }

// TestInstancesThatAreNotMade leave nothing, and the answer says why.
func TestInstancesThatAreNotMade(t *testing.T) {
	b := newBench(t)
	b.region("edge")
	b.define("front")
	for name, c := range map[string]struct{ of, want error }{
		"invalid":   {broker.ErrInvalid, broker.ErrInvalid},
		"forbidden": {broker.ErrForbidden, broker.ErrInvalid},
		"not ready": {lifecycle.ErrNotReady, lifecycle.ErrNotReady},
		"conflict":  {broker.ErrConflict, broker.ErrConflict},
	} {
		t.Run(name, func(t *testing.T) {
			b.yard.fails(lifecycle.Instantiate, refusal(c.of), nil)
			_, err := b.CreateInstance(t.Context(), alice, asked)
			wants(t, err, c.want, "", "the yard says no")
			b.nothing()
			b.yard.fails(lifecycle.Instantiate, nil, refusal(c.of))
			_, err = b.CreateInstance(t.Context(), alice, asked)
			wants(t, err, c.want, "", "the yard says no")
			b.nothing()
		})
	}
	b.yard.fails("", nil, nil)
	for _, method := range []string{"BeginOperation", "CreateInstance"} {
		back := b.store.failing(method, 1)
		_, err := b.CreateInstance(t.Context(), alice, asked)
		wants(t, err, errDisk, "", "")
		back()
		b.nothing()
	}
}

// nothing checks that there is no instance, and no VNF instance.
func (b *bench) nothing() {
	b.t.Helper()
	all, err := b.Instances(b.t.Context(), alice, bundle.Request{})
	vnfs, _, failed := b.life.Instances(b.t.Context(), alice, lifecycle.InstanceQuery{Page: broker.Page{Size: 10}})
	if err != nil || failed != nil || len(all)+len(vnfs) != 0 {
		b.t.Errorf("there are %+v, %v, and %+v, %v", all, err, vnfs, failed)
	}
}

// TestInstancesOfADeadProcess that were noted and not begun go once nobody can begin them any more.
func TestInstancesOfADeadProcess(t *testing.T) {
	b := newBench(t)
	b.region("edge")
	b.define("front")
	back := b.store.failing("BeginOperation|DeleteBundles", 1)
	_, err := b.CreateInstance(t.Context(), alice, asked)
	wants(t, err, errDisk, "", "")
	back()
	if !strings.Contains(b.log.String(), "work for ONAP is left to be undone") {
		t.Errorf("the log is %s", b.log)
	}
	id := b.only("CREATING")
	b.settles(b.clock.Now())
	b.only("CREATING")
	back = b.store.failing("Instance", 1)
	wants(t, b.Settle(t.Context(), b.clock.Now().Add(time.Second)), errDisk, "", "instance")
	back()
	b.only("CREATING")
	b.settles(b.clock.Now().Add(time.Second))
	b.gone(bundle.OfInstance, id)
	b.nothing()

	back = b.store.failing("BeginOperation|DeleteBundles", 1)
	_, err = b.CreateInstance(t.Context(), alice, asked)
	wants(t, err, errDisk, "", "")
	back()
	id = b.only("CREATING")
	if i := b.made(asked); i.ID != id || i.State != "DONE" { // whoever asks for the same begins it
		t.Errorf("made %+v in place of %s", i, id)
	}
}
