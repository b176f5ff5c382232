package bundle_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/broker/secret"
	"github.com/vimbroker/vimbroker/lifecycle/bundle"
	"github.com/vimbroker/vimbroker/lifecycle/catalog"
	"github.com/vimbroker/vimbroker/test/fakekube"
)

// TestWhatIsSaidOfAContentStays: an update says of the chart what the content is, or is refused.
func TestWhatIsSaidOfAContentStays(t *testing.T) {
	b := newBench(t)
	ctx := t.Context()
	b.define("front")
	for name, c := range map[string]struct {
		chart, says string
		kind        error
		field       string
	}{
		"its chart": {"web", "one", nil, ""}, "no chart": {"", "two", nil, ""}, "another chart": {"www", "three", broker.ErrConflict, ""},
	} {
		was := b.row(bundle.OfDefinition, "rb/1").Document
		err := b.Update(ctx, alice, bundle.Definition{Name: "rb", Version: "1", Chart: c.chart, Description: c.says})
		wants(t, err, c.kind, c.field, "")
		got := b.row(bundle.OfDefinition, "rb/1").Document
		if c.kind != nil && got != was || !strings.Contains(got, `"chart-name":"web"`) || !strings.Contains(got, `"has-content":true`) || strings.Contains(got, c.says) != (c.kind == nil) {
			t.Errorf("%s: it is %s", name, got)
		}
	}
	b.ok(b.Create(ctx, alice, bundle.Definition{Name: "bare", Version: "1", Chart: "web"}))
	b.ok(b.Update(ctx, alice, bundle.Definition{Name: "bare", Version: "1", Chart: "www"}))
	if got := b.row(bundle.OfDefinition, "bare/1").Document; !strings.Contains(got, `"chart-name":"www"`) || strings.Contains(got, "has-content") {
		t.Errorf("one without content is %s", got)
	}
	b.spoil(bundle.OfDefinition, "bare/1", func(string) string { return "[" })
	wants(t, b.Update(ctx, alice, bundle.Definition{Name: "bare", Version: "1"}), broker.ErrUnavailable, "", "cannot be read")
	if got := b.row(bundle.OfDefinition, "bare/1").Document; got != "[" {
		t.Errorf("what cannot be read became %s", got)
	}
	b.store.before, b.store.nth = func() { b.spoil(bundle.OfDefinition, "rb/1", func(string) string { return "[" }) }, 1
	wants(t, b.Upload(ctx, alice, bundle.OfDefinition, "rb/1", chart("web", "x")), broker.ErrUnavailable, "", "cannot be read")
}

// packageOf is the package of a definition.
func packageOf(name string) catalog.PackageRef {
	return catalog.PackageRef{ID: uuid.NewSHA1(uuid.NameSpaceURL, []byte("urn:vimbroker:onap:core\x00"+name)).String()}
}

// TestPackagesOfDefinitionsThatFail: a definition stays with its package until that has gone, and a content that was not taken
// leaves none.
func TestPackagesOfDefinitionsThatFail(t *testing.T) {
	b := newBench(t)
	ctx := t.Context()
	b.define("front")
	for _, method := range []string{"Package", "UpdatePackage", "DeletePackage", "DeleteBundles"} {
		back := b.store.failing(method, 1)
		wants(t, b.Delete(ctx, alice, bundle.OfDefinition, "rb/1"), errDisk, "", "")
		back()
		b.row(bundle.OfDefinition, "rb/1")
		if _, err := b.Packages.Package(ctx, alice, packageOf("rb/1")); (err == nil) != (method != "DeleteBundles") {
			t.Errorf("without %s the package is %v", method, err)
		}
	}
	b.ok(b.Create(ctx, alice, bundle.Definition{Name: "new", Version: "1"}))
	for _, method := range []string{"Package", "CreatePackage", "UpdatePackage", "UpdateBundle"} {
		back := b.store.failing(method, -1)
		wants(t, b.Upload(ctx, alice, bundle.OfDefinition, "new/1", chart("web", "x")), errDisk, "", "")
		back()
		if _, err := b.Packages.Package(ctx, alice, packageOf("new/1")); errors.Is(err, broker.ErrNotFound) == (method == "UpdateBundle") {
			t.Errorf("without %s the package is %v", method, err)
		}
		if got := b.row(bundle.OfDefinition, "new/1").Document; strings.Contains(got, "has-content") {
			t.Errorf("without %s the definition is %s", method, got)
		}
	}
	// A package without content, which a process that died has left, is replaced.
	b.ok(b.Create(ctx, alice, bundle.Definition{Name: "dead", Version: "1"}))
	_, err := b.Packages.CreateAs(ctx, alice, packageOf("dead/1").ID, "")
	b.ok(err)
	b.ok(b.Upload(ctx, alice, bundle.OfDefinition, "dead/1", chart("web", "x")))
	b.ok(b.Delete(ctx, alice, bundle.OfDefinition, "dead/1"))
	if _, err := b.Packages.Package(ctx, alice, packageOf("dead/1")); !errors.Is(err, broker.ErrNotFound) {
		t.Errorf("the package of what was deleted: %v", err)
	}
}

// TestWhatIsBecomingIsUsed: what an instance goes over to is used already, and nothing else is.
func TestWhatIsBecomingIsUsed(t *testing.T) {
	b, i := town(t, brief)
	ctx := t.Context()
	b.ok(b.Create(ctx, alice, bundle.Definition{Name: "other", Version: "1"}))
	b.rest()
	_, err := b.UpgradeInstance(ctx, alice, i.ID, to(second))
	wants(t, err, context.DeadlineExceeded, "", "")
	for _, used := range []string{"rb/1", "rb/2"} {
		wants(t, b.Delete(ctx, alice, bundle.OfDefinition, used), broker.ErrConflict, "", "instances use it: "+i.ID)
	}
	b.ok(b.Delete(ctx, alice, bundle.OfDefinition, "other/1"))
	for _, method := range []string{"Bundle", "Operations"} {
		back := b.store.failing(method, 1)
		wants(t, b.Settle(ctx, b.clock.Now()), errDisk, "", "instance")
		back()
		b.only("UPGRADING")
	}
	// A row that is being resealed is left to that.
	row := b.row(bundle.OfInstance, i.ID)
	reseals := func(state string) {
		t.Helper()
		_, err := b.store.UpdateBundle(ctx, row.ID, func(r *bundle.Row) error {
			r.State, r.Since = row.State, b.clock.Now().Add(time.Hour)
			if state != "" {
				r.State = "rekeying"
			}
			return nil
		}, nil)
		b.ok(err)
	}
	b.worked()
	reseals("rekeying")
	b.settles(b.clock.Now())
	b.only("UPGRADING")
	reseals("")
	b.settles(b.clock.Now())
	b.only("DONE")
}

// TestRecordsOfARegionThatStay are said to, and one that was removed at the same moment is none.
func TestRecordsOfARegionThatStay(t *testing.T) {
	b := newBench(t)
	ctx := t.Context()
	kube := fakekube.New(t, fakekube.Options{Now: b.clock.Now})
	_, err := b.CreateRegion(ctx, alice, recorded("edge", "one"), secret.NewText(kube.Kubeconfig()))
	b.ok(err)
	back := b.store.failing("DeleteBundles", 1)
	wants(t, b.DeleteRegion(ctx, alice, "edge"), errDisk, "", "")
	back()
	b.ok(b.Sweep(ctx))
}

// TestSealedTextsThatAreNone: what opens and is no overlay is said, and resealing says what it could not do.
func TestSealedTextsThatAreNone(t *testing.T) {
	b := newBench(t)
	ctx := t.Context()
	b.region("edge")
	b.define("front")
	b.ok(b.Upload(ctx, alice, bundle.OfProfile, "rb/1/p", archive("manifest.yaml", "version: v1\n")))
	row := b.row(bundle.OfProfile, "rb/1/p")
	due := broker.Due{To: b.Keys, Before: b.clock.Now().Add(time.Hour)}
	back := b.store.failing("UpdateBundle", 1)
	if err := b.Reseal(ctx, due); err == nil {
		t.Error("what cannot be written is resealed")
	}
	back()
	b.store.before, b.store.nth = func() { b.ok(b.store.Store.DeleteBundles(ctx, []string{row.ID}, act())) }, 1
	b.ok(b.Reseal(ctx, due))
	b.gone(bundle.OfProfile, "rb/1/p")
	b.ok(b.store.Store.CreateBundles(ctx, []bundle.Row{row}, 0, act()))
	sealed, err := b.Keys.Seal(ctx, row.OwnedBy(row.ID).Owner, "ONAP "+string(bundle.OfProfile), secret.NewText("no overlay"))
	b.ok(err)
	_, err = b.store.UpdateBundle(ctx, row.ID, func(r *bundle.Row) error { r.Sealed = sealed; return nil }, nil)
	b.ok(err)
	if _, err := b.CreateInstance(ctx, alice, asked); err == nil {
		t.Error("an instance is made of what is no overlay")
	}
	b.nothing()
}

// TestGoingBackToTheNewestVersion applies it again, with its values, and one that is not written is not gone back to.
func TestGoingBackToTheNewestVersion(t *testing.T) {
	b, id := study(t)
	ctx := t.Context()
	b.keep(id, "", bundle.Configuration{Template: "t", Values: values("x")})
	was := b.applied()
	back := b.store.failing("UpdateBundle", 1)
	_, err := b.Rollback(ctx, alice, id, "Con_1", bundle.Chosen{Version: "1"})
	wants(t, err, errDisk, "", "")
	back()
	_, err = b.Rollback(ctx, alice, id, "Con_1", bundle.Chosen{Version: "1"})
	b.ok(err)
	if got := b.applied(); got != was || strings.Contains(got, "<hidden>") {
		t.Errorf("applied is %s, was %s", got, was)
	}
	same(t, "the versions", b.shape(id), []string{"1false map[a:<hidden>]"})
}
