package rows

import (
	"reflect"
	"slices"

	"github.com/vimbroker/vimbroker/broker"
)

// VIM is a row of the table vims and, when it is read, one of the VIM's generations.
type VIM struct {
	broker.VIM
	Generation Generation
	Number     int64 // of the current generation
	Rekeying   broker.Pending
}

// Generation is a row of the table vim_generations.
type Generation struct {
	VIM string // id
	broker.Generation
}

// VIMColumns are the columns of the table vims.
var VIMColumns = ColumnsOf[VIM](`
	id! project! name type state shared is_default=Default created_by! created_at! updated_at revision
	generation=Number pending=Rekeying.Generation pending_since=Rekeying.Since health=Health.Status
	health_checked=Health.CheckedAt health_message=Health.Message health_version=Health.Version
	can_mint=Health.CanMint mint_message=Health.MintMessage external_ips=Health.ExternalIPs health_next=Health.Next
	idempotency_key request_digest description extra suspended`)

// VIMOrder is the order of a list of VIMs.
var VIMOrder = OrderOf[broker.VIM]("VIMs", "project name", false)

// HealthColumns are the columns that a check of a VIM writes.
var HealthColumns = VIMColumns.Pick("health", "health_checked", "health_message", "health_version",
	"can_mint", "mint_message", "external_ips", "health_next")

// RekeyColumns are the columns of a VIM that resealing writes.
var RekeyColumns = VIMColumns.Pick("pending", "pending_since", "updated_at", "revision")

// GenerationColumns are the columns of the table vim_generations.
var GenerationColumns = ColumnsOf[Generation](`
	vim number endpoint=Target.Endpoint ca_cert=Target.CACert insecure_skip_verify=Target.InsecureSkipVerify
	server_name=Target.ServerName namespace=Target.Namespace scope=Target.Scope
	shared_kinds=Target.Vouched.SharedKinds pods_held_by=Target.Vouched.PodsHeldBy discovered identity credential_kind
	username credential_expires_at sealed key_ref=Key key_store sealed_as`)

// OfVIM returns the row that stores v.
func OfVIM(v broker.VIM) *VIM {
	r := VIM{VIM: v, Number: v.Current.Number}
	if v.Pending != nil {
		r.Rekeying = *v.Pending
	}
	return &r
}

// Gather makes VIMs of rows. The rows of one VIM must be adjacent, in the order of
// their generations' numbers.
func Gather(found []VIM) []broker.VIM {
	vims := make([]broker.VIM, 0, len(found))
	for _, r := range found {
		if n := len(vims); n == 0 || vims[n-1].ID != r.VIM.ID {
			if r.Rekeying.Generation != 0 {
				r.VIM.Pending = &r.Rekeying
			}
			slices.Sort(r.VIM.SharedWith)
			vims = append(vims, r.VIM)
		}
		v := &vims[len(vims)-1]
		v.Damaged = v.Damaged || r.VIM.Damaged
		switch g := r.Generation.Generation; g.Number {
		case 0: // the VIM has none yet
		case r.Number:
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
