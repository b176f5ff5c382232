package broker

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// turns are so many VIMs of a project that have waited since then.
func turns(project string, n int, since time.Time, drains bool) []turn {
	var all []turn
	for i := range n {
		all = append(all, turn{vim: fmt.Sprintf("%s-%03d", project, i), project: project, since: since.Add(time.Duration(i) * time.Second), drains: drains})
	}
	return all
}

// Whoever has many VIMs that hold their places leaves places to the others, however many wait.
func TestAProjectLeavesPlacesToOthers(t *testing.T) {
	long := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	late := long.Add(time.Hour)
	r := newFairQueue(reapVIMs, reapOfProject)
	r.wait(append(turns("loud", 500, long, false), turns("loud", 500, long, true)...))
	taken := 0
	for _, ok := r.next(); ok; _, ok = r.next() {
		taken++
	}
	if taken != reapOfProject {
		t.Fatalf("one project has %d places, want %d", taken, reapOfProject)
	}
	r.wait(append(turns("loud", 500, long, false), turns("quiet", 1, late, false)...))
	if got, ok := r.next(); !ok || got.project != "quiet" {
		t.Errorf("next() = %v, %v, want the VIM of the other project", got, ok)
	}
	if got, ok := r.next(); ok {
		t.Errorf("next() = %v, want none: the loud project has its places", got)
	}
	r.leave("loud")
	if got, ok := r.next(); !ok || got.vim != "loud-000" {
		t.Errorf("next() = %v, %v, want the one that has waited longest", got, ok)
	}
	for range 100 { // each project may have few places, and all together no more than there are
		r.wait(append(turns("a", 20, long, false), append(turns("b", 20, long, false), turns("c", 20, long, false)...)...))
		r.next()
	}
	if r.taken != reapVIMs {
		t.Errorf("%d places are taken, want %d", r.taken, reapVIMs)
	}
}

// Leases come before drains, the longest wait before the shorter, and projects in turn.
func TestWhoseTurnItIs(t *testing.T) {
	long := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	r := newFairQueue(reapVIMs, reapOfProject)
	r.wait([]turn{
		{vim: "old drain", project: "a", since: long, drains: true},
		{vim: "late", project: "a", since: long.Add(2 * time.Hour)},
		{vim: "early", project: "a", since: long.Add(time.Hour)},
		{vim: "of another", project: "b", since: long.Add(3 * time.Hour)},
		{vim: "drain of another", project: "b", since: long, drains: true},
	})
	for _, want := range []string{"early", "of another", "late", "drain of another", "old drain"} {
		if got, ok := r.next(); !ok || got.vim != want {
			t.Errorf("next() = %q, %v, want %q", got.vim, ok, want)
		}
	}
	if got, ok := r.next(); ok {
		t.Errorf("next() = %v, want none", got)
	}
}

// passOver is a pass on VIMs that are listed by name, all of one project.
type passOver struct {
	mu     sync.Mutex
	listed []string
	begun  []string
	atOnce map[string]int
	most   int
}

func (p *passOver) list() ([]turn, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	var all []turn
	for _, vim := range p.listed {
		all = append(all, turn{vim: vim, project: "demo"})
	}
	return all, nil
}

func (p *passOver) set(vims ...string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.listed = vims
}

func (p *passOver) begins(vim string) (ends func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.begun = append(p.begun, vim)
	if p.atOnce == nil {
		p.atOnce = map[string]int{}
	}
	p.atOnce[vim]++
	p.most = max(p.most, p.atOnce[vim])
	return func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.atOnce[vim]--
	}
}

func (p *passOver) want(t *testing.T, when string, vims ...string) {
	t.Helper()
	p.mu.Lock()
	defer p.mu.Unlock()
	slices.Sort(p.begun)
	if !slices.Equal(p.begun, vims) || p.most > 1 {
		t.Errorf("%s: begun are %q, one of them %d times at once; want %q", when, p.begun, p.most, vims)
	}
}

// While VIMs hang, a pass begins what becomes due on others, and no VIM a second time. Their
// places are given on when their work ends.
func TestAPassGoesOnWhileVIMsHang(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const every = 5 * time.Second
		b := &core{terms: Terms{ReapEvery: every}, now: time.Now}
		p, answer, over := &passOver{listed: []string{"hangs-1", "hangs-2"}}, make(chan struct{}), make(chan error)
		go func() {
			over <- b.inTurn(t.Context(), newFairQueue(3, 3), p.list, func(_ context.Context, vim string) (bool, error) {
				defer p.begins(vim)()
				if vim == "hangs-1" || vim == "hangs-2" {
					<-answer
				}
				return false, nil
			})
		}()
		synctest.Wait()
		p.want(t, "at first", "hangs-1", "hangs-2")
		p.set("hangs-1", "hangs-2", "later-1", "later-2") // of these one after the other has a place
		time.Sleep(every)
		synctest.Wait()
		p.want(t, "after the next look", "hangs-1", "hangs-2", "later-1", "later-2")
		time.Sleep(10 * every)
		synctest.Wait()
		p.want(t, "after many looks", "hangs-1", "hangs-2", "later-1", "later-2")
		close(answer)
		if err := <-over; err != nil {
			t.Errorf("inTurn() = %v", err)
		}
	})
}

// A VIM whose work says so is worked on again in the same pass, as long as it is listed; the
// pass tells of everything that failed.
func TestAPassGoesOverAVIMAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const every = 5 * time.Second
		b := &core{terms: Terms{ReapEvery: every}, now: time.Now}
		p, answer, over := &passOver{listed: []string{"again", "hangs", "once"}}, make(chan struct{}), make(chan error)
		worn, lost := errors.New("worn"), errors.New("lost")
		list := func() ([]turn, error) {
			all, _ := p.list()
			if len(all) == 0 {
				return nil, lost
			}
			return all, nil
		}
		go func() {
			over <- b.inTurn(t.Context(), newFairQueue(3, 3), list, func(_ context.Context, vim string) (bool, error) {
				defer p.begins(vim)()
				switch vim {
				case "hangs":
					<-answer
				case "once":
					return false, worn
				}
				return true, nil
			})
		}()
		synctest.Wait()
		for range 2 {
			time.Sleep(every)
			synctest.Wait()
		}
		p.set()
		time.Sleep(every)
		synctest.Wait()
		close(answer)
		err := <-over
		p.want(t, "three looks", "again", "again", "again", "hangs", "once")
		if !errors.Is(err, worn) || !errors.Is(err, lost) {
			t.Errorf("inTurn() = %v, want what failed", err)
		}
	})
}

// A pass that is to end begins nothing more, and waits for what is under way.
func TestAPassThatEndsBeginsNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := &core{terms: Terms{ReapEvery: 5 * time.Second}, now: time.Now}
		ctx, cancel := context.WithCancel(t.Context())
		p, answer, over := &passOver{listed: []string{"first", "second", "third"}}, make(chan struct{}), make(chan error)
		go func() {
			over <- b.inTurn(ctx, newFairQueue(1, 1), p.list, func(_ context.Context, vim string) (bool, error) {
				defer p.begins(vim)()
				<-answer
				return false, nil
			})
		}()
		synctest.Wait()
		cancel()
		synctest.Wait()
		select {
		case err := <-over:
			t.Fatalf("inTurn() = %v while work is under way", err)
		default:
		}
		close(answer)
		if err := <-over; err != nil {
			t.Errorf("inTurn() = %v", err)
		}
		p.want(t, "after the end", "first")
	})
}

// A VIM that hangs for longer than the queue's patience leaves its place to another, and is not begun a second time.
func TestAVIMThatHangsLeavesItsPlace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const every = 5 * time.Second
		b := &core{terms: Terms{ReapEvery: every}, now: time.Now}
		p, answer, over := &passOver{listed: []string{"hangs", "waits"}}, make(chan struct{}), make(chan error)
		q := newFairQueue(1, 1)
		q.patience, q.rest = every, time.Minute
		go func() {
			over <- b.inTurn(t.Context(), q, p.list, func(_ context.Context, vim string) (bool, error) {
				defer p.begins(vim)()
				<-answer
				p.set()
				return true, nil
			})
		}()
		synctest.Wait()
		p.want(t, "at first", "hangs")
		time.Sleep(every + time.Nanosecond)
		synctest.Wait()
		p.want(t, "once its patience is over", "hangs", "waits")
		close(answer)
		if err := <-over; err != nil {
			t.Errorf("inTurn() = %v", err)
		}
	})
}
