// Package cnf is the CNF that the suite of life-cycle drivers runs on Kubernetes.
package cnf

import (
	"github.com/vimbroker/vimbroker/broker/secret"
	"github.com/vimbroker/vimbroker/lifecycle"
)

// VDU is the one VDU of the CNF.
const VDU = "web"

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
apiVersion: apps/v1
kind: Deployment
metadata: {name: ` + VDU + `}
spec:
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      containers: [{name: web, image: registry.invalid/web:1}]
`)}}
}
