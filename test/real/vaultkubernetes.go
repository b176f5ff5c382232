package real

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/vimbroker/vimbroker/test/process"
)

// kubernetesPlugin is Vault's own method "kubernetes" as a program: the Vault that the tests run is built
// without it.
const kubernetesPlugin = "vault-plugin-auth-kubernetes"

// What the method takes: tokens of this account for this audience.
const (
	podNamespace = "vimbroker-pods"
	// PodAccount is the name of the broker's account.
	PodAccount  = "broker"
	reviewer    = "vault"
	podAudience = "vault"
)

// VaultOnKubernetes is a Vault whose role "vimbroker" of the method "kubernetes" is for one service
// account: Vault has each token that it is shown reviewed by the cluster's API server.
type VaultOnKubernetes struct {
	*VaultServer
	// TokenFile is for the account's token; it is not there before PutToken.
	TokenFile string
	// Cluster is the account's.
	Cluster *Cluster
}

// OnKubernetes starts such a Vault for one test, with a cluster that it gets, and stops it when the test ends. Where there is no plugin
// the test is skipped, whatever [Demand] says: "make vault-kubernetes-tools" builds it.
func OnKubernetes(t testing.TB, cluster func(testing.TB) *Cluster) *VaultOnKubernetes {
	t.Helper()
	root, err := process.Repository()
	if err != nil {
		t.Fatal(err)
	}
	// Vault compares paths without symbolic links.
	plugins, err := filepath.EvalSymlinks(filepath.Join(root, "bin", "vault-kubernetes"))
	if errors.Is(err, os.ErrNotExist) {
		t.Skip("needs Vault's method kubernetes: make vault-kubernetes-tools builds it")
	}
	if err != nil {
		t.Fatal(err)
	}
	program, err := os.ReadFile(filepath.Join(plugins, kubernetesPlugin))
	if err != nil {
		t.Fatal(err)
	}
	v := &VaultOnKubernetes{VaultServer: newVault(t, plugins), Cluster: cluster(t)}
	v.TokenFile = v.file("pod-token")
	digest := sha256.Sum256(program)
	ctx := t.Context()
	if err := v.configure(ctx); err != nil {
		t.Fatalf("configuring Vault: %v", err)
	}
	type object = map[string]any
	v.Do(t, "POST", "sys/plugins/catalog/auth/kubernetes", object{"command": kubernetesPlugin, "sha256": hex.EncodeToString(digest[:])}, nil)
	v.Do(t, "POST", "sys/auth/kubernetes", object{"type": "kubernetes"}, nil)
	v.kubectl(t, "create", "namespace", podNamespace)
	v.kubectl(t, "-n", podNamespace, "create", "serviceaccount", reviewer)
	v.MayReview(t, true)
	t.Cleanup(func() {
		_, err := v.Cluster.kubectl(context.WithoutCancel(ctx), "", "delete", "namespace", podNamespace, "--wait=false")
		if err != nil {
			t.Error(err)
		}
	})
	v.Do(t, "POST", "auth/kubernetes/config", object{
		"kubernetes_host": v.Cluster.Endpoint, "kubernetes_ca_cert": v.Cluster.CAPEM, "disable_local_ca_jwt": true,
		"token_reviewer_jwt": v.kubectl(t, "-n", podNamespace, "create", "token", reviewer, "--duration=2h"),
	}, nil)
	v.SetRole(t, PodAccount)
	return v
}

// SetRole makes the role one for that account.
func (v *VaultOnKubernetes) SetRole(t testing.TB, account string) {
	t.Helper()
	v.Do(t, "POST", "auth/kubernetes/role/vimbroker", map[string]any{
		"bound_service_account_names": []string{account}, "bound_service_account_namespaces": []string{podNamespace}, "audience": podAudience,
		"token_policies": []string{"vimbroker"}, "token_no_default_policy": true, "token_ttl": 3600, "token_max_ttl": 86400,
	}, nil)
}

// LogsIn reports whether Vault takes the token in the file.
func (v *VaultOnKubernetes) LogsIn(t testing.TB) bool {
	t.Helper()
	token, err := os.ReadFile(v.TokenFile)
	if err != nil {
		t.Fatal(err)
	}
	return v.Status(t, "POST", "auth/kubernetes/login", map[string]string{"role": "vimbroker", "jwt": string(token)}) == http.StatusOK
}

// MayReview gives Vault's own account the right to have tokens reviewed, or takes it away.
func (v *VaultOnKubernetes) MayReview(t testing.TB, may bool) {
	t.Helper()
	if may {
		v.kubectl(t, "create", "clusterrolebinding", podNamespace, "--clusterrole=system:auth-delegator", "--serviceaccount="+podNamespace+":"+reviewer)
		return
	}
	v.kubectl(t, "delete", "clusterrolebinding", podNamespace)
}

// NewAccount makes the account of the broker's pod, which ends the tokens of the one of before.
func (v *VaultOnKubernetes) NewAccount(t testing.TB) {
	t.Helper()
	v.kubectl(t, "-n", podNamespace, "delete", "serviceaccount", PodAccount, "--ignore-not-found")
	v.kubectl(t, "-n", podNamespace, "create", "serviceaccount", PodAccount)
}

// PutToken puts a new token of the account into the file, as the kubelet replaces one: by a name that
// leads to another file from then on.
func (v *VaultOnKubernetes) PutToken(t testing.TB) {
	t.Helper()
	token := v.kubectl(t, "-n", podNamespace, "create", "token", PodAccount, "--audience="+podAudience, "--duration=10m")
	name := v.file(fmt.Sprintf("pod-token.%d", time.Now().UnixNano()))
	if err := os.WriteFile(name, []byte(token), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(os.Symlink(name, name+".link"), os.Rename(name+".link", v.TokenFile)); err != nil {
		t.Fatal(err)
	}
}

// LogOut revokes every token that Vault gave for a login by this method.
func (v *VaultOnKubernetes) LogOut(t testing.TB) {
	t.Helper()
	v.Do(t, "PUT", "sys/leases/revoke-prefix/auth/kubernetes/login", nil, nil)
}

func (v *VaultOnKubernetes) kubectl(t testing.TB, args ...string) string {
	t.Helper()
	out, err := v.Cluster.kubectl(t.Context(), "", args...)
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(out)
}
