package broker

import (
	"context"
	"fmt"

	"github.com/vimbroker/vimbroker/policy"
	"github.com/vimbroker/vimbroker/policy/audit"
)

// RecordLogin records that a caller was authenticated; see [audit.Logins].
func (b *Broker) RecordLogin(ctx context.Context, p policy.Principal) { b.logins.In(ctx, p) }

// RecordRefusedLogin records that nobody has the token that was shown; see [audit.Logins].
func (b *Broker) RecordRefusedLogin(ctx context.Context) { b.logins.Refused(ctx) }

// RecordServer records what happened to the broker itself: its start, or a reload. Keys
// and values alternate in detail.
func (b *Broker) RecordServer(ctx context.Context, action policy.Action, outcome audit.Outcome, detail ...string) error {
	e := audit.Entry{
		Time: b.now(), Principal: "system:server", Action: action, Kind: audit.KindServer, Outcome: outcome,
		Detail: map[string]string{},
	}
	for i := 1; i < len(detail); i += 2 {
		e.Detail[detail[i-1]] = audit.Cut(detail[i])
	}
	if err := b.store.Append(ctx, e); err != nil {
		return fmt.Errorf("recording %s: %w", action, err)
	}
	return nil
}
