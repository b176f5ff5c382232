package files

import (
	"go.yaml.in/yaml/v3"

	"github.com/vimbroker/vimbroker/broker/api/v1"
	"github.com/vimbroker/vimbroker/broker/strictyaml"
)

// Placements reads a list of placements, with the keys that the REST API has.
func Placements(file string, text []byte) ([]v1.Placement, error) {
	d := &strictyaml.Document{Name: file}
	root := d.Parse(text)
	if root == nil {
		return nil, d.Err()
	}
	all := []v1.Placement{}
	d.List(root, "", func(n *yaml.Node, at string) {
		var p v1.Placement
		d.Mapping(n, at, strictyaml.Fields{
			"vnfd": d.Text(&p.VNFD), "instance": d.Text(&p.Instance), "parameters": Words(d, &p.Parameters),
			"vim": d.Text(&p.VIM), "role": d.Text(&p.Role), "namespaces": d.Texts(&p.Namespaces), "clusterWide": d.Flag(&p.ClusterWide),
			"ttl": d.Text(&p.TTL), "grade": d.Text(&p.Grade), "profile": d.Text(&p.Profile), "zone": d.Text(&p.Zone),
			"flavours": Words(d, &p.Flavours), "images": Words(d, &p.Images),
			"rules": func(n *yaml.Node, at string) {
				d.List(n, at, func(n *yaml.Node, at string) {
					var r v1.Rule
					d.Mapping(n, at, strictyaml.Fields{
						"apiGroups": d.Texts(&r.APIGroups), "resources": d.Texts(&r.Resources),
						"resourceNames": d.Texts(&r.ResourceNames), "verbs": d.Texts(&r.Verbs),
					})
					p.Rules = append(p.Rules, r)
				})
			},
		})
		all = append(all, p)
	})
	return all, d.Err()
}

// Words reads a mapping from names to texts.
func Words(d *strictyaml.Document, to *map[string]string) strictyaml.ReadValue {
	return func(n *yaml.Node, at string) {
		*to = map[string]string{}
		d.Pairs(n, at, func(key, value *yaml.Node, path string) {
			var text string
			d.Text(&text)(value, path)
			(*to)[key.Value] = text
		})
	}
}
