package faults

import (
	"regexp"
	"runtime"
	"strings"
	"sync"
)

// Mode is how a step fails.
type Mode string

// The modes.
const (
	Fails Mode = "fails"          // it does not take effect
	Lost  Mode = "answer is lost" // it takes effect
	Down  Mode = "down from here" // neither it nor what follows takes effect
)

// Point is a step of a flow, that can fail.
type Point struct {
	// By is the function of the product that takes the step, and its caller; What is the step.
	By, What string
	// Writes says that it has an effect that can be without an answer: a transaction that is not rolled back.
	Writes bool
}

func (p Point) String() string { return p.By + ": " + p.What }

// Points are the steps of a flow, while they are counted.
type Points struct {
	path    string // of the database
	mu      sync.Mutex
	armed   bool
	nth     int // the one that fails, from 0; -1: none
	mode    Mode
	early   bool // that one, or one after it, is a transaction that ends before its commit: it fails as it begins
	counted []Point
	fired   bool
}

// arm begins to count; the nth step fails, early if it is a transaction that will not be committed.
func (p *Points) arm(nth int, mode Mode, early bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.armed, p.nth, p.mode, p.early, p.counted, p.fired = true, nth, mode, early, nil, false
}

// disarm ends that, and returns what was counted and whether one failed.
func (p *Points) disarm() ([]Point, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.armed = false
	return p.counted, p.fired
}

// begin counts a step, and returns its number; -1 while none is counted.
func (p *Points) begin(what string, writes bool) int {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.armed {
		return -1
	}
	p.counted = append(p.counted, Point{By: callers(), What: what, Writes: writes})
	return len(p.counted) - 1
}

// says how a step fails; empty where it does not.
func (p *Points) says(step int) Mode {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.armed || step < 0 || p.nth < 0 || step < p.nth || step > p.nth && p.mode != Down {
		return ""
	}
	p.fired = true
	return p.mode
}

// startles says whether a transaction fails as it begins.
func (p *Points) startles(step int) bool {
	p.mu.Lock()
	early := p.early || step > p.nth
	p.mu.Unlock()
	return early && p.says(step) != ""
}

// commits notes that a transaction comes to its end.
func (p *Points) commits(step int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if step >= 0 && step < len(p.counted) {
		p.counted[step].Writes = true
	}
}

// add completes what a step is.
func (p *Points) add(step int, what string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if step >= 0 && step < len(p.counted) {
		p.counted[step].What += what
	}
}

// Try takes a step that is no store's: do, which has an effect if it writes. failure is the error of one that fails.
func (p *Points) Try(what string, writes bool, failure error, do func() error) error {
	switch step := p.begin(what, writes); p.says(step) {
	case Fails, Down:
		return failure
	case Lost:
		if err := do(); err != nil {
			return err
		}
		return failure
	}
	return do()
}

var (
	ours  = regexp.MustCompile(`vimbroker/(?:broker|lifecycle|policy)\b[\w/]*\.([\w.()*]+)$`)
	plain = strings.NewReplacer("(*", "", ")", "", ".func1", "", ".func2", "", ".func3", "")
)

// callers are the innermost functions of the domain on the stack, the outer one first.
func callers() string {
	var pcs [64]uintptr
	frames := runtime.CallersFrames(pcs[:runtime.Callers(3, pcs[:])])
	var found []string
	for len(found) < 3 {
		f, more := frames.Next()
		if m := ours.FindStringSubmatch(f.Function); m != nil && !strings.Contains(f.Function, "_test.") {
			if name := plain.Replace(m[1]); len(found) == 0 || found[0] != name {
				found = append([]string{name}, found...)
			}
		}
		if !more {
			break
		}
	}
	return strings.Join(found, " > ")
}
