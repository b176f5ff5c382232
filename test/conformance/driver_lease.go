package conformance

import (
	"cmp"
	"context"
	"testing"
	"time"

	"github.com/google/uuid"
	"golang.org/x/sync/errgroup"

	"github.com/vimbroker/vimbroker/broker"
)

// issueTrueExpiry asks in three time zones: an expiry formatted or parsed in local
// time is hours off in two of them.
func issueTrueExpiry(t *testing.T, s *subject) {
	const slack = 5 * time.Second // a call's time, and whole seconds
	local := time.Local
	t.Cleanup(func() { time.Local = local })
	for _, zone := range []*time.Location{time.UTC, time.FixedZone("east", 13*3600), time.FixedZone("west", -9*3600-1800)} {
		time.Local = zone
		for _, ttl := range []time.Duration{s.MinTTL, 3607 * time.Second, s.most(), s.MaxTTL + time.Hour} {
			g := s.grant(t, s.Reader, ttl)
			before := s.Now()
			m := s.issue(t, g)
			granted := min(ttl, s.most())
			if early, late := before.Add(granted-slack), s.Now().Add(granted+slack); m.ExpiresAt.Before(early) || m.ExpiresAt.After(late) {
				t.Errorf("in %s, TTL %v: expires at %v, want about %v", zone, ttl, m.ExpiresAt, before.Add(granted).UTC())
			}
		}
	}
}

// most is the longest life of a lease.
func (s *subject) most() time.Duration {
	if s.MaxTTL == 0 {
		return 30 * 24 * time.Hour // far from every bound
	}
	return s.MaxTTL
}

// issueWithEvery also shows that a lease's credential is tried by itself: where
// the registered one is a client certificate, that must not speak for it.
func issueWithEvery(t *testing.T, s *subject) {
	type issued struct {
		*subject
		m broker.Minted
	}
	all := map[string]issued{}
	for name, r := range s.Others {
		as := *s
		as.a = as.access(t, r)
		g := as.grant(t, s.Reader, s.MinTTL)
		m := as.issue(t, g)
		as.wantMay(t, "reader issued with "+name, m, false, s.Namespaces[0])
		if !as.alive(t, m) {
			t.Errorf("a lease issued with %s does not work", name)
		}
		if err := as.d.Revoke(t.Context(), as.a, broker.Issued{Handle: g.Handle, Grant: g}); err != nil {
			t.Errorf("Revoke with %s: %v", name, err)
		}
		all[name] = issued{&as, m}
	}
	for name, i := range all {
		i.wantDead(t, "a lease issued with "+name, i.m)
		// As the broker has it when it opened a credential for another call.
		if dead, err := i.d.Dead(t.Context(), i.a, i.m.Credential); !dead || err != nil {
			t.Errorf("Dead beside %s = %v, %v, want true", name, dead, err)
		}
	}
}

func issueLimitedByRole(t *testing.T, s *subject) {
	reader := s.issue(t, s.grant(t, s.Reader, s.MinTTL))
	writer := s.issue(t, s.grant(t, s.Writer, s.MinTTL))
	for _, namespace := range s.Namespaces {
		s.wantMay(t, "reader", reader, false, namespace)
		s.wantMay(t, "writer", writer, true, namespace)
		if s.May(t, s.a.Target, reader.Credential, true, namespace) {
			t.Errorf("a reader may write in %s", namespace)
		}
	}
}

func issueLimitedToNamespaces(t *testing.T, s *subject) {
	if s.Namespaces[0] == "" {
		t.Skip("this kind of VIM knows no namespaces")
	}
	in, out := s.Namespaces[0], s.Namespaces[1]
	m := s.issue(t, s.grant(t, s.Writer, s.MinTTL, in))
	s.wantMay(t, "writer", m, true, in)
	for _, write := range []bool{false, true} {
		if s.May(t, s.a.Target, m.Credential, write, out) {
			t.Errorf("a lease limited to %s may work in %s (write = %v)", in, out, write)
		}
	}
	// The same role elsewhere is another account: rights do not add up.
	other := s.issue(t, s.grant(t, s.Writer, s.MinTTL, out))
	s.wantMay(t, "writer", other, true, out)
	if s.May(t, s.a.Target, m.Credential, false, out) || s.May(t, s.a.Target, other.Credential, false, in) {
		t.Error("two leases of one role share their namespaces")
	}
}

// wantMay waits for a right: a VIM may take a moment to know of a new one.
func (s *subject) wantMay(t *testing.T, who string, m broker.Minted, write bool, namespace string) {
	t.Helper()
	if !s.Await(t, time.Minute, func() bool { return s.May(t, s.a.Target, m.Credential, write, namespace) }) {
		t.Errorf("a %s may not work in %s (write = %v)", who, namespace, write)
	}
}

func issueRefusesUnknown(t *testing.T, s *subject) {
	s.issue(t, s.grant(t, s.Reader, s.MinTTL)) // what is there once is there
	before := s.Everything(t)
	unknown := map[string]broker.Grant{"role": s.grant(t, "no-such-role-"+uuid.NewString(), s.MinTTL)}
	if s.Namespaces[0] != "" {
		unknown["namespaces"] = s.grant(t, s.Reader, s.MinTTL, s.Namespaces[0], "none-"+uuid.NewString()[:8])
	}
	for field, g := range unknown {
		_, err := s.d.Issue(t.Context(), s.a, g)
		wantField(t, "Issue of an unknown "+field, err, field)
		wantSet(t, "objects after Issue of an unknown "+field, s.Everything(t), before)
	}
}

// issueAdopts is the broker that died between making the object and recording the
// credential: another one finds the object.
func issueAdopts(t *testing.T, s *subject) {
	g := s.grant(t, s.Reader, s.MinTTL)
	first := s.issue(t, g)
	second, err := s.restarted(t).Issue(t.Context(), s.a, g)
	if err != nil {
		t.Fatalf("Issue again after a death: %v", err)
	}
	wantSet(t, "handles", s.Handles(t, s.a.VIM), []string{g.Handle})
	if !s.alive(t, second) {
		t.Error("the adopted object's credential does not work")
	}
	if err := s.d.Revoke(t.Context(), s.a, broker.Issued{Handle: g.Handle, Grant: g}); err != nil {
		t.Fatal(err)
	}
	s.wantDead(t, "the credential that was lost", first)
	s.wantDead(t, "the credential of the second attempt", second)
}

func issueForeign(t *testing.T, s *subject) {
	s.issue(t, s.grant(t, s.Reader, s.MinTTL)) // what it shares with others is there
	g := s.grant(t, s.Reader, s.MinTTL)
	untouched := s.Plant(t, s.a.VIM, g.Handle)
	_, err := s.d.Issue(t.Context(), s.a, g)
	wantKind(t, "Issue over a foreign object", err, broker.ErrConflict)
	if _, err = s.d.Renew(t.Context(), s.a, g); err == nil {
		t.Error("Renew over a foreign object minted")
	}
	// The caller revokes after any failed Issue: that must not hit a stranger.
	if err := s.d.Revoke(t.Context(), s.a, broker.Issued{Handle: g.Handle, Grant: g}); err != nil && !isConflict(err) {
		t.Errorf("Revoke of a foreign object's name: %v", err)
	}
	if !untouched() {
		t.Error("a foreign object of a lease's name was changed or deleted")
	}

	// Another VIM's lease is as foreign: where names are shared it is in the way.
	before := s.Handles(t, s.a.VIM)
	ours := s.grant(t, s.Reader, s.life())
	m := s.issue(t, ours)
	other := s.another(t, s.a.Discovered)
	if _, err := s.d.Issue(t.Context(), other, ours); err != nil && !isConflict(err) {
		t.Errorf("Issue over another VIM's lease: %v, want %v or a lease of its own", err, broker.ErrConflict)
	}
	if err := s.d.Revoke(t.Context(), other, broker.Issued{Handle: ours.Handle, Grant: ours}); err != nil && !isConflict(err) {
		t.Errorf("Revoke of another VIM's lease: %v", err)
	}
	wantSet(t, "handles of the VIM whose lease it is", s.Handles(t, s.a.VIM), append(before, ours.Handle))
	if !s.alive(t, m) {
		t.Error("another VIM revoked a lease that is not its own")
	}
}

func issueConcurrently(t *testing.T, s *subject) {
	n := cmp.Or(s.AtOnce, 32)
	alone := *s
	alone.a = s.another(t, s.a.Discovered)
	alone.issue(t, s.grant(t, s.Reader, s.MinTTL, s.Namespaces[0]))
	kept := alone.kept(t)

	drivers := []broker.Driver{s.restarted(t), s.restarted(t)} // two replicas
	grants, minted := make([]broker.Grant, n), make([]broker.Minted, n)
	var all errgroup.Group
	// So many may take a slow VIM longer than a driver waits unasked.
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	for i := range n {
		grants[i] = s.grant(t, s.Reader, s.MinTTL, s.Namespaces[0])
		all.Go(func() (err error) {
			minted[i], err = drivers[i%2].Issue(ctx, s.a, grants[i])
			return err
		})
	}
	if err := all.Wait(); err != nil {
		t.Fatalf("%d leases at once: %v", n, err)
	}
	var want []string
	for i, g := range grants {
		want = append(want, g.Handle)
		for j := range i {
			if same(minted[i].Credential, minted[j].Credential) {
				t.Errorf("leases %d and %d have one credential", i, j)
			}
		}
	}
	wantSet(t, "handles", s.Handles(t, s.a.VIM), want)
	if got := s.kept(t); len(got) != len(kept) {
		t.Errorf("kept for %d leases: %v, want as many as for one: %v", n, got, kept)
	}
}

// kept lists what the driver keeps for a VIM that has, or had, a lease; nothing
// where it keeps nothing.
func (s *subject) kept(t *testing.T) []string {
	t.Helper()
	if s.Kept == nil {
		return nil
	}
	kept := s.Kept(t, s.a.VIM)
	if len(kept) == 0 {
		t.Fatal("nothing is kept for a VIM with a lease")
	}
	return kept
}

// issueRepairs: what the driver remembers to have made may have been removed since.
func issueRepairs(t *testing.T, s *subject) {
	if s.Kept == nil {
		t.Skip("nothing is kept that could be removed")
	}
	s.issue(t, s.grant(t, s.Reader, s.MinTTL, s.Namespaces[0]))
	kept := s.Kept(t, s.a.VIM)
	s.RemoveKept(t, s.a.VIM)
	m := s.issue(t, s.grant(t, s.Reader, s.MinTTL, s.Namespaces[0]))
	s.wantMay(t, "reader", m, false, s.Namespaces[0])
	wantSet(t, "what is kept after the repair", s.Kept(t, s.a.VIM), kept)
}
