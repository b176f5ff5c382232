package real

import (
	"context"
	"errors"
	"path/filepath"
	"strconv"
	"sync"
	"syscall"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	coreclient "k8s.io/client-go/kubernetes/typed/core/v1"
	rbacclient "k8s.io/client-go/kubernetes/typed/rbac/v1"
	"k8s.io/client-go/rest"

	"github.com/vimbroker/vimbroker/test/process"
	"github.com/vimbroker/vimbroker/test/real/pki"
)

const (
	// MaxTokenTTL is the most that a cluster's tokens last, whatever is asked.
	MaxTokenTTL = 24 * time.Hour
)

// Cluster is a running Kubernetes without nodes, unless they are asked for: etcd, API
// server, controller manager. Its methods are safe for concurrent use, but Restart, Pause and Stop
// disturb everyone who uses it.
type Cluster struct {
	// Endpoint is the API server's URL, CAPEM the bundle that it is known by.
	Endpoint string
	CAPEM    string
	// AdminCert and AdminKey (PEM) are a client certificate of system:masters
	// that lasts a year.
	AdminCert, AdminKey string
	// Kubeconfig is the path of a kubeconfig (0600) with that certificate inline.
	Kubeconfig string
	// Kubectl is the path of a kubectl of the same version.
	Kubectl string
	// Dir is where everything of the cluster lies, logs included.
	Dir string

	programs string
	port     int
	ca       *pki.CA
	proxyCA  *pki.CA // signs whoever may say "X-Remote-User"
	etcd     *process.Process
	api      *process.Process
	manager  *process.Process
	args     []string // of the API server, for Restart
	simulate sync.Mutex
	nodes    *Nodes // guarded by simulate
}

// StartKubernetes starts a cluster of one's own that keeps everything in dir,
// which must exist. The caller stops it. It fails with the end of the log of
// whichever program did not start. Its etcd does not wait for the disk.
func StartKubernetes(ctx context.Context, dir string) (*Cluster, error) {
	return startKubernetes(ctx, dir, "--unsafe-no-fsync")
}

func startKubernetes(ctx context.Context, dir string, etcdArgs ...string) (*Cluster, error) {
	programs, err := kubeDir()
	if err != nil {
		return nil, err
	}
	var c *Cluster
	return c, process.OnFreePorts(ctx, 4, dir, func(home string, ports []int) error {
		c = &Cluster{programs: programs, Dir: home, Kubectl: filepath.Join(programs, "kubectl")}
		err := c.start(ctx, ports, etcdArgs)
		if err != nil {
			c.Stop()
		}
		return err
	})
}

func (c *Cluster) start(ctx context.Context, ports []int, etcdArgs []string) error {
	err := c.writeFiles(ports[0])
	if err != nil {
		return err
	}
	client, peer := "http://127.0.0.1:"+strconv.Itoa(ports[1]), "http://127.0.0.1:"+strconv.Itoa(ports[2])
	c.etcd, err = start(c.Dir, filepath.Join(c.programs, "etcd"), append(etcdArgs,
		"--name=test", "--data-dir="+c.file("etcd"), "--log-level=warn",
		"--listen-client-urls="+client, "--advertise-client-urls="+client,
		"--listen-peer-urls="+peer, "--initial-advertise-peer-urls="+peer, "--initial-cluster=test="+peer)...)
	if err != nil {
		return err
	}
	c.args = []string{
		"--etcd-servers=" + client, "--bind-address=127.0.0.1", "--advertise-address=127.0.0.1", "--secure-port=" + strconv.Itoa(c.port),
		"--tls-cert-file=" + c.file("server.crt"), "--tls-private-key-file=" + c.file("server.key"), "--client-ca-file=" + c.file("ca.crt"),
		"--service-account-key-file=" + c.file("sa.pub"), "--service-account-signing-key-file=" + c.file("sa.key"),
		"--service-account-issuer=https://kubernetes.default.svc.cluster.local",
		"--service-account-max-token-expiration=" + MaxTokenTTL.String(),
		"--requestheader-client-ca-file=" + c.file("proxy-ca.crt"), "--requestheader-allowed-names=" + proxyName,
		"--requestheader-username-headers=X-Remote-User", "--requestheader-group-headers=X-Remote-Group",
		"--requestheader-extra-headers-prefix=X-Remote-Extra-",
		"--authorization-mode=RBAC", "--service-cluster-ip-range=10.96.0.0/16", "--endpoint-reconciler-type=none",
		"--profiling=false",
	}
	if err := c.startAPI(ctx); err != nil {
		return err
	}
	c.manager, err = start(c.Dir, filepath.Join(c.programs, "kube-controller-manager"),
		"--kubeconfig="+c.Kubeconfig, "--bind-address=127.0.0.1", "--secure-port="+strconv.Itoa(ports[3]), "--leader-elect=false",
		"--service-account-private-key-file="+c.file("sa.key"), "--root-ca-file="+c.file("ca.crt"),
		"--cluster-signing-cert-file="+c.file("ca.crt"), "--cluster-signing-key-file="+c.file("ca.key"),
		"--use-service-account-credentials", "--profiling=false")
	if err != nil {
		return err
	}
	return c.manager.Await(ctx, c.rolesReady)
}

// startAPI starts the API server, and returns when it is ready.
func (c *Cluster) startAPI(ctx context.Context) error {
	var err error
	if c.api, err = start(c.Dir, filepath.Join(c.programs, "kube-apiserver"), c.args...); err != nil {
		return err
	}
	return c.api.Await(ctx, func(ctx context.Context) error {
		core, err := coreclient.NewForConfig(c.Config())
		if err != nil {
			return err
		}
		ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
		defer cancel()
		return core.RESTClient().Get().AbsPath("/readyz").Do(ctx).Error()
	})
}

// rolesReady reports whether the controller manager works: it fills the roles
// that are aggregated, and gives each namespace its service account.
func (c *Cluster) rolesReady(ctx context.Context) error {
	rbac, err := rbacclient.NewForConfig(c.Config())
	if err != nil {
		return err
	}
	core, err := coreclient.NewForConfig(c.Config())
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	for _, name := range []string{"view", "edit", "admin"} {
		role, err := rbac.ClusterRoles().Get(ctx, name, metav1.GetOptions{})
		if err != nil {
			return err
		}
		if len(role.Rules) == 0 {
			return errors.New("cluster role " + name + " is not aggregated yet")
		}
	}
	_, err = core.ServiceAccounts("default").Get(ctx, "default", metav1.GetOptions{})
	return err
}

// Config is a client configuration with the administrator's certificate and no
// rate limit of its own.
func (c *Cluster) Config() *rest.Config {
	return &rest.Config{Host: c.Endpoint, QPS: -1, TLSClientConfig: rest.TLSClientConfig{
		CAData: []byte(c.CAPEM), CertData: []byte(c.AdminCert), KeyData: []byte(c.AdminKey),
	}}
}

// Restart kills the API server and starts it again at the same address; what it
// kept is still there.
func (c *Cluster) Restart(t testing.TB) {
	t.Helper()
	c.api.Kill()
	if err := c.startAPI(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// Pause stops the API server in its tracks: connections are accepted by the
// kernel, and nothing answers. The test's end resumes it.
func (c *Cluster) Pause(t testing.TB) {
	t.Helper()
	if err := c.api.Pause(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Resume(t) })
}

// Resume ends a Pause.
func (c *Cluster) Resume(t testing.TB) {
	t.Helper()
	if err := c.api.Signal(syscall.SIGCONT); err != nil {
		t.Error(err)
	}
}

// Stop ends the cluster, at once: nothing in it is worth a graceful end. It may be
// called twice.
func (c *Cluster) Stop() {
	c.simulate.Lock()
	if c.nodes != nil {
		c.nodes.Stop()
	}
	c.simulate.Unlock()
	for _, p := range []*process.Process{c.manager, c.api, c.etcd} {
		if p != nil {
			p.Kill()
		}
	}
}

func (c *Cluster) file(name string) string { return filepath.Join(c.Dir, name) }
