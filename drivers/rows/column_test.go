package rows

import (
	"reflect"
	"testing"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/policy/audit"
)

// TestEveryFieldHasAColumn finds a field that no column keeps, and one that two keep.
func TestEveryFieldHasAColumn(t *testing.T) {
	var l broker.Lease
	wantColumns(t, reflect.ValueOf(&l).Elem(), LeaseColumns.Fields(&l))
	var e audit.Entry
	wantColumns(t, reflect.ValueOf(&e).Elem(), append(EntryColumns.Fields(&e), &e.Damaged)) // which is what reading finds
	var g Generation
	wantColumns(t, reflect.ValueOf(&g).Elem(), GenerationColumns.Fields(&g))
	v := OfVIM(broker.VIM{})
	// Labels, shares and generations have tables of their own, and Damaged is what reading finds.
	fields := append(VIMColumns.Fields(v), &v.VIM.Labels, &v.VIM.SharedWith, &v.VIM.Current, &v.VIM.Pending, &v.VIM.Past, &v.VIM.Damaged)
	wantColumns(t, reflect.ValueOf(&v.VIM).Elem(), fields, &v.Number, &v.Rekeying.Generation, &v.Rekeying.Since)
}

func wantColumns(t *testing.T, row reflect.Value, fields []any, besides ...any) {
	t.Helper()
	kept := map[any]int{}
	for _, field := range fields {
		kept[field]++
	}
	for _, field := range besides {
		if kept[field] != 1 {
			t.Errorf("%d columns keep a %T of the row, want 1", kept[field], field)
		}
		delete(kept, field)
	}
	var walk func(v reflect.Value, path string)
	walk = func(v reflect.Value, path string) {
		field := v.Addr().Interface()
		switch n := kept[field]; {
		case n == 1:
			delete(kept, field)
		case n > 1:
			t.Errorf("%d columns keep %s", n, path)
			delete(kept, field)
		case v.Kind() == reflect.Struct && v.Type().PkgPath() != "time":
			for i := range v.NumField() {
				walk(v.Field(i), path+"."+v.Type().Field(i).Name)
			}
		default:
			t.Errorf("no column keeps %s", path)
		}
	}
	walk(row, row.Type().Name())
	for field := range kept {
		t.Errorf("a column keeps a %T that is no field of %s", field, row.Type())
	}
}

func TestChangedColumns(t *testing.T) {
	from := broker.Lease{ID: "l", State: broker.LeaseActive, Namespaces: []string{"a"}, Revision: 1}
	to := from
	to.ID, to.State, to.Namespaces, to.Revision = "other", broker.LeaseRevoking, []string{"a"}, 2
	if got, want := LeaseColumns.Changed(&from, &to).Names(), "state, revision"; got != want {
		t.Errorf("Changed = %s, want %s: what changed, and not the id, which is fixed", got, want)
	}
}
