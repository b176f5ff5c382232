package neutron_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/broker/asset"
	"github.com/vimbroker/vimbroker/broker/asset/spec"
	"github.com/vimbroker/vimbroker/broker/clientconfig"
	"github.com/vimbroker/vimbroker/broker/secret"
	"github.com/vimbroker/vimbroker/drivers/neutron"
	"github.com/vimbroker/vimbroker/policy/egress"
	"github.com/vimbroker/vimbroker/test/fake"
)

type object = map[string]any

// cloud is as much of Neutron as links ask for.
type cloud struct {
	*fake.Server
	things  map[string][]object // by plural
	bodies  []string
	made    int
	lawless bool // it obeys no access rules
}

func newCloud(t *testing.T) *cloud {
	c := &cloud{Server: new(fake.Server), things: map[string][]object{}}
	if err := c.Start(c.answer); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

func (c *cloud) add(plural string, o object) string {
	c.made++
	o["id"], o["created_at"] = "id-"+strconv.Itoa(c.made), strconv.Itoa(1000+c.made)
	c.things[plural] = append(c.things[plural], o)
	return o["id"].(string)
}

func (c *cloud) answer(w http.ResponseWriter, r *http.Request) {
	refuse := func(status int, kind string) {
		fake.Say(w, status, object{"NeutronError": object{"type": kind, "message": fake.Canary}})
	}
	if r.URL.Path == "/v3/auth/tokens" {
		fake.Say(w, http.StatusOK, object{"token": object{"catalog": []object{{"type": "network", "endpoints": []object{{"interface": "public", "url": c.URL + "/net"}}}}}})
		return
	}
	if c.lawless {
		fake.Say(w, http.StatusUnauthorized, object{"error": object{"code": http.StatusUnauthorized, "message": fake.Canary}})
		return
	}
	body, _ := io.ReadAll(r.Body)
	c.bodies = append(c.bodies, string(body))
	var in map[string]object
	_ = json.Unmarshal(body, &in)
	path := strings.Split(strings.TrimPrefix(r.URL.Path, "/net/v2.0/"), "/")
	kind := strings.ReplaceAll(path[0], "-", "_")
	of := func(o object) bool { return len(path) > 1 && o["id"] == path[1] }
	switch {
	case path[len(path)-1] == "tags":
		fake.Say(w, http.StatusOK, object{"tags": []string{}})
	case path[len(path)-1] == "add_router_interface" || path[len(path)-1] == "remove_router_interface":
		var at object
		_ = json.Unmarshal(body, &at)
		subnet := at["subnet_id"]
		leg := func(p object) bool { return p["device_id"] == path[1] }
		if c.things["ports"] = slices.DeleteFunc(c.things["ports"], leg); strings.HasPrefix(path[2], "add") {
			c.add("ports", object{"device_id": path[1], "network_id": "id-1", "device_owner": "network:router_interface", "fixed_ips": []object{{"subnet_id": subnet}}})
		}
		fake.Say(w, http.StatusOK, object{})
	case r.Method == http.MethodPost:
		o := in[strings.TrimSuffix(kind, "s")]
		if o["cidr"] == "10.9.9.0/24" {
			refuse(http.StatusConflict, "OverQuota")
			return
		}
		id := c.add(kind, o)
		if kind == "security_groups" {
			c.add("security_group_rules", object{"security_group_id": id, "direction": "egress"})
		}
		fake.Say(w, http.StatusCreated, object{strings.TrimSuffix(kind, "s"): o})
	case r.Method == http.MethodDelete:
		if !slices.ContainsFunc(c.things[kind], of) {
			refuse(http.StatusNotFound, "NotFound")
			return
		}
		c.things[kind] = slices.DeleteFunc(c.things[kind], of)
		w.WriteHeader(http.StatusNoContent)
	case len(path) > 1:
		refuse(http.StatusNotFound, "NetworkNotFound")
	default:
		found := []object{}
		for _, o := range c.things[kind] {
			if !slices.ContainsFunc([]string{"name", "network_id", "device_id", "security_group_id"}, func(q string) bool {
				return r.URL.Query().Has(q) && o[q] != r.URL.Query().Get(q)
			}) {
				found = append(found, o)
			}
		}
		fake.Say(w, http.StatusOK, object{kind: found})
	}
}

func (c *cloud) connection() asset.Connection {
	rules := egress.Default()
	rules.AllowLoopback = true
	return asset.Connection{Egress: rules, Config: clientconfig.Config{
		Endpoint: c.URL, CACert: c.CA, Credential: secret.Credential{Kind: broker.CredentialProjectToken, Token: secret.NewText("t")},
	}}
}

func full() asset.Asset {
	return asset.Asset{ID: "1", Spec: spec.LinkSpec{
		CIDR: "10.0.0.0/24", Router: "r", Rules: []spec.SecurityRule{{Direction: "ingress", Protocol: "tcp", From: 80, To: 80}},
	}}
}

// A link is made once, however often it is asked for, and goes whole; what others have of that name stays.
func TestALinkIsMadeOnceAndGoesWhole(t *testing.T) {
	c, d, l := newCloud(t), neutron.Driver{}, full()
	first, err := d.Make(t.Context(), c.connection(), l)
	if err != nil || first.Network == "" || first.Subnet == "" || first.Group == "" {
		t.Fatalf("Make = %+v, %v", first, err)
	}
	stranger := c.add("networks", object{"name": l.Handle()})
	c.add("networks", object{"name": l.Handle(), "description": l.Tag()}) // of an attempt beside
	again, err := d.Make(t.Context(), c.connection(), l)
	if err != nil || again != first || len(c.things["networks"]) != 2 {
		t.Errorf("made again it is %+v, %v, with networks %v; want %+v and the stranger's", again, err, c.things["networks"], first)
	}
	if rules := c.things["security_group_rules"]; len(rules) == 0 || slices.ContainsFunc(rules, func(r object) bool { return r["direction"] == "egress" }) {
		t.Errorf("the group has rules %v, want none that lets everything out", rules)
	}
	mine := c.add("ports", object{"network_id": first.Network, "device_owner": "compute:nova", "device_id": "s"})
	if err := d.Remove(t.Context(), c.connection(), l); !errors.Is(err, broker.ErrConflict) || !strings.Contains(err.Error(), mine) || len(c.things["networks"]) != 2 {
		t.Errorf("with a port of others Remove = %v", err)
	}
	c.things["ports"] = slices.DeleteFunc(c.things["ports"], func(p object) bool { return p["id"] == mine })
	for range 2 {
		if err := d.Remove(t.Context(), c.connection(), l); err != nil {
			t.Errorf("Remove = %v", err)
		}
	}
	if left := c.things["networks"]; len(left) != 1 || left[0]["id"] != stranger || len(c.things["subnets"])+len(c.things["ports"])+len(c.things["security_groups"]) > 0 {
		t.Errorf("after Remove there is %v", c.things)
	}
	if all := strings.Join(c.bodies, ""); strings.Contains(all, "device_owner") || strings.Contains(all, "network:") {
		t.Errorf("an owner is written: %s", all)
	}
}

// A quota that ends half way, and a network that is not there, are errors in our words.
func TestLinksThatCannotBe(t *testing.T) {
	c, d, l := newCloud(t), neutron.Driver{}, full()
	l.Spec.CIDR = "10.9.9.0/24"
	_, quota := d.Make(t.Context(), c.connection(), l)
	_, missing := d.Make(t.Context(), c.connection(), asset.Asset{ID: "2", Existing: "nowhere"})
	for err, kind := range map[error]error{quota: broker.ErrQuota, missing: broker.ErrInvalid} {
		if !errors.Is(err, kind) || strings.Contains(err.Error(), fake.Canary) {
			t.Errorf("%v, want %v and nothing of Neutron's", err, kind)
		}
	}
	if err := d.Remove(t.Context(), c.connection(), l); err != nil || len(c.things["networks"]) != 0 {
		t.Errorf("half a link is removed: %v, %v", err, c.things["networks"])
	}
	c.lawless = true
	if _, err := d.Make(t.Context(), c.connection(), l); !errors.Is(err, broker.ErrUnsupported) || strings.Contains(err.Error(), fake.Canary) {
		t.Errorf("where no access rule is obeyed Make = %v", err)
	}
	c.lawless = false
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if err := d.Remove(ended, c.connection(), l); err == nil {
		t.Error("a call outlives its context")
	}
	for _, s := range []spec.LinkSpec{{NAD: &spec.PodNetwork{Type: "bridge"}}, {Router: "r"}} {
		if _, err := d.Lease(asset.Asset{Spec: s}); !errors.Is(err, broker.ErrInvalid) {
			t.Errorf("Purpose of %+v = %v", s, err)
		}
	}
}
