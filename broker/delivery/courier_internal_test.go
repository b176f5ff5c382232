package delivery

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/vimbroker/vimbroker/policy/audit"
	"github.com/vimbroker/vimbroker/policy/audit/tree"
	"github.com/vimbroker/vimbroker/test/came"
	"github.com/vimbroker/vimbroker/test/fake"
	"github.com/vimbroker/vimbroker/test/testlog"
)

var errStep = errors.New("the step fails")

// books are a log, cursors and a sink in memory, of which named steps fail.
type books struct {
	Store
	entries []audit.Entry
	cursors []Cursor
	keeps   bool // a cursor that is begun
	fails   map[string]error
	taken   []string
	sent    int
	log     strings.Builder
	said    []string // each step with what it was given
}

func (b *books) step(name string, given ...any) error {
	b.said = append(b.said, came.Call(name, given...))
	return fake.Step(&b.taken, b.fails, name)
}

func (b *books) EntriesAfter(_ context.Context, seq int64, most int) ([]audit.Entry, error) {
	from := min(int(seq), len(b.entries))
	return b.entries[from:min(from+most, len(b.entries))], b.step("EntriesAfter", seq, most)
}

func (b *books) Cursors(context.Context) ([]Cursor, error) { return b.cursors, b.step("Cursors") }

func (b *books) BeginCursor(_ context.Context, sink string, e audit.Entry) error {
	if b.keeps {
		b.cursors = append(b.cursors, Cursor{Sink: sink})
	}
	return b.step("BeginCursor", sink, e)
}

func (b *books) MoveCursor(_ context.Context, from, to Cursor) error {
	if err := b.step("MoveCursor", from, to); err != nil {
		return err
	}
	b.cursors = []Cursor{to}
	return nil
}

func (b *books) Append(_ context.Context, e audit.Entry) error { return b.step("Append", e) }

func (b *books) Tree(context.Context) (tree.Head, error) {
	return tree.Head{Size: int64(len(b.entries))}, b.step("Tree")
}

func (b *books) Send(_ context.Context, lines [][]byte) error {
	if err := b.step("Send"); err != nil {
		return err
	}
	b.sent += len(lines)
	return nil
}

func (b *books) Close() error { return b.step("Close") }

// What a delivery brings, and where the cursor stands then.
func TestWhatADeliveryBrings(t *testing.T) {
	now := time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC)
	fails := func(steps ...string) func(*books, *Destination) {
		return func(b *books, _ *Destination) {
			for _, step := range steps {
				b.fails[step] = errStep
			}
		}
	}
	deliver := func(c *Courier, s Destination) error { return c.Deliver(t.Context(), s) }
	statuses := func(c *Courier, _ Destination) error {
		_, err := c.Statuses(t.Context())
		return err
	}
	late := func(c *Courier, _ Destination) error { return c.Late(t.Context()) }
	// The first two of three entries are older than an hour, and the sink fails.
	effort := func(steps ...string) func(*books, *Destination) {
		return func(b *books, s *Destination) {
			s.Mode, s.Within = BestEffort, time.Hour
			b.entries[0].Time, b.entries[1].Time, b.entries[2].Time = now.Add(-2*time.Hour), now.Add(-time.Hour-1), now.Add(-time.Hour)
			fails(append(steps, "Send")...)(b, s)
		}
	}
	moved := func(given func(*books, *Destination), step string) func(*books, *Destination) {
		return func(b *books, s *Destination) {
			given(b, s)
			b.fails[step] = ErrMoved
		}
	}
	for _, c := range []struct {
		what  string
		given func(*books, *Destination)
		do    func(*Courier, Destination) error
		want  string // lines sent, the cursor's place, entries skipped, the error
	}{
		{"all", nil, deliver, "3 3 0 <nil>"},
		{"without a cursor", func(b *books, _ *Destination) { b.cursors, b.keeps = nil, true }, deliver, "3 3 0 <nil>"},
		{"without a cursor that stays", func(b *books, _ *Destination) { b.cursors = nil }, deliver, "0 0 0 the cursor of the audit sink siem is not kept"},
		{
			"without a cursor, which is not begun", func(b *books, s *Destination) { b.cursors = nil; fails("BeginCursor")(b, s) }, deliver,
			"0 0 0 beginning deliveries to the audit sink siem: the step fails",
		},
		{"the cursor is unread", fails("Cursors"), deliver, "0 0 0 the step fails"},
		{"entries are unread", fails("EntriesAfter"), deliver, "0 0 0 the step fails"},
		{"the cursor stays", fails("MoveCursor"), deliver, "3 0 0 the step fails"},
		{"another moves the cursor", moved(fails(), "MoveCursor"), deliver, "3 0 0 <nil>"},
		{"what is too large for one batch", func(b *books, _ *Destination) {
			for i := range b.entries {
				b.entries[i].Detail = map[string]string{"a": strings.Repeat("a", batchBytes/2)}
			}
		}, deliver, "3 3 0 <nil>"},
		{"the sink fails", fails("Send"), deliver, "0 0 0 <nil>"},
		{"the sink fails, at its best effort", effort(), deliver, "0 2 2 <nil>"},
		{"the sink fails, and the old ones are unread", effort("EntriesAfter 2"), deliver, "0 0 0 the step fails"},
		{"the sink fails, and the cursor stays", effort("MoveCursor"), deliver, "0 0 0 the step fails"},
		{"the sink fails, and another moves the cursor", moved(effort(), "MoveCursor"), deliver, "0 0 0 <nil>"},
		{"statuses without cursors", fails("Cursors"), statuses, "0 0 0 the step fails"},
		{"statuses without entries", fails("EntriesAfter"), statuses, "0 0 0 the step fails"},
		{"statuses without a tree", fails("Tree"), statuses, "0 0 0 the step fails"},
		{"late, unread", fails("Cursors"), late, "0 0 0 the step fails"},
		{"late, unread once", fails("Cursors 1"), func(c *Courier, s Destination) error {
			if late(c, s) == nil {
				return errors.New("it is taken for known")
			}
			return late(c, s)
		}, "0 0 0 <nil>"},
		{"closing", fails("Close"), func(c *Courier, _ Destination) error { return c.Close() }, "0 0 0 the step fails"},
	} {
		b := &books{fails: map[string]error{}, cursors: []Cursor{{Sink: "siem"}}}
		for n := range 3 {
			b.entries = append(b.entries, audit.Entry{Seq: int64(n + 1), Time: now})
		}
		s := Destination{Name: "siem", Mode: Required, Within: 24 * time.Hour, Outlet: b}
		if c.given != nil {
			c.given(b, &s)
		}
		courier := New(b, []Destination{s}, func() time.Time { return now }, testlog.To(t, slog.NewTextHandler(&b.log, nil)))
		err := c.do(courier, s)
		at := Cursor{}
		if len(b.cursors) > 0 {
			at = b.cursors[0]
		}
		if got := fmt.Sprint(b.sent, " ", at.Seq, " ", at.Skipped, " ", err); got != c.want {
			t.Errorf("%s: %s, want %s, after %q", c.what, got, c.want, b.taken)
		}
		b.said = append(b.said, came.Logged(b.log.String())...)
		came.Of(t, nil).Add(c.what, fmt.Sprint(err), append(b.said, came.Call("trouble", courier.trouble["siem"].failures, courier.trouble["siem"].told)))
	}
	e := (&Courier{now: time.Now}).entry(Destination{Name: "s"}, audit.Done, "a", "1", "odd")
	if len(e.Detail) != 1 || e.Detail["a"] != "1" {
		t.Errorf("the entry says %v", e.Detail)
	}
}

// That a sink fails is told when it begins to, and each ten minutes, also where it works in between; the log has each beginning.
func TestHowOftenAFailingSinkIsTold(t *testing.T) {
	now := time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC)
	b := &books{}
	courier := New(b, nil, func() time.Time { return now }, testlog.To(t, slog.NewTextHandler(&b.log, nil)))
	s := Destination{Name: "siem"}
	for _, c := range []struct {
		after  time.Duration
		works  bool // before it fails
		want   int  // entries in all
		logged int
	}{
		{0, false, 1, 1}, {tellAgain - 1, false, 1, 1}, {1, false, 2, 1}, {1, true, 2, 2}, {tellAgain - 2, true, 2, 3}, {1, false, 3, 3},
	} {
		if now = now.Add(c.after); c.works {
			courier.succeeded(t.Context(), s)
		}
		courier.failed(t.Context(), s, errStep)
		if logged := strings.Count(b.log.String(), "cannot be delivered to"); len(b.taken) != c.want || logged != c.logged {
			t.Errorf("at %s it is told %d times, and logged %d times", now, len(b.taken), logged)
		}
	}
}

// How late a required sink is is looked up once a second, and known in between; at its bound it is not late, and one of best effort is never.
func TestHowLateASinkIs(t *testing.T) {
	now := time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC)
	b := &books{fails: map[string]error{}, cursors: []Cursor{{Sink: "siem"}}, entries: []audit.Entry{{Seq: 1, Time: now.Add(-time.Hour)}}}
	s := Destination{Name: "siem", Mode: Required, Within: time.Hour, Outlet: b}
	effort := Destination{Name: "siem", Mode: BestEffort, Within: 1, Outlet: b}
	courier := New(b, []Destination{effort, s}, func() time.Time { return now }, testlog.Silent(t))
	for _, c := range []struct {
		after time.Duration
		late  bool
		asked int
	}{{0, false, 1}, {1, false, 1}, {freshFor - 1, true, 2}, {freshFor - 1, true, 2}, {1, true, 3}} {
		now = now.Add(c.after)
		err := courier.Late(t.Context())
		late, is := errors.AsType[*LateError](err)
		asked := 0
		for _, step := range b.taken {
			if step == "Cursors" {
				asked++
			}
		}
		if is != c.late || !is && err != nil || is && late.Behind <= time.Hour || asked != c.asked {
			t.Errorf("at %s: %v, asked %d times", now, err, asked)
		}
	}
}

// What waits for a sink is what came behind the last entry that it has had, each sink's own; where all is delivered nothing waits.
func TestWhatWaitsForEachSink(t *testing.T) {
	now := time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC)
	b := &books{fails: map[string]error{}}
	for n := range 5 {
		b.entries = append(b.entries, audit.Entry{Seq: int64(n + 1), Time: now.Add(time.Duration(n-5) * time.Minute)})
	}
	var all []Destination
	for _, at := range []Cursor{{Sink: "behind", Start: 1, Seq: 2}, {Sink: "last", Start: 1, Seq: 4}, {Sink: "new", Start: 0, Seq: 0}, {Sink: "done", Start: 2, Seq: 5}} {
		b.cursors, all = append([]Cursor{at}, b.cursors...), append(all, Destination{Name: at.Sink, Within: time.Hour, Outlet: b})
	}
	found, err := New(b, all, func() time.Time { return now }, testlog.Silent(t)).Statuses(t.Context())
	var got []string
	for _, s := range found {
		got = append(got, fmt.Sprintf("%s: %d since %s", s.Name, s.Waiting, s.Behind))
	}
	if want := "behind: 3 since 3m0s, last: 1 since 1m0s, new: 5 since 5m0s, done: 0 since 0s"; strings.Join(got, ", ") != want || err != nil {
		t.Errorf("waiting are %q, %v, want %s", got, err, want)
	}
}

// A batch holds as many lines as one call takes, and one line however long it is.
func TestBoundsOfABatch(t *testing.T) {
	sized := func(n int) audit.Entry {
		line, err := audit.Line(audit.Entry{Principal: "a"})
		if err != nil {
			t.Fatal(err)
		}
		return audit.Entry{Principal: strings.Repeat("a", n-len(line)+1)}
	}
	half := batchBytes / 2
	for want, all := range map[int][]audit.Entry{
		0: nil, 1: {sized(batchBytes + 1), sized(half)}, 2: {sized(half), sized(batchBytes - half), sized(half)},
	} {
		lines, err := batch(all)
		if err != nil || len(lines) != want {
			t.Errorf("%d of %d lines, want %d, %v", len(lines), len(all), want, err)
		}
	}
	over := []audit.Entry{sized(half), sized(batchBytes - half + 1)}
	if lines, _ := batch(over); len(lines) != 1 || !slices.Equal(lines[0][:1], []byte("{")) {
		t.Errorf("one byte too many: %d lines", len(lines))
	}
}
