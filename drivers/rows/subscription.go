package rows

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/lifecycle"
	"github.com/vimbroker/vimbroker/lifecycle/subscription"
)

// Subscription is a row of the table vnf_subscriptions.
type Subscription struct {
	subscription.Subscription
	// FilterText is Filter as JSON.
	FilterText string
}

// SubscriptionColumns are the columns of the table vnf_subscriptions.
var SubscriptionColumns = Columns[Subscription]{
	{Name: "id", field: func(s *Subscription) any { return &s.ID }, fixed: true},
	{Name: "project", field: func(s *Subscription) any { return &s.Project }, fixed: true},
	{Name: "callback", field: func(s *Subscription) any { return &s.Callback }, fixed: true},
	{Name: "base", field: func(s *Subscription) any { return &s.Base }, fixed: true},
	{Name: "verbosity", field: func(s *Subscription) any { return &s.Verbosity }, fixed: true},
	{Name: "filter", field: func(s *Subscription) any { return &s.FilterText }, fixed: true},
	{Name: "auth", field: func(s *Subscription) any { return &s.Auth }, fixed: true},
	{Name: "digest", field: func(s *Subscription) any { return &s.Digest }, fixed: true},
	{Name: "created_by", field: func(s *Subscription) any { return &s.CreatedBy }, fixed: true},
	{Name: "created_at", field: func(s *Subscription) any { return &s.CreatedAt }, fixed: true},
	{Name: "state", field: func(s *Subscription) any { return &s.State }},
	{Name: "since", field: func(s *Subscription) any { return &s.Since }},
	{Name: "sealed", field: func(s *Subscription) any { return &s.Sealed }},
	{Name: "key_store", field: func(s *Subscription) any { return &s.KeyStore }},
	{Name: "key_ref", field: func(s *Subscription) any { return (*string)(&s.Ref) }},
	{Name: "delivered", field: func(s *Subscription) any { return &s.Delivered }, fixed: true},
	{Name: "delivered_at", field: func(s *Subscription) any { return &s.DeliveredAt }, fixed: true},
	{Name: "failures", field: func(s *Subscription) any { return &s.Failures }, fixed: true},
	{Name: "refusals", field: func(s *Subscription) any { return &s.Refusals }, fixed: true},
	{Name: "failing_since", field: func(s *Subscription) any { return &s.FailingSince }, fixed: true},
	{Name: "fault", field: func(s *Subscription) any { return &s.Fault }, fixed: true},
	{Name: "given_up", field: func(s *Subscription) any { return &s.GivenUp }, fixed: true},
	{Name: "given_up_at", field: func(s *Subscription) any { return &s.GivenUpAt }, fixed: true},
}

// SubscriptionRow is a subscription as a store keeps it.
func SubscriptionRow(s subscription.Subscription) (Subscription, error) {
	text, err := json.Marshal(s.Filter)
	return Subscription{s, string(text)}, err
}

// Read reads the filter.
func (s Subscription) Read() (subscription.Subscription, error) {
	if err := json.Unmarshal([]byte(s.FilterText), &s.Filter); err != nil {
		return subscription.Subscription{}, unreadable("vnf_subscriptions", s.ID, err)
	}
	if len(s.Auth) == 0 {
		s.Auth = nil
	}
	return s.Subscription, nil
}

// SubscriptionPosition is the place of a subscription in its list.
type SubscriptionPosition struct {
	At int64  `json:"subscriptionAt"` // see Micro
	ID string `json:"subscriptionId"`
}

// CutSubscriptions cuts a list that is longer than a page, and returns the next page's token.
func CutSubscriptions(all []Subscription, size int) ([]Subscription, string) {
	return Cut(all, size, func(s Subscription) string { return Token(SubscriptionPosition{Micro(s.CreatedAt), s.ID}) })
}

// WhereSubscriptions are the conditions of a query.
func WhereSubscriptions(q subscription.Query) *Conditions {
	where := new(Conditions)
	where.AddIf(q.Project != "", `project = ?`, q.Project)
	where.AddIf(q.Digest != "", `digest = ?`, q.Digest)
	where.AddIf(q.Unfinished, `state <> 'active'`)
	where.AddIf(q.Sealed, `sealed <> ''`)
	return where
}

// Subscriber holds the fields of a subscription that are read when an event happens.
type Subscriber struct{ ID, FilterText string }

// NotificationRow is a new row of the table vnf_notifications.
type NotificationRow struct {
	Subscription string
	Event        lifecycle.Event
	Document     string
}

// Notify says which notifications to store of events, in the order of events and subscribers.
func Notify(events []lifecycle.Event, to []Subscriber) (all []NotificationRow, err error) {
	filters := make([]subscription.Filter, len(to))
	for n, s := range to {
		if err := json.Unmarshal([]byte(s.FilterText), &filters[n]); err != nil {
			return nil, unreadable("vnf_subscriptions", s.ID, err)
		}
	}
	for _, e := range events {
		document := ""
		for n, s := range to {
			if !filters[n].Selects(e) {
				continue
			}
			if document == "" {
				text, err := json.Marshal(e)
				if err != nil {
					return nil, err
				}
				document = string(text)
			}
			all = append(all, NotificationRow{s.ID, e, document})
		}
	}
	return all, nil
}

// Notification reads a row.
func Notification(seq int64, of, document string) subscription.Notification {
	n := subscription.Notification{Seq: seq, Subscription: of}
	if err := json.Unmarshal([]byte(document), &n.Event); err != nil {
		n.Event, n.Unreadable = lifecycle.Event{}, unreadable("vnf_notifications", fmt.Sprint(seq), err)
	}
	return n
}

// SubscriptionsUsedUp says that a project has as many subscriptions as it may have.
func SubscriptionsUsedUp(limit int) error {
	return &broker.Error{
		Kind: broker.ErrQuota, Detail: fmt.Sprintf("the project has %d subscriptions, as many as it may have", limit),
		Remedy: "delete some",
	}
}

// Told are the subscriptions that notifications are for, each once, in the order of their ids: so are their jobs
// locked.
func Told(all []NotificationRow) []string {
	ids := make([]string, 0, len(all))
	for _, n := range all {
		ids = append(ids, n.Subscription)
	}
	slices.Sort(ids)
	return slices.Compact(ids)
}
