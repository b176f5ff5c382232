package broker

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/pem"
	"log/slog"
	"math/big"
	"strings"
	"testing"
	"time"

	"github.com/vimbroker/vimbroker/broker/secret"
	"github.com/vimbroker/vimbroker/test/testlog"
)

// certificate is one in PEM that is valid from a time on for an hour.
func certificate(t *testing.T, from time.Time) string {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), NotBefore: from, NotAfter: from.Add(time.Hour)}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	return string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}))
}

// normal is a driver that finds a CA and a client certificate in every registration.
type normal struct {
	judge
	ca, own string
}

func (n normal) Normalize(Registration) (Target, Credential, error) {
	return Target{CACert: n.ca}, Credential{ClientCertificate: n.own}, nil
}

// A certificate that cannot work is refused under the name of what brought it.
func TestCertificatesThatCannotWork(t *testing.T) {
	now := time.Now().Truncate(time.Second)
	r := &Registry{core: &core{now: func() time.Time { return now }}}
	rsaOf := func(bits uint) *x509.Certificate {
		n := new(big.Int).Lsh(big.NewInt(1), bits-1)
		return &x509.Certificate{NotBefore: now, NotAfter: now, PublicKey: &rsa.PublicKey{N: n, E: 3}}
	}
	good, old, early := certificate(t, now), certificate(t, now.Add(-2*time.Hour)), certificate(t, now.Add(time.Hour))
	file := secret.NewText("file")
	normalize := func(given Registration, ca, own string) error {
		_, _, err := r.normalize(normal{ca: ca, own: own}, given)
		return err
	}
	check(t, []said{
		{"one that is valid now alone", r.usable("f", "it", rsaOf(2048)), ""},
		{"a weak key", r.usable("f", "it", rsaOf(2047)), "f: it has an RSA key of 2047 bits; give one with at least 2048"},
		{"another key, however short", r.usable("f", "it", &x509.Certificate{NotBefore: now, NotAfter: now}), ""},
		{"expired", r.usable("f", "it", &x509.Certificate{NotAfter: now.Add(-1)}), "f: it expired on "},
		{"not yet valid", r.usable("f", "it", &x509.Certificate{NotBefore: now.Add(1), NotAfter: now.Add(1)}), "f: it is valid only from "},
		{"a bundle with one that is usable", r.usableCA("f", old+good), ""},
		{"a bundle without any", r.usableCA("f", old+early), "f: the CA certificate expired on "},
		{"the same in another order", r.usableCA("f", early+old), "f: the CA certificate is valid only from "},
		{"no bundle", r.usableCA("f", ""), ""},
		{"all well", normalize(Registration{}, good, good), ""},
		{"the CA of a registration", normalize(Registration{}, old, good), "caCert: "},
		{"the CA of a kubeconfig", normalize(Registration{Kubeconfig: file}, old, good), "kubeconfig: "},
		{"the CA of a clouds.yaml", normalize(Registration{CloudsYAML: file}, old, good), "cloudsYaml: "},
		{"a CA beside a clouds.yaml", normalize(Registration{CloudsYAML: file, CACert: old}, old, good), "caCert: "},
		{"the certificate of a credential", normalize(Registration{}, good, old), "credential.clientCertificate: the client certificate expired"},
		{"the certificate of a kubeconfig", normalize(Registration{Kubeconfig: file}, good, old), "kubeconfig: the client certificate expired"},
	})
	for _, c := range []struct {
		bundle string
		want   time.Time
	}{{"", time.Time{}}, {old + good, now.Add(time.Hour)}, {good + old, now.Add(time.Hour)}} {
		if got := (Target{CACert: c.bundle}).CAExpiresAt(); !got.Equal(c.want) {
			t.Errorf("the last CA expires at %s, want %s", got, c.want)
		}
	}
}

func TestWhoIsNotVerifiedIsLogged(t *testing.T) {
	for unverified, want := range map[bool]bool{true: true, false: false} {
		var log bytes.Buffer
		r := &Registry{core: &core{log: testlog.To(t, slog.NewTextHandler(&log, nil))}}
		r.warnUnverified(t.Context(), VIM{ID: "v", Current: Generation{Target: Target{InsecureSkipVerify: unverified}}})
		if strings.Contains(log.String(), "vim=v") != want {
			t.Errorf("unverified: %v; the log says %q", unverified, &log)
		}
	}
}
