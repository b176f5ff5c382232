package web

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/broker/clientconfig"
	"github.com/vimbroker/vimbroker/broker/secret"
)

// credentials are the types that hold one, or open one.
var credentials = []reflect.Type{
	reflect.TypeFor[secret.Text](), reflect.TypeFor[clientconfig.Config](), reflect.TypeFor[broker.Credential](), reflect.TypeFor[secret.KeyStore](),
}

// holds names how a type leads to a credential; empty if it does not.
func holds(t reflect.Type, seen map[reflect.Type]bool) string {
	if slices.Contains(credentials, t) {
		return t.String()
	}
	if seen[t] {
		return ""
	}
	seen[t] = true
	switch t.Kind() {
	case reflect.Pointer, reflect.Slice, reflect.Array, reflect.Map, reflect.Chan:
		return holds(t.Elem(), seen)
	case reflect.Struct:
		for i := range t.NumField() {
			if found := holds(t.Field(i).Type, seen); found != "" {
				return t.String() + "." + t.Field(i).Name + " > " + found
			}
		}
	case reflect.Func:
		for i := range t.NumOut() {
			if found := holds(t.Out(i), seen); found != "" {
				return found
			}
		}
	}
	return ""
}

// gives names the methods of an interface whose answers lead to a credential.
func gives(t reflect.Type) (all []string) {
	for i := range t.NumMethod() {
		m := t.Method(i)
		for n := range m.Type.NumOut() {
			if found := holds(m.Type.Out(n), map[reflect.Type]bool{}); found != "" {
				all = append(all, m.Name+" > "+found)
			}
		}
	}
	return all
}

// The page reaches the domain through interfaces alone, and no answer of theirs holds a credential.
func TestThePageReachesNoCredential(t *testing.T) {
	options := reflect.TypeFor[Options]()
	interfaces := 0
	for i := range options.NumField() {
		f := options.Field(i)
		if f.Type.Kind() != reflect.Interface {
			if strings.Contains(f.Type.String(), "broker.") || strings.Contains(f.Type.String(), "oauth.") {
				t.Errorf("%s is %s, and no interface", f.Name, f.Type)
			}
			continue
		}
		interfaces++
		for _, how := range gives(f.Type) {
			t.Errorf("%s gives a credential: %s", f.Name, how)
		}
	}
	if interfaces < 8 {
		t.Errorf("only %d interfaces were looked at", interfaces)
	}
	// The walk sees one where there is one.
	type leaking interface {
		IssueLease() (broker.Lease, clientconfig.Config, error)
		Hidden() map[string][]struct{ deep *secret.Text }
		Later() func() secret.Text
	}
	if found := gives(reflect.TypeFor[leaking]()); len(found) != 3 {
		t.Errorf("of three ways to a credential the walk sees %v", found)
	}
}

// No handler gets at more than its interface has: there is no type assertion, no reflection, and no package of
// credentials.
func TestThePageAssertsNothing(t *testing.T) {
	for _, dir := range []string{".", "../../../lifecycle/api/web"} {
		files, err := filepath.Glob(filepath.Join(dir, "*.go"))
		if err != nil || len(files) == 0 {
			t.Fatalf("%s: %v, %v", dir, files, err)
		}
		for _, name := range files {
			if strings.HasSuffix(name, "_test.go") {
				continue
			}
			file, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
			if err != nil {
				t.Fatal(err)
			}
			for n := range ast.Preorder(file) {
				switch n := n.(type) {
				case *ast.TypeAssertExpr:
					t.Errorf("%s has a type assertion", name)
				case *ast.ImportSpec:
					for _, out := range []string{"reflect", "unsafe", "broker/secret\"", "broker/clientconfig\"", "broker/keyring\"", "/drivers/"} {
						if strings.Contains(n.Path.Value, out) {
							t.Errorf("%s imports %s", name, n.Path.Value)
						}
					}
				}
			}
		}
	}
}
