package broker

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/vimbroker/vimbroker/broker/clientconfig"
	"github.com/vimbroker/vimbroker/broker/failpoint"
	"github.com/vimbroker/vimbroker/policy"
	"github.com/vimbroker/vimbroker/policy/audit"
)

// A system such as Argo CD or Flux keeps kubeconfigs in Secrets of a cluster, and asks nobody. What is pushed there names a
// standing lease and an exec plugin that logs in as the lease's holder: it holds no credential. What was pushed is known by
// its labels alone; a pass keeps it as the lease is, and removes it once the lease is cut off.

// PushTarget is where kubeconfigs are pushed to. Administrators set targets.
type PushTarget struct {
	Name string
	// Project and VIM name the VIM that has the Secrets, Namespace where on it they are.
	Project, VIM, Namespace string
	// Form is what the system reads; the text of [PushForm].
	Form PushForm
	// Plugin is how the system runs the plugin. Args are those of the lease; Env also gets the client's id.
	Plugin clientconfig.Plugin
}

type PushForm string

const (
	// FormKubeconfig is a kubeconfig under the key "value", as Flux and Cluster API keep it.
	FormKubeconfig PushForm = "kubeconfig"
	// FormArgoCD is a cluster of Argo CD.
	FormArgoCD PushForm = "argocd"
)

// Shelf is a [Driver] whose VIMs can keep kubeconfigs for other systems.
type Shelf interface {
	// Shelve makes a Secret, or makes it as it is to be. One of that name that is not of that target and login is
	// [ErrConflict].
	Shelve(ctx context.Context, a Access, s Shelved) error
	// Shelved lists the Secrets of a target in a namespace.
	Shelved(ctx context.Context, a Access, target, namespace string) ([]Shelved, error)
	// Unshelve removes one; one that is gone, or is another's by now, is success.
	Unshelve(ctx context.Context, a Access, s Shelved) error
}

// Shelved is a Secret with a kubeconfig.
type Shelved struct {
	Target, Namespace, Name string
	Login                   string
	// Labels are those that the system looks for.
	Labels map[string]string
	Data   map[string]string
}

// keepEvery is how often what was pushed is compared with its leases.
const keepEvery = 5 * time.Minute

var secretName = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$`) })

// PushLease writes a kubeconfig for a standing lease to a target, as the Secret of that name. It may be repeated.
func (b *Leaser) PushLease(ctx context.Context, p policy.Principal, id, target, name string) (Lease, Shelved, error) {
	fail := func(err error) (Lease, Shelved, error) { return Lease{}, Shelved{}, err }
	l, err := b.findLease(ctx, p, policy.LeasePush, id)
	if err == nil {
		l, err = b.current(ctx, l.ID)
	}
	if err != nil {
		return fail(err)
	}
	act, err := b.enter(ctx, p, policy.LeasePush, leaseResource(l), policy.Wish{})
	if err != nil {
		return fail(err)
	}
	t, known := b.pushTargets[target]
	switch {
	case !known:
		err = Invalid("target", "is none of the server's targets: %s", strings.Join(slices.Sorted(maps.Keys(b.pushTargets)), ", "))
	case !secretName().MatchString(name):
		err = Invalid("name", "must be 1 to 63 lower-case letters, digits and dashes, as the name of a Secret")
	case b.over(l):
		err = &Error{Kind: ErrConflict, Detail: "the lease has ended", Remedy: "issue another"}
	}
	if err != nil {
		return fail(b.refuse(ctx, act, err))
	}
	s, err := b.shelved(ctx, t, l, name)
	if err != nil {
		return fail(b.refuse(ctx, act, err))
	}
	act.With(audit.DetailTarget, target+"/"+name)
	if err := b.entries.Append(ctx, act.Intent()); err != nil {
		return fail(Unrecorded(err))
	}
	if err := b.onTarget(ctx, t, func(shelf Shelf, a Access) error { return shelf.Shelve(ctx, a, s) }); err != nil {
		return fail(b.refuse(ctx, act, err))
	}
	failpoint.At("push.shelved")
	return l, s, b.entries.Append(ctx, act.Done())
}

func (b *Leaser) shelved(ctx context.Context, t PushTarget, l Lease, name string) (Shelved, error) {
	client, registered := strings.CutPrefix(l.Principal, policy.ByClient+":")
	if !l.Standing() || !registered {
		return Shelved{}, &Error{
			Kind: ErrUnsupported, Detail: "a kubeconfig is pushed for a standing lease of a registered client alone: nothing else can be fetched " +
				"by a program that is pushed no credential",
			Remedy: "take the lease as a registered client, with standing",
		}
	}
	v, err := b.vims.VIM(ctx, l.VIM)
	if err != nil {
		return Shelved{}, err
	}
	if v.Current.Target.InsecureSkipVerify {
		return Shelved{}, unverified(v)
	}
	config := b.config(v, v.Current, l, Credential{})
	cluster, ok := config.Client.(clientconfig.KubernetesClient)
	if !ok {
		return Shelved{}, &Error{Kind: ErrUnsupported, Detail: "only leases on clusters have a kubeconfig"}
	}
	plugin := t.Plugin
	plugin.Args, plugin.Env = []string{"credential", "--lease", l.Login}, maps.Clone(plugin.Env)
	plugin.Env[clientconfig.EnvClientID] = client
	s := Shelved{Target: t.Name, Namespace: t.Namespace, Name: name, Login: l.Login}
	if t.Form == FormArgoCD {
		s.Labels = map[string]string{"argocd.argoproj.io/secret-type": "cluster"}
		s.Data = cluster.ArgoCDCluster(config, plugin, l.Namespaces)
		return s, nil
	}
	s.Data = map[string]string{"value": cluster.PluginKubeconfig(config, plugin)}
	return s, nil
}

func unverified(v VIM) error {
	return &Error{
		Kind: ErrUnsupported, Detail: "the certificate of VIM " + v.Name + " is not verified: no kubeconfig is pushed for it, or to it",
		Remedy: "register its caCert in place of insecureSkipVerify",
	}
}

func (b *Leaser) onTarget(ctx context.Context, t PushTarget, do func(Shelf, Access) error) error {
	v, err := b.lookUpVIM(ctx, policy.Principal{Name: "system:targets", Project: t.Project}, t.VIM)
	if errors.Is(err, ErrNotFound) || err == nil && v.Project != t.Project {
		return &Error{Kind: ErrUnavailable, Detail: "the VIM " + t.VIM + " of the target " + t.Name + " is not registered", Cause: err}
	}
	if err != nil {
		return err
	}
	d, err := b.driver(v.Type)
	if err != nil {
		return err
	}
	shelf, can := d.(Shelf)
	switch {
	case !can:
		return &Error{Kind: ErrUnsupported, Detail: "a VIM of type " + string(v.Type) + " keeps no Secrets"}
	case v.Current.Target.InsecureSkipVerify:
		return unverified(v)
	}
	session := b.newSession(v.ID)
	defer session.close()
	o, err := session.opened(ctx, v.Current)
	if err != nil {
		return err
	}
	return do(shelf, o.Access)
}

// KeepPushed is the pass that has what was pushed be as its lease is: another address or CA of the VIM is written, and what
// names a lease that was cut off is removed. What names a lease that nobody knows any more is left, and told.
func (b *Leaser) KeepPushed(ctx context.Context) error {
	var failed []error
	for _, name := range slices.Sorted(maps.Keys(b.pushTargets)) {
		t := b.pushTargets[name]
		var there []Shelved
		err := b.onTarget(ctx, t, func(shelf Shelf, a Access) (err error) {
			there, err = shelf.Shelved(ctx, a, t.Name, t.Namespace)
			return err
		})
		for _, s := range there {
			err = errors.Join(err, b.keepPushed(ctx, t, s))
		}
		if err != nil {
			failed = append(failed, fmt.Errorf("target %s: %w", name, err))
		}
	}
	return errors.Join(failed...)
}

func (b *Leaser) keepPushed(ctx context.Context, t PushTarget, is Shelved) error {
	l, err := b.current(ctx, is.Login)
	if errors.Is(err, ErrNotFound) {
		b.log.WarnContext(ctx, "a Secret of a target names a lease that is not known", "target", t.Name, "secret", is.Name, "lease", is.Login)
		return nil
	}
	if err != nil {
		return err
	}
	over := b.over(l) && (!l.replaceable() || l.Reason == ReasonRequested)
	want := is
	if !over {
		want, err = b.shelved(ctx, t, l, is.Name)
		over = errors.Is(err, ErrNotFound) // its VIM is deleted
		if err != nil && !over {
			return err
		}
	}
	if !over && maps.Equal(want.Data, is.Data) {
		return nil
	}
	act, err := b.enter(ctx, system("targets"), policy.LeasePush, leaseResource(l), policy.Wish{})
	if err != nil {
		return err
	}
	act.With(audit.DetailTarget, t.Name+"/"+is.Name)
	if over {
		act.With(audit.DetailReason, "the lease is cut off")
	}
	if err := b.entries.Append(ctx, act.Intent()); err != nil {
		return Unrecorded(err)
	}
	err = b.onTarget(ctx, t, func(shelf Shelf, a Access) error {
		if over {
			return shelf.Unshelve(ctx, a, is)
		}
		return shelf.Shelve(ctx, a, want)
	})
	if err != nil {
		return b.refuse(ctx, act, err)
	}
	failpoint.At("push.kept")
	return b.entries.Append(ctx, act.Done())
}
