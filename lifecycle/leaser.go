package lifecycle

import (
	"context"
	"time"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/broker/clientconfig"
	"github.com/vimbroker/vimbroker/policy"
)

// Leaser gives the engine its credentials; [broker.Broker] documents each method.
type Leaser interface {
	VIM(ctx context.Context, p policy.Principal, idOrName string) (broker.VIM, error)
	IssueLease(ctx context.Context, p policy.Principal, r broker.LeaseRequest) (broker.Lease, clientconfig.Config, error)
	IssueShared(ctx context.Context, p policy.Principal, r broker.LeaseRequest) (broker.Lease, clientconfig.Config, error)
	RenewLease(ctx context.Context, p policy.Principal, id string, ttl time.Duration) (broker.Lease, clientconfig.Config, error)
	WeighLease(ctx context.Context, p policy.Principal, r broker.LeaseRequest) (broker.Lease, error)
	Ended(ctx context.Context, lease string) (bool, broker.Reason, error)
	EndOperation(ctx context.Context, operation string, but ...string) error
}

var _ Leaser = (*broker.Broker)(nil)
