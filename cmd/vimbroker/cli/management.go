package cli

import (
	"cmp"
	"fmt"
	"io"
	"net/http"
	"strings"

	"github.com/spf13/cobra"

	"github.com/vimbroker/vimbroker/broker/api/client"
	v1 "github.com/vimbroker/vimbroker/broker/api/v1"
	"github.com/vimbroker/vimbroker/broker/onboard"
	"github.com/vimbroker/vimbroker/broker/strictyaml"
	"github.com/vimbroker/vimbroker/cmd/vimbroker/console"
	"github.com/vimbroker/vimbroker/drivers/kubernetes/rbac"
)

func (p *program) managementCommand() *cobra.Command {
	group := console.Group("management-cluster", "Make VIMs of the clusters that Cluster API creates",
		`A management cluster is a VIM on which Cluster API runs. Once it is enabled,
each cluster in the namespaces that you name becomes a VIM as soon as its
control plane is up. The VIM follows the cluster: its credential is replaced
when it is rotated, and the VIM is deleted when the cluster is gone.`,
		`  vimbroker management-cluster enable hub --namespaces tenant-a,tenant-b \
      --project tenant-a=north --project tenant-b=south
  vimbroker cluster watch`,
		p.managementEnableCommand(),
		ask(p, &cobra.Command{
			Use:     "list",
			Aliases: []string{"ls"},
			Short:   "List management clusters",
			Long:    "List the management clusters that you may see. TROUBLE is what keeps one from\nbeing watched.",
			Example: "  vimbroker management-cluster list",
		}, (*client.Client).ManagementClusters, printed(p, func(w io.Writer, found v1.List[v1.ManagementCluster]) {
			p.Header(w, []string{"VIM", "NAMESPACES", "WATCHED", "HELD", "TROUBLE"}, "PROJECTS", "ID")
			for _, m := range found.Items {
				p.Columns(w, []string{
					m.VIMName, strings.Join(m.Namespaces, ","), p.When(m.WatchedAt), console.Yes(!m.HeldAt.IsZero()), m.Trouble,
				}, projectWords(m.Projects), console.ShortID(m.VIM))
			}
		})),
		show(p, p.vim(), &cobra.Command{
			Use:     "show VIM",
			Short:   "Show one management cluster",
			Long:    "Show how a management cluster is enabled, and whether it is watched.",
			Example: "  vimbroker management-cluster show hub",
		}, (*client.Client).ManagementCluster, printed(p, p.managementFacts)),
		show(p, p.vim(), &cobra.Command{
			Use:   "release VIM",
			Short: "Let go of clusters that are held",
			Long: `If more of a management cluster's clusters are gone at once than --max-gone and
--max-gone-share of its settings say, none of their VIMs is deleted: perhaps it
is the management cluster that is wrong. Look at it first. A release deletes
the VIMs of all clusters that are gone now or within the next ten minutes.`,
			Example: "  vimbroker cluster list --management-cluster hub\n  vimbroker management-cluster release hub",
		}, (*client.Client).ReleaseManagementCluster, printed(p, p.managementFacts)),
		act(p, p.vim(), &cobra.Command{
			Use:   "disable VIM",
			Short: "Stop following the clusters of a management cluster",
			Long: `Stop following the clusters of a management cluster. Their VIMs stay, and you
look after them from then on. If you enable it again, they are followed again.`,
			Example: "  vimbroker management-cluster disable hub",
		}, (*client.Client).DisableManagementCluster),
	)
	console.VIMEither(p.VimNames, group.Commands()...)
	return group
}

func (p *program) managementEnableCommand() *cobra.Command {
	var r v1.ManagementClusterRequest
	var selector, namespaceSelector, projects []string
	var printRBAC bool
	c := &cobra.Command{
		Use:   "enable VIM",
		Short: "Make a VIM a management cluster, or change how it is one",
		Long: `Make a VIM a management cluster, or change how it is one: what you leave out
stays as it is, and is the default at first. You need the right to register
VIMs in each project. A Cluster with the annotation vimbroker.io/onboard=false
is left out; with --annotation in, so is each one without
vimbroker.io/onboard=true.

--namespaces names at most 64. --namespaces '*' takes all, --namespace-selector
those with labels, as they come and go; both need a --project for all others.

The broker watches with leases of its own, which can get, list and watch the
clusters and secrets of the namespaces, and nothing else. With '*' or labels
they read those of the whole cluster. --print-rbac prints
what the VIM's registered credential needs to hand these out; an administrator
of the management cluster applies it.

The secret of a cluster holds an administrator's certificate, which Kubernetes
cannot revoke. Where the cluster lets it, the broker does not keep that: it
makes a service account of its own there with the rights that "vimbroker vim
rbac --for engine" prints, and renews its token. --account leases gives it
fewer rights, --account none keeps the certificate.

--project is NAMESPACE=PROJECT, or a PROJECT for all other namespaces.
--copy-labels names labels of the cluster that its VIM has too, as cluster/KEY.`,
		Example: `  vimbroker management-cluster enable hub --namespaces tenant-a --project north
  vimbroker management-cluster enable hub --namespaces tenant-a,tenant-b \
      --selector onboard=yes --project tenant-b=south --project north
  vimbroker management-cluster enable hub --namespace-selector tenant=yes \
      --project north
  vimbroker management-cluster enable hub --namespaces tenant-a \
      --project north --print-rbac | kubectl apply -f -`,
	}
	p.vim().command(p, c, func(c *cobra.Command, id string, registry *client.Client) error {
		var err error
		if r.Selector, err = pairs("selector", selector, false); err != nil {
			return console.Usage(c, err)
		}
		if r.NamespaceSelector, err = pairs("namespace-selector", namespaceSelector, false); err != nil {
			return console.Usage(c, err)
		}
		if r.Projects, err = pairs("project", projects, true); err != nil {
			return console.Usage(c, err)
		}
		if !c.Flags().Changed("namespace-selector") {
			r.NamespaceSelector = nil
		}
		if !c.Flags().Changed("selector") {
			r.Selector = nil
		}
		if !c.Flags().Changed("project") {
			r.Projects = nil
		}
		if printRBAC {
			return p.printOnboardRBAC(c, registry, id, r)
		}
		r.VIM = id
		return answered(printed(p, p.managementFacts))(registry.EnableManagementCluster(c.Context(), r))
	})
	flags := c.Flags()
	flags.StringSliceVar(&r.Namespaces, "namespaces", nil, "namespaces whose clusters are taken; * for all")
	flags.StringSliceVar(&namespaceSelector, "namespace-selector", nil, "labels of the namespaces, `key=value`, in place of names")
	flags.StringSliceVar(&selector, "selector", nil, "labels that a cluster must have, `key=value`")
	flags.StringSliceVar(&projects, "project", nil, "whose VIMs the clusters become: PROJECT, or `NAMESPACE=PROJECT`; can be repeated")
	flags.StringVar(&r.SecretName, "secret-name", "", "name of a cluster's secret (default {cluster}-kubeconfig)")
	flags.StringVar(&r.SecretKey, "secret-key", "", "entry of the secret that holds the kubeconfig (default value)")
	flags.StringVar(&r.NameTemplate, "name", "", "`template` of the VIMs' names (default {namespace}.{cluster})")
	flags.StringSliceVar(&r.CopyLabels, "copy-labels", nil, "keys of labels of the cluster that its VIM has too")
	flags.StringSliceVar(&r.ControlPlanes, "control-planes", nil,
		"control planes (PLURAL.GROUP) that may own a secret (default: of all known providers)")
	flags.StringVar(&r.Account, "account", "", "the broker's own account on each cluster: engine, leases or none (default engine)")
	flags.IntVar(&r.MaxGone, "max-gone", 0, "how many VIMs are deleted within ten minutes before the rest is held (default 3)")
	flags.IntVar(&r.MaxGoneShare, "max-gone-share", 0, "the same in `percent` of all, where that is more (default 20)")
	flags.StringVar(&r.Annotation, "annotation", "", "what vimbroker.io/onboard of a Cluster decides: out or in (default out)")
	console.MustChoose(c, "annotation", "out", "in")
	console.MustChoose(c, "account", "engine", "leases", "none")
	flags.BoolVar(&printRBAC, "print-rbac", false, "only print the rights that the VIM's credential needs")
	p.OutputFlag(c)
	return c
}

// pairs reads key=value; with bare, a word without "=" is the value of the empty key.
func pairs(flag string, words []string, bare bool) (map[string]string, error) {
	m := map[string]string{}
	for _, word := range words {
		key, value, ok := strings.Cut(word, "=")
		if !ok && bare {
			key, value = "", word
		}
		if _, twice := m[key]; twice || !ok && !bare || ok && key == "" || value == "" && bare {
			return nil, fmt.Errorf("--%s %s must be key=value, each key once", flag, strictyaml.Printable(word))
		}
		m[key] = value
	}
	return m, nil
}

// printOnboardRBAC prints the rights that the registered credential needs.
func (p *program) printOnboardRBAC(c *cobra.Command, registry *client.Client, vim string, r v1.ManagementClusterRequest) error {
	v, err := registry.VIM(c.Context(), vim)
	switch {
	case err != nil:
		return err
	case v.Discovered == nil || v.Discovered.Cluster == nil || v.Discovered.User == "":
		return fmt.Errorf("it is not known who the cluster of %s takes its credential for; run vimbroker vim check %s", v.Name, v.Name)
	}
	if len(r.NamespaceSelector) > 0 && r.Namespaces == nil {
		r.Namespaces = []string{"*"}
	}
	if r.Namespaces == nil || r.ControlPlanes == nil {
		now, err := registry.ManagementCluster(c.Context(), vim)
		switch {
		case err == nil && r.Namespaces == nil:
			r.Namespaces, r.NamespaceSelector = now.Namespaces, now.NamespaceSelector
		case err != nil && client.Status(err) != http.StatusNotFound:
			return err
		}
		if err == nil && r.ControlPlanes == nil {
			r.ControlPlanes = now.ControlPlanes
		}
	}
	if len(r.ControlPlanes) == 0 {
		r.ControlPlanes = onboard.KnownControlPlanes
	}
	manifest, err := rbac.Onboarding(rbac.OnboardingOptions{
		VIM: v.ID, User: v.Discovered.User, Namespaces: r.Namespaces, ControlPlanes: r.ControlPlanes,
		SelectNamespaces: len(r.NamespaceSelector) > 0,
	})
	if err != nil {
		return console.Usage(c, err)
	}
	_, err = fmt.Fprint(p.Out, manifest)
	return err
}

// projectWords spell projects as --project takes them.
func projectWords(projects map[string]string) string {
	return strings.ReplaceAll(","+console.Pairs(projects), ",=", ",")[1:]
}

func (p *program) managementFacts(w io.Writer, m v1.ManagementCluster) {
	console.Facts(w, "VIM", m.VIMName, "Id", m.VIM, "Project", m.Project, "Namespaces", console.List(m.Namespaces),
		"Namespace labels", console.Pairs(m.NamespaceSelector), "Selector", console.Pairs(m.Selector),
		"Projects", projectWords(m.Projects), "Secret", m.SecretName+", entry "+m.SecretKey, "Names", m.NameTemplate,
		"Labels copied", console.List(m.CopyLabels), "Control planes", cmp.Or(console.List(m.ControlPlanes), "of all known providers"),
		"Own account", m.Account, "Annotation", m.Annotation,
		"Held beyond", fmt.Sprintf("%s or %d %% in ten minutes", console.Count(m.MaxGone, "VIM", "VIMs"), m.MaxGoneShare),
		"Watched", p.Moment(m.WatchedAt), "Trouble", m.Trouble, "Held since", p.Moment(m.HeldAt),
		"Released until", p.Moment(m.ReleasedUntil), "Enabled", p.Moment(m.CreatedAt)+" by "+m.EnabledBy,
		"Updated", p.Moment(m.UpdatedAt))
}
