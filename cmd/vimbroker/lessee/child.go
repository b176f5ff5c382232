package lessee

import (
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/vimbroker/vimbroker/broker/strictyaml"
	"github.com/vimbroker/vimbroker/cmd/vimbroker/console"
	"github.com/vimbroker/vimbroker/cmd/vimbroker/contexts"
	"github.com/vimbroker/vimbroker/cmd/vimbroker/signin"
)

// lookPath finds a command as a shell would, in the PATH that the command itself will see.
func lookPath(name string, env console.Environment) (string, error) {
	if strings.ContainsRune(name, filepath.Separator) {
		return executable(name)
	}
	found := fmt.Errorf("%s: %w", strictyaml.Printable(name), exec.ErrNotFound)
	for _, dir := range filepath.SplitList(env.Get("PATH")) {
		if dir == "" {
			continue // the working directory is not searched, whatever PATH says
		}
		path, err := executable(filepath.Join(dir, name))
		if err == nil {
			return path, nil
		}
		if !errors.Is(err, exec.ErrNotFound) {
			found = err
		}
	}
	return "", found
}

// child is the command, not started yet. It sees neither the caller's token nor
// whatever clients of VIMs were set to before.
func (p *program) child(path string, command, leased []string) *exec.Cmd {
	hidden := []string{
		console.EnvToken, console.EnvTokenFile, console.EnvClientSecretFile, console.EnvClientKeyFile, console.EnvClientCertFile,
		contexts.EnvContext, signin.EnvIDToken,
	}
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
	c.SysProcAttr = placed()
	return c
}
