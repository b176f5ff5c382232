// Package outcome compares all that a test has brought about with a golden file, so that a test notices what it does not
// look for: its bench notes what is asked of it, and what stands at the end.
//
//	go test ./lifecycle -run '^TestTwoClusters$' -update
//
// A golden file has a test's name. What differs from run to run is numbered in the order in which it comes.
package outcome

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"log/slog"
	"maps"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/broker/secret"
	"github.com/vimbroker/vimbroker/test/golden"
)

// Outcome is what one bench of a test has brought about.
type Outcome struct {
	begin time.Time

	mu     sync.Mutex
	lines  []string
	beside []string
	none   bool
	ended  bool
}

// tests are the outcomes of tests that have not ended, by name.
var tests = struct {
	sync.Mutex
	of map[string][]*Outcome
}{of: map[string][]*Outcome{}}

// Of begins the outcome of a bench. When the test ends, while what the bench opened before is still open, last notes what
// stands then, and the outcome is compared. Times are shown from begin on.
func Of(t *testing.T, begin time.Time, last func(*Outcome)) *Outcome {
	o, name := &Outcome{begin: begin}, t.Name()
	tests.Lock()
	defer tests.Unlock()
	if tests.of[name] == nil {
		t.Cleanup(func() { compare(t) })
	}
	tests.of[name] = append(tests.of[name], o)
	t.Cleanup(func() {
		if !t.Failed() && !t.Skipped() && !o.ended {
			last(o)
			o.ended = true
		}
	})
	return o
}

// Sorted ranges over a map in the order of its keys, for the outcome to be the same each time.
func Sorted[V any](all map[string]V) iter.Seq2[string, V] {
	return func(yield func(string, V) bool) {
		for _, key := range slices.Sorted(maps.Keys(all)) {
			if !yield(key, all[key]) {
				return
			}
		}
	}
}

// Last is the newest outcome of a test; nil if it has none, on which nothing is noted.
func Last(t testing.TB) *Outcome {
	tests.Lock()
	defer tests.Unlock()
	all := tests.of[t.Name()]
	if len(all) == 0 {
		return nil
	}
	return all[len(all)-1]
}

// Beside says that what is noted with these first words comes from work side by side: its order then says nothing.
func (o *Outcome) Beside(words ...string) {
	if o == nil {
		return
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	o.beside = words
}

// None leaves the outcome out: it is not the same in each run, or too large to read.
func (o *Outcome) None() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.none = true
}

// Note notes something that happens.
func (o *Outcome) Note(what string, values ...any) {
	if o == nil {
		return
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.ended || o.none {
		return
	}
	for _, v := range values {
		what += " " + o.shown(reflect.ValueOf(v))
	}
	o.lines = append(o.lines, what)
}

// Rows notes rows that a store lists in no order that holds: their ids are numbered by what was noted before.
func Rows[R any](o *Outcome, what string, all []R) {
	o.mu.Lock()
	known, none := "", o.none
	if !none {
		known = o.text()
	}
	o.mu.Unlock()
	if none {
		return
	}
	type row struct{ text, plain string }
	var found []row
	for _, one := range all {
		text := what + " " + o.shown(reflect.ValueOf(one))
		found = append(found, row{text, lastOf(plain(known + text))})
	}
	slices.SortFunc(found, func(a, b row) int { return strings.Compare(a.plain, b.plain) })
	for _, r := range found {
		o.Note(r.text)
	}
}

func lastOf(text string) string { return text[strings.LastIndexByte(text, '\n')+1:] }

// text is the lines. Of work side by side, those of one kind that follow one another are in the order of their words.
func (o *Outcome) text() string {
	lines := slices.Clone(o.lines)
	for from := 0; from < len(lines); {
		to := from
		for to < len(lines) && slices.Contains(o.beside, kind(lines[to])) {
			to++
		}
		slices.SortStableFunc(lines[from:to], func(a, b string) int { return strings.Compare(nameless(a), nameless(b)) })
		from = to + 1
	}
	return strings.Join(lines, "\n") + "\n"
}

func kind(line string) string { word, _, _ := strings.Cut(line, " "); return word }

var (
	names = regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}(-[A-Za-z0-9._]+-[0-9a-f]{8}\b)?`)
	sums  = regexp.MustCompile(`\b[0-9a-f]{32,64}\b`)
)

func nameless(text string) string { return names.ReplaceAllString(text, "#") }

// plain numbers ids in the order in which they come.
func plain(text string) string {
	known := map[string]int{}
	text = names.ReplaceAllStringFunc(text, func(id string) string {
		if known[id] == 0 {
			known[id] = len(known) + 1
		}
		return fmt.Sprintf("#%d", known[id])
	})
	return sums.ReplaceAllString(text, "<sum>")
}

// compare compares the outcomes of a test. Those of a loop over a map come in any order.
func compare(t *testing.T) {
	t.Helper()
	tests.Lock()
	all := tests.of[t.Name()]
	delete(tests.of, t.Name())
	tests.Unlock()
	if t.Failed() || t.Skipped() {
		return
	}
	var blocks []string
	for _, o := range all {
		if !o.none {
			blocks = append(blocks, plain(o.text()))
		}
	}
	if len(blocks) == 0 {
		return
	}
	slices.Sort(blocks)
	golden.Compare(t, filepath.Join("testdata", "outcomes", strings.ReplaceAll(t.Name(), "/", ".")+".txt"), strings.Join(blocks, "\n"))
}

// shown is a value with all that is set in it.
func (o *Outcome) shown(v reflect.Value) string {
	if !v.IsValid() {
		return "nil"
	}
	if v.CanInterface() {
		switch at := v.Interface().(type) {
		case secret.Text:
			return fmt.Sprintf("%q", at.Reveal())
		case time.Time:
			return "T+" + at.Sub(o.begin).String()
		case time.Duration:
			return at.String()
		case json.RawMessage:
			return string(at)
		case *broker.Error:
			return o.shown(reflect.ValueOf(*at))
		case error:
			if known, is := errors.AsType[*broker.Error](at); is {
				return fmt.Sprintf("%q of %s", at, o.shown(reflect.ValueOf(known)))
			}
			return fmt.Sprintf("%q", at)
		}
	}
	switch v.Kind() {
	case reflect.Pointer, reflect.Interface:
		return o.shown(v.Elem())
	case reflect.String:
		if s := v.String(); s == "" || strings.ContainsAny(s, " \n\"") {
			return fmt.Sprintf("%q", s)
		}
		return v.String()
	case reflect.Func, reflect.Chan:
		return v.Kind().String()
	case reflect.Slice, reflect.Array:
		var all []string
		for i := range v.Len() {
			all = append(all, o.shown(v.Index(i)))
		}
		return "[" + strings.Join(all, " ") + "]"
	case reflect.Map:
		var all []string
		for _, key := range v.MapKeys() {
			all = append(all, o.shown(key)+":"+o.shown(v.MapIndex(key)))
		}
		slices.Sort(all)
		return "[" + strings.Join(all, " ") + "]"
	case reflect.Struct:
		var all []string
		for i := range v.NumField() {
			if f := v.Type().Field(i); f.IsExported() && !v.Field(i).IsZero() {
				all = append(all, f.Name+":"+o.shown(v.Field(i)))
			}
		}
		return "{" + strings.Join(all, " ") + "}"
	}
	return fmt.Sprint(v)
}

// Log is a handler that notes the lines of a log.
func (o *Outcome) Log() slog.Handler { return handler{Handler: slog.DiscardHandler, o: o} }

type handler struct {
	slog.Handler
	o *Outcome
}

func (h handler) Enabled(_ context.Context, l slog.Level) bool { return l >= slog.LevelInfo }

func (h handler) Handle(_ context.Context, r slog.Record) error {
	line := "log " + r.Level.String() + " " + r.Message
	r.Attrs(func(a slog.Attr) bool {
		line += " " + a.Key + "=" + h.o.shown(reflect.ValueOf(a.Value.Any()))
		return true
	})
	h.o.Note(line)
	return nil
}
