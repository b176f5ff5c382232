package real_test

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
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

// runtime calls Multus for a pod as a container runtime does, with ADD as its network is made or DEL as it goes.
func (w *wire) runtime(command, netns, namespace, pod, uid string) (string, error) {
	config, err := json.Marshal(map[string]any{
		"cniVersion": "0.3.1", "name": "multus", "type": "multus", "kubeconfig": w.Kubeconfig, "confDir": w.dir, "cniDir": w.dir, "binDir": w.tools,
		"namespaceIsolation": true, "delegates": []map[string]any{{"cniVersion": "0.3.1", "name": "lo", "type": "loopback"}},
	})
	if err != nil {
		return "", err
	}
	c := exec.Command(filepath.Join(w.tools, "multus")) // in a Cleanup too
	c.Stdin = bytes.NewReader(config)
	c.Env = []string{
		"PATH=" + os.Getenv("PATH"), "CNI_COMMAND=" + command, "CNI_CONTAINERID=" + netns, "CNI_NETNS=/var/run/netns/" + netns, "CNI_IFNAME=eth0",
		"CNI_PATH=" + w.tools, "CNI_ARGS=IgnoreUnknown=1;K8S_POD_NAMESPACE=" + namespace + ";K8S_POD_NAME=" + pod + ";K8S_POD_INFRA_CONTAINER_ID=" + netns + ";K8S_POD_UID=" + uid,
	}
	out, err := c.CombinedOutput()
	return string(out), err
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
		if out, err := w.runtime("ADD", netns, "lab", pod, uid); err != nil {
			w.t.Fatalf("ADD of %s for %s: %v\n%s", what, pod, err, out)
		}
		defer func() {
			if out, err := w.runtime("DEL", netns, "lab", pod, uid); err != nil {
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
		if err := ping4(spaces[from], at[to], mtu); err != nil {
			w.t.Errorf("over %s %s is not reached with %d bytes: %v", what, at[to], mtu, err)
		}
		if err := ping4(spaces[from], at[to], mtu+1); !errors.Is(err, unix.EMSGSIZE) {
			w.t.Errorf("over %s a packet of %d bytes, one more than the MTU, is sent: %v", what, mtu+1, err)
		}
	}
}

// ping4 sends an echo request of a size in bytes, IP header and all, that is not to be broken up, from a network namespace, and
// waits for the answer.
func ping4(netns string, to netip.Addr, size int) error {
	done := make(chan error, 1)
	go func() {
		runtime.LockOSThread() // for good: the thread ends with the goroutine
		done <- func() error {
			space, err := os.Open("/var/run/netns/" + netns)
			if err != nil {
				return err
			}
			defer space.Close()
			if err := unix.Setns(int(space.Fd()), unix.CLONE_NEWNET); err != nil {
				return err
			}
			s, err := unix.Socket(unix.AF_INET, unix.SOCK_RAW|unix.SOCK_CLOEXEC, unix.IPPROTO_ICMP)
			if err != nil {
				return err
			}
			defer func() { _ = unix.Close(s) }()
			packet := make([]byte, size-20)
			packet[0] = 8 // echo request
			binary.BigEndian.PutUint16(packet[4:], 0x5642)
			binary.BigEndian.PutUint16(packet[2:], checksum(packet))
			if err := errors.Join(
				unix.SetsockoptInt(s, unix.IPPROTO_IP, unix.IP_MTU_DISCOVER, unix.IP_PMTUDISC_DO),
				unix.SetsockoptTimeval(s, unix.SOL_SOCKET, unix.SO_RCVTIMEO, &unix.Timeval{Sec: 5}),
				unix.Sendto(s, packet, 0, &unix.SockaddrInet4{Addr: to.As4()}),
			); err != nil {
				return err
			}
			for answer := make([]byte, size+64); ; {
				n, _, err := unix.Recvfrom(s, answer, 0)
				if err != nil || n == size && answer[20] == 0 && bytes.Equal(answer[24:28], packet[4:8]) {
					return err
				}
			}
		}()
	}()
	return <-done
}

// checksum is the Internet's.
func checksum(of []byte) uint16 {
	var sum uint32
	for n := 0; n+1 < len(of); n += 2 {
		sum += uint32(binary.BigEndian.Uint16(of[n:]))
	}
	if len(of)%2 == 1 {
		sum += uint32(of[len(of)-1]) << 8
	}
	for sum > 0xffff {
		sum = sum>>16 + sum&0xffff
	}
	return ^uint16(sum)
}
