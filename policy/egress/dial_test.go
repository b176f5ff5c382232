package egress_test

import (
	"context"
	"errors"
	"net/netip"
	"testing"

	"github.com/vimbroker/vimbroker/policy/egress"
)

func loopback() *egress.Rules {
	rules := egress.Default()
	rules.AllowLoopback = true
	return rules
}

func TestDialContextDialsTCPOnly(t *testing.T) {
	for _, network := range []string{"udp", "unix", "ip4:icmp", "", "tcp5"} {
		conn, err := loopback().DialContext(t.Context(), network, "127.0.0.1:8080")
		if !errors.Is(err, egress.ErrRefused) {
			t.Errorf("DialContext(%q) = %v, %v, want ErrRefused", network, conn, err)
		}
	}
}

func TestDialContextHonoursItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if conn, err := loopback().DialContext(ctx, "tcp", "127.0.0.1:8080"); !errors.Is(err, context.Canceled) {
		t.Errorf("DialContext = %v, %v, want context.Canceled", conn, err)
	}
}

// A name is checked by what it resolves to at the time of connecting, whatever a
// check at registration saw. localhost is the one name every machine resolves.
func TestNamesAreCheckedAfterResolution(t *testing.T) {
	var refused *egress.RefusedError
	conn, err := egress.Default().DialContext(t.Context(), "tcp", "localhost:8080")
	if !errors.As(err, &refused) {
		t.Fatalf("DialContext(localhost) = %v, %v, want a RefusedError", conn, err)
	}
	if !refused.Addr.Addr().IsLoopback() || refused.Addr.Port() != 8080 {
		t.Errorf("the refusal names %s, want the address that localhost resolved to", refused.Addr)
	}
	if refused.Addr == (netip.AddrPort{}) {
		t.Error("the refusal names no address")
	}
}
