package onboard_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/vimbroker/vimbroker/broker/onboard"
)

// Namespaces by label: a cluster is taken while its namespace has the labels, whether they come before the cluster or after it.
func TestNamespacesByLabel(t *testing.T) {
	yes := map[string]string{"tenant": "yes"}
	b := newBench(t, func(m *onboard.Settings) {
		m.Namespaces, m.NamespaceSelector, m.Projects = nil, yes, map[string]string{"": "north", "b": "south"}
	})
	b.cluster("a", "edge")
	if b.look("a", "edge"); len(b.rows("a", "edge")) != 0 {
		t.Error("a cluster is taken before it is known that its namespace is selected")
	}
	b.source.label("a", map[string]string{"tenant": "no"})
	if b.look("a", "edge"); len(b.rows("a", "edge")) != 0 {
		t.Error("a cluster is taken of a namespace that has another label")
	}
	b.source.label("a", yes)
	b.source.label("b", map[string]string{"tenant": "yes", "other": "x"})
	b.cluster("b", "edge")
	for namespace, project := range map[string]string{"a": "north", "b": "south"} {
		b.look(namespace, "edge")
		if c := b.want(namespace, "edge", onboard.StateRegistered, ""); c.Project != project {
			t.Errorf("the cluster of %s is of project %s, want %s", namespace, c.Project, project)
		}
	}
	vim := b.row("a", "edge").VIM
	b.source.label("a", map[string]string{})
	b.look("a", "edge")
	b.want("a", "edge", onboard.StateRegistered, onboard.ReasonNotFollowed)
	b.source.drop("a", "edge")
	b.look("a", "edge")
	b.clock.Add(time.Minute)
	b.look("a", "edge")
	if b.want("a", "edge", onboard.StateRegistered, onboard.ReasonNotFollowed); b.vim(vim).State != "registered" {
		t.Error("the VIM of a cluster that is not followed is gone")
	}
	b.source.label("a", yes)
	b.cluster("a", "edge")
	b.look("a", "edge")
	b.want("a", "edge", onboard.StateRegistered, "")
}

// A namespace that is deleted takes its clusters with it: their VIMs go, though it has no label any more.
func TestASelectedNamespaceThatIsGone(t *testing.T) {
	yes := map[string]string{"tenant": "yes"}
	b := newBench(t, func(m *onboard.Settings) { m.Namespaces, m.NamespaceSelector = nil, yes })
	b.source.label("c", yes)
	b.cluster("c", "edge")
	b.look("c", "edge")
	b.want("c", "edge", onboard.StateRegistered, "")
	b.source.drop("c", "edge")
	b.source.label("c", nil)
	b.look("c", "edge")
	for range 4 {
		b.clock.Add(onboard.Settled)
		b.look("c", "edge")
	}
	b.want("c", "edge", onboard.StateRetired, "")
}

// The clusters of all namespaces, and those that are not followed count as gone for no one.
func TestAllNamespaces(t *testing.T) {
	b := newBench(t, func(m *onboard.Settings) { m.Namespaces = []string{onboard.AllNamespaces} })
	for n := range 3 {
		namespace := fmt.Sprint("n", n)
		b.cluster(namespace, "edge")
		b.look(namespace, "edge")
		b.want(namespace, "edge", onboard.StateRegistered, "")
	}
	b.source.drop("n1", "edge")
	b.look("n1", "edge")
	for range 4 {
		b.clock.Add(onboard.Settled)
		b.look("n1", "edge")
	}
	b.want("n1", "edge", onboard.StateRetired, "")
	b.want("n0", "edge", onboard.StateRegistered, "")
}

// Clusters that are not followed any more are not gone: they hold nobody's VIM.
func TestClustersNotFollowedAreNotGone(t *testing.T) {
	b := newBench(t)
	for n := range 4 {
		name := fmt.Sprint("edge", n)
		b.cluster("b", name)
		b.look("b", name)
		b.want("b", name, onboard.StateRegistered, "")
	}
	b.cluster("a", "edge")
	b.look("a", "edge")
	m := b.m
	m.Namespaces, m.Projects = []string{"a"}, map[string]string{"": "north"}
	var err error
	if b.m, err = b.Enable(t.Context(), root, "hub", m.Settings); err != nil {
		t.Fatal(err)
	}
	for n := range 4 {
		b.source.drop("b", fmt.Sprint("edge", n))
	}
	b.source.drop("a", "edge")
	b.look("a", "edge")
	for range 4 {
		b.clock.Add(onboard.Settled)
		b.look("a", "edge")
	}
	b.want("a", "edge", onboard.StateRetired, "")
}
