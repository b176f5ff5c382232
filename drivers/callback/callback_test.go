package callback_test

import (
	"context"
	"encoding/pem"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/vimbroker/vimbroker/broker/secret"
	"github.com/vimbroker/vimbroker/drivers/callback"
	"github.com/vimbroker/vimbroker/lifecycle/subscription"
	"github.com/vimbroker/vimbroker/policy/egress"
	"github.com/vimbroker/vimbroker/test/clock"
	"github.com/vimbroker/vimbroker/test/fake"
	"github.com/vimbroker/vimbroker/test/story"
)

// partner is a subscriber with its token endpoint.
type partner struct {
	*fake.Server
	mu     sync.Mutex
	asked  []string // method, authorization, type and version
	status []int    // of the next answers; the last one stays
	tokens int
	token  func(n int, w http.ResponseWriter)
}

func newPartner(t *testing.T) *partner {
	p := &partner{status: []int{http.StatusNoContent}}
	p.token = func(n int, w http.ResponseWriter) {
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprintf(w, `{"access_token": "t%d", "token_type": "Bearer", "expires_in": 60}`, n)
	}
	p.Server = fake.New(t, func(w http.ResponseWriter, r *http.Request) {
		p.mu.Lock()
		defer p.mu.Unlock()
		if r.URL.Path == "/token" {
			p.tokens++
			p.token(p.tokens, w)
			return
		}
		p.asked = append(p.asked, strings.Join([]string{r.Method, r.Header.Get("Authorization"), r.Header.Get("Content-Type"), r.Header.Get("Version")}, " "))
		status := p.status[0]
		if len(p.status) > 1 {
			p.status = p.status[1:]
		}
		if status >= 300 && status <= 399 {
			w.Header().Set("Location", p.URL+"/elsewhere")
		}
		w.WriteHeader(status)
	})
	return p
}

func (p *partner) answers(status ...int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.asked, p.status = nil, status
}

func (p *partner) wantAsked(t *testing.T, what string, want ...string) {
	t.Helper()
	p.mu.Lock()
	defer p.mu.Unlock()
	if !slices.Equal(p.asked, want) {
		t.Errorf("%s: it was asked %q, want %q", what, p.asked, want)
	}
}

// subscriber is the one with these credentials.
func (p *partner) subscriber(id string, has subscription.Credentials) subscription.Subscriber {
	rules := egress.Default()
	rules.AllowLoopback = true
	return subscription.Subscriber{
		Subscription: id, Callback: p.URL + "/told", Egress: rules,
		Credentials: func(context.Context) (subscription.Credentials, error) { return has, nil },
	}
}

func (p *partner) meet(t *testing.T, o callback.Options) *callback.Callback {
	t.Helper()
	o.CAFile = story.WriteFile(t, "ca.pem", p.CA, 0o600)
	c := callback.New(o)
	t.Cleanup(c.Close)
	return c
}

func wantError(t *testing.T, what string, err error, want string) {
	t.Helper()
	if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
		t.Errorf("%s: %v, want %q", what, err, want)
	}
}

// TestEachAnswerIsJudged, at the ends of each range: what is refused is never sent again.
func TestEachAnswerIsJudged(t *testing.T) {
	p := newPartner(t)
	c := p.meet(t, callback.Options{})
	to := p.subscriber("s", subscription.Credentials{})
	const moved = "redirects are not followed"
	p.answers(http.StatusSwitchingProtocols)
	wantError(t, "Send", c.Send(t.Context(), to, []byte(`{}`)), "the subscriber answers 101")
	for status, want := range map[int]string{
		200: "", 204: "", 299: "", 300: moved, 301: moved, 399: moved, 400: "answers 400", 401: "the subscriber answers 401", 404: "the subscriber answers 404",
		413: "answers 413", 415: "answers 415", 422: "answers 422", 500: "the subscriber answers 500",
		201: "", 202: "", 203: "", 206: "", 304: moved, 402: "the subscriber answers 402", 403: "the subscriber answers 403",
		409: "the subscriber answers 409", 410: "the subscriber answers 410", 429: "the subscriber answers 429", 503: "the subscriber answers 503",
	} {
		p.answers(status)
		err := c.Send(t.Context(), to, []byte(`{}`))
		wantError(t, "Send", err, want)
		if refused := slices.Contains([]int{400, 413, 415, 422}, status); errors.Is(err, subscription.ErrRefused) != refused {
			t.Errorf("an answer of %d is %v, refused %v", status, err, refused)
		}
		if err != nil && want != moved && strings.Contains(err.Error(), moved) {
			t.Errorf("an answer of %d is %v", status, err)
		}
		p.wantAsked(t, "Send", "POST  application/json 2.0.0")

		p.answers(status)
		want = fmt.Sprintf("answers %d to GET", status)
		if status == 204 {
			want = ""
		}
		err = c.Test(t.Context(), to)
		wantError(t, "Test", err, want)
		if followed := status >= 300 && status <= 399; err != nil && strings.Contains(err.Error(), moved) != followed {
			t.Errorf("a test that is answered %d: %v", status, err)
		}
		p.wantAsked(t, "Test", "GET   ")
	}
	to.Callback = "https://%"
	wantError(t, "Send to no URI", c.Send(t.Context(), to, nil), "callback URI cannot be used")
	p.Fail(fake.Fault{Kind: fake.Drop})
	to.Callback = p.URL
	wantError(t, "Send over a connection that breaks", c.Send(t.Context(), to, nil), "the subscriber")
	p.Heal()
	p.Fail(fake.Fault{Kind: fake.Drop})
	wantError(t, "Test over a connection that breaks", c.Test(t.Context(), to), "the subscriber")
	p.Heal()
}

// TestTheBrokerAuthenticates by what the subscription has.
func TestTheBrokerAuthenticates(t *testing.T) {
	at := clock.New(time.Now())
	p := newPartner(t)
	c := p.meet(t, callback.Options{Now: at.Now})
	basic := p.subscriber("basic", subscription.Credentials{User: "u", Password: secret.NewText("p")})
	p.answers(204)
	wantError(t, "by a password", c.Send(t.Context(), basic, []byte(`{}`)), "")
	p.wantAsked(t, "by a password", "POST Basic dTpw application/json 2.0.0")
	p.answers(401)
	wantError(t, "by a wrong password", c.Send(t.Context(), basic, []byte(`{}`)), "answers 401")
	p.wantAsked(t, "by a wrong password, once", "POST Basic dTpw application/json 2.0.0")

	to := p.subscriber("oauth", subscription.Credentials{ClientID: "c", ClientPassword: secret.NewText("p"), TokenEndpoint: p.URL + "/token"})
	post := func(token string) string { return "POST Bearer " + token + " application/json 2.0.0" }
	send := func(what, want string, status []int, asked ...string) {
		t.Helper()
		p.answers(status...)
		wantError(t, what, c.Send(t.Context(), to, []byte(`{}`)), want)
		p.wantAsked(t, what, asked...)
	}
	send("by a token that is refused", "answers 401", []int{401}, post("t1"))
	send("by a kept token that is refused", "", []int{401, 204}, post("t1"), post("t2"))
	send("by a kept token that is refused, and another", "answers 401", []int{401}, post("t2"), post("t3"))
	send("by a kept token", "", []int{204}, post("t3"))
	at.Add(49 * time.Second)
	send("by a kept token that lasts", "", []int{204}, post("t3"))
	at.Add(2 * time.Second)
	send("by a token whose end is near", "", []int{204}, post("t4"))
	p.mu.Lock()
	p.token = func(n int, w http.ResponseWriter) {
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprintf(w, `{"access_token": "endless%d", "token_type": "Bearer"}`, n)
	}
	p.mu.Unlock()
	at.Add(time.Minute)
	send("by a token without an end", "", []int{204}, post("endless5"))
	at.Add(time.Minute)
	send("by that token, kept", "", []int{204}, post("endless5"))
}

// TestATokenEndpointThatFailsIsNamed, without what it wrote.
func TestATokenEndpointThatFailsIsNamed(t *testing.T) {
	p := newPartner(t)
	c := p.meet(t, callback.Options{})
	for want, answer := range map[string]func(w http.ResponseWriter){
		"the token endpoint answers 500": func(w http.ResponseWriter) { http.Error(w, fake.Canary, http.StatusInternalServerError) },
		"the token endpoint answers 302; redirects are not followed": func(w http.ResponseWriter) {
			w.Header().Set("Location", p.URL)
			w.WriteHeader(http.StatusFound)
		},
		"without an access token": func(w http.ResponseWriter) {
			w.Header().Set("Content-Type", "application/json")
			fmt.Fprintf(w, `{"token": %q}`, fake.Canary)
		},
	} {
		p.mu.Lock()
		p.token = func(_ int, w http.ResponseWriter) { answer(w) }
		p.mu.Unlock()
		p.answers(204)
		to := p.subscriber("", subscription.Credentials{ClientID: "c", TokenEndpoint: p.URL + "/token"})
		err := c.Send(t.Context(), to, []byte(`{}`))
		wantError(t, "Send", err, want)
		if strings.Contains(fmt.Sprint(err), fake.Canary) {
			t.Errorf("the error holds what the endpoint wrote: %v", err)
		}
		wantError(t, "Test", c.Test(t.Context(), to), want)
		p.wantAsked(t, want)
	}
	p.Fail(fake.Fault{Kind: fake.Drop, Path: "/token$", Times: -1})
	wantError(t, "an endpoint that breaks", c.Send(t.Context(), p.subscriber("", subscription.Credentials{ClientID: "c", TokenEndpoint: p.URL + "/token"}), nil), "the token endpoint")
}

// TestOurOwnFaultIsNoneOfTheSubscriber: certificates that are not there, and credentials that do not open.
func TestOurOwnFaultIsNoneOfTheSubscriber(t *testing.T) {
	p := newPartner(t)
	to := p.subscriber("s", subscription.Credentials{Certificate: true})
	for want, c := range map[string]*callback.Callback{
		"no client certificate any more": p.meet(t, callback.Options{}),
		"certificate cannot be read":     p.meet(t, callback.Options{CertFile: filepath.Join(t.TempDir(), "none"), KeyFile: "none"}),
	} {
		for what, err := range map[string]error{"Send": c.Send(t.Context(), to, nil), "Test": c.Test(t.Context(), to)} {
			if !errors.Is(err, subscription.ErrOurs) || !strings.Contains(err.Error(), want) {
				t.Errorf("%s without the certificate = %v, want that it is ours", what, err)
			}
		}
	}
	lost := errors.New("lost")
	to.Credentials = func(context.Context) (subscription.Credentials, error) { return subscription.Credentials{}, lost }
	c := p.meet(t, callback.Options{})
	for what, err := range map[string]error{"Send": c.Send(t.Context(), to, nil), "Test": c.Test(t.Context(), to)} {
		if !errors.Is(err, lost) {
			t.Errorf("%s without credentials = %v", what, err)
		}
	}
}

// endpoint is a server that tells which of its connections are closed.
type endpoint struct {
	*httptest.Server
	closed chan struct{}
}

func newEndpoint(t *testing.T, status int, answer string) *endpoint {
	t.Helper()
	e := &endpoint{closed: make(chan struct{}, 100)}
	e.Server = httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(status)
		_, _ = w.Write([]byte(answer))
	}))
	e.Config.ConnState = func(_ net.Conn, now http.ConnState) {
		if now == http.StateClosed {
			e.closed <- struct{}{}
		}
	}
	e.StartTLS()
	t.Cleanup(e.Close)
	return e
}

// TestConnectionsEndWithWhatIsKept: those to the subscriber, and those to its token endpoint.
func TestConnectionsEndWithWhatIsKept(t *testing.T) {
	at := clock.New(time.Now())
	var subscriber, tokens *endpoint
	rules := egress.Default()
	rules.AllowLoopback = true
	to := func(id string) subscription.Subscriber {
		return subscription.Subscriber{Subscription: id, Callback: subscriber.URL, Egress: rules, Credentials: func(context.Context) (subscription.Credentials, error) {
			return subscription.Credentials{ClientID: "c", TokenEndpoint: tokens.URL}, nil
		}}
	}
	for _, one := range []struct {
		name string
		end  func(c *callback.Callback) error
	}{
		{"forgotten", func(c *callback.Callback) error { c.Forget("s"); return nil }},
		{"closed", func(c *callback.Callback) error { c.Close(); return nil }},
		{"too old, by another", func(c *callback.Callback) error {
			at.Add(5 * time.Minute)
			return c.Send(t.Context(), to("other"), nil)
		}},
		{"of a later time", func(c *callback.Callback) error { at.Add(-5 * time.Minute); return c.Send(t.Context(), to("s"), nil) }},
		{"of a test before there is a subscription", func(c *callback.Callback) error { return c.Test(t.Context(), to("")) }},
	} {
		subscriber, tokens = newEndpoint(t, http.StatusNoContent, ""), newEndpoint(t, http.StatusOK, `{"access_token": "t", "token_type": "Bearer"}`)
		ca := string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: subscriber.Certificate().Raw}))
		c := callback.New(callback.Options{CAFile: story.WriteFile(t, "ca.pem", ca, 0o600), Now: at.Now})
		for range 2 {
			wantError(t, one.name, c.Test(t.Context(), to("s")), "")
		}
		if len(subscriber.closed)+len(tokens.closed) > 0 {
			t.Errorf("%s: a connection that is kept is closed", one.name)
		}
		wantError(t, one.name, one.end(c), "")
		for what, of := range map[string]*endpoint{"subscriber": subscriber, "token endpoint": tokens} {
			select {
			case <-of.closed:
			case <-time.After(10 * time.Second):
				t.Errorf("%s: the connection to the %s stays", one.name, what)
			}
		}
		c.Close()
	}
}
