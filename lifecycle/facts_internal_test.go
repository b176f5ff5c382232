package lifecycle

import (
	"reflect"
	"testing"
)

// The facts of two plans together have each fact of either: a part whose facts are lost is not decided about.
func TestFactsOfTwoPlansAreKept(t *testing.T) {
	for i := range reflect.TypeFor[Facts]().NumField() {
		name := reflect.TypeFor[Facts]().Field(i).Name
		var one Facts
		switch f := reflect.ValueOf(&one).Elem().Field(i); v := f.Addr().Interface().(type) {
		case *bool:
			*v = true
		case *string:
			*v = "a"
		case *[]string:
			*v = []string{"a"}
		case *[]Reach:
			*v = []Reach{{What: ReachNode}}
		default:
			t.Fatalf("%s is a %T, which this test does not know", name, v)
		}
		for what, both := range map[string]Facts{"the first": one.and(Facts{}), "the second": Facts{}.and(one), "both": one.and(one)} {
			for j := range reflect.TypeFor[Facts]().NumField() {
				got, want := reflect.ValueOf(both).Field(j), reflect.ValueOf(one).Field(j)
				if got.Kind() == reflect.Slice && got.Len() == 0 && want.Len() == 0 {
					continue
				}
				if !reflect.DeepEqual(got.Interface(), want.Interface()) {
					t.Errorf("with %s of %s, %s is %v, want %v", name, what, reflect.TypeFor[Facts]().Field(j).Name, got, want)
				}
			}
		}
	}
}
