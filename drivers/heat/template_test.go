package heat_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/broker/secret"
	"github.com/vimbroker/vimbroker/drivers/heat"
	"github.com/vimbroker/vimbroker/lifecycle"
	"github.com/vimbroker/vimbroker/test/fake"
	"github.com/vimbroker/vimbroker/test/fakeheat"
)

// Heat takes the last of two keys, follows aliases and merges, and knows other sections. A template that it would
// read otherwise than the policies' facts say is refused, with file, line and key, wherever it stands in the
// package, and no value is repeated.
func TestATemplateSaysOneThing(t *testing.T) {
	const (
		user = "OS::Keystone::User"
		evil = "http://169.254.169.254/" + fake.Canary + ".yaml"
	)
	group := "  g:\n    type: OS::Heat::ResourceGroup\n"
	var many strings.Builder
	for range 1500 {
		many.WriteString("  r: {type: OS::Heat::None}\n")
	}
	for name, c := range map[string]struct{ text, says string }{
		"resources twice":  {"resources:\n  a: {type: OS::Heat::None}\nresources:\n  a: {type: " + user + "}\n", ":3 holds a key twice; keep one (key resources)"},
		"a resource twice": {"resources:\n  a: {type: OS::Heat::None}\n  a: {type: " + user + "}\n", ":3 holds a key twice; keep one (key a)"},
		"a type twice":     {"resources:\n  a:\n    type: OS::Heat::None\n    type: " + user + "\n", ":4 holds a key twice; keep one (key type)"},
		"a chain":          {"resources:\n  a:\n    type: OS::Heat::None\n    type: OS::Heat::ResourceChain\n    properties: {resources: [" + evil + "]}\n", ":4 holds a key twice; keep one (key type)"},
		"a stack":          {"resources:\n  a: {type: OS::Heat::None, type: OS::Heat::Stack, properties: {template: " + evil + "}}\n", ":2 holds a key twice; keep one (key type)"},
		"properties twice": {"parameters: {x: {type: string, default: " + `"` + evil + `"` + "}}\nresources:\n" + group +
			"    properties: {resource_def: {type: OS::Heat::None}}\n    properties: {resource_def: {type: {get_param: x}}}\n", ":6 holds a key twice; keep one (key properties)"},
		"more than the bound": {"resources:\n" + many.String(), ":3 holds a key twice; keep one (key r)"},
		"hidden twice": {
			"parameters:\n  p: {type: string, default: " + fake.Canary + ", hidden: false, hidden: true}\nresources:\n  a: {type: OS::Heat::None}\n",
			":2 holds a key twice; keep one (key hidden)",
		},
		"a default twice":       {"parameters:\n  p: {hidden: true, default: x, default: " + fake.Canary + "}\nresources:\n  a: {type: OS::Heat::None}\n", "(key default)"},
		"twice, once in quotes": {"resources: {a: {type: OS::Heat::None}}\n\"resources\": {a: {type: " + user + "}}\n", ":2 holds a key twice; keep one (key resources)"},
		"JSON":                  {`{"resources": {"a": {"type": "OS::Heat::None", "type": "` + user + `"}}}`, ":1 holds a key twice; keep one (key type)"},
		"JSON with an escape":   {"{\"resources\": {\"a\": {\"type\": \"OS::Heat::None\"}},\n \"\\u0072esources\": {\"a\": {\"type\": \"" + user + "\"}}}", ":2 holds a key twice; keep one (key resources)"},
		"a merge key":           {"resources:\n  a:\n    type: OS::Heat::None\n    <<: {type: " + user + ", x: " + fake.Canary + "}\n", ":4 holds a key that is no string; put it in quotes, and write merged values out (key <<)"},
		"a merge at the top":    {"<<: {resources: {a: {type: " + user + "}}}\nresources: {a: {type: OS::Heat::None}}\n", ":1 holds a key that is no string"},
		"an alias":              {"resources:\n  a: &a {type: OS::Heat::None, x: " + fake.Canary + "}\n  b: *a\n", ":2 holds an anchor or alias; write the value itself (key a)"},
		"an anchor of a key":    {"resources:\n  &a type: {type: OS::Heat::None}\n", ":2 holds an anchor or alias"},
		"an alias as a key":     {"description: &d resources\n*d : {a: {type: " + user + "}}\nresources: {a: {type: OS::Heat::None}}\n", "holds an anchor or alias"},
		"a tag":                 {"resources:\n  a: {type: !!binary T1M6OktleXN0b25lOjpVc2Vy}\n", ":2 holds an explicit tag; leave it out (key type)"},
		"a tag of a key":        {"resources: {a: {type: OS::Heat::None}}\n!!str outputs: {}\n", "explicit tag"},
		"a list as a key":       {"resources: {a: {type: OS::Heat::None}}\n? [resources]\n: {}\n", ":2 holds a key that is no string"},
		"CloudFormation's sections": {
			"HeatTemplateFormatVersion: '2012-12-12'\nResources: {a: {Type: " + user + "}}\nresources: {a: {type: OS::Heat::None}}\n",
			":1 has a section that no HOT has: HeatTemplateFormatVersion; leave it out",
		},
		"a section of nobody": {"resources: {a: {type: OS::Heat::None}}\nresource_registry: {OS::Heat::None: " + `"` + evil + `"` + "}\n", ":2 has a section that no HOT has: resource_registry"},
		"a second document":   {"resources: {a: {type: OS::Heat::None}}\n---\nresources: {a: {type: " + user + "}}\n", "holds more than one document; keep one"},
		"no type":             {"resources:\n  a: {properties: {x: " + fake.Canary + "}}\n", ":2 has a resource without a type"},
		"a type that is none": {"resources:\n  a: {type: [" + user + "]}\n", ":2 has a resource without a type"},
		"a name with a slash": {"resources:\n  a/b: {type: OS::Heat::None}\n", ":2 has a resource without a type, or with a name that Heat does not take"},
		"depth":               {"resources:\n  a: {type: OS::Heat::None, properties: {x: " + strings.Repeat("[", 9000) + strings.Repeat("]", 9000) + "}}\n", ":2 nests more than 56 deep"},
		"what is not text":    {"resources: {a: {type: OS::Heat::None, x: '\xff'}}\n", "is not text"},
	} {
		for _, at := range []string{"the top", "a nested template", "a template of that"} {
			t.Run(name+"/"+at, func(t *testing.T) {
				s := fakeheat.New(t)
				_, err := heat.New().Plan(t.Context(), connect(s, lifecycle.StageRules{}), placed(at, c.text))
				var e *broker.Error
				if !errors.Is(err, broker.ErrInvalid) || !errors.As(err, &e) || !strings.Contains(e.Detail, c.says) {
					t.Fatalf("Plan = %v, want %v with %q", err, broker.ErrInvalid, c.says)
				}
				if file := map[string]string{"the top": "simple.yaml", "a nested template": "nested/n0.yaml", "a template of that": "nested/n1.yaml"}[at]; !strings.HasPrefix(e.Detail, "BaseHOT/simple/"+file) {
					t.Errorf("%q does not name %s", e.Detail, file)
				}
				if strings.Contains(err.Error(), fake.Canary) || strings.Contains(err.Error(), user) {
					t.Errorf("%q repeats a value", err)
				}
				if n := s.Count("POST", "/heat/v1/project/validate") + s.Count("POST", "/heat/v1/project/stacks"); n > 0 {
					t.Errorf("Heat was shown the template %d times", n)
				}
			})
		}
	}
}

// placed is an operation on a package that has a template at that depth.
func placed(at, text string) lifecycle.PlanInput {
	in := tacker("")
	in.Manifests, in.Parameters, in.Flavour.VDUs = nil, nil, nil
	put := func(path, text string) {
		in.Manifests = append(in.Manifests, lifecycle.Manifest{Path: "BaseHOT/simple/" + path, Text: secret.NewText(text)})
	}
	refer := func(n int) string { return fmt.Sprintf("resources:\n  r: {type: n%d.yaml}\n", n) }
	switch at {
	case "the top":
		put("simple.yaml", text)
	case "a nested template":
		put("simple.yaml", refer(0))
		put("nested/n0.yaml", text)
	default:
		put("simple.yaml", refer(0))
		put("nested/n0.yaml", refer(1))
		put("nested/n1.yaml", text)
	}
	return in
}

// All that a HOT may have is taken.
func TestAllSectionsOfAHOTAreTaken(t *testing.T) {
	s := fakeheat.New(t)
	s.Fail(fake.Fault{Kind: fake.JSON, Path: "/validate$", Status: 200, Body: "{}"})
	text := "heat_template_version: 2018-08-31\ndescription: d\nparameter_groups: [{label: l, parameters: [p]}]\n" +
		"parameters: {p: {type: string, default: x}}\nconditions: {c: true}\nresources:\n  1: {type: OS::Heat::None, condition: c}\noutputs: {o: {value: {get_param: p}}}\n"
	if _, err := heat.New().Plan(t.Context(), connect(s, lifecycle.StageRules{}), placed("the top", text)); err != nil {
		t.Errorf("Plan = %v", err)
	}
}
