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
	"github.com/vimbroker/vimbroker/broker/asset/spec"
	"github.com/vimbroker/vimbroker/cmd/vimbroker/console"
)

var virtualLinks = things[v1.VirtualLink]{
	what: "virtual link", list: "vimbroker link list",
	all:  (*client.Client).AllVirtualLinks,
	id:   func(l v1.VirtualLink) string { return l.ID },
	name: func(l v1.VirtualLink) string { return l.Name },
	hint: func(l v1.VirtualLink) string { return aboutLink(l) + " on " + l.VIMName },
}

var volumes = things[v1.Volume]{
	what: "volume", list: "vimbroker volume list",
	all:  (*client.Client).AllVolumes,
	id:   func(v v1.Volume) string { return v.ID },
	name: func(v v1.Volume) string { return v.Name },
	hint: func(v v1.Volume) string { return aboutVolume(v) + " on " + v.VIMName },
}

func (p *program) linkCommand() *cobra.Command {
	group := console.Group("link", "Make networks that VNF instances use",
		`Make virtual links: networks on VIMs, apart from any VNF instance. Who uses one
is counted, and it is not deleted before. A link that an instance made by its
package goes with its last use; one that was made here stays.`,
		`  vimbroker link create sgi --vim nfv1 --cidr 10.9.0.0/24
  vimbroker vnf instantiate upf --vim nfv1 --link SGI_CP=sgi --wait
  vimbroker link show sgi`, p.linkCreateCommand())
	shelved(p, group, virtualLinks, "sgi", p.linkTable, p.linkFacts, (*client.Client).VirtualLink, func(
		registry *client.Client, ctx context.Context, id string, force bool,
	) (v1.Standing, error) {
		had, err := registry.DeleteVirtualLink(ctx, id, force)
		return had.Standing, err
	}, "a network that was there before")
	return group
}

func (p *program) volumeCommand() *cobra.Command {
	group := console.Group("volume", "Make claims that VNF instances mount",
		`Make volumes: claims on Kubernetes VIMs, apart from any VNF instance. Who uses
one is counted, and it is not deleted before; no instance that is terminated
takes it along. On clouds volumes come with an instance, through Heat.`,
		`  vimbroker volume create data --vim edge-1 --size 10Gi
  vimbroker vnf instantiate db --vim edge-1 --volume db-data=data --wait
  vimbroker volume show data`, p.volumeCreateCommand())
	shelved(p, group, volumes, "data", p.volumeTable, p.volumeFacts, (*client.Client).Volume, func(
		registry *client.Client, ctx context.Context, id string, force bool,
	) (v1.Standing, error) {
		had, err := registry.DeleteVolume(ctx, id, force)
		return had.Standing, err
	}, "a claim that was there before")
	return group
}

// shelved adds to the commands of a kind of assets those that all kinds have. but names what deleting leaves.
func shelved[T any](
	p *program, group *cobra.Command, of things[T], example string, table func(io.Writer, []T), facts func(io.Writer, T),
	ask func(*client.Client, context.Context, string) (T, error),
	remove func(*client.Client, context.Context, string, bool) (v1.Standing, error), but string,
) {
	arg, force := " "+strings.ToUpper(group.Name()), false
	gone := act(p, of.argument(p), &cobra.Command{
		Use: "delete" + arg, Short: "Delete a " + of.what + " that nobody uses",
		Long: "Delete what stands on the VIM, but for " + but + `. With
--force also where VNF instances use it, which are then named, or where the VIM
does not answer: what is left there is then nobody's.`,
		Example: "  vimbroker " + group.Name() + " delete " + example,
	}, func(registry *client.Client, ctx context.Context, id string) error {
		had, err := remove(registry, ctx, id, force)
		if err == nil && len(had.Uses) > 0 {
			p.Warn("it was used by VNF instances: %s", usersOf(had))
		}
		return err
	})
	gone.Flags().BoolVar(&force, "force", false, "delete it although it is used, and name who uses it")
	group.AddCommand(
		of.listed(p, &cobra.Command{
			Use: "list", Short: "List " + of.what + "s", Long: "List the " + of.what + "s of your project and those that are shared with it.",
			Example: "  vimbroker " + group.Name() + " list",
		}, table),
		show(p, of.argument(p), &cobra.Command{
			Use: "show" + arg, Short: "Show one " + of.what + ", and who uses it",
			Long: "Show one " + of.what + ", with the VNF instances that use it.", Example: "  vimbroker " + group.Name() + " show " + example,
		}, ask, printed(p, facts)),
		gone,
	)
	p.ProjectFlag(group)
}

func (p *program) volumeCreateCommand() *cobra.Command {
	var r v1.VolumeRequest
	var s spec.VolumeSpec
	var existing string
	c := free.command(p, &cobra.Command{
		Use: "create NAME", Short: "Make a volume",
		Long: `Make a claim of a size. With --claim nothing is made: the volume is a claim that
stands already, as one that an instance has left. A volume of that name that is
the same already is shown.`,
		Example: `  vimbroker volume create data --vim edge-1 --size 10Gi --namespace shop
  vimbroker volume create old --vim edge-1 --claim db-data`,
	}, func(c *cobra.Command, name string, registry *client.Client) error {
		if r.Name = name; r.VIM == "" || (s.Size == "") == (existing == "") {
			return console.Usagef(c, "--vim, and one of --size and --claim, are needed")
		}
		if r.Spec = &s; existing != "" {
			r.Spec, r.Existing = nil, &v1.ExistingClaim{ClaimName: existing, Namespace: s.Namespace}
		}
		return answered(printed(p, p.volumeFacts))(registry.CreateVolume(c.Context(), r))
	})
	f := c.Flags()
	f.StringVar(&s.Size, "size", "", "how much it holds, as 10Gi")
	f.StringVarP(&s.Namespace, "namespace", "n", "", "namespace of the claim (default: the VIM's own)")
	f.StringVar(&s.Class, "class", "", "storage class (default: the cluster's)")
	f.StringSliceVar(&s.Modes, "mode", nil, "access modes (default: ReadWriteOnce)")
	f.StringVar(&existing, "claim", "", "name of a claim that it is; nothing is made")
	p.placed(c, &r.VIM, &r.Shared, &r.SharedWith)
	return c
}

// placed adds the flags that say where an asset stands and who sees it.
func (p *program) placed(c *cobra.Command, vim *string, shared *bool, with *[]string) {
	f := c.Flags()
	f.StringVar(vim, "vim", "", "VIM (name or id)")
	console.MustComplete(c, "vim", p.VimNames)
	f.BoolVar(shared, "shared", false, "let every project use it")
	f.StringSliceVar(with, "share-with", nil, "projects that may use it")
	p.OutputFlag(c)
}

func aboutVolume(v v1.Volume) string {
	if v.Existing != nil || v.Spec == nil {
		return "claim " + v.ClaimName
	}
	return strings.TrimSpace(v.Spec.Size + " " + v.Spec.Class)
}

func (p *program) volumeTable(w io.Writer, all []v1.Volume) {
	p.Header(w, []string{"ID", "NAME", "VIM", "ABOUT", "STATE"}, "CLAIM", "PROJECT")
	for _, v := range all {
		p.Columns(w, []string{p.id(v.ID), p.Cut(v.Name), v.VIMName, p.Cut(aboutVolume(v)), v.State}, v.ClaimName, v.Project)
	}
}

func (p *program) volumeFacts(w io.Writer, v v1.Volume) {
	namespace := ""
	if v.Spec != nil {
		namespace = v.Spec.Namespace
	} else if v.Existing != nil {
		namespace = v.Existing.Namespace
	}
	console.Facts(w, "Id", v.ID, "Name", v.Name, "About", aboutVolume(v), "Claim", v.ClaimName, "Namespace", namespace)
	p.standingFacts(w, v.Standing, v.Shared, v.SharedWith, v.Project, "")
}

// standingFacts are what is said alike of each kind of assets.
func (p *program) standingFacts(w io.Writer, s v1.Standing, all bool, with []string, project, maker string) {
	shared := console.List(with)
	if all {
		shared = "every project"
	}
	console.Facts(w, "VIM", s.VIMName, "State", s.State, "Fault", s.Fault, "Shared with", shared, "Used by", usersOf(s), "Made for", maker,
		"Project", project, "Created", p.Moment(s.CreatedAt)+" by "+s.CreatedBy)
}

func (p *program) linkCreateCommand() *cobra.Command {
	var r v1.VirtualLinkRequest
	var s spec.LinkSpec
	var existing, nad, text string
	var span map[string]string
	c := free.command(p, &cobra.Command{
		Use: "create NAME", Short: "Make a virtual link",
		Long: `Make a virtual link: on a cloud a network, with --cidr a subnet on it; on
Kubernetes a network that each instance gets in its own namespace, of a type and
a device of the nodes (--nad). --spec takes all there is as JSON, as the REST
API has it. A link of that name that is the same already is shown.

--spans says that nodes of a cluster reach the network of a cloud, by an
interface on its physical network: pods there then have addresses of the
network. With ipam=whereabouts, where the cluster has it, a workload may have
several pods. The REST API takes several.`,
		Example: `  vimbroker link create sgi --vim nfv1 --cidr 10.9.0.0/24
  vimbroker link create n6 --vim edge-1 --nad macvlan:eth1 --cidr 10.9.0.0/24
  vimbroker link create ran --vim nfv1 --network 0c5f...
  vimbroker link create lab --vim nfv1 --spec '{"subnetPool": "8e1..."}'
  vimbroker link create lan --vim nfv1 --network 0c5f... \
    --spans vim=edge-1,physicalNetwork=physnet1,interface=bond0`,
	}, func(c *cobra.Command, name string, registry *client.Client) error {
		if r.Name = name; r.VIM == "" {
			return console.Usagef(c, "--vim is missing")
		}
		if text != "" && json.Unmarshal([]byte(text), &s, json.RejectUnknownMembers(true)) != nil {
			return console.Usagef(c, "--spec takes a JSON object with the members of a link's spec")
		}
		if len(span) > 0 {
			var to spec.Span
			text, err := json.Marshal(span)
			if err != nil || json.Unmarshal(text, &to, json.RejectUnknownMembers(true)) != nil {
				return console.Usagef(c, "--spans takes vim=VIM,physicalNetwork=NAME,interface=NAME and ipam=whereabouts")
			}
			r.Spans = []spec.Span{to}
		}
		if kind, device, _ := strings.Cut(nad, ":"); kind != "" {
			s.NAD = &spec.PodNetwork{Type: kind, Device: device}
		}
		if existing != "" {
			r.Existing = &v1.ExistingNetwork{NetworkID: existing}
		} else {
			r.Spec = &s
		}
		return answered(printed(p, p.linkFacts))(registry.CreateVirtualLink(c.Context(), r))
	})
	f := c.Flags()
	f.StringVar(&s.CIDR, "cidr", "", "prefix of its addresses")
	f.StringVar(&nad, "nad", "", "TYPE[:DEVICE] of the network of pods, as macvlan:eth1")
	f.StringVar(&existing, "network", "", "id of a network of the cloud that it is; nothing is made")
	f.StringVar(&text, "spec", "", "JSON object with all members of the spec")
	f.StringToStringVar(&span, "spans", nil, "vim=,physicalNetwork=,interface= of a cluster that reaches it")
	p.placed(c, &r.VIM, &r.Shared, &r.SharedWith)
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
	console.Facts(w, "Id", l.ID, "Name", l.Name, "About", aboutLink(l))
	for _, n := range l.Networks {
		console.Facts(w, "Network", n.NetworkID, "Subnet", n.SubnetID, "Security group", n.SecurityGroupID)
	}
	for _, s := range l.Spans {
		console.Facts(w, "Spans to", s.VIM, "By interface", s.Interface+" on "+s.Physical)
	}
	p.standingFacts(w, l.Standing, l.Shared, l.SharedWith, l.Project, l.MadeFor)
}

// usersOf names the VNF instances that use an asset.
func usersOf(k v1.Standing) string {
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

// volumesOf are the volumes that flags ask for, each as CLAIM=VOLUME.
func volumesOf(c *cobra.Command, given []string) (map[string]string, error) {
	var all map[string]string
	for _, one := range given {
		claim, volume, ok := strings.Cut(one, "=")
		if !ok || claim == "" || volume == "" {
			return nil, console.Usagef(c, "--volume takes CLAIM=VOLUME, and %q is none", one)
		}
		if all == nil {
			all = map[string]string{}
		}
		all[claim] = volume
	}
	return all, nil
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
