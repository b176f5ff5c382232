package replicas

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/vimbroker/vimbroker/broker/api/client"
	v1 "github.com/vimbroker/vimbroker/broker/api/v1"
	"github.com/vimbroker/vimbroker/broker/notary"
	"github.com/vimbroker/vimbroker/policy"
	"github.com/vimbroker/vimbroker/policy/audit/tree"
	"github.com/vimbroker/vimbroker/test/fakevault"
	"github.com/vimbroker/vimbroker/test/story"
)

// everySecond has the audit log signed as often as can be.
const everySecond = "audit: {checkpointInterval: 1s}\n"

// rewritten and unsigned are what a log says that was changed, or is not signed for long.
const (
	rewritten = "was changed behind the broker's back"
	unsigned  = "the audit log is not signed"
)

// TestAuditSignedByAll has all replicas sign the audit log and exchange its key at once, and kills
// one as it signs. The checkpoints are those of one log.
func TestAuditSignedByAll(t *testing.T) {
	t.Parallel()
	demand(t)
	mortal := filepath.Join(t.TempDir(), "vimbroker")
	if err := story.BuildAt(mortal, "-tags", "failpoints"); err != nil {
		t.Fatal(err)
	}
	f := newFleetOn(t, shared(t), footing{program: mortal, settings: everySecond})
	l := f.begin()
	first := f.replicas[1].signedBeyond(0)
	var rotated int
	var mu sync.Mutex
	for range 3 {
		var all sync.WaitGroup
		for _, r := range f.replicas {
			all.Go(func() {
				_, err := r.RotateAuditKey(t.Context())
				if err != nil && client.Status(err) != http.StatusConflict { // another was first
					t.Errorf("RotateAuditKey = %v", err)
				}
				mu.Lock()
				defer mu.Unlock()
				if err == nil {
					rotated++
				}
			})
		}
		all.Wait()
	}
	if rotated == 0 {
		t.Error("of nine who exchanged the key at once nobody did")
	}
	victim := f.replicas[2]
	f.write(victim.armFile(), "audit.signed")
	if _, err := victim.broker.Ended(patience); err != nil {
		t.Fatalf("the replica that was to die as it signs: %v", err)
	}
	before := f.replicas[1].signedBeyond(first)
	f.replicas[0].signedBeyond(before)
	f.write(victim.armFile(), "")
	victim.start()
	l.more(enough)
	l.end()
	l.prove()
	f.proveCheckpoints(rotated + 1)
}

// signedBeyond waits for a checkpoint of more entries, and returns how many it has.
func (r *replica) signedBeyond(size int64) int64 {
	r.fleet.t.Helper()
	var c v1.AuditCheckpoint
	eventually(r.fleet.t, "the audit log is signed further", func(ctx context.Context) (err error) {
		c, err = r.AuditCheckpoint(ctx)
		if err == nil && c.Size <= size {
			err = fmt.Errorf("the last checkpoint is of %d entries, want more than %d", c.Size, size)
		}
		return err
	})
	return c.Size
}

// proveCheckpoints opens every checkpoint of the log, and holds each against the next; there are so many
// keys, of which one signs. No replica has seen a log that does not continue the one before.
func (f *fleet) proveCheckpoints(keys int) {
	f.t.Helper()
	m := f.join()
	all, err := m.store.SigningKeys(f.t.Context())
	if err != nil {
		f.t.Fatal(err)
	}
	signing, shown := 0, 0
	for _, k := range all {
		switch k.State {
		case notary.Signing:
			signing++
			shown++
		case notary.Retired:
			shown++
		}
	}
	if signing != 1 || shown != keys {
		f.t.Errorf("%d keys sign, and there are %d; want 1 and %d", signing, shown, keys)
	}
	conn, err := pgx.Connect(f.t.Context(), f.dsn)
	if err != nil {
		f.t.Fatal(err)
	}
	defer conn.Close(context.WithoutCancel(f.t.Context()))
	rows, err := conn.Query(f.t.Context(), `SELECT size, note FROM audit_checkpoints ORDER BY size`)
	if err != nil {
		f.t.Fatal(err)
	}
	before := tree.Empty()
	var size int64
	var note string
	if _, err := pgx.ForEachRow(rows, []any{&size, &note}, func() error {
		state, err := notary.Open(all, note)
		if err != nil || state.Size != size {
			return fmt.Errorf("the checkpoint of %d entries opens as %d, %w", size, state.Size, err)
		}
		var proof []tree.Hash
		if before.Size > 0 {
			if proof, err = tree.ProveConsistency(f.t.Context(), m.store, state, before.Size); err != nil {
				return err
			}
		}
		if err := tree.CheckConsistency(state, before, proof); err != nil {
			return fmt.Errorf("the checkpoint of %d entries does not continue that of %d: %w", size, before.Size, err)
		}
		before = state
		return nil
	}); err != nil {
		f.t.Error(err)
	}
	for i, r := range f.replicas {
		if strings.Contains(r.said(), rewritten) {
			f.t.Errorf("replica %d says that the audit log %s", i, rewritten)
		}
	}
}

// said is the log of all processes of the replica.
func (r *replica) said() string {
	r.fleet.t.Helper()
	text, err := os.ReadFile(r.broker.File)
	if err != nil {
		r.fleet.t.Fatal(err)
	}
	return string(text)
}

// gauge is a metric of the replica.
func (r *replica) gauge(name string) float64 {
	r.fleet.t.Helper()
	request, err := http.NewRequestWithContext(r.fleet.t.Context(), http.MethodGet, r.broker.URL+"/metrics", nil)
	if err != nil {
		r.fleet.t.Fatal(err)
	}
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		r.fleet.t.Fatal(err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		r.fleet.t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		if value, found := strings.CutPrefix(line, name+" "); found {
			v, err := strconv.ParseFloat(strings.TrimSpace(value), 64)
			if err != nil {
				r.fleet.t.Fatal(err)
			}
			return v
		}
	}
	return math.NaN() // the store could not be asked
}

// TestAuditWithASealedVault seals the key store that the log's key is in. Checkpoints wait, a metric says
// for how long, leases are not issued, and a revocation is taken and recorded. Once it is unsealed
// all of that is made up for.
func TestAuditWithASealedVault(t *testing.T) {
	t.Parallel()
	demand(t)
	v := fakevault.New(t, nil)
	dir := t.TempDir()
	file := func(name, text string) string {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return filepath.Join(dir, name)
	}
	f := newFleetOn(t, shared(t), footing{program: present, settings: everySecond, keyStores: fmt.Sprintf(
		"  - vault: {address: %q, caFile: %q, timeout: 15s, auth: {appRole: {roleIDFile: %q, secretIDFile: %q}}}\n",
		v.Address, file("ca.pem", v.CA), file("role-id", v.RoleID+"\n"), file("secret-id", v.SecretID()+"\n"))})
	r := f.replicas[0]
	var leases []string
	for range 2 {
		answered(t, "a replica issues", func(ctx context.Context) error {
			issued, err := r.IssueLease(ctx, v1.LeaseRequest{VIM: "edge", Role: "view"}, "")
			if err == nil {
				leases = append(leases, issued.ID)
			}
			return err
		})
	}
	r.signedBeyond(0)

	v.Seal()
	if _, err := r.IssueLease(t.Context(), v1.LeaseRequest{VIM: "edge", Role: "view"}, ""); client.Status(err) != http.StatusServiceUnavailable {
		t.Errorf("IssueLease with a sealed Vault = %v, want 503", err)
	}
	for i, id := range leases {
		after, err := f.replicas[i].RevokeLease(t.Context(), id)
		if err != nil || after.State != "revoking" && after.State != "revoked" {
			t.Errorf("RevokeLease with a sealed Vault = %s, %v, want it taken", after.State, err)
		}
	}
	done, err := r.Audit(t.Context(), client.AuditQuery{Lease: leases[0], Action: string(policy.LeaseRevoke), Outcomes: []string{"intent"}})
	if err != nil || len(done.Items) != 1 {
		t.Errorf("the audit log has %d intents of the revocation, %v, want 1", len(done.Items), err)
	}
	eventually(t, "every replica says for how long the log is not signed", func(context.Context) error {
		for i, r := range f.replicas {
			if waits := r.gauge("vimbroker_audit_unsigned_seconds"); !(waits > 3) {
				return fmt.Errorf("replica %d says %v seconds", i, waits)
			}
		}
		return nil
	})
	stuck, err := r.AuditCheckpoint(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if now, err := r.AuditTree(t.Context(), 0); err != nil || now.Size <= stuck.Size {
		t.Errorf("the log has %d entries, %v, of which %d were signed while the Vault was sealed", now.Size, err, stuck.Size)
	}

	v.Unseal()
	r.signedBeyond(stuck.Size)
	eventually(t, "the log is signed again, and the leases are revoked", func(ctx context.Context) error {
		for i, r := range f.replicas {
			if waits := r.gauge("vimbroker_audit_unsigned_seconds"); !(waits <= 3) {
				return fmt.Errorf("replica %d says %v seconds", i, waits)
			}
		}
		for _, id := range leases {
			if l, err := r.Lease(ctx, id); err != nil || l.State != "revoked" {
				return errors.Join(fmt.Errorf("lease %s is %s", id, l.State), err)
			}
		}
		return nil
	})
	f.proveCheckpoints(1)
}

// shortlyKept keeps audit entries for the shortest time that can be.
const shortlyKept = everySecond + "retention: {audit: 24h}\n"

// TestAuditWithClocksApart sets the clocks of two replicas apart by days, more than audit entries are kept
// for. The database's clock counts.
func TestAuditWithClocksApart(t *testing.T) {
	t.Parallel()
	demand(t)
	f := newFleetOn(t, shared(t), footing{program: present, settings: shortlyKept})
	for i, ahead := range []time.Duration{48 * time.Hour, -48 * time.Hour} {
		r := f.replicas[i]
		if err := r.broker.Stop(); err != nil {
			t.Error(err)
		}
		r.begin = startApart(t, ahead)
		r.start()
	}
	if err := f.replicas[2].broker.Stop(); err != nil { // the two have all passes to themselves
		t.Error(err)
	}
	began := time.Now()
	for _, r := range f.replicas[:2] {
		r.lives(began)
	}
	f.replicas[2].start()
	f.proveAudit()
	f.proveCheckpoints(1)
}

// record has the replica write an audit entry: each refusal is one.
func (r *replica) record() {
	r.fleet.t.Helper()
	if _, err := r.IssueLease(r.fleet.t.Context(), v1.LeaseRequest{VIM: "no-such-vim", Role: "view"}, ""); client.Status(err) != http.StatusNotFound {
		r.fleet.t.Errorf("IssueLease = %v, want 404", err)
	}
}

// lives waits until the replica signs what is written through it. The entry is dated between began and now,
// nothing is removed, and there is no alarm.
func (r *replica) lives(began time.Time) {
	t := r.fleet.t
	t.Helper()
	now, err := r.AuditTree(t.Context(), 0)
	if err != nil {
		t.Fatal(err)
	}
	r.record()
	r.signedBeyond(now.Size)
	for e, err := range r.AllAudit(t.Context(), client.AuditQuery{PageSize: 1}) {
		if err != nil {
			t.Fatal(err)
		}
		if e.Time.Before(began.Add(-time.Minute)) || e.Time.After(time.Now().Add(time.Minute)) {
			t.Errorf("an entry of now is dated %v", e.Time)
		}
		break
	}
	if past, err := r.Retention(t.Context()); err != nil || past.Horizon != 0 || past.Entries != 0 {
		t.Errorf("entries up to %d were removed, and %d are next, %v; want none", past.Horizon, past.Entries, err)
	}
	if said := r.said(); strings.Contains(said, unsigned) || strings.Contains(said, rewritten) {
		t.Error("there is an alarm about the audit log, without cause")
	}
}
