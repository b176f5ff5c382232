package bench

import (
	"fmt"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/vimbroker/vimbroker/broker/api/client"
	v1 "github.com/vimbroker/vimbroker/broker/api/v1"
	"github.com/vimbroker/vimbroker/broker/secret"
	"github.com/vimbroker/vimbroker/test/fakekube"
	"github.com/vimbroker/vimbroker/test/real"
	"github.com/vimbroker/vimbroker/test/story"
)

const (
	// readyAtOnce is how many clusters of one management cluster become ready at once; realAmong
	// of them are real API servers.
	readyAtOnce  = 1000
	realAmong    = 3
	onboardGoal  = 60 * time.Second
	onboardLimit = 150 * time.Second
	// restartRest is how long requests are counted for once the program watches again.
	restartRest = 15 * time.Second
	// tenant is the namespace of the management cluster that is watched.
	tenant = "tenant"
)

// nursery is the program, and beside it a management cluster that it follows. That is a fake in
// this process, and so are its clusters but for a few: each has an identity and a CA of its own.
type nursery struct {
	*client.Client
	b       *testing.B
	hub     *fakekube.Server
	program *story.Broker
	bin     string
	home    string
	ready   map[string]time.Time // since when, by the cluster's name
}

// newNursery starts the program with a management cluster that it has begun to follow.
func newNursery(b *testing.B, p *program) *nursery {
	b.Helper()
	n := &nursery{
		b: b, hub: fakekube.New(b, fakekube.Options{ClusterAPI: []string{"v1beta2"}}), bin: p.binary(b), home: b.TempDir(),
		ready: map[string]time.Time{},
	}
	n.serve()
	n.hub.PutCluster(fakekube.Cluster{Namespace: tenant, Name: "first"}) // whose namespace must be there
	if _, err := n.RegisterVIM(b.Context(), v1.Registration{Name: "hub", Kubeconfig: secret.NewText(n.hub.Kubeconfig())}, ""); err != nil {
		b.Fatal(err)
	}
	if _, err := n.EnableManagementCluster(b.Context(), v1.ManagementClusterRequest{
		VIM: "hub", ClusterSettings: v1.ClusterSettings{Namespaces: []string{tenant}, Projects: map[string]string{"": "default"}},
	}); err != nil {
		b.Fatal(err)
	}
	n.await("waiting", 1) // it watches
	return n
}

// serve starts the program, on what the one before has stored.
func (n *nursery) serve() {
	n.b.Helper()
	data := filepath.Join(n.home, "data")
	var err error
	if n.program, err = serveIn(n.bin, n.home, data); err != nil {
		n.b.Fatal(err)
	}
	n.b.Cleanup(n.program.Kill)
	token := devToken(n.b, data)
	if n.Client, err = client.New(client.Options{Addr: n.program.URL, Token: secret.NewText(token)}); err != nil {
		n.b.Fatal(err)
	}
}

// restarted kills the program and starts it again, and says how long it takes until it watches, from
// the kill.
func (n *nursery) restarted() time.Duration {
	n.b.Helper()
	killed := time.Now()
	n.program.Kill()
	n.serve()
	for {
		m, err := n.ManagementCluster(n.b.Context(), "hub")
		switch {
		case err != nil:
			n.b.Fatal(err)
		case m.WatchedAt.After(killed):
			return m.WatchedAt.Sub(killed)
		case time.Since(killed) > onboardLimit:
			n.b.Fatalf("it does not watch again after %v: %s", onboardLimit, m.Trouble)
		}
		time.Sleep(50 * time.Millisecond)
	}
}

// grow makes a cluster that is ready, with its secret.
func (n *nursery) grow(name, kubeconfig string) {
	n.ready[name] = time.Now()
	n.hub.PutCluster(fakekube.Cluster{Namespace: tenant, Name: name, Ready: true, Kubeconfig: kubeconfig})
}

// in are the clusters in a state.
func (n *nursery) in(state string) (all []v1.WorkloadCluster) {
	n.b.Helper()
	for w, err := range n.AllClusters(n.b.Context(), client.ClusterQuery{State: state}) {
		if err != nil {
			n.b.Fatal(err)
		}
		all = append(all, w)
	}
	return all
}

// await returns when so many are in a state, or with those that are when the limit is over.
func (n *nursery) await(state string, many int) (all []v1.WorkloadCluster) {
	n.b.Helper()
	for began := time.Now(); len(all) < many && time.Since(began) < onboardLimit; time.Sleep(250 * time.Millisecond) {
		all = n.in(state)
	}
	return all
}

// took says how long each of them took from ready to registered.
func (n *nursery) took(registered []v1.WorkloadCluster) (each sample) {
	for _, w := range registered {
		each = append(each, w.RegisteredAt.Sub(n.ready[w.Name]))
	}
	return each
}

// onboardAtOnce measures how long it takes until clusters that become ready all at once
// are VIMs.
func onboardAtOnce(b *testing.B, p *program) *figure {
	b.Helper()
	kubeconfigs := make([]string, readyAtOnce)
	var fakes []*fakekube.Server
	isReal := map[string]bool{}
	for i := range kubeconfigs {
		if i%(readyAtOnce/realAmong) == 0 && len(isReal) < realAmong {
			isReal[atOnceName(i)] = true
			kubeconfigs[i] = real.OwnKubernetes(b).NewKubeconfig(b)
			continue
		}
		fakes = append(fakes, fakekube.New(b, fakekube.Options{}))
		kubeconfigs[i] = fakes[len(fakes)-1].Kubeconfig()
	}
	n := newNursery(b, p)
	defer func() { n.program.Kill() }()
	began := time.Now()
	for i, kubeconfig := range kubeconfigs {
		n.grow(atOnceName(i), kubeconfig)
	}
	all := n.await("registered", readyAtOnce)
	if len(all) == 0 {
		b.Fatal("no cluster is registered")
	}
	last := began
	for _, w := range all {
		if w.RegisteredAt.After(last) {
			last = w.RegisteredAt
		}
	}
	memory, err := resident(n.program.PID())
	if err != nil {
		b.Fatal(err)
	}
	f := &figure{Title: fmt.Sprintf("%d clusters of one management cluster that become ready at once, %d of them real API servers", readyAtOnce, realAmong)}
	took := last.Sub(began)
	if len(all) < readyAtOnce {
		took = onboardLimit // at least
	}
	onReal := slices.DeleteFunc(slices.Clone(all), func(w v1.WorkloadCluster) bool { return !isReal[w.Name] })
	f.Rows = append(f.Rows,
		row{What: "until all are VIMs", N: 1, P50: millis(took)}.medianGoal(onboardGoal),
		row{What: "VIMs then", N: 1, Value: float64(len(all))},
		timed("from ready to registered", n.took(all)),
		timed("from ready to registered, real API servers", n.took(onReal)),
		row{What: "resident memory then", N: 1, Value: memory, Unit: "MB"},
	)
	asked := func() (all int) {
		for _, k := range fakes {
			all += len(k.Requests())
		}
		return all
	}
	time.Sleep(restartRest) // what registrations leave to do is done
	asked()
	watched := n.restarted()
	time.Sleep(restartRest)
	f.Rows = append(f.Rows,
		row{What: "killed: until they are watched again", N: 1, P50: millis(watched)},
		row{What: fmt.Sprintf("killed: requests to the fakes until %v later", restartRest), N: len(fakes), Value: float64(asked())},
		row{What: "killed: processor time until then", N: 1, Value: spent(b, n.program.PID()), Unit: "ms"},
	)
	return f
}

func atOnceName(i int) string { return fmt.Sprintf("c%04d", i) }
