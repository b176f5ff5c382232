package broker

import (
	"context"

	"github.com/vimbroker/vimbroker/policy/audit"
)

// Alarm is a kind of event about a lease that a person has to look at.
type Alarm string

// The alarms there are.
const (
	// AlarmGivenUp: the lease could not be revoked, and the broker tries no more.
	AlarmGivenUp Alarm = "givenUp"
	// AlarmStillWorks: the credential works after it was revoked and its lag is over.
	AlarmStillWorks Alarm = "stillWorks"
	// AlarmConflict: somebody changed or replaced what the lease has on the VIM.
	AlarmConflict Alarm = "conflict"
	// AlarmBeyondGrant: a fresh lease could do more than it was granted, and was not
	// handed out.
	AlarmBeyondGrant Alarm = "beyondGrant"
	// AlarmLeftBehind: the lease was revoked, and its holder may have left credentials on
	// the VIM.
	AlarmLeftBehind Alarm = "leftBehind"
)

// raise logs and counts an alarm. The caller writes the audit entry.
func (b *Leaser) raise(ctx context.Context, a Alarm, l Lease, why string) {
	b.log.ErrorContext(ctx, "a lease needs a person", "alarm", string(a), "lease", l.ID, "vim", l.VIM, "vimName", l.VIMName, "why", why)
	b.counters.mu.Lock()
	defer b.counters.mu.Unlock()
	b.counters.alarms[a]++
}

// alarm is raise with an audit entry of its own.
func (b *Leaser) alarm(ctx context.Context, a Alarm, l Lease, why string, act *audit.Act) {
	b.raise(ctx, a, l, why)
	if err := b.entries.Append(ctx, act.Failed(string(a))); err != nil {
		b.log.ErrorContext(ctx, "recording an alarm", "lease", l.ID, "error", err)
	}
}
