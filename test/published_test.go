package test

import (
	"bytes"
	"encoding/json"
	"go/ast"
	"go/parser"
	"go/printer"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/vimbroker/vimbroker/test/golden"
)

// promised are the packages that others import. Of broker/secret only Text and NewText count, which their fields are of.
var promised = []string{"broker/api/client", "broker/api/sol003", "broker/api/v1"}

// clientImports are the modules of others that come with the client.
var clientImports = []string{
	"github.com/fernet/fernet-go", "github.com/go-json-experiment/json", "github.com/google/uuid", "go.yaml.in/yaml/v3", "golang.org/x/sys",
}

// Whoever imports the Go client gets few packages with it.
func TestTheClientIsLight(t *testing.T) {
	list := exec.CommandContext(t.Context(), "go", "list", "-deps", "-json=ImportPath,Standard,Module", module+"broker/api/client")
	list.Dir = ".."
	text, err := list.Output()
	if err != nil {
		t.Fatal(err)
	}
	var others []string
	ours := 0
	for d := json.NewDecoder(bytes.NewReader(text)); d.More(); {
		var p struct {
			ImportPath string
			Standard   bool
			Module     struct{ Path string }
		}
		if err := d.Decode(&p); err != nil {
			t.Fatal(err)
		}
		switch {
		case p.Standard:
		case p.Module.Path+"/" == module:
			ours++
		default:
			others = append(others, p.Module.Path)
		}
	}
	slices.Sort(others)
	if others = slices.Compact(others); !slices.Equal(others, clientImports) || ours > 6 {
		t.Errorf("with the Go client come %d packages of ours, and the modules %q; want 6 and %q", ours, others, clientImports)
	}
}

// Nothing that the promised packages have goes away or becomes another: make generate adds lines, and only a person removes one.
func TestGoldenGoAPIOnlyGrows(t *testing.T) {
	const file = "testdata/published.txt"
	var now []string
	for _, pkg := range promised {
		now = append(now, exported(t, pkg)...)
	}
	kept, err := os.ReadFile(file)
	if err != nil && !golden.Updating() {
		t.Fatal(err)
	}
	before := strings.Split(strings.TrimSpace(string(kept)), "\n")
	if golden.Updating() {
		all := append(slices.Clone(now), before...)
		slices.Sort(all)
		if err := os.WriteFile(file, []byte(strings.TrimSpace(strings.Join(slices.Compact(all), "\n"))+"\n"), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	for _, line := range before {
		if !slices.Contains(now, line) {
			t.Errorf("published, and not so any more: %s\n(if no release has it yet, remove the line from test/%s)", line, file)
		}
	}
	for _, line := range now {
		if !slices.Contains(before, line) {
			t.Errorf("new, and not among what is published: %s (make generate adds it)", line)
		}
	}
	if len(before) < 300 {
		t.Errorf("only %d lines are published", len(before))
	}
}

// exported is what a package shows to others, a line for each function, method, field, constant and variable.
func exported(t *testing.T, pkg string) (all []string) {
	t.Helper()
	files := token.NewFileSet()
	printed := func(n any) string {
		var text bytes.Buffer
		if err := printer.Fprint(&text, files, n); err != nil {
			t.Fatal(err)
		}
		return strings.Join(strings.Fields(text.String()), " ")
	}
	say := func(words ...string) { all = append(all, filepath.Base(pkg)+": "+strings.Join(words, " ")) }
	eachSource(t, func(of, file string) {
		if of != pkg {
			return
		}
		f, err := parser.ParseFile(files, file, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.FileExports(f)
		for _, d := range f.Decls {
			switch d := d.(type) {
			case *ast.FuncDecl:
				d.Body = nil
				say(printed(d))
			case *ast.GenDecl:
				for _, s := range d.Specs {
					describe(s, d.Tok, printed, say)
				}
			}
		}
	})
	return all
}

// describe says what one declaration shows.
func describe(s ast.Spec, kind token.Token, printed func(any) string, say func(...string)) {
	switch s := s.(type) {
	case *ast.ValueSpec:
		for _, n := range s.Names {
			say(kind.String(), n.Name)
		}
	case *ast.TypeSpec:
		of, is := s.Type.(*ast.StructType)
		if !is {
			say("type", s.Name.Name, printed(s.Type))
			return
		}
		say("type", s.Name.Name)
		for _, f := range of.Fields.List {
			names := []string{"embeds"}
			for i, n := range f.Names {
				names = append(names[:i], n.Name)
			}
			for _, n := range names {
				say("type", s.Name.Name, n, printed(f.Type))
			}
		}
	}
}
