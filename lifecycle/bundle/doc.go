// Package bundle is the model of ONAP's Kubernetes plugin ("k8splugin") over packages, VIMs and VNF instances: a
// definition is a VNF package with a chart, a profile its values and overlays, a cloud region a VIM, and an instance a
// VNF instance with its operations. It keeps what those have no place for in rows of its own, and decides by the same
// actions as the doors of those.
package bundle
