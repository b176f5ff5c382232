package server

import (
	"context"
	"maps"
	"slices"

	"github.com/vimbroker/vimbroker/broker/secret"
	"github.com/vimbroker/vimbroker/drivers/manifests"
	"github.com/vimbroker/vimbroker/lifecycle"
	"github.com/vimbroker/vimbroker/lifecycle/catalog"
	"github.com/vimbroker/vimbroker/lifecycle/tosca"
	"github.com/vimbroker/vimbroker/policy"
)

// packages are the catalogue's packages, from which VNF instances are made.
type packages struct{ *catalog.Catalog }

var _ lifecycle.Packages = packages{}

// Use implements [lifecycle.Packages].
func (p packages) Use(ctx context.Context, who policy.Principal, vnfdID string) (lifecycle.PackageView, error) {
	opened, err := p.Catalog.Use(ctx, who, vnfdID)
	if err != nil {
		return lifecycle.PackageView{}, err
	}
	return packageOf(opened), nil
}

// Held implements [lifecycle.Packages].
func (p packages) Held(ctx context.Context, id string) (lifecycle.PackageView, error) {
	opened, err := p.Catalog.Held(ctx, id)
	if err != nil {
		return lifecycle.PackageView{}, err
	}
	return packageOf(opened), nil
}

func packageOf(o catalog.Opened) lifecycle.PackageView {
	return lifecycle.PackageView{
		ID: o.ID, VNFD: o.VNFD, Paths: o.Paths(),
		Product: lifecycle.Product{
			VNFDID: o.VNFDID, Provider: o.Provider, Name: o.ProductName, SoftwareVersion: o.SoftwareVersion, VNFDVersion: o.VNFDVersion,
		},
		Read: func(paths []string) ([]lifecycle.Manifest, error) {
			files, err := o.Files(paths)
			if err != nil {
				return nil, err
			}
			all := make([]lifecycle.Manifest, len(files))
			for n, f := range files {
				all[n] = lifecycle.Manifest{Path: f.Path, Text: secret.NewText(string(f.Text))}
			}
			return all, nil
		},
		Translate: func(flavour string, inputs map[string]string, loose bool) (secret.Text, error) {
			made, err := o.Translate(flavour, tosca.Options{Inputs: inputs, Loose: loose})
			return secret.NewText(string(made.Manifests)), err
		},
	}
}

// warnings are those of a package's manifests, or of what its descriptor is translated to. One that cannot be is refused.
func warnings(d *manifests.Driver, o catalog.Opened) ([]string, error) {
	view := packageOf(o)
	all, err := d.Warnings(lifecycle.Source{Paths: view.Paths, Read: view.Read})
	for _, flavour := range slices.Sorted(maps.Keys(view.VNFD.Flavours)) {
		if err == nil && view.Translates(flavour) {
			made, fault := o.Translate(flavour, tosca.Options{Loose: true})
			all, err = append(all, made.Warnings...), fault
		}
	}
	return all[:min(len(all), manifests.MaxWarnings)], err
}
