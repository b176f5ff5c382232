package manifests

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/broker/secret"
	"github.com/vimbroker/vimbroker/lifecycle"

	"github.com/go-json-experiment/json"
)

// Plan implements [lifecycle.Driver].
func (d *Driver) Plan(ctx context.Context, c lifecycle.Connection, in lifecycle.PlanInput) (lifecycle.Plan, error) {
	var p draft
	if in.Observing {
		err := p.observe(in.Standing)
		return p.done(), err
	}
	s, err := d.connect(c)
	if err != nil {
		return lifecycle.Plan{}, err
	}
	switch in.Operation {
	case lifecycle.Instantiate, lifecycle.ChangePackage, lifecycle.ChangeConn:
		if err = p.applyAll(ctx, s, in); err == nil {
			err = p.remove(ctx, s, in, p.left(in.Standing))
		}
	case lifecycle.Heal:
		if err = p.applyAll(ctx, s, in); err == nil {
			err = p.replace(in)
		}
	case lifecycle.ScaleVNF:
		err = p.scale(ctx, s, in)
	case lifecycle.Terminate:
		err = p.remove(ctx, s, in, in.Standing)
		p.resources = nil
	default:
		err = &broker.Error{Kind: broker.ErrUnsupported, Detail: fmt.Sprintf("operation %s is not one of CNFs on Kubernetes", in.Operation)}
	}
	if err != nil {
		return lifecycle.Plan{}, err
	}
	return p.done(), nil
}

// draft is a plan in the making.
type draft struct {
	stages    []lifecycle.Stage
	resources []lifecycle.Resource
	facts     facts
	// rules are those of the last stage; they are written into it when it ends.
	rules *rules
	// objects are those that are applied; replace applies a pod again.
	objects []*object
	// has is the set of resources.
	has map[identity]bool
	// release is the one that the objects are of; empty for none.
	release string
	// ports are the names of those that pods have, by the ids of links.
	ports map[string][]string
}

// identity tells an object from all others of a cluster.
type identity struct{ group, kind, namespace, name string }

func identityOf(r lifecycle.Resource) identity { return identity{r.Group, r.Kind, r.Namespace, r.Name} }

// keep adds a resource to the instance, in the place of its first mention.
func (p *draft) keep(r lifecycle.Resource) {
	if p.has == nil {
		p.has = map[identity]bool{}
	}
	if !p.has[identityOf(r)] {
		p.has[identityOf(r)] = true
		p.resources = append(p.resources, r)
	}
}

func (p *draft) done() lifecycle.Plan {
	p.end()
	return lifecycle.Plan{Stages: p.stages, Resources: p.resources, Ports: p.ports, Facts: p.facts.done()}
}

// stage returns the stage for a wave in a namespace, or without one in the cluster. The last
// stage is extended if it has that scope, and room for that many more rules.
func (p *draft) stage(namespace string, more int) *lifecycle.Stage {
	if p.rules != nil {
		last := &p.stages[len(p.stages)-1]
		if last.Grant.ClusterWide == (namespace == "") && (namespace == "" || last.Grant.Namespaces[0] == namespace) &&
			p.rules.size()+more <= maxRules {
			return last
		}
	}
	p.end()
	g := lifecycle.StageRules{ClusterWide: namespace == ""}
	if namespace != "" {
		g.Namespaces = []string{namespace}
	}
	p.stages, p.rules = append(p.stages, lifecycle.Stage{Grant: g}), &rules{}
	return &p.stages[len(p.stages)-1]
}

func (p *draft) end() {
	if p.rules != nil {
		p.stages[len(p.stages)-1].Grant.Rules, p.rules = p.rules.done(), nil
	}
}

// step adds an object to the last wave, or to a new one: where begins says so, as the first of a deed has to, where the
// namespace changes, and where a lease has no room for another rule.
func (p *draft) step(deed lifecycle.Deed, begins bool, o lifecycle.Object, allow func(*rules) error) error {
	o.Release = p.release
	stages := len(p.stages)
	trial := &rules{}
	if err := allow(trial); err != nil {
		return err
	}
	if trial.size() > maxRules {
		return &broker.Error{
			Kind:   broker.ErrUnsupported,
			Detail: fmt.Sprintf("%s needs %d rules of its lease, and %d are the most", title(o.Resource), trial.size(), maxRules),
			Remedy: "divide the role into several",
		}
	}
	stage := p.stage(o.Namespace, trial.size())
	if begins || len(p.stages) != stages {
		stage.Waves = append(stage.Waves, lifecycle.Wave{Deed: deed})
	}
	wave := p.wave()
	wave.Objects = append(wave.Objects, o)
	return allow(p.rules)
}

// wave is the last one.
func (p *draft) wave() *lifecycle.Wave {
	waves := p.stages[len(p.stages)-1].Waves
	return &waves[len(waves)-1]
}

// waves counts those of the plan.
func (p *draft) waves() (n int) {
	for _, s := range p.stages {
		n += len(s.Waves)
	}
	return n
}

// applyAll plans to apply everything that the manifests hold.
func (p *draft) applyAll(ctx context.Context, s *server, in lifecycle.PlanInput) error {
	all, err := s.settled(ctx, in, nil, nil)
	if err == nil {
		p.ports, err = link(in, all)
	}
	if err != nil {
		return err
	}
	return p.applyEach(ctx, s, in, all)
}

// settled reads the objects of manifests, in the order in which they are applied, as the cluster and the instance
// want them. foreign is nil for manifests of a package. defined are kinds that the plan defines before; those that the
// objects define are added.
func (s *server) settled(ctx context.Context, in lifecycle.PlanInput, foreign *Marks, defined kinds) ([]*object, error) {
	if foreign == nil {
		var err error
		if in, err = withNetworks(in); err != nil {
			return nil, err
		}
	}
	all, err := objects(in, foreign)
	if err != nil {
		return nil, err
	}
	resources := make([]lifecycle.Resource, len(all))
	for i, o := range all {
		resources[i] = o.Resource
	}
	known, err := s.kindsOf(ctx, resources)
	if err != nil {
		return nil, err
	}
	ours := s.ownDefinition
	if foreign != nil {
		ours = s.unservedDefinition
	}
	if all, err = brought(ctx, in, all, known, ours); err != nil {
		return nil, err
	}
	known.share(all, defined)
	if err := settle(in, all, known, foreign == nil); err != nil {
		return nil, err
	}
	if all, err = s.mount(ctx, in, all, foreign == nil); err != nil {
		return nil, err
	}
	for _, o := range all {
		o.label(instanceLabel, in.Instance)
		for name, value := range in.Labels {
			o.label(name, value)
		}
	}
	arrange(all)
	return all, nil
}

// applyEach plans to apply objects that are settled.
func (p *draft) applyEach(ctx context.Context, s *server, in lifecycle.PlanInput, all []*object) error {
	if err := s.around(ctx, in, all); err != nil {
		return err
	}
	p.objects = append(p.objects, all...)
	for i, o := range all {
		if err := p.apply(in, i == 0 || !sameWave(all[i-1], o), o); err != nil {
			return err
		}
	}
	return nil
}

// apply plans one object, in a new wave where begins says so.
func (p *draft) apply(in lifecycle.PlanInput, begins bool, o *object) error {
	manifest, err := json.Marshal(o.content, json.Deterministic(true))
	if err != nil {
		return o.fault(nil, "%s holds what JSON cannot say", o.titleIn())
	}
	if was := find(in.Standing, o.Resource); was != nil {
		o.Applied, o.UID, o.Storages = was.Applied, was.UID, was.Storages
	}
	object := lifecycle.Object{Resource: o.Resource, Manifest: secret.NewText(string(manifest))}
	err = p.step(lifecycle.Apply, begins, object, func(r *rules) error {
		r.apply(o.Resource)
		if o.VDU != "" {
			r.pods(o.Resource)
		}
		if isList(mapAt(o.content, "spec")["volumeClaimTemplates"]) {
			r.claims(o.Resource)
		}
		if setsReplicas(o.Resource, o.content) {
			r.allow(autoscaling, scalers, "", "list")
		}
		if isClaim(o.Resource) || o.Passes {
			r.allow("", "events", "", "list")
		}
		return r.roleRules(o, p.brought)
	})
	if err != nil {
		return err
	}
	o.Wave = p.waves() - 1
	wave := p.wave()
	wave.Objects[len(wave.Objects)-1].Wave = o.Wave
	p.keep(o.Resource)
	p.facts.add(o.Resource)
	p.facts.judge(o)
	return nil
}

// brought is the role of the package with that name; nil if it brings none.
func (p *draft) brought(kind, namespace, name string) *object {
	for _, o := range p.objects {
		if o.Group == rbacGroup && o.Kind == kind && o.Namespace == namespace && o.Name == name {
			return o
		}
	}
	return nil
}

// brought learns the kinds that definitions of the package bring. A definition on the cluster that
// another owns is used unchanged, and is not the instance's: ours reports which.
func brought(
	ctx context.Context, in lifecycle.PlanInput, all []*object, known kinds, ours func(
		context.Context, lifecycle.PlanInput, *object,
	) (bool, error),
) ([]*object, error) {
	own := all[:0:0]
	for _, o := range all {
		if bandOf(o.Resource) == definitions && known[groupKind{o.Group, o.Version, o.Kind}].plural != "" {
			o.Plural = known[groupKind{o.Group, o.Version, o.Kind}].plural
			is, err := ours(ctx, in, o)
			if err != nil {
				return nil, err
			}
			if !is {
				continue
			}
			if err := known.define(o); err != nil {
				return nil, err
			}
		}
		own = append(own, o)
	}
	return own, nil
}

// ownDefinition asks the cluster for the owner of a definition; a missing one will be the
// instance's.
func (s *server) ownDefinition(ctx context.Context, in lifecycle.PlanInput, o *object) (bool, error) {
	there, err := s.get(ctx, o.Resource)
	of := o.Resource
	if was := find(in.Standing, of); was != nil {
		of = *was
	}
	return err == nil && (there == nil || there.is(in.Instance, of)), err
}

// unservedDefinition is ownDefinition without a right to read definitions: one whose kind the cluster serves already
// is another's, unless it is recorded as the instance's.
func (s *server) unservedDefinition(ctx context.Context, in lifecycle.PlanInput, o *object) (bool, error) {
	if find(in.Standing, o.Resource) != nil {
		return true, nil
	}
	spec := mapAt(o.content, "spec")
	group, kind := text(spec, "group"), text(mapAt(spec, "names"), "kind")
	if !pluralName().MatchString(group) {
		return true, nil // what is wrong with it is said by define
	}
	var versions []lifecycle.Resource
	for _, v := range mappings(spec["versions"]) {
		if name := text(v, "name"); versionName().MatchString(name) {
			versions = append(versions, lifecycle.Resource{Group: group, Version: name})
		}
	}
	known, err := s.kindsOf(ctx, versions)
	for _, v := range versions {
		if known[groupKind{group, v.Version, kind}].plural != "" {
			return false, err
		}
	}
	return true, err
}

// settle gives each object its kind, namespace and VDU, and refuses what cannot be together. In a package's manifests the
// namespace default stands for the instance's.
func settle(in lifecycle.PlanInput, all []*object, known kinds, packaged bool) error {
	seen := map[identity]*object{}
	vdus := map[string]*object{}
	scaled := autoscaled(in, all)
	for _, o := range all {
		if packaged {
			if err := o.boundElsewhere(in.Namespace); err != nil {
				return err
			}
			if o.Namespace == defaultNamespace {
				o.Namespace = ""
			}
		}
		k, err := known.resolve(o, in.Namespace)
		if err != nil {
			return err
		}
		if most := longest[o.Group+"/"+o.Kind]; most > 0 && len(o.Name) > most {
			return o.fault(nil, "%s has a name of %d characters, and what the cluster makes of it takes %d at most; shorten it",
				o.titleIn(), len(o.Name), most)
		}
		if scaled[scaledAs(o.Resource)] > 0 {
			o.leaveReplicas(in)
		}
		if other := seen[identityOf(o.Resource)]; other != nil {
			return o.fault(nil, "%s is in %s:%d too; keep one", title(o.Resource), other.file, other.line)
		}
		seen[identityOf(o.Resource)] = o
		vdu := cmp.Or(o.VDU, o.Name)
		o.VDU = ""
		replicas, isVDU := in.Replicas[vdu]
		if !isVDU || !isWorkload(o.Resource) && !k.scales {
			continue
		}
		if other := vdus[vdu]; other != nil {
			return o.fault(nil, "%s and %s are both named as VDU %s; only one can run it", o.titleIn(), other.titleIn(), vdu)
		}
		if len(validation.IsValidLabelValue(vdu)) > 0 {
			return o.fault(nil, "%s runs a VDU, and its name is longer than a label can be (63)", o.titleIn())
		}
		if in.Operation == lifecycle.ScaleVNF && slices.Contains(in.Scaled, vdu) && scaled[scaledAs(o.Resource)] > 0 {
			return &broker.Error{
				Kind: broker.ErrInvalid, Detail: fmt.Sprintf("VDU %s cannot be scaled: an autoscaler of the package sets its number", vdu),
				Remedy: "change the bounds of the autoscaler by a change of package (vnf update)",
			}
		}
		vdus[vdu], o.VDU = o, vdu
		spec := mapAt(o.content, "spec")
		if k.scales && spec != nil && scaled[scaledAs(o.Resource)] == 0 && (isWorkload(o.Resource) || spec["replicas"] != nil) {
			spec["replicas"] = int64(replicas)
		}
	}
	return outliving(all)
}

// longest are the longest names of kinds whose names become labels (63), with what the cluster adds to them.
var longest = map[string]int{apps + "/StatefulSet": 52, batch + "/CronJob": 52, batch + "/Job": 63, "/Service": 63}

// boundElsewhere refuses a binding of an account in the namespace default in an instance that is elsewhere:
// the package's own account goes where the instance is, and one that stands in default is not meant.
func (o *object) boundElsewhere(namespace string) error {
	if o.Group != rbacGroup || namespace == defaultNamespace {
		return nil
	}
	for _, s := range mappings(o.content["subjects"]) {
		if text(s, "kind") == "ServiceAccount" && text(s, "namespace") == defaultNamespace {
			return o.fault(child(o.root, "subjects"), "%s has a subject in namespace %s, and the instance is in %s; write ${VNF_NAMESPACE}",
				o.titleIn(), defaultNamespace, namespace)
		}
	}
	return nil
}

// autoscaled are the workloads whose number of replicas an autoscaler of the package sets, and the highest that it sets.
func autoscaled(in lifecycle.PlanInput, all []*object) map[identity]int64 {
	found := map[identity]int64{}
	for _, o := range all {
		if isAutoscaler(o.Resource) {
			most, _ := mapAt(o.content, "spec")["maxReplicas"].(int64)
			found[scaleTarget(cmp.Or(o.Namespace, in.Namespace), o.content)] = max(most, 1)
		}
	}
	return found
}

// leaveReplicas leaves the number of a workload that stands to its autoscaler. Its manifest's is the one to begin with.
func (o *object) leaveReplicas(in lifecycle.PlanInput) {
	if was := find(in.Standing, o.Resource); was != nil && was.UID != "" {
		delete(mapAt(o.content, "spec"), "replicas")
	}
}

// outliving refuses an object that outlives the instance in a namespace of the package that does
// not.
func outliving(all []*object) error {
	goes := map[string]bool{}
	for _, o := range all {
		if bandOf(o.Resource) == namespaces && !o.Outlives {
			goes[o.Name] = true
		}
	}
	for _, o := range all {
		if o.Outlives && goes[o.Namespace] {
			return o.fault(nil, "%s outlives the instance, and its namespace, which the package brings, does not", o.titleIn())
		}
	}
	return nil
}

func same(a, b lifecycle.Resource) bool { return identityOf(a) == identityOf(b) }

// find is the one among resources that is the same object.
func find(resources []lifecycle.Resource, r lifecycle.Resource) *lifecycle.Resource {
	i := slices.IndexFunc(resources, func(other lifecycle.Resource) bool { return same(other, r) })
	if i < 0 {
		return nil
	}
	return &resources[i]
}

// left are the existing resources that the plan does not apply. A resource that outlives
// the instance stays the instance's.
func (p *draft) left(standing []lifecycle.Resource) []lifecycle.Resource {
	var left []lifecycle.Resource
	for _, r := range standing {
		if find(p.resources, r) == nil {
			left = append(left, r)
			if r.Outlives {
				p.resources = append(p.resources, r)
			}
		}
	}
	return left
}

// remove plans to delete resources but those that outlive the instance, the last made first.
func (p *draft) remove(ctx context.Context, s *server, in lifecycle.PlanInput, all []lifecycle.Resource) error {
	all = slices.DeleteFunc(slices.Clone(all), func(r lifecycle.Resource) bool {
		return r.Outlives || slices.Contains(in.Gone, r.Namespace)
	})
	uids := map[identity]string{}
	for _, r := range in.Standing {
		uids[identityOf(r)] = r.UID
	}
	known, err := s.kindsOf(ctx, all)
	if err != nil {
		return err
	}
	slices.SortStableFunc(all, func(a, b lifecycle.Resource) int {
		return cmp.Or(cmp.Compare(b.Wave, a.Wave), cmp.Compare(rank(b), rank(a)))
	})
	wave := -1
	for _, r := range all {
		if _, served := known[groupKind{r.Group, r.Version, r.Kind}]; !served {
			continue // its definition is gone, and the object with it
		}
		r.UID = uids[identityOf(r)]
		p.facts.add(r)
		err := p.step(lifecycle.Delete, r.Wave != wave, lifecycle.Object{Resource: r}, func(rules *rules) error {
			rules.allow(r.Group, r.Plural, r.Name, "get", "delete")
			return nil
		})
		if err != nil {
			return err
		}
		wave = r.Wave
	}
	return nil
}

// scale plans to give each VDU its number of replicas.
func (p *draft) scale(ctx context.Context, s *server, in lifecycle.PlanInput) error {
	p.resources = in.Standing
	done := map[string]bool{}
	for _, r := range in.Standing {
		p.facts.add(r)
		if r.VDU == "" || !slices.Contains(in.Scaled, r.VDU) {
			continue
		}
		if in.Replicas[r.VDU] > 1 && addressed(in.Links, r) {
			return broker.Invalid("", "VDU %s cannot be scaled: its pod has the one address of a port, which no other can have", r.VDU)
		}
		err := p.step(lifecycle.Scale, len(done) == 0, lifecycle.Object{Resource: r, Replicas: in.Replicas[r.VDU]}, func(rules *rules) error {
			rules.allow(r.Group, r.Plural, r.Name, "get")
			rules.allow(r.Group, r.Plural+"/scale", r.Name, "patch")
			rules.pods(r)
			rules.claims(r)
			return nil
		})
		if err = cmp.Or(err, s.spared(ctx, in, &object{Resource: r}, map[string]bool{})); err != nil {
			return err
		}
		done[r.VDU] = true
	}
	for _, vdu := range in.Scaled {
		if !done[vdu] {
			return &broker.Error{
				Kind: broker.ErrInvalid, Detail: fmt.Sprintf("VDU %s cannot be scaled: no workload of the instance has its name", vdu),
			}
		}
	}
	return nil
}

// replace plans to remove pods, and to wait for those that follow them.
func (p *draft) replace(in lifecycle.PlanInput) error {
	if len(in.VNFCs) == 0 {
		return nil
	}
	var wave *lifecycle.Wave
	for _, r := range p.resources {
		var mine []lifecycle.VNFC
		for _, v := range in.VNFCs {
			if v.VDU == r.VDU && r.VDU != "" {
				mine = append(mine, v)
			}
		}
		if len(mine) == 0 {
			continue
		}
		o := lifecycle.Object{Resource: r}
		if r.Kind == "Pod" && r.Group == "" {
			o.Manifest = p.manifest(r) // nothing else makes it again
		}
		err := p.step(lifecycle.Replace, wave == nil, o, func(rules *rules) error {
			rules.allow(r.Group, r.Plural, r.Name, "get")
			if !o.Manifest.Empty() {
				rules.apply(r)
			}
			rules.pods(r)
			rules.claims(r)
			for _, v := range mine {
				rules.allow("", "pods", v.Name, "get", "delete")
			}
			return nil
		})
		if err != nil {
			return err
		}
		wave = p.wave()
		wave.VNFCs = append(wave.VNFCs, mine...)
	}
	for _, v := range in.VNFCs {
		if !slices.ContainsFunc(p.resources,
			func(r lifecycle.Resource) bool { return r.VDU == v.VDU && v.VDU != "" && r.Namespace == v.Namespace }) {
			return &broker.Error{Kind: broker.ErrInvalid, Detail: fmt.Sprintf("%s %s/%s runs no VDU of the instance", v.Kind, v.Namespace, v.Name)}
		}
	}
	return nil
}

// manifest is the whole object that the plan applies.
func (p *draft) manifest(r lifecycle.Resource) secret.Text {
	for _, s := range p.stages {
		for _, w := range s.Waves {
			for _, o := range w.Objects {
				if w.Deed == lifecycle.Apply && same(o.Resource, r) {
					return o.Manifest
				}
			}
		}
	}
	return secret.Text{}
}

// observe plans to look: what is in one namespace, or in none, under one lease.
func (p *draft) observe(standing []lifecycle.Resource) error {
	p.resources = standing
	byScope := slices.Clone(standing)
	slices.SortStableFunc(byScope, func(a, b lifecycle.Resource) int { return cmp.Compare(a.Namespace, b.Namespace) })
	for _, r := range byScope {
		p.facts.add(r)
		err := p.step(lifecycle.Look, false, lifecycle.Object{Resource: r}, func(look *rules) error {
			look.allow(r.Group, r.Plural, r.Name, "get")
			if r.VDU != "" {
				look.allow("", "pods", "", "list")
			}
			if isReplicated(r) {
				look.allow(autoscaling, scalers, "", "list")
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}
