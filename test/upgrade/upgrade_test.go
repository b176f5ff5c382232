package upgrade

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	v1 "github.com/vimbroker/vimbroker/broker/api/v1"
	"github.com/vimbroker/vimbroker/test/real"
)

// TestInPlace replaces the server on a data directory, after it ended in order and after
// it was killed.
func TestInPlace(t *testing.T) {
	before, now := versions(t)
	for name, end := range map[string]func(*server){
		"stopped": (*server).stop,
		"killed":  func(v *server) { v.broker.Kill() },
	} {
		t.Run(name, func(t *testing.T) {
			s := newSite(t)
			old := s.serve("before", before)
			old.register()
			kept, renewed, revoked := old.pair("kept"), old.pair("renewed"), old.pair("revoked")
			old.renew(renewed)
			hers := old.issue(old.as(s.aliceToken()), edge, "alice")
			end(old)

			v := s.serve("now", now)
			v.wantListed(kept, renewed, revoked, []v1.IssuedLease{hers})
			v.wantOpen()
			v.wantSame(kept)
			v.renew(renewed)
			v.revoke(revoked)
			v.rotate()
			v.wantSame(kept)
			fresh := v.pair("fresh")
			v.renew(kept)
			s.wantOld(kept, renewed, []v1.IssuedLease{hers})
			s.wantNew(fresh)
			v.wantListed(kept, renewed, fresh, []v1.IssuedLease{hers})

			alice := v.as(s.aliceToken())
			if got, err := alice.RenewLease(t.Context(), hers.ID, v1.Renewal{}); err != nil || got.State != "active" {
				t.Errorf("alice renews the lease of before: %q, %v", got.State, err)
			}
			if got, err := alice.RevokeLease(t.Context(), hers.ID); err != nil || got.State != "revoked" {
				t.Errorf("alice revokes the lease of before: %q, %v", got.State, err)
			}
			v.revoke(kept, renewed)
			s.wantNothingShared()
			v.renew(fresh)
			s.wantNew(fresh)
			v.revoke(fresh)
			v.wantNothingLeft()
		})
	}
}

// TestBeside has both versions serve on one database, as they do while replicas are
// upgraded one after the other.
func TestBeside(t *testing.T) {
	before, now := versions(t)
	s := newSite(t)
	dsn := real.Postgres(t).DSN(t)
	s.database = "database: {postgres: {dsnFile: " + s.write("dsn", dsn+"\n") + "}}"
	s.run(before, nil, "db", "migrate", "--config", s.configure("migrate", "127.0.0.1:0"))
	old := s.serve("before", before)
	old.register()
	ofOld := map[string][]v1.IssuedLease{}
	for _, key := range []string{"renewed", "revoked", "due", "kept"} {
		ofOld[key] = old.pair("old-" + key)
	}

	hers := []v1.IssuedLease{old.issue(old.as(s.aliceToken()), edge, "alice-old")}

	s.run(now, nil, "db", "migrate", "--config", s.configure("migrate", "127.0.0.1:0"))
	v := s.serve("now", now)
	hers = append(hers, v.issue(v.as(s.aliceToken()), edge, "alice-new"))
	ofNew := map[string][]v1.IssuedLease{}
	for _, key := range []string{"renewed", "revoked", "due", "kept"} {
		ofNew[key] = v.pair("new-" + key)
	}
	for _, at := range []*server{old, v} {
		at.wantListed(hers, ofOld["renewed"], ofOld["revoked"], ofOld["due"], ofOld["kept"], ofNew["renewed"], ofNew["revoked"], ofNew["due"], ofNew["kept"])
		at.wantCheck()
	}
	v.wantNoDiscrepancy()
	old.wantSame(ofNew["kept"])
	v.wantSame(ofOld["kept"])
	// The earlier version knows no service account of a lease: it writes no such lease.
	old.wantRefused(ofNew["renewed"][:1])
	old.renew(ofNew["renewed"][1:])
	old.revoke(ofNew["revoked"][1:])
	v.renew(ofNew["renewed"][:1])
	v.revoke(ofNew["revoked"][:1])
	v.renew(ofOld["renewed"])
	v.revoke(ofOld["revoked"])
	s.wantOld(ofOld["renewed"], ofOld["due"], ofOld["kept"], hers[:1])
	s.wantNew(ofNew["renewed"], ofNew["due"], ofNew["kept"], hers[1:])

	// Before schema 7 the names of Keystone's callers had no prefix: the earlier version does
	// not know that a lease of the next one is alice's, and the next one knows both.
	for _, l := range hers {
		alice := v.as(s.aliceToken())
		if got, err := alice.RenewLease(t.Context(), l.ID, v1.Renewal{}); err != nil || got.State != "active" {
			t.Errorf("alice renews the lease %s: %q, %v", l.Purpose, got.State, err)
		}
		if got, err := alice.RevokeLease(t.Context(), l.ID); err != nil || got.State != "revoked" {
			t.Errorf("alice revokes the lease %s: %q, %v", l.Purpose, got.State, err)
		}
	}

	// What one seals anew the other opens, and a version of before starts again.
	v.rotate()
	old.wantSame(ofNew["kept"])
	old.broker.Kill()
	old.start()
	old.rotate()
	v.wantSame(ofOld["kept"])

	// What is due ends, whoever runs the passes; then by the new one alone.
	s.wantReaped(dsn, v, ofOld["due"])
	old.stop()
	s.wantReaped(dsn, v, ofNew["due"])

	v.wantListed(ofOld["renewed"], ofOld["kept"], ofNew["renewed"], ofNew["kept"])
	v.revoke(ofOld["renewed"], ofOld["kept"])
	s.wantNothingShared()
	v.renew(ofNew["renewed"])
	s.wantNew(ofNew["renewed"], ofNew["kept"])
	v.revoke(ofNew["renewed"], ofNew["kept"])
	v.wantNothingLeft()
}

// wantReaped ends the life of leases now, by the database's clock, and waits until they are
// revoked.
func (s *site) wantReaped(dsn string, v *server, leases []v1.IssuedLease) {
	s.t.Helper()
	conn, err := pgx.Connect(s.t.Context(), dsn)
	if err != nil {
		s.t.Fatal(err)
	}
	defer conn.Close(context.WithoutCancel(s.t.Context()))
	for _, l := range leases {
		if _, err := conn.Exec(s.t.Context(), `UPDATE leases SET expires_at = now() WHERE id = $1`, l.ID); err != nil {
			s.t.Fatal(err)
		}
	}
	late := time.After(time.Minute)
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for _, l := range leases {
		for {
			got, err := v.Lease(s.t.Context(), l.ID)
			if err == nil && got.State == "revoked" {
				break
			}
			select {
			case <-tick.C:
			case <-late:
				s.t.Fatal(fmt.Errorf("lease %s is due and %q, %w", l.Purpose, got.State, err))
			}
		}
		if s.upstream(l) {
			s.t.Errorf("lease %s is revoked and alive upstream", l.Purpose)
		}
	}
}
