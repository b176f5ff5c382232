package onboard

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/broker/failpoint"
	"github.com/vimbroker/vimbroker/broker/job"
)

// register makes a VIM of a cluster as soon as it can be one.
func (w *watcher) register(ctx context.Context, c Cluster, s Seen) (time.Duration, error) {
	version := w.version(c)
	if c.State == StateQuarantined && (c.Secret == version && ofSecret[c.Reason] || version == "" && pushed(c)) && !w.reconsiders(c) {
		return 0, nil // until the secret or the settings change, or another kubeconfig is pushed
	}
	if again, waits, err := w.notYet(ctx, c, s); waits || err != nil {
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
	c, err := w.move(ctx, c, func(c *Cluster) {
		c.State, c.Secret = StateRegistering, got.Version
		if c.ReadyAt.IsZero() {
			c.ReadyAt = w.now()
		}
	})
	if err != nil {
		return 0, err
	}
	failpoint.At("onboard.registering")
	v, err := w.registerVIM(ctx, &c, s, got)
	if err != nil {
		return w.notRegistered(ctx, c, err)
	}
	failpoint.At("onboard.vim-registered")
	w.remember(v)
	adopted := c.Secret
	c, err = w.move(ctx, c, func(c *Cluster) {
		c.State, c.VIM, c.Secret, c.RegisteredAt, c.Attempts = StateRegistered, v.ID, adopted, w.now(), 0
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
		if c.State == StateQuarantined && c.Reason == f.reason && c.Secret == f.version {
			return doubtEvery, nil
		}
		return doubtEvery, w.quarantine(ctx, c, f.reason, f.message, f.version)
	case errors.Is(err, broker.ErrNotFound):
		return waitEvery, w.note(ctx, c, ReasonSecretMissing, "there is no secret "+w.m.secretName(c.Name)+" with its credential")
	}
	return w.fail(ctx, c, ReasonUnavailable, "its secret cannot be read: "+message(err))
}

// quarantine stores that what is shown of a cluster is not believed.
func (w *watcher) quarantine(ctx context.Context, c Cluster, why ClusterReason, text, version string) error {
	w.log.WarnContext(ctx, "a cluster is quarantined", "vim", w.m.VIM, "namespace", c.Namespace, "cluster", c.Name,
		"reason", why, "message", text)
	_, err := w.move(ctx, c, func(c *Cluster) {
		c.State, c.Reason, c.Message, c.Attempts = StateQuarantined, why, text, 0
		if version != "" {
			c.Secret = version
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
	errTaken = &broker.Error{
		Kind: broker.ErrConflict, Detail: "the credential leads to a system that another cluster's VIM is",
		Remedy: "see which of the two clusters the system belongs to",
	}
)

// registerVIM registers a cluster's VIM, or finds the one that an earlier attempt made.
func (w *watcher) registerVIM(ctx context.Context, c *Cluster, s Seen, got ClusterSecret) (broker.VIM, error) {
	v, err := w.broker.RegisterVIM(ctx, w.self, broker.Registration{
		Name: w.m.vimName(s.Namespace, s.Name), Type: vimType, Kubeconfig: got.Value, Labels: w.m.labels(s), Project: c.Project,
		IdempotencyKey: c.Management + "/" + c.UID, Account: w.m.account(c.UID),
		Admit: func(r broker.Report) error { return w.admit(ctx, c, r.Identity) },
	})
	if errors.Is(err, broker.ErrConflict) {
		// Perhaps an attempt that died had registered it, with another secret or labels.
		if there, found, failed := w.find(ctx, *c); failed != nil || found {
			c.Secret = "" // adopted next
			v, err = there, failed
		}
	}
	if err == nil {
		err = w.admit(ctx, c, v.Current.Identity)
	}
	return v, err
}

// find returns the VIM that was registered for this very Cluster object.
func (w *watcher) find(ctx context.Context, c Cluster) (broker.VIM, bool, error) {
	found, _, err := w.broker.VIMs(ctx, w.self, broker.VIMQuery{
		State: broker.VIMRegistered, Labels: map[string]string{LabelCluster: c.UID, LabelManagement: c.Management},
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
func (w *watcher) admit(ctx context.Context, c *Cluster, system string) error {
	switch {
	case c.System == system && system != "":
		return nil
	case system == w.vim.Current.Identity:
		return errManagement
	case c.System != "":
		return errOther
	}
	stored, err := w.move(ctx, *c, func(c *Cluster) { c.System = system })
	var e *broker.Error
	if errors.As(err, &e) && errors.Is(e, broker.ErrExists) {
		return errTaken
	}
	failpoint.At("onboard.admitted")
	if err == nil {
		secret := c.Secret
		*c = stored
		c.Secret = secret
	}
	return err
}

// notRegistered stores why a registration failed.
func (w *watcher) notRegistered(ctx context.Context, c Cluster, err error) (time.Duration, error) {
	state, why, text := StateWaiting, ReasonUnavailable, message(err)
	var e *broker.Error
	switch {
	case errors.Is(err, broker.ErrInvalid) && errors.As(err, &e) && (e.Field == "name" || strings.HasPrefix(e.Field, "labels")):
		why = ReasonRefused // what the settings make of its name and labels
	case errors.Is(err, errTaken), errors.Is(err, errManagement):
		return doubtEvery, w.quarantine(ctx, c, ReasonSystemTaken, text, "")
	case errors.Is(err, errOther):
		return doubtEvery, w.quarantine(ctx, c, ReasonOtherSystem, text, "")
	case errors.Is(err, broker.ErrInvalid):
		return 0, w.quarantine(ctx, c, ReasonSecretInvalid, text, "")
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

// wellness returns the message on a registered cluster.
func wellness(v broker.VIM, s Seen) (ClusterReason, string) {
	switch {
	case s.Deleting:
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
	case noAccount(v) != "":
		return ReasonCredentialKept, "the VIM keeps the credential of the secret: " + noAccount(v)
	}
	return "", ""
}

// noAccount says why a VIM has no account of the broker's own, although one was asked for.
func noAccount(v broker.VIM) string {
	if v.Current.Discovered.Cluster == nil {
		return ""
	}
	return v.Current.Discovered.NoAccount
}
