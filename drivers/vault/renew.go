package vault

import (
	"context"
	"math/rand/v2"
	"net/http"
	"time"
)

const (
	// firstRetry and lastRetry are the pauses between attempts to renew or log in.
	firstRetry = time.Second
	lastRetry  = 30 * time.Second
	// restless is how often Run looks at a token that does not expire.
	restless = time.Hour
)

// Run keeps the session alive until the context ends, and then returns nil: it
// renews the token after a third of its life, and logs in again if that fails, is
// not possible, or gives less and less. Without Run the store works too, and logs
// in if a call finds that the token has expired.
//
// Run is for one goroutine at a time.
func (s *Store) Run(ctx context.Context) error {
	var k keeper
	for {
		timer := time.NewTimer(k.pass(ctx, s))
		select {
		case <-ctx.Done():
			timer.Stop()
			return nil
		case <-s.changed: // a call has logged in: look again
			timer.Stop()
		case <-timer.C:
		}
	}
}

// keeper is the state of Run between its passes.
type keeper struct {
	failures int
	// due is when to act on the session of; jitter makes it differ between
	// replicas that were started at the same time.
	of  *session
	due time.Time
}

// pass does what is due now, and returns when to call it again.
func (k *keeper) pass(ctx context.Context, s *Store) time.Duration {
	c := s.valid()
	if c != nil && c != k.of {
		k.of, k.due, k.failures = c, s.dueTime(c), 0
	}
	if c != nil && c.life == 0 {
		return restless
	}
	if c != nil && s.now().Before(k.due) {
		return k.due.Sub(s.now())
	}
	err := s.keep(ctx, c)
	if err == nil {
		if k.failures > 0 {
			s.log.Info("the session with Vault is kept alive again")
		}
		k.failures = 0
		return 0 // to see when the new session is due
	}
	if ctx.Err() != nil {
		return 0
	}
	if k.failures++; k.failures == 1 {
		s.log.Warn("the session with Vault cannot be kept alive; trying on", "error", err)
	}
	pause := min(firstRetry<<min(k.failures-1, 10), lastRetry)
	k.due = s.now().Add(jitter(pause))
	return max(k.due.Sub(s.now()), 0)
}

// dueTime is when to do something for a session.
func (s *Store) dueTime(c *session) time.Time {
	if c.renewable {
		return c.began.Add(jitter(c.life / 3))
	}
	return c.began.Add(jitter(c.life * 2 / 3))
}

// jitter returns d, give or take a tenth.
func jitter(d time.Duration) time.Duration {
	if d < 10 {
		return d
	}
	return d - d/10 + rand.N(d/5) //nolint:gosec // not a secret
}

// keep renews a session or replaces it. Until that works the session stays
// unchanged, and ends at its own time.
func (s *Store) keep(ctx context.Context, c *session) error {
	if c == nil {
		_, err := s.session(ctx, nil)
		return err
	}
	if c.renewable {
		renewed, f := s.renew(ctx, c)
		switch {
		case f == nil && renewed.life >= c.first/2:
			s.take(renewed)
			return nil
		case f == nil: // near the end of what can be renewed
			s.take(renewed)
		case f.status == 0 || f.status == http.StatusTooManyRequests || f.status == http.StatusServiceUnavailable:
			return f // nor would it answer a login
		}
		// The rest is worth a login: Vault says 403 of a token it does not know,
		// 400 of one that cannot be renewed, 500 of one past its greatest age.
	}
	_, err := s.share(ctx, s.login)
	return err
}

// renew asks Vault to give the token a new life.
func (s *Store) renew(ctx context.Context, c *session) (*session, *fault) {
	now := s.now()
	answer, f := s.send(ctx, c.token, request{method: http.MethodPut, path: "auth/token/renew-self", body: []byte("{}")})
	if f != nil {
		return nil, f
	}
	g, f := granted(answer)
	if f != nil {
		return nil, f
	}
	renewed := *c
	renewed.began, renewed.life, renewed.renewable = now, g.life(), g.Renewable
	return &renewed, nil
}
