package broker

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/google/uuid"

	"github.com/vimbroker/vimbroker/policy"
	"github.com/vimbroker/vimbroker/policy/audit"
)

// Desk is where a part of the server decides and records. It says of a refusal what the caller may know.
type Desk struct {
	// Guard is the server's, whose sink is the store.
	Guard *audit.Guard
	Log   *slog.Logger
	// Missing is the [ErrNotFound] of what is not there, or not for the caller.
	Missing func() error
}

// Enter decides.
func (d Desk) Enter(ctx context.Context, p policy.Principal, action policy.Action, res policy.Resource) (*audit.Act, error) {
	act, err := d.Guard.Enter(ctx, p, action, res, policy.Wish{})
	if err != nil {
		return nil, Refusal(err, p, action, d.Missing())
	}
	return act, nil
}

// Read is Enter for what only reads: one entry records it.
func (d Desk) Read(ctx context.Context, p policy.Principal, action policy.Action, res policy.Resource) error {
	act, err := d.Enter(ctx, p, action, res)
	if err != nil {
		return err
	}
	return Unrecorded(act.Read(ctx))
}

// Refuse records that an allowed act ended before it had its effect, and returns why.
func (d Desk) Refuse(ctx context.Context, act *audit.Act, why error) error {
	return RecordFailed(ctx, d.Guard.Sink, d.Log, act, why)
}

// Find returns what get has under an id, which is a UUID, for an action. That there is none is recorded; whether p may see it
// is for Enter to say.
func Find[T any](
	ctx context.Context, d Desk, p policy.Principal, action policy.Action, kind policy.Kind, id string,
	get func(context.Context, string) (T, error),
) (found T, err error) {
	err = ErrNotFound
	if uuid.Validate(id) == nil {
		found, err = get(ctx, id)
	}
	if !errors.Is(err, ErrNotFound) {
		return found, err
	}
	if err := d.Guard.Missing(ctx, p, action, kind); err != nil {
		return found, Unrecorded(err)
	}
	return found, d.Missing()
}

// InProject is a project as policies see it; "*" is all of them.
func InProject(name string) policy.Resource {
	return policy.Resource{Kind: policy.KindProject, ID: name, Project: name}
}

// System is a part of the server as it acts by itself in a project. What it may do is in policy/system.cedar.
func System(part, project string) policy.Principal {
	return policy.Principal{Name: "system:" + part, Project: project, Roles: []string{policy.RoleSystem}}
}

// Clock is a clock in UTC and microseconds, as stores keep times; nil is [time.Now].
func Clock(now func() time.Time) func() time.Time {
	if now == nil {
		now = time.Now
	}
	return func() time.Time { return now().UTC().Truncate(time.Microsecond) }
}
