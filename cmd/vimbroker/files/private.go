package files

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"os"

	"github.com/vimbroker/vimbroker/broker/strictyaml"
)

// Authorities returns the certificate authorities of a file, and notes its faults; no file is no
// fault, and nil.
func Authorities(d *strictyaml.Document, key, name string) *x509.CertPool {
	if name == "" {
		return nil
	}
	Permissions(d, key, name, WritableByOthers)
	pool := x509.NewCertPool()
	if text, err := ReadNamed(name); err != nil {
		d.Fault(nil, key, "%v", err)
	} else if !pool.AppendCertsFromPEM(text) {
		d.Fault(nil, key, "%s must hold certificates in PEM", name)
	}
	return pool
}

// KeyPair notes the faults of a client certificate and its key, where both are named.
func KeyPair(d *strictyaml.Document, at, certFile, keyFile string) {
	if certFile == "" || keyFile == "" {
		return
	}
	Permissions(d, at+".keyFile", keyFile, ReadableByOthers)
	if _, err := tls.LoadX509KeyPair(certFile, keyFile); err != nil {
		d.Fault(nil, at+".certFile", "%v", err)
	}
}

// LoginFile returns what a private file of one line holds; it notes that the file
// is not named, not there, empty or not private.
func LoginFile(d *strictyaml.Document, key, name string) string {
	if name == "" {
		d.Fault(nil, key, "must name a file")
		return ""
	}
	Permissions(d, key, name, ReadableByOthers)
	text, err := ReadNamed(name)
	if err != nil {
		d.Fault(nil, key, "%v", err)
		return ""
	}
	defer clear(text)
	text = bytes.TrimSpace(text)
	if len(text) == 0 {
		d.Fault(nil, key, "%s is empty", name)
	}
	return string(text)
}

// Permissions notes a file that others can do with what only its owner should.
func Permissions(d *strictyaml.Document, key, name string, fault func(string) string) {
	if s := fault(name); s != "" {
		d.Fault(nil, key, "%s", s)
	}
}

// WritableByOthers returns a warning with the remedy if people other than the owner can
// change a file; it is silent about a missing file.
func WritableByOthers(name string) string {
	return loose(name, 0o022, "changed", "go-w")
}

// ReadableByOthers says so if a private file is open to everyone. The group may
// read: that is how orchestrators mount secrets.
func ReadableByOthers(name string) string {
	return loose(name, 0o027, "read or changed", "g-wx,o-rwx")
}

func loose(name string, bits os.FileMode, what, remedy string) string {
	info, err := os.Stat(name)
	if err != nil || info.Mode().Perm()&bits == 0 {
		return ""
	}
	return fmt.Sprintf("%s can be %s by others; run: chmod %s %s", name, what, remedy, name)
}
