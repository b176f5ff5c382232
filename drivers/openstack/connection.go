package openstack

import (
	"crypto/tls"
	"crypto/x509"
	"net/http"

	"github.com/gophercloud/gophercloud/v2"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/broker/remote"
	"github.com/vimbroker/vimbroker/policy/egress"
)

// maxBody bounds an answer, in bytes: a token with the catalog of a large cloud
// has some hundred KiB.
const maxBody = 4 << 20

// connection is the way to one Keystone, for one call of the driver.
type connection struct {
	transport *http.Transport
	identity  *gophercloud.ServiceClient
}

// dial prepares a connection; it connects to nothing yet. The caller closes it.
// Only the registered endpoint is ever called: what a catalog says is looked at,
// not followed.
func dial(t broker.Target, rules *egress.Rules) (*connection, error) {
	config := &tls.Config{
		MinVersion:         tls.VersionTLS12,
		ServerName:         t.ServerName,
		InsecureSkipVerify: t.InsecureSkipVerify, //nolint:gosec // the registration said so in so many words
	}
	if t.CACert != "" {
		config.RootCAs = x509.NewCertPool()
		if !config.RootCAs.AppendCertsFromPEM([]byte(t.CACert)) {
			return nil, broker.Invalid("caCert", "holds no certificate")
		}
	}
	c := &connection{transport: rules.Transport(config)}
	provider := &gophercloud.ProviderClient{HTTPClient: http.Client{Transport: c, CheckRedirect: egress.RefuseRedirect}}
	provider.UserAgent.Prepend("vimbroker")
	c.identity = &gophercloud.ServiceClient{ProviderClient: provider, Endpoint: t.Endpoint + "/v3/", Type: "identity"}
	return c, nil
}

func (c *connection) close() { c.transport.CloseIdleConnections() }

// RoundTrip implements [http.RoundTripper] under gophercloud, which bounds no
// answer itself.
func (c *connection) RoundTrip(request *http.Request) (*http.Response, error) {
	response, err := c.transport.RoundTrip(request)
	if err != nil {
		return nil, err
	}
	response.Body = &remote.Body{Body: response.Body, Max: maxBody}
	return response, nil
}
