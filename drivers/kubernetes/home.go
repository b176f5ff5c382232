package kubernetes

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/broker/failpoint"
)

// home is the part that all leases of one grant and epoch share: a namespace, which holds
// their service accounts, and bindings to the group of those accounts.
type home struct {
	vim   string
	grant broker.Grant
	// id names the bindings, the role of exact rules, and the namespace unless
	// that is one of a pool.
	id string
}

// deed is the scope of a home, in the form that is hashed and written down on the
// cluster. Later brokers rely on this form: never change it.
type deed struct {
	VIM         string        `json:"vim"`
	Role        string        `json:"role,omitempty"`
	Rules       []broker.Rule `json:"rules,omitempty"`
	Namespaces  []string      `json:"namespaces,omitempty"`
	ClusterWide bool          `json:"clusterWide,omitempty"`
	Epoch       int64         `json:"epoch"`
}

func homeOf(vim string, g broker.Grant) home {
	h := home{vim: vim, grant: g}
	sum := sha256.Sum256([]byte(h.deed()))
	h.id = homePrefix + hex.EncodeToString(sum[:10])
	return h
}

// deed is the home's deed as JSON.
func (h home) deed() string {
	text, err := json.Marshal(deed{
		VIM: h.vim, Role: h.grant.Role, Rules: canonical(h.grant.Rules), Namespaces: h.grant.Namespaces,
		ClusterWide: h.grant.ClusterWide, Epoch: h.grant.Epoch,
	})
	if err != nil {
		panic(err) // strings and numbers always encode
	}
	return string(text)
}

// homeFrom reads a deed back; false if it is not that of the home with this id.
func homeFrom(text, id string) (home, bool) {
	var d deed
	if json.Unmarshal([]byte(text), &d) != nil {
		return home{}, false
	}
	h := homeOf(d.VIM, broker.Grant{
		Role: d.Role, Rules: d.Rules, Namespaces: d.Namespaces, ClusterWide: d.ClusterWide, Epoch: d.Epoch,
	})
	return h, h.id == id
}

// canonical returns rules in one order, so that equal ones are written the same.
func canonical(rules []broker.Rule) []broker.Rule {
	sorted := func(list []string) []string {
		list = slices.Clone(list)
		slices.Sort(list)
		return slices.Compact(list)
	}
	out := make([]broker.Rule, len(rules))
	texts := make(map[int]string, len(rules))
	order := make([]int, len(rules))
	for i, r := range rules {
		out[i] = broker.Rule{
			APIGroups: sorted(r.APIGroups), Resources: sorted(r.Resources),
			ResourceNames: sorted(r.ResourceNames), Verbs: sorted(r.Verbs),
		}
		text, _ := json.Marshal(out[i]) // strings always encode
		texts[i], order[i] = string(text), i
	}
	slices.SortFunc(order, func(a, b int) int { return cmp.Compare(texts[a], texts[b]) })
	order = slices.CompactFunc(order, func(a, b int) bool { return texts[a] == texts[b] })
	ordered := make([]broker.Rule, 0, len(order))
	for _, i := range order {
		ordered = append(ordered, out[i])
	}
	return ordered
}

// labels are those of everything that belongs to the home.
func (h home) labels() map[string]string {
	return map[string]string{managedByLabel: managedBy, vimLabel: h.vim, grantLabel: h.id}
}

// owns reports whether an object carries the home's labels.
func (h home) owns(o metav1.Object) bool { return h.labelled(o.GetLabels()) }

func (h home) labelled(labels map[string]string) bool {
	return labels[vimLabel] == h.vim && labels[grantLabel] == h.id
}

func (h home) key(a broker.Access) memoryKey {
	return memoryKey{vim: a.VIM, generation: a.Generation, name: h.id}
}

// places are the namespaces in which the home is bound; the empty one is the cluster.
func (h home) places() []string {
	if h.grant.ClusterWide {
		return []string{""}
	}
	return h.grant.Namespaces
}

// makeHome refuses a grant that the cluster cannot give, then makes the namespace, the role of exact rules, and
// the bindings. Each step finds the objects that an earlier attempt left; fresh says that none of them existed
// before.
func (d *Driver) makeHome(ctx context.Context, c *connection, h home) (namespace string, fresh bool, _ error) {
	if len(h.grant.Rules) == 0 {
		if err := c.roleExists(ctx, h.grant.Role); err != nil {
			return "", false, err
		}
	}
	for _, n := range h.grant.Namespaces {
		if _, err := c.namespaceUsable(ctx, n); err != nil {
			return "", false, err
		}
	}
	namespace, fresh, err := c.settle(ctx, h)
	if err != nil {
		return "", false, err
	}
	failpoint.At("k8s.home.namespace")
	for _, place := range h.places() {
		made, err := d.bindIn(ctx, c, h, namespace, place)
		if err != nil {
			return "", false, err
		}
		fresh = fresh && made
	}
	failpoint.At("k8s.home.bound")
	return namespace, fresh, nil
}

// settle makes the home's namespace, or, if the credential may make none, claims one of
// the pool. fresh: the namespace did not exist before.
func (c *connection) settle(ctx context.Context, h home) (namespace string, fresh bool, _ error) {
	_, err := c.core.Namespaces().Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{
		Name: h.id, Labels: h.labels(), Annotations: map[string]string{deedAnnotation: h.deed()},
	}}, metav1.CreateOptions{})
	switch {
	case said(err, 403):
		namespace, err = c.claim(ctx, h)
		return namespace, false, err
	case !alreadyExists(err):
		return h.id, err == nil, fault(err, "create", "namespace "+h.id)
	}
	there, err := c.namespace(ctx, h.id)
	switch {
	case err != nil:
		err = fault(err, "get", "namespace "+h.id)
	case !h.labelled(there.Metadata.Labels):
		err = foreign("namespace", h.id)
	case there.Metadata.Deleted != nil:
		err = beingDeleted("namespace", h.id)
	}
	return h.id, false, err
}

// bindIn gives the home's accounts its rights in a place: the role of exact rules, if it has those,
// and the binding. made: there was no binding before.
func (d *Driver) bindIn(ctx context.Context, c *connection, h home, namespace, place string) (made bool, _ error) {
	if len(h.grant.Rules) > 0 {
		if err := c.makeRole(ctx, h, place); err != nil {
			return false, err
		}
	}
	return d.bind(ctx, c, h, namespace, place)
}

// makeRole makes the role that holds the home's exact rules: a ClusterRole if they are
// for the whole cluster, else a Role.
func (c *connection) makeRole(ctx context.Context, h home, place string) error {
	var (
		meta  = metav1.ObjectMeta{Name: h.id, Namespace: place, Labels: h.labels()}
		rules = policyRules(h.grant.Rules)
		err   error
	)
	if place == "" {
		_, err = c.rbac.ClusterRoles().Create(ctx, &rbacv1.ClusterRole{ObjectMeta: meta, Rules: rules}, metav1.CreateOptions{})
	} else {
		_, err = c.rbac.Roles(place).Create(ctx, &rbacv1.Role{ObjectMeta: meta, Rules: rules}, metav1.CreateOptions{})
	}
	if !alreadyExists(err) {
		return lacksRules(err, in(scoped("roles", place), place))
	}
	there, err := c.exactRole(ctx, h, place)
	switch path := strings.TrimPrefix(place+"/"+h.id, "/"); {
	case err != nil:
		return err
	case there == nil:
		return beingDeleted("role", path)
	case !h.holds(there):
		return foreign("role", path)
	}
	return nil
}

// holds reports whether a role is that of the home's exact rules, as it makes it.
func (h home) holds(role *item) bool {
	return role.Metadata.Deleted == nil && h.labelled(role.Metadata.Labels) && sameRules(role.Rules, h.grant.Rules)
}

// exactRole reads the role of exact rules that the home has in a place; nil if it has none.
func (c *connection) exactRole(ctx context.Context, h home, place string) (*item, error) {
	return find(ctx, c.rbac.client, scoped("roles", place), place, h.id)
}

// lacksRules is the error that names the rights needed to hand out exact rules.
func lacksRules(err error, what string) error {
	if !said(err, 403) {
		return fault(err, "create", what)
	}
	return &broker.Error{
		Kind: broker.ErrForbidden, Detail: "the credential may not create " + what + " with these rules (403)",
		Remedy: "grant it create on them, and either every one of the rules or the verb escalate",
	}
}

// roleRef is the role that the home's bindings in a place give.
func (h home) roleRef(place string) rbacv1.RoleRef {
	ref := rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: h.grant.Role}
	if len(h.grant.Rules) > 0 {
		ref.Name = h.id
		if place != "" {
			ref.Kind = "Role"
		}
	}
	return ref
}

// group is the one subject of a home's bindings: all service accounts of its namespace.
func group(namespace string) rbacv1.Subject {
	return rbacv1.Subject{APIGroup: rbacv1.GroupName, Kind: rbacv1.GroupKind, Name: accountsOf + namespace}
}

// maxBindings is the number of names that are tried for a binding if others hold the earlier names.
const maxBindings = 8

// bindingName is the n-th name that a binding of the home may have, from 1.
func (h home) bindingName(n int) string {
	if n == 1 {
		return h.id
	}
	return h.id + "-" + strconv.Itoa(n)
}

// bind gives the home's accounts its role in a place. A name that somebody else
// took, or whose binding was changed, is left alone, and the next one tried. made: there was none before.
func (d *Driver) bind(ctx context.Context, c *connection, h home, namespace, place string) (made bool, _ error) {
	for n := 1; n <= maxBindings; n++ {
		b := binding{
			meta: metav1.ObjectMeta{Name: h.bindingName(n), Namespace: place, Labels: h.labels()},
			role: h.roleRef(place), subjects: []rbacv1.Subject{group(namespace)},
		}
		there, err := c.makeBinding(ctx, b)
		if err != nil {
			return false, err
		}
		if there == nil || h.stands(there, namespace) {
			return there == nil && n == 1, nil
		}
		d.log.WarnContext(ctx, "a binding with the name of ours is not as we make it, left alone", "vim", h.vim, "binding", b.path())
	}
	return false, foreign("binding", binding{meta: metav1.ObjectMeta{Name: h.bindingName(maxBindings), Namespace: place}}.path())
}

// policyRules are rules as the API has them.
func policyRules(rules []broker.Rule) []rbacv1.PolicyRule {
	out := make([]rbacv1.PolicyRule, 0, len(rules))
	for _, r := range canonical(rules) {
		out = append(out, rbacv1.PolicyRule{APIGroups: r.APIGroups, Resources: r.Resources, ResourceNames: r.ResourceNames, Verbs: r.Verbs})
	}
	return out
}

// brokerRules are the API's rules as the broker has them. Rules for paths are left out: they
// lead to no identity.
func brokerRules(rules []rbacv1.PolicyRule) []broker.Rule {
	var out []broker.Rule
	for _, r := range rules {
		if len(r.Resources) > 0 {
			out = append(out, broker.Rule{APIGroups: r.APIGroups, Resources: r.Resources, ResourceNames: r.ResourceNames, Verbs: r.Verbs})
		}
	}
	return out
}

// sameRules reports whether a role holds exactly the rules.
func sameRules(has []rbacv1.PolicyRule, want []broker.Rule) bool {
	for _, r := range has {
		if len(r.NonResourceURLs) > 0 {
			return false
		}
	}
	return home{grant: broker.Grant{Rules: brokerRules(has)}}.deed() == home{grant: broker.Grant{Rules: want}}.deed()
}

func (c *connection) roleExists(ctx context.Context, role string) error {
	_, err := c.rbac.ClusterRoles().Get(ctx, role, metav1.GetOptions{})
	if notFound(err, "clusterroles", role) {
		return noSuchRole(role)
	}
	return fault(err, "get", "clusterrole "+role)
}

// namespaceUsable refuses a namespace that the cluster does not have, and returns the level of Pod Security that it
// enforces.
func (c *connection) namespaceUsable(ctx context.Context, name string) (level string, err error) {
	n, err := c.namespace(ctx, name)
	switch {
	case notFound(err, "namespaces", name):
		return "", &broker.Error{
			Kind: broker.ErrInvalid, Field: "namespaces", Detail: "the cluster has no namespace " + name,
			Remedy: "make it there, or name another", Cause: &broker.MissingNamespace{Name: name},
		}
	case err == nil && n.Status.Phase == corev1.NamespaceTerminating:
		return "", &broker.Error{
			Kind: broker.ErrInvalid, Field: "namespaces", Detail: "namespace " + name + " is being deleted on the cluster",
			Cause: &broker.MissingNamespace{Name: name},
		}
	}
	return n.Metadata.Labels[enforceLabel], fault(err, "get", "namespace "+name)
}

// isPrepared reports whether the credential works in the namespaces of a pool.
func isPrepared(a broker.Access) bool {
	return a.Discovered.Cluster != nil && a.Discovered.Cluster.Mode == broker.ModePrepared
}
