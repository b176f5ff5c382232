package rows

import (
	"time"

	"github.com/vimbroker/vimbroker/broker"
)

// Grant is a row of the table grants.
type Grant struct {
	broker.GrantEpoch
	State     string
	IdleSince time.Time
}

// GrantOpen is the state of an epoch that leases are put on.
const GrantOpen = "open"

// GrantColumns are the columns of the table grants.
var GrantColumns = Columns[Grant]{
	{Name: "vim", field: func(g *Grant) any { return &g.VIM }},
	{Name: "digest", field: func(g *Grant) any { return &g.Digest }},
	{Name: "epoch", field: func(g *Grant) any { return &g.Epoch }},
	{Name: "state", field: func(g *Grant) any { return &g.State }},
	{Name: "idle_since", field: func(g *Grant) any { return &g.IdleSince }},
	{Name: "role", field: func(g *Grant) any { return &g.Role }},
	{Name: "rules", field: func(g *Grant) any { return &g.Rules }},
	{Name: "namespaces", field: func(g *Grant) any { return &g.Namespaces }},
	{Name: "cluster_wide", field: func(g *Grant) any { return &g.ClusterWide }},
}

// NewGrant is the row of an epoch that a lease opens.
func NewGrant(l broker.Lease, epoch int64) Grant {
	return Grant{
		GrantEpoch: broker.GrantEpoch{
			VIM: l.VIM, Digest: l.GrantDigest, Epoch: epoch,
			Role: l.Role, Rules: l.Rules, Namespaces: l.Namespaces, ClusterWide: l.ClusterWide,
		},
		State: GrantOpen,
	}
}
