package tables

import (
	"cmp"
	"context"

	"github.com/vimbroker/vimbroker/drivers/rows"
	"github.com/vimbroker/vimbroker/lifecycle"
)

var selectSecretParameters = `SELECT ` + rows.SecretParametersColumns.Names() + ` FROM vnf_secret_parameters WHERE `

var (
	lockSecretParameters  = statement(secretParametersByID + ` FOR UPDATE`)
	secretParametersByID  = statement(selectSecretParameters + `id = ?1`)
	secretParametersOfVIM = statement(selectSecretParameters + `vim = ?1 AND id > ?2 AND ` +
		rows.SecretParametersNeeded + ` ORDER BY id LIMIT ?3`)
	secretParametersUnsettled = statement(selectSecretParameters + rows.SecretParametersUnsettled +
		` ORDER BY since, id LIMIT ?1`)

	changingSecretParameters = rows.SecretParametersColumns.Changing()
	insertSecretParameters   = statement(rows.SecretParametersColumns.Insert(`vnf_secret_parameters`))
	updateSecretParameters   = statement(`UPDATE vnf_secret_parameters SET ` + changingSecretParameters.Set() + ` WHERE id = ?`)
)

const abandoning = `UPDATE vnf_secret_parameters SET state = 'abandoned', since = ?1, sealed = '', key_store = '', key_ref = '' WHERE `

var (
	keepSecretParameters = statement(`UPDATE vnf_secret_parameters SET state = 'active', since = ?1
		WHERE id = ?2 AND state = 'making' AND sealed <> ''`)
	abandonSecretParameters   = statement(abandoning + `id = ?2 AND ` + rows.SecretParametersNeeded)
	abandonSecretParametersOf = statement(abandoning + `instance = ?2 AND ` + rows.SecretParametersNeeded)
	deleteSecretParameters    = statement(`DELETE FROM vnf_secret_parameters WHERE id = ?1 AND state = 'abandoned'`)
)

// CreateSecretParameters stores secret parameters that are being made.
func (s *Tables) CreateSecretParameters(ctx context.Context, h lifecycle.SecretParameters) error {
	err := s.change(ctx, func(t Tx) error {
		t.queue(insertSecretParameters, rows.SecretParametersColumns.Values(&h)...)
		return nil
	})
	return doing(err, "creating secret parameters %s", h.ID)
}

// SecretParameters returns those of an id.
func (s *Tables) SecretParameters(ctx context.Context, id string) (lifecycle.SecretParameters, error) {
	h, err := oneSecretParameters(lookUp(ctx, s, scanSecretParameters, secretParametersByID, id))
	return h, doing(err, "reading secret parameters %s", id)
}

func oneSecretParameters(found []lifecycle.SecretParameters, err error) (lifecycle.SecretParameters, error) {
	return rows.First("secret parameters", found, err)
}

func scanSecretParameters(row Row) (h lifecycle.SecretParameters, err error) {
	return h, row.Scan(rows.SecretParametersColumns.Fields(&h)...)
}

// ListSecretParameters lists those of a VIM, or those that are not kept.
func (s *Tables) ListSecretParameters(ctx context.Context, f lifecycle.SecretParametersFilter) ([]lifecycle.SecretParameters, error) {
	text, args := secretParametersUnsettled, []any{f.Limit}
	if f.VIM != "" {
		text, args = secretParametersOfVIM, []any{f.VIM, f.After, f.Limit}
	}
	all, err := read(ctx, s, scanSecretParameters, text, args...)
	return all, doing(err, "listing secret parameters")
}

// UpdateSecretParameters changes secret parameters by a function. Changes to the id, the instance and the VIM are ignored.
func (s *Tables) UpdateSecretParameters(
	ctx context.Context, id string, change func(*lifecycle.SecretParameters) error,
) (lifecycle.SecretParameters, error) {
	read := func(t Tx) (lifecycle.SecretParameters, error) {
		return oneSecretParameters(query(t, scanSecretParameters, lockSecretParameters, id))
	}
	store := func(t Tx, old, next lifecycle.SecretParameters) (lifecycle.SecretParameters, error) {
		if old.State != next.State && !old.State.CanMove(next.State) {
			return next, rows.Conflict("secret parameters that are " + string(old.State) + " cannot become " + string(next.State))
		}
		next.ID, next.Instance, next.VIM = old.ID, old.Instance, old.VIM
		t.queue(updateSecretParameters, append(changingSecretParameters.Values(&next), id)...)
		return next, nil
	}
	return amend(ctx, s.change, "updating secret parameters "+id, read, change, store)
}

// DeleteSecretParameters removes secret parameters that are abandoned.
func (s *Tables) DeleteSecretParameters(ctx context.Context, id string) error {
	err := s.change(ctx, func(t Tx) error {
		t.queue(deleteSecretParameters, id)
		return nil
	})
	return doing(err, "deleting secret parameters %s", id)
}

// conceal keeps what an instance or an operation has come to need, and abandons what neither needs any more.
func (t Tx) conceal(c rows.SecretParametersChange) error {
	for _, id := range c.Kept {
		if kept, err := t.any(keepSecretParameters, t.Now(), id); err != nil || !kept {
			return cmp.Or(err, rows.NotSecretParameters())
		}
	}
	for _, id := range c.Dropped {
		t.queue(abandonSecretParameters, t.Now(), id)
	}
	return nil
}
