package story

import (
	"bytes"
	"errors"
	"os/exec"
	"testing"
)

// Shell runs command lines as a user types them, in one directory and with one
// environment.
type Shell struct {
	Dir string
	Env []string
	// Before are lines that the user has typed and that hold for all that follow, like
	// exports.
	Before string
}

// Result is what a command line left.
type Result struct {
	Stdout, Stderr string
	Code           int
}

// Try runs a command line and returns what it left, whatever its exit code.
func (s Shell) Try(t testing.TB, line string) Result {
	t.Helper()
	var stdout, stderr bytes.Buffer
	c := exec.Command("sh", "-c", s.Before+line) // in a Cleanup too, when the test's context is over
	c.Dir, c.Env, c.Stdout, c.Stderr = s.Dir, s.Env, &stdout, &stderr
	err := c.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatalf("%s: %v", line, err)
	}
	return Result{Stdout: stdout.String(), Stderr: stderr.String(), Code: c.ProcessState.ExitCode()}
}

// Must runs a command line that is to succeed, and returns its standard output.
func (s Shell) Must(t testing.TB, line string) string {
	t.Helper()
	r := s.Try(t, line)
	if r.Code != 0 {
		t.Fatalf("%s: exit code %d\n%s%s", line, r.Code, r.Stdout, r.Stderr)
	}
	return r.Stdout
}
