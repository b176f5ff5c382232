// Package clock is the time of tests: it stands until it is moved.
package clock

import (
	"sync"
	"testing"
	"time"
)

// Clock is a clock that stands until it is moved. It is safe for concurrent use.
type Clock struct {
	mu  sync.Mutex
	now time.Time
}

// New makes a clock that shows this time.
func New(now time.Time) *Clock { return &Clock{now: now} }

// Now is the time.
func (c *Clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

// Set makes the clock show this time.
func (c *Clock) Set(now time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = now
}

// Add moves the clock.
func (c *Clock) Add(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}

// Await moves the clock by seconds until done, for that long at most, and reports
// whether it was.
func (c *Clock) Await(_ *testing.T, most time.Duration, done func() bool) bool {
	for waited := time.Duration(0); !done(); waited += time.Second {
		if waited > most {
			return false
		}
		c.Add(time.Second)
	}
	return true
}
