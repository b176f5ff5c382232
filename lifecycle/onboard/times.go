package onboard

import (
	"sync"
	"time"
)

// TimeBuckets are the bounds of [Times], in seconds.
var TimeBuckets = []float64{1, 2.5, 5, 10, 30, 60, 300, 1800}

// Times says how long clusters took from a control plane that is up to a VIM that is
// registered, since this process started.
type Times struct {
	Count uint64
	// Sum is in seconds; Within counts by each of [TimeBuckets].
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
	for _, bound := range TimeBuckets {
		if d.Seconds() <= bound {
			t.all.Within[bound]++
		}
	}
}
