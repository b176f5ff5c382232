package conformance

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/broker/job"
	"github.com/vimbroker/vimbroker/drivers/queue"
	"github.com/vimbroker/vimbroker/policy/audit"
)

// JobStore is a store with its jobs.
type JobStore interface {
	broker.Store
	broker.Pruner
	queue.Jobs
	Now() time.Time
	Enqueue(ctx context.Context, e audit.Entry, jobs ...job.Job) error
	Run(ctx context.Context, passes []broker.Pass, log *slog.Logger, workers ...job.Worker) error
}

// Jobs checks what a store promises of jobs: [job.Worker], [job.Claim] and
// [queue.Jobs]. open returns an empty store, and sees to its end.
func Jobs(t *testing.T, open func(t *testing.T) JobStore) {
	for name, check := range map[string]func(*testing.T, jobTest){
		"Load":             jobLoad,
		"StartsAtOnce":     jobStartsAtOnce,
		"WithItsEntry":     jobWithItsEntry,
		"OneAtATime":       jobOneAtATime,
		"Retry":            jobRetry,
		"Again":            jobAgain,
		"Progress":         jobProgress,
		"AtOnce":           jobsAtOnce,
		"Stop":             jobStop,
		"Takeover":         jobTakeover,
		"TakeoverInAWrite": jobTakeoverInAWrite,
		"NoticesTakeover":  jobNoticesTakeover,
		"ClaimEnds":        jobClaimEnds,
		"Take":             jobTake,
		"Schedule":         jobSchedule,
		"WantedAgain":      jobWantedAgain,
		"Prune":            jobPrune,
		"RefusesWorkers":   jobRefusesWorkers,
		"RefusesInvalid":   jobRefusesInvalid,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			check(t, jobTest{JobStore: open(t), ctx: t.Context()})
		})
	}
}

type jobTest struct {
	JobStore
	ctx context.Context
}

var vnf = job.Job{Kind: "lcm", Subject: "7d0c"}

func (s jobTest) mustEnqueue(t *testing.T, jobs ...job.Job) {
	t.Helper()
	if err := s.Enqueue(s.ctx, entry("enqueue"), jobs...); err != nil {
		t.Fatalf("Enqueue = %v", err)
	}
}

// kinds are those of the jobs in these checks.
var kinds = []string{"lcm", "other"}

// mustTake begins attempts, at most limit, that are due again at a time.
func (s jobTest) mustTake(t *testing.T, kind string, limit int, next time.Time) []queue.Attempt {
	t.Helper()
	taken, err := s.TakeJobs(s.ctx, kind, limit, next)
	if err != nil {
		t.Fatalf("TakeJobs(%s) = %v", kind, err)
	}
	return taken
}

// mustBegin begins an attempt that says nothing more: another may follow at once.
func (s jobTest) mustBegin(t *testing.T) (context.Context, queue.Attempt) {
	t.Helper()
	if due, err := s.DueKinds(s.ctx, kinds); err != nil || !slices.Equal(due, []string{vnf.Kind}) {
		t.Fatalf("DueKinds = %v, %v; want %s", due, err, vnf.Kind)
	}
	taken := s.mustTake(t, vnf.Kind, 10, s.Now())
	if len(taken) != 1 {
		t.Fatalf("TakeJobs = %v; want one attempt", taken)
	}
	return job.WithClaim(s.ctx, taken[0].Claim), taken[0]
}

// wantNoneDue fails the test if a job is due.
func (s jobTest) wantNoneDue(t *testing.T, when string) {
	t.Helper()
	if due, err := s.DueKinds(s.ctx, kinds); err != nil || len(due) != 0 {
		t.Errorf("%s DueKinds = %v, %v; want none", when, due, err)
	}
	for _, kind := range kinds {
		if taken := s.mustTake(t, kind, 10, s.Now()); len(taken) != 0 {
			t.Errorf("%s TakeJobs = %v; want none", when, taken)
		}
	}
}

// run works jobs until stop is called, which returns what Run returned.
func (s jobTest) run(t *testing.T, workers ...job.Worker) (stop func() error) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- s.Run(ctx, nil, slog.New(slog.DiscardHandler), workers...) }()
	stop = sync.OnceValue(func() error {
		cancel()
		return <-ended
	})
	t.Cleanup(func() { _ = stop() })
	return stop
}

// next fails the test if nothing is received.
func next[T any](t *testing.T, what string, c <-chan T) T {
	t.Helper()
	select {
	case v := <-c:
		return v
	case <-time.After(time.Minute):
		t.Fatalf("%s does not come", what)
		panic("not reached")
	}
}

func jobStartsAtOnce(t *testing.T, s jobTest) {
	started := make(chan time.Time, 100)
	stop := s.run(t, job.Worker{Kind: "lcm", AtOnce: 2, Work: func(context.Context, string) error {
		started <- time.Now()
		return nil
	}})
	s.mustEnqueue(t, vnf)
	next(t, "the first job", started) // the queue is running
	var waits []time.Duration
	for i := range 9 {
		began := time.Now()
		s.mustEnqueue(t, job.Job{Kind: "lcm", Subject: fmt.Sprint(i)})
		waits = append(waits, next(t, "a job", started).Sub(began))
	}
	slices.Sort(waits)
	t.Logf("from before the write until the job runs: %v in the middle, %v at most", waits[4], waits[8])
	if waits[6] > 700*time.Millisecond { // a poll comes each second, or up to a quarter sooner; a busy machine may delay two
		t.Errorf("jobs start after %v: they wait for a poll", waits)
	}
	if err := stop(); err != nil {
		t.Errorf("Run = %v", err)
	}
}

func jobWithItsEntry(t *testing.T, s jobTest) {
	s.mustEnqueue(t, vnf)
	entries, err := s.Entries(s.ctx, audit.Query{Limit: 10})
	if err != nil || len(entries) != 1 {
		t.Fatalf("Entries = %v, %v; want the one of the job", entries, err)
	}
	if _, a := s.mustBegin(t); a.Job != vnf {
		t.Errorf("taken %v, want %v", a, vnf)
	}
}

// jobLoad counts jobs as they go: due, under way, failed and done.
func jobLoad(t *testing.T, s jobTest) {
	want := func(when string, due, failing int) {
		t.Helper()
		now := s.Now()
		l, err := s.Load(s.ctx, now)
		if later, err := s.Load(s.ctx, now.Add(time.Hour)); err != nil || due > 0 && later.JobsLate != l.JobsLate+time.Hour || l.JobsLate < 0 || due == 0 && l.JobsLate != 0 {
			t.Errorf("%s Load = %+v, and an hour later %+v, %v", when, l, later, err)
		}
		if err != nil || l.JobsDue != due || l.JobsFailing != failing {
			t.Errorf("%s Load = %+v, %v; want %d jobs due and %d failing", when, l, err, due, failing)
		}
		if l.ConnectionsInUse > l.ConnectionsMax {
			t.Errorf("%s Load = %+v", when, l)
		}
	}
	want("of an empty store", 0, 0)
	s.mustEnqueue(t, vnf, job.Job{Kind: "other", Subject: "1"})
	want("of two jobs", 2, 0)
	for _, kind := range kinds {
		taken := s.mustTake(t, kind, 1, s.Now().Add(time.Hour))
		if len(taken) != 1 {
			t.Fatalf("TakeJobs = %v; want one", taken)
		}
		a, err := taken[0], error(nil)
		if a.Job == vnf {
			err = s.FinishJob(s.ctx, a)
		} else {
			err = s.RetryJob(s.ctx, a.Claim, s.Now(), 1)
		}
		if err != nil {
			t.Fatalf("ending %v = %v", a, err)
		}
	}
	want("of one job done and one that failed", 1, 1)
	if err := s.ScheduleJob(s.ctx, job.Job{Kind: job.PassPrefix + "reap", Subject: "reap"}, s.Now(), s.Now()); err != nil {
		t.Fatal(err)
	}
	want("with a pass that is due", 1, 1)
}

func jobRefusesInvalid(t *testing.T, s jobTest) {
	for _, bad := range []job.Job{{Subject: "7d0c"}, {Kind: "lcm"}, {Kind: "Two Words", Subject: "7d0c"}} {
		if err := s.Enqueue(s.ctx, entry("enqueue"), vnf, bad); !errors.Is(err, broker.ErrInvalid) {
			t.Errorf("Enqueue(%v) = %v, want ErrInvalid", bad, err)
		}
	}
	// Neither the valid job beside it nor the entry is there.
	s.wantNoneDue(t, "after a refusal")
	if entries, err := s.Entries(s.ctx, audit.Query{Limit: 10}); len(entries) != 0 || err != nil {
		t.Errorf("after a refusal there are entries %v, %v", entries, err)
	}
}

// jobOneAtATime enqueues a job again and again while it runs: it runs once more.
func jobOneAtATime(t *testing.T, s jobTest) {
	var running atomic.Int64
	started, goOn := make(chan struct{}, 10), make(chan struct{})
	stop := s.run(t, job.Worker{Kind: "lcm", AtOnce: 5, Work: func(context.Context, string) error {
		if n := running.Add(1); n > 1 {
			t.Errorf("%d workers have one subject", n)
		}
		defer running.Add(-1)
		started <- struct{}{}
		<-goOn
		return nil
	}}, job.Worker{Kind: "other", AtOnce: 1, Work: func(context.Context, string) error {
		started <- struct{}{}
		return nil
	}})
	s.mustEnqueue(t, vnf)
	next(t, "the job", started)
	for range 3 {
		s.mustEnqueue(t, vnf)
	}
	s.mustEnqueue(t, job.Job{Kind: "other", Subject: vnf.Subject})
	next(t, "the job of another kind on the same subject", started)
	close(goOn)
	next(t, "the job, which was enqueued while it ran", started)
	if err := stop(); err != nil {
		t.Errorf("Run = %v", err)
	}
	s.wantNoneDue(t, "at the end")
	if len(started) != 0 {
		t.Error("the job began once more")
	}
}

func jobRetry(t *testing.T, s jobTest) {
	tried := make(chan time.Time, 10)
	var tries atomic.Int64
	stop := s.run(t, job.Worker{Kind: "lcm", AtOnce: 1, Work: func(context.Context, string) error {
		tried <- time.Now()
		switch tries.Add(1) {
		case 1:
			return errors.New("no luck")
		case 2:
			panic("no luck either")
		}
		return nil
	}})
	s.mustEnqueue(t, vnf)
	first, second, third := next(t, "the job", tried), next(t, "the retry", tried), next(t, "the retry after a panic", tried)
	if second.Sub(first) < 500*time.Millisecond || third.Sub(second) < time.Second {
		t.Errorf("retries came after %v and %v, want a backoff that grows", second.Sub(first), third.Sub(second))
	}
	if err := stop(); err != nil {
		t.Errorf("Run = %v", err)
	}
	if len(tried) != 0 {
		t.Errorf("a job that succeeded ran again")
	}
}

// jobAgain has a job leave its place: one that waits comes before it is worked again, and no backoff delays it, however
// often it does so.
func jobAgain(t *testing.T, s jobTest) {
	order, waits := make(chan string, 100), make(chan struct{})
	var tries atomic.Int64
	const often = 6 // a backoff would be a minute by then
	s.run(t, job.Worker{Kind: "lcm", AtOnce: 1, Work: func(_ context.Context, subject string) error {
		order <- subject
		if subject != vnf.Subject {
			return nil
		}
		switch n := tries.Add(1); {
		case n == 1:
			<-waits
			return job.ErrAgain
		case n < often:
			return fmt.Errorf("wrapped: %w", job.ErrAgain)
		}
		return nil
	}})
	s.mustEnqueue(t, vnf)
	if first := next(t, "the job", order); first != vnf.Subject {
		t.Fatalf("%s began", first)
	}
	s.mustEnqueue(t, job.Job{Kind: "lcm", Subject: "waits"})
	began := time.Now()
	close(waits)
	if second := next(t, "the one that waits", order); second != "waits" {
		t.Errorf("%s came before the one that waits", second)
	}
	for range often - 1 {
		next(t, "the job again", order)
	}
	if took := time.Since(began); took > 20*time.Second {
		t.Errorf("it took %v, want no backoff", took)
	}
	if begun := tries.Load(); begun != often {
		t.Errorf("it was worked %d times, want %d", begun, often)
	}
}

// jobProgress has a job fail that came further, after many attempts that did not: the failures before no longer count.
func jobProgress(t *testing.T, s jobTest) {
	s.mustEnqueue(t, vnf)
	_, a := s.mustBegin(t)
	if err := s.RetryJob(s.ctx, a.Claim, s.Now(), 6); err != nil {
		t.Fatalf("RetryJob = %v", err)
	}
	tried := make(chan time.Time, 10)
	var tries atomic.Int64
	s.run(t, job.Worker{Kind: "lcm", AtOnce: 1, Work: func(context.Context, string) error {
		tried <- time.Now()
		if tries.Add(1) == 1 {
			return fmt.Errorf("wrapped: %w", job.Progressed(errors.New("no luck")))
		}
		return nil
	}})
	first, second := next(t, "the job", tried), next(t, "the retry", tried)
	if waited := second.Sub(first); waited > 40*time.Second {
		t.Errorf("a job that came further waits %v, want the first backoff of about a second", waited)
	}
}

func jobsAtOnce(t *testing.T, s jobTest) {
	var running, most atomic.Int64
	started, goOn := make(chan struct{}, 10), make(chan struct{})
	s.run(t, job.Worker{Kind: "lcm", AtOnce: 2, Work: func(context.Context, string) error {
		most.Store(max(most.Load(), running.Add(1)))
		defer running.Add(-1)
		started <- struct{}{}
		<-goOn
		return nil
	}})
	for i := range 5 {
		s.mustEnqueue(t, job.Job{Kind: "lcm", Subject: fmt.Sprint(i)})
	}
	for range 2 {
		next(t, "a job", started)
	}
	close(goOn)
	for range 3 {
		next(t, "a job that waited", started)
	}
	if most.Load() != 2 {
		t.Errorf("%d jobs ran at once, want 2", most.Load())
	}
}

// jobStop stops the process in the middle of a job: the next process works it at once.
func jobStop(t *testing.T, s jobTest) {
	started := make(chan struct{}, 10)
	stop := s.run(t, job.Worker{Kind: "lcm", AtOnce: 1, Work: func(ctx context.Context, _ string) error {
		started <- struct{}{}
		<-ctx.Done()
		return ctx.Err()
	}})
	s.mustEnqueue(t, vnf)
	next(t, "the job", started)
	if err := stop(); err != nil {
		t.Errorf("Run = %v", err)
	}
	if _, a := s.mustBegin(t); a.Failures != 0 {
		t.Errorf("stopping counts as %d failures", a.Failures)
	}
}

// jobTakeover pauses a worker between two of its writes, and lets another take over.
func jobTakeover(t *testing.T, s jobTest) {
	s.mustEnqueue(t, vnf)
	paused, first := s.mustBegin(t)
	if err := s.Append(paused, entry("first")); err != nil {
		t.Fatalf("a write under a claim that holds = %v", err)
	}
	successor, second := s.mustBegin(t)
	if second.Fence <= first.Fence {
		t.Fatalf("the fence went from %d to %d", first.Fence, second.Fence)
	}
	for what, write := range map[string]func() error{
		"an entry": func() error { return s.Append(paused, entry("late")) },
		"a VIM":    func() error { return s.CreateVIM(paused, plainVIM("north", "late"), 0, entry("late")) },
		"a job":    func() error { return s.Enqueue(paused, entry("late"), job.Job{Kind: "lcm", Subject: "other"}) },
		"alive":    func() error { return s.KeepJob(s.ctx, first.Claim, s.Now()) },
		"success":  func() error { return s.FinishJob(s.ctx, first) },
		"failure":  func() error { return s.RetryJob(s.ctx, first.Claim, s.Now(), 1) },
	} {
		if err := write(); !errors.Is(err, job.ErrFenced) {
			t.Errorf("writing %s after the takeover = %v, want ErrFenced", what, err)
		}
	}
	if err := s.Append(successor, entry("second")); err != nil {
		t.Errorf("a write of the successor = %v", err)
	}
	entries, err := s.Entries(s.ctx, audit.Query{Limit: 10})
	if err != nil || len(entries) != 3 {
		t.Errorf("%d entries, %v; want those of the enqueueing, the first worker and the successor", len(entries), err)
	}
}

// jobTakeoverInAWrite pauses a worker after its claim was checked and before its write
// is committed: the successor begins after that write, or the write is refused.
func jobTakeoverInAWrite(t *testing.T, s jobTest) {
	s.mustEnqueue(t, vnf)
	v := plainVIM("north", "paused")
	if err := s.CreateVIM(s.ctx, v, 0, entry("create")); err != nil {
		t.Fatal(err)
	}
	paused, _ := s.mustBegin(t)
	inside, goOn, wrote, began := make(chan struct{}), make(chan struct{}), make(chan error, 1), make(chan error, 1)
	var once sync.Once
	go func() {
		_, err := s.UpdateVIM(paused, v.ID, func(v *broker.VIM) error {
			once.Do(func() {
				close(inside)
				<-goOn
			})
			v.Description = "written by the paused worker"
			return nil
		}, entry("paused"))
		wrote <- err
	}()
	next(t, "the paused worker's write", inside)
	go func() {
		tick := time.NewTicker(time.Millisecond)
		defer tick.Stop()
		for {
			taken, err := s.TakeJobs(s.ctx, vnf.Kind, 1, s.Now())
			if err != nil || len(taken) > 0 {
				began <- err
				return
			}
			<-tick.C
		}
	}()
	select {
	case err := <-began:
		t.Errorf("the successor began (%v) in the middle of the write", err)
		began <- err
	case <-time.After(100 * time.Millisecond): // it cannot be seen to wait
	}
	close(goOn)
	if err := next(t, "the end of the write", wrote); err != nil {
		t.Errorf("the write that came before the takeover = %v", err)
	}
	if err := next(t, "the successor", began); err != nil {
		t.Errorf("TakeJobs = %v", err)
	}
	if _, err := s.UpdateVIM(paused, v.ID, func(*broker.VIM) error { return nil }, entry("late")); !errors.Is(err, job.ErrFenced) {
		t.Errorf("the next write = %v, want ErrFenced", err)
	}
}

// jobNoticesTakeover lets the context of a worker end when another has taken over.
func jobNoticesTakeover(t *testing.T, s jobTest) {
	started, ended := make(chan job.Claim, 10), make(chan error, 10)
	var runs atomic.Int64
	s.run(t, job.Worker{Kind: "lcm", AtOnce: 1, Work: func(ctx context.Context, _ string) error {
		if runs.Add(1) > 1 {
			return nil
		}
		c, _ := job.ClaimOf(ctx)
		started <- c
		<-ctx.Done()
		ended <- context.Cause(ctx)
		return ctx.Err()
	}})
	s.mustEnqueue(t, vnf)
	c := next(t, "the job", started)
	if err := s.KeepJob(s.ctx, c, s.Now()); err != nil { // it is silent for too long
		t.Fatalf("KeepJob = %v", err)
	}
	if taken := s.mustTake(t, vnf.Kind, 1, s.Now().Add(time.Hour)); len(taken) != 1 {
		t.Fatalf("TakeJobs = %v", taken)
	}
	if cause := next(t, "the end of the context", ended); !errors.Is(cause, job.ErrFenced) {
		t.Errorf("the context ended with %v, want ErrFenced", cause)
	}
}

func jobClaimEnds(t *testing.T, s jobTest) {
	s.mustEnqueue(t, vnf)
	first, a := s.mustBegin(t)
	if err := s.RetryJob(s.ctx, a.Claim, s.Now(), a.Failures+3); err != nil {
		t.Fatalf("RetryJob = %v", err)
	}
	if err := s.Append(first, entry("late")); !errors.Is(err, job.ErrFenced) {
		t.Errorf("a write after the attempt failed = %v, want ErrFenced", err)
	}
	second, again := s.mustBegin(t)
	if again.Failures != a.Failures+3 {
		t.Errorf("after three failures there are %d, want three more than %d", again.Failures, a.Failures)
	}
	if err := s.FinishJob(s.ctx, again); err != nil {
		t.Fatalf("FinishJob = %v", err)
	}
	if err := s.Append(second, entry("late")); !errors.Is(err, job.ErrFenced) {
		t.Errorf("a write after the job was done = %v, want ErrFenced", err)
	}
	s.wantNoneDue(t, "of a job that is done")
	s.mustEnqueue(t, vnf)
	if _, third := s.mustBegin(t); third.Fence <= again.Fence || third.Failures != 0 {
		t.Errorf("the job enqueued anew has fence %d after %d and %d failures", third.Fence, again.Fence, third.Failures)
	}
}

func jobTake(t *testing.T, s jobTest) {
	for i := range 3 {
		s.mustEnqueue(t, job.Job{Kind: "lcm", Subject: fmt.Sprint(i)})
	}
	later := s.Now().Add(time.Hour)
	if two := s.mustTake(t, vnf.Kind, 2, later); len(two) != 2 {
		t.Fatalf("TakeJobs = %v; want two", two)
	}
	if others := s.mustTake(t, "other", 2, later); len(others) != 0 {
		t.Fatalf("TakeJobs = %v; want none of another kind", others)
	}
	rest := s.mustTake(t, vnf.Kind, 2, later)
	if len(rest) != 1 {
		t.Fatalf("TakeJobs = %v; want the third", rest)
	}
	s.wantNoneDue(t, "before they are due again")
	c := rest[0].Claim
	if err := s.KeepJob(s.ctx, c, s.Now()); err != nil {
		t.Errorf("KeepJob = %v", err)
	}
	if _, again := s.mustBegin(t); again.Job != c.Job || again.Fence != c.Fence+1 {
		t.Errorf("taken %v after %v fell silent", again, c)
	}
}

// jobSchedule sees that a job is there: one that is new is due when it is asked for, another keeps its time unless that is too late.
func jobSchedule(t *testing.T, s jobTest) {
	schedule := func(latest time.Time) {
		t.Helper()
		if err := s.ScheduleJob(s.ctx, vnf, s.Now(), latest); err != nil {
			t.Fatalf("ScheduleJob = %v", err)
		}
	}
	now := s.Now()
	schedule(now.Add(time.Hour))
	_, a := s.mustBegin(t)
	if err := s.RetryJob(s.ctx, a.Claim, now.Add(30*time.Minute), 0); err != nil {
		t.Fatalf("RetryJob = %v", err)
	}
	schedule(now.Add(time.Hour))
	s.wantNoneDue(t, "scheduled for later than it is due")
	schedule(now)
	if _, again := s.mustBegin(t); again.Job != vnf {
		t.Errorf("taken %v", again)
	}
}

// jobWantedAgain enqueues a job in the window between a worker's last look at its
// subject and the end of its attempt.
func jobWantedAgain(t *testing.T, s jobTest) {
	s.mustEnqueue(t, vnf)
	_, a := s.mustBegin(t)
	s.mustEnqueue(t, vnf)
	if err := s.FinishJob(s.ctx, a); err != nil {
		t.Fatalf("FinishJob = %v", err)
	}
	s.mustBegin(t)
}

// jobPrune removes jobs that are done, some at a time, and neither those that ended later nor those that are wanted.
func jobPrune(t *testing.T, s jobTest) {
	for i := range 3 {
		s.mustEnqueue(t, job.Job{Kind: "lcm", Subject: fmt.Sprint(i)})
		_, a := s.mustBegin(t)
		if err := s.FinishJob(s.ctx, a); err != nil {
			t.Fatalf("FinishJob = %v", err)
		}
	}
	s.mustEnqueue(t, vnf)
	prune := func(before time.Time, want int) {
		t.Helper()
		if n, err := s.PruneJobs(s.ctx, before, 2); n != want || err != nil {
			t.Errorf("PruneJobs = %d, %v, want %d", n, err, want)
		}
	}
	prune(s.Now().Add(-time.Hour), 0)
	later := s.Now().Add(time.Hour)
	for _, want := range []int{2, 1, 0} {
		prune(later, want)
	}
	if _, left := s.mustBegin(t); left.Job != vnf {
		t.Errorf("taken %v, want the one that is wanted", left)
	}
}

func jobRefusesWorkers(t *testing.T, s jobTest) {
	work := func(context.Context, string) error { return nil }
	for what, workers := range map[string][]job.Worker{
		"twice":         {{Kind: "lcm", AtOnce: 1, Work: work}, {Kind: "lcm", AtOnce: 1, Work: work}},
		"no kind":       {{AtOnce: 1, Work: work}},
		"spaces":        {{Kind: "two words", AtOnce: 1, Work: work}},
		"none at once":  {{Kind: "lcm", Work: work}},
		"a long kind":   {{Kind: string(slices.Repeat([]byte("a"), 65)), AtOnce: 1, Work: work}},
		"a single word": {{Kind: "x", AtOnce: 1, Work: work}},
	} {
		if err := s.Run(s.ctx, nil, slog.New(slog.DiscardHandler), workers...); err == nil {
			t.Errorf("Run with workers %s = nil, want an error", what)
		}
	}
}
