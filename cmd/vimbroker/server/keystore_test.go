package server

import (
	"strings"
	"testing"

	"github.com/vimbroker/vimbroker/cmd/vimbroker/console"
	"github.com/vimbroker/vimbroker/test/story"
)

func TestKeyStoresReportEveryFaultAtOnce(t *testing.T) {
	tokens, empty, loose := tokensFile(t), story.WriteFile(t, "empty", "\n", 0o600), story.WriteFile(t, "loose", "canary", 0o644)
	tests := []struct {
		name, text string
		want       []string
	}{
		{"nothing", "[]", []string{"keyStores (line 2): must list a key store"}},
		{"no list", "{vault: {}}", []string{"keyStores (line 2): must be a list"}},
		{"of no kind", "[{}]", []string{"keyStores[0]: must be exactly one of keydir, vault and barbican"}},
		{"of two kinds", "[{keydir: {}, vault: {}}]", []string{"keyStores[0]: must be exactly one of keydir, vault and barbican"}},
		{"unknown", "[{barbicane: {}}]", []string{"keyStores[0].barbicane (line 2): unknown key; known here: "}},
		{"twice", "[{keydir: {}}, {keydir: {dir: /k}}]", []string{"keyStores[1]: is a second keydir"}},
		{"each twice", "[{vault: {}}, {barbican: {}}, {vault: {}}, {}, {barbican: {}}]", []string{
			"keyStores[2]: is a second vault", "keyStores[3]: must be exactly one", "keyStores[4]: is a second barbican",
		}},
		{"empty Vault", "[{vault: {}}]", []string{"keyStores[0].vault: address: must be a URL like https://", "keyStores[0].vault: login: give exactly one"}},
		{"Vault", "[{vault: {address: http://vault.example, mount: a/../b, timeout: 0s, caFile: " + empty + ", auth: {appRole: {secretIDFile: " + loose + "}, jwt: {tokenFile: " + empty + "}}}}]", []string{
			"keyStores[0].vault: address: must be https", `keyStores[0].vault: mount "a/../b": must be`,
			"keyStores[0].vault.timeout (line 2): must be a duration above zero", "keyStores[0].vault.caFile: " + empty + " must hold certificates",
			"keyStores[0].vault.auth.appRole.roleIDFile: must name a file", "keyStores[0].vault.auth.appRole.secretIDFile: " + loose + " can be read or changed by others; run: chmod",
			"keyStores[0].vault.auth.jwt.tokenFile: " + empty + " is empty", "keyStores[0].vault: login by JWT: needs a role", "keyStores[0].vault: login: give exactly one",
		}},
		{"empty Barbican", "[{barbican: {}}]", []string{"keyStores[0].barbican: address of Keystone: must be a URL", "keyStores[0].barbican: address of Barbican: must be a URL", "keyStores[0].barbican: login: give either"}},
		{"Barbican", "[{barbican: {authURL: http://keystone.example, endpoint: https://b.example, folder: a/b, caFile: " + empty + ", auth: {password: {username: u, project: p, passwordFile: " + loose + "}, applicationCredential: {secretFile: " + empty + "}}}}]", []string{
			"keyStores[0].barbican: address of Keystone: must be https", `keyStores[0].barbican: folder "a/b"`, "keyStores[0].barbican.caFile: " + empty + " must hold certificates",
			"keyStores[0].barbican.auth.password.passwordFile: " + loose + " can be read or changed by others; run: chmod", "keyStores[0].barbican: login by password: give the user's id",
			"keyStores[0].barbican: login by password: give the project's id", "keyStores[0].barbican.auth.applicationCredential.secretFile: " + empty + " is empty",
			"keyStores[0].barbican: login by application credential: needs its id",
		}},
		{"token", "[{vault: {address: https://v, auth: {tokenFile: /nowhere}}}]", []string{"keyStores[0].vault.auth.tokenFile: open /nowhere"}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			_, err := loadConfig(story.WriteFile(t, "c.yaml", "tokensFile: "+tokens+"\nkeyStores: "+test.text+"\n", 0o600), console.Environment{"HOME=/h"}, keep)
			if err == nil {
				t.Fatal("loadConfig accepted it")
			}
			for _, want := range test.want {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("loadConfig = %v\nwant it to say %q", err, want)
				}
			}
			if strings.Contains(err.Error(), "canary") {
				t.Errorf("the error repeats what a file holds: %v", err)
			}
		})
	}
}
