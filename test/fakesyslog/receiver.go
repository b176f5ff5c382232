// Package fakesyslog is a syslog receiver over TLS or plain TCP that can be told to fail.
// It reads what RFC 5424, 5425 and 6587 say that it is sent, and nothing else.
package fakesyslog

import (
	"bufio"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	syslog "github.com/leodido/go-syslog/v4"
	"github.com/leodido/go-syslog/v4/rfc5424"

	"github.com/vimbroker/vimbroker/test/real/pki"
)

// Receiver is a syslog receiver. Its methods are safe for concurrent use.
type Receiver struct {
	// Addr is host:port, CA the PEM bundle that it is known by; empty for plain TCP.
	Addr, CA string

	listener net.Listener
	wg       sync.WaitGroup

	mu      sync.Mutex
	closed  bool
	hanging chan struct{} // not nil: connections are taken and not read
	lying   bool
	conns   map[net.Conn]bool
	got     []rfc5424.SyslogMessage
	faults  []error
	arrived chan struct{} // receives after each message
}

// New starts a receiver with TLS, and stops it when the test ends.
func New(t testing.TB) *Receiver {
	t.Helper()
	ca, err := pki.NewCA("fake syslog CA")
	if err != nil {
		t.Fatal(err)
	}
	pair, err := ca.Server("127.0.0.1", "localhost")
	if err != nil {
		t.Fatal(err)
	}
	cert, err := pair.TLS()
	if err != nil {
		t.Fatal(err)
	}
	r := start(t, func(l net.Listener) net.Listener {
		return tls.NewListener(l, &tls.Config{Certificates: []tls.Certificate{cert}, MinVersion: tls.VersionTLS12})
	})
	r.CA = string(ca.PEM)
	return r
}

// NewPlain starts a receiver without TLS, and stops it when the test ends.
func NewPlain(t testing.TB) *Receiver {
	t.Helper()
	return start(t, func(l net.Listener) net.Listener { return l })
}

func start(t testing.TB, wrap func(net.Listener) net.Listener) *Receiver {
	t.Helper()
	l, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	r := &Receiver{Addr: l.Addr().String(), listener: wrap(l), conns: map[net.Conn]bool{}, arrived: make(chan struct{}, 1<<16)}
	r.wg.Go(r.accept)
	t.Cleanup(r.close)
	return r
}

func (r *Receiver) accept() {
	for {
		conn, err := r.listener.Accept()
		if err != nil {
			return
		}
		r.mu.Lock()
		if r.closed {
			r.mu.Unlock()
			_ = conn.Close()
			return
		}
		r.conns[conn] = true
		hanging := r.hanging
		r.mu.Unlock()
		r.wg.Go(func() {
			if hanging != nil {
				if secured, ok := conn.(*tls.Conn); ok {
					_ = secured.Handshake()
				}
				<-hanging
			}
			r.read(conn)
		})
	}
}

// read takes messages, each after its length as RFC 6587 counts octets. What ends with its connection is no fault.
func (r *Receiver) read(conn net.Conn) {
	defer r.forget(conn)
	from, parser := bufio.NewReader(conn), rfc5424.NewParser()
	for {
		length, err := from.ReadString(' ')
		if err != nil {
			return
		}
		var text []byte
		var message syslog.Message
		n, err := strconv.ParseUint(strings.TrimSuffix(length, " "), 10, 20)
		if err == nil {
			text = make([]byte, n)
			if _, err := io.ReadFull(from, text); err != nil {
				return
			}
			message, err = parser.Parse(text)
		}
		r.mu.Lock()
		if err != nil {
			r.faults = append(r.faults, fmt.Errorf("%q: %w", length+string(text), err))
		} else if !r.lying {
			r.got = append(r.got, *message.(*rfc5424.SyslogMessage))
			r.arrived <- struct{}{}
		}
		r.mu.Unlock()
		if err != nil {
			return // where the next one begins is unknown
		}
	}
}

func (r *Receiver) forget(conn net.Conn) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.conns, conn)
	_ = conn.Close()
}

// Hang makes it take new connections and read nothing from them, until Heal.
func (r *Receiver) Hang() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.hanging = make(chan struct{})
}

// Lie makes it read messages and forget them, until Heal.
func (r *Receiver) Lie() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.lying = true
}

// Heal ends what Hang and Lie began.
func (r *Receiver) Heal() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.lying = false
	if r.hanging != nil {
		close(r.hanging)
		r.hanging = nil
	}
}

// Drop closes every connection.
func (r *Receiver) Drop() {
	r.mu.Lock()
	defer r.mu.Unlock()
	for conn := range r.conns {
		_ = conn.Close()
	}
}

// Await returns the first n messages once they are there.
func (r *Receiver) Await(t testing.TB, n int) []rfc5424.SyslogMessage {
	t.Helper()
	late := time.After(20 * time.Second)
	for {
		if got := r.Messages(t); len(got) >= n {
			return got[:n]
		}
		select {
		case <-r.arrived:
		case <-late:
			t.Fatalf("%d messages of %d came in time", len(r.Messages(t)), n)
		}
	}
}

// Messages returns what came. What was no message of syslog fails the test.
func (r *Receiver) Messages(t testing.TB) []rfc5424.SyslogMessage {
	t.Helper()
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, err := range r.faults {
		t.Errorf("the receiver was sent what is no message: %v", err)
	}
	r.faults = nil
	return append([]rfc5424.SyslogMessage(nil), r.got...)
}

func (r *Receiver) close() {
	r.Heal()
	r.mu.Lock()
	r.closed = true
	r.mu.Unlock()
	_ = r.listener.Close()
	r.Drop()
	r.wg.Wait()
}
