package replicas

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/vimbroker/vimbroker/broker/api/client"
	v1 "github.com/vimbroker/vimbroker/broker/api/v1"
	"github.com/vimbroker/vimbroker/test/real/pki"
	"github.com/vimbroker/vimbroker/test/story"
)

// otherVNFM is a VNFM of somebody else's that is a client of the fleet.
type otherVNFM struct {
	t          *testing.T
	id, secret string
	// seen are the secrets and tokens that it was given.
	mu   sync.Mutex
	seen []string
}

// lent is what a grant's access information says.
type lent struct {
	Username string `json:"username"`
	Password string `json:"password"`
}

// post sends a request to a replica, and reads the answer.
func (v *otherVNFM) post(r *replica, path, kind, body string, headers ...string) (int, string) {
	v.t.Helper()
	request, err := http.NewRequestWithContext(v.t.Context(), http.MethodPost, r.broker.URL+path, strings.NewReader(body))
	if err != nil {
		v.t.Fatal(err)
	}
	request.Header.Set("Content-Type", kind)
	for n := 1; n < len(headers); n += 2 {
		request.Header.Set(headers[n-1], headers[n])
	}
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		v.t.Error(err)
		return 0, ""
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		v.t.Error(err)
	}
	return answer.StatusCode, string(text)
}

// token fetches one; "" where that is refused.
func (v *otherVNFM) token(r *replica, path string, form url.Values) string {
	v.t.Helper()
	status, text := v.post(r, path, "application/x-www-form-urlencoded", form.Encode())
	var got struct {
		Token string `json:"access_token"`
	}
	if err := json.Unmarshal([]byte(text), &got); err != nil || status == http.StatusOK != (got.Token != "") {
		v.t.Errorf("POST %s = %d %s, %v", path, status, text, err)
	}
	if got.Token != "" {
		v.mu.Lock()
		defer v.mu.Unlock()
		v.seen = append(v.seen, got.Token)
	}
	return got.Token
}

// ask asks for a grant until a replica gives it: while another answers the same request it is a conflict.
func (v *otherVNFM) ask(r *replica, operation string) (l lent) {
	v.t.Helper()
	at := `http://192.0.2.1/vnflcm/v2/vnf_lcm_op_occs/` + operation
	body := `{"vnfInstanceId":"i-1","vnfLcmOpOccId":"` + operation + `","vnfdId":"b1bb","operation":"INSTANTIATE","isAutomaticInvocation":false,"_links":{"vnfLcmOpOcc":{"href":"` + at + `"},"vnfInstance":{"href":"` + at + `"}}}`
	eventually(v.t, operation+" is granted", func(context.Context) error {
		login := v.token(r, "/oauth2/token", url.Values{"grant_type": {"client_credentials"}, "client_id": {v.id}, "client_secret": {v.secret}})
		status, text := v.post(r, "/grant/v1/grants", "application/json", body, "Authorization", "Bearer "+login, "Version", "1.4.0")
		if status != http.StatusCreated {
			return fmt.Errorf("%d %s", status, text)
		}
		var given struct {
			VIMs map[string]struct {
				Access lent `json:"accessInfo"`
			} `json:"vimConnectionInfo"`
		}
		if err := json.Unmarshal([]byte(text), &given); err != nil || len(given.VIMs) != 1 {
			return fmt.Errorf("%w: %s", err, text)
		}
		for _, one := range given.VIMs {
			l = one.Access
		}
		return nil
	})
	return l
}

// mint fetches a token of the cluster under a lease.
func (v *otherVNFM) mint(r *replica, l lent) string {
	v.t.Helper()
	return v.token(r, "/oidc/token", url.Values{
		"grant_type": {"password"}, "scope": {"openid"}, "client_id": {v.id}, "username": {l.Username}, "password": {l.Password},
	})
}

// TestGrantsOfSeveralReplicas: one request that all replicas answer at once leads to one lease, and while some of them
// mint under it another revokes it. From then on none mints, and of what was minted nothing works. Of the whole exchange
// no secret is in the database or a log.
func TestGrantsOfSeveralReplicas(t *testing.T) {
	t.Parallel()
	ca, err := pki.NewCA("the issuer's")
	if err != nil {
		t.Fatal(err)
	}
	issuer := fmt.Sprintf("oauth: {issuer: 'https://broker.example', caFile: %q}\n", story.WriteFile(t, "issuer.pem", string(ca.PEM), 0o600))
	f := newFleetOn(t, shared(t), footing{program: present, settings: issuer + "sol003: {enabled: true}\n"})
	made, err := f.replicas[0].CreateOAuthClient(t.Context(), v1.OAuthClientRequest{
		Name: "tacker", Roles: []string{"vnfm"}, Placements: []v1.Placement{{VIM: "edge", Role: "edit", Namespaces: []string{"default"}}},
	})
	if err != nil {
		t.Fatal(err)
	}
	v := &otherVNFM{t: t, id: made.ID, secret: made.ClientSecret.Reveal(), seen: []string{made.ClientSecret.Reveal()}}
	var all sync.WaitGroup
	given := make([]lent, 9)
	for n := range given {
		all.Go(func() { given[n] = v.ask(f.replicas[n%3], "op-1") })
	}
	all.Wait()
	one := given[0]
	for _, l := range given {
		if l != one || l.Password == "" {
			t.Fatalf("one request was lent %s and %s", one.Username, l.Username)
		}
	}
	v.seen = append(v.seen, one.Password)
	listed := 0
	for g, err := range f.replicas[2].AllGrants(t.Context(), client.GrantQuery{Client: made.ID}) {
		if err != nil || g.Lease != one.Username || g.State != "granted" {
			t.Errorf("listed is %+v, %v", g, err)
		}
		listed++
	}
	if listed != 1 {
		t.Errorf("%d grants are listed", listed)
	}

	var stop atomic.Bool
	var tokens []string
	var mu sync.Mutex
	begun := make(chan struct{})
	var once sync.Once
	for n := range 4 {
		all.Go(func() {
			for !stop.Load() {
				if token := v.mint(f.replicas[1+n%2], one); token != "" {
					mu.Lock()
					tokens = append(tokens, token)
					mu.Unlock()
					once.Do(func() { close(begun) })
				}
			}
		})
	}
	<-begun
	if _, err := f.replicas[0].RevokeLease(t.Context(), one.Username); err != nil {
		t.Error(err)
	}
	for _, r := range f.replicas {
		if token := v.mint(r, one); token != "" {
			t.Errorf("a token was minted after the lease was revoked")
		}
	}
	stop.Store(true)
	all.Wait()
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM([]byte(f.kube.CA))
	cluster := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS12}}}
	defer cluster.CloseIdleConnections()
	eventually(t, "nothing works that was minted", func(ctx context.Context) error {
		for _, token := range tokens {
			request, err := http.NewRequestWithContext(ctx, http.MethodGet, f.kube.Endpoint+"/api/v1/namespaces/default/pods", http.NoBody)
			if err != nil {
				return err
			}
			request.Header.Set("Authorization", "Bearer "+token)
			answer, err := cluster.Do(request)
			if err != nil {
				return err
			}
			answer.Body.Close()
			if answer.StatusCode != http.StatusUnauthorized {
				return fmt.Errorf("one of %d tokens is answered with %d", len(tokens), answer.StatusCode)
			}
		}
		return nil
	})
	for where, text := range f.everything() {
		for _, secret := range v.seen {
			if strings.Contains(text, secret) {
				t.Errorf("one of %d secrets of the exchange is in %s", len(v.seen), where)
			}
		}
	}
}
