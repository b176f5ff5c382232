package real_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/vimbroker/vimbroker/broker/api/client"
	v1 "github.com/vimbroker/vimbroker/broker/api/v1"
	"github.com/vimbroker/vimbroker/broker/secret"
	"github.com/vimbroker/vimbroker/policy"
	"github.com/vimbroker/vimbroker/test/real"
	"github.com/vimbroker/vimbroker/test/story"
)

// serveOnVault starts a server that keeps its keys in a Vault, where it logs in by auth, a key of the
// configuration. It returns the server, a client of its administrator, and the administrator's token. A cluster is
// registered as edge.
func serveOnVault(t *testing.T, cluster *real.Cluster, v *real.VaultServer, auth string) (*story.Broker, *client.Client, string) {
	t.Helper()
	dir := t.TempDir()
	token, digest := policy.NewToken()
	for name, text := range map[string]string{
		"tokens.yaml": "tokens: [{name: admin, project: default, roles: [admin], sha256: " + digest + "}]\n",
		"config.yaml": fmt.Sprintf(`
listen: 127.0.0.1:0
dataDir: %s
tokensFile: %s
egress: {allowLoopback: true}
keyStores: [vault: {address: %s, caFile: %s, auth: {%s}}]
`, dir, filepath.Join(dir, "tokens.yaml"), v.Address, v.CAFile, auth),
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
	return b, c, token
}
