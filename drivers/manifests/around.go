package manifests

import (
	"context"
	"errors"
	"net/http"
	"strings"

	"k8s.io/pod-security-admission/api"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/lifecycle"
)

const (
	ingressGroup = "networking.k8s.io"
	ingressKind  = "Ingress"
)

// around fills in what stands around the objects of a plan and has a part in their judgement. What the lease may not
// read has none.
func (s *server) around(ctx context.Context, in lifecycle.PlanInput, all []*object) error {
	release, err := s.release(ctx)
	if err != nil {
		return err
	}
	named, err := s.enforced(ctx, in.Namespace, release)
	if err != nil {
		return err
	}
	hosts := false
	for _, o := range all {
		if o.release = release; o.Namespace == in.Namespace {
			o.release = named
		}
		hosts = hosts || o.Group == ingressGroup && o.Kind == ingressKind && len(hostsOf(o.content)) > 0
	}
	if !hosts {
		return nil
	}
	others, err := s.hostsOfOthers(ctx, in)
	for _, o := range all {
		o.hostsOfOthers = others
	}
	return err
}

// NamespaceRule lets a lease read a namespace, which may say by whose rules its pods are judged.
func NamespaceRule(name string) broker.Rule {
	return broker.Rule{
		APIGroups: []string{""}, Resources: []string{"namespaces"}, ResourceNames: []string{name}, Verbs: []string{"get"},
	}
}

// enforced is the release by whose rules a namespace has its pods judged; the cluster's own where it names none.
func (s *server) enforced(ctx context.Context, namespace string, own api.Version) (api.Version, error) {
	var n struct {
		Metadata struct {
			Labels map[string]string `json:"labels"`
		} `json:"metadata"`
	}
	err := s.call(ctx, request{method: http.MethodGet, path: "/api/v1/namespaces/" + namespace}, &n)
	if refused(err) {
		return own, nil
	}
	if err != nil {
		return own, fault(err, "read the labels of namespace "+namespace)
	}
	label := n.Metadata.Labels[api.EnforceVersionLabel]
	if at, err := api.ParseVersion(label); err == nil && label != "" && !at.Latest() {
		return at, nil
	}
	return own, nil
}

// hostsOf are the hosts of an Ingress, in lower case.
func hostsOf(ingress map[string]any) (hosts []string) {
	for _, rule := range mappings(mapAt(ingress, "spec")["rules"]) {
		if host := text(rule, "host"); host != "" {
			hosts = append(hosts, strings.ToLower(host))
		}
	}
	return hosts
}

// hostsOfOthers are the hosts that Ingresses of other namespaces have which are not the instance's. They are read once, under
// a lease of their own: that of the plan may hold in one namespace.
func (s *server) hostsOfOthers(ctx context.Context, in lifecycle.PlanInput) (map[string]bool, error) {
	if s.hosts != nil {
		return s.hosts, nil
	}
	hosts := map[string]bool{}
	of := lifecycle.Resource{Group: ingressGroup, Version: "v1", Kind: ingressKind, Plural: "ingresses"}
	list := broker.Rule{APIGroups: []string{of.Group}, Resources: []string{of.Plural}, Verbs: []string{"list"}}
	err := s.further(ctx, lifecycle.StageRules{ClusterWide: true, Rules: []broker.Rule{list}}, func(c lifecycle.Connection) error {
		wide, err := (&Driver{manager: s.manager}).connect(c)
		if err != nil {
			return err
		}
		return fault(pages(ctx, wide, of, nil, func(ingress map[string]any) {
			meta := mapAt(ingress, "metadata")
			if text(meta, "namespace") != in.Namespace && text(mapAt(meta, "labels"), instanceLabel) != in.Instance {
				for _, host := range hostsOf(ingress) {
					hosts[host] = true
				}
			}
		}), "read which hosts Ingresses have")
	})
	if err != nil && !errors.Is(err, broker.ErrForbidden) && !errors.Is(err, broker.ErrNotFound) {
		return nil, err
	}
	s.hosts = hosts
	return hosts, nil
}

// sharedHosts finds a host that an Ingress of another namespace has.
func sharedHosts(o *object) []finding {
	for _, host := range hostsOf(o.content) {
		if o.hostsOfOthers[host] {
			return []finding{{lifecycle.ReachCluster, "rules.host", "a host that an Ingress of another namespace has"}}
		}
	}
	return nil
}
