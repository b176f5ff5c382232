package onboard

import (
	"context"
	"time"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/broker/clientconfig"
	"github.com/vimbroker/vimbroker/broker/secret"
	"github.com/vimbroker/vimbroker/policy"
	"github.com/vimbroker/vimbroker/policy/egress"
)

// ManagementAccess is a management cluster and the credential of a lease on it.
type ManagementAccess struct {
	VIM        string
	Endpoint   string
	CACert     string
	ServerName string
	// InsecureSkipVerify is as in [broker.Target].
	InsecureSkipVerify bool
	Token              secret.Text
	Egress             *egress.Rules
}

// Access is the way to a management cluster by the configuration of a lease on it.
func Access(vim string, c clientconfig.Config, rules *egress.Rules) ManagementAccess {
	return ManagementAccess{
		VIM: vim, Endpoint: c.Endpoint, CACert: c.CACert, ServerName: c.ServerName, InsecureSkipVerify: c.InsecureSkipVerify,
		Token: c.Token, Egress: rules,
	}
}

// Source shows what Cluster API keeps on a management cluster. Its errors are
// [*broker.Error], and hold nothing of what the management cluster's tenants wrote. Safe
// for concurrent use.
type Source interface {
	// Watch shows the clusters of one namespace, or of [AllNamespaces], and the secrets that carry a
	// cluster's label, until ctx ends or something fails: first all of them, then what changes. It
	// never returns nil.
	//
	// A connection that ends is no failure while what changed meanwhile can still be had,
	// and neither is a history that is gone: then all are listed again.
	//
	// Each request uses the access of that moment: credentials are renewed meanwhile.
	Watch(ctx context.Context, access func() ManagementAccess, namespace string, sight Sight) error
	// Ping asks the management cluster for something small, and is its error.
	Ping(ctx context.Context, a ManagementAccess) error
	// Namespaces returns the labels of all namespaces, by name.
	Namespaces(ctx context.Context, a ManagementAccess) (map[string]map[string]string, error)
	// Cluster returns the present state of one. It is broker.ErrNotFound only if the
	// management cluster itself says that this object does not exist; if Cluster API is
	// not served it is broker.ErrUnsupported.
	Cluster(ctx context.Context, a ManagementAccess, namespace, name string) (Seen, error)
	// Secret returns the present state of one with the named entry of its data; or
	// broker.ErrNotFound.
	Secret(ctx context.Context, a ManagementAccess, namespace, name, key string) (ClusterSecret, error)
	// ControlPlane returns the UID of an object of a group and resource; broker.ErrNotFound.
	ControlPlane(ctx context.Context, a ManagementAccess, namespace, group, plural, name string) (uid string, err error)
}

// Sight is told what is seen. Its methods do not block.
type Sight struct {
	// Labels says which labels of a Cluster count: [Seen] has no others. Nil means all.
	Labels func(key string) bool
	// Clusters are all there are, Cluster is one that is new or has changed, and Gone one that
	// was deleted.
	Clusters func(all []Seen)
	Cluster  func(Seen)
	Gone     func(namespace, name string)
	// Secret says that a secret with the label of this cluster is new, changed or gone; its
	// version is empty if it is gone. Secrets are all there are.
	Secrets func(all []SecretVersion)
	Secret  func(SecretVersion)
}

// Seen is a Cluster object, as far as it counts.
type Seen struct {
	Namespace, Name, UID string
	Labels               map[string]string // those that count
	// Paused: Cluster API is told to leave it alone, by its spec or its annotation.
	Paused bool
	// Onboard is the value of its annotation vimbroker.io/onboard.
	Onboard string
	// Deleting: it has a deletion timestamp.
	Deleting bool
	// Ready: its control plane was initialised.
	Ready bool
	// ControlPlane is the object that its spec names; zero if it names none.
	ControlPlane ObjectReference
}

// ObjectReference names an object of the cluster's namespace.
type ObjectReference struct{ Group, Kind, Name string }

// SecretVersion holds the values that a watch shows of a secret: never its content.
type SecretVersion struct {
	Namespace, Name string
	// Cluster is the value of its label.
	Cluster string
	// Version tells it from every other version of it and from others of its name.
	Version string
}

// ClusterSecret is a secret with one entry of its data.
type ClusterSecret struct {
	SecretVersion
	Owners []OwnerReference
	// Value is the entry; empty if there is none. Large says that it is longer than a
	// kubeconfig can be, and then Value is empty.
	Value secret.Text
	Large bool
}

// OwnerReference is one of an object's owner references.
type OwnerReference struct {
	Group, Kind, Name, UID string
}

// Registrar is the registry of VIMs, as [broker.Registry] is one. Each method decides and
// records for the principal.
type Registrar interface {
	VIM(ctx context.Context, p policy.Principal, ref string) (broker.VIM, error)
	VIMs(ctx context.Context, p policy.Principal, q broker.VIMQuery) ([]broker.VIM, string, error)
	RegisterVIM(ctx context.Context, p policy.Principal, r broker.Registration) (broker.VIM, error)
	UpdateVIM(ctx context.Context, p policy.Principal, ref string, c broker.Change) (broker.VIM, error)
	SameTarget(ctx context.Context, p policy.Principal, ref string, kubeconfig secret.Text) (bool, error)
	CheckVIM(ctx context.Context, p policy.Principal, ref string) (broker.VIM, error)
	DeleteVIM(ctx context.Context, p policy.Principal, ref string, d broker.Deletion) (broker.VIM, bool, error)
}

// Leaser issues leases, as [broker.Leaser] does.
type Leaser interface {
	WeighLease(ctx context.Context, p policy.Principal, r broker.LeaseRequest) (broker.Lease, error)
	IssueLease(ctx context.Context, p policy.Principal, r broker.LeaseRequest) (broker.Lease, clientconfig.Config, error)
	RenewLease(ctx context.Context, p policy.Principal, id string, ttl time.Duration) (broker.Lease, clientconfig.Config, error)
	RevokeLeases(ctx context.Context, p policy.Principal, s broker.LeaseSelector) ([]broker.Lease, error)
}
