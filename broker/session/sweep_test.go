package session_test

import (
	"errors"
	"net/url"
	"testing"
	"time"

	"github.com/vimbroker/vimbroker/policy"
	"github.com/vimbroker/vimbroker/test/faults"
)

// swept is a stay in a sweep.
type swept struct {
	*stay
	t     *testing.T
	plain string // the secret that was answered last
}

var stays = faults.Kit[*swept]{
	New: func(t *testing.T) *swept { return &swept{stay: newStay(t), t: t} },
	World: func(s *swept) faults.World {
		none := func() []string { return nil }
		return faults.World{Objects: none, Keys: none, Secrets: []string{"alice's", "of carol"}, Pass: func(wait time.Duration) error {
			s.now.Add(wait + time.Minute)
			var failed []error
			for _, pass := range s.Passes() {
				failed = append(failed, pass.Run(s.t.Context()))
			}
			return errors.Join(failed...)
		}}
	},
}

func (s *swept) entered() string {
	plain, _, err := s.EnterWithToken(s.t.Context(), "alice's")
	if err != nil {
		s.t.Fatal(err)
	}
	return plain
}

// answered is what a session answers to who shows its secret.
func (s *swept) answered(plain string) any {
	p, made, err := s.Find(s.t.Context(), plain, false)
	return []any{p, made.Principal, err}
}

type flow = faults.Flow[*swept]

func TestSweepSessions(t *testing.T) {
	faults.Sweep(t, stays,
		flow{Name: "enter", Leaves: `^(sessions|used_tokens):|^entry: done `, Do: func(s *swept, _ string) (any, error) {
			plain, made, err := s.EnterWithToken(s.t.Context(), "alice's")
			if err == nil {
				s.plain = plain
			}
			return made.Principal, err
		}, Then: func(s *swept, _ string) any { return s.answered(s.plain) }},
		flow{Name: "find", Given: func(s *swept) string {
			plain := s.entered()
			s.now.Add(10 * time.Minute)
			return plain
		}, Do: func(s *swept, plain string) (any, error) {
			p, made, err := s.Find(s.t.Context(), plain, true)
			return []any{p, made.Principal}, err
		}},
		flow{Name: "list", Given: (*swept).entered, Do: func(s *swept, _ string) (any, error) {
			all, err := s.List(s.t.Context(), policy.Principal{Name: "alice", Project: "north", Roles: []string{"member"}})
			return len(all), err
		}},
		flow{Name: "end", Given: (*swept).entered, Repeated: policy.ErrUnauthenticated, Do: func(s *swept, plain string) (any, error) {
			p, made, err := s.Find(s.t.Context(), plain, false)
			if err != nil {
				return nil, err
			}
			return nil, s.End(s.t.Context(), p, made.ID)
		}, Then: func(s *swept, plain string) any { return s.answered(plain) }},
		flow{Name: "log in", Leaves: `^(sessions|used_tokens):|^entry: done `, Do: func(s *swept, _ string) (any, error) {
			at, kept, err := s.BeginLogin(s.t.Context(), "corp", "https://broker.example/ui/callback", "/ui/vims")
			if err != nil {
				return nil, err
			}
			to, err := url.Parse(at)
			if err != nil {
				return nil, err
			}
			_, made, back, err := s.FinishLogin(s.t.Context(), kept, url.Values{"state": {to.Query().Get("state")}, "code": {"good"}})
			return []any{made.Principal, back}, err
		}},
	)
}
