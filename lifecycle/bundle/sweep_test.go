package bundle_test

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/lifecycle"
	"github.com/vimbroker/vimbroker/lifecycle/bundle"
	"github.com/vimbroker/vimbroker/policy/audit"
	"github.com/vimbroker/vimbroker/test/faults"
	"github.com/vimbroker/vimbroker/test/golden"
)

// looked is a store whose operations have ended by the time that they are looked at.
type looked struct{ *store }

func (l looked) Operations(ctx context.Context, f lifecycle.OperationFilter) ([]lifecycle.Operation, string, error) {
	l.look(byWorker(context.WithoutCancel(ctx)))
	return l.store.Operations(ctx, f)
}

func (l looked) Instance(ctx context.Context, id string) (lifecycle.Instance, error) {
	l.look(byWorker(context.WithoutCancel(ctx)))
	return l.store.Instance(ctx, id)
}

// attempt is a call at an instance of its own.
type attempt struct {
	*bench
	id string
	r  bundle.Request
	// seq and logged are how far the entries and the log went before it.
	seq    int64
	logged int
}

// Of the steps one fails, or one and all that follow.
var both, alone = []string{"alone", "and the rest"}, []string{"alone"}

// swept are calls whose steps fail in turn, each with what there is before.
var swept = []struct {
	name  string
	given func(*attempt)
	// modes are those in which its steps fail.
	modes []string
	do    func(*attempt) error
}{
	{"create", nil, both, func(a *attempt) error {
		_, err := a.CreateInstance(a.t.Context(), alice, a.r)
		return err
	}},
	{"move", (*attempt).instance, alone, func(a *attempt) error { return a.upgrade(far) }},
	{"delete", (*attempt).configured, alone, func(a *attempt) error { return a.DeleteInstance(a.t.Context(), alice, a.id) }},
	{"configure again", (*attempt).configured, alone, func(a *attempt) error { return a.configure("Con_1") }},
	{"configure what was cleared", (*attempt).cleared, both, func(a *attempt) error { return a.configure("Con_1") }},
	{"configure in vain", (*attempt).instance, nil, func(a *attempt) error {
		a.yard.fails(lifecycle.Instantiate, refusal(broker.ErrInvalid), nil)
		defer a.yard.fails("", nil, nil)
		return a.configure("")
	}},
	{"clear", (*attempt).configured, alone, func(a *attempt) error {
		_, err := a.ClearConfig(a.t.Context(), alice, a.id, "Con_1")
		return err
	}},
}

func (a *attempt) instance() { a.id = a.made(a.r).ID }

func (a *attempt) configured() {
	a.instance()
	a.keep(a.id, "", bundle.Configuration{Template: "t", Values: values("x")})
}

func (a *attempt) cleared() {
	a.configured()
	_, err := a.ClearConfig(a.t.Context(), alice, a.id, "Con_1")
	a.ok(err)
}

func (a *attempt) upgrade(change func(*bundle.Request)) error {
	r := a.r
	change(&r)
	_, err := a.UpgradeInstance(a.t.Context(), alice, a.id, r)
	return err
}

func (a *attempt) configure(name string) error {
	c := bundle.Configuration{Template: "t", Values: values("y")}
	if name == "" {
		c.Name = "Con_1"
	}
	_, err := a.KeepConfig(a.t.Context(), alice, a.id, name, c)
	return err
}

var leftID = regexp.MustCompile(`\b[a-z]{8}_[a-z]{8}\b`)

// rows are what is there of an attempt.
func (a *attempt) rows() string {
	a.t.Helper()
	var all []string
	rows := func(f bundle.Filter) {
		f.Project, f.Limit = "core", 500
		found, err := a.store.Store.Bundles(a.t.Context(), f)
		a.ok(err)
		for _, r := range found {
			if strings.Contains(r.Document, `"`+a.r.Release) {
				all = append(all, fmt.Sprintf("%s %s busy %v claim %s of %s", r.Kind, r.State, r.Busy, r.Claim, r.Document))
				a.id = strings.Split(r.Name, "/")[0]
			}
		}
	}
	rows(bundle.Filter{Kind: bundle.OfInstance})
	if a.id != "" {
		rows(bundle.Filter{Kind: bundle.OfConfig, Under: a.id})
	}
	vnfs, _, err := a.store.Store.Instances(a.t.Context(), lifecycle.InstanceFilter{Page: broker.Page{Size: 500}})
	a.ok(err)
	for _, i := range vnfs {
		if i.Shape.Release == a.r.Release || a.id != "" && strings.HasPrefix(i.Name, a.id) {
			all = append(all, fmt.Sprintf("VNF instance %s %s", i.Name, i.State))
		}
	}
	return a.plain(all)
}

func (a *attempt) plain(lines []string) string {
	text := faults.Text(strings.Join(lines, "\n"))
	return strings.ReplaceAll(leftID.ReplaceAllString(text, "<own>"), a.r.Release, "<release>")
}

// since is what was recorded and logged since it was last asked.
func (a *attempt) since() string {
	a.t.Helper()
	entries, err := a.store.Entries(a.t.Context(), audit.Query{Limit: 60})
	a.ok(err)
	var all []string
	for _, e := range entries {
		if e.Seq > a.seq && e.Outcome != audit.Read {
			all = append(all, fmt.Sprintf("%s %s of %s %s", e.Action, e.Outcome, e.Principal, e.Detail[audit.DetailError]))
		}
	}
	slices.Sort(all) // the worker's come beside the caller's
	for line := range strings.Lines(a.log.String()[a.logged:]) {
		if _, said, is := strings.Cut(strings.TrimSpace(line), "level=WARN "); is {
			all = append(all, "log "+said)
		}
	}
	a.seq, a.logged = entries[0].Seq, len(a.log.String())
	return a.plain(all)
}

// TestEachStepThatFails leaves what the pass makes whole again: of each call, each call of the store fails alone.
func TestEachStepThatFails(t *testing.T) {
	b, _ := study(t, func(o *bundle.Options) { o.Store = looked{o.Store.(*store)} })
	var out strings.Builder
	n := 0
	for _, s := range swept {
		var a *attempt
		var before, whole string
		note := func(what, rows string) {
			switch {
			case rows == before:
				rows = "as before"
			case rows == whole:
				rows = "as if nothing had failed"
			}
			fmt.Fprintf(&out, "%s\n%s\n%s\n", what, a.since(), rows)
		}
		try := func(what string, fails func(context.Context, string) error) {
			if a == nil {
				n++
				a = &attempt{bench: b, r: to(func(r *bundle.Request) { r.Release = fmt.Sprintf("r%03d", n) })}
				if s.given != nil {
					s.given(a)
				}
			}
			before = a.rows()
			a.since()
			back := b.store.asks(fails)
			err := s.do(a)
			back()
			b.workAll(byWorker(t.Context()))
			note(fmt.Sprintf("== %s, %s: %s", s.name, what, faults.Text(err)), a.rows())
			if err != nil {
				b.clock.Add(time.Minute)
				settle := func() error { return b.Settle(t.Context(), b.clock.Now()) }
				err = errors.Join(settle(), settle(), settle())
				note("-- after the pass: "+faults.Text(err), a.rows())
			}
			if whole == "" {
				whole = a.rows()
			}
			if a.rows() != before {
				a = nil
			}
		}
		var calls []string
		try("whole", func(_ context.Context, method string) error {
			calls = append(calls, method)
			return nil
		})
		seen := map[string]int{}
		for _, method := range calls {
			if seen[method]++; seen[method] > 4 || method == "Package" || method == "Append" {
				continue
			}
			is := seen[method]
			for _, mode := range s.modes {
				count, down := 0, false
				try(fmt.Sprint(method, " ", is, " ", mode), func(_ context.Context, called string) error {
					if called == method {
						count++
					}
					if hit := called == method && count == is; hit || down {
						down = mode == "and the rest"
						return errDisk
					}
					return nil
				})
			}
		}
	}
	golden.Compare(t, filepath.Join("testdata", "steps.txt"), out.String())
}
