package server

import (
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"io/fs"
	"os"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/vimbroker/vimbroker/broker/trust"
	"github.com/vimbroker/vimbroker/cmd/vimbroker/console"
	"github.com/vimbroker/vimbroker/cmd/vimbroker/files"
)

// choices are those of an init in a directory of its own.
func choices(t *testing.T) *setup {
	t.Helper()
	dir := t.TempDir()
	return &setup{
		dir: filepath.Join(dir, "etc"), state: filepath.Join(dir, "state"), listen: "127.0.0.1:0", hosts: []string{"a.example", "127.0.0.1"}, owner: "nobody-of-this-name",
		admin: "admin", project: "platform", login: trustConfig{TrustEntry: files.TrustEntry{Authority: trust.Authority{Name: "login", Login: &trust.Signin{}}}},
	}
}

func (s *setup) mkdir(t *testing.T, path string) {
	t.Helper()
	if err := os.MkdirAll(path, 0o700); err != nil {
		t.Fatal(err)
	}
}

func (s *setup) fill(t *testing.T, name, text string) {
	t.Helper()
	s.mkdir(t, filepath.Dir(s.path(name)))
	if err := os.WriteFile(s.path(name), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func pkcs8(t *testing.T, key any) string {
	t.Helper()
	text, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	return string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: text}))
}

// Whatever is in the way of a file of init is said, and no configuration is written then: where it is, all is.
func TestInitSaysWhatIsInItsWay(t *testing.T) {
	_, otherKey, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	ecKey, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	known := choices(t)
	if err := known.write(asked); err != nil {
		t.Fatal(err)
	}
	authority, err := os.ReadFile(known.path("tls/ca.crt"))
	if err != nil {
		t.Fatal(err)
	}
	const noPEM = "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"
	for what, c := range map[string]struct {
		in   func(*setup)
		want string
	}{
		"the configuration is a directory": {func(s *setup) { s.mkdir(t, s.path("vimbroker.yaml")) }, "is a directory"},
		"its directory is a file":          {func(s *setup) { s.fill(t, "policies", "x") }, "policies: not a directory"},
		"the state directory is a file":    {func(s *setup) { s.fill(t, "x", "x"); s.state = s.path("x") }, "x: not a directory"},
		"a host that no certificate has":   {func(s *setup) { s.hosts[0] = "ä.example" }, "cannot be encoded as an IA5String"},
		"the authority is a directory":     {func(s *setup) { s.mkdir(t, s.path("tls/ca.crt")) }, "ca.crt"},
		"its key leads nowhere": {func(s *setup) {
			s.mkdir(t, s.path("tls"))
			if err := os.Symlink("/nowhere/ca.key", s.path("tls/ca.key")); err != nil {
				t.Fatal(err)
			}
		}, "ca.key"},
		"its key is a directory":          {func(s *setup) { s.mkdir(t, s.path("tls/ca.key")) }, "ca.key: is a directory"},
		"the server's key is a directory": {func(s *setup) { s.mkdir(t, s.path("tls/tls.key")) }, "tls.key"},
		"its certificate is a directory":  {func(s *setup) { s.mkdir(t, s.path("tls/tls.crt")) }, "tls.crt"},
		"the tokens are a directory":      {func(s *setup) { s.mkdir(t, s.path("tokens.yaml")) }, "tokens.yaml"},
		"the token is a directory":        {func(s *setup) { s.mkdir(t, s.path("admin.token")) }, "admin.token"},
		"a name that nobody may have":     {func(s *setup) { s.admin = "system:x" }, "system:"},
		"an authority's key alone":        {func(s *setup) { s.fill(t, "tls/ca.key", pkcs8(t, ecKey)) }, "ca.crt: no such file"},
		"an authority that is no PEM":     {func(s *setup) { s.fill(t, "tls/ca.key", pkcs8(t, ecKey)); s.fill(t, "tls/ca.crt", "x") }, "holds no PEM"},
		"a key that is no PEM":            {func(s *setup) { s.fill(t, "tls/ca.key", "x"); s.fill(t, "tls/ca.crt", string(authority)) }, "holds no PEM"},
		"an authority that is none":       {func(s *setup) { s.fill(t, "tls/ca.key", pkcs8(t, ecKey)); s.fill(t, "tls/ca.crt", noPEM) }, "tls/ca.crt: x509: "},
		"a key of another form":           {func(s *setup) { s.fill(t, "tls/ca.key", noPEM); s.fill(t, "tls/ca.crt", string(authority)) }, "ca.key holds no key in PKCS #8"},
		"a key of another kind": {func(s *setup) {
			s.fill(t, "tls/ca.key", pkcs8(t, otherKey))
			s.fill(t, "tls/ca.crt", string(authority))
		}, "ca.key holds a key of another kind than init makes"},
	} {
		s := choices(t)
		c.in(s)
		if err := s.write(asked); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: init says %v, want %q", what, err, c.want)
		}
		if info, err := os.Stat(s.path("vimbroker.yaml")); !errors.Is(err, fs.ErrNotExist) && !info.IsDir() {
			t.Errorf("%s: there is a configuration, %v", what, err)
		}
	}
}

// The server's user gets what it reads, and owns what it writes; where root does not run init, everything is whoever's does.
func TestInitHandsFilesToTheServer(t *testing.T) {
	nobody, err := user.Lookup("nobody")
	if err != nil {
		t.Fatal(err)
	}
	uid, err := strconv.Atoi(nobody.Uid)
	if err != nil {
		t.Fatal(err)
	}
	gid, err := strconv.Atoi(nobody.Gid)
	if err != nil {
		t.Fatal(err)
	}
	s := choices(t)
	s.owner = "nobody"
	if err := s.write(asked); err != nil {
		t.Fatal(err)
	}
	for path, own := range map[string]struct{ uid, gid int }{
		s.state: {uid, gid}, s.dir: {0, gid}, s.path("tls/tls.key"): {0, gid}, s.path("vimbroker.yaml"): {0, gid}, s.path("tls/ca.key"): {0, os.Getegid()}, s.path("admin.token"): {0, os.Getegid()},
	} {
		if os.Geteuid() != 0 {
			own.uid, own.gid = os.Geteuid(), os.Getegid()
		}
		info, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		if of := info.Sys().(*syscall.Stat_t); int(of.Uid) != own.uid || int(of.Gid) != own.gid {
			t.Errorf("%s is of %d:%d, want %d:%d", path, of.Uid, of.Gid, own.uid, own.gid)
		}
	}
	if err := s.hand("/nowhere/file", 0o640, false); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("handing over what is not there: %v", err)
	}
}

// full is a disk without space.
type full struct{}

func (full) Write([]byte) (int, error) { return 0, errDisk }

// The next steps of an init name the files that they need.
func TestInitSaysTheNextSteps(t *testing.T) {
	home := t.TempDir()
	s := choices(t)
	line := func(more ...string) []string {
		return append([]string{"--dir", s.dir, "--state-dir", s.state, "--listen", "127.0.0.1:0", "--host", "a.example", "--user", s.owner}, more...)
	}
	issuer := []string{"--issuer", "https://id.example", "--client-id", "cli"}
	for _, c := range []struct {
		args []string
		want string
	}{
		{issuer, "--issuer needs --client-id and --admin-claim"},
		{append(issuer[:2:2], "--admin-claim", "groups=noc"), "--issuer needs --client-id and --admin-claim"},
		{[]string{"--audience", "x"}, "--audience needs --issuer"},
		{[]string{"--issuer-ca", "x"}, "--issuer-ca needs --issuer"},
		{[]string{"--admin-claim", "a=b"}, "--admin-claim needs --issuer"},
		{[]string{"--tls-key", "x"}, "give --tls-cert and --tls-key, or neither"},
	} {
		if out, errs, code := ran(t, nil, (*program).initCommand, line(c.args...)...); code != console.ExitUsage || out != "" || !strings.Contains(errs, c.want) {
			t.Errorf("init %v = %d %q %q, want %q", c.args, code, out, errs, c.want)
		}
	}
	ca := filepath.Join(home, "own ca.crt")
	out, errs, code := ran(t, console.Environment{"HOME=" + home}, (*program).initCommand, line(append(issuer, "--admin-claim", "groups=noc", "--issuer-ca", ca)...)...)
	if want := "VIMBROKER_CA_FILE=" + s.path("tls/ca.crt") + " VIMBROKER_ISSUER_CA_FILE='" + ca + "' vimbroker login --addr https://a.example:0\n"; code != 0 || !strings.Contains(out, want) {
		t.Errorf("init with an issuer of its own authorities = %d %q %q, want %q", code, out, errs, want)
	}
	if text, err := os.ReadFile(s.path("vimbroker.yaml")); err != nil || !strings.Contains(string(text), "audience: cli\n") || !strings.Contains(string(text), "clientID: cli\n") || !strings.Contains(string(text), "caFile: "+ca) && !strings.Contains(string(text), "caFile: '"+ca+"'") {
		t.Errorf("the configuration does not name %s: %s, %v", ca, text, err)
	}
	if !strings.Contains(out, " serve --config "+s.path("vimbroker.yaml")+"\n") {
		t.Errorf("init does not say how the server is started: %q", out)
	}
	// Contexts that cannot be read stay as they are.
	contexts := filepath.Join(home, ".config", "vimbroker", "contexts.yaml")
	s = choices(t)
	s.mkdir(t, filepath.Dir(contexts))
	if err := os.WriteFile(contexts, []byte("broken: ["), 0o600); err != nil {
		t.Fatal(err)
	}
	out, errs, code = ran(t, console.Environment{"HOME=" + home}, (*program).initCommand, line()...)
	if code != 0 || strings.Contains(out, "is your context") || !strings.Contains(out, "VIMBROKER_TOKEN_FILE="+s.path("admin.token")) {
		t.Errorf("init beside contexts that cannot be read = %d %q %q", code, out, errs)
	}
	if text, err := os.ReadFile(contexts); err != nil || string(text) != "broken: [" {
		t.Errorf("the contexts are %q, %v", text, err)
	}
	s = choices(t)
	p := &program{&console.Console{Out: full{}, Err: full{}, Env: console.Environment{"HOME=" + home}}}
	if err := p.announceSetup(*s); !errors.Is(err, errDisk) {
		t.Errorf("next steps that nobody reads: %v", err)
	}
}

// An init whose next steps nobody reads fails; without a name of the server it takes those of the machine.
func TestInitFails(t *testing.T) {
	s := choices(t)
	c := (&program{&console.Console{Out: full{}, Err: full{}, Env: console.Environment{"HOME=" + t.TempDir()}, Now: func() time.Time { return asked }}}).initCommand()
	c.SetArgs([]string{"--dir", s.dir, "--state-dir", s.state, "--host", "a.example", "--user", s.owner})
	c.SilenceErrors, c.SilenceUsage = true, true
	if err := c.ExecuteContext(t.Context()); !errors.Is(err, errDisk) {
		t.Errorf("init that cannot print = %v", err)
	}
	name, err := os.Hostname()
	if err != nil {
		t.Fatal(err)
	}
	here, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	s.hosts, s.dir, s.certFile = nil, "etc", ""
	if err := s.complete(); err != nil || strings.Join(s.hosts, " ") != name+" localhost 127.0.0.1 ::1" {
		t.Errorf("the names of the machine are %v, %v", s.hosts, err)
	}
	if s.dir != filepath.Join(here, "etc") || s.certFile != "" {
		t.Errorf("the directory is %s, the certificate %q", s.dir, s.certFile)
	}
}
