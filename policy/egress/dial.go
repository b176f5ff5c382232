package egress

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"syscall"
	"time"
)

// dialTimeout bounds one attempt to connect.
const dialTimeout = 10 * time.Second

// DialContext connects to addr, a host and a port, over TCP. Rules are checked
// on each address that the host resolves to, right before the attempt to connect
// to it. If that leaves none, the error wraps a [*RefusedError]. A network other
// than tcp, tcp4 and tcp6 is an error.
func (r *Rules) DialContext(ctx context.Context, network, addr string) (net.Conn, error) {
	switch network {
	case "tcp", "tcp4", "tcp6":
	default:
		return nil, fmt.Errorf("connecting over %q: %w: only TCP is allowed", network, ErrRefused)
	}
	dialer := net.Dialer{
		Timeout: dialTimeout,
		ControlContext: func(_ context.Context, _, resolved string, _ syscall.RawConn) error {
			addr, err := netip.ParseAddrPort(resolved)
			if err != nil {
				return fmt.Errorf("%w: reading the resolved address: %w", ErrRefused, err)
			}
			return r.Check(addr)
		},
	}
	return dialer.DialContext(ctx, network, addr)
}
