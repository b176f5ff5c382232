package oauth

import (
	"context"
	"strings"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/policy"
	"github.com/vimbroker/vimbroker/policy/audit"
)

// find returns the client of that id. A missing client is recorded; enter decides whether p
// may see it.
func (c *Clients) find(ctx context.Context, p policy.Principal, action policy.Action, id string) (Client, error) {
	return broker.Find(ctx, c.desk, p, action, policy.KindClient, strings.ToLower(id), c.Store.Client)
}

func gone() error { return &broker.Error{Kind: broker.ErrNotFound, Detail: "no such client"} }

func about(one Client) []string {
	said := []string{audit.DetailClient, one.ID, audit.DetailClientName, one.Name, audit.DetailRoles, strings.Join(one.Roles, ",")}
	if !one.Certificate.None() {
		said = append(said, audit.DetailCertificate, one.Certificate.String())
	}
	return said
}

func idOf(name string) (string, bool) { return strings.CutPrefix(name, policy.ByClient+":") }
