package rest

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"math/big"
	"slices"
	"testing"
	"time"

	"github.com/vimbroker/vimbroker/broker"
	v1 "github.com/vimbroker/vimbroker/broker/api/v1"
)

// A token that the broker renews itself is warned of only once that is late.
func TestATokenThatIsRenewedIsNotWarnedOf(t *testing.T) {
	now := time.Unix(1_700_000_000, 0)
	var v broker.VIM
	v.Current.CredentialExpiresAt = now.Add(24 * time.Hour)
	if w := warnings(v, now); !slices.Contains(w, v1.WarnExpiring) {
		t.Errorf("a token that ends tomorrow: %q", w)
	}
	for _, c := range []struct {
		renew, ends time.Duration
		want        []string
	}{
		{12 * time.Hour, 24 * time.Hour, nil},
		{-5 * time.Hour, 7 * time.Hour, nil},
		{-7 * time.Hour, 5 * time.Hour, []string{v1.WarnExpiring}},
		{-12 * time.Hour, 0, []string{v1.WarnExpired}},
	} {
		v.Current.Discovered.Cluster = &broker.Cluster{RenewAt: now.Add(c.renew)}
		v.Current.CredentialExpiresAt = now.Add(c.ends)
		if w := warnings(v, now); !slices.Equal(w, c.want) {
			t.Errorf("to be renewed in %s, ends in %s: %q, want %q", c.renew, c.ends, w, c.want)
		}
	}
}

// An authority is warned of a while before it ends, and told as ended from its last second on.
func TestAnAuthorityThatEndsIsWarnedOf(t *testing.T) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	end := time.Unix(1_700_000_000, 0)
	made := &x509.Certificate{SerialNumber: big.NewInt(1), NotBefore: end.Add(-time.Hour), NotAfter: end}
	der, err := x509.CreateCertificate(rand.Reader, made, made, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	var v broker.VIM
	v.Current.Target.CACert = string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}))
	for left, want := range map[time.Duration][]string{
		soon: nil, soon - time.Second: {v1.WarnCAExpiring}, time.Second: {v1.WarnCAExpiring}, 0: {v1.WarnCAExpired}, -time.Second: {v1.WarnCAExpired},
	} {
		if w := warnings(v, end.Add(-left)); !slices.Equal(w, want) {
			t.Errorf("%s before its end: %q, want %q", left, w, want)
		}
	}
}
