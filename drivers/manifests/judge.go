package manifests

import (
	"context"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/pod-security-admission/api"
	"k8s.io/pod-security-admission/policy"

	"github.com/vimbroker/vimbroker/lifecycle"
)

// podSecurity judges pods as Kubernetes' own admission does.
var podSecurity = sync.OnceValue(func() policy.Evaluator {
	e, err := policy.NewEvaluator(policy.DefaultChecks(), nil)
	if err != nil {
		panic(err) // its own checks contradict one another
	}
	return e
})

var minorVersion = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^v1\.([0-9]{1,4})[.+-]`) })

// release is the Kubernetes that a cluster says it is, by whose rules its pods are judged. One that does not say so is
// judged by the newest rules that are known.
func (s *server) release(ctx context.Context) (api.Version, error) {
	var is struct {
		Version string `json:"gitVersion"`
	}
	err := s.call(ctx, request{method: http.MethodGet, path: "/version"}, &is)
	if refused(err) {
		return api.LatestVersion(), nil
	}
	if err != nil {
		return api.Version{}, fault(err, "ask which version the cluster is")
	}
	m := minorVersion().FindStringSubmatch(is.Version)
	if m == nil {
		return api.LatestVersion(), nil
	}
	minor, err := strconv.Atoi(m[1])
	return api.MajorMinorVersion(1, minor), err
}

// verdict is the reach of a pod: the strictest level of Pod Security that it meets, and the ways out of its namespace.
type verdict struct {
	level string
	finds []finding
}

// undecoded is found in a pod that is none, as far as is known here: with a field of a newer Kubernetes, perhaps.
var undecoded = finding{lifecycle.ReachUnknown, "pod", "holds what no pod of the Kubernetes that is known here has"}

// judge judges a pod's specification by the rules of a release, with the metadata of its template. If the specification
// is part of a custom resource, found by its form, it may have fields that no pod has.
func judge(at api.Version, meta, spec map[string]any, custom bool) verdict {
	var pod corev1.PodSpec
	v := verdict{level: lifecycle.PodsRestricted}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructuredWithValidation(spec, &pod, true); err != nil {
		read := runtime.IsStrictDecodingError(err)
		if !read || !custom {
			v = verdict{lifecycle.PodsPrivileged, []finding{undecoded}}
		}
		if !read {
			return v
		}
	}
	of := &metav1.ObjectMeta{Annotations: map[string]string{}}
	for key, value := range mapAt(meta, "annotations") {
		of.Annotations[key], _ = value.(string)
	}
	if len(fails(at, api.LevelRestricted, of, &pod)) > 0 {
		v.atMost(lifecycle.PodsBaseline)
	}
	for _, reason := range fails(at, api.LevelBaseline, of, &pod) {
		v.atMost(lifecycle.PodsPrivileged)
		v.finds = append(v.finds, finding{lifecycle.ReachNode, reason, "pod-security: baseline"})
	}
	v.finds = append(v.finds, ours(&pod)...)
	return v
}

// fails are the reasons by which a level of Pod Security refuses a pod: words of the checks, and no value of the pod.
func fails(at api.Version, level api.Level, meta *metav1.ObjectMeta, pod *corev1.PodSpec) (reasons []string) {
	for _, r := range podSecurity().EvaluatePod(api.LevelVersion{Level: level, Version: at}, meta, pod) {
		if !r.Allowed {
			reasons = append(reasons, r.ForbiddenReason)
		}
	}
	return reasons
}

// ours are findings of this broker that Pod Security does not make, or only at its level
// restricted.
func ours(pod *corev1.PodSpec) (finds []finding) {
	added := func(c *corev1.SecurityContext) bool {
		return c != nil && c.Capabilities != nil && len(c.Capabilities.Add) > 0
	}
	if slices.ContainsFunc(pod.Containers, func(c corev1.Container) bool { return added(c.SecurityContext) }) ||
		slices.ContainsFunc(pod.InitContainers, func(c corev1.Container) bool { return added(c.SecurityContext) }) ||
		slices.ContainsFunc(pod.EphemeralContainers, func(c corev1.EphemeralContainer) bool { return added(c.SecurityContext) }) {
		finds = append(finds, finding{lifecycle.ReachNode, "capabilities.add", "an added capability"})
	}
	if strings.HasPrefix(pod.PriorityClassName, "system-") {
		finds = append(finds, finding{lifecycle.ReachCluster, "priorityClassName", "takes the room of others' pods"})
	}
	if pod.NodeName != "" && slices.ContainsFunc(pod.Tolerations, func(t corev1.Toleration) bool {
		return t.Key == "" && t.Operator == corev1.TolerationOpExists
	}) {
		finds = append(finds, finding{lifecycle.ReachNode, "nodeName", "runs on a node of its choice, whatever its taints"})
	}
	for _, v := range pod.Volumes {
		if v.Ephemeral != nil && v.Ephemeral.VolumeClaimTemplate != nil && v.Ephemeral.VolumeClaimTemplate.Spec.VolumeName != "" {
			finds = append(finds, takenVolume)
		}
	}
	return finds
}

// atMost lowers the level to one.
func (v *verdict) atMost(level string) { v.level = lower(v.level, level) }

// levels are those of Pod Security, from the strictest on.
var levels = []string{lifecycle.PodsRestricted, lifecycle.PodsBaseline, lifecycle.PodsPrivileged}

// lower is the laxer of two levels; "" is the strictest.
func lower(a, b string) string {
	return levels[max(slices.Index(levels, a), slices.Index(levels, b), 0)]
}

// carriers are the kinds of Kubernetes with a pod template that is no workload's, and where that is.
var carriers = map[string][]string{"/PodTemplate": {"template"}}

// judgePods judges every pod that an object holds, found by its form. In a kind of Kubernetes' own it is held to have no
// field but a pod's.
func (f *facts) judgePods(o *object) []finding {
	path, known := workloads[o.Group+"/"+o.Kind]
	if !known {
		path, known = carriers[o.Group+"/"+o.Kind]
	}
	var finds []finding
	weigh := func(v verdict) {
		f.PodSecurity = lower(f.PodSecurity, v.level)
		finds = append(finds, v.finds...)
	}
	if own := mapAt(o.content, path...)["spec"]; known && own != nil {
		if spec, _ := own.(map[string]any); !isList(spec["containers"]) {
			weigh(verdict{lifecycle.PodsPrivileged, []finding{undecoded}})
		}
	}
	podSpecs(o.content, nil, func(meta, spec map[string]any) {
		for _, c := range containers(spec) {
			if image := text(c, "image"); image != "" {
				f.Images = append(f.Images, image)
			}
		}
		weigh(judge(o.release, meta, spec, !known))
	})
	return finds
}
