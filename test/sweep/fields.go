package sweep

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/vimbroker/vimbroker/test/fake"
)

// maxDepth bounds how deep in an answer a field is altered.
const maxDepth = 6

// fields alters each field of the answer to a request, one in each run: it is left out ("-"), it has another value of its
// type ("~"), and a text is long and of several lines ("!"). Of a list that is the first item. It returns what comes of it, for
// a golden file.
func (c *attempt) fields() []string {
	var answer []byte
	c.fault = Fault{Name: "look", Fault: fake.Fault{Kind: fake.Edit, Edit: func(_ http.Header, body []byte) []byte {
		answer = bytes.Clone(body)
		return body
	}}}
	if _, _, ok := c.altered(); !ok {
		return nil
	}
	var document any
	if json.Unmarshal(answer, &document) != nil {
		return nil
	}
	var came []string
	by := map[string][]string{}
	for _, path := range paths(document, 0) {
		for _, kind := range []string{"-", "~", "!"} {
			if _, ok := alter(answer, path, kind); !ok {
				continue
			}
			c.fault = Fault{Name: kind + strings.Join(path, "."), Fault: fake.Fault{Kind: fake.Edit, Edit: func(_ http.Header, body []byte) []byte {
				edited, _ := alter(body, path, kind) // the ids in it are this run's
				return edited
			}}}
			b, outcome, ok := c.altered()
			if !ok {
				continue
			}
			if by[outcome] == nil {
				came = append(came, outcome)
			}
			by[outcome] = append(by[outcome], c.plain(b, c.fault.Name))
		}
	}
	for i, outcome := range came {
		came[i] = strings.Join(by[outcome], " ") + ": " + outcome
	}
	return came
}

// altered runs the flow with the fault, and says what comes of it. An error is of a kind.
func (c *attempt) altered() (b *Bench, outcome string, ok bool) {
	in := &scope{TB: c.t}
	defer in.end()
	b, answer, err, applied := c.hit(in)
	c.quiet(b, err)
	switch {
	case !applied:
		return b, "", false
	case err != nil:
		if c.kindOf(err) == Unkind && !c.Kindless {
			c.errorf("%v is of no kind", err)
		}
		return b, c.named(b, err), true
	case answer != c.ref.answer:
		return b, "answer " + strings.Join(differences(strings.Split(c.ref.answer, " "), strings.Split(answer, " ")), " "), true
	}
	return b, "ok", true
}

// unread are fields that many answers have and no driver reads.
var unread = []string{"apiVersion", "resourceVersion", "creationTimestamp", "extra", "groups", "automountServiceAccountToken", "managedFields", "methods", "issued_at"}

// paths are those of all fields, but for those that are unread.
func paths(v any, depth int) (all [][]string) {
	if depth == maxDepth {
		return nil
	}
	add := func(name string, inner any) {
		all = append(all, []string{name})
		for _, p := range paths(inner, depth+1) {
			all = append(all, append([]string{name}, p...))
		}
	}
	switch v := v.(type) {
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(v)) {
			if !slices.Contains(unread, name) {
				add(name, v[name])
			}
		}
	case []any:
		if len(v) > 0 {
			add("0", v[0])
		}
	}
	return all
}

// alter returns a document in which a field is altered; false where it cannot be so.
func alter(text []byte, path []string, kind string) ([]byte, bool) {
	var v any
	if json.Unmarshal(text, &v) != nil {
		return text, false
	}
	ok := true
	var at func(v any, path []string) any
	at = func(v any, path []string) any {
		if len(path) == 0 {
			var is any
			is, ok = another(v, kind)
			return is
		}
		last := len(path) == 1 && kind == "-"
		switch v := v.(type) {
		case map[string]any:
			if last {
				delete(v, path[0])
				return v
			}
			v[path[0]] = at(v[path[0]], path[1:])
		case []any:
			i, _ := strconv.Atoi(path[0])
			if i >= len(v) {
				return v
			}
			if last {
				return slices.Delete(v, i, i+1)
			}
			v[i] = at(v[i], path[1:])
		}
		return v
	}
	edited, _ := json.Marshal(at(v, path)) // it was decoded
	return edited, ok
}

func another(v any, kind string) (any, bool) {
	text, is := v.(string)
	if kind == "!" {
		return text + "\nlong" + strings.Repeat("g", 300), is
	}
	switch v := v.(type) {
	case string:
		return "another", v != "another"
	case float64:
		return v + 1, true
	case bool:
		return !v, true
	case nil:
		return "another", true
	}
	return v, false
}

// Statuses are what may come instead of an answer, beyond [Faults]: a status in the system's form, or in that of some gateway,
// and JSON that is no object.
func Statuses() (all []Fault) {
	for _, status := range []int{300, 301, 304, 399, 400, 401, 402, 403, 404, 405, 409, 410, 412, 413, 422, 429, 451, 472, 473, 499, 500, 501, 502, 503, 504, 599} {
		if status >= 400 {
			all = append(all, Fault{Name: strconv.Itoa(status), Fault: fake.Fault{Kind: fake.Refuse, Status: status}})
		}
		all = append(all, Fault{Name: fmt.Sprintf("page%d", status), Fault: fake.Fault{Kind: fake.HTML, Status: status}})
	}
	for name, body := range map[string]string{"null": "null", "list": "[]", "text": `"text"`, "number": "7", "nothing": ""} {
		all = append(all, Fault{Name: name, Fault: fake.Fault{Kind: fake.JSON, Status: http.StatusOK, Body: body}})
	}
	slices.SortStableFunc(all, func(a, b Fault) int { return strings.Compare(a.Name, b.Name) })
	return all
}

// statuses has a request meet each of [Statuses], and returns what comes of it.
func (c *attempt) statuses() []string {
	var came []string
	by := map[string][]string{}
	for _, c.fault = range Statuses() {
		_, outcome, ok := c.altered()
		if !ok {
			continue
		}
		if by[outcome] == nil {
			came = append(came, outcome)
		}
		by[outcome] = append(by[outcome], c.fault.Name)
	}
	for i, outcome := range came {
		came[i] = strings.Join(by[outcome], " ") + ": " + outcome
	}
	return came
}
