package console

import (
	"bytes"
	"context"
	"io"
	"strings"
	"testing"
	"time"
)

var noon = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)

func TestTimesAreToldAsPeopleDo(t *testing.T) {
	p := &Console{Now: func() time.Time { return noon }}
	for d, want := range map[time.Duration]string{
		0: "now", 900 * time.Millisecond: "now", time.Second: "in 1s", -59 * time.Second: "59s ago", 90 * time.Second: "in 2m",
		59*time.Minute + 59*time.Second: "in 60m", 3 * time.Hour: "in 3h", -47 * time.Hour: "2d ago", 30 * 24 * time.Hour: "in 30d",
	} {
		if got := p.When(noon.Add(d)); got != want {
			t.Errorf("when(now%+v) = %q, want %q", d, got, want)
		}
	}
	if got := p.When(time.Time{}); got != "" {
		t.Errorf("when(never) = %q, want nothing", got)
	}
	zone := time.FixedZone("far", 14*3600)
	if got, want := p.Moment(noon.Add(time.Hour).In(zone)), "in 60m (2026-11-20T13:00:00Z)"; got != want {
		t.Errorf("moment in another zone = %q, want %q", got, want)
	}
}

// Days are those of 24 hours, and stand first.
func TestDurationsMayBeInDays(t *testing.T) {
	for text, want := range map[string]time.Duration{
		"2d": 48 * time.Hour, "1d12h": 36 * time.Hour, "0d": 0, "90s": 90 * time.Second, "-5m": -5 * time.Minute, "365d": 8760 * time.Hour,
	} {
		if got, err := Duration(text); err != nil || got != want {
			t.Errorf("Duration(%q) = %v, %v; want %v", text, got, err, want)
		}
	}
	for _, text := range []string{"", "d", "-2d", "2d-1h", "1.5d", "2dd", "2d3d", "12h1d", "1d24h", "99999999d", "soon", "2 d"} {
		if got, err := Duration(text); err == nil {
			t.Errorf("Duration(%q) = %v, want an error", text, got)
		}
	}
}

// What the server sent is what is picked from it, digit by digit.
func TestFieldsArePickedAsTheyWereSent(t *testing.T) {
	value := map[string]any{"items": []any{map[string]any{"id": "b", "name": "a", "seq": int64(9007199254740993)}}}
	for output, want := range map[string]string{
		"jsonpath={.items[0].seq}": "9007199254740993\n",
		"jsonpath=.items[0].name":  "a\n",
		"name":                     "a\n",
	} {
		var out bytes.Buffer
		p := &Console{Out: &out, Output: output}
		if err := p.Print(value, nil); err != nil || out.String() != want {
			t.Errorf("-o %s prints %q, %v; want %q", output, out.String(), err, want)
		}
	}
}

// An answer that is no object has no fields; what it holds is not repeated.
func TestFieldsOfWhatIsNoObject(t *testing.T) {
	for _, output := range []string{"jsonpath={.a}", "name"} {
		p := &Console{Out: io.Discard, Output: output}
		if err := p.Print(4711, nil); err == nil || strings.Contains(err.Error(), "4711") {
			t.Errorf("-o %s of a number: %v", output, err)
		}
	}
}

// A list that is watched prints what comes and what changes, also where it began empty, and once
// each, in columns below those of before.
func TestAWatchedListPrintsWhatChanges(t *testing.T) {
	lists := [][]string{{}, {"a"}, {"a"}, {"a", "longer"}, {"b", "longer"}}
	ctx, enough := context.WithCancel(t.Context())
	var out, said bytes.Buffer
	p := &Console{Out: &out, Err: &said, Output: "table", Now: func() time.Time { return noon }, After: func(time.Duration) <-chan time.Time {
		again := make(chan time.Time, 1)
		again <- noon
		return again
	}}
	err := PrintList(ctx, p, Listing[string]{
		Watch: true, ID: func(s string) string { return s },
		List: func() ([]string, error) {
			if len(lists) == 0 {
				enough()
				return nil, ctx.Err()
			}
			now := lists[0]
			lists = lists[1:]
			return now, nil
		},
		Table: func(w io.Writer, items []string) {
			p.Header(w, []string{"ID", "X"})
			for _, i := range items {
				p.Columns(w, []string{i, "x"})
			}
		},
	})
	const want = "ID  X\na   x\nID      X\nlonger  x\nb       x\n"
	if err != nil || out.String() != want || said.String() != "vimbroker: a is no longer listed\n" {
		t.Errorf("%v; printed:\n%ssaid:\n%s", err, &out, &said)
	}
}
