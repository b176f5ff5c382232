package broker

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"github.com/vimbroker/vimbroker/broker/remote"
)

// Sentinels: what callers branch on, and what the API's table of problems is
// made of. Drivers and stores translate at their border into these.
var (
	// ErrNotFound: there is no such thing, or it is another project's.
	ErrNotFound = errors.New("not found")
	// ErrInvalid: the request itself is at fault; Error.Field says where.
	ErrInvalid = errors.New("invalid")
	// ErrExists: a name or key that must be unique is taken.
	ErrExists = errors.New("already exists")
	// ErrConflict: the thing's present state forbids it (leases live, a write
	// is under way, the lease has ended).
	ErrConflict = errors.New("conflict")
	// ErrPrecondition: If-Match names another revision than the present one.
	ErrPrecondition = errors.New("changed since it was read")
	// ErrDenied: policy refuses.
	ErrDenied = errors.New("denied")
	// ErrQuota: a quota is used up; nothing upstream was touched.
	ErrQuota = errors.New("quota exceeded")
	// ErrUnsupported: this kind of VIM or this VIM cannot do that.
	ErrUnsupported = errors.New("not supported")
	// ErrUnauthorized: the VIM refuses the credential (it answered 401).
	ErrUnauthorized = errors.New("credential refused by the VIM")
	// ErrForbidden: the VIM knows the credential and refuses the call (403).
	ErrForbidden = errors.New("credential lacks rights on the VIM")
	// ErrUnreachable: the VIM cannot be asked now: no connection, a time-out, TLS
	// that does not verify, an answer of 429 or 5xx. The same call may succeed later.
	ErrUnreachable = errors.New("VIM unreachable")
	// ErrUnavailable: the broker's own parts (store, key store, room for answers)
	// cannot be used now. The same call may succeed later.
	ErrUnavailable = errors.New("temporarily unavailable")
	// ErrUnopenable: the stored credential does not open with its key.
	ErrUnopenable = errors.New("stored credential cannot be opened")
)

// Next is what a caller can do next with the broker itself. It names no door: REST, Tacker's
// API and the command line each have their own words for every one.
type Next int

// The steps that errors of the domain and its drivers lead to.
const (
	NextNothing Next = iota
	// NextListVIMs shows which VIMs there are.
	NextListVIMs
	// NextListLeases shows which leases there are.
	NextListLeases
	// NextSetDefault names a VIM in the request, or makes one the project's default.
	NextSetDefault
	// NextReplaceCredential gives a VIM's credential again, or another one.
	NextReplaceCredential
	// NextCheckVIM checks a VIM once its credential has the missing rights.
	NextCheckVIM
	// NextExplain asks an administrator why policy denies.
	NextExplain
	// NextEndLeases revokes the leases of a VIM, or drains it while it is deleted.
	NextEndLeases
	// NextEndUses ends what stands on a VIM: terminates VNF instances.
	NextEndUses
	// NextMigrate migrates the database. Only the broker's operator can do that.
	NextMigrate
	// NextEnd is no step: it is behind the last.
	NextEnd
)

// Error is an error that a person can act on. Detail and Remedy are our own words and may
// be shown to any caller. Cause is for the log only.
type Error struct {
	// Kind is one of the sentinels above.
	Kind error
	// Field names the request field at fault, dotted as in the JSON body; empty
	// when no single field is.
	Field string
	// Detail says what is wrong, in one sentence without a full stop.
	Detail string
	// Remedy says what to do about it outside the broker, or with the request itself; may
	// be empty. It names no command and no path.
	Remedy string
	// Next is what to do about it with the broker.
	Next Next
	// RetryAfter is when the same call may succeed; zero where that is not known.
	RetryAfter time.Duration
	// Another: the VIM is not what was registered, or leads elsewhere. While a check says so
	// no lease is issued there.
	Another bool
	// Cause is the underlying error, if any. It must not hold a credential.
	Cause error
}

// Error returns Detail, with the field in front and the remedy behind. The cause
// is not part of it.
func (e *Error) Error() string {
	s := e.Detail
	if s == "" {
		s = e.Kind.Error()
	}
	if e.Field != "" {
		s = e.Field + ": " + s
	}
	if e.Remedy != "" {
		s += "; " + e.Remedy
	}
	return s
}

// Unwrap gives the sentinel and the cause.
func (e *Error) Unwrap() []error {
	if e.Cause == nil {
		return []error{e.Kind}
	}
	return []error{e.Kind, e.Cause}
}

// LogCause has an error in the log say its cause, which callers are not told. It is for [slog.HandlerOptions].
func LogCause(_ []string, a slog.Attr) slog.Attr {
	var known *Error
	if err, _ := a.Value.Any().(error); errors.As(err, &known) && known.Cause != nil {
		a.Value = slog.StringValue(err.Error() + ": " + known.Cause.Error())
	}
	return a
}

// Message is the part of an error that people may see.
func Message(err error) string {
	var known *Error
	switch {
	case err == nil:
		return ""
	case errors.As(err, &known):
		return known.Error()
	case errors.Is(err, context.DeadlineExceeded):
		return "no answer in time"
	}
	return "an internal error; the log says more"
}

// Damaged returns the [ErrUnavailable] of a VIM whose row cannot be read whole.
func Damaged(v VIM) error {
	return &Error{
		Kind: ErrUnavailable, Detail: "the stored VIM cannot be read",
		Remedy: "restore the row " + v.ID + " of the table vims, or its generations, from a backup", Cause: errDamaged,
	}
}

var errDamaged = errors.New("a column holds what no version writes")

// Invalid returns an [ErrInvalid] about one field.
func Invalid(field, format string, args ...any) error {
	return &Error{Kind: ErrInvalid, Field: field, Detail: fmt.Sprintf(format, args...)}
}

// MissingNamespace is the cause of an error: the VIM itself says that it has no such namespace.
type MissingNamespace struct{ Name string }

func (m *MissingNamespace) Error() string { return "the VIM has no namespace " + m.Name }

// MissingKinds is the cause of an error: resources (PLURAL.GROUP) of rules that the VIM does not serve, or that its
// credential may not hand out.
type MissingKinds struct{ Resources []string }

func (m *MissingKinds) Error() string { return "no lease can have " + strings.Join(m.Resources, ", ") }

// errMoved: what a decision rested on has changed before the effect. The whole request
// is decided and done again.
var errMoved = errors.New("changed since it was decided on")

// decided repeats a request whose decision was overtaken by another write.
func decided[T any](do func() (T, error)) (T, error) {
	const patience = 5
	for range patience {
		if done, err := do(); !errors.Is(err, errMoved) {
			return done, err
		}
	}
	var none T
	return none, changedMeanwhile()
}

// LeasesLive returns the [ErrConflict] of a VIM that leases keep from being deleted.
func LeasesLive() error {
	return &Error{
		Kind: ErrConflict, Detail: "leases on the VIM are still live", Next: NextEndLeases,
	}
}

// Unanswered translates a call of a driver that ended without an answer of the server; nil
// where there was one that could not be read.
func Unanswered(err error, server string) *Error {
	f := remote.Unanswered(err, server)
	if f == nil {
		return nil
	}
	e := &Error{Kind: ErrUnreachable, Detail: f.Detail, Remedy: f.Remedy, Cause: f.Cause}
	switch {
	case f.Busy:
		e.Kind = ErrUnavailable
	case f.CertificateRefused:
		e.Kind = ErrUnauthorized
	}
	return e
}
