package test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// command finds our commands and flags in a text. A driver may name those of others.
var (
	command = regexp.MustCompile(`vimbroker (vim|lease|key|policy|db|token) [a-z]|vimbroker (serve|exec|credential)\b|(^|\s)--[a-z]`)
	foreign = regexp.MustCompile(`kubectl|openstack (command|role)`)
)

// Domain and drivers answer callers of every door: their texts name no command and no flag. The page has people for
// readers alone, who may type what it says.
func TestOnlyTheCommandLineNamesItsCommands(t *testing.T) {
	for _, root := range []string{"../broker", "../drivers", "../policy"} {
		err := filepath.WalkDir(root, func(file string, d fs.DirEntry, err error) error {
			if err == nil && d.IsDir() && filepath.ToSlash(file) == "../broker/api/web" {
				return fs.SkipDir
			}
			if err != nil || !strings.HasSuffix(file, ".go") || strings.HasSuffix(file, "_test.go") {
				return err
			}
			parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
			if err != nil {
				return err
			}
			ast.Inspect(parsed, func(n ast.Node) bool {
				text, ok := n.(*ast.BasicLit)
				if ok && text.Kind == token.STRING && command.MatchString(text.Value) && !foreign.MatchString(text.Value) {
					t.Errorf("%s: %s names a command or a flag", file, text.Value)
				}
				return true
			})
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}
