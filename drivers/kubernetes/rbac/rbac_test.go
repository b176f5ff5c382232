package rbac

import (
	"os"
	"slices"
	"strings"
	"testing"

	rbacv1 "k8s.io/api/rbac/v1"
	"sigs.k8s.io/yaml"
)

const vim = "0123abcd-0000-4000-8000-000000000000"

// documents parses a manifest strictly.
func documents(t *testing.T, o Options) []rbacv1.ClusterRole {
	t.Helper()
	text, err := Manifest(o)
	if err != nil {
		t.Fatal(err)
	}
	var out []rbacv1.ClusterRole
	for d := range strings.SplitSeq(text, "\n---\n") {
		var any map[string]any
		if err := yaml.UnmarshalStrict([]byte(d), &any); err != nil {
			t.Fatalf("%v in\n%s", err, d)
		}
		if any == nil {
			continue // the comment
		}
		var role rbacv1.ClusterRole // a Role has the same fields
		if err := yaml.Unmarshal([]byte(d), &role); err != nil || role.Kind == "" || role.Name == "" {
			t.Fatalf("%v in\n%s", err, d)
		}
		out = append(out, role)
	}
	return out
}

func kinds(docs []rbacv1.ClusterRole) []string {
	var out []string
	for _, d := range docs {
		out = append(out, strings.TrimPrefix(d.Kind+" "+d.Namespace+"/"+d.Name, " "))
	}
	return out
}

// allows reports whether a rule of the documents allows it, in a namespace or, without one, on the
// whole cluster.
func allows(docs []rbacv1.ClusterRole, namespace, verb, resource, name string) bool {
	for _, d := range docs {
		if d.Namespace != namespace {
			continue
		}
		for _, r := range d.Rules {
			if slices.Contains(r.Verbs, verb) && slices.Contains(r.Resources, resource) && (len(r.ResourceNames) == 0 || slices.Contains(r.ResourceNames, name)) {
				return true
			}
		}
	}
	return false
}

func TestTheFileInDeployIsTheManifest(t *testing.T) {
	const file = "../../../deploy/kubernetes-rbac.yaml"
	want, err := Manifest(Options{Profile: Engine, Roles: []string{"view", "edit", "admin"}})
	if err != nil {
		t.Fatal(err)
	}
	if got, err := os.ReadFile(file); err != nil || string(got) != want {
		t.Errorf("%s is not what vimbroker vim rbac --for engine prints: %v", file, err)
	}
}

func TestManagedAndPrepared(t *testing.T) {
	roles := []string{"view", "edit"}
	managed := documents(t, Options{Profile: Leases, Roles: roles})
	if got, want := kinds(managed), []string{
		"Namespace /vimbroker-system", "ServiceAccount vimbroker-system/vimbroker",
		"ClusterRole /vimbroker-broker", "ClusterRoleBinding /vimbroker-broker",
	}; !slices.Equal(got, want) {
		t.Errorf("managed mode makes %q, want %q", got, want)
	}
	prepared := documents(t, Options{Profile: Leases, VIM: vim, User: "alice", Roles: roles, Pool: 2, Namespaces: []string{"shop"}})
	if got, want := kinds(prepared), []string{
		"ClusterRole /vimbroker-broker-0123abcd", "ClusterRoleBinding /vimbroker-broker-0123abcd",
		"Namespace /vimbroker-0123abcd-1", "Role vimbroker-0123abcd-1/vimbroker-broker-0123abcd", "RoleBinding vimbroker-0123abcd-1/vimbroker-broker-0123abcd",
		"Namespace /vimbroker-0123abcd-2", "Role vimbroker-0123abcd-2/vimbroker-broker-0123abcd", "RoleBinding vimbroker-0123abcd-2/vimbroker-broker-0123abcd",
		"Role shop/vimbroker-broker-0123abcd", "RoleBinding shop/vimbroker-broker-0123abcd",
	}; !slices.Equal(got, want) {
		t.Errorf("prepared mode makes %q, want %q", got, want)
	}
	for _, d := range prepared {
		if got := d.Labels["vimbroker.io/vim"]; d.Kind == "Namespace" && got != vim {
			t.Errorf("namespace %s is labelled as VIM %q's, want %q: the guard goes by it", d.Name, got, vim)
		}
	}
	ofVIM := documents(t, Options{Profile: Leases, VIM: vim, User: "alice", Roles: roles})
	for _, c := range []struct {
		verb, resource, name string
		docs                 []rbacv1.ClusterRole
		namespace            string
		want                 bool
	}{
		{"create", "namespaces", "", managed, "", true},
		{"pass", "guard", "another VIM", managed, "", true},
		{"pass", "guard", vim, ofVIM, "", true},
		{"pass", "guard", "another VIM", ofVIM, "", false},
		{"pass", "guard", vim, prepared, "", true},
		{"pass", "guard", "another VIM", prepared, "", false},
		{"create", "serviceaccounts/token", "", managed, "", true},
		{"bind", "clusterroles", "edit", managed, "", true},
		{"bind", "clusterroles", "cluster-admin", managed, "", false},
		{"escalate", "roles", "", managed, "", false},
		{"create", "namespaces", "", prepared, "", false},
		{"create", "serviceaccounts/token", "", prepared, "", false},
		{"create", "serviceaccounts/token", "", prepared, "shop", false},
		{"create", "serviceaccounts/token", "", prepared, "vimbroker-0123abcd-2", true},
		{"create", "rolebindings", "", prepared, "", false},
		{"create", "rolebindings", "", prepared, "vimbroker-0123abcd-1", false},
		{"create", "rolebindings", "", prepared, "shop", true},
		{"bind", "clusterroles", "edit", prepared, "shop", true},
		{"bind", "clusterroles", "admin", prepared, "shop", false},
		{"bind", "clusterroles", "edit", prepared, "", false},
	} {
		if got := allows(c.docs, c.namespace, c.verb, c.resource, c.name); got != c.want {
			t.Errorf("%s %s %q in %q is allowed: %v, want %v", c.verb, c.resource, c.name, c.namespace, got, c.want)
		}
	}
}

func TestTheEngineMayHandOutAnyRulesAndNothingElse(t *testing.T) {
	for name, o := range map[string]Options{
		"managed":  {Roles: []string{"view"}},
		"prepared": {Roles: []string{"view"}, VIM: vim, Pool: 1, Namespaces: []string{"shop"}},
	} {
		rules := func(p Profile) (out []rbacv1.PolicyRule) {
			o.Profile = p
			for _, d := range documents(t, o) {
				out = append(out, d.Rules...)
			}
			return out
		}
		var more []rbacv1.PolicyRule
		leases := rules(Leases)
		for _, r := range rules(Engine) {
			if !slices.ContainsFunc(leases, func(l rbacv1.PolicyRule) bool { return l.String() == r.String() }) {
				more = append(more, r)
			}
		}
		if len(more) != 1 || !slices.Equal(more[0].Verbs, []string{"bind", "escalate"}) {
			t.Errorf("%s: the engine may also %v, want to bind and escalate alone", name, more)
		}
	}
}

func TestSubjects(t *testing.T) {
	for user, want := range map[string]string{
		"":                                 `{kind: ServiceAccount, namespace: "vimbroker-system", name: "vimbroker"}`,
		"system:serviceaccount:ops:deploy": `{kind: ServiceAccount, namespace: "ops", name: "deploy"}`,
		`o"dd: {user}`:                     `{kind: User, apiGroup: rbac.authorization.k8s.io, name: "o\"dd: {user}"}`,
	} {
		text, err := Manifest(Options{Profile: Leases, Roles: []string{"view"}, VIM: vim, User: user})
		if err != nil || !strings.Contains(text, "subjects: ["+want+"]") {
			t.Errorf("%q: %v, want subject %s in\n%s", user, err, want, text)
		}
	}
}

func TestWhatIsRefused(t *testing.T) {
	good := Options{Profile: Leases, Roles: []string{"view"}, VIM: vim, Pool: 1, Namespaces: []string{"shop"}}
	if _, err := Manifest(good); err != nil {
		t.Fatal(err)
	}
	many := make([]string, maxNamespaces+1)
	for i := range many {
		many[i] = "n"
	}
	most := many[:maxNamespaces]
	for name, change := range map[string]func(*Options){
		"as many namespaces as may be": func(o *Options) { o.Namespaces = most }, "a pool as large as may be": func(o *Options) { o.Pool = MaxPool },
		"a user's name to the last": func(o *Options) { o.User = " ~" },
	} {
		o := good
		change(&o)
		if _, err := Manifest(o); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	for says, change := range map[string]func(*Options){
		"name holds control": func(o *Options) { o.User = "a\x7fb" },
		"profile":            func(o *Options) { o.Profile = "all" },
		"no UUID":            func(o *Options) { o.VIM = "edge-1" },
		"no roles":           func(o *Options) { o.Roles = nil },
		"pool has -1":        func(o *Options) { o.Pool = -1 },
		"pool has 65":        func(o *Options) { o.Pool = MaxPool + 1 },
		"one VIM's":          func(o *Options) { o.VIM = "" },
		"no namespaces":      func(o *Options) { o.Namespaces = nil },
		"without a pool":     func(o *Options) { o.Pool = 0 },
		"are the most":       func(o *Options) { o.Namespaces = many },
		"control characters": func(o *Options) { o.User = "a\nb" },
		"no DNS label":       func(o *Options) { o.Namespaces = []string{"shop", "a}\nb"} },
		"not the name of":    func(o *Options) { o.Roles = []string{"view", `a"`} },
	} {
		o := good
		change(&o)
		if text, err := Manifest(o); err == nil || !strings.Contains(err.Error(), says) || text != "" {
			t.Errorf("%+v: %v, want an error that says %q", o, err, says)
		}
	}
}

// An onboarding's rights are those of its namespaces, each with a role and its binding, or of the whole cluster.
func TestOnboardingGivesItsRightsInItsNamespaces(t *testing.T) {
	const rules = `rules:
  - {apiGroups: [cluster.x-k8s.io], resources: [clusters], verbs: [get, list, watch]}
  - {apiGroups: [""], resources: [secrets], verbs: [get, list, watch]}
`
	const head = "# What vimbroker needs on this management cluster besides the rights to hand out leases: it\n" +
		"# takes leases that watch clusters and their secrets, and must hold what they may do.\n"
	pair := func(kind, metadata, more, subject string) string {
		return "---\napiVersion: rbac.authorization.k8s.io/v1\nkind: " + kind + "\nmetadata: " + metadata + "\n" + rules + more +
			"---\napiVersion: rbac.authorization.k8s.io/v1\nkind: " + kind + "Binding\nmetadata: " + metadata +
			"\nroleRef: {apiGroup: rbac.authorization.k8s.io, kind: " + kind + ", name: vimbroker-onboard-0123abcd}\nsubjects: [" + subject + "]\n"
	}
	const account = `{kind: ServiceAccount, namespace: "vimbroker-system", name: "vimbroker"}`
	in := func(namespace string) string {
		return "{name: vimbroker-onboard-0123abcd, namespace: " + namespace + "}"
	}
	for name, c := range map[string]struct {
		o    OnboardingOptions
		want string
	}{
		"one namespace":  {OnboardingOptions{VIM: vim, Namespaces: []string{"a"}}, pair("Role", in("a"), "", account)},
		"two namespaces": {OnboardingOptions{VIM: vim, Namespaces: []string{"a", "b"}}, pair("Role", in("a"), "", account) + pair("Role", in("b"), "", account)},
		"everywhere, of a person": {
			OnboardingOptions{VIM: vim, Namespaces: []string{"*"}, User: "alice"},
			pair("ClusterRole", "{name: vimbroker-onboard-0123abcd}", "", `{kind: User, apiGroup: rbac.authorization.k8s.io, name: "alice"}`),
		},
		"selected, with control planes": {
			OnboardingOptions{VIM: vim, Namespaces: []string{"a"}, SelectNamespaces: true, ControlPlanes: []string{"planes.example.com", "others.example.org"}},
			pair("Role", in("a"), "  - {apiGroups: [\"example.com\"], resources: [\"planes\"], verbs: [get]}\n"+
				"  - {apiGroups: [\"example.org\"], resources: [\"others\"], verbs: [get]}\n"+"  - {apiGroups: [\"\"], resources: [namespaces], verbs: [list]}\n", account),
		},
	} {
		if got, err := Onboarding(c.o); err != nil || got != head+c.want {
			t.Errorf("%s: %v\n%s\nwant\n%s", name, err, got, head+c.want)
		}
	}
	for says, change := range map[string]func(*OnboardingOptions){
		`"edge-1" is no UUID`:                 func(o *OnboardingOptions) { o.VIM = "edge-1" },
		"no namespaces are given":             func(o *OnboardingOptions) { o.Namespaces = nil },
		`namespace "A" is no DNS label`:       func(o *OnboardingOptions) { o.Namespaces = []string{"a", "A"} },
		`namespace "*" is no DNS label`:       func(o *OnboardingOptions) { o.Namespaces = []string{"*", "a"} },
		`"planes" is not PLURAL.GROUP`:        func(o *OnboardingOptions) { o.ControlPlanes = []string{"planes"} },
		`".example.com" is not PLURAL.GROUP`:  func(o *OnboardingOptions) { o.ControlPlanes = []string{".example.com"} },
		`"A.example.com" is not PLURAL.GROUP`: func(o *OnboardingOptions) { o.ControlPlanes = []string{"A.example.com"} },
	} {
		o := OnboardingOptions{VIM: vim, Namespaces: []string{"a"}}
		change(&o)
		if got, err := Onboarding(o); got != "" || err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %q, %v", says, got, err)
		}
	}
}
