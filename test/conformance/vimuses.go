package conformance

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/google/uuid"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/lifecycle"
)

// drain begins to delete a VIM.
func drain(v *broker.VIM) error { v.State = broker.VIMDraining; return nil }

// bare is an instance that stands on no VIM.
func bare(name string) lifecycle.Instance {
	i := sampleInstance("north")
	i.Name, i.Shape.VIM = name, ""
	return i
}

// instantiation is an operation that brings a bare instance onto a VIM.
func instantiation(i lifecycle.Instance, vim string) lifecycle.Operation {
	o := sampleOperation(i)
	o.Before.VIM, o.Target.VIM = "", vim
	return o
}

// vimInUse fails unless neither a VIM can be deleted nor its deletion begun, for what is named.
func (s lifecycleTest) vimInUse(when, vim string, names ...string) {
	s.t.Helper()
	_, idle := s.UpdateIdleVIM(s.t.Context(), vim, false, drain, entry("drain"))
	_, leased := s.UpdateIdleVIM(s.t.Context(), vim, true, drain, entry("drain"))
	for _, err := range []error{idle, leased, s.DeleteVIM(s.t.Context(), vim, false, entry("delete-vim"))} {
		var known *broker.Error
		if !errors.As(err, &known) || !errors.Is(err, broker.ErrConflict) || known.Next != broker.NextEndUses {
			s.t.Errorf("%s deleting the VIM = %v, want that it is in use", when, err)
			continue
		}
		for _, name := range names {
			if !strings.Contains(known.Detail, name) {
				s.t.Errorf("%s the refusal is %q, want %q in it", when, known.Detail, name)
			}
		}
	}
}

// vimUnused fails unless a VIM's deletion can be begun; it is undone.
func (s lifecycleTest) vimUnused(when, vim string) {
	s.t.Helper()
	if _, err := s.UpdateIdleVIM(s.t.Context(), vim, false, func(*broker.VIM) error { return nil }, entry("idle")); err != nil {
		s.t.Errorf("%s the VIM is in use: %v", when, err)
	}
}

// end moves an operation on, and its instance to a VIM; empty is none.
func (s lifecycleTest) end(o lifecycle.Operation, vim string, states ...lifecycle.OperationState) {
	s.t.Helper()
	for _, state := range states {
		_, err := s.UpdateOperation(s.t.Context(), o.ID, func(o *lifecycle.Operation, i *lifecycle.Instance) error {
			if o.State = state; !state.Live() {
				i.Shape.VIM = vim
			}
			return nil
		}, entry("update"))
		if err != nil {
			s.t.Fatal(err)
		}
	}
}

func (s lifecycleTest) takeUp(o lifecycle.Operation) {
	s.t.Helper()
	i, err := s.Instance(s.t.Context(), o.Instance)
	if err == nil {
		err = s.BeginOperation(s.t.Context(), o, i.Revision, nil, entry("begin"))
	}
	if err != nil {
		s.t.Fatalf("BeginOperation = %v", err)
	}
}

func (s lifecycleTest) createVIM(name string) broker.VIM {
	s.t.Helper()
	v := plainVIM("north", name)
	if err := s.CreateVIM(s.t.Context(), v, 0, entry("create-vim")); err != nil {
		s.t.Fatal(err)
	}
	return v
}

// What stands on a VIM keeps it from being deleted, from the beginning of its instantiation to the end of its termination.
func instanceVIMs(t *testing.T, s lifecycleTest) {
	v := s.createVIM("edge")
	i := s.create(bare("web"))
	for when, vim := range map[string]string{"gone": uuid.NewString(), "": ""} {
		o := instantiation(i, vim)
		if err := s.BeginOperation(t.Context(), o, 1, nil, entry("begin")); (vim == "") == errors.Is(err, broker.ErrConflict) {
			t.Errorf("beginning on a VIM that is %q = %v", when, err)
		} else if err == nil {
			s.end(o, "", lifecycle.RolledBack)
		}
	}

	s.vimUnused("before anything stands on it", v.ID)
	back := instantiation(i, v.ID)
	s.takeUp(back)
	s.vimInUse("while an instance is made", v.ID, `"web" (`+i.ID+`) of project north`)
	s.end(back, "", lifecycle.Processing, lifecycle.FailedTemp)
	s.vimInUse("while one waits for a person", v.ID, i.ID)
	s.end(back, "", lifecycle.RollingBack, lifecycle.RolledBack)
	s.vimUnused("after a rollback", v.ID)

	made := instantiation(i, v.ID)
	s.takeUp(made)
	s.end(made, v.ID, lifecycle.Processing, lifecycle.Completed)
	s.vimInUse("when an instance stands there", v.ID, `"web"`)
	renamed := sampleOperation(i)
	renamed.Type, renamed.State, renamed.Before.VIM, renamed.Target.VIM = lifecycle.ModifyInfo, lifecycle.Completed, v.ID, v.ID
	now, err := s.Instance(t.Context(), i.ID)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.BeginOperation(t.Context(), renamed, now.Revision, func(i *lifecycle.Instance) { i.Name = "shop" }, entry("rename")); err != nil {
		t.Fatal(err)
	}
	s.vimInUse("when it is renamed", v.ID, `"shop"`)

	ended := sampleOperation(i)
	ended.Type, ended.Before.VIM, ended.Target.VIM = lifecycle.Terminate, v.ID, ""
	s.takeUp(ended)
	s.vimInUse("while it is terminated", v.ID, i.ID)
	s.end(ended, "", lifecycle.Processing, lifecycle.Completed)
	s.vimUnused("when it is terminated", v.ID)

	other := s.createVIM("cloud")
	both := instantiation(i, v.ID)
	both.Target.More = []lifecycle.Part{{Name: "machines", VIM: uuid.NewString()}}
	if now, err = s.Instance(t.Context(), i.ID); err != nil {
		t.Fatal(err)
	}
	if err := s.BeginOperation(t.Context(), both, now.Revision, nil, entry("begin")); !errors.Is(err, broker.ErrConflict) {
		t.Errorf("beginning with a part on a VIM that is gone = %v", err)
	}
	both.Target.More[0].VIM = other.ID
	s.takeUp(both)
	s.vimInUse("while a part is made there", other.ID, i.ID)
	s.end(both, "", lifecycle.Processing, lifecycle.FailedTemp, lifecycle.RollingBack, lifecycle.RolledBack)
	s.vimUnused("after the rollback of both parts", other.ID)

	manyOnOneVIM(t, s, v)
}

// A refusal names a few of many. Only force gives them up; afterwards they stand on nothing, and can be written.
func manyOnOneVIM(t *testing.T, s lifecycleTest, v broker.VIM) {
	var last lifecycle.Operation
	for n := range broker.MaxUses + 2 {
		last = instantiation(s.create(bare(fmt.Sprint("many-", n))), v.ID)
		s.takeUp(last)
		s.end(last, "", lifecycle.Processing)
	}
	s.vimInUse("with many on it", v.ID, " and 2 more")
	if err := s.DeleteVIM(t.Context(), v.ID, true, entry("delete-vim")); err != nil {
		t.Errorf("DeleteVIM with force = %v", err)
	}
	s.end(last, v.ID, lifecycle.Completed)
	going := s.createVIM("going")
	if _, err := s.UpdateVIM(t.Context(), going.ID, drain, entry("drain")); err != nil {
		t.Fatal(err)
	}
	o := instantiation(s.create(bare("late")), going.ID)
	s.wantError("beginning on a VIM that drains", s.BeginOperation(t.Context(), o, 1, nil, entry("begin")), broker.ErrConflict)
}

// VIMRace has one replica instantiate while the other begins to delete the VIM, and while it deletes it: one of them is
// refused, whoever was first.
func VIMRace(t *testing.T, one, other LifecycleStore) {
	if _, err := one.Package(t.Context(), sampleShape().Package); err != nil {
		p := emptyPackage("north")
		p.ID = sampleShape().Package
		createPackage(t, one, p)
	}
	s := lifecycleTest{LifecycleStore: one, t: t}
	for n := range 40 {
		v := s.createVIM(fmt.Sprint("race-", n))
		i := s.create(bare("web"))
		var begun, deleted error
		var both sync.WaitGroup
		both.Go(func() {
			begun = one.BeginOperation(t.Context(), instantiation(i, v.ID), 1, nil, entry("begin"))
		})
		both.Go(func() {
			if n%2 == 0 {
				deleted = other.DeleteVIM(t.Context(), v.ID, false, entry("delete-vim"))
				return
			}
			_, deleted = other.UpdateIdleVIM(t.Context(), v.ID, true, drain, entry("drain"))
		})
		both.Wait()
		if (begun == nil) == (deleted == nil) {
			t.Errorf("begun: %v, deleted: %v, want one of them refused", begun, deleted)
		}
		for what, err := range map[string]error{"the beginning": begun, "the deletion": deleted} {
			if err != nil {
				s.wantError(what, err, broker.ErrConflict)
			}
		}
	}
}

// Occupy puts an instance named "web", of project north, onto a VIM, and returns it with what takes it away again.
func Occupy(t *testing.T, store LifecycleStore, vim string) (i lifecycle.Instance, leave func()) {
	t.Helper()
	s := lifecycleTest{LifecycleStore: store, t: t}
	p := emptyPackage("north")
	createPackage(t, store, p)
	i = bare("web")
	i.Shape.Package = p.ID
	made := instantiation(s.create(i), vim)
	made.Before.Package, made.Target.Package = p.ID, p.ID
	s.takeUp(made)
	s.end(made, vim, lifecycle.Processing, lifecycle.Completed)
	return i, func() {
		ended := sampleOperation(i)
		ended.Type, ended.Before, ended.Target = lifecycle.Terminate, made.Target, made.Before
		s.takeUp(ended)
		s.end(ended, "", lifecycle.Processing, lifecycle.Completed)
	}
}
