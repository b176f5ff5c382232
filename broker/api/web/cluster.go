package web

import (
	"strings"
	"time"

	"github.com/vimbroker/vimbroker/broker/onboard"
)

var clusterStates = map[onboard.State]Mark{
	onboard.StateWaiting: Idle, onboard.StateRegistering: Idle, onboard.StateRegistered: Good,
	onboard.StateQuarantined: Bad, onboard.StateRetiring: Warn, onboard.StateRetired: Idle,
}

func (s *server) clusters() Room {
	return Room{
		Nav: "Clusters", Path: "clusters",
		Addresses: []Address{{Path: "/clusters", Show: s.listClusters}, {Path: "/clusters/{id}", Show: One(s.Clusters.Cluster, showCluster)}},
		Doings: []Doing{{
			Path: "/managements/{id}/release", Ask: One(s.Clusters.Management, askRelease),
			Do: Act(s.Clusters.Release, func(m onboard.Management) string { return Find("clusters", "management", m.VIM) }),
		}},
	}
}

func (s *server) listClusters(v *Visit) (Screen, error) {
	found, next, err := s.Clusters.Clusters(v.Context(), v.Principal, onboard.ClusterQuery{
		Management: v.Get("management"), Namespace: v.Get("namespace"), Name: v.Get("name"), State: onboard.State(v.Get("state")), Page: v.Page(),
	})
	if err != nil {
		return Screen{}, err
	}
	t := Table([]string{"Cluster", "State", "In the way", "VIM", "Project", "Credential ends"}, v.Next(next),
		"There is no such cluster. Clusters come from management clusters: vimbroker management-cluster enable VIM --namespace NAMESPACE",
		found, func(c onboard.View) []Cell {
			return []Cell{
				To(c.Namespace+"/"+c.Name, "clusters", c.ID), State(c.State, clusterStates), Say(c.Message), To(c.VIMName, "vims", c.VIM),
				Say(c.Project), On(c.CredentialExpiresAt),
			}
		})
	view := Listing(v, "Clusters", t, Field{Name: "name", Label: "Name"}, Field{Name: "namespace", Label: "Namespace"},
		Field{Name: "management", Label: "Management cluster"}, Field{Name: "state", Label: "State", Options: options(clusterStates)})
	all, err := s.Clusters.Managements(v.Context(), v.Principal)
	view.Blocks = append(view.Blocks, Block{Title: "Management clusters", Table: Table(
		[]string{"VIM", "State", "Namespaces", "Watched", "Trouble", "Breaker"}, "",
		"No VIM that you may see is a management cluster. Make it one: vimbroker management-cluster enable VIM --namespace NAMESPACE",
		all, managementRow,
	)})
	return view, err
}

func managementRow(m onboard.ManagementView) []Cell {
	how, breaker := Cell{Text: "followed", Mark: Good}, Cell{}
	if m.Trouble != "" {
		how = Cell{Text: "not followed", Mark: Bad}
	}
	if !m.HeldAt.IsZero() {
		how, breaker = Cell{Text: "held", Mark: Bad}, Cell{Text: "Release", Href: Here("managements", m.VIM, "release")}
	}
	return []Cell{To(m.Name, "vims", m.VIM), how, Say(strings.Join(m.Namespaces, ", ")), On(m.WatchedAt), Say(m.Trouble), breaker}
}

func showCluster(_ *Visit, c onboard.View) (Screen, error) {
	facts := []Fact{
		Of("In the way", c.Message), Of("Reason", c.Reason), Of("Project", c.Project), Code("UID", c.UID), Code("System", c.System),
		Are("Management cluster", To(Short(c.Management), "vims", c.Management)), At("Credential ends", c.CredentialExpiresAt),
		Code("Id", c.ID), Are("VIM", To(c.VIMName, "vims", c.VIM)),
	}
	for _, other := range c.SameSystem {
		facts = append(facts, Are("Same system as", To(other.Namespace+"/"+other.Name, "clusters", other.ID)))
	}
	steps := []Step{{Cell: On(c.CreatedAt), Mark: Good, Note: "seen"}}
	for _, mile := range []struct {
		at          time.Time
		past, still string
	}{
		{c.ReadyAt, "its control plane is up", "its control plane is not up yet"},
		{c.RegisteredAt, "registered as a VIM", "not registered yet"},
	} {
		if mile.at.IsZero() {
			steps = append(steps, Step{Cell: Say(mile.still), Mark: Idle})
			continue
		}
		steps = append(steps, Step{Cell: On(mile.at), Mark: Good, Note: mile.past})
	}
	if !c.GoneAt.IsZero() {
		steps = append(steps, Step{Cell: On(c.GoneAt), Mark: Warn, Note: "gone"})
	}
	if c.Message != "" {
		steps = append(steps, Step{Cell: Say(c.State), Mark: clusterStates[c.State], Note: c.Message})
	}
	return Screen{
		Kind: "Cluster of Cluster API", Title: c.Namespace + "/" + c.Name, State: State(c.State, clusterStates),
		Blocks: []Block{{Title: "Facts", Facts: facts}, {Title: "From seen to registered", Steps: steps}},
	}, nil
}

func askRelease(_ *Visit, m onboard.ManagementView) (Screen, error) {
	return Screen{
		Kind: "Management cluster", Title: "Release " + m.Name + "?",
		Blocks: []Block{{
			Note: "Too many of its clusters were gone at the same time, so that none is let go of. " +
				"Once it is released, the VIMs of all that are gone are drained and deleted.",
			Facts: []Fact{
				At("Held since", m.HeldAt), Of("Namespaces", strings.Join(m.Namespaces, ", ")), Are("VIM", To(m.Name, "vims", m.VIM)),
			},
		}},
		Ask: &Question{Button: "Release", Back: Here("clusters")},
	}, nil
}
