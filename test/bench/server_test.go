package bench

import (
	"bufio"
	"fmt"
	"io"
	"net/http"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"
)

// program is the one binary, built when it is first needed.
type program struct {
	dir  string
	once sync.Once
	path string
}

func (p *program) binary(b *testing.B) string {
	b.Helper()
	p.once.Do(func() {
		bin := filepath.Join(p.dir, "vimbroker")
		build := exec.Command("go", "build", "-trimpath", "-ldflags", "-s -w", "-o", bin, "github.com/vimbroker/vimbroker/cmd/vimbroker")
		if out, err := build.CombinedOutput(); err != nil {
			b.Errorf("building vimbroker: %v\n%s", err, out)
			return
		}
		p.path = bin
	})
	if p.path == "" {
		b.Fatal("there is no program to measure")
	}
	return p.path
}

// server is a running "vimbroker serve --dev".
type server struct {
	// url is where it says that it listens.
	url string

	cmd  *exec.Cmd
	said strings.Builder // its log; to be read once ended is closed
	gone chan struct{}   // closed when the log has ended
	once sync.Once
	err  error // how the process ended
}

var readyLine = regexp.MustCompile(`msg=ready url=(http://[0-9.:]+)`)

// serveIn starts the program in the try-out mode on a data directory, and
// returns when it says that it is ready.
func serveIn(bin, home, data string) (*server, error) {
	s := &server{gone: make(chan struct{})}
	s.cmd = exec.Command(bin, "serve", "--dev", "--listen", "127.0.0.1:0", "--data-dir", data)
	s.cmd.Dir, s.cmd.Env = home, []string{"HOME=" + home, "TMPDIR=" + home}
	stderr, err := s.cmd.StderrPipe()
	if err != nil {
		return nil, fmt.Errorf("starting the server: %w", err)
	}
	if err := s.cmd.Start(); err != nil {
		return nil, fmt.Errorf("starting the server: %w", err)
	}
	ready := make(chan string, 1)
	go func() {
		defer close(s.gone)
		defer close(ready)
		lines := bufio.NewScanner(io.TeeReader(stderr, &s.said))
		lines.Buffer(nil, 1<<20)
		for found := false; lines.Scan(); {
			if m := readyLine.FindStringSubmatch(lines.Text()); m != nil && !found {
				ready <- m[1]
				found = true
			}
		}
	}()
	var ok bool
	if s.url, ok = <-ready; !ok {
		s.kill()
		return nil, fmt.Errorf("the server ended before it was ready; its log: %s", s.said.String())
	}
	return s, nil
}

func (s *server) pid() int { return s.cmd.Process.Pid }

// ready errs unless the server says at /readyz that it is.
func (s *server) ready() error {
	answer, err := http.Get(s.url + "/readyz")
	if err != nil {
		return fmt.Errorf("asking whether the server is ready: %w", err)
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		return fmt.Errorf("asking whether the server is ready: %s", answer.Status)
	}
	return nil
}

// stop ends the server by SIGTERM, and errs if it did not end well.
func (s *server) stop() error {
	_ = s.cmd.Process.Signal(syscall.SIGTERM) // if it has ended, wait tells how
	if err := s.wait(); err != nil {
		return fmt.Errorf("the server ended badly: %w; its log: %s", err, s.said.String())
	}
	return nil
}

// kill ends the server at once. It may be called twice, and after stop.
func (s *server) kill() {
	_ = s.cmd.Process.Kill()
	_ = s.wait()
}

func (s *server) wait() error {
	s.once.Do(func() {
		<-s.gone // all of the log is read, as the pipe demands
		s.err = s.cmd.Wait()
	})
	return s.err
}
