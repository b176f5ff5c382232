package rest

import (
	"cmp"
	"log/slog"
	"net/http"
	"time"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/broker/api"
	v1 "github.com/vimbroker/vimbroker/broker/api/v1"
)

// Options wire the door. Fields without a stated default are required.
type Options struct {
	Broker Broker
	// Clusters follows the clusters of Cluster API; nil: nobody does.
	Clusters Clusters
	// Log takes what callers are not told.
	Log *slog.Logger
	// Version is shown by /healthz and in the OpenAPI document.
	Version string
	// Now defaults to time.Now.
	Now func() time.Time
}

// server answers requests.
type server struct {
	broker   Broker
	clusters Clusters
	log      *slog.Logger
	version  string
	now      func() time.Time
}

// Door returns REST version 1 with its probes and its OpenAPI document. It answers every
// path that no other door has.
func Door(o Options) api.Door {
	if o.Now == nil {
		o.Now = time.Now
	}
	s := &server{broker: o.Broker, clusters: o.Clusters, log: o.Log, version: o.Version, now: o.Now}
	d := api.Door{
		Paths:   []string{"/"},
		Private: "/v1/",
		Next:    next,
		Refuse:  refuse,
		Encode:  v1.Encode,
	}
	types := o.Broker.Types()
	table := routesFor(types)
	for _, r := range table {
		d.Operations = append(d.Operations, s.operation(r))
	}
	text := document(o.Version, table, types)
	d.Operations = append(d.Operations, api.Operation{
		Method: "GET", Path: "/openapi.json", Identify: api.Anyone, Timeout: quick, Status: http.StatusOK,
		Handle: func(*api.Call) (api.Answer, error) {
			return api.Answer{Serve: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Type", v1.MediaType)
				_, _ = w.Write(text) // the caller may be gone
			})}, nil
		},
	})
	return d
}

// next says which operation takes a next step.
var next = map[broker.Next]string{
	broker.NextListVIMs:          "GET /v1/vims lists the VIMs that there are",
	broker.NextListLeases:        "GET /v1/leases lists the leases that there are",
	broker.NextSetDefault:        "name a VIM, or make one the default with PATCH /v1/vims/{id}",
	broker.NextReplaceCredential: "give the VIM's credential again with POST /v1/vims/{id}/rotate",
	broker.NextCheckVIM:          "then check the VIM with POST /v1/vims/{id}/check",
	broker.NextExplain:           "ask an administrator, who sees why with POST /v1/policy:explain",
	broker.NextEndLeases:         "revoke them first with POST /v1/leases:revoke, or delete with DELETE /v1/vims/{id}?drain=true",
	broker.NextMigrate:           "ask the broker's operator",
}

// remedies are given for kinds of problems whose error has none of its own.
var remedies = map[string]string{
	"unauthenticated": "send a valid token as \"Authorization: Bearer …\"",
	"changed":         "read it again, and repeat the change with its ETag",
	"exists":          "choose another one, or use what is there",
	"media-type":      "say what the body is in the header Content-Type",
	"too-large":       "send a smaller body",
	"unavailable":     "try again later",
	"vim-unreachable": "check that the endpoint answers and that its certificate verifies, then try again",
	"internal":        "give the request id to the broker's operator: the log says more",
}

// refuse puts a refusal into problem details.
func refuse(_ *http.Request, p api.Problem) api.Answer {
	body := v1.Problem{
		Type: "urn:vimbroker:problem:" + p.Name, Title: p.Title, Status: p.Status, Detail: p.Detail,
		Remedy:    cmp.Or(p.Remedy, remedies[p.Name]),
		RequestID: p.RequestID, Instance: "urn:vimbroker:request:" + p.RequestID,
	}
	for _, f := range p.Faults {
		body.Errors = append(body.Errors, v1.Fault{Location: f.Location, Field: f.Field, Message: f.Message})
	}
	return api.Answer{Header: http.Header{"Content-Type": {v1.ProblemType}}, Body: body}
}
