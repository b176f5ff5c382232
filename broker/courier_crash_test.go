//go:build unix && failpoints

package broker_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/vimbroker/vimbroker/broker/delivery"
	"github.com/vimbroker/vimbroker/drivers/outlet"
	"github.com/vimbroker/vimbroker/test/process"
)

// TestKilledOnTheWay kills a process with SIGKILL at each failpoint, and checks that the
// next one goes on: no entry is missing, and what was on the way comes twice at most.
func TestKilledOnTheWay(t *testing.T) {
	var dir string
	if process.Errand(t, &dir) {
		deliverTo(t, dir, 2)
		t.Fatal("the process lives on")
	}
	for point, repeats := range map[string]int{"deliver.after-send": 3, "deliver.after-cursor": 0} {
		t.Run(point, func(t *testing.T) {
			dir := t.TempDir()
			process.KillAt(t, point, dir)
			deliverTo(t, dir, 1)
			text, err := os.ReadFile(filepath.Join(dir, "audit.jsonl"))
			if err != nil {
				t.Fatal(err)
			}
			if got, want := strings.Count(string(text), "\n"), 2+1+1+repeats; got != want {
				t.Errorf("%d lines, want %d:\n%s", got, want, text)
			}
		})
	}
}

// deliverTo appends n entries to the log in a directory, and delivers it to a file there.
func deliverTo(t *testing.T, dir string, n int) {
	t.Helper()
	b := outboundIn(t, dir)
	b.append(n)
	f := outlet.NewFile(outlet.FileOptions{Path: filepath.Join(dir, "audit.jsonl")})
	defer f.Close()
	b.deliver(b.courier(sink(delivery.Required, f)))
}
