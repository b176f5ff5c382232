package bench

import (
	"math"
	"testing"
)

// The simulation agrees with what arithmetic says of its bounds.
func TestSimulationOfReplicas(t *testing.T) {
	d := demand{broker: 6, database: 4, rest: 5}
	about := func(what string, got, want float64) {
		t.Helper()
		if math.Abs(got/want-1) > 0.05 {
			t.Errorf("%s: %.1f a second, want %.1f", what, got, want)
		}
	}
	for _, n := range []int{1, 3} {
		about("all on two cores", simulate(site{replicas: n, shared: 2, clients: 64}, d), 2000/15.0)
	}
	about("one client", simulate(site{replicas: 1, coresEach: 2, database: 4, clients: 1}, d), 1000/15.0)
	for _, n := range []int{1, 2} { // the replicas are the bound
		about("fewer replicas than the database feeds", simulate(site{replicas: n, coresEach: 2, database: 4, clients: 256}, d), float64(n)*2000/6)
	}
	if n := d.feeds(4, 2); n != 3 {
		t.Errorf("a database of four cores feeds %v replicas of two, want 3", n)
	}
	for _, n := range []int{4, 8} { // the database is
		about("more replicas than the database feeds", simulate(site{replicas: n, coresEach: 2, database: 4, clients: 256}, d), 4000/4.0)
	}
}
