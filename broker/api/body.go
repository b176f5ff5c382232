package api

import (
	"errors"
	"io"
	"mime"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/vimbroker/vimbroker/broker"
)

// readBody gives a call its body: whole, or as a stream.
func readBody(w http.ResponseWriter, c *Call, want Body) error {
	// Over HTTP/2 there is a reader all the same, and a length that is no number counts as 0.
	lengths := c.Header["Content-Length"]
	empty := c.Body == nil || c.ContentLength == 0 && (len(lengths) == 0 || lengths[0] == "0")
	mistyped := want.Limit > 0 && want.Types != nil && !hasType(c.Header.Get("Content-Type"), want.Types)
	switch {
	case empty && (want.Limit == 0 || want.Optional):
		return nil
	case empty:
		return missing(want)
	case mistyped && (!want.Optional || c.ContentLength > 0): // others may turn out to be empty
		return mediaType(want)
	}
	if want.Stream && c.ContentLength > want.Limit {
		return tooLarge(want.Limit)
	}
	bounded := &boundedBody{ReadCloser: http.MaxBytesReader(w, c.Body, want.Limit), limit: want.Limit}
	if want.Stream {
		bounded.control = http.NewResponseController(w)
		c.Body = bounded
		return nil
	}
	var err error
	c.Content, err = io.ReadAll(bounded)
	switch {
	case err != nil:
		return err
	case len(c.Content) == 0 && want.Limit > 0 && !want.Optional:
		return missing(want)
	case len(c.Content) > 0 && mistyped:
		return mediaType(want)
	}
	return nil
}

func mediaType(want Body) error {
	return &Refusal{Kind: ErrMediaType, Detail: "the body must be " + strings.Join(want.Types, " or ")}
}

func missing(want Body) error {
	text := "is missing"
	if want.Types != nil {
		text += ": " + strings.Join(want.Types, " or ") + " is required"
	}
	return Refuse(ErrMalformed, "body", "", text)
}

func tooLarge(limit int64) error {
	return &Refusal{Kind: ErrTooLarge, Detail: "at most " + strconv.FormatInt(limit, 10) + " bytes are read"}
}

// boundedBody is a body whose read errors are refusals.
type boundedBody struct {
	io.ReadCloser
	limit int64
	// control moves the deadline of a stream while bytes come.
	control *http.ResponseController
}

func (b *boundedBody) Read(p []byte) (int, error) {
	if b.control != nil {
		_ = b.control.SetReadDeadline(time.Now().Add(stallTime)) // tests' recorders have none
	}
	n, err := b.ReadCloser.Read(p)
	if err != nil {
		b.control = nil // net/http watches the connection from here on, without a deadline
	}
	var large *http.MaxBytesError
	switch {
	case err == nil || errors.Is(err, io.EOF):
		return n, err
	case errors.As(err, &large) && b.limit == 0:
		return n, Refuse(ErrMalformed, "body", "", "must be empty")
	case errors.As(err, &large):
		return n, tooLarge(b.limit)
	case errors.Is(err, os.ErrDeadlineExceeded):
		return n, &Refusal{Kind: ErrTooSlow}
	}
	return n, Refuse(ErrMalformed, "body", "", "ended early")
}

// hasType reports whether a Content-Type is one of types, in UTF-8 if it names a charset.
func hasType(given string, types []string) bool {
	kind, params, err := mime.ParseMediaType(given)
	if err != nil || params["charset"] != "" && !strings.EqualFold(params["charset"], "utf-8") {
		return false
	}
	return slices.Contains(types, kind)
}

// readQuery returns the parameters that the operation takes. It refuses every other,
// unless the door is tolerant.
func readQuery(r *http.Request, known []Parameter, tolerant bool) (url.Values, error) {
	raw := r.URL.RawQuery
	if tolerant { // a semicolon is part of a value, as in ETSI's filters
		raw = strings.ReplaceAll(raw, ";", "%3B")
	}
	q, err := url.ParseQuery(raw)
	if err != nil {
		return nil, Refuse(ErrMalformed, "query", "", "is not well formed")
	}
	faults := &Refusal{Kind: broker.ErrInvalid}
	for _, p := range known {
		if err := p.check("query", q[p.Name], faults); err != nil {
			return nil, err
		}
	}
	isKnown := func(name string) bool {
		return slices.ContainsFunc(known, func(p Parameter) bool { return p.Name == name })
	}
	for name := range q {
		if !tolerant && !isKnown(name) {
			faults.Faults = append(faults.Faults, Fault{Location: "query", Message: "has an unknown parameter; " + names(known)})
			break
		}
	}
	if len(faults.Faults) > 0 {
		return nil, faults
	}
	return q, nil
}

func checkHeaders(r *http.Request, known []Parameter) error {
	faults := &Refusal{Kind: broker.ErrInvalid}
	for _, p := range known {
		if err := p.check("header", r.Header.Values(p.Name), faults); err != nil {
			return err
		}
	}
	if len(faults.Faults) > 0 {
		return faults
	}
	return nil
}

// check adds the faults of a parameter's values to faults. It returns a fault of another
// kind as an error.
func (p Parameter) check(location string, values []string, faults *Refusal) error {
	var kind error
	message := ""
	switch {
	case len(values) == 0 && p.Required:
		kind, message = ErrMalformed, "is required"
	case len(values) == 0:
	case len(values) > 1 && !p.Many:
		message = "is given twice"
	case p.Values != nil && slices.ContainsFunc(values, func(v string) bool { return !slices.Contains(p.Values, v) }):
		message = "must be one of " + strings.Join(p.Values, ", ")
	}
	if p.Kind != nil {
		kind = p.Kind
	}
	switch {
	case message == "":
		return nil
	case kind != nil:
		return Refuse(kind, location, p.Name, message)
	}
	faults.Faults = append(faults.Faults, Fault{Location: location, Field: p.Name, Message: message})
	return nil
}

// names lists the parameters; the unknown one is not repeated.
func names(known []Parameter) string {
	if len(known) == 0 {
		return "this operation takes none"
	}
	var all []string
	for _, p := range known {
		all = append(all, p.Name)
	}
	return "this operation takes " + strings.Join(all, ", ")
}
