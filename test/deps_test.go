// Package test holds what spans packages: the rules of the house, the scripted
// stories, and in the folders below the conformance suites, the fakes at the
// network, the real systems, the crash kit and the benchmarks.
package test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/mod/modfile"
)

const module = "github.com/vimbroker/vimbroker/"

// floors are the folders that may stand at the top with code in them, the lowest first. An import
// points to its own floor or to a lower one.
var floors = []string{"policy", "broker", "lifecycle", "drivers", "cmd", "test"}

// ground are the packages of a floor that import nothing of ours outside their own folder.
var ground = []string{
	"broker/api/limit", "broker/failpoint", "broker/job", "broker/secret", "drivers/kubernetes/rbac",
	"broker/link/network", "lifecycle/vnfpkg", "policy", "policy/audit/tree", "policy/egress",
}

// beside are the arrows between two outside systems: a driver imports another one only where it
// says so here. What both stores share is no system, and so is how the broker logs in at a
// Keystone, or keeps connections to API servers.
var beside = map[string][]string{
	"drivers/barbican":   {"drivers/keystone"},
	"drivers/clusterapi": {"drivers/ways"},
	"drivers/helm":       {"drivers/manifests"},
	"drivers/kubernetes": {"drivers/ways"},
	"drivers/manifests":  {"drivers/ways"},
	"drivers/neutron":    {"drivers/heat"},
	"drivers/openstack":  {"drivers/keystone"},
	"drivers/postgres":   {"drivers/queue", "drivers/rows", "drivers/tables"},
	"drivers/sqlite":     {"drivers/queue", "drivers/rows", "drivers/tables"},
	"drivers/tables":     {"drivers/queue", "drivers/rows"},
}

// wire are the packages below an api folder that a package outside such a folder imports. A door
// is called by none: it calls the domain.
var wire = []string{"broker/api/limit", "broker/api/sol003"}

// homes says where the SDK of each outside system lives: nowhere else may import it.
var homes = map[string][]string{
	"k8s.io/":                        {"drivers/clusterapi", "drivers/helm/render", "drivers/kubernetes", "drivers/manifests", "drivers/ways"},
	"github.com/go-jose/":            {"broker/oauth", "broker/trust"},
	"github.com/fluxcd/":             {"drivers/manifests"},
	"github.com/smallstep/":          {"lifecycle/vnfpkg"},
	"sigs.k8s.io/":                   {"drivers/helm/render", "drivers/kubernetes"},
	"helm.sh/":                       {"drivers/helm/render"},
	"github.com/ProtonMail/":         {"drivers/helm/render"},
	"github.com/fernet/":             {"broker/secret"},
	"github.com/hashicorp/vault/":    {"drivers/vault"},
	"github.com/gophercloud/":        {"drivers/barbican", "drivers/heat", "drivers/keystone", "drivers/neutron", "drivers/openstack"},
	"golang.org/x/mod/":              {"broker/notary", "policy/audit/tree"},
	"github.com/transparency-dev/":   {"policy/audit/tree"},
	"github.com/cedar-policy/":       {"policy"},
	"github.com/jackc/pgx/":          {"drivers/postgres"},
	"modernc.org/":                   {"drivers/sqlite"},
	"database/sql":                   {"drivers/sqlite"},
	"github.com/danielgtaylor/huma/": {"broker/api/rest"},
	"github.com/prometheus/":         {"broker/api", "cmd/vimbroker/server", "lifecycle/api/metrics"},
	"github.com/leodido/":            {"drivers/outlet"},
	"github.com/cloudevents/":        {"drivers/outlet"},
	"golang.org/x/oauth2/":           {"drivers/callback"},
	"golang.org/x/oauth2":            {"broker/session", "cmd/vimbroker/signin", "drivers/callback"},
	"github.com/spf13/":              {"cmd/vimbroker/root", "cmd/vimbroker/cli", "cmd/vimbroker/console", "cmd/vimbroker/lessee", "cmd/vimbroker/server"},
	"net/http/pprof":                 {},
	// These register every API group of Kubernetes at the start of each command.
	"k8s.io/client-go/kubernetes/": {},
	// What people know from kubectl, without the rest of it.
	"k8s.io/client-go/util/jsonpath":    {"cmd/vimbroker/console"},
	"k8s.io/apimachinery/pkg/labels":    {"cmd/vimbroker/cli"},
	"k8s.io/apimachinery/pkg/selection": {"cmd/vimbroker/cli"},
	"unsafe":                            {},
	"os/exec":                           {"cmd/vimbroker/cli", "cmd/vimbroker/console", "cmd/vimbroker/lessee", "drivers/helm"},
}

func TestImportsPointDown(t *testing.T) {
	for pkg, imports := range packages(t, "..") {
		floor := slices.Index(floors, floorOf(pkg))
		if floor < 0 {
			t.Errorf("package %s stands in a folder that the house does not have", pkg)
		}
		for imp, file := range imports {
			if sdk := sdkOf(imp); sdk != "" && !slices.Contains(homes[sdk], pkg) && floorOf(pkg) != "test" {
				t.Errorf("%s: %s may not import %s, whose home is %v", file, pkg, imp, homes[sdk])
			}
			ours, ok := strings.CutPrefix(imp, module)
			if !ok {
				continue
			}
			if slices.Index(floors, floorOf(ours)) > floor {
				t.Errorf("%s: %s imports %s, which stands on a higher floor", file, pkg, ours)
			}
			if why := strays(pkg, ours); why != "" {
				t.Errorf("%s: %s imports %s: %s", file, pkg, ours, why)
			}
		}
	}
}

// strays says why a package may not import another one that does not stand higher; empty where it may.
func strays(pkg, imp string) string {
	switch floor := floorOf(pkg); {
	case floor == "test" || floor == "cmd":
		return ""
	case slices.Contains(ground, pkg) && !strings.HasPrefix(imp, pkg+"/"):
		return "it imports nothing of ours, so that everything may import it"
	case floor == "drivers" && floorOf(imp) == "drivers" && room(pkg) != room(imp) && !slices.Contains(beside[room(pkg)], room(imp)):
		return "a driver knows no other outside system"
	case strings.Contains(imp+"/", "/api/") && !strings.Contains(pkg+"/", "/api/") && !slices.Contains(wire, imp):
		return "only doors and cmd import a door"
	}
	return ""
}

// floorOf is the folder at the top that a package stands in.
func floorOf(pkg string) string { return strings.Split(pkg, "/")[0] }

// room is the folder on its floor that a package stands in.
func room(pkg string) string { return strings.Join(strings.SplitN(pkg, "/", 3)[:2], "/") }

// TestAnArrowUpIsSeen holds the rules against arrows that the house must not have.
func TestAnArrowUpIsSeen(t *testing.T) {
	for _, arrow := range [][2]string{
		{"broker/secret", "broker/job"},
		{"drivers/vault", "drivers/keydir"},
		{"drivers/heat", "drivers/manifests"},
		{"broker", "broker/api"},
		{"lifecycle", "lifecycle/api/vnflcm"},
		{"drivers/rows", "drivers/sqlite"},
	} {
		if strays(arrow[0], arrow[1]) == "" {
			t.Errorf("%s may import %s", arrow[0], arrow[1])
		}
	}
	for name, allowed := range beside {
		for _, imp := range allowed {
			if why := strays(name, imp); why != "" {
				t.Errorf("%s may not import %s: %s", name, imp, why)
			}
		}
	}
}

// sdkOf is the longest entry of the homes that an import belongs to.
func sdkOf(imp string) (longest string) {
	for sdk := range homes {
		if (imp == sdk || strings.HasSuffix(sdk, "/") && strings.HasPrefix(imp, sdk)) && len(sdk) > len(longest) {
			longest = sdk
		}
	}
	return longest
}

func TestNamesOfPackages(t *testing.T) {
	for pkg := range packages(t, "..") {
		switch name := path.Base(pkg); name {
		case "manager", "service", "util", "utils", "common", "helper", "helpers", "types", "impl", "base", "models":
			t.Errorf("package %s: %q says nothing; name it after a noun of the domain", pkg, name)
		case "errors", "log", "http", "net", "context", "time", "url", "tls", "json", "sql":
			t.Errorf("package %s is named like one of the standard library", pkg)
		}
	}
}

// eachSource calls do for each file of the product that is no test, with its package.
func eachSource(t *testing.T, do func(pkg, file string)) {
	t.Helper()
	for pkg := range packages(t, "..") {
		if strings.HasPrefix(pkg, "test") {
			continue
		}
		files, err := filepath.Glob(filepath.Join("..", pkg, "*.go"))
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			if strings.HasSuffix(file, "_test.go") {
				continue
			}
			do(pkg, file)
		}
	}
}

// The real Helm shares a third of its code with the product. A machine without caches compiles that
// once where the versions are the same.
func TestHelmHasTheVersionsOfTheProduct(t *testing.T) {
	ours, shared := versions(t, "../go.mod"), 0
	for name, version := range versions(t, "real/helm/go.mod") {
		want, both := ours[name]
		if !both {
			continue
		}
		shared++
		if want != version {
			t.Errorf("test/real/helm has %s %s, the product has %s; run: go get -C test/real/helm %s@%s", name, version, want, name, want)
		}
	}
	if shared < 100 {
		t.Errorf("the two share only %d modules: is this the module of the real Helm?", shared)
	}
}

// versions are the modules that a go.mod file requires, each with its version.
func versions(t *testing.T, file string) map[string]string {
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	mod, err := modfile.Parse(file, text, nil)
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]string{}
	for _, r := range mod.Require {
		all[r.Mod.Path] = r.Mod.Version
	}
	return all
}

// Every command of the one binary runs what its packages do at their start, so an
// expression is compiled when it is first used.
func TestNoExpressionIsCompiledAtTheStart(t *testing.T) {
	eachSource(t, func(_, file string) {
		parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range parsed.Decls {
			if g, ok := d.(*ast.GenDecl); ok && compiles(g) {
				t.Errorf("%s compiles a regular expression at the start of the process: wrap it in sync.OnceValue", file)
			}
		}
	})
}

// compiles reports whether a declaration compiles a regular expression outside a function.
func compiles(g *ast.GenDecl) (found bool) {
	ast.Inspect(g, func(n ast.Node) bool {
		if _, later := n.(*ast.FuncLit); later {
			return false
		}
		if s, ok := n.(*ast.SelectorExpr); ok && s.Sel.Name == "MustCompile" {
			found = true
		}
		return true
	})
	return found
}

// packages reads every package below root: what it imports outside its tests, and
// in which file.
func packages(t *testing.T, root string) map[string]map[string]string {
	t.Helper()
	found := map[string]map[string]string{}
	err := filepath.WalkDir(root, func(file string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name := d.Name()
		if d.IsDir() {
			if file != root && (strings.HasPrefix(name, ".") || name == "testdata" || name == "bin" || name == "dist") {
				return fs.SkipDir // deploy/dist is a module of its own, and above the house
			}
			return nil
		}
		if !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") {
			return nil
		}
		rel, err := filepath.Rel(root, file)
		if err != nil {
			return err
		}
		pkg := filepath.ToSlash(filepath.Dir(rel))
		if found[pkg] == nil {
			found[pkg] = map[string]string{}
		}
		parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ImportsOnly)
		if err != nil {
			return err
		}
		for _, spec := range parsed.Imports {
			imp, err := strconv.Unquote(spec.Path.Value)
			if err != nil {
				return err
			}
			found[pkg][imp] = rel
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(found) < 10 {
		t.Fatalf("found only %d packages below %s: the walk is broken", len(found), root)
	}
	return found
}
