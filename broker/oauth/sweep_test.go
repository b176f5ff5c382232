package oauth_test

import (
	"errors"
	"testing"
	"time"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/broker/oauth"
	"github.com/vimbroker/vimbroker/broker/secret"
	"github.com/vimbroker/vimbroker/policy"
	"github.com/vimbroker/vimbroker/test/faults"
)

// swept is a mint in a sweep.
type swept struct {
	*mint
	t     *testing.T
	plain string // the secret that was answered last
}

// answered keeps a secret.
func (s *swept) answered(c oauth.Client, plain secret.Text, err error) (any, error) {
	if err == nil {
		s.plain = s.known(plain)
	}
	return c, err
}

// works says whether the secret that was answered last lets its client in.
func (s *swept) works(id string) any {
	c, err := s.Clients.Authenticate(s.t.Context(), id, s.plain)
	return []any{c.Name, err}
}

var mints = faults.Kit[*swept]{
	New: func(t *testing.T) *swept { return &swept{mint: coin(t), t: t} },
	World: func(s *swept) faults.World {
		return faults.World{
			Objects: func() []string { return nil },
			Keys:    func() []string { return faults.KeysOf(s.t, s.keys) },
			Pass: func(wait time.Duration) error {
				s.clock.Add(wait + 10*time.Minute)
				failed := []error{faults.DestroyRetired(s.t.Context(), s.store, s.keys)}
				for _, pass := range append(s.Clients.Passes(), s.Tokens.Passes()...) {
					failed = append(failed, pass.Run(s.t.Context()))
				}
				return errors.Join(failed...)
			},
			Secrets: s.secrets,
		}
	},
}

func (s *swept) aClient() string {
	c, _ := s.create(s.t, keeper, "tacker", "vnfm")
	return c.ID
}

// loggedIn is a client with a token, for which a key was made.
func (s *swept) loggedIn() string {
	c, plain := s.create(s.t, keeper, "tacker", "vnfm")
	s.issue(s.t, c.ID, plain)
	return c.ID
}

type flow = faults.Flow[*swept]

func TestSweepClients(t *testing.T) {
	faults.Sweep(t, mints,
		flow{Name: "create", Repeated: broker.ErrExists, Do: func(s *swept, _ string) (any, error) {
			return s.answered(s.Clients.Create(s.t.Context(), keeper, oauth.NewClient{Name: "tacker", Roles: []string{"vnfm"}}))
		}, Then: func(s *swept, _ string) any {
			all, _, err := s.Clients.Clients(s.t.Context(), keeper, oauth.Query{})
			return []any{len(all), err}
		}},
		flow{Name: "rotate", Given: (*swept).aClient, Leaves: `^entry: done client:`, Do: func(s *swept, id string) (any, error) {
			return s.answered(s.Clients.Rotate(s.t.Context(), keeper, id, oauth.Rotation{}))
		}, Then: (*swept).works},
		flow{Name: "place", Given: (*swept).aClient, Leaves: `^entry: done client:`, Do: func(s *swept, id string) (any, error) {
			return s.Clients.SetPlacements(s.t.Context(), keeper, id, []oauth.Placement{{VNFD: "*", VIM: "edge", Role: "edit"}})
		}},
		flow{Name: "delete", Given: (*swept).aClient, Repeated: broker.ErrNotFound, Do: func(s *swept, id string) (any, error) {
			return nil, s.Clients.Delete(s.t.Context(), keeper, id)
		}, Then: func(s *swept, _ string) any { return len(s.leases.revoked) > 0 }},
		flow{Name: "show", Given: (*swept).aClient, Do: func(s *swept, id string) (any, error) {
			c, err := s.Clients.Client(s.t.Context(), keeper, id)
			if err != nil {
				return nil, err
			}
			all, _, err := s.Clients.Clients(s.t.Context(), keeper, oauth.Query{})
			if err != nil {
				return nil, err
			}
			p, err := s.Clients.Lookup(s.t.Context(), "client:"+id, "core")
			return []any{c, all, p}, err
		}},
	)
}

func TestSweepTokenKeys(t *testing.T) {
	admin := policy.Principal{Name: "root", Project: "core", Roles: []string{policy.RoleAdmin}}
	faults.Sweep(t, mints,
		flow{Name: "rotate", Given: (*swept).loggedIn, Leaves: `^entry: done |state=abandoned`, Do: func(s *swept, _ string) (any, error) {
			k, err := s.Tokens.RotateKey(s.t.Context(), admin)
			return k.State, err
		}, Then: func(s *swept, _ string) any {
			all, err := s.Tokens.Keys(s.t.Context(), admin)
			signing := 0
			for _, k := range all {
				if k.State == oauth.KeySigning {
					signing++
				}
			}
			return []any{signing, err}
		}},
		flow{Name: "revoke", Given: func(s *swept) string {
			s.loggedIn()
			all, err := s.Tokens.Keys(s.t.Context(), admin)
			if err != nil {
				s.t.Fatal(err)
			}
			return all[0].ID
		}, Repeated: broker.ErrNotFound, Do: func(s *swept, id string) (any, error) { return nil, s.Tokens.RevokeKey(s.t.Context(), admin, id) }},
		flow{Name: "settle", Given: (*swept).loggedIn, GoesOn: true, Do: func(s *swept, _ string) (any, error) {
			return nil, s.Tokens.Settle(s.t.Context(), s.clock.Now())
		}},
	)
}
