package main

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// initialised runs init in a directory of its own.
func initialised(t *testing.T, dir string, args ...string) (code int, out, errs string) {
	t.Helper()
	var stdout, stderr bytes.Buffer
	line := append([]string{"init", "--dir", dir, "--state-dir", filepath.Join(dir, "state"), "--listen", "127.0.0.1:0", "--user", "nobody-of-this-name"}, args...)
	code = run(context.Background(), line, nil, &stdout, &stderr, nil)
	return code, stdout.String(), stderr.String()
}

// TestInitServes: the configuration that init writes has no fault, a server starts on it, and its administrator is let in.
// The token is in its file and nowhere else, and nothing that is there is replaced.
func TestInitServes(t *testing.T) {
	dir := t.TempDir()
	stub := filepath.Join(dir, "vimbroker.yaml")
	if err := os.WriteFile(stub, []byte("# vimbroker is not configured yet: run init\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	code, out, errs := initialised(t, dir, "--host", "127.0.0.1")
	if code != 0 || strings.Count(out, "\n  ") != 3 || errs != "" {
		t.Fatalf("init = %d, %q, %q", code, out, errs)
	}
	token, err := os.ReadFile(filepath.Join(dir, "admin.token"))
	if err != nil {
		t.Fatal(err)
	}
	secret := strings.TrimSpace(string(token))
	config := filepath.Join(dir, "vimbroker.yaml")
	for path, mode := range map[string]os.FileMode{
		"admin.token": 0o600, "tls/ca.key": 0o600, "tls/tls.key": 0o640, "tokens.yaml": 0o640, "vimbroker.yaml": 0o640, "state": 0o700,
	} {
		info, err := os.Stat(filepath.Join(dir, path))
		if err != nil || info.Mode().Perm() != mode {
			t.Errorf("%s: %v, %v, want mode %o", path, info, err, mode)
		}
		if text, err := os.ReadFile(filepath.Join(dir, path)); err == nil && path != "admin.token" && bytes.Contains(text, []byte(secret)) {
			t.Errorf("%s holds the token", path)
		}
	}
	if strings.Contains(out+errs, secret) {
		t.Error("init prints the token")
	}
	s := serve(t, nil, "--config", config)
	url := regexp.MustCompile(`"url":"(https://[^"]+)"`).FindStringSubmatch(s.log.String())[1]
	var who, bad bytes.Buffer
	env := []string{
		"VIMBROKER_ADDR=" + url, "VIMBROKER_CA_FILE=" + filepath.Join(dir, "tls/ca.crt"), "VIMBROKER_TOKEN_FILE=" + filepath.Join(dir, "admin.token"),
	}
	if code := run(t.Context(), []string{"whoami"}, nil, &who, &bad, env); code != 0 || !strings.Contains(who.String(), "admin") {
		t.Errorf("whoami = %d, %s%s", code, &who, &bad)
	}
	before, err := os.ReadFile(config)
	if err != nil {
		t.Fatal(err)
	}
	if code, _, errs := initialised(t, dir); code != 1 || !strings.Contains(errs, "is there already; change it by hand, or name another directory with --dir") {
		t.Errorf("a second init = %d, %q", code, errs)
	}
	if after, err := os.ReadFile(config); err != nil || !bytes.Equal(before, after) {
		t.Errorf("a second init changed the configuration, %v", err)
	}
}

// TestInitRenews: another certificate comes from the authority that callers know, and none without one.
func TestInitRenews(t *testing.T) {
	dir := t.TempDir()
	if code, _, errs := initialised(t, dir, "--renew"); code != 1 || errs == "" {
		t.Errorf("renewing what is not there = %d, %q", code, errs)
	}
	if code, _, errs := initialised(t, dir, "--host", "a.example"); code != 0 {
		t.Fatal(errs)
	}
	read := func() (certificate, authority []byte) {
		pair, err := tls.LoadX509KeyPair(filepath.Join(dir, "tls/tls.crt"), filepath.Join(dir, "tls/tls.key"))
		if err != nil {
			t.Fatal(err)
		}
		if err := pair.Leaf.VerifyHostname("a.example"); err != nil {
			t.Error(err)
		}
		text, err := os.ReadFile(filepath.Join(dir, "tls/ca.crt"))
		if err != nil {
			t.Fatal(err)
		}
		return pair.Certificate[0], text
	}
	first, authority := read()
	if code, _, errs := initialised(t, dir, "--renew", "--host", "a.example"); code != 0 || !strings.Contains(errs, "is renewed until") {
		t.Errorf("renewing = %d, %q", code, errs)
	}
	second, same := read()
	if bytes.Equal(first, second) || !bytes.Equal(authority, same) {
		t.Error("renewing made no other certificate of the same authority")
	}
	key := filepath.Join(dir, "tls/ca.key")
	if err := os.Rename(key, key+".away"); err != nil {
		t.Fatal(err)
	}
	if code, _, errs := initialised(t, dir, "--renew", "--host", "a.example"); code != 1 || !strings.Contains(errs, "tls/ca.key") {
		t.Errorf("renewing without the authority's key = %d, %q", code, errs)
	}
	if third, same := read(); !bytes.Equal(second, third) || !bytes.Equal(authority, same) {
		t.Error("renewing without the authority's key changed what is there")
	}
	for _, line := range [][]string{{"--tls-cert", "x"}, {"--listen", "nowhere"}} {
		if code, _, errs := initialised(t, t.TempDir(), line...); code == 0 || errs == "" {
			t.Errorf("init %v = %d, %q", line, code, errs)
		}
	}
}

// TestInitTrustsAnIssuer: with an issuer there is no token, the server takes the configuration, and doctor names the directory
// where a certificate is renewed.
func TestInitTrustsAnIssuer(t *testing.T) {
	issuer := []string{"--host", "127.0.0.1", "--issuer", "https://id.example", "--client-id", "cli", "--admin-claim", "groups=noc"}
	for _, c := range []struct {
		line []string
		want string
	}{
		{[]string{"--client-id", "cli"}, "--client-id needs --issuer"},
		{issuer[2:4], "--issuer needs --client-id and --admin-claim"},
		{append(issuer[:7:7], "groups=*"), "--admin-claim names nobody in particular"},
		{append(issuer[:3:3], append([]string{"http://id.example"}, issuer[4:]...)...), "--issuer must be an https URL"},
		{append(issuer[:8:8], "--admin", "bob"), "--admin names the holder of a token"},
	} {
		dir := t.TempDir()
		if code, _, errs := initialised(t, dir, c.line...); code != 2 || !strings.Contains(errs, c.want) {
			t.Errorf("init %v = %d, %q, want %q", c.line, code, errs, c.want)
		}
		if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
			t.Errorf("init %v leaves %v, %v", c.line, left, err)
		}
	}
	dir := t.TempDir()
	code, out, errs := initialised(t, dir, issuer...)
	if code != 0 || strings.Count(out, "\n  ") != 3 || !strings.Contains(out, "vimbroker login") || strings.Contains(out, "TOKEN") {
		t.Fatalf("init = %d, %q, %q", code, out, errs)
	}
	for _, name := range []string{"admin.token", "tokens.yaml"} {
		if _, err := os.Stat(filepath.Join(dir, name)); err == nil {
			t.Errorf("there is %s", name)
		}
	}
	var checked, bad, said bytes.Buffer
	config := filepath.Join(dir, "vimbroker.yaml")
	if code := run(t.Context(), []string{"serve", "--config", config, "--check"}, nil, &checked, &bad, nil); code != 0 {
		t.Errorf("serve --check = %d, %s%s", code, &checked, &bad)
	}
	run(t.Context(), []string{"doctor", "--config", config, "-o", "json"}, nil, &said, &bad, []string{"VIMBROKER_ADDR=http://127.0.0.1:1"})
	if strings.Contains(said.String(), "init --renew") {
		t.Errorf("doctor renews what is good: %s", &said)
	}
}

// TestInitMakesAContext: whoever has none reaches the server without another word, and one that is there stays current.
func TestInitMakesAContext(t *testing.T) {
	dir, home := t.TempDir(), []string{"HOME=" + t.TempDir()}
	init := func(dir string) string {
		var out, errs bytes.Buffer
		line := []string{"init", "--dir", dir, "--state-dir", filepath.Join(dir, "state"), "--listen", "127.0.0.1:0", "--host", "127.0.0.1", "--user", "nobody-of-this-name"}
		if code := run(t.Context(), line, nil, &out, &errs, home); code != 0 {
			t.Fatalf("init = %d, %s%s", code, &out, &errs)
		}
		return out.String()
	}
	if out := init(dir); !strings.Contains(out, "is your context") || strings.Contains(out, "export") || strings.Count(out, "\n  ") != 3 {
		t.Errorf("init says %q", out)
	}
	if out := init(t.TempDir()); strings.Contains(out, "is your context") || !strings.Contains(out, "export VIMBROKER_CA_FILE=") || strings.Count(out, "\n  ") != 3 {
		t.Errorf("a second init says %q", out)
	}
	var out, errs bytes.Buffer
	want := `"current":"vimbroker","items":[{"name":"vimbroker","server":"https://127.0.0.1:0","caFile":"` + dir + `/tls/ca.crt","tokenFile":"` + dir + `/admin.token"}]`
	if code := run(t.Context(), []string{"context", "list", "-o", "json"}, nil, &out, &errs, home); code != 0 ||
		!strings.Contains(strings.Join(strings.Fields(out.String()), ""), want) {
		t.Errorf("context list = %d, %s%s, want %s", code, &out, &errs, want)
	}
}

// TestInitGoesOn: a run that was killed is made good by the next, whichever of its files it has written.
func TestInitGoesOn(t *testing.T) {
	written := []string{"tls/ca.crt", "tls/ca.key", "tls/tls.key", "tls/tls.crt", "admin.token", "tokens.yaml", "vimbroker.yaml"}
	for n := range written {
		dir := t.TempDir()
		if code, _, errs := initialised(t, dir, "--host", "a.example"); code != 0 {
			t.Fatal(errs)
		}
		for _, name := range written[n:] {
			if err := os.Remove(filepath.Join(dir, name)); err != nil {
				t.Fatal(err)
			}
		}
		if code, _, errs := initialised(t, dir, "--host", "a.example"); code != 0 {
			t.Errorf("after a death before %s: %s", written[n], errs)
			continue
		}
		pair, err := tls.LoadX509KeyPair(filepath.Join(dir, "tls/tls.crt"), filepath.Join(dir, "tls/tls.key"))
		if err != nil {
			t.Fatal(err)
		}
		authority, err := os.ReadFile(filepath.Join(dir, "tls/ca.crt"))
		if err != nil {
			t.Fatal(err)
		}
		roots := x509.NewCertPool()
		roots.AppendCertsFromPEM(authority)
		if _, err := pair.Leaf.Verify(x509.VerifyOptions{Roots: roots, DNSName: "a.example"}); err != nil {
			t.Errorf("after a death before %s: %v", written[n], err)
		}
	}
}
