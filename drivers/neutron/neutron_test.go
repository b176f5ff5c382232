package neutron_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/broker/asset"
	"github.com/vimbroker/vimbroker/broker/asset/spec"
	"github.com/vimbroker/vimbroker/drivers/neutron"
	"github.com/vimbroker/vimbroker/test/fake"
	"github.com/vimbroker/vimbroker/test/fakeneutron"
)

func full() asset.Asset {
	return asset.Asset{ID: "1", Spec: spec.LinkSpec{
		CIDR: "10.0.0.0/24", Router: "r", Rules: []spec.SecurityRule{{Direction: "ingress", Protocol: "tcp", From: 80, To: 80}},
	}}
}

// A link is made once, however often it is asked for, and goes whole; what others have of that name stays.
func TestALinkIsMadeOnceAndGoesWhole(t *testing.T) {
	c, d, l := fakeneutron.New(t), neutron.Driver{}, full()
	first, err := d.Make(t.Context(), c.Connection(), l)
	if err != nil || first.Network == "" || first.Subnet == "" || first.Group == "" {
		t.Fatalf("Make = %+v, %v", first, err)
	}
	stranger := c.Add("networks", fakeneutron.Object{"name": l.Handle()})
	c.Add("networks", fakeneutron.Object{"name": l.Handle(), "description": l.Tag()}) // of an attempt beside
	again, err := d.Make(t.Context(), c.Connection(), l)
	if err != nil || again != first || len(c.Things("networks")) != 2 {
		t.Errorf("made again it is %+v, %v, with networks %v; want %+v and the stranger's", again, err, c.Things("networks"), first)
	}
	if rules := c.Things("security_group_rules"); len(rules) == 0 || slices.ContainsFunc(rules, func(r fakeneutron.Object) bool { return r["direction"] == "egress" }) {
		t.Errorf("the group has rules %v, want none that lets everything out", rules)
	}
	mine := c.Add("ports", fakeneutron.Object{"network_id": first.Network, "device_owner": "compute:nova", "device_id": "s"})
	if err := d.Remove(t.Context(), c.Connection(), l); !errors.Is(err, broker.ErrConflict) || !strings.Contains(err.Error(), mine) || len(c.Things("networks")) != 2 {
		t.Errorf("with a port of others Remove = %v", err)
	}
	c.Drop("ports", mine)
	for range 2 {
		if err := d.Remove(t.Context(), c.Connection(), l); err != nil {
			t.Errorf("Remove = %v", err)
		}
	}
	if left := c.Things("networks"); len(left) != 1 || left[0]["id"] != stranger || len(c.Things("subnets"))+len(c.Things("ports"))+len(c.Things("security_groups")) > 0 {
		t.Errorf("after Remove there is %v", c.All())
	}
	if all := c.Bodies(); strings.Contains(all, "device_owner") || strings.Contains(all, "network:") {
		t.Errorf("an owner is written: %s", all)
	}
}

// A quota that ends half way, and a network that is not there, are errors in our words.
func TestLinksThatCannotBe(t *testing.T) {
	c, d, l := fakeneutron.New(t), neutron.Driver{}, full()
	l.Spec.CIDR = fakeneutron.OverQuota
	_, quota := d.Make(t.Context(), c.Connection(), l)
	_, missing := d.Make(t.Context(), c.Connection(), asset.Asset{ID: "2", Existing: "nowhere"})
	for err, kind := range map[error]error{quota: broker.ErrQuota, missing: broker.ErrInvalid} {
		if !errors.Is(err, kind) || strings.Contains(err.Error(), fake.Canary) {
			t.Errorf("%v, want %v and nothing of Neutron's", err, kind)
		}
	}
	if err := d.Remove(t.Context(), c.Connection(), l); err != nil || len(c.Things("networks")) != 0 {
		t.Errorf("half a link is removed: %v, %v", err, c.Things("networks"))
	}
	c.IgnoreRules(true)
	if _, err := d.Make(t.Context(), c.Connection(), l); !errors.Is(err, broker.ErrUnsupported) || strings.Contains(err.Error(), fake.Canary) {
		t.Errorf("where no access rule is obeyed Make = %v", err)
	}
	c.IgnoreRules(false)
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if err := d.Remove(ended, c.Connection(), l); err == nil {
		t.Error("a call outlives its context")
	}
	for _, s := range []spec.LinkSpec{{NAD: &spec.PodNetwork{Type: "bridge"}}, {Router: "r"}} {
		if _, err := d.Lease(asset.Asset{Spec: s}); !errors.Is(err, broker.ErrInvalid) {
			t.Errorf("Purpose of %+v = %v", s, err)
		}
	}
}
