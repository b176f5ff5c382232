package bench

import (
	"fmt"
	"strings"
	"testing"
	"time"

	v1 "github.com/vimbroker/vimbroker/broker/api/v1"
	"github.com/vimbroker/vimbroker/test/fakekube"
)

const (
	// wellClusters become ready at once, and later lateClusters more, one after the other:
	// alone, and beside darkClusters that take connections and answer nothing and
	// refusingClusters that answer 401.
	wellClusters, lateClusters     = 175, 40
	darkClusters, refusingClusters = 20, 5
	// troubleTurns is how often each of the two is measured, on a server of its own.
	troubleTurns = 4
	// troubleGoal bounds how much later the others are VIMs for it.
	troubleGoal = 1.1
)

// onboardTrouble measures how much later clusters are VIMs beside some that do not answer or
// refuse their credential. Those in trouble are shown first.
func onboardTrouble(b *testing.B, p *program) *figure {
	b.Helper()
	const alone, beside = 0, 1
	var atOnce, late [2]sample
	for i := range troubleTurns {
		for k := range 2 {
			which := (i + k) % 2
			once, then := troubled(b, p, which == beside)
			atOnce[which], late[which] = append(atOnce[which], once...), append(late[which], then...)
		}
	}
	with := fmt.Sprintf(", beside %d dark and %d that answer 401", darkClusters, refusingClusters)
	f := &figure{Title: fmt.Sprintf("From ready to registered, of %d clusters beside %d in trouble", wellClusters, darkClusters+refusingClusters)}
	for _, m := range []struct {
		what string
		took [2]sample
	}{{"all at once", atOnce}, {"one after the other", late}} {
		base := timed(m.what, m.took[alone])
		f.Rows = append(f.Rows, base, timed(m.what+with, m.took[beside]).over(base).ratioGoal(troubleGoal))
	}
	return f
}

// troubled says how long clusters take from ready to registered on a new server: so many that
// are ready at once, and then some one after the other.
func troubled(b *testing.B, p *program, trouble bool) (atOnce, late sample) {
	b.Helper()
	n := newNursery(b, p)
	defer n.program.Kill()
	if trouble {
		for i := range darkClusters + refusingClusters {
			k := fakekube.New(b, fakekube.Options{})
			defer k.Close() // it counts as no trouble of the next turn
			config := k.Kubeconfig()
			if i < darkClusters {
				k.BlackHole(true)
			} else {
				config = strings.Replace(config, k.AdminToken, "refused", 1)
			}
			n.grow(fmt.Sprintf("a%03d", i), config)
		}
	}
	kubes := make([]*fakekube.Server, wellClusters+lateClusters)
	for i := range kubes {
		kubes[i] = fakekube.New(b, fakekube.Options{})
		defer kubes[i].Close()
	}
	for i, k := range kubes[:wellClusters] {
		n.grow(fmt.Sprintf("c%03d", i), k.Kubeconfig())
	}
	all := n.await("registered", wellClusters)
	if len(all) < wellClusters {
		b.Fatalf("%d clusters are registered after %v, want %d", len(all), onboardLimit, wellClusters)
	}
	atOnce = n.took(all)
	for i, k := range kubes[wellClusters:] {
		name := fmt.Sprintf("d%03d", i)
		n.grow(name, k.Kubeconfig())
		late = append(late, n.took([]v1.WorkloadCluster{n.registered(name)})...)
	}
	return atOnce, late
}

// registered waits until a cluster is.
func (n *nursery) registered(name string) v1.WorkloadCluster {
	n.b.Helper()
	for began := time.Now(); time.Since(began) < onboardLimit; time.Sleep(20 * time.Millisecond) {
		if w := n.one(name); w.State == "registered" {
			return w
		}
	}
	n.b.Fatalf("%s is not registered after %v", name, onboardLimit)
	return v1.WorkloadCluster{}
}
