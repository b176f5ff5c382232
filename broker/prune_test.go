package broker_test

import (
	"context"
	"errors"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/broker/delivery"
	"github.com/vimbroker/vimbroker/broker/notary"
	"github.com/vimbroker/vimbroker/policy/audit"
	"github.com/vimbroker/vimbroker/test/quickstore"
)

// deafSink takes nothing while it is deaf.
type deafSink struct{ deaf bool }

func (s *deafSink) Send(ctx context.Context, _ [][]byte) error {
	if s.deaf {
		return context.DeadlineExceeded
	}
	return nil
}

func (*deafSink) Close() error { return nil }

// The past is removed once it is old, signed and delivered; what is left is proven as before,
// and every other DELETE is still refused.
func TestThePastIsRemoved(t *testing.T) {
	b := newBench(t, benchOptions{})
	to := &deafSink{}
	options := b.options
	options.Courier = delivery.New(b.store, []delivery.Destination{{Name: "siem", Mode: delivery.BestEffort, Within: 10000 * time.Hour, Outlet: to}}, b.clock.Now, options.Log)
	options.Terms.Keep = broker.Keep{Audit: 30 * 24 * time.Hour, Leases: 10 * 24 * time.Hour, Jobs: 24 * time.Hour}
	b.Broker = mustNew(t, options)
	b.mustRegister(alice, "edge1")
	b.mustIssueAndRevoke()
	live, _ := b.mustIssue(alice, "edge1")
	b.clock.Add(time.Minute)
	b.mustReap() // confirms that the first is dead
	b.pass("deliver-siem")
	left := func() (leases int, horizon int64) {
		t.Helper()
		all, _, err := b.Leases(t.Context(), root, broker.LeaseQuery{})
		if err != nil {
			t.Fatal(err)
		}
		past, err := b.Retention(t.Context(), root)
		if err != nil {
			t.Fatal(err)
		}
		return len(all), past.Horizon
	}
	before, _ := left()
	b.pass("prune")
	if leases, horizon := left(); leases != before || horizon != 0 {
		t.Errorf("what is young was removed: %d leases of %d are left, entries up to %d are gone", leases, before, horizon)
	}
	b.clock.Add(11 * 24 * time.Hour)
	b.pass("prune")
	leases, horizon := left()
	if leases >= before || horizon != 0 {
		t.Errorf("after 11 days %d leases of %d are left, and entries up to %d are gone", leases, before, horizon)
	}
	if _, err := b.Lease(t.Context(), alice, live.ID); err != nil {
		t.Errorf("a lease that has not ended was removed: %v", err)
	}

	b.clock.Add(30 * 24 * time.Hour)
	to.deaf = true
	b.mustRegister(alice, "other")
	b.pass("prune")
	if _, horizon := left(); horizon != 0 {
		t.Errorf("entries up to %d were removed that no checkpoint covers", horizon)
	}
	b.pass("sign-audit")
	past, err := b.Retention(t.Context(), root)
	if err != nil || past.Next.Entries == 0 || past.Held != "the audit sink siem" {
		t.Errorf("Retention = %+v, %v", past, err)
	}
	to.deaf = false
	b.clock.Add(2 * time.Minute)
	b.pass("deliver-siem")
	b.pass("prune")
	_, horizon = left()
	if horizon < 5 {
		t.Fatalf("entries up to %d were removed", horizon)
	}
	entries, err := b.store.EntriesAfter(t.Context(), 0, 1000)
	if err != nil || audit.Follow(entries) != nil {
		t.Fatalf("what is left is not whole: %v", err)
	}
	oldest := entries[0].Seq
	if oldest != horizon+1 {
		t.Errorf("the log begins with %d, and entries up to %d are gone", oldest, horizon)
	}
	if _, _, _, err := b.ProveEntry(t.Context(), root, oldest); err != nil {
		t.Errorf("ProveEntry of the oldest = %v", err)
	}
	if _, _, _, err := b.ProveEntry(t.Context(), root, horizon); err == nil || !strings.Contains(err.Error(), "was removed") {
		t.Errorf("ProveEntry of one that is gone = %v", err)
	}
	if _, _, err := b.ProveGrowth(t.Context(), root, 3, -1); err != nil {
		t.Errorf("ProveGrowth from before = %v", err)
	}
	recorded := 0
	for _, e := range entries {
		if e.Action == audit.ServerPrune {
			recorded++
		}
	}
	if recorded < 1 {
		t.Error("the log does not say that entries were removed")
	}

	db, err := quickstore.Raw(filepath.Join(b.dir, "data", "vimbroker.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	for _, text := range []string{
		`DELETE FROM audit_entries WHERE seq = (SELECT max(seq) FROM audit_entries)`,
		`DELETE FROM audit_entries`, `DELETE FROM leases`, `DELETE FROM audit_horizon`,
		`UPDATE audit_horizon SET seq = 0`, `UPDATE audit_horizon SET seq = 1000000`, `UPDATE lease_horizon SET until = 0`,
		`DELETE FROM audit_tiles`,
	} {
		if _, err := db.ExecContext(t.Context(), text); err == nil {
			t.Errorf("%s was not refused", text)
		}
	}
}

// Where the log has anchors, entries are removed only behind what all of them have.
func TestThePastIsRemovedBehindAnchors(t *testing.T) {
	b := newBench(t, benchOptions{})
	to := &deafSink{deaf: true}
	options := b.options
	options.Anchors = []notary.Anchor{{Name: "good", Outlet: goodSink{}}, {Name: "witness", Outlet: to}}
	options.Terms.Keep = broker.Keep{Audit: 24 * time.Hour}
	b.Broker = mustNew(t, options)
	b.mustRegister(alice, "edge1")
	b.clock.Add(48 * time.Hour)
	horizon := func(held string) int64 {
		t.Helper()
		b.pass("prune")
		past, err := b.Retention(t.Context(), root)
		if err != nil || past.Held != held {
			t.Errorf("Retention = %+v, %v, want it held by %s", past, err, held)
		}
		return past.Horizon
	}
	if err := b.SignAudit(t.Context()); err == nil {
		t.Error("SignAudit says nothing of an anchor that failed")
	}
	if got := horizon("the audit anchor witness"); got != 0 {
		t.Errorf("entries up to %d were removed that an anchor does not have", got)
	}
	to.deaf = false
	b.pass("sign-audit")
	if got := horizon("the last signed checkpoint"); got == 0 {
		t.Error("nothing was removed once every anchor had it")
	}
}

// An anchor that gets no checkpoints raises an alarm, and is named to who asks.
func TestAnAnchorThatFailsRaisesAnAlarm(t *testing.T) {
	b := newBench(t, benchOptions{})
	options := b.options
	options.Anchors = []notary.Anchor{{Name: "good", Outlet: goodSink{}}, {Name: "bad", Outlet: brokenSink{}}}
	b.Broker = mustNew(t, options)
	b.mustRegister(alice, "edge1")
	if err := b.SignAudit(t.Context()); err == nil || !strings.Contains(err.Error(), "anchor bad: the disk is full") {
		t.Errorf("SignAudit = %v, want the name of the anchor that failed", err)
	}
	const alarm = "an anchor of the audit log does not get its checkpoints"
	for _, late := range []bool{false, true} {
		if err := b.WatchAudit(t.Context()); err != nil {
			t.Fatal(err)
		}
		if got := strings.Contains(b.log.String(), alarm); got != late {
			t.Errorf("there is an alarm: %t, want %t", got, late)
		}
		b.clock.Add(time.Hour)
	}
	all, err := b.AuditAnchors(t.Context(), root)
	if err != nil || len(all) != 2 || all[0].Behind != 0 || all[1].Behind == 0 || all[1].Fault == "" {
		t.Errorf("AuditAnchors = %+v, %v", all, err)
	}
	if _, err := b.AuditAnchors(t.Context(), alice); !errors.Is(err, broker.ErrDenied) {
		t.Errorf("AuditAnchors of a member = %v, want ErrDenied", err)
	}
}
