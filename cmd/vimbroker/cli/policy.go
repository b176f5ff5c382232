package cli

import (
	"context"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/vimbroker/vimbroker/broker/api/client"
	"github.com/vimbroker/vimbroker/broker/api/v1"
	"github.com/vimbroker/vimbroker/cmd/vimbroker/console"
	"github.com/vimbroker/vimbroker/cmd/vimbroker/lessee"
	"github.com/vimbroker/vimbroker/policy"
)

// actions are the actions that policies decide on, for completion; the server has
// the final list.
var actions = []string{
	string(policy.VIMRegister), string(policy.VIMShow), string(policy.VIMUpdate), string(policy.VIMRotate), string(policy.VIMCheck),
	string(policy.VIMDelete), string(policy.VIMForceDelete), string(policy.VIMRetire), string(policy.VIMShare), string(policy.VIMVouch),
	string(policy.VIMLabelReserved), string(policy.VIMInline), string(policy.VIMInventory), string(policy.VIMSettle),
	string(policy.LeaseIssue), string(policy.LeasePassThrough), string(policy.LeaseShow), string(policy.LeaseRenew),
	string(policy.LeaseMint), string(policy.LeaseRevoke), string(policy.LeasePush),
	string(policy.LinkCreate), string(policy.LinkShow), string(policy.LinkUse), string(policy.LinkDelete), string(policy.LinkAdopt),
	string(policy.VolumeCreate), string(policy.VolumeShow), string(policy.VolumeUse), string(policy.VolumeDelete),
	string(policy.PackageCreate), string(policy.PackageShow), string(policy.PackageUpload), string(policy.PackageModify),
	string(policy.PackageDelete), string(policy.PackageUse),
	string(policy.VNFCreate), string(policy.VNFShow), string(policy.VNFModify), string(policy.VNFDelete), string(policy.VNFInstantiate),
	string(policy.VNFScale), string(policy.VNFHeal), string(policy.VNFUpdate), string(policy.VNFConnect), string(policy.VNFTerminate),
	string(policy.VNFForget), string(policy.VNFRetry), string(policy.VNFRollback), string(policy.VNFFail), string(policy.VNFCancel),
	string(policy.ClusterEnable), string(policy.ClusterShow), string(policy.ClusterFollow),
	string(policy.SubscriptionCreate), string(policy.SubscriptionShow), string(policy.SubscriptionDelete), string(policy.SubscriptionNotify),
	string(policy.ClientCreate), string(policy.ClientShow), string(policy.ClientUpdate), string(policy.ClientRotate),
	string(policy.ClientDelete),
	string(policy.GrantRequest), string(policy.GrantShow), string(policy.GrantResume), string(policy.GrantEnd),
	string(policy.AuditRead), string(policy.AuditKey), string(policy.TokenList), string(policy.TokenKey), string(policy.PolicyExplain),
	string(policy.TrustShow), string(policy.TrustCreate), string(policy.TrustUpdate), string(policy.TrustDelete),
}

func (p *program) policyCommand() *cobra.Command {
	return console.Group("policy", "Ask what policy decides",
		"Policies (Cedar) say who may do what. Nothing is allowed unless one permits it.",
		"  vimbroker policy explain lease:issue --vim edge-1 --role admin",
		p.policyExplainCommand(), p.policyTestCommand(), p.policyCheckCommand(), p.policyListCommand(), p.policySchemaCommand(),
	)
}

func (p *program) policyExplainCommand() *cobra.Command {
	var about v1.Principal
	var vim, lease, grade string
	var f lessee.Flags
	c := argument{
		name: "ACTION (like lease:issue)", complete: cobra.FixedCompletions(actions, cobra.ShellCompDirectiveNoFileComp),
	}.command(p, &cobra.Command{
		Use:   "explain ACTION",
		Short: "Say whether an action is allowed, and by which policies",
		Long: `Show what the policies decide about an action on a VIM, a lease or the
project, and which policies are the reason. The action itself is not done. You
may always ask about yourself; to ask about another principal (--principal)
you need a right, and with it the answer names each condition that decided. A
VIM's name is looked for in --in-project first. The exit code is 0 if it is
allowed and 1 if it is denied.`,
		Example: `  vimbroker policy explain vim:register
  vimbroker policy explain lease:issue --vim edge-1 --role cluster-admin \
      --ttl 8h
  vimbroker policy explain lease:issue --vim edge-1 --principal bob \
      --in-project acme --with-role member`,
	}, func(c *cobra.Command, action string, registry *client.Client) error {
		if vim != "" && lease != "" {
			return console.Usagef(c, "give --vim or --lease, not both")
		}
		q := v1.Question{Action: action}
		if about.Name != "" {
			q.Principal = &about
		} else if about.Project != "" || len(about.Roles) > 0 {
			return console.Usagef(c, "--in-project and --with-role go with --principal")
		}
		if r := f.Request("", ""); r.TTL != "" || r.Role != "" || len(r.Namespaces) > 0 || r.Purpose != "" || len(r.Rules) > 0 ||
			r.ClusterWide || r.For != "" || grade != "" {
			q.Wish = v1.Wish{
				TTL: r.TTL, Role: r.Role, Namespaces: r.Namespaces, Purpose: r.Purpose, For: r.For,
				Grade: grade, ClusterWide: r.ClusterWide, Rules: r.Rules,
			}
		}
		var own string
		var err error
		if about.Project != "" && vim != "" {
			own, _ = console.VIMOfProject(c.Context(), registry, about.Project, vim) // else it may be shared
		}
		if own == "" {
			if own, err = p.VIMRef(c.Context(), registry, vim); err != nil {
				return err
			}
		}
		if lease, err = p.LeaseRef(c.Context(), registry, lease); err != nil {
			return err
		}
		if q.Resource, err = resource(c.Context(), registry, own, lease); err != nil {
			return err
		}
		return answered(p.decided)(registry.Explain(c.Context(), q))
	})
	flags := c.Flags()
	flags.StringVar(&vim, "vim", "", "about this VIM (name or id)")
	flags.StringVar(&lease, "lease", "", "about this lease (id)")
	flags.StringVar(&about.Name, "principal", "", "about this principal (default: the caller)")
	flags.StringVar(&about.Project, "in-project", "", "with --principal: the project it acts in")
	flags.StringArrayVar(&about.Roles, "with-role", nil, "with --principal: a role that it has in the project; can be repeated")
	flags.StringVar(&grade, "grade", "", "as if the lease had this grade: bounded (the default), namespaces or unbounded")
	f.Add(p.Console, c)
	console.MustChoose(c, "grade", "bounded", "namespaces", "unbounded")
	console.MustComplete(c, "vim", p.VimNames)
	console.MustComplete(c, "lease", p.LeaseIDs)
	console.MustChoose(c, "with-role", policy.RoleAdmin, policy.RoleMember, policy.RoleReader)
	p.OutputFlag(c)
	return c
}

// resource describes the subject of a question, as policies see it; empty is the
// principal's project.
func resource(ctx context.Context, registry *client.Client, vim, lease string) (v1.Resource, error) {
	var r v1.Resource
	if vim == "" && lease == "" {
		return r, nil
	}
	r.Kind = string(policy.KindVIM)
	if lease != "" {
		l, err := registry.Lease(ctx, lease)
		if err != nil {
			return r, err
		}
		r = v1.Resource{Kind: string(policy.KindLease), ID: l.ID, Project: l.Project, Owner: l.Principal, VIMName: l.VIMName}
		vim = l.VIM
	}
	v, err := registry.VIM(ctx, vim)
	if err != nil {
		return r, err
	}
	if lease == "" {
		r.ID, r.Project = v.ID, v.Project
	} else {
		r.VIMProject = v.Project
	}
	r.VIMType, r.VIMName, r.Shared, r.SharedWith, r.Labels = v.Type, v.Name, v.Shared, v.SharedWith, v.Labels
	return r, nil
}

// decided prints a decision, and makes the exit code of it.
func (p *program) decided(d v1.Decision) error {
	if err := printed(p, p.decisionFacts)(d); err != nil || d.Allowed {
		return err
	}
	return console.ExitWith(console.ExitFailed, nil)
}

func (p *program) decisionFacts(w io.Writer, d v1.Decision) {
	verdict := "denied"
	if d.Allowed {
		verdict = "allowed"
	}
	console.Facts(w, "Decision", verdict)
	switch {
	case len(d.Policies) > 0:
		console.Facts(w, "Policies", console.List(d.Policies))
	case len(d.Errors) == 0:
		console.Facts(w, "Policies", "none permits it")
	}
	console.Facts(w, "Reasons", strings.Join(d.Reasons, "; "))
	for _, condition := range d.Why {
		console.Facts(w, "Because", condition)
	}
	console.Facts(w, "Errors", strings.Join(d.Errors, "; "))
}
