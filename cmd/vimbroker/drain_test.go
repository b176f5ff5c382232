package main

import (
	"strings"
	"testing"

	"github.com/vimbroker/vimbroker/test/fake"
)

// A person who deletes a VIM that does not let go reads what it waits for, and, having
// forced it, what stays behind; without force, that the key may be brought back.
func TestDeletingSaysWhatItWaitsForAndWhatStays(t *testing.T) {
	i := install(t)
	if code, _, stderr := i.run(t, "lease", "issue", "--vim", "edge"); code != 0 {
		t.Fatalf("lease issue: %s", stderr)
	}
	i.kube.Fail(fake.Fault{Method: "DELETE", Path: "/serviceaccounts/", Kind: fake.Refuse, Status: 403, Times: -1})
	const why = "which is revoking, tries: 1: the credential may not delete serviceaccount"
	if code, _, stderr := i.run(t, "vim", "delete", "edge", "--drain"); code != 0 || !strings.Contains(stderr, "it waits for lease ") || !strings.Contains(stderr, why) {
		t.Errorf("vim delete --drain = %d, %s, want what it waits for", code, stderr)
	}
	if code, stdout, stderr := i.run(t, "vim", "show", "edge"); code != 0 || !strings.Contains(stdout, "Waits for") || !strings.Contains(stdout, why) || !strings.Contains(stdout, "; the next try is at 2") {
		t.Errorf("vim show = %d, %s%s, want what it waits for", code, stdout, stderr)
	}
	code, _, stderr := i.run(t, "vim", "delete", "edge", "--drain", "--force")
	for _, want := range []string{
		"edge is deleted; its key is deleted, recoverable from the disk", "left behind: lease ", " of admin works until ",
		"left behind: what has the label vimbroker.io/vim=",
	} {
		if code != 0 || !strings.Contains(stderr, want) {
			t.Errorf("vim delete --force = %d, %s, want %q", code, stderr, want)
		}
	}
}
