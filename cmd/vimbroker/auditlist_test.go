package main

import (
	"encoding/json"
	"strconv"
	"strings"
	"testing"

	v1 "github.com/vimbroker/vimbroker/broker/api/v1"
	"github.com/vimbroker/vimbroker/policy/audit"
	"github.com/vimbroker/vimbroker/test/story"
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

// Refused logins are few entries with a count, also once they have stopped.
func TestRefusedLoginsAreToldOnceTheyHaveStopped(t *testing.T) {
	i := serveConfig(t, "")
	stranger := story.WriteFile(t, "stranger", "no-token-of-ours", 0o600)
	for range 9 {
		if code, _, stderr := i.run(t, "vim", "list", "--token-file", stranger); code != 1 {
			t.Fatalf("vim list with a token that nobody has = %d, %s", code, stderr)
		}
	}
	i.stop()
	i.start()
	code, stdout, stderr := i.run(t, "audit", "list", "--action", "server:login", "--outcome", "denied", "-o", "json")
	var told struct{ Items []v1.AuditEntry }
	if code != 0 || json.Unmarshal([]byte(stdout), &told) != nil {
		t.Fatalf("audit list = %d, %s, %s", code, stdout, stderr)
	}
	refusals := 0
	for _, e := range told.Items {
		repeats, _ := strconv.Atoi(e.Detail[audit.DetailRepeats])
		refusals += 1 + repeats
		if e.Detail[audit.DetailSource] != "127.0.0.1" {
			t.Errorf("a refusal names the source %q", e.Detail[audit.DetailSource])
		}
	}
	if refusals != 9 || len(told.Items) > 4 {
		t.Errorf("%d entries tell of %d refused logins, want few that tell of 9", len(told.Items), refusals)
	}
}
