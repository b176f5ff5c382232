package broker

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
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
	if err := ValidLabels(v.Labels); err != nil {
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

// VIMQuota bounds the VIMs of a project; zero means no bound.
type VIMQuota struct {
	// PerProject is how many VIMs one project has at most, those included that are being registered.
	PerProject int
	// Bytes is how much one VIM stores at most: names, labels, description, extra, target and credential.
	Bytes int
}

// sealedSize is about how long a credential is once it is sealed: Fernet pads to blocks, and
// encodes in base 64.
func sealedSize(c Credential) (int, error) {
	plain, err := c.Pack()
	return 4*len(plain.Reveal())/3 + 100, err
}

// sizes are the parts of what a VIM stores whose length a caller chooses.
func sizes(v VIM, credential int) map[string]int {
	labels := 0
	for k, text := range v.Labels {
		labels += len(k) + len(text)
	}
	shares := 0
	for _, project := range v.SharedWith {
		shares += len(project)
	}
	t := v.Current.Target
	return map[string]int{
		"labels": labels, "description": len(v.Description), "extra": len(v.Extra), "caCert": len(t.CACert), "credential": credential,
		"sharedWith": shares, "name": len(v.Name), "endpoint": len(t.Endpoint) + len(t.ServerName) + len(t.Namespace),
	}
}

// fits refuses a VIM that stores more than it may, unless it stores less than before: a bound that
// was lowered keeps no VIM from becoming smaller. Both are given with the sizes of their sealed
// credentials; the VIM before is empty where there is none.
func (q VIMQuota) fits(before VIM, was int, after VIM, credential int) error {
	total := func(parts map[string]int) (n int) {
		for _, size := range parts {
			n += size
		}
		return n
	}
	parts := sizes(after, credential)
	n := total(parts)
	if q.Bytes == 0 || n <= q.Bytes || before.ID != "" && n <= total(sizes(before, was)) {
		return nil
	}
	var largest string
	for field, size := range parts {
		if c := cmp.Compare(size, parts[largest]); c > 0 || c == 0 && field < largest {
			largest = field
		}
	}
	return &Error{
		Kind: ErrQuota, Field: largest,
		Detail: fmt.Sprintf("the VIM would store %d KiB, %d of them here, and may store %d", kibibytes(n),
			kibibytes(parts[largest]), kibibytes(q.Bytes)),
		Remedy: "make it shorter",
	}
}

func kibibytes(n int) int { return (n + 1023) >> 10 }
