package manifests

import (
	"iter"
	"maps"
	"slices"

	"github.com/vimbroker/vimbroker/lifecycle"
)

const (
	apps  = "apps"
	batch = "batch"
)

// workloads are the kinds of Kubernetes that run pods, and where their pod templates are.
var workloads = map[string][]string{
	apps + "/Deployment":     {"spec", "template"},
	apps + "/StatefulSet":    {"spec", "template"},
	apps + "/DaemonSet":      {"spec", "template"},
	apps + "/ReplicaSet":     {"spec", "template"},
	"/ReplicationController": {"spec", "template"},
	batch + "/Job":           {"spec", "template"},
	batch + "/CronJob":       {"spec", "jobTemplate", "spec", "template"},
	"/Pod":                   {},
}

// isWorkload reports whether a kind runs pods that can be found by their labels.
func isWorkload(r lifecycle.Resource) bool {
	_, ok := workloads[r.Group+"/"+r.Kind]
	return ok
}

// templates are the pod templates whose labels the pods of a workload have: none for a
// kind that is not one of Kubernetes' own.
func templates(r lifecycle.Resource, content map[string]any) []map[string]any {
	path, ok := workloads[r.Group+"/"+r.Kind]
	if at := mapAt(content, path...); ok && at != nil {
		return []map[string]any{at}
	}
	return nil
}

// podSpecs calls each for everything in an object that has the form of a pod's specification, whatever the kind: a
// custom resource may hold one too. meta is the metadata beside it, if any.
func podSpecs(v any, meta map[string]any, each func(meta, spec map[string]any)) {
	switch v := v.(type) {
	case map[string]any:
		if isList(v["containers"]) || isList(v["initContainers"]) || isList(v["ephemeralContainers"]) {
			each(meta, v)
		}
		for _, inner := range v {
			podSpecs(inner, mapAt(v, "metadata"), each)
		}
	case []any:
		for _, inner := range v {
			podSpecs(inner, nil, each)
		}
	}
}

// mappingsIn are the mappings in a value, at whatever depth: one comes before those in it.
func mappingsIn(v any) iter.Seq[map[string]any] {
	return func(yield func(map[string]any) bool) { walk(v, yield) }
}

func walk(v any, yield func(map[string]any) bool) bool {
	var inner []any
	switch v := v.(type) {
	case map[string]any:
		if !yield(v) {
			return false
		}
		inner = slices.Collect(maps.Values(v))
	case []any:
		inner = v
	}
	return !slices.ContainsFunc(inner, func(one any) bool { return !walk(one, yield) })
}

// containers are all that a pod's specification has, of every kind.
func containers(pod map[string]any) []map[string]any {
	return slices.Concat(mappings(pod["containers"]), mappings(pod["initContainers"]), mappings(pod["ephemeralContainers"]))
}

func isList(v any) bool { _, ok := v.([]any); return ok }

// mappings are the mappings among the items of a list.
func mappings(v any) []map[string]any {
	items, _ := v.([]any)
	var all []map[string]any
	for _, item := range items {
		if m, ok := item.(map[string]any); ok {
			all = append(all, m)
		}
	}
	return all
}

// mapAt is the mapping at a path of keys, or nil.
func mapAt(m map[string]any, keys ...string) map[string]any {
	for _, key := range keys {
		m, _ = m[key].(map[string]any)
	}
	return m
}
