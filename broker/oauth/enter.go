package oauth

import (
	"context"
	"errors"
	"strings"

	"github.com/google/uuid"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/policy"
	"github.com/vimbroker/vimbroker/policy/audit"
)

// enter decides, and turns a refusal into an error for the caller: a client that the
// caller may not see does not exist.
func (c *Clients) enter(ctx context.Context, p policy.Principal, action policy.Action, res policy.Resource) (*audit.Act, error) {
	act, err := c.guard.Enter(ctx, p, action, res, policy.Wish{})
	if err != nil {
		return nil, broker.Refusal(err, p, action, gone())
	}
	return act, nil
}

// read is enter for what only reads: one entry records it.
func (c *Clients) read(ctx context.Context, p policy.Principal, res policy.Resource) error {
	act, err := c.enter(ctx, p, policy.ClientShow, res)
	if err != nil {
		return err
	}
	if err := act.Read(ctx); err != nil {
		return broker.Unrecorded(err)
	}
	return nil
}

// refuse records that an allowed act ended before it had its effect, and returns why.
func (c *Clients) refuse(ctx context.Context, act *audit.Act, why error) error {
	return broker.RecordFailed(ctx, c.guard.Sink, c.log, act, why)
}

// find returns the client of that id. A missing client is recorded; enter decides whether p
// may see it.
func (c *Clients) find(ctx context.Context, p policy.Principal, action policy.Action, id string) (Client, error) {
	found, err := Client{}, error(&broker.Error{Kind: broker.ErrNotFound})
	if uuid.Validate(id) == nil {
		found, err = c.store.Client(ctx, strings.ToLower(id))
	}
	if errors.Is(err, broker.ErrNotFound) {
		if err := c.guard.Missing(ctx, p, action, policy.KindClient); err != nil {
			return Client{}, broker.Unrecorded(err)
		}
		return Client{}, gone()
	}
	return found, err
}

func gone() error { return &broker.Error{Kind: broker.ErrNotFound, Detail: "no such client"} }

func project(name string) policy.Resource {
	return policy.Resource{Kind: policy.KindProject, ID: name, Project: name}
}

// about holds the details of a client for entries.
func about(one Client) []string {
	said := []string{audit.DetailClient, one.ID, audit.DetailClientName, one.Name, audit.DetailRoles, strings.Join(one.Roles, ",")}
	if !one.Certificate.None() {
		said = append(said, audit.DetailCertificate, one.Certificate.String())
	}
	return said
}

// idOf is the id of the client that a principal is.
func idOf(name string) (string, bool) { return strings.CutPrefix(name, policy.ByClient+":") }
