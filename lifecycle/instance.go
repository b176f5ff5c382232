package lifecycle

import (
	"encoding/json"
	"time"

	"github.com/vimbroker/vimbroker/policy"
)

// InstanceState says whether an instance has resources (SOL003, instantiationState).
type InstanceState string

// The states of an instance.
const (
	NotInstantiated InstanceState = "NOT_INSTANTIATED"
	Instantiated    InstanceState = "INSTANTIATED"
)

// Instance is a VNF instance. It contains no secret.
type Instance struct {
	// ID is a UUID that the engine assigns.
	ID      string `json:"id"`
	Project string `json:"project"`
	// Name and Description are the caller's words; names need not be unique.
	Name        string        `json:"name"`
	Description string        `json:"description"`
	State       InstanceState `json:"state"`
	CreatedBy   string        `json:"createdBy"`
	CreatedAt   time.Time     `json:"createdAt"`
	// Metadata, Extensions and Configurable are JSON objects of the caller's, or empty.
	Metadata     json.RawMessage `json:"metadata,omitempty"`
	Extensions   json.RawMessage `json:"extensions,omitempty"`
	Configurable json.RawMessage `json:"configurable,omitempty"`
	// Revision counts the writes.
	Revision int64 `json:"-"`
	// Shape is the present state of the instance, after the operations so far.
	Shape Shape `json:"shape"`
	// Drift is the difference between the existing resources and Shape. It is no part of the
	// instance's revision.
	Drift Drift `json:"-"`
}

// Shape is the part of an instance that operations change.
type Shape struct {
	// Package is the id of the VNF package, and Product its description of the product.
	Package string  `json:"package"`
	Product Product `json:"product"`

	// Part is the instance's first part, or its only one. It and what follows are empty unless the instance has resources.
	Part

	// More are its other parts, each on a VIM of its own.
	More    []Part `json:"parts,omitempty"`
	Flavour string `json:"flavour,omitempty"`
	// Files are the files of the package that the request named; if it named none the driver
	// chooses.
	Files     []string          `json:"files,omitempty"`
	Variables map[string]string `json:"variables,omitempty"`
	// Release is the name that the request gave to the release of a chart.
	Release string `json:"release,omitempty"`
	// Waves put objects of manifests into waves.
	Waves []WaveRule `json:"waves,omitempty"`
	// Labels go onto all objects and pods.
	Labels map[string]string `json:"labels,omitempty"`
	// Parameters is a JSON object of the request's, or empty.
	Parameters json.RawMessage `json:"parameters,omitempty"`
	// Concealed names the sealed part of Variables and Parameters, which no answer shows.
	Concealed Concealed `json:"concealed,omitzero"`
	// Scale is the scale level of each aspect, MaxScale its highest, Replicas the number of VNFCs of each VDU by
	// its name.
	Scale    map[string]int   `json:"scale,omitempty"`
	MaxScale map[string]int   `json:"maxScale,omitempty"`
	Replicas map[string]int32 `json:"replicas,omitempty"`
	// ExtCPs are the connection points of VDUs that the descriptor connects to the outside.
	ExtCPs []string `json:"extCPs,omitempty"`
	// Links are the virtual links that it uses.
	Links []Link `json:"links,omitempty"`
	// Volumes are the volumes that it uses.
	Volumes []Volume `json:"volumes,omitempty"`
	// Unmade are the networks of the descriptor that the instance does not have, each after its kind, and Managed the ids of
	// virtual links that the request would have it use, and that nothing is done about.
	Unmade  []string `json:"unmade,omitempty"`
	Managed []string `json:"managed,omitempty"`
	// Resources are all that may stand on the VIM: they are recorded before they are made.
	Resources []Resource `json:"resources,omitempty"`
	// VNFCs are those that the last operation saw.
	VNFCs []VNFC `json:"vnfcs,omitempty"`
}

// Concealed names the [SecretParameters] of a shape, without their content.
type Concealed struct {
	// ID is that of the SecretParameters; empty if nothing is secret.
	ID string `json:"id,omitempty"`
	// Variables are the names of variables, sorted, and Parameters says that the parameters are among them.
	Variables  []string `json:"variables,omitempty"`
	Parameters bool     `json:"parameters,omitempty"`
}

// Product is a VNF package's description of its product.
type Product struct {
	VNFDID          string `json:"vnfdId"`
	Provider        string `json:"provider"`
	Name            string `json:"name"`
	SoftwareVersion string `json:"softwareVersion"`
	VNFDVersion     string `json:"vnfdVersion"`
}

// resource is the instance as policies see it.
func (i Instance) resource() policy.Resource {
	return policy.Resource{
		Kind: policy.KindVNFInstance, ID: i.ID, Project: i.Project, Name: i.Name, Owner: i.CreatedBy,
		VNFDID: i.Shape.Product.VNFDID, VIM: i.Shape.VIM, VIMName: i.Shape.VIMName, VIMType: i.Shape.VIMType,
	}
}
