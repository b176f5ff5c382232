package fakekube_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/broker/onboard"
	"github.com/vimbroker/vimbroker/broker/secret"
	"github.com/vimbroker/vimbroker/drivers/clusterapi"
	"github.com/vimbroker/vimbroker/policy/egress"
	"github.com/vimbroker/vimbroker/test/fakekube"
)

// TestManagementCluster holds the fake to what the driver of Cluster API expects of a real
// management cluster.
func TestManagementCluster(t *testing.T) {
	s := fakekube.New(t, fakekube.Options{ClusterAPI: []string{"v1beta1"}})
	rules := egress.Default()
	rules.AllowLoopback = true
	access := onboard.ManagementAccess{VIM: "hub", Endpoint: s.Endpoint, CACert: s.CA, Token: secret.NewText(s.AdminToken), Egress: rules}
	first := s.PutCluster(fakekube.Cluster{Namespace: "a", Name: "one", Ready: true, Kubeconfig: "k1"})
	done := make(chan error, 1)
	seen := make(chan string, 64)
	shown := map[string]bool{}
	want := func(line string) {
		t.Helper()
		patience := time.After(time.Minute)
		for !shown[line] {
			select {
			case got := <-seen:
				shown[got] = true
			case err := <-done:
				t.Fatal(err)
			case <-patience:
				t.Fatalf("not shown: %s", line)
			}
		}
	}
	d := clusterapi.New()
	t.Cleanup(d.Close)
	ctx, cancel := context.WithCancel(t.Context())
	defer func() { cancel(); <-done }()
	go func() {
		defer close(done)
		done <- d.Watch(ctx, func() onboard.ManagementAccess { return access }, "a", onboard.Sight{
			Clusters: func(all []onboard.Seen) { seen <- fmt.Sprint("clusters ", len(all)) },
			Cluster: func(s onboard.Seen) {
				seen <- fmt.Sprintf("cluster %s ready=%t paused=%t", s.Name, s.Ready, s.Paused)
			},
			Gone:    func(_, name string) { seen <- "gone " + name },
			Secrets: func(all []onboard.SecretVersion) { seen <- fmt.Sprint("secrets ", len(all)) },
			Secret:  func(v onboard.SecretVersion) { seen <- fmt.Sprintf("secret %s gone=%t", v.Name, v.Version == "") },
		})
	}()
	want("clusters 1")
	want("secrets 1")
	s.PutCluster(fakekube.Cluster{Namespace: "a", Name: "two", Ready: true, Paused: true})
	want("cluster two ready=true paused=true")
	s.PutCluster(fakekube.Cluster{Namespace: "a", Name: "two", Kubeconfig: "k2"})
	want("secret two-kubeconfig gone=false")
	s.DropCluster("a", "two")
	want("gone two")
	if got, err := d.Cluster(ctx, access, "a", "one"); err != nil || got.UID != first || !got.Ready {
		t.Errorf("Cluster() = %v, %v", got, err)
	}
	if got, err := d.Secret(ctx, access, "a", "one-kubeconfig", "value"); err != nil || got.Value.Reveal() != "k1" || got.Owners[0].UID != first {
		t.Errorf("Secret() = %v, %v", got, err)
	}
	if _, err := d.Cluster(ctx, access, "a", "two"); !errors.Is(err, broker.ErrNotFound) {
		t.Errorf("Cluster() of none = %v", err)
	}
	s.ServeClusterAPI()
	if _, err := d.Cluster(ctx, access, "a", "one"); !errors.Is(err, broker.ErrUnsupported) {
		t.Errorf("Cluster() without the CRD = %v", err)
	}
}
