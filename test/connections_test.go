package test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// connecting says what of a package connects by itself, without the bounds of broker/remote and
// the rules of policy/egress.
var connecting = map[string][]string{
	"net":                   {"Dial", "DialIP", "DialTCP", "DialTimeout", "DialUDP", "DialUnix", "Dialer"},
	"net/http":              {"DefaultClient", "DefaultTransport", "Get", "Head", "Post", "PostForm", "Transport"},
	"crypto/tls":            {"Dial", "DialWithDialer", "Dialer"},
	"k8s.io/client-go/rest": {"HTTPClientFor", "RESTClientFor", "TransportFor", "UnversionedRESTClientFor"},
	"github.com/gophercloud/gophercloud/v2/openstack": {"AuthenticatedClient", "NewClient"},
	"github.com/hashicorp/vault/api":                  {"DefaultConfig"},
	"golang.org/x/oauth2":                             {"NewClient"},
}

// given says what stands on a default of its own unless a literal of it names the field.
var given = map[string]string{
	"net/http.Client": "Transport",
	"github.com/gophercloud/gophercloud/v2.ProviderClient": "HTTPClient",
	"github.com/hashicorp/vault/api.Config":                "HttpClient",
}

// connects are the packages that may connect: the transport, the rules that it stands on, and the
// client of our own API and the one of logins, which run at people's.
var connects = []string{"broker/remote", "policy/egress", "broker/api/client", "cmd/vimbroker/signin"}

// Whatever talks to a system outside does so through broker/remote, or connects under the egress
// rules; PostgreSQL's driver alone connects by itself.
func TestOneTransport(t *testing.T) {
	found := map[string]bool{} // what the packages that may connect do: the test sees it
	eachSource(t, func(pkg, file string) {
		for _, what := range connectionsOf(t, file, nil) {
			if found[what] = true; !slices.Contains(connects, pkg) {
				t.Errorf("%s: %s connects by itself: use broker/remote", file, what)
			}
		}
	})
	for _, known := range []string{"net/http.Transport", "net.Dialer", "net/http.DefaultTransport"} {
		if !found[known] {
			t.Errorf("nothing uses %s any more: the walk is broken, or the table is", known)
		}
	}
}

// What a file does under another name of the package, or by leaving something out, is seen.
func TestConnectionsAreSeen(t *testing.T) {
	for source, want := range map[string]string{
		`import web "net/http"; var _ = web.DefaultClient`:              "net/http.DefaultClient",
		`import "net/http"; var _ = http.Client{Timeout: 1}`:            "net/http.Client",
		`import "net/http"; var _ = new(http.Client)`:                   "net/http.Client",
		`import "net/http"; var c http.Client`:                          "net/http.Client",
		`import "net/http"; var _ = http.Client{Transport: nil}`:        "",
		`import "net/http"; func f(*http.Client) {}`:                    "",
		`import "net"; func f() { _, _ = (&net.Dialer{}).Dial("","") }`: "net.Dialer",
	} {
		if got := strings.Join(connectionsOf(t, "x.go", "package x; "+source), " "); got != want {
			t.Errorf("%s: %q, want %q", source, got, want)
		}
	}
}

// connectionsOf are the ways in which a file connects by itself.
func connectionsOf(t *testing.T, file string, source any) (found []string) {
	t.Helper()
	parsed, err := parser.ParseFile(token.NewFileSet(), file, source, 0)
	if err != nil {
		t.Fatal(err)
	}
	imports := map[string]string{} // by the name that the file has for it
	for _, spec := range parsed.Imports {
		imp, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			t.Fatal(err)
		}
		name := path.Base(strings.TrimSuffix(imp, "/v2"))
		if spec.Name != nil {
			name = spec.Name.Name
		}
		imports[name] = imp
	}
	named := func(n ast.Node) (imp, name string) {
		if s, ok := n.(*ast.SelectorExpr); ok {
			if x, ok := s.X.(*ast.Ident); ok {
				return imports[x.Name], s.Sel.Name
			}
		}
		return "", ""
	}
	ast.Inspect(parsed, func(n ast.Node) bool {
		if imp, name := named(n); slices.Contains(connecting[imp], name) {
			found = append(found, imp+"."+name)
		}
		var made ast.Expr
		names := func(string) bool { return false }
		switch n := n.(type) {
		case *ast.CompositeLit:
			made = n.Type
			names = func(field string) bool {
				return slices.ContainsFunc(n.Elts, func(e ast.Expr) bool {
					kv, ok := e.(*ast.KeyValueExpr)
					if !ok {
						return false
					}
					key, ok := kv.Key.(*ast.Ident)
					return ok && key.Name == field
				})
			}
		case *ast.ValueSpec:
			made = n.Type
		case *ast.CallExpr:
			if f, ok := n.Fun.(*ast.Ident); ok && f.Name == "new" {
				made = n.Args[0]
			}
		}
		if imp, name := named(made); given[imp+"."+name] != "" && !names(given[imp+"."+name]) {
			found = append(found, imp+"."+name)
		}
		return true
	})
	return found
}
