package vault

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"

	"github.com/hashicorp/vault/api"

	"github.com/vimbroker/vimbroker/broker/remote"
	"github.com/vimbroker/vimbroker/broker/secret"
)

// fault is a request that did not do what it was for. Its text is made of our
// own words only: Vault's answers, and the URLs in the errors of net/http, stay out.
type fault struct {
	// kind is a sentinel of package secret, or nil where none fits.
	kind error
	// reason says what is wrong, for a person; remedy what the broker's operator can
	// do, where there is something.
	reason, remedy string
	// status is Vault's, or 0 if it gave none.
	status int
	// cause is context.Canceled, context.DeadlineExceeded, a system's error
	// number, or nil.
	cause error
}

func (f *fault) Error() string {
	text := f.reason
	if f.kind != nil {
		text = f.kind.Error() + ": " + text
	}
	if f.cause != nil {
		text += ": " + f.cause.Error()
	}
	if f.remedy != "" {
		text += "; " + f.remedy
	}
	return text
}

// Reason says what is wrong, in words that anyone may read.
func (f *fault) Reason() string { return f.reason }

func (f *fault) Unwrap() []error {
	return slices.DeleteFunc([]error{f.kind, f.cause}, func(err error) bool { return err == nil })
}

func unavailable(reason string) *fault { return &fault{kind: secret.ErrUnavailable, reason: reason} }

// Remedies of more than one fault.
const (
	remedyMount  = "name the mount of a KV version 2 engine, or enable one there"
	remedyPolicy = "compare the policy that the login gives with deploy/vault-policy.hcl"
)

// statuses are the answers of Vault that mean the same whatever was asked
// (developer.hashicorp.com/vault/api-docs, "HTTP status codes"). 429, 472 and 473
// are also what load balancers pass on from standbys.
var statuses = map[int]fault{
	http.StatusForbidden:           {kind: secret.ErrForbidden, reason: "Vault refuses the token", remedy: remedyPolicy},
	http.StatusPreconditionFailed:  {kind: secret.ErrUnavailable, reason: "this Vault node has not caught up with the last writes"},
	http.StatusTooManyRequests:     {kind: secret.ErrUnavailable, reason: "Vault limits the rate of requests"},
	472:                            {kind: secret.ErrUnavailable, reason: "this Vault node is a standby for disaster recovery"},
	473:                            {kind: secret.ErrUnavailable, reason: "this Vault node is a performance standby"},
	http.StatusInternalServerError: {kind: secret.ErrUnavailable, reason: "Vault fails inside, or has no active node"},
	http.StatusBadGateway:          {kind: secret.ErrUnavailable, reason: "Vault, or what stands before it, has no answer"},
	http.StatusServiceUnavailable:  {kind: secret.ErrUnavailable, reason: "Vault is down for maintenance or sealed"},
	http.StatusGatewayTimeout:      {kind: secret.ErrUnavailable, reason: "Vault, or what stands before it, has no answer in time"},
	http.StatusNotImplemented: {
		kind: secret.ErrUnavailable, reason: "Vault is not initialised",
		remedy: "initialise it, and unseal it",
	},
	http.StatusMethodNotAllowed:      {reason: "the mount is not a KV version 2 engine", remedy: remedyMount},
	http.StatusBadRequest:            {reason: "Vault does not accept the request"},
	http.StatusRequestEntityTooLarge: {reason: "Vault finds the request too large"},
}

// faultOf translates what the client answered: a response that is not a success,
// or an error on the way.
func faultOf(ctx context.Context, response *api.Response, err error) *fault {
	if response == nil || response.Response == nil {
		return brokenWay(ctx, err)
	}
	status := response.StatusCode
	if status == http.StatusNotFound {
		return notFound(response)
	}
	if status >= 300 && status < 400 {
		f := unavailable("Vault redirects to an address that is not among its configured ones")
		f.status = status
		return f
	}
	f, known := statuses[status]
	if !known {
		f = fault{kind: secret.ErrUnavailable, reason: fmt.Sprintf("Vault answers with the unexpected status %d", status)}
	}
	f.status = status
	if status == http.StatusServiceUnavailable && says(err, "sealed") {
		f.reason, f.remedy = "Vault is sealed", "unseal it"
	}
	return &f
}

// says reports whether Vault's own error messages hold the word.
func says(err error, word string) bool {
	var answered *api.ResponseError
	return errors.As(err, &answered) && slices.ContainsFunc(answered.Errors, func(s string) bool {
		return strings.Contains(s, word)
	})
}

// notFound tells the kinds of 404 apart. Vault has no secret at a path: an
// empty list of errors. It has the secret, and not the version, which was deleted
// or destroyed: the version's metadata. The rest does not speak of a secret:
// nothing is mounted there (a list of errors that says so), or it was not Vault
// who answered. To take these for a missing key would be to believe in a deletion
// that never was.
func notFound(response *api.Response) *fault {
	f := &fault{kind: secret.ErrNotFound, reason: "Vault holds no such secret", status: http.StatusNotFound}
	var body struct {
		Errors *[]string
		Data   *struct {
			Metadata json.RawMessage
		}
	}
	text, err := io.ReadAll(response.Body)
	if err == nil {
		err = json.Unmarshal(text, &body)
	}
	switch {
	case err == nil && body.Errors != nil && len(*body.Errors) == 0:
	case err == nil && body.Data != nil && body.Data.Metadata != nil:
		f.reason = "Vault holds only the trace of a deleted secret"
	case err == nil && body.Errors != nil:
		f.kind, f.reason, f.remedy = secret.ErrUnavailable, "Vault has nothing mounted at the configured path", remedyMount
	default:
		f.kind, f.reason = secret.ErrUnavailable, "what answers is not Vault (404)"
	}
	return f
}

// brokenWay translates an error without an answer. Whether the request was
// carried out is unknown.
func brokenWay(ctx context.Context, err error) *fault {
	if errors.Is(ctx.Err(), context.Canceled) {
		return &fault{reason: "asking Vault", cause: context.Canceled}
	}
	f := unavailable("the connection to Vault broke, or cannot be made")
	if why := remote.Unanswered(err, "Vault"); why != nil {
		f.reason, f.remedy, f.cause = why.Detail, why.Remedy, why.System()
	}
	return f
}

// asFault finds the fault in an error of this package.
func asFault(err error) (*fault, bool) {
	var f *fault
	return f, errors.As(err, &f)
}

// isStatus reports whether Vault gave that status.
func isStatus(err error, status int) bool {
	f, ok := asFault(err)
	return ok && f.status == status
}

// passing reports whether a request that ended so may work if it is repeated at
// once: the connection broke, or one node of several was at fault. A timeout is
// not repeated, lest calls take twice as long, and neither are refusals.
func (f *fault) passing() bool {
	switch f.status {
	case 0:
		return f.kind != nil && !errors.Is(f.cause, context.DeadlineExceeded)
	case http.StatusInternalServerError, http.StatusBadGateway, http.StatusPreconditionFailed:
		return true
	}
	return false
}
