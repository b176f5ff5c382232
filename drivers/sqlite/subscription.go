package sqlite

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/vimbroker/vimbroker/broker/job"
	"github.com/vimbroker/vimbroker/drivers/rows"
	"github.com/vimbroker/vimbroker/lifecycle"
	"github.com/vimbroker/vimbroker/lifecycle/subscription"
	"github.com/vimbroker/vimbroker/policy/audit"
)

var _ subscription.Store = (*Store)(nil)

var (
	subscriptionsText  = `SELECT ` + rows.SubscriptionColumns.Names() + ` FROM vnf_subscriptions`
	subscriptionText   = subscriptionsText + ` WHERE id = ?`
	subscriptionRow    = prepared(subscriptionText)
	countSubscriptions = prepared(`SELECT count(*) FROM vnf_subscriptions WHERE project = ?`)
	insertSubscription = prepared(rows.SubscriptionColumns.Insert(`vnf_subscriptions`))
	updateSubscription = prepared(`UPDATE vnf_subscriptions SET ` + rows.SubscriptionColumns.Changing().Set() + ` WHERE id = ?`)
	deleteSubscription = prepared(`DELETE FROM vnf_subscriptions WHERE id = ?`)

	subscribers        = prepared(`SELECT id, filter FROM vnf_subscriptions WHERE project = ? AND state = 'active' ORDER BY id`)
	insertNotification = prepared(`INSERT INTO vnf_notifications (subscription, at, document) VALUES (?, ?, ?)`)
	removeNotification = prepared(`DELETE FROM vnf_notifications WHERE seq = ? AND subscription = ?`)
	dropNotifications  = prepared(`DELETE FROM vnf_notifications WHERE subscription = ?`)
	notificationSent   = prepared(`UPDATE vnf_subscriptions SET delivered = delivered + 1, delivered_at = ?, failures = 0, refusals = 0, failing_since = 0, fault = ''
		WHERE id = ?`)
	notificationFailed = prepared(`UPDATE vnf_subscriptions SET failing_since = CASE failures WHEN 0 THEN ? ELSE failing_since END,
		failures = failures + 1, refusals = CASE WHEN ? THEN refusals + 1 ELSE 0 END, fault = ? WHERE id = ?`)
	giveUpNotifications = prepared(`DELETE FROM vnf_notifications WHERE subscription = ? AND (seq = ? OR at < ? OR seq <=
		(SELECT seq FROM vnf_notifications WHERE subscription = ? ORDER BY seq DESC LIMIT 1 OFFSET ?))`)
	givenUp = prepared(`UPDATE vnf_subscriptions SET given_up = given_up + ?1, given_up_at = ?2,
		failures = CASE WHEN ?3 THEN 0 ELSE failures END, refusals = CASE WHEN ?3 THEN 0 ELSE refusals END WHERE id = ?4`)
)

const (
	notifications        = `SELECT seq, subscription, document FROM vnf_notifications WHERE subscription = ? ORDER BY seq LIMIT ?+0`
	waitingNotifications = `SELECT s.value, (SELECT count(*) FROM vnf_notifications WHERE subscription = s.value) FROM json_each(?) AS s`
	countNotifications   = `SELECT count(*) FROM vnf_notifications`
)

// CreateSubscription stores a new subscription.
func (s *Store) CreateSubscription(ctx context.Context, one subscription.Subscription, limit int, e audit.Entry) error {
	row, err := rows.SubscriptionRow(one)
	if err == nil {
		err = s.write(ctx, func(t txn) error {
			var n int
			if err := t.queryRow(countSubscriptions, one.Project).Scan(&n); err != nil {
				return translate(err)
			}
			if limit > 0 && n >= limit {
				return rows.SubscriptionsUsedUp(limit)
			}
			if _, err := t.exec(insertSubscription, values(rows.SubscriptionColumns.Fields(&row))...); err != nil {
				return err
			}
			return t.append(e)
		})
	}
	if err != nil {
		return fmt.Errorf("creating subscription %s: %w", one.ID, err)
	}
	return nil
}

// Subscription returns one by its id.
func (s *Store) Subscription(ctx context.Context, id string) (subscription.Subscription, error) {
	found, err := s.query(ctx, subscriptionText, id)
	one, err := oneSubscription(found, err)
	if err != nil {
		return one, fmt.Errorf("reading subscription %s: %w", id, err)
	}
	return one, nil
}

func oneSubscription(found *sql.Rows, err error) (subscription.Subscription, error) {
	all, err := collect(found, err, scanSubscription)
	row, err := rows.First("subscription", all, err)
	if err != nil {
		return subscription.Subscription{}, err
	}
	return row.Read()
}

func scanSubscription(row *sql.Rows) (s rows.Subscription, err error) {
	return s, scan(row, rows.SubscriptionColumns.Fields(&s), nil)
}

// Subscriptions lists the newest first.
func (s *Store) Subscriptions(ctx context.Context, q subscription.Query) ([]subscription.Subscription, string, error) {
	size, after, err := rows.ReadPage[rows.SubscriptionPosition](q.Page)
	if err != nil {
		return nil, "", err
	}
	c := rows.WhereSubscriptions(q)
	if after != nil {
		c.Add(`(created_at, id) < (?, ?)`, after.At, after.ID)
	}
	text, args := c.SelectFrom(subscriptionsText)
	found, err := s.query(ctx, text+` ORDER BY created_at DESC, id DESC LIMIT ?+0`, append(args, size+1)...)
	all, err := collect(found, err, scanSubscription)
	if err != nil {
		return nil, "", fmt.Errorf("listing subscriptions: %w", err)
	}
	all, next := rows.CutSubscriptions(all, size)
	page, err := rows.Read(all, rows.Subscription.Read)
	return page, next, err
}

// UpdateSubscription changes a subscription by a function.
func (s *Store) UpdateSubscription(
	ctx context.Context, id string, change func(*subscription.Subscription) error, e audit.Entry,
) (subscription.Subscription, error) {
	read := func(t txn) (subscription.Subscription, error) {
		found, err := t.query(subscriptionRow, id)
		return oneSubscription(found, err)
	}
	return amend(ctx, s, "subscription "+id, e, read, change,
		func(t txn, old, next subscription.Subscription) (subscription.Subscription, error) {
			next, err := old.Moved(next)
			if err != nil {
				return next, err
			}
			row := rows.Subscription{Subscription: next}
			_, err = t.exec(updateSubscription, append(values(rows.SubscriptionColumns.Changing().Fields(&row)), id)...)
			return next, err
		})
}

// DeleteSubscription removes a subscription with its notifications.
func (s *Store) DeleteSubscription(ctx context.Context, id string, e audit.Entry) error {
	err := s.write(ctx, func(t txn) error {
		found, err := t.query(subscriptionRow, id)
		one, err := oneSubscription(found, err)
		if rows.IsNotFound(err) {
			return nil
		}
		if err != nil {
			return err
		}
		if _, err := t.exec(dropNotifications, id); err != nil {
			return err
		}
		if _, err := t.exec(deleteSubscription, id); err != nil {
			return err
		}
		if one.Ref != "" {
			if _, err := t.exec(retireSigningKey, one.KeyStore, string(one.Ref), one.ID, one.Owner().Generation, rows.Micro(s.now())); err != nil {
				return err
			}
		}
		return t.append(e)
	})
	if err != nil {
		return fmt.Errorf("deleting subscription %s: %w", id, err)
	}
	return nil
}

// CountNotifications counts the notifications that are still to be sent.
func (s *Store) CountNotifications(ctx context.Context) (int, error) {
	found, err := s.query(ctx, countNotifications)
	counts, err := collect(found, err, func(r *sql.Rows) (n int, err error) { return n, r.Scan(&n) })
	n, err := rows.First("count", counts, err)
	if err != nil {
		return 0, fmt.Errorf("counting notifications: %w", err)
	}
	return n, nil
}

// notify stores what the subscribers of a project are told of events, and has it sent.
func (t txn) notify(project string, events ...lifecycle.Event) error {
	if len(events) == 0 {
		return nil
	}
	found, err := t.query(subscribers, project)
	to, err := collect(found, err, func(r *sql.Rows) (s rows.Subscriber, err error) { return s, r.Scan(&s.ID, &s.FilterText) })
	if err != nil || len(to) == 0 {
		return err
	}
	all, err := rows.Notify(events, to)
	if err != nil {
		return err
	}
	for _, n := range all {
		if _, err := t.exec(insertNotification, n.Subscription, rows.Micro(n.Event.At), n.Document); err != nil {
			return err
		}
	}
	for _, id := range rows.Told(all) {
		if err := t.enqueue(job.Job{Kind: subscription.JobKind, Subject: id}); err != nil {
			return err
		}
	}
	return nil
}

// Notifications lists those that are to be sent first.
func (s *Store) Notifications(ctx context.Context, id string, limit int) ([]subscription.Notification, error) {
	found, err := s.query(ctx, notifications, id, limit)
	all, err := collect(found, err, func(r *sql.Rows) (n subscription.Notification, err error) {
		var of, document string
		if err := r.Scan(&n.Seq, &of, &document); err != nil {
			return n, err
		}
		return rows.Notification(n.Seq, of, document), nil
	})
	if err != nil {
		return nil, fmt.Errorf("reading the notifications of subscription %s: %w", id, err)
	}
	return all, nil
}

// WaitingNotifications counts by subscription.
func (s *Store) WaitingNotifications(ctx context.Context, ids []string) (map[string]int, error) {
	text, err := json.Marshal(ids)
	if err != nil {
		return nil, err
	}
	waiting := make(map[string]int, len(ids))
	found, err := s.query(ctx, waitingNotifications, string(text))
	_, err = collect(found, err, func(r *sql.Rows) (n int, err error) {
		var id string
		err = r.Scan(&id, &n)
		waiting[id] = n
		return n, err
	})
	if err != nil {
		return nil, fmt.Errorf("counting notifications: %w", err)
	}
	return waiting, nil
}

// NotificationSent removes a notification.
func (s *Store) NotificationSent(ctx context.Context, n subscription.Notification, at time.Time) error {
	err := s.write(ctx, func(t txn) error {
		if err := t.one("subscription", notificationSent, rows.Micro(at), n.Subscription); err != nil {
			return err
		}
		_, err := t.exec(removeNotification, n.Seq, n.Subscription)
		return err
	})
	return noted(n.Subscription, err)
}

// NotificationFailed notes why an attempt failed.
func (s *Store) NotificationFailed(ctx context.Context, id, why string, refused bool, at time.Time) error {
	err := s.write(ctx, func(t txn) error {
		return t.one("subscription", notificationFailed, rows.Micro(at), refused, audit.Cut(why), id)
	})
	return noted(id, err)
}

func noted(id string, err error) error {
	if err != nil && !errors.Is(err, job.ErrFenced) {
		return fmt.Errorf("recording what was sent to subscription %s: %w", id, err)
	}
	return err
}

// GiveUpNotifications removes notifications that are not sent any more.
func (s *Store) GiveUpNotifications(
	ctx context.Context, id string, g subscription.GiveUp, entry func(int64) audit.Entry,
) (n int64, err error) {
	err = s.write(ctx, func(t txn) error {
		r, err := t.exec(giveUpNotifications, id, g.Seq, rows.Micro(g.Before), id, g.Keep)
		if err != nil {
			return err
		}
		if n, err = r.RowsAffected(); err != nil || n == 0 {
			return err
		}
		if err := t.one("subscription", givenUp, n, rows.Micro(g.At), g.Seq != 0, id); err != nil {
			return err
		}
		return t.append(entry(n))
	})
	return n, noted(id, err)
}

// DropNotifications removes those of a subscription that is gone.
func (s *Store) DropNotifications(ctx context.Context, id string) error {
	err := s.write(ctx, func(t txn) error {
		if there, err := t.any(subscriptionRow, id); err != nil || there {
			return err
		}
		_, err := t.exec(dropNotifications, id)
		return err
	})
	return noted(id, err)
}
