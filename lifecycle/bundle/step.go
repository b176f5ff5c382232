package bundle

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/broker/failpoint"
	"github.com/vimbroker/vimbroker/lifecycle"
	"github.com/vimbroker/vimbroker/policy"
)

// errEnded: the work is over, without what was asked for.
var errEnded = errors.New("the work has ended without effect")

// ended says why an operation came to nothing.
func ended(o lifecycle.Operation) error {
	e := &broker.Error{Kind: broker.ErrConflict, Detail: "the operation was given up", Cause: errEnded}
	if o.Failure != nil {
		e.Detail = o.Failure.Detail
		switch o.Failure.Status {
		case 403, 422:
			e.Kind = broker.ErrInvalid
		case 502, 503, 504:
			e.Kind = lifecycle.ErrNotReady
		}
	}
	return e
}

// step does the next step of the work on a row, if it can be done now. For a pass, which gives a time, a removal that failed
// is tried once more, and work that was to begin before then never will.
func (b *Bundles) step(ctx context.Context, p policy.Principal, row Row, before time.Time) (done bool, err error) {
	row, i, err := read[instance](b.Store.Bundle(ctx, row.Project, row.Kind, row.Name))
	if errors.Is(err, broker.ErrNotFound) {
		return true, nil
	}
	if err != nil {
		return false, err
	}
	switch {
	case i.Ending:
		ids := []string{i.at().Instance, i.Left} // one that is not there is gone
		if i.Next != nil {
			ids = append(ids, i.Next.Instance)
		}
		below, err := b.rowsBelow(ctx, row, OfConfig)
		if err != nil {
			return false, err
		}
		for _, r := range below { // which goes first
			r, err = b.move(ctx, r, nil, func(c *instance) { c.Ending, c.Asker = true, i.Asker })
			if err != nil {
				return false, err
			}
			if gone, err := b.step(ctx, p, r, before); err != nil || !gone {
				return false, err
			}
		}
		for _, id := range ids {
			if gone, err := b.end(ctx, p, id, !before.IsZero()); err != nil || !gone {
				return false, err
			}
		}
		return true, b.drop(ctx, p, row)
	case i.Next != nil:
		err = b.follow(ctx, p, row, i, before)
	case i.Left != "":
		var gone bool
		if gone, err = b.end(ctx, p, i.Left, !before.IsZero()); gone && err == nil {
			failpoint.At("bundle.left")
			_, err = b.move(ctx, row, nil, func(i *instance) { i.Left = "" })
			err = cmp.Or(err, errMoved)
		}
	default:
		return true, nil
	}
	if errors.Is(err, errMoved) { // by this process or another: the next step is due at once
		return b.step(ctx, p, row, before)
	}
	return errors.Is(err, errEnded), err
}

// follow looks at the operation that makes what an instance is becoming. Once it has succeeded the instance is that, and what
// is on another region goes; where it failed it is taken back, and the instance is as it was before.
func (b *Bundles) follow(ctx context.Context, p policy.Principal, row Row, i instance, before time.Time) error {
	o, err := b.newest(ctx, i.Next.Instance)
	switch {
	case err != nil || o.State.Working():
		return err
	case o.ID == i.Next.After: // it was not begun: after a while nobody has its parameters any more
		if !i.Asker.At.Before(before) {
			return nil
		}
	case o.State == lifecycle.Completed:
		failpoint.At("bundle.operation-over")
		_, err := b.move(ctx, row, nil, func(i *instance) {
			if i.Now != nil && !i.on(*i.Next) {
				i.Left = i.Now.Instance
			}
			i.Versions, i.Next.Versions = i.Next.Versions, nil
			i.Now, i.Next = i.Next, nil
		})
		return cmp.Or(err, errMoved)
	case o.State == lifecycle.FailedTemp:
		if _, err = b.Life.Rollback(ctx, p, o.ID); errors.Is(err, broker.ErrConflict) {
			err = nil // another process has done so
		}
		return err
	}
	return cmp.Or(b.undo(ctx, p, row, i), ended(o))
}

// end removes a VNF instance with its resources, step by step; gone once there is none.
func (b *Bundles) end(ctx context.Context, p policy.Principal, id string, again bool) (gone bool, err error) {
	o, err := b.newest(ctx, id) // before the instance: an operation that ends meanwhile has changed its state
	if err != nil {
		return false, err
	}
	i, err := b.Store.Instance(ctx, id)
	if errors.Is(err, broker.ErrNotFound) {
		return true, nil
	}
	failed := o.State == lifecycle.FailedTemp
	switch {
	case err != nil || o.State.Working():
	case o.Type == lifecycle.Terminate && !again && (failed || o.State == lifecycle.RolledBack):
		err = ended(o)
	case failed && o.Type == lifecycle.Terminate:
		_, err = b.Life.Retry(ctx, p, o.ID)
	case failed && o.Type == lifecycle.Instantiate:
		_, err = b.Life.Rollback(ctx, p, o.ID)
	case failed:
		_, err = b.Life.Fail(ctx, p, o.ID)
	case i.State == lifecycle.Instantiated:
		_, err = b.Life.Terminate(ctx, p, id, json.RawMessage(`{"terminationType":"FORCEFUL"}`))
	default:
		if err = b.Life.DeleteInstance(ctx, p, id, 0); errors.Is(err, broker.ErrNotFound) {
			err = nil
		}
		return err == nil, err
	}
	return false, err
}

// UpgradeInstance gives an instance another definition, profile or values, and returns once it is ready. On another
// region it is made anew there, and then removed where it was; if it is not made there, it stays where it was.
func (b *Bundles) UpgradeInstance(ctx context.Context, p policy.Principal, id string, r Request) (Instance, error) {
	row, act, err := b.open(ctx, p, policy.VNFUpdate, OfInstance, id)
	row, i, err := read[instance](row, err)
	if err != nil {
		return Instance{}, err
	}
	r.Release = i.at().Release
	m, err := b.prepare(ctx, p, id, r)
	if err == nil {
		err = b.upgradable(ctx, p, row, i, &m.made)
	}
	if err != nil {
		return Instance{}, b.refuse(ctx, act, err)
	}
	if err = b.change(ctx, p, act, row, new(act.Done()), m.parameters, func(i *instance) { i.Next = &m.made }); err != nil {
		return Instance{}, err
	}
	return b.Instance(ctx, p, id)
}

// upgradable refuses what an instance cannot become, and says by which VNF instance it becomes that.
func (b *Bundles) upgradable(ctx context.Context, p policy.Principal, row Row, i instance, m *made) error {
	m.Instance = uuid.NewString()
	switch other, err := b.claimed(ctx, row.Project, *m); {
	case err != nil && !errors.Is(err, broker.ErrNotFound):
		return err
	case err == nil && other.ID != row.ID:
		return conflict("instance "+other.Name+" is of that region, release, definition and profile", "delete it")
	case i.state() != done:
		return conflict("another request is at the instance", "wait until that has ended")
	case m.VIM != i.Now.VIM:
		below, err := b.rowsBelow(ctx, row, OfConfig)
		if err == nil && len(below) > 0 {
			err = conflict("the instance has configurations, which stay on their region", "delete them first")
		}
		return err
	case m.Namespace != i.Now.Namespace:
		return broker.Invalid("profile-name", "has another namespace than the instance, which stays where it is")
	}
	err := b.tested(ctx, p, i.Now.Instance)
	before, unread := b.newest(ctx, i.Now.Instance)
	m.Instance, m.After = i.Now.Instance, before.ID
	return cmp.Or(err, unread)
}

// DeleteInstance removes an instance. Where that takes longer than a request waits, or fails, a pass goes on with it.
func (b *Bundles) DeleteInstance(ctx context.Context, p policy.Principal, id string) error {
	row, act, err := b.open(ctx, p, policy.VNFDelete, OfInstance, id)
	if err != nil {
		return err
	}
	err = b.change(ctx, p, act, row, new(act.Done()), nil, func(i *instance) { i.Ending = true })
	if errors.Is(err, context.DeadlineExceeded) {
		err = nil
	}
	return err
}

// Look shows objects: what an instance consists of; of a kind, where one is wanted; or without an id those of a region. Each
// has its full text but for Secrets.
func (b *Bundles) Look(
	ctx context.Context, p policy.Principal, id, region string, w lifecycle.Wanted,
) (shown Instance, seen []lifecycle.Showing, err error) {
	var i instance
	if id == "" {
		v, err := b.vim(ctx, p, region)
		if err == nil {
			seen, err = b.Life.Query(ctx, p, v.ID, w)
		}
		return shown, seen, err
	}
	switch shown, i, err = b.instance(ctx, p, id); {
	case err != nil:
	case w.Kind == "":
		seen, err = b.Life.Inspect(ctx, p, i.at().Instance)
	default:
		w.Namespace, w.Selector = i.at().Namespace, strings.TrimSuffix(idLabel+"="+id+","+w.Selector, ",")
		seen, err = b.Life.Query(ctx, p, i.at().VIM, w)
	}
	return shown, seen, err
}
