package sol013

import (
	"bytes"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"path"
	"slices"
	"strings"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/broker/api"
	"github.com/vimbroker/vimbroker/broker/api/codec"
)

// markerParameter is the query parameter that names a page (SOL013 clause 5.4.2.1).
const markerParameter = "nextpage_opaque_marker"

// Selectable says which attributes of a representation selectors reach.
type Selectable struct {
	// Mandatory attributes are always there.
	Mandatory []string
	// ExcludedByDefault are left out of lists that do not ask for them.
	ExcludedByDefault []string
}

// Marker is the page that a request asks for; empty for the first.
func Marker(c *api.Call) string { return c.Query.Get(markerParameter) }

// listOf is the list that a call asks for, as its markers name it: one of another list would name no place in it.
func listOf(c *api.Call) string { return path.Base(c.URL.Path) + "." }

// marked takes the name of its list off a marker. One that this list did not give out is a syntax error (SOL013 clause
// 5.4.2.3).
func marked(handle func(*api.Call) (api.Answer, error)) func(*api.Call) (api.Answer, error) {
	unknown := api.Refuse(api.ErrMalformed, "query", markerParameter, "is not one that this list gave out")
	return func(c *api.Call) (api.Answer, error) {
		if given := c.Query.Get(markerParameter); given != "" {
			token, ours := strings.CutPrefix(given, listOf(c))
			if !ours {
				return api.Answer{}, unknown
			}
			c.Query.Set(markerParameter, token)
		}
		a, err := handle(c)
		if known, is := errors.AsType[*broker.Error](err); is && known.Field == "pageToken" {
			err = unknown
		}
		return a, err
	}
}

// Lists answers with a page of what was found, each in the standard's form, as List does.
func Lists[T, O any](c *api.Call, s Selectable, form func(*api.Call, T) O) func([]T, string, error) (api.Answer, error) {
	return func(found []T, next string, err error) (api.Answer, error) {
		if err != nil {
			return api.Answer{}, err
		}
		shown := make([]O, len(found))
		for n, one := range found {
			shown[n] = form(c, one)
		}
		return List(c, s, shown, next)
	}
}

// List answers with those items that the request's filter selects, each with the attributes
// that its selectors name (SOL013 clauses 5.2 and 5.3). next is the next page's marker, and
// empty at the end.
func List[T any](c *api.Call, s Selectable, items []T, next string) (api.Answer, error) {
	filter, err := parseFilter(c.Query["filter"])
	if err != nil {
		return api.Answer{}, err
	}
	shape, err := s.selector(c.Query)
	if err != nil {
		return api.Answer{}, err
	}
	list := []any{}
	for _, item := range items {
		var text bytes.Buffer
		if err := (codec.Codec{}).Encode(&text, item); err != nil {
			return api.Answer{}, err
		}
		var attributes map[string]any
		if err := json.Unmarshal(text.Bytes(), &attributes); err != nil {
			return api.Answer{}, err
		}
		if filter.selects(attributes) {
			list = append(list, shape(attributes))
		}
	}
	a := api.Answer{Body: list}
	if next != "" {
		q := url.Values{}
		for name, values := range c.Query {
			q[name] = values
		}
		q.Set(markerParameter, listOf(c)+next)
		a.Header = http.Header{"Link": {"<" + URL(c, c.URL.Path+"?"+q.Encode()) + `>; rel="next"`}}
	}
	return a, nil
}

func invalidSelector(name, message string) error {
	return api.Refuse(api.ErrMalformed, "query", name, message)
}

// selector makes the function that leaves of a representation what a request asks for.
func (s Selectable) selector(q url.Values) (func(map[string]any) map[string]any, error) {
	all, byDefault := q.Has("all_fields"), q.Has("exclude_default")
	fields, excluded := paths(q["fields"]), paths(q["exclude_fields"])
	switch {
	case all && (byDefault || len(fields) > 0 || len(excluded) > 0):
		return nil, invalidSelector("all_fields", "goes with no other selector")
	case len(fields) > 0 && len(excluded) > 0:
		return nil, invalidSelector("fields", "does not go with exclude_fields")
	case byDefault && len(excluded) > 0:
		return nil, invalidSelector("exclude_default", "does not go with exclude_fields")
	}
	return func(attributes map[string]any) map[string]any {
		switch {
		case all:
			return attributes
		case len(fields) > 0 && !byDefault:
			kept := map[string]any{}
			for _, name := range s.Mandatory {
				if v, ok := attributes[name]; ok {
					kept[name] = v
				}
			}
			for _, path := range fields {
				copyAt(kept, attributes, path)
			}
			return kept
		case len(excluded) > 0:
			for _, path := range excluded {
				if !slices.Contains(s.Mandatory, path[0]) {
					removeAt(attributes, path)
				}
			}
			return attributes
		}
		kept := map[string]any{}
		for name, v := range attributes {
			if !slices.Contains(s.ExcludedByDefault, name) {
				kept[name] = v
			}
		}
		for _, path := range fields {
			copyAt(kept, attributes, path)
		}
		return kept
	}, nil
}

// paths are the attributes that a selector names; "/" leads into a structure.
func paths(values []string) [][]string {
	var all [][]string
	for _, value := range values {
		for path := range strings.SplitSeq(value, ",") {
			if path != "" {
				all = append(all, strings.Split(path, "/"))
			}
		}
	}
	return all
}

// copyAt copies the attribute at a path with the structures around it. For an array that
// is not copied yet it copies the attribute of each item.
func copyAt(to, from map[string]any, path []string) {
	value, ok := from[path[0]]
	if !ok {
		return
	}
	if len(path) == 1 {
		to[path[0]] = value
		return
	}
	switch value := value.(type) {
	case map[string]any:
		inner, ok := to[path[0]].(map[string]any)
		if !ok {
			inner = map[string]any{}
			to[path[0]] = inner
		}
		copyAt(inner, value, path[1:])
	case []any:
		items, ok := to[path[0]].([]any)
		if !ok {
			items = make([]any, len(value))
			for i := range items {
				items[i] = map[string]any{}
			}
			to[path[0]] = items
		}
		for i, item := range value {
			if item, ok := item.(map[string]any); ok {
				if inner, ok := items[i].(map[string]any); ok {
					copyAt(inner, item, path[1:])
				}
			}
		}
	}
}

func removeAt(from map[string]any, path []string) {
	if len(path) == 1 {
		delete(from, path[0])
		return
	}
	switch value := from[path[0]].(type) {
	case map[string]any:
		removeAt(value, path[1:])
	case []any:
		for _, item := range value {
			if item, ok := item.(map[string]any); ok {
				removeAt(item, path[1:])
			}
		}
	}
}

// NotImplemented is the refusal of an operation that the standard has and this server does
// not; why completes the sentence.
func NotImplemented(why string) error {
	return &api.Refusal{Kind: errNotImplemented, Detail: why}
}

// Merge applies a JSON merge patch (RFC 7396) to a JSON object; an empty text is {}.
func Merge(before string, patch []byte) (string, error) {
	var target, change map[string]any
	if before != "" {
		if err := json.Unmarshal([]byte(before), &target); err != nil {
			return "", err
		}
	}
	if err := json.Unmarshal(patch, &change); err != nil {
		return "", broker.Invalid("body", "must be a JSON object")
	}
	merged, err := json.Marshal(merge(target, change))
	return string(merged), err
}

func merge(target, patch map[string]any) map[string]any {
	if target == nil {
		target = map[string]any{}
	}
	for name, value := range patch {
		switch value := value.(type) {
		case nil:
			delete(target, name)
		case map[string]any:
			inner, _ := target[name].(map[string]any)
			target[name] = merge(inner, value)
		default:
			target[name] = value
		}
	}
	return target
}
