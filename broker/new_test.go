package broker_test

import (
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/broker/clientconfig"
	"github.com/vimbroker/vimbroker/broker/secret"
)

// typed is a driver that says something else of its type.
type typed struct {
	broker.Driver
	t broker.Type
}

func (d typed) Type() broker.Type { return d.t }

// New names every part that it cannot serve.
func TestNewRefusesWhatItCannotServe(t *testing.T) {
	b := newBench(t, benchOptions{})
	good := b.options
	// of is the Kubernetes driver with a changed type.
	of := func(change func(*broker.Type)) broker.Driver {
		d := typed{good.Drivers[0], good.Drivers[0].Type()}
		d.t.Formats, d.t.Credentials = append([]clientconfig.Format(nil), d.t.Formats...), append([]broker.CredentialKind(nil), d.t.Credentials...)
		change(&d.t)
		return d
	}
	one := func(change func(*broker.Type)) func(*broker.Options) {
		return func(o *broker.Options) { o.Drivers = []broker.Driver{of(change)} }
	}
	for name, c := range map[string]struct {
		spoil func(*broker.Options)
		want  string
	}{
		"no store":               {func(o *broker.Options) { o.Store = nil }, "option Store is missing"},
		"no key stores":          {func(o *broker.Options) { o.Keys = nil }, "option Keys is missing"},
		"no policy":              {func(o *broker.Options) { o.Policy = nil }, "option Policy is missing"},
		"no egress":              {func(o *broker.Options) { o.Egress = nil }, "option Egress is missing"},
		"no log":                 {func(o *broker.Options) { o.Log = nil }, "option Log is missing"},
		"a nil key store":        {func(o *broker.Options) { o.Keys = []secret.KeyStore{o.Keys[0], nil} }, "key store 2 is nil"},
		"two key stores by name": {func(o *broker.Options) { o.Keys = []secret.KeyStore{o.Keys[0], o.Keys[0]} }, `two key stores are named "keydir"`},

		"no driver":            {func(o *broker.Options) { o.Drivers = nil }, "there is no driver"},
		"a nil driver":         {func(o *broker.Options) { o.Drivers = []broker.Driver{o.Drivers[0], nil} }, "driver 2 is nil"},
		"two drivers by name":  {func(o *broker.Options) { o.Drivers = append(o.Drivers, o.Drivers[0]) }, `two drivers serve VIM type "kubernetes"`},
		"two types, one file":  {func(o *broker.Options) { o.Drivers = append(o.Drivers, of(func(t *broker.Type) { t.Name = "other" })) }, `VIM types "kubernetes" and "other" are both registered with a kubeconfig`},
		"no name":              {one(func(t *broker.Type) { t.Name = "" }), "it has no name"},
		"no formats":           {one(func(t *broker.Type) { t.Formats = nil }), "it has no client configuration formats"},
		"an empty format":      {one(func(t *broker.Type) { t.Formats[1] = "" }), "a client configuration format is empty or listed twice"},
		"a format twice":       {one(func(t *broker.Type) { t.Formats[1] = t.Formats[0] }), "a client configuration format is empty or listed twice"},
		"no credentials":       {one(func(t *broker.Type) { t.Credentials = nil }), "it takes no kind of credential"},
		"an unknown kind":      {one(func(t *broker.Type) { t.Credentials[0] = "passport" }), `"passport" is not a kind of credential that can be stored`},
		"a leased kind":        {one(func(t *broker.Type) { t.Credentials[0] = broker.CredentialProjectToken }), `"projectToken" is not a kind of credential that can be stored`},
		"a kind twice":         {one(func(t *broker.Type) { t.Credentials = []broker.CredentialKind{"basicAuth", "basicAuth"} }), "basicAuth and basicAuth cannot be told apart"},
		"kinds of equal words": {one(func(t *broker.Type) { t.Credentials = []broker.CredentialKind{"basicAuth", "password"} }), "basicAuth and password cannot be told apart"},
		"an unknown document":  {one(func(t *broker.Type) { t.Document = "heat" }), `"heat" is not a kind of document`},
	} {
		t.Run(name, func(t *testing.T) {
			o := good
			c.spoil(&o)
			if _, err := broker.New(o); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("New() = %v, want %q in it", err, c.want)
			}
		})
	}
	all := good
	all.Store, all.Log, all.Drivers = nil, nil, nil
	_, err := broker.New(all)
	for _, want := range []string{"option Store", "option Log", "no driver"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("New() with three faults = %v, want %q in it", err, want)
		}
	}
}

// Each term is refused by its name when it is zero or less. A new term gets its case here
// by itself.
func TestNewRefusesEveryTermThatIsZero(t *testing.T) {
	b := newBench(t, benchOptions{})
	for _, f := range reflect.VisibleFields(reflect.TypeFor[broker.Terms]()) {
		for _, value := range []int64{0, -1} {
			o := b.options
			field := reflect.ValueOf(&o.Terms).Elem().FieldByIndex(f.Index)
			if f.Type == reflect.TypeFor[broker.Quota]() || f.Type == reflect.TypeFor[broker.VIMQuota]() || f.Type == reflect.TypeFor[broker.Keep]() || f.Type.Kind() == reflect.Bool {
				continue // zero means no bound, or for ever, and false means no
			}
			field.SetInt(value)
			if _, err := broker.New(o); err == nil || !strings.Contains(err.Error(), "term "+f.Name+" must be more than zero") {
				t.Errorf("New() with %s = %d: %v, want it refused by name", f.Name, value, err)
			}
		}
	}
	o := b.options
	o.Terms.Quota, o.Terms.VIMs = broker.Quota{}, broker.VIMQuota{}
	if _, err := broker.New(o); err != nil {
		t.Errorf("New() without quotas = %v", err)
	}
	o.Terms.CheckEvery = time.Nanosecond
	if _, err := broker.New(o); err != nil {
		t.Errorf("New() with the least term = %v", err)
	}
}
