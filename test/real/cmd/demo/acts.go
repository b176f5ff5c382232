package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sync/errgroup"

	"github.com/vimbroker/vimbroker/test/real"
	"github.com/vimbroker/vimbroker/test/story"
)

// begin starts a cluster without anything on it, and a server.
func (d *demo) begin(ctx context.Context) error {
	d.say("starting a Kubernetes (etcd, API server, controllers, a simulated node) and vimbroker; everything is in %s", d.dir)
	kube := filepath.Join(d.dir, "hub")
	if err := os.Mkdir(kube, 0o700); err != nil {
		return err
	}
	var both errgroup.Group
	both.Go(func() (err error) {
		if d.hub, err = real.StartKubernetes(ctx, kube); err == nil {
			d.nodes, err = real.StartNodes(ctx, d.hub)
		}
		return err
	})
	both.Go(func() (err error) {
		d.broker, err = story.Serve(d.vimbroker, d.dir, []string{"HOME=" + d.dir}, "--dev", "--listen", "127.0.0.1:0", "--data-dir", filepath.Join(d.dir, "data"))
		return err
	})
	if err := both.Wait(); err != nil {
		return err
	}
	return d.environment()
}

// management installs Cluster API as a CNF, and has its clusters followed.
func (d *demo) management(ctx context.Context) error {
	d.say("a management cluster: Cluster API is installed as a CNF")
	if err := d.types(ctx,
		"vimbroker vim register --kubeconfig hub.kubeconfig hub",
		"docs/samples/management-cluster/package.sh capi management.csar",
		"vimbroker package upload management.csar",
		"vimbroker vnf create --vnfd management-cluster-1.14 capi",
		"kubectl create namespace capi-system",
		"vimbroker vnf instantiate capi --vim hub --namespace capi-system --wait",
	); err != nil {
		return err
	}
	d.say("nothing runs on a simulated node: the core manager runs here, as the account that the package made for it")
	kubeconfig, err := d.hub.AccountKubeconfig(ctx, "capi-system", "capi-manager")
	if err != nil {
		return err
	}
	manager := filepath.Join(d.dir, "manager")
	toys := filepath.Join(d.dir, "toys")
	for _, dir := range []string{manager, toys} {
		if err := os.Mkdir(dir, 0o700); err != nil {
			return err
		}
	}
	if d.provider, err = real.StartProvider(ctx, d.hub, toys); err != nil {
		return err
	}
	if d.manager, err = real.StartClusterAPI(ctx, d.hub, kubeconfig, manager); err != nil {
		return err
	}
	d.say("from now on, what is a Cluster in namespace tenant-a becomes a VIM")
	return d.types(ctx,
		"kubectl create namespace tenant-a",
		"vimbroker management-cluster enable hub --namespaces tenant-a --project default --copy-labels site --control-planes toycontrolplanes.controlplane.cluster.x-k8s.io",
	)
}

// cluster makes a workload cluster of a package, which becomes a VIM.
func (d *demo) cluster(ctx context.Context) error {
	d.say("a workload cluster is a CNF on the management cluster")
	if err := d.types(ctx,
		"vimbroker package upload docs/samples/workload-cluster --vnfd workload-cluster-1.0",
		"vimbroker vnf create --vnfd workload-cluster-1.0 edge",
		"vimbroker vnf instantiate edge --vim hub --namespace tenant-a --set CLUSTER=edge",
	); err != nil {
		return err
	}
	d.say("Cluster API brings it up, and it becomes a VIM: nobody does anything")
	if err := d.until(ctx, "vimbroker cluster watch", " registered "); err != nil {
		return err
	}
	return d.types(ctx, "vimbroker vnf watch edge", "vimbroker vim show tenant-a.edge", "kubectl -n tenant-a get cluster,machinedeployment,machine")
}

// cnf runs a CNF on the new VIM.
func (d *demo) cnf(ctx context.Context) error {
	d.say("a CNF runs on the new VIM")
	return d.types(ctx,
		"vimbroker package upload docs/samples/web --vnfd web-1.0",
		"vimbroker vnf create --vnfd web-1.0 web",
		"vimbroker vnf instantiate web --vim tenant-a.edge --wait",
		"vimbroker exec tenant-a.edge --role view -- kubectl get pods -o wide",
	)
}

func (d *demo) scale(ctx context.Context) error {
	d.say("both scale: the cluster by machines, the CNF by pods")
	if err := d.types(ctx,
		"vimbroker vnf scale edge --aspect workers --steps 2 --wait",
		"kubectl -n tenant-a get machines",
		"vimbroker vnf scale web --aspect web --steps 2 --wait",
		"vimbroker exec tenant-a.edge --role view -- kubectl get pods -o wide",
	); err != nil {
		return err
	}
	return d.is(ctx, "kubectl -n tenant-a get machinedeployment edge-workers -o jsonpath={.status.availableReplicas}", "3")
}

// update goes over to another package of the cluster.
func (d *demo) update(ctx context.Context) error {
	d.say("another package changes the Cluster, and its VIM follows")
	if err := d.types(ctx,
		"vimbroker package upload docs/samples/workload-cluster --vnfd workload-cluster-1.1 --version 1.1",
		"vimbroker vnf update edge --vnfd workload-cluster-1.1 --set CLUSTER=edge --set SITE=south --wait",
	); err != nil {
		return err
	}
	return d.await(ctx, "the VIM has the Cluster's label", func() (bool, error) {
		labels, err := d.asks(ctx, "vimbroker vim show tenant-a.edge -o jsonpath=.labels")
		return strings.Contains(labels, `"cluster/site":"south"`), err
	})
}

// terminate ends the CNF, and then the cluster: the VIM goes with it.
func (d *demo) terminate(ctx context.Context) error {
	before, err := d.keys()
	if err != nil {
		return err
	}
	d.say("the CNF is terminated, and then the cluster")
	if err := d.types(ctx, "vimbroker vnf terminate web --wait", "vimbroker vnf terminate edge --wait"); err != nil {
		return err
	}
	d.say("the VIM goes with its cluster")
	if err := d.until(ctx, "vimbroker cluster watch", " retired "); err != nil {
		return err
	}
	if err := d.types(ctx, "vimbroker vim list", "vimbroker lease list"); err != nil {
		return err
	}
	if err := d.is(ctx, "vimbroker vim list -o name", "hub"); err != nil {
		return err
	}
	return d.fewerKeys(ctx, before-1)
}

// trail shows who did what.
func (d *demo) trail(ctx context.Context) error {
	d.say("who did what: the broker by itself, and the caller; each effect is an intent before it and its end")
	if err := d.types(ctx,
		"vimbroker audit list --effects --limit 1000 --principal system:onboard",
		"vimbroker audit list --effects --limit 1000 --principal admin",
		"vimbroker audit verify",
	); err != nil {
		return err
	}
	for _, line := range []string{
		"vimbroker audit list --limit 1000 --principal system:onboard --action vim:register",
		"vimbroker audit list --limit 1000 --principal admin --action vnf:instantiate",
	} {
		said, err := d.asks(ctx, line+" --no-headers")
		if err != nil {
			return err
		}
		if said == "" {
			return fmt.Errorf("%s: the audit log has no entry", line)
		}
	}
	return nil
}

// end lets go of everything, and looks whether anything is left.
func (d *demo) end(ctx context.Context) error {
	d.say("the management cluster goes too")
	if err := d.types(ctx,
		"vimbroker management-cluster disable hub",
		"vimbroker vnf terminate capi --wait",
		"vimbroker vim delete hub --drain --wait",
	); err != nil {
		return err
	}
	if err := d.is(ctx, "vimbroker lease list -o name", ""); err != nil {
		return err
	}
	return d.fewerKeys(ctx, 1) // that of the audit log's own stays
}

// is fails unless a command line says this and nothing else.
func (d *demo) is(ctx context.Context, line, want string) error {
	said, err := d.asks(ctx, line)
	if err == nil && said != want {
		err = fmt.Errorf("%s: %q, want %q", line, said, want)
	}
	return err
}
