package postgres

import (
	"context"
	"errors"
	"fmt"
	"time"
)

const (
	// guardLimit is how long a process that is stopped or cut off keeps the lock of a
	// pass. One that crashed loses it at once.
	guardLimit = 15 * time.Second
	// guardPulse is how often a process shows that it is alive.
	guardPulse = 4 * time.Second
)

var errGuardLost = errors.New("the lock of the pass was lost: the database ended its connection")

// guardPass takes the lock of a pass, which lasts as long as the connection that
// it holds. The context that it returns ends with the lock, so that a process that
// comes back after guardLimit does not go on beside the one that has taken over. A
// release of nil says that another has the lock.
func (s *Store) guardPass(ctx context.Context, name string) (guarded context.Context, release func(), err error) {
	conn, err := s.acquire(ctx)
	if err != nil {
		return nil, nil, err
	}
	var got bool
	err = conn.QueryRow(ctx, `SELECT set_config('idle_session_timeout', $1, false), pg_try_advisory_lock($2)`,
		fmt.Sprint(guardLimit.Milliseconds()), lockKey(lockPass, name)).Scan(nil, &got)
	letGo := func() {
		ending, cancel := context.WithTimeout(context.WithoutCancel(ctx), pingLimit)
		defer cancel()
		_, err := conn.Exec(ending, `SELECT pg_advisory_unlock_all(), set_config('idle_session_timeout', '0', false)`)
		if err != nil { // then the lock goes with the connection
			_ = conn.Conn().Close(ending)
		}
		conn.Release()
	}
	if err != nil || !got {
		letGo()
		return nil, nil, translate(err)
	}
	guarded, cancel := context.WithCancelCause(ctx)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		pulse := time.NewTicker(guardPulse)
		defer pulse.Stop()
		for {
			select {
			case <-guarded.Done():
				return
			case <-pulse.C:
			}
			if err := s.pulse(guarded, conn.Ping); err != nil && guarded.Err() == nil {
				cancel(errGuardLost)
			}
		}
	}()
	return guarded, func() {
		cancel(nil)
		<-ended
		letGo()
	}, nil
}

// pulse bounds one sign of life: a database that does not answer in time may have
// ended the session, or will.
func (s *Store) pulse(ctx context.Context, ping func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, guardPulse)
	defer cancel()
	return ping(ctx)
}
