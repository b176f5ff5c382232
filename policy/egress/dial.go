package egress

import (
	"context"
	"crypto/tls"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"syscall"
	"time"
)

// How long and how much a connection may take before it is given up. Deadlines
// of whole calls come from their contexts.
const (
	dialTimeout           = 10 * time.Second
	tlsHandshakeTimeout   = 10 * time.Second
	responseHeaderTimeout = 30 * time.Second
	idleConnTimeout       = 60 * time.Second
	http2PingAfter        = 30 * time.Second
	http2PingTimeout      = 15 * time.Second
	maxResponseHeader     = 64 << 10
	maxIdleConns          = 64
	maxIdleConnsPerHost   = 16
)

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

// Transport returns a new transport for a driver. It connects under these rules
// only, never through a proxy of the environment; connecting, handshakes, response
// headers and idle connections are bounded, response headers to 64 KiB; HTTP/2 is
// on, with pings to find dead connections. A nil tlsConfig means the defaults; it
// is cloned, and made to want at least TLS 1.2.
//
// A transport does not bound response bodies: wrap them in an io.LimitReader.
// Nor does it know of redirects, which clients follow unless told otherwise: use
// [Rules.Client], or set [RefuseRedirect] on the client.
func (r *Rules) Transport(tlsConfig *tls.Config) *http.Transport {
	if tlsConfig == nil {
		tlsConfig = new(tls.Config)
	} else {
		tlsConfig = tlsConfig.Clone()
	}
	tlsConfig.MinVersion = max(tlsConfig.MinVersion, tls.VersionTLS12)
	return &http.Transport{
		Proxy:                  nil, // a proxy would connect where the rules do not see it
		DialContext:            r.DialContext,
		TLSClientConfig:        tlsConfig,
		TLSHandshakeTimeout:    tlsHandshakeTimeout,
		ResponseHeaderTimeout:  responseHeaderTimeout,
		MaxResponseHeaderBytes: maxResponseHeader,
		MaxIdleConns:           maxIdleConns,
		MaxIdleConnsPerHost:    maxIdleConnsPerHost,
		IdleConnTimeout:        idleConnTimeout,
		ForceAttemptHTTP2:      true, // a dialer of our own would switch it off
		HTTP2: &http.HTTP2Config{
			SendPingTimeout: http2PingAfter,
			PingTimeout:     http2PingTimeout,
		},
	}
}

// Client returns a new client over [Rules.Transport] that does not follow
// redirects. Timeout bounds each call, reading the body included; 0 leaves that
// to the contexts.
func (r *Rules) Client(tlsConfig *tls.Config, timeout time.Duration) *http.Client {
	return &http.Client{
		Transport:     r.Transport(tlsConfig),
		CheckRedirect: RefuseRedirect,
		Timeout:       timeout,
	}
}

// RefuseRedirect is an http.Client's CheckRedirect that follows none: the caller
// gets the 3xx answer itself. A redirect would send the credential to a place that
// the remote side chose. It errs with http.ErrUseLastResponse and not with an error
// of its own, because the client would add the remote side's URL to that.
func RefuseRedirect(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
