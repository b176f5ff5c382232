package server

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/santhosh-tekuri/jsonschema/v6"
	"go.yaml.in/yaml/v3"

	"github.com/vimbroker/vimbroker/broker/strictyaml"
	"github.com/vimbroker/vimbroker/test/golden"
)

// refused is what the reader of configurations says of one, as far as its form goes; empty if it takes it.
func refused(text string) string {
	d := &strictyaml.Document{Name: "test"}
	c := defaults(nil)
	if root := d.Parse([]byte(text)); root != nil {
		d.Mapping(root, "", c.fields(d))
	}
	if d.Err() == nil {
		return ""
	}
	return d.Err().Error()
}

// positive are durations above zero, as Go reads them.
var positive = []any{
	map[string]any{"pattern": `[1-9]`},
	map[string]any{"pattern": `^\+?(([0-9]+(\.[0-9]*)?|\.[0-9]+)(ns|us|µs|ms|s|m|h))+$`},
}

// aDay is a duration of at least 24 hours that begins with hours, or is minutes.
const aDay = `^((2[4-9]|[3-9][0-9]|[1-9][0-9]{2,})h([0-9.]+(m|s|ms))*|(14[4-9][0-9]|1[5-9][0-9]{2}|[2-9][0-9]{3}|[1-9][0-9]{4,})m)$`

// schemaOf asks the reader, value by value, what may stand at a place of the configuration, and says it as a JSON schema.
func schemaOf(around func(inner string) string) map[string]any {
	takes := func(value string) bool { return refused(around(value)) == "" }
	within := func(form string) func(string) string {
		return func(inner string) string { return around(strings.ReplaceAll(form, "%", inner)) }
	}
	known := func(value string) []string {
		_, keys, is := strings.Cut(refused(around(value)), "known here: ")
		if !is {
			return nil
		}
		keys, _, _ = strings.Cut(keys, ";")
		keys, _, _ = strings.Cut(keys, "\n")
		return strings.Split(keys, ", ")
	}
	var kinds []any
	say := func(kind map[string]any) {
		if takes("null") { // which is as if it were not there
			kind["type"] = []any{kind["type"], "null"}
		}
		kinds = append(kinds, kind)
	}
	switch keys := known("{zzz: 0}"); {
	case keys != nil:
		properties := map[string]any{}
		object := map[string]any{"type": "object", "additionalProperties": false, "properties": properties}
		for _, key := range keys {
			properties[key] = schemaOf(within("{" + key + ": %}"))
			if len(properties[key].(map[string]any)) == 0 { // it is taken only beside all others
				others := slices.DeleteFunc(slices.Clone(keys), func(k string) bool { return k == key })
				properties[key] = schemaOf(within("{" + key + ": %, " + strings.Join(others, ": zzz, ") + ": zzz}"))
				object["required"] = keys
			}
		}
		say(object)
	case takes("{zzz: x}"), takes("{zzz: {}}"), takes("{zzz: [x]}"):
		say(map[string]any{"type": "object", "additionalProperties": schemaOf(within("{zzz: %}"))})
	}
	if known("[{zzz: 0}]") != nil || takes("[x]") {
		list := map[string]any{"type": "array", "items": schemaOf(within("[%]"))}
		if !takes("[]") {
			list["minItems"] = 1
		}
		say(list)
	}
	if takes("true") {
		say(map[string]any{"type": "boolean"})
	}
	if takes("7") {
		say(map[string]any{"type": "integer", "minimum": 0})
	}
	switch words := wordsOf(refused(around("zzz"))); {
	case takes("zzz"):
		say(map[string]any{"type": "string"})
	case takes("48h") && takes("forever"):
		say(map[string]any{"type": "string", "anyOf": []any{map[string]any{"enum": []any{"", "forever"}}, map[string]any{"pattern": aDay}}})
	case takes("48h"):
		say(map[string]any{"type": "string", "allOf": positive})
	default:
		var enum []any
		for _, w := range append(words, "") {
			if takes(`"` + w + `"`) {
				enum = append(enum, w)
			}
		}
		if enum != nil {
			say(map[string]any{"enum": enum})
		}
	}
	switch len(kinds) {
	case 0: // nothing is taken here alone
		return map[string]any{}
	case 1:
		return kinds[0].(map[string]any)
	}
	return map[string]any{"anyOf": kinds}
}

// wordsOf are the words of a refusal, among them the values that would be taken.
func wordsOf(refusal string) []string {
	all := regexp.MustCompile(`\b[a-z]+\b`).FindAllString(refusal, -1)
	slices.Sort(all)
	return slices.Compact(all)
}

const chartSchema = "../../../deploy/chart/values.schema.json"

// TestGoldenChartKnowsTheConfiguration: the chart's schema says of config what the reader of configurations takes.
func TestGoldenChartKnowsTheConfiguration(t *testing.T) {
	text, err := os.ReadFile(chartSchema)
	if err != nil {
		t.Fatal(err)
	}
	var schema map[string]any
	if err := json.Unmarshal(text, &schema); err != nil {
		t.Fatal(err)
	}
	config := schemaOf(func(inner string) string { return inner })
	config["required"] = []any{"listen", "tls", "dataDir"}
	schema["properties"].(map[string]any)["config"] = config
	var want bytes.Buffer
	e := json.NewEncoder(&want)
	e.SetIndent("", "  ")
	e.SetEscapeHTML(false)
	if err := e.Encode(schema); err != nil {
		t.Fatal(err)
	}
	if golden.Updating() {
		if err := os.WriteFile(chartSchema, want.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if diff := cmp.Diff(want.String(), string(text)); diff != "" {
		t.Errorf("deploy/chart/values.schema.json is not what the reader takes; make generate writes it (-want +got):\n%s", diff)
	}
}

// TestTheChartRefusesWhatTheServerDoes tries good and bad values at every place of the configuration: schema and reader agree.
func TestTheChartRefusesWhatTheServerDoes(t *testing.T) {
	schema, err := jsonschema.NewCompiler().Compile(filepath.FromSlash(chartSchema))
	if err != nil {
		t.Fatal(err)
	}
	tried, bad := 0, 0
	try := func(text string) {
		var config map[string]any
		if err := yaml.Unmarshal([]byte(text), &config); err != nil || config == nil {
			t.Fatalf("%s: %v", text, err)
		}
		for key, value := range map[string]any{"listen": "0.0.0.0:1", "dataDir": "/d", "tls": map[string]any{}} {
			if _, is := config[key]; !is {
				config[key] = value
			}
		}
		err := schema.Validate(map[string]any{"config": config})
		why := refused(text)
		if tried++; why != "" {
			bad++
		}
		if (err == nil) != (why == "") {
			t.Errorf("%s: the schema says %v, the server %q", text, err, why)
		}
	}
	values := []string{
		"zzz", `""`, "7", "0", "-1", "1.5", "true", "null", "[zzz]", "[7]", "[]", "[null]", "{}", "{zzz: 0}", "{zzz: zzz}", "[{}]", "[{zzz: 0}]", "30s",
		"48h", "0s", "-3s", "1h30m", "soon", `"7"`, `"true"`, "forever", "debug", "tacker", "always",
	}
	for _, path := range vocabulary(t) {
		text := "%"
		keys := strings.Split(path, ".")
		for i := len(keys) - 1; i >= 0; i-- {
			text = "{" + keys[i] + ": " + text + "}"
			// What is around a list's items, or around those of projects, is found by what the reader takes.
			if i > 0 {
				outer := strings.Join(keys[:i], ".")
				text = inItem(outer, text)
			}
		}
		for _, v := range values {
			try(strings.ReplaceAll(text, "%", v))
		}
	}
	if tried < 3000 || bad < 1500 {
		t.Errorf("%d values are tried, %d of them bad", tried, bad)
	}
}

// inItem puts a mapping where it stands: in the list at a path, under the name of a project, or as it is.
func inItem(path, text string) string {
	around := "%"
	keys := strings.Split(path, ".")
	for i := len(keys) - 1; i >= 0; i-- {
		around = "{" + keys[i] + ": " + around + "}"
		if i > 0 && fmt.Sprint(forms[strings.Join(keys[:i], ".")]) == "[%]" {
			around = "[" + around + "]"
		}
	}
	for _, form := range []string{"%", "[%]", "{zzz: %}"} {
		if strings.Contains(refused(strings.ReplaceAll(around, "%", strings.ReplaceAll(form, "%", "{zzz: 0}"))), "known here: ") {
			forms[path] = form
			return strings.ReplaceAll(form, "%", text)
		}
	}
	return text
}

// forms are how mappings stand at a path, as far as they are known.
var forms = map[string]string{}
