package queue

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/broker/job"
)

// row is a job in the ledger of a test.
type row struct {
	Attempt
	due  time.Time
	done bool
}

// book is a ledger in memory. Processes that share it are replicas.
type book struct {
	mu    sync.Mutex
	rows  map[job.Job]*row
	asked int   // how often a process looked for what is due
	down  error // what every call answers
}

func (b *book) with(do func() error) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.down != nil {
		return b.down
	}
	return do()
}

func (b *book) DueKinds(_ context.Context, kinds []string) (due []string, err error) {
	return due, b.with(func() error {
		b.asked++
		for _, r := range b.rows {
			if !r.done && !r.due.After(time.Now()) && slices.Contains(kinds, r.Kind) && !slices.Contains(due, r.Kind) {
				due = append(due, r.Kind)
			}
		}
		return nil
	})
}

func (b *book) TakeJobs(_ context.Context, kind string, limit int, next time.Time) (taken []Attempt, err error) {
	return taken, b.with(func() error {
		for _, r := range b.rows {
			if r.Kind == kind && !r.done && !r.due.After(time.Now()) && len(taken) < limit {
				r.Fence++
				r.due = next
				taken = append(taken, r.Attempt)
			}
		}
		return nil
	})
}

func (b *book) claimed(c job.Claim, change func(*row)) error {
	return b.with(func() error {
		r := b.rows[c.Job]
		if r.Fence != c.Fence {
			return job.ErrFenced
		}
		change(r)
		return nil
	})
}

func (b *book) KeepJob(_ context.Context, c job.Claim, next time.Time) error {
	return b.claimed(c, func(r *row) { r.due = next })
}

func (b *book) FinishJob(_ context.Context, a Attempt) error {
	return b.claimed(a.Claim, func(r *row) { r.done, r.Failures, r.Fence = true, 0, r.Fence+1 })
}

func (b *book) RetryJob(_ context.Context, c job.Claim, next time.Time, failures int) error {
	return b.claimed(c, func(r *row) { r.due, r.Failures, r.Fence = next, failures, r.Fence+1 })
}

func (b *book) ScheduleJob(_ context.Context, j job.Job, first, latest time.Time) error {
	return b.with(func() error {
		r, there := b.rows[j]
		if !there {
			r = &row{Attempt: Attempt{Claim: job.Claim{Job: j}, Wanted: 1}, due: first}
			b.rows[j] = r
		}
		if r.due.After(latest) {
			r.due = latest
		}
		return nil
	})
}

// start runs a process on the ledger; stop ends it and returns what Run returned.
func start(t *testing.T, b *book, passes []broker.Pass, workers ...job.Worker) (stop func() error) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() {
		ended <- Run(ctx, Options{
			Passes: passes, Workers: workers, Ledger: b, Wake: make(chan struct{}), Now: time.Now, Log: slog.New(slog.DiscardHandler),
			While: func(ctx context.Context) { <-ctx.Done() },
		})
	}()
	return func() error {
		cancel()
		return <-ended
	}
}

// A pass comes at multiples of its interval, once in each, however many processes there are.
func TestAPassComesAtItsTimes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := &book{rows: map[job.Job]*row{}}
		var mu sync.Mutex
		times := map[time.Time]int{}
		pass := broker.Pass{Name: "reap", Every: 10 * time.Second, Run: func(context.Context) error {
			mu.Lock()
			defer mu.Unlock()
			times[time.Now().Truncate(10*time.Second)]++
			return nil
		}}
		first, second := start(t, b, []broker.Pass{pass}), start(t, b, []broker.Pass{pass})
		time.Sleep(time.Minute)
		for _, stop := range []func() error{first, second} {
			if err := stop(); err != nil {
				t.Errorf("Run = %v", err)
			}
		}
		if len(times) < 6 || len(times) > 7 {
			t.Errorf("in a minute the pass ran in %d intervals of ten seconds", len(times))
		}
		for at, n := range times {
			if n != 1 {
				t.Errorf("in the interval of %v the pass ran %d times", at, n)
			}
		}
		if b.asked > 2*90 {
			t.Errorf("two idle processes asked %d times in a minute what is due", b.asked)
		}
	})
}

// An interval that became shorter counts from the next start on.
func TestAShorterIntervalCounts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := &book{rows: map[job.Job]*row{}}
		ran := 0
		pass := broker.Pass{Name: "reap", Every: time.Hour, Run: func(context.Context) error { ran++; return nil }}
		stop := start(t, b, []broker.Pass{pass})
		time.Sleep(StartAfter + time.Second)
		if err := stop(); err != nil || ran != 1 {
			t.Fatalf("Run = %v, after %d runs", err, ran)
		}
		pass.Every = time.Minute
		stop = start(t, b, []broker.Pass{pass})
		time.Sleep(3 * time.Minute)
		if err := stop(); err != nil || ran < 3 {
			t.Errorf("Run = %v, after %d runs", err, ran)
		}
	})
}

// A pass whose process can say nothing ends before another process would take it over.
func TestASilentPassEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := &book{rows: map[job.Job]*row{}}
		var cause error
		var lasted time.Duration
		stop := start(t, b, []broker.Pass{{Name: "reap", Every: time.Hour, Run: func(ctx context.Context) error {
			began := time.Now()
			b.mu.Lock()
			b.down = errors.New("the database is gone")
			b.mu.Unlock()
			<-ctx.Done()
			cause, lasted = context.Cause(ctx), time.Since(began)
			return ctx.Err()
		}}})
		time.Sleep(time.Minute)
		if !errors.Is(cause, errSilent) || lasted > job.TakeoverAfter {
			t.Errorf("the pass ended after %v with %v, want it to end before %v", lasted, cause, job.TakeoverAfter)
		}
		if err := stop(); err != nil {
			t.Errorf("Run = %v", err)
		}
	})
}

// Work that does not end with its context is not waited for.
func TestWorkThatHangsDoesNotHoldTheProcess(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := &book{rows: map[job.Job]*row{{Kind: "lcm", Subject: "1"}: {Attempt: Attempt{Claim: job.Claim{Job: job.Job{Kind: "lcm", Subject: "1"}}}}}}
		release := make(chan struct{})
		stop := start(t, b, nil, job.Worker{Kind: "lcm", AtOnce: 1, Work: func(context.Context, string) error { <-release; return nil }})
		time.Sleep(time.Second)
		began := time.Now()
		err := stop()
		if took := time.Since(began); err == nil || took != 2*Grace {
			t.Errorf("Run = %v after %v, want an error after %v", err, took, 2*Grace)
		}
		close(release)
	})
}

// TestWhatCannotBeToldApartIsRefused: each of these has one fault, or none.
func TestWhatCannotBeToldApartIsRefused(t *testing.T) {
	pass := func(name string, every time.Duration) broker.Pass { return broker.Pass{Name: name, Every: every} }
	for _, c := range []struct {
		what    string
		passes  []broker.Pass
		workers []job.Worker
		want    string
	}{
		{"good ones", []broker.Pass{pass("ab", time.Second), pass("cd", time.Hour)}, []job.Worker{{Kind: "ab", AtOnce: 1}, {Kind: "cd", AtOnce: 2}}, ""},
		{"a pass twice", []broker.Pass{pass("ab", time.Second), pass("ab", time.Hour)}, nil, `pass "ab" is there twice`},
		{"a short name", []broker.Pass{pass("a", time.Second)}, nil, `pass "a" is`},
		{"another case", []broker.Pass{pass("aB", time.Second)}, nil, `pass "aB" is`},
		{"a short interval", []broker.Pass{pass("ab", time.Second-1)}, nil, `pass "ab" is`},
		{"a worker twice", nil, []job.Worker{{Kind: "ab", AtOnce: 1}, {Kind: "ab", AtOnce: 1}}, `jobs "ab" is there twice`},
		{"a worker of another case", nil, []job.Worker{{Kind: "aB", AtOnce: 1}}, `jobs "aB" is`},
		{"a worker of none", nil, []job.Worker{{Kind: "ab"}}, `jobs "ab" is`},
	} {
		d, err := newDispatcher(Options{Passes: c.passes, Workers: c.workers})
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.what, err, c.want)
		}
		if err == nil && (d.free[job.PassPrefix+"ab"] != 1 || d.free["ab"] != 1 || d.free["cd"] != 2) {
			t.Errorf("%s may begin %v at once", c.what, d.free)
		}
	}
}
