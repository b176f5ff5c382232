package test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/vimbroker/vimbroker/broker/api/v1"
	"github.com/vimbroker/vimbroker/broker/oauth"
)

// TestOnlyTheEngineTakesLeasesOfPlans: such a lease is graded without what its namespaces hold. No door, no placement
// and no command can ask for one: the word is written in the engine alone, and no request has a member of that name.
func TestOnlyTheEngineTakesLeasesOfPlans(t *testing.T) {
	takers := map[string]bool{}
	eachSource(t, func(pkg, file string) {
		if floorOf(pkg) == "test" || strings.HasSuffix(file, "_test.go") {
			return
		}
		tree, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		if plans(tree) {
			takers[strings.TrimPrefix(file, "../")] = true
		}
	})
	// The broker hands the word on, from the request to the row, and from either to the driver.
	want := map[string]bool{"lifecycle/plan.go": true, "broker/issue.go": true, "broker/grade.go": true}
	if !reflect.DeepEqual(takers, want) {
		t.Errorf("leases are said to be of plans in %v, want %v", takers, want)
	}
	for _, request := range []any{v1.LeaseRequest{}, oauth.Placement{}} {
		of := reflect.TypeOf(request)
		if _, has := of.FieldByName("Planned"); has {
			t.Errorf("a %s can ask for a lease of a plan", of)
		}
	}
}

// plans reports whether a file sets a field Planned of a value that it makes or has.
func plans(tree *ast.File) (found bool) {
	named := func(e ast.Expr) bool {
		switch e := e.(type) {
		case *ast.Ident:
			return e.Name == "Planned"
		case *ast.SelectorExpr:
			return e.Sel.Name == "Planned"
		}
		return false
	}
	ast.Inspect(tree, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.KeyValueExpr:
			found = found || named(n.Key)
		case *ast.AssignStmt:
			found = found || slices.ContainsFunc(n.Lhs, named)
		case *ast.UnaryExpr:
			found = found || n.Op == token.AND && named(n.X) && !strings.HasPrefix(tree.Name.Name, "rows")
		}
		return true
	})
	return found
}
