package fakeobjects

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/google/uuid"
)

// answer does what a request asks.
func (s *Server) answer(w http.ResponseWriter, r *http.Request, c call, body []byte) {
	there := s.objects[c.path]
	if c.name == "" {
		s.list(w, r, c)
		return
	}
	if there == nil && r.Method != http.MethodPatch {
		refuse(w, http.StatusNotFound, "not found", c.details())
		return
	}
	switch {
	case r.Method == http.MethodGet:
		say(w, http.StatusOK, there)
	case r.Method == http.MethodDelete:
		s.remove(w, c, there, body)
	case c.sub == "scale":
		s.scale(w, c, there, body)
	case c.sub == "" && r.Header.Get("Content-Type") == "application/apply-patch+yaml":
		s.apply(w, r, c, there, body)
	default:
		refuse(w, http.StatusUnsupportedMediaType, "not faked", nil)
	}
}

// apply makes or replaces an object under the preconditions that it names, as the API
// server does: a resourceVersion is compared where an object is there.
func (s *Server) apply(w http.ResponseWriter, r *http.Request, c call, there map[string]any, body []byte) {
	var o map[string]any
	if err := json.Unmarshal(body, &o); err != nil {
		refuse(w, http.StatusBadRequest, "bad", nil)
		return
	}
	meta := o["metadata"].(map[string]any)
	if there != nil {
		was := there["metadata"].(map[string]any)
		if v := meta["resourceVersion"]; v != nil && v != was["resourceVersion"] || meta["uid"] != nil && meta["uid"] != was["uid"] {
			refuse(w, http.StatusConflict, "the object has been modified", c.details())
			return
		}
		meta["uid"] = was["uid"]
		if was["deletionTimestamp"] != nil {
			meta["deletionTimestamp"] = was["deletionTimestamp"]
		}
		if there["status"] != nil {
			o["status"] = there["status"]
		}
	} else if meta["uid"] != nil {
		refuse(w, http.StatusConflict, "uid mismatch", c.details())
		return
	}
	manager := map[string]any{
		"manager": r.URL.Query().Get("fieldManager"), "operation": "Apply", "time": now(), "fieldsV1": fieldsOf(o),
	}
	others := othersOfReplicas(there, manager["manager"])
	spec, _ := o["spec"].(map[string]any)
	if there != nil && spec != nil && len(spec) == 1 && spec["replicas"] != nil { // of two managers one says that alone
		o = there
		o["spec"].(map[string]any)["replicas"] = spec["replicas"]
		meta = o["metadata"].(map[string]any)
		others, _ = meta["managedFields"].([]any)
	} else if spec != nil && spec["replicas"] == nil && len(others) > 0 {
		spec["replicas"] = there["spec"].(map[string]any)["replicas"]
	}
	meta["managedFields"] = append([]any{manager}, others...)
	s.keep(c.path, o)
	s.settle(c, o)
	say(w, http.StatusOK, o)
}

// othersOfReplicas are the managers but one that own the number of replicas.
func othersOfReplicas(o map[string]any, but any) (others []any) {
	meta, _ := o["metadata"].(map[string]any)
	all, _ := meta["managedFields"].([]any)
	for _, m := range all {
		fields, _ := m.(map[string]any)["fieldsV1"].(map[string]any)
		spec, _ := fields["f:spec"].(map[string]any)
		if m.(map[string]any)["manager"] != but && spec["f:replicas"] != nil {
			others = append(others, m)
		}
	}
	return others
}

// Autoscale sets the number of a workload as an autoscaler does: the field is nobody else's then.
func (s *Server) Autoscale(path string, n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	o := s.objects[path]
	o["spec"].(map[string]any)["replicas"] = float64(n)
	meta := o["metadata"].(map[string]any)
	for _, m := range meta["managedFields"].([]any) {
		if spec, ok := m.(map[string]any)["fieldsV1"].(map[string]any)["f:spec"].(map[string]any); ok {
			delete(spec, "f:replicas")
		}
	}
	meta["managedFields"] = append(meta["managedFields"].([]any), map[string]any{
		"manager": "kube-controller-manager", "operation": "Update", "subresource": "scale", "time": now(),
		"fieldsV1": map[string]any{"f:spec": map[string]any{"f:replicas": map[string]any{}}},
	})
	s.keep(path, o)
}

func now() string { return time.Now().UTC().Format(time.RFC3339) }

// fieldsOf are the names of the fields of an applied object.
func fieldsOf(v any) map[string]any {
	fields := map[string]any{}
	if m, ok := v.(map[string]any); ok {
		for k, inner := range m {
			if k != "status" && k != "managedFields" {
				fields["f:"+k] = fieldsOf(inner)
			}
		}
	}
	return fields
}

// Change sets a field of an object by hand: the hand owns it from now on.
func (s *Server) Change(path, hand string, change func(map[string]any)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	o := s.objects[path]
	change(o)
	meta := o["metadata"].(map[string]any)
	for _, m := range meta["managedFields"].([]any) {
		m.(map[string]any)["fieldsV1"] = map[string]any{"f:less": map[string]any{}}
	}
	meta["managedFields"] = append(meta["managedFields"].([]any), map[string]any{"manager": hand, "operation": "Update", "time": now()})
	s.keep(path, o)
}

// settle does what controllers do.
func (s *Server) settle(c call, o map[string]any) {
	meta := o["metadata"].(map[string]any)
	if s.unready {
		delete(o, "status")
		if c.Kind.Kind == "Deployment" {
			meta["generation"], o["status"] = 2, map[string]any{"observedGeneration": 1}
		}
		return
	}
	switch c.Kind.Kind {
	case "CustomResourceDefinition":
		o["status"] = map[string]any{"conditions": []any{
			map[string]any{"type": "NamesAccepted", "status": "True"}, map[string]any{"type": "Established", "status": "True"},
		}}
		spec := o["spec"].(map[string]any)
		names := spec["names"].(map[string]any)
		for _, v := range spec["versions"].([]any) {
			s.kinds = append(s.kinds, Kind{
				spec["group"].(string), v.(map[string]any)["name"].(string), names["kind"].(string), names["plural"].(string),
				spec["scope"] == "Namespaced", false,
			})
		}
	case "Job":
		o["status"] = map[string]any{"conditions": []any{map[string]any{"type": "Complete", "status": "True"}}}
	case "PersistentVolumeClaim":
		o["status"] = map[string]any{"phase": "Bound"}
	case "Deployment":
		s.deploy(c, o)
	case "Pod":
		o["status"] = map[string]any{"phase": "Running", "conditions": []any{map[string]any{"type": "Ready", "status": "True"}}}
	}
}

// deploy gives a Deployment as many pods as it is to have.
func (s *Server) deploy(c call, o map[string]any) {
	spec := o["spec"].(map[string]any)
	wanted := 1
	if n, ok := spec["replicas"].(float64); ok {
		wanted = int(n)
	}
	pods, at := 0, "/api/v1/namespaces/"+c.namespace+"/pods/"+c.name+"-"
	for p := range s.objects {
		if strings.HasPrefix(p, at) {
			if pods++; pods > wanted {
				delete(s.objects, p)
			}
		}
	}
	for ; pods < wanted; pods++ {
		name := c.name + "-" + uuid.NewString()[:5]
		labels := spec["template"].(map[string]any)["metadata"].(map[string]any)["labels"]
		s.keep("/api/v1/namespaces/"+c.namespace+"/pods/"+name, map[string]any{
			"kind": "Pod", "apiVersion": "v1", "metadata": map[string]any{"name": name, "namespace": c.namespace, "labels": labels},
			"status": map[string]any{"conditions": []any{map[string]any{"type": "Ready", "status": "True"}}},
		})
	}
	o["status"] = map[string]any{
		"replicas": wanted, "readyReplicas": wanted, "availableReplicas": wanted, "updatedReplicas": wanted,
		"conditions": []any{map[string]any{"type": "Available", "status": "True"}},
	}
}

func (s *Server) scale(w http.ResponseWriter, c call, there map[string]any, body []byte) {
	var patch struct {
		Metadata struct {
			UID string `json:"uid"`
		} `json:"metadata"`
		Spec struct {
			Replicas float64 `json:"replicas"`
		} `json:"spec"`
	}
	if err := json.Unmarshal(body, &patch); err != nil || there == nil {
		refuse(w, http.StatusNotFound, "not found", c.details())
		return
	}
	if uid := patch.Metadata.UID; uid != "" && uid != there["metadata"].(map[string]any)["uid"] {
		refuse(w, http.StatusConflict, "uid mismatch", c.details())
		return
	}
	there["spec"].(map[string]any)["replicas"] = patch.Spec.Replicas
	s.keep(c.path, there)
	s.settle(c, there)
	say(w, http.StatusOK, map[string]any{"kind": "Scale", "apiVersion": "autoscaling/v1"})
}

// remove deletes an object, or marks it where finalizers hold it. A Deployment gets another pod for one
// that is deleted.
func (s *Server) remove(w http.ResponseWriter, c call, there map[string]any, body []byte) {
	var options struct {
		Propagation   string `json:"propagationPolicy"`
		Preconditions struct {
			UID string `json:"uid"`
		} `json:"preconditions"`
	}
	meta := there["metadata"].(map[string]any)
	err := json.Unmarshal(body, &options)
	s.calls[len(s.calls)-1] += " " + options.Propagation
	if err != nil || options.Preconditions.UID != meta["uid"] {
		refuse(w, http.StatusConflict, "precondition failed", c.details())
		return
	}
	if f, _ := meta["finalizers"].([]any); len(f) > 0 {
		meta["deletionTimestamp"] = now()
		say(w, http.StatusOK, there)
		return
	}
	delete(s.objects, c.path)
	if c.Kind.Kind == "Pod" {
		for p, o := range s.objects {
			name, _ := o["metadata"].(map[string]any)["name"].(string)
			if o["kind"] == "Deployment" && strings.HasPrefix(c.name, name+"-") && strings.Contains(p, "/namespaces/"+c.namespace+"/") {
				s.deploy(call{namespace: c.namespace, name: name}, o)
			}
		}
	}
	if c.Kind.Kind == "Deployment" {
		for p := range s.objects {
			if strings.HasPrefix(p, "/api/v1/namespaces/"+c.namespace+"/pods/"+c.name+"-") {
				delete(s.objects, p)
			}
		}
	}
	say(w, http.StatusOK, map[string]any{"kind": "Status", "apiVersion": "v1", "status": "Success"})
}

func (s *Server) list(w http.ResponseWriter, r *http.Request, c call) {
	items := []any{}
	selector := r.URL.Query().Get("labelSelector")
	key, value, _ := strings.Cut(selector, "=")
	for p, o := range s.objects {
		labels, _ := o["metadata"].(map[string]any)["labels"].(map[string]any)
		under := strings.HasPrefix(p, c.path+"/")
		if c.Namespaced && c.namespace == "" {
			base, _ := strings.CutSuffix(c.path, c.Plural)
			under = strings.HasPrefix(p, base+"namespaces/") && strings.Contains(p, "/"+c.Plural+"/")
		}
		if under && (selector == "" || fmt.Sprint(labels[key]) == value) {
			items = append(items, o)
		}
	}
	say(w, http.StatusOK, map[string]any{"kind": c.Kind.Kind + "List", "apiVersion": "v1", "metadata": map[string]any{}, "items": items})
}
