package server

import (
	"maps"
	"reflect"
	"slices"

	"github.com/vimbroker/vimbroker/broker/strictyaml"
	"github.com/vimbroker/vimbroker/policy/egress"
)

// projectRules are the egress rules of all projects.
type projectRules struct {
	all *egress.Rules
	own map[string]*egress.Rules // by project
}

// of returns a project's rules; the same project gets the same pointer every
// time, because drivers keep connections by it.
func (r *projectRules) of(project string) *egress.Rules {
	if rules, ok := r.own[project]; ok {
		return rules
	}
	return r.all
}

// keep takes over the previous rules that are unchanged, so that connections
// under them continue.
func (r *projectRules) keep(before *projectRules) {
	if reflect.DeepEqual(r.all, before.all) {
		r.all = before.all
	}
	for project, rules := range r.own {
		if old := before.of(project); reflect.DeepEqual(rules, old) {
			r.own[project] = old
		}
	}
}

// egressRules makes rules of the configuration's strings; it notes every fault.
func (c *config) egressRules(d *strictyaml.Document) *projectRules {
	all, err := c.Egress.rules()
	if err != nil {
		d.Fault(nil, "egress", "%v", err)
	}
	r := &projectRules{all: all, own: make(map[string]*egress.Rules)}
	for _, project := range slices.Sorted(maps.Keys(c.Projects)) {
		rules, err := c.Projects[project].rules()
		if err != nil {
			d.Fault(nil, "egress.projects."+strictyaml.Printable(project), "%v", err)
		}
		r.own[project] = rules
	}
	return r
}

func (e egressConfig) rules() (*egress.Rules, error) {
	return egress.Parse(e.AllowLoopback, e.Networks, e.Ports)
}
