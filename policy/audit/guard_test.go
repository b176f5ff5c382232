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
	"github.com/vimbroker/vimbroker/test/testlog"
)

// sink keeps entries in memory, and can be told to fail.
type sink struct {
	entries []audit.Entry
	fail    error
	asked   int // how often it is
}

func (s *sink) Append(ctx context.Context, e audit.Entry) error {
	if s.asked++; s.fail != nil {
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

// showing lets everything be seen.
type showing struct{ answer }

func (s showing) Decide(r policy.Request) policy.Decision {
	if r.Action == policy.VIMShow || r.Action == policy.LeaseShow {
		return policy.Decision{Allowed: true}
	}
	return s.answer.Decide(r)
}

func guard(d answer) (*audit.Guard, *sink) {
	s := &sink{}
	return &audit.Guard{Policy: d, Sink: s, Now: func() time.Time { return noon }}, s
}

func TestEnterRecordsDenials(t *testing.T) {
	g, s := guard(answer{Policies: []string{"site.no-fridays"}})
	g.Policy = showing{answer{Policies: []string{"site.no-fridays"}}}
	ctx, cancel := context.WithCancel(audit.WithRequest(t.Context(), "r1"))
	cancel() // the caller hangs up: the denial is recorded all the same
	if _, err := g.Enter(ctx, alice, policy.VIMDelete, edge, policy.Wish{}); !errors.Is(err, policy.ErrDenied) || errors.Is(err, policy.ErrEvaluation) {
		t.Errorf("Enter() = %v, want ErrDenied alone", err)
	}
	want := []audit.Entry{{
		Time: noon, Request: "r1", Principal: "alice", Project: "core", Action: policy.VIMDelete,
		Kind: policy.KindVIM, Resource: "7d0c", Outcome: audit.Denied, Detail: map[string]string{"policy": "site.no-fridays", "authenticator": "static", "vim": "7d0c", "vimProject": "core"},
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
	g.Log = testlog.To(t, slog.NewTextHandler(&log, nil))
	_, err := g.Enter(t.Context(), alice, policy.VIMShow, edge, policy.Wish{})
	if !errors.Is(err, policy.ErrDenied) || !errors.Is(err, policy.ErrEvaluation) {
		t.Errorf("Enter() = %v, want ErrDenied and ErrEvaluation", err)
	}
	if last := len(s.entries) - 1; last < 0 || s.entries[last].Outcome != audit.Denied || s.entries[last].Detail["error"] != "policy evaluation" {
		t.Errorf("entries = %+v, want a denial for policy evaluation", s.entries)
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
	act, err := g.Enter(audit.WithSource(audit.WithRequest(t.Context(), "r2"), "192.0.2.7"), alice, policy.LeaseIssue, edge, policy.Wish{})
	if err != nil {
		t.Fatalf("Enter() = %v", err)
	}
	act.With(audit.DetailRole, "edit")
	got := []audit.Entry{act.Intent(), act.Done(audit.DetailGeneration, "2", "stray"), act.Failed("unreachable")}
	base := audit.Entry{
		Time: noon, Request: "r2", Principal: "alice", Project: "core",
		Action: policy.LeaseIssue, Kind: policy.KindVIM, Resource: "7d0c",
	}
	detail := func(more ...string) map[string]string {
		d := map[string]string{
			"policy": "default.members", "role": "edit", "authenticator": "static", "source": "192.0.2.7",
			"vim": "7d0c", "vimProject": "core",
		}
		for i := 0; i < len(more); i += 2 {
			d[more[i]] = more[i+1]
		}
		return d
	}
	want := []audit.Entry{base, base, base}
	want[0].Outcome, want[0].Detail = audit.Intent, detail()
	want[1].Outcome, want[1].Detail = audit.Done, detail("generation", "2")
	want[2].Outcome, want[2].Detail = audit.Failed, detail("error", "unreachable")
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
	}{
		"caller on a shared VIM": {alice, "core"},
		"pass of the broker":     {policy.Principal{Name: "system:reaper", Roles: []string{policy.RoleSystem}}, "infra"},
	} {
		act, err := g.Enter(t.Context(), test.who, policy.LeaseIssue, shared, policy.Wish{})
		if err != nil {
			t.Fatalf("%s: Enter() = %v", name, err)
		}
		if e := act.Intent(); e.Project != test.project || e.Detail[audit.DetailVIMProject] != "infra" {
			t.Errorf("%s: project %q, detail %v, want %q and the VIM's", name, e.Project, e.Detail, test.project)
		}
	}
}

// What is only asked is told from what is done.
func TestAQuestionIsToldFromAnAct(t *testing.T) {
	for ctx, want := range map[context.Context]string{t.Context(): "", audit.AsQuestion(t.Context()): "true"} {
		g, _ := guard(allowing)
		act, err := g.Enter(ctx, alice, policy.LeaseIssue, edge, policy.Wish{})
		if err != nil {
			t.Fatal(err)
		}
		if got := act.Intent().Detail[audit.DetailQuestion]; got != want {
			t.Errorf("an act is a question: %q, want %q", got, want)
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
	g.Policy = showing{}
	if _, err := g.Enter(t.Context(), delegated, policy.VIMDelete, edge, policy.Wish{}); !errors.Is(err, policy.ErrDenied) {
		t.Errorf("Enter() = %v, want ErrDenied", err)
	}
	for _, e := range append(s.entries, act.Intent()) {
		if e.Principal != "alice" || e.Project != "core" || e.Detail[audit.DetailActor] != "system:lifecycle" {
			t.Errorf("%s entry: %s of %s, detail %v; want alice of core and the actor", e.Outcome, e.Principal, e.Project, e.Detail)
		}
	}
}

// TestLooksAtWhatIsNotFoundAreFolded: whoever tries ids writes one entry, whether they are of nobody or of another project;
// what is tried to be done is recorded each time.
func TestLooksAtWhatIsNotFoundAreFolded(t *testing.T) {
	mallet := policy.Principal{Name: "mallet", Project: "other", Roles: []string{policy.RoleMember}}
	g, s := guard(answer{})
	g.Missed = audit.NewFolds()
	for i := range 100 {
		_ = g.Missing(t.Context(), mallet, policy.VIMShow, policy.KindVIM)
		_ = g.Missing(t.Context(), mallet, policy.VIMDelete, policy.KindVIM)
		if i == 50 {
			_ = g.Hide(t.Context(), mallet, policy.VIMShow, policy.Resource{Kind: policy.KindVIM, ID: "v", Project: "acme"})
		}
	}
	count := map[policy.Action]int{}
	own := 0
	for _, e := range s.entries {
		if count[e.Action]++; e.Project == "acme" {
			own++
		}
	}
	if count[policy.VIMShow] != 2 || count[policy.VIMDelete] != 100 || own != 1 {
		t.Errorf("entries %v, %d of the owner's project; want one look of each, and each deletion", count, own)
	}
	if err := g.Missed.Tell(t.Context(), s, noon); err != nil {
		t.Fatal(err)
	}
	if last := s.entries[len(s.entries)-1]; last.Detail[audit.DetailRepeats] != "99" {
		t.Errorf("told in the end: %v", last.Detail)
	}
}

// TestWhatIsHiddenLooksAsIfItWereMissing compares what the caller's project gets to read.
func TestWhatIsHiddenLooksAsIfItWereMissing(t *testing.T) {
	mallet := policy.Principal{Name: "mallet", Project: "other", Roles: []string{policy.RoleMember}}
	theirs := edge
	theirs.VIMName, theirs.EndpointHost = "canary-name", "canary.example"
	lease := policy.Resource{Kind: policy.KindLease, ID: "canary-lease", Project: "core", VIM: "canary-vim", VIMName: "canary-name", VIMProject: "core"}
	for _, res := range []policy.Resource{theirs, lease} {
		g, s := guard(answer{})
		missing := g.Missing(t.Context(), mallet, policy.VIMUpdate, res.Kind)
		_, entered := g.Enter(t.Context(), mallet, policy.VIMUpdate, res, policy.Wish{})
		hidden := g.Hide(t.Context(), mallet, policy.VIMUpdate, res)
		if missing != nil || !errors.Is(entered, audit.ErrHidden) || !errors.Is(hidden, audit.ErrHidden) || !errors.Is(entered, policy.ErrDenied) {
			t.Fatalf("Missing, Enter, Hide = %v, %v, %v", missing, entered, hidden)
		}
		var own, owners []audit.Entry
		for _, e := range s.entries {
			switch e.Project {
			case "other":
				own = append(own, e)
			case "core":
				owners = append(owners, e)
			}
		}
		if len(own) != 3 || len(owners) != 2 {
			t.Fatalf("%d entries for the caller's project and %d for the owner's, want 3 and 2", len(own), len(owners))
		}
		for _, e := range own[1:] {
			if diff := cmp.Diff(own[0], e); diff != "" {
				t.Errorf("a %s that is hidden differs from one that is missing (-missing +hidden):\n%s", res.Kind, diff)
			}
		}
		for _, e := range owners {
			if e.Principal != "mallet" || e.Resource != res.ID || e.Detail[audit.DetailCallerProject] != "other" || e.Detail[audit.DetailVIMName] != "canary-name" {
				t.Errorf("the owner's entry is %+v", e)
			}
		}
	}
	// Hidden in the own project: the full entry is nobody's who reads the own log only.
	g, s := guard(answer{})
	_, _ = g.Enter(t.Context(), mallet, policy.VIMUpdate, policy.Resource{Kind: policy.KindVIM, ID: "7d0c", Project: "other"}, policy.Wish{})
	for _, e := range s.entries {
		if e.Resource != "" && (e.Project == "other" || e.Detail[audit.DetailVIMProject] == "other") {
			t.Errorf("what policy hides in the own project is told there: %+v", e)
		}
	}
}
