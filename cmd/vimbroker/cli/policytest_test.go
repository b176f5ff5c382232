package cli

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/vimbroker/vimbroker/policy"
)

// The handbook's tests pass on its own samples, and two of them fail without it.
func TestTheHandbooksTests(t *testing.T) {
	page, err := os.ReadFile(filepath.Join("..", "..", "..", "docs", "policies.md"))
	if err != nil {
		t.Fatal(err)
	}
	tests := regexp.MustCompile("(?s)```yaml\n(.*?)```").FindSubmatch(page)
	var samples []byte
	for _, found := range regexp.MustCompile("(?s)```cedar\n(@id\\(\"(no-cluster-admin|office-hours)\"\\).*?)```").FindAllSubmatch(page, -1) {
		samples = append(samples, found[1]...)
	}
	if tests == nil || samples == nil {
		t.Fatal("the handbook holds no tests, or not the sample that they are for")
	}
	file := filepath.Join(t.TempDir(), "tests.yaml")
	if err := os.WriteFile(file, tests[1], 0o600); err != nil {
		t.Fatal(err)
	}
	for failing, site := range map[int]map[string][]byte{0: {"site.cedar": samples}, 2: nil} {
		policies, err := policy.Load(site)
		if err != nil {
			t.Fatal(err)
		}
		cases, err := readPolicyTests(file, policies)
		if err != nil || len(cases) != 3 {
			t.Fatalf("readPolicyTests() = %d tests, %v", len(cases), err)
		}
		failed := 0
		for _, c := range cases {
			if wrong := c.try(policies); wrong != "" {
				failed++
			}
		}
		if failed != failing {
			t.Errorf("with %d files of the site %d of the tests fail, want %d", len(site), failed, failing)
		}
	}
}

// A question that is written in few words is the one that a request would put: an hour, the narrowest grade, now, on the
// project of the principal.
func TestAQuestionHasTheDefaultsOfARequest(t *testing.T) {
	policies, err := policy.Load(nil)
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "tests.yaml")
	read := func(text string) ([]policyTest, error) {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return readPolicyTests(file, policies)
	}
	const who = "tests:\n- principal: {name: alice, project: acme, roles: [member]}\n"
	began := time.Now()
	cases, err := read(who + "  action: lease:issue\n  vim: {name: edge, type: kubernetes}\n  want: allowed\n" +
		"- principal: {name: alice, project: acme, roles: [member]}\n  action: vim:register\n  want: denied\n" +
		"- principal: {name: alice, project: acme, roles: [member]}\n  action: vim:register\n  project: other\n  want: denied\n" +
		"- principal: {name: alice, project: acme, roles: [member]}\n  action: lease:renew\n  at: 2026-11-25T10:00:00+01:00\n" +
		"  lease: {project: north, owner: bob}\n  wish: {ttl: 2h, grade: unbounded, age: 30m}\n  want: denied\n")
	if err != nil || len(cases) != 4 {
		t.Fatalf("%d tests, %v", len(cases), err)
	}
	plain, listing, elsewhere, long := cases[0].question, cases[1].question, cases[2].question, cases[3].question
	if plain.At.Before(began) || plain.At.After(time.Now()) || plain.Wish.TTL != time.Hour || plain.Wish.Grade != policy.Grades[0] ||
		!plain.Wish.Issued.IsZero() || plain.Resource.Project != "acme" || plain.Resource.Kind != policy.KindVIM || plain.Resource.ID == "" {
		t.Errorf("a lease on a VIM is asked for as %+v", plain)
	}
	if r := listing.Resource; r.Kind != policy.KindProject || r.Project != "acme" || r.ID != "acme" {
		t.Errorf("a list is asked for of %+v", r)
	}
	if r := elsewhere.Resource; r.Kind != policy.KindProject || r.Project != "other" || r.ID != "other" {
		t.Errorf("a list of another project is asked for of %+v", r)
	}
	at := time.Date(2026, 11, 25, 9, 0, 0, 0, time.UTC)
	if !long.At.Equal(at) || !long.Wish.Issued.Equal(at.Add(-30*time.Minute)) || long.Wish.TTL != 2*time.Hour || long.Wish.Grade != "unbounded" ||
		long.Resource.Project != "north" {
		t.Errorf("a lease of another time is asked for as %+v", long)
	}
	for text, want := range map[string]string{
		"tests: []\n": "holds no tests",
		who + "  action: lease:issue\n  vim: {name: edge, type: kubernetes}\n  lease: {owner: bob}\n  want: allowed\n": "one thing too many",
		who + "  action: vim:register\n  want: maybe\n":                                                                "must be allowed or denied",
		who + "  action: vim:destroy\n  want: denied\n":                                                                "tests[0]",
		"tests: {}\n": "tests",
		"":            "",
		who + "  action: vim:register\n  want: denied\n  x: 1": "x",
	} {
		if _, err := read(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q = %v, want %q", text, err, want)
		}
	}
}

// A test says what came instead, and names policies in any order.
func TestATestOfPoliciesSaysWhatCameInstead(t *testing.T) {
	two := "@id(\"b\") forbid (principal, action, resource);\n@id(\"a\") forbid (principal, action, resource);\n"
	policies, err := policy.Load(map[string][]byte{"site.cedar": []byte(two)})
	if err != nil {
		t.Fatal(err)
	}
	question := policy.Request{
		Principal: policy.Principal{Name: "alice", Project: "acme", Roles: []string{policy.RoleMember}}, Action: policy.VIMRegister, At: time.Unix(1, 0),
		Resource: policy.Resource{Kind: policy.KindProject, ID: "acme", Project: "acme"},
	}
	for _, c := range []struct {
		want string
		by   []string
		says string
	}{
		{"denied", nil, ""},
		{"denied", []string{"site.b", "site.a"}, ""},
		{"denied", []string{"site.a", "site.b"}, ""},
		{"denied", []string{"site.b"}, "is denied by site.a, site.b, want by site.b"},
		{"allowed", nil, "is denied (by site.a, site.b), want allowed"},
	} {
		if got := (policyTest{question: question, want: c.want, by: c.by}).try(policies); got != c.says {
			t.Errorf("want %s by %q: %q, want %q", c.want, c.by, got, c.says)
		}
	}
	if policies, err = policy.Load(nil); err != nil {
		t.Fatal(err)
	}
	question.Principal.Roles = nil
	if got := (policyTest{question: question, want: "allowed"}).try(policies); got != "is denied (no policy permits it), want allowed" {
		t.Errorf("without a role: %q", got)
	}
}
