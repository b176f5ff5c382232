package real

import (
	_ "embed"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/vimbroker/vimbroker/test/process"
)

//go:embed oidc/provider.mjs
var oidcProvider []byte

// OIDCProvider starts the certified provider oidc-provider, whose only person is alice, and returns its issuer.
func OIDCProvider(t testing.TB) string {
	t.Helper()
	modules := demand(t, "oidc-provider", func() (string, error) {
		root, err := process.Repository()
		if err != nil {
			return "", err
		}
		dir := filepath.Join(root, "bin", "oidc", "node_modules")
		if _, err := os.Stat(filepath.Join(dir, "oidc-provider")); err != nil {
			return "", fmt.Errorf("%w: oidc-provider in %s; install it with make oidc-tools", errNoPrograms, dir)
		}
		return dir, nil
	})
	node := Program(t, "node", "install Node.js 20 or newer")
	dir := process.TempDir(t, "oidc-provider")
	if err := os.WriteFile(filepath.Join(dir, "provider.mjs"), oidcProvider, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(modules, filepath.Join(dir, "node_modules")); err != nil {
		t.Fatal(err)
	}
	address := process.FreeAddress(t)
	_, port, err := net.SplitHostPort(address)
	if err != nil {
		t.Fatal(err)
	}
	run := exec.Command(node, "provider.mjs", port)
	run.Dir = dir
	p, err := process.Start(run, "oidc-provider")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Kill)
	if _, err := p.Log.Next(t.Context(), "provider listens"); err != nil {
		t.Fatalf("oidc-provider does not start: %v\n%s", err, p.Log)
	}
	return "http://" + address
}
