// Package onap is the API of ONAP's Kubernetes plugin (multicloud-k8s, "k8splugin"), below /onap: what SO's cnf-adapter,
// python-onapsdk and scripts of CDS ask for, over package bundle. docs/onap.md says where it differs.
package onap

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/broker/api"
	"github.com/vimbroker/vimbroker/broker/api/codec"
	"github.com/vimbroker/vimbroker/broker/secret"
	"github.com/vimbroker/vimbroker/lifecycle"
	"github.com/vimbroker/vimbroker/lifecycle/bundle"
	"github.com/vimbroker/vimbroker/policy"
	"github.com/vimbroker/vimbroker/policy/audit"
)

const (
	// maxBody bounds a body of JSON, maxContent one with an archive or a kubeconfig, in bytes.
	maxBody, maxContent = 256 << 10, 16 << 20
	// answerTime bounds an answer that waits for no operation.
	answerTime = time.Minute
)

// Options wire the door. Every field is required.
type Options struct {
	Bundles *bundle.Bundles
	// Ready says whether the server is; [broker.Oversight.Ready].
	Ready func() ([]broker.PartStatus, error)
	// Basic finds the caller who shows an id and a secret.
	Basic func(ctx context.Context, id, secret string) (policy.Principal, error)
	// Wait is how long a request waits for its operation.
	Wait time.Duration
	// Compat answers with the status codes of upstream's server, mostly 500, where others say more.
	Compat bool
}

type server struct {
	Options

	b *bundle.Bundles
}

var wire codec.Codec

// Door returns everything below /onap.
func Door(o Options) api.Door {
	s := &server{o, o.Bundles}
	return api.Door{
		Name: audit.DoorONAP, Paths: []string{"/onap/"}, Private: "/onap/", Basic: o.Basic, Tolerant: true, Kinds: kinds(o.Compat),
		Next: api.RESTNext, Refuse: refuse, Routes: s.routes(),
		Header: func(h http.Header, id string) { h.Set("X-Request-Id", id) },
	}
}

const (
	definition = "/v1/rb/definition/{name}/{version}"
	profile    = definition + "/profile"
	instance   = "/v1/instance/{id}"
)

// routes are the operations. The media type of a body is not looked at, as upstream.
func (s *server) routes() (all []api.Route) {
	b := s.b
	for operation, handle := range map[string]func(*api.Call) (any, error){
		"200 GET /v1/healthcheck":    func(*api.Call) (any, error) { return s.ready() },
		"201 POST /v1/rb/definition": named(ofDefinition, b.CreateDefinition),
		"200 GET /v1/rb/definition":  func(c *api.Call) (any, error) { return b.Definitions(c.Context(), c.Principal, "") },
		"200 GET /v1/rb/definition/{name}": func(c *api.Call) (any, error) {
			return b.Definitions(c.Context(), c.Principal, c.PathValue("name"))
		},
		"200 GET " + definition:                      func(c *api.Call) (any, error) { return b.Definition(c.Context(), c.Principal, at(c)) },
		"201 PUT " + definition:                      named(ofDefinition, b.UpdateDefinition),
		"204 DELETE " + definition:                   drops(b.DeleteDefinition),
		"200 POST " + definition + "/content":        content(b.UploadDefinition),
		"201 POST " + profile:                        named(ofProfile, b.CreateProfile),
		"200 GET " + profile:                         func(c *api.Call) (any, error) { return b.Profiles(c.Context(), c.Principal, at(c)) },
		"200 GET " + profile + "/{profile}":          func(c *api.Call) (any, error) { return b.Profile(c.Context(), c.Principal, at(c)) },
		"200 PUT " + profile + "/{profile}":          named(ofProfile, b.UpdateProfile),
		"204 DELETE " + profile + "/{profile}":       drops(b.DeleteProfile),
		"200 POST " + profile + "/{profile}/content": content(b.UploadProfile),
		"201 POST /v1/connectivity-info":             s.createRegion,
		"200 GET /v1/connectivity-info/{region}": func(c *api.Call) (any, error) {
			return b.Region(c.Context(), c.Principal, c.PathValue("region"))
		},
		"204 DELETE /v1/connectivity-info/{region}": func(c *api.Call) (any, error) {
			return nil, b.DeleteRegion(c.Context(), c.Principal, c.PathValue("region"))
		},
		"201 POST /v1/instance": takes(func(c *api.Call, in bundle.Request) (any, error) {
			return b.CreateInstance(c.Context(), c.Principal, in)
		}),
		"200 GET /v1/instance": s.instances,
		"200 GET " + instance:  s.instance,
		"202 DELETE " + instance: func(c *api.Call) (any, error) {
			return nil, b.DeleteInstance(c.Context(), c.Principal, c.PathValue("id"))
		},
		"201 POST " + instance + "/upgrade": takes(func(c *api.Call, in bundle.Request) (any, error) {
			return b.UpgradeInstance(c.Context(), c.Principal, c.PathValue("id"), in)
		}),
		"200 GET " + instance + "/status": s.status,
		"200 GET " + instance + "/query":  s.query,
		"200 GET /v1/query":               s.query,
	} {
		part := strings.Split(operation, " ")
		status, _ := strconv.Atoi(part[0])
		one := api.Route{
			Method: part[1], Path: "/onap" + part[2], Status: status, Timeout: answerTime, Quiet: part[2] == "/v1/healthcheck",
			Body: api.Body{Limit: maxBody, Optional: true},
			Handle: func(c *api.Call) (api.Answer, error) {
				body, err := handle(c)
				return api.Answer{Body: body}, err
			},
		}
		if strings.HasSuffix(one.Path, "/content") || strings.HasSuffix(one.Path, "/connectivity-info") {
			one.Body.Limit = maxContent
		}
		if strings.Contains(one.Path, "/instance") {
			one.Timeout += s.Wait
		}
		all = append(all, one)
	}
	return all
}

// at is the name that a path has for a definition, or for a profile of it.
func at(c *api.Call) string {
	of := c.PathValue("name") + "/" + c.PathValue("version")
	if c.PathValue("profile") != "" {
		of += "/" + c.PathValue("profile")
	}
	return of
}

func drops(drop func(ctx context.Context, p policy.Principal, of string) error) func(*api.Call) (any, error) {
	return func(c *api.Call) (any, error) { return nil, drop(c.Context(), c.Principal, at(c)) }
}

// content is an operation with an archive as its body.
func content(upload func(ctx context.Context, p policy.Principal, of string, content []byte) error) func(*api.Call) (any, error) {
	return func(c *api.Call) (any, error) {
		if len(c.Content) == 0 {
			return nil, empty()
		}
		return nil, upload(c.Context(), c.Principal, at(c), c.Content)
	}
}

// takes is an operation with a body of JSON. A value of another type is refused with 422, as upstream does.
func takes[I any](handle func(*api.Call, I) (any, error)) func(*api.Call) (any, error) {
	return func(c *api.Call) (any, error) {
		var in I
		if len(c.Content) == 0 {
			return nil, empty()
		}
		if err := wire.Tolerant(c.Content, &in); err != nil {
			return nil, err
		}
		return handle(c, in)
	}
}

func empty() error { return api.Refuse(api.ErrMalformed, "body", "", "is empty") }

// kinds are the rows that differ from the common ones. With compat they are upstream's.
func kinds(compat bool) []api.ErrorKind {
	own := []api.ErrorKind{{Err: lifecycle.ErrNotReady, Status: http.StatusGatewayTimeout, Name: "not-ready", Title: "not ready in time"}}
	if compat {
		own = append(own, api.ErrorKind{Err: broker.ErrNotFound, Status: http.StatusInternalServerError, Name: "not-found", Title: "not found"},
			api.ErrorKind{Err: broker.ErrExists, Status: http.StatusInternalServerError, Name: "exists", Title: "already exists"},
			api.ErrorKind{Err: broker.ErrConflict, Status: http.StatusInternalServerError, Name: "conflict", Title: "conflict"})
	}
	return own
}

// refuse is a refusal in upstream's form: a line of plain text, with the request's id.
func refuse(_ *http.Request, p api.Problem) api.Answer {
	said := []string{cmp.Or(p.Detail, p.Title, "refused")}
	if len(p.Faults) > 0 {
		said[0] = p.Faults[0].Sentence()
	}
	if remedy := p.RESTRemedy(); remedy != "" {
		said = append(said, remedy)
	}
	h := http.Header{"Content-Type": {"text/plain; charset=utf-8"}, "X-Content-Type-Options": {"nosniff"}}
	if errors.Is(p.Err, policy.ErrUnauthenticated) {
		h.Set("WWW-Authenticate", `Basic realm="vimbroker"`)
	}
	text := strings.Join(append(said, "request "+p.RequestID), "; ") + "\n"
	return api.Answer{Header: h, Serve: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(p.Status)
		_, _ = io.WriteString(w, text) // the caller may be gone
	})}
}

func (s *server) ready() (any, error) {
	_, err := s.Ready()
	return nil, err
}

// same fills in names of the path, which the body may repeat.
func same(c *api.Call, given map[string]*string) error {
	for part, name := range given {
		of := c.PathValue(part)
		if of != "" && *name != "" && *name != of {
			return api.Refuse(api.ErrMalformed, "body", part, "is not that of the path")
		}
		*name = cmp.Or(of, *name)
	}
	return nil
}

// named are the names that a body has, by those of the path.
func named[T any](names func(*T) map[string]*string, keep func(context.Context, policy.Principal, T) error) func(*api.Call) (any, error) {
	return takes(func(c *api.Call, in T) (any, error) {
		if err := same(c, names(&in)); err != nil {
			return nil, err
		}
		_ = names(&in) // what follows from them
		return in, keep(c.Context(), c.Principal, in)
	})
}

func ofDefinition(d *bundle.Definition) map[string]*string {
	return map[string]*string{"name": &d.Name, "version": &d.Version}
}

func ofProfile(p *bundle.Profile) map[string]*string {
	p.Release = cmp.Or(p.Release, p.Name)
	return map[string]*string{"name": &p.Definition, "version": &p.Version, "profile": &p.Name}
}

// createRegion reads a form of two parts: metadata, which is JSON, and file, a kubeconfig.
func (s *server) createRegion(c *api.Call) (any, error) {
	defer clear(c.Content)
	c.Body = io.NopCloser(bytes.NewReader(c.Content))
	if err := c.ParseMultipartForm(maxContent); err != nil || len(c.MultipartForm.Value)+len(c.MultipartForm.File) != 2 ||
		len(c.MultipartForm.Value["metadata"]) != 1 || len(c.MultipartForm.File["file"]) != 1 {
		return nil, api.Refuse(broker.ErrInvalid, "body", "", "must be multipart/form-data with the parts metadata and file, each once")
	}
	var in bundle.Region
	if err := wire.Tolerant([]byte(c.MultipartForm.Value["metadata"][0]), &in); err != nil {
		return nil, err
	}
	if in.Name == "" || in.Owner == "" {
		return nil, api.Refuse(api.ErrMalformed, "body", "metadata", "lacks its cloud-region or cloud-owner")
	}
	file, err := c.MultipartForm.File["file"][0].Open()
	if err != nil {
		return nil, err
	}
	text, err := io.ReadAll(file)
	if err != nil {
		return nil, err
	}
	return s.b.CreateRegion(c.Context(), c.Principal, in, secret.NewText(string(text)))
}

func (s *server) instances(c *api.Call) (any, error) {
	return s.b.Instances(c.Context(), c.Principal, bundle.Request{
		Definition: c.Query.Get("rb-name"), Version: c.Query.Get("rb-version"), Profile: c.Query.Get("profile-name"),
	})
}

func (s *server) instance(c *api.Call) (any, error) {
	i, err := s.b.Instance(c.Context(), c.Principal, c.PathValue("id"))
	if c.Query.Get("full") == "true" {
		i.Status = i.State
	}
	return i, err
}

// report is the state of objects, as status and query answer it.
type report struct {
	Request *bundle.Request `json:"request,omitempty"`
	Ready   bool            `json:"ready"`
	Count   int             `json:"resourceCount"`
	Objects []object        `json:"resourcesStatus"`
}

type object struct {
	Name   string          `json:"name"`
	GVK    bundle.GVK      `json:"GVK"`
	Status json.RawMessage `json:"status"`
}

func reported(of *bundle.Request, seen []lifecycle.Showing) report {
	r := report{Request: of, Ready: true, Count: len(seen), Objects: []object{}}
	for _, o := range seen {
		if r.Ready = r.Ready && o.Ready; len(o.Object) == 0 {
			o.Object = json.RawMessage(`{}`)
		}
		r.Objects = append(r.Objects, object{o.Name, bundle.GVK{Group: o.Group, Version: o.Version, Kind: o.Kind}, o.Object})
	}
	return r
}

func (s *server) status(c *api.Call) (any, error) {
	i, seen, err := s.b.Look(c.Context(), c.Principal, c.PathValue("id"), "", lifecycle.Wanted{})
	return reported(&i.Request, seen), err
}

// query is of an instance, or of a region.
func (s *server) query(c *api.Call) (any, error) {
	id, get := c.PathValue("id"), c.Query.Get
	for _, name := range []string{"ApiVersion", "Kind", "CloudRegion"} {
		if get(name) == "" && (id == "" || name != "CloudRegion") {
			return nil, api.Refuse(api.ErrMalformed, "query", name, "is required")
		}
	}
	i, seen, err := s.b.Look(c.Context(), c.Principal, id, get("CloudRegion"), lifecycle.Wanted{
		APIVersion: get("ApiVersion"), Kind: get("Kind"), Name: get("Name"), Selector: get("Labels"), Namespace: get("Namespace"),
	})
	if id == "" {
		return reported(nil, seen), err
	}
	return reported(&i.Request, seen), err
}
