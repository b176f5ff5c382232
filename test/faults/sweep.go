package faults

import (
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/test/fake"
)

// World is what a bench of a package shows to a sweep.
type World struct {
	// Objects are those that stand on VIMs; Keys those in key stores.
	Objects, Keys func() []string
	// Pass lets that time go by, and more, and runs the passes, as often as it takes until they have nothing to do. Then
	// VIMs are well.
	Pass func(time.Duration) error
	// Secrets stand in no error.
	Secrets []string
}

// Flow is a call that a sweep has fail at each of its steps.
type Flow[B any] struct {
	Name string
	// Given makes what the call is about, and returns what names it.
	Given func(b B) string
	// Do is the call. It is repeated after a failure.
	Do func(b B, given string) (answer any, err error)
	// Now is called right after a call that succeeds: what it answers is to be the same, although a step failed.
	Now func(b B, given string) any
	// Then is called in the end of each run, after the passes: what it answers is compared, too.
	Then func(b B, given string) any
	// Only are the modes in which steps fail; nil: all.
	Only []Mode
	// GoesOn says that the call, which is a pass, does the rest where one thing fails.
	GoesOn bool
	// Fails is the kind of error that Do ends with, also where nothing of the store fails.
	Fails error
	// Kind is what an error may be besides broker.ErrUnavailable.
	Kind error
	// Repeated is the kind of error that says, after a first answer that was lost or after a pass, that all is done.
	Repeated error
	// Meanwhile matches an answer that is none of the reference run, where the call is done by the passes.
	Meanwhile string
	// Leaves matches lines of rows and entries in which the run may differ: they are there besides, or missing.
	Leaves string
	// Varies matches parts of all lines that are another after a call that was repeated.
	Varies string
}

// Kit makes the worlds of a package.
type Kit[B any] struct {
	// New opens one store.
	New func(t *testing.T) B
	// Copies ends the use of a world, and returns what makes copies of it, of which one is used at a time: each opens one
	// store. If it is nil, Given makes each world anew.
	Copies func(b B) (next func(t *testing.T) B)
	World  func(b B) World
}

// Sweep runs flows, each without a fault and then with each of its steps failing: those before anything is written in one
// world, each of the others in a world of its own.
func Sweep[B any](t *testing.T, kit Kit[B], flows ...Flow[B]) {
	t.Helper()
	for _, f := range flows {
		t.Run(f.Name, func(t *testing.T) {
			kit, f := copies(t, kit, f)
			var whole *run
			if !t.Run("whole", func(t *testing.T) { whole = enter(t, kit, f).whole() }) {
				return
			}
			leads := slices.IndexFunc(whole.points, func(p Point) bool { return p.Writes })
			if leads < 0 {
				leads = len(whole.points)
			}
			var apart []int // steps whose failure is none of the call
			t.Run("before it writes", func(t *testing.T) { apart = enter(t, kit, f).leads(whole.points[:leads]) })
			for n, p := range whole.points {
				if n < leads && !slices.Contains(apart, n) {
					continue
				}
				for _, m := range []Mode{Fails, Lost, Down} {
					if f.Only != nil && !slices.Contains(f.Only, m) || m != Fails && !p.Writes || m == Down && n == len(whole.points)-1 {
						continue
					}
					t.Run(fmt.Sprintf("%d %s", n, m), func(t *testing.T) {
						got := enter(t, kit, f).try(n, m, p)
						if problems := f.differs(got, whole); len(problems) > 0 {
							t.Errorf("%s; %s: %v\n%s", p, m, got.err, strings.Join(problems, "\n"))
						}
					})
				}
			}
		})
	}
}

// run is what came of one.
type run struct {
	err           error  // of the first call
	told          bool   // the repeated call says that all is done
	first, answer string // of the first call, and of the last
	now, then     string
	points        []Point
	rows          []string
	objects, keys []string
}

// scene is a flow in a world.
type scene[B any] struct {
	Flow[B]
	t      *testing.T
	bench  B
	given  string
	world  World
	stood  []string // on the VIMs, before the call
	points *Points
}

// copies has the flow's worlds be copies of one, if the kit makes such.
func copies[B any](t *testing.T, kit Kit[B], f Flow[B]) (Kit[B], Flow[B]) {
	t.Helper()
	if kit.Copies == nil {
		return kit, f
	}
	s := enter(t, kit, f)
	kit.New = kit.Copies(s.bench)
	f.Given = func(B) string { return s.given }
	return kit, f
}

func enter[B any](t *testing.T, kit Kit[B], f Flow[B]) *scene[B] {
	t.Helper()
	s := &scene[B]{Flow: f, t: t, points: &Points{}}
	watch(t, s.points, func() { s.bench = kit.New(t) })
	if f.Given != nil {
		s.given = f.Given(s.bench)
	}
	if t.Failed() {
		t.FailNow()
	}
	s.world = kit.World(s.bench)
	s.stood = s.world.Objects()
	return s
}

// whole runs the flow without a fault.
func (s *scene[B]) whole() *run {
	r := s.call(-1, "", Point{})
	if r.err != nil && (s.Fails == nil || !errors.Is(r.err, s.Fails)) || r.err == nil && s.Fails != nil || len(r.points) == 0 {
		s.t.Fatalf("without a fault it answers %v, after %d steps", r.err, len(r.points))
	}
	s.end(r)
	return r
}

// call calls Do, of which step n fails.
func (s *scene[B]) call(n int, m Mode, p Point) *run {
	s.points.arm(n, m, !p.Writes)
	answer, err := s.Do(s.bench, s.given)
	counted, fired := s.points.disarm()
	text := Text(answer)
	r := &run{err: err, first: text, answer: text, points: counted}
	if err == nil && s.Now != nil {
		r.now = Text(s.Now(s.bench, s.given))
	}
	if n < 0 {
		return r
	}
	if !fired {
		s.t.Fatalf("%s is not reached; there are %d steps: %v", p, len(counted), counted)
	}
	if err != nil && !errors.Is(err, broker.ErrUnavailable) && !errors.Is(err, oneOf(s.Kind, s.Fails)) {
		s.t.Errorf("%s; %s: the error is %v, of another kind than it should be", p, m, err)
	}
	for _, secret := range append(s.world.Secrets, fake.Canary) {
		if err != nil && strings.Contains(err.Error(), secret) {
			s.t.Errorf("a secret stands in the error %q", strings.ReplaceAll(err.Error(), secret, "***"))
		}
	}
	return r
}

// oneOf is the first error that is not nil, or one that is none.
func oneOf(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return errNever
}

var errNever = errors.New("no error is this")

// leads has each of the first steps fail: nothing may be another for it. It returns those with which the call succeeds.
func (s *scene[B]) leads(points []Point) []int {
	before, objects := s.rows(), s.stood
	for n, p := range points {
		r := s.call(n, Fails, p)
		if r.err == nil {
			return rest(n, len(points))
		}
		if s.GoesOn && len(less(told(s.rows()), told(before))) > 0 {
			return rest(n, len(points))
		}
		problems := slices.DeleteFunc(append(less(told(s.rows()), told(before)), less(told(before), told(s.rows()))...), defaults.MatchString)
		if len(problems) > 0 || !slices.Equal(objects, s.world.Objects()) {
			s.t.Errorf("%s fails before anything is written: %v\n%s\n%v, not %v", p, r.err, strings.Join(problems, "\n"), s.world.Objects(), objects)
		}
	}
	return nil
}

func rest(from, to int) (all []int) {
	for n := from; n < to; n++ {
		all = append(all, n)
	}
	return all
}

// try has a step fail, repeats the call, and has the passes do what is left.
func (s *scene[B]) try(n int, m Mode, p Point) *run {
	r := s.call(n, m, p)
	s.unnamed()
	for tries, err := 0, r.err; err != nil && (s.Fails == nil || !errors.Is(err, s.Fails)); tries++ {
		if tries > 4 {
			s.t.Errorf("%s; %s: first %v; repeated it answers %v", p, m, r.err, err)
			break
		}
		if tries > 1 { // until a pass has settled what the first call began
			s.pass(0)
		}
		var answer any
		if answer, err = s.Do(s.bench, s.given); err == nil {
			r.answer = Text(answer)
		} else if r.told = (m == Lost || tries > 1) && s.Repeated != nil && errors.Is(err, s.Repeated) && (tries > 2 || !errors.Is(err, broker.ErrConflict)); r.told {
			break
		} else if !errors.Is(err, broker.ErrConflict) && !errors.Is(err, broker.ErrUnavailable) && !errors.Is(err, oneOf(s.Kind, s.Fails)) {
			s.t.Errorf("%s; %s: first %v; repeated it answers %v", p, m, r.err, err)
			break
		}
	}
	s.end(r)
	return r
}

// end runs the passes, and sees what there is then.
func (s *scene[B]) end(r *run) {
	s.pass(0)
	all := s.rows()
	r.rows = told(all)
	l := labelled(all)
	for _, o := range s.world.Objects() {
		r.objects = append(r.objects, l.of(o))
	}
	for _, k := range s.world.Keys() {
		r.keys = append(r.keys, l.of(k))
	}
	if s.Then != nil {
		r.then = Text(s.Then(s.bench, s.given))
	}
	if s.Varies != "" {
		r.blank(regexp.MustCompile(s.Varies))
	}
}

func (s *scene[B]) pass(wait time.Duration) {
	s.t.Helper()
	if err := s.world.Pass(wait); err != nil {
		s.t.Errorf("a pass after the fault: %v", err)
	}
}

func (s *scene[B]) rows() []row {
	all, err := rows(s.points.path)
	if err != nil {
		s.t.Fatal(err)
	}
	return all
}

// unnamed fails where the call has left something on a VIM that no row names.
func (s *scene[B]) unnamed() {
	named := map[string]bool{}
	for _, r := range s.rows() {
		for _, v := range r.of {
			for _, one := range id.FindAllString(v, -1) {
				named[one] = named[one] || r.table != "audit_entries"
			}
		}
	}
	for _, o := range s.world.Objects() {
		for _, one := range id.FindAllString(o, -1) {
			if !named[one] && !slices.Contains(s.stood, o) {
				s.t.Errorf("%s stands on the VIM, and no row names it", o)
			}
		}
	}
}

// blank leaves out what matches.
func (r *run) blank(varies *regexp.Regexp) {
	for _, line := range []*string{&r.first, &r.answer, &r.then} {
		*line = varies.ReplaceAllString(*line, "")
	}
	for _, lines := range [][]string{r.rows, r.objects, r.keys} {
		for i := range lines {
			lines[i] = varies.ReplaceAllString(lines[i], "")
		}
	}
}

// defaults may be left by any failure: intents, ends that say that they failed, and what passes did about it.
var defaults = regexp.MustCompile(`^entry: (intent|failed|denied|read) |^entry: .* by system:`)

// differs compares a run with the one without a fault.
func (f Flow[B]) differs(r, whole *run) (problems []string) {
	matches := func(text, line string) bool { return text != "" && regexp.MustCompile(text).MatchString(line) }
	if r.err == nil && r.first != whole.first && !matches(f.Meanwhile, r.first) {
		problems = append(problems, "it answers "+unlike(r.first, whole.first))
	}
	if r.err != nil && !r.told && r.answer != whole.answer && !matches(f.Meanwhile, r.answer) {
		problems = append(problems, "repeated it answers "+unlike(r.answer, whole.answer))
	}
	if r.err == nil && r.now != whole.now {
		problems = append(problems, "it succeeds, and there is "+unlike(r.now, whole.now))
	}
	if r.then != whole.then {
		problems = append(problems, "in the end there is "+unlike(r.then, whole.then))
	}
	more := slices.DeleteFunc(less(r.rows, whole.rows), func(s string) bool { return defaults.MatchString(s) || matches(f.Leaves, s) })
	fewer := slices.DeleteFunc(less(whole.rows, r.rows), func(s string) bool { return matches(f.Leaves, s) })
	for _, line := range more { // one that is another is told as that
		table, _, _ := strings.Cut(line, ":")
		at := slices.IndexFunc(fewer, func(s string) bool { return strings.HasPrefix(s, table+":") })
		if at < 0 || table == "entry" {
			problems = append(problems, "more: "+line)
			continue
		}
		problems = append(problems, table+": "+unlike(line, fewer[at]))
		fewer = slices.Delete(fewer, at, at+1)
	}
	for what, lines := range map[string][]string{
		"less: ": fewer, "more on the VIM: ": less(r.objects, whole.objects), "less on the VIM: ": less(whole.objects, r.objects),
		"more in the key store: ": less(r.keys, whole.keys), "less in the key store: ": less(whole.keys, r.keys),
	} {
		for _, line := range lines {
			problems = append(problems, what+line)
		}
	}
	return problems
}

// Reads runs calls that change nothing, in one world, each with each of its steps failing until none does: then, and only
// then, it answers.
func Reads[B any](t *testing.T, kit Kit[B], given func(b B) string, calls map[string]func(b B, given string) (any, error)) {
	t.Helper()
	s := enter(t, kit, Flow[B]{Given: given})
	before := told(s.rows())
	for _, name := range slices.Sorted(maps.Keys(calls)) {
		answers := map[string]Point{} // those given though a step failed
		for n := 0; ; n++ {
			s.points.arm(n, Fails, true)
			answer, err := calls[name](s.bench, s.given)
			counted, fired := s.points.disarm()
			switch {
			case !fired:
				if err != nil || n == 0 {
					t.Errorf("%s: after %d steps that failed: %v", name, n, err)
				}
				for got, p := range answers {
					if got != Text(answer) {
						t.Errorf("%s: %s fails, and the answer is %s", name, p, unlike(got, Text(answer)))
					}
				}
			case err == nil:
				answers[Text(answer)] = counted[n]
			case !errors.Is(err, broker.ErrUnavailable):
				t.Errorf("%s: %s fails, and the error is %v, of another kind than it should be", name, counted[n], err)
			}
			if !fired {
				break
			}
		}
	}
	for _, line := range slices.Concat(less(told(s.rows()), before), less(before, told(s.rows()))) {
		if !defaults.MatchString(line) {
			t.Errorf("reading has left another row: %s", line)
		}
	}
}
