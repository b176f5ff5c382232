package real

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"
	"time"

	"github.com/vimbroker/vimbroker/test/process"
	"github.com/vimbroker/vimbroker/test/real/pki"
)

// VaultServer is a running Vault of one's own with TLS and storage on disk,
// initialised and unsealed, with a KV version 2 engine at "secret", the policy
// of deploy/vault-policy.hcl, and two ways to log in that have that policy.
type VaultServer struct {
	// Address is its URL. CAFile holds the authority of its certificate.
	Address, CAFile string
	// RootToken may do anything.
	RootToken string
	// RoleID and the content of SecretIDFile log in by AppRole "vimbroker".
	RoleID, SecretIDFile string
	// JWTFile holds a signed token that logs in by JWT as the role "vimbroker".
	JWTFile string
	// Dir is where everything of it lies, the log included.
	Dir string

	program string
	plugins string // the directory of plugins, or empty
	unseal  string
	signing []byte // PEM, of JWTs
	server  *process.Process
}

// vaultProgram finds Vault: bin/vault of this repository, or in the path.
func vaultProgram() (string, error) {
	root, err := process.Repository()
	if err != nil {
		return "", err
	}
	built := filepath.Join(root, "bin", "vault", "vault")
	if info, err := os.Stat(built); err == nil && info.Mode().IsRegular() {
		return built, nil
	}
	if found, err := exec.LookPath("vault"); err == nil {
		return found, nil
	}
	return "", fmt.Errorf("%w: vault in %s; build it with test/real/vault/build.sh bin/vault", errNoPrograms, filepath.Dir(built))
}

// Vault starts a Vault for one test, which may disturb it, and stops it when the
// test ends. Where there is no program to start, the test is skipped or fails: see
// [Demand].
func Vault(t testing.TB) *VaultServer {
	t.Helper()
	v := NewVault(t)
	if err := v.configure(t.Context()); err != nil {
		t.Fatalf("configuring Vault: %v", err)
	}
	return v
}

// NewVault is Vault as it is after it was initialised: without engine, policy and ways
// to log in.
func NewVault(t testing.TB) *VaultServer {
	t.Helper()
	return newVault(t, "")
}

func newVault(t testing.TB, plugins string) *VaultServer {
	t.Helper()
	v, err := startVault(t.Context(), demand(t, "Vault", vaultProgram), plugins, process.TempDir(t, "vimbroker-vault-"))
	if err != nil {
		t.Fatalf("starting Vault: %v", err)
	}
	t.Cleanup(v.Stop)
	return v
}

func startVault(ctx context.Context, program, plugins, dir string) (*VaultServer, error) {
	var v *VaultServer
	return v, process.OnFreePorts(ctx, 2, dir, func(home string, ports []int) error {
		v = &VaultServer{program: program, plugins: plugins, Dir: home, CAFile: filepath.Join(home, "ca.crt")}
		err := v.prepare(ctx, ports)
		if err != nil {
			v.Stop()
		}
		return err
	})
}

func (v *VaultServer) prepare(ctx context.Context, ports []int) error {
	v.Address = "https://127.0.0.1:" + strconv.Itoa(ports[0])
	ca, err := v.writeCertificate()
	if err != nil {
		return err
	}
	config := fmt.Sprintf(`
storage "raft" {
  path                   = %q
  node_id                = "test"
  performance_multiplier = 1
}
listener "tcp" {
  address       = "127.0.0.1:%d"
  tls_cert_file = %q
  tls_key_file  = %q
}
api_addr      = %q
cluster_addr  = "https://127.0.0.1:%d"
disable_mlock = true
log_level     = "warn"
`, v.file("storage"), ports[0], v.file("server.crt"), v.file("server.key"), v.Address, ports[1])
	if v.plugins != "" {
		config += fmt.Sprintf("plugin_directory = %q\n", v.plugins)
	}
	if err := os.Mkdir(v.file("storage"), 0o700); err != nil {
		return fmt.Errorf("making directory of Vault: %w", err)
	}
	for name, text := range map[string][]byte{"vault.hcl": []byte(config), "ca.crt": ca} {
		if err := os.WriteFile(v.file(name), text, 0o600); err != nil {
			return fmt.Errorf("writing %s: %w", name, err)
		}
	}
	if err := v.run(ctx); err != nil {
		return err
	}
	var keys struct {
		Keys  []string
		Token string `json:"root_token"`
	}
	if err := v.call(ctx, "PUT", "sys/init", map[string]int{"secret_shares": 1, "secret_threshold": 1}, &keys); err != nil {
		return err
	}
	if len(keys.Keys) != 1 {
		return fmt.Errorf("initialising Vault gave %d keys, want 1", len(keys.Keys))
	}
	v.unseal, v.RootToken = keys.Keys[0], keys.Token
	return v.open(ctx)
}

// run starts the program, and returns when it answers, sealed.
func (v *VaultServer) run(ctx context.Context) error {
	var err error
	if v.server, err = start(v.Dir, v.program, "server", "-config="+v.file("vault.hcl")); err != nil {
		return err
	}
	return v.server.Await(ctx, func(ctx context.Context) error { return v.call(ctx, "GET", "sys/seal-status", nil, nil) })
}

// open unseals it, and returns when it is active.
func (v *VaultServer) open(ctx context.Context) error {
	if err := v.call(ctx, "PUT", "sys/unseal", map[string]string{"key": v.unseal}, nil); err != nil {
		return err
	}
	return v.server.Await(ctx, func(ctx context.Context) error { return v.call(ctx, "GET", "sys/health", nil, nil) })
}

// Restart kills the program, starts it again at the same address, and unseals it.
func (v *VaultServer) Restart(t testing.TB) {
	t.Helper()
	v.server.Kill()
	if err := errors.Join(v.run(t.Context()), v.open(t.Context())); err != nil {
		t.Fatal(err)
	}
}

// Seal seals it.
func (v *VaultServer) Seal(t testing.TB) {
	t.Helper()
	v.Do(t, "PUT", "sys/seal", nil, nil)
}

// Unseal ends a Seal; it returns when requests are served.
func (v *VaultServer) Unseal(t testing.TB) {
	t.Helper()
	if err := v.open(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// Pause stops it in its tracks: connections are accepted by the kernel, and
// nothing answers. The test's end resumes it.
func (v *VaultServer) Pause(t testing.TB) {
	t.Helper()
	if err := v.server.Pause(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { v.Resume(t) })
}

// Resume ends a Pause.
func (v *VaultServer) Resume(t testing.TB) {
	t.Helper()
	if err := v.server.Signal(syscall.SIGCONT); err != nil {
		t.Error(err)
	}
}

// RevokeTokens revokes every token that was given for a login.
func (v *VaultServer) RevokeTokens(t testing.TB) {
	t.Helper()
	for _, method := range []string{"approle", "jwt"} {
		v.Do(t, "PUT", "sys/leases/revoke-prefix/auth/"+method+"/login", nil, nil)
	}
}

// RotateTLS gives it a certificate of a new authority. CAFile still holds the old
// one until the returned function is called.
func (v *VaultServer) RotateTLS(t testing.TB) (trust func()) {
	t.Helper()
	ca, err := v.writeCertificate()
	if err != nil {
		t.Fatal(err)
	}
	pool, err := pool(ca)
	if err != nil {
		t.Fatal(err)
	}
	if err := v.server.Signal(syscall.SIGHUP); err != nil {
		t.Fatal(err)
	}
	dialer := &tls.Dialer{Config: &tls.Config{RootCAs: pool}}
	err = v.server.Await(t.Context(), func(ctx context.Context) error {
		conn, err := dialer.DialContext(ctx, "tcp", v.host())
		if err == nil {
			_ = conn.Close()
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return func() {
		t.Helper()
		if err := os.WriteFile(v.CAFile, ca, 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// Do asks Vault with the root token, and fails the test unless it succeeds. in
// and out are JSON; either may be nil.
func (v *VaultServer) Do(t testing.TB, method, path string, in, out any) {
	t.Helper()
	// Also in a Cleanup, when the test's context is over.
	if err := v.call(context.WithoutCancel(t.Context()), method, path, in, out); err != nil {
		t.Fatal(err)
	}
}

// Status asks Vault with the root token, and returns the status it answers with.
func (v *VaultServer) Status(t testing.TB, method, path string, in any) int {
	t.Helper()
	var answered *statusError
	err := v.call(t.Context(), method, path, in, nil)
	switch {
	case err == nil:
		return http.StatusOK
	case errors.As(err, &answered):
		return answered.status
	}
	t.Fatal(err)
	return 0
}

// Stop ends it at once. It may be called twice.
func (v *VaultServer) Stop() {
	if v.server != nil {
		v.server.Kill()
	}
}

func (v *VaultServer) file(name string) string { return filepath.Join(v.Dir, name) }

func (v *VaultServer) host() string { return v.Address[len("https://"):] }

// writeCertificate makes an authority and a certificate of it for the server, and
// returns the authority.
func (v *VaultServer) writeCertificate() ([]byte, error) {
	ca, err := pki.NewCA("test Vault CA " + time.Now().Format(time.RFC3339Nano))
	if err != nil {
		return nil, err
	}
	pair, err := ca.Server("127.0.0.1", "localhost")
	if err != nil {
		return nil, err
	}
	for name, text := range map[string][]byte{"server.crt": pair.Cert, "server.key": pair.Key} {
		if err := os.WriteFile(v.file(name), text, 0o600); err != nil {
			return nil, fmt.Errorf("writing %s: %w", name, err)
		}
	}
	return ca.PEM, nil
}
