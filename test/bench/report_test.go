package bench

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestPercentile(t *testing.T) {
	var hundred sample
	for i := 100; i >= 1; i-- {
		hundred = append(hundred, time.Duration(i))
	}
	for _, c := range []struct {
		s    sample
		p    int
		want time.Duration
	}{
		{nil, 50, 0},
		{sample{7}, 1, 7},
		{sample{7}, 99, 7},
		{sample{3, 1, 2}, 50, 2},
		{sample{4, 3, 2, 1}, 50, 2},
		{sample{4, 3, 2, 1}, 99, 4},
		{hundred, 50, 50},
		{hundred, 99, 99},
		{hundred, 100, 100},
	} {
		if got := c.s.percentile(c.p); got != c.want {
			t.Errorf("percentile(%d) of %d values = %d, want %d", c.p, len(c.s), got, c.want)
		}
	}
	if hundred[0] != 100 {
		t.Error("percentile reordered the sample")
	}
}

func TestTurnsAreFair(t *testing.T) {
	var mu sync.Mutex
	var order []string
	seen := map[string]map[int]bool{}
	note := func(what string) contender {
		seen[what] = map[int]bool{}
		return contender{what, func(n int) error {
			mu.Lock()
			defer mu.Unlock()
			if seen[what][n] {
				t.Errorf("%s was called twice with %d", what, n)
			}
			seen[what][n] = true
			if n%6 == 0 {
				order = append(order, what)
			}
			return nil
		}}
	}
	out, err := turns(3, 2, 3, note("a"), note("b"), note("c"))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(strings.Fields("a b c a b c b c a c a b"), order); diff != "" {
		t.Errorf("order of turns (-want +got):\n%s", diff)
	}
	for i, o := range out {
		if len(o.sample) != 18 {
			t.Errorf("contender %d has %d calls counted, want 18: the turn before the first is not", i, len(o.sample))
		}
		if o.busy <= 0 || o.perSecond() <= 0 {
			t.Errorf("contender %d was busy for %s, %f calls per second", i, o.busy, o.perSecond())
		}
	}
}

func TestTurnsEndWithTheError(t *testing.T) {
	broken := errors.New("broken")
	_, err := turns(1, 2, 1, contender{"ours", func(int) error { return broken }})
	if !errors.Is(err, broken) || !strings.HasPrefix(err.Error(), "ours: ") {
		t.Errorf("turns() = %v, want the call's error with its contender named", err)
	}
}

func TestGoals(t *testing.T) {
	base := row{What: "bare", P50: 4}
	for _, c := range []struct {
		what string
		row  row
		want string
	}{
		{"ratio kept", row{P50: 5}.over(base).ratioGoal(1.25), "1.25x met"},
		{"ratio broken", row{P50: 5.1}.over(base).ratioGoal(1.25), "1.25x missed"},
		{"ratio to nothing", row{P50: 5}.over(row{}).ratioGoal(1.25), "1.25x missed"},
		{"median kept", row{P50: 499}.medianGoal(500 * time.Millisecond), "500 ms met"},
		{"median broken", row{P50: 500}.medianGoal(500 * time.Millisecond), "500 ms missed"},
		{"median of nothing", row{}.medianGoal(500 * time.Millisecond), "500 ms missed"},
		{"value kept", row{Value: 79.9, Unit: "MB"}.valueGoal(80), "80.0 MB met"},
		{"value broken", row{Value: 80, Unit: "MB"}.valueGoal(80), "80.0 MB missed"},
		{"value reached", row{Value: 3, Unit: "x"}.valueAtLeast(3), "at least 3.00x met"},
		{"value not reached", row{Value: 2.9, Unit: "x"}.valueAtLeast(3), "at least 3.00x missed"},
		{"nothing reached", row{Unit: "x"}.valueAtLeast(3), "at least 3.00x missed"},
	} {
		if got := c.row.Goal.String(); got != c.want {
			t.Errorf("%s: goal is %q, want %q", c.what, got, c.want)
		}
	}
}

func TestReport(t *testing.T) {
	r := report{Date: time.Unix(0, 0), Machine: machine{OS: "linux", Arch: "amd64", Cores: 2, Go: "go1.26"}}
	bare := timed("bare", sample{2 * time.Millisecond})
	r.set(&figure{Name: "issue", Title: "stale"})
	r.set(&figure{Name: "idle", Title: "Idle", Rows: []row{{What: "memory", N: 1, Value: 34.56, Unit: "MB"}}})
	r.set(&figure{Name: "issue", Title: "Issue", Rows: []row{bare, timed("ours", sample{3 * time.Millisecond}).over(bare).ratioGoal(1.25)}})

	var table, text bytes.Buffer
	if err := r.writeTable(&table); err != nil {
		t.Fatal(err)
	}
	want := `
vimbroker figures of 1970-01-01 00:00 UTC, one run: 2 cores, linux/amd64, go1.26, load 0.0 before and 0.0 after

Issue
          n  p50 ms  p99 ms  per s  ratio  value          goal
  bare    1    2.00    2.00                                   
  ours    1    3.00    3.00         1.50x         1.25x missed

Idle
          n  p50 ms  p99 ms  per s  ratio    value  goal
  memory  1                                34.6 MB      
`
	if diff := cmp.Diff(want, table.String()); diff != "" {
		t.Errorf("table (-want +got):\n%s", diff)
	}
	if err := r.writeJSON(&text); err != nil {
		t.Fatal(err)
	}
	var back report
	if err := json.Unmarshal(text.Bytes(), &back); err != nil {
		t.Fatal(err)
	}
	if len(back.Figures) != 2 || back.Figures[0].Rows[1].Ratio != 1.5 || back.Figures[0].Rows[1].Goal.Met {
		t.Errorf("JSON tells another story: %s", text.String())
	}
}
