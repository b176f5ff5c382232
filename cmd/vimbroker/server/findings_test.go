package server

import (
	"bytes"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"

	"github.com/vimbroker/vimbroker/broker/api/client"
	"github.com/vimbroker/vimbroker/cmd/vimbroker/console"
)

var asked = time.Date(2031, 5, 6, 7, 8, 9, 0, time.UTC)

func later(d time.Duration) string { return asked.Add(d).Format(time.RFC3339) }

// well are the answers of a server of which there is nothing to say.
func well() map[string]string {
	return map[string]string{
		"/readyz": `{"status": "ready", "version": "1.0.0", "parts": []}`, "/v1/tokens": `{"items": []}`,
		"/v1/audit/checkpoint": `{"size": 8, "root": "", "time": "` + later(0) + `", "key": "k", "note": ""}`, "/v1/audit": `{"items": []}`,
		"/v1/audit/sinks": `{"items": []}`, "/v1/audit/anchors": `{"items": []}`, "/v1/vims": `{"items": []}`,
	}
}

// answering is a server that answers so; a path whose answer is a number is refused with that status.
func answering(t *testing.T, answers map[string]string) *httptest.Server {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		text := answers[r.URL.Path]
		var status int
		if _, err := fmt.Sscanf(text, "%d", &status); err == nil {
			w.Header().Set("Content-Type", "application/problem+json")
			w.WriteHeader(status)
			text = fmt.Sprintf(`{"type":"urn:vimbroker:problem:x","title":"away","status":%d,"detail":"because"}`, status)
		}
		_, _ = w.Write([]byte(text))
	}))
	t.Cleanup(s.Close)
	return s
}

// found are the findings on a server that answers so, a line each, but for what is well.
func found(t *testing.T, answers map[string]string) (all []string) {
	t.Helper()
	registry, err := client.New(client.Options{Addr: answering(t, answers).URL})
	if err != nil {
		t.Fatal(err)
	}
	d := &doctor{now: asked}
	d.server(t.Context(), registry)
	for _, f := range d.findings {
		all = append(all, strings.Join([]string{f.State, f.Part, f.Detail, f.Remedy}, "|"))
	}
	return all
}

// Each answer of a server is one finding, at its limits too, and whatever cannot be seen is said.
func TestEachFindingOfDoctor(t *testing.T) {
	usual := found(t, well())
	if want := []string{"ok|server|ready, version 1.0.0|", "ok|audit log|8 entries are signed|", "ok|VIMs|0 of them are well|"}; !slices.Equal(usual, want) {
		t.Fatalf("a server of which there is nothing to say: %q", usual)
	}
	token := func(end time.Duration, more string) string {
		return `{"items": [{"id": "a", "name": "alice", "roles": [], "expiresAt": "` + later(end) + `"` + more + `}]}`
	}
	entries := func(count int, seq int64, ago time.Duration) string {
		one := make([]string, count)
		for n := range one {
			one[n] = fmt.Sprintf(`{"seq": %d, "time": "%s"}`, seq-int64(n), later(-ago))
		}
		return `{"items": [` + strings.Join(one, ",") + `]}`
	}
	signed := func(size int, ago time.Duration) string {
		return fmt.Sprintf(`{"size": %d, "time": "%s"}`, size, later(-ago))
	}
	vim := func(status, warnings string) string {
		return `{"items": [{"name": "edge", "status": "` + status + `", "warnings": [` + warnings + `]}]}`
	}
	unsigned := func(seq int64, ago time.Duration) string {
		return fmt.Sprintf("fault|audit log|entry %d of %s is not signed yet|see in the server's log why", seq, later(-ago))
	}
	const (
		day    = 24 * time.Hour
		unseen = "|you may not see them|ask an administrator"
		away   = "|away: because"
	)
	for _, c := range []struct {
		answers map[string]string
		want    []string // findings beside the usual ones
		without string   // the usual one that is left out
	}{
		{map[string]string{"/readyz": "500"}, []string{"fault|server|away: because|"}, "all"},
		{
			map[string]string{"/readyz": `{"version": "1.0.0", "parts": [{"name": "database", "usable": true}, {"name": "issuing", "detail": "sealed"}]}`},
			[]string{"ok|database|can be used|", "fault|issuing|sealed|see docs/runbook.md"},
			"",
		},
		{map[string]string{"/v1/tokens": "403", "/v1/audit/sinks": "404"}, []string{"warning|tokens" + unseen, "warning|sinks" + unseen}, ""},
		{map[string]string{"/v1/vims": "403"}, []string{"warning|VIMs" + unseen}, "VIMs"},
		{map[string]string{"/v1/audit/checkpoint": "403"}, []string{"warning|audit log" + unseen}, "audit log"},
		{map[string]string{"/v1/tokens": "500"}, []string{"fault|tokens" + away + "|"}, ""},
		{map[string]string{"/v1/audit/checkpoint": "500"}, []string{"fault|audit log" + away + "|"}, "audit log"},
		{map[string]string{"/v1/audit": "500"}, []string{"fault|audit log" + away + "|"}, "audit log"},
		{map[string]string{"/v1/audit/sinks": "500"}, []string{"fault|sinks" + away + "|"}, ""},
		{map[string]string{"/v1/audit/anchors": "500"}, []string{"fault|sinks" + away + "|"}, ""},
		{map[string]string{"/v1/vims": "500"}, []string{"fault|VIMs" + away + "|"}, "VIMs"},
		{map[string]string{"/v1/tokens": token(30*day, "")}, nil, ""},
		{map[string]string{"/v1/tokens": token(30*day-time.Second, "")}, []string{"warning|tokens|the token a of alice ends on 2031-06-05|give alice another: vimbroker token new"}, ""},
		{map[string]string{"/v1/tokens": token(time.Second, "")}, []string{"warning|tokens|the token a of alice ends on 2031-05-06|give alice another: vimbroker token new"}, ""},
		{map[string]string{"/v1/tokens": token(0, "")}, []string{"fault|tokens|the token a of alice has ended on 2031-05-06|give alice another: vimbroker token new"}, ""},
		{map[string]string{"/v1/tokens": token(time.Hour, `, "previous": true`)}, nil, ""},
		{map[string]string{"/v1/audit": entries(1, 9, unsignedFor)}, nil, ""},
		{map[string]string{"/v1/audit": entries(1, 9, unsignedFor+time.Second)}, []string{unsigned(9, unsignedFor+time.Second)}, "audit log"},
		{map[string]string{"/v1/audit": entries(1, 8, unsignedFor+time.Second)}, nil, ""},
		{map[string]string{"/v1/audit": entries(2, 10, unsignedFor+time.Second)}, []string{unsigned(9, unsignedFor+time.Second)}, "audit log"},
		{map[string]string{"/v1/audit": entries(50, 58, 0), "/v1/audit/checkpoint": signed(8, unsignedFor)}, nil, ""},
		{map[string]string{"/v1/audit": entries(50, 58, 0), "/v1/audit/checkpoint": signed(8, unsignedFor+time.Second)}, []string{unsigned(9, 0)}, "audit log"},
		{map[string]string{"/v1/audit": entries(49, 58, 0), "/v1/audit/checkpoint": signed(8, unsignedFor+time.Second)}, nil, ""},
		{map[string]string{"/v1/audit": entries(1, 8, -time.Minute)}, nil, ""},
		{map[string]string{"/v1/audit": entries(1, 8, -time.Minute-time.Second)}, []string{"warning|clock|this machine is 1m1s behind the server|let both follow one time server"}, ""},
		{map[string]string{"/v1/audit/sinks": `{"items": [{"name": "a", "delivered": 7}, {"name": "b", "late": true, "behind": "2h", "fault": "refused"}, {"name": "c", "fault": "slow"}]}`}, []string{
			"ok|sink a|it has every entry up to 7|", "fault|sink b|it is 2h behind; refused|see that it takes entries; until then nothing is issued if it is required", "warning|sink c|slow|",
		}, ""},
		{map[string]string{"/v1/audit/anchors": `{"items": [{"name": "a", "size": 7}, {"name": "b", "behind": 3, "fault": "refused"}]}`}, []string{
			"ok|anchor a|it covers 7 entries|", "warning|anchor b|it lacks 3 entries: refused|have it take checkpoints",
		}, ""},
		{map[string]string{
			"/v1/audit/checkpoint": signed(1, 0), "/v1/audit/anchors": `{"items": [{"name": "a", "size": 1}, {"name": "b", "behind": 1, "fault": "refused"}]}`,
		}, []string{
			"ok|audit log|1 entry is signed|", "ok|anchor a|it covers 1 entry|", "warning|anchor b|it lacks 1 entry: refused|have it take checkpoints",
		}, "audit log"},
		{map[string]string{"/v1/vims": vim("reachable", `"other"`)}, []string{"ok|VIMs|1 of them is well|"}, "VIMs"},
		{map[string]string{"/v1/vims": vim("registering", "")}, []string{"ok|VIMs|1 of them is well|"}, "VIMs"},
		{map[string]string{"/v1/vims": vim("unchecked", "")}, []string{"ok|VIMs|1 of them is well|"}, "VIMs"},
		{map[string]string{"/v1/vims": vim("unreachable", "")}, []string{"fault|VIM edge|it is unreachable|vimbroker vim check edge"}, ""},
		{map[string]string{"/v1/vims": vim("reachable", `"credentialExpired"`)}, []string{"fault|VIM edge|its credential has ended|vimbroker vim rotate edge"}, ""},
		{map[string]string{"/v1/vims": vim("reachable", `"credentialExpiring"`)}, []string{"warning|VIM edge|its credential ends within 30 days|vimbroker vim rotate edge"}, ""},
		{map[string]string{"/v1/vims": vim("reachable", `"caExpiring", "caExpired"`)}, []string{
			"warning|VIM edge|the authority of its certificate ends: caExpiring|vimbroker vim update edge --ca-cert-file FILE",
			"warning|VIM edge|the authority of its certificate ends: caExpired|vimbroker vim update edge --ca-cert-file FILE",
		}, ""},
	} {
		answers := well()
		for path, text := range c.answers {
			answers[path] = text
		}
		want := slices.Clone(c.want)
		for _, line := range usual {
			if c.without != "all" && (c.without == "" || !strings.Contains(line, "|"+c.without+"|")) {
				want = append(want, line)
			}
		}
		got := found(t, answers)
		slices.Sort(got)
		slices.Sort(want)
		if !slices.Equal(got, want) {
			t.Errorf("%v\nhas the findings\n  %s\nwant\n  %s", c.answers, strings.Join(got, "\n  "), strings.Join(want, "\n  "))
		}
	}
}

// ran is what a command of this room prints, and its exit code; args are its words.
func ran(t *testing.T, env console.Environment, make func(*program) *cobra.Command, args ...string) (out, errs string, code int) {
	t.Helper()
	var stdout, stderr bytes.Buffer
	p := &program{&console.Console{Out: &stdout, Err: &stderr, In: strings.NewReader(""), Env: env, Now: func() time.Time { return asked }, Version: "1.0.0"}}
	c := make(p)
	c.SetArgs(append([]string{}, args...)) // none are not those of the test
	c.SetOut(&stdout)
	c.SetErr(&stderr)
	c.SilenceErrors, c.SilenceUsage = true, true
	code = p.ExitCode(c.ExecuteContext(t.Context()))
	return stdout.String(), stderr.String(), code
}

// What doctor finds is printed with the worst first, and a fault, not a warning, is its exit code.
func TestDoctorPrintsTheWorstFirst(t *testing.T) {
	answers := well()
	s := answering(t, answers)
	env := console.Environment{console.EnvAddr + "=" + s.URL, console.EnvToken + "=vbt_x"}
	out, errs, code := ran(t, env, (*program).doctorCommand)
	want := "STATE  PART       DETAIL\nok     server     ready, version 1.0.0\nok     audit log  8 entries are signed\nok     VIMs       0 of them are well\n"
	if code != 0 || out != want || errs != "" {
		t.Errorf("doctor = %q, %q, %d, want %q", out, errs, code, want)
	}
	answers["/v1/tokens"] = "403"
	if out, _, code = ran(t, env, (*program).doctorCommand); code != 0 || !strings.HasPrefix(out, "STATE    PART       DETAIL\nwarning  tokens     you may not see them (ask an administrator)\nok       server ") {
		t.Errorf("doctor with a warning = %q, %d", out, code)
	}
	out, _, code = ran(t, env, (*program).doctorCommand, "--backups", t.TempDir())
	if code != console.ExitFailed || !strings.HasPrefix(out, "STATE    PART       DETAIL\nfault    backup     there is none in ") || !strings.Contains(out, " (make one: docs/runbook.md)\nwarning ") {
		t.Errorf("doctor with a fault = %q, %d", out, code)
	}
	out, _, code = ran(t, env, (*program).doctorCommand, "--config", "/nowhere")
	if code != console.ExitFailed || !strings.Contains(out, "fault    configuration  reading the configuration: open /nowhere") || strings.Contains(out, "has no fault") {
		t.Errorf("doctor of a configuration that is not there = %q, %d", out, code)
	}
	out, _, code = ran(t, console.Environment{console.EnvAddr + "=ftp://x"}, (*program).doctorCommand)
	if code != console.ExitFailed || !strings.Contains(out, "fault  server  ") {
		t.Errorf("doctor of a server that has no address = %q, %d", out, code)
	}
}

// Findings that cannot be printed are an error; where there is none, all is well.
func TestFindingsThatCannotBePrinted(t *testing.T) {
	if err := (&program{&console.Console{Out: &bytes.Buffer{}}}).diagnose(nil); err != nil {
		t.Errorf("no finding: %v", err)
	}
	for _, state := range []string{findingOK, findingFault} {
		if err := (&program{&console.Console{Out: full{}}}).diagnose([]finding{{State: state}}); !errors.Is(err, errDisk) {
			t.Errorf("a finding that is %s and cannot be printed: %v", state, err)
		}
	}
}

// What ends in a moment has not ended.
func TestWhatEndsInAMoment(t *testing.T) {
	for left, want := range map[time.Duration]string{-1: findingFault, 0: findingFault, 1: findingWarning, soon - 1: findingWarning, soon: findingOK} {
		d := &doctor{now: asked}
		if d.end("certificate", "it", asked.Add(left), "another"); d.findings[0].State != want || (d.findings[0].Remedy == "") != (want == findingOK) {
			t.Errorf("what ends in %v: %+v, want %s", left, d.findings[0], want)
		}
	}
}

// The newest of the backups counts, wherever the walk comes to it, and one as old as may be is good.
func TestTheNewestBackupCounts(t *testing.T) {
	const within = 26 * time.Hour
	dir := t.TempDir()
	at := func(name string, age time.Duration) {
		if err := errors.Join(os.WriteFile(filepath.Join(dir, name), []byte("x"), 0o600), os.Chtimes(filepath.Join(dir, name), asked, asked.Add(-age))); err != nil {
			t.Fatal(err)
		}
	}
	look := func() finding {
		d := &doctor{now: asked}
		d.backup(dir, within)
		return d.findings[0]
	}
	at("b", within)
	if f := look(); f != (finding{"backup", findingOK, "the newest is 26h old", ""}) {
		t.Errorf("a backup as old as may be: %+v", f)
	}
	at("b", within+time.Second)
	at("c", 2*within)
	if f := look(); f != (finding{"backup", findingFault, "the newest is of 2031-05-05T05:08:08Z, 26h old", "make one: docs/runbook.md"}) {
		t.Errorf("an older one: %+v", f)
	}
	at("a", time.Hour)
	if f := look(); f.State != findingOK {
		t.Errorf("a newer one before it: %+v", f)
	}
}
