package crash_test

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"testing"

	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	v1 "github.com/vimbroker/vimbroker/broker/api/v1"
	"github.com/vimbroker/vimbroker/broker/secret"
	"github.com/vimbroker/vimbroker/test/fakekube"
	"github.com/vimbroker/vimbroker/test/real"
)

// cluster is what the kit knows of a Kubernetes cluster, fake or real. It
// outlives the servers that use it.
type cluster struct {
	endpoint, ca string
	// fake is nil for a real cluster, which cannot be told to fail.
	fake *fakekube.Server
	// newToken makes another administrator's token.
	newToken func(testing.TB) string
	clients  *kubernetes.Clientset
}

func fakeCluster(t testing.TB) *cluster {
	t.Helper()
	f := fakekube.New(t, fakekube.Options{})
	c := &cluster{endpoint: f.Endpoint, ca: f.CA, fake: f, newToken: func(testing.TB) string { return f.AdminTokenFor(0) }}
	return c.connect(t, f.AdminToken)
}

func realCluster(t testing.TB) *cluster {
	t.Helper()
	r := real.OwnKubernetes(t)
	c := &cluster{endpoint: r.Endpoint, ca: r.CAPEM, newToken: r.AdminToken}
	return c.connect(t, r.AdminToken(t))
}

func (c *cluster) config(token string) *rest.Config {
	return &rest.Config{Host: c.endpoint, BearerToken: token, QPS: -1, TLSClientConfig: rest.TLSClientConfig{CAData: []byte(c.ca)}}
}

func (c *cluster) connect(t testing.TB, token string) *cluster {
	t.Helper()
	var err error
	if c.clients, err = kubernetes.NewForConfig(c.config(token)); err != nil {
		t.Fatal(err)
	}
	return c
}

// registration is one of the cluster under a name.
func (c *cluster) registration(t testing.TB, name string) v1.Registration {
	t.Helper()
	return v1.Registration{Name: name, Type: "kubernetes", Endpoint: c.endpoint, CACert: c.ca, Credential: c.credential(t)}
}

// credential is another administrator's token.
func (c *cluster) credential(t testing.TB) v1.Credential {
	t.Helper()
	return v1.Credential{Token: secret.NewText(c.newToken(t))}
}

func (*cluster) request(vim string) v1.LeaseRequest {
	return v1.LeaseRequest{VIM: vim, Role: "view", Format: "exec-credential", Purpose: "crash kit"}
}

// secretOf is the token.
func (*cluster) secretOf(l v1.IssuedLease) string {
	var c struct{ Status struct{ Token string } }
	_ = json.Unmarshal([]byte(l.ClientConfig.Text.Reveal()), &c)
	return c.Status.Token
}

// managed selects what the broker made.
const managed = "app.kubernetes.io/managed-by=vimbroker"

// leased is the label of what one lease has for itself.
const leased = "vimbroker.io/lease"

// objects are the names of the leases' service accounts, sorted.
func (c *cluster) objects(t testing.TB) []string {
	t.Helper()
	list, err := c.clients.CoreV1().ServiceAccounts("").List(t.Context(), metav1.ListOptions{LabelSelector: leased})
	if err != nil {
		t.Fatal(err)
	}
	names := []string{}
	for _, o := range list.Items {
		names = append(names, o.Name)
	}
	slices.Sort(names)
	return names
}

// others are the other objects that the broker made. A namespace that the cluster is
// emptying counts as gone.
func (c *cluster) others(t testing.TB) []string {
	t.Helper()
	names := []string{}
	add := func(kind string, o metav1.Object) { names = append(names, kind+" "+o.GetNamespace()+"/"+o.GetName()) }
	check := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	ours := metav1.ListOptions{LabelSelector: managed}
	namespaces, err := c.clients.CoreV1().Namespaces().List(t.Context(), metav1.ListOptions{})
	check(err)
	for _, o := range namespaces.Items {
		if strings.HasPrefix(o.Name, "vimbroker") && o.Status.Phase != corev1.NamespaceTerminating {
			add("namespace", &o)
		}
	}
	accounts, err := c.clients.CoreV1().ServiceAccounts("").List(t.Context(), metav1.ListOptions{LabelSelector: managed + ",!" + leased})
	check(err)
	for _, o := range accounts.Items {
		add("serviceaccount", &o)
	}
	clusterRoles, err := c.clients.RbacV1().ClusterRoles().List(t.Context(), ours)
	check(err)
	for _, o := range clusterRoles.Items {
		add("clusterrole", &o)
	}
	roles, err := c.clients.RbacV1().Roles("").List(t.Context(), ours)
	check(err)
	for _, o := range roles.Items {
		add("role", &o)
	}
	clusterWide, err := c.clients.RbacV1().ClusterRoleBindings().List(t.Context(), ours)
	check(err)
	for _, o := range clusterWide.Items {
		add("clusterrolebinding", &o)
	}
	bindings, err := c.clients.RbacV1().RoleBindings("").List(t.Context(), ours)
	check(err)
	for _, o := range bindings.Items {
		add("rolebinding", &o)
	}
	return names
}

// works reports whether the API server knows a token's holder.
func (c *cluster) works(t testing.TB, token string) bool {
	t.Helper()
	clients, err := kubernetes.NewForConfig(c.config(token))
	if err != nil {
		t.Fatal(err)
	}
	_, err = clients.AuthenticationV1().SelfSubjectReviews().Create(t.Context(), &authenticationv1.SelfSubjectReview{}, metav1.CreateOptions{})
	switch status, ok := err.(apierrors.APIStatus); { //nolint:errorlint // client-go's own answer
	case err == nil:
		return true
	case ok && status.Status().Code == http.StatusUnauthorized:
		return false
	}
	t.Fatalf("trying a token: %v", err)
	return false
}
