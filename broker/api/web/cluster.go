package web

import (
	"github.com/vimbroker/vimbroker/broker/onboard"
)

var clusterStates = Marked(map[onboard.State]Mark{
	onboard.StateWaiting: Idle, onboard.StateRegistering: Idle, onboard.StateRegistered: Good,
	onboard.StateQuarantined: Bad, onboard.StateRetiring: Warn, onboard.StateRetired: Idle,
})

func (s *server) clusters() Room {
	return Room{
		Nav: "Clusters", Path: "clusters",
		Addresses: []Address{{Path: "/clusters", Show: s.listClusters}, {Path: "/clusters/{id}", Show: Page(s.Clusters.Cluster, "cluster")}},
		Doings: []Doing{{
			Path: "/managements/{id}/release", Ask: Page(s.Clusters.Management, "release cluster"),
			Do: Act(s.Clusters.Release, func(m onboard.Management) string { return Find("clusters", "management", m.VIM) }),
		}},
	}
}

func (s *server) listClusters(v *Visit) (Screen, error) {
	list, err := Found(s.Clusters.Clusters(v.Context(), v.Principal, onboard.ClusterQuery{
		Management: v.Get("management"), Namespace: v.Get("namespace"), Name: v.Get("name"), State: onboard.State(v.Get("state")), Page: v.Page(),
	}))
	if err != nil {
		return Screen{}, err
	}
	view := Listing(v, "clusters", "Clusters", list, Field{Name: "name", Label: "Name"}, Field{Name: "namespace", Label: "Namespace"},
		Field{Name: "management", Label: "Management cluster"}, Field{Name: "state", Label: "State", Options: options(clusterStates)})
	view.Of, err = s.Clusters.Managements(v.Context(), v.Principal)
	return view, err
}
