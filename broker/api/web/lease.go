package web

import (
	"net/url"
	"slices"
	"strings"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/policy/audit"
)

var leaseStates = map[string]Mark{
	string(broker.LeaseActive): Good, string(broker.LeasePending): Idle, string(broker.LeaseRevoking): Warn,
	string(broker.LeaseRevoked): Idle, string(broker.LeaseIrrevocable): Bad,
}

// gradeMarks and gradeWords say what the holder of a lease can become.
var (
	gradeMarks = map[string]Mark{string(broker.GradeBounded): Good, string(broker.GradeNamespaces): Warn, string(broker.GradeUnbounded): Bad}
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
		Addresses: []Address{{Path: "/leases", Show: s.listLeases}, {Path: "/leases/{id}", Show: s.showLease}},
		Doings: []Doing{
			{Path: "/leases/{id}/revoke", Ask: s.askRevocation, Do: s.revoke},
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
	t := &Grid{
		Columns: []string{"Lease", "VIM", "State", "Grade", "May", "Where", "Who", "Door", "Ends"}, Next: v.Next(next),
		Empty: "There is no such lease.",
	}
	for _, l := range found {
		ends := Cell{Time: l.ExpiresAt}
		if l.State == broker.LeaseRevoked {
			ends = Cell{Time: l.RevokedAt}
		}
		t.Rows = append(t.Rows, []Cell{
			{Text: Short(l.ID), Href: Here("leases", l.ID), Code: true},
			{Text: l.VIMName, Href: Here("vims", l.VIM)},
			state(string(l.State), leaseStates), state(string(l.Grade), gradeMarks),
			{Text: mayDo(l)},
			{Text: where(l)},
			{Text: who(l)},
			{Text: string(l.Door)},
			ends,
		})
	}
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

func filled(fields []Field, v *Visit) []Field {
	fields = slices.Clone(fields)
	for n := range fields {
		fields[n].Value = v.Get(fields[n].Name)
	}
	return fields
}

func selected(get func(string) string) broker.LeaseSelector {
	return broker.LeaseSelector{
		VIM: get("vim"), Principal: get("principal"), For: get("for"), Operation: get("operation"), Instance: get("instance"),
	}
}

func (s *server) listLeases(v *Visit) (Screen, error) {
	sel := selected(v.Get)
	now := broker.LeaseActive
	if v.Query.Has("state") {
		now = broker.LeaseState(v.Get("state"))
	}
	t, err := s.leaseTable(v, broker.LeaseQuery{
		IDPrefix: v.Get("id"), VIM: sel.VIM, Principal: sel.Principal, For: sel.For, Operation: sel.Operation, Instance: sel.Instance,
		State: now, Page: v.Page(),
	})
	if err != nil {
		return Screen{}, err
	}
	t.Empty = "There is no such lease. Take a filter away, or take one: vimbroker lease issue --vim VIM --role view"
	states := []string{"active", "pending", "revoking", "revoked", "irrevocable"}
	fields := append(filled(leaseFilters, v), Field{Name: "state", Label: "State", Value: string(now), Options: states},
		Field{Name: "id", Label: "Id", Value: v.Get("id"), Hint: "its beginning"})
	view := Screen{Title: "Leases", Blocks: []Block{{Form: &Search{Button: "Filter", Fields: fields}, Table: t}}}
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

func (s *server) showLease(v *Visit) (Screen, error) {
	l, err := s.Leaser.Lease(v.Context(), v.Principal, v.PathValue("id"))
	if err != nil {
		return Screen{}, err
	}
	view := Screen{Kind: "Lease", Title: Short(l.ID) + " on " + l.VIMName, State: state(string(l.State), leaseStates)}
	if l.State != broker.LeaseRevoked {
		view.Acts = []Link{{"Revoke", Here("leases", l.ID, "revoke")}}
	}
	ends := At("Ends", l.ExpiresAt)
	if l.State == broker.LeaseRevoked {
		ends = At("Revoked", l.RevokedAt)
	}
	facts := []Fact{
		Of("Last error", l.LastError), To("Holder", l.Principal, Find("leases", "principal", l.Principal)), Of("For", l.For), Of("Project",
			l.Project),
		Of("Door", string(l.Door)), Of("Purpose", l.Purpose), At("Issued", l.IssuedAt), ends, Of("Why it ended", string(l.Reason)),
		At("Confirmed dead", l.ConfirmedDeadAt),
		{"Left behind", Texts(l.LeftBehind...)},
		Of("Format", string(l.Format)),
		Of("Credential", string(l.CredentialKind)),
		{"Credential's name there", code(l.CredentialID)},
		Of("VNF instance elsewhere", l.Instance),
		Of("May still work after revocation", lag(l)),
		{"Id", code(l.ID)},
	}
	if l.State == broker.LeaseActive && !l.Standing() {
		facts = append(facts, At("Renewable until", l.MaxExpiresAt))
	}
	if l.Standing() {
		facts = append(facts, Of("Stands", "tokens of "+l.TokenTTL.String()+" at most"), At("If used, until", l.MaxExpiresAt))
	}
	if l.Operation != "" {
		facts = append(facts, To("Operation", Short(l.Operation), Here("operations", l.Operation)))
	}
	view.Blocks = []Block{{Title: "Facts", Facts: facts}, {Title: "What it can become", Tree: reach(l)}}
	log, err := s.story(v, audit.Query{Lease: l.ID}, Find("audit", "lease", l.ID))
	view.Blocks = append(view.Blocks, log...)
	return view, err
}

func code(text string) []Cell {
	if text == "" {
		return nil
	}
	return []Cell{{Text: text, Code: true}}
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
	become := Node{Kind: "can become", Cell: Cell{Text: gradeWords[l.Grade], Mark: gradeMarks[string(l.Grade)]}}
	for _, why := range l.GradeReasons {
		become.Sub = append(become.Sub, Node{Kind: "because", Cell: Cell{Text: why}})
	}
	if l.Grade != broker.GradeBounded {
		become.Sub = append(become.Sub, Node{Kind: "not revoked", Cell: Cell{
			Text: "what the holder made or became elsewhere than with this lease's own credential",
		}})
	}
	act := Node{Kind: "may", Cell: Cell{Text: mayDo(l)}}
	switch {
	case l.ClusterWide:
		act.Sub = []Node{{Kind: "in", Cell: Cell{Text: "every namespace, and what has none"}}}
	default:
		for _, n := range l.Namespaces {
			act.Sub = append(act.Sub, Node{Kind: "in", Cell: Cell{Text: n}})
		}
	}
	account := Node{Kind: "account", Cell: Cell{Text: l.Handle, Code: true}, Sub: []Node{act, become}}
	if l.Handle == "" {
		account.Cell = Cell{Text: "the VIM's registered credential itself"}
	}
	return []Node{{Kind: "holder", Cell: Cell{Text: who(l)}, Sub: []Node{
		{Kind: "on VIM", Cell: Cell{Text: l.VIMName, Href: Here("vims", l.VIM)}, Sub: []Node{account}},
	}}}
}

func (s *server) askRevocation(v *Visit) (Screen, error) {
	l, err := s.Leaser.Lease(v.Context(), v.Principal, v.PathValue("id"))
	return Screen{
		Kind: "Lease", Title: "Revoke " + Short(l.ID) + "?",
		Blocks: []Block{{Note: "Its account is deleted on the VIM. Its holder is cut off.", Facts: []Fact{
			To("VIM", l.VIMName, Here("vims", l.VIM)), Of("Holder", who(l)), Of("May", mayDo(l)), Of("Where", where(l)), Of("Purpose", l.Purpose),
			Of("May still work after revocation", lag(l)),
		}}},
		Ask: &Question{Button: "Revoke", Back: Here("leases", l.ID)},
	}, err
}

func (s *server) revoke(v *Visit, _ url.Values) (string, error) {
	l, err := s.Leaser.RevokeLease(v.Context(), v.Principal, v.PathValue("id"))
	return Here("leases", l.ID), err
}

// askRevocations shows first what a revocation of many hits.
func (s *server) askRevocations(v *Visit) (Screen, error) {
	sel, fields := selected(v.Get), filled(leaseFilters, v)
	if sel == (broker.LeaseSelector{}) {
		return Screen{}, broker.Invalid("", "name a vim, a principal, a person (for), an operation or a VNF instance")
	}
	t, err := s.leaseTable(v, broker.LeaseQuery{
		VIM: sel.VIM, Principal: sel.Principal, For: sel.For, Operation: sel.Operation, Instance: sel.Instance, State: broker.LeaseActive,
		Page: v.Page(),
	})
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
	sel := selected(fields.Get)
	_, err := s.Leaser.RevokeLeases(v.Context(), v.Principal, sel)
	q := url.Values{"state": {""}}
	for _, f := range leaseFilters {
		if value := fields.Get(f.Name); value != "" {
			q.Set(f.Name, value)
		}
	}
	return Here("leases") + "?" + q.Encode(), err
}
