package kubernetes

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"

	authorizationv1 "k8s.io/api/authorization/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/drivers/kubernetes/rbac"
)

const rbacGroup = "rbac.authorization.k8s.io"

// right is one thing that a credential may be allowed to do.
type right struct {
	verb, group, resource, subresource, namespace, name string
}

// String says the right as a person would grant it.
func (r right) String() string {
	s := r.verb + " " + r.resource
	if r.subresource != "" {
		s += "/" + r.subresource
	}
	if r.name != "" {
		s += " " + r.name
	}
	if r.namespace != "" {
		s += " in namespace " + r.namespace
	}
	return s
}

// bindable are the roles of which the credential must be able to hand out one at least.
var bindable = []string{"view", "edit", "admin", "cluster-admin"}

// verbs are rights to one resource, one for each verb.
func verbs(group, resource, namespace string, verbs ...string) []right {
	out := make([]right, 0, len(verbs))
	for _, v := range verbs {
		out = append(out, right{verb: v, group: group, resource: resource, namespace: namespace})
	}
	return out
}

// leasesIn are the rights to make and to end leases whose accounts stand in a namespace;
// without one, in any.
func leasesIn(namespace string) []right {
	return append(verbs("", "serviceaccounts", namespace, "create", "get", "list", "delete"),
		right{verb: "create", resource: "serviceaccounts", subresource: "token", namespace: namespace})
}

// bindsIn are the rights to make and to remove bindings.
func bindsIn(resource, namespace string) []right {
	return verbs(rbacGroup, resource, namespace, "create", "get", "list", "delete")
}

// standing is a check's result on the ways in which the credential may work.
type standing struct {
	mode     string
	pool     int
	poolFree int
	missing  string // why no lease can be minted, with the remedy; empty if they can
	limits   string // what leases cannot be, if they can be minted
}

// stand finds out whether, and in which way, leases can be minted, without touching
// anything.
func (c *connection) stand(ctx context.Context, a broker.Access) (standing, error) {
	s, err := c.standIn(ctx, a)
	if err == nil && s.missing == "" {
		escalate := right{verb: "escalate", group: rbacGroup, resource: "roles"}
		if s.mode == broker.ModePrepared {
			escalate.namespace = ownNamespace(a)
		}
		var able bool
		able, err = c.allowed(ctx, escalate)
		if !able {
			s.limits = "leases by rule get only rights that the credential holds itself, so operations and onboarding fail that need others"
		}
	}
	if said(err, http.StatusForbidden) || said(err, http.StatusNotFound) {
		s.missing = "the cluster does not say what the credential may do; grant it create on selfsubjectaccessreviews"
		return s, nil
	}
	return s, fault(err, "create", "selfsubjectaccessreviews")
}

func (c *connection) standIn(ctx context.Context, a broker.Access) (standing, error) {
	s := standing{mode: broker.ModeManaged}
	makes, err := c.allowed(ctx, right{verb: "create", resource: "namespaces"})
	if err != nil {
		return s, err
	}
	always := []right{{verb: "get", resource: "namespaces"}, {verb: "get", group: rbacGroup, resource: "clusterroles"}}
	if makes {
		always = slices.Concat(always, verbs("", "namespaces", "", "delete"), leasesIn(""))
		s.missing, err = c.rightsMissing(ctx, always, a.Target.Namespace)
		return s, err
	}
	s.mode = broker.ModePrepared
	rooms, err := c.pool(ctx, a.VIM)
	if err != nil && !isForbidden(err) {
		return s, err
	}
	if s.pool = len(rooms); s.pool == 0 {
		s.missing = "the credential may not create namespaces, and sees no namespace " + rbac.PoolName(a.VIM, 1) +
			"; grant it the rights of managed mode, or have an administrator make the pool of prepared mode"
		return s, nil
	}
	for _, room := range rooms {
		if room.home == "" {
			s.poolFree++
		}
		always = slices.Concat(always, leasesIn(room.namespace),
			verbs("", "configmaps", room.namespace, "create", "get", "delete"), verbs("", "pods", room.namespace, "list"))
	}
	s.missing, err = c.rightsMissing(ctx, always, a.Target.Namespace)
	return s, err
}

// rightsMissing names every right that the credential lacks, in one error: those that it
// always needs, and those for which one way is enough. The error is client-go's own.
func (c *connection) rightsMissing(ctx context.Context, always []right, namespace string) (string, error) {
	var bind [][]right
	for _, role := range bindable {
		for _, place := range []string{"", namespace} {
			bind = append(bind, []right{{verb: "bind", group: rbacGroup, resource: "clusterroles", name: role, namespace: place}})
		}
	}
	ways := [][][]right{
		{bindsIn("rolebindings", namespace), bindsIn("rolebindings", "")},
		bind,
	}
	asked := map[right]bool{}
	first := slices.Clone(always)
	for _, alternatives := range ways {
		first = append(first, alternatives[0]...)
	}
	if err := c.ask(ctx, asked, first); err != nil {
		return "", err
	}
	missing := lacking(asked, always)
	for _, alternatives := range ways {
		least := lacking(asked, alternatives[0])
		if len(least) == 0 {
			continue
		}
		if err := c.ask(ctx, asked, slices.Concat(alternatives[1:]...)); err != nil {
			return "", err
		}
		for _, way := range alternatives[1:] {
			if l := lacking(asked, way); len(l) < len(least) {
				least = l
			}
		}
		missing = append(missing, least...)
	}
	switch len(missing) {
	case 0:
		return "", nil
	case 1:
		return fmt.Sprintf("the credential may not %s; grant it that right", missing[0]), nil
	}
	return fmt.Sprintf("the credential may not %s; grant it these rights", strings.Join(missing, ", ")), nil
}

// lacking says those of the rights that were refused, in words.
func lacking(asked map[right]bool, rights []right) []string {
	var out []string
	for _, r := range rights {
		if !asked[r] {
			out = append(out, r.String())
		}
	}
	return out
}

// ask notes which of the rights the credential has. Those noted before are not asked again.
func (c *connection) ask(ctx context.Context, asked map[right]bool, rights []right) error {
	var all []right
	for _, r := range rights {
		if _, known := asked[r]; !known && !slices.Contains(all, r) {
			all = append(all, r)
		}
	}
	allowed, err := gather(ctx, all, c.allowed)
	if err != nil {
		return err
	}
	for i, r := range all {
		asked[r] = allowed[i]
	}
	return nil
}

// allowed asks the cluster whether the credential has the right (SelfSubjectAccessReview).
func (c *connection) allowed(ctx context.Context, r right) (bool, error) {
	return c.review(ctx, "selfsubjectaccessreviews", &authorizationv1.SelfSubjectAccessReview{
		Spec: authorizationv1.SelfSubjectAccessReviewSpec{ResourceAttributes: r.attributes()},
	})
}

// review asks the cluster for its decision. Errors are client-go's own.
func (c *connection) review(ctx context.Context, resource string, question runtime.Object) (bool, error) {
	var review struct {
		Kind   string `json:"kind"`
		Status struct {
			Allowed bool `json:"allowed"`
			Denied  bool `json:"denied"`
		} `json:"status"`
	}
	err := read(ctx, c.authorization.client.Post().Resource(resource).Body(question), &review)
	if err == nil && review.Kind == "" {
		err = notKubernetes(0)
	}
	return err == nil && review.Status.Allowed && !review.Status.Denied, err
}

func (r right) attributes() *authorizationv1.ResourceAttributes {
	return &authorizationv1.ResourceAttributes{
		Verb: r.verb, Group: r.group, Resource: r.resource, Subresource: r.subresource, Namespace: r.namespace, Name: r.name,
	}
}
