package notary

import (
	"fmt"
	"slices"

	"golang.org/x/mod/sumdb/note"

	"github.com/vimbroker/vimbroker/policy/audit/tree"
)

// Open returns the state that a checkpoint states, if a key whose checkpoints of that size
// count has signed it. Otherwise it is [tree.ErrUnsigned].
func Open(keys []SigningKey, signed string) (tree.State, error) {
	if len(keys) == 0 {
		return tree.State{}, tree.ErrUnsigned
	}
	origin := keys[0].Origin
	var all []note.Verifier
	for _, k := range keys {
		if v, err := note.NewVerifier(k.Verifier); err == nil {
			all = append(all, v)
		}
	}
	state, err := tree.OpenCheckpoint(origin, signed, all...)
	if err != nil {
		return tree.State{}, err
	}
	if state, err = tree.OpenCheckpoint(origin, signed, verifiers(keys, state.Size)...); err != nil {
		return tree.State{}, ErrBeyond
	}
	return state, nil
}

// ErrBeyond is a [tree.ErrUnsigned]: a key of the log signed the checkpoint, and its checkpoints of that size do
// not count.
var ErrBeyond = fmt.Errorf("%w: it is signed by a key whose checkpoints of that size do not count", tree.ErrUnsigned)

// Trusted returns those keys of a log that verifier keys vouch for which somebody has
// kept: the keys themselves, and each that the key before has endorsed, from one to the
// next. None is [tree.ErrUnsigned].
func Trusted(keys []SigningKey, kept ...string) ([]SigningKey, error) {
	trusted := map[string]bool{}
	vouched := func(k SigningKey) bool {
		return slices.Contains(kept, k.Verifier) || slices.ContainsFunc(keys, func(before SigningKey) bool {
			return trusted[before.ID] && before.State != Revoked && endorses(before, k)
		})
	}
	for more := true; more; {
		more = false
		for _, k := range keys {
			if !trusted[k.ID] && vouched(k) {
				trusted[k.ID], more = true, true
			}
		}
	}
	if len(trusted) == 0 {
		return nil, fmt.Errorf("%w: the log has none of the keys that were kept, nor one that they endorsed", tree.ErrUnsigned)
	}
	return slices.DeleteFunc(slices.Clone(keys), func(k SigningKey) bool { return !trusted[k.ID] }), nil
}

// endorsement is the text in which the key before names the next one. It is no checkpoint:
// its second line is no number.
func endorsement(origin, verifier string) string {
	return origin + "\nthe next key that signs checkpoints\n" + verifier + "\n"
}

// endorses reports whether one key has endorsed the other.
func endorses(before, next SigningKey) bool {
	v, err := note.NewVerifier(before.Verifier)
	if err != nil {
		return false
	}
	n, err := note.Open([]byte(next.Endorsement), note.VerifierList(v))
	return err == nil && n.Text == endorsement(next.Origin, next.Verifier)
}
