package rest_test

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/pem"
	"math/big"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	v1 "github.com/vimbroker/vimbroker/broker/api/v1"
	"github.com/vimbroker/vimbroker/broker/secret"
)

// certificate makes a self-signed certificate with its key, both in PEM.
func certificate(t *testing.T, key crypto.Signer, from, until time.Time) (cert, private string) {
	t.Helper()
	template := &x509.Certificate{SerialNumber: big.NewInt(1), NotBefore: from, NotAfter: until, IsCA: true, BasicConstraintsValid: true}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	pkcs8, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	return string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})), string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: pkcs8}))
}

// What lies in front of us is looked at, instead of guessed from the VIM's answer.
func TestCertificatesThatCannotWorkAreRefusedByName(t *testing.T) {
	t.Setenv("GODEBUG", "rsa1024min=0")
	weak, err := rsa.GenerateKey(rand.Reader, 1024)
	if err != nil {
		t.Fatal(err)
	}
	strong, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	b := newBench(t)
	now := time.Now()
	year := 365 * 24 * time.Hour
	expired, expiredKey := certificate(t, strong, now.Add(-2*year), now.Add(-year))
	early, _ := certificate(t, strong, now.Add(year), now.Add(2*year))
	small, smallKey := certificate(t, weak, now.Add(-year), now.Add(year))
	for name, c := range map[string]struct {
		ca          string
		own         v1.Credential
		field, want string
	}{
		"expired CA":          {ca: expired, field: "caCert", want: "the CA certificate expired on " + now.Add(-year).UTC().Format(time.DateOnly)},
		"CA of the future":    {ca: early, field: "caCert", want: "is valid only from"},
		"weak CA":             {ca: small, field: "caCert", want: "RSA key of 1024 bits"},
		"expired certificate": {own: v1.Credential{ClientCertificate: expired, ClientKey: secret.NewText(expiredKey)}, field: "credential.clientCertificate", want: "the client certificate expired on"},
		"weak certificate":    {own: v1.Credential{ClientCertificate: small, ClientKey: secret.NewText(smallKey)}, field: "credential.clientCertificate", want: "RSA key of 1024 bits"},
	} {
		r := b.registration("core-1")
		if c.ca != "" {
			r.CACert = c.ca
		} else {
			r.Credential = c.own
		}
		_, err := b.as("alice").RegisterVIM(t.Context(), r, "")
		p := wantProblem(t, name, err, http.StatusUnprocessableEntity)
		if len(p.Errors) != 1 || p.Errors[0].Field != c.field || !strings.Contains(p.Errors[0].Message, c.want) {
			t.Errorf("%s: faults %+v, want %s: %s", name, p.Errors, c.field, c.want)
		}
	}

	// A bundle may hold old certificates beside the one that counts.
	r := b.registration("core-1")
	r.CACert = expired + r.CACert
	if _, err := b.as("alice").RegisterVIM(t.Context(), r, ""); err != nil {
		t.Errorf("RegisterVIM with an expired CA beside a valid one = %v", err)
	}
}

func TestServerNameCanBeGivenChangedAndCleared(t *testing.T) {
	b := newBench(t)
	alice := b.as("alice")
	r := b.registration("core-1")
	r.ServerName = "localhost"
	v, err := alice.RegisterVIM(t.Context(), r, "")
	if err != nil || v.ServerName != "localhost" {
		t.Fatalf("RegisterVIM(serverName) = %q, %v", v.ServerName, err)
	}
	_, err = alice.UpdateVIM(t.Context(), "core-1", v1.Change{ServerName: ptr("")}, 0)
	if p := wantProblem(t, "a change of serverName without the credential", err, http.StatusUnprocessableEntity); !strings.Contains(p.Detail+p.Errors[0].Message, "serverName") {
		t.Errorf("the refusal does not name serverName: %+v", p)
	}
	v, err = alice.UpdateVIM(t.Context(), "core-1", v1.Change{ServerName: ptr(""), Credential: r.Credential}, 0)
	if err != nil || v.ServerName != "" {
		t.Errorf("UpdateVIM(no serverName) = %q, %v", v.ServerName, err)
	}
	_, err = alice.UpdateVIM(t.Context(), "core-1", v1.Change{ServerName: ptr("10.0.0.1"), Credential: r.Credential}, 0)
	if p := wantProblem(t, "a serverName that is an address", err, http.StatusUnprocessableEntity); p.Errors[0].Field != "serverName" {
		t.Errorf("faults %+v", p.Errors)
	}
}

func TestUnverifiedKubeconfigNeedsTheRegistrationToSayIt(t *testing.T) {
	b := newBench(t)
	kubeconfig := func(extra string) secret.Text {
		return secret.NewText("apiVersion: v1\nkind: Config\ncurrent-context: a\ncontexts: [{name: a, context: {cluster: a, user: a}}]\n" +
			"clusters: [{name: a, cluster: {server: '" + b.kube.Endpoint + "'" + extra + "}}]\nusers: [{name: a, user: {token: " + b.kube.AdminToken + "}}]\n")
	}
	r := v1.Registration{Name: "core-1", Kubeconfig: kubeconfig(", insecure-skip-tls-verify: true")}
	_, err := b.as("alice").RegisterVIM(t.Context(), r, "")
	if p := wantProblem(t, "an unverified kubeconfig", err, http.StatusUnprocessableEntity); !strings.Contains(p.Errors[0].Message, "insecureSkipVerify") {
		t.Errorf("the refusal leads nowhere: %+v", p.Errors)
	}
	r.InsecureSkipVerify = true
	v, err := b.as("alice").RegisterVIM(t.Context(), r, "")
	if err != nil || !v.InsecureSkipVerify || !slices.Contains(v.Warnings, v1.WarnInsecure) {
		t.Errorf("RegisterVIM where both say it = %v, %v, %v", v.InsecureSkipVerify, v.Warnings, err)
	}
}

func TestNamesThatPathsReadAsDirectoriesAreRefused(t *testing.T) {
	b := newBench(t)
	for _, name := range []string{".", ".."} {
		_, err := b.as("alice").RegisterVIM(t.Context(), b.registration(name), "")
		if p := wantProblem(t, name, err, http.StatusUnprocessableEntity); len(p.Errors) != 1 || p.Errors[0].Field != "name" {
			t.Errorf("%q: %+v", name, p)
		}
	}
}
