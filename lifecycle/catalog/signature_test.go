package catalog_test

import (
	"archive/zip"
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"errors"
	"math/big"
	"strings"
	"testing"
	"time"

	"github.com/smallstep/pkcs7"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/lifecycle/catalog"
	"github.com/vimbroker/vimbroker/policy"
	"github.com/vimbroker/vimbroker/policy/audit"
)

// TestPolicyDemandsASigner: policies see who signed a package, when it comes and when it is used.
func TestPolicyDemandsASigner(t *testing.T) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "release", Organization: []string{"acme"}}, IsCA: true,
		BasicConstraintsValid: true, NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Date(2040, 1, 1, 0, 0, 0, 0, time.UTC),
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	cert, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	roots := x509.NewCertPool()
	roots.AddCert(cert)
	wrap := func(csar, over []byte) []byte {
		d, err := pkcs7.NewSignedData(over)
		if err != nil {
			t.Fatal(err)
		}
		d.SetDigestAlgorithm(pkcs7.OIDDigestAlgorithmSHA256)
		if err := d.AddSigner(cert, key, pkcs7.SignerInfoConfig{}); err != nil {
			t.Fatal(err)
		}
		d.Detach()
		signature, err := d.Finish()
		if err != nil {
			t.Fatal(err)
		}
		var b bytes.Buffer
		w := zip.NewWriter(&b)
		for name, text := range map[string][]byte{"web.csar": csar, "web.cms": signature} {
			e, err := w.CreateHeader(&zip.FileHeader{Name: name, Method: zip.Store})
			if err != nil {
				t.Fatal(err)
			}
			if _, err := e.Write(text); err != nil {
				t.Fatal(err)
			}
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		return b.Bytes()
	}
	csar := packed(t, "vnfd-1")
	for name, c := range map[string]struct {
		content []byte
		roots   *x509.CertPool
		want    error
	}{
		"signed":                {wrap(csar, csar), roots, nil},
		"not signed":            {csar, roots, broker.ErrDenied},
		"nobody is trusted":     {wrap(csar, csar), nil, broker.ErrDenied},
		"the authority of none": {wrap(csar, csar), x509.NewCertPool(), broker.ErrInvalid},
		"another content":       {wrap(csar, []byte("another")), roots, broker.ErrInvalid},
	} {
		t.Run(name, func(t *testing.T) {
			var guard *audit.Guard
			s := set(t, func(o *catalog.Options) {
				guard = o.Guard
				policies, err := policy.Load(map[string][]byte{"site.cedar": []byte(
					`@id("signed") forbid (principal, action in [Action::"package:upload", Action::"package:use"], resource is Package)
					when { resource.provider != "" } unless { resource.signed && resource.signer like "*O=acme*" };`)})
				if err != nil {
					t.Fatal(err)
				}
				o.Guard.Policy, o.Terms.Roots = policies, c.roots
			})
			p, err := s.Upload(t.Context(), alice, s.create(t, alice), bytes.NewReader(c.content))
			if c.want != nil {
				if !errors.Is(err, c.want) || errors.Is(err, broker.ErrInvalid) && !strings.Contains(err.Error(), "web.cms in the package has a signature") {
					t.Errorf("Upload = %v, want %v", err, c.want)
				}
				return
			}
			if err != nil || p.Signer != "CN=release,O=acme" || !p.Wrapped {
				t.Fatalf("Upload = signer %q, wrapped %t, %v", p.Signer, p.Wrapped, err)
			}
			used, err := s.Use(t.Context(), alice, p.VNFDID)
			if err != nil {
				t.Fatal(err)
			}
			if files, err := used.Files(used.Paths()); err != nil || len(files) == 0 {
				t.Errorf("Files of a wrapped package = %d files, %v", len(files), err)
			}

			// A signer who is trusted no more: what they signed before is used no more either.
			guard.Policy, err = policy.Load(map[string][]byte{"site.cedar": []byte(
				`@id("revoked") forbid (principal, action in [Action::"package:upload", Action::"package:use"], resource is Package)
				when { resource.signed && resource.signer == "CN=release,O=acme" };`)})
			if err != nil {
				t.Fatal(err)
			}
			if _, err := s.Use(t.Context(), alice, p.VNFDID); !errors.Is(err, broker.ErrDenied) {
				t.Errorf("Use of what a revoked signer has signed = %v", err)
			}
		})
	}
}
