package replicas

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/broker/api/client"
	v1 "github.com/vimbroker/vimbroker/broker/api/v1"
	"github.com/vimbroker/vimbroker/broker/secret"
	"github.com/vimbroker/vimbroker/drivers/keydir"
	"github.com/vimbroker/vimbroker/drivers/kubernetes"
	"github.com/vimbroker/vimbroker/drivers/postgres"
	"github.com/vimbroker/vimbroker/policy"
	"github.com/vimbroker/vimbroker/policy/audit"
	"github.com/vimbroker/vimbroker/policy/egress"
	"github.com/vimbroker/vimbroker/test/conformance"
)

// member is one more replica, in this process.
type member struct {
	*broker.Broker
	store *postgres.Store
}

// join makes a member, which runs no passes by itself.
func (f *fleet) join() *member {
	f.t.Helper()
	var store *postgres.Store
	answered(f.t, "the database takes one replica more", func(ctx context.Context) (err error) {
		store, err = postgres.Open(ctx, postgres.Options{DSN: secret.NewText(f.dsn)})
		return err
	})
	f.t.Cleanup(func() { store.Close() })
	keys, err := keydir.Open(f.keys)
	if err != nil {
		f.t.Fatal(err)
	}
	f.t.Cleanup(func() { keys.Close() })
	policies, err := policy.Load(nil)
	if err != nil {
		f.t.Fatal(err)
	}
	rules := egress.Default()
	rules.AllowLoopback = true
	log := slog.New(slog.DiscardHandler)
	driver := kubernetes.New(kubernetes.Options{Log: log})
	f.t.Cleanup(driver.Close)
	b, err := broker.New(broker.Options{
		Store: store, Keys: []secret.KeyStore{keys},
		Drivers: []broker.Driver{driver},
		Policy:  policies, Egress: func(string) *egress.Rules { return rules },
		Terms: broker.DefaultTerms(), Log: log, Now: store.Now,
	})
	if err != nil {
		f.t.Fatal(err)
	}
	return &member{store: store, Broker: b}
}

// settle does what the settle pass does a few minutes after now.
func (f *fleet) settle() {
	f.t.Helper()
	m := f.join()
	answered(f.t, "what died is settled", func(ctx context.Context) error { return m.Settle(ctx, m.store.Now()) })
}

// prove is what must hold once callers are done, all replicas are back, and what
// died was settled.
func (l *load) prove() {
	l.t.Helper()
	for _, r := range l.replicas {
		r.ready()
	}
	l.settle()
	leases := l.quiet()
	l.proveAnswers(leases)
	l.proveUpstream(leases)
	l.proveAudit()
	l.provePasses()
	l.proveKeys()
	if len(l.ids) < 10 || len(l.revoked) == 0 || l.rotated.Load() == 0 {
		l.t.Errorf("the load took %d leases, revoked %d and rotated %d times: too little to prove anything", len(l.ids), len(l.revoked), l.rotated.Load())
	}
	l.t.Logf("%d answers, %d leases, %d revoked, %d times rotated", l.done.Load(), len(l.ids), len(l.revoked), l.rotated.Load())
}

// quiet waits until nothing is half done, and returns all leases by their id.
func (f *fleet) quiet() map[string]v1.Lease {
	f.t.Helper()
	var leases map[string]v1.Lease
	eventually(f.t, "nothing is half done", func(ctx context.Context) error {
		leases = map[string]v1.Lease{}
		for l, err := range f.any().AllLeases(ctx, client.LeaseQuery{PageSize: 1000}) {
			if err != nil {
				return err
			}
			if l.State != "active" && l.State != "revoked" {
				return fmt.Errorf("lease %s is %s (%s, %s)", l.ID, l.State, l.Reason, l.LastError)
			}
			leases[l.ID] = l
		}
		return nil
	})
	return leases
}

// proveAnswers holds the fleet to what its callers were told.
func (l *load) proveAnswers(leases map[string]v1.Lease) {
	l.t.Helper()
	perKey := map[string][]string{}
	for id, lease := range leases {
		if lease.State == "active" {
			perKey[lease.Purpose] = append(perKey[lease.Purpose], id)
		}
	}
	for key, ids := range perKey {
		if len(ids) > 1 || l.ids[key] != ids[0] {
			l.t.Errorf("the key %s was answered with lease %s, and has the active leases %q", key, l.ids[key], ids)
		}
	}
	for _, id := range l.held {
		if got := leases[id]; got.State != "active" {
			l.t.Errorf("lease %s was answered as active, and is %q (%s)", id, got.State, got.Reason)
		}
	}
	for _, id := range l.revoked {
		if got := leases[id]; got.State != "revoked" {
			l.t.Errorf("lease %s was answered as revoked, and is %q", id, got.State)
		}
	}
}

// proveUpstream compares the cluster with the rows, both ways, and every token
// that anybody has with its lease.
func (l *load) proveUpstream(leases map[string]v1.Lease) {
	l.t.Helper()
	var want, got []string
	for id, lease := range leases {
		if lease.State == "active" {
			want = append(want, "lease-"+id)
		}
	}
	for _, name := range l.kube.Names("serviceaccounts", "") {
		if namespace, account, _ := strings.Cut(name, "/"); strings.HasPrefix(namespace, "vimbroker-") {
			got = append(got, account)
		}
	}
	slices.Sort(want)
	slices.Sort(got)
	if diff := cmp.Diff(want, got); diff != "" {
		l.t.Errorf("service accounts upstream are not those of the active leases (-rows +upstream):\n%s", diff)
	}
	alive := map[string]bool{}
	for _, token := range l.kube.Tokens() {
		alive[token.ID] = true
		if id, ok := strings.CutPrefix(token.ServiceAccount, "lease-"); ok && leases[id].State != "active" {
			l.t.Errorf("a token lives, and its lease %s is %q", id, leases[id].State)
		}
	}
	for id, tokens := range l.tokens {
		for _, token := range tokens {
			if alive[token] != (leases[id].State == "active") {
				l.t.Errorf("a token of lease %s, which is %s, is alive: %v", id, leases[id].State, alive[token])
			}
		}
	}
	for _, vim := range []string{"edge", "core"} {
		var inv v1.Inventory
		answered(l.t, "a cluster is compared", func(ctx context.Context) (err error) {
			inv, err = l.any().Inventory(ctx, vim, false)
			return err
		})
		if len(inv.Orphans)+len(inv.Ghosts) > 0 {
			l.t.Errorf("Inventory(%s) = %d orphans, %d ghosts; want none", vim, len(inv.Orphans), len(inv.Ghosts))
		}
	}
}

// proveAudit verifies the log from its first entry on.
func (f *fleet) proveAudit() {
	f.t.Helper()
	store := f.join().store
	conformance.VerifyLog(f.t, store)
	var entries []audit.Entry
	for q := (audit.Query{Limit: 1000}); ; q.Before = entries[len(entries)-1].Seq {
		page, err := store.Entries(f.t.Context(), q)
		if err != nil {
			f.t.Fatal(err)
		}
		if len(page) == 0 {
			break
		}
		entries = append(entries, page...)
	}
	slices.Reverse(entries)
	if err := audit.Follow(entries); err != nil || len(entries) == 0 || entries[0].Seq != 1 {
		f.t.Errorf("audit log of %d entries: %v", len(entries), err)
	}
}

// provePasses looks into the queue: the passes begin, whoever begins them.
func (f *fleet) provePasses() {
	f.t.Helper()
	late := time.After(time.Minute)
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for f.countPasses() == 0 {
		select {
		case <-tick.C:
		case <-late:
			f.t.Error("the reaper does not run")
			return
		}
	}
}

// countPasses returns how often the reaper was begun.
func (f *fleet) countPasses() (reaped int) {
	f.t.Helper()
	conn, err := pgx.Connect(f.t.Context(), f.dsn)
	if err != nil {
		f.t.Fatal(err)
	}
	defer conn.Close(context.WithoutCancel(f.t.Context()))
	if err := conn.QueryRow(f.t.Context(), `SELECT coalesce(max(fence), 0) FROM jobs WHERE kind = 'pass-reap'`).Scan(&reaped); err != nil {
		f.t.Fatal(err)
	}
	return reaped
}

// proveKeys compares the key directory with the rows, and opens every credential.
func (f *fleet) proveKeys() {
	f.t.Helper()
	answered(f.t, "every credential opens", func(ctx context.Context) error {
		for k, err := range f.any().AllKeys(ctx, client.VIMQuery{}, true) {
			if err != nil {
				return err
			}
			if k.Opens == nil || !*k.Opens {
				f.t.Errorf("the credential of %s: %+v", k.VIMName, k)
			}
		}
		return nil
	})
	m := f.join()
	keys, err := keydir.Open(f.keys)
	if err != nil {
		f.t.Fatal(err)
	}
	defer keys.Close()
	eventually(f.t, "keys are those that rows name", func(ctx context.Context) error { // a pass may be destroying one
		used, err := m.store.KeysInUse(ctx, "")
		if err != nil {
			return err
		}
		held, err := keys.List(ctx, "")
		if err != nil {
			return err
		}
		var rows, files []string
		for _, k := range used {
			rows = append(rows, string(k.Ref))
		}
		for _, h := range held {
			files = append(files, string(h.Ref))
		}
		slices.Sort(rows)
		slices.Sort(files)
		if diff := cmp.Diff(slices.Compact(rows), files); diff != "" {
			return fmt.Errorf("(-rows +files):\n%s", diff)
		}
		return nil
	})
}
