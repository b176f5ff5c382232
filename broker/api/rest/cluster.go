package rest

import (
	"cmp"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/broker/api"
	v1 "github.com/vimbroker/vimbroker/broker/api/v1"
	"github.com/vimbroker/vimbroker/broker/onboard"
	"github.com/vimbroker/vimbroker/policy"
)

func (s *server) enableManagement(c *call, in v1.ManagementClusterRequest) (answer[v1.ManagementCluster], error) {
	m, err := s.Clusters.Enable(c.ctx, c.principal, in.VIM, onboard.Settings(in.ClusterSettings))
	if err != nil {
		return answer[v1.ManagementCluster]{}, err
	}
	a, err := s.management(c, m.VIM)
	a.location = "/v1/management-clusters/" + url.PathEscape(m.VIM)
	return a, err
}

func (s *server) releaseManagement(c *call, _ v1.ReleaseRequest) (answer[v1.ManagementCluster], error) {
	m, err := s.Clusters.Release(c.ctx, c.principal, c.path("id"))
	if err != nil {
		return answer[v1.ManagementCluster]{}, err
	}
	return s.management(c, m.VIM)
}

func (s *server) management(c *call, vim string) (answer[v1.ManagementCluster], error) {
	return shows(management)(s.Clusters.Management(c.ctx, c.principal, vim))
}

func clustersAsked(c *call) onboard.ClusterQuery {
	return onboard.ClusterQuery{
		Management: c.query.Get("managementCluster"), Namespace: c.query.Get("namespace"), Name: c.query.Get("name"),
		State: onboard.State(c.query.Get("state")), Page: c.page,
	}
}

var (
	managementShown = api.Shown[onboard.ManagementView, v1.ManagementCluster](`VIMName=Name`)
	clusterShown    = api.Shown[onboard.View, v1.WorkloadCluster](`ManagementCluster=Management VIMStatus=Health.Status
		CheckedAt=Health.CheckedAt SameSystem= PushTokenExpiresAt=`)
)

func management(m onboard.ManagementView) v1.ManagementCluster {
	m.Account = cmp.Or(m.Account, onboard.AccountNone)
	return managementShown(m)
}

func cluster(c onboard.View) v1.WorkloadCluster {
	shown := clusterShown(c)
	for _, o := range c.SameSystem {
		shown.SameSystem = append(shown.SameSystem, fmt.Sprintf("%s/%s of project %s (%s)", o.Namespace, o.Name, o.Project, o.ID))
	}
	shown.PushTokenExpiresAt = pushExpiry(c.Cluster)
	return shown
}

func (s *server) issuePushToken(c *call, in v1.PushTokenRequest) (answer[v1.PushToken], error) {
	ttl, err := duration("ttl", in.TTL)
	if err != nil {
		return answer[v1.PushToken]{}, err
	}
	token, until, err := s.Clusters.IssuePushToken(c.ctx, c.principal, c.path("id"), ttl)
	return answer[v1.PushToken]{body: v1.PushToken{Token: token, ExpiresAt: until.UTC()}}, err
}

func (s *server) push(c *call, in v1.Push) (answer[v1.WorkloadCluster], error) {
	found, err := s.Clusters.Push(c.ctx, c.principal, onboard.Pushed{
		Management: in.ManagementCluster, Namespace: in.Namespace, UID: in.ClusterUID, Kubeconfig: in.Kubeconfig,
	})
	if err == nil && found.State != onboard.StateRegistered {
		kind := broker.ErrConflict
		if found.State == onboard.StateQuarantined {
			kind = broker.ErrInvalid
		}
		err = &broker.Error{
			Kind: kind, Field: "kubeconfig", Detail: fmt.Sprintf("the cluster is %s (%s): %s", found.State, found.Reason, found.Message),
			Remedy: "push another with the same token",
		}
	}
	return answer[v1.WorkloadCluster]{body: cluster(found)}, err
}

// pusher identifies the holder of a token to push with.
func (s *server) pusher(r *http.Request) (policy.Principal, error) {
	token, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	if !ok || s.Clusters == nil {
		return policy.Principal{}, policy.ErrUnauthenticated
	}
	return s.Clusters.Pusher(r.Context(), token)
}

// pushExpiry is until when a kubeconfig can be pushed; zero if it cannot.
func pushExpiry(c onboard.Cluster) time.Time {
	if c.PushToken == "" || !c.PushedAt.IsZero() {
		return time.Time{}
	}
	return c.PushExpiresAt.UTC()
}
