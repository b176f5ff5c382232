package broker_test

import (
	"context"
	"testing"
	"time"

	"github.com/vimbroker/vimbroker/broker"
)

// An operator sees how passes fare, how late leases end, and how actions end.
func TestVitals(t *testing.T) {
	b := newBench(t, benchOptions{})
	b.mustRegister(alice, "edge1")
	l, _ := b.mustIssue(alice, "edge1")
	if v := b.Vitals(t.Context()); len(v.Passes) != 0 || v.ExpiryLag.Count != 0 || v.DeathLag.Count != 0 {
		t.Errorf("Vitals before anything ran = %+v", v)
	}
	passes, began := b.Watch(b.Passes()...), b.clock.Now()
	pass := func(ctx context.Context, name string) error {
		t.Helper()
		for _, p := range passes {
			if p.Name == name {
				return p.Run(ctx)
			}
		}
		t.Fatalf("there is no pass %q", name)
		return nil
	}
	if p := b.Vitals(t.Context()).Passes["reap"]; !p.LastSuccess.Equal(began) || p.Every <= 0 {
		t.Errorf("the pass = %+v before it has run, want it to be well since %v", p, began)
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
	v.ExpiryLag.Buckets[0], v.DeathLag.Buckets[0] = 1000, 1000 // a caller's figures are its own
	if v := b.Vitals(t.Context()); v.ExpiryLag.Buckets[0] == 1000 || v.DeathLag.Buckets[0] == 1000 {
		t.Errorf("the lags are a caller's: %+v, %+v", v.ExpiryLag, v.DeathLag)
	}
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
