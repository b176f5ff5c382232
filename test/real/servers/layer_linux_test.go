package servers_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/vimbroker/vimbroker/broker/api/sol003"
	"github.com/vimbroker/vimbroker/test/csar"
	"github.com/vimbroker/vimbroker/test/field"
	"github.com/vimbroker/vimbroker/test/process"
	"github.com/vimbroker/vimbroker/test/real"
	"github.com/vimbroker/vimbroker/test/story"
)

// layered is a package of servers and of a pod, on one network each by a connection point of its own.
func layered(vnfd, last string) csar.Files {
	all := both(vnfd, last)
	const definitions, pods = "Definitions/sample_df_simple.yaml", "Files/kubernetes/app.yaml"
	all[definitions] = strings.Replace(all[definitions], "    VDU1:\n", "    POD_CP: {type: tosca.nodes.nfv.VduCp}\n    VDU1:\n", 1)
	all[definitions] = strings.ReplaceAll(all[definitions], "initial_delta: {number_of_instances: 2}", "initial_delta: {number_of_instances: 1}")
	all[definitions] = strings.ReplaceAll(all[definitions], "level_1: {number_of_instances: 2}", "level_1: {number_of_instances: 1}")
	all[pods] = strings.NewReplacer("kind: Deployment", "kind: StatefulSet", "metadata: {labels: {app: app}}",
		"metadata: {labels: {app: app}, annotations: {k8s.v1.cni.cncf.io/networks: pod-cp@net1}}").Replace(all[pods])
	return all
}

// pooled is layered with a workload that may have several pods.
func pooled(vnfd string) csar.Files {
	all := layered(vnfd, "a: b")
	const pods = "Files/kubernetes/app.yaml"
	all[pods] = strings.Replace(all[pods], "kind: StatefulSet", "kind: Deployment", 1)
	return all
}

// layer is a network that the nodes of a cluster reach, seen from all sides.
type layer struct {
	*edge
	c       *real.Cluster
	network string
	flat    string
	// trunk is the interface of the cluster's node on the physical network.
	trunk string
}

// port is one of Neutron's, with what is looked at here.
type port struct {
	ID, Name string
	Owner    string `json:"device_owner"`
	MAC      string `json:"mac_address"`
	Host     string `json:"binding:host_id"`
	IPs      []struct {
		IP string `json:"ip_address"`
	} `json:"fixed_ips"`
}

// ports are those on the network, of pods and of others.
func (l *layer) ports(t *testing.T) (pods, others []port) {
	t.Helper()
	var all struct{ Ports []port }
	l.o.Do(t, http.MethodGet, l.o.URL(real.Neutron)+"/v2.0/ports?network_id="+l.network, nil, &all)
	for _, p := range all.Ports {
		if p.Owner == "vimbroker:pod" {
			pods = append(pods, p)
		} else {
			others = append(others, p)
		}
	}
	return pods, others
}

func (l *layer) kubectl(t *testing.T, args ...string) string {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), l.c.Kubectl, append([]string{"--kubeconfig", l.c.Kubeconfig}, args...)...).CombinedOutput()
	if err != nil {
		t.Fatalf("kubectl %q: %v: %s", args, err, out)
	}
	return string(out)
}

func (l *layer) refused(t *testing.T, line string, says ...string) {
	t.Helper()
	got := l.Try(t, line)
	for _, want := range says {
		if got.Code == 0 || !strings.Contains(got.Stdout+got.Stderr, want) {
			t.Errorf("%s: exit code %d, want it to say %q\n%s%s", line, got.Code, want, got.Stdout, got.Stderr)
		}
	}
}

// addressed proves that the one pod of an instance has the one port's MAC and addresses, and that no machine has them.
func (l *layer) addressed(t *testing.T, after string, servers int) port {
	t.Helper()
	pods, others := l.ports(t)
	if len(pods) != 1 || len(others) != servers || len(pods[0].IPs) != 1 || pods[0].Host != "" {
		t.Fatalf("after %s the network has the ports of pods %+v, and others %+v; want one and %d", after, pods, others, servers)
	}
	var elements []struct {
		Name, Interface, MAC string
		IPs                  []string
	}
	text := l.kubectl(t, "get", "statefulset", "app", "-o", `jsonpath={.spec.template.metadata.annotations.k8s\.v1\.cni\.cncf\.io/networks}`)
	if err := json.Unmarshal([]byte(text), &elements); err != nil || len(elements) != 1 || elements[0].Name != "pod-cp" || elements[0].Interface != "net1" ||
		elements[0].MAC != pods[0].MAC || !slices.Equal(elements[0].IPs, []string{pods[0].IPs[0].IP + "/24"}) {
		t.Errorf("after %s the pods are annotated with %s (%v), and the port is %+v", after, text, err, pods[0])
	}
	if on := l.kubectl(t, "get", "pod", "app-0", "-o", `jsonpath={.metadata.annotations.k8s\.v1\.cni\.cncf\.io/networks}`); on != text {
		t.Errorf("after %s the pod is annotated with %s, and its workload with %s", after, on, text)
	}
	for _, other := range others {
		if other.MAC == pods[0].MAC || other.IPs[0] == pods[0].IPs[0] {
			t.Errorf("after %s a machine has the pod's address: %+v and %+v", after, other, pods[0])
		}
	}
	return pods[0]
}

// TestFieldOneLayer: machines by Heat and a pod by manifests are on one network of a real Neutron, which an administrator says the
// cluster's nodes reach: the pod has the MAC and the address of a port, which goes with it.
func TestFieldOneLayer(t *testing.T) {
	field.Only(t)
	o, c := real.OwnOpenStack(t, real.OpenStackOptions{WithServers: true}), real.OwnKubernetes(t)
	c.WithNode(t)
	who, plain := o.Project(t), o.Project(t, "member", "heat_stack_owner") // who is not shown where networks are
	o.Image(t, "cirros-0.5.2-x86_64-disk")
	o.Flavor(t, "m1.tiny", 512)
	v := &edge{Site: story.NewSite(t, story.Build(t, t.TempDir()), "sol003: {enabled: true}\n"), o: o, who: who, bare: map[string][]string{}}
	l := &layer{v, c, o.Provider(t, who, "lan", "10.77.0.", "99", 100), o.Provider(t, who, "flat", "10.79.0.", "99", 0), fmt.Sprintf("vbt%d", os.Getpid()%100000)}
	narrow := o.Provider(t, who, "narrow", "10.78.0.", "10", 101)
	for _, kind := range kinds {
		v.bare[kind] = o.Networking(t, who, kind)
	}
	l.kubectl(t, "apply", "-f", "../testdata/definitions/multus.yaml")
	l.kubectl(t, "wait", "--for=condition=Established", "--timeout=60s", "crd/network-attachment-definitions.k8s.cni.cncf.io")
	clouds := "clouds:\n"
	for name, one := range map[string]real.Tenant{"one": who, "plain": plain} {
		clouds += fmt.Sprintf("  %s: {auth: {auth_url: %q, user_id: %q, password: %q, project_id: %q}}\n", name, o.AuthURL, one.UserID, one.Password, one.ProjectID)
	}
	v.Write(t, "root/clouds.yaml", clouds)
	for name, files := range map[string]csar.Files{
		"lan": layered(bothVNFD+"1", "a: b"), "fails": layered(bothVNFD+"2", `"a b": c`), "pool": pooled(bothVNFD + "3"),
	} {
		v.Write(t, "root/"+name+".csar", string(files.Zip(t)))
		v.Must(t, "vimbroker package upload "+name+".csar")
	}
	v.Must(t, "vimbroker vim register --clouds-yaml clouds.yaml --cloud one cloud")
	v.Must(t, "vimbroker vim register --clouds-yaml clouds.yaml --cloud plain plain")
	v.Must(t, "vimbroker vim register --kubeconfig "+c.Kubeconfig+" pods")

	t.Run("refused", l.isRefused)
	v.Must(t, "vimbroker link create lan --vim cloud --network "+l.network+" --spans vim=pods,physicalNetwork=physnet1,interface="+l.trunk)
	v.Must(t, "vimbroker link create narrow --vim cloud --network "+narrow+" --spans vim=pods,physicalNetwork=physnet1,interface=bond0.101")
	v.Must(t, "vimbroker link create flat --vim cloud --network "+l.flat+" --spans vim=pods,physicalNetwork=physnet1,interface="+l.trunk)
	t.Run("lives", l.lives)
	t.Run("fails", l.fails)
	v.Must(t, "vimbroker link delete lan")
	v.Must(t, "vimbroker link delete narrow")
	v.Must(t, "vimbroker link delete flat")
	t.Run("pool", l.pools)
	v.leavesNothing(t, "the links")
}

// isRefused: what the cloud says of the network contradicts, and one who is not shown that.
func (l *layer) isRefused(t *testing.T) {
	create := "vimbroker link create bad --vim cloud --network " + l.network + " --spans "
	l.refused(t, create+"vim=pods,physicalNetwork=physnet2,interface=bond0", "spans.physicalNetwork", "openstack network show")
	l.refused(t, create+"vim=pods,physicalNetwork=physnet1,interface=bond0.7", "spans.interface", "VLAN 100")
	l.refused(t, create+"vim=cloud,physicalNetwork=physnet1,interface=bond0", "spans.vim")
	l.refused(t, create+"vim=pods,physicalNetwork=physnet1,iface=bond0", "--spans takes")
	const own = " --cidr 10.79.0.0/24 --spans vim=pods,physicalNetwork=physnet1,interface=bond0"
	l.refused(t, "vimbroker link create bad --vim plain"+own, "cannot be checked")
	l.refused(t, "vimbroker link create bad --vim cloud"+own, "ends within the cloud")
	l.leavesNothing(t, "refused links")
}

const onLAN = ` --vim cloud,pods --nfv '{"VDU": {"VDU1": {"computeFlavourId": "m1.tiny"}}}' --link VDU1_CP1=%s --link POD_CP=%[1]s --wait`

func (l *layer) lives(t *testing.T) {
	l.Must(t, "vimbroker vnf create --vnfd "+bothVNFD+"1 mixed")
	l.Must(t, "vimbroker vnf instantiate mixed"+strings.ReplaceAll(fmt.Sprintf(onLAN, "lan"), "--wait", "--dry-run"))
	if pods, _ := l.ports(t); len(pods) != 0 {
		t.Errorf("a dry run makes ports: %+v", pods)
	}
	l.Must(t, "vimbroker vnf instantiate mixed"+fmt.Sprintf(onLAN, "lan"))
	first := l.addressed(t, "INSTANTIATE", 1)
	var config struct {
		Plugins []struct {
			Type, Master string
			VLAN         int `json:"vlanId"`
			MTU          int
			IPAM         struct{ Type string }
		}
	}
	text := l.kubectl(t, "get", "network-attachment-definitions", "pod-cp", "-o", "jsonpath={.spec.config}")
	if err := json.Unmarshal([]byte(text), &config); err != nil || len(config.Plugins) != 2 || config.Plugins[0].Type != "vlan" ||
		config.Plugins[0].Master != l.trunk || config.Plugins[0].VLAN != 100 || config.Plugins[0].MTU != 1400 || config.Plugins[0].IPAM.Type != "static" {
		t.Errorf("the network is %s (%v)", text, err)
	}
	var i sol003.VNFInstance
	l.Decode(t, "vimbroker vnf show -o json mixed", &i)
	if links := i.Instantiated.ExtLinks; len(links) != 1 || len(links[0].CPs) != 2 || len(links[0].Ports) != 1 || links[0].Ports[0].Handle.ResourceID != first.ID {
		t.Errorf("the instance says of its links %+v", links)
	}
	l.refused(t, "vimbroker vnf scale mixed --aspect app_scale --steps 1 --wait", "VDU app cannot be scaled")
	l.Must(t, "vimbroker vnf scale mixed --aspect VDU1_scale --steps 1 --wait")
	if again := l.addressed(t, "scaling servers", 2); again.ID != first.ID {
		t.Error("scaling servers makes another port for the pod")
	}
	l.o.Do(t, http.MethodDelete, l.o.URL(real.Neutron)+"/v2.0/ports/"+first.ID, nil, nil)
	l.Must(t, "vimbroker vnf heal mixed --wait")
	if again := l.addressed(t, "healing", 2); again.ID == first.ID {
		t.Error("the port that was removed is there")
	}
	l.refused(t, "vimbroker link delete lan", "is used by VNF instances")
	l.Must(t, "vimbroker vnf connect mixed --link VDU1_CP1=flat --link POD_CP=flat --wait")
	if pods, others := l.ports(t); len(pods)+len(others) > 0 {
		t.Errorf("connected to another link, the network has ports %+v and %+v", pods, others)
	}
	other := *l
	other.network = l.flat
	other.addressed(t, "CHANGE_EXT_CONN", 2)
	other.pings(t)
	l.Must(t, "vimbroker vnf terminate mixed --wait")
	l.leavesNothing(t, "TERMINATE")
	if left := l.kubectl(t, "get", "network-attachment-definitions,statefulsets", "-A", "-o", "name"); left != "" {
		t.Errorf("after TERMINATE the cluster has %s", left)
	}
}

// pings: the pod has its network by real plugins, and a namespace stands for a machine: with its port's MAC and address at the
// other end of the node's interface. The network is flat: kernels without 8021q have no VLANs.
func (l *layer) pings(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Log("no packets: network namespaces need root")
		return
	}
	pods, machines := l.ports(t)
	pod, machine := "p"+l.trunk, "m"+l.trunk // namespaces
	for _, space := range []string{pod, machine} {
		shell(t, "netns", "add", space)
		defer func() { _ = exec.Command("ip", "netns", "del", space).Run() }()
	}
	shell(t, "link", "add", l.trunk, "mtu", "9000", "type", "veth", "peer", "name", "lan", "netns", machine)
	defer func() { _ = exec.Command("ip", "link", "del", l.trunk).Run() }()
	shell(t, "link", "set", l.trunk, "up")
	shell(t, "-n", machine, "link", "set", "lan", "address", machines[0].MAC, "mtu", "1400")
	shell(t, "-n", machine, "addr", "add", machines[0].IPs[0].IP+"/24", "dev", "lan")
	shell(t, "-n", machine, "link", "set", "lan", "up")
	if err := l.attach(t, "ADD", pod, "app-0"); err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := l.attach(t, "DEL", pod, "app-0"); err != nil {
			t.Error(err)
		}
	}()
	out, err := exec.CommandContext(t.Context(), "ip", "-n", pod, "addr", "show", "net1").CombinedOutput()
	for _, want := range []string{pods[0].MAC, pods[0].IPs[0].IP + "/24", "mtu 1400"} {
		if err != nil || !strings.Contains(string(out), want) {
			t.Errorf("the pod's interface lacks %s (%v):\n%s", want, err, out)
		}
	}
	for from, to := range map[string]string{pod: machines[0].IPs[0].IP, machine: pods[0].IPs[0].IP} {
		if err := real.Ping4(from, netip.MustParseAddr(to), 1400); err != nil {
			t.Errorf("%s does not reach %s: %v", from, to, err)
		}
	}
	neighbours, _ := exec.CommandContext(t.Context(), "ip", "-n", machine, "neigh", "show", "dev", "lan").CombinedOutput()
	if !strings.Contains(string(neighbours), pods[0].IPs[0].IP+" lladdr "+pods[0].MAC) {
		t.Errorf("the machine knows its neighbours as\n%s", neighbours)
	}
	l.isStolen(t, machine, pods[0])
}

// isStolen: a pod that takes an address which is another's is seen as a duplicate, by itself if it asks, and by a machine.
func (l *layer) isStolen(t *testing.T, machine string, from port) {
	const thief, mac = "thief", "02:00:00:00:00:66"
	ip, space := netip.MustParseAddr(from.IPs[0].IP), "t"+l.trunk
	wants := func(when, space, device string, want ...string) {
		t.Helper()
		got, err := real.Owners(space, device, ip)
		slices.Sort(got)
		if slices.Sort(want); err != nil || !slices.Equal(got, want) {
			t.Errorf("%s %s is that of %q (%v), want %q", when, ip, got, err, want)
		}
	}
	wants("before", machine, "lan", from.MAC)
	l.pod(t, thief, fmt.Sprintf(`[{"name": "pod-cp", "interface": "net1", "mac": "%s", "ips": ["%s/24"]}]`, mac, ip))
	defer l.kubectl(t, "delete", "pod", thief, "--force")
	shell(t, "netns", "add", space)
	defer func() { _ = exec.Command("ip", "netns", "del", space).Run() }()
	if err := l.attach(t, "ADD", space, thief); err != nil {
		t.Fatal(err)
	}
	wants("to the thief", space, "net1", from.MAC)
	wants("with a thief", machine, "lan", mac, from.MAC)
	if err := l.attach(t, "DEL", space, thief); err != nil {
		t.Error(err)
	}
	wants("without it again", machine, "lan", from.MAC)
}

// fails: ports go with a rollback, also of one that found no address left.
func (l *layer) fails(t *testing.T) {
	l.Must(t, "vimbroker vnf create --vnfd "+bothVNFD+"2 broken")
	l.refused(t, "vimbroker vnf instantiate broken"+fmt.Sprintf(onLAN, "lan"), "part pods")
	l.addressed(t, "a wave that failed", 1)
	l.Must(t, "vimbroker vnf op rollback "+l.failed(t, "broken").ID+" --wait")
	l.leavesNothing(t, "the rollback")

	l.o.Do(t, http.MethodPost, l.o.URL(real.Neutron)+"/v2.0/ports", map[string]any{"port": map[string]any{"network_id": l.narrow(t), "name": "taken"}}, nil)
	l.refused(t, "vimbroker vnf instantiate broken"+fmt.Sprintf(onLAN, "narrow"), "its address or MAC is taken, or none is left")
	if servers := l.o.Servers(t, l.who); len(servers) != 0 {
		t.Errorf("without an address for the pod there are servers %+v", servers)
	}
	l.Must(t, "vimbroker vnf op rollback "+l.failed(t, "broken").ID+" --wait")
	var all struct{ Ports []port }
	l.o.Do(t, http.MethodGet, l.o.URL(real.Neutron)+"/v2.0/ports?name=taken", nil, &all)
	for _, p := range all.Ports {
		l.o.Do(t, http.MethodDelete, l.o.URL(real.Neutron)+"/v2.0/ports/"+p.ID, nil, nil)
	}
	l.leavesNothing(t, "the rollback of what found no address")
}

// pools: pods of a Deployment have a row of addresses, of which Neutron gives no machine one; it stays as they are scaled, and goes.
func (l *layer) pools(t *testing.T) {
	span := "vimbroker link create row --vim cloud --network " + l.network + " --spans vim=pods,physicalNetwork=physnet1,interface=" + l.trunk
	l.Must(t, "vimbroker vnf create --vnfd "+bothVNFD+"3 many")
	l.Must(t, span)
	l.refused(t, "vimbroker vnf instantiate many"+fmt.Sprintf(onLAN, "row"), "whereabouts")
	l.Must(t, "vimbroker link delete row")
	l.Must(t, span+",ipam=whereabouts")
	l.Must(t, "vimbroker vnf instantiate many"+fmt.Sprintf(onLAN, "row"))
	row := l.row(t, "INSTANTIATE", 1)
	var config struct {
		Plugins []struct {
			IPAM struct {
				Type  string
				First netip.Addr `json:"range_start"`
				Last  netip.Addr `json:"range_end"`
			}
		}
	}
	text := l.kubectl(t, "get", "network-attachment-definitions", "pod-cp", "-o", "jsonpath={.spec.config}")
	if err := json.Unmarshal([]byte(text), &config); err != nil || len(config.Plugins) == 0 || config.Plugins[0].IPAM.Type != "whereabouts" ||
		config.Plugins[0].IPAM.First != row[0] || config.Plugins[0].IPAM.Last != row[len(row)-1] {
		t.Errorf("the network is %s (%v), and the ports have %v", text, err, row)
	}
	l.Must(t, "vimbroker vnf scale many --aspect app_scale --steps 1 --wait")
	if again := l.row(t, "scaling pods", 1); !slices.Equal(again, row) {
		t.Errorf("scaled, the row is %v, and was %v", again, row)
	}
	l.Must(t, strings.NewReplacer("create row", "create flatrow", l.network, l.flat).Replace(span)+",ipam=whereabouts")
	l.Must(t, "vimbroker vnf connect many --link VDU1_CP1=flatrow --link POD_CP=flatrow --wait")
	flat := *l
	flat.network = l.flat
	addresses := flat.row(t, "CHANGE_EXT_CONN", 1)
	flat.counted(t, addresses)
	flat.isGivenOthers(t, addresses)
	l.Must(t, "vimbroker vnf terminate many --wait")
	l.Must(t, "vimbroker link delete row")
	l.Must(t, "vimbroker link delete flatrow")
}

// counted: whereabouts itself gives pods of a Deployment the addresses of their row, each to one, and no other; pods of another network
// may have addresses of the same numbers.
func (l *layer) counted(t *testing.T, row []netip.Addr) {
	if os.Geteuid() != 0 {
		t.Log("no packets: network namespaces need root")
		return
	}
	l.onNode(t, row[0])
	own := strings.Fields(l.kubectl(t, "get", "pods", "-l", "app=app", "-o", "jsonpath={.items[*].metadata.name}"))
	for n := range len(row) - len(own) + 1 { // one more than there are addresses
		l.pod(t, fmt.Sprintf("more-%d", n), "pod-cp@net1")
	}
	all := strings.Fields(l.kubectl(t, "get", "pods", "-o", "jsonpath={.items[*].metadata.name}"))
	if len(own) != 2 || len(all) != len(row)+1 {
		t.Fatalf("there are pods %q, of these %q by the workload; the row is %v", all, own, row)
	}
	space := func(pod string) string { return l.trunk + pod }
	for _, pod := range all {
		shell(t, "netns", "add", space(pod))
		defer func() { _ = exec.Command("ip", "netns", "del", space(pod)).Run() }()
	}
	failed := make([]error, len(all))
	var group sync.WaitGroup
	for n, pod := range all { // as nodes do, at once
		group.Go(func() { failed[n] = l.attach(t, "ADD", space(pod), pod) })
	}
	group.Wait()
	var without string
	at, has := map[string]netip.Addr{}, map[netip.Addr]string{}
	for n, pod := range all {
		if failed[n] != nil {
			if without != "" || !strings.Contains(failed[n].Error(), "llocate IP in range") {
				t.Errorf("pod %s has no address, as %q: %v", pod, without, failed[n])
			}
			without = pod
			continue
		}
		at[pod] = addressOf(t, space(pod))
		if other := has[at[pod]]; other != "" || !slices.Contains(row, at[pod]) {
			t.Errorf("pod %s has the address %s of a row %v, and pod %q has it too", pod, at[pod], row, other)
		}
		has[at[pod]] = pod
	}
	if without == "" || len(at) != len(row) {
		t.Fatalf("of %d pods %v have addresses, and there are %d", len(all), at, len(row))
	}
	if from, is := at[own[0]]; is {
		for pod, to := range at {
			if err := real.Ping4(space(own[0]), to, 1400); err != nil {
				t.Errorf("%s does not reach %s at %s: %v", from, pod, to, err)
			}
		}
	}
	goes := slices.IndexFunc(all, func(pod string) bool { return pod != without && !slices.Contains(own, pod) })
	if err := errors.Join(l.attach(t, "DEL", space(all[goes]), all[goes]), l.attach(t, "ADD", space(without), without)); err != nil {
		t.Fatal(err)
	}
	if got := addressOf(t, space(without)); got != at[all[goes]] {
		t.Errorf("the pod that waited has %s, and free is %s", got, at[all[goes]])
	}
	for n, pod := range all {
		if n != goes {
			if err := l.attach(t, "DEL", space(pod), pod); err != nil {
				t.Error(err)
			}
		}
		if !slices.Contains(own, pod) {
			l.kubectl(t, "delete", "pod", pod, "--force")
		}
	}
}

// onNode makes this machine a node of the cluster with an interface on the layer and whereabouts, which has given an address of another
// network away.
func (l *layer) onNode(t *testing.T, given netip.Addr) {
	t.Helper()
	l.kubectl(t, "apply", "-f", "../testdata/definitions/whereabouts.yaml")
	l.kubectl(t, "wait", "--for=condition=Established", "--timeout=60s", "crd/ippools.whereabouts.cni.cncf.io",
		"crd/overlappingrangeipreservations.whereabouts.cni.cncf.io")
	l.c.ApplyText(t, fmt.Sprintf("{apiVersion: whereabouts.cni.cncf.io/v1alpha1, kind: OverlappingRangeIPReservation, metadata: {name: %s}, "+
		"spec: {podref: other/pod, ifname: net1}}", given))
	const config = "/etc/cni/net.d/whereabouts.d/whereabouts.conf" // where it looks by itself, on nodes
	if err := errors.Join(os.MkdirAll(filepath.Dir(config), 0o755), os.WriteFile(config, fmt.Appendf(nil,
		`{"datastore": "kubernetes", "kubernetes": {"kubeconfig": %q}}`, l.c.Kubeconfig), 0o600)); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(filepath.Dir(config)) })
	shell(t, "link", "add", l.trunk, "mtu", "9000", "type", "veth", "peer", "name", l.trunk+"p")
	t.Cleanup(func() { _ = exec.Command("ip", "link", "del", l.trunk).Run() })
	shell(t, "link", "set", l.trunk, "up")
	shell(t, "link", "set", l.trunk+"p", "up")
}

// isGivenOthers has Neutron choose addresses for machines: none is of a row of pods.
func (l *layer) isGivenOthers(t *testing.T, row []netip.Addr) {
	t.Helper()
	for range 2 * len(row) {
		var made struct{ Port port }
		l.o.Do(t, http.MethodPost, l.o.URL(real.Neutron)+"/v2.0/ports", map[string]any{"port": map[string]any{"network_id": l.network}}, &made)
		defer func() { l.o.Do(t, http.MethodDelete, l.o.URL(real.Neutron)+"/v2.0/ports/"+made.Port.ID, nil, nil) }()
		if len(made.Port.IPs) != 1 || slices.Contains(row, netip.MustParseAddr(made.Port.IPs[0].IP)) {
			t.Errorf("Neutron gives a machine %+v, and the row is %v", made.Port, row)
		}
	}
}

// pod makes a pod that names networks, with nothing of the product between.
func (l *layer) pod(t *testing.T, name, networks string) {
	t.Helper()
	l.c.ApplyText(t, fmt.Sprintf("{apiVersion: v1, kind: Pod, metadata: {name: %s, annotations: {k8s.v1.cni.cncf.io/networks: '%s'}}, "+
		"spec: {containers: [{name: a, image: i}]}}", name, networks))
}

// attach gives a pod its networks in a namespace, or takes them away.
func (l *layer) attach(t *testing.T, command, space, pod string) error {
	root, err := process.Repository()
	if err != nil {
		return err
	}
	uid, err := exec.CommandContext(t.Context(), l.c.Kubectl, "--kubeconfig", l.c.Kubeconfig, "get", "pod", pod, "-o", "jsonpath={.metadata.uid}").Output()
	if err == nil {
		var out string
		if out, err = real.Attach(l.c, filepath.Join(root, "bin", "cni"), t.TempDir(), command, space, "default/"+pod, string(uid)); err != nil {
			err = fmt.Errorf("%s of %s: %w: %s", command, pod, err, out)
		}
	}
	return err
}

// addressOf is the address that a namespace has on the layer.
func addressOf(t *testing.T, space string) netip.Addr {
	t.Helper()
	fields := strings.Fields(shell(t, "-n", space, "-4", "-o", "addr", "show", "net1"))
	if len(fields) < 4 {
		t.Fatalf("%s has no address: %q", space, fields)
	}
	return netip.MustParsePrefix(fields[3]).Addr()
}

// shell runs ip.
func shell(t *testing.T, args ...string) string {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), "ip", args...).CombinedOutput()
	if err != nil {
		t.Fatalf("ip %q: %v: %s", args, err, out)
	}
	return string(out)
}

// row are the addresses of the ports of pods, one after the other, of which no machine has one.
func (l *layer) row(t *testing.T, after string, servers int) (row []netip.Addr) {
	t.Helper()
	pods, others := l.ports(t)
	for _, p := range pods {
		row = append(row, netip.MustParseAddr(p.IPs[0].IP))
	}
	slices.SortFunc(row, netip.Addr.Compare)
	for n, ip := range row {
		if n > 0 && row[n-1].Next() != ip {
			t.Errorf("after %s the addresses are no row: %v", after, row)
		}
	}
	if len(row) < 3 || len(others) != servers || slices.Contains(row, netip.MustParseAddr(others[0].IPs[0].IP)) {
		t.Fatalf("after %s pods have %v, and machines the ports %+v", after, row, others)
	}
	return row
}

// narrow is the id of the network with one address.
func (l *layer) narrow(t *testing.T) string {
	t.Helper()
	var nets struct{ Networks []struct{ ID string } }
	l.o.Do(t, http.MethodGet, l.o.URL(real.Neutron)+"/v2.0/networks?name=narrow", nil, &nets)
	return nets.Networks[0].ID
}
