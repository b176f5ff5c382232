package main

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"regexp"
	"strings"
)

// fault is one change of the source that a switch turns on.
type fault struct {
	id   int
	pkg  string // folder, as "broker/grant"
	file string // from the root, with slashes
	kind string
	line int
	last int // line
	// name says which one it is, in words that outlive changes elsewhere: file, function, kind, source, number.
	name string
	// of is the digest of the function's text: a fault is done for as long as that is as it was.
	of    string
	edits func(id int) []edit
	// seeds are those whose samples it is in.
	seeds []uint64
}

// meets reports whether a fault begins or ends in the lines of one that somebody wrote: the two have no place side by side.
func (f *fault) meets(written *fault) bool {
	within := func(line int) bool { return line >= written.line && line <= written.last }
	return f.file == written.file && (within(f.line) || within(f.last))
}

// edit replaces bytes of a file. Of those at one offset that insert, closing ones come first, the inner ones
// before the outer, and then the outer opening ones.
type edit struct {
	at, drop int
	text     string
	closes   bool
	span     int // length of what it opens or closes
	rank     int // order of those that are equal in all else: the first found is the outer one
}

// finder finds the faults of a file:
//
//	condition  the condition of an if, negated; that of a for, never met
//	operand    an operand of && or || that has no say
//	boundary   < for <= and the like, and the other way round
//	constant   a compared number that is one more, or one less
//	answer     a bool that is returned, negated
//	error      an error that is returned, dropped
//	statement  a statement, deleted
type finder struct {
	files  *token.FileSet
	source []byte
	path   string
	pkg    string
	inside string // function
	digest string
	found  []*fault
	names  map[string]int
}

// quiet are calls whose deletion no test has to notice: what is logged, what only frees, what would only hang.
var quiet = regexp.MustCompile(`^(failpoint\.|slog\.|(\w+\.)*(log|logger|Log)\.|.*\.(Lock|Unlock|RLock|RUnlock|Close|Rollback|Stop|Helper|Done)$|cancel$|stop$|done$|panic$)`)

// find returns the faults of a file of a package.
func find(root, file string) ([]*fault, error) {
	f := &finder{files: token.NewFileSet(), path: filepath.ToSlash(file), pkg: filepath.ToSlash(filepath.Dir(file)), names: map[string]int{}}
	var err error
	if f.source, err = readFile(root, file); err != nil {
		return nil, err
	}
	parsed, err := parser.ParseFile(f.files, file, f.source, parser.SkipObjectResolution)
	if err != nil {
		return nil, fmt.Errorf("reading %s: %w", file, err)
	}
	for _, decl := range parsed.Decls {
		fn, ok := decl.(*ast.FuncDecl)
		if !ok || fn.Body == nil {
			continue
		}
		f.inside = fn.Name.Name
		if fn.Recv != nil && len(fn.Recv.List) == 1 {
			f.inside = strings.TrimPrefix(f.text(fn.Recv.List[0].Type), "*") + "." + f.inside
		}
		sum := sha256.Sum256([]byte(f.text(fn)))
		f.digest = hex.EncodeToString(sum[:6])
		f.body(fn.Body, fn.Type)
	}
	return f.found, nil
}

// body finds the faults of a function. Those of the functions within it have results of their own.
func (f *finder) body(body *ast.BlockStmt, of *ast.FuncType) {
	ast.Inspect(body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit:
			f.body(n.Body, n.Type)
			return false
		case *ast.GenDecl:
			return n.Tok == token.VAR
		case *ast.IfStmt:
			f.wrap(n.Cond, "condition", "(", ") != "+switchOn)
		case *ast.ForStmt:
			if n.Cond != nil {
				f.wrap(n.Cond, "condition", "(", ") && !"+switchOn)
			}
		case *ast.BinaryExpr:
			f.binary(n)
		case *ast.ReturnStmt:
			f.results(n, of)
		case *ast.BlockStmt:
			f.statements(n.List)
		case *ast.CaseClause:
			f.statements(n.Body)
		case *ast.CommClause:
			f.statements(n.Body)
		}
		return true
	})
}

// switchOn is the expression that is true while a fault is on; %d is its number.
const switchOn = faultPackage + ".On(%d)"

var comparisons = map[token.Token]string{token.LSS: "Less", token.LEQ: "AtMost", token.GTR: "More", token.GEQ: "AtLeast"}

func (f *finder) binary(n *ast.BinaryExpr) {
	switch n.Op {
	case token.LAND, token.LOR:
		for _, side := range []ast.Expr{n.X, n.Y} {
			if b, ok := side.(*ast.BinaryExpr); ok && b.Op == n.Op {
				continue // its operands are asked by themselves
			}
			after := " || " + switchOn + ")"
			if n.Op == token.LOR {
				after = " && !" + switchOn + ")"
			}
			f.wrap(side, "operand", "(", after)
		}
		return
	case token.LSS, token.LEQ, token.GTR, token.GEQ:
		f.boundary(n)
	case token.EQL, token.NEQ:
	default:
		return
	}
	if literal, ok := n.Y.(*ast.BasicLit); ok && literal.Kind == token.INT {
		by := "1" // away from what another boundary does
		if n.Op == token.LSS || n.Op == token.GEQ {
			by = "-1"
		}
		start, end, rank := f.offset(n.X.Pos()), f.offset(n.X.End()), len(f.found)
		f.add(n, "constant", func(id int) []edit { // the other side has the type, and is less by as much
			return []edit{
				{at: start, text: fmt.Sprintf("%s.Minus(%d, %s, ", faultPackage, id, by), span: end - start, rank: rank},
				{at: end, text: ")", closes: true, span: end - start, rank: rank},
			}
		})
	}
}

// boundary has a function compare.
func (f *finder) boundary(n *ast.BinaryExpr) {
	start, op, end, rank := f.offset(n.Pos()), f.offset(n.OpPos), f.offset(n.End()), len(f.found)
	f.add(n, "boundary", func(id int) []edit {
		return []edit{
			{at: start, text: fmt.Sprintf("%s.%s(%d, ", faultPackage, comparisons[n.Op], id), span: end - start, rank: rank},
			{at: op, drop: len(n.Op.String()), text: ", "},
			{at: end, text: ")", closes: true, span: end - start, rank: rank},
		}
	})
}

// results finds errors that are returned, and bools.
func (f *finder) results(n *ast.ReturnStmt, of *ast.FuncType) {
	if of.Results == nil {
		return
	}
	var types []string
	for _, field := range of.Results.List {
		for range max(1, len(field.Names)) {
			types = append(types, f.text(field.Type))
		}
	}
	if len(n.Results) != len(types) {
		return
	}
	for i, result := range n.Results {
		said := f.text(result)
		switch {
		case types[i] == "bool":
			f.wrap(result, "answer", "(", ") != "+switchOn)
		case types[i] == "error" && i == len(types)-1 && said != "nil":
			f.wrap(result, "error", faultPackage+".Err(%d, ", ")")
		}
	}
}

// statements finds those that can be left out.
func (f *finder) statements(list []ast.Stmt) {
	for _, s := range list {
		var call ast.Expr
		switch s := s.(type) {
		case *ast.ExprStmt:
			call = s.X
		case *ast.DeferStmt:
			call = s.Call
		case *ast.AssignStmt:
			if left, ok := s.Lhs[0].(*ast.Ident); s.Tok == token.DEFINE || ok && left.Name == "_" {
				continue
			}
		case *ast.IncDecStmt:
		case *ast.BranchStmt:
			if s.Tok != token.CONTINUE {
				continue
			}
		case *ast.ReturnStmt:
			if len(s.Results) > 0 {
				continue
			}
		default:
			continue
		}
		if c, ok := call.(*ast.CallExpr); ok && quiet.MatchString(f.text(c.Fun)) {
			continue
		}
		f.wrap(s, "statement", "if !"+switchOn+" { ", " }")
	}
}

// wrap adds a fault that stands around a node. A %d of the text is its number.
func (f *finder) wrap(n ast.Node, kind, before, after string) {
	start, end, rank := f.offset(n.Pos()), f.offset(n.End()), len(f.found)
	number := func(text string, id int) string { return strings.ReplaceAll(text, "%d", fmt.Sprint(id)) }
	f.add(n, kind, func(id int) []edit {
		return []edit{
			{at: start, text: number(before, id), span: end - start, rank: rank},
			{at: end, text: number(after, id), closes: true, span: end - start, rank: rank},
		}
	})
}

func (f *finder) add(n ast.Node, kind string, edits func(id int) []edit) {
	said := strings.Join(strings.Fields(f.text(n)), " ")
	if len(said) > 90 {
		said = said[:90] + "..."
	}
	name := strings.Join([]string{f.path, f.inside, kind, said}, " ")
	f.names[name]++
	if count := f.names[name]; count > 1 {
		name += fmt.Sprintf(" #%d", count)
	}
	f.found = append(f.found, &fault{
		pkg: f.pkg, file: f.path, kind: kind, name: name, of: f.digest, edits: edits,
		line: f.files.Position(n.Pos()).Line, last: f.files.Position(n.End()).Line,
	})
}

func (f *finder) offset(p token.Pos) int { return f.files.Position(p).Offset }

func (f *finder) text(n ast.Node) string {
	return string(f.source[f.offset(n.Pos()):f.offset(n.End())])
}
