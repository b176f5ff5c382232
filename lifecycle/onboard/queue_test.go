package onboard

import (
	"context"
	"sync"
	"testing"
	"time"
)

// TestClustersAreLookedAtSideBySide: those that hang delay no other, and none is looked at
// by two at a time.
func TestClustersAreLookedAtSideBySide(t *testing.T) {
	q := newQueue(time.Now)
	const hang, others = 20, 200
	for i := range hang + others {
		q.add(key{"a", string(rune('a' + i))}, 0)
	}
	ctx, cancel := context.WithCancel(t.Context())
	var mu sync.Mutex
	looked, at := map[key]int{}, map[key]bool{}
	done, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		q.run(ctx, atOnce, time.After, func(k key) time.Duration {
			mu.Lock()
			if at[k] {
				t.Errorf("%v is looked at twice at a time", k)
			}
			at[k] = true
			looked[k]++
			hangs := []rune(k.name)[0] < 'a'+hang
			finished := len(looked) == hang+others
			mu.Unlock()
			if finished {
				close(done)
			}
			if hangs {
				<-ctx.Done()
			}
			mu.Lock()
			at[k] = false
			mu.Unlock()
			return 0
		})
	}()
	select {
	case <-done:
	case <-time.After(20 * time.Second):
		t.Error("clusters that hang keep others from being looked at")
	}
	cancel()
	<-stopped
}

// TestAKeyThatIsAddedMeanwhileComesAgain: what changed during a look is not lost.
func TestAKeyThatIsAddedMeanwhileComesAgain(t *testing.T) {
	now := time.Unix(1000, 0)
	q := newQueue(func() time.Time { return now })
	k := key{"a", "edge"}
	q.add(k, time.Minute)
	if _, wait, ok := q.take(); ok || wait != time.Minute {
		t.Errorf("a key that is not due is handed out: %v, wait %v", ok, wait)
	}
	q.add(k, 0) // an earlier time counts
	if got, _, ok := q.take(); !ok || got != k {
		t.Fatal("a key that is due is not handed out")
	}
	q.add(k, 0)
	if _, _, ok := q.take(); ok {
		t.Error("a key is handed out twice at a time")
	}
	q.done(k)
	if _, _, ok := q.take(); !ok {
		t.Error("a key that was added meanwhile does not come again")
	}
}

// TestNoMoreAreLookedAtAtOnce: so many and no more, however many are due.
func TestNoMoreAreLookedAtAtOnce(t *testing.T) {
	q := newQueue(time.Now)
	const most, due = 4, 40
	for i := range due {
		q.add(key{"a", string(rune('a' + i))}, 0)
	}
	ctx, cancel := context.WithCancel(t.Context())
	begun, release, stopped := make(chan struct{}, due), make(chan struct{}), make(chan struct{})
	var mu sync.Mutex
	at, peak := 0, 0
	go func() {
		defer close(stopped)
		q.run(ctx, most, time.After, func(key) time.Duration {
			mu.Lock()
			at++
			peak = max(peak, at)
			mu.Unlock()
			begun <- struct{}{}
			<-release
			mu.Lock()
			at--
			mu.Unlock()
			return 0
		})
	}()
	for n := range due {
		<-begun
		if n >= most-1 { // as many as may be are at it
			release <- struct{}{}
		}
	}
	for range most - 1 {
		release <- struct{}{}
	}
	cancel()
	<-stopped
	if peak != most {
		t.Errorf("%d were looked at at once, want %d", peak, most)
	}
}
