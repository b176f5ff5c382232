package onboard_test

import (
	"strings"
	"testing"
	"time"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/broker/onboard"
)

// A cluster whose project has as many VIMs as it may waits, says so, and is registered once there
// is room.
func TestClusterWaitsForTheQuota(t *testing.T) {
	b := newBench(t)
	b.serve(func(terms *broker.Terms) { terms.VIMs.PerProject = 1 })
	b.watch()
	b.cluster("b", "first")
	b.look("b", "first")
	first := b.want("b", "first", onboard.StateRegistered, "")
	b.cluster("b", "second")
	b.cluster("a", "elsewhere")
	again := b.look("b", "second")
	if c := b.want("b", "second", onboard.StateWaiting, onboard.ReasonRefused); !strings.Contains(c.Message, "quota vims") || again <= 0 {
		t.Errorf("a cluster beyond the quota says %q, and is tried again in %v", c.Message, again)
	}
	b.look("a", "elsewhere")
	b.want("a", "elsewhere", onboard.StateRegistered, "") // in another project

	b.source.drop("b", "first")
	b.gone("b", "first")
	b.clock.Add(time.Minute)
	b.look("b", "first")
	if _, err := b.VIM(t.Context(), root, first.VIM); err == nil {
		t.Fatal("the VIM of a cluster that is gone is there still")
	}
	b.clock.Add(again)
	b.look("b", "second")
	b.want("b", "second", onboard.StateRegistered, "")
}
