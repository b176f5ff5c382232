package bundle

import (
	"context"
	"errors"
	"path"
	"time"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/broker/failpoint"
	"github.com/vimbroker/vimbroker/lifecycle"
	"github.com/vimbroker/vimbroker/policy"
)

// Check is a run of the tests of an instance's chart (helm.sh/hook: test), which an operation of its own does.
type Check struct {
	Instance string `json:"instance-id,omitempty"`
	ID       string `json:"healthcheck-id"`
	Status   string `json:"status"`
	Suite    *Suite `json:"test-suite,omitempty"`
}

// Suite are the tests of a run.
type Suite struct {
	StartedAt   time.Time
	CompletedAt time.Time
	Results     []Result
}

// Result is how a test went.
type Result struct {
	StartedAt   time.Time `json:"started_at"`
	CompletedAt time.Time `json:"completed_at"`
	Status      string    `json:"status"`
	Name        string    `json:"name"`
}

// The states of a run and of a test, as Helm spells them.
const running, succeeded, failed = "Running", "Succeeded", "Failed"

// check is the document of a run: VNF is the VNF instance, After its newest operation before.
type check struct {
	Check

	VNF, After string
	Asker      policy.Delegation
}

// CreateCheck begins to run the tests of an instance.
func (b *Bundles) CreateCheck(ctx context.Context, p policy.Principal, id string) (Check, error) {
	_, i, act, err := b.openInstance(ctx, p, policy.VNFModify, id)
	if err == nil && i.state() != done {
		err = b.refuse(ctx, act, conflict("work on the instance is under way", "wait until that has ended"))
	}
	if err != nil {
		return Check{}, err
	}
	before, err := b.newest(ctx, i.at().Instance)
	now := b.now()
	c := check{
		Check{id, newID(), running, &Suite{StartedAt: now, Results: []Result{}}}, i.at().Instance, before.ID, policy.Delegate(p, now),
	}
	row := b.newRow(p, OfCheck, id+"/"+c.ID, c)
	if row.Busy = true; err == nil {
		err = b.Store.CreateBundles(ctx, []Row{row}, perProject, act.Done())
	}
	if err != nil {
		return Check{}, b.refuse(ctx, act, err)
	}
	failpoint.At("bundle.check-noted")
	if _, err = b.Life.Heal(ctx, p, c.VNF, lifecycle.Healing{Tests: true}); err != nil {
		ending, cancel := context.WithTimeout(context.WithoutCancel(ctx), endPatience)
		defer cancel()
		b.leftover(ctx, row, b.Store.DeleteBundles(ending, []string{row.ID}, act.Done()))
	}
	return Check{ID: c.ID, Status: running}, err
}

// Check returns one.
func (b *Bundles) Check(ctx context.Context, p policy.Principal, id, name string) (Check, error) {
	r, _, _, err := b.part(ctx, p, policy.VNFShow, OfCheck, id, name)
	if err == nil && r.Busy {
		err = b.follows(ctx, r, time.Time{})
	}
	if err == nil {
		r, err = b.Store.Bundle(ctx, p.Project, OfCheck, r.Name)
	}
	if err != nil {
		return Check{}, err
	}
	c, err := documentOf[check](r)
	return c.Check, err
}

// Checks returns all of an instance, in short.
func (b *Bundles) Checks(ctx context.Context, p policy.Principal, id string) ([]Check, error) {
	all, err := parts[Check](ctx, b, p, OfCheck, id)
	for n, c := range all {
		all[n] = Check{ID: c.ID, Status: c.Status}
	}
	return all, err
}

// follows notes how the tests went once their operation is over, and gives that up where it failed. One that was to begin
// before a time never will.
func (b *Bundles) follows(ctx context.Context, r Row, before time.Time) error {
	c, err := documentOf[check](r)
	if err != nil {
		return err
	}
	o, err := b.newest(ctx, c.VNF)
	switch {
	case err != nil || o.State.Working():
		return err
	case o.ID == c.After && c.Asker.At.After(before):
		return nil
	case o.ID != c.After && o.State == lifecycle.FailedTemp:
		p, err := b.Delegates.Resume(ctx, Actor, c.Asker)
		if err == nil {
			_, err = b.Life.Fail(ctx, p, o.ID)
		}
		if err != nil && !errors.Is(err, broker.ErrConflict) {
			return err
		}
	}
	if c.Status = failed; o.ID != c.After && o.State == lifecycle.Completed {
		c.Status = succeeded
	}
	c.Suite.CompletedAt = b.now()
	for _, s := range o.Steps {
		if o.ID != c.After {
			c.Suite.Results = append(c.Suite.Results, Result{
				c.Suite.StartedAt, c.Suite.CompletedAt, map[bool]string{true: succeeded, false: failed}[s.Ready], path.Base(s.Name),
			})
		}
	}
	_, err = b.Store.UpdateBundle(ctx, r.ID, func(now *Row) error {
		now.Document, now.Busy = written(c), false
		return nil
	}, nil)
	return err
}
