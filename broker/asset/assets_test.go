package asset_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/broker/asset"
	"github.com/vimbroker/vimbroker/broker/asset/spec"
	"github.com/vimbroker/vimbroker/broker/clientconfig"
	"github.com/vimbroker/vimbroker/policy"
	"github.com/vimbroker/vimbroker/policy/audit"
	"github.com/vimbroker/vimbroker/policy/egress"
	"github.com/vimbroker/vimbroker/test/testlog"
)

// shelf keeps one link and the log.
type shelf struct {
	asset.Store
	one  asset.Asset
	log  []audit.Entry
	gone bool
	// full: the name is taken.
	full bool
}

func (s *shelf) Assets(context.Context, asset.Filter) ([]asset.Asset, string, error) {
	return []asset.Asset{s.one}, "", nil
}

func (s *shelf) CreateAsset(_ context.Context, l asset.Asset, _ int, e audit.Entry) error {
	if s.full {
		return broker.ErrExists
	}
	s.one, s.log = l, append(s.log, e)
	return nil
}

func (s *shelf) UpdateAsset(_ context.Context, _ string, change func(*asset.Asset, []asset.Use, int) error, e audit.Entry) (asset.Asset, error) {
	s.log = append(s.log, e)
	return s.one, change(&s.one, nil, 0)
}

func (s *shelf) DeleteAsset(_ context.Context, _ string, e audit.Entry) error {
	s.gone, s.log = true, append(s.log, e)
	return nil
}

func (s *shelf) Asset(context.Context, string) (asset.Asset, error) { return s.one, nil }

func (s *shelf) Append(_ context.Context, e audit.Entry) error {
	s.log = append(s.log, e)
	return nil
}

func (s *shelf) Entries(context.Context, audit.Query) ([]audit.Entry, error) { return s.log, nil }

// cloud is a VIM that says secrets where it fails.
type cloud struct {
	asset.Driver
	fails error
}

func (cloud) Lease(asset.Asset) (broker.LeaseRequest, error) {
	return broker.LeaseRequest{Purpose: "network"}, nil
}

func (c cloud) Make(context.Context, asset.Connection, asset.Asset) (asset.Made, error) {
	return asset.Made{}, c.fails
}

func (cloud) Remove(context.Context, asset.Connection, asset.Asset) error { return nil }

func (cloud) VIM(context.Context, policy.Principal, string) (broker.VIM, error) {
	return broker.VIM{ID: "v", Name: "nfv1", Project: "core", Type: "openstack"}, nil
}

func (cloud) IssueLease(context.Context, policy.Principal, broker.LeaseRequest) (broker.Lease, clientconfig.Config, error) {
	return broker.Lease{}, clientconfig.Config{}, nil
}

func (cloud) EndOperation(context.Context, string, ...string) error { return nil }

// on has links made on clouds by a driver.
func on(d asset.Driver) map[asset.On]asset.Driver {
	return map[asset.On]asset.Driver{{Kind: policy.KindLink, VIM: "openstack"}: d}
}

type yes struct{ policy.Decider }

func (yes) Decide(policy.Request) policy.Decision { return policy.Decision{Allowed: true} }

// A link is no volume, by whatever id it is asked for, and one that its VIM can do nothing of leaves no row.
func TestAKindIsAskedForByItsName(t *testing.T) {
	s := &shelf{}
	c := cloud{}
	links := asset.New(asset.Options{
		Store: s, Leaser: c, Drivers: on(c), Guard: &audit.Guard{Policy: yes{}, Sink: s, Now: time.Now},
		Egress: func(string) *egress.Rules { return nil }, Log: testlog.Silent(t), Now: time.Now,
	})
	p := policy.Principal{Name: "alice", Project: "core", Roles: []string{policy.RoleMember}}
	r := asset.Request{Kind: policy.KindLink, Name: "sgi", VIM: "nfv1"}
	l, _, err := links.Create(t.Context(), p, r)
	if err != nil || s.one.State != asset.Ready {
		t.Fatalf("Create = %v, %v", l, err)
	}
	if _, _, err := links.Delete(t.Context(), p, policy.KindVolume, l.ID, true); !errors.Is(err, broker.ErrNotFound) || s.one.State != asset.Ready {
		t.Errorf("a link is deleted as a volume: %v, and is %q", err, s.one.State)
	}
	for _, state := range []asset.State{asset.Making, asset.Removing} { // whoever is at work on it has its lease end with that
		s.one.State, s.one.Since = state, time.Now()
		if _, _, err := links.Delete(t.Context(), p, policy.KindLink, l.ID, false); !errors.Is(err, broker.ErrUnavailable) {
			t.Errorf("a link that another is %s is deleted: %v", state, err)
		}
	}
	r.Kind = policy.KindVolume
	if _, _, err := links.Create(t.Context(), p, r); !errors.Is(err, broker.ErrUnsupported) {
		t.Errorf("a volume on a cloud = %v", err)
	}
	*s = shelf{}
	c.fails = &broker.Error{Kind: broker.ErrUnsupported, Detail: "no access rule is obeyed"}
	links = asset.New(asset.Options{
		Store: s, Leaser: c, Drivers: on(stuck{c}), Guard: links.Guard, Egress: links.Egress, Log: links.Log, Now: time.Now,
	})
	if _, _, err := links.Create(t.Context(), p, asset.Request{Kind: policy.KindLink, Name: "sgi", VIM: "nfv1"}); !errors.Is(err, c.fails) || !s.gone {
		t.Errorf("Create = %v, and there is a row %+v", err, s.one)
	}
}

// stuck is a cloud on which nothing can be looked for.
type stuck struct{ cloud }

func (s stuck) Remove(context.Context, asset.Connection, asset.Asset) error { return s.fails }

// The log and a link's row have the kind of a failure, or the broker's own words: never those of another system.
func TestAFailureIsToldInOurWords(t *testing.T) {
	const canary = "canary-of-the-cloud"
	for _, fails := range []error{
		errors.New(canary), fmt.Errorf("asking: %w", &broker.Error{Kind: broker.ErrQuota, Detail: "the quota is used up", Cause: errors.New(canary)}),
		&broker.Error{Kind: broker.ErrUnreachable, Detail: "no answer", Cause: errors.New(canary)},
	} {
		s := &shelf{}
		c := cloud{fails: fails}
		links := asset.New(asset.Options{
			Store: s, Leaser: c, Drivers: on(c), Guard: &audit.Guard{Policy: yes{}, Sink: s, Now: time.Now},
			Egress: func(string) *egress.Rules { return nil }, Log: testlog.Silent(t), Now: time.Now,
		})
		p := policy.Principal{Name: "alice", Project: "core", Roles: []string{policy.RoleMember}}
		_, made, err := links.Create(t.Context(), p, asset.Request{Kind: policy.KindLink, Name: "sgi", VIM: "nfv1", Spec: spec.LinkSpec{CIDR: "10.9.0.0/24"}})
		if !errors.Is(err, fails) {
			t.Errorf("Create() = %v, %v, want %v", made, err, fails)
		}
		if s.one.Fault == "" || len(s.log) < 2 {
			t.Errorf("of %v the row says %q, and the log has %d entries", fails, s.one.Fault, len(s.log))
		}
		if kept := fmt.Sprintf("%+v %+v", s.one, s.log); strings.Contains(kept, canary) {
			t.Errorf("what a cloud said of %T is kept: %s", fails, kept)
		}
	}
}

// pair is a cloud and a cluster, by name.
type pair struct {
	cloud
	asked *[]broker.LeaseRequest
	ended *[]string
}

func (pair) VIM(_ context.Context, _ policy.Principal, name string) (broker.VIM, error) {
	kind := broker.VIMType("kubernetes")
	switch name {
	case "nobody's":
		return broker.VIM{}, broker.ErrNotFound
	case "nfv1", "id of nfv1":
		name, kind = "nfv1", "openstack"
	}
	return broker.VIM{ID: "id of " + strings.TrimPrefix(name, "id of "), Name: name, Project: "core", Type: kind}, nil
}

func (p pair) IssueLease(_ context.Context, _ policy.Principal, r broker.LeaseRequest) (broker.Lease, clientconfig.Config, error) {
	*p.asked = append(*p.asked, r)
	return broker.Lease{}, clientconfig.Config{}, nil
}

func (p pair) EndOperation(_ context.Context, operation string, _ ...string) error {
	*p.ended = append(*p.ended, operation)
	return nil
}

func (p pair) Ports(_ context.Context, _ asset.Connection, _ asset.Asset, instance string, names []string, _ bool) (made []asset.Port, err error) {
	for _, name := range names {
		made = append(made, asset.Port{Name: name, ID: instance})
	}
	return made, p.fails
}

// A link goes with what stands of it. Who has it removed by force lets go of what the VIM does not remove, and the log says
// that it is left; a conflict is no fault of the VIM's.
func TestOnlyForceLeavesWhatAVIMDoesNotRemove(t *testing.T) {
	fault, conflict := &broker.Error{Kind: broker.ErrUnreachable}, &broker.Error{Kind: broker.ErrConflict}
	for _, c := range []struct {
		fails       error
		force       bool
		gone, noted bool
	}{
		{nil, false, true, false},
		{nil, true, true, false},
		{fault, false, false, false},
		{fault, true, true, true},
		{conflict, false, false, false},
		{conflict, true, false, false},
	} {
		s := &shelf{}
		made := cloud{}
		p := policy.Principal{Name: "alice", Project: "core", Roles: []string{policy.RoleMember}}
		options := asset.Options{
			Store: s, Leaser: made, Drivers: on(made), Guard: &audit.Guard{Policy: yes{}, Sink: s, Now: time.Now},
			Egress: func(string) *egress.Rules { return nil }, Log: testlog.Silent(t), Now: time.Now,
		}
		l, _, err := asset.New(options).Create(t.Context(), p, asset.Request{Kind: policy.KindLink, Name: "sgi", VIM: "nfv1"})
		if err != nil {
			t.Fatal(err)
		}
		if c.fails != nil {
			options.Drivers = on(stuck{cloud{fails: c.fails}})
		}
		_, _, err = asset.New(options).Delete(t.Context(), p, policy.KindLink, l.ID, c.force)
		if noted := len(s.log) > 0 && s.log[len(s.log)-1].Detail[audit.DetailLeft] != ""; s.gone != c.gone || (err == nil) != c.gone || noted != c.noted {
			t.Errorf("%+v: %v, the row is gone %t, and that something is left is noted %t", c, err, s.gone, noted)
		}
	}
}

// but forbids to adopt on a VIM, and to see what is on another.
type but struct {
	policy.Decider
	vim, unseen string
}

func (b but) Decide(r policy.Request) policy.Decision {
	adopts, on := r.Action == policy.LinkAdopt, r.Resource.VIMName
	return policy.Decision{Allowed: (!adopts || on != b.vim) && (!adopts && r.Action != policy.LinkShow || on != b.unseen)}
}

// Where somebody may not even see what is on a cluster, the refusal is that of one who may: it names the permission, and is in
// the log.
func TestASpanToAClusterOfOthersNamesThePermission(t *testing.T) {
	s := &shelf{}
	v := pair{asked: new([]broker.LeaseRequest), ended: new([]string)}
	links := asset.New(asset.Options{
		Store: s, Leaser: v, Drivers: on(v), Guard: &audit.Guard{Policy: but{unseen: "edge"}, Sink: s, Now: time.Now},
		Egress: func(string) *egress.Rules { return nil }, Log: testlog.Silent(t), Now: time.Now,
	})
	_, _, err := links.Create(t.Context(), policy.Principal{Name: "alice", Project: "core", Roles: []string{policy.RoleMember}}, asset.Request{
		Kind: policy.KindLink, Name: "lan", VIM: "nfv1", Spec: spec.LinkSpec{}, Spans: []spec.Span{{VIM: "edge", Physical: "physnet1", Interface: "bond0"}},
	})
	if known, is := errors.AsType[*broker.Error](err); !is || !errors.Is(err, broker.ErrDenied) || !strings.Contains(known.Detail, string(policy.LinkAdopt)) {
		t.Errorf("Create() = %v, want a refusal that names the permission", err)
	}
	if n := len(s.log); n == 0 || s.log[n-1].Action != policy.LinkCreate || s.log[n-1].Outcome != audit.Failed {
		t.Errorf("the log does not say that the link is refused: %+v", s.log)
	}
}

// That a cluster's nodes reach a network is said of two VIMs, and needs the permission on each.
func TestASpanNeedsItsPermissionOnBothVIMs(t *testing.T) {
	p := policy.Principal{Name: "alice", Project: "core", Roles: []string{policy.RoleMember}}
	for _, c := range []struct {
		forbidden string
		spans     []string
		want      error
	}{
		{"", []string{"edge"}, nil},
		{"nfv1", []string{"edge"}, broker.ErrDenied},
		{"edge", []string{"edge"}, broker.ErrDenied},
		{"far", []string{"edge", "far"}, broker.ErrDenied},
		{"", []string{"edge", "id of edge"}, broker.ErrInvalid},
		{"", []string{"nfv1"}, broker.ErrInvalid},
		{"", []string{"nobody's"}, broker.ErrNotFound},
	} {
		s := &shelf{}
		var asked []broker.LeaseRequest
		var ended []string
		v := pair{asked: &asked, ended: &ended}
		links := asset.New(asset.Options{
			Store: s, Leaser: v, Drivers: on(v), Guard: &audit.Guard{Policy: but{vim: c.forbidden}, Sink: s, Now: time.Now},
			Egress: func(string) *egress.Rules { return nil }, Log: testlog.Silent(t), Now: time.Now,
		})
		r := asset.Request{Kind: policy.KindLink, Name: "lan", VIM: "nfv1"}
		for _, vim := range c.spans {
			r.Spans = append(r.Spans, spec.Span{VIM: vim, Physical: "physnet1", Interface: "bond0"})
		}
		l, _, err := links.Create(t.Context(), p, r)
		if !errors.Is(err, c.want) || c.want != nil && (len(asked) > 0 || s.one.ID != "") {
			t.Errorf("%+v: %v, with leases %v and a row %+v", c, err, asked, s.one)
		}
		if c.want != nil {
			continue
		}
		if l.Spans[0].VIM != "id of edge" || r.Spans[0].VIM != "edge" {
			t.Errorf("the link spans to %+v, asked for as %+v", l.Spans, r.Spans)
		}
		spanned, there := l.On("id of edge")
		if _, other := l.On("id of far"); !there || other || spanned.Spec.NAD.Type != "macvlan" || l.Spec.NAD != nil {
			t.Errorf("on the cluster it is %+v", spanned)
		}
		s.full = true
		if again, made, err := links.Create(t.Context(), p, r); err != nil || made || again.ID != l.ID {
			t.Errorf("asked for again it is %+v, %v", again, err)
		}
		other := r
		other.Spans = []spec.Span{{VIM: "edge", Physical: "physnet2", Interface: "bond0"}}
		if _, _, err := links.Create(t.Context(), p, other); !errors.Is(err, broker.ErrConflict) {
			t.Errorf("asked for otherwise it is %v", err)
		}
		made, err := links.Ports(t.Context(), l.ID, "i", []string{"a"}, false)
		if err != nil || len(made) != 1 || asked[1].VIM != "id of nfv1" || asked[1].Purpose != "network" || ended[1] == ended[0] || !strings.HasSuffix(ended[1], ":i") {
			t.Errorf("Ports = %v, %v, under leases %+v that end with %q", made, err, asked, ended)
		}
		if log := s.log[len(s.log)-2:]; log[0].Outcome != audit.Intent || log[1].Outcome != audit.Done || log[1].Detail[audit.DetailInstance] != "i" {
			t.Errorf("the log has %+v", log)
		}
	}
	for _, wrong := range []spec.Span{{Physical: "a b", Interface: "bond0"}, {Physical: "p", Interface: "bond0; reboot"}, {Physical: "p", Interface: "interface-of-16ch"}, {Interface: "bond0"}, {Physical: "p", Interface: "bond0", IPAM: "host-local"}} {
		s := &shelf{}
		links := asset.New(asset.Options{Store: s, Guard: &audit.Guard{Policy: yes{}, Sink: s, Now: time.Now}, Now: time.Now})
		if _, _, err := links.Create(t.Context(), p, asset.Request{Kind: policy.KindLink, Name: "lan", VIM: "nfv1", Spans: []spec.Span{wrong}}); !errors.Is(err, broker.ErrInvalid) {
			t.Errorf("%+v: %v", wrong, err)
		}
	}
}
