package broker

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/vimbroker/vimbroker/broker/secret"
	"github.com/vimbroker/vimbroker/policy"
	"github.com/vimbroker/vimbroker/policy/audit"
)

// A VNFM keeps one name and one secret for as long as its VNF instance lives. So the standing lease of an instance
// has a successor: where it has ended, and nobody has revoked it, the next token or the next grant issues another in
// its place, which is decided on like any. The successor has the Login of the one before, its idempotency key and its
// secrets. Of these the store has digests alone, which go from row to row in the write that makes the new row:
// of one Login one row has them, and it is the last. What was revoked has a successor only where the caller
// may resume it.

const (
	// noSecret stands in the place of the digests where no secret of the lease before is taken any more.
	noSecret = "-"
	// maxSecrets bounds how many secrets of one login are taken: the first, which most VNFMs keep, and the newest.
	maxSecrets = 8
)

// Follows reports whether the lease takes the place of another.
func (l Lease) Follows() bool { return l.Login != "" && l.Login != l.ID }

// over reports whether a lease has ended, or is past its end.
func (b *core) over(l Lease) bool {
	return l.State != LeasePending && (l.State != LeaseActive || !b.now().Before(l.ExpiresAt))
}

// replaceable reports whether another lease may take the place of this one once it has ended: it stands with an
// instance, was in use, and is not ended because the instance is.
func (l Lease) replaceable() bool {
	switch {
	case !l.Standing() || l.Instance == "" || l.SecretSHA256 == "":
		return false
	case l.Reason == ReasonOperationEnded:
		return false
	case l.Reason == ReasonIssueFailed, l.Reason == ReasonAbandoned, l.Reason == ReasonAuditFailed:
		return l.Follows()
	}
	return true
}

// current is the lease of that id or, once it has ended, the one that has taken its place.
func (b *Leaser) current(ctx context.Context, id string) (Lease, error) {
	l, err := b.leases.Lease(ctx, id)
	login := id
	switch {
	case err != nil && !errors.Is(err, ErrNotFound):
		return Lease{}, err
	case err == nil && (l.State == LeaseActive || l.Login == ""):
		return l, nil
	case err == nil:
		login = l.Login
	}
	last, lastErr := b.leases.LeaseByLogin(ctx, login)
	if errors.Is(lastErr, ErrNotFound) {
		return l, err
	}
	return last, lastErr
}

// Replaceable reports whether a request InPlaceOf a lease that has ended may issue another. It is for grants,
// which hold the lease: nothing is decided or recorded.
func (b *Leaser) Replaceable(ctx context.Context, lease string) (bool, error) {
	l, err := b.current(ctx, lease)
	return err == nil && l.replaceable(), err
}

// standsAgain is a lease as it is, or the one that is issued in its place to the holder who shows its secret.
// What was revoked is left as it is.
func (b *Leaser) standsAgain(ctx context.Context, p policy.Principal, l Lease, plain string) (Lease, error) {
	if !b.over(l) || !l.replaceable() || l.Reason == ReasonRequested {
		return l, nil
	}
	v, err := b.vims.VIM(ctx, l.VIM)
	if err != nil {
		return l, ignore(err, ErrNotFound) // of which the mint tells
	}
	if v.Suspended != "" {
		return l, suspended(v)
	}
	next, _, err := b.IssueLease(ctx, p, LeaseRequest{
		VIM: l.VIM, TTL: l.TokenTTL, Role: l.Role, Namespaces: l.Namespaces, Rules: l.Rules, ClusterWide: l.ClusterWide, Format: l.Format,
		Purpose: l.Purpose, Operation: l.Operation, Instance: l.Instance, For: l.For, Standing: true, Widest: l.Grade,
		IdempotencyKey: l.IdempotencyKey, InPlaceOf: l.Login, shown: secret.NewText(plain),
	})
	return next, err
}

// before returns the lease whose place a request takes, or that was issued for the same request before;
// [ErrNotFound].
func (i *issuing) before(ctx context.Context) (Lease, error) {
	if i.request.InPlaceOf == "" {
		if i.lease.IdempotencyKey == "" {
			return Lease{}, &Error{Kind: ErrNotFound}
		}
		old, err := i.leases.LeaseByKey(ctx, i.caller.Name, i.lease.IdempotencyKey)
		if err == nil && (old.RequestDigest != i.lease.RequestDigest || old.Project != i.lease.Project) {
			err = otherRequest()
		}
		return old, err
	}
	old, err := i.leases.LeaseByLogin(ctx, i.request.InPlaceOf)
	same := old.Principal == i.caller.Name && old.Project == i.lease.Project && old.Instance == i.lease.Instance && old.VIM == i.vim.ID
	if err == nil && !same {
		err = otherRequest()
	}
	return old, err
}

// follow has the new lease take the place of one that has ended, if the request may.
func (i *issuing) follow(old Lease) bool {
	if i.request.InPlaceOf == "" || !i.over(old) || !old.replaceable() || old.Reason == ReasonRequested && !i.request.Resumed {
		return false
	}
	i.old = old
	return true
}

// succeed fills in what the new lease takes over. A lease that is past its end is ended first.
func (i *issuing) succeed(ctx context.Context) error {
	if i.old.ID == "" {
		return nil
	}
	if i.old.State == LeaseActive {
		act, err := i.enter(ctx, system("reaper"), policy.LeaseRevoke, leaseResource(i.old), policy.Wish{})
		if err == nil {
			i.old, _, err = i.beginRevocation(ctx, i.old, ReasonExpired, act, 0)
		}
		if err != nil && !errors.Is(err, errEnded) {
			return err
		}
		if !i.follow(i.old) { // somebody has revoked it
			return errMoved
		}
	}
	// The newest comes first, and the first one of all last, where it stays.
	taken := slices.DeleteFunc(strings.Fields(i.old.SecretSHA256), func(sum string) bool { return sum == noSecret })
	if k, stands := i.kind.(*standingLease); stands && !i.request.shown.Empty() {
		k.secret = i.request.shown // which is one of them
	} else {
		taken = append([]string{i.lease.SecretSHA256}, taken...)
	}
	if last := len(taken) - 1; last >= maxSecrets {
		taken = append(taken[:maxSecrets-1], taken[last])
	}
	i.lease.Login, i.lease.SecretSHA256 = i.old.Login, strings.Join(taken, " ")
	if i.old.Reason == ReasonRequested {
		i.lease.Reason = ReasonRequested // until it is active: what was resumed and not issued is resumed anew
	}
	i.act.With(audit.DetailInPlaceOf, i.old.ID)
	return nil
}
