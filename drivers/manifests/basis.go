package manifests

import (
	"cmp"
	"path"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/lifecycle"
	"github.com/vimbroker/vimbroker/lifecycle/vnfpkg"
)

// folder is the folder of a package's manifests, if a request names none.
const folder = "Files/kubernetes/"

// Basis implements [lifecycle.Driver]: the manifests that the request names, in its order, or else all under
// Files/kubernetes in the order of their paths. Files of a Helm chart are [broker.ErrUnsupported]. Secret are the
// variables that the manifests, or their own names, mark as secret.
func (*Driver) Basis(s lifecycle.Source) (lifecycle.Basis, error) {
	const field = "additionalParams.lcm-kubernetes-def-files"
	b := lifecycle.Basis{Files: s.Named, Namespace: cmp.Or(s.Namespace, defaultNamespace)}
	if len(validation.IsDNS1123Label(b.Namespace)) > 0 {
		return b, broker.Invalid("additionalParams.namespace", "is not the name of a namespace")
	}
	if len(b.Files) == 0 {
		for _, p := range s.Paths {
			if strings.HasPrefix(p, folder) {
				b.Files = append(b.Files, p)
			}
		}
		if terraform := slices.IndexFunc(s.Paths, func(p string) bool { return path.Ext(p) == ".tf" }); len(b.Files) == 0 && terraform >= 0 {
			return b, broker.Invalid(field, "the package is one of Terraform (%s), which is not run here; put manifests or a chart into it",
				vnfpkg.Printable(s.Paths[terraform]))
		}
		if len(b.Files) == 0 {
			return b, broker.Invalid(field, "the package holds nothing under %s; name the manifests", strings.TrimSuffix(folder, "/"))
		}
	}
	for _, name := range b.Files {
		if ofChart(name) {
			return b, &broker.Error{
				Kind: broker.ErrUnsupported, Field: field, Detail: vnfpkg.Printable(name) + " is of a Helm chart, and is no manifest",
				Remedy: "name the chart in additionalParams.helm_chart_path",
			}
		}
		if _, has := slices.BinarySearch(s.Paths, name); !has {
			return b, broker.Invalid(field, "names a file that is not in the package: %s", cmp.Or(vnfpkg.Printable(name), "it has no name"))
		}
	}
	if s.Release != "" {
		return b, broker.Invalid("additionalParams.helm_release_name", "names the release of a chart, and the instance is made from manifests")
	}
	if s.Parameters {
		return b, broker.Invalid("additionalParams", "holds values of a chart or of a base HOT, and the instance is made from manifests: "+
			"give variables, or name the chart in helm_chart_path")
	}
	if len(s.Given) == 0 || s.Read == nil {
		return b, nil
	}
	files, err := s.Read(b.Files)
	b.Secret = concealed(s.Given, files)
	return b, err
}

// ofChart reports whether a file says that it is a Helm chart, or a packed one.
func ofChart(name string) bool {
	return path.Base(name) == "Chart.yaml" || path.Ext(name) == ".tgz"
}
