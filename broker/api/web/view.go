package web

import (
	"cmp"
	"fmt"
	"net/url"
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

// Texts are cells of plain texts.
func Texts(all ...string) (cells []Cell) {
	for _, text := range all {
		if text != "" {
			cells = append(cells, Cell{Text: text})
		}
	}
	return cells
}

// Of is a fact of one text.
func Of(name, text string) Fact { return Fact{name, Texts(text)} }

// At is a fact of a time.
func At(name string, t time.Time) Fact {
	if t.IsZero() {
		return Fact{}
	}
	return Fact{name, []Cell{{Time: t}}}
}

// To is a fact that leads somewhere.
func To(name, text, href string) Fact { return Fact{name, []Cell{{Text: text, Href: href}}} }

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

// state is a cell for a state, marked as states are.
func state(text string, marks map[string]Mark) Cell {
	return Cell{Text: text, Mark: cmp.Or(marks[text], Idle)}
}
