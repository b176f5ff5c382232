package policy_test

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/vimbroker/vimbroker/policy"
)

func part(name string) policy.Principal {
	return policy.Principal{Name: "system:" + name, Roles: []string{policy.RoleSystem}}
}

// TestPartsOfTheBroker tries each part of the broker with each action on each kind of
// thing: what is not listed is denied.
func TestPartsOfTheBroker(t *testing.T) {
	policies := load(t, nil)
	type done struct {
		action policy.Action
		kind   policy.Kind
	}
	endsLeases := done{policy.LeaseRevoke, policy.KindLease}
	for name, may := range map[string][]done{
		"reaper":    {endsLeases},
		"targets":   {{policy.LeasePush, policy.KindLease}},
		"check":     {endsLeases, {policy.VIMRotate, policy.KindVIM}},
		"inventory": {endsLeases},
		"drain":     {endsLeases, {policy.VIMDelete, policy.KindVIM}},
		"settle":    {endsLeases, {policy.VIMSettle, policy.KindVIM}, {policy.PackageUpload, policy.KindPackage}},
		"notary":    {{policy.AuditKey, policy.KindProject}},
		"lifecycle": {endsLeases}, // without a caller
		"drift":     {{policy.VIMShow, policy.KindVIM}},
		// Of a VIM that is no cluster's it does nothing but look; of leases it keeps its own.
		"onboard": {{policy.VIMShow, policy.KindVIM}, {policy.VIMShow, policy.KindProject}, {policy.ClusterFollow, policy.KindVIM}},
		"configuration": {
			{policy.VIMShow, policy.KindVIM},
			{policy.VIMShow, policy.KindProject},
			{policy.ClusterEnable, policy.KindVIM},
			{policy.VIMRegister, policy.KindProject},
		},
		"stranger": {},
	} {
		tried := 0
		for _, r := range everyRequest(part(name)) {
			want := slices.Contains(may, done{r.Action, r.Resource.Kind})
			if got := policies.Decide(r).Allowed; got != want {
				t.Errorf("system:%s, %s on a %s: allowed is %t, want %t", name, r.Action, r.Resource.Kind, got, want)
			}
			if want {
				tried++
			}
		}
		if len(may) > 0 && tried == 0 {
			t.Errorf("nothing that system:%s may do was tried", name)
		}
	}
}

// TestDriftOnlyReads: the pass that looks at instances takes leases that read, and no others.
func TestDriftOnlyReads(t *testing.T) {
	policies := load(t, nil)
	vim := policy.Resource{Kind: policy.KindVIM, ID: "v", Project: "core"}
	wish := func(purpose, role string, verbs ...string) policy.Wish {
		return policy.Wish{Purpose: purpose, Role: role, Grade: "unbounded", ClusterWide: true, Rules: policy.LeaseRules{Resources: []string{"secrets"}, Verbs: verbs}}
	}
	for _, c := range []struct {
		wish policy.Wish
		want bool
	}{
		{wish("drift", "", "get", "list"), true},
		{wish("drift", "", "get"), true},
		{wish("drift", "", "get", "watch"), false},
		{wish("drift", "", "get", "patch"), false},
		{wish("drift", "view", "get"), false},
		{wish("", "", "get"), false},
	} {
		if d := policies.Decide(policy.Request{Principal: part("drift"), Action: policy.LeaseIssue, Resource: vim, Wish: c.wish}); d.Allowed != c.want {
			t.Errorf("system:drift, a lease %+v: allowed is %t, want %t", c.wish, d.Allowed, c.want)
		}
	}
}

// TestActorAndCallerMustBothBePermitted tries everything that the life-cycle engine may
// ask for on behalf of callers of each role.
func TestActorAndCallerMustBothBePermitted(t *testing.T) {
	policies := load(t, nil)
	engine := []policy.Action{
		policy.VIMShow, policy.LeaseIssue, policy.LeaseShow, policy.LeaseRenew, policy.LeaseRevoke,
		policy.VNFShow, policy.VNFInstantiate, policy.VNFScale, policy.VNFHeal, policy.VNFUpdate, policy.VNFTerminate, policy.PackageShow, policy.PackageUse,
	}
	allowed := 0
	for _, caller := range []policy.Principal{admin, member, reader, nobody} {
		for _, r := range everyRequest(caller) {
			own := policies.Decide(r).Allowed
			want := own && slices.Contains(engine, r.Action) && r.Resource.Kind != policy.KindProject
			r.Principal.Actor = "system:lifecycle"
			if got := policies.Decide(r).Allowed; got != want {
				t.Errorf("system:lifecycle for %s, %s on %s: allowed is %t, want %t", caller.Name, r.Action, r.Resource.ID, got, want)
			}
			if want {
				allowed++
			}
			r.Principal.Actor = "system:stranger"
			if policies.Decide(r).Allowed {
				t.Errorf("system:stranger may %s %s for %s", r.Action, r.Resource.ID, caller.Name)
			}
		}
	}
	if allowed == 0 {
		t.Error("nothing is allowed on behalf of anyone: the test proves nothing")
	}
}

func TestSitePoliciesSeeTheActor(t *testing.T) {
	policies := load(t, map[string][]byte{"site.cedar": []byte(`
		@id("no-operations-at-edge")
		forbid (principal, action == Action::"lease:issue", resource)
		when { principal.actor == "system:lifecycle" };`)})
	r := policy.Request{Principal: member, Action: policy.LeaseIssue, Resource: ownVIM, Wish: policy.Wish{TTL: time.Hour, Grade: "bounded"}}
	if d := policies.Decide(r); !d.Allowed {
		t.Errorf("the caller herself is denied: %+v", d)
	}
	r.Principal.Actor = "system:lifecycle"
	d := policies.Decide(r)
	if d.Allowed || !slices.Contains(d.Policies, "site.no-operations-at-edge") || !slices.Contains(d.Policies, "system.lifecycle-uses-vims-for-callers") {
		t.Errorf("Decide() = %+v, want the site's denial, and the policy of the actor named beside it", d)
	}
}

func TestWhoActsForWhomIsChecked(t *testing.T) {
	policies := load(t, nil)
	for name, p := range map[string]policy.Principal{
		"an actor that is a caller":   {Name: "alice", Project: "core", Roles: []string{"admin"}, Actor: "bob"},
		"an actor for a part":         {Name: "system:reaper", Roles: []string{"system"}, Actor: "system:lifecycle"},
		"an actor for nobody":         {Project: "core", Roles: []string{"admin"}, Actor: "system:lifecycle"},
		"a caller with a part's role": {Name: "alice", Project: "core", Roles: []string{"admin", "system"}, Actor: "system:lifecycle"},
	} {
		if d := policies.Decide(policy.Request{Principal: p, Action: policy.VIMShow, Resource: ownVIM}); d.Allowed || len(d.Errors) == 0 {
			t.Errorf("%s: Decide() = %+v, want a denial with an error", name, d)
		}
	}
}

// TestNamesAreQualified has callers of three authenticators, whose own name is alice.
func TestNamesAreQualified(t *testing.T) {
	policies := load(t, nil)
	lease := func(owner string) policy.Resource {
		return policy.Resource{Kind: policy.KindLease, ID: "l1", Project: "core", Owner: owner, VIMProject: "ran"}
	}
	caller := func(name string) policy.Principal {
		return policy.Principal{Name: name, Project: "core", Roles: []string{policy.RoleMember}}
	}
	for _, c := range []struct {
		who   policy.Principal
		owner string
		want  bool
	}{
		{caller("alice"), "alice", true},
		{caller("alice"), "keystone:alice", false},
		{caller("keystone:alice"), "alice", false},
		{caller("keystone:alice"), "keystone:alice", true},
		{caller("oidc:alice"), "keystone:alice", false},
		{caller("alice"), "", false},
	} {
		d := policies.Decide(policy.Request{Principal: c.who, Action: policy.LeaseRenew, Resource: lease(c.owner)})
		if d.Allowed != c.want {
			t.Errorf("%s renews a lease of %q: %t, want %t", c.who.Name, c.owner, d.Allowed, c.want)
		}
	}
	site := load(t, map[string][]byte{"site.cedar": []byte(`
		@id("keystone-only")
		forbid (principal, action, resource)
		unless { principal.authenticator == "keystone" };`)})
	for name, want := range map[string]bool{"alice": false, "keystone:alice": true, "oidc:alice": false} {
		if got := site.Decide(policy.Request{Principal: caller(name), Action: policy.VIMShow, Resource: ownVIM}).Allowed; got != want {
			t.Errorf("where only Keystone's callers are let in, %s: %t", name, got)
		}
	}
}

// book is a directory that can be closed.
type book struct {
	*policy.StaticTokens
	closed error
}

func (b *book) Lookup(ctx context.Context, name, project string) (policy.Principal, error) {
	if b.closed != nil {
		return policy.Principal{}, b.closed
	}
	return b.StaticTokens.Lookup(ctx, name, project)
}

func tokensOf(t *testing.T, tokens ...policy.StaticToken) *policy.StaticTokens {
	t.Helper()
	for i := range tokens {
		_, tokens[i].SHA256 = policy.NewToken()
	}
	s, err := policy.NewStaticTokens(tokens)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestResume(t *testing.T) {
	requested := time.Date(2031, 5, 6, 7, 8, 9, 0, time.UTC)
	tokens := tokensOf(t, policy.StaticToken{Name: "alice", Project: "core", Roles: []string{"reader"}})
	static := policy.Delegate(policy.Principal{Name: "alice", Project: "core", Roles: []string{"member"}}, requested)
	cloud := policy.Delegate(policy.Principal{Name: "keystone:alice", Project: "core", Roles: []string{"member"}}, requested)
	gone := policy.Delegate(policy.Principal{Name: "bob", Project: "core", Roles: []string{"admin"}}, requested)
	moved := policy.Delegate(policy.Principal{Name: "alice", Project: "ran", Roles: []string{"admin"}}, requested)
	pass := policy.Delegate(part("reaper"), requested)
	// Neither a part's name nor its role may come from a row, each alone.
	named := policy.Delegate(policy.Principal{Name: "system:reaper", Project: "core", Roles: []string{"member"}}, requested)
	mighty := policy.Delegate(policy.Principal{Name: "keystone:alice", Project: "core", Roles: []string{policy.RoleSystem}}, requested)
	for name, c := range map[string]struct {
		who    policy.Delegation
		after  time.Duration
		hold   time.Duration
		closed error
		roles  []string // nil: it has ended
	}{
		"the roles of now":             {who: static, after: time.Second, roles: []string{"reader"}},
		"the roles of now, days later": {who: static, after: 72 * time.Hour, roles: []string{"reader"}},
		"gone from the file":           {who: gone, after: time.Second},
		"in another project":           {who: moved, after: time.Second},
		"a directory that is closed":   {who: static, after: time.Minute, closed: errors.New("away"), roles: []string{"member"}},
		"one that is closed for long":  {who: static, after: policy.DefaultHold, closed: errors.New("away")},
		"no directory":                 {who: cloud, after: policy.DefaultHold - 1, roles: []string{"member"}},
		"no directory for long":        {who: cloud, after: policy.DefaultHold},
		"no directory, another hold":   {who: cloud, after: policy.DefaultHold, hold: 2 * policy.DefaultHold, roles: []string{"member"}},
		"no directory, a shorter hold": {who: cloud, after: time.Minute, hold: time.Minute},
		"a clock that went back":       {who: cloud, after: -time.Second},
		"a part of the broker":         {who: pass, after: time.Second},
		"a caller named like a part":   {who: named, after: time.Second},
		"a caller with a part's role":  {who: mighty, after: time.Second},
	} {
		d := &policy.Delegates{
			Directories: map[string]policy.Directory{policy.ByStaticToken: &book{tokens, c.closed}},
			Hold:        c.hold,
			Now:         func() time.Time { return requested.Add(c.after) },
		}
		p, err := d.Resume(t.Context(), "system:lifecycle", c.who)
		if c.roles == nil {
			if !errors.Is(err, policy.ErrDelegationEnded) || p.Name != "" {
				t.Errorf("%s: Resume() = %+v, %v; want ErrDelegationEnded", name, p, err)
			}
			if c.closed != nil && !errors.Is(err, c.closed) {
				t.Errorf("%s: Resume() = %v, which does not say why its directory was not asked", name, err)
			}
			continue
		}
		want := policy.Principal{Name: c.who.Name, Project: c.who.Project, Roles: c.roles, Actor: "system:lifecycle", Warrant: p.Warrant}
		if diff := cmp.Diff(want, p); diff != "" || err != nil {
			t.Errorf("%s: Resume() = %v (-want +got):\n%s", name, err, diff)
		}
		if _, err := d.Resume(t.Context(), "bob", c.who); !errors.Is(err, policy.ErrDelegationEnded) {
			t.Errorf("%s: Resume() for an actor that is a caller = %v", name, err)
		}
	}
}

// A caller's roles are those of now where its directory says them, and the claims those of the request. Recorded roles hold for the
// time that is set for the caller, shorter or longer than that of all.
func TestHowLongRecordedRolesHold(t *testing.T) {
	requested := time.Date(2031, 5, 6, 7, 8, 9, 0, time.UTC)
	claims := map[string][]string{"groups": {"core"}}
	tokens := tokensOf(t, policy.StaticToken{Name: "alice", Project: "core", Roles: []string{"reader"}})
	for name, c := range map[string]struct{ hold, own, want time.Duration }{
		"nothing is set": {0, 0, policy.DefaultHold}, "for all": {3 * time.Hour, 0, 3 * time.Hour},
		"longer for the caller": {3 * time.Hour, 8 * time.Hour, 8 * time.Hour}, "shorter for the caller": {3 * time.Hour, time.Minute, time.Minute},
		"for the caller alone": {0, 8 * time.Hour, 8 * time.Hour}, "shorter for the caller alone": {0, time.Minute, time.Minute},
	} {
		now := requested.Add(c.want - 1)
		d := &policy.Delegates{
			Hold: c.hold, Now: func() time.Time { return now }, Directories: map[string]policy.Directory{policy.ByStaticToken: tokens},
			HoldOf: func(caller string) time.Duration {
				if caller != "keystone:alice" {
					return time.Second
				}
				return c.own
			},
		}
		g := policy.Delegate(policy.Principal{Name: "keystone:alice", Project: "core", Roles: []string{"member"}, Claims: claims}, requested)
		want := policy.Principal{
			Name: "keystone:alice", Project: "core", Roles: []string{"member"}, Claims: claims, Actor: "system:lifecycle",
			Warrant: "the roles of the request count until " + requested.Add(c.want).Format(time.RFC3339),
		}
		p, err := d.Resume(t.Context(), "system:lifecycle", g)
		if diff := cmp.Diff(want, p); err != nil || diff != "" || d.Warrant(g) != want.Warrant {
			t.Errorf("%s: Resume() at the last moment = %v, and the warrant is %q (-want +got):\n%s", name, err, d.Warrant(g), diff)
		}
		now = requested.Add(c.want)
		if _, err := d.Resume(t.Context(), "system:lifecycle", g); !errors.Is(err, policy.ErrDelegationEnded) {
			t.Errorf("%s: Resume() at the end = %v, want ErrDelegationEnded", name, err)
		}
		now = requested // at which it would hold
		g = policy.Delegate(policy.Principal{Name: "bob", Project: "core", Roles: []string{"member"}, Claims: claims}, requested)
		if _, err := d.Resume(t.Context(), "system:lifecycle", g); !errors.Is(err, policy.ErrDelegationEnded) {
			t.Errorf("%s: Resume() of a caller whom the directory does not know = %v, want ErrDelegationEnded", name, err)
		}
		g = policy.Delegate(policy.Principal{Name: "alice", Project: "core", Roles: []string{"member"}, Claims: claims}, requested)
		want.Name, want.Roles, want.Warrant = "alice", []string{"reader"}, "the tokens file is asked for the roles before each step"
		if p, err = d.Resume(t.Context(), "system:lifecycle", g); err != nil || !cmp.Equal(want, p) {
			t.Errorf("%s: Resume() of a caller in a directory = %+v, %v, want %+v", name, p, err, want)
		}
	}
}

// TestDelegationIsKept: it is stored, and so are roles that change afterwards in memory.
func TestDelegationIsKept(t *testing.T) {
	p := policy.Principal{Name: "keystone:alice", Project: "core", Roles: []string{"member"}, Claims: map[string][]string{"groups": {"core"}}}
	g := policy.Delegate(p, time.Date(2031, 5, 6, 7, 8, 9, 0, time.UTC))
	p.Roles[0] = "admin"
	text, err := json.Marshal(g)
	if err != nil {
		t.Fatal(err)
	}
	var back policy.Delegation
	if err := json.Unmarshal(text, &back); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(g, back); diff != "" || back.Roles[0] != "member" || back.Claims["groups"] == nil {
		t.Errorf("kept and read again (-want +got):\n%s", diff)
	}
}

// TestVIMsOfRequestsAreKeptNarrowly: what deletes VIMs that came with requests touches no other.
func TestVIMsOfRequestsAreKeptNarrowly(t *testing.T) {
	policies := load(t, nil)
	brought := foreignVIM
	brought.Labels = map[string]string{"vimbroker.io/inline": "true"}
	for _, c := range []struct {
		action policy.Action
		on     policy.Resource
		want   bool
	}{
		{policy.VIMShow, foreignProject, true},
		{policy.VIMShow, brought, true},
		{policy.VIMShow, foreignVIM, false},
		{policy.VIMDelete, brought, true},
		{policy.VIMDelete, foreignVIM, false},
		{policy.VIMForceDelete, brought, false},
		{policy.VIMRetire, brought, false},
		{policy.VIMUpdate, brought, false},
		{policy.LeaseIssue, brought, false},
		{policy.VIMInline, brought, false},
	} {
		if d := policies.Decide(policy.Request{Principal: part("inline"), Action: c.action, Resource: c.on}); d.Allowed != c.want {
			t.Errorf("system:inline, %s on %s: allowed is %t, want %t (%v)", c.action, c.on.Kind, d.Allowed, c.want, d.Errors)
		}
	}
}

// TestOnboardingIsNarrow: of VIMs it keeps those of clusters, and its leases only read.
func TestOnboardingIsNarrow(t *testing.T) {
	policies := load(t, nil)
	cluster := foreignVIM
	cluster.Labels = map[string]string{"vimbroker.io/cluster": "uid"}
	draft := &policy.VIMDraft{Labels: cluster.Labels}
	moved := &policy.VIMDraft{
		Labels:       map[string]string{"vimbroker.io/cluster": "uid", "vimbroker.io/management-cluster": "now"},
		LabelsBefore: map[string]string{"vimbroker.io/cluster": "old", "vimbroker.io/management-cluster": "before"},
	}
	own, others := foreignLease, foreignLease
	own.Owner = "system:onboard"
	rules := func(verbs ...string) policy.Wish {
		return policy.Wish{Purpose: "onboarding", Grade: "namespaces", Rules: policy.LeaseRules{Resources: []string{"secrets"}, Verbs: verbs}}
	}
	for _, c := range []struct {
		action policy.Action
		on     policy.Resource
		wish   policy.Wish
		want   bool
	}{
		{policy.VIMUpdate, cluster, policy.Wish{VIM: draft}, true},
		{policy.VIMUpdate, foreignVIM, policy.Wish{VIM: draft}, false},
		{policy.VIMDelete, cluster, policy.Wish{}, true},
		{policy.VIMRetire, cluster, policy.Wish{}, true},
		{policy.VIMRetire, foreignVIM, policy.Wish{}, false},
		{policy.VIMForceDelete, cluster, policy.Wish{}, false},
		{policy.VIMShare, cluster, policy.Wish{VIM: draft}, false},
		{policy.VIMRegister, foreignProject, policy.Wish{VIM: draft}, true},
		{policy.VIMRegister, foreignProject, policy.Wish{VIM: &policy.VIMDraft{}}, false},
		{policy.VIMLabelReserved, cluster, policy.Wish{VIM: draft}, true},
		{policy.VIMLabelReserved, cluster, policy.Wish{VIM: &policy.VIMDraft{Labels: cluster.Labels, LabelsBefore: map[string]string{"a": "b"}}}, false},
		{policy.VIMLabelReserved, cluster, policy.Wish{VIM: moved}, true},
		{policy.VIMLabelReserved, foreignVIM, policy.Wish{VIM: moved}, false},
		{policy.LeaseIssue, foreignVIM, rules("get", "list", "watch"), true},
		{policy.LeaseIssue, foreignVIM, rules("get", "update"), false},
		{policy.LeaseIssue, foreignVIM, policy.Wish{Purpose: "onboarding", Role: "view"}, false},
		{policy.LeaseRenew, own, policy.Wish{}, true},
		{policy.LeaseRenew, others, policy.Wish{}, false},
		{policy.LeaseRevoke, others, policy.Wish{}, false},
	} {
		d := policies.Decide(policy.Request{Principal: part("onboard"), Action: c.action, Resource: c.on, Wish: c.wish})
		if d.Allowed != c.want {
			t.Errorf("system:onboard, %s on %s %v: allowed is %t, want %t (%v)", c.action, c.on.Kind, c.wish, d.Allowed, c.want, d.Errors)
		}
	}
}

// TestProfilesAreNarrow: VIMs are shown on hubs alone, by leases that write profiles and nothing else.
func TestProfilesAreNarrow(t *testing.T) {
	policies := load(t, nil)
	hub := foreignVIM
	hub.Labels = map[string]string{"vimbroker.io/hub": "true"}
	own := foreignLease
	own.Owner = "system:profiles"
	rules := func(resources ...string) policy.Wish {
		return policy.Wish{Purpose: "profiles", Grade: "unbounded", Rules: policy.LeaseRules{Resources: resources, Verbs: []string{"patch"}}}
	}
	profiles := rules("clusterprofiles.multicluster.x-k8s.io", "clusterprofiles/status.multicluster.x-k8s.io")
	wide := profiles
	wide.ClusterWide = true
	for _, c := range []struct {
		action policy.Action
		on     policy.Resource
		wish   policy.Wish
		want   bool
	}{
		{policy.LeaseIssue, hub, profiles, true},
		{policy.LeaseIssue, foreignVIM, profiles, false},
		{policy.LeaseIssue, hub, rules("secrets"), false},
		{policy.LeaseIssue, hub, wide, false},
		{policy.LeaseIssue, hub, policy.Wish{Purpose: "profiles", Role: "edit"}, false},
		{policy.LeaseRevoke, own, policy.Wish{}, true},
		{policy.LeaseRevoke, foreignLease, policy.Wish{}, false},
		{policy.LeaseRenew, own, policy.Wish{}, false},
		{policy.VIMShow, foreignVIM, policy.Wish{}, true},
		{policy.VIMUpdate, hub, policy.Wish{VIM: &policy.VIMDraft{}}, false},
	} {
		d := policies.Decide(policy.Request{Principal: part("profiles"), Action: c.action, Resource: c.on, Wish: c.wish})
		if d.Allowed != c.want {
			t.Errorf("system:profiles, %s on %s %v: allowed is %t, want %t (%v)", c.action, c.on.Kind, c.wish, d.Allowed, c.want, d.Errors)
		}
	}
}

// TestLinksAreSettled: the part that settles virtual links makes and removes them, and has pods have ports on them; no other does.
func TestLinksAreSettled(t *testing.T) {
	policies := load(t, nil)
	link := policy.Resource{Kind: policy.KindLink, ID: "l1", Project: "ran", Name: "lan", VIMType: "openstack"}
	for action, want := range map[policy.Action]bool{
		policy.LinkCreate: true, policy.LinkUse: true, policy.LinkDelete: true, policy.LinkAdopt: false,
	} {
		for _, name := range []string{"links", "lifecycle"} {
			r := policy.Request{Principal: part(name), Action: action, Resource: link}
			if got := policies.Decide(r).Allowed; got != (want && name == "links") {
				t.Errorf("system:%s, %s: allowed is %t", name, action, got)
			}
		}
	}
}
