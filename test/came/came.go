// Package came keeps all that came of the cases of a test in a golden file, testdata/came/NAME.txt: each step with what it
// was given, what changed of a row, what was logged. A case that asserts one thing by hand so asserts the rest as well.
package came

import (
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/vimbroker/vimbroker/test/golden"
)

// Record is what came of the cases of one test.
type Record struct {
	names map[string]string
	cases []string
}

func (r *Record) text() string {
	slices.Sort(r.cases)
	return strings.Join(r.cases, "\n\n") + "\n"
}

var (
	mu   sync.Mutex
	kept = map[string]*Record{}
)

// Of is the record of a test, which is compared when the test has ended. Names stand for ids that each case has.
func Of(t *testing.T, names map[string]string) *Record {
	mu.Lock()
	defer mu.Unlock()
	if r := kept[t.Name()]; r != nil {
		return r
	}
	r := &Record{names: names}
	kept[t.Name()] = r
	t.Cleanup(func() {
		mu.Lock()
		defer mu.Unlock()
		delete(kept, t.Name())
		r.compare(t)
	})
	return r
}

func (r *Record) compare(t *testing.T) {
	file := filepath.Join("testdata", "came", strings.TrimPrefix(t.Name(), "Test")+".txt")
	if golden.Updating() {
		if err := os.MkdirAll(filepath.Dir(file), 0o750); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(r.text()), 0o600); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(cases(string(want)), cases(r.text())); diff != "" {
		t.Errorf("something else came of it than %s says (-update writes it anew):\n%s", file, diff)
	}
}

// cases are the lines of each case, by its heading.
func cases(text string) map[string][]string {
	all := map[string][]string{}
	for _, one := range strings.Split(strings.TrimSuffix(text, "\n"), "\n\n") {
		lines := strings.Split(one, "\n")
		all[lines[0]] = append(all[lines[0]], lines[1:]...)
	}
	return all
}

// Add adds a case, what it answered, and the lines of what came of it.
func (r *Record) Add(what, answer string, lines []string) {
	text := strings.TrimSuffix(strings.Join(append([]string{strings.TrimSuffix("== "+what+": "+answer, ": ")}, lines...), "\n"), "\n")
	r.cases = append(r.cases, r.Plain(text))
}

// Logged are the lines of a log, without their time.
func Logged(log string) (lines []string) {
	for line := range strings.Lines(log) {
		_, rest, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		lines = append(lines, "log "+rest)
	}
	return lines
}

var random = regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}|vb[a-z]_[\w-]{20,}|\b[0-9a-f]{64}\b|"[\w-]{43}"|gAAAA[\w=-]+`)

// Plain numbers what differs from run to run.
func (r *Record) Plain(text string) string {
	var met []string
	return random.ReplaceAllStringFunc(text, func(one string) string {
		if name := r.names[one]; name != "" {
			return "<" + name + ">"
		}
		if !slices.Contains(met, one) {
			met = append(met, one)
		}
		return fmt.Sprintf("<%d>", slices.Index(met, one)+1)
	})
}

// Call is a line that shows a step with what it is given.
func Call(name string, given ...any) string {
	for _, one := range given {
		name += " " + Show(one)
	}
	return name
}

// Changes are the fields of a struct that differ, each in a line.
func Changes(was, is any) []string { return changes("", reflect.ValueOf(was), reflect.ValueOf(is)) }

func changes(path string, was, is reflect.Value) (all []string) {
	if _, isTime := is.Interface().(time.Time); is.Kind() == reflect.Struct && !isTime {
		for i := range is.NumField() {
			if f := is.Type().Field(i); f.IsExported() {
				all = append(all, changes(strings.TrimPrefix(path+"."+f.Name, "."), was.Field(i), is.Field(i))...)
			}
		}
		return all
	}
	before, after := show(was), show(is)
	if before == after {
		return nil
	}
	return []string{"  " + path + ": " + before + " -> " + after}
}

// Show writes a value with the names of its fields, and leaves out those that are zero. What a secret hides is shown.
func Show(v any) string { return show(reflect.ValueOf(v)) }

func show(v reflect.Value) string {
	if !v.IsValid() {
		return "nil"
	}
	switch at := v.Interface().(type) {
	case interface{ Reveal() string }:
		return fmt.Sprintf("secret %q", at.Reveal())
	case time.Time:
		switch {
		case at.IsZero():
			return "-"
		case at.Nanosecond() != 0: // by chance, so that not all are due at once
			return "some time"
		}
		return at.UTC().Format(time.RFC3339)
	case time.Duration:
		return at.String()
	case error:
		return fmt.Sprintf("error %q", at)
	case []byte:
		return fmt.Sprintf("%q", at)
	}
	switch v.Kind() {
	case reflect.Pointer, reflect.Interface:
		return show(v.Elem())
	case reflect.String:
		return fmt.Sprintf("%q", v.String())
	case reflect.Slice, reflect.Array, reflect.Map, reflect.Struct:
		return "{" + strings.Join(parts(v), " ") + "}"
	case reflect.Func:
		return "func"
	default:
		return fmt.Sprint(v)
	}
}

// parts are the items of a value that has some.
func parts(v reflect.Value) (all []string) {
	switch v.Kind() {
	case reflect.Map:
		for _, key := range v.MapKeys() {
			all = append(all, show(key)+":"+show(v.MapIndex(key)))
		}
		slices.Sort(all)
	case reflect.Struct:
		for i := range v.NumField() {
			if f := v.Type().Field(i); f.IsExported() && f.Type.Kind() != reflect.Func && !v.Field(i).IsZero() {
				all = append(all, f.Name+":"+show(v.Field(i)))
			}
		}
	default:
		for i := range v.Len() {
			all = append(all, show(v.Index(i)))
		}
	}
	return all
}
