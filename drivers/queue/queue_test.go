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
	"github.com/vimbroker/vimbroker/test/testlog"
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
			Passes: passes, Workers: workers, Ledger: b, Wake: make(chan struct{}), Now: time.Now, Log: testlog.Silent(t),
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

// Passes that cannot be scheduled when a process starts are scheduled once the ledger answers, each of them.
func TestPassesBeginAfterAnOutage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := &book{rows: map[job.Job]*row{}, down: errors.New("the database is not up yet")}
		var mu sync.Mutex
		ran := map[string]int{}
		var passes []broker.Pass
		for _, name := range []string{"reap", "settle", "tidy"} {
			passes = append(passes, broker.Pass{Name: name, Every: time.Minute, Run: func(context.Context) error {
				mu.Lock()
				defer mu.Unlock()
				ran[name]++
				return nil
			}})
		}
		stop := start(t, b, passes)
		time.Sleep(time.Minute)
		b.mu.Lock()
		b.down = nil
		b.mu.Unlock()
		time.Sleep(2 * time.Minute)
		if err := stop(); err != nil || len(ran) != len(passes) || ran["reap"] < 2 || ran["settle"] < 2 || ran["tidy"] < 2 {
			t.Errorf("Run = %v; in the two minutes after an outage the passes ran %v", err, ran)
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

// A pass of minutes goes on where the store does not answer for a while, and ends where that lasts: what counts is since
// when it could not say that it is alive.
func TestALongPassOutlivesAnOutage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := &book{rows: map[job.Job]*row{}}
		down := func(err error) {
			b.mu.Lock()
			defer b.mu.Unlock()
			b.down = err
		}
		var ended time.Time
		stop := start(t, b, []broker.Pass{{Name: "reap", Every: time.Hour, Run: func(ctx context.Context) error {
			<-ctx.Done()
			ended = time.Now()
			return nil
		}}})
		time.Sleep(StartAfter + 5*time.Minute)
		for range 3 {
			down(errors.New("the database is gone"))
			time.Sleep(job.TakeoverAfter - 2*aliveEvery)
			down(nil)
			time.Sleep(aliveEvery)
		}
		if !ended.IsZero() {
			t.Errorf("the pass ended at %v, after an outage that was over in time", ended)
		}
		down(errors.New("the database is gone"))
		began := time.Now()
		time.Sleep(job.TakeoverAfter + time.Second)
		if lasted := ended.Sub(began); lasted < job.TakeoverAfter-3*aliveEvery || lasted > job.TakeoverAfter {
			t.Errorf("the pass ended %v after the outage began", lasted)
		}
		if err := stop(); err != nil {
			t.Errorf("Run = %v", err)
		}
	})
}

// A process that starts takes over no pass that another has at work, however short its interval.
func TestAStartTakesOverNoPass(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := &book{rows: map[job.Job]*row{}}
		var mu sync.Mutex
		at, ran := 0, 0
		passes := []broker.Pass{{Name: "reap", Every: time.Second, Run: func(ctx context.Context) error {
			mu.Lock()
			defer mu.Unlock()
			if at++; at > 1 {
				t.Error("two processes run the pass")
			}
			ran++
			mu.Unlock()
			select {
			case <-ctx.Done():
			case <-time.After(job.TakeoverAfter):
			}
			mu.Lock()
			at--
			return nil
		}}}
		first := start(t, b, passes)
		time.Sleep(StartAfter + 3*time.Second)
		second := start(t, b, passes)
		time.Sleep(2 * job.TakeoverAfter)
		for _, stop := range []func() error{first, second} {
			if err := stop(); err != nil {
				t.Errorf("Run = %v", err)
			}
		}
		if ran < 2 {
			t.Errorf("the pass ran %d times", ran)
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

// TestHowAnAttemptEnds is stored: a job is done, is due again at once, or after a while, or another has it.
func TestHowAnAttemptEnds(t *testing.T) {
	at := time.Date(2031, 5, 6, 7, 8, 9, 0, time.UTC)
	ended, end := context.WithCancel(t.Context())
	end()
	failure := errors.New("failed")
	for what, c := range map[string]struct {
		ctx         context.Context
		work        func(context.Context) error
		fence       int64 // in the ledger
		want        error
		done        bool
		failures    int
		first, last time.Duration // when it is due
	}{
		"done":            {work: func(context.Context) error { return nil }, done: true},
		"failed":          {work: func(context.Context) error { return failure }, failures: 4, first: time.Millisecond, last: job.MaxBackoff + time.Minute},
		"panicked":        {work: func(context.Context) error { panic("x") }, failures: 4, first: time.Millisecond, last: job.MaxBackoff + time.Minute},
		"again":           {work: func(context.Context) error { return job.ErrAgain }, failures: 3},
		"the process end": {ctx: ended, work: func(context.Context) error { return failure }, failures: 3},
		"fenced":          {work: func(context.Context) error { return job.ErrFenced }, want: job.ErrFenced, failures: 3, first: time.Hour, last: time.Hour},
		"done too late":   {work: func(context.Context) error { return nil }, fence: 8, want: job.ErrFenced, failures: 3, first: time.Hour, last: time.Hour},
		"failed too late": {work: func(context.Context) error { return failure }, fence: 8, want: job.ErrFenced, failures: 3, first: time.Hour, last: time.Hour},
		"again too late":  {work: func(context.Context) error { return job.ErrAgain }, fence: 8, want: job.ErrFenced, failures: 3, first: time.Hour, last: time.Hour},
	} {
		a := Attempt{Claim: job.Claim{Job: job.Job{Kind: "ab", Subject: "s"}, Fence: 7}, Failures: 3}
		r := &row{Attempt: a, due: at.Add(time.Hour)}
		if c.fence != 0 {
			r.Fence = c.fence
		}
		b := &book{rows: map[job.Job]*row{a.Job: r}}
		worked := ""
		d, err := newDispatcher(Options{
			Ledger: b, Now: func() time.Time { return at }, Log: testlog.Silent(t),
			Workers: []job.Worker{{Kind: "ab", AtOnce: 1, Work: func(ctx context.Context, subject string) error {
				if got, ok := job.ClaimOf(ctx); ok && got == a.Claim {
					worked = subject
				}
				return c.work(ctx)
			}}},
		})
		if err != nil {
			t.Fatal(err)
		}
		ctx := c.ctx
		if ctx == nil {
			ctx = t.Context()
		}
		if err := d.job(ctx, a); !errors.Is(err, c.want) || (err == nil) != (c.want == nil) {
			t.Errorf("%s: %v, want %v", what, err, c.want)
		}
		if worked != "s" {
			t.Errorf("%s: it worked %q under its claim", what, worked)
		}
		if due := r.due.Sub(at); r.done != c.done || !c.done && (r.Failures != c.failures || due < c.first || due > c.last) {
			t.Errorf("%s: done %v, %d failures, due after %v; want %v, %d, %v to %v", what, r.done, r.Failures, due, c.done, c.failures, c.first, c.last)
		}
	}
}

// TestHowAPassEnds is logged, and it is due at the next multiple of its interval; at once where the process ends.
func TestHowAPassEnds(t *testing.T) {
	at := time.Date(2031, 5, 6, 7, 8, 9, 0, time.UTC)
	ended, end := context.WithCancel(t.Context())
	end()
	for what, c := range map[string]struct {
		ctx    context.Context
		run    func(context.Context) error
		logged string
		due    time.Duration
	}{
		"done":            {t.Context(), func(context.Context) error { return nil }, "", 51 * time.Second},
		"failed":          {t.Context(), func(context.Context) error { return errors.New("failure") }, "failure", 51 * time.Second},
		"panicked":        {t.Context(), func(context.Context) error { panic("scream") }, "scream", 51 * time.Second},
		"the process end": {ended, func(context.Context) error { return nil }, "", 0},
	} {
		p := broker.Pass{Name: "ab", Every: time.Minute, Run: c.run}
		a := Attempt{Claim: job.Claim{Job: job.Job{Kind: kindOf(p), Subject: "ab"}, Fence: 7}}
		r := &row{Attempt: a}
		var said strings.Builder
		d, err := newDispatcher(Options{
			Ledger: &book{rows: map[job.Job]*row{a.Job: r}}, Now: func() time.Time { return at }, Passes: []broker.Pass{p},
			Log: testlog.To(t, slog.NewTextHandler(&said, nil)),
		})
		if err != nil {
			t.Fatal(err)
		}
		d.work(c.ctx, a)
		if due := r.due.Sub(at); due != c.due || r.Fence != 8 {
			t.Errorf("%s: it is due after %v under fence %d, want %v and another", what, due, r.Fence, c.due)
		}
		if text := said.String(); !strings.Contains(text, c.logged) || c.logged == "" && text != "" || strings.Count(text, "\n") > 1 {
			t.Errorf("%s: the log says %q, want one line with %q", what, text, c.logged)
		}
		r.Fence = 9 // another's
		said.Reset()
		d.work(c.ctx, a)
		if !strings.Contains(said.String(), "taken over by another worker") {
			t.Errorf("%s, after another took it over: the log says %q", what, said.String())
		}
		d.Ledger = &book{down: errors.New("outage")}
		said.Reset()
		d.work(c.ctx, a)
		if !strings.Contains(said.String(), "could not be stored") || !strings.Contains(said.String(), "outage") {
			t.Errorf("%s, with the ledger down: the log says %q", what, said.String())
		}
	}
}

// TestWhatTheLedgerRefusesIsReturned: nothing begins.
func TestWhatTheLedgerRefusesIsReturned(t *testing.T) {
	outage := errors.New("outage")
	d, err := newDispatcher(Options{
		Ledger: &book{down: outage}, Now: time.Now, Passes: []broker.Pass{{Name: "ab", Every: time.Minute}}, Log: testlog.Silent(t),
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := d.schedule(t.Context()); !errors.Is(err, outage) {
		t.Errorf("schedule = %v", err)
	}
	if err := d.take(t.Context(), t.Context()); !errors.Is(err, outage) {
		t.Errorf("take = %v", err)
	}
	if err := Run(t.Context(), Options{Passes: []broker.Pass{{}}}); err == nil || !strings.Contains(err.Error(), "starting passes") {
		t.Errorf("Run of what cannot be told apart = %v", err)
	}
}
