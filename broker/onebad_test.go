package broker_test

import (
	"context"
	"database/sql"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/broker/secret"
	"github.com/vimbroker/vimbroker/policy"
	"github.com/vimbroker/vimbroker/test/quickstore"
)

// deaf is a key store that cannot be reached for some keys.
type deaf struct {
	secret.KeyStore
	to map[secret.Ref]bool
}

func (d *deaf) Get(ctx context.Context, ref secret.Ref) (*secret.Key, error) {
	if d.to[ref] {
		return nil, secret.ErrUnavailable
	}
	return d.KeyStore.Get(ctx, ref)
}

// One bad row, or one VIM that cannot be opened, breaks no list, no pass and nothing that is
// done to all.
func TestOneBadRowBreaksNothingElse(t *testing.T) {
	execute := func(text string) func(t *testing.T, b *badBench) {
		return func(t *testing.T, b *badBench) {
			db, err := quickstore.Raw(filepath.Join(b.dir, "data", "vimbroker.db"))
			if err != nil {
				t.Fatal(err)
			}
			defer db.Close()
			for _, trigger := range []string{"generation_never_changes", "username_never_changes"} {
				if _, err := db.Exec(`DROP TRIGGER IF EXISTS ` + trigger); err != nil {
					t.Fatal(err)
				}
			}
			r, err := db.Exec(text, sql.Named("vim", b.bad.ID), sql.Named("lease", b.badLease.ID))
			if err != nil {
				t.Fatalf("%s: %v", text, err)
			}
			if n, err := r.RowsAffected(); err != nil || n == 0 {
				t.Fatalf("%s changed %d rows, %v", text, n, err)
			}
		}
	}
	for name, spoil := range map[string]func(*testing.T, *badBench){
		"a VIM's scope":                   execute(`UPDATE vim_generations SET scope = '{' WHERE vim = :vim`),
		"what was discovered of a VIM":    execute(`UPDATE vim_generations SET discovered = '[1]' WHERE vim = :vim`),
		"a VIM's type":                    execute(`UPDATE vims SET type = 'zog' WHERE id = :vim`),
		"a VIM without its generation":    execute(`DELETE FROM vim_generations WHERE vim = :vim`),
		"a VIM's sealed credential":       execute(`UPDATE vim_generations SET sealed = 'gAAAA' WHERE vim = :vim`),
		"the key store of a VIM":          execute(`UPDATE vim_generations SET key_store = 'zog' WHERE vim = :vim`),
		"the endpoint of a VIM":           execute(`UPDATE vim_generations SET endpoint = '://' WHERE vim = :vim`),
		"a lease's namespaces":            execute(`UPDATE leases SET namespaces = '{' WHERE id = :lease`),
		"a lease's rules":                 execute(`UPDATE leases SET rules = '7' WHERE id = :lease`),
		"the roles of a lease's holder":   execute(`UPDATE leases SET holder_roles = '7' WHERE id = :lease`),
		"what a lease has left":           execute(`UPDATE leases SET left_behind = 'x' WHERE id = :lease`),
		"a lease's sealed credential":     execute(`UPDATE leases SET sealed = 'gAAAA' WHERE id = :lease`),
		"the type of a lease's VIM":       execute(`UPDATE leases SET vim_type = 'zog' WHERE id = :lease`),
		"a key store that is not there":   func(_ *testing.T, b *badBench) { b.keys.(*deaf).to[b.bad.Current.Key] = true },
		"a lease whose VIM's row is gone": execute(`DELETE FROM vims WHERE id = :vim`),
	} {
		t.Run(name, func(t *testing.T) {
			b := newBadBench(t)
			spoil(t, b)
			b.wantTheOthers(t)
		})
	}
}

// badBench has two VIMs, each with leases, of which something of the first will be bad.
type badBench struct {
	*bench
	bad, good           broker.VIM
	badLease, goodLease broker.Lease
}

func newBadBench(t *testing.T) *badBench {
	b := &badBench{bench: newBench(t, benchOptions{terms: func(terms *broker.Terms) { terms.EndWithAccess = true }})}
	b.keys = &deaf{b.keys, map[secret.Ref]bool{}}
	b.options.Keys = []secret.KeyStore{b.keys}
	b.options.Directories = map[string]policy.Directory{policy.ByStaticToken: directory{"alice": alice, "root": root}}
	b.Broker = mustNew(t, b.options)
	b.bad, b.good = b.mustRegister(alice, "bad"), b.mustRegister(alice, "good")
	b.goodLease, _ = b.mustIssue(alice, "good")
	b.badLease, _ = b.mustIssue(alice, "bad") // and so read before it
	return b
}

func (b *badBench) wantTheOthers(t *testing.T) {
	t.Helper()
	ctx := t.Context()
	vims, _, err := b.VIMs(ctx, alice, broker.VIMQuery{})
	if err != nil || !holds(vims, func(v broker.VIM) bool { return v.ID == b.good.ID }) {
		t.Errorf("VIMs() = %d, %v, want the good one in it", len(vims), err)
	}
	leases, _, err := b.Leases(ctx, alice, broker.LeaseQuery{})
	if err != nil || !holds(leases, func(l broker.Lease) bool { return cmp.Equal(l, b.goodLease, cmpopts.EquateEmpty()) }) {
		t.Errorf("Leases() = %+v, %v, want the good one in it, %+v", leases, err, b.goodLease)
	}
	for _, try := range []bool{false, true} {
		keys, _, err := b.KeyStatuses(ctx, alice, broker.VIMQuery{}, try)
		if err != nil || !holds(keys, func(k broker.KeyStatus) bool { return k.VIM == b.good.ID && (!try || k.Opens != nil && *k.Opens) }) {
			t.Errorf("KeyStatuses(try %t) = %+v, %v, want the good one in it", try, keys, err)
		}
	}
	if _, err := b.SameSystem(ctx, alice, b.good); err != nil {
		t.Errorf("SameSystem() = %v", err)
	}
	b.Probe(ctx)
	if v := b.Vitals(ctx); v.Counted == nil || !v.KeyStores["keydir"] {
		t.Errorf("Vitals() = %+v, want what the store counts, and a usable key store", v)
	}
	if inv, err := b.Inventory(ctx, alice, b.good.ID, false); err != nil || inv.Rows != 1 {
		t.Errorf("Inventory() of the good VIM = %+v, %v", inv, err)
	}
	if _, err := b.RekeyVIM(ctx, alice, b.good.ID, "", 0); err != nil {
		t.Errorf("RekeyVIM() of the good VIM = %v", err)
	}

	// Each pass does its work on the good VIM, whatever it says of the bad one.
	b.clock.Add(10 * time.Minute)
	for _, pass := range b.Passes() {
		if err := pass.Run(ctx); err != nil {
			t.Logf("pass %s = %v", pass.Name, err)
		}
	}
	if v, err := b.VIM(ctx, alice, b.good.ID); err != nil || !v.Health.CheckedAt.After(b.good.Health.CheckedAt) {
		t.Errorf("the good VIM was checked at %v, %v, want it checked now", v.Health.CheckedAt, err)
	}
	late, _ := b.mustIssue(alice, "good")
	b.clock.Add(51 * time.Minute) // the first leases are over, and that one is not
	for range 2 {
		if err := b.Reap(ctx); err != nil {
			t.Logf("Reap() = %v", err)
		}
		b.clock.Add(time.Minute)
	}
	if got := b.row(b.goodLease.ID).State; got != broker.LeaseRevoked {
		t.Errorf("the good lease that was due is %s, want revoked", got)
	}
	if _, err := b.RevokeLeases(ctx, alice, broker.LeaseSelector{Principal: "alice"}); err != nil {
		t.Errorf("RevokeLeases() = %v", err)
	}
	if got := b.row(late.ID).State; got != broker.LeaseRevoked {
		t.Errorf("after revoking all of alice's the good lease is %s, want revoked", got)
	}
}

// A grant that cannot be read keeps no other from being tidied.
func TestOneBadGrantBreaksNoOther(t *testing.T) {
	b := newBadBench(t)
	db, err := quickstore.Raw(filepath.Join(b.dir, "data", "vimbroker.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	for vim, rules := range map[string]string{b.bad.ID: "{", b.good.ID: "null"} {
		if _, err := db.Exec(`INSERT INTO grants (vim, digest, epoch, state, idle_since, role, rules, namespaces, cluster_wide)
			VALUES (?, 'd', 1, 'closing', 0, 'edit', ?, 'null', 0)`, vim, rules); err != nil {
			t.Fatal(err)
		}
	}
	if err := b.Settle(t.Context(), b.clock.Now()); err != nil {
		t.Errorf("Settle() = %v", err)
	}
	for vim, want := range map[string]string{b.bad.ID: "closing", b.good.ID: "closed"} {
		var state string
		if err := db.QueryRow(`SELECT state FROM grants WHERE digest = 'd' AND vim = ?`, vim).Scan(&state); err != nil || state != want {
			t.Errorf("the grant on %s is %s, %v, want %s", vim, state, err, want)
		}
	}
}

func holds[T any](list []T, want func(T) bool) bool {
	for _, item := range list {
		if want(item) {
			return true
		}
	}
	return false
}
