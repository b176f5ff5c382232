package keyring_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/vimbroker/vimbroker/broker/keyring"
	"github.com/vimbroker/vimbroker/broker/secret"
)

var errRow = errors.New("the row is not written")

// row is a row in memory: its writes are counted, and the one of a number fails or has something happen before.
type row struct {
	is     keyring.SealedRow
	now    time.Time
	writes int
	fails  int
	before map[int]func(*keyring.SealedRow)
}

func (r *row) sealed(text *secret.Text) keyring.Row {
	return keyring.Row{
		Field: field, Text: text, Now: func() time.Time { return r.now },
		Update: func(_ context.Context, change func(*keyring.SealedRow) error) (keyring.SealedRow, error) {
			if r.writes++; r.writes == r.fails {
				return keyring.SealedRow{}, errRow
			}
			if happens := r.before[r.writes]; happens != nil {
				happens(&r.is)
			}
			now := r.is
			if err := change(&now); err != nil {
				return keyring.SealedRow{}, err
			}
			r.is = now
			return now, nil
		},
	}
}

// A text is resealed under one new key, whoever else works on its row or whatever fails; the row says how far that has come.
func TestATextIsResealed(t *testing.T) {
	begun := time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC)
	taken := func(at int, change func(*keyring.SealedRow)) func(*row, *shelf) {
		return func(r *row, _ *shelf) { r.before = map[int]func(*keyring.SealedRow){at: change} }
	}
	fails := func(at int) func(*row, *shelf) { return func(r *row, _ *shelf) { r.fails = at } }
	another := secret.NewText("another")
	for _, c := range []struct {
		what  string
		given func(*row, *shelf)
		text  *secret.Text
		want  string // the state, how often the row was written, the keys, and the text
		err   error
	}{
		{"alone", nil, nil, "active, 4 writes, 1 keys, " + canary + " 2", nil},
		{"with another text", nil, &another, "active, 4 writes, 1 keys, another 2", nil},
		{"in use", func(r *row, _ *shelf) { r.is.State = keyring.Rekeying }, nil, "rekeying, 1 writes, 1 keys, " + canary + " 1", keyring.ErrOvertaken},
		{"not begun", fails(1), nil, "active, 1 writes, 1 keys, " + canary + " 1", errRow},
		{"not switched", fails(2), nil, "active, 4 writes, 1 keys, " + canary + " 1", errRow},
		{"not ended", fails(3), nil, "rekeying, 3 writes, 2 keys, " + canary + " 2", errRow},
		{"not in use again", fails(4), nil, "rekeying, 4 writes, 1 keys, " + canary + " 2", errRow},
		{"ended by another", taken(2, func(r *keyring.SealedRow) { r.State = keyring.Active }), nil, "active, 2 writes, 1 keys, " + canary + " 1", keyring.ErrOvertaken},
		{"taken over by another", taken(2, func(r *keyring.SealedRow) { r.Since = begun.Add(1) }), nil, "rekeying, 2 writes, 1 keys, " + canary + " 1", keyring.ErrOvertaken},
		{"ended by another after it was switched", taken(3, func(r *keyring.SealedRow) { r.State = keyring.Active }), nil, "active, 3 writes, 2 keys, " + canary + " 2", nil},
		{"taken over by another after it was switched", taken(3, func(r *keyring.SealedRow) { r.Since = begun.Add(1) }), nil, "rekeying, 3 writes, 2 keys, " + canary + " 2", nil},
		{"taken over by another at the end", taken(4, func(r *keyring.SealedRow) { r.Since = begun.Add(1) }), nil, "rekeying, 4 writes, 1 keys, " + canary + " 2", nil},
		{"and the key is not had", func(_ *row, s *shelf) { s.get = errors.New("away") }, nil, "active, 3 writes, 1 keys,  1", keyring.ErrUnusable},
		{"and no key is stored", func(_ *row, s *shelf) { s.put = errors.New("away") }, nil, "active, 3 writes, 1 keys, " + canary + " 1", keyring.ErrUnusable},
		{"and the old key stays", func(_ *row, s *shelf) { s.delete = errors.New("away") }, nil, "rekeying, 3 writes, 2 keys, " + canary + " 2", keyring.ErrUnusable},
	} {
		keys := newShelf(t, "one")
		ring := keyring.Ring{keys}
		r := &row{now: begun, is: keyring.SealedRow{State: keyring.Active, Sealed: mustSeal(t, ring, owner), Owner: secret.Owner{Generation: 1}}}
		r.is.OwnedBy(owner.ID)
		if c.given != nil {
			c.given(r, keys)
		}
		err := ring.Rekey(t.Context(), ring, r.sealed(c.text))
		if c.err == nil && err != nil || !errors.Is(err, c.err) {
			t.Errorf("%s: %v, want %v", c.what, err, c.err)
		}
		text, _ := ring.Open(t.Context(), r.is.Owner, field, r.is.Sealed)
		got := fmt.Sprint(r.is.State, ", ", r.writes, " writes, ", keys.count(t, owner.ID), " keys, ", text.Reveal(), " ", r.is.Owner.Generation)
		if got != c.want {
			t.Errorf("%s: %s, want %s", c.what, got, c.want)
		}
		if r.is.State == keyring.Rekeying && r.is.Since.IsZero() && c.what != "in use" {
			t.Errorf("%s: the row does not say since when", c.what)
		}
	}
}

// What of the states of rows is said: who may go where, which signs, and whose text is used.
func TestStatesOfWhatIsSealed(t *testing.T) {
	for from, to := range map[keyring.State]keyring.State{
		keyring.Making: keyring.Signing, keyring.Active: keyring.Rekeying, keyring.Rekeying: keyring.Active, keyring.Retired: keyring.Revoked,
	} {
		if !from.CanMove(to) || from.CanMove(from) || keyring.Revoked.CanMove(to) {
			t.Errorf("from %s to %s it cannot move, or stays", from, to)
		}
	}
	for state, needed := range map[keyring.State]bool{
		keyring.Active: true, keyring.Rekeying: true, keyring.Making: false, keyring.Abandoned: false, keyring.Signing: false,
	} {
		if state.Needed() != needed {
			t.Errorf("in state %s the text is needed: %v", state, !needed)
		}
	}
	retired, first, second := key{keyring.Retired, "a"}, key{keyring.Signing, "b"}, key{keyring.Signing, "c"}
	for _, c := range []struct {
		all  []key
		want string
	}{{nil, ""}, {[]key{retired}, ""}, {[]key{first, retired}, "b"}, {[]key{retired, first, second}, "b"}} {
		if signs, found := keyring.Signs(c.all); signs.name != c.want || found != (c.want != "") {
			t.Errorf("of %v signs %q, %v", c.all, signs.name, found)
		}
	}
}

type key struct {
	state keyring.State
	name  string
}

func (k key) Held() keyring.SealedRow { return keyring.SealedRow{State: k.state} }
