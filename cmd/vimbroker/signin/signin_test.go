package signin

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/oauth2"

	"github.com/vimbroker/vimbroker/broker/secret"
	"github.com/vimbroker/vimbroker/test/fake"
)

var noon = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)

// text is the text of an error, or none.
func text(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

// token is one that nobody signed, with these claims.
func token(claims string) string {
	return "h." + base64.RawURLEncoding.EncodeToString([]byte(claims)) + ".s"
}

// good is a token for the audience "broker" that ends an hour after noon.
var good = token(fmt.Sprintf(`{"aud":"broker","exp":%d}`, noon.Add(time.Hour).Unix()))

// issuer is one whose document and answers a test says.
type issuer struct {
	*fake.Server
	document map[string]any
	// answers are by path; what is not there is 404.
	answers map[string]http.HandlerFunc
	forms   map[string]url.Values
}

// newIssuer has every endpoint.
func newIssuer(t *testing.T) *issuer {
	t.Helper()
	i := &issuer{answers: map[string]http.HandlerFunc{}, forms: map[string]url.Values{}}
	i.Server = fake.NewPlain(t, func(w http.ResponseWriter, r *http.Request) {
		_ = r.ParseForm()
		i.forms[r.URL.Path] = r.PostForm
		if answer := i.answers[r.URL.Path]; answer != nil {
			answer(w, r)
			return
		}
		if r.URL.Path == "/.well-known/openid-configuration" {
			fake.Say(w, http.StatusOK, i.document)
			return
		}
		http.NotFound(w, r)
	})
	i.document = map[string]any{
		"issuer": i.URL, "authorization_endpoint": i.URL + "/auth", "token_endpoint": i.URL + "/token",
		"device_authorization_endpoint": i.URL + "/device", "revocation_endpoint": i.URL + "/revoke", "scopes_supported": []string{"email", "offline_access"},
	}
	return i
}

func (i *issuer) client() Issuer { return Issuer{URL: i.URL, ClientID: "cli", Audience: "broker"} }

// says answers with JSON.
func says(status int, body any) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) { fake.Say(w, status, body) }
}

// drops breaks the connection.
func drops(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }

// An issuer's document names itself, a place for tokens, and nothing that would send them in the clear.
func TestAnIssuerDescribesItself(t *testing.T) {
	for name, test := range map[string]struct {
		change func(i *issuer)
		want   string
	}{
		"well":                {func(*issuer) {}, ""},
		"with few endpoints":  {func(i *issuer) { i.document = map[string]any{"issuer": i.URL, "token_endpoint": "https://id/token"} }, ""},
		"as another":          {func(i *issuer) { i.document["issuer"] = i.URL + "/" }, "ISSUER does not describe itself as an issuer of that name"},
		"without tokens":      {func(i *issuer) { delete(i.document, "token_endpoint") }, "ISSUER does not describe itself as an issuer of that name"},
		"in another form":     {func(i *issuer) { i.document["scopes_supported"] = "all" }, "ISSUER does not describe itself as an issuer of that name"},
		"tokens in the clear": {func(i *issuer) { i.document["token_endpoint"] = "http://id.example/token" }, "ISSUER has an endpoint that is not https"},
		"logins in the clear": {func(i *issuer) { i.document["authorization_endpoint"] = "http://id.example/a" }, "ISSUER has an endpoint that is not https"},
		"codes in the clear":  {func(i *issuer) { i.document["device_authorization_endpoint"] = "http://id.example/d" }, "ISSUER has an endpoint that is not https"},
		"ends in the clear":   {func(i *issuer) { i.document["revocation_endpoint"] = "http://id.example/r" }, "ISSUER has an endpoint that is not https"},
		"not at all":          {func(i *issuer) { i.answers["/.well-known/openid-configuration"] = says(http.StatusTeapot, nil) }, "HOST answers 418"},
		"by another": {func(i *issuer) {
			i.answers["/.well-known/openid-configuration"] = http.RedirectHandler("http://127.0.0.1:1/", http.StatusFound).ServeHTTP
		}, "HOST answers 302"},
		"by hanging up": {func(i *issuer) { i.answers["/.well-known/openid-configuration"] = drops }, "HOST does not answer: EOF"},
		"by half": {func(i *issuer) {
			i.answers["/.well-known/openid-configuration"] = func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Length", "100")
				_, _ = w.Write([]byte("{"))
			}
		}, "the answer of HOST breaks off"},
	} {
		i := newIssuer(t)
		test.change(i)
		want := strings.NewReplacer("ISSUER", i.URL, "HOST", strings.TrimPrefix(i.URL, "http://")).Replace(test.want)
		if _, err := i.client().discover(t.Context()); text(err) != want {
			t.Errorf("%s: %v, want %q", name, err, want)
		}
		calls := map[string]func() error{
			"browser": func() error {
				_, err := i.client().Code(t.Context(), func(string) error { return errors.New("shown") })
				return err
			},
			"device": func() error {
				_, err := i.client().Device(t.Context(), func(string, string) error { return errors.New("shown") })
				return err
			},
			"refresh": func() error { _, err := i.client().Refresh(t.Context(), Kept{Refresh: "r"}); return err },
			"revoke":  func() error { return i.client().Revoke(t.Context(), Kept{Refresh: "r"}) },
		}
		for what, call := range calls {
			if err := call(); want != "" && text(err) != want {
				t.Errorf("%s, %s: %v, want %q", name, what, err, want)
			}
		}
	}
}

// A document is read where the issuer's URL ends in a slash, too; a proxy of the person's own may be the client.
func TestAnIssuerMayEndInASlash(t *testing.T) {
	i := newIssuer(t)
	i.document["issuer"] = i.URL + "/"
	c := i.client()
	c.URL += "/"
	c.HTTP = &http.Client{}
	if _, err := c.discover(t.Context()); err != nil || i.Count(http.MethodGet, "/.well-known/openid-configuration") != 1 {
		t.Error(err)
	}
	if c.client() != c.HTTP {
		t.Error("another client is taken than the one that is given")
	}
}

// Tokens go over https, or stay on this machine.
func TestTokensGoOverHTTPS(t *testing.T) {
	for at, want := range map[string]bool{
		"https://id.example/t": true, "https://id.example:8443": true, "http://localhost:1/t": true, "http://127.0.0.1:1/t": true, "http://[::1]/t": true,
		"http://id.example/t": false, "http://localhost.example/t": false, "ftp://localhost/t": false, "ftp://id.example": false, "https:///t": false, "https://:443/t": false,
		"id.example": false, "": false, "https://id\x7f": false, "http://%zz": false,
	} {
		if safe(at) != want {
			t.Errorf("safe(%q) = %t", at, !want)
		}
		if want {
			continue
		}
		if _, err := get(t.Context(), http.DefaultClient, at, nil); !strings.HasSuffix(text(err), " is no https URL") {
			t.Errorf("%q is asked: %v", at, err)
		}
	}
}

// An error of the network is told without its URL, which may hold a code.
func TestAnErrorIsToldWithoutItsURL(t *testing.T) {
	broken := errors.New("it broke")
	for _, err := range []error{broken, &url.Error{Op: "Get", URL: "https://id/?code=secret", Err: broken}, fmt.Errorf("so: %w", &url.Error{URL: "secret", Err: broken})} {
		if got := plain(err); got != broken { //nolint:errorlint // it is taken out
			t.Errorf("plain(%v) = %v", err, got)
		}
	}
}

// A token is fresh for as long as it lives a minute more.
func TestATokenIsFreshUntilAMinuteBeforeItsEnd(t *testing.T) {
	for left, want := range map[time.Duration]bool{time.Minute + 1: true, time.Minute: false, -time.Hour: false} {
		if got := (Kept{Token: "t", ExpiresAt: noon.Add(left)}).Fresh(noon); got != want {
			t.Errorf("with %v left: %t", left, got)
		}
	}
	if (Kept{ExpiresAt: noon.Add(time.Hour)}).Fresh(noon) {
		t.Error("no token is fresh")
	}
}

// The token that is for the audience is taken: the access token, or else the ID token.
func TestTheTokenForTheAudienceIsTaken(t *testing.T) {
	const ends = 1700000000
	forBroker := token(`{"aud":"broker","exp":1700000000.5}`)
	forMany := token(`{"aud":["other","broker"],"exp":1700000000}`)
	for name, test := range map[string]struct {
		access, id string
		want       string
	}{
		"access":          {forBroker, forMany, forBroker},
		"of many":         {forMany, "", forMany},
		"ID":              {token(`{"aud":"other"}`), forBroker, forBroker},
		"ID beside none":  {"opaque", forBroker, forBroker},
		"of others":       {token(`{"aud":["other"]}`), token(`{"aud":"other"}`), ""},
		"of two parts":    {strings.TrimSuffix(forBroker, ".s"), "", ""},
		"of four parts":   {forBroker + ".x", "", ""},
		"no base64":       {"h.*.s", "", ""},
		"broken base64":   {"h." + base64.RawURLEncoding.EncodeToString([]byte(`{"aud":"broker"}`)) + "*.s", "", ""},
		"no JSON":         {token(`{"aud":"broker"`), "", ""},
		"other claims":    {token(`{"aud":"broker","exp":"soon"}`), "", ""},
		"no audience":     {token(`{}`), "", ""},
		"a part of a one": {token(`{"aud":"brokers"}`), "", ""},
	} {
		f := flow{Issuer: Issuer{URL: "https://id", Audience: "broker"}}
		t2 := (&oauth2.Token{AccessToken: test.access, RefreshToken: "r2"}).WithExtra(map[string]any{"id_token": test.id})
		got, err := f.login(t2, Kept{Refresh: "r1"})
		if got.Token != test.want || got.Refresh != "r2" || (err == nil) != (test.want != "") || err == nil && got.ExpiresAt.Unix() != ends {
			t.Errorf("%s: %+v, %v; want %q", name, got, err, test.want)
		}
		if err != nil && !strings.HasPrefix(err.Error(), `https://id gave no token for the audience "broker", which the server wants`) {
			t.Errorf("%s: %v", name, err)
		}
		t2.RefreshToken = ""
		if got, _ := f.login(t2, Kept{Refresh: "r1"}); got.Refresh != "r1" {
			t.Errorf("%s: the refresh token is %q, want that of before", name, got.Refresh)
		}
	}
	if _, err := (flow{Issuer: Issuer{}}).login(&oauth2.Token{AccessToken: forBroker}, Kept{}); err == nil {
		t.Error("a token for another audience than none is taken")
	}
}

// A login is refreshed with its refresh token; refused, it has ended, and unanswered it has not.
func TestALoginIsRefreshed(t *testing.T) {
	i := newIssuer(t)
	i.answers["/token"] = says(http.StatusOK, map[string]any{"access_token": good, "token_type": "Bearer"})
	got, err := i.client().Refresh(t.Context(), Kept{Token: "old", Refresh: "r1"})
	if err != nil || got != (Kept{Token: good, Refresh: "r1", ExpiresAt: time.Unix(noon.Add(time.Hour).Unix(), 0)}) {
		t.Errorf("%+v, %v", got, err)
	}
	if form := i.forms["/token"]; form.Get("grant_type") != "refresh_token" || form.Get("refresh_token") != "r1" || form.Get("client_id") != "cli" {
		t.Errorf("asked %v", form)
	}
	old := Kept{Token: "old", Refresh: "r1"}
	i.answers["/token"] = says(http.StatusBadRequest, map[string]any{"error": "invalid_grant"})
	if got, err := i.client().Refresh(t.Context(), old); got != old || !errors.Is(err, errAgain) {
		t.Errorf("refused: %+v, %v", got, err)
	}
	i.answers["/token"] = drops
	if got, err := i.client().Refresh(t.Context(), old); got != old || text(err) != i.URL+" does not answer: EOF" {
		t.Errorf("unanswered: %+v, %v", got, err)
	}
	i.answers["/token"] = says(http.StatusOK, map[string]any{"access_token": token(`{"aud":"other"}`), "token_type": "Bearer", "refresh_token": "r2"})
	if got, err := i.client().Refresh(t.Context(), old); got != (Kept{Refresh: "r2"}) || err == nil {
		t.Errorf("for another: %+v, %v", got, err)
	}
	i.Requests() // which forgets them
	if got, err := i.client().Refresh(t.Context(), Kept{Token: "old"}); got.Token != "old" || !errors.Is(err, errAgain) || len(i.Requests()) != 0 {
		t.Errorf("without a refresh token: %+v, %v", got, err)
	}
}

// A login is ended at an issuer that can, and an answer other than OK is an error.
func TestALoginIsEndedAtItsIssuer(t *testing.T) {
	for name, test := range map[string]struct {
		answer http.HandlerFunc
		want   string
	}{
		"well":     {says(http.StatusOK, nil), ""},
		"refused":  {says(http.StatusBadRequest, nil), "ISSUER answers 400"},
		"unheard":  {drops, "ISSUER does not answer: EOF"},
		"not here": {nil, ""},
	} {
		i := newIssuer(t)
		i.answers["/revoke"] = test.answer
		if test.answer == nil {
			delete(i.document, "revocation_endpoint")
		}
		if err := i.client().Revoke(t.Context(), Kept{Refresh: "r1"}); text(err) != strings.ReplaceAll(test.want, "ISSUER", i.URL) {
			t.Errorf("%s: %v, want %q", name, err, test.want)
		}
		form := i.forms["/revoke"]
		if test.answer != nil && (form.Get("token") != "r1" || form.Get("token_type_hint") != "refresh_token" || form.Get("client_id") != "cli") {
			t.Errorf("%s: asked %v", name, form)
		}
		i.Requests() // which forgets them
		if err := i.client().Revoke(t.Context(), Kept{Token: "t"}); err != nil || len(i.Requests()) != 0 {
			t.Errorf("%s: without a refresh token: %v", name, err)
		}
	}
}

// The scopes are those of the context, or openid, with the one for refresh tokens where the issuer has it.
func TestScopesAreThoseOfTheContextOrTheLeast(t *testing.T) {
	for _, test := range []struct {
		scopes    []string
		supported any
		want      string
	}{
		{nil, []string{"email", "offline_access"}, "openid offline_access"},
		{nil, []string{"email"}, "openid"},
		{nil, nil, "openid"},
		{[]string{"a", "b"}, []string{"offline_access"}, "a b"},
	} {
		i := newIssuer(t)
		i.document["scopes_supported"] = test.supported
		c := i.client()
		c.Scopes = test.scopes
		f, _, err := c.begin(t.Context())
		if got := strings.Join(f.config.Scopes, " "); err != nil || got != test.want {
			t.Errorf("%q of %v: %q, %v; want %q", test.scopes, test.supported, got, err, test.want)
		}
	}
}

// browse is a person's browser that follows the URL and comes back with this query behind the state.
func browse(t *testing.T, query string, status *int) func(string) error {
	t.Helper()
	return func(at string) error {
		u, err := url.Parse(at)
		if err != nil {
			return err
		}
		q := u.Query()
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, q.Get("redirect_uri")+"?state="+q.Get("state")+query, http.NoBody)
		if err != nil {
			return err
		}
		answer, err := http.DefaultClient.Do(r)
		if err != nil {
			return err
		}
		*status = answer.StatusCode
		return answer.Body.Close()
	}
}

// A login by a browser brings a token, or says what came in its place.
func TestALoginByABrowser(t *testing.T) {
	tokens := says(http.StatusOK, map[string]any{"access_token": good, "token_type": "Bearer", "refresh_token": "r1"})
	for name, test := range map[string]struct {
		query  string
		answer http.HandlerFunc
		want   string
	}{
		"well":                {"&code=c1", tokens, ""},
		"of the issuer":       {"&code=c1&iss=ISSUER", tokens, ""},
		"of another issuer":   {"&code=c1&iss=https://other", tokens, "another issuer answers than the one that was asked; log in again: vimbroker login"},
		"refused":             {"&error=access_denied&code=c1", tokens, "ISSUER refuses the login: access_denied"},
		"refused in words":    {"&error=Go+away", tokens, "ISSUER refuses the login: without a word"},
		"without a code":      {"", tokens, "the browser came back without a code; log in again: vimbroker login"},
		"a code that is used": {"&code=c1", says(http.StatusBadRequest, map[string]any{"error": "invalid_grant"}), "ISSUER refuses the login: invalid_grant"},
		"no answer":           {"&code=c1", drops, "ISSUER does not answer: EOF"},
		"for another":         {"&code=c1", says(http.StatusOK, map[string]any{"access_token": "opaque", "token_type": "Bearer"}), `ISSUER gave no token for the audience "broker"`},
	} {
		i := newIssuer(t)
		i.answers["/token"] = test.answer
		here := strings.NewReplacer("ISSUER", i.URL)
		var status int
		got, err := i.client().Code(t.Context(), browse(t, here.Replace(test.query), &status))
		if want := here.Replace(test.want); (err == nil) != (want == "") || !strings.HasPrefix(text(err), want) || status != http.StatusOK {
			t.Errorf("%s: %v, the browser sees %d; want %q", name, err, status, want)
		}
		if err == nil && got != (Kept{Token: good, Refresh: "r1", ExpiresAt: time.Unix(noon.Add(time.Hour).Unix(), 0)}) {
			t.Errorf("%s: %+v", name, got)
		}
		if form := i.forms["/token"]; err == nil && (form.Get("code") != "c1" || form.Get("code_verifier") == "" || form.Get("grant_type") != "authorization_code") {
			t.Errorf("%s: asked %v", name, form)
		}
	}
	i := newIssuer(t)
	broken := errors.New("no browser")
	if _, err := i.client().Code(t.Context(), func(string) error { return broken }); !errors.Is(err, broken) {
		t.Errorf("a browser that is not there: %v", err)
	}
	ctx, leave := context.WithCancel(t.Context())
	if _, err := i.client().Code(ctx, func(string) error { leave(); return nil }); text(err) != "nobody has logged in, and the wait is over; begin again: vimbroker login" {
		t.Errorf("a person who leaves: %v", err)
	}
	delete(i.document, "authorization_endpoint")
	if _, err := i.client().Code(t.Context(), nil); text(err) != i.URL+" has no login by browser; use --device" {
		t.Errorf("an issuer without a page: %v", err)
	}
}

// A callback counts once, at its path and with the state that was sent.
func TestACallbackCountsOnce(t *testing.T) {
	back := &callback{issuer: "https://id", state: "s1", came: make(chan came, 1)}
	call := func(at string) (int, string) {
		w := httptest.NewRecorder()
		back.ServeHTTP(w, httptest.NewRequest(http.MethodGet, at, http.NoBody))
		return w.Code, w.Header().Get("Cache-Control") + strings.TrimSpace(w.Body.String())
	}
	for _, test := range []struct {
		at     string
		status int
		want   string
	}{
		{"/callback?state=s2&code=c", http.StatusBadRequest, "This is not the login that was begun."},
		{"/callback?code=c", http.StatusBadRequest, "This is not the login that was begun."},
		{"/other?state=s1&code=c", http.StatusBadRequest, "This is not the login that was begun."},
		{"/callback?state=s1&code=c", http.StatusOK, "no-storeYou can close this window: vimbroker goes on in the terminal."},
		{"/callback?state=s1&code=d", http.StatusBadRequest, "The login was finished before."},
	} {
		if status, got := call(test.at); status != test.status || got != test.want {
			t.Errorf("%s: %d, %q; want %d, %q", test.at, status, got, test.status, test.want)
		}
	}
	if got := <-back.came; got.code != "c" || got.err != nil {
		t.Errorf("came %+v", got)
	}
}

// Only a word of OAuth is repeated of what an issuer says.
func TestOnlyAWordIsRepeated(t *testing.T) {
	for said, want := range map[string]string{
		"access_denied": "access_denied", "az": "az", "_": "_", strings.Repeat("a", 64): strings.Repeat("a", 64),
		strings.Repeat("a", 65): "", "": "", "A": "", "a b": "", "a`": "", "a{": "", "a\n": "", "é": "",
	} {
		if want == "" {
			want = "without a word"
		}
		if got := word(said); got != want {
			t.Errorf("word(%q) = %q, want %q", said, got, want)
		}
	}
}

// A login by a code on another machine shows where to go, and waits for the person.
func TestALoginByACode(t *testing.T) {
	device := map[string]any{"device_code": "d1", "user_code": "AB-CD", "verification_uri": "https://id/go", "expires_in": 600, "interval": 1}
	whole := map[string]any{"device_code": "d1", "user_code": "AB-CD", "verification_uri": "http://id/go", "verification_uri_complete": "https://id/go?AB-CD", "interval": 1}
	clear := map[string]any{"device_code": "d1", "user_code": "AB-CD", "verification_uri": "http://id.example/go"}
	tokens := says(http.StatusOK, map[string]any{"access_token": good, "token_type": "Bearer", "refresh_token": "r1"})
	for name, test := range map[string]struct {
		device, token http.HandlerFunc
		shown, want   string
	}{
		"well":             {says(http.StatusOK, device), tokens, "https://id/go AB-CD", ""},
		"with a whole URL": {says(http.StatusOK, whole), tokens, "https://id/go?AB-CD AB-CD", ""},
		"in the clear":     {says(http.StatusOK, clear), tokens, "", "ISSUER has a login that is not https"},
		"refused":          {says(http.StatusBadRequest, map[string]any{"error": "invalid_client"}), tokens, "", "ISSUER refuses the login: invalid_client"},
		"unanswered":       {drops, tokens, "", "ISSUER does not answer: EOF"},
		"a person who says no": {
			says(http.StatusOK, device), says(http.StatusBadRequest, map[string]any{"error": "access_denied"}), "https://id/go AB-CD", "ISSUER refuses the login: access_denied",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel() // the library waits a second before it asks
			i := newIssuer(t)
			i.answers["/device"], i.answers["/token"] = test.device, test.token
			shown := ""
			got, err := i.client().Device(t.Context(), func(address, code string) error {
				shown = address + " " + code
				return nil
			})
			if want := strings.ReplaceAll(test.want, "ISSUER", i.URL); text(err) != want || shown != test.shown {
				t.Errorf("%v, shown %q; want %q, %q", err, shown, want, test.shown)
			}
			if err == nil && (got.Token != good || got.Refresh != "r1") {
				t.Errorf("%+v", got)
			}
		})
	}
	i := newIssuer(t)
	i.answers["/device"] = says(http.StatusOK, device)
	broken := errors.New("no terminal")
	if _, err := i.client().Device(t.Context(), func(string, string) error { return broken }); !errors.Is(err, broken) {
		t.Errorf("what cannot be shown: %v", err)
	}
	delete(i.document, "device_authorization_endpoint")
	if _, err := i.client().Device(t.Context(), nil); text(err) != i.URL+" has no login by device code" {
		t.Errorf("an issuer without codes: %v", err)
	}
}

// A platform is one of some, or a file.
func TestAPlatformIsOneOfSome(t *testing.T) {
	for from, want := range map[string]bool{
		"github": true, "gitlab": true, "kubernetes": true, "file:/t": true, "file:": false, "file": false, "": false, "jenkins": false, "/t": false,
	} {
		err := CheckPlatform(from)
		if (err == nil) != want || !want && err.Error() != "--from must be github, gitlab, kubernetes or file:PATH" {
			t.Errorf("%q: %v", from, err)
		}
	}
}

// A platform's token is where the platform puts it, and is one word.
func TestAPlatformsTokenIsWhereThePlatformPutsIt(t *testing.T) {
	dir := t.TempDir()
	put := func(name, content string) string {
		t.Helper()
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	one, two, none := put("one", " jwt\n"), put("two", "a b"), put("none", "\n")
	for name, test := range map[string]struct {
		from, fails, want string
		env               map[string]string
	}{
		"a file":            {"file:" + one, "", "jwt", nil},
		"of two words":      {"file:" + two, two + " does not hold one token and nothing else", "", nil},
		"of none":           {"file:" + none, none + " does not hold one token and nothing else", "", nil},
		"not there":         {"file:" + dir + "/x", "reading the platform's token: open " + dir + "/x: no such file or directory", "", nil},
		"a pod's":           {"kubernetes", "", "jwt", map[string]string{EnvPodToken: one}},
		"a pod's by itself": {"kubernetes", "reading the platform's token: open " + podToken, "", nil},
		"a job's":           {"gitlab", "", "id", map[string]string{EnvIDToken: "id"}},
		"a job's that is not set": {
			"gitlab", "VIMBROKER_ID_TOKEN is not set: the job needs id_tokens: {VIMBROKER_ID_TOKEN: {aud: broker}}", "", nil,
		},
		"of nobody": {"jenkins", "--from must be github, gitlab, kubernetes or file:PATH", "", nil},
	} {
		got, err := Platform(t.Context(), test.from, "broker", func(key string) string { return test.env[key] })
		if got.Reveal() != test.want || (err == nil) != (test.fails == "") || !strings.HasPrefix(text(err), test.fails) {
			t.Errorf("%s: %q, %v; want %q, %q", name, got.Reveal(), err, test.want, test.fails)
		}
	}
}

// A job at GitHub asks the runner for a token of the audience.
func TestAJobAtGitHubAsksItsRunner(t *testing.T) {
	const lacks, denied = "the job gets no token of GitHub: it needs permissions: {id-token: write}", "GitHub gives no token; see that the job has permissions"
	runner := fake.NewPlain(t, func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.Header.Get("Authorization") != "Bearer runner":
			w.WriteHeader(http.StatusForbidden)
		case r.URL.Path == "/none":
			fake.Say(w, http.StatusOK, map[string]string{})
		case r.URL.Path == "/text":
			_, _ = w.Write([]byte(`{"value":"jwt"`))
		default:
			fake.Say(w, http.StatusOK, map[string]string{"value": "jwt of " + r.URL.RawQuery})
		}
	})
	for name, test := range map[string]struct{ at, bearer, want, fails string }{
		"well":            {runner.URL + "/t?v=2", "runner", "jwt of audience=broker&v=2", ""},
		"no URL":          {"", "runner", "", lacks},
		"a URL of no one": {"http://%zz", "runner", "", lacks},
		"no bearer":       {runner.URL + "/t", "", "", lacks},
		"another bearer":  {runner.URL + "/t", "other", "", strings.TrimPrefix(runner.URL, "http://") + " answers 403"},
		"no value":        {runner.URL + "/none", "runner", "", denied},
		"no JSON":         {runner.URL + "/text", "runner", "", denied},
	} {
		env := map[string]string{"ACTIONS_ID_TOKEN_REQUEST_URL": test.at, "ACTIONS_ID_TOKEN_REQUEST_TOKEN": test.bearer}
		got, err := Platform(t.Context(), "github", "broker", func(key string) string { return env[key] })
		if got.Reveal() != test.want || (err == nil) != (test.fails == "") || !strings.HasPrefix(text(err), test.fails) {
			t.Errorf("%s: %q, %v; want %q, %q", name, got.Reveal(), err, test.want, test.fails)
		}
	}
	bearer := secret.NewText("runner")
	if _, err := get(t.Context(), http.DefaultClient, runner.URL+"/none", &bearer); err != nil {
		t.Error(err)
	}
}

// A token is read whole, or not at all.
func TestWhatATokenSays(t *testing.T) {
	claims := base64.RawURLEncoding.EncodeToString([]byte(`{"aud":"ab"}`))
	for token, want := range map[string]bool{
		"h." + claims + ".s": true, "h." + claims + "!.s": false, "h." + claims: false, "h." + claims + ".s.t": false, "h." + claims[1:] + ".s": false,
	} {
		if said, ok := claimsOf(token); ok != want || ok && !said.isFor("ab") {
			t.Errorf("claimsOf(%s) = %+v, %v, want %v", token, said, ok, want)
		}
	}
}
