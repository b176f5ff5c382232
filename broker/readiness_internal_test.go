package broker

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/vimbroker/vimbroker/test/clock"
	"github.com/vimbroker/vimbroker/test/testlog"
)

// What was found long ago counts for nothing: what is asked has hung since, or the process was stopped.
func TestALookGrowsOld(t *testing.T) {
	c := clock.New(time.Now())
	p := &probe{name: "database", ask: func(context.Context) error { return nil }, every: lookAtStoreEvery, clock: c.Now}
	if err := p.known(); !errors.Is(err, errNotLooked) {
		t.Errorf("before the first look: %v", err)
	}
	if err := p.look(t.Context(), testlog.Silent(t)); err != nil {
		t.Fatal(err)
	}
	c.Add(3*lookAtStoreEvery + lookTime)
	if err := p.known(); err != nil {
		t.Errorf("a look that may be the last one: %v", err)
	}
	c.Add(time.Second)
	if err := p.known(); err == nil {
		t.Error("a look of long ago counts")
	}
}
