package conformance

import (
	"context"
	"encoding/base64"
	"encoding/pem"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/broker/clientconfig"
)

// leaks are texts that must turn up nowhere. It is safe for concurrent use.
type leaks struct {
	mu    sync.Mutex
	texts map[string]string // text -> what it is
}

// add remembers a secret, in plain and in base64. Very short ones would be found
// by chance, and are left out.
func (l *leaks) add(what, text string) {
	if len(text) < 8 {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.texts == nil {
		l.texts = map[string]string{}
	}
	l.texts[text] = what
	l.texts[base64.StdEncoding.EncodeToString([]byte(text))] = what + " in base64"
}

func (l *leaks) addCredential(c broker.Credential) {
	l.add("token", c.Token.Reveal())
	l.add("password", c.Password.Reveal())
	l.add("application credential", c.ApplicationCredentialSecret.Reveal())
	if key := c.ClientKey.Reveal(); key != "" {
		l.add("client key", key)
		if block, _ := pem.Decode([]byte(key)); block != nil {
			l.add("client key", string(block.Bytes))
		}
	}
}

// same reports whether two credentials are one.
func same(a, b broker.Credential) bool {
	return a.Token.Equal(b.Token) && a.ApplicationCredentialSecret.Equal(b.ApplicationCredentialSecret)
}

// in returns what the first leak in text is, or "".
func (l *leaks) in(text string) string {
	l.mu.Lock()
	defer l.mu.Unlock()
	for leak, what := range l.texts {
		if strings.Contains(text, leak) {
			return what
		}
	}
	return ""
}

// sentinels are what a driver may answer with.
var sentinels = []error{
	broker.ErrUnreachable, broker.ErrUnavailable, broker.ErrUnauthorized, broker.ErrForbidden, broker.ErrInvalid,
	broker.ErrUnsupported, broker.ErrNotFound, broker.ErrConflict,
}

// watched is a driver whose every answer is looked at: errors are sentinels and
// hold no secret, credentials are whole.
type watched struct {
	d     broker.Driver
	t     *testing.T
	leaks *leaks
}

func (w watched) Type() broker.Type { return w.d.Type() }

func (w watched) check(method string, err error) {
	w.t.Helper()
	if err == nil {
		return
	}
	known := false
	for _, s := range sentinels {
		known = known || errors.Is(err, s)
	}
	if !known {
		w.t.Errorf("%s errs with %v, which is none of the sentinels", method, err)
	}
	if what := w.leaks.in(errorText(err)); what != "" {
		w.t.Errorf("an error of %s holds a %s", method, what)
	}
}

func (w watched) minted(method string, m broker.Minted, err error) (broker.Minted, error) {
	w.t.Helper()
	w.check(method, err)
	if err != nil {
		if !m.Credential.Empty() {
			w.t.Errorf("%s errs and mints", method)
		}
		return m, err
	}
	w.leaks.addCredential(m.Credential)
	switch {
	case m.Credential.Empty():
		w.t.Errorf("%s minted nothing", method)
	case m.ExpiresAt.IsZero() || m.ExpiresAt.Location() != time.UTC:
		w.t.Errorf("%s: expiry %v, want one in UTC", method, m.ExpiresAt)
	case m.MaxRevocationLag < 0:
		w.t.Errorf("%s: lag %v", method, m.MaxRevocationLag)
	}
	return m, nil
}

func (w watched) Normalize(r broker.Registration) (broker.Target, broker.Credential, error) {
	w.t.Helper()
	w.leaks.addCredential(r.Credential)
	w.leaks.add("kubeconfig", r.Kubeconfig.Reveal())
	w.leaks.add("clouds.yaml", r.CloudsYAML.Reveal())
	target, c, err := w.d.Normalize(r)
	w.leaks.addCredential(c)
	w.check("Normalize", err)
	return target, c, err
}

func (w watched) Check(ctx context.Context, a broker.Access) (broker.Report, error) {
	w.t.Helper()
	w.leaks.addCredential(a.Credential)
	r, err := w.d.Check(ctx, a)
	w.check("Check", err)
	return r, err
}

func (w watched) Prepare(g broker.Grant) (broker.Grant, error) {
	w.t.Helper()
	out, err := w.d.Prepare(g)
	w.check("Prepare", err)
	return out, err
}

func (w watched) Issue(ctx context.Context, a broker.Access, g broker.Grant) (broker.Minted, error) {
	w.t.Helper()
	m, err := w.d.Issue(ctx, a, g)
	return w.minted("Issue", m, err)
}

func (w watched) Renew(ctx context.Context, a broker.Access, g broker.Grant) (broker.Minted, error) {
	w.t.Helper()
	m, err := w.d.Renew(ctx, a, g)
	return w.minted("Renew", m, err)
}

func (w watched) Revoke(ctx context.Context, a broker.Access, i broker.Issued) error {
	w.t.Helper()
	err := w.d.Revoke(ctx, a, i)
	w.check("Revoke", err)
	return err
}

func (w watched) Dead(ctx context.Context, a broker.Access, minted broker.Credential) (bool, error) {
	w.t.Helper()
	dead, err := w.d.Dead(ctx, a, minted)
	w.check("Dead", err)
	if err != nil && dead {
		w.t.Errorf("Dead errs and says dead")
	}
	return dead, err
}

func (w watched) Inventory(ctx context.Context, a broker.Access) ([]broker.Upstream, error) {
	w.t.Helper()
	found, err := w.d.Inventory(ctx, a)
	w.check("Inventory", err)
	return found, err
}

func (w watched) Client(a broker.Access, namespaces []string, leased broker.CredentialKind) clientconfig.Client {
	return w.d.Client(a, namespaces, leased)
}

func (w watched) Forget(ctx context.Context, a broker.Access) error {
	w.t.Helper()
	err := w.d.Forget(ctx, a)
	w.check("Forget", err)
	return err
}
