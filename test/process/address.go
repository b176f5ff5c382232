package process

import (
	"context"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"testing"
)

// FreePorts finds ports on loopback that are free now.
func FreePorts(n int) ([]int, error) {
	ports := make([]int, n)
	for i := range ports {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return nil, fmt.Errorf("finding a free port: %w", err)
		}
		defer l.Close()
		ports[i] = l.Addr().(*net.TCPAddr).Port
	}
	return ports, nil
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
