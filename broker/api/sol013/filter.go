package sol013

import (
	"slices"
	"strconv"
	"strings"

	"github.com/vimbroker/vimbroker/broker/api"
)

const maxFilter = 4 << 10

// filter is an attribute-based filter (SOL013 clause 5.2.2): simple filters that must all
// match.
type filter []simpleFilter

// simpleFilter compares one attribute with values.
type simpleFilter struct {
	op     string
	path   []string
	values []string
}

// operators say what an attribute and a value must be to each other, and whether one
// value is enough.
var operators = map[string]func(attribute any, values []string) bool{
	"eq":  func(a any, v []string) bool { return compare(a, v[0]) == 0 },
	"neq": func(a any, v []string) bool { return compare(a, v[0]) != 0 },
	"in":  func(a any, v []string) bool { return anyOf(v, func(v string) bool { return compare(a, v) == 0 }) },
	"nin": func(a any, v []string) bool { return !anyOf(v, func(v string) bool { return compare(a, v) == 0 }) },
	"gt":  func(a any, v []string) bool { return compare(a, v[0]) > 0 },
	"gte": func(a any, v []string) bool { return compare(a, v[0]) >= 0 },
	"lt":  func(a any, v []string) bool { return compare(a, v[0]) < 0 },
	"lte": func(a any, v []string) bool { return compare(a, v[0]) <= 0 },
	"cont": func(a any, v []string) bool {
		return anyOf(v, func(v string) bool { return strings.Contains(text(a), v) })
	},
	"ncont": func(a any, v []string) bool {
		return !anyOf(v, func(v string) bool { return strings.Contains(text(a), v) })
	},
}

// many are the operators that take more than one value.
var many = []string{"in", "nin", "cont", "ncont"}

func anyOf(values []string, so func(string) bool) bool { return slices.ContainsFunc(values, so) }

func text(attribute any) string {
	switch a := attribute.(type) {
	case string:
		return a
	case bool:
		return strconv.FormatBool(a)
	case float64:
		return strconv.FormatFloat(a, 'f', -1, 64)
	}
	return ""
}

// compare orders an attribute and a value: numbers by size, everything else as text. Times
// are in UTC everywhere, so that their texts are in their order.
func compare(attribute any, value string) int {
	if number, ok := attribute.(float64); ok {
		if v, err := strconv.ParseFloat(value, 64); err == nil {
			switch {
			case number < v:
				return -1
			case number > v:
				return 1
			}
			return 0
		}
	}
	return strings.Compare(text(attribute), value)
}

// selects reports whether a representation matches. An attribute that is not there matches
// nothing; of an array, one item that matches is enough.
func (f filter) selects(attributes map[string]any) bool {
	for _, s := range f {
		if !s.matches(attributes, s.path) {
			return false
		}
	}
	return true
}

func (s simpleFilter) matches(value any, path []string) bool {
	switch value := value.(type) {
	case []any:
		return slices.ContainsFunc(value, func(item any) bool { return s.matches(item, path) })
	case map[string]any:
		if len(path) == 0 {
			return false
		}
		if path[0] == "@key" {
			for name := range value {
				if len(path) == 1 && operators[s.op](name, s.values) {
					return true
				}
			}
			return false
		}
		inner, ok := value[path[0]]
		return ok && s.matches(inner, path[1:])
	case nil:
		return false
	}
	return len(path) == 0 && operators[s.op](value, s.values)
}

func invalidFilter(message string) error {
	return api.Refuse(api.ErrMalformed, "query", "filter", message)
}

// parseFilter reads the filters of a request, which must all match:
// (op,attr,value[,value]);(op,attr,value). A value in single quotes may contain any
// character; a quote in it is written twice.
func parseFilter(texts []string) (filter, error) {
	var all filter
	for _, text := range texts {
		if len(text) > maxFilter {
			return nil, invalidFilter("is longer than " + strconv.Itoa(maxFilter) + " bytes")
		}
		for rest := text; rest != ""; {
			words, after, ok := parseSimple(rest)
			if !ok {
				return nil, invalidFilter("must be written like (eq,attribute,value);(neq,structure/attribute,value)")
			}
			s := simpleFilter{op: words[0], path: strings.Split(words[1], "/"), values: words[2:]}
			if operators[s.op] == nil {
				return nil, invalidFilter("has an operator other than eq, neq, in, nin, gt, gte, lt, lte, cont and ncont")
			}
			if len(s.values) > 1 && !slices.Contains(many, s.op) {
				return nil, invalidFilter("has an operator with more values than one: only " + strings.Join(many, ", ") + " take more")
			}
			all = append(all, s)
			if after == "" {
				break
			}
			if rest, ok = strings.CutPrefix(after, ";"); !ok || rest == "" {
				return nil, invalidFilter("must have ; between its parts")
			}
		}
	}
	return all, nil
}

// parseSimple reads one (op,attr,value...), and returns its words and what follows.
func parseSimple(s string) (words []string, after string, ok bool) {
	if s, ok = strings.CutPrefix(s, "("); !ok {
		return nil, "", false
	}
	for {
		var word string
		if strings.HasPrefix(s, "'") {
			if word, s, ok = quoted(s[1:]); !ok {
				return nil, "", false
			}
		} else {
			end := strings.IndexAny(s, ",()';")
			if end < 0 {
				return nil, "", false
			}
			word, s = s[:end], s[end:]
		}
		words = append(words, word)
		if s == "" {
			return nil, "", false
		}
		end := s[0]
		s = s[1:]
		switch {
		case end == ')':
			return words, s, len(words) >= 3
		case end != ',':
			return nil, "", false
		}
	}
}

// quoted reads to the quote that ends a value.
func quoted(s string) (value, after string, ok bool) {
	var b strings.Builder
	for {
		before, rest, found := strings.Cut(s, "'")
		b.WriteString(before)
		switch {
		case !found:
			return "", "", false
		case !strings.HasPrefix(rest, "'"):
			return b.String(), rest, true
		}
		b.WriteByte('\'')
		s = rest[1:]
	}
}
