package kubernetes

import (
	"slices"
	"strings"

	"github.com/vimbroker/vimbroker/broker"
)

// harmless are the kinds of Kubernetes' own groups that give their holder no other identity, with any verb that
// the escalations do not name. Some can destroy the named object, some redirect traffic. They are the kinds of
// 1.36, some that its roles still name, and those that a kubelet authorizes by.
var harmless = map[string][]string{
	core: strings.Fields(`bindings componentstatuses endpoints events limitranges persistentvolumeclaims persistentvolumeclaims/status
		persistentvolumes/status podtemplates pods/binding pods/eviction pods/log pods/portforward pods/proxy pods/resize pods/status
		replicationcontrollers/scale replicationcontrollers/status resourcequotas resourcequotas/status
		services services/proxy services/status
		nodes/configz nodes/healthz nodes/log nodes/metrics nodes/pods nodes/spec nodes/stats`),
	admissionGroup:           {"validatingadmissionpolicies/status"},
	"apiextensions.k8s.io":   {"customresourcedefinitions/status"},
	"apiregistration.k8s.io": {"apiservices/status"},
	"apps": strings.Fields(`daemonsets/status deployments/rollback deployments/scale deployments/status replicasets/scale replicasets/status
		statefulsets/scale statefulsets/status`),
	authenticationGroup:    {"selfsubjectreviews", "tokenreviews"},
	"authorization.k8s.io": {"localsubjectaccessreviews", "selfsubjectaccessreviews", "selfsubjectrulesreviews", "subjectaccessreviews"},
	"autoscaling":          {"horizontalpodautoscalers", "horizontalpodautoscalers/status"},
	"batch":                {"cronjobs/status", "jobs/status"},
	certificatesGroup:      {"certificatesigningrequests", "podcertificaterequests/status"},
	"coordination.k8s.io":  {"leasecandidates", "leases"},
	"discovery.k8s.io":     {"endpointslices"},
	"events.k8s.io":        {"events"},
	"flowcontrol.apiserver.k8s.io": {
		"flowschemas", "flowschemas/status", "prioritylevelconfigurations", "prioritylevelconfigurations/status",
	},
	"internal.apiserver.k8s.io": {"storageversions", "storageversions/status"},
	"networking.k8s.io": strings.Fields(`ingressclasses ingresses ingresses/status ipaddresses networkpolicies servicecidrs
		servicecidrs/status`),
	"node.k8s.io": {"runtimeclasses"},
	"policy":      {"poddisruptionbudgets", "poddisruptionbudgets/status"},
	rbacGroup:     {},
	"resource.k8s.io": strings.Fields(`deviceclasses devicetaintrules devicetaintrules/status resourceclaims resourceclaims/status
		resourceclaimtemplates resourcepoolstatusrequests resourcepoolstatusrequests/status resourceslices`),
	"scheduling.k8s.io": {"podgroups", "podgroups/status", "priorityclasses", "workloads"},
	"storage.k8s.io": strings.Fields(`csinodes csistoragecapacities storageclasses volumeattachments volumeattachments/status
		volumeattributesclasses`),
	"storagemigration.k8s.io": {"storageversionmigrations", "storageversionmigrations/status"},
}

// unknownTo names the kinds of Kubernetes' own groups that a rule allows to use, and that are neither escalations nor
// harmless. To read a kind, its status or its scale is harmless.
func unknownTo(r broker.Rule) []string {
	var found []string
	for _, group := range r.APIGroups {
		if harmless[group] == nil && group != "*" {
			continue
		}
		for _, resource := range r.Resources {
			if !strings.Contains(resource, "*") && !isKnown(group, resource) && !onlyReads(resource, r.Verbs) {
				found = append(found, strings.TrimSuffix(resource+"."+group, "."))
			}
		}
	}
	return found
}

// isKnown reports whether the tables have a resource of a group, or of any.
func isKnown(group, resource string) bool {
	for own, calm := range harmless {
		if (group == own || group == "*") && slices.Contains(calm, resource) {
			return true
		}
	}
	return slices.ContainsFunc(escalations, func(e escalation) bool {
		return (group == e.group || group == "*") && resource == e.resource
	})
}

// onlyReads reports whether verbs only read: of a subresource that may be more than its kind, none does.
func onlyReads(resource string, verbs []string) bool {
	_, sub, _ := strings.Cut(resource, "/")
	return slices.Contains([]string{"", "status", "scale"}, sub) && !slices.ContainsFunc(verbs, func(verb string) bool {
		return !slices.Contains([]string{"", "get", "list", "watch"}, verb)
	})
}
