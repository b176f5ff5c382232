package vnfpkg_test

import (
	"bytes"
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/asn1"
	"encoding/pem"
	"math/big"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/smallstep/pkcs7"

	"github.com/vimbroker/vimbroker/lifecycle/vnfpkg"
)

// now is when certificates of the tests are valid, for two days.
var now = time.Now().UTC().Truncate(time.Second)

// signer has a certificate and its key; an authority's signs others.
type signer struct {
	cert *x509.Certificate
	key  crypto.Signer
}

var serial = big.NewInt(1)

// newSigner makes one below an authority; nil makes an authority.
func newSigner(t testing.TB, above *signer, key crypto.Signer, notAfter time.Time) *signer {
	t.Helper()
	serial = new(big.Int).Add(serial, big.NewInt(1))
	template := &x509.Certificate{
		SerialNumber: serial, Subject: pkix.Name{CommonName: "release", Organization: []string{"acme"}},
		NotBefore: now.Add(-48 * time.Hour), NotAfter: notAfter, KeyUsage: x509.KeyUsageDigitalSignature,
	}
	if above == nil {
		above = &signer{cert: template, key: key}
		template.IsCA, template.BasicConstraintsValid, template.KeyUsage = true, true, x509.KeyUsageCertSign
		template.Subject.CommonName = "authority"
	}
	return certified(t, template, key, above)
}

// newAuthority makes one below another.
func newAuthority(t testing.TB, above *signer) *signer {
	t.Helper()
	key := ecKey(t)
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1 << 40), Subject: pkix.Name{CommonName: "authority below"}, NotBefore: now.Add(-48 * time.Hour), NotAfter: now.Add(48 * time.Hour),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
	}
	return certified(t, template, key, above)
}

// certified is whoever has a key, with a certificate that another signs.
func certified(t testing.TB, template *x509.Certificate, key crypto.Signer, above *signer) *signer {
	t.Helper()
	der, err := x509.CreateCertificate(rand.Reader, template, above.cert, key.Public(), above.key)
	if err != nil {
		t.Fatal(err)
	}
	cert, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	return &signer{cert, key}
}

func ecKey(t testing.TB) crypto.Signer {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return key
}

func rsaKey(bits int) func() crypto.Signer {
	return sync.OnceValue(func() crypto.Signer {
		key, err := rsa.GenerateKey(rand.Reader, bits)
		if err != nil {
			panic(err)
		}
		return key
	})
}

var longKey, shortKey = rsaKey(2048), rsaKey(1024)

// how says what is unusual about a signature.
type how struct {
	digest, named                asn1.ObjectIdentifier // of the digest and of the whole algorithm
	attached, bare, twice, plain bool
	spoiled                      bool // the last of it is another
}

// sign makes a CMS signature over a content, in PEM.
func (s *signer) sign(t testing.TB, content string, h how) string {
	t.Helper()
	d, err := pkcs7.NewSignedData([]byte(content))
	if err != nil {
		t.Fatal(err)
	}
	d.SetDigestAlgorithm(pkcs7.OIDDigestAlgorithmSHA256)
	if h.digest != nil {
		d.SetDigestAlgorithm(h.digest)
	}
	add := func() error { return d.AddSigner(s.cert, s.key, pkcs7.SignerInfoConfig{}) }
	if h.plain {
		add = func() error { return d.SignWithoutAttr(s.cert, s.key, pkcs7.SignerInfoConfig{}) }
	}
	if err := add(); err != nil {
		t.Fatal(err)
	}
	if h.named != nil {
		d.GetSignedData().SignerInfos[0].DigestEncryptionAlgorithm.Algorithm = h.named
	}
	if h.spoiled {
		of := d.GetSignedData().SignerInfos[0].EncryptedDigest
		of[len(of)-1]++
	}
	if h.twice {
		if err := add(); err != nil {
			t.Fatal(err)
		}
	}
	if !h.attached {
		d.Detach()
	}
	der, err := d.Finish()
	if err != nil {
		t.Fatal(err)
	}
	if h.bare {
		der = withoutCertificates(t, der)
	}
	return string(pem.EncodeToMemory(&pem.Block{Type: "CMS", Bytes: der}))
}

// withoutCertificates takes the field certificates [0] out of a SignedData (RFC 5652 clause 5.1).
func withoutCertificates(t testing.TB, der []byte) []byte {
	t.Helper()
	var outer struct {
		Type    asn1.ObjectIdentifier
		Content asn1.RawValue
	}
	var parts []asn1.RawValue
	for _, c := range []struct {
		from func() []byte
		to   any
	}{{func() []byte { return der }, &outer}, {func() []byte { return outer.Content.Bytes }, &parts}} {
		if _, err := asn1.Unmarshal(c.from(), c.to); err != nil {
			t.Fatal(err)
		}
	}
	parts = slices.DeleteFunc(parts, func(p asn1.RawValue) bool { return p.Class == asn1.ClassContextSpecific && p.Tag == 0 })
	inner, err := asn1.Marshal(parts)
	if err != nil {
		t.Fatal(err)
	}
	outer.Content = asn1.RawValue{Class: asn1.ClassContextSpecific, Tag: 0, IsCompound: true, Bytes: inner}
	if der, err = asn1.Marshal(outer); err != nil {
		t.Fatal(err)
	}
	return der
}

func (s *signer) pem() string {
	return string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.cert.Raw}))
}

// hashed is a manifest that names files with their hashes.
func hashed(files ...file) string {
	text := "metadata:\n  vnf_product_name: web\n"
	for _, f := range files {
		text += "\nSource: " + f.name + "\nAlgorithm: SHA-256\nHash: " + sum(f.text) + "\n"
	}
	return text
}

// scene is an authority with a signer below it, and the files of a package.
type scene struct {
	root, good *signer
	files      []file
}

func newScene(t testing.TB) scene {
	root := newSigner(t, nil, ecKey(t), now.Add(48*time.Hour))
	return scene{
		root: root, good: newSigner(t, root, ecKey(t), now.Add(48*time.Hour)),
		files: []file{{name: "web.yaml", text: top}, {name: deployment, text: manifest}},
	}
}

// option1 is the package with a signed manifest.
func (s scene) option1(t testing.TB, manifest, signature string, more ...file) []byte {
	files := append([]file{{name: "web.mf", text: manifest + signature}}, s.files...)
	return archive(t, append(files, more...)...)
}

// option2 is the package with its signature in one archive.
func (s scene) option2(t testing.TB, signature func(csar string) string, more ...file) []byte {
	csar := string(archive(t, s.files...))
	return archive(t, append([]file{{name: "web.csar", text: csar}, {name: "web.cms", text: signature(csar)}}, more...)...)
}

// verify opens a package and checks its signature.
func (s scene) verify(b []byte, at time.Time) (string, error) {
	c, err := vnfpkg.Open(bytes.NewReader(b), int64(len(b)), vnfpkg.ArchiveLimits{})
	if err != nil {
		return "", err
	}
	return c.Verify(vnfpkg.Signers{Roots: pool(s.root), Now: at})
}

// pool holds the certificate of one authority.
func pool(root *signer) *x509.CertPool {
	p := x509.NewCertPool()
	p.AddCert(root.cert)
	return p
}

// singly has a manifest name the signature of its last file, and a certificate.
func singly(manifest, certificate string) string {
	manifest += "Signature: one.cms\n"
	if certificate != "" {
		manifest += "Certificate: " + certificate + "\n"
	}
	return manifest
}

// own is the signature that [singly] names.
func own(text string) file { return file{name: "one.cms", text: text} }

func TestVerify(t *testing.T) {
	s := newScene(t)
	text := hashed(s.files...)
	over := func(h how) func(string) string { return func(csar string) string { return s.good.sign(t, csar, h) } }
	der := func(csar string) string {
		block, _ := pem.Decode([]byte(s.good.sign(t, csar, how{})))
		return string(block.Bytes)
	}
	byRSA := newSigner(t, s.root, longKey(), now.Add(48*time.Hour))
	csar := string(archive(t, s.files...))
	named := file{name: vnfpkg.MetaFile, text: "Entry-Definitions: web.yaml\nEntry-Manifest: web.mf\nEntry-Certificate: other.cert\n"}
	byName := hashed(append(s.files, named, file{name: "web.cert", text: "junk"})...)
	const acme = "CN=release,O=acme"
	for name, c := range map[string]struct {
		archive []byte
		want    string
	}{
		"no signature":                    {s.option1(t, text, ""), ""},
		"a signed manifest":               {s.option1(t, text, s.good.sign(t, text, how{})), acme},
		"a signed manifest, by RSA":       {s.option1(t, text, byRSA.sign(t, text, how{digest: pkcs7.OIDDigestAlgorithmSHA512})), acme},
		"its certificate in a file":       {s.option1(t, text, s.good.sign(t, text, how{bare: true}), file{name: "web.cert", text: s.good.pem()}), acme},
		"a wrapped CSAR":                  {s.option2(t, over(how{})), acme},
		"a wrapped CSAR, in DER":          {s.option2(t, der), acme},
		"its certificate beside the CSAR": {s.option2(t, over(how{bare: true}), file{name: "web.cert", text: s.good.pem()}), acme},
		"a CSAR that is called a ZIP": {
			stored(t, file{name: "web.zip", text: csar}, file{name: "web.cms", text: s.good.sign(t, csar, how{})}), acme,
		},
		"its certificate by its name": {
			archive(t, append([]file{
				named,
				{name: "web.mf", text: byName + s.good.sign(t, byName, how{bare: true})},
				{name: "web.cert", text: "junk"},
				{name: "other.cert", text: s.good.pem()},
			}, s.files...)...), acme,
		},
		"a signature that is one artifact": {s.option1(t, text, "", file{name: "Files/web.cms", text: "x"}), ""},
		"one file signed":                  {s.option1(t, singly(text, ""), "", own(s.good.sign(t, manifest, how{}))), ""},
		"one file signed, and the manifest": {
			s.option1(t, singly(text, ""), s.good.sign(t, singly(text, ""), how{}), own(s.good.sign(t, manifest, how{}))), acme,
		},
		"one file signed, its certificate in a file": {
			s.option1(t, singly(text, "one.cert"), "", own(s.good.sign(t, manifest, how{bare: true})), file{name: "one.cert", text: s.good.pem()}), "",
		},
	} {
		t.Run(name, func(t *testing.T) {
			if got, err := s.verify(c.archive, now); err != nil || got != c.want {
				t.Errorf("Verify = %q, %v, want %q", got, err, c.want)
			}
			if opened, err := open(c.archive, vnfpkg.ArchiveLimits{}); err != nil || opened.Wrapped() != strings.Contains(name, "CSAR") {
				t.Errorf("Wrapped = %t, %v", opened.Wrapped(), err)
			}
		})
	}
}

func TestVerifyRefuses(t *testing.T) {
	s := newScene(t)
	text := hashed(s.files...)
	stranger := newSigner(t, newSigner(t, nil, ecKey(t), now.Add(48*time.Hour)), ecKey(t), now.Add(48*time.Hour))
	late := newSigner(t, s.root, ecKey(t), now.Add(24*time.Hour))
	byRSA := newSigner(t, s.root, longKey(), now.Add(48*time.Hour))
	short := newSigner(t, s.root, shortKey(), now.Add(48*time.Hour))
	middle := newAuthority(t, s.root)
	below := newSigner(t, middle, ecKey(t), now.Add(48*time.Hour))
	of := func(h how) string { return s.good.sign(t, text, h) }
	wrapped := func(signature string) []byte { return s.option2(t, func(string) string { return signature }) }
	for name, c := range map[string]struct {
		archive []byte
		at      time.Time
		want    string
	}{
		"another manifest":                      {s.option1(t, text+"\nx: y\n", of(how{})), now, "over another content"},
		"a file that was changed":               {s.option1(t, hashed(file{"web.yaml", top, 0}, file{deployment, "other", 0}), of(how{})), now, "does not have the hash"},
		"a file that is not in it":              {s.option1(t, text, of(how{}), file{name: "Files/more.yaml"}), now, "has no entry with a hash"},
		"a file without a hash in it":           {s.option1(t, text+"\nSource: Files/more.yaml\n", s.good.sign(t, text+"\nSource: Files/more.yaml\n", how{}), file{name: "Files/more.yaml"}), now, "has no entry with a hash"},
		"a certificate that has ended":          {s.option1(t, text, late.sign(t, text, how{})), now.Add(36 * time.Hour), "not valid now"},
		"a certificate that is not valid":       {s.option1(t, text, late.sign(t, text, how{})), now.Add(-72 * time.Hour), "not valid now"},
		"a stranger":                            {s.option1(t, text, stranger.sign(t, text, how{})), now, "no trusted authority"},
		"a stranger who brings its root":        {s.option1(t, text, stranger.sign(t, text, how{bare: true}), file{name: "web.cert", text: stranger.pem()}), now, "no trusted authority"},
		"SHA-1":                                 {s.option1(t, text, of(how{digest: pkcs7.OIDDigestAlgorithmSHA1})), now, "algorithm that is not taken"},
		"SHA-1 by RSA":                          {s.option1(t, text, byRSA.sign(t, text, how{digest: pkcs7.OIDDigestAlgorithmSHA1})), now, "algorithm that is not taken"},
		"SHA-256 that says SHA-1":               {s.option1(t, text, of(how{named: pkcs7.OIDDigestAlgorithmECDSASHA1})), now, "algorithm that is not taken"},
		"a short key":                           {s.option1(t, text, short.sign(t, text, how{})), now, "1024 bits"},
		"no certificate":                        {s.option1(t, text, of(how{bare: true})), now, "without its signer's certificate"},
		"a certificate that is none":            {s.option1(t, text, of(how{bare: true}), file{name: "web.cert", text: "none"}), now, "cannot be read"},
		"two signers":                           {s.option1(t, text, of(how{twice: true})), now, "2 signers"},
		"a content of one byte":                 {s.option1(t, text, s.good.sign(t, "x", how{attached: true})), now, "content of its own"},
		"SHA-1 that says SHA-256":               {s.option1(t, text, of(how{digest: pkcs7.OIDDigestAlgorithmSHA1, named: pkcs7.OIDDigestAlgorithmECDSASHA256})), now, "algorithm that is not taken"},
		"what was not signed":                   {s.option1(t, text, of(how{spoiled: true})), now, "is not good"},
		"what one below did not sign":           {s.option1(t, text, below.sign(t, text, how{spoiled: true}), file{name: "web.cert", text: middle.pem()}), now, "is not good"},
		"a third kind beside a CSAR":            {s.option2(t, func(csar string) string { return s.good.sign(t, csar, how{}) }, file{name: "a.txt"}), now, "neither"},
		"a content of its own":                  {s.option1(t, text, of(how{attached: true})), now, "content of its own"},
		"no signed attributes":                  {s.option1(t, text, of(how{plain: true})), now, "no signed attributes"},
		"no CMS":                                {s.option1(t, text, "-----BEGIN CMS-----\nAAAA\n-----END CMS-----\n"), now, "signature that"},
		"a long one":                            {s.option1(t, text, "-----BEGIN CMS-----\n"+strings.Repeat("A", 300<<10)), now, "longer than"},
		"another CSAR":                          {wrapped(s.good.sign(t, "another", how{})), now, "over another content"},
		"a CSAR signed by a stranger":           {s.option2(t, func(csar string) string { return stranger.sign(t, csar, how{}) }), now, "no trusted authority"},
		"an empty signature":                    {wrapped(""), now, "no CMS"},
		"the longest signature":                 {wrapped(strings.Repeat("A", 256<<10)), now, "no CMS"},
		"a signature that is longer":            {wrapped(strings.Repeat("A", 256<<10+1)), now, "unpacks to more than 262144 bytes"},
		"two CSARs with one signature":          {archive(t, file{name: "a.csar"}, file{name: "a.zip"}, file{name: "a.cms"}), now, "neither"},
		"a CSAR without its signature":          {archive(t, file{name: "a.csar"}, file{name: "a.cert"}), now, "neither"},
		"a signature without its CSAR":          {archive(t, file{name: "a.cms"}, file{name: "a.cert"}), now, "neither"},
		"a CSAR with its signature in a folder": {archive(t, file{name: "a.csar"}, file{name: "b/a.cms"}), now, "neither"},
		"a manifest of nothing":                 {s.option1(t, "\n", s.good.sign(t, "\n", how{})), now, "has no entry with a hash"},
		"a wrapped file that is no CSAR":        {archive(t, file{name: "a.csar", text: "x"}, file{name: "a.cms"}), now, "not a ZIP"},
		"one file signed over another content":  {s.option1(t, singly(text, ""), "", own(s.good.sign(t, top, how{}))), now, "over another content"},
		"one file signed by a stranger":         {s.option1(t, singly(text, ""), "", own(stranger.sign(t, manifest, how{}))), now, "no trusted authority"},
		"one file's signature that is missing":  {s.option1(t, singly(text, ""), ""), now, "is not there"},
		"one file's certificate that is missing": {
			s.option1(t, singly(text, "one.cert"), "", own(s.good.sign(t, manifest, how{bare: true}))), now, "is not there",
		},
		"one file signed badly, in a manifest that is signed well": {
			s.option1(t, singly(text, ""), s.good.sign(t, singly(text, ""), how{}), own("none")), now, "no CMS",
		},
		"a CSAR wrapped twice": {archive(t, file{name: "a.csar", text: string(s.option2(t, func(csar string) string { return s.good.sign(t, csar, how{}) }))},
			file{name: "a.cms"}), now, "neither"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := s.verify(c.archive, c.at)
			wantFault(t, err, c.want)
		})
	}
}

func FuzzVerify(f *testing.F) {
	s := newScene(f)
	text := hashed(s.files...)
	block, _ := pem.Decode([]byte(s.good.sign(f, text, how{})))
	f.Add(block.Bytes)
	f.Add([]byte(s.good.sign(f, text, how{twice: true})))
	f.Add([]byte{0x30, 0x80, 0x30, 0x80})
	f.Fuzz(func(t *testing.T, b []byte) {
		if signer, err := s.verify(s.option2(t, func(string) string { return string(b) }), now); err == nil {
			t.Errorf("Verify took a signature over another content by %q", signer)
		}
	})
}
