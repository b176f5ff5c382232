package policy_test

import (
	"errors"
	"slices"
	"testing"

	"github.com/vimbroker/vimbroker/policy"
)

// A question's words are those that some policy could mean; of others the nearest is named, and which there are.
func TestWordsThatNoPolicyMeans(t *testing.T) {
	policies := load(t, map[string][]byte{"site.cedar": []byte(`
		@id("one") permit (principal, action, resource) when { principal.roles.contains("operator") };
		@id("any") permit (principal, action, resource) when { principal.roles.containsAny(["night", "day"]) };
		@id("all") permit (principal, action, resource) when { principal.roles.containsAll(["twice", "signed"]) };
		@id("same") permit (principal, action, resource) when { principal.roles == ["alone"] };
		@id("turned") permit (principal, action, resource) when { ["turned"] == principal.roles };
		@id("other") permit (principal, action, resource) when { ["stranger"].contains(principal.project) };
		@id("record") permit (principal, action, resource) when { {roles: [principal.project]}.roles.contains("stranger") };
	`)})
	who := func(role string) policy.Principal {
		return policy.Principal{Name: "alice", Project: "core", Roles: []string{"member", role}}
	}
	for name, c := range map[string]struct {
		ask  policy.Request
		want *policy.Typo // but for Known
	}{
		"all is known":            {ask: policy.Request{Principal: who("operator"), Action: policy.VIMShow, Resource: ownVIM, Wish: policy.Wish{Grade: "bounded"}}},
		"one of some roles":       {ask: policy.Request{Principal: who("day"), Action: policy.VIMShow, Resource: ownVIM}},
		"one of all roles":        {ask: policy.Request{Principal: who("signed"), Action: policy.VIMShow, Resource: ownVIM}},
		"a list's only role":      {ask: policy.Request{Principal: who("alone"), Action: policy.VIMShow, Resource: ownVIM}},
		"a role at the left":      {ask: policy.Request{Principal: who("turned"), Action: policy.VIMShow, Resource: ownVIM}},
		"a text that is no role":  {policy.Request{Principal: who("stranger"), Action: policy.VIMShow, Resource: ownVIM}, &policy.Typo{Field: "role", Word: "stranger"}},
		"a letter too many":       {policy.Request{Principal: who("operattor"), Action: policy.VIMShow, Resource: ownVIM}, &policy.Typo{Field: "role", Word: "operattor", Nearest: "operator"}},
		"a letter too few":        {policy.Request{Principal: who("perator"), Action: policy.VIMShow, Resource: ownVIM}, &policy.Typo{Field: "role", Word: "perator", Nearest: "operator"}},
		"an action that is none":  {policy.Request{Principal: who("day"), Action: "vim:shwo", Resource: ownVIM}, &policy.Typo{Field: "action", Word: "vim:shwo", Nearest: "vim:show"}},
		"an action on another":    {policy.Request{Principal: who("day"), Action: policy.LeaseRenew, Resource: ownVIM}, &policy.Typo{Field: "kind", Word: "VIM"}},
		"an action on a role":     {policy.Request{Principal: who("day"), Action: policy.VIMShow, Resource: policy.Resource{Kind: "Role"}}, &policy.Typo{Field: "kind", Word: "Role"}},
		"a grade that is none":    {policy.Request{Principal: who("day"), Action: policy.VIMShow, Resource: ownVIM, Wish: policy.Wish{Grade: "bounde"}}, &policy.Typo{Field: "grade", Word: "bounde", Nearest: "bounded"}},
		"a grade like none there": {policy.Request{Principal: who("day"), Action: policy.VIMShow, Resource: ownVIM, Wish: policy.Wish{Grade: "wide"}}, &policy.Typo{Field: "grade", Word: "wide"}},
	} {
		var got *policy.Typo
		switch err := policies.Check(c.ask); {
		case c.want == nil && err != nil:
			t.Errorf("%s: Check() = %v", name, err)
		case c.want != nil && (!errors.As(err, &got) || got.Field != c.want.Field || got.Word != c.want.Word || got.Nearest != c.want.Nearest):
			t.Errorf("%s: Check() = %#v, want %#v", name, err, c.want)
		case c.want != nil && c.want.Field == "role" && !slices.Equal(got.Known, []string{
			"admin", "alone", "day", "member", "night", "operator", "project-admin", "reader", "signed", "turned", "twice", "vnfm",
		}):
			t.Errorf("%s: the known roles are %q", name, got.Known)
		case c.want != nil && !slices.IsSorted(got.Known):
			t.Errorf("%s: what is known is not sorted: %q", name, got.Known)
		}
	}
	if err := policies.CheckAction("own:action", "own:action"); err != nil {
		t.Errorf("an action of others = %v", err)
	}
	if err := policies.CheckAction("own:action"); err == nil {
		t.Error("an action of nobody is one")
	}
}

// A question that names no thing is about the project, or about what the action is done to where no attribute of that has
// to be known.
func TestUsualKinds(t *testing.T) {
	p, err := policy.Load(nil)
	if err != nil {
		t.Fatal(err)
	}
	for action, want := range map[policy.Action]policy.Kind{
		policy.VIMRegister: policy.KindProject, policy.PackageUpload: policy.KindPackage, policy.VNFTerminate: policy.KindVNFInstance,
		policy.LeaseIssue: policy.KindProject, policy.LeaseRevoke: policy.KindProject, "no:such": policy.KindProject,
	} {
		if got := p.Usual(action); got != want {
			t.Errorf("Usual(%s) = %s, want %s", action, got, want)
		}
	}
}
