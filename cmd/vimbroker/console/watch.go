package console

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	v1 "github.com/vimbroker/vimbroker/broker/api/v1"
)

// watchEvery is how often a watched list is asked for, and a wait looks again.
const watchEvery = time.Second

// sayEvery is how often a wait that nothing happens in says that it goes on.
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

// PrintList prints a list, and with Watch what changes in it until the context ends.
func PrintList[T any](ctx context.Context, p *Console, l Listing[T]) error {
	items, err := l.List()
	if err != nil {
		return err
	}
	table := func(items []T) func(io.Writer) {
		return func(w io.Writer) { l.Table(w, items) }
	}
	if err := p.Print(v1.List[T]{Items: items}, table(items)); err != nil || !l.Watch {
		return err
	}
	p.NoHeaders = true
	seen := map[string]string{}
	for {
		var changed []T
		now := map[string]string{}
		for _, item := range items {
			var text bytes.Buffer
			if err := v1.Encode(&text, item); err != nil {
				return err
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
		if first := len(seen) == 0; !first && len(changed) > 0 {
			if err := p.Print(v1.List[T]{Items: changed}, table(changed)); err != nil {
				return err
			}
		}
		seen = now
		select {
		case <-ctx.Done():
			return nil // the person has seen enough
		case <-p.After(watchEvery):
		}
		if items, err = l.List(); err != nil {
			if ctx.Err() != nil {
				return nil
			}
			return err
		}
	}
}

// Await asks again and again until it is so, or until the context ends. It says on
// standard error what it waits for, at once and then now and again. now is what
// there is to say of the state, and may be empty.
func (p *Console) Await(ctx context.Context, what string, done func() (so bool, now string, err error)) error {
	began := p.Now()
	var said time.Time
	var last string
	for {
		so, now, err := done()
		if so || err != nil {
			return err
		}
		if said.IsZero() || now != last || p.Now().Sub(said) >= sayEvery {
			said, last = p.Now(), now
			state := ""
			if now != "" {
				state = "; now: " + now
			}
			p.Warn("waiting until %s (%s so far)%s", what, brief(p.Now().Sub(began)), state)
		}
		select {
		case <-p.After(watchEvery):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// Pause waits until it is time to look again.
func (p *Console) Pause(ctx context.Context) error {
	select {
	case <-p.After(watchEvery):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// table writes cells divided by tabs.
func (p *Console) table(write func(io.Writer)) error {
	w := tabwriter.NewWriter(p.Out, 0, 0, 2, ' ', 0)
	write(w)
	return w.Flush()
}

// maxCell is how much of others' words a table shows that is not wide.
const maxCell = 24

// Cut shortens a cell, but not in a wide table.
func (p *Console) Cut(s string) string {
	if p.Wide() || len([]rune(s)) <= maxCell {
		return s
	}
	return string([]rune(s)[:maxCell-1]) + "…"
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
