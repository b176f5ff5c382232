package server

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.yaml.in/yaml/v3"

	"github.com/vimbroker/vimbroker/broker/strictyaml"
	"github.com/vimbroker/vimbroker/policy"
	"github.com/vimbroker/vimbroker/test/story"
)

// deployed reads a file of deploy/.
func deployed(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", "..", "deploy", name))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// switchedOff is a setting that stands in a comment: "#" and a word without a
// space between them.
var switchedOff = regexp.MustCompile(`(?m)^( *)#(- )?([a-z])`)

// vocabulary lists every key that a configuration may hold, dotted, without the
// positions in lists and the names of projects. It asks the reader itself: a key that cannot be
// is answered with those that can.
func vocabulary(t *testing.T) []string {
	t.Helper()
	var all []string
	var walk func(path string, around func(inner string) string)
	walk = func(path string, around func(string) string) {
		d := &strictyaml.Document{Name: "test"}
		c := defaults(nil)
		if root := d.Parse([]byte(around("{zzz: 0}"))); root != nil {
			d.Mapping(root, "", c.fields(d))
		}
		_, known, ok := strings.Cut(fmt.Sprint(d.Err()), "known here: ")
		if !ok {
			return // not a mapping with fixed keys
		}
		known, _, _ = strings.Cut(known, ";")
		for key := range strings.SplitSeq(known, ", ") {
			inner := strings.TrimPrefix(path+"."+key, ".")
			all = append(all, inner)
			before := len(all)
			for _, form := range []string{"%", "[%]", "{name: %}"} {
				if len(all) == before {
					walk(inner, func(s string) string { return around("{" + key + ": " + strings.ReplaceAll(form, "%", s) + "}") })
				}
			}
		}
	}
	walk("", func(s string) string { return s })
	slices.Sort(all)
	return all
}

// keysOf lists the keys of a file as vocabulary does.
func keysOf(n *yaml.Node, at string) []string {
	var all []string
	switch n.Kind {
	case yaml.SequenceNode:
		for _, item := range n.Content {
			all = append(all, keysOf(item, at)...)
		}
	case yaml.MappingNode:
		for i := 0; i+1 < len(n.Content); i += 2 {
			path, value := strings.TrimPrefix(at+"."+n.Content[i].Value, "."), n.Content[i+1]
			all = append(all, path)
			switch path {
			case "trust.keystone.roles", "trust.principals.match", "managementClusters.selector", "managementClusters.namespaceSelector", "managementClusters.projects": // whose keys are other systems'
				continue
			}
			if path == "egress.projects" {
				for j := 1; j < len(value.Content); j += 2 {
					all = append(all, keysOf(value.Content[j], path)...)
				}
				continue
			}
			all = append(all, keysOf(value, path)...)
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

func TestExampleConfigurationShowsEveryKey(t *testing.T) {
	text := switchedOff.ReplaceAllString(deployed(t, "vimbroker.yaml"), "$1$2$3")
	d := &strictyaml.Document{Name: "vimbroker.yaml"}
	root := d.Parse([]byte(text))
	if err := d.Err(); err != nil {
		t.Fatalf("with every setting switched on: %v", err)
	}
	want := vocabulary(t)
	if len(want) < 40 || !slices.Contains(want, "keyStores.vault.auth.appRole.secretIDFile") || !slices.Contains(want, "egress.projects.ports") {
		t.Fatalf("the reader's vocabulary is %q: the walk is broken", want)
	}
	if diff := cmp.Diff(want, keysOf(root, "")); diff != "" {
		t.Errorf("deploy/vimbroker.yaml does not show the keys there are (-reader +file):\n%s", diff)
	}
}

// The comment of a key, or of one around it, says for whom the key is.
func TestExampleConfigurationExplainsEveryKey(t *testing.T) {
	key := regexp.MustCompile(`^( *)#?(- )?[A-Za-z]+:( |$)`)
	lines := strings.Split(deployed(t, "vimbroker.yaml"), "\n")
	type place struct {
		depth int
		named bool
	}
	var around []place
	for i, line := range lines {
		found := key.FindStringSubmatch(line)
		if found == nil {
			continue
		}
		comment := ""
		for j := i - 1; j >= 0 && strings.HasPrefix(strings.TrimSpace(lines[j]), "# "); j-- {
			comment = lines[j] + comment
		}
		depth := len(found[1]) + len(found[2])
		for len(around) > 0 && around[len(around)-1].depth >= depth {
			around = around[:len(around)-1]
		}
		named := strings.Contains(comment, "# For ") || len(around) > 0 && around[len(around)-1].named
		around = append(around, place{depth, named})
		switch {
		case comment == "":
			t.Errorf("line %d has no comment above it: %s", i+1, line)
		case !named && !slices.Contains([]string{"database:", "trust:", "vnf:", "lease:", "audit:", "log:"}, strings.Trim(line, "#")):
			t.Errorf("line %d: nothing says for whom the key is: %s", i+1, line)
		}
	}
}

func TestExampleConfigurationLoads(t *testing.T) {
	etc := t.TempDir()
	cert, key := story.ServerCertificate(t)
	_, digest := policy.NewToken()
	for _, dir := range []string{"tls", "policies"} {
		if err := os.Mkdir(filepath.Join(etc, dir), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	read := func(name string) string {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	for name, text := range map[string]string{
		"tls/tls.crt": read(cert), "tls/tls.key": read(key), "vault-ca.pem": read(cert), "vault-role-id": "role", "vault-secret-id": "secret",
		"tokens.yaml": "tokens: [{name: alice, project: acme, roles: [admin], sha256: " + digest + "}]\n",
	} {
		if err := os.WriteFile(filepath.Join(etc, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	text := strings.NewReplacer("/etc/vimbroker/", etc+"/", "/run/credentials/vimbroker.service/", etc+"/").Replace(deployed(t, "vimbroker.yaml"))
	c, err := loadConfig(story.WriteFile(t, "vimbroker.yaml", text, 0o600), nil, keep)
	if err != nil {
		t.Fatal(err)
	}
	if c.Listen != "0.0.0.0:8420" || len(c.KeyStores) != 1 || c.KeyStores[0].Vault == nil || c.KeyStores[0].Vault.Auth.AppRole.RoleID != "role" {
		t.Errorf("deploy/vimbroker.yaml = %+v", c)
	}
	if d := defaults(nil); c.Terms != d.Terms || c.LogFormat != d.LogFormat || c.LogLevel != d.LogLevel || c.ShutdownGrace != d.ShutdownGrace {
		t.Errorf("the example's leases, quotas, log and grace are not the defaults: %+v", c)
	}
}

// unit is the directives of the service, in order.
func unit(t *testing.T) map[string][]string {
	t.Helper()
	directives := map[string][]string{}
	for line := range strings.Lines(deployed(t, "vimbroker.service")) {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") || strings.HasPrefix(line, "[") {
			continue
		}
		name, value, ok := strings.Cut(line, "=")
		if !ok {
			t.Fatalf("vimbroker.service: %q is no directive", line)
		}
		directives[name] = append(directives[name], value)
	}
	return directives
}

func TestServiceUnitIsHardened(t *testing.T) {
	got := unit(t)
	for name, want := range map[string][]string{
		"ProtectSystem": {"strict"}, "ProtectHome": {"yes"}, "NoNewPrivileges": {"yes"}, "PrivateTmp": {"yes"}, "PrivateDevices": {"yes"},
		"CapabilityBoundingSet": {""}, "RestrictAddressFamilies": {"AF_INET AF_INET6 AF_UNIX"}, "MemoryDenyWriteExecute": {"yes"},
		"LimitCORE": {"0"}, "UMask": {"0077"}, "SystemCallArchitectures": {"native"}, "RestrictNamespaces": {"yes"},
		// Without @resources the server could not forbid itself core files, and would not start.
		"SystemCallFilter": {"@system-service", "~@privileged"},
		"User":             {"vimbroker"}, "StateDirectory": {"vimbroker"}, "StateDirectoryMode": {"0700"},
		"ExecStart":  {"/usr/local/bin/vimbroker serve --config /etc/vimbroker/vimbroker.yaml"},
		"ExecReload": {"/usr/local/bin/vimbroker reload --config /etc/vimbroker/vimbroker.yaml --pid $MAINPID"},
	} {
		if diff := cmp.Diff(want, got[name]); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
	stop, err := strconv.Atoi(strings.Join(got["TimeoutStopSec"], ""))
	if grace := defaults(nil).ShutdownGrace.Seconds(); err != nil || float64(stop) <= grace+5 {
		t.Errorf("TimeoutStopSec = %q, want more than shutdownGrace (%v s) and a delay of 5 s: systemd would cut requests off", got["TimeoutStopSec"], grace)
	}
	// What the example configuration reads from systemd, the unit passes on.
	var named, passed []string
	for _, found := range regexp.MustCompile(`(?m)^ *[^# ].*/run/credentials/vimbroker\.service/([a-z-]+)`).FindAllStringSubmatch(deployed(t, "vimbroker.yaml"), -1) {
		named = append(named, found[1])
	}
	for _, credential := range got["LoadCredential"] {
		name, _, _ := strings.Cut(credential, ":")
		passed = append(passed, name)
	}
	slices.Sort(named)
	slices.Sort(passed)
	if diff := cmp.Diff(named, passed); diff != "" || len(named) == 0 {
		t.Errorf("credentials (-configuration +unit):\n%s", diff)
	}
}

// exposure is systemd's own judgement, of 10.
var exposure = regexp.MustCompile(`Overall exposure level for vimbroker\.service: ([0-9.]+)`)

func TestServiceUnitIsAccepted(t *testing.T) {
	analyze, err := exec.LookPath("systemd-analyze")
	if err != nil {
		t.Skip("needs systemd-analyze, of the package systemd; the directives themselves are tested without")
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "vimbroker.service")
	text := strings.ReplaceAll(deployed(t, "vimbroker.service"), "/usr/local/bin/vimbroker", self)
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command(analyze, "verify", "--man=no", file).CombinedOutput(); err != nil || len(out) > 0 {
		t.Errorf("systemd-analyze verify: %v\n%s", err, out)
	}
	out, err := exec.Command(analyze, "security", "--offline=true", "--no-pager", file).CombinedOutput()
	if err != nil && strings.Contains(string(out), "unrecognized option") {
		t.Skip("this systemd-analyze cannot judge a unit file (before version 250)")
	}
	found := exposure.FindStringSubmatch(string(out))
	if found == nil {
		t.Fatalf("systemd-analyze security: %v\n%s", err, out)
	}
	if level, err := strconv.ParseFloat(found[1], 64); err != nil || level > 2 {
		t.Errorf("systemd-analyze security judges %s, want at most 2.0\n%s", found[1], out)
	}
}

// TestTheChartsExamplesAreConfigurations: the configurations of the chart's examples have no key that is none.
func TestTheChartsExamplesAreConfigurations(t *testing.T) {
	for _, name := range []string{"values.yaml", "examples/trial.yaml", "examples/production.yaml"} {
		var values struct{ Config yaml.Node }
		if err := yaml.Unmarshal([]byte(deployed(t, "chart/"+name)), &values); err != nil {
			t.Fatal(err)
		}
		text, err := yaml.Marshal(&values.Config)
		if err != nil {
			t.Fatal(err)
		}
		d := &strictyaml.Document{Name: name}
		c := defaults(nil)
		d.Mapping(d.Parse(text), "", c.fields(d))
		if d.Err() != nil {
			t.Errorf("%v", d.Err())
		}
	}
}
