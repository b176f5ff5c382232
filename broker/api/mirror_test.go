package api_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/vimbroker/vimbroker/broker/api"
)

type (
	word   string
	inner  struct{ Words []word }
	target struct {
		Host string
		At   time.Time
	}
	domain struct {
		Name   word
		Kind   string
		Target target
		Inner  inner
		Many   []inner
		Maybe  *inner
		Short  time.Duration
		Long   time.Duration
		Extra  string
		Own    string
	}

	wireInner struct{ Words []string }
	wirePart  struct{ Host string }
	wireThing struct {
		Name string
		Type string
		wirePart
		At    time.Time
		Inner *wireInner
		Many  []wireInner
		Maybe *wireInner
		Short string `json:"short,omitempty"`
		Long  string
		Note  string
	}
	wireRequest struct {
		Name  string
		Many  []wireInner
		Maybe *wireInner
		Extra []byte
		Host  string
	}
)

func TestShown(t *testing.T) {
	show := api.Shown[domain, wireThing](`Target Type=Kind Note=`)
	east := time.Date(2026, 1, 2, 3, 4, 5, 0, time.FixedZone("east", 3600))
	got := show(domain{
		Name: "n", Kind: "k", Target: target{"h", east}, Inner: inner{[]word{"a"}}, Many: []inner{{[]word{"b", "c"}}, {}},
		Maybe: &inner{[]word{"d"}}, Long: time.Minute, Own: "not shown",
	})
	want := wireThing{
		Name: "n", Type: "k", wirePart: wirePart{"h"}, At: east.UTC(), Inner: &wireInner{[]string{"a"}},
		Many: []wireInner{{[]string{"b", "c"}}, {}}, Maybe: &wireInner{[]string{"d"}}, Long: "1m0s",
	}
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(wireThing{})); diff != "" || got.At.Location() != time.UTC {
		t.Errorf("shown differs, at %s:\n%s", got.At.Location(), diff)
	}
	if got := show(domain{}); !cmp.Equal(got, wireThing{Long: "0s"}, cmp.AllowUnexported(wireThing{})) {
		t.Errorf("nothing is shown as %+v", got)
	}
}

func TestAsked(t *testing.T) {
	ask := api.Asked[wireRequest, domain](`Target`)
	got := ask(wireRequest{"n", []wireInner{{[]string{"a"}}}, &wireInner{}, []byte("{}"), "h"})
	want := domain{Name: "n", Many: []inner{{[]word{"a"}}}, Maybe: &inner{}, Extra: "{}", Target: target{Host: "h"}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("asked differs:\n%s", diff)
	}
}

// A field that nobody fills, that is misspelt, or that holds something else ends the program before it serves.
func TestMirrorsForgetNothing(t *testing.T) {
	panics := func(do func()) (is bool) {
		defer func() { is = recover() != nil }()
		do()
		return false
	}
	for what, build := range map[string]func(){
		"a field of the wire without a counterpart":  func() { api.Shown[domain, wireThing](`Target Type=Kind`)(domain{}) },
		"an exception for a field that is not there": func() { api.Shown[domain, wireThing](`Target Type=Kind Note= Notes=`)(domain{}) },
		"an exception that leads nowhere":            func() { api.Shown[domain, wireThing](`Target Type=Sort Note=`)(domain{}) },
		"a part that is not there":                   func() { api.Shown[domain, wireThing](`Targets Type=Kind Note=`)(domain{}) },
		"a field of another kind":                    func() { api.Shown[domain, wireThing](`Target Type=Target Note=`)(domain{}) },
		"a number for a text":                        func() { api.Asked[struct{ Name int }, domain]("")(struct{ Name int }{}) },
		"a request's field without a counterpart":    func() { api.Asked[wireThing, domain](`Target Type=Kind`)(wireThing{}) },
		"a field of an inner one":                    func() { api.Shown[domain, struct{ Inner struct{ Count int } }]("")(domain{}) },
	} {
		if !panics(build) {
			t.Errorf("%s: nothing is said", what)
		}
	}
	if !panics(api.Complete) { // before they are used
		t.Error("a program serves with any of these")
	}
}
