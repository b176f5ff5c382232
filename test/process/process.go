// Package process starts real programs for tests, on free addresses and in
// directories that go away. A program dies with the test, even if that is killed.
package process

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"syscall"
	"time"
)

// Patience bounds a wait for a program: far longer than what is waited for takes, on
// a machine that does other things too.
const Patience = 2 * time.Minute

// Process is one program that runs in a process group of its own.
type Process struct {
	// Log is all that it says, File the path of a copy that its next process goes on with.
	Log  *Log
	File string
	// Done is closed when it has ended.
	Done chan struct{}

	name string
	cmd  *exec.Cmd
}

// Start starts a command with its output in NAME.log of its directory, and returns
// when it runs.
func Start(c *exec.Cmd, name string) (*Process, error) {
	return StartBy((*exec.Cmd).Start, c, name)
}

// StartBy is Start where begin starts the process.
func StartBy(begin func(*exec.Cmd) error, c *exec.Cmd, name string) (*Process, error) {
	file := filepath.Join(c.Dir, name+".log")
	out, err := os.OpenFile(file, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, fmt.Errorf("opening log of %s: %w", name, err)
	}
	p := &Process{Log: NewLog(out), File: file, Done: make(chan struct{}), name: name, cmd: c}
	c.Stdout, c.Stderr = p.Log, p.Log
	c.SysProcAttr = dieWithParent()
	c.WaitDelay = 5 * time.Second // for what it started and left with its output
	started := make(chan error)
	go func() {
		// The kernel delivers the parent-death signal when this thread ends, so
		// the thread stays for as long as the program runs.
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		defer close(p.Done)
		defer out.Close()
		defer p.Log.End()
		err := begin(c)
		started <- err
		if err == nil {
			_ = c.Wait() // how it ended is in its state
		}
	}()
	if err := <-started; err != nil {
		return nil, fmt.Errorf("starting %s: %w", name, err)
	}
	return p, nil
}

// PID is the program's process id.
func (p *Process) PID() int { return p.cmd.Process.Pid }

// Signal sends a signal to the whole group. To one that has ended it sends none.
func (p *Process) Signal(s syscall.Signal) error {
	if err := syscall.Kill(-p.PID(), s); err != nil && !errors.Is(err, syscall.ESRCH) {
		return fmt.Errorf("sending %s to %s: %w", s, p.name, err)
	}
	return nil
}

// Pause stops the program in its tracks, and returns when it does nothing more.
func (p *Process) Pause() error {
	if err := p.Signal(syscall.SIGSTOP); err != nil {
		return err
	}
	if err := awaitStop(p.PID()); err != nil {
		return fmt.Errorf("waiting for %s to stop: %w", p.name, err)
	}
	return nil
}

// Kill ends the program at once. It may be called twice.
func (p *Process) Kill() {
	select {
	case <-p.Done:
	default:
		_ = p.Signal(syscall.SIGKILL)
		<-p.Done
	}
}

// Stop ends the program by SIGTERM, and fails if its exit code is not zero.
func (p *Process) Stop() error {
	select {
	case <-p.Done:
	default:
		_ = p.Signal(syscall.SIGTERM)
	}
	state, err := p.Ended(Patience)
	if err == nil && !state.Success() {
		err = fmt.Errorf("%s ended badly: %v", p.name, state)
	}
	if err != nil {
		return fmt.Errorf("%w; its log: %s", err, p.Log)
	}
	return nil
}

// Ended waits for the program to end, and returns how it did.
func (p *Process) Ended(within time.Duration) (*os.ProcessState, error) {
	select {
	case <-p.Done:
		return p.cmd.ProcessState, nil
	case <-time.After(within):
		return nil, fmt.Errorf("%s still runs after %v", p.name, within)
	}
}

// Await polls until ready answers nil, the program ends, or Patience does.
func (p *Process) Await(ctx context.Context, ready func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, Patience)
	defer cancel()
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for {
		err := ready(ctx)
		if err == nil {
			return nil
		}
		select {
		case <-p.Done:
			return fmt.Errorf("%s ended while starting; its log ends with:\n%s", p.name, p.Log.Tail())
		case <-ctx.Done():
			return fmt.Errorf("waiting for %s: %w (%w); its log ends with:\n%s", p.name, ctx.Err(), err, p.Log.Tail())
		case <-tick.C:
		}
	}
}
