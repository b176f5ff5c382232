package vnfpkg

import (
	"archive/zip"
	"bytes"
	"crypto"
	"crypto/ecdsa"
	"crypto/rsa"
	"crypto/x509"
	"encoding/asn1"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"maps"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/smallstep/pkcs7"
)

const (
	// maxSignature bounds a signature and the certificates beside it, in bytes.
	maxSignature = 256 << 10
	// maxWrapped bounds a CSAR that is compressed in a signed archive: it is unpacked in memory.
	// One that is stored there may be as large as any.
	maxWrapped = 64 << 20
	// minRSA bounds signers' RSA keys, in bits.
	minRSA = 2048
	// cmsBegin begins the line where a manifest's own text ends and its signature begins.
	cmsBegin = "-----BEGIN CMS-----"
)

// Signers says whose signatures are taken.
type Signers struct {
	// Roots are the authorities that a signer's certificate has to lead to.
	Roots *x509.CertPool
	// Now is when certificates have to be valid.
	Now time.Time
}

// wrapping holds the files beside a CSAR in a signed archive (SOL004 clause 5.1, option 2).
type wrapping struct {
	csar             *io.SectionReader
	name             string // of the signature
	signature, certs []byte
}

// Wrapped reports whether the CSAR was in an archive with its signature (SOL004, option 2).
func (c *CSAR) Wrapped() bool { return c.wrapping != nil }

// unwrap looks for a CSAR with its signature at the root of an archive: one *.csar or *.zip, one
// *.cms and at most one *.cert, and nothing else. It is nil for an archive that is a package itself.
func unwrap(archive *zip.Reader, r io.ReaderAt) (*wrapping, error) {
	named := map[string]*zip.File{}
	for _, f := range archive.File {
		kind := path.Ext(f.Name)
		if kind == ".zip" {
			kind = ".csar"
		}
		if strings.Contains(f.Name, "/") || named[kind] != nil || !slices.Contains([]string{".csar", ".cms", ".cert"}, kind) {
			return nil, nil //nolint:nilnil // it is no such archive
		}
		named[kind] = f
	}
	if named[".csar"] == nil || named[".cms"] == nil {
		return nil, nil //nolint:nilnil // it is no such archive
	}
	w := &wrapping{name: named[".cms"].Name}
	for kind, to := range map[string]*[]byte{".cms": &w.signature, ".cert": &w.certs} {
		if f := named[kind]; f != nil {
			text, err := unpacked(f, maxSignature)
			if err != nil {
				return nil, err
			}
			*to = text
		}
	}
	inner := named[".csar"]
	if inner.Method == zip.Store && inner.CompressedSize64 == inner.UncompressedSize64 {
		at, err := inner.DataOffset()
		if err != nil {
			return nil, fault(inner.Name, "cannot be unpacked")
		}
		w.csar = io.NewSectionReader(r, at, int64(inner.UncompressedSize64))
		return w, nil
	}
	text, err := unpacked(inner, maxWrapped)
	if err != nil {
		return nil, err
	}
	w.csar = io.NewSectionReader(bytes.NewReader(text), 0, int64(len(text)))
	return w, nil
}

// unpacked reads an entry of an archive that has at most so many bytes.
func unpacked(f *zip.File, most int64) ([]byte, error) {
	if f.UncompressedSize64 > uint64(most) {
		return nil, fault(f.Name, "unpacks to more than %d bytes; store it in the archive without compression", most)
	}
	r, err := f.Open()
	if err != nil {
		return nil, fault(f.Name, "cannot be unpacked")
	}
	defer r.Close()
	text, err := io.ReadAll(io.LimitReader(r, most+1))
	if err != nil || int64(len(text)) > most {
		return nil, fault(f.Name, "cannot be unpacked")
	}
	return text, nil
}

// singleSignature are the files that hold the signature of one other file, and the certificate of its signer; the
// latter may be empty.
type singleSignature struct{ file, certificate string }

// Verify checks the package's signature and returns the subject of the signer's certificate (RFC 4514);
// it is empty for a package without a signature. An invalid signature is a [*PackageError].
//
// From option 1 of SOL004 clause 5.1 it takes the manifest's signature, which stands at its end: the manifest
// has to name every file with its hash. Signatures of single artifacts prove nothing about the others, so they
// make no package a signed one; but if the manifest or TOSCA.meta names one, it has to be valid.
func (c *CSAR) Verify(trust Signers) (signer string, err error) {
	if signer, err = c.verifyWhole(trust); err == nil {
		err = c.verifySingle(trust)
	}
	if err != nil {
		return "", err
	}
	return signer, nil
}

func (c *CSAR) verifySingle(trust Signers) error {
	for _, name := range slices.Sorted(maps.Keys(c.single)) {
		by := c.single[name]
		signature, err := c.Read(by.file)
		if err != nil {
			return err
		}
		var certs []byte
		if by.certificate != "" {
			if certs, err = c.Read(by.certificate); err != nil {
				return err
			}
		}
		if _, err := trust.check(by.file, signature, certs, func() (io.ReadCloser, error) {
			content, _, err := c.Stream(name)
			return content, err
		}); err != nil {
			return err
		}
	}
	return nil
}

func (c *CSAR) verifyWhole(trust Signers) (signer string, err error) {
	if w := c.wrapping; w != nil {
		return trust.check(w.name, w.signature, w.certs, func() (io.ReadCloser, error) {
			return io.NopCloser(io.NewSectionReader(w.csar, 0, w.csar.Size())), nil
		})
	}
	if c.Manifest == "" {
		return "", nil
	}
	text, err := c.Read(c.Manifest)
	if err != nil {
		return "", err
	}
	at := bytes.Index(text, []byte("\n"+cmsBegin))
	if at < 0 {
		return "", nil
	}
	if err := c.complete(); err != nil {
		return "", err
	}
	var certs []byte
	if c.certificate != "" {
		if certs, err = c.Read(c.certificate); err != nil {
			return "", err
		}
	}
	return trust.check(c.Manifest, text[at+1:], certs, func() (io.ReadCloser, error) {
		return io.NopCloser(bytes.NewReader(text[:at+1])), nil
	})
}

// complete refuses a file that the signed manifest does not name with its hash. The manifest cannot
// name itself, nor the certificate of its signer. A file that it names as a signature is checked as a
// signature.
func (c *CSAR) complete() error {
	besides := map[string]bool{c.Manifest: true, c.certificate: true}
	for _, by := range c.single {
		besides[by.file], besides[by.certificate] = true, true
	}
	for _, name := range c.Paths("") {
		if !besides[name] && !c.signed[name] {
			return fault(name, "has no entry with a hash in the signed manifest %s", c.Manifest)
		}
	}
	return nil
}

// strong are the digests that signatures may be made over.
var strong = map[crypto.Hash]asn1.ObjectIdentifier{
	crypto.SHA256: pkcs7.OIDDigestAlgorithmSHA256, crypto.SHA384: pkcs7.OIDDigestAlgorithmSHA384,
	crypto.SHA512: pkcs7.OIDDigestAlgorithmSHA512,
}

// weak are names of signature algorithms that say SHA-1, whatever the digest is.
var weak = []asn1.ObjectIdentifier{
	pkcs7.OIDDigestAlgorithmECDSASHA1, pkcs7.OIDEncryptionAlgorithmRSASHA1, pkcs7.OIDDigestAlgorithmDSA, pkcs7.OIDDigestAlgorithmDSASHA1,
}

// parsed reads a detached CMS signature (RFC 5652) with exactly one signer, and that one's certificate; why says what keeps
// the signature from being taken.
func parsed(signature, certs []byte) (p *pkcs7.PKCS7, of *x509.Certificate, why string) {
	if len(signature) > maxSignature {
		return nil, nil, fmt.Sprintf("is longer than %d bytes", maxSignature)
	}
	if block, _ := pem.Decode(signature); block != nil {
		signature = block.Bytes
	}
	p, err := pkcs7.Parse(signature)
	if err != nil {
		return nil, nil, "is no CMS"
	}
	if len(p.Signers) != 1 {
		return nil, nil, fmt.Sprintf("has %d signers; there has to be one", len(p.Signers))
	}
	if len(p.Content) > 0 {
		return nil, nil, "holds a content of its own; it has to be a detached one"
	}
	s := p.Signers[0]
	// Without them the signature is over the content itself, which may be another's attributes.
	if len(s.AuthenticatedAttributes) == 0 {
		return nil, nil, "has no signed attributes"
	}
	var digest crypto.Hash
	for hash, id := range strong {
		if s.DigestAlgorithm.Algorithm.Equal(id) {
			digest = hash
		}
	}
	if digest == 0 || slices.ContainsFunc(weak, s.DigestEncryptionAlgorithm.Algorithm.Equal) {
		return nil, nil, "is made with an algorithm that is not taken: use SHA-256, SHA-384 or SHA-512"
	}
	more, err := certificates(certs)
	if err != nil {
		return nil, nil, "cannot be checked: the certificates beside it cannot be read"
	}
	p.Certificates = append(p.Certificates, more...)
	of = p.GetOnlySigner()
	if of == nil {
		return nil, nil, "comes without its signer's certificate"
	}
	switch key := of.PublicKey.(type) {
	case *rsa.PublicKey:
		if key.N.BitLen() < minRSA {
			return nil, nil, fmt.Sprintf("is made with an RSA key of %d bits; %d are the least", key.N.BitLen(), minRSA)
		}
	case *ecdsa.PublicKey:
	default:
		return nil, nil, "is made with a key of a kind that is not taken: use RSA or ECDSA"
	}
	return p, of, ""
}

// check verifies a signature over a content.
func (t Signers) check(name string, signature, certs []byte, content func() (io.ReadCloser, error)) (signer string, err error) {
	bad := func(format string, args ...any) (string, error) {
		return "", fault(name, "has a signature that "+format, args...)
	}
	p, of, why := parsed(signature, certs)
	if why != "" {
		return bad("%s", why)
	}
	sums := &sumOf{content: content}
	p.Hasher = sums
	if err := p.VerifyWithChainAtTime(t.Roots, t.Now); err != nil {
		var mismatch *pkcs7.MessageDigestMismatchError
		var untimely *pkcs7.SigningTimeNotValidError
		switch {
		case sums.err != nil:
			return "", sums.err
		case errors.As(err, &mismatch):
			return bad("is over another content")
		case errors.As(err, &untimely):
			return bad("was made when the signer's certificate was not valid")
		case t.Now.After(of.NotAfter), t.Now.Before(of.NotBefore):
			return bad("has a signer whose certificate is not valid now: from %s to %s", of.NotBefore.Format(time.DateOnly),
				of.NotAfter.Format(time.DateOnly))
		}
		if _, chain := of.Verify(x509.VerifyOptions{
			Roots: t.Roots, Intermediates: pool(p.Certificates), CurrentTime: t.Now, KeyUsages: []x509.ExtKeyUsage{x509.ExtKeyUsageAny},
		}); chain != nil {
			return bad("has a signer that no trusted authority vouches for: %s", Printable(of.Subject.String()))
		}
		return bad("is not good")
	}
	return of.Subject.String(), nil
}

func pool(all []*x509.Certificate) *x509.CertPool {
	p := x509.NewCertPool()
	for _, c := range all {
		p.AddCert(c)
	}
	return p
}

// certificates reads certificates in PEM or DER; none of no bytes.
func certificates(text []byte) ([]*x509.Certificate, error) {
	var der []byte
	for rest := text; ; {
		block, after := pem.Decode(rest)
		if block == nil {
			break
		}
		if block.Type == "CERTIFICATE" {
			der = append(der, block.Bytes...)
		}
		rest = after
	}
	if der == nil {
		der = text
	}
	return x509.ParseCertificates(der)
}

// sumOf hashes a content that need not fit into memory, in place of the one that the signature holds.
type sumOf struct {
	content func() (io.ReadCloser, error)
	err     error
}

// Hash implements [pkcs7.Hasher].
func (s *sumOf) Hash(hash crypto.Hash, _ io.Reader) ([]byte, error) {
	r, err := s.content()
	if err != nil {
		s.err = err
		return nil, err
	}
	defer r.Close()
	h := hash.New()
	if _, s.err = io.Copy(h, r); s.err != nil {
		return nil, s.err
	}
	return h.Sum(nil), nil
}
