package policy

import (
	"go/ast"
	"go/parser"
	"go/token"
	"slices"
	"strconv"
	"testing"
	"time"

	cedar "github.com/cedar-policy/cedar-go"
	"github.com/cedar-policy/cedar-go/x/exp/schema/validate"
)

// TestSchemaKnowsEveryAction reads the constants of type Action from the source:
// one that the schema does not have would be denied for ever.
func TestSchemaKnowsEveryAction(t *testing.T) {
	file, err := parser.ParseFile(token.NewFileSet(), "policy.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	var declared []string
	ast.Inspect(file, func(n ast.Node) bool {
		spec, ok := n.(*ast.ValueSpec)
		if !ok {
			return true
		}
		if typ, ok := spec.Type.(*ast.Ident); ok && typ.Name == "Action" {
			value, err := strconv.Unquote(spec.Values[0].(*ast.BasicLit).Value)
			if err != nil {
				t.Fatal(err)
			}
			declared = append(declared, value)
		}
		return true
	})
	p, err := Load(nil)
	if err != nil {
		t.Fatal(err)
	}
	var known []string
	for action := range p.actions {
		known = append(known, string(action))
	}
	slices.Sort(declared)
	slices.Sort(known)
	if len(declared) == 0 || !slices.Equal(declared, known) {
		t.Errorf("policy.go declares %q, the schema knows %q", declared, known)
	}
}

// TestRequestsConformToTheSchema: policies are checked against the schema, so what
// they are evaluated on must be as it says.
func TestRequestsConformToTheSchema(t *testing.T) {
	known, err := parseSchema()
	if err != nil {
		t.Fatal(err)
	}
	validator := validate.New(known)
	p, err := Load(nil)
	if err != nil {
		t.Fatal(err)
	}
	who := principalEntity(Principal{Name: "alice", Project: "core", Roles: []string{"member"}, Actor: "system:lifecycle", Claims: someClaims()}, "")
	for action, shape := range p.actions {
		for _, kind := range shape.kinds {
			what := resourceEntity(Resource{
				Kind: kind, ID: "x", Project: "core", Labels: map[string]string{"stage": "prod"}, VIMName: "edge", Owner: "alice",
			})
			request := cedar.Request{Principal: who.UID, Action: shape.entity, Resource: what.UID}
			switch shape.context {
			case wishContext:
				request.Context = wishRecord(Wish{TTL: time.Hour, Role: "edit", Namespaces: []string{"a"}, Purpose: "p", Grade: "bounded", ClusterWide: true, Rules: LeaseRules{Resources: []string{"pods"}, Verbs: []string{"get"}}}, time.Now())
			case draftContext:
				request.Context = draftRecord(&VIMDraft{Name: "edge", Labels: map[string]string{"stage": "prod"}})
			case planContext:
				request.Context = planRecord(&OperationPlan{VIMName: "edge", VIMLabels: map[string]string{"stage": "prod"}, Kinds: []string{"pods"}, Images: []string{"web"}}, time.Now())
			}
			if err := validator.Entities(cedar.EntityMap{who.UID: who, what.UID: what}); err != nil {
				t.Errorf("%s on %s: entities: %v", action, kind, err)
			}
			if err := validator.Request(request); err != nil {
				t.Errorf("%s on %s: request: %v", action, kind, err)
			}
		}
	}
}

// someClaims has one of each.
func someClaims() map[string][]string {
	claims := map[string][]string{}
	for name := range ClaimNames {
		claims[name] = []string{"1"}
	}
	return claims
}
