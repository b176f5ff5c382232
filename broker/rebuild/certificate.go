package rebuild

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"encoding/pem"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/vimbroker/vimbroker/broker"
)

// maxPEM bounds a CA bundle, a client certificate with its chain and a key, in bytes each.
const maxPEM = 64 << 10

// CABundle parses a bundle of CA certificates whose line breaks may have become
// spaces (as Tacker's VIM files have them), and encodes each certificate again, once.
// Empty stays empty: it means the system's roots. field names it in errors.
func CABundle(field, text string) (string, error) {
	if strings.TrimSpace(text) == "" {
		return "", nil
	}
	der, err := certificates(text)
	if err != nil {
		return "", broker.Invalid(field, "%s", err)
	}
	var out strings.Builder
	seen := make(map[string]bool, len(der))
	for _, b := range der {
		if !seen[string(b)] {
			seen[string(b)] = true
			out.Write(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: b}))
		}
	}
	if out.Len() > maxPEM {
		return "", broker.Invalid(field, "is longer than %d bytes", maxPEM)
	}
	return out.String(), nil
}

// KeyPair parses a client certificate with its chain and its key, and encodes both again.
// The error belongs to the key if keyAtFault is true.
func KeyPair(certText, keyText string) (cert, key string, keyAtFault bool, _ error) {
	der, err := certificates(certText)
	if err != nil {
		return "", "", false, err
	}
	var out strings.Builder
	for _, b := range der {
		out.Write(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: b}))
	}
	block, err := privateKey(keyText)
	if err != nil {
		return "", "", true, err
	}
	cert, key = out.String(), string(pem.EncodeToMemory(block))
	if _, err := tls.X509KeyPair([]byte(cert), []byte(key)); err != nil {
		return "", "", true, errors.New("is not the private key of the client certificate") // the cause may quote it
	}
	return cert, key, false, nil
}

// certificates returns the DER of each certificate in text, at least one.
func certificates(text string) ([][]byte, error) {
	blocks, err := pemBlocks(text)
	if err != nil {
		return nil, err
	}
	der := make([][]byte, 0, len(blocks))
	for i, b := range blocks {
		if b.Type != "CERTIFICATE" {
			return nil, fmt.Errorf("PEM block %d is no certificate", i+1)
		}
		c, err := x509.ParseCertificate(b.Bytes)
		if err != nil {
			return nil, fmt.Errorf("PEM block %d does not parse as a certificate", i+1)
		}
		der = append(der, c.Raw)
	}
	return der, nil
}

func privateKey(text string) (*pem.Block, error) {
	if strings.Contains(text, "ENCRYPTED") {
		return nil, errors.New("is encrypted: give the key without a passphrase")
	}
	blocks, err := pemBlocks(text)
	if err != nil {
		return nil, err
	}
	if len(blocks) != 1 {
		return nil, errors.New("holds more than one PEM block")
	}
	switch b := blocks[0]; b.Type {
	case "PRIVATE KEY", "EC PRIVATE KEY", "RSA PRIVATE KEY":
		return b, nil
	}
	return nil, errors.New("is no PEM private key (PKCS #8, PKCS #1 or SEC 1)")
}

// pemBlocks splits text into PEM blocks, at least one. All whitespace inside a
// block is taken as a line break; explanatory text between blocks is dropped
// (RFC 7468, section 5.2). Encapsulated headers are refused.
func pemBlocks(text string) ([]*pem.Block, error) {
	const begin, end, dashes = "-----BEGIN ", "-----END ", "-----"
	if len(text) > maxPEM {
		return nil, fmt.Errorf("is longer than %d bytes", maxPEM)
	}
	var blocks []*pem.Block
	for {
		before, rest, found := strings.Cut(text, begin)
		if strings.Contains(before, dashes) {
			return nil, errors.New("holds a PEM boundary without its other half")
		}
		if !found {
			break
		}
		kind, rest, ok := strings.Cut(rest, dashes)
		if !ok {
			return nil, errors.New("holds an unfinished PEM boundary")
		}
		body, rest, ok := strings.Cut(rest, end+kind+dashes)
		if !ok || strings.Contains(body, dashes) {
			return nil, fmt.Errorf("PEM block %d does not end", len(blocks)+1)
		}
		der, err := base64.StdEncoding.Strict().DecodeString(strings.Join(strings.Fields(body), ""))
		if err != nil || len(der) == 0 {
			return nil, fmt.Errorf("PEM block %d is not base64", len(blocks)+1)
		}
		blocks = append(blocks, &pem.Block{Type: kind, Bytes: der})
		text = rest
	}
	if len(blocks) == 0 {
		return nil, errors.New("is not PEM; give certificates as PEM files hold them")
	}
	return blocks, nil
}

// CertificateExpiry returns when the first certificate of a PEM bundle ends; zero if it
// cannot be read.
func CertificateExpiry(text string) time.Time {
	der, err := certificates(text)
	if err != nil {
		return time.Time{}
	}
	c, err := x509.ParseCertificate(der[0])
	if err != nil {
		return time.Time{}
	}
	return c.NotAfter.UTC()
}
