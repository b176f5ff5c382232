package api

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"log/slog"
	"maps"
	"math"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/broker/api/codec"
	"github.com/vimbroker/vimbroker/broker/clientconfig"
	"github.com/vimbroker/vimbroker/policy"
)

// Sentinels of faults of a request before the domain sees it.
var (
	// ErrNoOperation: the path leads nowhere.
	ErrNoOperation = errors.New("no such operation")
	ErrMethod      = errors.New("method not allowed")
	ErrMalformed   = errors.New("malformed request")
	// ErrTooLarge: the body is larger than the operation's limit.
	ErrTooLarge = errors.New("request body too large")
	// ErrTooSlow: the body did not arrive in time.
	ErrTooSlow = errors.New("request body came too slowly")
	// ErrMediaType: the body has none of the operation's media types.
	ErrMediaType = errors.New("unsupported media type")
	// ErrLimited: the caller asks too much.
	ErrLimited = errors.New("too many requests")
	errShed    = errors.New("the server has too much to do")
	// ErrInternal: what no row of the table knows.
	ErrInternal = errors.New("internal error")
)

// ErrorKind says how errors of one sentinel are answered.
type ErrorKind struct {
	// Err is the sentinel.
	Err    error
	Status int
	// Name is the kind's name for programs; it never changes.
	Name  string
	Title string
	// Help says what the kind means and what to do; empty where it is a standard's, and no type of problem. The common
	// kinds have theirs in [helps].
	Help string
}

// kinds is the one table from sentinels to answers, in the order in which an error that
// wraps several is looked up. A door's own rows come first; an error without a row is
// [ErrInternal].
var kinds = []ErrorKind{
	{broker.ErrNotFound, http.StatusNotFound, "not-found", "not found", ""},
	{broker.ErrInvalid, http.StatusUnprocessableEntity, "invalid", "invalid request", ""},
	{broker.ErrExists, http.StatusConflict, "exists", "already exists", ""},
	{broker.ErrConflict, http.StatusConflict, "conflict", "conflict", ""},
	{broker.ErrPrecondition, http.StatusPreconditionFailed, "changed", "changed since it was read", ""},
	{broker.ErrDenied, http.StatusForbidden, "denied", "denied by policy", ""},
	{broker.ErrQuota, http.StatusTooManyRequests, "quota", "quota exceeded", ""},
	{broker.ErrUnsupported, http.StatusUnprocessableEntity, "unsupported", "not supported", ""},
	{broker.ErrUnauthorized, http.StatusUnprocessableEntity, "vim-refuses-credential", "credential refused by the VIM", ""},
	{broker.ErrForbidden, http.StatusUnprocessableEntity, "vim-forbids", "credential lacks rights on the VIM", ""},
	{broker.ErrUnreachable, http.StatusBadGateway, "vim-unreachable", "VIM unreachable", ""},
	{broker.ErrUnavailable, http.StatusServiceUnavailable, "unavailable", "temporarily unavailable", ""},
	{broker.ErrUnopenable, http.StatusInternalServerError, "unopenable", "stored credential cannot be opened", ""},
	{policy.ErrDenied, http.StatusForbidden, "denied", "denied by policy", ""},
	{policy.ErrUnauthenticated, http.StatusUnauthorized, "unauthenticated", "not authenticated", ""},
	{clientconfig.ErrFormat, http.StatusUnprocessableEntity, "unsupported", "not supported", ""},
	{ErrNoOperation, http.StatusNotFound, "not-found", "not found", ""},
	{ErrMethod, http.StatusMethodNotAllowed, "method", "method not allowed", ""},
	{ErrMalformed, http.StatusBadRequest, "malformed", "malformed request", ""},
	{ErrTooLarge, http.StatusRequestEntityTooLarge, "too-large", "request body too large", ""},
	{ErrTooSlow, http.StatusRequestTimeout, "too-slow", "request body came too slowly", ""},
	{ErrMediaType, http.StatusUnsupportedMediaType, "media-type", "unsupported media type", ""},
	{ErrLimited, http.StatusTooManyRequests, "limited", "too many requests", ""},
	{errShed, http.StatusServiceUnavailable, "overloaded", "the server has too much to do", ""},
	{context.DeadlineExceeded, http.StatusGatewayTimeout, "timeout", "timed out", ""},
	{context.Canceled, http.StatusServiceUnavailable, "canceled", "the request was canceled", ""},
	{ErrInternal, http.StatusInternalServerError, "internal", "internal error", ""},
}

// Kinds are the rows of the common table, one for each name, with what they mean.
func Kinds() []ErrorKind {
	var all []ErrorKind
	for _, k := range kinds {
		k.Help = helps[k.Name]
		if !slices.ContainsFunc(all, func(known ErrorKind) bool { return known.Name == k.Name }) {
			all = append(all, k)
		}
	}
	return all
}

// Fault is one thing wrong with a request.
type Fault struct {
	// Location is body, query, path or header.
	Location string
	// Field is empty if no single field is wrong.
	Field   string
	Message string
}

func (f Fault) Sentence() string {
	if f.Field == "" {
		return "the " + f.Location + " " + f.Message
	}
	return f.Field + ": " + f.Message
}

// Problem is a refusal, in words fit for the caller, before a door puts it into its form.
type Problem struct {
	ErrorKind
	Detail    string
	Remedy    string
	Faults    []Fault
	RequestID string
	// Cause is the error itself: for a door to look at, never to show.
	Cause error
}

// Refusal is an error that is decided before the domain is asked.
type Refusal struct {
	// Kind is a sentinel of the table.
	Kind   error
	Detail string
	Remedy string
	Faults []Fault
	// RetryAfter is when it may be different; zero says nothing of it.
	RetryAfter time.Duration
	Header     http.Header
}

// Error names the kind. The faults are for the caller.
func (r *Refusal) Error() string { return r.Kind.Error() }

func (r *Refusal) Unwrap() error { return r.Kind }

// Refuse is a refusal of one part of a request.
func Refuse(kind error, location, field, message string) error {
	return &Refusal{Kind: kind, Faults: []Fault{{Location: location, Field: field, Message: message}}}
}

// fail answers with the problem that err is. Text of unknown errors goes to the log only.
func (s *server) fail(w http.ResponseWriter, r *http.Request, d *Door, err error) {
	p := d.problem(err)
	p.RequestID = traceOf(r.Context()).id
	h := w.Header()
	if again := retryAfter(err); again > 0 {
		h.Set("Retry-After", strconv.Itoa(int(math.Ceil(again.Seconds()))))
	}
	if own, is := errors.AsType[*Refusal](err); is {
		maps.Copy(h, own.Header)
	}
	a := d.Refuse(r, p)
	a.Status = cmp.Or(a.Status, p.Status)
	if a.Status == http.StatusServiceUnavailable && h.Get("Retry-After") == "" {
		h.Set("Retry-After", "5")
	}
	if a.Status >= http.StatusInternalServerError && !errors.Is(err, errShed) { // of which the access line says all
		level := slog.LevelWarn // a fault of a VIM or of the store, which may pass
		if kindOf(kinds, err).Status == http.StatusInternalServerError {
			level = slog.LevelError
		}
		s.Log.Log(r.Context(), level, "request failed", "request", p.RequestID, "error", err)
	}
	if err := s.write(w, r, d, a); err != nil {
		s.Log.ErrorContext(r.Context(), "encoding a refusal", "request", p.RequestID, "error", err)
		w.WriteHeader(a.Status)
	}
}

// retryAfter is when a refusal says that it may be different; zero if it does not.
func retryAfter(err error) time.Duration {
	var known *broker.Error
	var own *Refusal
	switch {
	case errors.As(err, &known):
		return known.RetryAfter
	case errors.As(err, &own):
		return own.RetryAfter
	}
	return 0
}

// problem looks err up and words it.
func (d *Door) problem(err error) Problem {
	err = refused(err)
	p := Problem{ErrorKind: kindOf(d.kinds(), err), Cause: err}
	var own *Refusal
	if errors.As(err, &own) {
		p.Detail, p.Remedy, p.Faults = own.Detail, own.Remedy, own.Faults
		return p
	}
	var known *broker.Error
	if !errors.As(err, &known) {
		return p
	}
	p.Remedy = known.Remedy
	if words := d.Next[known.Next]; words != "" {
		p.Remedy = strings.TrimPrefix(p.Remedy+"; "+words, "; ")
	}
	if known.Field == "" {
		p.Detail = known.Detail
	} else {
		p.Faults = []Fault{{Location: location(known.Field), Field: known.Field, Message: known.Detail}}
	}
	return p
}

// refused makes a refusal from the codec's fault of a body.
func refused(err error) error {
	var f *codec.FieldError
	switch {
	case !errors.As(err, &f):
		return err
	case f.Syntax:
		return Refuse(ErrMalformed, "body", f.Field, f.Message)
	}
	return Refuse(broker.ErrInvalid, "body", f.Field, f.Message)
}

// kinds are the door's rows and then the common ones.
func (d *Door) kinds() []ErrorKind { return slices.Concat(d.Kinds, kinds) }

// kindOf looks err up. A [broker.Error] is classed by its Kind, whatever its cause.
func kindOf(table []ErrorKind, err error) ErrorKind {
	var known *broker.Error
	if errors.As(err, &known) {
		err = known.Kind
	}
	for _, sentinel := range []error{err, ErrInternal} {
		for _, k := range table {
			if errors.Is(sentinel, k.Err) {
				return k
			}
		}
	}
	panic("the table of refusals has no row for internal errors")
}

// location is that of a field of the domain: it knows two headers by name.
func location(field string) string {
	if field == "Idempotency-Key" || field == "If-Match" {
		return "header"
	}
	return "body"
}

// write writes an answer. A body is encoded whole before the status is sent.
func (s *server) write(w http.ResponseWriter, r *http.Request, d *Door, a Answer) error {
	var body bytes.Buffer
	if a.Body != nil {
		if err := d.Encode(&body, a.Body); err != nil {
			return err
		}
	}
	h := w.Header()
	for name, values := range a.Header {
		h[http.CanonicalHeaderKey(name)] = values
	}
	if a.Serve != nil {
		a.Serve.ServeHTTP(&stream{ResponseWriter: w, control: http.NewResponseController(w)}, r)
		return nil
	}
	if a.Body != nil && h.Get("Content-Type") == "" {
		h.Set("Content-Type", d.MediaType)
	}
	w.WriteHeader(a.Status)
	_, _ = w.Write(body.Bytes()) // the caller may be gone
	return nil
}

// stream moves the deadline of a long answer while bytes go out.
type stream struct {
	http.ResponseWriter
	control *http.ResponseController
}

func (s *stream) Write(b []byte) (int, error) {
	_ = s.control.SetWriteDeadline(time.Now().Add(stallTime)) // tests' recorders have none
	return s.ResponseWriter.Write(b)
}

// Unwrap is for [http.ResponseController].
func (s *stream) Unwrap() http.ResponseWriter { return s.ResponseWriter }

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
