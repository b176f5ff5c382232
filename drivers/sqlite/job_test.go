package sqlite

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/vimbroker/vimbroker/broker/job"
	"github.com/vimbroker/vimbroker/drivers/tables"
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

// TestAWriteOfAJobIsHeldByItsClaim: what it says is said, and where the claim has ended it is not asked.
func TestAWriteOfAJobIsHeldByItsClaim(t *testing.T) {
	s := mustOpen(t, filepath.Join(t.TempDir(), "broker.db"))
	e := audit.Entry{Time: time.Unix(1, 0), Principal: "alice", Action: "vim:register", Outcome: audit.Done}
	if err := s.Enqueue(t.Context(), e, job.Job{Kind: "lcm", Subject: "7d0c"}); err != nil {
		t.Fatal(err)
	}
	claim := job.Claim{Job: job.Job{Kind: "lcm", Subject: "7d0c"}}
	if err := s.writer.QueryRow(`SELECT fence FROM jobs`).Scan(&claim.Fence); err != nil {
		t.Fatal(err)
	}
	other := claim
	other.Fence++
	for _, c := range []struct {
		claim      job.Claim
		says, want error
		asked      bool
	}{
		{claim, nil, nil, true}, {claim, errStumbled, errStumbled, true}, {other, nil, job.ErrFenced, false},
	} {
		asked := false
		err := database{s}.Change(job.WithClaim(t.Context(), c.claim), func(tables.Transaction) error { asked = true; return c.says })
		if !errors.Is(err, c.want) || asked != c.asked {
			t.Errorf("a write that says %v under fence %d: %v, asked %t; want %v, %t", c.says, c.claim.Fence, err, asked, c.want, c.asked)
		}
	}
}

// TestTheTreeGrowsWhereItLacksEntries, or where nobody can tell.
func TestTheTreeGrowsWhereItLacksEntries(t *testing.T) {
	s := mustOpen(t, filepath.Join(t.TempDir(), "broker.db"))
	ended, end := context.WithCancel(t.Context())
	end()
	if s.ungrown(t.Context()) || !s.ungrown(ended) {
		t.Error("an empty tree lacks entries, or does not where nobody can tell")
	}
	if err := s.Append(t.Context(), entryOf("x")); err != nil {
		t.Fatal(err)
	}
	if !s.ungrown(t.Context()) {
		t.Error("a tree without the newest entry lacks none")
	}
	if _, err := s.GrowTree(t.Context(), true); err != nil || s.ungrown(t.Context()) {
		t.Errorf("a tree that has grown lacks entries: %v", err)
	}
	file, err := os.CreateTemp(t.TempDir(), "lock")
	if err != nil {
		t.Fatal(err)
	}
	if err := file.Close(); err != nil {
		t.Fatal(err)
	}
	if err := (lock{file}).Close(); !errors.Is(err, os.ErrClosed) {
		t.Errorf("a lock that is given back twice: %v", err)
	}
}
