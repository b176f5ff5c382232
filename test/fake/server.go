// Package fake is what every fake at the network is made of: a server with a
// certificate of its own, a log of what it was asked, and a script of faults. A
// fake embeds [Server] and adds only what its system does.
package fake

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/vimbroker/vimbroker/test/real/pki"
)

// maxLog is how many requests are remembered.
const maxLog = 10_000

// Server is a server of a fake. Its methods are safe for concurrent use.
type Server struct {
	Script
	// Addr is where to listen; empty means a free port on loopback. Plain serves http.
	// HTTP2 is offered beside HTTP/1.1. All three count at the start.
	Addr         string
	Plain, HTTP2 bool
	// URL is the server's, CA the PEM bundle that it is known by, Authority what signed it.
	URL, CA   string
	Authority *pki.CA

	handle http.HandlerFunc
	http   *httptest.Server
	hole   Script // what BlackHole arms

	mu       sync.Mutex
	requests []Request
	serving  *tls.Config
}

// Request is one that the server was asked, without its body.
type Request struct {
	Method string      `json:"method"`
	Path   string      `json:"path"`
	Query  string      `json:"query,omitempty"`
	Header http.Header `json:"-"`
	// From is the other end of the connection that it came over.
	From string `json:"-"`
	// Credential says which kind came along: "certificate", the scheme of the
	// Authorization header in lower case ("bearer", "basic"), or "".
	Credential string `json:"credential"`
}

// New starts a server that answers by handle, and stops it when the test ends.
func New(t testing.TB, handle http.HandlerFunc) *Server {
	t.Helper()
	s := &Server{}
	if err := s.Start(handle); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s
}

// NewPlain is New without TLS.
func NewPlain(t testing.TB, handle http.HandlerFunc) *Server {
	t.Helper()
	s := &Server{Plain: true}
	if err := s.Start(handle); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s
}

// Start starts the server, which answers by handle. The caller closes it.
func (s *Server) Start(handle http.HandlerFunc) error {
	s.handle = handle
	s.http = httptest.NewUnstartedServer(s)
	s.http.Config.ErrorLog = log.New(io.Discard, "", 0)
	if err := s.listen(); err != nil {
		if s.http.Listener != nil {
			_ = s.http.Listener.Close()
		}
		return fmt.Errorf("starting a fake: %w", err)
	}
	s.URL = s.http.URL
	return nil
}

func (s *Server) listen() (err error) {
	if s.Addr != "" {
		_ = s.http.Listener.Close()
		if s.http.Listener, err = (&net.ListenConfig{}).Listen(context.Background(), "tcp", s.Addr); err != nil {
			return err
		}
	}
	if s.Plain {
		s.http.Start()
		return nil
	}
	if s.Authority, err = pki.NewCA("fake CA"); err != nil {
		return err
	}
	if err := s.show(s.Authority); err != nil {
		return err
	}
	s.CA, s.http.TLS, s.http.EnableHTTP2 = string(s.Authority.PEM), s.serving.Clone(), s.HTTP2
	s.http.TLS.GetConfigForClient = func(*tls.ClientHelloInfo) (*tls.Config, error) {
		s.mu.Lock()
		defer s.mu.Unlock()
		return s.serving, nil
	}
	s.http.StartTLS()
	return nil
}

// ServeHTTP answers a request as if it had come over the server's own connection.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.record(r)
	s.hole.Serve(w, r, func(w http.ResponseWriter, r *http.Request) { s.Serve(w, r, s.handle) })
}

func (s *Server) record(r *http.Request) {
	scheme, _, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	asked := Request{Method: r.Method, Path: r.URL.Path, Query: r.URL.RawQuery, Header: r.Header.Clone(), From: r.RemoteAddr, Credential: strings.ToLower(scheme)}
	if r.TLS != nil && len(r.TLS.PeerCertificates) > 0 {
		asked.Credential = "certificate"
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.requests) == maxLog {
		s.requests = s.requests[1:]
	}
	s.requests = append(s.requests, asked)
}

// show makes the server show a certificate of that authority from now on.
func (s *Server) show(ca *pki.CA) error {
	pair, err := ca.Server("127.0.0.1", "localhost", "::1")
	if err != nil {
		return err
	}
	certificate, err := pair.TLS()
	if err != nil {
		return err
	}
	config := &tls.Config{
		Certificates: []tls.Certificate{certificate}, MinVersion: tls.VersionTLS12,
		ClientAuth: tls.RequestClientCert, NextProtos: []string{"http/1.1"},
	}
	if s.HTTP2 {
		config.NextProtos = []string{"h2", "http/1.1"}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.serving = config
	return nil
}

// WrongCertificate makes the server show a certificate of another CA, or its
// own again, and breaks the connections there are.
func (s *Server) WrongCertificate(on bool) error {
	ca := s.Authority
	if on {
		var err error
		if ca, err = pki.NewCA("another CA"); err != nil {
			return err
		}
	}
	if err := s.show(ca); err != nil {
		return err
	}
	s.http.CloseClientConnections()
	return nil
}

// ReplaceCA gives the server a new authority for good, and breaks the connections there are.
func (s *Server) ReplaceCA() error {
	ca, err := pki.NewCA("the next CA")
	if err != nil {
		return err
	}
	s.Authority, s.CA = ca, string(ca.PEM)
	return s.WrongCertificate(false)
}

// BlackHole lets requests in and answers none while it is on. Those that wait
// when it ends are broken off.
func (s *Server) BlackHole(on bool) {
	s.hole.Heal()
	if on {
		s.hole.Fail(Fault{Kind: Hang, Times: -1})
	}
}

// Close stops the server and breaks its connections. It may be called twice.
func (s *Server) Close() {
	s.Heal()
	s.hole.Heal()
	s.http.CloseClientConnections()
	s.http.Close()
}

// Requests returns what was asked since the start or the last call, oldest first;
// of more than 10 000, the newest.
func (s *Server) Requests() []Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	asked := s.requests
	s.requests = nil
	return asked
}

// Count counts the requests with this method to this path since the start or the
// last call of Requests.
func (s *Server) Count(method, path string) (n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, r := range s.requests {
		if r.Method == method && r.Path == path {
			n++
		}
	}
	return n
}

// Say answers with a body as JSON; nil answers without a body.
func Say(w http.ResponseWriter, status int, body any) {
	if body == nil {
		w.WriteHeader(status)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(body)
}
