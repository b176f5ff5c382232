// Package web is the page for people's browsers, under /ui: HTML from the server, over the same domain methods as every
// other door. Without script everything can be read and done.
package web

import (
	"crypto/subtle"
	"html/template"
	"io/fs"
	"log/slog"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/broker/api"
	"github.com/vimbroker/vimbroker/policy"
	"github.com/vimbroker/vimbroker/policy/audit"
)

// Root is where the page begins.
const Root = "/ui"

// Options wire the door. Fields without a stated default are required.
type Options struct {
	Registry Registry
	Leaser   Leaser
	AuditLog AuditLog
	Overseer Overseer
	Clusters Clusters
	Clients  Clients
	Grants   Grants
	Sessions Sessions
	// Rooms are pages of other floors.
	Rooms []Room
	Log   *slog.Logger
	// Version is the program's.
	Version string
	// Now defaults to time.Now.
	Now func() time.Time
}

// Room is a set of pages about one thing.
type Room struct {
	// Nav is its word in the navigation, and Path where that leads, below /ui.
	Nav, Path string
	Addresses []Address
	Doings    []Doing
	// Pages are templates (*.html), and Words what they can say besides what all can; those of other floors.
	Pages fs.FS
	Words template.FuncMap
	// Needs are what needs somebody, for whoever may see VNFs; nil: nothing ever does.
	Needs func(*Visit) ([]Need, error)
}

// Address is one address.
type Address struct {
	// Path is below /ui, as [http.ServeMux] has it.
	Path string
	Show func(*Visit) (Screen, error)
	// Slow: VIMs are asked.
	Slow bool
}

// Doing is something that can be done: asked once, with GET, and done with POST.
type Doing struct {
	Path string
	Ask  func(*Visit) (Screen, error)
	// Do does it, and returns where the person is led.
	Do func(*Visit, url.Values) (string, error)
}

// Need is something that needs somebody.
type Need struct {
	// What names it and leads there; Why says what is wrong, and Since when.
	What  Cell
	Why   string
	Since time.Time
}

type server struct {
	Options
	rooms  []Room
	assets map[string]asset
	look
	templates func() (*template.Template, error)
}

const (
	readTime = 30 * time.Second
	actTime  = 2 * time.Minute
	maxForm  = 64 << 10
	formType = "application/x-www-form-urlencoded"
)

// Door returns the door.
func Door(o Options) api.Door {
	if o.Now == nil {
		o.Now = time.Now
	}
	s := &server{Options: o, look: look{Version: o.Version}}
	s.templates = sync.OnceValues(s.pages)
	s.loadAssets()
	s.rooms = slices.Concat([]Room{
		{Nav: "Overview", Addresses: []Address{{Path: "/{$}", Show: s.overview}}}, s.vims(), s.leases(),
	}, o.Rooms, []Room{s.clusters(), s.audit(), s.policies(), s.clients(), s.sessions()})
	d := api.Door{
		Name: audit.DoorPage, Paths: []string{Root, Root + "/"}, Tolerant: true, Next: next,
		MediaType: "text/html; charset=utf-8", Encode: s.encode, Refuse: s.refuse, Header: header,
	}
	for _, room := range s.rooms {
		for _, p := range room.Addresses {
			d.Routes = append(d.Routes, s.page(p))
		}
		for _, a := range room.Doings {
			d.Routes = append(d.Routes, s.page(Address{Path: a.Path, Show: a.Ask}), s.act(a))
		}
	}
	d.Routes = append(append(d.Routes, s.export()), s.entrances()...)
	return d
}

// next says where a next step is taken.
var next = map[broker.Next]string{
	broker.NextListVIMs: "see the VIMs", broker.NextListLeases: "see the leases",
	broker.NextSetDefault:        "name a VIM, or have a default one",
	broker.NextReplaceCredential: "give the VIM's credential again: vimbroker vim rotate",
	broker.NextCheckVIM:          "then check the VIM", broker.NextExplain: "ask an administrator, who sees why under Policies",
	broker.NextEndLeases: "revoke its leases first, or drain it", broker.NextEndUses: "terminate what stands on it first",
	broker.NextMigrate: "ask the broker's operator",
}

// header adds what every answer of the door has: nothing from elsewhere is loaded, run or framed, and nobody frames it.
func header(h http.Header, _ string) {
	h.Set("Content-Security-Policy", "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "+
		"form-action 'self'; frame-ancestors 'none'; base-uri 'none'")
	h.Set("X-Frame-Options", "DENY")
	h.Set("Referrer-Policy", "same-origin")
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
}

func (s *server) visit(c *api.Call) *Visit { return &Visit{Call: c, Now: s.Now(), may: s.may} }

// may asks policy as the person could, which nobody records.
func (s *server) may(v *Visit, action policy.Action, project string) bool {
	d, err := s.Overseer.Explain(v.Context(), v.Principal, policy.Request{
		Principal: v.Principal, Action: action, Resource: broker.InProject(project),
	})
	return err == nil && d.Allowed
}

// page is the route of a page.
func (s *server) page(p Address) api.Route {
	timeout := readTime
	if p.Slow {
		timeout = actTime
	}
	return api.Route{
		Method: "GET", Path: Root + p.Path, Identify: s.identify, Timeout: timeout, Status: http.StatusOK,
		Handle: func(c *api.Call) (api.Answer, error) {
			v := s.visit(c)
			view, err := p.Show(v)
			if err != nil {
				return api.Answer{}, err
			}
			return api.Answer{Body: s.frame(v, view)}, nil
		},
	}
}

// act is the route by which an act is done: from a form of a page of ours, in this session.
func (s *server) act(a Doing) api.Route {
	return api.Route{
		Method: "POST", Path: Root + a.Path, Identify: s.identify, Timeout: actTime, Status: http.StatusSeeOther,
		Body: api.Body{Limit: maxForm, Types: []string{formType}},
		Handle: func(c *api.Call) (api.Answer, error) {
			fields, err := s.ownForm(c)
			if err != nil {
				return api.Answer{}, err
			}
			to, err := a.Do(s.visit(c), fields)
			return api.Answer{Header: http.Header{"Location": {to}}}, err
		},
	}
}

// errForeign: a form that no page of ours sent.
var errForeign = &api.Refusal{
	Kind: broker.ErrDenied, Detail: "the form was not sent from this page, or from an earlier session",
	Remedy: "open the page again, and send it from there",
}

// sameOrigin refuses requests that other sites have a browser send.
func sameOrigin(r *http.Request) error {
	if r.Header.Get("Sec-Fetch-Site") == "" && r.Header.Get("Origin") == "" {
		return errForeign // every browser says one of them with a form
	}
	if new(http.CrossOriginProtection).Check(r) != nil {
		return errForeign
	}
	return nil
}

func (s *server) ownForm(c *api.Call) (url.Values, error) {
	if err := sameOrigin(c.Request); err != nil {
		return nil, err
	}
	fields, err := c.Fields()
	if err != nil {
		return nil, err
	}
	if subtle.ConstantTimeCompare([]byte(fields.Get(tokenField)), []byte(formToken(shown(c.Request)))) != 1 {
		return nil, errForeign
	}
	return fields, nil
}

// navigation are the links of the frame.
func (s *server) navigation(path string) (all []navLink) {
	for _, room := range s.rooms {
		if room.Nav == "" {
			continue
		}
		href := Root + "/" + room.Path
		all = append(all, navLink{
			Link: Link{room.Nav, href}, Current: path == href || room.Path != "" && strings.HasPrefix(path, href+"/"),
		})
	}
	return all
}

// problemView is a refusal.
type problemView struct {
	Title, Detail, Remedy, Request string
	Faults                         []string
}

// refuse shows a refusal, or the login where nobody is let in.
func (s *server) refuse(r *http.Request, p api.Problem) api.Answer {
	f := &frame{look: s.look, Now: s.Now(), Path: r.URL.Path}
	if p.Status == http.StatusUnauthorized {
		s.ask(f, r)
		return api.Answer{Body: f}
	}
	f.Nav = s.navigation(r.URL.Path)
	f.Problem = &problemView{Title: p.Title, Detail: p.Detail, Remedy: p.Remedy, Request: p.RequestID}
	for _, fault := range p.Faults {
		f.Problem.Faults = append(f.Problem.Faults, fault.Sentence())
	}
	f.Screen.Title = p.Title
	return api.Answer{Body: f}
}
