package broker_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/broker/secret"
	"github.com/vimbroker/vimbroker/policy/audit"
)

// TestTheAuditLogWhenTheClockJumps has the clock of an embedded store go hours ahead and back. Entries keep
// their order, checkpoints go on, nothing is removed early, and no alarm is raised.
func TestTheAuditLogWhenTheClockJumps(t *testing.T) {
	b := newBench(t, benchOptions{})
	options := b.options
	options.Terms.Keep = broker.Keep{Audit: 24 * time.Hour}
	b.Broker = mustNew(t, options)
	b.mustRegister(alice, "edge1")
	b.pass("sign-audit")
	size := func() int64 {
		t.Helper()
		c, err := b.Checkpoint(t.Context(), root)
		if err != nil {
			t.Fatal(err)
		}
		return c.Size
	}
	for _, by := range []time.Duration{7 * time.Hour, -14 * time.Hour, 20 * time.Hour, -13 * time.Hour} {
		b.mustIssue(alice, "edge1") // nobody has signed that when the clock jumps
		before := size()
		if err := b.store.Grow(t.Context()); err != nil {
			t.Fatal(err)
		}
		b.clock.Add(by)
		if err := b.WatchAudit(t.Context()); err != nil {
			t.Fatal(err)
		}
		b.mustIssue(alice, "edge1")
		b.pass("sign-audit")
		b.pass("prune")
		now, err := b.store.Tree(t.Context())
		if err != nil || size() <= before || size() != now.Size {
			t.Errorf("%v later the log has %d entries, %v, of which %d are signed, and were %d", by, now.Size, err, size(), before)
		}
		if past, err := b.Retention(t.Context(), root); err != nil || past.Horizon != 0 || past.Next.Entries != 0 {
			t.Errorf("%v later entries up to %d are removed and %d are next, %v; want none", by, past.Horizon, past.Next.Entries, err)
		}
	}
	// What is old goes, up to the first that is not: it was written while the clock was ahead.
	entries, err := b.store.EntriesAfter(t.Context(), 0, 1000)
	if err != nil || audit.Follow(entries) != nil {
		t.Fatalf("the log is not whole: %v", err)
	}
	b.clock.Add(26 * time.Hour)
	var young int64
	for _, e := range entries {
		if !e.Time.Before(b.clock.Now().Add(-24 * time.Hour)) {
			young = e.Seq
			break
		}
	}
	b.pass("prune")
	if past, err := b.Retention(t.Context(), root); err != nil || young < 3 || past.Horizon != young-1 {
		t.Errorf("entries up to %d are removed, %v, and %d is the first that is not old", past.Horizon, err, young)
	}
	for _, alarm := range []string{"is not signed", "wait for their place", "behind the broker's back"} {
		if strings.Contains(b.log.String(), alarm) {
			t.Errorf("there is an alarm that says %q", alarm)
		}
	}
}

// TestALogThatNobodySignsRaisesAnAlarm has the key store sealed: the log is not signed, and everybody is told.
func TestALogThatNobodySignsRaisesAnAlarm(t *testing.T) {
	b := newBench(t, benchOptions{})
	b.mustRegister(alice, "edge1")
	l, _ := b.mustIssue(alice, "edge1")
	b.pass("sign-audit")
	sealed := b.options
	sealed.Keys = []secret.KeyStore{sealedKeys{b.keys}}
	b.Broker = mustNew(t, sealed)
	if _, err := b.RevokeLease(t.Context(), alice, l.ID); err != nil && !errors.Is(err, broker.ErrUnavailable) {
		t.Errorf("RevokeLease = %v", err)
	}
	const alarm = "the audit log is not signed"
	for _, late := range []bool{false, true} {
		if err := b.store.Grow(t.Context()); err != nil {
			t.Fatal(err)
		}
		if err := b.WatchAudit(t.Context()); err != nil {
			t.Fatal(err)
		}
		if got := strings.Contains(b.log.String(), alarm); got != late {
			t.Errorf("there is an alarm: %t, want %t", got, late)
		}
		b.clock.Add(time.Hour)
	}
	b.Broker = mustNew(t, b.options)
	b.log.Reset()
	if err := b.WatchAudit(t.Context()); err != nil || strings.Contains(b.log.String(), alarm) {
		t.Errorf("WatchAudit with the key store back = %v, and an alarm: %t", err, strings.Contains(b.log.String(), alarm))
	}
	if waits, err := b.AuditUnsigned(t.Context()); err != nil || waits != 0 {
		t.Errorf("AuditUnsigned with the key store back = %v, %v", waits, err)
	}
}
