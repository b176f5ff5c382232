package main

import (
	"bytes"
	"context"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/vimbroker/vimbroker/test/real"
	"github.com/vimbroker/vimbroker/test/story"
)

// binary builds the program that the demo runs.
func binary(t *testing.T) string {
	t.Helper()
	real.DemandClusterAPI(t)
	return story.Build(t, t.TempDir())
}

// TestDemo runs all of it: a package of a cluster is instantiated on a management cluster whose
// Cluster API is a CNF itself, its cluster becomes a VIM, a CNF is instantiated there, both are
// scaled, changed and terminated, and the VIM, its key and all leases go. The demo fails where
// something is not so.
func TestDemo(t *testing.T) {
	bin := binary(t)
	var out bytes.Buffer
	began := time.Now()
	if err := run(t.Context(), []string{"-vimbroker", bin}, &out); err != nil {
		t.Fatalf("%v\n%s", err, &out)
	}
	t.Logf("the demo took %s", time.Since(began).Round(time.Second))
	nothingIsLeft(t, out.String())
}

// TestInterruptedDemo interrupts it as it begins, and when all of it runs.
func TestInterruptedDemo(t *testing.T) {
	bin := binary(t)
	for _, moment := range []string{"starting a Kubernetes", "$ vimbroker cluster watch"} {
		ctx, interrupt := context.WithCancel(t.Context())
		out := &until{text: moment, met: interrupt}
		if err := run(ctx, []string{"-vimbroker", bin}, out); err != nil {
			t.Fatalf("%s: %v\n%s", moment, err, out)
		}
		if ctx.Err() == nil || !strings.Contains(out.String(), "interrupted") {
			t.Errorf("%s: it was not interrupted:\n%s", moment, out)
		}
		nothingIsLeft(t, out.String())
	}
}

// until calls met when a text is written.
type until struct {
	text string
	met  func()

	mu  sync.Mutex
	all strings.Builder
}

var _ io.Writer = (*until)(nil)

// Write implements [io.Writer].
func (u *until) Write(p []byte) (int, error) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.all.Write(p)
	if strings.Contains(u.all.String(), u.text) {
		u.met()
	}
	return len(p), nil
}

func (u *until) String() string {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.all.String()
}

// nothingIsLeft fails if the demo's directory is there still, or a process that works in it.
func nothingIsLeft(t *testing.T, out string) {
	t.Helper()
	found := regexp.MustCompile(`everything is in (\S+)`).FindStringSubmatch(out)
	if found == nil {
		t.Fatalf("it does not say where it is:\n%s", out)
	}
	if _, err := os.Stat(found[1]); !os.IsNotExist(err) {
		t.Errorf("%s is left: %v", found[1], err)
	}
	all, err := filepath.Glob("/proc/[0-9]*")
	if err != nil || len(all) == 0 {
		t.Fatalf("%d processes, %v", len(all), err)
	}
	for _, process := range all {
		cwd, err := os.Readlink(filepath.Join(process, "cwd"))
		if err == nil && strings.HasPrefix(cwd, found[1]) {
			line, _ := os.ReadFile(filepath.Join(process, "cmdline"))
			t.Errorf("a process is left: %s", bytes.ReplaceAll(line, []byte{0}, []byte{' '}))
		}
	}
}
