package bundle_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/broker/secret"
	"github.com/vimbroker/vimbroker/lifecycle"
	"github.com/vimbroker/vimbroker/lifecycle/bundle"
	"github.com/vimbroker/vimbroker/lifecycle/catalog"
	"github.com/vimbroker/vimbroker/policy"
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

// TestADocumentThatIsHalfOfAForm is told as one that cannot be read, whatever was read of it.
func TestADocumentThatIsHalfOfAForm(t *testing.T) {
	b, id := study(t)
	ctx := t.Context()
	b.keep(id, "", bundle.Configuration{Template: "t", Values: values("x")})
	document := b.row(bundle.OfConfig, id+"/Con_1").Document
	b.spoil(bundle.OfConfig, id+"/Con_1", func(string) string { return `{"next":{},"left":1}` })
	_, err := b.ClearConfig(ctx, alice, id, "Con_1")
	wants(t, err, broker.ErrUnavailable, "", "a stored configuration cannot be read")
	b.spoil(bundle.OfConfig, id+"/Con_1", func(string) string { return document })
	_, err = b.KeepWatch(ctx, alice, id, "", bundle.Watch{Name: "w", Callback: callback})
	b.ok(err)
	b.yard.shows = map[string]string{"front": `{"n":2}`}
	b.spoil(bundle.OfWatch, id+"/w", func(d string) string { return strings.Replace(d, `"Failures":0`, `"Failures":"none"`, 1) })
	b.tells(time.Minute)
	if said := b.log.String(); !strings.Contains(said, "a stored subscription cannot be read") {
		t.Errorf("the log is %s", said)
	}
	b.clock.Add(1000 * time.Hour)
	b.ok(b.Settle(ctx, b.clock.Now())) // the roles of who subscribed are known no more, and no work is theirs
}

// TestAStoreThatHangs: the answer says that the work goes on, wherever it stands still.
func TestAStoreThatHangs(t *testing.T) {
	b, id := study(t)
	b.keep(id, "", bundle.Configuration{Template: "t", Values: values("x")})
	b.Wait = 500 * time.Millisecond
	for _, c := range []struct {
		method string
		nth    int
	}{{"Bundle", -3}, {"Bundles", -1}, {"Instance", -1}, {"Operations", -1}} {
		back := b.store.hanging(c.method, c.nth)
		wants(t, b.DeleteConfig(t.Context(), alice, id, "Con_1"), context.DeadlineExceeded, "", "the work on instance "+id+"/Con_1 goes on")
		back()
	}
	back := b.store.hanging("UpdateBundle", -2) // which has the configuration end
	b.ok(b.DeleteInstance(t.Context(), alice, id))
	back()
	b.Wait = 20 * time.Second
	calls := 0
	back = b.store.asks(func(_ context.Context, method string) error {
		if calls++; method == "Bundle" && calls > 2 { // another process was quicker
			row := b.row(bundle.OfConfig, id+"/Con_1")
			return b.store.Store.DeleteBundles(t.Context(), []string{row.ID}, act())
		}
		return nil
	})
	b.ok(b.DeleteConfig(t.Context(), alice, id, "Con_1"))
	back()
	b.gone(bundle.OfConfig, id+"/Con_1")
}

// TestWhatIsBelowGoesFirst: nothing of an instance is removed while a configuration of it stands.
func TestWhatIsBelowGoesFirst(t *testing.T) {
	b, id := study(t)
	b.keep(id, "", bundle.Configuration{Template: "t", Values: values("x")})
	b.Wait = 500 * time.Millisecond
	b.rest()
	b.ok(b.DeleteInstance(t.Context(), alice, id))
	for _, want := range []string{"INSTANTIATE COMPLETED, INSTANTIATE COMPLETED, TERMINATE STARTING", "INSTANTIATE COMPLETED, TERMINATE STARTING"} {
		same(t, "the operations", b.operations(), want)
		b.worked()
		b.settles(b.clock.Now())
	}
	b.worked()
	b.settles(b.clock.Now())
	b.nothing()
}

// operations are all that there are, each with its state.
func (b *bench) operations() string {
	b.t.Helper()
	found, _, err := b.store.Store.Operations(b.t.Context(), lifecycle.OperationFilter{Page: broker.Page{Size: 20}})
	b.ok(err)
	var all []string
	for _, o := range found {
		all = append(all, string(o.Type)+" "+string(o.State))
	}
	slices.Sort(all)
	return strings.Join(all, ", ")
}

// TestWhatWasGoneBackFromIsForgotten: of values nothing stays sealed but those of the versions that there are.
func TestWhatWasGoneBackFromIsForgotten(t *testing.T) {
	b, id := study(t)
	ctx := t.Context()
	for n, v := range []string{"w", "x", "y"} {
		b.keep(id, []string{"", "Con_1", "Con_1"}[n], bundle.Configuration{Template: "t", Values: values(v)})
	}
	_, err := b.Rollback(ctx, alice, id, "Con_1", bundle.Chosen{Version: "1"})
	b.ok(err)
	b.keep(id, "Con_1", bundle.Configuration{Values: values("z")})
	row := b.row(bundle.OfConfig, id+"/Con_1")
	text, err := b.Keys.Open(ctx, row.OwnedBy(row.ID).Owner, "ONAP "+string(bundle.OfConfig), row.Sealed)
	b.ok(err)
	same(t, "what is sealed", text.Reveal(), `{"1":{"a":{"b":"w","c":1}},"2":{"a":{"b":"z","c":1}}}`)
}

// TestReadsThatAreNotRecorded do nothing.
func TestReadsThatAreNotRecorded(t *testing.T) {
	b, _ := town(t)
	ctx := t.Context()
	b.clock.Add(time.Hour)
	for _, name := range []string{"rb/1", "rb/2"} {
		back := b.store.failing("Append", 1)
		wants(t, b.Upload(ctx, alice, bundle.OfDefinition, name, chart("web", "x")), broker.ErrUnavailable, "", "the audit log cannot be written")
		back()
	}
	_, err := b.Packages.Package(ctx, alice, packageOf("rb/2"))
	b.ok(err)
	for _, p := range []policy.Principal{{Name: "nobody", Project: "core"}, bob} {
		_, err := b.Region(ctx, p, "edge")
		wants(t, err, broker.ErrNotFound, "", "no such cloud region")
	}
	b.clock.Add(time.Hour)
	back := b.store.failing("Append", 1)
	_, err = b.Region(ctx, alice, "edge")
	wants(t, err, broker.ErrUnavailable, "", "the audit log cannot be written")
	back()
}
