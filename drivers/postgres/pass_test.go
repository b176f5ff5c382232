package postgres

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/broker/job"
	"github.com/vimbroker/vimbroker/broker/secret"
	"github.com/vimbroker/vimbroker/drivers/queue"
	"github.com/vimbroker/vimbroker/test/real"
	"github.com/vimbroker/vimbroker/test/testlog"
)

// run starts the passes; the answer stops them and returns what Run returned.
func run(t *testing.T, s *Store, log *slog.Logger, passes ...broker.Pass) (stop func() error) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- s.Run(ctx, passes, log) }()
	stop = sync.OnceValue(func() error {
		cancel()
		return <-ended
	})
	t.Cleanup(func() { _ = stop() })
	return stop
}

// wait fails the test when a signal does not come.
func wait(t *testing.T, what string, c <-chan struct{}, within time.Duration) {
	t.Helper()
	select {
	case <-c:
	case <-time.After(within):
		t.Fatalf("%s does not come within %v", what, within)
	}
}

func TestPassRunsAtOnceAndAgain(t *testing.T) {
	t.Parallel()
	s := mustOpen(t, real.Postgres(t).DSN(t))
	log := &signalLog{}
	ran := map[string]chan struct{}{"good": make(chan struct{}, 100), "errs": make(chan struct{}, 100), "panics": make(chan struct{}, 100)}
	stop := run(t, s, log.logger(),
		broker.Pass{Name: "good", Every: time.Second, Run: func(ctx context.Context) error {
			ran["good"] <- struct{}{}
			return s.Check(ctx, broker.Replica{}) // passes write
		}},
		broker.Pass{Name: "errs", Every: time.Second, Run: func(context.Context) error {
			ran["errs"] <- struct{}{}
			return errors.New("what went wrong")
		}},
		broker.Pass{Name: "panics", Every: time.Second, Run: func(context.Context) error {
			ran["panics"] <- struct{}{}
			panic("out of luck")
		}},
	)
	for name, c := range ran {
		for _, when := range []string{name, name + " again", name + " a third time"} {
			wait(t, when, c, 2*time.Minute)
		}
	}
	if err := stop(); err != nil {
		t.Errorf("Run = %v, want nil when its context ends", err)
	}
	for _, want := range []string{
		`msg="pass failed" pass=errs error="what went wrong"`, `msg="pass panicked" pass=panics panic="out of luck"`,
	} {
		if !strings.Contains(log.String(), want) {
			t.Errorf("log lacks %s:\n%s", want, log)
		}
	}
	if strings.Contains(log.String(), "pass=good") || strings.Contains(log.String(), "level=INFO") {
		t.Errorf("log speaks of what is well:\n%s", log)
	}
}

// TestPassRunsOnceForAllReplicas counts the runs of a pass that three processes
// have, for each of its intervals.
func TestPassRunsOnceForAllReplicas(t *testing.T) {
	t.Parallel()
	dsn := real.Postgres(t).DSN(t)
	var running, most atomic.Int64
	ran := make(chan struct{}, 100)
	var intervals sync.Map
	var stops []func() error
	for range 3 {
		s := mustOpen(t, dsn)
		stops = append(stops, run(t, s, testlog.Silent(t), broker.Pass{Name: "reap", Every: time.Second, Run: func(context.Context) error {
			most.Store(max(most.Load(), running.Add(1)))
			defer running.Add(-1)
			if at := s.Now().Truncate(time.Second); !isFirst(&intervals, at) {
				t.Errorf("the pass ran twice in the interval of %v", at)
			}
			ran <- struct{}{}
			return nil
		}}))
	}
	for range 6 {
		wait(t, "pass", ran, 2*time.Minute)
	}
	// Also where processes leave.
	for _, stop := range stops[:2] {
		if err := stop(); err != nil {
			t.Errorf("Run = %v", err)
		}
	}
	for range 3 {
		wait(t, "pass of those who are left", ran, 2*time.Minute)
	}
	if err := stops[2](); err != nil {
		t.Errorf("Run = %v", err)
	}
	if most.Load() != 1 {
		t.Errorf("a pass ran %d times at once", most.Load())
	}
}

// isFirst reports whether nobody ran in the interval before.
func isFirst(intervals *sync.Map, at time.Time) bool {
	_, there := intervals.LoadOrStore(at, true)
	return !there
}

func TestPassIsNeverRunTwiceAtOnce(t *testing.T) {
	t.Parallel()
	dsn := real.Postgres(t).DSN(t)
	var running, most atomic.Int64
	other, started := make(chan struct{}, 100), make(chan struct{}, 100)
	slow := broker.Pass{Name: "slow", Every: time.Second, Run: func(ctx context.Context) error {
		most.Store(max(most.Load(), running.Add(1)))
		defer running.Add(-1)
		started <- struct{}{}
		<-ctx.Done()
		return ctx.Err()
	}}
	clock := broker.Pass{Name: "clock", Every: time.Second, Run: func(context.Context) error { other <- struct{}{}; return nil }}
	first := run(t, mustOpen(t, dsn), testlog.Silent(t), slow, clock)
	second := run(t, mustOpen(t, dsn), testlog.Silent(t), slow, clock)
	wait(t, "slow", started, 2*time.Minute)
	for range 4 { // three intervals go by
		wait(t, "clock", other, 2*time.Minute)
	}
	if len(started) > 0 || most.Load() != 1 {
		t.Errorf("slow pass started again while it ran: %d at once", most.Load())
	}
	var stops sync.WaitGroup
	begin := time.Now()
	for _, stop := range []func() error{first, second} {
		stops.Go(func() {
			if err := stop(); err != nil {
				t.Errorf("Run = %v", err)
			}
		})
	}
	stops.Wait()
	if running.Load() != 0 {
		t.Error("Run returned while a pass was running")
	}
	if took := time.Since(begin); took < queue.Grace {
		t.Errorf("the context of a running pass ended after %v, want it to have %v", took, queue.Grace)
	}
}

func TestRunRefusesPassesItCannotTellApart(t *testing.T) {
	s := mustOpen(t, real.Postgres(t).DSN(t))
	nothing := func(context.Context) error { return nil }
	for what, passes := range map[string][]broker.Pass{
		"twice":   {{Name: "reap", Every: time.Second, Run: nothing}, {Name: "reap", Every: time.Second, Run: nothing}},
		"no name": {{Every: time.Second, Run: nothing}},
		"letter":  {{Name: "a", Every: time.Second, Run: nothing}},
		"spaces":  {{Name: "reap leases", Every: time.Second, Run: nothing}},
		"no time": {{Name: "reap", Run: nothing}},
	} {
		if err := s.Run(t.Context(), passes, testlog.Silent(t)); err == nil {
			t.Errorf("Run(%s) = nil, want an error", what)
		}
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if err := s.Run(ended, []broker.Pass{{Name: "reap", Every: time.Second, Run: nothing}}, testlog.Silent(t)); err != nil {
		t.Errorf("Run with a context that has ended = %v, want nil", err)
	}
	_ = s.Close()
	err := s.Run(t.Context(), []broker.Pass{{Name: "reap", Every: time.Second, Run: nothing}}, testlog.Silent(t))
	if !errors.Is(err, broker.ErrUnavailable) {
		t.Errorf("Run on a closed store = %v, want ErrUnavailable", err)
	}
}

const passVariable = "VIMBROKER_TEST_PASS_DSN"

// TestDeadAndStoppedReplicas kills, and stops, a process in the middle of a pass
// that it will never end: another takes it over.
func TestDeadAndStoppedReplicas(t *testing.T) {
	for name, c := range map[string]struct {
		signal syscall.Signal
		within time.Duration
	}{
		"killed":  {syscall.SIGKILL, 4 * job.TakeoverAfter},
		"stopped": {syscall.SIGSTOP, 4 * job.TakeoverAfter},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dsn := real.Postgres(t).DSN(t)
			s := mustOpen(t, dsn)
			child := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestChildPasses$")
			child.Env = append(os.Environ(), passVariable+"="+dsn)
			out, err := child.StdoutPipe()
			if err != nil {
				t.Fatal(err)
			}
			if err := child.Start(); err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() {
				_ = child.Process.Kill()
				_ = child.Wait()
			})
			lines := bufio.NewScanner(out)
			for lines.Scan() && lines.Text() != "running" {
			}
			if lines.Text() != "running" {
				t.Fatal("the child runs no pass")
			}
			taken := make(chan struct{}, 100)
			stop := run(t, s, testlog.Silent(t), broker.Pass{Name: "endless", Every: time.Second, Run: func(context.Context) error {
				taken <- struct{}{}
				return nil
			}})
			if err := child.Process.Signal(c.signal); err != nil {
				t.Fatal(err)
			}
			begin := time.Now()
			wait(t, "pass of a replica that was "+name, taken, c.within)
			t.Logf("taken over after %v", time.Since(begin).Round(time.Second))
			if c.signal == syscall.SIGSTOP {
				// It comes back, and finds that it must not go on.
				if err := child.Process.Signal(syscall.SIGCONT); err != nil {
					t.Fatal(err)
				}
				for lines.Scan() && !strings.HasPrefix(lines.Text(), "ended") {
				}
				if !strings.Contains(lines.Text(), job.ErrFenced.Error()) {
					t.Errorf("the pass of the replica that came back said %q, want it to know that another took over", lines.Text())
				}
			}
			if err := stop(); err != nil {
				t.Errorf("Run = %v", err)
			}
		})
	}
}

// TestChildPasses is the process that [TestDeadAndStoppedReplicas] kills and stops.
func TestChildPasses(t *testing.T) {
	dsn := os.Getenv(passVariable)
	if dsn == "" {
		t.Skip("runs only as a child of another test")
	}
	s, err := Open(context.Background(), Options{DSN: secret.NewText(dsn)})
	if err != nil {
		t.Fatal(err)
	}
	_ = s.Run(context.Background(), []broker.Pass{{Name: "endless", Every: time.Second, Run: func(ctx context.Context) error {
		fmt.Println("running")
		<-ctx.Done()
		fmt.Println("ended", context.Cause(ctx))
		return ctx.Err()
	}}}, testlog.Silent(t))
}
