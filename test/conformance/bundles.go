package conformance

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/broker/keyring"
	"github.com/vimbroker/vimbroker/broker/secret"
	"github.com/vimbroker/vimbroker/lifecycle/bundle"
	"github.com/vimbroker/vimbroker/policy/audit"
)

// BundleStore is a store of bundles with the ledger of keys.
type BundleStore interface {
	bundle.Store
	RetiredKeys(ctx context.Context, limit int) ([]broker.RetiredKey, error)
	KeysInUse(ctx context.Context, id string) ([]broker.RetiredKey, error)
}

func fullBundle(project, name string) bundle.Row {
	id := uuid.NewString()
	return bundle.Row{
		ID: id, Project: project, Kind: bundle.OfProfile, Name: name, Claim: "claim of " + id, Document: `{"a": "☃"}`, Busy: true,
		SealedRow: keyring.SealedRow{
			State: keyring.Active, Since: epoch, Owner: secret.Owner{Generation: 3},
			Sealed: keyring.Sealed{Text: "token", KeyStore: "keydir", Ref: secret.Ref("ref " + id)},
		},
	}
}

// Bundles is the suite of [bundle.Store]. open gives an empty store.
func Bundles(t *testing.T, open func(t *testing.T) BundleStore) {
	check := func(name string, f func(*testing.T, BundleStore)) {
		t.Run(name, func(t *testing.T) { f(t, open(t)) })
	}
	check("Rows", bundleRows)
	check("Lists", bundleLists)
}

func bundleRows(t *testing.T, s BundleStore) {
	ctx := t.Context()
	want := fullBundle("north", "a/1/p")
	if err := s.CreateBundles(ctx, []bundle.Row{want}, 2, entry("create")); err != nil {
		t.Fatal(err)
	}
	got, err := s.Bundle(ctx, "north", want.Kind, want.Name)
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Errorf("Bundle = %v, differs:\n%s", err, diff)
	}
	for name, change := range map[string]func(*bundle.Row){
		"name": func(r *bundle.Row) { r.Name = want.Name }, "claim": func(r *bundle.Row) { r.Claim = want.Claim }, "id": func(r *bundle.Row) { r.ID = want.ID },
	} {
		other := fullBundle("north", "a/1/q")
		change(&other)
		if err := s.CreateBundles(ctx, []bundle.Row{other}, 0, entry("again")); !errors.Is(err, broker.ErrExists) {
			t.Errorf("a second row of the same %s: %v, want ErrExists", name, err)
		}
	}
	two := []bundle.Row{fullBundle("north", "b/1/p"), fullBundle("north", "b/1/q")}
	if err := s.CreateBundles(ctx, two, 2, entry("too many")); !errors.Is(err, broker.ErrQuota) {
		t.Errorf("three rows where two may be: %v, want ErrQuota", err)
	}
	if _, err := s.Bundle(ctx, "south", want.Kind, want.Name); !errors.Is(err, broker.ErrNotFound) {
		t.Errorf("another project's: %v, want ErrNotFound", err)
	}
	want.Claim, want.Document, want.Busy, want.State, want.Since = "other", "{}", false, keyring.Rekeying, epoch.Add(time.Minute)
	want.Owner.Generation, want.Text, want.KeyStore, want.Ref = 4, "other", "vault", "other ref"
	e := entry("change")
	changed, err := s.UpdateBundle(ctx, want.ID, func(r *bundle.Row) error {
		*r = want
		r.ID, r.Project, r.Kind, r.Name = "other", "south", "other", "other" // which nobody changes
		return nil
	}, &e)
	if diff := cmp.Diff(want, changed); err != nil || diff != "" {
		t.Errorf("UpdateBundle = %v, differs:\n%s", err, diff)
	}
	log := s.(interface {
		Grow(ctx context.Context) error
		Entries(ctx context.Context, q audit.Query) ([]audit.Entry, error)
	})
	if err := log.Grow(ctx); err != nil {
		t.Fatal(err)
	}
	if last, err := log.Entries(ctx, audit.Query{Limit: 1}); err != nil || len(last) != 1 || last[0].Resource != e.Resource {
		t.Errorf("the last entry is %v, %v, want that of the change", last, err)
	}
	if _, err := s.UpdateBundle(ctx, want.ID, func(r *bundle.Row) error { r.State = keyring.Making; return nil }, nil); !errors.Is(err, broker.ErrConflict) {
		t.Errorf("a move that no row makes: %v, want ErrConflict", err)
	}
	sentinel := errors.New("no")
	if _, err := s.UpdateBundle(ctx, want.ID, func(*bundle.Row) error { return sentinel }, nil); !errors.Is(err, sentinel) {
		t.Errorf("a change that fails: %v", err)
	}
	if got, err = s.Bundle(ctx, "north", want.Kind, want.Name); err != nil || cmp.Diff(want, got) != "" {
		t.Errorf("after the update: %v\n%s", err, cmp.Diff(want, got))
	}
	used, err := s.KeysInUse(ctx, want.ID)
	all, err2 := s.KeysInUse(ctx, "")
	if err != nil || err2 != nil || len(used) != 1 || len(all) != 1 || used[0].Ref != want.Ref || used[0].Owner.Generation != 4 {
		t.Errorf("KeysInUse = %v, %v, %v, %v", used, all, err, err2)
	}
	if err := s.DeleteBundles(ctx, []string{uuid.NewString(), want.ID, uuid.NewString()}, entry("delete")); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Bundle(ctx, "north", want.Kind, want.Name); !errors.Is(err, broker.ErrNotFound) {
		t.Errorf("a row that was removed behind one that was gone: %v", err)
	}
	retired, err := s.RetiredKeys(ctx, 10)
	if err != nil || len(retired) != 1 || retired[0].Ref != want.Ref || retired[0].KeyStore != "vault" || retired[0].Owner.ID != want.ID {
		t.Errorf("RetiredKeys = %v, %v", retired, err)
	}
}

func bundleLists(t *testing.T, s BundleStore) {
	ctx := t.Context()
	var all []bundle.Row
	for n, name := range []string{"a/1/p", "a/1/q", "a/10/p", "ab/1/p", "a-b/1/p"} {
		r := fullBundle("north", name)
		if r.Busy = n == 0; n == 1 {
			r.State = keyring.Rekeying
		}
		if n == 2 {
			r.Sealed = keyring.Sealed{}
		}
		all = append(all, r)
	}
	if err := s.CreateBundles(ctx, all, 0, entry("create")); err != nil {
		t.Fatal(err)
	}
	if err := s.CreateBundles(ctx, []bundle.Row{fullBundle("south", "a/1/p")}, 0, entry("create")); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		f    bundle.Filter
		want []string
	}{
		{bundle.Filter{Project: "north", Kind: bundle.OfProfile, Under: "a/1", Limit: 9}, []string{"a/1/p", "a/1/q"}},
		{bundle.Filter{Project: "north", Kind: bundle.OfProfile, Under: "a", Limit: 9}, []string{"a/1/p", "a/1/q", "a/10/p"}},
		{bundle.Filter{Project: "north", Kind: bundle.OfProfile, After: "a/1/p", Limit: 2}, []string{"a/1/q", "a/10/p"}},
		{bundle.Filter{Project: "north", Kind: bundle.OfProfile, Claim: all[3].Claim, Limit: 9}, []string{"ab/1/p"}},
		{bundle.Filter{Project: "north", Kind: bundle.OfInstance, Limit: 9}, nil},
	} {
		found, err := s.Bundles(ctx, c.f)
		var names []string
		for _, r := range found {
			names = append(names, r.Name)
		}
		if err != nil || cmp.Diff(c.want, names) != "" {
			t.Errorf("%+v: %v, %v, want %v", c.f, names, err, c.want)
		}
	}
	for f, want := range map[bundle.Filter]int{{Busy: true, Limit: 9}: 3, {Sealed: true, Limit: 9}: 5} {
		found, err := s.Bundles(ctx, f)
		if err != nil || len(found) != want {
			t.Errorf("%+v finds %d, %v, want %d", f, len(found), err, want)
		}
		for n := 1; n < len(found); n++ {
			if found[n-1].ID >= found[n].ID {
				t.Error("rows of all projects are not in the order of their ids")
			}
		}
		f.After, f.Limit = found[0].ID, 1
		if next, err := s.Bundles(ctx, f); err != nil || len(next) != 1 || next[0].ID != found[1].ID {
			t.Errorf("the next page of %+v = %v, %v", f, next, err)
		}
	}
}
