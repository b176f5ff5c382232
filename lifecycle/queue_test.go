package lifecycle_test

import (
	"context"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/lifecycle"
	"github.com/vimbroker/vimbroker/policy"
	"github.com/vimbroker/vimbroker/test/testlog"
)

// asked asks for the instantiation of a new instance.
func (p *plant) asked(who policy.Principal, vim string) lifecycle.Operation {
	p.t.Helper()
	i, err := p.CreateInstance(p.t.Context(), who, lifecycle.NewInstance{VNFDID: "web-1"})
	if err != nil {
		p.t.Fatal(err)
	}
	o, err := p.Instantiate(p.t.Context(), who, i.ID, lifecycle.Instantiation{VIM: vim})
	if err != nil {
		p.t.Fatal(err)
	}
	return o
}

// now is an operation as its project sees it.
func (p *plant) now(o lifecycle.Operation) lifecycle.Operation {
	p.t.Helper()
	o, err := p.Operation(p.t.Context(), policy.Principal{Name: "reader", Project: o.Project, Roles: []string{policy.RoleReader}}, o.ID)
	if err != nil {
		p.t.Fatal(err)
	}
	return o
}

// TestTurn: beyond the bounds operations wait in STARTING; they say why, have their whole time from their turn on,
// and can be canceled.
func TestTurn(t *testing.T) {
	p := newPlant(t, func(terms *lifecycle.Terms) { terms.PerProject, terms.PerVIM = 2, 1 })
	ask := func(vim string) lifecycle.Operation {
		p.clock.Add(time.Second)
		return p.asked(alice, vim)
	}
	first, second, other, third := ask("edge"), ask("edge"), ask("far"), ask("edge")
	for _, o := range []*lifecycle.Operation{&first, &second, &third, &other} {
		want := o == &second || o == &third
		if *o = p.now(*o); o.State != lifecycle.Starting || o.Waits() != want || (o.Waiting != nil) != want {
			t.Errorf("%s: waits %t (%+v), want %t", o.State, o.Waits(), o.Waiting, want)
		}
	}
	if w := third.Waiting; w == nil || w.Position != 2 || !strings.Contains(w.Reason, "operationsPerProject") || !w.Since.Equal(p.clock.Now()) {
		t.Errorf("the third waits with %+v", w)
	}
	if v := p.Vitals(t.Context()); len(v.Live) != 1 || v.Live[0].Count != 4 || v.Live[0].Waiting != 2 {
		t.Errorf("live are %+v", v.Live)
	}
	p.completes(other, nil)
	if second = p.now(second); !strings.Contains(second.Warrant, "tokens file") || second.Waiting == nil || !strings.Contains(second.Waiting.Reason, "operationsPerVIM") {
		t.Errorf("the second waits with %+v", second.Waiting)
	}
	canceled, err := p.Cancel(t.Context(), alice, second.ID, lifecycle.Graceful)
	if err != nil || canceled.State != lifecycle.RolledBack || canceled.Failure == nil || canceled.Failure.Title != "canceled" {
		t.Errorf("Cancel() = %s %+v, %v", canceled.State, canceled.Failure, err)
	}
	p.clock.Add(20 * time.Minute) // more than an operation has
	p.yard.failsAt(0, &broker.Error{Kind: lifecycle.ErrNotReady})
	p.ends(lifecycle.FailedTemp, first, nil)
	if third = p.now(third); third.Waits() || third.Deadline.Sub(p.clock.Now()) != lifecycle.DefaultTerms().Patience {
		t.Errorf("the third waits %t, with %v left", third.Waits(), third.Deadline.Sub(p.clock.Now()))
	}
	// One that has failed keeps nobody waiting, and waits when it is retried.
	if first, err = p.Retry(t.Context(), alice, first.ID); err != nil {
		t.Fatal(err)
	}
	if first = p.now(first); first.State != lifecycle.Processing || !first.Waits() {
		t.Errorf("after the retry the first is %s, waits %t", first.State, first.Waits())
	}
	if first, err = p.Cancel(t.Context(), alice, first.ID, lifecycle.Forceful); err != nil || first.State != lifecycle.FailedTemp {
		t.Errorf("Cancel() of the retry = %s, %v", first.State, err)
	}
	p.completes(third, nil)
	p.completes(p.Retry(t.Context(), alice, first.ID))
}

// TestTurnIsGivenByThePass: what a process that died has left out.
func TestTurnIsGivenByThePass(t *testing.T) {
	p := newPlant(t, func(terms *lifecycle.Terms) { terms.PerProject = 1 })
	first, second := p.asked(alice, "edge"), p.asked(alice, "edge")
	if _, err := p.store.UpdateOperation(t.Context(), first.ID, func(o *lifecycle.Operation, _ *lifecycle.Instance) error {
		o.State = lifecycle.RolledBack
		return nil
	}, p.entries()[0]); err != nil {
		t.Fatal(err)
	}
	if !p.now(second).Waits() {
		t.Fatal("the second does not wait")
	}
	for _, pass := range p.Passes() {
		if pass.Name == "operation-turns" {
			if err := pass.Run(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
	}
	if p.now(second).Waits() {
		t.Error("the second waits after the pass")
	}
}

// TestManyOfOneProject: a hundred operations of one project, on a VIM that stands still, keep no other project's first
// from being worked by the same process on the same VIM, and never are more of them worked than are allowed.
func TestManyOfOneProject(t *testing.T) {
	p := newPlant(t, func(terms *lifecycle.Terms) { terms.PerProject, terms.PerVIM = 3, 8 })
	p.lends.out.None()
	var mu sync.Mutex
	most, under, mine := 0, map[string]bool{}, map[string]bool{}
	release := make(chan struct{})
	p.yard.entering = func(ctx context.Context, instance string) {
		mu.Lock()
		ours := mine[instance]
		if ours {
			under[instance] = true
			most = max(most, len(under))
		}
		mu.Unlock()
		if !ours {
			return
		}
		select {
		case <-release:
		case <-ctx.Done():
		}
	}
	ctx, stop := context.WithCancel(t.Context())
	ran := make(chan error, 1)
	go func() {
		ran <- p.store.Run(ctx, nil, testlog.Silent(t), p.Worker())
	}()
	var all []lifecycle.Operation
	for range 100 {
		i, err := p.CreateInstance(t.Context(), alice, lifecycle.NewInstance{VNFDID: "web-1"})
		if err != nil {
			t.Fatal(err)
		}
		mu.Lock()
		mine[i.ID] = true
		mu.Unlock()
		o, err := p.Instantiate(t.Context(), alice, i.ID, lifecycle.Instantiation{VIM: "edge"})
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, o)
		p.clock.Add(time.Millisecond)
	}
	first := p.asked(carol, "edge")
	ends := func(o lifecycle.Operation) {
		t.Helper()
		for deadline := time.Now().Add(2 * time.Minute); ; time.Sleep(10 * time.Millisecond) {
			if o = p.now(o); o.State == lifecycle.Completed {
				return
			}
			if !o.State.Working() || time.Now().After(deadline) {
				t.Fatalf("the operation is %s, waits %+v, %+v", o.State, o.Waiting, o.Failure)
			}
		}
	}
	ends(first)
	if last := p.now(all[99]); last.Waiting == nil || last.Waiting.Position != 97 {
		t.Errorf("the last of the hundred waits with %+v", last.Waiting)
	}
	mu.Lock()
	if most > 3 {
		t.Errorf("%d operations of the project were worked at the same time, want 3", most)
	}
	mu.Unlock()
	close(release)
	ends(all[99])
	stop()
	if err := <-ran; err != nil {
		t.Error(err)
	}
}
