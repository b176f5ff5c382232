package client

import (
	"context"
	"iter"
	"net/http"
	"net/url"

	v1 "github.com/vimbroker/vimbroker/broker/api/v1"
)

// ClusterQuery selects clusters. Empty fields select all.
type ClusterQuery struct {
	// ManagementCluster is the id or name of a VIM.
	ManagementCluster string
	Namespace, Name   string
	State             string
	// PageSize of zero leaves the size to the server.
	PageSize  int
	PageToken string
}

// EnableManagementCluster makes a VIM a management cluster, or changes how it is one.
func (c *Client) EnableManagementCluster(ctx context.Context, r v1.ManagementClusterRequest) (v1.ManagementCluster, error) {
	var m v1.ManagementCluster
	_, err := c.do(ctx, request{method: http.MethodPost, path: []string{"v1", "management-clusters"}, body: r}, &m)
	return m, err
}

// ManagementCluster returns one, by the id or name of its VIM.
func (c *Client) ManagementCluster(ctx context.Context, vim string) (v1.ManagementCluster, error) {
	var m v1.ManagementCluster
	_, err := c.do(ctx, request{method: http.MethodGet, path: []string{"v1", "management-clusters", vim}}, &m)
	return m, err
}

// ManagementClusters returns all.
func (c *Client) ManagementClusters(ctx context.Context) (v1.List[v1.ManagementCluster], error) {
	var l v1.List[v1.ManagementCluster]
	_, err := c.do(ctx, request{method: http.MethodGet, path: []string{"v1", "management-clusters"}}, &l)
	return l, err
}

// DisableManagementCluster ends the watch of one; the VIMs of its clusters stay.
func (c *Client) DisableManagementCluster(ctx context.Context, vim string) error {
	_, err := c.do(ctx, request{method: http.MethodDelete, path: []string{"v1", "management-clusters", vim}}, nil)
	return err
}

// ReleaseManagementCluster lets go of the clusters that were held because too many were
// gone at once.
func (c *Client) ReleaseManagementCluster(ctx context.Context, vim string) (v1.ManagementCluster, error) {
	var m v1.ManagementCluster
	_, err := c.do(ctx, request{
		method: http.MethodPost, path: []string{"v1", "management-clusters", vim, "release"}, body: v1.ReleaseRequest{},
	}, &m)
	return m, err
}

// Cluster returns one by its id.
func (c *Client) Cluster(ctx context.Context, id string) (v1.WorkloadCluster, error) {
	var cl v1.WorkloadCluster
	_, err := c.do(ctx, request{method: http.MethodGet, path: []string{"v1", "clusters", id}}, &cl)
	return cl, err
}

// Clusters returns one page of clusters.
func (c *Client) Clusters(ctx context.Context, q ClusterQuery) (v1.List[v1.WorkloadCluster], error) {
	values := url.Values{}
	set(values, "managementCluster", q.ManagementCluster)
	set(values, "namespace", q.Namespace)
	set(values, "name", q.Name)
	set(values, "state", q.State)
	page(values, q.PageSize, q.PageToken)
	var l v1.List[v1.WorkloadCluster]
	_, err := c.do(ctx, request{method: http.MethodGet, path: []string{"v1", "clusters"}, query: values}, &l)
	return l, err
}

// AllClusters walks every page from q.PageToken on. It stops at the first error.
func (c *Client) AllClusters(ctx context.Context, q ClusterQuery) iter.Seq2[v1.WorkloadCluster, error] {
	return walk(q.PageToken, func(token string) (v1.List[v1.WorkloadCluster], error) {
		q.PageToken = token
		return c.Clusters(ctx, q)
	})
}

// IssuePushToken issues the token with which one kubeconfig of a cluster can be pushed.
func (c *Client) IssuePushToken(ctx context.Context, id string, r v1.PushTokenRequest) (v1.PushToken, error) {
	var t v1.PushToken
	_, err := c.do(ctx, request{method: http.MethodPost, path: []string{"v1", "clusters", id, "push-token"}, body: r}, &t)
	return t, err
}

// RevokePushToken revokes it.
func (c *Client) RevokePushToken(ctx context.Context, id string) error {
	_, err := c.do(ctx, request{method: http.MethodDelete, path: []string{"v1", "clusters", id, "push-token"}}, nil)
	return err
}

// Push pushes a kubeconfig; the client's token is the one that was issued for the cluster.
func (c *Client) Push(ctx context.Context, p v1.Push) (v1.WorkloadCluster, error) {
	var cl v1.WorkloadCluster
	_, err := c.do(ctx, request{method: http.MethodPost, path: []string{"v1", "onboard"}, body: p}, &cl)
	return cl, err
}
