package real_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/uuid"
	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	coreclient "k8s.io/client-go/kubernetes/typed/core/v1"
	rbacclient "k8s.io/client-go/kubernetes/typed/rbac/v1"

	"github.com/vimbroker/vimbroker/broker/api/client"
	"github.com/vimbroker/vimbroker/test/real"
)

// pod is where a server would run on a cluster: a namespace, and a directory with a
// service account's token in it, as the kubelet projects one.
type pod struct {
	t         *testing.T
	core      *coreclient.CoreV1Client
	namespace string
	dir       string
}

func newPod(t *testing.T, c *real.Cluster) *pod {
	t.Helper()
	core, err := coreclient.NewForConfig(c.Config())
	if err != nil {
		t.Fatal(err)
	}
	p := &pod{t: t, core: core, namespace: "broker-" + uuid.NewString()[:8], dir: t.TempDir()}
	if _, err := core.Namespaces().Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: p.namespace}}, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	return p
}

// tokenFile is the path that a server is told.
func (p *pod) tokenFile() string { return filepath.Join(p.dir, "token") }

// project puts a new token of a service account, for Vault, in the place of the one
// before. The kubelet does so when four fifths of a token's life are over: the file is
// a link into a directory that is itself exchanged (atomic writer).
func (p *pod) project(account string) {
	p.t.Helper()
	accounts, seconds := p.core.ServiceAccounts(p.namespace), int64(600)
	_, err := accounts.Create(p.t.Context(), &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: account}}, metav1.CreateOptions{})
	if err != nil && !apierrors.IsAlreadyExists(err) {
		p.t.Fatal(err)
	}
	token, err := accounts.CreateToken(p.t.Context(), account, &authenticationv1.TokenRequest{
		Spec: authenticationv1.TokenRequestSpec{Audiences: []string{"vault"}, ExpirationSeconds: &seconds},
	}, metav1.CreateOptions{})
	if err != nil {
		p.t.Fatal(err)
	}
	version := "..version-" + uuid.NewString()
	err = errors.Join(
		os.Mkdir(filepath.Join(p.dir, version), 0o700),
		os.WriteFile(filepath.Join(p.dir, version, "token"), []byte(token.Status.Token), 0o600),
		os.Symlink(version, filepath.Join(p.dir, "..data_tmp")),
		os.Rename(filepath.Join(p.dir, "..data_tmp"), filepath.Join(p.dir, "..data")),
	)
	if _, missing := os.Lstat(p.tokenFile()); missing != nil {
		err = errors.Join(err, os.Symlink(filepath.Join("..data", "token"), p.tokenFile()))
	}
	if err != nil {
		p.t.Fatal(err)
	}
}

// believe has Vault take the cluster's service accounts: those keys that the API
// server publishes, fetched from it.
func (p *pod) believe(v *real.VaultServer, c *real.Cluster) {
	p.t.Helper()
	rbac, err := rbacclient.NewForConfig(c.Config())
	if err != nil {
		p.t.Fatal(err)
	}
	_, err = rbac.ClusterRoleBindings().Create(p.t.Context(), &rbacv1.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: "issuer-discovery"},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "system:service-account-issuer-discovery"},
		Subjects:   []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: rbacv1.GroupKind, Name: "system:unauthenticated"}},
	}, metav1.CreateOptions{})
	if err != nil && !apierrors.IsAlreadyExists(err) {
		p.t.Fatal(err)
	}
	v.Do(p.t, "POST", "auth/jwt/config", map[string]any{
		"jwks_url": c.Endpoint + "/openid/v1/jwks", "jwks_ca_pem": c.CAPEM,
		"bound_issuer": "https://kubernetes.default.svc.cluster.local",
	}, nil)
}

// admit has Vault's role take one service account, and nobody else.
func (p *pod) admit(v *real.VaultServer, account string) {
	p.t.Helper()
	v.Do(p.t, "POST", "auth/jwt/role/cluster", map[string]any{
		"role_type": "jwt", "user_claim": "sub", "bound_audiences": []string{"vault"},
		"bound_subject":  fmt.Sprintf("system:serviceaccount:%s:%s", p.namespace, account),
		"token_policies": []string{"vimbroker"}, "token_no_default_policy": true, "token_ttl": "1h",
	}, nil)
}

// TestVaultLoginByServiceAccount runs a server whose way into Vault is the token of a
// service account of a real cluster, and rotates the token under it.
func TestVaultLoginByServiceAccount(t *testing.T) {
	t.Parallel()
	cluster, v := real.Kubernetes(t), real.Vault(t)
	p := newPod(t, cluster)
	p.believe(v, cluster)
	p.admit(v, "first")
	p.project("first")

	b, broker, _ := serveOnVault(t, cluster, v, fmt.Sprintf("jwt: {role: cluster, tokenFile: %s}", p.tokenFile()))
	opens := func(when string) {
		t.Helper()
		if got, err := broker.CheckVIM(t.Context(), "edge"); err != nil || got.Status != "reachable" {
			t.Errorf("%s the VIM is %s, %v; want its credential opened and taken", when, got.Status, err)
		}
	}
	opens("with the first token")

	// The kubelet rotates; Vault ends the session: the next login is by the new file.
	p.project("second")
	p.admit(v, "second")
	v.RevokeTokens(t)
	opens("with the token that was rotated")

	// While Vault refuses the file's token the server says so; a new file is enough.
	p.admit(v, "third")
	v.RevokeTokens(t)
	if !real.Poll(t, patience, func() bool { return strings.Contains(parts(t, b.URL), "Vault refuses the login") }) {
		t.Errorf("parts with a token that Vault refuses: %s", parts(t, b.URL))
	}
	p.project("third")
	if !real.Poll(t, patience, func() bool { return !strings.Contains(parts(t, b.URL), "Vault") }) {
		t.Error("the server did not recover")
	}
	opens("with the third token")

	if text, err := os.ReadFile(b.File); err != nil || strings.Contains(string(text), "eyJ") {
		t.Errorf("the log holds a token, or cannot be read: %v", err)
	}
	if _, _, err := broker.DeleteVIM(t.Context(), "edge", client.Deletion{}); err != nil { // the cluster is everybody's
		t.Error(err)
	}
}
