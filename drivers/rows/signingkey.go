package rows

import (
	"slices"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/broker/keyring"
	"github.com/vimbroker/vimbroker/broker/notary"
	"github.com/vimbroker/vimbroker/broker/oauth"
)

// SigningKeyColumns are the columns of the table audit_keys.
var SigningKeyColumns = ColumnsOf[notary.SigningKey](`
	id! state origin! verifier since until endorsement created_at! ended_at sealed=Text key_store key_ref=Ref`)

// TokenKeyColumns are the columns of the table oauth_keys.
var TokenKeyColumns = ColumnsOf[oauth.TokenKey](`
	id! state public sealed=Text key_store key_ref=Ref created_at! until`)

// SealedKey is a key that signs, whose private half is sealed.
type SealedKey interface {
	comparable
	// Held is where it stands, whom its Fernet key belongs to, and its sealed half.
	Held() keyring.SealedRow
}

// KeyChange is the effect of a write on a table of keys that sign.
type KeyChange[K SealedKey] struct {
	New, Changed []K
	// Gone are the ids of those to remove.
	Gone []string
	// Retired are the Fernet keys that no key names any more.
	Retired []broker.RetiredKey
}

// ChangeOfKeys compares the keys before and after a write. A move that the table of states does not have is
// broker.ErrConflict. The key that is to sign comes behind the one that does not any more: at no moment do two.
func ChangeOfKeys[K SealedKey](before, after []K) (KeyChange[K], error) {
	var c KeyChange[K]
	find := func(keys []K, k K) int {
		return slices.IndexFunc(keys, func(other K) bool { return other.Held().Owner == k.Held().Owner })
	}
	for _, k := range after {
		at := find(before, k)
		if at < 0 {
			c.New = append(c.New, k)
			continue
		}
		from, to := before[at].Held().State, k.Held().State
		switch {
		case k == before[at]:
		case from != to && !from.CanMove(to):
			return c, Conflict("a key that is " + string(from) + " cannot become " + string(to))
		case to == keyring.Signing:
			c.Changed = append(c.Changed, k)
		default:
			c.Changed = slices.Insert(c.Changed, 0, k)
		}
	}
	for _, k := range before {
		at, old := find(after, k), k.Held()
		if at < 0 {
			c.Gone = append(c.Gone, old.Owner.ID)
		}
		if old.Ref != "" && (at < 0 || after[at].Held().Ref != old.Ref) {
			c.Retired = append(c.Retired, broker.RetiredKey{KeyStore: old.KeyStore, Ref: old.Ref, Owner: old.Owner})
		}
	}
	return c, nil
}
