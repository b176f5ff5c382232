package egress_test

import (
	"net/netip"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/vimbroker/vimbroker/policy/egress"
)

var compare = cmp.Comparer(func(a, b netip.Prefix) bool { return a == b })

func TestParse(t *testing.T) {
	got, err := egress.Parse(true, []string{"10.0.0.0/8", "fd12::/16", "192.0.2.7", "0.0.0.0/0", "2001:db8::/32"}, []string{"443", "1024-65535"})
	if err != nil {
		t.Fatal(err)
	}
	want := &egress.Rules{
		AllowLoopback: true,
		Networks: []netip.Prefix{
			netip.MustParsePrefix("10.0.0.0/8"), netip.MustParsePrefix("fd12::/16"),
			netip.MustParsePrefix("192.0.2.7/32"), netip.MustParsePrefix("0.0.0.0/0"), netip.MustParsePrefix("2001:db8::/32"),
		},
		Ports: []egress.PortRange{{443, 443}, {1024, 65535}},
	}
	if diff := cmp.Diff(want, got, compare); diff != "" {
		t.Errorf("Parse differs (-want +got):\n%s", diff)
	}
}

func TestParseOfNothingIsDefault(t *testing.T) {
	got, err := egress.Parse(false, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(egress.Default(), got, compare); diff != "" {
		t.Errorf("Parse differs (-want +got):\n%s", diff)
	}
}

func TestParseReportsEveryFault(t *testing.T) {
	rules, err := egress.Parse(false, []string{"10.0.0.0/8", "bogus", "10.0.0.1/8"}, []string{"x", "443", "9-1"})
	if err == nil || rules != nil {
		t.Fatalf("Parse = %v, %v, want only an error", rules, err)
	}
	for _, fault := range []string{`"bogus"`, "did you mean 10.0.0.0/8?", `"x"`, `"9-1"`} {
		if !strings.Contains(err.Error(), fault) {
			t.Errorf("Parse = %q, want it to say %s", err, fault)
		}
	}
}

func TestParseNetworkRefuses(t *testing.T) {
	for in, want := range map[string]string{
		"":                    "not an address or prefix",
		"10.0.0.0/33":         "not an address or prefix",
		"10.0.0.0/08":         "not an address or prefix",
		"010.0.0.0/8":         "not an address or prefix",
		"example.org":         "not an address or prefix",
		"10.0.0.0-10.0.0.9":   "not an address or prefix",
		"fe80::1%eth0":        "zone",
		"10.0.0.1/8":          "did you mean 10.0.0.0/8?",
		"127.0.0.1":           "egress.allowLoopback",
		"127.0.0.0/8":         "egress.allowLoopback",
		"::1":                 "egress.allowLoopback",
		"169.254.169.254":     "link-local",
		"169.254.0.0/16":      "link-local",
		"::ffff:10.0.0.0/104": "mapped",
		"::ffff:10.0.0.1":     "mapped",
		"64:ff9b::/96":        "NAT64",
		"224.0.0.0/8":         "multicast",
		"fe80::/10":           "link-local",
		"5f00::/16":           "not global",
	} {
		if n, err := egress.ParseNetwork(in); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("ParseNetwork(%q) = %v, %v, want an error that says %q", in, n, err, want)
		}
	}
}

func TestParsePorts(t *testing.T) {
	for in, want := range map[string]egress.PortRange{
		"1": {1, 1}, "443": {443, 443}, "65535": {65535, 65535}, "1024-65535": {1024, 65535}, "5-5": {5, 5},
	} {
		if got, err := egress.ParsePorts(in); got != want || err != nil {
			t.Errorf("ParsePorts(%q) = %v, %v, want %v", in, got, err, want)
		}
	}
	for _, in := range []string{"", "0", "-", "1-", "-1", "0-5", "2-1", "65536", "1-65536", "a", "1-b", "1-2-3", " 1", "+1", "0x50"} {
		if got, err := egress.ParsePorts(in); err == nil {
			t.Errorf("ParsePorts(%q) = %v, want an error", in, got)
		}
	}
}

// FuzzParsePorts: what parses prints as something that parses to the same.
func FuzzParsePorts(f *testing.F) {
	for _, seed := range []string{"443", "1024-65535", "5-5", "-", "00443"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, s string) {
		p, err := egress.ParsePorts(s)
		if err != nil {
			return
		}
		if again, err := egress.ParsePorts(p.String()); again != p || err != nil || p.First < 1 || p.First > p.Last {
			t.Errorf("ParsePorts(%q) = %v, and again %v, %v", s, p, again, err)
		}
	})
}

// One network, and one range of ports, are as much a list as several: what is not named is closed.
func TestOneNetworkAndOnePortAreAList(t *testing.T) {
	got, err := egress.Parse(false, []string{"10.0.0.0/8"}, []string{"443"})
	if err != nil || len(got.Networks) != 1 || len(got.Ports) != 1 {
		t.Errorf("Parse() = %+v, %v; want one network and one range", got, err)
	}
}
