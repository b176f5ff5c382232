package api

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"path"
	"runtime/debug"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"

	"github.com/vimbroker/vimbroker/broker/api/codec"
	"github.com/vimbroker/vimbroker/policy"
	"github.com/vimbroker/vimbroker/policy/audit"
)

// Options wire the API. Fields without a stated default are required.
type Options struct {
	Doors []Door
	// Authenticator knows the callers of every operation that does not identify them itself.
	Authenticator Authenticator
	// Remote reports whether the Authenticator has to ask another system about a token; nil:
	// it never has.
	Remote func(token string) bool
	// Certified knows the caller who sends no token by the certificate of the request's context; nil: nobody
	// comes with one.
	Certified func(context.Context) (policy.Principal, error)
	// Vitals are the figures that /metrics shows in addition to the requests.
	Vitals Vitals
	// Version is the program's, for the metric build_info.
	Version string
	// Collectors are the metrics of what other packages own.
	Collectors []prometheus.Collector
	// Logins records logins and refused logins; may be nil.
	Logins Logins
	// Log takes one line a request, and the text of errors that callers are not told.
	Log *slog.Logger
	// Registry takes this package's metrics and is what /metrics shows; nil means one of
	// its own.
	Registry *prometheus.Registry
	// Configured is asked at each scrape of /metrics; nil shows nothing of it.
	Configured func() Configured
	// Proxies may say for whom they ask.
	Proxies Proxies
	// Limits bound what callers may ask. Zero bounds nothing.
	Limits Limits
	// Now defaults to time.Now.
	Now func() time.Time
}

type server struct {
	Options
	requests *prometheus.HistogramVec
	doors    []*entrance
	limits   *limits
}

// entrance is a door with the table of its operations.
type entrance struct {
	*Door
	mux *http.ServeMux
}

// New returns the handler of all doors and of GET /metrics. It starts nothing, and is
// safe for concurrent use. It panics if a door is not complete.
func New(o Options) http.Handler {
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Registry == nil {
		o.Registry = prometheus.NewRegistry()
	}
	s := &server{Options: o, requests: newRequests(o.Registry), limits: newLimits(o.Limits, o.Registry, o.Now)}
	o.Registry.MustRegister(vitals{o.Vitals}, buildInfo(o.Version), collectors.NewGoCollector(),
		collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	o.Registry.MustRegister(o.Collectors...)
	if o.Configured != nil {
		o.Registry.MustRegister(configuration{o.Configured})
	}
	for _, d := range append([]Door{metricsDoor(o.Registry, o.Now, o.Log), helpDoor(o.Doors)}, o.Doors...) {
		s.doors = append(s.doors, s.open(d))
	}
	return s
}

func (s *server) open(d Door) *entrance {
	d.MediaType = cmp.Or(d.MediaType, codec.MediaType)
	if d.Encode == nil {
		d.Encode = codec.Codec{}.Encode
	}
	e := &entrance{Door: &d, mux: http.NewServeMux()}
	for _, op := range d.Routes {
		if op.Timeout <= 0 || op.Status == 0 {
			panic(fmt.Sprintf("operation %s lacks its timeout or its status", op.name()))
		}
		for _, p := range append([]string{op.Path}, op.Also...) {
			e.mux.Handle(op.Method+" "+p, s.serve(e.Door, op))
		}
	}
	return e
}

// reach is how much of a path leads to the door; zero means that it does not.
func (d *Door) reach(p string) int {
	longest := 0
	for _, own := range d.Paths {
		switch below := strings.HasSuffix(own, "/"); {
		case !below && p == strings.TrimSuffix(own, "{$}"):
			return len(p) + 1
		case below && strings.HasPrefix(p, own):
			longest = max(longest, len(own))
		}
	}
	return longest
}

func (s *server) doorOf(p string) *entrance {
	var found *entrance
	longest := 0
	for _, d := range s.doors {
		if n := d.reach(p); n > longest {
			found, longest = d, n
		}
	}
	return found
}

// ServeHTTP gives a request its id, its headers, its log line and its metrics, and
// survives a panic of what answers it.
func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	began := s.Now()
	t := &trace{id: requestID(r)}
	r.RemoteAddr = s.Proxies.caller(r)
	ctx := audit.WithSource(audit.WithRequest(r.Context(), t.id), source(r))
	ctx = context.WithValue(ctx, traceKey{}, t)
	r = r.WithContext(ctx)
	rec := &recorder{ResponseWriter: w}
	h := rec.Header()
	h.Set("X-Request-Id", t.id)
	h.Set("Cache-Control", "no-store")
	h.Set("X-Content-Type-Options", "nosniff")

	defer func() {
		p := recover()
		cutOff := p == http.ErrAbortHandler //nolint:errorlint // net/http panics with this very value
		if p != nil && !cutOff {
			s.Log.ErrorContext(ctx, "panic while answering", "request", t.id, "panic", describe(p), "stack", string(debug.Stack()))
			if rec.status == 0 {
				s.fail(rec, r, t.door, ErrInternal)
			}
		}
		s.account(r, rec, t, s.Now().Sub(began))
		if cutOff {
			panic(p)
		}
	}()
	d := s.doorOf(r.URL.Path)
	if d == nil {
		rec.WriteHeader(http.StatusNotFound)
		return
	}
	t.door = d.Door
	r = r.WithContext(audit.WithDoor(ctx, d.Name))
	if d.Header != nil {
		d.Header(h, t.id)
	}
	s.dispatch(rec, r, d)
}

// dispatch finds the operation, or answers that there is none.
func (s *server) dispatch(w http.ResponseWriter, r *http.Request, d *entrance) {
	found, _ := d.mux.Handler(r)
	clean := path.Clean(r.URL.EscapedPath())
	if _, ok := found.(operation); ok && (clean == r.URL.EscapedPath() || clean+"/" == r.URL.EscapedPath()) {
		d.mux.ServeHTTP(w, r)
		return
	}
	leave, err := s.limits.address(r, Ordinary)
	if err != nil {
		s.fail(w, r, d.Door, err)
		return
	}
	defer leave()
	if d.Private != "" && strings.HasPrefix(r.URL.Path, d.Private) {
		if err := s.identify(w, r, d.Door, nil); err != nil {
			s.fail(w, r, d.Door, err)
			return
		}
	}
	// The multiplexer's own answer is plain text: only its header Allow counts. It also
	// redirects, which this API never does.
	answer := discard{http.Header{}}
	found.ServeHTTP(answer, r)
	if allow := answer.header.Get("Allow"); allow != "" {
		w.Header().Set("Allow", allow)
		s.fail(w, r, d.Door, ErrMethod)
		return
	}
	s.fail(w, r, d.Door, &Refusal{Kind: ErrNoOperation, Detail: "nothing is served at this path; compare the address"})
}

type operation func(http.ResponseWriter, *http.Request)

// ServeHTTP implements [http.Handler].
func (o operation) ServeHTTP(w http.ResponseWriter, r *http.Request) { o(w, r) }

func (s *server) serve(d *Door, op Route) operation {
	return func(w http.ResponseWriter, r *http.Request) {
		ctx, cancel := context.WithTimeout(r.Context(), op.Timeout)
		defer cancel()
		_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(op.Timeout + stallTime)) // tests' recorders have none
		t := traceOf(ctx)
		t.route, t.quiet = op.name(), op.Quiet
		c := &Call{Request: r.WithContext(ctx), ID: t.id}
		if err := s.enter(w, c, d, op); err != nil {
			s.fail(w, c.Request, d, err)
		}
	}
}

// enter answers a call that is within the limits. It counts as under way until all of its
// answer is written.
func (s *server) enter(w http.ResponseWriter, c *Call, d *Door, op Route) error {
	leave, err := s.limits.address(c.Request, op.Lane)
	if err != nil {
		return err
	}
	defer leave()
	if op.Login {
		return s.logIn(w, c, d, op)
	}
	if err := s.identify(w, c.Request, d, op.Identify); err != nil {
		return err
	}
	c.Principal = traceOf(c.Context()).principal
	leave, err = s.limits.caller(c.Principal, op)
	if err != nil {
		return err
	}
	defer leave()
	a, err := s.handle(w, c, d, op)
	if err != nil {
		return err
	}
	a.Status = cmp.Or(a.Status, op.Status)
	return s.write(w, c.Request, d, a)
}

// logIn answers a call that lets a caller in.
func (s *server) logIn(w http.ResponseWriter, c *Call, d *Door, op Route) error {
	a, err := s.handle(w, c, d, op)
	if errors.Is(err, policy.ErrUnauthenticated) {
		why := err
		if err = s.limits.failedLogin(c.Request, err); s.Logins != nil {
			s.Logins.RecordRefusedLogin(c.Context(), why)
		}
	}
	c.Header.Del("Authorization") // nothing behind it may print them
	c.Header.Del(KeystoneHeader)
	if err != nil {
		return err
	}
	a.Status = cmp.Or(a.Status, op.Status)
	return s.write(w, c.Request, d, a)
}

func (s *server) handle(w http.ResponseWriter, c *Call, d *Door, op Route) (_ Answer, err error) {
	if c.Query, err = readQuery(c.Request, op.Query, d.Tolerant); err != nil {
		return Answer{}, err
	}
	if err = checkHeaders(c.Request, op.Header); err != nil {
		return Answer{}, err
	}
	if err = readBody(w, c, op.Body); err != nil {
		return Answer{}, err
	}
	return op.Handle(c)
}

// account writes the access line and counts the request. The query is left out: it may
// contain anything.
func (s *server) account(r *http.Request, rec *recorder, t *trace, took time.Duration) {
	route := cmp.Or(t.route, "unmatched")
	s.observe(route, r.Method, rec.status, took)
	level := slog.LevelInfo
	if t.quiet {
		level = slog.LevelDebug
	}
	s.Log.LogAttrs(r.Context(), level, "request",
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
