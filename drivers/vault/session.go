package vault

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/vimbroker/vimbroker/broker/secret"
)

// session is the result of one login. It is not changed: a renewal makes another.
type session struct {
	token     secret.Text
	renewable bool
	// began is the time of the request for the token or its renewal; life is the
	// lifetime that Vault gave from then on. No life means that the token does not
	// expire.
	began time.Time
	life  time.Duration
	// first is the life that the login gave. Vault gives less as the end of what
	// can be renewed comes near.
	first time.Duration
	// proven is set once a request with the token has succeeded.
	proven *atomic.Bool
}

func (c *session) expired(now time.Time) bool {
	return c.life > 0 && !now.Before(c.began.Add(c.life))
}

// unprovenFor is how long a token that never worked, and that Vault does not
// let look at itself, is kept: a login per refused request would be one per
// request if the policy is wrong.
const unprovenFor = 10 * time.Second

// A login that Vault refused is not tried again with the same credential during these
// pauses, the last one for ever after.
var (
	// Vault locks an AppRole for a quarter of an hour after five failures
	// (developer.hashicorp.com/vault/docs/concepts/user-lockout), for all who log in
	// by it: the third pause outlasts its memory.
	lockedPauses = []time.Duration{time.Minute, 4 * time.Minute, 16 * time.Minute}
	// It locks nothing else. Its method "kubernetes" also refuses whom it cannot ask
	// the API server about, which soon ends without another token.
	shortPauses = []time.Duration{5 * time.Second, 15 * time.Second, time.Minute}
)

// pauses are those of this way to log in.
func (a Auth) pauses() []time.Duration {
	if a.AppRole != nil {
		return lockedPauses
	}
	return shortPauses
}

// refusal is a login that Vault refused.
type refusal struct {
	credential secret.Text
	fault      *fault
	at         time.Time
	count      int
}

// valid returns the current session, or nil if there is none that Vault can
// still honour.
func (s *Store) valid() *session {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.current == nil || s.current.expired(s.now()) {
		return nil
	}
	return s.current
}

// session returns a session for a request, and logs in if there is none. dead, if not
// nil, is a session that Vault does not know any more. Concurrent calls that need to
// log in share one login.
func (s *Store) session(ctx context.Context, dead *session) (*session, error) {
	if dead != nil {
		s.mu.Lock()
		if s.current == dead {
			s.current = nil
		}
		s.mu.Unlock()
	}
	for {
		if c := s.valid(); c != nil && c != dead {
			return c, nil
		}
		c, err := s.share(ctx, func(ctx context.Context) (*session, error) {
			if c := s.valid(); c != nil {
				return c, nil // someone was faster
			}
			return s.login(ctx)
		})
		// A login that began before dead was found dead may have given it.
		if err != nil || c != dead {
			return c, err
		}
	}
}

// share lets all who want a session at the same time wait for one of them to get
// it. That one does not end with its caller's context, as it serves the others too.
func (s *Store) share(ctx context.Context, get func(context.Context) (*session, error)) (*session, error) {
	done := s.logins.DoChan("", func() (any, error) { return get(context.WithoutCancel(ctx)) })
	select {
	case <-ctx.Done():
		return nil, brokenWay(ctx, ctx.Err())
	case r := <-done:
		c, _ := r.Val.(*session)
		return c, r.Err
	}
}

// take makes c the current session, and tells Run.
func (s *Store) take(c *session) {
	s.mu.Lock()
	s.current = c
	s.mu.Unlock()
	select {
	case s.changed <- struct{}{}:
	default:
	}
}

// login logs in again, and makes the result the current session.
func (s *Store) login(ctx context.Context) (*session, error) {
	credential, err := s.auth.credential()
	if err != nil {
		return nil, err
	}
	now := s.now()
	s.mu.Lock()
	refused := s.refused
	s.mu.Unlock()
	if !refused.credential.Equal(credential) {
		refused = refusal{}
	}
	if refused.count > 0 {
		pauses := s.auth.pauses()
		pause := pauses[min(refused.count, len(pauses))-1]
		if until := refused.at.Add(pause); now.Before(until) {
			return nil, fmt.Errorf("%w (not tried again with the same credential before %s)", refused.fault, until.UTC().Format(time.RFC3339))
		}
	}
	granted, f := s.auth.login(ctx, s.send, credential)
	if f != nil {
		if !errors.Is(f, secret.ErrForbidden) {
			return nil, fmt.Errorf("logging in to Vault: %w", f)
		}
		refused = refusal{credential: credential, fault: f, at: now, count: refused.count + 1}
		s.mu.Lock()
		s.refused = refused
		s.mu.Unlock()
		return nil, fmt.Errorf("logging in to Vault: %w", f)
	}
	c := &session{
		token: granted.Token, renewable: granted.Renewable,
		began: now, life: granted.life(), first: granted.life(), proven: new(atomic.Bool),
	}
	s.mu.Lock()
	s.refused = refusal{}
	s.mu.Unlock()
	s.take(c)
	s.log.Info("logged in to Vault", "for", c.life, "renewable", c.renewable)
	return c, nil
}

// isDead asks Vault whether it still knows a token that it just refused a
// request of.
func (s *Store) isDead(ctx context.Context, c *session) (bool, error) {
	_, err := s.repeat(ctx, c.token, request{method: "GET", path: "auth/token/lookup-self"})
	switch {
	case err == nil:
		return false, nil
	case isStatus(err, 403):
		return c.proven.Load() || !s.now().Before(c.began.Add(unprovenFor)), nil
	default:
		return false, err
	}
}
