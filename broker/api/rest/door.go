package rest

import (
	"log/slog"
	"net/http"
	"sync"
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
	types := o.Registry.Types()
	table := routesFor(types)
	for _, r := range table {
		d.Routes = append(d.Routes, s.operation(r))
	}
	text := sync.OnceValue(func() []byte { return document(o.Version, table, types) }) // few ask for it, and it takes long
	d.Routes = append(d.Routes, api.Route{
		Method: "GET", Path: "/openapi.json", Identify: api.Anyone, Timeout: quick, Status: http.StatusOK,
		Handle: func(*api.Call) (api.Answer, error) { return api.Answer{Serve: written(v1.MediaType, text())}, nil },
	})
	return d
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
