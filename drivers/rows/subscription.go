package rows

import (
	"encoding/json"
	"fmt"
	"slices"

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
var SubscriptionColumns = ColumnsOf[Subscription](`
	id! project! callback! base! verbosity! filter!=FilterText auth! digest! created_by! created_at! state since
	sealed=Text key_store key_ref=Ref delivered! delivered_at! failures! refusals! failing_since! fault! given_up!
	given_up_at!`)

// SubscriptionRow is a subscription as a store keeps it.
func SubscriptionRow(s subscription.Subscription) (Subscription, error) {
	text, err := json.Marshal(s.Filter)
	return Subscription{s, string(text)}, err
}

// Read reads the filter.
func (s Subscription) Read() (subscription.Subscription, error) {
	var err error
	if s.Filter, err = document[subscription.Filter]("vnf_subscriptions", s.ID, s.FilterText); err != nil {
		return subscription.Subscription{}, err
	}
	if len(s.Auth) == 0 {
		s.Auth = nil
	}
	return s.Subscription, nil
}

// SubscriptionOrder is the order of a list of subscriptions.
var SubscriptionOrder = OrderOf[Subscription]("subscriptions", "created_at id", true)

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
