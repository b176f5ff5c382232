package lifecycle

import (
	"slices"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/lifecycle/vnfpkg"
)

// maxReplicas bounds how many VNFCs one VDU can be asked to have.
const maxReplicas = 100_000

// level sets the scale levels and the numbers of VNFCs of an instantiation level; the
// flavour's default where the level is empty.
func (s *Shape) level(f vnfpkg.Flavour, id string) error {
	if id == "" {
		id = f.DefaultLevel
	}
	l, known := f.Levels[id]
	if id != "" && !known {
		return broker.Invalid("instantiationLevelId", "flavour %s has no such level", f.ID)
	}
	s.ExtCPs = f.ExtCPs
	s.Scale, s.MaxScale, s.Replicas = map[string]int{}, map[string]int{}, map[string]int32{}
	for aspect, a := range f.Aspects {
		s.Scale[aspect], s.MaxScale[aspect] = l.Scale[aspect], a.MaxLevel
	}
	for id, v := range f.VDUs {
		n, said := f.Number(id, l)
		if !said && n == 0 {
			continue // the descriptor says nothing: the manifest does
		}
		if err := bounded(v, n, "instantiationLevelId"); err != nil {
			return err
		}
		s.Replicas[v.Name] = int32(n)
	}
	return nil
}

// step moves an aspect by so many steps, up or down.
func (s *Shape) step(f vnfpkg.Flavour, aspect string, steps int) error {
	a, known := f.Aspects[aspect]
	if !known {
		return broker.Invalid("aspectId", "flavour %s has no scaling aspect %s", f.ID, vnfpkg.Printable(aspect))
	}
	to := s.Scale[aspect] + steps
	if to < 0 || to > a.MaxLevel {
		return broker.Invalid("numberOfSteps", "the steps lead to scale level %d of aspect %s, which goes from 0 to %d", to, aspect, a.MaxLevel)
	}
	scale, replicas := map[string]int{aspect: to}, map[string]int32{}
	for other, level := range s.Scale {
		if other != aspect {
			scale[other] = level
		}
	}
	for name, n := range s.Replicas {
		replicas[name] = n
	}
	for id, delta := range a.Deltas {
		v := f.VDUs[id]
		n := int(replicas[v.Name]) + steps*delta
		if err := bounded(v, n, "numberOfSteps"); err != nil {
			return err
		}
		replicas[v.Name] = int32(n)
	}
	s.Scale, s.Replicas = scale, replicas
	return nil
}

func bounded(v vnfpkg.VDU, n int, field string) error {
	if n < v.Min || v.Max > 0 && n > v.Max || n > maxReplicas {
		most := v.Max
		if most == 0 {
			most = maxReplicas
		}
		return broker.Invalid(field, "leads to %d instances of VDU %s, which has %d to %d", n, v.ID, v.Min, most)
	}
	return nil
}

// changed are the VDUs whose numbers of VNFCs differ between two shapes, sorted.
func changed(from, to Shape) []string {
	var names []string
	for name, n := range to.Replicas {
		if from.Replicas[name] != n {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}
