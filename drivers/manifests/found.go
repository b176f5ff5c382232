package manifests

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/fluxcd/cli-utils/pkg/kstatus/status"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	utiljson "k8s.io/apimachinery/pkg/util/json"

	"github.com/vimbroker/vimbroker/lifecycle"
)

// found is an object as the API server has it.
type found struct {
	Kind     string `json:"kind"`
	Metadata struct {
		Name       string            `json:"name"`
		UID        string            `json:"uid"`
		Labels     map[string]string `json:"labels"`
		Marks      map[string]string `json:"annotations"`
		Finalizers []string          `json:"finalizers"`
		// Deleted is when it was asked to go; empty while it is to stay.
		Deleted string       `json:"deletionTimestamp"`
		Managed []managedSet `json:"managedFields"`
	} `json:"metadata"`
	// whole is the object without the values of a Secret or a ConfigMap.
	whole map[string]any
	// text is the object as the server wrote it; none for a Secret.
	text json.RawMessage
	// manager is this driver's field manager.
	manager string
	// event and says are the reason and the text of the newest event about a claim without a volume.
	event, says string
	// passed: the cluster has removed it after its work, and an event has told the end.
	passed bool
}

// managedSet are the fields that one manager owns.
type managedSet struct {
	Manager     string          `json:"manager"`
	Operation   string          `json:"operation"`
	Subresource string          `json:"subresource"`
	Time        string          `json:"time"`
	Fields      json.RawMessage `json:"fieldsV1"`
}

// UnmarshalJSON keeps the fields of an object that are used.
func (o *found) UnmarshalJSON(text []byte) error {
	type plain found
	if err := json.Unmarshal(text, (*plain)(o)); err != nil {
		return err
	}
	if err := utiljson.Unmarshal(text, &o.whole); err != nil {
		return err
	}
	if o.Kind != "Secret" {
		o.text = slices.Clone(text)
	}
	delete(mapAt(o.whole, "metadata"), "managedFields")
	if o.Kind == "Secret" || o.Kind == "ConfigMap" {
		delete(o.whole, "data")
		delete(o.whole, "binaryData")
	}
	return nil
}

// get reads an object; nil without an error is one that is not there.
func (s *server) get(ctx context.Context, r lifecycle.Resource) (*found, error) {
	o := found{manager: s.manager}
	err := s.call(ctx, request{method: http.MethodGet, path: pathOf(r)}, &o)
	switch {
	case err == nil && (o.Metadata.Name != r.Name || o.Metadata.UID == ""):
		return nil, notKubernetes("read "+title(r), 0)
	case err == nil:
		return &o, nil
	case isGone(err, r):
		return nil, nil
	}
	return nil, fault(err, "read "+title(r))
}

// is reports whether an object is the instance's: by its label; as the very object that is recorded of the instance,
// whatever became of its labels; or as one of the release that the resource is of.
func (o *found) is(instance string, of lifecycle.Resource) bool {
	switch {
	case o == nil:
		return false
	case o.Metadata.Labels[instanceLabel] == instance, of.UID != "" && o.Metadata.UID == of.UID:
		return true
	}
	if strings.HasPrefix(of.Release, hooksOf) {
		return o.Metadata.Marks[hookAnnotation] != "" && o.Metadata.Labels[instanceLabel] == ""
	}
	return of.Release != "" && of.Release == ReleaseOf(o.Metadata.Marks[spaceAnnotation], o.Metadata.Marks[releaseAnnotation])
}

// state is the readiness of an object.
type state struct {
	ready, failed bool
	// message completes a sentence that begins with the object's name.
	message string
}

// state reads an object's status as kstatus does, but for claims, which may be waiting for their
// first consumer, for jobs, which are ready when they are complete, and for clusters.
func (o *found) state() state {
	if o.Metadata.Deleted != "" {
		if s := o.job(); mapAt(o.whole, "spec")[timeToLive] != nil && (s.ready || s.failed) {
			return s // it goes because its work is done
		}
		return state{message: o.remains()}
	}
	u := &unstructured.Unstructured{Object: o.whole}
	phase := text(mapAt(o.whole, "status"), "phase")
	switch kind := u.GroupVersionKind(); {
	case kind.Group == "" && kind.Kind == "PersistentVolumeClaim" && phase == "Pending":
		return o.claim()
	case kind.Group == "" && kind.Kind == "Service" && text(mapAt(o.whole, "spec"), "type") == "LoadBalancer" &&
		!isList(mapAt(o.whole, "status", "loadBalancer")["ingress"]):
		return state{message: "is not ready: no load balancer of the cluster has given it an address"}
	case kind.Group == batch && kind.Kind == "Job":
		return o.job()
	case kind.Group == "kubevirt.io" && (kind.Kind == "VirtualMachine" || kind.Kind == "VirtualMachineInstance"):
		return o.machine()
	case kind.Group == "" && kind.Kind == "Pod" && (phase == "Failed" || u.GetAnnotations()[hookAnnotation] != ""):
		return endOf(phase) // kstatus takes a pod that failed for one that is done
	}
	r, err := status.Compute(u)
	if err != nil {
		return state{message: "has a status that cannot be read"}
	}
	switch r.Status {
	case status.CurrentStatus:
		if u.GroupVersionKind().GroupVersion() == clusterAPI {
			return o.ofClusterAPI()
		}
		return state{ready: true}
	case status.FailedStatus:
		// A pod that cannot be scheduled now may find a node later.
		return state{failed: o.Kind != "Pod", message: "has failed" + o.because(r)}
	default:
		return state{message: "is not ready" + o.because(r)}
	}
}

// claim is the state of a claim that has no volume: it holds nothing up where it waits for its first consumer, which the
// cluster says in an event.
func (o *found) claim() state {
	switch {
	case o.event == "WaitForFirstConsumer", o.event == "WaitForPodScheduled":
		return state{ready: true, message: "waits for its first consumer"}
	case o.says != "":
		return state{message: "is not ready: " + o.event + " (" + o.says + ")"}
	}
	return state{message: "is not ready: it has no volume"}
}

// timeToLive is the field of a Job's spec that has the cluster remove it after its work.
const timeToLive = "ttlSecondsAfterFinished"

// job is the state of a Job: a wave that follows relies on its work.
func (o *found) job() state {
	for _, c := range o.conditions() {
		switch {
		case c.Status != "True":
		case c.Type == "Complete", c.Type == "Suspended":
			return state{ready: true}
		case c.Type == "Failed":
			return state{failed: true, message: "has failed" + c.words()}
		}
	}
	return state{message: "is not complete"}
}

// machine is the state of a machine of KubeVirt, which says nothing at first. One that its manifest does not start is ready.
func (o *found) machine() state {
	spec := mapAt(o.whole, "spec")
	if strategy := text(spec, "runStrategy"); spec["running"] == false || strategy == "Halted" || strategy == "Manual" {
		return state{ready: true}
	}
	for _, c := range o.conditions() {
		switch {
		case c.Type == "Ready" && c.Status == "True":
			return state{ready: true}
		case c.Type == "Ready":
			return state{message: "is not ready" + c.words()}
		}
	}
	return state{message: "is not ready"}
}

// endOf is the state of a pod that is to come to its end, as a hook of a chart is.
func endOf(phase string) state {
	switch phase {
	case "Succeeded":
		return state{ready: true}
	case "Failed":
		return state{failed: true, message: "has failed"}
	}
	return state{message: "has not come to its end"}
}

// condition is one of an object's status. Message is that of Kubernetes' own controllers: one of others may hold anything.
type condition struct {
	Type    string `json:"type"`
	Status  string `json:"status"`
	Reason  string `json:"reason"`
	Message string `json:"message"`
}

func (c condition) words() string {
	switch {
	case c.Reason == "":
		return ""
	case c.Message == "":
		return " (" + c.Reason + ")"
	}
	return " (" + c.Reason + ": " + c.Message + ")"
}

var plainWord = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z0-9/._:-]{1,80}$`) })

// word is a name that the remote side chose; empty if it is more than a name.
func word(s string) string {
	if plainWord().MatchString(s) {
		return s
	}
	return ""
}

func (o *found) conditions() []condition {
	var all []condition
	group, _ := groupVersion(text(o.whole, "apiVersion"))
	for _, c := range mappings(mapAt(o.whole, "status")["conditions"]) {
		if t := word(text(c, "type")); t != "" {
			one := condition{Type: t, Status: text(c, "status"), Reason: word(text(c, "reason"))}
			if orderedGroups[group] {
				one.Message = reasonText(text(c, "message"))
			}
			all = append(all, one)
		}
	}
	return all
}

// kstatusSays are the reasons whose messages kstatus writes itself, from numbers.
var kstatusSays = []string{
	"LessReady", "LessAvailable", "LessUpdated", "LessReplicas", "ExtraPods", "LatestGenerationNotObserved",
	"LessCurrent", "NoIPAssigned", "NotBound", "PartitionRollout", "NoScheduled", "PDBSyncing",
}

// because is the reason of the wait, in words of kstatus or in the reasons of conditions.
func (o *found) because(r *status.Result) string {
	var says []string
	counted := slices.ContainsFunc(r.Conditions, func(c status.Condition) bool { return slices.Contains(kstatusSays, c.Reason) })
	if counted {
		says = append(says, r.Message)
	}
	for _, c := range o.conditions() {
		failure := strings.HasSuffix(c.Type, "Failure")
		if counted && !failure {
			continue // the number says as much
		}
		if bad := c.Status != "True"; bad != (c.Type == "Stalled" || c.Type == "Reconciling" || failure) {
			says = append(says, fmt.Sprintf("%s is %s%s", c.Type, word(c.Status), c.words()))
		}
	}
	if len(says) == 0 {
		return ""
	}
	return ": " + strings.Join(says[:min(len(says), maxNamed)], ", ")
}

// remains says why an object that was deleted is still there.
func (o *found) remains() string {
	var names []string
	for _, f := range o.Metadata.Finalizers {
		name := word(f)
		if ends := o.ends(name); ends != "" {
			name += " (" + ends + ")"
		}
		names = append(names, name)
	}
	for _, c := range o.conditions() {
		if c.Status == "True" && strings.HasPrefix(c.Type, "Namespace") {
			names = append(names, c.Type+c.words())
		}
	}
	if len(names) == 0 {
		return "is being deleted"
	}
	return "is being deleted and waits for " + strings.Join(names[:min(len(names), maxNamed)], ", ")
}

// applied are the fields that our manager owns; nil for none.
func (o *found) applied() map[string]any {
	for _, m := range o.Metadata.Managed {
		var fields map[string]any
		if m.Manager == o.manager && m.Operation == "Apply" && m.Subresource == "" && json.Unmarshal(m.Fields, &fields) == nil {
			return fields
		}
	}
	return nil
}

// ownsReplicas reports whether our manager owns the number of replicas.
func (o *found) ownsReplicas() bool { return mapAt(o.applied(), "f:spec")["f:replicas"] != nil }

// mark is a digest of which fields our manager owns: another mark later means that somebody
// changed one of them, and so took it. The number of replicas stands apart.
func (o *found) mark() string {
	fields, end := o.applied(), ""
	if fields == nil {
		return "none"
	}
	if o.ownsReplicas() {
		delete(mapAt(fields, "f:spec"), "f:replicas")
		end = replicasMark
	}
	whole, _ := json.Marshal(fields) // cannot fail: it is from JSON
	sum := sha256.Sum256(whole)
	return hex.EncodeToString(sum[:8]) + end
}

// changedBy names the managers that have taken fields since the object was last applied,
// if any field of this driver has changed. The number of replicas does not count if an
// autoscaler sets it.
func (o *found) changedBy(applied string, autoscaled bool) []string {
	now := o.mark()
	if autoscaled {
		now, applied = strings.TrimSuffix(now, replicasMark), strings.TrimSuffix(applied, replicasMark)
	}
	if now == applied {
		return nil
	}
	var since string
	for _, m := range o.Metadata.Managed {
		if m.Manager == o.manager && m.Operation == "Apply" {
			since = m.Time
		}
	}
	var names []string
	for _, m := range o.Metadata.Managed {
		if m.Manager == o.manager || m.Subresource == "status" || m.Time < since { // times in RFC 3339, UTC
			continue
		}
		if name := word(m.Manager); name != "" && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	if len(names) == 0 {
		names = []string{"unknown"}
	}
	return names
}
