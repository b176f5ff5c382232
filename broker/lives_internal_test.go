package broker

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/vimbroker/vimbroker/policy"
)

// How long a lease of each kind lives that asks for no time, or for more than it may have, and over all its renewals: by who asks.
func TestHowLongEachKindOfLeaseLives(t *testing.T) {
	const day = 24 * time.Hour
	for _, c := range []struct {
		what              string
		r                 LeaseRequest
		known             bool
		usual, most, ends time.Duration
	}{
		{"usual", LeaseRequest{}, false, time.Hour, 12 * time.Hour, 12 * time.Hour},
		{"usual, of one who is known", LeaseRequest{}, true, time.Hour, 12 * time.Hour, 12 * time.Hour},
		{"standing", LeaseRequest{Standing: true}, true, 15 * time.Minute, 15 * time.Minute, 180 * day},
		{"a user", LeaseRequest{Credential: LeaseUser}, false, 12 * time.Hour, 12 * time.Hour, 12 * time.Hour},
		{"a user, of one who is known", LeaseRequest{Credential: LeaseUser}, true, 180 * day, 180 * day, 180 * day},
		{"passed through", LeaseRequest{Credential: LeasePassThrough}, false, 12 * time.Hour, 12 * time.Hour, 12 * time.Hour},
		{"passed through to one who is known", LeaseRequest{Credential: LeasePassThrough}, true, 180 * day, 180 * day, 180 * day},
	} {
		for ttl, want := range map[time.Duration]time.Duration{0: c.usual, time.Minute: time.Minute, c.most: c.most, c.most + 1: c.most, 999 * day: c.most} {
			s := newStage(t)
			s.actor.is.Users, s.actor.is.Standing = true, true
			s.core.drivers["a"] = s.actor
			if c.known {
				s.core.directories = map[string]policy.Directory{person.Authenticator(): here{}}
			}
			var asked Grant
			s.actor.prepare = func(g Grant) Grant { asked = g; return g }
			r := c.r
			r.VIM, r.TTL = vimID, ttl
			i, err := s.newIssuing(t.Context(), person, r)
			if err != nil {
				t.Errorf("%s, for %s: %v", c.what, ttl, err)
				continue
			}
			if got := i.lease.MaxExpiresAt.Sub(i.lease.CreatedAt); asked.TTL != want || got != c.ends || i.lease.granted() != want {
				t.Errorf("%s, for %s: the driver is asked for %s, the lease is granted %s and ends after %s, want %s and %s", c.what, ttl, asked.TTL,
					i.lease.granted(), got, want, c.ends)
			}
		}
	}
}

// several is a store with several VIMs.
type several struct {
	VIMStore
	all []VIM
}

func (s several) VIMs(context.Context, VIMFilter) ([]VIM, string, error) { return s.all, "", nil }

// A pass goes on behind a VIM that cannot be read, and what a request began is undone also where that has ended.
func TestAPassGoesOnBehindWhatCannotBeRead(t *testing.T) {
	s := newStage(t)
	s.core.vims = several{all: []VIM{{ID: "a", Damaged: true}, {ID: "b"}, {ID: "c", Damaged: true}, {ID: "d"}}}
	met := ""
	err := s.core.eachVIM(t.Context(), VIMFilter{}, func(v VIM) { met += v.ID })
	if n := strings.Count(s.log.String(), "no pass goes over it"); err != nil || met != "bd" || n != 2 {
		t.Errorf("the pass meets %q, tells of %d, and ends with %v", met, n, err)
	}
	type key struct{}
	ctx, cancel := context.WithCancel(context.WithValue(t.Context(), key{}, "kept"))
	cancel()
	undo, done := s.core.cleanup(ctx)
	defer done()
	if _, bounded := undo.Deadline(); undo.Err() != nil || undo.Value(key{}) != "kept" || !bounded {
		t.Errorf("what undoes an ended request: %v, bounded %v, of %v", undo.Err(), bounded, undo.Value(key{}))
	}
}

// A list of leases holds those that policy shows one by one, whosever they are.
func TestAListOfLeasesHoldsWhatPolicyShows(t *testing.T) {
	s := newStage(t)
	delete(s.tape.leases, leaseID)
	for i, project := range []string{"p", "p", "q", "q"} {
		l := s.l
		l.ID, l.Project = fmt.Sprint(i), project
		s.tape.leases[l.ID] = l
	}
	s.core.guard.Policy = deciding(func(r policy.Request) policy.Decision {
		return policy.Decision{Allowed: r.Resource.Kind != policy.KindLease || r.Resource.ID == "1" || r.Resource.ID == "2"}
	})
	found, _, err := s.Leases(t.Context(), person, LeaseQuery{})
	got := ""
	for _, l := range found {
		got += l.ID
	}
	if err != nil || got != "12" {
		t.Errorf("the list has %q, %v", got, err)
	}
}
