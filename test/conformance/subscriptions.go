package conformance

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/google/uuid"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/broker/job"
	"github.com/vimbroker/vimbroker/broker/keyring"
	"github.com/vimbroker/vimbroker/broker/secret"
	"github.com/vimbroker/vimbroker/lifecycle"
	"github.com/vimbroker/vimbroker/lifecycle/subscription"
	"github.com/vimbroker/vimbroker/policy/audit"
)

// SubscriptionStore is a store of subscriptions with that of what they tell.
type SubscriptionStore interface {
	LifecycleStore
	subscription.Store
	RetiredKeys(ctx context.Context, limit int) ([]broker.RetiredKey, error)
	KeysInUse(ctx context.Context, id string) ([]broker.RetiredKey, error)
}

// Subscriptions is the suite of [subscription.Store]. open gives an empty store.
func Subscriptions(t *testing.T, open func(t *testing.T) SubscriptionStore) {
	check := func(name string, f func(*testing.T, SubscriptionStore)) {
		t.Run(name, func(t *testing.T) {
			s := open(t)
			p := emptyPackage("north")
			p.ID = sampleShape().Package
			createPackage(t, s, p)
			f(t, s)
		})
	}
	check("Rows", subscriptionRows)
	check("List", subscriptionLists)
	check("Quota", subscriptionQuotas)
	check("Notify", subscriptionsAreTold)
	check("Sent", notificationsAreSent)
	check("GiveUp", notificationsAreGivenUp)
	check("Fence", notificationFence)
}

// fullSubscription has every field set, so that one that a store forgets shows.
func fullSubscription(project string) subscription.Subscription {
	id := uuid.NewString()
	return subscription.Subscription{
		ID: id, Project: project, SealedRow: keyring.SealedRow{
			State: subscription.Active, Sealed: keyring.Sealed{Text: "token", KeyStore: "keydir", Ref: secret.Ref("ref " + id)},
		},
		Callback: "https://nfvo.example.org", Base: "https://broker", Verbosity: subscription.Full,
		Filter: subscription.Filter{Names: []string{"web \u2603"}, States: []lifecycle.OperationState{lifecycle.Starting, lifecycle.Processing}},
		Auth:   []string{"BASIC", "TLS_CERT"}, Digest: "digest of " + id,
		CreatedBy: "alice", CreatedAt: epoch, Delivered: 3, DeliveredAt: epoch.Add(time.Second), Failures: 2, FailingSince: epoch.Add(time.Minute),
		Fault: "it answers 500", GivenUp: 4, GivenUpAt: epoch.Add(time.Hour),
	}
}

func createSubscription(t *testing.T, s subscription.Store, one subscription.Subscription) {
	t.Helper()
	if err := s.CreateSubscription(t.Context(), one, 0, entry("subscribe-"+one.ID)); err != nil {
		t.Fatalf("CreateSubscription = %v", err)
	}
}

func subscriptionRows(t *testing.T, s SubscriptionStore) {
	ctx := t.Context()
	want := fullSubscription("north")
	createSubscription(t, s, want)
	got, err := s.Subscription(ctx, want.ID)
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Errorf("Subscription = %v, differs:\n%s", err, diff)
	}
	same := fullSubscription("north")
	same.Digest = want.Digest
	if err := s.CreateSubscription(ctx, same, 0, entry("twice")); !errors.Is(err, broker.ErrExists) {
		t.Errorf("a second one of the same digest = %v, want ErrExists", err)
	}
	same.Project = "south"
	createSubscription(t, s, same)
	if _, err := s.Subscription(ctx, uuid.NewString()); !errors.Is(err, broker.ErrNotFound) {
		t.Errorf("no subscription = %v, want ErrNotFound", err)
	}
	making := fullSubscription("north")
	making.SealedRow = keyring.SealedRow{State: subscription.Making}
	createSubscription(t, s, making)
	if used, err := s.KeysInUse(ctx, making.ID); err != nil || len(used) == 0 {
		t.Errorf("the keys of one that is being made are nobody's: %v, %v", used, err)
	}
	stored, err := s.UpdateSubscription(ctx, making.ID, func(one *subscription.Subscription) error {
		one.State, one.Sealed = subscription.Active, keyring.Sealed{Text: "token", KeyStore: "keydir", Ref: "ref"}
		one.Callback, one.Delivered = "https://elsewhere.example.org", 99
		return nil
	}, entry("made"))
	making.State, making.Sealed = subscription.Active, keyring.Sealed{Text: "token", KeyStore: "keydir", Ref: "ref"}
	got, again := s.Subscription(ctx, making.ID)
	if err != nil || again != nil || !cmp.Equal(making, stored) || !cmp.Equal(making, got) {
		t.Errorf("after the update: %v, %v\nanswered: %s\nstored: %s", err, again, cmp.Diff(making, stored), cmp.Diff(making, got))
	}
	if _, err := s.UpdateSubscription(ctx, making.ID, func(one *subscription.Subscription) error { one.State = subscription.Abandoned; return nil }, entry("back")); !errors.Is(err, broker.ErrConflict) {
		t.Errorf("an active one becomes abandoned: %v, want ErrConflict", err)
	}
	for range 2 { // the second finds nothing
		if err := s.DeleteSubscription(ctx, want.ID, entry("delete")); err != nil {
			t.Errorf("DeleteSubscription = %v", err)
		}
	}
	if retired, err := s.RetiredKeys(ctx, 10); err != nil || len(retired) != 1 || retired[0].Ref != want.Ref || retired[0].Owner != (secret.Owner{ID: want.ID, Generation: 1}) {
		t.Errorf("the ledger holds %+v, %v", retired, err)
	}
}

func subscriptionLists(t *testing.T, s SubscriptionStore) {
	var north []string
	for n := range 5 {
		one := fullSubscription("north")
		one.CreatedAt = epoch.Add(time.Duration(n) * time.Second)
		if n == 2 {
			one.State = subscription.Making
		}
		createSubscription(t, s, one)
		north = append([]string{one.ID}, north...)
	}
	createSubscription(t, s, fullSubscription("south"))
	list := func(q subscription.Query) (ids []string) {
		t.Helper()
		for pages := 0; ; pages++ {
			found, next, err := s.Subscriptions(t.Context(), q)
			if err != nil || len(found) > q.Size {
				t.Fatalf("Subscriptions(%+v) = %d, %v", q, len(found), err)
			}
			for _, one := range found {
				ids = append(ids, one.ID)
			}
			if next == "" || pages > 20 {
				return ids
			}
			q.Token = next
		}
	}
	for size := 1; size <= 6; size++ {
		if got := list(subscription.Query{Project: "north", Page: broker.Page{Size: size}}); !slices.Equal(got, north) {
			t.Errorf("pages of %d list %v, want %v", size, got, north)
		}
		if got := list(subscription.Query{Page: broker.Page{Size: size}}); len(got) != 6 {
			t.Errorf("all projects have %v", got)
		}
	}
	page := broker.Page{Size: 10}
	if got := list(subscription.Query{Project: "north", Digest: "digest of " + north[0], Page: page}); !slices.Equal(got, north[:1]) {
		t.Errorf("by digest there are %v", got)
	}
	if got := list(subscription.Query{Unfinished: true, Page: page}); !slices.Equal(got, north[2:3]) {
		t.Errorf("unfinished are %v", got)
	}
}

func subscriptionQuotas(t *testing.T, s SubscriptionStore) {
	var all sync.WaitGroup
	refused := make(chan error, 8)
	for range 8 {
		all.Go(func() { refused <- s.CreateSubscription(t.Context(), fullSubscription("north"), 3, entry("crowd")) })
	}
	all.Wait()
	in := 0
	for range 8 {
		switch err := <-refused; {
		case err == nil:
			in++
		case !errors.Is(err, broker.ErrQuota):
			t.Errorf("CreateSubscription = %v, want ErrQuota", err)
		}
	}
	if in != 3 {
		t.Errorf("%d subscriptions came in, want 3", in)
	}
}

// subscriber stores a subscription that selects all, and begins and moves an operation.
func subscriber(t *testing.T, s SubscriptionStore) subscription.Subscription {
	t.Helper()
	one := fullSubscription("north")
	one.Filter, one.Delivered, one.Failures, one.GivenUp, one.FailingSince, one.Fault = subscription.Filter{}, 0, 0, 0, time.Time{}, ""
	createSubscription(t, s, one)
	return one
}

func operationGoes(t *testing.T, s SubscriptionStore) lifecycle.Operation {
	t.Helper()
	i := sampleInstance("north")
	o := sampleOperation(i)
	err := s.CreateInstance(t.Context(), i, 0, entry("create"))
	if err == nil {
		err = s.BeginOperation(t.Context(), o, 1, nil, entry("begin"))
	}
	for _, state := range []lifecycle.OperationState{lifecycle.Processing, lifecycle.Completed} {
		if err == nil {
			_, err = s.UpdateOperation(t.Context(), o.ID, func(o *lifecycle.Operation, _ *lifecycle.Instance) error {
				o.State, o.Events = state, 99
				return nil
			}, entry("move"))
		}
	}
	if err != nil {
		t.Fatal(err)
	}
	return o
}

func waiting(t *testing.T, s SubscriptionStore, id string) []subscription.Notification {
	t.Helper()
	all, err := s.Notifications(t.Context(), id, 100)
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// subscriptionsAreTold of what is written, in the same write, with a job for each.
func subscriptionsAreTold(t *testing.T, s SubscriptionStore) {
	one, other, narrow, foreign := subscriber(t, s), subscriber(t, s), fullSubscription("north"), fullSubscription("south")
	narrow.Filter = subscription.Filter{States: []lifecycle.OperationState{lifecycle.Completed}, Kinds: []lifecycle.EventKind{lifecycle.OperationMoved}}
	foreign.Filter = subscription.Filter{}
	making := fullSubscription("north")
	making.Filter, making.State = subscription.Filter{}, subscription.Making
	for _, more := range []subscription.Subscription{narrow, foreign, making} {
		createSubscription(t, s, more)
	}
	o := operationGoes(t, s)
	_, err := s.UpdateOperation(t.Context(), o.ID, func(*lifecycle.Operation, *lifecycle.Instance) error { return errors.New("no") }, entry("refused"))
	if err == nil {
		t.Error("a change that is refused is made")
	}
	got := waiting(t, s, one.ID)
	var told []string
	for n, e := range got {
		told = append(told, string(e.Event.State))
		if n > 0 && e.Seq <= got[n-1].Seq || e.Subscription != one.ID || e.Event.Number != int64(n) {
			t.Errorf("notification %d is %+v", n, e)
		}
	}
	if want := []string{"", "STARTING", "PROCESSING", "COMPLETED"}; !slices.Equal(told, want) {
		t.Errorf("told %v, want %v", told, want)
	}
	if diff := cmp.Diff(got, waiting(t, s, other.ID), cmpopts.IgnoreFields(subscription.Notification{}, "Seq", "Subscription")); diff != "" {
		t.Errorf("two are told different things: %s", diff)
	}
	if n := waiting(t, s, narrow.ID); len(n) != 1 || n[0].Event.State != lifecycle.Completed {
		t.Errorf("the one that asks for the end is told %+v", n)
	}
	if n := len(waiting(t, s, foreign.ID)) + len(waiting(t, s, making.ID)); n != 0 {
		t.Errorf("others are told %d", n)
	}
	counts, err := s.WaitingNotifications(t.Context(), []string{one.ID, narrow.ID, foreign.ID})
	if err != nil || counts[one.ID] != 4 || counts[narrow.ID] != 1 || counts[foreign.ID] != 0 {
		t.Errorf("WaitingNotifications = %v, %v", counts, err)
	}
	all := len(waiting(t, s, one.ID)) + len(waiting(t, s, other.ID)) + len(waiting(t, s, narrow.ID))
	if n, err := s.CountNotifications(t.Context()); err != nil || n != all {
		t.Errorf("CountNotifications = %d, %v; want %d", n, err, all)
	}
	due, err := s.TakeJobs(t.Context(), subscription.JobKind, 100, epoch.Add(1000*time.Hour))
	var jobs []string
	for _, a := range due {
		jobs = append(jobs, a.Subject)
	}
	slices.Sort(jobs)
	want := []string{one.ID, other.ID, narrow.ID}
	slices.Sort(want)
	if err != nil || !slices.Equal(jobs, want) {
		t.Errorf("jobs of %v, %v, want %v", jobs, err, want)
	}
	// One that is gone leaves nothing; one that is there loses nothing.
	for _, id := range []string{one.ID, uuid.NewString()} {
		if err := s.DropNotifications(t.Context(), id); err != nil || len(waiting(t, s, one.ID)) != 4 {
			t.Errorf("DropNotifications = %v", err)
		}
	}
	if err := s.DeleteSubscription(t.Context(), one.ID, entry("delete")); err != nil || len(waiting(t, s, one.ID)) != 0 {
		t.Errorf("DeleteSubscription = %v, and %d notifications are left", err, len(waiting(t, s, one.ID)))
	}
}

func notificationsAreSent(t *testing.T, s SubscriptionStore) {
	ctx := t.Context()
	one := subscriber(t, s)
	operationGoes(t, s)
	all := waiting(t, s, one.ID)
	for n, c := range []struct {
		refused bool
		want    int64
	}{{true, 1}, {true, 2}, {false, 0}, {true, 1}} {
		if err := s.NotificationFailed(ctx, one.ID, fmt.Sprint("fault ", n), c.refused, epoch.Add(time.Duration(n)*time.Minute)); err != nil {
			t.Fatal(err)
		}
		if got, err := s.Subscription(ctx, one.ID); err != nil || got.Refusals != c.want {
			t.Errorf("after failure %d: %d refusals, %v, want %d", n, got.Refusals, err, c.want)
		}
	}
	got, err := s.Subscription(ctx, one.ID)
	if err != nil || got.Failures != 4 || got.Fault != "fault 3" || !got.FailingSince.Equal(epoch) {
		t.Errorf("after failures: %+v, %v", got, err)
	}
	if err := s.NotificationSent(ctx, all[0], epoch.Add(time.Hour)); err != nil {
		t.Fatal(err)
	}
	got, err = s.Subscription(ctx, one.ID)
	if err != nil || got.Failures != 0 || got.Refusals != 0 || got.Fault != "" || !got.FailingSince.IsZero() || got.Delivered != 1 || !got.DeliveredAt.Equal(epoch.Add(time.Hour)) {
		t.Errorf("after one was sent: %+v, %v", got, err)
	}
	if left := waiting(t, s, one.ID); len(left) != 3 || left[0].Seq != all[1].Seq {
		t.Errorf("%+v are left", left)
	}
	gone := subscription.Notification{Seq: all[1].Seq, Subscription: uuid.NewString()}
	if err := s.NotificationSent(ctx, gone, epoch); !errors.Is(err, broker.ErrNotFound) || len(waiting(t, s, one.ID)) != 3 {
		t.Errorf("NotificationSent of one that is gone = %v, want ErrNotFound, and nothing removed", err)
	}
	if err := s.NotificationFailed(ctx, gone.Subscription, "x", false, epoch); !errors.Is(err, broker.ErrNotFound) {
		t.Errorf("NotificationFailed of one that is gone = %v, want ErrNotFound", err)
	}
}

func notificationsAreGivenUp(t *testing.T, s SubscriptionStore) {
	ctx := t.Context()
	one, other := subscriber(t, s), subscriber(t, s)
	operationGoes(t, s)
	operationGoes(t, s)
	all := waiting(t, s, one.ID)
	if err := s.NotificationFailed(ctx, one.ID, "x", true, epoch); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		g          subscription.GiveUp
		given      int64
		left, fail int
	}{
		{subscription.GiveUp{Keep: 8}, 0, 8, 1},
		{subscription.GiveUp{Keep: 7}, 1, 7, 1}, // the endpoint works no more than before
		{subscription.GiveUp{Seq: all[3].Seq, Keep: 8}, 1, 6, 0},
		{subscription.GiveUp{Keep: 5}, 1, 5, 0},
		{subscription.GiveUp{Keep: 8, Before: epoch.Add(-time.Second)}, 0, 5, 0},
		{subscription.GiveUp{Keep: 8, Before: epoch.Add(time.Hour)}, 5, 0, 0},
	} {
		c.g.At = epoch.Add(time.Minute)
		var counted int64
		given, err := s.GiveUpNotifications(ctx, one.ID, c.g, func(n int64) audit.Entry { counted = n; return entry("give up") })
		got, again := s.Subscription(ctx, one.ID)
		if err != nil || again != nil || given != c.given || counted != given || len(waiting(t, s, one.ID)) != c.left || got.Failures != int64(c.fail) || got.Refusals != int64(c.fail) {
			t.Errorf("GiveUpNotifications(%+v) = %d, %v; %d left, %d failures", c.g, given, err, len(waiting(t, s, one.ID)), got.Failures)
		}
	}
	if got, err := s.Subscription(ctx, one.ID); err != nil || got.GivenUp != 8 || !got.GivenUpAt.Equal(epoch.Add(time.Minute)) || len(waiting(t, s, other.ID)) != 8 {
		t.Errorf("at the end: %+v, %v; %d are left of the other", got, err, len(waiting(t, s, other.ID)))
	}
}

// notificationFence: a worker that another has taken over from records nothing.
func notificationFence(t *testing.T, s SubscriptionStore) {
	one := subscriber(t, s)
	operationGoes(t, s)
	ctx := job.WithClaim(t.Context(), job.Claim{Job: one.Job(), Fence: 99})
	n := waiting(t, s, one.ID)[0]
	for what, err := range map[string]error{
		"NotificationSent":   s.NotificationSent(ctx, n, epoch),
		"NotificationFailed": s.NotificationFailed(ctx, one.ID, "x", false, epoch),
	} {
		if !errors.Is(err, job.ErrFenced) {
			t.Errorf("%s = %v, want ErrFenced", what, err)
		}
	}
	if _, err := s.GiveUpNotifications(ctx, one.ID, subscription.GiveUp{}, func(int64) audit.Entry { return entry("x") }); !errors.Is(err, job.ErrFenced) || len(waiting(t, s, one.ID)) != 4 {
		t.Errorf("GiveUpNotifications = %v, want ErrFenced; %d are left", err, len(waiting(t, s, one.ID)))
	}
}
