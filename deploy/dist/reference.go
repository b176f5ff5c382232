package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/vimbroker/vimbroker/broker/api"
	"github.com/vimbroker/vimbroker/broker/api/sol013"
)

// references adds the pages of what the code declares: kinds of problems, metrics, and what the audit log records.
func (r *release) references(pages map[string]string) error {
	pages["errors.md"] = problems()
	for _, page := range []struct {
		name  string
		write func() (string, error)
	}{{"metrics.md", r.metrics}, {"events.md", r.events}} {
		text, err := page.write()
		if err != nil {
			return fmt.Errorf("%s: %w", page.name, err)
		}
		pages[page.name] = text
	}
	return nil
}

func problems() string {
	var b strings.Builder
	b.WriteString("# Problems\n\nEvery refusal is problem details (RFC 9457) with a type of these; a server shows them at `/errors`.\n")
	for _, k := range append(api.Kinds(), sol013.Kinds...) {
		fmt.Fprintf(&b, "\n## %s\n\n%d, %s (`%s%s`)\n\n%s\n", k.Name, k.Status, k.Title, api.TypePrefix, k.Name, k.Help)
	}
	return b.String()
}

// parsed are the files of a package that are no tests.
func (r *release) parsed(pkg string) ([]*ast.File, error) {
	names, err := filepath.Glob(filepath.Join(r.top, pkg, "*.go"))
	var all []*ast.File
	for _, name := range names {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		f, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.ParseComments)
		if err != nil {
			return nil, err
		}
		all = append(all, f)
	}
	return all, err
}

// text is a constant text of the source, or empty.
func text(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.BasicLit:
		s, _ := strconv.Unquote(e.Value)
		return s
	case *ast.BinaryExpr:
		return text(e.X) + text(e.Y)
	}
	return ""
}

// metric is one row.
type metric struct{ name, help, labels string }

const prefix = "vimbroker_"

// metrics finds where metrics are described: by a call that has name and help, or by options with both.
func (r *release) metrics() (string, error) {
	all := map[string]metric{}
	for _, pkg := range []string{"broker/api", "lifecycle/api/metrics"} {
		files, err := r.parsed(pkg)
		if err != nil {
			return "", err
		}
		lists := map[string]ast.Node{}
		for _, f := range files {
			for name, o := range f.Scope.Objects { //nolint:staticcheck // names within one package are enough
				if v, is := o.Decl.(*ast.ValueSpec); is && len(v.Values) == 1 {
					lists[name] = v.Values[0]
				}
			}
		}
		for _, f := range files {
			ast.Inspect(f, func(n ast.Node) bool {
				m := metricOf(n, lists)
				if _, known := all[m.name]; m.name != "" && !known { // a vector is seen before its options
					all[m.name] = m
				}
				return true
			})
		}
	}
	var b strings.Builder
	b.WriteString("# Metrics\n\n`GET /metrics` shows these, and those of Go and of the process. Names and labels stay within a major version.\n\n" +
		"| metric | labels | |\n|---|---|---|\n")
	for _, name := range sorted(all) {
		fmt.Fprintf(&b, "| `%s` | %s | %s |\n", name, all[name].labels, all[name].help)
	}
	for _, file := range []string{"deploy/alerts.yaml", "deploy/dashboard.json"} {
		used, err := os.ReadFile(filepath.Join(r.top, file))
		if err != nil {
			return "", err
		}
		for _, name := range regexp.MustCompile(`\bvimbroker_\w+`).FindAllString(string(used), -1) {
			name = regexp.MustCompile(`_(bucket|count|sum)$`).ReplaceAllString(name, "")
			if _, is := all[name]; !is {
				return "", fmt.Errorf("%s names %s, which is described nowhere", file, name)
			}
		}
	}
	return b.String(), nil
}

// metricOf is the metric that a call or a literal describes; without a name it describes none. lists are variables that hold labels.
func metricOf(n ast.Node, lists map[string]ast.Node) (m metric) {
	var labels []ast.Expr
	switch n := n.(type) {
	case *ast.CallExpr:
		called, _ := n.Fun.(*ast.Ident)
		if s, is := n.Fun.(*ast.SelectorExpr); is {
			called = s.Sel
		}
		if called != nil && strings.HasSuffix(called.Name, "Vec") && len(n.Args) == 2 {
			m, labels = metricOf(n.Args[0], lists), n.Args[1:]
			break
		}
		if called == nil || !slices.Contains([]string{"NewDesc", "desc", "describe"}, called.Name) || len(n.Args) < 2 {
			return m
		}
		m.name, m.help, labels = text(n.Args[0]), text(n.Args[1]), n.Args[2:]
	case *ast.CompositeLit:
		for _, e := range n.Elts {
			pair, is := e.(*ast.KeyValueExpr)
			if !is {
				continue
			}
			switch key, _ := pair.Key.(*ast.Ident); {
			case key != nil && key.Name == "Name" && strings.HasPrefix(text(pair.Value), prefix):
				m.name = text(pair.Value)
			case key != nil && key.Name == "Help":
				m.help = text(pair.Value)
			}
		}
	}
	if m.name == "" || m.help == "" {
		return metric{}
	}
	m.name = prefix + strings.TrimPrefix(m.name, prefix)
	var named []string
	var gather func(n ast.Node) bool
	gather = func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.BasicLit:
			named = append(named, "`"+text(n)+"`")
		case *ast.Ident:
			if list := lists[n.Name]; list != nil {
				ast.Inspect(list, gather)
			}
		}
		return true
	}
	for _, l := range labels {
		ast.Inspect(l, gather)
	}
	m.labels = strings.Join(named, ", ")
	return m
}

var action = regexp.MustCompile(`^[a-z]+:[a-z-]+$`)

// events lists the actions and the details of the audit log's entries, with the words of the source.
func (r *release) events() (string, error) {
	var b strings.Builder
	b.WriteString("# Events\n\nThe audit log has an entry for each of these actions; outcomes are denied, read, intent, done and failed. " +
		"Policies decide on all but `server:`.\n\n| action | |\n|---|---|\n")
	for _, pkg := range []string{"policy", "policy/audit"} {
		if err := r.constants(&b, pkg, func(_, value string) bool { return action.MatchString(value) }); err != nil {
			return "", err
		}
	}
	b.WriteString("\n## Details\n\nAn entry has those of these that apply.\n\n| detail | |\n|---|---|\n")
	err := r.constants(&b, "policy/audit", func(name, _ string) bool { return strings.HasPrefix(strings.ToLower(name), "detail") })
	return b.String(), err
}

// constants writes a row for each constant text that is meant, with its comment.
func (r *release) constants(b *strings.Builder, pkg string, meant func(name, value string) bool) error {
	files, err := r.parsed(pkg)
	if err != nil {
		return err
	}
	for _, f := range files {
		for _, d := range f.Decls {
			group, is := d.(*ast.GenDecl)
			if !is || group.Tok != token.CONST {
				continue
			}
			for _, s := range group.Specs {
				of := s.(*ast.ValueSpec) // in a group of constants
				for i, value := range of.Values {
					if named := of.Names[i].Name; text(value) != "" && meant(named, text(value)) {
						said := strings.TrimSpace(strings.TrimPrefix(strings.Join(strings.Fields(of.Doc.Text()+of.Comment.Text()), " "), named))
						fmt.Fprintf(b, "| `%s` | %s |\n", text(value), said)
					}
				}
			}
		}
	}
	return nil
}
