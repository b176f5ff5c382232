package bench

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/google/uuid"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/broker/clientconfig"
	"github.com/vimbroker/vimbroker/broker/secret"
	"github.com/vimbroker/vimbroker/drivers/helm"
	"github.com/vimbroker/vimbroker/lifecycle"
	"github.com/vimbroker/vimbroker/lifecycle/vnfpkg"
	"github.com/vimbroker/vimbroker/policy/egress"
	"github.com/vimbroker/vimbroker/test/real"
	"github.com/vimbroker/vimbroker/test/story"
)

// chartGoal: an operation is to be no slower than Helm.
const chartGoal = 1.0

// helmChart measures how long a hundred objects of a chart take until all are ready: by Helm's own program, by the
// driver of charts with an administrator's credential, plan and rendering included, and as an operation of a server.
// Pods are ready at once, by a simulated node.
func helmChart(b *testing.B, p *program) *figure {
	b.Helper()
	const rounds = 5
	tools, cluster := real.HelmTools(b), real.Kubernetes(b)
	cluster.WithNode(b)
	ctx, home := b.Context(), b.TempDir()
	chart := map[string]string{"Chart.yaml": "apiVersion: v2\nname: cnf\nversion: 1.0.0\n", "values.yaml": "", "templates/cnf.yaml": hundred()}
	var files []vnfpkg.ManifestFile
	var manifests []lifecycle.Manifest
	if err := os.MkdirAll(filepath.Join(home, "cnf", "templates"), 0o700); err != nil {
		b.Fatal(err)
	}
	for name, text := range chart {
		if err := os.WriteFile(filepath.Join(home, "cnf", name), []byte(text), 0o600); err != nil {
			b.Fatal(err)
		}
		files = append(files, vnfpkg.ManifestFile{Path: "cnf/" + name, Text: []byte(text)})
		manifests = append(manifests, lifecycle.Manifest{Path: "cnf/" + name, Text: secret.NewText(text)})
	}
	namespaces := benchNamespaces(b, cluster, 3*(rounds+1))
	renderer := story.BuildRenderer(b, p.binary(b))
	server, err := serveIn(p.binary(b), home, filepath.Join(home, "data"))
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(server.Kill)
	v := newVNFMOf(b, cluster, server.URL, devToken(b, filepath.Join(home, "data")), files...)

	allowed := egress.Default()
	allowed.AllowLoopback = true
	connection := lifecycle.Connection{Egress: allowed, Config: clientconfig.Config{
		Endpoint: cluster.Endpoint, CACert: cluster.CAPEM,
		Credential: secret.Credential{Kind: broker.CredentialBearerToken, Token: secret.NewText(cluster.AdminToken(b))},
	}}
	driver := helm.New(helm.Options{Program: []string{renderer}})
	const byHelm, byDriver, byEngine = "helm install --wait", "driver: plan, render, apply and wait", "operation: request to COMPLETED"
	out, err := turns(rounds, 1, 1,
		contender{byHelm, func(n int) error {
			command := exec.CommandContext(ctx, filepath.Join(tools, "helm"), "install", "cnf", filepath.Join(home, "cnf"),
				"--wait", "--timeout", "60s", "--kubeconfig", cluster.Kubeconfig, "-n", namespaces[3*n])
			command.Env = []string{"HOME=" + home, "PATH=/usr/bin:/bin"}
			if said, err := command.CombinedOutput(); err != nil {
				return fmt.Errorf("helm install: %w: %s", err, said)
			}
			return nil
		}},
		contender{byDriver, func(n int) error {
			in := lifecycle.PlanInput{
				Operation: lifecycle.Instantiate, Instance: uuid.NewString(), Mark: uuid.NewString(), Name: "bench", Namespace: namespaces[3*n+1], Manifests: manifests,
			}
			return carryOut(ctx, driver, connection, in)
		}},
		contender{byEngine, func(n int) error {
			_, err := v.instantiate(ctx, namespaces[3*n+2])
			return err
		}},
	)
	if err != nil {
		b.Fatal(err)
	}
	base := timed(byHelm, out[0].sample)
	bare := timed(byDriver, out[1].sample).over(base)
	ours := timed(byEngine, out[2].sample).over(base).ratioGoal(chartGoal)
	b.ReportMetric(ours.Ratio, "x-helm")
	return &figure{Title: "A CNF of 100 objects by a chart, from request to ready", Rows: []row{
		base, bare, ours,
		{What: "leases cut to the plan, policy and record add", N: rounds, Value: ours.P50 - bare.P50, Unit: "ms"},
	}}
}
