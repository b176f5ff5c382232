package rest

import (
	_ "embed"
	"encoding/json"
	"maps"
	"net/http"
	"path"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/danielgtaylor/huma/v2"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/broker/api"
	v1 "github.com/vimbroker/vimbroker/broker/api/v1"
)

// tags are the groups of operations, in the order in which people meet them.
var tags = []*huma.Tag{
	{Name: "vims", Description: "Clouds and clusters whose credentials are kept"},
	{Name: "leases", Description: "Short-lived credentials derived from theirs"},
	{Name: "clusters", Description: "Clusters of Cluster API, which become VIMs by themselves (beta)"},
	{Name: "links", Description: "Networks that VNF instances use, with who uses them (beta)"},
	{Name: "keys", Description: "How credentials are sealed"},
	{Name: "callers", Description: "Who calls, and what policy decides"},
	{Name: "clients", Description: "Programs that log in by OAuth 2.0, such as VNFMs"},
	{Name: "audit", Description: "Who did what, and the proof that the log only grew"},
	{Name: "probes", Description: "Whether the server lives and can serve; no token needed"},
}

// Document makes the OpenAPI 3.1 description from the route table, the types of
// package v1, and the types of VIM that are served.
func Document(types []broker.Type) []byte {
	routes := routesFor(types)
	// No Go type can express the two forms of a client configuration. JSON that is passed
	// through is an object.
	schemas := huma.NewMapRegistry("#/components/schemas/", huma.DefaultSchemaNamer)
	schemas.RegisterTypeAlias(reflect.TypeFor[jsontext.Value](), reflect.TypeFor[map[string]any]())
	schemas.RegisterTypeAlias(reflect.TypeFor[v1.ClientConfig](), reflect.TypeFor[json.RawMessage]())
	o := &huma.OpenAPI{
		OpenAPI: "3.1.0",
		Info: &huma.Info{
			Title:       "vimbroker",
			Version:     unversioned,
			Description: "A VIM registry and credential broker: register clouds and clusters, lease short-lived credentials derived from theirs.",
			License:     &huma.License{Name: "Apache-2.0", Identifier: "Apache-2.0"},
		},
		Tags: tags,
		Components: &huma.Components{
			Schemas:   schemas,
			Responses: refusals(schemas),
			SecuritySchemes: map[string]*huma.SecurityScheme{
				"bearer":   {Type: "http", Scheme: "bearer", Description: "A caller's token"},
				"keystone": {Type: "apiKey", In: "header", Name: api.KeystoneHeader, Description: "The same, as OpenStack's clients send it"},
			},
		},
	}
	for _, r := range routes {
		o.AddOperation(operation(r, schemas))
	}
	config := schemas.Map()["IssuedLease"].Properties["clientConfig"]
	config.OneOf = []*huma.Schema{{Type: huma.TypeString}, {Type: huma.TypeObject}}
	enumerate(schemas.Map()["VIM"].Properties["type"], typeNames(types))
	enumerate(schemas.Map()["Registration"].Properties["type"], typeNames(types))
	enumerate(schemas.Map()["LeaseRequest"].Properties["format"], formatNames(types))
	settle(schemas, routes)
	illustrate(schemas, routes)
	text, err := json.MarshalIndent(o, "", "  ")
	if err != nil {
		panic(err) // the table is wrong, and every test of this package fails here
	}
	return append(text, '\n')
}

// formatNames are the client configuration formats of all types, each once, with
// the defaults in front.
func formatNames(types []broker.Type) []string {
	var defaults, others []string
	for _, t := range types {
		defaults = append(defaults, string(t.Formats[0]))
		others = append(others, texts(t.Formats[1:]...)...)
	}
	var names []string
	for _, f := range append(defaults, others...) {
		if !slices.Contains(names, f) {
			names = append(names, f)
		}
	}
	return names
}

func enumerate(s *huma.Schema, values []string) {
	for _, v := range values {
		s.Enum = append(s.Enum, v)
	}
}

var pathParameter = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\{(\w+)\}`) })

func operation(r route, schemas huma.Registry) *huma.Operation {
	op := &huma.Operation{
		Method: r.method, Path: r.path, OperationID: r.id, Summary: r.summary, Tags: []string{r.tag},
		Parameters: r.described(), Responses: map[string]*huma.Response{},
	}
	if !r.public() {
		op.Security = []map[string][]string{{"bearer": {}}, {"keystone": {}}}
	}
	if r.pushes {
		op.Security = []map[string][]string{{"bearer": {}}}
		op.Description = "The bearer token is the one that was issued for this cluster."
	}
	if r.action != "" {
		op.Description = "Policy decides by the action `" + string(r.action) + "`."
	}
	if r.beta {
		op.Extensions = map[string]any{"x-beta": true}
		op.Description = strings.TrimSpace(op.Description + " Beta: it may still change.")
	}
	if r.in != nil {
		op.RequestBody = &huma.RequestBody{Required: !r.optional, Content: content(v1.MediaType, r.in, schemas, example("", r.in))}
	}
	for _, status := range r.status {
		op.Responses[strconv.Itoa(status)] = r.success(status, schemas)
	}
	for _, status := range r.refusals() {
		op.Responses[strconv.Itoa(status)] = &huma.Response{Ref: "#/components/responses/" + responseName(status)}
	}
	op.Responses["default"] = &huma.Response{
		Description: "Any other refusal, as problem details (RFC 9457)",
		Content:     content(v1.ProblemType, reflect.TypeFor[v1.Problem](), schemas, nil),
	}
	return op
}

func (rt route) described() (all []*huma.Param) {
	for _, m := range pathParameter().FindAllStringSubmatch(rt.path, -1) {
		doc := "Id of the lease"
		switch {
		case strings.HasPrefix(rt.path, "/v1/vims/"), strings.HasPrefix(rt.path, "/v1/management-clusters/"):
			doc = "Id or name of the VIM"
		case strings.HasPrefix(rt.path, "/v1/clusters/"):
			doc = "Id of the cluster"
		case strings.HasPrefix(rt.path, "/v1/audit/keys/"):
			doc = "Id of the key"
		}
		all = append(all, &huma.Param{Name: m[1], In: "path", Required: true, Description: doc, Schema: &huma.Schema{Type: huma.TypeString}})
	}
	for _, p := range rt.query {
		all = append(all, &huma.Param{Name: p.name, In: "query", Description: p.doc, Schema: p.schema()})
	}
	for _, p := range rt.header {
		all = append(all, &huma.Param{Name: p.name, In: "header", Description: p.doc, Schema: p.schema()})
	}
	return all
}

// success is the route's answer of a status that is no refusal.
func (rt route) success(status int, schemas huma.Registry) *huma.Response {
	a := &huma.Response{Description: http.StatusText(status)}
	if status == http.StatusNoContent {
		return a
	}
	a.Content = map[string]*huma.MediaType{}
	if rt.out != reflect.TypeFor[string]() {
		a.Content = content(v1.MediaType, rt.out, schemas, example(rt.id, rt.out))
	}
	if rt.media != "" {
		a.Content[rt.media] = &huma.MediaType{Schema: &huma.Schema{Type: huma.TypeString}, Example: examples().Texts[rt.id]}
	}
	if rt.out == reflect.TypeFor[v1.VIM]() {
		a.Headers = map[string]*huma.Param{
			"ETag": {Description: "The VIM's revision, for If-Match", Schema: &huma.Schema{Type: huma.TypeString}},
		}
	}
	return a
}

// refusals are the refusals by their status, each with an example of every kind of
// problem that it may be.
func refusals(schemas huma.Registry) map[string]*huma.Response {
	all := map[string]*huma.Response{}
	for _, k := range api.Kinds() {
		a := all[responseName(k.Status)]
		if a == nil {
			a = &huma.Response{
				Description: http.StatusText(k.Status),
				Content:     content(v1.ProblemType, reflect.TypeFor[v1.Problem](), schemas, nil),
			}
			a.Content[v1.ProblemType].Examples = map[string]*huma.Example{}
			a.Headers = map[string]*huma.Param{
				"Link": {Description: "Leads to the page of the kind of problem, with rel=help", Schema: &huma.Schema{Type: huma.TypeString}},
			}
			all[responseName(k.Status)] = a
		}
		const request = "0b9d6c1e-6d0f-4a52-9a3e-3f5d1c0e7a11"
		p := refuse(nil, api.Problem{ErrorKind: k, RequestID: request}).Body
		a.Content[v1.ProblemType].Examples[k.Name] = &huma.Example{Value: p}
	}
	return all
}

func responseName(status int) string { return strings.ReplaceAll(http.StatusText(status), " ", "") }

// content is a body of one media type, with an example in JSON if there is one.
func content(media string, t reflect.Type, schemas huma.Registry, shown json.RawMessage) map[string]*huma.MediaType {
	m := &huma.MediaType{Schema: schemas.Schema(t, true, "")}
	if shown != nil {
		m.Example = shown
	}
	return map[string]*huma.MediaType{media: m}
}

func (p parameter) schema() *huma.Schema {
	s := &huma.Schema{Type: huma.TypeString}
	if p.kind != "" {
		s.Type = p.kind
	}
	if p.kind == "" {
		for _, v := range p.values {
			s.Enum = append(s.Enum, v)
		}
	}
	if p.many {
		return &huma.Schema{Type: huma.TypeArray, Items: s}
	}
	return s
}

// settle corrects what huma cannot know. Our codec neither writes nor takes null in the
// place of a list or of another field. An answer may gain fields, which clients ignore. A
// request has only known fields.
func settle(schemas huma.Registry, routes []route) {
	asked := map[string]bool{}
	for _, r := range routes {
		if r.in != nil {
			reach(schemas, schemas.Schema(r.in, true, ""), asked)
		}
	}
	for name, s := range schemas.Map() {
		if !asked[name] {
			s.AdditionalProperties = nil
		}
		for _, p := range s.Properties {
			p.Nullable = false
		}
	}
}

// illustrate gives each property that has no example of its own the value that it has in
// the examples of the operations.
func illustrate(schemas huma.Registry, routes []route) {
	show := func(s *huma.Schema, text json.RawMessage) {
		var value any
		if err := json.Unmarshal(text, &value); err != nil {
			panic(err) // the example is wrong, and every test of this package fails here
		}
		illustrateBy(schemas, s, value)
	}
	for _, r := range routes {
		if text := example("", r.in); text != nil {
			show(schemas.Schema(r.in, true, ""), text)
		}
		if text := example(r.id, r.out); text != nil {
			show(schemas.Schema(r.out, true, ""), text)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(examples().Further)) {
		show(schemas.Map()[name], examples().Further[name])
	}
}

// illustrateBy is illustrate by one value of a schema.
func illustrateBy(schemas huma.Registry, s *huma.Schema, value any) {
	if s.Ref != "" {
		s = schemas.SchemaFromRef(s.Ref)
	}
	switch value := value.(type) {
	case []any:
		for _, item := range value {
			if s.Items != nil {
				illustrateBy(schemas, s.Items, item)
			}
		}
	case map[string]any:
		for name, inner := range value {
			p := s.Properties[name]
			if p == nil {
				continue
			}
			if p.Ref == "" && (p.Items == nil || p.Items.Ref == "") && len(p.Examples) == 0 {
				p.Examples = []any{inner}
			}
			illustrateBy(schemas, p, inner)
		}
	}
}

// reach collects the names of all schemas that s refers to.
func reach(schemas huma.Registry, s *huma.Schema, names map[string]bool) {
	if s.Ref == "" {
		return
	}
	name := path.Base(s.Ref)
	if names[name] {
		return
	}
	names[name] = true
	for _, p := range schemas.Map()[name].Properties {
		reach(schemas, p, names)
	}
}

//go:embed testdata/examples.json
var examplesText []byte

type exampleSet struct {
	// Shown are bodies by the name of their type, or by the operation whose answer differs from others of its type.
	Shown map[string]json.RawMessage
	// Further are values by the name of a type, for properties that no body shows.
	Further map[string]json.RawMessage
	// Texts are answers in another media type, by the operation.
	Texts map[string]string
}

// examples are those of the OpenAPI document. A text that is no such JSON is a fault that every test of this package finds.
var examples = sync.OnceValue(func() (all exampleSet) {
	if err := json.Unmarshal(examplesText, &all); err != nil {
		panic(err)
	}
	return all
})

// example is an example of a body of the operation and type, in JSON; nil if there is none. A list has one item.
func example(operation string, of reflect.Type) json.RawMessage {
	if of == nil || of.Kind() != reflect.Struct {
		return nil
	}
	if text := examples().Shown[operation]; text != nil {
		return text
	}
	if items, ok := of.FieldByName("Items"); ok {
		return json.RawMessage(`{"items": [` + string(example(operation, items.Type.Elem())) + `], "nextPageToken": ""}`)
	}
	return examples().Shown[of.Name()]
}
