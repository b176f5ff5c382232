package server

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/vimbroker/vimbroker/broker/delivery"
	"github.com/vimbroker/vimbroker/broker/strictyaml"
	"github.com/vimbroker/vimbroker/cmd/vimbroker/console"
	"github.com/vimbroker/vimbroker/test/story"
)

func TestConfigReadsSinks(t *testing.T) {
	cert, _ := story.ServerCertificate(t)
	token := story.WriteFile(t, "token", "canary-of-a-token\n", 0o600)
	key := story.WriteFile(t, "key", "whsec_Y2FuYXJ5LWtleS1vZi10aGUtd2ViaG9vay0tLS0=\n", 0o600)
	dir := t.TempDir()
	text := `
tokensFile: ` + tokensFile(t) + `
audit:
  egress: {allowLoopback: true, ports: ["6514"]}
  sinks:
    - {name: local, kind: file, mode: bestEffort, path: ` + dir + `/audit.jsonl}
    - {name: syslog, kind: syslog, mode: required, within: 1m, address: "127.0.0.1:6514", caFile: ` + cert + `}
    - {name: siem, kind: webhook, mode: required, url: "https://siem/audit", tokenFile: ` + token + `, hmacKeyFile: ` + key + `}
    - {name: fleet, kind: webhook, mode: bestEffort, url: "https://fleet/", cloudEvents: true}
  anchors:
    - {name: local, kind: file, path: ` + dir + `/checkpoints.jsonl}
    - {name: witness, kind: webhook, url: "https://witness/", tokenFile: ` + token + `}
`
	c, err := loadConfig(story.WriteFile(t, "c.yaml", text, 0o600), console.Environment{"HOME=/h"}, keep)
	if err != nil {
		t.Fatal(err)
	}
	want := []sinkConfig{
		{outletConfig{Name: "local", Kind: "file", Path: dir + "/audit.jsonl"}, delivery.BestEffort, 24 * time.Hour, false},
		{outletConfig{Name: "syslog", Kind: "syslog", Address: "127.0.0.1:6514", CAFile: cert}, delivery.Required, time.Minute, false},
		{outletConfig{Name: "siem", Kind: "webhook", URL: "https://siem/audit", TokenFile: token, HMACKeyFile: key}, delivery.Required, 5 * time.Minute, false},
		{outletConfig{Name: "fleet", Kind: "webhook", URL: "https://fleet/"}, delivery.BestEffort, 24 * time.Hour, true},
	}
	if diff := cmp.Diff(want, c.Audit.Sinks, cmp.AllowUnexported(sinkConfig{})); diff != "" || !c.Audit.rules.AllowLoopback || c.egress.of("x").AllowLoopback {
		t.Errorf("audit = %+v; sinks (-want +got):\n%s", c.Audit, diff)
	}
	sinks, err := c.Audit.open()
	if err != nil || len(sinks) != 4 || sinks[2].Name != "siem" || sinks[2].Mode != delivery.Required || sinks[2].Within != 5*time.Minute {
		t.Errorf("open = %+v, %v", sinks, err)
	}
	wantAnchors := []outletConfig{
		{Name: "local", Kind: "file", Path: dir + "/checkpoints.jsonl"},
		{Name: "witness", Kind: "webhook", URL: "https://witness/", TokenFile: token},
	}
	if diff := cmp.Diff(wantAnchors, c.Audit.Anchors); diff != "" {
		t.Errorf("anchors (-want +got):\n%s", diff)
	}
	anchors, err := c.Audit.openAnchors()
	if err != nil || len(anchors) != 2 || anchors[1].Name != "witness" {
		t.Fatalf("openAnchors = %+v, %v", anchors, err)
	}
	line := [][]byte{[]byte("{}")}
	if err := errors.Join(sinks[0].Outlet.Send(t.Context(), line), anchors[0].Outlet.Send(t.Context(), line)); err != nil {
		t.Error(err)
	}
	for _, name := range []string{"audit.jsonl", "checkpoints.jsonl"} {
		if _, err := os.Stat(filepath.Join(dir, name)); err != nil {
			t.Error(err)
		}
	}
}

func TestConfigReportsEveryFaultOfSinks(t *testing.T) {
	token := story.WriteFile(t, "token", "canary-of-a-token\n", 0o644)
	key := story.WriteFile(t, "key", "canary-of-a-key\n", 0o600)
	text := `
audit:
  egress: {networks: [x]}
  sinks:
    - {name: a, kind: pigeon, mode: maybe}
    - {name: Upper, kind: file, mode: required, within: 1s, path: relative, url: "https://x"}
    - {name: b, kind: syslog, mode: required, address: nowhere, certFile: /nowhere, path: /nowhere}
    - {name: b, kind: webhook, mode: bestEffort, url: "http://siem/", tokenFile: ` + token + `, hmacKeyFile: ` + key + `, caFile: /nowhere, plain: true}
    - {name: c, kind: file, mode: required, path: /nowhere/audit.jsonl, tail: 1, cloudEvents: true}
  anchors:
    - {name: a, kind: file, path: /nowhere/checkpoints.jsonl, mode: required}
    - {name: a, kind: syslog, address: nowhere}
`
	_, err := loadConfig(story.WriteFile(t, "c.yaml", text, 0o600), console.Environment{"HOME=/h"}, keep)
	if err == nil {
		t.Fatal("loadConfig accepted it")
	}
	for _, want := range []string{
		"audit.egress: ", "audit.sinks[0].kind: must be file, syslog or webhook", "audit.sinks[0].mode: must be required or bestEffort",
		"audit.sinks[1].name: must be a name like", "audit.sinks[1].within: must be at least 30s", "audit.sinks[1]: path must name a file", "audit.sinks[1].url: does not go with kind file",
		"audit.sinks[2]: address must be host:port", "audit.sinks[2]: certFile and keyFile go together", "audit.sinks[2].path: does not go with",
		"audit.sinks[3].name: is the name of another sink", "audit.sinks[3]: url must begin with https", "audit.sinks[3].tokenFile: " + token + " can be read", "audit.sinks[3].hmacKeyFile: " + key + " must hold", "audit.sinks[3].caFile: ", "audit.sinks[3].plain: does not go",
		"audit.sinks[4].path: /nowhere is no directory", "audit.sinks[4].tail", "unknown key", "audit.sinks[4].cloudEvents: goes with kind webhook alone",
		"audit.anchors[0].path: /nowhere is no directory", "audit.anchors[0].mode", "audit.anchors[1].name: is the name of another anchor", "audit.anchors[1]: address must be",
	} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("loadConfig = %v\nwant it to say %q", err, want)
		}
	}
	if strings.Contains(err.Error(), "canary") {
		t.Errorf("a fault repeats a secret: %v", err)
	}
}

// Each key of a sink that does not go with its kind is a fault.
func TestWhichKeysGoWithAKindOfSinks(t *testing.T) {
	for kind, goes := range map[string]string{
		"file": "path", "syslog": "address plain caFile serverName certFile keyFile", "webhook": "url caFile tokenFile hmacKeyFile",
	} {
		d, o := &strictyaml.Document{}, outletConfig{
			Name: "s", Kind: kind, Path: "/p", Address: "a:1", Plain: true, CAFile: "f", ServerName: "n", CertFile: "f", KeyFile: "f", URL: "https://u",
			TokenFile: "f", HMACKeyFile: "f",
		}
		o.validate(d, "s")
		for _, key := range []string{"path", "address", "plain", "caFile", "serverName", "certFile", "keyFile", "url", "tokenFile", "hmacKeyFile"} {
			if refused := strings.Contains(d.Err().Error(), "s."+key+": does not go with kind "+kind); refused == slices.Contains(strings.Fields(goes), key) {
				t.Errorf("%s of the kind %s is refused: %t", key, kind, refused)
			}
		}
	}
}
