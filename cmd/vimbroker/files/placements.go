package files

import (
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
	Listed(d, &all, placementFields)(root, "")
	return all, d.Err()
}

func placementFields(p *v1.Placement, d *strictyaml.Document) strictyaml.Fields {
	return strictyaml.Fields{
		"vnfd": d.Text(&p.VNFD), "instance": d.Text(&p.Instance), "parameters": Words(d, &p.Parameters),
		"vim": d.Text(&p.VIM), "role": d.Text(&p.Role), "namespaces": d.Texts(&p.Namespaces), "clusterWide": d.Flag(&p.ClusterWide),
		"ttl": d.Text(&p.TTL), "grade": d.Text(&p.Grade), "profile": d.Text(&p.Profile), "zone": d.Text(&p.Zone),
		"flavours": Words(d, &p.Flavours), "images": Words(d, &p.Images), "links": Words(d, &p.Links), "managedLinks": Words(d, &p.ManagedLinks),
		"rules": Listed(d, &p.Rules, func(r *v1.Rule, d *strictyaml.Document) strictyaml.Fields {
			return strictyaml.Fields{
				"apiGroups": d.Texts(&r.APIGroups), "resources": d.Texts(&r.Resources),
				"resourceNames": d.Texts(&r.ResourceNames), "verbs": d.Texts(&r.Verbs),
			}
		}),
	}
}
