package bench

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/broker/secret"
	"github.com/vimbroker/vimbroker/drivers/postgres"
	"github.com/vimbroker/vimbroker/policy/audit"
	"github.com/vimbroker/vimbroker/test/real"
)

// How much stands in the large database and in the small one that it is compared
// with. In both a project has 100 VIMs, 1000 leases, and a VIM has 10.
const (
	millionVIMs   = 100_000
	millionLeases = 1_000_000
	againstVIMs   = 1000
	againstLeases = 10_000
)

// world is a database that was filled, and a store on it.
type world struct {
	*postgres.Store
	// project is one of the projects, ids its VIMs, leases its leases.
	project     string
	ids, leases []string
}

// million measures the PostgreSQL store alone where there are very many rows, and
// how much more that takes than where there are few. Nothing else uses the
// server, which waits for the disk.
func million(b *testing.B) *figure {
	b.Helper()
	db := real.OwnPostgres(b, "shared_buffers=512MB", "maintenance_work_mem=128MB", "max_wal_size=8GB", "checkpoint_timeout=30min")
	small, large := newWorld(b, db, againstVIMs, againstLeases), newWorld(b, db, millionVIMs, millionLeases)
	f := &figure{Title: fmt.Sprintf("PostgreSQL with %d VIMs and %d leases, and with %d and %d", millionVIMs, millionLeases, againstVIMs, againstLeases)}
	ask := func(what string, rounds, clients, each int, call func(*world, int) error) {
		b.Helper()
		out, err := turns(rounds, clients, each,
			contender{what, func(n int) error { return call(small, n) }},
			contender{what, func(n int) error { return call(large, n) }},
		)
		if err != nil {
			b.Fatal(err)
		}
		base := timed(what+", few", out[0].sample)
		many := timed(what+", many", out[1].sample).over(base)
		base.PerSecond, many.PerSecond = out[0].perSecond(), out[1].perSecond()
		f.Rows = append(f.Rows, base, many)
	}
	ctx := b.Context()
	page := broker.Page{Size: 100}
	listVIMs := func(want int, filter func(*world) broker.VIMFilter) func(*world, int) error {
		return func(w *world, _ int) error {
			found, _, err := w.VIMs(ctx, filter(w))
			return wanted(len(found), want, err)
		}
	}
	listLeases := func(want int, filter func(*world, int) broker.LeaseFilter) func(*world, int) error {
		return func(w *world, n int) error {
			found, _, err := w.Leases(ctx, filter(w, n))
			return wanted(len(found), want, err)
		}
	}
	began := time.Now()
	const rounds, each = 10, 10 // enough for a ratio of medians
	ask("page of 100 VIMs, all", rounds, 1, each, listVIMs(100, func(*world) broker.VIMFilter { return broker.VIMFilter{Page: page} }))
	ask("page of 100 VIMs, of a project", rounds, 1, each, listVIMs(100, func(w *world) broker.VIMFilter {
		return broker.VIMFilter{Project: w.project, Page: page}
	}))
	ask("page of 100 leases, all", rounds, 1, each, listLeases(100, func(*world, int) broker.LeaseFilter { return broker.LeaseFilter{Page: page} }))
	ask("page of 100 leases, of a project", rounds, 1, each, listLeases(100, func(w *world, _ int) broker.LeaseFilter {
		return broker.LeaseFilter{Project: w.project, Page: page}
	}))
	ask("leases of a VIM", rounds, 1, each, listLeases(10, func(w *world, n int) broker.LeaseFilter {
		return broker.LeaseFilter{VIM: w.ids[n%len(w.ids)], Page: page}
	}))
	ask("show a VIM", rounds, 1, each, func(w *world, n int) error {
		_, err := w.VIM(ctx, w.ids[n%len(w.ids)])
		return err
	})
	ask("find a VIM by name", rounds, 1, each, func(w *world, _ int) error {
		found, _, err := w.VIMs(ctx, broker.VIMFilter{Project: w.project, Name: "vim-7", Page: page})
		return wanted(len(found), 1, err)
	})
	ask("show a lease", rounds, 1, each, func(w *world, n int) error {
		_, err := w.Lease(ctx, w.leases[n%len(w.leases)])
		return err
	})
	reap := func(want int, at time.Time) func(*world, int) error {
		return func(w *world, _ int) error {
			vims, err := w.DueVIMs(ctx, at)
			if err != nil {
				return err
			}
			got := 0
			for _, vim := range vims {
				found, _, err := w.Leases(ctx, broker.LeaseFilter{VIM: vim.VIM, DueBefore: at, Page: broker.Page{Size: 1000}})
				if err != nil {
					return err
				}
				got += len(found)
			}
			return wanted(got, want, nil)
		}
	}
	ask("reap: the 500 that are due", rounds, 1, each, reap(500, began))
	ask("reap: none is due", rounds, 1, each, reap(0, time.Unix(0, 0)))
	ask("check: the 100 that are due", rounds, 1, each, listVIMs(100, func(*world) broker.VIMFilter {
		return broker.VIMFilter{State: broker.VIMRegistered, CheckDue: began, Page: broker.Page{Size: 1000}}
	}))
	ask("count everything", rounds, 1, each, func(w *world, _ int) error {
		_, err := w.Census(ctx)
		return err
	})
	var drawn atomic.Int64
	issue := func(w *world, _ int) error {
		return w.issue(ctx, w.ids[int(drawn.Add(1))%len(w.ids)])
	}
	ask("issue: intent and outcome", rounds, 1, each, issue)
	ask("issue: the same, 8 at once", rounds, 8, each, issue)
	return f
}

func wanted(got, want int, err error) error {
	if err == nil && got != want {
		err = fmt.Errorf("got %d rows, want %d", got, want)
	}
	return err
}

// issue does what issuing a lease asks of the store.
func (w *world) issue(ctx context.Context, vim string) error {
	now := time.Now()
	l := broker.Lease{
		ID: uuid.NewString(), VIM: vim, VIMName: "vim", VIMType: "kubernetes", VIMProject: w.project, VIMGeneration: 1,
		Project: w.project, Principal: "issuer", Role: "edit", CreatedAt: now, MaxExpiresAt: now.Add(time.Hour), Handle: "handle",
	}
	entry := audit.Entry{Time: now, Principal: "issuer", Project: w.project, Action: "lease:issue", Kind: "vim", Resource: vim, Outcome: audit.Intent}
	if _, err := w.CreateLease(ctx, l, broker.Quota{PerPrincipal: millionLeases, PerVIM: millionLeases, PerProject: millionLeases}, entry); err != nil {
		return err
	}
	entry.Outcome = audit.Done
	_, err := w.UpdateLease(ctx, l.ID, func(l *broker.Lease) error {
		l.State, l.IssuedAt, l.ExpiresAt = broker.LeaseActive, now, now.Add(time.Hour)
		return nil
	}, entry)
	return err
}

// newWorld makes a database and fills it.
func newWorld(b *testing.B, db *real.PostgresServer, vims, leases int) *world {
	b.Helper()
	dsn := db.DSN(b)
	w := &world{project: "project-7"}
	var err error
	if w.Store, err = postgres.Open(b.Context(), postgres.Options{DSN: secret.NewText(dsn), Migrate: true}); err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		if err := w.Close(); err != nil {
			b.Error(err)
		}
	})
	fill(b, dsn, vims, leases, 100)
	members, _, err := w.VIMs(b.Context(), broker.VIMFilter{Project: w.project, Page: broker.Page{Size: 1000}})
	if err := wanted(len(members), 100, err); err != nil {
		b.Fatal(err)
	}
	for _, v := range members {
		w.ids = append(w.ids, v.ID)
	}
	found, _, err := w.Leases(b.Context(), broker.LeaseFilter{Project: w.project, Page: broker.Page{Size: 1000}})
	if err := wanted(len(found), leases/(vims/100), err); err != nil {
		b.Fatal(err)
	}
	for _, l := range found {
		w.leases = append(w.leases, l.ID)
	}
	return w
}
