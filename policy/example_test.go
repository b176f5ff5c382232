package policy_test

import (
	"fmt"

	"github.com/vimbroker/vimbroker/policy"
)

// Members of a project see its VIMs, and no others.
func ExamplePolicies_Decide() {
	policies, err := policy.Load(nil) // the policies that are built in
	if err != nil {
		fmt.Println(err)
		return
	}
	vim := policy.Resource{Kind: policy.KindVIM, ID: "edge", Project: "demo", VIMType: "kubernetes", VIMName: "edge"}
	for _, p := range []policy.Principal{
		{Name: "alice", Project: "demo", Roles: []string{policy.RoleMember}},
		{Name: "mallet", Project: "other", Roles: []string{policy.RoleMember}},
	} {
		decision := policies.Decide(policy.Request{Principal: p, Action: policy.VIMShow, Resource: vim})
		fmt.Println(p.Name, decision.Allowed)
	}
	// Output:
	// alice true
	// mallet false
}
