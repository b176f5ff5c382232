package subscription_test

import (
	"errors"
	"testing"
	"time"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/broker/secret"
	"github.com/vimbroker/vimbroker/lifecycle"
	"github.com/vimbroker/vimbroker/lifecycle/subscription"
	"github.com/vimbroker/vimbroker/test/faults"
)

// swept is an office in a sweep, with a subscriber.
type swept struct {
	*office
	to *subscriber
}

var offices = faults.Kit[*swept]{
	New: func(t *testing.T) *swept { return &swept{newOffice(t), newSubscriber(t, nil)} },
	World: func(s *swept) faults.World {
		return faults.World{
			Objects: func() []string { return nil },
			Keys:    func() []string { return faults.KeysOf(s.t, s.keys) },
			Pass: func(wait time.Duration) error {
				s.clock.Add(wait + 10*time.Minute)
				var failed []error
				for _, pass := range s.Passes() {
					failed = append(failed, pass.Run(s.t.Context()))
				}
				failed = append(failed, faults.DestroyRetired(s.t.Context(), s.store, s.keys))
				all, _, err := s.Subscriptions.Subscriptions(s.t.Context(), alice, broker.Page{})
				for _, one := range all {
					failed = append(failed, s.work(one.ID))
				}
				return errors.Join(append(failed, err)...)
			},
			Secrets: []string{canary},
		}
	},
}

// subscribed is a subscription with a secret.
func (s *swept) subscribed() string {
	return s.subscribe(s.to, s.secretly).ID
}

func (s *swept) secretly(r *subscription.NewSubscription) {
	r.Auth, r.Credentials = []string{subscription.Basic}, subscription.Credentials{User: "u", Password: secret.NewText(canary)}
}

type flow = faults.Flow[*swept]

func TestSweepSubscriptions(t *testing.T) {
	faults.Sweep(t, offices,
		flow{Name: "create", Leaves: `^entry: done |^vnf_subscriptions:.* state=abandoned`, Do: func(s *swept, _ string) (any, error) {
			r := subscription.NewSubscription{Callback: s.to.URL + "/notify", Base: "https://broker.example.org"}
			s.secretly(&r)
			one, _, err := s.Create(s.t.Context(), alice, r)
			return one.State, err
		}},
		flow{Name: "delete", Repeated: broker.ErrNotFound, Given: (*swept).subscribed, Do: func(s *swept, id string) (any, error) {
			return nil, s.Delete(s.t.Context(), alice, id)
		}},
		flow{
			Name: "deliver", GoesOn: true, Given: func(s *swept) string {
				id := s.subscribed()
				s.happens(lifecycle.Starting, lifecycle.Processing, lifecycle.Completed)
				return id
			}, Varies: ` (failures|failing_since|fault|delivered_at)=[^=]*`, Do: func(s *swept, id string) (any, error) { return nil, s.work(id) },
			Then: func(s *swept, _ string) any {
				last := s.to.told()
				return states(last[len(last)-1:])
			},
		},
		flow{Name: "show", Given: (*swept).subscribed, Do: func(s *swept, id string) (any, error) {
			one, err := s.Subscription(s.t.Context(), alice, id)
			return one.State, err
		}},
	)
}
