package onboard

import (
	"context"
	"errors"
	"time"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/broker/failpoint"
	"github.com/vimbroker/vimbroker/policy/audit"
)

// moveFor is how long the VIM of a cluster that may have moved waits for the management cluster that it has moved to.
const moveFor = 10 * time.Minute

const moving = "it is gone from its management cluster, and may have been moved to another; its VIM waits for that"

// moves reports how long to wait for a cluster that is gone and may come to another management cluster: one that was paused
// when it vanished, as "clusterctl move" pauses it, and one that another management cluster has by its name. A row whose VIM
// follows the other one already is retired without it.
func (w *watcher) moves(ctx context.Context, c *Cluster) (time.Duration, error) {
	v, err := w.Broker.VIM(ctx, w.self, c.VIM)
	if err != nil && !errors.Is(err, broker.ErrNotFound) {
		return 0, err
	}
	if err == nil && !w.tied(*c, v) {
		*c, err = w.move(ctx, *c, func(c *Cluster) { c.State, c.VIM, c.Reason, c.Message = StateRetired, "", "", "" })
		w.forgetMissing(c.ID)
		return 0, err
	}
	may := v.Suspended == suspendedPaused
	if !may && v.Suspended != suspendedDeleting {
		f := ClusterFilter{Project: c.Project, Namespace: c.Namespace, Name: c.Name, Page: broker.Page{Size: maxRivals}}
		same, _, err := w.Store.Clusters(ctx, f)
		if err != nil {
			return 0, err
		}
		for _, other := range same {
			may = may || other.Management != c.Management && other.VIM == "" && other.State != StateRetired
		}
	}
	switch {
	case !may:
		return 0, nil
	case c.GoneAt.IsZero():
		_, err := w.move(ctx, *c, func(c *Cluster) { c.GoneAt, c.Reason, c.Message = w.Now(), ReasonMoving, moving })
		return waitEvery, err
	}
	return min(waitEvery, max(0, c.GoneAt.Add(moveFor).Sub(w.Now()))), nil
}

func (w *watcher) tied(c Cluster, v broker.VIM) bool {
	return v.Labels[broker.LabelCluster] == c.UID && v.Labels[broker.LabelManagement] == c.Management
}

// comeBack has a VIM follow a cluster that is the VIM's system of before: of a management cluster that is followed no more, or
// of one that the cluster is gone from. It is proven by the server, which is at the same address and verified by the same
// authority. False: nothing is to come back.
func (w *watcher) comeBack(ctx context.Context, c Cluster, s Seen, got ClusterSecret, taken *takenError) (broker.VIM, bool, error) {
	v, err := w.before(ctx, c, taken)
	if err != nil || v.ID == "" {
		return v, err != nil, err
	}
	holder, free, err := w.holder(ctx, c, v)
	if err != nil || !free {
		return v, err != nil, err
	}
	if !w.tied(c, v) {
		labels := map[string]*string{}
		for key, value := range w.m.labels(s) {
			labels[key] = &value
		}
		v, err = w.Broker.UpdateVIM(ctx, w.self, v.ID, broker.Change{
			Kubeconfig: got.Value, Account: w.m.account(c.UID), Labels: labels, SameServer: true,
		})
		if errors.Is(err, broker.ErrConflict) { // another system, or not proven
			return v, false, nil
		}
		if err != nil {
			return v, true, err
		}
		failpoint.At("onboard.come-back")
	}
	if holder.ID == "" {
		return v, true, nil
	}
	act, err := w.act(ctx, holder)
	if err != nil {
		return v, true, err
	}
	_, err = w.Store.UpdateCluster(ctx, holder.ID, func(h *Cluster) error {
		h.State, h.VIM, h.Reason, h.Message, h.UpdatedAt = StateRetired, "", "", "", w.Now()
		return nil
	}, act.Done(audit.DetailReason, "its VIM follows the cluster on another management cluster",
		audit.DetailOld+detailState, string(holder.State), audit.DetailNew+detailState, string(StateRetired)))
	return v, true, err
}

// before is the VIM that a cluster may have been, empty if there is none: that of the cluster whose system it leads to, or the
// one that has its name.
func (w *watcher) before(ctx context.Context, c Cluster, taken *takenError) (v broker.VIM, err error) {
	if taken != nil {
		if taken.by.VIM == "" || taken.by.Project != c.Project {
			return broker.VIM{}, nil
		}
		v, err = w.Broker.VIM(ctx, w.self, taken.by.VIM)
	} else {
		v, err = w.named(ctx, w.self, c.Project, w.m.vimName(c.Namespace, c.Name))
	}
	if errors.Is(err, broker.ErrNotFound) {
		return broker.VIM{}, nil
	}
	if v.CreatedBy != w.self.Name || v.Labels[broker.LabelCluster] == "" || v.State != broker.VIMRegistered {
		return broker.VIM{}, err
	}
	return v, err
}

// holder is the cluster that a VIM follows, empty if there is none; free reports whether the VIM may follow another.
func (w *watcher) holder(ctx context.Context, c Cluster, v broker.VIM) (holder Cluster, free bool, err error) {
	same, err := w.leadTo(ctx, v.Current.Identity)
	for _, other := range same {
		if other.VIM == v.ID && other.ID != c.ID {
			moves := !other.GoneAt.IsZero() && (other.State == StateRegistered || other.State == StateQuarantined)
			return other, moves, nil
		}
	}
	return Cluster{}, true, err
}
