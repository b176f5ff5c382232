package tables

import (
	"context"
	"time"

	"github.com/vimbroker/vimbroker/broker/session"
	"github.com/vimbroker/vimbroker/drivers/rows"
	"github.com/vimbroker/vimbroker/policy/audit"
)

var _ session.Store = (*Tables)(nil)

var (
	sessions       = tableOf(`sessions`, "session", rows.SessionColumns)
	sessionText    = statement(sessions.text + ` WHERE digest = ?1`)
	sessionsOf     = statement(sessions.text + ` WHERE principal = ?1 AND project = ?2 AND until > ?3 ORDER BY until DESC LIMIT 100`)
	touchSession   = statement(`UPDATE sessions SET used_at = ?1, until = ?2 WHERE id = ?3`)
	endSession     = statement(`DELETE FROM sessions WHERE id = ?1`)
	forgetSessions = statement(`DELETE FROM sessions WHERE until < ?1`)
)

// CreateSession stores a new session.
func (s *Tables) CreateSession(ctx context.Context, made session.Session, e audit.Entry) error {
	err := s.write(ctx, e, func(t Tx) error {
		sessions.add(t, made)
		return nil
	})
	return doing(err, "keeping session %s", made.ID)
}

// SessionByDigest returns the session with a secret.
func (s *Tables) SessionByDigest(ctx context.Context, digest string) (session.Session, error) {
	found, err := sessions.one(ctx, s, sessionText, digest)
	return found, doing(err, "reading a session")
}

// SessionsOf lists those of a principal that have not ended.
func (s *Tables) SessionsOf(ctx context.Context, principal, project string, after time.Time) ([]session.Session, error) {
	all, err := read(ctx, s, sessions.scan, sessionsOf, principal, project, after)
	return all, doing(err, "listing sessions")
}

// TouchSession notes that a session was used.
func (s *Tables) TouchSession(ctx context.Context, id string, usedAt, until time.Time) error {
	return doing(s.run(ctx, touchSession, usedAt, until, id), "noting the use of session %s", id)
}

// EndSession removes a session.
func (s *Tables) EndSession(ctx context.Context, id string, e audit.Entry) error {
	err := s.write(ctx, e, func(t Tx) error {
		return t.some(endSession, id)
	})
	return doing(err, "ending session %s", id)
}

// ForgetSessions removes those that have ended.
func (s *Tables) ForgetSessions(ctx context.Context, before time.Time) error {
	return doing(s.run(ctx, forgetSessions, before), "forgetting sessions")
}
