package manifests

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"strconv"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	utiljson "k8s.io/apimachinery/pkg/util/json"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/broker/remote"
	"github.com/vimbroker/vimbroker/broker/secret"
	"github.com/vimbroker/vimbroker/drivers/ways"
	"github.com/vimbroker/vimbroker/lifecycle"
)

// apiServer is the name of the remote side in errors.
const apiServer = "the API server"

// answerLimit is the limit of one answer: an object of the largest size, with what
// the server notes about its fields.
var answerLimit = remote.Limit{Bytes: 6 << 20, Values: 400_000, Items: 100_000}

// server is an API server, with the credential of one lease, for one call of the driver.
type server struct {
	base  *url.URL
	http  *http.Client
	token secret.Text
	// manager owns the fields of applied objects.
	manager string
	// further is the connection's.
	further func(context.Context, lifecycle.StageRules, func(lifecycle.Connection) error) error
	// hosts are those of other namespaces, once they were read.
	hosts map[string]bool
}

// kept are the connections to API servers: a handshake costs more than a call. Idle ones close by themselves.
var kept = ways.New[ways.Peer, *remote.Transport](256)

// connect prepares calls; it connects to nothing yet.
func (d *Driver) connect(c lifecycle.Connection) (*server, error) {
	base, err := url.Parse(c.Config.Endpoint)
	if err != nil || base.Host == "" {
		return nil, broker.Invalid("endpoint", "cannot be used as an API server's address")
	}
	if c.Config.Token.Empty() {
		return nil, &broker.Error{
			Kind: broker.ErrUnsupported, Detail: "the lease holds no token, and life-cycle operations on Kubernetes use no other credential",
		}
	}
	peer := ways.Peer{
		Host: base.Host, CA: c.Config.CACert, ServerName: c.Config.ServerName, Insecure: c.Config.InsecureSkipVerify, Egress: c.Egress,
	}
	way, err := kept.Get(peer, func(r ways.Peer) (*remote.Transport, error) { return r.Dial(apiServer) })
	if err != nil {
		return nil, err
	}
	return &server{base: base, http: way.Client(), token: c.Config.Token, manager: d.manager, further: c.Further}, nil
}

// request is one call. The segments of the path are of checked names.
type request struct {
	method string
	path   string
	query  url.Values
	// content is the body's media type.
	content string
	body    []byte
}

// refusal is an answer that is no success.
type refusal struct {
	code int
	// status is the API server's own word; nil where something else answered.
	status *metav1.Status
}

func (*refusal) Error() string { return "the API server refused a request" }

// is reports whether the API server itself answered with a code.
func (r *refusal) is(code int) bool { return r.code == code && r.status != nil }

// refused reports whether an error is a refusal for good, and not a fault of the server.
func refused(err error) bool {
	said, ok := errors.AsType[*refusal](err)
	return ok && said.code < http.StatusInternalServerError
}

// call makes a request and decodes the answer. Its errors are [*refusal]s, and those of
// the network.
func (s *server) call(ctx context.Context, r request, into any) error {
	to := s.base.JoinPath(r.path)
	to.RawQuery = r.query.Encode()
	request, err := http.NewRequestWithContext(remote.Expect(ctx, answerLimit), r.method, to.String(), bytes.NewReader(r.body))
	if err != nil {
		return err
	}
	request.Header.Set("Accept", "application/json")
	if r.content != "" {
		request.Header.Set("Content-Type", r.content)
	}
	request.Header.Set("Authorization", "Bearer "+s.token.Reveal())
	response, err := s.http.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		return err
	}
	defer clear(body)
	if response.StatusCode/100 != 2 {
		said := &refusal{code: response.StatusCode}
		var status metav1.Status
		if json.Unmarshal(body, &status) == nil && status.Kind == "Status" && int(status.Code) == response.StatusCode {
			said.status = &status
		}
		return said
	}
	if err := utiljson.Unmarshal(body, into); err != nil {
		return errNotKubernetes
	}
	return nil
}

// A list is read in pages of onePage objects, maxPages at most.
const onePage, maxPages = 100, 200

// pages calls each with every object of a kind, in one namespace or in all, that a query selects. A list that does not
// end is an error: a part of it would say that the rest is not there.
func pages[T any](ctx context.Context, s *server, of lifecycle.Resource, query url.Values, each func(T)) error {
	asked := url.Values{"limit": {strconv.Itoa(onePage)}}
	maps.Copy(asked, query)
	for range maxPages {
		var page struct {
			Kind     string `json:"kind"`
			Metadata struct {
				Continue string `json:"continue"`
			} `json:"metadata"`
			Items []T `json:"items"`
		}
		err := s.call(ctx, request{method: http.MethodGet, path: pathOf(of), query: asked}, &page)
		if err == nil && page.Kind != of.Kind+"List" {
			err = errNotKubernetes
		}
		if err != nil {
			return err
		}
		for _, item := range page.Items {
			each(item)
		}
		if page.Metadata.Continue == "" {
			return nil
		}
		asked.Set("continue", page.Metadata.Continue)
	}
	return &broker.Error{
		Kind:   broker.ErrUnsupported,
		Detail: fmt.Sprintf("the cluster has more than %d %s, and no more are looked through", onePage*maxPages, of.Plural),
	}
}

// errNotKubernetes says that something answered as no API server does.
var errNotKubernetes = errors.New("the endpoint does not answer as a Kubernetes API server does")

// pathOf is the path of a kind's objects, or of one of them.
func pathOf(r lifecycle.Resource) string {
	path := "/api/" + r.Version
	if r.Group != "" {
		path = "/apis/" + r.Group + "/" + r.Version
	}
	if r.Namespace != "" {
		path += "/namespaces/" + r.Namespace
	}
	path += "/" + r.Plural
	if r.Name != "" {
		path += "/" + r.Name
	}
	return path
}
