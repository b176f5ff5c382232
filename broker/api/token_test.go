package api_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/broker/api"
	"github.com/vimbroker/vimbroker/policy"
	"github.com/vimbroker/vimbroker/test/testlog"
)

// twoTokens knows two callers by their tokens.
type twoTokens struct{}

func (twoTokens) Authenticate(_ context.Context, token string) (policy.Principal, error) {
	switch token {
	case "token-of-alice", "token-of-bob":
		return policy.Principal{Name: token[len("token-of-"):], Project: "demo"}, nil
	}
	return policy.Principal{}, policy.ErrUnauthenticated
}

type noVitals struct{}

func (noVitals) Vitals(context.Context) broker.Vitals { return broker.Vitals{} }

// A request names one caller, by one token in one header. Behind the door there is
// no token: what is not there is not logged, and not sent on.
func TestOneTokenNamesTheCallerAndGoesNoFurther(t *testing.T) {
	var left http.Header
	handler := api.New(api.Options{
		Doors: []api.Door{{
			Paths: []string{"/who"},
			Routes: []api.Route{{
				Method: http.MethodGet, Path: "/who", Status: http.StatusOK, Timeout: time.Minute,
				Handle: func(c *api.Call) (api.Answer, error) {
					left = c.Header.Clone()
					return api.Answer{Body: c.Principal.Name}, nil
				},
			}},
			Refuse: func(_ *http.Request, p api.Problem) api.Answer { return api.Answer{Body: p} },
		}},
		Authenticator: twoTokens{}, Vitals: noVitals{}, Log: testlog.Silent(t),
	})
	const bearer, keystone, alice, bob = "Authorization", "X-Auth-Token", "token-of-alice", "token-of-bob"
	for _, c := range []struct {
		name    string
		headers [][2]string
		want    int
	}{
		{"a bearer token", [][2]string{{bearer, "Bearer " + alice}}, 200},
		{"a token in OpenStack's header", [][2]string{{keystone, alice}}, 200},
		{"two callers' tokens", [][2]string{{bearer, "Bearer " + alice}, {keystone, bob}}, 401},
		{"one caller's token in both headers", [][2]string{{bearer, "Bearer " + alice}, {keystone, alice}}, 401},
		{"a token beside another scheme", [][2]string{{bearer, "Basic eA=="}, {keystone, alice}}, 401},
		{"a token under another scheme", [][2]string{{bearer, "Basic " + alice}}, 401},
		{"two bearer tokens", [][2]string{{bearer, "Bearer " + alice}, {bearer, "Bearer " + bob}}, 401},
		{"two tokens in OpenStack's header", [][2]string{{keystone, alice}, {keystone, bob}}, 401},
		{"two tokens in one header", [][2]string{{keystone, alice + "," + bob}}, 401},
		{"two tokens in one bearer", [][2]string{{bearer, "Bearer " + alice + " " + bob}}, 401},
		{"no token", nil, 401},
	} {
		left = nil
		r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/who", nil)
		for _, h := range c.headers {
			r.Header.Add(h[0], h[1])
		}
		w := httptest.NewRecorder()
		handler.ServeHTTP(w, r)
		if w.Code != c.want {
			t.Errorf("a request with %s = %d %s, want %d", c.name, w.Code, w.Body, c.want)
		}
		if reached := left != nil; reached != (c.want == 200) {
			t.Errorf("a request with %s reaches the operation: %v", c.name, reached)
		}
		for _, h := range []string{bearer, keystone} {
			if left.Get(h) != "" {
				t.Errorf("a request with %s: the operation is shown the header %s", c.name, h)
			}
		}
	}
}
