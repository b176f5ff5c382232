package conformance

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"
	"github.com/transparency-dev/merkle/proof"
	"github.com/transparency-dev/merkle/rfc6962"
	"golang.org/x/mod/sumdb/note"

	"github.com/vimbroker/vimbroker/broker/keyring"
	"github.com/vimbroker/vimbroker/broker/notary"
	"github.com/vimbroker/vimbroker/broker/secret"
	"github.com/vimbroker/vimbroker/drivers/keydir"
	"github.com/vimbroker/vimbroker/policy"
	"github.com/vimbroker/vimbroker/policy/audit"
	"github.com/vimbroker/vimbroker/policy/audit/tree"
)

// signed is a store whose log notaries sign.
type signed struct {
	storeTest
	keys  secret.KeyStore
	guard *audit.Guard
	now   func() time.Time

	anchors []notary.Anchor
}

func newSigned(t *testing.T, s storeTest) *signed {
	keys, err := keydir.Open(filepath.Join(t.TempDir(), "keys"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = keys.Close() })
	policies, err := policy.Load(nil)
	if err != nil {
		t.Fatal(err)
	}
	now := func() time.Time { return epoch }
	return &signed{s, keys, &audit.Guard{Policy: policies, Sink: s, Now: now}, now, nil}
}

// notary is one process.
func (s *signed) notary() *notary.Notary {
	return notary.New(s, []secret.KeyStore{s.keys}, s.anchors, s.now)
}

func (s *signed) act(t *testing.T) *audit.Act {
	t.Helper()
	admin := policy.Principal{Name: "admin", Project: "default", Roles: []string{policy.RoleAdmin}}
	act, err := s.guard.Enter(s.ctx, admin, policy.AuditKey, policy.Resource{Kind: policy.KindProject, ID: "*", Project: "*"}, policy.Wish{})
	if err != nil {
		t.Fatal(err)
	}
	return act
}

// sign adds an entry, and has a notary sign the log.
func (s *signed) sign(t *testing.T, n *notary.Notary) notary.Checkpoint {
	t.Helper()
	if err := s.Append(s.ctx, entry(uuid.NewString())); err != nil {
		t.Fatal(err)
	}
	if err := s.Grow(s.ctx); err != nil {
		t.Fatal(err)
	}
	if err := n.Sign(s.ctx, func(context.Context) (*audit.Act, error) { return s.act(t), nil }); err != nil {
		t.Fatalf("Sign = %v", err)
	}
	c, err := s.LastCheckpoint(s.ctx)
	if err != nil {
		t.Fatalf("LastCheckpoint = %v", err)
	}
	return c
}

func (s *signed) signers(t *testing.T) []notary.SigningKey {
	t.Helper()
	keys, err := s.SigningKeys(s.ctx)
	if err != nil {
		t.Fatal(err)
	}
	return keys
}

// wantKeys compares the keys in the key store with those that rows name.
func (s *signed) wantKeys(t *testing.T, n int) {
	t.Helper()
	held, err := s.keys.List(s.ctx, "")
	if err != nil || len(held) != n {
		t.Errorf("the key store holds %d keys, %v, want %d", len(held), err, n)
	}
	used, err := s.KeysInUse(s.ctx, "")
	if err != nil {
		t.Fatal(err)
	}
	for _, h := range held {
		named := false
		for _, u := range used {
			named = named || u.Ref == h.Ref && u.Owner == h.Owner
		}
		if !named {
			t.Errorf("no row names key %s of %v", h.Ref, h.Owner)
		}
	}
}

// checkpoints signs a growing log, and has others read what was signed.
func checkpoints(t *testing.T, st storeTest) {
	s := newSigned(t, st)
	if _, err := s.LastCheckpoint(s.ctx); !errors.Is(err, notary.ErrNone) {
		t.Errorf("LastCheckpoint of a new store = %v, want ErrNone", err)
	}
	n := s.notary()
	var all []notary.Checkpoint
	for range 3 {
		all = append(all, s.sign(t, n))
	}
	keys := s.signers(t)
	if len(keys) != 1 || keys[0].State != notary.Signing || all[0].Size >= all[2].Size {
		t.Fatalf("signed sizes %d to %d with keys %v", all[0].Size, all[2].Size, keys)
	}
	s.wantKeys(t, 1)
	last := all[len(all)-1]
	if again := s.sign(t, s.notary()); again.Size <= last.Size { // another process goes on
		t.Errorf("another process signed size %d after %d", again.Size, last.Size)
	}
	for _, c := range all {
		if state, err := notary.Open(keys, c.Note); err != nil || state != c.Head {
			t.Errorf("Open = %v, %v, want %v", state, err, c.Head)
		}
		readElsewhere(t, s, c, last, keys[0].Verifier)
	}
	if err := s.AddCheckpoint(s.ctx, last); !errors.Is(err, notary.ErrOvertaken) {
		t.Errorf("AddCheckpoint of a size that is there = %v, want ErrOvertaken", err)
	}
	stranger := last
	stranger.Size, stranger.Key = last.Size+1000, uuid.NewString()
	if err := s.AddCheckpoint(s.ctx, stranger); !errors.Is(err, notary.ErrOvertaken) {
		t.Errorf("AddCheckpoint by a key that does not sign = %v, want ErrOvertaken", err)
	}
}

// readElsewhere opens a checkpoint as c2sp.org/tlog-checkpoint has it, without our code, and
// checks with another implementation of RFC 6962 that a later one continues it.
func readElsewhere(t *testing.T, s *signed, c, later notary.Checkpoint, verifier string) {
	t.Helper()
	v, err := note.NewVerifier(verifier)
	if err != nil {
		t.Fatal(err)
	}
	read := func(text string) (size uint64, root []byte) {
		n, err := note.Open([]byte(text), note.VerifierList(v))
		if err != nil {
			t.Fatalf("another reader cannot open the checkpoint: %v", err)
		}
		lines := strings.Split(n.Text, "\n")
		size, err = strconv.ParseUint(lines[1], 10, 63)
		if err != nil || lines[0] != v.Name() {
			t.Fatalf("another reader finds origin %q, size %q", lines[0], lines[1])
		}
		if root, err = base64.StdEncoding.DecodeString(lines[2]); err != nil {
			t.Fatal(err)
		}
		return size, root
	}
	size, root := read(c.Note)
	now, newRoot := read(later.Note)
	if int64(size) != c.Size || !bytes.Equal(root, c.Root[:]) {
		t.Errorf("another reader finds size %d in the checkpoint of %d", size, c.Size)
	}
	hashes, err := tree.ProveConsistency(s.ctx, s, later.Head, c.Size)
	if err != nil {
		t.Fatal(err)
	}
	raw := make([][]byte, len(hashes))
	for i := range hashes {
		raw[i] = hashes[i][:]
	}
	if err := proof.VerifyConsistency(rfc6962.DefaultHasher, size, now, raw, root, newRoot); err != nil {
		t.Errorf("another reader refuses the proof from %d to %d: %v", size, now, err)
	}
}

// memory is an outlet that keeps lines, or fails.
type memory struct {
	mu    sync.Mutex
	lines []string
	fails error
}

func (m *memory) Send(_ context.Context, lines [][]byte) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, line := range lines {
		if m.fails == nil {
			m.lines = append(m.lines, string(line))
		}
	}
	return m.fails
}

func (m *memory) Close() error { return nil }

// anchors hands checkpoints to places outside, one of which fails for a while.
func anchors(t *testing.T, st storeTest) {
	s := newSigned(t, st)
	good, bad := &memory{}, &memory{fails: errors.New("it is full")}
	s.anchors = []notary.Anchor{{Name: "good", Outlet: good}, {Name: "bad", Outlet: bad}}
	n := s.notary()
	if err := n.Anchor(s.ctx); err != nil || len(good.lines) > 0 {
		t.Errorf("Anchor of a log without checkpoints = %v, %q", err, good.lines)
	}
	s.sign(t, n)
	if err := n.Anchor(s.ctx); err == nil || !strings.Contains(err.Error(), "anchor bad: it is full") {
		t.Errorf("Anchor where one fails = %v, want its name and why", err)
	}
	if size, by, err := n.Anchored(s.ctx); err != nil || size != 0 || by != "bad" {
		t.Errorf("Anchored = %d, %q, %v, want 0: one anchor has nothing", size, by, err)
	}
	last := s.sign(t, n)
	if all, err := n.AnchorStatuses(s.ctx); err != nil || len(all) != 2 || all[0].Behind == 0 || all[1].Behind != last.Size || all[1].Fault == "" {
		t.Errorf("AnchorStatuses = %+v, %v", all, err)
	}
	bad.fails = nil
	for range 2 { // the second time there is nothing to do
		if err := s.notary().Anchor(s.ctx); err != nil {
			t.Errorf("Anchor = %v", err)
		}
	}
	if size, by, err := n.Anchored(s.ctx); err != nil || size != last.Size || by != "" {
		t.Errorf("Anchored = %d, %q, %v, want %d", size, by, err, last.Size)
	}
	if len(good.lines) != 2 || len(bad.lines) != 1 {
		t.Fatalf("the anchors got %d and %d lines, want 2 and 1", len(good.lines), len(bad.lines))
	}
	var line struct{ Checkpoint string }
	if err := json.Unmarshal([]byte(bad.lines[0]), &line); err != nil {
		t.Fatal(err)
	}
	if state, err := notary.Open(s.signers(t), line.Checkpoint); err != nil || state != last.Head {
		t.Errorf("the anchored checkpoint opens as %v, %v, want %v", state, err, last.Head)
	}
	if err := s.SetAnchoring(s.ctx, notary.Anchoring{Anchor: "good", Size: 1, Time: epoch}); err != nil {
		t.Errorf("SetAnchoring of a smaller size = %v", err)
	}
	if size, _, err := n.Anchored(s.ctx); err != nil || size != last.Size {
		t.Errorf("Anchored = %d, %v after an older anchoring was stored", size, err)
	}
}

// keyLives rotates and revokes keys, and sees which checkpoints count.
func keyLives(t *testing.T, st storeTest) {
	s := newSigned(t, st)
	n := s.notary()
	first := s.sign(t, n)
	old := s.signers(t)[0]
	next, err := n.Rotate(s.ctx, s.act(t), keyring.Ring{s.keys})
	if err != nil || next.State != notary.Signing || next.Origin != old.Origin {
		t.Fatalf("Rotate = %v, %v", next, err)
	}
	both, err := s.LastCheckpoint(s.ctx)
	if err != nil || both.Key != next.ID {
		t.Fatalf("LastCheckpoint after a rotation = %v, %v", both, err)
	}
	for _, verifier := range []string{old.Verifier, next.Verifier} {
		readElsewhere(t, s, both, both, verifier)
	}
	second := s.sign(t, n)
	keys := s.signers(t)
	if len(keys) != 2 || keys[0].State != notary.Retired || keys[0].Until != both.Size || keys[1].Since != both.Size || keys[0].Ref != "" || keys[0].Text != "" {
		t.Errorf("keys after a rotation at %d = %+v", both.Size, keys)
	}
	for what, c := range map[string]notary.Checkpoint{"before": first, "of": both, "after": second} {
		if state, err := notary.Open(keys, c.Note); err != nil || state != c.Head {
			t.Errorf("Open of the checkpoint %s the rotation = %v, %v", what, state, err)
		}
	}
	// Who has kept the first key goes on to the second.
	if trusted, err := notary.Trusted(keys, old.Verifier); err != nil || len(trusted) != 2 {
		t.Errorf("the first key vouches for %d keys, %v, want 2", len(trusted), err)
	}
	if trusted, err := notary.Trusted(keys, next.Verifier); err != nil || len(trusted) != 1 || trusted[0].ID != next.ID {
		t.Errorf("the second key vouches for %d keys, %v, want itself", len(trusted), err)
	}
	forged := append([]notary.SigningKey(nil), keys...)
	forged[1].Verifier = "vimbroker.audit/other+" + strings.SplitN(next.Verifier, "+", 2)[1]
	if trusted, err := notary.Trusted(forged, old.Verifier); err != nil || len(trusted) != 1 {
		t.Errorf("with another second key the first vouches for %d keys, %v, want itself", len(trusted), err)
	}
	// What sealed the first is to be destroyed, and nothing else.
	if retired, err := s.RetiredKeys(s.ctx, 10); err != nil || len(retired) != 1 || retired[0].Ref != old.Ref || retired[0].Owner != old.Owner() {
		t.Errorf("RetiredKeys = %v, %v, want %s", retired, err, old.Ref)
	}
	s.wantKeys(t, 2)

	now, err := n.Revoke(s.ctx, s.act(t), next.ID, both.Size)
	if err != nil || now.ID == next.ID || now.Endorsement != "" {
		t.Fatalf("Revoke of the key that signs = %v, %v", now, err)
	}
	keys = s.signers(t)
	if _, err := notary.Open(keys, second.Note); !errors.Is(err, tree.ErrUnsigned) {
		t.Errorf("Open of what a revoked key signed later = %v, want ErrUnsigned", err)
	}
	if _, err := notary.Open(keys, both.Note); err != nil {
		t.Errorf("Open of what a revoked key signed before = %v", err)
	}
	if trusted, err := notary.Trusted(keys, next.Verifier); err != nil || len(trusted) != 1 {
		t.Errorf("a revoked key vouches for %d keys, %v", len(trusted), err)
	}
	if again, err := n.Revoke(s.ctx, s.act(t), old.ID, 0); err != nil || again.ID != now.ID {
		t.Errorf("Revoke of a retired key = %v, %v", again, err)
	}
	if _, err := notary.Open(s.signers(t), first.Note); !errors.Is(err, tree.ErrUnsigned) {
		t.Errorf("Open of what a key signed that is revoked from the beginning = %v, want ErrUnsigned", err)
	}
	for id, want := range map[string]error{old.ID: notary.ErrEnded, uuid.NewString(): notary.ErrNone} {
		if _, err := n.Revoke(s.ctx, s.act(t), id, 0); !errors.Is(err, want) {
			t.Errorf("Revoke = %v, want %v", err, want)
		}
	}
	if last := s.sign(t, s.notary()); last.Key != now.ID {
		t.Errorf("key %s signs, want %s", last.Key, now.ID)
	}
}

// abandonedKeys begins keys that are never finished.
func abandonedKeys(t *testing.T, st storeTest) {
	s := newSigned(t, st)
	n := s.notary()
	s.sign(t, n)
	half := notary.SigningKey{ID: uuid.NewString(), State: notary.Making, Origin: "o", CreatedAt: epoch}
	add := func(keys []notary.SigningKey) ([]notary.SigningKey, error) { return append(keys, half), nil }
	if err := s.ChangeSigningKeys(s.ctx, add, nil, entry("half")); err != nil {
		t.Fatal(err)
	}
	key, err := secret.NewKey()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.keys.Put(s.ctx, half.Owner(), key); err != nil {
		t.Fatal(err)
	}
	begin := func(context.Context) (*audit.Act, error) { return s.act(t), nil }
	if err := n.Settle(s.ctx, epoch, begin); err != nil || len(s.signers(t)) != 2 {
		t.Errorf("Settle of what is not that old = %v, %d keys", err, len(s.signers(t)))
	}
	if err := n.Settle(s.ctx, epoch.Add(time.Second), begin); err != nil || len(s.signers(t)) != 1 {
		t.Errorf("Settle = %v, %d keys, want the one that signs", err, len(s.signers(t)))
	}
	s.wantKeys(t, 1)
	refused := errors.New("refused")
	before := s.signers(t)
	for what, change := range map[string]func([]notary.SigningKey) ([]notary.SigningKey, error){
		"that errs": func([]notary.SigningKey) ([]notary.SigningKey, error) { return nil, refused },
		"that takes a key back": func(keys []notary.SigningKey) ([]notary.SigningKey, error) {
			keys[0].State = notary.Making
			return keys, nil
		},
		"that drops what signs": func([]notary.SigningKey) ([]notary.SigningKey, error) { return nil, nil },
		"of the public half":    func(keys []notary.SigningKey) ([]notary.SigningKey, error) { keys[0].Verifier = "x"; return keys, nil },
		"that lets a second sign": func(keys []notary.SigningKey) ([]notary.SigningKey, error) {
			return append(keys, notary.SigningKey{ID: "2", State: notary.Signing}), nil
		},
	} {
		if err := s.ChangeSigningKeys(s.ctx, change, nil, entry("bad")); err == nil {
			t.Errorf("a change %s was stored", what)
		}
	}
	if diff := cmp.Diff(before, s.signers(t)); diff != "" {
		t.Errorf("refused changes left (-before +after):\n%s", diff)
	}
}

// meanwhile is a store in which others act just before a call of a notary, once.
type meanwhile struct {
	notary.Store
	call string
	act  func()
}

func (m *meanwhile) before(call string) {
	if m.act != nil && m.call == call {
		act := m.act
		m.act = nil
		act()
	}
}

func (m *meanwhile) LastCheckpoint(ctx context.Context) (notary.Checkpoint, error) {
	m.before("LastCheckpoint")
	return m.Store.LastCheckpoint(ctx)
}

func (m *meanwhile) Tree(ctx context.Context) (tree.Head, error) {
	m.before("Tree")
	return m.Store.Tree(ctx)
}

func (m *meanwhile) Tiles(ctx context.Context, wanted []tree.Tile) ([]tree.Tile, error) {
	m.before("Tiles")
	return m.Store.Tiles(ctx, wanted)
}

// overtakenNotary does not take what others sign while it looks for a log that was rewritten.
func overtakenNotary(t *testing.T, st storeTest) {
	s := newSigned(t, st)
	s.sign(t, s.notary())
	begin := func(context.Context) (*audit.Act, error) { return s.act(t), nil }
	for _, call := range []string{"LastCheckpoint", "Tree", "Tiles"} {
		m := &meanwhile{Store: s, call: call}
		n := notary.New(m, []secret.KeyStore{s.keys}, nil, s.now)
		if err := n.Sign(s.ctx, begin); err != nil {
			t.Fatal(err)
		}
		for _, rotates := range []bool{false, true} {
			if err := s.Append(s.ctx, entry(uuid.NewString())); err != nil {
				t.Fatal(err)
			}
			m.act = func() {
				if rotates {
					if _, err := s.notary().Rotate(s.ctx, s.act(t), keyring.Ring{s.keys}); err != nil {
						t.Error(err)
					}
				}
				s.sign(t, s.notary())
				s.sign(t, n) // in the same process
			}
			if err := n.Sign(s.ctx, begin); err != nil || m.act != nil {
				t.Errorf("Sign, while another signs before %s (rotates: %t) = %v, happened %t", call, rotates, err, m.act == nil)
			}
		}
	}
}

// overtakenRotation replaces keys while another signs all that is written, the intent too.
func overtakenRotation(t *testing.T, st storeTest) {
	s := newSigned(t, st)
	s.sign(t, s.notary())
	begin := func(context.Context) (*audit.Act, error) { return s.act(t), nil }
	for _, call := range []string{"LastCheckpoint", "Tree"} {
		for _, revokes := range []bool{false, true} {
			m := &meanwhile{Store: s, call: call, act: func() {
				if err := s.notary().Sign(s.ctx, begin); err != nil {
					t.Error(err)
				}
			}}
			n, old := notary.New(m, []secret.KeyStore{s.keys}, nil, s.now), s.signers(t)
			var now notary.SigningKey
			var err error
			if revokes {
				now, err = n.Revoke(s.ctx, s.act(t), old[len(old)-1].ID, 1000)
			} else {
				now, err = n.Rotate(s.ctx, s.act(t), keyring.Ring{s.keys})
			}
			keys := s.signers(t)
			if err != nil || m.act != nil || len(keys) != len(old)+1 || keys[len(keys)-1].ID != now.ID || now.State != notary.Signing {
				t.Fatalf("replacing a key (revoked: %t), while another signs before %s = %+v, %v, of %d keys after %d; happened %t",
					revokes, call, now, err, len(keys), len(old), m.act == nil)
			}
			if last := s.sign(t, s.notary()); last.Key != now.ID {
				t.Errorf("key %s signs, not the new one %s", last.Key, now.ID)
			}
		}
	}
}

// manyNotaries has several processes sign and rotate at once, while others write.
func manyNotaries(t *testing.T, st storeTest) {
	s := newSigned(t, st)
	begin := func(context.Context) (*audit.Act, error) { return s.act(t), nil }
	var all sync.WaitGroup
	for i := range 4 {
		n := s.notary()
		all.Go(func() {
			for j := range 8 {
				if err := s.Append(s.ctx, entry(fmt.Sprintf("%d-%d", i, j))); err != nil {
					t.Errorf("Append = %v", err)
				}
				if err := s.Grow(s.ctx); err != nil {
					t.Errorf("Grow = %v", err)
				}
				if err := n.Sign(s.ctx, begin); err != nil && !errors.Is(err, notary.ErrOvertaken) {
					t.Errorf("Sign = %v", err)
				}
				if j == 4 {
					if _, err := n.Rotate(s.ctx, s.act(t), keyring.Ring{s.keys}); err != nil && !errors.Is(err, notary.ErrOvertaken) {
						t.Errorf("Rotate = %v", err)
					}
				}
			}
		})
	}
	all.Wait()
	last := s.sign(t, s.notary())
	keys := s.signers(t)
	signing := 0
	for _, k := range keys {
		if k.State == notary.Signing {
			signing++
		}
		if k.State == notary.Making || k.State == notary.Abandoned {
			t.Errorf("key %s is left %s", k.ID, k.State)
		}
	}
	if state, err := notary.Open(keys, last.Note); err != nil || state != last.Head || signing != 1 {
		t.Errorf("of %d keys %d sign; Open = %v, %v", len(keys), signing, state, err)
	}
	if trusted, err := notary.Trusted(keys, keys[0].Verifier); err != nil || len(trusted) != len(keys) {
		t.Errorf("the first key vouches for %d of %d keys, %v", len(trusted), len(keys), err)
	}
}
