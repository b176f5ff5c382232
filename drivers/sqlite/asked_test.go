package sqlite

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"database/sql/driver"
	"encoding/json"
	"fmt"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/drivers/rows"
	"github.com/vimbroker/vimbroker/drivers/tables"
	"github.com/vimbroker/vimbroker/lifecycle"
	"github.com/vimbroker/vimbroker/policy/audit"
	"github.com/vimbroker/vimbroker/test/golden"
)

// noting is a database that notes what it is asked, and answers each question with one row, or with none.
type noting struct {
	tables.Database
	found func(question int) bool
	asked int // questions so far
	noted []string
}

// over reports whether the next question finds nothing.
func (n *noting) over() bool {
	n.asked++
	return !n.found(n.asked)
}

// maxNoted is how often such a database is asked before it fails: some methods go on until nothing is left.
const maxNoted = 40

func (n *noting) note(what, text string, args ...any) error {
	if len(n.noted) == maxNoted {
		return errStumbled
	}
	text = strings.Join(strings.Fields(text), " ")
	line := "    " + what + " " + brief(text, 60)
	if at := strings.LastIndex(text, " WHERE "); at > 60 {
		line += brief(text[at:], 300)
	}
	for _, arg := range args {
		line += " | " + brief(shown(arg), 80)
	}
	n.noted = append(n.noted, line)
	return nil
}

// anew are ids that are made anew.
var anew = regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-[47][0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}`)

// unsaid leaves out of what is shown what says nothing.
var unsaid = regexp.MustCompile(`"[A-Za-z0-9]+":(false|null|""|0|{}|"0001-01-01T00:00:00Z"),?`)

// brief is a text, or its beginning with a digest of it.
func brief(text string, size int) string {
	text = anew.ReplaceAllString(text, "ID")
	if len(text) <= size {
		return text
	}
	return fmt.Sprintf("%s...%x", strings.ToValidUTF8(text[:size], ""), sha256.Sum256([]byte(text)))[:size+9]
}

// shown is an argument or an answer as text.
func shown(v any) string {
	if of, is := v.(driver.Valuer); is {
		v, _ = of.Value()
	}
	switch v := v.(type) {
	case nil:
		return "nil"
	case []byte:
		return fmt.Sprintf("%x", v)
	case string:
		return v
	case error:
		return v.Error()
	case fmt.Stringer:
		return v.String()
	}
	if text, err := json.Marshal(v); err == nil {
		return unsaid.ReplaceAllString(string(text), "")
	}
	return fmt.Sprintf("%T", v)
}

func (n *noting) Read(_ context.Context, collect func(tables.Rows) error, text string, args ...any) error {
	if err := n.note("read", text, args...); err != nil {
		return err
	}
	return collect(&oneRow{over: n.over()})
}

func (n *noting) LookUp(_ context.Context, collect func(tables.Rows) error, text string, args ...any) error {
	if err := n.note("look up", text, args...); err != nil {
		return err
	}
	return collect(&oneRow{over: n.over()})
}

func (n *noting) Change(_ context.Context, apply func(tables.Transaction) error) error {
	if err := n.note("change", ""); err != nil {
		return err
	}
	err := apply(notingWrite{of: n})
	n.noted = append(n.noted, "    so: "+shown(err))
	return err
}

func (*noting) Now() time.Time { return time.Unix(1_800_000_000, 0).UTC() }

// oneRow is a row whose texts are documents, and whose numbers are those of their columns.
type oneRow struct{ over bool }

func (r *oneRow) Next() bool {
	is := !r.over
	r.over = true
	return is
}

func (r *oneRow) Scan(fields ...any) error {
	for i, field := range fields {
		if of, is := field.(sql.Scanner); is {
			if of.Scan("{}") != nil {
				_ = of.Scan(int64(i + 1))
			}
			continue
		}
		if state, is := field.(*lifecycle.InstanceState); is {
			*state = lifecycle.NotInstantiated
			continue
		}
		imbue(reflect.ValueOf(field).Elem(), "{}", int64(i+1), 0)
	}
	return nil
}

func (r *oneRow) Spare(_ *bool, fields ...any) error { return r.Scan(fields...) }

// notingWrite is a transaction of such a database.
type notingWrite struct {
	tables.Transaction
	of *noting
}

func (w notingWrite) Queue(text string, args ...any) { _ = w.of.note("queue", text, args...) }

func (w notingWrite) Exec(text string, args ...any) (met int64, err error) {
	if !w.of.over() {
		met = 1
	}
	return met, w.of.note("exec", text, args...)
}

func (w notingWrite) Find(collect func(tables.Rows) error, text string, args ...any) error {
	if err := w.of.note("find", text, args...); err != nil {
		return err
	}
	return collect(&oneRow{over: w.of.over()})
}

func (w notingWrite) Ahead(collect func(tables.Rows) error, text string, args ...any) (need func() error) {
	err := w.of.note("ahead", text, args...)
	return func() error {
		if err == nil {
			err = w.of.note("need", "")
		}
		if err != nil {
			return err
		}
		return collect(&oneRow{over: w.of.over()})
	}
}

func (w notingWrite) AmendLease(old, next broker.Lease, _ rows.Columns[broker.Lease]) {
	_ = w.of.note("amend", "", old, next)
}

func (w notingWrite) Lock(kind tables.Lock, names ...string) {
	_ = w.of.note("lock", string(kind), names)
}
func (w notingWrite) Share(vim string)        { _ = w.of.note("share", vim) }
func (w notingWrite) ShareVIMOf(lease string) { _ = w.of.note("share the VIM of", lease) }
func (w notingWrite) Spill()                  { _ = w.of.note("spill", "") }
func (w notingWrite) WakeJobs()               { _ = w.of.note("wake jobs", "") }
func (w notingWrite) Now() time.Time          { return w.of.Now() }
func (w notingWrite) HoldLog(wait bool) error { return w.of.note("hold log", fmt.Sprint(wait)) }

func (w notingWrite) Append(e audit.Entry) error {
	return w.of.note("append", string(e.Action), e.Kind, e.Resource, e.Detail)
}

func (w notingWrite) Stow(lease, sealed string) string {
	_ = w.of.note("stow", lease, sealed)
	return "stowed"
}

// imbue gives all that a value holds a text or a number, but states: those move by rules. A text is that, or the name of its field.
func imbue(v reflect.Value, text string, number int64, depth int) {
	switch at := v.Addr().Interface().(type) {
	case *time.Time:
		*at = time.Unix(1_700_000_000+number, 0).UTC()
		return
	case *audit.Entry:
		*at = entryOf("something")
		at.Detail = map[string]string{}
		return
	}
	switch v.Kind() {
	case reflect.String:
		v.SetString(text)
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		v.SetInt(number)
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		v.SetUint(uint64(number)) //nolint:gosec // it is none below zero
	case reflect.Float64:
		v.SetFloat(float64(number))
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		imbue(v.Index(0), text, number, depth+1)
	case reflect.Array:
		for i := range v.Len() {
			imbue(v.Index(i), text, number, depth+1)
		}
	case reflect.Map:
		key, value := reflect.New(v.Type().Key()).Elem(), reflect.New(v.Type().Elem()).Elem()
		imbue(key, text, number, depth+1)
		imbue(value, text, number, depth+1)
		v.Set(reflect.MakeMap(v.Type()))
		v.SetMapIndex(key, value)
	case reflect.Pointer:
		if depth < 4 {
			v.Set(reflect.New(v.Type().Elem()))
			imbue(v.Elem(), text, number, depth+1)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if f := v.Type().Field(i); f.IsExported() && f.Name != "State" && f.Name != "Page" {
				name := text
				if text != "{}" {
					name = f.Name + text[strings.LastIndex(text, "-"):]
				}
				imbue(v.Field(i), name, number, depth+1)
			}
		}
	}
}

// changing is a function that writes into what it is given by a pointer, and has one thing to say, and no error.
func changing(of reflect.Type) reflect.Value {
	return reflect.MakeFunc(of, func(in []reflect.Value) (results []reflect.Value) {
		for _, arg := range in {
			if arg.Kind() == reflect.Pointer && !arg.IsNil() && arg.Type() != reflect.TypeFor[*testing.T]() {
				imbue(arg.Elem(), "it-2", 2, 0)
			}
		}
		for i := range of.NumOut() {
			out := reflect.New(of.Out(i)).Elem()
			if of.Out(i) != reflect.TypeFor[error]() {
				imbue(out, "it-3", 3, 0)
			}
			results = append(results, out)
		}
		return results
	})
}

// argument is one of a type, in as many ways as it may differ: nothing, everything, and of what selects each field alone.
func argument(of reflect.Type) (all []reflect.Value) {
	if of.Kind() == reflect.Func {
		return []reflect.Value{changing(of)}
	}
	none, whole := reflect.New(of).Elem(), reflect.New(of).Elem()
	imbue(whole, "it-1", 1, 0)
	if of == reflect.TypeFor[audit.Entry]() {
		return []reflect.Value{whole}
	}
	if of.Kind() == reflect.Slice {
		none = reflect.MakeSlice(of, 1, 1) // who asks for something names one at least
	}
	all = []reflect.Value{whole, none}
	if of.Kind() == reflect.Struct && (strings.HasSuffix(of.Name(), "Filter") || strings.HasSuffix(of.Name(), "Query")) {
		for i := range of.NumField() {
			one := reflect.New(of).Elem()
			one.Field(i).Set(whole.Field(i))
			all = append(all, one)
		}
	}
	return all
}

// TestWhatEachMethodAsks: what each method of tables asks its database, in order and with what, where all is found, where nothing
// is (but 0) and where one question finds nothing (but its number), by arguments that say all, nothing, or one thing; what it answers, and what it says went wrong.
func TestWhatEachMethodAsks(t *testing.T) {
	s := mustOpen(t, filepath.Join(t.TempDir(), "broker.db"))
	db := &noting{Database: database{s}}
	all := tables.Of(db)
	value := reflect.ValueOf(&all)
	var text strings.Builder
	for i := range value.NumMethod() {
		of := value.Type().Method(i)
		if value.Method(i).Type().NumIn() == 0 || value.Method(i).Type().In(0) != reflect.TypeFor[context.Context]() {
			continue
		}
		ways := 1
		var choices [][]reflect.Value
		for k := 1; k < value.Method(i).Type().NumIn(); k++ {
			choices = append(choices, argument(value.Method(i).Type().In(k)))
			ways = max(ways, len(choices[k-1]))
		}
		for way := range ways {
			args := []reflect.Value{reflect.ValueOf(t.Context())}
			for _, c := range choices {
				args = append(args, c[min(way, len(c)-1)])
			}
			call := value.Method(i).Call
			if value.Method(i).Type().IsVariadic() {
				call = value.Method(i).CallSlice
			}
			seen, most := map[string]bool{}, 0
			for but := -1; but <= 0 || but <= most && way < 2; but++ { // all is found, nothing is, or all but one
				db.found, db.asked, db.noted = func(n int) bool { return but < 0 || but > 0 && n != but }, 0, nil
				results := call(args)
				most = max(most, db.asked)
				came := strings.Join(db.noted, "\n") + "\n"
				for _, r := range results {
					came += fmt.Sprintf("  = %s\n", brief(shown(r.Interface()), 300))
				}
				if !seen[came] {
					fmt.Fprintf(&text, "== %s %d, found but %d\n%s", of.Name, way, but, came)
				}
				seen[came] = true
			}
		}
	}
	golden.Compare(t, "testdata/asked.txt", text.String())
}
