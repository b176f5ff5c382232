// Package outlet sends lines to a place outside the broker's control: a file, a syslog
// receiver, a webhook. A copy of the audit log there cannot be changed through the
// broker's database.
//
// A line is one JSON value without a line break. All outlets have two methods:
//
//   - Send hands lines over in their order, and returns nil once they have arrived, as far
//     as the kind of outlet can tell. It makes one attempt, of at most 30 seconds. After an
//     error some of the lines may have arrived: the caller sends them again.
//   - Close lets go of what is open. The next Send opens it again.
//
// Both are safe for concurrent use. Errors are for a log: they say what is wrong and what
// to do, and hold neither a line nor a credential nor anything that the other side wrote.
package outlet

import (
	"context"
	"fmt"
	"time"
)

// sendTimeout bounds one attempt, whatever the other side does.
const sendTimeout = 30 * time.Second

// turn lets one attempt after the other at what can hang for ever, as a disk can.
type turn chan struct{}

func newTurn() turn { return make(turn, 1) }

// take runs attempt, and returns when it does or ctx ends. An attempt that hangs
// continues in the background, and keeps the turn.
func (t turn) take(ctx context.Context, what string, attempt func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, sendTimeout)
	defer cancel()
	if ctx.Err() != nil {
		return fmt.Errorf("no time is left to write to %s: %w", what, ctx.Err())
	}
	select {
	case t <- struct{}{}:
	case <-ctx.Done():
		return fmt.Errorf("an earlier attempt to write to %s hangs: %w", what, ctx.Err())
	}
	done := make(chan error, 1)
	go func() {
		defer func() { <-t }()
		done <- attempt(ctx)
	}()
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
	}
	select {
	case err := <-done:
		return err
	case <-time.After(time.Second): // the attempt may notice by itself, and say more
		return fmt.Errorf("writing to %s takes too long: %w", what, ctx.Err())
	}
}
