package web

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/broker/api"
	"github.com/vimbroker/vimbroker/policy"
)

// Screen is what a page shows. Every text in it is shown as text.
type Screen struct {
	// Kind says what the page is of, above its title; it may be empty.
	Kind  string
	Title string
	// State stands beside the title.
	State Cell
	// Acts are what can be done with it.
	Acts   []Link
	Blocks []Block
	// Live: it refreshes itself.
	Live bool
	// Ask: it is the question before an act.
	Ask *Question
}

// Link leads to another page.
type Link struct{ Text, Href string }

// Block is a part of a page, with a heading.
type Block struct {
	Title, Note string
	// Small: it stands beside others.
	Small bool
	Facts []Fact
	Table *Grid
	Form  *Search
	// Text is shown whole.
	Text string
	// Tree draws what leads to what.
	Tree []Node
	// Steps are a time line.
	Steps []Step
	Links []Link
}

// Fact is a name with its values; without a value it is left out.
type Fact struct {
	Name  string
	Cells []Cell
}

// Mark says how something is; it is seen as a colour and a sign, beside the word.
type Mark string

// Marks.
const (
	Good Mark = "good"
	Warn Mark = "warn"
	Bad  Mark = "bad"
	Idle Mark = "idle"
)

// Cell is one value.
type Cell struct {
	Text, Href string
	Mark       Mark
	// Code: it is a name of machines.
	Code bool
	// Time is shown in the reader's zone, with how long it is from now.
	Time time.Time
}

// Grid is a list.
type Grid struct {
	Columns []string
	Rows    [][]Cell
	// Empty says what to do where there is no row.
	Empty string
	// Next leads to the next page; empty at the end.
	Next string
}

// Node is a part of a drawing, with what follows from it.
type Node struct {
	// Kind says what it is.
	Kind string
	Cell
	Sub []Node
}

// Step is a part of a time line.
type Step struct {
	Cell  Cell
	Mark  Mark
	Note  string
	Lines []Node
}

// Search asks for words that are then in the address.
type Search struct {
	Fields []Field
	Button string
	// Action is another address than the page's.
	Action string
}

// Field is one of a form.
type Field struct {
	Name, Label, Value, Hint string
	// Options are the values that it can have, beside none; nil: any text.
	Options []string
	// Hidden: it is sent, and not shown.
	Hidden bool
}

// Question asks whether to act. It names the object.
type Question struct {
	Button string
	Fields []Field
	// Back is where a person goes who does not want it.
	Back string
}

// Visit is the request of a person who is let in.
type Visit struct {
	*api.Call
	Now time.Time
	may func(v *Visit, action policy.Action, project string) bool
}

// Get is a value of the address, without blanks around it.
func (v *Visit) Get(name string) string { return strings.TrimSpace(v.Query.Get(name)) }

// pageSize is the number of rows on a page.
const pageSize = 50

// Page is the page of a list that the address names.
func (v *Visit) Page() broker.Page { return broker.Page{Size: pageSize, Token: v.Query.Get("page")} }

// Next is the address of the next page; empty without a token.
func (v *Visit) Next(token string) string {
	if token == "" {
		return ""
	}
	q := url.Values{}
	for name, values := range v.Query {
		if len(values) > 0 && values[0] != "" {
			q.Set(name, values[0])
		}
	}
	q.Set("page", token)
	return "?" + q.Encode()
}

// May reports whether the person may act in a project ("*": in all), without a word in the log. It decides what is
// shown, never what is done.
func (v *Visit) May(action policy.Action, project string) bool { return v.may(v, action, project) }

// Here is the address of a page below /ui, with its parts escaped.
func Here(parts ...string) string {
	for n, part := range parts {
		parts[n] = url.PathEscape(part)
	}
	return Root + "/" + strings.Join(parts, "/")
}

// Find is the address of a list with a filter.
func Find(list, name, value string) string {
	return Here(list) + "?" + url.Values{name: {value}}.Encode()
}

// Table lists things, a row each.
func Table[T any](columns []string, next, empty string, all []T, row func(T) []Cell) *Grid {
	t := &Grid{Columns: columns, Next: next, Empty: empty}
	for _, one := range all {
		t.Rows = append(t.Rows, row(one))
	}
	return t
}

// Listing is a page with a list and the fields that filter it.
func Listing(v *Visit, title string, t *Grid, fields ...Field) Screen {
	return Screen{Title: title, Blocks: []Block{{Form: &Search{Button: "Filter", Fields: filled(fields, v)}, Table: t}}}
}

// filled are the fields with their values in the address.
func filled(fields []Field, v *Visit) []Field {
	fields = slices.Clone(fields)
	for n := range fields {
		fields[n].Value = cmp.Or(fields[n].Value, v.Get(fields[n].Name))
	}
	return fields
}

// ofID is a method of the domain about the thing of an id.
type ofID[T any] = func(ctx context.Context, p policy.Principal, id string) (T, error)

// One shows the thing whose id is in the address.
func One[T any](get ofID[T], show func(*Visit, T) (Screen, error)) func(*Visit) (Screen, error) {
	return func(v *Visit) (Screen, error) {
		one, err := get(v.Context(), v.Principal, v.PathValue("id"))
		if err != nil {
			return Screen{}, err
		}
		return show(v, one)
	}
}

// Act does something to the thing whose id is in the address, and leads to its page.
func Act[T any](do ofID[T], page func(T) string) func(*Visit, url.Values) (string, error) {
	return func(v *Visit, _ url.Values) (string, error) {
		one, err := do(v.Context(), v.Principal, v.PathValue("id"))
		return page(one), err
	}
}

// Say is a cell of a text.
func Say[S ~string](text S) Cell { return Cell{Text: string(text)} }

// To is a cell that leads to a page below /ui, if the last part of that is known.
func To(text string, page ...string) Cell {
	if page[len(page)-1] == "" {
		return Cell{Text: text}
	}
	return Cell{Text: text, Href: Here(page...)}
}

// ID is a cell of a name of machines, which is shown short where it leads to a page or is in a list.
func ID(id string, list ...string) Cell {
	c := Cell{Text: Short(id), Code: true}
	if len(list) > 0 && id != "" {
		c.Href = Here(append(list, id)...)
	}
	return c
}

// On is a cell of a time.
func On(t time.Time) Cell { return Cell{Time: t} }

// State is a cell for a state, marked as its kind of states is.
func State[S ~string](s S, marks map[S]Mark) Cell {
	return Cell{Text: string(s), Mark: cmp.Or(marks[s], Idle)}
}

// Of is a fact of texts.
func Of[S ~string](name string, texts ...S) (f Fact) {
	f.Name = name
	for _, text := range texts {
		if text != "" {
			f.Cells = append(f.Cells, Say(text))
		}
	}
	return f
}

// Are is a fact of cells, of which those that say nothing are left out.
func Are(name string, cells ...Cell) Fact {
	return Fact{name, slices.DeleteFunc(cells, func(c Cell) bool { return c.Text == "" && c.Time.IsZero() })}
}

// Leads is a fact of a text that leads to an address.
func Leads(name, text, href string) Fact { return Are(name, Cell{Text: text, Href: href}) }

// Code is a fact of a name of machines.
func Code(name, text string) Fact { return Are(name, Cell{Text: text, Code: true}) }

// At is a fact of a time.
func At(name string, t time.Time) Fact { return Are(name, On(t)) }

// Short is the beginning of an id, as the command line has it in tables.
func Short(id string) string { return id[:min(8, len(id))] }

// Count is a number in words.
func Count(n, most int, one, many string) string {
	switch {
	case most > 0 && n >= most:
		return strconv.Itoa(most) + " " + many + " or more"
	case n == 1:
		return "1 " + one
	}
	return strconv.Itoa(n) + " " + many
}

// when tells a time relative to now, as the command line does: "in 58m", "3d ago".
func when(t, now time.Time) string {
	d := t.Sub(now)
	switch {
	case d >= time.Second:
		return "in " + brief(d)
	case d <= -time.Second:
		return brief(-d) + " ago"
	}
	return "now"
}

// brief is a duration in its largest unit that gives at least two of it, or in seconds.
func brief(d time.Duration) string {
	for _, unit := range []struct {
		length time.Duration
		letter string
	}{{24 * time.Hour, "d"}, {time.Hour, "h"}, {time.Minute, "m"}} {
		if n := d.Round(unit.length) / unit.length; n >= 2 {
			return strconv.Itoa(int(n)) + unit.letter
		}
	}
	return strconv.Itoa(int(d.Round(time.Second)/time.Second)) + "s"
}

// longest bounds what is shown of a text from outside, in characters.
const longest = 300

// plain shows a text from outside, as seen does, and cuts one without end.
func plain(text string) string {
	n := 0
	for at := range text {
		if n++; n > longest {
			return seen(text[:at]) + "…"
		}
	}
	return seen(text)
}

// seen is a text from outside in which what moves, turns or hides other text is written out.
func seen(text string) string {
	var b strings.Builder
	for _, r := range text {
		if r == '\n' || r == '\t' || unicode.IsGraphic(r) { // which no character is that turns others
			b.WriteRune(r)
			continue
		}
		fmt.Fprintf(&b, `\u%04x`, r)
	}
	return b.String()
}

// options are the states that a filter offers.
func options[S ~string](marks map[S]Mark) (all []string) {
	for _, s := range slices.Sorted(maps.Keys(marks)) {
		all = append(all, string(s))
	}
	return all
}
