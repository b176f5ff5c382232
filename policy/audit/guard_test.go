package audit_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/vimbroker/vimbroker/policy"
	"github.com/vimbroker/vimbroker/policy/audit"
)

// sink keeps entries in memory, and can be told to fail.
type sink struct {
	entries []audit.Entry
	fail    error
}

func (s *sink) Append(ctx context.Context, e audit.Entry) error {
	if s.fail != nil {
		return s.fail
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	s.entries = append(s.entries, e)
	return nil
}

func (s *sink) Entries(context.Context, audit.Query) ([]audit.Entry, error) { return s.entries, nil }

// answer is a policy with one answer for everything.
type answer policy.Decision

func (a answer) Decide(policy.Request) policy.Decision { return policy.Decision(a) }

var (
	alice    = policy.Principal{Name: "alice", Project: "core", Roles: []string{policy.RoleMember}}
	edge     = policy.Resource{Kind: policy.KindVIM, ID: "7d0c", Project: "core"}
	allowing = answer{Allowed: true, Policies: []string{"default.members"}}
)

func guard(d answer) (*audit.Guard, *sink) {
	s := &sink{}
	return &audit.Guard{Policy: d, Sink: s, Now: func() time.Time { return noon }}, s
}

func TestEnterRecordsDenials(t *testing.T) {
	g, s := guard(answer{Policies: []string{"site.no-fridays"}})
	ctx, cancel := context.WithCancel(audit.WithRequest(t.Context(), "r1"))
	cancel() // the caller hangs up: the denial is recorded all the same
	if _, err := g.Enter(ctx, alice, policy.VIMDelete, edge, policy.Wish{}); !errors.Is(err, policy.ErrDenied) || errors.Is(err, policy.ErrEvaluation) {
		t.Errorf("Enter() = %v, want ErrDenied alone", err)
	}
	want := []audit.Entry{{
		Time: noon, Request: "r1", Principal: "alice", Project: "core", Action: policy.VIMDelete,
		Kind: policy.KindVIM, Resource: "7d0c", Outcome: audit.Denied, Detail: map[string]string{"policy": "site.no-fridays"},
	}}
	if diff := cmp.Diff(want, s.entries); diff != "" {
		t.Errorf("entries (-want +got):\n%s", diff)
	}
}

func TestDenialThatCannotBeRecordedIsStillARefusal(t *testing.T) {
	g, s := guard(answer{})
	s.fail = errors.New("disk full")
	act, err := g.Enter(t.Context(), alice, policy.VIMDelete, edge, policy.Wish{})
	if act != nil || !errors.Is(err, s.fail) {
		t.Errorf("Enter() = %v, %v, want no act and the sink's error", act, err)
	}
}

func TestEvaluationErrorDeniesAndAlarms(t *testing.T) {
	g, s := guard(answer{Allowed: true, Policies: []string{"default.members"}, Errors: []string{"site.broken: no such attribute"}})
	var log bytes.Buffer
	g.Log = slog.New(slog.NewTextHandler(&log, nil))
	_, err := g.Enter(t.Context(), alice, policy.VIMShow, edge, policy.Wish{})
	if !errors.Is(err, policy.ErrDenied) || !errors.Is(err, policy.ErrEvaluation) {
		t.Errorf("Enter() = %v, want ErrDenied and ErrEvaluation", err)
	}
	if len(s.entries) != 1 || s.entries[0].Outcome != audit.Denied || s.entries[0].Detail["error"] != "policy evaluation" {
		t.Errorf("entries = %+v, want one denial for policy evaluation", s.entries)
	}
	if !strings.Contains(log.String(), "site.broken") {
		t.Errorf("log = %q, want the policy that could not be evaluated", log.String())
	}
	if g.Allows(alice, policy.VIMShow, edge) {
		t.Errorf("Allows() = true with an evaluation error")
	}
}

func TestActsMakeEntriesOfOneRequest(t *testing.T) {
	g, s := guard(allowing)
	act, err := g.Enter(audit.WithRequest(t.Context(), "r2"), alice, policy.LeaseIssue, edge, policy.Wish{})
	if err != nil {
		t.Fatalf("Enter() = %v", err)
	}
	act.With(audit.DetailRole, "edit")
	got := []audit.Entry{act.Intent(), act.Done(audit.DetailGeneration, "2", "stray"), act.Failed("unreachable")}
	base := audit.Entry{
		Time: noon, Request: "r2", Principal: "alice", Project: "core",
		Action: policy.LeaseIssue, Kind: policy.KindVIM, Resource: "7d0c",
	}
	want := []audit.Entry{base, base, base}
	want[0].Outcome, want[0].Detail = audit.Intent, map[string]string{"policy": "default.members", "role": "edit"}
	want[1].Outcome, want[1].Detail = audit.Done, map[string]string{"policy": "default.members", "role": "edit", "generation": "2"}
	want[2].Outcome, want[2].Detail = audit.Failed, map[string]string{"policy": "default.members", "role": "edit", "error": "unreachable"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("entries (-want +got):\n%s", diff)
	}
	if len(s.entries) != 0 {
		t.Errorf("Enter recorded %+v, want nothing: the store appends with the change", s.entries)
	}
}

func TestReadIsRecordedOrRefused(t *testing.T) {
	g, s := guard(allowing)
	act, err := g.Enter(t.Context(), alice, policy.VIMShow, edge, policy.Wish{})
	if err != nil {
		t.Fatalf("Enter() = %v", err)
	}
	if err := act.Read(t.Context()); err != nil || len(s.entries) != 1 || s.entries[0].Outcome != audit.Read {
		t.Errorf("Read() = %v with entries %+v, want one of outcome read", err, s.entries)
	}
	s.fail = errors.New("disk full")
	if err := act.Read(t.Context()); !errors.Is(err, s.fail) {
		t.Errorf("Read() = %v, want the sink's error", err)
	}
}

func TestProjectOfAnEntry(t *testing.T) {
	g, _ := guard(allowing)
	shared := policy.Resource{Kind: policy.KindVIM, ID: "9f", Project: "infra", Shared: true}
	for name, test := range map[string]struct {
		who     policy.Principal
		project string
		foreign string
	}{
		"caller on a shared VIM": {alice, "core", "infra"},
		"pass of the broker":     {policy.Principal{Name: "system:reaper", Roles: []string{policy.RoleSystem}}, "infra", ""},
	} {
		act, err := g.Enter(t.Context(), test.who, policy.LeaseIssue, shared, policy.Wish{})
		if err != nil {
			t.Fatalf("%s: Enter() = %v", name, err)
		}
		if e := act.Intent(); e.Project != test.project || e.Detail[audit.DetailResourceProject] != test.foreign {
			t.Errorf("%s: project %q, detail %v, want %q and %q", name, e.Project, e.Detail, test.project, test.foreign)
		}
	}
}

func TestDetailIsBounded(t *testing.T) {
	g, _ := guard(allowing)
	act, err := g.Enter(t.Context(), alice, policy.LeaseIssue, edge, policy.Wish{})
	if err != nil {
		t.Fatalf("Enter() = %v", err)
	}
	got := act.With(audit.DetailPurpose, strings.Repeat("ä", 300)).Intent().Detail[audit.DetailPurpose]
	if want := strings.Repeat("ä", 256); got != want {
		t.Errorf("purpose has %d bytes, want %d whole characters", len(got), 256)
	}
}

// TestActorIsRecordedBesideThePrincipal looks at what was done, and at what was denied.
func TestActorIsRecordedBesideThePrincipal(t *testing.T) {
	delegated := alice
	delegated.Actor = "system:lifecycle"
	g, s := guard(allowing)
	act, err := g.Enter(t.Context(), delegated, policy.LeaseIssue, edge, policy.Wish{})
	if err != nil {
		t.Fatalf("Enter() = %v", err)
	}
	g.Policy = answer{}
	if _, err := g.Enter(t.Context(), delegated, policy.VIMDelete, edge, policy.Wish{}); !errors.Is(err, policy.ErrDenied) {
		t.Errorf("Enter() = %v, want ErrDenied", err)
	}
	for _, e := range append(s.entries, act.Intent()) {
		if e.Principal != "alice" || e.Project != "core" || e.Detail[audit.DetailActor] != "system:lifecycle" {
			t.Errorf("%s entry: %s of %s, detail %v; want alice of core and the actor", e.Outcome, e.Principal, e.Project, e.Detail)
		}
	}
}
