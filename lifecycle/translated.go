package lifecycle

import (
	"path"
	"slices"
	"strings"

	"github.com/vimbroker/vimbroker/lifecycle/vnfpkg"
)

// translatedFile is the path of the manifests that a descriptor is translated to. The package holds no such file.
const translatedFile = "Files/kubernetes/translated.yaml"

// Translates reports whether instances of a flavour are made on Kubernetes from the descriptor: it describes containers, and
// the package has neither manifests nor a chart.
func (p PackageView) Translates(flavour string) bool {
	return p.Translate != nil && p.VNFD.Flavours[flavour].Containers && !slices.ContainsFunc(p.Paths, func(name string) bool {
		return strings.HasPrefix(name, path.Dir(translatedFile)+"/") || path.Base(name) == "Chart.yaml" || path.Ext(name) == ".tgz"
	})
}

// translated is the package with the manifests of a flavour among its files, where the flavour is translated.
func (p PackageView) translated(flavour string, inputs map[string]string, loose bool) PackageView {
	if files := p.Read; p.Translates(flavour) {
		p.Paths = slices.Sorted(slices.Values(append(slices.Clone(p.Paths), translatedFile)))
		p.Read = func(paths []string) ([]Manifest, error) {
			if !slices.Equal(paths, []string{translatedFile}) {
				return files(paths)
			}
			text, err := p.Translate(flavour, inputs, loose)
			return []Manifest{{translatedFile, text}}, err
		}
	}
	return p
}

// unmade is a flavour without the connection points that a translation makes.
func (p PackageView) unmade(f vnfpkg.Flavour) vnfpkg.Flavour {
	if p.Translates(f.ID) {
		f.Networks = slices.DeleteFunc(slices.Clone(f.Networks), func(s string) bool { return !strings.HasPrefix(s, "VnfVirtualLink ") })
	}
	return f
}
