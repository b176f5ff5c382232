package rest

import (
	"cmp"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/vimbroker/vimbroker/broker"
	v1 "github.com/vimbroker/vimbroker/broker/api/v1"
	"github.com/vimbroker/vimbroker/broker/onboard"
	"github.com/vimbroker/vimbroker/policy"
)

// onboarding refuses if this server follows no clusters.
func (s *server) onboarding() error {
	if s.clusters == nil {
		return &broker.Error{
			Kind: broker.ErrUnsupported, Detail: "this server does not follow the clusters of Cluster API", Remedy: "ask a server that does",
		}
	}
	return nil
}

func (s *server) enableManagement(c *call, in v1.ManagementClusterRequest) (answer[v1.ManagementCluster], error) {
	m, err := s.clusters.Enable(c.ctx, c.principal, in.VIM, onboard.Settings(in.ClusterSettings))
	if err != nil {
		return answer[v1.ManagementCluster]{}, err
	}
	a, err := shows(management)(s.clusters.Management(c.ctx, c.principal, m.VIM))
	a.location = "/v1/management-clusters/" + url.PathEscape(m.VIM)
	return a, err
}

func (s *server) showManagement(c *call) (answer[v1.ManagementCluster], error) {
	return shows(management)(s.clusters.Management(c.ctx, c.principal, c.path("id")))
}

func (s *server) listManagements(c *call) (answer[v1.List[v1.ManagementCluster]], error) {
	return listsAll(management)(s.clusters.Managements(c.ctx, c.principal))
}

func (s *server) disableManagement(c *call) (answer[v1.ManagementCluster], error) {
	return done[v1.ManagementCluster](s.clusters.Disable(c.ctx, c.principal, c.path("id")))
}

func (s *server) releaseManagement(c *call, _ v1.ReleaseRequest) (answer[v1.ManagementCluster], error) {
	if _, err := s.clusters.Release(c.ctx, c.principal, c.path("id")); err != nil {
		return answer[v1.ManagementCluster]{}, err
	}
	return s.showManagement(c)
}

func (s *server) listClusters(c *call) (answer[v1.List[v1.WorkloadCluster]], error) {
	page, err := c.page()
	if err != nil {
		return answer[v1.List[v1.WorkloadCluster]]{}, err
	}
	return lists(cluster)(s.clusters.Clusters(c.ctx, c.principal, onboard.ClusterQuery{
		Management: c.query.Get("managementCluster"), Namespace: c.query.Get("namespace"), Name: c.query.Get("name"),
		State: onboard.State(c.query.Get("state")), Page: page,
	}))
}

func (s *server) showCluster(c *call) (answer[v1.WorkloadCluster], error) {
	return shows(cluster)(s.clusters.Cluster(c.ctx, c.principal, c.path("id")))
}

func management(m onboard.ManagementView) v1.ManagementCluster {
	m.Account = cmp.Or(m.Account, onboard.AccountNone)
	return v1.ManagementCluster{
		VIM: m.VIM, VIMName: m.Name, Project: m.Project,
		ClusterSettings: v1.ClusterSettings(m.Settings),
		EnabledBy:       m.EnabledBy, CreatedAt: m.CreatedAt.UTC(), UpdatedAt: m.UpdatedAt.UTC(),
		WatchedAt: m.WatchedAt.UTC(), Trouble: m.Trouble, HeldAt: m.HeldAt.UTC(), ReleasedUntil: m.ReleasedUntil.UTC(),
	}
}

func cluster(c onboard.View) v1.WorkloadCluster {
	var same []string
	for _, o := range c.SameSystem {
		same = append(same, fmt.Sprintf("%s/%s of project %s (%s)", o.Namespace, o.Name, o.Project, o.ID))
	}
	return v1.WorkloadCluster{
		ID: c.ID, ManagementCluster: c.Management, Namespace: c.Namespace, Name: c.Name, UID: c.UID, Project: c.Project,
		State: string(c.State), Reason: string(c.Reason), Message: c.Message, VIM: c.VIM, VIMName: c.VIMName, SameSystem: same,
		PushTokenExpiresAt: pushExpiry(c.Cluster), PushedAt: c.PushedAt.UTC(),
		VIMStatus: string(c.Health.Status), CredentialExpiresAt: c.CredentialExpiresAt.UTC(), CheckedAt: c.Health.CheckedAt.UTC(),
		ReadyAt: c.ReadyAt.UTC(), RegisteredAt: c.RegisteredAt.UTC(), GoneAt: c.GoneAt.UTC(), CreatedAt: c.CreatedAt.UTC(),
		UpdatedAt: c.UpdatedAt.UTC(),
	}
}

func (s *server) issuePushToken(c *call, in v1.PushTokenRequest) (answer[v1.PushToken], error) {
	ttl, err := duration("ttl", in.TTL)
	if err != nil {
		return answer[v1.PushToken]{}, err
	}
	token, until, err := s.clusters.IssuePushToken(c.ctx, c.principal, c.path("id"), ttl)
	return answer[v1.PushToken]{body: v1.PushToken{Token: token, ExpiresAt: until.UTC()}}, err
}

func (s *server) revokePushToken(c *call) (answer[v1.PushToken], error) {
	return done[v1.PushToken](s.clusters.RevokePushToken(c.ctx, c.principal, c.path("id")))
}

func (s *server) push(c *call, in v1.Push) (answer[v1.WorkloadCluster], error) {
	found, err := s.clusters.Push(c.ctx, c.principal, onboard.Pushed{
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
	if !ok || s.clusters == nil {
		return policy.Principal{}, policy.ErrUnauthenticated
	}
	return s.clusters.Pusher(r.Context(), token)
}

// pushExpiry is until when a kubeconfig can be pushed; zero if it cannot.
func pushExpiry(c onboard.Cluster) time.Time {
	if c.PushToken == "" || !c.PushedAt.IsZero() {
		return time.Time{}
	}
	return c.PushExpiresAt.UTC()
}
