// Package fake is what every fake at the network is made of: a server with a
// certificate of its own, a log of what it was asked, and a script of faults. A
// fake embeds [Server] and adds only what its system does.
package fake

import (
	"crypto/tls"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync"
	"testing"

	"github.com/vimbroker/vimbroker/test/real/pki"
)

// Server is a server of a fake. Its methods are safe for concurrent use.
type Server struct {
	Script
	// URL is the server's, CA the PEM bundle that it is known by.
	URL, CA string

	http *httptest.Server

	mu       sync.Mutex
	requests []Request
}

// Request is one that the server was asked, without its body.
type Request struct {
	Method, Path, Query string
	Header              http.Header
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

// Start starts the server, which answers by handle. The caller closes it.
func (s *Server) Start(handle http.HandlerFunc) error {
	ca, err := pki.NewCA("fake CA")
	if err != nil {
		return fmt.Errorf("starting a fake: %w", err)
	}
	pair, err := ca.Server("127.0.0.1", "localhost", "::1")
	if err != nil {
		return fmt.Errorf("starting a fake: %w", err)
	}
	certificate, err := pair.TLS()
	if err != nil {
		return fmt.Errorf("starting a fake: %w", err)
	}
	s.prepare(handle)
	s.http.TLS = &tls.Config{Certificates: []tls.Certificate{certificate}, MinVersion: tls.VersionTLS12}
	s.http.StartTLS()
	s.URL, s.CA = s.http.URL, string(ca.PEM)
	return nil
}

// StartPlain is Start without TLS.
func (s *Server) StartPlain(handle http.HandlerFunc) {
	s.prepare(handle)
	s.http.Start()
	s.URL = s.http.URL
}

func (s *Server) prepare(handle http.HandlerFunc) {
	s.http = httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.mu.Lock()
		s.requests = append(s.requests, Request{Method: r.Method, Path: r.URL.Path, Query: r.URL.RawQuery, Header: r.Header.Clone()})
		s.mu.Unlock()
		s.Serve(w, r, handle)
	}))
	s.http.Config.ErrorLog = log.New(io.Discard, "", 0)
}

// Close stops the server and breaks its connections. It may be called twice.
func (s *Server) Close() {
	s.Heal()
	s.http.CloseClientConnections()
	s.http.Close()
}

// Requests returns what was asked so far, oldest first.
func (s *Server) Requests() []Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.requests)
}

// Count counts the requests with this method to this path.
func (s *Server) Count(method, path string) (n int) {
	for _, r := range s.Requests() {
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
