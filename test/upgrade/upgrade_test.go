// Package upgrade keeps what a server of version 1.0.0 leaves in each database, and tries later versions on it.
package upgrade

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"flag"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"golang.org/x/tools/txtar"

	"github.com/vimbroker/vimbroker/test/fakekube"
	"github.com/vimbroker/vimbroker/test/field"
	"github.com/vimbroker/vimbroker/test/process"
	"github.com/vimbroker/vimbroker/test/quickstore"
	"github.com/vimbroker/vimbroker/test/real"
	"github.com/vimbroker/vimbroker/test/story"
)

var renew = flag.Bool("dump", false, "make the kept dump anew: until 1.0.0 is released, after each change of a schema (make dump)")

const (
	kept = "testdata/1.0.0"
	// nextVersion is what the tests upgrade to: the same tree under another name.
	nextVersion = "1.0.1"
)

func TestMain(m *testing.M) { real.Main(m) }

// schemaOf is the digest of a store's first migration, which a dump names in its first line.
func schemaOf(t *testing.T, store string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("../../drivers", store, "migrations/0001_schema.sql"))
	if err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256(text)
	return "-- of 0001_schema.sql, sha256 " + hex.EncodeToString(sum[:])
}

// TestTheDumpIsOfTheSchema: the first migration of a store and its dump belong together. Until 1.0.0 is released a change of
// the schema changes both; from then on neither changes.
func TestTheDumpIsOfTheSchema(t *testing.T) {
	for _, store := range []string{"sqlite", "postgres"} {
		text, err := os.ReadFile(filepath.Join(kept, store+".sql"))
		if err != nil {
			t.Fatal(err)
		}
		if first, _, _ := strings.Cut(string(text), "\n"); first != schemaOf(t, store) {
			t.Errorf("%s/%s.sql is of another schema than drivers/%s/migrations/0001_schema.sql: \"make dump\" makes both anew, "+
				"and nothing may change once 1.0.0 is released: add a migration", kept, store, store)
		}
	}
}

// site is a server's machine: a directory with its configuration, keys and callers.
type site struct {
	t      *testing.T
	bin    string
	dir    string
	server *story.Broker
}

// config is the configuration of a site; more is added to it.
func (s *site) config(more string) {
	s.write("vimbroker.yaml", "listen: 127.0.0.1:0\ndataDir: "+s.dir+"/data\ntokensFile: "+s.dir+"/tokens.yaml\n"+
		"oauth: {issuer: 'http://127.0.0.1:8420'}\nsol003: {enabled: true}\negress: {allowLoopback: true}\n"+more)
}

func (s *site) write(name, text string) {
	s.t.Helper()
	at := filepath.Join(s.dir, name)
	if err := os.MkdirAll(filepath.Dir(at), 0o700); err != nil {
		s.t.Fatal(err)
	}
	if err := os.WriteFile(at, []byte(text), 0o600); err != nil {
		s.t.Fatal(err)
	}
}

func (s *site) start() {
	s.t.Helper()
	b, err := story.Serve(s.bin, s.dir, []string{"HOME=" + s.dir}, "--config", filepath.Join(s.dir, "vimbroker.yaml"))
	if err != nil {
		s.t.Fatal(err)
	}
	s.server = b
	s.t.Cleanup(b.Kill)
}

func (s *site) stop() {
	s.t.Helper()
	if err := s.server.Stop(); err != nil {
		s.t.Fatalf("%v\n%s", err, s.server.Log)
	}
}

// run types a command of the administrator.
func (s *site) run(line string) string {
	s.t.Helper()
	c := exec.CommandContext(s.t.Context(), s.bin, strings.Fields(line)...)
	c.Dir, c.Env = s.dir, []string{"HOME=" + s.dir, "VIMBROKER_TOKEN_FILE=" + s.dir + "/admin.token"}
	if s.server != nil {
		c.Env = append(c.Env, "VIMBROKER_ADDR="+s.server.URL)
	}
	var said bytes.Buffer
	c.Stderr = &said
	out, err := c.Output()
	if err != nil {
		s.t.Fatalf("%s: %v\n%s%s", line, err, out, &said)
	}
	return string(out)
}

// items are what names the things of a list: id and name.
func (s *site) items(line string) []string {
	s.t.Helper()
	text := s.run(line + " -o json")
	var list struct{ Items []map[string]any }
	if json.Unmarshal([]byte(text), &list) != nil {
		if err := json.Unmarshal([]byte(text), &list.Items); err != nil {
			s.t.Fatalf("%s: %v\n%s", line, err, text)
		}
	}
	var all []string
	for _, item := range list.Items {
		all = append(all, fmt.Sprint(item["id"], " ", item["name"]))
	}
	slices.Sort(all)
	return all
}

// lists are the commands whose items an upgrade keeps.
var lists = []string{"vim list", "lease list --all", "client list", "package list", "vnf list", "vnf subscription list", "audit key list"}

// TestMakeTheDump makes the kept dump: what is in the databases when a server of this version has done a bit of everything.
func TestMakeTheDump(t *testing.T) {
	if !*renew {
		t.Skip("the dump is kept: make dump makes it anew")
	}
	s := &site{t: t, bin: story.Build(t, t.TempDir(), "-ldflags=-w -X main.version=1.0.0"), dir: t.TempDir()}
	kube := fakekube.New(t, fakekube.Options{})
	s.config("")
	s.write("kubeconfig", kube.Kubeconfig())
	token := exec.CommandContext(t.Context(), s.bin, "token", "new", "--name", "admin", "--project", "platform", "--role", "admin")
	var line bytes.Buffer
	token.Stderr = &line
	text, err := token.Output()
	if err != nil {
		t.Fatal(err, &line)
	}
	s.write("admin.token", string(text))
	s.write("tokens.yaml", "tokens:\n"+regexp.MustCompile(`(?m)^ *- \{name: .*$`).FindString(line.String())+"\n")
	s.start()
	sample, err := filepath.Abs("../../docs/samples/web")
	if err != nil {
		t.Fatal(err)
	}
	told := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) }))
	t.Cleanup(told.Close)
	for _, line := range []string{
		"vim register --kubeconfig kubeconfig edge-1 --label site=north", "vim register --kubeconfig kubeconfig edge-2",
		"vim update edge-2 --description second", "key rotate edge-1", "vim check edge-1",
		"lease issue --vim edge-1 --role view --for dave --out one --ttl 24h", "lease issue --vim edge-1 -n default --rule get:pods --out two",
		"client create tacker-north --role vnfm",
		"package create " + sample + " --vnfd web-1.0 --out web.csar", "package upload web.csar",
		"vnf create web-1 --vnfd web-1.0", "vnf subscription create " + told.URL, "vim share edge-2 --with lab", "audit key rotate",
	} {
		s.run(line)
	}
	first := s.items("lease list")[0]
	s.run("lease revoke " + strings.Fields(first)[0])
	s.run("audit verify")
	want := map[string][]string{}
	for _, line := range lists {
		if want[line] = s.items(line); len(want[line]) == 0 {
			t.Errorf("%s: there is none", line)
		}
	}
	s.run("audit export --out audit.jsonl")
	s.stop()
	s.keep(want)
	s.dumpPostgres()
}

// keep writes the SQLite database as text, the files beside it, and what its lists have.
func (s *site) keep(want map[string][]string) {
	s.t.Helper()
	if err := os.MkdirAll(kept, 0o755); err != nil {
		s.t.Fatal(err)
	}
	var text strings.Builder
	text.WriteString(schemaOf(s.t, "sqlite") + "\n")
	db, err := quickstore.Raw(filepath.Join(s.dir, "data/vimbroker.db"))
	if err != nil {
		s.t.Fatal(err)
	}
	defer db.Close()
	strs := func(query string) (all []string) {
		rows, err := db.QueryContext(s.t.Context(), query)
		if err != nil {
			s.t.Fatal(query, err)
		}
		defer rows.Close()
		for rows.Next() {
			var one string
			if err := rows.Scan(&one); err != nil {
				s.t.Fatal(query, err)
			}
			all = append(all, one)
		}
		return all
	}
	for _, pragma := range []string{"user_version", "application_id"} {
		fmt.Fprintf(&text, "PRAGMA %s = %s;\n", pragma, strs("PRAGMA " + pragma)[0])
	}
	for _, made := range strs(`SELECT sql FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'`) {
		text.WriteString(made + ";\n")
	}
	for _, table := range strs(`SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%' ORDER BY name`) {
		var quoted []string
		for _, column := range strs("SELECT name FROM pragma_table_info('" + table + "')") {
			quoted = append(quoted, "quote("+column+")")
		}
		for _, row := range strs("SELECT " + strings.Join(quoted, " || ', ' || ") + " FROM " + table) {
			fmt.Fprintf(&text, "INSERT INTO %s VALUES (%s);\n", table, row)
		}
	}
	for _, made := range strs(`SELECT sql FROM sqlite_schema WHERE type <> 'table' AND sql IS NOT NULL`) {
		text.WriteString(made + ";\n")
	}
	var files txtar.Archive
	files.Comment = []byte("The files beside the databases: keys, callers and what lists had. They open nothing but these rows.\n")
	err = filepath.WalkDir(s.dir, func(at string, e os.DirEntry, err error) error {
		name, _ := filepath.Rel(s.dir, at)
		if err != nil || e.IsDir() || !strings.HasPrefix(name, "data/keys/") && !slices.Contains([]string{"admin.token", "tokens.yaml", "audit.jsonl"}, name) {
			return err
		}
		content, err := os.ReadFile(at)
		files.Files = append(files.Files, txtar.File{Name: name, Data: content})
		return err
	})
	if err != nil {
		s.t.Fatal(err)
	}
	had, err := json.MarshalIndent(want, "", "  ")
	if err != nil {
		s.t.Fatal(err)
	}
	files.Files = append(files.Files, txtar.File{Name: "lists.json", Data: append(had, '\n')})
	for name, content := range map[string][]byte{"sqlite.sql": []byte(text.String()), "files.txtar": txtar.Format(&files)} {
		if err := os.WriteFile(filepath.Join(kept, name), content, 0o644); err != nil {
			s.t.Fatal(err)
		}
	}
}

// dumpPostgres copies the database to PostgreSQL, and writes that as text.
func (s *site) dumpPostgres() {
	s.t.Helper()
	dsn := real.Postgres(s.t).DSN(s.t)
	s.write("dsn", dsn+"\n")
	s.config("database: {postgres: {dsnFile: " + s.dir + "/dsn}}\n")
	s.server = nil
	s.run("db migrate --config vimbroker.yaml")
	s.run("db copy --config vimbroker.yaml")
	dump := exec.CommandContext(s.t.Context(), real.PostgresProgram(s.t, "pg_dump"), "--dbname", dsn, "--no-owner", "--no-privileges", "--inserts")
	text, err := dump.Output()
	if err != nil {
		s.t.Fatal(err)
	}
	lines := slices.DeleteFunc(strings.Split(string(text), "\n"), func(line string) bool {
		return line == "--" || strings.HasPrefix(line, "-- ") || strings.HasPrefix(line, `\`) // empty lines are within texts, too
	})
	all := schemaOf(s.t, "postgres") + "\n" + strings.Join(lines, "\n") + "\n"
	if err := os.WriteFile(filepath.Join(kept, "postgres.sql"), []byte(all), 0o644); err != nil {
		s.t.Fatal(err)
	}
}

// restored is a site with the files of the kept one.
func restored(t *testing.T, bin string) (s *site, want map[string][]string) {
	t.Helper()
	s = &site{t: t, bin: bin, dir: t.TempDir()}
	files, err := txtar.ParseFile(filepath.Join(kept, "files.txtar"))
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files.Files {
		content := string(f.Data)
		if strings.HasPrefix(f.Name, "data/keys/") { // which have no end of line
			content = strings.TrimSpace(content)
		}
		s.write(f.Name, content)
		if f.Name == "lists.json" {
			if err := json.Unmarshal(f.Data, &want); err != nil {
				t.Fatal(err)
			}
		}
	}
	return s, want
}

// upgraded starts the next version on what is there, and checks that it has everything.
func (s *site) upgraded(want map[string][]string) {
	s.t.Helper()
	s.start()
	for _, line := range lists {
		if got := s.items(line); !slices.Equal(got, want[line]) {
			s.t.Errorf("%s: %q, want %q", line, got, want[line])
		}
	}
	s.run("audit verify")
	s.run("audit verify --file audit.jsonl")
	s.run("key status --try") // fails unless every stored credential opens
	s.run("vim update edge-2 --description third")
	s.run("client rotate tacker-north")
	s.run("vnf delete web-1")
	s.run("audit verify")
	s.stop()
}

func statements(t *testing.T, store string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(kept, store+".sql"))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// next is the program of the next version.
func next(t *testing.T) string {
	t.Helper()
	if field.Wanted() {
		return story.Build(t, t.TempDir(), "-ldflags=-w -X main.version="+nextVersion)
	}
	return story.Build(t, t.TempDir()) // the same tree, which other tests have built
}

// TestUpgradeOfSQLite: a server goes on with the SQLite file of 1.0.0.
func TestUpgradeOfSQLite(t *testing.T) {
	s, want := restored(t, next(t))
	s.config("")
	db, err := quickstore.Raw(filepath.Join(s.dir, "data/vimbroker.db"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := db.ExecContext(t.Context(), statements(t, "sqlite")); err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	s.upgraded(want)
}

// TestUpgradeOfPostgreSQL: "db migrate" of the next version, and then a server, go on with the database of 1.0.0.
func TestUpgradeOfPostgreSQL(t *testing.T) {
	dsn := real.Postgres(t).DSN(t)
	s, want := restored(t, next(t))
	s.write("dsn", dsn+"\n")
	s.config("database: {postgres: {dsnFile: " + s.dir + "/dsn}}\n")
	ctx, cancel := context.WithTimeout(t.Context(), process.Patience)
	defer cancel()
	db, err := pgx.Connect(ctx, dsn)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := db.Exec(ctx, statements(t, "postgres")); err != nil {
		t.Fatal(err)
	}
	if err := db.Close(ctx); err != nil {
		t.Fatal(err)
	}
	s.run("db migrate --config vimbroker.yaml")
	s.upgraded(want)
}

// TestFieldUpgrade does both with a program that calls itself the next version.
func TestFieldUpgrade(t *testing.T) {
	field.Only(t)
	t.Run("SQLite", TestUpgradeOfSQLite)
	t.Run("PostgreSQL", TestUpgradeOfPostgreSQL)
}
