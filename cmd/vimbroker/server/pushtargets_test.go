package server

import (
	"strings"
	"testing"

	"github.com/vimbroker/vimbroker/cmd/vimbroker/console"
	"github.com/vimbroker/vimbroker/test/story"
)

// TestFaultsOfPushTargets are told before the server starts: a target whose plugin could not run, reach the server or log in.
func TestFaultsOfPushTargets(t *testing.T) {
	read := func(text string) (config, error) {
		return loadConfig(story.WriteFile(t, "c.yaml", "tokensFile: "+tokensFile(t)+"\npushTargets: "+text+"\n", 0o600), console.Environment{"HOME=/h"}, keep)
	}
	const good = `[{name: argocd, vim: hub, project: ops, namespace: argocd, form: argocd, command: /tools/vimbroker,
  env: {VIMBROKER_ADDR: "https://b", VIMBROKER_CLIENT_SECRET_FILE: /s}}]`
	c, err := read(good)
	if err != nil {
		t.Fatal(err)
	}
	if one := c.pushTargets()["argocd"]; one.VIM != "hub" || one.Plugin.Env["VIMBROKER_ADDR"] != "https://b" || one.Plugin.InstallHint == "" {
		t.Errorf("read as %+v", one)
	}
	for change, fault := range map[string]string{
		"name: argocd|x: y":                        "pushTargets[0]",
		"name: argocd, |":                          "pushTargets[0].name: must be",
		"vim: hub, |":                              "pushTargets[0].vim: must be",
		"project: ops, |":                          "pushTargets[0].project: must be",
		" namespace: argocd,|":                     "pushTargets[0].namespace: must be",
		"form: argocd|form: flux":                  "kubeconfig or argocd",
		"/tools/vimbroker|vimbroker":               "pushTargets[0].command: must be",
		"https://b|http://b":                       "pushTargets[0].env: must name",
		"VIMBROKER_CLIENT_SECRET_FILE|SECRET":      "pushTargets[0].env: must name",
		"/s}|/s, VIMBROKER_CLIENT_CERT_FILE: /c}":  "pushTargets[0].env: must name",
		"/s}|/s, VIMBROKER_TOKEN: secret}":         "pushTargets[0].env: must name",
		"}}]|}}, " + strings.TrimPrefix(good, "["): "pushTargets[1].name: must be",
	} {
		from, to, _ := strings.Cut(change, "|")
		if _, err := read(strings.Replace(good, from, to, 1)); err == nil || !strings.Contains(err.Error(), fault) {
			t.Errorf("%s: %v, want %q", change, err, fault)
		}
	}
}
