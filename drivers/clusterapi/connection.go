package clusterapi

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/broker/onboard"
	"github.com/vimbroker/vimbroker/broker/remote"
	"github.com/vimbroker/vimbroker/drivers/ways"
)

// server names who is called in errors.
const server = "the management cluster's API server"

// maxConnections bounds how many management clusters are connected to at a time.
const maxConnections = 64

// call is one request: a GET, if it has no method. what says in errors what is asked for, as "clusters in namespace a".
type call struct {
	method string
	// body is sent in JSON, in the form that patch names.
	body   any
	patch  string
	path   []string
	query  url.Values
	accept string
	what   string
}

// send asks the management cluster. An answer that is no success is an error; the body of
// one that is must be closed.
func (d *Driver) send(ctx context.Context, a onboard.ManagementAccess, c call) (io.ReadCloser, error) {
	way, err := d.connections.Get(ways.Peer{
		Host: a.Endpoint, CA: a.CACert, ServerName: a.ServerName, Insecure: a.InsecureSkipVerify, Egress: a.Egress,
	}, func(r ways.Peer) (*remote.Transport, error) { return r.Dial(server) })
	if err != nil {
		return nil, err
	}
	base, err := url.Parse(a.Endpoint)
	if err != nil {
		return nil, broker.Invalid("endpoint", "cannot be used as an API server's address")
	}
	u := base.JoinPath(c.path...)
	u.RawQuery = c.query.Encode()
	var body bytes.Buffer
	if c.body != nil {
		_ = json.NewEncoder(&body).Encode(c.body) // plain data always encodes
	}
	request, err := http.NewRequestWithContext(ctx, cmp.Or(c.method, http.MethodGet), u.String(), &body)
	if err != nil {
		return nil, broker.Invalid("endpoint", "cannot be used as an API server's address")
	}
	if c.body != nil {
		request.Header.Set("Content-Type", c.patch)
	}
	request.Header.Set("Accept", cmp.Or(c.accept, "application/json"))
	request.Header.Set("Authorization", "Bearer "+a.Token.Reveal())
	response, err := way.Client().Do(request)
	if err != nil {
		return nil, unanswered(err)
	}
	if response.StatusCode == http.StatusOK || c.method != "" && response.StatusCode == http.StatusCreated {
		return response.Body, nil
	}
	defer response.Body.Close()
	said, err := io.ReadAll(response.Body)
	if err != nil {
		return nil, unanswered(err)
	}
	return nil, refusal(response.StatusCode, said, c.what)
}

// read decodes an answer.
func (d *Driver) read(ctx context.Context, a onboard.ManagementAccess, c call, into any) error {
	body, err := d.send(ctx, a, c)
	if err != nil {
		return err
	}
	defer body.Close()
	text, err := io.ReadAll(body)
	if err != nil {
		return unanswered(err)
	}
	defer clear(text) // it may hold a credential
	if err := json.Unmarshal(text, into); err != nil {
		return notKubernetes(http.StatusOK)
	}
	return nil
}

// errHistory: the management cluster does not keep what has changed since then.
var errHistory = errors.New("the history is gone")

// refusal translates an answer that is no success, in our words.
func refusal(code int, body []byte, what string) error {
	var said metav1.Status
	parsed := json.Unmarshal(body, &said) == nil && said.Kind == "Status" && said.Status == metav1.StatusFailure
	switch {
	case code == http.StatusUnauthorized:
		return &broker.Error{Kind: broker.ErrUnauthorized, Detail: server + " refuses the lease (401)"}
	case code == http.StatusGone, parsed && said.Reason == metav1.StatusReasonExpired:
		return errHistory
	case code == http.StatusTooManyRequests:
		return &broker.Error{Kind: broker.ErrUnreachable, Detail: server + " limits requests (429)", Remedy: "try again later"}
	case code >= http.StatusInternalServerError:
		return &broker.Error{
			Kind: broker.ErrUnreachable, Detail: fmt.Sprintf("%s cannot answer now (%d)", server, code), Remedy: "try again later",
		}
	case !parsed && code != http.StatusNotFound:
		return notKubernetes(code)
	case code == http.StatusForbidden:
		return &broker.Error{
			Kind: broker.ErrForbidden, Detail: "the lease may not read " + what + " (403)",
			Remedy: "see whether somebody changed its role on the management cluster",
		}
	case code == http.StatusNotFound:
		return notFound(&apierrors.StatusError{ErrStatus: said}, parsed, what)
	}
	return notKubernetes(code)
}

// notFound tells an object that is not there from an API that is not served: that is an
// answer without a word about the object.
func notFound(s *apierrors.StatusError, parsed bool, what string) error {
	d := s.ErrStatus.Details
	if parsed && s.ErrStatus.Reason == metav1.StatusReasonNotFound && d != nil && d.Name != "" && d.Kind != "" {
		return &broker.Error{Kind: broker.ErrNotFound, Detail: what + " is not there"}
	}
	return &broker.Error{
		Kind: broker.ErrUnsupported, Detail: "the management cluster does not serve " + what,
		Remedy: "see whether Cluster API is installed there",
	}
}

func unanswered(err error) error {
	f := remote.Unanswered(err, server)
	if f == nil {
		return notKubernetes(0)
	}
	kind := broker.ErrUnreachable
	if f.Busy {
		kind = broker.ErrUnavailable
	}
	return &broker.Error{Kind: kind, Detail: f.Detail, Remedy: f.Remedy, Cause: f.Cause}
}

func notKubernetes(code int) error {
	detail := "the management cluster does not answer as a Kubernetes API server does"
	if code != 0 {
		detail += fmt.Sprintf(" (%d)", code)
	}
	return &broker.Error{Kind: broker.ErrUnreachable, Detail: detail, Remedy: "check the endpoint, and what stands in front of it"}
}

// inNamespace is the path of a resource; in all namespaces if the namespace says so.
func inNamespace(group, version, namespace, resource string, name ...string) []string {
	path := []string{"apis", group, version}
	if group == "" {
		path = []string{"api", version}
	}
	if namespace != onboard.AllNamespaces {
		path = append(path, "namespaces", namespace)
	}
	return append(append(path, resource), name...)
}
