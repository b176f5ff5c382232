package onboard

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/broker/clientconfig"
	"github.com/vimbroker/vimbroker/broker/failpoint"
	"github.com/vimbroker/vimbroker/broker/secret"
	"github.com/vimbroker/vimbroker/policy"
	"github.com/vimbroker/vimbroker/policy/audit"
)

const (
	// defaultPushTTL and maxPushTTL are how long a token to push with is good.
	defaultPushTTL = time.Hour
	maxPushTTL     = 24 * time.Hour
	// MaxKubeconfig bounds a kubeconfig that is pushed or read from a secret, in bytes.
	MaxKubeconfig = 256 << 10

	// pushLease is the TTL of the lease that a push looks at the management cluster with.
	pushLease = 10 * time.Minute

	// pushToken begins each token; the id of the cluster follows.
	pushToken = "vbpush_"
	// pushPrincipal begins the name of who pushes with a token; the cluster's id follows.
	pushPrincipal = "push:"
	// pushedVersion begins the version of a credential that was pushed.
	pushedVersion = "pushed/"
)

// remedyGone is the remedy for a Cluster that is not there, errGone says so of one that is known not to be.
const remedyGone = "make a Cluster anew, and push with a token of that one"

var errGone = &broker.Error{Kind: broker.ErrConflict, Detail: "the cluster is gone", Remedy: remedyGone}

// pushed reports whether what was last adopted or refused of a cluster was pushed.
func pushed(c Cluster) bool { return strings.HasPrefix(c.Secret, pushedVersion) }

// IssuePushToken makes the token with which one kubeconfig of the cluster can be pushed. The
// one before is good no more. The caller needs the right to enable the management cluster.
func (o *Onboarding) IssuePushToken(ctx context.Context, p policy.Principal, id string, ttl time.Duration) (secret.Text, time.Time, error) {
	c, act, err := o.enterPush(ctx, p, id)
	if err != nil {
		return secret.Text{}, time.Time{}, err
	}
	fail := func(err error) (secret.Text, time.Time, error) {
		return secret.Text{}, time.Time{}, o.desk.Refuse(ctx, act, err)
	}
	if ttl == 0 {
		ttl = defaultPushTTL
	}
	if ttl < time.Minute || ttl > maxPushTTL {
		return fail(broker.Invalid("ttl", "must be a minute to %d hours", maxPushTTL/time.Hour))
	}
	if c.State == StateRetiring || c.State == StateRetired {
		return fail(errGone)
	}
	token := pushToken + c.ID + "_" + rand.Text() + rand.Text()
	until := o.Now().Add(ttl)
	_, err = o.Store.UpdateCluster(ctx, c.ID, func(now *Cluster) error {
		now.PushToken, now.PushExpiresAt, now.PushedAt = hashOf(token), until, time.Time{}
		return nil
	}, act.Done(audit.DetailReason, "push token issued"))
	if err != nil {
		return fail(err)
	}
	return secret.NewText(token), until, nil
}

// RevokePushToken ends a cluster's token. A missing token is success.
func (o *Onboarding) RevokePushToken(ctx context.Context, p policy.Principal, id string) error {
	c, act, err := o.enterPush(ctx, p, id)
	if err != nil {
		return err
	}
	_, err = o.Store.UpdateCluster(ctx, c.ID, func(now *Cluster) error {
		now.PushToken, now.PushExpiresAt, now.PushedAt = "", time.Time{}, time.Time{}
		return nil
	}, act.Done(audit.DetailReason, "push token revoked"))
	if err != nil {
		return o.desk.Refuse(ctx, act, err)
	}
	return nil
}

// enterPush finds a cluster that p may see, and decides whether p may say who pushes for it.
func (o *Onboarding) enterPush(ctx context.Context, p policy.Principal, id string) (Cluster, *audit.Act, error) {
	found, err := o.Cluster(ctx, p, id)
	if err != nil {
		return Cluster{}, nil, err
	}
	_, act, err := o.enterVIM(ctx, p, found.Management)
	if err != nil {
		return Cluster{}, nil, err
	}
	return found.Cluster, act.With(detailCluster, found.Namespace+"/"+found.Name).With(detailProject, found.Project), nil
}

func hashOf(token string) string {
	sum := sha256.Sum256([]byte(token))
	return hex.EncodeToString(sum[:])
}

// Pusher is who holds a token to push with; [policy.ErrUnauthenticated] if that is no
// cluster's. A token that has expired or was used is told so when it pushes.
func (o *Onboarding) Pusher(ctx context.Context, token string) (policy.Principal, error) {
	id, _, ok := strings.Cut(strings.TrimPrefix(token, pushToken), "_")
	if _, err := uuid.Parse(id); err != nil || !ok || !strings.HasPrefix(token, pushToken) {
		return policy.Principal{}, policy.ErrUnauthenticated
	}
	c, err := o.Store.Cluster(ctx, id)
	switch {
	case errors.Is(err, broker.ErrNotFound):
		return policy.Principal{}, policy.ErrUnauthenticated
	case err != nil:
		return policy.Principal{}, err
	case c.PushToken == "" || subtle.ConstantTimeCompare([]byte(c.PushToken), []byte(hashOf(token))) != 1:
		return policy.Principal{}, policy.ErrUnauthenticated
	}
	return policy.Principal{Name: pushPrincipal + c.ID, Project: c.Project}, nil
}

// Pushed is a kubeconfig that the script of a package brings, and the cluster that it is of.
type Pushed struct {
	// Management is the id or name of the VIM that the management cluster is.
	Management     string
	Namespace, UID string
	Kubeconfig     secret.Text
}

// Push takes a kubeconfig for the cluster that the holder's token is bound to, as if the
// secret of the cluster held it: by the same checks, into the same states. The token is
// used up by a push after which the cluster is registered; after any other it stays valid.
// The state of the returned cluster is the outcome.
func (o *Onboarding) Push(ctx context.Context, p policy.Principal, in Pushed) (View, error) {
	id, ok := strings.CutPrefix(p.Name, pushPrincipal)
	if !ok {
		return View{}, &broker.Error{
			Kind: broker.ErrDenied, Detail: "a kubeconfig is pushed with a token of its cluster", Remedy: "have one issued for the cluster",
		}
	}
	c, err := o.Store.Cluster(ctx, id)
	if err != nil {
		return View{}, err
	}
	m, err := o.Store.Management(ctx, c.Management)
	if err != nil {
		return View{}, err
	}
	hub, err := o.Broker.VIM(ctx, self(""), m.VIM)
	if err != nil {
		return View{}, err
	}
	w := o.newWatcher(m, hub)
	act, err := w.act(ctx, c)
	if err != nil {
		return View{}, err
	}
	act.With("by", p.Name)
	if err := o.mayPush(c, hub, in); err != nil {
		return View{}, o.desk.Refuse(ctx, act, err)
	}
	s, err := w.lookFresh(ctx, c)
	if err != nil {
		return View{}, o.desk.Refuse(ctx, act, err)
	}
	w.keep(c)
	sum := sha256.Sum256([]byte(in.Kubeconfig.Reveal()))
	got := ClusterSecret{
		SecretVersion: SecretVersion{Name: m.secretName(c.Name), Cluster: c.Name, Version: pushedVersion + hex.EncodeToString(sum[:8])},
		Value:         in.Kubeconfig,
	}
	if err := w.takePushed(ctx, c, s, got); err != nil {
		return View{}, o.desk.Refuse(ctx, act, err)
	}
	now, err := o.notePush(ctx, c, got.Version, act)
	if err != nil {
		return View{}, err
	}
	v := broker.VIM{}
	if now.VIM != "" {
		if v, err = o.Broker.VIM(ctx, self(""), now.VIM); err != nil && !errors.Is(err, broker.ErrNotFound) {
			return View{}, err
		}
	}
	return view(now, v), nil
}

// notePush records the outcome of a push, which may use the token up, and returns the present cluster.
func (o *Onboarding) notePush(ctx context.Context, c Cluster, version string, act *audit.Act) (Cluster, error) {
	now, err := o.Store.Cluster(ctx, c.ID)
	if err != nil {
		return Cluster{}, err
	}
	if now.State == StateRegistered && now.Secret == version {
		failpoint.At("onboard.pushed")
		token := c.PushToken
		return o.Store.UpdateCluster(ctx, c.ID, func(now *Cluster) error {
			if now.PushToken == token { // and not one that was issued meanwhile
				now.PushedAt = o.Now()
			}
			return nil
		}, act.Done(audit.DetailReason, "pushed"))
	}
	if err := o.Guard.Sink.Append(ctx, act.Failed("the cluster is not registered with it")); err != nil {
		return Cluster{}, broker.Unrecorded(err)
	}
	return now, nil
}

// mayPush refuses what the token is not for.
func (o *Onboarding) mayPush(c Cluster, hub broker.VIM, in Pushed) error {
	denied := func(field, format string, args ...any) error {
		return &broker.Error{
			Kind: broker.ErrDenied, Field: field, Detail: fmt.Sprintf(format, args...),
			Remedy: "have a token issued for this very cluster",
		}
	}
	switch {
	case !c.PushedAt.IsZero():
		return denied("", "the token was used already")
	case !o.Now().Before(c.PushExpiresAt):
		return denied("", "the token has expired")
	case in.Management != hub.ID && in.Management != hub.Name:
		return denied("managementCluster", "is not the one that the token is for")
	case in.Namespace != c.Namespace:
		return denied("namespace", "is not the one that the token is for")
	case in.UID != c.UID:
		return denied("clusterUid", "is not that of the cluster that the token is for")
	case c.State == StateRetiring || c.State == StateRetired:
		return errGone
	case in.Kubeconfig.Empty():
		return broker.Invalid("kubeconfig", "is required")
	case len(in.Kubeconfig.Reveal()) > MaxKubeconfig:
		return broker.Invalid("kubeconfig", "is longer than %d bytes", MaxKubeconfig)
	}
	return nil
}

// lookFresh asks the management cluster for a cluster, with a lease for that alone.
func (w *watcher) lookFresh(ctx context.Context, c Cluster) (Seen, error) {
	l, config, err := w.Broker.IssueLease(ctx, w.self, broker.LeaseRequest{
		VIM: w.m.VIM, TTL: pushLease, Namespaces: []string{c.Namespace},
		Rules:  []broker.Rule{{APIGroups: []string{capiGroup}, Resources: []string{"clusters"}, Verbs: []string{"get"}}},
		Format: clientconfig.JSON, Purpose: purpose, Operation: "onboard-push:" + c.ID,
	})
	if err != nil {
		return Seen{}, err
	}
	defer func() {
		end, cancel := context.WithTimeout(context.WithoutCancel(ctx), stepLimit)
		defer cancel()
		if _, err := w.Broker.RevokeLeases(end, w.self, broker.LeaseSelector{VIM: w.m.VIM, Operation: l.Operation}); err != nil {
			w.Log.WarnContext(ctx, "the lease of a push is left to expire", "lease", l.ID, "error", err)
		}
	}()
	w.use(config)
	s, err := w.Source.Cluster(ctx, w.present(), c.Namespace, c.Name)
	switch {
	case errors.Is(err, broker.ErrNotFound), err == nil && s.UID != c.UID:
		return Seen{}, &broker.Error{
			Kind: broker.ErrConflict, Detail: "the management cluster does not have this Cluster any more", Remedy: remedyGone,
		}
	case err == nil && !w.m.selects(s):
		return Seen{}, &broker.Error{
			Kind: broker.ErrConflict, Detail: "the cluster does not have the labels or the annotation that are asked for",
			Remedy: "label and annotate the Cluster as the settings of its management cluster ask",
		}
	}
	return s, err
}

// takePushed registers a cluster with a credential that was pushed, or has its VIM adopt it.
func (w *watcher) takePushed(ctx context.Context, c Cluster, s Seen, got ClusterSecret) error {
	if c.VIM == "" {
		_, waits, err := w.notYet(ctx, c, s)
		if !waits {
			_, err = w.registerWith(ctx, c, s, got)
		}
		return err
	}
	v, err := w.Broker.VIM(ctx, w.self, c.VIM)
	if err == nil {
		_, _, err = w.adopt(ctx, c, s, &v, got)
	}
	return err
}
