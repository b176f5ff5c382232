package broker_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/broker/secret"
)

// An operator sees how passes fare, how late leases end, and how actions end.
func TestVitals(t *testing.T) {
	b := newBench(t, benchOptions{})
	b.mustRegister(alice, "edge1")
	l, _ := b.mustIssue(alice, "edge1")
	pass := func(ctx context.Context, name string) error {
		t.Helper()
		for _, p := range b.Passes() {
			if p.Name == name {
				return p.Run(ctx)
			}
		}
		t.Fatalf("there is no pass %q", name)
		return nil
	}
	if v := b.Vitals(t.Context()); len(v.Passes) != 0 || v.ExpiryLag.Count != 0 || v.DeathLag.Count != 0 {
		t.Errorf("Vitals before anything ran = %+v", v)
	}

	b.clock.Add(l.ExpiresAt.Sub(b.clock.Now()) + 20*time.Second)
	if err := pass(t.Context(), "reap"); err != nil {
		t.Fatal(err)
	}
	b.clock.Add(3 * time.Second)
	if err := pass(t.Context(), "reap"); err != nil {
		t.Fatal(err)
	}
	good := b.clock.Now()
	v := b.Vitals(t.Context())
	if p := v.Passes["reap"]; !p.LastSuccess.Equal(good) || p.Failures != 0 {
		t.Errorf("the pass = %+v, want its last success at %v", p, good)
	}
	wantLag(t, "from expiry to revocation", v.ExpiryLag, 20*time.Second)
	wantLag(t, "from revocation to refusal", v.DeathLag, 3*time.Second)
	if v.Counted == nil || v.Counted.Leases[broker.LeaseRevoked] != 1 {
		t.Errorf("what the store counts = %+v, want one revoked lease", v.Counted)
	}

	// A lease that somebody revokes is not late.
	l, _ = b.mustIssue(alice, "edge1")
	b.clock.Add(time.Minute)
	b.mustRevoke(l.ID)
	if v := b.Vitals(t.Context()); v.ExpiryLag.Count != 1 {
		t.Errorf("%d leases were late, want one", v.ExpiryLag.Count)
	}

	stopped, stop := context.WithCancel(t.Context())
	stop()
	if err := pass(stopped, "reap"); err == nil {
		t.Fatal("a pass that was stopped succeeded")
	}
	if p := b.Vitals(t.Context()).Passes["reap"]; p.Failures != 1 || !p.LastSuccess.Equal(good) {
		t.Errorf("the pass = %+v, want one failure, and the last success at %v", p, good)
	}
}

func wantLag(t *testing.T, what string, l broker.Lag, d time.Duration) {
	t.Helper()
	if l.Count != 1 || l.Sum != d {
		t.Errorf("%s: %+v, want one of %v", what, l, d)
	}
	for i, bound := range broker.LagBounds {
		if l.Buckets[i] != 0 != (d <= bound) {
			t.Errorf("%s: %d are at most %v", what, l.Buckets[i], bound)
		}
	}
}

// checkedKeys counts how often it is checked, and cannot be used while down.
type checkedKeys struct {
	secret.KeyStore
	checks int
	down   bool
}

func (k *checkedKeys) Check(context.Context) error {
	k.checks++
	if k.down {
		return secret.ErrUnavailable
	}
	return nil
}

// Some key stores write to be checked, and anybody may read the metrics.
func TestVitalsCheckKeyStoresNowAndThen(t *testing.T) {
	b := newBench(t, benchOptions{})
	keys := &checkedKeys{KeyStore: b.keys}
	options := b.options
	options.Keys = []secret.KeyStore{keys}
	b.Broker = mustNew(t, options)
	want := func(when string, usable bool, checks int) {
		t.Helper()
		if up := b.Vitals(t.Context()).KeyStores["keydir"]; up != usable || keys.checks != checks {
			t.Errorf("%s the key store can be used: %t, after %d checks; want %t after %d", when, up, keys.checks, usable, checks)
		}
	}
	want("at first", true, 1)
	keys.down = true
	b.clock.Add(29 * time.Second)
	want("soon after", true, 1)
	b.clock.Add(time.Second)
	want("half a minute later", false, 2)
	keys.down = false
	b.clock.Add(-time.Minute) // the clock was set back
	want("before the last check", true, 3)
}

// slowStore says when it is checked, and answers when it is told to.
type slowStore struct {
	broker.Store
	asked, answer chan struct{}
}

func (s slowStore) Check(context.Context) error {
	s.asked <- struct{}{}
	<-s.answer
	return nil
}

// Anybody may ask whether the server is ready: many who ask at once cost what one does.
func TestManyWhoAskWhetherItIsReady(t *testing.T) {
	b := newBench(t, benchOptions{})
	store := slowStore{b.options.Store, make(chan struct{}, 100), make(chan struct{})}
	options := b.options
	options.Store = store
	b.Broker = mustNew(t, options)
	first := make(chan error)
	gone, leave := context.WithCancel(t.Context())
	go func() { first <- b.Ready(gone) }()
	<-store.asked
	leave() // the first goes, and who asks next still gets its answer
	if err := <-first; !errors.Is(err, broker.ErrUnavailable) {
		t.Errorf("Ready, for who does not wait = %v", err)
	}
	for range 20 {
		if err := b.Ready(gone); !errors.Is(err, broker.ErrUnavailable) {
			t.Errorf("Ready = %v", err)
		}
	}
	if n := len(store.asked); n > 0 {
		t.Errorf("the store was asked %d times more", n)
	}
	go func() { first <- b.Ready(t.Context()) }()
	close(store.answer)
	if err := <-first; err != nil {
		t.Errorf("Ready = %v", err)
	}
}
