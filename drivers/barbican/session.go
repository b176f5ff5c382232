package barbican

import (
	"context"
	"crypto/sha256"
	"errors"
	"net/http"
	"time"

	"github.com/gophercloud/gophercloud/v2"
	"github.com/gophercloud/gophercloud/v2/openstack/identity/v3/tokens"

	"github.com/vimbroker/vimbroker/broker/remote"
	"github.com/vimbroker/vimbroker/broker/secret"
)

// session is the result of one login. It is not changed.
type session struct {
	token secret.Text
	// user is the id of who logged in.
	user string
	// life is how long Keystone says the token lives, from began on by our clock.
	began time.Time
	life  time.Duration
}

func (c *session) expired(now time.Time) bool { return !now.Before(c.began.Add(c.life)) }

// stale reports that it is time for a new token, while the old one still works.
func (c *session) stale(now time.Time) bool { return !now.Before(c.began.Add(c.life - c.life/4)) }

// refused remembers a login that Keystone refused, so that it is not tried with
// each call: Keystone may lock a user after a few failures (its option
// lockout_failure_attempts). A credential that was replaced is tried at once.
type refused struct {
	digest [sha256.Size]byte
	until  time.Time
	pause  time.Duration
	fault  *fault
}

const (
	firstPause = 10 * time.Second
	lastPause  = 5 * time.Minute
)

// session returns the current session, or logs in. It logs in too where the
// current one is not any more: the one that Barbican did not accept.
func (s *Store) session(ctx context.Context, not *session) (*session, error) {
	now := s.now()
	s.mu.Lock()
	c, good := s.current, s.good(not, now)
	s.mu.Unlock()
	if good {
		return c, nil
	}
	// One login serves all calls that wait for it, under a deadline of its own.
	results := s.logins.DoChan("", func() (any, error) {
		s.mu.Lock()
		c, good := s.current, s.good(not, s.now())
		s.mu.Unlock()
		if good {
			return c, nil // another login was faster
		}
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), s.timeout)
		defer cancel()
		return s.login(ctx)
	})
	select {
	case <-ctx.Done():
		return nil, brokenWay(ctx, ctx.Err(), issuer)
	case r := <-results:
		if r.Err == nil {
			return r.Val.(*session), nil
		}
		if c != nil && c != not && !c.expired(now) {
			return c, nil
		}
		return nil, r.Err
	}
}

// good reports whether the current session will do. One that is near its end does
// while Keystone has just failed to give another. The caller holds s.mu.
func (s *Store) good(not *session, now time.Time) bool {
	c := s.current
	if c == nil || c == not || c.expired(now) {
		return false
	}
	return !c.stale(now) || now.Before(s.failed.Add(firstPause))
}

// login gets a token from Keystone, and makes it the current session.
func (s *Store) login(ctx context.Context) (*session, error) {
	text, err := s.auth.Secret()
	if err != nil {
		return nil, &fault{kind: secret.ErrForbidden, reason: err.Error()}
	}
	defer clear(text)
	digest, now := sha256.Sum256(text), s.now()
	s.mu.Lock()
	before := s.refused
	s.mu.Unlock()
	if before.digest == digest && now.Before(before.until) {
		return nil, before.fault
	}
	c, f := s.authenticate(ctx, string(text), now)
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case f == nil:
		if s.lost {
			s.log.Info("Barbican key store has logged in again")
		}
		s.current, s.refused, s.lost, s.failed = c, refused{}, false, time.Time{}
		return c, nil
	case errors.Is(f, secret.ErrForbidden):
		pause := firstPause
		if before.digest == digest {
			pause = min(2*before.pause, lastPause)
		}
		s.refused = refused{digest, now.Add(pause), pause, f}
	}
	if !s.lost {
		s.log.Warn("Barbican key store cannot log in; trying on", "error", f)
	}
	s.lost, s.failed = true, now
	return nil, f
}

// authenticate asks Keystone for a token. Only a token for a project is of use.
func (s *Store) authenticate(ctx context.Context, credential string, now time.Time) (*session, *fault) {
	result := tokens.Create(remote.Expect(ctx, remote.Catalog), s.identity, s.auth.Options(credential))
	if f := faultOf(ctx, result.Err, issuer); f != nil {
		switch {
		case f.status == http.StatusUnauthorized, errors.Is(f, secret.ErrNotFound):
			// 404 is Keystone's word for an application credential that was deleted.
			return nil, &fault{kind: secret.ErrForbidden, reason: "Keystone refuses the login", status: f.status}
		case errors.Is(f, secret.ErrForbidden):
			return nil, &fault{kind: secret.ErrForbidden, reason: "Keystone forbids the login", status: f.status}
		}
		return nil, f
	}
	var body struct {
		Expires time.Time `json:"expires_at"`
		Issued  time.Time `json:"issued_at"`
		User    struct {
			ID string `json:"id"`
		} `json:"user"`
		Project struct {
			ID string `json:"id"`
		} `json:"project"`
	}
	token := result.Header.Get("X-Subject-Token")
	if err := result.ExtractInto(&body); err != nil || token == "" || body.User.ID == "" {
		return nil, unavailable("what answers is not Keystone (no token)")
	}
	if body.Project.ID == "" {
		return nil, &fault{kind: secret.ErrForbidden, reason: "Keystone gives a token for no project"}
	}
	life := body.Expires.Sub(body.Issued)
	if life <= 0 {
		return nil, unavailable("Keystone gives a token that has expired")
	}
	return &session{token: secret.NewText(token), user: body.User.ID, began: now, life: life}, nil
}

// request is one request to Barbican, made with the client and for the user given.
type request func(ctx context.Context, client *gophercloud.ServiceClient, user string) error

// ask makes a request with the token of the current session. If Barbican does not
// accept the token, it logs in and asks again, once; a request that may be repeated
// is, once, where that may help.
func (s *Store) ask(ctx context.Context, repeatable bool, r request) error {
	current, err := s.session(ctx, nil)
	if err != nil {
		return err
	}
	try := func() (f *fault) {
		if f = s.send(ctx, current, r); f != nil && repeatable && f.passing() {
			f = s.send(ctx, current, r)
		}
		return f
	}
	f := try()
	if f != nil && f.status == http.StatusUnauthorized {
		// It was not carried out, whatever it was.
		if current, err = s.session(ctx, current); err != nil {
			return err
		}
		f = try()
	}
	if f != nil {
		return f
	}
	return nil
}

// send makes a request once.
func (s *Store) send(ctx context.Context, c *session, r request) *fault {
	ctx, cancel := context.WithTimeout(ctx, s.timeout)
	defer cancel()
	return faultOf(ctx, r(withToken(ctx, c.token), s.keys, c.user), keeper)
}

// newClient makes a client of one service, at one address. It holds no token,
// repeats and follows nothing.
func newClient(endpoint string, way http.RoundTripper) *gophercloud.ServiceClient {
	provider := &gophercloud.ProviderClient{HTTPClient: http.Client{
		Transport:     way,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
	provider.UserAgent.Prepend("vimbroker")
	return &gophercloud.ServiceClient{ProviderClient: provider, Endpoint: endpoint}
}

// transport is the HTTP under gophercloud. It adds the token that the call's
// context brings.
type transport struct{ *remote.Transport }

type tokenKey struct{}

// withToken lets requests made with the context authenticate. The clients
// themselves hold no token.
func withToken(ctx context.Context, token secret.Text) context.Context {
	return context.WithValue(ctx, tokenKey{}, token)
}

// RoundTrip implements [http.RoundTripper].
func (t transport) RoundTrip(request *http.Request) (*http.Response, error) {
	if token, ok := request.Context().Value(tokenKey{}).(secret.Text); ok {
		request = request.Clone(request.Context())
		request.Header.Set("X-Auth-Token", token.Reveal())
	}
	return t.Transport.RoundTrip(request)
}
