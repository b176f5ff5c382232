package neutron_test

import (
	"context"
	"fmt"
	"regexp"
	"testing"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/broker/asset"
	"github.com/vimbroker/vimbroker/broker/asset/spec"
	"github.com/vimbroker/vimbroker/drivers/neutron"
	"github.com/vimbroker/vimbroker/test/fake"
	"github.com/vimbroker/vimbroker/test/fakeneutron"
	"github.com/vimbroker/vimbroker/test/sweep"
)

func bench(c *fakeneutron.Server, run func(context.Context) (any, error)) *sweep.Bench {
	return &sweep.Bench{
		Servers: map[string]*fake.Server{"": &c.Server}, Run: run, Standing: c.Standing, Secrets: func() []string { return nil },
	}
}

// wide is a link with all that one may have.
func wide() asset.Asset {
	l, dhcp, secure := full(), false, true
	l.Spec.Gateway, l.Spec.DNS, l.Spec.DHCP, l.Spec.MTU, l.Spec.PortSecurity = "10.0.0.1", []string{"192.0.2.53"}, &dhcp, 1400, &secure
	l.Spec.Segment = &spec.LinkSegment{Type: "vlan", Physical: "physnet1", ID: 100}
	l.Spec.Rules = append(l.Spec.Rules, spec.SecurityRule{Direction: "egress", Remote: "2001:db8::/32"})
	l.Spans = []spec.Span{{VIM: "v", Physical: "physnet1", Interface: "bond0.100"}}
	return l
}

func makes(l asset.Asset, times int) func(testing.TB) *sweep.Bench {
	return func(t testing.TB) *sweep.Bench {
		c, d := fakeneutron.NewPlain(t), neutron.Driver{}
		for range times {
			if _, err := d.Make(t.Context(), c.Connection(), l); err != nil {
				t.Fatal(err)
			}
		}
		b := bench(c, func(ctx context.Context) (any, error) {
			m, err := d.Make(ctx, c.Connection(), l)
			return fmt.Sprintf("%+v", m), err
		})
		if times == 0 {
			b.Undo = func(ctx context.Context) error { return d.Remove(ctx, c.Connection(), l) }
		}
		return b
	}
}

// spanned is a link on a network that pods have ports on.
func spanned(t testing.TB) (*fakeneutron.Server, asset.Asset) {
	t.Helper()
	c, l := fakeneutron.NewPlain(t), asset.Asset{ID: "1", Made: asset.Made{Group: "g"}}
	l.Made.Network = c.Add("networks", fakeneutron.Object{})
	c.Add("subnets", fakeneutron.Object{
		"network_id": l.Made.Network, "cidr": "10.0.0.0/24", "allocation_pools": []fakeneutron.Object{{"start": "10.0.0.100", "end": "10.0.0.109"}},
	})
	return c, l
}

func TestSweep(t *testing.T) {
	s := sweep.OfBroker()
	s.Kinds = append(s.Kinds, broker.ErrQuota)
	s.Want["401"], s.Want["404"] = broker.ErrUnsupported, broker.ErrNotFound
	s.Words = map[string]*regexp.Regexp{
		"thing": regexp.MustCompile(`\bid-[0-9]+\b`), "mac": regexp.MustCompile(`fa:16:3e:[0-9a-f:]+`), "given": regexp.MustCompile(`10\.0\.0\.[0-9]{2}\b`),
	}
	s.Exceptions = []sweep.Exception{
		{Request: "/v3/auth/tokens", Fault: "40[14]", Want: broker.ErrUnauthorized, Why: "Keystone says so of a token that has ended"},
		{Request: "/tags ", Fault: "404", Why: "not every cloud has tags"},
		{Flow: "^make-again$", Request: "/security-group-rules .{1}", Fault: "cut|hollow", Usual: true, Why: "that the rule is there is said by Neutron's words"},
		{Flow: "^ports$", Request: `^POST .*"ports"`, Fault: "cut|hollow", Why: "the ports of a pool are looked for when they are made"},
		{Request: "^PUT |/security-group-rules .{1}", Fault: "cut|hollow", Why: "the status says that it is done"},
		{Request: "^POST .*/security-group-rules ", Fault: "409", Left: true, Why: "Neutron says so of a rule that is there"},
		{Flow: "^remove$", Request: "/remove_router_interface ", Fault: "404", Want: broker.ErrConflict, Why: "the interface is gone by Neutron's word, and in the way"},
		{Request: "^DELETE ", Fault: "404", Left: true, Why: "Neutron's word that it is gone"},
	}
	s.Run(t,
		sweep.Flow{Name: "remove", New: func(t testing.TB) *sweep.Bench {
			c, d, l := fakeneutron.NewPlain(t), neutron.Driver{}, full()
			if _, err := d.Make(t.Context(), c.Connection(), l); err != nil {
				t.Fatal(err)
			}
			return bench(c, func(ctx context.Context) (any, error) { return "", d.Remove(ctx, c.Connection(), l) })
		}},
		sweep.Flow{Name: "make", New: makes(wide(), 0)},
		sweep.Flow{Name: "make-again", Fields: "GET .*(networks|subnets|ports)", Statuses: "name=.*networks|/networks", Only: "GET|rules", New: makes(full(), 1)},
		sweep.Flow{Name: "ports", Fields: "net", New: func(t testing.TB) *sweep.Bench {
			c, l := spanned(t)
			d := neutron.Driver{}
			if _, err := d.Ports(t.Context(), c.Connection(), l, "i", []string{"old"}, false); err != nil {
				t.Fatal(err)
			}
			names := []string{"a/pod/x", "a/pool/2/0", "a/pool/2/1"}
			b := bench(c, func(ctx context.Context) (any, error) {
				made, err := d.Ports(ctx, c.Connection(), l, "i", names, true)
				return fmt.Sprintf("%+v", made), err
			})
			return b
		}},
	)
}
