package lessee

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/vimbroker/vimbroker/broker/api/client"
	v1 "github.com/vimbroker/vimbroker/broker/api/v1"
	"github.com/vimbroker/vimbroker/broker/clientconfig"
	"github.com/vimbroker/vimbroker/broker/secret"
	"github.com/vimbroker/vimbroker/cmd/vimbroker/console"
)

var noon = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)

// remoteBroker is a client of a server that answers as told.
func remoteBroker(t *testing.T, answer http.HandlerFunc) *client.Client {
	t.Helper()
	s := httptest.NewServer(answer)
	t.Cleanup(s.Close)
	c, err := client.New(client.Options{Addr: s.URL, Token: secret.NewText("t")})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func leasedConfig(token string) clientconfig.Config {
	return clientconfig.Config{VIM: "edge", Lease: "l", Endpoint: "https://k:6443", Credential: secret.Credential{Token: secret.NewText(token)}, Client: clientconfig.KubernetesClient{}, ExpiresAt: noon}
}

func issued(t *testing.T, token string, expires time.Time) v1.IssuedLease {
	t.Helper()
	text, err := leasedConfig(token).Render(clientconfig.JSON)
	if err != nil {
		t.Fatal(err)
	}
	return v1.IssuedLease{
		Lease:        v1.Lease{ID: "l", State: "active", Derived: true, Revocable: true, ExpiresAt: expires},
		ClientConfig: v1.ClientConfig{Text: text, Object: true},
	}
}

// A lease is renewed when two thirds of its life are over, tried again sooner
// when that fails, and left alone when it cannot be longer.
func TestKeepAliveReplacesTheTokenInTime(t *testing.T) {
	answers := []http.HandlerFunc{
		func(w http.ResponseWriter, _ *http.Request) {
			encode(w, issued(t, "second", noon.Add(40*time.Minute)))
		},
		func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusServiceUnavailable) },
		func(w http.ResponseWriter, _ *http.Request) {
			encode(w, issued(t, "third", noon.Add(60*time.Minute)))
		},
		func(w http.ResponseWriter, _ *http.Request) {
			encode(w, issued(t, "last", noon.Add(60*time.Minute)))
		},
	}
	registry := remoteBroker(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/v1/leases/l/renew" || len(answers) == 0 {
			t.Errorf("unexpected %s %s", r.Method, r.URL.Path)
			return
		}
		answers[0](w, r)
		answers = answers[1:]
	})
	dir, err := clientconfig.OpenDir(filepath.Join(t.TempDir(), "files"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { dir.Close() })
	files, err := dir.Write(leasedConfig("first"))
	if err != nil {
		t.Fatal(err)
	}

	var waits []time.Duration
	var stderr bytes.Buffer
	now := noon
	p := &program{&console.Console{Err: &stderr, Now: func() time.Time { return now }, After: func(d time.Duration) <-chan time.Time {
		waits = append(waits, d)
		now = now.Add(d)
		past := make(chan time.Time, 1)
		past <- now
		return past
	}}}
	p.keepAlive(t.Context(), registry, v1.Lease{ID: "l", Derived: true, ExpiresAt: noon.Add(30 * time.Minute)}, 0, files)

	want := []time.Duration{
		20 * time.Minute,               // of 30
		20 * time.Minute * 2 / 3,       // 20 minutes left of 40
		(20 * time.Minute * 1 / 3) / 4, // refused: a quarter of what is left
		0,                              // two thirds of what is left until the 60th minute
	}
	want[3] = renewAfter(noon.Add(60 * time.Minute).Sub(noon.Add(want[0] + want[1] + want[2])))
	if fmt.Sprint(waits) != fmt.Sprint(want) {
		t.Errorf("waited %v, want %v", waits, want)
	}
	if got := tokenIn(t, filepath.Dir(files.Main())); got != "last" {
		t.Errorf("the token file holds %q, want the newest", got)
	}
	if s := stderr.String(); strings.Count(s, "\n") != 2 || !strings.Contains(s, "renewing lease l") || !strings.Contains(s, "cannot be renewed any further") {
		t.Errorf("stderr = %q", s)
	}
}

func TestKeepAliveEndsWithTheCommand(t *testing.T) {
	ctx, stop := context.WithCancel(t.Context())
	stop()
	p := &program{&console.Console{Now: time.Now, After: func(time.Duration) <-chan time.Time { return nil }}}
	p.keepAlive(ctx, nil, v1.Lease{Derived: true, ExpiresAt: time.Now().Add(time.Hour)}, 0, nil)
	// A credential that was passed through has nothing to renew.
	p.After = func(time.Duration) <-chan time.Time { t.Error("waited for what is not renewed"); return nil }
	p.keepAlive(t.Context(), nil, v1.Lease{ExpiresAt: time.Now().Add(time.Hour)}, 0, nil)
}

func TestIssueAsksAgainUnderTheSameKeyWhenTheAnswerIsLost(t *testing.T) {
	var keys []string
	registry := remoteBroker(t, func(w http.ResponseWriter, r *http.Request) {
		keys = append(keys, r.Header.Get("Idempotency-Key"))
		if len(keys) == 1 {
			panic(http.ErrAbortHandler) // the connection breaks
		}
		encode(w, issued(t, "t", noon))
	})
	l, err := Issue(t.Context(), registry, v1.LeaseRequest{}, "")
	if err != nil || l.ID != "l" {
		t.Fatalf("issueLease = %+v, %v", l.Lease, err)
	}
	if len(keys) != 2 || keys[0] == "" || keys[0] != keys[1] {
		t.Errorf("idempotency keys = %q, want one, twice", keys)
	}
}

func TestSharedLeasesAreReplacedBeforeTheyAreUseless(t *testing.T) {
	p := &program{&console.Console{Now: func() time.Time { return noon }}}
	for name, first := range map[string]http.HandlerFunc{
		"ended": func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusConflict) },
		"about to expire": func(w http.ResponseWriter, _ *http.Request) {
			encode(w, issued(t, "old", noon.Add(30*time.Second)))
		},
	} {
		t.Run(name, func(t *testing.T) {
			var keys []string
			registry := remoteBroker(t, func(w http.ResponseWriter, r *http.Request) {
				keys = append(keys, r.Header.Get("Idempotency-Key"))
				if len(keys) == 1 {
					first(w, r)
					return
				}
				encode(w, issued(t, "new", noon.Add(time.Hour)))
			})
			l, err := p.sharedLease(t.Context(), registry, v1.LeaseRequest{VIM: "v"}, time.Hour)
			if err != nil || !strings.Contains(l.ClientConfig.Text.Reveal(), "new") || len(keys) != 2 || keys[0] == keys[1] {
				t.Errorf("sharedLease = %v, keys %q", err, keys)
			}
		})
	}
}

func TestShareKeyChangesWithTheWishAndWithTime(t *testing.T) {
	now := noon
	p := &program{&console.Console{Now: func() time.Time { return now }}}
	r := v1.LeaseRequest{VIM: "v", Role: "view", Namespaces: []string{"a", "b"}, TTL: "1h0m0s"}
	first := p.shareKey(r, time.Hour)
	now = noon.Add(29 * time.Minute)
	if got := p.shareKey(r, time.Hour); got != first {
		t.Error("the key changed within half the lease's life")
	}
	now = noon.Add(30 * time.Minute)
	if got := p.shareKey(r, time.Hour); got == first {
		t.Error("the key did not change after half the lease's life")
	}
	now = noon
	for name, change := range map[string]func(*v1.LeaseRequest){
		"vim":        func(r *v1.LeaseRequest) { r.VIM = "w" },
		"role":       func(r *v1.LeaseRequest) { r.Role = "edit" },
		"namespaces": func(r *v1.LeaseRequest) { r.Namespaces = []string{"a"} },
		"ttl":        func(r *v1.LeaseRequest) { r.TTL = "2h0m0s" },
	} {
		other := r
		change(&other)
		if p.shareKey(other, time.Hour) == first {
			t.Errorf("another %s has the same key", name)
		}
	}
}

func TestSameServer(t *testing.T) {
	for _, test := range []struct {
		a, b string
		want bool
	}{
		{"https://k:6443", "https://k:6443", true},
		{"https://K:6443/", "https://k:6443", true},
		{"https://k", "https://k:443", true},
		{"https://k:6443/a", "https://k:6443/a/", true},
		{"https://k:6443", "https://k:6444", false},
		{"https://k:6443/a", "https://k:6443/b", false},
		{"http://k:6443", "http://k:6443", false},
		{"https://u@k:6443", "https://u@k:6443", false},
		{"https://k:6443@evil", "https://k:6443", false},
		{"", "", false},
	} {
		if got := sameServer(test.a, test.b); got != test.want {
			t.Errorf("sameServer(%q, %q) = %v, want %v", test.a, test.b, got, test.want)
		}
	}
}

func encode(w http.ResponseWriter, v any) {
	w.Header().Set("Content-Type", v1.MediaType)
	_ = v1.Encode(w, v)
}

// tokenIn reads the one token file under a directory.
func tokenIn(t *testing.T, dir string) string {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(dir, "token-*"))
	if err == nil && len(found) != 1 {
		err = errors.New("not one token file")
	}
	if err != nil {
		t.Fatal(err, found)
	}
	text, err := os.ReadFile(found[0])
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// A lease is asked for again only where the server may have issued it and its answer got
// lost: not where it answered, nobody listened, or the caller has given up.
func TestIssueDoesNotAskAgainInVain(t *testing.T) {
	asked := 0
	refusing := remoteBroker(t, func(w http.ResponseWriter, _ *http.Request) {
		asked++
		w.WriteHeader(http.StatusInternalServerError)
	})
	if _, err := Issue(t.Context(), refusing, v1.LeaseRequest{}, ""); err == nil || asked != 1 {
		t.Errorf("a server that answers 500 was asked %d times, %v", asked, err)
	}

	ctx, giveUp := context.WithCancel(t.Context())
	asked = 0
	breaking := remoteBroker(t, func(http.ResponseWriter, *http.Request) {
		asked++
		giveUp()
		panic(http.ErrAbortHandler)
	})
	if _, err := Issue(ctx, breaking, v1.LeaseRequest{}, ""); err == nil || asked != 1 {
		t.Errorf("for a caller who has given up it was asked %d times, %v", asked, err)
	}

	asked = 0
	nobody, err := client.New(client.Options{
		Addr: "http://127.0.0.1:1", Token: secret.NewText("t"),
		HTTPClient: &http.Client{Transport: roundTripper(func(*http.Request) (*http.Response, error) {
			asked++
			return nil, syscall.ECONNREFUSED
		})},
	})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Issue(t.Context(), nobody, v1.LeaseRequest{}, ""); err == nil || asked != 1 {
		t.Errorf("where nobody listens it was asked %d times, %v", asked, err)
	}
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// Where every shared lease has ended, a call takes one of its own, and does not ask for ever.
func TestSharedLeasesComeToAnEnd(t *testing.T) {
	p := &program{&console.Console{Now: func() time.Time { return noon }}}
	for name, answer := range map[string]http.HandlerFunc{
		"ended":           func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusConflict) },
		"about to expire": func(w http.ResponseWriter, _ *http.Request) { encode(w, issued(t, "old", noon.Add(30*time.Second))) },
	} {
		t.Run(name, func(t *testing.T) {
			var keys []string
			registry := remoteBroker(t, func(w http.ResponseWriter, r *http.Request) {
				if keys = append(keys, r.Header.Get("Idempotency-Key")); len(keys) > 2*mostShared {
					panic(http.ErrAbortHandler)
				}
				answer(w, r)
			})
			_, err := p.sharedLease(t.Context(), registry, v1.LeaseRequest{VIM: "v"}, time.Hour)
			if len(keys) != mostShared+1 || (err == nil) != (name != "ended") {
				t.Fatalf("asked %d times, %v; want %d", len(keys), err, mostShared+1)
			}
			shared := strings.TrimSuffix(keys[0], "1")
			for n, key := range keys {
				if strings.HasPrefix(key, shared) != (n < mostShared) {
					t.Errorf("request %d has the key %q, the first %q", n+1, key, keys[0])
				}
			}
		})
	}
}
