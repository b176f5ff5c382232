package fakeobjects

import (
	"context"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/broker/clientconfig"
	"github.com/vimbroker/vimbroker/broker/secret"
	"github.com/vimbroker/vimbroker/lifecycle"
	"github.com/vimbroker/vimbroker/policy/egress"
)

// Connection is one under which the server allows what a grant says.
func (s *Server) Connection(g lifecycle.StageRules) lifecycle.Connection {
	rules := egress.Default()
	rules.AllowLoopback = true
	return lifecycle.Connection{
		Egress: rules, Config: clientconfig.Config{
			Endpoint: s.URL, CACert: s.CA, Credential: secret.Credential{Kind: broker.CredentialBearerToken, Token: secret.NewText(s.Allow(g))},
		},
		Further: func(_ context.Context, g lifecycle.StageRules, do func(lifecycle.Connection) error) error {
			return do(s.Connection(g))
		},
	}
}

// Path is where a server has a resource.
func Path(r lifecycle.Resource) string {
	path := "/api/" + r.Version
	if r.Group != "" {
		path = "/apis/" + r.Group + "/" + r.Version
	}
	if r.Namespace != "" {
		path += "/namespaces/" + r.Namespace
	}
	return path + "/" + r.Plural + "/" + r.Name
}
