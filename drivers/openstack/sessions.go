package openstack

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"sync"
	"time"

	"github.com/gophercloud/gophercloud/v2/openstack/identity/v3/tokens"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/policy/egress"
)

const (
	sessionLife = 5 * time.Minute
	// sessionMargin is the least remaining life of a session's token.
	sessionMargin = time.Minute
	// maxSessions bounds the sessions that are kept.
	maxSessions = 4096
)

// errEnded is the cause of an error that Keystone also answers with when the session
// itself has ended: 401, or 404 where its application credential was deleted; and when
// it is older than what its user may do now, as when a role was taken away: 400.
var errEnded = errors.New("Keystone may not know the session any more")

// sessions are logged in, one for each VIM and generation, because a login is the
// slowest part of a call. They stay in memory for [sessionLife] and are written
// nowhere. None is handed out as a lease: such a token has a login of its own.
type sessions struct {
	mu   sync.Mutex
	kept map[sessionKey]*keptSession
}

type sessionKey struct {
	vim        string
	generation int64
}

// keptSession belongs to exactly what was logged in with, and to the egress rules that
// its connections were made under.
type keptSession struct {
	*session
	of    [sha256.Size]byte
	rules *egress.Rules
	until time.Time
	drop  *time.Timer
}

// loginDigest tells two ways to log in apart.
func loginDigest(a broker.Access) [sha256.Size]byte {
	c := a.Credential
	text, _ := json.Marshal([]any{ // plain data always encodes
		a.Target, c.Kind, c.Username, c.UserID, c.Password.Reveal(), c.ApplicationCredentialID, c.ApplicationCredentialSecret.Reveal(),
	})
	defer clear(text)
	return sha256.Sum256(text)
}

// get returns the session that is kept for a, or nil.
func (k *sessions) get(a broker.Access, now time.Time) *session {
	k.mu.Lock()
	defer k.mu.Unlock()
	found := k.kept[sessionKey{a.VIM, a.Generation}]
	if found == nil || found.of != loginDigest(a) || found.rules != a.Egress || !now.Before(found.until) {
		return nil
	}
	return found.session
}

// put keeps a session in place of the one before.
func (k *sessions) put(a broker.Access, s *session, now time.Time) {
	until := now.Add(sessionLife)
	if last := s.expires.Add(-sessionMargin); last.Before(until) {
		until = last
	}
	key := sessionKey{a.VIM, a.Generation}
	k.mu.Lock()
	defer k.mu.Unlock()
	k.remove(key)
	if !now.Before(until) {
		return
	}
	for other := range k.kept {
		if len(k.kept) < maxSessions {
			break
		}
		k.remove(other)
	}
	k.kept[key] = &keptSession{
		session: s, of: loginDigest(a), rules: a.Egress, until: until,
		drop: time.AfterFunc(sessionLife, func() { k.drop(a, s) }),
	}
}

// drop forgets a session, unless another is kept in its place.
func (k *sessions) drop(a broker.Access, s *session) {
	k.mu.Lock()
	defer k.mu.Unlock()
	key := sessionKey{a.VIM, a.Generation}
	if found := k.kept[key]; found != nil && found.session == s {
		k.remove(key)
	}
}

// end forgets all sessions of a VIM, and returns them.
func (k *sessions) end(vim string) []*session {
	k.mu.Lock()
	defer k.mu.Unlock()
	var ended []*session
	for key, found := range k.kept {
		if key.vim == vim {
			ended = append(ended, found.session)
			k.remove(key)
		}
	}
	return ended
}

// remove forgets the session under a key. A call that still uses the session's
// connections keeps them. The caller holds k.mu.
func (k *sessions) remove(key sessionKey) {
	if found := k.kept[key]; found != nil {
		found.drop.Stop()
		found.close()
		delete(k.kept, key)
	}
}

// with calls do with the VIM's session, and logs in if there is none. If the kept
// session has ended at Keystone, with calls do again with a new one.
func (d *Driver) with(ctx context.Context, a broker.Access, do func(*session) error) error {
	known, err := recall(a.Discovered)
	if err != nil {
		return err
	}
	if s := d.sessions.get(a, d.now()); s != nil && s.same(a, known) == nil {
		err := do(s)
		if !errors.Is(err, errEnded) {
			return err
		}
		d.sessions.drop(a, s)
	}
	s, err := d.login(ctx, a)
	if err != nil {
		return err
	}
	d.sessions.put(a, s, d.now())
	return do(s)
}

// endSessions revokes the tokens of a VIM's sessions. One that cannot be revoked now
// ends by itself.
func (d *Driver) endSessions(ctx context.Context, vim string) {
	for _, s := range d.sessions.end(vim) {
		if err := tokens.Revoke(ctx, s.identity, s.token).Err; err != nil {
			d.log.InfoContext(ctx, "a session's token could not be revoked and ends by itself", "vim", vim, "error", fault(err, "revoke", "a token"))
		}
		s.close()
	}
}
