package main

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"io"
	"log"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/vimbroker/vimbroker/cmd/vimbroker/console"
	"github.com/vimbroker/vimbroker/policy"
	"github.com/vimbroker/vimbroker/test/process"
	"github.com/vimbroker/vimbroker/test/story"
)

// Whatever keeps a server from starting is said in one line, with its cause and what to
// do about it.
func TestFaultsAtStartNameCauseAndCure(t *testing.T) {
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = taken.Close() })
	here := taken.Addr().String()
	file := story.WriteFile(t, "file", "no database, and not a directory\n", 0o600)
	damaged := t.TempDir()
	if err := os.Chmod(damaged, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(damaged, "vimbroker.db"), bytes.Repeat([]byte("no database"), 1000), 0o600); err != nil {
		t.Fatal(err)
	}
	busy := t.TempDir()
	serve(t, nil, "--dev", "--listen", "127.0.0.1:0", "--data-dir", busy, "--log-format", "json")
	open := t.TempDir()
	for name, mode := range map[string]os.FileMode{open: 0o755, filepath.Join(open, "notes"): 0o644} {
		if name != open {
			if err := os.WriteFile(name, nil, mode); err != nil {
				t.Fatal(err)
			}
		}
		if err := os.Chmod(name, mode); err != nil {
			t.Fatal(err)
		}
	}
	free := process.FreeAddress(t)
	for name, c := range map[string]struct{ listen, data, cause, cure string }{
		"the port is taken":         {here, t.TempDir(), "another program listens on " + here, "stop it (it is in the list of: ss -ltnp"},
		"an address for others":     {"192.0.2.1:8420", t.TempDir(), "listens on 127.0.0.1 or [::1] only", "use --config"},
		"the data are a file":       {free, file, "not a directory", "give the broker a directory that its user ("},
		"the data cannot be made":   {free, filepath.Join(file, "data"), "not a directory", "give the broker a directory that its user ("},
		"the data are in use":       {free, busy, "is in use by process", "stop that process"},
		"the data are for everyone": {free, open, "holds notes, which they may use", "chmod 700 " + open},
		"the database is none":      {free, damaged, "the file is no database, or it is damaged", "restore a backup"},
	} {
		var stderr bytes.Buffer
		code := run(t.Context(), []string{"serve", "--dev", "--listen", c.listen, "--data-dir", c.data, "--log-level", "error"}, nil, io.Discard, &stderr, []string{"HOME=/nowhere"})
		if got := stderr.String(); code != console.ExitFailed || strings.Count(got, "\n") != 1 || !strings.Contains(got, c.cause) || !strings.Contains(got, c.cure) {
			t.Errorf("%s: code %d, %q, want one line with %q and %q", name, code, got, c.cause, c.cure)
		}
	}
}

// A server whose certificate has expired says so, and what to do about it.
func TestAnExpiredCertificateIsInTheLog(t *testing.T) {
	expired, _ := certificates(t)
	key, err := x509.MarshalPKCS8PrivateKey(expired.pair.PrivateKey)
	if err != nil {
		t.Fatal(err)
	}
	keyFile := story.WriteFile(t, "key.pem", string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: key})), 0o600)
	_, digest := policy.NewToken()
	tokens := story.WriteFile(t, "tokens.yaml", "tokens: [{name: alice, project: acme, roles: [admin], sha256: "+digest+"}]\n", 0o600)
	config := story.WriteFile(t, "config.yaml", "listen: 127.0.0.1:0\ndataDir: "+filepath.Join(t.TempDir(), "data")+
		"\ntls: {certFile: "+expired.file+", keyFile: "+keyFile+"}\ntokensFile: "+tokens+"\n", 0o600)
	s := serve(t, nil, "--config", config)
	if got := s.log.String(); !strings.Contains(got, "the server's certificate has expired") || !strings.Contains(got, "put a new certificate into its file") {
		t.Errorf("the log says %s", got)
	}
}

// Whatever keeps a command from its server is said in one line, with its cause and what
// to do about it, and without the token.
func TestFaultsOnTheWayNameCauseAndCure(t *testing.T) {
	i := install(t)
	var plain, token string
	for _, pair := range i.env {
		if v, ok := strings.CutPrefix(pair, console.EnvAddr+"="); ok {
			plain = v
		}
	}
	token, _ = policy.NewToken()
	cert, key := story.ServerCertificate(t)
	pair, err := tls.LoadX509KeyPair(cert, key)
	if err != nil {
		t.Fatal(err)
	}
	expired, forOthers := certificates(t)
	at := func(pair tls.Certificate) string {
		s := httptest.NewUnstartedServer(http.NotFoundHandler())
		s.Config.ErrorLog = log.New(io.Discard, "", 0)
		s.TLS = &tls.Config{Certificates: []tls.Certificate{pair}}
		s.StartTLS()
		t.Cleanup(s.Close)
		return s.URL
	}
	secure, old, other := at(pair), at(expired.pair), at(forOthers.pair)
	nowhere := "http://" + process.FreeAddress(t)
	for name, c := range map[string]struct {
		env         []string
		cause, cure string
	}{
		"no address":            {nil, "no server named", "set VIMBROKER_ADDR or --addr"},
		"no URL":                {[]string{console.EnvAddr + "=127.0.0.1:8420"}, "must be a URL", "such as https://"},
		"no server":             {[]string{console.EnvAddr + "=" + nowhere}, "connection refused", `start one with "vimbroker serve"`},
		"plain to another host": {[]string{console.EnvAddr + "=http://192.0.2.1:8420"}, "refusing to send the token over plain http", "use https"},
		"no such name":          {[]string{console.EnvAddr + "=https://broker.invalid:8420"}, "broker.invalid", "to a name that this machine knows"},
		"https to http":         {[]string{console.EnvAddr + "=" + strings.Replace(plain, "http:", "https:", 1)}, "HTTP response to HTTPS client", "set VIMBROKER_ADDR or --addr to its http:// address"},
		"http to https":         {[]string{console.EnvAddr + "=" + strings.Replace(secure, "https:", "http:", 1)}, "takes https only", "set VIMBROKER_ADDR or --addr to its https:// address"},
		"an unknown authority":  {[]string{console.EnvAddr + "=" + secure}, "signed by unknown authority", "set VIMBROKER_CA_FILE"},
		"an expired certificate": {
			[]string{console.EnvAddr + "=" + old, console.EnvCAFile + "=" + expired.file},
			"has expired", "whoever runs the server must give it a new certificate",
		},
		"a certificate of others": {
			[]string{console.EnvAddr + "=" + other, console.EnvCAFile + "=" + forOthers.file},
			"doesn't contain any IP SANs", "to a name or an address that the certificate is for",
		},
		"no CA file":    {[]string{console.EnvAddr + "=" + secure, console.EnvCAFile + "=/nowhere/ca.pem"}, "VIMBROKER_CA_FILE: reading", "no such file"},
		"no token file": {[]string{console.EnvAddr + "=" + plain, console.EnvToken + "=", console.EnvTokenFile + "=/nowhere/token"}, "/nowhere/token: no such file", "set VIMBROKER_TOKEN_FILE to the file of your token"},
		"no token":      {[]string{console.EnvAddr + "=" + plain, console.EnvToken + "="}, "no token given", "set VIMBROKER_TOKEN, "},
		"a wrong token": {[]string{console.EnvAddr + "=" + plain}, "does not know this token", "to one that it knows"},
		"another path":  {[]string{console.EnvAddr + "=" + plain + "/broker"}, "nothing is served at this path", "compare the address"},
	} {
		var stderr bytes.Buffer
		env := append([]string{"HOME=/nowhere", console.EnvToken + "=" + token}, c.env...)
		code := run(t.Context(), []string{"vim", "list"}, strings.NewReader(""), io.Discard, &stderr, env)
		got := stderr.String()
		if code == 0 || strings.Count(got, "\n") != 1 || !strings.Contains(got, c.cause) || !strings.Contains(got, c.cure) {
			t.Errorf("%s: code %d, %q, want one line with %q and %q", name, code, got, c.cause, c.cure)
		}
		if strings.Contains(got, token) {
			t.Errorf("%s: the token is in %q", name, got)
		}
	}
}

// identity is a certificate, as a server has it and as its clients know it.
type identity struct {
	pair tls.Certificate
	file string
}

// certificates makes one that has expired, and one for another name.
func certificates(t *testing.T) (expired, forOthers identity) {
	t.Helper()
	hour := time.Now().Add(-time.Hour)
	return selfSigned(t, x509.Certificate{NotBefore: hour.Add(-time.Hour), NotAfter: hour, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}}),
		selfSigned(t, x509.Certificate{NotBefore: hour, NotAfter: time.Now().Add(time.Hour), DNSNames: []string{"other.example"}})
}

func selfSigned(t *testing.T, template x509.Certificate) identity {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template.SerialNumber, template.IsCA, template.BasicConstraintsValid = big.NewInt(1), true, true
	der, err := x509.CreateCertificate(rand.Reader, &template, &template, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	text := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
	return identity{tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}, story.WriteFile(t, "ca.pem", string(text), 0o600)}
}
