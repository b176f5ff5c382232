package tables

import (
	"cmp"
	"context"

	"github.com/vimbroker/vimbroker/drivers/rows"
	"github.com/vimbroker/vimbroker/lifecycle"
)

var (
	secretParameters = keyedBy(`id`, `vnf_secret_parameters`, "secret parameters", rows.SecretParametersColumns,
		same[lifecycle.SecretParameters], same[lifecycle.SecretParameters])
	secretParametersOfVIM = statement(secretParameters.text + ` WHERE vim = ?1 AND id > ?2 AND ` +
		rows.SecretParametersNeeded + ` ORDER BY id LIMIT ?3`)
	secretParametersUnsettled = statement(secretParameters.text + ` WHERE ` + rows.SecretParametersUnsettled +
		` ORDER BY since, id LIMIT ?1`)
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
	err := s.run(ctx, secretParameters.insert, secretParameters.columns.Values(&h)...)
	return doing(err, "creating secret parameters %s", h.ID)
}

// SecretParameters returns those of an id.
func (s *Tables) SecretParameters(ctx context.Context, id string) (lifecycle.SecretParameters, error) {
	return secretParameters.get(ctx, s, id)
}

// ListSecretParameters lists those of a VIM, or those that are not kept.
func (s *Tables) ListSecretParameters(ctx context.Context, f lifecycle.SecretParametersFilter) ([]lifecycle.SecretParameters, error) {
	text, args := secretParametersUnsettled, []any{f.Limit}
	if f.VIM != "" {
		text, args = secretParametersOfVIM, []any{f.VIM, f.After, f.Limit}
	}
	all, err := read(ctx, s, secretParameters.scan, text, args...)
	return all, doing(err, "listing secret parameters")
}

// UpdateSecretParameters changes secret parameters by a function. Changes to the id, the instance and the VIM are ignored.
func (s *Tables) UpdateSecretParameters(
	ctx context.Context, id string, change func(*lifecycle.SecretParameters) error,
) (lifecycle.SecretParameters, error) {
	return secretParameters.amend(ctx, s.change, id, change, func(old, next lifecycle.SecretParameters) (lifecycle.SecretParameters, error) {
		next.ID, next.Instance, next.VIM = old.ID, old.Instance, old.VIM
		return next, rows.Move("a set of secret parameters", old.State, next.State)
	})
}

// DeleteSecretParameters removes secret parameters that are abandoned.
func (s *Tables) DeleteSecretParameters(ctx context.Context, id string) error {
	return doing(s.run(ctx, deleteSecretParameters, id), "deleting secret parameters %s", id)
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
