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

	v1 "github.com/vimbroker/vimbroker/broker/api/v1"

	"github.com/vimbroker/vimbroker/broker"
)

const (
	// maxBody bounds every request body: a kubeconfig with its certificates is a
	// few kilobytes, a clouds.yaml less.
	maxBody = 1 << 20
	// longestKey bounds an idempotency key.
	longestKey = 128
)

// decode reads a JSON body strictly.
func decode(body []byte, in any) error {
	err := v1.Decode(body, in)
	var f *v1.FieldError
	if !errors.As(err, &f) {
		return err
	}
	if f.Syntax {
		return fault(malformed, "body", f.Field, f.Message)
	}
	return fault(invalid, "body", f.Field, f.Message)
}

// readBody reads what the route takes: JSON of at most its limit, or nothing.
func readBody(w http.ResponseWriter, r *http.Request, rt route) ([]byte, error) {
	if r.Body == nil || r.Body == http.NoBody {
		if rt.in == nil || rt.optional {
			return nil, nil
		}
		return nil, fault(malformed, "body", "", "is missing: a JSON object is wanted")
	}
	if rt.in != nil && !jsonBody(r) {
		return nil, &refusal{kind: mediaType, detail: "the body must be " + v1.MediaType}
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, rt.limit))
	var large *http.MaxBytesError
	switch {
	case errors.As(err, &large) && rt.in == nil:
		return nil, fault(malformed, "body", "", "must be empty")
	case errors.As(err, &large):
		return nil, &refusal{kind: tooLarge, detail: "at most " + strconv.FormatInt(rt.limit, 10) + " bytes are read"}
	case errors.Is(err, os.ErrDeadlineExceeded):
		return nil, &refusal{kind: tooSlow}
	case err != nil:
		return nil, fault(malformed, "body", "", "ended early")
	case len(body) == 0 && rt.in != nil && !rt.optional:
		return nil, fault(malformed, "body", "", "is missing: a JSON object is wanted")
	}
	return body, nil
}

// jsonBody reports whether the body says that it is JSON in UTF-8. Merge patch
// (RFC 7396) is what PATCH takes; it may be called by its name.
func jsonBody(r *http.Request) bool {
	kind, params, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if err != nil || params["charset"] != "" && !strings.EqualFold(params["charset"], "utf-8") {
		return false
	}
	return kind == v1.MediaType || kind == "application/merge-patch+json" && r.Method == http.MethodPatch
}

// parseQuery takes the parameters that the route has, and refuses every other.
func parseQuery(r *http.Request, known []parameter) (url.Values, error) {
	q, err := url.ParseQuery(r.URL.RawQuery)
	if err != nil {
		return nil, fault(malformed, "query", "", "is not well formed")
	}
	own := &refusal{kind: invalid}
	for _, p := range known {
		values, given := q[p.name]
		delete(q, p.name)
		switch {
		case !given:
		case len(values) > 1 && !p.many:
			own.faults = append(own.faults, v1.Fault{Location: "query", Field: p.name, Message: "is given twice"})
		case p.values != nil && !slices.Contains(p.values, values[0]):
			own.faults = append(own.faults, v1.Fault{Location: "query", Field: p.name, Message: "must be one of " + strings.Join(p.values, ", ")})
		}
	}
	if len(q) > 0 {
		own.faults = append(own.faults, v1.Fault{Location: "query", Message: "holds an unknown parameter; " + names(known)})
	}
	if len(own.faults) > 0 {
		return nil, own
	}
	q, _ = url.ParseQuery(r.URL.RawQuery)
	return q, nil
}

// names says which parameters there are: the unknown one is not repeated.
func names(known []parameter) string {
	if len(known) == 0 {
		return "none is taken here"
	}
	var all []string
	for _, p := range known {
		all = append(all, p.name)
	}
	return "those taken here are " + strings.Join(all, ", ")
}

// page reads where in a list to go on.
func (c *call) page() (broker.Page, error) {
	p := broker.Page{Size: broker.DefaultPage, Token: c.query.Get("pageToken")}
	if given := c.query.Get("pageSize"); given != "" {
		n, err := strconv.Atoi(given)
		if err != nil || n < 1 || n > broker.MaxPage {
			return p, fault(invalid, "query", "pageSize", "must be a whole number from 1 to "+strconv.Itoa(broker.MaxPage))
		}
		p.Size = n
	}
	return p, nil
}

// flag reads a query parameter that is true or false.
func (c *call) flag(name string) bool { return c.query.Get(name) == "true" }

// idempotencyKey reads the header that makes a repeated POST harmless.
func (c *call) idempotencyKey() (string, error) {
	key := c.request.Header.Get("Idempotency-Key")
	unprintable := func(r rune) bool { return r < '!' || r > '~' }
	if len(key) > longestKey || strings.ContainsFunc(key, unprintable) {
		return "", fault(invalid, "header", "Idempotency-Key", "must be at most "+strconv.Itoa(longestKey)+" visible ASCII characters")
	}
	return key, nil
}

// ifMatch reads the revision that the caller believes to be the present one;
// zero where it does not say, or says "*".
func (c *call) ifMatch() (int64, error) {
	given := strings.TrimSpace(c.request.Header.Get("If-Match"))
	if given == "" || given == "*" {
		return 0, nil
	}
	quoted := strings.TrimPrefix(given, `"`)
	number, ok := strings.CutSuffix(quoted, `"`)
	revision, err := strconv.ParseInt(number, 10, 64)
	if !ok || len(quoted) == len(given) || err != nil || revision < 1 {
		return 0, fault(invalid, "header", "If-Match", `must be one ETag as it was given, such as "7" in quotes`)
	}
	return revision, nil
}

// duration reads a field that holds a Go duration; empty is zero.
func duration(field, text string) (time.Duration, error) {
	if text == "" {
		return 0, nil
	}
	d, err := time.ParseDuration(text)
	if err != nil || d <= 0 {
		return 0, broker.Invalid(field, "must be a duration such as 90m or 1h30m")
	}
	return d, nil
}
