package vnflcm

import (
	"bytes"
	"context"
	"net/http"
	"time"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/broker/api"
	"github.com/vimbroker/vimbroker/broker/api/sol003"
	"github.com/vimbroker/vimbroker/broker/api/sol013"
	"github.com/vimbroker/vimbroker/lifecycle"
	"github.com/vimbroker/vimbroker/lifecycle/subscription"
	"github.com/vimbroker/vimbroker/policy"
)

// Subscriptions is the part of the broker that serves subscribers; [subscription.Subscriptions] documents each
// method.
type Subscriptions interface {
	Create(ctx context.Context, p policy.Principal, r subscription.NewSubscription) (one subscription.Subscription, made bool, err error)
	Subscription(ctx context.Context, p policy.Principal, id string) (subscription.Subscription, error)
	Subscriptions(ctx context.Context, p policy.Principal, page broker.Page) ([]subscription.Subscription, string, error)
	Delete(ctx context.Context, p policy.Principal, id string) error
}

func (s *server) subscribe(c *api.Call, in sol003.SubscriptionRequest) (api.Answer, error) {
	if in.CallbackURI == "" {
		return api.Answer{}, missing("callbackUri")
	}
	r := subscription.NewSubscription{
		Callback: in.CallbackURI, Base: sol013.URL(c, ""), Verbosity: subscription.Verbosity(in.Verbosity), Filter: asked(in.Filter),
	}
	if a := in.Authentication; a != nil {
		if len(a.AuthType) == 0 {
			return api.Answer{}, missing("authentication.authType")
		}
		r.Auth = a.AuthType
		if b := a.Basic; b != nil {
			r.Credentials.User, r.Credentials.Password = b.UserName, b.Password
		}
		if o := a.OAuth2; o != nil {
			r.Credentials.ClientID, r.Credentials.ClientPassword, r.Credentials.TokenEndpoint = o.ClientID, o.ClientPassword, o.TokenEndpoint
		}
	}
	one, made, err := s.subs.Create(c.Context(), c.Principal, r)
	if err != nil {
		return api.Answer{}, err
	}
	where := http.Header{"Location": {subscriptionURL(sol013.URL(c, ""), one.ID)}}
	if !made {
		return api.Answer{Status: http.StatusSeeOther, Header: where}, nil
	}
	return api.Answer{Header: where, Body: shownSubscription(c, one)}, nil
}

// asked is a filter as the domain has it.
func asked(in *sol003.SubscriptionFilter) (f subscription.Filter) {
	if in == nil {
		return f
	}
	f.Kinds, f.Types, f.States = words[lifecycle.EventKind](in.NotificationTypes), words[lifecycle.OperationType](in.OperationTypes),
		words[lifecycle.OperationState](in.OperationStates)
	if i := in.Instances; i != nil {
		f.VNFDs, f.Providers, f.Instances, f.Names = i.VNFDIDs, i.Providers, i.InstanceIDs, i.Names
	}
	return f
}

// words are texts as another type.
func words[To, From ~string](all []From) (to []To) {
	for _, one := range all {
		to = append(to, To(one))
	}
	return to
}

// shownFilter is a filter as SOL003 has it; nil if it selects all.
func shownFilter(f subscription.Filter) *sol003.SubscriptionFilter {
	shown := sol003.SubscriptionFilter{
		NotificationTypes: words[string](f.Kinds), OperationTypes: words[string](f.Types), OperationStates: words[string](f.States),
	}
	if len(f.VNFDs)+len(f.Providers)+len(f.Instances)+len(f.Names) > 0 {
		shown.Instances = &sol003.InstanceFilter{VNFDIDs: f.VNFDs, Providers: f.Providers, InstanceIDs: f.Instances, Names: f.Names}
	}
	if shown.Instances == nil && len(f.Kinds)+len(f.Types)+len(f.States) == 0 {
		return nil
	}
	return &shown
}

func subscriptionURL(base, id string) string { return base + sol003.Prefix + "/subscriptions/" + id }

// shownSubscription is a subscription as SOL003 has it: never with what authenticates the server.
func shownSubscription(c *api.Call, s subscription.Subscription) sol003.Subscription {
	moment := func(t time.Time) *time.Time {
		if t.IsZero() {
			return nil
		}
		return &t
	}
	return sol003.Subscription{
		ID: s.ID, Filter: shownFilter(s.Filter), CallbackURI: s.Callback, Verbosity: string(s.Verbosity),
		Own: &sol003.SubscriptionDetail{
			Project: s.Project, CreatedBy: s.CreatedBy, CreatedAt: s.CreatedAt, AuthType: s.Auth, Waiting: s.Waiting,
			Delivered: s.Delivered, DeliveredAt: moment(s.DeliveredAt), GivenUp: s.GivenUp, GivenUpAt: moment(s.GivenUpAt),
			Failures: s.Failures, FailingSince: moment(s.FailingSince), Fault: s.Fault,
		},
		Links: sol003.Links{"self": {Href: subscriptionURL(sol013.URL(c, ""), s.ID)}},
	}
}

// subscriptionShape: nothing is left out of a list.
var subscriptionShape = sol013.Selectable{Mandatory: []string{"id", "callbackUri", "verbosity", "_links"}}

func (s *server) listSubscriptions(c *api.Call) (api.Answer, error) {
	page := broker.Page{Token: sol013.Marker(c)}
	return sol013.Lists(c, subscriptionShape, shownSubscription)(s.subs.Subscriptions(c.Context(), c.Principal, page))
}

func (s *server) unsubscribe(c *api.Call) (api.Answer, error) {
	return api.Answer{}, s.subs.Delete(c.Context(), c.Principal, c.PathValue("id"))
}

// Notification tells a subscriber of an event (SOL003 clauses 5.5.2.17 to 5.5.2.19).
func Notification(s subscription.Subscription, e lifecycle.Event) ([]byte, error) {
	at := s.Base + sol003.Prefix
	n := sol003.Notification{
		ID: e.ID, Type: string(e.Kind), SubscriptionID: s.ID, TimeStamp: e.At, InstanceID: e.Instance,
		Links: sol003.Links{"vnfInstance": {Href: at + "/vnf_instances/" + e.Instance}, "subscription": {Href: subscriptionURL(s.Base, s.ID)}},
	}
	if e.Kind == lifecycle.OperationMoved {
		automatic := false
		n.State, n.Operation, n.Automatic, n.OperationID, n.Verbosity = string(e.State), string(e.Type), &automatic,
			e.Operation, string(s.Verbosity)
		n.Status = sol003.Start
		if e.Result() {
			n.Status = sol003.Result
		}
		if f := e.Failure; f != nil {
			n.Error = &sol003.Problem{Title: f.Title, Status: f.Status, Detail: f.Detail}
		}
		if s.Verbosity == subscription.Full {
			on := lifecycle.Shape{Part: e.Part, More: e.More}
			n.VNFCs, n.Storages, n.VLs = affected(on, e.Affected), affectedStorages(on, e.Storages), affectedLinks(on, e.Affecting)
			n.Connected = externalLinks(on, e.Links)
			if e.Asked != nil {
				n.Changed = modified(e.Asked, on)
			}
			if e.NewProduct != nil {
				n.Triggered = new(triggered(*e.NewProduct))
			}
		}
		n.Own = &sol003.NotificationNote{Number: e.Number}
		n.Links["vnfLcmOpOcc"] = sol003.Link{Href: at + "/vnf_lcm_op_occs/" + e.Operation}
	}
	var text bytes.Buffer
	if err := wire.Encode(&text, n); err != nil {
		return nil, err
	}
	return text.Bytes(), nil
}
