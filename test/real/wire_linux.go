package real

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"net"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
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

// within does something in a network namespace.
func within(netns string, do func() error) error {
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
			return do()
		}()
	}()
	return <-done
}

// Ping4 sends an echo request of a size in bytes, IP header and all, that is not to be broken up, from a network namespace, and
// waits for the answer.
func Ping4(netns string, to netip.Addr, size int) error {
	return within(netns, func() error {
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
	})
}

// Owners are the MAC addresses of those who answer, from beyond an interface of a network namespace, that an IPv4 address is theirs.
// It asks as one who is about to take the address (RFC 5227), and listens until half a second has passed without an answer.
func Owners(netns, device string, of netip.Addr) (macs []string, err error) {
	err = within(netns, func() error {
		link, err := net.InterfaceByName(device)
		if err != nil {
			return err
		}
		const arp = unix.ETH_P_ARP&0xff<<8 | unix.ETH_P_ARP>>8 // in the network's order
		s, err := unix.Socket(unix.AF_PACKET, unix.SOCK_RAW|unix.SOCK_CLOEXEC, arp)
		if err != nil {
			return err
		}
		defer func() { _ = unix.Close(s) }()
		at := &unix.SockaddrLinklayer{Protocol: arp, Ifindex: link.Index}
		probe := slices.Concat(bytes.Repeat([]byte{0xff}, 6), link.HardwareAddr, []byte{8, 6, 0, 1, 8, 0, 6, 4, 0, 1}, link.HardwareAddr,
			make([]byte, 10), of.AsSlice())
		if err := errors.Join(
			unix.Bind(s, at), unix.SetsockoptTimeval(s, unix.SOL_SOCKET, unix.SO_RCVTIMEO, &unix.Timeval{Usec: 500_000}), unix.Sendto(s, probe, 0, at),
		); err != nil {
			return err
		}
		for answer := make([]byte, 128); ; {
			n, _, err := unix.Recvfrom(s, answer, 0)
			if errors.Is(err, unix.EAGAIN) {
				return nil
			}
			if err != nil {
				return err
			}
			mac := net.HardwareAddr(answer[22:28]).String()
			if n >= 42 && answer[21] == 2 && bytes.Equal(answer[28:32], of.AsSlice()) && !slices.Contains(macs, mac) {
				macs = append(macs, mac)
			}
		}
	})
	return macs, err
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
