package client_test

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/pem"
	"errors"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/vimbroker/vimbroker/broker/api/client"
	"github.com/vimbroker/vimbroker/broker/api/sol003"
	v1 "github.com/vimbroker/vimbroker/broker/api/v1"
	"github.com/vimbroker/vimbroker/broker/secret"
)

// caFile is a file with the authority of a server.
func caFile(t *testing.T, server *httptest.Server) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "ca.pem")
	if err := os.WriteFile(file, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw}), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// An answer of a proxy, or one that breaks off, is said to be one, by the server's name.
func TestAnswersThatAreNone(t *testing.T) {
	torn := func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Content-Length", "100")
		_, _ = w.Write([]byte(`{"id":"a"`))
	}
	for what, c := range map[string]struct {
		answer http.HandlerFunc
		want   string
		status int
	}{
		"one that breaks off":  {torn, "reading the answer of", 0},
		"one that only begins": {answers(101, "application/json", ""), "101", 101},
		"half a problem": {func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Length", "100")
			answers(502, "application/problem+json", `{"title":"t"}`)(w, r)
		}, "the broker's address answered 502 Bad Gateway", 502},
		"one below the first":   {answers(304, "application/json", ""), "304", 304},
		"the last good status":  {answers(299, "application/json", `{"id":"a"}`), "", 0},
		"the first bad status":  {answers(300, "application/json", `{"id":"a"}`), "300", 300},
		"what leads elsewhere":  {answers(303, "text/html", "x"), "", 0},
		"plain http to https":   {answers(400, "text/plain", "Client sent an HTTP request to an HTTPS server.\n"), client.ErrWantsTLS.Error(), 0},
		"another bad request":   {answers(400, "text/plain", "no"), "400", 400},
		"those words elsewhere": {answers(404, "text/plain", "Client sent an HTTP request to an HTTPS server.\n"), "404", 404},
		"those words by a broker": {
			answers(400, "application/problem+json", `{"title":"Client sent an HTTP request to an HTTPS server","status":400}`), "Client sent an HTTP request", 400,
		},
		"a problem that is none": {answers(502, "application/problem+json", "{"), "502", 502},
		"a problem that is torn": {answers(502, "application/problem+json", `{"title":"t","detail":"d","status":"x"}`), "the broker's address answered 502 Bad Gateway", 502},
		"a page":                 {answers(200, "text/html", "<p>"), "does not answer as a broker does: not JSON", 0},
	} {
		_, err := newClient(t, c.answer).VIM(t.Context(), "a")
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) || client.Status(err) != c.status {
			t.Errorf("%s: %v (%d), want %q (%d)", what, err, client.Status(err), c.want, c.status)
		}
	}
	server := httptest.NewTLSServer(answers(400, "text/plain", "Client sent an HTTP request to an HTTPS server.\n"))
	defer server.Close()
	over, err := client.New(client.Options{Addr: server.URL, Token: secret.NewText(canary), CAFile: caFile(t, server)})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := over.VIM(t.Context(), "a"); errors.Is(err, client.ErrWantsTLS) || client.Status(err) != 400 {
		t.Errorf("those words over TLS: %v", err)
	}
	if _, err := newClient(t, answers(202, "application/json", "{}")).ModifyVNF(t.Context(), "i", sol003.ModifyRequest{}); err == nil ||
		!strings.Contains(err.Error(), "does not say where the operation is") {
		t.Errorf("an operation that is nowhere: %v", err)
	}
}

// through is a way to a server that answers by itself.
type through func(*http.Request) (*http.Response, error)

func (f through) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// A call without an end of its own has one, and another is left as it is.
func TestEveryCallEnds(t *testing.T) {
	var left time.Duration
	c, err := client.New(client.Options{Addr: "https://broker.example", HTTPClient: &http.Client{Transport: through(func(r *http.Request) (*http.Response, error) {
		ends, bounded := r.Context().Deadline()
		if !bounded {
			t.Error("a call does not end")
		}
		left = time.Until(ends)
		return nil, errors.New("gone")
	})}})
	if err != nil {
		t.Fatal(err)
	}
	long, cancel := context.WithTimeout(t.Context(), time.Hour)
	defer cancel()
	for _, one := range []struct {
		ctx   context.Context
		least time.Duration
		most  time.Duration
	}{{t.Context(), 0, 3 * time.Minute}, {long, 3 * time.Minute, time.Hour}} {
		if _, err := c.VIM(one.ctx, "a"); err == nil || left < one.least || left > one.most {
			t.Errorf("a call ends after %v (%v), want %v to %v", left, err, one.least, one.most)
		}
	}
}

// The lines of the audit log come as they are; none are left where the answer is empty.
func TestLinesOfTheAuditLog(t *testing.T) {
	lines := func(status int, text string) ([][]byte, error) {
		return newClient(t, func(w http.ResponseWriter, r *http.Request) {
			if r.Header.Get("Accept") != "application/x-ndjson" || r.URL.Query().Get("after") != "7" {
				t.Errorf("asked is %s with %v", r.URL, r.Header)
			}
			answers(status, "application/x-ndjson", text)(w, r)
		}).AuditLines(t.Context(), 7)
	}
	if got, err := lines(200, "{\"a\":1}\n{\"b\":2}\n"); err != nil || len(got) != 2 || string(got[0]) != `{"a":1}` || string(got[1]) != `{"b":2}` {
		t.Errorf("lines are %q, %v", got, err)
	}
	if got, err := lines(200, ""); err != nil || got != nil {
		t.Errorf("of an empty answer: %q, %v", got, err)
	}
	if got, err := lines(503, ""); client.Status(err) != 503 || got != nil {
		t.Errorf("of a failure: %q, %v", got, err)
	}
	c := newClient(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.RawQuery != "later=9&size=7" {
			t.Errorf("asked is %s", r.URL)
		}
		answers(200, "application/json", `{"size":9}`)(w, r)
	})
	if got, err := c.AuditGrowthTo(t.Context(), 7, 9); err != nil || got.Size != 9 {
		t.Errorf("growth is %+v, %v", got, err)
	}
}

// A client of a registered program says why it has no token, without its secret.
func TestALoginThatFails(t *testing.T) {
	const plain = "canary-of-a-client"
	for what, c := range map[string]struct {
		answer http.HandlerFunc
		want   string
	}{
		"a refusal": {answers(401, "application/json", `{"error":"invalid_client","access_token":"t"}`), "the login of client vnfm is refused"},
		"a page":    {answers(200, "text/html", "<p>"), "the login of client vnfm is refused"},
		"no time":   {answers(200, "application/json", `{"access_token":"t","expires_in":"soon"}`), "the login of client vnfm is refused"},
		"a torn answer": {func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "100")
			_, _ = w.Write([]byte("{"))
		}, "for a token: "},
		"no answer": {func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }, "for a token: "},
	} {
		asked := 0
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if asked++; r.URL.Path != "/oauth2/token" {
				t.Errorf("%s: %s is asked without a token", what, r.URL)
			}
			c.answer(w, r)
		}))
		defer server.Close()
		as, err := client.New(client.Options{Addr: server.URL, Login: &client.Login{ID: "vnfm", Secret: secret.NewText(plain)}})
		if err != nil {
			t.Fatal(err)
		}
		if _, err = as.VIM(t.Context(), "a"); err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), plain) || asked == 0 {
			t.Errorf("%s: %v, want %s", what, err, c.want)
		}
	}
}

// A login without an id shows its certificate alone; one asks for no token then.
func TestACertificateAloneLogsIn(t *testing.T) {
	var shown [][]byte
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		for _, cert := range r.TLS.PeerCertificates {
			shown = append(shown, cert.Raw)
		}
		if r.Header.Get("Authorization") != "" || strings.HasPrefix(r.URL.Path, "/oauth2") {
			t.Errorf("asked is %s with %v", r.URL, r.Header)
		}
		answers(200, "application/json", `{"id":"a"}`)(w, r)
	}))
	server.TLS = &tls.Config{ClientAuth: tls.RequestClientCert}
	server.StartTLS()
	defer server.Close()
	ca := caFile(t, server)
	own := server.TLS.Certificates[0]
	c, err := client.New(client.Options{Addr: server.URL, CAFile: ca, Login: &client.Login{Certificate: own}})
	if err != nil {
		t.Fatal(err)
	}
	if v, err := c.VIM(t.Context(), "a"); err != nil || v.ID != "a" || len(shown) != 1 || !bytes.Equal(shown[0], own.Certificate[0]) {
		t.Errorf("VIM() = %+v, %v; %d certificates are shown", v, err, len(shown))
	}
	missing := filepath.Join(t.TempDir(), "none.pem")
	var of *client.CAError
	if _, err := client.New(client.Options{Addr: server.URL, CAFile: missing}); !errors.As(err, &of) || !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a CA file that is not there: %v", err)
	}
	if _, err := client.Trusting(missing); !errors.As(err, &of) {
		t.Errorf("Trusting() of a CA file that is not there: %v", err)
	}
}

// What trusts a file's authorities follows no redirect, and gives up in the end.
func TestTrustingFollowsNoRedirect(t *testing.T) {
	server := httptest.NewTLSServer(http.RedirectHandler("/elsewhere", http.StatusFound))
	defer server.Close()
	c, err := client.Trusting(caFile(t, server))
	if err != nil {
		t.Fatal(err)
	}
	answer, err := c.Get(server.URL)
	if err != nil {
		t.Fatal(err)
	}
	answer.Body.Close()
	if answer.StatusCode != http.StatusFound || c.Timeout <= 0 {
		t.Errorf("GET = %d, and the timeout is %v", answer.StatusCode, c.Timeout)
	}
}

// A method that is no word makes no request; neither do addresses without a scheme or a host.
func TestAddressesThatAreNone(t *testing.T) {
	for _, addr := range []string{"https://", "https://%zz", "//broker.example", "https:///x", "http://[::1"} {
		if _, err := client.New(client.Options{Addr: addr}); err == nil || !strings.Contains(err.Error(), "must be a URL") {
			t.Errorf("New(%q) = %v", addr, err)
		}
	}
	file := filepath.Join(t.TempDir(), "ca.pem")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := client.New(client.Options{Addr: "https://broker.example", HTTPClient: &http.Client{}, CAFile: file}); err == nil {
		t.Error("an HTTP client and a CA file are taken")
	}
	ended, end := context.WithCancel(t.Context())
	end()
	if _, err := newClient(t, answers(200, "application/json", "{}")).RegisterVIM(ended, v1.Registration{Name: "a"}, ""); !errors.Is(err, context.Canceled) {
		t.Errorf("a call that was given up: %v", err)
	}
}
