// Package chart is the protocol between the server and the program that renders charts: a chart with its
// values, and the objects that it gives. The server links nothing of Helm for it.
package chart

import "encoding/json"

// MaxRequest and MaxAnswer bound the messages, in bytes.
const (
	MaxRequest = 96 << 20
	MaxAnswer  = 96 << 20
)

// Task is a chart to render, or an index to look into. It holds secrets: it is written to no place but the program's
// input.
type Task struct {
	// Index is that of a repository; then nothing is rendered, and the version of the chart of Name is looked for.
	Index []byte `json:"index,omitempty"`
	// Name and Version are those that the chart has to have; empty if it may have any.
	Name    string `json:"name,omitempty"`
	Version string `json:"version,omitempty"`
	// Signed: a key of Keyring has to have signed Archive, for that Name and Version, as Provenance says. Keyring is as
	// GnuPG exports keys.
	Signed     bool   `json:"signed,omitempty"`
	Provenance []byte `json:"provenance,omitempty"`
	Keyring    []byte `json:"keyring,omitempty"`
	// Archive is a packed chart; or Files are those of a chart's folder, by their paths in it.
	Archive []byte      `json:"archive,omitempty"`
	Files   []ChartFile `json:"files,omitempty"`
	// Release, Namespace and Revision are the release's values for templates; Upgrade says that the revision is not
	// the first.
	Release   string `json:"release"`
	Namespace string `json:"namespace"`
	Revision  int    `json:"revision"`
	Upgrade   bool   `json:"upgrade,omitempty"`
	// Values are laid over the chart's, and Sets over those, in Helm's notation of --set.
	Values json.RawMessage `json:"values,omitempty"`
	Sets   []Set           `json:"sets,omitempty"`
	// Overlay changes a copy of the chart, and lays values over its own.
	Overlay Overlay `json:"overlay,omitzero"`
	// KubeVersion and APIVersions are the cluster's own values.
	KubeVersion string   `json:"kubeVersion"`
	APIVersions []string `json:"apiVersions"`
	// Found are the objects that the chart looks up and that exist. An object that is not among them does not
	// exist.
	Found []LookedUp `json:"found,omitempty"`
}

// Lookup names an object that a chart looks up.
type Lookup struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	Namespace  string `json:"namespace,omitempty"`
	Name       string `json:"name"`
}

// LookedUp is an object that a chart has looked up, as the cluster has it.
type LookedUp struct {
	Lookup

	Object json.RawMessage `json:"object"`
}

// Set is one value, at the path of keys that Name is: "web.replicas".
type Set struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// Overlay is what a profile of ONAP's and a request make of a chart.
type Overlay struct {
	// Values is YAML that is laid over the chart's values, and Sets over that, each as Helm's --set reads it.
	Values string `json:"values,omitempty"`
	Sets   []Set  `json:"sets,omitempty"`
	// Files take the place of files of the chart, or are added.
	Files []ChartFile `json:"files,omitempty"`
}

// ChartFile is a file of a chart, or the output of a template.
type ChartFile struct {
	Path string `json:"path"`
	Text []byte `json:"text"`
}

// Rendering is the result of rendering a chart.
type Rendering struct {
	// URL is the address of a version in an index, and Digest its SHA-256, if the index gives one.
	URL    string `json:"url,omitempty"`
	Digest string `json:"digest,omitempty"`
	// Definitions are the chart's folder crds, which is not rendered; Objects are the rendered objects, in
	// the order in which Helm installs kinds, without hooks.
	Definitions []ChartFile `json:"definitions,omitempty"`
	Objects     []ChartFile `json:"objects,omitempty"`
	// Release is the release in Helm's own form, before any of its objects exists.
	Release json.RawMessage `json:"release,omitempty"`
	// Asked are the objects that the chart looks up by their names; also beside a Fault.
	Asked []Lookup `json:"asked,omitempty"`
	// Fault is why there is nothing else here: in our own words, without anything that a chart or a value says
	// but names of files and of values.
	Fault string `json:"fault,omitempty"`
}
