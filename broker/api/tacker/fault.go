package tacker

import (
	"errors"
	"log/slog"
	"net/http"

	"github.com/google/uuid"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/policy/audit"
)

// fault is an error answer: {"TackerError": {type, message, detail}}.
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

// row says how an error of the domain is answered.
type row struct {
	kind   error
	status int
	name   string
	// compat is the status that Tacker's server sends; zero where it is the same.
	compat int
}

// A VIM's refusal is not 401, as that would make OpenStack's clients log in anew and
// send the same again.
var rows = []row{
	{broker.ErrNotFound, http.StatusNotFound, "VimNotFoundException", http.StatusInternalServerError},
	{broker.ErrExists, http.StatusConflict, "DuplicateEntity", 0},
	{broker.ErrUnauthorized, http.StatusBadRequest, "VimUnauthorizedException", http.StatusInternalServerError},
	{broker.ErrForbidden, http.StatusBadRequest, "VimUnauthorizedException", http.StatusInternalServerError},
	{broker.ErrUnreachable, http.StatusServiceUnavailable, "VimConnectionException", http.StatusInternalServerError},
	{broker.ErrInvalid, http.StatusBadRequest, "HTTPBadRequest", 0},
	{broker.ErrUnsupported, http.StatusBadRequest, "HTTPBadRequest", http.StatusInternalServerError},
	{broker.ErrConflict, http.StatusConflict, "Conflict", http.StatusInternalServerError},
	{broker.ErrPrecondition, http.StatusConflict, "Conflict", http.StatusInternalServerError},
	{broker.ErrDenied, http.StatusForbidden, "NotAuthorized", 0},
	{broker.ErrUnavailable, http.StatusServiceUnavailable, "ServiceUnavailable", 0},
}

// fail answers with an error. Text that is not the domain's own goes to the log only.
func (s *server) fail(w http.ResponseWriter, r *http.Request, o operation, err error) {
	var f *fault
	if !errors.As(err, &f) {
		f = s.fault(o, err)
	}
	if f.status >= http.StatusInternalServerError {
		attrs := []any{"request", audit.RequestID(r.Context()), "error", err}
		var known *broker.Error
		if errors.As(err, &known) && known.Cause != nil {
			attrs = append(attrs, "cause", known.Cause)
		}
		level := slog.LevelWarn
		if f.kind == "HTTPInternalServerError" {
			level = slog.LevelError
		}
		s.Log.Log(r.Context(), level, "request failed", attrs...)
	}
	write(w, f.status, map[string]any{"TackerError": map[string]any{"type": f.kind, "message": f.message, "detail": ""}})
}

// fault looks an error of the domain up.
func (s *server) fault(o operation, err error) *fault {
	var known *broker.Error
	if !errors.As(err, &known) {
		return &fault{http.StatusInternalServerError, "HTTPInternalServerError", internal}
	}
	for _, row := range rows {
		if !errors.Is(known.Kind, row.kind) {
			continue
		}
		f := &fault{row.status, row.name, known.Error()}
		if s.Compat && row.compat != 0 {
			f.status = row.compat
		}
		s.word(f, o, known)
		return f
	}
	return &fault{http.StatusInternalServerError, "HTTPInternalServerError", internal}
}

// word says what Tacker says, where clients may look for it.
func (s *server) word(f *fault, o operation, known *broker.Error) {
	switch {
	case errors.Is(known.Kind, broker.ErrNotFound):
		name := ""
		if uuid.Validate(o.id) == nil {
			name = o.id + " "
		}
		f.message = "Specified VIM id " + name + "is invalid. Please verify and pass a valid VIM id"
	case errors.Is(known.Kind, broker.ErrExists):
		f.message = "vim already exist with given ['tenant_id', 'name', 'deleted_at']"
		if s.Compat && o.verb == "PUT" {
			*f = fault{http.StatusInternalServerError, "HTTPInternalServerError", internal}
		}
	case errors.Is(known.Kind, broker.ErrInvalid) && known.Field != "":
		reason := known.Detail
		if known.Remedy != "" {
			reason += "; " + known.Remedy
		}
		f.message = "Invalid input for " + attributeOf(known.Field) + ". Reason: " + reason + "."
	case errors.Is(known.Kind, broker.ErrConflict) && o.verb == "DELETE":
		f.kind = "VimInUseException"
		f.message = "VIM " + o.id + " is still in use by VNF: " + known.Error()
	}
}

// secondDefault names the VIM that is the project's default already, where that is why
// another cannot be; any other error it returns as it is. The project is that of the
// VIM the call is for, if it is for one.
func (s *server) secondDefault(c call, project string, err error) error {
	var known *broker.Error
	if !errors.As(err, &known) || !errors.Is(known.Kind, broker.ErrExists) || known.Field != "default" {
		return err
	}
	visible, err := s.find(c, nil)
	if err != nil {
		return err
	}
	for _, v := range visible {
		if v.ID == c.id {
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
