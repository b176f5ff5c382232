package kubernetes_test

import (
	"context"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	clientset "k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/broker/secret"
	"github.com/vimbroker/vimbroker/drivers/kubernetes"
	"github.com/vimbroker/vimbroker/policy/egress"
	"github.com/vimbroker/vimbroker/test/clock"
	"github.com/vimbroker/vimbroker/test/fake"
	"github.com/vimbroker/vimbroker/test/fakekube"
)

// lab is a driver, a fake cluster and the access to it, on one clock.
type lab struct {
	*fakekube.Server
	t      *testing.T
	clock  *clock.Clock
	driver *kubernetes.Driver
	access broker.Access
}

// newLab is a lab without TLS, which costs too much to be shown in each test.
func newLab(t *testing.T) *lab { return newLabOn(t, fakekube.Options{Plain: true}) }

// newTLSLab is one with TLS, where a test is about certificates or connections.
func newTLSLab(t *testing.T) *lab { return newLabOn(t, fakekube.Options{}) }

func newLabOn(t *testing.T, o fakekube.Options) *lab {
	t.Helper()
	now := clock.New(time.Now())
	o.Now = now.Now
	s := fakekube.New(t, o)
	l := &lab{Server: s, t: t, clock: now, driver: kubernetes.New(kubernetes.Options{Now: now.Now})}
	t.Cleanup(l.driver.Close)
	l.access = l.as(broker.Credential{Token: secret.NewText(s.AdminToken)})
	return l
}

// as is an access to the lab's cluster under a new VIM id.
func (l *lab) as(c broker.Credential) broker.Access {
	l.t.Helper()
	if l.Plain {
		a := accessTo(l.t, broker.Registration{Endpoint: "https://localhost", Credential: c})
		a.Target.Endpoint = l.Endpoint
		return a
	}
	return accessTo(l.t, broker.Registration{Endpoint: l.Endpoint, CACert: l.CA, Credential: c})
}

func accessTo(t testing.TB, r broker.Registration) broker.Access {
	t.Helper()
	target, credential := normalize(t, r)
	rules := egress.Default()
	rules.AllowLoopback = true
	return broker.Access{VIM: uuid.NewString(), Generation: 1, Target: target, Credential: credential, Egress: rules}
}

// grant is a new lease of an hour, prepared.
func (l *lab) grant(role string, namespaces ...string) broker.Grant {
	l.t.Helper()
	id := uuid.NewString()
	g, err := l.driver.Prepare(broker.Grant{
		Lease: id, Handle: "lease-" + id, TTL: time.Hour, Role: role, Namespaces: namespaces, ClusterWide: len(namespaces) == 0, Epoch: 1,
	})
	if err != nil {
		l.t.Fatalf("Prepare: %v", err)
	}
	return g
}

// home is the one namespace of ours on the cluster.
func (l *lab) home() string {
	l.t.Helper()
	homes := homesOf(l.Server)
	if len(homes) != 1 {
		l.t.Fatalf("namespaces of ours: %q, want one", homes)
	}
	return homes[0]
}

func homesOf(s *fakekube.Server) []string {
	return slices.DeleteFunc(s.Names("namespaces", ""), func(n string) bool { return !strings.HasPrefix(n, "vimbroker-") })
}

// accountsIn lists the accounts of leases in our namespaces.
func accountsIn(s *fakekube.Server) []string {
	return slices.DeleteFunc(s.Names("serviceaccounts", ""), func(n string) bool { return !strings.Contains(n, "/lease-") })
}

// issued is a lease as the broker has it.
func issued(g broker.Grant, m broker.Minted) broker.Issued {
	return broker.Issued{Handle: g.Handle, UID: m.UID, Grant: g}
}

// nothing is a list without items, of the kind that was asked for.
func nothing(w http.ResponseWriter, r *http.Request) {
	kind, version := "ConfigMapList", "v1"
	if strings.Contains(r.URL.Path, "/rbac") {
		version = "rbac.authorization.k8s.io/v1"
	}
	for plural, k := range map[string]string{
		"/serviceaccounts": "ServiceAccountList", "/clusterrolebindings": "ClusterRoleBindingList",
		"/rolebindings": "RoleBindingList", "/clusterroles": "ClusterRoleList", "/roles": "RoleList",
	} {
		if strings.HasSuffix(r.URL.Path, plural) {
			kind = k
		}
	}
	w.Header().Set("Content-Type", "application/json")
	fmt.Fprintf(w, `{"kind":%q,"apiVersion":%q,"metadata":{"resourceVersion":"1"},"items":[]}`, kind, version)
}

func (l *lab) issue(g broker.Grant) broker.Minted {
	l.t.Helper()
	m, err := l.driver.Issue(l.t.Context(), l.access, g)
	if err != nil {
		l.t.Fatalf("Issue: %v", err)
	}
	return m
}

// fail arms a fault for every request until Heal.
func (l *lab) fail(f fake.Fault) {
	l.t.Helper()
	f.Times = -1
	l.Fail(f)
}

// serve starts a TLS server of the test's own and returns an access to it.
func serve(t *testing.T, h http.Handler) (*httptest.Server, broker.Access) {
	t.Helper()
	s := quiet(httptest.NewUnstartedServer(h))
	s.EnableHTTP2 = true
	s.StartTLS()
	t.Cleanup(s.Close)
	return s, accessTo(t, broker.Registration{
		Endpoint: s.URL, CACert: certificateOf(s), Credential: broker.Credential{Token: secret.NewText(canary)},
	})
}

// quiet keeps a server from telling what its clients do to it.
func quiet(s *httptest.Server) *httptest.Server {
	s.Config.ErrorLog = log.New(io.Discard, "", 0)
	return s
}

func certificateOf(s *httptest.Server) string {
	return string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.Certificate().Raw}))
}

// want demands an error of that kind, in our own words.
func want(t *testing.T, what string, err, kind error) {
	t.Helper()
	var e *broker.Error
	if !errors.Is(err, kind) || !errors.As(err, &e) {
		t.Errorf("%s: %v, want %v", what, err, kind)
		return
	}
	for _, text := range []string{err.Error(), causeOf(e)} {
		if strings.Contains(text, fake.Canary) || strings.Contains(text, canary) {
			t.Errorf("%s: the error repeats the answer or the credential: %s", what, text)
		}
	}
}

func causeOf(e *broker.Error) string {
	if e.Cause == nil {
		return ""
	}
	return e.Cause.Error()
}

// within bounds a test that would otherwise wait for a server.
func within(t *testing.T, d time.Duration) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), d)
	t.Cleanup(cancel)
	return ctx
}

// client is a client of the cluster's administrator.
func (l *lab) client() clientset.Interface {
	l.t.Helper()
	c, err := clientset.NewForConfig(&rest.Config{Host: l.Endpoint, BearerToken: l.AdminToken, TLSClientConfig: rest.TLSClientConfig{CAData: []byte(l.CA)}})
	if err != nil {
		l.t.Fatal(err)
	}
	return c
}
