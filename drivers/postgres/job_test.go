package postgres

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"syscall"
	"testing"
	"time"

	"github.com/vimbroker/vimbroker/broker/job"
	"github.com/vimbroker/vimbroker/broker/secret"
	"github.com/vimbroker/vimbroker/test/real"
	"github.com/vimbroker/vimbroker/test/testlog"
)

const jobVariable = "VIMBROKER_TEST_JOB_DSN"

// TestJobsOfDeadAndStoppedReplicas kills, and stops, a process in the middle of a job:
// another takes the job over, and what was stopped can write nothing when it wakes.
func TestJobsOfDeadAndStoppedReplicas(t *testing.T) {
	for name, signal := range map[string]syscall.Signal{"killed": syscall.SIGKILL, "stopped": syscall.SIGSTOP} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dsn := real.Postgres(t).DSN(t)
			s := mustOpen(t, dsn)
			if err := s.Enqueue(t.Context(), entryOf("enqueue"), job.Job{Kind: "lcm", Subject: "7d0c"}); err != nil {
				t.Fatal(err)
			}
			child := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestChildJob$")
			child.Env = append(os.Environ(), jobVariable+"="+dsn)
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
				t.Fatal("the child works no job")
			}
			ctx, stop := context.WithCancel(t.Context())
			taken, ended := make(chan struct{}, 1), make(chan error, 1)
			go func() {
				ended <- s.Run(ctx, nil, testlog.Silent(t), job.Worker{Kind: "lcm", AtOnce: 1, Work: func(ctx context.Context, _ string) error {
					taken <- struct{}{}
					return s.Append(ctx, entryOf("successor"))
				}})
			}()
			if err := child.Process.Signal(signal); err != nil {
				t.Fatal(err)
			}
			begin := time.Now()
			wait(t, "job of a replica that was "+name, taken, 4*job.TakeoverAfter)
			t.Logf("taken over after %v", time.Since(begin).Round(time.Second))
			if signal == syscall.SIGSTOP {
				if err := child.Process.Signal(syscall.SIGCONT); err != nil {
					t.Fatal(err)
				}
				if !lines.Scan() || lines.Text() != "fenced" {
					t.Errorf("the write of the replica that came back said %q, want fenced", lines.Text())
				}
			}
			stop()
			if err := <-ended; err != nil {
				t.Errorf("Run = %v", err)
			}
		})
	}
}

// TestChildJob is the process that [TestJobsOfDeadAndStoppedReplicas] kills and stops.
// It ignores that its context ends, as a call that hangs would, and then writes.
func TestChildJob(t *testing.T) {
	dsn := os.Getenv(jobVariable)
	if dsn == "" {
		t.Skip("runs only as a child of another test")
	}
	s, err := Open(context.Background(), Options{DSN: secret.NewText(dsn)})
	if err != nil {
		t.Fatal(err)
	}
	_ = s.Run(context.Background(), nil, testlog.Silent(t), job.Worker{Kind: "lcm", AtOnce: 1, Work: func(ctx context.Context, _ string) error {
		fmt.Println("running")
		<-ctx.Done()
		if err := s.Append(context.WithoutCancel(ctx), entryOf("late")); errors.Is(err, job.ErrFenced) {
			fmt.Println("fenced")
		} else {
			fmt.Println("wrote:", err)
		}
		return ctx.Err()
	}})
}
