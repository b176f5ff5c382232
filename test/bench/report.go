package bench

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"
)

// report is what one run found.
type report struct {
	Date    time.Time `json:"date"`
	Machine machine   `json:"machine"`
	Figures []*figure `json:"figures"`
}

// machine is where it was measured.
type machine struct {
	OS    string `json:"os"`
	Arch  string `json:"arch"`
	Cores int    `json:"cores"`
	Go    string `json:"go"`
	// LoadBefore and LoadAfter are the system's one-minute load averages: above
	// the number of cores others were at work too. Zero where they are not known.
	LoadBefore float64 `json:"loadBefore"`
	LoadAfter  float64 `json:"loadAfter"`
}

// figure is one question, and a row for each thing that was measured to answer it.
type figure struct {
	Name  string `json:"name"`
	Title string `json:"title"`
	Rows  []row  `json:"rows"`
}

// row is one measurement. What is zero was not measured or does not apply.
type row struct {
	What string `json:"what"`
	// N is how many calls, starts or seconds the row rests on.
	N int `json:"n"`
	// P50 and P99 are in milliseconds.
	P50 float64 `json:"p50Ms,omitempty"`
	P99 float64 `json:"p99Ms,omitempty"`
	// PerSecond is the throughput of all clients together.
	PerSecond float64 `json:"perSecond,omitempty"`
	// Ratio is P50 over that of the figure's row Base; where both names end in
	// "p99", it is P99 over P99.
	Ratio float64 `json:"ratio,omitempty"`
	Base  string  `json:"base,omitempty"`
	// Value is what is no time of a call, in Unit.
	Value float64 `json:"value,omitempty"`
	Unit  string  `json:"unit,omitempty"`
	Goal  *goal   `json:"goal,omitempty"`
}

// goal is the bound that was set on a row's ratio, median or value.
type goal struct {
	AtMost float64 `json:"atMost,omitempty"`
	// AtLeast is the bound where more is better.
	AtLeast float64 `json:"atLeast,omitempty"`
	Unit    string  `json:"unit"`
	Met     bool    `json:"met"`
}

// timed is the row of a sample.
func timed(what string, s sample) row {
	return row{What: what, N: len(s), P50: millis(s.median()), P99: millis(s.percentile(99))}
}

// over adds the ratio to another row of the figure.
func (r row) over(base row) row {
	r.Base = base.What
	if base.P50 > 0 {
		r.Ratio = r.P50 / base.P50
	}
	return r
}

// tailOver is a row of its own for the ratio of the 99th percentiles.
func (r row) tailOver(base row) row {
	tail := row{What: r.What + ", p99", N: r.N, Base: base.What + ", p99"}
	if base.P99 > 0 {
		tail.Ratio = r.P99 / base.P99
	}
	return tail
}

func (r row) ratioGoal(atMost float64) row {
	r.Goal = &goal{AtMost: atMost, Unit: "x", Met: r.Ratio > 0 && r.Ratio <= atMost}
	return r
}

func (r row) medianGoal(atMost time.Duration) row {
	r.Goal = &goal{AtMost: millis(atMost), Unit: "ms", Met: r.P50 > 0 && r.P50 < millis(atMost)}
	return r
}

func (r row) valueGoal(atMost float64) row {
	r.Goal = &goal{AtMost: atMost, Unit: r.Unit, Met: r.Value > 0 && r.Value < atMost}
	return r
}

func (r row) valueAtLeast(bound float64) row {
	r.Goal = &goal{AtLeast: bound, Unit: r.Unit, Met: r.Value >= bound}
	return r
}

// set puts a figure in the place of the one of that name, or at the end.
func (r *report) set(f *figure) {
	for i, old := range r.Figures {
		if old.Name == f.Name {
			r.Figures[i] = f
			return
		}
	}
	r.Figures = append(r.Figures, f)
}

func (r *report) writeJSON(w io.Writer) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	if err := e.Encode(r); err != nil {
		return fmt.Errorf("writing figures: %w", err)
	}
	return nil
}

// writeTable writes the figures for people.
func (r *report) writeTable(w io.Writer) error {
	var text strings.Builder
	m := r.Machine
	fmt.Fprintf(&text, "\nvimbroker figures of %s, one run: %d cores, %s/%s, %s, load %.1f before and %.1f after\n",
		r.Date.UTC().Format("2006-01-02 15:04 MST"), m.Cores, m.OS, m.Arch, m.Go, m.LoadBefore, m.LoadAfter)
	table := tabwriter.NewWriter(&text, 0, 0, 2, ' ', tabwriter.AlignRight)
	width := 0
	for _, f := range r.Figures {
		for _, row := range f.Rows {
			width = max(width, len(row.What))
		}
	}
	for _, f := range r.Figures {
		fmt.Fprintf(&text, "\n%s\n", f.Title)
		fmt.Fprintf(table, "%-*s\tn\tp50 ms\tp99 ms\tper s\tratio\tvalue\tgoal\t\n", width, "")
		for _, row := range f.Rows {
			fmt.Fprintf(table, "%-*s\t%d\t%s\t%s\t%s\t%s\t%s\t%s\t\n", width, row.What, row.N, number(row.P50), number(row.P99),
				number(row.PerSecond), withUnit(row.Ratio, "x"), withUnit(row.Value, row.Unit), row.Goal)
		}
		if err := table.Flush(); err != nil {
			return fmt.Errorf("writing figures: %w", err)
		}
	}
	if _, err := io.WriteString(w, text.String()); err != nil {
		return fmt.Errorf("writing figures: %w", err)
	}
	return nil
}

// String says the bound and whether it was kept.
func (g *goal) String() string {
	if g == nil {
		return ""
	}
	verdict := "missed"
	if g.Met {
		verdict = "met"
	}
	if g.AtLeast > 0 {
		return "at least " + withUnit(g.AtLeast, g.Unit) + " " + verdict
	}
	return withUnit(g.AtMost, g.Unit) + " " + verdict
}

// number writes three significant digits, and nothing for zero.
func number(v float64) string {
	if v == 0 {
		return ""
	}
	digits := 2 - int(math.Floor(math.Log10(math.Abs(v))))
	return strconv.FormatFloat(v, 'f', min(max(digits, 0), 4), 64)
}

func withUnit(v float64, unit string) string {
	switch {
	case v == 0:
		return ""
	case unit == "x":
		return number(v) + unit
	}
	return number(v) + " " + unit
}

func millis(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }
