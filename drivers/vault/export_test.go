package vault

import (
	"context"
	"time"
)

// Keeper lets tests do Run's passes one by one.
type Keeper struct{ keeper }

// Pass does what is due now, and returns when it is to be called again.
func (k *Keeper) Pass(ctx context.Context, s *Store) time.Duration { return k.pass(ctx, s) }
