package lifecycle

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/policy"
)

// leaseMargin is the time before the end of its lease at which a stage ends: its work has
// to be finished then.
const leaseMargin = 30 * time.Second

// inputOf is the input of a driver's plan: for the operation itself, or for its rollback.
func (l *Lifecycle) inputOf(ctx context.Context, d Driver, i Instance, o Operation) (PlanInput, error) {
	in := PlanInput{
		Operation: o.Type, Instance: i.ID, Name: i.Name, Project: i.Project,
		Standing: i.Shape.Resources, VNFCs: o.VNFCs, Tests: o.Tests, Mark: o.ID,
	}
	from, to := o.Before, o.Target
	if o.State == RollingBack {
		from, to = to, from
		in.Mark, in.Undone = o.ID+"-back", o.ID
		if o.Type == Instantiate {
			in.Operation = Terminate
		}
	}
	switch in.Operation {
	case ScaleVNF:
		in.Scaled = changed(from, to)
	case Terminate:
		in.Namespace, in.Release = cmp.Or(o.Before.Namespace, o.Target.Namespace), cmp.Or(o.Before.Release, o.Target.Release)
		return in, nil
	}
	in.Kept = o.Type != Instantiate && from.Concealed.ID == to.Concealed.ID && bytes.Equal(from.Parameters, to.Parameters)
	return l.inputFor(ctx, d, to, in)
}

// inputFor adds an instance's new shape to an input.
func (l *Lifecycle) inputFor(ctx context.Context, d Driver, to Shape, in PlanInput) (PlanInput, error) {
	pkg, err := l.Packages.Held(ctx, to.Package)
	if err != nil {
		return in, err
	}
	hidden, err := l.openSecretParameters(ctx, in.Instance, to)
	if err != nil {
		return in, err
	}
	in.Namespace, in.Variables, in.Replicas = to.Namespace, to.Variables, to.Replicas
	if len(hidden.Variables) > 0 {
		in.Variables = map[string]string{}
		maps.Copy(in.Variables, to.Variables)
		maps.Copy(in.Variables, hidden.Variables)
	}
	in.Flavour, in.Parameters = pkg.VNFD.Flavours[to.Flavour], to.Parameters
	in.Named, in.Release, in.Waves, in.Labels, in.Egress = to.Files, to.Release, to.Waves, to.Labels, l.Egress(in.Project)
	if to.Concealed.Parameters {
		in.Parameters = hidden.Parameters
	}
	to.Variables = in.Variables
	in.Links, in.Volumes = slices.Clone(to.Links), to.Volumes
	for n, k := range in.Links {
		in.Links[n].Ports = slices.Clone(k.Ports)
		for m, p := range k.Ports {
			in.Links[n].Ports[m].Name = strings.TrimPrefix(p.Name, to.before())
		}
	}
	in.Manifests, err = to.manifests(d, pkg)
	return in, err
}

// survey has a driver plan, under leases that are good for nothing else. The leases are left.
func (l *Lifecycle) survey(
	ctx context.Context, p policy.Principal, operation string, v broker.VIM, d Driver, in PlanInput,
) (plan Plan, err error) {
	h, err := l.take(ctx, p, v, l.leaseFor(operation, v, d.Survey(in)))
	if err != nil {
		return Plan{}, err
	}
	h.Further = func(ctx context.Context, g StageRules, do func(Connection) error) error {
		more, err := l.take(ctx, p, v, l.leaseFor(operation, v, g))
		if err != nil {
			return err
		}
		return l.learnt(ctx, more, func() error { return do(more.Connection) })
	}
	bounded, cancel := context.WithTimeout(ctx, h.until.Sub(l.Now()))
	defer cancel()
	err = l.learnt(bounded, h, func() (err error) {
		plan, err = d.Plan(bounded, h.Connection, in)
		return err
	})
	plan.Facts.Reaches = unvouched(plan.Facts.Reaches, v.Current.Target.Vouched)
	return plan, err
}

// held is a lease that the engine has.
type held struct {
	Connection

	// until is how long it is used by the store's time; taken is when it was issued, by this machine's.
	until, taken time.Time
}

func (l *Lifecycle) take(ctx context.Context, p policy.Principal, v broker.VIM, r broker.LeaseRequest) (held, error) {
	issue := l.Leaser.IssueLease
	if r.IdempotencyKey != "" {
		issue = l.Leaser.IssueShared
	}
	lease, config, err := issue(ctx, p, r)
	if err != nil {
		return held{}, err
	}
	if !lease.Derived {
		return held{}, &broker.Error{
			Kind: broker.ErrUnsupported, Detail: "the VIM mints no credentials, and an operation is run with nothing else",
			Next: broker.NextCheckVIM,
		}
	}
	h := held{Connection: Connection{Config: config, Egress: l.Egress(v.Project)}, until: lease.ExpiresAt.Add(-leaseMargin), taken: time.Now()}
	if !l.Now().Before(h.until) {
		return held{}, &broker.Error{
			Kind: broker.ErrUnsupported, Detail: "the VIM's leases live for less than " + leaseMargin.String() + ", which is too short to work with",
			Remedy: "compare the VIM's clock with the broker's",
		}
	}
	return h, nil
}

// fresh is for how long after it was issued a lease may be used for the first time: its first use may come late.
const fresh = time.Minute

// learnt is [broker.Learnt] for a lease that is fresh; once it is not, do is called once.
func (l *Lifecycle) learnt(ctx context.Context, h held, do func() error) error {
	if time.Since(h.taken) > fresh {
		return do()
	}
	return broker.Learnt(ctx, l.Terms.Learning, do)
}

// Sleep waits for a while, or until the context ends, whose error it returns.
func Sleep(ctx context.Context, pause time.Duration) error {
	select {
	case <-time.After(pause):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (l *Lifecycle) leaseFor(operation string, v broker.VIM, g StageRules) broker.LeaseRequest {
	return broker.LeaseRequest{
		VIM: v.ID, TTL: l.Terms.LeaseTTL, Rules: g.Rules, Namespaces: g.Namespaces, ClusterWide: g.ClusterWide,
		Operation: operation, Planned: true, Purpose: cmp.Or(g.Purpose, "life-cycle operation"),
	}
}

// digest tells the plan from another. It covers no manifest: a package never changes.
func (p Plan) digest() string {
	type wave struct {
		Deed      Deed
		Resources []Resource
		Replicas  []int32
	}
	var all []any
	for _, s := range p.Stages {
		for _, w := range s.Waves {
			of := wave{Deed: w.Deed}
			for _, o := range w.Objects {
				of.Resources = append(of.Resources, o.Resource)
				of.Replicas = append(of.Replicas, o.Replicas)
			}
			all = append(all, of)
		}
		all = append(all, s.Grant)
	}
	text, _ := json.Marshal(all) // cannot fail for these types
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}

// weighed are the facts as policies see them.
func (f Facts) weighed(v broker.VIM, of Product) *policy.OperationPlan {
	return &policy.OperationPlan{
		VIMName: v.Name, VIMProject: v.Project, VIMLabels: v.Labels,
		VNFDID: of.VNFDID, Provider: of.Provider, Product: of.Name, SoftwareVersion: of.SoftwareVersion,
		Kinds: f.Kinds, Namespaces: f.Namespaces, Images: f.Images,
		ClusterScoped: f.ClusterScoped, Privileged: f.Privileged,
		BringsRBAC: f.BringsRBAC, BringsDefinitions: f.BringsDefinitions, BringsWebhooks: f.BringsWebhooks,
		Outlives: f.Outlives, Reaches: words(f.Reaches), PodSecurity: f.PodSecurity,
	}
}
