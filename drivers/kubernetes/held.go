package kubernetes

import (
	"context"
	"net/http"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/vimbroker/vimbroker/broker"
)

// enforceLabel is the label of a namespace by which Pod Security holds its pods. Its labels warn and audit hold none.
const enforceLabel = "pod-security.kubernetes.io/enforce"

// holds reports whether a level of Pod Security keeps pods from their nodes.
func holds(level string) bool { return level == "baseline" || level == "restricted" }

// holdPods fills in what keeps the pods and networks from their nodes that rules allow to make.
func (d *Driver) holdPods(ctx context.Context, c *connection, a broker.Access, rules []broker.Rule, s *scope) (err error) {
	may := func(that func(escalation) bool) bool {
		return slices.ContainsFunc(escalations, func(e escalation) bool {
			return that(e) && slices.ContainsFunc(rules, e.allowedBy)
		})
	}
	if may(func(e escalation) bool { return e.group == networkGroup }) {
		if s.networks, err = d.servesNetworks(ctx, c, a); err != nil {
			return err
		}
	}
	if s.clusterWide || !may(escalation.makesPods) {
		return nil
	}
	levels, err := gather(ctx, s.namespaces, func(ctx context.Context, n string) (string, error) { return d.level(ctx, c, a, n) })
	if err != nil {
		return err
	}
	s.pods = podsOf(a, func(n string) string { return levels[slices.Index(s.namespaces, n)] })
	return nil
}

// notRead stands for the level of a namespace whose labels the credential may not read.
const notRead = "?"

// level is the level of Pod Security that a namespace enforces. One that is gone has no pods. A namespace that holds none
// is asked again: it may have been labelled since.
func (d *Driver) level(ctx context.Context, c *connection, a broker.Access, namespace string) (string, error) {
	if a.Target.Vouched.PodsHeldBy != "" {
		return "", nil
	}
	ask := func() (string, error) {
		n, err := c.namespace(ctx, namespace)
		switch {
		case notFound(err, "namespaces", namespace):
			return "restricted", nil
		case said(err, http.StatusForbidden):
			return notRead, nil
		}
		return n.Metadata.Labels[enforceLabel], fault(err, "get", "namespace "+namespace)
	}
	at, err := learn(d, a, "namespaces", namespace, ask)
	if err == nil && !holds(at) {
		d.forget(a, "namespaces", namespace)
		at, err = learn(d, a, "namespaces", namespace, ask)
	}
	return at, err
}

// podsOf is what [scope] says of pods, by the levels of namespaces and the word of the VIM's owner.
func podsOf(a broker.Access, level func(namespace string) string) func(string) (string, bool) {
	return func(n string) (string, bool) {
		by := a.Target.Vouched.PodsHeldBy
		switch at := level(n); {
		case by != "":
			return "where " + by + " holds pods, as the VIM's owner says", false
		case at == notRead:
			return "whose level of Pod Security the VIM's credential may not read, so that pods may reach their nodes", true
		case !holds(at):
			return "which enforces no level of Pod Security that keeps pods from their nodes", true
		}
		return "", false
	}
}

// everyScope returns the scope of one namespace, with all that holds pods there. If the credential may not list
// namespaces, it counts as held.
func (d *Driver) everyScope(ctx context.Context, c *connection, a broker.Access) (func(namespace string) scope, error) {
	networks, err := d.servesNetworks(ctx, c, a)
	if err != nil {
		return nil, err
	}
	levels, err := learn(d, a, "levels", "", func() (map[string]string, error) {
		found := map[string]string{}
		err := list(ctx, c.core.client, "Namespace", "", "", func(i *item) { found[i.Metadata.Name] = i.Metadata.Labels[enforceLabel] })
		return found, unlessForbidden(err)
	})
	if err != nil {
		return nil, err
	}
	pods := podsOf(a, func(n string) string {
		if at, known := levels[n]; known {
			return at
		}
		return "restricted"
	})
	return func(n string) scope { return scope{namespaces: []string{n}, pods: pods, networks: networks} }, nil
}

// servesNetworks reports whether the cluster serves networks of Multus that nobody vouches for. The VIM's owner vouches
// by sharing the kind with all its types: nothing on the cluster limits the holder of a lease to some.
func (d *Driver) servesNetworks(ctx context.Context, c *connection, a broker.Access) (bool, error) {
	if a.Target.Vouched.Shares(networkKind+"."+networkGroup, nil) {
		return false, nil
	}
	return learn(d, a, "networks", "", func() (bool, error) {
		var groups metav1.APIGroupList
		switch err := read(ctx, c.core.client.Get().AbsPath("/apis"), &groups); {
		case said(err, http.StatusForbidden):
			return true, nil
		case err != nil:
			return false, fault(err, "get", "/apis")
		case groups.Kind != "APIGroupList":
			return false, notKubernetes(0)
		}
		return slices.ContainsFunc(groups.Groups, func(g metav1.APIGroup) bool { return g.Name == networkGroup }), nil
	})
}

// remedyOf says how the lease would reach less on the VIM.
func remedyOf(a broker.Access, s scope) string {
	if s.networks {
		return "ask for no rights on " + networkKind + ", or have the VIM's owner set sharedKinds of the VIM to the kind with all its types"
	}
	return "label the namespaces " + enforceLabel + ": baseline, or, where another admission holds their pods, have the VIM's owner " +
		"set podsHeldBy of the VIM to its name"
}
