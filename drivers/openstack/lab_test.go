package openstack_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/broker/secret"
	"github.com/vimbroker/vimbroker/drivers/openstack"
	"github.com/vimbroker/vimbroker/policy/egress"
	"github.com/vimbroker/vimbroker/test/fake"
	"github.com/vimbroker/vimbroker/test/fakekeystone"
	"github.com/vimbroker/vimbroker/test/testlog"
)

// lab is a driver, a fake cloud without TLS and the access of a user of it.
type lab struct {
	*fakekeystone.Server
	t       *testing.T
	driver  *openstack.Driver
	access  broker.Access
	user    fakekeystone.User
	project fakekeystone.Project
	log     logged
}

func newLab(t *testing.T) *lab {
	t.Helper()
	return newLabOn(t, fakekeystone.Options{Plain: true})
}

func newLabOn(t *testing.T, o fakekeystone.Options) *lab {
	t.Helper()
	s := fakekeystone.New(t, o)
	l := &lab{Server: s, t: t, project: s.Project("demo")}
	l.user = s.User("operator", l.project, "member")
	l.driver = openstack.New(openstack.Options{Log: testlog.To(t, slog.NewTextHandler(&l.log, &slog.HandlerOptions{Level: slog.LevelDebug}))})
	l.access = l.to(s.Endpoint)
	return l
}

// to is an access to the cloud by another way.
func (l *lab) to(endpoint string) broker.Access {
	l.t.Helper()
	target, credential := normalize(l.t, broker.Registration{
		Endpoint: endpoint, Scope: broker.Scope{ProjectName: l.project.Name, ProjectDomainName: "Default", UserDomainName: "Default"},
		Credential: broker.Credential{Username: l.user.Name, Password: secret.NewText(l.user.Password)},
	})
	rules := egress.Default()
	rules.AllowLoopback = true
	return broker.Access{VIM: uuid.NewString(), Generation: 1, Target: target, Credential: credential, Egress: rules}
}

// register checks the VIM and keeps what that found.
func (l *lab) register() {
	l.t.Helper()
	r, err := l.driver.Check(l.t.Context(), l.access)
	if err != nil {
		l.t.Fatal(err)
	}
	l.driver.Wait()
	l.access.Discovered, l.access.Identity = r.Discovered, r.Identity
}

// grant is a new lease of an hour, prepared.
func (l *lab) grant(role string) broker.Grant {
	l.t.Helper()
	id := uuid.NewString()
	g, err := l.driver.Prepare(broker.Grant{Lease: id, Handle: "lease-" + id, TTL: time.Hour, Role: role})
	if err != nil {
		l.t.Fatal(err)
	}
	return g
}

func (l *lab) issue(g broker.Grant) broker.Minted {
	l.t.Helper()
	m, err := l.driver.Issue(l.t.Context(), l.access, g)
	if err != nil {
		l.t.Fatal(err)
	}
	return m
}

// call is a method of the driver that talks to the cloud.
type call func(context.Context) error

// each calls every such method on a lease that was issued. Check is that of a
// registration, which asks the most.
func (l *lab) each(g broker.Grant, m broker.Minted, do func(method string, call call)) {
	l.t.Helper()
	anew := l.access
	anew.Discovered, anew.Identity = broker.Discovered{}, ""
	another := l.grant("member")
	do("Check", func(ctx context.Context) error { _, err := l.driver.Check(ctx, anew); return err })
	do("Issue", func(ctx context.Context) error { _, err := l.driver.Issue(ctx, l.access, another); return err })
	do("Renew", func(ctx context.Context) error { _, err := l.driver.Renew(ctx, l.access, g); return err })
	do("Inventory", func(ctx context.Context) error { _, err := l.driver.Inventory(ctx, l.access); return err })
	do("Dead", func(ctx context.Context) error {
		dead, err := l.driver.Dead(ctx, l.access, m.Credential)
		if dead {
			return errors.New("the credential lives and is called dead")
		}
		return err
	})
	do("Revoke", func(ctx context.Context) error {
		return l.driver.Revoke(ctx, l.access, broker.Issued{Handle: g.Handle, Credential: m.Credential})
	})
	do("Forget", func(ctx context.Context) error { return l.driver.Forget(ctx, l.access) })
}

// wantFault demands an error of that kind that says these words, in our own.
func wantFault(t *testing.T, what string, err, kind error, words string) {
	t.Helper()
	var e *broker.Error
	if !errors.Is(err, kind) || !errors.As(err, &e) || !strings.Contains(e.Error(), words) {
		t.Errorf("%s = %v, want %v that says %q", what, err, kind, words)
	}
	wantQuiet(t, what, err, canary, fake.Canary)
}

// wantQuiet demands that an error, its causes included, holds none of the secrets.
func wantQuiet(t *testing.T, what string, err error, secrets ...string) {
	t.Helper()
	for _, s := range secrets {
		for e := range causes(err) {
			if text := fmt.Sprintf("%v %+v %#v", e, e, e); strings.Contains(text, s) {
				t.Errorf("%s: the error holds a secret: %T", what, e)
			}
		}
	}
}

// causes are an error and all that it wraps.
func causes(err error) map[error]bool {
	all := map[error]bool{}
	var walk func(error)
	walk = func(err error) {
		if err == nil {
			return
		}
		all[err] = true
		switch e := err.(type) { //nolint:errorlint // it is taken apart
		case interface{ Unwrap() []error }:
			for _, cause := range e.Unwrap() {
				walk(cause)
			}
		case interface{ Unwrap() error }:
			walk(e.Unwrap())
		}
	}
	walk(err)
	return all
}

// logged is what a driver has logged.
type logged struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (l *logged) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

func (l *logged) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}
