package client

import (
	"context"
	"iter"
	"net/http"

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
	return fetch[v1.ManagementCluster](ctx, c, rest(http.MethodPost, r, "management-clusters"))
}

// ManagementCluster returns one, by the id or name of its VIM.
func (c *Client) ManagementCluster(ctx context.Context, vim string) (v1.ManagementCluster, error) {
	return fetch[v1.ManagementCluster](ctx, c, rest(http.MethodGet, nil, "management-clusters", vim))
}

// ManagementClusters returns all.
func (c *Client) ManagementClusters(ctx context.Context) (v1.List[v1.ManagementCluster], error) {
	return fetch[v1.List[v1.ManagementCluster]](ctx, c, rest(http.MethodGet, nil, "management-clusters"))
}

// DisableManagementCluster ends the watch of one; the VIMs of its clusters stay.
func (c *Client) DisableManagementCluster(ctx context.Context, vim string) error {
	return c.tell(ctx, rest(http.MethodDelete, nil, "management-clusters", vim))
}

// ReleaseManagementCluster lets go of the clusters that were held because too many were
// gone at the same time.
func (c *Client) ReleaseManagementCluster(ctx context.Context, vim string) (v1.ManagementCluster, error) {
	return fetch[v1.ManagementCluster](ctx, c, rest(http.MethodPost, v1.ReleaseRequest{}, "management-clusters", vim, "release"))
}

// Cluster returns one by its id.
func (c *Client) Cluster(ctx context.Context, id string) (v1.WorkloadCluster, error) {
	return fetch[v1.WorkloadCluster](ctx, c, rest(http.MethodGet, nil, "clusters", id))
}

// Clusters returns one page of clusters.
func (c *Client) Clusters(ctx context.Context, q ClusterQuery) (v1.List[v1.WorkloadCluster], error) {
	return fetch[v1.List[v1.WorkloadCluster]](ctx, c, q.request())
}

// AllClusters walks every page from q.PageToken on. It stops at the first error.
func (c *Client) AllClusters(ctx context.Context, q ClusterQuery) iter.Seq2[v1.WorkloadCluster, error] {
	return walk[v1.WorkloadCluster](ctx, c, q.request())
}

func (q ClusterQuery) request() request {
	return rest(http.MethodGet, nil, "clusters").where(page(q.PageSize, q.PageToken, map[string]string{
		"managementCluster": q.ManagementCluster, "namespace": q.Namespace, "name": q.Name, "state": q.State,
	}))
}

// IssuePushToken issues the token with which one kubeconfig of a cluster can be pushed.
func (c *Client) IssuePushToken(ctx context.Context, id string, r v1.PushTokenRequest) (v1.PushToken, error) {
	return fetch[v1.PushToken](ctx, c, rest(http.MethodPost, r, "clusters", id, "push-token"))
}

// RevokePushToken revokes it.
func (c *Client) RevokePushToken(ctx context.Context, id string) error {
	return c.tell(ctx, rest(http.MethodDelete, nil, "clusters", id, "push-token"))
}

// Push pushes a kubeconfig; the client's token is the one that was issued for the cluster.
func (c *Client) Push(ctx context.Context, p v1.Push) (v1.WorkloadCluster, error) {
	return fetch[v1.WorkloadCluster](ctx, c, rest(http.MethodPost, p, "onboard"))
}
