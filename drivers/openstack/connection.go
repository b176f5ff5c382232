package openstack

import (
	"github.com/gophercloud/gophercloud/v2"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/broker/remote"
	"github.com/vimbroker/vimbroker/policy/egress"
)

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
