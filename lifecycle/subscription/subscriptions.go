package subscription

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/google/uuid"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/broker/failpoint"
	"github.com/vimbroker/vimbroker/broker/keyring"
	"github.com/vimbroker/vimbroker/lifecycle"
	"github.com/vimbroker/vimbroker/policy"
	"github.com/vimbroker/vimbroker/policy/audit"
	"github.com/vimbroker/vimbroker/policy/egress"
)

// Options wire [Subscriptions]. Every field is required.
type Options struct {
	Store Store
	// Keys are the key stores; new keys go to the first.
	Keys keyring.Ring
	// Ledger is the broker.
	Ledger   Ledger
	Endpoint Endpoint
	// Render writes the notification that a subscriber gets of an event.
	Render func(Subscription, lifecycle.Event) ([]byte, error)
	// Guard is the server's, whose sink is the store.
	Guard *audit.Guard
	// Egress gives the addresses that may be dialled for a project.
	Egress func(project string) *egress.Rules
	Terms  Terms
	Log    *slog.Logger
	// Now is the store's time.
	Now func() time.Time
}

// Ledger is the broker's ledger of retired keys.
type Ledger interface {
	// RetireKeys destroys the keys on the ledger. A pass retries those that it cannot destroy now.
	RetireKeys(ctx context.Context)
}

// Terms are the numbers of an operator. All of them are given: start from [DefaultTerms].
type Terms struct {
	// PerProject bounds the subscriptions of a project; 0 is no bound.
	PerProject int
	// GiveUpAfter is the time after its event for which a notification is retried.
	GiveUpAfter time.Duration
	// Keep is the number of notifications that wait for a failing subscriber; older ones are given
	// up.
	Keep int
	// SendTime bounds one notification.
	SendTime time.Duration
	// Certificate: the operator has configured a client certificate.
	Certificate bool
}

// DefaultTerms are the terms of an operator who sets none.
func DefaultTerms() Terms {
	return Terms{PerProject: 100, GiveUpAfter: 24 * time.Hour, Keep: 10_000, SendTime: 10 * time.Second}
}

const (
	// makingTime bounds the making of a subscription; an older attempt is a dead process's.
	makingTime = 5 * time.Minute
	// cleanupTime bounds the undoing of an attempt.
	cleanupTime = 30 * time.Second
	// sealedField is the envelope's field for a subscriber's secrets.
	sealedField = "subscriber secrets"
	// maxURI and maxSecret bound a subscriber's texts, in bytes.
	maxURI    = 2048
	maxSecret = 4096
)

// Subscriptions keeps subscriptions, and sends notifications to them. Its methods are safe for concurrent use, by any
// number of processes on one store. Each takes the caller, decides, and records. A subscription of another project is
// ErrNotFound.
type Subscriptions struct {
	Options
	desk broker.Desk

	// tardy has one place for each subscriber that fails or is slow and is worked nevertheless.
	tardy chan struct{}
	mu    sync.Mutex
	slow  map[string]time.Time // when those took long that did so the last time
	// working counts the attempts under way.
	working atomic.Int64
	sent    Deliveries
}

// New returns Subscriptions; it starts nothing. [Subscriptions.Worker] sends the notifications.
func New(o Options) *Subscriptions {
	o.Now = broker.Clock(o.Now)
	return &Subscriptions{
		Options: o, desk: broker.Desk{Guard: o.Guard, Log: o.Log, Missing: gone},
		tardy: make(chan struct{}, tardyAtOnce), slow: map[string]time.Time{},
	}
}

// NewSubscription holds the values of a new subscription.
type NewSubscription struct {
	Callback, Base string
	// Verbosity is Full if it is empty.
	Verbosity Verbosity
	Filter    Filter
	// Auth are the ways of authentication that the subscriber accepts; none are none.
	Auth        []string
	Credentials Credentials
}

// Create makes a subscription, once its subscriber has answered a test, which is asked when the intent is stored. If the
// project has one that gets the same notifications at the same place, that one is returned, and made is false.
func (s *Subscriptions) Create(ctx context.Context, p policy.Principal, r NewSubscription) (one Subscription, made bool, err error) {
	fail := func(err error) (Subscription, bool, error) { return Subscription{}, false, err }
	act, err := s.desk.Enter(ctx, p, policy.SubscriptionCreate, broker.InProject(p.Project))
	if err != nil {
		return fail(err)
	}
	host, err := s.check(&r)
	if err != nil {
		return fail(s.desk.Refuse(ctx, act, err))
	}
	one = Subscription{
		ID: uuid.NewString(), Project: p.Project, Callback: r.Callback, Base: r.Base, Verbosity: cmp.Or(r.Verbosity, Full),
		Filter: r.Filter, Auth: r.Auth, CreatedBy: p.Name, CreatedAt: s.Now(),
	}
	one.State, one.Since = Making, one.CreatedAt
	if r.Credentials.secrets() {
		one.KeyStore = s.Keys.Name()
	}
	one.Digest = one.digest()
	if there, found, err := s.like(ctx, one); found || err != nil {
		if err == nil {
			err = act.Read(ctx)
		}
		return there, false, err
	}
	act.With(audit.DetailSubscription, one.ID).With(audit.DetailEndpointHost, host)
	err = s.Store.CreateSubscription(ctx, one, s.Terms.PerProject, act.Intent())
	if errors.Is(err, broker.ErrExists) { // another was quicker
		if there, found, err := s.like(ctx, one); found || err != nil {
			return there, false, err
		}
	}
	if err != nil {
		return fail(s.desk.Refuse(ctx, act, err))
	}
	failpoint.At("subscription.intent")
	if one, err = s.make(ctx, one, r.Credentials, act); err != nil {
		return fail(err)
	}
	failpoint.At("subscription.made")
	return one, true, nil
}

// like returns the subscription that gets what one would.
func (s *Subscriptions) like(ctx context.Context, one Subscription) (Subscription, bool, error) {
	found, _, err := s.Store.Subscriptions(ctx, Query{Project: one.Project, Digest: one.Digest, Page: broker.Page{Size: 1}})
	if err != nil || len(found) == 0 {
		return Subscription{}, false, err
	}
	if !found[0].State.Needed() {
		return Subscription{}, false, &broker.Error{Kind: broker.ErrConflict, Detail: "such a subscription is being made", Remedy: "try again"}
	}
	return found[0], true, nil
}

// make tests the subscriber, seals its secrets, and makes the subscription active; or drops it.
func (s *Subscriptions) make(ctx context.Context, one Subscription, c Credentials, act *audit.Act) (Subscription, error) {
	stored := one
	err := s.test(ctx, one, c)
	if err == nil && c.secrets() {
		stored, err = s.sealed(ctx, one, c)
	}
	if err == nil {
		stored, err = s.Store.UpdateSubscription(ctx, one.ID, func(now *Subscription) error {
			now.State, now.Since, now.Sealed = Active, s.Now(), stored.Sealed
			return nil
		}, act.Done())
	}
	if err == nil {
		return stored, nil
	}
	if left := s.drop(ctx, one); left != nil {
		s.Log.WarnContext(ctx, "a subscription that was not made is left for the pass", "subscription", one.ID, "error", left)
	}
	return one, s.desk.Refuse(ctx, act, err)
}

// test asks the subscriber whether it takes notifications.
func (s *Subscriptions) test(ctx context.Context, one Subscription, c Credentials) error {
	err := s.Endpoint.Test(ctx, s.target(one, c))
	if err == nil {
		return nil
	}
	if errors.Is(err, ErrOurs) {
		return &broker.Error{
			Kind: broker.ErrInvalid, Field: "callbackUri", Detail: "the test of the subscriber failed: " + err.Error(), Cause: err,
		}
	}
	s.Log.WarnContext(ctx, "the test of a subscriber failed", "project", one.Project, "error", err)
	// No more is told: whoever names a URL is not to learn what answers there.
	return &broker.Error{
		Kind: broker.ErrInvalid, Field: "callbackUri", Detail: "the test of the subscriber failed: refused",
		Remedy: "have it answer GET on the callback URI with 204; the broker's log says why it was refused", Cause: err,
	}
}

// sealed is a subscription with its secrets sealed, under a key of its own.
func (s *Subscriptions) sealed(ctx context.Context, one Subscription, c Credentials) (_ Subscription, err error) {
	if one.Sealed, err = s.Keys.Seal(ctx, one.held().Owner, sealedField, c.text(one.Callback)); err != nil {
		return one, keyFault(err)
	}
	failpoint.At("subscription.key-stored")
	return one, nil
}

// open opens the secrets of a subscription.
func (s *Subscriptions) open(ctx context.Context, one Subscription) (Credentials, error) {
	c := Credentials{}
	if one.Text != "" {
		text, err := s.Keys.Open(ctx, one.held().Owner, sealedField, one.Sealed)
		if err != nil && !errors.Is(err, keyring.ErrLost) {
			return c, fmt.Errorf("%w: %w", ErrOurs, keyFault(err))
		}
		if err == nil {
			c, err = readCredentials(text, one.Callback)
		}
		if err != nil {
			return c, keyFault(fmt.Errorf("%w: %w", keyring.ErrLost, err))
		}
	}
	c.Certificate = slices.Contains(one.Auth, TLS)
	return c, nil
}

// keyFault is an error of a key ring as callers are told it.
func keyFault(err error) error {
	return broker.KeyFault(err, broker.Error{
		Detail: "the subscriber's secrets do not open: their row or their key is lost or was changed",
		Remedy: "delete the subscription, and make it anew",
	})
}

func (s *Subscriptions) target(one Subscription, c Credentials) Subscriber {
	c.Certificate = slices.Contains(one.Auth, TLS)
	return Subscriber{
		Callback: one.Callback, Egress: s.Egress(one.Project), Credentials: func(context.Context) (Credentials, error) { return c, nil },
	}
}

// check refuses a request that cannot be served, and returns the host of the callback.
func (s *Subscriptions) check(r *NewSubscription) (host string, err error) {
	if v := r.Verbosity; v != "" && v != Full && v != Short {
		return "", broker.Invalid("verbosity", "must be %s or %s", Full, Short)
	}
	if err := r.Filter.check(); err != nil {
		return "", err
	}
	c := &r.Credentials
	slices.Sort(r.Auth)
	r.Auth = slices.Compact(r.Auth)
	for _, way := range r.Auth {
		switch {
		case way == TLS && !s.Terms.Certificate:
			return "", &broker.Error{
				Kind: broker.ErrUnsupported, Field: "authentication.authType", Detail: "the broker has no client certificate for " + TLS,
				Remedy: "have the broker's operator configure one (sol003.notifications.certFile), or accept another way",
			}
		case way == Basic && (c.User == "" || c.Password.Empty()):
			return "", broker.Invalid("authentication.paramsBasic", "must hold userName and password")
		case way == OAuth2 && (c.ClientID == "" || c.ClientPassword.Empty() || c.TokenEndpoint == ""):
			return "", broker.Invalid("authentication.paramsOauth2ClientCredentials", "must hold clientId, clientPassword and tokenEndpoint")
		case way != TLS && way != Basic && way != OAuth2:
			return "", broker.Invalid("authentication.authType", "must be %s, %s or %s", Basic, OAuth2, TLS)
		}
	}
	if !slices.Contains(r.Auth, Basic) && (c.User != "" || !c.Password.Empty()) {
		return "", broker.Invalid("authentication.authType", "must contain %s where paramsBasic is given", Basic)
	}
	if !slices.Contains(r.Auth, OAuth2) && (c.ClientID != "" || !c.ClientPassword.Empty() || c.TokenEndpoint != "") {
		return "", broker.Invalid("authentication.authType", "must contain %s where paramsOauth2ClientCredentials is given", OAuth2)
	}
	if strings.Contains(c.User, ":") { // RFC 7617 section 2
		return "", broker.Invalid("authentication.paramsBasic.userName", `must not contain ":"`)
	}
	for field, text := range map[string]string{
		"paramsBasic.userName": c.User, "paramsBasic.password": c.Password.Reveal(),
		"paramsOauth2ClientCredentials.clientId": c.ClientID, "paramsOauth2ClientCredentials.clientPassword": c.ClientPassword.Reveal(),
	} {
		if len(text) > maxSecret || !printable(text) {
			return "", broker.Invalid("authentication."+field, "must be at most %d bytes of printable text", maxSecret)
		}
	}
	if c.TokenEndpoint != "" {
		if _, err := Address("authentication.paramsOauth2ClientCredentials.tokenEndpoint", c.TokenEndpoint, true); err != nil {
			return "", err
		}
	}
	return Address("callbackUri", r.Callback, len(r.Auth) > 0)
}

// Address checks a URI, and returns its host. A secret is sent to one with TLS only.
func Address(field, text string, tls bool) (string, error) {
	u, err := url.Parse(text)
	switch {
	case err != nil || len(text) > maxURI || !printable(text) || u.Host == "" || u.Hostname() == "" || u.Opaque != "" ||
		u.Scheme != "https" && u.Scheme != "http":
		return "", broker.Invalid(field, "must be like https://nfvo.example.org/notifications, of at most %d bytes", maxURI)
	case u.User != nil || u.Fragment != "":
		return "", broker.Invalid(field, "must have no user, password or fragment")
	}
	if ip, err := netip.ParseAddr(u.Hostname()); tls && u.Scheme != "https" && (err != nil || !ip.IsLoopback()) {
		return "", broker.Invalid(field, "must begin with https:// where authentication is given, unless its host is a loopback address")
	}
	return u.Hostname(), nil
}

// Subscription returns one.
func (s *Subscriptions) Subscription(ctx context.Context, p policy.Principal, id string) (Subscription, error) {
	one, err := s.find(ctx, p, policy.SubscriptionShow, id)
	if err != nil {
		return Subscription{}, err
	}
	if err := s.desk.Read(ctx, p, policy.SubscriptionShow, one.resource()); err != nil {
		return Subscription{}, err
	}
	shown := []Subscription{one}
	err = s.showWaiting(ctx, shown)
	return shown[0], err
}

// Subscriptions returns a page of those that p may see, the newest first, and the next page's token. A page may hold
// fewer than was asked for, and even none, while there is a next one.
func (s *Subscriptions) Subscriptions(ctx context.Context, p policy.Principal, page broker.Page) ([]Subscription, string, error) {
	if err := s.desk.Read(ctx, p, policy.SubscriptionShow, broker.InProject(p.Project)); err != nil {
		return nil, "", err
	}
	q := Query{Project: p.Project, Page: page}
	if s.Guard.Allows(p, policy.SubscriptionShow, broker.InProject("*")) {
		q.Project = ""
	}
	found, next, err := s.Store.Subscriptions(ctx, q)
	if err != nil {
		return nil, "", err
	}
	found = slices.DeleteFunc(found, func(one Subscription) bool {
		return !one.State.Needed() || !s.Guard.Allows(p, policy.SubscriptionShow, one.resource())
	})
	return found, next, s.showWaiting(ctx, found)
}

// showWaiting counts the waiting notifications of subscriptions, and hides sealed texts.
func (s *Subscriptions) showWaiting(ctx context.Context, all []Subscription) error {
	ids := make([]string, len(all))
	for n, one := range all {
		ids[n] = one.ID
	}
	waiting, err := s.Store.WaitingNotifications(ctx, ids)
	for n := range all {
		all[n].Waiting, all[n].Text = waiting[all[n].ID], ""
	}
	return err
}

// Delete ends a subscription: notifications that were not sent yet are dropped. A notification that is being sent at
// that moment may still arrive.
func (s *Subscriptions) Delete(ctx context.Context, p policy.Principal, id string) error {
	one, err := s.find(ctx, p, policy.SubscriptionDelete, id)
	if err != nil {
		return err
	}
	act, err := s.desk.Enter(ctx, p, policy.SubscriptionDelete, one.resource())
	if err != nil {
		return err
	}
	if err := s.Store.DeleteSubscription(ctx, one.ID, act.With(audit.DetailSubscription, one.ID).Done()); err != nil {
		return s.desk.Refuse(ctx, act, err)
	}
	failpoint.At("subscription.deleted")
	s.forget(one.ID)
	if one.Ref != "" {
		s.Ledger.RetireKeys(ctx)
	}
	return nil
}

// find returns the active subscription of that id. A missing one is recorded; enter decides whether p may see it.
func (s *Subscriptions) find(ctx context.Context, p policy.Principal, action policy.Action, id string) (Subscription, error) {
	return broker.Find(ctx, s.desk, p, action, policy.KindSubscription, id, func(ctx context.Context, id string) (Subscription, error) {
		one, err := s.Store.Subscription(ctx, strings.ToLower(id))
		if err == nil && !one.State.Needed() {
			err = broker.ErrNotFound
		}
		return one, err
	})
}

func gone() error { return &broker.Error{Kind: broker.ErrNotFound, Detail: "no such subscription"} }

// drop ends a subscription that was never made, so that it never will be; then it destroys what seals its secret, and
// removes its row. One that is needed by now stays.
func (s *Subscriptions) drop(ctx context.Context, one Subscription) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), cleanupTime)
	defer cancel()
	act, err := s.desk.Enter(ctx, broker.System("notifier", one.Project), policy.SubscriptionDelete, one.resource())
	if err != nil {
		return err
	}
	act.With(audit.DetailSubscription, one.ID)
	_, err = s.Store.UpdateSubscription(ctx, one.ID, func(now *Subscription) error {
		if now.State.Needed() {
			return broker.ErrConflict
		}
		now.State, now.Since = Abandoned, s.Now()
		return nil
	}, act.Intent())
	if errors.Is(err, broker.ErrConflict) {
		return nil
	}
	if err != nil && !errors.Is(err, broker.ErrNotFound) {
		return err
	}
	if one.KeyStore != "" { // without a secret there is no key, and no key store is asked
		keys, err := s.Keys.Only(one.KeyStore)
		if err == nil {
			err = keys.Drop(ctx, one.ID)
		}
		if err != nil {
			return keyFault(err)
		}
	}
	failpoint.At("subscription.dropped")
	return s.Store.DeleteSubscription(ctx, one.ID, act.Done(audit.DetailReason, "the subscription was not made"))
}

// Settle is the pass that removes subscriptions that were begun before a time and never made, and ends resealing that
// was begun before.
func (s *Subscriptions) Settle(ctx context.Context, before time.Time) error {
	var failed []error
	q := Query{Unfinished: true}
	for one, err := range broker.Pages(&q.Page, func() ([]Subscription, string, error) { return s.Store.Subscriptions(ctx, q) }) {
		switch {
		case err != nil:
		case one.State == Rekeying && one.Since.Before(before):
			err = keyFault(s.Keys.EndRekey(ctx, s.sealedRow(one), one.Since))
		case one.State == Abandoned, one.State == Making && one.CreatedAt.Before(before):
			err = s.drop(ctx, one)
		}
		failed = append(failed, err)
	}
	return errors.Join(failed...)
}

// Passes are the periodic work, for a job queue to run.
func (s *Subscriptions) Passes() []broker.Pass {
	return []broker.Pass{{Name: "settle-subscriptions", Every: time.Minute, Run: func(ctx context.Context) error {
		return s.Settle(ctx, s.Now().Add(-makingTime))
	}}}
}
