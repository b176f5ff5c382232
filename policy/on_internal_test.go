package policy

import (
	"slices"
	"testing"
	"time"

	cedar "github.com/cedar-policy/cedar-go"
	"github.com/google/go-cmp/cmp"
)

// A decision asks only the policies whose head fits. What it finds is what asking all
// of them finds, errors included.
func TestPoliciesLeftOutWouldNotMatch(t *testing.T) {
	p, err := Load(map[string][]byte{"site.cedar": []byte(`
		@id("eq")      permit (principal, action == Action::"vim:show", resource);
		@id("in-one")  permit (principal, action in Action::"vim:update", resource);
		@id("in-set")  permit (principal, action in [Action::"lease:show", Action::"vim:check"], resource);
		@id("is")      permit (principal, action, resource is VIM);
		@id("one")     permit (principal, action, resource == VIM::"x");
		@id("is-in")   forbid (principal, action == Action::"vim:delete", resource is VIM in VIM::"x");
		@id("fails")   forbid (principal, action == Action::"lease:renew", resource is Lease)
		               when { 9223372036854775807 + context.ttlSeconds > 0 };`)})
	if err != nil {
		t.Fatal(err)
	}
	left := 0
	for action, shape := range p.actions {
		for _, kind := range shape.kinds {
			for _, role := range []string{RoleAdmin, RoleProjectAdmin, RoleMember, RoleReader} {
				who := principalEntity(Principal{Name: "alice", Project: "core", Roles: []string{role}}, "")
				what := resourceEntity(Resource{Kind: kind, ID: "x", Project: "core", Owner: "alice"})
				question := cedar.Request{Principal: who.UID, Action: shape.entity, Resource: what.UID, Context: wishRecord(Wish{TTL: 1}, time.Now())}
				if shape.context == draftContext {
					question.Context = draftRecord(nil)
				}
				all, why := cedar.Authorize(p.callers, facts{who, what}, question)
				some, because := cedar.Authorize(shape.callers[kind], facts{who, what}, question)
				if all != some {
					t.Errorf("%s on a %s by a %s: all policies say %v, those that are asked %v", action, kind, role, all, some)
				}
				if diff := cmp.Diff(why, because); diff != "" {
					t.Errorf("%s on a %s by a %s: why (-all +asked):\n%s", action, kind, role, diff)
				}
				left += len(p.callers) - len(shape.callers[kind])
			}
		}
	}
	if left == 0 {
		t.Error("every decision asks every policy")
	}
}

// Of the built-in policies a list asks few for each thing that it shows.
func TestFewPoliciesAreAskedOfALine(t *testing.T) {
	p, err := Load(nil)
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		"default.admins-do-all", "default.members-keep-vims", "default.members-lease-vims",
		"default.project-admins-do-all-in-project", "default.project-admins-lease-vims", "default.readers-see-vims", "default.vnfms-lease-vims",
	}
	var asked []string
	for id := range p.actions[VIMShow].callers[KindVIM].All() {
		asked = append(asked, string(id))
	}
	if !slices.Equal(asked, want) {
		t.Errorf("showing a VIM asks the policies\n%q, want\n%q", asked, want)
	}
	if n := len(p.actions[VIMDelete].passes[KindVIM]); n != 3 {
		t.Errorf("%d policies are asked whether a part of the broker deletes a VIM, want those of draining, of onboarding and of VIMs that come with requests", n)
	}
}
