// Package onap is the API of ONAP's Kubernetes plugin (multicloud-k8s, "k8splugin"), below /onap: what SO's cnf-adapter,
// python-onapsdk and scripts of CDS ask for, over package bundle. docs/onap.md says where it differs.
package onap

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"io"
	"net/http"
	"slices"
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
	// Compat answers with the status codes of upstream's server, mostly 500, where others say more.
	Compat bool
}

type server struct{ Options }

var wire codec.Codec

// Doors returns everything below /onap: two doors, because no multiplexer can tell all of their paths apart.
func Doors(o Options) (all []api.Door) {
	s := &server{o}
	for _, path := range []string{"/onap/v1/", "/onap/"} {
		all = append(all, api.Door{
			Name: audit.DoorONAP, Paths: []string{path}, Private: path, Basic: o.Basic, Tolerant: true, Kinds: kinds(o.Compat),
			Next: api.RESTNext, Refuse: refuse, Routes: s.routes(path),
			Header: func(h http.Header, id string) { h.Set("X-Request-Id", id) },
		})
	}
	return all
}

const (
	definitions = "/v1/rb/definition"
	definition  = definitions + "/{name}/{version}"
	instance    = "/v1/instance/{id}"
	region      = "/v1/connectivity-info/{id}"
	workloads   = "/{owner}/{region}/infra_workload"
)

// handlers are operations by status, method and path.
type handlers map[string]func(*api.Call) (any, error)

// routes are the operations of a door. The media type of a body is not looked at, as upstream.
func (s *server) routes(door string) (all []api.Route) {
	b := s.Bundles
	const subscriptions, checks, configs = instance + "/status/subscription", instance + "/healthcheck", instance + "/config"
	h := handlers{
		"200 GET /v1/healthcheck":            func(*api.Call) (any, error) { return s.ready() },
		"200 GET " + definitions + "/{name}": lists[bundle.Definition](b),
		"201 POST /v1/connectivity-info":     s.createRegion,
		"200 GET " + region:                  of(b.Region),
		"204 DELETE " + region:               drops(b.DeleteRegion),
		"201 POST /v1/instance": takes(func(c *api.Call, in bundle.Request) (any, error) {
			return b.CreateInstance(c.Context(), c.Principal, in)
		}),
		"200 GET /v1/instance":   s.instances,
		"200 GET " + instance:    s.instance,
		"202 DELETE " + instance: drops(b.DeleteInstance),
		"201 POST " + instance + "/upgrade": takes(func(c *api.Call, in bundle.Request) (any, error) {
			return b.UpgradeInstance(c.Context(), c.Principal, c.PathValue("id"), in)
		}),
		"200 GET " + instance + "/status": s.status,
		"200 GET " + instance + "/query":  s.query,
		"200 GET /v1/query":               s.query,

		"201 POST " + subscriptions:               with(b.KeepWatch),
		"200 GET " + subscriptions:                of(b.Watches),
		"200 GET " + subscriptions + "/{part}":    part(b.Watch),
		"200 PUT " + subscriptions + "/{part}":    with(b.KeepWatch),
		"202 DELETE " + subscriptions + "/{part}": dropsPart(b.DeleteWatch),

		"201 POST " + checks:               of(b.CreateCheck),
		"200 GET " + checks:                s.checks,
		"200 GET " + checks + "/{part}":    s.checks,
		"202 DELETE " + checks + "/{part}": dropsPart(b.DeleteCheck),

		"201 POST " + configs:                              with(b.KeepConfig),
		"200 GET " + configs:                               of(b.Configs),
		"200 GET " + configs + "/{part}":                   s.config,
		"201 PUT " + configs + "/{part}":                   with(b.KeepConfig),
		"202 DELETE " + configs + "/{part}":                s.deleteConfig,
		"200 POST " + configs + "/{part}/delete":           part(b.ClearConfig),
		"200 POST " + configs + "/{part}/rollback":         with(b.Rollback),
		"200 GET " + configs + "/{part}/version":           part(b.Versions),
		"200 GET " + configs + "/{part}/version/{version}": s.config,
		"200 GET " + configs + "/{part}/tag":               part(b.Tags),
		"200 GET " + configs + "/{part}/tag/{tag}":         s.config,
		"200 POST " + configs + "/{part}/tagit":            with(b.Tag),

		"201 POST " + workloads:             takes(s.createWorkload),
		"200 GET " + workloads:              s.findWorkload,
		"200 GET " + workloads + "/{id}":    s.workload,
		"202 DELETE " + workloads + "/{id}": s.deleteWorkload,
	}
	documents(h, b, bundle.OfDefinition, "201", definitions, definition, ofDefinition)
	documents(h, b, bundle.OfProfile, "200", definition+"/profile", definition+"/profile/{part}", ofProfile)
	documents(h, b, bundle.OfTemplate, "201", definition+"/config-template", definition+"/config-template/{part}", ofTemplate)
	for operation, handle := range h {
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
		if strings.Contains(one.Path, "/instance") || strings.Contains(one.Path, "/infra_workload") {
			one.Timeout += b.Wait
		}
		if strings.HasPrefix(one.Path, "/onap/v1/") == (door == "/onap/v1/") {
			all = append(all, one)
		}
	}
	return all
}

// documents are the operations on documents of a kind, whose names are in the path and may be in the body.
func documents[T bundle.Document](
	h handlers, b *bundle.Bundles, k bundle.Kind, updated, all, one string, names func(*T) map[string]*string,
) {
	h["201 POST "+all] = named(names, b.Create)
	h["200 GET "+all] = lists[T](b)
	h["200 GET "+one] = func(c *api.Call) (any, error) { return bundle.Show[T](c.Context(), b, c.Principal, at(c)) }
	h[updated+" PUT "+one] = named(names, b.Update)
	h["204 DELETE "+one] = func(c *api.Call) (any, error) { return nil, b.Delete(c.Context(), c.Principal, k, at(c)) }
	h["200 POST "+one+"/content"] = func(c *api.Call) (any, error) {
		if len(c.Content) == 0 {
			return nil, empty()
		}
		return nil, b.Upload(c.Context(), c.Principal, k, at(c), c.Content)
	}
}

func lists[T bundle.Document](b *bundle.Bundles) func(*api.Call) (any, error) {
	return func(c *api.Call) (any, error) { return bundle.List[T](c.Context(), b, c.Principal, at(c)) }
}

// at is the name that a path has for a document, or for those that it begins the names of.
func at(c *api.Call) string {
	return strings.TrimRight(c.PathValue("name")+"/"+c.PathValue("version")+"/"+c.PathValue("part"), "/")
}

// of shows what has the path's id, and drops removes it.
func of[T any](show func(ctx context.Context, p policy.Principal, id string) (T, error)) func(*api.Call) (any, error) {
	return func(c *api.Call) (any, error) { return show(c.Context(), c.Principal, c.PathValue("id")) }
}

// part is of for a part of an instance.
func part[T any](show func(ctx context.Context, p policy.Principal, id, name string) (T, error)) func(*api.Call) (any, error) {
	return func(c *api.Call) (any, error) {
		return show(c.Context(), c.Principal, c.PathValue("id"), c.PathValue("part"))
	}
}

// with is part with a body.
func with[I, T any](do func(ctx context.Context, p policy.Principal, id, name string, in I) (T, error)) func(*api.Call) (any, error) {
	return takes(func(c *api.Call, in I) (any, error) {
		return do(c.Context(), c.Principal, c.PathValue("id"), c.PathValue("part"), in)
	})
}

func dropsPart(drop func(ctx context.Context, p policy.Principal, id, name string) error) func(*api.Call) (any, error) {
	return func(c *api.Call) (any, error) {
		return nil, drop(c.Context(), c.Principal, c.PathValue("id"), c.PathValue("part"))
	}
}

func (s *server) checks(c *api.Call) (any, error) {
	id, of := c.PathValue("id"), c.PathValue("part")
	all, err := s.Bundles.Checks(c.Context(), c.Principal, id, of)
	if err != nil || of != "" {
		return append(all, bundle.Check{})[0], err
	}
	return map[string]any{"instance-id": id, "healthcheck-summary": all, "hooks": []any{}}, nil
}

func (s *server) config(c *api.Call) (any, error) {
	of := c.PathValue
	return s.Bundles.Configuration(c.Context(), c.Principal, of("id"), of("part"), of("version"), of("tag"))
}

func (s *server) deleteConfig(c *api.Call) (any, error) {
	if c.Query.Get("deleteConfigOnly") == "true" {
		return nil, api.Refuse(broker.ErrInvalid, "query", "deleteConfigOnly", "leaves objects that nobody owns; leave it out")
	}
	return nil, s.Bundles.DeleteConfig(c.Context(), c.Principal, c.PathValue("id"), c.PathValue("part"))
}

func drops(drop func(ctx context.Context, p policy.Principal, id string) error) func(*api.Call) (any, error) {
	return func(c *api.Call) (any, error) { return nil, drop(c.Context(), c.Principal, c.PathValue("id")) }
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

// named is an operation with a document, whose names the path has, and the body may repeat.
func named[T bundle.Document](
	names func(*T) map[string]*string, keep func(context.Context, policy.Principal, bundle.Document) error,
) func(*api.Call) (any, error) {
	return takes(func(c *api.Call, in T) (any, error) {
		for part, name := range names(&in) {
			of := c.PathValue(part)
			if of != "" && *name != "" && *name != of {
				return nil, api.Refuse(api.ErrMalformed, "body", part, "is not that of the path")
			}
			*name = cmp.Or(of, *name)
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
	return map[string]*string{"name": &p.Definition, "version": &p.Version, "part": &p.Name}
}

func ofTemplate(t *bundle.Template) map[string]*string {
	t.Content = false
	return map[string]*string{"name": &t.Definition, "version": &t.Version, "part": &t.Name}
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
	return s.Bundles.CreateRegion(c.Context(), c.Principal, in, secret.NewText(string(text)))
}

func (s *server) instances(c *api.Call) (any, error) {
	return s.Bundles.Instances(c.Context(), c.Principal, bundle.Request{
		Definition: c.Query.Get("rb-name"), Version: c.Query.Get("rb-version"), Profile: c.Query.Get("profile-name"),
	})
}

func (s *server) instance(c *api.Call) (any, error) {
	i, err := s.Bundles.Instance(c.Context(), c.Principal, c.PathValue("id"))
	if c.Query.Get("full") == "true" {
		i.Status = i.State
	}
	return i, err
}

// report is the state of objects, as status and query answer it.
type report struct {
	Request bundle.Request `json:"request,omitzero"`
	Ready   bool           `json:"ready"`
	Count   int            `json:"resourceCount"`
	Objects []bundle.Shown `json:"resourcesStatus"`
}

func reported(of bundle.Request, seen []lifecycle.Showing) report {
	waits := func(o lifecycle.Showing) bool { return !o.Ready }
	return report{Request: of, Ready: !slices.ContainsFunc(seen, waits), Count: len(seen), Objects: bundle.Objects(seen)}
}

func (s *server) status(c *api.Call) (any, error) {
	i, seen, err := s.Bundles.Look(c.Context(), c.Principal, c.PathValue("id"), "", lifecycle.Wanted{})
	return reported(i.Request, seen), err
}

// query is of an instance, or of a region.
func (s *server) query(c *api.Call) (any, error) {
	id, get := c.PathValue("id"), c.Query.Get
	for _, name := range []string{"ApiVersion", "Kind", "CloudRegion"} {
		if get(name) == "" && (id == "" || name != "CloudRegion") {
			return nil, api.Refuse(api.ErrMalformed, "query", name, "is required")
		}
	}
	i, seen, err := s.Bundles.Look(c.Context(), c.Principal, id, get("CloudRegion"), lifecycle.Wanted{
		APIVersion: get("ApiVersion"), Kind: get("Kind"), Name: get("Name"), Selector: get("Labels"), Namespace: get("Namespace"),
	})
	return reported(i.Request, seen), err
}
