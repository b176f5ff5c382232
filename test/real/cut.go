package real

import (
	"errors"
	"fmt"
	"io"
	"net"
	"sync"
	"testing"
	"time"
)

// Cut is a TCP proxy on loopback whose cable can be cut in three ways. It keeps
// its address through all of them.
type Cut struct {
	addr, target string

	mu       sync.Mutex
	mode     cutMode
	changed  chan struct{}     // closed at the next change of mode
	listener net.Listener      // nil while refusing
	conns    map[net.Conn]bool // true: stranded
	closed   bool
}

type cutMode int

const (
	passing cutMode = iota
	refusing
	dropping
	blackHoled
)

// NewCut starts a proxy to target (host:port) that passes everything on, and
// stops it when the test ends.
func NewCut(t testing.TB, target string) *Cut {
	t.Helper()
	c := &Cut{addr: "127.0.0.1:0", target: target, changed: make(chan struct{}), conns: map[net.Conn]bool{}}
	if err := c.listen(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.close)
	return c
}

// Addr is where the proxy listens, as host:port.
func (c *Cut) Addr() string { return c.addr }

// Pass mends the cable. Connections that a black hole held go on.
func (c *Cut) Pass(t testing.TB) {
	t.Helper()
	c.set(passing)
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.listener == nil && !c.closed {
		if err := c.listen(); err != nil {
			t.Fatal(err)
		}
	}
}

// Refuse breaks all connections; new ones are refused, as by a host without
// that server.
func (c *Cut) Refuse() {
	c.set(refusing)
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.listener != nil {
		_ = c.listener.Close()
		c.listener = nil
	}
	c.breakAll()
}

// Drop breaks all connections; new ones are accepted and broken.
func (c *Cut) Drop() {
	c.set(dropping)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.breakAll()
}

// Strand holds the connections there are for good, and passes new ones: what
// happens when a firewall forgets the state of old connections.
func (c *Cut) Strand() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for conn := range c.conns {
		c.conns[conn] = true
	}
}

// BlackHole keeps all connections and accepts new ones, and passes nothing on:
// what a firewall that forgot about us does.
func (c *Cut) BlackHole() { c.set(blackHoled) }

func (c *Cut) set(m cutMode) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.mode = m
	close(c.changed)
	c.changed = make(chan struct{})
}

// listen starts accepting; the caller holds c.mu or is alone.
func (c *Cut) listen() error {
	l, err := net.Listen("tcp", c.addr)
	if err != nil {
		return fmt.Errorf("starting proxy to %s: %w", c.target, err)
	}
	c.addr, c.listener = l.Addr().String(), l
	go func() {
		for {
			conn, err := l.Accept()
			if errors.Is(err, net.ErrClosed) {
				return
			}
			if err == nil {
				go c.serve(conn)
			}
		}
	}()
	return nil
}

func (c *Cut) serve(near net.Conn) {
	if !c.adopt(near) {
		return
	}
	defer c.drop(near)
	if !c.gate(near) {
		return
	}
	far, err := net.DialTimeout("tcp", c.target, 10*time.Second)
	if err != nil || !c.adopt(far) {
		return
	}
	defer c.drop(far)
	done := make(chan struct{}, 2)
	for _, way := range [][2]net.Conn{{near, far}, {far, near}} {
		go func() {
			c.pass(way[1], way[0], near)
			done <- struct{}{}
		}()
	}
	<-done
}

// pass copies one way, holding what it has read while near is not to be passed on.
func (c *Cut) pass(to io.Writer, from io.Reader, near net.Conn) {
	buf := make([]byte, 32<<10)
	for {
		n, err := from.Read(buf)
		if n > 0 {
			if !c.gate(near) {
				return
			}
			if _, err := to.Write(buf[:n]); err != nil {
				return
			}
		}
		if err != nil {
			return
		}
	}
}

// gate waits while there is a black hole or near is stranded, and reports
// whether to go on.
func (c *Cut) gate(near net.Conn) bool {
	for {
		c.mu.Lock()
		mode, changed, closed, stranded := c.mode, c.changed, c.closed, c.conns[near]
		c.mu.Unlock()
		switch {
		case closed || mode == refusing || mode == dropping:
			return false
		case mode == passing && !stranded:
			return true
		}
		<-changed
	}
}

// adopt remembers a connection, or breaks it where connections are not wanted.
func (c *Cut) adopt(conn net.Conn) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed || c.mode == refusing || c.mode == dropping {
		reset(conn)
		return false
	}
	c.conns[conn] = false
	return true
}

func (c *Cut) drop(conn net.Conn) {
	_ = conn.Close()
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.conns, conn)
}

func (c *Cut) breakAll() {
	for conn := range c.conns {
		reset(conn)
	}
}

func (c *Cut) close() {
	c.set(refusing)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.closed = true
	if c.listener != nil {
		_ = c.listener.Close()
		c.listener = nil
	}
	c.breakAll()
}

// reset closes a connection so that the other side sees it broken, not ended.
func reset(conn net.Conn) {
	if tcp, ok := conn.(*net.TCPConn); ok {
		_ = tcp.SetLinger(0)
	}
	_ = conn.Close()
}
