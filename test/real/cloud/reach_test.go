package cloud_test

import (
	"cmp"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/vimbroker/vimbroker/policy"
	"github.com/vimbroker/vimbroker/test/field"
	"github.com/vimbroker/vimbroker/test/real"
	"github.com/vimbroker/vimbroker/test/story"
)

// reaching are resources of a base HOT by which a stack gets out of its project's part of a cloud, and what is said of
// them. The router and the network of the template are the stack's own.
var reaching = map[string]struct{ brings, reach, resource string }{
	"spoofer":  {"a port without `port_security_enabled`", "network", "OS::Neutron::Port, properties: {network: {get_resource: net}, port_security_enabled: false}"},
	"pairs":    {"a port that sends as every address (`allowed_address_pairs`)", "network", "OS::Neutron::Port, properties: {network: {get_resource: net}, allowed_address_pairs: [{ip_address: 0.0.0.0/0}]}"},
	"profile":  {"a port with a `binding:profile`", "node", "OS::Neutron::Port, properties: {network: {get_resource: net}, value_specs: {'binding:profile': {pci_slot: '0000:03:00.0'}}}"},
	"provider": {"a network of the cloud's own (`provider:physical_network`)", "network", "OS::Neutron::Net, properties: {value_specs: {'provider:physical_network': physnet1, 'provider:network_type': flat}}"},
	"shared":   {"a network for every project (`shared`)", "cluster", "OS::Neutron::Net, properties: {shared: true}"},
	"leg":      {"a router's leg in a network that is not the stack's", "network", "OS::Neutron::RouterInterface, properties: {router: {get_resource: router}, subnet: SUBNET}"},
	"others":   {"a rule on what other projects see", "cluster", "OS::Neutron::RBACPolicy, properties: {object_type: network, object_id: {get_resource: net}, target_tenant: '*', action: access_as_shared}"},
	"host":     {"a server on a host of its choice", "node", "OS::Nova::Server, properties: {image: cirros, flavor: m1.tiny, availability_zone: 'nova:elsewhere', networks: [{network: {get_resource: net}, subnet: {get_resource: subnet}}]}"},
	"flavor":   {"a flavour of the cloud", "cluster", "OS::Nova::Flavor, properties: {ram: 64, vcpus: 1}"},
	"quota":    {"a quota", "cluster", "OS::Nova::Quota, properties: {project: PROJECT, cores: 1000}"},
	"user":     {"a user", "rbac", "OS::Keystone::User, properties: {name: planted}"},
	"signal":   {"a deployment whose signals need a user", "rbac", "OS::Heat::SoftwareDeployment, properties: {config: {get_resource: config}, server: {get_resource: net}, signal_transport: HEAT_SIGNAL, actions: []}"},
	"harmless": {"a text", "", "OS::Heat::RandomString"},
}

const reachingTemplate = `heat_template_version: 2018-08-31
resources:
  net: {type: OS::Neutron::Net}
  subnet: {type: OS::Neutron::Subnet, properties: {network: {get_resource: net}, cidr: 10.30.0.0/24}}
  router: {type: OS::Neutron::Router}
  config: {type: OS::Heat::SoftwareConfig, properties: {group: script, config: ""}}
  reaching: {type: %s}
`

// TestFieldStacksThatReach has a plan with each of these tried by each role, on a VIM of the project and on a shared one of
// a real cloud, and compares what came of it, and what the cloud says to the plan, with docs/adversary.md.
func TestFieldStacksThatReach(t *testing.T) {
	field.Only(t)
	o := real.OwnOpenStack(t, real.OpenStackOptions{WithServers: true})
	tenant := o.Project(t)
	o.Image(t, "cirros")
	o.Flavor(t, "m1.tiny", 512)
	o.Network(t, tenant, "net0", "10.10.0.0/24")
	s := story.NewSite(t, story.Build(t, t.TempDir()), "sol003: {enabled: true}\npolicyDir: "+heatForMembers(t)+"\n")
	shells := map[string]story.Shell{}
	tokens := "tokens:\n"
	for name, of := range map[string]string{"mem": "acme, roles: [member]", "keeper": "acme, roles: [project-admin]", "root": "acme, roles: [admin]", "hub": "hub, roles: [admin]"} {
		token, digest := policy.NewToken()
		tokens += "- {name: " + name + ", project: " + of + ", sha256: " + digest + "}\n"
		s.Write(t, "root/"+name, token)
		shells[name] = story.Shell{Dir: s.Dir, Env: append(slices.Clone(s.Env), "VIMBROKER_TOKEN_FILE="+s.File("root/"+name))}
	}
	s.Write(t, "etc/vimbroker/tokens.yaml", tokens)
	s.Follow(t, []story.Step{{Command: "systemctl restart vimbroker"}})
	must := func(who, line string) string {
		t.Helper()
		return shells[who].Must(t, "vimbroker "+line)
	}
	s.Write(t, "root/clouds.yaml", fmt.Sprintf("clouds: {one: {auth: {auth_url: %q, user_id: %q, password: %q, project_id: %q}}}\n",
		o.AuthURL, tenant.UserID, tenant.Password, tenant.ProjectID))
	must("hub", "vim register --clouds-yaml clouds.yaml --cloud one --shared hub")
	must("keeper", "vim register --clouds-yaml clouds.yaml --cloud one own")
	// refuses reports whether the policy on plans refuses a command. A dry run shows the leases as refused to whoever is no
	// administrator, which the lease of an operation is not.
	refuses := func(who, line string) bool {
		t.Helper()
		got := shells[who].Try(t, "vimbroker "+line)
		return strings.Contains(got.Stdout+got.Stderr, "wide-plans-need-admin")
	}
	columns := []struct{ title, who, vim string }{
		{"member, own VIM", "mem", "own"},
		{"member, shared VIM", "mem", "hub"},
		{"project-admin, own VIM", "keeper", "own"},
		{"project-admin, shared VIM", "keeper", "hub"},
		{"admin, shared VIM", "root", "hub"},
	}
	var b strings.Builder
	b.WriteString("| a stack with | reaches |")
	for _, c := range columns {
		b.WriteString(" " + c.title + " |")
	}
	b.WriteString(" the cloud, to a plan that is allowed |\n" + strings.Repeat("| --- ", len(columns)+3) + "|\n")
	subnet := o.Networking(t, tenant, "subnets")[0]
	for _, name := range slices.Sorted(maps.Keys(reaching)) {
		r := reaching[name]
		dir := filepath.Join(s.Dir, name, "BaseHOT", "simple")
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		resource := strings.NewReplacer("SUBNET", subnet, "PROJECT", tenant.ProjectID).Replace(r.resource)
		if err := os.WriteFile(filepath.Join(dir, "top.yaml"), fmt.Appendf(nil, reachingTemplate, resource), 0o600); err != nil {
			t.Fatal(err)
		}
		must("mem", "package create "+name+" --vnfd "+name+" --out "+name+".csar")
		must("mem", "package upload "+name+".csar")
		must("mem", "vnf create --vnfd "+name+" "+name)
		fmt.Fprintf(&b, "| %s | %s |", r.brings, cmp.Or(r.reach, "nothing"))
		if got := must("root", "vnf instantiate "+name+" --vim hub --dry-run"); r.reach != "" && !strings.Contains(got, " "+r.reach+" ") {
			t.Errorf("%s: a dry run says\n%s\nand not that it reaches %s", name, got, r.reach)
		}
		for _, c := range columns {
			line := "vnf instantiate " + name + " --vim " + c.vim
			cell := " allowed |"
			if refuses(c.who, line+" --dry-run") {
				cell = " refused |"
				if !refuses(c.who, line+" --wait") {
					t.Errorf("%s: a dry run is refused to %s, and the operation is not", name, c.title)
				}
			}
			b.WriteString(cell)
		}
		got := shells["root"].Try(t, "vimbroker vnf instantiate "+name+" --vim hub --wait")
		switch {
		case got.Code == 0:
			b.WriteString(" made |\n")
			must("root", "vnf terminate "+name+" --wait")
		default:
			b.WriteString(" refused |\n")
			t.Logf("%s: %s", name, got.Stderr)
			if id := strings.TrimSpace(must("root", "vnf op list --instance "+name+" -o jsonpath={.items[0].id}")); strings.Contains(got.Stderr, "FAILED_TEMP") {
				must("root", "vnf op rollback --wait "+id)
			}
		}
	}
	real.KeepTables(t, "../../../docs/adversary.md", map[string]string{"stacks": b.String()})
}

// heatForMembers is a directory of policies that are the built-in ones, but that operations get Heat's leases for whoever
// asks for them, as docs/heat.md has it.
func heatForMembers(t *testing.T) string {
	t.Helper()
	builtIn, err := os.ReadFile("../../../policy/default.cedar")
	if err != nil {
		t.Fatal(err)
	}
	const bound = `principal.roles.contains("admin")`
	before, rest, found := strings.Cut(string(builtIn), `@id("unbounded-leases-need-admin")`)
	rule, after, ends := strings.Cut(rest, "};")
	rule = strings.Replace(rule, bound, bound+` || (principal.actor == "system:lifecycle" && context.purpose == "heat") || principal == Principal::"system:lifecycle"`, 1)
	if !found || !ends || !strings.Contains(rule, "heat") {
		t.Fatalf("the built-in policy on unbounded leases is another: %s", rule)
	}
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "default.cedar"), []byte(before+`@id("unbounded-leases-need-admin-or-heat")`+rule+"};"+after), 0o600); err != nil {
		t.Fatal(err)
	}
	return dir
}
