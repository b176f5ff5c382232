package onboard

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/broker/failpoint"
	"github.com/vimbroker/vimbroker/broker/job"
	"github.com/vimbroker/vimbroker/policy/egress"
)

// register makes a VIM of a cluster as soon as it can be one.
func (w *watcher) register(ctx context.Context, c Cluster, s Seen) (time.Duration, error) {
	version := w.version(c)
	if c.State == StateQuarantined && (c.Secret == version && ofSecret[c.Reason] || version == "" && pushed(c)) && !w.reconsiders(c) {
		return 0, nil // until the secret or the settings change, or another kubeconfig is pushed
	}
	if c.State == StateQuarantined && c.Rival != "" && c.Secret == version {
		if free, err := w.freed(ctx, c); err != nil || !free {
			return 0, err // until then: the next refresh looks
		}
	}
	if again, waits, err := w.notYet(ctx, c, s); waits {
		return again, err
	}
	got, err := w.secret(ctx, s)
	if err != nil {
		return w.withoutSecret(ctx, c, err)
	}
	return w.registerWith(ctx, c, s, got)
}

// notYet says why a cluster cannot become a VIM yet.
func (w *watcher) notYet(ctx context.Context, c Cluster, s Seen) (again time.Duration, waits bool, err error) {
	switch {
	case s.Deleting:
		return 0, true, w.note(ctx, c, ReasonDeleting, "the cluster is being deleted")
	case s.Paused && c.State == StateWaiting:
		return 0, true, w.note(ctx, c, ReasonPaused, "the cluster is paused; it is registered once it is not")
	case !s.Ready && c.State == StateWaiting:
		return 0, true, w.note(ctx, c, ReasonNotReady, notReady)
	}
	return 0, false, nil
}

// registerWith makes a VIM of a cluster by this credential.
func (w *watcher) registerWith(ctx context.Context, c Cluster, s Seen, got ClusterSecret) (time.Duration, error) {
	var err error
	if c.State != StateQuarantined || c.Secret != got.Version { // otherwise it is doubted until it is admitted
		c, err = w.move(ctx, c, func(c *Cluster) {
			c.State, c.Secret, c.Rival = StateRegistering, got.Version, ""
			if c.ReadyAt.IsZero() {
				c.ReadyAt = w.Now()
			}
		})
	}
	if err != nil {
		return 0, err
	}
	failpoint.At("onboard.registering")
	v, err := w.registerVIM(ctx, &c, s, got)
	if err != nil {
		return w.notRegistered(ctx, c, err)
	}
	failpoint.At("onboard.vim-registered")
	w.adopted(w.m.VIM)
	w.remember(v)
	adopted := c.Secret
	c, err = w.move(ctx, c, func(c *Cluster) {
		c.State, c.VIM, c.Former, c.Secret, c.RegisteredAt, c.Attempts = StateRegistered, v.ID, "", adopted, w.Now(), 0
		c.Reason, c.Message = wellness(v, s)
	})
	if err != nil {
		return 0, err
	}
	return w.upkeep(ctx, c, s)
}

// withoutSecret says why there is no credential to register with.
func (w *watcher) withoutSecret(ctx context.Context, c Cluster, err error) (time.Duration, error) {
	var f *fault
	switch {
	case errors.As(err, &f):
		return doubtEvery, w.quarantine(ctx, c, *f)
	case errors.Is(err, broker.ErrNotFound):
		return waitEvery, w.note(ctx, c, ReasonSecretMissing, "there is no secret "+w.m.secretName(c.Name)+" with its credential")
	}
	return w.fail(ctx, c, ReasonUnavailable, "its secret cannot be read: "+broker.Message(err))
}

// quarantine stores that what is shown of a cluster is not believed. It is told once.
func (w *watcher) quarantine(ctx context.Context, c Cluster, f fault) error {
	if c.State == StateQuarantined && c.Reason == f.reason && c.Rival == f.rival && (f.version == "" || f.version == c.Secret) {
		return w.note(ctx, c, f.reason, f.message)
	}
	w.Log.WarnContext(ctx, "a cluster is quarantined", "vim", w.m.VIM, "namespace", c.Namespace, "cluster", c.Name,
		"reason", f.reason, "message", f.message)
	_, err := w.move(ctx, c, func(c *Cluster) {
		c.State, c.Reason, c.Message, c.Attempts, c.Rival = StateQuarantined, f.reason, f.message, 0, f.rival
		if f.version != "" {
			c.Secret = f.version
		}
	})
	return err
}

// ofSecret are the reasons that only another version of the secret ends, or other settings.
var ofSecret = map[ClusterReason]bool{ReasonSecretMislabelled: true, ReasonSecretForeign: true, ReasonSecretInvalid: true}

// reconsiders reports whether a secret was refused under earlier settings: they say which
// entry of it counts, and whose control planes may own it.
func (w *watcher) reconsiders(c Cluster) bool {
	return c.State == StateQuarantined && ofSecret[c.Reason] && !pushed(c) && c.UpdatedAt.Before(w.m.UpdatedAt)
}

// Refusals of the system that a credential leads to.
var (
	errManagement = &broker.Error{
		Kind: broker.ErrConflict, Detail: "the credential leads to the management cluster itself, which is a VIM already",
	}
	errOther = &broker.Error{
		Kind: broker.ErrConflict, Detail: "the credential leads to another system than the cluster's first one",
		Remedy: "see who wrote the secret; a cluster that was built anew needs a new Cluster object",
	}
)

// takenError refuses a system that another cluster's VIM is, which is proven: it shows the account that was made for that
// one, or both are of one project.
type takenError struct{ by Cluster }

func (e *takenError) Error() string { return "the system is taken by cluster " + e.by.ID }

// text names the other cluster to those of its project alone.
func (e *takenError) text(project string) string {
	if e.by.ID == "" || e.by.Project != project {
		return "the credential leads to a system that another cluster's VIM is; see which of the two clusters the system belongs to"
	}
	return fmt.Sprintf("the credential leads to the system of cluster %s/%s; see which of the two it belongs to", e.by.Namespace, e.by.Name)
}

// registerVIM registers a cluster's VIM, or finds the one that an earlier attempt made.
func (w *watcher) registerVIM(ctx context.Context, c *Cluster, s Seen, got ClusterSecret) (broker.VIM, error) {
	v, err := w.Broker.RegisterVIM(ctx, w.self, broker.Registration{
		Name: w.m.vimName(s.Namespace, s.Name), Type: vimType, Kubeconfig: got.Value, Labels: w.m.labels(s), Project: c.Project,
		IdempotencyKey: c.Management + "/" + c.UID, Account: w.m.account(c.UID), ID: c.Former,
		Admit: func(a broker.Admission) error { return w.admit(ctx, c, a) },
	})
	if errors.Is(err, broker.ErrConflict) {
		// Perhaps an attempt that died had registered it, with another secret or labels.
		if there, found, failed := w.find(ctx, *c); failed != nil || found {
			c.Secret = "" // adopted next
			v, err = there, failed
		}
	}
	var taken *takenError
	if errors.Is(err, broker.ErrExists) || errors.As(err, &taken) {
		if back, comes, failed := w.comeBack(ctx, *c, s, got, taken); comes {
			v, err = back, failed
		}
	}
	if err == nil && c.System != v.Current.Identity { // as before a process died
		err = w.admit(ctx, c, broker.Admission{Identity: v.Current.Identity})
	}
	return v, err
}

// find returns the VIM that was registered for this very Cluster object.
func (w *watcher) find(ctx context.Context, c Cluster) (broker.VIM, bool, error) {
	found, _, err := w.Broker.VIMs(ctx, w.self, broker.VIMQuery{
		State: broker.VIMRegistered, Labels: map[string]string{broker.LabelCluster: c.UID, broker.LabelManagement: c.Management},
	})
	for _, v := range found {
		if v.CreatedBy == w.self.Name && v.Project == c.Project {
			return v, true, nil
		}
	}
	return broker.VIM{}, false, err
}

// admit takes a system for a cluster: one system is one cluster's, and a cluster's is
// always the same.
func (w *watcher) admit(ctx context.Context, c *Cluster, a broker.Admission) error {
	switch {
	case a.Identity == w.vim.Current.Identity:
		return errManagement
	case c.System != "" && c.System != a.Identity:
		return errOther
	case c.System != "" && c.State == StateRegistering:
		return nil
	case c.System == "":
		if err := w.apart(ctx, *c, a); err != nil {
			return err
		}
	}
	stored, err := w.move(ctx, *c, func(c *Cluster) { c.State, c.System, c.Rival = StateRegistering, a.Identity, "" })
	var e *broker.Error
	if errors.As(err, &e) && errors.Is(e, broker.ErrExists) {
		return &takenError{} // at this moment
	}
	failpoint.At("onboard.admitted")
	if err == nil {
		secret := c.Secret
		*c = stored
		c.Secret = secret
	}
	return err
}

// apart refuses a system that another cluster's VIM is. The identity of a system is a claim, which excludes others of the
// project alone: a cluster of another project has the system if it shows the account that was made for that cluster's VIM.
func (w *watcher) apart(ctx context.Context, c Cluster, a broker.Admission) error {
	others, err := w.leadTo(ctx, a.Identity)
	for _, other := range others {
		if err != nil || other.ID == c.ID {
			continue
		}
		same := other.Project == c.Project
		if !same && other.VIM != "" && a.Shows != nil {
			same, err = a.Shows(other.VIM)
		}
		if same && err == nil {
			return &takenError{other}
		}
		w.Log.WarnContext(ctx, "two clusters of different projects claim to be one system, which is not proven; neither is refused",
			"vim", w.m.VIM, "cluster", c.Namespace+"/"+c.Name, "project", c.Project,
			"otherManagementCluster", other.Management, "otherCluster", other.Namespace+"/"+other.Name, "otherProject", other.Project)
	}
	return err
}

// leadTo are the clusters that lead to a system, as they say.
func (o *Onboarding) leadTo(ctx context.Context, system string) ([]Cluster, error) {
	found, _, err := o.Store.Clusters(ctx, ClusterFilter{System: system, Page: broker.Page{Size: maxRivals}})
	return found, err
}

// maxRivals bounds the clusters of one system that are looked at.
const maxRivals = 100

// rivals are the clusters that lead to the same system as c, or that keep c from being a VIM.
func (o *Onboarding) rivals(ctx context.Context, c Cluster) (all []Cluster, err error) {
	if c.System != "" {
		all, err = o.leadTo(ctx, c.System)
	}
	if c.Rival != "" && err == nil {
		var other Cluster
		if other, err = o.Store.Cluster(ctx, c.Rival); err == nil {
			all = append(all, other)
		} else if errors.Is(err, broker.ErrNotFound) {
			err = nil
		}
	}
	return slices.DeleteFunc(all, func(other Cluster) bool { return other.ID == c.ID }), err
}

// freed reports whether the cluster that keeps this one from being a VIM does so no more.
func (o *Onboarding) freed(ctx context.Context, c Cluster) (bool, error) {
	other, err := o.Store.Cluster(ctx, c.Rival)
	if errors.Is(err, broker.ErrNotFound) {
		return true, nil
	}
	return other.State == StateRetired || other.System == "", err
}

func (w *watcher) notRegistered(ctx context.Context, c Cluster, err error) (time.Duration, error) {
	state, why, text := StateWaiting, ReasonUnavailable, w.unreached(ctx, c, err)
	var e *broker.Error
	var taken *takenError
	switch {
	case errors.Is(err, broker.ErrInvalid) && errors.As(err, &e) && (e.Field == "name" || strings.HasPrefix(e.Field, "labels")):
		why = ReasonRefused // what the settings make of its name and labels
	case errors.As(err, &taken):
		return w.takenBy(ctx, c, taken)
	case errors.Is(err, errManagement):
		return doubtEvery, w.quarantine(ctx, c, fault{reason: ReasonSystemTaken, message: text})
	case errors.Is(err, errOther):
		return doubtEvery, w.quarantine(ctx, c, fault{reason: ReasonOtherSystem, message: text})
	case errors.Is(err, broker.ErrInvalid):
		return 0, w.quarantine(ctx, c, fault{reason: ReasonSecretInvalid, message: text})
	case errors.Is(err, broker.ErrUnauthorized), errors.Is(err, broker.ErrForbidden):
		why = ReasonCredentialRefused
	case errors.Is(err, broker.ErrUnreachable):
		why = ReasonUnreachable
	case errors.Is(err, broker.ErrExists):
		why = ReasonNameTaken
	case errors.Is(err, broker.ErrDenied), errors.Is(err, broker.ErrQuota):
		why = ReasonRefused
	case errors.Is(err, broker.ErrConflict):
		state = StateRegistering // an attempt that died is being cleared away
	}
	stored, err := w.move(ctx, c, func(c *Cluster) {
		c.State, c.Reason, c.Message = state, why, text
		c.Attempts++
	})
	if err != nil { // nothing is stored: the caller reports this, and looks again
		return 0, err
	}
	return job.Spread(job.Backoff(stored.Attempts, maxRetry)), nil
}

// unreached is what people may see of a failure of the address that a secret names. Whoever writes secrets on the management
// cluster could have the broker look for ports in its network: that nothing answers as it should is all that they are told.
func (w *watcher) unreached(ctx context.Context, c Cluster, err error) string {
	if !errors.Is(err, broker.ErrUnreachable) || errors.Is(err, egress.ErrRefused) {
		return broker.Message(err)
	}
	w.Log.WarnContext(ctx, "the address of a cluster's credential does not answer as its API server", "vim", w.m.VIM,
		"namespace", c.Namespace, "cluster", c.Name, "error", err)
	return "no API server that the authority of its credential signed answers at its address now; the broker's log says why"
}

// takenBy stores that a cluster is no VIM because another cluster is the system that it leads to.
func (w *watcher) takenBy(ctx context.Context, c Cluster, taken *takenError) (time.Duration, error) {
	if taken.by.ID == "" {
		return time.Second, nil // somebody else was first: the next look sees who
	}
	return 0, w.quarantine(ctx, c, fault{reason: ReasonSystemTaken, message: taken.text(c.Project), rival: taken.by.ID})
}

// wellness returns the message on a registered cluster.
func wellness(v broker.VIM, s Seen) (ClusterReason, string) {
	switch {
	case s.Deleting && !s.Paused:
		return ReasonDeleting, suspendedDeleting
	case s.Paused:
		return ReasonPaused, suspendedPaused
	case v.Health.Status == broker.HealthUnauthorized:
		return ReasonCredentialRefused, v.Health.Message
	case v.Health.Status == broker.HealthIdentityChanged:
		return ReasonOtherSystem, v.Health.Message
	case v.Health.Status == broker.HealthUnreachable:
		return ReasonUnreachable, v.Health.Message
	case !v.Health.CanMint:
		return ReasonCannotMint, v.Health.MintMessage
	}
	if _, none := v.Current.Discovered.Account(); none != "" {
		return ReasonCredentialKept, "the VIM keeps the credential of the secret: " + none
	}
	return "", ""
}
