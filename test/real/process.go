package real

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"syscall"
	"time"
)

// process is one program that runs in a process group of its own, with its
// output in a file. It dies with the test, even if that is killed.
type process struct {
	name string
	cmd  *exec.Cmd
	log  string
	done chan struct{} // closed when the program has ended
}

// start runs a program, and returns when it runs.
func start(dir, path string, args ...string) (*process, error) {
	return startAs(dir, filepath.Base(path), []string{"HOME=" + dir, "PATH=" + os.Getenv("PATH")}, path, args...)
}

// startAs runs a program under a name and in an environment of the caller's.
func startAs(dir, name string, env []string, path string, args ...string) (*process, error) {
	p := &process{name: name, log: filepath.Join(dir, name+".log"), done: make(chan struct{})}
	out, err := os.OpenFile(p.log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, fmt.Errorf("opening log of %s: %w", name, err)
	}
	p.cmd = exec.Command(path, args...)
	p.cmd.Dir, p.cmd.Stdout, p.cmd.Stderr = dir, out, out
	p.cmd.Env = env
	p.cmd.SysProcAttr = dieWithParent()
	started := make(chan error)
	go func() {
		// The kernel delivers the parent-death signal when this thread ends, so
		// the thread stays for as long as the program runs.
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		defer close(p.done)
		defer out.Close()
		err := p.cmd.Start()
		started <- err
		if err == nil {
			_ = p.cmd.Wait() // how it ended is in its log
		}
	}()
	if err := <-started; err != nil {
		return nil, fmt.Errorf("starting %s: %w", name, err)
	}
	return p, nil
}

// signal sends a signal to the whole group.
func (p *process) signal(s syscall.Signal) error {
	if err := syscall.Kill(-p.cmd.Process.Pid, s); err != nil && !errors.Is(err, syscall.ESRCH) {
		return fmt.Errorf("sending %s to %s: %w", s, p.name, err)
	}
	return nil
}

// pause stops the program in its tracks, and returns when it does nothing more.
func (p *process) pause() error {
	if err := p.signal(syscall.SIGSTOP); err != nil {
		return err
	}
	if err := awaitStop(p.cmd.Process.Pid); err != nil {
		return fmt.Errorf("waiting for %s to stop: %w", p.name, err)
	}
	return nil
}

// kill ends the program at once. It may be called twice.
func (p *process) kill() {
	select {
	case <-p.done:
	default:
		_ = p.signal(syscall.SIGKILL)
		<-p.done
	}
}

// await polls until ready answers nil, the program ends, or ctx does.
func (p *process) await(ctx context.Context, ready func(context.Context) error) error {
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for {
		err := ready(ctx)
		if err == nil {
			return nil
		}
		select {
		case <-p.done:
			return fmt.Errorf("%s ended while starting; its log ends with:\n%s", p.name, p.tail())
		case <-ctx.Done():
			return fmt.Errorf("waiting for %s: %w (%w); its log ends with:\n%s", p.name, ctx.Err(), err, p.tail())
		case <-tick.C:
		}
	}
}

// tail is the end of the log.
func (p *process) tail() []byte {
	text, err := os.ReadFile(p.log)
	if err != nil {
		return nil
	}
	lines := bytes.Split(bytes.TrimSpace(text), []byte("\n"))
	return bytes.Join(lines[max(0, len(lines)-8):], []byte("\n"))
}
