package subscription_test

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/broker/secret"
	"github.com/vimbroker/vimbroker/lifecycle"
	"github.com/vimbroker/vimbroker/lifecycle/subscription"
	"github.com/vimbroker/vimbroker/policy"
	"github.com/vimbroker/vimbroker/policy/audit"
)

// A subscriber that takes notifications more slowly than they come has no more of them kept than one that fails.
func TestASlowSubscriberIsBounded(t *testing.T) {
	o := newOffice(t, func(o *subscription.Options) { o.Terms.Keep, o.Terms.SendTime = 30, time.Hour })
	var more sync.Once
	s := newSubscriber(t, nil)
	one := o.subscribe(s)
	for range 50 {
		o.happens()
	}
	s.answers(func(w http.ResponseWriter, _ *http.Request) {
		more.Do(func() {
			o.clock.Add(time.Minute)
			for range 50 {
				o.happens()
			}
		})
		w.WriteHeader(http.StatusNoContent)
	})
	if err := o.work(one.ID); err != nil {
		t.Fatal(err)
	}
	// Of the first 50 were 20 too many, and of the 29 and 50 then 49.
	shown, err := o.Subscription(t.Context(), alice, one.ID)
	if err != nil || shown.GivenUp != 69 || shown.Delivered != 31 || shown.Waiting != 0 || shown.Failures != 0 {
		t.Errorf("%d given up, %d delivered, %d waiting, %v", shown.GivenUp, shown.Delivered, shown.Waiting, err)
	}
	if !strings.Contains(o.log.String(), "too slow") {
		t.Error("the log does not say so")
	}
}

// reads counts how often notifications are read.
type reads struct {
	subscription.Store
	n int
}

func (r *reads) Notifications(ctx context.Context, id string, limit int) ([]subscription.Notification, error) {
	r.n++
	return r.Store.Notifications(ctx, id, limit)
}

// Notifications are read many at a time, however few there are.
func TestNotificationsAreReadManyAtATime(t *testing.T) {
	var store *reads
	o := newOffice(t, func(o *subscription.Options) { store = &reads{Store: o.Store}; o.Store = store })
	s := newSubscriber(t, nil)
	one := o.subscribe(s)
	for range 10 {
		o.happens()
	}
	if err := o.work(one.ID); err != nil || len(s.told()) != 10 || store.n != 2 {
		t.Errorf("Work = %v, told %d, read %d times, want once, and once more to see that there are none", err, len(s.told()), store.n)
	}
}

// One that has to wait for its place is bounded as well.
func TestOneThatWaitsForItsPlaceIsBounded(t *testing.T) {
	o := newOffice(t, func(o *subscription.Options) { o.Terms.Keep, o.Terms.SendTime = 5, time.Hour })
	last, release := o.hanging()
	for range 30 {
		o.happens()
	}
	if err := o.work(last); err == nil || !strings.Contains(err.Error(), "other subscribers") {
		t.Errorf("one more that fails: %v, want that it waits", err)
	}
	if shown, err := o.Subscription(t.Context(), alice, last); err != nil || shown.Waiting != 5 {
		t.Errorf("%d wait for it, %v", shown.Waiting, err)
	}
	release()
}

// away is a key store that does not answer, or has lost a key.
type away struct {
	secret.KeyStore
	err error
}

func (a *away) Get(ctx context.Context, r secret.Ref) (*secret.Key, error) {
	if a.err != nil {
		return nil, a.err
	}
	return a.KeyStore.Get(ctx, r)
}

// That the key store cannot be used is not the subscriber's failure; that it has lost the key is for its owner to mend.
func TestAKeyStoreThatIsAwayIsNoFailure(t *testing.T) {
	keys := &away{}
	o := newOffice(t, func(o *subscription.Options) { keys.KeyStore, o.Keys = o.Keys[0], []secret.KeyStore{keys} })
	s := newSubscriber(t, nil)
	one := o.subscribe(s, func(r *subscription.NewSubscription) {
		r.Auth, r.Credentials = []string{subscription.Basic}, subscription.Credentials{User: "u", Password: secret.NewText(canary)}
	})
	o.happens()
	for n, c := range []struct {
		err      error
		failures int64
	}{{errors.New(canary), 0}, {secret.ErrNotFound, 1}} {
		keys.err = c.err
		err := o.work(one.ID)
		shown, showing := o.Subscription(t.Context(), alice, one.ID)
		if err == nil || strings.Contains(err.Error(), canary) || showing != nil || shown.Failures != c.failures || shown.Waiting != 1 {
			t.Errorf("%d: Work = %v; %d failures, %d waiting, %v", n, err, shown.Failures, shown.Waiting, showing)
		}
	}
	if !strings.Contains(o.log.String(), "cannot be used now") || strings.Contains(o.log.String(), canary) {
		t.Error("the log does not say so, or says too much")
	}
	keys.err = nil
	if err := o.work(one.ID); err != nil || len(s.told()) != 1 {
		t.Errorf("Work = %v, told %d", err, len(s.told()))
	}
}

// A subscriber that is away as often as it refuses is tried on: only what it refuses again and again is given up.
func TestFailuresAreNoRefusals(t *testing.T) {
	o, status := newOffice(t), 0
	s := newSubscriber(t, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(status) })
	one := o.subscribe(s)
	o.happens()
	for n, status2 := range []int{503, 503, 503, 503, 400, 503, 400, 400, 400, 400, 400} {
		status = status2
		shown, err := o.Subscription(t.Context(), alice, one.ID)
		if err != nil || shown.GivenUp != 0 {
			t.Fatalf("before attempt %d %d are given up, %v", n, shown.GivenUp, err)
		}
		if err := o.work(one.ID); err == nil {
			t.Fatalf("attempt %d: it takes them", n)
		}
	}
	if shown, err := o.Subscription(t.Context(), alice, one.ID); err != nil || shown.GivenUp != 1 || shown.Waiting != 0 {
		t.Errorf("%d given up, %d waiting, %v", shown.GivenUp, shown.Waiting, err)
	}
}

// stale is a store in which an older version has begun the failures anew, and not the refusals.
type stale struct{ subscription.Store }

func (s stale) Subscription(ctx context.Context, id string) (subscription.Subscription, error) {
	one, err := s.Store.Subscription(ctx, id)
	one.Refusals = 4
	return one, err
}

// Refusals from before a success that an older version has recorded do not count.
func TestRefusalsBeforeASuccessOfAnOlderVersion(t *testing.T) {
	o := newOffice(t, func(o *subscription.Options) { o.Store = stale{o.Store} })
	s := newSubscriber(t, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusBadRequest) })
	one := o.subscribe(s)
	o.happens()
	for attempt := range 5 {
		if shown, err := o.Subscription(t.Context(), alice, one.ID); err != nil || shown.GivenUp != 0 {
			t.Fatalf("before attempt %d %d are given up, %v", attempt, shown.GivenUp, err)
		}
		if err := o.work(one.ID); err == nil {
			t.Fatalf("attempt %d: it takes them", attempt)
		}
	}
	if shown, err := o.Subscription(t.Context(), alice, one.ID); err != nil || shown.GivenUp != 1 {
		t.Errorf("%d are given up, %v", shown.GivenUp, err)
	}
}

// The request of a MODIFY_INFO is stored once, and told to each subscriber while its operation is there.
func TestARequestIsNotCopiedToEachSubscriber(t *testing.T) {
	full, short := newSubscriber(t, nil), newSubscriber(t, nil)
	var bodies []string
	var mu sync.Mutex
	o := newOffice(t, func(o *subscription.Options) {
		render := o.Render
		o.Render = func(s subscription.Subscription, e lifecycle.Event) ([]byte, error) {
			mu.Lock()
			defer mu.Unlock()
			text, err := json.Marshal(e)
			bodies = append(bodies, string(text))
			if err != nil {
				return nil, err
			}
			return render(s, e)
		}
	})
	first := o.subscribe(full)
	second := o.subscribe(short, func(r *subscription.NewSubscription) { r.Verbosity = subscription.Short })
	const long = "metadata-of-4-megabytes"
	i := lifecycle.Instance{ID: uuid.NewString(), Project: "core", Name: "web", State: lifecycle.NotInstantiated, CreatedAt: o.clock.Now(), Revision: 1}
	i.Shape.Package, i.Shape.Product = "web-1", lifecycle.Product{VNFDID: "d", Provider: "acme", Name: "web", SoftwareVersion: "1", VNFDVersion: "2"}
	op := lifecycle.Operation{
		ID: uuid.NewString(), Instance: i.ID, Project: "core", Type: lifecycle.ModifyInfo, State: lifecycle.Completed, StartedAt: o.clock.Now(),
		StateEnteredAt: o.clock.Now(), Before: i.Shape, Target: i.Shape, Revision: 1, Params: []byte(`{"metadata":{"x":"` + long + `"}}`),
	}
	err := o.store.CreateInstance(t.Context(), i, 0, o.entry())
	if err == nil {
		err = o.store.BeginOperation(t.Context(), op, 1, nil, o.entry())
	}
	if err != nil {
		t.Fatal(err)
	}
	for _, one := range []subscription.Subscription{first, second} {
		stored, err := o.store.Notifications(t.Context(), one.ID, 10)
		if err != nil || len(stored) != 3 {
			t.Fatalf("%d notifications are stored, %v", len(stored), err)
		}
		for _, n := range stored {
			if text, err := json.Marshal(n.Event); err != nil || strings.Contains(string(text), long) {
				t.Errorf("the request is stored with a notification, %v", err)
			}
		}
		if err := o.work(one.ID); err != nil {
			t.Fatal(err)
		}
	}
	told := 0
	for _, b := range bodies {
		told += strings.Count(b, long)
	}
	if len(bodies) != 6 || told != 1 {
		t.Errorf("of %d notifications %d tell of the request, want one", len(bodies), told)
	}
}

// The subscriber is asked when the intent is stored, and what fails the test leaves nothing but entries.
func TestTheTestComesAfterTheIntent(t *testing.T) {
	o, s := newOffice(t), newSubscriber(t, nil)
	entries := func() (all []string) {
		found, err := o.store.Entries(t.Context(), audit.Query{Limit: 100})
		if err != nil {
			t.Error(err)
		}
		for _, e := range found {
			if e.Action == policy.SubscriptionCreate || e.Action == policy.SubscriptionDelete {
				all = append(all, string(e.Action)+" "+string(e.Outcome))
			}
		}
		return all
	}
	var asked int
	s.Config.Handler = http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		asked++
		if got := strings.Join(entries(), ", "); got != "subscription:create intent" {
			t.Errorf("while it is tested the audit log has %s", got)
		}
		if found, _, err := o.store.Subscriptions(t.Context(), subscription.Query{Unfinished: true}); err != nil || len(found) != 1 {
			t.Errorf("while it is tested there are %d intents, %v", len(found), err)
		}
		w.WriteHeader(http.StatusNotFound)
	})
	if _, _, err := o.Create(t.Context(), alice, subscription.NewSubscription{Callback: s.URL}); !errors.Is(err, broker.ErrInvalid) || asked != 1 {
		t.Errorf("Create = %v, asked %d times", err, asked)
	}
	if found, _, err := o.store.Subscriptions(t.Context(), subscription.Query{}); err != nil || len(found) != 0 {
		t.Errorf("%d are left, %v", len(found), err)
	}
	if got := strings.Join(entries(), ", "); got != "subscription:create failed, subscription:delete done, subscription:delete intent, subscription:create intent" {
		t.Errorf("the audit log has %s", got)
	}
}
