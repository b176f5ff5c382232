package manifests

import (
	"slices"

	"github.com/vimbroker/vimbroker/lifecycle"
)

const (
	rbacGroup       = "rbac.authorization.k8s.io"
	admissionGroup  = "admissionregistration.k8s.io"
	definitionGroup = "apiextensions.k8s.io"
	definitionKind  = "CustomResourceDefinition"
	apiServiceGroup = "apiregistration.k8s.io"
)

// facts gathers what policies weigh. content is nil for what is not applied.
type facts struct{ lifecycle.Facts }

func (f *facts) add(r lifecycle.Resource, content map[string]any) {
	kind := r.Plural
	if r.Group != "" {
		kind += "." + r.Group
	}
	f.Kinds = append(f.Kinds, kind)
	if r.Namespace == "" {
		f.ClusterScoped = true
	} else {
		f.Namespaces = append(f.Namespaces, r.Namespace)
	}
	f.BringsRBAC = f.BringsRBAC || r.Group == rbacGroup
	f.BringsDefinitions = f.BringsDefinitions || r.Group == definitionGroup || r.Group == apiServiceGroup
	f.BringsWebhooks = f.BringsWebhooks || r.Group == admissionGroup
	f.Outlives = f.Outlives || r.Outlives
	if content == nil {
		return
	}
	if r.Group == apps && r.Kind == "StatefulSet" && isList(mapAt(content, "spec")["volumeClaimTemplates"]) {
		// Its claims stay, unless it says that they go.
		f.Outlives = f.Outlives || text(mapAt(content, "spec", "persistentVolumeClaimRetentionPolicy"), "whenDeleted") != "Delete"
	}
	if r.Group == "" && r.Kind == "PersistentVolume" {
		spec := mapAt(content, "spec")
		f.Privileged = f.Privileged || spec["hostPath"] != nil || spec["local"] != nil
	}
	podSpecs(content, func(pod map[string]any) {
		for _, c := range containers(pod) {
			if image := text(c, "image"); image != "" {
				f.Images = append(f.Images, image)
			}
		}
		f.Privileged = f.Privileged || privileged(pod)
	})
	if !isWorkload(r) && r.Group != "" && r.Group != definitionGroup {
		f.Images = append(f.Images, images(content)...)
	}
}

// done returns the facts, each once and sorted.
func (f *facts) done() lifecycle.Facts {
	for _, list := range []*[]string{&f.Kinds, &f.Namespaces, &f.Images} {
		slices.Sort(*list)
		*list = slices.Compact(*list)
	}
	return f.Facts
}

// privileged reports whether a pod asks for more than a pod has by itself: something
// of its node, or of the kernel.
func privileged(pod map[string]any) bool {
	for _, key := range []string{"hostNetwork", "hostPID", "hostIPC"} {
		if pod[key] == true {
			return true
		}
	}
	if hostProcess(pod) || slices.ContainsFunc(mappings(pod["volumes"]), func(v map[string]any) bool { return v["hostPath"] != nil }) {
		return true
	}
	for _, c := range containers(pod) {
		context := mapAt(c, "securityContext")
		added, _ := mapAt(context, "capabilities")["add"].([]any)
		mount := text(context, "procMount")
		switch {
		case context["privileged"] == true, len(added) > 0, hostProcess(c), mount != "" && mount != "Default":
			return true
		case slices.ContainsFunc(mappings(c["ports"]), func(p map[string]any) bool { return p["hostPort"] != nil && p["hostPort"] != int64(0) }):
			return true
		}
	}
	return false
}

func hostProcess(m map[string]any) bool {
	return mapAt(m, "securityContext", "windowsOptions")["hostProcess"] == true
}

// images are the texts of all keys "image" of a custom resource: what runs them is not known.
func images(v any) (all []string) {
	switch v := v.(type) {
	case map[string]any:
		if image := text(v, "image"); image != "" {
			all = append(all, image)
		}
		for _, inner := range v {
			all = append(all, images(inner)...)
		}
	case []any:
		for _, inner := range v {
			all = append(all, images(inner)...)
		}
	}
	return all
}
