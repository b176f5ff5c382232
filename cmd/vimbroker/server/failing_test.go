package server

import (
	"bytes"
	"context"
	"database/sql"
	"database/sql/driver"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/drivers/sqlite"
	"github.com/vimbroker/vimbroker/lifecycle"
	"github.com/vimbroker/vimbroker/lifecycle/vnfpkg"
	"github.com/vimbroker/vimbroker/policy"
	"github.com/vimbroker/vimbroker/test/fakekube"
)

// failing is SQLite of which one statement fails: the next but left.
type failing struct {
	driver.Driver
	armed, fired atomic.Bool
	rows         atomic.Bool // each row that is read counts as a statement
	left         atomic.Int64
	text         atomic.Value // of the statement that failed
}

var errDisk = errors.New("disk I/O error (10)")

// strike fails if this is the statement that is to fail.
func (f *failing) strike(text string) error {
	if f.armed.Load() && f.left.Add(-1) == 0 {
		f.fired.Store(true)
		f.text.Store(text)
		return errDisk
	}
	return nil
}

func (f *failing) Open(name string) (driver.Conn, error) {
	c, err := f.Driver.Open(name)
	if err != nil {
		return nil, err
	}
	return failingConn{c.(conn), f}, nil
}

type conn interface {
	driver.Conn
	driver.ConnBeginTx
	driver.ConnPrepareContext
	driver.ExecerContext
	driver.QueryerContext
}

type failingConn struct {
	conn
	f *failing
}

type statement interface {
	driver.Stmt
	driver.StmtExecContext
	driver.StmtQueryContext
}

func (c failingConn) PrepareContext(ctx context.Context, text string) (driver.Stmt, error) {
	s, err := c.conn.PrepareContext(ctx, text)
	if err != nil {
		return nil, err
	}
	return failingStatement{s.(statement), c.f, text}, nil
}

func (c failingConn) ExecContext(ctx context.Context, text string, args []driver.NamedValue) (driver.Result, error) {
	if err := c.f.strike(text); err != nil {
		return nil, err
	}
	return c.conn.ExecContext(ctx, text, args)
}

func (c failingConn) QueryContext(ctx context.Context, text string, args []driver.NamedValue) (driver.Rows, error) {
	if err := c.f.strike(text); err != nil {
		return nil, err
	}
	rows, err := c.conn.QueryContext(ctx, text, args)
	return failingRows{rows, c.f, text}, err
}

type failingStatement struct {
	statement
	f    *failing
	text string
}

func (s failingStatement) ExecContext(ctx context.Context, args []driver.NamedValue) (driver.Result, error) {
	if err := s.f.strike(s.text); err != nil {
		return nil, err
	}
	return s.statement.ExecContext(ctx, args)
}

func (s failingStatement) QueryContext(ctx context.Context, args []driver.NamedValue) (driver.Rows, error) {
	if err := s.f.strike(s.text); err != nil {
		return nil, err
	}
	rows, err := s.statement.QueryContext(ctx, args)
	return failingRows{rows, s.f, s.text}, err
}

type failingRows struct {
	driver.Rows
	f    *failing
	text string
}

func (r failingRows) Next(into []driver.Value) error {
	if r.f.rows.Load() {
		if err := r.f.strike(r.text); err != nil {
			return err
		}
	}
	return r.Rows.Next(into)
}

var failingDriver = sync.OnceValues(func() (*failing, error) {
	plain, err := sql.Open(sqlite.ThroughDriver, ":memory:")
	if err != nil {
		return nil, err
	}
	f := &failing{Driver: plain.Driver()}
	sql.Register("failing", f)
	return f, plain.Close()
})

// openFailing has the stores of this test fail as it wants.
func openFailing(t *testing.T) *failing {
	t.Helper()
	f, err := failingDriver()
	if err != nil {
		t.Fatal(err)
	}
	usual := sqlite.ThroughDriver
	sqlite.ThroughDriver = "failing"
	t.Cleanup(func() { sqlite.ThroughDriver = usual })
	return f
}

// fail has the statement n of try fail; fired says whether there was one.
func (f *failing) fail(n int64, try func()) {
	f.left.Store(n)
	f.fired.Store(false)
	f.armed.Store(true)
	defer f.armed.Store(false)
	try()
}

// each calls try once for each statement that it runs, which fails, and then once without a fault.
func (f *failing) each(try func(n int64)) {
	for n := int64(1); n == 1 || f.fired.Load(); n++ {
		f.fail(n, func() { try(n) })
	}
}

// asks sends requests to a server as its administrator.
type asks struct {
	t     *testing.T
	s     *server
	token string
}

func (a asks) send(method, path, body string) (int, string) {
	a.t.Helper()
	r := httptest.NewRequestWithContext(a.t.Context(), method, path, strings.NewReader(body))
	r.Header.Set("Authorization", "Bearer "+a.token)
	r.Header.Set("Version", "2.0.0")
	switch {
	case strings.HasPrefix(body, "PK"):
		r.Header.Set("Content-Type", "application/zip")
	case body != "":
		r.Header.Set("Content-Type", "application/json")
	}
	w := httptest.NewRecorder()
	a.s.handler.ServeHTTP(w, r)
	return w.Code, w.Body.String()
}

// make sends a request that has to succeed, and returns a member of its answer.
func (a asks) make(method, path, body, member string) string {
	a.t.Helper()
	status, text := a.send(method, path, body)
	var answer map[string]any
	if err := json.Unmarshal([]byte(text), &answer); status >= 300 || err != nil && member != "" {
		a.t.Fatalf("%s %s = %d %s, %v", method, path, status, text, err)
	}
	return fmt.Sprint(answer[member])
}

// Whatever statement or row of a read fails, the answer is an error: never less than there is.
func TestAReadThatFailsIsNoAnswer(t *testing.T) {
	f := openFailing(t)
	f.rows.Store(true)
	defer f.rows.Store(false)
	s, _ := tryOut(t, func(*config) {})
	s.ready.settled.Store(true)
	s.broker.Probe(t.Context())
	admin, _, _ := tenants(t, s)
	vim, _ := settled(t, s, "north", "edge", fakekube.New(t, fakekube.Options{}))
	w := newWorked(t, s)
	a := asks{t, s, admin}
	leases, _, err := s.broker.Leases(t.Context(), policy.Principal{Name: "root", Project: "ops", Roles: []string{policy.RoleAdmin}}, broker.LeaseQuery{VIM: vim.ID})
	if err != nil {
		t.Fatal(err)
	}
	ids := map[string]string{
		"vims": vim.ID, "leases": leases[0].ID, "vnf_instances": w.instance, "vnf_packages": w.pkg,
		"vnf_lcm_op_occs": w.operations[lifecycle.FailedTemp], "trust": "corp",
		"clients":             a.make("POST", "/v1/clients", `{"name":"tacker","roles":["vnfm"]}`, "id"),
		"management-clusters": a.make("POST", "/v1/management-clusters", `{"vim":"`+vim.ID+`","namespaces":["tenant"],"projects":{"":"north"}}`, "vim"),
	}
	a.make("POST", "/v1/trust", `{"name":"corp","issuer":"https://id.example","principals":[{"match":{"sub":"x"},"project":"p","roles":["reader"]}]}`, "name")
	tried := 0
	for _, door := range s.doors("v0") {
		for _, route := range door.Routes {
			if route.Method != http.MethodGet || strings.HasPrefix(route.Path, "/ui") {
				continue
			}
			path := route.Path
			if before, rest, found := strings.Cut(path, "/{"); found {
				_, after, _ := strings.Cut(rest, "}")
				path = before + "/" + ids[before[strings.LastIndex(before, "/")+1:]] + after
			}
			if status, _ := a.send("GET", path, ""); status != http.StatusOK {
				continue
			}
			tried++
			f.each(func(n int64) {
				if status, _ := a.send("GET", path, ""); f.fired.Load() && status < 500 {
					t.Errorf("GET %s = %d though its statement or row %d failed: %s", path, status, n, f.text.Load())
				}
			})
		}
	}
	if tried < 50 {
		t.Errorf("only %d routes were tried", tried)
	}
	b := newBrowser(t, s)
	b.logIn(admin)
	for _, path := range b.crawl("/ui/") {
		f.each(func(n int64) {
			if status, _ := b.send(path, nil); f.fired.Load() && status < 500 {
				t.Errorf("GET %s = %d though its statement or row %d failed: %s", path, status, n, f.text.Load())
			}
		})
	}
}

// Whatever statement of an act fails, the act says so, and can be repeated; in the end no object on the VIM is without
// its lease, and the other way round.
func TestAnActThatFailsSaysSo(t *testing.T) {
	f := openFailing(t)
	s, token := tryOut(t, func(*config) {})
	s.ready.settled.Store(true)
	s.broker.Probe(t.Context())
	a := asks{t, s, token}
	cluster := fakekube.New(t, fakekube.Options{})
	kubeconfig, err := json.Marshal(cluster.Kubeconfig())
	if err != nil {
		t.Fatal(err)
	}
	credential := `"kubeconfig":` + string(kubeconfig)
	named := 0
	name := func() string { named++; return fmt.Sprint("n", named) }
	newVIM := func() string {
		return a.make("POST", "/v1/vims", `{"name":"`+name()+`","type":"kubernetes",`+credential+`}`, "id")
	}
	vim := newVIM()
	lease := `{"vim":"` + vim + `","role":"view","clusterWide":true}`
	newLease := func() string { return a.make("POST", "/v1/leases", lease, "id") }
	newClient := func() string { return a.make("POST", "/v1/clients", `{"name":"`+name()+`","roles":["vnfm"]}`, "id") }
	entry := func(name string) string {
		return `{"name":"` + name + `","issuer":"https://` + name + `.example","principals":[{"match":{"sub":"x"},"project":"p","roles":["reader"]}]}`
	}
	newEntry := func() string { return a.make("POST", "/v1/trust", entry(name()), "name") }
	none := func() string { return "" }
	newPackage := func() string { return a.make("POST", "/vnfpkgm/v2/vnf_packages", `{}`, "id") }
	var content bytes.Buffer
	assembly := vnfpkg.Assembly{
		VNFDID: "web-1", Provider: "Acme", ProductName: "web", SoftwareVersion: "1.0", Version: "1.0",
		Manifests: []vnfpkg.ManifestFile{{Path: "web.yaml", Text: []byte("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: web}\n")}},
	}
	if err := vnfpkg.Pack(&content, assembly); err != nil {
		t.Fatal(err)
	}
	onboarded := newPackage()
	a.make("PUT", "/vnfpkgm/v2/vnf_packages/"+onboarded+"/package_content", content.String(), "")
	newVNF := func() string {
		return a.make("POST", "/vnflcm/v2/vnf_instances", `{"vnfdId":"web-1","vnfInstanceName":"w"}`, "id")
	}
	instantiate := `{"flavourId":"simple","vimConnectionInfo":{"edge":{"vimId":"` + vim + `","vimType":"kubernetes"}}}`
	begun := func() string { // the operation that instantiates, which nobody works at
		id := newVNF()
		a.make("POST", "/vnflcm/v2/vnf_instances/"+id+"/instantiate", instantiate, "")
		_, text := a.send("GET", "/vnflcm/v2/vnf_lcm_op_occs?filter=(eq,vnfInstanceId,"+id+")", "")
		return regexp.MustCompile(`"id": ?"([0-9a-f-]{36})"`).FindStringSubmatch(text)[1]
	}
	for _, c := range []struct {
		of           func() string // makes what the act is on, for each try
		method, path string        // {id} stands for that
		body         func() string
		// late are parts of statements that may fail unnoticed from the one with the number from on: hints to people, and
		// what a pass does again.
		from int
		late string
	}{
		{none, "POST", "/v1/vims", func() string { return `{"name":"` + name() + `","type":"kubernetes",` + credential + `}` }, 10, "WHERE identity ="},
		{newVIM, "PATCH", "/v1/vims/{id}", func() string { return `{"description":"` + name() + `"}` }, 0, ""},
		{newVIM, "PATCH", "/v1/vims/{id}", func() string { return `{` + credential + `}` }, 18, "lease_live_by_vim|FROM leases|retired_keys"},
		{newVIM, "POST", "/v1/vims/{id}/check", none, 5, "WHERE identity ="},
		{newVIM, "POST", "/v1/vims/{id}/inventory", none, 0, ""},
		{newVIM, "DELETE", "/v1/vims/{id}", none, 10, "WHERE v.id =|retired_keys"},
		{none, "POST", "/v1/leases", func() string { return lease }, 0, ""},
		{newLease, "POST", "/v1/leases/{id}/renew", func() string { return `{}` }, 0, ""},
		{newLease, "DELETE", "/v1/leases/{id}", none, 3, "WHERE v.id =|retired_keys"},
		// Each lease of the answer says its state.
		{newLease, "POST", "/v1/leases:revoke", func() string { return `{"vim":"` + vim + `"}` }, 6, "leases|audit_entries|WHERE v.id =|retired_keys"},
		{none, "POST", "/v1/clients", func() string { return `{"name":"` + name() + `","roles":["vnfm"]}` }, 0, ""},
		{newClient, "POST", "/v1/clients/{id}/rotate", func() string { return `{}` }, 0, ""},
		{newClient, "DELETE", "/v1/clients/{id}", none, 0, ""},
		{none, "POST", "/v1/trust", func() string { return entry(name()) }, 5, "trust_entries"},
		{newEntry, "DELETE", "/v1/trust/{id}", none, 5, "trust_entries"},
		{newVIM, "POST", "/v1/management-clusters", func() string { return `{"vim":"{id}","namespaces":["tenant"],"projects":{"":"north"}}` }, 0, ""},
		{none, "POST", "/vnfpkgm/v2/vnf_packages", func() string { return `{}` }, 0, ""},
		{newPackage, "DELETE", "/vnfpkgm/v2/vnf_packages/{id}", none, 6, "vnf_contents_gone"},
		{newPackage, "PUT", "/vnfpkgm/v2/vnf_packages/{id}/package_content", func() string {
			assembly.VNFDID = name()
			var text strings.Builder
			if err := vnfpkg.Pack(&text, assembly); err != nil {
				t.Fatal(err)
			}
			return text.String()
		}, 0, ""},
		{none, "POST", "/vnflcm/v2/vnf_instances", func() string { return `{"vnfdId":"web-1"}` }, 0, ""},
		{newVNF, "PATCH", "/vnflcm/v2/vnf_instances/{id}", func() string { return `{"vnfInstanceName":"` + name() + `"}` }, 0, ""},
		{newVNF, "DELETE", "/vnflcm/v2/vnf_instances/{id}", none, 0, ""},
		{newVNF, "POST", "/vnflcm/v2/vnf_instances/{id}/instantiate", func() string { return instantiate }, 16, "vnf_operations|INSERT INTO jobs"},
		{begun, "POST", "/vnflcm/v2/vnf_lcm_op_occs/{id}/cancel", func() string { return `{"cancelMode":"FORCEFUL"}` }, 0, ""},
	} {
		tries := 0
		for fired := true; fired; {
			id, body := c.of(), c.body()
			path, body := strings.ReplaceAll(c.path, "{id}", id), strings.ReplaceAll(body, "{id}", id)
			tries++
			status, text := 0, ""
			f.fail(int64(tries), func() { status, text = a.send(c.method, path, body) })
			if fired = f.fired.Load(); !fired {
				if status >= 300 || tries < 3 {
					t.Errorf("%s %s = %d %s, after %d statements", c.method, c.path, status, text, tries-1)
				}
				continue
			}
			failed := f.text.Load().(string)
			isLate := c.late != "" && tries >= c.from && regexp.MustCompile(c.late).MatchString(failed)
			goesOn := status == http.StatusAccepted && c.method == http.MethodDelete
			if status < 500 && !goesOn && !isLate {
				t.Errorf("%s %s = %d though its statement %d failed: %s", c.method, c.path, status, tries, failed)
			}
			if again, more := a.send(c.method, path, body); status >= 500 && again >= 300 && again != http.StatusNotFound {
				t.Errorf("%s %s, again after its statement %d failed = %d %s", c.method, c.path, tries, again, more)
			}
		}
	}
	if got := a.make("POST", "/v1/vims/"+vim+"/inventory", "", "orphans"); got != "[]" {
		t.Errorf("objects without a lease: %s", got)
	}
	if got := a.make("POST", "/v1/vims/"+vim+"/inventory", "", "ghosts"); got != "[]" {
		t.Errorf("leases without an object: %s", got)
	}
}
