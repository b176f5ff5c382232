package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
)

// TestDoctor: a server that is well has no fault, and each that is made is found with its remedy.
func TestDoctor(t *testing.T) {
	dir := t.TempDir()
	if code, _, errs := initialised(t, dir, "--host", "127.0.0.1"); code != 0 {
		t.Fatal(errs)
	}
	config, tokens := filepath.Join(dir, "vimbroker.yaml"), filepath.Join(dir, "tokens.yaml")
	text, err := os.ReadFile(tokens)
	if err != nil {
		t.Fatal(err)
	}
	ends := time.Now().Add(72 * time.Hour).UTC().Format(time.RFC3339)
	if err := os.WriteFile(tokens, []byte(strings.Replace(string(text), ", sha256", ", expiresAt: "+ends+", sha256", 1)), 0o600); err != nil {
		t.Fatal(err)
	}
	s := serve(t, nil, "--config", config)
	url := regexp.MustCompile(`"url":"(https://[^"]+)"`).FindStringSubmatch(s.log.String())[1]
	env := []string{
		"VIMBROKER_ADDR=" + url, "VIMBROKER_CA_FILE=" + filepath.Join(dir, "tls/ca.crt"), "VIMBROKER_TOKEN_FILE=" + filepath.Join(dir, "admin.token"),
	}
	asked := func() (code int, states map[string]string, all string) {
		var out, errs bytes.Buffer
		code = run(t.Context(), []string{"doctor", "--config", config, "-o", "json"}, nil, &out, &errs, env)
		var got struct {
			Items []struct{ Part, State, Detail, Remedy string }
		}
		if err := json.Unmarshal(out.Bytes(), &got); err != nil {
			t.Fatalf("%v: %s%s", err, &out, &errs)
		}
		states = map[string]string{}
		for _, f := range got.Items {
			states[f.Part] = f.State
		}
		return code, states, out.String()
	}
	code, states, all := asked()
	for part, want := range map[string]string{
		"configuration": "ok", "certificate": "ok", "server": "ok", "database": "ok", "issuing": "ok", "recording": "ok", "tokens": "warning",
		"VIMs": "ok",
	} {
		if states[part] != want {
			t.Errorf("%s is %q, want %s", part, states[part], want)
		}
	}
	if code != 0 || !strings.Contains(all, "give admin another: vimbroker token new") {
		t.Errorf("a server that is well: %d, %s", code, all)
	}
	if err := os.Chmod(filepath.Join(dir, "tls/tls.key"), 0o644); err != nil {
		t.Fatal(err)
	}
	if code, states, all := asked(); code != 1 || states["configuration"] != "fault" || !strings.Contains(all, "chmod") {
		t.Errorf("a key that others can read: %d, %s", code, all)
	}
	s.stop()
	if code, states, all := asked(); code != 1 || states["server"] != "fault" {
		t.Errorf("a server that is away: %d, %s", code, all)
	}
}
