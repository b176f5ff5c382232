package crash_test

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/vimbroker/vimbroker/broker/api/client"
	"github.com/vimbroker/vimbroker/broker/secret"
	"github.com/vimbroker/vimbroker/test/process"
	"github.com/vimbroker/vimbroker/test/story"
)

// patience bounds every wait of the kit: far longer than what is waited for
// takes, on a machine that does other things too.
const patience = process.Patience

// server is one process of "vimbroker serve". It is killed when its test ends.
type server struct {
	*client.Client
	*story.Broker
	t     testing.TB
	token string
	// armFile is what the process reads its failpoint from.
	armFile string
}

// launch starts a server on a data directory with a failpoint armed from the
// first line on; an empty one arms none. It returns when the server listens or
// has ended.
func launch(t testing.TB, dir, point string) *server {
	t.Helper()
	home := t.TempDir()
	s := &server{t: t, armFile: filepath.Join(home, "failpoint")}
	s.arm(point)
	env := []string{"PATH=" + os.Getenv("PATH"), "HOME=" + home, "VIMBROKER_FAILPOINT=" + s.armFile}
	var err error
	s.Broker, err = story.Launch((*exec.Cmd).Start, binary, home, env, "--dev", "--listen", "127.0.0.1:0", "--data-dir", dir, "--log-format", "json")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		s.Kill()
		if t.Failed() {
			t.Logf("log of the server %d:\n%s", s.PID(), s.Log)
		}
	})
	if s.URL != "" {
		s.connect(dir)
	}
	return s
}

// start is launch for a server that must become ready.
func start(t testing.TB, dir string) *server {
	t.Helper()
	s := launch(t, dir, "")
	if s.URL == "" {
		t.Fatalf("the server ended at start:\n%s", s.Log)
	}
	if err := s.AwaitReady(); err != nil {
		t.Fatal(err)
	}
	return s
}

func (s *server) connect(dir string) {
	s.t.Helper()
	text, err := os.ReadFile(filepath.Join(dir, "dev-token"))
	if err != nil {
		s.t.Fatal(err)
	}
	s.token = strings.TrimSpace(string(text))
	if s.Client, err = client.New(client.Options{Addr: s.URL, Token: secret.NewText(s.token)}); err != nil {
		s.t.Fatal(err)
	}
}

// awaitSettled waits until what the process before left is finished, and fails if this
// one ends before.
func (s *server) awaitSettled() error {
	ctx, cancel := context.WithTimeout(s.t.Context(), patience)
	defer cancel()
	_, err := s.Log.Next(ctx, `"msg":"settled what an earlier process left"`)
	if ctx.Err() != nil {
		s.t.Fatal(err)
	}
	return err
}

// command is a run of the command line against the server.
func (s *server) command(args ...string) *exec.Cmd {
	c := exec.CommandContext(s.t.Context(), binary, args...)
	c.Env = []string{"PATH=" + os.Getenv("PATH"), "VIMBROKER_ADDR=" + s.URL, "VIMBROKER_TOKEN=" + s.token}
	return c
}

// arm makes the process die at a failpoint ("name", or "name#3" for the third
// time from now on); an empty one disarms it.
func (s *server) arm(point string) {
	s.t.Helper()
	next := s.armFile + ".next"
	if err := os.WriteFile(next, []byte(point), 0o600); err != nil {
		s.t.Fatal(err)
	}
	if err := os.Rename(next, s.armFile); err != nil {
		s.t.Fatal(err)
	}
}

// wantKilled waits for the process to have died of SIGKILL, and of nothing else.
func (s *server) wantKilled() {
	s.t.Helper()
	state, err := s.Ended(patience)
	if err != nil {
		s.t.Fatal(err)
	}
	if status := state.Sys().(syscall.WaitStatus); !status.Signaled() || status.Signal() != syscall.SIGKILL {
		s.t.Fatalf("the server ended with %v, want SIGKILL", state)
	}
}

// stop ends the process as an operator would, and wants it to end well.
func (s *server) stop() {
	s.t.Helper()
	if err := s.Stop(); err != nil {
		s.t.Fatal(err)
	}
}

// cutOff reports whether a call ended without an answer: as one does whose
// server was killed.
func cutOff(err error) bool { return err != nil && client.Status(err) == 0 }

// eventually tries check, first often and then less so, until it returns nil.
func eventually(t testing.TB, what string, check func() error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	for wait := 5 * time.Millisecond; ; wait = min(2*wait, 200*time.Millisecond) {
		err := check()
		if err == nil {
			return
		}
		select {
		case <-time.After(wait):
		case <-ctx.Done():
			t.Fatalf("waiting until %s: %v", what, errors.Join(err, ctx.Err()))
		}
	}
}
