package lifecycle

import (
	"errors"
	"maps"
	"slices"

	"github.com/vimbroker/vimbroker/broker"
)

// Source is the input by which a driver decides whether it makes an instance, and from which files.
type Source struct {
	// Flavour is the id of the deployment flavour.
	Flavour string
	// Paths are the files that the package holds, sorted.
	Paths []string
	// Named are the files that the request names; none leaves it to the driver.
	Named []string
	// Namespace is the one that the request names, or else the VIM's own; it may be empty.
	Namespace string
	// Given are the names of a request's variables, and Parameters whether it has parameters. They are empty for
	// an instance that exists.
	Given      []string
	Parameters bool
	// Release is the name that the request gives to a release.
	Release string
	// Ordered: the request puts objects of manifests into waves.
	Ordered bool
	// Read reads files of the package, in the order of the paths.
	Read func(paths []string) ([]Manifest, error)
}

// Basis holds the files that an instance is made from.
type Basis struct {
	// Files are those of the package that the driver plans from, in the order in which it wants them.
	Files []string
	// Namespace is where the objects go that name none; empty if the VIM knows no namespaces.
	Namespace string
	// Secret are the given variables that no answer shows, and SecretParameters whether parameters are secret
	// too: secret values are stored sealed.
	Secret           []string
	SecretParameters bool
}

// choose finds the driver for a new instance: the first driver for the VIM's type that makes an instance from the
// package. If no driver does, the error is the last that is not [broker.ErrUnsupported], or else the last.
func (l *Lifecycle) choose(vimType broker.VIMType, s Source) (Driver, Basis, error) {
	why := noDriver(string(vimType))
	for _, d := range l.byType[vimType] {
		b, err := d.Basis(s)
		if err == nil {
			return d, b, nil
		}
		if !errors.Is(err, broker.ErrUnsupported) || errors.Is(why, broker.ErrUnsupported) {
			why = err
		}
	}
	return nil, Basis{}, why
}

// driver is the one that made the resources of an instance. An instance stored without a driver's name
// belongs to the first driver for its type of VIM.
func (l *Lifecycle) driver(s Shape) (Driver, error) {
	for _, d := range l.byType[broker.VIMType(s.VIMType)] {
		if s.Driver == "" || s.Driver == d.Name() {
			return d, nil
		}
	}
	return nil, noDriver(s.VIMType)
}

// bases is what the drivers of all parts of an instance of that shape are made from.
func (l *Lifecycle) bases(s Shape, p PackageView) (all Basis, err error) {
	for _, part := range s.Parts() {
		one := s.at(part.Name)
		d, err := l.driver(one)
		if err != nil {
			return all, err
		}
		b, err := d.Basis(one.asked(p))
		if err != nil {
			return all, err
		}
		all.Files, all.Secret = append(all.Files, b.Files...), append(all.Secret, b.Secret...)
		all.SecretParameters = all.SecretParameters || b.SecretParameters
	}
	return all, nil
}

func noDriver(vimType string) error {
	return &broker.Error{
		Kind: broker.ErrUnsupported, Field: "vimConnectionInfo", Detail: "VNF instances cannot be made on VIMs of type " + vimType,
	}
}

// source is the input from which an instance of that shape is made; loose, where not all of its variables are at hand.
func (s Shape) source(p PackageView, loose bool) Source {
	p = p.translated(s.Flavour, s.Variables, loose)
	return Source{Flavour: s.Flavour, Paths: p.Paths, Named: s.Files, Namespace: s.Namespace, Release: s.Release, Read: p.Read}
}

// asked is the source of a request for an instance of that shape.
func (s Shape) asked(p PackageView) Source {
	of := s.source(p, len(s.Concealed.Variables) > 0)
	of.Given = slices.Compact(slices.Sorted(slices.Values(append(slices.Collect(maps.Keys(s.Variables)), s.Concealed.Variables...))))
	of.Parameters = len(s.Parameters) > 0 || s.Concealed.Parameters
	of.Ordered = len(s.Waves) > 0
	return of
}

// manifests reads the files from which a driver makes an instance of that shape.
func (s Shape) manifests(d Driver, p PackageView) ([]Manifest, error) {
	of := s.source(p, false)
	b, err := d.Basis(of)
	if err != nil {
		return nil, err
	}
	return of.Read(b.Files)
}
