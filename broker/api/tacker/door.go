package tacker

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/broker/api"
	"github.com/vimbroker/vimbroker/policy"
	"github.com/vimbroker/vimbroker/policy/audit"
)

const (
	// maxBody bounds a request body in bytes.
	maxBody = 1 << 20
	// answerTime bounds an answer, the check of a VIM included.
	answerTime = 2 * time.Minute
)

// Registry contains the VIMs; [broker.Registry] says what each method does.
type Registry interface {
	RegisterVIM(ctx context.Context, p policy.Principal, r broker.Registration) (broker.VIM, error)
	VIM(ctx context.Context, p policy.Principal, idOrName string) (broker.VIM, error)
	VIMs(ctx context.Context, p policy.Principal, q broker.VIMQuery) ([]broker.VIM, string, error)
	UpdateVIM(ctx context.Context, p policy.Principal, idOrName string, c broker.Change) (broker.VIM, error)
	DeleteVIM(ctx context.Context, p policy.Principal, idOrName string, d broker.Deletion) (v broker.VIM, gone bool, err error)
}

// Options wire the door. Fields without a stated default are required.
type Options struct {
	Registry Registry
	// Keystone is the URL that callers without a token are pointed to; empty if only
	// static tokens are accepted.
	Keystone string
	// Compat answers with the status codes that Tacker's server sends, mostly 500, where
	// its API reference has others.
	Compat bool
}

type server struct{ Options }

// Door returns Tacker's VIM API: GET / and everything under /v1.0.
func Door(o Options) api.Door {
	s := &server{o}
	d := api.Door{
		Name:     audit.DoorTacker,
		Paths:    []string{"/{$}", "/v1.0", "/v1.0/"},
		Private:  "/v1.0/",
		Tolerant: true,
		Kinds:    kinds(o.Compat),
		Next:     next,
		Refuse:   s.refuse,
		Header: func(h http.Header, id string) {
			h.Set("X-Openstack-Request-Id", "req-"+strings.TrimPrefix(id, "req-"))
		},
	}
	// The media type of a body is ignored, as in Tacker; an empty body has Tacker's own error.
	takes := api.Body{Limit: maxBody, Optional: true}
	for _, op := range []api.Route{
		{Method: "GET", Path: "/v1.0/extensions", Handle: func(*api.Call) (api.Answer, error) { return api.Answer{Body: extensions}, nil }},
		{Method: "POST", Path: "/v1.0/vims", Body: takes, Status: http.StatusCreated, Handle: s.create},
		{Method: "GET", Path: "/v1.0/vims", Handle: s.list},
		{Method: "GET", Path: "/v1.0/vims/{id}", Handle: s.show},
		{Method: "PUT", Path: "/v1.0/vims/{id}", Body: takes, Handle: s.update},
		// A body of a DELETE is ignored, as in Tacker.
		{Method: "DELETE", Path: "/v1.0/vims/{id}", Body: takes, Status: http.StatusNoContent, Handle: s.remove},
		{Method: "GET", Path: "/{$}", Identify: api.Anyone, Handle: versions},
	} {
		op.Timeout = answerTime
		if op.Status == 0 {
			op.Status = http.StatusOK
		}
		if op.Method == "GET" {
			op.Body = takes // and is ignored
		}
		if op.Path == "/v1.0/vims" || op.Path == "/v1.0/extensions" {
			op.Also = []string{op.Path + ".json"}
		}
		d.Routes = append(d.Routes, op)
	}
	return d
}

// vimID is the id in a path, which may end in .json.
func vimID(r *http.Request) string {
	id, _ := strings.CutSuffix(r.PathValue("id"), ".json")
	return id
}

// notFound is how Tacker answers where there is nothing, whatever the method.
var notFound = http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "text/html; charset=UTF-8")
	w.WriteHeader(http.StatusNotFound)
	_, _ = io.WriteString(w, "<html>\n <head>\n  <title>404 Not Found</title>\n </head>\n <body>\n  <h1>404 Not Found</h1>\n"+
		"  The resource could not be found.<br /><br />\n\n\n\n </body>\n</html>")
})

// challenge tells a caller without a valid token where to get one.
func (s *server) challenge() http.Header {
	if s.Keystone == "" {
		return nil
	}
	return http.Header{"Www-Authenticate": {fmt.Sprintf("Keystone uri=%q", s.Keystone)}}
}

// versions says where version 1.0 is. It needs no authentication.
func versions(c *api.Call) (api.Answer, error) {
	scheme := "http"
	if c.TLS != nil {
		scheme = "https"
	}
	link := map[string]any{"rel": "self", "href": scheme + "://" + c.Host + "/v1.0"}
	return api.Answer{Body: map[string]any{"versions": []any{
		map[string]any{"id": "v1.0", "status": "CURRENT", "links": []any{link}},
	}}}, nil
}

// extensions are those that Tacker lists. Tacker too serves only NFVO's VIMs of them.
var extensions = map[string]any{"extensions": []any{
	extension("COMMONSERVICES", "commonservices", "Common services"),
	extension("NFVO", "nfvo", "VIMs"),
	extension("VNFM", "vnfm", "Nothing: its resources are gone from version 1.0"),
}}

func extension(name, alias, description string) map[string]any {
	return map[string]any{"name": name, "alias": alias, "description": description, "links": []any{}}
}
