package lessee

import (
	"os"
	"os/exec"
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
