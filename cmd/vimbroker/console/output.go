package console

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"go.yaml.in/yaml/v3"
	"k8s.io/client-go/util/jsonpath"

	"github.com/vimbroker/vimbroker/broker/api/v1"
)

// outputs are the forms that -o chooses from.
var outputs = []string{"table", "wide", "name", "json", "yaml"}

// jsonPath begins the form that picks fields.
const jsonPath = "jsonpath="

// OutputFlag gives a command the -o flag.
func (p *Console) OutputFlag(c *cobra.Command) {
	c.Flags().StringVarP(&p.Output, "output", "o", "table", "how to print: table, wide, name, json, yaml, or jsonpath=EXPRESSION")
	c.Flags().BoolVar(&p.NoHeaders, "no-headers", false, "tables without the line of column names")
	MustChoose(c, "output", outputs...)
	inner := c.RunE
	c.RunE = func(c *cobra.Command, args []string) error {
		if !slices.Contains(outputs, p.Output) && !strings.HasPrefix(p.Output, jsonPath) {
			return Usagef(c, "--output must be %s or jsonpath=EXPRESSION", strings.Join(outputs, ", "))
		}
		if expression, ok := strings.CutPrefix(p.Output, jsonPath); ok {
			if _, err := parsePath(expression); err != nil {
				return Usagef(c, "--output: %v", err)
			}
		}
		return inner(c, args)
	}
}

// Print writes a value of the API's in the form asked for; table writes it for
// people, its cells divided by tabs.
func (p *Console) Print(value any, table func(w io.Writer)) error {
	if p.ForPeople() {
		return p.table(table)
	}
	var encoded bytes.Buffer
	if err := v1.Encode(&encoded, value); err != nil {
		return err
	}
	if p.Output == "json" {
		var indented bytes.Buffer
		if err := json.Indent(&indented, encoded.Bytes(), "", "  "); err != nil {
			return fmt.Errorf("indenting the answer: %w", err)
		}
		_, err := p.Out.Write(append(indented.Bytes(), '\n'))
		return err
	}
	if expression, ok := strings.CutPrefix(p.Output, jsonPath); ok || p.Output == "name" {
		decoder := json.NewDecoder(&encoded)
		decoder.UseNumber()
		var fields map[string]any
		if err := decoder.Decode(&fields); err != nil {
			return errors.New("the answer is not a JSON object") // the library's words may quote it
		}
		if !ok {
			return p.printNames(fields)
		}
		return p.printPath(expression, fields)
	}
	// Every JSON text is YAML, and as nodes it keeps the order of its keys.
	var node yaml.Node
	if err := yaml.Unmarshal(encoded.Bytes(), &node); err != nil {
		return errors.New("the answer does not convert to YAML") // the library's words may quote it
	}
	blockStyle(&node)
	var out bytes.Buffer
	encoder := yaml.NewEncoder(&out)
	encoder.SetIndent(2)
	if err := encoder.Encode(&node); err != nil {
		return fmt.Errorf("encoding the answer: %w", err)
	}
	_, err := p.Out.Write(out.Bytes())
	return err
}

// parsePath reads an expression as kubectl does; the braces may be left out.
func parsePath(expression string) (*jsonpath.JSONPath, error) {
	if !strings.Contains(expression, "{") {
		expression = "{" + expression + "}"
	}
	path := jsonpath.New("output").AllowMissingKeys(true)
	if err := path.Parse(expression); err != nil {
		return nil, fmt.Errorf("jsonpath: %w", err)
	}
	return path, nil
}

func (p *Console) printPath(expression string, value any) error {
	path, err := parsePath(expression)
	if err != nil {
		return err
	}
	var text bytes.Buffer
	if err := path.Execute(&text, value); err != nil {
		return errors.New("the jsonpath does not fit the answer; see its fields with -o json") // the library's words may quote it
	}
	_, err = fmt.Fprintln(p.Out, text.String())
	return err
}

// blockStyle undoes the braces and quotes that JSON needs.
func blockStyle(n *yaml.Node) {
	n.Style = 0
	if n.Kind == yaml.ScalarNode && n.ShortTag() == "!!str" {
		// Only a string that would read as something else keeps quotes.
		var plain yaml.Node
		if yaml.Unmarshal([]byte(n.Value), &plain) != nil || len(plain.Content) != 1 || plain.Content[0].ShortTag() != "!!str" {
			n.Style = yaml.DoubleQuotedStyle
		}
		if strings.Contains(n.Value, "\n") {
			n.Style = yaml.LiteralStyle
		}
	}
	for _, inner := range n.Content {
		blockStyle(inner)
	}
}

// Row writes cells as one line of a table; an empty cell shows as a dash.
func Row(w io.Writer, cells ...string) {
	for i, cell := range cells {
		if cells[i] = oneLine(cell); cell == "" {
			cells[i] = "-"
		}
	}
	fmt.Fprintln(w, strings.Join(cells, "\t"))
}

// Facts writes a line of a single thing's table for each name and value; those without a value are left out. One without
// a name goes on with the fact above.
func Facts(w io.Writer, pairs ...string) {
	for i := 1; i < len(pairs); i += 2 {
		name, value := pairs[i-1], pairs[i]
		if name != "" {
			name += ":"
		}
		if value != "" {
			fmt.Fprintf(w, "%s\t%s\n", name, oneLine(value))
		}
	}
}

// oneLine takes out what would move a terminal's cursor: labels and purposes are
// other callers' words.
func oneLine(s string) string {
	return strings.Map(func(r rune) rune {
		if strconv.IsPrint(r) {
			return r
		}
		return ' '
	}, s)
}

// When tells a time relative to now, as people do: "in 58m", "3d ago".
func (p *Console) When(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	d := t.Sub(p.Now())
	switch {
	case d >= time.Second:
		return "in " + Brief(d)
	case d <= -time.Second:
		return Brief(-d) + " ago"
	}
	return "now"
}

// Moment is when with the time itself behind it.
func (p *Console) Moment(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return p.When(t) + " (" + t.UTC().Format(time.RFC3339) + ")"
}

const day = 24 * time.Hour

// Brief is a duration in its largest unit that gives at least two of it, rounded, or in seconds.
func Brief(d time.Duration) string {
	for _, unit := range []struct {
		length time.Duration
		letter string
	}{{day, "d"}, {time.Hour, "h"}, {time.Minute, "m"}} {
		if n := d.Round(unit.length) / unit.length; n >= 2 {
			return strconv.Itoa(int(n)) + unit.letter
		}
	}
	return strconv.Itoa(int(d.Round(time.Second)/time.Second)) + "s"
}

// Duration reads a duration as Go writes it, which may begin with days of 24 hours: "2d", "1d12h".
func Duration(text string) (time.Duration, error) {
	days, rest, ok := strings.Cut(text, "d")
	if !ok {
		return time.ParseDuration(text)
	}
	n, err := strconv.ParseUint(days, 10, 16)
	if err != nil {
		return 0, fmt.Errorf("%q is no duration", text)
	}
	var d time.Duration
	if rest != "" {
		if d, err = time.ParseDuration(rest); err != nil || d < 0 || d >= day {
			return 0, fmt.Errorf("%q is no duration", text)
		}
	}
	return time.Duration(n)*day + d, nil
}

// durationFlag is the value of a flag that [Duration] reads. One that is above zero has to be so where it is given.
type durationFlag struct {
	*time.Duration
	aboveZero bool
}

func (d durationFlag) Set(text string) error {
	read, err := Duration(text)
	if d.aboveZero && (err != nil || read <= 0) {
		return errors.New("must be a duration above zero, like 90s, 30m, 8h or 2d")
	}
	*d.Duration = read
	return err
}

func (d durationFlag) String() string {
	if d.Duration == nil || *d.Duration == 0 {
		return ""
	}
	return d.Duration.String()
}

// Type names the value in a command's help.
func (durationFlag) Type() string { return "duration" }

// DurationFlag gives a command a flag whose value may be in days.
func DurationFlag(c *cobra.Command, d *time.Duration, name, usage string) {
	c.Flags().Var(durationFlag{d, false}, name, usage)
}

// LifetimeFlag is DurationFlag for a wished lifetime: zero is none given.
func LifetimeFlag(c *cobra.Command, d *time.Duration, name, usage string) {
	c.Flags().Var(durationFlag{d, true}, name, usage)
}

// List is words with commas between them.
func List(words []string) string { return strings.Join(words, ", ") }

// Count spells how many there are of something.
func Count[N int | int64](n N, one, many string) string {
	if n == 1 {
		many = one
	}
	return fmt.Sprintf("%d %s", n, many)
}

// Pairs spells labels as k=v, sorted.
func Pairs(labels map[string]string) string {
	var words []string
	for _, key := range slices.Sorted(maps.Keys(labels)) {
		words = append(words, key+"="+labels[key])
	}
	return strings.Join(words, ",")
}

// Yes marks what is so in a table.
func Yes(b bool) string {
	if b {
		return "yes"
	}
	return ""
}
