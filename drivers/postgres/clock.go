package postgres

import (
	"context"
	"fmt"
	"log/slog"
	"sync/atomic"
	"time"
)

const (
	// readClockEvery is the interval at which the database is asked for the time. In
	// between, two clocks drift apart by microseconds, unless this machine was
	// asleep.
	readClockEvery = 10 * time.Second
	// quick is the time that an answer about the time may take. A slower one says
	// little: it is wrong by up to half of that.
	quick = time.Second
	// wrongBy is the difference between this machine's clock and the database's at
	// which it is logged.
	wrongBy = 5 * time.Second
)

// clock tells the time by the database's clock, so that all who write to it agree,
// however far apart their own clocks are. Between two readings this machine's
// monotonic clock counts on: setting its clock changes nothing.
type clock struct {
	last  atomic.Pointer[reading]
	wrong atomic.Bool // the log last said that this machine's clock is wrong
}

// reading is a moment, by the database's clock and by this machine's.
type reading struct{ database, here time.Time }

func (c *clock) now() time.Time {
	r := c.last.Load()
	return r.database.Add(time.Since(r.here))
}

// readClock asks the database for the time.
func (s *Store) readClock(ctx context.Context) error {
	began := time.Now()
	database, err := readOne(ctx, s, scalar[time.Time], `SELECT clock_timestamp()`)
	if err != nil {
		return fmt.Errorf("reading the database's clock: %w", err)
	}
	here := time.Now()
	took := here.Sub(began)
	if took > quick && s.clock.last.Load() != nil {
		return nil
	}
	s.clock.last.Store(&reading{database.Add(took / 2), here})
	ahead := here.Round(0).Sub(database) // Round leaves the clock that is shown
	if wrong := ahead.Abs() > wrongBy; wrong != s.clock.wrong.Swap(wrong) {
		if wrong {
			s.log.Warn("this machine's clock is not the database's, which is the one that counts", "ahead", ahead.Round(time.Second))
		} else {
			s.log.Info("this machine's clock is the database's again")
		}
	}
	return nil
}

// keepTime reads the database's clock until ctx ends.
func (s *Store) keepTime(ctx context.Context, log *slog.Logger) {
	tick := time.NewTicker(readClockEvery)
	defer tick.Stop()
	for {
		if err := s.readClock(ctx); err != nil && ctx.Err() == nil {
			log.Debug("the time of before counts on", "error", err) // readiness reports a database that is down
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}
