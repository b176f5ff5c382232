package postgres_test

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/broker/secret"
	"github.com/vimbroker/vimbroker/drivers/postgres"
	"github.com/vimbroker/vimbroker/test/conformance"
	"github.com/vimbroker/vimbroker/test/real"
)

// TestFailover crashes a database that has a synchronous standby while leases are issued and revoked, and
// promotes the standby: a store that knows both addresses goes on by itself, and nothing that was answered
// is lost.
func TestFailover(t *testing.T) {
	primary := real.OwnPostgres(t)
	standby := primary.Standby(t)
	dsn := primary.DSN(t)
	s := mustOpen(t, primary.Either(dsn, standby))
	if err := s.CreateVIM(t.Context(), registered("v", "core"), 0, entry); err != nil {
		t.Fatal(err)
	}

	var mu sync.Mutex
	answered := map[string]broker.LeaseState{} // by lease
	after, ctx, stop := 0, t.Context(), make(chan struct{})
	promoted := false
	goOn := func() bool {
		select {
		case <-stop:
			return false
		default:
			return ctx.Err() == nil
		}
	}
	note := func(id string, state broker.LeaseState) {
		mu.Lock()
		defer mu.Unlock()
		answered[id] = state
		if promoted {
			after++
		}
	}
	soFar := func(more func() int) bool {
		return real.Poll(t, 2*time.Minute, func() bool {
			mu.Lock()
			defer mu.Unlock()
			return more() >= 40
		})
	}
	var callers sync.WaitGroup
	for caller := range 4 {
		callers.Go(func() {
			for n := 0; goOn(); n++ {
				id := fmt.Sprintf("lease-%d-%d", caller, n)
				_, err := s.CreateLease(ctx, broker.Lease{
					ID: id, VIM: "v", VIMGeneration: 1, Project: "p", Principal: "alice", CreatedAt: time.Unix(1, 0),
				}, broker.Quota{}, entry)
				if err != nil {
					continue
				}
				note(id, broker.LeasePending)
				_, err = s.UpdateLease(ctx, id, func(l *broker.Lease) error {
					l.State = broker.LeaseRevoking
					return nil
				}, entry)
				if err == nil {
					note(id, broker.LeaseRevoking)
				}
			}
		})
	}
	if !soFar(func() int { return len(answered) }) {
		t.Error("no leases are written before the crash")
	}
	primary.Crash()
	standby.Promote(t)
	mu.Lock()
	promoted = true
	mu.Unlock()
	if !soFar(func() int { return after }) {
		t.Error("the store does not go on with the standby that was promoted")
	}
	close(stop)
	callers.Wait()

	lost := 0
	for id, state := range answered {
		l, err := s.Lease(ctx, id)
		if err != nil || state == broker.LeaseRevoking && l.State != state {
			lost++
			t.Logf("%s was answered to be %s: %s, %v", id, state, l.State, err)
		}
	}
	t.Logf("of %d leases that were answered %d are lost", len(answered), lost)
	if lost > 0 {
		t.Errorf("%d of %d answers are lost", lost, len(answered))
	}
	conformance.VerifyLog(t, s)
}

// TestStandby leaves a store with nothing but a standby: what there is can be read, and writes say that it
// takes none, until it is promoted. None is opened there that may migrate.
func TestStandby(t *testing.T) {
	primary := real.OwnPostgres(t)
	standby := primary.Standby(t)
	dsn := primary.DSN(t)
	either := primary.Either(dsn, standby)
	s := mustOpen(t, strings.Replace(either, "target_session_attrs=read-write", "target_session_attrs=any", 1))
	if err := s.CreateVIM(t.Context(), registered("v", "core"), 0, entry); err != nil {
		t.Fatal(err)
	}
	primary.Crash()
	if !real.Poll(t, time.Minute, func() bool { // its connections are of before, one by one
		_, err := s.VIM(t.Context(), "v")
		return err == nil
	}) {
		t.Error("the standby does not show what the primary had")
	}
	for what, err := range map[string]error{"Check": s.Check(t.Context(), broker.Replica{}), "Append": s.Append(t.Context(), entry)} {
		if !errors.Is(err, broker.ErrUnavailable) || !errors.Is(err, broker.ErrNoWrites) || errors.Is(err, broker.ErrNoSpace) {
			t.Errorf("%s on a standby = %v (%s), want that it takes no writes", what, err, cause(err))
		}
	}
	alone := strings.Replace(dsn, fmt.Sprint(primary.Port), fmt.Sprint(standby.Port), 1)
	_, err := postgres.Open(t.Context(), postgres.Options{DSN: secret.NewText(alone), Migrate: true})
	if !errors.Is(err, broker.ErrUnavailable) || !strings.Contains(err.Error(), "target_session_attrs=read-write") {
		t.Errorf("Open that may migrate on a standby = %v, want what to do", err)
	}
	standby.Promote(t)
	wantWell(t, "once it is promoted", s)
}

// TestBaseBackup restores a physical backup that was taken while entries were written: what was
// acknowledged before it is there, and the log is whole.
func TestBaseBackup(t *testing.T) {
	server := real.OwnPostgres(t)
	dsn := server.DSN(t)
	s := mustOpen(t, dsn)
	if err := s.CreateVIM(t.Context(), registered("v", "core"), 0, entry); err != nil {
		t.Fatal(err)
	}
	for range 50 {
		if err := s.Append(t.Context(), entry); err != nil {
			t.Fatal(err)
		}
	}
	stop := make(chan struct{})
	var writer sync.WaitGroup
	writer.Go(func() {
		for {
			select {
			case <-stop:
				return
			default:
				if err := s.Append(t.Context(), entry); err != nil {
					t.Error(err)
					return
				}
			}
		}
	})
	restored := server.Restored(t)
	close(stop)
	writer.Wait()
	server.Crash()
	r := mustOpen(t, strings.Replace(dsn, fmt.Sprint(server.Port), fmt.Sprint(restored.Port), 1))
	if _, err := r.VIM(t.Context(), "v"); err != nil {
		t.Error(err)
	}
	all := allEntries(t, r)
	if len(all) < 51 {
		t.Errorf("%d entries are restored", len(all))
	}
	conformance.VerifyLog(t, r)
	wantWell(t, "on the restored database", r)
}
