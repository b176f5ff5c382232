package clusterapi

import "time"

// NewAfter is New with timers of a test's own.
func NewAfter(after func(time.Duration) <-chan time.Time) *Driver {
	d := New()
	d.after = after
	return d
}
