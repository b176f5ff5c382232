package egress_test

import (
	"context"
	"errors"
	"io"
	"net"
	"net/netip"
	"sync"
	"testing"
	"time"

	"golang.org/x/net/dns/dnsmessage"

	"github.com/vimbroker/vimbroker/policy/egress"
)

// rebinder is a DNS server that answers each look-up of a name with the next of its
// addresses, and then always with the last.
type rebinder struct {
	mu        sync.Mutex
	addresses []netip.Addr
	lookups   int
}

func (d *rebinder) next() netip.Addr {
	d.mu.Lock()
	defer d.mu.Unlock()
	at := d.addresses[min(d.lookups, len(d.addresses)-1)]
	d.lookups++
	return at
}

// serve answers one packet.
func (d *rebinder) answer(packet []byte) ([]byte, error) {
	var query dnsmessage.Message
	if err := query.Unpack(packet); err != nil {
		return nil, err
	}
	answer := dnsmessage.Message{Header: dnsmessage.Header{ID: query.ID, Response: true, Authoritative: true}, Questions: query.Questions}
	if q := query.Questions[0]; q.Type == dnsmessage.TypeA {
		answer.Answers = []dnsmessage.Resource{{
			Header: dnsmessage.ResourceHeader{Name: q.Name, Type: q.Type, Class: q.Class},
			Body:   &dnsmessage.AResource{A: d.next().As4()},
		}}
	}
	return answer.Pack()
}

// resolve makes the process ask this server for every name, for one test.
func (d *rebinder) resolve(t *testing.T) {
	t.Helper()
	socket, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var served sync.WaitGroup
	served.Go(func() {
		packet := make([]byte, 1500)
		for {
			n, from, err := socket.ReadFrom(packet)
			if err != nil {
				return
			}
			if answer, err := d.answer(packet[:n]); err == nil {
				_, _ = socket.WriteTo(answer, from)
			}
		}
	})
	before := net.DefaultResolver
	net.DefaultResolver = &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
		var dialer net.Dialer
		return dialer.DialContext(ctx, "udp", socket.LocalAddr().String())
	}}
	t.Cleanup(func() {
		net.DefaultResolver = before
		_ = socket.Close()
		served.Wait()
	})
}

// Whoever owns a name can change what it resolves to between a look and a
// connection. What is connected to is what was checked.
func TestANameThatChangesBetweenTwoLookupsLeadsNowhere(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	reached := make(chan struct{}, 10)
	var accepting sync.WaitGroup
	accepting.Go(func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			reached <- struct{}{}
			_ = conn.Close()
		}
	})
	_, port, err := net.SplitHostPort(listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	// Nothing is there: it is allowed, and the attempt to connect ends soon.
	allowed := netip.MustParseAddr("10.255.255.1")
	rules := egress.Default()
	rules.Networks = []netip.Prefix{netip.PrefixFrom(allowed, 32)}
	rules.Ports = []egress.PortRange{{First: 1, Last: 65535}}
	names := &rebinder{addresses: []netip.Addr{allowed, netip.MustParseAddr("127.0.0.1")}}
	names.resolve(t)

	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	if conn, err := rules.DialContext(ctx, "tcp", "rebind.example.:"+port); err == nil {
		_, _ = io.Copy(io.Discard, conn)
		t.Error("a name that was checked as one address was connected to at another")
	}
	if names.lookups != 1 {
		t.Errorf("the name was looked up %d times for one connection, want once", names.lookups)
	}
	conn, err := rules.DialContext(t.Context(), "tcp", "rebind.example.:"+port)
	if !errors.Is(err, egress.ErrRefused) {
		t.Errorf("the name that has become loopback since: DialContext() = %v, %v, want ErrRefused", conn, err)
	}
	_ = listener.Close()
	accepting.Wait()
	if n := len(reached); n != 0 {
		t.Errorf("%d connections reached a server on loopback, want none", n)
	}
}
