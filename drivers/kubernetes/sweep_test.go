package kubernetes_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clientset "k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/broker/secret"
	"github.com/vimbroker/vimbroker/drivers/kubernetes"
	"github.com/vimbroker/vimbroker/test/clock"
	"github.com/vimbroker/vimbroker/test/fake"
	"github.com/vimbroker/vimbroker/test/fakekube"
	"github.com/vimbroker/vimbroker/test/sweep"
	"github.com/vimbroker/vimbroker/test/testlog"
)

// The VIM and the lease of every flow: each has a cluster of its own.
const (
	sweptVIM   = "11111111-2222-4333-8444-555555555555"
	sweptLease = "66666666-7777-4888-8999-aaaaaaaaaaaa"
)

// swept is a driver and a cluster for one run of a flow, at a fixed time.
type swept struct {
	t      testing.TB
	s      *fakekube.Server
	now    *clock.Clock
	driver *kubernetes.Driver
	access broker.Access
	log    *bytes.Buffer
	tokens []string
}

func cluster(t testing.TB) *swept { return clusterWith(t, kubernetes.TrialNever) }

func clusterWith(t testing.TB, trial kubernetes.Trial) *swept {
	t.Helper()
	l := &swept{t: t, now: clock.New(time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC)), log: &bytes.Buffer{}}
	l.s = fakekube.New(t, fakekube.Options{Now: l.now.Now, Plain: true})
	l.access = l.registered()
	l.anew(trial)
	return l
}

// registered is an access with the administrator's token. What TLS adds is shown elsewhere: it costs too much here.
func (l *swept) registered() broker.Access {
	l.t.Helper()
	a := accessTo(l.t, broker.Registration{Endpoint: "https://localhost", Credential: broker.Credential{Token: secret.NewText(l.s.AdminToken)}})
	a.VIM, a.Target.Endpoint = sweptVIM, l.s.Endpoint
	return a
}

// anew is a driver that knows nothing.
func (l *swept) anew(trial kubernetes.Trial) {
	l.driver = kubernetes.New(kubernetes.Options{Now: l.now.Now, Trial: trial, Log: testlog.To(l.t, slog.NewTextHandler(l.log, nil))})
	l.t.Cleanup(l.driver.Close)
}

func (l *swept) client() clientset.Interface {
	l.t.Helper()
	c, err := clientset.NewForConfig(&rest.Config{
		Host: l.s.Endpoint, BearerToken: l.s.AdminToken, QPS: -1,
	})
	if err != nil {
		l.t.Fatal(err)
	}
	return c
}

// prepared makes a pool of two namespaces, as the credential may make none.
func (l *swept) prepared() *swept {
	l.t.Helper()
	for n := 1; n <= 2; n++ {
		name := fmt.Sprintf("vimbroker-%s-%d", sweptVIM[:8], n)
		_, err := l.client().CoreV1().Namespaces().Create(l.t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}, metav1.CreateOptions{})
		if err != nil {
			l.t.Fatal(err)
		}
	}
	l.s.Deny(fakekube.Denial{Verb: "create", Resource: "namespaces"}, fakekube.Denial{Verb: "delete", Resource: "namespaces"})
	return l
}

func (l *swept) grant(role string, rules []broker.Rule, namespaces ...string) broker.Grant {
	l.t.Helper()
	g, err := l.driver.Prepare(broker.Grant{
		Lease: sweptLease, Handle: "lease-" + sweptLease, TTL: time.Hour, Role: role, Rules: rules, Namespaces: namespaces,
		ClusterWide: len(namespaces) == 0, Epoch: 1,
	})
	if err != nil {
		l.t.Fatal(err)
	}
	return g
}

func (l *swept) issued(g broker.Grant) broker.Minted {
	l.t.Helper()
	m, err := l.driver.Issue(l.t.Context(), l.access, g)
	if err != nil {
		l.t.Fatal(err)
	}
	l.tokens = append(l.tokens, m.Credential.Token.Reveal())
	return m
}

func (l *swept) bench(run func(context.Context) (any, error)) *sweep.Bench {
	return &sweep.Bench{
		Servers: map[string]*fake.Server{"": &l.s.Server}, Run: run, Standing: l.s.Objects, Log: l.log.String,
		Names:   map[string]string{sweptVIM: "vim", sweptLease: "lease", sweptVIM[:8]: "vim8", l.s.AdminToken: "token"},
		Secrets: func() []string { return append(slices.Clone(l.tokens), l.s.AdminToken) },
	}
}

func (l *swept) minted(m broker.Minted) string {
	l.tokens = append(l.tokens, m.Credential.Token.Reveal())
	works := slices.ContainsFunc(l.s.Tokens(), func(t fakekube.Token) bool { return "JTI="+t.ID == m.CredentialID })
	return fmt.Sprint(sweep.Minted(m), ", works ", works)
}

// issue is the bench of a lease that is issued. What its grant keeps goes with the lease.
func (l *swept) issue(g broker.Grant) *sweep.Bench {
	b := l.bench(func(ctx context.Context) (any, error) {
		m, err := l.driver.Issue(ctx, l.access, g)
		return l.minted(m), err
	})
	b.Undo = func(ctx context.Context) error {
		return errors.Join(l.driver.Revoke(ctx, l.access, broker.Issued{Handle: g.Handle, Grant: g}), l.driver.Tidy(ctx, l.access, g))
	}
	return b
}

func (l *swept) renew(g broker.Grant) *sweep.Bench {
	return l.bench(func(ctx context.Context) (any, error) {
		m, err := l.driver.Renew(ctx, l.access, g)
		return l.minted(m), err
	})
}

func (l *swept) revoke(i broker.Issued) *sweep.Bench {
	return l.bench(func(ctx context.Context) (any, error) { return "", l.driver.Revoke(ctx, l.access, i) })
}

func (l *swept) check() *sweep.Bench {
	return l.bench(func(ctx context.Context) (any, error) {
		r, err := l.driver.Check(ctx, l.access)
		var of broker.Cluster
		if r.Discovered.Cluster != nil {
			of = *r.Discovered.Cluster
		}
		return fmt.Sprintf("%s %s, mints %t %q, external IPs %s, %v %+v", r.Identity, r.Version, r.CanMint, r.MintMessage, r.ExternalIPs,
			r.Discovered.Regions, of), err
	})
}

// kubeSweep leaves out, unless all are meant, faults that this driver takes alike at all requests.
func kubeSweep(all bool) *sweep.Suite {
	s := sweep.OfBroker()
	if !all {
		s.Skip = []string{"401", "page", "drop", "cut", "down"}
	}
	s.Words = map[string]*regexp.Regexp{"token": regexp.MustCompile(`eyJ[\w-]+\.[\w-]+\.[\w-]+`)}
	s.Headers = []string{"Content-Type"}
	s.Exceptions = kubeExceptions
	return &s
}

var kubeExceptions = []sweep.Exception{
	// What a check can do without.
	{Flow: "^(dead|alive)$", Request: "/selfsubjectreviews ", Fault: "40[13]", Differs: true, Why: "401 is the API server's word that a token is dead, and 403 that it is known"},
	{Flow: "^(check|identify)", Request: "/selfsubjectreviews ", Fault: "404", Want: broker.ErrUnsupported, Why: "a cluster before 1.28 does not serve it"},
	{Request: "/selfsubjectreviews ", Fault: "403", Differs: true, Why: "who may not ask who he is, is known"},
	{Request: "^GET /api/v1/namespaces.limit=500$|/version$", Fault: "403", Differs: true, Why: "a credential need not see all namespaces, or the version"},
	{Request: "/services.dryRun", Differs: true, Why: "what a dry run does not tell is not known"},
	{Flow: "^check", Request: "/selfsubjectaccessreviews", Fault: "40[34]", Differs: true, Why: "it is said that the cluster does not tell"},
	{Flow: "^check-prepared$", Request: "vimbroker-<vim8>", Fault: "403", Differs: true, Why: "a pool that cannot be seen is none, which is said"},
	// Leases.
	{Flow: "^issue-pool$", Request: "^POST /api/v1/namespaces ", Fault: "403", Why: "who may make no namespace has a pool"},
	{Flow: "^(issue|renew)", Request: "^GET .*/(rolebindings|roles)/", Fault: "403", Why: "what cannot be read is made again, and is there"},
	{
		Flow: "^renew-unbound$", Request: "^GET /api/v1/namespaces/[a-z-]+$|^POST .*/roles|^POST .*/rolebindings", Fault: "40[39]", Left: true,
		Why: "the lease keeps what it has elsewhere, and the log says so",
	},
	{Flow: "^revoke-pool$", Request: "/vimbroker-[0-9a-f]{20}/", Fault: "403", Why: "it may be in another room of the pool"},
	// Passes.
	{Flow: "^(foreign|forget)$", Request: "^GET .*/vimbroker-<vim8>-1$", Nth: 1, Fault: "403", Why: "a pool that may not be seen is none, where all else is seen"},
	{Flow: "^inventory$", Request: "/vimbroker-<vim8>-1$", Fault: "403", Why: "a pool that may not be seen is none, where all else is seen"},
	{Flow: "^inventory$", Request: "^GET /api/v1/serviceaccounts", Fault: "403", Usual: true, Why: "no lease can be seen then"},
	{Flow: "^inventory$", Request: "^GET .*/(rolebindings|roles)/", Fault: "403", Differs: true, Why: "what cannot be read counts as missing"},
	{Flow: "^(tidy|forget)$", Request: "^DELETE /api/v1/namespaces/[^/ ]+ ", Fault: "403", Left: true, Why: "a namespace that may not be deleted stays, empty and bound to nothing"},
	{
		Flow: "^(inventory|tidy|forget|dismiss|shows)", Request: "^GET .*labelSelector", Fault: "403", Differs: true, Left: true,
		Why: "what may not be listed the credential has not made, or it is bound to nothing any more",
	},
	{Flow: "^foreign$", Request: "^GET .*(pods|secrets|serviceaccounts|bindings|limit=500)", Fault: "403", Differs: true, Why: "kinds that may not be listed are left out"},
	{Flow: "^grade-edit$", Request: "^GET /apis$", Fault: "403", Differs: true, Why: "what the cluster does not tell counts against the lease"},
	{Flow: "^grade-edit$", Request: "limit=500$", Fault: "403", Differs: true, Why: "what may not be listed counts as none"},
	{Flow: "^foresee$", Request: "/selfsubjectaccessreviews", Fault: "403", Why: "nothing is foreseen where the cluster does not tell"},
	// Accounts.
	{Flow: "appoint", Request: "/selfsubjectaccessreviews|/kube-system$", Fault: "40[34]", Why: "the rights of an account may not be there yet: it is asked again"},
	{Flow: "^dismiss$", Request: "clusterrolebindings/vimbroker-account-[0-9a-f]+$", Fault: "403|hollow", Why: "the account has ended itself, and the cluster removes the rest"},
	{Flow: "^dismiss$", Request: "/selfsubjectreviews", Why: "only 401 says that the account is gone"},
}

// altered are the requests of flows whose answers are altered field by field, and statuses those that meet every status.
var (
	altered = map[string]string{
		"identify": ".", "check": "limit=500$|/version$", "issue-next": ".", "renew": "serviceaccounts",
		"revoke": ".", "inventory": "serviceaccounts", "foreign": "pods|secrets", "tidy-pool": "configmaps", "grade-edit": "/apis$|roles|selfsubjectreviews",
		"shelved": ".", "shows": ".", "alive": ".",
	}
	statuses = map[string]string{"revoke": "DELETE", "identify": "GET"}
)

// flow is one that asks the cluster for several rights at a time; one of those meets the faults.
func flow(name, beside, only string, make func(testing.TB) *sweep.Bench) sweep.Flow {
	return sweep.Flow{
		Name: name, Beside: beside, Only: only, Alike: "selfsubjectaccessreviews", New: make, Fields: altered[name], Statuses: statuses[name],
	}
}

var sweptRules = []broker.Rule{{APIGroups: []string{""}, Resources: []string{"pods"}, Verbs: []string{"get", "list"}}}

func TestSweepOfChecks(t *testing.T) {
	kubeSweep(true).Run(t,
		flow("identify", "", "", func(t testing.TB) *sweep.Bench {
			l := cluster(t)
			return l.bench(func(ctx context.Context) (any, error) {
				r, err := l.driver.Identify(ctx, l.access)
				return r.Identity, err
			})
		}),
		flow("check", ".", "", func(t testing.TB) *sweep.Bench { return cluster(t).check() }),
		flow("check-prepared", ".", "vimbroker-<vim8>", func(t testing.TB) *sweep.Bench { return cluster(t).prepared().check() }),
		flow("check-poor", ".", "none", func(t testing.TB) *sweep.Bench {
			l := cluster(t)
			l.s.Deny(fakekube.Denial{Verb: "bind"}, fakekube.Denial{Verb: "escalate"}, fakekube.Denial{Verb: "delete", Resource: "rolebindings"})
			return l.check()
		}),
	)
}

func TestSweepOfIssue(t *testing.T) {
	tried := kubeSweep(true)
	tried.Skip = []string{"404", "409", "page", "drop", "lost", "cut", "down"}
	tried.Exceptions = []sweep.Exception{
		{Request: "/selfsubjectaccessreviews", Fault: "401", Want: broker.ErrUnreachable, Why: "a token of a moment ago may not be known yet"},
	}
	tried.Run(t,
		flow("issue-tried", ".", "reviews", func(t testing.TB) *sweep.Bench {
			l := clusterWith(t, kubernetes.TrialAlways)
			b := l.issue(l.grant("view", nil, "default"))
			b.Undo = nil
			return b
		}))
	kubeSweep(false).Run(t,
		flow("issue-first", ".", "", func(t testing.TB) *sweep.Bench {
			l := cluster(t)
			return l.issue(l.grant("view", nil))
		}),
		flow("issue-rules", ".", "/roles|/rolebindings", func(t testing.TB) *sweep.Bench {
			l := cluster(t)
			b := l.issue(l.grant("", sweptRules, "default", "kube-public"))
			b.Undo = nil
			return b
		}),
		flow("issue-next", ".", "", func(t testing.TB) *sweep.Bench {
			l := cluster(t)
			g := l.grant("edit", nil, "default")
			first := g
			first.Lease, first.Handle = "first", "lease-first"
			l.issued(first)
			b := l.issue(g)
			b.Undo = func(ctx context.Context) error {
				return l.driver.Revoke(ctx, l.access, broker.Issued{Handle: g.Handle, Grant: g})
			}
			return b
		}),
		flow("issue-unbound", ".", "bindings|serviceaccounts", func(t testing.TB) *sweep.Bench {
			l := cluster(t)
			g := l.grant("edit", nil, "default")
			l.issued(g)
			l.unbind("rolebindings")
			b := l.issue(g)
			b.Undo = nil
			return b
		}),
		flow("issue-pool", ".", "vimbroker-<vim8>|/api/v1/namespaces ", func(t testing.TB) *sweep.Bench {
			l := cluster(t).prepared()
			return l.issue(l.grant("edit", nil, "default"))
		}),
	)
}

// unbind deletes the bindings of homes by hand.
func (l *swept) unbind(plural string) {
	l.t.Helper()
	for _, path := range l.s.Names(plural, "") {
		namespace, name, found := strings.Cut(path, "/")
		if !found {
			namespace, name = "", path
		}
		if strings.HasPrefix(name, "vimbroker-") {
			l.s.Delete(plural, namespace, name)
		}
	}
}

func TestSweepOfLeases(t *testing.T) {
	issued := func(role string, rules []broker.Rule, namespaces ...string) func(testing.TB) (*swept, broker.Grant, broker.Minted) {
		return func(t testing.TB) (*swept, broker.Grant, broker.Minted) {
			l := cluster(t)
			g := l.grant(role, rules, namespaces...)
			return l, g, l.issued(g)
		}
	}
	view, ruled := issued("view", nil, "default"), issued("", sweptRules, "default", "kube-public")
	kubeSweep(false).Run(t,
		flow("renew", ".", "", func(t testing.TB) *sweep.Bench {
			l, g, _ := view(t)
			return l.renew(g)
		}),
		flow("renew-elsewhere", ".", "none", func(t testing.TB) *sweep.Bench {
			l, g, _ := view(t)
			l.anew(kubernetes.TrialNever)
			return l.renew(g)
		}),
		flow("renew-unbound", ".", "default", func(t testing.TB) *sweep.Bench {
			l, g, _ := ruled(t)
			l.unbind("rolebindings")
			l.unbind("roles")
			return l.renew(g)
		}),
		flow("revoke", "", "", func(t testing.TB) *sweep.Bench {
			l, g, m := view(t)
			return l.revoke(broker.Issued{Handle: g.Handle, Grant: g, UID: m.UID})
		}),
		flow("revoke-lost", "", "", func(t testing.TB) *sweep.Bench {
			l, g, _ := view(t)
			l.anew(kubernetes.TrialNever)
			return l.revoke(broker.Issued{Handle: g.Handle, Grant: g})
		}),
		flow("revoke-listed", "", "", func(t testing.TB) *sweep.Bench {
			l, g, _ := view(t)
			return l.revoke(broker.Issued{Handle: g.Handle})
		}),
		flow("revoke-gone", "", "", func(t testing.TB) *sweep.Bench {
			l, g, m := view(t)
			l.access.Identity = l.s.Identity()
			l.s.Delete("serviceaccounts", homesOf(l.s)[0], g.Handle)
			return l.revoke(broker.Issued{Handle: g.Handle, Grant: g, UID: m.UID})
		}),
		flow("revoke-pool", "", "", func(t testing.TB) *sweep.Bench {
			l := cluster(t).prepared()
			g := l.grant("edit", nil, "default")
			m := l.issued(g)
			l.anew(kubernetes.TrialNever)
			return l.revoke(broker.Issued{Handle: g.Handle, Grant: g, UID: m.UID})
		}),
		flow("dead", "", "", func(t testing.TB) *sweep.Bench {
			l, g, m := view(t)
			l.s.Delete("serviceaccounts", homesOf(l.s)[0], g.Handle)
			l.now.Add(time.Minute)
			return l.bench(func(ctx context.Context) (any, error) { return l.driver.Dead(ctx, l.access, m.Credential) })
		}),
		flow("alive", "", "", func(t testing.TB) *sweep.Bench {
			l, _, m := view(t)
			return l.bench(func(ctx context.Context) (any, error) { return l.driver.Dead(ctx, l.access, m.Credential) })
		}),
	)
}

func TestSweepOfPasses(t *testing.T) {
	leased := func(t testing.TB) (*swept, broker.Grant) {
		l := cluster(t)
		g := l.grant("", sweptRules, "default")
		l.issued(g)
		return l, g
	}
	kubeSweep(false).Run(t,
		flow("inventory", ".", "", func(t testing.TB) *sweep.Bench {
			l, _ := leased(t)
			l.s.Delete("rolebindings", "default", homesOf(l.s)[0])
			return l.bench(func(ctx context.Context) (any, error) {
				found, err := l.driver.Inventory(ctx, l.access)
				return fmt.Sprintf("%+v", found), err
			})
		}),
		flow("tidy", "", "", func(t testing.TB) *sweep.Bench {
			l, g := leased(t)
			return l.bench(func(ctx context.Context) (any, error) { return "", l.driver.Tidy(ctx, l.access, g) })
		}),
		flow("tidy-pool", "", "vimbroker-<vim8>", func(t testing.TB) *sweep.Bench {
			l := cluster(t).prepared()
			g := l.grant("view", nil)
			l.issued(g)
			return l.bench(func(ctx context.Context) (any, error) { return "", l.driver.Tidy(ctx, l.access, g) })
		}),
		flow("forget", ".", "labelSelector|/api/v1/namespaces", func(t testing.TB) *sweep.Bench {
			l, _ := leased(t)
			return l.bench(func(ctx context.Context) (any, error) { return "", l.driver.Forget(ctx, l.access) })
		}),
		flow("foreign", ".", "pods|secrets|bindings.limit", func(t testing.TB) *sweep.Bench {
			l, _ := leased(t)
			home := homesOf(l.s)[0]
			c := l.client()
			_, err := c.CoreV1().Pods(home).Create(t.Context(), &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "mine"}}, metav1.CreateOptions{})
			_, more := c.RbacV1().ClusterRoleBindings().Create(t.Context(), &rbacv1.ClusterRoleBinding{
				ObjectMeta: metav1.ObjectMeta{Name: "more"}, RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "view"},
				Subjects: []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: rbacv1.GroupKind, Name: "system:serviceaccounts:" + home}},
			}, metav1.CreateOptions{})
			if err := errors.Join(err, more); err != nil {
				t.Fatal(err)
			}
			return l.bench(func(ctx context.Context) (any, error) {
				found, err := l.driver.Foreign(ctx, l.access, func(string) bool { return false })
				return strings.Join(found, "; "), err
			})
		}),
	)
}

func TestSweepOfGrades(t *testing.T) {
	grade := func(role string, rules []broker.Rule, namespaces ...string) func(testing.TB) *sweep.Bench {
		return func(t testing.TB) *sweep.Bench {
			l := cluster(t)
			g := l.grant(role, rules, namespaces...)
			return l.bench(func(ctx context.Context) (any, error) {
				found, err := l.driver.Grade(ctx, l.access, g)
				return fmt.Sprintf("%s %q %q", found.Grade, found.Reasons, found.Remedy), err
			})
		}
	}
	foreignRules := []broker.Rule{{APIGroups: []string{"shop.example"}, Resources: []string{"carts"}, Verbs: []string{"get"}}}
	kubeSweep(false).Run(t,
		flow("grade-view", ".", "", grade("view", nil)),
		flow("grade-edit", ".", "", grade("edit", nil, "default")),
		flow("foresee", ".", "", func(t testing.TB) *sweep.Bench {
			l := cluster(t)
			g := l.grant("", foreignRules, "default")
			return l.bench(func(ctx context.Context) (any, error) { return "", l.driver.Foresee(ctx, l.access, g) })
		}),
	)
}

func TestSweepOfAccounts(t *testing.T) {
	// of are the requests about the account itself: the check of its credential is another flow.
	const of = "^POST .*vimbroker-account"
	appointed := func(t testing.TB) *swept {
		l := cluster(t)
		cred, report, err := l.driver.Appoint(t.Context(), l.access, engine)
		if err != nil {
			t.Fatal(err)
		}
		l.access.Credential, l.access.Discovered, l.access.Identity = cred, report.Discovered, report.Identity
		l.tokens = append(l.tokens, cred.Token.Reveal())
		return l
	}
	said := func(c broker.Credential, r broker.Report) string {
		if r.Discovered.Cluster == nil {
			return ""
		}
		return fmt.Sprintf("%s %t %+v", c.Kind, c.Token.Empty(), *r.Discovered.Cluster)
	}
	appoint := func(l *swept, w broker.Account) *sweep.Bench {
		b := l.bench(func(ctx context.Context) (any, error) {
			c, r, err := l.driver.Appoint(ctx, l.access, w)
			l.tokens = append(l.tokens, c.Token.Reveal())
			return said(c, r), err
		})
		b.Undo = func(ctx context.Context) error { return l.driver.Forget(ctx, l.access) }
		return b
	}
	kubeSweep(false).Run(t,
		flow("appoint", "reviews|/version|limit=500$|/namespaces/kube-system$|services.dryRun|engine", of, func(t testing.TB) *sweep.Bench { return appoint(cluster(t), engine) }),
		flow("appoint-less", ".", "none", func(t testing.TB) *sweep.Bench {
			l := appointed(t)
			l.access = l.registered()
			b := appoint(l, broker.Account{Name: engine.Name, Profile: "leases"})
			b.Undo = nil
			return b
		}),
		flow("reappoint", ".", of+"|access", func(t testing.TB) *sweep.Bench {
			l := appointed(t)
			return l.bench(func(ctx context.Context) (any, error) {
				c, r, err := l.driver.Reappoint(ctx, l.access)
				return said(c, r), err
			})
		}),
		flow("dismiss", ".", "vimbroker-account|selfsubjectreviews", func(t testing.TB) *sweep.Bench {
			l := appointed(t)
			return l.bench(func(ctx context.Context) (any, error) { return "", l.driver.Forget(ctx, l.access) })
		}),
		flow("shows", "", "", func(t testing.TB) *sweep.Bench {
			l := appointed(t)
			return l.bench(func(ctx context.Context) (any, error) { return l.driver.Shows(ctx, l.access, sweptVIM) })
		}),
	)
}

func TestSweepOfShelf(t *testing.T) {
	s := broker.Shelved{
		Target: "target", Namespace: "default", Name: "login", Login: "lease", Labels: map[string]string{"more": "yes"},
		Data: map[string]string{"token": "canary-on-the-shelf"},
	}
	shelf := func(shelved bool, do func(*swept) func(context.Context) (any, error)) func(testing.TB) *sweep.Bench {
		return func(t testing.TB) *sweep.Bench {
			l := cluster(t)
			l.access.Identity = l.s.Identity()
			l.tokens = append(l.tokens, "canary-on-the-shelf")
			if shelved {
				before := s
				before.Data = map[string]string{"token": "canary-before"}
				if err := l.driver.Shelve(t.Context(), l.access, before); err != nil {
					t.Fatal(err)
				}
			}
			return l.bench(do(l))
		}
	}
	shelve := func(l *swept) func(context.Context) (any, error) {
		return func(ctx context.Context) (any, error) { return "", l.driver.Shelve(ctx, l.access, s) }
	}
	kubeSweep(false).Run(t,
		flow("shelve", "", "", shelf(false, shelve)),
		flow("shelve-again", "", "", shelf(true, shelve)),
		flow("shelved", "", "", shelf(true, func(l *swept) func(context.Context) (any, error) {
			return func(ctx context.Context) (any, error) {
				all, err := l.driver.Shelved(ctx, l.access, s.Target, s.Namespace)
				return fmt.Sprintf("%+v", all), err
			}
		})),
		flow("unshelve", "", "", shelf(true, func(l *swept) func(context.Context) (any, error) {
			return func(ctx context.Context) (any, error) { return "", l.driver.Unshelve(ctx, l.access, s) }
		})),
	)
}
