package onboard

import (
	"context"
	"errors"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/policy"
	"github.com/vimbroker/vimbroker/test/testlog"
)

// endless has every VIM, of the project that its id begins with, and ends no lease before the watch ends.
type endless struct {
	Broker
	watched atomic.Int32
}

func (*endless) VIM(_ context.Context, _ policy.Principal, ref string) (broker.VIM, error) {
	project, _, _ := strings.Cut(ref, "/")
	return broker.VIM{ID: ref, Project: project}, nil
}

func (e *endless) RevokeLeases(ctx context.Context, _ policy.Principal, _ broker.LeaseSelector) ([]broker.Lease, error) {
	e.watched.Add(1)
	<-ctx.Done()
	return nil, ctx.Err()
}

// A project that has many management clusters leaves places to others', and is told so.
func TestAProjectLeavesWatchersToOthers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := &endless{}
		o := New(Options{Broker: b, Log: testlog.Silent(t)})
		ctx, cancel := context.WithCancel(t.Context())
		var all sync.WaitGroup
		var told atomic.Int32
		for range maxWatched {
			all.Go(func() {
				if err := o.watch(ctx, Management{VIM: "loud/v"}); errors.Is(err, broker.ErrUnavailable) {
					told.Add(1)
				}
			})
		}
		synctest.Wait()
		if n := b.watched.Load(); n != watchedOfProject || told.Load() != maxWatched-watchedOfProject {
			t.Errorf("%d of a project are watched and %d are told that they wait, want %d of %d", n, told.Load(), watchedOfProject, maxWatched)
		}
		all.Go(func() { _ = o.watch(ctx, Management{VIM: "quiet/v"}) })
		synctest.Wait()
		if n := b.watched.Load(); n != watchedOfProject+1 {
			t.Error("another project's is not watched")
		}
		cancel()
		all.Wait()
		again, cancel := context.WithCancel(t.Context())
		all.Go(func() { _ = o.watch(again, Management{VIM: "loud/v"}) })
		synctest.Wait()
		if n := b.watched.Load(); n != watchedOfProject+2 {
			t.Error("a place that was given away is not taken again")
		}
		cancel()
		all.Wait()
	})
}
