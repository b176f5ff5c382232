package crash_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	v1 "github.com/vimbroker/vimbroker/broker/api/v1"
)

func (s *scene) standing() v1.LeaseRequest {
	r := s.up.request("edge")
	r.Standing, r.TTL, r.Format, r.Instance = true, "10m", "", "vnf-1"
	return r
}

// stand takes a lease that stands, or is answered with the one that it took.
func (s *scene) stand() (v1.IssuedLease, error) {
	return s.IssueLease(s.ctx(), s.standing(), requestKey)
}

// mint asks for a token under a lease.
func (s *scene) mint(l v1.IssuedLease) (token string, err error) {
	form := url.Values{"grant_type": {"password"}, "scope": {"openid"}, "username": {l.ID}, "password": {l.LeaseSecret.Reveal()}}
	r, err := http.NewRequestWithContext(s.ctx(), http.MethodPost, s.URL+"/oidc/token", strings.NewReader(form.Encode()))
	if err != nil {
		return "", err
	}
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		return "", err
	}
	defer answer.Body.Close()
	var got struct {
		ID    string `json:"id_token"`
		Error string `json:"error"`
	}
	if err := json.NewDecoder(answer.Body).Decode(&got); err != nil {
		return "", err
	}
	if answer.StatusCode != http.StatusOK {
		return "", fmt.Errorf("%d %s", answer.StatusCode, got.Error)
	}
	return got.ID, nil
}

// mustMint mints under the one lease, which a repeat of its request is answered with.
func (s *scene) mustMint() {
	s.t.Helper()
	l, err := s.stand()
	if err != nil {
		s.t.Fatalf("IssueLease again: %v", err)
	}
	token, err := s.mint(l)
	if err != nil {
		s.t.Fatalf("a token: %v", err)
	}
	s.tokens[l.ID] = append(s.tokens[l.ID], token)
}

var (
	issuingStanding = scenario{
		name:    "issue a lease that stands",
		prepare: func(s *scene) { s.register("edge") },
		act: func(s *scene) error {
			_, err := s.stand()
			return err
		},
		after: func(s *scene) {
			before := s.leases()
			again, err := s.stand()
			if err != nil {
				s.t.Fatalf("IssueLease again: %v", err)
			}
			if len(before) == 1 && (before[0].State == "revoked") == (again.ID == before[0].ID) {
				s.t.Errorf("IssueLease again is answered with lease %s, beside %s, which is %s", again.ID, before[0].ID, before[0].State)
			}
			s.issued = append(s.issued, again.ID)
			s.mustMint()
		},
	}

	// minting leaves at most a token that nobody holds, and the lease as it was.
	minting = scenario{
		name: "mint a token under a lease that stands",
		prepare: func(s *scene) {
			s.register("edge")
			l, err := s.stand()
			if err != nil {
				s.t.Fatal(err)
			}
			s.issued = append(s.issued, l.ID)
			s.mustMint()
		},
		act: func(s *scene) error {
			l, err := s.stand()
			if err == nil {
				_, err = s.mint(l)
			}
			return err
		},
		after: func(s *scene) {
			if l := s.lease(s.issued[0]); l.State != "active" {
				s.t.Errorf("the lease is %s, want active", l.State)
			}
			s.mustMint()
		},
	}
)
