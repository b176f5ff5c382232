package process

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"testing"
)

// FreePorts finds ports on loopback that are free now. They are not of the range from which the
// kernel gives ports to connections and to listeners on port 0 (32768 and above on Linux): such a
// one is taken by somebody else before the program that it is for listens.
func FreePorts(n int) ([]int, error) {
	const first, last, tries = 10000, 32000, 100
	var ports []int
	var err error
	for range n + tries {
		var l net.Listener
		if l, err = net.Listen("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(first+rand.IntN(last-first)))); err != nil {
			continue
		}
		defer l.Close()
		if ports = append(ports, l.Addr().(*net.TCPAddr).Port); len(ports) == n {
			return ports, nil
		}
	}
	return nil, fmt.Errorf("finding a free port: %w", err)
}

// FreeAddress is an address on loopback that was free a moment ago.
func FreeAddress(t testing.TB) string {
	t.Helper()
	ports, err := FreePorts(1)
	if err != nil {
		t.Fatal(err)
	}
	return "127.0.0.1:" + strconv.Itoa(ports[0])
}

// OnFreePorts starts a system with begin, which gets ports and an empty directory
// below dir. A port that was free may be taken a moment later, so it tries three times.
func OnFreePorts(ctx context.Context, n int, dir string, begin func(home string, ports []int) error) error {
	for attempt := 1; ; attempt++ {
		home := filepath.Join(dir, strconv.Itoa(attempt))
		if err := os.Mkdir(home, 0o700); err != nil {
			return fmt.Errorf("making a directory: %w", err)
		}
		ports, err := FreePorts(n)
		if err == nil {
			err = begin(home, ports)
		}
		if err == nil || attempt == 3 || ctx.Err() != nil {
			return err
		}
	}
}
