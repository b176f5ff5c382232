package openstack_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/drivers/openstack"
	"github.com/vimbroker/vimbroker/policy/egress"
	"github.com/vimbroker/vimbroker/test/fakekeystone"
)

// Where a catalog leads: the broker goes nowhere of it, so no endpoint refuses a cloud. What
// the rules refuse is warned of, with endpoint and rule; what is no URL is left out.
func TestCatalogRefusesNoCloud(t *testing.T) {
	const egressRules, noURL = "egress rules refuse", "left out"
	for url, words := range map[string]string{
		"https://nova.lab.example:8774/v2.1/0123": "",
		"http://10.0.0.7:8774":                    "",
		"https://[fd12::7]/compute":               "",
		"https://nova.lab.example/v1/AUTH_%25x":   "", // of a path nothing is kept

		"http://169.254.169.254/latest/meta-data":         egressRules,
		"http://100.100.100.200/":                         egressRules,
		"http://[fd00:ec2::254]/":                         egressRules,
		"http://[fe80::1]/":                               egressRules,
		"http://127.0.0.1:6379":                           egressRules,
		"http://[::1]:6379":                               egressRules,
		"http://localhost:6379":                           egressRules,
		"https://LocalHost":                               egressRules,
		"http://db.localhost:6379":                        egressRules,
		"http://0.0.0.0:8774":                             egressRules,
		"http://[::]:8774":                                egressRules,
		"http://[::ffff:169.254.169.254]/":                egressRules,
		"http://[64:ff9b::a9fe:a9fe]/":                    egressRules,
		"http://224.0.0.1/":                               egressRules,
		"http://10.0.0.7:22":                              egressRules,
		"http://10.0.0.7:0":                               noURL,
		"http://2130706433/":                              noURL,
		"http://0x7f.1/":                                  noURL,
		"http://127.1/":                                   noURL,
		"http://[fe80::1%25eth0]/":                        noURL,
		"file:///etc/passwd":                              noURL,
		"gopher://10.0.0.7/":                              noURL,
		"ftp://10.0.0.7/":                                 noURL,
		"javascript:alert(1)":                             noURL,
		"unix:/run/docker.sock":                           noURL,
		"//nova.lab.example/":                             noURL,
		"nova.lab.example:8774":                           noURL,
		"":                                                noURL,
		"https://":                                        noURL,
		"https://admin:c4n4ry@nova.lab.example/":          noURL,
		"https://nova.lab.example@evil.example/":          noURL,
		"https://nova.lab.example\\@evil.example/":        noURL,
		"https://nova.lab.example/\r\nX-Auth-Token: mine": noURL,
		"https://ｎova.lab.example/":                       noURL,
		"https://nova.lab.example:99999/":                 noURL,
	} {
		kept, warned, err := openstack.Strays(egress.Default(), "https://keystone.lab.example", url)
		if err != nil {
			t.Errorf("%q refuses the cloud: %v", url, err)
		}
		want := 2
		if words == noURL {
			want = 1
		}
		if kept != want {
			t.Errorf("%q: %d of 2 endpoints are kept, want %d", url, kept, want)
		}
		if refused := words == egressRules; refused != (len(warned) == 1) || refused && (!strings.Contains(warned[0], "service compute is at http") || !strings.Contains(warned[0], words+" (")) {
			t.Errorf("%q: warned of %q, want %q with endpoint and rule", url, warned, words)
		}
	}
}

// What was pinned at registration stays where it was; services come and go.
func TestCatalogIsPinned(t *testing.T) {
	pinned := []string{"https://nova.lab.example:8774/v2", "https://nova-2.lab.example"}
	for url, moved := range map[string]bool{
		"https://nova.lab.example:8774/v3": false,
		"https://nova-2.lab.example:443":   false,
		"https://NOVA.lab.example:8774":    false,
		"https://nova.lab.example":         true,
		"http://nova.lab.example:8774":     true,
		"https://evil.example:8774":        true,
	} {
		err := openstack.HoldCatalog(pinned, url)
		if moved {
			wantFault(t, url, err, broker.ErrConflict, "another host")
		} else if err != nil {
			t.Errorf("%s = %v, want the same place", url, err)
		}
	}
	if err := openstack.HoldCatalog(pinned); err != nil {
		t.Errorf("no service any more = %v, want nil", err)
	}
}

// A catalog is looked at and not followed, neither by a check nor by a lease. One
// that no cloud has is refused whole, and before anything is made.
func TestCatalogIsNotFollowed(t *testing.T) {
	var asked atomic.Int64
	elsewhere := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { asked.Add(1) }))
	t.Cleanup(elsewhere.Close)
	l := newLab(t)
	everywhere := []fakekeystone.Endpoint{}
	for _, service := range []string{"identity", "orchestration", "key-manager", "compute"} {
		everywhere = append(everywhere, fakekeystone.Endpoint{Service: service, Interface: "public", Region: "RegionOne", URL: elsewhere.URL + "/v3"})
	}
	l.SetCatalog(everywhere...)
	l.register()
	g := l.grant("member")
	l.each(g, l.issue(g), func(method string, call call) {
		if err := call(t.Context()); err != nil {
			t.Errorf("%s with a catalog of another host: %v", method, err)
		}
	})
	for i, e := range everywhere {
		everywhere[i].URL = strings.Replace(e.URL, "127.0.0.1", "127.0.0.2", 1)
	}
	l.SetCatalog(everywhere...)
	_, err := l.driver.Check(t.Context(), l.access)
	wantFault(t, "Check of a catalog that moved", err, broker.ErrConflict, "another host")
	g = l.grant("member")
	_, err = l.driver.Issue(t.Context(), l.access, g)
	wantFault(t, "Issue with a catalog that moved", err, broker.ErrConflict, "another host")
	if n := asked.Load(); n > 0 {
		t.Errorf("the host in the catalog was asked %d times", n)
	}

	many := make([]fakekeystone.Endpoint, 1025)
	for i := range many {
		many[i] = fakekeystone.Endpoint{Service: fmt.Sprintf("service-%d", i), Interface: "public", Region: "RegionOne", URL: "https://nova.lab.example"}
	}
	for name, c := range map[string]struct {
		catalog []fakekeystone.Endpoint
		words   string
	}{
		"one endpoint more than the bound": {many, "not one that a cloud has"},
		"half a megabyte": {[]fakekeystone.Endpoint{
			{Service: "compute", Interface: strings.Repeat("x", 1<<19), URL: "https://nova.lab.example/"},
		}, "not one that a cloud has"},
		"a long name":            {[]fakekeystone.Endpoint{{Service: strings.Repeat("x", 256), Interface: "public", URL: "https://nova.lab.example"}}, "not one that a cloud has"},
		"a name with a line end": {[]fakekeystone.Endpoint{{Service: "compute\nx", Interface: "public", URL: "https://nova.lab.example"}}, "not one that a cloud has"},
		"a region's name":        {[]fakekeystone.Endpoint{{Service: "compute", Interface: "public", Region: "\x1b[2J", URL: "https://nova.lab.example"}}, "not one that a cloud has"},
		"long names":             {longNames(1000), "too long"},
	} {
		l := newLab(t)
		l.SetCatalog(c.catalog...)
		_, err := l.driver.Check(t.Context(), l.access)
		wantFault(t, name, err, broker.ErrUnreachable, c.words)
		l.driver.Wait()
		if left := l.AppCreds(); len(left) > 0 {
			t.Errorf("%s: %d application credentials are left", name, len(left))
		}
	}
}

func longNames(n int) []fakekeystone.Endpoint {
	all := make([]fakekeystone.Endpoint, n)
	for i := range all {
		all[i] = fakekeystone.Endpoint{Service: fmt.Sprintf("%0250d", i), Interface: "public", URL: "https://nova.lab.example"}
	}
	return all
}

// From the check on that finds a catalog moved, no lease is issued, although a session of
// before would have served: until a check finds it well.
func TestNoLeaseOnceTheCatalogHasMoved(t *testing.T) {
	l := newLab(t)
	at := func(host string) fakekeystone.Endpoint {
		return fakekeystone.Endpoint{Service: "orchestration", Interface: "public", Region: "RegionOne", URL: "https://" + host + ".example"}
	}
	l.SetCatalog(at("heat"))
	l.register()
	m := l.issue(l.grant("member"))
	l.SetCatalog(at("evil"))
	_, err := l.driver.Check(t.Context(), l.access)
	wantFault(t, "Check of a catalog that moved", err, broker.ErrConflict, "evil.example")
	g := l.grant("member")
	_, err = l.driver.Issue(t.Context(), l.access, g)
	wantFault(t, "Issue with a catalog that moved", err, broker.ErrConflict, "evil.example")
	if n := len(l.AppCreds()); n != 1 {
		t.Errorf("%d application credentials are there, want the first lease's alone", n)
	}
	if err := l.driver.Revoke(t.Context(), l.access, broker.Issued{Handle: "lease", Credential: m.Credential}); err != nil {
		t.Errorf("Revoke with a catalog that moved = %v", err)
	}
	l.SetCatalog(at("heat"))
	if _, err := l.driver.Check(t.Context(), l.access); err != nil {
		t.Fatal(err)
	}
	l.issue(g)
}

// A VIM whose region the catalog has not is refused when it is registered: no service would be found in it.
func TestARegionThatTheCatalogLacksIsRefused(t *testing.T) {
	l := newLab(t)
	at := fakekeystone.Endpoint{Service: "compute", Interface: "public", Region: "RegionOne", URL: "https://nova.lab.example"}
	beside := fakekeystone.Endpoint{Service: "compute", Interface: "public", Region: "RegionTwo", URL: "https://nova2.lab.example"}
	for _, c := range []struct {
		catalog []fakekeystone.Endpoint
		region  string
		want    string
	}{
		{[]fakekeystone.Endpoint{at}, "RegionTwo", "RegionOne"},
		{[]fakekeystone.Endpoint{at}, "regionone", "RegionOne"},
		{nil, "RegionOne", "no region"},
		{[]fakekeystone.Endpoint{at}, "RegionOne", ""},
		{[]fakekeystone.Endpoint{at, beside}, "RegionTwo", ""},
		{[]fakekeystone.Endpoint{beside, at}, "RegionTwo", ""},
		{[]fakekeystone.Endpoint{at, beside}, "RegionThree", "RegionOne, RegionTwo"},
		{nil, "", ""},
	} {
		l.SetCatalog(c.catalog...)
		a := l.to(l.Endpoint)
		a.Target.Scope.Region = c.region
		_, err := l.driver.Check(t.Context(), a)
		if c.want == "" && err != nil {
			t.Errorf("region %q of %v: %v", c.region, c.catalog, err)
		}
		if c.want != "" {
			wantFault(t, "Check with region "+c.region, err, broker.ErrInvalid, c.want)
		}
	}
}

// A catalog that is too long to keep is kept as far as it is public.
func TestCatalogKeepsWhatIsPublic(t *testing.T) {
	l := newLab(t)
	all := longNames(300)
	for i := range all[:250] {
		all[i].Interface = "internal"
	}
	l.SetCatalog(all...)
	l.register()
	text, err := json.Marshal(l.access.Discovered)
	if d := string(text); err != nil || strings.Count(d, `"public"`) != 50 || strings.Contains(d, `"internal"`) || len(d) > 64<<10 {
		t.Errorf("%d bytes are kept, with %d public endpoints, want 50 and no others", len(d), strings.Count(d, `"public"`))
	}
}

// A VIM shows which of its cloud's endpoints the rules refuse.
func TestStraysAreShown(t *testing.T) {
	l := newLab(t)
	l.SetCatalog(
		fakekeystone.Endpoint{Service: "compute", Interface: "public", Region: "RegionOne", URL: "https://10.0.0.7:22"},
		fakekeystone.Endpoint{Service: "image", Interface: "public", Region: "RegionOne", URL: "https://169.254.169.254"},
		fakekeystone.Endpoint{Service: "network", Interface: "public", Region: "RegionOne", URL: "https://10.0.0.7:9696"},
	)
	l.register()
	got := strings.Join(l.access.Discovered.Warnings, "\n")
	for _, want := range []string{"service compute is at https://10.0.0.7:22, which the broker's egress rules refuse (egress.ports)", "service image is at https://169.254.169.254"} {
		if !strings.Contains(got, want) {
			t.Errorf("the warnings are %q, want also %q", got, want)
		}
	}
	if strings.Contains(got, "network") {
		t.Errorf("the warnings are %q, and nothing is wrong with the network's endpoint", got)
	}
}
