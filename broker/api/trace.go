package api

import (
	"context"
	"fmt"
	"net/http"
	"net/netip"
	"regexp"
	"runtime"
	"sync"

	"github.com/google/uuid"

	"github.com/vimbroker/vimbroker/policy"
)

// trace holds the facts of a request for the log and the metrics.
type trace struct {
	id        string
	route     string // name of the operation; empty until one is found
	principal policy.Principal
	door      *Door
	quiet     bool // logged at debug level only
}

type traceKey struct{}

// traceOf returns the trace that every request's context holds.
func traceOf(ctx context.Context) *trace {
	return ctx.Value(traceKey{}).(*trace)
}

// wellFormed matches the request ids that a caller may choose. Such an id goes unchanged
// into the log and the audit log.
var wellFormed = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$`) })

// requestID returns the caller's id if it is well formed, otherwise a new one.
func requestID(r *http.Request) string {
	if id := r.Header.Get("X-Request-Id"); wellFormed().MatchString(id) {
		return id
	}
	return uuid.NewString()
}

// source is the address that a request came from, for the audit log; empty if it has none.
func source(r *http.Request) string {
	from, err := netip.ParseAddrPort(r.RemoteAddr)
	if err != nil {
		return ""
	}
	return from.Addr().Unmap().String()
}

type recorder struct {
	http.ResponseWriter
	status int
	bytes  int64
}

func (r *recorder) WriteHeader(status int) {
	if r.status == 0 {
		r.status = status
	}
	r.ResponseWriter.WriteHeader(status)
}

func (r *recorder) Write(b []byte) (int, error) {
	if r.status == 0 {
		r.status = http.StatusOK
	}
	n, err := r.ResponseWriter.Write(b)
	r.bytes += int64(n)
	return n, err
}

// Unwrap is for [http.ResponseController].
func (r *recorder) Unwrap() http.ResponseWriter { return r.ResponseWriter }

// discard is an answer of which only the headers count.
type discard struct{ header http.Header }

func (d discard) Header() http.Header         { return d.header }
func (d discard) Write(b []byte) (int, error) { return len(b), nil }
func (d discard) WriteHeader(int)             {}

// method keeps invented methods out of metrics and logs.
func method(m string) string {
	switch m {
	case http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete, http.MethodOptions:
		return m
	}
	return "other"
}

// describe says what a panic was. Its value may contain a credential, so only the
// runtime's own words are repeated.
func describe(panicked any) string {
	if err, ok := panicked.(runtime.Error); ok {
		return err.Error()
	}
	return fmt.Sprintf("a value of type %T", panicked)
}
