package subscription

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"strconv"
	"time"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/broker/failpoint"
	"github.com/vimbroker/vimbroker/broker/job"
	"github.com/vimbroker/vimbroker/lifecycle"
	"github.com/vimbroker/vimbroker/policy"
	"github.com/vimbroker/vimbroker/policy/audit"
)

const (
	// atOnce is how many subscribers one process sends to at the same time, tardyAtOnce how many of them may be such
	// that failed, or took longer than slowAfter, the last time: they leave places for the others.
	atOnce      = 64
	tardyAtOnce = 16
	// tardyTurn is how long a tardy subscriber has its place among the tardy, if all of those are taken, and turn how
	// long any other has its place, if all are.
	tardyTurn = 30 * time.Second
	turn      = 2 * time.Second
	// batch is the number of notifications that are read at a time.
	batch = 20
	// refusals is the number of refusals in a row after which a notification is given up.
	refusals = 5
	// slowFor is how long one counts as slow that is not sent to.
	slowFor = time.Hour
	// trimEvery is the interval at which one attempt checks whether more wait than are kept.
	trimEvery = 30 * time.Second
)

// slowAfter is the time of the processor's clock: a test that is slow itself moves it.
var slowAfter = 2 * time.Second

// errTardy: the subscriber has to wait for its place.
var errTardy = errors.New("other subscribers that fail or are slow are being sent to")

// Why notifications are given up that the subscriber has not refused.
var (
	errBehind     = errors.New("the subscriber is too slow: more wait for it than are kept")
	errUnreadable = errors.New("the notification cannot be written: what is stored of it cannot be read")
)

// Deliveries counts what this process has done since it started.
type Deliveries struct{ Sent, Failed, GivenUp int64 }

// Worker sends notifications.
func (s *Subscriptions) Worker() job.Worker {
	return job.Worker{Kind: JobKind, AtOnce: atOnce, Work: s.Work}
}

// Work sends the waiting notifications of one subscription, in order. It returns an error if the subscriber does
// not take the first, and is called again after a backoff, which each notification taken resets: nothing later is
// sent before. While all places are taken it ends after its turn, and goes to the end of the queue.
func (s *Subscriptions) Work(ctx context.Context, id string) error {
	one, err := s.Store.Subscription(ctx, id)
	if errors.Is(err, broker.ErrNotFound) {
		s.forget(id)
		return s.Store.DropNotifications(ctx, id)
	}
	if err != nil || !one.State.Needed() {
		return err
	}
	o := order{Subscriptions: s, one: one, began: s.Now(), to: Subscriber{
		Subscription: one.ID, Callback: one.Callback, Egress: s.Egress(one.Project),
		Credentials: func(ctx context.Context) (Credentials, error) { return s.open(ctx, one) },
	}}
	s.working.Add(1)
	defer s.working.Add(-1)
	defer o.leave()
	if err = o.deliver(ctx); o.sent {
		err = job.Progressed(err)
	}
	return err
}

// deliver sends what waits until nothing does. An error ends the attempt.
func (o *order) deliver(ctx context.Context) error {
	s, id := o.Subscriptions, o.one.ID
	for {
		read := s.Now()
		found, err := s.Store.Notifications(ctx, id, batch)
		if err != nil || len(found) == 0 {
			return err
		}
		// Also if the subscriber takes them more slowly than they come, or has to wait for its place.
		if len(found) == batch && s.Now().Sub(o.trimmed) >= trimEvery {
			o.trimmed = s.Now()
			if given, err := o.giveUp(ctx, GiveUp{Keep: s.Terms.Keep, At: o.trimmed}, errBehind); err != nil {
				return err
			} else if given > 0 {
				continue
			}
		}
		for _, n := range found {
			if err := o.place(); err != nil {
				return err
			}
			if err := o.send(ctx, n); err != nil {
				if errors.Is(err, broker.ErrNotFound) { // it was deleted meanwhile
					s.forget(id)
					return s.Store.DropNotifications(ctx, id)
				}
				return err
			}
			if s.Now().Sub(read) >= trimEvery {
				break
			}
		}
	}
}

// order holds the data of one attempt on its subscriber.
type order struct {
	*Subscriptions
	one   Subscription
	to    Subscriber
	began time.Time
	since time.Time // when it got a place among the tardy; zero if it has none
	// trimmed is when it was looked last whether more wait than are kept.
	trimmed time.Time
	// sent: the subscriber has taken a notification.
	sent bool
}

// place gets a place among the tardy for a subscriber that is. An error says that the subscriber leaves its place to
// others.
func (o *order) place() error {
	o.mu.Lock()
	was, slow := o.slow[o.one.ID]
	tardy := o.one.Failures > 0 || slow && o.Now().Sub(was) < slowFor
	o.mu.Unlock()
	switch {
	case !tardy:
		o.leave()
		if o.working.Load() >= atOnce && o.Now().Sub(o.began) > turn {
			return job.ErrAgain
		}
		return nil
	case o.since.IsZero():
		select {
		case o.tardy <- struct{}{}:
			o.since = o.Now()
			return nil
		default:
			return errTardy
		}
	case len(o.tardy) == cap(o.tardy) && o.Now().Sub(o.since) > tardyTurn:
		return errTardy
	}
	return nil
}

func (o *order) leave() {
	if !o.since.IsZero() {
		<-o.tardy
		o.since = time.Time{}
	}
}

// forget drops this process's state of a subscription.
func (s *Subscriptions) forget(id string) {
	s.mu.Lock()
	delete(s.slow, id)
	s.mu.Unlock()
	s.Endpoint.Forget(id)
}

// send sends one notification, and records how that went. An error ends the attempt.
func (o *order) send(ctx context.Context, n Notification) error {
	event, err := o.whole(ctx, n.Event)
	if err != nil {
		return err
	}
	body, err := o.Render(o.one, event)
	if err = cmp.Or(n.Unreadable, err); err != nil {
		o.Log.ErrorContext(ctx, "a notification cannot be written",
			"subscription", o.one.ID, "project", o.one.Project, "notification", n.Seq, "error", err)
		_, err = o.giveUp(ctx, GiveUp{Seq: n.Seq, Keep: o.Terms.Keep, At: o.Now()}, errUnreadable)
		return err
	}
	bounded, cancel := context.WithTimeout(ctx, o.Terms.SendTime)
	defer cancel()
	began := time.Now()
	err = o.Endpoint.Send(bounded, o.to, body)
	if ctx.Err() != nil {
		return ctx.Err() // the process stops, or another has taken over: the notification is sent again
	}
	o.mu.Lock()
	if time.Since(began) > slowAfter {
		o.slowed(o.one.ID)
	} else {
		delete(o.slow, o.one.ID)
	}
	o.mu.Unlock()
	if err != nil {
		return o.failed(ctx, n, err)
	}
	failpoint.At("notify.sent")
	if err := o.Store.NotificationSent(ctx, n, o.Now()); err != nil {
		return err
	}
	failpoint.At("notify.recorded")
	o.one.Failures, o.one.Refusals, o.sent = 0, 0, true
	o.count(Deliveries{Sent: 1})
	return nil
}

// whole is an event with the fields that are not stored with it.
func (o *order) whole(ctx context.Context, e lifecycle.Event) (lifecycle.Event, error) {
	if e.Type != lifecycle.ModifyInfo || e.State != lifecycle.Completed || e.Asked != nil || o.one.Verbosity == Short {
		return e, nil
	}
	of, err := o.Store.Operation(ctx, e.Operation)
	if errors.Is(err, broker.ErrNotFound) { // the instance is gone, and its operations with it
		return e, nil
	}
	e.Asked = of.Params
	return e, err
}

// slowed notes that a subscriber took long. The caller holds the lock. Notes on subscribers that are gone from every
// list are dropped in time.
func (s *Subscriptions) slowed(id string) {
	now := s.Now()
	maps.DeleteFunc(s.slow, func(_ string, at time.Time) bool { return now.Sub(at) >= slowFor })
	s.slow[id] = now
}

// failed records that the subscriber did not take a notification, and gives up notifications that are too old. The
// broker's own faults do not count as failures of the subscriber.
func (o *order) failed(ctx context.Context, n Notification, why error) error {
	if errors.Is(why, ErrOurs) {
		o.Log.WarnContext(ctx, "notifications wait", "subscription", o.one.ID, "project", o.one.Project, "error", why)
		return why
	}
	now, refused := o.Now(), errors.Is(why, ErrRefused)
	if err := o.Store.NotificationFailed(ctx, o.one.ID, why.Error(), refused, now); err != nil {
		return err
	}
	o.one.Failures++
	g := GiveUp{Before: now.Add(-o.Terms.GiveUpAfter), Keep: o.Terms.Keep, At: now}
	// Refusals does not count this failure yet, Failures does.
	if refused && min(o.one.Refusals+1, o.one.Failures) >= refusals {
		g.Seq = n.Seq
	}
	if _, err := o.giveUp(ctx, g, why); err != nil {
		return err
	}
	o.count(Deliveries{Failed: 1})
	return why
}

// giveUp gives notifications up, and says how many.
func (o *order) giveUp(ctx context.Context, g GiveUp, why error) (int64, error) {
	act := o.Guard.Record(ctx, broker.System("notifier", o.one.Project), policy.SubscriptionNotify, o.one.resource()).
		With(audit.DetailSubscription, o.one.ID)
	given, err := o.Store.GiveUpNotifications(ctx, o.one.ID, g, func(n int64) audit.Entry {
		return act.With(audit.DetailCount, strconv.FormatInt(n, 10)).Failed(why.Error())
	})
	if err != nil {
		return 0, err
	}
	if given > 0 {
		o.Log.ErrorContext(ctx, "notifications are given up", "subscription", o.one.ID, "project", o.one.Project, "count", given, "error", why)
	}
	o.count(Deliveries{GivenUp: given})
	return given, nil
}

func (s *Subscriptions) count(t Deliveries) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.sent.Sent, s.sent.Failed, s.sent.GivenUp = s.sent.Sent+t.Sent, s.sent.Failed+t.Failed, s.sent.GivenUp+t.GivenUp
}

// Vitals are the figures of subscriptions for operators.
type Vitals struct {
	// Waiting counts the notifications that all processes are still to send; nil if the store could not be asked.
	Waiting *int
	Deliveries
}

// Vitals returns the figures for operators.
func (s *Subscriptions) Vitals(ctx context.Context) Vitals {
	s.mu.Lock()
	v := Vitals{Deliveries: s.sent}
	s.mu.Unlock()
	waiting, err := s.Store.CountNotifications(ctx)
	if err != nil {
		s.Log.WarnContext(ctx, "the store could not be asked how many notifications wait", "error", err)
		return v
	}
	v.Waiting = &waiting
	return v
}
