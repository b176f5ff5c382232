package lifecycle_test

import (
	"fmt"
	"testing"

	"github.com/vimbroker/vimbroker/lifecycle"
	"github.com/vimbroker/vimbroker/test/outcome"
)

// TestAffectedStorages: what an operation has made of the storages of the resources that it worked on. Storages of others
// are as they were, and those that outlive their resource are not gone with it.
func TestAffectedStorages(t *testing.T) {
	of := func(name string, outlives bool, uids ...string) lifecycle.Resource {
		r := lifecycle.Resource{Kind: "Set", Name: name}
		for _, uid := range uids {
			r.Storages = append(r.Storages, lifecycle.Storage{Desc: "data", Kind: "Claim", Name: name + uid[:1], UID: uid, Outlives: outlives})
		}
		return r
	}
	for name, c := range outcome.Sorted(map[string]struct {
		before []lifecycle.Resource
		step   lifecycle.Observation
		want   string
	}{
		"made":         {nil, lifecycle.Observation{Resource: of("a", false, "1"), Standing: true}, "[ADDED a1]"},
		"as it was":    {[]lifecycle.Resource{of("a", false, "1")}, lifecycle.Observation{Resource: of("a", false, "1"), Standing: true}, "[]"},
		"replaced":     {[]lifecycle.Resource{of("a", false, "1")}, lifecycle.Observation{Resource: of("a", false, "1b"), Standing: true}, "[MODIFIED a1]"},
		"fewer":        {[]lifecycle.Resource{of("a", true, "1", "2")}, lifecycle.Observation{Resource: of("a", true, "1"), Standing: true}, "[REMOVED a2]"},
		"gone":         {[]lifecycle.Resource{of("a", false, "1")}, lifecycle.Observation{Resource: of("a", false)}, "[REMOVED a1]"},
		"outlives":     {[]lifecycle.Resource{of("a", true, "1")}, lifecycle.Observation{Resource: of("a", true)}, "[]"},
		"not made yet": {nil, lifecycle.Observation{Resource: of("a", false, "1")}, "[]"},
		"of another":   {[]lifecycle.Resource{of("a", false, "1"), of("b", false, "1")}, lifecycle.Observation{Resource: of("b", false)}, "[REMOVED b1]"},
	}) {
		o := lifecycle.Operation{Before: lifecycle.Shape{Resources: c.before}, Steps: []lifecycle.Observation{c.step}}
		got := []string{}
		for _, s := range o.AffectedStorages() {
			got = append(got, string(s.Change)+" "+s.Name)
		}
		if fmt.Sprint(got) != c.want {
			t.Errorf("%s: %v, want %s", name, got, c.want)
		}
	}
}
