package main

import (
	"bytes"
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/vimbroker/vimbroker/policy"
	"github.com/vimbroker/vimbroker/test/story"
)

// copyOver replaces a file's content, and makes sure that its time says so.
func copyOver(t *testing.T, to, from string, at time.Time) {
	t.Helper()
	text, err := os.ReadFile(from)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(to, text, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Chtimes(to, at, at); err != nil {
		t.Fatal(err)
	}
}

func TestCertificateIsReadAgainWhenItIsRenewed(t *testing.T) {
	cert, key := serverCertificate(t)
	c, err := openCertificate(cert, key)
	if err != nil {
		t.Fatal(err)
	}
	var log bytes.Buffer
	logger := slog.New(slog.NewTextHandler(&log, nil))
	first := c.present(logger)
	if c.present(logger) != first {
		t.Error("an unchanged certificate was loaded twice")
	}
	otherCert, otherKey := serverCertificate(t)
	copyOver(t, cert, otherCert, noon)
	if c.present(logger) != first {
		t.Error("while the key does not belong to the certificate: another than the one before")
	}
	if !strings.Contains(log.String(), "stays in use") {
		t.Errorf("log = %q", log.String())
	}
	copyOver(t, key, otherKey, noon)
	if c.present(logger) == first {
		t.Error("the renewed certificate is not presented")
	}
}

// The whole way with TLS: configuration file, tokens file, CA file of the client.
func TestServeWithTLS(t *testing.T) {
	cert, key := serverCertificate(t)
	token, digest := policy.NewToken()
	tokens := write(t, "tokens.yaml", "tokens: [{name: alice, project: acme, roles: [admin], sha256: "+digest+"}]\n", 0o600)
	addr := story.FreeAddress(t)
	config := write(t, "config.yaml", "listen: "+addr+"\ndataDir: "+filepath.Join(t.TempDir(), "data")+
		"\ntls: {certFile: "+cert+", keyFile: "+key+"}\ntokensFile: "+tokens+"\n", 0o600)

	ctx, stop := context.WithCancel(context.WithoutCancel(t.Context()))
	log := newReadyLog()
	ended := make(chan int, 1)
	go func() { ended <- run(ctx, []string{"serve", "--config", config}, nil, os.Stdout, log, nil) }()
	select {
	case <-log.ready:
	case code := <-ended:
		t.Fatalf("serve ended with %d: %s", code, log)
	}
	t.Cleanup(func() {
		stop()
		if code := <-ended; code != 0 {
			t.Errorf("serve ended with %d: %s", code, log)
		}
	})
	env := []string{envAddr + "=https://" + addr, envToken + "=" + token}
	var out, stderr bytes.Buffer
	if code := run(t.Context(), []string{"vim", "list"}, nil, &out, &stderr, env); code != exitFailed || !strings.Contains(stderr.String(), envCAFile) {
		t.Errorf("without the CA: code %d, %q, want a hint at %s", code, stderr.String(), envCAFile)
	}
	if code := run(t.Context(), []string{"vim", "list"}, nil, &out, &stderr, append(env, envCAFile+"="+cert)); code != 0 {
		t.Errorf("with the CA: code %d, %q", code, stderr.String())
	}
	if strings.Contains(log.String(), token) {
		t.Error("the token is in the log")
	}
}
