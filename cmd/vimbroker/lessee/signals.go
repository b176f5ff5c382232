package lessee

import (
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"slices"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/vimbroker/vimbroker/cmd/vimbroker/console"
)

// Relayed are the signals that exec passes on.
var Relayed = []os.Signal{
	syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT,
	syscall.SIGUSR1, syscall.SIGUSR2, syscall.SIGWINCH,
}

// signals are those that came since [catchSignals]. Until there is a command to
// pass them to, the first one that asks for an end is remembered.
type signals struct {
	queue chan os.Signal
	// arrived is closed when a signal asked for an end before the command ran.
	arrived chan struct{}
	// relaying is closed when the command runs.
	relaying chan struct{}
	gathered chan struct{}

	mu    sync.Mutex
	ended syscall.Signal
}

// catchSignals keeps signals from ending this process. Those that are ignored stay
// so, for the command as well.
func catchSignals() *signals {
	s := &signals{
		queue:    make(chan os.Signal, 16),
		arrived:  make(chan struct{}),
		relaying: make(chan struct{}),
		gathered: make(chan struct{}),
	}
	signal.Notify(s.queue, console.Heeded(slices.Clone(Relayed)...)...)
	go s.gather()
	return s
}

// gather remembers until relay takes over.
func (s *signals) gather() {
	defer close(s.gathered)
	for {
		select {
		case <-s.relaying:
			return
		case got := <-s.queue:
			s.remember(got.(syscall.Signal))
		}
	}
}

func (s *signals) remember(got syscall.Signal) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if got == syscall.SIGWINCH || s.ended != 0 {
		return
	}
	s.ended = got
	close(s.arrived)
}

// first is the signal that asked for an end before the command ran, or 0.
func (s *signals) first() syscall.Signal {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.ended
}

// release lets signals do again what they do by default.
func (s *signals) release() {
	signal.Stop(s.queue)
	select {
	case <-s.relaying:
	default:
		close(s.relaying)
	}
	<-s.gathered
}

// relay passes signals on to the started command until it ends, and returns its exit code.
func (s *signals) relay(c *exec.Cmd) (int, error) {
	close(s.relaying)
	<-s.gathered
	group := c.SysProcAttr.Setpgid
	if early := s.first(); early != 0 {
		deliver(c, group, early) // came while the command was being started
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		awaitExit(c.Process.Pid)
	}()
	for {
		select {
		case got := <-s.queue:
			deliver(c, group, got.(syscall.Signal))
		case <-ended:
			// Only now is the process reaped: until here its id was its own.
			err := c.Wait()
			if c.ProcessState == nil {
				return console.ExitNotRun, fmt.Errorf("waiting for the command: %w", err)
			}
			return outcome(c.ProcessState), nil
		}
	}
}

// deliver passes one signal on, unless the terminal sent it to the command already.
func deliver(c *exec.Cmd, group bool, s syscall.Signal) {
	if group {
		_ = syscall.Kill(-c.Process.Pid, s) // the group may be gone: then there is no one to tell
		return
	}
	switch s {
	case syscall.SIGINT, syscall.SIGQUIT, syscall.SIGWINCH:
		if inForeground() {
			return
		}
	}
	_ = c.Process.Signal(s)
}

// hasTerminal reports whether this process has a controlling terminal.
func hasTerminal() bool {
	tty, err := os.OpenFile("/dev/tty", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		return false
	}
	tty.Close()
	return true
}

// inForeground reports whether the terminal's keys send their signals to this
// process's group, and so to the command in it.
func inForeground() bool {
	tty, err := os.OpenFile("/dev/tty", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		return false
	}
	defer tty.Close()
	group, err := unix.IoctlGetInt(int(tty.Fd()), unix.TIOCGPGRP)
	return err == nil && group == syscall.Getpgrp()
}

// awaitExit returns when a child has ended, and leaves it to be reaped.
func awaitExit(pid int) {
	for {
		err := unix.Waitid(unix.P_PID, pid, nil, unix.WEXITED|unix.WNOWAIT, nil)
		if err != unix.EINTR {
			return
		}
	}
}
