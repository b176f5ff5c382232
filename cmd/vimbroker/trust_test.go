package main

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/vimbroker/vimbroker/test/fakekube"
	"github.com/vimbroker/vimbroker/test/issuer"
	"github.com/vimbroker/vimbroker/test/story"
)

// An administrator keeps the table of trust by commands, and tries tokens at it; no token is anywhere after that.
func TestTheTableOfTrustIsKeptByCommands(t *testing.T) {
	h := newHome(t, "")
	more := issuer.New(t)
	keys := story.WriteFile(t, "keys.json", string(more.JWKS()), 0o600)
	entry := func(rest string) string {
		return story.WriteFile(t, "entry.yaml", fmt.Sprintf("name: ci\nissuer: %s\nkeysFile: %s\nmaxLife: 10m\n%s", more.URL, keys, rest), 0o600)
	}
	kubeconfig := story.WriteFile(t, "kubeconfig", fakekube.New(t, fakekube.Options{}).Kubeconfig(), 0o600)
	rule := "principals:\n  - {match: {repository: acme/edge, environment: prod}, name: '{repository}', project: acme, roles: [member]}\n"
	said := new(strings.Builder)
	step := func(want int, args ...string) string {
		t.Helper()
		code, out, err := h.run(t, args...)
		said.WriteString(out + err)
		if code != want {
			t.Errorf("%v = %d, want %d\n%s%s", args, code, want, out, err)
		}
		return out + err
	}
	has := func(text string, want ...string) {
		t.Helper()
		for _, w := range want {
			if !strings.Contains(text, w) {
				t.Errorf("want %q in\n%s", w, text)
			}
		}
	}
	step(0, "vim", "register", "--kubeconfig", kubeconfig, "edge")
	has(step(0, "trust", "create", entry(rule)), "ci", "database", more.URL)
	has(step(0, "trust", "list"), "corp", "configuration", "ci", "database")
	has(step(0, "trust", "show", "ci"), "Rule 0", "environment=prod repository=acme/edge: member in project acme, shown as {repository}", "10m0s")
	good := more.Token("job-7", map[string]any{"repository": "acme/edge", "environment": "prod"})
	fork := more.Token("job-8", map[string]any{"repository": "mallet/edge", "environment": "prod"})
	file := func(token string) string { return story.WriteFile(t, "job.jwt", token+"\n", 0o600) }
	has(step(0, "policy", "test", "--jwt", file(good), "--vim", "edge"), "ci", "principals[0]", "oidc:ci:job-7", "acme/edge", "acme", "member", "allowed", "members-lease-vims")
	has(step(1, "policy", "test", "--jwt", file(good), "--action", "vim:vouch", "--vim", "edge"), "denied")
	has(step(0, "policy", "test", "--jwt", file(good), "-o", "json"), `"entry": "ci"`, `"rule": "principals[0]"`)
	has(step(1, "policy", "test", "--jwt", file(fork), "--vim", "edge"), "no rule matches its claims", "Not principals[0]", `repository is "mallet/edge", and must be "acme/edge"`)
	has(step(1, "policy", "test", "--jwt", file(issuer.New(t).Token("x", nil))), "none has its issuer", "unknown issuer")
	has(step(1, "policy", "test", "--jwt", file("canary-no-token")), "no token in a valid form")
	has(step(2, "policy", "test", "--vim", "edge"), "--jwt")

	has(step(0, "trust", "update", entry(strings.ReplaceAll(rule, "member", "reader"))), "ci")
	has(step(1, "policy", "test", "--jwt", file(good), "--vim", "edge"), "reader", "denied")
	has(step(1, "trust", "create", entry(rule)), "name: is the name of another entry")
	has(step(1, "trust", "update", entry("principals:\n  - {match: {repository: '*'}, project: acme, roles: [member]}\n")), "principals[0].match", "names nobody in particular")
	has(step(1, "trust", "update", entry("principals: []\nsecret: x\n")), "secret (line 6): unknown key")
	has(step(1, "trust", "update", "/nowhere.yaml"), "/nowhere.yaml")
	has(step(1, "trust", "delete", "corp"), "configuration")
	has(step(0, "trust", "delete", "ci"), "ci is deleted")
	has(step(3, "trust", "show", "ci"), "no such entry")
	has(step(1, "policy", "test", "--jwt", file(good)), "unknown issuer")
	audit := step(0, "audit", "list", "-o", "json")
	has(audit, "trust:create", "old.principals[0]", "new.principals[0]", "trust:delete")
	log := h.log.String() + said.String()
	files, err := os.ReadDir(h.data)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		text, err := os.ReadFile(h.data + "/" + f.Name())
		if err == nil {
			log += string(text)
		}
	}
	for _, token := range []string{strings.Split(good, ".")[2], strings.Split(fork, ".")[2], "canary-no-token"} {
		if strings.Contains(log, token) {
			t.Errorf("a token is in an answer, a log or the database: %s", token)
		}
	}
}
