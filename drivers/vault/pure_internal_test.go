package vault

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/vault/api"

	"github.com/vimbroker/vimbroker/broker/remote"
	"github.com/vimbroker/vimbroker/broker/secret"
)

// What Vault answers, or does not, is a fault of its kind; what may work at once is told from what may not.
func TestFaultsOfAnswers(t *testing.T) {
	answer := func(status int, body string) *api.Response {
		return &api.Response{Response: &http.Response{StatusCode: status, Body: io.NopCloser(strings.NewReader(body))}}
	}
	for _, c := range []struct {
		status  int
		body    string
		err     error
		kind    error
		reason  string
		passing bool
	}{
		{299, "", nil, secret.ErrUnavailable, "Vault answers with the unexpected status 299", false},
		{300, "", nil, secret.ErrUnavailable, "Vault redirects to an address that is not among its configured ones", false},
		{399, "", nil, secret.ErrUnavailable, "Vault redirects to an address that is not among its configured ones", false},
		{400, "", nil, nil, "Vault does not accept the request", false},
		{500, "", nil, secret.ErrUnavailable, "Vault fails inside, or has no active node", true},
		{502, "", nil, secret.ErrUnavailable, "Vault, or what stands before it, has no answer", true},
		{503, "", nil, secret.ErrUnavailable, "Vault is down for maintenance or sealed", false},
		{503, "", &api.ResponseError{Errors: []string{"x", "Vault is sealed"}}, secret.ErrUnavailable, "Vault is sealed", false},
		{503, "", &api.ResponseError{Errors: []string{"x"}}, secret.ErrUnavailable, "Vault is down for maintenance or sealed", false},
		{503, "", errors.New("sealed"), secret.ErrUnavailable, "Vault is down for maintenance or sealed", false},
		{500, "", &api.ResponseError{Errors: []string{"sealed"}}, secret.ErrUnavailable, "Vault fails inside, or has no active node", true},
		{404, `{"errors":[]}`, nil, secret.ErrNotFound, "Vault holds no such secret", false},
		{404, `{"data":{"metadata":{}}}`, nil, secret.ErrNotFound, "Vault holds only the trace of a deleted secret", false},
		{404, `{"data":{}}`, nil, secret.ErrUnavailable, "what answers is not Vault (404)", false},
		{404, `{"errors":["no handler"]}`, nil, secret.ErrUnavailable, "Vault has nothing mounted at the configured path", false},
		{404, `page`, nil, secret.ErrUnavailable, "what answers is not Vault (404)", false},
		{404, `{}`, nil, secret.ErrUnavailable, "what answers is not Vault (404)", false},
		{404, `{"errors":[],"data":7}`, nil, secret.ErrUnavailable, "what answers is not Vault (404)", false},
		{404, `{"errors":["x"],"data":7}`, nil, secret.ErrUnavailable, "what answers is not Vault (404)", false},
		{404, `{"data":{"metadata":{}},"errors":7}`, nil, secret.ErrUnavailable, "what answers is not Vault (404)", false},
	} {
		f := faultOf(t.Context(), answer(c.status, c.body), c.err)
		if f.kind != c.kind || f.reason != c.reason || f.passing() != c.passing || !isStatus(f, c.status) || isStatus(f, c.status+1) {
			t.Errorf("%d %s %v: %+v, passing %t, want %v: %s, passing %t", c.status, c.body, c.err, f, f.passing(), c.kind, c.reason, c.passing)
		}
	}
	for name, response := range map[string]*api.Response{"none": nil, "an empty one": {}} {
		if f := faultOf(t.Context(), response, errors.New("x")); f.kind != secret.ErrUnavailable || f.status != 0 || !f.passing() {
			t.Errorf("no answer (%s): %+v", name, f)
		}
	}
	over, end := context.WithCancel(t.Context())
	end()
	if f := faultOf(over, nil, errors.New("x")); f.kind != nil || !errors.Is(f.cause, context.Canceled) || f.passing() {
		t.Errorf("a call that was given up: %+v", f)
	}
	late := &fault{kind: secret.ErrUnavailable, cause: context.DeadlineExceeded}
	if late.passing() || isStatus(errors.New("x"), 0) {
		t.Error("a timeout is repeated, or an error of others has a status")
	}
}

// What Vault says of a token is gone from memory once it is read, and the request that is sent on is the caller's as it was.
func TestATokenStaysWhereItIs(t *testing.T) {
	answer := []byte(`{"data":{"id":"the token","ttl":7,"renewable":true}}`)
	g, f := lookUp(t.Context(), func(context.Context, secret.Text, request) ([]byte, *fault) { return answer, nil }, secret.NewText("t"))
	if f != nil || g.Seconds != 7 || !g.Renewable || g.Token.Reveal() != "t" || strings.Trim(string(answer), "\x00") != "" {
		t.Errorf("a token is %+v, %v, and in memory stays %q", g, f, answer)
	}
	way, err := remote.NewTrusted(remote.Options{Server: "Vault"})
	if err != nil {
		t.Fatal(err)
	}
	var got string
	s := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { got = r.Header.Get(api.AuthHeaderName) }))
	defer s.Close()
	asked, err := http.NewRequestWithContext(withToken(t.Context(), secret.NewText("t")), http.MethodGet, s.URL, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	response, err := (&transport{way: way}).RoundTrip(asked)
	if err != nil {
		t.Fatal(err)
	}
	_ = response.Body.Close()
	if got != "t" || len(asked.Header) > 0 {
		t.Errorf("sent is token %q, and the caller's request has %v", got, asked.Header)
	}
}

// A value is a string in quotes, without signs that stand for others.
func TestPlainStrings(t *testing.T) {
	for text, want := range map[string]string{`"ab"`: "ab", `""`: "", `"`: "none", "": "none", `ab"`: "none", `"a\\"`: "none", "7": "none"} {
		var p plain
		got := "none"
		if err := p.UnmarshalJSON([]byte(text)); err == nil {
			got = string(p)
		} else if !errors.Is(err, secret.ErrCorrupt) {
			t.Errorf("%s: %v", text, err)
		}
		if got != want {
			t.Errorf("%s is read as %q, want %q", text, got, want)
		}
	}
}

// Addresses, paths and options, each at its last good value and beyond.
func TestOptionsAtTheEdge(t *testing.T) {
	for address, want := range map[string]string{
		"https://v": "https://v:443", "https://v/": "https://v:443", "https://v:8200": "https://v:8200", "http://127.0.0.1": "http://127.0.0.1:80", "https://[::1]": "https://[::1]:443", "://": "", "https://": "", "https://:8200": "", "http://v": "",
		"ftp://127.0.0.1": "", "https://u@v": "", "https://v?a": "", "https://v#a": "", "https://v/a": "",
	} {
		got := ""
		if u, err := parseAddress(address); err == nil {
			got = u.String()
		}
		if got != want {
			t.Errorf("%s is read as %q, want %q", address, got, want)
		}
	}
	for text, want := range map[string]string{"https://v:1": "v:1", "https://v": "v:443", "http://v": "v:80", "http://[::1]": "[::1]:80"} {
		u, err := url.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		if got := hostPort(u); got != want {
			t.Errorf("%s is at %s, want %s", text, got, want)
		}
	}
	good := Options{Address: "https://v", Auth: Auth{TokenFile: "f"}}
	for name, c := range map[string]struct {
		change func(*Options)
		ok     bool
	}{
		"as they are": {func(*Options) {}, true}, "a timeout": {func(o *Options) { o.Timeout = 1 }, true}, "a timeout below": {func(o *Options) { o.Timeout = -1 }, false},
		"a long path": {func(o *Options) { o.Path = strings.Repeat("a", maxPath) }, true}, "a longer path": {func(o *Options) { o.Path = strings.Repeat("a", maxPath+1) }, false}, "dots": {func(o *Options) { o.Path = "a/." }, false},
		"authorities": {func(o *Options) { o.CACert = "x" }, true}, "a file of them": {func(o *Options) { o.CAFile = "x" }, true}, "both": {func(o *Options) { o.CACert, o.CAFile = "x", "x" }, false},
		"an AppRole": {func(o *Options) { o.Auth = Auth{AppRole: &AppRole{RoleID: "r", SecretIDFile: "f"}} }, true}, "a JWT": {func(o *Options) { o.Auth = Auth{JWT: &JWT{Role: "r", TokenFile: "f"}} }, true},
		"a JWT without role": {func(o *Options) { o.Auth = Auth{JWT: &JWT{TokenFile: "f"}} }, false}, "a JWT without file": {func(o *Options) { o.Auth = Auth{JWT: &JWT{Role: "r"}} }, false},
		"an AppRole without id": {func(o *Options) { o.Auth = Auth{AppRole: &AppRole{SecretIDFile: "f"}} }, false}, "an AppRole without file": {func(o *Options) { o.Auth = Auth{AppRole: &AppRole{RoleID: "r"}} }, false},
		"no login": {func(o *Options) { o.Auth = Auth{} }, false}, "a namespace": {func(o *Options) { o.Namespace = "a/b" }, true}, "an odd namespace": {func(o *Options) { o.Namespace = "a//b" }, false}, "an odd mount": {func(o *Options) { o.Mount = "a b" }, false},
		"a peer": {func(o *Options) { o.Peers = []string{"https://w"} }, true}, "an odd peer": {func(o *Options) { o.Peers = []string{"http://w"} }, false},
		"two peers": {func(o *Options) { o.Peers = []string{"https://w", "https://x"} }, true}, "an odd second peer": {func(o *Options) { o.Peers = []string{"https://w", "http://x"} }, false},
	} {
		o := good
		c.change(&o)
		if err := o.Validate(); err == nil != c.ok {
			t.Errorf("%s: %v", name, err)
		}
	}
	theirs := Options{Address: "https://v", Auth: Auth{JWT: &JWT{Role: "r", TokenFile: "f"}}}
	if filled, err := theirs.withDefaults(); err != nil || *theirs.Auth.JWT != (JWT{Role: "r", TokenFile: "f"}) || filled.Auth.JWT.MountPath == "" {
		t.Errorf("the options of the caller are %+v, filled in %+v, %v", *theirs.Auth.JWT, *filled.Auth.JWT, err)
	}
	theirs.Auth = Auth{AppRole: &AppRole{RoleID: "r", SecretIDFile: "f"}}
	if filled, err := theirs.withDefaults(); err != nil || *theirs.Auth.AppRole != (AppRole{RoleID: "r", SecretIDFile: "f"}) || filled.Auth.AppRole.MountPath == "" {
		t.Errorf("the options of the caller are %+v, filled in %+v, %v", *theirs.Auth.AppRole, *filled.Auth.AppRole, err)
	}
	for d, around := range map[time.Duration]time.Duration{9: 0, 10: 1, time.Hour: 6 * time.Minute} {
		for range 20 {
			if got := jitter(d); got < d-around || got > d+around || around == 0 && got != d {
				t.Errorf("%v comes to %v", d, got)
			}
		}
	}
	drawn := map[time.Duration]bool{}
	for range 100 {
		drawn[jitter(10)] = true
	}
	if len(drawn) != 2 {
		t.Errorf("ten comes to %v, want that it differs", drawn)
	}
	file := filepath.Join(t.TempDir(), "f")
	for size, ok := range map[int]bool{maxCredential: true, maxCredential + 1: false} {
		if err := os.WriteFile(file, []byte(" "+strings.Repeat("x", size-2)+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		if text, err := readCredential(file); err == nil != ok || ok && len(text.Reveal()) != size-2 {
			t.Errorf("a credential of %d bytes: %v", size, err)
		}
	}
	if runtime.GOOS == "linux" { // its first bytes are no memory, which is a fault of the machine
		if text, err := readCredential("/proc/self/mem"); err == nil || !text.Empty() {
			t.Errorf("a file that cannot be read is a credential: %v", err)
		}
	}
	for _, none := range []string{filepath.Dir(file), os.DevNull} {
		if _, err := readCredential(none); err == nil || !strings.Contains(err.Error(), "not a file of a credential") {
			t.Errorf("%s is a credential: %v", none, err)
		}
	}
}
