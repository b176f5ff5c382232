package crash_test

import (
	"fmt"

	v1 "github.com/vimbroker/vimbroker/broker/api/v1"
)

func createClient(s *scene) error {
	_, err := s.CreateOAuthClient(s.ctx(), v1.OAuthClientRequest{Name: "crash-kit", Roles: []string{"vnfm"}})
	return err
}

func oauthClients(s *scene) (all []v1.OAuthClient) {
	s.t.Helper()
	for c, err := range s.AllOAuthClients(s.ctx()) {
		if err != nil {
			s.t.Fatal(err)
		}
		all = append(all, c)
	}
	return all
}

var (
	deletingAClient = scenario{
		name:    "delete a client",
		prepare: mustCreateClient,
		act:     func(s *scene) error { return s.DeleteOAuthClient(s.ctx(), oauthClients(s)[0].ID) },
		after: func(s *scene) {
			eventually(s.t, "the client is gone", func() error {
				if all := oauthClients(s); len(all) > 0 {
					return fmt.Errorf("it is %s", all[0].State)
				}
				return nil
			})
			if err := createClient(s); err != nil {
				s.t.Errorf("another of its name = %v", err)
			}
		},
	}

	rotatingALeakedSecret = scenario{
		name:    "replace a client's secret that leaked",
		prepare: mustCreateClient,
		act: func(s *scene) error {
			_, err := s.RotateOAuthClient(s.ctx(), oauthClients(s)[0].ID, v1.OAuthClientRotation{RevokeLeases: true})
			return err
		},
		after: func(s *scene) {
			eventually(s.t, "its leases are ended", func() error {
				var ending int
				err := s.query(`SELECT count(*) FROM oauth_clients WHERE ending`, &ending)
				if err == nil && ending > 0 {
					err = fmt.Errorf("they are still ending")
				}
				return err
			})
			if all := oauthClients(s); len(all) != 1 || all[0].State != "active" || !all[0].PreviousUntil.IsZero() {
				s.t.Errorf("the clients are %+v", all)
			}
		},
	}
)

var (
	rotatingTokenKey = scenario{
		name:    "rotate the key that signs clients' tokens",
		prepare: mustRotateTokenKey,
		act: func(s *scene) error {
			_, err := s.RotateTokenKey(s.ctx())
			return err
		},
		after: func(s *scene) {
			mustRotateTokenKey(s)
			keys, err := s.TokenKeys(s.ctx())
			if err != nil {
				s.t.Fatal(err)
			}
			signing := 0
			for _, k := range keys.Items {
				if k.State == "signing" {
					signing++
				}
			}
			if signing != 1 {
				s.t.Errorf("%d keys sign, want one", signing)
			}
		},
	}

	settlingATokenKey = scenario{
		name:   "settle a key for clients' tokens at start",
		starts: true,
		prepare: func(s *scene) {
			mustRotateTokenKey(s)
			s.dieAt("token.key-stored", rotatingTokenKey.act)
		},
		after: rotatingTokenKey.after,
	}

	revokingTokenKey = scenario{
		name:    "revoke the key that signs clients' tokens",
		prepare: mustRotateTokenKey,
		act: func(s *scene) error {
			keys, err := s.TokenKeys(s.ctx())
			if err != nil {
				return err
			}
			return s.RevokeTokenKey(s.ctx(), keys.Items[0].ID)
		},
		after: rotatingTokenKey.after,
	}
)

func mustRotateTokenKey(s *scene) {
	if _, err := s.RotateTokenKey(s.ctx()); err != nil {
		s.t.Fatal(err)
	}
}

func mustCreateClient(s *scene) {
	if err := createClient(s); err != nil {
		s.t.Fatal(err)
	}
}
