package vnfpkgm

import (
	"context"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/broker/api"
	"github.com/vimbroker/vimbroker/broker/api/sol003"
	"github.com/vimbroker/vimbroker/broker/api/sol013"
	"github.com/vimbroker/vimbroker/lifecycle/catalog"
	"github.com/vimbroker/vimbroker/policy"
)

// Catalog keeps the packages; [catalog.Catalog] says what each method does.
type Catalog interface {
	Create(ctx context.Context, p policy.Principal, userData string) (catalog.Package, error)
	Upload(ctx context.Context, p policy.Principal, ref catalog.PackageRef, content io.Reader) (catalog.Package, error)
	UploadFrom(ctx context.Context, p policy.Principal, ref catalog.PackageRef, o catalog.Origin) (catalog.Package, error)
	Package(ctx context.Context, p policy.Principal, ref catalog.PackageRef) (catalog.Package, error)
	Packages(ctx context.Context, p policy.Principal, q catalog.Query) ([]catalog.Package, string, error)
	Modify(ctx context.Context, p policy.Principal, ref catalog.PackageRef, change catalog.PackageUpdate) (catalog.Package, error)
	Delete(ctx context.Context, p policy.Principal, ref catalog.PackageRef) error
	Read(ctx context.Context, p policy.Principal, ref catalog.PackageRef) (catalog.PackageReader, error)
	MaxSize() int64
}

const (
	// quick bounds answers without a content.
	quick = 30 * time.Second
	// long bounds the transfer of a content.
	long = time.Hour
	// maxBody bounds a JSON body in bytes.
	maxBody = 64 << 10
)

const prefix = "/vnfpkgm"

// server answers requests.
type server struct{ catalog Catalog }

// Door returns /vnfpkgm, in versions 2 and 1.
func Door(c Catalog) api.Door {
	s := &server{c}
	json := api.Body{Limit: maxBody, Types: []string{"application/json", "application/merge-patch+json"}}
	optional := json
	optional.Optional = true
	operations := []api.Route{
		{Method: "POST", Path: "/vnf_packages", Timeout: quick, Body: optional, Status: http.StatusCreated, Handle: s.create},
		{Method: "GET", Path: "/vnf_packages", Timeout: quick, Handle: s.list},
		{Method: "GET", Path: "/onboarded_vnf_packages", Timeout: quick, Handle: s.listOnboarded},
		{Method: "PATCH", Path: "/vnf_packages/{id}", Timeout: quick, Body: json, Handle: s.modify},
		{Method: "DELETE", Path: "/vnf_packages/{id}", Timeout: quick, Status: http.StatusNoContent, Handle: s.remove},
		{
			Method: "PUT", Path: "/vnf_packages/{id}/package_content", Timeout: long, Status: http.StatusAccepted, Handle: s.upload,
			Body: api.Body{Limit: c.MaxSize(), Stream: true, Types: []string{zipType, "application/octet-stream"}},
		},
		{
			Method: "POST", Path: "/vnf_packages/{id}/package_content/upload_from_uri", Timeout: long, Body: json,
			Status: http.StatusAccepted, Handle: s.uploadFrom,
		},
	}
	for _, path := range []string{"/vnf_packages/{id}", "/onboarded_vnf_packages/{vnfd}"} {
		operations = append(operations,
			api.Route{Method: "GET", Path: path, Timeout: quick, Handle: s.show},
			api.Route{Method: "GET", Path: path + "/vnfd", Timeout: long, Handle: s.vnfd},
			api.Route{Method: "GET", Path: path + "/manifest", Timeout: quick, Handle: s.manifest},
			api.Route{Method: "GET", Path: path + "/package_content", Timeout: long, Handle: s.content},
			api.Route{Method: "GET", Path: path + "/artifacts", Timeout: long, Handle: s.artifacts},
			api.Route{Method: "GET", Path: path + "/artifacts/{path...}", Timeout: long, Handle: s.artifact},
		)
	}
	for _, path := range []string{"POST /subscriptions", "GET /subscriptions", "GET /subscriptions/{id}", "DELETE /subscriptions/{id}"} {
		method, path, _ := strings.Cut(path, " ")
		operations = append(operations, api.Route{
			Method: method, Path: path, Timeout: quick, Body: optional,
			Handle: notImplemented("there are no notifications about packages; read them with GET .../vnf_packages"),
		})
	}
	contents := []string{"vnfd", "manifest", "package_content", "artifacts", "{path...}"}
	return sol013.Door(sol013.API{Name: "vnfpkgm", Contents: contents, Majors: []sol013.Major{
		{Path: prefix + "/v2", Versions: []string{"2.0.0", "2.1.0"}},
		{Path: prefix + "/v1", Versions: []string{"1.0.0"}, Lenient: true},
	}}, operations...)
}

func notImplemented(why string) func(*api.Call) (api.Answer, error) {
	return func(*api.Call) (api.Answer, error) { return api.Answer{}, sol013.NotImplemented(why) }
}

// ref is the package that a path names.
func ref(c *api.Call) catalog.PackageRef {
	return catalog.PackageRef{ID: c.PathValue("id"), VNFD: c.PathValue("vnfd")}
}

func (s *server) create(c *api.Call) (api.Answer, error) {
	var in struct {
		UserDefinedData object `json:"userDefinedData"`
	}
	if len(c.Content) > 0 {
		if err := wire.Tolerant(c.Content, &in); err != nil {
			return api.Answer{}, err
		}
	}
	data, err := in.UserDefinedData.over("")
	if err != nil {
		return api.Answer{}, err
	}
	p, err := s.catalog.Create(c.Context(), c.Principal, data)
	if err != nil {
		return api.Answer{}, err
	}
	shown := show(c, p)
	return api.Answer{Header: http.Header{"Location": {shown.Links.Self.Href}}, Body: shown}, nil
}

func (s *server) show(c *api.Call) (api.Answer, error) {
	p, err := s.catalog.Package(c.Context(), c.Principal, ref(c))
	if err == nil && c.PathValue("vnfd") != "" && !p.State.Onboarded() {
		err = &broker.Error{Kind: broker.ErrNotFound, Detail: "no such onboarded VNF package"}
	}
	if err != nil {
		return api.Answer{}, err
	}
	return api.Answer{Body: show(c, p)}, nil
}

func (s *server) list(c *api.Call) (api.Answer, error) { return s.find(c, false) }

func (s *server) listOnboarded(c *api.Call) (api.Answer, error) { return s.find(c, true) }

// find lists a page. A page may hold fewer packages than there are, while there is a next one.
func (s *server) find(c *api.Call, onboarded bool) (api.Answer, error) {
	q := catalog.Query{Onboarded: onboarded, Page: broker.Page{Token: sol013.Marker(c)}}
	return sol013.Lists(c, shape, show)(s.catalog.Packages(c.Context(), c.Principal, q))
}

func (s *server) modify(c *api.Call) (api.Answer, error) {
	var in struct {
		OperationalState string `json:"operationalState"`
		UserDefinedData  object `json:"userDefinedData"`
	}
	if err := wire.Tolerant(c.Content, &in); err != nil {
		return api.Answer{}, err
	}
	var change catalog.PackageUpdate
	switch in.OperationalState {
	case "":
	case enabled, disabled:
		on := in.OperationalState == enabled
		change.Enabled = &on
	default:
		return api.Answer{}, broker.Invalid("operationalState", "must be %s or %s", enabled, disabled)
	}
	if in.UserDefinedData.given() {
		change.UserData = in.UserDefinedData.over
	}
	if change.Enabled == nil && change.UserData == nil {
		return api.Answer{}, api.Refuse(api.ErrMalformed, "body", "", "must have operationalState or userDefinedData")
	}
	p, err := s.catalog.Modify(c.Context(), c.Principal, ref(c), change)
	if err != nil {
		return api.Answer{}, err
	}
	out := modifications{}
	if change.Enabled != nil {
		out.OperationalState = operational(p)
	}
	if change.UserData != nil {
		out.UserDefinedData = kept(p.UserData)
	}
	return api.Answer{Body: out}, nil
}

func (s *server) remove(c *api.Call) (api.Answer, error) {
	return api.Answer{}, s.catalog.Delete(c.Context(), c.Principal, ref(c))
}

func (s *server) upload(c *api.Call) (api.Answer, error) {
	_, err := s.catalog.Upload(c.Context(), c.Principal, ref(c), c.Body)
	return api.Answer{}, err
}

// uploadFrom has the server fetch the content (SOL005, UploadVnfPackageFromUriRequest).
func (s *server) uploadFrom(c *api.Call) (api.Answer, error) {
	var in sol003.UploadFromRequest
	if err := wire.Tolerant(c.Content, &in); err != nil {
		return api.Answer{}, err
	}
	_, err := s.catalog.UploadFrom(c.Context(), c.Principal, ref(c), catalog.Origin{URI: in.URI, Username: in.Username, Password: in.Password})
	return api.Answer{}, err
}
