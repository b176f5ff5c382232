package rest

import (
	"cmp"
	"context"
	"net/http"
	"net/url"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/broker/api"
	v1 "github.com/vimbroker/vimbroker/broker/api/v1"
	"github.com/vimbroker/vimbroker/policy"
)

type route struct {
	method, path string
	// id, tag and summary are its OpenAPI operation's.
	id, tag, summary string
	// beta: nothing of it is promised yet. In its first release an operation is.
	beta bool
	// optional: the body may be left out.
	optional bool
	// timeout bounds the whole answer, the calls to a VIM included; quick if it is zero.
	timeout time.Duration
	// action is the action that the domain decides on, as documentation; empty if nothing is
	// decided.
	action policy.Action
	// query and header are the parameters it takes. Any other query parameter is refused.
	query, header []parameter
	// status are the statuses of success, the usual one first; 200 if there is none.
	status []int
	lane   api.Lane
	// media is another media type that the answer has, or can have: text, in no type of
	// package v1.
	media string
	// pushes: who asks is known by a token to push with.
	pushes bool
	// needs is an error of a server without a part that the handler leads to; nil where every server has all.
	needs func(*server) error
	endpoint
}

func (rt route) refusals() []int {
	if rt.public() {
		return []int{http.StatusInternalServerError, http.StatusServiceUnavailable}
	}
	all := []int{
		http.StatusBadRequest, http.StatusUnauthorized, http.StatusUnprocessableEntity, http.StatusTooManyRequests,
		http.StatusInternalServerError, http.StatusServiceUnavailable, http.StatusGatewayTimeout,
	}
	if rt.action != "" {
		all = append(all, http.StatusForbidden)
	}
	if strings.Contains(rt.path, "{id}") || rt.tag == "leases" || rt.tag == "clusters" {
		all = append(all, http.StatusNotFound)
	}
	if rt.in != nil {
		all = append(all, http.StatusRequestTimeout, http.StatusRequestEntityTooLarge, http.StatusUnsupportedMediaType)
	}
	if rt.method != http.MethodGet {
		all = append(all, http.StatusConflict)
	}
	if slices.ContainsFunc(rt.header, func(p parameter) bool { return p.name == "If-Match" }) {
		all = append(all, http.StatusPreconditionFailed)
	}
	if rt.timeout != quick && rt.method != http.MethodGet {
		all = append(all, http.StatusBadGateway)
	}
	slices.Sort(all)
	return all
}

// public reports whether anyone may ask, without a token.
func (rt route) public() bool { return !strings.HasPrefix(rt.path, "/v1/") }

type parameter struct {
	name, doc string
	// kind is its JSON type in OpenAPI; empty means string.
	kind string
	// values are those it can have; nil means any.
	values []string
	many   bool
}

// endpoint is a handler with the types of its bodies.
type endpoint struct {
	in, out reflect.Type // in is nil if no body is taken
	call    func(*server, *call) (reply, error)
}

type answer[O any] struct {
	body O
	// status of zero is the route's usual one; 204 sends no body.
	status   int
	revision int64
	location string
	// text is the body in place of another, where the route has a media type for it; nil
	// means that body is sent.
	text []byte
}

type reply answer[any]

// plain makes an endpoint of a handler that takes no body.
func plain[O any](h func(*server, *call) (answer[O], error)) endpoint {
	return endpoint{
		out: reflect.TypeFor[O](),
		call: func(s *server, c *call) (reply, error) {
			a, err := h(s, c)
			return reply{any(a.body), a.status, a.revision, a.location, a.text}, err
		},
	}
}

// takes makes an endpoint of a handler that takes a body.
func takes[I, O any](h func(*server, *call, I) (answer[O], error)) endpoint {
	e := plain(func(s *server, c *call) (answer[O], error) {
		var in I
		if len(c.Content) > 0 {
			if err := v1.Decode(c.Content, &in); err != nil {
				return answer[O]{}, err
			}
		}
		return h(s, c, in)
	})
	e.in = reflect.TypeFor[I]()
	return e
}

// shows answers with the wire's form of one thing.
func shows[T, O any](wire func(T) O) func(T, error) (answer[O], error) {
	return func(found T, err error) (answer[O], error) { return answer[O]{body: wire(found)}, err }
}

// lists answers with a page of things.
func lists[T, O any](wire func(T) O) func([]T, string, error) (answer[v1.List[O]], error) {
	return func(found []T, next string, err error) (answer[v1.List[O]], error) {
		l := v1.List[O]{NextPageToken: next}
		for _, one := range found {
			l.Items = append(l.Items, wire(one))
		}
		return answer[v1.List[O]]{body: l}, err
	}
}

// listsAll answers with all things, which are few.
func listsAll[T, O any](wire func(T) O) func([]T, error) (answer[v1.List[O]], error) {
	return func(found []T, err error) (answer[v1.List[O]], error) { return lists(wire)(found, "", err) }
}

// byID is an endpoint that answers with what a part of the domain has under the id or name in the path.
func byID[P, T, O any](
	part func(*server) P, find func(P, context.Context, policy.Principal, string) (T, error), wire func(T) O,
) endpoint {
	return plain(func(s *server, c *call) (answer[O], error) {
		return shows(wire)(find(part(s), c.ctx, c.principal, c.subject()))
	})
}

// ends is an endpoint that ends what a part has under the id or name in the path.
func ends[P any](part func(*server) P, end func(P, context.Context, policy.Principal, string) error) endpoint {
	return plain(func(s *server, c *call) (answer[struct{}], error) {
		return done[struct{}](end(part(s), c.ctx, c.principal, c.subject()))
	})
}

// acts is an endpoint that has a part do what needs no more words.
func acts[P, T, O any](part func(*server) P, act func(P, context.Context, policy.Principal) (T, error), wire func(T) O) endpoint {
	return plain(func(s *server, c *call) (answer[O], error) { return shows(wire)(act(part(s), c.ctx, c.principal)) })
}

// all is an endpoint that answers with all of a part's things, which are few.
func all[P, T, O any](part func(*server) P, list func(P, context.Context, policy.Principal) ([]T, error), wire func(T) O) endpoint {
	return plain(func(s *server, c *call) (answer[v1.List[O]], error) {
		return listsAll(wire)(list(part(s), c.ctx, c.principal))
	})
}

// pages is an endpoint that answers with a page of a part's things.
func pages[P, Q, T, O any](
	part func(*server) P, list func(P, context.Context, policy.Principal, Q) ([]T, string, error), asked func(*call) Q, wire func(T) O,
) endpoint {
	return plain(func(s *server, c *call) (answer[v1.List[O]], error) {
		return lists(wire)(list(part(s), c.ctx, c.principal, asked(c)))
	})
}

// lacks is the error of servers without a part.
func lacks(without func(*server) bool, detail, remedy string) func(*server) error {
	return func(s *server) error {
		if without(s) {
			return &broker.Error{Kind: broker.ErrUnsupported, Detail: detail, Remedy: remedy}
		}
		return nil
	}
}

// done answers that something is gone.
func done[O any](err error) (answer[O], error) { return answer[O]{status: http.StatusNoContent}, err }

type call struct {
	*api.Call
	ctx       context.Context
	principal policy.Principal
	query     url.Values
	page      broker.Page
}

func (c *call) paged() broker.Page { return c.page }

func (c *call) path(name string) string { return c.PathValue(name) }

func (c *call) subject() string { return cmp.Or(c.path("id"), c.path("name")) }

// maxBody bounds every request body: a kubeconfig with its certificates is a few
// kilobytes, a clouds.yaml less.
const maxBody = 1 << 20

// operation makes the door's operation of a route.
func (s *server) operation(rt route) api.Route {
	op := api.Route{
		Method: rt.method, Path: rt.path, Timeout: rt.timeout, Status: rt.status[0], Quiet: rt.public(), Lane: rt.lane,
		Query: parameters(rt.query), Header: parameters(rt.header),
		Handle: func(c *api.Call) (api.Answer, error) {
			if rt.needs != nil {
				if err := rt.needs(s); err != nil {
					return api.Answer{}, err
				}
			}
			page, err := pageOf(c.Query)
			if err != nil {
				return api.Answer{}, err
			}
			a, err := rt.call(s, &call{c, c.Context(), c.Principal, c.Query, page})
			if a.text != nil && err == nil {
				return api.Answer{Serve: written(rt.media, a.text)}, nil
			}
			return a.encoded(), err
		},
	}
	if rt.public() {
		op.Identify = api.Anyone
	}
	if rt.pushes {
		op.Identify = s.pusher
	}
	if rt.in != nil {
		op.Body = api.Body{Limit: maxBody, Types: []string{v1.MediaType}, Optional: rt.optional}
		if rt.method == http.MethodPatch { // merge patch (RFC 7396) may be called by its name
			op.Body.Types = append(op.Body.Types, "application/merge-patch+json")
		}
	}
	return op
}

func written(media string, text []byte) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", media)
		_, _ = w.Write(text) // the caller may be gone
	})
}

func parameters(all []parameter) []api.Parameter {
	var out []api.Parameter
	for _, p := range all {
		out = append(out, api.Parameter{Name: p.name, Values: p.values, Many: p.many})
	}
	return out
}

func (a reply) encoded() api.Answer {
	out := api.Answer{Status: a.status, Header: http.Header{}}
	if a.location != "" {
		out.Header.Set("Location", a.location)
	}
	if a.revision != 0 {
		out.Header.Set("ETag", strconv.Quote(strconv.FormatInt(a.revision, 10)))
	}
	if a.status != http.StatusNoContent {
		out.Body = a.body
	}
	return out
}

func invalid(location, field, message string) error {
	return api.Refuse(broker.ErrInvalid, location, field, message)
}

func pageOf(query url.Values) (broker.Page, error) {
	p := broker.Page{Size: broker.DefaultPage, Token: query.Get("pageToken")}
	if given := query.Get("pageSize"); given != "" {
		n, err := strconv.Atoi(given)
		if err != nil || n < 1 || n > broker.MaxPage {
			return p, invalid("query", "pageSize", "must be a whole number from 1 to "+strconv.Itoa(broker.MaxPage))
		}
		p.Size = n
	}
	return p, nil
}

// numbers reads those of the query that are there.
func (c *call) numbers(to map[string]*int64) (err error) {
	for name, n := range to {
		text := c.query.Get(name)
		if text == "" {
			continue
		}
		if *n, err = strconv.ParseInt(text, 10, 64); err != nil || *n < 0 {
			return invalid("query", name, "must be a number, not less than zero")
		}
	}
	return nil
}

func (c *call) flag(name string) bool { return c.query.Get(name) == "true" }

// idempotencyKey reads the header that makes a repeated POST harmless.
func (c *call) idempotencyKey() (string, error) {
	key := c.Header.Get("Idempotency-Key")
	return key, broker.CheckIdempotencyKey(key)
}

// ifMatch reads the revision that the caller believes to be the current one. It is zero
// without the header, or for "*".
func (c *call) ifMatch() (int64, error) {
	given := strings.TrimSpace(c.Header.Get("If-Match"))
	if given == "" || given == "*" {
		return 0, nil
	}
	quoted := strings.TrimPrefix(given, `"`)
	number, ok := strings.CutSuffix(quoted, `"`)
	revision, err := strconv.ParseInt(number, 10, 64)
	if !ok || len(quoted) == len(given) || err != nil || revision < 1 {
		return 0, invalid("header", "If-Match", `must be one ETag as an answer gave it, such as "7" in quotes`)
	}
	return revision, nil
}

// duration reads a field that contains a Go duration; empty is zero.
func duration(field, text string) (time.Duration, error) {
	if text == "" {
		return 0, nil
	}
	d, _ := time.ParseDuration(text)
	if d <= 0 {
		return 0, broker.Invalid(field, "must be a duration such as 90m or 1h30m")
	}
	return d, nil
}
