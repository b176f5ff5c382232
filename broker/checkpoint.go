package broker

import (
	"context"
	"errors"
	"time"

	"github.com/vimbroker/vimbroker/broker/keyring"
	"github.com/vimbroker/vimbroker/broker/notary"
	"github.com/vimbroker/vimbroker/policy"
	"github.com/vimbroker/vimbroker/policy/audit"
)

// Close lets go of what the anchors of the audit log have open.
func (b *Oversight) Close() error { return b.notary.Close() }

// SignAudit is the pass that signs the audit log as it is, if it has grown, and hands the checkpoint
// to the anchors. Where the key store cannot be used it fails, and nothing else waits for it. A log
// that does not continue the one that was signed before is an alarm, as an error in the log, and is
// not signed.
func (b *Oversight) SignAudit(ctx context.Context) error {
	err := b.notary.Sign(ctx, b.enterNotary)
	if errors.Is(err, notary.ErrRewritten) {
		b.log.ErrorContext(ctx, "the audit log was changed behind the broker's back: it is not signed any more", "error", err)
	}
	return errors.Join(err, b.notary.Anchor(ctx))
}

// enterNotary decides whether the notary may change keys on its own.
func (b *Oversight) enterNotary(ctx context.Context) (*audit.Act, error) {
	return b.enter(ctx, system("notary"), policy.AuditKey, InProject(anyProject), policy.Wish{})
}

// AuditUnsigned is how long the oldest audit entry has waited that no signed checkpoint covers.
func (b *Oversight) AuditUnsigned(ctx context.Context) (time.Duration, error) {
	last, err := b.signatures.LastCheckpoint(ctx)
	if err != nil && !errors.Is(err, notary.ErrNone) {
		return 0, err
	}
	return b.ageAfter(ctx, last.Size)
}

// auditUnanchored is how long the oldest audit entry has waited that no checkpoint covers which every
// anchor has; zero where there are no anchors.
func (b *Oversight) auditUnanchored(ctx context.Context) (time.Duration, error) {
	if !b.notary.Anchors() {
		return 0, nil
	}
	size, _, err := b.notary.Anchored(ctx)
	if err != nil {
		return 0, err
	}
	return b.ageAfter(ctx, size)
}

// AuditAnchors says how far each anchor of the audit log has come, to who may read all of it.
func (b *Oversight) AuditAnchors(ctx context.Context, p policy.Principal) ([]notary.AnchorStatus, error) {
	if err := b.read(ctx, p, policy.AuditRead, InProject(anyProject)); err != nil {
		return nil, err
	}
	return b.notary.AnchorStatuses(ctx)
}

// ageAfter is the age of the entry that follows so many.
func (b *Oversight) ageAfter(ctx context.Context, size int64) (time.Duration, error) {
	next, err := b.entries.EntriesAfter(ctx, size, 1)
	if err != nil || len(next) == 0 {
		return 0, err
	}
	return max(0, b.now().Sub(next[0].Time)), nil
}

// Checkpoint returns the last signed checkpoint of the audit log to who may read entries of the
// own project. It says how long the log is, and nothing of what is in it. [ErrNotFound] before
// the first.
func (b *Oversight) Checkpoint(ctx context.Context, p policy.Principal) (notary.Checkpoint, error) {
	if err := b.read(ctx, p, policy.AuditRead, InProject(p.Project)); err != nil {
		return notary.Checkpoint{}, err
	}
	c, err := b.signatures.LastCheckpoint(ctx)
	if errors.Is(err, notary.ErrNone) {
		return c, &Error{
			Kind: ErrNotFound, Detail: "no checkpoint of the audit log is signed yet",
			Remedy: "try again in a minute; if there is none then, the server's log says why",
		}
	}
	return c, err
}

// AuditKeys returns the keys that sign checkpoints, or did, oldest first: their public halves.
func (b *Oversight) AuditKeys(ctx context.Context, p policy.Principal) ([]notary.SigningKey, error) {
	if err := b.read(ctx, p, policy.AuditRead, InProject(p.Project)); err != nil {
		return nil, err
	}
	all, err := b.signatures.SigningKeys(ctx)
	var keys []notary.SigningKey
	for _, k := range all {
		if k.State != notary.Making && k.State != notary.Abandoned {
			k.Text = ""
			keys = append(keys, k)
		}
	}
	return keys, err
}

// RotateAuditKey replaces the key that signs checkpoints by a new one in the first key store.
// The old one endorses it, and both sign a checkpoint.
func (b *Oversight) RotateAuditKey(ctx context.Context, p policy.Principal) (notary.SigningKey, error) {
	return b.rotateAuditKey(ctx, p, b.keys)
}

// rotateAuditKey is [Oversight.RotateAuditKey] with the key stores that the new key is sealed in.
func (b *Oversight) rotateAuditKey(ctx context.Context, p policy.Principal, to keyring.Ring) (notary.SigningKey, error) {
	act, err := b.enter(ctx, p, policy.AuditKey, InProject(anyProject), policy.Wish{})
	if err != nil {
		return notary.SigningKey{}, err
	}
	k, err := b.notary.Rotate(ctx, act, to)
	if err != nil {
		return notary.SigningKey{}, notaryError(err)
	}
	b.RetireKeys(ctx)
	return k, nil
}

// RevokeAuditKey ends a key that somebody else may have, or that is lost: its checkpoints of more
// than so many entries do not count. If it signs, a new one takes over, which it does not endorse.
// It returns the key that signs now.
func (b *Oversight) RevokeAuditKey(ctx context.Context, p policy.Principal, id string, until int64) (notary.SigningKey, error) {
	act, err := b.enter(ctx, p, policy.AuditKey, InProject(anyProject), policy.Wish{})
	if err != nil {
		return notary.SigningKey{}, err
	}
	if until < 0 {
		return notary.SigningKey{}, b.refuse(ctx, act, Invalid("until", "must be a size of the log: zero or more"))
	}
	now, err := b.notary.Revoke(ctx, act.With(audit.DetailReason, "revoked: "+id), id, until)
	if err != nil {
		return notary.SigningKey{}, notaryError(err)
	}
	b.RetireKeys(ctx)
	return now, nil
}

func notaryError(err error) error {
	switch {
	case errors.Is(err, notary.ErrNone):
		return &Error{Kind: ErrNotFound, Field: "key", Detail: "no key of this id signs the audit log, now or before", Cause: err}
	case errors.Is(err, notary.ErrEnded):
		return &Error{Kind: ErrConflict, Field: "key", Detail: "the key was revoked before, or never signed", Cause: err}
	case errors.Is(err, notary.ErrOvertaken):
		return &Error{
			Kind: ErrConflict, Detail: "the keys were changed at the same time",
			Remedy: "list them again, and repeat what is still to be done", Cause: err,
		}
	case errors.Is(err, notary.ErrRewritten):
		return &Error{
			Kind: ErrConflict, Detail: "the audit log does not continue the one that was signed",
			Remedy: "find out who changed the database: verify the log against an anchor that was kept", Cause: err,
		}
	case errors.Is(err, notary.ErrLost):
		return &Error{
			Kind: ErrUnopenable, Detail: "the key that signs the audit log does not open",
			Remedy: "revoke it: a new one takes its place", Cause: err,
		}
	}
	return tornLog(KeyFault(err, Error{}))
}
