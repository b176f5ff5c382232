package crash_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"

	v1 "github.com/vimbroker/vimbroker/broker/api/v1"
)

const vnfmName = "crash-vnfm"

// vnfm registers a VNFM whose VNFs go to the VIM, once.
func vnfm(s *scene) {
	s.t.Helper()
	s.register("edge")
	r := s.up.request("edge")
	if _, err := s.CreateOAuthClient(s.ctx(), v1.OAuthClientRequest{
		Name: vnfmName, Roles: []string{"vnfm"}, Placements: []v1.Placement{{VIM: "edge", Role: r.Role, Rules: r.Rules, Namespaces: r.Namespaces}},
	}); err != nil {
		s.t.Fatal(err)
	}
}

// asVNFM sends a request as the VNFM, whose secret is replaced first: it stands nowhere.
func asVNFM(s *scene, path, body string) (string, error) {
	id := oauthClients(s)[0].ID
	rotated, err := s.RotateOAuthClient(s.ctx(), id, v1.OAuthClientRotation{})
	if err != nil {
		return "", err
	}
	post := func(ctx context.Context, path, kind, body string, headers ...string) (string, error) {
		r, err := http.NewRequestWithContext(ctx, http.MethodPost, s.URL+path, strings.NewReader(body))
		if err != nil {
			return "", err
		}
		r.Header.Set("Content-Type", kind)
		for n := 1; n < len(headers); n += 2 {
			r.Header.Set(headers[n-1], headers[n])
		}
		answer, err := http.DefaultClient.Do(r)
		if err != nil {
			return "", err
		}
		defer answer.Body.Close()
		text, err := io.ReadAll(answer.Body)
		if err == nil && answer.StatusCode >= 300 {
			err = fmt.Errorf("%s answers %d %s", path, answer.StatusCode, text)
		}
		return string(text), err
	}
	form := url.Values{"grant_type": {"client_credentials"}, "client_id": {id}, "client_secret": {rotated.ClientSecret.Reveal()}}
	text, err := post(s.ctx(), "/oauth2/token", "application/x-www-form-urlencoded", form.Encode())
	if err != nil {
		return "", err
	}
	var token struct {
		Access string `json:"access_token"`
	}
	if err := json.Unmarshal([]byte(text), &token); err != nil {
		return "", err
	}
	return post(s.ctx(), path, "application/json", body, "Authorization", "Bearer "+token.Access, "Version", "1.4.0")
}

func askForGrant(s *scene, operation, id string) (string, error) {
	return asVNFM(s, "/grant/v1/grants", `{"vnfInstanceId":"instance","vnfLcmOpOccId":"`+id+`","vnfdId":"vnfd","operation":"`+operation+`","isAutomaticInvocation":false,
		"_links":{"vnfLcmOpOcc":{"href":"http://127.0.0.1:1/vnf_lcm_op_occs/`+id+`"},"vnfInstance":{"href":"http://127.0.0.1:1/vnf_instances/instance"}}}`)
}

func endOfTermination(s *scene) error {
	_, err := asVNFM(s, "/grant/v1/notifications", `{"vnfLcmOpOccId":"op-2","operationState":"COMPLETED"}`)
	return err
}

// liveGrants are the leases of the VNFM that are active.
func liveGrants(s *scene) (live int) {
	for _, l := range s.leases() {
		if strings.HasPrefix(l.Principal, "client:") && l.State == "active" {
			live++
		}
	}
	return live
}

var (
	granting = scenario{
		name:    "grant an operation to a VNFM",
		prepare: vnfm,
		act: func(s *scene) error {
			_, err := askForGrant(s, "INSTANTIATE", "op-1")
			return err
		},
		// A repeat is answered with the one grant and its one lease, whatever was done of it before.
		after: func(s *scene) {
			var first string
			eventually(s.t, "the grant is given", func() (err error) {
				first, err = askForGrant(s, "INSTANTIATE", "op-1")
				return err
			})
			again, err := askForGrant(s, "INSTANTIATE", "op-1")
			if err != nil || again != first {
				s.t.Errorf("a repeat is answered with another grant: %v", err)
			}
			if live := liveGrants(s); live != 1 {
				s.t.Errorf("%d leases of the VNFM are active, want one", live)
			}
		},
		fakeOnly: true,
	}

	// endingASecret ends what others may know, and leaves nothing that is taken again by itself.
	endingASecret = scenario{
		name: "replace a client's secret that leaked, where a lease stands",
		prepare: func(s *scene) {
			vnfm(s)
			if _, err := askForGrant(s, "INSTANTIATE", "op-1"); err != nil {
				s.t.Fatal(err)
			}
		},
		act: rotatingALeakedSecret.act,
		after: func(s *scene) {
			if err := rotatingALeakedSecret.act(s); err != nil {
				s.t.Fatal(err)
			}
			rotatingALeakedSecret.after(s)
			var taken int
			if err := s.query(`SELECT count(*) FROM leases WHERE instance = 'instance' AND secret_sha256 NOT IN ('', '-')`, &taken); err != nil || taken > 0 {
				s.t.Errorf("%d secrets are still taken, %v", taken, err)
			}
			if _, err := askForGrant(s, "SCALE", "op-2"); err == nil || liveGrants(s) > 0 {
				s.t.Errorf("the instance is granted an operation, and has %d leases", liveGrants(s))
			}
		},
		fakeOnly: true,
	}

	endingAGrant = scenario{
		name: "end what a VNFM was granted",
		prepare: func(s *scene) {
			vnfm(s)
			for n, operation := range []string{"INSTANTIATE", "TERMINATE"} {
				if _, err := askForGrant(s, operation, fmt.Sprintf("op-%d", n+1)); err != nil {
					s.t.Fatal(err)
				}
			}
		},
		act: endOfTermination,
		after: func(s *scene) {
			eventually(s.t, "the grant has ended", func() error {
				if err := endOfTermination(s); err != nil {
					return err
				}
				var granted int
				err := s.query(`SELECT count(*) FROM vnf_grants WHERE operation = 'op-2' AND state <> 'ended'`, &granted)
				if err == nil && granted+liveGrants(s) > 0 {
					err = fmt.Errorf("it has not")
				}
				return err
			})
		},
		fakeOnly: true,
	}
)
