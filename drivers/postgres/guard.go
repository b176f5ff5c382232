package postgres

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
)

const (
	// guardLimit is how long a process that is stopped or cut off keeps the locks of its
	// passes. One that crashed loses them at once.
	guardLimit = 15 * time.Second
	// guardPulse is how often a process shows that it is alive.
	guardPulse = 4 * time.Second
)

var errGuardLost = errors.New("the lock of the pass was lost: the database ended its connection")

// guards are the locks of the passes that run in this process. One connection holds them all:
// a pass that held one of its own would keep others from those that they work with.
type guards struct {
	mu   sync.Mutex // one statement at a time
	conn *pgxpool.Conn
	held map[string]context.CancelCauseFunc // by pass; conn is nil while there are none
	rest context.CancelFunc                 // ends the pulse
}

// guardPass takes the lock of a pass, which lasts as long as the connection that
// holds it. The context that it returns ends with the lock, so that a process that
// comes back after guardLimit does not go on beside the one that has taken over. A
// release of nil says that the pass runs, here or elsewhere.
func (s *Store) guardPass(ctx context.Context, name string) (guarded context.Context, release func(), err error) {
	g := &s.guards
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.held[name] != nil {
		return nil, nil, nil
	}
	fresh := g.conn == nil
	got, err := g.take(ctx, s, name)
	if err != nil && g.conn == nil && !fresh { // it was gone, and nobody had noticed
		got, err = g.take(ctx, s, name)
	}
	if err != nil {
		return nil, nil, err
	}
	conn := g.conn
	if !got {
		g.rested()
		return nil, nil, nil
	}
	guarded, lost := context.WithCancelCause(ctx)
	g.held[name] = lost
	return guarded, func() {
		lost(nil)
		g.mu.Lock()
		defer g.mu.Unlock()
		if g.conn != conn {
			return // the lock went with its connection
		}
		delete(g.held, name)
		ending, cancel := context.WithTimeout(context.WithoutCancel(ctx), guardPulse)
		defer cancel()
		if _, err := conn.Exec(ending, `SELECT pg_advisory_unlock($1)`, lockKey(lockPass, name)); err != nil {
			g.lose()
			return
		}
		g.rested()
	}, nil
}

// take asks for the lock of a pass. A connection that does not answer in time is lost, with all locks.
func (g *guards) take(ctx context.Context, s *Store, name string) (got bool, err error) {
	if err := g.open(ctx, s); err != nil {
		return false, err
	}
	asking, cancel := context.WithTimeout(context.WithoutCancel(ctx), guardPulse) // the end of one pass is not that of the others
	defer cancel()
	if err := g.conn.QueryRow(asking, `SELECT pg_try_advisory_lock($1)`, lockKey(lockPass, name)).Scan(&got); err != nil {
		g.lose()
		return false, translate(err)
	}
	return got, nil
}

// open sees that there is a connection.
func (g *guards) open(ctx context.Context, s *Store) error {
	if g.conn != nil {
		return nil
	}
	conn, err := s.acquire(ctx)
	if err != nil {
		return err
	}
	if err := idleLimit(ctx, conn, guardLimit); err != nil {
		end(conn)
		return translate(err)
	}
	living, rest := context.WithCancel(context.WithoutCancel(ctx))
	g.conn, g.held, g.rest = conn, map[string]context.CancelCauseFunc{}, rest
	go g.pulse(living, conn)
	return nil
}

// pulse asks the connection now and then. A database that does not answer in time may have
// ended the session, or will.
func (g *guards) pulse(ctx context.Context, conn *pgxpool.Conn) {
	tick := time.NewTicker(guardPulse)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		g.mu.Lock()
		if g.conn == conn {
			asking, cancel := context.WithTimeout(ctx, guardPulse)
			if conn.Ping(asking) != nil {
				g.lose()
			}
			cancel()
		}
		g.mu.Unlock()
	}
}

// lose ends the connection, with the locks, and every pass that has one.
func (g *guards) lose() {
	for _, lost := range g.held {
		lost(errGuardLost)
	}
	end(g.conn)
	g.rest()
	g.conn, g.held = nil, nil
}

// rested gives the connection back if no pass runs any more.
func (g *guards) rested() {
	if len(g.held) > 0 {
		return
	}
	ending, cancel := context.WithTimeout(context.Background(), pingLimit)
	defer cancel()
	if err := idleLimit(ending, g.conn, 0); err != nil {
		g.lose()
		return
	}
	g.conn.Release()
	g.rest()
	g.conn, g.held = nil, nil
}

// idleLimit has the database end the session once it has been idle for so long; 0: never.
func idleLimit(ctx context.Context, conn *pgxpool.Conn, limit time.Duration) error {
	_, err := conn.Exec(ctx, `SELECT set_config('idle_session_timeout', $1, false)`, fmt.Sprint(limit.Milliseconds()))
	return err
}

// end closes a connection, and with it the locks that it holds.
func end(conn *pgxpool.Conn) {
	ending, cancel := context.WithTimeout(context.Background(), pingLimit)
	defer cancel()
	_ = conn.Conn().Close(ending)
	conn.Release()
}
