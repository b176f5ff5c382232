package notary

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"testing"
	"time"

	"golang.org/x/mod/sumdb/note"

	"github.com/vimbroker/vimbroker/broker/keyring"
	"github.com/vimbroker/vimbroker/broker/secret"
	"github.com/vimbroker/vimbroker/policy"
	"github.com/vimbroker/vimbroker/policy/audit"
	"github.com/vimbroker/vimbroker/policy/audit/tree"
	"github.com/vimbroker/vimbroker/test/clock"
	"github.com/vimbroker/vimbroker/test/fake"
)

var errStep = errors.New("the step fails")

// books are an audit log with its keys and checkpoints, in memory. Its calls and those of its key store are noted; those that
// are named fail, or have something happen meanwhile.
type books struct {
	audit.Sink
	mu      sync.Mutex
	taken   []string
	fails   map[string]error
	during  map[string]func()
	tiles   map[[2]int64][]byte
	head    tree.Head
	waiting []tree.Hash
	keys    []SigningKey
	points  []Checkpoint
	anchors map[string]Anchoring
	entries []audit.Entry
	clock   *clock.Clock
	held    map[secret.Ref]sealing
}

type sealing struct {
	secret.Held
	key []byte
}

func newBooks() *books {
	return &books{
		fails: map[string]error{}, during: map[string]func(){}, tiles: map[[2]int64][]byte{}, head: tree.Empty(), anchors: map[string]Anchoring{},
		clock: clock.New(time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC)), held: map[secret.Ref]sealing{},
	}
}

func (b *books) step(name string) error {
	b.mu.Lock()
	err := fake.Step(&b.taken, b.fails, name)
	at := fmt.Sprint("step ", len(b.taken))
	err = errors.Join(err, b.fails[at])
	happens := b.during[fmt.Sprint(name, " ", count(b.taken, name))]
	b.mu.Unlock()
	if happens != nil {
		happens()
	}
	return err
}

func count(taken []string, name string) (n int) {
	for _, was := range taken {
		if was == name {
			n++
		}
	}
	return n
}

func (b *books) write(n int) {
	for range n {
		b.waiting = append(b.waiting, tree.Leaf(fmt.Append(nil, int(b.head.Size)+len(b.waiting))))
	}
}

func (b *books) Tiles(_ context.Context, wanted []tree.Tile) (found []tree.Tile, _ error) {
	for _, w := range wanted {
		if h, there := b.tiles[[2]int64{int64(w.Level), w.Index}]; there {
			found = append(found, tree.Tile{Level: w.Level, Index: w.Index, Hashes: h})
		}
	}
	return found, b.step("Tiles")
}

func (b *books) Grow(ctx context.Context) error {
	if err := b.step("Grow"); err != nil {
		return err
	}
	return b.grow(ctx)
}

func (b *books) grow(ctx context.Context) error {
	head, tiles, err := tree.Grow(ctx, &books{tiles: b.tiles}, b.head, b.waiting)
	if err != nil {
		return err
	}
	for _, tile := range tiles {
		b.tiles[[2]int64{int64(tile.Level), tile.Index}] = tile.Hashes
	}
	b.head, b.waiting = head, nil
	return nil
}

func (b *books) Tree(context.Context) (tree.Head, error) { return b.head, b.step("Tree") }

func (b *books) SigningKeys(context.Context) ([]SigningKey, error) {
	if err := b.step("SigningKeys"); err != nil {
		return nil, err
	}
	return slices.Clone(b.keys), nil
}

func (b *books) ChangeSigningKeys(_ context.Context, change func([]SigningKey) ([]SigningKey, error), c *Checkpoint, e audit.Entry) error {
	if err := b.step("ChangeSigningKeys"); err != nil {
		return err
	}
	after, err := change(slices.Clone(b.keys))
	if err != nil {
		return err
	}
	b.keys, b.entries = after, append(b.entries, e)
	b.write(1)
	if c != nil {
		b.points = append(b.points, *c)
	}
	return nil
}

func (b *books) LastCheckpoint(context.Context) (Checkpoint, error) {
	if err := b.step("LastCheckpoint"); err != nil {
		return Checkpoint{}, err
	}
	if len(b.points) == 0 {
		return Checkpoint{}, ErrNone
	}
	return b.points[len(b.points)-1], nil
}

func (b *books) AddCheckpoint(_ context.Context, c Checkpoint) error {
	if err := b.step("AddCheckpoint"); err != nil {
		return err
	}
	b.points = append(b.points, c)
	return nil
}

func (b *books) Anchorings(context.Context) ([]Anchoring, error) {
	return slices.Collect(maps.Values(b.anchors)), b.step("Anchorings")
}

func (b *books) SetAnchoring(_ context.Context, a Anchoring) error {
	if err := b.step("SetAnchoring"); err != nil {
		return err
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.anchors[a.Anchor] = a
	return nil
}

func (b *books) Append(_ context.Context, e audit.Entry) error {
	b.entries = append(b.entries, e)
	return b.step("Append")
}

// store is the key store of books.
type store struct{ *books }

func (store) Name() string { return "memory" }

func (s store) Put(_ context.Context, owner secret.Owner, key *secret.Key) (secret.Ref, error) {
	ref := secret.Ref(fmt.Sprint("key ", len(s.held)))
	s.held[ref] = sealing{secret.Held{Owner: owner, Ref: ref}, key.Encode()}
	return ref, s.step("Put")
}

func (s store) Get(_ context.Context, ref secret.Ref) (*secret.Key, error) {
	if err := s.step("Get"); err != nil {
		return nil, err
	}
	if s.held[ref].key == nil {
		return nil, secret.ErrNotFound
	}
	return secret.ParseKey(s.held[ref].key)
}

func (s store) Delete(_ context.Context, ref secret.Ref) (secret.Erasure, error) {
	if err := s.step("Delete"); err != nil {
		return "", err
	}
	s.held[ref] = sealing{}
	return secret.Shredded, nil
}

func (s store) List(_ context.Context, id string) (all []secret.Held, _ error) {
	for _, one := range s.held {
		if one.key != nil && (id == "" || id == one.Owner.ID) {
			all = append(all, one.Held)
		}
	}
	return all, s.step("List")
}

func (store) Check(context.Context) error { return nil }

// outlet is a place that takes lines.
type outlet struct {
	*books
	name string
	got  *[]string
}

func (o outlet) Send(_ context.Context, lines [][]byte) error {
	o.mu.Lock()
	for _, line := range lines {
		*o.got = append(*o.got, string(line))
	}
	o.mu.Unlock()
	return o.step("Send " + o.name)
}

func (o outlet) Close() error { return o.step("Close " + o.name) }

func (b *books) notary(anchors ...Anchor) *Notary {
	return New(b, []secret.KeyStore{store{b}}, anchors, b.clock.Now)
}

// act is an act of a person.
func (b *books) act() *audit.Act {
	return (&audit.Guard{Sink: b, Now: b.clock.Now}).Record(context.Background(), policy.Principal{Name: "alice"}, policy.AuditKey, policy.Resource{})
}

func (b *books) begin(context.Context) (*audit.Act, error) { return b.act(), b.step("begin") }

// signed are books with a key and a checkpoint, and what comes after it.
func signed(t *testing.T, more int) (*books, *Notary) {
	t.Helper()
	b := newBooks()
	n := b.notary()
	if err := n.Sign(t.Context(), b.begin); err != nil {
		t.Fatal(err)
	}
	b.write(more)
	b.taken = nil
	return b, n
}

// state is how many keys are in which state, and how many keys seal them.
func (b *books) state() string {
	states := map[SigningKeyState]int{}
	for _, k := range b.keys {
		states[k.State]++
	}
	sealed := 0
	for _, one := range b.held {
		if one.key != nil {
			sealed++
		}
	}
	return fmt.Sprint(states, " sealed by ", sealed, ", checkpoints ", len(b.points))
}

// stranger is a key that nobody has made here.
func stranger(t *testing.T, origin string) (note.Signer, string) {
	t.Helper()
	private, public, err := note.GenerateKey(rand.Reader, origin)
	if err != nil {
		t.Fatal(err)
	}
	signer, err := note.NewSigner(private)
	if err != nil {
		t.Fatal(err)
	}
	return signer, public
}

var _ keyring.Ring = keyring.Ring{store{}}
