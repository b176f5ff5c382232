// Package subscription tells others what becomes of VNF instances: subscriptions, and the notifications that are
// sent to them (ETSI GS NFV-SOL 003, clauses 5.4.16 to 5.4.20).
//
// An event is written as one notification for each subscription that it matches, in the transaction of the change that
// it tells of. A job for each subscription sends them in their order: one worker at a time, of all processes. A
// notification is removed once the subscriber has taken it, so it may be sent twice, with the same id, and is lost
// only where sending it was given up.
package subscription

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"time"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/broker/job"
	"github.com/vimbroker/vimbroker/broker/keyring"
	"github.com/vimbroker/vimbroker/broker/secret"
	"github.com/vimbroker/vimbroker/lifecycle"
	"github.com/vimbroker/vimbroker/policy"
)

// Subscription is a subscriber of a project, and the progress of its notifications. Times are in UTC, in
// microseconds.
//
// It belongs to the project: it continues if its creator loses access.
type Subscription struct {
	// ID is a UUID that the broker assigns.
	ID      string
	Project string
	// SealedRow holds the broker's credentials at the subscriber. Its texts are empty if there are none; while it is made
	// only KeyStore is known, the one that the key goes to. No owners are kept.
	keyring.SealedRow
	// Callback is the URI that notifications are posted to. It never has a user or password.
	Callback string
	// Base is the URL at which the subscriber reaches the broker ("https://broker.example.org"): links in
	// notifications begin with it.
	Base      string
	Verbosity Verbosity
	Filter    Filter
	// Auth are the ways of authentication that the subscriber accepts.
	Auth []string
	// Digest is the same for two subscriptions of a project that would get the same notifications.
	Digest string

	CreatedBy string
	CreatedAt time.Time

	// Delivered counts the notifications that the subscriber took, the last of them at DeliveredAt.
	Delivered   int64
	DeliveredAt time.Time
	// Failures counts the attempts in a row that have failed since FailingSince; Fault says why the last did.
	// Refusals counts those of them, the last ones without another between them, in which it refused the notification.
	Failures     int64
	Refusals     int64
	FailingSince time.Time
	Fault        string
	// GivenUp counts the notifications that are not sent any more, the last of them since GivenUpAt.
	GivenUp   int64
	GivenUpAt time.Time
	// Waiting counts the notifications that are still to be sent: shown by [Subscriptions.Subscription] and
	// [Subscriptions.Subscriptions], and not stored.
	Waiting int
}

// State is the state of a subscription. One that is needed may also be deleted: then its row goes.
type State = keyring.State

// Every state.
const (
	Making    = keyring.Making
	Abandoned = keyring.Abandoned
	Active    = keyring.Active
	Rekeying  = keyring.Rekeying
)

// Verbosity says how much notifications about operations contain (SOL003, LcmOpOccNotificationVerbosityType).
type Verbosity string

// Every verbosity.
const (
	Full Verbosity = "FULL"
	// Short leaves out the changes.
	Short Verbosity = "SHORT"
)

// The ways in which the broker authenticates itself to a subscriber (SOL003, SubscriptionAuthentication).
const (
	Basic  = "BASIC"
	OAuth2 = "OAUTH2_CLIENT_CREDENTIALS"
	// TLS is by the client certificate of the broker's configuration.
	TLS = "TLS_CERT"
)

// held is the sealed part, with the owner of its keys.
func (s *Subscription) held() *keyring.SealedRow {
	s.Owner = secret.Owner{ID: s.ID, Generation: 1}
	s.Next = s.Owner
	return &s.SealedRow
}

// Job is the one that sends its notifications.
func (s Subscription) Job() job.Job { return job.Job{Kind: JobKind, Subject: s.ID} }

// JobKind is the kind of the jobs that send notifications; the subject is the subscription's id.
const JobKind = "vnf-notifications"

// Moved is the subscription that an update stores in the place of another. A move that the table of states does not
// list is [broker.ErrConflict], and so is abandoning one that is needed: that is deleted.
func (s Subscription) Moved(to Subscription) (Subscription, error) {
	if s.State != to.State && (!s.State.CanMove(to.State) || s.State.Needed() && to.State == Abandoned) {
		return s, &broker.Error{
			Kind: broker.ErrConflict, Detail: "a subscription that is " + string(s.State) + " cannot become " + string(to.State),
		}
	}
	s.SealedRow = to.SealedRow
	return s, nil
}

// resource is the subscription as policies see it.
func (s Subscription) resource() policy.Resource {
	return policy.Resource{Kind: policy.KindSubscription, ID: s.ID, Project: s.Project, Owner: s.CreatedBy}
}

// digest tells subscriptions apart that get other notifications.
func (s Subscription) digest() string {
	text, _ := json.Marshal([]any{s.Callback, s.Verbosity, s.Filter}) // never fails for these types
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}

// Notification is an event on its way to one subscriber.
type Notification struct {
	// Seq orders the notifications of a subscription.
	Seq          int64
	Subscription string
	Event        lifecycle.Event
	// Unreadable is the reason why Event is empty: the stored event cannot be read.
	Unreadable error
}
