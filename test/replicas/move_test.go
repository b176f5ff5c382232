package replicas

import (
	"context"
	"fmt"
	"path/filepath"
	"testing"

	"github.com/vimbroker/vimbroker/broker/api/client"
	v1 "github.com/vimbroker/vimbroker/broker/api/v1"
	"github.com/vimbroker/vimbroker/broker/secret"
	"github.com/vimbroker/vimbroker/test/fakekube"
	"github.com/vimbroker/vimbroker/test/field"
	"github.com/vimbroker/vimbroker/test/story"
)

// TestFieldKilledWhileAClusterMoves: replicas die where a cluster's VIM has just come to another management cluster, there and
// back. Another goes on: the VIM keeps its id and its lease, and one row has it.
func TestFieldKilledWhileAClusterMoves(t *testing.T) {
	field.Only(t)
	demand(t)
	mortal := filepath.Join(t.TempDir(), "vimbroker")
	if err := story.BuildAt(mortal, "-tags", "failpoints"); err != nil {
		t.Fatal(err)
	}
	f := newFleetOn(t, shared(t), footing{program: mortal})
	served := fakekube.Options{ClusterAPI: []string{"v1beta2"}}
	hubs := []*fakekube.Server{fakekube.New(t, served), fakekube.New(t, served)}
	edge := fakekube.New(t, fakekube.Options{})
	put := func(at int, uid string, paused bool) {
		hubs[at].PutCluster(fakekube.Cluster{Namespace: "tenant", Name: "edge", UID: uid, Ready: true, Paused: paused, Kubeconfig: edge.Kubeconfig()})
	}
	put(0, "u0", false)
	f.follow(hubs[0])
	works, other := f.replicas[0], f.replicas[1]
	before := works.registered("edge", 1)
	lease, err := works.IssueLease(t.Context(), v1.LeaseRequest{VIM: before.VIM, Role: "view", Format: "kubeconfig"}, "")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := works.RegisterVIM(t.Context(), v1.Registration{Name: "hub2", Kubeconfig: secret.NewText(hubs[1].Kubeconfig())}, ""); err != nil {
		t.Fatal(err)
	}
	if _, err := works.EnableManagementCluster(t.Context(), v1.ManagementClusterRequest{
		VIM: "hub2", ClusterSettings: v1.ClusterSettings{Namespaces: []string{"tenant"}, Projects: map[string]string{"": "default"}},
	}); err != nil {
		t.Fatal(err)
	}
	for move := range 3 {
		from, to := move%2, (move+1)%2
		put(from, fmt.Sprint("u", move), true)
		eventually(t, "the cluster is paused", func(ctx context.Context) error {
			l, err := works.Clusters(ctx, client.ClusterQuery{Name: "edge", State: "registered"})
			if err == nil && (len(l.Items) != 1 || l.Items[0].Reason != "paused") {
				err = fmt.Errorf("it is %+v", l.Items)
			}
			return err
		})
		f.write(works.armFile(), "onboard.come-back")
		put(to, fmt.Sprint("u", move+1), false)
		hubs[from].DropCluster("tenant", "edge")
		if _, err := works.broker.Ended(patience); err != nil {
			t.Fatalf("move %d: the replica that was to die: %v", move, err)
		}
		f.write(works.armFile(), "")
		other.start()
		works, other = other, works
		hub, err := works.VIM(t.Context(), []string{"hub", "hub2"}[to])
		if err != nil {
			t.Fatal(err)
		}
		eventually(t, "the cluster is followed where it is", func(ctx context.Context) error {
			l, err := works.Clusters(ctx, client.ClusterQuery{Name: "edge", State: "registered"})
			if err == nil && (len(l.Items) != 1 || l.Items[0].ManagementCluster != hub.ID || l.Items[0].Reason != "" || l.Items[0].VIM != before.VIM) {
				err = fmt.Errorf("it is %+v", l.Items)
			}
			return err
		})
		if _, err := works.RenewLease(t.Context(), lease.ID, v1.Renewal{}); err != nil {
			t.Errorf("move %d: the lease of before is not renewed: %v", move, err)
		}
	}
	f.proveAudit()
}
