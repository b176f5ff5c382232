package web

import (
	"cmp"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/policy"
	"github.com/vimbroker/vimbroker/policy/audit"
)

// healths are the states of health.
var healths = Marked(map[broker.HealthStatus]Mark{
	broker.HealthReachable: Good, broker.HealthUnchecked: Idle, broker.HealthUnreachable: Bad, broker.HealthUnauthorized: Bad,
	broker.HealthIdentityChanged: Bad, broker.HealthUnopenable: Bad,
})

// vimState is how a VIM is, in one word, as the command line has it.
func vimState(v broker.VIM) Cell {
	switch {
	case v.State == broker.VIMDraining:
		return Cell{Text: "draining", Mark: Warn}
	case v.Suspended != "" && v.Health.Status == broker.HealthReachable:
		return Cell{Text: "suspended", Mark: Warn}
	}
	return Cell{Text: string(v.Health.Status), Mark: cmp.Or(healths[v.Health.Status], Idle)}
}

func (s *server) vims() Room {
	return Room{
		Nav: "VIMs", Path: "vims",
		Addresses: []Address{
			{Path: "/vims", Show: s.listVIMs},
			{Path: "/vims/{id}", Show: One(s.Registry.VIM, s.showVIM)},
			{Path: "/vims/{id}/inventory", Show: s.inventory, Slow: true},
		},
		Doings: []Doing{
			{Path: "/vims/{id}/check", Do: Act(s.Registry.CheckVIM, vimPage), Ask: Page(s.Registry.VIM, "check VIM")},
			{Path: "/vims/{id}/suspend", Do: s.suspendVIM, Ask: Page(s.Registry.VIM, "suspend VIM")},
			{Path: "/vims/{id}/resume", Do: s.resumeVIM, Ask: Page(s.Registry.VIM, "resume VIM")},
			{Path: "/vims/{id}/drain", Do: s.drainVIM, Ask: One(s.Registry.VIM, s.askDrain)},
		},
	}
}

func vimPage(v broker.VIM) string { return Here("vims", v.ID) }

func (s *server) listVIMs(v *Visit) (Screen, error) {
	q := broker.VIMQuery{
		Name: v.Get("name"), Type: broker.VIMType(v.Get("type")), Status: broker.HealthStatus(v.Get("status")), Page: v.Page(),
	}
	if key, value, labelled := strings.Cut(v.Get("label"), "="); labelled {
		q.Labels = map[string]string{key: value}
	}
	found, next, err := s.Registry.VIMs(v.Context(), v.Principal, q)
	if err != nil {
		return Screen{}, err
	}
	live, err := s.Registry.LiveOn(v.Context(), v.Principal, found)
	if err != nil {
		return Screen{}, err
	}
	counts := map[string]Cell{}
	for id, n := range live {
		counts[id] = Cell{Text: Count(n, broker.MostLiveOn, "live", "live"), Href: Find("leases", "vim", id)}
	}
	view := Listing(v, "VIMs", "VIMs", &Block{Of: found, Next: next}, Field{Name: "name", Label: "Name"},
		Field{Name: "type", Label: "Type", Options: []string{"kubernetes", "openstack"}},
		Field{Name: "status", Label: "Status", Options: options(healths)}, Field{Name: "label", Label: "Label", Hint: "site=north"})
	view.Of = counts
	return view, nil
}

func (s *server) showVIM(v *Visit, one broker.VIM) (Screen, error) {
	waits, err := s.Registry.WaitsFor(v.Context(), v.Principal, one)
	if err != nil {
		return Screen{}, err
	}
	same, err := s.Registry.SameSystem(v.Context(), v.Principal, one)
	if err != nil {
		return Screen{}, err
	}
	leases, err := s.liveLeases(v, one.ID, "Live leases", few)
	if err != nil {
		return Screen{}, err
	}
	past := append(slices.Clone(one.Past), one.Current)
	slices.Reverse(past)
	log, err := s.story(v, audit.Query{VIM: one.ID}, Find("audit", "vim", one.ID))
	return Screen{Page: "VIM", Log: log, Of: map[string]any{
		"VIM": one, "Waits": waits, "Same": same, "Leases": leases, "Generations": past,
	}}, err
}

// few is the number of rows of a list that is part of another page.
const few = 10

// listed is a list of names that may be long.
func listed(names []string) string {
	const most = 40
	if len(names) > most {
		return strings.Join(names[:most], ", ") + fmt.Sprintf(" and %d more", len(names)-most)
	}
	return strings.Join(names, ", ")
}

func (s *server) inventory(v *Visit) (Screen, error) {
	inv, err := s.Leaser.Inventory(v.Context(), v.Principal, v.PathValue("id"), false)
	return Screen{Page: "inventory", Of: inv}, err
}

func (s *server) suspendVIM(v *Visit, fields url.Values) (string, error) {
	return s.suspension(v, cmp.Or(strings.TrimSpace(fields.Get("why")), "suspended by "+v.Principal.Name))
}

func (s *server) resumeVIM(v *Visit, _ url.Values) (string, error) { return s.suspension(v, "") }

func (s *server) suspension(v *Visit, why string) (string, error) {
	one, err := s.Registry.UpdateVIM(v.Context(), v.Principal, v.PathValue("id"), broker.Change{Suspended: &why})
	return Here("vims", one.ID), err
}

func (s *server) askDrain(v *Visit, one broker.VIM) (Screen, error) {
	hit, err := s.liveLeases(v, one.ID, "Leases that are revoked", pageSize)
	hit.Empty = "No lease is live on it."
	return Screen{Page: "drain VIM", Of: one, List: hit}, err
}

func (s *server) drainVIM(v *Visit, _ url.Values) (string, error) {
	one, gone, err := s.Registry.DeleteVIM(v.Context(), v.Principal, v.PathValue("id"), broker.Deletion{Drain: true})
	if gone {
		return Here("vims"), err
	}
	return Here("vims", one.ID), err
}

// story is what the log says of something, to whoever may read it.
func (s *server) story(v *Visit, q audit.Query, all string) (*Block, error) {
	if !v.May(policy.AuditRead, v.Principal.Project) {
		return nil, nil
	}
	q.Limit = few
	found, err := s.AuditLog.Entries(v.Context(), v.Principal, q)
	return &Block{
		Title: "From the log", Of: found, Empty: "The log says nothing of it that you may read.",
		Links: []Link{{"All that the log says of it", all}},
	}, err
}
