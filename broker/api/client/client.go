// Package client speaks REST version 1 with a vimbroker server.
package client

import (
	"bytes"
	"cmp"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"mime"
	"net"
	"net/http"
	"net/url"
	"os"
	"strings"
	"time"

	v1 "github.com/vimbroker/vimbroker/broker/api/v1"
	"github.com/vimbroker/vimbroker/broker/secret"
)

const (
	// maxAnswer bounds the bytes read of one answer.
	maxAnswer = 32 << 20
	// maxProblem bounds the bytes read of an error answer.
	maxProblem = 64 << 10
	// timeout bounds one request whose context has no deadline: longer than any route's own.
	timeout = 3 * time.Minute
)

// ErrPlainHTTP is answered by [New] for an http address that is not loopback:
// the token would cross a network in the clear.
var ErrPlainHTTP = errors.New("refusing to send the token over plain http to another host; use https")

// ErrWantsTLS is answered where plain http was sent to a server of https.
var ErrWantsTLS = errors.New("the server takes https only")

// CAError says that [Options].CAFile cannot be used.
type CAError struct{ err error }

func (e *CAError) Error() string { return e.err.Error() }

func (e *CAError) Unwrap() error { return e.err }

// Options name the server and the caller.
type Options struct {
	// Addr is the server's base URL, e.g. "https://broker.example:8443". Plain
	// http is allowed for loopback addresses only.
	Addr string
	// Token is the caller's bearer token; empty asks without one.
	Token secret.Text
	// Login logs in as a registered client, in place of a Token; one without an ID only shows its certificate, which is
	// then the caller's.
	Login *Login
	// CAFile names a PEM bundle that the server's certificate must chain to;
	// empty means the system's roots.
	CAFile string
	// HTTPClient is used instead of one of our own; CAFile must then be empty. Its
	// redirect policy is replaced: no redirect is followed.
	HTTPClient *http.Client
	// UserAgent goes with every request; empty means "vimbroker".
	UserAgent string
}

// Client asks one server. It is safe for concurrent use.
type Client struct {
	base  *url.URL
	token secret.Text
	login *session
	agent string
	http  *http.Client
}

// New returns a client. It connects to nothing.
func New(o Options) (*Client, error) {
	base, err := url.Parse(strings.TrimSuffix(o.Addr, "/"))
	if err != nil || base.Host == "" || base.Scheme != "http" && base.Scheme != "https" {
		return nil, errors.New("the broker's address must be a URL such as https://broker.example:8443")
	}
	if base.User != nil || base.RawQuery != "" || base.Fragment != "" {
		return nil, errors.New("the broker's address must not hold a user, a query or a fragment")
	}
	if base.Scheme == "http" && !loopback(base.Hostname()) {
		return nil, ErrPlainHTTP
	}
	c := &Client{base: base, token: o.Token, agent: o.UserAgent}
	if o.Login != nil && o.Login.ID != "" {
		c.login = &session{Login: *o.Login}
	}
	if c.agent == "" {
		c.agent = "vimbroker"
	}
	if o.HTTPClient != nil {
		if o.CAFile != "" {
			return nil, errors.New("give an HTTP client or a CA file, not both")
		}
		own := *o.HTTPClient
		c.http = &own
	} else if c.http, err = ownClient(o.CAFile, o.Login); err != nil {
		return nil, err
	}
	c.http.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return c, nil
}

// Trusting is an HTTP client that trusts the authorities of a file.
func Trusting(caFile string) (*http.Client, error) {
	c, err := ownClient(caFile, nil)
	if err == nil {
		c.CheckRedirect, c.Timeout = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }, timeout
	}
	return c, err
}

// ownClient trusts caFile, or the system's roots for an empty one, and shows the certificate of a login.
func ownClient(caFile string, login *Login) (*http.Client, error) {
	t := http.DefaultTransport.(*http.Transport).Clone()
	t.TLSClientConfig = &tls.Config{MinVersion: tls.VersionTLS12}
	if caFile != "" {
		pem, err := os.ReadFile(caFile)
		if err != nil {
			return nil, &CAError{fmt.Errorf("reading the broker's CA file: %w", err)}
		}
		roots := x509.NewCertPool()
		if !roots.AppendCertsFromPEM(pem) {
			return nil, &CAError{fmt.Errorf("the broker's CA file %s holds no PEM certificate", caFile)}
		}
		t.TLSClientConfig.RootCAs = roots
	}
	if login != nil && len(login.Certificate.Certificate) > 0 {
		t.TLSClientConfig.Certificates = []tls.Certificate{login.Certificate}
	}
	return &http.Client{Transport: t}, nil
}

// loopback reports whether a host cannot be another machine.
func loopback(host string) bool {
	if host == "localhost" {
		return true
	}
	return net.ParseIP(host).IsLoopback()
}

type request struct {
	method string
	path   []string // escaped and joined
	query  url.Values
	body   any
	header http.Header
	// media is the media type of the answer; empty means JSON. Any other is read into a *[]byte.
	media string
	// stream is a body of size bytes that is no JSON.
	stream io.Reader
	size   int64
}

func rest(method string, body any, segments ...string) request {
	return request{method: method, path: append([]string{"v1"}, segments...), body: body}
}

func (q request) where(query url.Values) request {
	q.query = query
	return q
}

func (q request) under(h http.Header) request {
	q.header = h
	return q
}

func fetch[T any](ctx context.Context, c *Client, q request) (T, error) {
	var out T
	_, err := c.do(ctx, q, &out)
	return out, err
}

// tell makes one call whose answer says no more than that it is done.
func (c *Client) tell(ctx context.Context, q request) error {
	_, err := c.do(ctx, q, nil)
	return err
}

// do makes one call and decodes the answer into out, unless that is nil. It
// returns the status of an answer that is not an error.
func (c *Client) do(ctx context.Context, q request, out any) (int, error) {
	status, _, err := c.call(ctx, q, out)
	return status, err
}

// ask is do for an answer whose header counts.
func (c *Client) ask(ctx context.Context, q request, out any) (http.Header, error) {
	_, header, err := c.call(ctx, q, out)
	return header, err
}

// within bounds a context that has no deadline.
func within(ctx context.Context, most time.Duration) (context.Context, context.CancelFunc) {
	if _, bounded := ctx.Deadline(); bounded {
		return ctx, func() {}
	}
	return context.WithTimeout(ctx, most)
}

func (c *Client) call(ctx context.Context, q request, out any) (int, http.Header, error) {
	ctx, cancel := within(ctx, timeout)
	defer cancel()
	answer, err := c.send(ctx, q)
	if err != nil {
		return Status(err), nil, err
	}
	defer answer.Body.Close()
	if out == nil || answer.StatusCode == http.StatusNoContent || answer.StatusCode == http.StatusSeeOther {
		return answer.StatusCode, answer.Header, nil
	}
	if kind, _, _ := mime.ParseMediaType(answer.Header.Get("Content-Type")); kind != cmp.Or(q.media, v1.MediaType) {
		return answer.StatusCode, nil, fmt.Errorf("%s does not answer as a broker does: not %s", c.base.Host, cmp.Or(q.media, "JSON"))
	}
	body, err := io.ReadAll(io.LimitReader(answer.Body, maxAnswer+1))
	if err != nil {
		return answer.StatusCode, nil, fmt.Errorf("reading the answer of %s: %w", c.base.Host, err)
	}
	if len(body) > maxAnswer {
		return answer.StatusCode, nil, fmt.Errorf("the answer of %s is larger than %d MiB", c.base.Host, maxAnswer>>20)
	}
	if text, raw := out.(*[]byte); raw {
		*text = body
		return answer.StatusCode, answer.Header, nil
	}
	if err := v1.DecodeAnswer(body, out); err != nil {
		return answer.StatusCode, nil, fmt.Errorf("decoding the answer of %s: %w", c.base.Host, err)
	}
	return answer.StatusCode, answer.Header, nil
}

// send makes one call, and returns an answer that is not an error. The caller closes its body.
func (c *Client) send(ctx context.Context, q request) (*http.Response, error) {
	r, err := c.build(ctx, q)
	if err == nil {
		err = c.authorize(ctx, r)
	}
	if err != nil {
		return nil, err
	}
	answer, err := c.http.Do(r)
	if err != nil {
		return nil, fmt.Errorf("asking the broker at %s: %w", c.base.Host, err)
	}
	if (answer.StatusCode < 200 || answer.StatusCode > 299) && answer.StatusCode != http.StatusSeeOther {
		defer answer.Body.Close()
		return nil, c.problem(answer)
	}
	return answer, nil
}

// escape makes one path segment of a name; one of dots would otherwise walk the path.
func escape(segment string) string {
	if segment == "." || segment == ".." {
		return strings.ReplaceAll(segment, ".", "%2E")
	}
	return url.PathEscape(segment)
}

// build writes the request; here the secrets of the body are revealed.
func (c *Client) build(ctx context.Context, q request) (*http.Request, error) {
	body := q.stream
	if q.body != nil {
		var b bytes.Buffer
		if err := v1.Encode(&b, q.body); err != nil {
			return nil, err
		}
		body = &b
	}
	u := *c.base
	for _, segment := range q.path {
		u.Path += "/" + segment
		u.RawPath += "/" + escape(segment)
	}
	u.RawPath = c.base.EscapedPath() + u.RawPath
	u.RawQuery = q.query.Encode()
	r, err := http.NewRequestWithContext(ctx, q.method, u.String(), body)
	if err != nil {
		return nil, errors.New("building the request: the address does not make a URL")
	}
	for name, values := range q.header {
		r.Header[name] = values
	}
	r.Header.Set("User-Agent", c.agent)
	r.Header.Set("Accept", cmp.Or(q.media, v1.MediaType))
	if q.body != nil {
		r.Header.Set("Content-Type", v1.MediaType)
	}
	if q.stream != nil {
		sized(r, q.size)
	}
	return r, nil
}

// authorize adds the token of the caller, which a registered client fetches first.
func (c *Client) authorize(ctx context.Context, r *http.Request) (err error) {
	token := c.token
	if c.login != nil {
		if token, err = c.login.token(ctx, c); err != nil {
			return err
		}
	}
	if !token.Empty() {
		r.Header.Set("Authorization", "Bearer "+token.Reveal())
	}
	return nil
}

// Problem is an error answer: the fault and the remedy, in the server's words. If
// something other than the server answered (a proxy), only Status and Title are set.
type Problem struct {
	v1.Problem
}

func (p *Problem) Error() string { return p.String() }

// Status returns the HTTP status of a [*Problem] inside err, or 0.
func Status(err error) int {
	var p *Problem
	if errors.As(err, &p) {
		return p.Status
	}
	return 0
}

func (c *Client) problem(answer *http.Response) error {
	p := &Problem{}
	kind, _, _ := mime.ParseMediaType(answer.Header.Get("Content-Type"))
	if kind != v1.ProblemType && c.base.Scheme == "http" && answer.StatusCode == http.StatusBadRequest {
		// The answers of Go's servers, in these words, before they read the request.
		text, _ := io.ReadAll(io.LimitReader(answer.Body, maxProblem))
		if strings.HasPrefix(string(text), "Client sent an HTTP request to an HTTPS server") {
			return ErrWantsTLS
		}
	}
	if kind == v1.ProblemType {
		body, err := io.ReadAll(io.LimitReader(answer.Body, maxProblem))
		if err == nil && v1.DecodeAnswer(body, p) != nil {
			p = &Problem{}
		}
	}
	// The status line counts, because the body may be a proxy's.
	p.Status = answer.StatusCode
	if p.Title == "" {
		p.Title = "the broker's address answered " + answer.Status
	}
	return p
}
