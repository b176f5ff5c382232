package remote

import (
	"bytes"
	"cmp"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
)

// Authorities are the certificate authorities (PEM) that a server's certificate must
// be signed by: a text, or a file that is read again when it changes. Without either
// they are the system's.
type Authorities struct{ PEM, File string }

var errAuthorities = errors.New("the certificate authorities cannot be used: they cannot be read, or there are none")

// pool is nil for the system's authorities.
func (a Authorities) pool() (*x509.CertPool, error) {
	text := []byte(a.PEM)
	if a.File != "" {
		var err error
		if text, err = os.ReadFile(a.File); err != nil {
			return nil, errAuthorities
		}
	} else if a.PEM == "" {
		return nil, nil
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(text) {
		return nil, errAuthorities
	}
	return pool, nil
}

// stat is nil if there is no file.
func (a Authorities) stat() (fs.FileInfo, error) {
	if a.File == "" {
		return nil, nil
	}
	info, err := os.Stat(a.File)
	if err != nil {
		return nil, errAuthorities
	}
	return info, nil
}

func sameFile(a, b fs.FileInfo) bool {
	if a == nil || b == nil {
		return a == b
	}
	return os.SameFile(a, b) && a.Size() == b.Size() && a.ModTime().Equal(b.ModTime())
}

// SystemRoots are the system's authorities (PEM), for those who cannot be told to use their own; empty
// where there are none. They are read once, from where crypto/x509 reads them.
var SystemRoots = sync.OnceValue(systemRoots)

// rootFiles and rootDirs are those of crypto/x509 on Linux, which takes the first file and every directory.
const (
	rootFiles = "/etc/ssl/certs/ca-certificates.crt:/etc/pki/tls/certs/ca-bundle.crt:/etc/ssl/ca-bundle.pem:" +
		"/etc/pki/tls/cacert.pem:/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem:/etc/ssl/cert.pem"
	rootDirs = "/etc/ssl/certs:/etc/pki/tls/certs"
)

func systemRoots() string {
	var texts []string
	files := strings.Split(rootFiles, ":")
	if named := os.Getenv("SSL_CERT_FILE"); named != "" {
		files = []string{named}
	}
	for _, name := range files {
		if text, err := os.ReadFile(name); err == nil {
			texts = append(texts, string(text))
			break
		}
	}
	for _, dir := range strings.Split(cmp.Or(os.Getenv("SSL_CERT_DIR"), rootDirs), ":") {
		entries, _ := os.ReadDir(dir) // what cannot be read is not trusted
		for _, e := range entries {
			if text, err := os.ReadFile(filepath.Join(dir, e.Name())); err == nil {
				texts = append(texts, string(text))
			}
		}
	}
	return Certificates(texts...)
}

// Certificates are those of texts in PEM, each once, as one text; whatever else the texts hold, such as
// a key, is left out.
func Certificates(texts ...string) string {
	var all bytes.Buffer
	seen := map[string]bool{}
	for _, text := range texts {
		for block, rest := pem.Decode([]byte(text)); block != nil; block, rest = pem.Decode(rest) {
			_, err := x509.ParseCertificate(block.Bytes)
			if block.Type != "CERTIFICATE" || err != nil || seen[string(block.Bytes)] {
				continue
			}
			seen[string(block.Bytes)] = true
			_ = pem.Encode(&all, &pem.Block{Type: block.Type, Bytes: block.Bytes}) // a buffer takes everything
		}
	}
	return all.String()
}
