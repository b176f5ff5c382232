package test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// shows are the packages whose types show or keep the domain's under the same names: what a door
// answers, what the client reads, what a row holds.
var shows = []string{"broker/api/v1", "broker/api/sol003", "broker/api/client", "drivers/rows"}

// shared are the names that several types have, and why.
var shared = map[string]string{
	"Context":    "kubectl's, and ours that is like it",
	"Options":    "what the New of its package is given",
	"Store":      "a store, of rows or of keys, as its package makes one",
	"Driver":     "a driver, as its package makes one",
	"Auth":       "how a key store's driver logs in",
	"Query":      "what a list of the package is asked for",
	"Filter":     "what the package asks its store for",
	"State":      "where the thing stands that the package is about",
	"Link":       "a virtual link, what an instance has of it, and a link of a page",
	"Request":    "what is asked for: of policy, for a virtual link, or for an instance of ONAP's",
	"Use":        "what stands on a VIM, and who uses a virtual link",
	"Connection": "a driver's way to a VIM, for instances or for virtual links",
	"Instance":   "a VNF instance, and what ONAP's callers see of one",
	"Kind":       "of what policies decide on, and of a row of ONAP's door",
	"Profile":    "of rights on a cluster, and ONAP's for a chart",
	"Row":        "a row with a sealed text, as its package keeps it",
	"Terms":      "the numbers of the package that an operator sets",
	"Vitals":     "what an operator watches of the package",
	"Cluster":    "Cluster API's object, and what a driver discovers of a Kubernetes cluster",
	"Document":   "one YAML document, and the kind of document that registers a VIM",
	"Door":       "a door, and its name where the log and leases have it",
	"Grant":      "the grant of SOL003 clause 9, and what a lease allows on a VIM",
	"Resource":   "Cedar's word, and SOL003's",
	"Part":       "a part of the broker that is ready or not, and of a VNF instance",
}

// One word means one type. An interface is free: a consumer names it after what it calls.
func TestOneWordOneType(t *testing.T) {
	named := map[string][]string{}
	for _, name := range products(t) {
		dir := path.Dir(name)
		if slices.Contains(shows, dir) {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), filepath.Join("..", name), nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		for n := range ast.Preorder(file) {
			spec, ok := n.(*ast.TypeSpec)
			if !ok || !spec.Name.IsExported() || spec.Assign != 0 {
				continue
			}
			if _, ok := spec.Type.(*ast.InterfaceType); !ok {
				named[spec.Name.Name] = append(named[spec.Name.Name], dir)
			}
		}
	}
	for _, word := range slices.Sorted(maps.Keys(named)) {
		switch places := named[word]; {
		case len(places) > 1 && shared[word] == "":
			t.Errorf("%s is the name of %d types (%s): give each a word of its own, or say in shared why they have one",
				word, len(places), strings.Join(places, ", "))
		case len(places) == 1 && shared[word] != "":
			t.Errorf("%s is the name of one type: take it from shared", word)
		}
	}
	for word := range shared {
		if named[word] == nil {
			t.Errorf("%s is the name of no type: take it from shared", word)
		}
	}
}

// longest is how many characters a line of the product has at most. A struct tag is one literal that
// Go does not let wrap, so a line that ends with one is as long as what it says of its field.
const longest = 140

var tagged = regexp.MustCompile("^\\s*[\\w, ]+ [\\w.\\[\\]*]+ +`[^`]*`( //.*)?$")

func TestLinesAreShort(t *testing.T) {
	for _, name := range products(t) {
		b, err := os.ReadFile(filepath.Join("..", name))
		if err != nil {
			t.Fatal(err)
		}
		number := 0
		for line := range strings.Lines(string(b)) {
			number++
			line = strings.TrimRight(line, "\n")
			if n := len([]rune(line)); n > longest && !tagged.MatchString(line) {
				t.Errorf("%s:%d has %d characters, and may have %d", name, number, n, longest)
			}
		}
	}
}

// products are the Go files of the product, by their paths from the top.
func products(t *testing.T) []string {
	t.Helper()
	var names []string
	for _, floor := range floors {
		if floor == "test" {
			continue
		}
		err := filepath.WalkDir(filepath.Join("..", floor), func(name string, _ os.DirEntry, err error) error {
			if strings.HasSuffix(name, ".go") && !strings.HasSuffix(name, "_test.go") {
				names = append(names, strings.TrimPrefix(filepath.ToSlash(name), "../"))
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if len(names) < 100 {
		t.Fatalf("found %d files of the product", len(names))
	}
	return names
}
