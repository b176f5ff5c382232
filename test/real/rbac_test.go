package real_test

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clientset "k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/broker/secret"
	"github.com/vimbroker/vimbroker/drivers/kubernetes"
	"github.com/vimbroker/vimbroker/drivers/kubernetes/rbac"
	"github.com/vimbroker/vimbroker/policy/egress"
	"github.com/vimbroker/vimbroker/test/real"
)

// applied is a cluster on which a manifest of rights stands, and the access of the account
// that got them.
type applied struct {
	*real.Cluster
	t      *testing.T
	admin  clientset.Interface
	driver *kubernetes.Driver
	access broker.Access
	// at is the namespace that leases are limited to, and open another one, which enforces no Pod Security.
	at, open string
}

// apply makes an account of its own, and applies what an administrator would. Of o's fields
// Profile, Roles and, for prepared mode, Pool count.
func apply(t *testing.T, c *real.Cluster, o rbac.Options) *applied {
	t.Helper()
	admin, err := clientset.NewForConfig(c.Config())
	if err != nil {
		t.Fatal(err)
	}
	a := &applied{Cluster: c, t: t, admin: admin, driver: kubernetes.New(kubernetes.Options{Trial: kubernetes.TrialAlways})}
	t.Cleanup(a.driver.Close)
	vim := uuid.NewString()
	a.at, a.open, a.access.VIM = "leased-"+vim[:8], "open-"+vim[:8], vim
	operators := a.operators()
	for n, labels := range map[string]map[string]string{
		a.at: {"pod-security.kubernetes.io/enforce": "baseline"}, a.open: {"pod-security.kubernetes.io/warn": "restricted"}, operators: nil,
	} {
		if _, err := admin.CoreV1().Namespaces().Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: n, Labels: labels}}, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := admin.CoreV1().ServiceAccounts(operators).Create(t.Context(), &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: "broker"}}, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	o.VIM, o.User = vim, "system:serviceaccount:"+operators+":broker"
	if o.Pool > 0 {
		o.Namespaces = []string{a.at, a.open}
	}
	manifest, err := rbac.Manifest(o)
	if err != nil {
		t.Fatal(err)
	}
	a.kubectl(manifest, "apply", "-f", "-")
	hour := int64(3600)
	token, err := admin.CoreV1().ServiceAccounts(operators).CreateToken(t.Context(), "broker", &authenticationv1.TokenRequest{
		Spec: authenticationv1.TokenRequestSpec{ExpirationSeconds: &hour},
	}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	target, credential, err := a.driver.Normalize(broker.Registration{
		Name: "applied", Type: "kubernetes", Endpoint: c.Endpoint, CACert: c.CAPEM, Namespace: a.at,
		Credential: broker.Credential{Token: secret.NewText(token.Status.Token)},
	})
	if err != nil {
		t.Fatal(err)
	}
	rules := egress.Default()
	rules.AllowLoopback = true
	a.access = broker.Access{VIM: vim, Generation: 1, Target: target, Credential: credential, Egress: rules}
	var r broker.Report
	if !real.Poll(t, patience, func() bool { // the API server learns of new bindings after a moment
		r, err = a.driver.Check(t.Context(), a.access)
		return err == nil && r.CanMint
	}) {
		t.Fatalf("with what was applied there are no leases: %v, %s", err, r.MintMessage)
	}
	return a
}

// operators is the namespace of account broker, which the VIM is registered with.
func (a *applied) operators() string { return "operators-" + a.access.VIM[:8] }

// kubectl runs kubectl as the cluster's administrator.
func (a *applied) kubectl(stdin string, args ...string) {
	a.t.Helper()
	c := exec.CommandContext(a.t.Context(), a.Kubectl, append([]string{"--kubeconfig", a.Kubeconfig}, args...)...)
	c.Stdin = strings.NewReader(stdin)
	c.Env = append(os.Environ(), "HOME="+a.t.TempDir())
	if out, err := c.CombinedOutput(); err != nil {
		a.t.Fatalf("kubectl %v: %v\n%s", args, err, out)
	}
}

// check checks the VIM, and has its later calls know what was discovered.
func (a *applied) check() broker.Report {
	a.t.Helper()
	r, err := a.driver.Check(a.t.Context(), a.access)
	if err != nil {
		a.t.Fatal(err)
	}
	a.access.Discovered, a.access.Identity = r.Discovered, r.Identity
	return r
}

// granted is a lease's grant as it takes effect.
func (a *applied) granted(g broker.Grant) (broker.Grant, broker.Grade) {
	a.t.Helper()
	g.Lease, g.TTL, g.Epoch = uuid.NewString(), 10*time.Minute, 1
	g.Handle = "lease-" + g.Lease
	g, err := a.driver.Prepare(g)
	if err != nil {
		a.t.Fatal(err)
	}
	graded, err := a.driver.Grade(a.t.Context(), a.access, g)
	if err != nil {
		a.t.Fatal(err)
	}
	return graded.Grant, graded.Grade
}

// as is a client with a lease's token.
func (a *applied) as(m broker.Minted) clientset.Interface {
	a.t.Helper()
	c, err := clientset.NewForConfig(a.holding(m.Credential.Token.Reveal()))
	if err != nil {
		a.t.Fatal(err)
	}
	return c
}

// holding is the configuration of a client with a token.
func (a *applied) holding(token string) *rest.Config {
	return &rest.Config{Host: a.Endpoint, QPS: -1, BearerToken: token, TLSClientConfig: rest.TLSClientConfig{CAData: []byte(a.CAPEM)}}
}

// TestTheRightsThatAreAskedFor applies what vimbroker vim rbac prints, and has leases live and die
// with no other right.
func TestTheRightsThatAreAskedFor(t *testing.T) {
	t.Parallel()
	for _, prepared := range []bool{false, true} {
		for _, profile := range []rbac.Profile{rbac.Leases, rbac.Engine} {
			mode := broker.ModeManaged
			if prepared {
				mode = broker.ModePrepared
			}
			t.Run(mode+" for "+string(profile), func(t *testing.T) {
				o := rbac.Options{Profile: profile, Roles: []string{"view", "edit"}}
				if prepared {
					o.Pool = 2
				}
				a := apply(t, real.Kubernetes(t), o)
				if r := a.check(); !r.CanMint || r.Discovered.Cluster.Mode != mode {
					t.Fatalf("Check = can mint %v (%s), %+v; want it to mint in mode %s", r.CanMint, r.MintMessage, r.Discovered.Cluster, mode)
				}
				a.wantLife(broker.Grant{Role: "edit"}, broker.GradeNamespaces)
				if prepared {
					a.wantLife(broker.Grant{}, broker.GradeBounded)
				}
				exact := broker.Grant{Rules: []broker.Rule{{APIGroups: []string{""}, Resources: []string{"configmaps"}, Verbs: []string{"list"}}}, Namespaces: []string{a.at}}
				if profile == rbac.Engine {
					a.wantLife(exact, broker.GradeBounded)
				} else {
					g, _ := a.granted(exact)
					_, err := a.driver.Issue(t.Context(), a.access, g)
					var e *broker.Error
					if !errors.Is(err, broker.ErrForbidden) || !errors.As(err, &e) || !strings.Contains(e.Remedy, "escalate") {
						t.Errorf("Issue of rules that the credential does not hold = %v, want a refusal that names escalate", err)
					}
					if err := a.driver.Tidy(t.Context(), a.access, g); err != nil {
						t.Errorf("Tidy after it: %v", err)
					}
				}
				if err := a.driver.Forget(t.Context(), a.access); err != nil {
					t.Errorf("Forget: %v", err)
				}
				a.wantNothing()
			})
		}
	}
}

// wantLife issues, uses, renews, lists, revokes and tidies a lease.
func (a *applied) wantLife(g broker.Grant, grade broker.Grade) {
	a.t.Helper()
	ctx := a.t.Context()
	g, got := a.granted(g)
	if got != grade || !slices.Equal(g.Namespaces, []string{a.at}) {
		a.t.Errorf("grade %s in %q, want %s in the VIM's own namespace", got, g.Namespaces, grade)
	}
	m, err := a.driver.Issue(ctx, a.access, g)
	if err != nil {
		a.t.Fatalf("Issue: %v", err)
	}
	if !real.Poll(a.t, patience, func() bool { // the API server learns of a new role after a moment
		_, err = a.as(m).CoreV1().ConfigMaps(a.at).List(ctx, metav1.ListOptions{})
		return err == nil
	}) {
		a.t.Errorf("the lease may not use its namespace: %v", err)
	}
	if _, err := a.as(m).CoreV1().ConfigMaps("default").List(ctx, metav1.ListOptions{}); err == nil {
		a.t.Error("the lease may use another namespace")
	}
	if _, err := a.driver.Renew(ctx, a.access, g); err != nil {
		a.t.Errorf("Renew: %v", err)
	}
	if found, err := a.driver.Inventory(ctx, a.access); err != nil || len(found) != 1 || found[0].Handle != g.Handle {
		a.t.Errorf("Inventory = %v, %v, want the lease", found, err)
	}
	if err := a.driver.Revoke(ctx, a.access, broker.Issued{Handle: g.Handle, UID: m.UID, Grant: g}); err != nil {
		a.t.Errorf("Revoke: %v", err)
	}
	revoked, asked := time.Now(), time.Time{} // when its token was taken last
	if !real.Poll(a.t, patience, func() bool {
		at := time.Now()
		dead, err := a.driver.Dead(ctx, a.access, m.Credential)
		if err == nil && !dead {
			asked = at
		}
		return dead && err == nil
	}) || asked.Sub(revoked) > m.MaxRevocationLag {
		a.t.Errorf("the lease's token is taken %v after its revocation, want at most %v", asked.Sub(revoked), m.MaxRevocationLag)
	}
	if err := a.driver.Tidy(ctx, a.access, g); err != nil {
		a.t.Errorf("Tidy: %v", err)
	}
}

// wantNothing wants nothing of the VIM's on the cluster but the pool.
func (a *applied) wantNothing() {
	a.t.Helper()
	ctx, ours := a.t.Context(), metav1.ListOptions{LabelSelector: "vimbroker.io/vim=" + a.access.VIM}
	var left []string
	count := func(kind string, n int, err error) {
		if err != nil {
			a.t.Errorf("listing %s: %v", kind, err)
		}
		if n > 0 {
			left = append(left, fmt.Sprintf("%d %s", n, kind))
		}
	}
	accounts, err := a.admin.CoreV1().ServiceAccounts("").List(ctx, ours)
	count("service accounts", len(accounts.Items), err)
	bindings, err := a.admin.RbacV1().RoleBindings("").List(ctx, ours)
	count("role bindings", len(bindings.Items), err)
	wide, err := a.admin.RbacV1().ClusterRoleBindings().List(ctx, ours)
	count("cluster role bindings", len(wide.Items), err)
	roles, err := a.admin.RbacV1().Roles("").List(ctx, ours)
	count("roles", len(roles.Items), err)
	claims, err := a.admin.CoreV1().ConfigMaps("").List(ctx, ours)
	count("claims", len(claims.Items), err)
	ours.LabelSelector += ",vimbroker.io/grant" // a pool is the administrator's
	homes, err := a.admin.CoreV1().Namespaces().List(ctx, ours)
	homes.Items = slices.DeleteFunc(homes.Items, func(n corev1.Namespace) bool { return n.DeletionTimestamp != nil })
	count("namespaces", len(homes.Items), err)
	if len(left) > 0 {
		a.t.Errorf("left on the cluster: %s", strings.Join(left, ", "))
	}
}

// TestACheckNamesEveryRightThatIsMissing takes rights away one at a time, and all at once.
func TestACheckNamesEveryRightThatIsMissing(t *testing.T) {
	t.Parallel()
	// What is useful, and not needed to make and to end leases of roles.
	optional := []string{
		"list namespaces", "list clusterroles", "get clusterrolebindings", "list clusterrolebindings", "create subjectaccessreviews", "pass guard", "list pods", "list secrets",
		"create clusterrolebindings", "delete clusterrolebindings", "create clusterroles", "delete clusterroles",
		"get roles", "list roles", "create roles", "delete roles",
	}
	a := apply(t, real.Kubernetes(t), rbac.Options{Profile: rbac.Leases, Roles: []string{"view", "edit"}})
	name := "vimbroker-broker-" + a.access.VIM[:8]
	roles := a.admin.RbacV1().ClusterRoles()
	whole, err := roles.Get(t.Context(), name, metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	set := func(rules []rbacv1.PolicyRule) {
		t.Helper()
		r, err := roles.Get(t.Context(), name, metav1.GetOptions{})
		if err == nil {
			r.Rules = rules
			_, err = roles.Update(t.Context(), r, metav1.UpdateOptions{})
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	// says polls: the API server learns of a changed role after a moment.
	says := func(words ...string) (r broker.Report, ok bool) {
		return r, real.Poll(t, patience, func() bool {
			r = a.check()
			return !slices.ContainsFunc(words, func(w string) bool { return !strings.Contains(r.MintMessage, w) }) && r.CanMint == (len(words) == 0)
		})
	}
	var all []string
	for i, rule := range whole.Rules {
		for _, resource := range rule.Resources {
			for _, verb := range rule.Verbs {
				if slices.Contains(optional, verb+" "+resource) || verb == "get" && resource == "namespaces" {
					continue
				}
				all = append(all, verb+" "+resource)
				rules := slices.Clone(whole.Rules)
				rules[i] = *rule.DeepCopy()
				rules[i].Verbs = slices.DeleteFunc(rules[i].Verbs, func(v string) bool { return v == verb })
				if len(rules[i].Verbs) == 0 {
					rules = slices.Delete(rules, i, i+1)
				}
				set(rules)
				if r, ok := says(verb + " " + resource); !ok && !(verb == "create" && resource == "namespaces" && strings.Contains(r.MintMessage, "create namespaces")) {
					t.Errorf("without %s %s the check says: can mint %v, %s", verb, resource, r.CanMint, r.MintMessage)
				}
			}
		}
	}
	if len(all) < 12 {
		t.Errorf("only %q were taken away", all)
	}
	set(whole.Rules)
	if r, ok := says(); !ok {
		t.Errorf("with all rights the check says %s", r.MintMessage)
	}
	keep := func(r rbacv1.PolicyRule) bool {
		return slices.Contains(r.Resources, "namespaces") || slices.Contains(r.Verbs, "get") && slices.Contains(r.Resources, "clusterroles")
	}
	set(slices.DeleteFunc(slices.Clone(whole.Rules), func(r rbacv1.PolicyRule) bool { return !keep(r) }))
	if r, ok := says("create serviceaccounts", "delete serviceaccounts", "create serviceaccounts/token", "create rolebindings", "delete rolebindings", "bind clusterroles"); !ok {
		t.Errorf("without most rights the check says %s, want every one of them named", r.MintMessage)
	}
}
