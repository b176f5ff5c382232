package faults

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
)

// apart are tables of which a flow says nothing: those about the log, and of the store itself.
var apart = map[string]bool{"schema_migrations": true, "audit_tiles": true, "audit_tree": true, "replicas": true, "sqlite_sequence": true}

// unsaid are columns that another number of tries may change.
var unsaid = map[string]bool{
	"revision": true, "seq": true, "request": true, "time": true, "fence": true, "next_attempt_at": true, "attempts": true,
	"health_next": true, "due_at": true, "idle_since": true, "wanted": true, "done": true,
}

var (
	id     = regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`)
	varied = []struct {
		what *regexp.Regexp
		as   string
	}{
		{regexp.MustCompile(`-----BEGIN [^-]+-----[^-]+-----END [^-]+-----\s*`), "<pem>"},
		{regexp.MustCompile(`\b\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(\.\d+)?(Z| \+0000 UTC)`), "<time>"},
		{regexp.MustCompile(`\b1\d{15}\b|\b2\d{15}\b`), "<time>"},
		{regexp.MustCompile(`\b(Revision|Attempts|Epoch|epoch)("?[:=])\d+`), "$1$2<n>"},
		{regexp.MustCompile(`\b0x[0-9a-f]+\b`), "<pointer>"},
		{regexp.MustCompile(`\bgAAAA[\w=-]+`), "<sealed>"},
		{regexp.MustCompile(`\b127\.0\.0\.1:\d+|\blocalhost:\d+`), "<host>"},
		{regexp.MustCompile(`\b[0-9a-f]{16,}\b`), "<hex>"},
		{regexp.MustCompile(`[\w-]{43,}`), "<digest>"},
		{regexp.MustCompile(`\b(vbl|vbc)_[\w-]+`), "<secret>"},
	}
)

// Text is a value as a sweep compares it: what differs from world to world is left out.
func Text(v any) string { return labels{}.of(fmt.Sprintf("%+v", v)) }

// labels are names of what has an id.
type labels map[string]string

func (l labels) of(text string) string {
	text = id.ReplaceAllStringFunc(text, func(id string) string {
		if known := l[id]; known != "" {
			return "<" + known + ">"
		}
		return "<id>"
	})
	for _, v := range varied {
		text = v.what.ReplaceAllString(text, v.as)
	}
	return text
}

// row is a row of a table, by its columns.
type row struct {
	table string
	of    map[string]string
}

// rows are those of a database that is watched.
func rows(path string) ([]row, error) {
	_, names, err := query(path, `SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name`)
	if err != nil {
		return nil, err
	}
	var all []row
	for _, name := range names {
		table := name[0]
		if apart[table] {
			continue
		}
		columns, found, err := query(path, `SELECT * FROM `+table)
		if err != nil {
			return nil, err
		}
		for _, values := range found {
			r := row{table, map[string]string{}}
			for i, c := range columns {
				r.of[c] = values[i]
			}
			all = append(all, r)
		}
	}
	return all, nil
}

// labelled names what has an id and a name.
func labelled(all []row) labels {
	l := labels{}
	for _, r := range all {
		name := r.of["name"]
		if r.table == "leases" {
			name = strings.TrimSpace(r.of["principal"] + " " + r.of["purpose"])
		}
		if name != "" && r.of["id"] != "" {
			l[r.of["id"]] = strings.TrimSuffix(r.table, "s") + " " + name
		}
	}
	return l
}

// told are rows in words, sorted.
func told(all []row) []string {
	l := labelled(all)
	var lines []string
	for _, r := range all {
		if r.table == "audit_entries" {
			lines = append(lines, r.entry(l))
			continue
		}
		var b strings.Builder
		b.WriteString(r.table + ":")
		for _, c := range slices.Sorted(maps.Keys(r.of)) {
			if v := r.of[c]; !unsaid[c] && v != "" && v != "0" && v != "<nil>" && v != "[]" && v != "{}" {
				b.WriteString(" " + l.of(c+"="+v))
			}
		}
		lines = append(lines, b.String())
	}
	slices.Sort(lines)
	return lines
}

// entry is an entry of the audit log in words: that, and not by whom, is to be the same whatever fails.
func (r row) entry(l labels) string {
	by := ""
	if strings.HasPrefix(r.of["principal"], "system:") {
		by = " by " + r.of["principal"]
	}
	return strings.TrimSuffix("entry: "+r.of["outcome"]+" "+r.of["action"]+" "+l.of(r.of["resource"]), " ") + by
}

// anyone is an entry's line without who it is by.
func anyone(line string) string {
	if before, _, found := strings.Cut(line, " by system:"); found && strings.HasPrefix(line, "entry: ") {
		return before
	}
	return line
}

// less returns the lines of all that are not among others, each counted.
func less(all, others []string) (left []string) {
	n := map[string]int{}
	for _, line := range others {
		n[anyone(line)]++
	}
	for _, line := range all {
		if n[anyone(line)]--; n[anyone(line)] < 0 {
			left = append(left, line)
		}
	}
	return left
}

// unlike shows where two texts differ, with a few words before.
func unlike(got, want string) string {
	words := func(text string) []string {
		return strings.FieldsFunc(text, func(r rune) bool { return r == ' ' || r == ',' })
	}
	a, b := words(got), words(want)
	from := 0
	for from < min(len(a), len(b)) && a[from] == b[from] {
		from++
	}
	enda, endb := len(a), len(b)
	for enda > from && endb > from && a[enda-1] == b[endb-1] {
		enda, endb = enda-1, endb-1
	}
	before := strings.Join(a[max(0, from-2):from], " ")
	return fmt.Sprintf("%s [%s], not [%s]", before, strings.Join(a[from:enda], " "), strings.Join(b[from:endb], " "))
}
