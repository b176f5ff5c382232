package postgres

import (
	"encoding/base64"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/test/real"
)

// tokenOf is a text as [secret.Seal] answers: of all bytes, and longer than a line of PostgreSQL's base64.
func tokenOf(version byte, length int) string {
	token := make([]byte, length)
	for i := range token {
		token[i] = byte(i * 7)
	}
	token[0] = version
	return base64.URLEncoding.EncodeToString(token)
}

// kept is what stands in the row of the lease "l", and apart from it.
func (s *Store) kept(t *testing.T) (row string, apart []string) {
	t.Helper()
	row, err := readOne(t.Context(), s, scalar[string], `SELECT sealed FROM leases WHERE id = 'l'`)
	if err != nil {
		t.Fatal(err)
	}
	tokens, err := read(t.Context(), s, scalar[[]byte], `SELECT sealed FROM lease_credentials`)
	if err != nil {
		t.Fatal(err)
	}
	for _, token := range tokens {
		apart = append(apart, base64.URLEncoding.EncodeToString(token))
	}
	return row, apart
}

// wantKept changes the lease "l", and compares what it has sealed then, wherever that is read.
func (s *Store) wantKept(t *testing.T, what string, change func(*broker.Lease), sealed, row string, apart ...string) {
	t.Helper()
	changed, err := s.UpdateLease(t.Context(), "l", func(l *broker.Lease) error { change(l); return nil }, entryOf("l"))
	if err != nil {
		t.Fatalf("%s: UpdateLease = %v", what, err)
	}
	found, err := s.Lease(t.Context(), "l")
	if err != nil {
		t.Fatalf("%s: Lease = %v", what, err)
	}
	listed, _, err := s.Leases(t.Context(), broker.LeaseFilter{VIM: "v"})
	if err != nil || len(listed) != 1 {
		t.Fatalf("%s: Leases = %d, %v", what, len(listed), err)
	}
	for where, l := range map[string]broker.Lease{"UpdateLease": changed, "Lease": found, "Leases": listed[0]} {
		if l.Sealed != sealed {
			t.Errorf("%s: %s answers the sealed credential %.20q of %d, want %.20q of %d", what, where, l.Sealed, len(l.Sealed), sealed, len(sealed))
		}
	}
	if gotRow, gotApart := s.kept(t); gotRow != row || !slices.Equal(gotApart, apart) {
		t.Errorf("%s: in the row stands %.20q and apart %.20q, want %.20q and %.20q", what, gotRow, gotApart, row, apart)
	}
}

func activeWith(sealed string) func(*broker.Lease) {
	return func(l *broker.Lease) {
		l.State, l.IssuedAt, l.ExpiresAt, l.Sealed, l.SealedKey = broker.LeaseActive, time.Unix(1, 0), time.Unix(2, 0), sealed, "old"
	}
}

func sealing(sealed string) func(*broker.Lease) { return func(l *broker.Lease) { l.Sealed = sealed } }

// A sealed credential stands apart from its lease, in bytes, until it is dropped.
func TestSealedCredentialsStandApart(t *testing.T) {
	s := withLease(t)
	first, second, third := tokenOf(0x80, 1024), tokenOf(0x81, 3000), tokenOf(0x82, 1)
	nothing := func(*broker.Lease) {}
	s.wantKept(t, "sealed", activeWith(first), first, "apart", first)
	s.wantKept(t, "left alone", nothing, first, "apart", first)
	s.wantKept(t, "renewed", sealing(second), second, "apart", second)
	if _, err := s.Rekey(t.Context(), "v", func(_ *broker.VIM, leases []broker.Lease) error {
		if len(leases) != 1 || leases[0].Sealed != second {
			t.Errorf("Rekey gives %d leases", len(leases))
		}
		leases[0].Sealed = third
		return nil
	}, entryOf("v")); err != nil {
		t.Fatalf("Rekey = %v", err)
	}
	s.wantKept(t, "sealed anew", nothing, third, "apart", third)
	for _, odd := range []string{"no base64", third[:len(third)-1], first + "\n"} {
		s.wantKept(t, "no token", sealing(odd), odd, odd)
		s.wantKept(t, "a token again", sealing(first), first, "apart", first)
	}
	revoked := func(l *broker.Lease) { l.State, l.RevokedAt = broker.LeaseRevoked, time.Unix(3, 0) }
	s.wantKept(t, "revoking", func(l *broker.Lease) { l.State = broker.LeaseRevoking }, first, "apart", first)
	s.wantKept(t, "revoked", revoked, first, "apart", first)
	s.wantKept(t, "confirmed dead", sealing(""), "", "")
}

// Where a credential is gone its lease can be read and revoked all the same.
func TestALostCredentialKeepsNoLease(t *testing.T) {
	s := withLease(t)
	token := tokenOf(0x80, 1024)
	s.wantKept(t, "sealed", activeWith(token), token, "apart", token)
	if _, err := s.pool.Exec(t.Context(), `DELETE FROM lease_credentials`); err != nil {
		t.Fatal(err)
	}
	s.wantKept(t, "lost", func(l *broker.Lease) { l.State = broker.LeaseRevoking }, "apart", "apart")
}

// What changes of a lease stands side by side.
func TestWhatChangesOfALeaseStandsTogether(t *testing.T) {
	s := mustOpen(t, real.Postgres(t).DSN(t))
	const last = `SELECT attname::text FROM pg_attribute WHERE attrelid = 'leases'::regclass AND attnum > 0 AND NOT attisdropped ORDER BY attnum DESC LIMIT 9`
	columns, err := read(t.Context(), s, scalar[string], last)
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"last_error", "reason", "state", "attempts", "next_attempt_at", "revoked_at", "revision", "confirmed_dead_at", "sealed"}
	if diff := cmp.Diff(want, columns); diff != "" {
		t.Errorf("the last columns (-want +got):\n%s", diff)
	}
}
