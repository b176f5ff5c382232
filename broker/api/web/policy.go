package web

import (
	"cmp"
	"errors"
	"strings"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/policy"
)

func (s *server) policies() Room {
	return Room{Nav: "Policies", Path: "policies", Addresses: []Address{{Path: "/policies", Show: s.explain}}}
}

var questionFields = []Field{
	{Name: "principal", Label: "Who", Hint: "you"},
	{Name: "roles", Label: "With the roles", Hint: "yours"},
	{Name: "project", Label: "Acting in project", Hint: "yours"},
	{Name: "action", Label: "May do", Hint: "lease:issue"},
	{Name: "vim", Label: "On the VIM", Hint: "name or id"},
	{Name: "lease", Label: "With the lease", Hint: "id"},
	{Name: "role", Label: "For the role", Hint: "edit"},
	{Name: "namespaces", Label: "In the namespaces"},
	{Name: "grade", Label: "With the grade", Options: []string{"bounded", "namespaces", "unbounded"}},
}

// answer is what policy says to a question, or why that is none.
type answer struct {
	Wrong string
	Q     policy.Principal
	D     policy.Decision
	Texts map[string]string
}

// explain asks policy what it would decide, as vimbroker policy explain does.
func (s *server) explain(v *Visit) (Screen, error) {
	view := Listing(v, "policies", "Who may do this?", &Block{Button: "Ask"}, questionFields...)
	if v.Get("action") == "" {
		return view, nil
	}
	q, err := s.question(v)
	if err != nil {
		return Screen{}, err
	}
	d, err := s.Overseer.Explain(v.Context(), v.Principal, q)
	if known := (*broker.Error)(nil); errors.As(err, &known) && errors.Is(err, broker.ErrInvalid) {
		view.Of = answer{Wrong: known.Error()}
		return view, nil
	}
	// Whoever may ask about others sees the policies that decided.
	texts := map[string]string{}
	if err == nil && len(d.Policies) > 0 && v.May(policy.PolicyExplain, q.Principal.Project) {
		texts, err = s.Overseer.PolicyTexts(v.Context(), v.Principal, d.Policies)
	}
	view.Of = answer{Q: q.Principal, D: d, Texts: texts}
	return view, err
}

// question is what the address asks.
func (s *server) question(v *Visit) (policy.Request, error) {
	q := policy.Request{Principal: v.Principal, Action: policy.Action(v.Get("action"))}
	if name, project := v.Get("principal"), cmp.Or(v.Get("project"), v.Principal.Project); name != "" || project != v.Principal.Project {
		q.Principal = policy.Principal{Name: cmp.Or(name, v.Principal.Name), Project: project}
	}
	if roles := wordsOf(v.Get("roles")); len(roles) > 0 {
		q.Principal.Roles = roles
	}
	q.Resource.Project = q.Principal.Project
	if ref := v.Get("vim"); ref != "" {
		one, err := s.Registry.VIM(v.Context(), v.Principal, ref)
		if err != nil {
			return q, err
		}
		q.Resource = one.Resource()
	}
	if id := v.Get("lease"); id != "" {
		l, err := s.Leaser.Lease(v.Context(), v.Principal, id)
		if err != nil {
			return q, err
		}
		q.Resource = l.Resource()
	}
	q.Wish = broker.Wish(broker.LeaseRequest{Role: v.Get("role"), Namespaces: wordsOf(v.Get("namespaces"))}, broker.Grade(v.Get("grade")))
	return q, nil
}

// wordsOf are those of a text with commas or blanks between them.
func wordsOf(text string) []string {
	return strings.FieldsFunc(text, func(r rune) bool { return r == ',' || r == ' ' })
}
