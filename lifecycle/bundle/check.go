package bundle

import (
	"cmp"
	"context"
	"time"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/lifecycle"
	"github.com/vimbroker/vimbroker/policy"
)

// Check is a run of the tests of an instance's chart (helm.sh/hook: test): an operation on its VNF instance.
type Check struct {
	Instance string `json:"instance-id,omitempty"`
	ID       string `json:"healthcheck-id"`
	Status   string `json:"status"`
	Suite    *Suite `json:"test-suite,omitempty"`
}

// Suite are the tests of a run.
type Suite struct {
	StartedAt, CompletedAt time.Time
	Results                []TestResult
}

// TestResult is how a test went.
type TestResult struct {
	Name   string `json:"name"`
	Status string `json:"status"`
}

// The states of a run and of a test, as Helm spells them.
const running, succeeded, failed = "Running", "Succeeded", "Failed"

// CreateCheck begins to run the tests of an instance.
func (b *Bundles) CreateCheck(ctx context.Context, p policy.Principal, id string) (Check, error) {
	_, i, err := b.instance(ctx, p, id)
	if err == nil {
		err = b.tested(ctx, p, i.at().Instance)
	}
	if err != nil {
		return Check{}, err
	}
	o, err := b.Life.Heal(ctx, p, i.at().Instance, lifecycle.Healing{Tests: true})
	return Check{ID: o.ID, Status: running}, err
}

// tested gives up the last operation on a VNF instance where that has run tests, and one has failed.
func (b *Bundles) tested(ctx context.Context, p policy.Principal, vnf string) error {
	o, err := b.newest(ctx, vnf)
	if err == nil && o.Tests && o.State == lifecycle.FailedTemp {
		_, err = b.Life.Fail(ctx, p, o.ID)
	}
	return err
}

// Checks returns those of an instance that its newest operations have run; of an id, where one is given.
func (b *Bundles) Checks(ctx context.Context, p policy.Principal, id, of string) ([]Check, error) {
	_, i, err := b.instance(ctx, p, id)
	if err != nil {
		return nil, err
	}
	found, _, err := b.Store.Operations(ctx, lifecycle.OperationFilter{Instance: i.at().Instance, Page: broker.Page{Size: broker.MaxPage}})
	all := []Check{}
	for _, o := range found {
		if !o.Tests || of != "" && o.ID != of {
			continue
		}
		c := Check{id, o.ID, running, &Suite{StartedAt: o.StartedAt}}
		if !o.State.Working() {
			c.Status, c.Suite.CompletedAt = failed, o.StateEnteredAt
		}
		if o.State == lifecycle.Completed {
			c.Status = succeeded
		}
		for _, s := range o.Steps {
			c.Suite.Results = append(c.Suite.Results, TestResult{s.Name, map[bool]string{true: succeeded, false: c.Status}[s.Ready]})
		}
		all = append(all, c)
	}
	if err == nil && of != "" && len(all) == 0 {
		err = missing("healthcheck")
	}
	return all, err
}

// DeleteCheck gives up one that has failed. The operation stays in the instance's history.
func (b *Bundles) DeleteCheck(ctx context.Context, p policy.Principal, id, of string) error {
	if _, err := b.Checks(ctx, p, id, of); err != nil {
		return err
	}
	_, i, err := b.instance(ctx, p, id)
	return cmp.Or(err, b.tested(ctx, p, i.at().Instance))
}
