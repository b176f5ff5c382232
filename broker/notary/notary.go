// Package notary signs checkpoints of the audit log, so that write access to the database
// is not enough to pass another log off as this one: the signing key is sealed under a key
// in a key store. A checkpoint is a signed note (c2sp.org/tlog-checkpoint,
// c2sp.org/signed-note) that states the size of the log and the root of its Merkle tree.
package notary

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"golang.org/x/mod/sumdb/note"

	"github.com/vimbroker/vimbroker/broker/failpoint"
	"github.com/vimbroker/vimbroker/broker/keyring"
	"github.com/vimbroker/vimbroker/broker/secret"
	"github.com/vimbroker/vimbroker/policy/audit"
	"github.com/vimbroker/vimbroker/policy/audit/tree"
)

// Errors of a notary. It also returns errors of the store and of key stores.
var (
	// ErrNone: there is no such key, or no checkpoint yet.
	ErrNone = errors.New("there is none")
	// ErrOvertaken: another has signed, or changed the keys, at the same time. Nothing
	// was written.
	ErrOvertaken = errors.New("another signed at the same time")
	// ErrRewritten: the log is not the one whose checkpoint was signed before. Nothing is signed
	// any more until a person has settled that.
	ErrRewritten = errors.New("the audit log does not continue the one that was signed")
	ErrLost      = errors.New("the key that signs checkpoints of the audit log does not open")
	// ErrEnded: the key was revoked already, or never signed.
	ErrEnded = errors.New("the key cannot be revoked")
)

// Checkpoint states the log's size and root at a time.
type Checkpoint struct {
	tree.Head
	Time time.Time
	// Key is the ID of the key that signed it; a checkpoint made as one key took over from
	// another has both signatures, and names the new one.
	Key  string
	Note string
}

// Store keeps keys and checkpoints.
type Store interface {
	tree.Tiles
	AnchorStore
	// Tree and Grow are those of [audit.Log].
	Tree(ctx context.Context) (tree.Head, error)
	Grow(ctx context.Context) error
	// SigningKeys returns all keys, oldest first.
	SigningKeys(ctx context.Context) ([]SigningKey, error)
	// ChangeSigningKeys lets change alter the keys, and stores them with the checkpoint, if that is
	// not nil, and the entry that records it, atomically. A key that change leaves out goes,
	// if it is [Making]; one that is new comes. The Fernet key that a changed key names no more goes
	// on the ledger of retired keys. If change fails nothing is written and its error is returned
	// unchanged. The checkpoint is as in AddCheckpoint, by the key that signs then.
	ChangeSigningKeys(ctx context.Context, change func([]SigningKey) ([]SigningKey, error), c *Checkpoint, e audit.Entry) error
	// LastCheckpoint returns the one of the largest size; [ErrNone].
	LastCheckpoint(ctx context.Context) (Checkpoint, error)
	// AddCheckpoint stores a checkpoint. It is [ErrOvertaken] if one of that size or a larger one is
	// there, or its key does not sign any more.
	AddCheckpoint(ctx context.Context, c Checkpoint) error
}

// Notary signs the log of a store. Its methods are safe for concurrent use, by any number
// of processes on one store.
type Notary struct {
	store   Store
	keys    keyring.Ring
	anchors []Anchor
	now     func() time.Time

	mu     sync.Mutex
	seen   tree.Head         // the largest that this process has signed, or found signed
	faults map[string]string // by anchor, of its last attempt
}

// New makes a notary. The first key store takes new keys.
func New(store Store, keys []secret.KeyStore, anchors []Anchor, now func() time.Time) *Notary {
	return &Notary{store: store, keys: keys, anchors: anchors, now: now, seen: tree.Empty(), faults: map[string]string{}}
}

// Close lets go of what anchors have open.
func (n *Notary) Close() error {
	var errs []error
	for _, a := range n.anchors {
		errs = append(errs, a.Outlet.Close())
	}
	return errors.Join(errs...)
}

// Begin decides whether the notary may make a key, and returns the act that records it.
type Begin func(context.Context) (*audit.Act, error)

// Sign signs the log with all that was written before, if it has grown since the last checkpoint, and makes a key
// if there is none. It does not sign a log that does not continue the last checkpoint: [ErrRewritten].
func (n *Notary) Sign(ctx context.Context, begin Begin) error {
	keys, err := n.store.SigningKeys(ctx)
	if err != nil {
		return err
	}
	key, found := keyring.Signs(keys)
	if !found {
		act, err := begin(ctx)
		if err != nil {
			return err
		}
		key, err = n.makeFirst(ctx, act)
		if errors.Is(err, ErrOvertaken) { // another makes it, and signs
			return nil
		}
		if err != nil {
			return err
		}
	}
	last, now, err := n.look(ctx)
	if err != nil || last.Head == now {
		return err
	}
	p, err := n.open(ctx, key)
	if err != nil {
		return err
	}
	switch signed, err := tree.OpenCheckpoint(p.origin, last.Note, p.verifier); {
	case last.Size == 0 || err == nil && signed == last.Head:
	case n.replaced(ctx, key): // after the keys were read: another signs, and has
		return nil
	default:
		return fmt.Errorf("%w: its last checkpoint, of %d entries, is not signed by the key that signs", ErrRewritten, last.Size)
	}
	signed, err := tree.Sign(key.Origin, now, p.signer)
	if err != nil {
		return err
	}
	failpoint.At("audit.signed")
	err = n.store.AddCheckpoint(ctx, Checkpoint{Head: now, Time: n.now(), Key: key.ID, Note: signed})
	if err == nil || errors.Is(err, ErrOvertaken) { // another process's checkpoint is as good
		failpoint.At("audit.checkpoint-stored")
		return nil
	}
	return err
}

// last is the last checkpoint; the empty log's if there is none.
func (n *Notary) last(ctx context.Context) (Checkpoint, error) {
	last, err := n.store.LastCheckpoint(ctx)
	if errors.Is(err, ErrNone) {
		return Checkpoint{Head: tree.Empty()}, nil
	}
	return last, err
}

// replaced reports whether another key signs now.
func (n *Notary) replaced(ctx context.Context, key SigningKey) bool {
	keys, err := n.store.SigningKeys(ctx)
	now, _ := keyring.Signs(keys)
	return err == nil && now.ID != key.ID
}

// look returns the last checkpoint and the whole log, which continues the checkpoint and the
// log that this process saw last: otherwise it is [ErrRewritten]. Others may write, sign and
// look meanwhile, so look reads the log last.
func (n *Notary) look(ctx context.Context) (last Checkpoint, now tree.Head, err error) {
	n.mu.Lock()
	seen := n.seen
	n.mu.Unlock()
	if last, err = n.last(ctx); err != nil {
		return last, now, err
	}
	if err = n.store.Grow(ctx); err != nil {
		return last, now, err
	}
	if now, err = n.store.Tree(ctx); err != nil {
		return last, now, err
	}
	for _, earlier := range []tree.Head{last.Head, seen} {
		if err = n.grew(ctx, earlier, now); err != nil {
			return last, now, err
		}
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	if now.Size > n.seen.Size {
		n.seen = now
	}
	return last, now, nil
}

// grew returns nil if one state of the log begins with the whole of an earlier one.
func (n *Notary) grew(ctx context.Context, earlier, now tree.Head) error {
	if now == earlier {
		return nil
	}
	if now.Size < earlier.Size {
		return fmt.Errorf("%w: it has %d entries, and had %d", ErrRewritten, now.Size, earlier.Size)
	}
	var proof []tree.Hash
	if earlier.Size > 0 {
		var err error
		if proof, err = tree.ProveConsistency(ctx, n.store, now, earlier.Size); err != nil {
			return err
		}
	}
	if tree.CheckConsistency(now, earlier, proof) != nil {
		return fmt.Errorf("%w: its first %d entries are others", ErrRewritten, earlier.Size)
	}
	return nil
}

// pen is a key that is opened to sign.
type pen struct {
	origin   string
	signer   note.Signer
	verifier note.Verifier
}

// sealedField is the envelope's field for the private half of a key.
const sealedField = "audit signing key"

// fill makes both halves of a key, and stores what seals the private one.
func (n *Notary) fill(ctx context.Context, k *SigningKey, to keyring.Ring) (pen, error) {
	private, public, err := note.GenerateKey(rand.Reader, k.Origin)
	if err != nil {
		return pen{}, fmt.Errorf("making a key: %w", err)
	}
	p, err := newPen(k.Origin, private, public)
	if err != nil {
		return pen{}, err
	}
	sealed, err := to.Seal(ctx, k.Owner(), sealedField, secret.NewText(private+"\n"+public))
	if err != nil {
		return pen{}, fmt.Errorf("sealing the key that signs checkpoints: %w", err)
	}
	k.Verifier, k.Sealed = public, sealed
	failpoint.At("audit.key-stored")
	return p, nil
}

// open opens a key. The public half comes from what is sealed, not from the row.
func (n *Notary) open(ctx context.Context, k SigningKey) (pen, error) {
	text, err := n.keys.Open(ctx, k.Owner(), sealedField, k.Sealed)
	if errors.Is(err, keyring.ErrLost) {
		return pen{}, fmt.Errorf("%w: %w", ErrLost, err)
	}
	if err != nil {
		return pen{}, fmt.Errorf("opening the key that signs checkpoints: %w", err)
	}
	private, public, _ := strings.Cut(text.Reveal(), "\n")
	if public != k.Verifier {
		return pen{}, fmt.Errorf("%w: its row names another public half than what is sealed", ErrRewritten)
	}
	return newPen(k.Origin, private, public)
}

func newPen(origin, private, public string) (pen, error) {
	signer, err := note.NewSigner(private)
	if err != nil {
		return pen{}, ErrLost // never with what is in it
	}
	verifier, err := note.NewVerifier(public)
	if err != nil {
		return pen{}, ErrLost
	}
	return pen{origin, signer, verifier}, nil
}
