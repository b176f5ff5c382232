package openstack

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/gophercloud/gophercloud/v2"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/broker/clientconfig"
	"github.com/vimbroker/vimbroker/broker/remote"
	"github.com/vimbroker/vimbroker/policy/egress"
)

var _ broker.Driver = (*Driver)(nil)

// callTimeout bounds a driver call whose context has no deadline of its own.
const callTimeout = 30 * time.Second

// Type is the name of the type.
const Type broker.VIMType = "openstack"

// Options are the options of a [Driver].
type Options struct {
	// Now tells the time; nil means time.Now.
	Now func() time.Time
	// Log takes what no caller is told; nil discards it. It never holds a credential.
	Log *slog.Logger
	// StackTrustees are the ids of the users that Heat makes its stacks' trusts for.
	// If none is given, trusts that a lease left behind are not removed.
	StackTrustees []string
}

// Driver implements [broker.Driver] for OpenStack. It is safe for concurrent use.
// Between two calls it keeps only [sessions].
type Driver struct {
	now           func() time.Time
	log           *slog.Logger
	stackTrustees []string
	sessions      sessions
	// probes are the probes that are being deleted.
	probes sync.WaitGroup
}

// New returns a driver.
func New(o Options) *Driver {
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	return &Driver{now: o.Now, log: o.Log, stackTrustees: o.StackTrustees, sessions: sessions{kept: map[sessionKey]*keptSession{}}}
}

// Wait returns when the probes of earlier checks are deleted.
func (d *Driver) Wait() { d.probes.Wait() }

// Type implements [broker.Driver].
func (d *Driver) Type() broker.Type {
	return broker.Type{
		Name:        Type,
		Formats:     clientconfig.Formats(clientconfig.OpenStackClient{}),
		Credentials: []broker.CredentialKind{broker.CredentialPassword, broker.CredentialApplicationCredential},
		Document:    broker.DocumentCloudsYAML,
		Users:       true,
	}
}

// Client implements [broker.Driver].
func (d *Driver) Client(a broker.Access, _ []string, leased broker.CredentialKind) clientconfig.Client {
	c := clientconfig.OpenStackClient{
		Region:    a.Target.Scope.Region,
		Delegated: a.Credential.Kind == broker.CredentialApplicationCredential && leased == broker.CredentialProjectToken,
	}
	if found := a.Discovered.Cloud; found != nil {
		c.ProjectID, c.ProjectName, c.ProjectDomain = found.ProjectID, found.ProjectName, found.ProjectDomainName
		switch leased {
		case broker.CredentialUser:
			c.UserDomain, c.UserDomainID = found.ProjectDomainName, found.ProjectDomainID
		case broker.CredentialPassword: // the registered user itself
			c.UserDomain, c.UserDomainID = a.Target.Scope.UserDomainName, found.UserDomainID
		}
	}
	return c
}

// bound gives a context a deadline, if it has none.
func bound(ctx context.Context) (context.Context, context.CancelFunc) {
	if _, ok := ctx.Deadline(); ok {
		return ctx, func() {}
	}
	return context.WithTimeout(ctx, callTimeout)
}

// connection is the way to one Keystone, for one call of the driver.
type connection struct {
	transport *remote.Transport
	identity  *gophercloud.ServiceClient
}

// dial prepares a connection; it connects to nothing yet. The caller closes it.
// Only the registered endpoint is ever called: a catalog's addresses are read,
// not followed.
func dial(t broker.Target, rules *egress.Rules) (*connection, error) {
	way, err := remote.New(rules, remote.Options{
		Server: "Keystone", CA: remote.Authorities{PEM: t.CACert},
		ServerName: t.ServerName, InsecureSkipVerify: t.InsecureSkipVerify,
	})
	if err != nil {
		return nil, broker.Invalid("caCert", "holds no certificate")
	}
	provider := &gophercloud.ProviderClient{HTTPClient: *way.Client()}
	return &connection{
		transport: way,
		identity:  &gophercloud.ServiceClient{ProviderClient: provider, Endpoint: t.Endpoint + "/v3/", Type: "identity"},
	}, nil
}

func (c *connection) close() { c.transport.CloseIdleConnections() }
