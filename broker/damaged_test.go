package broker_test

import (
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/test/quickstore"
)

// A VIM whose row cannot be read stops no pass and no list over the others.
func TestADamagedRowStopsNoPass(t *testing.T) {
	b := newBench(t, benchOptions{})
	bad, good := b.mustRegister(alice, "bad"), b.mustRegister(alice, "good")
	l, _ := b.mustIssue(alice, "good")
	db, err := quickstore.Raw(filepath.Join(b.dir, "data", "vimbroker.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.Exec(`INSERT INTO vim_labels VALUES (?, 'a', 'b')`, bad.ID); err != nil {
		t.Fatal(err)
	}
	if _, err := db.Exec(`INSERT INTO vim_generations SELECT vim, 7, endpoint, ca_cert, insecure_skip_verify, server_name, namespace, '{', shared_kinds, pods_held_by, discovered,
		identity, username, credential_kind, credential_expires_at, sealed, sealed_as, key_ref, key_store FROM vim_generations WHERE vim = ?`, bad.ID); err != nil {
		t.Fatal(err)
	}
	b.clock.Add(2 * time.Hour)
	for _, pass := range b.Passes() {
		if err := pass.Run(t.Context()); err != nil {
			t.Errorf("pass %s = %v", pass.Name, err)
		}
	}
	if got := b.row(l.ID).State; got != broker.LeaseRevoked {
		t.Errorf("the lease that was due on the other VIM is %s, want revoked", got)
	}
	if v, err := b.VIM(t.Context(), alice, good.ID); err != nil || !v.Health.CheckedAt.After(good.Health.CheckedAt) {
		t.Errorf("the other VIM was checked at %v, %v, want it checked now", v.Health.CheckedAt, err)
	}
	for _, ref := range []string{"bad", bad.ID} {
		_, err = b.VIM(t.Context(), alice, ref)
		wantKind(t, "VIM() of the damaged row", err, broker.ErrUnavailable)
	}
	if !strings.Contains(b.log.String(), "no pass goes over it\" vim="+bad.ID) {
		t.Error("the log does not name the damaged VIM")
	}
}
