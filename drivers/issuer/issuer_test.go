package issuer_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/vimbroker/vimbroker/broker/trust"
	"github.com/vimbroker/vimbroker/drivers/issuer"
	"github.com/vimbroker/vimbroker/policy/egress"
	"github.com/vimbroker/vimbroker/test/fake"
)

// site is an issuer: what it answers at each path, with 200 where there is no number before it.
type site struct {
	*fake.Server
	mu    sync.Mutex
	pages map[string]string
	asked []string
}

const about = "/.well-known/openid-configuration"

func newSite(t *testing.T, start func(testing.TB, http.HandlerFunc) *fake.Server) *site {
	s := &site{}
	s.Server = start(t, func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		s.mu.Lock()
		defer s.mu.Unlock()
		s.asked = append(s.asked, strings.Join([]string{r.Method, r.URL.Path, r.Header.Get("Accept"), r.Header.Get("Content-Type"), string(body)}, " "))
		status, text := http.StatusOK, s.pages[r.URL.Path]
		if _, err := fmt.Sscanf(text, "%d", &status); err == nil {
			if _, text, _ = strings.Cut(text, " "); text == "" {
				text = fake.Canary
			}
		}
		w.WriteHeader(status)
		_, _ = io.WriteString(w, text)
	})
	return s
}

// sound are the pages of a good issuer.
func (s *site) sound() map[string]string {
	return map[string]string{
		about:   fmt.Sprintf(`{"issuer": %[1]q, "jwks_uri": "%[1]s/keys", "authorization_endpoint": "%[1]s/login", "token_endpoint": "%[1]s/token"}`, s.URL),
		"/keys": `{"keys": []}`, "/token": `{"access_token": "a", "id_token": "i"}`,
	}
}

func (s *site) answers(pages map[string]string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.pages, s.asked = pages, nil
}

func (s *site) driver() issuer.Driver {
	rules := egress.Default()
	rules.AllowLoopback = true
	return issuer.Driver{Egress: func() *egress.Rules { return rules }}
}

// calls are what is asked of an issuer; each returns what it found.
var calls = map[string]func(context.Context, issuer.Driver, trust.Authority) (string, error){
	"Keys": func(ctx context.Context, d issuer.Driver, e trust.Authority) (string, error) {
		named, set, err := d.Keys(ctx, e)
		if err == nil && named != e.Issuer {
			err = fmt.Errorf("it is named %s", named)
		}
		return string(set), err
	},
	"AuthorizationAt": func(ctx context.Context, d issuer.Driver, e trust.Authority) (string, error) {
		at, err := d.AuthorizationAt(ctx, e)
		if err != nil {
			at = ""
		}
		return strings.TrimPrefix(at, e.Issuer), err
	},
	"Exchange": func(ctx context.Context, d issuer.Driver, e trust.Authority) (found string, err error) {
		tokens, err := d.Exchange(ctx, e, url.Values{"code": {"c d"}})
		for _, token := range tokens {
			found += token.Reveal()
		}
		return found, err
	},
}

// TestWhatAnIssuerAnswersIsUsed, at https and, where the issuer itself is at such a one, at http.
func TestWhatAnIssuerAnswersIsUsed(t *testing.T) {
	for _, start := range []func(testing.TB, http.HandlerFunc) *fake.Server{fake.New, fake.NewPlain} {
		s := newSite(t, start)
		e := trust.Authority{Issuer: s.URL, CA: s.CA}
		for name, want := range map[string]string{"Keys": `{"keys": []}`, "AuthorizationAt": "/login", "Exchange": "ia"} {
			s.answers(s.sound())
			if got, err := calls[name](t.Context(), s.driver(), e); got != want || err != nil {
				t.Errorf("%s of %s = %q, %v; want %q", name, s.URL, got, err, want)
			}
			last := map[string]string{"Keys": "GET /keys application/json  ", "AuthorizationAt": "GET " + about + " application/json  ", "Exchange": "POST /token application/json application/x-www-form-urlencoded code=c+d"}[name]
			if got := s.asked[len(s.asked)-1]; got != last {
				t.Errorf("%s asks %q last, want %q", name, got, last)
			}
		}
		pages := s.sound()
		pages[about] = strings.Replace(pages[about], s.URL+"/keys", "ftp://issuer.example/keys", 1)
		s.answers(pages)
		if got, err := calls["Keys"](t.Context(), s.driver(), e); got != "" || err == nil || !strings.Contains(err.Error(), "not at an https URL") {
			t.Errorf("Keys of %s that are at ftp = %q, %v", s.URL, got, err)
		}
		for tokens, want := range map[string]string{`{"access_token": "a"}`: "a", `{"id_token": "i"}`: "i", `{}`: ""} {
			pages := s.sound()
			pages["/token"] = tokens
			s.answers(pages)
			if got, err := calls["Exchange"](t.Context(), s.driver(), e); got != want || err != nil {
				t.Errorf("Exchange that is answered %s = %q, %v; want %q", tokens, got, err, want)
			}
		}
	}
}

// TestAnIssuerThatFailsIsNamed, and nothing that it wrote: each of these has one fault.
func TestAnIssuerThatFailsIsNamed(t *testing.T) {
	s := newSite(t, fake.New)
	e := trust.Authority{Issuer: s.URL, CA: s.CA}
	all := slices.Sorted(maps.Keys(calls))
	member := func(name, is string) func(map[string]string) {
		return func(pages map[string]string) {
			was := map[string]string{"jwks_uri": s.URL + "/keys", "authorization_endpoint": s.URL + "/login", "token_endpoint": s.URL + "/token", "issuer": s.URL}[name]
			pages[about] = strings.Replace(pages[about], fmt.Sprintf("%q: %q", name, was), fmt.Sprintf("%q: %q", name, is), 1)
		}
	}
	page := func(path, text string) func(map[string]string) {
		return func(pages map[string]string) { pages[path] = text }
	}
	plain := strings.Replace(s.URL, "https:", "http:", 1)
	const none, other = "none of OpenID Connect", "calls itself otherwise"
	for _, c := range []struct {
		of     []string
		change func(map[string]string)
		want   string
	}{
		{all, page(about, "404"), "the issuer answers 404"},
		{all, page(about, "204"), "the issuer answers 204"},
		{all, page(about, "{"), none},
		{all, member("jwks_uri", ""), none},
		{all, page(about, `{"jwks_uri": "https://issuer.example/keys", "issuer": 1}`), none},
		{all, member("issuer", s.URL+"/"), other},
		{[]string{"Keys"}, page("/keys", "500"), "the issuer answers 500"},
		{[]string{"Keys"}, member("jwks_uri", plain+"/keys"), "keys are not at an https URL"},
		{[]string{"Keys"}, member("jwks_uri", "https:///keys"), "keys are not at an https URL"},
		{[]string{"Keys"}, member("jwks_uri", "https://%"), "keys are not at an https URL"},
		{[]string{"AuthorizationAt"}, member("authorization_endpoint", plain+"/login"), "log in at no https URL"},
		{[]string{"AuthorizationAt"}, member("authorization_endpoint", ""), "log in at no https URL"},
		{[]string{"Exchange"}, member("token_endpoint", plain+"/token"), "tokens at no https URL"},
		{[]string{"Exchange"}, page("/token", "400"), "gives no token for the code"},
		{[]string{"Exchange"}, page("/token", `201 {"id_token": "i"}`), "gives no token for the code"},
		{[]string{"Exchange"}, page("/token", "{"), "gives no token for the code"},
	} {
		for _, name := range c.of {
			pages := s.sound()
			c.change(pages)
			s.answers(pages)
			got, err := calls[name](t.Context(), s.driver(), e)
			if err == nil || got != "" || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), fake.Canary) {
				t.Errorf("%s = %q, %v; want %q", name, got, err, c.want)
			}
		}
	}
	s.answers(s.sound())
	for _, name := range all {
		for want, broken := range map[string]trust.Authority{"certificate": {Issuer: s.URL, CA: "none"}, "cannot be used": {Issuer: "https://%", CA: s.CA}} {
			if got, err := calls[name](t.Context(), s.driver(), broken); err == nil || got != "" || !strings.Contains(err.Error(), want) {
				t.Errorf("%s of %+v = %q, %v; want %q", name, broken, got, err, want)
			}
		}
		path := map[string]string{"Keys": "/keys$", "AuthorizationAt": "configuration$", "Exchange": "/token$"}[name]
		for _, late := range []bool{false, true} {
			s.Fail(fake.Fault{Kind: fake.Drop, Path: path, Late: late, Times: -1})
			if got, err := calls[name](t.Context(), s.driver(), e); err == nil || got != "" || !strings.Contains(err.Error(), "issuer") {
				t.Errorf("%s over a connection that breaks = %q, %v", name, got, err)
			}
			s.Heal()
		}
	}
}

// TestAnswersOfAnIssuerAreBounded: each page, to 256 KiB.
func TestAnswersOfAnIssuerAreBounded(t *testing.T) {
	s := newSite(t, fake.New)
	for name, path := range map[string]string{"Keys": "/keys", "AuthorizationAt": about, "Exchange": "/token"} {
		for _, of := range []string{path, about} {
			for size, ok := range map[int]bool{256 << 10: true, 257 << 10: false} {
				pages := s.sound()
				pages[of] += strings.Repeat(" ", size-len(pages[of]))
				s.answers(pages)
				got, err := calls[name](t.Context(), s.driver(), trust.Authority{Issuer: s.URL, CA: s.CA})
				if (err == nil) != ok || (got != "") != ok {
					t.Errorf("%s with %d bytes at %s: %d bytes, %v", name, size, of, len(got), err)
				}
			}
		}
	}
}

// clusters are registered clusters.
type clusters struct{ err error }

func (c clusters) IssuerKeys(_ context.Context, vim string) (string, []byte, error) {
	return "https://" + vim, []byte("keys of " + vim), c.err
}

func TestARegisteredClusterIsAskedForItsKeys(t *testing.T) {
	lost := errors.New("lost")
	for _, want := range []error{nil, lost} {
		named, set, err := issuer.Driver{Clusters: clusters{want}}.Keys(t.Context(), trust.Authority{VIM: "v", Issuer: "https://x"})
		if named != "https://v" || string(set) != "keys of v" || !errors.Is(err, want) {
			t.Errorf("Keys = %s, %s, %v; want those of the cluster, and %v", named, set, err, want)
		}
	}
}
