package broker_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/broker/secret"
	"github.com/vimbroker/vimbroker/policy/audit"
	"github.com/vimbroker/vimbroker/test/fake"
)

// use makes a request with a leased token, so that the API server caches it as good.
func (b *bench) use(token secret.Text) {
	b.t.Helper()
	clients, err := kubernetes.NewForConfig(&rest.Config{
		Host: b.kube.Endpoint, BearerToken: token.Reveal(), TLSClientConfig: rest.TLSClientConfig{CAData: []byte(b.kube.CA)},
	})
	if err != nil {
		b.t.Fatal(err)
	}
	if _, err := clients.Discovery().ServerVersion(); err != nil {
		b.t.Fatalf("using the leased token: %v", err)
	}
}

// mustRevoke revokes a lease at once.
func (b *bench) mustRevoke(id string) {
	b.t.Helper()
	if l, err := b.RevokeLease(b.t.Context(), alice, id); err != nil || l.State != broker.LeaseRevoked {
		b.t.Fatalf("RevokeLease() = %s, %v, want revoked", l.State, err)
	}
}

// wantUnconfirmed fails if a lease's death is confirmed, or what it takes to try
// the credential again is dropped.
func (b *bench) wantUnconfirmed(when, id string) {
	b.t.Helper()
	if row := b.row(id); !row.ConfirmedDeadAt.IsZero() || row.Sealed == "" {
		b.t.Errorf("%s the lease is confirmed dead at %v, sealed copy kept: %v; want it unconfirmed and kept", when, row.ConfirmedDeadAt, row.Sealed != "")
	}
}

const whoAmI = "/selfsubjectreviews$"

// Only a credential that was tried and refused is confirmed dead.
func TestACredentialThatCouldNotBeTriedIsNotConfirmedDead(t *testing.T) {
	for name, f := range map[string]fake.Fault{
		"the connection breaks":    {Kind: fake.Drop},
		"403":                      {Kind: fake.Refuse, Status: 403},
		"404":                      {Kind: fake.Refuse, Status: 404},
		"500":                      {Kind: fake.Refuse, Status: 500},
		"a page with 401":          {Kind: fake.HTML, Status: 401},
		"a page with 403":          {Kind: fake.HTML, Status: 403},
		"a page with 404":          {Kind: fake.HTML, Status: 404},
		"a redirect":               {Kind: fake.Redirect},
		"the limit is reached":     {Kind: fake.Refuse, Status: 429},
		"the answer has no ending": {Kind: fake.Huge},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, benchOptions{})
			b.mustRegister(alice, "edge1")
			l, _ := b.mustIssue(alice, "edge1")
			b.mustRevoke(l.ID)
			f.Method, f.Path, f.Times = http.MethodPost, whoAmI, -1
			b.kube.Fail(f)
			b.clock.Add(3 * time.Second)
			_ = b.Reap(t.Context())
			b.wantUnconfirmed("after a pass that could not try it", l.ID)
			b.kube.Heal()
			b.clock.Add(10 * time.Minute)
			if err := b.CheckDue(t.Context()); err != nil {
				t.Fatal(err)
			}
			b.mustReap()
			if b.row(l.ID).ConfirmedDeadAt.IsZero() {
				t.Error("the lease is not confirmed dead although the credential can be tried again")
			}
		})
	}
}

// An API server honours a token that it has just seen for a while after its account
// is gone. Until that ends the lease is not confirmed dead; past the published lag
// it is not revoked but irrevocable, and an alarm.
func TestACredentialThatStillWorksIsNotConfirmedDead(t *testing.T) {
	const alarm = "still works after its published lag"
	b := newBench(t, benchOptions{lag: 40 * time.Second})
	b.mustRegister(alice, "edge1")
	l, token := b.mustIssue(alice, "edge1")
	b.use(token)
	b.mustRevoke(l.ID)
	b.clock.Add(11 * time.Second)
	b.mustReap()
	b.wantUnconfirmed("while the token works", l.ID)
	if strings.Contains(b.log.String(), alarm) {
		t.Error("there is an alarm within the published lag")
	}
	b.clock.Add(10 * time.Second)
	b.mustReap()
	b.wantUnconfirmed("past the published lag, while the token works", l.ID)
	if !strings.Contains(b.log.String(), alarm) || b.Vitals(t.Context()).Alarms[broker.AlarmStillWorks] != 1 {
		t.Errorf("alarms = %v for a token that works past its published lag, want one that is logged and counted", b.Vitals(t.Context()).Alarms)
	}
	if row := b.row(l.ID); row.State != broker.LeaseIrrevocable || !strings.Contains(row.LastError, alarm) || row.RevokedAt.IsZero() {
		t.Errorf("the lease is %s (%q), want irrevocable with the reason", row.State, row.LastError)
	}
	found, err := b.Entries(t.Context(), root, audit.Query{Resource: l.ID, Limit: 1})
	if err != nil || len(found) != 1 || found[0].Outcome != audit.Failed || found[0].Detail[audit.DetailError] != string(broker.AlarmStillWorks) {
		t.Errorf("the last audit entry of the lease = %+v, %v; want the alarm", found, err)
	}
	b.mustReap() // which has nothing more to do for it
	if n := b.Vitals(t.Context()).Alarms[broker.AlarmStillWorks]; n != 1 {
		t.Errorf("%d alarms after the next pass, want 1", n)
	}
	b.clock.Add(20 * time.Second)
	b.mustRevoke(l.ID)
	b.clock.Add(3 * time.Second)
	b.mustReap()
	if b.row(l.ID).ConfirmedDeadAt.IsZero() {
		t.Error("the lease is not confirmed dead although its token is refused")
	}
}

// Clocks differ, and API servers allow for that: at its expiry a token may still work.
func TestAnExpiredCredentialIsTakenForDeadOnlyWellPastItsExpiry(t *testing.T) {
	b := newBench(t, benchOptions{})
	b.mustRegister(alice, "edge1")
	l, _ := b.mustIssue(alice, "edge1")
	b.clock.Add(59 * time.Minute)
	b.kube.Fail(fake.Fault{Method: http.MethodPost, Path: whoAmI, Kind: fake.Refuse, Status: 500, Times: -1}) // it cannot be tried
	for _, past := range []time.Duration{30 * time.Second, time.Minute, 119 * time.Second} {
		b.clock.Add(l.ExpiresAt.Add(past).Sub(b.clock.Now()))
		_ = b.Reap(t.Context())
		b.clock.Add(3 * time.Second)
		if b.clock.Now().Before(l.ExpiresAt.Add(2 * time.Minute)) {
			_ = b.Reap(t.Context())
		}
		b.wantUnconfirmed(past.String()+" after its expiry", l.ID)
	}
	b.kube.Heal()
	b.clock.Add(5 * time.Minute)
	b.mustReap()
	if b.row(l.ID).ConfirmedDeadAt.IsZero() {
		t.Error("the lease is not taken for dead two minutes after its expiry")
	}
}
