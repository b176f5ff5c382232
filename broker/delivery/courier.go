package delivery

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strconv"
	"sync"
	"time"

	"github.com/vimbroker/vimbroker/broker/failpoint"
	"github.com/vimbroker/vimbroker/broker/job"
	"github.com/vimbroker/vimbroker/policy/audit"
)

const (
	// batchEntries and batchBytes bound what one Send hands over.
	batchEntries = 500
	batchBytes   = 512 << 10
	// maxBackoff is the longest wait between two attempts at a sink that fails.
	maxBackoff = time.Minute
	// tellAgain is the interval of entries on a failing sink.
	tellAgain = 10 * time.Minute
	// freshFor is how long what was found out about how far sinks are behind is believed.
	freshFor = time.Second
)

// Courier delivers to sinks. Its methods are safe for concurrent use, by any number of
// processes on one store.
type Courier struct {
	store Store
	sinks []Destination
	now   func() time.Time
	log   *slog.Logger

	mu      sync.Mutex
	trouble map[string]trouble // by sink
	asked   time.Time          // when late was found out
	late    error
}

// trouble is this process's record of a failing sink.
type trouble struct {
	failures int
	next     time.Time // of the next attempt
	fault    string
	told     time.Time // when the audit log was told
}

// New returns a courier for sinks whose names are different.
func New(store Store, sinks []Destination, now func() time.Time, log *slog.Logger) *Courier {
	return &Courier{store: store, sinks: sinks, now: now, log: log, trouble: map[string]trouble{}}
}

func (c *Courier) Sinks() []Destination { return c.sinks }

// Deliver brings a sink as far as it goes now. A sink that fails is tried again after a
// backoff of its own; what it answered is no error of Deliver. It is for one process at a
// time: where two deliver, the sink gets entries twice.
func (c *Courier) Deliver(ctx context.Context, s Destination) error {
	if c.now().Before(c.troubleOf(s).next) {
		return nil
	}
	at, err := c.cursor(ctx, s)
	if err != nil {
		return err
	}
	for ctx.Err() == nil {
		entries, err := c.store.EntriesAfter(ctx, at.Seq, batchEntries)
		if err != nil || len(entries) == 0 {
			return err
		}
		lines, err := batch(entries)
		if err != nil {
			return err
		}
		to := at
		to.Seq = entries[len(lines)-1].Seq
		if err := s.Outlet.Send(ctx, lines); err != nil {
			if ctx.Err() != nil {
				return nil // the process stops
			}
			c.failed(ctx, s, err)
			return c.skip(ctx, s, at)
		}
		failpoint.At("deliver.after-send")
		c.succeeded(ctx, s)
		if err := c.store.MoveCursor(ctx, at, to); err != nil {
			if errors.Is(err, ErrMoved) {
				return nil
			}
			return err
		}
		failpoint.At("deliver.after-cursor")
		at = to
	}
	return nil
}

// cursor returns a sink's position. A sink without a cursor begins at the beginning of the
// log: a lost cursor causes repeats, and no gap.
func (c *Courier) cursor(ctx context.Context, s Destination) (Cursor, error) {
	for range 2 {
		all, err := c.store.Cursors(ctx)
		if err != nil {
			return Cursor{}, err
		}
		for _, at := range all {
			if at.Sink == s.Name {
				return at, nil
			}
		}
		c.log.InfoContext(ctx, "deliveries to an audit sink begin at the beginning of the log", "sink", s.Name)
		if err := c.store.BeginCursor(ctx, s.Name, c.entry(s, audit.Done, audit.DetailReason, "begun")); err != nil {
			return Cursor{}, fmt.Errorf("beginning deliveries to the audit sink %s: %w", s.Name, err)
		}
	}
	return Cursor{}, fmt.Errorf("the cursor of the audit sink %s is not kept", s.Name)
}

// batch are the lines of the first entries: as many as one Send takes.
func batch(entries []audit.Entry) ([][]byte, error) {
	var lines [][]byte
	size := 0
	for _, e := range entries {
		line, err := audit.Line(e)
		if err != nil {
			return nil, err
		}
		if size += len(line); size > batchBytes && len(lines) > 0 {
			break
		}
		lines = append(lines, line)
	}
	return lines, nil
}

// skip moves the cursor of a failing best-effort sink past entries older than its bound.
func (c *Courier) skip(ctx context.Context, s Destination, at Cursor) error {
	if s.Mode != BestEffort {
		return nil
	}
	to := at
	for oldest := c.now().Add(-s.Within); ; {
		entries, err := c.store.EntriesAfter(ctx, to.Seq, batchEntries)
		if err != nil {
			return err
		}
		old := 0
		for old < len(entries) && entries[old].Time.Before(oldest) {
			old++
		}
		if old == 0 {
			break
		}
		to.Seq = entries[old-1].Seq
		to.Skipped += int64(old)
		if old < batchEntries {
			break
		}
	}
	if to == at {
		return nil
	}
	c.log.ErrorContext(ctx, "an audit sink that is not required misses entries", "sink", s.Name, "from", at.Seq+1, "to", to.Seq)
	if err := c.store.MoveCursor(ctx, at, to); !errors.Is(err, ErrMoved) {
		return err
	}
	return nil
}

func (c *Courier) troubleOf(s Destination) trouble {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.trouble[s.Name]
}

// failed notes a failed attempt: in the log when the sink begins to fail, and in the audit
// log, which other sinks get, then and every ten minutes.
func (c *Courier) failed(ctx context.Context, s Destination, why error) {
	now := c.now()
	c.mu.Lock()
	t := c.trouble[s.Name]
	first := t.failures == 0
	tell := !now.Before(t.told.Add(tellAgain))
	if tell {
		t.told = now
	}
	t.failures++
	t.fault = why.Error()
	t.next = now.Add(job.Backoff(t.failures, maxBackoff))
	c.trouble[s.Name] = t
	c.mu.Unlock()
	if first {
		c.log.ErrorContext(ctx, "an audit sink cannot be delivered to; it is tried again", "sink", s.Name, "error", why)
	}
	if tell {
		if err := c.store.Append(ctx, c.entry(s, audit.Failed, audit.DetailError, t.fault)); err != nil {
			c.log.ErrorContext(ctx, "the audit log does not say that a sink fails", "sink", s.Name, "error", err)
		}
	}
}

// succeeded notes that a sink works again.
func (c *Courier) succeeded(ctx context.Context, s Destination) {
	c.mu.Lock()
	t := c.trouble[s.Name]
	c.trouble[s.Name] = trouble{told: t.told}
	c.mu.Unlock()
	if t.failures > 0 {
		c.log.InfoContext(ctx, "an audit sink is delivered to again", "sink", s.Name, "attempts", strconv.Itoa(t.failures+1))
	}
}

// entry is about a sink. Keys and values alternate in detail.
func (c *Courier) entry(s Destination, o audit.Outcome, detail ...string) audit.Entry {
	e := audit.Entry{
		Time: c.now().UTC(), Principal: "system:server", Action: audit.ServerSink, Kind: audit.KindServer, Resource: s.Name,
		Outcome: o, Detail: map[string]string{},
	}
	for i := 1; i < len(detail); i += 2 {
		e.Detail[detail[i-1]] = audit.Cut(detail[i])
	}
	return e
}

// Statuses say how each sink stands.
func (c *Courier) Statuses(ctx context.Context) ([]Status, error) {
	if len(c.sinks) == 0 {
		return nil, nil
	}
	found, err := c.store.Cursors(ctx)
	if err != nil {
		return nil, err
	}
	cursors := map[string]Cursor{}
	for _, at := range found {
		cursors[at.Sink] = at
	}
	all := make([]Status, 0, len(c.sinks))
	for _, s := range c.sinks {
		status := Status{Name: s.Name, Mode: s.Mode, Within: s.Within, Cursor: cursors[s.Name], Fault: c.troubleOf(s).fault}
		first, err := c.store.EntriesAfter(ctx, status.Cursor.Seq, 1)
		if err != nil {
			return nil, err
		}
		if len(first) > 0 {
			log, err := c.store.Tree(ctx)
			if err != nil {
				return nil, err
			}
			status.Waiting = max(1, log.Size-first[0].Seq+1)
			status.Behind = max(0, c.now().Sub(first[0].Time))
		}
		all = append(all, status)
	}
	return all, nil
}

// Late returns a [*LateError] while a required sink is late, as known within the last second.
func (c *Courier) Late(ctx context.Context) error {
	now := c.now()
	c.mu.Lock()
	if !c.asked.IsZero() && now.Sub(c.asked).Abs() < freshFor {
		defer c.mu.Unlock()
		return c.late
	}
	c.asked = now // the others go by the answer before until this one is there
	c.mu.Unlock()
	late, err := c.findLate(ctx)
	c.mu.Lock()
	defer c.mu.Unlock()
	if err != nil {
		c.asked = time.Time{}
		return err
	}
	c.late = late
	return late
}

func (c *Courier) findLate(ctx context.Context) (late, err error) {
	all, err := c.Statuses(ctx)
	if err != nil {
		return nil, err
	}
	for _, s := range all {
		if s.Mode == Required && s.Late() {
			return &LateError{s}, nil
		}
	}
	return nil, nil
}

func (c *Courier) Close() error {
	var errs []error
	for _, s := range c.sinks {
		errs = append(errs, s.Outlet.Close())
	}
	return errors.Join(errs...)
}
