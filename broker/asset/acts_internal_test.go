package asset

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/broker/asset/spec"
	"github.com/vimbroker/vimbroker/broker/clientconfig"
	"github.com/vimbroker/vimbroker/policy"
	"github.com/vimbroker/vimbroker/policy/audit"
	"github.com/vimbroker/vimbroker/policy/egress"
	"github.com/vimbroker/vimbroker/test/came"
	"github.com/vimbroker/vimbroker/test/fake"
	"github.com/vimbroker/vimbroker/test/testlog"
)

// books are a store, a leaser and a driver in memory, of which named steps fail.
type books struct {
	Store
	all    map[string]Asset
	uses   int
	fails  map[string]error
	taken  []string
	denies policy.Action
	owns   bool // no lease is needed
	gone   func()
	log    strings.Builder
	said   []string // each step with what it was given, and what came of it
}

var errStep = errors.New("the step fails")

// hang has the caller be gone while the VIM is at work.
func (b *books) hang() {
	if b.gone != nil {
		b.gone()
	}
}

func (b *books) step(name string, given ...any) error {
	b.said = append(b.said, came.Call(name, given...))
	return fake.Step(&b.taken, b.fails, name)
}

func (b *books) Append(_ context.Context, e audit.Entry) error { return b.step("Append", e) }

func (b *books) CreateAsset(_ context.Context, l Asset, most int, e audit.Entry) error {
	if err := b.step("CreateAsset", l, most, e); err != nil {
		return err
	}
	b.all[l.ID] = l
	return nil
}

func (b *books) Asset(_ context.Context, id string) (Asset, error) {
	if err := b.step("Asset", id); err != nil {
		return Asset{}, err
	}
	if l, there := b.all[id]; there {
		return l, nil
	}
	return Asset{}, broker.ErrNotFound
}

func (b *books) Assets(_ context.Context, f Filter) (all []Asset, _ string, _ error) {
	for _, id := range slices.Sorted(maps.Keys(b.all)) {
		if l := b.all[id]; (f.Name == "" || f.Name == l.Name) && (f.Network == "" || f.Network == l.Made.Network) {
			all = append(all, l)
		}
	}
	return all, "", b.step("Assets", f)
}

func (b *books) AssetUses(_ context.Context, id string, most int) ([]Use, int, error) {
	return nil, 0, b.step("AssetUses", id, most)
}

func (b *books) UpdateAsset(ctx context.Context, id string, change func(*Asset, []Use, int) error, e audit.Entry) (Asset, error) {
	l := b.all[id]
	if err := cmp.Or(ctx.Err(), b.step("UpdateAsset", id)); err != nil {
		return l, err
	}
	was := l
	if err := change(&l, slices.Repeat([]Use{{Instance: "i"}}, b.uses), b.uses); err != nil {
		b.said = append(b.said, fmt.Sprintf("  not changed: %v", err))
		return l, err
	}
	b.said = append(append(b.said, came.Changes(was, l)...), came.Call("  entry", e))
	b.all[id] = l
	return l, nil
}

func (b *books) DeleteAsset(ctx context.Context, id string, e audit.Entry) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	delete(b.all, id)
	return b.step("DeleteAsset", id, e)
}

func (b *books) UnsettledAssets(_ context.Context, before time.Time, most int) (all []Asset, _ error) {
	return slices.Collect(maps.Values(b.all)), b.step("UnsettledAssets", before, most)
}

func (b *books) VIM(_ context.Context, p policy.Principal, ref string) (broker.VIM, error) {
	if strings.HasPrefix(ref, "cluster") {
		return broker.VIM{ID: "id of " + ref, Name: ref, Project: "p", Type: "kubernetes"}, b.step("VIM", p, ref)
	}
	return broker.VIM{ID: "v", Name: "nfv1", Project: "p", Type: "openstack", Current: broker.Generation{Target: broker.Target{Namespace: "ns"}}}, b.step("VIM", p, ref)
}

func (b *books) IssueLease(_ context.Context, p policy.Principal, r broker.LeaseRequest) (broker.Lease, clientconfig.Config, error) {
	return broker.Lease{}, clientconfig.Config{}, b.step("IssueLease", p, r)
}

func (b *books) EndOperation(ctx context.Context, operation string, vims ...string) error {
	return cmp.Or(ctx.Err(), b.step("EndOperation", operation, vims))
}

func (b *books) Lease(l Asset) (broker.LeaseRequest, error) {
	if b.owns {
		return broker.LeaseRequest{}, b.step("Lease", l)
	}
	return broker.LeaseRequest{Purpose: "network"}, b.step("Lease", l)
}

func (b *books) Make(_ context.Context, to Connection, l Asset) (Made, error) {
	b.hang()
	return Made{Network: "made"}, b.step("Make", to, l)
}

func (b *books) Remove(_ context.Context, to Connection, l Asset) error {
	b.hang()
	return b.step("Remove", to, l)
}

func (b *books) Ports(_ context.Context, to Connection, l Asset, instance string, names []string, keep bool) ([]Port, error) {
	return []Port{{Name: "port"}}, b.step("Ports", to, l, instance, names, keep)
}

func (b *books) Decide(r policy.Request) policy.Decision {
	b.said = append(b.said, came.Call("ask", r))
	return policy.Decision{Allowed: r.Action != b.denies}
}

const linkID, networkID = "1c0a7f9e-3c0e-4a54-9a0c-0d6a2c9f7b22", "2c0a7f9e-3c0e-4a54-9a0c-0d6a2c9f7b33"

func now() time.Time { return time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC) }

// came adds a case to the record of its test.
func (b *books) came(t *testing.T, what, answer string) {
	came.Of(t, map[string]string{linkID: "link", networkID: "network"}).Add(what, answer, append(b.said, came.Logged(b.log.String())...))
}

// newBooks has one link that is ready.
func newBooks(t *testing.T) (*books, *Assets) {
	b := &books{fails: map[string]error{}}
	b.all = map[string]Asset{linkID: {
		Kind: policy.KindLink, ID: linkID, Project: "p", Name: "sgi", VIM: "v", VIMName: "nfv1", VIMType: "openstack", State: Ready, Revision: 1,
	}}
	return b, New(Options{
		Store: b, Leaser: b, Drivers: map[On]Driver{{policy.KindLink, "openstack"}: b, {policy.KindVolume, "openstack"}: b},
		Guard: &audit.Guard{Policy: b, Sink: b, Now: now}, Egress: func(string) *egress.Rules { return nil },
		Log: testlog.To(t, slog.NewTextHandler(&b.log, nil)), Now: now,
	})
}

var person = policy.Principal{Name: "alice", Project: "p"}

// outcome is an error's kind and field.
func outcome(err error) string {
	if e, known := errors.AsType[*broker.Error](err); known {
		return strings.TrimSpace(e.Kind.Error() + " " + e.Field)
	}
	return fmt.Sprint(err)
}

// Whatever step of an act on an asset fails, the act fails with it.
func TestAStepThatFailsEndsTheActOnAnAsset(t *testing.T) {
	create := func(kind policy.Kind) func(context.Context, *Assets) error {
		return func(ctx context.Context, s *Assets) error {
			_, _, err := s.Create(ctx, person, Request{Kind: kind, Name: "new", VIM: "nfv1"})
			return err
		}
	}
	for what, c := range map[string]struct {
		given func(*Asset)
		do    func(context.Context, *Assets) error
		steps string
	}{
		"making a link":   {nil, create(policy.KindLink), "VIM 1,Lease 1,CreateAsset,VIM 2,IssueLease,Make,EndOperation,UpdateAsset"},
		"making a volume": {nil, create(policy.KindVolume), "VIM 1,Make"},
		"making it again": {func(l *Asset) { l.State = Making }, func(ctx context.Context, s *Assets) error {
			s.Store.(*books).fails["CreateAsset"] = broker.ErrExists
			_, made, err := s.Create(ctx, person, Request{Kind: policy.KindLink, Name: "sgi", VIM: "nfv1"})
			if made {
				return errors.New("it is said to be made")
			}
			return err
		}, "Assets,UpdateAsset 1,Make,UpdateAsset 2"},
		"asking for one that is there": {nil, func(ctx context.Context, s *Assets) error {
			s.Store.(*books).fails["CreateAsset"] = broker.ErrExists
			_, _, err := s.Create(ctx, person, Request{Kind: policy.KindLink, Name: "sgi", VIM: "nfv1"})
			return err
		}, "Assets,Append"},
		"deleting": {nil, func(ctx context.Context, s *Assets) error {
			_, _, err := s.Delete(ctx, person, policy.KindLink, linkID, false)
			return err
		}, "Asset,UpdateAsset 1,VIM,IssueLease,Remove,EndOperation,DeleteAsset"},
		"showing": {nil, func(ctx context.Context, s *Assets) error {
			_, _, _, err := s.Show(ctx, person, policy.KindLink, "sgi")
			return err
		}, "Assets,AssetUses,Append"},
		"listing": {nil, func(ctx context.Context, s *Assets) error {
			_, _, err := s.List(ctx, person, policy.KindLink, broker.Page{})
			return err
		}, "Append,Assets"},
		"lending": {nil, func(ctx context.Context, s *Assets) error {
			_, err := s.Lend(ctx, person, policy.KindLink, linkID, broker.VIM{ID: "v"})
			return err
		}, "Asset,Append"},
		"ports": {nil, func(ctx context.Context, s *Assets) error {
			made, err := s.Ports(ctx, linkID, "i", nil, true)
			if err == nil && len(made) != 1 {
				return errors.New("no port")
			}
			return err
		}, "Asset,Append 1,Lease,VIM,IssueLease,Ports,Append 2"},
		"the pass": {nil, func(ctx context.Context, s *Assets) error { return s.Passes()[0].Run(ctx) }, "UnsettledAssets"},
		"settling what is made": {func(l *Asset) { l.State, l.Since = Making, time.Time{} }, func(ctx context.Context, s *Assets) error {
			return s.settle(ctx, s.Store.(*books).all[linkID], s.Now())
		}, "UpdateAsset 1,Make"},
		"settling what is removed": {func(l *Asset) { l.State = Removing }, func(ctx context.Context, s *Assets) error {
			return s.settle(ctx, s.Store.(*books).all[linkID], s.Now())
		}, "UpdateAsset 1,Remove,DeleteAsset"},
		"settling what is loose": {func(l *Asset) { l.Loose = true }, func(ctx context.Context, s *Assets) error {
			return s.settle(ctx, s.Store.(*books).all[linkID], s.Now())
		}, "UpdateAsset 1,Remove,DeleteAsset"},
	} {
		run := func(step string) (*books, error) {
			b, s := newBooks(t)
			if l := b.all[linkID]; c.given != nil {
				c.given(&l)
				b.all[linkID] = l
			}
			if step != "" {
				b.fails[step] = errStep
			}
			err := c.do(t.Context(), s)
			b.came(t, what+", "+cmp.Or(step, "nothing")+" fails", fmt.Sprint(err))
			return b, err
		}
		if b, err := run(""); err != nil {
			t.Errorf("%s: %v, after %q", what, err, b.taken)
		}
		for step := range strings.SplitSeq(c.steps, ",") {
			if b, err := run(step); !errors.Is(err, errStep) && outcome(err) != broker.ErrUnavailable.Error() {
				t.Errorf("%s: %s fails, and it ends with %v, after %q", what, step, err, b.taken)
			}
		}
	}
}

// Of what needs no lease nobody is asked on the VIM, and who may not use a link gets no port of it.
func TestWhoIsNotAsked(t *testing.T) {
	b, s := newBooks(t)
	b.owns = true
	if _, err := s.Ports(t.Context(), linkID, "i", nil, true); err != nil || slices.Contains(b.taken, "VIM") || slices.Contains(b.taken, "IssueLease") {
		t.Errorf("without a lease: %v, after %q", err, b.taken)
	}
	for action, do := range map[policy.Action]func(*Assets) error{
		policy.LinkUse: func(s *Assets) error { _, err := s.Ports(t.Context(), linkID, "i", nil, true); return err },
		policy.LinkDelete: func(s *Assets) error {
			return s.settle(t.Context(), Asset{Kind: policy.KindLink, ID: linkID, State: Removing}, s.Now())
		},
	} {
		b, s := newBooks(t)
		b.denies = action
		if err := do(s); !errors.Is(err, broker.ErrDenied) || slices.Contains(b.taken, "UpdateAsset") || slices.Contains(b.taken, "IssueLease") {
			t.Errorf("without %s: %v, after %q", action, err, b.taken)
		}
	}
}

// What comes of acts on assets that are not as they were asked for.
func TestWhatComesOfActsOnAssets(t *testing.T) {
	again := func(change func(*Request)) func(context.Context, *books, *Assets) string {
		return func(ctx context.Context, b *books, s *Assets) string {
			b.fails["CreateAsset"] = broker.ErrExists
			r := Request{Kind: policy.KindLink, Name: "sgi", VIM: "nfv1"}
			if change != nil {
				change(&r)
			}
			l, made, err := s.Create(ctx, person, r)
			return fmt.Sprint(l.ID == linkID, made, " ", outcome(err))
		}
	}
	lend := func(kind policy.Kind, ref string, on ...broker.VIM) func(context.Context, *books, *Assets) string {
		return func(ctx context.Context, _ *books, s *Assets) string {
			l, err := s.Lend(ctx, person, kind, ref, on...)
			return fmt.Sprint(l.ID == linkID, ", ", l.Existing, ", ", outcome(err))
		}
	}
	settle := func(ctx context.Context, b *books, s *Assets) string {
		err := s.settle(ctx, b.all[linkID], s.Now())
		return fmt.Sprint(b.all[linkID].State, b.all[linkID].Loose, " ", outcome(err))
	}
	remove := func(force bool) func(context.Context, *books, *Assets) string {
		return func(ctx context.Context, b *books, s *Assets) string {
			_, used, err := s.Delete(ctx, person, policy.KindLink, linkID, force)
			_, there := b.all[linkID]
			return fmt.Sprint(len(used), there, " ", outcome(err))
		}
	}
	cloud := broker.VIM{ID: "v", Type: "openstack"}
	other := broker.VIM{ID: "w", Type: "kubernetes"}
	state := func(to State) func(*books, *Asset) { return func(_ *books, l *Asset) { l.State = to } }
	fails := func(step string, err error) func(*books, *Asset) {
		return func(b *books, _ *Asset) { b.fails[step] = err }
	}
	for _, c := range []struct {
		what  string
		given func(*books, *Asset)
		do    func(context.Context, *books, *Assets) string
		want  string
	}{
		{"asked for again", nil, again(nil), "true false <nil>"},
		{"asked for as another", nil, again(func(r *Request) { r.Spec.MTU = 1500 }), "false false conflict name"},
		{"asked for while it is removed", state(Removing), again(nil), "false false conflict name"},
		{"asked for while somebody makes it", func(_ *books, l *Asset) { l.State, l.Since = Making, now() }, again(nil), "false false temporarily unavailable"},
		{"asked for as what another is", nil, again(func(r *Request) { r.Name, r.Existing = "other", "net" }), "false false conflict existing"},
		{"a claim that is there already", nil, func(ctx context.Context, b *books, s *Assets) string {
			l, made, err := s.Create(ctx, person, Request{Kind: policy.KindVolume, Name: "data", VIM: "nfv1", Existing: "claim"})
			for _, one := range b.all {
				if one.ID == l.ID {
					return fmt.Sprint(one.Volume.Namespace, made, err)
				}
			}
			return "no row"
		}, "nstrue <nil>"},
		{"what cannot be asked now stays", fails("Make", &broker.Error{Kind: broker.ErrUnavailable}), func(ctx context.Context, b *books, s *Assets) string {
			_, _, err := s.Create(ctx, person, Request{Kind: policy.KindLink, Name: "new", VIM: "nfv1"})
			return fmt.Sprint(len(b.all), slices.Contains(b.taken, "Remove"), " ", outcome(err))
		}, "2 false temporarily unavailable"},
		{"what does not answer stays", fails("Make", &broker.Error{Kind: broker.ErrUnreachable}), func(ctx context.Context, b *books, s *Assets) string {
			_, _, err := s.Create(ctx, person, Request{Kind: policy.KindLink, Name: "new", VIM: "nfv1"})
			return fmt.Sprint(len(b.all), slices.Contains(b.taken, "Remove"), " ", outcome(err))
		}, "2 false VIM unreachable"},
		{"what is refused goes", fails("Make", &broker.Error{Kind: broker.ErrConflict}), func(ctx context.Context, b *books, s *Assets) string {
			_, _, err := s.Create(ctx, person, Request{Kind: policy.KindLink, Name: "new", VIM: "nfv1"})
			return fmt.Sprint(len(b.all), slices.Contains(b.taken, "Remove"), " ", outcome(err))
		}, "1 true conflict"},
		{"deleting", nil, remove(false), "0 false <nil>"},
		{"deleting what is used", func(b *books, _ *Asset) { b.uses = 2 }, remove(false), "0 true conflict"},
		{"deleting what is used, by force", func(b *books, _ *Asset) { b.uses = 2 }, remove(true), "2 false <nil>"},
		{"deleting what stands already", func(b *books, l *Asset) { l.Existing, b.fails["Remove"] = "net", errStep }, remove(false), "0 false <nil>"},
		{"deleting what stands already, and spans", func(b *books, l *Asset) {
			l.Existing, l.Spans, b.fails["Remove"] = "net", []spec.Span{{VIM: "w"}}, errStep
		}, remove(false), "0 true the step fails"},
		{"deleting by force what does not answer", fails("Remove", &broker.Error{Kind: broker.ErrUnreachable}), remove(true), "0 false <nil>"},
		{"deleting by force what others are on", fails("Remove", &broker.Error{Kind: broker.ErrConflict}), remove(true), "0 true conflict"},
		{"deleting while somebody removes it", func(_ *books, l *Asset) { l.State, l.Since = Removing, now() }, remove(false), "0 true temporarily unavailable"},
		{"lending", nil, lend(policy.KindLink, linkID, cloud), "true, , <nil>"},
		{"lending by its name", nil, lend(policy.KindLink, "sgi", cloud), "true, , <nil>"},
		{"lending on the second VIM", func(_ *books, l *Asset) { l.VIM = "w" }, lend(policy.KindLink, linkID, cloud, other), "true, , <nil>"},
		{"lending on none of them", func(_ *books, l *Asset) { l.VIM = "x" }, lend(policy.KindLink, linkID, cloud, other), "false, , invalid extVirtualLinks"},
		{"lending what is made", state(Making), lend(policy.KindLink, linkID, cloud), "false, , conflict"},
		{"lending a network that is none", nil, lend(policy.KindLink, networkID, cloud), "false, " + networkID + ", <nil>"},
		{"lending a network that is one", func(_ *books, l *Asset) { l.Made.Network = networkID }, lend(policy.KindLink, networkID, cloud), "true, , <nil>"},
		{"lending a network that may not be adopted", func(b *books, _ *Asset) { b.denies = policy.LinkAdopt }, lend(policy.KindLink, networkID, cloud), "false, , not found"},
		{"lending a network by no id", nil, lend(policy.KindLink, "net", cloud), "false, , not found"},
		{"lending a network of a cluster", nil, lend(policy.KindLink, networkID, other), "false, , not found"},
		{"lending a volume by a network", nil, lend(policy.KindVolume, networkID, cloud), "false, , not found"},
		{"lending a link as a volume", nil, lend(policy.KindVolume, linkID, cloud), "false, , not found"},
		{"lending what cannot be looked for", fails("Assets", errStep), lend(policy.KindLink, networkID, cloud), "false, , the step fails"},
		{"lending what is not there, unrecorded", fails("Append", errStep), lend(policy.KindLink, "net", cloud), "false, , temporarily unavailable"},
		{"lending a network, unrecorded", fails("Append", errStep), lend(policy.KindLink, networkID, cloud), "false, , temporarily unavailable"},
		{"settling a link", state(Making), settle, "readyfalse <nil>"},
		{"settling a link that could not be made before", func(_ *books, l *Asset) { l.State, l.Fault = Making, "why" }, settle, "readyfalse <nil>"},
		{"settling what was made for an instance", func(_ *books, l *Asset) { l.State, l.Loose = Making, true }, settle, "false <nil>"},
		{"settling what is used again", func(b *books, l *Asset) { l.Loose, b.uses = true, 1 }, settle, "readyfalse <nil>"},
		{"settling without the right to", func(b *books, l *Asset) { l.State, b.denies = Removing, policy.LinkDelete }, settle, "removingfalse denied"},
		{"a name that two projects share", func(b *books, l *Asset) {
			l.Project = "q"
			two := *l
			two.ID, two.Project = networkID, "r"
			b.all[networkID] = two
		}, lend(policy.KindLink, "sgi", cloud), "false, , conflict"},
		{"a name that another shares beside one's own", func(b *books, l *Asset) {
			two := *l
			two.ID, two.Project = networkID, "r"
			b.all[networkID] = two
		}, lend(policy.KindLink, "sgi", cloud), "true, , <nil>"},
		{"a name that one other shares", func(_ *books, l *Asset) { l.Project = "q" }, lend(policy.KindLink, "sgi", cloud), "true, , <nil>"},
		{"releasing", func(_ *books, l *Asset) { l.Loose = true }, release, "false "},
		{"releasing what stays", nil, release, "true "},
		{"releasing what is being made", func(_ *books, l *Asset) { l.Loose, l.State, l.Since = true, Making, time.Time{} }, release, "true "},
		{"releasing what is gone", fails("Asset", broker.ErrNotFound), release, "true "},
		{"releasing what cannot be read", fails("Asset", errStep), release, "true an asset is removed by a later pass"},
	} {
		b, s := newBooks(t)
		if l := b.all[linkID]; c.given != nil {
			c.given(b, &l)
			b.all[linkID] = l
		}
		got := c.do(t.Context(), b, s)
		if got != c.want {
			t.Errorf("%s: %s, want %s, after %q", c.what, got, c.want, b.taken)
		}
		b.came(t, c.what, got)
	}
}

// What came of an asset on its VIM is noted, and its lease ends, though the caller has gone.
func TestWhatCameOfAnAssetIsNotedThoughTheCallerIsGone(t *testing.T) {
	for what, do := range map[string]func(context.Context, *Assets) error{
		"made": func(ctx context.Context, s *Assets) error {
			l, _, err := s.Create(ctx, person, Request{Kind: policy.KindLink, Name: "new", VIM: "nfv1"})
			if l.State != Ready {
				return fmt.Errorf("it is %s: %w", l.State, err)
			}
			return err
		},
		"removed": func(ctx context.Context, s *Assets) error {
			_, _, err := s.Delete(ctx, person, policy.KindLink, linkID, false)
			if all := s.Store.(*books).all; len(all) > 0 {
				return fmt.Errorf("it is left: %v, %w", all, err)
			}
			return err
		},
	} {
		b, s := newBooks(t)
		ctx, gone := context.WithCancel(t.Context())
		b.gone = gone
		if err := do(ctx, s); err != nil || !slices.Contains(b.taken, "EndOperation") {
			t.Errorf("%s: %v, after %q", what, err, b.taken)
		}
	}
}

// One asset that fails keeps no other from being settled or released.
func TestAnAssetThatFailsKeepsNoOther(t *testing.T) {
	for what, do := range map[string]func(context.Context, *Assets) error{
		"settling": func(ctx context.Context, s *Assets) error { return s.Settle(ctx, s.Now()) },
		"releasing": func(ctx context.Context, s *Assets) error {
			s.Release(ctx, linkID, networkID)
			return nil
		},
	} {
		b, s := newBooks(t)
		one := b.all[linkID]
		one.Loose = true
		b.all[linkID] = one
		one.ID = networkID
		b.all[networkID], b.fails["Remove 1"] = one, errStep
		if err := do(t.Context(), s); err != nil || len(b.all) != 1 {
			t.Errorf("%s: %v, and %d are left, after %q", what, err, len(b.all), b.taken)
		}
	}
}

// What an asset is made of, who may make it, and what is left where it cannot be made.
func TestWhatIsMadeOfARequest(t *testing.T) {
	link := Request{Kind: policy.KindLink, Name: "new", VIM: "nfv1"}
	with := func(change func(*Request)) Request {
		r := link
		change(&r)
		return r
	}
	spans := func(to ...string) Request {
		return with(func(r *Request) {
			for _, vim := range to {
				r.Spans = append(r.Spans, spec.Span{VIM: vim, Physical: "physnet1", Interface: "bond0"})
			}
		})
	}
	fails := func(steps map[string]error) func(*books) { return func(b *books) { b.fails = steps } }
	denies := func(a policy.Action) func(*books) { return func(b *books) { b.denies = a } }
	kind := func(k error) error { return &broker.Error{Kind: k, Detail: "why"} }
	for _, c := range []struct {
		what  string
		given func(*books)
		ask   Request
		want  string // made, left, the error
	}{
		{"a link", nil, link, "true true <nil>"},
		{"a volume", nil, with(func(r *Request) { r.Kind = policy.KindVolume }), "true true <nil>"},
		{"a volume in a namespace", nil, with(func(r *Request) { r.Kind, r.Volume.Namespace = policy.KindVolume, "mine" }), "true true <nil>"},
		{"for an instance", nil, with(func(r *Request) { r.Maker = "i" }), "true true <nil>"},
		{"for another project", nil, with(func(r *Request) { r.Project = "q" }), "true true <nil>"},
		{"without a name", nil, with(func(r *Request) { r.Name = "" }), "false false invalid name"},
		{"without the right to", denies(policy.LinkCreate), link, "false false denied"},
		{"shared with all", nil, with(func(r *Request) { r.Shared = true }), "true true <nil>"},
		{"shared with all, without the right to adopt", denies(policy.LinkAdopt), with(func(r *Request) { r.Shared = true }), "true true <nil>"},
		{"shared with one", nil, with(func(r *Request) { r.SharedWith = []string{"q"} }), "true true <nil>"},
		{"that is there", denies(policy.LinkAdopt), with(func(r *Request) { r.Existing = networkID }), "false false denied existing.networkId"},
		{"that spans", nil, spans("cluster1", "cluster2"), "true true <nil>"},
		{"that spans, without the right to", denies(policy.LinkAdopt), spans("cluster1"), "false false denied spans"},
		{"that spans to a cluster twice", nil, spans("cluster1", "cluster1"), "false false invalid spans.vim"},
		{"that spans to a cloud", nil, spans("nfv1"), "false false invalid spans.vim"},
		{"that spans to what is unread", fails(map[string]error{"VIM 2": errStep}), spans("cluster1"), "false false the step fails"},
		{"on a type that has none", nil, with(func(r *Request) { r.VIM = "cluster" }), "false false not supported vim"},
		{"that the driver cannot make", fails(map[string]error{"Lease": kind(broker.ErrInvalid)}), link, "false false invalid"},
		{"that the VIM has none of", fails(map[string]error{"Make": kind(broker.ErrUnsupported)}), link, "true false not supported"},
		{"that the VIM refuses", fails(map[string]error{"Make": kind(broker.ErrForbidden)}), link, "true false credential lacks rights on the VIM"},
		{"that the VIM refuses, and something stays", fails(map[string]error{"Make": kind(broker.ErrForbidden), "Remove": errStep}), link, "true true credential lacks rights on the VIM"},
		{"that is not noted", fails(map[string]error{"Make": kind(broker.ErrUnreachable), "UpdateAsset": errStep}), link, "true true VIM unreachable"},
		{"that is not forgotten", fails(map[string]error{"IssueLease": kind(broker.ErrDenied), "UpdateAsset": errStep}), link, "true true denied"},
		{"without a lease", fails(map[string]error{"IssueLease": kind(broker.ErrDenied)}), link, "true false denied"},
		{"whose lease is not ended", fails(map[string]error{"EndOperation": errStep}), link, "true true the step fails"},
	} {
		b, s := newBooks(t)
		s.PerProject = 9
		delete(b.all, linkID)
		if c.given != nil {
			c.given(b)
		}
		_, made, err := s.Create(t.Context(), person, c.ask)
		if got := fmt.Sprint(made, len(b.all) > 0, " ", outcome(err)); got != c.want {
			t.Errorf("%s: %s, want %s, after %q", c.what, got, c.want, b.taken)
		}
		b.came(t, c.what, fmt.Sprint(err))
	}
}

// A VIM that does not know yet what the lease may do is asked again for a while.
func TestWhatAFreshLeaseIsRefused(t *testing.T) {
	for _, c := range []struct {
		learning time.Duration
		refusals int
		want     string
	}{
		{time.Minute, 2, "3 <nil>"}, {0, 2, "1 credential lacks rights on the VIM"}, {time.Millisecond, 9, "1 credential lacks rights on the VIM"},
	} {
		b, s := newBooks(t)
		s.Learning = c.learning
		delete(b.all, linkID)
		b.fails = map[string]error{}
		for n := range c.refusals {
			b.fails[fmt.Sprint("Make ", n+1)] = &broker.Error{Kind: broker.ErrForbidden}
		}
		_, _, err := s.Create(t.Context(), person, Request{Kind: policy.KindLink, Name: "n3", VIM: "nfv1"})
		made := 0
		for _, step := range b.taken {
			if step == "Make" {
				made++
			}
		}
		if got := fmt.Sprint(made, " ", outcome(err)); got != c.want {
			t.Errorf("with %v and %d refusals: %s, want %s", c.learning, c.refusals, got, c.want)
		}
	}
}

// What is listed, what a pass does with what is unsettled, and what a deletion by force leaves.
func TestWhatIsListedAndSettled(t *testing.T) {
	for what, c := range map[string]struct {
		given func(*books, *Asset)
		do    func(context.Context, *Assets) error
		want  string
	}{
		"a list": {nil, func(ctx context.Context, s *Assets) error {
			all, _, err := s.List(ctx, person, policy.KindLink, broker.Page{Size: 3})
			if len(all) != 1 {
				return fmt.Errorf("%d are listed", len(all))
			}
			return err
		}, "<nil>"},
		"a list without the right to": {func(b *books, _ *Asset) { b.denies = policy.LinkShow }, func(ctx context.Context, s *Assets) error {
			_, _, err := s.List(ctx, person, policy.KindLink, broker.Page{})
			return err
		}, "denied"},
		"a pass": {func(_ *books, l *Asset) { l.State = Removing }, func(ctx context.Context, s *Assets) error {
			return s.Passes()[0].Run(ctx)
		}, "<nil>"},
		"a pass that cannot settle": {func(b *books, l *Asset) { l.State, b.fails["Remove"] = Removing, errStep }, func(ctx context.Context, s *Assets) error {
			return s.Passes()[0].Run(ctx)
		}, "<nil>"},
		"a pass while somebody is at it": {func(_ *books, l *Asset) { l.State, l.Since = Removing, now().Add(-claimFor) }, func(ctx context.Context, s *Assets) error {
			return s.Passes()[0].Run(ctx)
		}, "<nil>"},
		"a pass just after somebody was at it": {func(_ *books, l *Asset) { l.State, l.Since = Removing, now().Add(-claimFor-1) }, func(ctx context.Context, s *Assets) error {
			return s.Passes()[0].Run(ctx)
		}, "<nil>"},
		"a pass without the right to": {func(b *books, l *Asset) { l.State, b.denies = Making, policy.LinkCreate }, func(ctx context.Context, s *Assets) error {
			return s.Passes()[0].Run(ctx)
		}, "<nil>"},
		"by force, where it stays": {func(b *books, _ *Asset) { b.fails["Remove"] = errStep }, func(ctx context.Context, s *Assets) error {
			_, _, err := s.Delete(ctx, person, policy.KindLink, "sgi", true)
			return err
		}, "<nil>"},
		"shown as another kind": {nil, func(ctx context.Context, s *Assets) error {
			_, _, _, err := s.Show(ctx, person, policy.KindVolume, linkID)
			return err
		}, "not found"},
	} {
		b, s := newBooks(t)
		if l := b.all[linkID]; c.given != nil {
			c.given(b, &l)
			b.all[linkID] = l
		}
		if got := outcome(c.do(t.Context(), s)); got != c.want {
			t.Errorf("%s: %s, want %s, after %q", what, got, c.want, b.taken)
		}
		b.came(t, what, c.want)
	}
}

func release(ctx context.Context, b *books, s *Assets) string {
	s.Release(ctx, linkID)
	_, there := b.all[linkID]
	const later = "an asset is removed by a later pass"
	if strings.Contains(b.log.String(), later) {
		return fmt.Sprint(there, " "+later)
	}
	return fmt.Sprint(there, " ")
}
