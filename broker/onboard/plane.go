package onboard

import (
	"context"
	"errors"
	"slices"

	"github.com/vimbroker/vimbroker/broker"
)

// lendable are the control planes of the settings that a lease can read: those that the management cluster serves, and that its
// credential may read. No lease is taken to find out.
func (w *watcher) lendable(ctx context.Context) ([]string, error) {
	planes, withheld := slices.Clone(w.m.planes()), []string(nil)
	for len(planes) > 0 {
		_, err := w.Broker.WeighLease(ctx, w.self, broker.LeaseRequest{
			VIM: w.m.VIM, TTL: leaseTTL, Rules: planeRules(planes), Namespaces: w.leased(), ClusterWide: w.m.all(), Purpose: purpose,
		})
		missing, is := errors.AsType[*broker.MissingKinds](err)
		if !is && err != nil {
			return nil, err
		}
		if !is {
			break
		}
		if errors.Is(err, broker.ErrForbidden) {
			withheld = missing.Resources
		}
		planes = slices.DeleteFunc(planes, func(p string) bool { return slices.Contains(missing.Resources, p) })
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(withheld) > 0 && !slices.Equal(w.withheld, withheld) {
		w.Log.WarnContext(ctx, "the credential of a management cluster may not read control planes that it serves; their clusters are not taken",
			"vim", w.m.VIM, "controlPlanes", withheld)
	}
	w.withheld, w.planesAt = withheld, w.Now()
	return planes, nil
}

// readable refuses a control plane that the lease does not read, and has it asked for again.
func (w *watcher) readable(plane string) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if slices.Contains(w.planes, plane) {
		return nil
	}
	w.wanted = true
	if !slices.Contains(w.withheld, plane) {
		return &broker.Error{
			Kind: broker.ErrUnsupported, Detail: "its owner is of " + plane + ", which the management cluster did not serve when it was last asked",
		}
	}
	return &broker.Error{
		Kind: broker.ErrForbidden, Detail: "its owner is of " + plane + ", which the credential of the management cluster may not read",
		Remedy: "grant it the rights of onboarding as they are printed now",
	}
}

// planesDiffer asks again which control planes a lease can read, where a cluster needs one that it does not.
func (w *watcher) planesDiffer(ctx context.Context) bool {
	w.mu.Lock()
	ask := w.wanted && w.Now().Sub(w.planesAt) >= waitEvery
	if ask {
		w.wanted = false
	}
	w.mu.Unlock()
	if !ask {
		return false
	}
	planes, err := w.lendable(ctx)
	w.mu.Lock()
	defer w.mu.Unlock()
	return err == nil && !slices.Equal(planes, w.planes)
}
