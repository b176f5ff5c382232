package vnfpkg

import (
	"errors"
	"slices"

	"go.yaml.in/yaml/v3"
)

// maxInstances bounds every number of instances and levels that a descriptor may name.
const maxInstances = 100_000

// policy is one entry of a topology's policies.
type policy struct {
	Type       string    `yaml:"type"`
	Properties yaml.Node `yaml:"properties"`
	Targets    []string  `yaml:"targets"`
}

type count struct {
	Number int `yaml:"number_of_instances"`
}

// scaling reads the policies that say how a flavour scales. Their order does not matter.
func scaling(f definitions, fl *Flavour) error {
	policies, err := policiesOf(f)
	if err != nil {
		return err
	}
	for _, kind := range []string{typeAspects, typeDeltas, typeInitial, typeLevels, typeVDULevels} {
		for _, p := range policies {
			if p.Type != kind {
				continue
			}
			if err := readers[kind](p, fl); err != nil {
				return fault(f.path, "has a policy of type %s in line %d that cannot be read", kind, p.Properties.Line)
			}
			for _, t := range p.Targets {
				if _, ok := fl.VDUs[t]; !ok && kind != typeAspects && kind != typeLevels {
					return fault(f.path, "has a policy of type %s in line %d for %s, which is no VDU of flavour %s", kind,
						p.Properties.Line, Printable(t), fl.ID)
				}
			}
		}
	}
	return complete(f, fl)
}

func policiesOf(f definitions) ([]policy, error) {
	var found []policy
	read := func(n *yaml.Node) error {
		named := map[string]policy{}
		if err := n.Decode(&named); err != nil {
			return fault(f.path, "has policies in line %d that cannot be read", n.Line)
		}
		for i := 0; i+1 < len(n.Content); i += 2 {
			found = append(found, named[n.Content[i].Value])
		}
		return nil
	}
	n := &f.Topology.Policies
	if n.Kind == yaml.MappingNode {
		return found, read(n)
	}
	for _, item := range n.Content {
		if err := read(item); err != nil {
			return nil, err
		}
	}
	return found, nil
}

var readers = map[string]func(policy, *Flavour) error{
	typeAspects: readAspects, typeDeltas: readDeltas, typeInitial: readInitial, typeLevels: readLevels, typeVDULevels: readVDULevels,
}

func readAspects(p policy, fl *Flavour) error {
	var read struct {
		Aspects map[string]struct {
			Name        string   `yaml:"name"`
			Description string   `yaml:"description"`
			Max         int      `yaml:"max_scale_level"`
			Steps       []string `yaml:"step_deltas"`
		} `yaml:"aspects"`
	}
	if err := p.Properties.Decode(&read); err != nil {
		return err
	}
	for id, a := range read.Aspects {
		fl.Aspects[id] = Aspect{ID: id, Name: a.Name, Description: a.Description, MaxLevel: a.Max, Deltas: map[string]int{}}
		if len(a.Steps) > 0 {
			fl.steps[id] = a.Steps[0]
		}
	}
	return nil
}

// readDeltas takes the first step of an aspect for each of its steps.
func readDeltas(p policy, fl *Flavour) error {
	var read struct {
		Aspect string           `yaml:"aspect"`
		Deltas map[string]count `yaml:"deltas"`
	}
	if err := p.Properties.Decode(&read); err != nil {
		return err
	}
	a, ok := fl.Aspects[read.Aspect]
	delta, known := read.Deltas[fl.steps[read.Aspect]]
	if !ok || !known {
		return errors.New("deltas of an aspect, or of a step, that is not described")
	}
	for _, t := range p.Targets {
		a.Deltas[t] = delta.Number
	}
	return nil
}

func readInitial(p policy, fl *Flavour) error {
	var read struct {
		Initial count `yaml:"initial_delta"`
	}
	if err := p.Properties.Decode(&read); err != nil {
		return err
	}
	for _, t := range p.Targets {
		if v, ok := fl.VDUs[t]; ok {
			v.Initial = read.Initial.Number
			fl.VDUs[t] = v
		}
	}
	return nil
}

func readLevels(p policy, fl *Flavour) error {
	var read struct {
		Levels map[string]struct {
			Description string `yaml:"description"`
			Scale       map[string]struct {
				Level int `yaml:"scale_level"`
			} `yaml:"scale_info"`
		} `yaml:"levels"`
		Default string `yaml:"default_level"`
	}
	if err := p.Properties.Decode(&read); err != nil {
		return err
	}
	fl.DefaultLevel = read.Default
	for id, l := range read.Levels {
		level := Level{Description: l.Description, Scale: map[string]int{}, Instances: map[string]int{}}
		for aspect, s := range l.Scale {
			level.Scale[aspect] = s.Level
		}
		fl.Levels[id] = level
	}
	return nil
}

func readVDULevels(p policy, fl *Flavour) error {
	var read struct {
		Levels map[string]count `yaml:"levels"`
	}
	if err := p.Properties.Decode(&read); err != nil {
		return err
	}
	for id, l := range read.Levels {
		for _, t := range p.Targets {
			if level, ok := fl.Levels[id]; ok {
				level.Instances[t] = l.Number
			}
		}
	}
	return nil
}

// complete refuses numbers and names that do not fit together.
func complete(f definitions, fl *Flavour) error {
	sane := func(n int) bool { return n >= 0 && n <= maxInstances }
	for _, v := range fl.VDUs {
		if !sane(v.Min) || !sane(v.Max) || !sane(v.Initial) {
			return fault(f.path, "gives VDU %s a number of instances that is negative or over %d", v.ID, maxInstances)
		}
	}
	for _, a := range fl.Aspects {
		if !sane(a.MaxLevel) || slices.ContainsFunc(values(a.Deltas), func(n int) bool { return n < 1 || n > maxInstances }) {
			return fault(f.path, "gives aspect %s a level or step that is not positive or over %d", a.ID, maxInstances)
		}
	}
	if _, ok := fl.Levels[fl.DefaultLevel]; fl.DefaultLevel != "" && !ok {
		return fault(f.path, "names the default level %s, which it does not describe", Printable(fl.DefaultLevel))
	}
	for id, l := range fl.Levels {
		for aspect, level := range l.Scale {
			if a, ok := fl.Aspects[aspect]; !ok || level < 0 || level > a.MaxLevel {
				return fault(f.path, "puts aspect %s of level %s where it cannot be", Printable(aspect), Printable(id))
			}
		}
		if slices.ContainsFunc(values(l.Instances), func(n int) bool { return !sane(n) }) {
			return fault(f.path, "gives level %s a number of instances that is negative or over %d", Printable(id), maxInstances)
		}
	}
	return nil
}

// Number is how many instances of a VDU there are at a level; said is false where the descriptor does not say.
func (f Flavour) Number(id string, l Level) (n int, said bool) {
	if n, said = l.Instances[id]; said {
		return n, true
	}
	n = f.VDUs[id].Initial
	for aspect, a := range f.Aspects {
		n += l.Scale[aspect] * a.Deltas[id]
		said = said || a.Deltas[id] > 0
	}
	return n, said
}

func values(m map[string]int) []int {
	var all []int
	for _, v := range m {
		all = append(all, v)
	}
	return all
}
