package cli

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"

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

// Each flag of a registration goes with some sources of what is registered, and is refused beside the others.
func TestWhichFlagsGoWithASource(t *testing.T) {
	for flag, sources := range map[string]string{
		"context": "--kubeconfig", "cloud": "--clouds-yaml", "type": "--endpoint", "region": "--endpoint", "cloud-project": "--endpoint",
		"cloud-domain": "--endpoint", "ca-cert-file": "--endpoint --clouds-yaml", "server-name": "--endpoint --clouds-yaml",
		"insecure-skip-verify": "--endpoint --clouds-yaml --kubeconfig", "bearer-token-file": "--endpoint", "client-cert-file": "--endpoint",
		"client-key-file": "--endpoint", "username": "--endpoint", "password-file": "--endpoint", "application-credential-id": "--endpoint",
		"application-credential-secret-file": "--endpoint", "name": "--endpoint --clouds-yaml --kubeconfig",
	} {
		for _, source := range []string{"--endpoint", "--clouds-yaml", "--kubeconfig"} {
			c := &cobra.Command{}
			c.Flags().String(flag, "", "")
			if err := c.Flags().Set(flag, "x"); err != nil {
				t.Fatal(err)
			}
			err := (&vimSource{cloud: "c"}).stray(c, source)
			if goes := strings.Contains(sources, source); (err == nil) != goes || !goes && !strings.Contains(err.Error(), "--"+flag+" goes with ") {
				t.Errorf("--%s beside %s: %v", flag, source, err)
			}
		}
	}
}
