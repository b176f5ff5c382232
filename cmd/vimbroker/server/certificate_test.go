package server

import (
	"bytes"
	"log/slog"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/vimbroker/vimbroker/test/story"
	"github.com/vimbroker/vimbroker/test/testlog"
)

var noon = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)

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

// The last of a chain is told where it signed itself and the chain is the host's; what is no certificate is none.
func TestTheAuthorityOfAChain(t *testing.T) {
	cert, key := story.ServerCertificate(t)
	text, err := os.ReadFile(cert)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ host, more, want string }{
		{"127.0.0.1", "", string(text)},
		{"127.0.0.2", "", ""},
		{"127.0.0.1", "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n", ""},
	} {
		opened, err := openCertificate(story.WriteFile(t, "cert.pem", string(text)+c.more, 0o600), key)
		if err != nil {
			t.Fatal(err)
		}
		if got := opened.authority(c.host, testlog.Silent(t)); got != c.want {
			t.Errorf("%s, with %q behind it: %q, want %q", c.host, c.more, got, c.want)
		}
	}
}

func TestCertificateIsReadAgainWhenItIsRenewed(t *testing.T) {
	cert, key := story.ServerCertificate(t)
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
	otherCert, otherKey := story.ServerCertificate(t)
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
	if ends := c.ends(); !ends.Equal(c.present(logger).Leaf.NotAfter) || ends.IsZero() {
		t.Errorf("ends = %v, which is not the end of what is presented", ends)
	}
}
