package cli

import (
	"os"
	"path/filepath"
	"regexp"
	"testing"

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
