// Package test holds what spans packages: this table of the house, the scripted
// stories, and in the folders below the conformance suites, the fakes at the
// network, the real systems, the crash kit and the benchmarks.
package test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const module = "github.com/vimbroker/vimbroker/"

// house says which of our own packages each package may import. Arrows point one
// way: requests come in through api, are decided in broker under policy, and go
// out through drivers. A new package gets its line in the same commit.
var house = map[string][]string{
	"policy":              {},
	"policy/audit":        {"policy", "policy/audit/tree"},
	"policy/audit/notary": {"broker/failpoint", "broker/secret", "policy/audit", "policy/audit/tree"},
	"policy/audit/export": {"broker/failpoint", "policy/audit", "policy/audit/tree"},
	"policy/audit/tree":   {},
	"policy/egress":       {},
	"broker/failpoint":    {},
	"broker/job":          {},
	"broker/secret":       {},
	"broker/strictyaml":   {"broker/secret"},
	"broker/kubeconfig":   {"broker/secret", "broker/strictyaml"},
	"broker/clientconfig": {"broker/failpoint", "broker/secret"},
	"broker/delivery":     {"broker/failpoint", "policy/audit", "policy/audit/tree"},
	"broker": {
		"broker/clientconfig", "broker/delivery", "broker/failpoint", "broker/job", "broker/secret",
		"policy", "policy/audit", "policy/audit/notary", "policy/audit/tree", "policy/egress",
	},
	"broker/api/codec":        {"broker/secret"},
	"broker/api/limit":        {},
	"broker/api/v1":           {"broker/api/codec", "broker/secret"},
	"broker/api/client":       {"broker/api/v1", "broker/secret", "lifecycle/api/sol003"},
	"broker/api":              {"broker", "broker/api/codec", "broker/api/limit", "broker/clientconfig", "lifecycle", "lifecycle/catalog", "lifecycle/onboard", "lifecycle/subscription", "policy", "policy/audit"},
	"broker/api/rest":         {"broker", "broker/api", "broker/api/codec", "broker/api/v1", "broker/clientconfig", "broker/delivery", "broker/oauth", "broker/secret", "lifecycle/grant", "lifecycle/onboard", "policy", "policy/audit", "policy/audit/notary", "policy/audit/tree"},
	"broker/api/login":        {"broker", "broker/api", "broker/api/limit", "broker/oauth", "broker/secret", "policy"},
	"broker/api/tacker":       {"broker", "broker/api", "broker/api/codec", "broker/clientconfig", "broker/secret", "policy"},
	"broker/oauth":            {"broker", "broker/failpoint", "broker/secret", "policy", "policy/audit"},
	"broker/rebuild":          {"broker", "broker/strictyaml"},
	"broker/remote":           {"policy/egress"},
	"broker/rows":             {"broker", "broker/oauth", "lifecycle", "lifecycle/catalog", "lifecycle/grant", "lifecycle/onboard", "lifecycle/subscription", "policy/audit", "policy/audit/notary"},
	"drivers/barbican":        {"broker/failpoint", "broker/remote", "broker/secret"},
	"drivers/callback":        {"broker/remote", "lifecycle/subscription"},
	"drivers/clusterapi":      {"broker", "broker/remote", "broker/secret", "lifecycle/onboard", "policy/egress"},
	"drivers/keydir":          {"broker/failpoint", "broker/secret"},
	"drivers/kubernetes":      {"broker", "broker/clientconfig", "broker/failpoint", "broker/kubeconfig", "broker/rebuild", "broker/remote", "broker/secret", "broker/strictyaml", "drivers/kubernetes/rbac", "policy/egress"},
	"drivers/kubernetes/rbac": {},
	"drivers/outlet":          {"broker/remote", "broker/secret", "lifecycle/onboard", "policy/audit", "policy/egress"},
	"drivers/heat":            {"broker", "broker/clientconfig", "broker/failpoint", "broker/remote", "broker/secret", "broker/strictyaml", "lifecycle"},
	"drivers/helm":            {"broker", "broker/api/limit", "broker/remote", "broker/secret", "drivers/helm/chart", "drivers/helm/pull", "drivers/manifests", "lifecycle"},
	"drivers/helm/chart":      {},
	"drivers/helm/pull":       {"broker", "broker/api/limit", "broker/remote", "broker/secret", "policy/egress"},
	"drivers/helm/render":     {"drivers/helm/chart"},
	"drivers/manifests":       {"broker", "broker/remote", "broker/secret", "broker/strictyaml", "lifecycle", "lifecycle/vnfpkg"},
	"drivers/openstack":       {"broker", "broker/clientconfig", "broker/failpoint", "broker/rebuild", "broker/remote", "broker/secret", "broker/strictyaml", "policy", "policy/egress"},
	"drivers/postgres":        {"broker", "broker/delivery", "broker/failpoint", "broker/job", "broker/oauth", "broker/rows", "broker/secret", "drivers/queue", "lifecycle", "lifecycle/catalog", "lifecycle/grant", "lifecycle/onboard", "lifecycle/subscription", "policy/audit", "policy/audit/notary", "policy/audit/tree"},
	"drivers/queue":           {"broker", "broker/job"},
	"drivers/sqlite":          {"broker", "broker/delivery", "broker/failpoint", "broker/job", "broker/oauth", "broker/rows", "broker/secret", "drivers/queue", "lifecycle", "lifecycle/catalog", "lifecycle/grant", "lifecycle/onboard", "lifecycle/subscription", "policy/audit", "policy/audit/notary", "policy/audit/tree"},
	"drivers/vault":           {"broker/failpoint", "broker/remote", "broker/secret"},
	"lifecycle/api/sol003":    {"broker/secret"},
	"lifecycle/api/vnflcm":    {"broker", "broker/api", "broker/api/codec", "lifecycle", "lifecycle/api/sol003", "lifecycle/api/sol013", "lifecycle/subscription", "policy"},
	"lifecycle/api/sol013":    {"broker", "broker/api", "broker/api/codec", "broker/api/v1"},
	"lifecycle":               {"broker", "broker/clientconfig", "broker/failpoint", "broker/job", "broker/secret", "lifecycle/vnfpkg", "policy", "policy/audit", "policy/egress"},
	"lifecycle/grant":         {"broker", "broker/clientconfig", "broker/failpoint", "broker/oauth", "policy", "policy/audit", "policy/egress"},
	"lifecycle/api/grants":    {"broker/api", "broker/api/codec", "broker/clientconfig", "broker/oauth", "broker/secret", "lifecycle/api/sol003", "lifecycle/api/sol013", "lifecycle/grant", "policy"},
	"drivers/vnfm":            {"broker/remote", "lifecycle/api/sol003", "lifecycle/grant", "policy/egress"},
	"lifecycle/subscription":  {"broker", "broker/failpoint", "broker/job", "broker/secret", "lifecycle", "policy", "policy/audit", "policy/egress"},
	"lifecycle/onboard":       {"broker", "broker/api/limit", "broker/clientconfig", "broker/failpoint", "broker/job", "broker/secret", "policy", "policy/audit", "policy/egress"},
	"lifecycle/api/vnfpkgm":   {"broker", "broker/api", "broker/api/codec", "lifecycle/api/sol013", "lifecycle/catalog", "lifecycle/vnfpkg", "policy"},
	"lifecycle/catalog":       {"broker", "broker/failpoint", "lifecycle/vnfpkg", "policy", "policy/audit"},
	"lifecycle/vnfpkg":        {},
	"cmd/vimbroker/files":     {"broker/api/v1", "broker/kubeconfig", "broker/secret", "broker/strictyaml"},
	"cmd/vimbroker/console":   {"broker/api/client", "broker/api/v1", "broker/secret", "broker/strictyaml", "cmd/vimbroker/files"},
	"cmd/vimbroker/lessee":    {"broker/api/client", "broker/api/v1", "broker/clientconfig", "broker/strictyaml", "cmd/vimbroker/console"},
	"cmd/vimbroker/cli":       {"broker/api/client", "broker/api/v1", "broker/clientconfig", "broker/secret", "broker/strictyaml", "cmd/vimbroker/console", "cmd/vimbroker/files", "cmd/vimbroker/lessee", "drivers/kubernetes/rbac", "lifecycle/api/sol003", "lifecycle/vnfpkg", "policy", "policy/audit", "policy/audit/export", "policy/audit/notary", "policy/audit/tree"},
	"cmd/vimbroker/server":    {"broker", "broker/api", "broker/api/limit", "broker/api/login", "broker/api/rest", "broker/api/tacker", "broker/delivery", "broker/job", "broker/oauth", "broker/remote", "broker/secret", "broker/strictyaml", "cmd/vimbroker/console", "cmd/vimbroker/files", "drivers/barbican", "drivers/callback", "drivers/clusterapi", "drivers/heat", "drivers/helm", "drivers/helm/pull", "drivers/keydir", "drivers/kubernetes", "drivers/manifests", "drivers/openstack", "drivers/outlet", "drivers/postgres", "drivers/sqlite", "drivers/vault", "drivers/vnfm", "lifecycle", "lifecycle/api/grants", "lifecycle/api/vnflcm", "lifecycle/api/vnfpkgm", "lifecycle/catalog", "lifecycle/grant", "lifecycle/onboard", "lifecycle/subscription", "policy", "policy/audit", "policy/audit/notary", "policy/egress"},
	"cmd/vimbroker-helm":      {"drivers/helm/render"},
	"cmd/vimbroker":           {"broker/secret", "cmd/vimbroker/cli", "cmd/vimbroker/console", "cmd/vimbroker/lessee", "cmd/vimbroker/server"},
}

// homes says where the SDK of each outside system lives: nowhere else may import it.
var homes = map[string][]string{
	"k8s.io/":                        {"drivers/clusterapi", "drivers/kubernetes", "drivers/manifests"},
	"github.com/go-jose/":            {"broker/oauth"},
	"github.com/fluxcd/":             {"drivers/manifests"},
	"github.com/smallstep/":          {"lifecycle/vnfpkg"},
	"sigs.k8s.io/":                   {"drivers/helm/render", "drivers/kubernetes"},
	"helm.sh/":                       {"drivers/helm/render"},
	"github.com/ProtonMail/":         {"drivers/helm/render"},
	"github.com/fernet/":             {"broker/secret"},
	"github.com/hashicorp/vault/":    {"drivers/vault"},
	"github.com/gophercloud/":        {"drivers/barbican", "drivers/heat", "drivers/openstack"},
	"golang.org/x/mod/":              {"policy/audit/notary", "policy/audit/tree"},
	"github.com/transparency-dev/":   {"policy/audit/tree"},
	"github.com/cedar-policy/":       {"policy"},
	"github.com/riverqueue/":         {"drivers/queue", "drivers/sqlite", "drivers/postgres"},
	"github.com/jackc/pgx/":          {"drivers/postgres"},
	"modernc.org/":                   {"drivers/sqlite"},
	"database/sql":                   {"drivers/sqlite"},
	"github.com/danielgtaylor/huma/": {"broker/api/rest"},
	"github.com/prometheus/":         {"broker/api"},
	"github.com/leodido/":            {"drivers/outlet"},
	"github.com/cloudevents/":        {"drivers/outlet"},
	"golang.org/x/oauth2/":           {"drivers/callback"},
	"github.com/spf13/":              {"cmd/vimbroker", "cmd/vimbroker/cli", "cmd/vimbroker/console", "cmd/vimbroker/lessee", "cmd/vimbroker/server"},
	"net/http/pprof":                 {},
	// These register every API group of Kubernetes at the start of each command.
	"k8s.io/client-go/kubernetes/": {},
	// What people know from kubectl, without the rest of it.
	"k8s.io/client-go/util/jsonpath":    {"cmd/vimbroker/console"},
	"k8s.io/apimachinery/pkg/labels":    {"cmd/vimbroker/cli"},
	"k8s.io/apimachinery/pkg/selection": {"cmd/vimbroker/cli"},
	"unsafe":                            {},
	"os/exec":                           {"cmd/vimbroker/console", "cmd/vimbroker/lessee", "drivers/helm"},
}

// rooms are the folders that may stand at the top with code in them.
var rooms = []string{"cmd", "broker", "drivers", "lifecycle", "policy", "test"}

func TestImportsPointOneWay(t *testing.T) {
	used, found := map[string]bool{}, packages(t, "..")
	for pkg, imports := range found {
		if strings.HasPrefix(pkg, "test") {
			continue // may import everything; that nothing imports it is seen below
		}
		if top, _, _ := strings.Cut(pkg, "/"); !slices.Contains(rooms, top) {
			t.Errorf("package %s stands in a folder that the house does not have", pkg)
		}
		allowed, known := house[pkg]
		if !known {
			t.Errorf("package %s is not in the table of the house: give it a line", pkg)
			continue
		}
		used[pkg] = true
		for imp, file := range imports {
			if ours, ok := strings.CutPrefix(imp, module); ok && !slices.Contains(allowed, ours) {
				t.Errorf("%s: %s may not import %s", file, pkg, ours)
			}
			if sdk := sdkOf(imp); sdk != "" && !slices.Contains(homes[sdk], pkg) {
				t.Errorf("%s: %s may not import %s, whose home is %v", file, pkg, imp, homes[sdk])
			}
		}
	}
	for pkg, allowed := range house {
		if !used[pkg] {
			t.Errorf("the house has a line for %s, and there is no such package", pkg)
			continue
		}
		for _, ours := range allowed {
			if found[pkg][module+ours] == "" {
				t.Errorf("%s may import %s and does not: take the permission away", pkg, ours)
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
			if file != root && (strings.HasPrefix(name, ".") || name == "testdata" || name == "bin") {
				return fs.SkipDir
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
