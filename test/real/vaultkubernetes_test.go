package real_test

import (
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/vimbroker/vimbroker/broker/api/client"
	v1 "github.com/vimbroker/vimbroker/broker/api/v1"
	"github.com/vimbroker/vimbroker/drivers/vault"
	"github.com/vimbroker/vimbroker/test/field"
	"github.com/vimbroker/vimbroker/test/real"
)

// TestFieldVaultByServiceAccount has a server log in to Vault by a pod's service account, which Vault has the API
// server review. The token is replaced in its file; the account, its role and Vault's right to ask are
// withdrawn: issuing ends with the reason, and goes on by itself once all is given back.
func TestFieldVaultByServiceAccount(t *testing.T) {
	field.Only(t)
	v := real.OnKubernetes(t, real.OwnKubernetes)
	v.NewAccount(t)
	v.PutToken(t)
	b, c, _ := serveOnVault(t, v.Cluster, v.VaultServer, fmt.Sprintf("jwt: {role: vimbroker, tokenFile: %s, mountPath: kubernetes}", v.TokenFile))
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
	v := real.OnKubernetes(b, real.Kubernetes)
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
