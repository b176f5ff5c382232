package server

import (
	"context"
	"time"

	"github.com/google/uuid"

	"github.com/vimbroker/vimbroker/broker/api"
	"github.com/vimbroker/vimbroker/broker/strictyaml"
	"github.com/vimbroker/vimbroker/lifecycle/api/onap"
	"github.com/vimbroker/vimbroker/policy"
)

// onapConfig is the API of ONAP's Kubernetes plugin. Compat answers with upstream's status codes.
type onapConfig struct {
	Enabled, Compat bool
	// NoLease leaves the kubeconfig in answers empty; otherwise it holds a lease for the caller.
	NoLease bool
	// Wait is how long a request waits for its operation.
	Wait time.Duration
}

func (o *onapConfig) fields(d *strictyaml.Document) strictyaml.Fields {
	return strictyaml.Fields{
		"enabled": d.Flag(&o.Enabled),
		"compat":  d.Flag(&o.Compat),
		"connectivity": text(d, "lease or none, or be left out", func(s string) bool {
			o.NoLease = s == "none"
			return s == "" || s == "lease" || s == "none"
		}),
		"wait": d.Duration(&o.Wait),
	}
}

// onap is ONAP's door. Its callers may show a client's id and secret, and in the try-out mode the token as a password.
func (s *server) onap() []api.Door {
	return onap.Doors(onap.Options{
		Bundles: s.bundles, Ready: s.ready.Ready, Compat: s.config.ONAP.Compat,
		Basic: func(ctx context.Context, id, plain string) (policy.Principal, error) {
			if s.config.Dev && uuid.Validate(id) != nil {
				return s.live.Authenticate(ctx, plain)
			}
			client, err := s.clients.Authenticate(ctx, id, plain)
			if err != nil {
				return policy.Principal{}, err
			}
			return client.Principal(), nil
		},
	})
}
