package rest

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"log/slog"
	"net/http"
	"time"

	"github.com/vimbroker/vimbroker/broker/api"
	v1 "github.com/vimbroker/vimbroker/broker/api/v1"
	"github.com/vimbroker/vimbroker/policy/audit"
)

// Options wire the door. Fields without a stated default are required.
type Options struct {
	Registry Registry
	Leaser   Leaser
	AuditLog AuditLog
	Overseer Overseer
	// Clusters follows the clusters of Cluster API; may be nil.
	Clusters Clusters
	// Clients keeps the programs that log in by OAuth 2.0; may be nil.
	Clients OAuthClients
	// TokenKeys keeps the keys that sign clients' tokens; may be nil.
	TokenKeys TokenKeys
	// Grants keeps the grants of VNFMs; may be nil.
	Grants Grants
	// Links keeps virtual links; nil: there are none.
	Links Links
	// Log takes what callers are not told.
	Log *slog.Logger
	// Trust is the table of trust; nil: there is none.
	Trust Trust
	// Version is shown by /healthz and in the OpenAPI document.
	Version string
	// Now defaults to time.Now.
	Now func() time.Time
}

type server struct{ Options }

// Door returns REST version 1 with its probes and its OpenAPI document. It answers every
// path that no other door has.
func Door(o Options) api.Door {
	if o.Now == nil {
		o.Now = time.Now
	}
	s := &server{o}
	d := api.Door{
		Name:    audit.DoorREST,
		Paths:   []string{"/"},
		Private: "/v1/",
		Next:    api.RESTNext,
		Refuse:  refuse,
		Encode:  v1.Encode,
	}
	for _, r := range routesFor(o.Registry.Types()) {
		d.Routes = append(d.Routes, s.operation(r))
	}
	d.Routes = append(d.Routes, api.Route{
		Method: "GET", Path: "/openapi.json", Identify: api.Anyone, Timeout: quick, Status: http.StatusOK,
		Handle: func(*api.Call) (api.Answer, error) {
			return api.Answer{Serve: written(v1.MediaType, openAPI(o.Version))}, nil
		},
	})
	return d
}

//go:embed openapi.json
var description []byte

// unversioned stands in the description where the server's version is.
const unversioned = "0.0.0"

// openAPI is the description of a server of this version. "make generate" writes it, from the routes and for the
// types of VIM of the program.
func openAPI(version string) []byte {
	text, _ := json.Marshal(version) // cannot fail
	return bytes.Replace(description, []byte(`"version": "`+unversioned+`"`), append([]byte(`"version": `), text...), 1)
}

// refuse puts a refusal into problem details.
func refuse(_ *http.Request, p api.Problem) api.Answer {
	body := v1.Problem{
		Type: api.TypePrefix + p.Name, Title: p.Title, Status: p.Status, Detail: p.Detail,
		Remedy:    p.RESTRemedy(),
		RequestID: p.RequestID, Instance: "urn:vimbroker:request:" + p.RequestID,
	}
	for _, f := range p.Faults {
		body.Errors = append(body.Errors, v1.Fault{Location: f.Location, Field: f.Field, Message: f.Message})
	}
	return api.Answer{Header: http.Header{"Content-Type": {v1.ProblemType}, "Link": {p.Link()}}, Body: body}
}
