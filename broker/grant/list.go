package grant

import (
	"context"
	"errors"
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

// anyProject stands for every project where a list asks whether it may cross them.
const anyProject = "*"

func project(name string) policy.Resource {
	return policy.Resource{Kind: policy.KindProject, ID: name, Project: name}
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
	if err := g.read(ctx, p, project(p.Project)); err != nil {
		return nil, "", err
	}
	f := Filter{Project: p.Project, Query: q}
	if uuid.Validate(q.VIM) != nil {
		f.VIM, f.VIMName = "", q.VIM
	}
	if g.guard.Allows(p, policy.GrantShow, project(anyProject)) {
		f.Project = ""
	}
	found, next, err := g.store.VNFGrantRecords(ctx, f)
	if err != nil {
		return nil, "", err
	}
	return slices.DeleteFunc(found, func(one Record) bool { return !g.guard.Allows(p, policy.GrantShow, one.Resource()) }), next, nil
}

// Record returns one by its id. It decides on nothing, and hands out nothing: that is for the client, by
// [Grants.Grant].
func (g *Grants) Record(ctx context.Context, p policy.Principal, id string) (Record, error) {
	found, err := Record{}, error(&broker.Error{Kind: broker.ErrNotFound})
	if uuid.Validate(id) == nil {
		found, err = g.store.VNFGrantRecord(ctx, id)
	}
	if errors.Is(err, broker.ErrNotFound) {
		if err := g.guard.Missing(ctx, p, policy.GrantShow, policy.KindGrant); err != nil {
			return Record{}, broker.Unrecorded(err)
		}
		return Record{}, gone()
	}
	if err != nil {
		return Record{}, err
	}
	if err := g.read(ctx, p, found.Resource()); err != nil {
		return Record{}, err
	}
	return found, nil
}

// read decides, and records that p has read.
func (g *Grants) read(ctx context.Context, p policy.Principal, res policy.Resource) error {
	act, err := g.enter(ctx, p, policy.GrantShow, res)
	if err != nil {
		return err
	}
	if err := act.Read(ctx); err != nil {
		return broker.Unrecorded(err)
	}
	return nil
}
