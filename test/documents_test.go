package test

import (
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// bounds are the sizes that documents keep, in KB of 1024 bytes.
var bounds = map[string]int{"ARCHITECTURE.md": 10, "docs/figures.md": 10, "docs/runbook.md": 25}

var (
	linked   = regexp.MustCompile(`\]\(([^)\s]+)\)`)
	quoted   = regexp.MustCompile("`([^`]+)`")
	heading  = regexp.MustCompile(`(?m)^#{1,4} (.*)$|<a id="(\w+)">`)
	unlinked = regexp.MustCompile(`[^\w -]`)
)

// Documents are as short as they promise, and their links lead to files and headings that exist.
func TestDocuments(t *testing.T) {
	for name, text := range documents(t) {
		if most := bounds[name] * 1024; most > 0 && len(text) > most {
			t.Errorf("%s has %d bytes, and may have %d", name, len(text), most)
		}
		for _, m := range linked.FindAllStringSubmatch(withoutBlocks(text), -1) {
			file, anchor, _ := strings.Cut(m[1], "#")
			if strings.Contains(file, ":") {
				continue
			}
			target := name
			if file != "" {
				target = path.Join(path.Dir(name), file)
			}
			there, err := os.ReadFile(filepath.Join("..", target)) //nolint:gosec // it is of the repository
			if info, gone := os.Stat(filepath.Join("..", target)); gone != nil || err != nil && !info.IsDir() {
				t.Errorf("%s leads to %s, which does not exist", name, m[1])
			} else if anchor != "" && !anchors(string(there))[anchor] {
				t.Errorf("%s leads to %s, which has no such heading", name, m[1])
			}
		}
	}
}

// ARCHITECTURE.md and the pages of docs/design name files that exist; files in the table of rooms stand in their rooms.
func TestDesignNamesFilesThatExist(t *testing.T) {
	named := 0
	for name, text := range documents(t) {
		if name != "ARCHITECTURE.md" && path.Dir(name) != "docs/design" {
			continue
		}
		for line := range strings.Lines(withoutBlocks(text)) {
			cells := strings.Split(line, "|")
			table := name == "ARCHITECTURE.md" && len(cells) == 5 // of rooms
			for _, m := range quoted.FindAllStringSubmatch(line, -1) {
				file := m[1]
				if !regexp.MustCompile(`^[\w./-]+\.(go|cedar|cedarschema|yaml)$`).MatchString(file) {
					continue
				}
				named++
				if !exists(file) && !(table && inRoom(cells[1], file)) {
					t.Errorf("%s names %s, which does not exist: %s", name, file, strings.TrimSpace(line))
				}
			}
		}
	}
	if named < 60 {
		t.Errorf("%d files are named: the pages are not read as they are meant", named)
	}
}

// inRoom reports whether a file stands in a room that a cell names. Rooms after the first may be named by their
// last part, and so may the file's path begin.
func inRoom(cell, file string) bool {
	rooms := quoted.FindAllStringSubmatch(cell, -1)
	for _, room := range rooms {
		for _, dir := range []string{room[1], path.Dir(room[1]), path.Join(path.Dir(rooms[0][1]), room[1])} {
			if exists(path.Join(dir, file)) {
				return true
			}
		}
	}
	return false
}

func exists(file string) bool {
	_, err := os.Stat(filepath.Join("..", file))
	return err == nil
}

// documents are the texts of all pages for people, by path.
func documents(t *testing.T) map[string]string {
	t.Helper()
	all := map[string]string{}
	for _, pattern := range []string{"*.md", "docs/*.md", "docs/design/*.md"} {
		files, err := filepath.Glob(filepath.Join("..", pattern))
		if err != nil || len(files) == 0 {
			t.Fatalf("%s: %d files, %v", pattern, len(files), err)
		}
		for _, file := range files {
			text, err := os.ReadFile(file) //nolint:gosec // it is of the repository
			if err != nil {
				t.Fatal(err)
			}
			all[filepath.ToSlash(strings.TrimPrefix(file, ".."+string(filepath.Separator)))] = string(text)
		}
	}
	return all
}

// anchors are the places in a page that a link can name.
func anchors(text string) map[string]bool {
	all := map[string]bool{}
	for _, m := range heading.FindAllStringSubmatch(withoutBlocks(text), -1) {
		all[m[2]] = true
		all[strings.ReplaceAll(strings.ToLower(unlinked.ReplaceAllString(m[1], "")), " ", "-")] = true
	}
	return all
}

// withoutBlocks drops blocks of code.
func withoutBlocks(text string) string {
	var kept strings.Builder
	inside := false
	for line := range strings.Lines(text) {
		if strings.HasPrefix(line, "```") {
			inside = !inside
			continue
		}
		if !inside {
			kept.WriteString(line)
		}
	}
	return kept.String()
}
