package rows

import (
	"slices"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/broker/oauth"
)

// TokenKeyColumns are the columns of the table oauth_keys.
var TokenKeyColumns = Columns[oauth.TokenKey]{
	{Name: "id", field: func(k *oauth.TokenKey) any { return &k.ID }, fixed: true},
	{Name: "state", field: func(k *oauth.TokenKey) any { return &k.State }},
	{Name: "public", field: func(k *oauth.TokenKey) any { return &k.Public }},
	{Name: "sealed", field: func(k *oauth.TokenKey) any { return &k.Sealed }},
	{Name: "key_store", field: func(k *oauth.TokenKey) any { return &k.KeyStore }},
	{Name: "key_ref", field: func(k *oauth.TokenKey) any { return (*string)(&k.Ref) }},
	{Name: "created_at", field: func(k *oauth.TokenKey) any { return &k.CreatedAt }, fixed: true},
	{Name: "until", field: func(k *oauth.TokenKey) any { return &k.Until }},
}

// TokenKeyChange is the effect of a write on the keys that sign tokens.
type TokenKeyChange struct {
	New, Changed []oauth.TokenKey
	Gone         []string
	// Retired are the Fernet keys that no key names any more.
	Retired []broker.RetiredKey
}

// ChangeOfTokenKeys compares the keys before and after a write. A move that the table of
// states does not have is broker.ErrConflict.
func ChangeOfTokenKeys(before, after []oauth.TokenKey) (TokenKeyChange, error) {
	var c TokenKeyChange
	for _, k := range after {
		at := slices.IndexFunc(before, func(other oauth.TokenKey) bool { return other.ID == k.ID })
		switch {
		case at < 0:
			c.New = append(c.New, k)
		case k == before[at]:
		case k.State != before[at].State && !before[at].State.CanMove(k.State):
			return c, Conflict("a key that is " + string(before[at].State) + " cannot become " + string(k.State))
		default:
			c.Changed = append(c.Changed, k)
		}
	}
	for _, old := range before {
		at := slices.IndexFunc(after, func(k oauth.TokenKey) bool { return k.ID == old.ID })
		if at < 0 {
			c.Gone = append(c.Gone, old.ID)
		}
		if old.Ref != "" && (at < 0 || after[at].Ref != old.Ref) {
			c.Retired = append(c.Retired, broker.RetiredKey{KeyStore: old.KeyStore, Ref: old.Ref, Owner: old.Owner()})
		}
	}
	return c, nil
}

// SigningLast puts the key that is to sign behind the one that does not any more: at no moment
// do two.
func SigningLast(keys []oauth.TokenKey) []oauth.TokenKey {
	ordered := slices.Clone(keys)
	slices.SortStableFunc(ordered, func(a, b oauth.TokenKey) int {
		switch {
		case a.State == b.State:
			return 0
		case a.State == oauth.KeySigning:
			return 1
		}
		return -1
	})
	return ordered
}
