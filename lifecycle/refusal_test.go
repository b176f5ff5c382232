package lifecycle_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/broker/job"
	"github.com/vimbroker/vimbroker/lifecycle"
	"github.com/vimbroker/vimbroker/policy"
	"github.com/vimbroker/vimbroker/test/outcome"
)

var bob = policy.Principal{Name: "bob", Project: "core", Roles: []string{policy.RoleMember}}

// TestRefusals: each is of its kind, and leaves the instance as it was.
func TestRefusals(t *testing.T) {
	p := newPlant(t)
	ctx := t.Context()
	fresh, running := p.made(), p.running()
	many := func(n int) map[string]string {
		m := map[string]string{}
		for i := range n {
			m[fmt.Sprintf("V%d", i)] = "v"
		}
		return m
	}
	instantiate := func(r lifecycle.Instantiation) func() error {
		if r.VIM == "" {
			r.VIM = "edge"
		}
		return func() error {
			_, err := p.Instantiate(ctx, alice, fresh.ID, r)
			return err
		}
	}
	change := func(r lifecycle.PackageChange) func() error {
		if r.VNFDID == "" {
			r.VNFDID = "web-2"
		}
		return func() error {
			_, err := p.ChangePackage(ctx, alice, running.ID, r)
			return err
		}
	}
	modify := func(m lifecycle.Modification) func() error {
		return func() error {
			_, err := p.Modify(ctx, alice, fresh.ID, m)
			return err
		}
	}
	create := func(r lifecycle.NewInstance) func() error {
		r.VNFDID = "web-1"
		return func() error {
			_, err := p.CreateInstance(ctx, alice, r)
			return err
		}
	}
	long, torn := strings.Repeat("x", 256), "a\x1b[31m"
	for name, c := range outcome.Sorted(map[string]struct {
		kind error
		do   func() error
	}{
		"delete, of another revision": {broker.ErrPrecondition, func() error { return p.DeleteInstance(ctx, alice, fresh.ID, fresh.Revision+1) }},
		"delete, with resources":      {broker.ErrConflict, func() error { return p.DeleteInstance(ctx, alice, running.ID, 0) }},
		"instantiate twice": {broker.ErrConflict, func() error {
			_, err := p.Instantiate(ctx, alice, running.ID, lifecycle.Instantiation{VIM: "edge"})
			return err
		}},
		"scale without resources": {broker.ErrConflict, func() error {
			_, err := p.Scale(ctx, alice, fresh.ID, lifecycle.Scaling{Aspect: "front", Steps: 1})
			return err
		}},
		"terminate without resources": {broker.ErrConflict, func() error { _, err := p.Terminate(ctx, alice, fresh.ID, nil); return err }},
		"scale by nothing": {broker.ErrInvalid, func() error {
			_, err := p.Scale(ctx, alice, running.ID, lifecycle.Scaling{Aspect: "front"})
			return err
		}},
		"scale no aspect": {broker.ErrInvalid, func() error {
			_, err := p.Scale(ctx, alice, running.ID, lifecycle.Scaling{Aspect: "back", Steps: 1})
			return err
		}},
		"scale below nothing": {broker.ErrInvalid, func() error {
			_, err := p.Scale(ctx, alice, running.ID, lifecycle.Scaling{Aspect: "front", Steps: -1})
			return err
		}},
		"files that no driver takes":     {broker.ErrInvalid, instantiate(lifecycle.Instantiation{Files: []string{"BaseHOT/x"}})},
		"a VIM that is none":             {broker.ErrNotFound, instantiate(lifecycle.Instantiation{VIM: "nowhere"})},
		"a VIM of a type without driver": {broker.ErrUnsupported, instantiate(lifecycle.Instantiation{VIM: "cloud"})},
		"a flavour that is none":         {broker.ErrInvalid, instantiate(lifecycle.Instantiation{Flavour: "large"})},
		"a level that is none":           {broker.ErrInvalid, instantiate(lifecycle.Instantiation{Level: "high"})},
		"a variable's name":              {broker.ErrInvalid, instantiate(lifecycle.Instantiation{Variables: map[string]string{"1A": "v"}})},
		"a variable's value":             {broker.ErrInvalid, instantiate(lifecycle.Instantiation{Variables: map[string]string{"A": torn}})},
		"too many variables":             {broker.ErrInvalid, instantiate(lifecycle.Instantiation{Variables: many(201)})},
		"a parameter nobody reads":       {broker.ErrInvalid, instantiate(lifecycle.Instantiation{Others: []string{"helm_value"}})},
		"one of a change":                {broker.ErrInvalid, change(lifecycle.PackageChange{VNFDID: "web-2", Others: []string{"helm_value"}})},
		"too many files":                 {broker.ErrInvalid, instantiate(lifecycle.Instantiation{Files: make([]string, 10_001)})},
		"a file's name":                  {broker.ErrInvalid, instantiate(lifecycle.Instantiation{Files: []string{torn}})},
		"a variable of a change":         {broker.ErrInvalid, change(lifecycle.PackageChange{Variables: map[string]string{"1A": "v"}})},
		"a package that is none":         {broker.ErrNotFound, change(lifecycle.PackageChange{VNFDID: "web-9"})},
		"a name that is too long":        {broker.ErrInvalid, create(lifecycle.NewInstance{Name: long})},
		"a description that controls":    {broker.ErrInvalid, create(lifecycle.NewInstance{Description: torn})},
		"metadata that is no object":     {broker.ErrInvalid, create(lifecycle.NewInstance{Metadata: []byte(`[1]`)})},
		"a new name that is too long":    {broker.ErrInvalid, modify(lifecycle.Modification{Name: &long})},
		"a new description":              {broker.ErrInvalid, modify(lifecycle.Modification{Description: &torn})},
		"metadata that is too long":      {broker.ErrInvalid, modify(lifecycle.Modification{Metadata: []byte(`{"a":"` + strings.Repeat("x", 64<<10) + `"}`)})},
		"a preview with resources": {broker.ErrConflict, func() error {
			_, err := p.Preview(ctx, alice, running.ID, lifecycle.Instantiation{VIM: "edge"})
			return err
		}},
		"a preview's variable": {broker.ErrInvalid, func() error {
			_, err := p.Preview(ctx, alice, fresh.ID, lifecycle.Instantiation{VIM: "edge", Variables: map[string]string{"1A": "v"}})
			return err
		}},
	}) {
		if err := c.do(); !errors.Is(err, c.kind) {
			t.Errorf("%s: error is %v, want %v", name, err, c.kind)
		}
	}
	for _, i := range []lifecycle.Instance{fresh, running} {
		if now := p.instance(i.ID); now.Revision != i.Revision {
			t.Errorf("what was refused has changed the instance to %+v", now)
		}
	}
	if err := p.DeleteInstance(ctx, alice, fresh.ID, fresh.Revision); err != nil {
		t.Errorf("deleting the instance as it is: %v", err)
	}
}

// TestSettlingIsForThoseWhoMay: what is done about an operation is decided for the one who asks, and is then done for
// them. Only what has failed can be settled, and only what is under way canceled.
func TestSettlingIsForThoseWhoMay(t *testing.T) {
	p := newPlant(t)
	ctx := t.Context()
	p.yard.failsAt(1, errBroken)
	o := p.ends(lifecycle.FailedTemp, p.begun(), nil)
	ways := map[string]func(policy.Principal, string) (lifecycle.Operation, error){
		"retry":    func(who policy.Principal, id string) (lifecycle.Operation, error) { return p.Retry(ctx, who, id) },
		"rollback": func(who policy.Principal, id string) (lifecycle.Operation, error) { return p.Rollback(ctx, who, id) },
		"fail":     func(who policy.Principal, id string) (lifecycle.Operation, error) { return p.Fail(ctx, who, id) },
		"cancel": func(who policy.Principal, id string) (lifecycle.Operation, error) {
			return p.Cancel(ctx, who, id, lifecycle.Graceful)
		},
	}
	for name, do := range outcome.Sorted(ways) {
		for who, want := range outcome.Sorted(map[string]error{"carol": broker.ErrNotFound, "rita": broker.ErrDenied}) {
			_, err := do(map[string]policy.Principal{"carol": carol, "rita": rita}[who], o.ID)
			if !errors.Is(err, want) {
				t.Errorf("%s by %s = %v, want %v", name, who, err, want)
			}
		}
		if _, err := do(alice, "no-id"); !errors.Is(err, broker.ErrNotFound) {
			t.Errorf("%s of no operation = %v", name, err)
		}
	}
	_, none := p.Operation(ctx, carol, uuid.NewString())
	ways["show"] = func(who policy.Principal, id string) (lifecycle.Operation, error) { return p.Operation(ctx, who, id) }
	for name, do := range outcome.Sorted(ways) {
		if _, err := do(carol, o.ID); err == nil || err.Error() != none.Error() {
			t.Errorf("%s of another project's operation = %v, and of none %v", name, err, none)
		}
	}
	delete(ways, "show")
	if _, err := p.Cancel(ctx, alice, o.ID, "NOW"); !errors.Is(err, broker.ErrInvalid) {
		t.Errorf("a cancel of no mode = %v", err)
	}
	if _, err := p.Cancel(ctx, alice, o.ID, lifecycle.Forceful); !errors.Is(err, broker.ErrConflict) {
		t.Errorf("a cancel of what has failed = %v", err)
	}

	p.clock.Add(2 * time.Hour) // alice's roles do not hold any more
	again := p.completes(p.Retry(ctx, bob, o.ID))
	if again.Asker.Name != "bob" || !again.Deadline.After(o.Deadline) {
		t.Errorf("after bob's retry it was done for %s, with time until %v", again.Asker.Name, again.Deadline)
	}
	for name, do := range outcome.Sorted(ways) {
		if _, err := do(alice, o.ID); !errors.Is(err, broker.ErrConflict) {
			t.Errorf("%s of what is completed = %v", name, err)
		}
	}
}

// TestCanceledWhileItIsPlanned: nothing was made, so it is rolled back.
func TestCanceledWhileItIsPlanned(t *testing.T) {
	p := newPlant(t)
	o := p.begun()
	p.yard.planning = func() {
		if _, err := p.Cancel(t.Context(), alice, o.ID, lifecycle.Graceful); err != nil {
			t.Error(err)
		}
	}
	if o = p.ends(lifecycle.RolledBack, o, nil); o.Failure.Title != "canceled" || p.yard.waves > 0 {
		t.Errorf("the failure is %+v after %d waves", o.Failure, p.yard.waves)
	}
}

// TestFencedWorkerSettlesNothing: another goes on with the operation.
func TestFencedWorkerSettlesNothing(t *testing.T) {
	p := newPlant(t)
	p.yard.before = func(context.Context, int) error { return job.ErrFenced }
	o, err := p.work(p.begun(), nil)
	if !errors.Is(err, job.ErrFenced) || o.State != lifecycle.Processing {
		t.Errorf("the worker ended with %v, and the operation is %s", err, o.State)
	}
}

// TestAnotherPlanIsBegunAnew: where the VIM has changed so that the plan is another, its stages are not those that
// were done.
func TestAnotherPlanIsBegunAnew(t *testing.T) {
	for more, want := range map[int]int{0: 1, 1: 3} {
		p := newPlant(t)
		p.yard.failsAt(1, &broker.Error{Kind: broker.ErrUnreachable, Detail: "no answer"})
		o, err := p.work(p.begun(), nil)
		wantKind(t, err, broker.ErrUnreachable)
		p.yard.before = nil
		waves := p.yard.waves
		for range more {
			p.yard.more = append(p.yard.more, lifecycle.Manifest{Path: "more"})
		}
		p.completes(o, nil)
		if did := p.yard.waves - waves; did != want {
			t.Errorf("with %d objects more the next attempt did %d waves, want %d", more, did, want)
		}
	}
}
