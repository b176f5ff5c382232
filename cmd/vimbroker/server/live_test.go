package server

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/broker/strictyaml"
	"github.com/vimbroker/vimbroker/cmd/vimbroker/console"
	"github.com/vimbroker/vimbroker/policy"
	"github.com/vimbroker/vimbroker/policy/audit"
	"github.com/vimbroker/vimbroker/test/story"
)

func TestReloadKeepsUnchangedRules(t *testing.T) {
	c := func(text string) config {
		c, err := loadConfig(story.WriteFile(t, "c.yaml", "tokensFile: "+tokensFile(t)+"\negress: "+text+"\n", 0o600), console.Environment{"HOME=/h"}, keep)
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	l := newLive(c("{networks: [10.0.0.0/8], projects: {lab: {allowLoopback: true}, acme: {ports: ['443']}}}"))
	all, lab, acme := l.egress("other"), l.egress("lab"), l.egress("acme")
	l.replace(c("{networks: [10.0.0.0/8], projects: {lab: {allowLoopback: true}, acme: {ports: ['80']}}}"))
	if l.egress("other") != all || l.egress("lab") != lab {
		t.Error("rules that did not change are others: their connections are lost")
	}
	if l.egress("acme") == acme {
		t.Error("rules that changed are the same")
	}
}

// Every key is either exchanged or named as one that needs a restart.
func TestReloadKnowsEveryKey(t *testing.T) {
	known := append(slices.Sorted(maps.Keys(restartKeys)), slices.Sorted(maps.Keys(reloadKeys))...)
	c := defaults(nil)
	for _, key := range slices.Sorted(maps.Keys(c.fields(&strictyaml.Document{}))) {
		if !slices.Contains(known, key) {
			t.Errorf("a reload ignores %s: add it to restartKeys, or exchange it and add it to reloadKeys (live.go)", key)
		}
	}
}

// After each reload, and only then, what rested on the configuration before is decided anew.
func TestAReloadIsTold(t *testing.T) {
	file := story.WriteFile(t, "c.yaml", "tokensFile: "+tokensFile(t)+"\n", 0o600)
	read := func() (config, error) { return loadConfig(file, console.Environment{"HOME=/h"}, keep) }
	c, err := read()
	if err != nil {
		t.Fatal(err)
	}
	l, told, recorded := newLive(c), make(chan struct{}, 3), []string(nil)
	l.reloaded = func(context.Context) { told <- struct{}{} }
	answers := make(chan error, 2)
	answers <- errors.New("a fault")
	answers <- nil
	ctx, end := context.WithCancel(t.Context())
	signals, done := make(chan os.Signal), make(chan struct{})
	go func() {
		defer close(done)
		l.reloadOn(ctx, signals, func() (config, error) {
			if err := <-answers; err != nil {
				return config{}, err
			}
			next, err := read()
			next.Listen, next.DataDir, next.TLS.CertFile = "127.0.0.1:1", "/elsewhere", "cert.pem"
			return next, err
		}, slog.New(slog.DiscardHandler), func(_ context.Context, action policy.Action, outcome audit.Outcome, detail ...string) {
			recorded = append(recorded, fmt.Sprint(action, " ", outcome, " ", strings.Join(detail, " ")))
		})
	}()
	signals <- syscall.SIGHUP
	signals <- syscall.SIGHUP
	<-told
	end()
	<-done
	if len(answers) != 0 || len(told) != 0 {
		t.Errorf("told of %d reloads more than the one without a fault", len(told))
	}
	if want := []string{
		"server:reload failed error the configuration has faults policies " + c.policies.Hash(),
		"server:reload done policies " + c.policies.Hash() + " taken tls needRestart dataDir,listen",
	}; !slices.Equal(recorded, want) {
		t.Errorf("recorded is %q, want %q", recorded, want)
	}
}

// A token that is taken is noted by its id; one that is refused is not.
func TestUsesOfTokensAreNoted(t *testing.T) {
	plain, digest := policy.NewToken()
	unknown, _ := policy.NewToken()
	tokens, err := policy.NewStaticTokens([]policy.StaticToken{{Name: "alice", Project: "demo", Roles: []string{"member"}, SHA256: digest}})
	if err != nil {
		t.Fatal(err)
	}
	l := newLive(config{tokens: tokens})
	var used []string
	l.used = func(id string) { used = append(used, id) }
	for bearer, want := range map[string]int{unknown: 0, "gAAAA": 0, plain: 1} {
		used = nil
		if _, err := l.Authenticate(t.Context(), bearer); (err == nil) != (want == 1) || len(used) != want {
			t.Errorf("a token that is %v: noted %v, want %d", err, used, want)
		}
	}
	if !slices.Equal(used, []string{policy.TokenID(plain)}) && len(used) > 0 {
		t.Errorf("noted %v, want the id of the token", used)
	}
	if held := l.Held(); len(held) != 1 || held[0].ID != policy.TokenID(plain) {
		t.Errorf("held are %+v", held)
	}
}

// A server is not ready before it has settled what an earlier process left, whatever else
// of it could be asked.
func TestNotReadyBeforeItHasSettled(t *testing.T) {
	s := &gate{} // to ask any further would need a broker
	if _, err := s.Ready(); !errors.Is(err, broker.ErrUnavailable) {
		t.Errorf("ready before it has settled: %v, want %v", err, broker.ErrUnavailable)
	}
}

// What is asked after a reload is answered by the configuration that was read last, and
// not by that of the start.
func TestQuestionsAreAnsweredByTheNewestConfiguration(t *testing.T) {
	dir := t.TempDir()
	if err := os.Chmod(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	file := story.WriteFile(t, "c.yaml", "tokensFile: "+tokensFile(t)+"\npolicyDir: "+dir+"\n", 0o600)
	read := func() (config, error) { return loadConfig(file, console.Environment{"HOME=/h"}, keep) }
	c, err := read()
	if err != nil {
		t.Fatal(err)
	}
	l := newLive(c)
	auditor := policy.Request{
		Principal: policy.Principal{Name: "alice", Project: "acme", Roles: []string{"auditor"}},
		Action:    policy.AuditRead, Resource: policy.Resource{Kind: policy.KindProject, ID: "acme", Project: "acme"},
	}
	before := l.configured()
	if l.Decide(auditor).Allowed || l.Check(auditor) == nil || before.Failed {
		t.Fatalf("before any policy speaks of auditors: %+v, %v, %+v", l.Decide(auditor), l.Check(auditor), before)
	}
	text := `@id("auditors") permit (principal, action == Action::"audit:read", resource) when { principal.roles.contains("auditor") };`
	if err := os.WriteFile(filepath.Join(dir, "site.cedar"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	next, err := read()
	if err != nil {
		t.Fatal(err)
	}
	l.replace(next)
	if !l.Decide(auditor).Allowed || l.Check(auditor) != nil || l.configured().Policies == before.Policies {
		t.Errorf("after the reload: %+v, %v, policies %s, before %s", l.Decide(auditor), l.Check(auditor), l.configured().Policies, before.Policies)
	}
	l.failed.Store(true)
	if !l.configured().Failed {
		t.Error("a configuration that could not be read is not told")
	}
}
