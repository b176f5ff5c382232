package bench

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/broker/onboard"
	"github.com/vimbroker/vimbroker/broker/secret"
	"github.com/vimbroker/vimbroker/drivers/clusterapi"
	"github.com/vimbroker/vimbroker/policy/egress"
	"github.com/vimbroker/vimbroker/test/fake"
	"github.com/vimbroker/vimbroker/test/fakekube"
	"github.com/vimbroker/vimbroker/test/real"
)

const (
	// steadyClusters are followed for steadyFor, by the broker's clock, in which nothing changes.
	steadyClusters = 50
	steadyFor      = time.Hour
	// watchEnds is after how long the driver has an API server end a watch.
	watchEnds = 5 * time.Minute
	// leaseKept is after how long the watch renews its lease on the management cluster.
	leaseKept = 20 * time.Minute
	// accountLife is how long the token of an account lives, where the cluster gives it; it is
	// replaced after half of that.
	accountLife = 7 * 24 * time.Hour
)

// steadyHub is a management cluster and its clusters in the process of the broker, whose time
// is moved.
type steadyHub struct {
	*stack
	alarms alarms
	hub    *fakekube.Server
	kubes  []*fakekube.Server
	// onHub and onClusters count requests by what caused them.
	onHub, onClusters map[string]int
}

// onboardSteady counts what the API servers are asked for in an hour in which nothing changes.
// The hour is one of the broker's clock: every pass runs as often in it as it would, one after
// the other and never while the watch asks for something; a request is counted for the pass that
// was running, or for the watch where none was. Watches end after five minutes, as API servers end them.
func onboardSteady(b *testing.B) *figure {
	b.Helper()
	h := newSteadyHub(b)
	stop := h.follow(b)
	h.rest(b)
	h.forget()
	h.pass(b, steadyFor)
	stop()
	f := &figure{Title: fmt.Sprintf("Requests in an hour in which nothing changes, %d clusters of one management cluster", steadyClusters)}
	each := func(what string, n int, per float64) {
		f.Rows = append(f.Rows, row{What: what, N: n, Value: float64(n) / per, Unit: "/h"})
	}
	for _, place := range []struct {
		name    string
		asked   map[string]int
		servers float64
	}{{"a cluster", h.onClusters, steadyClusters}, {"the management cluster", h.onHub, 1}} {
		all := 0
		for _, cause := range []string{"check", "inventory", "reap", "settle", followed} {
			if n := place.asked[cause]; n > 0 {
				each(place.name+": "+cause, n, place.servers)
				all += n
			}
			delete(place.asked, cause)
		}
		if len(place.asked) > 0 {
			b.Fatalf("%s is asked by other passes, too: %v", place.name, place.asked)
		}
		if place.servers == 1 {
			each("the management cluster, for each of its clusters", all, steadyClusters)
			continue
		}
		renewal := h.renewal(b)
		f.Rows = append(f.Rows, row{What: "a cluster: its account's token, renewed twice a week", N: renewal, Value: float64(renewal) / steadyClusters / (accountLife.Hours() / 2), Unit: "/h"})
		each("a cluster, all of these", all, place.servers)
	}
	return f
}

// followed is the cause of requests that no pass makes: the watch of the management cluster.
const followed = "watch"

func newSteadyHub(b *testing.B) *steadyHub {
	b.Helper()
	s := &stack{dir: b.TempDir()}
	h := &steadyHub{stack: s, alarms: alarms{now: s.now}}
	h.hub = fakekube.New(b, fakekube.Options{Now: s.now, ClusterAPI: []string{"v1beta2"}, MaxTokenTTL: accountLife})
	s.cluster, s.token = &real.Cluster{Endpoint: h.hub.Endpoint, CAPEM: h.hub.CA}, h.hub.AdminToken
	s.open(b)
	for i := range steadyClusters {
		k := fakekube.New(b, fakekube.Options{Now: s.now, MaxTokenTTL: accountLife})
		h.kubes = append(h.kubes, k)
		h.hub.PutCluster(fakekube.Cluster{Namespace: tenant, Name: fmt.Sprintf("c%03d", i), Ready: true, Kubeconfig: k.Kubeconfig()})
	}
	return h
}

// follow makes the management cluster one, and returns when all its clusters are VIMs. What it
// returns ends the watch.
func (h *steadyHub) follow(b *testing.B) (stop func()) {
	b.Helper()
	store, ok := h.store.(onboard.Store)
	if !ok {
		b.Fatal("the store keeps no clusters")
	}
	rules := egress.Default()
	rules.AllowLoopback = true
	driver := clusterapi.New()
	b.Cleanup(driver.Close)
	o := onboard.New(onboard.Options{
		Store: store, Broker: h.Broker, Source: driver, Guard: h.Guard(), Egress: func(string) *egress.Rules { return rules },
		Log: slog.New(slog.NewJSONHandler(io.Discard, nil)), Now: h.now, After: h.alarms.after,
	})
	v, err := h.RegisterVIM(b.Context(), admin, broker.Registration{Name: "hub", Kubeconfig: secret.NewText(h.hub.Kubeconfig())})
	if err == nil {
		_, err = o.Enable(b.Context(), admin, v.ID, onboard.Settings{Namespaces: []string{tenant}, Projects: map[string]string{"": admin.Project}})
	}
	if err != nil {
		b.Fatal(err)
	}
	ctx, cancel := context.WithCancel(b.Context())
	ended := make(chan error, 1)
	go func() { ended <- o.Worker().Work(ctx, v.ID) }()
	for began := time.Now(); ; time.Sleep(50 * time.Millisecond) {
		n, err := store.CountClusters(b.Context())
		switch {
		case err != nil:
			b.Fatal(err)
		case n.States[onboard.StateRegistered] == steadyClusters:
			return func() {
				cancel()
				if err := <-ended; !errors.Is(err, context.Canceled) {
					b.Errorf("the watch ended: %v", err)
				}
			}
		case time.Since(began) > onboardLimit:
			b.Fatalf("%v after %v", n.States, onboardLimit)
		}
	}
}

// pass lets that much time go by, second by second, with every pass at its interval.
func (h *steadyHub) pass(b *testing.B, long time.Duration) {
	b.Helper()
	began := h.now()
	passes := h.Passes()
	next := make([]time.Time, len(passes))
	for i, p := range passes {
		next[i] = began.Add(p.Every)
	}
	watches := began.Add(watchEnds)
	for h.now().Before(began.Add(long)) {
		h.ahead.Add(int64(time.Second))
		h.alarms.ring()
		if !h.now().Before(watches) {
			h.hub.EndWatches()
			watches = watches.Add(watchEnds)
		}
		h.rest(b)
		h.count(followed)
		for i, p := range passes {
			if h.now().Before(next[i]) {
				continue
			}
			next[i] = next[i].Add(p.Every)
			if err := p.Run(b.Context()); err != nil {
				b.Fatalf("the pass %s: %v", p.Name, err)
			}
			h.count(p.Name)
		}
	}
}

// rest waits until the watch asks for nothing: clusters and secrets are watched, and its lease is
// not being renewed.
func (h *steadyHub) rest(b *testing.B) {
	b.Helper()
	const kinds = 2 // clusters and secrets
	for began := time.Now(); h.hub.Watching() != kinds || !h.alarms.has(leaseKept); time.Sleep(time.Millisecond) {
		if time.Since(began) > onboardLimit {
			b.Fatalf("after %v %d of %d watches are open; the lease's renewal is due in time: %t",
				onboardLimit, h.hub.Watching(), kinds, h.alarms.has(leaseKept))
		}
	}
}

// renewal counts what it takes to replace the tokens of all clusters' accounts: what a check asks
// more than otherwise.
func (h *steadyHub) renewal(b *testing.B) int {
	b.Helper()
	checked := func(ahead time.Duration) int {
		h.ahead.Add(int64(ahead))
		h.forget()
		if err := h.CheckDue(b.Context()); err != nil {
			b.Fatal(err)
		}
		h.count("check")
		return h.onClusters["check"]
	}
	usual := checked(10 * time.Minute) // all are due
	return checked(accountLife/2) - usual
}

// forget counts from zero.
func (h *steadyHub) forget() {
	h.onHub, h.onClusters = map[string]int{}, map[string]int{}
	h.count("")
	clear(h.onHub)
	clear(h.onClusters)
}

// count notes what was asked for since it was called last.
func (h *steadyHub) count(cause string) {
	add := func(to map[string]int, asked []fake.Request) {
		if len(asked) > 0 {
			to[cause] += len(asked)
		}
	}
	add(h.onHub, h.hub.Requests())
	for _, k := range h.kubes {
		add(h.onClusters, k.Requests())
	}
}

// alarms are timers of a clock that is moved.
type alarms struct {
	now func() time.Time

	mu  sync.Mutex
	set []alarm
}

type alarm struct {
	at   time.Time
	long time.Duration
	ring chan time.Time
}

// after is as [time.After].
func (a *alarms) after(d time.Duration) <-chan time.Time {
	a.mu.Lock()
	defer a.mu.Unlock()
	ring := make(chan time.Time, 1)
	a.set = append(a.set, alarm{a.now().Add(d), d, ring})
	return ring
}

// has reports whether one of that length is set.
func (a *alarms) has(long time.Duration) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return slices.ContainsFunc(a.set, func(one alarm) bool { return one.long == long })
}

// ring rings those whose time has come.
func (a *alarms) ring() {
	a.mu.Lock()
	defer a.mu.Unlock()
	now := a.now()
	var left []alarm
	for _, one := range a.set {
		if one.at.After(now) {
			left = append(left, one)
			continue
		}
		one.ring <- now
	}
	a.set = left
}
