package notary

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/mod/sumdb/note"

	"github.com/vimbroker/vimbroker/broker/keyring"
	"github.com/vimbroker/vimbroker/broker/secret"
	"github.com/vimbroker/vimbroker/policy/audit"
	"github.com/vimbroker/vimbroker/policy/audit/tree"
)

func kindOf(err error) string {
	for _, known := range []error{ErrRewritten, ErrLost, ErrOvertaken, ErrEnded, ErrNone} {
		if errors.Is(err, known) {
			return known.Error()
		}
	}
	return fmt.Sprint(err)
}

// The log is signed once it has grown, if it continues what was signed before; nothing else is.
func TestWhatIsSigned(t *testing.T) {
	const one = "map[signing:1] sealed by 1, checkpoints "
	last := func(change func(*Checkpoint)) func(*testing.T, *books, *Notary) {
		return func(_ *testing.T, b *books, _ *Notary) { change(&b.points[len(b.points)-1]) }
	}
	fails := func(step string, err error) func(*testing.T, *books, *Notary) {
		return func(_ *testing.T, b *books, _ *Notary) { b.fails[step] = err }
	}
	// others is a log of as many entries, of which none is one of these.
	others := func(b *books, n int) {
		b.tiles, b.head, b.waiting = map[[2]int64][]byte{}, tree.Empty(), nil
		for i := range n {
			b.waiting = append(b.waiting, tree.Leaf(fmt.Append(nil, "other ", i)))
		}
	}
	for _, c := range []struct {
		what  string
		given func(*testing.T, *books, *Notary)
		more  int
		want  string
	}{
		{"nothing is new", nil, 0, one + "1, <nil>"},
		{"an entry is new", nil, 1, one + "2, <nil>"},
		{"many are", nil, 300, one + "2, <nil>"},
		{"it is shorter than what was signed", func(_ *testing.T, b *books, n *Notary) { others(b, 1); n.seen = tree.Empty() }, 0, one + "1, " + ErrRewritten.Error()},
		{"it is shorter than what was seen", func(_ *testing.T, b *books, n *Notary) { n.seen = tree.Head{Size: 9} }, 1, one + "1, " + ErrRewritten.Error()},
		{"it is as long, and another", func(_ *testing.T, b *books, _ *Notary) { others(b, int(b.points[0].Size)) }, 0, one + "1, " + ErrRewritten.Error()},
		{"an early state was seen", func(t *testing.T, b *books, n *Notary) {
			var err error
			if n.seen, err = tree.At(t.Context(), b, b.head, 1); err != nil {
				t.Fatal(err)
			}
		}, 1, one + "2, <nil>"},
		{"its name is none", func(_ *testing.T, b *books, _ *Notary) {
			b.points[0], b.keys[0].Origin = Checkpoint{Head: tree.Empty()}, "a b"
		}, 1, one + "1, \"a b\" cannot be the origin of a log"},
		{"it is longer, and another", func(_ *testing.T, b *books, _ *Notary) { others(b, 9) }, 0, one + "1, " + ErrRewritten.Error()},
		{"a stranger signed", func(t *testing.T, b *books, _ *Notary) {
			signer, _ := stranger(t, b.keys[0].Origin)
			text, err := tree.Sign(b.keys[0].Origin, b.points[0].Head, signer)
			if err != nil {
				t.Fatal(err)
			}
			b.points[0].Note = text
		}, 1, one + "1, " + ErrRewritten.Error()},
		{"the row says less than was signed", func(t *testing.T, b *books, n *Notary) {
			earlier, err := tree.At(t.Context(), b, b.head, 1)
			if err != nil {
				t.Fatal(err)
			}
			b.points[0].Head = earlier
		}, 1, one + "1, " + ErrRewritten.Error()},
		{"the checkpoint is of nothing", last(func(c *Checkpoint) { *c = Checkpoint{Head: tree.Empty()} }), 1, one + "2, <nil>"},
		{"another has taken over", func(t *testing.T, b *books, _ *Notary) {
			signer, public := stranger(t, b.keys[0].Origin)
			text, err := tree.Sign(b.keys[0].Origin, b.points[0].Head, signer)
			if err != nil {
				t.Fatal(err)
			}
			b.points[0].Note = text
			b.during["Tree 1"] = func() { b.keys[0] = SigningKey{ID: "other", State: Signing, Verifier: public} }
		}, 1, one + "1, <nil>"},
		{"another has, and who is unread", func(t *testing.T, b *books, _ *Notary) {
			b.points[0].Note, b.fails["SigningKeys 2"] = "", errStep
		}, 1, one + "1, " + ErrRewritten.Error()},
		{"the public half is another", func(t *testing.T, b *books, _ *Notary) {
			_, b.keys[0].Verifier = stranger(t, b.keys[0].Origin)
		}, 1, one + "1, " + ErrRewritten.Error()},
		{"the key is lost", func(_ *testing.T, b *books, _ *Notary) { clear(b.held) }, 1, "map[signing:1] sealed by 0, checkpoints 1, " + ErrLost.Error()},
		{"what is sealed is no key", func(t *testing.T, b *books, n *Notary) {
			k := &b.keys[0]
			sealed, err := n.keys.Seal(t.Context(), k.Owner(), sealedField, secret.NewText("x\n"+k.Verifier))
			if err != nil {
				t.Fatal(err)
			}
			k.Sealed = sealed
		}, 1, "map[signing:1] sealed by 2, checkpoints 1, " + ErrLost.Error()},
		{"what is sealed has no public half", func(t *testing.T, b *books, n *Notary) {
			k := &b.keys[0]
			private, _, err := note.GenerateKey(rand.Reader, k.Origin)
			if err != nil {
				t.Fatal(err)
			}
			k.Verifier = "x"
			if k.Sealed, err = n.keys.Seal(t.Context(), k.Owner(), sealedField, secret.NewText(private+"\nx")); err != nil {
				t.Fatal(err)
			}
		}, 1, "map[signing:1] sealed by 2, checkpoints 1, " + ErrLost.Error()},
		{"the key store fails", fails("Get", errStep), 1, one + "1, opening the key that signs checkpoints: "},
		{"another signs the same", fails("AddCheckpoint", ErrOvertaken), 1, one + "1, <nil>"},
		{"the checkpoint is not stored", fails("AddCheckpoint", errStep), 1, one + "1, the step fails"},
		{"the keys are unread", fails("SigningKeys", errStep), 1, one + "1, the step fails"},
		{"the checkpoint is unread", fails("LastCheckpoint", errStep), 1, one + "1, the step fails"},
		{"the log does not grow", fails("Grow", errStep), 1, one + "1, the step fails"},
		{"the log is unread", fails("Tree", errStep), 1, one + "1, the step fails"},
		{"its tiles are unread", fails("Tiles", errStep), 1, one + "1, the step fails"},
	} {
		b, n := signed(t, c.more)
		if c.given != nil {
			c.given(t, b, n)
		}
		b.taken = nil
		err := n.Sign(t.Context(), b.begin)
		if got := b.state() + ", " + kindOf(err); !strings.HasPrefix(got, c.want) {
			t.Errorf("%s: %s, want %s; the steps are %q: %v", c.what, got, c.want, b.taken, err)
		}
		if strings.HasPrefix(c.what, "it is as long") && !strings.Contains(fmt.Sprint(err), "its first 2 entries are others") {
			t.Errorf("%s: %v", c.what, err)
		}
		if len(b.points) == 2 && b.points[1].Head != b.head {
			t.Errorf("%s: the checkpoint is of %d entries, and there are %d", c.what, b.points[1].Size, b.head.Size)
		}
	}
}

// The last checkpoint is one that a reader opens, and what this process has seen only grows.
func TestWhatASignatureStates(t *testing.T) {
	b, n := signed(t, 3)
	if err := n.Sign(t.Context(), b.begin); err != nil {
		t.Fatal(err)
	}
	state, err := Open(b.keys, b.points[1].Note)
	if err != nil || state != b.head || n.seen != b.head || b.points[1].Key != b.keys[0].ID || !b.points[1].Time.Equal(b.clock.Now()) {
		t.Errorf("it states %+v, %v, and the log is %+v; %+v was seen", state, err, b.head, n.seen)
	}
	if k := b.keys[0]; k.Origin != "vimbroker.audit/"+k.ID || k.Since != 0 || k.CreatedAt.IsZero() || k.Endorsement != "" {
		t.Errorf("the first key is %+v", k)
	}
	for i, want := range []audit.Outcome{audit.Intent, audit.Done} {
		if e := b.entries[i]; e.Outcome != want || e.Detail[audit.DetailAuditKey] != b.keys[0].ID {
			t.Errorf("entry %d is %+v", i, e)
		}
	}
	if _, err := Open(nil, b.points[1].Note); !errors.Is(err, tree.ErrUnsigned) {
		t.Errorf("without keys: %v", err)
	}
}

// The first key is made by one process alone, with the right to.
func TestWhoMakesTheFirstKey(t *testing.T) {
	for _, c := range []struct {
		what  string
		given func(*testing.T, *books)
		want  string
	}{
		{"one", nil, "map[signing:1] sealed by 1, checkpoints 1, <nil>"},
		{"nobody, for it may not", func(_ *testing.T, b *books) { b.fails["begin"] = errStep }, "map[] sealed by 0, checkpoints 0, the step fails"},
		{"nobody, for the key is not stored", func(_ *testing.T, b *books) { b.fails["Put"] = errStep }, "map[] sealed by 0, checkpoints 0, sealing the key that signs checkpoints"},
		{"another", func(t *testing.T, b *books) {
			_, public := stranger(t, "o")
			b.during["Put 1"] = func() { b.keys = append(b.keys, SigningKey{ID: "other", State: Signing, Verifier: public}) }
		}, "map[signing:1] sealed by 0, checkpoints 0, <nil>"},
		{"another, which takes back what is begun", func(_ *testing.T, b *books) {
			b.during["Put 1"] = func() { b.keys = nil }
		}, "map[] sealed by 0, checkpoints 0, <nil>"},
	} {
		b := newBooks()
		if c.given != nil {
			c.given(t, b)
		}
		err := b.notary().Sign(t.Context(), b.begin)
		if got := b.state() + ", " + kindOf(err); !strings.HasPrefix(got, c.want) {
			t.Errorf("%s: %s, want %s; the steps are %q: %v", c.what, got, c.want, b.taken, err)
		}
	}
}

// A new key takes over with the endorsement of the one before, and both sign.
func TestAKeyIsReplaced(t *testing.T) {
	b, n := signed(t, 2)
	old := b.keys[0]
	now, err := n.Rotate(t.Context(), b.act(), n.keys)
	if err != nil {
		t.Fatal(err)
	}
	was, is, c := b.keys[0], b.keys[1], b.points[1]
	if now.ID != is.ID || is.State != Signing || is.Origin != old.Origin || is.Since != c.Size || c.Key != is.ID {
		t.Errorf("the new key is %+v, of checkpoint %+v", is, c)
	}
	if was.State != Retired || was.Until != c.Size || !was.EndedAt.Equal(b.clock.Now()) || was.Text != "" || was.Since != 0 {
		t.Errorf("the old key is %+v", was)
	}
	for _, k := range []SigningKey{was, is} {
		if state, err := Open([]SigningKey{k}, c.Note); err != nil || state != c.Head {
			t.Errorf("by the key in state %s it is %+v, %v", k.State, state, err)
		}
	}
	if trusted, err := Trusted(b.keys, old.Verifier); err != nil || len(trusted) != 2 {
		t.Errorf("who kept the old key trusts %d, %v", len(trusted), err)
	}
	if trusted, err := Trusted(b.keys, is.Verifier); err != nil || len(trusted) != 1 {
		t.Errorf("who kept the new key trusts %d, %v", len(trusted), err)
	}
	revoked := slices.Clone(b.keys)
	revoked[0].State = Revoked
	if trusted, err := Trusted(revoked, old.Verifier); err != nil || len(trusted) != 1 {
		t.Errorf("who kept a key that was revoked trusts %d, %v", len(trusted), err)
	}
	for what, change := range map[string]func([]SigningKey){
		"another's endorsement": func(all []SigningKey) { all[1].Verifier = old.Verifier + "x" },
		"an altered one":        func(all []SigningKey) { all[1].Endorsement += "x" },
		"one of no key":         func(all []SigningKey) { all[0].Verifier = "x" },
	} {
		all := slices.Clone(b.keys)
		change(all)
		if trusted, err := Trusted(all, all[0].Verifier); err != nil || len(trusted) != 1 {
			t.Errorf("%s: trusted are %d, %v", what, len(trusted), err)
		}
	}
	if none, err := Trusted(b.keys, "x"); !errors.Is(err, tree.ErrUnsigned) || none != nil {
		t.Errorf("who kept none trusts %d, %v", len(none), err)
	}
	if len(b.entries) != 4 || b.entries[3].Outcome != audit.Done {
		t.Errorf("the entries are %+v", b.entries)
	}
	b.write(1)
	if err := n.Sign(t.Context(), b.begin); err != nil || len(b.points) != 3 || b.points[2].Key != is.ID {
		t.Errorf("the new key signs %d, %v", len(b.points), err)
	}
	empty := newBooks()
	if first, err := empty.notary().Rotate(t.Context(), empty.act(), n.keys); err != nil || len(empty.points) != 1 || first.Endorsement != "" || first.State != Signing {
		t.Errorf("where no key signs, the new one is %+v, %v", first, err)
	}
}

// A key takes over after what others sign and change at the same time.
func TestAKeyTakesOverFromOthers(t *testing.T) {
	b, n := signed(t, 2)
	b.during["LastCheckpoint 1"] = func() {
		if err := b.grow(t.Context()); err != nil {
			t.Error(err)
		}
		b.points = append(b.points, Checkpoint{Head: b.head})
	}
	now, err := n.Rotate(t.Context(), b.act(), n.keys)
	if c := b.points[len(b.points)-1]; err != nil || c.Key != now.ID || c.Size != b.points[1].Size+1 || len(b.entries) != 5 {
		t.Errorf("where another has signed all: %v, of %d after %d, by %d entries", err, c.Size, b.points[1].Size, len(b.entries))
	}
	b, n = signed(t, 2)
	b.during["ChangeSigningKeys 2"] = func() { b.keys = append(b.keys, SigningKey{ID: "more", State: Retired}) }
	now, err = n.Rotate(t.Context(), b.act(), n.keys)
	if got := b.state(); err != nil || now.State != Signing || got != "map[retired:2 signing:1] sealed by 2, checkpoints 2" {
		t.Errorf("where another has changed the keys: %v, %s", err, got)
	}
	b, n = signed(t, 2)
	b.keys[0].Origin = "a b"
	if _, err := n.Rotate(t.Context(), b.act(), n.keys); !errors.Is(err, ErrLost) || b.state() != "map[signing:1] sealed by 1, checkpoints 1" {
		t.Errorf("where no key can be made: %v, %s", err, b.state())
	}
}

// A key is revoked up to a size; the one that signs is followed by one that it does not endorse.
func TestAKeyIsRevoked(t *testing.T) {
	b, n := signed(t, 2)
	first := b.keys[0].ID
	second, err := n.Revoke(t.Context(), b.act(), first, 1)
	if err != nil || second.ID == first || second.State != Signing || second.Endorsement != "" {
		t.Fatalf("it is followed by %+v, %v", second, err)
	}
	if was := b.keys[0]; was.State != Revoked || was.Until != 1 || was.Text != "" {
		t.Errorf("it is %+v", was)
	}
	if _, err := n.Rotate(t.Context(), b.act(), n.keys); err != nil {
		t.Fatal(err)
	}
	until := b.keys[1].Until
	third, err := n.Revoke(t.Context(), b.act(), second.ID, until+9)
	if err != nil || third.ID != b.keys[2].ID || b.keys[1].State != Revoked || b.keys[1].Until != until || len(b.points) != 3 {
		t.Errorf("one that signs no more is %+v, and %+v signs, %v", b.keys[1], third, err)
	}
	fourth, err := n.Revoke(t.Context(), b.act(), third.ID, 1000)
	if c := b.points[3]; err != nil || b.keys[2].Until != c.Size || fourth.Since != c.Size {
		t.Errorf("one that signs, without a bound, is %+v, %v", b.keys[2], err)
	}
	b.keys = append(b.keys, SigningKey{ID: "making", State: Making})
	for id, want := range map[string]error{"none": ErrNone, first: ErrEnded, "making": ErrEnded} {
		if k, err := n.Revoke(t.Context(), b.act(), id, 1); !errors.Is(err, want) || k.ID != "" {
			t.Errorf("revoking %s: %+v, %v", id, k, err)
		}
	}
	b, n = signed(t, 0)
	b.during["Put 1"] = func() { b.keys[0].State = Retired }
	if _, err := n.Revoke(t.Context(), b.act(), b.keys[0].ID, 1); !errors.Is(err, ErrOvertaken) || b.keys[0].State != Retired {
		t.Errorf("one that another replaces meanwhile: %v, and it is %s", err, b.keys[0].State)
	}
	b, n = signed(t, 0)
	b.during["Put 1"] = func() {
		b.keys[0].State = Retired
		b.keys = append(b.keys, SigningKey{ID: "other", State: Signing})
	}
	if _, err := n.Revoke(t.Context(), b.act(), b.keys[0].ID, 1); !errors.Is(err, ErrOvertaken) || b.keys[0].State != Retired || len(b.keys) != 2 {
		t.Errorf("one that another has replaced meanwhile: %v, and it is %s", err, b.keys[0].State)
	}
	b, n = signed(t, 0)
	if _, err := n.Rotate(t.Context(), b.act(), n.keys); err != nil {
		t.Fatal(err)
	}
	old := b.keys[0].ID
	b.taken = nil
	b.during["ChangeSigningKeys 1"] = func() { b.keys[1].State = Retired }
	if _, err := n.Revoke(t.Context(), b.act(), old, 1); !errors.Is(err, ErrOvertaken) || b.keys[0].State != Retired {
		t.Errorf("one of keys that change meanwhile: %v, and it is %s", err, b.keys[0].State)
	}
}

// Whatever step fails, the keys are as before or as after once that is settled, and the log is signed on.
func TestAStepThatFailsLeavesNoKey(t *testing.T) {
	for what, do := range map[string]func(context.Context, *books, *Notary) error{
		"a rotation": func(ctx context.Context, b *books, n *Notary) error {
			_, err := n.Rotate(ctx, b.act(), n.keys)
			return err
		},
		"a revocation": func(ctx context.Context, b *books, n *Notary) error {
			_, err := n.Revoke(ctx, b.act(), b.keys[0].ID, 1)
			return err
		},
	} {
		whole, n := signed(t, 2)
		if err := do(t.Context(), whole, n); err != nil {
			t.Fatal(err)
		}
		for at := range whole.taken {
			b, n := signed(t, 2)
			b.fails[fmt.Sprint("step ", at+1)] = errStep
			err := do(t.Context(), b, n)
			if !errors.Is(err, errStep) && !strings.Contains(fmt.Sprint(err), errStep.Error()) {
				t.Errorf("%s, %s fails: %v", what, whole.taken[at], err)
			}
			b.fails = map[string]error{}
			b.clock.Add(time.Second)
			if err := n.Settle(t.Context(), b.clock.Now(), b.begin); err != nil {
				t.Errorf("%s, %s fails: settling ends with %v", what, whole.taken[at], err)
			}
			states := map[SigningKeyState]int{}
			for _, k := range b.keys {
				states[k.State]++
			}
			before := maps.Equal(states, map[SigningKeyState]int{Signing: 1})
			if after := states[Signing] == 1 && len(b.keys) == 2 && states[Making]+states[Abandoned] == 0; !before && !after {
				t.Errorf("%s, %s fails: the keys are %v", what, whole.taken[at], states)
			}
			b.write(1)
			points := len(b.points)
			if err := n.Sign(t.Context(), b.begin); err != nil || len(b.points) != points+1 {
				t.Errorf("%s, %s fails: the log is not signed any more: %v", what, whole.taken[at], err)
			}
		}
	}
}

// What a process began that died is taken back, and nothing else.
func TestWhatIsSettled(t *testing.T) {
	for _, c := range []struct {
		what  string
		state SigningKeyState
		age   time.Duration
		fails string
		want  string
	}{
		{"begun long ago", Making, 1, "", "map[signing:1] sealed by 1, checkpoints 1, <nil>"},
		{"begun just now", Making, 0, "", "map[making:1 signing:1] sealed by 2, checkpoints 1, <nil>"},
		{"given up", Abandoned, 0, "", "map[signing:1] sealed by 1, checkpoints 1, <nil>"},
		{"retired", Retired, 1, "", "map[retired:1 signing:1] sealed by 2, checkpoints 1, <nil>"},
		{"without the right to", Making, 1, "begin", "map[making:1 signing:1] sealed by 2, checkpoints 1, the step fails"},
		{"unread", Making, 1, "SigningKeys", "map[making:1 signing:1] sealed by 2, checkpoints 1, the step fails"},
		{"not given up", Making, 1, "ChangeSigningKeys 1", "map[making:1 signing:1] sealed by 2, checkpoints 1, the step fails"},
		{"what seals it stays", Making, 1, "Delete", "map[abandoned:1 signing:1] sealed by 2, checkpoints 1, destroying what seals a key that was abandoned"},
		{"its row stays", Making, 1, "ChangeSigningKeys 2", "map[abandoned:1 signing:1] sealed by 1, checkpoints 1, the step fails"},
	} {
		b, n := signed(t, 0)
		if _, err := n.keys.Seal(t.Context(), secret.Owner{ID: "begun", Generation: 1}, sealedField, secret.NewText("t")); err != nil {
			t.Fatal(err)
		}
		b.keys = append(b.keys, SigningKey{ID: "begun", State: c.state, CreatedAt: b.clock.Now().Add(-c.age)})
		b.fails = map[string]error{c.fails: errStep}
		b.taken, b.entries = nil, nil
		err := n.Settle(t.Context(), b.clock.Now(), b.begin)
		if got := b.state() + ", " + kindOf(err); !strings.HasPrefix(got, c.want) {
			t.Errorf("%s: %s, want %s; the steps are %q: %v", c.what, got, c.want, b.taken, err)
		}
		if c.state == Retired && len(b.entries) > 0 {
			t.Errorf("%s: it is recorded: %+v", c.what, b.entries)
		}
		for _, e := range b.entries {
			if e.Detail[audit.DetailAuditKey] != "begun" {
				t.Errorf("%s: an entry is %+v", c.what, e)
			}
		}
	}
	b, n := signed(t, 0)
	b.keys = append(b.keys, SigningKey{ID: "old", State: Making, CreatedAt: b.clock.Now().Add(-1)}, SigningKey{ID: "new", State: Making, CreatedAt: b.clock.Now()})
	if err := n.Settle(t.Context(), b.clock.Now(), b.begin); err != nil || len(b.keys) != 2 || b.keys[1].ID != "new" || b.keys[1].State != Making {
		t.Errorf("one beside another: %v, %+v", err, b.keys)
	}
	b, n = signed(t, 0)
	b.keys = append(b.keys, SigningKey{ID: "begun", State: Making, CreatedAt: b.clock.Now().Add(-1)}, SigningKey{ID: "last", State: Retired})
	b.during["ChangeSigningKeys 1"] = func() { b.keys[1].State = Signing }
	if err := n.Settle(t.Context(), b.clock.Now(), b.begin); err != nil || b.keys[1].State != Signing || len(b.keys) != 3 {
		t.Errorf("one that signs by now: %v, %+v", err, b.keys)
	}
}

// Each anchor gets the last checkpoint that it has not, once; what fails is told, and tried again.
func TestWhatAnchorsGet(t *testing.T) {
	b, _ := signed(t, 0)
	var one, two []string
	n := b.notary(Anchor{"one", outlet{b, "one", &one}}, Anchor{"two", outlet{b, "two", &two}})
	size := b.points[0].Size
	anchor := func(what, want string) {
		t.Helper()
		err := n.Anchor(t.Context())
		at, by, failed := n.Anchored(t.Context())
		all, unread := n.AnchorStatuses(t.Context())
		said := ""
		for _, s := range all {
			said += fmt.Sprintf(", %s %d behind %d %s", s.Anchor, s.Size, s.Behind, s.Fault)
		}
		if got := fmt.Sprint(len(one), len(two), " ", err, ", ", at, by, failed, unread, said); got != want {
			t.Errorf("%s: %s, want %s", what, got, want)
		}
	}
	b.fails["Send two"] = errStep
	anchor("one fails", fmt.Sprintf("1 1 anchor two: the step fails, 0two<nil> <nil>, one %d behind 0 , two 0 behind %[1]d anchor two: the step fails", size))
	b.fails = map[string]error{"SetAnchoring": errStep}
	anchor("it is not noted", fmt.Sprintf("1 2 anchor two: the step fails, 0two<nil> <nil>, one %d behind 0 , two 0 behind %[1]d anchor two: the step fails", size))
	b.fails = map[string]error{}
	anchor("it goes on", fmt.Sprintf("1 3 <nil>, %d<nil> <nil>, one %[1]d behind 0 , two %[1]d behind 0 ", size))
	anchor("nothing is new", fmt.Sprintf("1 3 <nil>, %d<nil> <nil>, one %[1]d behind 0 , two %[1]d behind 0 ", size))
	if a := b.anchors["one"]; !a.Time.Equal(b.clock.Now()) || !strings.Contains(one[0], b.keys[0].Origin) || !strings.Contains(one[0], fmt.Sprintf(`"size":%d,`, size)) {
		t.Errorf("the anchor has %+v: %s", a, one[0])
	}
	for _, step := range []string{"Anchorings", "LastCheckpoint"} {
		b.fails = map[string]error{step: errStep}
		_, _, at := n.Anchored(t.Context())
		_, all := n.AnchorStatuses(t.Context())
		if err := n.Anchor(t.Context()); !errors.Is(err, errStep) || !errors.Is(at, errStep) || !errors.Is(all, errStep) {
			t.Errorf("without %s: %v, %v, %v", step, err, at, all)
		}
	}
	b.fails = map[string]error{"Close one": errStep}
	if err := n.Close(); !errors.Is(err, errStep) || count(b.taken, "Close two") != 1 {
		t.Errorf("closing: %v", err)
	}
	none, nothing := newBooks(), []string{}
	n = none.notary(Anchor{"one", outlet{none, "one", &nothing}})
	if err := n.Anchor(t.Context()); err != nil || len(nothing) != 0 || count(none.taken, "Anchorings") != 0 || !n.Anchors() {
		t.Errorf("before the first checkpoint: %v, %q", err, nothing)
	}
	b, n = signed(t, 0)
	all, err := n.AnchorStatuses(t.Context())
	if faults := errors.Join(err, n.Anchor(t.Context())); all != nil || faults != nil || n.Anchors() || count(b.taken, "Anchorings") != 0 {
		t.Errorf("without anchors: %v, %v", all, faults)
	}
	if size, by, err := n.Anchored(t.Context()); size != b.points[0].Size || by != "" || err != nil {
		t.Errorf("without anchors %d are anchored, by %q, %v", size, by, err)
	}
}

// Which checkpoints of a key count, and which keys are the same.
func TestWhichCheckpointsCount(t *testing.T) {
	for state, want := range map[SigningKeyState]string{
		Making: "", Abandoned: "", Signing: "3 4 5 6 ", Retired: "3 4 5 ", Revoked: "3 4 5 ",
	} {
		got := ""
		for size := range int64(5) {
			if (SigningKey{State: state, Since: 3, Until: 5}).counts(size + 2) {
				got += fmt.Sprint(size+2, " ")
			}
		}
		if got != want {
			t.Errorf("of a key in state %s count %q, want %q", state, got, want)
		}
	}
	b, _ := signed(t, 0)
	k := b.keys[0]
	k.State, k.Until = Revoked, b.points[0].Size-1
	if _, err := Open([]SigningKey{{Origin: k.Origin, Verifier: "x"}, k}, b.points[0].Note); !errors.Is(err, ErrBeyond) {
		t.Errorf("beyond what counts: %v", err)
	}
	k.Until++
	if state, err := Open([]SigningKey{{Origin: k.Origin, Verifier: "x", State: Signing}, k}, b.points[0].Note); err != nil || state != b.points[0].Head {
		t.Errorf("at what counts: %+v, %v", state, err)
	}
	if _, err := Open([]SigningKey{{Origin: "other"}, k}, b.points[0].Note); !errors.Is(err, tree.ErrUnsigned) || errors.Is(err, ErrBeyond) {
		t.Errorf("of another log: %v", err)
	}
	keys := []SigningKey{{ID: "a", State: Signing}, {ID: "b", State: Retired}}
	for what, change := range map[string]func([]SigningKey) []SigningKey{
		"id": func(k []SigningKey) []SigningKey { k[0].ID = "c"; return k }, "state": func(k []SigningKey) []SigningKey { k[0].State = Revoked; return k },
		"number": func(k []SigningKey) []SigningKey { return k[1:] },
	} {
		if same(keys, change(slices.Clone(keys))) {
			t.Errorf("keys of another %s are the same", what)
		}
	}
	if !same(keys, slices.Clone(keys)) {
		t.Error("the same keys are not")
	}
	if held := (SigningKey{ID: "a", State: Signing, Sealed: keyring.Sealed{Text: "t"}}).Held(); held.Owner.ID != "a" || held.Text != "t" || held.State != Signing {
		t.Errorf("the row is %+v", held)
	}
}
