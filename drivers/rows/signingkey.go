package rows

import (
	"slices"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/broker/notary"
)

// SigningKeyColumns are the columns of the table audit_keys.
var SigningKeyColumns = Columns[notary.SigningKey]{
	{Name: "id", field: func(k *notary.SigningKey) any { return &k.ID }, fixed: true},
	{Name: "state", field: func(k *notary.SigningKey) any { return &k.State }},
	{Name: "origin", field: func(k *notary.SigningKey) any { return &k.Origin }, fixed: true},
	{Name: "verifier", field: func(k *notary.SigningKey) any { return &k.Verifier }},
	{Name: "since", field: func(k *notary.SigningKey) any { return &k.Since }},
	{Name: "until", field: func(k *notary.SigningKey) any { return &k.Until }},
	{Name: "endorsement", field: func(k *notary.SigningKey) any { return &k.Endorsement }},
	{Name: "created_at", field: func(k *notary.SigningKey) any { return &k.CreatedAt }, fixed: true},
	{Name: "ended_at", field: func(k *notary.SigningKey) any { return &k.EndedAt }},
	{Name: "sealed", field: func(k *notary.SigningKey) any { return &k.Sealed }},
	{Name: "key_store", field: func(k *notary.SigningKey) any { return &k.KeyStore }},
	{Name: "key_ref", field: func(k *notary.SigningKey) any { return &k.Ref }},
}

// SigningKeyChange is the effect of a write on the keys that sign checkpoints.
type SigningKeyChange struct {
	New, Changed []notary.SigningKey
	// Gone are the ids of those to remove.
	Gone []string
	// Retired are the sealing keys of signing keys that need them no more.
	Retired []broker.RetiredKey
}

// ChangeOfSigningKeys compares the keys before and after a write. A move that the table of
// states does not have is broker.ErrConflict.
func ChangeOfSigningKeys(before, after []notary.SigningKey) (SigningKeyChange, error) {
	var c SigningKeyChange
	for _, k := range after {
		at := slices.IndexFunc(before, func(other notary.SigningKey) bool { return other.ID == k.ID })
		if at < 0 {
			c.New = append(c.New, k)
			continue
		}
		old := before[at]
		if k == old {
			continue
		}
		if k.State != old.State && !old.State.CanMove(k.State) {
			return c, Conflict("a key that is " + string(old.State) + " cannot become " + string(k.State))
		}
		if old.Ref != "" && k.Ref == "" {
			c.Retired = append(c.Retired, broker.RetiredKey{KeyStore: old.KeyStore, Ref: old.Ref, Owner: old.Owner()})
		}
		c.Changed = append(c.Changed, k)
	}
	for _, k := range before {
		if !slices.ContainsFunc(after, func(other notary.SigningKey) bool { return other.ID == k.ID }) {
			c.Gone = append(c.Gone, k.ID)
		}
	}
	return c, nil
}
