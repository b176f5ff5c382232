package main

import (
	"context"
	"database/sql"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/vimbroker/vimbroker/cmd/vimbroker/console"
	"github.com/vimbroker/vimbroker/test/fakekube"
	"github.com/vimbroker/vimbroker/test/process"
	"github.com/vimbroker/vimbroker/test/real"
	"github.com/vimbroker/vimbroker/test/story"
)

// TestTrialBecomesProduction begins on the embedded database, moves to PostgreSQL,
// and loses the database for a while.
func TestTrialBecomesProduction(t *testing.T) {
	server := real.OwnPostgres(t)
	dsnFile := story.WriteFile(t, "dsn", server.DSN(t)+"\n", 0o600)
	production := "database: {postgres: {dsnFile: " + dsnFile + "}}\n"
	i := serveConfig(t, "")
	must := func(args ...string) string {
		t.Helper()
		code, stdout, stderr := i.run(t, args...)
		if code != 0 {
			t.Fatalf("%s = %d, %s", strings.Join(args, " "), code, stderr)
		}
		return stdout
	}
	refused := func(want string, args ...string) {
		t.Helper()
		if code, _, stderr := i.run(t, args...); code != console.ExitFailed || !strings.Contains(stderr, want) {
			t.Errorf("%s = %d, %q; want it to say %q", strings.Join(args, " "), code, stderr, want)
		}
	}
	kube := fakekube.New(t, fakekube.Options{})
	must("vim", "register", "--kubeconfig", story.WriteFile(t, "kubeconfig", kube.Kubeconfig(), 0o600), "edge")
	must("lease", "issue", "--vim", "edge", "--out", t.TempDir()+"/kubeconfig")

	// The server runs by the file as it was.
	refused("names no database.postgres", "db", "status", "--config", i.file)
	i.configure(t, i.text(production))
	refused("is in use by process", "db", "copy", "--config", i.file)
	i.stop()
	i.configure(t, i.text(production+"keyStores: [{vault: {address: 'https://vault.example:8200', auth: {tokenFile: /nowhere}}}]\n"))
	refused("is in key store keydir, which keyStores does not name", "db", "copy", "--config", i.file)
	i.configure(t, i.text(production))
	refused("--from", "db", "copy", "--config", i.file, "--from", "/nowhere/vimbroker.db")
	refused(`run "vimbroker db migrate"`, "db", "status", "--config", i.file)
	if code := run(t.Context(), []string{"serve", "--config", i.file}, nil, io.Discard, io.Discard, []string{"HOME=/nowhere"}); code != console.ExitFailed {
		t.Errorf("serve on a database without schema = %d, want %d", code, console.ExitFailed)
	}
	if out := must("db", "copy", "--config", i.file); !strings.HasPrefix(out, "copied 1 VIM, 1 lease, 0 keys to destroy, ") {
		t.Errorf("db copy says %q", out)
	}
	refused("in use", "db", "copy", "--config", i.file)
	if out := must("db", "migrate", "--config", i.file); !strings.Contains(out, "nothing to do") {
		t.Errorf("db migrate after db copy says %q", out)
	}
	var status struct {
		Schema, SchemaKnown int
		Current, Serves     bool
	}
	if err := json.Unmarshal([]byte(must("db", "status", "--config", i.file, "-o", "json")), &status); err != nil || !status.Current || !status.Serves || status.Schema < 1 || status.Schema != status.SchemaKnown {
		t.Errorf("db status = %+v, %v", status, err)
	}

	i.start()
	if out := must("lease", "list"); !strings.Contains(out, "active") {
		t.Errorf("leases after the move:\n%s", out)
	}
	must("vim", "check", "edge") // opens with the key that it had
	must("lease", "issue", "--vim", "edge", "--out", t.TempDir()+"/kubeconfig")
	must("audit", "verify")

	server.Crash()
	var code int
	var body string
	if !real.Poll(t, process.Patience, func() bool {
		code, body = i.get(t, "/readyz")
		return code == http.StatusServiceUnavailable
	}) || strings.Contains(body, real.PostgresRolePassword) {
		t.Errorf("/readyz without the database = %d, %s", code, body)
	}
	if code, _, _ := i.run(t, "vim", "list"); code != console.ExitFailed {
		t.Errorf("vim list without the database = %d, want %d", code, console.ExitFailed)
	}
	server.Start(t)
	i.awaitAllParts(t)
	must("lease", "list")
	i.stop()
	if strings.Contains(i.log.String(), real.PostgresRolePassword) {
		t.Error("the log tells the database's password")
	}
}

func TestServerMigratesWhereItMay(t *testing.T) {
	server := real.OwnPostgres(t)
	dsnFile := story.WriteFile(t, "dsn", server.DSN(t), 0o600)
	i := serveConfig(t, "database: {postgres: {dsnFile: "+dsnFile+", migrate: true, maxConns: 9}}\n")
	if code, _, stderr := i.run(t, "vim", "list"); code != 0 {
		t.Errorf("vim list: %s", stderr)
	}
	if _, err := os.Stat(i.data + "/vimbroker.db"); err == nil {
		t.Error("an embedded database was made beside PostgreSQL")
	}
}

// TestServerRefusesADatabaseOfAnotherSchema in one line, on both stores.
func TestServerRefusesADatabaseOfAnotherSchema(t *testing.T) {
	refused := func(t *testing.T, i *configured, db *sql.DB) {
		t.Helper()
		i.stop()
		if _, err := db.ExecContext(t.Context(), `UPDATE schema_migrations SET sha256 = 'another' WHERE version = 1`); err != nil {
			t.Fatal(err)
		}
		code, _, stderr := i.run(t, "serve", "--config", i.file)
		last := stderr[strings.LastIndex(strings.TrimSuffix(stderr, "\n"), "\n")+1:]
		if code != console.ExitFailed || !strings.Contains(last, "another version made the database") || !strings.Contains(last, "begin anew") {
			t.Errorf("serve on a database of another schema = %d, %q", code, stderr)
		}
	}
	t.Run("SQLite", func(t *testing.T) {
		i := serveConfig(t, "")
		refused(t, i, openSQL(t, "sqlite", "file:"+filepath.Join(i.data, "vimbroker.db")))
	})
	t.Run("PostgreSQL", func(t *testing.T) {
		dsn := real.Postgres(t).DSN(t)
		i := serveConfig(t, "database: {postgres: {dsnFile: "+story.WriteFile(t, "dsn", dsn, 0o600)+", migrate: true}}\n")
		refused(t, i, openSQL(t, "pgx", dsn))
	})
}

// Credentials that systemd hands to the server are not there while it is stopped.
func TestDBCommandsNeedNoMoreThanTheDatabase(t *testing.T) {
	dsnFile := story.WriteFile(t, "dsn", real.Postgres(t).DSN(t), 0o600)
	text := `
tls: {certFile: /nowhere/tls.crt, keyFile: /nowhere/tls.key}
tokensFile: /nowhere/tokens.yaml
policyDir: /nowhere/policies
database: {postgres: {dsnFile: ` + dsnFile + `}}
keyStores:
- vault:
    address: https://vault.example:8200
    auth: {appRole: {roleIDFile: /nowhere/vault-role-id, secretIDFile: /nowhere/vault-secret-id}}
`
	file := story.WriteFile(t, "c.yaml", text, 0o600)
	for _, command := range []string{"migrate", "status"} {
		var stderr strings.Builder
		if code := run(t.Context(), []string{"db", command, "--config", file}, nil, io.Discard, &stderr, []string{"HOME=/h"}); code != 0 {
			t.Errorf("db %s = %d, %q", command, code, stderr.String())
		}
	}
	// What is written in the file itself must be right all the same.
	file = story.WriteFile(t, "wrong.yaml", text+"lease: {maxTTL: 1m}\n", 0o600)
	if code := run(t.Context(), []string{"db", "status", "--config", file}, nil, io.Discard, io.Discard, []string{"HOME=/h"}); code != console.ExitFailed {
		t.Errorf("db status with a fault in the configuration = %d, want %d", code, console.ExitFailed)
	}
}

func TestDBCommandsNeedAConfiguration(t *testing.T) {
	for _, command := range []string{"status", "migrate", "copy"} {
		var stderr strings.Builder
		if code := run(context.Background(), []string{"db", command}, nil, io.Discard, &stderr, nil); code != console.ExitUsage || !strings.Contains(stderr.String(), "--config is required") {
			t.Errorf("db %s = %d, %q", command, code, stderr.String())
		}
	}
}
