package onboard

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/broker/failpoint"
)

// The reasons why no new lease is issued on a VIM while its cluster is in such a state. A
// reason that somebody else has written there stays.
const (
	suspendedPaused   = "its cluster is paused in Cluster API"
	suspendedDeleting = "its cluster is being deleted"
	suspendedGone     = "its cluster is gone, and what stood on it: terminate its VNF instances, which asks nobody"
)

// upkeep has a cluster's VIM follow it.
func (w *watcher) upkeep(ctx context.Context, c Cluster, s Seen) (time.Duration, error) {
	v, there := w.cached(c.VIM)
	if !there {
		var err error
		if v, err = w.Broker.VIM(ctx, w.self, c.VIM); errors.Is(err, broker.ErrNotFound) {
			_, err := w.move(ctx, c, func(c *Cluster) {
				c.State, c.VIM, c.Former, c.Secret, c.Attempts, c.Reason, c.Message = StateWaiting, "", c.VIM, "", 0, "", ""
				if to := w.m.project(c.Namespace); to != c.Project {
					c.Project, c.Former = to, ""
				}
			})
			return time.Second, err
		} else if err != nil {
			return w.fail(ctx, c, ReasonUnavailable, broker.Message(err))
		}
		w.remember(v)
	}
	if !c.GoneAt.IsZero() { // it was thought to be moving
		var err error
		if c, err = w.move(ctx, c, func(c *Cluster) { c.GoneAt = time.Time{} }); err != nil {
			return 0, err
		}
	}
	if v.State != broker.VIMRegistered {
		return waitEvery, w.note(ctx, c, ReasonDraining, "somebody is deleting its VIM; it is registered again after that")
	}
	c, again, err := w.rotate(ctx, c, s, &v)
	if err != nil || again > 0 || c.State != StateRegistered {
		return again, err
	}
	if change, any := w.drift(v, s); any {
		changed, err := w.Broker.UpdateVIM(ctx, w.self, v.ID, change)
		if err != nil {
			return w.fail(ctx, c, ReasonUnavailable, "its VIM cannot be changed: "+broker.Message(err))
		}
		v = changed
		w.remember(v)
	}
	why, text := wellness(v, s)
	if why == "" && !pushed(c) && w.secretless(c) {
		why, text = ReasonSecretMissing, "there is no secret "+w.m.secretName(c.Name)+" any more; the VIM keeps the credential that it has"
	}
	if to := w.m.project(c.Namespace); why == "" && to != c.Project {
		why, text = ReasonOtherProject, "the settings give it to project "+to+", and its VIM stays one of "+c.Project+
			"; delete the VIM to have it registered there"
	}
	return 0, w.announce(ctx, c, why, text)
}

// drift is the difference between a VIM and the values that its cluster asks for.
func (w *watcher) drift(v broker.VIM, s Seen) (c broker.Change, any bool) {
	want := ""
	switch {
	case s.Deleting && !s.Paused: // a paused one is not deleted, it is moved
		want = suspendedDeleting
	case s.Paused:
		want = suspendedPaused
	}
	ours := slices.Contains([]string{"", suspendedPaused, suspendedDeleting, suspendedGone}, v.Suspended)
	if ours && v.Suspended != want {
		c.Suspended, any = &want, true
	}
	labels := w.m.copied(s)
	c.Labels = map[string]*string{}
	if v.Labels[broker.LabelGone] != "" { // it was restored from a backup
		c.Labels[broker.LabelGone], any = nil, true
	}
	for key, value := range labels {
		if v.Labels[key] != value {
			c.Labels[key], any = &value, true
		}
	}
	for key := range v.Labels {
		if _, still := labels[key]; !still && strings.HasPrefix(key, copiedPrefix) {
			c.Labels[key], any = nil, true
		}
	}
	return c, any
}

// unaccounted reports whether the VIM is to have an account of the broker's own, and has
// not: it was enabled without, or with another profile.
func (w *watcher) unaccounted(v broker.VIM) bool {
	wish := w.m.account("")
	has, none := v.Current.Discovered.Account()
	switch {
	case wish == nil, none != "":
		return false
	case has != "":
		return has != wish.Profile
	}
	return v.Current.CredentialKind == broker.CredentialClientCertificate
}

// lost reports whether the VIM refuses its credential, or its own account has lost rights.
func lost(v broker.VIM) (refused, account bool) {
	profile, _ := v.Current.Discovered.Account()
	account = profile != ""
	refused = v.Health.Status == broker.HealthUnauthorized
	return refused || account && v.Health.Status == broker.HealthReachable && !v.Health.CanMint, account
}

// sound reports whether a VIM works, by an account of the broker's own.
func (w *watcher) sound(v broker.VIM) bool {
	profile, _ := v.Current.Discovered.Account()
	return profile != "" && v.Health.Status == broker.HealthReachable && v.Health.CanMint
}

// rotate adopts a new version of the secret. If the VIM refuses its credential, the
// secret is read again, once for each check that found so: providers with short-lived
// tokens replace them every few minutes, and a lost account is made again.
func (w *watcher) rotate(ctx context.Context, c Cluster, s Seen, v *broker.VIM) (Cluster, time.Duration, error) {
	version := w.version(c)
	refused, account := lost(*v)
	unaccounted := w.unaccounted(*v)
	w.mu.Lock()
	first := (refused || unaccounted) && w.reread[c.ID] != v.Health.CheckedAt
	if first {
		w.reread[c.ID] = v.Health.CheckedAt
	}
	w.mu.Unlock()
	anew := w.reconsiders(c)
	if !first && (version == "" || version == c.Secret && !anew) {
		return c, 0, nil
	}
	got, err := w.secret(ctx, s)
	if err == nil && c.State == StateRegistered && !refused && !unaccounted && w.sound(*v) {
		same, err := w.Broker.SameTarget(ctx, w.self, v.ID, got.Value)
		if err == nil && same { // the VIM has an account of its own, and needs no other credential for it
			c.Secret = got.Version
			return c, 0, w.putOff(ctx, c)
		}
		if err != nil && !errors.Is(err, broker.ErrInvalid) {
			again, err := w.fail(ctx, c, ReasonUnavailable, broker.Message(err))
			return c, again, err
		}
	}
	switch {
	case err == nil && got.Version == c.Secret && !anew && !(first && (account || unaccounted)):
		return c, 0, nil
	case errors.Is(err, broker.ErrNotFound):
		return c, 0, nil
	case err != nil:
		w.unread(c)
		again, err := w.withoutSecret(ctx, c, err)
		return c, again, err
	}
	return w.adopt(ctx, c, s, v, got)
}

// unread has the next try read the secret again, for the same check.
func (w *watcher) unread(c Cluster) {
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.reread, c.ID)
}

// adopt has a cluster's VIM work with another credential, if it leads to the same system.
func (w *watcher) adopt(ctx context.Context, c Cluster, s Seen, v *broker.VIM, got ClusterSecret) (Cluster, time.Duration, error) {
	changed, err := w.Broker.UpdateVIM(ctx, w.self, v.ID, broker.Change{Kubeconfig: got.Value, Account: w.m.account(c.UID)})
	var e *broker.Error
	switch {
	case err == nil:
	case errors.As(err, &e) && errors.Is(e, broker.ErrConflict) && e.Field == "endpoint":
		return c, doubtEvery, w.quarantine(ctx, c, fault{reason: ReasonOtherSystem, message: broker.Message(errOther), version: got.Version})
	case errors.Is(err, broker.ErrInvalid):
		return c, doubtEvery, w.quarantine(ctx, c, fault{reason: ReasonSecretInvalid, message: broker.Message(err), version: got.Version})
	default:
		why := ReasonUnavailable
		switch {
		case errors.Is(err, broker.ErrUnauthorized), errors.Is(err, broker.ErrForbidden):
			why = ReasonCredentialRefused
		case errors.Is(err, broker.ErrUnreachable):
			why = ReasonUnreachable
		}
		if why != ReasonCredentialRefused {
			w.unread(c)
		}
		again, failed := w.fail(ctx, c, why, "a new credential is not adopted: "+w.unreached(ctx, c, err))
		return c, again, failed
	}
	failpoint.At("onboard.vim-rotated")
	w.adopted(w.m.VIM)
	w.remember(changed)
	*v = changed
	c, err = w.move(ctx, c, func(c *Cluster) {
		c.State, c.Secret, c.Attempts = StateRegistered, got.Version, 0
		c.Reason, c.Message = wellness(changed, s)
	})
	return c, 0, err
}
