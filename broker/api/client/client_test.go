package client_test

import (
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/vimbroker/vimbroker/broker/api/client"
	v1 "github.com/vimbroker/vimbroker/broker/api/v1"
	"github.com/vimbroker/vimbroker/broker/secret"
)

const canary = "canary-31c9-callers-token"

// newClient returns a client of a server that answers by h.
func newClient(t *testing.T, h http.HandlerFunc) *client.Client {
	t.Helper()
	server := httptest.NewServer(h)
	t.Cleanup(server.Close)
	c, err := client.New(client.Options{Addr: server.URL + "/", Token: secret.NewText(canary)})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// answers sends a body as it is.
func answers(status int, kind, body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", kind)
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body)
	}
}

func TestAddrIsASafePlaceForAToken(t *testing.T) {
	for addr, want := range map[string]bool{
		"https://broker.example":        true,
		"https://broker.example:8443/x": true,
		"http://127.0.0.1:8080":         true,
		"http://[::1]:8080":             true,
		"http://localhost:8080":         true,
		"http://broker.example":         false,
		"http://10.0.0.1:8080":          false,
		"http://127.0.0.1.example:8080": false,
		"http://localhost.example":      false,
		"ftp://broker.example":          false,
		"broker.example:8443":           false,
		"":                              false,
		"https://u:p@broker.example":    false,
		"https://broker.example/?a=b":   false,
		"https://broker.example/#a":     false,
	} {
		if _, err := client.New(client.Options{Addr: addr}); (err == nil) != want {
			t.Errorf("New(%q) = %v, want it taken: %v", addr, err, want)
		}
	}
	if _, err := client.New(client.Options{Addr: "http://10.0.0.1"}); !errors.Is(err, client.ErrPlainHTTP) {
		t.Errorf("New() = %v, want ErrPlainHTTP", err)
	}
}

func TestRedirectsAreNotFollowed(t *testing.T) {
	thief := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		t.Errorf("the client followed to %s", r.URL.Path)
	}))
	defer thief.Close()
	c := newClient(t, func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, thief.URL+"/v1/vims", http.StatusTemporaryRedirect)
	})
	_, err := c.RegisterVIM(t.Context(), v1.Registration{Kubeconfig: secret.NewText(canary)}, "")
	if client.Status(err) != http.StatusTemporaryRedirect {
		t.Errorf("RegisterVIM() = %v, want the redirect as an error", err)
	}
}

func TestNamesStayInTheirSegment(t *testing.T) {
	var got string
	c := newClient(t, func(w http.ResponseWriter, r *http.Request) {
		got = r.URL.EscapedPath() + " " + r.PathValue("id")
		answers(http.StatusOK, v1.MediaType, "{}")(w, r)
	})
	for name, want := range map[string]string{
		"core-1": "core-1", "a/b": "a%2Fb", "..": "%2E%2E", ".": "%2E", "a b?c#d": "a%20b%3Fc%23d", "50%": "50%25", "é": "%C3%A9",
	} {
		if _, err := c.VIM(t.Context(), name); err != nil {
			t.Errorf("VIM(%q) = %v", name, err)
		}
		if want = "/v1/vims/" + want + " "; got != want {
			t.Errorf("VIM(%q) asked for %q, want %q", name, got, want)
		}
	}
}

func TestProblemsAreTyped(t *testing.T) {
	c := newClient(t, answers(http.StatusConflict, "application/problem+json; charset=utf-8",
		`{"type":"urn:vimbroker:problem:conflict","title":"conflict","status":200,"detail":"leases are live","remedy":"drain it","requestId":"r-1","errors":[{"field":"vim","location":"body","message":"is in use"}],"later":1}`))
	_, err := c.VIM(t.Context(), "core-1")
	var p *client.Problem
	if !errors.As(fmt.Errorf("showing: %w", err), &p) {
		t.Fatalf("VIM() = %T", err)
	}
	// The status line counts, not what the body says.
	if p.Status != http.StatusConflict || p.RequestID != "r-1" || p.Remedy != "drain it" || len(p.Errors) != 1 {
		t.Errorf("problem = %+v", p.Problem)
	}
	if want := "conflict: leases are live; vim: is in use (drain it)"; p.Error() != want {
		t.Errorf("Error() = %q, want %q", p.Error(), want)
	}
	if client.Status(err) != http.StatusConflict || client.Status(io.EOF) != 0 {
		t.Error("Status() does not tell a problem from another error")
	}
}

func TestAnswersOfSomethingElse(t *testing.T) {
	for what, h := range map[string]http.HandlerFunc{
		"a proxy's page":   answers(http.StatusBadGateway, "text/html", "<h1>"+canary+"</h1>"),
		"a broken problem": answers(http.StatusBadGateway, v1.ProblemType, `{"title":"`+canary),
		"a page":           answers(http.StatusOK, "text/html", canary),
		"broken JSON":      answers(http.StatusOK, v1.MediaType, `{"name":"`+canary),
		"JSON of a kind":   answers(http.StatusOK, v1.MediaType, `{"name":["`+canary+`"]}`),
		"nothing":          answers(http.StatusOK, v1.MediaType, ""),
		"an answer cut off": func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Length", "100")
			answers(http.StatusOK, v1.MediaType, "{}")(w, r)
		},
		"an endless answer": func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", v1.MediaType)
			_, _ = io.Copy(w, io.MultiReader(strings.NewReader(`{"name":"`), io.LimitReader(endless{}, 40<<20)))
		},
	} {
		_, err := newClient(t, h).VIM(t.Context(), "core-1")
		if err == nil || strings.Contains(err.Error(), canary) {
			t.Errorf("%s: VIM() = %v, want an error that does not repeat it", what, err)
		}
	}
}

// endless gives bytes for ever.
type endless struct{}

func (endless) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = 'x'
	}
	return len(p), nil
}

func TestTokenGoesInTheHeaderOnly(t *testing.T) {
	c := newClient(t, func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer "+canary || strings.Contains(r.URL.String(), canary) {
			t.Errorf("%s %s: Authorization %q", r.Method, r.URL, r.Header.Get("Authorization"))
		}
		answers(http.StatusOK, v1.MediaType, "{}")(w, r)
	})
	if _, err := c.Leases(t.Context(), client.LeaseQuery{VIM: "core-1"}); err != nil {
		t.Fatal(err)
	}
	if printed := fmt.Sprintf("%v %+v %#v", c, c, c); strings.Contains(printed, canary) {
		t.Error("the client prints its token")
	}
	gone, err := client.New(client.Options{Addr: "http://127.0.0.1:1", Token: secret.NewText(canary)})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := gone.RegisterVIM(t.Context(), v1.Registration{Kubeconfig: secret.NewText(canary)}, ""); err == nil || strings.Contains(err.Error(), canary) {
		t.Errorf("RegisterVIM() with nobody there = %v", err)
	}
}

func TestWalksEndWithTheLastPage(t *testing.T) {
	pages := map[string]string{
		"":  `{"items":[{"name":"a"},{"name":"b"}],"nextPageToken":"2"}`,
		"2": `{"items":[],"nextPageToken":"3"}`,
		"3": `{"items":[{"name":"c"}],"nextPageToken":""}`,
		"x": `{"items":[{"name":"d"}],"nextPageToken":"x"}`,
		"y": `{"items":[{"name":"e"}],"nextPageToken":"gone"}`,
	}
	c := newClient(t, func(w http.ResponseWriter, r *http.Request) {
		body, ok := pages[r.URL.Query().Get("pageToken")]
		if !ok {
			answers(http.StatusUnprocessableEntity, v1.ProblemType, `{"title":"invalid request"}`)(w, r)
			return
		}
		answers(http.StatusOK, v1.MediaType, body)(w, r)
	})
	walk := func(from string) (names string, last error) {
		for v, err := range c.AllVIMs(t.Context(), client.VIMQuery{PageToken: from}) {
			names, last = names+v.Name, err
		}
		return names, last
	}
	if names, err := walk(""); names != "abc" || err != nil {
		t.Errorf("AllVIMs() = %q, %v", names, err)
	}
	if names, err := walk("x"); names != "d" || err == nil {
		t.Errorf("AllVIMs() of a page that leads to itself = %q, %v", names, err)
	}
	if names, err := walk("y"); names != "e" || client.Status(err) != http.StatusUnprocessableEntity {
		t.Errorf("AllVIMs() of a page that fails = %q, %v", names, err)
	}
	for status, want := range map[int]string{http.StatusNoContent: "true ", http.StatusAccepted: "false d", http.StatusConflict: "false "} {
		v, gone, err := newClient(t, answers(status, v1.MediaType, `{"name":"d"}`)).DeleteVIM(t.Context(), "d", client.Deletion{})
		if got := fmt.Sprint(gone, " ", v.Name); got != want || (err == nil) != (status < 300) {
			t.Errorf("a deletion that is answered with %d: %s, %v", status, got, err)
		}
	}
	all := ""
	for v, err := range c.AllOAuthClients(t.Context()) { // which has no parameters of its own
		if err != nil {
			t.Fatal(err)
		}
		all += v.Name
	}
	if all != "abc" {
		t.Errorf("AllOAuthClients() = %q", all)
	}
	for v := range c.AllVIMs(t.Context(), client.VIMQuery{}) {
		if v.Name != "a" {
			t.Errorf("the walk went on to %q", v.Name)
		}
		break
	}
}

func TestCAFile(t *testing.T) {
	server := httptest.NewUnstartedServer(answers(http.StatusOK, v1.MediaType, "{}"))
	server.Config.ErrorLog = log.New(io.Discard, "", 0)
	server.StartTLS()
	defer server.Close()
	file := filepath.Join(t.TempDir(), "ca.pem")
	write := func(text []byte) {
		t.Helper()
		if err := os.WriteFile(file, text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw}))
	c, err := client.New(client.Options{Addr: server.URL, CAFile: file})
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Ready(t.Context()); err != nil {
		t.Errorf("Ready() with the CA = %v", err)
	}
	if c, err = client.New(client.Options{Addr: server.URL}); err != nil {
		t.Fatal(err)
	}
	if err := c.Ready(t.Context()); err == nil {
		t.Error("Ready() without the CA = nil")
	}
	write([]byte("no certificate"))
	if _, err := client.New(client.Options{Addr: server.URL, CAFile: file}); err == nil {
		t.Error("New() takes a CA file without a certificate")
	}
	if _, err := client.New(client.Options{Addr: server.URL, CAFile: file + ".missing"}); err == nil {
		t.Error("New() takes a CA file that is not there")
	}
	if _, err := client.New(client.Options{Addr: server.URL, CAFile: file, HTTPClient: http.DefaultClient}); err == nil {
		t.Error("New() takes a CA file beside another HTTP client")
	}
	if http.DefaultClient.CheckRedirect != nil {
		t.Error("New() changed the caller's HTTP client")
	}
}
