package heat_test

import (
	"testing"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/broker/clientconfig"
	"github.com/vimbroker/vimbroker/broker/secret"
	"github.com/vimbroker/vimbroker/drivers/heat"
	"github.com/vimbroker/vimbroker/lifecycle"
	"github.com/vimbroker/vimbroker/policy/egress"
	"github.com/vimbroker/vimbroker/test/conformance"
	"github.com/vimbroker/vimbroker/test/conformance/vnf"
	"github.com/vimbroker/vimbroker/test/fakeheat"
)

func TestConformance(t *testing.T) {
	s := fakeheat.New(t)
	conformance.LifecycleDriver(t, conformance.LifecycleEnv{
		New:       func() lifecycle.Driver { return heat.New() },
		Connect:   func(_ *testing.T, g lifecycle.StageRules) lifecycle.Connection { return connect(s, g) },
		Namespace: func(*testing.T) string { return "" },
		Manifests: vnf.Manifests, VDU: vnf.VDU, Flavour: vnf.Flavour(),
		Remove: func(_ *testing.T, r lifecycle.Resource) { s.Condemn(r.Name) },
		Plant: func(_ *testing.T, r lifecycle.Resource) func() bool {
			s.Plant(r.Name, "somebody's")
			return func() bool {
				_, tags, updated, ok := s.Stack(r.Name)
				return ok && !updated && tags == "somebody's"
			}
		},
	})
}

// connect may do what a grant says.
func connect(s *fakeheat.Server, g lifecycle.StageRules) lifecycle.Connection {
	rules := egress.Default()
	rules.AllowLoopback = true
	return lifecycle.Connection{Egress: rules, Config: clientconfig.Config{
		Endpoint: s.URL, CACert: s.CA, Credential: secret.Credential{Kind: broker.CredentialProjectToken, Token: secret.NewText(s.Allow(g))},
	}}
}
