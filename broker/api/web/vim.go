package web

import (
	"cmp"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/policy"
	"github.com/vimbroker/vimbroker/policy/audit"
)

// healths are the states of health.
var healths = map[broker.HealthStatus]Mark{
	broker.HealthReachable: Good, broker.HealthUnchecked: Idle, broker.HealthUnreachable: Bad, broker.HealthUnauthorized: Bad,
	broker.HealthIdentityChanged: Bad, broker.HealthUnopenable: Bad,
}

// vimState is how a VIM is, in one word, as the command line has it.
func vimState(v broker.VIM) Cell {
	switch {
	case v.State == broker.VIMDraining:
		return Cell{Text: "draining", Mark: Warn}
	case v.Suspended != "" && v.Health.Status == broker.HealthReachable:
		return Cell{Text: "suspended", Mark: Warn}
	}
	return State(v.Health.Status, healths)
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
			{Path: "/vims/{id}/check", Do: Act(s.Registry.CheckVIM, vimPage), Ask: s.askVIM("Check",
				"The server asks the VIM now whether it answers, is the same, and takes the credential.")},
			{Path: "/vims/{id}/suspend", Do: s.suspendVIM, Ask: s.askVIM("Suspend",
				"No new lease is issued on it. Those that are live are renewed and revoked as ever.",
				Field{Name: "why", Label: "Why, for whoever asks for a lease", Hint: "maintenance until noon"})},
			{Path: "/vims/{id}/resume", Do: s.resumeVIM, Ask: s.askVIM("Resume", "New leases are issued on it again.")},
			{Path: "/vims/{id}/drain", Do: s.drainVIM, Ask: s.askDrain},
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
	t := Table([]string{"Name", "Type", "Status", "Project", "Leases", "Credential ends", "Checked"}, v.Next(next),
		"There is no such VIM. Take a filter away, or register one: vimbroker vim register --kubeconfig FILE NAME",
		found, func(one broker.VIM) []Cell {
			leases := Cell{}
			if n, known := live[one.ID]; known {
				leases = Cell{Text: Count(n, broker.MostLiveOn, "live", "live"), Href: Find("leases", "vim", one.ID)}
			}
			return []Cell{
				To(one.Name, "vims", one.ID), Say(one.Type), vimState(one), Say(one.Project), leases, On(one.Current.CredentialExpiresAt),
				On(one.Health.CheckedAt),
			}
		})
	return Listing(v, "VIMs", t, Field{Name: "name", Label: "Name"},
		Field{Name: "type", Label: "Type", Options: []string{"kubernetes", "openstack"}},
		Field{Name: "status", Label: "Status", Options: options(healths)}, Field{Name: "label", Label: "Label", Hint: "site=north"}), nil
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
	leases, err := s.liveLeases(v, one.ID, few)
	if err != nil {
		return Screen{}, err
	}
	view := Screen{Kind: "VIM", Title: one.Name, State: vimState(one)}
	for _, act := range []string{"Check", cmp.Or(map[bool]string{true: "Resume"}[one.Suspended != ""], "Suspend"), "Drain", "Inventory"} {
		view.Acts = append(view.Acts, Link{act, Here("vims", one.ID, strings.ToLower(act))})
	}
	also := Fact{Name: "Same system as"}
	for _, other := range same {
		also.Cells = append(also.Cells, To(other.Name, "vims", other.ID))
	}
	view.Blocks = []Block{
		{Title: "Facts", Facts: []Fact{
			Of("Message", one.Health.Message), Of("No new leases", one.Suspended), Of("Waits for", waits...),
			Of("Endpoint", one.Current.Target.Endpoint), Of("Server verified", verified(one)), Of("Type", one.Type), Of("Project", one.Project),
			Of("Description", one.Description), Of("Labels", pairs(one.Labels)), Of("Shared", shared(one)),
			Of("Namespace", one.Current.Target.Namespace), Of("Version", one.Health.Version), Of("Can mint leases", minting(one)),
			Code("Id", one.ID), At("Checked", one.Health.CheckedAt), At("Registered", one.CreatedAt), Of("Registered by", one.CreatedBy),
			At("Updated", one.UpdatedAt), also,
		}},
		{Title: "Discovered", Facts: discovered(one)},
		{Title: "Generations", Table: generations(one)},
		{Title: "Live leases", Note: "The newest of them.", Table: leases, Links: []Link{{"All leases on it", Find("leases", "vim", one.ID)}}},
	}
	log, err := s.story(v, audit.Query{VIM: one.ID}, Find("audit", "vim", one.ID))
	view.Blocks = append(view.Blocks, log...)
	return view, err
}

// few is the number of rows of a list that is part of another page.
const few = 10

func pairs(labels map[string]string) string {
	var words []string
	for _, key := range slices.Sorted(maps.Keys(labels)) {
		words = append(words, key+"="+labels[key])
	}
	return strings.Join(words, ", ")
}

func shared(v broker.VIM) string {
	if v.Shared {
		return "with every project"
	}
	return strings.Join(v.SharedWith, ", ")
}

// verified says how the server's certificate is checked.
func verified(v broker.VIM) string {
	t := v.Current.Target
	switch {
	case strings.HasPrefix(t.Endpoint, "http://"):
		return "NO (plain http): anyone on the network path can read what is sent"
	case t.InsecureSkipVerify:
		return "NO (insecureSkipVerify): anyone on the network path can read what is sent"
	case t.CACert != "":
		return "by its own CA"
	}
	return "by the system's roots"
}

func minting(v broker.VIM) string {
	switch {
	case v.Health.CanMint && v.Health.MintMessage == "":
		return "yes"
	case v.Health.CanMint:
		return "yes, but: " + v.Health.MintMessage
	}
	return strings.TrimSuffix("no: "+v.Health.MintMessage, ": ")
}

// discovered are the facts that were found out about a cluster or a cloud.
func discovered(v broker.VIM) []Fact {
	found := v.Current.Discovered
	spots := cmp.Or(map[broker.VIMType]string{"openstack": "Regions"}[v.Type], "Namespaces")
	facts := []Fact{Of("Identity", v.Current.Identity), Of(spots, listed(found.Regions))}
	if c := found.Cluster; c != nil {
		facts = append(facts, Of("Works as", c.User), Of("Mode", c.Mode), Of("Own account", c.Profile), At("Token renewed", c.RenewAt),
			Of("No own account", c.NoAccount))
	}
	if c := found.Cloud; c != nil {
		facts = append(facts, Of("Cloud project", c.ProjectName), Of("Roles", strings.Join(c.Roles, ", ")), Of("Warning", c.Warnings...))
	}
	return facts
}

// listed is a list of names that may be long.
func listed(names []string) string {
	const most = 40
	if len(names) > most {
		return strings.Join(names[:most], ", ") + fmt.Sprintf(" and %d more", len(names)-most)
	}
	return strings.Join(names, ", ")
}

func generations(v broker.VIM) *Grid {
	all := append(slices.Clone(v.Past), v.Current)
	slices.Reverse(all)
	return Table([]string{"Generation", "Endpoint", "Credential", "Ends", "Key store", "Now"}, "", "", all, func(g broker.Generation) []Cell {
		now := Cell{Text: "past: leases are pinned to it", Mark: Idle}
		if g.Number == v.Current.Number {
			now = Cell{Text: "current", Mark: Good}
		}
		return []Cell{Say(number(g.Number)), Say(g.Target.Endpoint), Say(g.CredentialKind), On(g.CredentialExpiresAt), Say(g.KeyStore), now}
	})
}

func (s *server) inventory(v *Visit) (Screen, error) {
	inv, err := s.Leaser.Inventory(v.Context(), v.Principal, v.PathValue("id"), false)
	if err != nil {
		return Screen{}, err
	}
	view := Screen{Kind: "VIM " + inv.VIMName, Title: "Inventory", State: Cell{Text: "all is well", Mark: Good}}
	if len(inv.Orphans)+len(inv.Ghosts)+len(inv.Unbound)+len(inv.Foreign) > 0 {
		view.State = Cell{Text: "not as it should be", Mark: Warn}
	}
	orphans := Table([]string{"Object on the VIM", "Lease"}, "", "Every object of ours on the VIM has its lease.",
		inv.Orphans, func(o broker.Upstream) []Cell { return []Cell{{Text: o.Handle, Code: true}, ID(o.Lease, "leases")} })
	ghosts := Table([]string{"Lease", "Who", "Missing"}, "", "Every active lease has its object on the VIM, with its rights.",
		inv.Ghosts, func(l broker.Lease) []Cell { return []Cell{ID(l.ID, "leases"), Say(who(l)), Say("its object")} })
	for _, u := range inv.Unbound {
		ghosts.Rows = append(ghosts.Rows, []Cell{
			ID(u.Lease.ID, "leases"), Say(who(u.Lease)), Say("rights in " + strings.Join(u.Namespaces, ", ")),
		})
	}
	view.Blocks = []Block{
		{Facts: []Fact{
			Of("On the VIM", Count(inv.Upstream, 0, "object", "objects")), Of("Here", Count(inv.Rows, 0, "active lease", "active leases")),
			Of("Not ours", inv.Foreign...), Are("VIM", To(inv.VIMName, "vims", inv.VIM)),
		}},
		{Title: "On the VIM, and not here", Table: orphans},
		{Title: "Here, and not on the VIM", Table: ghosts},
	}
	if inv.Unseen > 0 {
		view.Blocks[0].Note = Count(inv.Unseen, 0, "lease", "leases") +
			" cannot be looked for: the VIM refuses the credential that they were issued from."
	}
	return view, nil
}

// askVIM asks before an act on one VIM.
func (s *server) askVIM(act, why string, fields ...Field) func(*Visit) (Screen, error) {
	return One(s.Registry.VIM, func(_ *Visit, one broker.VIM) (Screen, error) {
		return Screen{
			Kind: "VIM", Title: act + " " + one.Name + "?", Blocks: []Block{{Note: why, Facts: []Fact{
				Of("Endpoint", one.Current.Target.Endpoint), Of("Project", one.Project), Are("Status", vimState(one)),
			}}},
			Ask: &Question{Button: act, Fields: fields, Back: Here("vims", one.ID)},
		}, nil
	})
}

func (s *server) suspendVIM(v *Visit, fields url.Values) (string, error) {
	return s.suspension(v, cmp.Or(strings.TrimSpace(fields.Get("why")), "suspended by "+v.Principal.Name))
}

func (s *server) resumeVIM(v *Visit, _ url.Values) (string, error) { return s.suspension(v, "") }

func (s *server) suspension(v *Visit, why string) (string, error) {
	one, err := s.Registry.UpdateVIM(v.Context(), v.Principal, v.PathValue("id"), broker.Change{Suspended: &why})
	return Here("vims", one.ID), err
}

func (s *server) askDrain(v *Visit) (Screen, error) {
	view, err := s.askVIM("Drain",
		"Its leases are revoked, and then it is deleted with its keys. No lease is issued on it any more. This cannot be taken back.")(v)
	if err != nil {
		return Screen{}, err
	}
	hit, err := s.liveLeases(v, v.PathValue("id"), pageSize)
	hit.Empty = "No lease is live on it."
	view.Blocks = append(view.Blocks, Block{Title: "Leases that are revoked", Note: "The newest of them.", Table: hit})
	return view, err
}

func (s *server) drainVIM(v *Visit, _ url.Values) (string, error) {
	one, gone, err := s.Registry.DeleteVIM(v.Context(), v.Principal, v.PathValue("id"), broker.Deletion{Drain: true})
	if gone {
		return Here("vims"), err
	}
	return Here("vims", one.ID), err
}

// story is what the log says of something, to whoever may read it.
func (s *server) story(v *Visit, q audit.Query, all string) ([]Block, error) {
	if !v.May(policy.AuditRead, v.Principal.Project) {
		return nil, nil
	}
	q.Limit = few
	t, err := s.entryTable(v, q)
	t.Empty = "The log says nothing of it that you may read."
	t.Next = ""
	return []Block{{Title: "From the log", Table: t, Links: []Link{{"All that the log says of it", all}}}}, err
}
