package api

import (
	"context"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/policy"
	"github.com/vimbroker/vimbroker/policy/audit"
)

// Door is one standard's view of the broker. Fields without a stated default are required.
type Door struct {
	// Name stands in the audit log, and with leases; empty: nothing that is recorded comes in here.
	Name audit.Door
	// Paths are those that the door answers. One that ends in / stands for everything
	// below it, unless {$} follows. The longest path of all doors wins.
	Paths []string
	// Private is a path. Below it, an unauthenticated caller does not even learn which
	// operations exist. Empty: there is no such path.
	Private string
	Routes  []Route
	// Basic finds the caller who shows an id and a secret (RFC 7617), where callers may come in so as well; nil: they may not.
	Basic func(ctx context.Context, id, secret string) (policy.Principal, error)
	// Tolerant: unknown query parameters are ignored. Otherwise they are refused.
	Tolerant bool
	// Kinds replace rows of the common table of refusals.
	Kinds []ErrorKind
	// Next says for each next step of the domain how this door's callers take it.
	Next map[broker.Next]string
	// Refuse puts a refusal into the door's form. A status of zero is the problem's.
	Refuse func(*http.Request, Problem) Answer
	// Header adds headers to every answer; nil adds none.
	Header func(h http.Header, requestID string)
	// MediaType is that of bodies; empty means application/json.
	MediaType string
	// Encode writes the body of an answer; nil means [codec.Codec.Encode].
	Encode func(io.Writer, any) error
}

// Route is one row of a door's route table.
type Route struct {
	// Method and Path are a pattern of [http.ServeMux], and the operation's name in
	// metrics and in the log.
	Method, Path string
	// Also are further paths of the same operation.
	Also []string
	// Identify finds the caller; nil: the owner of the bearer token. See [Anyone].
	Identify Identify
	// Login: it lets callers in. It reads the credentials itself, also those of headers, and
	// refuses with [policy.ErrUnauthenticated], which counts as a failed login.
	Login         bool
	Query, Header []Parameter
	Body          Body
	// Timeout bounds the whole answer, the calls to a VIM included.
	Timeout time.Duration
	Status  int
	// Quiet: logged at debug level only.
	Quiet bool
	// Lane says which limits hold.
	Lane   Lane
	Handle func(*Call) (Answer, error)
}

// Lane says which limits hold for an operation.
type Lane int

const (
	// Ordinary operations keep all limits, and are shed if the server has too much to do.
	Ordinary Lane = iota
	// Ending operations end access. They are never shed, and counted apart from the others:
	// a caller who asks too much of other kinds can still end his leases.
	Ending
	// Watching operations show how the server is. They are never shed.
	Watching
	// Free operations cost nothing, and have no limit.
	Free
)

// name is the operation's in metrics and in the log.
func (o Route) name() string { return o.Method + " " + o.Path }

// Body says which body an operation takes. The zero Body takes none.
type Body struct {
	// Limit bounds the body in bytes; zero means that there must be none.
	Limit int64
	// Types are the media types it may have; nil means that the type is not checked.
	Types    []string
	Optional bool
	// Stream: the handler reads [Call.Body] itself. Reading may take as long as the
	// operation's timeout, as long as bytes keep coming.
	Stream bool
}

// Parameter is one query parameter or header of an operation.
type Parameter struct {
	Name string
	// Values are those it can have; nil means any.
	Values   []string
	Many     bool
	Required bool
	// Kind is how a missing or a wrong value is refused; nil means [ErrMalformed] for a
	// missing one and [broker.ErrInvalid] for a wrong one.
	Kind error
}

// Call is one request to an operation, authenticated and within its limits.
type Call struct {
	*http.Request
	Principal policy.Principal
	// Query holds the parameters that the operation takes, or all if the door is tolerant.
	Query url.Values
	// Content is the whole body, unless it is a stream.
	Content []byte
	ID      string
}

// Fields reads a form body. A field that is given twice is refused.
func (c *Call) Fields() (url.Values, error) {
	fields, err := url.ParseQuery(string(c.Content))
	if err != nil {
		return nil, Refuse(ErrMalformed, "body", "", "is not a well-formed form")
	}
	for name, values := range fields {
		if len(values) > 1 {
			return nil, Refuse(ErrMalformed, "body", plainName(name), "is given twice")
		}
	}
	return fields, nil
}

// longestName bounds the repeated part of a name that a caller chose.
const longestName = 32

// plainName repeats a name only if it looks like one: a secret may stand in its place.
func plainName(name string) string {
	if len(name) > longestName || strings.ContainsFunc(name, func(r rune) bool {
		return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r == '_' || r == '-')
	}) {
		return "?"
	}
	return name
}

// Answer is the result of an operation.
type Answer struct {
	// Status of zero is the operation's.
	Status int
	Header http.Header
	// Body is encoded as the door does it; nil sends none.
	Body any
	// Serve writes status and body instead, for bodies of another media type than the
	// door's and for streams. A stream that fails after its start panics with
	// [http.ErrAbortHandler].
	Serve http.Handler
}
