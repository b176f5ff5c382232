package broker

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Bounds on what callers keep with a VIM, in bytes.
const (
	maxDescription = 4 << 10
	maxExtra       = 64 << 10
	maxProject     = 255
	// maxExtraDepth is how deep extra may nest. It is less than any door lets a body nest,
	// so that all doors take the same.
	maxExtraDepth = 12
)

func validNotes(description, extra string) error {
	switch {
	case len(description) > maxDescription:
		return Invalid("description", "is longer than %d bytes", maxDescription)
	case !utf8.ValidString(description) || strings.ContainsRune(description, 0):
		return Invalid("description", "is not text")
	case len(extra) > maxExtra:
		return Invalid("extra", "is longer than %d bytes", maxExtra)
	}
	if extra == "" {
		return nil
	}
	var object map[string]any
	if json.Unmarshal([]byte(extra), &object) != nil || object == nil || !utf8.ValidString(extra) {
		return Invalid("extra", "is not a JSON object")
	}
	if depth(object) > maxExtraDepth {
		return Invalid("extra", "nests deeper than %d levels", maxExtraDepth)
	}
	return nil
}

// depth is how many levels of objects and lists there are.
func depth(value any) int {
	most := 0
	switch v := value.(type) {
	case map[string]any:
		for _, member := range v {
			most = max(most, depth(member))
		}
	case []any:
		for _, item := range v {
			most = max(most, depth(item))
		}
	default:
		return 0
	}
	return most + 1
}

// validNotes checks what a change left of labels, description and extra together.
func (v *VIM) validNotes() error {
	if err := validLabels(v.Labels); err != nil {
		return err
	}
	return validNotes(v.Description, v.Extra)
}

// validProject is for a project that a caller names.
func validProject(project string) error {
	if len(project) > maxProject || strings.TrimSpace(project) != project ||
		strings.ContainsFunc(project, func(r rune) bool { return !unicode.IsPrint(r) || r == unicode.ReplacementChar }) {
		return Invalid("project", "must be at most %d printable bytes, without a space at either end", maxProject)
	}
	return nil
}

// maxSharedWith is how many projects a VIM can be shared with by name.
const maxSharedWith = 100

// sharedWith puts the names of other projects in order, each once. It leaves out the
// project that the VIM belongs to.
func sharedWith(projects []string, own string) ([]string, error) {
	sorted := slices.Clone(projects)
	slices.Sort(sorted)
	sorted = slices.DeleteFunc(slices.Compact(sorted), func(project string) bool { return project == own })
	if len(sorted) > maxSharedWith {
		return nil, Invalid("sharedWith", "names more than %d projects", maxSharedWith)
	}
	for _, project := range sorted {
		if project == "" || validProject(project) != nil {
			return nil, Invalid("sharedWith", "holds a name that is not 1 to %d printable bytes, without a space at either end", maxProject)
		}
	}
	if len(sorted) == 0 {
		return nil, nil
	}
	return sorted, nil
}

// mergeExtra merges one JSON object into another, at every depth (RFC 7396). Both
// were checked by validNotes; numbers stay as they were written.
func mergeExtra(old, more string) string {
	if more == "" {
		return old
	}
	if old == "" {
		old = "{}"
	}
	merged := merge(object(old), object(more))
	if len(merged) == 0 {
		return ""
	}
	var text bytes.Buffer
	e := json.NewEncoder(&text)
	e.SetEscapeHTML(false)
	_ = e.Encode(merged) // what was JSON becomes JSON
	return strings.TrimSuffix(text.String(), "\n")
}

func object(text string) map[string]any {
	d := json.NewDecoder(strings.NewReader(text))
	d.UseNumber()
	var o map[string]any
	_ = d.Decode(&o)
	return o
}

func merge(old, more map[string]any) map[string]any {
	for k, v := range more {
		if v == nil {
			delete(old, k)
			continue
		}
		if inner, isObject := v.(map[string]any); isObject {
			there, both := old[k].(map[string]any)
			if !both {
				there = map[string]any{}
			}
			v = merge(there, inner)
		}
		old[k] = v
	}
	return old
}
