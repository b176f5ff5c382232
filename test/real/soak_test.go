package real_test

import (
	"testing"
	"time"

	"github.com/vimbroker/vimbroker/test/real"
)

// TestKubectlThroughThePlugin calls kubectl every second through the exec plugin, with
// tokens of the shortest life, each of which is shared for half of it. "make soak"
// has it go through many.
func TestKubectlThroughThePlugin(t *testing.T) {
	t.Parallel()
	const life, calls, late = 10 * time.Minute, 10, 20 * time.Second
	b := sitDown(t, real.Kubernetes(t))
	b.Must(t, "vimbroker vim register --kubeconfig ~/.kube/config edge")
	b.Must(t, "vimbroker lease issue --vim edge --role view --ttl "+life.String()+" --exec-plugin > plugin.conf")
	began := time.Now()
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	for range real.Rounds(t) {
		for range calls {
			b.Must(t, "kubectl --kubeconfig plugin.conf get ns")
			<-tick.C
		}
		active := 0
		for _, l := range b.leases(t) {
			if l.State == "active" {
				active++
			}
		}
		if active < 1 || active > 3 {
			t.Fatalf("%d leases are active, want one that calls share, and those of before that run out", active)
		}
	}
	// The first call after half a life gets a new one; on a busy machine that call is late.
	passed := time.Since(began)
	least, most := 1+int(passed/(life/2+late)), 2+int(passed/(life/2))
	if got := len(b.leases(t)); got < least || got > most {
		t.Errorf("%d leases in %v, want a new one after half a life of %v: %d to %d", got, passed, life, least, most)
	}
	id := b.id(t, "edge")
	b.Must(t, "vimbroker vim delete edge --drain --wait")
	b.nothingLeft(t, id)
}
