package onboard

import (
	"context"
	"sync"
	"time"
)

// timeBuckets are the bounds of [Times], in seconds.
var timeBuckets = []float64{1, 2.5, 5, 10, 30, 60, 300, 1800}

// Times says how long clusters took from a control plane that is up to a VIM that is
// registered, since this process started.
type Times struct {
	Count uint64
	// Sum is in seconds; Within counts those that took no longer than each bound.
	Sum    float64
	Within map[float64]uint64
}

type times struct {
	mu  sync.Mutex
	all Times
}

func (t *times) observe(d time.Duration) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.all.Within == nil {
		t.all.Within = map[float64]uint64{}
	}
	t.all.Count++
	t.all.Sum += d.Seconds()
	for _, bound := range timeBuckets {
		if d.Seconds() <= bound {
			t.all.Within[bound]++
		}
	}
}

// Times are those that were observed.
func (o *Onboarding) Times() Times {
	o.times.mu.Lock()
	defer o.times.mu.Unlock()
	shown := Times{Count: o.times.all.Count, Sum: o.times.all.Sum, Within: map[float64]uint64{}}
	for _, bound := range timeBuckets {
		shown.Within[bound] = o.times.all.Within[bound]
	}
	return shown
}

// Count counts all clusters and management clusters.
func (o *Onboarding) Count(ctx context.Context) (Count, error) {
	c, err := o.store.CountClusters(ctx)
	if err != nil {
		return c, err
	}
	all, err := o.store.Managements(ctx)
	for _, m := range all {
		c.Managements++
		if m.Trouble != "" {
			c.Troubled++
		}
		if !m.HeldAt.IsZero() {
			c.Held++
		}
	}
	return c, err
}
