package sqlite

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/drivers/queue"
	"github.com/vimbroker/vimbroker/test/testlog"
)

// lockedBuffer is a log that a test may read while it is written.
type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lockedBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *lockedBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

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
func wait(t *testing.T, what string, c <-chan struct{}) {
	t.Helper()
	select {
	case <-c:
	case <-time.After(30 * time.Second):
		t.Fatalf("%s does not come", what)
	}
}

func TestPassRunsAtOnceAndAgain(t *testing.T) {
	t.Parallel()
	s := mustOpen(t, filepath.Join(t.TempDir(), "broker.db"))
	var log lockedBuffer
	logger := testlog.To(t, slog.NewTextHandler(&log, nil))
	ran := map[string]chan struct{}{"good": make(chan struct{}, 100), "errs": make(chan struct{}, 100), "panics": make(chan struct{}, 100)}
	stop := run(t, s, logger,
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
		wait(t, name, c)
		wait(t, name+" again", c)
	}
	if err := stop(); err != nil {
		t.Errorf("Run = %v, want nil when its context ends", err)
	}
	for _, want := range []string{
		`msg="pass failed" pass=errs error="what went wrong"`, `msg="pass panicked" pass=panics panic="out of luck"`,
	} {
		if !strings.Contains(log.String(), want) {
			t.Errorf("log lacks %s:\n%s", want, log.String())
		}
	}
	if strings.Contains(log.String(), "pass=good") || strings.Contains(log.String(), "level=INFO") {
		t.Errorf("log speaks of what is well:\n%s", log.String())
	}
}

func TestPassIsNeverRunTwiceAtOnce(t *testing.T) {
	t.Parallel()
	s := mustOpen(t, filepath.Join(t.TempDir(), "broker.db"))
	var running, most atomic.Int64
	other, started := make(chan struct{}, 100), make(chan struct{}, 100)
	stop := run(t, s, testlog.Silent(t),
		broker.Pass{Name: "slow", Every: time.Second, Run: func(ctx context.Context) error {
			most.Store(max(most.Load(), running.Add(1)))
			started <- struct{}{}
			<-ctx.Done()
			running.Add(-1)
			return ctx.Err()
		}},
		broker.Pass{Name: "clock", Every: time.Second, Run: func(context.Context) error { other <- struct{}{}; return nil }},
	)
	wait(t, "slow", started)
	for range 4 { // three intervals go by
		wait(t, "clock", other)
	}
	if len(started) > 0 || most.Load() != 1 {
		t.Errorf("slow pass started again while it ran: %d at once", most.Load())
	}
	begin := time.Now()
	if err := stop(); err != nil {
		t.Errorf("Run = %v", err)
	}
	if running.Load() != 0 {
		t.Error("Run returned while a pass was running")
	}
	if took := time.Since(begin); took < queue.Grace {
		t.Errorf("the context of a running pass ended after %v, want it to have %v", took, queue.Grace)
	}
}

// TestPassOfADeadProcessBlocksNobody leaves the rows that a killed process leaves.
func TestPassOfADeadProcessBlocksNobody(t *testing.T) {
	t.Parallel()
	s := mustOpen(t, filepath.Join(t.TempDir(), "broker.db"))
	block, started := make(chan struct{}), make(chan struct{}, 1)
	stop := run(t, s, testlog.Silent(t), broker.Pass{Name: "reap", Every: time.Hour, Run: func(ctx context.Context) error {
		started <- struct{}{}
		select {
		case <-block:
		case <-ctx.Done():
		}
		return nil
	}})
	wait(t, "first run", started)
	// What is on disk now is what a SIGKILL would leave: a claim that nobody has ended.
	copyPath := filepath.Join(t.TempDir(), "broker.db")
	if _, err := s.writer.Exec(`VACUUM INTO ?`, copyPath); err != nil {
		t.Fatal(err)
	}
	close(block)
	if err := stop(); err != nil {
		t.Fatal(err)
	}
	after := mustOpen(t, copyPath)
	var left int
	if err := after.reader.QueryRow(`SELECT count(*) FROM jobs WHERE kind = 'pass-reap' AND fence = 1`).Scan(&left); err != nil || left != 1 {
		t.Fatalf("the dead process left %d rows, %v; want a pass that has begun", left, err)
	}
	again := make(chan struct{}, 1)
	begin := time.Now()
	stop = run(t, after, testlog.Silent(t), broker.Pass{Name: "reap", Every: time.Hour, Run: func(context.Context) error {
		again <- struct{}{}
		return nil
	}})
	wait(t, "run after the restart", again)
	if took := time.Since(begin); took > 10*time.Second {
		t.Errorf("the pass ran %v after the restart; the dead worker was waited for", took)
	}
	if err := stop(); err != nil {
		t.Error(err)
	}
}

func TestRunRefusesPassesItCannotTellApart(t *testing.T) {
	s := mustOpen(t, filepath.Join(t.TempDir(), "broker.db"))
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
	_ = s.Close()
	err := s.Run(t.Context(), []broker.Pass{{Name: "reap", Every: time.Second, Run: nothing}}, testlog.Silent(t))
	if !errors.Is(err, broker.ErrUnavailable) {
		t.Errorf("Run on a closed store = %v, want ErrUnavailable", err)
	}
}
