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
