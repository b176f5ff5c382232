package api

import (
	"context"
	"log/slog"
	"net/http"
	"path"
	"runtime/debug"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/vimbroker/vimbroker/policy/audit"
)

// Options wire the API. Fields without a stated default are required.
type Options struct {
	Broker        Broker
	Authenticator Authenticator
	// Tacker answers GET / and what is under /v1.0; nil: nobody does. It identifies
	// callers itself, with [Identify].
	Tacker http.Handler
	// Log takes one line a request, and the text of errors that callers are not told.
	Log *slog.Logger
	// Registry takes this package's metrics and is what /metrics shows; nil
	// means one of its own.
	Registry *prometheus.Registry
	// Version is shown by /healthz and in the OpenAPI document.
	Version string
	// Now defaults to time.Now.
	Now func() time.Time
}

// server answers requests.
type server struct {
	broker   Broker
	who      Authenticator
	log      *slog.Logger
	version  string
	now      func() time.Time
	mux      *http.ServeMux
	tacker   http.Handler
	metrics  *metrics
	document []byte // OpenAPI
}

// New returns the handler of every route. It starts nothing, and is safe for
// concurrent use.
func New(o Options) http.Handler {
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Registry == nil {
		o.Registry = prometheus.NewRegistry()
	}
	s := &server{
		broker:   o.Broker,
		who:      o.Authenticator,
		log:      o.Log,
		version:  o.Version,
		now:      o.Now,
		mux:      http.NewServeMux(),
		tacker:   o.Tacker,
		metrics:  newMetrics(o.Registry, o.Broker, o.Log),
		document: document(o.Version),
	}
	for _, r := range routes {
		s.mux.Handle(r.method+" "+r.path, s.serve(r))
	}
	s.mux.Handle("GET /metrics", s.metrics.handler(o.Registry, o.Log))
	s.mux.HandleFunc("GET /openapi.json", s.openapi)
	return s
}

// ServeHTTP gives a request its id, its headers, its log line and its metrics,
// and survives a panic of what answers it.
func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	began := s.now()
	t := &trace{id: requestID(r)}
	ctx := context.WithValue(audit.WithRequest(r.Context(), t.id), traceKey{}, t)
	r = r.WithContext(ctx)
	rec := &recorder{ResponseWriter: w}
	h := rec.Header()
	h.Set("X-Request-Id", t.id)
	h.Set("Cache-Control", "no-store")
	h.Set("X-Content-Type-Options", "nosniff")

	defer func() {
		p := recover()
		if p == http.ErrAbortHandler { //nolint:errorlint // net/http panics with this very value
			panic(p)
		}
		if p != nil {
			s.log.ErrorContext(ctx, "panic while answering", "request", t.id, "panic", describe(p), "stack", string(debug.Stack()))
			if rec.status == 0 {
				s.write(rec, r, internal)
			}
		}
		s.account(r, rec, t, s.now().Sub(began))
	}()
	s.dispatch(rec, r)
}

// dispatch finds the route. Nothing under /v1/ tells an unknown caller even
// whether it exists.
func (s *server) dispatch(w http.ResponseWriter, r *http.Request) {
	if strings.HasPrefix(r.URL.Path, "/v1/") && !s.authenticate(w, r) {
		return
	}
	if s.tacker != nil && (r.URL.Path == "/" || r.URL.Path == "/v1.0" || strings.HasPrefix(r.URL.Path, "/v1.0/")) {
		traceOf(r.Context()).route = "/v1.0"
		s.tacker.ServeHTTP(w, r)
		return
	}
	h, pattern := s.mux.Handler(r)
	switch {
	case pattern == "":
		// The multiplexer's own answer is plain text; only its status and Allow count.
		found := &recorder{ResponseWriter: discard{http.Header{}}}
		h.ServeHTTP(found, r)
		if allow := found.Header().Get("Allow"); allow != "" {
			w.Header().Set("Allow", allow)
			s.write(w, r, methodNotAllowed)
			return
		}
		s.write(w, r, noSuchRoute)
	case path.Clean(r.URL.EscapedPath()) != r.URL.EscapedPath():
		s.write(w, r, noSuchRoute) // the multiplexer would redirect
	default:
		traceOf(r.Context()).route = pattern
		s.mux.ServeHTTP(w, r)
	}
}

// account writes the access line and counts the request. The query is left out:
// only we know what may stand in it, and the caller may not.
func (s *server) account(r *http.Request, rec *recorder, t *trace, took time.Duration) {
	route := t.route
	if route == "" {
		route = "unmatched"
	}
	s.metrics.observe(route, r.Method, rec.status, took)
	level := slog.LevelInfo
	if t.quiet {
		level = slog.LevelDebug
	}
	s.log.LogAttrs(r.Context(), level, "request",
		slog.String("method", method(r.Method)),
		slog.String("route", route),
		slog.Int("status", rec.status),
		slog.Duration("duration", took),
		slog.Int64("bytes", rec.bytes),
		slog.String("request", t.id),
		slog.String("principal", t.principal.Name),
		slog.String("remote", r.RemoteAddr),
	)
}

// openapi serves the document.
func (s *server) openapi(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write(s.document)
}
