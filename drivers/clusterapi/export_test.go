package clusterapi

import (
	"context"
	"time"

	"github.com/vimbroker/vimbroker/broker/onboard"
)

// NewAfter is New with timers of a test's own.
func NewAfter(after func(time.Duration) <-chan time.Time) *Driver {
	d := New()
	d.after = after
	return d
}

// Follow follows one kind of object, by its metadata.
func Follow(ctx context.Context, d *Driver, access func() onboard.ManagementAccess, path string, seen func(name string)) error {
	return follow(ctx, d, access, followed[metadata]{
		path: []string{path}, what: "all", version: func(m metadata) string { return m.Metadata.ResourceVersion }, trim: (*metadata).trim,
		all: func([]metadata) { seen("all") },
		one: func(m metadata, _ bool) { seen(m.Metadata.Name) },
	})
}
