package api_test

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/vimbroker/vimbroker/broker/api"
	"github.com/vimbroker/vimbroker/broker/api/limit"
	"github.com/vimbroker/vimbroker/policy"
	"github.com/vimbroker/vimbroker/test/clock"
	"github.com/vimbroker/vimbroker/test/testlog"
)

// gated is a handler with limits, whose operations wait as the test says.
type gated struct {
	http.Handler
	began   chan string   // paths of waiting calls
	proceed chan struct{} // lets one go on
	log     buffer
	// registry is what /metrics shows, shared by who scrapes it.
	registry *prometheus.Registry
}

// lanes are operations of every lane; those under /wait/ wait.
func (g *gated) lanes() api.Door {
	op := func(path string, l api.Lane, timeout time.Duration, by api.Identify) api.Route {
		return api.Route{
			Method: "GET", Path: path, Lane: l, Timeout: timeout, Status: http.StatusOK, Identify: by,
			Handle: func(c *api.Call) (api.Answer, error) {
				if strings.HasPrefix(c.URL.Path, "/wait/") {
					g.began <- c.URL.Path
					<-g.proceed
				}
				return api.Answer{}, nil
			},
		}
	}
	return api.Door{
		Paths: []string{"/"}, Private: "/private/",
		Refuse: func(_ *http.Request, p api.Problem) api.Answer {
			return api.Answer{Body: map[string]any{"kind": p.Name, "detail": p.Detail, "remedy": p.Remedy}}
		},
		Routes: []api.Route{
			op("/quick", api.Ordinary, time.Second, nil), op("/wait/quick", api.Ordinary, 30*time.Second, nil),
			op("/wait/long", api.Ordinary, time.Minute, nil), op("/end", api.Ending, time.Minute, nil),
			op("/watch", api.Watching, time.Second, api.Anyone), op("/free", api.Free, time.Second, api.Anyone),
			op("/anyone", api.Ordinary, time.Second, api.Anyone),
		},
	}
}

// byName knows tokens that are "name@project"; those that begin with "far" another system
// would be asked about.
type byName struct{ asked func(token string) }

func (b byName) Authenticate(_ context.Context, token string) (policy.Principal, error) {
	if b.asked != nil {
		b.asked(token)
	}
	name, project, ok := strings.Cut(token, "@")
	if !ok {
		return policy.Principal{}, policy.ErrUnauthenticated
	}
	return policy.Principal{Name: name, Project: project}, nil
}

func newGated(t *testing.T, l api.Limits, now func() time.Time, asked func(string), proxies api.Proxies) *gated {
	g := &gated{began: make(chan string, 100), proceed: make(chan struct{}), registry: prometheus.NewRegistry()}
	g.Handler = api.New(api.Options{
		Doors: []api.Door{g.lanes()}, Authenticator: byName{asked}, Remote: func(token string) bool { return strings.HasPrefix(token, "far") },
		Vitals: none{}, Limits: l, Now: now, Proxies: proxies, Registry: g.registry, Log: testlog.To(t, slog.NewTextHandler(&g.log, nil)),
	})
	return g
}

// get asks from an address as a caller ("" is nobody).
func (g *gated) get(path, from, token string, headers ...string) *httptest.ResponseRecorder {
	r := httptest.NewRequest("GET", path, nil)
	r.RemoteAddr = netip.AddrPortFrom(netip.MustParseAddr(from), 1234).String()
	if token != "" {
		r.Header.Set("Authorization", "Bearer "+token)
	}
	for i := 0; i < len(headers); i += 2 {
		r.Header.Add(headers[i], headers[i+1])
	}
	w := httptest.NewRecorder()
	g.ServeHTTP(w, r)
	return w
}

// want checks status and words of an answer; refusals for a limit say when to come again.
func want(t *testing.T, what string, w *httptest.ResponseRecorder, status int, words ...string) {
	t.Helper()
	if w.Code != status {
		t.Errorf("%s = %d %s, want %d", what, w.Code, w.Body, status)
	}
	if limited := w.Code == http.StatusTooManyRequests || w.Code == http.StatusServiceUnavailable; limited != (w.Header().Get("Retry-After") != "") {
		t.Errorf("%s = %d with Retry-After %q", what, w.Code, w.Header().Get("Retry-After"))
	}
	for _, word := range words {
		if !strings.Contains(w.Body.String(), word) {
			t.Errorf("%s says %s, want %q in it", what, w.Body, word)
		}
	}
}

// refusals is what the metric says of a limit.
func (g *gated) refusals(limit string) string {
	w := httptest.NewRecorder()
	promhttp.HandlerFor(g.registry, promhttp.HandlerOpts{}).ServeHTTP(w, httptest.NewRequest("GET", "/metrics", nil))
	for line := range strings.Lines(w.Body.String()) {
		if n, ok := strings.CutPrefix(line, `vimbroker_requests_refused_total{limit="`+limit+`"} `); ok {
			return strings.TrimSpace(n)
		}
	}
	return "nothing"
}

func TestAddressesHaveLimits(t *testing.T) {
	now := clock.New(time.Now())
	g := newGated(t, api.Limits{Address: limit.Bound{PerSecond: 1, Burst: 2}}, now.Now, nil, api.Proxies{})
	want(t, "one", g.get("/quick", "192.0.2.1", "a@p"), 200)
	want(t, "two, by another caller, of nothing", g.get("/nothing", "192.0.2.1", "b@p"), 404)
	want(t, "three", g.get("/quick", "192.0.2.1", "a@p"), 429, `"limited"`, "more than 1 requests a second", "limits.address")
	want(t, "of nothing", g.get("/private/x", "192.0.2.1", "a@p"), 429)
	want(t, "by anyone", g.get("/anyone", "192.0.2.1", ""), 429)
	want(t, "of nothing, by nobody", g.get("/nothing", "192.0.2.8", ""), 404)
	want(t, "of what is private, by nobody", g.get("/private/x", "192.0.2.8", ""), 401)
	want(t, "a spoofed header", g.get("/quick", "192.0.2.1", "a@p", api.ForwardedFor, "192.0.2.77"), 429)
	want(t, "IPv4 in IPv6", g.get("/quick", "::ffff:192.0.2.1", "a@p"), 429)
	want(t, "another address", g.get("/quick", "192.0.2.2", "a@p"), 200)
	for range 100 {
		want(t, "free", g.get("/free", "192.0.2.1", ""), 200)
	}
	want(t, "ending", g.get("/end", "192.0.2.1", "a@p"), 200)
	want(t, "ending", g.get("/end", "192.0.2.1", "a@p"), 200)
	want(t, "ending too often", g.get("/end", "192.0.2.1", "a@p"), 429)
	want(t, "one of a network", g.get("/quick", "2001:db8::1", "a@p"), 200)
	want(t, "two of a network", g.get("/quick", "2001:db8::2", "a@p"), 200)
	want(t, "three of a network", g.get("/quick", "2001:db8::3", "a@p"), 429)
	want(t, "another network", g.get("/quick", "2001:db8:0:1::1", "a@p"), 200)
	if n := g.refusals("address"); n != "7" {
		t.Errorf("the metric counts %s refusals, want 7", n)
	}
	now.Add(time.Second)
	want(t, "a second later", g.get("/quick", "192.0.2.1", "a@p"), 200)
}

// Who is behind a proxy has an address of his own only if the proxy's word is taken, and
// cannot make one up.
func TestAddressesBehindProxies(t *testing.T) {
	proxies := api.Proxies{Networks: []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8")}, Header: api.ForwardedFor}
	g := newGated(t, api.Limits{Address: limit.Bound{PerSecond: 1}}, clock.New(time.Now()).Now, nil, proxies)
	for n := range 5 {
		w := g.get("/quick", "10.0.0.1", "a@p", api.ForwardedFor, fmt.Sprintf("192.0.2.%d, 198.51.100.7", n))
		want(t, "with a made up address before his own", w, map[bool]int{true: 200, false: 429}[n == 0])
	}
	want(t, "another behind the same proxy", g.get("/quick", "10.0.0.1", "a@p", api.ForwardedFor, "198.51.100.8"), 200)
}

func TestPrincipalsAndProjectsHaveLimits(t *testing.T) {
	g := newGated(t, api.Limits{
		Principal: limit.Bound{PerSecond: 1, Burst: 2}, Project: limit.Bound{PerSecond: 1, Burst: 3},
	}, clock.New(time.Now()).Now, nil, api.Proxies{})
	want(t, "one", g.get("/quick", "192.0.2.1", "a@p"), 200)
	want(t, "two, from elsewhere", g.get("/quick", "192.0.2.2", "a@p"), 200)
	want(t, "three", g.get("/quick", "192.0.2.3", "a@p"), 429, "this caller", "limits.principal")
	want(t, "another of the project", g.get("/quick", "192.0.2.1", "b@p"), 200)
	want(t, "a fourth of the project", g.get("/quick", "192.0.2.1", "b@p"), 429, "this project", "limits.project")
	want(t, "another project", g.get("/quick", "192.0.2.1", "c@q"), 200)
	want(t, "ending", g.get("/end", "192.0.2.1", "a@p"), 200)
	if a, b := g.refusals("principal"), g.refusals("project"); a != "1" || b != "1" {
		t.Errorf("the metric counts %s and %s refusals", a, b)
	}
}

// The server refuses what is too much at once, keeps a quarter for what is quick, and
// always takes what ends access or says how it is.
func TestTheServerSheds(t *testing.T) {
	g := newGated(t, api.Limits{InFlight: 8, Principal: limit.Bound{InFlight: 100}}, time.Now, nil, api.Proxies{})
	var under sync.WaitGroup
	begin := func(path string, n int) {
		for i := range n {
			under.Go(func() { g.get(path, "192.0.2.1", fmt.Sprintf("c%d@p%d", i, i)) })
			<-g.began
		}
	}
	begin("/wait/long", 6)
	want(t, "a seventh that waits for a VIM", g.get("/wait/long", "192.0.2.1", "a@p"), 503, `"overloaded"`, "6 requests are under way", "nothing was done")
	want(t, "a quick one", g.get("/quick", "192.0.2.1", "a@p"), 200)
	begin("/wait/quick", 2)
	want(t, "a ninth", g.get("/quick", "192.0.2.1", "a@p"), 503, `"overloaded"`)
	want(t, "of nobody", g.get("/quick", "192.0.2.1", ""), 401)
	for path, token := range map[string]string{"/end": "a@p", "/watch": "", "/free": ""} {
		want(t, path, g.get(path, "192.0.2.1", token), 200)
	}
	if n := g.refusals("inFlight"); n != "2" {
		t.Errorf("the metric counts %s refusals", n)
	}
	if strings.Contains(g.log.String(), "request failed") {
		t.Error("each shed request is a warning in the log")
	}
	close(g.proceed)
	under.Wait()
	want(t, "afterwards", g.get("/quick", "192.0.2.1", "a@p"), 200)
}

// One caller has so many requests under way, until their answers are written.
func TestCallersHaveSoManyUnderWay(t *testing.T) {
	g := newGated(t, api.Limits{Principal: limit.Bound{InFlight: 1}}, time.Now, nil, api.Proxies{})
	done := make(chan *httptest.ResponseRecorder)
	go func() { done <- g.get("/wait/long", "192.0.2.1", "a@p") }()
	<-g.began
	want(t, "a second", g.get("/quick", "192.0.2.1", "a@p"), 429, "1 requests under way", "wait for some")
	want(t, "of another", g.get("/quick", "192.0.2.1", "b@p"), 200)
	close(g.proceed)
	want(t, "the first", <-done, 200)
	want(t, "once it is done", g.get("/quick", "192.0.2.1", "a@p"), 200)
}

// What one limit refuses is under way for none of the others.
func TestARefusedRequestIsNotUnderWay(t *testing.T) {
	g := newGated(t, api.Limits{InFlight: 3, Principal: limit.Bound{InFlight: 2}, Project: limit.Bound{InFlight: 1}}, time.Now, nil, api.Proxies{})
	done := make(chan *httptest.ResponseRecorder)
	go func() { done <- g.get("/wait/quick", "192.0.2.1", "a@p") }()
	<-g.began
	for range 5 {
		want(t, "another of the project", g.get("/quick", "192.0.2.1", "b@p"), 429, "this project")
	}
	want(t, "the same caller elsewhere", g.get("/quick", "192.0.2.1", "b@q"), 200)
	close(g.proceed)
	want(t, "the first", <-done, 200)
	want(t, "another, once it is done", g.get("/quick", "192.0.2.1", "b@p"), 200)
}

// 150 bad logins at once are asked about a few at a time and are refused unasked before
// long; a good one is asked about at once, and known ones are taken from the very address.
func TestBadLoginsSlowNoGoodOne(t *testing.T) {
	const bad, atOnce, burst = 150, 4, 10
	answer := make(chan struct{})
	var under, most, asked atomic.Int32
	g := newGated(t, api.Limits{FailedLogins: limit.Bound{PerSecond: 1, Burst: burst, InFlight: atOnce}}, clock.New(time.Now()).Now, func(token string) {
		if !strings.HasPrefix(token, "far-bad") {
			return
		}
		asked.Add(1)
		if n := under.Add(1); n > most.Load() {
			most.Store(n)
		}
		<-answer
		under.Add(-1)
	}, api.Proxies{})
	var all sync.WaitGroup
	codes := make(chan int, bad)
	for n := range bad {
		all.Go(func() { codes <- g.get("/quick", "192.0.2.1", fmt.Sprint("far-bad", n)).Code })
	}
	want(t, "a good one from elsewhere", g.get("/quick", "192.0.2.2", "far-good@p"), 200)
	want(t, "a known one from there", g.get("/quick", "192.0.2.1", "near@p"), 200)
	close(answer)
	all.Wait()
	close(codes)
	got := map[int]int{}
	for code := range codes {
		got[code]++
	}
	// Those that are asked about as the last failure counts are fewer than fit beside it.
	n := int(asked.Load())
	if n < burst || n > burst+atOnce-1 || got[401] < burst || got[401] > n || got[401]+got[429] != bad || most.Load() > atOnce {
		t.Errorf("answers %v; %d were asked about, %d at a time", got, n, most.Load())
	}
	want(t, "one more from there", g.get("/quick", "192.0.2.1", "far-good@p"), 429, "failed to log in too often", "less often")
	want(t, "a known one from there", g.get("/quick", "192.0.2.1", "near@p"), 200)
	want(t, "a bad one of ours from there", g.get("/quick", "192.0.2.1", "bad"), 429)
	want(t, "nobody from there", g.get("/quick", "192.0.2.1", ""), 401)
	want(t, "a bad one from elsewhere", g.get("/private/x", "192.0.2.3", "bad"), 401)
}
