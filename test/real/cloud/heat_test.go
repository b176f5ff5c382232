package cloud_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/google/uuid"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/broker/clientconfig"
	"github.com/vimbroker/vimbroker/broker/secret"
	"github.com/vimbroker/vimbroker/drivers/heat"
	"github.com/vimbroker/vimbroker/lifecycle"
	"github.com/vimbroker/vimbroker/policy/egress"
	"github.com/vimbroker/vimbroker/test/conformance"
	"github.com/vimbroker/vimbroker/test/conformance/vnf"
	"github.com/vimbroker/vimbroker/test/real"
)

// heatFor connects a driver to a tenant's Heat: with a token of the password, as leases for Heat are on this cloud, or
// with an application credential, which may make no stack here.
func heatFor(t *testing.T, o *real.Cloud, who real.Tenant, g lifecycle.StageRules) lifecycle.Connection {
	t.Helper()
	rules := egress.Default()
	rules.AllowLoopback = true
	c := clientconfig.Config{Endpoint: strings.TrimSuffix(o.AuthURL, "/v3"), Client: clientconfig.OpenStackClient{Region: o.Region, ProjectID: who.ProjectID}}
	if g.Purpose == "heat" {
		token, err := o.LogIn(t.Context(), who, nil)
		if err != nil {
			t.Fatal(err)
		}
		c.Credential = secret.Credential{Kind: broker.CredentialProjectToken, Token: secret.NewText(token)}
	} else {
		id, key := o.ApplicationCredential(t, who, "look-"+uuid.NewString(), false)
		c.Credential = secret.Credential{
			Kind: broker.CredentialApplicationCredential, ApplicationCredentialID: id, ApplicationCredentialSecret: secret.NewText(key),
		}
	}
	return lifecycle.Connection{Config: c, Egress: rules}
}

// A driver of stacks does on a real Heat what every driver owes.
func TestHeatConformance(t *testing.T) {
	t.Parallel()
	o := real.OpenStack(t)
	who := o.Project(t)
	stack := func(t *testing.T, method, path string, in, out any) {
		t.Helper()
		token, err := o.LogIn(t.Context(), who, nil)
		if err != nil {
			t.Fatal(err)
		}
		if status := o.As(t, token, method, o.Orchestration+"/v1/"+who.ProjectID+path, in, out); status != http.StatusOK {
			t.Fatalf("%s %s answers %d", method, path, status)
		}
	}
	conformance.LifecycleDriver(t, conformance.LifecycleEnv{
		New:       func() lifecycle.Driver { return heat.New() },
		Connect:   func(t *testing.T, g lifecycle.StageRules) lifecycle.Connection { return heatFor(t, o, who, g) },
		Namespace: func(*testing.T) string { return "" },
		Manifests: vnf.Manifests, VDU: vnf.VDU, Flavour: vnf.Flavour(),
		// The story of a VNF has an instance's whole life, and a stack takes seconds for each step of it.
		Elsewhere: []string{"Run/FromNothingToNothing", "Run/IsIdempotent"},
		Remove: func(t *testing.T, r lifecycle.Resource) {
			var all struct {
				Stacks []struct {
					ID   string `json:"id"`
					Name string `json:"stack_name"`
				}
			}
			stack(t, http.MethodGet, "/stacks", nil, &all)
			for _, k := range all.Stacks {
				stack(t, http.MethodPatch, "/stacks/"+k.Name+"/"+k.ID+"/resources/"+r.Name, map[string]any{"mark_unhealthy": true}, nil)
			}
		},
		Plant: func(t *testing.T, r lifecycle.Resource) func() bool {
			stack(t, http.MethodPost, "/stacks", map[string]any{"stack_name": r.Name, "template": "heat_template_version: 2016-10-14\n"}, nil)
			return func() bool {
				var all struct {
					Stacks []struct {
						Updated string `json:"updated_time"`
					}
				}
				stack(t, http.MethodGet, "/stacks?name="+r.Name, nil, &all)
				return len(all.Stacks) == 1 && all.Stacks[0].Updated == ""
			}
		},
	})
}
