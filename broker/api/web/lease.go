package web

import (
	"cmp"
	"net/url"
	"strings"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/policy/audit"
)

var leaseStates = map[broker.LeaseState]Mark{
	broker.LeaseActive: Good, broker.LeasePending: Idle, broker.LeaseRevoking: Warn, broker.LeaseRevoked: Idle, broker.LeaseIrrevocable: Bad,
}

// gradeMarks and gradeWords say what the holder of a lease can become.
var (
	gradeMarks = map[broker.Grade]Mark{broker.GradeBounded: Good, broker.GradeNamespaces: Warn, broker.GradeUnbounded: Bad}
	gradeWords = map[broker.Grade]string{
		broker.GradeBounded:    "can do what the role or rules say, and become nobody else",
		broker.GradeNamespaces: "can become any identity of the lease's namespaces",
		broker.GradeUnbounded:  "can become any identity",
		"":                     "nobody knows what the holder can become: the VIM's driver computes no grade",
	}
)

func (s *server) leases() Room {
	return Room{
		Nav: "Leases", Path: "leases",
		Addresses: []Address{{Path: "/leases", Show: s.listLeases}, {Path: "/leases/{id}", Show: One(s.Leaser.Lease, s.showLease)}},
		Doings: []Doing{
			{
				Path: "/leases/{id}/revoke", Ask: One(s.Leaser.Lease, askRevocation),
				Do: Act(s.Leaser.RevokeLease, func(l broker.Lease) string { return Here("leases", l.ID) }),
			},
			{Path: "/revocation", Ask: s.askRevocations, Do: s.revokeAll},
		},
	}
}

// who has the lease: its holder, and before that whom it is for.
func who(l broker.Lease) string {
	if l.For == "" {
		return l.Principal
	}
	return l.For + ", by " + l.Principal
}

// mayDo says in a few words what a lease may do.
func mayDo(l broker.Lease) string {
	switch {
	case !l.Derived:
		return "all (passed through)"
	case len(l.Rules) > 0:
		return rules(l.Rules)
	}
	return l.Role
}

// rules are spelled as the command line has them.
func rules(all []broker.Rule) string {
	var words []string
	for _, r := range all {
		text := strings.Join(r.Verbs, ",") + ":" + strings.Join(r.Resources, ",")
		if groups := strings.Join(r.APIGroups, ","); groups != "" {
			text += "." + groups
		}
		if len(r.ResourceNames) > 0 {
			text += "/" + strings.Join(r.ResourceNames, ",")
		}
		words = append(words, text)
	}
	return strings.Join(words, "; ")
}

func where(l broker.Lease) string {
	if l.ClusterWide {
		return "all"
	}
	return listed(l.Namespaces)
}

// leaseTable is a page of leases.
func (s *server) leaseTable(v *Visit, q broker.LeaseQuery) (*Grid, error) {
	found, next, err := s.Leaser.Leases(v.Context(), v.Principal, q)
	return Table([]string{"Lease", "VIM", "State", "Grade", "May", "Where", "Who", "Door", "Ends"}, v.Next(next), "There is no such lease.",
		found, func(l broker.Lease) []Cell {
			ends := l.ExpiresAt
			if l.State == broker.LeaseRevoked {
				ends = l.RevokedAt
			}
			return []Cell{
				ID(l.ID, "leases"), To(l.VIMName, "vims", l.VIM), State(l.State, leaseStates), State(l.Grade, gradeMarks), Say(mayDo(l)),
				Say(where(l)), Say(who(l)), Say(l.Door), On(ends),
			}
		}), err
}

// liveLeases are the newest live leases on a VIM.
func (s *server) liveLeases(v *Visit, vim string, most int) (*Grid, error) {
	t, err := s.leaseTable(v, broker.LeaseQuery{VIM: vim, State: broker.LeaseActive, Page: broker.Page{Size: most}})
	t.Next = ""
	return t, err
}

// LeaseTable is the list of the leases that served an operation, for pages of other floors.
func LeaseTable(v *Visit, leases Leaser, operation string) (*Grid, error) {
	return (&server{Options: Options{Leaser: leases}}).leaseTable(v, broker.LeaseQuery{Operation: operation, Page: v.Page()})
}

// leaseFilters are the names of the filters of leases that a revocation takes, too.
var leaseFilters = []Field{
	{Name: "vim", Label: "VIM", Hint: "name or id"},
	{Name: "principal", Label: "Holder"},
	{Name: "for", Label: "For"},
	{Name: "operation", Label: "Operation"},
	{Name: "instance", Label: "VNF instance"},
}

func selected(get func(string) string) broker.LeaseSelector {
	return broker.LeaseSelector{
		VIM: get("vim"), Principal: get("principal"), For: get("for"), Operation: get("operation"), Instance: get("instance"),
	}
}

// query is one of the leases that a selection is of.
func query(sel broker.LeaseSelector, state broker.LeaseState, page broker.Page) broker.LeaseQuery {
	return broker.LeaseQuery{
		VIM: sel.VIM, Principal: sel.Principal, For: sel.For, Operation: sel.Operation, Instance: sel.Instance, State: state, Page: page,
	}
}

func (s *server) listLeases(v *Visit) (Screen, error) {
	sel, now := selected(v.Get), broker.LeaseActive
	if v.Query.Has("state") {
		now = broker.LeaseState(v.Get("state"))
	}
	q := query(sel, now, v.Page())
	q.IDPrefix = v.Get("id")
	t, err := s.leaseTable(v, q)
	if err != nil {
		return Screen{}, err
	}
	t.Empty = "There is no such lease. Take a filter away, or take one: vimbroker lease issue --vim VIM --role view"
	view := Listing(v, "Leases", t, append(filled(leaseFilters, v),
		Field{Name: "state", Label: "State", Value: string(now), Options: []string{"active", "pending", "revoking", "revoked", "irrevocable"}},
		Field{Name: "id", Label: "Id", Hint: "its beginning"})...)
	if sel != (broker.LeaseSelector{}) && len(t.Rows) > 0 {
		view.Acts = []Link{{"Revoke all of these", Here("revocation") + "?" + address(filled(leaseFilters, v))}}
	}
	return view, nil
}

// address is a query of the fields that have a value.
func address(fields []Field) string {
	q := url.Values{}
	for _, f := range fields {
		if f.Value != "" {
			q.Set(f.Name, f.Value)
		}
	}
	return q.Encode()
}

func (s *server) showLease(v *Visit, l broker.Lease) (Screen, error) {
	view := Screen{Kind: "Lease", Title: Short(l.ID) + " on " + l.VIMName, State: State(l.State, leaseStates)}
	ends := At("Revoked", l.RevokedAt)
	if l.State != broker.LeaseRevoked {
		ends, view.Acts = At("Ends", l.ExpiresAt), []Link{{"Revoke", Here("leases", l.ID, "revoke")}}
	}
	facts := []Fact{
		Of("Last error", l.LastError), Leads("Holder", l.Principal, Find("leases", "principal", l.Principal)), Of("For", l.For),
		Of("Project", l.Project), Of("Door", l.Door), Of("Purpose", l.Purpose), At("Issued", l.IssuedAt), ends, Of("Why it ended", l.Reason),
		At("Confirmed dead", l.ConfirmedDeadAt), Of("Left behind", l.LeftBehind...), Of("Format", l.Format), Of("Credential", l.CredentialKind),
		Code("Credential's name there", l.CredentialID), Of("VNF instance elsewhere", l.Instance),
		Of("May still work after revocation", lag(l)), Code("Id", l.ID),
	}
	switch {
	case l.Standing():
		facts = append(facts, Of("Stands", "tokens of "+l.TokenTTL.String()+" at most"), At("If used, until", l.MaxExpiresAt))
	case l.State == broker.LeaseActive:
		facts = append(facts, At("Renewable until", l.MaxExpiresAt))
	}
	facts = append(facts, Are("Operation", To(Short(l.Operation), "operations", l.Operation)))
	view.Blocks = []Block{{Title: "Facts", Facts: facts}, {Title: "What it can become", Tree: reach(l)}}
	log, err := s.story(v, audit.Query{Lease: l.ID}, Find("audit", "lease", l.ID))
	view.Blocks = append(view.Blocks, log...)
	return view, err
}

func lag(l broker.Lease) string {
	if !l.Revocable {
		return "until it ends by itself: it cannot be revoked"
	}
	return l.MaxRevocationLag.String()
}

// reach draws what follows from a lease: from its holder to the account on the VIM, where that may act, and whom it can
// become there.
func reach(l broker.Lease) []Node {
	become := Node{Kind: "can become", Cell: Cell{Text: gradeWords[l.Grade], Mark: gradeMarks[l.Grade]}}
	for _, why := range l.GradeReasons {
		become.Sub = append(become.Sub, Node{Kind: "because", Cell: Say(why)})
	}
	if l.Grade != broker.GradeBounded {
		become.Sub = append(become.Sub, Node{
			Kind: "not revoked", Cell: Say("what the holder made or became elsewhere than with this lease's own credential"),
		})
	}
	spots := l.Namespaces
	if l.ClusterWide {
		spots = []string{"every namespace, and what has none"}
	}
	act := Node{Kind: "may", Cell: Say(mayDo(l))}
	for _, n := range spots {
		act.Sub = append(act.Sub, Node{Kind: "in", Cell: Say(n)})
	}
	account := Node{Kind: "account", Sub: []Node{act, become}, Cell: Cell{
		Text: cmp.Or(l.Handle, "the VIM's registered credential itself"), Code: l.Handle != "",
	}}
	return []Node{{Kind: "holder", Cell: Say(who(l)), Sub: []Node{
		{Kind: "on VIM", Cell: To(l.VIMName, "vims", l.VIM), Sub: []Node{account}},
	}}}
}

func askRevocation(_ *Visit, l broker.Lease) (Screen, error) {
	return Screen{
		Kind: "Lease", Title: "Revoke " + Short(l.ID) + "?",
		Blocks: []Block{{Note: "Its account is deleted on the VIM. Its holder is cut off.", Facts: []Fact{
			Are("VIM", To(l.VIMName, "vims", l.VIM)), Of("Holder", who(l)), Of("May", mayDo(l)), Of("Where", where(l)), Of("Purpose", l.Purpose),
			Of("May still work after revocation", lag(l)),
		}}},
		Ask: &Question{Button: "Revoke", Back: Here("leases", l.ID)},
	}, nil
}

// askRevocations shows first what a revocation of many hits.
func (s *server) askRevocations(v *Visit) (Screen, error) {
	sel, fields := selected(v.Get), filled(leaseFilters, v)
	if sel == (broker.LeaseSelector{}) {
		return Screen{}, broker.Invalid("", "name a vim, a principal, a person (for), an operation or a VNF instance")
	}
	t, err := s.leaseTable(v, query(sel, broker.LeaseActive, v.Page()))
	var facts []Fact
	for n := range fields {
		facts = append(facts, Of(fields[n].Label, fields[n].Value))
		fields[n].Hidden = true
	}
	return Screen{
		Kind: "Leases", Title: "Revoke all of these?",
		Blocks: []Block{{
			Note:  "Every live lease that matches, and that you may revoke, is revoked: these, and those on further pages.",
			Facts: facts, Table: t,
		}},
		Ask: &Question{Button: "Revoke them all", Fields: fields, Back: Here("leases") + "?" + address(fields)},
	}, err
}

func (s *server) revokeAll(v *Visit, fields url.Values) (string, error) {
	_, err := s.Leaser.RevokeLeases(v.Context(), v.Principal, selected(fields.Get))
	q := url.Values{"state": {""}}
	for _, f := range leaseFilters {
		if value := fields.Get(f.Name); value != "" {
			q.Set(f.Name, value)
		}
	}
	return Here("leases") + "?" + q.Encode(), err
}
