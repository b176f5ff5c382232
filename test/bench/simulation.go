package bench

import (
	"container/heap"
	"math/rand/v2"
)

// demand is what one lease asks of the processors, in milliseconds each.
type demand struct{ broker, database, rest float64 }

// plus adds what was used between two readings.
func (d demand) plus(from, to demand) demand {
	return demand{d.broker + to.broker - from.broker, d.database + to.database - from.database, d.rest + to.rest - from.rest}
}

// each is the demand of one of n.
func (d demand) each(n float64) demand { return demand{d.broker / n, d.database / n, d.rest / n} }

// site is where leases are simulated: replicas with so many cores each, a database with its own,
// and clients. Where shared is set, all of them and the rest (VIM, key store, clients) stand on
// so many cores together, and what else is said of cores does not count. On a site that shares
// nothing the rest has cores enough.
type site struct {
	replicas, coresEach int
	database            int
	shared              int
	clients             int
}

const (
	// simulatedVisits is how often a lease goes from the broker to the database, to the VIM and
	// back: a whole one makes some twenty round trips to the database and five calls.
	simulatedVisits = 20
	simulatedLeases = 4000
)

// simulate lets clients take whole leases, one after the other each, and returns how many a second
// there are. Each visit takes a time that is drawn exponentially around its share of the demand, of
// one core, and waits in turn where all cores are busy. Neither disk nor network take any time:
// with clients enough they add nothing to what the processors bound.
func simulate(s site, d demand) (perSecond float64) {
	draw := rand.New(rand.NewPCG(1, 2)) //nolint:gosec // the same each time
	var (
		brokers  = make([]*station, s.replicas)
		database = &station{free: s.database}
		rest     = &station{free: s.clients}
	)
	for i := range brokers {
		brokers[i] = &station{free: s.coresEach}
	}
	if s.shared > 0 {
		all := &station{free: s.shared}
		database, rest = all, all
		for i := range brokers {
			brokers[i] = all
		}
	}
	var now float64
	var ahead agenda
	begin := func(l *simulated) {
		of := [3]float64{d.broker, d.database, d.rest}[l.step%3]
		l.until = now + draw.ExpFloat64()*of/simulatedVisits
		heap.Push(&ahead, l)
	}
	arrive := func(l *simulated) {
		l.at = [3]*station{brokers[l.replica], database, rest}[l.step%3]
		if l.at.free == 0 {
			l.at.waiting = append(l.at.waiting, l)
			return
		}
		l.at.free--
		begin(l)
	}
	for n := range s.clients {
		arrive(&simulated{replica: n % s.replicas})
	}
	done, warm := 0, 0.0
	for done < 2*simulatedLeases {
		l := heap.Pop(&ahead).(*simulated)
		now = l.until
		if l.at.free++; len(l.at.waiting) > 0 {
			next := l.at.waiting[0]
			l.at.waiting = l.at.waiting[1:]
			l.at.free--
			begin(next)
		}
		if l.step++; l.step == 3*simulatedVisits {
			l.step = 0
			if done++; done == simulatedLeases { // the first are not counted
				warm = now
			}
		}
		arrive(l)
	}
	return simulatedLeases / (now - warm) * 1000
}

// station is a set of cores, and who waits for one.
type station struct {
	free    int
	waiting []*simulated
}

// simulated is a client with the lease that it is at.
type simulated struct {
	replica, step int
	at            *station
	until         float64 // when its visit is over, in ms
}

// agenda is a heap of visits under way, the earliest end first.
type agenda []*simulated

func (a agenda) Len() int           { return len(a) }
func (a agenda) Less(i, j int) bool { return a[i].until < a[j].until }
func (a agenda) Swap(i, j int)      { a[i], a[j] = a[j], a[i] }
func (a *agenda) Push(x any)        { *a = append(*a, x.(*simulated)) }
func (a *agenda) Pop() any {
	last := len(*a) - 1
	x := (*a)[last]
	*a = (*a)[:last]
	return x
}

// feeds is how many replicas one database keeps busy, by arithmetic: it has so many cores and
// each of them, and both are used to the full.
func (d demand) feeds(database, coresEach int) float64 {
	return d.broker / d.database * float64(database) / float64(coresEach)
}
