package onboard_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/broker/onboard"
	"github.com/vimbroker/vimbroker/policy/audit"
)

// claims has a cluster's API server say that it is another system.
func (b *bench) claims(name, as string) {
	b.t.Helper()
	uid := types.UID(b.kube(as).Identity())
	if !b.kube(name).Update("namespaces", "", "kube-system", func(o metav1.Object) { o.SetUID(uid) }) {
		b.t.Fatal("there is no kube-system")
	}
}

// events are those of a cluster, oldest first.
func (b *bench) events(cluster string) (all []onboard.ClusterEvent) {
	b.t.Helper()
	entries, err := b.store.Entries(b.t.Context(), audit.Query{Limit: 1000})
	if err != nil {
		b.t.Fatal(err)
	}
	slices.SortFunc(entries, func(a, b audit.Entry) int { return int(a.Seq - b.Seq) })
	for _, e := range entries {
		if told, ok := onboard.EventOf(e); ok && told.Cluster == cluster {
			all = append(all, told)
		}
	}
	return all
}

// TestAClaimExcludesNoOtherProject: every reader of a system can repeat its identity. Whoever has a server of his own say
// that it is another project's system is no obstacle to that project, in whichever order they come; administrators see both.
func TestAClaimExcludesNoOtherProject(t *testing.T) {
	for _, first := range []string{"impostor", "real"} {
		t.Run(first+" first", func(t *testing.T) {
			b := newBench(t)
			b.claims("b/fake", "a/edge")
			both := [][2]string{{"b", "fake"}, {"a", "edge"}}
			if first == "real" {
				slices.Reverse(both)
			}
			for _, at := range both {
				b.cluster(at[0], at[1])
				b.look(at[0], at[1])
				b.want(at[0], at[1], onboard.StateRegistered, "")
			}
			edge, fake := b.row("a", "edge"), b.row("b", "fake")
			if edge.System != fake.System {
				t.Fatal("the impostor claims another system")
			}
			shown, err := b.Cluster(t.Context(), root, edge.ID)
			if err != nil || len(shown.SameSystem) != 1 || shown.SameSystem[0].ID != fake.ID {
				t.Errorf("an administrator is shown %v, %v beside the cluster", shown.SameSystem, err)
			}
			if shown, err = b.Cluster(t.Context(), alice, edge.ID); err != nil || len(shown.SameSystem) != 0 {
				t.Errorf("a member is shown %v, %v of another project", shown.SameSystem, err)
			}
			if log := b.log.String(); !strings.Contains(log, "otherCluster="+both[0][0]+"/"+both[0][1]) {
				t.Error("the log does not name both clusters")
			}
			b.lease(alice, edge.VIM)
		})
	}
}

// TestAProvenSystemIsOneClusters: a system that shows the account of a cluster's VIM is that cluster's, also for another
// project, and is looked at again at once when the cluster has gone. It is told once.
func TestAProvenSystemIsOneClusters(t *testing.T) {
	b := newBench(t)
	b.cluster("a", "edge")
	b.look("a", "edge")
	edge := b.want("a", "edge", onboard.StateRegistered, "")
	thief := b.cluster("b", "thief")
	b.secret(thief, b.kube("a/edge").Kubeconfig())
	for range 3 {
		b.look("b", "thief")
		b.clock.Add(6 * time.Minute)
	}
	c := b.want("b", "thief", onboard.StateQuarantined, onboard.ReasonSystemTaken)
	if told := b.events("b/thief"); len(told) != 1 || told[0].Kind != onboard.EventQuarantined {
		t.Errorf("events %v, want one", told)
	}
	if strings.Contains(c.Message, "edge") {
		t.Errorf("a cluster of another project is named: %s", c.Message)
	}
	shown, err := b.Cluster(t.Context(), root, c.ID)
	if err != nil || len(shown.SameSystem) != 1 || shown.SameSystem[0].ID != edge.ID {
		t.Errorf("an administrator is shown %v, %v beside the cluster", shown.SameSystem, err)
	}
	if shown, err = b.Cluster(t.Context(), bob, c.ID); err != nil || len(shown.SameSystem) != 0 {
		t.Errorf("a member is shown %v, %v of another project", shown.SameSystem, err)
	}
	self := b.cluster("b", "self")
	b.secret(self, b.kube("hub").Kubeconfig())
	for range 3 {
		b.look("b", "self")
		b.clock.Add(6 * time.Minute)
	}
	if told := b.events("b/self"); len(told) != 1 {
		t.Errorf("events %v of a cluster that stays refused, want one", told)
	}
	twin := b.cluster("a", "twin")
	b.secret(twin, b.kube("a/edge").Kubeconfig())
	b.look("a", "twin")
	if c := b.want("a", "twin", onboard.StateQuarantined, onboard.ReasonSystemTaken); !strings.Contains(c.Message, "a/edge") {
		t.Errorf("a cluster of the project is not named: %s", c.Message)
	}
	b.source.drop("a", "twin")
	b.gone("a", "twin")
	b.source.drop("a", "edge")
	b.gone("a", "edge")
	b.want("a", "edge", onboard.StateRetired, "")
	for range 9 { // what is due already
		b.w.Look(t.Context())
	}
	b.want("b", "thief", onboard.StateRegistered, "")
}

// TestAClaimThatHasGoneIsLookedAtAtOnce, whichever management cluster follows it.
func TestAClaimThatHasGoneIsLookedAtAtOnce(t *testing.T) {
	b := newBench(t)
	b.cluster("a", "edge")
	b.look("a", "edge")
	edge := b.want("a", "edge", onboard.StateRegistered, "")
	thief := b.cluster("b", "thief")
	b.secret(thief, b.kube("a/edge").Kubeconfig())
	b.look("b", "thief")
	b.want("b", "thief", onboard.StateQuarantined, onboard.ReasonSystemTaken)
	for range 9 { // nothing is due
		b.w.Look(t.Context())
	}
	e := audit.Entry{Time: b.clock.Now(), Principal: "test", Action: "cluster:follow", Outcome: audit.Done}
	for _, to := range []onboard.State{onboard.StateRetiring, onboard.StateRetired} {
		if _, err := b.store.UpdateCluster(t.Context(), edge.ID, func(c *onboard.Cluster) error { c.State = to; return nil }, e); err != nil {
			t.Fatal(err)
		}
	}
	if err := b.w.Refresh(t.Context()); err != nil {
		t.Fatal(err)
	}
	for range 9 {
		b.w.Look(t.Context())
	}
	b.want("b", "thief", onboard.StateRegistered, "")
}

// TestAVIMWithoutAnAccountProvesNothing: its system is a claim alone.
func TestAVIMWithoutAnAccountProvesNothing(t *testing.T) {
	b := newBench(t, func(m *onboard.Settings) { m.Account = onboard.AccountNone })
	b.cluster("a", "edge")
	b.look("a", "edge")
	other := b.cluster("b", "other")
	b.secret(other, b.kube("a/edge").Kubeconfig())
	b.look("b", "other")
	b.want("b", "other", onboard.StateRegistered, "")
	if got := len(b.vims()); got != 2 {
		t.Errorf("%d VIMs, want 2", got)
	}
}

// TestTheTieOfAVIMToItsClusterIsOurs: nobody takes it off, adds another, or changes it.
func TestTheTieOfAVIMToItsClusterIsOurs(t *testing.T) {
	b := newBench(t)
	b.cluster("a", "edge")
	b.look("a", "edge")
	edge := b.want("a", "edge", onboard.StateRegistered, "")
	other := "other"
	for key := range b.vim(edge.VIM).Labels {
		for _, value := range []*string{nil, &other} {
			_, err := b.UpdateVIM(t.Context(), root, edge.VIM, broker.Change{Labels: map[string]*string{key: value}})
			wantKind(t, "changing label "+key, err, broker.ErrDenied)
		}
	}
	if _, err := b.UpdateVIM(t.Context(), root, b.hub.ID, broker.Change{Labels: map[string]*string{broker.LabelCluster: &other}}); err == nil {
		t.Error("a VIM was tied to a cluster by hand")
	}
	mine := "yes"
	if _, err := b.UpdateVIM(t.Context(), root, edge.VIM, broker.Change{Labels: map[string]*string{"site": &mine}}); err != nil {
		t.Error(err)
	}
	b.source.drop("a", "edge")
	b.gone("a", "edge")
	b.want("a", "edge", onboard.StateRetired, "")
}
