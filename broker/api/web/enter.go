package web

import (
	"net"
	"net/http"
	"net/url"
	"path"
	"strings"

	"github.com/vimbroker/vimbroker/broker/api"
	"github.com/vimbroker/vimbroker/broker/session"
	"github.com/vimbroker/vimbroker/policy"
)

const (
	sessionCookie = "vimbroker-session"
	loginCookie   = "vimbroker-login"
	// tokenField is the field of a form that only pages of the session have.
	tokenField = "form-token"
	// refreshing is the header of a page that refreshes itself: nobody does anything then.
	refreshing = "X-Vimbroker-Refresh"
)

// secure reports whether the browser speaks TLS: to this server, or to a proxy before it. Without it the server serves
// on loopback only, where the browser knows it by such a name.
func secure(r *http.Request) bool {
	host := r.Host
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	return r.TLS != nil || !(host == "localhost" || net.ParseIP(strings.Trim(host, "[]")).IsLoopback())
}

// cookie is one of this page's alone: no other site of the domain can set it.
func cookie(r *http.Request, name, value string, age int, site http.SameSite) string {
	c := http.Cookie{Name: name, Value: value, Path: "/", MaxAge: age, HttpOnly: true, SameSite: site} //nolint:gosec // Secure follows
	if secure(r) {
		c.Name, c.Secure = "__Host-"+name, true
	}
	return c.String()
}

// kept is the value of a cookie of this page's; empty if there is none.
func kept(r *http.Request, name string) string {
	if secure(r) {
		name = "__Host-" + name
	}
	all := r.CookiesNamed(name)
	if len(all) != 1 { // with two, one is somebody else's
		return ""
	}
	return all[0].Value
}

// shown is the secret of the session that a browser shows.
func shown(r *http.Request) string { return kept(r, sessionCookie) }

// formToken is what forms of a session have. Nobody makes it without the session's secret.
func formToken(secret string) string { return policy.Digest("form " + secret)[:32] }

// identify implements [api.Identify] by the session's cookie.
func (s *server) identify(r *http.Request) (policy.Principal, error) {
	secret := shown(r)
	if secret == "" {
		return policy.Principal{}, policy.ErrUnauthenticated
	}
	p, _, err := s.Sessions.Find(r.Context(), secret, r.Header.Get(refreshing) == "")
	return p, err
}

// local is an address of ours that a person came for; the overview if it is none.
func local(back string) string {
	u, err := url.Parse(back)
	if err != nil || u.Scheme != "" || u.Host != "" || u.User != nil || strings.ContainsAny(back, "\\\x00\r\n") ||
		!strings.HasPrefix(path.Clean(u.Path)+"/", Root+"/") || strings.HasPrefix(back, "//") {
		return Root + "/"
	}
	return u.RequestURI()
}

// loginView is the question who somebody is.
type loginView struct {
	Names []Link
	Back  string
	// Wrong: what was shown was not taken.
	Wrong bool
	// Again: the browser comes from elsewhere, and may not have sent the cookie. It asks itself once.
	Again string
}

// ask puts the login into a frame.
func (s *server) ask(f *frame, r *http.Request) {
	back := local(r.URL.RequestURI())
	from := r.Header.Get("Sec-Fetch-Site")
	if r.Method == http.MethodGet && (from == "cross-site" || from == "same-site") && shown(r) == "" {
		f.Screen.Title, f.Login = "One moment", &loginView{Again: back}
		return
	}
	f.Screen.Title, f.Login = "Log in", &loginView{Back: back}
	switch {
	case r.URL.Path == Root+"/login":
		f.Login.Back, f.Login.Wrong = Root+"/", true
		if v := local(r.PostForm.Get("back")); r.PostForm != nil {
			f.Login.Back = v
		}
	case strings.HasPrefix(r.URL.Path, Root+"/link/"), r.URL.Path == Root+"/callback":
		f.Login.Back, f.Login.Wrong = Root+"/", true
	}
	for _, name := range s.Sessions.Names() {
		f.Login.Names = append(f.Login.Names, Link{name, Here("login", name) + "?" + url.Values{"back": {f.Login.Back}}.Encode()})
	}
}

// entered is the answer to who was let in. A session always has a new secret.
func entered(r *http.Request, secret, back string) api.Answer {
	return api.Answer{Header: http.Header{
		"Location": {local(back)},
		"Set-Cookie": {
			cookie(r, sessionCookie, secret, int(session.Most.Seconds()), http.SameSiteStrictMode),
			cookie(r, loginCookie, "", -1, http.SameSiteLaxMode),
		},
	}}
}

// entrances are the routes that are open to those who are not let in.
func (s *server) entrances() []api.Route {
	open := api.Route{Identify: api.Anyone, Timeout: readTime, Status: http.StatusSeeOther}
	route := func(method, path string, login bool, handle func(*api.Call) (api.Answer, error)) api.Route {
		r := open
		r.Method, r.Path, r.Login, r.Handle = method, Root+path, login, handle
		if method == http.MethodPost {
			r.Body = api.Body{Limit: maxForm, Types: []string{formType}}
		}
		return r
	}
	asset := route("GET", "/assets/{name}", false, s.asset)
	asset.Lane, asset.Quiet, asset.Status = api.Free, true, http.StatusOK
	return []api.Route{
		asset,
		route("GET", "", false, func(*api.Call) (api.Answer, error) {
			return api.Answer{Header: http.Header{"Location": {Root + "/"}}}, nil
		}),
		route("POST", "/login", true, s.enterWithToken),
		route("GET", "/login/{name}", false, s.beginLogin),
		route("GET", "/callback", true, s.finishLogin),
		route("GET", "/link/{secret}", true, func(c *api.Call) (api.Answer, error) {
			secret, _, err := s.Sessions.EnterByLink(c.Context(), c.PathValue("secret"))
			return entered(c.Request, secret, ""), err
		}),
		route("POST", "/logout", false, s.logOut),
	}
}

func (s *server) enterWithToken(c *api.Call) (api.Answer, error) {
	if err := sameOrigin(c.Request); err != nil {
		return api.Answer{}, err
	}
	fields, err := c.Fields()
	if err != nil {
		return api.Answer{}, err
	}
	c.PostForm = url.Values{"back": {fields.Get("back")}} // for the login that is shown again
	secret, _, err := s.Sessions.EnterWithToken(c.Context(), strings.TrimSpace(fields.Get("token")))
	return entered(c.Request, secret, fields.Get("back")), err
}

func (s *server) beginLogin(c *api.Call) (api.Answer, error) {
	scheme := "http://"
	if secure(c.Request) {
		scheme = "https://"
	}
	at, kept, err := s.Sessions.BeginLogin(c.Context(), c.PathValue("name"), scheme+c.Host+Root+"/callback", local(c.Query.Get("back")))
	return api.Answer{Header: http.Header{
		"Location":   {at},
		"Set-Cookie": {cookie(c.Request, loginCookie, kept, int(session.LoginWithin.Seconds()), http.SameSiteLaxMode)},
	}}, err
}

func (s *server) finishLogin(c *api.Call) (api.Answer, error) {
	secret, _, back, err := s.Sessions.FinishLogin(c.Context(), kept(c.Request, loginCookie), c.Query)
	return entered(c.Request, secret, back), err
}

// logOut ends the session of the browser, if it has one.
func (s *server) logOut(c *api.Call) (api.Answer, error) {
	if _, err := s.ownForm(c); err != nil {
		return api.Answer{}, err
	}
	p, own, err := s.Sessions.Find(c.Context(), shown(c.Request), false)
	if err == nil {
		err = s.Sessions.End(c.Context(), p, own.ID)
	}
	return api.Answer{Header: http.Header{
		"Location":        {Root + "/"},
		"Set-Cookie":      {cookie(c.Request, sessionCookie, "", -1, http.SameSiteStrictMode)},
		"Clear-Site-Data": {`"cache"`},
	}}, err
}
