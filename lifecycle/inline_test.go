package lifecycle_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/broker/secret"
	"github.com/vimbroker/vimbroker/lifecycle"
	"github.com/vimbroker/vimbroker/policy"
	"github.com/vimbroker/vimbroker/policy/audit"
	"github.com/vimbroker/vimbroker/test/outcome"
)

// registry is the broker, as far as VIMs come with requests.
type registry struct{ *lends }

func (r registry) VIMs(_ context.Context, p policy.Principal, q broker.VIMQuery) ([]broker.VIM, string, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if p.Name != "system:inline" || !slices.Equal(p.Roles, []string{policy.RoleSystem}) {
		return nil, "", fmt.Errorf("%+v looks for VIMs", p)
	}
	return slices.DeleteFunc(slices.Clone(r.brought), func(v broker.VIM) bool {
		for key, value := range q.Labels {
			if v.Labels[key] != value {
				return true
			}
		}
		return v.State != q.State
	}), "", nil
}

func (r registry) RegisterVIM(_ context.Context, p policy.Principal, g broker.Registration) (broker.VIM, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.unreachable != nil {
		return broker.VIM{}, r.unreachable
	}
	if bringing := r.bringing; bringing != nil {
		r.mu.Unlock()
		bringing()
		r.mu.Lock()
	}
	if slices.ContainsFunc(r.brought, func(v broker.VIM) bool { return v.Name == g.Name }) {
		return broker.VIM{}, &broker.Error{Kind: broker.ErrExists}
	}
	v := broker.VIM{
		ID: uuid.NewString(), Name: g.Name, Type: g.Type, Project: g.Project, State: broker.VIMRegistered, Revision: 1, CreatedBy: p.Name, UpdatedAt: r.now(),
		Labels:  map[string]string{broker.LabelInline: "true", broker.LabelInstance: g.Inline.Instance, broker.LabelConnection: g.Inline.Connection},
		Current: broker.Generation{Target: broker.Target{Endpoint: g.Endpoint, Scope: g.Scope}, Username: g.Credential.Username},
	}
	r.brought = append(r.brought, v)
	return v, r.keep(v)
}

func (r registry) UpdateVIM(_ context.Context, p policy.Principal, ref string, c broker.Change) (broker.VIM, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if p.Name != "alice" || !c.Inline {
		return broker.VIM{}, fmt.Errorf("%s changes a VIM, inline %t", p.Name, c.Inline)
	}
	for n := range r.brought {
		if r.brought[n].ID == ref {
			if changing := r.changing; changing != nil {
				r.mu.Unlock()
				err := changing()
				r.mu.Lock()
				if err != nil {
					return broker.VIM{}, err
				}
			}
			r.brought[n].Revision++
			r.brought[n].UpdatedAt = r.now()
			r.changes = append(r.changes, c)
			return r.brought[n], nil
		}
	}
	return broker.VIM{}, &broker.Error{Kind: broker.ErrNotFound}
}

func (r registry) DeleteVIM(ctx context.Context, p policy.Principal, ref string, del broker.Deletion) (broker.VIM, bool, error) {
	if err := ctx.Err(); err != nil {
		return broker.VIM{}, false, err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if p.Name != "system:inline" || !del.Drain || del.Force || del.Gone {
		return broker.VIM{}, false, fmt.Errorf("%s deletes with %+v", p.Name, del)
	}
	for n, v := range r.brought {
		switch {
		case v.ID != ref:
		case v.Revision != del.IfRevision:
			return v, false, &broker.Error{Kind: broker.ErrPrecondition}
		case r.unreachable != nil:
			return v, false, r.unreachable
		default:
			if err := r.vims.DeleteVIM(ctx, v.ID, false, audit.Entry{Time: r.now(), Action: policy.VIMDelete, Outcome: audit.Done}); err != nil {
				return v, false, err
			}
			r.brought = slices.Delete(r.brought, n, n+1)
			return v, true, nil
		}
	}
	return broker.VIM{}, true, nil
}

// Of two requests at one time for an instance each brings a VIM of its own: the operation that begins is worked on the
// one of its request, and the other's is gone.
func TestTwoRequestsAtOnceBringAVIMEach(t *testing.T) {
	p := newPlant(t)
	i := p.made()
	another := bring("two")
	another.Inline.Endpoint = "https://elsewhere"
	meanwhile := errors.New("not asked")
	p.lends.bringing = func() { // while the first is being registered
		p.lends.bringing = nil
		_, meanwhile = p.Instantiate(t.Context(), alice, i.ID, another)
	}
	_, first := p.Instantiate(t.Context(), alice, i.ID, bring("one"))
	if meanwhile != nil {
		t.Fatal(meanwhile)
	}
	wantKind(t, first, broker.ErrConflict)
	p.wantBrought(1, "after both requests")
	found, _, err := p.Operations(t.Context(), alice, lifecycle.OperationQuery{Instance: i.ID})
	if err != nil || len(found) != 1 {
		t.Fatalf("there are %d operations, %v", len(found), err)
	}
	if v := p.lends.brought[0]; v.ID != found[0].VIM() || v.Current.Target.Endpoint != "https://elsewhere" || len(p.lends.changes) != 0 {
		t.Errorf("the operation is on %s, and left is %s at %s, changed %d times", found[0].VIM(), v.ID, v.Current.Target.Endpoint, len(p.lends.changes))
	}
	p.completes(found[0], nil)
}

// bring is a request that brings a VIM.
func bring(token string) lifecycle.Instantiation {
	return lifecycle.Instantiation{
		Flavour: "simple", Connection: "site",
		Inline: &lifecycle.InlineVIM{Type: "kubernetes", Endpoint: "https://edge", Credential: broker.Credential{Token: secret.NewText(token)}},
	}
}

// brings instantiates an instance on the VIM that its request brings.
func (p *plant) brings() lifecycle.Instance {
	p.t.Helper()
	i := p.made()
	o, err := p.Instantiate(p.t.Context(), alice, i.ID, bring("one"))
	p.completes(o, err)
	return p.instance(i.ID)
}

func (p *plant) wantBrought(n int, when string) {
	p.t.Helper()
	p.lends.mu.Lock()
	defer p.lends.mu.Unlock()
	if len(p.lends.brought) != n {
		p.t.Errorf("%d VIMs that came with requests are there %s, want %d", len(p.lends.brought), when, n)
	}
}

func TestAVIMThatComesWithARequestGoesWithTheResources(t *testing.T) {
	p := newPlant(t)
	i := p.brings()
	p.wantBrought(1, "while the instance is on it")
	v := p.lends.brought[0]
	want := map[string]string{broker.LabelInline: "true", broker.LabelInstance: i.ID, broker.LabelConnection: "site"}
	if !maps.Equal(v.Labels, want) || v.Project != "core" || v.CreatedBy != "alice" || !strings.HasPrefix(v.Name, "vnf-"+i.ID+"-site-") {
		t.Errorf("the VIM is %+v", v)
	}
	if s := i.Shape; s.VIM != v.ID || !s.Inline || s.Connection != "site" {
		t.Errorf("the instance is on %s, inline %t, as %q", s.VIM, s.Inline, s.Connection)
	}
	p.clock.Add(time.Hour)
	if err := p.LetGo(t.Context()); err != nil {
		t.Fatal(err)
	}
	p.wantBrought(1, "after a pass, while the instance is on it")
	o, err := p.Terminate(t.Context(), alice, i.ID, nil)
	if err := p.LetGo(t.Context()); err != nil {
		t.Fatal(err)
	}
	p.wantBrought(1, "while it is being terminated")
	p.completes(o, err)
	p.wantBrought(0, "after TERMINATE")
	if s := p.instance(i.ID).Shape; s.Inline || s.Connection != "" {
		t.Errorf("the instance still says of its VIM %+v", s)
	}
}

// A VIM that goes with one instance would go from under another.
func TestAVIMThatCameWithARequestIsOneInstances(t *testing.T) {
	p := newPlant(t)
	i := p.brings()
	on := lifecycle.Instantiation{Flavour: "simple", VIM: i.Shape.VIM}
	_, err := p.Instantiate(t.Context(), alice, p.made().ID, on)
	wantKind(t, err, broker.ErrInvalid)
	_, err = p.Preview(t.Context(), alice, p.made().ID, on)
	wantKind(t, err, broker.ErrInvalid)
	o, err := p.Terminate(t.Context(), alice, i.ID, nil)
	p.completes(o, err)
	p.wantBrought(0, "after TERMINATE")

	own := p.made() // may name what a request of before has left it
	left, err := registry{p.lends}.RegisterVIM(t.Context(), alice, broker.Registration{
		Name: "left", Type: "kubernetes", Project: "core", Inline: &broker.Inline{Instance: own.ID, Connection: "site"},
	})
	if err != nil {
		t.Fatal(err)
	}
	on.VIM = left.ID
	o, err = p.Instantiate(t.Context(), alice, own.ID, on)
	p.completes(o, err)
}

func TestAVIMThatIsOfNoUseGoes(t *testing.T) {
	t.Run("with a client that hangs up", func(t *testing.T) {
		p := newPlant(t)
		i := p.made()
		ctx, hangUp := context.WithCancel(t.Context())
		p.lends.bringing = hangUp
		if _, err := p.Instantiate(ctx, alice, i.ID, bring("one")); err == nil {
			t.Error("the operation has begun")
		}
		p.wantBrought(0, "after the request")
	})
	t.Run("with what is rolled back", func(t *testing.T) {
		p := newPlant(t)
		p.lends.refusal = &broker.Error{Kind: broker.ErrDenied, Detail: "no"}
		o, err := p.Instantiate(t.Context(), alice, p.made().ID, bring("one"))
		p.ends(lifecycle.RolledBack, o, err)
		p.wantBrought(0, "after a refusal")
	})
	t.Run("by the job of a worker that died", func(t *testing.T) {
		p := newPlant(t)
		i := p.brings()
		p.lends.unreachable = &broker.Error{Kind: broker.ErrUnreachable, Detail: "silent"}
		o, err := p.Terminate(t.Context(), alice, i.ID, nil)
		p.completes(o, err)
		p.wantBrought(1, "while it does not answer")
		p.lends.unreachable = nil
		if err := p.Work(t.Context(), o.ID); err != nil {
			t.Fatal(err)
		}
		p.wantBrought(0, "after the next attempt")
	})
	t.Run("by the pass, once no request can be about to use it", func(t *testing.T) {
		p := newPlant(t)
		i := p.made()
		reg := registry{p.lends}
		v, err := reg.RegisterVIM(t.Context(), alice, broker.Registration{Name: "left", Type: "kubernetes", Project: "core", Inline: &broker.Inline{Instance: i.ID, Connection: "site"}})
		if err != nil {
			t.Fatal(err)
		}
		p.clock.Add(4 * time.Minute)
		if err := p.LetGo(t.Context()); err != nil {
			t.Fatal(err)
		}
		p.wantBrought(1, "four minutes later")
		p.clock.Add(2 * time.Minute)
		o, err := p.Instantiate(t.Context(), alice, i.ID, bring("two"))
		if err != nil || o.VIM() == v.ID {
			t.Fatalf("the operation is on %s (%v), want a VIM of its own", o.VIM(), err)
		}
		p.wantBrought(2, "beside a repeat of the request")
		p.clock.Add(10 * time.Minute)
		if err := p.LetGo(t.Context()); err != nil {
			t.Fatal(err)
		}
		p.wantBrought(1, "while an operation waits for its turn")
		_, err = p.Cancel(t.Context(), alice, o.ID, lifecycle.Forceful)
		p.ends(lifecycle.RolledBack, o, err)
		p.wantBrought(0, "after the cancel")
	})
	t.Run("with an instance that is gone", func(t *testing.T) {
		p := newPlant(t)
		reg := registry{p.lends}
		if _, err := reg.RegisterVIM(t.Context(), alice, broker.Registration{Name: "left", Inline: &broker.Inline{Instance: uuid.NewString(), Connection: "site"}}); err != nil {
			t.Fatal(err)
		}
		p.clock.Add(time.Hour)
		if err := p.LetGo(t.Context()); err != nil {
			t.Fatal(err)
		}
		p.wantBrought(0, "after a pass")
	})
}

func TestARequestThatCannotBeginBringsNothing(t *testing.T) {
	p := newPlant(t)
	i := p.made()
	key := bring("one")
	key.Connection = "a key/with a slash"
	flavour, typ := bring("one"), bring("one")
	flavour.Flavour, typ.Inline = "no-such", &lifecycle.InlineVIM{Type: "openstack"}
	for name, c := range outcome.Sorted(map[string]struct {
		r    lifecycle.Instantiation
		want error
	}{
		"a key that is no label": {key, broker.ErrInvalid}, "no such flavour": {flavour, broker.ErrInvalid}, "a type that has no driver": {typ, broker.ErrUnsupported},
	}) {
		if _, err := p.Instantiate(t.Context(), alice, i.ID, c.r); !errors.Is(err, c.want) {
			t.Errorf("%s: %v, want %v", name, err, c.want)
		}
	}
	_, err := p.Preview(t.Context(), alice, i.ID, bring("one"))
	wantKind(t, err, broker.ErrInvalid)
	_, err = p.Instantiate(t.Context(), rita, i.ID, bring("one"))
	wantKind(t, err, broker.ErrDenied)
	p.wantBrought(0, "after refusals")

	if _, err = p.Instantiate(t.Context(), alice, i.ID, bring("one")); err != nil {
		t.Fatal(err)
	}
	_, err = p.Instantiate(t.Context(), alice, i.ID, bring("another's"))
	wantKind(t, err, broker.ErrConflict)
	if len(p.lends.changes) != 0 {
		t.Error("a request that cannot begin changes the VIM of the operation that is under way")
	}
}

func TestModifyReplacesTheCredentialOfAVIMThatCameWithARequest(t *testing.T) {
	p := newPlant(t)
	token := func(plain string) *lifecycle.InlineVIM {
		return &lifecycle.InlineVIM{Credential: broker.Credential{Token: secret.NewText(plain)}}
	}
	modify := func(id, connection string, in *lifecycle.InlineVIM) error {
		_, err := p.Modify(t.Context(), alice, id, lifecycle.Modification{Connection: connection, Inline: in})
		return err
	}
	i := p.brings()
	if err := modify(i.ID, "site", token("two")); err != nil {
		t.Fatal(err)
	}
	if c := p.lends.changes; len(c) != 1 || c[0].Credential.Token.Reveal() != "two" || c[0].Endpoint != nil || c[0].CACert != nil || c[0].Scope != nil {
		t.Errorf("the VIM was changed by %+v", c)
	}
	moved := token("three")
	moved.Endpoint, moved.Scope.Region = "https://other", "r"
	if err := modify(i.ID, "site", moved); err != nil {
		t.Fatal(err)
	}
	if c := p.lends.changes[1]; *c.Endpoint != "https://other" || c.Scope.Region != "r" {
		t.Errorf("the VIM was changed by %+v", c)
	}
	wantKind(t, modify(i.ID, "other", token("x")), broker.ErrInvalid)
	wantKind(t, modify(i.ID, "site", &lifecycle.InlineVIM{Type: "openstack"}), broker.ErrInvalid)
	wantKind(t, modify(p.made().ID, "site", token("x")), broker.ErrInvalid)
	wantKind(t, modify(p.running().ID, "", token("x")), broker.ErrInvalid) // on a registered VIM
	if _, err := p.Modify(t.Context(), rita, i.ID, lifecycle.Modification{Connection: "site", Inline: token("x")}); !errors.Is(err, broker.ErrDenied) {
		t.Errorf("a reader: %v", err)
	}
	if _, err := p.Scale(t.Context(), alice, i.ID, lifecycle.Scaling{Aspect: "front", Steps: 1}); err != nil {
		t.Fatal(err)
	}
	wantKind(t, modify(i.ID, "site", token("x")), broker.ErrConflict) // while an operation is under way
	if len(p.lends.changes) != 2 {
		t.Errorf("%d changes, want 2", len(p.lends.changes))
	}
}

// While a credential is replaced the operation is live: nothing else begins on the instance, and what has begun before
// leaves the credential as it was.
func TestReplacingACredentialKeepsOthersOut(t *testing.T) {
	p := newPlant(t)
	i := p.brings()
	name, token := "shop", lifecycle.InlineVIM{Credential: broker.Credential{Token: secret.NewText("two")}}
	change := lifecycle.Modification{Name: &name, Connection: "site", Inline: &token}
	scale := func() error {
		_, err := p.Scale(t.Context(), alice, i.ID, lifecycle.Scaling{Aspect: "front", Steps: 1})
		return err
	}
	asked := false
	p.lends.changing = func() error {
		asked = true
		wantKind(t, scale(), broker.ErrConflict)
		return nil
	}
	o, err := p.Modify(t.Context(), alice, i.ID, change)
	if err != nil || o.State != lifecycle.Completed || !asked || len(p.lends.changes) != 1 {
		t.Fatalf("Modify = %s, %v; %d changes", o.State, err, len(p.lends.changes))
	}
	if now := p.instance(i.ID); now.Name != name {
		t.Errorf("the instance is named %q", now.Name)
	}
	if err := p.Work(t.Context(), o.ID); err != nil { // the job of what is over
		t.Errorf("Work = %v", err)
	}

	// One that reads the instance before another operation begins, and comes after it.
	p.lends.changing = nil
	p.lends.finding = func() {
		p.lends.finding = nil
		if err := scale(); err != nil {
			t.Error(err)
		}
	}
	_, err = p.Modify(t.Context(), alice, i.ID, change)
	wantKind(t, err, broker.ErrConflict)
	if len(p.lends.changes) != 1 {
		t.Errorf("a request that is refused has changed the credential")
	}
}

func TestACredentialThatIsNotTakenChangesNothing(t *testing.T) {
	p := newPlant(t)
	i := p.brings()
	p.clock.Add(time.Second) // so that the newest operation is first
	name, token := "shop", lifecycle.InlineVIM{Credential: broker.Credential{Token: secret.NewText("two")}}
	p.lends.changing = func() error { return &broker.Error{Kind: broker.ErrUnauthorized, Detail: "the VIM refuses it"} }
	_, err := p.Modify(t.Context(), alice, i.ID, lifecycle.Modification{Name: &name, Connection: "site", Inline: &token})
	wantKind(t, err, broker.ErrUnauthorized)
	found, _, err := p.Operations(t.Context(), alice, lifecycle.OperationQuery{Instance: i.ID})
	if err != nil || found[0].State != lifecycle.RolledBack || found[0].Failure.Detail != "the VIM refuses it" || p.instance(i.ID).Name != "web" {
		t.Errorf("the operation is %s (%+v, %v), the instance is named %q", found[0].State, found[0].Failure, err, p.instance(i.ID).Name)
	}
}

// What a process that died was about to replace is ended by the operation's job, and the next request is served.
func TestReplacingThatIsLeftIsEndedByItsJob(t *testing.T) {
	p := newPlant(t)
	i := p.brings()
	token := lifecycle.InlineVIM{Credential: broker.Credential{Token: secret.NewText("two")}}
	change := lifecycle.Modification{Connection: "site", Inline: &token}
	for name, state := range outcome.Sorted(map[string]lifecycle.OperationState{"before it was replaced": lifecycle.Starting, "after that": lifecycle.Processing}) {
		t.Run(name, func(t *testing.T) {
			o := lifecycle.Operation{
				ID: uuid.NewString(), Instance: i.ID, Project: i.Project, Type: lifecycle.ModifyInfo, State: state, Asker: policy.Delegate(alice, p.clock.Now()),
				StartedAt: p.clock.Now(), StateEnteredAt: p.clock.Now(), TurnAt: p.clock.Now(), Deadline: p.clock.Now().Add(time.Minute), Before: i.Shape, Target: i.Shape,
			}
			if err := p.store.BeginOperation(t.Context(), o, p.instance(i.ID).Revision, nil, audit.Entry{Time: p.clock.Now(), Action: policy.VNFModify, Outcome: audit.Intent}); err != nil {
				t.Fatal(err)
			}
			_, err := p.Modify(t.Context(), alice, i.ID, change)
			wantKind(t, err, broker.ErrConflict)
			p.clock.Add(2 * time.Minute)
			if due, err := p.store.DueKinds(t.Context(), []string{lifecycle.JobKind}); err != nil || len(due) != 1 {
				t.Fatalf("DueKinds = %v, %v", due, err)
			}
			want := lifecycle.RolledBack
			if state == lifecycle.Processing {
				want = lifecycle.Completed
			}
			o = p.ends(want, o, nil)
			if failed := o.Failure != nil; failed != (want == lifecycle.RolledBack) {
				t.Errorf("the operation failed with %+v", o.Failure)
			}
			if o, err := p.Modify(t.Context(), alice, i.ID, change); err != nil || o.State != lifecycle.Completed {
				t.Errorf("the repeat ended %s, %v", o.State, err)
			}
		})
	}
}

// Nobody stops the one request that replaces a credential: a cancel says so, and leaves no wish behind.
func TestReplacingACredentialIsNotCanceled(t *testing.T) {
	p := newPlant(t)
	i := p.brings()
	p.clock.Add(time.Second) // so that the newest operation is first
	newest := func() lifecycle.Operation {
		t.Helper()
		found, _, err := p.Operations(t.Context(), alice, lifecycle.OperationQuery{Instance: i.ID})
		if err != nil || len(found) == 0 {
			t.Fatalf("%d operations, %v", len(found), err)
		}
		return found[0]
	}
	asked := 0
	p.lends.changing = func() error {
		for _, mode := range []lifecycle.CancelMode{lifecycle.Graceful, lifecycle.Forceful} {
			asked++
			o := newest()
			_, err := p.Cancel(t.Context(), alice, o.ID, mode)
			wantKind(t, err, broker.ErrConflict)
			if found := new(broker.Error); !errors.As(err, &found) || !strings.Contains(found.Detail, "MODIFY_INFO") || found.Remedy == "" {
				t.Errorf("a cancel is refused with %v", err)
			}
			if now := newest(); o.State != lifecycle.Starting || now.Cancel != "" || now.Revision != o.Revision {
				t.Errorf("after a cancel the operation is %+v", now)
			}
		}
		return nil
	}
	token := lifecycle.InlineVIM{Credential: broker.Credential{Token: secret.NewText("two")}}
	o, err := p.Modify(t.Context(), alice, i.ID, lifecycle.Modification{Connection: "site", Inline: &token})
	if err != nil || o.State != lifecycle.Completed || o.Cancel != "" || asked != 2 {
		t.Errorf("Modify = %+v, %v, after %d cancels", o, err, asked)
	}
}

// A process that takes longer than the operation's deadline writes nothing more once the job has begun.
func TestReplacingThatIsTooSlowIsFenced(t *testing.T) {
	p := newPlant(t)
	i := p.brings()
	p.clock.Add(time.Second) // so that the newest operation is first
	p.lends.changing = func() error {
		p.clock.Add(2 * time.Minute)
		_, err := p.store.TakeJobs(t.Context(), lifecycle.JobKind, 10, p.clock.Now().Add(time.Minute))
		return err
	}
	token := lifecycle.InlineVIM{Credential: broker.Credential{Token: secret.NewText("two")}}
	_, err := p.Modify(t.Context(), alice, i.ID, lifecycle.Modification{Connection: "site", Inline: &token})
	wantKind(t, err, broker.ErrUnavailable)
	found, _, err := p.Operations(t.Context(), alice, lifecycle.OperationQuery{Instance: i.ID})
	if err != nil || found[0].State != lifecycle.Starting {
		t.Errorf("the operation is %s, %v: want it left to its job", found[0].State, err)
	}
}
