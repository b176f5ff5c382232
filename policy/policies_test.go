package policy_test

import (
	"runtime/debug"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/vimbroker/vimbroker/policy"
)

func TestLoadRefuses(t *testing.T) {
	const good = `@id("a") permit (principal, action, resource);`
	for name, test := range map[string]struct {
		file, text string
		want       []string // each in the error
	}{
		"text that does not parse":        {"site.cedar", "// one\n\n@id(\"a\") permit (principal, action, resource) when { principal. };", []string{"site.cedar:3:"}},
		"an unknown action":               {"site.cedar", "\n@id(\"a\")\npermit (principal, action == Action::\"vim:shw\", resource);", []string{"site.cedar:2:", `"a"`, "vim:shw"}},
		"an unknown attribute":            {"site.cedar", "@id(\"a\") permit (principal, action, resource) when { principal.projekt == \"x\" };", []string{"site.cedar:1:", "projekt"}},
		"an attribute of another kind":    {"site.cedar", "@id(\"a\") permit (principal, action, resource is Project) when { resource.shared };", []string{"site.cedar:1:", "shared"}},
		"labels of a lease":               {"site.cedar", "@id(\"a\") forbid (principal, action == Action::\"lease:renew\", resource) when { resource.hasTag(\"stage\") };", []string{"site.cedar:1:", "only a VIM or a package has labels"}},
		"labels of a principal":           {"site.cedar", "@id(\"a\") forbid (principal, action, resource is VIM) when { !principal.hasTag(\"stage\") };", []string{"site.cedar:1:", "only a VIM or a package has labels"}},
		"context where there is none":     {"site.cedar", "@id(\"a\") permit (principal, action == Action::\"vim:show\", resource) when { context.ttlSeconds > 1 };", []string{"site.cedar:1:", "ttlSeconds"}},
		"a policy that can never apply":   {"site.cedar", "@id(\"a\") permit (principal, action == Action::\"lease:renew\", resource is VIM);", []string{"site.cedar:1:"}},
		"a comparison of unlike types":    {"site.cedar", "@id(\"a\") permit (principal, action, resource) when { principal.project == 1 };", []string{"site.cedar:1:"}},
		"a policy without an id":          {"site.cedar", "permit (principal, action, resource);", []string{"site.cedar:1:", "@id"}},
		"an id that is none":              {"site.cedar", "@id(\"A b\") permit (principal, action, resource);", []string{"site.cedar:1:", "@id"}},
		"an id used twice":                {"site.cedar", good + "\n" + good, []string{"site.cedar:2:", "line 1"}},
		"a reason of a permit":            {"site.cedar", `@id("a") @reason("because") permit (principal, action, resource);`, []string{"site.cedar:1:", "only a forbid has a @reason"}},
		"an empty reason":                 {"site.cedar", `@id("a") @reason("") forbid (principal, action, resource);`, []string{"site.cedar:1:", "@reason"}},
		"a reason of two lines":           {"site.cedar", `@id("a") @reason("a\nb") forbid (principal, action, resource);`, []string{"site.cedar:1:", "@reason"}},
		"a reason that moves the cursor":  {"site.cedar", `@id("a") @reason("a\u{1b}[2J") forbid (principal, action, resource);`, []string{"site.cedar:1:", "@reason"}},
		"two faults, both named":          {"site.cedar", "permit (principal, action, resource);\npermit (principal, action, resource);", []string{"site.cedar:1:", "site.cedar:2:"}},
		"a file with another ending":      {"site.txt", good, []string{"site.txt"}},
		"a file that could be mistaken":   {"a.b.cedar", good, []string{"a.b.cedar"}},
		"policies for the broker itself":  {"system.cedar", good, []string{"system.cedar"}},
		"broken defaults of the site":     {policy.DefaultFile, "permit", []string{"default.cedar:1:"}},
		"trailing text after the policy":  {"site.cedar", good + "\nallow", []string{"site.cedar:2:"}},
		"a role of the system as a group": {"site.cedar", "@id(\"a\") permit (principal in Role::\"system\", action, resource);", []string{"site.cedar:1:"}},
	} {
		t.Run(name, func(t *testing.T) {
			files := []string{test.file}
			if test.file == "site.cedar" { // what stands in the place of our defaults is the site's, too
				files = append(files, policy.DefaultFile)
			}
			for _, file := range files {
				_, err := policy.Load(map[string][]byte{file: []byte(test.text)})
				if err == nil {
					t.Fatalf("Load() of %s = nil, want an error", file)
				}
				for _, want := range test.want {
					if want = strings.Replace(want, "site.cedar", file, 1); !strings.Contains(err.Error(), want) {
						t.Errorf("Load() = %v, want %q in it", err, want)
					}
				}
			}
		})
	}
}

// Faults of all files are told at once, among files that have none.
func TestFaultsOfAllFilesAreTold(t *testing.T) {
	const good, bad = `@id("a") permit (principal, action, resource);`, `permit (principal, action, resource);`
	_, err := policy.Load(map[string][]byte{
		"a.cedar": []byte(bad), "b.cedar": []byte(good), "c.cedar": []byte("permit"), "d.cedar": []byte(bad), "system.cedar": []byte(good), "Z.cedar": []byte(good),
	})
	for _, want := range []string{"a.cedar:1:", "c.cedar:1:", "d.cedar:1:", "system.cedar: the name is taken", `"Z.cedar": a policy file is named`} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("Load() = %v, want %q in it", err, want)
		}
	}
	if err != nil && strings.Contains(err.Error(), "b.cedar") {
		t.Errorf("Load() = %v, which names a file without a fault", err)
	}
}

// A file may have 64 KiB, and not a byte more.
func TestAPolicyFileHasABound(t *testing.T) {
	const good = `@id("a") permit (principal, action, resource);`
	text := []byte(good + "\n//" + strings.Repeat("x", 64<<10-len(good)-3))
	if _, err := policy.Load(map[string][]byte{"site.cedar": text}); err != nil {
		t.Errorf("Load() of %d bytes = %v", len(text), err)
	}
	if _, err := policy.Load(map[string][]byte{"site.cedar": append(text, 'x')}); err == nil || !strings.Contains(err.Error(), "site.cedar: larger than") {
		t.Errorf("Load() of a byte more = %v", err)
	}
}

// Of the policies that match, those that forbid are heard, each reason once; what is allowed has none.
func TestAForbidSaysWhy(t *testing.T) {
	p, err := policy.Load(map[string][]byte{"a.cedar": []byte(`
		@id("a") @reason("Leases end by eight.") forbid (principal, action == Action::"lease:issue", resource) when { context.ttlSeconds > 3600 };
		@id("b") @reason("Leases end by eight.") forbid (principal, action == Action::"lease:issue", resource) when { context.ttlSeconds > 7200 };
		@id("c") forbid (principal, action == Action::"lease:issue", resource) when { context.ttlSeconds > 7200 };
		@id("d") @reason("No.") forbid (principal, action == Action::"lease:issue", resource) when { context.role == "edit" };`)})
	if err != nil {
		t.Fatal(err)
	}
	for asked, want := range map[string][]string{
		"1h view": nil, "2h view": {"Leases end by eight."}, "3h view": {"Leases end by eight."}, "1h edit": {"No."}, "3h edit": {"Leases end by eight.", "No."},
	} {
		text, role, _ := strings.Cut(asked, " ")
		ttl, err := time.ParseDuration(text)
		if err != nil {
			t.Fatal(err)
		}
		d := p.Decide(policy.Request{
			Principal: policy.Principal{Name: "root", Project: "ops", Roles: []string{policy.RoleAdmin}}, Action: policy.LeaseIssue,
			Resource: policy.Resource{Kind: policy.KindVIM, ID: "1", Project: "ops"}, Wish: policy.Wish{TTL: ttl, Role: role, Grade: "bounded"},
		})
		if d.Allowed != (want == nil) || !slices.Equal(slices.Sorted(slices.Values(d.Reasons)), want) {
			t.Errorf("a lease of %s: %+v, want reasons %q", asked, d, want)
		}
	}
}

// A policy about one VIM, or about packages, may ask for labels.
func TestLabelsOfWhatHasThem(t *testing.T) {
	for head, good := range map[string]bool{
		`resource is VIM`: true, `resource == VIM::"x"`: true, `resource is VIM in Project::"p"`: true, `resource is Package`: true, `resource == Lease::"x"`: false,
		`resource is Lease`: false, `resource`: false,
	} {
		_, err := policy.Load(map[string][]byte{"site.cedar": []byte(`@id("a") forbid (principal, action, ` + head + `) when { resource.hasTag("stage") };`)})
		if says := err != nil && strings.Contains(err.Error(), "only a VIM or a package has labels"); says == good {
			t.Errorf("%s: %v", head, err)
		}
	}
}

func TestSiteDefaultsTakeThePlaceOfOurs(t *testing.T) {
	policies := load(t, map[string][]byte{policy.DefaultFile: []byte(`
		@id("readers-only") permit (principal, action == Action::"vim:show", resource) when { principal.roles.contains("reader") };`)})
	for _, r := range []rule{
		allow(reader, policy.VIMShow, foreignVIM),
		deny(admin, policy.VIMShow, ownVIM),
		allow(reaper, policy.LeaseRevoke, ownLease),
	} {
		if d := policies.Decide(policy.Request{Principal: r.who, Action: r.action, Resource: r.subject}); d.Allowed != r.want {
			t.Errorf("Decide(%s, %s) = %+v, want allowed %v", r.who.Name, r.action, d, r.want)
		}
	}
}

func TestLoadLeavesItsArgumentAlone(t *testing.T) {
	site := map[string][]byte{"site.cedar": []byte(`@id("a") forbid (principal, action, resource);`)}
	load(t, site)
	if len(site) != 1 {
		t.Errorf("Load added to its argument: %d files", len(site))
	}
}

func FuzzLoad(f *testing.F) {
	f.Add([]byte(`@id("a") permit (principal, action, resource) when { principal.roles.contains("x") };`))
	f.Add([]byte(`@id("a") forbid (principal, action == Action::"lease:issue", resource) when { context.ttlSeconds * 9223372036854775807 > 0 };`))
	f.Add([]byte("\xff\x00@id"))
	sound, err := policy.Load(nil)
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		site, err := policy.Load(map[string][]byte{"site.cedar": text})
		if err != nil {
			return
		}
		// Whatever loads, the broker's passes are decided as ever.
		for _, r := range everyRequest(reaper) {
			if got, want := site.Decide(r).Allowed, sound.Decide(r).Allowed; got != want {
				t.Errorf("Decide(%s, %s) = %v, want %v", r.Action, r.Resource.ID, got, want)
			}
		}
		site.Decide(policy.Request{Principal: member, Action: policy.LeaseIssue, Resource: ownVIM})
	})
}

// A hash stands for one set of policies: a changed file, name or border between two
// files is another set.
func TestHashTellsSetsApart(t *testing.T) {
	a, b := []byte("// a\n"), []byte("// b\n")
	seen := map[string]int{}
	for i, site := range []map[string][]byte{
		nil,
		{"site.cedar": a},
		{"site.cedar": b},
		{"other.cedar": a},
		{"other.cedar": a, "site.cedar": b},
		{"other.cedar": append(slices.Clone(a), b...)},
		{policy.DefaultFile: a},
	} {
		hash := load(t, site).Hash()
		if other, taken := seen[hash]; taken || len(hash) != 64 {
			t.Errorf("set %d has the hash of set %d: %s", i, other, hash)
		}
		seen[hash] = i
		if again := load(t, site).Hash(); again != hash {
			t.Errorf("set %d has two hashes", i)
		}
	}
}

// What is nested so deeply that reading it would end the process is an error, or fits.
func TestNestedPoliciesEndNothing(t *testing.T) {
	defer debug.SetMaxStack(debug.SetMaxStack(512 << 20)) // half of what a process has
	const room = 64<<10 - 100
	for _, nested := range []string{
		strings.Repeat("(", room/2-2) + "true" + strings.Repeat(")", room/2-2),
		strings.Repeat("(", room), strings.Repeat("[", room), strings.Repeat("{a:", room/3),
		strings.Repeat("!", room-4) + "true",
		"1 == " + strings.Repeat("-", room-10) + "1",
		strings.Repeat("if ", room/3),
		"principal" + strings.Repeat(".name", room/5-2),
		"true" + strings.Repeat("&&true", room/6-1),
	} {
		text := []byte(`@id("x") forbid (principal, action, resource) when { ` + nested + ` };`)
		p, err := policy.Load(map[string][]byte{"site.cedar": text})
		if err == nil {
			p.Decide(policy.Request{Principal: policy.Principal{Name: "alice", Project: "a"}, Action: policy.VIMShow, Resource: policy.Resource{Kind: policy.KindProject}})
		}
		if _, err = policy.Load(map[string][]byte{"site.cedar": append(text, strings.Repeat(" ", 64<<10)...)}); err == nil || !strings.Contains(err.Error(), "site.cedar: larger than 65536 bytes") {
			t.Errorf("Load() of a file that is too large = %.200v", err)
		}
	}
}
