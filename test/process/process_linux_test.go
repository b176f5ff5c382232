package process_test

import (
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/vimbroker/vimbroker/test/process"
)

// asTest makes this program be a test that starts a program and is killed.
const asTest = "VIMBROKER_TEST_AS_KILLED"

func TestMain(m *testing.M) {
	if os.Getenv(asTest) == "" {
		os.Exit(m.Run())
	}
	dir, _, err := process.MemoryDir("vimbroker-killed-")
	if err == nil {
		c := exec.Command("sh", "-c", "echo started $$ in $0 >&3; exec sleep 1000 3>&-", dir)
		c.Dir, c.ExtraFiles = dir, []*os.File{os.Stdout}
		_, err = process.Start(c, "sleeper")
	}
	if err != nil {
		panic(err)
	}
	select {}
}

// What a killed test started ends, and its directory goes.
func TestNothingOutlivesAKilledTest(t *testing.T) {
	c := exec.Command(os.Args[0])
	c.Dir, c.Env = t.TempDir(), append(os.Environ(), asTest+"=1")
	p, err := process.Start(c, "test")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Kill)
	line, err := p.Log.Next(t.Context(), "started ")
	if err != nil {
		t.Fatal(err)
	}
	words := strings.Fields(line) // started PID in DIR
	p.Kill()
	eventually(t, "the program ends", func() bool {
		stat, err := os.ReadFile(filepath.Join("/proc", words[1], "stat"))
		return err != nil || strings.Contains(string(stat), ") Z ") // nobody may be there to bury it
	})
	eventually(t, "its directory is removed", func() bool {
		_, err := os.Stat(words[3])
		return errors.Is(err, fs.ErrNotExist)
	})
}

func eventually(t *testing.T, what string, done func() bool) {
	t.Helper()
	late := time.After(process.Patience)
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for !done() {
		select {
		case <-tick.C:
		case <-late:
			t.Fatalf("waiting until %s: nothing comes of it", what)
		}
	}
}

func TestAProgramThatEndsSaysWhy(t *testing.T) {
	shell := func(script string) *process.Process {
		t.Helper()
		c := exec.Command("sh", "-c", script)
		c.Dir = t.TempDir()
		p, err := process.Start(c, "shell")
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(p.Kill)
		return p
	}
	p := shell("echo one; echo two; echo the disk is full >&2; exit 3")
	if line, err := p.Log.Next(t.Context(), "two", "one"); err != nil || line != "one" {
		t.Errorf("Next = %q, %v, want the first line that matches", line, err)
	}
	if _, err := p.Log.Next(t.Context(), "one"); err == nil || !strings.Contains(err.Error(), "the disk is full") {
		t.Errorf("Next for a line that does not come again = %v, want the log", err)
	}
	if err := p.Stop(); err == nil || !strings.Contains(err.Error(), "exit status 3") || !strings.Contains(err.Error(), "the disk is full") {
		t.Errorf("Stop of one that ended badly = %v, want its exit code and its log", err)
	}
	p = shell("trap 'exit 0' TERM; echo ready; while :; do sleep 0.01; done")
	if _, err := p.Log.Next(t.Context(), "ready"); err != nil {
		t.Fatal(err)
	}
	if err := p.Stop(); err != nil {
		t.Errorf("Stop of one that ends well: %v", err)
	}
	if err := p.Signal(syscall.SIGTERM); err != nil {
		t.Errorf("Signal to one that has ended: %v", err)
	}
}
