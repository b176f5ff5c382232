package cloud_test

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/vimbroker/vimbroker/broker/secret"
	"github.com/vimbroker/vimbroker/drivers/barbican"
	"github.com/vimbroker/vimbroker/drivers/keydir"
	"github.com/vimbroker/vimbroker/drivers/vault"
	"github.com/vimbroker/vimbroker/test/fakekube"
	"github.com/vimbroker/vimbroker/test/process"
	"github.com/vimbroker/vimbroker/test/real"
	"github.com/vimbroker/vimbroker/test/story"
)

// mover is an installation with three key stores, Barbican first, and a VIM of each
// type under a lease.
type mover struct {
	*story.Site
	stores map[string]secret.KeyStore
	leases []string
}

func newMover(t *testing.T) *mover {
	t.Helper()
	o, v, kube := real.OpenStack(t), real.Vault(t), fakekube.New(t, fakekube.Options{})
	keeper, tenant := o.Project(t), o.Project(t)
	settings := fmt.Sprintf(`keyStores:
- barbican:
    authURL: %q
    endpoint: %q
    timeout: 60s
    auth: {password: {userID: %q, projectID: %q, passwordFile: %q}}
- vault:
    address: %q
    caFile: %q
    timeout: 60s
    auth: {appRole: {roleIDFile: %q, secretIDFile: %q}}
- keydir: {}
`, o.AuthURL, o.KeyManager, keeper.UserID, keeper.ProjectID, private(t, keeper.Password), v.Address, v.CAFile, private(t, v.RoleID), v.SecretIDFile)
	m := &mover{Site: story.NewSite(t, story.Build(t, t.TempDir()), settings)}
	dir, err := keydir.Open(m.File("var/lib/vimbroker/keys"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = dir.Close() })
	keys, err := vault.Open(t.Context(), vault.Options{
		Address: v.Address, CAFile: v.CAFile, Timeout: process.Patience,
		Auth: vault.Auth{AppRole: &vault.AppRole{RoleID: v.RoleID, SecretIDFile: v.SecretIDFile}},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = keys.Close(context.WithoutCancel(t.Context())) })
	m.stores = map[string]secret.KeyStore{
		"barbican": openBarbican(t, barbican.Options{AuthURL: o.AuthURL, Endpoint: o.KeyManager, Auth: byPassword(t, keeper), Timeout: process.Patience}),
		"vault":    keys,
		"keydir":   dir,
	}
	for name, text := range map[string]string{"kubeconfig": kube.Kubeconfig(), "clouds.yaml": fmt.Sprintf(
		"clouds: {one: {auth: {auth_url: %q, user_id: %q, password: %q, project_id: %q}}}\n", o.AuthURL, tenant.UserID, tenant.Password, tenant.ProjectID)} {
		m.Write(t, "root/"+name, text)
	}
	m.Must(t, "vimbroker vim register --kubeconfig kubeconfig edge")
	m.Must(t, "vimbroker vim register --clouds-yaml clouds.yaml --cloud one cloud")
	for _, vim := range []string{"edge", "cloud"} {
		var l struct{ ID string }
		m.Decode(t, "vimbroker lease issue -o json --vim "+vim, &l)
		m.leases = append(m.leases, l.ID)
	}
	return m
}

// wantKeys asserts that each VIM has one key, in that key store, which opens, and
// that there is no other key anywhere, but for the audit log's own: beside them, or in the
// first store, if the log was signed for the first time since the last move.
func (m *mover) wantKeys(t *testing.T, in string, vims int) {
	t.Helper()
	signs := 0
	for name, store := range m.stores {
		want := 0
		if name == in {
			want = vims
		}
		held, err := store.List(t.Context(), "")
		if (name == in || name == "barbican") && len(held) == want+1 && signs == 0 {
			want++
			signs++
		}
		if err != nil || len(held) != want {
			t.Errorf("%s holds %d keys, %v, want %d", name, len(held), err, want)
		}
	}
	var status struct {
		Items []struct {
			KeyStore string
			Opens    bool
		}
	}
	m.Decode(t, "vimbroker key status --try -o json", &status)
	for _, k := range status.Items {
		if k.KeyStore != in || !k.Opens {
			t.Errorf("a key is in %s, and opens: %v, want in %s", k.KeyStore, k.Opens, in)
		}
	}
	if len(status.Items) != vims {
		t.Errorf("key status shows %d VIMs, want %d", len(status.Items), vims)
	}
}

// TestKeysMoveBetweenAllStores moves the keys along every way that there is between
// three real key stores, under leases that go on.
func TestKeysMoveBetweenAllStores(t *testing.T) {
	t.Parallel()
	m := newMover(t)
	m.wantKeys(t, "barbican", 2)
	for _, to := range []string{"vault", "keydir", "barbican", "keydir", "vault", "barbican"} {
		r := m.Try(t, "vimbroker key migrate --to "+to)
		if r.Code != 0 || !strings.Contains(r.Stderr, "2/2") {
			t.Fatalf("key migrate --to %s: exit code %d: %s", to, r.Code, r.Stderr)
		}
		m.wantKeys(t, to, 2)
		for _, id := range m.leases {
			m.Must(t, "vimbroker lease renew "+id+" --ttl 2h")
		}
		if again := m.Try(t, "vimbroker key migrate --to "+to); again.Code != 0 || again.Stderr != "" {
			t.Errorf("key migrate --to %s again: exit code %d: %s, want nothing to do", to, again.Code, again.Stderr)
		}
	}
	m.Must(t, "vimbroker vim inventory --all")
	for _, id := range m.leases {
		if got := m.Must(t, "vimbroker lease revoke --wait "+id); !strings.Contains(got, "revoked") {
			t.Errorf("lease revoke: %s", got)
		}
	}
	m.Must(t, "vimbroker vim inventory --all")
	m.Must(t, "vimbroker vim delete edge")
	m.Must(t, "vimbroker vim delete cloud")
	m.wantKeys(t, "barbican", 0)
	if left, err := filepath.Glob(m.File("tmp/vimbroker-*/*/*")); err != nil || len(left) > 0 {
		t.Errorf("files of leases: %q, %v", left, err)
	}
}
