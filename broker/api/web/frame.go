package web

import (
	"bytes"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"fmt"
	"html/template"
	"io"
	"net/http"
	"path"
	"strings"
	"sync"
	"time"

	"github.com/vimbroker/vimbroker/broker/api"
)

//go:embed assets
var files embed.FS

// frame is a whole page.
type frame struct {
	*server
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

// frame puts a view into the page of a person.
func (s *server) frame(v *Visit, view Screen) *frame {
	f := &frame{
		server: s, Screen: view, Now: v.Now, Path: v.URL.Path, Nav: s.navigation(v.URL.Path), Who: v.Principal.Name, Project: v.Principal.Project,
		Token: formToken(shown(v.Request)),
	}
	if v.Principal.Login.Shown != "" {
		f.Who = v.Principal.Login.Shown
	}
	return f
}

// marks are the signs beside the colours of marks.
var marks = map[Mark]string{Good: "✓", Warn: "!", Bad: "✕", Idle: "·"}

// pages are the templates, compiled when the first page is shown.
var pages = sync.OnceValue(func() *template.Template {
	return template.Must(template.New("page.html").Funcs(template.FuncMap{
		"plain": plain,
		"seen":  seen,
		"long":  func(text string) bool { return len(text) > 24 },
		"sign":  func(m Mark) string { return marks[m] },
		"stamp": func(t time.Time) string { return t.UTC().Format(time.RFC3339) },
		"utc":   func(t time.Time) string { return t.UTC().Format("2006-01-02 15:04:05 UTC") },
		"when":  when,
		"slug":  slug,
		"give":  func(f *frame, of any) given { return given{f, of} },
		"lower": strings.ToLower,
	}).ParseFS(files, "assets/page.html"))
})

// given is a value for a part of the page, with the frame around it.
type given struct {
	F  *frame
	Of any
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
func (*server) encode(w io.Writer, body any) error {
	if err := pages().Execute(w, body); err != nil {
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
