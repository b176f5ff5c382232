package strictyaml

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"go.yaml.in/yaml/v3"

	"github.com/vimbroker/vimbroker/broker/secret"
)

// Scalar returns a plain value's text if it has one of the tags. Null and everything
// that is no scalar are faults; want says what the value must be.
func (d *Document) Scalar(n *yaml.Node, at, want string, tags ...string) (string, bool) {
	if n.Kind != yaml.ScalarNode || !slices.Contains(tags, n.ShortTag()) {
		d.Fault(n, at, "must be %s", want)
		return "", false
	}
	return n.Value, true
}

// Text reads a string. A number or a boolean that was meant as one needs quotes.
func (d *Document) Text(to *string) ReadValue {
	return func(n *yaml.Node, at string) {
		if s, ok := d.Scalar(n, at, "a string (in quotes if it looks like a number, a date or true, or is empty)", "!!str"); ok {
			*to = s
		}
	}
}

// Secret reads a string that is a secret.
func (d *Document) Secret(to *secret.Text) ReadValue {
	return func(n *yaml.Node, at string) {
		var s string
		if d.Text(&s)(n, at); s != "" {
			*to = secret.NewText(s)
		}
	}
}

// Flag reads true or false.
func (d *Document) Flag(to *bool) ReadValue {
	return func(n *yaml.Node, at string) {
		if s, ok := d.Scalar(n, at, "true or false", "!!bool"); ok {
			*to = strings.EqualFold(s, "true")
		}
	}
}

// Count reads a whole number that is not negative.
func (d *Document) Count(to *int) ReadValue {
	return func(n *yaml.Node, at string) {
		s, ok := d.Scalar(n, at, "a whole number, 0 or more", "!!int")
		if !ok {
			return
		}
		i, err := strconv.Atoi(s)
		if err != nil || i < 0 {
			d.Fault(n, at, "must be a whole number, 0 or more")
			return
		}
		*to = i
	}
}

// Duration reads a positive duration in Go's form.
func (d *Document) Duration(to *time.Duration) ReadValue {
	return func(n *yaml.Node, at string) {
		s, ok := d.Scalar(n, at, "a duration like 90s, 30m or 8h", "!!str")
		if !ok {
			return
		}
		t, _ := time.ParseDuration(s)
		if t <= 0 {
			d.Fault(n, at, "must be a duration above zero, like 90s, 30m or 8h")
			return
		}
		*to = t
	}
}

// Texts reads a list of strings.
func (d *Document) Texts(to *[]string) ReadValue {
	return func(n *yaml.Node, at string) {
		*to = nil
		d.List(n, at, func(item *yaml.Node, path string) {
			var s string
			d.Text(&s)(item, path)
			*to = append(*to, s)
		})
	}
}

// Section reads a mapping with fixed keys.
func (d *Document) Section(allowed Fields) ReadValue {
	return func(n *yaml.Node, at string) { d.Mapping(n, at, allowed) }
}

// Object reads a mapping of anything as a JSON object.
func (d *Document) Object(to *jsontext.Value) ReadValue {
	return func(n *yaml.Node, at string) {
		if n.Kind != yaml.MappingNode {
			d.Fault(n, at, "must be a mapping of keys to values")
			return
		}
		var members map[string]any
		if err := n.Decode(&members); err != nil {
			d.Fault(n, at, "must be a mapping of keys to values")
			return
		}
		text, err := json.Marshal(members, json.Deterministic(true))
		if err != nil { // a number that JSON does not have
			d.Fault(n, at, "holds what JSON cannot say")
			return
		}
		*to = text
	}
}
