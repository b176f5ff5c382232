package lessee

import (
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"slices"
	"sync"
	"syscall"

	"github.com/vimbroker/vimbroker/cmd/vimbroker/console"
)

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
	if !asksForEnd(got) || s.ended != 0 {
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
}

// relay passes signals on to the started command until it ends, and returns its exit code.
func (s *signals) relay(c *exec.Cmd) (int, error) {
	close(s.relaying)
	<-s.gathered
	if early := s.first(); early != 0 {
		deliver(c, early) // came while the command was being started
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		awaitExit(c.Process.Pid)
	}()
	for {
		select {
		case got := <-s.queue:
			deliver(c, got.(syscall.Signal))
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
