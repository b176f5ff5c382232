package manifests

import (
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/vimbroker/vimbroker/lifecycle"
	"github.com/vimbroker/vimbroker/lifecycle/vnfpkg"
)

var _ lifecycle.Divider = (*Driver)(nil)

// partOf is the name that an object gives its part. No variable stands in it.
func partOf(object *yaml.Node) string {
	return scalarOf(child(child(object, "metadata"), "annotations"), partAnnotation)
}

// ofPart are the objects that are of the part that is planned.
func ofPart(in lifecycle.PlanInput, all []*object) (mine []*object, err error) {
	for _, o := range all {
		said := partOf(o.root)
		part, known := in.Parts[said]
		if !known && said != "" {
			return nil, o.fault(child(child(o.root, "metadata"), "annotations"), "%s is of part %s, and vimConnectionInfo has no VIM of Kubernetes "+
				"with that key; give the VIM of the part by it", o.titleIn(), vnfpkg.Printable(said))
		}
		if part == in.Part {
			mine = append(mine, o)
		}
	}
	return mine, nil
}

// Divide implements [lifecycle.Divider].
func (d *Driver) Divide(s lifecycle.Source) (map[string]map[string]bool, error) {
	b, err := d.Basis(s)
	if err != nil {
		return nil, err
	}
	files, err := s.Read(b.Files)
	if err != nil {
		return nil, err
	}
	all := map[string]map[string]bool{}
	return all, documents(files, func(d document) error {
		if !d.isOrder() {
			walkObjects(d.root, func(object *yaml.Node) {
				part := partOf(object)
				if all[part] == nil {
					all[part] = map[string]bool{}
				}
				networksIn(object, all[part])
			})
		}
		return nil
	})
}

// networksIn adds the networks that pods in a node name.
func networksIn(n *yaml.Node, to map[string]bool) {
	if said := scalarOf(n, networksAnnotation); said != "" {
		for _, name := range podNetworks(said) {
			to[name[strings.LastIndex(name, "/")+1:]] = true
		}
	}
	for _, c := range n.Content {
		networksIn(c, to)
	}
}
