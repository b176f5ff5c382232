package web

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"fmt"
	"html/template"
	"io"
	"net/http"
	"path"
	"strings"
	"time"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/broker/api"
)

//go:embed assets
var files embed.FS

// frame is a whole page.
type frame struct {
	look
	Screen
	Now     time.Time
	Path    string
	Nav     []navLink
	Who     string
	Project string
	Token   string
	Login   *loginView
	Problem *problemView
}

type navLink struct {
	Link
	Current bool
}

// look is what every page has: the addresses of its files, and the program's version.
type look struct{ Style, Script, Icon, Version string }

// frame puts a view into the page of a person.
func (s *server) frame(v *Visit, view Screen) *frame {
	if view.List != nil {
		view.List.Next = v.next(view.List.Next)
	}
	return &frame{
		look: s.look, Screen: view, Now: v.Now, Path: v.URL.Path, Nav: s.navigation(v.URL.Path), Project: v.Principal.Project,
		Who: cmp.Or(v.Principal.Login.Shown, v.Principal.Name), Token: formToken(shown(v.Request)),
	}
}

// signs are those beside the colours of marks.
var signs = map[Mark]string{Good: "✓", Warn: "!", Bad: "✕", Idle: "·"}

// words are what templates can say of things, beside the fields of those.
var words = template.FuncMap{
	"plain": plain, "seen": seen, "slug": slug, "here": Here, "find": Find, "short": Short, "count": Count, "listed": listed,
	"to": to, "id": id, "who": who, "mayDo": mayDo, "where": where, "lag": lag, "vimState": vimState,
	"long":  func(text string) bool { return len(text) > 24 },
	"sign":  func(m Mark) string { return signs[m] },
	"stamp": func(t time.Time) string { return t.UTC().Format(time.RFC3339) },
	"utc":   func(t time.Time) string { return t.UTC().Format("2006-01-02 15:04:05 UTC") },
	"join":  func(all []string) string { return strings.Join(all, ", ") },
	"lower": strings.ToLower,
	"trim":  strings.TrimSpace,
	"cell":  func(value any) Cell { return append(cells(value), Cell{})[0] },
	"node":  func(kind string, value any) node { return node{kind, append(cells(value), Cell{})[0]} },
	"code":  func(text string) Cell { return Cell{Text: text, Code: true} },
	"leads": func(text, href string) Cell { return Cell{Text: text, Href: href} },
	"mark":  func(m, text any) Cell { return Cell{Text: fmt.Sprint(text), Mark: Mark(fmt.Sprint(m))} },
	"step": func(m, value any, note string) step {
		return step{Mark(fmt.Sprint(m)), append(cells(value), Cell{})[0], note}
	},
	"about":  func(f *frame, act, why string) map[string]any { return map[string]any{"F": f, "Act": act, "Why": why} },
	"grade":  func(g broker.Grade) Cell { return Cell{Text: string(g), Mark: cmp.Or(gradeMarks[g], Idle)} },
	"become": func(g broker.Grade) Cell { return Cell{Text: gradeWords[g], Mark: gradeMarks[g]} },
	"within": func(kind, of string) string { return strings.TrimPrefix(kind+"/"+of, "/") },
	"table": func(title, empty string, columns ...string) *Block {
		return &Block{Title: title, Empty: empty, Columns: columns}
	},
	"text":  func(title, text string) *Block { return &Block{Title: title, Text: text} },
	"facts": facts,
	// title, act and ask say what stands around what a template shows.
	"title": func(f *frame, kind, title string, state any) string {
		f.Kind, f.Title, f.State = kind, title, append(cells(state), Cell{})[0]
		return ""
	},
	"act": func(f *frame, text, href string) string {
		f.Acts = append(f.Acts, Link{text, href})
		return ""
	},
	"ask": func(f *frame, button, back string, fields ...Field) string {
		f.Ask = &Question{button, back, fields}
		return ""
	},
	"field": func(name, label, hint string) Field { return Field{Name: name, Label: label, Hint: hint} },
}

// facts are names, each with its value.
func facts(title string, pairs ...any) *Block {
	b := &Block{Title: title}
	for ; len(pairs) > 1; pairs = pairs[2:] {
		b.Add(fmt.Sprint(pairs[0]), pairs[1])
	}
	return b
}

// pages are the templates, compiled when the first page is shown.
func (s *server) pages() (*template.Template, error) {
	all := template.New("page.html").Option("missingkey=zero").Funcs(words).Funcs(template.FuncMap{
		"when": func(t time.Time) string { return when(t, s.Now()) },
		"body": s.body,
	})
	for _, room := range s.rooms {
		if room.Pages == nil {
			continue
		}
		if _, err := all.Funcs(room.Words).ParseFS(room.Pages, "*.html"); err != nil {
			return nil, err
		}
	}
	return all.ParseFS(files, "assets/*.html")
}

// body is what a page's own template makes. It says on the way what stands around that.
func (s *server) body(f *frame) (template.HTML, error) {
	all, err := s.templates()
	if err != nil {
		return "", err
	}
	var b strings.Builder
	err = all.ExecuteTemplate(&b, f.Page, f)
	return template.HTML(b.String()), err //nolint:gosec // a template has escaped it
}

// slug makes a title an id of the page.
func slug(title string) string {
	return "is-" + strings.Trim(strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' {
			return r
		}
		return '-'
	}, strings.ToLower(title)), "-")
}

// encode writes a page.
func (s *server) encode(w io.Writer, body any) error {
	all, err := s.templates()
	if err == nil {
		err = all.Execute(w, body)
	}
	if err != nil {
		return fmt.Errorf("writing a page: %w", err)
	}
	return nil
}

// asset is a file of the page. Its name holds a digest of it, so that it never changes.
type asset struct {
	mediaType string
	content   []byte
}

var mediaTypes = map[string]string{".css": "text/css; charset=utf-8", ".js": "text/javascript; charset=utf-8", ".svg": "image/svg+xml"}

func (s *server) loadAssets() {
	s.assets = map[string]asset{}
	for file, at := range map[string]*string{"style.css": &s.Style, "page.js": &s.Script, "icon.svg": &s.Icon} {
		content, err := files.ReadFile("assets/" + file)
		if err != nil {
			panic(err) // it is embedded
		}
		sum := sha256.Sum256(content)
		name := hex.EncodeToString(sum[:6]) + "-" + file
		*at = Here("assets", name)
		s.assets[name] = asset{mediaTypes[path.Ext(file)], content}
	}
}

func (s *server) asset(c *api.Call) (api.Answer, error) {
	a, known := s.assets[c.PathValue("name")]
	if !known {
		return api.Answer{}, &api.Refusal{Kind: api.ErrNoOperation}
	}
	return api.Answer{
		Header: http.Header{"Content-Type": {a.mediaType}, "Cache-Control": {"public, max-age=31536000, immutable"}},
		Serve: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(a.content))
		}),
	}, nil
}
