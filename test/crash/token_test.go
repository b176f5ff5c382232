package crash_test

import (
	"testing"

	"github.com/vimbroker/vimbroker/broker/api/client"
	v1 "github.com/vimbroker/vimbroker/broker/api/v1"
	"github.com/vimbroker/vimbroker/broker/secret"
	"github.com/vimbroker/vimbroker/test/issuer"
)

// comesIn asks who the caller with a token is.
func comesIn(s *scene, token string) error {
	c, err := client.New(client.Options{Addr: s.URL, Token: secret.NewText(token)})
	if err != nil {
		s.t.Fatal(err)
	}
	_, err = c.WhoAmI(s.ctx())
	return err
}

// takingATokenOnce: a token that its entry takes once lets nobody in twice, whenever the server dies.
var takingATokenOnce = scenario{
	name: "take a token once",
	prepare: func(s *scene) {
		is := issuer.New(s.t.(*testing.T))
		if _, err := s.CreateTrustEntry(s.ctx(), v1.TrustEntryRequest{
			Name: "ci", Issuer: is.URL, Keys: string(is.JWKS()), Once: true,
			Principals: []v1.TrustRule{{Match: map[string]string{"sub": "job"}, Project: "default", Roles: []string{"member"}}},
		}); err != nil {
			s.t.Fatal(err)
		}
		s.before = []string{is.Token("job", map[string]any{"jti": "1"})}
	},
	act: func(s *scene) error {
		err := comesIn(s, s.before[0])
		if err == nil {
			s.before = append(s.before, "taken")
		}
		return err
	},
	after: func(s *scene) {
		taken := len(s.before) - 1
		for range 3 {
			if comesIn(s, s.before[0]) == nil {
				taken++
			}
		}
		if taken > 1 {
			s.t.Errorf("a token that is taken once was taken %d times", taken)
		}
	},
}
