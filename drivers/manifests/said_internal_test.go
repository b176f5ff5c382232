package manifests

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/lifecycle"
)

// What each refusal of the API server means: its kind, the words, and what can be done.
func TestMeaningOfRefusals(t *testing.T) {
	said := func(code int, message string, causes ...metav1.StatusCause) *refusal {
		s := &metav1.Status{Message: message}
		if causes != nil {
			s.Details = &metav1.StatusDetails{Causes: causes}
		}
		return &refusal{code: code, status: s}
	}
	cause := func(kind, field string) metav1.StatusCause {
		return metav1.StatusCause{Type: metav1.CauseType(kind), Field: field}
	}
	six := []metav1.StatusCause{cause("a", "f1"), cause("a", "f2"), cause("a", "f3"), cause("a", "f4"), cause("a", "f5"), cause("a", "f6")}
	const manifest, again = "correct the manifest", "try again later"
	for _, c := range []struct {
		r              *refusal
		kind           error
		detail, remedy string
	}{
		{&refusal{code: 401}, broker.ErrUnauthorized, "the API server does not know the lease's credential (401)", "see whether the lease was revoked"},
		{&refusal{code: 429}, broker.ErrUnreachable, "the API server limits requests (429)", again},
		{said(500, `failed calling webhook "a.b-c": x`), broker.ErrUnreachable, "admission webhook a.b-c does not answer (500)", "see to what runs that webhook on the cluster"},
		{said(400, `admission webhook "a.b" denied: canary`), broker.ErrForbidden, "admission webhook a.b denies it (400)", "ask whoever runs that webhook on the cluster for its reasons"},
		{said(499, `admission webhook "a.b" denied`), broker.ErrForbidden, "admission webhook a.b denies it (499)", "ask whoever runs that webhook on the cluster for its reasons"},
		{said(500, "failed to create typed patch object (x): .spec.a[name=\"canary\"].b: field not declared in schema"), broker.ErrInvalid, "it is not of the form of its kind: spec.a[].b (field not declared in schema) (500)", manifest},
		{said(500, "failed to convert new object: .spec.a: expected map"), broker.ErrInvalid, "it is not of the form of its kind: spec.a (expected map) (500)", manifest},
		{said(500, "x failed to convert new object"), broker.ErrUnreachable, "the API server cannot do it now (500)", again},
		{&refusal{code: 500}, broker.ErrUnreachable, "the API server cannot do it now (500)", again},
		{&refusal{code: 499}, broker.ErrUnreachable, "the endpoint does not answer as a Kubernetes API server does (499)", "check the endpoint, and what stands in front of it"},
		{said(403, "x", cause("NamespaceTerminating", "")), broker.ErrConflict, "its namespace is being deleted (403)", "wait until the namespace is gone"},
		{said(403, "x", cause("Other", ""), cause("NamespaceTerminating", "")), broker.ErrConflict, "its namespace is being deleted (403)", "wait until the namespace is gone"},
		{said(403, "x", cause("Other", "")), broker.ErrForbidden, "the cluster forbids it (403)", "see which admission rule of the cluster does, such as a limit range"},
		{said(409, "x", cause("NamespaceTerminating", "")), broker.ErrConflict, "it was changed or replaced meanwhile (409)", "try again"},
		{said(403, `User "x" cannot patch path`), broker.ErrForbidden, "the lease does not allow it (403)", "see whether the namespace was removed, or somebody took the lease's rights away"},
		{
			said(403, "y is attempting to grant RBAC permissions not currently held:\n{APIGroups:[\"a\"], Verbs:[\"get\"]}\n{APIGroups:[\"b\"]}"), broker.ErrForbidden,
			`the lease does not allow it: whoever makes or binds a role has to hold {APIGroups:["a"], Verbs:["get"]} {APIGroups:["b"]} (403)`, "see whether the namespace was removed, or somebody took the lease's rights away",
		},
		{said(403, "exceeded quota: q, requested: a=1"), broker.ErrQuota, "exceeded quota: q, requested: a=1 (403)", "free some of it, or have whoever runs the cluster raise the quota"},
		{said(403, `violates PodSecurity "baseline:v1.30": host`), broker.ErrInvalid, "Pod Security baseline:v1.30 of the namespace does not allow it: host (403)", "have the pods ask for less, or use a namespace of another level"},
		{said(404, "x"), broker.ErrNotFound, "the API server finds no such kind or namespace (404)", "see whether the definition or the namespace was removed"},
		{said(413, "x"), broker.ErrInvalid, "it is larger than the API server takes (413)", "make it smaller"},
		{said(422, "x"), broker.ErrInvalid, "the API server finds it invalid (422)", manifest},
		{said(422, "x", six[:5]...), broker.ErrInvalid, "the API server finds it invalid: f1 (a), f2 (a), f3 (a), f4 (a), f5 (a) (422)", manifest},
		{said(422, "x", six...), broker.ErrInvalid, "the API server finds it invalid: f1 (a), f2 (a), f3 (a), f4 (a), f5 (a) (422)", manifest},
		{said(422, "x", cause("a b", ".spec.x"), cause("a", "spec x"), cause("Dup", "z"), cause("Dup", "z")), broker.ErrInvalid, "the API server finds it invalid: spec.x, z (Dup) (422)", manifest},
		{said(400, `strict decoding error: unknown field "spec.a", duplicate field "spec.b"`), broker.ErrInvalid, "the API server finds it invalid: spec.a (unknown), spec.b (unknown) (400)", manifest},
	} {
		e, is := errors.AsType[*broker.Error](fault(c.r, "do"))
		if !is || e.Kind != c.kind || e.Detail != "cannot do: "+c.detail || e.Remedy != c.remedy {
			t.Errorf("%d %+v: %#v, want %v: %s; %s", c.r.code, c.r.status, e, c.kind, c.detail, c.remedy)
		}
	}
	own := &broker.Error{Kind: broker.ErrDenied}
	if err := fault(own, "do"); err != error(own) {
		t.Errorf("an error of our own: %v", err)
	}
	if err := fault(nil, "do"); err != nil {
		t.Errorf("no error: %v", err)
	}
	for _, c := range []struct {
		err     error
		refused bool
	}{{&refusal{code: 499}, true}, {&refusal{code: 500}, false}, {errNotKubernetes, false}} {
		if refused(c.err) != c.refused {
			t.Errorf("%v %+v is a refusal: %t", c.err, c.err, !c.refused)
		}
	}
}

// A reason is on one line of at most 300 bytes, without the values that a validation quotes.
func TestReasonsAreBounded(t *testing.T) {
	for text, want := range map[string]string{
		"a\tb\n c\x7fd\uFFFDe": "a b c d e", strings.Repeat("x", 300): strings.Repeat("x", 300), strings.Repeat("x", 301): strings.Repeat("x", 300) + "…",
		strings.Repeat("x", 299) + "ä": strings.Repeat("x", 299) + "…", `a: Invalid value: "ca\"nary": no`: "a: Invalid value: no", "Invalid value: canary, x": "Invalid value, x",
	} {
		if got := reasonText(text); got != want {
			t.Errorf("%q is shown as %q, want %q", text, got, want)
		}
	}
	for text, want := range map[string]string{"a/b.c:d_e-f": "a/b.c:d_e-f", "a b": "", "": "", strings.Repeat("x", 80): strings.Repeat("x", 80), strings.Repeat("x", 81): ""} {
		if got := word(text); got != want {
			t.Errorf("%q is the word %q, want %q", text, got, want)
		}
	}
}

func read(t *testing.T, text string) *found {
	t.Helper()
	o := &found{manager: "us"}
	if err := json.Unmarshal([]byte(text), o); err != nil {
		t.Fatal(err)
	}
	return o
}

// How an object stands, by its kind and status.
func TestStateOfObjects(t *testing.T) {
	obj := func(version, kind, rest string) string {
		return `{"apiVersion":"` + version + `","kind":"` + kind + `","metadata":{"name":"a","generation":1},` + rest + `}`
	}
	conditions := func(of ...string) string {
		return `"status":{"observedGeneration":1,"conditions":[` + strings.Join(of, ",") + `]}`
	}
	cond := func(kind, status, reason, message string) string {
		return fmt.Sprintf(`{"type":%q,"status":%q,"reason":%q,"message":%q}`, kind, status, reason, message)
	}
	going := func(version, kind, rest string) string {
		return `{"apiVersion":"` + version + `","kind":"` + kind + `","metadata":{"name":"a","deletionTimestamp":"x","finalizers":["kubernetes","a b","x/y"]},` + rest + `}`
	}
	hook := func(phase string) string {
		return `{"apiVersion":"v1","kind":"Pod","metadata":{"name":"a","annotations":{"helm.sh/hook":"test"}},"status":{"phase":"` + phase + `"}}`
	}
	const waits = "is being deleted and waits for kubernetes,  (its controller takes that away; see whether that one runs), x/y (its controller takes that away; see whether that one runs)"
	ready := state{ready: true}
	for _, c := range []struct {
		text string
		want state
	}{
		{obj("v1", "ConfigMap", `"data":{}`), ready},
		{obj("v1", "Service", `"spec":{"type":"LoadBalancer"}`), state{message: "is not ready: no load balancer of the cluster has given it an address"}},
		{obj("x/v1", "Service", `"spec":{"type":"LoadBalancer"}`), ready},
		{obj("v1", "Other", `"spec":{"type":"LoadBalancer"}`), ready},
		{obj("v1", "Service", `"spec":{"type":"LoadBalancer","clusterIP":"10.0.0.1"},"status":{"loadBalancer":{"ingress":[]}}`), ready},
		{obj("v1", "Service", `"spec":{"type":"NodePort"}`), ready},
		{obj("v1", "PersistentVolumeClaim", `"status":{"phase":"Pending"}`), state{message: "is not ready: it has no volume"}},
		{obj("v1", "PersistentVolumeClaim", `"status":{"phase":"Bound"}`), ready},
		{obj("batch/v1", "Job", conditions(cond("Complete", "True", "", ""))), ready},
		{obj("batch/v1", "Job", conditions(cond("Suspended", "True", "", ""))), ready},
		{obj("batch/v1", "Job", conditions(cond("Complete", "False", "", ""), cond("Failed", "True", "Why", "so"))), state{failed: true, message: "has failed (Why: so)"}},
		{obj("batch/v1", "Job", conditions()), state{message: "is not complete"}},
		{obj("batch/v1", "CronJob", conditions(cond("Failed", "True", "", ""))), ready},
		{obj("kubevirt.io/v1", "VirtualMachine", `"spec":{"running":false}`), ready},
		{obj("kubevirt.io/v1", "VirtualMachine", `"spec":{"runStrategy":"Halted"}`), ready},
		{obj("kubevirt.io/v1", "VirtualMachine", `"spec":{"runStrategy":"Manual"}`), ready},
		{obj("kubevirt.io/v1", "VirtualMachine", `"spec":{"runStrategy":"Always"}`), state{message: "is not ready"}},
		{obj("kubevirt.io/v1", "VirtualMachineInstance", conditions(cond("Paused", "True", "", ""), cond("Ready", "False", "Why", "canary"))), state{message: "is not ready (Why)"}},
		{obj("kubevirt.io/v1", "VirtualMachineInstance", conditions(cond("Ready", "True", "", ""))), ready},
		{obj("kubevirt.io/v1", "KubeVirt", `"spec":{}`), ready},
		{obj("v1", "Pod", `"status":{"phase":"Succeeded"}`), ready},
		{obj("v1", "Pod", `"status":{"phase":"Failed"}`), state{failed: true, message: "has failed"}},
		{hook("Succeeded"), ready},
		{hook("Failed"), state{failed: true, message: "has failed"}},
		{hook("Running"), state{message: "has not come to its end"}},
		{going("v1", "ConfigMap", `"data":{}`), state{message: waits}},
		{going("batch/v1", "Job", `"spec":{"ttlSecondsAfterFinished":1},`+conditions(cond("Complete", "True", "", ""))), ready},
		{going("batch/v1", "Job", `"spec":{"ttlSecondsAfterFinished":1},`+conditions(cond("Failed", "True", "", ""))), state{failed: true, message: "has failed"}},
		{going("batch/v1", "Job", `"spec":{"ttlSecondsAfterFinished":1},`+conditions()), state{message: waits}},
		{going("batch/v1", "Job", conditions(cond("Complete", "True", "", ""))), state{message: waits}},
		{strings.Replace(going("v1", "Namespace", conditions(cond("NamespaceContentRemaining", "True", "Some", "x"), cond("NamespaceFinalizersRemaining", "False", "", ""), cond("Other", "True", "", ""))), `["kubernetes","a b","x/y"]`, `["foregroundDeletion","orphan"]`, 1), state{message: "is being deleted and waits for foregroundDeletion (what it owns goes before it), orphan, NamespaceContentRemaining (Some: x)"}},
		{strings.Replace(going("v1", "Service", `"spec":{}`), `["kubernetes","a b","x/y"]`, `["service.kubernetes.io/load-balancer-cleanup","kubernetes.io/pvc-protection","a","b","c","d"]`, 1), state{message: "is being deleted and waits for service.kubernetes.io/load-balancer-cleanup (the cluster's load balancer is being removed), kubernetes.io/pvc-protection (a pod uses it; it goes with the last such pod)" + strings.Repeat(", N (its controller takes that away; see whether that one runs)", 3)}},
		{strings.Replace(going("v1", "PersistentVolume", `"spec":{"claimRef":{"namespace":"ns","name":"c"}}`), `["kubernetes","a b","x/y"]`, `["kubernetes.io/pv-protection"]`, 1), state{message: "is being deleted and waits for kubernetes.io/pv-protection (claim ns/c uses it; delete that claim)"}},
		{strings.Replace(going("v1", "PersistentVolume", `"spec":{"claimRef":{"namespace":"ns","name":"c c"}}`), `["kubernetes","a b","x/y"]`, `["kubernetes.io/pv-protection"]`, 1), state{message: "is being deleted and waits for kubernetes.io/pv-protection (a claim uses it; delete that claim)"}},
		{strings.Replace(going("v1", "ConfigMap", `"data":{}`), `["kubernetes","a b","x/y"]`, `[]`, 1), state{message: "is being deleted"}},
		{obj("apps/v1", "Deployment", `"spec":{"replicas":2},`+strings.Replace(conditions(cond("Available", "False", "Minimum", "m"), cond("ReplicaFailure", "True", "FailedCreate", "no room")), `"status":{`, `"status":{"replicas":1,"updatedReplicas":1,`, 1)), state{message: "is not ready: Replicas: 1/2, ReplicaFailure is True (FailedCreate: no room)"}},
		{obj("x.example.com/v1", "Odd", conditions(cond("Stalled", "True", "Why", "canary"))), state{failed: true, message: "has failed: Stalled is True (Why)"}},
		{obj("x.example.com/v1", "Odd", conditions(cond("Reconciling", "True", "", ""), cond("Ready", "Unknown", "Why", ""), cond("Fine", "True", "", ""), cond("MyFailure", "False", "", ""), cond("Stalled", "False", "", ""), cond("a b", "False", "", ""))), state{message: "is not ready: Reconciling is True, Ready is Unknown (Why)"}},
		{obj("x.example.com/v1", "Odd", conditions(cond("Ready", "False", "", ""))), state{message: "is not ready: Ready is False"}},
		{obj("v1", "Pod", `"spec":{},"status":{"phase":"Running","conditions":[{"type":"Ready","status":"False"}],"containerStatuses":[{"name":"c","state":{"waiting":{"reason":"CrashLoopBackOff"}}}]}`), state{message: "has failed: Ready is False"}},
		{obj("cluster.x-k8s.io/v1beta2", "Cluster", conditions(cond("Available", "True", "", ""))), ready},
		{obj("cluster.x-k8s.io/v1beta2", "Cluster", conditions(cond("Available", "False", "", ""), cond("WorkersAvailable", "False", "Few", ""), cond("InfrastructureReady", "True", "", ""), cond("Other", "False", "", ""))), state{message: "is not available: WorkersAvailable is False (Few)"}},
		{obj("cluster.x-k8s.io/v1beta2", "Cluster", conditions()), state{message: "is not available"}},
		{obj("cluster.x-k8s.io/v1beta2", "MachineDeployment", `"spec":{"replicas":2},"status":{"upToDateReplicas":2,"availableReplicas":1,"replicas":2}`), state{message: "is not ready: 1 of 2 machines are available"}},
		{obj("cluster.x-k8s.io/v1beta2", "MachineDeployment", `"spec":{"replicas":1},"status":{"availableReplicas":1,"replicas":1}`), state{message: "is not ready: 0 of 1 machines are up to date"}},
		{obj("cluster.x-k8s.io/v1beta2", "MachineDeployment", `"spec":{"replicas":0}`), ready},
		{obj("cluster.x-k8s.io/v1beta2", "MachineDeployment", `"spec":{},"status":{"replicas":1}`), state{message: "is not ready: 1 of 0 machines are there"}},
		{obj("cluster.x-k8s.io/v1beta2", "MachineSet", `"spec":{}`), ready},
	} {
		got := read(t, c.text).state()
		if strings.Contains(c.want.message, ", N (") {
			for _, n := range []string{"a", "b", "c"} {
				c.want.message = strings.Replace(c.want.message, ", N (", ", "+n+" (", 1)
			}
		}
		if got != c.want {
			t.Errorf("%s\nis %+v, want\n%+v", c.text, got, c.want)
		}
	}
	claim := &found{event: "WaitForFirstConsumer", says: "x"}
	if got := claim.claim(); got != (state{ready: true, message: "waits for its first consumer"}) {
		t.Errorf("a claim before its first consumer: %+v", got)
	}
	if claim.event = "WaitForPodScheduled"; !claim.claim().ready {
		t.Error("a claim before its pod is not ready")
	}
	claim.event = "Failed"
	if got := claim.claim(); got != (state{message: "is not ready: Failed (x)"}) {
		t.Errorf("a claim that fails: %+v", got)
	}
}

// Whose an object is: by its label, as the very object, or by the release.
func TestWhoseAnObjectIs(t *testing.T) {
	o := func(uid, owner string, marks ...string) *found {
		x := &found{}
		x.Metadata.UID, x.Metadata.Labels, x.Metadata.Marks = uid, map[string]string{instanceLabel: owner}, map[string]string{}
		for i := 0; i < len(marks); i += 2 {
			x.Metadata.Marks[marks[i]] = marks[i+1]
		}
		return x
	}
	released := []string{releaseAnnotation, "r", spaceAnnotation, "ns"}
	for name, c := range map[string]struct {
		o    *found
		of   lifecycle.Resource
		want bool
	}{
		"none":                     {nil, lifecycle.Resource{}, false},
		"by its label":             {o("u", "i"), lifecycle.Resource{}, true},
		"by another's":             {o("u", "j"), lifecycle.Resource{}, false},
		"the very object":          {o("u", "j"), lifecycle.Resource{UID: "u"}, true},
		"another object":           {o("u", "j"), lifecycle.Resource{UID: "v"}, false},
		"one without a UID":        {o("", "j"), lifecycle.Resource{}, false},
		"of the release":           {o("u", "", released...), lifecycle.Resource{Release: "ns/r"}, true},
		"of another release":       {o("u", "", released...), lifecycle.Resource{Release: "ns/q"}, false},
		"of a release, by nobody":  {o("u", "", released...), lifecycle.Resource{}, false},
		"of no release":            {o("u", ""), lifecycle.Resource{Release: "ns/r"}, false},
		"a hook":                   {o("u", "", hookAnnotation, "test"), lifecycle.Resource{Release: HooksOf("ns/r")}, true},
		"a hook of another":        {o("u", "j", hookAnnotation, "test"), lifecycle.Resource{Release: HooksOf("ns/r")}, false},
		"no hook":                  {o("u", ""), lifecycle.Resource{Release: HooksOf("ns/r")}, false},
		"of the release, no hook":  {o("u", "", released...), lifecycle.Resource{Release: HooksOf("ns/r")}, false},
		"a hook, and of a release": {o("u", "", hookAnnotation, "test"), lifecycle.Resource{Release: "ns/r"}, false},
	} {
		if got := c.o.is("i", c.of); got != c.want {
			t.Errorf("%s is the instance's: %t, want %t", name, got, c.want)
		}
	}
}

// Who has changed an object since it was applied: managers of now, but the cluster's own of its status.
func TestWhoHasChangedIt(t *testing.T) {
	set := func(manager, operation, sub, at, fields string) string {
		return fmt.Sprintf(`{"manager":%q,"operation":%q,"subresource":%q,"time":%q,"fieldsV1":%s}`, manager, operation, sub, at, fields)
	}
	obj := func(sets ...string) *found {
		return read(t, `{"kind":"ConfigMap","metadata":{"name":"a","managedFields":[`+strings.Join(sets, ",")+`]}}`)
	}
	ours := set("us", "Apply", "", "2", `{"f:data":{}}`)
	mark := obj(ours).mark()
	if other := obj(set("us", "Apply", "", "2", `{"f:other":{}}`)).mark(); other == mark || obj().mark() != "none" {
		t.Errorf("marks are %s and %s, and %s without fields", mark, other, obj().mark())
	}
	replicas := obj(set("us", "Apply", "", "2", `{"f:data":{},"f:spec":{"f:replicas":{}}}`))
	if got := replicas.mark(); !strings.HasSuffix(got, "+replicas") || !replicas.ownsReplicas() || obj(ours).ownsReplicas() {
		t.Errorf("the mark of one with replicas is %s", got)
	}
	for name, c := range map[string]struct {
		o       *found
		applied string
		scaled  bool
		want    []string
	}{
		"nobody":                        {obj(ours, set("hand", "Update", "", "3", "{}")), mark, false, nil},
		"a hand":                        {obj(ours, set("hand", "Update", "", "3", "{}"), set("hand", "Update", "", "4", "{}")), "x", false, []string{"hand"}},
		"a hand at that moment":         {obj(ours, set("hand", "Update", "", "2", "{}")), "x", false, []string{"hand"}},
		"a hand from before":            {obj(ours, set("hand", "Update", "", "1", "{}")), "x", false, []string{"unknown"}},
		"the cluster":                   {obj(ours, set("kubelet", "Update", "status", "3", "{}")), "x", false, []string{"unknown"}},
		"a hand of a strange name":      {obj(ours, set("a b", "Update", "", "3", "{}")), "x", false, []string{"unknown"}},
		"ourselves, otherwise":          {obj(set("us", "Update", "", "9", "{}"), ours, set("hand", "Update", "", "3", "{}")), "x", false, []string{"hand"}},
		"ourselves, of a subresource":   {obj(set("us", "Apply", "scale", "1", `{"f:data":{}}`)), "none", false, nil},
		"ourselves, by another way":     {obj(set("us", "Update", "", "1", `{"f:data":{}}`)), "none", false, nil},
		"an autoscaler":                 {obj(ours, set("hpa", "Update", "", "3", "{}")), mark + "+replicas", true, nil},
		"an autoscaler without leave":   {obj(ours, set("hpa", "Update", "", "3", "{}")), mark + "+replicas", false, []string{"hpa"}},
		"an autoscaler that is no more": {replicas, strings.TrimSuffix(replicas.mark(), "+replicas"), true, nil},
	} {
		if got := c.o.changedBy(c.applied, c.scaled); !slices.Equal(got, c.want) {
			t.Errorf("%s: changed by %q, want %q", name, got, c.want)
		}
	}
}

// Why a pod is not ready: the first container that waits, or else a condition, in words that name no more than they may.
func TestWhyAPodIsNotReady(t *testing.T) {
	type waits struct{ reason, message string }
	pods := func(inits, containers []waits, conditions ...condition) (p pod) {
		of := func(all []waits) (out []container) {
			for _, w := range all {
				var c container
				c.State.Waiting.Reason, c.State.Waiting.Message = w.reason, w.message
				out = append(out, c)
			}
			return out
		}
		p.Status.Inits, p.Status.Containers, p.Status.Conditions = of(inits), of(containers), conditions
		return p
	}
	for _, c := range []struct {
		p    pod
		want string
	}{
		{pods(nil, nil), ""},
		{pods([]waits{{"CrashLoopBackOff", "canary"}}, []waits{{"ErrImagePull", "x"}}), "CrashLoopBackOff"},
		{pods([]waits{{"", ""}}, []waits{{"PodInitializing", ""}, {"ErrImagePull", "no image"}}), "ErrImagePull (no image)"},
		{pods(nil, []waits{{"ErrImagePull", ""}}), "ErrImagePull"},
		{pods(nil, []waits{{"a b", "x"}}, condition{Type: "PodScheduled", Status: "False", Reason: "Unschedulable", Message: "no node"}), "Unschedulable (no node)"},
		{pods(nil, nil, condition{Type: "Ready", Status: "False", Reason: "R"}, condition{Type: "ContainersReady", Status: "False", Reason: "C"}, condition{Type: "Initialized", Status: "True", Reason: "T"}, condition{Type: "PodScheduled", Status: "False", Reason: "S"}), "S"},
		{pods(nil, nil, condition{Type: "Ready", Status: "False", Reason: "R"}), ""},
	} {
		if got := c.p.why(); got != c.want {
			t.Errorf("%+v is not ready for %q, want %q", c.p.Status, got, c.want)
		}
	}
	for want, conditions := range map[bool][]condition{true: {{Type: "Ready", Status: "True"}}, false: {{Type: "Ready", Status: "False"}, {Type: "Other", Status: "True"}}} {
		if got := pods(nil, nil, conditions...).ready(); got != want {
			t.Errorf("a pod of %v is ready: %t", conditions, got)
		}
	}
}

// How what an object owns goes, and which kinds tell by events alone, make claims, or have a number.
func TestWhatKindsDo(t *testing.T) {
	r := func(group, kind string) lifecycle.Resource {
		return lifecycle.Resource{Group: group, Kind: kind, Namespace: "n"}
	}
	with := &found{}
	with.Metadata.Finalizers = []string{"x"}
	for _, c := range []struct {
		o    *found
		of   lifecycle.Resource
		want string
	}{
		{with, r("x.example.com", "A"), "Background"},
		{&found{}, r("x.example.com", "A"), "Foreground"},
		{with, r("apps", "Deployment"), "Foreground"},
		{&found{}, r("", "ConfigMap"), "Background"},
		{&found{}, r("x.example.com", "ConfigMap"), "Foreground"},
	} {
		if got := c.o.propagation(c.of); got != c.want {
			t.Errorf("%s of %s with %v goes in the %s, want %s", c.of.Kind, c.of.Group, c.o.Metadata.Finalizers, got, c.want)
		}
	}
	for _, c := range []struct {
		of   lifecycle.Resource
		want [4]bool
	}{
		{r("apps", "StatefulSet"), [4]bool{true, true, true, false}},
		{r("apps", "DaemonSet"), [4]bool{true, false, false, false}},
		{r("batch", "Job"), [4]bool{true, false, false, false}},
		{r("x", "Job"), [4]bool{}},
		{r("", "Pod"), [4]bool{}},
		{r("apps", "Deployment"), [4]bool{false, true, false, false}},
		{r("apps", "ReplicaSet"), [4]bool{false, true, false, false}},
		{r("", "ReplicationController"), [4]bool{false, true, false, false}},
		{lifecycle.Resource{Group: "apps", Kind: "Deployment"}, [4]bool{}},
		{lifecycle.Resource{Group: "x", Kind: "A", Namespace: "n", VDU: "v"}, [4]bool{false, true, false, false}},
		{lifecycle.Resource{Group: "x", Kind: "A", VDU: "v"}, [4]bool{}},
		{lifecycle.Resource{Group: "batch", Kind: "CronJob", Namespace: "n", VDU: "v"}, [4]bool{}},
		{r("x", "StatefulSet"), [4]bool{}},
		{r("autoscaling", "HorizontalPodAutoscaler"), [4]bool{false, false, false, true}},
		{r("x", "HorizontalPodAutoscaler"), [4]bool{}},
		{r("autoscaling", "Scale"), [4]bool{}},
	} {
		claims := rules{}
		claims.claims(c.of)
		if got := [4]bool{tellsByEvents(c.of), isReplicated(c.of), claims.size() > 0, isAutoscaler(c.of)}; got != c.want {
			t.Errorf("%+v tells by events, has a number, makes claims, scales: %v, want %v", c.of, got, c.want)
		}
	}
	for name, want := range map[string]bool{"web": true, strings.Repeat("x", 53): true, strings.Repeat("x", 54): false, "Web": false, "": false} {
		if IsRelease(name) != want {
			t.Errorf("%q is a release: %t", name, !want)
		}
	}
}

// Marks are put onto objects of others, and labels of ours that these bring are taken away. VDUs are found in names.
func TestMarksOnObjects(t *testing.T) {
	m := &Marks{Labels: map[string]string{"l": "1"}, Annotations: map[string]string{"a": "2"}, Release: "rel"}
	for name, c := range map[string]struct {
		meta, want string
		outlives   bool
		vdu        string
	}{
		"plain":       {`{"name":"x","labels":{"vimbroker.io/instance":"j","k":"v"}}`, `{"annotations":{"a":"2"},"labels":{"k":"v","l":"1"},"name":"x"}`, false, ""},
		"before":      {`{"name":"web-rel"}`, `{"annotations":{"a":"2","vimbroker.io/vdu":"web"},"labels":{"l":"1"},"name":"web-rel"}`, false, "web"},
		"behind":      {`{"name":"rel-web"}`, `{"annotations":{"a":"2","vimbroker.io/vdu":"web"},"labels":{"l":"1"},"name":"rel-web"}`, false, "web"},
		"said":        {`{"name":"web-rel","annotations":{"vimbroker.io/vdu":"db"}}`, `{"annotations":{"a":"2","vimbroker.io/vdu":"db"},"labels":{"l":"1"},"name":"web-rel"}`, false, "db"},
		"kept":        {`{"name":"x","annotations":{"helm.sh/resource-policy":"keep"}}`, `{"annotations":{"a":"2","helm.sh/resource-policy":"keep","vimbroker.io/outlives":"true"},"labels":{"l":"1"},"name":"x"}`, true, ""},
		"no label":    {`{"name":"` + "-" + `-rel"}`, `{"annotations":{"a":"2"},"labels":{"l":"1"},"name":"--rel"}`, false, ""},
		"the release": {`{"name":"rel"}`, `{"annotations":{"a":"2"},"labels":{"l":"1"},"name":"rel"}`, false, ""},
	} {
		o := &object{content: map[string]any{}}
		text := `{"apiVersion":"v1","kind":"ConfigMap","metadata":` + c.meta + `,"spec":{"template":{"metadata":{"labels":{"vimbroker.io/vdu":"x","own":"y"}}}}}`
		if err := json.Unmarshal([]byte(text), &o.content); err != nil {
			t.Fatal(err)
		}
		if err := m.read(o); err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		got, _ := json.Marshal(o.content["metadata"])
		if string(got) != c.want || o.Outlives != c.outlives || o.VDU != c.vdu {
			t.Errorf("%s: %s, outlives %t, VDU %q, want %s", name, got, o.Outlives, o.VDU, c.want)
		}
		if inner := mapAt(o.content, "spec", "template", "metadata", "labels"); !reflect.DeepEqual(inner, map[string]any{"own": "y"}) {
			t.Errorf("%s: labels of its pods are %v", name, inner)
		}
	}
	for name, release := range map[string]string{"of no release": "", "without metadata": "rel"} {
		o := &object{content: map[string]any{"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"name": "web-rel"}}}
		if release != "" {
			delete(o.content, "metadata")
		}
		err := (&Marks{Release: release}).read(o)
		if (err == nil) != (release == "") || o.VDU != "" || release == "" && mapAt(o.content, "metadata", "annotations") != nil {
			t.Errorf("%s: %v, %+v", name, err, o.content)
		}
	}
}

// Paths of kinds and objects, and what can be asked for as a kind.
func TestPathsAndKinds(t *testing.T) {
	for want, r := range map[string]lifecycle.Resource{
		"/api/v1/namespaces": {Version: "v1", Plural: "namespaces"}, "/api/v1/namespaces/n/pods/a": {Version: "v1", Plural: "pods", Namespace: "n", Name: "a"},
		"/apis/g/v1/as/x": {Group: "g", Version: "v1", Plural: "as", Name: "x"},
	} {
		if got := pathOf(r); got != want {
			t.Errorf("%+v is at %s, want %s", r, got, want)
		}
	}
	for of, want := range map[[2]string]string{
		{"v1", "Pod"}: "/v1 pods", {"apps/v1", "Deployment"}: "apps/v1 deployments", {"A_/v1", "Pod"}: "ApiVersion: must be like v1 or apps/v1", {"V1", "Pod"}: "ApiVersion: must be like v1 or apps/v1",
		{"apps/", "Pod"}: "ApiVersion: must be like v1 or apps/v1", {"v1", "pod"}: "Kind: must be like Deployment",
	} {
		r, err := New().Wanted(of[0], of[1])
		got := r.Group + "/" + r.Version + " " + r.Plural
		if err != nil {
			got = err.Error()
		}
		if got != want || err != nil && !errors.Is(err, broker.ErrInvalid) || err == nil && r.Kind != of[1] {
			t.Errorf("%v: %s, want %s", of, got, want)
		}
	}
}
