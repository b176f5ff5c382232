package manifests

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/lifecycle"
)

// pod holds the fields of a pod that are used.
type pod struct {
	Metadata struct {
		Name    string            `json:"name"`
		UID     string            `json:"uid"`
		Labels  map[string]string `json:"labels"`
		Deleted string            `json:"deletionTimestamp"`
	} `json:"metadata"`
	Status struct {
		Phase      string      `json:"phase"`
		Conditions []condition `json:"conditions"`
		Containers []container `json:"containerStatuses"`
		Inits      []container `json:"initContainerStatuses"`
	} `json:"status"`
}

type container struct {
	State struct {
		Waiting struct {
			Reason  string `json:"reason"`
			Message string `json:"message"`
		} `json:"waiting"`
	} `json:"state"`
}

func (p pod) ready() bool {
	return slices.ContainsFunc(p.Status.Conditions, func(c condition) bool { return c.Type == "Ready" && c.Status == "True" })
}

// told are the reasons of containers that wait whose messages name images and objects, and nothing that runs in them.
var told = []string{"ErrImagePull", "ImagePullBackOff", "InvalidImageName", "ErrImageNeverPull", "CreateContainerConfigError"}

// why is the cluster's name for the reason that a pod is not ready: "ImagePullBackOff".
func (p pod) why() string {
	for _, c := range slices.Concat(p.Status.Inits, p.Status.Containers) {
		if reason := word(c.State.Waiting.Reason); reason != "" && reason != "PodInitializing" {
			if says := reasonText(c.State.Waiting.Message); says != "" && slices.Contains(told, reason) {
				reason += " (" + says + ")"
			}
			return reason
		}
	}
	for _, c := range p.Status.Conditions {
		if c.Status == "False" && c.Type != "Ready" && c.Type != "ContainersReady" {
			why := word(c.Reason)
			if says := reasonText(c.Message); says != "" {
				why += " (" + says + ")"
			}
			return why
		}
	}
	return ""
}

// pods lists those of the instance that are to stay, by VDU.
func (s *server) pods(ctx context.Context, namespace, instance string) (map[string][]pod, error) {
	found := map[string][]pod{}
	of := lifecycle.Resource{Version: "v1", Kind: "Pod", Plural: "pods", Namespace: namespace}
	err := pages(ctx, s, of, url.Values{"labelSelector": {instanceLabel + "=" + instance}}, func(p pod) {
		// A hostile server may answer anything.
		if p.Metadata.Deleted == "" && p.Metadata.Labels[instanceLabel] == instance && word(p.Metadata.Name) != "" {
			found[p.Metadata.Labels[vduLabel]] = append(found[p.Metadata.Labels[vduLabel]], p)
		}
	})
	if err != nil {
		return nil, fault(err, "list pods in namespace "+namespace)
	}
	return found, nil
}

func vnfcs(vdu, namespace string, pods []pod) []lifecycle.VNFC {
	var all []lifecycle.VNFC
	for _, p := range pods {
		all = append(all, lifecycle.VNFC{
			VDU: vdu, Kind: "Pod", Namespace: namespace, Name: p.Metadata.Name, UID: p.Metadata.UID, Ready: p.ready(),
		})
	}
	slices.SortFunc(all, func(a, b lifecycle.VNFC) int { return strings.Compare(a.Name, b.Name) })
	return all
}

// addVNFCs adds to observations of workloads which pods they run.
func (s *server) addVNFCs(ctx context.Context, instance string, all []lifecycle.Observation) error {
	byNamespace := map[string]map[string][]pod{}
	for i := range all {
		o := &all[i]
		if o.VDU == "" || !o.Standing {
			continue
		}
		if byNamespace[o.Namespace] == nil {
			pods, err := s.pods(ctx, o.Namespace, instance)
			if err != nil {
				return err
			}
			byNamespace[o.Namespace] = pods
		}
		o.VNFCs = vnfcs(o.VDU, o.Namespace, byNamespace[o.Namespace][o.VDU])
	}
	return nil
}

// components tells, when a wave is done, which pods its workloads run, and which claims they have.
func (r *run) components(ctx context.Context, all []*waiting) error {
	var workloads []lifecycle.Observation
	for _, w := range all {
		if !w.is.Standing || w.VDU == "" && len(w.makes) == 0 {
			continue
		}
		made, err := r.claims(ctx, w)
		if err != nil {
			return err
		}
		w.is.Storages = nil
		for _, c := range made {
			one := storage(c.template, w.Namespace, c.Metadata.Name, c.Metadata.UID)
			one.Outlives = w.outlives
			w.is.Storages = append(w.is.Storages, one)
		}
		workloads = append(workloads, w.is)
	}
	if err := r.addVNFCs(ctx, r.instance, workloads); err != nil {
		return err
	}
	for _, o := range workloads {
		r.tell(o)
	}
	return nil
}

// lastWord bounds how long it takes to see what keeps workloads from being ready.
const lastWord = 3 * time.Second

// explain adds to the messages on workloads the reasons why their pods are not made, or not ready.
func (r *run) explain(ctx context.Context, open []*waiting) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), lastWord)
	defer cancel()
	byNamespace := map[string]map[string][]pod{}
	for _, w := range open[:min(len(open), maxNamed)] {
		if w.VDU == "" && len(w.makes) == 0 || r.wave.Deed == lifecycle.Delete || !w.is.Standing {
			continue
		}
		if w.VDU != "" && byNamespace[w.Namespace] == nil {
			pods, err := r.pods(ctx, w.Namespace, r.instance)
			if err != nil {
				return
			}
			byNamespace[w.Namespace] = pods
		}
		why := r.unclaimed(ctx, w)
		for _, p := range byNamespace[w.Namespace][w.VDU] {
			if says := p.why(); says != "" && why == "" {
				why = ": pod " + p.Metadata.Name + ": " + says
				break
			}
		}
		if why == "" && tellsByEvents(w.Resource) {
			if _, says, err := r.newestEvent(ctx, w.Resource, w.UID, "FailedCreate"); err == nil && says != "" {
				why = ": FailedCreate (" + says + ")"
			}
		}
		if w.why != why {
			w.is.Message = strings.TrimSuffix(w.is.Message, w.why) + why
			w.why = why
			r.tell(w.is)
		}
	}
}

// scaleAll sets numbers of replicas through the subresource scale, and waits.
func (r *run) scaleAll(ctx context.Context) error {
	var all []*waiting
	for _, o := range r.wave.Objects {
		there, err := r.get(ctx, o.Resource)
		if err != nil {
			return err
		}
		if !r.ours(there, o.Resource) {
			return &broker.Error{
				Kind: broker.ErrConflict, Detail: title(o.Resource) + " " + r.observation(there, r.instance, o.Resource).Message,
				Remedy: "heal the instance first",
			}
		}
		if there, err = r.scale(ctx, o, there); err != nil {
			return err
		}
		w := &waiting{Object: o, done: r.hasReplicas(ctx, o)}
		w.Applied, w.UID = there.mark(), there.Metadata.UID
		r.see(w, there)
		all = append(all, w)
	}
	return r.await(ctx, all)
}

// scale sets the number of one very workload, and reads it again.
func (r *run) scale(ctx context.Context, o lifecycle.Object, there *found) (*found, error) {
	body, err := json.Marshal(map[string]any{
		"metadata": map[string]any{"uid": there.Metadata.UID}, "spec": map[string]any{"replicas": o.Replicas},
	})
	if err != nil {
		return nil, err
	}
	var answer struct {
		Kind string `json:"kind"`
	}
	err = r.call(ctx, request{
		method: http.MethodPatch, path: pathOf(o.Resource) + "/scale", content: "application/merge-patch+json", body: body,
		query: url.Values{"fieldManager": {r.manager}},
	}, &answer)
	if err == nil && answer.Kind != "Scale" {
		err = errNotKubernetes
	}
	if err != nil {
		return nil, r.cut(ctx, o.Resource, fault(err, "scale "+title(o.Resource)))
	}
	there, err = r.get(ctx, o.Resource)
	if err == nil && there == nil {
		err = notReady(o.Resource, "was removed meanwhile", errFailed)
	}
	return there, err
}

// hasReplicas reports whether a workload is ready, and has the wanted number of pods: its
// own status may be older than that number.
func (r *run) hasReplicas(ctx context.Context, o lifecycle.Object) func(*found) (bool, error) {
	return func(there *found) (bool, error) {
		ready, err := r.isReady(&o.Resource)(there)
		if !ready || !isWorkload(o.Resource) {
			return ready, err
		}
		pods, err := r.pods(ctx, o.Namespace, r.instance)
		return len(pods[o.VDU]) == int(o.Replicas), err
	}
}

// replaceAll removes the pods of VNFCs, and waits until their workloads have others.
func (r *run) replaceAll(ctx context.Context) error {
	gone := map[string]bool{}
	for _, v := range r.wave.VNFCs {
		p := lifecycle.Resource{Version: "v1", Kind: "Pod", Plural: "pods", Namespace: v.Namespace, Name: v.Name}
		there, err := r.get(ctx, p)
		if err != nil {
			return err
		}
		gone[v.UID] = true
		if there == nil || !r.ours(there, p) || there.Metadata.Deleted != "" {
			continue // it went already
		}
		if err := r.deleteByUID(ctx, p, v.UID, "Background"); err != nil && !isGone(err, p) && !isConflict(err) {
			return r.cut(ctx, p, fault(err, "delete "+title(p)))
		}
	}
	var all []*waiting
	for _, o := range r.wave.Objects {
		if !o.Manifest.Empty() {
			if _, err := r.apply(ctx, o); err != nil {
				return err
			}
		}
		all = append(all, &waiting{Object: o, done: r.hasOthers(ctx, o, gone)})
	}
	for _, w := range all {
		there, err := r.get(ctx, w.Resource)
		if err != nil {
			return err
		}
		if there != nil {
			w.Applied, w.UID = there.mark(), there.Metadata.UID // the plan is older than what it applied
		}
		r.see(w, there)
	}
	return r.await(ctx, all)
}

// hasOthers reports whether a workload is ready and runs none of the pods that are to go, and as
// many as it should.
func (r *run) hasOthers(ctx context.Context, o lifecycle.Object, gone map[string]bool) func(*found) (bool, error) {
	return func(there *found) (bool, error) {
		ready, err := r.isReady(&o.Resource)(there)
		if !ready {
			return false, err
		}
		pods, err := r.pods(ctx, o.Namespace, r.instance)
		if err != nil {
			return false, err
		}
		alive := int64(0)
		for _, p := range pods[o.VDU] {
			if gone[p.Metadata.UID] {
				return false, nil
			}
			if p.ready() {
				alive++
			}
		}
		wanted, _ := mapAt(there.whole, "spec")["replicas"].(int64)
		return alive >= wanted, nil
	}
}
