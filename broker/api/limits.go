package api

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/netip"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/vimbroker/vimbroker/broker/api/limit"
	"github.com/vimbroker/vimbroker/policy"
)

// Limits bound what callers may ask. Zero in a field bounds nothing.
type Limits struct {
	// Address bounds all requests from one address; of IPv6, from one network of 64 bits.
	Address limit.Bound
	// Principal and Project bound those of authenticated callers.
	Principal, Project limit.Bound
	// FailedLogins bounds unknown tokens from one address. Beyond that, tokens from there that
	// take a query to another system are refused unseen, and known tokens are accepted as
	// before. InFlight is the number of queries for one address at a time; others wait. All
	// addresses with recent failures together get one query at a time, so that tokens from
	// elsewhere do not wait for them.
	FailedLogins limit.Bound
	// InFlight bounds the requests of authenticated callers that are under way. A quarter of
	// it is kept for those that wait for no VIM.
	InFlight int
}

// DefaultLimits are those of an operator who sets none.
func DefaultLimits() Limits {
	return Limits{
		Address:      limit.Bound{PerSecond: 2000, Burst: 4000, InFlight: 500},
		Principal:    limit.Bound{PerSecond: 500, Burst: 1000, InFlight: 64},
		Project:      limit.Bound{PerSecond: 1000, Burst: 2000, InFlight: 96},
		FailedLogins: limit.Bound{PerSecond: 2, Burst: 50, InFlight: 4},
		InFlight:     256,
	}
}

const (
	// maxKeys bounds the addresses, principals and projects that are remembered.
	maxKeys = 20_000
	// maxLogins bounds the requests that wait for another system's answer on their token.
	maxLogins = 512
	// patient is the longest timeout of operations that wait for no VIM.
	patient = 30 * time.Second
	// shedFor is when to come again after a request was shed.
	shedFor = time.Second
)

// Names of limits, in the configuration and in the metric.
const (
	byAddress, byPrincipal, byProject  = "address", "principal", "project"
	byFailedLogins, byLogins, byServer = "failedLogins", "logins", "inFlight"
)

type limits struct {
	Limits
	addresses, principals, projects *limit.Keys
	failed                          *limit.Failures
	logins, server                  limit.Gate
	refused                         *prometheus.CounterVec
}

func newLimits(l Limits, r *prometheus.Registry, now func() time.Time) *limits {
	s := &limits{
		Limits:     l,
		addresses:  limit.NewKeys(l.Address, maxKeys, now),
		principals: limit.NewKeys(l.Principal, maxKeys, now),
		projects:   limit.NewKeys(l.Project, maxKeys, now),
		failed:     limit.NewFailures(l.FailedLogins, maxKeys, now),
		refused: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "vimbroker_requests_refused_total",
			Help: "Requests that were refused because of a limit of the configuration: 429 for those of one caller, 503 for logins and inFlight.",
		}, []string{"limit"}),
	}
	for _, name := range []string{byAddress, byPrincipal, byProject, byFailedLogins, byLogins, byServer} {
		s.refused.WithLabelValues(name)
	}
	r.MustRegister(s.refused)
	return s
}

// network is the range that one sender surely owns: an address of IPv4, a network of IPv6.
func network(r *http.Request) string {
	from, err := netip.ParseAddrPort(r.RemoteAddr)
	if err != nil {
		return ""
	}
	addr := from.Addr().Unmap().WithZone("")
	if addr.Is6() {
		if p, err := addr.Prefix(64); err == nil {
			return p.String()
		}
	}
	return addr.String()
}

// apart keeps the count of a lane apart from others.
func apart(key string, l Lane) string {
	if l == Ending {
		return "ending " + key
	}
	return key
}

// address counts a request before anyone knows whose it is. Call leave once it is answered.
func (s *limits) address(r *http.Request, l Lane) (leave func(), err error) {
	if l == Free {
		return func() {}, nil
	}
	leave, err = s.addresses.Enter(apart(network(r), l))
	return leave, s.limited(byAddress, "this address has", err)
}

// login counts a request whose token another system is asked about. It waits until not too
// many of its address are. Call leave once the answer is there.
func (s *limits) login(r *http.Request) (leave func(), err error) {
	waits, err := s.logins.Enter(maxLogins)
	if err != nil {
		return nil, s.shed(byLogins, "too many callers are being authenticated")
	}
	tried, err := s.failed.Try(r.Context(), network(r))
	if err != nil {
		waits()
		return nil, s.limited(byFailedLogins, "this address has failed to log in", err)
	}
	return func() { tried(); waits() }, nil
}

// failedLogin counts a login that was refused with why. It returns how to refuse it.
func (s *limits) failedLogin(r *http.Request, why error) error {
	if err := s.failed.Check(network(r)); err != nil {
		return s.limited(byFailedLogins, "this address has failed to log in", err)
	}
	s.failed.Count(network(r))
	return why
}

// caller counts a request of an authenticated caller. Call leave once it is answered.
func (s *limits) caller(p policy.Principal, op Route) (leave func(), err error) {
	var entered []func()
	leave = func() {
		for _, left := range entered {
			left()
		}
	}
	if p.Name == "" || op.Lane == Free || op.Lane == Watching {
		return leave, nil
	}
	if op.Lane != Ending {
		most := s.InFlight
		if op.Timeout > patient {
			most -= most / 4
		}
		left, err := s.server.Enter(most)
		if err != nil {
			return nil, s.shed(byServer, fmt.Sprintf("%d requests are under way", most))
		}
		entered = append(entered, left)
	}
	for _, of := range []struct {
		name, key, has string
		keys           *limit.Keys
	}{
		{byPrincipal, p.Name, "this caller has", s.principals},
		{byProject, p.Project, "this project has", s.projects},
	} {
		left, err := of.keys.Enter(apart(of.key, op.Lane))
		if err != nil {
			leave()
			return nil, s.limited(of.name, of.has, err)
		}
		entered = append(entered, left)
	}
	return leave, nil
}

// limited words what a limit says. Other errors, and none, are returned unchanged.
func (s *limits) limited(name, has string, err error) error {
	var over *limit.Exceeded
	if !errors.As(err, &over) {
		if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
			return s.shed(byLogins, "too many callers are being authenticated")
		}
		return err
	}
	s.refused.WithLabelValues(name).Inc()
	r := &Refusal{Kind: ErrLimited, RetryAfter: over.Wait}
	switch {
	case over.InFlight:
		r.Detail = fmt.Sprintf("%s %d requests under way, as many as it may have", has, over.Bound)
		r.Remedy = "wait for some of them, then try again"
	default:
		r.Detail = fmt.Sprintf("%s too often: more than %d times a second", has, over.Bound)
		if name != byFailedLogins {
			r.Detail = fmt.Sprintf("%s sent more than %d requests a second", has, over.Bound)
		}
		r.Remedy = fmt.Sprintf("try again in %d s, and less often", int(over.Wait.Seconds()))
	}
	if name != byFailedLogins {
		r.Remedy += "; the broker's operator sets limits." + name
	}
	return r
}

// shed refuses a request because of the load of others.
func (s *limits) shed(name, why string) error {
	s.refused.WithLabelValues(name).Inc()
	return &Refusal{
		Kind: errShed, Detail: why + ", as many as the server takes at a time; nothing was done",
		Remedy: fmt.Sprintf("try again in %d s", int(shedFor.Seconds())), RetryAfter: shedFor,
	}
}
