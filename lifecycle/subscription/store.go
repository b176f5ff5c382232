package subscription

import (
	"context"
	"time"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/lifecycle"
	"github.com/vimbroker/vimbroker/policy/audit"
)

// Store keeps subscriptions and the notifications that wait to be sent. Implementations stand under drivers/ and
// pass test/conformance.Subscriptions. The rules of [broker.Store] on writes, entries, times and claims apply here
// too.
//
// An implementation is a [lifecycle.Store] as well. Each write of that which makes, removes or moves something stores,
// with it, a notification for every subscription of the project that is needed and whose filter selects the event, and has the
// subscription's job worked.
type Store interface {
	audit.Sink

	// CreateSubscription stores a new subscription: ErrQuota if the project has limit of them already (0 is no
	// bound), ErrExists if it has one of the same Digest.
	CreateSubscription(ctx context.Context, s Subscription, limit int, e audit.Entry) error
	// Subscription returns one by its id; ErrNotFound.
	Subscription(ctx context.Context, id string) (Subscription, error)
	// Subscriptions returns those that match, the newest first, and the next page's token.
	Subscriptions(ctx context.Context, f Query) ([]Subscription, string, error)
	// UpdateSubscription changes State and the sealing of the secret by a function; if that fails nothing is written
	// and its error is returned unchanged. A move that the table of states does not list is ErrConflict.
	UpdateSubscription(ctx context.Context, id string, change func(*Subscription) error, e audit.Entry) (Subscription, error)
	// RekeySubscription is UpdateSubscription without an entry: resealing all has an entry of its
	// own.
	RekeySubscription(ctx context.Context, id string, change func(*Subscription) error) (Subscription, error)
	// DeleteSubscription removes a subscription with its notifications; the key that seals its secret goes on the
	// ledger of retired keys. Deleting one that is gone succeeds, and writes nothing.
	DeleteSubscription(ctx context.Context, id string, e audit.Entry) error
	// CountNotifications counts the notifications that are still to be sent.
	CountNotifications(ctx context.Context) (int, error)
	// Operation is [lifecycle.Store]'s.
	Operation(ctx context.Context, id string) (lifecycle.Operation, error)

	// Notifications returns the next notifications to send, in order, at most limit.
	Notifications(ctx context.Context, subscription string, limit int) ([]Notification, error)
	// WaitingNotifications counts the notifications that wait to be sent, by subscription.
	WaitingNotifications(ctx context.Context, subscriptions []string) (map[string]int, error)
	// NotificationSent removes a notification that its subscriber took; ErrNotFound if the subscription is gone.
	NotificationSent(ctx context.Context, n Notification, at time.Time) error
	// NotificationFailed notes on a subscription why an attempt failed, and whether that was a refusal; ErrNotFound.
	NotificationFailed(ctx context.Context, subscription, why string, refused bool, at time.Time) error
	// GiveUpNotifications removes the notification seq, those of events before a time, and all but the newest keep,
	// and counts them on the subscription, with the entry that records their number. If seq is given, Failures and
	// Refusals count from zero again. If there are none it writes nothing.
	GiveUpNotifications(ctx context.Context, subscription string, g GiveUp, entry func(n int64) audit.Entry) (int64, error)
	// DropNotifications removes those of a subscription that is gone. There is no audit entry.
	DropNotifications(ctx context.Context, subscription string) error
}

// Query selects subscriptions in the store.
type Query struct {
	// Project selects those of one project; empty selects all.
	Project string
	// Digest selects those with it; empty selects all.
	Digest string
	// Unfinished selects those that are not Active, Sealed those that hold a sealed secret.
	Unfinished, Sealed bool
	broker.Page
}

// GiveUp says which notifications of a subscription are not sent any more.
type GiveUp struct {
	// Seq is one of them; 0 is none.
	Seq    int64
	Before time.Time
	Keep   int
	At     time.Time
}
