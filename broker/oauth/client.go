// Package oauth keeps the programs that log in by OAuth 2.0's client credentials
// (RFC 6749 section 4.4), such as the VNFMs of others.
package oauth

import (
	"crypto/subtle"
	"slices"
	"strings"
	"time"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/broker/secret"
	"github.com/vimbroker/vimbroker/policy"
)

// Client is a program that logs in by OAuth 2.0. Times are in UTC, in microseconds.
type Client struct {
	// ID is a UUID that the broker assigns: OAuth's client_id. No two clients ever have the same.
	ID string
	// Name is unique in the project, and spelled like a principal's.
	Name    string
	Project string
	// Roles are the client's roles for policies, in addition to its name as a principal.
	Roles []string
	State State
	// SHA256 is the digest of its secret, in lower-case hex. A plain digest is enough, because
	// the broker makes the secret, of 256 random bits: there is nothing to guess. Empty where the
	// client logs in by its Certificate.
	SHA256 string
	// Certificate is the one that it logs in with, if it has no secret.
	Certificate Certificate
	// PreviousSHA256 is that of the previous secret, which is accepted until PreviousUntil while the
	// client changes over; empty if there is none.
	PreviousSHA256 string
	PreviousUntil  time.Time
	// RotatedAt is when its secret was made, or its certificate named.
	RotatedAt time.Time
	// Placements say where its VNFs go, the first that matches.
	Placements []Placement
	// Ending: the leases that were issued to it are being revoked. The pass finishes the
	// work of a process that died.
	Ending bool

	CreatedBy string
	CreatedAt time.Time
	// UpdatedAt is when it was changed, or changed over to its newest secret.
	UpdatedAt time.Time
	// Revision counts the writes, from 1.
	Revision int64
}

type State string

// Every state of a client.
const (
	// Active: it can log in.
	Active State = "active"
	// Deleting: it cannot, and its leases are being revoked. Then its row goes.
	Deleting State = "deleting"
)

var moves = map[State][]State{
	Active:   {Deleting},
	Deleting: {},
}

// CanMove reports whether a client may go from one state to another. Staying is no move.
func (s State) CanMove(to State) bool { return slices.Contains(moves[s], to) }

// Moved is the client that an update stores in place of the previous one: fields that an
// update may not change keep their values. A move that the table of states does not list is
// [broker.ErrConflict].
func (c Client) Moved(next Client) (Client, error) {
	if c.State != next.State && !c.State.CanMove(next.State) {
		return c, &broker.Error{Kind: broker.ErrConflict, Detail: "the client is being deleted"}
	}
	next.ID, next.Name, next.Project, next.CreatedBy, next.CreatedAt = c.ID, c.Name, c.Project, c.CreatedBy, c.CreatedAt
	next.Revision = c.Revision + 1
	return next, nil
}

// Principal is the client as it acts.
func (c Client) Principal() policy.Principal {
	return policy.Principal{Name: principalName(c.ID), Project: c.Project, Roles: slices.Clone(c.Roles)}
}

func principalName(id string) string { return policy.ByClient + ":" + id }

// Resource is the client as policies see it.
func (c Client) Resource() policy.Resource {
	return policy.Resource{Kind: policy.KindClient, ID: c.ID, Project: c.Project, Name: c.Name, Roles: c.Roles}
}

// secretPrefix lets people and secret scanners recognise a client's secret.
const secretPrefix = "vbc_"

// newSecret makes a secret, and its digest. It needs no escaping in a form or in a Basic header
// (RFC 6749 section 2.3.1), where many clients forget that.
func newSecret() (secret.Text, string) {
	plain, sum := policy.NewSecret(secretPrefix)
	return secret.NewText(plain), sum
}

func (c Client) overlaps(now time.Time) bool {
	return c.PreviousSHA256 != "" && now.Before(c.PreviousUntil)
}

// used reports whether the client has logged in with what it was given last, as far as that was
// noted: it is while the secret before is taken. Any other change since counts as that.
func (c Client) used() bool { return c.UpdatedAt.After(c.RotatedAt) }

// knows reports whether a text is the client's secret at that time. Only digests are
// compared, so how long it takes says nothing about any secret.
func (c Client) knows(plain string, now time.Time) bool {
	if !strings.HasPrefix(plain, secretPrefix) {
		return false
	}
	shown := []byte(policy.Digest(plain))
	is := subtle.ConstantTimeCompare(shown, []byte(c.SHA256)) == 1
	was := subtle.ConstantTimeCompare(shown, []byte(c.PreviousSHA256)) == 1
	return is || was && now.Before(c.PreviousUntil)
}
