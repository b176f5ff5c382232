package api

import (
	"bytes"
	"context"
	"net/http"
	"net/url"
	"reflect"
	"strconv"
	"time"

	v1 "github.com/vimbroker/vimbroker/broker/api/v1"

	"github.com/vimbroker/vimbroker/policy"
)

// route is one row of the table.
type route struct {
	method, path string
	// id and summary are its OpenAPI operation's.
	id, summary string
	// limit bounds the body in bytes; it is there if and only if the endpoint takes a body.
	limit int64
	// optional: the body may be left out.
	optional bool
	// timeout bounds the whole answer, the calls to a VIM included.
	timeout time.Duration
	// action is what the domain decides by, as documentation; empty where
	// anyone may ask.
	action policy.Action
	// query and header are the parameters it takes; any other query parameter is refused.
	query, header []parameter
	// status is what success answers with, the usual one first.
	status []int
	endpoint
}

// parameter is one query parameter or header.
type parameter struct {
	name, doc string
	// kind is its JSON type in OpenAPI; empty means string.
	kind string
	// values are those it can have; nil means any.
	values []string
	// many: it may be repeated.
	many bool
}

// endpoint is a handler with the types of its bodies.
type endpoint struct {
	in, out reflect.Type // in is nil where no body is taken
	call    func(*server, *call) (reply, error)
}

// answer is what a handler gives back.
type answer[O any] struct {
	body O
	// status of zero is the route's usual one; 204 sends no body.
	status int
	// revision becomes the ETag where it is not zero.
	revision int64
	// location is the path of what was made.
	location string
}

// reply is an answer of any type.
type reply answer[any]

// plain makes an endpoint of a handler that takes no body.
func plain[O any](h func(*server, *call) (answer[O], error)) endpoint {
	return endpoint{
		out: reflect.TypeFor[O](),
		call: func(s *server, c *call) (reply, error) {
			a, err := h(s, c)
			return reply{any(a.body), a.status, a.revision, a.location}, err
		},
	}
}

// takes makes an endpoint of a handler that takes a body.
func takes[I, O any](h func(*server, *call, I) (answer[O], error)) endpoint {
	e := plain(func(s *server, c *call) (answer[O], error) {
		var in I
		if len(c.body) > 0 {
			if err := decode(c.body, &in); err != nil {
				return answer[O]{}, err
			}
		}
		return h(s, c, in)
	})
	e.in = reflect.TypeFor[I]()
	return e
}

// call is one request to an endpoint.
type call struct {
	ctx       context.Context
	principal policy.Principal
	request   *http.Request
	query     url.Values // only what the route takes
	body      []byte
}

// path returns a segment of the path.
func (c *call) path(name string) string { return c.request.PathValue(name) }

// serve makes the HTTP handler of a route.
func (s *server) serve(rt route) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		ctx, cancel := context.WithTimeout(r.Context(), rt.timeout)
		defer cancel()
		r = r.WithContext(ctx)
		t := traceOf(ctx)
		t.quiet = rt.action == ""

		c := &call{ctx: ctx, principal: t.principal, request: r}
		var err error
		if c.query, err = parseQuery(r, rt.query); err == nil {
			c.body, err = readBody(w, r, rt)
		}
		if err != nil {
			s.fail(w, r, err)
			return
		}
		a, err := rt.call(s, c)
		if err != nil {
			s.fail(w, r, err)
			return
		}
		s.reply(w, r, rt, a)
	})
}

// reply writes an answer. It is encoded whole before its status is sent.
func (s *server) reply(w http.ResponseWriter, r *http.Request, rt route, a reply) {
	if a.status == 0 {
		a.status = rt.status[0]
	}
	h := w.Header()
	if a.location != "" {
		h.Set("Location", a.location)
	}
	if a.revision != 0 {
		h.Set("ETag", strconv.Quote(strconv.FormatInt(a.revision, 10)))
	}
	if a.status == http.StatusNoContent {
		w.WriteHeader(a.status)
		return
	}
	var body bytes.Buffer
	if err := v1.Encode(&body, a.body); err != nil {
		s.fail(w, r, err)
		return
	}
	h.Set("Content-Type", v1.MediaType)
	w.WriteHeader(a.status)
	_, _ = w.Write(body.Bytes()) // the caller may be gone
}
