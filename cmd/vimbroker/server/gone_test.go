package server

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/vimbroker/vimbroker/broker/oauth"
	"github.com/vimbroker/vimbroker/broker/trust"
	"github.com/vimbroker/vimbroker/lifecycle"
	"github.com/vimbroker/vimbroker/policy"
	"github.com/vimbroker/vimbroker/policy/audit"
	"github.com/vimbroker/vimbroker/test/issuer"
)

// The table of docs/callers.md, kind by kind, at a server's own directories: what a step rests on once the caller is
// gone, for how long that counts, what ends it before, and that the audit log and an operation say so.
func TestWorkGoesOnForACallerWhoIsGone(t *testing.T) {
	b, more := newTrusting(t), issuer.New(t)
	certified := func(name string, rules ...trust.Mapping) trust.Authority {
		return trust.Authority{Name: name, Certificates: &trust.Certificates{CA: string(newPKI(t).PEM)}, Principals: rules}
	}
	rule := trust.Mapping{Match: map[string]string{"sub": "x"}, Project: "core", Roles: []string{"member"}}
	admin := policy.Principal{Name: "admin", Project: "default", Roles: []string{policy.RoleAdmin}}
	b.trust.Mutual = true
	for _, a := range []trust.Authority{
		{Name: "more", Issuer: more.URL, Keys: string(more.JWKS()), Hold: 2 * time.Hour, Principals: []trust.Mapping{rule}},
		{Name: "hub", VIM: "core/hub-1", Principals: []trust.Mapping{rule}},
		certified("mesh", rule),
	} {
		if _, err := b.trust.Create(t.Context(), admin, a); err != nil {
			t.Fatal(err)
		}
	}
	client, _, err := b.clients.Create(t.Context(), admin, oauth.NewClient{Name: "north", Project: "core", Roles: []string{"member"}})
	if err != nil {
		t.Fatal(err)
	}
	now := b.store.Now().Truncate(time.Second)
	drop := func(name string) func() error {
		return func() error { return b.trust.Delete(t.Context(), admin, name) }
	}
	const hour = "the roles of the request count until "
	until := func(d time.Duration) string { return hour + now.Add(d).UTC().Format(time.RFC3339) }
	for what, c := range map[string]struct {
		name    string
		project string
		warrant string
		hold    time.Duration // zero: as long as the directory has the caller
		gone    func() error  // nil: nothing ends it before
	}{
		"static token": {"admin", "default", "the tokens file is asked for the roles before each step", 0, func() error {
			none := b.live.started
			none.tokens, _ = policy.NewStaticTokens(nil)
			b.live.now.Store(&none)
			return nil
		}},
		"Keystone": {"keystone:u1@default", "core", until(time.Hour), time.Hour, nil},
		"OIDC":     {"oidc:more:x", "core", until(2*time.Hour) + " while more is in the table of trust", 2 * time.Hour, drop("more")},
		"k8s":      {"k8s:hub:jobs:runner", "core", until(time.Hour) + " while hub is in the table of trust", time.Hour, drop("hub")},
		"certificate": {
			"cert:mesh:spiffe://acme/x", "core", until(time.Hour) + " while mesh is in the table of trust", time.Hour, drop("mesh"),
		},
		"client": {client.Principal().Name, "core", "the client's row is asked for the roles before each step", 0, func() error {
			return b.clients.Delete(t.Context(), admin, client.ID)
		}},
	} {
		t.Run(what, func(t *testing.T) {
			asked := policy.Delegation{Name: c.name, Project: c.project, Roles: []string{"member"}, At: now}
			after := func(d time.Duration) (policy.Principal, error) {
				delegates := *b.delegates()
				delegates.Now = func() time.Time { return now.Add(d) }
				return delegates.Resume(context.Background(), lifecycle.Actor, asked)
			}
			p, err := after(time.Minute)
			if err != nil || p.Warrant != c.warrant || b.delegates().Warrant(asked) != c.warrant {
				t.Fatalf("a minute later = %+v, %v, want the warrant %q", p, err, c.warrant)
			}
			act := b.broker.Guard().Record(t.Context(), p, policy.VNFScale, policy.Resource{Kind: policy.KindProject, ID: c.project})
			if got := act.Done().Detail[audit.DetailWarrant]; got != c.warrant {
				t.Errorf("an audit entry has the warrant %q", got)
			}
			if c.hold > 0 {
				if _, err := after(c.hold - time.Second); err != nil {
					t.Errorf("before its time has come: %v", err)
				}
				if _, err := after(c.hold); !errors.Is(err, policy.ErrDelegationEnded) {
					t.Errorf("after %v: %v, want ErrDelegationEnded", c.hold, err)
				}
			} else if _, err := after(1000 * time.Hour); err != nil {
				t.Errorf("weeks later: %v", err)
			}
			if c.gone == nil {
				return
			}
			if err := c.gone(); err != nil {
				t.Fatal(err)
			}
			if _, err := after(time.Minute); !errors.Is(err, policy.ErrDelegationEnded) {
				t.Errorf("once it is gone: %v, want ErrDelegationEnded", err)
			}
		})
	}
}
