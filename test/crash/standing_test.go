package crash_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

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

	// mintingUnbound finds that what bound the lease is gone, and makes it again: before the token, which is
	// nothing without it. It belongs to the lease, and goes with its grant.
	mintingUnbound = scenario{
		name: "mint a token under a lease whose binding was deleted",
		prepare: func(s *scene) {
			minting.prepare(s)
			s.unbind()
		},
		act: minting.act,
		after: func(s *scene) {
			minting.after(s)
			s.proveBound()
		},
	}

	// succeeding has another lease take the place of one whose account was deleted on the VIM, under its secret.
	succeeding = scenario{
		name: "mint a token under a lease whose account was deleted",
		prepare: func(s *scene) {
			s.register("edge")
			var err error
			if s.stood, err = s.stand(); err != nil {
				s.t.Fatal(err)
			}
			accounts := s.up.(*cluster).clients.CoreV1()
			found, err := accounts.ServiceAccounts("").List(s.ctx(), metav1.ListOptions{LabelSelector: managed})
			if err != nil {
				s.t.Fatal(err)
			}
			gone := 0
			for _, a := range found.Items {
				if strings.HasSuffix(a.Name, s.stood.ID) {
					gone++
					if err := accounts.ServiceAccounts(a.Namespace).Delete(s.ctx(), a.Name, metav1.DeleteOptions{}); err != nil {
						s.t.Fatal(err)
					}
				}
			}
			if gone != 1 {
				s.t.Fatalf("the lease has %d accounts", gone)
			}
		},
		act: func(s *scene) error {
			_, err := s.mint(s.stood)
			return err
		},
		after: func(s *scene) {
			eventually(s.t, "the secret is taken again", func() error {
				token, err := s.mint(s.stood)
				if err != nil {
					return err
				}
				for _, l := range s.leases() {
					if l.State == "active" {
						s.tokens[l.ID] = append(s.tokens[l.ID], token)
					}
				}
				return nil
			})
			active := 0
			for _, l := range s.leases() {
				if l.State == "active" {
					active++
				}
			}
			if active != 1 || s.lease(s.stood.ID).State == "active" {
				s.t.Errorf("%d leases are active, the one whose account was deleted is %s", active, s.lease(s.stood.ID).State)
			}
		},
	}

	// issuingUnbound does so for a new lease.
	issuingUnbound = scenario{
		name: "issue a lease where the binding of its grant was deleted",
		prepare: func(s *scene) {
			minting.prepare(s)
			s.unbind()
		},
		act: func(s *scene) error {
			_, err := s.IssueLease(s.ctx(), s.up.request("edge"), "another-"+requestKey)
			return err
		},
		after: func(s *scene) {
			l, err := s.IssueLease(s.ctx(), s.up.request("edge"), "another-"+requestKey)
			if err != nil {
				s.t.Fatalf("IssueLease again: %v", err)
			}
			s.tokens[l.ID] = append(s.tokens[l.ID], s.up.secretOf(l))
			s.proveBound()
		},
	}
)

// unbind deletes the bindings of leases, as an administrator of the cluster may.
func (s *scene) unbind() {
	s.t.Helper()
	bindings := s.up.(*cluster).clients.RbacV1().ClusterRoleBindings()
	found, err := bindings.List(s.ctx(), metav1.ListOptions{LabelSelector: managed})
	if err != nil || len(found.Items) == 0 {
		s.t.Fatalf("%d bindings of leases: %v", len(found.Items), err)
	}
	for _, b := range found.Items {
		if err := bindings.Delete(s.ctx(), b.Name, metav1.DeleteOptions{}); err != nil {
			s.t.Fatal(err)
		}
	}
}

// proveBound tries the rights of every token.
func (s *scene) proveBound() {
	s.t.Helper()
	up := s.up.(*cluster)
	for _, tokens := range s.tokens {
		for _, token := range tokens {
			as, err := kubernetes.NewForConfig(up.config(token))
			if err != nil {
				s.t.Fatal(err)
			}
			eventually(s.t, "the lease has its rights", func() error {
				_, err := as.CoreV1().ConfigMaps("default").List(s.ctx(), metav1.ListOptions{Limit: 1})
				return err
			})
		}
	}
}
