package web

import (
	"net/url"
	"slices"
	"strings"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/policy/audit"
)

var leaseStates = Marked(map[broker.LeaseState]Mark{
	broker.LeaseActive: Good, broker.LeasePending: Idle, broker.LeaseRevoking: Warn, broker.LeaseRevoked: Idle, broker.LeaseIrrevocable: Bad,
})

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
				Path: "/leases/{id}/revoke", Ask: Page(s.Leaser.Lease, "revoke lease"),
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

// LeaseList is a list of leases, for the template "lease table".
func LeaseList(v *Visit, from Leaser, q broker.LeaseQuery) (*Block, error) {
	list, err := Found(from.Leases(v.Context(), v.Principal, q))
	list.Next = v.Next(list.Next)
	return list, err
}

// liveLeases are the newest live leases on a VIM.
func (s *server) liveLeases(v *Visit, vim, title string, most int) (*Block, error) {
	found, _, err := s.Leaser.Leases(v.Context(), v.Principal, broker.LeaseQuery{
		VIM: vim, State: broker.LeaseActive, Page: broker.Page{Size: most},
	})
	return &Block{Title: title, Note: "The newest of them.", Of: found}, err
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
	list, err := Found(s.Leaser.Leases(v.Context(), v.Principal, q))
	if err != nil {
		return Screen{}, err
	}
	list.Empty = "There is no such lease. Take a filter away, or take one: vimbroker lease issue --vim VIM --role view"
	view := Listing(v, "leases", "Leases", list, append(filled(leaseFilters, v),
		Field{Name: "state", Label: "State", Value: string(now), Options: []string{"active", "pending", "revoking", "revoked", "irrevocable"}},
		Field{Name: "id", Label: "Id", Hint: "its beginning"})...)
	if sel != (broker.LeaseSelector{}) {
		view.Of = Here("revocation") + "?" + address(filled(leaseFilters, v))
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

func (s *server) showLease(v *Visit, l broker.Lease) (view Screen, err error) {
	view = Screen{Page: "lease", Of: l}
	view.Log, err = s.story(v, audit.Query{Lease: l.ID}, Find("audit", "lease", l.ID))
	return view, err
}

func lag(l broker.Lease) string {
	if !l.Revocable {
		return "until it ends by itself: it cannot be revoked"
	}
	return l.MaxRevocationLag.String()
}

// askRevocations shows first what a revocation of many hits.
func (s *server) askRevocations(v *Visit) (Screen, error) {
	sel, fields := selected(v.Get), filled(leaseFilters, v)
	if sel == (broker.LeaseSelector{}) {
		return Screen{}, broker.Invalid("", "name a vim, a principal, a person (for), an operation or a VNF instance")
	}
	list, err := LeaseList(v, s.Leaser, query(sel, broker.LeaseActive, v.Page()))
	list.Label = "Revoke all of these?"
	view := Screen{Page: "revoke leases", Of: slices.Clone(fields), List: list}
	for n := range fields {
		fields[n].Hidden = true
	}
	view.Ask = &Question{Button: "Revoke them all", Fields: fields, Back: Here("leases") + "?" + address(fields)}
	return view, err
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
