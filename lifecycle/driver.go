package lifecycle

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/broker/clientconfig"
	"github.com/vimbroker/vimbroker/broker/secret"
	"github.com/vimbroker/vimbroker/lifecycle/vnfpkg"
	"github.com/vimbroker/vimbroker/policy/egress"
)

// ErrNotReady: an object did not become ready, or did not go, in time.
var ErrNotReady = errors.New("not ready in time")

// OperationType is the type of an operation (SOL003, LcmOperationType).
type OperationType string

// The types of operations that are served.
const (
	Instantiate   OperationType = "INSTANTIATE"
	ScaleVNF      OperationType = "SCALE"
	Heal          OperationType = "HEAL"
	ChangePackage OperationType = "CHANGE_VNFPKG"
	ChangeConn    OperationType = "CHANGE_EXT_CONN"
	Terminate     OperationType = "TERMINATE"
	ModifyInfo    OperationType = "MODIFY_INFO"
)

// Driver plans, makes, observes and removes the resources of VNF instances on one kind of
// VIM. It keeps no credential and no state: each call gets the credential of a lease.
//
// Its errors are [*broker.Error]. ErrInvalid is a fault of the package or the request and names
// the file; ErrUnsupported is a kind that the VIM does not serve; ErrConflict an object of the
// same name that is not the instance's; ErrForbidden and ErrUnauthorized are the VIM's refusal of
// the lease. ErrUnreachable and ErrUnavailable may succeed later: the engine calls again. [ErrNotReady] is an object that
// did not become ready, or did not go, before the context ended; the detail names it and says what it waits for. No
// error holds anything of a manifest but the names of files, objects and fields.
//
// A Driver is safe for concurrent use. Every call ends when its context does.
type Driver interface {
	// Name is kept with the instances that it has made, and never changes.
	Name() string

	// VIMType is the type of the VIMs that it works on.
	VIMType() broker.VIMType

	// Basis returns the files that an instance is made from. ErrInvalid or ErrUnsupported: this
	// driver makes no instance from s; the error names the field of the request, and the files
	// that the driver looked for.
	Basis(s Source) (Basis, error)

	// Survey is the grant that Plan needs for every such input: almost no rights. [Connection.Further] is for what only
	// some need.
	Survey(in PlanInput) StageRules

	// Plan plans an operation, step by step, with the rights that each step needs. It makes
	// nothing. The same input on the same VIM gives the same plan, so that an interrupted
	// operation resumes at the number of a stage. A plan for observing does not query the VIM:
	// its connection may be empty.
	Plan(ctx context.Context, c Connection, in PlanInput) (Plan, error)

	// Run does one wave of a plan, in parallel where the order does not matter, and returns when each object is ready
	// or gone. If the context's cause is [ErrCanceled] it stops work that the VIM would continue by itself. It is
	// idempotent: work already done is not repeated. progress is called, from one goroutine at a time, with each
	// object that was made, changed, ready or gone.
	Run(ctx context.Context, c Connection, instance string, w Wave, progress func(Observation)) error

	// Observe looks at resources, and answers with one observation for each, in their order.
	// A missing resource is no error.
	Observe(ctx context.Context, c Connection, instance string, resources []Resource) ([]Observation, error)
}

// Connection is a driver's way to a VIM, with the credential of one lease.
type Connection struct {
	// Config holds the endpoint, the credential and the lease's id.
	Config clientconfig.Config
	// Egress are the addresses that may be dialled for the VIM's project.
	Egress *egress.Rules
	// Further has do work under another lease, for a plan that needs to know more than its survey said. Plan alone has it.
	Further func(ctx context.Context, g StageRules, do func(Connection) error) error
}

// StageRules are the scope of one lease: exactly these rules, in these namespaces, or in the whole VIM
// (for resources without a namespace); or the rights of a purpose, if the VIM knows no rules.
type StageRules struct {
	// Purpose is the lease's, if the driver of the VIM tells leases apart by it ("heat"); or empty.
	Purpose     string
	Rules       []broker.Rule
	Namespaces  []string
	ClusterWide bool
}

// PlanInput is the input from which a plan is made.
type PlanInput struct {
	Operation OperationType
	// Mark tells the work of this operation from all other work on the instance: it stays the same when an
	// interrupted operation resumes, and a rollback has a mark of its own. It is a label's value. For a rollback,
	// Undone is the mark of the work that the rollback takes back.
	Mark, Undone string
	// Observing asks for a plan that looks at Standing and does nothing else: the one wave of
	// each stage holds what Observe looks at under the stage's grant.
	Observing bool
	// Instance is the instance's id, Name its name.
	Instance, Name string
	// Namespace is the one of all objects that name none; empty if the VIM has none.
	Namespace string
	// Manifests are the files of the driver's Basis, in that order; TERMINATE has none.
	Manifests []Manifest
	// Named are the files that the request names, as in [Source]. The driver fetches files that are not in the
	// package for Project, the instance's project, from addresses that Egress allows.
	Named   []string
	Project string
	Egress  *egress.Rules
	// Release is the name that the request gives to the release of a chart; empty leaves it to the driver.
	Release string
	// Labels go onto all objects, and onto the pods of workloads.
	Labels map[string]string
	// Waves put objects of manifests into waves, before what the package says of them.
	Waves []WaveRule
	// Variables are substituted in manifests. The instance's id, name and namespace are not among
	// them: the driver adds those.
	Variables map[string]string
	// Replicas says how many VNFCs each VDU has, by the VDU's name. A workload of a VDU's name runs
	// that VDU: its number of replicas is this one, whatever its manifest says.
	Replicas map[string]int32
	// Flavour is the deployment flavour as the descriptor has it; TERMINATE has none.
	Flavour vnfpkg.Flavour
	// Parameters is a JSON object of the request's, or empty: additions to the parameters that the
	// driver makes from the descriptor.
	Parameters json.RawMessage
	// Kept: the operation gives no parameters; those of before stay.
	Kept bool
	// Links are the virtual links that the instance uses, Volumes its volumes.
	Links   []Link
	Volumes []Volume
	// Hybrid: the instance has other parts, which read the variables too.
	Hybrid bool
	// Part is the name of the part that is planned. Parts are the names of all on VIMs of its type, by the names that objects
	// call them by; those that name none are the first part's, which has no name.
	Part  string
	Parts map[string]string
	// Scaled are the names of the VDUs whose number SCALE changes, sorted.
	Scaled []string
	// Standing lists the recorded resources of the instance: an operation may remove only
	// these. INSTANTIATE, CHANGE_VNFPKG and CHANGE_EXT_CONN remove resources that Manifests do not name any
	// more; TERMINATE removes all that does not outlive the instance, in reverse order.
	Standing []Resource
	// Gone are namespaces that the VIM has no more: TERMINATE asks for nothing in them.
	Gone []string
	// VNFCs are those that HEAL replaces, after it has repaired missing and changed resources.
	VNFCs []VNFC
	// Tests: HEAL runs the tests of a chart, and does nothing else. Other drivers have none.
	Tests bool
}

// Manifest is a file of a package.
type Manifest struct {
	Path string
	Text secret.Text
}

// Plan is the work of an operation.
type Plan struct {
	Stages []Stage
	// Resources are the instance's resources once the plan is done, in the order in which
	// they are made.
	Resources []Resource
	// Ports are the names of the ports that pods have on links that span to the VIM, by the ids of these.
	Ports map[string][]string
	Facts Facts
	// facts are those of each part.
	facts []Facts
}

// Stage is a part of a plan that one lease is enough for. A new stage begins if a namespace
// or a definition has to exist before the next lease can be issued.
type Stage struct {
	// Part names the part of the instance, and Declared is the wave that the package declares, of an instance that has
	// several parts: stages of one such wave are done side by side.
	Part     string
	Declared int
	Grant    StageRules
	Waves    []Wave
}

// Deed is the action on the objects of a wave.
type Deed string

// Deeds.
const (
	Apply   Deed = "apply"   // made, or changed to what the manifest says, and ready
	Scale   Deed = "scale"   // set to Replicas, and ready
	Replace Deed = "replace" // the VNFCs are removed, and those that follow them are ready
	Delete  Deed = "delete"  // gone
	Look    Deed = "look"    // what Observe looks at; Run does not know it
)

// Wave is a set of objects that are worked on in parallel.
type Wave struct {
	Deed    Deed
	Objects []Object
	// VNFCs are those that Replace removes; Objects are then the workloads that they belong to.
	VNFCs []VNFC
}

// Object is a resource in its desired state.
type Object struct {
	Resource
	// Manifest is the whole object as JSON, for Apply.
	Manifest secret.Text
	// Replicas is for Scale.
	Replicas int32
}

// Resource is one object on a VIM that an instance consists of. It holds no secret.
type Resource struct {
	Group   string `json:"group,omitempty"`
	Version string `json:"version"`
	Kind    string `json:"kind"`
	// Plural is the kind's name in paths and rules: "deployments".
	Plural string `json:"plural"`
	// Namespace is empty if the kind has none.
	Namespace string `json:"namespace,omitempty"`
	Name      string `json:"name"`
	// VDU is the name of the VDU that it runs, if any.
	VDU string `json:"vdu,omitempty"`
	// Outlives: it stays when the instance is terminated.
	Outlives bool `json:"outlives,omitempty"`
	// Passes: the VIM removes it by itself when its work is done.
	Passes bool `json:"passes,omitempty"`
	// Wave counts the waves that made the instance; removal goes from the last to the first.
	Wave int `json:"wave"`
	// Declared is the wave that the package puts it into, 0 if it says none: it orders the parts of an instance.
	Declared int `json:"declared,omitempty"`
	// Part names the instance's part; the first has no name. The engine sets it.
	Part string `json:"part,omitempty"`
	// Applied is the driver's mark of the object as it last applied it: what Observe compares
	// with. UID is the VIM's id of the very object: it is the instance's, whatever became of its labels, and another
	// of the same name is not. The engine keeps those of the newest observation.
	Applied string `json:"applied,omitempty"`
	UID     string `json:"uid,omitempty"`
	// Storages are the volumes that it is, or has, as an operation saw them last.
	Storages []Storage `json:"storages,omitempty"`
	// Release is a set of the VIM's that it is of, in a plan: an object of that set is the instance's, too. Drivers give
	// and read it.
	Release string `json:"-"`
}

// Storage is a volume that keeps data of an instance: a claim on Kubernetes, a volume of Cinder.
type Storage struct {
	// Desc is the name that the descriptor and the templates have for it. Kind, Namespace, Name and UID are those of the
	// VIM's object.
	Desc      string `json:"desc"`
	Kind      string `json:"kind"`
	Namespace string `json:"namespace,omitempty"`
	Name      string `json:"name"`
	UID       string `json:"uid"`
	// Outlives: it stays when its resource goes.
	Outlives bool `json:"outlives,omitempty"`
	// Part is as in [Resource].
	Part string `json:"part,omitempty"`
}

// Observation is the state of a resource.
type Observation struct {
	Resource
	// Standing: it is there and it is the instance's own.
	Standing bool `json:"standing"`
	Ready    bool `json:"ready"`
	// Message says what it waits for, in the words of the driver or of the VIM, without anything of
	// the object's content.
	Message string `json:"message,omitempty"`
	// ChangedBy are those who changed fields that the manifest sets, as the VIM names them.
	ChangedBy []string `json:"changedBy,omitempty"`
	VNFCs     []VNFC   `json:"vnfcs,omitempty"`
}

// VNFC is one running component of a VDU: a pod.
type VNFC struct {
	VDU string `json:"vdu"`
	// Kind, Namespace and Name are those of the VIM's object that it is.
	Kind      string `json:"kind"`
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
	// UID tells it from one of the same name that follows it.
	UID   string `json:"uid"`
	Ready bool   `json:"ready"`
	// Part is as in [Resource].
	Part string `json:"part,omitempty"`
	// CPs are its connection points, as far as the VIM tells them.
	CPs []CP `json:"cps,omitempty"`
}

// CP is a connection point of a VNFC: a port of its server.
type CP struct {
	// CPD is the name that the descriptor and the templates have for it, ID the VIM's for the port.
	CPD string `json:"cpd"`
	ID  string `json:"id"`
	MAC string `json:"mac,omitempty"`
	// Addresses are IP addresses by the ids of their subnets.
	Addresses map[string][]string `json:"addresses,omitempty"`
}

// Facts are the facts of a plan that policies may use.
type Facts struct {
	// Kinds are written as rules write resources: "deployments.apps", "pods".
	Kinds      []string
	Namespaces []string
	Images     []string
	// ClusterScoped: it makes, changes or removes resources without a namespace.
	ClusterScoped bool
	// Privileged: an object reaches a node, or a pod does not meet level baseline of Pod Security or has an added capability.
	Privileged bool
	// BringsRBAC, BringsDefinitions, BringsWebhooks: it holds objects of those kinds.
	BringsRBAC, BringsDefinitions, BringsWebhooks bool
	// Outlives: something of it stays when the instance is terminated.
	Outlives bool
	// PodSecurity is the strictest level of Pod Security that every pod meets; "" if the VIM knows none.
	PodSecurity string
	// Reaches are the ways by which objects get out of their namespaces, sorted.
	Reaches []Reach
}
