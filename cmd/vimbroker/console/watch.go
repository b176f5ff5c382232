package console

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"time"
	"unicode/utf8"

	"github.com/spf13/cobra"

	v1 "github.com/vimbroker/vimbroker/broker/api/v1"
)

// watchEvery is the interval at which a watched list is requested, and a wait polls.
const watchEvery = time.Second

// sayEvery is the interval at which a quiet wait reports that it still waits.
const sayEvery = 10 * time.Second

// WatchFlag gives a list the -w flag.
func WatchFlag(c *cobra.Command, watch *bool) {
	c.Flags().BoolVarP(watch, "watch", "w", false, "go on, and print what changes, until interrupted")
}

// Listing is a list that can be printed, and watched.
type Listing[T any] struct {
	List  func() ([]T, error)
	Table func(w io.Writer, items []T)
	// ID tells the items apart.
	ID    func(T) string
	Watch bool
}

// Poll looks, and looks again now and then, until look says that it is done or fails, or until the
// context ends.
func (p *Console) Poll(ctx context.Context, look func() (done bool, err error)) error {
	for {
		if done, err := look(); done || err != nil {
			return err
		}
		select {
		case <-p.After(watchEvery):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// PrintList prints a list, and with Watch what changes in it until the context ends.
func PrintList[T any](ctx context.Context, p *Console, l Listing[T]) error {
	if l.Watch {
		p.widths = []int{}
	}
	var seen map[string]string // nil before the first look
	err := p.Poll(ctx, func() (bool, error) {
		items, err := l.List()
		if err != nil {
			return false, err
		}
		changed, now := items[:0:0], map[string]string{}
		for _, item := range items {
			var text bytes.Buffer
			if err := v1.Encode(&text, item); err != nil {
				return false, err
			}
			id := l.ID(item)
			if now[id] = text.String(); seen[id] != now[id] {
				changed = append(changed, item)
			}
		}
		for id := range seen {
			if _, still := now[id]; !still {
				p.Warn("%s is no longer listed", id)
			}
		}
		if seen == nil || len(changed) > 0 {
			if err := p.Print(v1.List[T]{Items: changed}, func(w io.Writer) { l.Table(w, changed) }); err != nil {
				return false, err
			}
		}
		seen = now
		return !l.Watch, nil
	})
	if l.Watch && ctx.Err() != nil {
		return nil // the person has seen enough
	}
	return err
}

// Await polls until the condition holds, or until the context ends. It reports on
// standard error what it waits for, at once and then from time to time. now is the text
// on the present state, and may be empty.
func (p *Console) Await(ctx context.Context, what string, done func() (so bool, now string, err error)) error {
	began := p.Now()
	var said time.Time
	var last string
	return p.Poll(ctx, func() (bool, error) {
		so, now, err := done()
		if so || err != nil {
			return so, err
		}
		if said.IsZero() || now != last || p.Now().Sub(said) >= sayEvery {
			said, last = p.Now(), now
			state := ""
			if now != "" {
				state = "; now: " + now
			}
			p.Warn("waiting until %s (%s so far)%s", what, Brief(p.Now().Sub(began)), state)
		}
		return false, nil
	})
}

// table writes cells divided by tabs. While a list is watched its columns grow and never shrink, so
// that rows align with earlier ones. The names of the columns stand above the first row, and again
// above rows for which a column grew.
func (p *Console) table(write func(io.Writer)) error {
	if p.widths == nil {
		w := tabwriter.NewWriter(p.Out, 0, 0, 2, ' ', 0)
		write(w)
		return w.Flush()
	}
	var rows [][]string
	var text bytes.Buffer
	write(&text)
	for line := range strings.Lines(text.String()) {
		rows = append(rows, strings.Split(strings.TrimSuffix(line, "\n"), "\t"))
	}
	if len(rows) <= 1 && !p.NoHeaders { // no row
		return nil
	}
	grew := false
	for _, cells := range rows {
		for i, cell := range cells[:len(cells)-1] { // nothing stands behind the last
			if i == len(p.widths) {
				p.widths = append(p.widths, 0)
			}
			if width := utf8.RuneCountInString(cell); width > p.widths[i] {
				p.widths[i], grew = width, true
			}
		}
	}
	if !p.NoHeaders && !grew {
		rows = rows[1:]
	}
	for _, cells := range rows {
		last := len(cells) - 1
		for i, cell := range cells[:last] {
			cells[i] = cell + strings.Repeat(" ", p.widths[i]-utf8.RuneCountInString(cell))
		}
		if _, err := fmt.Fprintln(p.Out, strings.Join(cells, "  ")); err != nil {
			return err
		}
	}
	return nil
}

// maxCell bounds others' text in a table that is not wide.
const maxCell = 24

// Cut shortens a cell, but not in a wide table.
func (p *Console) Cut(s string) string { return p.CutTo(s, maxCell) }

// CutTo is Cut to a number of characters.
func (p *Console) CutTo(s string, most int) string {
	if p.Wide() || len([]rune(s)) <= most {
		return s
	}
	return string([]rune(s)[:most-1]) + "…"
}

// Wide reports whether the person wants every column.
func (p *Console) Wide() bool { return p.Output == "wide" }

// ForPeople reports whether a table is asked for, and not a form for programs.
func (p *Console) ForPeople() bool { return p.Output == "table" || p.Wide() }

// Columns writes one row: the cells that are always there, and those of a wide table.
func (p *Console) Columns(w io.Writer, always []string, wide ...string) {
	if p.Wide() {
		always = append(always[:len(always):len(always)], wide...)
	}
	Row(w, always...)
}

// Header is Columns of the names of the columns.
func (p *Console) Header(w io.Writer, always []string, wide ...string) {
	if !p.NoHeaders {
		p.Columns(w, always, wide...)
	}
}

// printNames prints the one word by which programs name each item.
func (p *Console) printNames(value map[string]any) error {
	items, many := value["items"].([]any)
	if !many {
		items = []any{value}
	}
	for _, item := range items {
		fields, _ := item.(map[string]any)
		for _, key := range []string{"name", "id", "vimName", "seq"} {
			if word, ok := fields[key]; ok {
				if _, err := fmt.Fprintln(p.Out, word); err != nil {
					return err
				}
				break
			}
		}
	}
	return nil
}

// overError says that the time which a person gave is over, and not that the server is at fault.
type overError struct {
	flag  string
	after time.Duration
	what  string
}

func (e *overError) Error() string {
	return fmt.Sprintf("the %s of %s are over%s", e.after, e.flag, e.what)
}

// Within runs the part of a command that may last as long as its flag --timeout says. Where that is over, still says what
// had not ended; it is asked in a few seconds more.
func Within(c *cobra.Command, timeout time.Duration, run func(context.Context) error, still func(context.Context) string) error {
	ctx, cancel := context.WithTimeout(c.Context(), timeout)
	defer cancel()
	err := run(ctx)
	if err == nil || ctx.Err() == nil || c.Context().Err() != nil {
		return err
	}
	asking, done := context.WithTimeout(c.Context(), stillPatience)
	defer done()
	over := &overError{flag: "--timeout", after: timeout}
	if what := still(asking); what != "" {
		over.what = ": " + what
	}
	return over
}

// stillPatience bounds asking what had not ended.
const stillPatience = 5 * time.Second
