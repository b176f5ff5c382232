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

// Screen is what a page shows: a template, and the things that it shows. Every text of those is shown as text.
type Screen struct {
	// Page is the name of the template.
	Page string
	// Of is the thing that the page is of, List its list, and Log what the log says of it.
	Of        any
	List, Log *Block
	// Kind says what the page is of, above its title; it may be empty. The template can say all these, too.
	Kind, Title string
	// State stands beside the title.
	State Cell
	// Acts are what can be done with it.
	Acts []Link
	// Live: it refreshes itself.
	Live bool
	// Ask: it is the question before an act.
	Ask *Question
}

// Link leads to another page.
type Link struct{ Text, Href string }

// Block is a part of a page, with a heading. Templates fill it.
type Block struct {
	// Label names its table where it has no title.
	Title, Label, Note string
	// Small: it stands beside others.
	Small bool
	Facts []Fact
	// Of are the things that the table lists, a row each.
	Of      any
	Columns []string
	Rows    [][]Cell
	// Empty says what to do where there is no row.
	Empty string
	// Next is the token of the next page; empty at the end.
	Next string
	// Fields, if there are any, are a form for words that are then in the address, with a button.
	Fields []Field
	Button string
	// Text is shown whole.
	Text  string
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

// known are the marks of all states.
var known = map[any]Mark{}

// Marked says how states are seen, wherever a page shows one. It is for variables of packages.
func Marked[S ~string](marks map[S]Mark) map[S]Mark {
	for s, m := range marks {
		known[s] = m
	}
	return marks
}

// Cell is one value.
type Cell struct {
	Text, Href string
	Mark       Mark
	// Code: it is a name of machines.
	Code bool
	// Time is shown in the reader's zone, with how long it is from now.
	Time time.Time
}

// node is a part of a drawing: its kind, and what it is.
type node struct {
	Kind string
	Cell
}

// step is a part of a time line.
type step struct {
	Mark Mark
	Cell Cell
	Note string
}

// cells are what a value is shown as.
func cells(value any) []Cell {
	switch v := value.(type) {
	case nil:
		return nil
	case Cell:
		return []Cell{v}
	case []Cell:
		return v
	case time.Time:
		return []Cell{{Time: v}}
	case []string:
		var all []Cell
		for _, text := range v {
			all = append(all, Cell{Text: text})
		}
		return all
	}
	return []Cell{{Text: fmt.Sprint(value), Mark: known[value]}}
}

// Add adds a fact, unless it says nothing.
func (b *Block) Add(name string, values ...any) string {
	f := Fact{Name: name}
	for _, value := range values {
		f.Cells = append(f.Cells, cells(value)...)
	}
	f.Cells = slices.DeleteFunc(f.Cells, func(c Cell) bool { return c.Text == "" && c.Time.IsZero() })
	b.Facts = append(b.Facts, f)
	return ""
}

// Row adds a row, with a value for each column.
func (b *Block) Row(values ...any) string {
	row := make([]Cell, len(values))
	for n, value := range values {
		for _, c := range cells(value) {
			row[n] = c
		}
	}
	b.Rows = append(b.Rows, row)
	return ""
}

// With is the block with columns and other words for no row; empty ones stay as they are.
func (b *Block) With(empty string, columns ...string) *Block {
	b.Empty, b.Columns = cmp.Or(b.Empty, empty), columns
	return b
}

// Noted is the block with a note.
func (b *Block) Noted(note string) *Block {
	b.Note = note
	return b
}

// Whole is the block with a text that is shown whole.
func (b *Block) Whole(text string) *Block {
	b.Text = text
	return b
}

// Leads is the block with a link.
func (b *Block) Leads(text, href string) *Block {
	b.Links = append(b.Links, Link{text, href})
	return b
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
	// Back is where a person goes who does not want it.
	Back   string
	Fields []Field
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

// next is the address of the next page; empty without a token.
func (v *Visit) next(token string) string {
	if token == "" {
		return ""
	}
	q := maps.Clone(v.Query)
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

// Listing is a page with a list and the fields that filter it.
func Listing(v *Visit, page, title string, list *Block, fields ...Field) Screen {
	list.Label, list.Button, list.Fields = title, cmp.Or(list.Button, "Filter"), filled(fields, v.Get)
	return Screen{Page: page, Title: title, List: list}
}

// Found is a list of what the domain has found, and of where that goes on.
func Found[T any](all []T, next string, err error) (*Block, error) {
	return &Block{Of: all, Next: next}, err
}

// filled are the fields with their values.
func filled(fields []Field, get func(string) string) []Field {
	fields = slices.Clone(fields)
	for n := range fields {
		fields[n].Value = cmp.Or(fields[n].Value, get(fields[n].Name))
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

// Page shows the thing whose id is in the address, by a template alone.
func Page[T any](get ofID[T], page string) func(*Visit) (Screen, error) {
	return One(get, func(_ *Visit, one T) (Screen, error) { return Screen{Page: page, Of: one}, nil })
}

// Act does something to the thing whose id is in the address, and leads to its page.
func Act[T any](do ofID[T], page func(T) string) func(*Visit, url.Values) (string, error) {
	return func(v *Visit, _ url.Values) (string, error) {
		one, err := do(v.Context(), v.Principal, v.PathValue("id"))
		return page(one), err
	}
}

// to is a cell that leads to a page below /ui, if the last part of that is known.
func to(text string, page ...string) Cell {
	if page[len(page)-1] == "" {
		return Cell{Text: text}
	}
	return Cell{Text: text, Href: Here(page...)}
}

// id is a cell of a name of machines, which is shown short and may lead to a page.
func id(name string, list ...string) Cell {
	c := Cell{Text: Short(name), Code: true}
	if len(list) > 0 && name != "" {
		c.Href = Here(append(list, name)...)
	}
	return c
}

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
