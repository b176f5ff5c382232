package barbican

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/gophercloud/gophercloud/v2"

	"github.com/vimbroker/vimbroker/broker/remote"
	"github.com/vimbroker/vimbroker/broker/secret"
)

// fault is a request that did not do what it was for. Its text is made of our own
// words only: what the remote side answered, and the URLs in the errors of net/http
// and gophercloud, stay out.
type fault struct {
	// kind is a sentinel of package secret, or nil where none fits.
	kind error
	// reason says what is wrong, for a person.
	reason string
	// status is the remote side's, or 0 if it gave none.
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
	return text
}

func (f *fault) Unwrap() []error {
	return slices.DeleteFunc([]error{f.kind, f.cause}, func(err error) bool { return err == nil })
}

// passing reports whether an immediate retry may help: the connection broke, as it
// does when an idle one is closed, or the answer came from a server in trouble.
// After a timeout it will not.
func (f *fault) passing() bool {
	switch f.status {
	case 0:
		return errors.Is(f.kind, secret.ErrUnavailable) && !errors.Is(f.cause, context.DeadlineExceeded)
	case http.StatusInternalServerError, http.StatusBadGateway, http.StatusServiceUnavailable:
		return true
	}
	return false
}

func unavailable(reason string) *fault { return &fault{kind: secret.ErrUnavailable, reason: reason} }

var (
	errNotBarbican = unavailable("what answers is not Barbican")
	errNoKey       = &fault{kind: secret.ErrCorrupt, reason: "the secret holds something else"}
)

// faultOf translates what gophercloud answered; server is Keystone or Barbican.
func faultOf(ctx context.Context, err error, server string) *fault {
	var (
		own      *fault
		answered gophercloud.ErrUnexpectedResponseCode
		syntax   *json.SyntaxError
		shape    *json.UnmarshalTypeError
	)
	switch {
	case err == nil:
		return nil
	case errors.As(err, &own):
		return own
	case errors.As(err, &answered):
		return refusal(answered, server)
	case errors.As(err, &syntax), errors.As(err, &shape):
		return unavailable("what answers is not " + server)
	}
	return brokenWay(ctx, err, server)
}

// refusal translates an answer that is no success.
func refusal(a gophercloud.ErrUnexpectedResponseCode, server string) *fault {
	f := &fault{kind: secret.ErrUnavailable, status: a.Actual}
	switch {
	case a.Actual == http.StatusTooManyRequests:
		f.reason = server + " limits the rate of requests"
	case a.Actual >= 500:
		f.reason = fmt.Sprintf("%s, or what stands before it, cannot answer now (%d)", server, a.Actual)
	case a.Actual >= 300 && a.Actual < 400:
		f.reason = server + " redirects, which is not followed: configure the address it leads to"
	case a.Actual == http.StatusUnauthorized:
		// Middleware's answer, which has no form of its own.
		f.kind, f.reason = secret.ErrForbidden, server+" does not accept the token"
	case !speaks(a.Body, server):
		f.reason = fmt.Sprintf("what answers is not %s (%d)", server, a.Actual)
	case a.Actual == http.StatusForbidden && strings.Contains(string(a.Body), "Quota reached"):
		f.reason = "the project's quota of secrets is used up"
	case a.Actual == http.StatusForbidden:
		f.kind, f.reason = secret.ErrForbidden, server+`'s policy forbids this to the user, who needs the role "creator" in the project`
	case a.Actual == http.StatusNotFound:
		f.kind, f.reason = secret.ErrNotFound, server+" holds no such secret"
	default:
		f.kind, f.reason = nil, fmt.Sprintf("%s does not accept the request (%d)", server, a.Actual)
	}
	return f
}

// speaks reports whether an error's body is of the form that the server gives it.
// A proxy's 404 must not be mistaken for a key that is gone.
func speaks(body []byte, server string) bool {
	type form struct {
		Code  int    `json:"code"`
		Title string `json:"title"`
	}
	var of struct {
		form
		Error form `json:"error"`
	}
	if json.Unmarshal(body, &of) != nil {
		return false
	}
	if server == issuer {
		of.form = of.Error
	}
	return of.Code != 0 && of.Title != ""
}

// The servers, as errors name them.
const (
	issuer = "Keystone"
	keeper = "Barbican"
)

// brokenWay translates an error without an answer. Whether the request was carried
// out is unknown.
func brokenWay(ctx context.Context, err error, server string) *fault {
	if errors.Is(ctx.Err(), context.Canceled) {
		return &fault{reason: "asking " + server, cause: context.Canceled}
	}
	f := unavailable(server + " cannot be reached")
	if why := remote.Unanswered(err, server); why != nil {
		f.reason, f.cause = why.Detail, why.System()
	}
	return f
}
