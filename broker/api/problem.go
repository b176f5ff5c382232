package api

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"math"
	"net/http"
	"strconv"

	v1 "github.com/vimbroker/vimbroker/broker/api/v1"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/broker/clientconfig"
	"github.com/vimbroker/vimbroker/policy"
)

// kind is one kind of error answer.
type kind struct {
	// err is the sentinel it stands for; nil where HTTP itself is at fault.
	err    error
	status int
	// name ends the problem's type URI and never changes.
	name  string
	title string
}

// kinds is the one table from sentinels to answers, in the order in which an
// error that wraps several is looked up. What it does not know is [internal].
var kinds = []kind{
	{broker.ErrNotFound, http.StatusNotFound, "not-found", "not found"},
	{broker.ErrInvalid, http.StatusUnprocessableEntity, "invalid", "invalid request"},
	{broker.ErrExists, http.StatusConflict, "exists", "already exists"},
	{broker.ErrConflict, http.StatusConflict, "conflict", "conflict"},
	{broker.ErrPrecondition, http.StatusPreconditionFailed, "changed", "changed since it was read"},
	{broker.ErrDenied, http.StatusForbidden, "denied", "denied by policy"},
	{broker.ErrQuota, http.StatusTooManyRequests, "quota", "quota exceeded"},
	{broker.ErrUnsupported, http.StatusUnprocessableEntity, "unsupported", "not supported"},
	{broker.ErrUnauthorized, http.StatusUnprocessableEntity, "vim-refuses-credential", "credential refused by the VIM"},
	{broker.ErrForbidden, http.StatusUnprocessableEntity, "vim-forbids", "credential lacks rights on the VIM"},
	{broker.ErrUnreachable, http.StatusBadGateway, "vim-unreachable", "VIM unreachable"},
	{broker.ErrUnavailable, http.StatusServiceUnavailable, "unavailable", "temporarily unavailable"},
	{broker.ErrUnopenable, http.StatusInternalServerError, "unopenable", "stored credential cannot be opened"},
	{policy.ErrDenied, http.StatusForbidden, "denied", "denied by policy"},
	{clientconfig.ErrFormat, http.StatusUnprocessableEntity, "unsupported", "not supported"},
	{context.DeadlineExceeded, http.StatusGatewayTimeout, "timeout", "took too long"},
	{context.Canceled, http.StatusServiceUnavailable, "canceled", "the request was given up"},
}

// Kinds that no sentinel stands for.
var (
	internal         = kind{nil, http.StatusInternalServerError, "internal", "internal error"}
	unauthenticated  = kind{policy.ErrUnauthenticated, http.StatusUnauthorized, "unauthenticated", "not authenticated"}
	noSuchRoute      = kind{nil, http.StatusNotFound, "not-found", "not found"}
	methodNotAllowed = kind{nil, http.StatusMethodNotAllowed, "method", "method not allowed"}
	malformed        = kind{nil, http.StatusBadRequest, "malformed", "malformed request"}
	invalid          = kind{nil, http.StatusUnprocessableEntity, "invalid", "invalid request"}
	tooLarge         = kind{nil, http.StatusRequestEntityTooLarge, "too-large", "request body too large"}
	tooSlow          = kind{nil, http.StatusRequestTimeout, "too-slow", "request body came too slowly"}
	mediaType        = kind{nil, http.StatusUnsupportedMediaType, "media-type", "unsupported media type"}
)

// remedies are said where an error brings none of its own.
var remedies = map[string]string{
	"unauthenticated": "send a valid token as \"Authorization: Bearer …\"",
	"changed":         "read it again, and repeat the change with its ETag",
	"unavailable":     "try again later",
	"vim-unreachable": "see whether the endpoint answers and its certificate verifies, then try again",
	"internal":        "give the request id to whoever runs the broker: its log says more",
}

// refusal is an error answer that this package decides on itself.
type refusal struct {
	kind
	detail string
	faults []v1.Fault
}

// Error names the kind; the faults are for the caller.
func (r *refusal) Error() string { return r.title }

// fault is a refusal about one part of the request.
func fault(k kind, location, field, message string) error {
	return &refusal{kind: k, faults: []v1.Fault{{Location: location, Field: field, Message: message}}}
}

// fail answers with the problem that err is, in words fit for the caller. Text
// of errors that we do not know goes to the log only.
func (s *server) fail(w http.ResponseWriter, r *http.Request, err error) {
	var own *refusal
	if errors.As(err, &own) {
		s.problem(w, r, own.kind, v1.Problem{Detail: own.detail, Errors: own.faults})
		return
	}
	k := kindOf(err)
	var p v1.Problem
	var known *broker.Error
	if errors.As(err, &known) {
		p.Remedy = known.Remedy
		if known.Field != "" {
			p.Errors = []v1.Fault{{Location: location(known.Field), Field: known.Field, Message: known.Detail}}
		} else {
			p.Detail = known.Detail
		}
		if known.RetryAfter > 0 {
			w.Header().Set("Retry-After", strconv.Itoa(int(math.Ceil(known.RetryAfter.Seconds()))))
		}
	}
	if k.status >= http.StatusInternalServerError {
		level := slog.LevelWarn // a VIM's or the store's trouble, which may pass
		if k.status == http.StatusInternalServerError {
			level = slog.LevelError
		}
		s.log.Log(r.Context(), level, "request failed", "request", traceOf(r.Context()).id, "error", withCause(err, known))
	}
	s.problem(w, r, k, p)
}

// kindOf looks err up. An [broker.Error] is what its Kind says, whatever caused it.
func kindOf(err error) kind {
	var known *broker.Error
	if errors.As(err, &known) {
		err = known.Kind
	}
	for _, k := range kinds {
		if errors.Is(err, k.err) {
			return k
		}
	}
	return internal
}

// withCause adds what the domain keeps from callers.
func withCause(err error, known *broker.Error) string {
	if known == nil || known.Cause == nil {
		return err.Error()
	}
	return err.Error() + ": " + known.Cause.Error()
}

// location tells the one header that the domain knows by name from body fields.
func location(field string) string {
	if field == "Idempotency-Key" || field == "If-Match" {
		return "header"
	}
	return "body"
}

// write answers with a kind that needs no more words.
func (s *server) write(w http.ResponseWriter, r *http.Request, k kind) {
	s.problem(w, r, k, v1.Problem{})
}

// problem writes p, completed from its kind.
func (s *server) problem(w http.ResponseWriter, r *http.Request, k kind, p v1.Problem) {
	p.Type = "urn:vimbroker:problem:" + k.name
	p.Title = k.title
	p.Status = k.status
	p.RequestID = traceOf(r.Context()).id
	p.Instance = "urn:vimbroker:request:" + p.RequestID
	if p.Remedy == "" {
		p.Remedy = remedies[k.name]
	}
	var body bytes.Buffer
	if err := v1.Encode(&body, p); err != nil {
		s.log.ErrorContext(r.Context(), "encoding a problem", "request", p.RequestID, "error", err)
	}
	h := w.Header()
	h.Set("Content-Type", v1.ProblemType)
	if k.status == http.StatusServiceUnavailable && h.Get("Retry-After") == "" {
		h.Set("Retry-After", "5")
	}
	w.WriteHeader(k.status)
	_, _ = w.Write(body.Bytes()) // the caller may be gone
}
