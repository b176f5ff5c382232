package kubernetes

import (
	"context"
	"errors"
	"reflect"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/yaml"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/broker/failpoint"
	"github.com/vimbroker/vimbroker/drivers/kubernetes/rbac"
)

const (
	// accountTTL is the lifetime that a token of the broker's own account is requested
	// with. The broker may be away for half of that; the cluster may give less.
	accountTTL = 7 * 24 * time.Hour
	// An API server learns of a new role a moment after it was made: it is asked again so
	// often, for so long.
	rightsEvery = 100 * time.Millisecond
	rightsLimit = 8 * time.Second
	// maxAccount bounds the name of an account.
	maxAccount = 40
)

// ownAccount is the manifest of the broker's own account on a cluster.
type ownAccount struct {
	name, vim, profile string
	roles              []rbacv1.ClusterRole
	bindings           []rbacv1.ClusterRoleBinding
}

func newOwnAccount(vim string, w broker.Account) (ownAccount, error) {
	if name, own := strings.CutPrefix(w.Before, accountPrefix+accountHome); own {
		w.Name, _, _ = strings.Cut(name, ":")
	}
	a := ownAccount{name: w.Name, vim: vim, profile: w.Profile}
	if !rbac.IsLabel(w.Name) || len(w.Name) > maxAccount {
		return a, broker.Invalid("account", "has a name that is not a DNS label of at most %d characters", maxAccount)
	}
	manifest, err := rbac.Manifest(rbac.Options{
		Profile: rbac.Profile(w.Profile), VIM: vim, Name: a.home(), Roles: rbac.Roles(),
		User: "system:serviceaccount:" + a.home() + ":" + rbac.Account,
	})
	if err != nil {
		return a, broker.Invalid("account", "%s", err)
	}
	for document := range strings.SplitSeq(manifest, "\n---\n") {
		var kind metav1.TypeMeta
		var role rbacv1.ClusterRole
		var binding rbacv1.ClusterRoleBinding
		err := yaml.Unmarshal([]byte(document), &kind)
		switch kind.Kind {
		case "ClusterRole":
			err = errors.Join(err, yaml.UnmarshalStrict([]byte(document), &role))
			a.roles = append(a.roles, role)
		case "ClusterRoleBinding":
			err = errors.Join(err, yaml.UnmarshalStrict([]byte(document), &binding))
			a.bindings = append(a.bindings, binding)
		}
		if err != nil {
			return a, err
		}
	}
	return a, nil
}

// home is the account's namespace; its roles and bindings have that name too.
func (a ownAccount) home() string { return accountHome + a.name }

func (a ownAccount) labels() map[string]string {
	return map[string]string{managedByLabel: managedBy, accountLabel: a.name}
}

// owns reports whether an object was made for the account, for whichever VIM.
func (a ownAccount) owns(o metav1.Object) bool { return o.GetLabels()[accountLabel] == a.name }

// meta is that of a cluster-wide object of the account, which goes with its namespace.
func (a ownAccount) meta(name string, home *corev1.Namespace) metav1.ObjectMeta {
	return metav1.ObjectMeta{Name: name, Labels: a.labels(), OwnerReferences: []metav1.OwnerReference{
		{APIVersion: "v1", Kind: "Namespace", Name: home.Name, UID: home.UID},
	}}
}

// ofOwnAccount reports whether the credential of a VIM is a token of the broker's own account.
func ofOwnAccount(a broker.Access) bool {
	return a.Discovered.Cluster != nil && a.Discovered.Profile != ""
}

// Identify implements [broker.Appointer].
func (d *Driver) Identify(ctx context.Context, a broker.Access) (broker.Report, error) {
	return over(ctx, d, a, func(ctx context.Context, c *connection) (broker.Report, error) {
		if _, err := c.authenticated(ctx); err != nil {
			return broker.Report{}, err
		}
		identity, err := c.identity(ctx)
		return broker.Report{Identity: identity}, err
	})
}

// Shows implements [broker.Appointer]. A credential that may not list namespaces shows nothing.
func (d *Driver) Shows(ctx context.Context, a broker.Access, vim string) (bool, error) {
	return over(ctx, d, a, func(ctx context.Context, c *connection) (bool, error) {
		there := false
		a.VIM = vim
		err := unlessForbidden(list(ctx, c.core.client, "Namespace", "", labelled(a)+","+accountLabel, func(i *item) {
			w := ownAccount{name: i.Metadata.Labels[accountLabel]}
			there = there || i.Metadata.Labels[vimLabel] == vim && i.Metadata.Name == w.home() && i.Metadata.Deleted == nil
		}))
		return there && err == nil, err
	})
}

// Appoint implements [broker.Appointer]. The account has the rights that "vimbroker vim rbac"
// prints for the profile.
func (d *Driver) Appoint(ctx context.Context, a broker.Access, w broker.Account) (broker.Credential, broker.Report, error) {
	account, err := newOwnAccount(a.VIM, w)
	if err != nil {
		return broker.Credential{}, broker.Report{}, err
	}
	ctx, end, c, err := d.connect(ctx, a)
	if err != nil {
		return broker.Credential{}, broker.Report{}, err
	}
	defer end()
	var begun []made
	cred, report, err := d.appoint(ctx, c, a, account, &begun)
	if err != nil && !errors.Is(err, broker.ErrUnreachable) && !errors.Is(err, broker.ErrUnavailable) {
		for _, m := range slices.Backward(begun) {
			if left := remove(ctx, m.client, m.resource, m.object); left != nil {
				d.log.WarnContext(ctx, "what was made for an account that cannot be is left on the cluster",
					"vim", a.VIM, "resource", m.resource, "name", m.object.GetName(), "error", left)
			}
		}
	}
	return cred, report, err
}

// made is an object that was made now.
type made struct {
	client   rest.Interface
	resource string
	object   metav1.Object
}

func (d *Driver) appoint(
	ctx context.Context, c *connection, a broker.Access, w ownAccount, out *[]made,
) (broker.Credential, broker.Report, error) {
	none := func(err error) (broker.Credential, broker.Report, error) {
		return broker.Credential{}, broker.Report{}, err
	}
	home, err := c.accountHome(ctx, w, out)
	if err != nil {
		return none(err)
	}
	failpoint.At("k8s.account.namespace")
	as, err := c.ownAccount(ctx, w, out)
	if err != nil {
		return none(err)
	}
	failpoint.At("k8s.account.made")
	if err := sideBySide(
		func() error { return c.accountRoles(ctx, w, home, out) },
		func() error { return c.dropEngine(ctx, w) },
	); err != nil {
		return none(err)
	}
	failpoint.At("k8s.account.bound")
	return d.accountToken(ctx, c, a, as, w.profile)
}

// accountToken mints a token of the account, and returns it with the report of a check,
// once the cluster grants it its rights.
func (d *Driver) accountToken(
	ctx context.Context, c *connection, a broker.Access, account *corev1.ServiceAccount, profile string,
) (broker.Credential, broker.Report, error) {
	m, err := c.tokenOf(ctx, account, accountTTL)
	if err != nil {
		return broker.Credential{}, broker.Report{}, err
	}
	failpoint.At("k8s.account.token")
	a.Credential = m.Credential
	limit := time.NewTimer(rightsLimit)
	defer limit.Stop()
	for {
		r, err := d.Check(ctx, a)
		if err == nil && r.CanMint {
			now := d.now().UTC().Truncate(time.Microsecond)
			r.Discovered.Profile, r.Discovered.RenewAt = profile, now.Add(m.ExpiresAt.Sub(now)/2).Truncate(time.Microsecond)
			return m.Credential, r, nil
		}
		if err == nil {
			err = &broker.Error{Kind: broker.ErrForbidden, Detail: "the cluster does not give the broker's own account its rights: " + r.MintMessage}
		}
		if errors.Is(err, broker.ErrUnauthorized) {
			err = &broker.Error{Kind: broker.ErrForbidden, Detail: "the cluster does not take tokens of the broker's own account", Cause: err}
		}
		if !isForbidden(err) {
			return broker.Credential{}, broker.Report{}, err
		}
		select {
		case <-limit.C:
			return broker.Credential{}, broker.Report{}, err
		case <-ctx.Done():
			return broker.Credential{}, broker.Report{}, err
		case <-time.After(rightsEvery):
		}
	}
}

// accountHome makes the account's namespace, or finds it.
func (c *connection) accountHome(ctx context.Context, w ownAccount, out *[]made) (*corev1.Namespace, error) {
	name, what, labels := w.home(), "namespace "+w.home(), w.labels()
	labels[vimLabel] = w.vim // which VIM works as it, when that is forgotten
	there, fresh, err := c.core.Namespaces().Make(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: labels}}, what)
	switch {
	case err != nil:
		return nil, fault(err, "create", what)
	case there.UID == "":
		return nil, notKubernetes(0)
	case fresh:
		*out = append(*out, made{c.core.client, "namespaces", there})
		return there, nil
	case !w.owns(there):
		return nil, foreign("namespace", name)
	case there.DeletionTimestamp != nil: // it is recreated once it is gone
		return nil, unreachable(what+" is being deleted on the cluster", "wait until it is gone")
	case there.Labels[vimLabel] == w.vim:
		return there, nil
	}
	there.Labels[vimLabel] = w.vim // an attempt before this one died
	there, err = c.core.Namespaces().Update(ctx, there, metav1.UpdateOptions{})
	return there, fault(err, "update", what)
}

// ownAccount makes the service account, or finds it.
func (c *connection) ownAccount(ctx context.Context, w ownAccount, out *[]made) (*corev1.ServiceAccount, error) {
	automount := false
	what := "serviceaccounts in namespace " + w.home()
	there, fresh, err := c.core.ServiceAccounts(w.home()).Make(ctx, &corev1.ServiceAccount{
		ObjectMeta:                   metav1.ObjectMeta{Name: rbac.Account, Namespace: w.home(), Labels: w.labels()},
		AutomountServiceAccountToken: &automount,
	}, what)
	if fresh {
		*out = append(*out, made{c.core.client, "serviceaccounts", there})
	}
	switch {
	case err != nil:
		return nil, fault(err, "create", what)
	case there.UID == "":
		return nil, notKubernetes(0)
	case !w.owns(there):
		return nil, foreign("serviceaccount", w.home()+"/"+rbac.Account)
	case there.DeletionTimestamp != nil:
		return nil, unreachable("the broker's own account is being deleted on the cluster", "wait until it is gone")
	}
	there.Namespace = w.home()
	return there, nil
}

// accountRoles gives the account its rights: exactly those of its profile.
func (c *connection) accountRoles(ctx context.Context, w ownAccount, home *corev1.Namespace, out *[]made) error {
	for _, role := range w.roles {
		role.ObjectMeta = w.meta(role.Name, home)
		there, fresh, err := c.rbac.ClusterRoles().Make(ctx, &role, "clusterroles")
		switch {
		case err != nil:
			return lacksRules(err, "clusterroles")
		case fresh:
			*out = append(*out, made{c.rbac.client, "clusterroles", there})
			continue
		case !w.owns(there):
			return foreign("clusterrole", role.Name)
		case reflect.DeepEqual(there.Rules, role.Rules) && reflect.DeepEqual(there.OwnerReferences, role.OwnerReferences):
			continue
		}
		there.Rules, there.Labels, there.OwnerReferences, there.AggregationRule = role.Rules, role.Labels, role.OwnerReferences, nil
		if _, err := c.rbac.ClusterRoles().Update(ctx, there, metav1.UpdateOptions{}); err != nil {
			return lacksRules(err, "clusterroles")
		}
	}
	for i := range w.bindings {
		if err := c.accountBinding(ctx, w, &w.bindings[i], home, out); err != nil {
			return err
		}
	}
	return nil
}

// accountBinding makes a binding of the account. One that is not exactly so is replaced.
func (c *connection) accountBinding(
	ctx context.Context, w ownAccount, b *rbacv1.ClusterRoleBinding, home *corev1.Namespace, out *[]made,
) error {
	want := &rbacv1.ClusterRoleBinding{ObjectMeta: w.meta(b.Name, home), RoleRef: b.RoleRef, Subjects: b.Subjects}
	for range 2 {
		there, fresh, err := c.rbac.ClusterRoleBindings().Make(ctx, want, "clusterrolebindings")
		switch {
		case err != nil:
			return fault(err, "create", "clusterrolebindings to clusterrole "+b.RoleRef.Name)
		case fresh:
			*out = append(*out, made{c.rbac.client, "clusterrolebindings", there})
			return nil
		case !w.owns(there):
			return foreign("clusterrolebinding", b.Name)
		case there.RoleRef == want.RoleRef && slices.Equal(there.Subjects, want.Subjects) &&
			reflect.DeepEqual(there.OwnerReferences, want.OwnerReferences):
			return nil
		}
		if err := remove(ctx, c.rbac.client, "clusterrolebindings", there); err != nil {
			return err
		}
	}
	return beingDeleted("clusterrolebinding", b.Name)
}

// engineName is that of the role and the binding that only the profile engine has.
func (a ownAccount) engineName() string { return a.home() + "-engine" }

// dropEngine takes the rights of the profile engine back from an account that has another.
func (c *connection) dropEngine(ctx context.Context, w ownAccount) error {
	if w.profile == string(rbac.Engine) {
		return nil
	}
	return c.removeWide(ctx, w, w.engineName())
}

// removeWide removes the binding and the role of a name, if they are the account's.
func (c *connection) removeWide(ctx context.Context, w ownAccount, name string) error {
	b, err := c.binding(ctx, "", name)
	if err != nil {
		return err
	}
	if b != nil && w.owns(b.object) {
		if err := c.unbind(ctx, b); err != nil {
			return err
		}
	}
	role, err := c.rbac.ClusterRoles().Find(ctx, name)
	if err != nil || role == nil || !w.owns(role) {
		return err
	}
	return remove(ctx, c.rbac.client, "clusterroles", role)
}

// Reappoint implements [broker.Appointer].
func (d *Driver) Reappoint(ctx context.Context, a broker.Access) (broker.Credential, broker.Report, error) {
	claims := claimsOf(a.Credential.Token.Reveal()).Kubernetes
	if !ofOwnAccount(a) || !strings.HasPrefix(claims.Namespace, accountHome) || claims.ServiceAccount.UID == "" {
		return broker.Credential{}, broker.Report{}, broker.Invalid("credential", "is no token of the broker's own account")
	}
	ctx, end, c, err := d.connect(ctx, a)
	if err != nil {
		return broker.Credential{}, broker.Report{}, err
	}
	defer end()
	account := &corev1.ServiceAccount{}
	account.Namespace, account.Name = claims.Namespace, claims.ServiceAccount.Name
	account.UID = types.UID(claims.ServiceAccount.UID)
	return d.accountToken(ctx, c, a, account, a.Discovered.Profile)
}

// dismissAll removes the VIM's own account with all that was made for it. The account does
// that itself: objects left when its last right is gone are deleted with its namespace.
func (c *connection) dismissAll(ctx context.Context, a broker.Access) error {
	var homes []metav1.ObjectMeta
	err := list(ctx, c.core.client, "Namespace", "", labelled(a)+","+accountLabel, func(i *item) { homes = append(homes, i.meta()) })
	if err != nil {
		return unlessForbidden(err) // it could have made none
	}
	for i := range homes {
		w := ownAccount{name: homes[i].Labels[accountLabel], vim: a.VIM}
		if homes[i].Name != w.home() {
			continue
		}
		if homes[i].DeletionTimestamp == nil {
			if err := c.removeWide(ctx, w, w.engineName()); err != nil {
				return err
			}
			_, err := deleteByUID(ctx, c.core.client, "namespaces", "", homes[i].Name, string(homes[i].UID))
			if err != nil && !notFound(err, "namespaces", homes[i].Name) {
				return fault(err, "delete", "namespace "+homes[i].Name)
			}
		}
		failpoint.At("k8s.account.dismissed")
		// From here on the account may be gone; then the cluster removes the rest by itself.
		err := c.removeWide(ctx, w, w.home())
		if err != nil && !errors.Is(err, broker.ErrUnauthorized) && !isForbidden(err) {
			return err
		}
	}
	return nil
}
