package vault_test

import (
	"strings"
	"testing"
	"time"

	"github.com/vimbroker/vimbroker/drivers/vault"
	"github.com/vimbroker/vimbroker/test/testlog"
)

func TestOpenTellsEveryFaultAtOnce(t *testing.T) {
	_, err := vault.Open(t.Context(), vault.Options{
		Address: "vault.example:8200", Peers: []string{"http://10.0.0.1:8200"},
		Namespace: "a//b", Mount: "../sys", Path: "a b",
		CACert: "x", CAFile: "y", Timeout: -time.Second,
		Auth: vault.Auth{AppRole: &vault.AppRole{MountPath: "a?b"}, JWT: &vault.JWT{MountPath: "."}},
	})
	if err == nil {
		t.Fatal("Open = nil, want an error")
	}
	for _, want := range []string{
		"address: must be a URL", "peer 1: must be https", `namespace "a//b"`, `mount "../sys"`, `path "a b"`,
		"not both", "timeout -1s", "needs a role id", "needs the file of the secret id", "needs a role", "needs the file of the token",
		`mount path "a?b"`, `mount path "."`, "exactly one of",
	} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("the error does not say %q:\n%v", want, err)
		}
	}
}

func TestOpenRefusesOptions(t *testing.T) {
	good := vault.Options{Address: "http://127.0.0.1:1", Auth: vault.Auth{TokenFile: "/nonexistent"}, Log: testlog.Silent(t)}
	mustOpen(t, good)
	for name, change := range map[string]func(*vault.Options){
		"no login":            func(o *vault.Options) { o.Auth = vault.Auth{} },
		"two logins":          func(o *vault.Options) { o.Auth.JWT = &vault.JWT{Role: "r", TokenFile: "f"} },
		"no address":          func(o *vault.Options) { o.Address = "" },
		"http elsewhere":      func(o *vault.Options) { o.Address = "http://localhost:8200" },
		"a path":              func(o *vault.Options) { o.Address = "https://vault.example/v1" },
		"a query":             func(o *vault.Options) { o.Address = "https://vault.example?a=b" },
		"a user":              func(o *vault.Options) { o.Address = "https://u:canary@vault.example" },
		"a socket":            func(o *vault.Options) { o.Address = "unix:///run/vault" },
		"an absolute mount":   func(o *vault.Options) { o.Mount = "/secret" },
		"an open-ended path":  func(o *vault.Options) { o.Path = "vimbroker/" },
		"a path with dots":    func(o *vault.Options) { o.Path = "a/../b" },
		"a long path":         func(o *vault.Options) { o.Path = strings.Repeat("a", 129) },
		"a path with escapes": func(o *vault.Options) { o.Path = "a%2fb" },
		"no certificate":      func(o *vault.Options) { o.CACert = "none" },
	} {
		o := good
		change(&o)
		if _, err := vault.Open(t.Context(), o); err == nil || strings.Contains(err.Error(), "canary") {
			t.Errorf("Open with %s = %v, want an error without the password", name, err)
		}
	}
}
