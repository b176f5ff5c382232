package manifests

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"

	"github.com/vimbroker/vimbroker/lifecycle"
)

// isAutoscaler reports whether an object sets the number of replicas of another.
func isAutoscaler(r lifecycle.Resource) bool {
	return r.Group == "autoscaling" && r.Kind == "HorizontalPodAutoscaler"
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

// handOver gives the present number of replicas to a second field manager of this driver, if the driver's own
// manager owns it and the manifest no longer sets it: a field that its only owner no longer applies falls back to
// its default, which is one pod. An autoscaler takes the field when it first changes the number.
func (r *run) handOver(ctx context.Context, to lifecycle.Resource, content map[string]any, there *found) error {
	if there == nil || !there.ownsReplicas() || mapAt(content, "spec")["replicas"] != nil {
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
