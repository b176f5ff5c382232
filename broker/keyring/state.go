package keyring

import "slices"

// State is where a row stands whose text is sealed: a key that signs, the secrets of a subscription, secret parameters.
// A VIM has more than one sealed text, and its own states.
type State string

// Every state.
const (
	// Making: the intent is stored; what seals the text may be in a key store.
	Making State = "making"
	// Abandoned: the text was never finished, or is not needed. Its key is destroyed, and then its row goes.
	Abandoned State = "abandoned"
	// Active: the text is needed.
	Active State = "active"
	// Rekeying: the text is needed, and is being resealed; a key store may hold a second key of it.
	Rekeying State = "rekeying"

	// Signing: a key that signs. Each kind has one.
	Signing State = "signing"
	// Verifying: another key signs, and the sealed half is destroyed. Its signatures count for a time.
	Verifying State = "verifying"
	// Retired: another key signs, and the sealed half is destroyed. Its signatures count.
	Retired State = "retired"
	// Revoked: somebody else may have the key. The sealed half is destroyed.
	Revoked State = "revoked"
)

// moves is the state machine of all that is sealed. Each table says which of the states its rows may
// have.
var moves = map[State][]State{
	Making:    {Active, Signing, Abandoned},
	Abandoned: {},
	Active:    {Rekeying, Abandoned},
	Rekeying:  {Active, Abandoned},
	Signing:   {Verifying, Retired, Revoked},
	Verifying: {},
	Retired:   {Revoked},
	Revoked:   {},
}

// CanMove reports whether a row may go from one state to another. Staying is no move.
func (s State) CanMove(to State) bool { return slices.Contains(moves[s], to) }

// Needed reports whether the owner works with the text.
func (s State) Needed() bool { return s == Active || s == Rekeying }
