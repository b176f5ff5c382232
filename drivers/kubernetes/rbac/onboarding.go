package rbac

import (
	"fmt"
	"strings"
)

// OnboardingOptions are the options of a management cluster's manifest.
type OnboardingOptions struct {
	// VIM is the VIM's id.
	VIM string
	// User is as in [Options].
	User string
	// Namespaces are those whose clusters are taken, or "*" alone.
	Namespaces []string
	// SelectNamespaces says that they are selected by their labels.
	SelectNamespaces bool
	// ControlPlanes are resources (PLURAL.GROUP) that may own a cluster's secret.
	ControlPlanes []string
}

// Onboarding returns YAML documents for kubectl apply: the rights that the registered
// credential of a management cluster needs in addition to [Manifest]. It hands out leases
// with these rules, so it must hold them.
func Onboarding(o OnboardingOptions) (string, error) {
	switch {
	case !vimID().MatchString(o.VIM):
		return "", fmt.Errorf("the VIM's id %q is no UUID", o.VIM)
	case len(o.Namespaces) == 0:
		return "", fmt.Errorf("no namespaces are given: name those whose clusters are taken")
	}
	var rules strings.Builder
	rules.WriteString(`rules:
  - {apiGroups: [cluster.x-k8s.io], resources: [clusters], verbs: [get, list, watch]}
  - {apiGroups: [""], resources: [secrets], verbs: [get, list, watch]}
`)
	for _, p := range o.ControlPlanes {
		plural, group, ok := strings.Cut(p, ".")
		if !ok || !IsLabel(plural) {
			return "", fmt.Errorf("control plane %q is not PLURAL.GROUP", p)
		}
		fmt.Fprintf(&rules, "  - {apiGroups: [%s], resources: [%s], verbs: [get]}\n", quote(group), quote(plural))
	}
	if o.SelectNamespaces {
		rules.WriteString("  - {apiGroups: [\"\"], resources: [namespaces], verbs: [list]}\n")
	}
	var b strings.Builder
	b.WriteString("# What vimbroker needs on this management cluster besides the rights to hand out leases: it\n" +
		"# takes leases that watch clusters and their secrets, and must hold what they may do.\n")
	name := "vimbroker-onboard-" + o.VIM[:8]
	for _, n := range o.Namespaces {
		kind, metadata := "Role", "{name: "+name+", namespace: "+n+"}"
		switch {
		case n == "*" && len(o.Namespaces) == 1:
			kind, metadata = "ClusterRole", "{name: "+name+"}"
		case !IsLabel(n):
			return "", fmt.Errorf("namespace %q is no DNS label", n)
		}
		fmt.Fprintf(&b, `---
apiVersion: rbac.authorization.k8s.io/v1
kind: %[1]s
metadata: %[2]s
%[3]s---
apiVersion: rbac.authorization.k8s.io/v1
kind: %[1]sBinding
metadata: %[2]s
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: %[1]s, name: %[4]s}
subjects: [%[5]s]
`, kind, metadata, rules.String(), name, subject(o.User))
	}
	return b.String(), nil
}
