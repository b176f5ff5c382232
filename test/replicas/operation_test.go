package replicas

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"golang.org/x/sync/errgroup"

	"github.com/vimbroker/vimbroker/broker/api/client"
	"github.com/vimbroker/vimbroker/broker/api/sol003"
	v1 "github.com/vimbroker/vimbroker/broker/api/v1"
	"github.com/vimbroker/vimbroker/broker/secret"
	"github.com/vimbroker/vimbroker/lifecycle/vnfpkg"
	"github.com/vimbroker/vimbroker/test/real"
)

const (
	// A replica is killed for every so many operations that have ended: of fewCNFs, and in the long form of manyCNFs.
	fewCNFs, killForFew   = 8, 8
	manyCNFs, killForMany = 200, 20
	// cnfsAtOnce is how many have an operation at a time, operationsAtOnce how many of these are worked: the others
	// wait for their turn.
	cnfsAtOnce, operationsAtOnce = 12, 6
	// answersWithin is how long a replica is asked before another is: one may be stopped.
	answersWithin = 10 * time.Second
)

const cnf = `apiVersion: v1
kind: ConfigMap
metadata:
  name: first-${VNF_INSTANCE_ID}
---
apiVersion: v1
kind: Secret
metadata:
  name: first-${VNF_INSTANCE_ID}
stringData: {a: b}
---
apiVersion: v1
kind: ConfigMap
metadata:
  name: second-${VNF_INSTANCE_ID}
  annotations: {vimbroker.io/wave: "1"}
`

// TestKilledInOperations kills replicas at random while CNFs are instantiated and terminated on a real API server:
// each operation ends right, no more are worked at a time than are allowed, and nothing is left.
func TestKilledInOperations(t *testing.T) {
	t.Parallel()
	cluster := real.Kubernetes(t)
	f := newFleetOn(t, shared(t), footing{program: present, settings: fmt.Sprintf(
		"sol003: {enabled: true}\nvnf: {operationsPerProject: %d}\n", operationsAtOnce,
	)})
	n, apart := fewCNFs, int64(killForFew)
	if real.SoakTime(t) > 0 {
		n, apart = manyCNFs, killForMany
	}
	c := &cnfs{fleet: f, cluster: cluster, namespace: fmt.Sprintf("killed-%d", os.Getpid())}
	cluster.Run(t, "", "create", "namespace", c.namespace)
	vim := c.prepare()

	var all errgroup.Group
	all.SetLimit(cnfsAtOnce)
	over := make(chan error, 1)
	go func() {
		for range n {
			all.Go(func() error { return c.life(t.Context(), vim) })
		}
		over <- all.Wait()
	}()
	kills := 0
	err := func() error {
		for {
			r := f.any()
			r.broker.Kill()
			r.start()
			kills++
			for next := c.ended.Load() + apart; c.ended.Load() < next; {
				select {
				case err := <-over:
					return err
				case <-time.After(200 * time.Millisecond):
				}
				if most := c.underWay(); most > operationsAtOnce {
					t.Errorf("%d operations are worked at the same time, %d are allowed", most, operationsAtOnce)
				}
			}
		}
	}()
	if err != nil {
		t.Fatal(err)
	}
	c.proveNothingLeft(vim)
	f.proveAudit()
	t.Logf("%d CNFs, %d operations, %d kills", n, c.ended.Load(), kills)
}

// cnfs are CNFs on one cluster.
type cnfs struct {
	*fleet
	cluster   *real.Cluster
	namespace string
	// ended counts operations.
	ended atomic.Int64
}

// prepare registers the cluster and uploads the package, and returns the VIM's id.
func (c *cnfs) prepare() string {
	c.t.Helper()
	config, err := os.ReadFile(c.cluster.Kubeconfig)
	if err != nil {
		c.t.Fatal(err)
	}
	v, err := registers(c.t, c.replicas[0], v1.Registration{Name: "real", Kubeconfig: secret.NewText(string(config))})
	if err != nil {
		c.t.Fatal(err)
	}
	var csar bytes.Buffer
	if err := vnfpkg.Pack(&csar, vnfpkg.Assembly{
		VNFDID: "cnf-1", Provider: "Acme", ProductName: "cnf", SoftwareVersion: "1.0", Version: "1.0",
		Manifests: []vnfpkg.ManifestFile{{Path: "cnf.yaml", Text: []byte(cnf)}},
	}); err != nil {
		c.t.Fatal(err)
	}
	p, err := c.replicas[0].CreatePackage(c.t.Context(), nil)
	if err == nil {
		err = c.replicas[0].UploadPackage(c.t.Context(), p.ID, &csar, int64(csar.Len()))
	}
	if err != nil {
		c.t.Fatal(err)
	}
	return v.ID
}

// wrong is an error that does not pass.
type wrong struct{ error }

// Unwrap returns the error that it is.
func (w wrong) Unwrap() error { return w.error }

// until asks one replica after the other until one does it.
func (c *cnfs) until(ctx context.Context, what string, do func(context.Context, *replica) error) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	tick := time.NewTicker(200 * time.Millisecond)
	defer tick.Stop()
	for {
		one, done := context.WithTimeout(ctx, answersWithin)
		err := do(one, c.any())
		done()
		if final := (wrong{}); err == nil || errors.As(err, &final) {
			return err
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return fmt.Errorf("%s: %w", what, err)
		}
	}
}

// life is that of one CNF: from its creation until it is gone.
func (c *cnfs) life(ctx context.Context, vim string) error {
	var id string
	if err := c.until(ctx, "create", func(ctx context.Context, r *replica) error {
		i, err := r.CreateVNF(ctx, sol003.CreateVNFRequest{VNFDID: "cnf-1"})
		id = i.ID
		return err
	}); err != nil {
		return err
	}
	for _, o := range []struct {
		task, operation string
		request         any
		stands          int
	}{
		{"instantiate", "INSTANTIATE", sol003.InstantiateRequest{
			FlavourID: "simple", VIMs: map[string]sol003.VIMConnectionInfo{"vim": {VIMID: vim, VIMType: "ETSINFV.KUBERNETES.V_1"}},
			Params: sol003.AdditionalParams{Namespace: c.namespace},
		}, 3},
		{"terminate", "TERMINATE", sol003.TerminateRequest{Type: "FORCEFUL"}, 0},
	} {
		if err := c.until(ctx, o.task, func(ctx context.Context, r *replica) error {
			_, err := r.BeginVNF(ctx, id, o.task, o.request)
			if client.Status(err) == http.StatusConflict {
				return nil // an earlier request has begun it, and its answer was lost
			}
			return err
		}); err != nil {
			return err
		}
		if err := c.until(ctx, o.task+" to its end", func(ctx context.Context, r *replica) error {
			return completed(ctx, r, id, o.operation)
		}); err != nil {
			return err
		}
		c.ended.Add(1)
		if err := c.until(ctx, "count what stands", func(ctx context.Context, _ *replica) error {
			got, err := c.standing(ctx, "vimbroker.io/instance="+id)
			if err == nil && got != o.stands {
				err = wrong{fmt.Errorf("after %s %d objects of the instance stand, want %d", o.task, got, o.stands)}
			}
			return err
		}); err != nil {
			return err
		}
	}
	return c.until(ctx, "delete", func(ctx context.Context, r *replica) error {
		err := r.DeleteVNF(ctx, id)
		if client.Status(err) == http.StatusNotFound {
			return nil // an earlier request has deleted it, and its answer was lost
		}
		return err
	})
}

// completed is an error until the newest operation of an instance is that one, and COMPLETED; one that ends
// otherwise is wrong.
func completed(ctx context.Context, r *replica, instance, operation string) error {
	for o, err := range r.AllVNFOperations(ctx, instance) {
		switch {
		case err != nil:
			return err
		case o.Operation == operation && o.State == "COMPLETED":
			return nil
		case o.Operation != operation || o.State == "STARTING" || o.State == "PROCESSING":
			return fmt.Errorf("the newest operation is %s, and %s", o.Operation, o.State)
		}
		return wrong{fmt.Errorf("%s of %s ended %s: %+v", o.Operation, instance, o.State, o.Error)}
	}
	return errors.New("there is no operation")
}

// underWay counts the operations that have their turn, at one moment.
func (c *cnfs) underWay() (n int) {
	c.t.Helper()
	conn, err := pgx.Connect(c.t.Context(), c.dsn)
	if err != nil {
		c.t.Fatal(err)
	}
	defer conn.Close(context.WithoutCancel(c.t.Context()))
	if err := conn.QueryRow(c.t.Context(), `SELECT count(*) FROM vnf_operations
		WHERE state IN ('STARTING', 'PROCESSING') AND turn_at > '-infinity'`).Scan(&n); err != nil {
		c.t.Fatal(err)
	}
	return n
}

// standing counts the objects that a selector finds.
func (c *cnfs) standing(ctx context.Context, selector string) (int, error) {
	text, err := exec.CommandContext(ctx, c.cluster.Kubectl, "--kubeconfig", c.cluster.Kubeconfig,
		"-n", c.namespace, "get", "configmaps,secrets", "-l", selector, "-o", "name").Output()
	if exit := new(exec.ExitError); errors.As(err, &exit) {
		err = fmt.Errorf("kubectl: %w: %s", err, exit.Stderr)
	}
	return len(strings.Fields(string(text))), err
}

// proveNothingLeft: no object, no lease, no account of one.
func (c *cnfs) proveNothingLeft(vim string) {
	c.t.Helper()
	if n, err := c.standing(c.t.Context(), "vimbroker.io/instance"); n > 0 || err != nil {
		c.t.Errorf("%d objects stand, %v", n, err)
	}
	eventually(c.t, "every lease has ended", func(ctx context.Context) error {
		for l, err := range c.any().AllLeases(ctx, client.LeaseQuery{PageSize: 1000}) {
			if err != nil {
				return err
			}
			if l.State != "revoked" {
				return fmt.Errorf("lease %s for %s is %s (%s, %s)", l.ID, l.Purpose, l.State, l.Reason, l.LastError)
			}
		}
		return nil
	})
	if left := c.cluster.Run(c.t, "", "get", "serviceaccounts", "-A", "-o", "name", "-l", "vimbroker.io/lease,vimbroker.io/vim="+vim); left != "" {
		c.t.Errorf("accounts of leases are left: %s", left)
	}
	for i, err := range c.any().AllVNFs(c.t.Context()) { // of requests whose answer was lost
		if err != nil || i.State != "NOT_INSTANTIATED" {
			c.t.Errorf("instance %s is %s, %v", i.ID, i.State, err)
		}
	}
}
