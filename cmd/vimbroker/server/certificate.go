package server

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"log/slog"
	"os"
	"sync"
	"time"
)

// certificate is the server's, read again when its files change, so that a
// renewed one needs no restart. Safe for concurrent use.
type certificate struct {
	certFile, keyFile string

	mu      sync.Mutex
	loaded  *tls.Certificate
	changed [2]time.Time // of the files that were loaded, or tried
}

// openCertificate loads the certificate for the first time.
func openCertificate(certFile, keyFile string) (*certificate, error) {
	c := &certificate{certFile: certFile, keyFile: keyFile}
	if err := c.load(); err != nil {
		return nil, err
	}
	return c, nil
}

func (c *certificate) load() error {
	c.changed = c.times()
	pair, err := tls.LoadX509KeyPair(c.certFile, c.keyFile)
	if err != nil {
		return fmt.Errorf("loading the certificate %s with its key: %w", c.certFile, err)
	}
	c.loaded = &pair
	return nil
}

func (c *certificate) times() (t [2]time.Time) {
	for i, name := range []string{c.certFile, c.keyFile} {
		if info, err := os.Stat(name); err == nil {
			t[i] = info.ModTime()
		}
	}
	return t
}

// warn tells the log of a certificate that no client takes at that time: the server runs
// on, because it takes up new files by itself.
func (c *certificate) warn(log *slog.Logger, now time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	const cure = "put a new certificate into its file: it is taken up at once"
	switch leaf := c.loaded.Leaf; {
	case now.After(leaf.NotAfter):
		log.Warn("the server's certificate has expired, and clients refuse it; "+cure, "file", c.certFile, "notAfter", leaf.NotAfter)
	case now.Before(leaf.NotBefore):
		log.Warn("the server's certificate is not valid yet, and clients refuse it; compare the time of this machine", "file", c.certFile,
			"notBefore", leaf.NotBefore)
	}
}

// ends is when the certificate in use is not valid any more.
func (c *certificate) ends() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.loaded.Leaf.NotAfter
}

// present returns the current certificate. While new files do not load, the previous one
// stays.
func (c *certificate) present(log *slog.Logger) *tls.Certificate {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.times() != c.changed {
		if err := c.load(); err != nil {
			log.Error("the server's certificate changed and does not load; the one before stays in use", "error", err)
		} else {
			log.Info("the server's certificate was renewed", "file", c.certFile)
		}
	}
	return c.loaded
}

// authority is the last certificate of the chain (PEM), if the chain is that of a host and ends with a
// certificate that has signed itself. Clients such as Python's cannot be told to trust another chain's
// last certificate.
func (c *certificate) authority(host string, log *slog.Logger) string {
	pair := c.present(log)
	last := pair.Certificate[len(pair.Certificate)-1]
	top, err := x509.ParseCertificate(last)
	if err != nil || !bytes.Equal(top.RawIssuer, top.RawSubject) || pair.Leaf.VerifyHostname(host) != nil {
		return ""
	}
	return string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: last}))
}
