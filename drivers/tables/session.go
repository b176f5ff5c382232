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
	sessionsText   = `SELECT ` + rows.SessionColumns.Names() + ` FROM sessions`
	sessionText    = statement(sessionsText + ` WHERE digest = ?1`)
	sessionsOf     = statement(sessionsText + ` WHERE principal = ?1 AND project = ?2 AND until > ?3 ORDER BY until DESC LIMIT 100`)
	insertSession  = statement(rows.SessionColumns.Insert(`sessions`))
	touchSession   = statement(`UPDATE sessions SET used_at = ?1, until = ?2 WHERE id = ?3`)
	endSession     = statement(`DELETE FROM sessions WHERE id = ?1`)
	forgetSessions = statement(`DELETE FROM sessions WHERE until < ?1`)
)

// CreateSession stores a new session.
func (s *Tables) CreateSession(ctx context.Context, made session.Session, e audit.Entry) error {
	err := s.write(ctx, e, func(t Tx) error {
		t.queue(insertSession, rows.SessionColumns.Values(&made)...)
		return nil
	})
	return doing(err, "keeping session %s", made.ID)
}

// SessionByDigest returns the session with a secret.
func (s *Tables) SessionByDigest(ctx context.Context, digest string) (session.Session, error) {
	all, err := lookUp(ctx, s, scanSession, sessionText, digest)
	found, err := rows.First("session", all, err)
	return found, doing(err, "reading a session")
}

// SessionsOf lists those of a principal that have not ended.
func (s *Tables) SessionsOf(ctx context.Context, principal, project string, after time.Time) ([]session.Session, error) {
	all, err := read(ctx, s, scanSession, sessionsOf, principal, project, after)
	return all, doing(err, "listing sessions")
}

func scanSession(row Row) (s session.Session, err error) {
	return s, row.Scan(rows.SessionColumns.Fields(&s)...)
}

// TouchSession notes that a session was used.
func (s *Tables) TouchSession(ctx context.Context, id string, usedAt, until time.Time) error {
	err := s.change(ctx, func(t Tx) error {
		t.queue(touchSession, usedAt, until, id)
		return nil
	})
	return doing(err, "noting the use of session %s", id)
}

// EndSession removes a session.
func (s *Tables) EndSession(ctx context.Context, id string, e audit.Entry) error {
	err := s.write(ctx, e, func(t Tx) error {
		n, err := t.Exec(endSession, id)
		if err == nil && n == 0 {
			return ErrNothing
		}
		return err
	})
	return doing(err, "ending session %s", id)
}

// ForgetSessions removes those that have ended.
func (s *Tables) ForgetSessions(ctx context.Context, before time.Time) error {
	err := s.change(ctx, func(t Tx) error {
		t.queue(forgetSessions, before)
		return nil
	})
	return doing(err, "forgetting sessions")
}
