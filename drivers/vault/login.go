package vault

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"net/http"
	"os"
	"strings"
	"time"

	"github.com/vimbroker/vimbroker/broker/secret"
)

// maxCredential bounds the files of credentials, in bytes.
const maxCredential = 64 << 10

// grant is a token, as Vault's login and renewal answer with it
// (developer.hashicorp.com/vault/api-docs/auth/token).
type grant struct {
	Token     secret.Text `json:"client_token"`
	Seconds   int64       `json:"lease_duration"`
	Renewable bool        `json:"renewable"`
}

func (g grant) life() time.Duration { return time.Duration(g.Seconds) * time.Second }

type sender func(ctx context.Context, token secret.Text, r request) ([]byte, *fault)

// credential reads what is presented at login: the secret id, or the token.
func (a Auth) credential() (secret.Text, error) {
	file := a.TokenFile
	switch {
	case a.AppRole != nil:
		file = a.AppRole.SecretIDFile
	case a.JWT != nil:
		file = a.JWT.TokenFile
	}
	f := &fault{kind: secret.ErrUnavailable}
	text, err := readCredential(file)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		f.reason = fmt.Sprintf("logging in to Vault: the file %s is missing", file)
	case err != nil:
		f.reason = fmt.Sprintf("logging in to Vault: the file %s cannot be read", file)
	case text.Empty():
		f.reason = fmt.Sprintf("logging in to Vault: the file %s is empty", file)
	default:
		return text, nil
	}
	return secret.Text{}, f
}

func readCredential(file string) (secret.Text, error) {
	info, err := os.Stat(file)
	if err != nil {
		return secret.Text{}, err
	}
	if !info.Mode().IsRegular() || info.Size() > maxCredential {
		return secret.Text{}, errors.New("not a file of a credential")
	}
	content, err := os.ReadFile(file)
	if err != nil {
		return secret.Text{}, err
	}
	defer clear(content)
	return secret.NewText(strings.TrimSpace(string(content))), nil
}

// login exchanges the credential for a token.
func (a Auth) login(ctx context.Context, send sender, credential secret.Text) (grant, *fault) {
	switch {
	case a.AppRole != nil:
		return post(ctx, send, a.AppRole.MountPath, remedySecretID, map[string]string{
			"role_id": a.AppRole.RoleID, "secret_id": credential.Reveal(),
		})
	case a.JWT != nil:
		return post(ctx, send, a.JWT.MountPath, remedyToken, map[string]string{"role": a.JWT.Role, "jwt": credential.Reveal()})
	default:
		return lookUp(ctx, send, credential)
	}
}

// Remedies for a login that was refused.
const (
	remedySecretID = "give the server a new secret id, and see that the role exists"
	remedyToken    = "see that the role exists, that it names the token's account and audience, and that Vault can check the token " +
		"(the method's settings); or give the server a new token"
)

// post logs in by a method that is mounted at mount.
func post(ctx context.Context, send sender, mount, remedy string, fields map[string]string) (grant, *fault) {
	body, err := json.Marshal(fields)
	if err != nil {
		return grant{}, &fault{reason: "the credential cannot be sent as JSON"}
	}
	// Each lost answer leaves a token in Vault that no client holds, until it expires. So
	// a login is not repeated at once.
	answer, f := send(ctx, secret.Text{}, request{method: http.MethodPut, path: "auth/" + mount + "/login", body: body, once: true})
	if f != nil {
		// AppRole says 400 to a wrong secret id, JWT to a wrong token, Kubernetes to a role
		// that is not there and 403 to the rest.
		if f.status == http.StatusBadRequest || f.status == http.StatusForbidden || f.status == http.StatusUnauthorized {
			return grant{}, &fault{kind: secret.ErrForbidden, reason: "Vault refuses the login", remedy: remedy, status: f.status}
		}
		return grant{}, f
	}
	clear(body)
	return granted(answer)
}

// granted reads the answer to a login or a renewal, and clears it.
func granted(answer []byte) (grant, *fault) {
	defer wipe(answer)
	var a struct {
		Auth *grant `json:"auth"`
	}
	if err := json.Unmarshal(answer, &a); err != nil || a.Auth == nil {
		return grant{}, unavailable("what answers is not Vault (no token)")
	}
	if a.Auth.Token.Empty() {
		return grant{}, &fault{kind: secret.ErrForbidden, reason: "Vault wants more than this credential to log in"}
	}
	return *a.Auth, nil
}

// lookUp makes a session of a token that was given whole.
func lookUp(ctx context.Context, send sender, token secret.Text) (grant, *fault) {
	answer, f := send(ctx, token, request{method: http.MethodGet, path: "auth/token/lookup-self"})
	if f != nil {
		return grant{}, f
	}
	defer wipe(answer)
	var a struct {
		Data *struct {
			TTL       int64 `json:"ttl"`
			Renewable bool  `json:"renewable"`
		} `json:"data"`
	}
	if err := json.Unmarshal(answer, &a); err != nil || a.Data == nil {
		return grant{}, unavailable("what answers is not Vault (no token)")
	}
	return grant{Token: token, Seconds: a.Data.TTL, Renewable: a.Data.Renewable}, nil
}

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
