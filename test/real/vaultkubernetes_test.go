package real_test

import (
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/vimbroker/vimbroker/broker/api/client"
	v1 "github.com/vimbroker/vimbroker/broker/api/v1"
	"github.com/vimbroker/vimbroker/broker/secret"
	"github.com/vimbroker/vimbroker/drivers/vault"
	"github.com/vimbroker/vimbroker/policy"
	"github.com/vimbroker/vimbroker/test/real"
	"github.com/vimbroker/vimbroker/test/story"
)

// TestVaultByServiceAccount has a server log in to Vault by a pod's service account, which Vault has the API
// server review. The token is replaced in its file; the account, its role and Vault's right to ask are
// withdrawn: issuing ends with the reason, and goes on by itself once all is given back.
func TestVaultByServiceAccount(t *testing.T) {
	cluster := real.OwnKubernetes(t)
	v := real.OnKubernetes(t, cluster)
	v.NewAccount(t)
	v.PutToken(t)
	dir := t.TempDir()
	token, digest := policy.NewToken()
	for name, text := range map[string]string{
		"tokens.yaml": "tokens: [{name: admin, project: default, roles: [admin], sha256: " + digest + "}]\n",
		"config.yaml": fmt.Sprintf(`
listen: 127.0.0.1:0
dataDir: %s
tokensFile: %s
egress: {allowLoopback: true}
keyStores: [vault: {address: %s, caFile: %s, auth: {jwt: {role: vimbroker, tokenFile: %s, mountPath: kubernetes}}}]
`, dir, filepath.Join(dir, "tokens.yaml"), v.Address, v.CAFile, v.TokenFile),
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	b, err := story.Serve(story.Build(t, t.TempDir()), dir, []string{"HOME=" + dir}, "--config", filepath.Join(dir, "config.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(b.Kill)
	c, err := client.New(client.Options{Addr: b.URL, Token: secret.NewText(token)})
	if err != nil {
		t.Fatal(err)
	}
	if _, err = c.RegisterVIM(t.Context(), v1.Registration{
		Name: "edge", Type: "kubernetes", Endpoint: cluster.Endpoint, CACert: cluster.CAPEM,
		Credential: v1.Credential{Token: secret.NewText(cluster.AdminToken(t))},
	}, ""); err != nil {
		t.Fatal(err)
	}
	issue := func() error {
		_, err := c.IssueLease(t.Context(), v1.LeaseRequest{VIM: "edge", Role: "view", Namespaces: []string{"default"}}, "")
		return err
	}
	well := func(after string) {
		t.Helper()
		began := time.Now()
		var err error
		if !real.Poll(t, 2*time.Minute, func() bool { err = issue(); return err == nil }) {
			t.Fatalf("after %s: %v, and /readyz says %s", after, err, parts(t, b.URL))
		}
		t.Logf("after %s a lease is issued within %v", after, time.Since(began))
		if !real.Poll(t, time.Minute, func() bool { return !strings.Contains(parts(t, b.URL), `"parts"`) }) {
			t.Errorf("after %s /readyz says %s", after, parts(t, b.URL))
		}
	}
	refused := func(after string) {
		t.Helper()
		var err error
		if !real.Poll(t, time.Minute, func() bool { v.LogOut(t); err = issue(); return err != nil }) {
			t.Fatalf("after %s leases are still issued", after)
		}
		if !strings.Contains(err.Error(), "Vault refuses the login") {
			t.Errorf("after %s issuing = %v, want that Vault refuses the login", after, err)
		}
		if !real.Poll(t, time.Minute, func() bool {
			said := parts(t, b.URL)
			return strings.HasPrefix(said, "200 ") && strings.Contains(said, `"name":"issuing"`) && strings.Contains(said, "Vault refuses the login")
		}) {
			t.Errorf("after %s /readyz says %s", after, parts(t, b.URL))
		}
	}
	well("the start")

	v.LogOut(t)
	well("its tokens are revoked")
	v.PutToken(t)
	v.LogOut(t)
	well("the token in the file is replaced")

	// The same token logs in again.
	v.MayReview(t, false)
	refused("Vault may not have tokens reviewed any more")
	v.MayReview(t, true)
	well("Vault may again")

	v.NewAccount(t)
	if !real.Poll(t, time.Minute, func() bool { return !v.LogsIn(t) }) { // the API server caches reviews for ten seconds
		t.Error("the token of an account that is gone still logs in")
	}
	refused("the account is another one")
	v.PutToken(t)
	well("the file holds its token")

	v.SetRole(t, "somebody-else")
	refused("the role is somebody else's")
	v.SetRole(t, real.PodAccount)
	well("the role is the account's again")

	if _, _, err := c.DeleteVIM(t.Context(), "edge", client.Deletion{Drain: true}); err != nil {
		t.Error(err)
	}
}

// BenchmarkVaultByServiceAccount is a login, and a look at the store, with a token that is reviewed each time, and by AppRole.
func BenchmarkVaultByServiceAccount(b *testing.B) {
	v := real.OnKubernetes(b, real.Kubernetes(b))
	v.NewAccount(b)
	v.PutToken(b)
	for name, auth := range map[string]vault.Auth{
		"kubernetes": {JWT: &vault.JWT{Role: "vimbroker", TokenFile: v.TokenFile, MountPath: "kubernetes"}},
		"AppRole":    {AppRole: &vault.AppRole{RoleID: v.RoleID, SecretIDFile: v.SecretIDFile}},
	} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				s, err := vault.Open(b.Context(), vault.Options{Address: v.Address, CAFile: v.CAFile, Auth: auth, Log: slog.New(slog.DiscardHandler)})
				if err == nil {
					err = s.Check(b.Context())
				}
				if err != nil {
					b.Fatal(err)
				}
				b.StopTimer()
				_ = s.Close(b.Context())
				b.StartTimer()
			}
		})
	}
}
