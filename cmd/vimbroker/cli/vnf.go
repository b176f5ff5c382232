package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/spf13/cobra"

	"github.com/vimbroker/vimbroker/broker/api/client"
	"github.com/vimbroker/vimbroker/broker/api/sol003"
	v1 "github.com/vimbroker/vimbroker/broker/api/v1"
	"github.com/vimbroker/vimbroker/cmd/vimbroker/console"
	"github.com/vimbroker/vimbroker/cmd/vimbroker/lessee"
)

func (p *program) vnfCommand() *cobra.Command {
	group := console.Group("vnf", "Run VNF instances",
		`Make VNF instances of packages, and run operations on them (ETSI GS NFV-SOL003).
An operation has no credential of its own: it takes leases that can do what its
plan needs, and give them back when it ends. An instance is named by its id, by
how that begins, or by its name if no other has it.`,
		`  vimbroker vnf create --vnfd web-1.0 web
  vimbroker vnf instantiate web --vim edge-1 --wait
  vimbroker vnf scale web --aspect front --wait
  vimbroker vnf terminate web --wait`,
		p.vnfCreateCommand(),
		vnfInstances.listed(p, &cobra.Command{
			Use:     "list",
			Short:   "List instances",
			Long:    "List the VNF instances that you may see, newest first. --project lists those of\none project.",
			Example: "  vimbroker vnf list\n  vimbroker vnf list --project acme -o wide",
		}, p.vnfTable),
		show(p, vnfInstances.argument(p), &cobra.Command{
			Use:   "show INSTANCE",
			Short: "Show one instance",
			Long: `Show one VNF instance, with its resources and VNFCs as the last operation saw
them, and with the drift that the server found since: which resources are
missing or were changed, and by whom. "vimbroker vnf heal" repairs them.`,
			Example: "  vimbroker vnf show web\n  vimbroker vnf show web -o json",
		}, (*client.Client).VNF, printed(p, p.vnfFacts)),
		p.vnfInstantiateCommand(), p.vnfScaleCommand(), p.vnfHealCommand(),
		p.vnfUpdateCommand(), p.vnfModifyCommand(), p.vnfConnectCommand(), p.vnfTerminateCommand(), p.vnfForgetCommand(),
		act(p, vnfInstances.argument(p), &cobra.Command{
			Use: "delete INSTANCE", Short: "Remove an instance that has no resources",
			Long:    "Remove a VNF instance that was never instantiated, or was terminated, with the\nrecord of its operations.",
			Example: "  vimbroker vnf delete web",
		}, (*client.Client).DeleteVNF),
		show(p, vnfInstances.argument(p), &cobra.Command{
			Use: "check INSTANCE", Short: "Look for drift now",
			Long: `Have the server look now at the resources of an instance, as it does by itself
now and then, and show the instance with what is missing or was changed, and by
whom. The exit code is 1 where something is.`,
			Example: "  vimbroker vnf check web",
		}, (*client.Client).CheckVNF, func(i sol003.VNFInstance) error {
			if err := printed(p, p.vnfFacts)(i); err != nil || i.Own == nil || i.Own.Drift == nil {
				return err
			}
			switch d := i.Own.Drift; {
			case d.Unseen != "":
				return errors.New("whether resources are missing or were changed cannot be told: " + d.Unseen)
			case d.Count > 0:
				return fmt.Errorf("%s missing or changed; repair with: vimbroker vnf heal %s",
					console.Count(d.Count, "resource is", "resources are"), i.ID)
			}
			return nil
		}),
		p.vnfWatchCommand(), p.vnfOpCommand(),
		p.vnfSubscriptionCommand(),
	)
	p.ProjectFlag(group)
	return group
}

func (p *program) vnfCreateCommand() *cobra.Command {
	var r sol003.CreateVNFRequest
	c := free.command(p, &cobra.Command{
		Use:   "create NAME",
		Short: "Make an instance of a package, without resources yet",
		Long: `Make a VNF instance of an onboarded, enabled package. It has no resources
until it is instantiated.`,
		Example: "  vimbroker vnf create --vnfd b1bb0ce7-ebca-4fa7-95ed-4840d70a1177 web",
	}, func(c *cobra.Command, name string, registry *client.Client) error {
		if r.VNFDID == "" {
			return console.Usagef(c, "--vnfd is missing")
		}
		r.Name = name
		return answered(printed(p, p.vnfFacts))(registry.CreateVNF(c.Context(), r))
	})
	c.Flags().StringVar(&r.VNFDID, "vnfd", "", "id of the package's VNFD")
	console.MustComplete(c, "vnfd", vnfPackages.complete(p))
	c.Flags().StringVar(&r.Description, "description", "", "what it is for")
	p.OutputFlag(c)
	return c
}

// gather collects the items of a walk; the list of none is empty.
func gather[T any](walk func(func(T, error) bool)) ([]T, error) { return upTo(nil, walk, -1, "") }

// upTo are the first items of a walk, and a warning where there are more of what they are than the flag --limit says.
func upTo[T any](p *program, walk func(func(T, error) bool), limit int, what string) ([]T, error) {
	all := []T{}
	for item, err := range walk {
		if err != nil {
			return nil, err
		}
		if len(all) == limit {
			p.Warn("there are more than %d %s; see them with --limit", limit, what)
			break
		}
		all = append(all, item)
	}
	return all, nil
}

func (p *program) vnfTable(w io.Writer, all []sol003.VNFInstance) {
	p.Header(w, []string{"ID", "NAME", "PRODUCT", "VERSION", "STATE", "VIM", "DRIFT"}, "NAMESPACE", "VNFD", "PROJECT")
	for _, i := range all {
		var own sol003.InstanceDetail
		if i.Own != nil {
			own = *i.Own
		}
		p.Columns(w, []string{p.id(i.ID), p.Cut(i.Name), p.Cut(i.ProductName), i.SoftwareVersion, i.State, own.VIMName, driftWord(own.Drift)},
			own.Namespace, i.VNFDID, own.Project)
	}
}

// driftWord says how much of an instance differs from the result of its last operation; empty if the instance
// was not observed.
func driftWord(d *sol003.Drift) string {
	switch {
	case d == nil:
		return ""
	case d.Unseen != "":
		return "unknown"
	case d.Count == 0:
		return "none"
	}
	return strconv.Itoa(d.Count)
}

// printDrift says which resources are missing or were changed, and by whom.
func (p *program) printDrift(w io.Writer, d *sol003.Drift) {
	if d == nil {
		return
	}
	if d.SeenAt != nil {
		words := "none"
		if d.Count > 0 {
			words = strconv.Itoa(d.Count) + " missing or changed; repair with: vimbroker vnf heal"
		}
		console.Facts(w, "Looked for drift", p.Moment(*d.SeenAt), "Drift", words)
	}
	for _, r := range d.Resources {
		words := resourceWords(r) + " " + r.Message
		if len(r.ChangedBy) > 0 {
			words = resourceWords(r) + " was changed by " + console.List(r.ChangedBy)
		}
		console.Facts(w, "", words)
	}
	if d.Unseen != "" {
		console.Facts(w, "Drift unknown", d.Unseen)
	}
}

func (p *program) vnfFacts(w io.Writer, i sol003.VNFInstance) {
	console.Facts(w, "Id", i.ID, "Name", i.Name, "Description", i.Description,
		"Product", strings.TrimSpace(i.Provider+" "+i.ProductName+" "+i.SoftwareVersion), "VNFD", i.VNFDID,
		"State", i.State)
	if own := i.Own; own != nil {
		console.Facts(w, "VIM", own.VIMName, "Namespace", own.Namespace, "Project", own.Project,
			"Created", p.Moment(own.CreatedAt)+" by "+own.CreatedBy)
	}
	if info := i.Instantiated; info != nil {
		console.Facts(w, "Flavour", info.FlavourID)
		for _, s := range info.ScaleStatus {
			console.Facts(w, "Scale", s.AspectID+" at level "+strconv.Itoa(s.Level))
		}
		addresses := map[string][]string{}
		for _, r := range info.Resources {
			addresses[r.ID] = addressesOf(r.CPs)
		}
		for _, v := range info.VNFCs {
			words := v.ID + " of VDU " + v.VDUID
			if at := addresses[v.ResourceInfoID]; len(at) > 0 {
				words += " at " + strings.Join(at, ", ")
			}
			console.Facts(w, "VNFC", words)
		}
	}
	if i.Own != nil {
		for _, r := range i.Own.Resources {
			console.Facts(w, "Resource", resourceWords(r))
		}
		notDone(w, i.Own.NotDone)
		p.printDrift(w, i.Own.Drift)
	}
}

// addressesOf are the IP addresses of connection points.
func addressesOf(all []sol003.VNFCCPInfo) (ips []string) {
	for _, p := range all {
		for _, protocol := range p.Protocol {
			for _, of := range protocol.Address.IPs {
				ips = append(ips, of.Addresses...)
			}
		}
	}
	return ips
}

// objectWords name an object as kubectl does: kind, name and namespace.
func objectWords(r sol003.Resource) string {
	words := strings.ToLower(r.Kind) + "/" + r.Name
	if r.Namespace != "" {
		words += " in " + r.Namespace
	}
	return words
}

// resourceWords are objectWords of a resource of an instance.
func resourceWords(r sol003.Resource) string {
	words := objectWords(r)
	if r.VIMConnectionID != "" {
		words += " on " + r.VIMConnectionID
	}
	if r.Outlives {
		words += ", outlives the instance"
	}
	return words
}

// beginning is a command that begins an operation.
type beginning struct {
	use, short, long, example string
	// task is the last segment of the operation's path.
	task string
	// dry: the operation can be tried without an effect.
	dry bool
	// request makes the body, once the flags are read.
	request func(c *cobra.Command, registry *client.Client) (any, error)
	flags   func(*cobra.Command)
}

func (p *program) beginCommand(b beginning) *cobra.Command {
	var dryRun bool
	var wait waiting
	c := vnfInstances.command(p, &cobra.Command{
		Use: b.use, Short: b.short, Long: b.long, Example: b.example,
	}, func(c *cobra.Command, id string, registry *client.Client) error {
		r, err := b.request(c, registry)
		if err != nil {
			return err
		}
		if dryRun {
			return p.preview(c.Context(), registry, id, b.task, r)
		}
		operation, err := registry.BeginVNF(c.Context(), id, b.task, r)
		if err != nil {
			return err
		}
		return p.begun(c, registry, operation, wait)
	})
	if b.flags != nil {
		b.flags(c)
	}
	if b.dry {
		c.Flags().BoolVar(&dryRun, "dry-run", false,
			"make nothing; print the plan, its leases and what policy says; exit code 1 where it says no")
	}
	wait.add(c, "wait until the operation has ended", "COMPLETED")
	p.OutputFlag(c)
	return c
}

// waiting are the flags of a command that can wait for the end of an operation.
type waiting struct {
	on      bool
	timeout time.Duration
	want    string // state that it is to end in
}

func (f *waiting) add(c *cobra.Command, until, want string) {
	f.timeout, f.want = time.Hour, want // longer than the server works at one
	c.Flags().BoolVar(&f.on, "wait", false, until+"; it is a failure unless it is "+want)
	console.DurationFlag(c, &f.timeout, "timeout", "how long --wait waits; the operation goes on")
}

// begun prints an operation that was begun, or waits until it has ended, and says what it is at where that takes too long.
func (p *program) begun(c *cobra.Command, registry *client.Client, operation string, wait waiting) error {
	if !wait.on {
		return answered(printed(p, p.operationFacts))(registry.VNFOperation(c.Context(), operation))
	}
	return console.Within(c, wait.timeout, func(ctx context.Context) error {
		return p.follow(ctx, registry, operation, wait.want, false)
	}, func(ctx context.Context) string {
		o, err := registry.VNFOperation(ctx, operation)
		if err != nil {
			return ""
		}
		said := "the operation is " + o.State
		if o.Own != nil {
			for _, s := range o.Own.Steps {
				if s.Ready == nil || !*s.Ready {
					said += "; " + objectWords(s) + " " + stepWords(s)
				}
			}
		}
		if slices.Contains(ended, o.State) {
			return said
		}
		return said + "; it goes on: vimbroker vnf watch " + o.InstanceID
	})
}

// preview prints the effects that an operation would have. It is an error if the operation would be refused.
func (p *program) preview(ctx context.Context, registry *client.Client, id, task string, r any) error {
	seen, err := registry.PreviewVNF(ctx, id, task, r)
	if err != nil {
		return err
	}
	if err := printed(p, p.previewFacts)(seen); err != nil || seen.Allowed {
		return err
	}
	return errors.New("the operation would be refused")
}

func (p *program) vnfInstantiateCommand() *cobra.Command {
	var r sol003.InstantiateRequest
	var vim, nfv, order string
	var variables, linked, mounted []string
	var chart chartFlags
	return p.beginCommand(beginning{
		use: "instantiate INSTANCE", short: "Make the resources of an instance", task: "instantiate", dry: true,
		long: `Make the resources of an instance on a VIM. What policy or the plan refuses is
refused before anything is made: the operation is then ROLLED_BACK. One that
fails later is FAILED_TEMP, and is retried, rolled back or given up with
"vimbroker vnf op". Variables are stored and shown, but for those that the base
HOT hides or the manifests call secret, by a mark or by their names.`,
		example: `  vimbroker vnf instantiate web --vim edge-1 --wait
  vimbroker vnf instantiate web --vim edge-1 --dry-run
  vimbroker vnf instantiate web --vim edge-1 --namespace shop --set COLOUR=blue
  vimbroker vnf instantiate upf --vim nfv1 --link SGI_CP=sgi
  vimbroker vnf instantiate edge --vim nfv1 \
      --nfv '{"CP": {"VDU1_CP1": {"network": "net0"}}}'`,
		flags: func(c *cobra.Command) {
			f := c.Flags()
			f.StringVar(&vim, "vim", "", "VIM (name or id, or two as A,B or KEY=A,KEY=B; default: the project's)")
			f.StringVar(&r.FlavourID, "flavour", "simple", "deployment flavour")
			f.StringVar(&r.LevelID, "level", "", "instantiation level (default: the flavour's)")
			f.StringVarP(&r.Params.Namespace, "namespace", "n", "", "where objects go that name no namespace (default: the VIM's own)")
			f.StringArrayVar(&r.Params.Files, "file", nil, "a manifest of the package to use (repeatable; default: all)")
			f.StringArrayVar(&variables, "set", nil, "NAME=VALUE of a variable of the manifests (repeatable)")
			f.StringVar(&order, "order", "", orderUsage)
			f.StringVar(&r.Params.Release, "release", "", "name of the chart's release (default: vnf and digits of the instance's id)")
			f.StringVar(&nfv, "nfv", "", nfvUsage)
			f.StringArrayVar(&linked, "link", nil, linkUsage)
			f.StringArrayVar(&mounted, "volume", nil, "CLAIM=VOLUME: a volume in the place of a claim of the package (repeatable)")
			chart.add(c)
			console.MustComplete(c, "vim", p.VimNames)
		},
		request: func(c *cobra.Command, registry *client.Client) (_ any, err error) {
			if r.Params.Variables, err = variablesOf(c, variables); err != nil {
				return nil, err
			}
			if r.Params.NFV, err = nfvOf(c, nfv); err != nil {
				return nil, err
			}
			if r.Params.Order, err = orderOf(order); err != nil {
				return nil, err
			}
			if err := chart.put(c, &r.Params); err != nil {
				return nil, err
			}
			if r.External, err = linksOf(c, linked); err != nil {
				return nil, err
			}
			if r.Params.Volumes, err = volumesOf(c, mounted); err != nil {
				return nil, err
			}
			r.VIMs = map[string]sol003.VIMConnectionInfo{}
			for _, name := range strings.Split(vim, ",") {
				name, of, named := strings.Cut(name, "=")
				if !named {
					of = name
				}
				ref, err := p.VIMRef(c.Context(), registry, of)
				if err != nil {
					return nil, err
				}
				if !named && !strings.Contains(vim, ",") {
					name = "vim"
				}
				if ref != "" {
					r.VIMs[name] = sol003.VIMConnectionInfo{VIMID: ref}
				}
			}
			return r, nil
		},
	})
}

// effectWords are the words for what an operation does to a resource.
var effectWords = map[string]string{
	sol003.DeedMake: "Makes", sol003.DeedApply: "Applies", sol003.DeedScale: "Scales", sol003.DeedReplace: "Heals",
	sol003.DeedDelete: "Deletes",
}

// previewFacts print the effects that an operation would have.
func (p *program) previewFacts(w io.Writer, seen sol003.Preview) {
	console.Facts(w, "Allowed", cmp.Or(console.Yes(seen.Allowed), "no"), "Refused", seen.Refusal)
	for _, e := range seen.Effects {
		words := resourceWords(e.Resource)
		if e.Replicas != nil {
			words += fmt.Sprintf(" to %d", *e.Replicas)
		}
		console.Facts(w, effectWords[e.Deed], words)
	}
	for n, l := range seen.Leases {
		scope := console.List(l.Namespaces)
		if l.ClusterWide {
			scope = "the whole VIM"
		}
		if l.Purpose != "" {
			scope = "the project, for " + l.Purpose
		}
		console.Facts(w, "Lease "+strconv.Itoa(n+1), strings.TrimSpace(l.Grade+" in "+scope))
		for _, r := range l.Rules {
			console.Facts(w, "  allows", ruleWords(r))
		}
		for _, reason := range l.GradeReasons {
			console.Facts(w, "  graded so", reason)
		}
		console.Facts(w, "  refused", l.Refusal)
	}
	notDone(w, seen.NotDone)
	console.Facts(w, "Images", console.List(seen.Images), "Pod Security", seen.PodSecurity)
	for _, r := range seen.Reaches {
		console.Facts(w, "Reaches", fmt.Sprintf("%-11s %s/%s: %s: %s", r.What, r.Kind, r.Name, r.Field, r.Why))
	}
	if seen.ReachesLeftOut > 0 {
		console.Facts(w, "Reaches", fmt.Sprintf("and %d more", seen.ReachesLeftOut))
	}
	for _, fact := range []struct {
		name string
		so   bool
	}{
		{"cluster-scoped", seen.ClusterScoped},
		{"privileged", seen.Privileged},
		{"brings RBAC", seen.BringsRBAC},
		{"brings definitions", seen.BringsDefinitions},
		{"brings webhooks", seen.BringsWebhooks},
	} {
		if fact.so {
			console.Facts(w, "Beyond its namespaces", fact.name)
		}
	}
}

// ruleWords spell a rule as --rule takes it.
func ruleWords(r sol003.Rule) string {
	return lessee.RulesText([]v1.Rule{{APIGroups: r.APIGroups, Resources: r.Resources, ResourceNames: r.ResourceNames, Verbs: r.Verbs}})
}

// variablesOf reads NAME=VALUE.
func variablesOf(c *cobra.Command, pairs []string) (map[string]string, error) {
	if len(pairs) == 0 {
		return nil, nil
	}
	out := map[string]string{}
	for _, pair := range pairs {
		name, value, ok := strings.Cut(pair, "=")
		if !ok || name == "" {
			return nil, console.Usagef(c, "--set takes NAME=VALUE")
		}
		out[name] = value
	}
	return out, nil
}

const nfvUsage = "JSON object that is merged into the parameter nfv of a base HOT (Heat)"

func nfvOf(c *cobra.Command, text string) (jsontext.Value, error) {
	if text == "" {
		return nil, nil
	}
	if v := jsontext.Value(text); v.IsValid() && v.Kind() == '{' {
		return v, nil
	}
	return nil, console.Usagef(c, "--nfv takes a JSON object")
}

func (p *program) vnfScaleCommand() *cobra.Command {
	var r sol003.ScaleRequest
	var steps int
	return p.beginCommand(beginning{
		use: "scale INSTANCE", short: "Scale an aspect of an instance out or in", task: "scale", dry: true,
		long:    "Scale an aspect, as the package's VNFD describes it, by some steps.",
		example: "  vimbroker vnf scale web --aspect front --wait\n  vimbroker vnf scale web --aspect front --steps -1 --wait",
		flags: func(c *cobra.Command) {
			c.Flags().StringVar(&r.AspectID, "aspect", "", "scaling aspect")
			c.Flags().IntVar(&steps, "steps", 1, "how many steps out, or in where it is negative")
		},
		request: func(c *cobra.Command, _ *client.Client) (any, error) {
			if r.AspectID == "" || steps == 0 {
				return nil, console.Usagef(c, "give --aspect, and --steps other than 0")
			}
			r.Type = sol003.ScaleOut
			if steps < 0 {
				r.Type, steps = sol003.ScaleIn, -steps
			}
			r.Steps = &steps
			return r, nil
		},
	})
}

func (p *program) vnfHealCommand() *cobra.Command {
	var r sol003.HealRequest
	return p.beginCommand(beginning{
		use: "heal INSTANCE", short: "Repair what is missing or was changed, and replace VNFCs", task: "heal", dry: true,
		long: `Put every resource back to what the package says, make those that are missing,
and replace the VNFCs that are named. "vimbroker vnf show" lists them.`,
		example: "  vimbroker vnf heal web --wait\n  vimbroker vnf heal web --vnfc front-7d4b9c-x2x9z --wait",
		flags: func(c *cobra.Command) {
			c.Flags().StringArrayVar(&r.VNFCs, "vnfc", nil, "a VNFC to replace (repeatable)")
			c.Flags().StringVar(&r.Cause, "cause", "", "why, for the record")
		},
		request: func(*cobra.Command, *client.Client) (any, error) { return r, nil },
	})
}

func (p *program) vnfUpdateCommand() *cobra.Command {
	var r sol003.ChangePackageRequest
	var nfv, order string
	var variables []string
	var chart chartFlags
	return p.beginCommand(beginning{
		use: "update INSTANCE", short: "Go over to another package", task: "change_vnfpkg", dry: true,
		long: `Change the current VNF package: what differs is changed, what the new package
does not have is removed. Variables and files stay unless they are given.`,
		example: "  vimbroker vnf update web --vnfd web-2.0 --wait",
		flags: func(c *cobra.Command) {
			c.Flags().StringVar(&r.VNFDID, "vnfd", "", "id of the new package's VNFD")
			c.Flags().StringArrayVar(&r.Params.Files, "file", nil, "a manifest of the package to use (repeatable)")
			c.Flags().StringArrayVar(&variables, "set", nil, "NAME=VALUE of a variable of the manifests (repeatable)")
			c.Flags().StringVar(&order, "order", "", orderUsage)
			c.Flags().StringVar(&nfv, "nfv", "", nfvUsage)
			chart.add(c)
		},
		request: func(c *cobra.Command, _ *client.Client) (_ any, err error) {
			if r.VNFDID == "" {
				return nil, console.Usagef(c, "--vnfd is missing")
			}
			if r.Params.NFV, err = nfvOf(c, nfv); err != nil {
				return nil, err
			}
			if r.Params.Order, err = orderOf(order); err != nil {
				return nil, err
			}
			if err := chart.put(c, &r.Params); err != nil {
				return nil, err
			}
			r.Params.Variables, err = variablesOf(c, variables)
			return r, err
		},
	})
}

func (p *program) vnfTerminateCommand() *cobra.Command {
	r := sol003.TerminateRequest{Type: "FORCEFUL"}
	return p.beginCommand(beginning{
		use: "terminate INSTANCE", short: "Remove the resources of an instance", task: "terminate",
		long: `Remove every resource of an instance but those that the package declares to
outlive it. The instance itself stays until it is deleted.`,
		example: "  vimbroker vnf terminate web --wait",
		request: func(*cobra.Command, *client.Client) (any, error) { return r, nil },
	})
}

func (p *program) vnfForgetCommand() *cobra.Command {
	return p.beginCommand(beginning{
		use: "forget INSTANCE", short: "Let go of an instance whose VIM cannot be reached any more", task: "forget",
		long: `Let go of an instance without asking its VIM, and leave its resources where they
stand: the operation lists them, and so does the audit log. The instance is
NOT_INSTANTIATED after it. Where the VIM can be reached, terminate the instance;
where its cluster is registered again as another VIM, move it there with
"vimbroker vnf modify --vim". By default only administrators may forget.`,
		example: "  vimbroker vnf forget web",
		request: func(*cobra.Command, *client.Client) (any, error) { return struct{}{}, nil },
	})
}

func (p *program) vnfModifyCommand() *cobra.Command {
	var name, description, vim string
	c := vnfInstances.command(p, &cobra.Command{
		Use: "modify INSTANCE", Short: "Change the name, the description or the VIM of an instance",
		Long: `Change what an instance says of itself, or move it to another registered VIM of
the very cluster that its resources are on.`,
		Example: "  vimbroker vnf modify web --name shop\n  vimbroker vnf modify web --vim edge-1-again",
	}, func(c *cobra.Command, id string, registry *client.Client) error {
		r := sol003.ModifyRequest{Name: given(c, "name", &name), Description: given(c, "description", &description)}
		key, of, named := strings.Cut(vim, "=")
		if !named {
			key, of = "vim", vim
		}
		ref, err := p.VIMRef(c.Context(), registry, of)
		if err != nil {
			return err
		}
		if ref != "" {
			r.VIMs = map[string]*sol003.VIMConnectionInfo{key: {VIMID: ref}}
		}
		if r.Name == nil && r.Description == nil && ref == "" {
			return console.Usagef(c, "give what to change: --name, --description or --vim")
		}
		if _, err := registry.ModifyVNF(c.Context(), id, r); err != nil {
			return err
		}
		return answered(printed(p, p.vnfFacts))(registry.VNF(c.Context(), id))
	})
	c.Flags().StringVar(&name, "name", "", "new name")
	c.Flags().StringVar(&description, "description", "", "new description")
	c.Flags().StringVar(&vim, "vim", "", "name or id of another VIM of the same cluster, as KEY=VIM of an instance on two VIMs")
	console.MustComplete(c, "vim", p.VimNames)
	p.OutputFlag(c)
	return c
}

func (p *program) vnfWatchCommand() *cobra.Command {
	c := vnfInstances.command(p, &cobra.Command{
		Use: "watch INSTANCE", Short: "Follow the newest operation of an instance",
		Long: `Print each step of the newest operation as it happens, until the operation has
ended. The exit code is 1 unless it is COMPLETED. With -o json each change is an
object of its own.`,
		Example: "  vimbroker vnf watch web",
	}, func(c *cobra.Command, id string, registry *client.Client) error {
		for o, err := range registry.AllVNFOperations(c.Context(), id) {
			if err != nil {
				return err
			}
			return p.follow(c.Context(), registry, o.ID, "COMPLETED", true)
		}
		return errors.New("there was no operation yet; begin one with: vimbroker vnf instantiate")
	})
	p.OutputFlag(c)
	return c
}

// ended are the states in which an operation goes no further by itself.
var ended = []string{"COMPLETED", "FAILED_TEMP", "FAILED", "ROLLED_BACK"}

// follow says on standard error how an operation comes along until it has ended; another end than want is an
// error. Programs get the end, and with each every change.
func (p *program) follow(ctx context.Context, registry *client.Client, id, want string, each bool) error {
	said := map[string]string{}
	return p.Poll(ctx, func() (bool, error) {
		o, err := registry.VNFOperation(ctx, id)
		if err != nil {
			return false, err
		}
		over := slices.Contains(ended, o.State)
		if changed := p.sayChanges(o, said); !p.ForPeople() && (over || each && changed) {
			if err := printed(p, p.operationFacts)(o); err != nil {
				return false, err
			}
		}
		if over {
			return true, outcome(o, want)
		}
		return false, nil
	})
}

// sayChanges tells people the changes of an operation, and their time since its beginning, and reports
// whether there are any.
func (p *program) sayChanges(o sol003.OpOcc, said map[string]string) bool {
	changed, at, over := false, p.Now(), slices.Contains(ended, o.State)
	if over {
		at = o.StateEnteredAt
	}
	if len(said) == 0 && p.ForPeople() {
		p.Say("%s, operation %s", o.Operation, o.ID)
	}
	say := func(about, words string) {
		if said[about] == words {
			return
		}
		said[about], changed = words, true
		if p.ForPeople() {
			p.Say("%6s  %s", console.Brief(max(0, at.Sub(o.StartedAt))), words)
		}
	}
	if waits := waitWords(o); waits != "" {
		say("", o.State+": "+waits)
	} else if !over {
		say("", o.State)
	}
	if o.Own != nil {
		for _, s := range o.Own.Steps {
			say(objectWords(s), objectWords(s)+" "+stepWords(s))
		}
	}
	if over {
		say("", o.State)
	}
	return changed
}

// stepWords say how a resource stands, after its name.
func stepWords(r sol003.Resource) string {
	switch {
	case r.Standing == nil || !*r.Standing:
		return "is gone"
	case r.Ready == nil || !*r.Ready:
		return cmp.Or(r.Message, "is not ready")
	case r.Message != "":
		return "is ready: it " + r.Message
	}
	return "is ready"
}

// outcome is an error unless the operation ended as it should.
func outcome(o sol003.OpOcc, want string) error {
	if o.State == want {
		return nil
	}
	text := "the operation is " + o.State
	if o.Error != nil {
		text += ": " + o.Error.Detail
	}
	if o.State == "FAILED_TEMP" {
		text += `; go on with "vimbroker vnf op retry", "rollback" or "fail" and ` + o.ID
	}
	return errors.New(text)
}
