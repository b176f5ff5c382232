package real

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"

	"golang.org/x/sys/unix"
)

// Attach calls Multus for a pod (NAMESPACE/NAME) as a container runtime does, with ADD as its network is made or DEL as it goes.
// The plugins are in tools; dir is Multus' own.
func Attach(c *Cluster, tools, dir, command, netns, pod, uid string) (string, error) {
	config, err := json.Marshal(map[string]any{
		"cniVersion": "0.3.1", "name": "multus", "type": "multus", "kubeconfig": c.Kubeconfig, "confDir": dir, "cniDir": dir, "binDir": tools,
		"namespaceIsolation": true, "delegates": []map[string]any{{"cniVersion": "0.3.1", "name": "lo", "type": "loopback"}},
	})
	if err != nil {
		return "", err
	}
	namespace, name, _ := strings.Cut(pod, "/")
	multus := exec.Command(filepath.Join(tools, "multus")) // in a Cleanup too
	multus.Stdin = bytes.NewReader(config)
	multus.Env = []string{
		"PATH=" + os.Getenv("PATH"), "CNI_COMMAND=" + command, "CNI_CONTAINERID=" + netns, "CNI_NETNS=/var/run/netns/" + netns, "CNI_IFNAME=eth0",
		"CNI_PATH=" + tools, "CNI_ARGS=IgnoreUnknown=1;K8S_POD_NAMESPACE=" + namespace + ";K8S_POD_NAME=" + name +
			";K8S_POD_INFRA_CONTAINER_ID=" + netns + ";K8S_POD_UID=" + uid,
	}
	out, err := multus.CombinedOutput()
	return string(out), err
}

// Ping4 sends an echo request of a size in bytes, IP header and all, that is not to be broken up, from a network namespace, and
// waits for the answer.
func Ping4(netns string, to netip.Addr, size int) error {
	done := make(chan error, 1)
	go func() {
		runtime.LockOSThread() // for good: the thread ends with the goroutine
		done <- func() error {
			space, err := os.Open("/var/run/netns/" + netns)
			if err != nil {
				return err
			}
			defer func() { _ = space.Close() }()
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
