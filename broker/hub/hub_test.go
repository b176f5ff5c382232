package hub_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/broker/clientconfig"
	"github.com/vimbroker/vimbroker/broker/hub"
	"github.com/vimbroker/vimbroker/broker/onboard"
	"github.com/vimbroker/vimbroker/broker/secret"
	"github.com/vimbroker/vimbroker/policy"
	"github.com/vimbroker/vimbroker/policy/egress"
	"github.com/vimbroker/vimbroker/test/clock"
	"github.com/vimbroker/vimbroker/test/testlog"
)

// fleet is a broker of some VIMs, and what is written on its hubs.
type fleet struct {
	vims    []broker.VIM
	leases  []broker.LeaseRequest
	alive   map[string]bool // by the operation
	fails   map[string]error
	written map[string][]hub.ClusterProfile // by hub and namespace
	times   int
	revoked []string         // by the VIM
	asked   int              // for VIMs
	lost    map[string]error // by a call: of VIMs with its number, of the others with the VIM
}

// VIMs answers as the broker does to who may see all: with those of every project.
func (f *fleet) VIMs(_ context.Context, p policy.Principal, q broker.VIMQuery) (found []broker.VIM, _ string, _ error) {
	if f.asked++; f.lost[fmt.Sprint("VIMs ", f.asked)] != nil {
		return nil, "", f.lost[fmt.Sprint("VIMs ", f.asked)]
	}
	if p.Name != "system:profiles" || q.State != broker.VIMRegistered {
		return nil, "", errors.New("unexpected question")
	}
	for _, v := range f.vims {
		if (q.Type == "" || q.Type == v.Type) && (q.Labels[hub.LabelHub] == "" || v.Labels[hub.LabelHub] == q.Labels[hub.LabelHub]) {
			found = append(found, v)
		}
	}
	return found, "", nil
}

func (f *fleet) IssueLease(_ context.Context, p policy.Principal, r broker.LeaseRequest) (broker.Lease, clientconfig.Config, error) {
	if err := f.lost["IssueLease "+r.VIM]; err != nil {
		return broker.Lease{}, clientconfig.Config{}, err
	}
	f.leases = append(f.leases, r)
	f.alive[r.Operation] = true
	var c clientconfig.Config
	c.Endpoint, c.Token = "https://"+r.VIM, secret.NewText("t")
	return broker.Lease{ID: "l"}, c, nil
}

func (f *fleet) RevokeLeases(_ context.Context, _ policy.Principal, s broker.LeaseSelector) ([]broker.Lease, error) {
	if f.revoked = append(f.revoked, s.VIM); f.lost[fmt.Sprint("RevokeLeases ", len(f.revoked))] != nil {
		return nil, f.lost[fmt.Sprint("RevokeLeases ", len(f.revoked))]
	}
	delete(f.alive, s.Operation)
	return nil, nil
}

func (f *fleet) Publish(_ context.Context, a onboard.ManagementAccess, namespace, ofHub string, all []hub.ClusterProfile) error {
	if !f.alive["profiles:"+ofHub] || a.Endpoint != "https://"+ofHub {
		return errors.New("written without a lease of the hub")
	}
	f.times++
	f.written[ofHub+"/"+namespace] = all
	return f.fails[ofHub]
}

func vim(id, project, name string, labels map[string]string) broker.VIM {
	v := broker.VIM{ID: id, Project: project, Name: name, Type: "kubernetes", State: broker.VIMRegistered, Labels: labels}
	v.Current.Target.Endpoint, v.Current.Identity, v.Health.Status = "https://"+id+".example", "uid-"+id, broker.HealthReachable
	return v
}

func newFleet(t *testing.T) (*fleet, *hub.Hubs, *clock.Clock) {
	f := &fleet{
		alive: map[string]bool{}, fails: map[string]error{}, written: map[string][]hub.ClusterProfile{},
		vims: []broker.VIM{
			vim("h1", "p", "hub", map[string]string{hub.LabelHub: "true", hub.LabelNamespace: "fleet", hub.LabelRole: "view"}),
			vim("h2", "q", "hub", map[string]string{hub.LabelHub: "true"}),
			vim("v1", "p", "edge", nil), vim("v2", "p", "Edge 2", nil), vim("v3", "q", "edge", nil),
		},
	}
	cloud := vim("o1", "p", "cloud", nil)
	cloud.Type = "openstack"
	shared := vim("s1", "r", "edge", nil)
	shared.SharedWith, shared.Health.Status = []string{"p"}, broker.HealthUnreachable
	everybodys := vim("a1", "r", "public", nil)
	everybodys.Shared = true
	f.vims = append(f.vims, cloud, shared, everybodys, vim("x1", "r", "secret", nil))
	now := clock.New(time.Date(2031, 1, 1, 0, 0, 0, 0, time.UTC))
	return f, &hub.Hubs{
		Broker: f, Publisher: f, Egress: func(string) *egress.Rules { return nil }, Log: testlog.Silent(t), Now: now.Now,
	}, now
}

// A hub shows the clusters that its project sees, each under a name of its own, and the leases that wrote them have ended.
func TestAHubShowsTheClustersOfItsProject(t *testing.T) {
	f, h, _ := newFleet(t)
	if err := h.Show(t.Context()); err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	for _, p := range f.written["h1/fleet"] {
		got[p.Name] = p.VIM + " " + p.Healthy + " " + p.Role + " " + p.Server + " " + p.System
	}
	for name, want := range map[string]string{
		"hub": "h1 True view https://h1.example uid-h1", "edge": "v1 True view https://v1.example uid-v1",
		"a1": "a1 True view https://a1.example uid-a1", "v2": "v2 True view https://v2.example uid-v2", "s1": "s1 False view https://s1.example uid-s1",
	} {
		if got[name] != want {
			t.Errorf("%s is %q, want %q", name, got[name], want)
		}
	}
	if len(got) != 5 || len(f.written["h2/default"]) != 3 {
		t.Errorf("it shows %v, and the other hub %v", got, f.written["h2/default"])
	}
	if len(f.alive) != 0 || len(f.leases) != 2 {
		t.Errorf("leases are alive: %v, of %d", f.alive, len(f.leases))
	}
	for _, l := range f.leases {
		if len(l.Namespaces) != 1 || l.ClusterWide || len(l.Rules) != 1 || l.Rules[0].APIGroups[0] != "multicluster.x-k8s.io" || l.TTL > 10*time.Minute {
			t.Errorf("the lease is %+v", l)
		}
	}
}

// What has not changed is not written again, until it is time to see what others did with it.
func TestAHubIsWrittenWhereSomethingChanged(t *testing.T) {
	f, h, now := newFleet(t)
	show := func(want int, what string) {
		t.Helper()
		f.times = 0
		if err := h.Show(t.Context()); err != nil || f.times != want {
			t.Errorf("%s: %d hubs are written, %v, want %d", what, f.times, err, want)
		}
		now.Add(30 * time.Second)
	}
	show(2, "at first")
	show(0, "unchanged")
	f.vims[2].Health.Status = broker.HealthUnreachable
	show(1, "one is away")
	f.vims[0].Labels = map[string]string{hub.LabelHub: "true", hub.LabelNamespace: "other", hub.LabelRole: "view"}
	show(1, "in another namespace")
	now.Add(time.Hour)
	show(2, "after an hour")
	f.vims[1].Labels = map[string]string{hub.LabelHub: "false"}
	if show(1, "no hub any more"); len(f.written["h2/default"]) != 0 || len(f.written["h1/other"]) == 0 {
		t.Errorf("what is no hub any more shows %v", f.written["h2/default"])
	}
}

// A hub that fails keeps no other from being written, ends its lease, and is tried again.
func TestAHubThatFails(t *testing.T) {
	f, h, _ := newFleet(t)
	f.fails["h1"] = &broker.Error{Kind: broker.ErrUnreachable, Detail: "away"}
	if err := h.Show(t.Context()); !errors.Is(err, broker.ErrUnreachable) {
		t.Errorf("Show() = %v", err)
	}
	if len(f.written["h2/default"]) != 3 || len(f.alive) != 0 {
		t.Errorf("the other hub has %v; alive: %v", f.written["h2/default"], f.alive)
	}
	delete(f.fails, "h1")
	if f.times = 0; h.Show(t.Context()) != nil || f.times != 1 {
		t.Errorf("%d hubs are written, want the one that failed", f.times)
	}
}

// Whatever cannot be had keeps a hub from being written, and is told; what was not written is written the next time.
func TestWhatKeepsAHubFromBeingWritten(t *testing.T) {
	lost := errors.New("lost")
	for call, want := range map[string]struct{ written, alive int }{
		"VIMs 1": {0, 0}, "VIMs 2": {0, 0}, "VIMs 3": {0, 0}, "IssueLease h1": {1, 0}, "RevokeLeases 1": {1, 0}, "RevokeLeases 2": {2, 1},
	} {
		f, h, _ := newFleet(t)
		f.lost = map[string]error{call: lost}
		if err := h.Show(t.Context()); !errors.Is(err, lost) || f.times != want.written || len(f.alive) != want.alive {
			t.Errorf("without %s: %v; %d hubs are written, and %d leases live", call, err, f.times, len(f.alive))
		}
		f.times, f.lost = 0, nil
		if err := h.Show(t.Context()); err != nil || f.times == 0 || len(f.alive) != 0 {
			t.Errorf("after %s: %v; %d hubs are written, and %d leases live", call, err, f.times, len(f.alive))
		}
	}
	f, h, _ := newFleet(t)
	f.vims = f.vims[2:]
	if err := h.Show(t.Context()); err != nil || f.asked != 2 {
		t.Errorf("without a hub: %v, after %d questions", err, f.asked)
	}
}

// A hub is compared with what others made of it after half an hour, and shows ten thousand VIMs.
func TestTheBoundsOfAHub(t *testing.T) {
	f, h, now := newFleet(t)
	for _, c := range []struct {
		after time.Duration
		want  int
	}{{0, 2}, {30*time.Minute - 1, 0}, {1, 2}} {
		now.Add(c.after)
		if f.times = 0; h.Show(t.Context()) != nil || f.times != c.want {
			t.Errorf("%v later %d hubs are written, want %d", c.after, f.times, c.want)
		}
	}
	f.vims = f.vims[:1]
	for i := range 9_999 {
		f.vims = append(f.vims, vim(fmt.Sprint("n", i), "p", fmt.Sprint("n", i), nil))
	}
	if err := h.Show(t.Context()); err != nil || len(f.written["h1/fleet"]) != 10_000 {
		t.Errorf("of 10000 it shows %d, %v", len(f.written["h1/fleet"]), err)
	}
	f.vims = append(f.vims, vim("more", "p", "more", nil))
	if err := h.Show(t.Context()); !errors.Is(err, broker.ErrQuota) || len(f.written["h1/fleet"]) != 10_000 {
		t.Errorf("of 10001 it shows %d, %v", len(f.written["h1/fleet"]), err)
	}
}

// A profile says how its VIM is, and why.
func TestAProfileSaysHowItsVIMIs(t *testing.T) {
	for status, want := range map[broker.HealthStatus]string{
		broker.HealthReachable: "True Reachable", broker.HealthUnreachable: "False Unreachable", broker.HealthIdentityChanged: "False IdentityChanged",
		broker.HealthUnauthorized: "Unknown Unauthorized", broker.HealthUnopenable: "Unknown NotChecked", "": "Unknown NotChecked",
	} {
		f, h, _ := newFleet(t)
		f.vims = f.vims[:1]
		f.vims[0].Health.Status = status
		if err := h.Show(t.Context()); err != nil {
			t.Fatal(err)
		}
		if p := f.written["h1/fleet"][0]; p.Healthy+" "+p.Reason != want {
			t.Errorf("%q is shown as %s %s, want %s", status, p.Healthy, p.Reason, want)
		}
	}
}
