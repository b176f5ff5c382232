package lessee

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/vimbroker/vimbroker/broker/strictyaml"
	"github.com/vimbroker/vimbroker/cmd/vimbroker/console"
)

// lookPath finds a command as a shell would, in the PATH that the command itself will see.
func lookPath(name string, env console.Environment) (string, error) {
	if strings.ContainsRune(name, filepath.Separator) {
		return name, executable(name)
	}
	found := fmt.Errorf("%s: %w", strictyaml.Printable(name), exec.ErrNotFound)
	for _, dir := range filepath.SplitList(env.Get("PATH")) {
		if dir == "" {
			continue // the working directory is not searched, whatever PATH says
		}
		path := filepath.Join(dir, name)
		err := executable(path)
		if err == nil {
			return path, nil
		}
		if !errors.Is(err, exec.ErrNotFound) {
			found = err
		}
	}
	return "", found
}

// executable reports whether a file can be run.
func executable(path string) error {
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, os.ErrNotExist), errors.Is(err, syscall.ENOTDIR):
		return fmt.Errorf("%s: %w", path, exec.ErrNotFound)
	case err != nil:
		return err
	case info.IsDir() || info.Mode().Perm()&0o111 == 0:
		return fmt.Errorf("%s: %w", path, os.ErrPermission)
	}
	return nil
}

// child is the command, not started yet. It sees neither the caller's token nor
// whatever clients of VIMs were set to before.
func (p *program) child(path string, command, leased []string) *exec.Cmd {
	hidden := []string{console.EnvToken, console.EnvTokenFile}
	for _, pair := range leased {
		key, _, _ := strings.Cut(pair, "=")
		hidden = append(hidden, key)
	}
	if slices.ContainsFunc(leased, func(pair string) bool { return strings.HasPrefix(pair, "OS_CLOUD=") }) {
		// Clients of OpenStack mix the environment's settings into the cloud.
		for _, pair := range p.Env {
			if key, _, _ := strings.Cut(pair, "="); strings.HasPrefix(key, "OS_") {
				hidden = append(hidden, key)
			}
		}
	}
	c := &exec.Cmd{
		Path: path, Args: command, Env: append(p.Env.Without(hidden...), leased...),
		Stdin: p.In, Stdout: p.Out, Stderr: p.Err,
	}
	// With a terminal, the command shares this process's group: the terminal's
	// signals and job control treat both as one. Without one, it gets a group of its
	// own, so that signals passed on reach what the command starts, too.
	c.SysProcAttr = &syscall.SysProcAttr{Setpgid: !hasTerminal()}
	return c
}

// outcome is the exit code that a shell would report.
func outcome(state *os.ProcessState) int {
	if status, ok := state.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		return 128 + int(status.Signal())
	}
	return state.ExitCode()
}
