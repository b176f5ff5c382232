package real_test

import (
	"encoding/json"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/vimbroker/vimbroker/test/real"
	"github.com/vimbroker/vimbroker/test/story"
)

// production is an installation on real systems: the settings that a runbook
// writes for PostgreSQL and Vault are true here.
type production struct {
	*story.Site
	cluster  *real.Cluster
	database *real.PostgresServer
	vault    *real.VaultServer
	sections map[string][]story.Step
}

// install makes a machine with the server on SQLite and a key directory, with the
// cluster registered as edge1 and a lease on it in the file "lease".
func install(t *testing.T) *production {
	t.Helper()
	p := &production{cluster: real.Kubernetes(t), database: real.OwnPostgres(t), vault: real.Vault(t), sections: map[string][]story.Step{}}
	dsn := p.database.DSN(t)
	sections, err := story.Runbook("../../docs/runbook.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range sections {
		p.sections[s.Title] = s.Steps
	}
	tools, err := filepath.Abs("../../bin/vault")
	if err != nil {
		t.Fatal(err)
	}
	p.Site = story.NewSite(t, story.Build(t, t.TempDir()), "", tools, filepath.Dir(p.cluster.Kubectl))
	p.Replace = []string{"https://vault.example:8200", p.vault.Address}
	for name, file := range map[string]string{"vault-ca.pem": p.vault.CAFile, "vault-secret-id": p.vault.SecretIDFile} {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		p.Write(t, "etc/vimbroker/"+name, string(text))
	}
	p.Write(t, "etc/vimbroker/vault-role-id", p.vault.RoleID+"\n")
	p.Write(t, "etc/vimbroker/dsn", dsn+"\n")
	p.Write(t, "root/kubeconfig", kubeconfigOf(p.cluster))
	u, err := url.Parse(dsn)
	if err != nil {
		t.Fatal("the connection string is no URL")
	}
	database, password := strings.Trim(u.Path, "/"), ""
	// What an administrator has in the database besides is no hindrance to a restore.
	p.database.Exec(t, database, `CREATE EXTENSION hstore; COMMENT ON EXTENSION hstore IS 'the administrator''s'`)
	if u.User != nil {
		password, _ = u.User.Password()
	}
	p.Write(t, "root/pgpass", fmt.Sprintf("%s:%s:%s:%s:%s\n", u.Hostname(), u.Port(), database, u.User.Username(), password))
	p.Env = append(p.Env,
		"PGHOST="+u.Hostname(), "PGPORT="+u.Port(), "PGDATABASE="+database, "PGUSER="+u.User.Username(), "PGPASSFILE="+p.File("root/pgpass"),
		"VAULT_ADDR="+p.vault.Address, "VAULT_CACERT="+p.vault.CAFile, "VAULT_TOKEN="+p.vault.RootToken)

	p.Must(t, "vimbroker vim register --kubeconfig kubeconfig edge1")
	p.Must(t, "vimbroker lease issue --vim edge1 --role view > lease")
	t.Cleanup(func() { // the cluster is everybody's
		if p.Broker != nil {
			p.Must(t, "vimbroker vim delete edge1 --drain --wait")
		}
	})
	return p
}

// works asserts that the credential in a file is taken.
func (p *production) works(t *testing.T, file string) {
	t.Helper()
	p.Must(t, "kubectl --kubeconfig "+file+" get namespaces")
}

// audited are all audit entries, oldest first.
func (p *production) audited(t *testing.T) (entries []string) {
	t.Helper()
	var list struct{ Items []json.RawMessage }
	if err := json.Unmarshal([]byte(p.Must(t, "vimbroker audit list --limit 1000 -o json")), &list); err != nil {
		t.Fatal(err)
	}
	for _, e := range slices.Backward(list.Items) {
		entries = append(entries, string(e))
	}
	return entries
}

// newPassword gives the database's role another password, as the runbook does, and ends
// the connections that were made with the one before.
func (p *production) newPassword(t *testing.T) {
	t.Helper()
	p.Follow(t, p.sections["New password for the database"])
	text, err := os.ReadFile(p.File("etc/vimbroker/dsn"))
	if err != nil {
		t.Fatal(err)
	}
	u, err := url.Parse(strings.TrimSpace(string(text)))
	if err != nil {
		t.Fatal("the connection string is no URL any more")
	}
	password, _ := u.User.Password()
	if password == real.PostgresRolePassword {
		t.Error("the connection string has the password of before")
	}
	p.Write(t, "root/pgpass", fmt.Sprintf("%s:%s:%s:%s:%s\n", u.Hostname(), u.Port(), strings.Trim(u.Path, "/"), u.User.Username(), password))
	p.database.Exec(t, "", "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'vimbroker'")
	p.Must(t, "vimbroker vim show edge1")
}

const move = "From one machine to PostgreSQL and Vault"

// TestRunbookOnRealSystems follows, from the try-out's SQLite and key directory
// on, what the runbook says about PostgreSQL and Vault. One lease lives through
// all of it.
func TestRunbookOnRealSystems(t *testing.T) {
	t.Parallel()
	p := install(t)
	audited := p.audited(t)
	p.Follow(t, p.sections[move])
	p.works(t, "lease")
	if keys, err := filepath.Glob(p.File("var/lib/vimbroker/keys/*/*")); err != nil || len(keys) > 0 {
		t.Errorf("the key directory still holds %q, %v", keys, err)
	}
	if status := p.Must(t, "vimbroker key status"); !strings.Contains(status, "vault") || strings.Contains(status, "keydir") {
		t.Errorf("after the move the keys are here:\n%s", status)
	}
	if now := p.audited(t); len(audited) == 0 || !slices.Equal(audited, now[:len(audited)]) {
		t.Errorf("the audit log, which held %d entries, is another", len(audited))
	}
	// A second server on the old file would destroy keys of the first.
	if _, err := os.Stat(p.File("var/lib/vimbroker/vimbroker.db")); err == nil {
		t.Error("the old database is still where a server would take it up")
	}

	p.Follow(t, p.sections["Back up PostgreSQL and Vault"])
	p.Must(t, "vimbroker lease issue --vim edge1 > later")
	p.Follow(t, p.sections["Upgrade replicas"])
	p.works(t, "later")
	p.newPassword(t)
	p.Follow(t, p.sections["Revoke a server's access to Vault"])
	p.works(t, "lease")
	p.Follow(t, p.sections["Restore PostgreSQL"])
	p.works(t, "lease")
	// The lease of after the backup is an orphan now, which the runbook settles.
	if got := p.Try(t, "vimbroker vim inventory --all"); got.Code == 0 {
		t.Errorf("the restored database knows of everything upstream: %s", got.Stdout)
	}
	p.Must(t, "vimbroker vim inventory --all --settle")
	p.Must(t, "vimbroker vim inventory --all")
	p.Must(t, "vimbroker lease revoke --all --operations --wait")
	if got := p.Try(t, "kubectl --kubeconfig lease get namespaces"); !strings.Contains(got.Stderr, "Unauthorized") {
		t.Errorf("the revoked lease: %s%s", got.Stdout, got.Stderr)
	}
}
