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

// bare makes what a lease rests on, a service account and a token of it, with
// client-go alone: what someone would write who needs no broker.
type bare struct {
	core coreclient.CoreV1Interface
}

// bareNamespace holds the service accounts.
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
	return &bare{core: core}
}

// issue makes the two calls.
func (b *bare) issue(ctx context.Context) error {
	automount, id, ttl := false, uuid.NewString(), int64(time.Hour/time.Second)
	accounts := b.core.ServiceAccounts(bareNamespace)
	made, err := accounts.Create(ctx, &corev1.ServiceAccount{
		ObjectMeta: metav1.ObjectMeta{
			Name: "lease-" + id, Namespace: bareNamespace,
			Labels: map[string]string{"app.kubernetes.io/managed-by": "bare", "example.org/vim": id, "example.org/grant": bareNamespace, "example.org/lease": id},
		},
		AutomountServiceAccountToken: &automount,
	}, metav1.CreateOptions{})
	if err != nil {
		return fmt.Errorf("creating service account: %w", err)
	}
	_, err = accounts.CreateToken(ctx, made.Name, &authenticationv1.TokenRequest{
		Spec: authenticationv1.TokenRequestSpec{ExpirationSeconds: &ttl},
	}, metav1.CreateOptions{})
	if err != nil {
		return fmt.Errorf("requesting token: %w", err)
	}
	return nil
}
