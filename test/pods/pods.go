// Package pods makes pods whose level of Pod Security is known, and random ones.
package pods

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
)

// Case is a pod, and the strictest level of Pod Security that it meets. Since is the minor version of Kubernetes from
// which on that is so; it is "restricted" before.
type Case struct {
	Name, Level string
	Since       int
	Pod         map[string]any
}

// good is a pod that meets level restricted.
const good = `{"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p"}, "spec": {
	"securityContext": {"runAsNonRoot": true, "seccompProfile": {"type": "RuntimeDefault"}},
	"initContainers": [{"name": "i", "image": "registry.example/i", "securityContext": {
		"allowPrivilegeEscalation": false, "capabilities": {"drop": ["ALL"]}}}],
	"containers": [{"name": "c", "image": "registry.example/c", "securityContext": {
		"allowPrivilegeEscalation": false, "capabilities": {"drop": ["ALL"]}}}]}}`

// Good is a pod of a name that meets level restricted.
func Good(name string) map[string]any {
	var pod map[string]any
	if err := json.Unmarshal([]byte(good), &pod); err != nil {
		panic(err)
	}
	return Set(pod, "metadata.name", name)
}

// Set sets the value at a path of keys and indexes; nil takes it away. JSON as a text is a value of its own with a
// leading "json:".
func Set(pod map[string]any, path string, value any) map[string]any {
	if text, is := value.(string); is && strings.HasPrefix(text, "json:") {
		value = nil
		if err := json.Unmarshal([]byte(text[len("json:"):]), &value); err != nil {
			panic(path + ": " + err.Error())
		}
	}
	keys := strings.Split(path, ".")
	var at any = pod
	for _, key := range keys[:len(keys)-1] {
		switch in := at.(type) {
		case map[string]any:
			if in[key] == nil {
				in[key] = map[string]any{}
			}
			at = in[key]
		case []any:
			n, _ := strconv.Atoi(key)
			at = in[n]
		}
	}
	if last := at.(map[string]any); value == nil {
		delete(last, keys[len(keys)-1])
	} else {
		last[keys[len(keys)-1]] = value
	}
	return pod
}

const (
	restricted = "restricted"
	baseline   = "baseline"
	privileged = "privileged"
)

// change is one field of a pod.
type change struct {
	path  string
	value any
	level string
	since int
}

const (
	inPod       = "spec.securityContext."
	inContainer = "spec.containers.0.securityContext."
	inInit      = "spec.initContainers.0.securityContext."
	first       = "spec.containers.0."
)

// changes have, for each check of Pod Security, a value that passes and those that do not.
var changes = []change{
	{inContainer + "allowPrivilegeEscalation", true, baseline, 8},
	{inInit + "allowPrivilegeEscalation", nil, baseline, 8},
	{inPod + "appArmorProfile", `json:{"type": "RuntimeDefault"}`, restricted, 0},
	{inPod + "appArmorProfile", `json:{"type": "Unconfined"}`, privileged, 0},
	{inContainer + "appArmorProfile", `json:{"type": "Unconfined"}`, privileged, 0},
	{"metadata.annotations", `json:{"container.apparmor.security.beta.kubernetes.io/c": "unconfined"}`, privileged, 0},
	{"metadata.annotations", `json:{"container.apparmor.security.beta.kubernetes.io/c": "runtime/default"}`, restricted, 0},
	{inContainer + "capabilities.add", `json:["NET_BIND_SERVICE"]`, restricted, 0},
	{inContainer + "capabilities.add", `json:["CHOWN"]`, baseline, 22},
	{inContainer + "capabilities.add", `json:["SYS_ADMIN"]`, privileged, 0},
	{inInit + "capabilities.add", `json:["NET_RAW"]`, privileged, 0},
	{inContainer + "capabilities.drop", nil, baseline, 22},
	{"spec.hostNetwork", true, privileged, 0},
	{"spec.hostPID", true, privileged, 0},
	{"spec.hostIPC", true, privileged, 0},
	{"spec.hostIPC", false, restricted, 0},
	{"spec.volumes", `json:[{"name": "v", "emptyDir": {}}]`, restricted, 0},
	{"spec.volumes", `json:[{"name": "v", "hostPath": {"path": "/"}}]`, privileged, 0},
	{"spec.volumes", `json:[{"name": "v", "nfs": {"server": "a", "path": "/"}}]`, baseline, 0},
	{"spec.volumes", `json:[{"name": "v", "csi": {"driver": "d"}}]`, restricted, 0},
	{first + "ports", `json:[{"containerPort": 80}]`, restricted, 0},
	{first + "ports", `json:[{"containerPort": 80, "hostPort": 80}]`, privileged, 0},
	{first + "livenessProbe", `json:{"httpGet": {"port": 80, "path": "/"}}`, restricted, 0},
	{first + "livenessProbe", `json:{"httpGet": {"port": 80, "path": "/", "host": "169.254.169.254"}}`, privileged, 34},
	{first + "startupProbe", `json:{"tcpSocket": {"port": 80, "host": "10.0.0.1"}}`, privileged, 34},
	{first + "lifecycle", `json:{"preStop": {"httpGet": {"port": 80, "path": "/", "host": "10.0.0.1"}}}`, privileged, 34},
	{first + "readinessProbe", `json:{"exec": {"command": ["true"]}}`, restricted, 0},
	{inContainer + "privileged", true, privileged, 0},
	{inContainer + "privileged", false, restricted, 0},
	{inInit + "procMount", "Default", restricted, 0},
	{inPod + "runAsNonRoot", nil, baseline, 0},
	{inContainer + "runAsNonRoot", false, baseline, 0},
	{inContainer + "runAsUser", `json:0`, baseline, 23},
	{inPod + "runAsUser", `json:1000`, restricted, 0},
	{inPod + "seLinuxOptions", `json:{"type": "container_t"}`, restricted, 0},
	{inPod + "seLinuxOptions", `json:{"type": "spc_t"}`, privileged, 0},
	{inInit + "seLinuxOptions", `json:{"user": "sysadm_u"}`, privileged, 0},
	{inContainer + "seccompProfile", `json:{"type": "Unconfined"}`, privileged, 19},
	{inPod + "seccompProfile", `json:{"type": "Unconfined"}`, privileged, 19},
	{inPod + "seccompProfile", nil, baseline, 19},
	{inContainer + "seccompProfile", `json:{"type": "Localhost", "localhostProfile": "a.json"}`, restricted, 0},
	{inPod + "sysctls", `json:[{"name": "net.ipv4.ip_unprivileged_port_start", "value": "1"}]`, restricted, 0},
	{inPod + "sysctls", `json:[{"name": "kernel.msgmax", "value": "1"}]`, privileged, 0},
	{"spec.nodeSelector", `json:{"a": "b"}`, restricted, 0},
}

// Cases are pods that pass and pods that fail, for each check of Pod Security.
func Cases() []Case {
	all := []Case{{Name: "good", Level: restricted, Pod: Good("good")}}
	for n, c := range changes {
		name := fmt.Sprintf("case-%d", n)
		all = append(all, Case{
			Name: fmt.Sprintf("%s = %v", c.path, c.value), Level: c.level, Since: c.since, Pod: Set(Good(name), c.path, c.value),
		})
	}
	windows := Set(Set(Good("windows"), "spec.os", `json:{"name": "windows"}`), "spec.hostNetwork", true)
	Set(windows, inPod+"windowsOptions", `json:{"hostProcess": true}`)
	for _, key := range []string{inPod + "seccompProfile", inContainer + "capabilities", inInit + "capabilities"} {
		Set(windows, key, nil)
	}
	for _, key := range []string{inContainer + "allowPrivilegeEscalation", inInit + "allowPrivilegeEscalation"} {
		Set(windows, key, nil)
	}
	return append(all, Case{Name: "a host process", Level: privileged, Pod: windows})
}

// Random is a pod of a name with up to four fields that matter to Pod Security, good or not.
func Random(r *rand.Rand, name string) map[string]any {
	pod := Good(name)
	for range r.IntN(5) {
		c := changes[r.IntN(len(changes))]
		path := c.path
		if rest, is := strings.CutPrefix(path, inContainer); is && r.IntN(2) == 0 {
			path = inInit + rest
		}
		Set(pod, path, c.value)
	}
	return pod
}
