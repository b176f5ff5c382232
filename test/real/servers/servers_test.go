package servers_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/vimbroker/vimbroker/broker/api/sol003"
	"github.com/vimbroker/vimbroker/test/csar"
	"github.com/vimbroker/vimbroker/test/field"
	"github.com/vimbroker/vimbroker/test/process"
	"github.com/vimbroker/vimbroker/test/real"
	"github.com/vimbroker/vimbroker/test/story"
)

// edge is a VNF of servers on a real cloud, seen from both sides.
type edge struct {
	*story.Site

	o   *real.Cloud
	who real.Tenant
	// bare is what Neutron has in the project without a VNF, by kind.
	bare map[string][]string
}

// kinds are those of Neutron's things that a stack makes.
var kinds = []string{"networks", "subnets", "ports", "security-groups"}

// leavesNothing fails unless the cloud holds of the VNFs what it held before them.
func (v *edge) leavesNothing(t *testing.T, after string) {
	t.Helper()
	if left := v.o.Servers(t, v.who); len(left) > 0 {
		t.Errorf("after %s there are still servers: %+v", after, left)
	}
	for _, kind := range kinds {
		if now := v.o.Networking(t, v.who, kind); !slices.Equal(now, v.bare[kind]) {
			t.Errorf("after %s there are %s %q, want %q", after, kind, now, v.bare[kind])
		}
	}
	if left := v.o.Trustees(t, v.who); len(left) > 0 {
		t.Errorf("after %s there are trusts for %q", after, left)
	}
}

// members are the ids of the instance's VNFCs, as SOL003 shows them, which must be the cloud's servers.
func (v *edge) members(t *testing.T, instance string, want int) []string {
	t.Helper()
	var shown sol003.VNFInstance
	v.Decode(t, "vimbroker vnf show -o json "+instance, &shown)
	var ids []string
	servers := v.o.Servers(t, v.who)
	for _, r := range shown.Instantiated.Resources {
		if r.VDUID != "VDU1" || r.Compute.Type != "OS::Nova::Server" || r.Compute.VIMConnectionID != "vim" {
			t.Errorf("a VNFC is shown as %+v", r)
		}
		ids = append(ids, r.Compute.ResourceID)
		// Nova and the broker have the server's addresses from Neutron, each in its way.
		var points, addresses, want []string
		for _, p := range r.CPs {
			points = append(points, p.CPDID)
			for _, protocol := range p.Protocol {
				for _, of := range protocol.Address.IPs {
					addresses = append(addresses, of.Addresses...)
				}
			}
		}
		for _, on := range servers[r.Compute.ResourceID].Addresses {
			for _, a := range on {
				want = append(want, a.Addr)
			}
		}
		slices.Sort(addresses)
		slices.Sort(want)
		if !slices.Equal(points, []string{"VDU1_CP1", "VDU1_CP2"}) || !slices.Equal(addresses, want) {
			t.Errorf("VNFC %s has connection points %q at %q, and the server's addresses are %q", r.ID, points, addresses, want)
		}
	}
	slices.Sort(ids)
	if on := slices.Sorted(maps.Keys(servers)); !slices.Equal(ids, on) || len(ids) != want {
		t.Fatalf("the VNFCs are %q, and the servers %q: want %d of both, and the same", ids, on, want)
	}
	for id, s := range servers {
		if s.Status != "ACTIVE" || len(s.Addresses) != 2 || len(s.Addresses["net0"]) != 1 {
			t.Errorf("server %s is %s, with addresses %v, want one in net0 and one in the stack's own network", id, s.Status, s.Addresses)
		}
	}
	return ids
}

// failed is the operation of an instance that is FAILED_TEMP.
func (v *edge) failed(t *testing.T, instance string) (one sol003.OpOcc) {
	t.Helper()
	var all struct{ Items []sol003.OpOcc }
	v.Decode(t, "vimbroker vnf op list -o json --instance "+instance, &all)
	for _, op := range all.Items {
		if op.State == "FAILED_TEMP" {
			return op
		}
	}
	t.Fatalf("no operation of %s is FAILED_TEMP: %+v", instance, all.Items)
	return one
}

// A package as users of Tacker have it, of servers and ports, lives its life on real Nova and Neutron, and leaves nothing.
func TestFieldLifeOfServers(t *testing.T) {
	field.Only(t)
	v := newEdge(t)
	t.Run("life", v.lives)
	t.Run("links", v.isLinked)
}

// What fails is named with Nova's reason; what is canceled while a server builds stops; a part may be of another VIM; and the
// other kind of Keystone does as well.
func TestFieldServersOfAVNF(t *testing.T) {
	field.Only(t)
	v := newEdge(t)
	t.Run("no room", v.findsNoRoom)
	t.Run("canceled", v.isCanceled)
	t.Run("two parts", v.isOnBoth)
	t.Run("Keystone that lets application credentials make trusts", func(t *testing.T) {
		v.o.AllowTrusts(t)
		id, text := v.o.ApplicationCredential(t, v.who, "registered", true)
		v.Write(t, "root/clouds.yaml", fmt.Sprintf("clouds: {one: {auth: {auth_url: %q, application_credential_id: %q, application_credential_secret: %q}}}\n",
			v.o.AuthURL, id, text))
		v.Must(t, "vimbroker vim register --clouds-yaml clouds.yaml --cloud one open")
		v.create(t, "open")
		v.Must(t, instantiate("open", "open", "m1.tiny")+" --wait")
		v.members(t, "open", 1)
		v.Must(t, "vimbroker vnf terminate open --wait")
		v.leavesNothing(t, "TERMINATE")
	})
}

// newEdge is a cloud with images, flavors and a network, registered as "patched", and two packages.
func newEdge(t *testing.T) *edge {
	t.Helper()
	o := real.OwnOpenStack(t, real.OpenStackOptions{WithServers: true})
	who := o.Project(t)
	v := &edge{Site: story.NewSite(t, story.Build(t, t.TempDir()), "sol003: {enabled: true}\n"), o: o, who: who, bare: map[string][]string{}}
	o.Image(t, "cirros-0.5.2-x86_64-disk")
	for name, memory := range map[string]int{"m1.tiny": 512, "m1.small": 1024, "huge": 1 << 30, "slow": 512} {
		o.Flavor(t, name, memory)
	}
	o.Network(t, who, "net0", "10.10.0.0/24")
	for _, kind := range kinds {
		v.bare[kind] = o.Networking(t, who, kind)
	}
	next := csar.TackerServers()
	for name, text := range next {
		next[name] = strings.NewReplacer(csar.TackerServersVNFD, nextVNFD, "m1.tiny", "m1.small").Replace(text)
	}
	v.Write(t, "root/one.csar", string(csar.TackerServers().Zip(t)))
	v.Write(t, "root/next.csar", string(next.Zip(t)))
	v.Write(t, "root/clouds.yaml", fmt.Sprintf("clouds: {one: {auth: {auth_url: %q, user_id: %q, password: %q, project_id: %q}}}\n",
		o.AuthURL, who.UserID, who.Password, who.ProjectID))
	v.Must(t, "vimbroker vim register --clouds-yaml clouds.yaml --cloud one patched")
	v.Must(t, "vimbroker package upload one.csar")
	v.Must(t, "vimbroker package upload next.csar")
	return v
}

// nextVNFD is the id of the descriptor of the package that follows.
const nextVNFD = "5f4a2c1e-93c5-4d0e-8d0f-7a35f1a40005"

func (v *edge) create(t *testing.T, instance string) {
	t.Helper()
	v.Must(t, "vimbroker vnf create --vnfd "+csar.TackerServersVNFD+" "+instance)
}

func instantiate(instance, vim, flavor string) string {
	nfv, _ := json.Marshal(map[string]any{
		"CP": map[string]any{"VDU1_CP1": map[string]any{"network": "net0"}}, "VDU": map[string]any{"VDU1": map[string]any{"computeFlavourId": flavor}},
	})
	return fmt.Sprintf("vimbroker vnf instantiate %s --vim %s --nfv '%s'", instance, vim, nfv)
}

func (v *edge) lives(t *testing.T) {
	v.create(t, "edge")
	// What the descriptor says of flavor and image is enough.
	const plain = `vimbroker vnf instantiate edge --vim patched --nfv '{"CP": {"VDU1_CP1": {"network": "net0"}}}' `
	if got := v.Must(t, plain+"--dry-run"); !strings.Contains(got, "unbounded in the project, for heat") {
		t.Errorf("a dry run does not show the grade of the lease:\n%s", got)
	}
	v.Must(t, plain+"--wait")
	one := v.members(t, "edge", 1)
	v.Must(t, "vimbroker vnf scale edge --aspect VDU1_scale --steps 1 --wait")
	two := v.members(t, "edge", 2)
	if !slices.Contains(two, one[0]) {
		t.Errorf("scaled out, server %s is gone: %q", one[0], two)
	}
	v.Must(t, "vimbroker vnf heal edge --vnfc "+one[0]+" --wait")
	v.replaced(t, "named", two, one[0])
	two = v.members(t, "edge", 2)
	// Behind Heat's back.
	v.o.Do(t, http.MethodDelete, v.o.URL(real.Nova)+"/v2.1/servers/"+two[0], nil, nil)
	v.Must(t, "vimbroker vnf heal edge --wait")
	v.replaced(t, "deleted", two, two[0])
	two = v.members(t, "edge", 2)
	v.Must(t, "vimbroker vnf update edge --vnfd "+nextVNFD+" --wait")
	if now := v.members(t, "edge", 2); !slices.Equal(now, two) {
		t.Errorf("the next package changes servers %q to %q", two, now)
	}
	for id, s := range v.o.Servers(t, v.who) {
		if s.Flavor.ID != "m1.small" {
			t.Errorf("with the next package server %s has flavor %s", id, s.Flavor.ID)
		}
	}
	v.Must(t, "vimbroker vnf scale edge --aspect VDU1_scale --steps -1 --wait")
	v.members(t, "edge", 1)
	v.Must(t, "vimbroker vnf terminate edge --wait")
	v.leavesNothing(t, "TERMINATE")
}

// isLinked: links are made, found again, shared by three instances, changed under one, and gone with their users.
func (v *edge) isLinked(t *testing.T) {
	type shown struct {
		ID, State string
		Networks  []struct{ NetworkID, SubnetID, SecurityGroupID string }
		UseCount  int
	}
	link := func(name string) (l shown) {
		t.Helper()
		v.Decode(t, "vimbroker link show -o json "+name, &l)
		return l
	}
	v.Must(t, `vimbroker link create sgi --vim patched --spec '{"cidr": "10.77.0.0/24", "gateway": "none", "dns": ["10.77.0.9"], "mtu": 1400,
		"allocationPools": [{"start": "10.77.0.10", "end": "10.77.0.99"}], "securityRules": [{"direction": "ingress", "protocol": "tcp", "portMax": 80, "portMin": 80}]}'`)
	v.Must(t, "vimbroker link create other --vim patched --cidr 10.78.0.0/24")
	if again := v.Must(t, "vimbroker link create other --vim patched --cidr 10.78.0.0/24 -o json"); !strings.Contains(again, link("other").ID) {
		t.Errorf("asked for again it is another: %s", again)
	}
	if got := v.Try(t, "vimbroker link create other --vim patched --cidr 10.79.0.0/24"); got.Code == 0 {
		t.Error("another network of the same name is made")
	}
	sgi := link("sgi")
	if sgi.State != "ready" || len(sgi.Networks) != 1 || sgi.Networks[0].NetworkID == "" || sgi.Networks[0].SubnetID == "" || sgi.Networks[0].SecurityGroupID == "" {
		t.Fatalf("the link is %+v", sgi)
	}
	var rules struct {
		All []struct{ Direction string } `json:"security_group_rules"`
	}
	v.o.Do(t, http.MethodGet, v.o.URL(real.Neutron)+"/v2.0/security-group-rules?security_group_id="+sgi.Networks[0].SecurityGroupID, nil, &rules)
	if len(rules.All) != 1 || rules.All[0].Direction != "ingress" {
		t.Errorf("the security group has rules %+v, want the one that was asked for", rules.All)
	}
	const flavor = ` --nfv '{"VDU": {"VDU1": {"computeFlavourId": "m1.tiny"}}}' `
	for _, name := range []string{"l1", "l2", "l3"} {
		v.create(t, name)
		v.Must(t, "vimbroker vnf instantiate "+name+" --vim patched"+flavor+"--link VDU1_CP1=sgi --wait")
	}
	if got := link("sgi"); got.UseCount != 3 {
		t.Errorf("three instances use the link, and %d are counted", got.UseCount)
	}
	if got := v.Try(t, "vimbroker link delete sgi"); got.Code == 0 || !strings.Contains(got.Stderr, "is used by VNF instances") {
		t.Errorf("a link that is used is deleted: %+v", got)
	}
	if got := v.Try(t, "vimbroker vim delete patched"); got.Code == 0 {
		t.Error("a VIM is deleted under its links")
	}
	v.Must(t, "vimbroker vnf connect l1 --link VDU1_CP1=other --wait")
	var i sol003.VNFInstance
	v.Decode(t, "vimbroker vnf show -o json l1", &i)
	if got := i.Instantiated.ExtLinks; len(got) != 1 || got[0].Handle.ResourceID != link("other").Networks[0].NetworkID {
		t.Errorf("connected to another link, the instance says %+v", got)
	}
	if !strings.HasPrefix(strings.Join(v.addresses(t, i), " "), "10.78.0.") {
		t.Errorf("connected to another link, the instance is at %q", v.addresses(t, i))
	}
	if a, b := link("sgi").UseCount, link("other").UseCount; a != 2 || b != 1 {
		t.Errorf("after the change there are %d and %d uses", a, b)
	}
	for _, name := range []string{"l1", "l2", "l3"} {
		v.Must(t, "vimbroker vnf terminate "+name+" --wait")
	}
	var port struct {
		Port struct{ ID string } `json:"port"`
	}
	v.o.Do(t, http.MethodPost, v.o.URL(real.Neutron)+"/v2.0/ports", map[string]any{"port": map[string]any{"network_id": sgi.Networks[0].NetworkID}}, &port)
	if got := v.Try(t, "vimbroker link delete sgi"); got.Code == 0 || !strings.Contains(got.Stderr, port.Port.ID) {
		t.Errorf("a network with a port of others is removed, or the port is not named: %+v", got)
	}
	v.o.Do(t, http.MethodDelete, v.o.URL(real.Neutron)+"/v2.0/ports/"+port.Port.ID, nil, nil)
	v.Must(t, "vimbroker link delete sgi")
	v.Must(t, "vimbroker link delete other")
	v.leavesNothing(t, "links")
	t.Run("router", v.isRouted)
	t.Run("adopted", v.isAdopted)
	t.Run("own", v.hasOwnLinks)
}

// isRouted: a link has an interface on its router, and takes it away with it.
func (v *edge) isRouted(t *testing.T) {
	var router struct{ Router struct{ ID string } }
	at := v.o.URL(real.Neutron) + "/v2.0/"
	v.o.Do(t, http.MethodPost, at+"routers", map[string]any{"router": map[string]any{"name": "edge", "project_id": v.who.ProjectID}}, &router)
	legs := func() int {
		var ports struct{ Ports []struct{ ID string } }
		v.o.Do(t, http.MethodGet, at+"ports?device_id="+router.Router.ID, nil, &ports)
		return len(ports.Ports)
	}
	for range 2 { // again it is there
		v.Must(t, fmt.Sprintf(`vimbroker link create routed --vim patched --spec '{"cidr": "10.79.0.0/24", "router": %q}'`, router.Router.ID))
		if n := legs(); n != 1 {
			t.Errorf("the router has %d interfaces, want 1", n)
		}
	}
	v.Must(t, "vimbroker link delete routed")
	if n := legs(); n != 0 {
		t.Errorf("after the link the router has %d interfaces", n)
	}
	v.o.Do(t, http.MethodDelete, at+"routers/"+router.Router.ID, nil, nil)
	v.leavesNothing(t, "a link with a router")
}

// isAdopted: a network of the cloud becomes a link for an instance that names it, and stays as it was.
func (v *edge) isAdopted(t *testing.T) {
	var nets struct{ Networks []struct{ ID, Name string } }
	v.o.Do(t, http.MethodGet, v.o.URL(real.Neutron)+"/v2.0/networks?name=net0&project_id="+v.who.ProjectID, nil, &nets)
	id := nets.Networks[0].ID
	v.create(t, "l4")
	v.Must(t, `vimbroker vnf instantiate l4 --vim patched --nfv '{"VDU": {"VDU1": {"computeFlavourId": "m1.tiny"}}}' --link VDU1_CP1=`+id+" --wait")
	if got := v.Must(t, "vimbroker link show network-"+id); !strings.Contains(got, id) || !strings.Contains(got, "Used by") {
		t.Errorf("the adopted link is\n%s", got)
	}
	v.members(t, "l4", 1) // with one address in net0
	v.Must(t, "vimbroker vnf terminate l4 --wait")
	v.Must(t, "vimbroker link delete network-"+id)
	v.leavesNothing(t, "a network that was adopted")
}

// hasOwnLinks: a link that an instance makes by its descriptor is there before it, and goes with it.
func (v *edge) hasOwnLinks(t *testing.T) {
	const vnfd, file = "5f4a2c1e-93c5-4d0e-8d0f-7a35f1a40009", "BaseHOT/simple/sample.yaml"
	own := csar.TackerServers()
	for name, text := range own {
		own[name] = strings.ReplaceAll(text, csar.TackerServersVNFD, vnfd)
	}
	from := strings.Index(own[file], "  internalVL1:\n")
	own[file] = own[file][:from] + "outputs: {}\n"
	own[file] = strings.NewReplacer("    depends_on: internalVL1_subnet\n", "", "{ get_resource: internalVL1 }", "{ get_param: [ nfv, VL, innerVL, network ] }").Replace(own[file])
	const flavour = "Definitions/sample_df_simple.yaml"
	own[flavour] = strings.Replace(own[flavour], "    VDU1:\n", `    innerVL:
      type: tosca.nodes.nfv.VnfVirtualLink
      properties:
        vl_profile: {virtual_link_protocol_data: [{associated_layer_protocol: ipv4, l3_protocol_data: {ip_version: ipv4, cidr: 10.66.0.0/24}}]}
    VDU1:
`, 1)
	v.Write(t, "root/own.csar", string(own.Zip(t)))
	v.Must(t, "vimbroker package upload own.csar")
	v.Must(t, "vimbroker vnf create --vnfd "+vnfd+" l5")
	v.Must(t, instantiate("l5", "patched", "m1.tiny")+" --wait")
	if got := v.Must(t, "vimbroker link list -o wide"); strings.Count(got, "10.66.0.0/24") != 1 {
		t.Errorf("the links are\n%s", got)
	}
	if all := v.o.Networking(t, v.who, "networks"); len(all) != len(v.bare["networks"])+1 {
		t.Errorf("the cloud has networks %q beside %q, want one more", all, v.bare["networks"])
	}
	v.Must(t, "vimbroker vnf terminate l5 --wait")
	if !real.Poll(t, process.Patience, func() bool { return !strings.Contains(v.Must(t, "vimbroker link list -o wide"), "10.66.0.0/24") }) {
		t.Error("the instance's own link stays")
	}
	v.leavesNothing(t, "an instance with a link of its own")
}

// addresses are those of an instance's external connection points.
func (v *edge) addresses(t *testing.T, i sol003.VNFInstance) (all []string) {
	t.Helper()
	for _, p := range i.Instantiated.ExtCPs {
		for _, protocol := range p.Protocol {
			for _, of := range protocol.Address.IPs {
				all = append(all, of.Addresses...)
			}
		}
	}
	return all
}

// replaced fails unless HEAL has put another server in the place of one that was named or deleted, and of no other.
func (v *edge) replaced(t *testing.T, why string, before []string, one string) {
	t.Helper()
	now := v.members(t, "edge", len(before))
	for _, id := range before {
		if slices.Contains(now, id) == (id == one) {
			t.Errorf("server %s was %s; healing makes %q of %q", one, why, now, before)
		}
	}
}

func (v *edge) findsNoRoom(t *testing.T) {
	v.create(t, "large")
	if got := v.Try(t, instantiate("large", "patched", "huge")+" --wait"); got.Code == 0 {
		t.Fatalf("a server that no host has room for is made:\n%s", got.Stdout)
	}
	op := v.failed(t, "large")
	for _, want := range []string{"VDU1_scale_group/", "/VDU1 (OS::Nova::Server) is CREATE_FAILED", "No valid host was found"} {
		if op.Error == nil || !strings.Contains(op.Error.Detail, want) {
			t.Errorf("the failure does not say %q: %+v", want, op.Error)
		}
	}
	v.Must(t, "vimbroker vnf op rollback --wait "+op.ID)
	v.leavesNothing(t, "ROLLBACK")
}

func (v *edge) isCanceled(t *testing.T) {
	v.create(t, "slow")
	v.Must(t, instantiate("slow", "patched", "slow"))
	tick := time.NewTicker(200 * time.Millisecond)
	defer tick.Stop()
	deadline := time.After(process.Patience)
	building := func() bool {
		for _, s := range v.o.Servers(t, v.who) {
			if s.Status == "BUILD" {
				return true
			}
		}
		return false
	}
	for !building() {
		select {
		case <-tick.C:
		case <-deadline:
			t.Fatal("no server is being built")
		}
	}
	var all struct{ Items []sol003.OpOcc }
	v.Decode(t, "vimbroker vnf op list -o json --instance slow", &all)
	v.Must(t, "vimbroker vnf op cancel --force "+all.Items[0].ID)
	v.Try(t, "vimbroker vnf watch slow")
	op := v.failed(t, "slow")
	var stacks struct {
		Stacks []struct {
			Status string `json:"stack_status"`
		}
	}
	v.o.As(t, v.o.Token(t, v.who), http.MethodGet, v.o.Orchestration+"/v1/"+v.who.ProjectID+"/stacks", nil, &stacks)
	if len(stacks.Stacks) != 1 || stacks.Stacks[0].Status != "CREATE_FAILED" {
		t.Errorf("when its operation is canceled the stack is %+v, want it stopped", stacks.Stacks)
	}
	v.Must(t, "vimbroker vnf op rollback --wait "+op.ID)
	v.leavesNothing(t, "ROLLBACK")
}
