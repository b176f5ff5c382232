package remote

import (
	"crypto/x509"
	"errors"
	"io/fs"
	"os"
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

// stat is nil where there is no file.
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
