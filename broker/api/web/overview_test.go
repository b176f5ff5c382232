package web

import (
	"context"
	"net/http/httptest"
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
