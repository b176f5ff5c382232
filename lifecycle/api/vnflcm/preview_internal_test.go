package vnflcm

import (
	"net/http"
	"reflect"
	"testing"

	"github.com/vimbroker/vimbroker/broker/api/sol003"
	"github.com/vimbroker/vimbroker/lifecycle"
)

// An object that the instance lacks is made, one that it has is changed, and only scaling says a number.
func TestTheDeedsOfADryRun(t *testing.T) {
	three := int32(3)
	for name, c := range map[string]struct {
		effect   lifecycle.Effect
		deed     string
		replicas *int32
	}{
		"made":    {lifecycle.Effect{Deed: lifecycle.Apply}, sol003.DeedMake, nil},
		"changed": {lifecycle.Effect{Deed: lifecycle.Apply, Stands: true}, sol003.DeedApply, nil},
		"scaled":  {lifecycle.Effect{Deed: lifecycle.Scale, Stands: true, Replicas: 3}, sol003.DeedScale, &three},
		"healed":  {lifecycle.Effect{Deed: lifecycle.Replace, Stands: true}, sol003.DeedReplace, nil},
		"deleted": {lifecycle.Effect{Deed: lifecycle.Delete, Stands: true}, sol003.DeedDelete, nil},
	} {
		shown := preview(lifecycle.Preview{Effects: []lifecycle.Effect{c.effect}}).Effects[0]
		if shown.Deed != c.deed || !reflect.DeepEqual(shown.Replicas, c.replicas) {
			t.Errorf("%s is shown as %+v", name, shown)
		}
	}
}

// A dry run says that an operation is allowed only where its first lease would be issued. What a later one lacks may be
// made before it, unless policy refuses it.
func TestWhatADryRunAllows(t *testing.T) {
	refused := func(status int) *lifecycle.Failure { return &lifecycle.Failure{Status: status, Detail: "no"} }
	for name, c := range map[string]struct {
		plan, first, second *lifecycle.Failure
		want                bool
	}{
		"nothing is refused":                        {nil, nil, nil, true},
		"the plan is":                               {refused(http.StatusForbidden), nil, nil, false},
		"the first lease, by policy":                {nil, refused(http.StatusForbidden), nil, false},
		"the first lease, by the VIM":               {nil, refused(http.StatusUnprocessableEntity), nil, false},
		"the plan is, and the VIM does not say":     {refused(http.StatusForbidden), refused(http.StatusBadGateway), nil, false},
		"the first lease, by what is broken":        {nil, refused(http.StatusInternalServerError), nil, true},
		"the first lease, as the VIM does not say":  {nil, refused(http.StatusBadGateway), nil, true},
		"the second lease, by policy":               {nil, nil, refused(http.StatusForbidden), false},
		"the second lease, by what is not yet made": {nil, nil, refused(http.StatusUnprocessableEntity), true},
	} {
		got := preview(lifecycle.Preview{Refusal: c.plan, Leases: []lifecycle.PreviewLease{{Refusal: c.first}, {Refusal: c.second}}})
		if got.Allowed != c.want {
			t.Errorf("%s: allowed is %t, want %t", name, got.Allowed, c.want)
		}
	}
}
