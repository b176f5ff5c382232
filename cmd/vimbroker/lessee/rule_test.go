package lessee

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/vimbroker/vimbroker/broker/api/v1"
)

func TestRulesAreReadAndWritten(t *testing.T) {
	var l ruleList
	for _, text := range []string{"get,list:pods", "update:deployments.apps/web", "get:routes.route.example.com", "get:pods:log", "get:pods/log", "update:deployments:scale.apps/web.v2", "get:users/system:admin", "get:*:status.*"} {
		if err := l.Set(text); err != nil {
			t.Fatalf("--rule %s = %v", text, err)
		}
	}
	want := ruleList{
		{APIGroups: []string{""}, Resources: []string{"pods"}, Verbs: []string{"get", "list"}},
		{APIGroups: []string{"apps"}, Resources: []string{"deployments"}, ResourceNames: []string{"web"}, Verbs: []string{"update"}},
		{APIGroups: []string{"route.example.com"}, Resources: []string{"routes"}, Verbs: []string{"get"}},
		{APIGroups: []string{""}, Resources: []string{"pods/log"}, Verbs: []string{"get"}},
		{APIGroups: []string{""}, Resources: []string{"pods"}, ResourceNames: []string{"log"}, Verbs: []string{"get"}},
		{APIGroups: []string{"apps"}, Resources: []string{"deployments/scale"}, ResourceNames: []string{"web.v2"}, Verbs: []string{"update"}},
		{APIGroups: []string{""}, Resources: []string{"users"}, ResourceNames: []string{"system:admin"}, Verbs: []string{"get"}},
		{APIGroups: []string{"*"}, Resources: []string{"*/status"}, Verbs: []string{"get"}},
	}
	if diff := cmp.Diff(want, l); diff != "" {
		t.Errorf("rules (-want +got):\n%s", diff)
	}
	if got := RulesText([]v1.Rule(l)); got != "get,list:pods update:deployments.apps/web get:routes.route.example.com "+
		"get:pods:log get:pods/log update:deployments:scale.apps/web.v2 get:users/system:admin get:*:status.*" {
		t.Errorf("RulesText = %q", got)
	}
	for _, text := range []string{"", "get", "get:", ":pods", "get:/name", "get:pods/", "get:pods:", "get:pods:log:more", "get::log", "get:pods."} {
		if err := l.Set(text); err == nil {
			t.Errorf("--rule %q is taken", text)
		}
	}
}
