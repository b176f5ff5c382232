package conformance

import (
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/vimbroker/vimbroker/broker"
)

func isConflict(err error) bool { return errors.Is(err, broker.ErrConflict) }

func renewMints(t *testing.T, s *subject) {
	g := s.grant(t, s.Reader, s.life())
	first := s.issue(t, g)
	g.TTL = 2 * s.life()
	second, err := s.restarted(t).Renew(t.Context(), s.a, g)
	if err != nil {
		t.Fatalf("Renew() = %v", err)
	}
	if same(first.Credential, second.Credential) {
		t.Error("renewed, and the credential is the same")
	}
	if d := second.ExpiresAt.Sub(first.ExpiresAt); d < s.life()-5*time.Second {
		t.Errorf("renewal extends by %v, want about %v", d, s.life())
	}
	if !s.alive(t, first) || !s.alive(t, second) {
		t.Error("after a renewal, both credentials should work")
	}
	wantSet(t, "handles", s.Handles(t, s.a.VIM), []string{g.Handle})
}

func renewNotFound(t *testing.T, s *subject) {
	g := s.grant(t, s.Reader, s.MinTTL)
	before := s.Everything(t)
	_, err := s.d.Renew(t.Context(), s.a, g)
	wantKind(t, "Renew of what never was", err, broker.ErrNotFound)
	wantSet(t, "objects after it", s.Everything(t), before)

	s.issue(t, g)
	s.Remove(t, g.Handle)
	_, err = s.d.Renew(t.Context(), s.a, g)
	wantKind(t, "Renew of what was removed by hand", err, broker.ErrNotFound)
	wantSet(t, "handles", s.Handles(t, s.a.VIM), nil)
}

func revokeKills(t *testing.T, s *subject) {
	g := s.grant(t, s.Reader, s.life())
	minted := []broker.Minted{s.issue(t, g)}
	for range 2 {
		m, err := s.d.Renew(t.Context(), s.a, g)
		if err != nil {
			t.Fatal(err)
		}
		minted = append(minted, m)
	}
	bystander := s.issue(t, s.grant(t, s.Reader, s.life()))
	for _, m := range minted {
		if !s.alive(t, m) {
			t.Fatal("dead before it was revoked")
		}
		if m.UID != minted[0].UID {
			t.Errorf("a renewal is of object %q, and the lease was issued as %q", m.UID, minted[0].UID)
		}
	}
	// As the broker has it: the newest is known, and those before it are not.
	if err := s.d.Revoke(t.Context(), s.a, broker.Issued{Handle: g.Handle, UID: minted[0].UID, Grant: g, Credential: minted[2].Credential, Renewed: true}); err != nil {
		t.Fatal(err)
	}
	for _, m := range minted {
		s.wantDead(t, "a credential of a revoked lease", m)
	}
	if slices.Contains(s.Handles(t, s.a.VIM), g.Handle) {
		t.Error("revoked, and its upstream object is there")
	}
	if !s.alive(t, bystander) {
		t.Error("a lease of the same role died as well")
	}
}

func revokeIdempotent(t *testing.T, s *subject) {
	revoke := func(what string, i broker.Issued) {
		t.Helper()
		if err := s.d.Revoke(t.Context(), s.a, i); err != nil {
			t.Errorf("Revoke of %s, with a credential of kind %q: %v", what, i.Credential.Kind, err)
		}
		wantSet(t, "handles after Revoke of "+what, s.Handles(t, s.a.VIM), nil)
	}
	never := s.grant(t, s.Reader, s.MinTTL)
	revoke("what never was, on a VIM that has seen no lease", broker.Issued{Handle: never.Handle, Grant: never})
	for _, known := range []bool{false, true} {
		issue := func() broker.Issued {
			g := s.grant(t, s.Reader, s.MinTTL)
			i := broker.Issued{Handle: g.Handle, Grant: g}
			if m := s.issue(t, g); known {
				i.Credential, i.UID = m.Credential, m.UID
			}
			return i
		}
		i := issue()
		revoke("a lease", i)
		revoke("a lease that was revoked", i)

		i = issue()
		s.Remove(t, i.Handle)
		revoke("what was removed by hand", i)
	}
}

func revokeWrongCredential(t *testing.T, s *subject) {
	g := s.grant(t, s.Reader, s.MinTTL)
	m := s.issue(t, g)
	for name, r := range s.Refused {
		bad := s.a
		target, credential, err := s.d.Normalize(r)
		if err != nil {
			t.Fatal(err)
		}
		bad.Target, bad.Credential = target, credential
		wantKind(t, "Revoke with "+name, s.d.Revoke(t.Context(), bad, broker.Issued{Handle: g.Handle, Grant: g}), broker.ErrUnauthorized)
		_, err = s.d.Inventory(t.Context(), bad)
		wantKind(t, "Inventory with "+name, err, broker.ErrUnauthorized)
		wantKind(t, "Forget with "+name, s.d.Forget(t.Context(), bad), broker.ErrUnauthorized)
	}
	if !s.alive(t, m) {
		t.Error("a lease died by a credential that the VIM refuses")
	}
	wantSet(t, "handles", s.Handles(t, s.a.VIM), []string{g.Handle})
}

func revokeHeld(t *testing.T, s *subject) {
	if s.Hold == nil {
		t.Skip("nothing can hold an object of this kind of VIM")
	}
	g := s.grant(t, s.Reader, s.MinTTL)
	s.issue(t, g)
	release := s.Hold(t, g.Handle)
	for range 2 {
		if err := s.d.Revoke(t.Context(), s.a, broker.Issued{Handle: g.Handle, Grant: g}); err == nil {
			t.Error("Revoke says done of an object that is still there")
		}
	}
	if _, err := s.d.Renew(t.Context(), s.a, g); err == nil {
		t.Error("a lease that is being revoked was renewed")
	}
	found, err := s.d.Inventory(t.Context(), s.a)
	if err != nil || len(found) != 1 {
		t.Errorf("Inventory of what is held = %v, %v, want it listed", found, err)
	}
	release()
	if err := s.d.Revoke(t.Context(), s.a, broker.Issued{Handle: g.Handle, Grant: g}); err != nil {
		t.Errorf("Revoke after its release: %v", err)
	}
	wantSet(t, "handles", s.Handles(t, s.a.VIM), nil)
}

func deadOnlyOnWord(t *testing.T, s *subject) {
	m := s.issue(t, s.grant(t, s.Reader, s.MinTTL))
	a := s.a
	if dead, err := s.d.Dead(t.Context(), a, m.Credential); dead || err != nil {
		t.Errorf("Dead of a live credential = %v, %v", dead, err)
	}
	// The registered credential is an administrator's: it must not stand in.
	if dead, err := s.d.Dead(t.Context(), a, s.Unknown); !dead || err != nil {
		t.Errorf("Dead of what never was = %v, %v, want true", dead, err)
	}
	if dead, err := s.d.Dead(t.Context(), a, broker.Credential{Kind: s.Unknown.Kind}); dead || err == nil {
		t.Errorf("Dead of nothing = %v, %v, want an error", dead, err)
	}
	a.Target.CACert = ""
	dead, err := s.d.Dead(t.Context(), a, m.Credential)
	if dead {
		t.Error("dead, says a server that was not verified")
	}
	wantKind(t, "Dead under another CA", err, broker.ErrUnreachable)
}

func inventoryEachOnce(t *testing.T, s *subject) {
	list := func(a broker.Access) map[string]broker.Upstream {
		t.Helper()
		found, err := s.d.Inventory(t.Context(), a)
		if err != nil {
			t.Fatalf("Inventory() = %v", err)
		}
		byHandle := map[string]broker.Upstream{}
		for _, u := range found {
			if _, twice := byHandle[u.Handle]; twice {
				t.Errorf("%s is listed twice", u.Handle)
			}
			byHandle[u.Handle] = u
		}
		return byHandle
	}
	if found := list(s.a); len(found) > 0 {
		t.Errorf("Inventory of a VIM without leases = %v", found)
	}
	other := s.another(t, s.a.Discovered)
	theirs := s.grant(t, s.Reader, s.MinTTL)
	if _, err := s.d.Issue(t.Context(), other, theirs); err != nil {
		t.Fatal(err)
	}
	s.Plant(t, other.VIM, "lease-that-is-nobodys")

	before := s.Now().Add(-5 * time.Second)
	var grants []broker.Grant
	for _, namespaces := range [][]string{nil, {s.Namespaces[0]}, s.Namespaces[:]} {
		g := s.grant(t, s.Reader, s.MinTTL, namespaces...)
		s.issue(t, g)
		if _, err := s.d.Renew(t.Context(), s.a, g); err != nil {
			t.Fatal(err)
		}
		grants = append(grants, g)
	}
	found := list(s.a)
	if len(found) != len(grants) {
		t.Errorf("Inventory lists %d, want %d", len(found), len(grants))
	}
	for _, g := range grants {
		u, ok := found[g.Handle]
		if !ok || u.Lease != g.Lease {
			t.Errorf("Inventory has %+v for %s, want lease %s", u, g.Handle, g.Lease)
		}
		if u.CreatedAt.Before(before) || u.CreatedAt.After(s.Now().Add(5*time.Second)) || u.CreatedAt.Location() != time.UTC {
			t.Errorf("%s was created at %v, want about %v in UTC", g.Handle, u.CreatedAt, s.Now().UTC())
		}
	}
	if theirsToo := list(other); len(theirsToo) != 1 || theirsToo[theirs.Handle].Lease != theirs.Lease {
		t.Errorf("Inventory of the other VIM = %v", theirsToo)
	}
	if err := s.d.Revoke(t.Context(), s.a, broker.Issued{Handle: grants[0].Handle, Grant: grants[0]}); err != nil {
		t.Fatal(err)
	}
	if _, there := list(s.a)[grants[0].Handle]; there {
		t.Error("Inventory lists what was revoked")
	}
}

// endInstead is a VIM whose credential was replaced, while a lease of the one before
// lives on that the VIM refuses by now. What the new one may not see is forbidden,
// and never taken for gone.
func endInstead(t *testing.T, s *subject) {
	for name, r := range s.Others {
		g := s.grant(t, s.Reader, s.MinTTL)
		m := s.issue(t, g)
		next := s.access(t, r)
		next.VIM, next.Generation, next.InsteadOf = s.a.VIM, 2, &s.a.Discovered
		maybe := func(what string, err error) bool {
			t.Helper()
			if err != nil {
				wantKind(t, what+" by "+name+" instead", err, broker.ErrForbidden)
			}
			return err == nil
		}
		found, err := s.d.Inventory(t.Context(), next)
		if maybe("Inventory", err) && !slices.ContainsFunc(found, func(u broker.Upstream) bool { return u.Handle == g.Handle }) {
			t.Errorf("Inventory by %s instead = %v, want %s in it", name, found, g.Handle)
		}
		second, err := s.d.Renew(t.Context(), next, g)
		if maybe("Renew", err) && !s.alive(t, second) {
			t.Errorf("a lease renewed by %s instead does not work", name)
		}
		if maybe("Revoke", s.d.Revoke(t.Context(), next, broker.Issued{Handle: g.Handle, Grant: g, Credential: m.Credential})) {
			s.wantDead(t, "a lease revoked by "+name+" instead", m)
		} else if !s.alive(t, m) {
			t.Errorf("a lease died by %s, which may not revoke it", name)
		}
		// Its own leases are another matter.
		next.InsteadOf = nil
		own := s.grant(t, s.Reader, s.MinTTL)
		if _, err := s.d.Issue(t.Context(), next, own); err != nil {
			t.Fatalf("Issue by %s: %v", name, err)
		}
		found, err = s.d.Inventory(t.Context(), next)
		if err != nil || !slices.ContainsFunc(found, func(u broker.Upstream) bool { return u.Handle == own.Handle }) {
			t.Errorf("Inventory by %s = %v, %v, want %s in it", name, found, err, own.Handle)
		}
		if err := s.d.Revoke(t.Context(), next, broker.Issued{Handle: own.Handle, Grant: own}); err != nil {
			t.Errorf("Revoke by %s: %v", name, err)
		}
	}
}

func forgetLeavesNothing(t *testing.T, s *subject) {
	other := s.another(t, s.a.Discovered)
	bystander, err := s.d.Issue(t.Context(), other, s.grant(t, s.Reader, s.life()))
	if err != nil {
		t.Fatal(err)
	}
	if err := s.d.Forget(t.Context(), s.a); err != nil {
		t.Errorf("Forget of a VIM without leases: %v", err)
	}
	for _, namespaces := range [][]string{nil, {s.Namespaces[0]}, s.Namespaces[:]} {
		g := s.grant(t, s.Writer, s.MinTTL, namespaces...)
		s.issue(t, g)
		if err := s.d.Revoke(t.Context(), s.a, broker.Issued{Handle: g.Handle, Grant: g}); err != nil {
			t.Fatal(err)
		}
	}
	s.kept(t)
	// A driver that has seen nothing forgets as well as one that made it all.
	for range 2 {
		if err := s.restarted(t).Forget(t.Context(), s.a); err != nil {
			t.Errorf("Forget() = %v", err)
		}
		if s.Kept != nil {
			wantSet(t, "what is kept after Forget", s.Kept(t, s.a.VIM), nil)
		}
	}
	if !s.alive(t, bystander) {
		t.Error("Forget killed another VIM's lease")
	}
	s.epoch++ // what was forgotten is not made again under its name
	m := s.issue(t, s.grant(t, s.Reader, s.MinTTL))
	s.wantMay(t, "reader issued after Forget", m, false, s.Namespaces[0])
}

// tokenUnlisted is a VIM whose leases have no object upstream: what was minted is
// all that there is to take back.
func tokenUnlisted(t *testing.T, s *subject) {
	if len(s.Tokens) == 0 {
		t.Skip("every lease of this kind of VIM has an object upstream")
	}
	for name, v := range s.Tokens {
		as := *s
		as.a = as.access(t, v.Registration)
		before := s.Everything(t)
		if report, err := as.d.Check(t.Context(), as.a); err != nil || !report.CanMint {
			t.Fatalf("Check with %s = %+v, %v, want one that can mint", name, report, err)
		}
		g, second := as.grant(t, v.Role, s.MinTTL), as.grant(t, v.Role, s.MinTTL)
		g.Purpose, second.Purpose = v.Purpose, v.Purpose
		m, other := as.issue(t, g), as.issue(t, second)
		if !m.Unlisted || same(m.Credential, other.Credential) {
			t.Errorf("with %s: unlisted = %v, one credential for two leases = %v", name, m.Unlisted, same(m.Credential, other.Credential))
		}
		if !as.alive(t, m) {
			t.Errorf("with %s: a token was dead when it was handed out", name)
		}
		if found, err := as.d.Inventory(t.Context(), as.a); err != nil || len(found) > 0 {
			t.Errorf("with %s: Inventory = %v, %v, want nothing", name, found, err)
		}
		_, err := as.d.Renew(t.Context(), as.a, g)
		wantKind(t, "Renew of a token with "+name, err, broker.ErrUnsupported)
		for range 2 {
			if err := as.d.Revoke(t.Context(), as.a, broker.Issued{Handle: g.Handle, Grant: g, Credential: m.Credential}); err != nil {
				t.Errorf("Revoke with %s = %v", name, err)
			}
		}
		as.wantDead(t, "a revoked token with "+name, m)
		if !as.alive(t, other) {
			t.Errorf("with %s: another lease's token died as well", name)
		}
		// The process died between minting and recording: nobody has the token.
		if err := as.d.Revoke(t.Context(), as.a, broker.Issued{Handle: g.Handle, Grant: g}); err != nil {
			t.Errorf("Revoke of a token that was lost with %s = %v", name, err)
		}
		wantSet(t, "objects after it all with "+name, s.Everything(t), before)
	}
}
