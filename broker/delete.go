package broker

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/vimbroker/vimbroker/broker/failpoint"
	"github.com/vimbroker/vimbroker/policy"
	"github.com/vimbroker/vimbroker/policy/audit"
)

// Deletion says how a VIM is to be deleted.
type Deletion struct {
	// Drain revokes live leases first; without it they are ErrConflict. A [Use] of the VIM is ErrConflict with it, too.
	Drain bool
	// Force deletes a VIM that cannot be reached: leases that could not be
	// revoked stay listed as irrevocable, and what is left upstream stays there. What
	// stands on a VIM (a [Use]) is given up where the last check did not reach it.
	Force bool
	// Gone says that the system that the VIM stands for no longer exists: nobody is asked,
	// and its leases end as revoked, because nothing is left that would take them.
	Gone bool
	// IfRevision refuses with ErrPrecondition unless it is the present one; zero does not ask.
	IfRevision int64
}

// DeleteVIM deletes a VIM and destroys its keys. It answers gone = true when the
// VIM is no more; false when it is draining: the reaper finishes that.
//
// The VIM issues no lease from the moment this returns. A [Use] of the VIM keeps it from draining, because the
// removal of the use needs leases.
func (b *Registry) DeleteVIM(ctx context.Context, p policy.Principal, ref string, del Deletion) (VIM, bool, error) {
	var gone bool
	v, err := decided(func() (v VIM, err error) {
		v, gone, err = b.deleteVIM(ctx, p, ref, del)
		return v, err
	})
	return v, gone, err
}

func (b *Registry) deleteVIM(ctx context.Context, p policy.Principal, ref string, del Deletion) (VIM, bool, error) {
	action := policy.VIMDelete
	switch {
	case del.Gone:
		action = policy.VIMRetire
	case del.Force:
		action = policy.VIMForceDelete
	}
	v, err := b.findVIM(ctx, p, action, ref)
	if err != nil {
		return VIM{}, false, err
	}
	act, err := b.enter(ctx, p, action, vimResource(v), policy.Wish{})
	if err != nil {
		return VIM{}, false, err
	}
	update := b.vims.UpdateVIM
	if !del.Force || v.Health.Status == HealthReachable {
		leased := del.Drain || del.Force || del.Gone || v.State != VIMRegistered
		update = func(ctx context.Context, id string, change func(*VIM) error, e audit.Entry) (VIM, error) {
			return b.vims.UpdateIdleVIM(ctx, id, leased, change, e)
		}
	}
	v, err = update(ctx, v.ID, func(now *VIM) error {
		if now.Revision != v.Revision && !b.guard.Allows(p, action, vimResource(*now)) {
			return errMoved
		}
		if now.State == VIMDraining {
			return nil
		}
		if err := now.writable(del.IfRevision); err != nil {
			return err
		}
		now.State, now.Default = VIMDraining, false
		now.UpdatedAt, now.Health.Next = b.now(), now.Health.CheckedAt
		return nil
	}, act.Intent())
	if errors.Is(err, ErrNotFound) {
		return VIM{}, true, nil // another call has finished it meanwhile
	}
	if err != nil {
		return VIM{}, false, b.refuseUpdate(ctx, act, err)
	}
	failpoint.At("delete.draining")
	end := b.drain
	if del.Gone {
		end = b.retireGone
	}
	gone, err := end(ctx, v, del.Force, act)
	if err != nil {
		v = b.restDrain(ctx, v, err)
	}
	return v, gone, nil
}

// restDrain leaves a draining VIM, whose drain went no further, alone for a while, and
// says on it why. A check, or another credential, that finds the VIM well ends that.
func (b *Registry) restDrain(ctx context.Context, v VIM, why error) VIM {
	b.log.InfoContext(ctx, "a VIM is draining and not gone yet", "vim", v.ID, "error", why)
	ctx, cancel := b.cleanup(ctx)
	defer cancel()
	h := v.Health
	h.CheckedAt, h.Message, h.Next = b.now(), message(why), b.nextDrain(v.Health)
	var known *Error
	switch {
	case errors.As(why, &known) && known.Next == NextEndLeases: // the leases say themselves why
		h = v.Health
		h.Next = b.now().Add(restDown)
	case errors.Is(why, ErrUnauthorized), errors.Is(why, ErrForbidden):
		h.Status = HealthUnauthorized
	case errors.Is(why, ErrUnopenable):
		h.Status = HealthUnopenable
	case errors.Is(why, ErrUnreachable):
		h.Status = HealthUnreachable
	}
	if err := b.vims.SetHealth(ctx, v.ID, v.Current.Number, h); err != nil {
		b.log.WarnContext(ctx, "why a VIM still drains cannot be stored", "vim", v.ID, "error", err)
		return v
	}
	v.Health = h
	return v
}

// nextDrain is when a drain that failed is tried again: each further failure doubles the
// wait, which is the time from the last try to the next.
func (b *Registry) nextDrain(was Health) time.Time {
	wait := b.terms.ReapEvery
	if was.Message != "" {
		wait = max(wait, min(2*was.Next.Sub(was.CheckedAt), maxBackoff))
	}
	return b.now().Add(wait)
}

// drain takes a draining VIM as far as it goes: revoke, forget, delete, destroy
// the key. It may be repeated, by anyone.
func (b *Registry) drain(ctx context.Context, v VIM, force bool, act *audit.Act) (gone bool, err error) {
	if err := b.leaser.revokeAll(ctx, v, force); err != nil {
		return false, err
	}
	failpoint.At("delete.revoked")
	forget := func(ctx context.Context, d Driver, a Access) error { return d.Forget(ctx, a) }
	if err := withAble(ctx, b.core, v, "", forget); err != nil && !force {
		return false, err
	}
	failpoint.At("delete.forgotten")
	// A replacement of the credential meanwhile would write a key for a VIM that is gone.
	if now, err := b.vims.VIM(ctx, v.ID); err == nil && now.Pending != nil && !force {
		return false, now.writableAny(0)
	}
	return b.remove(ctx, v, force, act)
}

// remove removes the row of a VIM that has drained, and destroys its keys.
func (b *Registry) remove(ctx context.Context, v VIM, force bool, act *audit.Act) (gone bool, err error) {
	if err := b.vims.DeleteVIM(ctx, v.ID, force, act.Done()); err != nil {
		return false, err
	}
	failpoint.At("delete.deleted")
	b.discrepancies.forget(v.ID)
	b.RetireKeys(ctx)
	return true, nil
}

// retireGone is drain for a VIM whose system no longer exists. It asks nobody.
func (b *Registry) retireGone(ctx context.Context, v VIM, _ bool, act *audit.Act) (gone bool, err error) {
	err = b.eachToEnd(ctx, "drain", LeaseFilter{VIM: v.ID, States: liveStates}, v.leased, func(l Lease, end *audit.Act) error {
		return b.leaser.endWithSystem(ctx, l, end)
	})
	if err != nil {
		return false, err
	}
	return b.remove(ctx, v, false, act)
}

// drainFurther takes a draining VIM as far as it goes.
func (b *Registry) drainFurther(ctx context.Context, v VIM) {
	act, err := b.enter(ctx, system("drain"), policy.VIMDelete, vimResource(v), policy.Wish{})
	if err == nil {
		_, err = b.drain(ctx, v, false, act)
	}
	if err != nil {
		b.restDrain(ctx, v, err)
	}
}

// Use is what stands on a VIM and is not a lease: as long as there is one the VIM is not deleted, and nobody begins to.
// The store writes it, in the transaction in which its owner begins to make the thing or has ended it.
type Use struct {
	Kind UseKind
	// Subject is the id of the thing, Project the one that owns it, Name what people call it; it may be empty.
	Subject, Project, Name string
}

// UseKind is the kind of thing that a [Use] is.
type UseKind string

// UseVNFInstance is a VNF instance that is instantiated, or that an operation works on.
const UseVNFInstance UseKind = "vnfInstance"

// UseCluster is a cluster that is followed from the VIM, which is a management cluster: a row of it is the use.
const UseCluster UseKind = "cluster"

// UseAsset is a virtual link or a volume: see package asset.
const UseAsset UseKind = "asset"

// nouns are what people call the kinds, of which there are several.
var nouns = map[UseKind]string{
	UseVNFInstance: "VNF instances stand on the VIM: ", UseCluster: "clusters are followed from the VIM: ",
	UseAsset: "virtual links or volumes stand on the VIM: ",
}

// MaxUses bounds the uses that [InUse] names.
const MaxUses = 5

// String names the use for people.
func (u Use) String() string {
	s := u.Subject
	if u.Name != "" {
		s = fmt.Sprintf("%q (%s)", u.Name, u.Subject)
	}
	return s + " of project " + u.Project
}

// InUse returns the [ErrConflict] of a VIM that things stand on: all of them, of which some are named, of one kind.
func InUse(some []Use, all int) error {
	var names []string
	for _, u := range some {
		names = append(names, u.String())
	}
	text := strings.Join(names, ", ")
	if more := all - len(some); more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	e := &Error{Kind: ErrConflict, Detail: nouns[some[0].Kind] + text, Next: NextEndUses}
	switch some[0].Kind {
	case UseAsset:
		e.Next, e.Remedy = 0, "delete them first"
	case UseCluster:
		e.Next = 0
		e.Remedy = "disable it as a management cluster first; the VIMs of its clusters stay, and follow them again when it is registered anew"
	}
	return e
}

// maxWaits bounds how many leases a draining VIM is shown to wait for.
const maxWaits = 10

// WaitsFor says what a draining VIM waits for, each in one line: the leases that have not
// ended, as far as the caller may see them, with what went wrong last and when they are
// tried again; and what keeps the broker from removing the rest. It is empty for a VIM
// that is not draining. The caller was shown the VIM, which is what is decided and
// recorded.
func (b *Registry) WaitsFor(ctx context.Context, p policy.Principal, v VIM) ([]string, error) {
	if v.State != VIMDraining {
		return nil, nil
	}
	var out []string
	var hidden int
	err := b.eachLease(ctx, LeaseFilter{VIM: v.ID, States: liveStates}, func(l Lease) error {
		if len(out) == maxWaits || !b.guard.Allows(p, policy.LeaseShow, leaseResource(l)) {
			hidden++
		} else {
			out = append(out, l.waiting())
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	if hidden > 0 {
		out = append(out, fmt.Sprintf("%d more leases", hidden))
	}
	switch {
	case v.Health.Message != "":
		out = append(out, fmt.Sprintf("the VIM, which was %s at %s: %s; the next try is at %s", v.Health.Status,
			v.Health.CheckedAt.UTC().Format(time.RFC3339), v.Health.Message, v.Health.Next.UTC().Format(time.RFC3339)))
	case len(out) == 0:
		out = append(out, "the next pass, which removes what the broker keeps on the VIM")
	}
	return out, nil
}

// waiting says where a lease that is to end stands.
func (l Lease) waiting() string {
	text := fmt.Sprintf("lease %s of %s, which is %s", l.ID, l.Principal, l.State)
	if l.Attempts > 0 {
		text += fmt.Sprintf(", tries: %d", l.Attempts)
	}
	if l.LastError != "" {
		text += ": " + l.LastError
	}
	if l.State == LeaseRevoking && !l.NextAttemptAt.IsZero() {
		text += "; the next try is at " + l.NextAttemptAt.UTC().Format(time.RFC3339)
	}
	return text
}
