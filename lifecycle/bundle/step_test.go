package bundle_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/lifecycle"
	"github.com/vimbroker/vimbroker/lifecycle/bundle"
	"github.com/vimbroker/vimbroker/policy"
)

// town has regions edge and far, two versions of a definition and an instance in edge.
func town(t *testing.T, change ...func(*bundle.Options)) (*bench, bundle.Instance) {
	t.Helper()
	b := newBench(t, change...)
	b.region("edge")
	b.region("far")
	b.defined("1", "front")
	b.defined("2", "front", "back")
	wait := b.Wait
	b.Wait = 20 * time.Second
	i := b.made(asked)
	b.Wait = wait
	return b, i
}

// to is what is asked for, changed.
func to(change func(*bundle.Request)) bundle.Request {
	r := asked
	change(&r)
	return r
}

func second(r *bundle.Request) { r.Version = "2" }

func far(r *bundle.Request) { r.Region = "far" }

// vnfs are the names of the packages of the VNF instances, with their VIMs' names.
func (b *bench) vnfs() (all []string) {
	b.t.Helper()
	found, _, err := b.life.Instances(b.t.Context(), alice, lifecycle.InstanceQuery{Page: broker.Page{Size: 10}})
	b.ok(err)
	for _, i := range found {
		v, err := b.broker.VIM(b.t.Context(), alice, i.Shape.VIM)
		b.ok(err)
		all = append(all, v.Name+" "+string(i.State))
	}
	return all
}

// TestInstancesThatChange: to another version in its place, to another region beside it.
func TestInstancesThatChange(t *testing.T) {
	b, i := town(t)
	ctx := t.Context()
	now, err := b.UpgradeInstance(ctx, alice, i.ID, to(second))
	b.ok(err)
	if now.ID != i.ID || now.Request.Version != "2" || len(now.Resources) != 2 || now.State != "DONE" {
		t.Errorf("it became %+v", now)
	}
	if row := b.row(bundle.OfInstance, i.ID); row.Busy || !strings.HasSuffix(row.Claim, "/rel/rb/2/p") {
		t.Errorf("the row is %+v", row)
	}
	now, err = b.UpgradeInstance(ctx, alice, i.ID, to(func(r *bundle.Request) { far(r); r.Release = "other" }))
	b.ok(err)
	if now.Release != "rel" || now.Request.Region != "far" || now.Request.Version != "1" || now.State != "DONE" {
		t.Errorf("it became %+v", now)
	}
	same(t, "what stands", b.vnfs(), []string{"far INSTANTIATED"})
	if in := b.yard.planned(); in.Operation != lifecycle.Terminate {
		t.Errorf("at last %s was planned", in.Operation)
	}
}

// TestChangesThatAreRefused leave the instance as it is.
func TestChangesThatAreRefused(t *testing.T) {
	b, i := town(t)
	ctx := t.Context()
	b.ok(b.Create(ctx, alice, bundle.Profile{Definition: "rb", Version: "1", Name: "q", Release: "rel", Namespace: "other"}))
	other, err := b.CreateInstance(ctx, alice, to(second))
	b.ok(err)
	was := b.row(bundle.OfInstance, i.ID)
	for name, c := range map[string]struct {
		r     bundle.Request
		fails string
		kind  error
		field string
		says  string
	}{
		"what another is":     {to(second), "", broker.ErrConflict, "", "instance " + other.ID + " is of that"},
		"another namespace":   {to(func(r *bundle.Request) { r.Profile = "q" }), "", broker.ErrInvalid, "profile-name", "another namespace"},
		"no such region":      {to(func(r *bundle.Request) { r.Region = "none" }), "", broker.ErrNotFound, "", "no such cloud region"},
		"no claim read":       {asked, "Bundles", errDisk, "", ""},
		"no operations read":  {asked, "Operations", errDisk, "", ""},
		"not noted":           {asked, "UpdateBundle", errDisk, "", ""},
		"not begun":           {asked, "BeginOperation", errDisk, "", ""},
		"not begun elsewhere": {to(far), "BeginOperation", errDisk, "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			back := func() {}
			if c.fails != "" {
				back = b.store.failing(c.fails, 1)
			}
			_, err := b.UpgradeInstance(ctx, alice, i.ID, c.r)
			back()
			wants(t, err, c.kind, c.field, c.says)
			if is := b.row(bundle.OfInstance, i.ID); is.Busy || is.Claim != was.Claim {
				t.Errorf("it is %+v, was %+v", is, was)
			}
			if vnfs := b.vnfs(); len(vnfs) != 2 {
				t.Errorf("there are %v", vnfs)
			}
		})
	}
	for who, kind := range map[*policy.Principal]error{&rita: broker.ErrDenied, &bob: broker.ErrNotFound} {
		_, err := b.UpgradeInstance(ctx, *who, i.ID, asked)
		wants(t, err, kind, "", "")
		wants(t, b.DeleteInstance(ctx, *who, i.ID), kind, "", "")
	}
	b.store.before, b.store.nth = func() {
		b.spoil(bundle.OfInstance, i.ID, func(d string) string { return d + " " })
	}, 1
	_, err = b.UpgradeInstance(ctx, alice, i.ID, asked)
	wants(t, err, broker.ErrConflict, "", "another request is at the instance")
	if got := b.entries(policy.VNFUpdate); got[len(got)-1] != "failed" {
		t.Errorf("it was recorded as %v", got)
	}
}

// TestChangesThatFail are taken back, and the answer says why.
func TestChangesThatFail(t *testing.T) {
	for name, c := range map[string]struct {
		r  bundle.Request
		of lifecycle.OperationType
	}{"to a version": {to(second), lifecycle.ChangePackage}, "to a region": {to(far), lifecycle.Instantiate}} {
		t.Run(name, func(t *testing.T) {
			b, i := town(t)
			for _, broken := range []error{nil, refusal(broker.ErrInvalid)} {
				refused := refusal(broker.ErrInvalid)
				if broken != nil {
					refused = nil
				}
				b.yard.fails(c.of, refused, broken)
				_, err := b.UpgradeInstance(t.Context(), alice, i.ID, c.r)
				wants(t, err, broker.ErrInvalid, "", "the yard says no")
				now, err := b.Instance(t.Context(), alice, i.ID)
				b.ok(err)
				same(t, "the instance", now, i)
				same(t, "what stands", b.vnfs(), []string{"edge INSTANTIATED"})
				if row := b.row(bundle.OfInstance, i.ID); row.Busy || !strings.HasSuffix(row.Claim, "/rb/1/p") {
					t.Errorf("the row is %+v", row)
				}
			}
			back := b.store.failing("UpdateBundle", -2)
			_, err := b.UpgradeInstance(t.Context(), alice, i.ID, c.r)
			wants(t, err, errDisk, "", "")
			back()
			b.only("UPGRADING")
			b.settles(b.clock.Now())
			b.only("DONE")
		})
	}
}

// TestWhatIsLeftOnARegion is removed by a pass where the request could not.
func TestWhatIsLeftOnARegion(t *testing.T) {
	b, i := town(t)
	b.yard.fails(lifecycle.Terminate, nil, refusal(broker.ErrInvalid))
	_, err := b.UpgradeInstance(t.Context(), alice, i.ID, to(far))
	wants(t, err, broker.ErrInvalid, "", "the yard says no")
	b.only("UPGRADING")
	if now, err := b.Instance(t.Context(), alice, i.ID); err != nil || now.Request.Region != "far" {
		t.Errorf("it is %+v, %v", now, err)
	}
	if len(b.vnfs()) != 2 {
		t.Errorf("there are %v", b.vnfs())
	}
	b.yard.fails("", nil, nil)
	b.rest()
	b.settles(b.clock.Now()) // which retries it
	b.worked()
	back := b.store.failing("Instance", 1)
	wants(t, b.Settle(t.Context(), b.clock.Now()), errDisk, "", "instance")
	back()
	b.settles(b.clock.Now())
	b.only("DONE")
	same(t, "what stands", b.vnfs(), []string{"far INSTANTIATED"})
}

// TestRemovalsThatFail are gone on with, from whatever state the operations are in.
func TestRemovalsThatFail(t *testing.T) {
	for name, fails := range map[string][2]error{"refused": {refusal(broker.ErrInvalid), nil}, "broken": {nil, refusal(broker.ErrInvalid)}} {
		t.Run("termination "+name, func(t *testing.T) {
			b, i := town(t)
			b.yard.fails(lifecycle.Terminate, fails[0], fails[1])
			wants(t, b.DeleteInstance(t.Context(), alice, i.ID), broker.ErrInvalid, "", "the yard says no")
			b.only("DELETING")
			if o, _, err := b.store.Operations(t.Context(), lifecycle.OperationFilter{Page: broker.Page{Size: 10}}); err != nil || len(o) != 2 {
				t.Errorf("%d operations, %v; want one of each kind", len(o), err)
			}
			b.yard.fails("", nil, nil)
			b.rest()
			b.settles(b.clock.Now())
			b.worked()
			b.settles(b.clock.Now())
			b.nothing()
		})
	}
	for name, c := range map[string]struct {
		r    bundle.Request
		left string // operations
	}{
		"change":         {to(second), "CHANGE_VNFPKG FAILED"},
		"another region": {to(far), ""},
	} {
		t.Run(name, func(t *testing.T) {
			b, i := town(t, brief)
			ctx := t.Context()
			b.rest()
			_, err := b.UpgradeInstance(ctx, alice, i.ID, c.r)
			wants(t, err, context.DeadlineExceeded, "", "")
			b.only("UPGRADING")
			b.ok(b.DeleteInstance(ctx, alice, i.ID))
			b.yard.fails(lifecycle.ChangePackage, nil, refusal(broker.ErrInvalid))
			seen := ""
			for range 8 {
				b.worked()
				b.settles(b.clock.Now())
				seen += b.operations() + "\n"
			}
			if b.nothing(); !strings.Contains(seen, c.left) {
				t.Errorf("the operations were\n%s, want %s", seen, c.left)
			}
		})
	}
	t.Run("making", func(t *testing.T) {
		b := newBench(t, brief)
		b.region("edge")
		b.define("front")
		b.rest()
		_, err := b.CreateInstance(t.Context(), alice, asked)
		wants(t, err, context.DeadlineExceeded, "", "")
		b.ok(b.DeleteInstance(t.Context(), alice, b.only("CREATING")))
		b.yard.fails(lifecycle.Instantiate, nil, refusal(broker.ErrInvalid))
		for range 6 {
			b.worked()
			b.settles(b.clock.Now())
		}
		b.nothing()
	})
	for _, method := range []string{"Bundles", "Instance", "Operations", "DeleteBundles"} {
		t.Run(method, func(t *testing.T) {
			b, i := town(t)
			back := b.store.failing(method, 1)
			wants(t, b.DeleteInstance(t.Context(), alice, i.ID), errDisk, "", "")
			back()
			b.only("DELETING")
			b.rest()
			for range 3 {
				b.worked()
				b.settles(b.clock.Now())
			}
			b.nothing()
		})
	}
}

// TestThePassHelpsEachRow: one that cannot be gone on with keeps no other from its turn, and is named.
func TestThePassHelpsEachRow(t *testing.T) {
	b, first := town(t, brief)
	ctx := t.Context()
	b.rest()
	_, err := b.CreateInstance(ctx, alice, to(second))
	wants(t, err, context.DeadlineExceeded, "", "")
	b.ok(b.DeleteInstance(ctx, alice, first.ID))
	document := b.row(bundle.OfInstance, first.ID).Document
	b.spoil(bundle.OfInstance, first.ID, func(string) string { return "{" })
	b.worked()
	wants(t, b.Settle(ctx, b.clock.Now()), broker.ErrUnavailable, "", "instance "+b.row(bundle.OfInstance, first.ID).ID+" of ONAP's: a stored instance")
	_, err = b.Instances(ctx, alice, bundle.Request{})
	wants(t, err, broker.ErrUnavailable, "", "restore the table vnf_bundles from a backup")
	_, err = b.Instance(ctx, alice, first.ID)
	wants(t, err, broker.ErrUnavailable, "", "")
	_, err = b.UpgradeInstance(ctx, alice, first.ID, asked)
	if err == nil {
		t.Error("an instance that cannot be read is changed")
	}
	b.spoil(bundle.OfInstance, first.ID, func(string) string { return document })
	all, err := b.Instances(ctx, alice, bundle.Request{Version: "2"})
	if err != nil || len(all) != 1 || all[0].State != "DONE" {
		t.Errorf("the other is %+v, %v", all, err)
	}
	b.clock.Add(1000 * time.Hour)
	if err := b.Settle(ctx, b.clock.Now()); !errors.Is(err, policy.ErrDelegationEnded) {
		t.Errorf("for a caller whose roles nobody knows any more: %v", err)
	}
	back := b.store.failing("Bundles", 1)
	wants(t, b.Settle(ctx, b.clock.Now()), errDisk, "", "")
	back()
	for _, p := range b.Passes() {
		every := map[string]time.Duration{"settle-bundles": 15 * time.Second, "tell-bundles": 15 * time.Second, "sweep-bundles": time.Hour}[p.Name]
		back := b.store.failing("Bundles", 1)
		if err := p.Run(ctx); p.Every != every || !errors.Is(err, errDisk) {
			t.Errorf("pass %s every %v: %v", p.Name, p.Every, err)
		}
		back()
	}
}

// TestLook shows what an instance consists of, objects of a kind of it, and those of a region.
func TestLook(t *testing.T) {
	b, i := town(t)
	ctx := t.Context()
	b.yard.shows = map[string]string{"front": `{"data":{}}`}
	shown, seen, err := b.Look(ctx, alice, i.ID, "", lifecycle.Wanted{})
	b.ok(err)
	same(t, "what is shown", bundle.Objects(seen), []bundle.Shown{{Name: "front", GVK: bundle.GVK{Version: "v1", Kind: "ConfigMap"}, Status: []byte(`{"data":{}}`)}})
	same(t, "the instance", shown, i)
	for name, c := range map[string]struct {
		id, region string
		w          lifecycle.Wanted
		listed     string
		kind       error
	}{
		"of an instance":           {i.ID, "", lifecycle.Wanted{APIVersion: "v1", Kind: "Pod"}, "Pod default  k8splugin.io/rb-instance-id=" + i.ID, nil},
		"with a selector":          {i.ID, "", lifecycle.Wanted{Kind: "Pod", Namespace: "x", Selector: "a=b"}, "Pod default  k8splugin.io/rb-instance-id=" + i.ID + ",a=b", nil},
		"of a region":              {"", "far", lifecycle.Wanted{Kind: "Pod", Namespace: "x", Name: "n", Selector: "a=b"}, "Pod x n a=b", nil},
		"of no region":             {"", "none", lifecycle.Wanted{Kind: "Pod"}, "", broker.ErrNotFound},
		"of no instance":           {"none", "", lifecycle.Wanted{Kind: "Pod"}, "", broker.ErrNotFound},
		"Secrets of an instance":   {i.ID, "", lifecycle.Wanted{Kind: "Secret"}, "", broker.ErrDenied},
		"Secrets of a region":      {"", "edge", lifecycle.Wanted{Kind: "Secret"}, "", broker.ErrDenied},
		"everything of a stranger": {"none", "", lifecycle.Wanted{}, "", broker.ErrNotFound},
	} {
		t.Run(name, func(t *testing.T) {
			b.yard.listed = ""
			_, seen, err := b.Look(ctx, alice, c.id, c.region, c.w)
			wants(t, err, c.kind, "", "")
			if b.yard.listed != c.listed || (len(seen) == 1) != (c.kind == nil) {
				t.Errorf("%q was listed, %+v seen; want %q", b.yard.listed, seen, c.listed)
			}
		})
	}
	same(t, "an object that is not read", bundle.Objects([]lifecycle.Showing{{Resource: lifecycle.Resource{Group: "g", Version: "v", Kind: "k", Name: "n"}}}),
		[]bundle.Shown{{Name: "n", GVK: bundle.GVK{Group: "g", Version: "v", Kind: "k"}, Status: []byte(`{}`)}})
}
