package helm

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/broker/secret"
	"github.com/vimbroker/vimbroker/drivers/helm/chart"
	"github.com/vimbroker/vimbroker/drivers/manifests"
	"github.com/vimbroker/vimbroker/lifecycle"
)

// Plan implements [lifecycle.Driver]. It reads the release's records, and renders the chart unless a record of this
// very operation is there.
func (d *Driver) Plan(ctx context.Context, c lifecycle.Connection, in lifecycle.PlanInput) (lifecycle.Plan, error) {
	if in.Observing || slices.Contains(in.Gone, in.Namespace) {
		return d.Driver.Plan(ctx, c, in)
	}
	draft, err := d.Draft(c, in)
	if err != nil {
		return lifecycle.Plan{}, err
	}
	p := &plan{Draft: draft, driver: d, in: in}
	if p.records, err = records(ctx, draft, in); err != nil {
		return lifecycle.Plan{}, err
	}
	if last := p.newest(); last != nil && !last.own && in.Operation == lifecycle.Instantiate {
		return lifecycle.Plan{}, &broker.Error{
			Kind: broker.ErrConflict, Detail: "release " + releaseName(in) + " exists in namespace " + in.Namespace +
				" and is not the instance's",
			Remedy: "see whose it is, or give another name (helm_release_name)",
		}
	}
	if err := p.goOn(); err != nil {
		return lifecycle.Plan{}, err
	}
	if p.parameters, err = parametersOf(in); err != nil {
		return lifecycle.Plan{}, err
	}
	switch in.Operation {
	case lifecycle.Instantiate, lifecycle.ChangePackage, lifecycle.ScaleVNF:
		err = p.revise(ctx)
	case lifecycle.Heal:
		err = p.heal(ctx)
	case lifecycle.Terminate:
		err = p.uninstall(ctx)
	default:
		err = &broker.Error{Kind: broker.ErrUnsupported, Detail: fmt.Sprintf("operation %s is not one of CNFs on Kubernetes", in.Operation)}
	}
	if err != nil {
		return lifecycle.Plan{}, err
	}
	return draft.Plan(), nil
}

// plan is a plan in the making.
type plan struct {
	*manifests.Draft

	driver     *Driver
	in         lifecycle.PlanInput
	parameters parameters
	records    []record
	// release is the one whose objects are the instance's; empty while it was not deployed. helmRan are the hooks that
	// Helm itself has run for it, by kind and name.
	release string
	helmRan map[string]bool
}

// newest is the last revision; nil if there is no release.
func (p *plan) newest() *record {
	if len(p.records) == 0 {
		return nil
	}
	return &p.records[len(p.records)-1]
}

// goOn has the plan go on from what Helm made of the release, if that has stood once as the instance's. Before that an
// object of a release of the same name is another's.
func (p *plan) goOn() error {
	if p.in.Operation == lifecycle.Instantiate || !slices.ContainsFunc(p.records, func(r record) bool {
		return r.own && slices.Contains([]string{deployed, superseded}, r.status())
	}) {
		return nil
	}
	p.release, p.helmRan = manifests.ReleaseOf(p.in.Namespace, releaseName(p.in)), map[string]bool{}
	p.Release(p.release)
	for i, r := range p.records {
		if p.marked(i) {
			continue
		}
		hooks, err := r.whole().hooks("")
		if err != nil {
			return err
		}
		for _, h := range hooks {
			p.helmRan[h.Kind+"/"+h.Name] = true
		}
	}
	return nil
}

// removeHooks plans to remove what hooks have left, also what Helm has run of them.
func (p *plan) removeHooks(ctx context.Context, all []lifecycle.Resource) error {
	var ours, helms []lifecycle.Resource
	for _, r := range all {
		if p.helmRan[r.Kind+"/"+r.Name] {
			helms = append(helms, r)
		} else {
			ours = append(ours, r)
		}
	}
	if err := p.Remove(ctx, ours); err != nil || len(helms) == 0 {
		return err
	}
	p.Release(manifests.HooksOf(p.release))
	defer p.Release(p.release)
	return p.Remove(ctx, helms)
}

// kind is the way in which a revision is made.
type kind struct{ pending, pre, post, done string }

func (p *plan) kind() kind {
	switch {
	case p.in.Undone != "":
		return kind{pendingRollback, "pre-rollback", "post-rollback", "Rollback complete"}
	case p.in.Operation == lifecycle.Instantiate:
		return kind{pendingInstall, "pre-install", "post-install", "Install complete"}
	}
	return kind{pendingUpgrade, "pre-upgrade", "post-upgrade", "Upgrade complete"}
}

// revise plans another revision: its record as pending, definitions, hooks, objects, the rest of the previous
// revision, hooks again, and the record as deployed.
func (p *plan) revise(ctx context.Context) error {
	made, files, err := p.target(ctx)
	if err != nil {
		return err
	}
	definitions, err := p.read(ctx, made.definitions, manifests.Marks{}) // before what is of their kinds
	if err != nil {
		return err
	}
	objects, err := p.read(ctx, files, p.marks())
	if err != nil {
		return err
	}
	if err := p.scales(objects); err != nil {
		return err
	}
	text, err := objects.YAML()
	if err != nil {
		return err
	}
	made.body["manifest"] = quoted(text)
	k := p.kind()
	return inTurn(
		func() error { return p.record(ctx, made.as(k.pending, "")) },
		func() error { return p.Apply(ctx, definitions) },
		func() error { return p.laterHooks(ctx, made) },
		func() error { return p.undoHooks(ctx) },
		func() error { return p.hooks(ctx, made, k.pre) },
		func() error { return p.Apply(ctx, objects) },
		func() error { return p.keepHooks(ctx, made) },
		func() error { p.keepRecords(made.version); return p.clear(ctx) },
		func() error { return p.hooks(ctx, made, k.post) },
		func() error { return p.overtake(ctx, made) },
		func() error { return p.record(ctx, made.as(deployed, k.done)) },
	)
}

// inTurn takes steps one after the other, up to one that fails.
func inTurn(steps ...func() error) error {
	for _, step := range steps {
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}

// target is the new revision, with its objects. If a previous attempt has recorded the revision, target is that
// record; if a previous revision is restored, target is a copy of it, and nothing is rendered.
func (p *plan) target(ctx context.Context) (made record, objects []lifecycle.Manifest, err error) {
	last, version := p.newest(), 1
	if last != nil {
		version = last.version + 1
	}
	base := p.before()
	switch {
	case last != nil && last.mark == p.in.Mark && p.marked(len(p.records)-1):
		made = *last
		if base == nil && !made.defined { // what recorded it had no room for the definitions
			answer, err := p.render(ctx, version)
			if err != nil {
				return made, nil, err
			}
			made.definitions = filesAs(answer.Definitions)
		}
		return made, made.objects(), nil
	case last != nil && last.pending() && !p.marked(len(p.records)-1):
		return made, nil, &broker.Error{
			Kind: broker.ErrConflict, Detail: "somebody else is at the release: its revision " + strconv.Itoa(last.version) + " is " + last.status(),
			Remedy: "wait until that has ended, or end it (helm rollback), and try again",
		}
	case base != nil:
		made, objects = record{body: maps.Clone(base.body), info: maps.Clone(base.info)}, base.objects()
		made.info["rollback_revision"] = json.RawMessage(strconv.Itoa(base.version))
	default:
		answer, err := p.render(ctx, version)
		if err != nil {
			return made, nil, err
		}
		made.body, made.info = map[string]json.RawMessage{}, map[string]json.RawMessage{}
		if json.Unmarshal(answer.Release, &made.body) != nil || json.Unmarshal(made.body["info"], &made.info) != nil {
			return made, nil, faultOf(strange)
		}
		objects, made.definitions = filesAs(answer.Objects), filesAs(answer.Definitions)
	}
	made.version, made.mark, made.defined = version, p.in.Mark, true
	made.body["version"] = json.RawMessage(strconv.Itoa(version))
	made.info["last_deployed"], _ = json.Marshal(time.Now().UTC())
	if last != nil && len(last.info["first_deployed"]) > 0 {
		made.info["first_deployed"] = last.info["first_deployed"]
	}
	return made, objects, nil
}

// render renders the chart as that revision. An operation that gives no values goes on with those of the deployed
// revision, also where Helm has set them.
func (p *plan) render(ctx context.Context, version int) (a chart.Rendering, err error) {
	stands := p.last(func(r record) bool { return r.status() == deployed })
	with := p.parameters
	if stands != nil && p.in.Kept {
		with.Values, with.Sets, with.Overlay = stands.body["config"], nil, chart.Overlay{Files: with.Overlay.Files}
	}
	request, err := p.driver.requestOf(ctx, p.in, with)
	if err != nil {
		return a, err
	}
	request.Revision, request.Upgrade = version, p.in.Operation != lifecycle.Instantiate
	if request.KubeVersion, request.APIVersions, err = p.Serves(ctx); err != nil {
		return a, err
	}
	a, err = p.answered(ctx, request)
	if err == nil && stands != nil && p.in.Operation == lifecycle.ScaleVNF {
		err = p.sameChart(*stands, a)
	}
	if err == nil && request.Upgrade && !p.parameters.NewSecrets {
		err = p.keepsSecrets(ctx, request, a)
	}
	return a, err
}

// sameChart refuses to scale to another chart than the one that stands: somebody has upgraded the release by Helm, and
// the package's chart would take that back.
func (p *plan) sameChart(stands record, a chart.Rendering) error {
	var made struct {
		Chart json.RawMessage `json:"chart"`
	}
	if json.Unmarshal(a.Release, &made) != nil {
		return faultOf(strange)
	}
	is, was := chartOf(made.Chart), chartOf(stands.body["chart"])
	if is == was || was == chartOf(nil) {
		return nil
	}
	return &broker.Error{
		Kind: broker.ErrConflict, Detail: "the release runs chart " + was + " by Helm, and the package has " + is,
		Remedy: "change the instance to a package that has the chart (vnf update); a change to the present one takes the upgrade back",
	}
}

// chartOf is the name and version of a chart.
func chartOf(text json.RawMessage) string {
	var c struct {
		Metadata struct {
			Name    string `json:"name"`
			Version string `json:"version"`
		} `json:"metadata"`
	}
	_ = json.Unmarshal(text, &c) // of what is no chart the name is empty
	return oneLine(c.Metadata.Name + " " + c.Metadata.Version)
}

// keepsSecrets refuses a revision that gives a Secret of the release another content each time it is rendered: its
// readers, such as a database, keep the previous content. Certificates may be made again.
func (p *plan) keepsSecrets(ctx context.Context, request chart.Task, a chart.Rendering) error {
	given := secretsOf(a.Objects)
	maps.DeleteFunc(given, func(name string, _ map[string]string) bool {
		return !slices.ContainsFunc(p.in.Standing, func(r lifecycle.Resource) bool {
			return looksUp(p.in, r) && r.Kind == "Secret" && r.Name == name
		})
	})
	if len(given) == 0 {
		return nil
	}
	again, err := p.answered(ctx, request)
	if err != nil {
		return err
	}
	second := secretsOf(again.Objects)
	for _, name := range slices.Sorted(maps.Keys(given)) {
		for key, value := range given[name] {
			if second[name][key] != value {
				return &broker.Error{
					Kind: broker.ErrConflict,
					Detail: "Secret " + p.in.Namespace + "/" + name +
						" would change: the chart makes up its content anew, and what uses it keeps the old one",
					Remedy: "change the package of the instance (vnf update) with the value in helm_values, or with helm_new_secrets to have it replaced",
				}
			}
		}
	}
	return nil
}

// secretsOf are the contents of Secrets among objects, by name and key, but for certificates.
func secretsOf(objects []chart.ChartFile) map[string]map[string]string {
	all := map[string]map[string]string{}
	for _, o := range objects {
		var s struct {
			Kind     string `json:"kind"`
			Type     string `json:"type"`
			Metadata struct {
				Name string `json:"name"`
			} `json:"metadata"`
			Data       map[string]string `json:"data"`
			StringData map[string]string `json:"stringData"`
		}
		if json.Unmarshal(o.Text, &s) != nil || s.Kind != "Secret" || s.Type == "kubernetes.io/tls" {
			continue
		}
		content := map[string]string{}
		for _, part := range []map[string]string{s.Data, s.StringData} {
			for key, value := range part {
				if !slices.Contains([]string{".crt", ".key", ".pem", ".p12", ".jks"}, path.Ext(key)) {
					content[key] = value
				}
			}
		}
		all[s.Metadata.Name] = content
	}
	return all
}

// maxLooks bounds the renderings of a chart whose lookups depend on earlier lookups.
const maxLooks = 4

// answered renders a chart, and again with the existing objects of its release that the chart looks
// up.
func (p *plan) answered(ctx context.Context, request chart.Task) (a chart.Rendering, err error) {
	known := map[chart.Lookup]bool{}
	defer func() {
		for _, f := range request.Found {
			clear(f.Object)
		}
	}()
	for range maxLooks {
		var says error
		if a, says = p.driver.render(ctx, p.in.Project, request); says != nil && len(a.Asked) == 0 {
			return a, says
		}
		more := false
		for _, l := range a.Asked {
			if known[l] {
				continue
			}
			known[l] = true
			object, err := p.look(ctx, l)
			if err != nil {
				return a, err
			}
			if object != nil {
				request.Found, more = append(request.Found, chart.LookedUp{Lookup: l, Object: object}), true
			}
		}
		if !more {
			return a, says
		}
	}
	return a, faultOf("it looks up what depends on what it looks up, over and over")
}

// look is an object of the release that the chart looks up, or nil.
func (p *plan) look(ctx context.Context, l chart.Lookup) (json.RawMessage, error) {
	for _, r := range p.in.Standing {
		if looksUp(p.in, r) && l.APIVersion == r.Version && l.Kind == r.Kind && l.Name == r.Name &&
			(l.Namespace == "" || l.Namespace == r.Namespace) {
			return p.Standing(ctx, r)
		}
	}
	return nil, nil
}

// marked reports whether a revision was made here, for the operation that its mark names. Somebody else's Helm takes
// labels over from the revision before.
func (p *plan) marked(at int) bool {
	r := p.records[at]
	return r.own && r.mark != "" && !slices.ContainsFunc(p.records[:at], func(before record) bool { return before.mark == r.mark })
}

// before is the revision that a rollback goes back to: the last that stood before what it undoes. Nil where this is
// no rollback, or nothing was recorded of what it undoes.
func (p *plan) before() *record {
	if p.in.Undone == "" {
		return nil
	}
	return p.last(func(r record) bool {
		return r.mark != p.in.Undone && r.mark != p.in.Mark && (r.status() == deployed || r.status() == superseded)
	})
}

// last is the last revision that is so, whole; nil where none is.
func (p *plan) last(is func(record) bool) *record {
	for _, r := range slices.Backward(p.records) {
		if is(r) {
			r = r.whole()
			return &r
		}
	}
	return nil
}

// overtake plans to write the records that a new revision puts into another state.
func (p *plan) overtake(ctx context.Context, made record) error {
	for i, r := range p.records {
		next := i == len(p.records)-1 || p.records[i+1].version >= made.version
		status := ""
		switch {
		case r.version >= made.version || r.version <= made.version-history:
		case r.status() == deployed || next && r.status() == superseded:
			status = superseded
		case r.pending() || next && r.status() == failed:
			status = failed
		}
		if status == "" {
			continue
		}
		r, says := r.whole(), "Given up"
		if status == superseded {
			says = r.text(r.info, "description")
		}
		if err := p.record(ctx, r.as(status, says)); err != nil {
			return err
		}
	}
	return nil
}

// marks are those that Helm puts onto its objects.
func (p *plan) marks() manifests.Marks {
	return manifests.Marks{
		Labels:      map[string]string{"app.kubernetes.io/managed-by": "Helm"},
		Annotations: manifests.ReleaseAnnotations(p.in.Namespace, releaseName(p.in)),
		Release:     releaseName(p.in),
	}
}

// scales refuses to scale what no value and no workload of the chart is the number of.
func (p *plan) scales(objects manifests.Objects) error {
	counted := p.parameters.replicas(p.in)
	for _, vdu := range p.in.Scaled {
		if counted[vdu] == "" && !slices.ContainsFunc(objects.Resources(), func(r lifecycle.Resource) bool { return r.VDU == vdu }) {
			return &broker.Error{
				Kind:   broker.ErrInvalid,
				Detail: fmt.Sprintf("VDU %s cannot be scaled: no workload of the chart has its name, and helm_value_names names no value for it", vdu),
			}
		}
	}
	return nil
}

// record plans to write a record.
func (p *plan) record(ctx context.Context, r record) error {
	written, err := r.written(p.in)
	if err != nil {
		return err
	}
	objects, err := p.Read(ctx, []lifecycle.Manifest{written}, r.marks())
	if err != nil {
		return err
	}
	return p.Apply(ctx, objects)
}

// read reads what a chart or a record gives. It refuses records of releases: a later operation would take one for a
// record of this driver, and apply objects that no policy has seen as the chart's.
func (p *plan) read(ctx context.Context, files []lifecycle.Manifest, marks manifests.Marks) (manifests.Objects, error) {
	objects, err := p.Read(ctx, files, marks)
	if err != nil {
		return manifests.Objects{}, err
	}
	for _, r := range objects.Resources() {
		if r.Kind == "Secret" && r.Group == "" && strings.HasPrefix(r.Name, recordPrefix) {
			return manifests.Objects{}, faultOf("it gives a Secret whose name begins with " + recordPrefix +
				", which is for the records of releases")
		}
	}
	return objects, nil
}

// hooks plans to run the hooks of an event, one after the other, each to its end. One with the policy hook-succeeded
// goes when all have run; one that failed stays, whatever its policy, until it is run again or the instance goes.
func (p *plan) hooks(ctx context.Context, r record, event string) error {
	all, err := r.hooks(event)
	if err != nil {
		return err
	}
	var passing []lifecycle.Resource
	for _, h := range all {
		objects, err := p.read(ctx, h.manifest(), manifests.Marks{})
		if err != nil {
			return err
		}
		if len(h.Policies) == 0 || slices.Contains(h.Policies, "before-hook-creation") {
			if err := p.removeHooks(ctx, objects.Resources()); err != nil {
				return err
			}
		}
		run := p.Apply
		if slices.Contains(h.Policies, "hook-succeeded") {
			run, passing = p.ApplyPassing, append(objects.Resources(), passing...)
		}
		if err := run(ctx, objects); err != nil {
			return err
		}
	}
	return p.Remove(ctx, passing)
}

// laterHooks refuses hooks that could not be run when their event comes: an instance that they are in the way of could
// not be terminated.
func (p *plan) laterHooks(ctx context.Context, r record) error {
	all, err := r.hooks("")
	if err != nil {
		return err
	}
	for _, h := range all {
		if _, err := p.read(ctx, h.manifest(), manifests.Marks{}); errors.Is(err, broker.ErrInvalid) {
			return err
		}
	}
	return nil
}

// undoHooks plans to remove what hooks with the policy hook-succeeded have left of the revision that a rollback undoes:
// they succeeded, and a later one did not.
func (p *plan) undoHooks(ctx context.Context) error {
	for _, r := range p.records {
		if p.in.Undone == "" || r.mark != p.in.Undone {
			continue
		}
		passing, err := p.hookResources(ctx, r.whole(), "hook-succeeded")
		if err != nil {
			return err
		}
		if err := p.removeHooks(ctx, passing); err != nil {
			return err
		}
	}
	return nil
}

// hookResources are the resources of hooks on the cluster, as far as it still knows them; only of those with a policy,
// where one is given.
func (p *plan) hookResources(ctx context.Context, r record, policy string) (all []lifecycle.Resource, err error) {
	hooks, err := r.hooks("")
	if err != nil {
		return nil, err
	}
	for _, h := range hooks {
		if policy != "" && !slices.Contains(h.Policies, policy) {
			continue
		}
		objects, err := p.Read(ctx, h.manifest(), manifests.Marks{})
		if err != nil && !notServed(err) {
			return nil, err
		}
		all = append(all, objects.Resources()...)
	}
	return all, nil
}

// notServed reports whether what a record holds cannot be on the cluster any more.
func notServed(err error) bool {
	return errors.Is(err, broker.ErrUnsupported) || errors.Is(err, broker.ErrInvalid)
}

// keepHooks has the instance keep what hooks of events before have left: Helm removes it neither.
func (p *plan) keepHooks(ctx context.Context, r record) error {
	all, err := p.hookResources(ctx, r, "")
	for _, of := range all {
		if holds(p.in.Standing, of) {
			p.Keep(of)
		}
	}
	return err
}

// keepRecords has the instance keep the records that Helm would keep.
func (p *plan) keepRecords(newest int) {
	for _, r := range p.records {
		if r.version > newest-history {
			p.Keep(manifests.SecretNamed(p.in.Namespace, recordName(p.in, r.version)))
		}
	}
}

// clear plans to remove what stands and is not of the plan, but for what outlives the instance.
func (p *plan) clear(ctx context.Context) error { return p.Remove(ctx, p.left()) }

// left is what stands and is not of the plan. What of it outlives the instance is kept.
func (p *plan) left() []lifecycle.Resource {
	left := p.Left()
	for _, r := range left {
		if r.Outlives {
			p.Keep(r)
		}
	}
	return left
}

// heal plans to restore the objects of the release, and to replace VNFCs. It makes no revision, unless the record of
// the last one is gone.
func (p *plan) heal(ctx context.Context) error {
	last := p.last(func(r record) bool { return r.status() == deployed })
	if p.in.Tests && last != nil {
		for _, r := range p.in.Standing {
			p.Keep(r)
		}
		return p.hooks(ctx, *last, "test")
	}
	newest := 0
	for _, v := range versions(p.in) {
		if slices.ContainsFunc(p.in.Standing, func(r lifecycle.Resource) bool { return r.Name == recordName(p.in, v) }) {
			newest = v
		}
	}
	if at := p.newest(); last == nil || at.version < newest || at.mark == p.in.Mark && p.marked(len(p.records)-1) {
		if err := p.revise(ctx); err != nil {
			return err
		}
		return p.Replace()
	}
	objects, err := p.read(ctx, last.objects(), p.marks())
	if err != nil {
		return err
	}
	p.keepRecords(p.newest().version)
	if err := p.Apply(ctx, objects); err != nil {
		return err
	}
	if err := p.keepHooks(ctx, *last); err != nil {
		return err
	}
	p.left()
	return p.Replace()
}

// uninstall plans to remove the release: hooks, its objects, hooks again, the objects that those left, and its
// records.
func (p *plan) uninstall(ctx context.Context) error {
	all, later := slices.Clone(p.in.Standing), []lifecycle.Resource(nil)
	last := p.newest()
	for _, r := range p.records {
		later = append(later, manifests.SecretNamed(p.in.Namespace, recordName(p.in, r.version)))
		hooked, err := p.hookResources(ctx, r.whole(), "") // of every revision: one that failed may have left some
		if err != nil {
			return err
		}
		later = append(later, hooked...)
	}
	if last != nil {
		if err := p.hooks(ctx, *last, "pre-delete"); err != nil {
			return err
		}
		// Somebody else may have changed the release: what it holds beside is the instance's where its label says so.
		objects, err := p.Read(ctx, last.objects(), p.marks())
		if err != nil && !notServed(err) {
			return err
		}
		all = append(all, objects.Resources()...)
	}
	all, later = unlike(all, later), unlike(later, nil)
	if err := p.Remove(ctx, all); err != nil {
		return err
	}
	if last != nil {
		if err := p.hooks(ctx, *last, "post-delete"); err != nil {
			return err
		}
	}
	return p.removeHooks(ctx, later)
}

// unlike are those of all that are not among others, each once.
func unlike(all, others []lifecycle.Resource) (out []lifecycle.Resource) {
	for _, r := range all {
		if !holds(others, r) && !holds(out, r) {
			out = append(out, r)
		}
	}
	return out
}

// holds reports whether an object is among others.
func holds(all []lifecycle.Resource, r lifecycle.Resource) bool {
	return slices.ContainsFunc(all, func(o lifecycle.Resource) bool {
		return o.Group == r.Group && o.Kind == r.Kind && o.Namespace == r.Namespace && o.Name == r.Name
	})
}

func filesAs(files []chart.ChartFile) []lifecycle.Manifest {
	var all []lifecycle.Manifest
	for _, f := range files {
		all = append(all, lifecycle.Manifest{Path: oneLine(f.Path), Text: secret.NewText(string(f.Text))})
	}
	return all
}

// oneLine is the path of a file of a chart as errors and the record's comments hold it. Charts and records choose it: a
// line of its own would be read as more of the manifest.
func oneLine(path string) string {
	path = strings.Map(func(r rune) rune {
		if r < ' ' || r > '~' {
			return '?'
		}
		return r
	}, path)
	return path[:min(len(path), 200)]
}
