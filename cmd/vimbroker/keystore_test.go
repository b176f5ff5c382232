package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/vimbroker/vimbroker/cmd/vimbroker/console"
	"github.com/vimbroker/vimbroker/test/csar"
	"github.com/vimbroker/vimbroker/test/fake"
	"github.com/vimbroker/vimbroker/test/fakebarbican"
	"github.com/vimbroker/vimbroker/test/fakekube"
	"github.com/vimbroker/vimbroker/test/fakevault"
	"github.com/vimbroker/vimbroker/test/process"
	"github.com/vimbroker/vimbroker/test/real"
	"github.com/vimbroker/vimbroker/test/story"
)

// vaultSettings are the lines of keyStores for a fake Vault.
func vaultSettings(t *testing.T, v *fakevault.Server) string {
	t.Helper()
	return fmt.Sprintf("  - vault: {address: %q, caFile: %q, timeout: 2s, auth: {appRole: {roleIDFile: %q, secretIDFile: %q}}}\n",
		v.Address, story.WriteFile(t, "ca.pem", v.CA, 0o600), story.WriteFile(t, "role-id", v.RoleID+"\n", 0o600), story.WriteFile(t, "secret-id", v.SecretID()+"\n", 0o600))
}

// unsigned is for tests that count keys: the audit log is signed once, some time after the first start.
const unsigned = "audit: {checkpointInterval: 24h}\n"

// awaitAllParts waits until the server says that every part of it can be used.
func (i *configured) awaitAllParts(t *testing.T) {
	t.Helper()
	var status int
	var body string
	if !real.Poll(t, process.Patience, func() bool {
		status, body = i.get(t, "/readyz")
		return status == http.StatusOK && !strings.Contains(body, `"parts"`)
	}) {
		t.Fatalf("GET /readyz = %d %s, want that every part can be used", status, body)
	}
}

// registered registers the cluster as edge, and returns its id.
func (i *configured) registered(t *testing.T, kubeconfig string) string {
	t.Helper()
	code, stdout, stderr := i.run(t, "vim", "register", "--kubeconfig", kubeconfig, "edge", "-o", "json")
	var edge struct{ ID string }
	if err := json.Unmarshal([]byte(stdout), &edge); code != 0 || err != nil || edge.ID == "" {
		t.Fatalf("vim register: %s, %v", stderr, err)
	}
	return edge.ID
}

// keysOf counts the names that have the id of a VIM in them. The others are the audit log's.
func keysOf(id string, names []string) (n int) {
	for _, name := range names {
		if strings.Contains(name, id) {
			n++
		}
	}
	return n
}

func TestVaultIsTheKeyStore(t *testing.T) {
	v := fakevault.New(t, nil)
	v.Seal()
	i := serveConfig(t, unsigned+"keyStores:\n"+vaultSettings(t, v))

	// It runs, is ready for what needs no key, says what does not go, and recovers without a restart.
	if status, body := i.get(t, "/readyz"); status != http.StatusOK || !strings.Contains(body, `"detail":"the key store vault cannot be used: Vault is sealed"`) {
		t.Errorf("GET /readyz with a sealed Vault = %d %s", status, body)
	}
	if _, body := i.get(t, "/metrics"); !strings.Contains(body, `vimbroker_part_up{part="issuing"} 0`) || !strings.Contains(body, `vimbroker_part_up{part="recording"} 1`) {
		t.Errorf("GET /metrics with a sealed Vault lacks which part is down")
	}
	if log := i.log.String(); !strings.Contains(log, "Vault is sealed") {
		t.Errorf("the log of a server whose Vault is sealed says %s", log)
	}
	v.Unseal()
	i.awaitAllParts(t)
	kube := fakekube.New(t, fakekube.Options{})
	kubeconfig := story.WriteFile(t, "kubeconfig", kube.Kubeconfig(), 0o600)
	id := i.registered(t, kubeconfig)
	if n := keysOf(id, v.Names()); n != 1 {
		t.Errorf("Vault holds %d keys of the VIM, want one", n)
	}
	if left, err := os.ReadDir(filepath.Join(i.data, "keys")); err == nil {
		t.Errorf("there is a key directory, holding %v", left)
	}

	// A sealed Vault: nothing is served from memory.
	v.Seal()
	if code, _, stderr := i.run(t, "lease", "issue", "--vim", "edge"); code != console.ExitFailed || !strings.Contains(stderr, "key store") {
		t.Errorf("lease issue with a sealed Vault = %d, %q", code, stderr)
	}
	v.Unseal()
	if code, _, stderr := i.run(t, "lease", "issue", "--vim", "edge"); code != 0 {
		t.Errorf("lease issue once Vault is unsealed = %d, %q", code, stderr)
	}
	i.stop()
	if n := v.Tokens(); n != 0 {
		t.Errorf("a stopped server left %d tokens in Vault", n)
	}
}

// barbicanSettings are the lines of keyStores for a fake Barbican.
func barbicanSettings(t *testing.T, b *fakebarbican.Server) string {
	t.Helper()
	return fmt.Sprintf("  - barbican: {authURL: %q, endpoint: %q, caFile: %q, timeout: 2s, auth: {password: {userID: %s, projectID: %s, passwordFile: %q}}}\n",
		b.AuthURL, b.Endpoint, story.WriteFile(t, "ca.pem", b.CA, 0o600), fakebarbican.UserID, fakebarbican.ProjectID, story.WriteFile(t, "password", b.Password()+"\n", 0o600))
}

// Keys come to Barbican and leave it again, and a Barbican that is down at the
// start is waited for.
func TestKeysMoveThroughBarbican(t *testing.T) {
	kube := fakekube.New(t, fakekube.Options{})
	kubeconfig := story.WriteFile(t, "kubeconfig", kube.Kubeconfig(), 0o600)
	b, v := fakebarbican.New(t, nil), fakevault.New(t, nil)
	b.Fail(fake.Fault{Kind: fake.Refuse, Status: 503, Times: -1})
	i := serveConfig(t, unsigned+"keyStores:\n"+barbicanSettings(t, b))
	if status, body := i.get(t, "/readyz"); status != http.StatusOK || !strings.Contains(body, "the key store barbican cannot be used") {
		t.Errorf("GET /readyz without Keystone = %d %s", status, body)
	}
	b.Heal()
	i.awaitAllParts(t)
	id := i.registered(t, kubeconfig)
	held := func(inBarbican, inVault int) {
		t.Helper()
		var names []string
		for _, s := range b.Secrets() {
			names = append(names, s.Name)
		}
		if there, here := keysOf(id, names), keysOf(id, v.Names()); there != inBarbican || here != inVault {
			t.Errorf("Barbican holds %d keys of the VIM and Vault %d, want %d and %d", there, here, inBarbican, inVault)
		}
	}
	migrate := func(to, settings string) {
		t.Helper()
		i.restart(t, unsigned+"keyStores:\n"+settings)
		if code, _, stderr := i.run(t, "key", "migrate", "--to", to); code != 0 {
			t.Fatalf("key migrate: %s", stderr)
		}
		if code, _, stderr := i.run(t, "lease", "issue", "--vim", "edge"); code != 0 {
			t.Errorf("lease issue with the key in %s: %s", to, stderr)
		}
	}
	held(1, 0)
	migrate("vault", vaultSettings(t, v)+barbicanSettings(t, b))
	held(0, 1)
	migrate("barbican", barbicanSettings(t, b)+vaultSettings(t, v))
	held(1, 0)
	migrate("keydir", "  - keydir: {}\n"+barbicanSettings(t, b))
	held(0, 0)
	i.stop()
	if n := b.Tokens(); n != 0 {
		t.Errorf("stopped servers left %d tokens in Keystone", n)
	}
}

func TestKeysMoveToVaultByConfigurationAlone(t *testing.T) {
	kube := fakekube.New(t, fakekube.Options{})
	kubeconfig := story.WriteFile(t, "kubeconfig", kube.Kubeconfig(), 0o600)
	const withONAP = unsigned + "onapAPI: {enabled: true}\n"
	i := serveConfig(t, withONAP)
	for _, name := range []string{"edge", "core"} {
		if code, _, stderr := i.run(t, "vim", "register", "--kubeconfig", kubeconfig, name); code != 0 {
			t.Fatalf("vim register: %s", stderr)
		}
	}
	i.profile(t)
	if code, _, stderr := i.run(t, "lease", "issue", "--vim", "edge"); code != 0 {
		t.Fatalf("lease issue: %s", stderr)
	}
	v := fakevault.New(t, nil)
	i.restart(t, withONAP+"keyStores:\n"+vaultSettings(t, v)+"  - keydir: {}\n")
	if code, _, stderr := i.run(t, "key", "migrate", "--to", "vault"); code != 0 {
		t.Fatalf("key migrate: %s", stderr)
	}
	var signers string
	if !real.Poll(t, process.Patience, func() bool { // the log may be signed for the first time just now
		_, signers, _ = i.run(t, "audit", "key", "list", "-o", "json")
		return len(v.Names()) == 3+strings.Count(signers, `"signing"`)
	}) {
		t.Errorf("Vault holds %q, want keys of two VIMs, of a profile's values, and of what signs the audit log: %s", v.Names(), signers)
	}
	i.restart(t, unsigned+"keyStores:\n"+vaultSettings(t, v))
	if code, stdout, stderr := i.run(t, "key", "status", "--try"); code != 0 || strings.Contains(stdout, "keydir") || strings.Count(stdout, "yes") != 2 {
		t.Errorf("key status --try with Vault alone = %d, %s%s", code, stdout, stderr)
	}
	if code, _, stderr := i.run(t, "lease", "revoke", "--vim", "edge", "--wait"); code != 0 {
		t.Errorf("lease revoke after the move = %d, %s", code, stderr)
	}
}

// profile makes one at ONAP's door, whose values are sealed.
func (i *configured) profile(t *testing.T) {
	t.Helper()
	ask := func(path, body string) {
		t.Helper()
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://"+i.addr+"/onap/v1/rb/definition"+path, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Authorization", "Bearer "+i.token)
		answer, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		defer answer.Body.Close()
		if answer.StatusCode >= 300 {
			t.Fatalf("POST %s = %s", path, answer.Status)
		}
	}
	ask("", `{"rb-name": "rb", "rb-version": "1"}`)
	ask("/rb/1/profile", `{"profile-name": "p", "namespace": "default"}`)
	ask("/rb/1/profile/p/content", string(csar.TarGz("manifest.yaml", "version: v1\ntype: {values: a.yaml}\n", "a.yaml", "password: canary\n")))
}
