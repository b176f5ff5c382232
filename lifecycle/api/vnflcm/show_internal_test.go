package vnflcm

import (
	"bytes"
	"encoding/json"
	"net/http/httptest"
	"reflect"
	"testing"
	"time"

	"github.com/vimbroker/vimbroker/broker/api"
	"github.com/vimbroker/vimbroker/broker/api/sol003"
	"github.com/vimbroker/vimbroker/broker/secret"
	"github.com/vimbroker/vimbroker/lifecycle"
	"github.com/vimbroker/vimbroker/test/golden"
)

// full is a value of which each field is set: a text to its name, a number and a time to another one each.
func full[T any]() (made T) {
	n := 0
	fillIn(reflect.ValueOf(&made).Elem(), "it", &n)
	return made
}

func fillIn(v reflect.Value, name string, n *int) {
	*n++
	switch at := v.Addr().Interface().(type) {
	case *secret.Text:
		*at = secret.NewText("canary")
		return
	case *json.RawMessage:
		*at = json.RawMessage(`{"` + name + `":1}`)
		return
	case *time.Time:
		*at = time.Date(2031, 5, 6, 7, 8, *n, 0, time.UTC)
		return
	}
	switch v.Kind() {
	case reflect.String:
		v.SetString(name)
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Int, reflect.Int64, reflect.Int32:
		v.SetInt(int64(*n))
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fillIn(v.Elem(), name, n)
	case reflect.Struct:
		for i := range v.NumField() {
			if f := v.Type().Field(i); f.IsExported() {
				fillIn(v.Field(i), f.Name, n)
			}
		}
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		fillIn(v.Index(0), name, n)
	case reflect.Map:
		key, value := reflect.New(v.Type().Key()).Elem(), reflect.New(v.Type().Elem()).Elem()
		fillIn(key, name, n)
		fillIn(value, name, n)
		v.Set(reflect.MakeMap(v.Type()))
		v.SetMapIndex(key, value)
	}
}

// TestWhatIsShownWhole: testdata/shown.txt has an instance, operations and a dry run, with every field that is set and with none.
func TestWhatIsShownWhole(t *testing.T) {
	c := &api.Call{Request: httptest.NewRequest("GET", "/", nil)}
	i := full[lifecycle.Instance]()
	i.State, i.Shape.MaxScale, i.Shape.VIMType, i.Shape.More[0].VIMType = lifecycle.Instantiated, map[string]int{"Scale": 99}, "kubernetes", "openstack"
	i.Shape.Part.Name = ""
	made := full[lifecycle.Operation]()
	made.State, made.Type = lifecycle.Completed, lifecycle.ChangePackage
	failed := made
	failed.State, failed.Type = lifecycle.FailedTemp, lifecycle.Heal
	planned := full[lifecycle.Preview]()
	planned.Plan.Facts.Reaches = make([]lifecycle.Reach, sol003.MaxReaches+1)
	none := full[lifecycle.Preview]()
	none.Refusal, none.Leases[0].Refusal = nil, nil
	var got bytes.Buffer
	for _, one := range []struct {
		name  string
		shown any
	}{
		{"an instance", instance(c, i)},
		{"one of nothing", instance(c, lifecycle.Instance{State: lifecycle.NotInstantiated})},
		{"one that has nothing", instance(c, lifecycle.Instance{State: lifecycle.Instantiated})},
		{"an operation that has changed it", operation(c, made)},
		{"one that waits for somebody", operation(c, failed)},
		{"one of nothing", operation(c, lifecycle.Operation{State: lifecycle.Completed})},
		{"a dry run", preview(none)},
		{"one of nothing", preview(lifecycle.Preview{})},
	} {
		got.WriteString("== " + one.name + "\n")
		var text bytes.Buffer
		if err := wire.Encode(&text, one.shown); err != nil {
			t.Fatal(err)
		}
		if err := json.Indent(&got, text.Bytes(), "", " "); err != nil {
			t.Fatal(err)
		}
		got.WriteString("\n")
	}
	golden.Compare(t, "testdata/shown.txt", got.String())
	shown := preview(planned)
	if len(shown.Reaches) != sol003.MaxReaches || shown.ReachesLeftOut != 1 || shown.Refusal != "Detail" || shown.Allowed || shown.Leases[0].Refusal != "Detail" {
		t.Errorf("a dry run that is refused shows %d reaches and leaves out %d, for %q and %q", len(shown.Reaches), shown.ReachesLeftOut, shown.Refusal, shown.Leases[0].Refusal)
	}
}
