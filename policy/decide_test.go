package policy_test

import (
	"math"
	"slices"
	"testing"
	"time"

	"github.com/vimbroker/vimbroker/policy"
)

var (
	admin  = policy.Principal{Name: "root", Project: "infra", Roles: []string{policy.RoleAdmin}}
	member = policy.Principal{Name: "alice", Project: "core", Roles: []string{policy.RoleMember}}
	reader = policy.Principal{Name: "rita", Project: "core", Roles: []string{policy.RoleReader}}
	nobody = policy.Principal{Name: "norma", Project: "core", Roles: []string{"auditor"}}
	reaper = policy.Principal{Name: "system:reaper", Roles: []string{policy.RoleSystem}}

	ownProject     = policy.Resource{Kind: policy.KindProject, ID: "core", Project: "core"}
	foreignProject = policy.Resource{Kind: policy.KindProject, ID: "ran", Project: "ran"}

	ownVIM     = policy.Resource{Kind: policy.KindVIM, ID: "v1", Project: "core", VIMName: "edge-1", VIMType: "kubernetes", Labels: map[string]string{"stage": "prod"}}
	foreignVIM = policy.Resource{Kind: policy.KindVIM, ID: "v2", Project: "ran", VIMName: "edge-1", VIMType: "kubernetes"}
	sharedVIM  = policy.Resource{Kind: policy.KindVIM, ID: "v3", Project: "ran", VIMName: "hub", VIMType: "kubernetes", Shared: true}

	ownLease       = policy.Resource{Kind: policy.KindLease, ID: "l1", Project: "core", Owner: "alice", VIMProject: "ran"}
	colleagueLease = policy.Resource{Kind: policy.KindLease, ID: "l2", Project: "core", Owner: "bob", VIMProject: "ran"}
	// Somebody of another project leased a VIM of ours, which is or was shared.
	lentLease = policy.Resource{Kind: policy.KindLease, ID: "l3", Project: "ran", Owner: "carol", VIMProject: "core"}
	// The same person took this one while acting in another project.
	foreignLease = policy.Resource{Kind: policy.KindLease, ID: "l4", Project: "ran", Owner: "alice", VIMProject: "ran"}

	ownVNF         = policy.Resource{Kind: policy.KindVNFInstance, ID: "i1", Project: "core", Name: "web", Owner: "bob", VNFDID: "d1"}
	foreignVNF     = policy.Resource{Kind: policy.KindVNFInstance, ID: "i2", Project: "ran", Name: "web", Owner: "alice", VNFDID: "d1"}
	ownPackage     = policy.Resource{Kind: policy.KindPackage, ID: "p1", Project: "core", Provider: "acme", Product: "web", Version: "1.0", Labels: map[string]string{"stage": "prod"}}
	foreignPackage = policy.Resource{Kind: policy.KindPackage, ID: "p2", Project: "ran", Provider: "acme", Product: "web", Version: "1.0"}
)

func load(t testing.TB, site map[string][]byte) *policy.Policies {
	t.Helper()
	p, err := policy.Load(site)
	if err != nil {
		t.Fatalf("Load() = %v", err)
	}
	return p
}

type rule struct {
	want    bool
	who     policy.Principal
	action  policy.Action
	subject policy.Resource
}

func allow(who policy.Principal, action policy.Action, subject policy.Resource) rule {
	return rule{true, who, action, subject}
}

func deny(who policy.Principal, action policy.Action, subject policy.Resource) rule {
	return rule{false, who, action, subject}
}

func TestDefaultPolicies(t *testing.T) {
	policies := load(t, nil)
	for _, r := range []rule{
		allow(admin, policy.VIMRegister, foreignProject),
		allow(admin, policy.VIMShow, foreignVIM),
		allow(admin, policy.VIMShare, foreignVIM),
		allow(admin, policy.VIMForceDelete, foreignVIM),
		allow(admin, policy.VIMSettle, foreignVIM),
		allow(admin, policy.LeaseIssue, foreignVIM),
		allow(admin, policy.LeaseRevoke, foreignLease),
		allow(admin, policy.AuditRead, foreignProject),
		allow(admin, policy.PolicyExplain, foreignProject),
		allow(admin, policy.TokenList, foreignProject),
		deny(admin, policy.LeasePassThrough, foreignVIM),

		allow(member, policy.VIMRegister, ownProject),
		allow(member, policy.VIMShow, ownProject),
		allow(member, policy.LeaseShow, ownProject),
		allow(member, policy.AuditRead, ownProject),
		deny(member, policy.PolicyExplain, ownProject),
		deny(member, policy.TokenList, ownProject),
		deny(member, policy.VIMRegister, foreignProject),
		deny(member, policy.AuditRead, foreignProject),

		allow(member, policy.VIMShow, ownVIM),
		allow(member, policy.VIMUpdate, ownVIM),
		allow(member, policy.VIMRotate, ownVIM),
		allow(member, policy.VIMCheck, ownVIM),
		allow(member, policy.VIMDelete, ownVIM),
		allow(member, policy.VIMInventory, ownVIM),
		allow(member, policy.LeaseIssue, ownVIM),
		allow(member, policy.LeaseRevoke, ownVIM),
		deny(member, policy.LeasePassThrough, ownVIM),
		deny(member, policy.VIMForceDelete, ownVIM),
		deny(member, policy.VIMShare, ownVIM),
		deny(member, policy.VIMInline, ownVIM), deny(admin, policy.VIMInline, ownVIM),
		deny(member, policy.VIMSettle, ownVIM),

		allow(member, policy.VIMShow, sharedVIM),
		allow(member, policy.LeaseIssue, sharedVIM),
		deny(member, policy.VIMUpdate, sharedVIM),
		deny(member, policy.VIMCheck, sharedVIM),
		deny(member, policy.VIMDelete, sharedVIM),
		deny(member, policy.VIMInventory, sharedVIM),
		deny(member, policy.LeaseRevoke, sharedVIM),

		allow(member, policy.LeaseShow, ownLease),
		allow(member, policy.LeaseRenew, ownLease),
		allow(member, policy.LeaseRevoke, ownLease),
		allow(member, policy.LeaseShow, colleagueLease),
		deny(member, policy.LeaseRenew, colleagueLease),
		deny(member, policy.LeaseRevoke, colleagueLease),
		allow(member, policy.LeaseShow, lentLease),
		allow(member, policy.LeaseRevoke, lentLease),
		deny(member, policy.LeaseRenew, lentLease),

		allow(member, policy.PackageCreate, ownProject),
		allow(member, policy.PackageShow, ownProject),
		allow(member, policy.PackageUpload, ownPackage),
		allow(member, policy.PackageModify, ownPackage),
		allow(member, policy.PackageDelete, ownPackage),
		allow(member, policy.PackageUse, ownPackage),
		deny(member, policy.PackageCreate, foreignProject),
		deny(member, policy.PackageShow, foreignPackage),

		allow(reader, policy.PackageShow, ownProject),
		allow(reader, policy.PackageShow, ownPackage),
		deny(reader, policy.PackageUpload, ownPackage),
		deny(reader, policy.PackageUse, ownPackage),
		allow(reader, policy.VIMShow, ownProject),
		allow(reader, policy.VIMShow, ownVIM),
		allow(reader, policy.VIMShow, sharedVIM),
		allow(reader, policy.LeaseShow, ownLease),
		deny(reader, policy.AuditRead, ownProject),
		deny(reader, policy.VIMCheck, ownVIM),
		deny(reader, policy.LeaseIssue, ownVIM),
		deny(reader, policy.LeaseRevoke, ownLease),

		allow(member, policy.ClusterShow, ownProject),
		allow(reader, policy.ClusterShow, ownVIM),
		deny(member, policy.ClusterShow, foreignVIM),
		deny(member, policy.ClusterEnable, ownVIM),
		deny(member, policy.VIMRetire, ownVIM),

		deny(nobody, policy.VIMShow, ownVIM),

		allow(member, policy.VNFCreate, ownProject),
		deny(member, policy.VNFCreate, foreignProject),
		allow(member, policy.VNFInstantiate, ownVNF),
		allow(member, policy.VNFTerminate, ownVNF),
		allow(member, policy.VNFRollback, ownVNF),
		allow(member, policy.VNFDelete, ownVNF),
		deny(member, policy.VNFScale, foreignVNF),
		allow(reader, policy.VNFShow, ownVNF),
		allow(reader, policy.VNFShow, ownProject),
		deny(reader, policy.VNFHeal, ownVNF),
		deny(reader, policy.VNFCreate, ownProject),

		allow(reaper, policy.LeaseRevoke, foreignLease),
		deny(reaper, policy.VIMCheck, foreignVIM),
		deny(reaper, policy.VIMDelete, foreignVIM),
		deny(reaper, policy.VIMSettle, foreignVIM),
		deny(reaper, policy.LeaseIssue, foreignVIM),
		deny(reaper, policy.LeaseRenew, foreignLease),
		deny(reaper, policy.LeasePassThrough, foreignVIM),
		deny(reaper, policy.VIMForceDelete, foreignVIM),
		deny(reaper, policy.AuditRead, foreignProject),
	} {
		d := policies.Decide(policy.Request{Principal: r.who, Action: r.action, Resource: r.subject, Wish: policy.Wish{Grade: "bounded"}})
		if d.Allowed != r.want || len(d.Errors) > 0 {
			t.Errorf("Decide(%s, %s, %s %s) = %+v, want allowed %v", r.who.Name, r.action, r.subject.Kind, r.subject.ID, d, r.want)
		}
	}
}

// everyRequest asks everything of everyone: each action on each resource.
func everyRequest(who ...policy.Principal) []policy.Request {
	var requests []policy.Request
	for _, p := range who {
		for _, action := range []policy.Action{
			policy.VIMRegister, policy.VIMShow, policy.VIMUpdate, policy.VIMRotate, policy.VIMCheck, policy.VIMDelete,
			policy.VIMForceDelete, policy.VIMRetire, policy.VIMShare, policy.VIMInventory, policy.VIMSettle, policy.LeaseIssue,
			policy.LeasePassThrough, policy.LeaseShow, policy.LeaseRenew, policy.LeasePush, policy.LeaseRevoke, policy.AuditRead, policy.AuditKey, policy.TokenList, policy.PolicyExplain,
			policy.VNFCreate, policy.VNFShow, policy.VNFModify, policy.VNFDelete, policy.VNFInstantiate, policy.VNFScale, policy.VNFHeal,
			policy.VNFUpdate, policy.VNFTerminate, policy.VNFRetry, policy.VNFRollback, policy.VNFFail, policy.VNFCancel,
			policy.ClusterEnable, policy.ClusterShow, policy.ClusterFollow,
			policy.PackageCreate, policy.PackageShow, policy.PackageUpload, policy.PackageModify, policy.PackageDelete, policy.PackageUse,
		} {
			for _, subject := range []policy.Resource{
				ownProject, foreignProject, ownVIM, foreignVIM, sharedVIM, ownLease, colleagueLease, lentLease, foreignLease,
				ownVNF, foreignVNF, ownPackage, foreignPackage,
			} {
				for _, ttl := range []time.Duration{0, time.Hour} {
					requests = append(requests, policy.Request{
						Principal: p, Action: action, Resource: subject, Wish: policy.Wish{TTL: ttl, Role: "edit", Grade: "bounded"},
					})
				}
			}
		}
	}
	return requests
}

func TestForeignThingsAreForAdminsOnly(t *testing.T) {
	policies := load(t, nil)
	both := policy.Principal{Name: "alice", Project: "core", Roles: []string{policy.RoleMember, policy.RoleReader}}
	foreign := []string{foreignProject.ID, foreignVIM.ID, foreignLease.ID, foreignVNF.ID, foreignPackage.ID}
	for _, r := range everyRequest(both, member, reader, nobody) {
		if slices.Contains(foreign, r.Resource.ID) && policies.Decide(r).Allowed {
			t.Errorf("%s may %s the foreign %s", r.Principal.Name, r.Action, r.Resource.Kind)
		}
	}
}

// TestBrokenForbidDenies: Cedar skips a policy that fails, so that a broken forbid
// would allow; here it denies, and says why.
func TestBrokenForbidDenies(t *testing.T) {
	sound := load(t, nil)
	broken := load(t, map[string][]byte{"site.cedar": []byte(`
		@id("no-long-leases")
		forbid (principal, action == Action::"lease:issue", resource)
		when { context.ttlSeconds * 9223372036854775807 > 0 };`)})
	for _, r := range everyRequest(admin, member, reader, nobody, reaper) {
		got, was := broken.Decide(r), sound.Decide(r)
		if got.Allowed && !was.Allowed {
			t.Errorf("a broken forbid allows %s to %s %s", r.Principal.Name, r.Action, r.Resource.ID)
		}
	}
	r := policy.Request{Principal: member, Action: policy.LeaseIssue, Resource: ownVIM, Wish: policy.Wish{TTL: time.Hour, Grade: "bounded"}}
	if d := broken.Decide(r); d.Allowed || len(d.Errors) != 1 || len(d.Policies) == 0 {
		t.Errorf("Decide() = %+v, want a denial with the permit that matched and the error of site.no-long-leases", d)
	}
}

func TestSitePoliciesDoNotReachPasses(t *testing.T) {
	plain := load(t, nil)
	for name, text := range map[string]string{
		"permit": `@id("all") permit (principal, action, resource);`,
		"forbid": `@id("all") forbid (principal, action, resource);`,
	} {
		site := load(t, map[string][]byte{"site.cedar": []byte(text)})
		for _, r := range everyRequest(reaper) {
			if got, want := site.Decide(r).Allowed, plain.Decide(r).Allowed; got != want {
				t.Errorf("with a site's %s: Decide(%s, %s) = %v, want %v", name, r.Action, r.Resource.ID, got, want)
			}
		}
	}
}

func TestWhatIsNoRequestIsDeniedWithAnError(t *testing.T) {
	policies := load(t, map[string][]byte{"site.cedar": []byte(`@id("all") permit (principal, action, resource);`)})
	for name, r := range map[string]policy.Request{
		"a caller with the system's role": {Principal: policy.Principal{Name: "eve", Project: "core", Roles: []string{"system"}}, Action: policy.VIMCheck, Resource: ownVIM},
		"a caller with a pass's name":     {Principal: policy.Principal{Name: "system:reaper", Project: "core", Roles: []string{"admin"}}, Action: policy.VIMCheck, Resource: ownVIM},
		"no project":                      {Principal: policy.Principal{Name: "eve", Roles: []string{"admin"}}, Action: policy.VIMCheck, Resource: ownVIM},
		"no name":                         {Principal: policy.Principal{Project: "core", Roles: []string{"admin"}}, Action: policy.VIMCheck, Resource: ownVIM},
		"no action":                       {Principal: admin, Resource: ownVIM},
		"an unknown action":               {Principal: admin, Action: "vim:explode", Resource: ownVIM},
		"an action on another kind":       {Principal: admin, Action: policy.LeaseRenew, Resource: ownVIM},
		"no resource":                     {Principal: admin, Action: policy.VIMShow},
	} {
		if d := policies.Decide(r); d.Allowed || len(d.Errors) == 0 {
			t.Errorf("%s: Decide() = %+v, want a denial with an error", name, d)
		}
	}
}

func TestSitePoliciesWeighTheWish(t *testing.T) {
	policies := load(t, map[string][]byte{"limits.cedar": []byte(`
		@id("an-hour-in-prod")
		forbid (principal, action == Action::"lease:issue", resource is VIM)
		when { resource.hasTag("stage") && resource.getTag("stage") == "prod" && context.ttlSeconds > 3600 };

		@id("cluster-admin-needs-namespaces")
		forbid (principal, action == Action::"lease:issue", resource)
		when { context.role == "cluster-admin" && context.namespaces.isEmpty() };

		@id("old-clusters-pass-through")
		permit (principal == Principal::"alice", action == Action::"lease:pass-through", resource == VIM::"v1")
		when { context.purpose like "migration*" };`)})
	for name, test := range map[string]struct {
		action policy.Action
		wish   policy.Wish
		want   bool
		by     string
	}{
		"an hour":                 {policy.LeaseIssue, policy.Wish{TTL: time.Hour}, true, "default.members-lease-vims"},
		"a little more":           {policy.LeaseIssue, policy.Wish{TTL: time.Hour + 1}, false, "limits.an-hour-in-prod"},
		"cluster-admin":           {policy.LeaseIssue, policy.Wish{Role: "cluster-admin"}, false, "limits.cluster-admin-needs-namespaces"},
		"cluster-admin, bounded":  {policy.LeaseIssue, policy.Wish{Role: "cluster-admin", Namespaces: []string{"a"}}, true, "default.members-lease-vims"},
		"pass-through as allowed": {policy.LeasePassThrough, policy.Wish{Purpose: "migration of 12"}, true, "limits.old-clusters-pass-through"},
		"pass-through otherwise":  {policy.LeasePassThrough, policy.Wish{}, false, ""},
	} {
		test.wish.Grade = "bounded"
		d := policies.Decide(policy.Request{Principal: member, Action: test.action, Resource: ownVIM, Wish: test.wish})
		var want []string
		if test.by != "" {
			want = []string{test.by}
		}
		if d.Allowed != test.want || !slices.Equal(d.Policies, want) || d.Errors != nil {
			t.Errorf("%s: Decide() = %+v, want %v by %v", name, d, test.want, want)
		}
	}
}

func BenchmarkDecide(b *testing.B) {
	policies := load(b, nil)
	r := policy.Request{Principal: member, Action: policy.LeaseIssue, Resource: ownVIM, Wish: policy.Wish{TTL: time.Hour, Role: "edit", Namespaces: []string{"cnf"}, Grade: "namespaces"}}
	b.ReportAllocs()
	for b.Loop() {
		if d := policies.Decide(r); !d.Allowed {
			b.Fatalf("Decide() = %+v, want allowed", d)
		}
	}
}

// No TTL is so long that a limit lets it pass, and none is rounded down.
func TestTheLongestTTLPassesNoLimit(t *testing.T) {
	policies := load(t, map[string][]byte{"site.cedar": []byte(`
		@id("short") forbid (principal, action == Action::"lease:issue", resource is VIM) when { context.ttlSeconds > 900 };`)})
	for ttl, want := range map[time.Duration]bool{
		15 * time.Minute: true, 15*time.Minute + 1: false, math.MaxInt64: false, math.MaxInt64 - 999_999_999: false,
	} {
		d := policies.Decide(policy.Request{Principal: member, Action: policy.LeaseIssue, Resource: ownVIM, Wish: policy.Wish{TTL: ttl, Grade: "bounded"}})
		if d.Allowed != want {
			t.Errorf("a lease of %v under a limit of 900 s: allowed %t, want %t", ttl, d.Allowed, want)
		}
	}
}

// A draft of plain HTTP is seen as such.
func TestADraftOfPlainHTTPCanBeForbidden(t *testing.T) {
	policies := load(t, map[string][]byte{"site.cedar": []byte(`
		@id("tls") forbid (principal, action == Action::"vim:register", resource) when { context.plainHTTP };`)})
	for _, plain := range []bool{true, false} {
		d := policies.Decide(policy.Request{Principal: member, Action: policy.VIMRegister, Resource: ownProject, Wish: policy.Wish{VIM: &policy.VIMDraft{PlainHTTP: plain}}})
		if d.Allowed == plain {
			t.Errorf("plain HTTP %t: allowed %t", plain, d.Allowed)
		}
	}
}

// An administrator of a project is none of another.
func TestAdministratorsOfAProject(t *testing.T) {
	policies := load(t, nil)
	chief := policy.Principal{Name: "keystone:c@d", Project: "core", Roles: []string{policy.RoleProjectAdmin}}
	for _, r := range []rule{
		allow(chief, policy.VIMShare, ownVIM),
		allow(chief, policy.VIMForceDelete, ownVIM),
		allow(chief, policy.VIMLabelReserved, ownVIM),
		allow(chief, policy.AuditRead, ownProject),
		allow(chief, policy.TokenList, ownProject),
		allow(chief, policy.LeaseIssue, sharedVIM),
		allow(chief, policy.LeaseRevoke, lentLease),
		deny(chief, policy.LeasePassThrough, ownVIM),
		deny(chief, policy.VIMUpdate, sharedVIM),
		deny(chief, policy.LeaseRenew, lentLease),
		deny(chief, policy.LeasePush, ownLease),
	} {
		if d := policies.Decide(policy.Request{Principal: r.who, Action: r.action, Resource: r.subject, Wish: policy.Wish{Grade: "bounded"}}); d.Allowed != r.want {
			t.Errorf("%s on %s %s: %+v, want allowed %t", r.action, r.subject.Kind, r.subject.ID, d, r.want)
		}
	}
	for _, r := range everyRequest(chief) {
		if slices.Contains([]string{foreignProject.ID, foreignVIM.ID, foreignLease.ID, foreignPackage.ID}, r.Resource.ID) && policies.Decide(r).Allowed {
			t.Errorf("an administrator of another project may %s the foreign %s", r.Action, r.Resource.Kind)
		}
	}
}

// TestWidePlansNeedAnAdministrator: what reaches beyond an instance's namespaces.
func TestWidePlansNeedAnAdministrator(t *testing.T) {
	policies := load(t, nil)
	chief := policy.Principal{Name: "pat", Project: "core", Roles: []string{policy.RoleProjectAdmin}}
	for name, plan := range map[string]policy.OperationPlan{
		"cluster-scoped": {ClusterScoped: true},
		"privileged":     {Privileged: true},
		"RBAC":           {BringsRBAC: true},
		"definitions":    {BringsDefinitions: true},
		"webhooks":       {BringsWebhooks: true},
		"a node":         {Reaches: []string{"unknown", "node"}},
		"a network":      {Reaches: []string{"network"}},
		"the cluster":    {Reaches: []string{"cluster"}},
		"rights":         {Reaches: []string{"rbac"}},
		"kinds":          {Reaches: []string{"definitions"}},
		"others' writes": {Reaches: []string{"webhooks"}},
	} {
		for _, c := range []struct {
			who        policy.Principal
			vimProject string
			want       bool
		}{{member, "core", false}, {chief, "core", true}, {chief, "ran", false}, {admin, "ran", true}} {
			plan.VIMProject = c.vimProject
			r := policy.Request{Principal: c.who, Resource: ownVNF, Wish: policy.Wish{Plan: &plan}}
			for _, r.Action = range []policy.Action{policy.VNFInstantiate, policy.VNFScale, policy.VNFHeal, policy.VNFUpdate} {
				if d := policies.Decide(r); d.Allowed != c.want || len(d.Errors) > 0 {
					t.Errorf("%s, %s on a VIM of %s: %s is %+v, want allowed %t", name, c.who.Name, c.vimProject, r.Action, d, c.want)
				}
			}
			r.Action = policy.VNFTerminate
			if !policies.Decide(r).Allowed {
				t.Errorf("%s: %s may not terminate", name, c.who.Name)
			}
		}
	}
}

// TestWhatIsUnknownIsForOwnVIMs: members use kinds that nobody here knows on VIMs of their project.
func TestWhatIsUnknownIsForOwnVIMs(t *testing.T) {
	policies := load(t, nil)
	for project, want := range map[string]bool{"core": true, "ran": false} {
		plan := policy.OperationPlan{VIMProject: project, Reaches: []string{"unknown"}, PodSecurity: "restricted"}
		r := policy.Request{Principal: member, Action: policy.VNFInstantiate, Resource: ownVNF, Wish: policy.Wish{Plan: &plan}}
		if d := policies.Decide(r); d.Allowed != want || len(d.Errors) > 0 {
			t.Errorf("an unknown kind on a VIM of %s: %+v, want allowed %t", project, d, want)
		}
	}
}

// Members' leases are bounded in what their holders can become, in where they write, and
// by no name of a role.
func TestLeasesAreBoundedByDefault(t *testing.T) {
	policies := load(t, nil)
	chief := policy.Principal{Name: "chief", Project: "core", Roles: []string{policy.RoleProjectAdmin}}
	rules := func(verbs ...string) policy.LeaseRules {
		return policy.LeaseRules{Resources: []string{"configmaps"}, Verbs: verbs}
	}
	const bounded, namespaces, unbounded = "bounded", "namespaces", "unbounded"
	kubeSystem := []string{"web", "kube-system"}
	for _, c := range []struct {
		what           string
		wish           policy.Wish
		member, chief  bool
		foreignToChief bool // allowed to the chief on a VIM of another project
	}{
		{"edit in a namespace", policy.Wish{Role: "edit", Namespaces: []string{"web"}, Grade: namespaces}, true, true, true},
		{"no grade", policy.Wish{Role: "view"}, false, false, false},
		{"a grade that nobody knows", policy.Wish{Role: "view", Grade: "wide"}, false, false, false},
		{"unbounded", policy.Wish{Role: "edit", Grade: unbounded}, false, false, false},
		{"a harmless name that is unbounded", policy.Wish{Role: "reader", Namespaces: []string{"web"}, Grade: unbounded}, false, false, false},
		{"view everywhere", policy.Wish{Role: "view", ClusterWide: true, Grade: bounded}, true, true, true},
		{"rules that read everywhere", policy.Wish{Rules: rules("get", "list", "watch"), ClusterWide: true, Grade: bounded}, true, true, true},
		{"rules that write everywhere", policy.Wish{Rules: rules("get", "update"), ClusterWide: true, Grade: bounded}, false, true, false},
		{"a role of the cluster's own everywhere", policy.Wish{Role: "config-keeper", ClusterWide: true, Grade: bounded}, false, true, false},
		{"rules that write in a namespace", policy.Wish{Rules: rules("update"), Namespaces: []string{"web"}, Grade: bounded}, true, true, true},
		{"view in kube-system", policy.Wish{Role: "view", Namespaces: kubeSystem, Grade: bounded}, true, true, true},
		{"rules that read in kube-system", policy.Wish{Rules: rules("get"), Namespaces: kubeSystem, Grade: bounded}, true, true, true},
		{"rules that write in kube-system", policy.Wish{Rules: rules("patch"), Namespaces: kubeSystem, Grade: bounded}, false, true, false},
		{"a role in kube-public", policy.Wish{Role: "edit", Namespaces: []string{"kube-public"}, Grade: namespaces}, false, true, false},
		{"a role in kube-node-lease", policy.Wish{Role: "edit", Namespaces: []string{"kube-node-lease"}, Grade: namespaces}, false, true, false},
		{"roles of a cloud", policy.Wish{Role: "member,reader", Grade: bounded}, true, true, true},
	} {
		for _, ask := range []struct {
			who  policy.Principal
			on   policy.Resource
			want bool
		}{
			{member, ownVIM, c.member},
			{member, sharedVIM, c.member},
			{chief, ownVIM, c.chief},
			{chief, sharedVIM, c.foreignToChief},
			{admin, ownVIM, true},
			{admin, foreignVIM, true},
		} {
			d := policies.Decide(policy.Request{Principal: ask.who, Action: policy.LeaseIssue, Resource: ask.on, Wish: c.wish})
			if d.Allowed != ask.want || len(d.Errors) > 0 {
				t.Errorf("%s, for %s on %s: %+v, want allowed %t", c.what, ask.who.Name, ask.on.ID, d, ask.want)
			}
		}
	}
}

func TestSitePoliciesWeighPackages(t *testing.T) {
	policies := load(t, map[string][]byte{"packages.cedar": []byte(`
		@id("known-providers")
		forbid (principal, action == Action::"package:upload", resource is Package)
		when { resource.provider != "" && resource.provider != "acme" };
		@id("signed-for-prod")
		forbid (principal, action == Action::"package:use", resource is Package)
		when { resource.hasTag("stage") && resource.getTag("stage") == "prod" }
		unless { resource.signed && resource.signer == "CN=release" };
		@id("no-tests-in-use")
		forbid (principal, action == Action::"package:use", resource is Package)
		when { resource.hasTag("stage") && resource.getTag("stage") == "test" };`)})
	other, test := ownPackage, ownPackage
	other.Provider = "other"
	test.Labels = map[string]string{"stage": "test"}
	signed := ownPackage
	signed.Signer = "CN=release"
	for _, r := range []rule{
		allow(member, policy.PackageUpload, ownPackage),
		deny(admin, policy.PackageUpload, other),
		allow(member, policy.PackageUse, signed),
		deny(member, policy.PackageUse, ownPackage),
		deny(member, policy.PackageUse, test),
	} {
		if d := policies.Decide(policy.Request{Principal: r.who, Action: r.action, Resource: r.subject}); d.Allowed != r.want || len(d.Errors) > 0 {
			t.Errorf("Decide(%s, %s, %+v) = %+v, want allowed %v", r.who.Name, r.action, r.subject, d, r.want)
		}
	}
}
