package client

import (
	"context"
	"errors"
	"iter"
	"net/http"
	"net/url"
	"path"
	"strings"

	"github.com/vimbroker/vimbroker/broker/api/sol003"
)

// VNF life-cycle management speaks SOL003 below its own path.
var vnflcm = strings.Split(strings.TrimPrefix(sol003.Prefix, "/"), "/")

func lcm(method string, body any, segments ...string) request {
	return request{
		method: method, path: append(vnflcm[:len(vnflcm):len(vnflcm)], segments...), body: body,
		header: http.Header{"Version": {sol003.Version}},
	}
}

// CreateVNF makes a VNF instance, without resources yet.
func (c *Client) CreateVNF(ctx context.Context, r sol003.CreateVNFRequest) (sol003.VNFInstance, error) {
	var i sol003.VNFInstance
	_, err := c.do(ctx, lcm(http.MethodPost, r, "vnf_instances"), &i)
	return i, err
}

// VNF returns one instance by its id.
func (c *Client) VNF(ctx context.Context, id string) (sol003.VNFInstance, error) {
	var i sol003.VNFInstance
	_, err := c.do(ctx, lcm(http.MethodGet, nil, "vnf_instances", id), &i)
	return i, err
}

// DeleteVNF removes an instance that has no resources.
func (c *Client) DeleteVNF(ctx context.Context, id string) error {
	_, err := c.do(ctx, lcm(http.MethodDelete, nil, "vnf_instances", id), nil)
	return err
}

// BeginVNF begins an operation on an instance: task is the last segment of its path, and r
// the request. It returns the id of the operation.
func (c *Client) BeginVNF(ctx context.Context, id, task string, r any) (string, error) {
	return c.begin(ctx, lcm(http.MethodPost, r, "vnf_instances", id, task))
}

// PreviewVNF says what an instantiation would do.
func (c *Client) PreviewVNF(ctx context.Context, id string, r sol003.InstantiateRequest) (sol003.Preview, error) {
	q := lcm(http.MethodPost, r, "vnf_instances", id, "instantiate")
	q.query = url.Values{sol003.DryRun: {""}}
	var p sol003.Preview
	_, err := c.do(ctx, q, &p)
	return p, err
}

// ModifyVNF changes what an instance says of itself.
func (c *Client) ModifyVNF(ctx context.Context, id string, r sol003.ModifyRequest) (string, error) {
	return c.begin(ctx, lcm(http.MethodPatch, r, "vnf_instances", id))
}

func (c *Client) begin(ctx context.Context, q request) (string, error) {
	header, err := c.ask(ctx, q, nil)
	if err != nil {
		return "", err
	}
	location := header.Get("Location")
	if location == "" {
		return "", errors.New("the broker does not say where the operation is")
	}
	return path.Base(location), nil
}

// VNFOperation returns one operation by its id.
func (c *Client) VNFOperation(ctx context.Context, id string) (sol003.OpOcc, error) {
	var o sol003.OpOcc
	_, err := c.do(ctx, lcm(http.MethodGet, nil, "vnf_lcm_op_occs", id), &o)
	return o, err
}

// SettleVNFOperation does something about an operation: task is "retry", "rollback" or "fail".
func (c *Client) SettleVNFOperation(ctx context.Context, id, task string) error {
	_, err := c.do(ctx, lcm(http.MethodPost, nil, "vnf_lcm_op_occs", id, task), nil)
	return err
}

// CancelVNFOperation asks an operation to stop.
func (c *Client) CancelVNFOperation(ctx context.Context, id string, r sol003.CancelRequest) error {
	_, err := c.do(ctx, lcm(http.MethodPost, r, "vnf_lcm_op_occs", id, "cancel"), nil)
	return err
}

// Subscribe has an endpoint told what becomes of VNF instances. Where there is such a subscription already, its id is
// returned, and made is false.
func (c *Client) Subscribe(ctx context.Context, r sol003.SubscriptionRequest) (id string, made bool, err error) {
	var s sol003.Subscription
	header, err := c.ask(ctx, lcm(http.MethodPost, r, "subscriptions"), &s)
	if err != nil {
		return "", false, err
	}
	return path.Base(header.Get("Location")), s.ID != "", nil
}

// Subscription returns one by its id.
func (c *Client) Subscription(ctx context.Context, id string) (sol003.Subscription, error) {
	var s sol003.Subscription
	_, err := c.do(ctx, lcm(http.MethodGet, nil, "subscriptions", id), &s)
	return s, err
}

// Unsubscribe ends a subscription.
func (c *Client) Unsubscribe(ctx context.Context, id string) error {
	_, err := c.do(ctx, lcm(http.MethodDelete, nil, "subscriptions", id), nil)
	return err
}

// AllSubscriptions walks every page of the subscriptions, the newest first. It stops at the first error.
func (c *Client) AllSubscriptions(ctx context.Context) iter.Seq2[sol003.Subscription, error] {
	return walkLinks[sol003.Subscription](ctx, c, "subscriptions", nil)
}

// AllVNFs walks every page of the instances, the newest first. It stops at the first error.
func (c *Client) AllVNFs(ctx context.Context) iter.Seq2[sol003.VNFInstance, error] {
	return walkLinks[sol003.VNFInstance](ctx, c, "vnf_instances", nil)
}

// AllVNFOperations walks every page of the operations, the newest first; of one instance, where that is not
// empty. It stops at the first error.
func (c *Client) AllVNFOperations(ctx context.Context, instance string) iter.Seq2[sol003.OpOcc, error] {
	q := url.Values{}
	set(q, "vnfInstanceId", instance)
	return walkLinks[sol003.OpOcc](ctx, c, "vnf_lcm_op_occs", q)
}

// walkLinks yields the items of each page whole, and asks for the one that the answer links to
// when they are used up (SOL013 clause 5.4.2.3).
func walkLinks[T any](ctx context.Context, c *Client, resource string, query url.Values) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		var none T
		marker := ""
		for {
			q := lcm(http.MethodGet, nil, resource)
			q.query = url.Values{"all_fields": {""}}
			for name, values := range query {
				q.query[name] = values
			}
			set(q.query, "nextpage_opaque_marker", marker)
			var items []T
			header, err := c.ask(ctx, q, &items)
			if err != nil {
				yield(none, err)
				return
			}
			next := markerOf(header.Get("Link"))
			for _, item := range items {
				if !yield(item, nil) {
					return
				}
			}
			if next == "" {
				return
			}
			if next == marker {
				yield(none, errSamePage)
				return
			}
			marker = next
		}
	}
}

// markerOf is the page that a header Link leads to; empty where it leads nowhere.
func markerOf(link string) string {
	address, _, found := strings.Cut(strings.TrimPrefix(link, "<"), ">")
	u, err := url.Parse(address)
	if !found || err != nil {
		return ""
	}
	return u.Query().Get("nextpage_opaque_marker")
}
