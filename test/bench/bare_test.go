package bench

import (
	"context"
	"fmt"
	"testing"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	coreclient "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/rest"

	"github.com/google/uuid"
)

// bare makes what a lease rests on, a Secret and a token bound to it, with
// client-go alone: what someone would write who needs no broker.
type bare struct {
	core coreclient.CoreV1Interface
}

// bareNamespace holds the Secrets, and the service account of that name.
const bareNamespace = "bare"

// newBare connects with the credential that the stack's VIMs are registered with.
func newBare(b *testing.B, s *stack) *bare {
	b.Helper()
	core, err := coreclient.NewForConfig(&rest.Config{
		Host: s.cluster.Endpoint, BearerToken: s.token, QPS: -1, TLSClientConfig: rest.TLSClientConfig{CAData: []byte(s.cluster.CAPEM)},
	})
	if err != nil {
		b.Fatal(err)
	}
	meta := metav1.ObjectMeta{Name: bareNamespace}
	if _, err := core.Namespaces().Create(b.Context(), &corev1.Namespace{ObjectMeta: meta}, metav1.CreateOptions{}); err != nil && !apierrors.IsAlreadyExists(err) {
		b.Fatal(err)
	}
	_, err = core.ServiceAccounts(bareNamespace).Create(b.Context(), &corev1.ServiceAccount{ObjectMeta: meta}, metav1.CreateOptions{})
	if err != nil && !apierrors.IsAlreadyExists(err) {
		b.Fatal(err)
	}
	return &bare{core: core}
}

// issue makes the two calls.
func (b *bare) issue(ctx context.Context) error {
	immutable, id, ttl := true, uuid.NewString(), int64(time.Hour/time.Second)
	made, err := b.core.Secrets(bareNamespace).Create(ctx, &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{
			Name: "lease-" + id, Namespace: bareNamespace,
			Labels: map[string]string{"app.kubernetes.io/managed-by": "bare", "example.org/vim": id, "example.org/lease": id},
		},
		Type: corev1.SecretTypeOpaque, Immutable: &immutable,
	}, metav1.CreateOptions{})
	if err != nil {
		return fmt.Errorf("creating secret: %w", err)
	}
	_, err = b.core.ServiceAccounts(bareNamespace).CreateToken(ctx, bareNamespace, &authenticationv1.TokenRequest{
		Spec: authenticationv1.TokenRequestSpec{
			ExpirationSeconds: &ttl,
			BoundObjectRef:    &authenticationv1.BoundObjectReference{APIVersion: "v1", Kind: "Secret", Name: made.Name, UID: made.UID},
		},
	}, metav1.CreateOptions{})
	if err != nil {
		return fmt.Errorf("requesting token: %w", err)
	}
	return nil
}
