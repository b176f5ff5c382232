// Package cnf is the CNF that the suite of life-cycle drivers runs on Kubernetes.
package cnf

import (
	"github.com/vimbroker/vimbroker/broker/secret"
	"github.com/vimbroker/vimbroker/lifecycle"
)

// VDU is the one VDU of the CNF.
const VDU = "web"

const deployment = `apiVersion: apps/v1
kind: Deployment
metadata: {name: ` + VDU + `}
spec:
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      containers: [{name: web, image: registry.invalid/web:1}]
`

// Chart is a chart of the same, with a value at random and with hooks.
func Chart(text string) []lifecycle.Manifest {
	const root = "Files/kubernetes/web/"
	return []lifecycle.Manifest{
		{Path: root + "Chart.yaml", Text: secret.NewText("apiVersion: v2\nname: web\nversion: 1.0.0\n")},
		{Path: root + "values.yaml", Text: secret.NewText("password: " + text + "\n")},
		{Path: root + "templates/web.yaml", Text: secret.NewText(`apiVersion: v1
kind: Secret
metadata: {name: login}
{{- $old := (lookup "v1" "Secret" .Release.Namespace "login").data | default dict }}
stringData: {password: {{ .Values.password | quote }}}
data: {salt: {{ $old.salt | default (randAlphaNum 16 | b64enc) | quote }}}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: pages}
data: {index.html: "{{ .Release.Name }} {{ .Release.Revision }}"}
---
` + deployment)},
		{Path: root + "templates/hook.yaml", Text: secret.NewText(`apiVersion: v1
kind: ConfigMap
metadata: {name: before, annotations: {helm.sh/hook: "pre-install,pre-upgrade", helm.sh/hook-weight: "-1"}}
data: {revision: "{{ .Release.Revision }}"}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: passing, annotations: {helm.sh/hook: post-install, helm.sh/hook-delete-policy: hook-succeeded}}
`)},
	}
}

// Manifests describe a Deployment, and a Secret that holds a text.
func Manifests(text string) []lifecycle.Manifest {
	return []lifecycle.Manifest{{Path: "web.yaml", Text: secret.NewText(`apiVersion: v1
kind: Secret
metadata: {name: login}
stringData: {password: "` + text + `"}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: pages}
data: {index.html: "${VNF_INSTANCE_NAME}"}
---
` + deployment)}}
}
