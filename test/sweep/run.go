package sweep

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/vimbroker/vimbroker/test/fake"
	"github.com/vimbroker/vimbroker/test/golden"
)

// Run sweeps flows, each as a test of its own. The first meets all faults, the others those that are not [alike].
func (s *Suite) Run(t *testing.T, flows ...Flow) {
	t.Helper()
	defer debug.SetGCPercent(debug.SetGCPercent(800)) // little is kept
	used := make([]bool, len(s.Exceptions))
	skip := s.Skip
	for i, f := range flows {
		if i > 0 {
			s.Skip = slices.Concat(skip, alike)
		}
		t.Run(f.Name, func(t *testing.T) { s.sweep(t, f, used) })
	}
	s.Skip = skip
	for i, e := range s.Exceptions {
		if !used[i] && e.Flow != "" && slices.ContainsFunc(flows, func(f Flow) bool { return matches(e.Flow, f.Name) }) && !t.Failed() {
			t.Errorf("the exception %+v is none: take it away", e)
		}
	}
}

// sound is a run without a fault.
type sound struct {
	requests      []string
	answer        string
	before, stand []string
}

func (s *Suite) sweep(t *testing.T, f Flow, used []bool) {
	t.Helper()
	ref, golden := s.reference(t, f), &strings.Builder{}
	if second := s.reference(t, f); fmt.Sprint(ref) != fmt.Sprint(second) {
		t.Fatalf("two runs differ:\n%+v\n%+v", ref, second)
	}
	fmt.Fprintf(golden, "answer %s\n", ref.answer)
	for _, d := range differences(ref.before, ref.stand) {
		fmt.Fprintf(golden, "stands %s\n", d)
	}
	seen, met := map[string]int{}, false
	for i, request := range ref.requests {
		seen[request]++
		fmt.Fprintf(golden, "\n%s\n", request)
		c := attempt{Suite: s, t: t, flow: f, ref: ref, request: request, nth: seen[request], used: used, wrong: map[string][]string{}}
		var altered []string
		if f.Statuses != "" && matches(f.Statuses, request) {
			altered = append(altered, c.statuses()...)
		}
		if f.Fields != "" && matches(f.Fields, request) {
			altered = append(altered, c.fields()...)
		}
		c.tell()
		for _, line := range altered {
			fmt.Fprintf(golden, "\t%s\n", line)
		}
		if !matches(f.Only, request) {
			continue
		}
		if f.Alike != "" && matches(f.Alike, request) {
			if met {
				continue
			}
			met = true
		}
		var came []string // outcomes in their order, and by which faults
		by, wrong := map[string][]string{}, map[string][]string{}
		for _, fault := range Faults {
			if slices.Contains(s.Skip, fault.Name) || fault.Writes && reads(request) ||
				fault.On && (f.beside(ref.requests, i) || i == len(ref.requests)-1) {
				continue
			}
			c := attempt{Suite: s, t: t, flow: f, ref: ref, request: request, nth: seen[request], fault: fault, used: used, wrong: wrong}
			if outcome := c.run(); outcome != "" {
				if by[outcome] == nil {
					came = append(came, outcome)
				}
				by[outcome] = append(by[outcome], fault.Name)
			}
		}
		(&attempt{t: t, request: request, wrong: wrong}).tell()
		for _, outcome := range came {
			fmt.Fprintf(golden, "\t%s: %s\n", strings.Join(by[outcome], ", "), outcome)
		}
	}
	compare(t, filepath.Join("testdata", "sweep", f.Name+".txt"), golden.String())
}

// beside reports whether others may come while a request does: what comes after it is not always the same.
func (f *Flow) beside(all []string, at int) bool {
	side := func(i int) bool { return f.Beside != "" && i >= 0 && i < len(all) && matches(f.Beside, all[i]) }
	return side(at) && (side(at-1) || side(at+1))
}

func reads(request string) bool {
	return matches(`^(\w+ )?(GET|HEAD) `, request)
}

func compare(t *testing.T, file, text string) {
	t.Helper()
	if golden.Updating() {
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if d := differences(strings.Split(string(want), "\n"), strings.Split(text, "\n")); len(d) > 0 {
		t.Errorf("not as %s says (-update writes it):\n%s", file, strings.Join(d, "\n"))
	}
}

// differences are the lines that only one of two lists has.
func differences(before, after []string) (out []string) {
	count := map[string]int{}
	for _, line := range before {
		count[line]--
	}
	for _, line := range after {
		count[line]++
	}
	for _, line := range before {
		if count[line] < 0 {
			count[line]++
			out = append(out, "- "+line)
		}
	}
	for _, line := range after {
		if count[line] > 0 {
			count[line]--
			out = append(out, "+ "+line)
		}
	}
	return out
}

// scope is a part of a test whose cleanups come at its end.
type scope struct {
	testing.TB
	cleanups []func()
}

// Cleanup implements [testing.TB].
func (s *scope) Cleanup(f func()) { s.cleanups = append(s.cleanups, f) }

func (s *scope) end() {
	for _, f := range slices.Backward(s.cleanups) {
		f()
	}
}

func (s *Suite) reference(t *testing.T, f Flow) sound {
	t.Helper()
	in := &scope{TB: t}
	defer in.end()
	b := f.New(in)
	ref := sound{before: s.standing(b)}
	record := s.watch(b, "", 0, nil)
	ctx, cancel := context.WithTimeout(t.Context(), most)
	defer cancel()
	answer, err := b.Run(ctx)
	ref.requests = record.end(b, f.Beside)
	if err != nil {
		t.Fatalf("without a fault: %v", err)
	}
	ref.answer, ref.stand = s.plain(b, fmt.Sprint(answer)), s.standing(b)
	if len(ref.requests) == 0 {
		t.Fatal("it asks nothing")
	}
	if b.Undo != nil {
		if err := b.Undo(ctx); err != nil {
			t.Fatalf("taking it back: %v", err)
		}
		if d := differences(ref.before, s.standing(b)); len(d) > 0 {
			t.Fatalf("taken back, it leaves %q", d)
		}
	}
	return ref
}

// unchanged are lines that have nothing to be named, as what stands on each fake from the beginning.
var unchanged sync.Map

func (s *Suite) standing(b *Bench) (lines []string) {
	for _, line := range b.Standing() {
		if _, same := unchanged.Load(line); same {
			lines = append(lines, line)
			continue
		}
		plain := s.plain(b, line)
		if plain == line {
			unchanged.Store(line, true)
		}
		lines = append(lines, plain)
	}
	slices.Sort(lines)
	return lines
}

// attempt is one fault at one request.
type attempt struct {
	*Suite
	t       *testing.T
	flow    Flow
	ref     sound
	request string
	nth     int
	fault   Fault
	used    []bool
	wrong   map[string][]string // what is wrong: with which faults
	// secrets came with the requests of the call that failed.
	secrets []string
}

// tell fails the test with all that is wrong.
func (c *attempt) tell() {
	c.t.Helper()
	for _, what := range slices.Sorted(maps.Keys(c.wrong)) {
		c.t.Errorf("%.150s: %s: %s", c.request, strings.Join(c.wrong[what], ", "), what)
	}
}

func (c *attempt) errorf(format string, args ...any) {
	what := fmt.Sprintf(format, args...)
	if !slices.Contains(c.wrong[what], c.fault.Name) {
		c.wrong[what] = append(c.wrong[what], c.fault.Name)
	}
}

// run has the call fail, and calls it again, or takes it back. It returns what came of it; nothing where the fault did not
// apply.
func (c *attempt) run() string {
	in := &scope{TB: c.t}
	defer in.end()
	e := c.exception()
	if e.Untried {
		return ""
	}
	b, answer, err, applied := c.hit(in)
	if !applied {
		return ""
	}
	outcome := c.judge(b, e, answer, err)
	began := len(differences(c.ref.before, c.standing(b))) > 0
	switch {
	case err == nil:
	case reads(c.request) && c.fault.Name != "503" && c.fault.Name != "down" && !e.Left:
		return outcome // the call again is one of those after another fault
	default:
		outcome += c.again(b, e)
	}
	if left := differences(c.ref.stand, c.standing(b)); len(left) > 0 {
		if !e.Left && e.Again == nil {
			c.errorf("in the end, what stands differs by %q", left)
		}
		outcome += fmt.Sprintf("; then stands %q", left)
	}
	if b.Undo != nil && began {
		c.undo()
	}
	return outcome
}

// again calls once more, and returns what is to be told of that.
func (c *attempt) again(b *Bench, e Exception) string {
	ctx, cancel := context.WithTimeout(c.t.Context(), most)
	defer cancel()
	if b.Later != nil {
		b.Later()
	}
	again, err := b.Run(ctx)
	c.quiet(b, err)
	switch answer := c.plain(b, fmt.Sprint(again)); {
	case err != nil && (e.Again == nil || !errors.Is(err, e.Again)):
		c.errorf("the call again = %v, want no error", err)
	case err == nil && e.Again != nil:
		c.errorf("the call again succeeds, want %v", e.Again)
	case err != nil:
		return "; again " + c.named(b, err)
	case !e.Left && answer != c.ref.answer:
		c.errorf("the call again answers %s, want %s", answer, c.ref.answer)
	case answer != c.ref.answer:
		return "; again answer " + answer
	}
	return ""
}

// hit makes a bench, and runs the flow with the fault.
func (c *attempt) hit(in *scope) (b *Bench, answer string, err error, applied bool) {
	b = c.flow.New(in)
	record := c.watch(b, c.request, c.nth, &c.fault)
	ctx, cancel := context.WithTimeout(c.t.Context(), most)
	defer cancel()
	said, err := b.Run(ctx)
	record.end(b, "")
	c.secrets = record.secrets
	if !record.hit {
		c.errorf("the request did not come")
	}
	return b, c.plain(b, fmt.Sprint(said)), err, record.hit && !record.mute
}

// undo takes back what a call with the fault has made.
func (c *attempt) undo() {
	in := &scope{TB: c.t}
	defer in.end()
	b, _, _, _ := c.hit(in)
	if b.Later != nil {
		b.Later()
	}
	ctx, cancel := context.WithTimeout(c.t.Context(), most)
	defer cancel()
	if err := b.Undo(ctx); err != nil {
		c.errorf("taking it back = %v", err)
	}
	if d := differences(c.ref.before, c.standing(b)); len(d) > 0 {
		c.errorf("taken back, it leaves %q", d)
	}
}

var compiled sync.Map

// matches reports whether a text matches an expression of a table.
func matches(pattern, text string) bool {
	if pattern == "" {
		return true
	}
	e, ok := compiled.Load(pattern)
	if !ok {
		e, _ = compiled.LoadOrStore(pattern, regexp.MustCompile(pattern))
	}
	return e.(*regexp.Regexp).MatchString(text)
}

func (c *attempt) exception() Exception {
	want := c.Want[c.fault.Name]
	if want == nil {
		c.t.Fatalf("the suite says nothing of %s", c.fault.Name)
	}
	for i, e := range c.Exceptions {
		if (e.Nth == 0 || e.Nth == c.nth) && matches(e.Flow, c.flow.Name) && matches(e.Request, c.request) && matches(e.Fault, c.fault.Name) {
			c.used[i] = true
			if e.Usual {
				e.Want = want
			}
			return e
		}
	}
	return Exception{Want: want}
}

// judge holds what the call has said against what it should.
func (c *attempt) judge(b *Bench, e Exception, answer string, err error) string {
	c.quiet(b, err)
	switch {
	case err != nil && (e.Want == nil || !c.is(err, e.Want)):
		c.errorf("%s, want %v", c.named(b, err), e.Want)
	case err != nil:
		if flaw := c.Form(err); flaw != "" && !e.Bare {
			c.errorf("%v: %s", err, flaw)
		}
	case e.Want != nil:
		c.errorf("success, want %v", e.Want)
	case answer != c.ref.answer && !e.Differs:
		c.errorf("success that answers %s, want %s", answer, c.ref.answer)
	case answer != c.ref.answer:
		return "answer " + answer
	}
	if err != nil {
		return c.named(b, err)
	}
	return "ok"
}

// named is an error with its kind.
func (c *attempt) named(b *Bench, err error) string {
	return c.plain(b, fmt.Sprintf("%s: %v", c.kindOf(err), err))
}

// kindOf is the first of the suite's that an error is of.
func (s *Suite) kindOf(err error) error {
	for _, k := range s.Kinds {
		if errors.Is(err, k) {
			return k
		}
	}
	return Unkind
}

func (s *Suite) is(err, kind error) bool { return errors.Is(err, kind) || s.kindOf(err) == kind }

// quiet holds an error, all that is below it, and the log against the secrets.
func (c *attempt) quiet(b *Bench, err error) {
	var text strings.Builder
	var walk func(error)
	walk = func(err error) {
		if err == nil {
			return
		}
		fmt.Fprintf(&text, "%v %+v %#v\n", err, err, err)
		switch e := err.(type) {
		case interface{ Unwrap() []error }:
			for _, cause := range e.Unwrap() {
				walk(cause)
			}
		case interface{ Unwrap() error }:
			walk(e.Unwrap())
		}
	}
	walk(err)
	if b.Log != nil {
		text.WriteString(b.Log())
	}
	for _, s := range slices.Concat(b.Secrets(), c.secrets, []string{fake.Canary}) {
		if len(s) > 3 && strings.Contains(text.String(), s) {
			c.errorf("an error or the log holds a secret (%d characters)", len(s))
		}
	}
}
