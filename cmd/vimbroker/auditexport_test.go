package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	v1 "github.com/vimbroker/vimbroker/broker/api/v1"
	"github.com/vimbroker/vimbroker/test/process"
	"github.com/vimbroker/vimbroker/test/real"
	"github.com/vimbroker/vimbroker/test/story"
)

// TestExportsAreSigned exports a log, and verifies the file without the server under keys that were kept.
func TestExportsAreSigned(t *testing.T) {
	mine, other := serveConfig(t, ""), serveConfig(t, "")
	rotate := func(i *configured) (verifier string) {
		t.Helper()
		code, stdout, stderr := i.run(t, "audit", "key", "rotate", "-o", "json") // which signs what there is
		var k v1.AuditKey
		if code != 0 || json.Unmarshal([]byte(stdout), &k) != nil || k.Verifier == "" {
			t.Fatalf("audit key rotate = %d, %s, %s", code, stdout, stderr)
		}
		return k.Verifier
	}
	file := filepath.Join(t.TempDir(), "mine")
	export := func(i *configured, name string, args ...string) string {
		t.Helper()
		code, stdout, stderr := i.run(t, append([]string{"audit", "export", "--out", name}, args...)...)
		if code != 0 {
			t.Fatalf("audit export %v = %d, %s", args, code, stderr)
		}
		return stdout
	}
	first := rotate(mine)
	export(mine, file, "--to", "2")
	second := rotate(mine)
	export(mine, file)
	strange := rotate(other)
	forged := filepath.Join(t.TempDir(), "forged")
	export(other, forged)
	mine.stop() // nothing below asks it

	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.SplitAfter(string(text), "\n")
	with := func(name string, change func(header map[string]any)) string {
		t.Helper()
		var header map[string]any
		if err := json.Unmarshal([]byte(lines[4]), &header); err != nil { // of the second section
			t.Fatal(err)
		}
		change(header)
		changed, err := json.Marshal(header)
		if err != nil {
			t.Fatal(err)
		}
		return story.WriteFile(t, name, strings.Join(lines[:4], "")+string(changed)+"\n"+strings.Join(lines[5:], ""), 0o600)
	}
	unsigned := with("unsigned", func(h map[string]any) { delete(h, "checkpoint") })
	keyless := with("keyless", func(h map[string]any) { h["keys"] = []any{} })
	stale := with("stale", func(h map[string]any) {
		var first map[string]any
		if json.Unmarshal([]byte(lines[0]), &first) == nil {
			h["checkpoint"] = first["checkpoint"]
		}
	})
	edited := story.WriteFile(t, "edited", strings.Replace(string(text), "system:", "nobody:", 1), 0o600)
	cut := story.WriteFile(t, "cut", strings.Join(lines[:len(lines)-2], ""), 0o600)
	for _, c := range []struct {
		name, file, key string
		want            string // what is said of it; an error where refused
		refused         bool
	}{
		{"under the key of the first section", file, first, "signed by: " + second, false},
		{"under no key", file, "", "signed by: " + second, false},
		{"under the key of the second section, which covers the first", file, second, "signed by: " + second, false},
		{"without a checkpoint, under no key", unsigned, "", "no checkpoint signs them all", false},
		{"under another log's key", file, strange, "line 5 of the export", true},
		{"another log", forged, first, "line 1 of the export", true},
		{"the checkpoint taken away", unsigned, first, "line 5 of the export: no checkpoint", true},
		{"the keys taken away", keyless, first, "line 5 of the export", true},
		{"another checkpoint of this log", stale, first, "line 5 of the export: the checkpoint is of another log", true},
		{"an entry edited", edited, first, "of the export: entry ", true},
		{"the end cut off", cut, first, "interrupted behind line", true},
	} {
		args := []string{"audit", "verify", "--file", c.file}
		if c.key != "" {
			args = append(args, "--key", c.key)
		}
		code, stdout, stderr := mine.run(t, args...)
		if (code != 0) != c.refused || !strings.Contains(stdout+stderr, c.want) {
			t.Errorf("%s: audit verify --file = %d, %q, %q; want it to say %q", c.name, code, stdout, stderr, c.want)
		}
	}
}

// TestWhatIsNotSignedIsExportedWhereItIsNamed has entries that no checkpoint covers.
func TestWhatIsNotSignedIsExportedWhereItIsNamed(t *testing.T) {
	i := serveConfig(t, unsigned)
	if !real.Poll(t, process.Patience, func() bool { // the one pass, at the start
		code, _, _ := i.run(t, "audit", "checkpoint")
		return code == 0
	}) {
		t.Fatal("the log is not signed")
	}
	code, stdout, stderr := i.run(t, "audit", "key", "rotate", "-o", "json")
	var k v1.AuditKey
	if code != 0 || json.Unmarshal([]byte(stdout), &k) != nil {
		t.Fatalf("audit key rotate = %d, %s, %s", code, stdout, stderr)
	}
	run := func(want string, args ...string) {
		t.Helper()
		if code, stdout, stderr := i.run(t, args...); (code == 0) != (stderr == "") || !strings.Contains(stdout+stderr, want) {
			t.Errorf("%v = %d, %q, %q; want it to say %q", args, code, stdout, stderr, want)
		}
	}
	file := filepath.Join(t.TempDir(), "export")
	run("holds entries 1 to "+strconv.FormatInt(k.Since, 10)+"; anchor: ", "audit", "export", "--out", file)
	run("no entry after "+strconv.FormatInt(k.Since, 10)+" is signed yet", "audit", "export", "--out", file)
	run("no checkpoint signs them all", "audit", "export", "--out", file, "--to", strconv.FormatInt(k.Since+1, 10)) // the rotation's own
	run("no checkpoint signs them all", "audit", "verify", "--file", file)
	run("no checkpoint signs the entries", "audit", "verify", "--file", file, "--key", k.Verifier)
}

// TestExportsWhereThePastWasRemoved go on, begin later, or say that what they lack is gone.
func TestExportsWhereThePastWasRemoved(t *testing.T) {
	i := serveConfig(t, "")
	run := func(args ...string) (code int, said string) {
		code, stdout, stderr := i.run(t, append([]string{"audit"}, args...)...)
		return code, stdout + stderr
	}
	file := filepath.Join(t.TempDir(), "export")
	for _, args := range [][]string{{"key", "rotate"}, {"key", "rotate"}, {"export", "--out", file}} { // the second signs the first
		if code, said := run(args...); code != 0 {
			t.Fatalf("audit %v = %d, %s", args, code, said)
		}
	}
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	cut := story.WriteFile(t, "cut", strings.Join(strings.SplitAfter(string(text), "\n")[:3], ""), 0o600) // a header and two entries
	i.stop()
	db := openSQL(t, "sqlite", "file:"+filepath.Join(i.data, "vimbroker.db"))
	execute(t, db, "UPDATE audit_horizon SET seq = 3; DELETE FROM audit_entries WHERE seq <= 3") // what the pass does
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	i.start()
	later := filepath.Join(t.TempDir(), "later")
	for _, c := range []struct {
		want string
		fine bool
		args []string
	}{
		{"", true, []string{"export", "--out", file}},
		{"entries 1 to ", true, []string{"verify", "--file", file}},
		{"holds entries 4 to ", true, []string{"export", "--out", later}},
		{"entries 4 to ", true, []string{"verify", "--file", later}},
		{"was interrupted before entry 3, and the log begins with entry 4", false, []string{"export", "--out", cut}},
		{"the log begins with entry 4", false, []string{"export", "--out", filepath.Join(t.TempDir(), "all"), "--from", "1"}},
		{"entries verified", true, []string{"verify"}},
	} {
		if code, said := run(c.args...); (code == 0) != c.fine || !strings.Contains(said, c.want) {
			t.Errorf("audit %v = %d, %s; want it to say %q", c.args, code, said, c.want)
		}
	}
}
