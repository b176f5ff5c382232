package grant

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/broker/asset"
	"github.com/vimbroker/vimbroker/broker/clientconfig"
	"github.com/vimbroker/vimbroker/broker/oauth"
	"github.com/vimbroker/vimbroker/policy"
	"github.com/vimbroker/vimbroker/policy/audit"
	"github.com/vimbroker/vimbroker/policy/egress"
	"github.com/vimbroker/vimbroker/test/came"
	"github.com/vimbroker/vimbroker/test/fake"
	"github.com/vimbroker/vimbroker/test/real/pki"
	"github.com/vimbroker/vimbroker/test/testlog"
)

var errStep = errors.New("the step fails")

// books keep grants in memory, lend leases, and answer for a VNFM; steps that are named fail.
type books struct {
	Store
	all      map[string]Grant
	fails    map[string]error
	taken    []string
	ended    bool
	reason   broker.Reason
	follows  bool
	says     string // the state of the operation
	denied   policy.Action
	left     int // grants to forget
	selected broker.LeaseSelector
	asked    Filter
	meantime func(*Grant)
	lent     asset.Asset
	wish     broker.LeaseRequest
	client   oauth.Client
	log      strings.Builder
	said     []string // each step with what it was given, and what came of it
}

func (b *books) step(name string, given ...any) error {
	b.said = append(b.said, came.Call(name, given...))
	return fake.Step(&b.taken, b.fails, name)
}

func (b *books) find(step, id string) (Grant, error) {
	if err := b.step(step, id); err != nil {
		return Grant{}, err
	}
	if g, there := b.all[id]; there {
		return g, nil
	}
	return Grant{}, broker.ErrNotFound
}

func (b *books) VNFGrant(_ context.Context, id string) (Grant, error) { return b.find("VNFGrant", id) }

func (b *books) VNFGrantOf(_ context.Context, client, operation string) (Grant, error) {
	b.said = append(b.said, came.Call("of", client, operation))
	return b.find("VNFGrantOf", "g")
}

func (b *books) HoldingVNFGrant(_ context.Context, client, instance string) (Grant, error) {
	b.said = append(b.said, came.Call("held", client, instance))
	return b.find("HoldingVNFGrant", "held")
}

func (b *books) DueVNFGrants(_ context.Context, now time.Time, each, most int) ([]Grant, error) {
	return []Grant{b.all["g"]}, b.step("DueVNFGrants", now, each, most)
}

func (b *books) NoteVNFGrant(_ context.Context, g Grant, next time.Time) error {
	now := b.all[g.ID]
	now.LookAt = next
	b.all[g.ID] = now
	return b.step("NoteVNFGrant", g, next)
}

func (b *books) UpdateVNFGrant(_ context.Context, id string, change func(*Grant) error, e audit.Entry) (Grant, error) {
	g := b.all[id]
	if err := b.step("UpdateVNFGrant", id); err != nil {
		return Grant{}, err
	}
	if b.meantime != nil {
		b.meantime(&g)
	}
	was := g
	if err := change(&g); err != nil {
		b.said = append(b.said, fmt.Sprintf("  not changed: %v", err))
		return Grant{}, err
	}
	b.said = append(append(b.said, came.Changes(was, g)...), came.Call("  entry", e))
	b.all[id] = g
	return g, nil
}

func (b *books) ForgetVNFGrants(_ context.Context, client string, before time.Time, most int) (int, error) {
	n := min(b.left, most)
	b.left -= n
	return n, b.step("ForgetVNFGrants", client, before, most)
}

func (b *books) Append(_ context.Context, e audit.Entry) error { return b.step("Append", e) }

func (b *books) CreateVNFGrant(_ context.Context, g Grant, most int, e audit.Entry) error {
	if err := b.step("CreateVNFGrant", g, most, e); err != nil {
		return err
	}
	b.all[g.ID] = g
	return nil
}

func (b *books) VNFGrantRecords(_ context.Context, f Filter) ([]Record, string, error) {
	b.asked = f
	return nil, "", b.step("VNFGrantRecords", f)
}

func (b *books) IssueLease(_ context.Context, p policy.Principal, r broker.LeaseRequest) (broker.Lease, clientconfig.Config, error) {
	b.wish = r
	return broker.Lease{ID: "lease", VIM: "v"}, clientconfig.Config{}, b.step("IssueLease", p, r)
}

func (b *books) EndLeases(ctx context.Context, p policy.Principal, s broker.LeaseSelector) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	b.selected = s
	return b.step("EndLeases", p, s)
}

func (b *books) Ended(_ context.Context, lease string) (bool, broker.Reason, error) {
	return b.ended, b.reason, b.step("Ended", lease)
}

func (b *books) Replaceable(_ context.Context, lease string) (bool, error) {
	return b.follows, b.step("Replaceable", lease)
}

func (b *books) Acting(_ context.Context, p policy.Principal) (oauth.Client, error) {
	return b.client, b.step("Acting", p)
}

func (b *books) OperationState(_ context.Context, url string, _ *egress.Rules) (string, error) {
	return b.says, b.step("OperationState", url)
}

func (b *books) lend(_ context.Context, p policy.Principal, kind policy.Kind, ref string, on ...broker.VIM) (asset.Asset, error) {
	return b.lent, b.step("Lend", p, kind, ref, on)
}

func (b *books) Decide(r policy.Request) policy.Decision {
	b.said = append(b.said, came.Call("ask", r))
	return policy.Decision{Allowed: r.Action != b.denied}
}

var (
	start = time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC)
	vnfm  = policy.Principal{Name: "client:c", Project: "p"}
)

// newBooks has one grant that was given: it lends a token of its own.
func newBooks(t *testing.T) (*books, *Grants) {
	b := &books{client: oauth.Client{ID: "c", Project: "p", Name: "vnfm"}, fails: map[string]error{}, all: map[string]Grant{"g": {
		ID: "g", Client: "c", Project: "p", Maker: "g", State: Granted, CreatedAt: start, DecidedAt: start,
		Request:   GrantRequest{ID: "op", Type: "SCALE", Instance: "i", OperationURL: "https://vnfm/vnflcm/v1/vnf_lcm_op_occs/op"},
		Placement: oauth.Placement{Profile: oauth.Token},
	}}}
	return b, New(Options{
		Store: b, Leases: b, Clients: b, VNFM: b, Guard: &audit.Guard{Policy: b, Sink: b, Now: func() time.Time { return start }}, Lend: b.lend,
		Egress: func(string) *egress.Rules { return nil }, Log: testlog.To(t, slog.NewTextHandler(&b.log, nil)), Now: func() time.Time { return start.Add(time.Minute) },
	})
}

// came adds a case to the record of its test.
func (b *books) came(t *testing.T, what, answer string) {
	came.Of(t, nil).Add(what, answer, append(b.said, came.Logged(b.log.String())...))
}

func told(err error) string {
	if e, known := errors.AsType[*broker.Error](err); known {
		return strings.TrimSpace(e.Kind.Error() + " " + e.Field)
	}
	return fmt.Sprint(err)
}

// A grant that finds no room makes some, and says which step of that fails.
func TestWhatAGrantIsMadeOf(t *testing.T) {
	for what, c := range map[string]struct {
		fails map[string]error
		left  int
		want  error
	}{
		"room":                     {nil, 0, nil},
		"no room":                  {map[string]error{"CreateVNFGrant": broker.ErrQuota}, 0, broker.ErrQuota},
		"room that is made":        {map[string]error{"CreateVNFGrant 1": broker.ErrQuota}, 1, nil},
		"room that cannot be made": {map[string]error{"CreateVNFGrant 1": broker.ErrQuota, "ForgetVNFGrants": errStep}, 1, errStep},
		"room that another takes":  {map[string]error{"CreateVNFGrant 1": broker.ErrQuota, "CreateVNFGrant 2": errStep}, 1, errStep},
	} {
		b, g := newBooks(t)
		b.left = c.left
		for step, err := range c.fails {
			b.fails[step] = err
		}
		one := b.all["g"]
		one.ID = "new"
		act, err := g.desk.Enter(t.Context(), vnfm, policy.GrantRequest, one.Resource())
		if err != nil {
			t.Fatal(err)
		}
		err = g.create(t.Context(), one, act)
		if !errors.Is(err, c.want) || (b.all["new"].ID != "") != (c.want == nil) {
			t.Errorf("%s: %v, want %v", what, err, c.want)
		}
		b.came(t, what, fmt.Sprint(err))
	}
	// What an instance has is asked for, and its failure is the grant's.
	b, g := newBooks(t)
	held := b.all["g"]
	held.Lease = "lease"
	b.all["held"], b.fails["Ended"] = held, errStep
	made := b.all["g"]
	act, err := g.desk.Enter(t.Context(), vnfm, policy.GrantRequest, made.Resource())
	if err != nil {
		t.Fatal(err)
	}
	if err := g.place(t.Context(), vnfm, oauth.Client{ID: "c"}, &made, act); !errors.Is(err, errStep) {
		t.Errorf("a lease of which nothing is known: %v", err)
	}
	// A lease that takes another's place is asked for while the grant is decided on, and not again.
	for state, resumed := range map[State]bool{Deciding: true, Granted: false} {
		b, g := newBooks(t)
		one := b.all["g"]
		one.State, one.Resumes = state, true
		if _, err := g.lend(t.Context(), vnfm, one, act); err != nil || b.wish.Resumed != resumed {
			t.Errorf("of a grant that is %s the lease takes a place: %t, %v", state, b.wish.Resumed, err)
		}
	}
	// What has ended, and perhaps not so, is not replaced.
	b, g = newBooks(t)
	b.ended, b.follows, b.fails["Ended"] = true, true, errStep
	if err := g.stillThere(t.Context(), Grant{State: Deciding, Lease: "lease"}, Grant{}); !errors.Is(err, broker.ErrConflict) {
		t.Errorf("a lease that may have ended: %v", err)
	}
	b, g = newBooks(t)
	for _, state := range append(States(), "") {
		if _, _, err := g.Records(t.Context(), vnfm, Query{State: state}); err != nil {
			t.Errorf("those that are %q: %v", state, err)
		}
	}
	if _, _, err := g.Records(t.Context(), vnfm, Query{State: "lent"}); told(err) != broker.ErrInvalid.Error()+" state" {
		t.Errorf("those of no state: %v", err)
	}
	if _, _, err := g.Records(t.Context(), vnfm, Query{}); err != nil || !strings.Contains(b.said[len(b.said)-1], "Page:{Size:") {
		t.Errorf("a page of no size: %v, after %q", err, b.said)
	}
	b.fails["VNFGrantRecords"] = errStep
	if _, _, err := g.Records(t.Context(), vnfm, Query{}); !errors.Is(err, errStep) {
		t.Errorf("a list that is unread: %v", err)
	}
}

// What becomes of grants, and of what they lend, where a step fails or another is faster.
func TestWhatBecomesOfGrants(t *testing.T) {
	follow := func(ctx context.Context, b *books, g *Grants) string { return told(g.Follow(ctx)) }
	notify := func(state string) func(context.Context, *books, *Grants) string {
		return func(ctx context.Context, _ *books, g *Grants) string { return told(g.Notify(ctx, vnfm, "op", state)) }
	}
	goesOn := func(ctx context.Context, b *books, g *Grants) string {
		goes, resumes, err := g.goesOn(ctx, vnfm, b.all["g"])
		return fmt.Sprint(goes, resumes, " ", told(err))
	}
	still := func(ctx context.Context, b *books, g *Grants) string {
		return told(g.stillThere(ctx, b.all["g"], Grant{Lease: "of the maker"}))
	}
	conclude := func(ctx context.Context, b *books, g *Grants) string {
		one := b.all["g"]
		act, err := g.desk.Enter(ctx, vnfm, policy.GrantRequest, one.Resource())
		if err != nil {
			return err.Error()
		}
		got, loan, err := g.conclude(ctx, vnfm, one, act)
		return fmt.Sprint(got.State, ", ", loan.Lease.ID, ", ", told(err))
	}
	failed := func(why error) func(context.Context, *books, *Grants) string {
		return func(ctx context.Context, b *books, g *Grants) string {
			act, err := g.desk.Enter(ctx, vnfm, policy.GrantRequest, b.all["g"].Resource())
			if err != nil {
				return err.Error()
			}
			return told(g.failed(ctx, b.all["g"], act, why))
		}
	}
	state := func(to State) func(*books, *Grant) { return func(_ *books, g *Grant) { g.State = to } }
	fails := func(steps ...string) func(*books, *Grant) {
		return func(b *books, _ *Grant) {
			for _, step := range steps {
				b.fails[step] = errStep
			}
		}
	}
	both := func(all ...func(*books, *Grant)) func(*books, *Grant) {
		return func(b *books, g *Grant) {
			for _, one := range all {
				one(b, g)
			}
		}
	}
	says := func(to string) func(*books, *Grant) { return func(b *books, _ *Grant) { b.says = to } }
	instance := func(kind GrantedOperation) func(*books, *Grant) {
		return func(_ *books, g *Grant) { g.Request.Type, g.Placement.Profile, g.Holds = kind, "", true }
	}
	meantime := func(to State) func(*books, *Grant) {
		return func(b *books, _ *Grant) { b.meantime = func(g *Grant) { g.State = to } }
	}
	lease := func(_ *books, g *Grant) { g.Lease = "lease" }
	over := func(b *books, g *Grant) { lease(b, g); b.ended = true }
	connects := func(_ *books, g *Grant) {
		g.State, g.Request.Type, g.Placement.Links = Deciding, "CHANGE_EXT_CONN", map[string]string{"cp": "net"}
	}
	manages := func(_ *books, g *Grant) {
		g.State, g.Request.Type, g.Placement.ManagedLinks = Deciding, Instantiate, map[string]string{"internal": "net"}
	}
	conflict := func(step string) func(*books, *Grant) {
		return func(b *books, _ *Grant) { b.fails[step] = &broker.Error{Kind: broker.ErrConflict} }
	}
	old := func(age time.Duration) func(*books, *Grant) {
		return func(_ *books, g *Grant) { g.DecidedAt = start.Add(time.Minute - age) }
	}
	for _, c := range []struct {
		what  string
		given func(*books, *Grant)
		do    func(context.Context, *books, *Grants) string
		want  string // what comes of it; the state of the grant; what was selected to end
	}{
		{"an operation goes on", says("PROCESSING"), follow, "<nil>; granted; "},
		{"an operation has ended", says("COMPLETED"), follow, "<nil>; ended; op"},
		{"an operation that says nothing", fails("OperationState"), follow, "<nil>; granted; "},
		{"an operation that was asked about for long", old(followFor), follow, "<nil>; ended; op"},
		{"one that was asked about for nearly as long", old(followFor - 1), follow, "<nil>; granted; "},
		{"one that was asked about for long, unended", both(old(followFor), fails("UpdateVNFGrant")), follow, "the step fails; granted; op"},
		{"one that cannot be asked about, after long", both(old(followFor), func(_ *books, g *Grant) { g.Request.OperationURL = "" }), follow, "<nil>; ended; op"},
		{"one that cannot be asked about", func(_ *books, g *Grant) { g.Request.OperationURL = "" }, follow, "<nil>; granted; "},
		{"another replica is at it", both(says("COMPLETED"), conflict("NoteVNFGrant")), follow, "<nil>; granted; "},
		{"a look that is not noted", both(says("COMPLETED"), fails("NoteVNFGrant")), follow, "the step fails; granted; "},
		{"unlisted", fails("DueVNFGrants"), follow, "the step fails; granted; "},
		{"undecided for long", state(Deciding), follow, "<nil>; refused; op"},
		{"undecided for long, without the right to", both(state(Deciding), func(b *books, _ *Grant) { b.denied = policy.GrantEnd }), follow, "denied; deciding; "},
		{"undecided for long, and decided now", both(state(Deciding), meantime(Granted)), follow, "<nil>; deciding; "},
		{"undecided for long, unstored", both(state(Deciding), fails("UpdateVNFGrant")), follow, "the step fails; deciding; "},
		{"undecided for long, and its lease stays", both(state(Deciding), fails("EndLeases")), follow, "the step fails; refused; op"},
		{"undecided for long, of another's lease", both(state(Deciding), func(_ *books, g *Grant) { g.Maker = "held" }), follow, "<nil>; refused; "},
		{"refused", state(Refused), follow, "<nil>; refused; op"},
		{"refused, and its lease stays", both(state(Refused), fails("EndLeases")), follow, "the step fails; refused; op"},
		{"refused, unnoted", both(state(Refused), fails("NoteVNFGrant")), follow, "the step fails; refused; op"},
		{"refused, and another clears it", both(state(Refused), conflict("NoteVNFGrant")), follow, "<nil>; refused; op"},

		{"told of an end", nil, notify("COMPLETED"), "<nil>; ended; op"},
		{"told of no end", nil, notify("PROCESSING"), "<nil>; granted; "},
		{"told of an end before", state(Ended), notify("COMPLETED"), "<nil>; ended; "},
		{"told of another's", fails("Acting"), notify("COMPLETED"), "the step fails; granted; "},
		{"told of what is unread", fails("VNFGrantOf"), notify("COMPLETED"), "the step fails; granted; "},
		{"told of an end, without the right to", func(b *books, _ *Grant) { b.denied = policy.GrantEnd }, notify("COMPLETED"), "denied; granted; "},
		{"told of an end, and the lease stays", fails("EndLeases"), notify("COMPLETED"), "the step fails; granted; op"},
		{"told of an end by two", meantime(Ended), notify("COMPLETED"), "<nil>; granted; op"},
		{"told of the end of an instance's", instance("SCALE"), notify("COMPLETED"), "<nil>; ended; "},
		{"told of an instance that never was", instance(Instantiate), notify("FAILED"), "<nil>; ended; op"},
		{"told of an instance that is", instance(Instantiate), notify("COMPLETED"), "<nil>; ended; "},
		{"told of an instance that is no more", instance(Terminate), notify("COMPLETED"), "<nil>; ended; i"},
		{"told of one that stays", instance(Terminate), notify("FAILED"), "<nil>; ended; "},
		{"told of one, and the newest is unread", both(instance(Terminate), fails("HoldingVNFGrant")), notify("COMPLETED"), "the step fails; granted; "},
		{"told of one that came again", both(instance(Terminate), func(b *books, g *Grant) {
			b.all["held"] = Grant{CreatedAt: start.Add(1)}
		}), notify("COMPLETED"), "<nil>; ended; op"},
		{
			"told of one whose newest is as old", both(instance(Terminate), func(b *books, _ *Grant) { b.all["held"] = Grant{CreatedAt: start} }),
			notify("COMPLETED"), "<nil>; ended; i",
		},
		{"told of one that came again, and its maker is forgotten", both(instance(Terminate), func(b *books, g *Grant) {
			b.all["held"], g.Maker = Grant{CreatedAt: start.Add(1)}, "gone"
		}), notify("COMPLETED"), "<nil>; ended; "},
		{"told of one that came again, and its maker is unread", both(instance(Terminate), fails("VNFGrant"), func(b *books, _ *Grant) {
			b.all["held"] = Grant{CreatedAt: start.Add(1)}
		}), notify("COMPLETED"), "the step fails; granted; "},

		{"what is held and lends nothing yet", state(Deciding), goesOn, "true false <nil>; deciding; "},
		{"what is held and lends nothing", nil, goesOn, "false false <nil>; granted; "},
		{"what lives", lease, goesOn, "true false <nil>; granted; "},
		{"what is unread", both(lease, fails("Ended")), goesOn, "false false the step fails; granted; "},
		{"what has ended, and is unread", both(over, fails("Ended")), goesOn, "false false the step fails; granted; "},
		{"what is forgotten", both(lease, func(b *books, _ *Grant) { b.fails["Ended"] = broker.ErrNotFound }), goesOn, "false false <nil>; granted; "},
		{"what has ended", over, goesOn, "false false <nil>; granted; "},
		{"what has ended, and can be followed", both(over, func(b *books, _ *Grant) { b.follows = true }), goesOn, "true false <nil>; granted; "},
		{"what has ended, and that is unread", both(over, fails("Replaceable")), goesOn, "false false the step fails; granted; "},
		{"what was revoked", both(over, func(b *books, _ *Grant) { b.follows, b.reason = true, broker.ReasonRequested }), goesOn, "true true <nil>; granted; "},
		{"what was revoked, without the right to", both(over, func(b *books, _ *Grant) {
			b.reason, b.denied = broker.ReasonRequested, policy.GrantResume
		}), goesOn, "false false denied; granted; "},

		{"no lease yet", func(*books, *Grant) {}, func(ctx context.Context, b *books, g *Grants) string {
			return told(g.stillThere(ctx, Grant{}, Grant{})) + fmt.Sprint(len(b.taken))
		}, "<nil>0; granted; "},
		{"a lease that lives", nil, still, "<nil>; granted; "},
		{"a lease that has ended", over, still, "conflict; granted; "},
		{"a lease that is forgotten", both(lease, func(b *books, _ *Grant) { b.fails["Ended"] = broker.ErrNotFound }), still, "conflict; granted; "},
		{"a lease that is unread", both(lease, fails("Ended")), still, "the step fails; granted; "},
		{"a lease that has ended, and can be followed", both(over, state(Deciding), func(b *books, _ *Grant) { b.follows = true }), still, "<nil>; deciding; "},
		{"a lease that has ended, and cannot", both(over, state(Deciding)), still, "conflict; deciding; "},
		{"a lease that has ended, and that is unread", both(over, state(Deciding), fails("Replaceable")), still, "the step fails; deciding; "},

		{"granting", state(Deciding), conclude, "granted, lease, <nil>; granted; "},
		{"granting what is granted", nil, conclude, "granted, lease, <nil>; granted; "},
		{"granting what is granted, unrecorded", fails("Append"), conclude, ", , temporarily unavailable; granted; "},
		{"granting what was refused", state(Refused), conclude, ", , denied; refused; "},
		{"granting what is granted meanwhile", both(state(Deciding), meantime(Granted)), conclude, "deciding, lease, <nil>; deciding; "},
		{"granting what is refused meanwhile", both(state(Deciding), meantime(Refused)), conclude, ", , denied; deciding; op"},
		{"granting what is refused meanwhile, unread", both(state(Deciding), meantime(Refused), fails("VNFGrant")), conclude, ", , the step fails; deciding; "},
		{"granting, unstored", both(state(Deciding), fails("UpdateVNFGrant")), conclude, ", , the step fails; deciding; "},
		{"granting another's lease, unread", both(state(Deciding), fails("VNFGrant"), func(_ *books, g *Grant) { g.Maker = "held" }), conclude, ", , the step fails; deciding; "},
		{"granting another's lease, whose tokens cannot be fetched", both(state(Deciding), func(b *books, g *Grant) {
			b.all["held"], g.Maker, g.Placement.Profile = *g, "held", oauth.OIDC
		}), func(ctx context.Context, b *books, g *Grants) string {
			g.Standing = false
			return conclude(ctx, b, g)
		}, ", , not supported; deciding; "},
		{"granting a link", both(connects, func(b *books, _ *Grant) { b.lent.Made.Network = "n" }), conclude, "granted, lease, <nil>; granted; "},
		{"granting a link that is none on a cloud", connects, conclude, ", , denied; refused; "},
		{"granting a link that is unread", both(connects, fails("Lend")), conclude, ", , the step fails; deciding; "},
		{"granting a link that there is not", both(connects, func(b *books, _ *Grant) { b.fails["Lend"] = broker.ErrNotFound }), conclude, ", , denied; refused; "},

		{"granting a managed link that there is not", both(manages, func(b *books, _ *Grant) { b.fails["Lend"] = broker.ErrNotFound }), conclude, ", , denied; refused; "},
		{"granting a managed link that is unread", both(manages, fails("Lend")), conclude, ", , the step fails; deciding; "},
		{"granting what cannot be asked about", both(state(Deciding), func(_ *books, g *Grant) { g.Request.OperationURL = "" }), conclude, "granted, lease, <nil>; granted; "},

		{"a cause that is final", state(Deciding), failed(&broker.Error{Kind: broker.ErrUnsupported}), "denied; refused; "},
		{"a cause that may pass", state(Deciding), failed(&broker.Error{Kind: broker.ErrUnreachable}), "VIM unreachable; deciding; "},
		{"a cause of no kind", state(Deciding), failed(errStep), "the step fails; deciding; "},
		{"a key in use", state(Deciding), failed(&broker.Error{Kind: broker.ErrConflict, RetryAfter: 1}), "temporarily unavailable; deciding; "},
		{"a cause that says when", state(Deciding), failed(&broker.Error{Kind: broker.ErrDenied, RetryAfter: 1}), "denied; deciding; "},
		{"a lease that is lost", nil, failed(&broker.Error{Kind: broker.ErrConflict}), "denied; granted; "},
		{"a lease that is not to be had now", nil, failed(&broker.Error{Kind: broker.ErrUnsupported}), "not supported; granted; "},
		{"a cause that is final, decided meanwhile", both(state(Deciding), meantime(Granted)), failed(&broker.Error{Kind: broker.ErrDenied}), "temporarily unavailable; deciding; "},
		{"a cause that is final, unstored", both(state(Deciding), fails("UpdateVNFGrant")), failed(&broker.Error{Kind: broker.ErrDenied}), "the step fails; deciding; "},
		{"a conflict of no lease", state(Deciding), func(_ context.Context, b *books, g *Grants) string {
			return told(g.lost(b.all["g"], &broker.Error{Kind: broker.ErrConflict}))
		}, "conflict; deciding; "},

		{"forgetting", func(b *books, _ *Grant) { b.left = forgetAtOnce + 1 }, func(ctx context.Context, b *books, g *Grants) string {
			return fmt.Sprint(g.Forget(ctx), b.left, len(b.taken))
		}, "<nil> 0 2; granted; "},
		{"forgetting as many as at once", func(b *books, _ *Grant) { b.left = forgetAtOnce }, func(ctx context.Context, b *books, g *Grants) string {
			return fmt.Sprint(g.Forget(ctx), b.left, len(b.taken))
		}, "<nil> 0 2; granted; "},
		{"forgetting, unstored", both(fails("ForgetVNFGrants"), func(b *books, _ *Grant) { b.left = forgetAtOnce }), func(ctx context.Context, _ *books, g *Grants) string {
			return told(g.Forget(ctx))
		}, "the step fails; granted; "},
		{"waiting for a turn that does not come", nil, func(ctx context.Context, _ *books, g *Grants) string {
			_, leave, err := g.turn(ctx, "g")
			defer leave()
			ending, cancel := context.WithCancel(ctx)
			cancel()
			waited, _, ended := g.turn(ending, "g")
			g.Patience = 1
			long, _, late := g.turn(ctx, "g")
			return fmt.Sprint(err, waited, errors.Is(ended, context.Canceled), long, told(late))
		}, "<nil> true true truetemporarily unavailable; granted; "},
	} {
		b, g := newBooks(t)
		if one := b.all["g"]; c.given != nil {
			c.given(b, &one)
			b.all["g"] = one
		}
		got := c.do(t.Context(), b, g)
		got = fmt.Sprint(got, "; ", b.all["g"].State, "; ", b.selected.Operation, b.selected.Instance)
		if got != c.want {
			t.Errorf("%s: %s, want %s, after %q", c.what, got, c.want, b.taken)
		}
		b.came(t, c.what, got)
	}
}

// Of each kind of error a grant that is decided on either is refused for good, or stays as it is; one that was given stays.
func TestWhichErrorsRefuseAGrant(t *testing.T) {
	for kind, final := range map[error]bool{
		broker.ErrNotFound: true, broker.ErrInvalid: true, broker.ErrConflict: true, broker.ErrDenied: true, broker.ErrUnsupported: true,
		broker.ErrExists: false, broker.ErrPrecondition: false, broker.ErrQuota: false, broker.ErrUnauthorized: false,
		broker.ErrForbidden: false, broker.ErrUnreachable: false, broker.ErrUnavailable: false, broker.ErrUnopenable: false,
	} {
		for state, refused := range map[State]bool{Deciding: final, Granted: false, Ended: false} {
			b, g := newBooks(t)
			one := b.all["g"]
			one.State = state
			b.all["g"] = one
			act, err := g.desk.Enter(t.Context(), vnfm, policy.GrantRequest, one.Resource())
			if err != nil {
				t.Fatal(err)
			}
			why := &broker.Error{Kind: kind, Detail: "why"}
			err = g.failed(t.Context(), one, act, why)
			if now := b.all["g"]; (now.State == Refused) != refused || refused != (now.Refusal == why.Error()) {
				t.Errorf("a grant that is %s is %s, %q, after: %v", state, now.State, now.Refusal, kind)
			}
			if want := (refused || state != Deciding && kind == broker.ErrConflict); errors.Is(err, broker.ErrDenied) != (want || kind == broker.ErrDenied) ||
				!want && !errors.Is(err, kind) {
				t.Errorf("of a grant that is %s the client is told %v, after: %v", state, err, kind)
			}
		}
	}
}

// The grants of operations that connect an instance name its networks, those that the VNFM manages too; those of the others
// name none.
func TestWhichGrantsNameNetworks(t *testing.T) {
	for _, operation := range operations {
		names := operation == Instantiate || slices.Contains([]GrantedOperation{"CHANGE_FLAVOUR", "CHANGE_EXT_CONN", "CHANGE_VNFPKG"}, operation)
		b, g := newBooks(t)
		b.lent = asset.Asset{Name: "sgi", Made: asset.Made{Network: "n"}}
		one := b.all["g"]
		one.State, one.Request.Type = Deciding, operation
		one.Placement.Links, one.Placement.ManagedLinks = map[string]string{"cp": "a"}, map[string]string{"internal": "b"}
		b.all["g"] = one
		act, err := g.desk.Enter(t.Context(), vnfm, policy.GrantRequest, one.Resource())
		if err != nil {
			t.Fatal(err)
		}
		if _, _, err = g.conclude(t.Context(), vnfm, one, act); err != nil {
			t.Fatal(err)
		}
		now := b.all["g"]
		if now.State != Granted || (now.Links["cp"].Name == "sgi") != names || (now.ManagedLinks["internal"].Name == "sgi") != names ||
			!names && len(now.Links)+len(now.ManagedLinks) > 0 {
			t.Errorf("the grant of %s names %v and %v", operation, now.Links, now.ManagedLinks)
		}
	}
}

// A grant of an instance makes a lease of its own, or has that of the grant before, by what became of it; whether it resumes the
// instance is another matter.
func TestWhoMakesTheLeaseOfAnInstance(t *testing.T) {
	for _, reason := range []broker.Reason{broker.ReasonRequested, broker.ReasonExpired} {
		for _, follows := range []bool{true, false} {
			b, g := newBooks(t)
			held := b.all["g"]
			held.ID, held.Maker, held.Lease, held.VIM, held.Placement.VIM = "held", "held", "lease", "id of v", "v"
			b.all["held"], b.ended, b.reason, b.follows = held, true, reason, follows
			made := b.all["g"]
			act, err := g.desk.Enter(t.Context(), vnfm, policy.GrantRequest, made.Resource())
			if err != nil {
				t.Fatal(err)
			}
			if err := g.place(t.Context(), vnfm, oauth.Client{ID: "c"}, &made, act); err != nil {
				t.Fatal(err)
			}
			maker, vim := "g", "id of v"
			if follows {
				maker, vim = "held", "v"
			}
			if made.Maker != maker || made.Placement.VIM != vim || made.Resumes != (reason == broker.ReasonRequested) {
				t.Errorf("%s, followed %t: made by %s on %s, resumes %t", reason, follows, made.Maker, made.Placement.VIM, made.Resumes)
			}
		}
	}
}

// What was lent for a grant that was refused meanwhile is taken back, though its client has gone.
func TestALeaseIsTakenBackThoughItsClientIsGone(t *testing.T) {
	b, g := newBooks(t)
	one := b.all["g"]
	one.State = Deciding
	b.all["g"] = one
	ctx, gone := context.WithCancel(t.Context())
	b.meantime = func(now *Grant) {
		now.State = Refused
		gone()
	}
	act, err := g.desk.Enter(ctx, vnfm, policy.GrantRequest, one.Resource())
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := g.conclude(ctx, vnfm, one, act); !errors.Is(err, broker.ErrDenied) || b.selected.Operation != "op" {
		t.Errorf("the client is told %v, and the leases end of the operation %q", err, b.selected.Operation)
	}
}

// A VIM is looked for by its id or by the name that it had, never by both.
func TestGrantsAreListedByTheIDOfAVIMOrItsName(t *testing.T) {
	const id = "1c0a7f9e-3c0e-4a54-9a0c-0d6a2c9f7b22"
	for vim, want := range map[string]Filter{"": {}, "nfv1": {VIMName: "nfv1"}, id: {Query: Query{VIM: id}}} {
		b, g := newBooks(t)
		if _, _, err := g.Records(t.Context(), vnfm, Query{VIM: vim}); err != nil || b.asked.VIM != want.VIM || b.asked.VIMName != want.VIMName {
			t.Errorf("%q selects the id %q and the name %q: %v", vim, b.asked.VIM, b.asked.VIMName, err)
		}
	}
}

// What is made of a request for a grant, and who is shown a grant: all that decides, by itself.
func TestWhatComesOfARequest(t *testing.T) {
	ask := GrantRequest{
		ID: "op", Type: Instantiate, Instance: "i", VNFD: "d", OperationURL: "https://vnfm/vnflcm/v1/vnf_lcm_op_occs/op", InstanceURL: "https://vnfm/i",
	}
	scale := ask
	scale.Type = "SCALE"
	request := func(r GrantRequest) func(context.Context, *books, *Grants) string {
		return func(ctx context.Context, b *books, g *Grants) string {
			made, loan, err := g.Request(ctx, vnfm, r)
			return fmt.Sprint(made.State, ", ", loan.Lease.ID, len(loan.Config.CACert) > 0, ", ", told(err))
		}
	}
	show := func(p policy.Principal) func(context.Context, *books, *Grants) string {
		return func(ctx context.Context, b *books, g *Grants) string {
			const id = "1c0a7f9e-3c0e-4a54-9a0c-0d6a2c9f7b22"
			one := b.all["g"]
			one.ID, one.Maker = id, id
			b.all[id] = one
			found, loan, err := g.Grant(ctx, p, id)
			return fmt.Sprint(found.State, ", ", loan.Lease.ID, ", ", told(err))
		}
	}
	lends := func(profile oauth.Lending) func(*books, *Grants) {
		return func(b *books, _ *Grants) { b.client.Placements[0].Profile = profile }
	}
	fetches := func(standing bool, ca func() string) func(*books, *Grants) {
		return func(b *books, g *Grants) {
			g.Standing, g.IssuerCA = standing, ca
			b.client.Placements[0].Profile = oauth.OIDC
		}
	}
	fails := func(step string, err error) func(*books, *Grants) {
		return func(b *books, _ *Grants) { b.fails[step] = err }
	}
	again := func(change func(*Grant)) func(*books, *Grants) {
		return func(b *books, g *Grants) {
			delete(b.fails, "VNFGrantOf")
			one := b.all["g"]
			one.Request, one.State = ask, Deciding
			one.Digest, _ = ask.digest("g")
			change(&one)
			b.all["g"] = one
		}
	}
	holds := func(change func(*books, *Grant)) func(*books, *Grants) {
		return func(b *books, _ *Grants) {
			held := b.all["g"]
			held.ID, held.Maker, held.Lease, held.VIM, held.Placement.VIM = "held", "held", "lease", "id of v", "v"
			change(b, &held)
			b.all["held"] = held
		}
	}
	later := func(_ *books, g *Grants) { g.Later = true }
	same := func(*books, *Grants) {}
	ca, err := pki.NewCA("lab")
	if err != nil {
		t.Fatal(err)
	}
	bob := policy.Principal{Name: "client:b", Project: "p"}
	for _, c := range []struct {
		what  string
		given func(*books, *Grants)
		do    func(context.Context, *books, *Grants) string
		want  string
	}{
		{"a request", same, request(ask), "granted, leasefalse, <nil>"},
		{"a request that is decided later", later, request(ask), "deciding, false, <nil>"},
		{"a request without the right to", func(b *books, _ *Grants) { b.denied = policy.GrantRequest }, request(ask), ", false, denied"},
		{"a request of no operation", same, request(GrantRequest{Type: "SCALE", Instance: "i", VNFD: "d", OperationURL: ask.OperationURL, InstanceURL: ask.InstanceURL}), ", false, invalid vnfLcmOpOccId"},
		{"a request of no client", fails("Acting", errStep), request(ask), ", false, the step fails"},
		{"a request that no placement matches", func(b *books, _ *Grants) { b.client.Placements = nil }, request(ask), ", false, denied"},
		{"a request, and what was before is unread", fails("VNFGrantOf", errStep), request(ask), ", false, the step fails"},
		{"a request, unstored", fails("CreateVNFGrant", errStep), request(ask), ", false, the step fails"},
		{"a request, and a lease is refused", fails("IssueLease", &broker.Error{Kind: broker.ErrDenied}), request(ask), ", false, denied"},
		{"a request for a user", lends(oauth.User), request(ask), "granted, leasefalse, <nil>"},
		{"a request for what is fetched, without an issuer", fetches(false, nil), request(ask), ", false, not supported"},
		{"a request for what is fetched in plain", fetches(true, nil), request(ask), "granted, leasefalse, <nil>"},
		{"a request for what is fetched at an authority", fetches(true, func() string { return string(ca.PEM) }), request(ask), "granted, leasetrue, <nil>"},
		{"a request for what is fetched at no authority", fetches(true, func() string { return "" }), request(ask), ", false, not supported"},
		{"a request at the same moment", func(b *books, g *Grants) {
			again(func(*Grant) {})(b, g)
			b.fails["VNFGrantOf 1"], b.fails["CreateVNFGrant"] = broker.ErrNotFound, broker.ErrExists
		}, request(ask), "granted, leasefalse, <nil>"},
		{"a request at the same moment, unread", func(b *books, g *Grants) {
			b.fails["VNFGrantOf 1"], b.fails["CreateVNFGrant"] = broker.ErrNotFound, broker.ErrExists
			delete(b.fails, "VNFGrantOf")
			b.fails["VNFGrantOf 2"] = errStep
		}, request(ask), ", false, the step fails"},
		{"a request again", again(func(*Grant) {}), request(ask), "granted, leasefalse, <nil>"},
		{"a request again, granted", again(func(g *Grant) { g.State = Granted }), request(ask), "granted, leasefalse, <nil>"},
		{"a request again, refused", again(func(g *Grant) { g.State, g.Refusal = Refused, "why" }), request(ask), ", false, denied"},
		{"another request", again(func(g *Grant) { g.Digest = "other" }), request(ask), ", false, conflict vnfLcmOpOccId"},
		{"a request again that is decided later", func(b *books, g *Grants) { again(func(*Grant) {})(b, g); g.Later = true }, request(ask), "deciding, false, <nil>"},
		{"a request again that was decided later", func(b *books, g *Grants) {
			again(func(g *Grant) { g.State = Granted })(b, g)
			g.Later = true
		}, request(ask), "granted, leasefalse, <nil>"},
		{"a request of an instance", holds(func(*books, *Grant) {}), request(scale), "granted, leasefalse, <nil>"},
		{"a request of no instance", same, request(scale), "granted, leasefalse, <nil>"},
		{"a request of an instance that is unread", fails("HoldingVNFGrant", errStep), request(scale), ", false, the step fails"},
		{"a request of an instance whose lease has ended", holds(func(b *books, _ *Grant) { b.ended = true }), request(scale), "granted, leasefalse, <nil>"},
		{"a request of an instance that was revoked", holds(func(b *books, _ *Grant) {
			b.ended, b.reason, b.follows = true, broker.ReasonRequested, true
		}), request(scale), "granted, leasefalse, <nil>"},
		{"a request of an instance that lends a token", holds(func(b *books, g *Grant) {
			b.ended, g.Placement.Profile = true, ""
		}), request(scale), ", false, not supported"},

		{"shown", func(b *books, _ *Grants) {}, show(vnfm), "granted, lease, <nil>"},
		{"shown while it is decided", again(func(*Grant) {}), show(vnfm), "granted, lease, <nil>"},
		{"shown to another", same, show(bob), ", , denied"},
		{"shown without the right to", func(b *books, _ *Grants) { b.denied = policy.GrantShow }, show(vnfm), ", , not found"},
		{"shown, unread", fails("VNFGrant", errStep), show(vnfm), ", , the step fails"},
		{"shown, unrecorded", fails("Append", errStep), show(vnfm), ", , temporarily unavailable"},
	} {
		b, g := newBooks(t)
		b.client.Placements = []oauth.Placement{{VIM: "v", Role: "edit", TTL: time.Hour, Profile: oauth.Token}}
		b.fails["VNFGrantOf"], b.fails["HoldingVNFGrant"] = broker.ErrNotFound, broker.ErrNotFound
		if strings.Contains(c.what, "an instance") {
			delete(b.fails, "HoldingVNFGrant")
		}
		c.given(b, g)
		got := c.do(t.Context(), b, g)
		if got != c.want {
			t.Errorf("%s: %s, want %s, after %q", c.what, got, c.want, b.taken)
		}
		b.came(t, c.what, got)
	}
}

// Each member of a request has its bound.
func TestBoundsOfARequest(t *testing.T) {
	long := func(n int) string { return strings.Repeat("a", n) }
	link := func(n int) string { return "https://vnfm/" + long(n-len("https://vnfm/")) }
	ids := func(n int) (all []string) {
		for i := range n {
			all = append(all, fmt.Sprint(i))
		}
		return all
	}
	for _, c := range []struct {
		change func(*GrantRequest)
		field  string
	}{
		{func(*GrantRequest) {}, ""},
		{func(r *GrantRequest) { r.ID = long(maxWord) }, ""},
		{func(r *GrantRequest) { r.ID = long(maxWord + 1) }, "vnfLcmOpOccId"},
		{func(r *GrantRequest) { r.Instance = "" }, "vnfInstanceId"},
		{func(r *GrantRequest) { r.VNFD = "a\tb" }, "vnfdId"},
		{func(r *GrantRequest) { r.NewVNFD = "a\tb" }, "dstVnfdId"},
		{func(r *GrantRequest) { r.Type = "x" }, "operation"},
		{func(r *GrantRequest) { r.Apart = "HOST" }, "placementConstraints"},
		{func(r *GrantRequest) { r.Add = ids(maxResources) }, ""},
		{func(r *GrantRequest) { r.Add = ids(maxResources + 1) }, "addResources"},
		{func(r *GrantRequest) { r.Add, r.Remove = ids(maxResources), []string{"x"} }, "removeResources"},
		{func(r *GrantRequest) { r.Add, r.Update = []string{"x"}, []string{"x"} }, "updateResources"},
		{func(r *GrantRequest) { r.Temporary = []string{""} }, "tempResources"},
		{func(r *GrantRequest) { r.Temporary = []string{"a\tb"} }, "tempResources"},
		{func(r *GrantRequest) { r.InstanceURL = link(maxURL) }, ""},
		{func(r *GrantRequest) { r.InstanceURL = link(maxURL + 1) }, "_links.vnfInstance"},
		{func(r *GrantRequest) { r.InstanceURL = "http://vnfm" }, ""},
		{func(r *GrantRequest) { r.InstanceURL = "ftp://vnfm" }, "_links.vnfInstance"},
		{func(r *GrantRequest) { r.OperationURL = "https://" }, "_links.vnfLcmOpOcc"},
		{func(r *GrantRequest) { r.OperationURL = "https://u@vnfm" }, "_links.vnfLcmOpOcc"},
		{func(r *GrantRequest) { r.OperationURL = "https://vnfm/%zz" }, "_links.vnfLcmOpOcc"},
	} {
		r := GrantRequest{ID: "op", Type: "SCALE", Instance: "i", VNFD: "d", OperationURL: "https://vnfm/o", InstanceURL: "https://vnfm/i"}
		c.change(&r)
		err := r.check()
		if e, _ := errors.AsType[*broker.Error](err); c.field == "" && err != nil || c.field != "" && (e == nil || e.Field != c.field) {
			t.Errorf("%.100v: %v, want an error about %q", r, err, c.field)
		}
	}
	const path = "/vnflcm/v1/vnf_lcm_op_occs/op"
	for url, want := range map[string]bool{
		"https://vnfm" + path: true, "http://vnfm" + path: true, path: false, "ftp://vnfm" + path: false, "https://vnfm" + path + "?a": false,
		"https://vnfm" + path + "#a": false, "https://vnfm/" + "op": false, "https://vnfm/%zz" + path: false,
	} {
		if got := (GrantRequest{ID: "op", OperationURL: url}).askable(); got != want {
			t.Errorf("%s can be asked: %v", url, got)
		}
	}
	for _, id := range []string{"..", "a/b", `a\b`, "a%b", ""} {
		if (GrantRequest{ID: id, OperationURL: "https://vnfm/vnf_lcm_op_occs/" + id}).askable() {
			t.Errorf("an operation %q can be asked", id)
		}
	}
	for _, c := range []struct {
		from, to State
		want     bool
	}{{Granted, Granted, true}, {Granted, Ended, true}, {Granted, Refused, false}, {Ended, Ended, true}, {Ended, Granted, false}} {
		got, err := (Grant{State: c.from, Revision: 1}).Moved(Grant{State: c.to, Request: GrantRequest{Add: []string{"x"}}})
		if (err == nil) != c.want || err == nil && got.Revision != 2 {
			t.Errorf("from %s to %s: %v, revision %d", c.from, c.to, err, got.Revision)
		}
	}
}

// The digest of a request stands in the store: a request that is repeated after an upgrade is known by it. Of
// additionalParams, where there are any, it is dear to guess.
func TestTheDigestOfARequestStaysAsItIs(t *testing.T) {
	r := GrantRequest{ID: "o", Type: "SCALE", Rest: []byte(`{"vnfLcmOpOccId":"o"}`)}
	for additional, want := range map[string]string{
		"":                 "2fe049c9980474f173e49a3d6fa8fa4cbabcaafb51368de66473afbf8ca48400",
		`{"site":"north"}`: "871f4fb9766660e66afb81f78d1b3e83a0d88beea9633bca68e764840666e647",
	} {
		r.Additional = []byte(additional)
		if got, err := r.digest("g1"); err != nil || got != want {
			t.Errorf("digest with %q = %s, %v", additional, got, err)
		}
	}
}
