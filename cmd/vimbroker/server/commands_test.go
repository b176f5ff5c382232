package server

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/spf13/cobra"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/cmd/vimbroker/console"
	"github.com/vimbroker/vimbroker/drivers/sqlite"
	"github.com/vimbroker/vimbroker/test/fakekube"
	"github.com/vimbroker/vimbroker/test/process"
	"github.com/vimbroker/vimbroker/test/story"
)

// fails checks that a command fails with a code, prints nothing, and says something.
func fails(t *testing.T, code int, want string, make func(*program) *cobra.Command, args ...string) {
	t.Helper()
	out, errs, got := ran(t, console.Environment{"HOME=/h"}, make, args...)
	if got != code || out != "" || !strings.Contains(errs, want) {
		t.Errorf("%v = %d %q %q, want %d and %q", args, got, out, errs, code, want)
	}
}

// The commands of a database say what they lack: a file, a database, and one that answers.
func TestCommandsOfADatabaseSayWhatTheyLack(t *testing.T) {
	tokens, dir := tokensFile(t), t.TempDir()
	away := "postgres://u:pa55@" + process.FreeAddress(t) + "/db?sslmode=disable&connect_timeout=2"
	shared := story.WriteFile(t, "c.yaml", "tokensFile: "+tokens+"\ndataDir: "+dir+"\ndatabase: {postgres: {dsnFile: "+story.WriteFile(t, "dsn", away, 0o600)+"}}\n", 0o600)
	alone := story.WriteFile(t, "c.yaml", "tokensFile: "+tokens+"\ndataDir: "+dir+"\n", 0o600)
	for name, make := range map[string]func(*program) *cobra.Command{
		"status": (*program).dbStatusCommand, "migrate": (*program).dbMigrateCommand, "copy": (*program).dbCopyCommand,
	} {
		fails(t, console.ExitUsage, "--config is required: the server's configuration file", make)
		fails(t, console.ExitFailed, "reading the configuration: open /nowhere", make, "--config", "/nowhere")
		fails(t, console.ExitFailed, "names no database.postgres: the server keeps its state in "+dir+"/vimbroker.db", make, "--config", alone)
		if name != "copy" {
			fails(t, console.ExitFailed, "the database refuses connections; start it", make, "--config", shared)
		}
	}
	fails(t, console.ExitFailed, "finding the embedded database: stat "+dir+"/vimbroker.db", (*program).dbCopyCommand, "--config", shared)
	fails(t, console.ExitFailed, "finding the embedded database: stat /gone: no such file or directory; name it with --from", (*program).dbCopyCommand, "--config", shared, "--from", "/gone")
	other := story.WriteFile(t, "no.db", strings.Repeat("this is no database ", 100), 0o600)
	fails(t, console.ExitFailed, "the file is no database, or it is damaged", (*program).dbCopyCommand, "--config", shared, "--from", other)
	source, err := sqlite.Open(t.Context(), sqlite.Options{Path: filepath.Join(dir, "vimbroker.db")})
	if err != nil {
		t.Fatal(err)
	}
	if err := source.Close(); err != nil {
		t.Fatal(err)
	}
	fails(t, console.ExitFailed, "the database refuses connections; start it", (*program).dbCopyCommand, "--config", shared)
	c, err := loadDatabase(shared, console.Environment{"HOME=/h"})
	if err != nil {
		t.Fatal(err)
	}
	if s, err := openStore(t.Context(), c, slog.New(slog.DiscardHandler)); err == nil || s != nil || strings.Contains(err.Error(), "pa55") {
		t.Errorf("a database that does not answer: %v", err)
	}
}

// A copy needs the key store of each VIM's key, and no other.
func TestACopyNeedsTheKeyStores(t *testing.T) {
	f := openFailing(t)
	s, _ := tryOut(t, func(*config) {})
	source := s.store.(*sqlite.Store)
	if err := (config{KeyStores: []keyStoreConfig{{Vault: &vaultConfig{}}}}).hasKeysOf(t.Context(), source); err != nil {
		t.Errorf("where there is no VIM: %v", err)
	}
	settled(t, s, "north", "edge", fakekube.New(t, fakekube.Options{}))
	for what, c := range map[string]struct {
		stores []keyStoreConfig
		want   string
	}{
		"none, which means a directory": {nil, ""},
		"that of the key":               {[]keyStoreConfig{{Vault: &vaultConfig{}}, {Keydir: &keydirConfig{}}}, ""},
		"another": {[]keyStoreConfig{{Vault: &vaultConfig{}}}, "a key of VIM north/edge is in key store keydir, which keyStores does not name: add it there, " +
			`or start the server on the embedded database once more and run "vimbroker key migrate --to vault"`},
	} {
		err := config{KeyStores: c.stores}.hasKeysOf(t.Context(), source)
		if (err == nil) != (c.want == "") || err != nil && err.Error() != c.want {
			t.Errorf("key stores, %s: %v, want %q", what, err, c.want)
		}
	}
	f.each(func(n int64) {
		err := config{KeyStores: []keyStoreConfig{{Vault: &vaultConfig{}}}}.hasKeysOf(t.Context(), source)
		if f.fired.Load() && !errors.Is(err, errDisk) && !errors.Is(err, broker.ErrUnavailable) {
			t.Errorf("statement %d of the source fails: %v", n, err)
		}
	})
}

// A database whose schema is another is told with the command that brings it up to date, and nothing else is.
func TestAMigrationIsAdvised(t *testing.T) {
	old := &broker.Error{Kind: broker.ErrUnavailable, Detail: "old", Next: broker.NextMigrate}
	if err := advised(fmt.Errorf("opening: %w", old)); !errors.Is(err, old) || err.Error() != `opening: old: run "vimbroker db migrate", or set database.postgres.migrate` {
		t.Errorf("a schema of before: %v", err)
	}
	for _, err := range []error{errDisk, &broker.Error{Kind: broker.ErrUnavailable, Detail: "away", Next: broker.NextCheckVIM}} {
		if got := advised(err); !errors.Is(got, err) || got.Error() != err.Error() {
			t.Errorf("%v is told as %v", err, got)
		}
	}
}

// The connection string is read anew from its file, and leads elsewhere where its host or database is another.
func TestConnectionStringsLeadSomewhere(t *testing.T) {
	at := func(text string) databaseConfig {
		p := &postgresConfig{DSNFile: story.WriteFile(t, "dsn", text+"\n", 0o600)}
		var err error
		if p.dsn, err = p.reread(); err != nil || p.dsn.Reveal() != text {
			t.Fatalf("rereading %q: %q, %v", text, p.dsn.Reveal(), err)
		}
		return databaseConfig{p}
	}
	here, renewed, elsewhere := at("postgres://u:a@127.0.0.1/db"), at("postgres://u:b@127.0.0.1/db"), at("postgres://u:a@127.0.0.2/db")
	if here.elsewhere(renewed) || !here.elsewhere(elsewhere) || here.elsewhere(databaseConfig{}) || (&databaseConfig{}).elsewhere(here) {
		t.Error("another password leads elsewhere, or another host does not")
	}
	if _, err := (&postgresConfig{DSNFile: "/nowhere"}).reread(); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("rereading a file that is gone: %v", err)
	}
	l := newLive(config{Database: here})
	next := func(d databaseConfig) config {
		c := config{Database: d, egress: &projectRules{}}
		return c
	}
	l.started.policies, l.started.egress = mustPolicies(t), &projectRules{}
	l.now.Store(&l.started)
	for to, want := range map[*databaseConfig][2]string{&renewed: {loginKey, ""}, &elsewhere: {"", loginKey}} {
		c := next(*to)
		c.policies = l.started.policies
		taken, restart := l.replace(c)
		if strings.Contains(strings.Join(taken, ","), loginKey) != (want[0] != "") || strings.Contains(strings.Join(restart, ","), loginKey) != (want[1] != "") {
			t.Errorf("%s: taken %v, needing a restart %v", to.dsn().Reveal(), taken, restart)
		}
	}
}

// A login that the database does not take is left out of what is taken; nothing is tried where it did not change.
func TestALoginIsTried(t *testing.T) {
	log := slog.New(slog.DiscardHandler)
	for what, c := range map[string]struct {
		try   func(context.Context) error
		taken []string
		want  string
		tried int
	}{
		"there is no database": {nil, []string{loginKey, "tls"}, loginKey + ",tls", 0}, "it did not change": {func(context.Context) error { return errDisk }, []string{"tls"}, "tls", 0},
		"it works": {func(context.Context) error { return nil }, []string{loginKey, "tls"}, loginKey + ",tls", 1}, "it does not": {func(context.Context) error { return errDisk }, []string{loginKey, "tls"}, "tls", 1},
	} {
		l, tried := newLive(config{}), 0
		if c.try != nil {
			l.tryLogin = func(ctx context.Context) error { tried++; return c.try(ctx) }
		}
		if got := strings.Join(l.logIn(t.Context(), c.taken, log), ","); got != c.want || tried != c.tried {
			t.Errorf("%s: taken %s after %d tries, want %s after %d", what, got, tried, c.want, c.tried)
		}
	}
}

// Why nothing listens at an address is said with what to do.
func TestWhyNothingListens(t *testing.T) {
	const another = "choose another address with the key listen, or with --listen"
	for err, want := range map[error]string{
		syscall.EADDRINUSE:    "another program listens on 10.0.0.1:80; stop it (it is in the list of: ss -ltnp 'sport = :80'), or " + another,
		syscall.EADDRNOTAVAIL: "this machine has no address 10.0.0.1:80; " + another,
		syscall.EACCES:        "the system does not let this user listen on port 80; " + another + ", with a port above 1023",
		errDisk:               errDisk.Error() + "; " + another,
	} {
		if got := unheard("10.0.0.1:80", &net.OpError{Op: "listen", Err: err}); got == nil || !strings.HasSuffix(got.Error(), want) {
			t.Errorf("%v is said as %v, want %q", err, got, want)
		}
	}
}

// The time of a line is in UTC; what else is called so stays as it is.
func TestTimesOfTheLog(t *testing.T) {
	var out bytes.Buffer
	east := time.FixedZone("east", 3600)
	h := newLog(&out, config{LogFormat: "JSON"}).Handler()
	r := slog.NewRecord(asked.In(east), slog.LevelInfo, "x", 0)
	r.AddAttrs(slog.Group("vim", slog.Time("time", asked.In(east))), slog.String("when", "y"))
	if err := h.Handle(t.Context(), r); err != nil {
		t.Fatal(err)
	}
	newLog(&out, config{LogFormat: "text"}).Info("z", "time", "noon")
	if text := out.String(); !strings.Contains(text, `"time":"2031-05-06T07:08:09Z"`) || !strings.Contains(text, `"vim":{"time":"2031-05-06T08:08:09+01:00"}`) || !strings.Contains(text, "msg=z time=noon") {
		t.Errorf("the log says %s", text)
	}
}

// serve needs a configuration or the try-out mode, and refuses a level that is none and a data directory that is a file.
func TestServeSaysWhatItNeeds(t *testing.T) {
	one := "give --config FILE, or --dev to try things out: one of the two"
	fails(t, console.ExitUsage, one, (*program).serveCommand)
	fails(t, console.ExitUsage, one, (*program).serveCommand, "--dev", "--config", "x")
	fails(t, console.ExitFailed, "log.level: must be debug, info, warn or error", (*program).serveCommand, "--dev", "--check", "--log-level", "loud")
	fails(t, console.ExitFailed, "not a directory", (*program).serveCommand, "--dev", "--listen", "127.0.0.1:0", "--data-dir", story.WriteFile(t, "file", "x", 0o600)+"/data")
	if out, errs, code := ran(t, console.Environment{"HOME=/h"}, (*program).serveCommand, "--dev", "--check", "--log-level", "warn", "--log-format", "json"); code != 0 || out != "serve --dev has no fault\n" || errs != "" {
		t.Errorf("serve --dev --check = %d %q %q", code, out, errs)
	}
	file := story.WriteFile(t, "c.yaml", "tokensFile: "+tokensFile(t)+"\n", 0o600)
	fails(t, console.ExitFailed, "listen: must be host:port", (*program).serveCommand, "--config", file, "--check", "--listen", "nowhere")
	fails(t, console.ExitFailed, "log.format: must be json or text", (*program).serveCommand, "--config", file, "--check", "--log-format", "xml")
	fails(t, console.ExitFailed, "log.level: must be debug", (*program).serveCommand, "--config", file, "--check", "--log-level", "loud")
	busy, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer busy.Close()
	fails(t, console.ExitFailed, "another program listens on "+busy.Addr().String(), (*program).serveCommand, "--dev", "--listen", busy.Addr().String(), "--data-dir", t.TempDir())
}

// Words of a shell are quoted unless a shell leaves them whole.
func TestWordsOfAShell(t *testing.T) {
	for text, want := range map[string]string{
		"": "", "/a/z/A/Z/0/9": "/a/z/A/Z/0/9", "a._-+:@%": "a._-+:@%", "a b": "'a b'", "it's": `'it'\''s'`, "{": "'{'", "`": "'`'", "[": "'['", "@": "@", ";": "';'", "ä": "'ä'", "a$b": "'a$b'", "~": "'~'",
	} {
		if got := shellWord(text); got != want {
			t.Errorf("%q is %s, want %s", text, got, want)
		}
	}
}

// A token of the try-out mode is a private file that holds one.
func TestTokensOfTheTryOutMode(t *testing.T) {
	for what, c := range map[string]struct {
		in   func(name string) error
		want string
	}{
		"a directory":      {func(name string) error { return os.Mkdir(name, 0o700) }, "must be a file that only its owner can read; remove it"},
		"a link":           {func(name string) error { return os.Symlink("/dev/null", name) }, "must be a file that only its owner can read; remove it"},
		"another's":        {func(name string) error { return os.WriteFile(name, []byte("vbt_x"), 0o640) }, "must be a file that only its owner can read; remove it"},
		"no token":         {func(name string) error { return os.WriteFile(name, []byte("xvbt_x"), 0o600) }, "does not hold a token; remove it, and the next start makes another"},
		"more than a file": {func(name string) error { return os.WriteFile(name, bytes.Repeat([]byte("vbt_"), 1<<19), 0o600) }, "larger than"},
		"nowhere":          {func(name string) error { return os.Remove(filepath.Dir(name)) }, "no such file"},
	} {
		dir := filepath.Join(t.TempDir(), "data")
		if err := errors.Join(os.Mkdir(dir, 0o700), c.in(filepath.Join(dir, devTokenFile))); err != nil {
			t.Fatal(err)
		}
		if tokens, err := devTokens(dir); err == nil || tokens != nil || !strings.HasPrefix(err.Error(), "token of the try-out mode: ") || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", what, err, c.want)
		}
	}
}

// What a server tells of its reload is printed; what was not taken is the error.
func TestReloadSaysWhatTheServerTold(t *testing.T) {
	for _, c := range []struct {
		o         outcome
		out, want string
	}{
		{outcome{Policies: "p1"}, "reloaded; nothing that can be exchanged has changed; policies p1\n", ""},
		{outcome{Policies: "p1", Taken: []string{"tls", "egress"}}, "reloaded; changed and in effect: tls, egress; policies p1\n", ""},
		{outcome{Policies: "p1", Refused: []string{"a"}}, "reloaded; nothing that can be exchanged has changed; policies p1\n", "does not work, so that what was before stays in use: a; the server's log says why"},
		{outcome{Fault: "x: is wrong"}, "", "the server found faults and keeps the configuration that it has: x: is wrong"},
		{outcome{Policies: "p1", Restart: []string{"ui", "vnf"}}, "reloaded; nothing that can be exchanged has changed; policies p1\n", "changed and in effect only after a restart: ui, vnf"},
		{
			outcome{Policies: "p1", Restart: []string{"ui"}, Refused: []string{"a", "b"}},
			"reloaded; nothing that can be exchanged has changed; policies p1\n",
			"changed and in effect only after a restart: ui; does not work, so that what was before stays in use: a, b; the server's log says why",
		},
	} {
		var out bytes.Buffer
		err := c.o.say(&program{&console.Console{Out: &out}})
		if out.String() != c.out || (err == nil) != (c.want == "") || err != nil && err.Error() != c.want {
			t.Errorf("%+v: %q, %v, want %q and %q", c.o, out.String(), err, c.out, c.want)
		}
	}
	const both = "--config and --pid are required: the server's configuration file, and its process"
	fails(t, console.ExitUsage, both, (*program).reloadCommand, "--pid", "1")
	fails(t, console.ExitUsage, both, (*program).reloadCommand, "--config", "x")
	fails(t, console.ExitUsage, both, (*program).reloadCommand, "--config", "x", "--pid", "-1")
	fails(t, console.ExitFailed, "reading the configuration: open /nowhere", (*program).reloadCommand, "--config", "/nowhere", "--pid", "1")
}

// A reload waits for what the server tells, no longer than it may, and understands it.
func TestReloadWaitsForTheServer(t *testing.T) {
	hangups := make(chan os.Signal, 9)
	signal.Notify(hangups, syscall.SIGHUP)
	t.Cleanup(func() { signal.Stop(hangups) })
	dir, now := t.TempDir(), make(chan time.Time, 1)
	tell := func(text string) {
		if err := os.WriteFile(filepath.Join(dir, outcomeFile), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	p := &program{&console.Console{After: func(time.Duration) <-chan time.Time { // meanwhile the server has told
		tell(`{"id": "2", "policies": "p2"}`)
		now <- time.Time{}
		return now
	}}}
	tell(`{"id": "1", "policies": "p1"}`)
	if o, err := p.reload(t.Context(), dir, os.Getpid()); err != nil || o.ID != "2" || o.Policies != "p2" {
		t.Errorf("a reload = %+v, %v", o, err)
	}
	<-hangups
	p.After = func(time.Duration) <-chan time.Time {
		tell("{")
		now <- time.Time{}
		return now
	}
	if o, err := p.reload(t.Context(), dir, os.Getpid()); err == nil || !strings.Contains(err.Error(), "unexpected end of JSON") {
		t.Errorf("a reload that is told in part = %+v, %v", o, err)
	}
	<-hangups
	if o, err := p.reload(t.Context(), dir, os.Getpid()); err == nil || len(hangups) > 0 {
		t.Errorf("a reload where nobody understands the last = %+v, %v; %d signals", o, err, len(hangups))
	}
	if err := os.Remove(filepath.Join(dir, outcomeFile)); err != nil {
		t.Fatal(err)
	}
	looks := 0
	once, stop := context.WithCancel(t.Context())
	p.After = func(time.Duration) <-chan time.Time {
		if looks++; looks > 1 { // the first look that saw a file was the last
			stop()
			return nil
		}
		tell("{")
		now <- time.Time{}
		return now
	}
	if o, err := p.reload(once, dir, os.Getpid()); err == nil || !strings.Contains(err.Error(), "unexpected end of JSON") || looks != 1 {
		t.Errorf("a first reload that is told in part = %+v, %v", o, err)
	}
	stop()
	<-hangups
	tell(`{"id": "1"}`)
	p.After = func(time.Duration) <-chan time.Time { return nil }
	over, end := context.WithCancel(t.Context())
	end()
	if o, err := p.reload(over, dir, os.Getpid()); err == nil || !strings.Contains(err.Error(), "the server has not told in "+dir+" within 1m0s how its reload went") {
		t.Errorf("a reload that nobody tells of = %+v, %v", o, err)
	}
	<-hangups
	gone, err := os.StartProcess("/bin/true", []string{"true"}, &os.ProcAttr{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := gone.Wait(); err != nil {
		t.Fatal(err)
	}
	if _, err := p.reload(t.Context(), dir, gone.Pid); err == nil || !strings.Contains(err.Error(), "asking process "+strconv.Itoa(gone.Pid)+" to reload: ") {
		t.Errorf("a reload of a process that is gone: %v", err)
	}
}

// heard collects what is written, and says when a text was.
type heard struct {
	mu    sync.Mutex
	all   strings.Builder
	text  string
	found chan struct{}
}

func (h *heard) Write(p []byte) (int, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	before := strings.Contains(h.all.String(), h.text)
	h.all.Write(p)
	if !before && strings.Contains(h.all.String(), h.text) {
		close(h.found)
	}
	return len(p), nil
}

// The try-out mode says what it is before it is ready, and a server by a configuration does not.
func TestTheTryOutModeSaysWhatItIs(t *testing.T) {
	dir := t.TempDir()
	file := story.WriteFile(t, "c.yaml", "tokensFile: "+tokensFile(t)+"\nlisten: 127.0.0.1:0\ndataDir: "+dir+"/own\nlog: {format: text}\n", 0o600)
	for mode, args := range map[string][]string{"dev": {"--dev", "--listen", "127.0.0.1:0", "--data-dir", dir + "/dev data"}, "file": {"--config", file}} {
		errs := &heard{text: "msg=ready", found: make(chan struct{})}
		p := &program{&console.Console{Out: errs, Err: errs, Env: console.Environment{"HOME=/h"}, Now: time.Now, Version: "1.0.0"}}
		c := p.serveCommand()
		c.SetArgs(args)
		ctx, end := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- c.ExecuteContext(ctx) }()
		select {
		case <-errs.found:
		case err := <-ended:
			t.Fatalf("%s: %v, %s", mode, err, errs.all.String())
		}
		end()
		if err := <-ended; err != nil {
			t.Errorf("%s: %v", mode, err)
		}
		said := errs.all.String()
		for _, part := range []string{"*** NOT FOR PRODUCTION", "export VIMBROKER_TOKEN_FILE='" + dir + "/dev data/dev-token'", "/ui/link/"} {
			if strings.Contains(said, part) != (mode == "dev") {
				t.Errorf("%s: whether it says %q is wrong: %s", mode, part, said)
			}
		}
		if !strings.Contains(said, "msg=stopped") || !strings.Contains(said, "msg=listening") {
			t.Errorf("%s says %s", mode, said)
		}
	}
}

// How a reload went is in a file, or the log says that it is not.
func TestAServerTellsHowAReloadWent(t *testing.T) {
	log := new(strings.Builder)
	to := slog.New(slog.NewTextHandler(log, nil))
	dir := filepath.Join(t.TempDir(), "new")
	outcome{Policies: "p1"}.tell(dir, to)
	if o, err := told(dir); err != nil || o.Policies != "p1" || o.ID == "" || log.String() != "" {
		t.Errorf("told is %+v, %v; the log says %s", o, err, log)
	}
	outcome{Policies: "p1"}.tell(filepath.Join(dir, outcomeFile), to)
	if !strings.Contains(log.String(), "how the reload went is in no file") {
		t.Errorf("the log says %s", log)
	}
}
