package grant_test

import (
	"errors"
	"testing"
	"time"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/broker/grant"
	"github.com/vimbroker/vimbroker/test/faults"
)

var scenes = faults.Kit[*scene]{
	New: func(t *testing.T) *scene { return set(t, false) },
	World: func(s *scene) faults.World {
		return faults.World{
			Objects: func() (all []string) {
				s.lender.mu.Lock()
				defer s.lender.mu.Unlock()
				for range s.leases {
					all = append(all, "a lease")
				}
				return all
			},
			Keys: func() []string { return nil },
			Pass: func(wait time.Duration) error {
				s.clock.Add(wait + 2*time.Minute)
				var failed []error
				for _, pass := range s.Passes() {
					failed = append(failed, pass.Run(s.t.Context()))
				}
				return errors.Join(failed...)
			},
			Secrets: []string{"canary-"},
		}
	},
}

type flow = faults.Flow[*scene]

// lent is a grant as its client reads it, with what it is lent.
func lent(g grant.Grant, l grant.Loan, err error) (any, error) {
	return []any{g.State, g.Outcome, g.Lease != "", g.Holds, l.Lease.ID == g.Lease, l.Config.LeaseSecret.Empty()}, err
}

func TestSweepGrants(t *testing.T) {
	given := func(s *scene) string {
		g, _ := s.granted(ask(grant.Instantiate, "op-1", "vnfd-1"))
		s.vnfm["op-1"] = "PROCESSING"
		return g.ID
	}
	shown := func(s *scene, id string) any {
		g, l, err := s.Grant(s.t.Context(), s.tacker, id)
		if err != nil {
			s.t.Error(err)
		}
		answer, _ := lent(g, l, nil)
		return []any{answer, g.Outcome, len(s.revoked) > 0}
	}
	faults.Sweep(t, scenes,
		flow{Name: "request", Given: func(s *scene) string {
			s.vnfm["op-1"] = "PROCESSING"
			return ""
		}, Do: func(s *scene, _ string) (any, error) {
			return lent(s.Request(s.t.Context(), s.tacker, ask(grant.Instantiate, "op-1", "vnfd-1")))
		}},
		flow{Name: "request of what is refused", Fails: broker.ErrDenied, Leaves: `^entry: failed `, Do: func(s *scene, _ string) (any, error) {
			return lent(s.Request(s.t.Context(), s.tacker, ask(grant.Instantiate, "op-1", "unknown")))
		}},
		flow{Name: "read", Given: given, Do: func(s *scene, id string) (any, error) { return lent(s.Grant(s.t.Context(), s.tacker, id)) }},
		flow{Name: "notify", Given: given, Do: func(s *scene, _ string) (any, error) {
			s.vnfm["op-1"] = "ROLLED_BACK"
			return nil, s.Notify(s.t.Context(), s.tacker, "op-1", "ROLLED_BACK")
		}, Then: shown},
		flow{Name: "follow", GoesOn: true, Given: func(s *scene) string {
			id := given(s)
			s.vnfm["op-1"] = "ROLLED_BACK"
			s.clock.Add(time.Minute)
			return id
		}, Do: func(s *scene, _ string) (any, error) { return nil, s.Follow(s.t.Context()) }, Then: shown},
	)
}
