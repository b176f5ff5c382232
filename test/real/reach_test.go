package real_test

import (
	"archive/zip"
	"bytes"
	"cmp"
	"errors"
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

// reaching are objects that a member of one project brings to a cluster that all share, and the ways by which they get
// out of their namespace; the harmless one has none.
var reaching = map[string]struct{ brings, reach, manifest string }{
	"selinux":  {"a pod of SELinux' type `spc_t`", "node", workload(`securityContext: {seLinuxOptions: {type: spc_t}}`, "{}")},
	"seccomp":  {"a pod without seccomp", "node", workload(`securityContext: {seccompProfile: {type: Unconfined}}`, "{}")},
	"apparmor": {"a pod without AppArmor, by its annotation", "node", workload(`terminationGracePeriodSeconds: 0`, "{container.apparmor.security.beta.kubernetes.io/c: unconfined}")},
	"sysctl":   {"a pod with `kernel.msgmax`", "node", workload(`securityContext: {sysctls: [{name: kernel.msgmax, value: "1"}]}`, "{}")},
	"probe": {"a pod whose probe asks `169.254.169.254`", "node", strings.Replace(workload(`terminationGracePeriodSeconds: 0`, "{}"), "image:",
		"livenessProbe: {httpGet: {host: 169.254.169.254, port: 80}}, image:", 1)},
	"pinned":   {"a pod on a node of its choice, whatever that is kept for", "node", workload(`nodeName: n, tolerations: [{operator: Exists}]`, "{}")},
	"priority": {"a pod of class `system-node-critical`", "cluster", workload(`priorityClassName: system-node-critical`, "{}")},
	"external": {"a Service with `externalIPs`", "cluster", "apiVersion: v1\nkind: Service\nmetadata: {name: steal}\nspec: {externalIPs: [192.0.2.1], ports: [{port: 80}]}\n"},
	"loadbalancer": {"a Service with `loadBalancerIP`", "network", "apiVersion: v1\nkind: Service\nmetadata: {name: steal}\n" +
		"spec: {type: LoadBalancer, loadBalancerIP: 192.0.2.1, ports: [{port: 80}]}\n"},
	"slice": {"an EndpointSlice with an address", "network", "apiVersion: discovery.k8s.io/v1\nkind: EndpointSlice\nmetadata: {name: steal}\naddressType: IPv4\n" +
		"endpoints: [{addresses: [192.0.2.1]}]\nports: [{port: 80}]\n"},
	"host":    {"an Ingress with a host that one of another namespace has", "cluster", ingress("{}", "shop")},
	"chart":   {"an Ingress with another namespace's host, in a chart", "cluster", ingress("{}", "shop")},
	"snippet": {"an Ingress with a snippet", "cluster", ingress(`{nginx.ingress.kubernetes.io/server-snippet: "#"}`, "mine")},
	"token": {"a Secret that gets an account's token", "rbac", "apiVersion: v1\nkind: Secret\n" +
		"metadata: {name: steal, annotations: {kubernetes.io/service-account.name: default}}\ntype: kubernetes.io/service-account-token\n"},
	"network": {"a network of Multus that is its node's interface", "network", "apiVersion: k8s.cni.cncf.io/v1\nkind: NetworkAttachmentDefinition\n" +
		"metadata: {name: steal}\nspec: {config: '{\"type\": \"host-device\", \"device\": \"eth0\"}'}\n"},
	"machine": {"a machine of KubeVirt with its node's disk", "node", "apiVersion: kubevirt.io/v1\nkind: VirtualMachine\nmetadata: {name: steal}\n" +
		"spec: {template: {spec: {volumes: [{name: v, hostDisk: {path: /, type: Disk}}]}}}\n"},
	"gpu": {"a machine of KubeVirt with a device of its node", "node", "apiVersion: kubevirt.io/v1\nkind: VirtualMachine\nmetadata: {name: steal}\n" +
		"spec: {template: {spec: {domain: {devices: {gpus: [{name: g, deviceName: vendor.example/gpu}]}}}}}\n"},
	"nic": {"a machine of KubeVirt in a network of another namespace", "network", "apiVersion: kubevirt.io/v1\nkind: VirtualMachine\nmetadata: {name: steal}\n" +
		"spec: {template: {spec: {networks: [{name: n, multus: {networkName: reach-others/n}}]}}}\n"},
	"endpoints": {"Endpoints with an address", "network", "apiVersion: v1\nkind: Endpoints\nmetadata: {name: steal}\n" +
		"subsets: [{addresses: [{ip: 192.0.2.1}], ports: [{port: 80}]}]\n"},
	"unknown":  {"an object of a kind that no table has", "unknown", "apiVersion: ran.example.com/v1\nkind: Slice\nmetadata: {name: a}\nspec: {a: b}\n"},
	"pods":     {"a pod of level `baseline`", "", workload(`terminationGracePeriodSeconds: 0`, "{}")},
	"harmless": {"a ConfigMap", "", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata: {a: b}\n"},
}

func ingress(annotations, host string) string {
	return "apiVersion: networking.k8s.io/v1\nkind: Ingress\nmetadata: {name: steal, annotations: " + annotations + "}\n" +
		"spec: {rules: [{host: " + host + ".example.com, http: {paths: [{path: /, pathType: Prefix, backend: {service: {name: a, port: {number: 80}}}}]}}]}\n"
}

// workload is a Deployment without pods: a pod's specification of its template beside the container, and annotations.
func workload(spec, annotations string) string {
	return "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web}\nspec:\n  replicas: 0\n  selector: {matchLabels: {a: b}}\n  template:\n" +
		"    metadata: {labels: {a: b}, annotations: " + annotations + "}\n    spec: {" + spec + ", containers: [{name: c, image: registry.k8s.io/pause}]}\n"
}

const (
	chartFile = "apiVersion: v2\nname: web\nversion: 1.0.0\n"
	plainMap  = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: plain}\n"
)

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
	c.WithBalancers(t)
	a := &applied{Cluster: c, t: t}
	for _, file := range []string{"multus", "kubevirt"} {
		a.kubectl("", "apply", "-f", "testdata/definitions/"+file+".yaml")
	}
	for _, crd := range []string{"network-attachment-definitions.k8s.cni.cncf.io", "virtualmachines.kubevirt.io", "slices.ran.example.com"} {
		a.kubectl("", "wait", "--for=condition=Established", "--timeout=60s", "crd/"+crd)
	}
	a.kubectl("", "create", "namespace", "reach-others")
	a.kubectl("", "create", "namespace", "reach")
	a.kubectl("", "create", "namespace", "reach-own")
	a.kubectl("", "-n", "reach-others", "create", "ingress", "shop", "--rule=shop.example.com/*=a:80")

	s := newSite(t)
	story.BuildRenderer(t, s.bin)
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
	run := story.Shell{Dir: s.dir, Env: os.Environ()}
	run.Must(t, "umask 077; openssl req -x509 -newkey rsa:2048 -nodes -subj /O=acme/CN=release -days 2 -keyout key.pem -out cert.pem")
	s.serve("sol003: {enabled: true, signersFile: " + filepath.Join(s.dir, "cert.pem") + "}\n")
	for i := range people {
		people[i].Env = append(people[i].Env, "HOME="+s.dir, "PATH="+filepath.Dir(s.bin)+":"+os.Getenv("PATH"), "VIMBROKER_ADDR="+s.broker.URL)
	}
	hub := people[2]
	hub.Env = slices.Concat(hub.Env, []string{"VIMBROKER_TOKEN_FILE=" + filepath.Join(s.dir, "hub.token")})
	hub.Must(t, "vimbroker vim register --kubeconfig "+c.Kubeconfig+" --namespace reach --shared hub")
	people[1].Must(t, "vimbroker vim register --kubeconfig "+c.Kubeconfig+" --namespace reach --namespace reach-own own")
	for name, r := range reaching {
		if err := os.MkdirAll(filepath.Join(s.dir, name, "templates"), 0o700); err != nil {
			t.Fatal(err)
		}
		file := "a.yaml"
		if name == "chart" {
			s.write(filepath.Join(name, "Chart.yaml"), chartFile)
			file = filepath.Join("templates", file)
		}
		s.write(filepath.Join(name, file), r.manifest)
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
	// That a trusted signer has signed the package is no reason to let it reach.
	mem.Must(t, "umask 077; vimbroker package create network --vnfd signed --out web.csar")
	mem.Must(t, "umask 077; openssl cms -sign -binary -md sha256 -outform DER -signer cert.pem -inkey key.pem -in web.csar -out web.cms")
	mem.zip("signed.zip", "web.csar", "web.cms")
	mem.Must(t, "vimbroker package upload signed.zip")
	if got := mem.Must(t, "vimbroker package show signed"); !strings.Contains(got, "CN=release,O=acme") {
		t.Errorf("the package is not signed: the test sees nothing\n%s", got)
	}
	mem.Must(t, "vimbroker vnf create --vnfd signed signed")
	mem.refused("vimbroker vnf instantiate signed --vim own --namespace reach --wait")
	mem.Must(t, "vimbroker vnf heal pods --wait")
	mem.Must(t, "vimbroker vnf terminate pods --wait")
}

// TestFieldReachOfEachRole has a plan for each way out of its namespace instantiated, changed to, healed and scaled by each
// role, on a VIM of the project and on a shared one, and compares what came of it with docs/adversary.md.
func TestFieldReachOfEachRole(t *testing.T) {
	field.Only(t)
	mem, keeper, root := reachSite(t)
	who := []struct {
		title string
		reacher
		vim string
	}{
		{"member, own VIM", mem, "own"},
		{"member, shared VIM", mem, "hub"},
		{"project-admin, own VIM", keeper, "own"},
		{"project-admin, shared VIM", keeper, "hub"},
		{"admin, shared VIM", root, "hub"},
	}
	namespace := map[string]string{"own": "reach-own", "hub": "reach"}
	instantiate := func(instance, vim string) string {
		return "vimbroker vnf instantiate " + instance + " --vim " + vim + " --namespace " + namespace[vim]
	}
	must := func(r reacher, line string) { t.Helper(); r.Must(t, "vimbroker "+line) }
	for plain, files := range map[string]map[string]string{ // what an instance changes from: of manifests, or of a chart
		"plain":       {"a.yaml": plainMap},
		"plain-chart": {"Chart.yaml": chartFile, "templates/a.yaml": strings.Replace(plainMap, "plain", "plain-chart", 1)},
	} {
		for file, text := range files {
			path := filepath.Join(mem.Dir, plain, file)
			if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(text), 0o600)); err != nil {
				t.Fatal(err)
			}
		}
		must(mem, "package upload "+plain+" --vnfd "+plain)
		for vim := range namespace {
			must(mem, "vnf create --vnfd "+plain+" "+plain+"-"+vim)
			must(mem, "vnf instantiate "+plain+"-"+vim+" --vim "+vim+" --namespace "+namespace[vim]+" --wait")
		}
	}
	var b strings.Builder
	b.WriteString("| a plan with | reaches |")
	for _, w := range who {
		b.WriteString(" " + w.title + " |")
	}
	b.WriteString(" the cluster, to a plan that is allowed |\n" + strings.Repeat("| --- ", len(who)+3) + "|\n")
	for _, name := range slices.Sorted(maps.Keys(reaching)) {
		fmt.Fprintf(&b, "| %s | %s |", reaching[name].brings, cmp.Or(reaching[name].reach, "nothing"))
		plain := "plain"
		if name == "chart" {
			plain = "plain-chart"
		}
		for vim, r := range map[string]reacher{"own": keeper, "hub": root} {
			must(mem, "vnf create --vnfd "+name+" "+name+"-"+vim)
			must(r, strings.TrimPrefix(instantiate(name+"-"+vim, vim), "vimbroker ")+" --wait")
		}
		for _, w := range who {
			answers := map[bool][]string{}
			for _, deed := range []struct{ name, line string }{
				{"instantiate", instantiate(name, w.vim)},
				{"change", "vimbroker vnf update " + plain + "-" + w.vim + " --vnfd " + name},
				{"heal", "vimbroker vnf heal " + name + "-" + w.vim},
				{"scale", "vimbroker vnf scale " + name + "-" + w.vim + " --aspect web"},
			} {
				if deed.name == "scale" && !strings.Contains(reaching[name].manifest, "kind: Deployment") {
					continue
				}
				may := w.may(deed.line + " --dry-run")
				answers[may] = append(answers[may], deed.name)
				if !may { // nor is it done
					w.refused(deed.line + " --wait")
				}
			}
			switch {
			case len(answers[false]) == 0:
				b.WriteString(" allowed |")
			case len(answers[true]) == 0:
				b.WriteString(" refused |")
			default:
				b.WriteString(" refused; " + strings.Join(answers[true], ", ") + ": allowed |")
			}
		}
		b.WriteString(" made |\n")
		for vim, r := range map[string]reacher{"own": keeper, "hub": root} {
			must(r, "vnf terminate "+name+"-"+vim+" --wait")
		}
	}
	real.KeepTables(t, "../../docs/adversary.md", map[string]string{"plans": b.String()})
}

// refused fails unless an operation ends without an effect, by the policy.
func (r reacher) refused(line string) {
	r.t.Helper()
	if got := r.Try(r.t, line); got.Code == 0 || !strings.Contains(got.Stdout+got.Stderr, "wide-plans-need-admin") {
		r.t.Errorf("%s: exit code %d, want it refused by the policy:\n%s%s", line, got.Code, got.Stdout, got.Stderr)
	}
}

// zip writes an archive of files of the directory.
func (r reacher) zip(name string, files ...string) {
	r.t.Helper()
	var out bytes.Buffer
	archive := zip.NewWriter(&out)
	for _, file := range files {
		text, err := os.ReadFile(filepath.Join(r.Dir, file))
		if err != nil {
			r.t.Fatal(err)
		}
		w, err := archive.Create(file)
		if err == nil {
			_, err = w.Write(text)
		}
		if err != nil {
			r.t.Fatal(err)
		}
	}
	if err := errors.Join(archive.Close(), os.WriteFile(filepath.Join(r.Dir, name), out.Bytes(), 0o600)); err != nil {
		r.t.Fatal(err)
	}
}
