package remote

import (
	"crypto/x509"
	"encoding/pem"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/vimbroker/vimbroker/test/real/pki"
)

func authority(t *testing.T, name string) string {
	t.Helper()
	ca, err := pki.NewCA(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(ca.PEM)
}

// The roots are those that crypto/x509 verifies by on this machine.
func TestSystemRootsAreThoseOfTheLibrary(t *testing.T) {
	theirs, err := x509.SystemCertPool()
	if err != nil {
		t.Fatal(err)
	}
	ours := x509.NewCertPool()
	ours.AppendCertsFromPEM([]byte(SystemRoots()))
	if !ours.Equal(theirs) {
		t.Errorf("SystemRoots() are %d certificates, and others than crypto/x509 has", len(ours.Subjects())) //nolint:staticcheck // only their number
	}
}

func TestSystemRootsAreWhereTheEnvironmentSays(t *testing.T) {
	one, two, three := authority(t, "one"), authority(t, "two"), authority(t, "three")
	dir, other := t.TempDir(), t.TempDir()
	file := filepath.Join(t.TempDir(), "roots.pem")
	for name, text := range map[string]string{
		file: one, filepath.Join(dir, "a.pem"): two, filepath.Join(dir, "b.pem"): one, filepath.Join(dir, "c.txt"): "nothing", filepath.Join(other, "a.0"): three,
	} {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct{ file, dir, want string }{
		{file, dir + ":" + other, one + two + three},
		{file, filepath.Join(dir, "nowhere"), one},
		{filepath.Join(dir, "nowhere"), other, three},
		{filepath.Join(dir, "nowhere"), filepath.Join(dir, "nowhere"), ""},
	} {
		t.Setenv("SSL_CERT_FILE", c.file)
		t.Setenv("SSL_CERT_DIR", c.dir)
		if got := systemRoots(); got != c.want {
			t.Errorf("with SSL_CERT_FILE=%s and SSL_CERT_DIR=%s systemRoots() = %s, want %s", c.file, c.dir, got, c.want)
		}
	}
}

// A file of authorities that cannot be read is not taken for none, which would be the system's.
func TestAuthoritiesThatCannotBeRead(t *testing.T) {
	dir := t.TempDir()
	empty := filepath.Join(dir, "empty.pem")
	if err := os.WriteFile(empty, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, a := range []Authorities{{File: dir}, {File: empty}, {File: filepath.Join(dir, "nowhere")}, {PEM: "none"}} {
		pool, err := a.pool()
		if !errors.Is(err, errAuthorities) || pool != nil {
			t.Errorf("the authorities of %+v are %v, %v", a, pool, err)
		}
		if a.File == "" {
			continue
		}
		way, err := NewTrusted(Options{Server: "the server", CA: a})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := way.current(); !errors.Is(err, errAuthorities) {
			t.Errorf("a transport with the authorities of %+v: %v", a, err)
		}
	}
}

func TestCertificatesAreNothingElseAndEachOnce(t *testing.T) {
	one, two := authority(t, "one"), authority(t, "two")
	key := string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: []byte("canary")}))
	broken := string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: []byte("no certificate")}))
	if got := Certificates("a comment\n"+key+one, broken+two+one, ""); got != one+two {
		t.Errorf("Certificates() = %s, want %s", got, one+two)
	}
}
