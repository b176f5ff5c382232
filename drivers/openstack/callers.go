package openstack

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"sync"
	"time"

	"github.com/gophercloud/gophercloud/v2"
	"github.com/gophercloud/gophercloud/v2/openstack/identity/v3/tokens"
	"golang.org/x/sync/singleflight"

	"github.com/vimbroker/vimbroker/drivers/keystone"
	"github.com/vimbroker/vimbroker/policy"
	"github.com/vimbroker/vimbroker/policy/egress"
)

// CallersOptions say which Keystone knows the callers.
type CallersOptions struct {
	// AuthURL is Keystone's URL, with or without /v3: https, or http on loopback.
	AuthURL string
	// CAFile holds the authorities (PEM) of its certificate; empty means the
	// system's. It is read again at each login.
	CAFile string
	// Login is the broker's own credential there: its user must be allowed to
	// validate tokens, as the role "service" or "admin" does.
	Login keystone.Auth
	// Roles maps roles of Keystone to the broker's roles; other roles give nothing. Nil
	// means that member and reader keep their names, and that admin is worth
	// [policy.RoleProjectAdmin].
	Roles map[string]string
	// Timeout bounds one request to Keystone; 0 means 5 s.
	Timeout time.Duration
	// Egress bounds where Keystone may be; nil means [egress.Default] with loopback.
	Egress *egress.Rules
	// LoggedIn, if not nil, is called each time that Keystone has answered with a caller's
	// roles. Tokens of application credentials and trusts do not count: those hold only a
	// part of the roles.
	LoggedIn func(context.Context, policy.Principal)
	// Now tells the time; nil means time.Now.
	Now func() time.Time
	// Log is told when the broker's own login is lost and found; nil discards it.
	Log *slog.Logger
}

// Callers authenticates callers by their Keystone tokens. Keystone's answer on a token is
// cached for [callerTTL], so a revoked token may pass for that long, and never past its
// expiry. One that Keystone does not know is refused for [refusedTTL]. It is safe for
// concurrent use.
type Callers struct {
	options CallersOptions
	rules   *egress.Rules
	now     func() time.Time

	flights singleflight.Group
	seats   chan struct{} // bounds the validations under way
	known   callerCache
	// refused are tokens that Keystone does not know. They take no room from those it knows.
	refused callerCache

	mu      sync.Mutex
	service *session  // nil: not logged in
	until   time.Time // when service is due for replacement
	failed  failedLogin
	lost    bool
}

const (
	// callerTTL is the time for which a validated token is cached.
	callerTTL = 60 * time.Second
	// maxCallers bounds the tokens that are believed at a time.
	maxCallers = 10_000
	// refusedTTL is the time for which an unknown token is refused without a query, and
	// maxRefused bounds those tokens.
	refusedTTL = 5 * time.Second
	maxRefused = 1_000
	// maxValidations bounds the requests to Keystone at a time, so that guessed
	// tokens cost no more than that.
	maxValidations = 16
	// maxCallerName bounds a principal's name without its prefix, in bytes.
	maxCallerName = 128
)

// callerID matches ids of users, domains and projects. Without a colon no caller can be
// mistaken for a "system:" pass, and without an "@" a name has one reading.
var callerID = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$`) })

// NewCallers makes a Callers. It asks no one: the broker logs in when the first
// caller comes. Every fault in the options is in the error.
func NewCallers(o CallersOptions) (*Callers, error) {
	o, err := o.withDefaults()
	if err != nil {
		return nil, fmt.Errorf("authenticating callers by Keystone: %w", err)
	}
	return &Callers{
		options: o, rules: o.Egress, now: o.Now,
		seats: make(chan struct{}, maxValidations), known: newCallerCache(maxCallers), refused: newCallerCache(maxRefused),
	}, nil
}

// Authenticate returns who holds a token:
//
//	Name     <user id>@<id of the user's domain>
//	Project  the id of the project that the token is for
//	Roles    the token's roles in it, as Roles of the options says
//
// Ids and no names: Keystone gives a name to another once it is free, and the same
// to one thing in each domain. A token that Keystone does not know, that has
// expired, that is for no project, or that is for some calls only (access rules) is
// [policy.ErrUnauthenticated]. Any other error means that Keystone cannot be asked
// now, or does not let the broker ask.
func (c *Callers) Authenticate(ctx context.Context, token string) (policy.Principal, error) {
	if !isToken(token) {
		return policy.Principal{}, policy.ErrUnauthenticated
	}
	digest := sha256.Sum256([]byte(token))
	if p, ok := c.known.get(digest, c.now()); ok {
		return p, nil
	}
	if _, ok := c.refused.get(digest, c.now()); ok {
		return policy.Principal{}, policy.ErrUnauthenticated
	}
	// One validation serves all requests with the same token, under a deadline of its
	// own.
	results := c.flights.DoChan(string(digest[:]), func() (any, error) {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 3*c.options.Timeout)
		defer cancel()
		select {
		case c.seats <- struct{}{}:
			defer func() { <-c.seats }()
		case <-ctx.Done():
			return nil, unreachable("too many callers wait for Keystone", "try again later")
		}
		return c.validate(ctx, token, digest)
	})
	select {
	case <-ctx.Done():
		return policy.Principal{}, fmt.Errorf("asking Keystone about a caller: %w", ctx.Err())
	case r := <-results:
		if r.Err != nil {
			return policy.Principal{}, r.Err
		}
		p := r.Val.(policy.Principal)
		p.Roles = slices.Clone(p.Roles)
		return p, nil
	}
}

// Remote reports whether Authenticate has to ask Keystone about a token.
func (c *Callers) Remote(token string) bool {
	digest, now := sha256.Sum256([]byte(token)), c.now()
	_, known := c.known.get(digest, now)
	_, refused := c.refused.get(digest, now)
	return isToken(token) && !known && !refused
}

// validated is Keystone's answer on a token.
type validated struct {
	Token struct {
		User        tokens.User    `json:"user"`
		Project     tokens.Project `json:"project"`
		Roles       []tokens.Role  `json:"roles"`
		ExpiresAt   time.Time      `json:"expires_at"`
		Application *struct {
			Rules []any `json:"access_rules"`
		} `json:"application_credential"`
		Trust *struct{} `json:"OS-TRUST:trust"`
	} `json:"token"`
}

// validate asks Keystone about a token, and remembers a good answer.
func (c *Callers) validate(ctx context.Context, token string, digest [sha256.Size]byte) (policy.Principal, error) {
	began := c.now()
	var body validated
	err := c.ask(ctx, func(ctx context.Context, s *session) error {
		body = validated{}
		response, err := s.identity.Get(ctx, s.identity.ServiceURL("auth", "tokens")+"?nocatalog=true", &body, &gophercloud.RequestOpts{
			OkCodes: []int{http.StatusOK}, MoreHeaders: map[string]string{"X-Subject-Token": token},
		})
		if err == nil {
			_ = response.Body.Close()
		}
		return err
	})
	if said(err, http.StatusNotFound) {
		c.refused.put(digest, caller{until: began.Add(refusedTTL)}, began)
		return policy.Principal{}, policy.ErrUnauthenticated
	}
	if err != nil {
		if !errors.Is(err, errLogin) {
			err = fault(err, "validate", "tokens")
		}
		return policy.Principal{}, fmt.Errorf("asking Keystone about a caller: %w", err)
	}
	p, err := c.principal(body)
	if err != nil {
		return policy.Principal{}, err
	}
	if c.options.LoggedIn != nil && body.Token.Application == nil && body.Token.Trust == nil {
		c.options.LoggedIn(ctx, p)
	}
	until := began.Add(callerTTL)
	if body.Token.ExpiresAt.Before(until) {
		until = body.Token.ExpiresAt
	}
	if began.Before(until) { // it may not be by our clock
		c.known.put(digest, caller{p, until}, began)
	}
	return p, nil
}

// principal makes a principal of what Keystone says.
func (c *Callers) principal(body validated) (policy.Principal, error) {
	t := body.Token
	if !callerID().MatchString(t.User.ID) || !callerID().MatchString(t.User.Domain.ID) || t.ExpiresAt.IsZero() {
		return policy.Principal{}, fmt.Errorf("asking Keystone about a caller: %w", notKeystone(0))
	}
	if t.Project.ID == "" || t.Application != nil && t.Application.Rules != nil {
		return policy.Principal{}, policy.ErrUnauthenticated
	}
	name := t.User.ID + "@" + t.User.Domain.ID
	p := policy.Principal{Name: policy.ByKeystone + ":" + name, Project: t.Project.ID}
	if !callerID().MatchString(p.Project) || len(name) > maxCallerName {
		return policy.Principal{}, fmt.Errorf("asking Keystone about a caller: %w", notKeystone(0))
	}
	roles := map[string]bool{}
	for _, role := range t.Roles {
		if here, known := c.options.Roles[role.Name]; known {
			roles[here] = true
		}
	}
	p.Roles = slices.Sorted(maps.Keys(roles))
	return p, nil
}

// errLogin marks errors of the broker's own login.
var errLogin = errors.New("the broker cannot log in to the callers' Keystone")

// callerCache remembers the principals of tokens by their digests: the tokens
// themselves are not kept.
type callerCache struct {
	most int // entries

	mu      sync.Mutex
	entries map[[sha256.Size]byte]caller
}

func newCallerCache(most int) callerCache {
	return callerCache{most: most, entries: map[[sha256.Size]byte]caller{}}
}

// caller is a principal that is believed until a time.
type caller struct {
	principal policy.Principal
	until     time.Time
}

func (c *callerCache) get(digest [sha256.Size]byte, now time.Time) (policy.Principal, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	found, ok := c.entries[digest]
	if !ok || !now.Before(found.until) {
		return policy.Principal{}, false
	}
	p := found.principal
	p.Roles = slices.Clone(p.Roles)
	return p, true
}

// put remembers a caller. If there is no room it forgets the expired ones, or
// else any one.
func (c *callerCache) put(digest [sha256.Size]byte, found caller, now time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, there := c.entries[digest]; !there && len(c.entries) >= c.most {
		for d, e := range c.entries {
			if !now.Before(e.until) {
				delete(c.entries, d)
			}
		}
		for d := range c.entries {
			if len(c.entries) < c.most {
				break
			}
			delete(c.entries, d)
		}
	}
	c.entries[digest] = found
}
