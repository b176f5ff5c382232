package conformance

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/broker/session"
	"github.com/vimbroker/vimbroker/policy"
)

// sessions: one is found by its digest until it is ended or forgotten, and listed with those of its principal alone.
func sessions(t *testing.T, st storeTest) {
	s := struct {
		session.Store
		ctx context.Context
	}{st.Store.(session.Store), st.ctx}
	full := func(id, principal, project string, used time.Time) session.Session {
		return session.Session{
			ID: id, Digest: "digest-" + id, Principal: principal, Project: project, Source: "192.0.2.1:7",
			Came: session.Came{
				Who:   policy.Delegation{Name: principal, Project: project, Roles: []string{"admin"}, At: epoch, Claims: map[string][]string{"email": {"a@b"}}},
				Token: "0123456789ab", Login: policy.Arrival{Shown: "Alice \"A\"", Entry: "corp", Digest: "d", Until: epoch.Add(time.Hour)},
			},
			CreatedAt: epoch, UsedAt: used, Until: used.Add(time.Hour), EndsAt: epoch.Add(12 * time.Hour),
		}
	}
	one, two := full("1", "alice", "north", epoch), full("2", "alice", "north", epoch.Add(time.Minute))
	for _, made := range []session.Session{one, two, full("3", "alice", "south", epoch), full("4", "bob", "north", epoch)} {
		if err := s.CreateSession(s.ctx, made, entry("session "+made.ID)); err != nil {
			t.Fatalf("CreateSession(%s) = %v", made.ID, err)
		}
	}
	if err := s.CreateSession(s.ctx, one, entry("again")); err == nil {
		t.Error("a session is there twice")
	}
	found, err := s.SessionByDigest(s.ctx, one.Digest)
	if err != nil {
		t.Fatalf("SessionByDigest() = %v", err)
	}
	wantSame(t, "a session", found, one)
	list := func(want ...session.Session) {
		t.Helper()
		all, err := s.SessionsOf(s.ctx, "alice", "north", epoch)
		if err != nil {
			t.Fatalf("SessionsOf() = %v", err)
		}
		wantSame(t, "the sessions of alice", all, want)
	}
	list(two, one)
	one.UsedAt, one.Until = epoch.Add(2*time.Minute), epoch.Add(3*time.Hour)
	if err := s.TouchSession(s.ctx, one.ID, one.UsedAt, one.Until); err != nil {
		t.Fatalf("TouchSession() = %v", err)
	}
	list(one, two)
	if err := s.ForgetSessions(s.ctx, two.Until.Add(time.Second)); err != nil {
		t.Fatalf("ForgetSessions() = %v", err)
	}
	list(one)
	before := len(st.entries(t))
	for range 2 { // the second writes nothing
		if err := s.EndSession(s.ctx, one.ID, entry("end")); err != nil {
			t.Fatalf("EndSession() = %v", err)
		}
	}
	if n := len(st.entries(t)) - before; n != 1 {
		t.Errorf("ending a session wrote %d entries, want one", n)
	}
	if _, err := s.SessionByDigest(s.ctx, one.Digest); !errors.Is(err, broker.ErrNotFound) {
		t.Errorf("SessionByDigest() of an ended session = %v, want broker.ErrNotFound", err)
	}
	list()
}
