package lifecycle

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"time"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/policy"
)

// leaseMargin is how long before its lease ends a stage does: what is under way then has
// to have come to its end.
const leaseMargin = 30 * time.Second

// input is what the driver plans from: what the operation does, or the way back.
func (a *attempt) input(ctx context.Context) (PlanInput, error) {
	in := PlanInput{
		Operation: a.o.Type, Instance: a.i.ID, Name: a.i.Name,
		Standing: a.i.Shape.Resources, VNFCs: a.o.VNFCs,
	}
	from, to := a.o.Before, a.o.Target
	if a.o.State == RollingBack {
		from, to = to, from
		if a.o.Type == Instantiate {
			in.Operation = Terminate
		}
	}
	in.Namespace, in.Variables, in.Replicas = to.Namespace, to.Variables, to.Replicas
	switch in.Operation {
	case ScaleVNF:
		in.Replicas = changed(from, to)
		return in, nil
	case Terminate:
		in.Namespace = a.o.Before.Namespace
		return in, nil
	}
	manifests, err := a.packages.Manifests(ctx, to.Package, to.Files)
	in.Manifests = manifests
	return in, err
}

// survey has a driver plan, under a lease that is good for nothing else.
func (l *Lifecycle) survey(ctx context.Context, p policy.Principal, operation string, v broker.VIM, d Driver, in PlanInput) (Plan, error) {
	c, until, err := l.connect(ctx, p, operation, v, d.Survey())
	if err != nil {
		return Plan{}, err
	}
	bounded, cancel := context.WithTimeout(ctx, until.Sub(l.now()))
	defer cancel()
	plan, err := d.Plan(bounded, c, in)
	if err != nil {
		return Plan{}, err
	}
	return plan, l.leaser.EndOperation(ctx, operation)
}

// connect takes a lease that allows what a grant says and nothing else, for p. The answer
// says until when to use it.
func (l *Lifecycle) connect(ctx context.Context, p policy.Principal, operation string, v broker.VIM, g Grant) (Connection, time.Time, error) {
	return l.take(ctx, p, v, l.leaseFor(operation, v, g))
}

// take takes a lease for p.
func (l *Lifecycle) take(ctx context.Context, p policy.Principal, v broker.VIM, r broker.LeaseRequest) (Connection, time.Time, error) {
	lease, config, err := l.leaser.IssueLease(ctx, p, r)
	if err != nil {
		return Connection{}, time.Time{}, err
	}
	if !lease.Derived {
		return Connection{}, time.Time{}, &broker.Error{
			Kind: broker.ErrUnsupported, Detail: "the VIM mints no credentials, and an operation is run with nothing else",
			Next: broker.NextCheckVIM,
		}
	}
	return Connection{Config: config, Egress: l.egress(v.Project)}, lease.ExpiresAt.Add(-leaseMargin), nil
}

func (l *Lifecycle) leaseFor(operation string, v broker.VIM, g Grant) broker.LeaseRequest {
	return broker.LeaseRequest{
		VIM: v.ID, TTL: l.terms.LeaseTTL, Rules: g.Rules, Namespaces: g.Namespaces, ClusterWide: g.ClusterWide,
		Operation: operation, Purpose: "life-cycle operation",
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
func (f Facts) weighed(v broker.VIM, of Product) *policy.Plan {
	return &policy.Plan{
		VIMName: v.Name, VIMProject: v.Project, VIMLabels: v.Labels,
		VNFDID: of.VNFDID, Provider: of.Provider, Product: of.Name, SoftwareVersion: of.SoftwareVersion,
		Kinds: f.Kinds, Namespaces: f.Namespaces, Images: f.Images,
		ClusterScoped: f.ClusterScoped, Privileged: f.Privileged,
		BringsRBAC: f.BringsRBAC, BringsDefinitions: f.BringsDefinitions, BringsWebhooks: f.BringsWebhooks,
		Outlives: f.Outlives,
	}
}
