package oauth

import (
	"context"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/policy"
	"github.com/vimbroker/vimbroker/policy/audit"
)

// Placement says which VIM a client has its VNFs on, and with what rights: a grant request of
// SOL003 names none. The first of a client's placements that matches counts. A placement gives no
// right: each lease is decided on for the client as for any caller.
type Placement struct {
	// VNFD is a pattern of VNFD ids, as [path.Match] reads it; empty matches every id.
	VNFD string `json:"vnfd,omitempty"`
	// Instance is the id of a VNF instance; empty matches every one.
	Instance string `json:"instance,omitempty"`
	// Parameters are patterns of members of the request's additionalParams, by their names. One
	// that the request has not matches nothing.
	Parameters map[string]string `json:"parameters,omitempty"`

	// VIM is an id or a name; empty is the project's default VIM.
	VIM         string        `json:"vim,omitempty"`
	Role        string        `json:"role,omitempty"`
	Rules       []broker.Rule `json:"rules,omitempty"`
	Namespaces  []string      `json:"namespaces,omitempty"`
	ClusterWide bool          `json:"clusterWide,omitempty"`
	// TTL is that of each credential; zero is the broker's default.
	TTL time.Duration `json:"ttl,omitempty"`
	// Grade is the widest that a lease may have; empty leaves that to policy.
	Grade   broker.Grade `json:"grade,omitempty"`
	Profile Lending      `json:"profile,omitempty"`

	// Zone is the resources' zone in a grant; empty is "default".
	Zone string `json:"zone,omitempty"`
	// Flavours and Images are the VIM's names for the VNFD's descriptions: by the id of the
	// VNFD's virtual compute descriptor, and of its software image.
	Flavours map[string]string `json:"flavours,omitempty"`
	Images   map[string]string `json:"images,omitempty"`
	// Links are the virtual links (ids or names) of the VNFD's external connection points, ManagedLinks those that stand for
	// its own, by the VNFD's names.
	Links        map[string]string `json:"links,omitempty"`
	ManagedLinks map[string]string `json:"managedLinks,omitempty"`
}

// Lending is the kind of loan of a grant.
type Lending string

// The profiles. An empty one is OIDC.
const (
	// OIDC is a standing lease: where to fetch short tokens, and the secret to do so with.
	OIDC Lending = "oidc"
	// Token is one short-lived token for each operation.
	Token Lending = "token"
	// User is a user of the lease's own on the VIM, for as long as the instance stands.
	User Lending = "user"
	// PassThrough is the VIM's stored credential itself.
	PassThrough Lending = "passThrough"
)

var profiles = []Lending{"", OIDC, Token, User, PassThrough}

// Fetches reports whether the VNFM is to fetch tokens under what is lent.
func (p Lending) Fetches() bool { return p == "" || p == OIDC }

// Stands reports whether one lease is lent for the life of the instance.
func (p Lending) Stands() bool { return p != Token }

// The bounds of a client's placements.
const (
	maxPlacements = 32
	maxMembers    = 64
	maxWord       = 255
)

// Ask holds the values by which a placement is looked up.
type Ask struct {
	VNFD, Instance string
	// Parameters are the texts among the request's additionalParams.
	Parameters map[string]string
}

// credentials are the special kinds of credentials of profiles' leases.
var credentials = map[Lending]broker.LeaseCredential{User: broker.LeaseUser, PassThrough: broker.LeasePassThrough}

// Place returns the first placement that matches.
func (c Client) Place(a Ask) (Placement, bool) {
	for _, p := range c.Placements {
		if p.matches(a) {
			return p, true
		}
	}
	return Placement{}, false
}

func (p Placement) matches(a Ask) bool {
	if p.VNFD != "" && !fits(p.VNFD, a.VNFD) || p.Instance != "" && p.Instance != a.Instance {
		return false
	}
	for name, pattern := range p.Parameters {
		if given, there := a.Parameters[name]; !there || !fits(pattern, given) {
			return false
		}
	}
	return true
}

func fits(pattern, text string) bool {
	matched, _ := path.Match(pattern, text)
	return matched
}

// Lease is the request for what the placement lends.
func (p Placement) Lease() broker.LeaseRequest {
	return broker.LeaseRequest{
		VIM: p.VIM, Role: p.Role, Rules: p.Rules, Namespaces: p.Namespaces, ClusterWide: p.ClusterWide, TTL: p.TTL,
		Standing: p.Profile.Fetches(), Credential: credentials[p.Profile],
	}
}

// exceeds reports whether a lease is of a wider grade than the placement lets it be.
func (p Placement) exceeds(g broker.Grade) bool {
	if p.Grade == "" {
		return false
	}
	wide := slices.Index(policy.Grades, string(g))
	return wide < 0 || wide > slices.Index(policy.Grades, string(p.Grade))
}

// check refuses what can never count. Whether the client would be issued the lease is not asked.
func (p Placement) check() error {
	words := map[string]string{"vnfd": p.VNFD, "instance": p.Instance, "vim": p.VIM, "role": p.Role, "zone": p.Zone}
	for at, texts := range map[string]map[string]string{
		"parameters": p.Parameters, "flavours": p.Flavours, "images": p.Images, "links": p.Links, "managedLinks": p.ManagedLinks,
	} {
		if len(texts) > maxMembers {
			return broker.Invalid(at, "has more than %d members", maxMembers)
		}
		for name, value := range texts {
			if name == "" || !word(name) || !word(value) {
				return broker.Invalid(at, "has a member that is empty, longer than %d characters or not printable", maxWord)
			}
		}
	}
	for field, text := range words {
		if !word(text) {
			return broker.Invalid(field, "must be at most %d printable characters", maxWord)
		}
	}
	for _, pattern := range append([]string{p.VNFD}, values(p.Parameters)...) {
		if _, err := path.Match(pattern, ""); err != nil {
			return broker.Invalid("vnfd", "or a parameter is a pattern that has no end: * and ? stand for characters, [...] for one of several")
		}
	}
	switch {
	case p.Grade != "" && !slices.Contains(policy.Grades, string(p.Grade)):
		return broker.Invalid("grade", "must be one of %s", strings.Join(policy.Grades, ", "))
	case !slices.Contains(profiles, p.Profile):
		return broker.Invalid("profile", "must be one of %s, %s, %s, %s", OIDC, Token, User, PassThrough)
	case p.TTL < 0:
		return broker.Invalid("ttl", "must not be negative")
	}
	return nil
}

func values(of map[string]string) (all []string) {
	for _, v := range of {
		all = append(all, v)
	}
	return all
}

func word(s string) bool {
	return len(s) <= maxWord && !strings.ContainsFunc(s, func(r rune) bool { return !unicode.IsPrint(r) })
}

// placeable refuses placements under which a client could never have a lease, because of any fault,
// or because policy denies it. A check that needs a VIM which does not answer is left for the grant.
func (c *Clients) placeable(ctx context.Context, one Client) error {
	if len(one.Placements) > maxPlacements {
		return broker.Invalid("placements", "must be at most %d", maxPlacements)
	}
	for n, p := range one.Placements {
		err := p.check()
		if err == nil {
			err = c.weigh(ctx, one, p)
		}
		if err == nil {
			continue
		}
		at := fmt.Sprintf("placements[%d]", n)
		known, ok := errors.AsType[*broker.Error](err)
		if !ok {
			return err
		}
		said := *known
		switch {
		case errors.Is(err, broker.ErrNotFound):
			said.Field = "vim"
		case said.Field == "standing", said.Field == "credential": // of the lease, which the profile decides
			said.Field = "profile"
		}
		if said.Field = strings.TrimSuffix(at+"."+said.Field, "."); !errors.Is(err, broker.ErrUnavailable) {
			said.Kind = broker.ErrInvalid
		}
		return &said
	}
	return nil
}

// weigh asks what the lease of a placement would be.
func (c *Clients) weigh(ctx context.Context, one Client, p Placement) error {
	l, err := c.Leases.WeighLease(ctx, one.Principal(), p.Lease())
	for _, later := range []error{broker.ErrUnreachable, broker.ErrUnauthorized, broker.ErrForbidden, broker.ErrConflict, broker.ErrQuota} {
		if errors.Is(err, later) {
			return nil
		}
	}
	if err == nil && p.exceeds(l.Grade) {
		return broker.Invalid("grade", "is %s, and the lease would be %s", p.Grade, l.Grade)
	}
	return err
}

// SetPlacements replaces the placements of a client. Its leases stay unchanged.
func (c *Clients) SetPlacements(ctx context.Context, p policy.Principal, id string, all []Placement) (Client, error) {
	found, err := c.find(ctx, p, policy.ClientUpdate, id)
	if err != nil {
		return Client{}, err
	}
	act, err := c.desk.Enter(ctx, p, policy.ClientUpdate, found.Resource())
	if err != nil {
		return Client{}, err
	}
	found.Placements = all
	if err := c.placeable(ctx, found); err != nil {
		return Client{}, c.desk.Refuse(ctx, act, err)
	}
	stored, err := c.Store.UpdateClient(ctx, found.ID, func(now *Client) error {
		if now.State != Active {
			return gone()
		}
		now.Placements, now.UpdatedAt = all, c.Now()
		return nil
	}, act.Done(append(about(found), audit.DetailNew+"placements", placed(all))...))
	if err != nil {
		return Client{}, c.desk.Refuse(ctx, act, err)
	}
	return stored, nil
}

func placed(all []Placement) string {
	if len(all) == 0 {
		return "none"
	}
	var vims []string
	for _, p := range all {
		if vims = append(vims, p.VIM); p.VIM == "" {
			vims[len(vims)-1] = "(default)"
		}
	}
	slices.Sort(vims)
	return strings.Join(slices.Compact(vims), ",")
}

// Acting returns the client that a principal is; [broker.ErrDenied] for a principal that is none.
func (c *Clients) Acting(ctx context.Context, p policy.Principal) (Client, error) {
	id, ok := idOf(p.Name)
	if !ok {
		return Client{}, &broker.Error{
			Kind: broker.ErrDenied, Detail: "only a registered client can ask for a grant", Remedy: "log in as a client, by OAuth 2.0",
		}
	}
	found, err := c.active(ctx, id)
	if err == nil && found.Project != p.Project {
		err = policy.ErrUnauthenticated
	}
	return found, err
}
