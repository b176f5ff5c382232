//go:build !linux || !amd64

package replicas

import (
	"os/exec"
	"testing"
	"time"
)

func startApart(t testing.TB, _ time.Duration) func(*exec.Cmd) error {
	t.Helper()
	t.Skip("the clock of a process can be set apart on Linux and amd64 only")
	return nil
}
