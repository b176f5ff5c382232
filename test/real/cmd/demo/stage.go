package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/vimbroker/vimbroker/test/process"
	"github.com/vimbroker/vimbroker/test/real"
	"github.com/vimbroker/vimbroker/test/story"
)

// demo is what there is while it runs.
type demo struct {
	out                  io.Writer
	began                time.Time
	dir, root, vimbroker string

	env      []string // of what is typed
	broker   *story.Broker
	hub      *real.Cluster
	nodes    *real.Nodes
	manager  *process.Process
	provider *real.Provider
}

// stop ends all that was started, in the reverse order.
func (d *demo) stop() {
	if d.provider != nil {
		d.provider.Stop()
	}
	if d.broker != nil {
		d.broker.Kill()
	}
	if d.manager != nil {
		d.manager.Kill()
	}
	if d.nodes != nil {
		d.nodes.Stop()
	}
	if d.hub != nil {
		d.hub.Stop()
	}
}

// explain adds to what went wrong what the server and the provider said last.
func (d *demo) explain(err error) error {
	if d.provider != nil {
		err = errors.Join(err, d.provider.Err())
	}
	if d.broker != nil {
		err = fmt.Errorf("%w\nthe server's log ends with:\n%s", err, d.broker.Log.Tail())
	}
	return err
}

// say prints what happens next, with the time since the beginning.
func (d *demo) say(format string, args ...any) {
	fmt.Fprintf(d.out, "\n[%5.1fs] %s\n", time.Since(d.began).Seconds(), fmt.Sprintf(format, args...))
}

// types types command lines, and prints them with what they say. The first that fails ends it.
func (d *demo) types(ctx context.Context, lines ...string) error {
	for _, line := range lines {
		if err := d.until(ctx, line, ""); err != nil {
			return err
		}
	}
	return nil
}

// until types a command line that goes on until it is interrupted, which happens once it says a
// text. Without a text it is to end by itself.
func (d *demo) until(ctx context.Context, line, text string) error {
	ctx, stop := context.WithTimeout(ctx, 2*process.Patience)
	defer stop()
	fmt.Fprintf(d.out, "$ %s\n", line)
	said := &watched{out: d.out, text: text, seen: stop}
	err := d.shell(ctx, line, said)
	if said.met() {
		return nil
	}
	if err == nil && text != "" {
		err = fmt.Errorf("it never said %q", text)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", line, err)
	}
	return nil
}

// asks runs a command line without printing it, and returns what it says.
func (d *demo) asks(ctx context.Context, line string) (string, error) {
	var out bytes.Buffer
	err := d.shell(ctx, line, &out)
	if err != nil {
		return "", fmt.Errorf("%s: %w: %s", line, err, &out)
	}
	return strings.TrimSpace(out.String()), nil
}

// shell runs a command line in a process group of its own, which ends with the context.
func (d *demo) shell(ctx context.Context, line string, out io.Writer) error {
	c := exec.CommandContext(ctx, "sh", "-c", line)
	c.Dir, c.Env, c.Stdout, c.Stderr = d.dir, d.env, out, out
	c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	c.Cancel = func() error { return syscall.Kill(-c.Process.Pid, syscall.SIGINT) }
	c.WaitDelay = 10 * time.Second
	return c.Run()
}

// watched prints what a command says, indented, and tells when it says a text.
type watched struct {
	out  io.Writer
	text string
	seen func()

	mu   sync.Mutex
	line bytes.Buffer
	was  bool
}

// Write implements [io.Writer].
func (w *watched) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.line.Write(p)
	for {
		line, rest, whole := bytes.Cut(w.line.Bytes(), []byte("\n"))
		if !whole {
			return len(p), nil
		}
		if _, err := fmt.Fprintf(w.out, "    %s\n", line); err != nil {
			return 0, err
		}
		if w.text != "" && bytes.Contains(line, []byte(w.text)) {
			w.was = true
			w.seen()
		}
		w.line = *bytes.NewBuffer(bytes.Clone(rest))
	}
}

func (w *watched) met() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.was
}

// await asks until done, or until the context ends.
func (d *demo) await(ctx context.Context, what string, done func() (bool, error)) error {
	ctx, cancel := context.WithTimeout(ctx, process.Patience)
	defer cancel()
	tick := time.NewTicker(200 * time.Millisecond)
	defer tick.Stop()
	for {
		if so, err := done(); so || err != nil {
			return err
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return fmt.Errorf("waiting until %s: %w", what, ctx.Err())
		}
	}
}

// keys counts the keys that the broker has now.
func (d *demo) keys() (int, error) {
	all, err := filepath.Glob(filepath.Join(d.dir, "data", "keys", "*", "*"))
	return len(all), err
}

// fewerKeys waits until there are at most so many: a key is destroyed a moment after what it sealed.
func (d *demo) fewerKeys(ctx context.Context, most int) error {
	return d.await(ctx, "the keys of what is gone are destroyed", func() (bool, error) {
		n, err := d.keys()
		return n <= most, err
	})
}

// environment is what a person's shell has.
func (d *demo) environment() error {
	tmp := filepath.Join(d.dir, "tmp")
	text, err := os.ReadFile(d.hub.Kubeconfig)
	for _, err := range []error{err, os.Mkdir(tmp, 0o700), os.WriteFile(filepath.Join(d.dir, "hub.kubeconfig"), text, 0o600), os.Symlink(filepath.Join(d.root, "docs"), filepath.Join(d.dir, "docs")), os.Symlink(filepath.Join(d.root, "bin", "capi"), filepath.Join(d.dir, "capi"))} {
		if err != nil {
			return err
		}
	}
	path := []string{filepath.Dir(d.vimbroker), filepath.Dir(d.hub.Kubectl), os.Getenv("PATH")}
	d.env = []string{
		"HOME=" + d.dir, "TMPDIR=" + tmp, "PATH=" + strings.Join(path, string(os.PathListSeparator)), "KUBECONFIG=" + filepath.Join(d.dir, "hub.kubeconfig"),
		"VIMBROKER_ADDR=" + d.broker.URL, "VIMBROKER_TOKEN_FILE=" + filepath.Join(d.dir, "data", "dev-token"),
	}
	return nil
}
