// Package session keeps the sessions of people who look with a browser: who came in, until when that holds, and the
// digest of the id that the browser shows.
//
//	token or login at an issuer --> principal --> session --> id in a cookie
//	each request: id --> digest --> session --> what the principal may now
package session

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"log/slog"
	"slices"
	"time"

	"github.com/google/uuid"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/policy"
	"github.com/vimbroker/vimbroker/policy/audit"
)

const (
	// Idle is how long a session holds that is not used, Most how long one holds at most.
	Idle = 30 * time.Minute
	Most = 12 * time.Hour
	// touchEvery is how often a use is written down.
	touchEvery = time.Minute
	// PerPrincipal bounds the sessions of one caller: a new one ends the one that was used longest ago.
	PerPrincipal = 20
	forgetEvery  = 10 * time.Minute
)

// Session is a person's stay. It holds no credential.
type Session struct {
	// ID is a UUID that the broker assigns. It lets nobody in.
	ID string
	// Digest is that of the secret which the browser shows: 256 random bits, so that a plain one is enough.
	Digest             string
	Principal, Project string
	Came               Came
	// Source is the address that the login came from.
	Source string
	// CreatedAt is when it began, UsedAt when it was used last, to a minute, and Until when it ends unless it is used.
	CreatedAt, UsedAt, Until time.Time
	// EndsAt is when it ends though it is used.
	EndsAt time.Time
}

// Came is how the person came in, as it is stored.
type Came struct {
	// Who holds the roles, which count where nobody can be asked for those of now.
	Who policy.Delegation `json:"who"`
	// Token is the [policy.TokenID] of the static token that was shown; empty for others.
	Token string         `json:"token,omitempty"`
	Login policy.Arrival `json:"login,omitzero"`
}

// Store keeps sessions. The rules of [broker.Store] on writes and entries apply here, too.
type Store interface {
	CreateSession(ctx context.Context, s Session, e audit.Entry) error
	// SessionByDigest returns the session with a secret; ErrNotFound.
	SessionByDigest(ctx context.Context, digest string) (Session, error)
	// SessionsOf returns those of a principal that end after a time, those that end last first.
	SessionsOf(ctx context.Context, principal, project string, after time.Time) ([]Session, error)
	// TouchSession notes a use. It needs no entry: what is done has one of its own.
	TouchSession(ctx context.Context, id string, usedAt, until time.Time) error
	// EndSession removes a session. One that is gone is success, and writes nothing.
	EndSession(ctx context.Context, id string, e audit.Entry) error
	// ForgetSessions removes those that have ended before a time.
	ForgetSessions(ctx context.Context, before time.Time) error
}

// Callers are those who can be let in.
type Callers interface {
	Authenticate(ctx context.Context, token string) (policy.Principal, error)
	// Held lists the static tokens that are taken.
	Held() []policy.HeldToken
}

// Options wire [Sessions]. Every field is required.
type Options struct {
	Store   Store
	Callers Callers
	// Directories know callers without their tokens, by authenticator.
	Directories map[string]policy.Directory
	// Current reports whether the entry of trust that let a principal in is as it was.
	Current func(name, digest string) bool
	Guard   *audit.Guard
	Log     *slog.Logger
	Now     func() time.Time
}

// Sessions begins, finds and ends sessions. It is safe for concurrent use.
type Sessions struct {
	Options
	logins
	links links
}

// New returns Sessions; it starts nothing.
func New(o Options, l Issuers) *Sessions {
	return &Sessions{Options: o, logins: logins{Issuers: l}}
}

// digestOf is what is stored of a secret.
func digestOf(secret string) string {
	sum := sha256.Sum256([]byte(secret))
	return base64.RawURLEncoding.EncodeToString(sum[:])
}

// secretPrefix lets people and secret scanners recognise the secret of a session.
const secretPrefix = "vbs_"

// EnterWithToken begins a session for the owner of a token, and returns its secret. It is for the cookie, once.
func (s *Sessions) EnterWithToken(ctx context.Context, token string) (string, Session, error) {
	p, err := s.Callers.Authenticate(ctx, token)
	if err != nil {
		return "", Session{}, err
	}
	shown := ""
	if p.Authenticator() == policy.ByStaticToken {
		shown = policy.TokenID(token)
	}
	return s.begin(ctx, p, shown)
}

func (s *Sessions) begin(ctx context.Context, p policy.Principal, token string) (string, Session, error) {
	now := s.Now()
	end := now.Add(Most)
	if _, known := s.Directories[p.Authenticator()]; !p.Login.Until.IsZero() {
		end = earlier(end, p.Login.Until)
	} else if !known {
		end = now.Add(policy.DefaultHold) // nobody can be asked whether the person is still there
	}
	plain, _ := policy.NewSecret(secretPrefix)
	made := Session{
		ID: uuid.NewString(), Digest: digestOf(plain), Principal: p.Name, Project: p.Project, Source: audit.SourceOf(ctx),
		Came:      Came{Who: policy.Delegate(p, now), Token: token, Login: p.Login},
		CreatedAt: now, UsedAt: now, EndsAt: end, Until: earlier(now.Add(Idle), end),
	}
	others, err := s.Store.SessionsOf(ctx, p.Name, p.Project, now)
	if err != nil {
		return "", Session{}, err
	}
	for n := PerPrincipal - 1; n < len(others); n++ {
		if err := s.end(ctx, p, others[n], "too many"); err != nil {
			return "", Session{}, err
		}
	}
	act := s.Guard.Record(ctx, p, audit.SessionBegin, about(made))
	if err := s.Store.CreateSession(ctx, made, act.Done()); err != nil {
		return "", Session{}, err
	}
	return plain, made, nil
}

func earlier(a, b time.Time) time.Time {
	if b.Before(a) {
		return b
	}
	return a
}

func about(s Session) policy.Resource {
	return policy.Resource{Kind: audit.KindServer, ID: s.ID, Project: s.Project}
}

// Find returns the session of a secret, and its principal with the roles of now. It is [policy.ErrUnauthenticated]
// where there is none any more. used: a person does something, so that it does not end from idling.
func (s *Sessions) Find(ctx context.Context, secret string, used bool) (policy.Principal, Session, error) {
	found, err := s.Store.SessionByDigest(ctx, digestOf(secret))
	now := s.Now()
	switch {
	case errors.Is(err, broker.ErrNotFound):
		return policy.Principal{}, Session{}, policy.ErrUnauthenticated
	case err != nil:
		return policy.Principal{}, Session{}, err
	case !now.Before(found.Until):
		return policy.Principal{}, Session{}, policy.ErrUnauthenticated
	}
	p, err := s.principal(ctx, found)
	if err != nil {
		return policy.Principal{}, Session{}, err
	}
	if used && now.Sub(found.UsedAt) >= touchEvery {
		found.UsedAt, found.Until = now, earlier(now.Add(Idle), found.EndsAt)
		if err := s.Store.TouchSession(ctx, found.ID, found.UsedAt, found.Until); err != nil {
			s.Log.WarnContext(ctx, "the use of a session is not noted, so that it may end early", "session", found.ID, "error", err)
		}
	}
	return p, found, nil
}

// principal is whose session it is, as that is now.
func (s *Sessions) principal(ctx context.Context, of Session) (policy.Principal, error) {
	who, login := of.Came.Who, of.Came.Login
	p := policy.Principal{Name: who.Name, Project: who.Project, Roles: who.Roles, Claims: who.Claims, Login: login}
	isShown := func(h policy.HeldToken) bool { return h.ID == of.Came.Token }
	switch {
	case login.Entry != "" && !s.Current(p.Name, login.Digest),
		of.Came.Token != "" && !slices.ContainsFunc(s.Callers.Held(), isShown):
		return policy.Principal{}, policy.ErrUnauthenticated
	}
	directory, known := s.Directories[p.Authenticator()]
	if !known {
		return p, nil
	}
	now, err := directory.Lookup(ctx, p.Name, p.Project)
	switch {
	case errors.Is(err, policy.ErrNotAsked): // the session ends with the token
		return p, nil
	case err != nil:
		return policy.Principal{}, err
	}
	p.Roles = now.Roles
	return p, nil
}

// List returns the sessions of p that have not ended, those that end last first.
func (s *Sessions) List(ctx context.Context, p policy.Principal) ([]Session, error) {
	return s.Store.SessionsOf(ctx, p.Name, p.Project, s.Now())
}

// End ends a session of p's own.
func (s *Sessions) End(ctx context.Context, p policy.Principal, id string) error {
	own, err := s.List(ctx, p)
	if err != nil {
		return err
	}
	n := slices.IndexFunc(own, func(o Session) bool { return o.ID == id })
	if n < 0 {
		return &broker.Error{Kind: broker.ErrNotFound, Detail: "there is no such session, or it has ended"}
	}
	return s.end(ctx, p, own[n], "")
}

func (s *Sessions) end(ctx context.Context, p policy.Principal, of Session, why string) error {
	return s.Store.EndSession(ctx, of.ID, s.Guard.Record(ctx, p, audit.SessionEnd, about(of)).Done(audit.DetailReason, why))
}

// Passes are the periodic work.
func (s *Sessions) Passes() []broker.Pass {
	return []broker.Pass{{Name: "forget-sessions", Every: forgetEvery, Run: func(ctx context.Context) error {
		return s.Store.ForgetSessions(ctx, s.Now())
	}}}
}
