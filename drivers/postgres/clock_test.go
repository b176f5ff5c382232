package postgres

import (
	"context"
	"testing"
	"time"

	"github.com/vimbroker/vimbroker/test/real"
	"github.com/vimbroker/vimbroker/test/testlog"
)

// near reports whether the store's time is the database's, give or take what a slow
// machine loses between two questions.
func near(t *testing.T, s *Store) bool {
	t.Helper()
	database, err := readOne(t.Context(), s, scalar[time.Time], `SELECT clock_timestamp()`)
	if err != nil {
		t.Fatal(err)
	}
	return s.Now().Sub(database).Abs() < 10*time.Second
}

// A store's time is the database's from the start, and Run puts right what has gone
// wrong, as after a machine was asleep.
func TestTimeIsTheDatabases(t *testing.T) {
	s := mustOpen(t, real.Postgres(t).DSN(t))
	if !near(t, s) {
		t.Errorf("a new store says that it is %v", s.Now())
	}
	r := s.clock.last.Load()
	s.clock.last.Store(&reading{r.database.Add(-time.Hour), r.here})
	if near(t, s) {
		t.Fatal("a reading of an hour ago makes no difference: the test proves nothing")
	}
	ctx, stop := context.WithTimeout(t.Context(), time.Minute)
	defer stop()
	ended := make(chan error, 1)
	go func() { ended <- s.Run(ctx, nil, testlog.Silent(t)) }()
	for !near(t, s) {
		if ctx.Err() != nil {
			t.Fatal("Run does not read the clock")
		}
	}
	stop()
	if err := <-ended; err != nil {
		t.Errorf("Run = %v", err)
	}
}
