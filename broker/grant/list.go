package grant

import (
	"context"
	"slices"
	"time"

	"github.com/google/uuid"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/policy"
)

// Record is a grant as operators see it: with what became of its lease, and without a credential.
type Record struct {
	Grant
	// LeaseState is empty if nothing was lent, or if the lease is forgotten.
	LeaseState broker.LeaseState
	// TokenAt is when the newest token was minted that the client got; zero: it got none.
	TokenAt time.Time
}

// States returns every state of a grant.
func States() []State { return []State{Deciding, Granted, Refused, Ended} }

// Query selects grants. Empty fields select all.
type Query struct {
	// Client, Instance, Operation and Lease are ids; VIM is an id, or the name that it had.
	Client, Instance, Operation, VIM, Lease string
	State                                   State
	broker.Page
}

// Filter selects grants in the store.
type Filter struct {
	// Project is the client's; empty selects all.
	Project string
	// VIMName is the name that the VIM had; VIM of the query is its id.
	VIMName string
	Query
}

// Records returns a page of the grants that p may see, newest first, and the next page's token. A page
// may hold fewer than was asked for, and even none, while there is a next one.
func (g *Grants) Records(ctx context.Context, p policy.Principal, q Query) ([]Record, string, error) {
	page, err := q.Page.Valid()
	if err != nil {
		return nil, "", err
	}
	if q.State != "" && !slices.Contains(States(), q.State) {
		return nil, "", broker.Invalid("state", "must be deciding, granted, refused or ended")
	}
	q.Page = page
	if err := g.desk.Read(ctx, p, policy.GrantShow, broker.InProject(p.Project)); err != nil {
		return nil, "", err
	}
	f := Filter{Project: p.Project, Query: q}
	if uuid.Validate(q.VIM) != nil {
		f.VIM, f.VIMName = "", q.VIM
	}
	if g.Guard.Allows(p, policy.GrantShow, broker.InProject("*")) {
		f.Project = ""
	}
	found, next, err := g.Store.VNFGrantRecords(ctx, f)
	if err != nil {
		return nil, "", err
	}
	return slices.DeleteFunc(found, func(one Record) bool { return !g.Guard.Allows(p, policy.GrantShow, one.Resource()) }), next, nil
}

// Record returns one by its id. It decides on nothing, and hands out nothing: that is for the client, by
// [Grants.Grant].
func (g *Grants) Record(ctx context.Context, p policy.Principal, id string) (Record, error) {
	found, err := broker.Find(ctx, g.desk, p, policy.GrantShow, policy.KindGrant, id, g.Store.VNFGrantRecord)
	if err == nil {
		err = g.desk.Read(ctx, p, policy.GrantShow, found.Resource())
	}
	if err != nil {
		return Record{}, err
	}
	return found, nil
}
