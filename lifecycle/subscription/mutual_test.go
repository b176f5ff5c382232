package subscription_test

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/vimbroker/vimbroker/drivers/callback"
	"github.com/vimbroker/vimbroker/lifecycle/subscription"
)

// authority signs client certificates.
type authority struct {
	t    *testing.T
	key  crypto.Signer
	cert *x509.Certificate
}

func newAuthority(t *testing.T) *authority {
	t.Helper()
	a := &authority{t: t}
	var der []byte
	a.key, der = a.sign(&x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "clients"}, NotAfter: time.Now().Add(time.Hour),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
	})
	cert, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	a.cert = cert
	return a
}

// sign makes a key and a certificate of it; the first one signs itself.
func (a *authority) sign(of *x509.Certificate) (crypto.Signer, []byte) {
	a.t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		a.t.Fatal(err)
	}
	by, parent := a.key, a.cert
	if parent == nil {
		by, parent = key, of
	}
	der, err := x509.CreateCertificate(rand.Reader, of, parent, key.Public(), by)
	if err != nil {
		a.t.Fatal(err)
	}
	return key, der
}

// client writes a client certificate and its key into the files.
func (a *authority) client(cert, key string) {
	a.t.Helper()
	private, der := a.sign(&x509.Certificate{
		SerialNumber: big.NewInt(2), Subject: pkix.Name{CommonName: "broker"}, NotAfter: time.Now().Add(time.Hour),
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth},
	})
	plain, err := x509.MarshalPKCS8PrivateKey(private)
	if err == nil {
		err = os.WriteFile(cert, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), 0o600)
	}
	if err == nil {
		err = os.WriteFile(key, pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: plain}), 0o600)
	}
	if err != nil {
		a.t.Fatal(err)
	}
}

// A subscriber that demands a certificate of its own authority is told only with such a one, and is told again as soon
// as the files hold it. That they cannot be read is no failure of the subscriber.
func TestASubscriberThatDemandsACertificate(t *testing.T) {
	ours, others := newAuthority(t), newAuthority(t)
	dir := t.TempDir()
	cert, key := filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	ours.client(cert, key)
	o := newOffice(t, func(o *subscription.Options) { o.Terms.Certificate = true }, reached(t, callback.Options{CertFile: cert, KeyFile: key}))
	var told atomic.Int32
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPost && r.TLS.VerifiedChains[0][0].Subject.CommonName == "broker" {
			told.Add(1)
		}
		w.WriteHeader(http.StatusNoContent)
	}))
	pool := x509.NewCertPool()
	pool.AddCert(ours.cert)
	s.TLS = &tls.Config{ClientAuth: tls.RequireAndVerifyClientCert, ClientCAs: pool, MinVersion: tls.VersionTLS12}
	s.Config.SetKeepAlivesEnabled(false) // each notification is a handshake
	s.StartTLS()
	t.Cleanup(s.Close)
	if _, _, err := o.Create(t.Context(), alice, subscription.NewSubscription{Callback: s.URL}); err == nil {
		t.Error("without a certificate the test passed")
	}
	one, _, err := o.Create(t.Context(), alice, subscription.NewSubscription{Callback: s.URL + "/tls", Auth: []string{subscription.TLS}})
	if err != nil {
		t.Fatal(err)
	}
	for n, c := range []struct {
		what     string
		change   func()
		says     string
		told     int32
		failures int64
	}{
		{"its own authority's", func() {}, "", 1, 0},
		{"another authority's", func() { others.client(cert, key) }, "subscriber", 1, 1},
		{"one without a key", func() { _ = os.Remove(key) }, "cannot be read", 1, 1},
		{"its own authority's again", func() { ours.client(cert, key) }, "", 3, 0},
	} {
		c.change()
		if n != 2 {
			o.happens()
		}
		err := o.work(one.ID)
		if c.says == "" && err != nil || c.says != "" && (err == nil || !strings.Contains(err.Error(), c.says)) {
			t.Errorf("with %s: Work = %v, want %q", c.what, err, c.says)
		}
		shown, err := o.Subscription(t.Context(), alice, one.ID)
		if err != nil || told.Load() != c.told || shown.Failures != c.failures {
			t.Errorf("with %s: told %d, %d failures, %v; want %d and %d", c.what, told.Load(), shown.Failures, err, c.told, c.failures)
		}
	}
}

// A token endpoint that does not answer is waited for no longer than a subscriber, and has failed.
func TestATokenEndpointThatHangsIsBounded(t *testing.T) {
	o, s := newOffice(t, func(o *subscription.Options) { o.Terms.SendTime = time.Second }), newSubscriber(t, nil)
	let := make(chan struct{})
	var hangs atomic.Bool
	login := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		if hangs.Load() {
			<-let
		}
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write([]byte(`{"access_token":"t","token_type":"Bearer","expires_in":5}`))
	}))
	t.Cleanup(func() { close(let); login.Close() })
	one := o.subscribe(s, byToken(login.URL))
	hangs.Store(true)
	o.happens()
	began := time.Now()
	err := o.work(one.ID)
	if err == nil || !strings.Contains(err.Error(), "token endpoint") || strings.Contains(err.Error(), canary) || time.Since(began) > time.Minute {
		t.Errorf("Work = %v after %v", err, time.Since(began))
	}
	if shown, err := o.Subscription(t.Context(), alice, one.ID); err != nil || shown.Failures != 1 || len(s.told()) != 0 {
		t.Errorf("%d failures, told %d, %v", shown.Failures, len(s.told()), err)
	}
	hangs.Store(false)
	// On a loaded machine one attempt may be too short.
	for tries := 0; len(s.told()) == 0; tries++ {
		if err := o.work(one.ID); err != nil && tries == 100 {
			t.Fatal(err)
		}
	}
}
