package bundle

import (
	"context"
	"encoding/base64"
	"errors"
	"strconv"
	"time"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/broker/clientconfig"
	"github.com/vimbroker/vimbroker/broker/secret"
	"github.com/vimbroker/vimbroker/policy"
)

// Region is the connectivity information of a cloud region: a VIM of that name.
type Region struct {
	Name  string `json:"cloud-region"`
	Owner string `json:"cloud-owner"`
	// Kubeconfig is base64: a lease for the caller, or empty. It is never what was stored.
	Kubeconfig string `json:"kubeconfig"`
	// Others are records of controllers beside the cluster. None are kept.
	Others struct {
		Records []map[string]string `json:"connectivity-records"`
	} `json:"other-connectivity-list"`
}

const (
	ofRegion   Kind           = "cloud region" // which has no row
	kubernetes broker.VIMType = "kubernetes"
	ownerLabel                = "cloud-owner" // the VIM's label for it
	// leaseTTL is the lifetime of the lease in an answer. For half of it a caller gets the same lease again.
	leaseTTL = 10 * time.Minute
)

// CreateRegion registers a VIM of the region's name by a kubeconfig.
func (b *Bundles) CreateRegion(ctx context.Context, p policy.Principal, c Region, kubeconfig secret.Text) (Region, error) {
	err := errors.Join(validName("cloud-region", c.Name), validName("cloud-owner", c.Owner))
	if err == nil && len(c.Others.Records) > 0 {
		err = broker.Invalid("other-connectivity-list", "must be empty: records of other controllers are not kept here")
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
	return b.shownRegion(ctx, p, v)
}

// Region returns one.
func (b *Bundles) Region(ctx context.Context, p policy.Principal, name string) (Region, error) {
	v, err := b.vim(ctx, p, name)
	if err != nil {
		return Region{}, err
	}
	return b.shownRegion(ctx, p, v)
}

// vim is the VIM that a region is. Ids are no names of regions.
func (b *Bundles) vim(ctx context.Context, p policy.Principal, name string) (broker.VIM, error) {
	if validName("cloud-region", name) != nil {
		return broker.VIM{}, missing(ofRegion)
	}
	v, err := b.VIMs.VIM(ctx, p, name)
	if errors.Is(err, broker.ErrNotFound) || err == nil && (v.Type != kubernetes || v.Name != name) {
		return broker.VIM{}, missing(ofRegion)
	}
	return v, err
}

// shownRegion is a region with a kubeconfig, as far as policy gives the caller a lease, and the VIM mints one.
func (b *Bundles) shownRegion(ctx context.Context, p policy.Principal, v broker.VIM) (Region, error) {
	c := Region{Name: v.Name, Owner: v.Labels[ownerLabel]}
	if c.Others.Records = []map[string]string{}; !b.Lease {
		return c, nil
	}
	turn := b.now().Unix() / int64(leaseTTL.Seconds()/2)
	var l broker.Lease
	var config clientconfig.Config
	err := error(nil)
	for try := range 3 { // a lease that was revoked in this half is followed by another
		l, config, err = b.Leaser.IssueLease(ctx, p, broker.LeaseRequest{
			VIM: v.ID, TTL: leaseTTL, Format: clientconfig.Kubeconfig, Purpose: "connectivity-info",
			IdempotencyKey: "onap-" + v.ID + "-" + strconv.FormatInt(turn, 10) + "-" + strconv.Itoa(try),
		})
		if !errors.Is(err, broker.ErrConflict) {
			break
		}
	}
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

// DeleteRegion deletes a VIM that no instance uses, with the leases on it.
func (b *Bundles) DeleteRegion(ctx context.Context, p policy.Principal, name string) error {
	v, err := b.vim(ctx, p, name)
	if err == nil {
		err = b.unused(ctx, p, ofRegion, v.ID)
	}
	if err == nil {
		_, _, err = b.VIMs.DeleteVIM(ctx, p, v.ID, broker.Deletion{Drain: true})
	}
	return err
}
