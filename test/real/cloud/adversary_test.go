package cloud_test

import (
	"crypto/sha256"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/drivers/openstack"
	"github.com/vimbroker/vimbroker/policy"
	"github.com/vimbroker/vimbroker/policy/audit"
	"github.com/vimbroker/vimbroker/test/clock"
	"github.com/vimbroker/vimbroker/test/real"
)

// adversary holds a lease and plants what outlives it.
type adversary struct {
	t     *testing.T
	o     *real.Cloud
	who   real.Tenant
	token string
}

// made is the id of what was planted; empty where Keystone refused.
func (a adversary) made(path, kind string, body any) string {
	a.t.Helper()
	var out map[string]struct{ ID string }
	if status := a.o.As(a.t, a.token, http.MethodPost, a.o.AuthURL+path, body, &out); status != http.StatusOK {
		return ""
	}
	return out[kind].ID
}

// keys is the id of EC2 keys that were made for the user's project, which Keystone keeps by the
// digest of their name; empty where it refused.
func (a adversary) keys() string {
	a.t.Helper()
	var out struct{ Credential struct{ Access string } }
	url := a.o.AuthURL + "/users/" + a.who.UserID + "/credentials/OS-EC2"
	if status := a.o.As(a.t, a.token, http.MethodPost, url, map[string]any{"tenant_id": a.who.ProjectID}, &out); status != http.StatusOK {
		return ""
	}
	return fmt.Sprintf("%x", sha256.Sum256([]byte(out.Credential.Access)))
}

// plant tries everything that a holder can make at Keystone, and returns the ids of what
// there is then, by kind.
func (a adversary) plant(trustee string, role string) map[string]string {
	a.t.Helper()
	type object = map[string]any
	user := "/users/" + a.who.UserID
	all := map[string]string{
		"application credential": a.made(user+"/application_credentials", "application_credential", object{
			"application_credential": object{"name": uuid.NewString(), "unrestricted": true},
		}),
		"trust": a.made("/OS-TRUST/trusts", "trust", object{"trust": object{
			"trustor_user_id": a.who.UserID, "trustee_user_id": trustee, "project_id": a.who.ProjectID, "impersonation": true, "roles": []object{{"name": role}},
		}}),
		"EC2 credential": a.made("/credentials", "credential", object{"credential": object{
			"type": "ec2", "user_id": a.who.UserID, "project_id": a.who.ProjectID, "blob": fmt.Sprintf(`{"access":%q,"secret":%q}`, uuid.NewString(), uuid.NewString()),
		}}),
		"TOTP credential": a.made("/credentials", "credential", object{"credential": object{
			"type": "totp", "user_id": a.who.UserID, "blob": "GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ",
		}}),
	}
	if all["EC2 credential"] == "" { // the older way may still be there
		all["EC2 credential"] = a.keys()
	}
	for kind, id := range all {
		if id == "" {
			delete(all, kind)
		}
	}
	return all
}

// there are the kinds of what was planted that the user still has.
func (a adversary) there(planted map[string]string) []string {
	a.t.Helper()
	token := a.o.Token(a.t, a.who)
	paths := map[string]string{
		"application credential": "/users/" + a.who.UserID + "/application_credentials/", "trust": "/OS-TRUST/trusts/",
		"EC2 credential": "/credentials/", "TOTP credential": "/credentials/",
	}
	var kinds []string
	for kind, id := range planted {
		if a.o.As(a.t, token, http.MethodGet, a.o.AuthURL+paths[kind]+id, nil, nil) == http.StatusOK {
			kinds = append(kinds, kind)
		}
	}
	slices.Sort(kinds)
	return kinds
}

// What a holder plants on a real cloud of each kind: a lease that is called bounded
// leaves nothing behind, and what another leaves is found when it is revoked, stands on
// the lease and in the audit log, and is removed where that is asked for.
func TestAnAdversaryOnOpenStack(t *testing.T) {
	for _, trusts := range []bool{false, true} {
		o := cloud(t, trusts)
		for _, purpose := range []string{"", openstack.Heat} {
			for _, remove := range []bool{false, true} {
				t.Run(fmt.Sprintf("trusts %v, purpose %q, remove %v", trusts, purpose, remove), func(t *testing.T) {
					who := o.Project(t, "member", "creator")
					b := newBroker(t, func(options *broker.Options) {
						options.Terms.RemoveLeft = remove
						options.Drivers = []broker.Driver{openstack.New(openstack.Options{StackTrustees: []string{"nobody-in-particular"}})}
					})
					if _, err := b.RegisterVIM(t.Context(), admin, registration(o.TLS(t), who)); err != nil {
						t.Fatal(err)
					}
					l, config, err := b.IssueLease(t.Context(), admin, broker.LeaseRequest{VIM: "core", TTL: time.Hour, Purpose: purpose})
					if err != nil {
						t.Fatal(err)
					}
					want := broker.GradeUnbounded
					if !trusts && purpose == "" {
						want = broker.GradeBounded
					}
					if l.Grade != want || (l.Grade == broker.GradeBounded) != (len(l.GradeReasons) == 0) {
						t.Errorf("the lease is %s because of %q, want %s", l.Grade, l.GradeReasons, want)
					}
					a := adversary{t, o, who, tokenOfLease(t, o, config.Credential)}
					planted := a.plant(o.Colleague(t, who).UserID, "creator")
					if l, err = b.RevokeLease(t.Context(), admin, l.ID); err != nil || l.State != broker.LeaseRevoked {
						t.Fatalf("RevokeLease() = %s, %v", l.State, err)
					}
					t.Logf("%s: planted %v", l.Grade, slices.Sorted(maps.Keys(planted)))
					if (l.Grade == broker.GradeBounded) != (len(planted) == 0) || len(l.LeftBehind) != len(planted) {
						t.Errorf("the lease is %s, planted are %v, left behind %q", l.Grade, planted, l.LeftBehind)
					}
					recorded := a.recorded(b)
					for kind, id := range planted {
						if what := kind + " " + id; !strings.Contains(strings.Join(l.LeftBehind, "\n"), what) || !strings.Contains(recorded, what) {
							t.Errorf("%s is not on the lease, which says %q, or not in the audit log, which says %q", what, l.LeftBehind, recorded)
						}
					}
					if now := a.there(planted); remove && len(now) > 0 || !remove && len(now) != len(planted) {
						t.Errorf("after the revocation %q are there, of %v", now, planted)
					}
				})
			}
		}
	}
}

// recorded is what the audit log says was left behind.
func (a adversary) recorded(b *broker.Broker) string {
	a.t.Helper()
	entries, err := b.Entries(a.t.Context(), admin, audit.Query{Limit: 100})
	if err != nil {
		a.t.Fatal(err)
	}
	var left []string
	for _, e := range entries {
		if e.Action == policy.LeaseRevoke {
			left = append(left, e.Detail[audit.DetailLeft])
		}
	}
	return strings.Join(left, "\n")
}

// A lease that is a project token ends at its ttl, long before Keystone would end the token.
func TestAProjectTokenEndsWithItsLease(t *testing.T) {
	o := real.OpenStack(t)
	who, now := o.Project(t), clock.New(time.Now())
	b := newBroker(t, func(options *broker.Options) { options.Now = now.Now })
	if _, err := b.RegisterVIM(t.Context(), admin, registration(o.TLS(t), who)); err != nil {
		t.Fatal(err)
	}
	l, config, err := b.IssueLease(t.Context(), admin, broker.LeaseRequest{VIM: "core", TTL: 2 * time.Minute, Purpose: openstack.Heat})
	if err != nil || l.CredentialKind != broker.CredentialProjectToken || l.CredentialEndsAt.Sub(l.ExpiresAt) < 30*time.Minute {
		t.Fatalf("IssueLease() = a %s until %v, its token until %v, %v", l.CredentialKind, l.ExpiresAt, l.CredentialEndsAt, err)
	}
	works := func() bool {
		return o.As(t, config.Token.Reveal(), http.MethodGet, o.AuthURL+"/auth/projects", nil, nil) == http.StatusOK
	}
	before := works()
	now.Add(2 * time.Minute)
	if err := b.Reap(t.Context()); err != nil {
		t.Fatal(err)
	}
	if l, err = b.Lease(t.Context(), admin, l.ID); err != nil || l.State != broker.LeaseRevoked || !before || works() {
		t.Errorf("when its time is up the lease is %s, %v; its token works %v, and did %v", l.State, err, works(), before)
	}
}

// What registering, issuing and revoking ask a real Keystone. The answer to a
// registration does not wait for the deletion of its probe.
func TestRequestsToKeystone(t *testing.T) {
	const post, get, del = http.MethodPost, http.MethodGet, http.MethodDelete
	for _, trusts := range []bool{false, true} {
		o := cloud(t, trusts)
		behind, who := o.TLS(t), o.Project(t)
		driver := openstack.New(openstack.Options{})
		b := newBroker(t, func(options *broker.Options) { options.Drivers = []broker.Driver{driver} })
		if _, err := b.RegisterVIM(t.Context(), admin, registration(behind, who)); err != nil {
			t.Fatal(err)
		}
		driver.Wait()
		if got := behind.Asked(); len(slices.DeleteFunc(slices.Clone(got), func(method string) bool { return method == del })) > 10 || len(got) > 11 {
			t.Errorf("registering asks %q, want at most four, six questions, and the deletion of what was tried", got)
		} else {
			t.Logf("registering asks %q", got)
		}
		l, _ := issue(t, b)
		looks := []string{get} // what credentials there are before and after a lease
		if l.Grade != broker.GradeBounded {
			looks = []string{get, get, get} // and application credentials and trusts
		}
		if got, want := sorted(behind.Asked()), sorted(append([]string{post}, looks...)); !slices.Equal(got, want) {
			t.Errorf("issuing asks %q, want %q", got, want)
		}
		if _, err := b.RevokeLease(t.Context(), admin, l.ID); err != nil {
			t.Fatal(err)
		}
		if got, want := sorted(behind.Asked()), sorted(append([]string{del}, looks...)); !slices.Equal(got, want) {
			t.Errorf("revoking asks %q, want %q", got, want)
		}
	}
}

// sorted: what is asked side by side comes in any order.
func sorted(methods []string) []string {
	slices.Sort(methods)
	return methods
}
