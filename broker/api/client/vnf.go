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
	return fetch[sol003.VNFInstance](ctx, c, lcm(http.MethodPost, r, "vnf_instances"))
}

// VNF returns one instance by its id.
func (c *Client) VNF(ctx context.Context, id string) (sol003.VNFInstance, error) {
	return fetch[sol003.VNFInstance](ctx, c, lcm(http.MethodGet, nil, "vnf_instances", id))
}

// DeleteVNF removes an instance that has no resources.
func (c *Client) DeleteVNF(ctx context.Context, id string) error {
	return c.tell(ctx, lcm(http.MethodDelete, nil, "vnf_instances", id))
}

// BeginVNF begins an operation on an instance: task is the last segment of its path, and r
// the request. It returns the id of the operation.
func (c *Client) BeginVNF(ctx context.Context, id, task string, r any) (string, error) {
	return c.begin(ctx, lcm(http.MethodPost, r, "vnf_instances", id, task))
}

// PreviewVNF returns the effects that an operation would have.
func (c *Client) PreviewVNF(ctx context.Context, id, task string, r any) (sol003.Preview, error) {
	return fetch[sol003.Preview](ctx, c, lcm(http.MethodPost, r, "vnf_instances", id, task).where(url.Values{sol003.DryRun: {""}}))
}

// CheckVNF has the server look for drift of an instance now.
func (c *Client) CheckVNF(ctx context.Context, id string) (sol003.VNFInstance, error) {
	return fetch[sol003.VNFInstance](ctx, c, lcm(http.MethodPost, nil, "vnf_instances", id, "check"))
}

// ModifyVNF changes the information of an instance.
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
	return fetch[sol003.OpOcc](ctx, c, lcm(http.MethodGet, nil, "vnf_lcm_op_occs", id))
}

// SettleVNFOperation does something about an operation: task is "retry", "rollback" or "fail".
func (c *Client) SettleVNFOperation(ctx context.Context, id, task string) error {
	return c.tell(ctx, lcm(http.MethodPost, nil, "vnf_lcm_op_occs", id, task))
}

// CancelVNFOperation asks an operation to stop.
func (c *Client) CancelVNFOperation(ctx context.Context, id string, r sol003.CancelRequest) error {
	return c.tell(ctx, lcm(http.MethodPost, r, "vnf_lcm_op_occs", id, "cancel"))
}

// Subscribe has an endpoint notified of changes of VNF instances. If such a subscription exists already, its id is
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
	return fetch[sol003.Subscription](ctx, c, lcm(http.MethodGet, nil, "subscriptions", id))
}

// Unsubscribe ends a subscription.
func (c *Client) Unsubscribe(ctx context.Context, id string) error {
	return c.tell(ctx, lcm(http.MethodDelete, nil, "subscriptions", id))
}

// AllSubscriptions walks every page of the subscriptions, the newest first. It stops at the first error.
func (c *Client) AllSubscriptions(ctx context.Context) iter.Seq2[sol003.Subscription, error] {
	return walkLinks[sol003.Subscription](ctx, c, lcm(http.MethodGet, nil, "subscriptions"))
}

// AllVNFs walks every page of the instances, the newest first. It stops at the first error.
func (c *Client) AllVNFs(ctx context.Context) iter.Seq2[sol003.VNFInstance, error] {
	return walkLinks[sol003.VNFInstance](ctx, c, lcm(http.MethodGet, nil, "vnf_instances"))
}

// AllVNFOperations walks every page of the operations, the newest first; of one instance, if that is not
// empty. It stops at the first error.
func (c *Client) AllVNFOperations(ctx context.Context, instance string) iter.Seq2[sol003.OpOcc, error] {
	q := url.Values{}
	set(q, "vnfInstanceId", instance)
	return walkLinks[sol003.OpOcc](ctx, c, lcm(http.MethodGet, nil, "vnf_lcm_op_occs").where(q))
}
