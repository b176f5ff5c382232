package main

import (
	"bytes"
	"cmp"
	_ "embed"
	"fmt"
	"html/template"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"
	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/parser"

	"github.com/vimbroker/vimbroker/cmd/vimbroker/console"
	"github.com/vimbroker/vimbroker/cmd/vimbroker/root"
)

// pageForm is every page of the manual.
var pageForm = template.Must(template.New("page").Parse(pageText))

//go:embed page.html
var pageText string

type navigation struct{ To, Name string }

// manual writes the pages of the project, and the references of what the code declares, as static HTML.
func (r *release) manual(dir string) error {
	if err := os.RemoveAll(dir); err != nil {
		return err
	}
	pages, err := r.manualSources()
	if err != nil {
		return err
	}
	made := map[string]string{}
	for _, name := range sorted(pages) {
		if made[htmlName(name)], err = r.rendered(name, pages); err != nil {
			return err
		}
	}
	if err := linked(made); err != nil {
		return err
	}
	description, err := os.ReadFile(filepath.Join(r.top, "broker/api/rest/openapi.json"))
	if err != nil {
		return err
	}
	made["openapi.json"] = string(description)
	for _, text := range pages {
		for _, m := range picture.FindAllStringSubmatch(text, -1) {
			content, err := os.ReadFile(filepath.Join(r.top, "docs/pictures", m[1]))
			if err != nil {
				return err
			}
			made["docs/pictures/"+m[1]] = string(content)
		}
	}
	for name, text := range made {
		at := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(at), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(at, []byte(text), 0o644); err != nil {
			return err
		}
	}
	fmt.Printf("%d pages in %s\n", len(pages), dir)
	return nil
}

// manualSources are the pages in Markdown, by their paths.
func (r *release) manualSources() (map[string]string, error) {
	pages := map[string]string{}
	read := func(name string) error {
		text, err := os.ReadFile(filepath.Join(r.top, filepath.FromSlash(name)))
		pages[name] = string(text)
		return err
	}
	for _, name := range []string{"README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "CHANGELOG.md", "SECURITY.md"} {
		if err := read(name); err != nil {
			return nil, err
		}
	}
	err := filepath.WalkDir(filepath.Join(r.top, "docs"), func(at string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() || path.Ext(at) != ".md" {
			return err
		}
		within, _ := filepath.Rel(r.top, at) // it is below
		return read(filepath.ToSlash(within))
	})
	if err != nil {
		return nil, err
	}
	keys, err := os.ReadFile(filepath.Join(r.top, "deploy/vimbroker.yaml"))
	if err != nil {
		return nil, err
	}
	pages["configuration.md"] = "# Configuration\n\nA test reads every key of this file as the server does, and finds none missing.\n\n```yaml\n" + string(keys) + "```\n"
	return pages, cmp.Or(r.commandPages(pages), r.references(pages))
}

// commandPages adds a page for each command.
func (r *release) commandPages(pages map[string]string) error {
	program := root.Command(&console.Console{Version: r.version})
	program.DisableAutoGenTag = true
	return eachCommand(program, func(c *cobra.Command) error {
		var text bytes.Buffer
		err := doc.GenMarkdown(c, &text)
		pages["commands/"+strings.ReplaceAll(c.CommandPath(), " ", "_")+".md"] = text.String()
		return err
	})
}

// htmlName is the path of a page in the manual.
func htmlName(name string) string {
	if name == "README.md" {
		return "index.html"
	}
	return strings.TrimSuffix(name, ".md") + ".html"
}

var (
	picture  = regexp.MustCompile(`!\[[^\]]*\]\(\.\./pictures/([^)/]+)\)`)
	href     = regexp.MustCompile(`href="([^"]*)"`)
	heading  = regexp.MustCompile(`(?m)^#+ (.+)$`)
	identity = regexp.MustCompile(`\bid="([^"]+)"`)
)

// rendered makes a page of Markdown. Links to pages lead to those of the manual, links to other files to the repository.
func (r *release) rendered(name string, pages map[string]string) (string, error) {
	var body bytes.Buffer
	markdown := goldmark.New(goldmark.WithExtensions(extension.GFM), goldmark.WithParserOptions(parser.WithAutoHeadingID()))
	if err := markdown.Convert([]byte(pages[name]), &body); err != nil {
		return "", fmt.Errorf("%s: %w", name, err)
	}
	var missing []string
	text := href.ReplaceAllStringFunc(body.String(), func(found string) string {
		to := href.FindStringSubmatch(found)[1]
		if to == "" || to[0] == '#' || strings.Contains(to, "://") {
			return found
		}
		file, place, _ := strings.Cut(to, "#")
		if place != "" {
			place = "#" + place
		}
		full := path.Join(path.Dir(name), file)
		if _, is := pages[full]; is {
			return fmt.Sprintf(`href="%s%s"`, relative(name, htmlName(full)), place)
		}
		if _, err := os.Stat(filepath.Join(r.top, filepath.FromSlash(full))); err != nil {
			missing = append(missing, to)
		}
		return fmt.Sprintf(`href="https://github.com/vimbroker/vimbroker/tree/v%s/%s"`, r.version, full)
	})
	if len(missing) > 0 {
		return "", fmt.Errorf("%s: links lead to no file: %s", name, strings.Join(missing, ", "))
	}
	title := name
	if m := heading.FindStringSubmatch(pages[name]); m != nil {
		title = m[1]
	}
	var nav []navigation
	for _, n := range []navigation{
		{"index.html", "vimbroker"},
		{"docs/production.html", "Production"},
		{"docs/callers.html", "Callers"},
		{"commands/vimbroker.html", "Commands"},
		{"configuration.html", "Configuration"},
		{"errors.html", "Errors"},
		{"metrics.html", "Metrics"},
		{"events.html", "Events"},
		{"docs/runbook.html", "Runbook"},
		{"docs/promises.html", "Promises"},
	} {
		nav = append(nav, navigation{relative(name, n.To), n.Name})
	}
	var page bytes.Buffer
	err := pageForm.Execute(&page, map[string]any{
		"Title": title, "Version": r.version, "Nav": nav, "Body": template.HTML(text), //nolint:gosec // it is the project's own
	})
	return page.String(), err
}

// relative is the way from a page to another.
func relative(from, to string) string {
	return strings.Repeat("../", strings.Count(from, "/")) + to
}

// linked checks that each link within the manual leads to a page and a place that are there.
func linked(pages map[string]string) error {
	places := map[string]bool{}
	for name, text := range pages {
		places[name] = true
		for _, m := range identity.FindAllStringSubmatch(text, -1) {
			places[name+"#"+m[1]] = true
		}
	}
	var broken []string
	for _, name := range sorted(pages) {
		for _, m := range href.FindAllStringSubmatch(pages[name], -1) {
			if strings.Contains(m[1], "://") {
				continue
			}
			file, place, has := strings.Cut(m[1], "#")
			to := name
			if file != "" {
				to = path.Join(path.Dir(name), file)
			}
			if has {
				to += "#" + place
			}
			if !places[to] {
				broken = append(broken, name+" leads to "+m[1])
			}
		}
	}
	if len(broken) > 0 {
		return fmt.Errorf("links that lead nowhere:\n%s", strings.Join(broken, "\n"))
	}
	return nil
}
