package cli

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"github.com/vimbroker/vimbroker/broker/api/client"
	v1 "github.com/vimbroker/vimbroker/broker/api/v1"
	"github.com/vimbroker/vimbroker/cmd/vimbroker/console"
)

// listPage is the number of items that a list fetches per request.
const listPage = 500

func (p *program) vimCommand() *cobra.Command {
	group := console.Group("vim", "Register, look at and change VIMs",
		`A VIM is a registered cluster or cloud. Its credential is sealed at the server
and never shown again; leases are derived from it.`,
		`  vimbroker vim register --kubeconfig ~/.kube/config --context edge edge-1
  vimbroker vim list
  vimbroker vim check edge-1`,
		p.vimRegisterCommand(),
		p.vimListCommand(),
		show(p, p.vim(), &cobra.Command{
			Use:     "show VIM",
			Short:   "Show one VIM",
			Long:    "Show one VIM, by name or id. Its credential is never shown.",
			Example: "  vimbroker vim show edge-1\n  vimbroker vim show edge-1 -o json",
		}, (*client.Client).VIM, p.printVIM),
		p.vimUpdateCommand(),
		p.vimShareCommand(),
		p.vimUnshareCommand(),
		p.vimRotateCommand(),
		show(p, p.vim(), &cobra.Command{
			Use:   "check VIM",
			Short: "Check endpoint and credential now",
			Long: `Check now whether the VIM answers, whether it is still the same VIM, and
whether it accepts the credential. Fails (exit code 1) unless the VIM is
reachable.`,
			Example: "  vimbroker vim check edge-1",
		}, (*client.Client).CheckVIM, func(v v1.VIM) error {
			if err := p.printVIM(v); err != nil || v.Status == "reachable" {
				return err
			}
			return fmt.Errorf("%s is %s: %s", v.Name, v.Status, cmp.Or(v.Message, "no new lease is issued on it; see vimbroker vim show "+v.Name))
		}),
		p.vimInventoryCommand(),
		p.vimRBACCommand(),
		p.vimDeleteCommand(),
	)
	p.ProjectFlag(group)
	console.VIMEither(p.VimNames, group.Commands()...)
	return group
}

// remoteVIM is Remote for a command whose first argument names a VIM.
func (p *program) remoteVIM(body console.RemoteBody) func(*cobra.Command, []string) error {
	return p.Remote(func(c *cobra.Command, args []string, registry *client.Client) error {
		if len(args) > 0 {
			ref, err := p.VIMRef(c.Context(), registry, args[0])
			if err != nil {
				return err
			}
			args = append([]string{ref}, args[1:]...)
		}
		return body(c, args, registry)
	})
}

func (p *program) vimListCommand() *cobra.Command {
	var q client.VIMQuery
	var f vimFilter
	var watch bool
	c := &cobra.Command{
		Use:     "list",
		Aliases: []string{"ls"},
		Short:   "List the VIMs of the project, and shared ones",
		Long: `List the VIMs of your project, and shared ones. --project lists those of another
project, and --all-projects every VIM that you may see.

--label selects as kubectl does: site=north, site!=north, 'site in
(north,south)', 'site notin (north)', site, '!site'; requirements are divided
by commas.`,
		Example: `  vimbroker vim list
  vimbroker vim list --label 'site in (north,south),tier!=test' \
      --status reachable
  vimbroker vim list --all-projects -o wide
  vimbroker vim list -o jsonpath='{.items[*].name}'`,
		Args: console.Names(),
		RunE: p.Remote(func(c *cobra.Command, _ []string, registry *client.Client) error {
			keep, err := f.filter(c, p, registry, &q)
			if err != nil {
				return err
			}
			return console.PrintList(c.Context(), p.Console, console.Listing[v1.VIM]{
				Watch: watch, Table: p.vimTable, ID: func(v v1.VIM) string { return v.Project + "/" + v.Name },
				List: func() ([]v1.VIM, error) {
					all, err := gather(registry.AllVIMs(c.Context(), q))
					return slices.DeleteFunc(all, func(v v1.VIM) bool { return !keep(v) }), err
				},
			})
		}),
	}
	flags := c.Flags()
	flags.StringVar(&q.Type, "type", "", "only this type: kubernetes or openstack")
	flags.StringVar(&q.Status, "status", "", "only this status, like reachable or unauthorized")
	flags.StringArrayVarP(&f.selectors, "label", "l", nil, "only VIMs whose labels fit this `selector`; can be repeated")
	flags.BoolVarP(&f.allProjects, "all-projects", "A", false, "VIMs of every project that you may see")
	console.WatchFlag(c, &watch)
	console.MustChoose(c, "type", "kubernetes", "openstack")
	console.MustChoose(c, "status", "unchecked", "reachable", "unreachable", "unauthorized", "identityChanged", "unopenable")
	p.OutputFlag(c)
	return c
}

func (p *program) vimTable(w io.Writer, vims []v1.VIM) {
	p.Header(w, []string{"NAME", "TYPE", "STATUS", "PROJECT", "ID", "CHECKED"}, "DEFAULT", "SHARED", "CREDENTIAL", "ENDPOINT", "LABELS")
	for _, v := range vims {
		credential := v.Credential.Kind
		if !v.Credential.ExpiresAt.IsZero() {
			credential += ", expires " + p.When(v.Credential.ExpiresAt)
		}
		p.Columns(w, []string{v.Name, v.Type, v.Status, v.Project, console.ShortID(v.ID), p.When(v.CheckedAt)},
			console.Yes(v.Default), sharing(v), credential, v.Endpoint, console.Pairs(v.Labels))
	}
}

// printVIM prints one VIM, and on stderr what deserves attention.
func (p *program) printVIM(v v1.VIM) error {
	if len(v.SameAs) > 0 {
		p.Warn("WARNING: this is the same system as %s; each registration leases and cleans up on its own", console.List(v.SameAs))
	}
	return p.Print(v, func(w io.Writer) {
		console.Facts(w, "Name", v.Name, "Id", v.ID, "Type", v.Type, "Status", v.Status, "Message", v.Message,
			"No new leases", v.Suspended, "Shared kinds", console.List(v.SharedKinds), "Pods held by", v.PodsHeldBy)
		for _, what := range v.WaitsFor {
			console.Facts(w, "Waits for", what)
		}
		console.Facts(w, "Warnings", console.List(v.Warnings), "Same system as", console.List(v.SameAs),
			"Endpoint", v.Endpoint, "Server verified", verified(v), "Namespace", v.Namespace)
		p.discoveredFacts(w, v)
		console.Facts(w, "Version", v.Version, "Identity", v.Identity, "Can mint leases", minting(v),
			"External addresses", externalIPs[v.ExternalIPs], "Leases by rule", byRule(v), "Project", v.Project,
			"Default", console.Yes(v.Default), "Shared", sharing(v), "Labels", console.Pairs(v.Labels),
			"Description", v.Description, "Extra", string(v.Extra), "Credential", v.Credential.Kind,
			"Credential expires", p.Moment(v.Credential.ExpiresAt), "Key store", v.Credential.KeyStore,
			"Generation", strconv.FormatInt(v.Generation, 10), "Revision", strconv.FormatInt(v.Revision, 10),
			"Checked", p.Moment(v.CheckedAt), "Registered", p.Moment(v.CreatedAt)+" by "+v.CreatedBy,
			"Updated", p.Moment(v.UpdatedAt))
	})
}

// externalIPs says what a check found.
var externalIPs = map[string]string{
	"taken":   "taken: a Service can get the traffic of others; admission plugin DenyServiceExternalIPs refuses that",
	"refused": "refused",
}

// discoveredFacts prints the facts discovered about a cluster or a cloud.
func (p *program) discoveredFacts(w io.Writer, v v1.VIM) {
	if v.Scope != nil {
		console.Facts(w, "Region", v.Scope.Region)
	}
	if v.Discovered == nil {
		return
	}
	if c := v.Discovered.Cluster; c != nil {
		console.Facts(w, "Works as", c.User, "Mode", c.Mode, "Own account", c.Profile, "Token renewed", p.Moment(c.RenewAt),
			"No own account", c.NoAccount)
	}
	found := v.Discovered.Cloud
	if found != nil {
		console.Facts(w, "Cloud project", found.ProjectName+" ("+found.ProjectID+"), domain "+found.ProjectDomainName)
	}
	what := "Namespaces"
	if found != nil {
		what = "Regions"
	}
	console.Facts(w, what, others(v.Discovered.Regions))
	if found != nil {
		console.Facts(w, "Roles", console.List(found.Roles), "A lease is a", found.Leases, "A lease for Heat is a", forHeat(v))
		for _, warning := range found.Warnings {
			console.Facts(w, "Warning", warning)
		}
	}
}

// others are the names of a list but for the broker's own namespaces, which it counts.
func others(names []string) string {
	rest, own := []string{}, 0
	for _, n := range names {
		if ownNamespace().MatchString(n) {
			own++
			continue
		}
		rest = append(rest, n)
	}
	if own > 0 {
		rest = append(rest, fmt.Sprintf("and %d of the broker's own", own))
	}
	return console.List(rest)
}

// ownNamespace is how the broker names namespaces of leases.
var ownNamespace = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^vimbroker-([0-9a-f]{20}|account-.+|[0-9a-f]{8}-[0-9]+)$`)
})

// forHeat is the kind of a lease whose purpose is Heat, which makes trusts.
func forHeat(v v1.VIM) string {
	switch {
	case v.Discovered.Trusts:
		return v.Discovered.Leases
	case v.Credential.Kind == "applicationCredential":
		return "no: this cloud's Heat takes none; register the VIM with user name and password"
	}
	return "projectToken"
}

// verified says how the server's certificate is checked.
func verified(v v1.VIM) string {
	switch {
	case strings.HasPrefix(v.Endpoint, "http://"):
		return "NO (plain http): anyone on the network path can read what is sent"
	case v.InsecureSkipVerify:
		return "NO (insecureSkipVerify): anyone on the network path can read what is sent"
	case v.CACert != "":
		return "by its own CA" + named(v.ServerName)
	}
	return "by the system's roots" + named(v.ServerName)
}

// named tells a name that is checked instead of the endpoint's host.
func named(server string) string {
	if server == "" {
		return ""
	}
	return ", as " + server
}

// byRule says whether leases by rule can be derived, and with that operations on VNFs and onboarding.
func byRule(v v1.VIM) string {
	switch {
	case v.Type != "kubernetes" || !v.CanMint:
		return ""
	case v.MintMessage != "":
		return v.MintMessage + "; vimbroker vim rbac --for engine prints what is missing"
	}
	return "yes, so operations and onboarding too"
}

func minting(v v1.VIM) string {
	if v.CanMint && (v.Status == "unreachable" || v.Status == "unauthorized") {
		return "not now: the VIM is " + v.Status
	}
	if v.CanMint {
		return "yes"
	}
	if v.MintMessage == "" {
		return "no"
	}
	return "no: " + v.MintMessage
}

func (p *program) vimDeleteCommand() *cobra.Command {
	var d client.Deletion
	var wait bool
	var timeout time.Duration
	c := p.vim().command(p, &cobra.Command{
		Use:     "delete VIM",
		Aliases: []string{"rm"},
		Short:   "Delete a VIM and destroy its credential's key",
		Long: `Delete a VIM. The server refuses while VNF instances stand on it, with --drain
too: terminate them first ("vimbroker vnf terminate"). It refuses while the VIM
has active leases. With --drain it revokes them first, and deletes the VIM when
the last one has ended.

An administrator gives up a VIM that is gone for good, which a check does not
reach, with --drain --force. Its leases are then irrevocable. VNF instances on
it stay listed, and cannot be terminated any more.`,
		Example: "  vimbroker vim delete edge-1\n  vimbroker vim delete edge-1 --drain --wait",
	}, func(c *cobra.Command, id string, registry *client.Client) error {
		before, err := registry.VIM(c.Context(), id)
		if err != nil {
			return err
		}
		return console.Within(c, timeout, func(ctx context.Context) error {
			v, gone, err := registry.DeleteVIM(ctx, before.ID, d)
			switch {
			case err != nil:
				return err
			case gone:
				p.Warn("%s is deleted%s", id, worth(before.Credential.KeyStore))
				if d.Force {
					return p.leftBehind(ctx, registry, before)
				}
				return nil
			case !wait:
				p.Warn("%s is draining and goes when its last lease has ended; see: vimbroker vim show %s", id, v.ID)
				for _, what := range v.WaitsFor {
					p.Warn("it waits for %s", what)
				}
				return nil
			}
			return p.awaitGone(ctx, registry, id, v)
		}, func(ctx context.Context) string { return waitsFor(ctx, registry, before) })
	})
	flags := c.Flags()
	flags.BoolVar(&d.Drain, "drain", false, "revoke the leases on it first")
	flags.BoolVar(&d.Force, "force", false, "with --drain: give up what cannot be ended on the VIM: leases, whose credentials work "+
		"until they expire, and VNF instances where no check reaches it")
	flags.Int64Var(&d.IfRevision, "if-revision", 0, "refuse unless this is the VIM's revision")
	flags.BoolVar(&wait, "wait", false, "return when the VIM is gone")
	timeout = 5 * time.Minute
	console.DurationFlag(c, &timeout, "timeout", "how long to wait")
	return c
}

// waitsFor says what a VIM that is being deleted still waits for.
func waitsFor(ctx context.Context, registry *client.Client, v v1.VIM) string {
	now, err := registry.VIM(ctx, v.ID)
	if err != nil {
		return ""
	}
	said := append([]string{v.Name + " is " + now.Status}, now.WaitsFor...)
	if now.Message != "" {
		said = append(said, now.Message)
	}
	return strings.Join(said, "; ") + "; where it cannot be asked any more: vimbroker vim delete " + v.ID + " --drain --force"
}

// worth names the places from which the key of a deleted VIM may be brought back.
func worth(keyStore string) string {
	switch keyStore {
	case "keydir":
		return "; its key is deleted, recoverable from the disk until that is overwritten"
	case "barbican":
		return "; its key is deleted, recoverable by Barbican's operator for a while"
	}
	return ""
}

// leftBehind names what a forced deletion left on the VIM: leases that were not revoked,
// and perhaps what the broker made there.
func (p *program) leftBehind(ctx context.Context, registry *client.Client, v v1.VIM) error {
	left := 0
	for l, err := range registry.AllLeases(ctx, client.LeaseQuery{State: "irrevocable"}) { // by the VIM's id nothing is found any more
		if err != nil {
			return fmt.Errorf("listing the leases that were left behind: %w; see: vimbroker lease list --state irrevocable", err)
		}
		if l.VIM != v.ID {
			continue
		}
		left++
		p.Warn("left behind: lease %s of %s works until %s", l.ID, l.Principal, l.ExpiresAt.Format(time.RFC3339))
	}
	switch {
	case left == 0 && v.Status == "reachable":
	case v.Type == "kubernetes":
		p.Warn("left behind: what has the label vimbroker.io/vim=%s on the cluster; remove it there: kubectl delete "+
			"serviceaccounts,secrets,rolebindings,clusterrolebindings,roles,clusterroles -A -l vimbroker.io/vim=%[1]s", v.ID)
	default:
		p.Warn("left behind: application credentials of the registered user that are named after those leases; remove them on the cloud: " +
			"openstack application credential list")
	}
	return nil
}

// awaitGone polls until a draining VIM is gone.
func (p *program) awaitGone(ctx context.Context, registry *client.Client, name string, v v1.VIM) error {
	id := v.ID
	err := p.Await(ctx, "the leases on "+name+" have ended and it is gone", func() (bool, string, error) {
		_, err := registry.VIM(ctx, id)
		if client.Status(err) == http.StatusNotFound {
			return true, "", nil
		}
		return false, "", err
	})
	if err != nil {
		return fmt.Errorf("waiting until %s is gone: %w; what it waits for: vimbroker vim show %s", name, err, id)
	}
	p.Warn("%s is deleted%s", name, worth(v.Credential.KeyStore))
	return nil
}
