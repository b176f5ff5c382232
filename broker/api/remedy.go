package api

import (
	"cmp"

	"github.com/vimbroker/vimbroker/broker"
)

// RESTNext says which operation of REST takes a next step. It is the Next of every door whose
// callers reach REST beside it.
var RESTNext = map[broker.Next]string{
	broker.NextListVIMs:          "GET /v1/vims lists the VIMs that there are",
	broker.NextListLeases:        "GET /v1/leases lists the leases that there are",
	broker.NextSetDefault:        "name a VIM, or make one the default with PATCH /v1/vims/{id}",
	broker.NextReplaceCredential: "give the VIM's credential again with POST /v1/vims/{id}/rotate",
	broker.NextCheckVIM:          "then check the VIM with POST /v1/vims/{id}/check",
	broker.NextExplain:           "ask an administrator, who sees why with POST /v1/policy:explain",
	broker.NextEndLeases:         "revoke them first with POST /v1/leases:revoke, or delete with DELETE /v1/vims/{id}?drain=true",
	broker.NextEndUses: "terminate them first with POST /vnflcm/v2/vnf_instances/{id}/terminate; of a VIM that is gone for good, " +
		"which a check does not reach, DELETE /v1/vims/{id}?drain=true&force=true gives them up",
	broker.NextMigrate: "ask the broker's operator",
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

// RESTRemedy is the remedy for a refusal that callers of REST are told, or empty.
func (p Problem) RESTRemedy() string { return cmp.Or(p.Remedy, remedies[p.Name]) }
