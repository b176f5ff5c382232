package bundle_test

import (
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/broker/secret"
	"github.com/vimbroker/vimbroker/lifecycle/bundle"
	"github.com/vimbroker/vimbroker/policy"
	"github.com/vimbroker/vimbroker/policy/audit"
	"github.com/vimbroker/vimbroker/test/fakekube"
)

// recorded is a region with records, each of a name and an address.
func recorded(name string, records ...string) bundle.Region {
	r := bundle.Region{Name: name, Owner: "owner"}
	for _, n := range records {
		r.Others.Records = append(r.Others.Records, map[string]string{"connectivity-record-name": n, "password": "canary-" + n})
	}
	return r
}

// TestRegions are registered as VIMs with the records beside them, whose names alone are shown.
func TestRegions(t *testing.T) {
	b := newBench(t)
	ctx := t.Context()
	kube := func() secret.Text {
		return secret.NewText(fakekube.New(t, fakekube.Options{Now: b.clock.Now}).Kubeconfig())
	}
	long := recorded("long", "a")
	long.Others.Records[0]["password"] = strings.Repeat("x", 60<<10)
	for name, c := range map[string]struct {
		r     bundle.Region
		field string
	}{
		"name": {recorded(""), "cloud-region"}, "owner": {bundle.Region{Name: "a"}, "cloud-owner"},
		"a record's name": {recorded("a", "b", ""), "other-connectivity-list"}, "records": {long, "other-connectivity-list"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := b.CreateRegion(ctx, alice, c.r, secret.NewText("none"))
			wants(t, err, broker.ErrInvalid, "", c.field)
		})
	}
	_, err := b.CreateRegion(ctx, alice, recorded("a"), secret.NewText("none"))
	wants(t, err, broker.ErrInvalid, "", "")
	bound := recorded("bound", "a")
	bound.Others.Records[0]["password"] = strings.Repeat("x", 60<<10-len(`[{"connectivity-record-name":"a","password":""}]`))
	_, err = b.CreateRegion(ctx, alice, bound, kube())
	b.ok(err)
	for _, method := range []string{"CreateBundles", "UpdateBundle"} {
		back := b.store.failing(method, 1)
		_, err := b.CreateRegion(ctx, alice, recorded("lost", "a"), kube())
		back()
		wants(t, err, errDisk, "", "")
		_, err = b.Region(ctx, alice, "lost")
		wants(t, err, broker.ErrNotFound, "", "no such cloud region")
	}
	shown, err := b.CreateRegion(ctx, alice, recorded("edge", "one", "two"), kube())
	b.ok(err)
	want := bundle.Region{Name: "edge", Owner: "owner"}
	want.Others.Records = []map[string]string{{"connectivity-record-name": "one"}, {"connectivity-record-name": "two"}}
	same(t, "the region", shown, want)
	bare, err := b.CreateRegion(ctx, alice, recorded("bare"), kube())
	b.ok(err)
	same(t, "one without records", bare.Others.Records, []map[string]string{})
	v, err := b.broker.VIM(ctx, alice, "bare")
	b.ok(err)
	b.gone(bundle.OfRegion, v.ID)
	v, err = b.broker.VIM(ctx, alice, "edge")
	b.ok(err)
	row := b.row(bundle.OfRegion, v.ID)
	if row.Ref == "" || strings.Contains(fmt.Sprintf("%+v", row), "canary") {
		t.Errorf("the row is %+v", row)
	}
	back := b.store.failing("Bundle", 1)
	_, err = b.Region(ctx, alice, "edge")
	wants(t, err, errDisk, "", "")
	back()
	for _, name := range []string{"none", v.ID, "no name"} {
		_, err = b.Region(ctx, alice, name)
		wants(t, err, broker.ErrNotFound, "", "no such cloud region")
		wants(t, b.DeleteRegion(ctx, alice, name), broker.ErrNotFound, "", "no such cloud region")
	}
	cloud := broker.VIM{ID: "00000000-0000-4000-8000-000000000001", Name: "cloud", Type: "openstack", Project: "core", State: broker.VIMRegistered}
	b.ok(b.store.CreateVIM(ctx, cloud, 0, audit.Entry{Action: policy.VIMRegister, Outcome: audit.Done}))
	_, err = b.Region(ctx, alice, "cloud")
	wants(t, err, broker.ErrNotFound, "", "no such cloud region")
	_, err = b.Region(ctx, bob, "edge")
	wants(t, err, broker.ErrNotFound, "", "no such cloud region")
	wants(t, b.DeleteRegion(ctx, rita, "edge"), broker.ErrDenied, "", "")
	b.ok(b.DeleteRegion(ctx, alice, "bare"))
	b.ok(b.DeleteRegion(ctx, alice, "edge"))
	b.gone(bundle.OfRegion, v.ID)
}

// TestRecordsOfRegionsThatAreGone are removed by the pass, and no others.
func TestRecordsOfRegionsThatAreGone(t *testing.T) {
	b := newBench(t)
	b.define("front")
	ctx := t.Context()
	b.ok(b.Upload(ctx, alice, bundle.OfProfile, "rb/1/p", archive("manifest.yaml", "version: v1\n")))
	kube := fakekube.New(t, fakekube.Options{Now: b.clock.Now})
	_, err := b.CreateRegion(ctx, alice, recorded("edge", "one"), secret.NewText(kube.Kubeconfig()))
	b.ok(err)
	v, err := b.broker.VIM(ctx, alice, "edge")
	b.ok(err)
	b.ok(b.Sweep(ctx))
	b.row(bundle.OfRegion, v.ID)
	back := b.store.failing("Bundle", 1)
	wants(t, b.DeleteRegion(ctx, alice, "edge"), errDisk, "", "")
	back()
	b.row(bundle.OfRegion, v.ID)
	b.ok(b.Sweep(ctx))
	b.gone(bundle.OfRegion, v.ID)
	_, err = b.CreateRegion(ctx, alice, recorded("edge", "one"), secret.NewText(kube.Kubeconfig()))
	b.ok(err)
	v, err = b.broker.VIM(ctx, alice, "edge")
	b.ok(err)
	_, _, err = b.broker.DeleteVIM(ctx, alice, "edge", broker.Deletion{Drain: true})
	b.ok(err)
	back = b.store.failing("DeleteBundles", 1)
	wants(t, b.Sweep(ctx), errDisk, "", "cloud region")
	back()
	b.ok(b.Sweep(ctx))
	b.gone(bundle.OfRegion, v.ID)
	b.row(bundle.OfProfile, "rb/1/p")
}

// TestTheLeaseOfARegion is the caller's, as far as policy gives one.
func TestTheLeaseOfARegion(t *testing.T) {
	b := newBench(t, func(o *bundle.Options) { o.Lease = true })
	kube := fakekube.New(t, fakekube.Options{Now: b.clock.Now})
	v, err := b.broker.RegisterVIM(t.Context(), alice, broker.Registration{Name: "edge", Type: "kubernetes", Kubeconfig: secret.NewText(kube.Kubeconfig())})
	b.ok(err)
	back := b.store.failing("Bundle", 1)
	_, err = b.Region(t.Context(), alice, "edge")
	wants(t, err, errDisk, "", "")
	back()
	r, err := b.Region(t.Context(), alice, "edge")
	b.ok(err)
	text, err := base64.StdEncoding.DecodeString(r.Kubeconfig)
	if err != nil || !strings.Contains(string(text), "kind: Config") && !strings.Contains(string(text), `"kind":"Config"`) {
		t.Errorf("the kubeconfig is %.60q, %v", text, err)
	}
	leases, _, err := b.broker.Leases(t.Context(), alice, broker.LeaseQuery{VIM: v.ID, Page: broker.Page{Size: 10}})
	if err != nil || len(leases) != 1 || leases[0].Purpose != "connectivity-info" || leases[0].ExpiresAt.Sub(b.clock.Now()) > 10*time.Minute {
		t.Errorf("the leases are %+v, %v", leases, err)
	}
	if r, err = b.Region(t.Context(), rita, "edge"); err != nil || r.Kubeconfig != "" || r.Name != "edge" {
		t.Errorf("a reader is given %+v, %v", r, err)
	}
	b.clock.Add(time.Hour)
	kube.FailNext(http.MethodPost, "/serviceaccounts", 403, 1)
	if r, err := b.Region(t.Context(), alice, "edge"); !errors.Is(err, broker.ErrForbidden) || r.Kubeconfig != "" {
		t.Errorf("without a lease it is %+v, %v", r, err)
	}
	_, err = b.Region(t.Context(), alice, "edge")
	b.ok(err)
	kube.FailNext(http.MethodDelete, "/serviceaccounts", 500, 100)
	b.ok(b.DeleteRegion(t.Context(), alice, "edge"))
	if v, err = b.broker.VIM(t.Context(), alice, "edge"); err != nil || v.State != broker.VIMDraining {
		t.Errorf("while a lease does not end, the VIM is %q, %v", v.State, err)
	}
	_, err = b.Region(t.Context(), alice, "edge")
	wants(t, err, broker.ErrNotFound, "", "no such cloud region")
	b.ok(b.DeleteRegion(t.Context(), alice, "edge"))
}

// TestSealedRowsAreResealed as far as they are due, and work on one of a dead process is ended by the pass.
func TestSealedRowsAreResealed(t *testing.T) {
	b := newBench(t)
	b.define("front")
	ctx := t.Context()
	b.ok(b.Upload(ctx, alice, bundle.OfProfile, "rb/1/p", archive("manifest.yaml", "version: v1\n")))
	was := b.row(bundle.OfProfile, "rb/1/p")
	due := broker.Due{To: b.Keys}
	b.ok(b.Reseal(ctx, due))
	now := b.row(bundle.OfProfile, "rb/1/p")
	if selected := due.Selects(was.Sealed); selected != (now.Ref != was.Ref) || now.State != "active" {
		t.Errorf("due is %v; it was %+v, is %+v", selected, was, now)
	}
	back := b.store.failing("Bundles", 1)
	wants(t, b.Reseal(ctx, due), errDisk, "", "")
	back()
	back = b.store.failing("UpdateBundle", 2)
	err := b.Upload(ctx, alice, bundle.OfProfile, "rb/1/p", archive("manifest.yaml", "version: v1\n"))
	wants(t, err, errDisk, "", "")
	back()
	stuck := b.row(bundle.OfProfile, "rb/1/p")
	if stuck.State == "active" {
		t.Fatalf("it is %+v", stuck)
	}
	b.settles(stuck.Since)
	if b.row(bundle.OfProfile, "rb/1/p").State == "active" {
		t.Error("work of a moment ago was ended")
	}
	back = b.store.failing("UpdateBundle", 1)
	wants(t, b.Settle(ctx, stuck.Since.Add(time.Second)), errDisk, "", "profile")
	back()
	b.settles(stuck.Since.Add(time.Second))
	if is := b.row(bundle.OfProfile, "rb/1/p"); is.State != "active" || is.Ref == "" {
		t.Errorf("it is %+v", is)
	}
}
