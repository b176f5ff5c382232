package openstack

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"strings"
	"time"

	"github.com/gophercloud/gophercloud/v2"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/drivers/keystone"
	"github.com/vimbroker/vimbroker/policy"
	"github.com/vimbroker/vimbroker/policy/egress"
)

// Validate returns every fault in the options, joined, without asking anyone or
// reading a file: what [NewCallers] would refuse.
func (o CallersOptions) Validate() error {
	_, err := o.withDefaults()
	return err
}

func (o CallersOptions) withDefaults() (CallersOptions, error) {
	if o.Timeout == 0 {
		o.Timeout = 5 * time.Second
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Roles == nil {
		o.Roles = map[string]string{
			policy.RoleAdmin: policy.RoleProjectAdmin, policy.RoleMember: policy.RoleMember, policy.RoleReader: policy.RoleReader,
		}
	}
	var errs []error
	need := func(ok bool, format string, args ...any) {
		if !ok {
			errs = append(errs, fmt.Errorf(format, args...))
		}
	}
	if o.Egress == nil {
		rules, err := egress.Parse(true, nil, nil)
		need(err == nil, "egress rules: %w", err)
		o.Egress = rules
	}
	address, err := keystone.Address(o.AuthURL, "v3")
	need(err == nil, "address of Keystone: %w", err)
	o.AuthURL = strings.TrimSuffix(address, "/v3/")
	need(o.Timeout > 0, "timeout %v: must be positive", o.Timeout)
	for from, to := range o.Roles {
		need(isName(from) && isName(to) && to != policy.RoleSystem, "role %q: cannot be worth %q", from, to)
	}
	return o, errors.Join(append(errs, o.Login.Flaws()...)...)
}

// failedLogin remembers a login that failed, so that it is not tried with each
// caller: Keystone may lock a user after refusals, and while it does not answer all
// would wait for each other. Another secret is tried at once.
type failedLogin struct {
	digest [sha256.Size]byte
	until  time.Time
	err    error
}

// refusedPause and failedPause are how long a login that Keystone refused, or did
// not answer, is not tried again.
const (
	refusedPause = 30 * time.Second
	failedPause  = time.Second
)

// ask asks Keystone as the broker's own user. If Keystone no longer accepts its
// token, or the connection broke, it logs in and asks again, once. Errors are
// gophercloud's own, or wrap errLogin.
func (c *Callers) ask(ctx context.Context, question func(context.Context, *session) error) error {
	s, err := c.login(ctx, nil)
	if err != nil {
		return err
	}
	err = c.bounded(ctx, s, question)
	var answer gophercloud.ErrUnexpectedResponseCode
	if err == nil || errors.As(err, &answer) && answer.Actual != http.StatusUnauthorized {
		return err
	}
	if s, err = c.login(ctx, s); err != nil {
		return err
	}
	return c.bounded(ctx, s, question)
}

func (c *Callers) bounded(ctx context.Context, s *session, question func(context.Context, *session) error) error {
	ctx, cancel := context.WithTimeout(ctx, c.options.Timeout)
	defer cancel()
	return question(ctx, s)
}

// login returns the broker's session at the callers' Keystone, other than not. The
// lock is held during a login, because other callers need its result.
func (c *Callers) login(ctx context.Context, not *session) (*session, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	now := c.now()
	if c.service != nil && c.service != not && now.Before(c.until) {
		return c.service, nil
	}
	text, err := c.options.Login.Secret()
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errLogin, err)
	}
	defer clear(text)
	digest := sha256.Sum256(text)
	if c.failed.digest == digest && now.Before(c.failed.until) {
		return nil, c.failed.err
	}
	s, err := c.logInAs(ctx, string(text))
	if err != nil {
		pause := failedPause
		if said(err, http.StatusUnauthorized) || said(err, http.StatusNotFound) || said(err, http.StatusForbidden) {
			pause, err = refusedPause, errors.New("Keystone refuses its credential")
		} else {
			err = fault(err, "log in", "")
		}
		c.failed = failedLogin{digest, c.now().Add(pause), fmt.Errorf("%w: %w", errLogin, err)}
		if !c.lost {
			c.options.Log.Warn("callers cannot be authenticated by Keystone; trying on", "error", err)
		}
		c.lost = true
		return nil, c.failed.err
	}
	if c.lost {
		c.options.Log.Info("callers are authenticated by Keystone again")
	}
	if c.service != nil {
		c.service.close()
	}
	life := max(s.expires.Sub(now), failedPause) // by our clock it may be over
	c.service, c.until, c.failed, c.lost = s, now.Add(life-life/4), failedLogin{}, false
	return s, nil
}

func (c *Callers) logInAs(ctx context.Context, text string) (*session, error) {
	target := broker.Target{Endpoint: c.options.AuthURL}
	if c.options.CAFile != "" {
		pem, err := os.ReadFile(c.options.CAFile)
		if err != nil {
			return nil, unreachable("the file of Keystone's certificate authorities cannot be read", "")
		}
		target.CACert = string(pem)
	}
	way, err := dial(target, c.rules)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, c.options.Timeout)
	defer cancel()
	s, err := way.login(ctx, c.options.Login.Options(text))
	if err != nil {
		way.close()
		return nil, err
	}
	return s, nil
}

// Close releases the connections. The broker's token expires by itself.
func (c *Callers) Close() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.service != nil {
		c.service.close()
	}
}
