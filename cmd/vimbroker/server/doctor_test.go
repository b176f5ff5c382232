package server

import (
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

	"github.com/vimbroker/vimbroker/broker/api/client"
)

// TestDoctorNamesEachFault: what a server says of its parts, its log, its copies and its VIMs becomes a finding of the right
// state, with a remedy; and nothing is said of what is well.
func TestDoctorNamesEachFault(t *testing.T) {
	now := time.Date(2031, 5, 6, 7, 8, 9, 0, time.UTC)
	at := func(d time.Duration) string { return now.Add(d).Format(time.RFC3339) }
	const (
		wellEntry = `{"items": [{"seq": 9, "time": "%s"}]}`
		noItems   = `{"items": []}`
	)
	well := map[string]string{
		"/readyz":              `{"status": "ready", "version": "1.0.0", "parts": [{"name": "database", "usable": true}]}`,
		"/v1/tokens":           `{"items": [{"id": "a", "name": "alice", "project": "acme", "roles": []}]}`,
		"/v1/audit/checkpoint": `{"size": 8, "root": "", "time": "` + at(-time.Hour) + `", "key": "k", "note": ""}`,
		"/v1/audit":            fmt.Sprintf(wellEntry, at(0)),
		"/v1/audit/sinks":      noItems,
		"/v1/audit/anchors":    noItems,
		"/v1/vims":             `{"items": [{"name": "edge", "status": "reachable", "warnings": []}]}`,
	}
	for name, c := range map[string]struct {
		path, answer        string
		part, state, remedy string
	}{
		"all is well":            {part: "VIMs", state: findingOK},
		"a part":                 {"/readyz", `{"status": "ready", "parts": [{"name": "issuing", "detail": "vault is sealed"}]}`, "issuing", findingFault, "runbook"},
		"a token":                {"/v1/tokens", `{"items": [{"id": "a", "name": "alice", "roles": [], "expiresAt": "` + at(time.Hour) + `"}]}`, "tokens", findingWarning, "give alice another"},
		"a token of before":      {"/v1/tokens", `{"items": [{"id": "a", "name": "alice", "roles": [], "expiresAt": "` + at(-time.Hour) + `"}]}`, "tokens", findingFault, "give alice another"},
		"a log not signed":       {"/v1/audit", fmt.Sprintf(wellEntry, at(-time.Hour)), "audit log", findingFault, "server's log"},
		"a clock":                {"/v1/audit", fmt.Sprintf(wellEntry, at(time.Hour)), "clock", findingWarning, "time server"},
		"a sink":                 {"/v1/audit/sinks", `{"items": [{"name": "siem", "late": true, "behind": "2h0m0s"}]}`, "sink siem", findingFault, "takes entries"},
		"a sink that stumbles":   {"/v1/audit/sinks", `{"items": [{"name": "siem", "fault": "refused"}]}`, "sink siem", findingWarning, ""},
		"an anchor":              {"/v1/audit/anchors", `{"items": [{"name": "far", "fault": "refused"}]}`, "anchor far", findingWarning, "have it take checkpoints"},
		"a VIM":                  {"/v1/vims", `{"items": [{"name": "edge", "status": "unauthorized", "warnings": []}]}`, "VIM edge", findingFault, "vimbroker vim check edge"},
		"a credential":           {"/v1/vims", `{"items": [{"name": "edge", "status": "reachable", "warnings": ["credentialExpiring"]}]}`, "VIM edge", findingWarning, "vimbroker vim rotate edge"},
		"a credential of before": {"/v1/vims", `{"items": [{"name": "edge", "status": "reachable", "warnings": ["credentialExpired"]}]}`, "VIM edge", findingFault, "vimbroker vim rotate edge"},
	} {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			answer, known := well[r.URL.Path]
			if r.URL.Path == c.path {
				answer = c.answer
			}
			if !known {
				t.Errorf("asked for %s", r.URL.Path)
			}
			w.Header().Set("Content-Type", "application/json")
			_, _ = w.Write([]byte(answer))
		}))
		registry, err := client.New(client.Options{Addr: server.URL})
		if err != nil {
			t.Fatal(err)
		}
		d := &doctor{now: now}
		d.server(t.Context(), registry)
		server.Close()
		worst := 0
		for _, f := range d.findings {
			if f.State != findingOK {
				worst++
			}
			if f.Part == c.part && (f.State != c.state || !strings.Contains(f.Remedy, c.remedy)) {
				t.Errorf("%s: %+v", name, f)
			}
		}
		if want := map[bool]int{true: 0, false: 1}[c.state == findingOK]; worst != want {
			t.Errorf("%s: %d findings, want %d: %+v", name, worst, want, d.findings)
		}
	}
}

// TestDoctorNamesWhereToRenew: the remedy for a certificate that ends is the command that renews this one.
func TestDoctorNamesWhereToRenew(t *testing.T) {
	now := time.Now()
	s := setup{
		dir: filepath.Join(t.TempDir(), "its own"), state: filepath.Join(t.TempDir(), "state"), listen: "127.0.0.1:0",
		hosts: []string{"127.0.0.1"}, owner: "nobody-of-this-name", admin: "admin", project: "platform",
	}
	if err := s.write(now); err != nil {
		t.Fatal(err)
	}
	d := &doctor{now: now.Add(certificateLife - 24*time.Hour)}
	d.configuration(s.path("vimbroker.yaml"), []string{"HOME=/h"})
	last := d.findings[len(d.findings)-1]
	if want := "vimbroker init --renew --dir '" + s.dir + "'"; last.State != findingWarning || last.Remedy != want {
		t.Errorf("doctor finds %+v, want the remedy %q", last, want)
	}
}

// A server of plain HTTP has no certificate that ends.
func TestDoctorOfAServerWithoutACertificate(t *testing.T) {
	file := filepath.Join(t.TempDir(), "c.yaml")
	if err := os.WriteFile(file, []byte("tokensFile: "+tokensFile(t)+"\ndataDir: "+filepath.Dir(file)+"/d\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	d := &doctor{now: time.Now()}
	d.configuration(file, []string{"HOME=/h"})
	if want := []finding{{Part: "configuration", State: findingOK, Detail: file + " has no fault"}}; !slices.Equal(d.findings, want) {
		t.Errorf("doctor finds %+v, want %+v", d.findings, want)
	}
}

// TestDoctorLooksAtBackups: the newest file that holds anything counts.
func TestDoctorLooksAtBackups(t *testing.T) {
	now := time.Now()
	file := func(dir, text string, age time.Duration) {
		name := filepath.Join(dir, fmt.Sprint(age))
		if err := errors.Join(os.WriteFile(name, []byte(text), 0o600), os.Chtimes(name, now, now.Add(-age))); err != nil {
			t.Fatal(err)
		}
	}
	good, old, none := t.TempDir(), t.TempDir(), t.TempDir()
	file(good, "x", time.Hour)
	file(good, "x", 100*time.Hour)
	file(old, "x", 27*time.Hour)
	file(old, "", time.Hour)
	for dir, want := range map[string]string{good: findingOK, old: findingFault, none: findingFault, filepath.Join(none, "nowhere"): findingFault} {
		d := &doctor{now: now}
		d.backup(dir, 26*time.Hour)
		if len(d.findings) != 1 || d.findings[0].State != want || (want == findingOK) != (d.findings[0].Remedy == "") {
			t.Errorf("%s: %+v, want %s", dir, d.findings, want)
		}
	}
}
