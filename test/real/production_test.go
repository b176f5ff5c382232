package real_test

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/vimbroker/vimbroker/test/process"
	"github.com/vimbroker/vimbroker/test/real"
	"github.com/vimbroker/vimbroker/test/story"
)

// TestProduction types docs/production.md, from its first command to its last, on a
// machine that has nothing, a PostgreSQL and a Vault that know nothing of the broker.
func TestProduction(t *testing.T) {
	sections, err := story.Runbook("../../docs/production.md")
	if err != nil {
		t.Fatal(err)
	}
	cluster, vault, database := real.Kubernetes(t), real.NewVault(t), real.OwnPostgres(t)
	database.Exec(t, "", "DROP ROLE vimbroker")
	repository, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	listen := process.FreeAddress(t)
	group := fmt.Sprint(os.Getgid())

	m := story.NewMachine(t, filepath.Join(repository, "bin", "vault"), filepath.Dir(cluster.Kubectl))
	m.Replace = []string{
		"make build", "make -s -C " + repository + " BIN=" + m.File("root/bin") + " build",
		"DNS:broker.example", "IP:127.0.0.1",
		"broker.example:8420", listen,
		"0.0.0.0:8420", listen,
		"db.example", fmt.Sprintf("127.0.0.1:%d", database.Port),
		"https://vault.example:8200", vault.Address,
		// There is no user of that name here, and nobody becomes another one.
		"-g vimbroker", "-g " + group,
		"chgrp vimbroker", "chgrp " + group,
		"useradd ", "true ",
	}
	m.Standing = "egress: {allowLoopback: true}\n" // where the cluster of the test is
	if err := os.Symlink(filepath.Join(repository, "deploy"), m.File("root/deploy")); err != nil {
		t.Fatal(err)
	}
	for name, from := range map[string]string{"db-ca.pem": database.CAFile, "vault-ca.pem": vault.CAFile, "edge1.admin.kubeconfig": cluster.Kubeconfig} {
		text, err := os.ReadFile(from)
		if err != nil {
			t.Fatal(err)
		}
		m.Write(t, "root/"+name, string(text))
	}
	caches, err := exec.Command("go", "env", "GOCACHE", "GOMODCACHE").Output()
	if err != nil {
		t.Fatal(err)
	}
	cache := strings.Fields(string(caches))
	m.Env = append(m.Env, "GOCACHE="+cache[0], "GOMODCACHE="+cache[1], // another home would have all compiled anew
		"PGHOST=127.0.0.1", fmt.Sprintf("PGPORT=%d", database.Port), "PGUSER=postgres", "PGPASSWORD="+real.PostgresPassword,
		"VAULT_ADDR="+vault.Address, "VAULT_CACERT="+vault.CAFile, "VAULT_TOKEN="+vault.RootToken)
	t.Cleanup(func() { // the cluster is everybody's
		if m.Broker != nil {
			m.Try(t, "vimbroker vim delete edge1 --project acme --drain --wait")
		}
		m.Try(t, "kubectl --kubeconfig edge1.admin.kubeconfig delete --wait=false -f edge1.rbac.yaml")
	})
	for _, s := range sections {
		if len(s.Steps) > 0 {
			m.Follow(t, s.Steps)
		}
	}

	// What the page is for holds: TLS, the key in Vault, the state in PostgreSQL, the
	// rules in force, and nothing secret where others read.
	if !strings.HasPrefix(m.Broker.URL, "https://") {
		t.Errorf("the server listens at %s", m.Broker.URL)
	}
	if status := m.Must(t, "vimbroker key status"); !strings.Contains(status, "vault") || strings.Contains(status, "keydir") {
		t.Errorf("the keys are here:\n%s", status)
	}
	if left, err := filepath.Glob(m.File("var/lib/vimbroker/*.db")); err != nil || len(left) > 0 {
		t.Errorf("state on this machine: %q, %v", left, err)
	}
	var log struct {
		Items []struct{ Principal, Action, Outcome string }
	}
	if err := json.Unmarshal([]byte(m.Must(t, "vimbroker audit list --limit 1000 -o json")), &log); err != nil {
		t.Fatal(err)
	}
	var refused, issued bool
	for _, e := range log.Items {
		mine := e.Principal == "alice" && e.Action == "lease:issue"
		refused = refused || mine && e.Outcome == "denied"
		issued = issued || mine && e.Outcome != "denied"
	}
	if !refused || !issued {
		t.Errorf("alice was issued a lease: %v, refused one: %v; want both in the log", issued, refused)
	}
	for _, name := range []string{"etc/vimbroker/dsn", "etc/vimbroker/tls/tls.key", "etc/vimbroker/vault-secret-id", "root/admin.token", "root/alice.token"} {
		info, err := os.Stat(m.File(name))
		if err != nil || info.Mode().Perm()&0o007 != 0 {
			t.Errorf("%s: %v, %v; want nothing for others", name, info.Mode(), err)
		}
	}
	m.Must(t, "vimbroker vim delete edge1 --project acme --drain --wait")
	if err := m.Broker.Stop(); err != nil {
		t.Error(err)
	}
	m.Broker = nil
}
