package broker

import (
	"reflect"
	"testing"
)

// Rules that mean the same are the same in the end, whatever their order; those that were given stay as they were.
func TestCanonicalRulesLeaveThoseThatWereGiven(t *testing.T) {
	given := func() []Rule {
		return []Rule{
			{APIGroups: []string{"apps", ""}, Resources: []string{"pods"}, Verbs: []string{"list", "get", "list"}},
			{APIGroups: []string{"", "apps"}, Resources: []string{"pods"}, Verbs: []string{"get", "list"}},
			{APIGroups: []string{""}, Resources: []string{"nodes"}, ResourceNames: []string{"b", "a"}, Verbs: []string{"get"}},
		}
	}
	rules := given()
	got := canonical(rules)
	if !reflect.DeepEqual(rules, given()) {
		t.Errorf("the rules that were given are now %+v", rules)
	}
	want := []Rule{
		{APIGroups: []string{""}, Resources: []string{"nodes"}, ResourceNames: []string{"a", "b"}, Verbs: []string{"get"}},
		{APIGroups: []string{"", "apps"}, Resources: []string{"pods"}, Verbs: []string{"get", "list"}},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("canonical rules are %+v, want %+v", got, want)
	}
}
