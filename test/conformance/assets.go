package conformance

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/google/uuid"
	"golang.org/x/sync/errgroup"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/broker/asset"
	"github.com/vimbroker/vimbroker/broker/asset/spec"
	"github.com/vimbroker/vimbroker/lifecycle"
	"github.com/vimbroker/vimbroker/policy"
	"github.com/vimbroker/vimbroker/policy/audit"
)

func sampleLink(vim, name string) asset.Asset {
	return asset.Asset{
		Kind: policy.KindLink, ID: uuid.Must(uuid.NewV7()).String(), Project: "north", Name: name, VIM: vim, VIMName: "edge", VIMType: "openstack",
		Spec: spec.LinkSpec{CIDR: "10.0.0.0/24", Pools: []spec.AddressRange{{Start: "10.0.0.2", End: "10.0.0.9"}}}, SharedWith: []string{"south"},
		State: asset.Ready, Made: asset.Made{Network: "net-" + name, Subnet: "s"}, CreatedBy: "alice", CreatedAt: epoch, Since: epoch, Revision: 1,
	}
}

// makeLink stores a link on a VIM, that is there.
func (s lifecycleTest) makeLink(change func(*asset.Asset)) asset.Asset {
	s.t.Helper()
	v := s.createVIM("edge-" + uuid.NewString()[:8])
	l := sampleLink(v.ID, "sgi-"+uuid.NewString()[:8])
	if change != nil {
		change(&l)
	}
	if err := s.CreateAsset(s.t.Context(), l, 0, entry("link")); err != nil {
		s.t.Fatalf("CreateAsset = %v", err)
	}
	return l
}

// used is what the store says of the uses of a link.
func (s lifecycleTest) used(l asset.Asset) int {
	s.t.Helper()
	_, all, err := s.AssetUses(s.t.Context(), l.ID, 1)
	if err != nil {
		s.t.Fatal(err)
	}
	return all
}

// takeLink begins an operation that has an instance use a link.
func (s lifecycleTest) takeLink(l asset.Asset) (lifecycle.Operation, error) {
	i := s.create(bare("web"))
	o := instantiation(i, "")
	if l.Kind == policy.KindVolume {
		o.Target.Volumes = []lifecycle.Volume{{ID: l.ID, Name: l.Name}}
	} else {
		o.Target.Links = []lifecycle.Link{{ID: l.ID, Name: l.Name}}
	}
	return o, s.BeginOperation(s.t.Context(), o, i.Revision, nil, entry("begin"))
}

// linkRows: a link comes back as it went in, is seen by those that it is shared with, and is one of its name.
func linkRows(t *testing.T, s lifecycleTest) {
	l := s.makeLink(nil)
	got, err := s.Asset(t.Context(), l.ID)
	if diff := cmp.Diff(l, got, cmpopts.EquateEmpty()); err != nil || diff != "" {
		t.Errorf("Link = %v\n%s", err, diff)
	}
	s.wantError("a second of the name", s.CreateAsset(t.Context(), func() asset.Asset { o := l; o.ID = uuid.NewString(); return o }(), 0, entry("link")), broker.ErrExists)
	s.wantError("a second of the network", s.CreateAsset(t.Context(), func() asset.Asset { o := sampleLink(l.VIM, "y"); o.Made = l.Made; return o }(), 0, entry("link")), broker.ErrExists)
	s.wantError("one beyond the quota", s.CreateAsset(t.Context(), sampleLink(l.VIM, "x"), 1, entry("link")), broker.ErrQuota)
	volume := sampleLink(l.VIM, l.Name)
	volume.Kind, volume.Spec, volume.Made, volume.Volume = policy.KindVolume, spec.LinkSpec{}, asset.Made{}, spec.VolumeSpec{Namespace: "edge", Size: "1Gi"}
	if err := s.CreateAsset(t.Context(), volume, 1, entry("volume")); err != nil {
		t.Errorf("a volume beside a link of its name, both the only one of their kind = %v", err)
	}
	if all, _, err := s.Assets(t.Context(), asset.Filter{Kind: policy.KindVolume}); err != nil || len(all) != 1 || all[0].Volume.Size != "1Gi" {
		t.Errorf("the volumes are %v, %v", all, err)
	}
	if _, err := s.takeLink(volume); err != nil || s.used(volume) != 1 || s.used(l) != 0 {
		t.Errorf("taking the volume = %v, with %d uses, and the link %d", err, s.used(volume), s.used(l))
	}
	if _, err := s.UpdateAsset(t.Context(), volume.ID, func(*asset.Asset, []asset.Use, int) error { return nil }, audit.Entry{}); err != nil || s.used(volume) != 1 {
		t.Errorf("a change that removes nothing = %v, and leaves %d uses", err, s.used(volume))
	}
	if _, err := s.UpdateAsset(t.Context(), volume.ID, func(l *asset.Asset, _ []asset.Use, _ int) error { l.State = asset.Removing; return nil }, audit.Entry{}); err != nil {
		t.Fatal(err)
	}
	s.wantError("", s.DeleteAsset(t.Context(), volume.ID, entry("delete")), nil)
	for viewer, want := range map[string]int{"": 1, "north": 1, "south": 1, "west": 0} {
		for what, f := range map[string]asset.Filter{"all": {}, "name": {Name: l.Name}} {
			f.Viewer = viewer
			if all, _, err := s.Assets(t.Context(), f); err != nil || len(all) != want {
				t.Errorf("%q sees %d by %s, %v; want %d", viewer, len(all), what, err, want)
			}
		}
	}
	for _, viewer := range []string{"", "west"} { // who looks for a network is to find it, whoever may see its link
		if all, _, err := s.Assets(t.Context(), asset.Filter{VIM: l.VIM, Network: l.Made.Network, Viewer: viewer}); err != nil || len(all) != 1 {
			t.Errorf("by its network, for %q = %v, %v", viewer, all, err)
		}
	}
	s.vimHasLink(l)
	if _, err := s.UpdateAsset(t.Context(), l.ID, func(l *asset.Asset, _ []asset.Use, _ int) error { l.State = asset.Making; return nil }, entry("x")); !errors.Is(err, broker.ErrConflict) {
		t.Errorf("ready to making = %v", err)
	}
	s.wantError("deleting one that is ready", s.DeleteAsset(t.Context(), l.ID, entry("delete")), broker.ErrConflict)
	if _, err := s.UpdateAsset(t.Context(), l.ID, func(l *asset.Asset, _ []asset.Use, _ int) error { l.State = asset.Removing; return nil }, audit.Entry{}); err != nil {
		t.Fatal(err)
	}
	if all, err := s.UnsettledAssets(t.Context(), epoch.Add(time.Hour), 5); err != nil || len(all) != 1 {
		t.Errorf("UnsettledAssets = %v, %v", all, err)
	}
	for range 2 { // again is success
		if err := s.DeleteAsset(t.Context(), l.ID, entry("delete")); err != nil {
			t.Errorf("DeleteAsset = %v", err)
		}
	}
	s.vimUnused("after the link", l.VIM)
}

func (s lifecycleTest) vimHasLink(l asset.Asset) {
	s.t.Helper()
	if _, err := s.UpdateIdleVIM(s.t.Context(), l.VIM, false, drain, entry("drain")); !errors.Is(err, broker.ErrConflict) {
		s.t.Errorf("a VIM under a link begins to go: %v", err)
	}
}

// linkUses: a use is written with the operation that begins it, counts once, and ends with the instance's.
func linkUses(t *testing.T, s lifecycleTest) {
	l := s.makeLink(func(l *asset.Asset) { l.Maker = "i" })
	o, err := s.takeLink(l)
	if err != nil || s.used(l) != 1 {
		t.Fatalf("beginning = %v, %d uses", err, s.used(l))
	}
	if err := s.update(o, lifecycle.Processing); err != nil || s.used(l) != 1 {
		t.Errorf("on its way: %v, %d uses", err, s.used(l))
	}
	_, err = s.UpdateOperation(t.Context(), o.ID, func(o *lifecycle.Operation, i *lifecycle.Instance) error {
		o.State, i.Shape = lifecycle.Completed, o.Target
		return nil
	}, entry("update"))
	if err != nil || s.used(l) != 1 {
		t.Errorf("completed: %v, %d uses", err, s.used(l))
	}
	if now, err := s.Asset(t.Context(), l.ID); err != nil || now.Loose {
		t.Errorf("a link that is used is loose: %v, %v", now.Loose, err)
	}
	i, err := s.Instance(t.Context(), o.Instance)
	if err != nil {
		t.Fatal(err)
	}
	forced := s.makeLink(nil)
	if _, err := s.takeLink(forced); err != nil {
		t.Fatal(err)
	}
	if _, err := s.UpdateAsset(t.Context(), forced.ID, func(l *asset.Asset, _ []asset.Use, all int) error {
		l.State = asset.Removing
		return nil
	}, entry("force")); err != nil || s.used(forced) != 0 {
		t.Errorf("removing one that is used = %v, %d uses", err, s.used(forced))
	}
	ending := sampleOperation(i)
	ending.Before, ending.Target, ending.State = i.Shape, lifecycle.Shape{Package: i.Shape.Package}, lifecycle.Completed
	if err := s.BeginOperation(t.Context(), ending, i.Revision, func(i *lifecycle.Instance) { i.Shape = ending.Target }, entry("end")); err != nil {
		t.Fatal(err)
	}
	if now, err := s.Asset(t.Context(), l.ID); err != nil || !now.Loose || s.used(l) != 0 {
		t.Errorf("after its last use: loose %v, %v, %d uses", now.Loose, err, s.used(l))
	}
	there, going := s.makeLink(nil), s.makeLink(nil)
	if _, err := s.UpdateAsset(t.Context(), going.ID, func(l *asset.Asset, _ []asset.Use, _ int) error { l.State = asset.Removing; return nil }, audit.Entry{}); err != nil {
		t.Fatal(err)
	}
	for _, other := range []string{going.ID, uuid.NewString()} {
		for _, ids := range [][]string{{there.ID, other}, {other, there.ID}} {
			i := s.create(bare("web"))
			o := instantiation(i, "")
			o.Target.Links = []lifecycle.Link{{ID: ids[0]}, {ID: ids[1]}}
			s.wantError("beginning with two, of which one is gone", s.BeginOperation(t.Context(), o, i.Revision, nil, entry("begin")), broker.ErrConflict)
			if n := s.used(there); n != 0 {
				t.Errorf("what did not begin uses it %d times", n)
			}
		}
	}
}

// linkRace: an instance that begins to use a link while somebody removes it gets a conflict, or the removal does. The first
// part stops in the window: the one that removes has seen that nobody uses it.
func linkRace(t *testing.T, s lifecycleTest) {
	l := s.makeLink(nil)
	began := make(chan error, 1)
	o := instantiation(s.create(bare("web")), "")
	o.Target.Links = []lifecycle.Link{{ID: l.ID, Name: l.Name}}
	_, err := s.UpdateAsset(t.Context(), l.ID, func(l *asset.Asset, _ []asset.Use, all int) error {
		go func() { began <- s.BeginOperation(context.WithoutCancel(t.Context()), o, 1, nil, entry("begin")) }()
		select { // it comes to wait for this write
		case err := <-began:
			began <- err
		case <-time.After(100 * time.Millisecond):
		}
		l.State = asset.Removing
		return nil
	}, entry("remove"))
	if use := <-began; err != nil || !errors.Is(use, broker.ErrConflict) || s.used(l) != 0 {
		t.Errorf("removing = %v; a use meanwhile = %v, want a conflict; %d uses", err, use, s.used(l))
	}
	for range 20 {
		l := s.makeLink(nil)
		var group sync.WaitGroup
		var use, removal error
		group.Go(func() { _, use = s.takeLink(l) })
		group.Go(func() {
			_, removal = s.UpdateAsset(t.Context(), l.ID, func(l *asset.Asset, _ []asset.Use, all int) error {
				if all > 0 {
					return broker.ErrConflict
				}
				l.State = asset.Removing
				return nil
			}, entry("remove"))
		})
		group.Wait()
		if (use == nil) == (removal == nil) || s.used(l) == 1 != (use == nil) {
			t.Fatalf("use = %v, removal = %v, %d uses", use, removal, s.used(l))
		}
	}
}

// ManyUses has so many instances use one link, 64 at a time, shows that a page of them is bounded, and releases it. It reports how
// long a use and its end take.
func ManyUses(t *testing.T, open func(t *testing.T) LifecycleStore, all int) {
	s := lifecycleTest{LifecycleStore: open(t), t: t}
	p := emptyPackage("north")
	p.ID = sampleShape().Package
	createPackage(t, s, p)
	l := s.makeLink(func(l *asset.Asset) { l.Maker = "i" })
	begun, took := make([]lifecycle.Operation, all), make([]time.Duration, all)
	for n := range all {
		o := instantiation(s.create(bare("web-"+strconv.Itoa(n))), "")
		o.Target.Links = []lifecycle.Link{{ID: l.ID, Name: l.Name}}
		begun[n] = o
	}
	// side does something for each instance, 64 at a time.
	side := func(what string, do func(n int) error) {
		t.Helper()
		var group errgroup.Group
		group.SetLimit(64)
		for n := range all {
			group.Go(func() error {
				at := time.Now()
				err := do(n)
				took[n] = time.Since(at)
				return err
			})
		}
		if err := group.Wait(); err != nil {
			t.Fatalf("%s: %v", what, err)
		}
		sorted := slices.Sorted(slices.Values(took))
		t.Logf("%s, 64 at a time, of %d: p50 %s, p99 %s", what, all, sorted[all/2], sorted[all*99/100])
	}
	side("a use", func(n int) error { return s.BeginOperation(t.Context(), begun[n], 1, nil, entry("begin")) })
	shown, many, err := s.AssetUses(t.Context(), l.ID, asset.MaxUses)
	if err != nil || many != all || len(shown) != min(all, asset.MaxUses) {
		t.Errorf("of %d uses there are shown %d, and %d counted: %v", all, len(shown), many, err)
	}
	if _, err := s.UpdateAsset(t.Context(), l.ID, func(_ *asset.Asset, some []asset.Use, many int) error {
		if len(some) > asset.MaxUses || many != all {
			t.Errorf("one who deletes it is told %d of %d uses", len(some), many)
		}
		return broker.ErrConflict
	}, entry("delete")); !errors.Is(err, broker.ErrConflict) {
		t.Errorf("UpdateAsset = %v", err)
	}
	side("its end", func(n int) error {
		_, err := s.UpdateOperation(t.Context(), begun[n].ID, func(o *lifecycle.Operation, _ *lifecycle.Instance) error {
			o.State = lifecycle.RolledBack
			return nil
		}, entry("end"))
		return err
	})
	if now, err := s.Asset(t.Context(), l.ID); err != nil || !now.Loose || s.used(l) != 0 {
		t.Errorf("after all the link is loose: %t, with %d uses, %v", now.Loose, s.used(l), err)
	}
}
