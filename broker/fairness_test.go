package broker_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/policy"
	"github.com/vimbroker/vimbroker/test/fakekube"
)

// Many VIMs of one project that hang keep no other project's from its checks: not from the
// one that is due when the pass begins, nor from one that falls due while they hang.
func TestHangingVIMsDelayNoOtherProjectsChecks(t *testing.T) {
	b := newBench(t, benchOptions{terms: func(terms *broker.Terms) {
		terms.CallTimeout, terms.ReapEvery = time.Hour, 10*time.Millisecond
	}})
	loud := policy.Principal{Name: "loud", Project: "a-loud", Roles: []string{policy.RoleAdmin}}
	var hang []string
	for i := range 20 {
		hang = append(hang, b.mustRegister(loud, fmt.Sprint("hangs-", i)).ID)
	}
	well := fakekube.New(t, fakekube.Options{Now: b.clock.Now})
	hanging := b.kube
	b.kube = well
	quiet := b.mustRegister(alice, "quiet")

	hanging.BlackHole(true)
	b.clock.Add(10 * time.Minute)
	over := make(chan error, 1)
	go func() { over <- b.CheckDue(t.Context()) }()
	wait := time.After(time.Minute)
	for range 2 {
		for checked := false; !checked; {
			v, err := b.store.VIM(t.Context(), quiet.ID)
			if err != nil {
				t.Fatal(err)
			}
			checked = v.Health.CheckedAt.Equal(b.clock.Now())
			select {
			case err := <-over:
				t.Fatalf("the pass is over while VIMs hang: %v", err)
			case <-wait:
				t.Fatal("a VIM is not checked while those of another project hang")
			case <-time.After(5 * time.Millisecond):
			}
		}
		for _, id := range hang {
			// Two rounds take far less than the half minute after which they are given up.
			if v, err := b.store.VIM(t.Context(), id); err != nil || v.Health.Status != broker.HealthReachable {
				t.Fatalf("a VIM that hangs was given up before that of another project was checked: %s, %v", v.Health.Status, err)
			}
		}
		b.clock.Add(10 * time.Minute)
	}
	hanging.BlackHole(false)
	if err := <-over; err != nil {
		t.Errorf("CheckDue = %v", err)
	}
}
