package postgres

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/broker/secret"
)

// vimColumns are read from vims v LEFT JOIN vim_generations g: one row for each
// generation, in the order of their numbers.
const vimColumns = `v.id, v.project, v.name, v.type, v.state, v.shared, v.is_default, v.created_by, v.created_at,
	v.updated_at, v.revision, v.generation, v.pending, v.pending_since, v.health, v.health_checked, v.health_message,
	v.health_version, v.can_mint, v.mint_message, v.health_next, v.idempotency_key, v.request_digest, v.description, v.extra,
	(SELECT json_object_agg(l.key, l.value) FROM vim_labels l WHERE l.vim = v.id),
	coalesce(g.number, 0), coalesce(g.endpoint, ''), coalesce(g.ca_cert, ''), coalesce(g.insecure_skip_verify, false),
	coalesce(g.server_name, ''), coalesce(g.namespace, ''), coalesce(g.scope, '{}'), coalesce(g.discovered, ''),
	coalesce(g.identity, ''), coalesce(g.credential_kind, ''), coalesce(g.username, ''), coalesce(g.credential_expires_at, '-infinity'),
	coalesce(g.sealed, ''), coalesce(g.key_ref, ''), coalesce(g.key_store, '')`

const (
	vimByID = `SELECT ` + vimColumns + ` FROM vims v LEFT JOIN vim_generations g ON g.vim = v.id
		WHERE v.id = $1 ORDER BY g.number`
	vimByKey = `SELECT ` + vimColumns + ` FROM vims v LEFT JOIN vim_generations g ON g.vim = v.id
		WHERE v.created_by = $1 AND v.idempotency_key = $2 AND v.idempotency_key <> '' ORDER BY g.number`
)

// VIM returns one by its id.
func (s *Store) VIM(ctx context.Context, id string) (broker.VIM, error) {
	v, err := oneVIM(lookUp(ctx, s, scanVIM, vimByID, id))
	if err != nil {
		return broker.VIM{}, fmt.Errorf("reading VIM %s: %w", id, err)
	}
	return v, nil
}

// VIMByKey returns the VIM that a principal registered under an idempotency key.
func (s *Store) VIMByKey(ctx context.Context, principal, key string) (broker.VIM, error) {
	v, err := oneVIM(lookUp(ctx, s, scanVIM, vimByKey, principal, key))
	if err != nil {
		return broker.VIM{}, fmt.Errorf("reading the VIM of an idempotency key: %w", err)
	}
	return v, nil
}

func (t txn) vim(id string) (broker.VIM, error) { return oneVIM(rows(t, scanVIM, vimByID, id)) }

func oneVIM(found []vimRow, err error) (broker.VIM, error) {
	switch {
	case err != nil:
		return broker.VIM{}, err
	case len(found) == 0:
		return broker.VIM{}, notFound("VIM")
	}
	return gather(found)[0], nil
}

// vimRow is a VIM with one of its generations.
type vimRow struct {
	broker.VIM
	current int64
	row     broker.Generation
}

func scanVIM(row pgx.CollectableRow) (vimRow, error) {
	var r vimRow
	var p broker.Pending
	var ref, scope string
	v, h, g := &r.VIM, &r.Health, &r.row
	err := row.Scan(&v.ID, &v.Project, &v.Name, &v.Type, &v.State, &v.Shared, &v.Default, &v.CreatedBy,
		into(&v.CreatedAt), into(&v.UpdatedAt), &v.Revision, &r.current, &p.Generation, into(&p.Since),
		&h.Status, into(&h.CheckedAt), &h.Message, &h.Version, &h.CanMint, &h.MintMessage, into(&h.Next),
		&v.IdempotencyKey, &v.RequestDigest, &v.Description, &v.Extra, &v.Labels,
		&g.Number, &g.Target.Endpoint, &g.Target.CACert, &g.Target.InsecureSkipVerify, &g.Target.ServerName,
		&g.Target.Namespace, &scope, &g.Discovered, &g.Identity, &g.CredentialKind, &g.Username, into(&g.CredentialExpiresAt),
		&g.Sealed, &ref, &g.KeyStore)
	if err != nil {
		return r, err
	}
	g.Key = secret.Ref(ref)
	if p.Generation != 0 {
		v.Pending = &p
	}
	return r, json.Unmarshal([]byte(scope), &g.Target.Scope)
}

// gather puts the generations of one VIM, which stand in rows side by side, together.
func gather(found []vimRow) []broker.VIM {
	vims := make([]broker.VIM, 0, len(found))
	for _, r := range found {
		if n := len(vims); n == 0 || vims[n-1].ID != r.ID {
			vims = append(vims, r.VIM)
		}
		v := &vims[len(vims)-1]
		switch {
		case r.row.Number == 0: // none yet
		case r.row.Number == r.current:
			v.Current = r.row
		default:
			v.Past = append(v.Past, r.row)
		}
	}
	return vims
}
