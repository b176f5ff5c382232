package lifecycle

import (
	"context"
	"errors"
	"net/http"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/policy"
)

var (
	// ErrCanceled: somebody canceled the operation.
	ErrCanceled = errors.New("canceled")
	// errLeaseEnded: somebody revoked the lease of the operation.
	errLeaseEnded = errors.New("lease revoked")
	// errInternal is an error that no row lists.
	errInternal = errors.New("internal error")
)

type failureKind struct {
	err    error
	status int
}

// failures is the table of what operations fail with.
var failures = []failureKind{
	{ErrCanceled, http.StatusConflict},
	{errLeaseEnded, http.StatusConflict},
	{ErrNotReady, http.StatusGatewayTimeout},
	{policy.ErrDelegationEnded, http.StatusForbidden},
	{policy.ErrDenied, http.StatusForbidden},
	{broker.ErrDenied, http.StatusForbidden},
	{broker.ErrNotFound, http.StatusNotFound},
	{broker.ErrInvalid, http.StatusUnprocessableEntity},
	{broker.ErrExists, http.StatusConflict},
	{broker.ErrConflict, http.StatusConflict},
	{broker.ErrPrecondition, http.StatusPreconditionFailed},
	{broker.ErrQuota, http.StatusTooManyRequests},
	{broker.ErrUnsupported, http.StatusUnprocessableEntity},
	{broker.ErrUnauthorized, http.StatusUnprocessableEntity},
	{broker.ErrForbidden, http.StatusUnprocessableEntity},
	{broker.ErrUnreachable, http.StatusBadGateway},
	{broker.ErrUnavailable, http.StatusServiceUnavailable},
	{broker.ErrUnopenable, http.StatusInternalServerError},
	{context.DeadlineExceeded, http.StatusGatewayTimeout},
	{errInternal, http.StatusInternalServerError},
}

// kindOf looks an error up. A [broker.Error] is classed by its Kind, whatever its cause.
func kindOf(err error) failureKind {
	var known *broker.Error
	if errors.As(err, &known) {
		err = known.Kind
	}
	for _, k := range failures {
		if errors.Is(err, k.err) {
			return k
		}
	}
	return failures[len(failures)-1]
}

// failureOf words the error that an operation failed with. The text of an unknown error stays
// in the log.
func failureOf(err error) *Failure {
	k := kindOf(err)
	f := &Failure{Status: k.status, Title: k.err.Error(), Detail: k.err.Error()}
	var known *broker.Error
	switch {
	case errors.As(err, &known):
		f.Detail = known.Error()
	case errors.Is(err, policy.ErrDelegationEnded):
		f.Detail = "the one who asked for the operation has no access any more, or it has taken longer than their roles are taken for " +
			"granted; retry it"
	}
	return f
}

// mayPass reports whether the same may succeed later.
func mayPass(err error) bool {
	k := kindOf(err)
	return k.err == broker.ErrUnreachable || k.err == broker.ErrUnavailable //nolint:errorlint // a row of the table
}
