package broker

import (
	"errors"
	"fmt"
	"testing"
	"time"
)

// What a check finds says how a VIM is, whatever was said of it before; what its last good answer told of its abilities stays
// until it answers again.
func TestEachAnswerAfterEachStatus(t *testing.T) {
	for _, before := range HealthStatuses() {
		for _, c := range []struct {
			what   string
			fails  error
			change func(*stage)
			want   HealthStatus
		}{
			{"it is well", nil, func(*stage) {}, HealthReachable},
			{"no answer", &Error{Kind: ErrUnreachable, Detail: "d"}, nil, HealthUnreachable},
			{"an answer that nobody knows", errStep, nil, HealthUnreachable},
			{"the credential is refused", &Error{Kind: ErrUnauthorized, Detail: "d"}, nil, HealthUnauthorized},
			{"the check is refused", &Error{Kind: ErrForbidden, Detail: "d"}, nil, HealthUnauthorized},
			{"it leads elsewhere", &Error{Kind: ErrConflict, Another: true, Detail: "d"}, nil, HealthIdentityChanged},
			{"another answers", nil, func(s *stage) { s.actor.report.Identity = "other" }, HealthIdentityChanged},
			{"nobody says who", nil, func(s *stage) { s.actor.report.Identity = "" }, HealthIdentityChanged},
			{"it says the credential", nil, func(s *stage) { s.actor.report.Version = sent }, HealthUnreachable},
			{"the credential does not open", nil, func(s *stage) { s.v.Current.KeyStore = "vault" }, HealthUnopenable},
		} {
			s := newStage(t)
			was := Health{Status: before, Message: "m", Version: "1", CanMint: true, MintMessage: "some", ExternalIPs: "restricted", CheckedAt: s.clock.Now().Add(-time.Hour)}
			s.v.Health = was
			s.actor.report = Report{Identity: "uid", Version: "2", MintMessage: "none", ExternalIPs: "open"}
			s.put()
			s.fails["Check"] = c.fails
			if c.change != nil {
				c.change(s)
			}
			h, err := s.Registry.examine(t.Context(), s.actor, s.v)
			ability := fmt.Sprint(h.Version, h.CanMint, h.MintMessage, h.ExternalIPs)
			known := "1truesomerestricted"
			if c.want == HealthReachable {
				known = "2falsenoneopen"
			}
			if err != nil || h.Status != c.want || (h.Message == "") != (c.want == HealthReachable) || h.Message == "m" || ability != known ||
				!h.CheckedAt.Equal(s.clock.Now()) || !h.Next.After(s.clock.Now()) {
				t.Errorf("%s, of a VIM that was %s: %+v, %v, want %s", c.what, before, h, err, c.want)
			}
		}
		s := newStage(t)
		s.fails["Check"] = &Error{Kind: ErrUnavailable}
		if _, err := s.Registry.examine(t.Context(), s.actor, s.v); !errors.Is(err, ErrUnavailable) {
			t.Errorf("what the broker cannot ask is said of the VIM: %v", err)
		}
	}
}

// A VIM that is well again has what was given up on it tried anew, whatever kept it before; one that is as it was, or is not
// well, has not. A draining one is due at once where it is well, and later each time where it is not.
func TestAVIMThatComesBack(t *testing.T) {
	for _, before := range HealthStatuses() {
		for after, answer := range map[HealthStatus]error{
			HealthReachable: nil, HealthUnreachable: &Error{Kind: ErrUnreachable}, HealthUnauthorized: &Error{Kind: ErrForbidden},
			HealthIdentityChanged: &Error{Kind: ErrConflict, Another: true},
		} {
			for _, state := range []VIMState{VIMRegistered, VIMDraining} {
				s := newStage(t)
				s.l.State = LeaseIrrevocable
				s.v.State = state
				s.v.Health = Health{Status: before, Message: "m", CheckedAt: s.clock.Now().Add(-time.Minute), Next: s.clock.Now()}
				s.put()
				s.fails["Check"] = answer
				h, err := s.Registry.check(t.Context(), s.v)
				again := s.row().State != LeaseIrrevocable
				if want := after == HealthReachable && before != HealthReachable; err != nil || h.Status != after || again != want {
					t.Errorf("from %s to %s: %s, what was given up is tried again: %v, %v, want %v", before, after, h.Status, again, err, want)
				}
				if wait := h.Next.Sub(s.clock.Now()); state == VIMDraining && wait != map[bool]time.Duration{false: 2 * time.Minute}[after == HealthReachable] {
					t.Errorf("from %s to %s: the drain goes on after %s", before, after, wait)
				}
			}
		}
	}
}
