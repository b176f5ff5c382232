package broker_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/vimbroker/vimbroker/broker/delivery"
	"github.com/vimbroker/vimbroker/drivers/sqlite"
	"github.com/vimbroker/vimbroker/policy"
	"github.com/vimbroker/vimbroker/policy/audit"
	"github.com/vimbroker/vimbroker/test/clock"
	"github.com/vimbroker/vimbroker/test/quickstore"
	"github.com/vimbroker/vimbroker/test/testlog"
)

var noon = time.Date(2031, 5, 6, 12, 0, 0, 0, time.UTC)

// place is an outlet that keeps what it gets, or does what a test says instead.
type place struct {
	mu   sync.Mutex
	got  []audit.Entry
	send func(ctx context.Context, keep func()) error
}

func (p *place) Send(ctx context.Context, lines [][]byte) error {
	keep := func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		for _, line := range lines {
			e, err := audit.ParseLine(line)
			if err != nil {
				panic(err)
			}
			p.got = append(p.got, e)
		}
	}
	if p.send != nil {
		return p.send(ctx, keep)
	}
	keep()
	return nil
}

func (*place) Close() error { return nil }

// seqs are the numbers of the entries that came, without those about sinks.
func (p *place) seqs() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	var all []int64
	for _, e := range p.got {
		if e.Action != audit.ServerSink {
			all = append(all, e.Seq)
		}
	}
	return fmt.Sprint(all)
}

// outbound is a log, a clock and a courier.
type outbound struct {
	*sqlite.Store
	t     *testing.T
	path  string
	clock *clock.Clock
	log   bytes.Buffer
}

func newOutbound(t *testing.T) *outbound {
	t.Helper()
	return outboundIn(t, t.TempDir())
}

// outboundIn has its log in a directory.
func outboundIn(t *testing.T, dir string) *outbound {
	t.Helper()
	b := &outbound{t: t, path: filepath.Join(dir, "data", "vimbroker.db"), clock: clock.New(noon)}
	var err error
	if b.Store, err = quickstore.Open(t.Context(), sqlite.Options{Path: b.path, Now: b.clock.Now}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = b.Close() })
	return b
}

func (b *outbound) courier(sinks ...delivery.Destination) *delivery.Courier {
	return delivery.New(b.Store, sinks, b.clock.Now, testlog.To(b.t, slog.NewTextHandler(&b.log, nil)))
}

// append adds n entries.
func (b *outbound) append(n int) {
	b.t.Helper()
	for range n {
		if err := b.Append(b.t.Context(), audit.Entry{
			Time: b.clock.Now(), Principal: "alice", Project: "core", Action: policy.LeaseIssue, Kind: policy.KindVIM, Resource: "v", Outcome: audit.Done,
		}); err != nil {
			b.t.Fatal(err)
		}
	}
}

func (b *outbound) deliver(c *delivery.Courier) {
	b.t.Helper()
	for _, s := range c.Sinks() {
		if err := c.Deliver(b.t.Context(), s); err != nil {
			b.t.Fatalf("Deliver(%s) = %v", s.Name, err)
		}
	}
}

func (b *outbound) status(c *delivery.Courier) delivery.Status {
	b.t.Helper()
	all, err := c.Statuses(b.t.Context())
	if err != nil || len(all) != 1 {
		b.t.Fatalf("Statuses = %v, %v", all, err)
	}
	return all[0]
}

func sink(mode delivery.Mode, to delivery.Outlet) delivery.Destination {
	return delivery.Destination{Name: "siem", Mode: mode, Within: 5 * time.Minute, Outlet: to}
}

func TestEntriesAreDeliveredInOrderAcrossRestarts(t *testing.T) {
	b, p := newOutbound(t), &place{}
	b.append(3)
	b.deliver(b.courier(sink(delivery.Required, p))) // 4 is that the sink was begun
	b.append(1200)
	b.deliver(b.courier(sink(delivery.Required, p)))
	if err := audit.Follow(p.got); err != nil || len(p.got) != 1204 {
		t.Errorf("%d entries came, %v; want all 1204 in their order", len(p.got), err)
	}
	if begun := p.got[3]; begun.Action != audit.ServerSink || begun.Resource != "siem" || begun.Outcome != audit.Done {
		t.Errorf("the log does not say that the sink was begun: %+v", begun)
	}
	if s := b.status(b.courier(sink(delivery.Required, p))); s.Waiting != 0 || s.Behind != 0 || s.Cursor.Seq != 1204 {
		t.Errorf("status %+v", s)
	}
}

func TestASinkThatFailsIsTriedAgainWithABackoff(t *testing.T) {
	b, p := newOutbound(t), &place{}
	c := b.courier(sink(delivery.Required, p))
	b.append(1)
	b.deliver(c)
	tries := 0
	p.send = func(context.Context, func()) error { tries++; return errors.New("the disk is full") }
	b.append(1)
	for range 60 {
		b.deliver(c)
		b.clock.Add(time.Second)
	}
	if tries != 6 { // after 0, 1, 3, 7, 15, 31 seconds
		t.Errorf("%d tries in a minute, want 6", tries)
	}
	if s := b.status(c); s.Fault != "the disk is full" || s.Behind != time.Minute || s.Waiting < 1 {
		t.Errorf("status %+v", s)
	}
	if n := strings.Count(b.log.String(), "cannot be delivered to"); n != 1 {
		t.Errorf("the log says %d times that the sink fails:\n%s", n, b.log.String())
	}
	p.send = nil
	b.clock.Add(time.Minute)
	b.deliver(c)
	if got := p.seqs(); got != "[1 3]" {
		t.Errorf("got %s, want [1 3]", got)
	}
	failed, err := b.Entries(t.Context(), audit.Query{Action: audit.ServerSink, Outcomes: []audit.Outcome{audit.Failed}, Limit: 10})
	if err != nil || len(failed) != 1 || failed[0].Detail[audit.DetailError] != "the disk is full" {
		t.Errorf("the audit log says %+v (%v), want once why the sink failed", failed, err)
	}
	if s := b.status(c); s.Fault != "" || s.Waiting != 0 {
		t.Errorf("status %+v", s)
	}
}

func TestARequiredSinkIsLateBehindItsBound(t *testing.T) {
	b, p := newOutbound(t), &place{}
	b.append(2)
	b.clock.Add(time.Hour) // what was there before the sink does not count
	c := b.courier(sink(delivery.Required, p))
	late := func() error {
		b.clock.Add(time.Second) // or the answer of before is taken
		return c.Late(t.Context())
	}
	if err := late(); err != nil {
		t.Errorf("Late before the sink is begun = %v", err)
	}
	p.send = func(context.Context, func()) error { return errors.New("down") }
	b.deliver(c)
	b.clock.Add(time.Hour)
	if err := late(); err != nil {
		t.Errorf("Late while only what was before the sink waits = %v", err)
	}
	p.send = nil
	b.deliver(c)
	p.send = func(context.Context, func()) error { return errors.New("down") }
	b.append(1)
	b.deliver(c)
	b.clock.Add(4 * time.Minute)
	if err := late(); err != nil {
		t.Errorf("Late within the bound = %v", err)
	}
	b.clock.Add(2 * time.Minute)
	b.deliver(c)
	var e *delivery.LateError
	if err := late(); !errors.As(err, &e) || e.Name != "siem" || !strings.Contains(err.Error(), `"siem"`) {
		t.Errorf("Late behind the bound = %v", err)
	}
	p.send = nil
	b.clock.Add(time.Minute)
	b.deliver(c)
	if err := late(); err != nil || b.status(c).Cursor.Skipped != 0 {
		t.Errorf("Late when all is delivered = %v", err)
	}
}

func TestASinkOfBestEffortSkipsAndCounts(t *testing.T) {
	b, p := newOutbound(t), &place{}
	c := b.courier(sink(delivery.BestEffort, p))
	b.append(1)
	b.deliver(c) // 1, and 2 that it was begun
	p.send = func(context.Context, func()) error { return errors.New("down") }
	b.append(600)
	b.deliver(c)
	b.clock.Add(4 * time.Minute)
	b.append(1)
	b.clock.Add(2 * time.Minute)
	b.deliver(c)
	s := b.status(c)
	if s.Cursor.Skipped != 601 || s.Cursor.Seq != 603 { // 600, and that the sink fails
		t.Errorf("status %+v, want 601 skipped", s)
	}
	if err := c.Late(t.Context()); err != nil {
		t.Errorf("Late = %v: nothing waits for a sink of best effort", err)
	}
	p.send = nil
	b.clock.Add(2 * time.Minute)
	b.deliver(c)
	if got := p.seqs(); got != "[1 604]" {
		t.Errorf("got %s, want [1 604]", got)
	}
	if !strings.Contains(b.log.String(), "from=3 to=603") {
		t.Errorf("the log does not say what is missed:\n%s", b.log.String())
	}
}

// A slow sink that works skips nothing, however far behind it is.
func TestASlowSinkSkipsNothing(t *testing.T) {
	b, p := newOutbound(t), &place{}
	c := b.courier(sink(delivery.BestEffort, p))
	b.append(700)
	p.send = func(_ context.Context, keep func()) error {
		b.clock.Add(time.Hour)
		keep()
		return nil
	}
	b.deliver(c)
	if s := b.status(c); s.Cursor.Skipped != 0 || len(p.got) != 701 {
		t.Errorf("%d came, status %+v", len(p.got), s)
	}
}

// Two processes that deliver at once repeat entries, and lose none.
func TestTwoCouriersLoseNothing(t *testing.T) {
	b, p := newOutbound(t), &place{}
	b.append(2000)
	var both sync.WaitGroup
	for range 2 {
		c := b.courier(sink(delivery.Required, p))
		both.Go(func() { b.deliver(c) })
	}
	both.Wait()
	b.deliver(b.courier(sink(delivery.Required, p)))
	seen := map[int64]bool{}
	for _, e := range p.got {
		seen[e.Seq] = true
	}
	for seq := range b.status(b.courier(sink(delivery.Required, p))).Cursor.Seq {
		if !seen[seq+1] {
			t.Errorf("entry %d never came", seq+1)
		}
	}
}

// The process that comes second notices at its first write.
func TestACourierThatWasOvertakenStops(t *testing.T) {
	b, p := newOutbound(t), &place{}
	c := b.courier(sink(delivery.Required, p))
	b.append(1)
	b.deliver(c)
	b.append(1200)
	p.send = func(_ context.Context, keep func()) error {
		p.send = nil
		b.deliver(b.courier(sink(delivery.Required, p))) // delivers all of it meanwhile
		keep()
		return nil
	}
	b.deliver(c)
	if want := 2 + 1200 + 500; len(p.got) != want { // one batch came twice
		t.Errorf("%d came, want %d", len(p.got), want)
	}
}

// A cursor that somebody removed makes the log come again from its beginning, and the log
// says so.
func TestALostCursorMakesRepeatsAndNoGap(t *testing.T) {
	b, p := newOutbound(t), &place{}
	b.append(2)
	b.deliver(b.courier(sink(delivery.Required, p)))
	db, err := quickstore.Raw(b.path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.ExecContext(t.Context(), `UPDATE audit_cursors SET seq = 1`); err == nil {
		t.Error("the cursor was moved back")
	}
	if _, err := db.ExecContext(t.Context(), `DELETE FROM audit_cursors`); err != nil {
		t.Fatal(err)
	}
	b.append(1)
	b.deliver(b.courier(sink(delivery.Required, p)))
	if got := p.seqs(); got != "[1 2 1 2 4]" {
		t.Errorf("got %s, want the log again from its beginning", got)
	}
	begun, err := b.Entries(t.Context(), audit.Query{Action: audit.ServerSink, Limit: 10})
	if err != nil || len(begun) != 2 {
		t.Errorf("the log says %d times that the sink was begun (%v), want 2", len(begun), err)
	}
}

// A sink that hangs keeps nobody waiting but its own delivery, which ends with the process.
func TestASinkThatHangs(t *testing.T) {
	b, p := newOutbound(t), &place{}
	hangs := make(chan struct{})
	p.send = func(ctx context.Context, _ func()) error {
		close(hangs)
		<-ctx.Done()
		return ctx.Err()
	}
	b.append(1)
	c := b.courier(sink(delivery.Required, p))
	ctx, stop := context.WithCancel(t.Context())
	done := make(chan error)
	go func() { done <- c.Deliver(ctx, c.Sinks()[0]) }()
	<-hangs
	b.append(1)
	if err := c.Late(t.Context()); err != nil {
		t.Errorf("Late = %v", err)
	}
	stop()
	if err := <-done; err != nil {
		t.Errorf("Deliver = %v", err)
	}
	if s := b.status(c); s.Fault != "" || s.Cursor.Seq != 0 {
		t.Errorf("status %+v", s)
	}
}
