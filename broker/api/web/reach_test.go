package web

import (
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"html/template"
	"io"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/broker/clientconfig"
	"github.com/vimbroker/vimbroker/broker/grant"
	"github.com/vimbroker/vimbroker/broker/oauth"
	"github.com/vimbroker/vimbroker/broker/onboard"
	"github.com/vimbroker/vimbroker/broker/secret"
	"github.com/vimbroker/vimbroker/broker/session"
	"github.com/vimbroker/vimbroker/policy"
	"github.com/vimbroker/vimbroker/policy/audit"
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

// What a template is given leads to no method of the domain but those of the things that it shows.
func TestTemplatesReachNoDomain(t *testing.T) {
	seen := map[reflect.Type]bool{}
	var look func(t reflect.Type) string
	look = func(t reflect.Type) string {
		if seen[t] || t == reflect.TypeFor[time.Time]() {
			return ""
		}
		seen[t] = true
		switch t.Kind() {
		case reflect.Pointer, reflect.Slice, reflect.Map:
			return look(t.Elem())
		case reflect.Interface, reflect.Func, reflect.Chan:
			if t.Kind() != reflect.Interface || t.NumMethod() > 0 {
				return t.String()
			}
		case reflect.Struct:
			for i := range t.NumField() {
				if found := look(t.Field(i).Type); found != "" {
					return t.String() + "." + t.Field(i).Name + " > " + found
				}
			}
		}
		return ""
	}
	if found := look(reflect.TypeFor[frame]()); found != "" {
		t.Errorf("a template gets at more than it shows: %s", found)
	}
	if look(reflect.TypeFor[Options]()) == "" {
		t.Error("the walk does not see a method of the domain where there is one")
	}
}

// full sets every field of a value to something.
func full(v reflect.Value, depth int) {
	if depth > 8 {
		return
	}
	switch v.Kind() {
	case reflect.String:
		v.SetString("x")
	case reflect.Int, reflect.Int64:
		v.SetInt(2)
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		full(v.Elem(), depth+1)
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		full(v.Index(0), depth+1)
	case reflect.Map:
		key, value := reflect.New(v.Type().Key()).Elem(), reflect.New(v.Type().Elem()).Elem()
		full(key, depth+1)
		full(value, depth+1)
		v.Set(reflect.MakeMap(v.Type()))
		v.SetMapIndex(key, value)
	case reflect.Struct:
		if v.Type() == reflect.TypeFor[time.Time]() {
			v.Set(reflect.ValueOf(time.Unix(1e9, 0)))
			return
		}
		for i := range v.NumField() {
			if v.Field(i).CanSet() {
				full(v.Field(i), depth+1)
			}
		}
	}
}

func some[T any](change ...func(*T)) any {
	var one T
	full(reflect.ValueOf(&one).Elem(), 0)
	for _, c := range change {
		c(&one)
	}
	return one
}

func list[T any]() *Block { return &Block{Of: []T{some[T]().(T), *new(T)}, Next: "?page=2"} }

// Every template can show things whose fields are all set, and such as have none.
func TestTemplatesFitTheThings(t *testing.T) {
	s := &server{Options: Options{Now: time.Now}}
	all, err := s.pages()
	if err != nil {
		t.Fatal(err)
	}
	s.templates = func() (*template.Template, error) { return all, nil }
	entry, grants := map[string]any{"Entry": some[audit.Entry](), "Proof": map[string]any{"Root": "x", "Line": "x", "Path": "x"}}, list[grant.Record]()
	vim := map[string]any{
		"VIM": some[broker.VIM](), "Waits": []string{"x"}, "Same": []broker.VIM{{}}, "Leases": list[broker.Lease](),
		"Generations": []broker.Generation{some[broker.Generation]().(broker.Generation), {}},
	}
	fields := []Field{{Name: "vim", Label: "VIM", Value: "x"}}
	shown := map[string][]Screen{
		"overview": {{Of: map[string]any{"Blocks": []*Block{{Title: "x"}}, "Replicas": []broker.Replica{some[broker.Replica]().(broker.Replica), {}}}}},
		"VIMs":     {{List: list[broker.VIM](), Of: map[string]Cell{"x": {Text: "2 live"}}}}, "VIM": {{Of: vim, Log: list[audit.Entry]()}, {Of: map[string]any{"VIM": broker.VIM{}, "Leases": &Block{}}}},
		"inventory": {{Of: some[broker.Inventory]()}, {Of: broker.Inventory{}}},
		"check VIM": {{Of: some[broker.VIM]()}}, "suspend VIM": {{Of: some[broker.VIM]()}}, "resume VIM": {{Of: some[broker.VIM]()}},
		"drain VIM": {{Of: some[broker.VIM](), List: list[broker.Lease]()}}, "leases": {{List: list[broker.Lease](), Of: "/ui/revocation"}},
		"lease":        {{Of: some[broker.Lease](), Log: list[audit.Entry]()}, {Of: broker.Lease{State: broker.LeaseActive}}},
		"revoke lease": {{Of: some[broker.Lease]()}}, "revoke leases": {{Of: fields, List: list[broker.Lease]()}},
		"audit": {{List: list[audit.Entry](), Of: some[outside]()}, {List: &Block{}, Of: outside{}}}, "entry": {{Of: entry}},
		"clusters": {{List: list[onboard.View](), Of: []onboard.ManagementView{some[onboard.ManagementView]().(onboard.ManagementView), {}}}},
		"cluster":  {{Of: some[onboard.View]()}, {Of: onboard.View{}}}, "release cluster": {{Of: some[onboard.ManagementView]()}},
		"policies": {{List: &Block{}}, {List: &Block{}, Of: some[answer](func(a *answer) { a.Wrong = "" })}, {List: &Block{}, Of: answer{Wrong: "x"}}},
		"clients":  {{List: list[oauth.Client](), Of: grants}}, "client": {{Of: some[oauth.Client](), List: grants}}, "grants": {{List: grants}},
		"sessions":    {{Of: map[string]any{"Who": some[policy.Principal](), "Own": "x", "All": []session.Session{some[session.Session]().(session.Session)}}}},
		"end session": {{Of: some[session.Session]()}},
	}
	parts := []string{"broker.html", "ask VIM", "lease table", "entries", "log", "grant table"}
	defined := template.Must(template.New("").Funcs(words).Funcs(template.FuncMap{"when": when, "body": when}).ParseFS(files, "assets/broker.html"))
	for _, one := range defined.Templates() {
		screens, known := shown[one.Name()]
		if !known && one.Name() != "" && !slices.Contains(parts, one.Name()) {
			t.Errorf("nothing is shown of the page %q", one.Name())
		}
		for n, screen := range screens {
			screen.Page = one.Name()
			if err := s.encode(io.Discard, &frame{Screen: screen}); err != nil {
				t.Errorf("%s, %d: %v", one.Name(), n, err)
			}
		}
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
					if n.Type != nil {
						t.Errorf("%s has a type assertion", name)
					}
				case *ast.TypeSwitchStmt:
					for _, clause := range n.Body.List {
						for _, of := range clause.(*ast.CaseClause).List {
							if !slices.Contains([]string{"nil", "Cell", "[]Cell", "time.Time", "[]string"}, types.ExprString(of)) {
								t.Errorf("%s asks whether a value is %s", name, types.ExprString(of))
							}
						}
					}
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
