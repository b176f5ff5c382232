package real_test

import (
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/vimbroker/vimbroker/broker/api/client"
	v1 "github.com/vimbroker/vimbroker/broker/api/v1"
	"github.com/vimbroker/vimbroker/test/real"
)

// parts is what a server says at /readyz, which anybody may ask.
func parts(t *testing.T, url string) string {
	t.Helper()
	answer, err := http.Get(url + "/readyz")
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf("%d %s", answer.StatusCode, body)
}

// A sealed Vault costs issuing, and that at once and with the reason. Leases are listed, and
// revoked: the revocation is recorded, and ends on the cluster once Vault is unsealed.
func TestSealedVaultCostsIssuingAlone(t *testing.T) {
	t.Parallel()
	cluster, v := real.Kubernetes(t), real.Vault(t)
	roleID := filepath.Join(t.TempDir(), "role-id")
	if err := os.WriteFile(roleID, []byte(v.RoleID), 0o600); err != nil {
		t.Fatal(err)
	}
	b, c, token := serveOnVault(t, cluster, v, fmt.Sprintf("appRole: {roleIDFile: %s, secretIDFile: %s}", roleID, v.SecretIDFile))
	ask := v1.LeaseRequest{VIM: "edge", Role: "view", Namespaces: []string{"default"}}
	l, err := c.IssueLease(t.Context(), ask, "")
	if err != nil {
		t.Fatal(err)
	}

	v.Seal(t)
	began := time.Now()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, b.URL+"/v1/leases", strings.NewReader(`{"vim":"edge","role":"view","namespaces":["default"]}`))
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Authorization", "Bearer "+token)
	request.Header.Set("Content-Type", "application/json")
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	body, err := io.ReadAll(answer.Body)
	_ = answer.Body.Close()
	if err != nil || answer.StatusCode != http.StatusServiceUnavailable || answer.Header.Get("Retry-After") == "" || !strings.Contains(string(body), "Vault is sealed") {
		t.Errorf("issuing with a sealed Vault = %s, Retry-After %q, %s, %v", answer.Status, answer.Header.Get("Retry-After"), body, err)
	}
	t.Logf("issuing is refused after %v", time.Since(began))
	if list, err := c.Leases(t.Context(), client.LeaseQuery{}); err != nil || len(list.Items) == 0 {
		t.Errorf("leases with a sealed Vault: %+v, %v", list, err)
	}
	revoking, err := c.RevokeLease(t.Context(), l.ID)
	if err != nil || revoking.State != "revoking" {
		t.Errorf("revoking with a sealed Vault = %s, %v", revoking.State, err)
	}
	if !real.Poll(t, patience, func() bool {
		said := parts(t, b.URL)
		return strings.HasPrefix(said, "200 ") && strings.Contains(said, `"name":"issuing"`) && strings.Contains(said, "Vault is sealed")
	}) {
		t.Errorf("/readyz with a sealed Vault = %s", parts(t, b.URL))
	}

	v.Unseal(t)
	if !real.Poll(t, patience, func() bool { return !strings.Contains(parts(t, b.URL), `"parts"`) }) {
		t.Errorf("/readyz once Vault is unsealed = %s", parts(t, b.URL))
	}
	if !real.Poll(t, patience, func() bool {
		now, err := c.Lease(t.Context(), l.ID)
		return err == nil && now.State == "revoked"
	}) {
		t.Error("the revocation did not end once Vault is unsealed")
	}
	if _, _, err := c.DeleteVIM(t.Context(), "edge", client.Deletion{Drain: true}); err != nil { // the cluster is everybody's
		t.Error(err)
	}
}
