package subscription_test

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/broker/keyring"
	"github.com/vimbroker/vimbroker/broker/secret"
	"github.com/vimbroker/vimbroker/drivers/callback"
	"github.com/vimbroker/vimbroker/lifecycle"
	"github.com/vimbroker/vimbroker/lifecycle/subscription"
	"github.com/vimbroker/vimbroker/policy"
	"github.com/vimbroker/vimbroker/policy/audit"
	"github.com/vimbroker/vimbroker/policy/egress"
	"github.com/vimbroker/vimbroker/test/clock"
)

// pair writes the certificate that all servers of tests have, with its key.
func pair(t *testing.T) (cert, key string) {
	t.Helper()
	server := httptest.NewTLSServer(nil)
	server.Close()
	dir := t.TempDir()
	write := func(name, kind string, content []byte) string {
		file := filepath.Join(dir, name)
		if err := os.WriteFile(file, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: content}), 0o600); err != nil {
			t.Fatal(err)
		}
		return file
	}
	private, err := x509.MarshalPKCS8PrivateKey(server.TLS.Certificates[0].PrivateKey)
	if err != nil {
		t.Fatal(err)
	}
	return write("cert.pem", "CERTIFICATE", server.Certificate().Raw), write("key.pem", "PRIVATE KEY", private)
}

// reached meets subscribers by other options.
func reached(t *testing.T, o callback.Options) func(*subscription.Options) {
	t.Helper()
	o.CAFile, _ = pair(t)
	c := callback.New(o)
	t.Cleanup(c.Close)
	return func(s *subscription.Options) { s.Endpoint = c }
}

// The broker's certificate is shown to those who accept TLS_CERT, and to nobody else.
func TestTheCertificateIsShownWhereItIsAccepted(t *testing.T) {
	certificate := func(o *subscription.Options) { o.Terms.Certificate = true }
	o := callback.Options{}
	o.CertFile, o.KeyFile = pair(t)
	with := newOffice(t, certificate, reached(t, o))
	without := newOffice(t, certificate)
	var shown atomic.Int32
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		shown.Store(int32(len(r.TLS.PeerCertificates)))
		w.WriteHeader(http.StatusNoContent)
	}))
	s.TLS = &tls.Config{ClientAuth: tls.RequestClientCert} //nolint:gosec // whatever is shown is taken
	s.StartTLS()
	t.Cleanup(s.Close)
	for n, c := range []struct {
		auth []string
		want int32
	}{{nil, 0}, {[]string{subscription.TLS}, 1}} {
		r := subscription.NewSubscription{Callback: fmt.Sprint(s.URL, "/", n), Auth: c.auth}
		one, _, err := with.Create(t.Context(), alice, r)
		if err != nil || shown.Load() != c.want {
			t.Fatalf("the test by %q: %v, %d certificates, want %d", c.auth, err, shown.Load(), c.want)
		}
		shown.Store(-1)
		with.happens()
		if err := with.work(one.ID); err != nil || shown.Load() != c.want {
			t.Errorf("sending by %q: %v, %d certificates, want %d", c.auth, err, shown.Load(), c.want)
		}
	}
	shown.Store(-1)
	if _, _, err := without.Create(t.Context(), alice, subscription.NewSubscription{Callback: s.URL, Auth: []string{subscription.TLS}}); err == nil || !strings.Contains(err.Error(), "no client certificate any more") || shown.Load() != -1 {
		t.Errorf("without a certificate: %v", err)
	}
}

// byToken authenticates by a token of an endpoint.
func byToken(endpoint string) func(*subscription.NewSubscription) {
	return func(r *subscription.NewSubscription) {
		r.Auth = []string{subscription.OAuth2}
		r.Credentials = subscription.Credentials{ClientID: "broker", ClientPassword: secret.NewText(canary), TokenEndpoint: endpoint}
	}
}

// A token endpoint is met as carefully as the subscriber: by the egress rules, without redirects, and nothing of what it
// answers is repeated.
func TestHostileTokenEndpoints(t *testing.T) {
	o, s := newOffice(t), newSubscriber(t, nil)
	aim := newSubscriber(t, nil)
	for says, answer := range map[string]http.HandlerFunc{
		"redirects are not followed": func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, aim.URL, http.StatusTemporaryRedirect)
		},
		"answers 400": func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(http.StatusBadRequest)
			_, _ = io.WriteString(w, `{"error":"`+canary+`","error_description":"`+canary+`"}`)
		},
		"without an access token": func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			_, _ = io.WriteString(w, `{"access_token":["`+canary+`"]}`)
		},
		"the connection to the token endpoint broke": func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) },
		"the broker's egress rules refuse":           nil,
	} {
		endpoint := "https://169.254.169.254/token?key=" + canary
		if answer != nil {
			login := httptest.NewTLSServer(answer)
			t.Cleanup(login.Close)
			login.Config.ErrorLog = nil
			endpoint = login.URL + "/token?key=" + canary
		}
		r := subscription.NewSubscription{Callback: s.URL}
		byToken(endpoint)(&r)
		_, _, err := o.Create(t.Context(), alice, r)
		if err == nil || !strings.Contains(err.Error(), "failed: refused;") || strings.Contains(err.Error(), says) || strings.Contains(err.Error(), canary) {
			t.Errorf("Create = %v, want one that says no more than that it is refused", err)
		}
		if !strings.Contains(o.log.String(), says) {
			t.Errorf("the log does not say %q", says)
		}
	}
	if len(aim.seen)+len(s.seen) != 0 {
		t.Errorf("%d and %d requests came through", len(aim.seen), len(s.seen))
	}
	if strings.Contains(o.log.String(), canary) {
		t.Error("the log holds what was answered, or sent")
	}
}

// A token is kept while it lasts, and nothing for longer than some minutes.
func TestTokensAreKeptWhileTheyLast(t *testing.T) {
	at := clock.New(time.Now())
	o, s := newOffice(t, reached(t, callback.Options{Now: at.Now})), newSubscriber(t, nil)
	var asked, lasts atomic.Int32
	lasts.Store(3600)
	login := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		asked.Add(1)
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprintf(w, `{"access_token":"t","token_type":"Bearer","expires_in":%d}`, lasts.Load())
	}))
	t.Cleanup(login.Close)
	one := o.subscribe(s, byToken(login.URL))
	want := int32(1) // for the test
	sends := func(what string, more int32) {
		t.Helper()
		o.happens()
		if err := o.work(one.ID); err != nil {
			t.Error(err)
		}
		if want += more; asked.Load() != want {
			t.Errorf("%s: the token endpoint was asked %d times, want %d", what, asked.Load(), want)
		}
	}
	sends("at first", 1)
	sends("while it lasts", 0)
	lasts.Store(5)
	at.Add(6 * time.Minute)
	sends("after some minutes", 1)
	sends("with a token that is about to end", 1)
}

// leading is a store that leads a subscription elsewhere than it was made for.
type leading struct {
	subscription.Store
	to      string
	dropped []string
}

func (s *leading) Subscription(ctx context.Context, id string) (subscription.Subscription, error) {
	one, err := s.Store.Subscription(ctx, id)
	if s.to != "" {
		one.Callback = s.to
	}
	return one, err
}

func (s *leading) DropNotifications(ctx context.Context, id string) error {
	s.dropped = append(s.dropped, id)
	return s.Store.DropNotifications(ctx, id)
}

// What was sealed for one callback URI is sent to no other, whoever writes the row. What is left of a subscription that
// is gone is dropped.
func TestSecretsAreBoundToTheCallback(t *testing.T) {
	l := &leading{}
	o := newOffice(t, func(o *subscription.Options) { l.Store, o.Store = o.Store, l })
	s, thief := newSubscriber(t, nil), newSubscriber(t, nil)
	one := o.subscribe(s, func(r *subscription.NewSubscription) {
		r.Auth, r.Credentials = []string{subscription.Basic}, subscription.Credentials{User: "u", Password: secret.NewText(canary)}
	})
	o.happens()
	l.to = thief.URL
	if err := o.work(one.ID); err == nil || !strings.Contains(err.Error(), "do not open") || len(thief.seen) != 0 {
		t.Errorf("Work = %v, and the other was asked %d times", err, len(thief.seen))
	}
	l.to = ""
	if err := o.work(one.ID); err != nil || len(s.told()) != 1 {
		t.Errorf("Work = %v, told %d", err, len(s.told()))
	}
	gone := uuid.NewString()
	if err := o.work(gone); err != nil || len(l.dropped) != 1 || l.dropped[0] != gone {
		t.Errorf("Work of one that is gone = %v, dropped %q", err, l.dropped)
	}
}

// sick is a key store that takes no keys.
type sick struct{ secret.KeyStore }

func (sick) Put(context.Context, secret.Owner, *secret.Key) (secret.Ref, error) {
	return "", errors.New(canary)
}

// A subscription whose secrets cannot be sealed leaves nothing, and nobody waits for a pass.
func TestUnsealedIsTakenBack(t *testing.T) {
	o := newOffice(t, func(o *subscription.Options) { o.Keys = []secret.KeyStore{sick{o.Keys[0]}} })
	s := newSubscriber(t, nil)
	_, _, err := o.Create(t.Context(), alice, subscription.NewSubscription{
		Callback: s.URL, Auth: []string{subscription.Basic}, Credentials: subscription.Credentials{User: "u", Password: secret.NewText(canary)},
	})
	if !errors.Is(err, broker.ErrUnavailable) {
		t.Errorf("Create = %v, want %v", err, broker.ErrUnavailable)
	}
	if left, _, err := o.store.Subscriptions(t.Context(), subscription.Query{}); err != nil || len(left) != 0 {
		t.Errorf("%d subscriptions are left, %v", len(left), err)
	}
}

// spy counts what is forgotten and which keys are to be destroyed.
type spy struct {
	subscription.Endpoint
	forgot  []string
	retired int
}

func (s *spy) Forget(id string)           { s.forgot = append(s.forgot, id); s.Endpoint.Forget(id) }
func (s *spy) RetireKeys(context.Context) { s.retired++ }

// What is shown holds nothing sealed and nothing unfinished; what is deleted is forgotten, and its key destroyed, at
// once.
func TestShownAndForgotten(t *testing.T) {
	watch := &spy{}
	o := newOffice(t, func(o *subscription.Options) { watch.Endpoint, o.Endpoint, o.Ledger = o.Endpoint, watch, watch })
	s := newSubscriber(t, nil)
	one := o.subscribe(s, func(r *subscription.NewSubscription) {
		r.Auth, r.Credentials = []string{subscription.Basic}, subscription.Credentials{User: "u", Password: secret.NewText(canary)}
	})
	making := subscription.Subscription{ID: uuid.NewString(), Project: "core", SealedRow: keyring.SealedRow{State: subscription.Making}, Callback: s.URL, Digest: "x", CreatedAt: o.clock.Now()}
	if err := o.store.CreateSubscription(t.Context(), making, 0, o.entry()); err != nil {
		t.Fatal(err)
	}
	all, _, err := o.Subscriptions.Subscriptions(t.Context(), alice, broker.Page{})
	if err != nil || len(all) != 1 || all[0].ID != one.ID || all[0].Text != "" {
		t.Errorf("the list is %+v, %v", all, err)
	}
	if shown, err := o.Subscription(t.Context(), alice, one.ID); err != nil || shown.Text != "" {
		t.Errorf("it is shown as %+v, %v", shown, err)
	}
	if err := o.Delete(t.Context(), alice, one.ID); err != nil || len(watch.forgot) != 1 || watch.forgot[0] != one.ID || watch.retired != 1 {
		t.Errorf("Delete = %v, forgot %q, keys were destroyed %d times", err, watch.forgot, watch.retired)
	}
}

// One that is being made is not given for one that is there.
func TestADuplicateWaitsForTheFirst(t *testing.T) {
	o, s := newOffice(t), newSubscriber(t, nil)
	one := o.subscribe(s)
	if err := o.Delete(t.Context(), alice, one.ID); err != nil {
		t.Fatal(err)
	}
	one.ID, one.State = uuid.NewString(), subscription.Making
	if err := o.store.CreateSubscription(t.Context(), one, 0, o.entry()); err != nil {
		t.Fatal(err)
	}
	if _, _, err := o.Create(t.Context(), alice, subscription.NewSubscription{Callback: one.Callback, Base: one.Base}); !errors.Is(err, broker.ErrConflict) {
		t.Errorf("Create = %v, want %v", err, broker.ErrConflict)
	}
}

// What was abandoned goes with the next pass; a subscriber that fails its test leaves an entry in the audit log.
func TestAbandonedAndRefused(t *testing.T) {
	o, s := newOffice(t), newSubscriber(t, nil)
	left := subscription.Subscription{ID: uuid.NewString(), Project: "core", SealedRow: keyring.SealedRow{State: subscription.Making}, Callback: s.URL, Digest: "x", CreatedAt: o.clock.Now()}
	err := o.store.CreateSubscription(t.Context(), left, 0, o.entry())
	if err == nil {
		_, err = o.store.UpdateSubscription(t.Context(), left.ID, func(now *subscription.Subscription) error { now.State = subscription.Abandoned; return nil }, o.entry())
	}
	if err == nil {
		err = o.Passes()[0].Run(t.Context())
	}
	if _, gone := o.store.Subscription(t.Context(), left.ID); err != nil || !errors.Is(gone, broker.ErrNotFound) {
		t.Errorf("the pass: %v; the row: %v", err, gone)
	}
	s.Config.Handler = http.NotFoundHandler()
	if _, _, err := o.Create(t.Context(), alice, subscription.NewSubscription{Callback: s.URL}); !errors.Is(err, broker.ErrInvalid) {
		t.Errorf("Create = %v, want %v", err, broker.ErrInvalid)
	}
	entries, err := o.store.Entries(t.Context(), audit.Query{Limit: 100})
	if err != nil || !slices.ContainsFunc(entries, func(e audit.Entry) bool {
		return e.Action == policy.SubscriptionCreate && e.Outcome == audit.Failed && e.Detail[audit.DetailEndpointHost] == "127.0.0.1"
	}) {
		t.Errorf("the audit log does not say that the test failed: %v", err)
	}
}

// One that fails gives its place back, however often; only what it refuses is given up for that.
func TestFailingSubscribersAreTriedAgain(t *testing.T) {
	o := newOffice(t)
	s := newSubscriber(t, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusInternalServerError) })
	one := o.subscribe(s)
	o.happens(lifecycle.Starting)
	for n := range 20 {
		if err := o.work(one.ID); err == nil || len(s.told()) != n+1 {
			t.Fatalf("attempt %d: %v, told %d times", n+1, err, len(s.told()))
		}
	}
	if shown, err := o.Subscription(t.Context(), alice, one.ID); err != nil || shown.GivenUp != 0 || shown.Waiting != 2 {
		t.Errorf("%d given up, %d waiting, %v", shown.GivenUp, shown.Waiting, err)
	}
}

// A subscriber that does not answer is waited for no longer than was said, and has failed; where the process stops
// meanwhile, it has not.
func TestSendingIsBounded(t *testing.T) {
	o := newOffice(t, func(o *subscription.Options) { o.Terms.SendTime = 200 * time.Millisecond })
	let, entered := make(chan struct{}), make(chan struct{}, 10)
	defer close(let) // before the servers, which wait for their handlers
	one := o.subscribe(newSubscriber(t, func(http.ResponseWriter, *http.Request) { <-let }))
	o.happens()
	began := time.Now()
	if err := o.work(one.ID); err == nil || time.Since(began) > time.Minute {
		t.Errorf("Work = %v after %v", err, time.Since(began))
	}
	failures := func() int64 {
		shown, err := o.Subscription(t.Context(), alice, one.ID)
		if err != nil {
			t.Error(err)
		}
		return shown.Failures
	}
	if n := failures(); n != 1 {
		t.Errorf("%d failures, want 1", n)
	}
	o = newOffice(t, func(o *subscription.Options) { o.Terms.SendTime = time.Hour })
	one = o.subscribe(newSubscriber(t, func(http.ResponseWriter, *http.Request) { entered <- struct{}{}; <-let }))
	o.happens()
	ctx, stop := context.WithCancel(t.Context())
	go func() { <-entered; stop() }()
	if err := o.Work(ctx, one.ID); !errors.Is(err, context.Canceled) {
		t.Errorf("Work of a process that stops = %v", err)
	}
	if n := failures(); n != 0 {
		t.Errorf("%d failures, want none", n)
	}
}

// The egress rules of the subscription's project hold, for the test and for each notification; a notification says
// which version of the interface it is of, and an error repeats nothing of the callback URI.
func TestTheRulesOfTheProjectHold(t *testing.T) {
	open := true
	o := newOffice(t, func(o *subscription.Options) {
		o.Egress = func(project string) *egress.Rules {
			rules, err := egress.Parse(open && project == "core", nil, nil)
			if err != nil {
				t.Error(err)
			}
			return rules
		}
	})
	s := newSubscriber(t, nil)
	one := o.subscribe(s, func(r *subscription.NewSubscription) { r.Callback += "?key=" + canary })
	o.happens()
	if err := o.work(one.ID); err != nil || len(s.told()) != 1 {
		t.Fatalf("Work = %v, told %d", err, len(s.told()))
	}
	if h := s.seen[1]; h.Get("Version") != "2.0.0" || h.Get("Content-Type") != "application/json" {
		t.Errorf("a notification comes with %v", h)
	}
	s.answers(func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) })
	s.Config.ErrorLog = nil
	o.happens()
	if err := o.work(one.ID); err == nil || strings.Contains(err.Error(), canary) {
		t.Errorf("Work = %v", err)
	}
	if shown, err := o.Subscription(t.Context(), alice, one.ID); err != nil || strings.Contains(shown.Fault, canary) || strings.Contains(o.log.String(), canary) {
		t.Errorf("the fault is %q, %v, or the log has the URI", shown.Fault, err)
	}
	if _, _, err := o.Create(t.Context(), carol, subscription.NewSubscription{Callback: s.URL}); err == nil || !strings.Contains(err.Error(), "failed: refused;") {
		t.Errorf("Create of a project that may not = %v", err)
	}
}
