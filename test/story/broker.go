package story

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"sync"
	"syscall"
)

// Broker is a running server.
type Broker struct {
	// URL is where it says that it listens.
	URL string
	// Log is the path of its log.
	Log string

	cmd  *exec.Cmd
	done chan struct{} // closed when the log has ended
	once sync.Once
	err  error // how the process ended
}

var readyLine = regexp.MustCompile(`msg"?[=:]"?ready"?[, ]"?url"?[=:]"?(https?://[0-9.:]+)`)

// Serve starts "vimbroker serve" in dir with this environment, and returns when
// it says that it is ready. Its log is added to serve.log in dir, which may
// hold that of an earlier one. It fails with the log if the server ends before.
func Serve(bin, dir string, env []string, args ...string) (*Broker, error) {
	return ServeBy((*exec.Cmd).Start, bin, dir, env, args...)
}

// ServeBy is Serve where the process is started by start.
func ServeBy(start func(*exec.Cmd) error, bin, dir string, env []string, args ...string) (*Broker, error) {
	b := &Broker{Log: filepath.Join(dir, "serve.log"), done: make(chan struct{})}
	b.cmd = exec.Command(bin, append([]string{"serve"}, args...)...)
	b.cmd.Dir, b.cmd.Env = dir, env
	stderr, err := b.cmd.StderrPipe()
	if err != nil {
		return nil, fmt.Errorf("starting the server: %w", err)
	}
	log, err := os.OpenFile(b.Log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, fmt.Errorf("opening the server's log: %w", err)
	}
	if err := start(b.cmd); err != nil {
		log.Close()
		return nil, fmt.Errorf("starting the server: %w", err)
	}
	ready := make(chan string, 1)
	go func() {
		defer close(b.done)
		defer log.Close()
		defer close(ready)
		lines := bufio.NewScanner(io.TeeReader(stderr, log))
		lines.Buffer(nil, 1<<20)
		for said := false; lines.Scan(); {
			if found := readyLine.FindStringSubmatch(lines.Text()); found != nil && !said {
				ready <- found[1]
				said = true
			}
		}
	}()
	var ok bool
	if b.URL, ok = <-ready; !ok {
		b.Kill()
		text, _ := os.ReadFile(b.Log)
		return nil, fmt.Errorf("the server ended before it was ready; its log: %s", text)
	}
	return b, nil
}

// PID is the server's process id.
func (b *Broker) PID() int { return b.cmd.Process.Pid }

// Stop ends the server by SIGTERM, and errs if it did not end well.
func (b *Broker) Stop() error {
	_ = b.cmd.Process.Signal(syscall.SIGTERM) // if it has ended, wait tells how
	if err := b.wait(); err != nil {
		text, _ := os.ReadFile(b.Log)
		return fmt.Errorf("the server ended badly: %w; its log: %s", err, text)
	}
	return nil
}

// Kill ends the server at once. It may be called twice, and after Stop.
func (b *Broker) Kill() {
	_ = b.cmd.Process.Kill()
	_ = b.wait()
}

func (b *Broker) wait() error {
	b.once.Do(func() {
		<-b.done // all of the log is read, as the pipe demands
		b.err = b.cmd.Wait()
	})
	return b.err
}
