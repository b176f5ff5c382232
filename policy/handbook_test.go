package policy_test

import (
	"bytes"
	"os"
	"regexp"
	"testing"
	"time"

	"github.com/vimbroker/vimbroker/policy"
)

// The samples of docs/policies.md load, each by itself, and do what the words before
// them say.
func TestSamplesOfTheHandbook(t *testing.T) {
	text, err := os.ReadFile("../docs/policies.md")
	if err != nil {
		t.Fatal(err)
	}
	samples := map[string][]byte{}
	for _, found := range regexp.MustCompile("(?s)```cedar\n(@id\\(\"([a-z-]+)\"\\).*?)```").FindAllSubmatch(text, -1) {
		samples[string(found[2])] = found[1]
	}
	wish := func(w policy.Wish) policy.Wish { return w }
	draft := func(d policy.VIMDraft) policy.Wish { return policy.Wish{VIM: &d} }
	operator := policy.Principal{Name: "otto", Project: "core", Roles: []string{policy.RoleMember, "operator"}}
	auditor := policy.Principal{Name: "audrey", Project: "core", Roles: []string{"auditor"}}
	robot := policy.Principal{Name: "keystone:4f1c@default", Project: "core", Roles: []string{policy.RoleMember}}
	client := policy.Principal{Name: "client:3f0c9c0e-5f4b-4b3f-9a53-2f1f1f6d1c11", Project: "core", Roles: []string{policy.RoleVNFM}}
	vnfm := policy.Principal{Name: "tacker", Project: "core", Roles: []string{policy.RoleVNFM}}
	signedPackage := ownPackage
	signedPackage.Signer = "CN=release,O=acme"
	contractor := policy.Principal{Name: "cora", Project: "core", Roles: []string{"contractor"}}
	lead := policy.Principal{Name: "lena", Project: "core", Roles: []string{policy.RoleMember, "team-lead"}}
	staging := policy.Resource{Kind: policy.KindVIM, ID: "v", Project: "core", Labels: map[string]string{"stage": "staging"}}
	sunday := time.Date(2026, 11, 29, 10, 0, 0, 0, time.UTC)
	type ask struct {
		want bool
		policy.Request
	}
	q := func(want bool, who policy.Principal, a policy.Action, r policy.Resource, w policy.Wish) ask {
		return ask{want, policy.Request{Principal: who, Action: a, Resource: r, Wish: w, At: sunday}}
	}
	asks := map[string][]ask{
		"short-leases": {
			q(true, member, policy.LeaseIssue, ownVIM, wish(policy.Wish{TTL: 2 * time.Hour})),
			q(false, member, policy.LeaseIssue, ownVIM, wish(policy.Wish{TTL: 2*time.Hour + 1})),
			q(true, member, policy.LeaseRenew, ownLease, wish(policy.Wish{TTL: time.Hour, Issued: sunday.Add(-time.Hour)})),
			q(false, member, policy.LeaseRenew, ownLease, wish(policy.Wish{TTL: time.Hour, Issued: sunday.Add(-time.Hour - 1)})),
			q(true, admin, policy.LeaseIssue, ownVIM, wish(policy.Wish{TTL: 3 * time.Hour})),
		},
		"office-hours": {
			q(false, member, policy.LeaseIssue, ownVIM, wish(policy.Wish{TTL: time.Hour})),
			q(true, admin, policy.LeaseIssue, ownVIM, wish(policy.Wish{TTL: time.Hour})),
		},
		"team-leads-name-the-person": {
			q(false, lead, policy.LeaseIssue, ownVIM, wish(policy.Wish{TTL: time.Hour})),
			q(true, lead, policy.LeaseIssue, ownVIM, wish(policy.Wish{TTL: time.Hour, For: "dave"})),
			q(true, member, policy.LeaseIssue, ownVIM, wish(policy.Wish{TTL: time.Hour})),
		},
		"contractors-see-staging": {
			q(true, contractor, policy.VIMShow, staging, policy.Wish{}),
			q(false, contractor, policy.VIMShow, ownVIM, policy.Wish{}),
			q(true, contractor, policy.LeaseIssue, staging, policy.Wish{Role: "view", TTL: 2 * time.Hour}),
			q(false, contractor, policy.LeaseIssue, staging, policy.Wish{Role: "view", TTL: 3 * time.Hour}),
			q(false, contractor, policy.LeaseIssue, staging, policy.Wish{Role: "edit", TTL: time.Hour}),
			q(false, contractor, policy.LeaseIssue, ownVIM, policy.Wish{Role: "view", TTL: time.Hour}),
			q(true, contractor, policy.LeaseRevoke, policy.Resource{Kind: policy.KindLease, Project: "core", Owner: "cora"}, policy.Wish{}),
			q(false, contractor, policy.LeaseRevoke, ownLease, policy.Wish{}),
			q(true, contractor, policy.VIMShow, ownProject, policy.Wish{}),
			q(false, contractor, policy.VIMRegister, ownProject, policy.Wish{}),
		},
		"no-cluster-admin": {
			q(true, admin, policy.LeaseIssue, ownVIM, policy.Wish{Role: "view"}),
			q(false, admin, policy.LeaseIssue, ownVIM, policy.Wish{Role: "cluster-admin"}),
		},
		"signed-packages": {
			q(true, member, policy.PackageUpload, policy.Resource{Kind: policy.KindPackage, Project: "core"}, policy.Wish{}),
			q(false, admin, policy.PackageUpload, ownPackage, policy.Wish{}),
			q(false, member, policy.PackageUse, ownPackage, policy.Wish{}),
			q(true, member, policy.PackageUse, signedPackage, policy.Wish{}),
		},
		"whole-clusters": {
			q(true, member, policy.LeaseIssue, ownVIM, policy.Wish{Namespaces: []string{"a"}}),
			q(false, member, policy.LeaseIssue, ownVIM, policy.Wish{Role: "view", ClusterWide: true}),
			q(true, admin, policy.LeaseIssue, ownVIM, policy.Wish{ClusterWide: true}),
		},
		"own-namespace": {
			q(true, member, policy.LeaseIssue, sharedVIM, policy.Wish{Namespaces: []string{member.Project}}),
			q(false, member, policy.LeaseIssue, sharedVIM, policy.Wish{Namespaces: []string{member.Project, "other"}}),
			q(false, member, policy.LeaseIssue, sharedVIM, policy.Wish{Role: "view", ClusterWide: true}),
			q(true, member, policy.LeaseIssue, ownVIM, policy.Wish{Namespaces: []string{"other"}}),
			q(true, admin, policy.LeaseIssue, sharedVIM, policy.Wish{Namespaces: []string{"other"}}),
		},
		"production-is-for-operators": {
			q(false, member, policy.LeaseIssue, ownVIM, policy.Wish{}),
			q(true, operator, policy.LeaseIssue, ownVIM, policy.Wish{}),
			q(true, member, policy.LeaseIssue, sharedVIM, policy.Wish{}),
		},
		"stage-is-kept": {
			q(false, member, policy.VIMUpdate, ownVIM, draft(policy.VIMDraft{LabelsBefore: map[string]string{"stage": "prod"}})),
			q(false, member, policy.VIMRegister, ownProject, draft(policy.VIMDraft{Labels: map[string]string{"stage": "x"}})),
			q(true, member, policy.VIMUpdate, ownVIM, draft(policy.VIMDraft{Labels: map[string]string{"stage": "prod", "a": "b"}, LabelsBefore: map[string]string{"stage": "prod"}})),
			q(true, admin, policy.VIMUpdate, ownVIM, draft(policy.VIMDraft{LabelsBefore: map[string]string{"stage": "prod"}})),
		},
		"verified-only": {
			q(false, admin, policy.VIMRegister, ownProject, draft(policy.VIMDraft{InsecureSkipVerify: true})),
			q(false, admin, policy.VIMUpdate, ownVIM, draft(policy.VIMDraft{PlainHTTP: true})),
			q(true, member, policy.VIMRegister, ownProject, draft(policy.VIMDraft{})),
		},
		"own-domain": {
			q(true, member, policy.VIMRegister, ownProject, draft(policy.VIMDraft{EndpointHost: "edge.vim.example"})),
			q(false, member, policy.VIMRegister, ownProject, draft(policy.VIMDraft{EndpointHost: "vim.example.org"})),
		},
		"vnfms-bring-vims": {
			q(true, vnfm, policy.VIMInline, ownVIM, draft(policy.VIMDraft{Inline: true, EndpointHost: "edge.vim.example"})),
			q(true, vnfm, policy.VIMRegister, ownProject, draft(policy.VIMDraft{Inline: true, EndpointHost: "edge.vim.example"})),
			q(false, vnfm, policy.VIMRegister, ownProject, draft(policy.VIMDraft{EndpointHost: "edge.vim.example"})),
			q(false, vnfm, policy.VIMInline, ownVIM, draft(policy.VIMDraft{Inline: true, EndpointHost: "other.example"})),
			q(false, vnfm, policy.VIMInline, foreignVIM, draft(policy.VIMDraft{Inline: true, EndpointHost: "edge.vim.example"})),
			q(false, admin, policy.VIMInline, ownVIM, draft(policy.VIMDraft{Inline: true, EndpointHost: "edge.vim.example"})),
		},
		"no-sharing": {
			q(false, admin, policy.VIMShare, ownVIM, draft(policy.VIMDraft{Shared: true})),
			q(true, admin, policy.VIMShare, ownVIM, draft(policy.VIMDraft{SharedBefore: true})),
		},
		"auditors-read": {
			q(true, auditor, policy.AuditRead, foreignProject, policy.Wish{}),
			q(false, auditor, policy.VIMShow, ownVIM, policy.Wish{}),
		},
		"robot-only-leases": {
			q(true, robot, policy.LeaseIssue, ownVIM, policy.Wish{}),
			q(false, robot, policy.VIMRegister, ownProject, policy.Wish{}),
			q(false, robot, policy.VIMUpdate, ownVIM, policy.Wish{}),
			q(true, member, policy.VIMUpdate, ownVIM, policy.Wish{}),
		},
		"tacker-north-stays-in-its-namespaces": {
			q(true, client, policy.LeaseIssue, ownVIM, policy.Wish{Role: "edit", Namespaces: []string{"vnf-a"}, TTL: time.Hour}),
			q(false, client, policy.LeaseIssue, ownVIM, policy.Wish{Role: "edit", Namespaces: []string{"vnf-a"}, TTL: 2 * time.Hour}),
			q(false, client, policy.LeaseIssue, ownVIM, policy.Wish{Role: "edit", Namespaces: []string{"vnf-a", "other"}, TTL: time.Hour}),
			q(false, client, policy.LeaseIssue, sharedVIM, policy.Wish{Role: "edit", Namespaces: []string{"vnf-a"}, TTL: time.Hour}),
			q(true, member, policy.LeaseIssue, sharedVIM, policy.Wish{Role: "edit", Namespaces: []string{"other"}, TTL: time.Hour}),
			q(false, client, policy.VIMUpdate, ownVIM, policy.Wish{}),
			q(false, client, policy.VIMRegister, ownProject, policy.Wish{}),
			q(true, client, policy.PackageShow, ownPackage, policy.Wish{}),
		},
	}
	if len(samples) != len(asks) || len(samples) < 10 {
		t.Errorf("the handbook has %d samples, and %d are tried", len(samples), len(asks))
	}
	for id, all := range asks {
		policies := load(t, map[string][]byte{"site.cedar": samples[id]})
		for i, a := range all {
			if a.Action == policy.LeaseIssue || a.Action == policy.LeaseRenew {
				a.Wish.Grade = "bounded"
			}
			if d := policies.Decide(a.Request); d.Allowed != a.want || len(d.Errors) > 0 {
				t.Errorf("sample %s, question %d (%s by %s): %+v, want allowed %t", id, i+1, a.Action, a.Principal.Name, d, a.want)
			}
		}
	}
}

// The policy of docs/heat.md, in place of a built-in one, lets members run VNFs on a cloud of their project, and have no
// unbounded lease otherwise.
func TestPolicyOfHeat(t *testing.T) {
	read := func(name, pattern string) []byte {
		t.Helper()
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		found := regexp.MustCompile(pattern).Find(text)
		if found == nil {
			t.Fatalf("%s has nothing like %s", name, pattern)
		}
		return found
	}
	builtIn := read("default.cedar", `(?s).*`)
	replaced := read("default.cedar", `(?s)@id\("unbounded-leases-need-admin"\).*?};`)
	sample := read("../docs/heat.md", `(?s)@id\("unbounded-leases-need-admin-or-heat"\).*?};`)
	own := bytes.Replace(builtIn, replaced, sample, 1)
	worker := member
	worker.Actor = "system:lifecycle"
	heat := policy.Wish{Purpose: "heat", Grade: "unbounded", TTL: time.Hour}
	for _, c := range []struct {
		name          string
		who           policy.Principal
		on            policy.Resource
		wish          policy.Wish
		before, after bool
	}{
		{"an operation of a member", worker, ownVIM, heat, false, true},
		{"an operation of a member elsewhere", worker, foreignVIM, heat, false, false},
		{"a member himself", member, ownVIM, heat, false, false},
		{"an operation on a cluster", worker, ownVIM, policy.Wish{Grade: "unbounded", TTL: time.Hour}, false, false},
		{"an administrator", admin, ownVIM, heat, true, true},
	} {
		for want, files := range map[*bool]map[string][]byte{&c.before: nil, &c.after: {"default.cedar": own}} {
			d := load(t, files).Decide(policy.Request{Principal: c.who, Action: policy.LeaseIssue, Resource: c.on, Wish: c.wish})
			if d.Allowed != *want || len(d.Errors) > 0 {
				t.Errorf("%s, with the policy of the docs %t: %+v, want allowed %t", c.name, files != nil, d, *want)
			}
		}
	}
}
