// Package helm makes, observes and removes CNFs that are Helm charts on Kubernetes: one release for each instance,
// vnfID (the first digits of its id), which Helm itself can list and upgrade. It implements [lifecycle.Driver].
//
// A chart is rendered once for an operation, by a program of its own that can do nothing else (package render). The
// result is written into the release's record before any object is made, and an interrupted operation resumes from
// the record: a chart with random values gives one result. Nothing rendered is stored by the broker.
//
// The objects on the cluster are made, waited for and removed like the objects of manifests (package manifests),
// under the field manager "helm". The record is a Secret as Helm's own storage writes it, one for each revision, and
// an object of the plan like all others: the lease of a stage names it.
package helm

import (
	"context"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/broker/api/limit"
	"github.com/vimbroker/vimbroker/drivers/helm/pull"
	"github.com/vimbroker/vimbroker/drivers/manifests"
	"github.com/vimbroker/vimbroker/lifecycle"
)

var _ lifecycle.Driver = (*Driver)(nil)

// rendersAtOnce bounds the programs that render at one time, because each can take as much memory as its bound allows;
// rendersOfProject are one project's.
const rendersAtOnce, rendersOfProject = 2, 1

// Driver implements [lifecycle.Driver] for charts. How it runs and observes is as package manifests does.
type Driver struct {
	*manifests.Driver

	options Options
	puller  *pull.Puller
	seats   *limit.Seats
}

// Options say how charts are had and rendered.
type Options struct {
	// Program renders charts, with these arguments: cmd/vimbroker-helm.
	Program []string
	// Pull says how registries and repositories are met.
	Pull pull.Options
	// KeyringFile holds the keys (OpenPGP) that sign charts which no digest pins; empty: there have to be digests. It is
	// read for each of them.
	KeyringFile string
}

// New returns a driver.
func New(o Options) *Driver {
	return &Driver{
		Driver: manifests.As("helm"), options: o, puller: pull.New(o.Pull), seats: limit.NewSeats(rendersAtOnce, rendersOfProject),
	}
}

// Name implements [lifecycle.Driver].
func (*Driver) Name() string { return "helm" }

// releaseDigits are how many digits of an instance's id its release is named by: charts make names of it, and the
// longest of those are not to become longer than a label.
const releaseDigits = 12

// releaseName is that of an instance's release: the request's, or one of the instance's id. Two instances of one name in
// one namespace are a conflict: no record is another instance's.
func releaseName(in lifecycle.PlanInput) string {
	if in.Release != "" {
		return in.Release
	}
	return "vnf" + strings.ReplaceAll(in.Instance, "-", "")[:releaseDigits]
}

// maxNames bounds the names of one rule, maxSurveyed the rules of the lease that plans are made under.
const maxNames, maxSurveyed = 64, 32

// chartFile is the file that makes a folder a chart.
const chartFile = "Chart.yaml"

// Basis implements [lifecycle.Driver]: the packed chart or the chart's folder that the request names, or else the
// package's only one, where no manifests lie beside it. Without any it is [broker.ErrUnsupported]. A chart at a registry
// or a repository takes no file of the package.
func (d *Driver) Basis(s lifecycle.Source) (lifecycle.Basis, error) {
	const field = pull.Field
	b := lifecycle.Basis{Namespace: s.Namespace, SecretParameters: true}
	if b.Namespace == "" {
		b.Namespace = "default"
	}
	if s.Release != "" && !manifests.IsRelease(s.Release) {
		return b, broker.Invalid("additionalParams.helm_release_name", "must be a name of at most 53 lower-case letters, digits, dots and dashes")
	}
	if s.Ordered && (len(charts(s.Paths)) > 0 || len(s.Named) == 1 && pull.Is(s.Named[0])) {
		return b, broker.Invalid("additionalParams.order", "is of manifests; a chart orders its objects by their kinds and by hooks")
	}
	if len(s.Named) == 1 && pull.Is(s.Named[0]) {
		_, err := d.reference(s.Named[0])
		return b, err
	}
	if len(s.Given) > 0 && len(charts(s.Paths)) > 0 {
		return b, broker.Invalid("additionalParams.variables", "are of manifests; a chart takes helm_values")
	}
	if len(s.Named) > 0 {
		if b.Files = filesOf(s.Named[0], s.Paths); len(s.Named) > 1 || len(b.Files) == 0 {
			return b, &broker.Error{
				Kind: broker.ErrUnsupported, Field: field,
				Detail: "names no chart of the package: neither a packed one (.tgz) nor a folder with a " + chartFile,
			}
		}
		return b, nil
	}
	roots := charts(s.Paths)
	if len(roots) == 0 {
		return b, &broker.Error{Kind: broker.ErrUnsupported, Field: field, Detail: "the package holds no chart"}
	}
	b.Files = filesOf(roots[0], s.Paths)
	for _, p := range s.Paths {
		if len(roots) > 1 || strings.HasPrefix(p, "Files/kubernetes/") && !slices.Contains(b.Files, p) {
			return b, broker.Invalid(field, "is missing, and the package holds several charts, or manifests beside a chart: name the chart")
		}
	}
	return b, nil
}

// reference reads what names a chart outside of the package. It has to be pinned.
func (d *Driver) reference(s string) (pull.Reference, error) {
	r, err := pull.Parse(s)
	if err != nil {
		return r, broker.Invalid(pull.Field, "%v", err)
	}
	if r.Digest == "" && d.options.KeyringFile == "" {
		return r, &broker.Error{
			Kind: broker.ErrInvalid, Field: pull.Field, Detail: "must pin the chart by its digest: the server has no keys to know a signed one by",
			Remedy: "add @sha256: and the digest, or have an administrator give the server a keyring (charts.keyringFile)",
		}
	}
	return r, nil
}

// charts are the packed charts and charts' folders of a package, without those within others.
func charts(paths []string) (roots []string) {
	for _, p := range paths {
		if path.Base(p) == chartFile {
			roots = append(roots, path.Dir(p))
		} else if path.Ext(p) == ".tgz" {
			roots = append(roots, p)
		}
	}
	return slices.DeleteFunc(slices.Clone(roots), func(r string) bool {
		return slices.ContainsFunc(roots, func(other string) bool { return strings.HasPrefix(r, other+"/") })
	})
}

// filesOf are the files of one chart; none if there is no chart.
func filesOf(root string, paths []string) (files []string) {
	root = strings.TrimSuffix(root, "/")
	if path.Ext(root) == ".tgz" && slices.Contains(paths, root) {
		return []string{root}
	}
	if !slices.Contains(paths, root+"/"+chartFile) {
		return nil
	}
	for _, p := range paths {
		if strings.HasPrefix(p, root+"/") {
			files = append(files, p)
		}
	}
	return files
}

// looksUp reports whether a chart may look an object of its release up: what tells a chart what it made before.
func looksUp(in lifecycle.PlanInput, r lifecycle.Resource) bool {
	return r.Group == "" && (r.Kind == "Secret" || r.Kind == "ConfigMap") && r.Namespace == in.Namespace &&
		!strings.HasPrefix(r.Name, recordPrefix)
}

// Survey implements [lifecycle.Driver]: the records of the release are read, by their names, and where a chart is
// rendered again its Secrets and ConfigMaps, which it may look up.
func (d *Driver) Survey(in lifecycle.PlanInput) lifecycle.StageRules {
	if slices.Contains(in.Gone, in.Namespace) { // and the records with it
		return d.Driver.Survey(in)
	}
	rule := broker.Rule{APIGroups: []string{""}, Resources: []string{"secrets"}, Verbs: []string{"get"}}
	for _, v := range versions(in) {
		rule.ResourceNames = append(rule.ResourceNames, recordName(in, v))
	}
	rules := []broker.Rule{rule, manifests.NamespaceRule(in.Namespace)}
	names := map[string][]string{}
	for _, r := range in.Standing {
		if looksUp(in, r) && in.Operation != lifecycle.Terminate {
			names[r.Plural] = append(names[r.Plural], r.Name)
		}
	}
	for _, plural := range slices.Sorted(maps.Keys(names)) {
		slices.Sort(names[plural])
		for some := range slices.Chunk(names[plural], maxNames) {
			rules = append(rules, broker.Rule{APIGroups: []string{""}, Resources: []string{plural}, ResourceNames: some, Verbs: []string{"get"}})
		}
	}
	return lifecycle.StageRules{Namespaces: []string{in.Namespace}, Rules: rules[:min(len(rules), maxSurveyed)]}
}

// Observe implements [lifecycle.Driver]: what Helm has made of a release that was deployed for the instance is the
// instance's.
func (d *Driver) Observe(
	ctx context.Context, c lifecycle.Connection, instance string, resources []lifecycle.Resource,
) ([]lifecycle.Observation, error) {
	release, looked := "", slices.Clone(resources)
	for _, r := range resources {
		name, is := strings.CutPrefix(r.Name, recordPrefix)
		if at := strings.LastIndex(name, ".v"); is && at > 0 && r.Kind == "Secret" && r.Group == "" && r.UID != "" {
			release = manifests.ReleaseOf(r.Namespace, name[:at])
		}
	}
	for i := range looked {
		looked[i].Release = release
	}
	return d.Driver.Observe(ctx, c, instance, looked)
}

// Networks implements [lifecycle.Networker]: a chart brings its networks, and takes none of others.
func (*Driver) Networks(lifecycle.Source) (made, taken map[string]bool, err error) {
	return nil, nil, nil
}
