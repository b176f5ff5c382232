package real_test

import (
	"crypto/ecdsa"
	"crypto/rand"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"os"
	"path/filepath"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	coreclient "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/rest"

	"github.com/vimbroker/vimbroker/test/real"
)

// TestKubernetesHonoursATokenAMinutePastItsExpiry is a fact that the published
// times rest on, and that the fake API server imitates: the token is signed here,
// with the cluster's own key, as it would be after its expiry.
func TestKubernetesHonoursATokenAMinutePastItsExpiry(t *testing.T) {
	t.Parallel()
	c := real.Kubernetes(t)
	core, err := coreclient.NewForConfig(c.Config())
	if err != nil {
		t.Fatal(err)
	}
	account, err := core.ServiceAccounts("default").Get(t.Context(), "default", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	sign := signer(t, filepath.Join(c.Dir, "sa.key"))
	try := func(expired time.Duration) error {
		at := time.Now().Add(-expired)
		const issuer = "https://kubernetes.default.svc.cluster.local"
		token := sign(map[string]any{
			"iss": issuer, "aud": []string{issuer}, "sub": "system:serviceaccount:default:default",
			"iat": at.Add(-time.Hour).Unix(), "nbf": at.Add(-time.Hour).Unix(), "exp": at.Unix(),
			"kubernetes.io": map[string]any{"namespace": "default", "serviceaccount": map[string]any{"name": "default", "uid": account.UID}},
		})
		_, err := whoami(t.Context(), &rest.Config{
			Host: c.Endpoint, BearerToken: token, TLSClientConfig: rest.TLSClientConfig{CAData: []byte(c.CAPEM)},
		})
		return err
	}
	if err := try(-time.Hour); err != nil {
		t.Fatalf("a token that expires in an hour: %v", err)
	}
	if err := try(40 * time.Second); err != nil {
		t.Errorf("a token that expired 40 s ago: %v, want it honoured still", err)
	}
	if err := try(65 * time.Second); !apierrors.IsUnauthorized(err) {
		t.Errorf("a token that expired 65 s ago: %v, want unauthorized", err)
	}
}

// signer signs JWTs with the key in a PEM file (ES256, RFC 7518 section 3.4).
func signer(t *testing.T, path string) func(claims map[string]any) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	block, _ := pem.Decode(text)
	key, err := x509.ParseECPrivateKey(block.Bytes)
	if err != nil {
		t.Fatal(err)
	}
	return func(claims map[string]any) string {
		body, err := json.Marshal(claims)
		if err != nil {
			t.Fatal(err)
		}
		enc := base64.RawURLEncoding
		text := enc.EncodeToString([]byte(`{"alg":"ES256"}`)) + "." + enc.EncodeToString(body)
		digest := sha256.Sum256([]byte(text))
		r, s, err := ecdsa.Sign(rand.Reader, key, digest[:])
		if err != nil {
			t.Fatal(err)
		}
		signature := make([]byte, 64)
		r.FillBytes(signature[:32])
		s.FillBytes(signature[32:])
		return text + "." + enc.EncodeToString(signature)
	}
}
