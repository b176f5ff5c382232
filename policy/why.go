package policy

import (
	"fmt"
	"slices"
	"strings"

	cedar "github.com/cedar-policy/cedar-go"
	"github.com/cedar-policy/cedar-go/ast"
	"github.com/cedar-policy/cedar-go/types"
	cedarast "github.com/cedar-policy/cedar-go/x/exp/ast"
	"github.com/cedar-policy/cedar-go/x/exp/eval"
)

// maxWhy bounds the conditions that an answer names.
const maxWhy = 40

// Why names the conditions by which a question is denied: those of the policies that forbid it, and where none does,
// those that keep each policy which permits such an action from doing so. It is empty where the question is allowed.
func (p *Policies) Why(r Request) []string {
	d := p.Decide(r)
	shape, known := p.actions[r.Action]
	if d.Allowed || !known || r.Principal.Actor != "" {
		return nil
	}
	question, about := p.ask(shape, r, principalEntity(r.Principal, ""))
	env := eval.Env{
		Entities: about, Principal: question.Principal, Action: question.Action, Resource: question.Resource, Context: question.Context,
	}
	var said []string
	for _, c := range shape.callers[r.Resource.Kind] {
		forbids := slices.Contains(d.Policies, string(c.id))
		if !forbids && (len(d.Policies) > 0 || c.policy.Effect() == cedar.Forbid) {
			continue
		}
		for _, condition := range (*cedarast.Policy)(c.policy.AST()).Conditions {
			wants := condition.Condition == cedarast.ConditionWhen
			if value, ok := truth(condition.Body, env); ok && (value == wants) == forbids {
				for _, leaf := range decisive(condition.Body, env, value) {
					said = append(said, string(c.id)+": "+leaf)
				}
			}
		}
	}
	return said[:min(len(said), maxWhy)]
}

// decisive are the parts of a condition that give it its value.
func decisive(n cedarast.IsNode, env eval.Env, value bool) []string {
	var parts []cedarast.IsNode
	switch n := n.(type) {
	case cedarast.NodeTypeAnd:
		parts = []cedarast.IsNode{n.Left, n.Right}
	case cedarast.NodeTypeOr:
		parts = []cedarast.IsNode{n.Left, n.Right}
	case cedarast.NodeTypeNot:
		return decisive(n.Arg, env, !value)
	default:
		return []string{leafText(n, env, value)}
	}
	var said []string
	for _, part := range parts {
		if is, ok := truth(part, env); ok && is == value {
			said = append(said, decisive(part, env, value)...)
		}
	}
	return said
}

// truth is the value of a condition; the second is false where it has none.
func truth(n cedarast.IsNode, env eval.Env) (value, ok bool) {
	v, err := eval.Eval(n, env)
	b, is := v.(types.Boolean)
	return bool(b), err == nil && is
}

// leafText writes one comparison, whether it holds, and the values of the attributes in it.
func leafText(n cedarast.IsNode, env eval.Env, holds bool) string {
	verdict := "does not hold"
	if holds {
		verdict = "holds"
	}
	var values []string
	cedarast.Inspect(cedarast.NewNode(n), func(in cedarast.IsNode) bool {
		switch in.(type) {
		case cedarast.NodeTypeAccess, cedarast.NodeTypeGetTag:
		default:
			return true
		}
		if v, err := eval.Eval(in, env); err == nil {
			values = append(values, nodeText(in)+" is "+string(v.MarshalCedar()))
		}
		return false
	})
	text := fmt.Sprintf("%s %s", nodeText(n), verdict)
	if len(values) > 0 {
		text += " (" + strings.Join(values, ", ") + ")"
	}
	return text
}

// nodeText writes an expression as Cedar does.
func nodeText(n cedarast.IsNode) string {
	p := cedarast.Permit()
	p.Conditions = []cedarast.ConditionType{{Condition: cedarast.ConditionWhen, Body: n}}
	text := string(cedar.NewPolicyFromAST((*ast.Policy)(p)).MarshalCedar())
	_, text, _ = strings.Cut(text, "when")
	return strings.TrimSpace(strings.Trim(strings.TrimSpace(text), "{};"))
}
