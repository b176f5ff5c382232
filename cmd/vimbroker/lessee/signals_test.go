package lessee

import (
	"os"
	"os/exec"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"github.com/vimbroker/vimbroker/cmd/vimbroker/console"
	"github.com/vimbroker/vimbroker/test/story"
)

func TestExitCodeIsTheShells(t *testing.T) {
	for script, want := range map[string]int{"exit 0": 0, "exit 42": 42, "kill -KILL $$": 137, "kill -HUP $$": 129} {
		c := exec.Command("sh", "-c", script)
		_ = c.Run()
		if got := outcome(c.ProcessState); got != want {
			t.Errorf("outcome of %q = %d, want %d", script, got, want)
		}
	}
}

func TestInterruptedBeforeTheCommandRuns(t *testing.T) {
	s := catchSignals()
	defer s.release()
	if s.first() != 0 {
		t.Fatal("a signal before any came")
	}
	if err := syscall.Kill(os.Getpid(), syscall.SIGHUP); err != nil {
		t.Fatal(err)
	}
	<-s.arrived
	if got := s.first(); got != syscall.SIGHUP {
		t.Errorf("first = %v, want HUP", got)
	}
}

// What still comes while relay takes over is passed on before what comes later.
func TestASignalBetweenIsPassedOn(t *testing.T) {
	s := &signals{queue: make(chan os.Signal, 1), arrived: make(chan struct{}), relaying: make(chan struct{}), gathered: make(chan struct{})}
	c := exec.Command("cat")
	c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if _, err := c.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	go func() { // in the place of gather
		<-s.relaying
		for range 1000 {
			runtime.Gosched()
		}
		s.remember(syscall.SIGHUP)
		s.queue <- syscall.SIGTERM
		close(s.gathered)
	}()
	if code, err := s.relay(c); err != nil || code != 128+int(syscall.SIGHUP) {
		t.Errorf("the command ended with %d, %v, want that of HUP", code, err)
	}
}

func TestACommandThatSomebodyElseReaped(t *testing.T) {
	s := catchSignals()
	defer s.release()
	c := exec.Command("true")
	c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	if _, err := syscall.Wait4(c.Process.Pid, nil, 0, nil); err != nil {
		t.Fatal(err)
	}
	if code, err := s.relay(c); code != console.ExitNotRun || err == nil || !strings.HasPrefix(err.Error(), "waiting for the command: ") {
		t.Errorf("relay = %d, %v", code, err)
	}
}

func TestCommandsAreFoundAsTheyWillRun(t *testing.T) {
	script := story.WriteFile(t, "tool", "#!/bin/sh\n", 0o755)
	plain := story.WriteFile(t, "plain", "", 0o644)
	dir, other := script[:strings.LastIndex(script, "/")], plain[:strings.LastIndex(plain, "/")]
	env := console.Environment{"PATH=" + other + "::" + dir}
	// An empty element is the working directory, whose commands do not run.
	t.Chdir(t.TempDir())
	if err := os.WriteFile("tool", []byte("#!/bin/sh\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	if path, err := lookPath("tool", env); err != nil || path != script {
		t.Errorf("lookPath(tool) = %q, %v, want %q", path, err, script)
	}
	for name, want := range map[string]int{"nonesuch": console.ExitNoCommand, "plain": console.ExitNotExecutable, "./nonesuch": console.ExitNoCommand, dir: console.ExitNotExecutable} {
		if _, err := lookPath(name, env); err == nil || startCode(err) != want {
			t.Errorf("lookPath(%s) = %v, want code %d", name, err, want)
		}
	}
}
