package bench

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	coreclient "k8s.io/client-go/kubernetes/typed/core/v1"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/broker/api/client"
	"github.com/vimbroker/vimbroker/broker/api/sol003"
	v1 "github.com/vimbroker/vimbroker/broker/api/v1"
	"github.com/vimbroker/vimbroker/broker/clientconfig"
	"github.com/vimbroker/vimbroker/broker/secret"
	"github.com/vimbroker/vimbroker/drivers/manifests"
	"github.com/vimbroker/vimbroker/lifecycle"
	"github.com/vimbroker/vimbroker/lifecycle/vnfpkg"
	"github.com/vimbroker/vimbroker/policy"
	"github.com/vimbroker/vimbroker/policy/egress"
	"github.com/vimbroker/vimbroker/test/real"
	"github.com/vimbroker/vimbroker/test/story"
)

const (
	// applyGoal: an operation is to be no slower than kubectl.
	applyGoal = 1.0
	// beginGoal is the time from the request to PROCESSING.
	beginGoal = 50 * time.Millisecond
	// instancesGoal is the memory, in MB, that a server with so many instances may hold.
	instancesGoal, heldInstances = 150, 1000
	// observedInstances are those that one pass looks at.
	observedInstances = 200
	// A CNF of a hundred objects: Deployments of one pod, Services, Secrets, ConfigMaps.
	cnfDeployments, cnfServices, cnfSecrets, cnfConfigMaps = 20, 20, 20, 40
	// smallCNF is one of one object.
	smallCNF = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: o-${VNF_INSTANCE_ID}\n"
)

// engineApply measures how long a hundred objects take from their manifests until all are ready: by kubectl, by the
// driver of manifests with an administrator's credential, plan included, and as an operation of a server, each stage
// under a lease that is cut to the plan. Pods are ready at once, by a simulated node.
func engineApply(b *testing.B, p *program) *figure {
	b.Helper()
	const rounds = 5
	cluster := real.Kubernetes(b)
	cluster.WithNode(b)
	ctx, home, text := b.Context(), b.TempDir(), hundred()
	file := filepath.Join(home, "cnf.yaml")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		b.Fatal(err)
	}
	// Namespaces are made before: each gets its service account in its own time.
	namespaces := benchNamespaces(b, cluster, 3*(rounds+1))
	server, err := serveIn(p.binary(b), home, filepath.Join(home, "data"))
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(server.Kill)
	token := devToken(b, filepath.Join(home, "data"))
	v := newVNFM(b, cluster, server.URL, token, text)

	allowed := egress.Default()
	allowed.AllowLoopback = true
	connection := lifecycle.Connection{Egress: allowed, Config: clientconfig.Config{
		Endpoint: cluster.Endpoint, CACert: cluster.CAPEM,
		Credential: secret.Credential{Kind: broker.CredentialBearerToken, Token: secret.NewText(cluster.AdminToken(b))},
	}}
	driver := manifests.New()
	const byKubectl, byDriver = "kubectl apply --server-side, and kubectl wait", "driver: plan, apply and wait"
	const byEngine = "operation: request to COMPLETED"
	out, err := turns(rounds, 1, 1,
		contender{byKubectl, func(n int) error {
			for _, args := range [][]string{
				{"apply", "--server-side", "-f", file}, {"wait", "deployments", "--all", "--for=condition=Available", "--timeout=60s"},
			} {
				args = append(args, "--kubeconfig", cluster.Kubeconfig, "-n", namespaces[3*n])
				if said, err := exec.CommandContext(ctx, cluster.Kubectl, args...).CombinedOutput(); err != nil {
					return fmt.Errorf("kubectl %s: %w: %s", args[0], err, said)
				}
			}
			return nil
		}},
		contender{byDriver, func(n int) error {
			in := lifecycle.PlanInput{
				Operation: lifecycle.Instantiate, Instance: uuid.NewString(), Name: "bench", Namespace: namespaces[3*n+1],
				Manifests: []lifecycle.Manifest{{Path: "cnf.yaml", Text: secret.NewText(text)}},
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
	base := timed(byKubectl, out[0].sample)
	bare := timed(byDriver, out[1].sample).over(base)
	ours := timed(byEngine, out[2].sample).over(base).ratioGoal(applyGoal)
	b.ReportMetric(ours.Ratio, "x-kubectl")
	return &figure{Title: "A CNF of 100 objects, from manifests to ready", Rows: []row{
		base, bare, ours,
		{What: "leases cut to the plan, policy and record add", N: rounds, Value: ours.P50 - bare.P50, Unit: "ms"},
	}}
}

// engineLoad measures operations on CNFs of one object: how soon they begin, how many a minute one server does and
// three do on one PostgreSQL, and what each costs them; and the memory that many instances take.
func engineLoad(b *testing.B, p *program) *figure {
	b.Helper()
	const alone, together, atOnce = 30, 96, 12
	cluster := real.Kubernetes(b)
	namespace := benchNamespaces(b, cluster, 1)[0]
	f := &figure{Title: "Operations on CNFs of one object"}

	home := b.TempDir()
	embedded, err := serveIn(p.binary(b), home, filepath.Join(home, "data"))
	if err != nil {
		b.Fatal(err)
	}
	token := devToken(b, filepath.Join(home, "data"))
	begins := func(store string, v *vnfm) {
		f.Rows = append(f.Rows, timed("request to PROCESSING, "+store, v.begins(b, namespace, alone)).medianGoal(beginGoal))
	}
	begins("SQLite", newVNFM(b, cluster, embedded.URL, token, smallCNF))
	embedded.Kill()

	fleet := newEngineFleet(b, p)
	first := fleet.start(b)
	v := newVNFM(b, cluster, first.URL, fleet.token, smallCNF)
	begins("PostgreSQL", v)
	for _, servers := range []int{1, fleetSize} {
		for len(fleet.servers) < servers {
			fleet.start(b)
		}
		before := fleet.processor(b)
		began := time.Now()
		if _, err := turn(atOnce, together/atOnce, 0, func(int) error {
			_, err := v.instantiate(b.Context(), namespace)
			return err
		}); err != nil {
			b.Fatal(err)
		}
		took := time.Since(began)
		f.Rows = append(f.Rows,
			row{What: fmt.Sprintf("operations a minute, replicas: %d", servers), N: together, Value: together / took.Minutes()},
			row{What: fmt.Sprintf("processor of an operation, replicas: %d", servers), N: together, Value: (fleet.processor(b) - before) / together, Unit: "ms"},
		)
	}
	f.Rows = append(f.Rows, row{
		What: fmt.Sprintf("resident memory, instances: %d", heldInstances), N: heldInstances, Value: fleet.memoryWith(b, v, heldInstances), Unit: "MB",
	}.valueGoal(instancesGoal))
	return f
}

// vnfm asks a server for operations on CNFs of one package.
type vnfm struct {
	*client.Client
	vim string
}

// newVNFM registers the cluster with a server, and uploads a package of one manifest.
func newVNFM(b *testing.B, cluster *real.Cluster, url, token, manifest string) *vnfm {
	b.Helper()
	return newVNFMOf(b, cluster, url, token, vnfpkg.ManifestFile{Path: "cnf.yaml", Text: []byte(manifest)})
}

// newVNFMOf is newVNFM with a package of these files.
func newVNFMOf(b *testing.B, cluster *real.Cluster, url, token string, files ...vnfpkg.ManifestFile) *vnfm {
	b.Helper()
	c, err := client.New(client.Options{Addr: url, Token: secret.NewText(token)})
	if err != nil {
		b.Fatal(err)
	}
	vim, err := c.RegisterVIM(b.Context(), v1.Registration{
		Name: "cluster", Type: "kubernetes", Endpoint: cluster.Endpoint, CACert: cluster.CAPEM,
		Credential: v1.Credential{Token: secret.NewText(cluster.AdminToken(b))},
	}, "")
	if err != nil {
		b.Fatal(err)
	}
	var csar bytes.Buffer
	if err := vnfpkg.Pack(&csar, vnfpkg.Assembly{
		VNFDID: "bench", Provider: "bench", ProductName: "bench", SoftwareVersion: "1", Version: "1",
		Manifests: files,
	}); err != nil {
		b.Fatal(err)
	}
	pkg, err := c.CreatePackage(b.Context(), nil)
	if err == nil {
		err = c.UploadPackage(b.Context(), pkg.ID, &csar, int64(csar.Len()))
	}
	if err != nil {
		b.Fatal(err)
	}
	return &vnfm{c, vim.ID}
}

// instantiate makes an instance and waits until its resources are ready; it returns its id.
func (v *vnfm) instantiate(ctx context.Context, namespace string) (string, error) {
	i, err := v.CreateVNF(ctx, sol003.CreateVNFRequest{VNFDID: "bench"})
	if err != nil {
		return "", err
	}
	id, err := v.BeginVNF(ctx, i.ID, "instantiate", sol003.InstantiateRequest{
		FlavourID: "simple", VIMs: map[string]sol003.VIMConnectionInfo{"vim": {VIMID: v.vim, VIMType: "ETSINFV.KUBERNETES.V_1"}},
		Params: sol003.AdditionalParams{Namespace: namespace},
	})
	if err != nil {
		return "", err
	}
	return i.ID, completed(ctx, v.Client, id)
}

// completed waits until an operation is.
func completed(ctx context.Context, c *client.Client, operation string) error {
	for wait := time.NewTicker(20 * time.Millisecond); ; {
		o, err := c.VNFOperation(ctx, operation)
		switch {
		case err != nil:
			return err
		case o.State == "COMPLETED":
			return nil
		case o.State != "STARTING" && o.State != "PROCESSING":
			return fmt.Errorf("the operation is %s: %+v", o.State, o.Error)
		}
		select {
		case <-wait.C:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// begins are the times from requests to PROCESSING, one operation after the other, as the audit log dates them.
func (v *vnfm) begins(b *testing.B, namespace string, n int) (all sample) {
	b.Helper()
	for range n {
		instance, err := v.instantiate(b.Context(), namespace)
		if err != nil {
			b.Fatal(err)
		}
		var intents []time.Time // of the request, and of the engine
		for e, err := range v.AllAudit(b.Context(), client.AuditQuery{Resource: instance, Action: string(policy.VNFInstantiate)}) {
			if err != nil {
				b.Fatal(err)
			}
			if e.Outcome == "intent" {
				intents = append(intents, e.Time)
			}
		}
		if len(intents) != 2 {
			b.Fatalf("an instantiation has %d entries of intents, want 2", len(intents))
		}
		slices.SortFunc(intents, time.Time.Compare)
		all = append(all, intents[1].Sub(intents[0]))
	}
	return all
}

// engineFleet are servers on one PostgreSQL and one directory of keys.
type engineFleet struct {
	bin, home, token, dsn, config string
	servers                       []*story.Broker
}

func newEngineFleet(b *testing.B, p *program) *engineFleet {
	b.Helper()
	token, digest := policy.NewToken()
	f := &engineFleet{bin: p.binary(b), home: b.TempDir(), token: token, dsn: real.OwnPostgres(b).DSN(b)}
	file := func(name, text string) string {
		path := filepath.Join(f.home, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			b.Fatal(err)
		}
		return path
	}
	f.config = fmt.Sprintf(`
listen: 127.0.0.1:0
tokensFile: %s
egress: {allowLoopback: true}
database: {postgres: {dsnFile: %s, migrate: true}}
keyStores: [{keydir: {dir: %s}}]
quota: {perPrincipal: 0, perVIM: 0, perProject: 0}
sol003: {enabled: true}
`, file("tokens.yaml", "tokens: [{name: admin, project: default, roles: [admin], sha256: "+digest+"}]\n"), file("dsn", f.dsn), filepath.Join(f.home, "keys"))
	return f
}

// start starts one more server.
func (f *engineFleet) start(b *testing.B) *story.Broker {
	b.Helper()
	dir := b.TempDir()
	config := filepath.Join(dir, "config.yaml")
	if err := os.WriteFile(config, []byte(f.config+"dataDir: "+dir+"\n"), 0o600); err != nil {
		b.Fatal(err)
	}
	server, err := story.Serve(f.bin, dir, []string{"HOME=" + f.home}, "--config", config)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(server.Kill)
	f.servers = append(f.servers, server)
	return server
}

// processor is how long all servers have used a processor, in milliseconds.
func (f *engineFleet) processor(b *testing.B) (sum float64) {
	b.Helper()
	for _, s := range f.servers {
		used, err := processorTime(s.PID())
		if err != nil {
			b.Fatal(err)
		}
		sum += used
	}
	return sum
}

// memoryWith is what the server holds that holds most, with so many instances, after all of them were listed and the
// drift pass has looked at as many as it does at one time. The instances are copies of one, written into the database.
func (f *engineFleet) memoryWith(b *testing.B, v *vnfm, instances int) (most float64) {
	b.Helper()
	ctx := b.Context()
	conn, err := pgx.Connect(ctx, f.dsn)
	if err != nil {
		b.Fatal(err)
	}
	defer conn.Close(context.WithoutCancel(ctx))
	if _, err := conn.Exec(ctx, `INSERT INTO vnf_instances (id, project, name, state, created_at, revision, document, observed_at, drifted, unseen, drift)
		SELECT new, project, name, state, created_at, revision, replace(document, id, new), observed_at, drifted, unseen, drift
		FROM (SELECT * FROM vnf_instances WHERE state = 'INSTANTIATED' ORDER BY id LIMIT 1) AS one,
			LATERAL (SELECT gen_random_uuid()::text AS new FROM generate_series(1, $1 - (SELECT count(*) FROM vnf_instances)) AS i WHERE one.id <> '') AS copies`,
		instances); err != nil {
		b.Fatal(err)
	}
	listed := 0
	for _, err := range v.AllVNFs(ctx) {
		if listed++; err != nil {
			b.Fatal(err)
		}
	}
	if listed != instances {
		b.Fatalf("%d instances are listed, want %d", listed, instances)
	}
	for deadline := time.Now().Add(150 * time.Second); ; {
		var observed int
		if err := conn.QueryRow(ctx, `SELECT count(*) FROM vnf_instances WHERE observed_at > '-infinity'`).Scan(&observed); err != nil {
			b.Fatal(err)
		}
		for _, s := range f.servers {
			held, err := resident(s.PID())
			if err != nil {
				b.Fatal(err)
			}
			most = max(most, held)
		}
		if observed >= observedInstances {
			return most
		}
		if time.Now().After(deadline) {
			b.Fatalf("%d instances were looked at, want %d", observed, observedInstances)
		}
		<-time.After(100 * time.Millisecond) // what it holds meanwhile is what is measured
	}
}

// benchNamespaces makes namespaces for one measurement.
func benchNamespaces(b *testing.B, cluster *real.Cluster, n int) (names []string) {
	b.Helper()
	core, err := coreclient.NewForConfig(cluster.Config())
	if err != nil {
		b.Fatal(err)
	}
	for range n {
		made, err := core.Namespaces().Create(b.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "bench-cnf-"}}, metav1.CreateOptions{})
		if err != nil {
			b.Fatal(err)
		}
		names = append(names, made.Name)
	}
	return names
}

// hundred are the manifests of a hundred objects.
func hundred() string {
	var t strings.Builder
	each := func(count int, format string) {
		for i := range count {
			fmt.Fprint(&t, "---\n"+strings.ReplaceAll(format, "NAME", fmt.Sprintf("o-%d", i)))
		}
	}
	each(cnfConfigMaps, "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: NAME}\ndata: {a: b}\n")
	each(cnfSecrets, "apiVersion: v1\nkind: Secret\nmetadata: {name: NAME}\nstringData: {a: b}\n")
	each(cnfServices, "apiVersion: v1\nkind: Service\nmetadata: {name: NAME}\nspec: {selector: {app: NAME}, ports: [{port: 80}]}\n")
	each(cnfDeployments, `apiVersion: apps/v1
kind: Deployment
metadata: {name: NAME}
spec:
  selector: {matchLabels: {app: NAME}}
  template:
    metadata: {labels: {app: NAME}}
    spec: {containers: [{name: a, image: registry.invalid/a:1}]}
`)
	return t.String()
}

// carryOut plans an operation and runs what was planned, as the engine does, but under one connection.
func carryOut(ctx context.Context, d lifecycle.Driver, to lifecycle.Connection, in lifecycle.PlanInput) error {
	plan, err := d.Plan(ctx, to, in)
	if err != nil {
		return err
	}
	for _, stage := range plan.Stages {
		for _, w := range stage.Waves {
			if err := d.Run(ctx, to, in.Instance, w, func(lifecycle.Observation) {}); err != nil {
				return err
			}
		}
	}
	return nil
}
