package cli

import (
	"regexp"
	"slices"
	"testing"

	"github.com/vimbroker/vimbroker/policy"
)

// Each action that policies decide on is completed, and no other word is.
func TestEveryActionIsCompleted(t *testing.T) {
	var all []string
	for _, m := range regexp.MustCompile(`(?m)^action "([^"]+)"`).FindAllSubmatch(policy.Schema(), -1) {
		all = append(all, string(m[1]))
	}
	for _, known := range all {
		if !slices.Contains(actions, known) {
			t.Errorf("%s is not completed", known)
		}
	}
	for _, word := range actions {
		if !slices.Contains(all, word) {
			t.Errorf("%s is completed, and is no action of the schema", word)
		}
	}
}
