package console

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"
)

// writer takes some bytes, and then fails.
type writer struct{ left int }

var errFull = errors.New("no space left")

func (w *writer) Write(p []byte) (int, error) {
	if w.left -= len(p); w.left < 0 {
		return 0, errFull
	}
	return len(p), nil
}

// soon is an After that has every wait over at once.
func soon(time.Duration) <-chan time.Time {
	again := make(chan time.Time, 1)
	again <- noon
	return again
}

// listing is a list of one look for each of its lists.
func listing(p *Console, watch bool, lists ...[]string) Listing[string] {
	return Listing[string]{
		Watch: watch, ID: func(s string) string { return s },
		List: func() ([]string, error) {
			if len(lists) == 0 {
				return nil, errors.New("no more lists")
			}
			now := lists[0]
			lists = lists[1:]
			return now, nil
		},
		Table: func(w io.Writer, items []string) {
			p.Header(w, []string{"ID", "X"}, "Y")
			for _, i := range items {
				p.Columns(w, []string{i, "x"}, "y")
			}
		},
	}
}

// A list that fails, or that cannot be written, ends with that, watched or not.
func TestAListEndsWithWhatFails(t *testing.T) {
	for name, test := range map[string]struct {
		watch   bool
		output  string
		lists   [][]string
		room    int
		want    string
		printed bool
	}{
		"no answer":                        {false, "table", nil, 100, "no more lists", false},
		"no answer, watched":               {true, "table", nil, 100, "no more lists", false},
		"no second answer":                 {true, "table", [][]string{{"a"}}, 100, "no more lists", true},
		"no room":                          {false, "table", [][]string{{"a"}}, 0, "no space left", false},
		"no room, watched":                 {true, "table", [][]string{{"a"}}, 0, "no space left", false},
		"room for the first line, watched": {true, "table", [][]string{{"a"}}, 6, "no space left", true},
		"no room, in JSON":                 {false, "json", [][]string{{"a"}}, 0, "no space left", false},
		"no room, in YAML":                 {false, "yaml", [][]string{{"a"}}, 0, "no space left", false},
		"no room, by a path":               {false, "jsonpath={.items}", [][]string{{"a"}}, 0, "no space left", false},
		"a path that does not fit":         {false, "jsonpath={.items[5]}", [][]string{{"a"}}, 100, "the jsonpath does not fit the answer; see its fields with -o json", false},
		"a path that is none":              {false, "jsonpath={.items[}", [][]string{{"a"}}, 100, "jsonpath: unterminated array", false},
	} {
		out := &writer{left: test.room}
		p := &Console{Out: out, Err: io.Discard, Output: test.output, After: soon, Now: func() time.Time { return noon }}
		err := PrintList(t.Context(), p, listing(p, test.watch, test.lists...))
		if err == nil || !strings.Contains(err.Error(), test.want) || (out.left != test.room) != (test.printed || test.room == 0) {
			t.Errorf("%s: %v, room left %d; want %q", name, err, out.left, test.want)
		}
	}
}

// What no JSON can say is an error in every form, and nothing is printed.
func TestAnItemThatNoJSONSays(t *testing.T) {
	for _, output := range []string{"table", "json"} {
		var out bytes.Buffer
		p := &Console{Out: &out, Err: io.Discard, Output: output, After: soon}
		l := Listing[func()]{
			Watch: true, ID: func(func()) string { return "f" }, Table: func(io.Writer, []func()) {},
			List: func() ([]func(), error) { return []func(){func() {}}, nil },
		}
		if err := PrintList(t.Context(), p, l); err == nil || out.Len() > 0 {
			t.Errorf("-o %s: %v, printed %q", output, err, &out)
		}
		if err := p.Print(func() {}, func(io.Writer) {}); (err == nil) != (output == "table") || out.Len() > 0 {
			t.Errorf("-o %s of a single one: %v, printed %q", output, err, &out)
		}
	}
}

// A list that is not watched is printed once, and names its columns as long as nobody says otherwise.
func TestAListIsPrintedOnceInItsColumns(t *testing.T) {
	for _, test := range []struct {
		output    string
		noHeaders bool
		items     []string
		want      string
	}{
		{"table", false, []string{"a", "longer"}, "ID      X\na       x\nlonger  x\n"},
		{"table", true, []string{"a", "longer"}, "a       x\nlonger  x\n"},
		{"wide", false, []string{"a"}, "ID  X  Y\na   x  y\n"},
		{"table", false, []string{""}, "ID  X\n-   x\n"},
		{"table", false, nil, "ID  X\n"},
		{"json", false, []string{"a"}, "{\n  \"items\": [\n    \"a\"\n  ],\n  \"nextPageToken\": \"\"\n}\n"},
	} {
		var out bytes.Buffer
		p := &Console{Out: &out, Output: test.output, NoHeaders: test.noHeaders}
		if err := PrintList(t.Context(), p, listing(p, false, test.items)); err != nil || out.String() != test.want {
			t.Errorf("-o %s of %q: %v, %q; want %q", test.output, test.items, err, &out, test.want)
		}
	}
}

// A watched list without names of columns shows rows alone, from the first one on.
func TestAWatchedListWithoutHeaders(t *testing.T) {
	var out, err bytes.Buffer
	p := &Console{Out: &out, Err: &err, Output: "table", NoHeaders: true, After: soon}
	_ = PrintList(t.Context(), p, listing(p, true, []string{"a"}, []string{"a"}, []string{"a", "longer", "b"}, []string{"b", "c"}))
	if want := "a  x\nlonger  x\nb       x\nc       x\n"; out.String() != want || err.String() != "vimbroker: a is no longer listed\nvimbroker: longer is no longer listed\n" &&
		err.String() != "vimbroker: longer is no longer listed\nvimbroker: a is no longer listed\n" {
		t.Errorf("printed:\n%s\nsaid:\n%s", &out, &err)
	}
}

// A watched list prints nothing where nothing is, and nothing where nothing changes; columns that fit are not named again.
func TestAWatchedListPrintsNothingForNothing(t *testing.T) {
	for _, test := range []struct {
		output string
		lists  [][]string
		want   string
	}{
		{"table", [][]string{{}, {}}, ""},
		{"table", [][]string{{"a"}, {"a", "b"}}, "ID  X\na   x\nb   x\n"},
		{"name", [][]string{{}, {}}, ""},
		{"json", [][]string{{"a"}, {"a"}}, "{\n  \"items\": [\n    \"a\"\n  ],\n  \"nextPageToken\": \"\"\n}\n"},
	} {
		var out bytes.Buffer
		p := &Console{Out: &out, Err: io.Discard, Output: test.output, After: soon}
		if err := PrintList(t.Context(), p, listing(p, true, test.lists...)); said(err) != "no more lists" || out.String() != test.want {
			t.Errorf("-o %s of %q: %v, printed %q, want %q", test.output, test.lists, err, &out, test.want)
		}
	}
}

// A watched list ends well where the person ends it, and only there.
func TestAWatchEndsWithThePerson(t *testing.T) {
	ctx, enough := context.WithCancel(t.Context())
	enough()
	var out bytes.Buffer
	p := &Console{Out: &out, Err: io.Discard, Output: "table", After: func(time.Duration) <-chan time.Time { return nil }}
	if err := PrintList(ctx, p, listing(p, true, []string{"a"})); err != nil || out.String() != "ID  X\na   x\n" {
		t.Errorf("%v, %q", err, &out)
	}
	if err := PrintList(ctx, p, listing(p, false)); said(err) != "no more lists" {
		t.Errorf("a list that fails as the person leaves: %v", err)
	}
	if err := p.Poll(ctx, func() (bool, error) { return false, nil }); !errors.Is(err, context.Canceled) {
		t.Errorf("a poll that the person ends: %v", err)
	}
}

// A wait says what it waits for: at once, when the state changes, and every ten seconds.
func TestAWaitSaysWhatItWaitsFor(t *testing.T) {
	var said bytes.Buffer
	now := noon
	var waited []time.Duration
	p := &Console{Err: &said, Now: func() time.Time { return now }, After: func(d time.Duration) <-chan time.Time {
		waited = append(waited, d)
		return soon(d)
	}}
	steps := []struct {
		at    time.Duration
		state string
	}{{0, ""}, {time.Second, ""}, {2 * time.Second, "half"}, {3 * time.Second, "half"}, {12*time.Second - 1, "half"}, {12 * time.Second, "half"}, {13 * time.Second, ""}}
	i := 0
	err := p.Await(t.Context(), "it is there", func() (bool, string, error) {
		if i == len(steps) {
			return true, "there", nil
		}
		now = noon.Add(steps[i].at)
		i++
		return false, steps[i-1].state, nil
	})
	const want = "vimbroker: waiting until it is there (0s so far)\n" +
		"vimbroker: waiting until it is there (2s so far); now: half\n" +
		"vimbroker: waiting until it is there (12s so far); now: half\n" +
		"vimbroker: waiting until it is there (13s so far)\n"
	if err != nil || said.String() != want || len(waited) != len(steps) || waited[0] != time.Second {
		t.Errorf("%v, waited %v, said:\n%s", err, waited, &said)
	}
	said.Reset()
	broken := errors.New("broken")
	if err := p.Await(t.Context(), "it is there", func() (bool, string, error) { return false, "half", broken }); !errors.Is(err, broken) || said.Len() > 0 {
		t.Errorf("a wait that fails: %v, said %q", err, &said)
	}
	ctx, enough := context.WithCancel(t.Context())
	enough()
	p.After = func(time.Duration) <-chan time.Time { return nil }
	if err := p.Await(ctx, "it is there", func() (bool, string, error) { return false, "", nil }); !errors.Is(err, context.Canceled) {
		t.Errorf("a wait that the person ends: %v", err)
	}
}

// Long cells are cut where the table is not wide, behind as many characters as there is room for.
func TestCellsAreCutToTheirRoom(t *testing.T) {
	narrow, wide := &Console{Output: "table"}, &Console{Output: "wide"}
	for text, want := range map[string]string{"": "", "äbc": "äbc", "äbcd": "äbcd", "äbcde": "äbc…", "äbcdef": "äbc…"} {
		if got := narrow.CutTo(text, 4); got != want {
			t.Errorf("%q is cut to %q, want %q", text, got, want)
		}
		if got := wide.CutTo(text, 4); got != text {
			t.Errorf("%q is cut to %q in a wide table", text, got)
		}
	}
	if got := narrow.Cut(strings.Repeat("a", 24)); got != strings.Repeat("a", 24) {
		t.Error(got)
	}
	if got := narrow.Cut(strings.Repeat("a", 25)); got != strings.Repeat("a", 23)+"…" {
		t.Error(got)
	}
	for output, want := range map[string]bool{"table": true, "wide": true, "name": false, "json": false} {
		if got := (&Console{Output: output}).ForPeople(); got != want {
			t.Errorf("-o %s is for people: %t", output, got)
		}
	}
}

// A wait whose time is over says so, and what had not ended; a person's own end, and another failure, stay what they are.
func TestATimeThatIsOverSaysWhatHadNotEnded(t *testing.T) {
	broken := errors.New("broken")
	until := func(ctx context.Context) error {
		<-ctx.Done()
		return fmt.Errorf("polling: %w", ctx.Err())
	}
	left, leave := context.WithCancel(t.Context())
	leave()
	for name, test := range map[string]struct {
		ctx     context.Context
		timeout time.Duration
		run     func(context.Context) error
		still   string
		want    string
	}{
		"done":                    {t.Context(), time.Hour, func(context.Context) error { return nil }, "x", ""},
		"done when it is over":    {t.Context(), 0, func(ctx context.Context) error { <-ctx.Done(); return nil }, "x", ""},
		"failed before":           {t.Context(), time.Hour, func(context.Context) error { return broken }, "x", "broken"},
		"over":                    {t.Context(), 0, until, "", "the 0s of --timeout are over"},
		"over, with what is left": {t.Context(), time.Nanosecond, until, "two leases", "the 1ns of --timeout are over: two leases"},
		"ended by the person":     {left, time.Hour, until, "x", "polling: context canceled"},
	} {
		c := &cobra.Command{}
		c.SetContext(test.ctx)
		asked := 0
		err := Within(c, test.timeout, test.run, func(ctx context.Context) string {
			asked++
			if at, ok := ctx.Deadline(); ctx.Err() != nil || !ok || time.Until(at) > stillPatience {
				t.Errorf("%s: what had not ended is asked without time", name)
			}
			return test.still
		})
		if over := new(overError); said(err) != test.want || errors.As(err, &over) != (asked == 1) {
			t.Errorf("%s: %v, asked %d times; want %q", name, err, asked, test.want)
		}
	}
}
