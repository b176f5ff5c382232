package real_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/vimbroker/vimbroker/test/csar"
	"github.com/vimbroker/vimbroker/test/field"
	"github.com/vimbroker/vimbroker/test/process"
	"github.com/vimbroker/vimbroker/test/real"
)

// wire is a node's end of pod networks: what a container runtime does there.
type wire struct {
	*real.Cluster
	t     *testing.T
	tools string
	dir   string
}

// shell runs a program of the node.
func (w *wire) shell(name string, args ...string) string {
	w.t.Helper()
	out, err := exec.CommandContext(w.t.Context(), name, args...).CombinedOutput()
	if err != nil {
		w.t.Fatalf("%s %s: %v\n%s", name, strings.Join(args, " "), err, out)
	}
	return string(out)
}

// Two pods of an instance reach each other over the network of its virtual link, as Multus and the plugins make it of the
// definition that stands on the cluster: with packets of the link's MTU, and none larger.
func TestFieldPacketsOfALink(t *testing.T) {
	field.Only(t)
	if os.Geteuid() != 0 {
		t.Skip("network namespaces need root")
	}
	root, err := process.Repository()
	if err != nil {
		t.Fatal(err)
	}
	w := &wire{Cluster: real.OwnKubernetes(t), t: t, tools: filepath.Join(root, "bin", "cni"), dir: t.TempDir()}
	w.WithNode(t)
	b := sitDown(t, w.Cluster)
	a := &applied{Cluster: w.Cluster, t: t}
	a.kubectl("", "apply", "-f", "testdata/definitions/multus.yaml")
	a.kubectl("", "wait", "--for=condition=Established", "--timeout=60s", "crd/network-attachment-definitions.k8s.cni.cncf.io")
	b.onCluster(t, "create namespace lab")
	b.Must(t, "vimbroker vim register --kubeconfig ~/.kube/config --namespace lab edge1")
	const flavour, file = "Definitions/edge_df_simple.yaml", "Files/kubernetes/deployment.yaml"
	workload, _, _ := strings.Cut(keeping, "---\n")
	workload = strings.NewReplacer("replicas: 1", "replicas: 2", ", volumeMounts: [{name: d, mountPath: /d}]", "",
		"      volumes: [{name: d, persistentVolumeClaim: {claimName: db-data}}]\n", "").Replace(workload)
	b.upload(t, csar.Tacker().With(csar.Files{file: workload, flavour: strings.Replace(csar.Tacker()[flavour], "    VDU1:\n",
		"    VDU1_CP1: {type: tosca.nodes.nfv.VduCp}\n    VDU1:\n", 1)}).Zip(t))

	bridge, wide := fmt.Sprintf("vbr%d", os.Getpid()%100000), fmt.Sprintf("vbw%d", os.Getpid()%100000)
	w.shell("ip", "link", "add", wide, "mtu", "9000", "type", "veth", "peer", "name", wide+"p") // whose end is up, like a card's with a cable
	t.Cleanup(func() { _ = exec.Command("ip", "link", "del", wide).Run() })
	t.Cleanup(func() { _ = exec.Command("ip", "link", "del", bridge).Run() })
	t.Cleanup(func() { _ = os.RemoveAll("/var/lib/cni/networks/vdu1-cp1") }) // where host-local counts
	w.shell("ip", "link", "set", wide, "up")
	w.shell("ip", "link", "set", wide+"p", "up")
	for n, c := range []struct {
		nad string
		mtu int
	}{
		{`{"type": "bridge", "device": "` + bridge + `"}`, 1400},
		{`{"type": "macvlan", "device": "` + wide + `", "mode": "bridge"}`, 8000},
	} {
		link, instance := fmt.Sprintf("sgi%d", n), fmt.Sprintf("one%d", n)
		b.Must(t, fmt.Sprintf(`vimbroker link create %s --vim edge1 --spec '{"cidr": "10.9.%d.0/24", "mtu": %d, "nad": %s}'`, link, n, c.mtu, c.nad))
		b.Must(t, "vimbroker vnf create --vnfd "+csar.TackerVNFD+" "+instance)
		b.Must(t, "vimbroker vnf instantiate "+instance+" --vim edge1 --level level_2 --namespace lab --file "+file+" --link VDU1_CP1="+link+" --wait")
		w.ping(b.onCluster(t, `-n lab get pods -l app=edge-web -o jsonpath='{range .items[*]}{.metadata.name}/{.metadata.uid} {end}'`), c.nad, c.mtu)
		b.Must(t, "vimbroker vnf terminate "+instance+" --wait")
		b.Must(t, "vimbroker link delete "+link)
	}
}

// ping gives two pods their networks, each in a network namespace of its own, has one ping the other, and takes them away.
func (w *wire) ping(pods, what string, mtu int) {
	w.t.Helper()
	var spaces []string
	var at []netip.Addr
	for n, one := range strings.Fields(pods)[:2] {
		pod, uid, _ := strings.Cut(one, "/")
		netns := fmt.Sprintf("vb%d-%d", os.Getpid(), n)
		w.shell("ip", "netns", "add", netns)
		defer func() { _ = exec.Command("ip", "netns", "del", netns).Run() }()
		if out, err := real.Attach(w.Cluster, w.tools, w.dir, "ADD", netns, "lab/"+pod, uid); err != nil {
			w.t.Fatalf("ADD of %s for %s: %v\n%s", what, pod, err, out)
		}
		defer func() {
			if out, err := real.Attach(w.Cluster, w.tools, w.dir, "DEL", netns, "lab/"+pod, uid); err != nil {
				w.t.Errorf("DEL of %s for %s: %v\n%s", what, pod, err, out)
			}
		}()
		var links []struct {
			MTU   int `json:"mtu"`
			Addrs []struct {
				Family, Local string
			} `json:"addr_info"`
		}
		if text := w.shell("ip", "-n", netns, "-j", "addr", "show", "net1"); json.Unmarshal([]byte(text), &links) != nil || len(links) != 1 || links[0].MTU != mtu {
			w.t.Fatalf("the interface of %s is %s, want MTU %d", what, text, mtu)
		}
		i := slices.IndexFunc(links[0].Addrs, func(a struct{ Family, Local string }) bool { return a.Family == "inet" })
		spaces, at = append(spaces, netns), append(at, netip.MustParseAddr(links[0].Addrs[i].Local))
	}
	for from, to := range []int{1, 0} {
		if err := real.Ping4(spaces[from], at[to], mtu); err != nil {
			w.t.Errorf("over %s %s is not reached with %d bytes: %v", what, at[to], mtu, err)
		}
		if err := real.Ping4(spaces[from], at[to], mtu+1); !errors.Is(err, unix.EMSGSIZE) {
			w.t.Errorf("over %s a packet of %d bytes, one more than the MTU, is sent: %v", what, mtu+1, err)
		}
	}
}
