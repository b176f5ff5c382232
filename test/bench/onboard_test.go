package bench

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/vimbroker/vimbroker/broker/api/client"
	v1 "github.com/vimbroker/vimbroker/broker/api/v1"
	"github.com/vimbroker/vimbroker/broker/secret"
	"github.com/vimbroker/vimbroker/test/fakekube"
)

const (
	// readyAtOnce is how many clusters of one management cluster become ready at once.
	readyAtOnce  = 1000
	onboardGoal  = 60 * time.Second
	onboardLimit = 150 * time.Second
)

// onboardAtOnce measures how long it takes until clusters that become ready all at once
// are VIMs. Management cluster and clusters are fakes in this process, each with an
// identity and a CA of its own; the program runs beside it.
func onboardAtOnce(b *testing.B, p *program) *figure {
	b.Helper()
	hub := fakekube.New(b, fakekube.Options{ClusterAPI: []string{"v1beta2"}})
	kubes := make([]*fakekube.Server, readyAtOnce)
	for i := range kubes {
		kubes[i] = fakekube.New(b, fakekube.Options{})
	}
	home := b.TempDir()
	data := filepath.Join(home, "data")
	server, err := serveIn(p.binary(b), home, data)
	if err != nil {
		b.Fatal(err)
	}
	defer server.Kill()
	token, err := os.ReadFile(filepath.Join(data, "dev-token"))
	if err != nil {
		b.Fatal(err)
	}
	c, err := client.New(client.Options{Addr: server.URL, Token: secret.NewText(strings.TrimSpace(string(token)))})
	if err != nil {
		b.Fatal(err)
	}
	hub.PutCluster(fakekube.Cluster{Namespace: "tenant", Name: "first"}) // whose namespace must be there
	if _, err := c.RegisterVIM(b.Context(), v1.Registration{Name: "hub", Kubeconfig: secret.NewText(hub.Kubeconfig())}, ""); err != nil {
		b.Fatal(err)
	}
	if _, err := c.EnableManagementCluster(b.Context(), v1.ManagementClusterRequest{
		VIM: "hub", ClusterSettings: v1.ClusterSettings{Namespaces: []string{"tenant"}, Projects: map[string]string{"": "default"}},
	}); err != nil {
		b.Fatal(err)
	}
	registered := func(state string) (all []v1.WorkloadCluster) {
		for w, err := range c.AllClusters(b.Context(), client.ClusterQuery{State: state}) {
			if err != nil {
				b.Fatal(err)
			}
			all = append(all, w)
		}
		return all
	}
	// await returns when so many are in a state, or with those that are when the limit is over.
	await := func(state string, n int) (all []v1.WorkloadCluster) {
		for began := time.Now(); len(all) < n && time.Since(began) < onboardLimit; time.Sleep(250 * time.Millisecond) {
			all = registered(state)
		}
		return all
	}
	await("waiting", 1) // it watches
	ready := map[string]time.Time{}
	began := time.Now()
	for i, k := range kubes {
		name := fmt.Sprintf("c%04d", i)
		config := k.Kubeconfig()
		ready[name] = time.Now()
		hub.PutCluster(fakekube.Cluster{Namespace: "tenant", Name: name, Ready: true, Kubeconfig: config})
	}
	all := await("registered", readyAtOnce)
	if len(all) == 0 {
		b.Fatal("no cluster is registered")
	}
	last := began
	var each sample
	for _, w := range all {
		each = append(each, w.RegisteredAt.Sub(ready[w.Name]))
		if w.RegisteredAt.After(last) {
			last = w.RegisteredAt
		}
	}
	memory, err := resident(server.PID())
	if err != nil {
		b.Fatal(err)
	}
	f := &figure{Title: fmt.Sprintf("%d clusters of one management cluster that become ready at once", readyAtOnce)}
	took := last.Sub(began)
	if len(all) < readyAtOnce {
		took = onboardLimit // at least
	}
	f.Rows = append(f.Rows,
		row{What: "until all are VIMs", N: 1, P50: millis(took)}.medianGoal(onboardGoal),
		row{What: "VIMs then", N: 1, Value: float64(len(all))},
		timed("from ready to registered", each),
		row{What: "resident memory then", N: 1, Value: memory, Unit: "MB"},
	)
	return f
}
