package login_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/broker/api"
	"github.com/vimbroker/vimbroker/broker/api/limit"
	"github.com/vimbroker/vimbroker/broker/secret"
	"github.com/vimbroker/vimbroker/policy"
)

const (
	aLease  = "6f0d5f1a-2c59-4b60-9f11-7a1d2c3b4e5f"
	aSecret = "vbl_canary-of-a-lease"
	aToken  = "eyJ.canary-of-a-token.sig"
)

// holder has one standing lease, of the client that it names.
type holder struct {
	of    string
	now   time.Time
	err   error
	mints atomic.Int64
	// within is called in each mint.
	within func()
}

func (h *holder) MintUnder(_ context.Context, id, plain, of string) (broker.Lease, broker.Credential, time.Time, error) {
	if !strings.EqualFold(id, aLease) || plain != aSecret || of != "" && of != h.of {
		return broker.Lease{}, broker.Credential{}, time.Time{}, policy.ErrUnauthenticated
	}
	if h.err != nil {
		return broker.Lease{}, broker.Credential{}, time.Time{}, h.err
	}
	if h.within != nil {
		h.within()
	}
	h.mints.Add(1)
	return broker.Lease{ID: id}, broker.Credential{Token: secret.NewText(aToken)}, h.now.Add(10*time.Minute + 30*time.Second), nil
}

func newLeaseBench(t *testing.T, limits api.Limits) *bench {
	t.Helper()
	b := newBench(t, limits)
	b.leases.of = "client:" + b.id
	t.Cleanup(func() {
		for _, canary := range []string{aSecret, aToken} {
			if strings.Contains(b.log.String(), canary) {
				t.Errorf("the log holds %s", canary)
			}
		}
	})
	return b
}

// tacker is the form of Tacker's client for OpenID Connect.
func (b *bench) tacker() string {
	return "grant_type=password&scope=openid&client_id=" + b.id + "&username=" + aLease + "&password=" + aSecret
}

func (b *bench) wantLeaseToken(what, form string, headers ...string) {
	b.t.Helper()
	w := b.post("/oidc/token", here, form, headers...)
	var got struct {
		ID      string `json:"id_token"`
		Access  string `json:"access_token"`
		Type    string `json:"token_type"`
		Expires int    `json:"expires_in"`
		Scope   string `json:"scope"`
	}
	err := json.Unmarshal(w.Body.Bytes(), &got)
	if err != nil || w.Code != http.StatusOK || got.ID != aToken || got.Access != aToken || got.Type != "Bearer" || got.Scope != "openid" || got.Expires != 630 {
		b.t.Errorf("%s: %d %s", what, w.Code, w.Body)
	}
	// Tacker compares it literally.
	if is := w.Result().Header["Content-Type"]; !slices.Equal(is, []string{"application/json"}) {
		b.t.Errorf("%s: Content-Type %q", what, is)
	}
	if w.Header().Get("Cache-Control") != "no-store" || w.Header().Get("Pragma") != "no-cache" {
		b.t.Errorf("%s: the answer may be kept: %v", what, w.Header())
	}
}

func TestHoldersOfStandingLeasesGetTokens(t *testing.T) {
	b := newLeaseBench(t, api.Limits{})
	b.wantLeaseToken("Tacker", b.tacker())
	b.wantLeaseToken("Tacker with a secret", b.tacker()+"&client_secret="+b.plain)
	b.wantLeaseToken("a client in capitals", strings.Replace(b.tacker(), b.id, strings.ToUpper(b.id), 1))
	b.wantLeaseToken("Tacker without one", b.tacker()+"&client_secret=")
	b.wantLeaseToken("asking for a form", b.tacker(), "Accept", "application/x-www-form-urlencoded")
	b.wantLeaseToken("asking for JSON, with a character set", b.tacker(), "Accept", "application/json", "Content-Type", "application/x-www-form-urlencoded;charset=UTF-8")
	b.wantLeaseToken("no client", "grant_type=password&username="+aLease+"&password="+aSecret)
	b.wantLeaseToken("a Basic header", "grant_type=password&username="+aLease+"&password="+aSecret, "Authorization", basic(b.id, b.plain))
	b.wantLeaseToken("the lease as the client", "grant_type=client_credentials&scope=openid", "Authorization", basic(aLease, aSecret))
	b.wantLeaseToken("the lease as the client, in the form", "grant_type=client_credentials&client_id="+aLease+"&client_secret="+aSecret)
	b.wantLeaseToken("a token that is not used", b.tacker(), "X-Auth-Token", "notused")
}

func TestRefusalsOfLeasesAreOAuths(t *testing.T) {
	b := newLeaseBench(t, api.Limits{})
	ended := &broker.Error{Kind: broker.ErrConflict, Detail: "the lease has ended"}
	for what, c := range map[string]struct {
		form   string
		err    error
		status int
		want   string
	}{
		"a wrong secret":          {strings.Replace(b.tacker(), aSecret, "vbl_guess", 1), nil, 400, "invalid_grant"},
		"another lease":           {strings.Replace(b.tacker(), aLease, b.id, 1), nil, 400, "invalid_grant"},
		"another client":          {strings.Replace(b.tacker(), b.id, aLease, 1), nil, 400, "invalid_grant"},
		"a wrong client secret":   {b.tacker() + "&client_secret=vbc_guess", nil, 401, "invalid_client"},
		"a secret without client": {"grant_type=password&username=a&password=b&client_secret=x", nil, 400, "invalid_request"},
		"no user":                 {"grant_type=password&password=b", nil, 400, "invalid_request"},
		"no password":             {"grant_type=password&username=b", nil, 400, "invalid_request"},
		"no grant":                {"username=a&password=b", nil, 400, "invalid_request"},
		"another grant":           {"grant_type=refresh_token", nil, 400, "unsupported_grant_type"},
		"a client's credentials":  {"grant_type=client_credentials&client_id=" + b.id + "&client_secret=" + b.plain, nil, 400, "invalid_grant"},
		"a lease without secret":  {"grant_type=client_credentials&client_id=" + aLease, nil, 400, "invalid_request"},
		"an ended lease":          {b.tacker(), ended, 400, "invalid_grant"},
		"a policy":                {b.tacker(), &broker.Error{Kind: broker.ErrDenied, Detail: "policy"}, 400, "invalid_grant"},
		"a hidden lease":          {b.tacker(), &broker.Error{Kind: broker.ErrNotFound, Detail: "no such lease"}, 400, "invalid_grant"},
		"a VIM that is down":      {b.tacker(), &broker.Error{Kind: broker.ErrUnreachable, Detail: "\"größer\"\n"}, 502, "server_error"},
		"a VIM that is slow":      {b.tacker(), context.DeadlineExceeded, 504, "temporarily_unavailable"},
		"a store that is down":    {b.tacker(), &broker.Error{Kind: broker.ErrUnavailable}, 503, "temporarily_unavailable"},
		"a suspended VIM":         {b.tacker(), &broker.Error{Kind: broker.ErrUnavailable, Detail: "the VIM is suspended", RetryAfter: time.Minute}, 503, "temporarily_unavailable"},
		"nothing":                 {"", nil, 400, "invalid_request"},
		"too much":                {b.tacker() + "&x=" + strings.Repeat("x", 9000), nil, 413, "invalid_request"},
	} {
		b.leases.err = c.err
		w := b.post("/oidc/token", here, c.form)
		var got map[string]string
		if err := json.Unmarshal(w.Body.Bytes(), &got); err != nil || w.Code != c.status || got["error"] != c.want || w.Header().Get("Content-Type") != "application/json" {
			t.Errorf("%s: %d %s, want %d %s", what, w.Code, w.Body, c.status, c.want)
		}
		said := got["error_description"]
		if strings.ContainsFunc(said, func(r rune) bool { return r < ' ' || r > '~' || r == '"' || r == '\\' }) || strings.Contains(said, "; request ") != (c.status >= 500) {
			t.Errorf("%s: described as %q", what, said)
		}
		if c.form == "" && !strings.HasPrefix(said, "the body is missing: application/x-www-form-urlencoded is required") {
			t.Errorf("%s: described as %q", what, said)
		}
		if strings.Contains(w.Body.String(), aSecret) || strings.Contains(w.Body.String(), b.plain) {
			t.Errorf("%s: the refusal holds a secret", what)
		}
	}
}

func TestOnlyAFormWithOneLoginIsTaken(t *testing.T) {
	b := newLeaseBench(t, api.Limits{})
	if w := b.post("/oidc/token", here, b.tacker(), "Content-Type", "application/json"); w.Code != http.StatusBadRequest || !strings.Contains(w.Body.String(), `"invalid_request"`) {
		t.Errorf("JSON = %d %s", w.Code, w.Body)
	}
	for _, path := range []string{"/oidc/token", "/oauth2/token"} {
		r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, path, strings.NewReader(b.tacker()))
		r.Header = http.Header{"Content-Type": {"application/x-www-form-urlencoded"}, "Authorization": {basic(b.id, b.plain), basic(b.id, "vbc_other")}}
		w := httptest.NewRecorder()
		if b.handler.ServeHTTP(w, r); w.Code != http.StatusUnauthorized || !strings.Contains(w.Body.String(), `"invalid_client"`) {
			t.Errorf("two headers at %s = %d %s", path, w.Code, w.Body)
		}
	}
	for _, form := range []string{b.tacker() + "&username=x", "%zz"} {
		if w := b.post("/oidc/token", here, form); w.Code != http.StatusBadRequest || !strings.Contains(w.Body.String(), `"invalid_request"`) {
			t.Errorf("the form %s = %d %s", form, w.Code, w.Body)
		}
	}
	if n := b.leases.mints.Load(); n != 0 {
		t.Errorf("%d tokens were minted", n)
	}
}

// Each of the guesses is another: what slows them down is where they come from.
func TestGuessesAtLeasesCountAsFailedLogins(t *testing.T) {
	b := newLeaseBench(t, api.Limits{FailedLogins: limit.Bound{PerSecond: 1, Burst: 5}})
	limited := 0
	for n := range 100 {
		w := b.post("/oidc/token", here, strings.Replace(b.tacker(), aSecret, fmt.Sprintf("vbl_guess%d", n), 1))
		if w.Code == http.StatusTooManyRequests {
			limited++
		} else if w.Code != http.StatusBadRequest {
			t.Fatalf("a guess = %d %s", w.Code, w.Body)
		}
	}
	if limited < 10 {
		t.Errorf("%d of 100 guesses were limited", limited)
	}
	b.wantLeaseToken("the holder, from the same address", b.tacker())
}

func TestAHolderMintsFourAtATime(t *testing.T) {
	b := newLeaseBench(t, api.Limits{})
	begun, end := make(chan struct{}), make(chan struct{})
	b.leases.within = func() {
		begun <- struct{}{}
		<-end
	}
	var done sync.WaitGroup
	for range 4 {
		done.Go(func() { b.post("/oidc/token", here, b.tacker()) })
		<-begun
	}
	fifth := make(chan *httptest.ResponseRecorder, 1)
	done.Go(func() { fifth <- b.post("/oidc/token", here, b.tacker()) })
	select {
	case w := <-fifth:
		if w.Code != http.StatusTooManyRequests || w.Header().Get("Retry-After") == "" {
			t.Errorf("a fifth at a time = %d %s", w.Code, w.Body)
		}
	case <-begun:
		t.Error("a fifth at a time is minted")
	}
	close(end)
	done.Wait()
}

// Guesses are slowed down where they come from, and neither they nor another's lease take
// anything from the holder; the holder itself has a bound.
func TestAFloodAtALeaseLocksItsHolderNotOut(t *testing.T) {
	b := newLeaseBench(t, api.Limits{FailedLogins: limit.Bound{PerSecond: 1, Burst: 5}})
	guess := strings.Replace(b.tacker(), aSecret, "vbl_guess", 1)
	limited := 0
	for range 100 {
		if w := b.post("/oidc/token", here, guess); w.Code == http.StatusTooManyRequests {
			limited++
		}
	}
	if limited < 50 {
		t.Errorf("%d of 100 guesses were limited", limited)
	}
	b.wantLeaseToken("the holder, from the same address", b.tacker())
	for range 100 {
		b.post("/oidc/token", here, b.tacker())
	}
	if w := b.post("/oidc/token", here, strings.Replace(b.tacker(), aLease, strings.ToUpper(aLease), 1)); w.Code != http.StatusTooManyRequests {
		t.Errorf("one more, with the id in capitals = %d %s", w.Code, w.Body)
	}
	w := b.post("/oidc/token", here, b.tacker())
	if w.Code != http.StatusTooManyRequests || w.Header().Get("Retry-After") == "" || b.leases.mints.Load() >= 100 {
		t.Errorf("the holder's hundredth token at once = %d %s, after %d mints", w.Code, w.Body, b.leases.mints.Load())
	}
}
