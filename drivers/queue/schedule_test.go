package queue

import (
	"database/sql"
	"testing"
	"time"
)

// On a store of one process work may take any time: River's driver for SQLite panics when
// work ends that River gave up, and whose row it removed, meanwhile.
func TestWorkOfOneProcessIsNotGivenUp(t *testing.T) {
	alone, err := Options[*sql.Tx]{}.config()
	if err != nil {
		t.Fatal(err)
	}
	if least := 365 * 24 * time.Hour; alone.RescueStuckJobsAfter < least {
		t.Errorf("work of the one process is given up after %v, want at least %v", alone.RescueStuckJobsAfter, least)
	}
	shared, err := Options[*sql.Tx]{Shared: true}.config()
	if err != nil {
		t.Fatal(err)
	}
	if most := time.Minute; shared.RescueStuckJobsAfter > most {
		t.Errorf("work of a dead process is given to another after %v, want at most %v", shared.RescueStuckJobsAfter, most)
	}
}

// A schedule's times are round by the store's clock, and told by this machine's.
func TestScheduleIsTheStores(t *testing.T) {
	for _, apart := range []time.Duration{0, 90 * time.Second, -(time.Hour + 17300*time.Millisecond)} {
		s := schedule{time.Minute, func() time.Time { return time.Now().Add(apart) }}
		first := s.Next(time.Now())
		for i, next := range []time.Time{first, s.Next(first)} {
			// Next and this line each ask the clock: moments apart.
			database := next.Add(apart).Round(time.Second)
			if !database.Equal(database.Truncate(time.Minute)) {
				t.Errorf("time %d of a clock %v apart is %v by the store's", i, apart, database)
			}
			if i > 0 && next.Sub(first).Round(time.Second) != time.Minute {
				t.Errorf("with a clock %v apart the second time is %v after the first", apart, next.Sub(first))
			}
		}
	}
}
