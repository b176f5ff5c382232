package tacker

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"

	"github.com/google/uuid"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/broker/api"
	"github.com/vimbroker/vimbroker/broker/clientconfig"
	"github.com/vimbroker/vimbroker/policy"
)

// fault is an error answer in words of Tacker alone.
type fault struct {
	status        int
	kind, message string
}

// Error is the message, which is fit for the caller.
func (f *fault) Error() string { return f.message }

func bad(message string) error {
	return &fault{http.StatusBadRequest, "HTTPBadRequest", message}
}

func invalid(attribute, reason string) error {
	return bad("Invalid input for " + attribute + ". Reason: " + reason + ".")
}

const internal = "Request Failed: internal server error while processing your request."

// kinds are the rows of Tacker's own words. With compat, a status is the one that Tacker's
// server sends. A VIM that refuses a credential is not 401, because OpenStack's clients
// would log in again and repeat the request.
func kinds(compat bool) []api.ErrorKind {
	status := func(documented, tackers int) int {
		if compat {
			return tackers
		}
		return documented
	}
	const bad, broken = http.StatusBadRequest, http.StatusInternalServerError
	return []api.ErrorKind{
		{Err: broker.ErrNotFound, Status: status(http.StatusNotFound, broken), Name: "VimNotFoundException"},
		{Err: broker.ErrExists, Status: http.StatusConflict, Name: "DuplicateEntity"},
		{Err: broker.ErrUnauthorized, Status: status(bad, broken), Name: "VimUnauthorizedException"},
		{Err: broker.ErrForbidden, Status: status(bad, broken), Name: "VimUnauthorizedException"},
		{Err: broker.ErrUnreachable, Status: status(http.StatusServiceUnavailable, broken), Name: "VimConnectionException"},
		{Err: broker.ErrInvalid, Status: bad, Name: "HTTPBadRequest"},
		{Err: broker.ErrUnsupported, Status: status(bad, broken), Name: "HTTPBadRequest"},
		{Err: broker.ErrConflict, Status: status(http.StatusConflict, broken), Name: "Conflict"},
		{Err: broker.ErrPrecondition, Status: status(http.StatusConflict, broken), Name: "Conflict"},
		{Err: broker.ErrQuota, Status: http.StatusConflict, Name: "OverQuota"},
		{Err: broker.ErrDenied, Status: http.StatusForbidden, Name: "NotAuthorized"},
		{Err: broker.ErrUnavailable, Status: http.StatusServiceUnavailable, Name: "ServiceUnavailable"},
		{Err: broker.ErrUnopenable, Status: broken, Name: "VimKeyNotFoundException"},
		{Err: policy.ErrDenied, Status: http.StatusForbidden, Name: "NotAuthorized"},
		{Err: clientconfig.ErrFormat, Status: bad, Name: "HTTPBadRequest"},
		{Err: api.ErrMalformed, Status: bad, Name: "HTTPBadRequest"},
		{Err: api.ErrTooLarge, Status: http.StatusRequestEntityTooLarge, Name: "HTTPRequestEntityTooLarge"},
		{Err: api.ErrTooSlow, Status: http.StatusRequestTimeout, Name: "HTTPRequestTimeout"},
		{Err: api.ErrMediaType, Status: http.StatusUnsupportedMediaType, Name: "HTTPUnsupportedMediaType"},
		{Err: context.DeadlineExceeded, Status: http.StatusGatewayTimeout, Name: "HTTPGatewayTimeout"},
		{Err: context.Canceled, Status: http.StatusServiceUnavailable, Name: "ServiceUnavailable"},
		{Err: api.ErrInternal, Status: broken, Name: "HTTPInternalServerError"},
	}
}

// next says how Tacker's callers take a next step. They have no leases.
var next = map[broker.Next]string{
	broker.NextListVIMs:          "GET /v1.0/vims lists the VIMs that there are",
	broker.NextListLeases:        "ask an administrator of the broker, who sees the leases",
	broker.NextSetDefault:        "name a VIM, or update one with is_default",
	broker.NextReplaceCredential: "update the VIM with its auth_cred",
	broker.NextCheckVIM:          "then update the VIM with its auth_cred, which checks it",
	broker.NextExplain:           "ask an administrator of the broker, who sees why",
	broker.NextEndLeases:         "terminate what uses the VIM, or have an administrator of the broker revoke its leases",
	broker.NextEndUses:           "terminate them first; where the VIM is gone for good, ask an administrator of the broker",
	broker.NextMigrate:           "ask the broker's operator",
}

// refuse puts a refusal into Tacker's form: {"TackerError": {type, message, detail}}.
func (s *server) refuse(r *http.Request, p api.Problem) api.Answer {
	switch {
	case errors.Is(p.Err, api.ErrNoOperation) || errors.Is(p.Err, api.ErrMethod):
		return api.Answer{Serve: notFound}
	case errors.Is(p.Err, policy.ErrUnauthenticated): // as keystonemiddleware answers
		return api.Answer{Header: s.challenge(), Body: map[string]any{"error": map[string]any{
			"code": http.StatusUnauthorized, "title": "Unauthorized",
			"message": "The request you have made requires authentication.",
		}}}
	}
	var f *fault
	if !errors.As(p.Cause, &f) {
		f = s.fault(r, p)
	}
	return api.Answer{Status: f.status, Body: map[string]any{
		"TackerError": map[string]any{"type": f.kind, "message": f.message, "detail": ""},
	}}
}

// fault words a refusal as Tacker does where clients may look for its words.
func (s *server) fault(r *http.Request, p api.Problem) *fault {
	f := &fault{p.Status, p.Name, message(p)}
	var known *broker.Error
	field := ""
	if errors.As(p.Cause, &known) {
		field = known.Field
	}
	id := vimID(r)
	switch p.Err {
	case api.ErrInternal: //nolint:errorlint // Problem.Err is one of the sentinels
		f.message = internal
	case broker.ErrNotFound:
		name := ""
		if uuid.Validate(id) == nil {
			name = id + " "
		}
		f.message = "Specified VIM id " + name + "is invalid. Please verify and pass a valid VIM id"
	case broker.ErrExists:
		f.message = "vim already exist with given ['tenant_id', 'name', 'deleted_at']"
		if s.Compat && r.Method == http.MethodPut {
			f = &fault{http.StatusInternalServerError, "HTTPInternalServerError", internal}
		}
	case broker.ErrInvalid:
		if field != "" {
			f.message = "Invalid input for " + attributeOf(field) + ". Reason: " + joined("; ", known.Detail, p.Remedy) + "."
		}
	case broker.ErrConflict:
		if r.Method == http.MethodDelete {
			f.kind = "VimInUseException"
			f.message = "VIM " + id + " is still in use by VNF: " + f.message
		}
	}
	return f
}

func message(p api.Problem) string {
	parts := []string{p.Detail}
	for _, f := range p.Faults {
		parts = append(parts, joined(": ", attributeOf(f.Field), f.Message))
	}
	text := joined("; ", append(parts, p.Remedy)...)
	if text == "" {
		return p.Err.Error()
	}
	return text
}

func joined(by string, parts ...string) string {
	return strings.Join(slices.DeleteFunc(parts, func(s string) bool { return s == "" }), by)
}

// secondDefault names the VIM that is already the project's default, if that is why
// another cannot become it. Any other error is returned unchanged. A call for a VIM is
// about that VIM's project.
func (s *server) secondDefault(c *api.Call, project string, err error) error {
	var known *broker.Error
	if !errors.As(err, &known) || !errors.Is(known.Kind, broker.ErrExists) || known.Field != "default" {
		return err
	}
	visible, err := s.find(c, nil)
	if err != nil {
		return err
	}
	for _, v := range visible {
		if v.ID == vimID(c.Request) {
			project = v.Project
		}
	}
	id := ""
	for _, v := range visible {
		if v.Default && v.Project == project {
			id = " " + v.ID
		}
	}
	status := http.StatusConflict
	if s.Compat {
		status = http.StatusInternalServerError
	}
	return &fault{status, "VimDefaultDuplicateException", "Default VIM already exists" + id + "."}
}

// attributeOf calls a field of the domain by Tacker's name.
func attributeOf(field string) string {
	switch field {
	case "endpoint":
		return "auth_url"
	case "caCert":
		return "auth_cred.ssl_ca_cert"
	case "insecureSkipVerify":
		return "auth_cred.cert_verify"
	case "namespace", "project", "projectDomain", "scope":
		return "vim_project"
	case "credential", "credential.username", "credential.password", "userDomain":
		return "auth_cred"
	case "credential.token":
		return "auth_cred.bearer_token"
	case "default":
		return "is_default"
	}
	return field
}
