package grant

import (
	"cmp"
	"crypto/pbkdf2"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"net/url"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/broker/asset"
	"github.com/vimbroker/vimbroker/broker/clientconfig"
	"github.com/vimbroker/vimbroker/broker/oauth"
	"github.com/vimbroker/vimbroker/policy"
)

// Grant is the grant, or the refusal, of a client's operation. Times are in UTC, in
// microseconds. It holds no credential and nothing of the request's additionalParams.
type Grant struct {
	ID string
	// Client is the id of the client, Project the one that it acts in.
	Client  string
	Project string
	Request GrantRequest
	// Digest tells the whole request from others under the same operation id.
	Digest string
	State  State
	// Refusal is why it was refused.
	Refusal string

	Placement oauth.Placement
	// Maker is the grant whose lease is lent: this one, or an earlier one of the instance.
	Maker string
	// Resumes: the lease of the instance was revoked, and the client may resume it.
	Resumes bool `json:",omitempty"`
	// Holds: the lease of this grant is the instance's, as far as is known.
	Holds bool
	// Lease, VIM and VIMName are known once it is granted, and so are the virtual links, by the placement's names.
	Lease, VIM, VIMName string
	Links, ManagedLinks map[string]asset.Asset `json:",omitempty"`

	CreatedAt time.Time
	DecidedAt time.Time
	// Followed: it is looked at again at LookAt.
	Followed bool
	LookAt   time.Time
	// Outcome is the state in which the operation ended, as the VNFM said; empty if that
	// was not learnt.
	Outcome string
	// Revision counts the writes, from 1.
	Revision int64
}

// State says where a grant stands.
type State string

// Every state of a grant.
const (
	// Deciding: the intent is stored. A lease may have been issued.
	Deciding State = "deciding"
	Granted  State = "granted"
	Refused  State = "refused"
	// Ended: its operation has ended, or its end could not be learnt.
	Ended State = "ended"
)

var moves = map[State][]State{
	Deciding: {Granted, Refused},
	Granted:  {Ended},
	Refused:  {},
	Ended:    {},
}

// CanMove reports whether a grant may go from one state to another. Staying is no move.
func (s State) CanMove(to State) bool { return slices.Contains(moves[s], to) }

// Moved is the grant that an update stores in place of the previous one: fields that an update may not
// change keep their values, except the resources of a grant that lends nothing any more, which nothing
// needs. A move that the table of states does not list is [broker.ErrConflict].
func (g Grant) Moved(next Grant) (Grant, error) {
	if g.State != next.State && !g.State.CanMove(next.State) {
		return g, &broker.Error{Kind: broker.ErrConflict, Detail: "the grant is " + string(g.State)}
	}
	next.ID, next.Client, next.Project, next.Request, next.Digest, next.CreatedAt = g.ID, g.Client, g.Project, g.Request, g.Digest, g.CreatedAt
	if next.State == Refused || next.State == Ended {
		next.Request.Add, next.Request.Temporary, next.Request.Remove, next.Request.Update = nil, nil, nil, nil
	}
	next.Revision = g.Revision + 1
	return next, nil
}

// GrantedOperation is a type of operation, as the standard spells it.
type GrantedOperation string

// The operations that a lease begins and ends with; all others are treated alike.
const (
	Instantiate GrantedOperation = "INSTANTIATE"
	Terminate   GrantedOperation = "TERMINATE"
)

var operations = []GrantedOperation{
	Instantiate, "SCALE", "SCALE_TO_LEVEL", "CHANGE_FLAVOUR", Terminate, "HEAL", "OPERATE", "CHANGE_EXT_CONN", "CHANGE_VNFPKG",
	"CREATE_SNAPSHOT", "REVERT_TO_SNAPSHOT",
}

// GrantRequest is a VNFM's request, as far as the answer depends on it.
type GrantRequest struct {
	// ID is that of the operation occurrence at the VNFM.
	ID       string
	Type     GrantedOperation
	Instance string
	VNFD     string
	// NewVNFD is where CHANGE_VNFPKG leads.
	NewVNFD string `json:",omitempty"`
	// Add, Temporary, Remove and Update are the ids of resource definitions.
	Add, Temporary, Remove, Update []string `json:",omitempty"`
	OperationURL, InstanceURL      string
	// Parameters are the texts among additionalParams. They are for choosing a placement, and
	// are not kept.
	Parameters map[string]string `json:"-"`
	// Apart is the scope of an anti-affinity that the VNFM insists on; empty where there is none. It is not kept.
	Apart string `json:"-"`
	// Rest and Additional are the whole request as it came, in one spelling: all but additionalParams,
	// and these. They tell it from others, and are not kept.
	Rest, Additional []byte `json:"-"`
}

// The bounds of a request.
const (
	maxWord      = 255
	maxURL       = 2048
	maxResources = 2000 // in all
)

func (r GrantRequest) check() error {
	for field, text := range map[string]string{"vnfLcmOpOccId": r.ID, "vnfInstanceId": r.Instance, "vnfdId": r.VNFD} {
		if text == "" || !word(text) {
			return broker.Invalid(field, "must be 1 to %d printable characters", maxWord)
		}
	}
	if !word(r.NewVNFD) {
		return broker.Invalid("dstVnfdId", "must be at most %d printable characters", maxWord)
	}
	if !slices.Contains(operations, r.Type) {
		return broker.Invalid("operation", "is none of SOL003's operations")
	}
	if r.Apart != "" {
		return &broker.Error{
			Kind: broker.ErrDenied, Field: "placementConstraints",
			Detail: "an anti-affinity of scope " + r.Apart + " cannot be honoured: a grant names one zone of one VIM for all resources",
			Remedy: "set fallbackBestEffort, or leave the constraint out",
		}
	}
	return cmp.Or(r.checkResources(), r.checkLinks())
}

func (r GrantRequest) checkResources() error {
	known := map[string]bool{}
	for _, list := range []struct {
		field string
		ids   []string
	}{{"addResources", r.Add}, {"tempResources", r.Temporary}, {"removeResources", r.Remove}, {"updateResources", r.Update}} {
		field, ids := list.field, list.ids
		if len(known)+len(ids) > maxResources {
			return broker.Invalid(field, "is more than %d resources with those before", maxResources)
		}
		if slices.ContainsFunc(ids, func(id string) bool { return id == "" || !word(id) }) {
			return broker.Invalid(field, "has a resource whose id is not 1 to %d printable characters", maxWord)
		}
		for _, id := range ids {
			if known[id] {
				return broker.Invalid(field, "has a resource whose id the request has twice; give each resource an id of its own")
			}
			known[id] = true
		}
	}
	return nil
}

func (r GrantRequest) checkLinks() error {
	for field, link := range map[string]string{"_links.vnfLcmOpOcc": r.OperationURL, "_links.vnfInstance": r.InstanceURL} {
		if u, err := url.Parse(link); len(link) > maxURL || err != nil || u.User != nil || !absolute(u) {
			return broker.Invalid(field, "must be a URL with http or https and a host, of at most %d characters, without a user", maxURL)
		}
	}
	return nil
}

func absolute(u *url.URL) bool { return (u.Scheme == "https" || u.Scheme == "http") && u.Host != "" }

func word(s string) bool {
	return len(s) <= maxWord && !strings.ContainsFunc(s, func(r rune) bool { return !unicode.IsPrint(r) })
}

// digestRounds make a guess at a password among additionalParams dear to those who read the store.
const digestRounds = 100_000

// digest is that of the whole request under the grant of an id, which salts it.
func (r GrantRequest) digest(id string) (string, error) {
	kept, err := json.Marshal(r)
	if err != nil {
		return "", err
	}
	sum := sha256.New()
	_, _ = sum.Write(kept) // never fails
	_, _ = sum.Write(r.Rest)
	if len(r.Additional) > 0 {
		slow, err := pbkdf2.Key(sha256.New, string(r.Additional), []byte(id), digestRounds, sha256.Size)
		if err != nil {
			return "", err
		}
		_, _ = sum.Write(slow)
	}
	return hex.EncodeToString(sum.Sum(nil)), nil
}

// askable reports whether the VNFM can be asked how the operation stands: its URL must be absolute
// and lead to this operation, whose id is one segment of a path, so that no client has the broker ask
// for anything else.
func (r GrantRequest) askable() bool {
	if strings.ContainsAny(r.ID, `/\%`) || strings.Trim(r.ID, ".") == "" {
		return false
	}
	u, err := url.Parse(r.OperationURL)
	return err == nil && absolute(u) && u.RawQuery == "" && u.Fragment == "" &&
		strings.HasSuffix(u.Path, "/vnf_lcm_op_occs/"+r.ID)
}

// stands reports whether what the grant lends stands with the instance.
func (g Grant) stands() bool { return g.Placement.Profile.Stands() }

// lease is the request for the lease that the grant makes: the same each time, so that a repeat is
// answered with the same lease. Once that has ended another takes its place.
func (g Grant) lease() broker.LeaseRequest {
	r := g.Placement.Lease()
	r.Purpose, r.Operation, r.Instance, r.IdempotencyKey = "grant", g.Request.ID, g.Request.Instance, "vnf-grant:"+g.ID
	r.Widest = g.Placement.Grade
	if r.Standing && g.Lease != "" {
		r.VIM, r.InPlaceOf = g.VIM, g.Lease // the VIM itself: by now another may have its name
	}
	if !r.Standing {
		r.Format = clientconfig.VIMConnection
	}
	return r
}

func holder(client string) string { return policy.ByClient + ":" + client }

// Resource is the grant as policies see it.
func (g Grant) Resource() policy.Resource {
	return policy.Resource{
		Kind: policy.KindGrant, ID: g.ID, Project: g.Project, Owner: holder(g.Client), VNFDID: g.Request.VNFD, Name: g.Request.Instance,
	}
}

// Loan is the loan of a grant.
type Loan struct {
	// Client is the id of the client that it was lent to.
	Client string
	Lease  broker.Lease
	// Config has the credential; for a standing lease, its secret. If that goes to an https token
	// endpoint, CACert verifies the VIM and the token endpoint.
	Config clientconfig.Config
}
