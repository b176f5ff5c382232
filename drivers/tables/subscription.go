package tables

import (
	"context"
	"errors"
	"time"

	"github.com/vimbroker/vimbroker/broker/job"
	"github.com/vimbroker/vimbroker/drivers/rows"
	"github.com/vimbroker/vimbroker/lifecycle"
	"github.com/vimbroker/vimbroker/lifecycle/subscription"
	"github.com/vimbroker/vimbroker/policy/audit"
)

var (
	subscriptions = keyedBy(`id`, `vnf_subscriptions`, "subscription", rows.SubscriptionColumns,
		rows.Subscription.Read, rows.SubscriptionRow)
	deleteSubscription = statement(`DELETE FROM vnf_subscriptions WHERE id = ?`)
	subscriptionThere  = statement(`SELECT 1 FROM vnf_subscriptions WHERE id = ?`)

	subscribers = statement(`SELECT id, filter FROM vnf_subscriptions
		WHERE project = ? AND state IN ('active', 'rekeying') ORDER BY id`)
	insertNotification = statement(`INSERT INTO vnf_notifications (subscription, at, document) VALUES (?, ?, ?)`)
	removeNotification = statement(`DELETE FROM vnf_notifications WHERE seq = ? AND subscription = ?`)
	dropNotifications  = statement(`DELETE FROM vnf_notifications WHERE subscription = ?`)
	notificationSent   = statement(`UPDATE vnf_subscriptions SET delivered = delivered + 1, delivered_at = ?1,
		failures = 0, refusals = 0, failing_since = '-infinity', fault = ''
		WHERE id = ?2`)
	notificationFailed = statement(`UPDATE vnf_subscriptions SET failing_since = CASE failures WHEN 0 THEN ?1 ELSE failing_since END,
		failures = failures + 1, refusals = CASE WHEN ?4 THEN refusals + 1 ELSE 0 END, fault = ?2 WHERE id = ?3`)
	giveUpNotifications = statement(`DELETE FROM vnf_notifications WHERE subscription = ?1 AND (seq = ?2 OR at < ?3 OR seq <=
		(SELECT seq FROM vnf_notifications WHERE subscription = ?1 ORDER BY seq DESC LIMIT 1 OFFSET ?4))`)
	givenUp = statement(`UPDATE vnf_subscriptions SET given_up = given_up + ?1, given_up_at = ?2,
		failures = CASE WHEN ?3 THEN 0 ELSE failures END, refusals = CASE WHEN ?3 THEN 0 ELSE refusals END WHERE id = ?4`)
)

var (
	notifications        = statement(`SELECT seq, subscription, document FROM vnf_notifications WHERE subscription = ?1 ORDER BY seq LIMIT ?2`)
	waitingNotifications = statement(`SELECT subscription, count(*) FROM vnf_notifications WHERE subscription = ANY (?1) GROUP BY 1`)
	countNotifications   = statement(`SELECT count(*) FROM vnf_notifications`)
)

// CreateSubscription stores a new subscription.
func (s *Tables) CreateSubscription(ctx context.Context, one subscription.Subscription, limit int, e audit.Entry) error {
	return subscriptions.create(ctx, s, e, one.ID, one, within(subsQuota, one.Project, limit), nil)
}

// Subscription returns one by its id.
func (s *Tables) Subscription(ctx context.Context, id string) (subscription.Subscription, error) {
	return subscriptions.get(ctx, s, id)
}

// Subscriptions lists the newest first.
func (s *Tables) Subscriptions(ctx context.Context, q subscription.Query) ([]subscription.Subscription, string, error) {
	return subscriptions.page(ctx, s, rows.SubscriptionOrder, q.Page, subscriptions.text, rows.WhereSubscriptions(q))
}

// UpdateSubscription changes a subscription by a function.
func (s *Tables) UpdateSubscription(
	ctx context.Context, id string, change func(*subscription.Subscription) error, e audit.Entry,
) (subscription.Subscription, error) {
	return subscriptions.amend(ctx, s.recording(e), id, change, subscription.Subscription.Moved)
}

// RekeySubscription changes what seals the secret of a subscription by a function.
func (s *Tables) RekeySubscription(
	ctx context.Context, id string, change func(*subscription.Subscription) error,
) (subscription.Subscription, error) {
	return subscriptions.amend(ctx, s.change, id, change, subscription.Subscription.Moved)
}

// DeleteSubscription removes a subscription with its notifications.
func (s *Tables) DeleteSubscription(ctx context.Context, id string, e audit.Entry) error {
	err := s.write(ctx, e, func(t Tx) error {
		one, err := orNothing(subscriptions.locked(t, id))
		if err != nil {
			return err
		}
		t.queue(dropNotifications, id)
		t.queue(deleteSubscription, id)
		if one.Ref != "" {
			t.queue(retireSigningKey, one.KeyStore, string(one.Ref), one.ID, 1, s.db.Now()) // all are of one generation
		}
		return nil
	})
	return doing(err, "deleting subscription %s", id)
}

// CountNotifications counts the notifications that are still to be sent.
func (s *Tables) CountNotifications(ctx context.Context) (int, error) {
	n, err := single[int](ctx, s, countNotifications)
	return n, doing(err, "counting notifications")
}

// notify stores the notifications of events for the subscribers of a project, and has them sent. It locks no row of a
// subscription: a concurrent deletion waits for nothing, and the subscription's job drops the notifications stored for
// it.
func (t Tx) notify(project string, events ...lifecycle.Event) error {
	if len(events) == 0 {
		return nil
	}
	to, err := query(t, func(r Row) (s rows.Subscriber, err error) { return s, r.Scan(&s.ID, &s.FilterText) }, subscribers,
		project)
	if err != nil || len(to) == 0 {
		return err
	}
	all, err := rows.Notify(events, to)
	if err != nil {
		return err
	}
	for _, n := range all {
		t.queue(insertNotification, n.Subscription, n.Event.At, n.Document)
	}
	for _, id := range rows.Told(all) {
		if err := t.enqueue(job.Job{Kind: subscription.JobKind, Subject: id}); err != nil {
			return err
		}
	}
	return nil
}

// Notifications lists the next notifications to send.
func (s *Tables) Notifications(ctx context.Context, id string, limit int) ([]subscription.Notification, error) {
	all, err := read(ctx, s, func(r Row) (n subscription.Notification, err error) {
		var of, document string
		if err := r.Scan(&n.Seq, &of, &document); err != nil {
			return n, err
		}
		return rows.Notification(n.Seq, of, document), nil
	}, notifications, id, limit)
	return all, doing(err, "reading the notifications of subscription %s", id)
}

// WaitingNotifications counts by subscription.
func (s *Tables) WaitingNotifications(ctx context.Context, ids []string) (map[string]int, error) {
	waiting, err := readMap[string, int](ctx, s, waitingNotifications, ids)
	return waiting, doing(err, "counting notifications")
}

// NotificationSent removes a notification.
func (s *Tables) NotificationSent(ctx context.Context, n subscription.Notification, at time.Time) error {
	err := s.change(ctx, func(t Tx) error {
		t.queue(removeNotification, n.Seq, n.Subscription)
		return t.one("subscription", notificationSent, at, n.Subscription)
	})
	return noted(n.Subscription, err)
}

// NotificationFailed notes why an attempt failed.
func (s *Tables) NotificationFailed(ctx context.Context, id, why string, refused bool, at time.Time) error {
	err := s.change(ctx, func(t Tx) error {
		return t.one("subscription", notificationFailed, at, audit.Cut(why), id, refused)
	})
	return noted(id, err)
}

func noted(id string, err error) error {
	if err != nil && !errors.Is(err, job.ErrFenced) {
		return doing(err, "recording what was sent to subscription %s", id)
	}
	return err
}

// GiveUpNotifications removes notifications that are not sent any more.
func (s *Tables) GiveUpNotifications(
	ctx context.Context, id string, g subscription.GiveUp, entry func(int64) audit.Entry,
) (n int64, err error) {
	err = s.change(ctx, func(t Tx) error {
		removed, err := t.Exec(giveUpNotifications, id, g.Seq, g.Before, g.Keep)
		if err != nil {
			return err
		}
		if n = removed; n == 0 {
			return ErrNothing
		}
		if err := t.one("subscription", givenUp, n, g.At, g.Seq != 0, id); err != nil {
			return err
		}
		return t.Append(entry(n))
	})
	return n, noted(id, err)
}

// DropNotifications removes those of a subscription that is gone.
func (s *Tables) DropNotifications(ctx context.Context, id string) error {
	err := s.change(ctx, func(t Tx) error {
		if there, err := t.there(subscriptionThere, id); err != nil || there {
			return err
		}
		t.queue(dropNotifications, id)
		return nil
	})
	return noted(id, err)
}
