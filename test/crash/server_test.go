package crash_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/vimbroker/vimbroker/broker/api/client"
	"github.com/vimbroker/vimbroker/broker/secret"
)

// patience bounds every wait of the kit: far longer than what is waited for
// takes, on a machine that does other things too.
const patience = time.Minute

// server is one process of "vimbroker serve". It is killed when its test ends.
type server struct {
	*client.Client
	t     testing.TB
	addr  string
	token string
	cmd   *exec.Cmd
	// armFile is what the process reads its failpoint from.
	armFile string
	ready   chan struct{} // closed when it says that it is ready
	exited  chan struct{} // closed when it has ended; cmd.ProcessState is set then

	mu  sync.Mutex
	log bytes.Buffer
}

// launch starts a server on a data directory with a failpoint armed from the
// first line on; an empty one arms none. It returns when the server listens or
// has ended.
func launch(t testing.TB, dir, point string) *server {
	t.Helper()
	s := &server{t: t, armFile: filepath.Join(t.TempDir(), "failpoint"), ready: make(chan struct{}), exited: make(chan struct{})}
	s.arm(point)
	s.cmd = exec.Command(binary, "serve", "--dev", "--listen", "127.0.0.1:0", "--data-dir", dir, "--log-format", "json")
	s.cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + t.TempDir(), "VIMBROKER_FAILPOINT=" + s.armFile}
	stderr, err := s.cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := s.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	listening := make(chan string, 1)
	go func() {
		s.read(bufio.NewReader(stderr), listening)
		_ = s.cmd.Wait() // how it ended is in ProcessState
		close(s.exited)
	}()
	t.Cleanup(func() {
		_ = s.cmd.Process.Kill()
		<-s.exited
		if t.Failed() {
			t.Logf("log of the server %d:\n%s", s.cmd.Process.Pid, s.logged())
		}
	})
	select {
	case s.addr = <-listening:
		s.connect(dir)
	case <-s.exited:
	case <-time.After(patience):
		t.Fatalf("the server neither listens nor ends after %v", patience)
	}
	return s
}

// start is launch for a server that must become ready.
func start(t testing.TB, dir string) *server {
	t.Helper()
	s := launch(t, dir, "")
	if s.addr == "" {
		t.Fatalf("the server ended at start: %v\n%s", s.cmd.ProcessState, s.logged())
	}
	s.wantReady()
	return s
}

// read keeps what the server logs, and tells where it listens.
func (s *server) read(r *bufio.Reader, listening chan<- string) {
	for {
		line, err := r.ReadBytes('\n')
		s.mu.Lock()
		s.log.Write(line)
		s.mu.Unlock()
		if err != nil {
			return
		}
		var entry struct{ Msg, URL string }
		if json.Unmarshal(line, &entry) != nil {
			continue // meant for people
		}
		switch entry.Msg {
		case "listening":
			listening <- entry.URL
		case "ready":
			close(s.ready)
		}
	}
}

func (s *server) logged() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.log.String()
}

func (s *server) connect(dir string) {
	s.t.Helper()
	text, err := os.ReadFile(filepath.Join(dir, "dev-token"))
	if err != nil {
		s.t.Fatal(err)
	}
	s.token = strings.TrimSpace(string(text))
	if s.Client, err = client.New(client.Options{Addr: s.addr, Token: secret.NewText(s.token)}); err != nil {
		s.t.Fatal(err)
	}
}

// wantReady waits for the server to say that it is ready, and for /readyz to agree.
func (s *server) wantReady() {
	s.t.Helper()
	select {
	case <-s.ready:
	case <-s.exited:
		s.t.Fatalf("the server ended before it was ready: %v", s.cmd.ProcessState)
	case <-time.After(patience):
		s.t.Fatalf("the server is not ready after %v", patience)
	}
	if err := s.Ready(s.t.Context()); err != nil {
		s.t.Fatalf("GET /readyz of a server that says it is ready: %v", err)
	}
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

// ended waits for the process to end.
func (s *server) ended(within time.Duration) (syscall.WaitStatus, error) {
	select {
	case <-s.exited:
		return s.cmd.ProcessState.Sys().(syscall.WaitStatus), nil
	case <-time.After(within):
		return 0, fmt.Errorf("the server still runs after %v", within)
	}
}

// wantKilled waits for the process to have died of SIGKILL, and of nothing else.
func (s *server) wantKilled() {
	s.t.Helper()
	status, err := s.ended(patience)
	if err != nil {
		s.t.Fatal(err)
	}
	if !status.Signaled() || status.Signal() != syscall.SIGKILL {
		s.t.Fatalf("the server ended with %v, want SIGKILL", s.cmd.ProcessState)
	}
}

// kill kills it here and now.
func (s *server) kill() {
	s.t.Helper()
	if err := s.cmd.Process.Kill(); err != nil {
		s.t.Fatal(err)
	}
	s.wantKilled()
}

// stop ends the process as an operator would, and wants it to end well.
func (s *server) stop() {
	s.t.Helper()
	if err := s.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		s.t.Fatal(err)
	}
	status, err := s.ended(patience)
	if err != nil {
		s.t.Fatal(err)
	}
	if status.ExitStatus() != 0 {
		s.t.Fatalf("after SIGTERM the server ended with %v, want 0", s.cmd.ProcessState)
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
