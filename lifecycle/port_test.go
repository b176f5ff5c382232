package lifecycle_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/uuid"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/broker/api/sol003"
	"github.com/vimbroker/vimbroker/broker/asset"
	"github.com/vimbroker/vimbroker/broker/asset/spec"
	"github.com/vimbroker/vimbroker/lifecycle"
	"github.com/vimbroker/vimbroker/policy"
	"github.com/vimbroker/vimbroker/policy/audit"
)

// book is a link of cloud that spans to edge, and the ports on it.
type book struct {
	lifecycle.Links
	link  asset.Asset
	there []string
	asked int
	fails error
	// seen are the states of the operation when ports were asked for.
	seen func()
}

func (b *book) Lend(_ context.Context, _ policy.Principal, _ policy.Kind, _ string, on ...broker.VIM) (asset.Asset, error) {
	there, is := b.link.On(on[0].ID)
	if !is {
		return there, broker.ErrInvalid
	}
	return there, nil
}

func (b *book) Release(context.Context, ...string) {}

func (b *book) Ports(_ context.Context, id, instance string, names []string, all bool) (made []asset.Port, err error) {
	b.asked++
	b.seen()
	if b.fails != nil || id != b.link.ID {
		return nil, b.fails
	}
	if all {
		b.there = nil
	}
	for _, name := range names {
		if !slices.Contains(b.there, instance+"/"+name) {
			b.there = append(b.there, instance+"/"+name)
		}
		made = append(made, asset.Port{Name: name, ID: "p-" + name, MAC: "fa:16:3e:00:00:01"})
	}
	return made, nil
}

// newBook is a link of cloud that spans to other VIMs.
func newBook(spans ...spec.Span) *book {
	return &book{seen: func() {}, link: asset.Asset{
		Kind: policy.KindLink, ID: uuid.Must(uuid.NewV7()).String(), Project: "core", Name: "sgi", VIM: "cloud", VIMName: "cloud", VIMType: "openstack",
		Spans: spans, Made: asset.Made{Network: "n", MTU: 1500, VLAN: 7}, State: asset.Making, Revision: 1,
	}}
}

// keep stores the link.
func (b *book) keep(t *testing.T, p *plant) {
	t.Helper()
	if err := p.store.CreateAsset(t.Context(), b.link, 0, audit.Entry{Time: p.clock.Now(), Action: policy.LinkCreate, Outcome: audit.Done}); err != nil {
		t.Fatal(err)
	}
	if _, err := p.store.UpdateAsset(t.Context(), b.link.ID, func(l *asset.Asset, _ []asset.Use, _ int) error {
		l.State = asset.Ready
		return nil
	}, audit.Entry{}); err != nil {
		t.Fatal(err)
	}
}

// newLinked is both sides, with a link that spans from one to the other.
func newLinked(t *testing.T) (*both, *book) {
	k := newBook(spec.Span{VIM: "edge", Physical: "physnet1", Interface: "bond0", IPAM: "whereabouts"})
	b := newBoth(t, func(o *lifecycle.Options) { o.Links = k })
	b.pods.taken, b.cloud.taken = map[string]bool{"POD_CP": true}, map[string]bool{"VM_CP": true}
	b.pods.ports = []string{"pod-cp/pod/base"}
	k.keep(t, b.plant)
	return b, k
}

func onLink() lifecycle.Instantiation {
	r := onBoth
	r.Links = []lifecycle.Link{{Ext: "sgi", Name: "sgi", CPs: []sol003.ExtCP{{CPDID: "VM_CP"}, {CPDID: "POD_CP"}}}}
	return r
}

// Machines and pods are on one link: the pods' ports are made once the operation is known to begin, and before anything is; they go
// with the pods.
func TestPodsHavePortsOfTheLink(t *testing.T) {
	b, k := newLinked(t)
	i := b.made()
	o := must(b.Instantiate(t.Context(), alice, i.ID, onLink()))
	states := []lifecycle.OperationState{}
	k.seen = func() {
		now, err := b.Lifecycle.Operation(t.Context(), alice, o.ID)
		if states = append(states, now.State); err != nil || len(b.pods.standing())+len(b.cloud.standing()) > 0 && now.Type == lifecycle.Instantiate {
			t.Errorf("ports are made where there stand %v and %v (%v)", b.pods.standing(), b.cloud.standing(), err)
		}
	}
	b.completes(o, nil)
	k.seen = func() {}
	if want := []string{i.ID + "/pod-cp/pod/base"}; !slices.Equal(k.there, want) || !slices.Equal(states, []lifecycle.OperationState{lifecycle.Processing}) {
		t.Errorf("there are ports %q, made while the operation was %v; want %q", k.there, states, want)
	}
	i = b.instance(i.ID)
	got := map[string]string{}
	for _, l := range i.Shape.Links {
		got[l.Part] = fmt.Sprint(l.Names(), l.Spans, l.Pools, len(l.Ports))
	}
	if got[""] != "[POD_CP] true true 1" || got["machines"] != "[VM_CP] false false 0" || len(i.Shape.Links) != 2 {
		t.Errorf("the links of the parts are %v", got)
	}
	if last := b.pods.links; len(last) != 1 || len(last[0].Ports) != 1 {
		t.Errorf("the plan that was done knew of %+v", last)
	}
	asked := k.asked
	b.completes(b.Scale(t.Context(), alice, i.ID, lifecycle.Scaling{Aspect: "base", Steps: 1}))
	b.completes(b.Heal(t.Context(), alice, i.ID, lifecycle.Healing{VNFCs: []string{"BaseHOT/vm-BaseHOT/vm-0"}}))
	if k.asked != asked || len(b.instance(i.ID).Shape.Links) != 2 {
		t.Errorf("scaling, and healing a machine, asks for ports %d times", k.asked-asked)
	}
	k.there = nil // somebody removes it
	b.completes(b.Heal(t.Context(), alice, i.ID, lifecycle.Healing{}))
	if len(k.there) != 1 {
		t.Errorf("healed the instance has ports %q", k.there)
	}
	b.pods.ports = []string{"pod-cp/pod/other"}
	b.completes(b.ChangePackage(t.Context(), alice, i.ID, lifecycle.PackageChange{VNFDID: "web-1"}))
	i = b.instance(i.ID)
	if len(k.there) != 1 || !strings.HasSuffix(k.there[0], "other") || len(b.pods.links[0].Ports) != 1 {
		t.Errorf("after a change of package there are ports %q, and the pods have %+v", k.there, b.pods.links)
	}
	b.completes(b.Terminate(t.Context(), alice, i.ID, nil))
	if len(k.there) != 0 {
		t.Errorf("after the termination there are ports %q", k.there)
	}
}

// An operation that fails gives the ports back with all else; a cloud that is away is waited for, and no pod goes without its port.
func TestPortsGoBack(t *testing.T) {
	b, k := newLinked(t)
	b.pods.failing = func(_ context.Context, w lifecycle.Wave) error {
		if w.Deed == lifecycle.Apply && w.Objects[0].Name == "late" {
			return &broker.Error{Kind: lifecycle.ErrNotReady, Detail: "late waits for ever"}
		}
		return nil
	}
	o := must(b.Instantiate(t.Context(), alice, b.made().ID, onLink()))
	k.fails = away
	o, err := b.work(o, nil)
	wantKind(t, err, broker.ErrUnreachable)
	b.wantStanding("", "")
	k.fails = nil
	o = b.ends(lifecycle.FailedTemp, o, nil)
	o = must(b.Rollback(t.Context(), alice, o.ID))
	k.fails = away
	if o, err = b.work(o, nil); len(k.there) != 1 {
		t.Errorf("a cloud that is away has ports %q", k.there)
	}
	wantKind(t, err, broker.ErrUnreachable)
	k.fails = nil
	b.ends(lifecycle.RolledBack, o, nil)
	b.wantStanding("", "")
	if len(k.there) != 0 {
		t.Errorf("after the rollback there are ports %q", k.there)
	}
	k.fails = &broker.Error{Kind: broker.ErrConflict, Detail: "no address is left"}
	o = b.ends(lifecycle.FailedTemp, must(b.Instantiate(t.Context(), alice, b.made().ID, onLink())), nil)
	if o.Failure.Detail != "no address is left" {
		t.Errorf("without an address the failure is %+v", o.Failure)
	}
	b.wantStanding("", "")
}

// Ports of a change that was given up stay as long as pods may have their addresses: until the next change, or the end of the instance.
// That waits for no cloud that it has nothing else to do with.
func TestPortsOfAChangeGivenUp(t *testing.T) {
	b, k := newLinked(t)
	givenUp := func() lifecycle.Instance {
		t.Helper()
		i := b.made()
		r := onLink()
		r.Links[0].CPs = r.Links[0].CPs[:1]
		b.completes(must(b.Instantiate(t.Context(), alice, i.ID, r)), nil)
		b.pods.failing = func(context.Context, lifecycle.Wave) error {
			return &broker.Error{Kind: lifecycle.ErrNotReady, Detail: "a pod waits for ever"}
		}
		ask := lifecycle.Connecting{Links: []lifecycle.Link{{Ext: "more", Name: "sgi", CPs: []sol003.ExtCP{{CPDID: "POD_CP"}}}}}
		o := b.ends(lifecycle.FailedTemp, must(b.Connect(t.Context(), alice, i.ID, ask)), nil)
		b.pods.failing = nil
		must(b.Fail(t.Context(), alice, o.ID))
		if len(k.there) != 1 {
			t.Fatalf("given up, the change leaves the ports %q", k.there)
		}
		return i
	}
	i := givenUp()
	b.completes(b.Heal(t.Context(), alice, i.ID, lifecycle.Healing{}))
	if len(k.there) != 1 {
		t.Errorf("healed, the ports are %q", k.there)
	}
	b.completes(b.ChangePackage(t.Context(), alice, i.ID, lifecycle.PackageChange{VNFDID: "web-1"}))
	if len(k.there) != 0 {
		t.Errorf("after another change the ports %q are left", k.there)
	}
	i = givenUp()
	k.fails = away
	b.completes(b.Terminate(t.Context(), alice, i.ID, nil))
	k.fails = nil
	k.there = nil
	i = givenUp()
	b.completes(b.Terminate(t.Context(), alice, i.ID, nil))
	if len(k.there) != 0 {
		t.Errorf("after the termination the ports %q are left", k.there)
	}
}

// On the way back from a change, pods whose cluster cannot be reached keep their ports.
func TestPortsStayWithPodsThatCannotBeReached(t *testing.T) {
	b, k := newLinked(t)
	b.lends.out.None()
	i := b.made()
	b.completes(must(b.Instantiate(t.Context(), alice, i.ID, onLink())), nil)
	before := slices.Clone(k.there)
	b.pods.ports = []string{"pod-cp/pod/other"}
	b.cloud.failing = func(context.Context, lifecycle.Wave) error {
		return &broker.Error{Kind: lifecycle.ErrNotReady, Detail: "a machine waits for ever"}
	}
	o := b.ends(lifecycle.FailedTemp, must(b.ChangePackage(t.Context(), alice, i.ID, lifecycle.PackageChange{VNFDID: "web-1"})), nil)
	if len(k.there) != 2 {
		t.Fatalf("while the change is half done there are ports %q", k.there)
	}
	b.cloud.failing, b.pods.ports = nil, []string{"pod-cp/pod/base"}
	b.pods.fails(away)
	o, err := b.work(must(b.Rollback(t.Context(), alice, o.ID)), nil)
	if wantKind(t, err, broker.ErrUnreachable); len(k.there) != 2 {
		t.Errorf("with the pods' cluster away there are ports %q", k.there)
	}
	b.pods.fails(nil)
	b.ends(lifecycle.RolledBack, o, nil)
	if !slices.Equal(k.there, before) || len(b.instance(i.ID).Shape.Links) != 2 {
		t.Errorf("after the rollback there are ports %q, want %q", k.there, before)
	}
}

// A pool grows by others, and goes when it has grown: pods that are not yet replaced keep their addresses until the operation ends.
func TestAPoolGrows(t *testing.T) {
	b, k := newLinked(t)
	i := b.made()
	b.pods.ports = []string{"pod-cp/pool/2/0", "pod-cp/pool/2/1"}
	b.completes(must(b.Instantiate(t.Context(), alice, i.ID, onLink())), nil)
	before := slices.Clone(k.there)
	b.pods.ports = []string{"pod-cp/pool/3/0", "pod-cp/pool/3/1", "pod-cp/pool/3/2"}
	b.pods.failing = func(context.Context, lifecycle.Wave) error {
		return &broker.Error{Kind: lifecycle.ErrNotReady, Detail: "a pod waits for ever"}
	}
	o := b.ends(lifecycle.FailedTemp, must(b.ChangePackage(t.Context(), alice, i.ID, lifecycle.PackageChange{VNFDID: "web-1"})), nil)
	if len(k.there) != 5 || len(b.pods.links[0].Ports) != 3 {
		t.Errorf("while pods are replaced there are ports %q, and the plan knows of %+v", k.there, b.pods.links)
	}
	b.pods.failing = nil
	b.completes(b.Retry(t.Context(), alice, o.ID))
	if len(k.there) != 3 || slices.Contains(k.there, before[0]) {
		t.Errorf("grown the pool is %q", k.there)
	}
	b.completes(b.Terminate(t.Context(), alice, i.ID, nil))
	if len(k.there) != 0 {
		t.Errorf("after the termination there are ports %q", k.there)
	}
}
