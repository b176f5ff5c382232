package cli

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/spf13/cobra"

	"github.com/vimbroker/vimbroker/broker/api/client"
	"github.com/vimbroker/vimbroker/broker/api/sol003"
	v1 "github.com/vimbroker/vimbroker/broker/api/v1"
	"github.com/vimbroker/vimbroker/broker/link/network"
	"github.com/vimbroker/vimbroker/cmd/vimbroker/console"
)

var virtualLinks = things[v1.VirtualLink]{
	what: "virtual link", list: "vimbroker link list",
	all:  (*client.Client).AllVirtualLinks,
	id:   func(l v1.VirtualLink) string { return l.ID },
	name: func(l v1.VirtualLink) string { return l.Name },
	hint: func(l v1.VirtualLink) string { return aboutLink(l) + " on " + l.VIMName },
}

func (p *program) linkCommand() *cobra.Command {
	group := console.Group("link", "Make networks that VNF instances use",
		`Make virtual links: networks on VIMs, apart from any VNF instance. Who uses one
is counted, and it is not deleted before. A link that an instance made by its
package goes with its last use; one that was made here stays.`,
		`  vimbroker link create sgi --vim nfv1 --cidr 10.9.0.0/24
  vimbroker vnf instantiate upf --vim nfv1 --link SGI_CP=sgi --wait
  vimbroker link show sgi`,
		p.linkCreateCommand(),
		virtualLinks.listed(p, &cobra.Command{
			Use: "list", Short: "List virtual links", Long: "List the virtual links of your project and those that are shared with it.",
			Example: "  vimbroker link list",
		}, p.linkTable),
		show(p, virtualLinks.argument(p), &cobra.Command{
			Use: "show LINK", Short: "Show one virtual link, and who uses it", Long: "Show one virtual link, with the VNF instances that use it.",
			Example: "  vimbroker link show sgi",
		}, (*client.Client).VirtualLink, printed(p, p.linkFacts)),
		p.linkDeleteCommand(),
	)
	p.ProjectFlag(group)
	return group
}

func (p *program) linkDeleteCommand() *cobra.Command {
	force := false
	c := act(p, virtualLinks.argument(p), &cobra.Command{
		Use: "delete LINK", Short: "Delete a virtual link that nobody uses",
		Long: `Delete what stands on the VIM, but for a network that was there before. With
--force also where VNF instances use it, which are then named, or where the VIM
does not answer: what is left there is then nobody's.`,
		Example: "  vimbroker link delete sgi",
	}, func(registry *client.Client, ctx context.Context, id string) error {
		had, err := registry.DeleteVirtualLink(ctx, id, force)
		if err == nil && len(had.Uses) > 0 {
			p.Warn("it was used by VNF instances: %s", usersOf(had))
		}
		return err
	})
	c.Flags().BoolVar(&force, "force", false, "delete it although it is used, and name who uses it")
	return c
}

func (p *program) linkCreateCommand() *cobra.Command {
	var r v1.VirtualLinkRequest
	var s network.LinkSpec
	var existing, nad, text string
	c := &cobra.Command{
		Use: "create NAME", Short: "Make a virtual link",
		Long: `Make a virtual link: on a cloud a network, with --cidr a subnet on it; on
Kubernetes a network that each instance gets in its own namespace, of a type and
a device of the nodes (--nad). --spec takes all there is as JSON, as the REST
API has it. A link of that name that is the same already is shown.`,
		Example: `  vimbroker link create sgi --vim nfv1 --cidr 10.9.0.0/24
  vimbroker link create n6 --vim edge-1 --nad macvlan:eth1 --cidr 10.9.0.0/24
  vimbroker link create ran --vim nfv1 --network 0c5f...
  vimbroker link create lab --vim nfv1 --spec '{"subnetPool": "8e1..."}'`,
		Args: console.Names("NAME"), ValidArgsFunction: cobra.NoFileCompletions,
		RunE: p.Remote(func(c *cobra.Command, args []string, registry *client.Client) error {
			if r.Name = args[0]; r.VIM == "" {
				return console.Usagef(c, "--vim is missing")
			}
			if text != "" && json.Unmarshal([]byte(text), &s, json.RejectUnknownMembers(true)) != nil {
				return console.Usagef(c, "--spec takes a JSON object with the members of a link's spec")
			}
			if kind, device, _ := strings.Cut(nad, ":"); kind != "" {
				s.NAD = &network.PodNetwork{Type: kind, Device: device}
			}
			if existing != "" {
				r.Existing = &v1.ExistingNetwork{NetworkID: existing}
			} else {
				r.Spec = &s
			}
			made, err := registry.CreateVirtualLink(c.Context(), r)
			if err != nil {
				return err
			}
			return printed(p, p.linkFacts)(made)
		}),
	}
	f := c.Flags()
	f.StringVar(&s.CIDR, "cidr", "", "prefix of its addresses")
	f.StringVar(&nad, "nad", "", "TYPE[:DEVICE] of the network of pods, as macvlan:eth1")
	f.StringVar(&existing, "network", "", "id of a network of the cloud that it is; nothing is made")
	f.StringVar(&text, "spec", "", "JSON object with all members of the spec")
	f.StringVar(&r.VIM, "vim", "", "VIM (name or id)")
	console.MustComplete(c, "vim", p.VimNames)
	f.BoolVar(&r.Shared, "shared", false, "let every project use it")
	f.StringSliceVar(&r.SharedWith, "share-with", nil, "projects that may use it")
	p.OutputFlag(c)
	return c
}

func aboutLink(l v1.VirtualLink) string {
	switch {
	case l.Existing != nil:
		return "network " + l.Existing.NetworkID
	case l.Spec != nil && l.Spec.NAD != nil:
		return strings.TrimSpace(l.Spec.NAD.Type + " " + l.Spec.CIDR)
	case l.Spec != nil:
		return cmp.Or(l.Spec.CIDR, "network")
	}
	return ""
}

func (p *program) linkTable(w io.Writer, all []v1.VirtualLink) {
	p.Header(w, []string{"ID", "NAME", "VIM", "ABOUT", "STATE"}, "NETWORK", "PROJECT", "MADE FOR")
	for _, l := range all {
		network := ""
		for _, n := range l.Networks {
			network = n.NetworkID
		}
		p.Columns(w, []string{p.id(l.ID), p.Cut(l.Name), l.VIMName, p.Cut(aboutLink(l)), l.State}, network, l.Project, l.MadeFor)
	}
}

func (p *program) linkFacts(w io.Writer, l v1.VirtualLink) {
	shared := console.List(l.SharedWith)
	if l.Shared {
		shared = "every project"
	}
	console.Facts(w, "Id", l.ID, "Name", l.Name, "About", aboutLink(l))
	for _, n := range l.Networks {
		console.Facts(w, "Network", n.NetworkID, "Subnet", n.SubnetID, "Security group", n.SecurityGroupID)
	}
	console.Facts(w, "VIM", l.VIMName, "State", l.State, "Fault", l.Fault, "Shared with", shared, "Used by", usersOf(l), "Made for", l.MadeFor,
		"Project", l.Project, "Created", p.Moment(l.CreatedAt)+" by "+l.CreatedBy)
}

// usersOf names the VNF instances that use a link.
func usersOf(k v1.VirtualLink) string {
	var ids []string
	for _, u := range k.Uses {
		ids = append(ids, u.Instance)
	}
	text := console.List(ids)
	if more := k.UseCount - len(ids); more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}

// linksOf are the links that flags ask for, each as CP=LINK: connection points of one link are together.
func linksOf(c *cobra.Command, given []string) (all []sol003.AskedLink, err error) {
	at := map[string]int{}
	for _, one := range given {
		cp, link, ok := strings.Cut(one, "=")
		if !ok || cp == "" || link == "" {
			return nil, console.Usagef(c, "--link takes CP=LINK, and %q is none", one)
		}
		n, known := at[link]
		if !known {
			n, at[link] = len(all), len(all)
			all = append(all, sol003.AskedLink{ID: link, ResourceID: link})
		}
		all[n].CPs = append(all[n].CPs, sol003.ExtCP{CPDID: cp, Config: map[string]sol003.CPConfig{cp: {}}})
	}
	return all, nil
}

const linkUsage = "CP=LINK: what an external connection point is connected to (repeatable)"

func (p *program) vnfConnectCommand() *cobra.Command {
	var r sol003.ConnectRequest
	var given []string
	return p.beginCommand(beginning{
		use: "connect INSTANCE", short: "Connect external connection points to other links", task: "change_ext_conn", dry: true,
		long: `Change what external connection points of an instance are connected to. Those
that are not named stay where they are.`,
		example: "  vimbroker vnf connect upf --link SGI_CP=sgi-2 --wait",
		flags: func(c *cobra.Command) {
			c.Flags().StringArrayVar(&given, "link", nil, linkUsage)
		},
		request: func(c *cobra.Command, _ *client.Client) (_ any, err error) {
			if len(given) == 0 {
				return nil, console.Usagef(c, "--link is missing")
			}
			r.External, err = linksOf(c, given)
			return r, err
		},
	})
}
