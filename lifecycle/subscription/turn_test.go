package subscription_test

import (
	"context"
	"errors"
	"net/http"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/broker/job"
	"github.com/vimbroker/vimbroker/broker/keyring"
	"github.com/vimbroker/vimbroker/broker/secret"
	"github.com/vimbroker/vimbroker/lifecycle"
	"github.com/vimbroker/vimbroker/lifecycle/api/vnflcm"
	"github.com/vimbroker/vimbroker/lifecycle/subscription"
	"github.com/vimbroker/vimbroker/policy/audit"
	"github.com/vimbroker/vimbroker/test/quickstore"
)

// busy has so many subscribers be sent their first of two notifications. What it returns has them take it, and returns
// what became of each attempt.
func (o *office) busy(n int) (finish func() []error) {
	o.t.Helper()
	goOn, entered := make(chan struct{}), make(chan struct{}, 2*n)
	release := sync.OnceFunc(func() { close(goOn) })
	ids := make([]string, n)
	for i := range ids {
		ids[i] = o.subscribe(newSubscriber(o.t, func(w http.ResponseWriter, _ *http.Request) {
			entered <- struct{}{}
			<-goOn
			w.WriteHeader(http.StatusNoContent)
		})).ID
	}
	o.t.Cleanup(release) // before the servers end, which wait for their handlers
	o.happens(lifecycle.Starting)
	ended := make(chan error, n)
	for _, id := range ids {
		go func() { ended <- o.work(id) }()
	}
	for range n {
		select {
		case <-entered:
		case err := <-ended:
			o.t.Fatalf("an attempt ended before its first notification: %v", err)
		}
	}
	return func() (all []error) {
		release()
		for range n {
			all = append(all, <-ended)
		}
		return all
	}
}

// While all places are taken, nobody has one for longer than a turn: subscribers that answer just in time to be none
// of the tardy delay others no longer than that, and those go on behind them.
func TestSubscribersTakeTurns(t *testing.T) {
	subscription.Patient(t)
	for name, c := range map[string]struct {
		subscribers int
		passes      time.Duration
		leave       bool
	}{
		"all places are taken":         {64, 3 * time.Second, true},
		"a place is free":              {63, 3 * time.Second, false},
		"the turn has not come to end": {64, time.Second, false},
	} {
		t.Run(name, func(t *testing.T) {
			o := newOffice(t, func(o *subscription.Options) { o.Terms.SendTime, o.Terms.PerProject = time.Hour, 0 })
			finish := o.busy(c.subscribers)
			o.clock.Add(c.passes)
			left := 0
			for _, err := range finish() {
				switch {
				case errors.Is(err, job.ErrAgain):
					left++
				case err != nil:
					t.Errorf("Work = %v", err)
				}
			}
			waiting, err := o.store.CountNotifications(t.Context())
			if err != nil || waiting != left || (left > 0) != c.leave {
				t.Errorf("%d left their place, %d notifications wait, %v", left, waiting, err)
			}
		})
	}
}

// A subscriber that takes some of what waits begins its backoff anew, and one that takes nothing does not.
func TestWhoTakesSomeBeginsTheBackoffAnew(t *testing.T) {
	o, s := newOffice(t), newSubscriber(t, nil)
	one := o.subscribe(s)
	o.happens(lifecycle.Starting)
	s.answers(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusNoContent)
		s.answers(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusServiceUnavailable) })
	})
	for attempt, took := range []bool{true, false} {
		if err := o.work(one.ID); err == nil || job.HasProgressed(err) != took {
			t.Errorf("attempt %d: Work = %v, which says that it came further: %t", attempt, err, !took)
		}
	}
	if shown, err := o.Subscription(t.Context(), alice, one.ID); err != nil || shown.Delivered != 1 || shown.Waiting != 1 || shown.Failures != 2 {
		t.Errorf("Subscription = %+v, %v", shown, err)
	}
}

// What cannot be written is given up visibly, and what comes after it is sent.
func TestWhatCannotBeWrittenIsGivenUp(t *testing.T) {
	broken := ""
	o := newOffice(t, func(o *subscription.Options) {
		o.Render = func(s subscription.Subscription, e lifecycle.Event) ([]byte, error) {
			if e.Instance == broken {
				return nil, errors.New(canary)
			}
			return vnflcm.Notification(s, e)
		}
	})
	s := newSubscriber(t, nil)
	one := o.subscribe(s)
	broken, _ = o.happens()
	o.happens()
	o.happens()
	db, err := quickstore.Raw(filepath.Join(o.dir, "vimbroker.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	if _, err := db.ExecContext(t.Context(), `UPDATE vnf_notifications SET document = '{"id": 7' WHERE seq = (SELECT max(seq) - 1 FROM vnf_notifications)`); err != nil {
		t.Fatal(err)
	}
	if err := o.work(one.ID); err != nil {
		t.Fatalf("Work = %v", err)
	}
	shown, err := o.Subscription(t.Context(), alice, one.ID)
	if err != nil || len(s.told()) != 1 || shown.Delivered != 1 || shown.GivenUp != 2 || shown.GivenUpAt.IsZero() || shown.Waiting != 0 || shown.Failures != 0 {
		t.Errorf("told %d; %+v, %v", len(s.told()), shown, err)
	}
	entries, err := o.store.Entries(t.Context(), audit.Query{Limit: 1000})
	noted := 0
	for _, e := range entries {
		if e.Outcome == audit.Failed && strings.Contains(e.Detail[audit.DetailError], "cannot be written") {
			noted++
		}
	}
	if err != nil || noted != 2 || !strings.Contains(o.log.String(), "given up") {
		t.Errorf("%d audit entries say so, %v", noted, err)
	}
}

// unlisted is a key store that does not answer.
type unlisted struct{ secret.KeyStore }

func (unlisted) Name() string { return "away" }

func (unlisted) List(context.Context, string) ([]secret.Held, error) { return nil, errors.New(canary) }

// A key store that does not answer keeps no subscription from its end that has nothing in it.
func TestOnlyTheKeyStoreOfASubscriptionIsAsked(t *testing.T) {
	refuses := func(s *subscriber) {
		s.Config.Handler = http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusTeapot) })
	}
	basic := []string{subscription.Basic}
	secrets := subscription.Credentials{User: "u", Password: secret.NewText(canary)}
	for name, c := range map[string]struct {
		first       bool // the one that does not answer takes new keys
		auth        []string
		credentials subscription.Credentials
		left        int
	}{
		"without a secret":         {first: true},
		"with its key in another":  {auth: basic, credentials: secrets},
		"with its key in that one": {first: true, auth: basic, credentials: secrets, left: 1},
	} {
		t.Run(name, func(t *testing.T) {
			o := newOffice(t, func(o *subscription.Options) {
				if o.Keys = append(o.Keys, unlisted{o.Keys[0]}); c.first {
					o.Keys[0], o.Keys[1] = o.Keys[1], o.Keys[0]
				}
			})
			s := newSubscriber(t, nil)
			refuses(s)
			_, _, err := o.Create(t.Context(), alice, subscription.NewSubscription{Callback: s.URL, Auth: c.auth, Credentials: c.credentials})
			if err == nil || !strings.Contains(err.Error(), "the test of the subscriber failed") {
				t.Errorf("Create = %v", err)
			}
			if left, _, err := o.store.Subscriptions(t.Context(), subscription.Query{}); err != nil || len(left) != c.left {
				t.Errorf("%d are left, %v, want %d", len(left), err, c.left)
			}
			if err := o.Settle(t.Context(), o.clock.Now()); (err != nil) != (c.left > 0) {
				t.Errorf("Settle = %v", err)
			}
		})
	}
}

// The row of a subscription that was not made leads to its key: it stays until the key store can be asked.
func TestItsRowStaysWhileItsKeyStoreIsNotConfigured(t *testing.T) {
	o := newOffice(t)
	left := subscription.Subscription{
		ID: uuid.NewString(), Project: "core", SealedRow: keyring.SealedRow{State: subscription.Making, Sealed: keyring.Sealed{KeyStore: "elsewhere"}}, Callback: "https://nfvo.example.org", Digest: "x",
		Auth: []string{subscription.OAuth2}, CreatedAt: o.clock.Now(),
	}
	if err := o.store.CreateSubscription(t.Context(), left, 0, o.entry()); err != nil {
		t.Fatal(err)
	}
	err := o.Settle(t.Context(), o.clock.Now().Add(time.Second))
	if !errors.Is(err, broker.ErrUnavailable) || !strings.Contains(err.Error(), `"elsewhere" is not configured here`) {
		t.Errorf("Settle = %v", err)
	}
	if now, err := o.store.Subscription(t.Context(), left.ID); err != nil || now.State != subscription.Abandoned {
		t.Errorf("it is %s, %v", now.State, err)
	}
}
