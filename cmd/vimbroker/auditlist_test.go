package main

import (
	"strings"
	"testing"
)

// A list that was cut says so, and one that happens to be as long as the limit does not.
func TestAuditListSaysThatThereIsMore(t *testing.T) {
	i := serveConfig(t, "")
	i.run(t, "vim", "list") // a login, besides the start
	const more = "there are more than 1 entries; see them with --limit"
	if code, out, stderr := i.run(t, "audit", "list", "--limit", "1", "-o", "name"); code != 0 || strings.Count(out, "\n") != 1 || !strings.Contains(stderr, more) {
		t.Errorf("audit list --limit 1 = %d, %q, %q; want one entry and the word that there are more", code, out, stderr)
	}
	if code, out, stderr := i.run(t, "audit", "list", "--limit", "1", "--action", "server:start", "--outcome", "done", "-o", "name"); code != 0 || strings.Count(out, "\n") != 1 || strings.Contains(stderr, "there are more") {
		t.Errorf("audit list --limit 1 of the one start = %d, %q, %q; want one entry and no such word", code, out, stderr)
	}
}
