package cli

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/vimbroker/vimbroker/broker/api/client"
	"github.com/vimbroker/vimbroker/cmd/vimbroker/console"
	"github.com/vimbroker/vimbroker/drivers/kubernetes/rbac"
)

func (p *program) vimRBACCommand() *cobra.Command {
	o := rbac.Options{Profile: rbac.Leases}
	var profile string
	c := &cobra.Command{
		Use:   "rbac [VIM]",
		Short: "Print the rights that a cluster must give the broker",
		Long: `Print YAML for kubectl apply: the rights that a cluster must give the
credential that you register. An administrator of the cluster applies it.

Without a VIM it makes a service account, and gives it the rights of managed
mode: the broker makes namespaces of its own on the cluster, one for each
combination of role and scope. With a VIM the rights go to whom the cluster
takes its credential for.

With --pool the VIM runs in prepared mode: the broker works in a pool of that
many namespaces, and in the --namespace of its leases, and nowhere else. Each
namespace of the pool serves one combination of role and scope at a time.

--for engine adds the right to hand out rules that the credential does not
hold itself, which life-cycle operations need.`,
		Example: `  vimbroker vim rbac | kubectl apply -f -
  vimbroker vim rbac --role view --role edit
  vimbroker vim rbac edge-1 --pool 8 --namespace shop \
      --namespace web | kubectl apply -f -
  vimbroker vim rbac edge-1 --for engine`,
		Args: cobra.MaximumNArgs(1), ValidArgsFunction: console.OnlyFirst(p.VimNames),
	}
	write := func() error {
		manifest, err := rbac.Manifest(o)
		if err != nil {
			return console.Usage(c, err)
		}
		_, err = fmt.Fprint(p.Out, manifest)
		return err
	}
	ofVIM := p.remoteVIM(func(c *cobra.Command, args []string, registry *client.Client) error {
		v, err := registry.VIM(c.Context(), args[0])
		switch {
		case err != nil:
			return err
		case v.Type != "kubernetes":
			return fmt.Errorf("VIM %s is of type %s; only clusters have such rights", v.Name, v.Type)
		case v.Discovered == nil || v.Discovered.Cluster == nil || v.Discovered.User == "":
			return fmt.Errorf("it is not known who the cluster of %s takes its credential for; run vimbroker vim check %s", v.Name, v.Name)
		}
		o.VIM, o.User = v.ID, v.Discovered.User
		return write()
	})
	c.RunE = func(c *cobra.Command, args []string) error {
		o.Profile = rbac.Profile(profile)
		if len(args) > 0 {
			return ofVIM(c, args)
		}
		return write()
	}
	flags := c.Flags()
	flags.StringVar(&profile, "for", string(rbac.Leases), "what the credential is for: leases or engine")
	flags.StringArrayVar(&o.Roles, "role", rbac.Roles(), "ClusterRole that leases may have; can be repeated")
	flags.IntVar(&o.Pool, "pool", 0, "prepared mode with so many namespaces; 0 is managed mode")
	flags.StringArrayVar(&o.Namespaces, "namespace", nil, "namespace that leases may be limited to, in prepared mode; can be repeated")
	console.MustChoose(c, "for", string(rbac.Leases), string(rbac.Engine))
	return c
}
