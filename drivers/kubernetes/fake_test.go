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
