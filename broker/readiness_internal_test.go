package broker

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/vimbroker/vimbroker/test/clock"
	"github.com/vimbroker/vimbroker/test/testlog"
)

// What was found long ago counts for nothing: what is asked has hung since, or the process was stopped.
func TestALookGrowsOld(t *testing.T) {
	for _, found := range []error{nil, errors.New("away")} {
		c := clock.New(time.Now())
		p := &probe{name: "database", ask: func(context.Context) error { return found }, every: lookAtStoreEvery, clock: c.Now}
		if err := p.known(); !errors.Is(err, errNotLooked) {
			t.Errorf("before the first look: %v", err)
		}
		if err := p.look(t.Context(), testlog.Silent(t)); !errors.Is(err, found) {
			t.Fatal(err)
		}
		c.Add(3*lookAtStoreEvery + lookTime)
		if err := p.known(); !errors.Is(err, found) {
			t.Errorf("a look that may be the last one, and has found %v: %v", found, err)
		}
		c.Add(time.Second)
		if err := p.known(); err == nil || !strings.HasPrefix(err.Error(), "has not answered for 21s") {
			t.Errorf("a look of long ago that has found %v counts: %v", found, err)
		}
	}
}

// A look that fails because its process ends finds nothing out.
func TestALookThatEndsFindsNothing(t *testing.T) {
	asked := errors.New("away")
	p := &probe{name: "database", ask: func(context.Context) error { return asked }, every: lookAtStoreEvery, clock: time.Now}
	ended, end := context.WithCancel(t.Context())
	end()
	if err := p.look(ended, testlog.Silent(t)); !errors.Is(err, asked) {
		t.Errorf("it says %v", err)
	}
	if err := p.known(); !errors.Is(err, errNotLooked) {
		t.Errorf("known is %v", err)
	}
}

// A server that ends before it has looked at anything waits for no look, and takes its row with it.
func TestProbingEndsBeforeItsFirstLook(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStage(t)
		s.Oversight.storeProbe.ask = func(context.Context) error { return nil }
		ctx, end := context.WithCancel(t.Context())
		end()
		const starts = 20 // of which some look all the same
		for range starts {
			looked := make(chan struct{})
			s.KeepProbing(ctx, looked)
			<-looked
		}
		if s.count("RemoveReplica") != starts {
			t.Errorf("the steps are %q", s.taken)
		}
	})
}

// A server that ends waits for a look under way, which would write its row anew, before it takes that with it.
func TestProbingEndsAfterItsLastLook(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStage(t)
		looks, begun, release := 0, make(chan struct{}), make(chan struct{})
		s.Oversight.storeProbe.ask = func(context.Context) error {
			if looks++; looks == 2 {
				close(begun)
				<-release
			}
			return nil
		}
		ctx, end := context.WithCancel(t.Context())
		looked, ended := make(chan struct{}), make(chan struct{})
		go func() {
			s.KeepProbing(ctx, looked)
			close(ended)
		}()
		<-looked
		if looks == 0 {
			t.Error("it is ready before it has looked")
		}
		<-begun
		end()
		synctest.Wait()
		if s.count("RemoveReplica") != 0 {
			t.Error("the row is removed while a look is under way")
		}
		close(release)
		<-ended
		if s.count("RemoveReplica") != 1 {
			t.Errorf("the steps are %q", s.taken)
		}
	})
}
