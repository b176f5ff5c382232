package broker_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/broker/delivery"
	"github.com/vimbroker/vimbroker/policy/audit"
)

// brokenSink takes nothing.
type brokenSink struct{}

func (brokenSink) Send(context.Context, [][]byte) error { return errors.New("the disk is full") }
func (brokenSink) Close() error                         { return nil }

// goodSink takes everything.
type goodSink struct{}

func (goodSink) Send(context.Context, [][]byte) error { return nil }
func (goodSink) Close() error                         { return nil }

// While a required sink is late, leases are revoked and shown, and nothing else is done.
func TestARequiredSinkThatIsLateHoldsBackAllButRevocations(t *testing.T) {
	b := newBench(t, benchOptions{})
	b.mustRegister(alice, "edge")
	first, _ := b.mustIssue(alice, "edge")
	second, _ := b.mustIssue(alice, "edge")
	with := func(to delivery.Outlet) {
		options := b.options
		options.Courier = delivery.New(b.store, []delivery.Destination{{Name: "siem", Mode: delivery.Required, Within: time.Minute, Outlet: to}}, b.clock.Now, options.Log)
		b.Broker = mustNew(t, options)
	}
	with(goodSink{})
	b.pass("deliver-siem")
	with(brokenSink{})
	if _, err := b.RevokeLease(t.Context(), alice, first.ID); err != nil { // an entry that waits
		t.Fatal(err)
	}
	b.pass("deliver-siem")
	b.clock.Add(2 * time.Minute)

	refused := func(what string, err error) {
		t.Helper()
		var e *broker.Error
		if !errors.As(err, &e) || !errors.Is(err, broker.ErrUnavailable) || !strings.Contains(e.Detail, `"siem"`) || e.Remedy == "" {
			t.Errorf("%s = %v, want ErrUnavailable that names the sink", what, err)
		}
	}
	_, _, err := b.IssueLease(t.Context(), alice, broker.LeaseRequest{VIM: "edge", Role: "view", TTL: time.Hour})
	refused("IssueLease", err)
	_, _, err = b.RenewLease(t.Context(), alice, second.ID, time.Hour)
	refused("RenewLease", err)
	if _, _, err := b.Leases(t.Context(), alice, broker.LeaseQuery{}); err != nil {
		t.Errorf("Leases = %v", err)
	}
	if l, err := b.RevokeLease(t.Context(), alice, second.ID); err != nil || l.State != broker.LeaseRevoked {
		t.Errorf("RevokeLease = %s, %v", l.State, err)
	}
	if err := b.Reap(t.Context()); err != nil {
		t.Errorf("Reap = %v", err)
	}
	if err := b.WatchAudit(t.Context()); err != nil || !strings.Contains(b.log.String(), "an audit sink is late") {
		t.Errorf("WatchAudit = %v, and no alarm in the log", err)
	}
	_, _, err = b.DeleteVIM(t.Context(), alice, "edge", broker.Deletion{Drain: true})
	if err != nil {
		t.Errorf("DeleteVIM = %v", err)
	}
	sinks, err := b.AuditSinks(t.Context(), root)
	if err != nil || len(sinks) != 1 || !sinks[0].Late() || sinks[0].Fault != "the disk is full" {
		t.Errorf("AuditSinks = %+v, %v", sinks, err)
	}
	if _, err := b.AuditSinks(t.Context(), alice); !errors.Is(err, broker.ErrDenied) {
		t.Errorf("AuditSinks of a member = %v, want ErrDenied", err)
	}

	with(goodSink{})
	b.pass("deliver-siem")
	b.mustRegister(alice, "other")
	if recorded, err := b.store.Entries(t.Context(), audit.Query{Lease: second.ID, Outcomes: []audit.Outcome{audit.Done}, Limit: 10}); err != nil || len(recorded) == 0 {
		t.Errorf("the revocation is not in the log: %v", err)
	}
}
