package real_test

import (
	"context"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clientset "k8s.io/client-go/kubernetes"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/broker/api/client"
	v1 "github.com/vimbroker/vimbroker/broker/api/v1"
	"github.com/vimbroker/vimbroker/broker/secret"
	"github.com/vimbroker/vimbroker/drivers/kubernetes/rbac"
	"github.com/vimbroker/vimbroker/policy"
	"github.com/vimbroker/vimbroker/test/real"
	"github.com/vimbroker/vimbroker/test/story"
)

// site is a server with a configuration of its own, which is started anew so that it reads the cluster anew.
type site struct {
	t               *testing.T
	bin, dir, admin string
	broker          *story.Broker
}

func newSite(t *testing.T) *site {
	t.Helper()
	s := &site{t: t, bin: story.Build(t, t.TempDir()), dir: t.TempDir()}
	token, digest := policy.NewToken()
	s.admin = token
	s.write("tokens.yaml", "tokens: [{name: admin, project: default, roles: [admin], sha256: "+digest+"}]\n")
	return s
}

func (s *site) write(name, text string) {
	s.t.Helper()
	if err := os.WriteFile(filepath.Join(s.dir, name), []byte(text), 0o600); err != nil {
		s.t.Fatal(err)
	}
}

// serve starts the server, in place of the one before.
func (s *site) serve(settings string) {
	s.t.Helper()
	if s.broker != nil {
		if err := s.broker.Stop(); err != nil {
			s.t.Fatal(err)
		}
	}
	s.write("config.yaml", fmt.Sprintf("listen: 127.0.0.1:0\ndataDir: %s\ntokensFile: %s\negress: {allowLoopback: true}\noauth: {issuer: https://vimbroker.example}\n%s",
		s.dir, filepath.Join(s.dir, "tokens.yaml"), settings))
	var err error
	if s.broker, err = story.Serve(s.bin, s.dir, []string{"HOME=" + s.dir}, "--config", filepath.Join(s.dir, "config.yaml")); err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(s.broker.Kill)
}

// as speaks to the server with a token.
func (s *site) as(token string) *client.Client {
	s.t.Helper()
	c, err := client.New(client.Options{Addr: s.broker.URL, Token: secret.NewText(token)})
	if err != nil {
		s.t.Fatal(err)
	}
	return c
}

// TestALeaseThatBecomesTooWideOnARealCluster: two leases limited to a namespace are fair until an account of the namespace
// becomes the cluster's administrator. From then on the broker mints no token under the one and renews the other
// no more, and ends both where leases end with their holders' access.
func TestALeaseThatBecomesTooWideOnARealCluster(t *testing.T) {
	t.Parallel()
	cluster := real.Kubernetes(t)
	admin, err := clientset.NewForConfig(cluster.Config())
	if err != nil {
		t.Fatal(err)
	}
	const namespace = "becomes-too-wide"
	if _, err := admin.CoreV1().Namespaces().Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{
		Name: namespace, Labels: map[string]string{"pod-security.kubernetes.io/enforce": "baseline"},
	}}, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	s := newSite(t)
	s.serve("")
	if _, err := s.as(s.admin).RegisterVIM(t.Context(), v1.Registration{
		Name: "edge", Type: "kubernetes", Endpoint: cluster.Endpoint, CACert: cluster.CAPEM,
		Credential: v1.Credential{Token: secret.NewText(cluster.AdminToken(t))},
	}, ""); err != nil {
		t.Fatal(err)
	}
	made, err := s.as(s.admin).CreateOAuthClient(t.Context(), v1.OAuthClientRequest{Name: "others", Roles: []string{policy.RoleVNFM}})
	if err != nil {
		t.Fatal(err)
	}
	v := &otherVNFM{bench: &bench{broker: s.broker}, t: t}
	holder := func() *client.Client {
		token, refusal := v.fetch(s.broker.URL+"/oauth2/token", url.Values{
			"grant_type": {"client_credentials"}, "client_id": {made.ID}, "client_secret": {made.ClientSecret.Reveal()},
		})
		if token == "" {
			t.Fatalf("the client gets no token: %s", refusal)
		}
		return s.as(token)
	}
	var issued []v1.IssuedLease
	for _, standing := range []bool{true, false} {
		l, err := holder().IssueLease(t.Context(), v1.LeaseRequest{VIM: "edge", Role: "edit", Namespaces: []string{namespace}, Standing: standing}, "")
		if err != nil || l.Grade != string(broker.GradeNamespaces) {
			t.Fatalf("IssueLease = %s, %v", l.Grade, err)
		}
		issued = append(issued, l)
	}
	standing, usual := issued[0], issued[1]
	mint := func() (token, refusal string) {
		return v.fetch(s.broker.URL+"/oidc/token", url.Values{
			"grant_type": {"password"}, "scope": {"openid"}, "client_id": {made.ID}, "username": {standing.ID}, "password": {standing.LeaseSecret.Reveal()},
		})
	}
	if token, refusal := mint(); token == "" {
		t.Fatalf("no token is minted: %s", refusal)
	}

	b, err := admin.RbacV1().ClusterRoleBindings().Create(t.Context(), &rbacv1.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: namespace}, RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "cluster-admin"},
		Subjects: []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Namespace: namespace, Name: "default"}},
	}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { // the cluster is everybody's
		for _, err := range []error{
			admin.RbacV1().ClusterRoleBindings().Delete(context.Background(), b.Name, metav1.DeleteOptions{}),
			admin.CoreV1().Namespaces().Delete(context.Background(), namespace, metav1.DeleteOptions{}),
		} {
			if err != nil {
				t.Error(err)
			}
		}
	})
	s.serve("") // what was read of the cluster before is two minutes old at most
	v.broker = s.broker
	token, refusal := mint()
	_, err = holder().RenewLease(t.Context(), usual.ID, v1.Renewal{})
	if token != "" || err == nil {
		t.Errorf("of leases that have become unbounded a token is minted (%v), or one is renewed (%v)", token != "", err)
	}
	for what, said := range map[string]string{"a token": refusal, "a renewal": fmt.Sprint(err)} {
		for _, word := range []string{"unbounded", "clusterrolebinding " + namespace + " lets a service account escalate"} {
			if !strings.Contains(said, word) {
				t.Errorf("the refusal of %s = %s, want it to say %q", what, said, word)
			}
		}
	}

	s.serve("lease: {endWithAccess: true}\n")
	for _, l := range issued {
		var now v1.Lease
		if !real.Poll(t, patience, func() bool {
			now, err = s.as(s.admin).Lease(t.Context(), l.ID)
			return err == nil && now.State == string(broker.LeaseRevoked)
		}) || now.Reason != string(broker.ReasonAccessLost) {
			t.Errorf("the lease is %s (%s), %v, want it ended since its holder may not have it any more", now.State, now.Reason, err)
		}
	}
}

// TestEveryKindThatKubernetesServesIsGraded: whatever the real API server serves of its own is an escalation or known to be
// none, and what it does not serve is unbounded.
func TestEveryKindThatKubernetesServesIsGraded(t *testing.T) {
	t.Parallel()
	a := apply(t, real.Kubernetes(t), rbac.Options{Profile: rbac.Engine, Roles: []string{"view"}})
	const unknown = "this version of the broker does not know"
	grade := func(group, resource string, verbs []string) broker.Graded {
		t.Helper()
		graded, err := a.driver.Grade(t.Context(), a.access, broker.Grant{
			Lease: "l", Handle: "lease-l", TTL: 10 * time.Minute, ClusterWide: true,
			Rules: []broker.Rule{{APIGroups: []string{group}, Resources: []string{resource}, Verbs: verbs}},
		})
		if err != nil {
			t.Fatalf("Grade of %s.%s: %v", resource, group, err)
		}
		return graded
	}
	_, lists, err := a.admin.Discovery().ServerGroupsAndResources()
	if err != nil {
		t.Fatal(err)
	}
	served := 0
	for _, list := range lists {
		group, _, grouped := strings.Cut(list.GroupVersion, "/")
		if !grouped {
			group = ""
		}
		if strings.HasSuffix(group, ".x-k8s.io") || strings.HasSuffix(group, ".example.com") { // of other tests
			continue
		}
		for _, r := range list.APIResources {
			served++
			if got := grade(group, r.Name, r.Verbs); slices.ContainsFunc(got.Reasons, func(reason string) bool { return strings.Contains(reason, unknown) }) {
				t.Errorf("%s of group %q is not classified: %q", r.Name, group, got.Reasons)
			}
		}
		got := grade(group, "pets", []string{"create"})
		if got.Grade != broker.GradeUnbounded || len(got.Reasons) != 1 || !strings.Contains(got.Reasons[0], unknown) {
			t.Errorf("a kind of group %q that nobody knows = %s %q, want unbounded", group, got.Grade, got.Reasons)
		}
	}
	if served < 100 {
		t.Errorf("only %d kinds are served", served)
	}
}
