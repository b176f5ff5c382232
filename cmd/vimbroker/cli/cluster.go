package cli

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/vimbroker/vimbroker/broker/api/client"
	v1 "github.com/vimbroker/vimbroker/broker/api/v1"
	"github.com/vimbroker/vimbroker/cmd/vimbroker/console"
)

func (p *program) clusterCommand() *cobra.Command {
	return console.Group("cluster", "Look at the clusters of management clusters",
		`A cluster that Cluster API creates on a management cluster becomes a VIM by
itself, and follows it. These commands say where each cluster stands, and why.`,
		`  vimbroker cluster list
  vimbroker cluster watch --management-cluster hub
  vimbroker cluster show tenant-a/edge-1`,
		p.clusterListCommand(),
		p.clusterShowCommand(),
		p.clusterWatchCommand(),
		p.clusterTokenCommand(),
	)
}

// clusterFlags select clusters.
func clusterFlags(c *cobra.Command, p *program, q *client.ClusterQuery) {
	flags := c.Flags()
	flags.StringVar(&q.ManagementCluster, "management-cluster", "", "only clusters of this `VIM` (a name or id)")
	flags.StringVar(&q.Namespace, "namespace", "", "only clusters of this namespace of the management cluster")
	flags.StringVar(&q.State, "state", "", "only clusters in this state")
	console.MustComplete(c, "management-cluster", p.VimNames)
	console.MustChoose(c, "state", "waiting", "registering", "registered", "quarantined", "retiring", "retired")
	p.OutputFlag(c)
}

func (p *program) clusterListCommand() *cobra.Command {
	var q client.ClusterQuery
	var watch bool
	c := &cobra.Command{
		Use:     "list",
		Aliases: []string{"ls"},
		Short:   "List clusters, with their state and their VIM",
		Long: `List the clusters that you may see, with their state and, where they are not
well, the reason. EXPIRES is when the credential of the VIM stops working,
CHECKED when the VIM was last checked.`,
		Example: "  vimbroker cluster list\n  vimbroker cluster list --state quarantined -o wide",
		Args:    console.Names(),
		RunE:    p.listClusters(&q, &watch),
	}
	clusterFlags(c, p, &q)
	console.WatchFlag(c, &watch)
	return c
}

func (p *program) clusterWatchCommand() *cobra.Command {
	var q client.ClusterQuery
	watch := true
	c := &cobra.Command{
		Use:     "watch",
		Short:   "List clusters, and then print what changes",
		Long:    "List clusters, and then print each one that changes, until interrupted.",
		Example: "  vimbroker cluster watch",
		Args:    console.Names(),
		RunE:    p.listClusters(&q, &watch),
	}
	clusterFlags(c, p, &q)
	return c
}

func (p *program) listClusters(q *client.ClusterQuery, watch *bool) func(*cobra.Command, []string) error {
	return p.Remote(func(c *cobra.Command, _ []string, registry *client.Client) error {
		return console.PrintList(c.Context(), p.Console, console.Listing[v1.WorkloadCluster]{
			Watch: *watch, Table: p.clusterTable, ID: func(c v1.WorkloadCluster) string {
				return c.Namespace + "/" + c.Name + " (" + console.ShortID(c.ID) + ")"
			},
			List: func() ([]v1.WorkloadCluster, error) {
				q.PageSize = listPage
				return gather(registry.AllClusters(c.Context(), *q))
			},
		})
	})
}

func (p *program) clusterTable(w io.Writer, clusters []v1.WorkloadCluster) {
	p.Header(w, []string{"CLUSTER", "STATE", "REASON", "VIM", "EXPIRES", "CHECKED"}, "PROJECT", "ID", "MESSAGE")
	for _, c := range clusters {
		p.Columns(w, []string{
			c.Namespace + "/" + c.Name, c.State, c.Reason, c.VIMName, p.When(c.CredentialExpiresAt), p.When(c.CheckedAt),
		}, c.Project, console.ShortID(c.ID), c.Message)
	}
}

func (p *program) clusterShowCommand() *cobra.Command {
	var management string
	c := show(p, clusterArgument(&management), &cobra.Command{
		Use:   "show CLUSTER",
		Short: "Show one cluster",
		Long: `Show one cluster, by its id or as NAMESPACE/NAME. Where several have had that
name, it is the one that is not retired.`,
		Example: "  vimbroker cluster show tenant-a/edge-1\n  vimbroker cluster show tenant-a/edge-1 -o json",
	}, (*client.Client).Cluster, printed(p, p.clusterFacts))
	managementFlag(p, c, &management)
	return c
}

func managementFlag(p *program, c *cobra.Command, management *string) {
	c.Flags().StringVar(management, "management-cluster", "",
		"`VIM` (a name or id) that the cluster belongs to, where several have one of the name")
	console.MustComplete(c, "management-cluster", p.VimNames)
}

// clusterArgument names a cluster, of a management cluster where several have one of the name.
func clusterArgument(management *string) argument {
	return argument{
		name: "CLUSTER (an id, or NAMESPACE/NAME)", complete: cobra.NoFileCompletions,
		find: func(ctx context.Context, registry *client.Client, ref string) (string, error) {
			namespace, name, named := strings.Cut(ref, "/")
			if !named {
				return ref, nil
			}
			return clusterID(ctx, registry, client.ClusterQuery{ManagementCluster: *management, Namespace: namespace, Name: name})
		},
	}
}

func (p *program) clusterTokenCommand() *cobra.Command {
	var management, ttl string
	var revoke bool
	c := clusterArgument(&management).command(p, &cobra.Command{
		Use:   "token CLUSTER",
		Short: "Issue the token with which a cluster's kubeconfig can be pushed",
		Long: `Issue the token with which one kubeconfig of one cluster can be pushed, for
clusters whose credential stands in no secret: a script of the package that
makes the cluster sends it to POST /v1/onboard. It is checked as a secret of
the cluster would be. The token is good once, and for this cluster (management
cluster, namespace and UID) alone. The one before is good no more. You need the
right to enable the management cluster.`,
		Example: `  vimbroker cluster token tenant-a/edge-1 --ttl 30m
  vimbroker cluster token tenant-a/edge-1 --revoke

  curl "$VIMBROKER_ADDR/v1/onboard" -H "Authorization: Bearer $TOKEN" \
      -H 'Content-Type: application/json' -d @push.json
  # push.json: {"managementCluster": "hub", "namespace": "tenant-a",
  #             "clusterUid": "...", "kubeconfig": "..."}`,
	}, func(c *cobra.Command, id string, registry *client.Client) error {
		if revoke {
			return registry.RevokePushToken(c.Context(), id)
		}
		token, err := registry.IssuePushToken(c.Context(), id, v1.PushTokenRequest{TTL: ttl})
		if err != nil {
			return err
		}
		_, err = fmt.Fprintln(p.Out, token.Token.Reveal())
		return err
	})
	managementFlag(p, c, &management)
	flags := c.Flags()
	flags.StringVar(&ttl, "ttl", "", "how long the token is good, at most 24h (default 1h)")
	flags.BoolVar(&revoke, "revoke", false, "revoke the token that there is")
	c.MarkFlagsMutuallyExclusive("ttl", "revoke")
	return c
}

// clusterID finds the one cluster that a query names.
func clusterID(ctx context.Context, registry *client.Client, q client.ClusterQuery) (string, error) {
	var all, live []string
	for found, err := range registry.AllClusters(ctx, q) {
		if err != nil {
			return "", err
		}
		if all = append(all, found.ID); found.State != "retired" && found.State != "retiring" {
			live = append(live, found.ID)
		}
	}
	name := q.Namespace + "/" + q.Name
	switch {
	case len(live) == 1:
		return live[0], nil
	case len(live) > 1:
		return "", fmt.Errorf("several management clusters have a cluster %s; name one with --management-cluster", name)
	case len(all) == 0:
		return "", console.Missing("you see no cluster %q; see: vimbroker cluster list", name)
	}
	return all[len(all)-1], nil
}

func (p *program) clusterFacts(w io.Writer, c v1.WorkloadCluster) {
	console.Facts(w, "Cluster", c.Namespace+"/"+c.Name, "Id", c.ID, "UID", c.UID,
		"Management cluster", c.ManagementCluster, "Project", c.Project, "State", c.State, "Reason", c.Reason,
		"Message", c.Message, "VIM", c.VIMName, "VIM id", c.VIM, "VIM status", c.VIMStatus,
		"Same system", console.List(c.SameSystem), "Push token until", p.Moment(c.PushTokenExpiresAt),
		"Pushed", p.Moment(c.PushedAt), "Credential expires", p.Moment(c.CredentialExpiresAt),
		"Checked", p.Moment(c.CheckedAt), "Ready", p.Moment(c.ReadyAt), "Registered", p.Moment(c.RegisteredAt),
		"Gone", p.Moment(c.GoneAt), "First seen", p.Moment(c.CreatedAt), "Updated", p.Moment(c.UpdatedAt))
}
