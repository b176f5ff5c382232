package bench

import (
	"bytes"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/vimbroker/vimbroker/broker/api/client"
	"github.com/vimbroker/vimbroker/broker/api/sol003"
	v1 "github.com/vimbroker/vimbroker/broker/api/v1"
	"github.com/vimbroker/vimbroker/broker/secret"
	"github.com/vimbroker/vimbroker/test/csar"
	"github.com/vimbroker/vimbroker/test/real"
)

// stackGoal bounds a VNF by "openstack stack create --wait" of the same templates.
const stackGoal = 1.1

// heatStack measures how long a VNF takes on a real Heat from the request until it is complete: by the openstack
// command, by Heat's API alone, asked as often as the driver asks, and as an operation of a server. It has a scaling
// group of one member with a nested template, of resources that need nothing but Heat.
func heatStack(b *testing.B, p *program) *figure {
	b.Helper()
	const rounds = 5
	real.Program(b, "/usr/bin/openstack", "apt install python3-openstackclient python3-heatclient")
	o := real.OpenStack(b)
	who, ctx, home := o.Project(b), b.Context(), b.TempDir()
	vnf := csar.TackerHeat()
	top, nested := vnf["BaseHOT/simple/sample.yaml"], vnf["BaseHOT/simple/nested/VDU1.yaml"]
	for name, text := range map[string]string{"sample.yaml": top, "VDU1.yaml": nested} {
		if err := os.WriteFile(filepath.Join(home, name), []byte(text), 0o600); err != nil {
			b.Fatal(err)
		}
	}
	// What the descriptor and the request come to.
	const nfv = `{"VDU": {"VDU1": {"desired_capacity": 1, "computeFlavourId": "m1.tiny"},
		"VDU1-VirtualStorage": {"vcImageId": "cirros-0.5.2-x86_64-disk"}}, "CP": {"VDU1_CP1": {"network": "net0"}}}`
	env := []string{
		"PATH=/usr/bin:/bin", "HOME=" + home, "OS_IDENTITY_API_VERSION=3", "OS_AUTH_URL=" + o.AuthURL, "OS_REGION_NAME=" + o.Region,
		"OS_USERNAME=" + who.Username, "OS_PASSWORD=" + who.Password, "OS_PROJECT_ID=" + who.ProjectID, "OS_USER_DOMAIN_ID=" + who.DomainID,
	}

	server, err := serveIn(p.binary(b), home, filepath.Join(home, "data"))
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(server.Kill)
	token := devToken(b, filepath.Join(home, "data"))
	c, err := client.New(client.Options{Addr: server.URL, Token: secret.NewText(token)})
	if err != nil {
		b.Fatal(err)
	}
	vim, err := c.RegisterVIM(ctx, v1.Registration{
		Name: "cloud", Type: "openstack", Endpoint: o.AuthURL, Project: who.Project, Domain: who.Domain,
		Credential: v1.Credential{Username: who.Username, Password: secret.NewText(who.Password)},
	}, "")
	if err != nil {
		b.Fatal(err)
	}
	content := vnf.Zip(b)
	pkg, err := c.CreatePackage(ctx, nil)
	if err == nil {
		err = c.UploadPackage(ctx, pkg.ID, bytes.NewReader(content), int64(len(content)))
	}
	if err != nil {
		b.Fatal(err)
	}

	const byCommand, byAPI, byEngine = "openstack stack create --wait", "Heat's API: login, create, ask until complete", "operation: request to COMPLETED"
	out, err := turns(rounds, 1, 1,
		contender{byCommand, func(n int) error {
			command := exec.CommandContext(ctx, "/usr/bin/openstack", "stack", "create", "--wait", "-f", "value", "-c", "stack_status",
				"-t", filepath.Join(home, "sample.yaml"), "--parameter", "nfv="+nfv, fmt.Sprintf("by-command-%d", n))
			command.Env = env
			if said, err := command.CombinedOutput(); err != nil || !strings.Contains(string(said), "CREATE_COMPLETE") {
				return fmt.Errorf("openstack stack create: %w: %s", err, said)
			}
			return nil
		}},
		contender{byAPI, func(n int) error {
			token, err := o.LogIn(ctx, who, nil)
			if err != nil {
				return err
			}
			var made struct{ Stack struct{ ID string } }
			stacks := o.Orchestration + "/v1/" + who.ProjectID + "/stacks"
			if status := o.As(b, token, http.MethodPost, stacks, map[string]any{
				"stack_name": fmt.Sprintf("by-api-%d", n), "template": top, "files": map[string]string{"VDU1.yaml": nested},
				"parameters": map[string]any{"nfv": jsontext.Value(nfv)},
			}, &made); status != http.StatusOK {
				return fmt.Errorf("heat answers %d", status)
			}
			for wait := time.NewTicker(150 * time.Millisecond); ; <-wait.C {
				var now struct {
					Stack struct {
						Status string `json:"stack_status"`
					}
				}
				o.As(b, token, http.MethodGet, fmt.Sprintf("%s/by-api-%d/%s", stacks, n, made.Stack.ID), nil, &now)
				switch now.Stack.Status {
				case "CREATE_COMPLETE":
					return nil
				case "CREATE_FAILED":
					return fmt.Errorf("the stack failed")
				}
			}
		}},
		contender{byEngine, func(int) error {
			i, err := c.CreateVNF(ctx, sol003.CreateVNFRequest{VNFDID: csar.TackerHeatVNFD})
			if err != nil {
				return err
			}
			id, err := c.BeginVNF(ctx, i.ID, "instantiate", sol003.InstantiateRequest{
				FlavourID: "simple", VIMs: map[string]sol003.VIMConnectionInfo{"vim": {VIMID: vim.ID, VIMType: "ETSINFV.OPENSTACK_KEYSTONE.V_3"}},
				Params: sol003.AdditionalParams{NFV: jsontext.Value(`{"CP":{"VDU1_CP1":{"network":"net0"}}}`)},
			})
			if err != nil {
				return err
			}
			return completed(ctx, c, id)
		}},
	)
	if err != nil {
		b.Fatal(err)
	}
	base := timed(byCommand, out[0].sample)
	bare := timed(byAPI, out[1].sample).over(base)
	ours := timed(byEngine, out[2].sample).over(base).ratioGoal(stackGoal)
	b.ReportMetric(ours.Ratio, "x-openstack")
	return &figure{Title: "A VNF on Heat, from the request until it is complete", Rows: []row{
		base, bare, ours, {What: "plan, leases, policy and record add to the API", N: rounds, Value: ours.P50 - bare.P50, Unit: "ms"},
	}}
}
