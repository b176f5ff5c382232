package web

import (
	"maps"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/vimbroker/vimbroker/broker/onboard"
)

var clusterStates = map[string]Mark{
	string(onboard.StateWaiting): Idle, string(onboard.StateRegistering): Idle, string(onboard.StateRegistered): Good,
	string(onboard.StateQuarantined): Bad, string(onboard.StateRetiring): Warn, string(onboard.StateRetired): Idle,
}

func (s *server) clusters() Room {
	return Room{
		Nav: "Clusters", Path: "clusters",
		Addresses: []Address{{Path: "/clusters", Show: s.listClusters}, {Path: "/clusters/{id}", Show: s.showCluster}},
		Doings:    []Doing{{Path: "/managements/{vim}/release", Ask: s.askRelease, Do: s.release}},
	}
}

func (s *server) listClusters(v *Visit) (Screen, error) {
	found, next, err := s.Clusters.Clusters(v.Context(), v.Principal, onboard.ClusterQuery{
		Management: v.Get("management"), Namespace: v.Get("namespace"), Name: v.Get("name"), State: onboard.State(v.Get("state")), Page: v.Page(),
	})
	if err != nil {
		return Screen{}, err
	}
	t := &Grid{
		Columns: []string{"Cluster", "State", "In the way", "VIM", "Project", "Credential ends"}, Next: v.Next(next),
		Empty: "There is no such cluster. Clusters come from management clusters: vimbroker management-cluster enable VIM --namespace NAMESPACE",
	}
	for _, c := range found {
		vim := Cell{Text: c.VIMName}
		if c.VIM != "" {
			vim.Href = Here("vims", c.VIM)
		}
		t.Rows = append(t.Rows, []Cell{
			{Text: c.Namespace + "/" + c.Name, Href: Here("clusters", c.ID)},
			state(string(c.State), clusterStates),
			{Text: c.Message},
			vim,
			{Text: c.Project},
			{Time: c.CredentialExpiresAt},
		})
	}
	view := Screen{Title: "Clusters", Blocks: []Block{{Form: &Search{Button: "Filter", Fields: filled([]Field{
		{Name: "name", Label: "Name"},
		{Name: "namespace", Label: "Namespace"},
		{Name: "management", Label: "Management cluster"},
		{Name: "state", Label: "State", Options: slices.Sorted(maps.Keys(clusterStates))},
	}, v)}, Table: t}}}
	all, err := s.Clusters.Managements(v.Context(), v.Principal)
	if err != nil {
		return Screen{}, err
	}
	m := &Grid{
		Columns: []string{"VIM", "State", "Namespaces", "Watched", "Trouble", "Breaker"},
		Empty:   "No VIM that you may see is a management cluster. Make it one: vimbroker management-cluster enable VIM --namespace NAMESPACE",
	}
	for _, one := range all {
		row := []Cell{
			{Text: one.Name, Href: Here("vims", one.VIM)},
			{Text: "followed", Mark: Good},
			{Text: strings.Join(one.Namespaces, ", ")},
			{Time: one.WatchedAt},
			{Text: one.Trouble},
			{},
		}
		if one.Trouble != "" {
			row[1] = Cell{Text: "not followed", Mark: Bad}
		}
		if !one.HeldAt.IsZero() {
			row[1] = Cell{Text: "held", Mark: Bad}
			row[5] = Cell{Text: "Release", Href: Here("managements", one.VIM, "release")}
		}
		m.Rows = append(m.Rows, row)
	}
	view.Blocks = append(view.Blocks, Block{Title: "Management clusters", Table: m})
	return view, nil
}

func (s *server) showCluster(v *Visit) (Screen, error) {
	c, err := s.Clusters.Cluster(v.Context(), v.Principal, v.PathValue("id"))
	if err != nil {
		return Screen{}, err
	}
	view := Screen{Kind: "Cluster of Cluster API", Title: c.Namespace + "/" + c.Name, State: state(string(c.State), clusterStates)}
	facts := []Fact{
		Of("In the way", c.Message), Of("Reason", string(c.Reason)), Of("Project", c.Project),
		{"UID", code(c.UID)},
		{"System", code(c.System)},
		To("Management cluster", Short(c.Management), Here("vims", c.Management)), At("Credential ends", c.CredentialExpiresAt),
		{
			"Id",
			code(c.ID),
		},
	}
	if c.VIM != "" {
		facts = append(facts, To("VIM", c.VIMName, Here("vims", c.VIM)))
	}
	for _, other := range c.SameSystem {
		facts = append(facts, To("Same system as", other.Namespace+"/"+other.Name, Here("clusters", other.ID)))
	}
	steps := []Step{{Cell: Cell{Time: c.CreatedAt}, Mark: Good, Note: "seen"}}
	for _, mile := range []struct {
		at          time.Time
		past, still string
	}{
		{c.ReadyAt, "its control plane is up", "its control plane is not up yet"},
		{c.RegisteredAt, "registered as a VIM", "not registered yet"},
	} {
		if mile.at.IsZero() {
			steps = append(steps, Step{Cell: Cell{Text: mile.still}, Mark: Idle})
			continue
		}
		steps = append(steps, Step{Cell: Cell{Time: mile.at}, Mark: Good, Note: mile.past})
	}
	if !c.GoneAt.IsZero() {
		steps = append(steps, Step{Cell: Cell{Time: c.GoneAt}, Mark: Warn, Note: "gone"})
	}
	if c.Message != "" {
		steps = append(steps, Step{Cell: Cell{Text: string(c.State)}, Mark: clusterStates[string(c.State)], Note: c.Message})
	}
	view.Blocks = []Block{{Title: "Facts", Facts: facts}, {Title: "From seen to registered", Steps: steps}}
	return view, nil
}

func (s *server) askRelease(v *Visit) (Screen, error) {
	m, err := s.Clusters.Management(v.Context(), v.Principal, v.PathValue("vim"))
	return Screen{
		Kind: "Management cluster", Title: "Release " + m.Name + "?",
		Blocks: []Block{{
			Note: "Too many of its clusters were gone at the same time, so that none is let go of. " +
				"Once it is released, the VIMs of all that are gone are drained and deleted.",
			Facts: []Fact{At("Held since", m.HeldAt), Of("Namespaces", strings.Join(m.Namespaces, ", ")), To("VIM", m.Name, Here("vims", m.VIM))},
		}},
		Ask: &Question{Button: "Release", Back: Here("clusters")},
	}, err
}

func (s *server) release(v *Visit, _ url.Values) (string, error) {
	m, err := s.Clusters.Release(v.Context(), v.Principal, v.PathValue("vim"))
	return Find("clusters", "management", m.VIM), err
}
