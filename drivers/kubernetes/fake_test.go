package kubernetes_test

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	coreclient "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/rest"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/broker/secret"
	"github.com/vimbroker/vimbroker/drivers/kubernetes"
	"github.com/vimbroker/vimbroker/policy/egress"
	"github.com/vimbroker/vimbroker/test/fake"
	"github.com/vimbroker/vimbroker/test/fakekube"
)

// bench is a driver, a fake cluster and a way in.
type bench struct {
	t *testing.T
	s *fakekube.Server
	d *kubernetes.Driver
	a broker.Access
}

func newBench(t *testing.T) *bench {
	t.Helper()
	b := &bench{t: t, s: fakekube.New(t, fakekube.Options{}), d: kubernetes.New(kubernetes.Options{})}
	rules := egress.Default()
	rules.AllowLoopback = true
	target, credential, err := b.d.Normalize(broker.Registration{
		Endpoint: b.s.Endpoint, CACert: b.s.CA, Credential: broker.Credential{Token: secret.NewText(b.s.AdminToken)},
	})
	if err != nil {
		t.Fatal(err)
	}
	b.a = broker.Access{VIM: uuid.NewString(), Generation: 1, Target: target, Credential: credential, Egress: rules}
	return b
}

func (b *bench) grant() broker.Grant {
	b.t.Helper()
	id := uuid.NewString()
	g, err := b.d.Prepare(broker.Grant{Lease: id, Handle: "lease-" + id, TTL: time.Hour, Role: "view", ClusterWide: true, Epoch: 1})
	if err != nil {
		b.t.Fatal(err)
	}
	return g
}

func (b *bench) issue() (broker.Grant, broker.Minted) {
	b.t.Helper()
	g := b.grant()
	m, err := b.d.Issue(b.t.Context(), b.a, g)
	if err != nil {
		b.t.Fatal(err)
	}
	return g, m
}

// ours lists the accounts of leases.
func (b *bench) ours() []string { return accountsIn(b.s) }

func (b *bench) fail(f fake.Fault) {
	b.t.Helper()
	b.s.Fail(f)
}

// clean fails the test if an error repeats what the server made up, or the credential.
func (b *bench) clean(what string, err error) {
	b.t.Helper()
	for e := err; e != nil; e = errors.Unwrap(e) {
		text := fmt.Sprintf("%v %+v %#v", e, e, e)
		var own *broker.Error
		if errors.As(e, &own) && own.Cause != nil {
			text += fmt.Sprintf("%v %+v %#v", own.Cause, own.Cause, own.Cause)
		}
		if strings.Contains(text, fake.Canary) || strings.Contains(text, b.s.AdminToken) {
			b.t.Errorf("%s: the error repeats a remote answer or a credential", what)
		}
	}
}

// calls are the driver's methods on one lease.
func (b *bench) calls(g broker.Grant, m broker.Minted) map[string]func() error {
	ctx := b.t.Context()
	return map[string]func() error{
		"Check":     func() error { _, err := b.d.Check(ctx, b.a); return err },
		"Issue":     func() error { _, err := b.d.Issue(ctx, b.a, b.grant()); return err },
		"Renew":     func() error { _, err := b.d.Renew(ctx, b.a, g); return err },
		"Revoke":    func() error { return b.d.Revoke(ctx, b.a, issued(g, m)) },
		"Inventory": func() error { _, err := b.d.Inventory(ctx, b.a); return err },
		"Forget":    func() error { return b.d.Forget(ctx, b.a) },
		"Dead": func() error {
			dead, err := b.d.Dead(ctx, b.a, m.Credential)
			if dead {
				b.t.Error("dead, by an answer that says nothing of it")
			}
			return err
		},
	}
}

func TestStrangeAnswersAreUnreachable(t *testing.T) {
	for name, f := range map[string]fake.Fault{
		"a page with 404":     {Kind: fake.HTML},
		"a page with 502":     {Kind: fake.HTML, Status: 502},
		"64 MiB":              {Kind: fake.Huge},
		"a redirect to self":  {Kind: fake.Redirect},
		"a broken connection": {Kind: fake.Drop},
		"429":                 {Kind: fake.Refuse, Status: 429, RetryAfter: time.Minute},
		"500":                 {Kind: fake.Refuse, Status: 500},
		"503":                 {Kind: fake.Refuse, Status: 503, RetryAfter: time.Minute},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			g, m := b.issue()
			f.Times = -1
			b.fail(f)
			for method, call := range b.calls(g, m) {
				err := call()
				if !errors.Is(err, broker.ErrUnreachable) {
					t.Errorf("%s: %v, want %v", method, err, broker.ErrUnreachable)
				}
				b.clean(method, err)
			}
			b.s.Heal()
			if got := len(b.ours()); got != 1 {
				t.Errorf("%d leases upstream, want the one that could not be revoked", got)
			}
		})
	}
}

func TestRefusalsKeepTheirKind(t *testing.T) {
	for status, want := range map[int]error{401: broker.ErrUnauthorized, 403: broker.ErrForbidden} {
		b := newBench(t)
		g, m := b.issue()
		b.fail(fake.Fault{Path: "/(secrets|serviceaccounts|clusterroles|namespaces)", Kind: fake.Refuse, Status: status, Times: -1})
		for method, call := range b.calls(g, m) {
			if method == "Dead" {
				continue // asks for none of these
			}
			err := call()
			if !errors.Is(err, want) {
				t.Errorf("%s answered %d: %v, want %v", method, status, err, want)
			}
			b.clean(method, err)
		}
	}
}

// TestOnlyAParsedNotFoundCountsAsRevoked is the fault of peers for whom any 404 or
// 400 was a success.
func TestOnlyAParsedNotFoundCountsAsRevoked(t *testing.T) {
	for _, status := range []int{400, 404, 405, 409, 410, 422} {
		b := newBench(t)
		g, m := b.issue()
		for method, i := range map[string]broker.Issued{http.MethodGet: {Handle: g.Handle, Grant: g}, http.MethodDelete: issued(g, m)} {
			b.fail(fake.Fault{Method: method, Path: "/serviceaccounts/", Kind: fake.Refuse, Status: status})
			err := b.d.Revoke(t.Context(), b.a, i)
			if err == nil {
				t.Errorf("%s answered %d, and Revoke says done", method, status)
			}
			b.clean("Revoke", err)
			if _, err := b.d.Renew(t.Context(), b.a, g); err != nil {
				t.Fatalf("the lease is gone: %v", err)
			}
		}
		b.fail(fake.Fault{Method: http.MethodGet, Path: "/serviceaccounts/", Kind: fake.Refuse, Status: 404})
		if _, err := b.d.Renew(t.Context(), b.a, g); errors.Is(err, broker.ErrNotFound) || err == nil {
			t.Errorf("Renew took any 404 for the end of the lease: %v", err)
		}
	}
}

// TestLostAnswers: the request took effect, and nobody heard.
func TestLostAnswers(t *testing.T) {
	for name, path := range map[string]string{"token": "/token$", "account": "/serviceaccounts$", "binding": "/clusterrolebindings$", "namespace": "^/api/v1/namespaces$"} {
		b := newBench(t)
		g := b.grant()
		b.fail(fake.Fault{Method: http.MethodPost, Path: path, Kind: fake.Drop, Late: true})
		if _, err := b.d.Issue(t.Context(), b.a, g); !errors.Is(err, broker.ErrUnreachable) {
			t.Errorf("lost answer about the %s: %v, want %v", name, err, broker.ErrUnreachable)
		}
		if _, err := b.d.Issue(t.Context(), b.a, g); err != nil {
			t.Errorf("again after a lost answer about the %s: %v", name, err)
		}
		if got := len(b.ours()); got != 1 {
			t.Errorf("%d leases upstream after a lost answer about the %s, want 1", got, name)
		}
		b.fail(fake.Fault{Method: http.MethodDelete, Path: "/serviceaccounts/", Kind: fake.Drop, Late: true})
		_ = b.d.Revoke(t.Context(), b.a, broker.Issued{Handle: g.Handle, Grant: g})
		if err := b.d.Revoke(t.Context(), b.a, broker.Issued{Handle: g.Handle, Grant: g}); err != nil {
			t.Errorf("Revoke again after its answer was lost: %v", err)
		}
		if got := b.ours(); len(got) > 0 {
			t.Errorf("left upstream: %v", got)
		}
	}
}

// TestTokenOfAStrangersAccountIsNotHandedOut: the account is replaced between the two calls.
func TestTokenOfAStrangersAccountIsNotHandedOut(t *testing.T) {
	b := newBench(t)
	b.issue()
	g := b.grant()
	b.s.After(http.MethodPost, "/serviceaccounts$", func() {
		b.s.Update("serviceaccounts", homesOf(b.s)[0], g.Handle, func(o metav1.Object) {
			o.SetUID(types.UID(uuid.NewString()))
			o.SetLabels(nil)
		})
	})
	if m, err := b.d.Issue(t.Context(), b.a, g); !errors.Is(err, broker.ErrConflict) || !m.Credential.Empty() {
		t.Errorf("Issue: %v, want %v", err, broker.ErrConflict)
	}
}

func TestCheckSeesAnotherCluster(t *testing.T) {
	b := newBench(t)
	before, err := b.d.Check(t.Context(), b.a)
	if err != nil {
		t.Fatal(err)
	}
	other := b.s.ChangeIdentity()
	after, err := b.d.Check(t.Context(), b.a)
	if err != nil || after.Identity != other || after.Identity == before.Identity {
		t.Errorf("identity was %s, is %s, want %s (%v)", before.Identity, after.Identity, other, err)
	}
}

func TestInventoryReadsEveryPage(t *testing.T) {
	const n = 1203
	b := newBench(t)
	b.issue()
	core, err := coreclient.NewForConfig(&rest.Config{
		Host: b.s.Endpoint, BearerToken: b.s.AdminToken, QPS: -1, TLSClientConfig: rest.TLSClientConfig{CAData: []byte(b.s.CA)},
	})
	if err != nil {
		t.Fatal(err)
	}
	for i := 1; i < n; i++ {
		_, err := core.ServiceAccounts(homesOf(b.s)[0]).Create(t.Context(), &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{
			Name: fmt.Sprintf("lease-%d", i), Labels: map[string]string{"vimbroker.io/vim": b.a.VIM, "vimbroker.io/lease": fmt.Sprint(i)},
		}}, metav1.CreateOptions{})
		if err != nil {
			t.Fatal(err)
		}
	}
	found, err := b.d.Inventory(t.Context(), b.a)
	if err != nil {
		t.Fatal(err)
	}
	handles := map[string]bool{}
	for _, u := range found {
		handles[u.Handle] = true
	}
	if len(found) != n || len(handles) != n {
		t.Errorf("Inventory lists %d, %d of them different, want %d", len(found), len(handles), n)
	}
	// Half a list is worse than none: what it leaves out would be taken for gone.
	b.s.After(http.MethodGet, "/serviceaccounts$", func() { b.s.FailNext(http.MethodGet, "/serviceaccounts$", 503, 1) })
	if found, err := b.d.Inventory(t.Context(), b.a); !errors.Is(err, broker.ErrUnreachable) || found != nil {
		t.Errorf("Inventory whose second page fails = %d, %v, want none and %v", len(found), err, broker.ErrUnreachable)
	}
}
