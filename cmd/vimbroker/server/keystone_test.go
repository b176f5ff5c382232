package server

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/vimbroker/vimbroker/cmd/vimbroker/console"
	"github.com/vimbroker/vimbroker/policy"
	"github.com/vimbroker/vimbroker/test/story"
)

func TestCallersReportEveryFaultAtOnce(t *testing.T) {
	loose := story.WriteFile(t, "loose", "canary", 0o644)
	_, err := loadConfig(story.WriteFile(t, "c.yaml", "trust: [{name: k, keystone: {authURL: http://k.example, roles: {cloud: system}, auth: {password: {username: u, project: p, passwordFile: "+loose+"}}}}]\n", 0o600),
		console.Environment{"HOME=/h"}, keep)
	for _, want := range []string{
		"trust[0].keystone: address of Keystone: must be https", `trust[0].keystone: role "cloud": cannot be worth "system"`, "trust[0].keystone.auth.password.passwordFile: " + loose + " can be read",
		"trust[0].keystone: login by password: give the user's id", "trust[0].keystone: login by password: give the project's id",
	} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("loadConfig = %v\nwant it to say %q", err, want)
		}
	}
	if strings.Contains(fmt.Sprint(err), "tokensFile") || strings.Contains(fmt.Sprint(err), "canary") {
		t.Errorf("loadConfig = %v, want no word of tokensFile, nor what a file holds", err)
	}
	_, err = loadConfig(story.WriteFile(t, "d.yaml", "trust: [{name: k, keystone: {authURL: https://k.example}}]\n", 0o600), console.Environment{"HOME=/h"}, keep)
	if want := "trust[0].keystone.auth: must be exactly one of"; !strings.Contains(fmt.Sprint(err), want) {
		t.Errorf("loadConfig = %v, want it to say %q", err, want)
	}
}

// A live configuration without static tokens knows no holder of one.
func TestOwnTokensAreNeverKeystones(t *testing.T) {
	plain, _ := policy.NewToken()
	l := newLive(config{})
	l.keystone = neverAsked{t}
	if p, err := l.Authenticate(t.Context(), plain); err == nil {
		t.Errorf("Authenticate = %+v, want an error", p)
	}
}

// neverAsked fails the test if a token of ours is sent to Keystone.
type neverAsked struct{ t *testing.T }

func (n neverAsked) Authenticate(context.Context, string) (policy.Principal, error) {
	n.t.Error("a token of ours was sent to Keystone")
	return policy.Principal{}, nil
}
