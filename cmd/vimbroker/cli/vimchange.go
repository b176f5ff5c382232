package cli

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/vimbroker/vimbroker/broker/api/client"
	"github.com/vimbroker/vimbroker/broker/api/v1"
	"github.com/vimbroker/vimbroker/broker/strictyaml"
	"github.com/vimbroker/vimbroker/cmd/vimbroker/console"
)

func (p *program) vimUpdateCommand() *cobra.Command {
	var s vimSource
	var name, description, suspended, podsHeldBy string
	var kinds, labels []string
	var shared, isDefault bool
	var ifRevision int64
	c := p.vim().command(p, &cobra.Command{
		Use:   "update VIM",
		Short: "Change a VIM",
		Long: `Change what the flags name; everything else stays. If you change the endpoint,
CA, verification or scope, give the credential again: a stored credential is
never sent to a new address. The server checks the change against the VIM
before it stores anything. Existing leases keep using the previous settings.`,
		Example: `  vimbroker vim update edge-1 --label site=south --label old-
  vimbroker vim update edge-1 --default
  vimbroker vim update edge-1 \
      --shared-kinds network-attachment-definitions.k8s.cni.cncf.io=bridge
  vimbroker vim update edge-1 --endpoint https://10.0.0.11:6443 \
      --bearer-token-file token
  vimbroker vim update cloud-1 --region RegionTwo --username ops \
      --password-file password`,
	}, func(c *cobra.Command, id string, registry *client.Client) error {
		change, err := s.change(c, p)
		if err != nil {
			return err
		}
		change.Name, change.Description = given(c, "name", &name), given(c, "description", &description)
		change.Shared, change.Default = given(c, "shared", &shared), given(c, "default", &isDefault)
		change.Suspended, change.PodsHeldBy = given(c, "suspend", &suspended), given(c, "pods-held-by", &podsHeldBy)
		kinds = slices.DeleteFunc(kinds, func(kind string) bool { return kind == "" })
		change.SharedKinds = given(c, "shared-kinds", &kinds)
		if change.Labels, err = labelChanges(labels); err != nil {
			return console.Usage(c, err)
		}
		changed := c.Flags().Changed
		if changed("region") || changed("cloud-project") || changed("cloud-domain") {
			before, err := registry.VIM(c.Context(), id)
			if err != nil {
				return err
			}
			change.Scope = s.scope(changed, before)
			if ifRevision == 0 {
				ifRevision = before.Revision
			}
		}
		if reflect.DeepEqual(change, v1.Change{Labels: map[string]*string{}}) {
			return console.Usagef(c, "give what to change, like --name, --label, --default, --suspend, --endpoint or --bearer-token-file")
		}
		return answered(p.printVIM)(registry.UpdateVIM(c.Context(), id, change, ifRevision))
	})
	flags := c.Flags()
	flags.StringVar(&name, "name", "", "new name")
	flags.StringVar(&description, "description", "", "new description")
	flags.StringArrayVarP(&labels, "label", "l", nil, "label to set, key=value, or to remove, key-; can be repeated")
	flags.BoolVar(&shared, "shared", false, "let every project see and lease it (--shared=false: no longer)")
	flags.BoolVar(&isDefault, "default", false, "make it the project's default (--default=false: no longer)")
	flags.StringArrayVar(&kinds, "shared-kinds", nil,
		"`kind` that every project may have in a VNF here: PLURAL.GROUP, or PLURAL.GROUP=TYPES; can be repeated (--shared-kinds=: none)")
	flags.StringVar(&podsHeldBy, "pods-held-by", "",
		"`admission` that keeps pods from their nodes where no Pod Security is enforced, such as kyverno (--pods-held-by=: none)")
	flags.StringVar(&suspended, "suspend", "", "issue no new lease on it, for this `reason` (--suspend=: issue them again)")
	flags.StringVar(&s.endpoint, "endpoint", "", "new URL")
	flags.StringVar(&s.namespace, "namespace", "", "namespace that clients start in")
	flags.StringVar(&s.kubeconfig, "kubeconfig", "", "kubeconfig file instead of endpoint, CA and credential")
	flags.StringVar(&s.context, "context", "", "context of the kubeconfig (default: its current one)")
	flags.Int64Var(&ifRevision, "if-revision", 0, "refuse unless this is the VIM's revision")
	s.cloudFlags(c)
	s.trustFlags(c)
	s.credential.add(c)
	p.OutputFlag(c)
	return c
}

// scope is a VIM's with what the flags change; of each pair the new name counts.
func (s *vimSource) scope(changed func(string) bool, v v1.VIM) *v1.Scope {
	var scope v1.Scope
	if v.Scope != nil {
		scope = *v.Scope
	}
	if changed("region") {
		scope.Region = s.region
	}
	if changed("cloud-project") {
		scope.ProjectID, scope.Project = "", s.project
	}
	if changed("cloud-domain") {
		scope.ProjectDomainID, scope.ProjectDomain = "", s.domain
		scope.UserDomainID, scope.UserDomain = "", s.domain
	}
	return &scope
}

// change makes a change of the flags that are given.
func (s *vimSource) change(c *cobra.Command, p *program) (v1.Change, error) {
	var change v1.Change
	changed := c.Flags().Changed
	if changed("kubeconfig") {
		text, err := p.kubeconfig(s.kubeconfig, s.context, s.insecure)
		if err != nil {
			return change, err
		}
		change.Kubeconfig = text
	}
	if changed("clouds-yaml") {
		text, err := s.clouds(p)
		if err != nil {
			return change, err
		}
		change.CloudsYAML = text
	}
	change.Cloud, change.Endpoint, change.Namespace = s.cloud, given(c, "endpoint", &s.endpoint), given(c, "namespace", &s.namespace)
	change.InsecureSkipVerify, change.ServerName = given(c, "insecure-skip-verify", &s.insecure), given(c, "server-name", &s.serverName)
	p.warnInsecure(s.insecure && !changed("kubeconfig")) // which warns itself
	if changed("ca-cert-file") || !change.CloudsYAML.Empty() {
		ca, err := s.cloudAuthorities(p, change.CloudsYAML)
		if err != nil {
			return change, err
		}
		if ca != "" || changed("ca-cert-file") {
			change.CACert = &ca
		}
	}
	var err error
	change.Credential, err = s.credential.read(p)
	return change, err
}

// labelChanges reads key=value as setting and key- as removing.
func labelChanges(words []string) (map[string]*string, error) {
	changes := make(map[string]*string)
	for _, word := range words {
		key, value, set := strings.Cut(word, "=")
		bare, removed := strings.CutSuffix(word, "-")
		switch {
		case set && key != "":
			changes[key] = &value
		case removed && bare != "":
			changes[bare] = nil
		default:
			return nil, fmt.Errorf("--label %s must be key=value, or key- to remove it", strictyaml.Printable(word))
		}
	}
	return changes, nil
}

func (p *program) vimRotateCommand() *cobra.Command {
	var f credentialFlags
	var ifRevision int64
	c := p.vim().command(p, &cobra.Command{
		Use:   "rotate VIM",
		Short: "Replace a VIM's credential",
		Long: `Replace the stored credential by the one in the files given. It is sealed under
a new key, and the old key is destroyed. A VIM that is draining takes another
credential, too. "vimbroker key rotate" seals the stored credential under a new
key without replacing it.`,
		Example: "  vimbroker vim rotate edge-1 --bearer-token-file new-token",
	}, func(c *cobra.Command, id string, registry *client.Client) error {
		if !slices.ContainsFunc(f.names(), c.Flags().Changed) {
			return console.Usagef(c, "give the new credential, like --bearer-token-file FILE; to seal the stored one under a new key: "+
				"vimbroker key rotate %s", strictyaml.Printable(id))
		}
		credential, err := f.read(p)
		if err != nil {
			return err
		}
		return answered(p.printVIM)(registry.RotateVIM(c.Context(), id, v1.Rotation{Credential: credential}, ifRevision))
	})
	f.add(c)
	c.Flags().Int64Var(&ifRevision, "if-revision", 0, "refuse unless this is the VIM's revision")
	p.OutputFlag(c)
	return c
}

func (p *program) vimInventoryCommand() *cobra.Command {
	var settle, all bool
	c := &cobra.Command{
		Use:   "inventory [VIM]",
		Short: "Compare what a VIM holds of ours with the leases on it",
		Long: `Ask the VIM for everything there that carries our mark, and compare it with
the leases: orphans are objects without a lease, ghosts are leases without an
object. Unbound leases lack rights that they were granted, as somebody removed
bindings or a namespace; the next token or renewal brings them back. Foreign
objects were made by somebody else and could be used to act as a lease; a person
has to look at them. --settle removes orphans and closes ghosts.
Fails (exit code 1) while there are any orphans or ghosts.`,
		Example: "  vimbroker vim inventory edge-1\n  vimbroker vim inventory --all --settle",
		Args: func(c *cobra.Command, args []string) error {
			if all {
				return console.Names()(c, args)
			}
			return console.Names("VIM (a name or id, or --all)")(c, args)
		},
		ValidArgsFunction: console.OnlyFirst(p.VimNames),
		RunE: p.remoteVIM(func(c *cobra.Command, args []string, registry *client.Client) error {
			names := map[string]string{} // by id
			if all {
				for v, err := range registry.AllVIMs(c.Context(), client.VIMQuery{PageSize: listPage}) {
					if err != nil {
						return err
					}
					args = append(args, v.ID)
					names[v.ID] = v.Project + "/" + v.Name
				}
			}
			found := v1.List[v1.Inventory]{Items: []v1.Inventory{}}
			var failed []error // one VIM that cannot be asked hides no other
			for _, vim := range args {
				i, err := registry.Inventory(c.Context(), vim, settle)
				if err != nil {
					failed = append(failed, fmt.Errorf("taking the inventory of %s: %w", strictyaml.Printable(cmp.Or(names[vim], vim)), err))
					continue
				}
				found.Items = append(found.Items, i)
			}
			return errors.Join(append(failed, p.printInventories(found))...)
		}),
	}
	c.Flags().BoolVar(&settle, "settle", false, "remove orphans and close ghosts")
	c.Flags().BoolVar(&all, "all", false, "every VIM that the caller sees")
	p.OutputFlag(c)
	return c
}

// printInventories prints counts and what does not match, and fails if anything is left so.
func (p *program) printInventories(found v1.List[v1.Inventory]) error {
	err := p.Print(found, func(w io.Writer) {
		p.Header(w, []string{"VIM", "UPSTREAM", "LEASES", "ORPHANS", "GHOSTS", "UNBOUND", "FOREIGN", "SETTLED"})
		for _, i := range found.Items {
			console.Row(w, i.VIMName, strconv.Itoa(i.Upstream), strconv.Itoa(i.Rows), strconv.Itoa(len(i.Orphans)), strconv.Itoa(len(i.Ghosts)),
				strconv.Itoa(len(i.Unbound)), strconv.Itoa(len(i.Foreign)), console.Yes(i.Settled))
		}
		for _, i := range found.Items {
			if len(i.Orphans)+len(i.Ghosts)+len(i.Unbound)+len(i.Foreign) > 0 {
				fmt.Fprintln(w) // columns of their own
			}
			for _, o := range i.Orphans {
				console.Row(w, "orphan on "+i.VIMName, o.Handle, "lease "+o.Lease, "made "+p.When(o.CreatedAt))
			}
			for _, o := range i.Foreign {
				console.Row(w, "foreign on "+i.VIMName, o)
			}
			for _, g := range i.Ghosts {
				console.Row(w, "ghost on "+i.VIMName, "lease "+g.ID, g.State, g.Principal)
			}
			for _, u := range i.Unbound {
				console.Row(w, "unbound on "+i.VIMName, "lease "+u.Lease.ID, "in "+strings.Join(u.Namespaces, ","))
			}
			if i.Unseen > 0 {
				fmt.Fprintln(w)
				console.Row(w, "unseen on "+i.VIMName, strconv.Itoa(i.Unseen), "of an earlier credential that the VIM refuses by now")
			}
		}
	})
	failed := []error{err}
	for _, i := range found.Items {
		if n := len(i.Orphans) + len(i.Ghosts); n > 0 && !i.Settled {
			failed = append(failed, fmt.Errorf("%s holds %s and lacks %s; settle with: vimbroker vim inventory %[1]s --settle", i.VIMName,
				console.Count(len(i.Orphans), "orphan", "orphans"), console.Count(len(i.Ghosts), "leased object", "leased objects")))
		}
	}
	return errors.Join(failed...)
}
