package manifests

import (
	"cmp"
	"slices"

	"github.com/vimbroker/vimbroker/lifecycle"
)

// order is that in which Helm installs kinds (helm.sh, "Chart Hooks and install order",
// pkg/release/v1/util InstallOrder), for the kinds that Kubernetes still serves. Kinds
// that are not in it come last.
var order = []string{
	"PriorityClass", "Namespace", "NetworkPolicy", "ResourceQuota", "LimitRange", "PodDisruptionBudget", "ServiceAccount", "Secret",
	"ConfigMap", "StorageClass", "PersistentVolume", "PersistentVolumeClaim", definitionKind, "ClusterRole", "ClusterRoleBinding",
	"Role", "RoleBinding", "Service", "DaemonSet", "Pod", "ReplicationController", "ReplicaSet", "Deployment",
	"HorizontalPodAutoscaler", "StatefulSet", "Job", "CronJob", "IngressClass", "Ingress", "APIService",
	"MutatingWebhookConfiguration", "ValidatingWebhookConfiguration",
}

// groups of the kinds in order: a custom resource of the same name is not meant.
var orderedGroups = map[string]bool{
	"": true, apps: true, batch: true, "autoscaling": true, "networking.k8s.io": true, "policy": true,
	"scheduling.k8s.io": true, "storage.k8s.io": true,
	rbacGroup: true, admissionGroup: true, definitionGroup: true, apiServiceGroup: true,
}

// rank is the place of a kind in the order.
func rank(r lifecycle.Resource) int {
	if i := slices.Index(order, r.Kind); i >= 0 && orderedGroups[r.Group] {
		return i
	}
	return len(order)
}

// isCustom reports whether a kind is not one of Kubernetes' own, as far as the order knows.
func isCustom(r lifecycle.Resource) bool { return rank(r) == len(order) && !orderedGroups[r.Group] }

// band says what has to stand before what, whatever a package declares: definitions before
// all, namespaces before what is in them. Webhooks and API services come after what
// answers for them, and so do custom resources without a namespace.
type band int

const (
	definitions band = iota
	namespaces
	cluster
	namespaced
	late
)

func bandOf(r lifecycle.Resource) band {
	switch {
	case r.Group == definitionGroup && r.Kind == definitionKind:
		return definitions
	case r.Group == "" && r.Kind == "Namespace":
		return namespaces
	case r.Namespace != "":
		return namespaced
	case r.Group == apiServiceGroup, r.Group == admissionGroup, isCustom(r):
		return late
	}
	return cluster
}

// arrange sorts objects into the order in which they are made.
func arrange(all []*object) {
	slices.SortStableFunc(all, func(a, b *object) int {
		return cmp.Or(cmp.Compare(a.place().band, b.place().band), cmp.Compare(a.place().wave, b.place().wave),
			cmp.Compare(bandOf(a.Resource), bandOf(b.Resource)), cmp.Compare(rank(a.Resource), rank(b.Resource)), cmp.Compare(a.order, b.order))
	})
}

// place decides in which wave an object is made; its kind decides second.
type place struct {
	band band // definitions, namespaces, or cluster for all others
	wave int
}

func (o *object) place() place {
	if b := bandOf(o.Resource); b < cluster {
		return place{band: b}
	}
	return place{cluster, o.wave}
}

// sameWave reports whether two objects that follow each other are made in one wave.
func sameWave(a, b *object) bool {
	return a.place() == b.place() && bandOf(a.Resource) == bandOf(b.Resource)
}
