package rest_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/vimbroker/vimbroker/broker/api"
	"github.com/vimbroker/vimbroker/test/golden"
)

// published is what releases have promised of REST version 1, a fact a line. It only grows.
const published = "testdata/published.txt"

// description is the OpenAPI document as a client reads it.
type description struct {
	Paths      map[string]map[string]described
	Components struct {
		Schemas map[string]*shape
	}
}

type described struct {
	Beta       bool `json:"x-beta"`
	Parameters []struct {
		Name, In string
		Required bool
		Schema   shape
	}
	RequestBody *struct {
		Required bool
		Content  map[string]struct{ Schema shape }
	}
	Responses map[string]struct {
		Content map[string]struct{ Schema shape }
	}
}

type shape struct {
	Ref                  string `json:"$ref"`
	Type, Format         string
	Enum                 []any
	Items                *shape
	OneOf                []shape
	Properties           map[string]*shape
	Required             []string
	AdditionalProperties any
}

// kind is the type of a value in one word.
func (s *shape) kind() string {
	switch {
	case s.Ref != "":
		return filepath.Base(s.Ref)
	case s.Items != nil:
		return "list of " + s.Items.kind()
	case s.OneOf != nil:
		var all []string
		for _, one := range s.OneOf {
			all = append(all, one.kind())
		}
		return strings.Join(all, " or ")
	}
	if m, is := s.AdditionalProperties.(map[string]any); is {
		return fmt.Sprint("map of ", m["type"])
	}
	return strings.TrimSpace(s.Type + " " + s.Format)
}

const needs = "needs no more than"

// lost are the facts of before that are none now. A request that needs less than before has lost nothing.
func lost(before, now []string) (gone []string) {
	for _, fact := range before {
		if slices.Contains(now, fact) {
			continue
		}
		if name, fields, is := strings.Cut(fact, needs); is {
			at := slices.IndexFunc(now, func(f string) bool { return strings.HasPrefix(f, name+needs) })
			more := func(f string) bool { return !slices.Contains(strings.Fields(fields), f) }
			if at >= 0 && !slices.ContainsFunc(strings.Fields(strings.TrimPrefix(now[at], name+needs)), more) {
				continue
			}
		}
		gone = append(gone, fact)
	}
	return gone
}

// facts are what a client can rely on, each a line that stays: operations, parameters, bodies, statuses, fields with their
// types and values. What a request may lack and what an answer has is a line too, so that no field of a request becomes
// required, and none of an answer optional. Beta operations promise nothing, nor do types that only they have.
func facts(text []byte) ([]string, error) {
	var d description
	if err := json.Unmarshal(text, &d); err != nil {
		return nil, err
	}
	var all []string
	say := func(words ...string) { all = append(all, strings.Join(words, " ")) }
	walked := map[string]bool{}
	var walk func(s *shape, way string)
	walk = func(s *shape, way string) {
		if s.Items != nil {
			walk(s.Items, way)
		}
		name := filepath.Base(s.Ref)
		if s.Ref == "" || walked[way+name] {
			return
		}
		walked[way+name] = true
		of := d.Components.Schemas[name]
		if way == "asked" {
			say(append([]string{name, needs}, slices.Sorted(slices.Values(of.Required))...)...)
		}
		for field, p := range of.Properties {
			if needed := slices.Contains(of.Required, field); way == "asked" && !needed {
				say("asked", name+"."+field, "may be left out")
			} else if way == "answered" && needed {
				say("answered", name+"."+field, "is always there")
			}
			say(way, name+"."+field, "is", p.kind())
			if len(p.Enum) == 0 && way == "asked" {
				say(way, name+"."+field, "has any value")
			}
			for _, v := range p.Enum {
				say(way, name+"."+field, "can be", fmt.Sprint(v))
			}
			walk(p, way)
		}
	}
	for path, methods := range d.Paths {
		for method, op := range methods {
			if op.Beta {
				continue
			}
			name := strings.ToUpper(method) + " " + path
			say(name)
			for _, p := range op.Parameters {
				say(name, p.In, p.Name, p.Schema.kind())
				if !p.Required {
					say(name, p.In, p.Name, "may be left out")
				}
				for _, v := range append(p.Schema.Enum, p.Schema.items()...) {
					say(name, p.In, p.Name, "can be", fmt.Sprint(v))
				}
			}
			if b := op.RequestBody; b != nil {
				for media, c := range b.Content {
					say(name, "asks with", media, c.Schema.kind())
					walk(&c.Schema, "asked")
				}
				if !b.Required {
					say(name, "needs no body")
				}
			} else {
				say(name, "needs no body")
			}
			for status, r := range op.Responses {
				for media, c := range r.Content {
					say(name, "answers", status, media, c.Schema.kind())
					walk(&c.Schema, "answered")
				}
				if len(r.Content) == 0 {
					say(name, "answers", status)
				}
			}
		}
	}
	for _, k := range api.Kinds() {
		say("problem", k.Name, "has status", fmt.Sprint(k.Status))
	}
	slices.Sort(all)
	return slices.Compact(all), nil
}

func (s *shape) items() []any {
	if s.Items == nil {
		return nil
	}
	return s.Items.Enum
}

// Nothing that a release has promised of REST version 1 goes away: make generate adds lines, and only a person removes one.
func TestGoldenOfWhatIsPublishedOnlyGrows(t *testing.T) {
	text, err := os.ReadFile(openapi)
	if err != nil {
		t.Fatal(err)
	}
	now, err := facts(text)
	if err != nil {
		t.Fatal(err)
	}
	kept, err := os.ReadFile(published)
	if err != nil && !golden.Updating() {
		t.Fatal(err)
	}
	before := strings.Split(strings.TrimSpace(string(kept)), "\n")
	if golden.Updating() {
		all := append(slices.Clone(now), before...)
		slices.Sort(all)
		if err := os.WriteFile(published, []byte(strings.TrimSpace(strings.Join(slices.Compact(all), "\n"))+"\n"), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	for _, fact := range lost(before, now) {
		t.Errorf("published, and not so any more: %s\n(if no release has it yet, remove the line from %s)", fact, published)
	}
	for _, fact := range now {
		if !slices.Contains(before, fact) {
			t.Errorf("new, and not among what is published: %s (make generate adds it; an operation of its first release is beta)", fact)
		}
	}
	if len(before) < 500 {
		t.Errorf("only %d facts are published", len(before))
	}
}

// Each way to break a client is noticed: one fact of the description before is none of the one after.
func TestWhatBreaksAClientIsNoticed(t *testing.T) {
	text, err := os.ReadFile(openapi)
	if err != nil {
		t.Fatal(err)
	}
	before, err := facts(text)
	if err != nil {
		t.Fatal(err)
	}
	at := func(d map[string]any, keys ...string) map[string]any {
		for _, k := range keys {
			d = d[k].(map[string]any)
		}
		return d
	}
	request, answer := []string{"components", "schemas", "LeaseRequest"}, []string{"components", "schemas", "Lease"}
	for what, harm := range map[string]func(d map[string]any){
		"an operation is gone":            func(d map[string]any) { delete(at(d, "paths", "/v1/leases"), "post") },
		"a path is gone":                  func(d map[string]any) { delete(at(d, "paths"), "/v1/vims/{id}/check") },
		"an operation is beta":            func(d map[string]any) { at(d, "paths", "/v1/leases", "post")["x-beta"] = true },
		"a parameter is gone":             func(d map[string]any) { delete(at(d, "paths", "/v1/vims", "get"), "parameters") },
		"a status is gone":                func(d map[string]any) { delete(at(d, "paths", "/v1/vims/{id}", "delete", "responses"), "202") },
		"a field of a request is gone":    func(d map[string]any) { delete(at(d, append(request, "properties")...), "ttl") },
		"a field of a request is needed":  func(d map[string]any) { at(d, request...)["required"] = []any{"vim", "ttl"} },
		"a field of a request is another": func(d map[string]any) { at(d, append(request, "properties", "ttl")...)["type"] = "integer" },
		"a value of a request is gone":    func(d map[string]any) { at(d, append(request, "properties", "format")...)["enum"] = []any{"json"} },
		"a request takes fewer values":    func(d map[string]any) { at(d, append(request, "properties", "role")...)["enum"] = []any{"view"} },
		"a field of an answer is gone":    func(d map[string]any) { delete(at(d, append(answer, "properties")...), "state") },
		"a field of an answer may lack":   func(d map[string]any) { at(d, answer...)["required"] = []any{"id"} },
		"a request needs a new field": func(d map[string]any) {
			at(d, append(request, "properties")...)["why"] = map[string]any{"type": "string"}
			at(d, request...)["required"] = []any{"why"}
		},
		"no harm: a request needs less": func(d map[string]any) {
			at(d, "components", "schemas", "OAuthClientRequest")["required"] = []any{"name"}
		},
		"no harm: an answer has more": func(d map[string]any) {
			at(d, append(answer, "properties")...)["why"] = map[string]any{"type": "string"}
		},
		"a body is needed": func(d map[string]any) {
			at(d, "paths", "/v1/vims/{id}/check", "post", "requestBody")["required"] = true
		},
	} {
		var d map[string]any
		if err := json.Unmarshal(text, &d); err != nil {
			t.Fatal(err)
		}
		harm(d)
		harmed, err := json.Marshal(d)
		if err != nil {
			t.Fatal(err)
		}
		after, err := facts(harmed)
		if err != nil {
			t.Fatal(err)
		}
		if harmless := strings.HasPrefix(what, "no harm"); harmless != (len(lost(before, after)) == 0) {
			t.Errorf("%s: lost are %q", what, lost(before, after))
		}
	}
}
