package sol013

import (
	"cmp"
	"errors"
	"mime"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/vimbroker/vimbroker/broker/api"
	v1 "github.com/vimbroker/vimbroker/broker/api/v1"
	"github.com/vimbroker/vimbroker/policy/audit"
)

// API is one of ETSI's REST APIs.
type API struct {
	// Name is the first segment of its paths: "vnfpkgm".
	Name string
	// Majors are the major versions that are served, the newest first.
	Majors []Major
	// Contents are the last segments of paths whose answers are contents, in forms of their own, and no JSON.
	Contents []string
}

// Major is one major version of an API.
type Major struct {
	// Path is the prefix of its resources' paths: "/vnfpkgm/v2".
	Path string
	// Versions are those that the header Version may name. The last one is answered where
	// no header is needed.
	Versions []string
	// Lenient: the header Version is ignored, as by servers older than SOL013 2.6.
	Lenient bool
	// Older gives a request without the header Version the version of SOL003 that its form shows, and
	// may put its body into the standard's form. Empty, and nil: the header is required.
	Older func(c *api.Call) (version string)
}

var (
	errVersion = errors.New("version not supported")
	// ErrNotAcceptable: no form that the header Accept names can be had.
	ErrNotAcceptable = errors.New("not acceptable")
	// ErrRange: the header Range names no part of a content.
	ErrRange = errors.New("range not satisfiable")
	// errNotImplemented: the standard has the operation, and this server does not.
	errNotImplemented = errors.New("not implemented")
)

// Kinds are those that doors of SOL013 have besides the common ones.
var Kinds = []api.ErrorKind{
	{
		Err: errVersion, Status: http.StatusNotAcceptable, Name: "version", Title: "version not supported",
		Help: "The header Version names no version that is served. GET api_versions lists those that are.",
	}, {
		Err: ErrNotAcceptable, Status: http.StatusNotAcceptable, Name: "not-acceptable", Title: "not acceptable",
		Help: "The header Accept excludes every form that the answer has. detail names one.",
	}, {
		Err: ErrRange, Status: http.StatusRequestedRangeNotSatisfiable, Name: "range", Title: "range not satisfiable",
		Help: "The header Range names no part of the content. Ask without it, or for a part within its size.",
	}, {
		Err: errNotImplemented, Status: http.StatusNotImplemented, Name: "not-implemented", Title: "not implemented",
		Help: "The standard has the operation, and this broker does not.",
	},
}

// versionHeader is the header that names a version (SOL013 clause 9.3.2).
const versionHeader = "Version"

// Door makes the door of an API from its operations. Their paths follow that of the major
// version, and each is served under all of them; a status of zero is 200. Beside them the
// door serves api_versions (SOL013 clause 9.3.3).
func Door(a API, operations ...api.Route) api.Door {
	d := api.Door{
		Name:     audit.Door(a.Name),
		Paths:    []string{"/" + a.Name + "/"},
		Private:  "/" + a.Name + "/",
		Tolerant: true, // of query parameters: those of optional features are ignored
		Kinds:    Kinds,
		Next:     api.RESTNext,
		Refuse:   a.refuse,
	}
	for _, m := range a.Majors {
		for _, op := range operations {
			op.Path = m.Path + op.Path
			op.Status = cmp.Or(op.Status, http.StatusOK)
			if !m.Lenient {
				op.Header = append(slices.Clone(op.Header), api.Parameter{Name: versionHeader, Required: m.Older == nil, Kind: api.ErrMalformed})
			}
			if !m.Lenient && !slices.ContainsFunc(a.Contents, func(end string) bool { return strings.HasSuffix(op.Path, "/"+end) }) {
				op.Handle = inJSON(op.Handle)
			}
			op.Handle = m.versioned(marked(op.Handle))
			d.Routes = append(d.Routes, op)
		}
		d.Routes = append(d.Routes, versions(m.Path+"/api_versions", m.Path, m))
	}
	d.Routes = append(d.Routes, versions("/"+a.Name+"/api_versions", "/"+a.Name, a.Majors...))
	return d
}

// quick is how long an answer without any work may take.
const quick = 10 * time.Second

// versions is the resource that lists the versions of an API.
func versions(path, prefix string, majors ...Major) api.Route {
	type version struct {
		Version    string `json:"version"`
		Deprecated bool   `json:"isDeprecated"`
	}
	list := struct {
		Prefix   string    `json:"uriPrefix"`
		Versions []version `json:"apiVersions"`
	}{Prefix: prefix}
	for _, m := range majors {
		for _, v := range m.Versions {
			list.Versions = append(list.Versions, version{Version: v})
		}
	}
	return api.Route{
		Method: "GET", Path: path, Timeout: quick, Status: http.StatusOK,
		Handle: func(*api.Call) (api.Answer, error) {
			return api.Answer{Header: http.Header{versionHeader: {majors[0].last()}}, Body: list}, nil
		},
	}
}

// Version is the version that the header of a request names. A header may also name an
// implementation: "2.1.0-impl:example.com:1".
func Version(c *api.Call) string {
	asked, _, _ := strings.Cut(c.Header.Get(versionHeader), "-impl:")
	return asked
}

func (m Major) last() string { return m.Versions[len(m.Versions)-1] }

// versioned checks the header of a request and sets that of the answer.
func (m Major) versioned(handle func(*api.Call) (api.Answer, error)) func(*api.Call) (api.Answer, error) {
	return func(c *api.Call) (api.Answer, error) {
		version := m.last()
		if !m.Lenient {
			if m.Older != nil && c.Header.Get(versionHeader) == "" {
				c.Header.Set(versionHeader, m.Older(c))
			}
			asked := Version(c)
			if asked == "" {
				return api.Answer{}, api.Refuse(api.ErrMalformed, "header", versionHeader, "is required")
			}
			if !slices.Contains(m.Versions, asked) {
				return api.Answer{}, api.Refuse(errVersion, "header", versionHeader, "must be "+strings.Join(m.Versions, " or "))
			}
			version = asked
		}
		a, err := handle(c)
		if a.Header == nil {
			a.Header = http.Header{}
		}
		a.Header.Set(versionHeader, version)
		return a, err
	}
}

// inJSON refuses a request whose header Accept excludes JSON (SOL013 clause 4.2).
func inJSON(handle func(*api.Call) (api.Answer, error)) func(*api.Call) (api.Answer, error) {
	return func(c *api.Call) (api.Answer, error) {
		const form = "application/json"
		if !Accepts(c, form) {
			return api.Answer{}, &api.Refusal{Kind: ErrNotAcceptable, Detail: "the answer is JSON: accept " + form}
		}
		return handle(c)
	}
}

// Accepts reports whether a call's header Accept names a media type, or a range that has it. Without one it accepts all.
func Accepts(c *api.Call, kind string) bool {
	given := strings.Join(c.Header.Values("Accept"), ",")
	group, _, _ := strings.Cut(kind, "/")
	for _, item := range strings.Split(given, ",") {
		named, params, err := mime.ParseMediaType(item)
		if err == nil && (named == kind || named == "*/*" || named == group+"/*") && params["q"] != "0" {
			return true
		}
	}
	return strings.TrimSpace(given) == ""
}

// major is the version that a path leads to, or the newest for other paths: then it is not named.
func (a API) major(path string) (is Major, named bool) {
	for _, m := range a.Majors {
		if strings.HasPrefix(path, m.Path+"/") {
			return m, true
		}
	}
	return a.Majors[0], false
}

// refuse puts a refusal into problem details (SOL013 clause 6.3), with members of our own.
func (a API) refuse(r *http.Request, p api.Problem) api.Answer {
	body := v1.Problem{
		Type: api.TypePrefix + p.Name, Title: p.Title, Status: p.Status, Detail: p.Detail,
		Remedy:    p.RESTRemedy(),
		RequestID: p.RequestID, Instance: "urn:vimbroker:request:" + p.RequestID,
	}
	major, named := a.major(r.URL.Path)
	if p.Status == http.StatusNotFound && !named {
		body.Remedy = "ask for " + major.Path + ", with the header " + versionHeader + ": " + major.last()
	}
	var words []string
	for _, f := range p.Faults {
		body.Errors = append(body.Errors, v1.Fault{Location: f.Location, Field: f.Field, Message: f.Message})
		words = append(words, f.Sentence())
	}
	if body.Detail == "" { // which the standard demands
		body.Detail = cmp.Or(strings.Join(words, "; "), p.Title)
		body.Errors = nil
	}
	return api.Answer{
		Header: http.Header{"Content-Type": {v1.ProblemType}, "Link": {p.Link()}, versionHeader: {major.last()}}, Body: body,
	}
}

// URL is the absolute URI of a path of this server, as the caller reaches it.
func URL(c *api.Call, path string) string {
	scheme := "http"
	if c.TLS != nil {
		scheme = "https"
	}
	return scheme + "://" + c.Host + path
}
