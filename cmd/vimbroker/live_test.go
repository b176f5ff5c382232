package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/vimbroker/vimbroker/broker/api/v1"
	"github.com/vimbroker/vimbroker/cmd/vimbroker/console"
	"github.com/vimbroker/vimbroker/policy"
	"github.com/vimbroker/vimbroker/test/fakekube"
	"github.com/vimbroker/vimbroker/test/process"
	"github.com/vimbroker/vimbroker/test/story"
)

// hangUp asks this process, in which the server runs, to reload.
func hangUp(t *testing.T) {
	t.Helper()
	if err := syscall.Kill(os.Getpid(), syscall.SIGHUP); err != nil {
		t.Fatal(err)
	}
}

const reloaded = `"msg":"the configuration is reloaded"`

func TestReloadExchangesTokens(t *testing.T) {
	i := serveConfig(t, "")
	if code, _, stderr := i.run(t, "vim", "list"); code != 0 {
		t.Fatalf("vim list: %s", stderr)
	}
	_, digest := policy.NewToken()
	overwrite(t, i.tokens, "tokens: [{name: bob, project: acme, roles: [admin], sha256: "+digest+"}]\n")
	if code, _, _ := i.run(t, "vim", "list"); code != 0 {
		t.Error("the tokens file was read before anybody said so")
	}
	hangUp(t)
	i.await(t, reloaded)
	if code, _, stderr := i.run(t, "vim", "list"); code != console.ExitFailed || !strings.Contains(stderr, "does not know this token") {
		t.Errorf("vim list with a token that is not in the file any more = %d, %q", code, stderr)
	}
}

func TestReloadExchangesPoliciesAndEgress(t *testing.T) {
	policies := t.TempDir()
	if err := os.Chmod(policies, 0o700); err != nil {
		t.Fatal(err)
	}
	i := serveConfig(t, "policyDir: "+policies+"\n")
	kube := fakekube.New(t, fakekube.Options{})
	kubeconfig := story.WriteFile(t, "kubeconfig", kube.Kubeconfig(), 0o600)
	if code, _, stderr := i.run(t, "vim", "register", "--kubeconfig", kubeconfig, "edge"); code != 0 {
		t.Fatalf("vim register: %s", stderr)
	}
	overwrite(t, filepath.Join(policies, "site.cedar"), `@id("no-leases") @reason("The site is closed.") forbid (principal, action == Action::"lease:issue", resource);`)
	hangUp(t)
	line := i.await(t, reloaded)
	_, hash, _ := strings.Cut(line, `"policies":"`)
	if hash, _, _ = strings.Cut(hash, `"`); hash == builtIn(t) {
		t.Error("the log names the policies from before")
	}
	i.wantMetrics(t, hash, true)
	if code, _, stderr := i.run(t, "lease", "issue", "--vim", "edge"); code != console.ExitFailed || !strings.Contains(stderr, "(site.no-leases): The site is closed.") {
		t.Errorf("lease issue under the new policy = %d, %q", code, stderr)
	}
	if _, told, _ := i.run(t, "policy", "explain", "lease:issue", "--vim", "edge"); !strings.Contains(told, "Reasons:   The site is closed.\n") {
		t.Errorf("policy explain says %q", told)
	}

	// The connection that is open to the VIM goes with the rules that allowed it.
	i.configure(t, strings.Replace(i.text("policyDir: "+policies+"\n"), "allowLoopback: true", "allowLoopback: false", 1))
	hangUp(t)
	i.await(t, reloaded)
	if code, _, stderr := i.run(t, "vim", "check", "edge"); code == 0 {
		t.Errorf("vim check of a VIM on loopback, which is not allowed any more, worked: %s", stderr)
	}
}

func TestReloadKeepsWhatWorksWhenTheFileHasFaults(t *testing.T) {
	i := serveConfig(t, "")
	i.configure(t, i.text("checkInterval: soon\nshutdownGarce: 3s\npolicyDir: /nowhere\n"))
	hangUp(t)
	line := i.await(t, "is not reloaded")
	for _, want := range []string{`"level":"ERROR"`, "checkInterval (line 5): must be a duration", "shutdownGarce (line 6): unknown key", "policyDir: reading policies"} {
		if !strings.Contains(line, want) {
			t.Errorf("the log says %q, want also %q", line, want)
		}
	}
	if code, _, stderr := i.run(t, "vim", "list"); code != 0 {
		t.Errorf("vim list after a reload that failed: %s", stderr)
	}
	_, told, _ := i.run(t, "audit", "list", "--action", "server:reload", "-o", "json")
	if !strings.Contains(told, `"outcome": "failed"`) || strings.Contains(told, "shutdownGarce") {
		t.Errorf("the audit log says of the reload that failed: %s", told)
	}
	i.wantMetrics(t, builtIn(t), false)
	i.configure(t, i.text(""))
	hangUp(t)
	i.await(t, reloaded)
	i.wantMetrics(t, builtIn(t), true)
}

// TestStartsAndReloadsAreInTheAuditLog, each with the policies that were in force from then on.
func TestStartsAndReloadsAreInTheAuditLog(t *testing.T) {
	policies := t.TempDir()
	if err := os.Chmod(policies, 0o700); err != nil {
		t.Fatal(err)
	}
	i := serveConfig(t, "policyDir: "+policies+"\n")
	overwrite(t, filepath.Join(policies, "site.cedar"), `@id("no-leases") forbid (principal, action == Action::"lease:issue", resource);`)
	hangUp(t)
	i.await(t, reloaded)
	hashes := map[string]bool{}
	for action, want := range map[string]int{"server:start": 1, "server:reload": 1, "server:login": 1} {
		_, text, stderr := i.run(t, "audit", "list", "--action", action, "--effects", "-o", "json")
		var told v1.List[v1.AuditEntry]
		if err := json.Unmarshal([]byte(text), &told); err != nil || len(told.Items) != want {
			t.Fatalf("%d entries of %s, want %d: %v %s", len(told.Items), action, want, err, stderr)
		}
		if hash := told.Items[0].Detail["policies"]; hash != "" {
			hashes[hash] = true
		}
	}
	if len(hashes) != 2 {
		t.Errorf("the entries name the policies %v, want those before and after", hashes)
	}
}

func builtIn(t *testing.T) string {
	t.Helper()
	policies, err := policy.Load(nil)
	if err != nil {
		t.Fatal(err)
	}
	return policies.Hash()
}

// wantMetrics holds which policies are said to be in use, and whether the last reload was good.
func (i *configured) wantMetrics(t *testing.T, hash string, good bool) {
	t.Helper()
	successful := "vimbroker_config_last_reload_successful 0\n"
	if good {
		successful = "vimbroker_config_last_reload_successful 1\n"
	}
	missing := func() string {
		_, metrics := i.get(t, "/metrics")
		for _, want := range []string{`vimbroker_policies_info{hash="` + hash + `"} 1`, successful} {
			if !strings.Contains(metrics, want) {
				return want
			}
		}
		return ""
	}
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for late := time.Now().Add(10 * time.Second); missing() != ""; <-tick.C { // scrapes share what was collected within a second
		if time.Now().After(late) {
			t.Errorf("the metrics do not say %q", missing())
			return
		}
	}
}

func TestReloadNamesTheKeysThatNeedARestart(t *testing.T) {
	i := serveConfig(t, "")
	changed := "lease: {maxTTL: 2h}\nquota: {perVIM: 3}\n"
	for _, more := range []string{changed, changed + "log: {format: json}\n"} { // again, and with what is as it was
		i.configure(t, i.text(more))
		hangUp(t)
		if line := i.await(t, "need a restart"); !strings.Contains(line, `"keys":["lease","quota"]`) {
			t.Errorf("the log says %q, want lease and quota", line)
		}
		i.await(t, reloaded)
	}
	i.configure(t, i.text(""))
	hangUp(t)
	if said := i.await(t, reloaded, "need a restart"); strings.Contains(said, "need a restart") {
		t.Errorf("after the change was taken back: %s", said)
	}
}

// Whoever reloads is told how that went: what was taken, what needs a restart, and which line has
// a fault, of which the server hears nothing.
func TestReloadSaysWhatItTook(t *testing.T) {
	i := serveConfig(t, "")
	reload := func() (int, string, string) {
		t.Helper()
		return i.run(t, "reload", "--config", i.file, "--pid", strconv.Itoa(os.Getpid()))
	}
	if code, out, stderr := reload(); code != 0 || !strings.Contains(out, "nothing that can be exchanged has changed; policies "+builtIn(t)) {
		t.Errorf("reload of what is as it was = %d, %s%s", code, out, stderr)
	}
	_, digest := policy.NewToken()
	text, err := os.ReadFile(i.tokens)
	if err != nil {
		t.Fatal(err)
	}
	overwrite(t, i.tokens, string(text)+"  - {name: bob, project: acme, roles: [member], sha256: "+digest+"}\n")
	if code, out, stderr := reload(); code != 0 || !strings.Contains(out, "changed and in effect: tokensFile; policies ") {
		t.Errorf("reload of another tokens file = %d, %s%s", code, out, stderr)
	}
	overwrite(t, i.tokens, string(text))
	i.configure(t, i.text("quota: {perVIM: 3}\n"))
	if code, out, stderr := reload(); code != console.ExitFailed || !strings.Contains(out, "in effect: tokensFile") || !strings.Contains(stderr, "only after a restart: quota") {
		t.Errorf("reload of what needs a restart = %d, %s%s", code, out, stderr)
	}
	i.configure(t, i.text("checkInterval: soon\n"))
	if code, _, stderr := reload(); code != console.ExitFailed || !strings.Contains(stderr, "checkInterval (line 5): must be a duration") {
		t.Errorf("reload of a fault = %d, %s", code, stderr)
	}
	i.wantMetrics(t, builtIn(t), true) // it was not asked

	i.configure(t, i.text(""))
	gone := exec.Command("true")
	if err := gone.Run(); err != nil {
		t.Fatal(err)
	}
	if code, _, stderr := i.run(t, "reload", "--config", i.file, "--pid", strconv.Itoa(gone.Process.Pid)); code != console.ExitFailed || !strings.Contains(stderr, "--pid must name the server") {
		t.Errorf("reload of a process that is not there = %d, %s", code, stderr)
	}
	if code, _, _ := i.run(t, "reload", "--config", i.file); code != console.ExitUsage {
		t.Errorf("reload without a process = %d, want %d", code, console.ExitUsage)
	}
	if info, err := os.Stat(filepath.Join(i.data, "last-reload.json")); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the file of the last reload: %v, %v", info, err)
	}
}

func TestReloadTakesOtherCertificateFiles(t *testing.T) {
	cert, key := story.ServerCertificate(t)
	i := serveConfig(t, "")
	i.stop()
	plain := i.text("")
	i.configure(t, plain+"tls: {certFile: "+cert+", keyFile: "+key+"}\n")
	i.start()
	otherCert, otherKey := story.ServerCertificate(t)
	i.configure(t, plain+"tls: {certFile: "+otherCert+", keyFile: "+otherKey+"}\n")
	hangUp(t)
	i.await(t, reloaded)
	i.env = append(i.env, console.EnvAddr+"=https://"+i.addr, console.EnvCAFile+"="+otherCert)
	if code, _, stderr := i.run(t, "vim", "list"); code != 0 {
		t.Errorf("vim list by the new certificate: %s", stderr)
	}
	// TLS itself stays.
	i.configure(t, plain)
	hangUp(t)
	if line := i.await(t, "need a restart"); !strings.Contains(line, `"keys":["tls"]`) {
		t.Errorf("the log says %q", line)
	}
	if code, _, stderr := i.run(t, "vim", "list"); code != 0 {
		t.Errorf("vim list after TLS was taken out of the file: %s", stderr)
	}
}

func TestTheTryOutModeDoesNotReload(t *testing.T) {
	i := install(t)
	c := i.command(t, "serve", "--dev", "--listen", "127.0.0.1:0", "--data-dir", filepath.Join(t.TempDir(), "data"), "--log-format", "json")
	c.Dir = t.TempDir()
	p, err := process.Start(c, "serve")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Kill)
	if _, err := p.Log.Next(t.Context(), `"msg":"ready"`); err != nil {
		t.Fatal(err)
	}
	if err := p.Signal(syscall.SIGHUP); err != nil {
		t.Fatal(err)
	}
	state, err := p.Ended(process.Patience)
	if err != nil {
		t.Fatal(err)
	}
	if status := state.Sys().(syscall.WaitStatus); !status.Signaled() || status.Signal() != syscall.SIGHUP {
		t.Errorf("after its terminal hung up the server ended with %v, want SIGHUP", state)
	}
}

func overwrite(t *testing.T, name, text string) {
	t.Helper()
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}
