package bundle

import (
	"cmp"
	"context"
	"encoding/base64"
	"errors"
	"time"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/broker/clientconfig"
	"github.com/vimbroker/vimbroker/broker/failpoint"
	"github.com/vimbroker/vimbroker/broker/secret"
	"github.com/vimbroker/vimbroker/policy"
	"github.com/vimbroker/vimbroker/policy/audit"
)

// Region is the connectivity information of a cloud region: a VIM of that name.
type Region struct {
	Name  string `json:"cloud-region"`
	Owner string `json:"cloud-owner"`
	// Kubeconfig is base64: a lease for the caller, or empty. It is never what was stored.
	Kubeconfig string `json:"kubeconfig"`
	// Others are records of controllers beside the cluster. They are sealed, and shown by their names alone.
	Others struct {
		Records []map[string]string `json:"connectivity-records"`
	} `json:"other-connectivity-list"`
}

const (
	kubernetes = broker.VIMType("kubernetes")
	ownerLabel = "cloud-owner" // the VIM's label for it
	// recordName is the member of a record that is its name.
	recordName = "connectivity-record-name"
	// leaseTTL is the lifetime of the lease in an answer. For half of it a caller gets the same lease again.
	leaseTTL = 10 * time.Minute
)

// CreateRegion registers a VIM of the region's name by a kubeconfig, and seals the records.
func (b *Bundles) CreateRegion(ctx context.Context, p policy.Principal, c Region, kubeconfig secret.Text) (Region, error) {
	const field = "other-connectivity-list"
	err := errors.Join(validName("cloud-region", c.Name), validName("cloud-owner", c.Owner))
	names := []map[string]string{}
	for _, record := range c.Others.Records {
		err = cmp.Or(err, validName(field, record[recordName]))
		names = append(names, map[string]string{recordName: record[recordName]})
	}
	if err == nil && len(written(c.Others.Records)) > maxOverlay {
		err = broker.Invalid(field, "has more than %d bytes", maxOverlay)
	}
	if err != nil {
		return Region{}, err
	}
	v, err := b.VIMs.RegisterVIM(ctx, p, broker.Registration{
		Name: c.Name, Type: kubernetes, Kubeconfig: kubeconfig, Labels: map[string]string{ownerLabel: c.Owner},
	})
	if err != nil {
		return Region{}, err
	}
	if len(names) > 0 {
		failpoint.At("bundle.region-registered")
		row, act := b.newRow(p, OfRegion, v.ID, names), b.recorded(ctx, p, policy.VIMRegister, v.ID)
		err = b.refuse(ctx, act, b.Store.CreateBundles(ctx, []Row{row}, perProject, act.Intent()))
		if err == nil {
			err = b.seal(ctx, act, row, c.Others.Records)
		}
	}
	if err != nil { // a region without its records is none
		ending, cancel := context.WithTimeout(context.WithoutCancel(ctx), endPatience)
		defer cancel()
		return Region{}, errors.Join(err, b.DeleteRegion(ending, p, c.Name))
	}
	return b.shownRegion(ctx, p, v)
}

// recorded records an act that the registry of VIMs has decided on.
func (b *Bundles) recorded(ctx context.Context, p policy.Principal, action policy.Action, vim string) *audit.Act {
	return b.Guard.Record(ctx, p, action, policy.Resource{Kind: policy.KindVIM, ID: vim, Project: p.Project})
}

// Region returns one. Once DeleteRegion has answered, it is missing, also while leases on it still end.
func (b *Bundles) Region(ctx context.Context, p policy.Principal, name string) (Region, error) {
	v, err := b.vim(ctx, p, name)
	if err == nil && v.State == broker.VIMDraining {
		err = missing(OfRegion)
	}
	if err != nil {
		return Region{}, err
	}
	return b.shownRegion(ctx, p, v)
}

// vim is the VIM that a region is. Ids are no names of regions.
func (b *Bundles) vim(ctx context.Context, p policy.Principal, name string) (broker.VIM, error) {
	if validName("cloud-region", name) != nil {
		return broker.VIM{}, missing(OfRegion)
	}
	v, err := b.VIMs.VIM(ctx, p, name)
	if errors.Is(err, broker.ErrNotFound) || err == nil && (v.Type != kubernetes || v.Name != name) {
		return broker.VIM{}, missing(OfRegion)
	}
	return v, err
}

// shownRegion is a region with the names of its records, and with a kubeconfig, as far as policy gives the caller a lease,
// and the VIM mints one.
func (b *Bundles) shownRegion(ctx context.Context, p policy.Principal, v broker.VIM) (Region, error) {
	c := Region{Name: v.Name, Owner: v.Labels[ownerLabel]}
	_, records, err := read[[]map[string]string](b.Store.Bundle(ctx, v.Project, OfRegion, v.ID))
	if errors.Is(err, broker.ErrNotFound) {
		err = nil
	}
	if c.Others.Records = append([]map[string]string{}, records...); err != nil || !b.Lease {
		return c, err
	}
	l, config, err := b.Leaser.IssueShared(ctx, p, broker.LeaseRequest{
		VIM: v.ID, TTL: leaseTTL, Format: clientconfig.Kubeconfig, Purpose: "connectivity-info", IdempotencyKey: "onap-" + v.ID,
	})
	if errors.Is(err, broker.ErrDenied) || err == nil && !l.Derived {
		return c, nil
	}
	var text secret.Text
	if err == nil {
		text, err = config.Render(clientconfig.Kubeconfig)
	}
	c.Kubeconfig = base64.StdEncoding.EncodeToString([]byte(text.Reveal()))
	return c, err
}

// DeleteRegion deletes a VIM that no instance uses, with the leases on it and its records.
func (b *Bundles) DeleteRegion(ctx context.Context, p policy.Principal, name string) error {
	v, err := b.vim(ctx, p, name)
	if err == nil {
		err = b.unused(ctx, p, OfRegion, v.ID)
	}
	if err == nil {
		_, _, err = b.VIMs.DeleteVIM(ctx, p, v.ID, broker.Deletion{Drain: true})
	}
	if err != nil {
		return err
	}
	row, err := b.Store.Bundle(ctx, p.Project, OfRegion, v.ID)
	if errors.Is(err, broker.ErrNotFound) {
		return nil
	} else if err != nil {
		return err
	}
	return b.remove(ctx, b.recorded(ctx, p, policy.VIMDelete, v.ID), row)
}

// Sweep removes the records of regions whose VIMs are gone.
func (b *Bundles) Sweep(ctx context.Context) error {
	return b.each(ctx, Filter{Sealed: true}, func(r Row) error {
		if r.Kind != OfRegion {
			return nil
		}
		self := broker.System("onap", r.Project)
		_, err := b.VIMs.VIM(ctx, self, r.Name)
		if errors.Is(err, broker.ErrNotFound) {
			err = b.remove(ctx, b.recorded(ctx, self, policy.VIMDelete, r.Name), r)
		}
		return err
	})
}
