package rows

import (
	"fmt"
	"reflect"
	"slices"

	"github.com/vimbroker/vimbroker/broker"
)

// VIM is a row of the table vims and, when it is read, one of the VIM's generations.
type VIM struct {
	VIM        broker.VIM
	Generation Generation
	current    int64 // number of the current generation
	pending    broker.Pending
}

// Generation is a row of the table vim_generations.
type Generation struct {
	VIM string // id
	broker.Generation
}

// VIMColumns are the columns of the table vims.
var VIMColumns = Columns[VIM]{
	{Name: "id", field: func(r *VIM) any { return &r.VIM.ID }, fixed: true},
	{Name: "project", field: func(r *VIM) any { return &r.VIM.Project }, fixed: true},
	{Name: "name", field: func(r *VIM) any { return &r.VIM.Name }},
	{Name: "type", field: func(r *VIM) any { return &r.VIM.Type }},
	{Name: "state", field: func(r *VIM) any { return &r.VIM.State }},
	{Name: "shared", field: func(r *VIM) any { return &r.VIM.Shared }},
	{Name: "is_default", field: func(r *VIM) any { return &r.VIM.Default }},
	{Name: "created_by", field: func(r *VIM) any { return &r.VIM.CreatedBy }, fixed: true},
	{Name: "created_at", field: func(r *VIM) any { return &r.VIM.CreatedAt }, fixed: true},
	{Name: "updated_at", field: func(r *VIM) any { return &r.VIM.UpdatedAt }},
	{Name: "revision", field: func(r *VIM) any { return &r.VIM.Revision }},
	{Name: "generation", field: func(r *VIM) any { return &r.current }},
	{Name: "pending", field: func(r *VIM) any { return &r.pending.Generation }},
	{Name: "pending_since", field: func(r *VIM) any { return &r.pending.Since }},
	{Name: "health", field: func(r *VIM) any { return &r.VIM.Health.Status }},
	{Name: "health_checked", field: func(r *VIM) any { return &r.VIM.Health.CheckedAt }},
	{Name: "health_message", field: func(r *VIM) any { return &r.VIM.Health.Message }},
	{Name: "health_version", field: func(r *VIM) any { return &r.VIM.Health.Version }},
	{Name: "can_mint", field: func(r *VIM) any { return &r.VIM.Health.CanMint }},
	{Name: "mint_message", field: func(r *VIM) any { return &r.VIM.Health.MintMessage }},
	{Name: "external_ips", field: func(r *VIM) any { return &r.VIM.Health.ExternalIPs }},
	{Name: "health_next", field: func(r *VIM) any { return &r.VIM.Health.Next }},
	{Name: "idempotency_key", field: func(r *VIM) any { return &r.VIM.IdempotencyKey }},
	{Name: "request_digest", field: func(r *VIM) any { return &r.VIM.RequestDigest }},
	{Name: "description", field: func(r *VIM) any { return &r.VIM.Description }},
	{Name: "extra", field: func(r *VIM) any { return &r.VIM.Extra }},
	{Name: "suspended", field: func(r *VIM) any { return &r.VIM.Suspended }},
}

// HealthColumns are the columns that a check of a VIM writes.
var HealthColumns = VIMColumns.Pick("health", "health_checked", "health_message", "health_version",
	"can_mint", "mint_message", "external_ips", "health_next")

// RekeyColumns are the columns of a VIM that resealing writes.
var RekeyColumns = VIMColumns.Pick("pending", "pending_since", "updated_at", "revision")

// GenerationColumns are the columns of the table vim_generations.
var GenerationColumns = Columns[Generation]{
	{Name: "vim", field: func(g *Generation) any { return &g.VIM }},
	{Name: "number", field: func(g *Generation) any { return &g.Number }},
	{Name: "endpoint", field: func(g *Generation) any { return &g.Target.Endpoint }},
	{Name: "ca_cert", field: func(g *Generation) any { return &g.Target.CACert }},
	{Name: "insecure_skip_verify", field: func(g *Generation) any { return &g.Target.InsecureSkipVerify }},
	{Name: "server_name", field: func(g *Generation) any { return &g.Target.ServerName }},
	{Name: "namespace", field: func(g *Generation) any { return &g.Target.Namespace }},
	{Name: "scope", field: func(g *Generation) any { return &g.Target.Scope }},
	{Name: "shared_kinds", field: func(g *Generation) any { return &g.Target.Vouched.SharedKinds }},
	{Name: "pods_held_by", field: func(g *Generation) any { return &g.Target.Vouched.PodsHeldBy }},
	{Name: "discovered", field: func(g *Generation) any { return &g.Discovered }},
	{Name: "identity", field: func(g *Generation) any { return &g.Identity }},
	{Name: "credential_kind", field: func(g *Generation) any { return &g.CredentialKind }},
	{Name: "username", field: func(g *Generation) any { return &g.Username }},
	{Name: "credential_expires_at", field: func(g *Generation) any { return &g.CredentialExpiresAt }},
	{Name: "sealed", field: func(g *Generation) any { return &g.Sealed }},
	{Name: "key_ref", field: func(g *Generation) any { return &g.Key }},
	{Name: "key_store", field: func(g *Generation) any { return &g.KeyStore }},
	{Name: "sealed_as", field: func(g *Generation) any { return &g.SealedAs }},
}

// OfVIM returns the row that stores v.
func OfVIM(v broker.VIM) *VIM {
	r := VIM{VIM: v, current: v.Current.Number}
	if v.Pending != nil {
		r.pending = *v.Pending
	}
	return &r
}

// Gather makes VIMs of rows. The rows of one VIM must be adjacent, in the order of
// their generations' numbers.
func Gather(found []VIM) []broker.VIM {
	vims := make([]broker.VIM, 0, len(found))
	for _, r := range found {
		if n := len(vims); n == 0 || vims[n-1].ID != r.VIM.ID {
			if r.pending.Generation != 0 {
				r.VIM.Pending = &r.pending
			}
			slices.Sort(r.VIM.SharedWith)
			vims = append(vims, r.VIM)
		}
		v := &vims[len(vims)-1]
		v.Damaged = v.Damaged || r.VIM.Damaged
		switch g := r.Generation.Generation; g.Number {
		case 0: // the VIM has none yet
		case r.current:
			v.Current = g
		default:
			v.Past = append(v.Past, g)
		}
	}
	return vims
}

// Sound refuses a VIM that is damaged.
func Sound(v broker.VIM, err error) (broker.VIM, error) {
	if err == nil && v.Damaged {
		return broker.VIM{}, broker.Damaged(v)
	}
	return v, err
}

// MoveVIM refuses a move that the state machine of VIMs does not have.
func MoveVIM(from, to broker.VIMState) error {
	if from != to && !from.CanMove(to) {
		return Conflict(fmt.Sprintf("a VIM that is %s cannot become %s", from, to))
	}
	return nil
}

// Replaces reports whether to is a new generation, and refuses one that differs
// from the current generation under the same number, or has a lower number.
func Replaces(from, to broker.Generation) (bool, error) {
	switch {
	case to.Number > from.Number:
		return true, nil
	case to.Number < from.Number:
		return false, Conflict("the number of a generation only grows")
	}
	same := Micro(from.CredentialExpiresAt) == Micro(to.CredentialExpiresAt)
	from.CredentialExpiresAt = to.CredentialExpiresAt
	if !same || !reflect.DeepEqual(from, to) {
		return false, Conflict("a generation never changes; a new one has a new number")
	}
	return false, nil
}
