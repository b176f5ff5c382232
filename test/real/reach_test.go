package real_test

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/vimbroker/vimbroker/policy"
	"github.com/vimbroker/vimbroker/test/real"
	"github.com/vimbroker/vimbroker/test/story"
)

// reaching are objects that a member of one project brings to a cluster that all share, and the ways by which they get
// out of their namespace; the harmless one has none.
var reaching = map[string]struct{ manifest, reach string }{
	"selinux":      {workload(`securityContext: {seLinuxOptions: {type: spc_t}}`, "{}"), "node"},
	"seccomp":      {workload(`securityContext: {seccompProfile: {type: Unconfined}}`, "{}"), "node"},
	"apparmor":     {workload(`terminationGracePeriodSeconds: 0`, "{container.apparmor.security.beta.kubernetes.io/c: unconfined}"), "node"},
	"sysctl":       {workload(`securityContext: {sysctls: [{name: kernel.msgmax, value: "1"}]}`, "{}"), "node"},
	"priority":     {workload(`priorityClassName: system-node-critical`, "{}"), "cluster"},
	"external":     {"apiVersion: v1\nkind: Service\nmetadata: {name: steal}\nspec: {externalIPs: [192.0.2.1], ports: [{port: 80}]}\n", "cluster"},
	"loadbalancer": {"apiVersion: v1\nkind: Service\nmetadata: {name: steal}\nspec: {type: LoadBalancer, loadBalancerIP: 192.0.2.1, ports: [{port: 80}]}\n", "network"},
	"slice": {"apiVersion: discovery.k8s.io/v1\nkind: EndpointSlice\nmetadata: {name: steal}\naddressType: IPv4\nendpoints: [{addresses: [192.0.2.1]}]\n" +
		"ports: [{port: 80}]\n", "network"},
	"host": {"apiVersion: networking.k8s.io/v1\nkind: Ingress\nmetadata: {name: steal}\nspec: {rules: [{host: shop.example.com, http: {paths: [{path: /, " +
		"pathType: Prefix, backend: {service: {name: a, port: {number: 80}}}}]}}]}\n", "cluster"},
	"token": {"apiVersion: v1\nkind: Secret\nmetadata: {name: steal, annotations: {kubernetes.io/service-account.name: default}}\n" +
		"type: kubernetes.io/service-account-token\n", "rbac"},
	"network": {"apiVersion: k8s.cni.cncf.io/v1\nkind: NetworkAttachmentDefinition\nmetadata: {name: steal}\n" +
		"spec: {config: '{\"type\": \"host-device\", \"device\": \"eth0\"}'}\n", "network"},
	"machine": {"apiVersion: kubevirt.io/v1\nkind: VirtualMachine\nmetadata: {name: steal}\n" +
		"spec: {template: {spec: {volumes: [{name: v, hostDisk: {path: /, type: Disk}}]}}}\n", "node"},
	"unknown":  {"apiVersion: ran.example.com/v1\nkind: Slice\nmetadata: {name: a}\nspec: {a: b}\n", "unknown"},
	"pods":     {workload(`terminationGracePeriodSeconds: 0`, "{}"), ""},
	"harmless": {"apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata: {a: b}\n", ""},
}

// workload is a Deployment without pods: a pod's specification of its template beside the container, and annotations.
func workload(spec, annotations string) string {
	return "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web}\nspec:\n  replicas: 0\n  selector: {matchLabels: {a: b}}\n  template:\n" +
		"    metadata: {labels: {a: b}, annotations: " + annotations + "}\n    spec: {" + spec + ", containers: [{name: c, image: registry.k8s.io/pause}]}\n"
}

// reacher is somebody on the command line of a server.
type reacher struct {
	story.Shell
	t *testing.T
}

// may runs a command, and reports whether policy lets it be done; otherwise the refusal has to name the policy.
func (r reacher) may(line string) bool {
	r.t.Helper()
	got := r.Try(r.t, line)
	said := got.Stdout + got.Stderr
	if got.Code != 0 && !strings.Contains(said, "wide-plans-need-admin") {
		r.t.Errorf("%s: exit code %d, not by the policy:\n%s", line, got.Code, said)
	}
	return got.Code == 0
}

// reachSite is a server with a cluster that it knows twice: as the VIM "own" of project acme, and as "hub" of another
// project, shared with all. It has somebody for each role.
func reachSite(t *testing.T) (mem, keeper, root reacher) {
	c := real.OwnKubernetes(t) // which has kinds of others from here on
	a := &applied{Cluster: c, t: t}
	for _, file := range []string{"multus", "kubevirt"} {
		a.kubectl("", "apply", "-f", "testdata/definitions/"+file+".yaml")
	}
	for _, crd := range []string{"network-attachment-definitions.k8s.cni.cncf.io", "virtualmachines.kubevirt.io", "slices.ran.example.com"} {
		a.kubectl("", "wait", "--for=condition=Established", "--timeout=60s", "crd/"+crd)
	}
	a.kubectl("", "create", "namespace", "reach-others")
	a.kubectl("", "create", "namespace", "reach")
	a.kubectl("", "-n", "reach-others", "create", "ingress", "shop", "--rule=shop.example.com/*=a:80")

	s := newSite(t)
	people := []reacher{}
	tokens := "tokens:\n"
	for _, who := range []struct{ name, project, role string }{{"mem", "acme", "member"}, {"keeper", "acme", "project-admin"}, {"root", "acme", "admin"}} {
		token, digest := policy.NewToken()
		tokens += fmt.Sprintf("- {name: %s, project: %s, roles: [%s], sha256: %s}\n", who.name, who.project, who.role, digest)
		s.write(who.name+".token", token)
		people = append(people, reacher{Shell: story.Shell{Dir: s.dir}, t: t})
		people[len(people)-1].Env = []string{"VIMBROKER_TOKEN_FILE=" + filepath.Join(s.dir, who.name+".token")}
	}
	token, digest := policy.NewToken()
	s.write("hub.token", token)
	s.write("tokens.yaml", tokens+"- {name: hub, project: hub, roles: [admin], sha256: "+digest+"}\n")
	s.serve("sol003: {enabled: true}\n")
	for i := range people {
		people[i].Env = append(people[i].Env, "HOME="+s.dir, "PATH="+filepath.Dir(s.bin)+":"+os.Getenv("PATH"), "VIMBROKER_ADDR="+s.broker.URL)
	}
	hub := people[2]
	hub.Env = slices.Concat(hub.Env, []string{"VIMBROKER_TOKEN_FILE=" + filepath.Join(s.dir, "hub.token")})
	hub.Must(t, "vimbroker vim register --kubeconfig "+c.Kubeconfig+" --namespace reach --shared hub")
	people[1].Must(t, "vimbroker vim register --kubeconfig "+c.Kubeconfig+" --namespace reach own")
	for name, r := range reaching {
		if err := os.MkdirAll(filepath.Join(s.dir, name), 0o700); err != nil {
			t.Fatal(err)
		}
		s.write(filepath.Join(name, "a.yaml"), r.manifest)
		people[0].Must(t, "vimbroker package upload "+name+" --vnfd "+name)
		people[0].Must(t, "vimbroker vnf create --vnfd "+name+" "+name)
	}
	return people[0], people[1], people[2]
}

// TestReachOnARealCluster: each way out of the instance's namespace is refused to a member, on a VIM of its project and
// on one that another project shares, and to the project's administrator on the latter, before anything is made. A kind
// that nobody knows is the member's on its project's VIM, and on the shared one once its owner says so.
func TestReachOnARealCluster(t *testing.T) {
	t.Parallel()
	mem, keeper, root := reachSite(t)
	for _, name := range slices.Sorted(maps.Keys(reaching)) {
		want := reaching[name].reach
		dry := func(vim string) string {
			return "vimbroker vnf instantiate " + name + " --vim " + vim + " --namespace reach --dry-run"
		}
		got := mem.Try(t, dry("hub"))
		if said := got.Stdout; (want == "") == strings.Contains(said, "Reaches:") || want != "" && !strings.Contains(said, " "+want+" ") {
			t.Errorf("%s: a dry run says it reaches %q:\n%s%s", name, want, said, got.Stderr)
		}
		for who, c := range map[string]struct {
			may  bool
			want bool
		}{
			"a member on a shared VIM":                                   {mem.may(dry("hub")), want == ""},
			"a member on a VIM of the project":                           {mem.may(dry("own")), want == "" || want == "unknown"},
			"an administrator of the project on a VIM of the project":    {keeper.may(dry("own")), true},
			"an administrator of the project on a shared VIM":            {keeper.may(dry("hub")), want == ""},
			"an administrator of all on a VIM that is another project's": {root.may(dry("hub")), true},
		} {
			if c.may != c.want {
				t.Errorf("%s: %s may: %t, want %t", name, who, c.may, c.want)
			}
		}
	}

	// An operation makes pods where nothing holds them, by its plan; the same member's own lease there is refused.
	mem.Must(t, "vimbroker vnf instantiate pods --vim hub --namespace reach --wait")
	if got := mem.Try(t, "vimbroker lease issue --vim hub --role edit --namespace reach"); got.Code == 0 ||
		!strings.Contains(got.Stderr, "vimbroker vim update VIM --pods-held-by NAME") {
		t.Errorf("a member's own lease: exit code %d\n%s", got.Code, got.Stderr)
	}
	if got := mem.Try(t, "vimbroker vnf instantiate network --vim hub --namespace reach --wait"); got.Code == 0 ||
		!strings.Contains(got.Stdout+got.Stderr, "wide-plans-need-admin") {
		t.Errorf("a member's network: exit code %d\n%s%s", got.Code, got.Stdout, got.Stderr)
	}
	mem.Must(t, "vimbroker vnf heal pods --wait")
	mem.Must(t, "vimbroker vnf terminate pods --wait")
}
