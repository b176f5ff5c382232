package sqlite

import (
	"context"
	"path/filepath"
	"testing"
	"time"

	"github.com/vimbroker/vimbroker/broker/job"
	"github.com/vimbroker/vimbroker/policy/audit"
	"github.com/vimbroker/vimbroker/test/testlog"
)

// TestJobOfADeadProcessStartsAtOnce leaves the rows that a killed process leaves.
func TestJobOfADeadProcessStartsAtOnce(t *testing.T) {
	t.Parallel()
	s := mustOpen(t, filepath.Join(t.TempDir(), "broker.db"))
	block, started := make(chan struct{}), make(chan struct{}, 10)
	work := func(s *Store) {
		ctx, cancel := context.WithCancel(context.Background())
		ended := make(chan error, 1)
		go func() {
			ended <- s.Run(ctx, nil, testlog.Silent(t), job.Worker{Kind: "lcm", AtOnce: 1, Work: func(context.Context, string) error {
				started <- struct{}{}
				<-block
				return nil
			}})
		}()
		t.Cleanup(func() {
			cancel()
			if err := <-ended; err != nil {
				t.Errorf("Run = %v", err)
			}
		})
	}
	defer close(block)
	work(s)
	e := audit.Entry{Time: time.Unix(1, 0), Principal: "alice", Action: "vim:register", Outcome: audit.Done}
	if err := s.Enqueue(t.Context(), e, job.Job{Kind: "lcm", Subject: "7d0c"}); err != nil {
		t.Fatal(err)
	}
	wait(t, "the job", started)
	copyPath := filepath.Join(t.TempDir(), "broker.db")
	if _, err := s.writer.Exec(`VACUUM INTO ?`, copyPath); err != nil {
		t.Fatal(err)
	}
	after := mustOpen(t, copyPath)
	begin := time.Now()
	work(after)
	wait(t, "the job after the restart", started)
	if took := time.Since(begin); took > job.TakeoverAfter/2 {
		t.Errorf("the job ran %v after the restart: the dead worker was waited for", took)
	} else {
		t.Logf("the job ran %v after the restart", took)
	}
}
