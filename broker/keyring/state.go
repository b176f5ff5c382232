package keyring

import "slices"

// State is where a row stands whose text is sealed: a key that signs, the secrets of a subscription, hidden parameters.
// A VIM has more than one sealed text, and its own states.
type State string

// Every state.
const (
	// Making: the intent is stored; what seals the text may be in a key store.
	Making State = "making"
	// Abandoned: it was never finished, or nobody needs it. What seals it is destroyed, and then its row goes.
	Abandoned State = "abandoned"
	// Active: the text is needed.
	Active State = "active"
	// Rekeying: the text is needed, and sealed anew; a key store may hold a second key of it.
	Rekeying State = "rekeying"

	// Signing: it is a key that signs. Of those of a kind one does.
	Signing State = "signing"
	// Verifying: another key signs, and what is sealed is destroyed. What it has signed counts for a time.
	Verifying State = "verifying"
	// Retired: another key signs, and what is sealed is destroyed. What it has signed counts.
	Retired State = "retired"
	// Revoked: somebody else may have the key. What is sealed here is destroyed.
	Revoked State = "revoked"
)

// moves is the state machine of all that is sealed. Which of the states a row may have its table says.
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

// Needed reports whether the text is what its owner works with.
func (s State) Needed() bool { return s == Active || s == Rekeying }
