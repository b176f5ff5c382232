// Package pki makes throw-away certificate authorities and certificates for the
// tests: the real clusters, the fakes and the proxies in front of them.
package pki

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"net/url"
	"time"
)

// CA is a certificate authority whose key lives in memory only. It is safe for
// concurrent use.
type CA struct {
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
	// PEM is the authority's certificate.
	PEM []byte
}

// Pair is a certificate and its private key, each PEM.
type Pair struct {
	Cert, Key []byte
}

// NewCA makes an authority with this common name, valid for ten years from
// yesterday.
func NewCA(name string) (*CA, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, fmt.Errorf("making key of CA %s: %w", name, err)
	}
	tmpl, err := template(pkix.Name{CommonName: name}, time.Now().AddDate(10, 0, 0))
	if err != nil {
		return nil, err
	}
	tmpl.IsCA, tmpl.BasicConstraintsValid = true, true
	tmpl.KeyUsage = x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature | x509.KeyUsageCRLSign
	der, err := x509.CreateCertificate(rand.Reader, tmpl, tmpl, key.Public(), key)
	if err != nil {
		return nil, fmt.Errorf("signing CA %s: %w", name, err)
	}
	cert, err := x509.ParseCertificate(der)
	if err != nil {
		return nil, fmt.Errorf("reading CA %s: %w", name, err)
	}
	return &CA{cert: cert, key: key, PEM: pemBlock("CERTIFICATE", der)}, nil
}

// Server issues a serving certificate for hosts, which are DNS names or IP
// addresses, valid for a year.
func (ca *CA) Server(hosts ...string) (Pair, error) {
	tmpl, err := template(pkix.Name{CommonName: "server"}, time.Now().AddDate(1, 0, 0))
	if err != nil {
		return Pair{}, err
	}
	tmpl.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}
	for _, h := range hosts {
		if ip := net.ParseIP(h); ip != nil {
			tmpl.IPAddresses = append(tmpl.IPAddresses, ip)
		} else {
			tmpl.DNSNames = append(tmpl.DNSNames, h)
		}
	}
	return ca.issue(tmpl)
}

// Client issues a client certificate: to Kubernetes, name is the user and groups
// are the user's groups.
func (ca *CA) Client(name string, groups []string, notAfter time.Time) (Pair, error) {
	tmpl, err := template(pkix.Name{CommonName: name, Organization: groups}, notAfter)
	if err != nil {
		return Pair{}, err
	}
	tmpl.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}
	return ca.issue(tmpl)
}

// Workload issues a client certificate that names a workload by a URI, for less than a day.
func (ca *CA) Workload(uri string, notAfter time.Time) (Pair, error) {
	name, err := url.Parse(uri)
	if err != nil {
		return Pair{}, fmt.Errorf("naming a workload: %w", err)
	}
	tmpl, err := template(pkix.Name{}, notAfter)
	if err != nil {
		return Pair{}, err
	}
	tmpl.NotBefore, tmpl.URIs, tmpl.ExtKeyUsage = time.Now().Add(-time.Minute), []*url.URL{name}, []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}
	return ca.issue(tmpl)
}

// Pool holds this authority alone.
func (ca *CA) Pool() *x509.CertPool {
	pool := x509.NewCertPool()
	pool.AddCert(ca.cert)
	return pool
}

// KeyPEM returns the authority's private key, for programs that sign with it.
func (ca *CA) KeyPEM() ([]byte, error) { return keyPEM(ca.key) }

// TLS returns the pair as a crypto/tls certificate.
func (p Pair) TLS() (tls.Certificate, error) { return tls.X509KeyPair(p.Cert, p.Key) }

// NewKey makes a private key and its public key, both PEM: what Kubernetes signs
// service account tokens with.
func NewKey() (private, public []byte, err error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, nil, fmt.Errorf("making signing key: %w", err)
	}
	if private, err = keyPEM(key); err != nil {
		return nil, nil, err
	}
	der, err := x509.MarshalPKIXPublicKey(key.Public())
	if err != nil {
		return nil, nil, fmt.Errorf("encoding public key: %w", err)
	}
	return private, pemBlock("PUBLIC KEY", der), nil
}

func (ca *CA) issue(tmpl *x509.Certificate) (Pair, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return Pair{}, fmt.Errorf("making key of %s: %w", tmpl.Subject, err)
	}
	tmpl.KeyUsage = x509.KeyUsageDigitalSignature
	der, err := x509.CreateCertificate(rand.Reader, tmpl, ca.cert, key.Public(), ca.key)
	if err != nil {
		return Pair{}, fmt.Errorf("signing %s: %w", tmpl.Subject, err)
	}
	keyText, err := keyPEM(key)
	if err != nil {
		return Pair{}, err
	}
	return Pair{Cert: pemBlock("CERTIFICATE", der), Key: keyText}, nil
}

func template(subject pkix.Name, notAfter time.Time) (*x509.Certificate, error) {
	serial, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 120))
	if err != nil {
		return nil, fmt.Errorf("drawing a serial number: %w", err)
	}
	return &x509.Certificate{
		SerialNumber: serial,
		Subject:      subject,
		NotBefore:    time.Now().AddDate(0, 0, -1),
		NotAfter:     notAfter,
	}, nil
}

func keyPEM(key *ecdsa.PrivateKey) ([]byte, error) {
	der, err := x509.MarshalECPrivateKey(key)
	if err != nil {
		return nil, fmt.Errorf("encoding private key: %w", err)
	}
	return pemBlock("EC PRIVATE KEY", der), nil
}

func pemBlock(kind string, der []byte) []byte {
	return pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der})
}
