package web

import (
	"cmp"
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
		broker.GradeBounded:    "nobody else: it does what the role or rules say",
		broker.GradeNamespaces: "any identity of the lease's namespaces",
		broker.GradeUnbounded:  "any identity",
		"":                     "what nobody knows: the VIM's driver computes no grade",
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

// windows bounds how often the leases of one page are asked for. Who is asked looks at some hundreds of them at a time, and
// returns those that match: few or none, though there are more.
const windows = 20

func leasePage(v *Visit, from Leaser, q broker.LeaseQuery) (found []broker.Lease, next string, err error) {
	size := q.Size
	for range windows {
		var more []broker.Lease
		more, next, err = from.Leases(v.Context(), v.Principal, q)
		found = append(found, more...)
		if err != nil || next == "" || len(found) >= size {
			break
		}
		q.Page = broker.Page{Size: size - len(found), Token: next}
	}
	return found, next, err
}

// LeaseList is a page of leases, for the template "lease table".
func LeaseList(v *Visit, from Leaser, q broker.LeaseQuery) (*Block, error) {
	list, err := Found(leasePage(v, from, q))
	if list.Next != "" {
		list.Empty = "None of the newest is one of these. Go on with the next page."
	}
	return list, err
}

// liveLeases are the newest live leases on a VIM.
func (s *server) liveLeases(v *Visit, vim, title string, most int) (*Block, error) {
	list, err := LeaseList(v, s.Leaser, broker.LeaseQuery{VIM: vim, State: broker.LeaseActive, Page: broker.Page{Size: most}})
	list.Title = title
	if list.Next != "" {
		list.Note, list.Next = "The newest of them.", ""
	}
	return list, err
}

// leaseFilters are the names of the filters of leases that a revocation takes, too.
var leaseFilters = []Field{
	{Name: "vim", Label: "VIM", Hint: "name or id"},
	{Name: "principal", Label: "Holder"},
	{Name: "for", Label: "For"},
	{Name: "operation", Label: "Operation"},
	{Name: "instance", Label: "VNF instance"},
}

func selected(get func(string) string) broker.LeaseQuery {
	return broker.LeaseQuery{
		VIM: get("vim"), Principal: get("principal"), For: get("for"), Operation: get("operation"), Instance: get("instance"),
		State: broker.LeaseActive,
	}
}

func (s *server) listLeases(v *Visit) (Screen, error) {
	q := selected(v.Get)
	if v.Query.Has("state") {
		q.State = broker.LeaseState(v.Get("state"))
	}
	q.IDPrefix, q.Page = v.Get("id"), v.Page()
	list, err := LeaseList(v, s.Leaser, q)
	if err != nil {
		return Screen{}, err
	}
	list.Empty = cmp.Or(list.Empty, "There is no such lease. Take a filter away, or take one: vimbroker lease issue --vim VIM --role view")
	view := Listing(v, "leases", "Leases", list, append(filled(leaseFilters, v.Get),
		Field{Name: "state", Label: "State", Value: string(q.State), Options: options(leaseStates)},
		Field{Name: "id", Label: "Id", Hint: "its beginning"})...)
	if some := address(filled(leaseFilters, v.Get)); some != "" {
		view.Of = Here("revocation") + "?" + some
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
	q, fields := selected(v.Get), filled(leaseFilters, v.Get)
	if address(fields) == "" {
		return Screen{}, broker.Invalid("", "name a vim, a principal, a person (for), an operation or a VNF instance")
	}
	q.Page = v.Page()
	list, err := LeaseList(v, s.Leaser, q)
	list.Label = "Revoke all of these?"
	view := Screen{Page: "revoke leases", Of: slices.Clone(fields), List: list}
	for n := range fields {
		fields[n].Hidden = true
	}
	view.Ask = &Question{Button: "Revoke them all", Fields: fields, Back: Here("leases") + "?" + address(fields)}
	return view, err
}

func (s *server) revokeAll(v *Visit, fields url.Values) (string, error) {
	q := selected(fields.Get)
	_, err := s.Leaser.RevokeLeases(v.Context(), v.Principal, broker.LeaseSelector{
		VIM: q.VIM, Principal: q.Principal, For: q.For, Operation: q.Operation, Instance: q.Instance,
	})
	return Here("leases") + "?state=&" + address(filled(leaseFilters, fields.Get)), err
}
