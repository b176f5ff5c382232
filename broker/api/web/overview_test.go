package web

import (
	"context"
	"net/http/httptest"
	"net/url"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/broker/api"
	"github.com/vimbroker/vimbroker/broker/delivery"
	"github.com/vimbroker/vimbroker/broker/notary"
	"github.com/vimbroker/vimbroker/policy"
)

// faulty is a log and a broker of which something needs somebody.
type faulty struct {
	AuditLog
	Overseer
	now time.Time
}

func (f faulty) AuditAnchors(context.Context, policy.Principal) ([]notary.AnchorStatus, error) {
	at := func(name string, ago time.Duration, behind int64, fault string) notary.AnchorStatus {
		return notary.AnchorStatus{Anchoring: notary.Anchoring{Anchor: name, Time: f.now.Add(-ago)}, Behind: behind, Fault: fault}
	}
	return []notary.AnchorStatus{at("well", 4*time.Minute, 7, ""), at("idle", time.Hour, 0, ""), at("slow", 6*time.Minute, 7, ""), at("broken", time.Second, 0, "disk full")}, nil
}

func (faulty) AuditSinks(context.Context, policy.Principal) ([]delivery.Status, error) {
	sink := func(name string, behind time.Duration) delivery.Status {
		return delivery.Status{Name: name, Within: time.Minute, Behind: behind, Waiting: 9, Cursor: delivery.Cursor{Sink: name, Start: 1, Seq: 2}}
	}
	return []delivery.Status{sink("swift", time.Second), sink("lazy", 2*time.Minute)}, nil
}

func (faulty) Replicas(context.Context, policy.Principal) ([]broker.Replica, error) {
	return []broker.Replica{{ID: "a", Own: true, Fault: "seen already"}, {ID: "b", Fault: "issuing: sealed"}, {ID: "c", Late: true}, {ID: "d"}}, nil
}

func (faulty) Ready() ([]broker.PartStatus, error) { return nil, nil }

// Anchors, sinks and replicas that are late or unwell need somebody, and those who may not read the whole log see none.
func TestWhatIsLateNeedsSomebody(t *testing.T) {
	f := faulty{now: time.Now()}
	s := &server{Options: Options{AuditLog: f, Overseer: f}}
	said := func(may bool) string {
		v := &Visit{Call: &api.Call{Request: httptest.NewRequestWithContext(t.Context(), "GET", "/ui/", nil)}, Now: f.now}
		v.may = func(_ *Visit, action policy.Action, project string) bool {
			return may && action == policy.AuditRead && project == "*"
		}
		found, err := s.needs(v)
		if err != nil {
			t.Fatal(err)
		}
		var all []string
		for _, n := range found {
			all = append(all, n.What.Text+": "+n.Why)
		}
		return strings.Join(all, "\n")
	}
	want := `replica b: issuing: sealed
replica c: it says nothing any more: it was killed, hangs, or cannot write to the database; it is forgotten after an hour
anchor slow: late: it lacks 7 entries that are signed
anchor broken: disk full
sink lazy: late: 9 entries wait`
	if got := said(true); got != want {
		t.Errorf("these need somebody:\n%s\nwant\n%s", got, want)
	}
	if got := said(false); got != "" {
		t.Errorf("a tenant is told: %s", got)
	}
}

// domain has the VIM and the lease that a question is about.
type domain struct {
	Registry
	Leaser
	vim   broker.VIM
	lease broker.Lease
}

func (k domain) VIM(context.Context, policy.Principal, string) (broker.VIM, error) { return k.vim, nil }

func (k domain) Lease(context.Context, policy.Principal, string) (broker.Lease, error) {
	return k.lease, nil
}

// A question is about the VIM or the lease as policies see it when somebody acts on it.
func TestQuestionsAreAboutWhatPoliciesSee(t *testing.T) {
	k := domain{vim: some[broker.VIM]().(broker.VIM), lease: some[broker.Lease]().(broker.Lease)}
	k.vim.Current.Target.Endpoint = "https://edge.example:6443"
	s := &server{Options: Options{Registry: k, Leaser: k}}
	for name, want := range map[string]policy.Resource{"vim": k.vim.Resource(), "lease": k.lease.Resource()} {
		r := httptest.NewRequestWithContext(t.Context(), "GET", "/ui/policies?"+name+"=x", nil)
		q, err := s.question(&Visit{Call: &api.Call{Request: r, Query: r.URL.Query()}})
		if err != nil || !reflect.DeepEqual(q.Resource, want) || name == "vim" && q.Resource.EndpointHost != "edge.example" {
			t.Errorf("a question about a %s is about %+v, %v, want %+v", name, q.Resource, err, want)
		}
	}
}

// ill has a VIM of each health, one whose credential has ended, and one whose credential ends soon.
type ill struct {
	Registry
	now time.Time
}

func (k ill) VIMs(_ context.Context, _ policy.Principal, q broker.VIMQuery) (all []broker.VIM, _ string, _ error) {
	if q.Status != "" {
		return []broker.VIM{{ID: "1", Name: string(q.Status), Health: broker.Health{Status: q.Status, Message: "why"}}}, "", nil
	}
	for name, end := range map[string]time.Time{"old": k.now, "ending": k.now.Add(1)} {
		if end.Before(q.EndsBefore) {
			all = append(all, broker.VIM{ID: "2", Name: name, Current: broker.Generation{CredentialExpiresAt: end}})
		}
	}
	return all, "", nil
}

// Each VIM that does not work needs somebody, and each whose credential ends; one that works, or that is not checked yet, does not.
func TestWhichVIMsNeedSomebody(t *testing.T) {
	k := ill{now: time.Now()}
	found, err := (&server{Options: Options{Registry: k}}).vimsInNeed(&Visit{
		Call: &api.Call{Request: httptest.NewRequestWithContext(t.Context(), "GET", "/ui/", nil)}, Now: k.now,
	})
	if err != nil {
		t.Fatal(err)
	}
	said := map[string]string{}
	for _, n := range found {
		said[n.What.Text] = n.Why
	}
	if want := map[string]string{
		"VIM unreachable": "unreachable: why", "VIM unauthorized": "unauthorized: why", "VIM identityChanged": "identityChanged: why",
		"VIM unopenable": "unopenable: why",
		"VIM old":        "its credential has ended: vimbroker vim rotate old", "VIM ending": "its credential ends soon: vimbroker vim rotate ending",
	}; !reflect.DeepEqual(said, want) || len(found) != len(want) {
		t.Errorf("these need somebody: %v, want %v", said, want)
	}
}

// revoking takes down what is to be revoked.
type revoking struct {
	Leaser
	all *broker.LeaseSelector
}

func (k revoking) RevokeLeases(_ context.Context, _ policy.Principal, s broker.LeaseSelector) ([]broker.Lease, error) {
	*k.all = s
	return nil, nil
}

// All leases are revoked that a page shows first, and no others: each filter of the page counts.
func TestWhatIsRevokedIsWhatThePageSelects(t *testing.T) {
	fields, shown := url.Values{}, ""
	for _, f := range leaseFilters {
		fields.Set(f.Name, "the "+f.Name)
		shown += fields.Get(f.Name) + "\n"
	}
	var all broker.LeaseSelector
	s := &server{Options: Options{Leaser: revoking{all: &all}}}
	back, err := s.revokeAll(&Visit{Call: &api.Call{Request: httptest.NewRequestWithContext(t.Context(), "POST", "/ui/revocation", nil)}}, fields)
	want := broker.LeaseSelector{
		VIM: "the vim", Principal: "the principal", For: "the for", Operation: "the operation", Instance: "the instance",
	}
	q := selected(fields.Get)
	asked := broker.LeaseSelector{VIM: q.VIM, Principal: q.Principal, For: q.For, Operation: q.Operation, Instance: q.Instance}
	if err != nil || all != want || asked != want || len(leaseFilters) != 5 {
		t.Errorf("revoked is %+v and shown %+v, %v; the filters are %s", all, asked, err, shown)
	}
	to, err := url.Parse(back)
	if err != nil {
		t.Fatal(err)
	}
	for name := range fields {
		if to.Query().Get(name) != fields.Get(name) {
			t.Errorf("the page that follows, %s, shows other leases", back)
		}
	}
}
