package console

import (
	"bytes"
	"context"
	"errors"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"
)

var noon = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)

func TestTimesAreToldAsPeopleDo(t *testing.T) {
	p := &Console{Now: func() time.Time { return noon }}
	for d, want := range map[time.Duration]string{
		0: "now", 900 * time.Millisecond: "now", time.Second: "in 1s", -900 * time.Millisecond: "now", -time.Second: "1s ago", -59 * time.Second: "59s ago", 90 * time.Second: "in 2m",
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
		"2d0s": 48 * time.Hour, "1d23h59m59s": 48*time.Hour - time.Second,
	} {
		if got, err := Duration(text); err != nil || got != want {
			t.Errorf("Duration(%q) = %v, %v; want %v", text, got, err, want)
		}
	}
	for _, text := range []string{"", "d", "-2d", "2d-1h", "2d-1ns", "1.5d", "2dd", "2d3d", "12h1d", "1d24h", "99999999d", "soon", "2 d"} {
		if got, err := Duration(text); err == nil {
			t.Errorf("Duration(%q) = %v, want an error", text, got)
		}
	}
}

// A form that nobody knows, and an expression that is none, are faults of the command line; the words may be completed.
func TestAFormOfOutputIsOneOfSome(t *testing.T) {
	for output, want := range map[string]string{
		"":                     "",
		"wide":                 "",
		"name":                 "no space left",
		"jsonpath={.a}":        "",
		"jsonpath=.a":          "",
		"xml":                  "--output must be table, wide, name, json, yaml or jsonpath=EXPRESSION; see: tool --help",
		"jsonpath":             "--output must be table, wide, name, json, yaml or jsonpath=EXPRESSION; see: tool --help",
		"jsonpath={.items[a}":  "--output: jsonpath: unterminated array; see: tool --help",
		"jsonpath={range .a":   "--output: jsonpath: unclosed action; see: tool --help",
		"jsonpath={.items[a]}": "--output: jsonpath: invalid array index a; see: tool --help",
	} {
		ran := false
		p := &Console{}
		c := &cobra.Command{Use: "tool", SilenceErrors: true, SilenceUsage: true, RunE: func(*cobra.Command, []string) error {
			ran = true
			if p.Output == "name" {
				return errFull
			}
			return nil
		}}
		p.OutputFlag(c)
		if complete, ok := c.GetFlagCompletionFunc("output"); !ok || complete == nil {
			t.Error("-o is not completed")
		}
		c.SetArgs([]string{"--no-headers"})
		if output != "" {
			c.SetArgs([]string{"-o", output})
		}
		err := c.Execute()
		if said(err) != want || ran != !strings.HasPrefix(want, "--output") || p.NoHeaders != (output == "") || output == "" && p.Output != "table" {
			t.Errorf("-o %s: %v, ran: %t, %+v; want %q", output, err, ran, p, want)
		}
	}
}

// YAML has quotes where a string would read as something else without them, and lines where it has some.
func TestYAMLIsAsPeopleWriteIt(t *testing.T) {
	var out bytes.Buffer
	p := &Console{Out: &out, Output: "yaml"}
	value := struct {
		Word   string   `json:"word"`
		Yes    string   `json:"yes"`
		Number string   `json:"number"`
		None   string   `json:"none"`
		Odd    string   `json:"odd"`
		Lines  string   `json:"lines"`
		List   []string `json:"list"`
		Count  int      `json:"count"`
		Both   string   `json:"both"`
	}{"edge-1", "true", "1.5", "", "a: [", "one\ntwo\n", []string{"a", "b: c"}, 7, "a: [\nb\n"}
	if err := p.Print(value, nil); err != nil {
		t.Fatal(err)
	}
	const want = `word: edge-1
yes: "true"
number: "1.5"
none: ""
odd: "a: ["
lines: |
  one
  two
list:
  - a
  - "b: c"
count: 7
both: |
  a: [
  b
`
	if out.String() != want {
		t.Errorf("printed:\n%s", &out)
	}
}

// Names are one to a line, whatever the kind of thing has for a name; facts without a value are left out.
func TestNamesAndFactsAreOneToALine(t *testing.T) {
	items := []any{
		map[string]any{"name": "n", "id": "i"}, map[string]any{"id": "i", "seq": 1}, map[string]any{"vimName": "v", "seq": 1}, map[string]any{"seq": 4}, map[string]any{"x": 1}, 5,
	}
	var out bytes.Buffer
	p := &Console{Out: &out, Output: "name"}
	if err := p.Print(map[string]any{"items": items}, nil); err != nil || out.String() != "n\ni\nv\n4\n" {
		t.Errorf("%v, %q", err, &out)
	}
	p.Out = &writer{left: 3}
	if err := p.Print(map[string]any{"items": items}, nil); !errors.Is(err, errFull) {
		t.Errorf("names for which there is no room: %v", err)
	}
	out.Reset()
	p.Out = &out
	if err := p.Print(items[1], nil); err != nil || out.String() != "i\n" {
		t.Errorf("the name of one: %v, %q", err, &out)
	}
	out.Reset()
	Facts(&out, "Name", "a\nb", "Empty", "", "", "more", "Last", "z", "odd")
	if want := "Name:\ta b\n\tmore\nLast:\tz\n"; out.String() != want {
		t.Errorf("facts: %q, want %q", &out, want)
	}
	p = &Console{Out: &writer{left: 0}, Output: "table"}
	if err := p.Print(nil, func(w io.Writer) { Facts(w, "Name", "a") }); !errors.Is(err, errFull) {
		t.Errorf("facts for which there is no room: %v", err)
	}
}

// Words of others move no cursor, turn no line and make no cell, wherever a line for people has them.
func TestWordsOfOthersMoveNoCursor(t *testing.T) {
	const words, harmless = "a\x1b[2J\tb\r\nc\u202ed\u009b2Je\x7f", "a [2J b  c d 2Je "
	var out bytes.Buffer
	p := &Console{Out: &out, Err: &out, Output: "table"}
	for what, test := range map[string]struct {
		say  func()
		want string
	}{
		"a row":       {func() { Row(&out, "x", words, "", words) }, "x\t" + harmless + "\t-\t" + harmless + "\n"},
		"columns":     {func() { p.Columns(&out, []string{words}, words) }, harmless + "\n"},
		"a fact":      {func() { Facts(&out, "Name", words, "", words) }, "Name:\t" + harmless + "\n\t" + harmless + "\n"},
		"a refusal":   {func() { p.ExitCode(problem(400, "bad", words)) }, "vimbroker: bad: a [2J b; c d 2Je  [request r1]\n"},
		"many faults": {func() { p.ExitCode(faultsOf("one", words)) }, "vimbroker: f.yaml: key: one\nvimbroker: f.yaml: key: " + harmless + "\n"},
	} {
		out.Reset()
		if test.say(); out.String() != test.want {
			t.Errorf("%s: %q, want %q", what, &out, test.want)
		}
	}
}

// Labels are spelled in one order, and what is so is marked.
func TestLabelsAndMarks(t *testing.T) {
	if got := Pairs(map[string]string{"b": "2", "a": "1", "c": ""}); got != "a=1,b=2,c=" {
		t.Errorf("labels %q", got)
	}
	if got := List([]string{"a", "b"}) + Yes(true) + "," + Yes(false); got != "a, byes," {
		t.Errorf("got %q", got)
	}
}

// One is told from many, of which none is as many.
func TestCountsAreSpelled(t *testing.T) {
	for n, want := range []string{"0 entries", "1 entry", "2 entries"} {
		if got := Count(n, "entry", "entries"); got != want || Count(int64(n), "entry", "entries") != want {
			t.Errorf("Count(%d) = %q, want %q", n, got, want)
		}
	}
}

// The flags that many commands have fill what the commands read.
func TestFlagsOfManyCommands(t *testing.T) {
	var watch bool
	p := &Console{}
	c := &cobra.Command{Use: "tool"}
	WatchFlag(c, &watch)
	p.ProjectFlag(c)
	if err := c.ParseFlags([]string{"-w", "--project", "acme"}); err != nil || !watch || p.Project != "acme" {
		t.Errorf("%v, watch %t, project %q", err, watch, p.Project)
	}
}

// A flag of a duration takes days; a lifetime is above zero, and shows nothing where none is given.
func TestFlagsTakeDurations(t *testing.T) {
	const wish = "must be a duration above zero, like 90s, 30m, 8h or 2d"
	for _, test := range []struct {
		flag, text, fails string
		want              time.Duration
		shown             string
	}{
		{"wait", "2d", "", 48 * time.Hour, "48h0m0s"},
		{"wait", "0s", "", 0, ""},
		{"wait", "-1s", "", -time.Second, "-1s"},
		{"wait", "soon", `time: invalid duration "soon"`, 0, ""},
		{"ttl", "90s", "", 90 * time.Second, "1m30s"},
		{"ttl", "1ns", "", 1, "1ns"},
		{"ttl", "0s", wish, 0, ""},
		{"ttl", "-1s", wish, 0, ""},
		{"ttl", "soon", wish, 0, ""},
	} {
		values := map[string]*time.Duration{"wait": new(time.Duration), "ttl": new(time.Duration)}
		c := &cobra.Command{}
		DurationFlag(c, values["wait"], "wait", "wait")
		LifetimeFlag(c, values["ttl"], "ttl", "ttl")
		flag := c.Flags().Lookup(test.flag)
		if err := flag.Value.Set(test.text); said(err) != test.fails || *values[test.flag] != test.want || flag.Value.String() != test.shown || flag.Value.Type() != "duration" {
			t.Errorf("--%s %s: %v, %v, shown %q; want %+v", test.flag, test.text, err, *values[test.flag], flag.Value, test)
		}
	}
	if got := (durationFlag{}).String(); got != "" {
		t.Errorf("a flag of no duration shows %q", got)
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
