package server

import (
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/vimbroker/vimbroker/test/real/pki"
	"github.com/vimbroker/vimbroker/test/story"
)

// written are the files of a chain and its key.
func written(t *testing.T, pair pki.Pair, further ...string) (certFile, keyFile string) {
	t.Helper()
	dir := t.TempDir()
	certFile, keyFile = filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	for name, text := range map[string]string{certFile: string(pair.Cert) + strings.Join(further, ""), keyFile: string(pair.Key)} {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return certFile, keyFile
}

// served is a certificate that an authority has made for hosts.
func served(t *testing.T, by *pki.CA, hosts ...string) pki.Pair {
	t.Helper()
	pair, err := by.Server(hosts...)
	if err != nil {
		t.Fatal(err)
	}
	return pair
}

func issuerConfig(t *testing.T, oauth, certFile, keyFile string) (config, error) {
	t.Helper()
	text := "tokensFile: " + tokensFile(t) + "\ndataDir: " + filepath.Join(t.TempDir(), "d") + "\noauth: " + oauth + "\n"
	if certFile != "" {
		text += "tls: {certFile: " + certFile + ", keyFile: " + keyFile + "}\n"
	}
	return loadConfig(story.WriteFile(t, "c.yaml", text, 0o600), []string{"HOME=/h"}, keep)
}

func TestTheAuthorityOfTheIssuer(t *testing.T) {
	ca, other := newPKI(t), newPKI(t)
	log := slog.New(slog.DiscardHandler)
	caFile := story.WriteFile(t, "ca.pem", string(other.PEM)+string(ca.PEM), 0o600)
	leaf, key := written(t, served(t, ca, "a.example"))
	chain, chainKey := written(t, served(t, ca, "a.example"), string(ca.PEM))
	inner, innerKey := written(t, served(t, ca, "inner.example"), string(ca.PEM))
	alone, aloneKey := story.ServerCertificate(t)
	text, err := os.ReadFile(alone)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ what, oauth, cert, key, want string }{
		{"a chain with its authority", "{issuer: 'https://a.example'}", chain, chainKey, string(ca.PEM)},
		{"a chain without", "{issuer: 'https://a.example'}", leaf, key, ""},
		{"a certificate that has signed itself", "{issuer: 'https://127.0.0.1:8420'}", alone, aloneKey, string(text)},
		{"a certificate for another host, as behind a balancer", "{issuer: 'https://a.example'}", inner, innerKey, ""},
		{"a file", "{issuer: 'https://a.example', caFile: " + caFile + "}", leaf, key, string(other.PEM) + string(ca.PEM)},
		{"a file, where a balancer ends TLS", "{issuer: 'https://a.example', caFile: " + caFile + "}", "", "", string(other.PEM) + string(ca.PEM)},
		{"nothing", "{issuer: 'https://a.example'}", "", "", ""},
	} {
		made, err := issuerConfig(t, c.oauth, c.cert, c.key)
		if err != nil {
			t.Fatalf("%s: %v", c.what, err)
		}
		if got := newLive(made).issuerCA(log); got != c.want {
			t.Errorf("%s: issuerCA() = %q, want %q", c.what, got, c.want)
		}
	}
	for oauth, want := range map[string]string{
		"{caFile: " + caFile + "}":                                  "oauth.caFile: needs an oauth.issuer",
		"{issuer: 'http://127.0.0.1:8420', caFile: " + caFile + "}": "oauth.caFile: needs an oauth.issuer",
		"{issuer: 'https://a.example', caFile: " + key + "}":        "must hold certificates",
		"{issuer: 'https://a.example', caFile: /nowhere}":           "/nowhere",
	} {
		if _, err := issuerConfig(t, oauth, leaf, key); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", oauth, err, want)
		}
	}
}

// What is given follows the files: the certificate's at once, the others at a reload.
func TestTheAuthorityOfTheIssuerFollowsTheFiles(t *testing.T) {
	ca, next := newPKI(t), newPKI(t)
	log := slog.New(slog.DiscardHandler)
	cert, key := written(t, served(t, ca, "a.example"), string(ca.PEM))
	read := func(oauth string) config {
		t.Helper()
		made, err := issuerConfig(t, oauth, cert, key)
		if err != nil {
			t.Fatal(err)
		}
		return made
	}
	l := newLive(read("{issuer: 'https://a.example'}"))
	want := func(what, want string) {
		t.Helper()
		if got := l.issuerCA(log); got != want {
			t.Errorf("%s: issuerCA() = %q, want %q", what, got, want)
		}
	}
	want("at the start", string(ca.PEM))
	newCert, newKey := written(t, served(t, next, "a.example"), string(next.PEM))
	copyOver(t, cert, newCert, noon)
	copyOver(t, key, newKey, noon)
	want("once the certificate is another authority's", string(next.PEM))
	file := story.WriteFile(t, "ca.pem", string(ca.PEM), 0o600)
	for _, text := range []string{string(ca.PEM), string(ca.PEM) + string(next.PEM)} {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if taken, restart := l.replace(read("{issuer: 'https://a.example', caFile: " + file + "}")); !slices.Contains(taken, issuerKey) || slices.Contains(restart, "oauth") {
			t.Errorf("a reload takes %q and leaves %q to a restart", taken, restart)
		}
		want("after a reload", text)
	}
}
