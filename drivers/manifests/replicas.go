package manifests

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"

	"github.com/vimbroker/vimbroker/lifecycle"
)

// isAutoscaler reports whether an object sets the number of replicas of another.
func isAutoscaler(r lifecycle.Resource) bool {
	return r.Group == autoscaling && r.Kind == scaler
}

// scaleTarget is the workload that an autoscaler in a namespace is for.
func scaleTarget(namespace string, autoscaler map[string]any) identity {
	ref := mapAt(autoscaler, "spec", "scaleTargetRef")
	return identity{"", text(ref, "kind"), namespace, text(ref, "name")}
}

// scaledAs is the autoscalers' name for a workload. No two kinds of workloads have the same name.
func scaledAs(r lifecycle.Resource) identity { return identity{"", r.Kind, r.Namespace, r.Name} }

// replicasMark ends the mark of an object whose number of replicas our manager owns.
const replicasMark = "+replicas"

// setsReplicas reports whether a manifest sets a number that an autoscaler could set.
func setsReplicas(r lifecycle.Resource, content map[string]any) bool {
	return isReplicated(r) && mapAt(content, "spec")["replicas"] != nil
}

// isReplicated reports whether autoscalers may target objects of a resource's kind, as far as the resource tells.
func isReplicated(r lifecycle.Resource) bool {
	switch r.Group + "/" + r.Kind {
	case apps + "/Deployment", apps + "/StatefulSet", apps + "/ReplicaSet", "/ReplicationController":
		return r.Namespace != ""
	}
	return r.VDU != "" && r.Namespace != "" && !isWorkload(r)
}

// autoscaling is the group of autoscalers, scaler their kind and scalers their resource.
const autoscaling, scaler, scalers = "autoscaling", "HorizontalPodAutoscaler", "horizontalpodautoscalers"

// autoscaled reports whether an autoscaler on the cluster targets an object, whoever has made that. It asks once for a
// namespace.
func (r *run) autoscaled(ctx context.Context, of lifecycle.Resource) (bool, error) {
	r.scaledMu.Lock()
	defer r.scaledMu.Unlock()
	if r.scaled[of.Namespace] == nil {
		targets, err := r.scaleTargets(ctx, of.Namespace, r.instance)
		if err != nil {
			return false, err
		}
		if r.scaled == nil {
			r.scaled = map[string]map[identity]bool{}
		}
		r.scaled[of.Namespace] = targets
	}
	return r.scaled[of.Namespace][scaledAs(of)], nil
}

// scaleTargets are the objects that the autoscalers of a namespace target, but for the instance's own, which the plan
// knows; none where the cluster has no autoscalers.
func (s *server) scaleTargets(ctx context.Context, namespace, instance string) (map[identity]bool, error) {
	of := lifecycle.Resource{Group: autoscaling, Version: "v2", Kind: scaler, Plural: scalers, Namespace: namespace}
	targets := map[identity]bool{}
	err := pages(ctx, s, of, nil, func(item map[string]any) {
		if text(mapAt(item, "metadata", "labels"), instanceLabel) != instance {
			targets[scaleTarget(namespace, item)] = true
		}
	})
	if said, ok := errors.AsType[*refusal](err); ok && said.code == http.StatusNotFound {
		return targets, nil
	}
	if err != nil {
		return nil, fault(err, "list "+scalers+" in namespace "+namespace)
	}
	return targets, nil
}

// handOver leaves the number of replicas to an autoscaler on the cluster. It gives the present number to a second field
// manager of this driver, if the driver's own manager owns it and the manifest no longer sets it: a field that its only
// owner no longer applies falls back to its default, which is one pod. An autoscaler takes the field when it first
// changes the number.
func (r *run) handOver(ctx context.Context, to lifecycle.Resource, content map[string]any, there *found) error {
	if there == nil {
		return nil
	}
	if setsReplicas(to, content) {
		scaled, err := r.autoscaled(ctx, to)
		if err != nil {
			return err
		}
		if scaled {
			delete(mapAt(content, "spec"), "replicas")
		}
	}
	if !there.ownsReplicas() || mapAt(content, "spec")["replicas"] != nil {
		return nil
	}
	body, err := json.Marshal(map[string]any{
		"apiVersion": content["apiVersion"], "kind": content["kind"],
		"metadata": map[string]any{
			"name": to.Name, "uid": there.Metadata.UID, "resourceVersion": text(mapAt(there.whole, "metadata"), "resourceVersion"),
		},
		"spec": map[string]any{"replicas": mapAt(there.whole, "spec")["replicas"]},
	})
	if err != nil {
		return err
	}
	var made found
	return r.call(ctx, request{
		method: http.MethodPatch, path: pathOf(to), content: "application/apply-patch+yaml", body: body,
		query: url.Values{"fieldManager": {r.manager + "-replicas"}, "force": {"true"}},
	}, &made)
}
