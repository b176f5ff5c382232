package server

import (
	"log/slog"
	"net/netip"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/broker/api"
	"github.com/vimbroker/vimbroker/broker/strictyaml"
	"github.com/vimbroker/vimbroker/cmd/vimbroker/console"
	"github.com/vimbroker/vimbroker/drivers/helm/pull"
	"github.com/vimbroker/vimbroker/drivers/kubernetes"
	"github.com/vimbroker/vimbroker/lifecycle/catalog"
	"github.com/vimbroker/vimbroker/policy"
	"github.com/vimbroker/vimbroker/test/story"
)

// tokensFile writes a tokens file with one caller.
func tokensFile(t *testing.T) string {
	t.Helper()
	_, digest := policy.NewToken()
	return story.WriteFile(t, "tokens.yaml", "tokens:\n  - {name: alice, project: acme, roles: [member], sha256: "+digest+"}\n", 0o600)
}

func keep(*config, *strictyaml.Document) {}

func TestConfigSaysWhatAbsenceMeans(t *testing.T) {
	c, err := loadConfig(story.WriteFile(t, "c.yaml", "tokensFile: "+tokensFile(t)+"\n", 0o600), console.Environment{"HOME=/home/alice"}, keep)
	if err != nil {
		t.Fatal(err)
	}
	if c.Listen != "127.0.0.1:8420" || c.DataDir != "/home/alice/.local/state/vimbroker" || c.LogFormat != "json" || c.Terms != broker.DefaultTerms() {
		t.Errorf("loadConfig of an almost empty file = %+v", c)
	}
	if c, _ := loadConfig(story.WriteFile(t, "c.yaml", "{}", 0o600), console.Environment{"HOME=/home/alice", "XDG_STATE_HOME=/state"}, keep); c.DataDir != "/state/vimbroker" {
		t.Errorf("with XDG_STATE_HOME: DataDir = %q", c.DataDir)
	}
}

func TestConfigReadsEveryKey(t *testing.T) {
	policies := filepath.Join(t.TempDir(), "policies")
	if err := os.Mkdir(policies, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(policies, 0o700); err != nil {
		t.Fatal(err)
	}
	cert, key := story.ServerCertificate(t)
	text := `
listen: 0.0.0.0:9443
dataDir: /var/lib/vimbroker
tls: {certFile: ` + cert + `, keyFile: ` + key + `}
tokensFile: ` + tokensFile(t) + `
policyDir: ` + policies + `
trustedProxies: {networks: [10.0.0.10, "2001:db8::/32"], header: forwarded}
reservedLabels: [acme.example/]
egress:
  networks: [10.0.0.0/8]
  ports: ["6443", "30000-32767"]
  projects:
    lab: {allowLoopback: true}
lease: {defaultTTL: 30m, maxTTL: 8h, trial: always, escalatingNamespaces: [argocd, flux-system]}
quota: {perPrincipal: 5, perVIM: 0, perProject: 50, vims: 9, packages: 7, packageMiB: 8, packagesMiB: 0}
sol003: {enabled: true, signersFile: ` + cert + `}
charts: {caFile: ` + cert + `, keyringFile: ` + cert + `, logins: [{host: "r.example:5000", username: u, passwordFile: ` + key + `, projects: [lab]}]}
vnf: {driftInterval: 5m, operationsPerVIM: 5, operationsPerProject: 4}
checkInterval: 1m
log: {level: debug, format: text}
shutdownGrace: 5s
`
	c, err := loadConfig(story.WriteFile(t, "c.yaml", text, 0o600), nil, keep)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := c.Terms.Quota, (broker.Quota{PerPrincipal: 5, PerClient: 10_000, PerProject: 50}); got != want {
		t.Errorf("Quota = %+v, want %+v", got, want)
	}
	if got, want := c.Terms.VIMs, (broker.VIMQuota{PerProject: 9, Bytes: 256 << 10}); got != want {
		t.Errorf("VIMs = %+v, want %+v", got, want)
	}
	if got, want := c.Packages, (catalog.Terms{PerProject: 7, MaxSize: 8 << 20}); got != want || !c.SOL003.Enabled || c.signers == nil {
		t.Errorf("Packages = %+v, want %+v; SOL003 is served: %v", got, want, c.SOL003.Enabled)
	}
	if want := (pull.Login{Host: "r.example:5000", User: "u", PasswordFile: key, Projects: []string{"lab"}}); len(c.Charts.Logins) != 1 || !reflect.DeepEqual(c.Charts.Logins[0], want) ||
		c.Charts.CAFile != cert || c.Charts.KeyringFile != cert {
		t.Errorf("Charts = %+v", c.Charts)
	}
	if c.VNF.DriftEvery != 5*time.Minute || c.VNF.PerVIM != 5 || c.VNF.PerProject != 4 {
		t.Errorf("VNF = %+v", c.VNF)
	}
	if c.Terms.DefaultTTL != 30*time.Minute || c.Terms.MaxTTL != 8*time.Hour || c.Terms.CheckEvery != time.Minute || c.ShutdownGrace != 5*time.Second {
		t.Errorf("durations = %+v, %v", c.Terms, c.ShutdownGrace)
	}
	if want := (api.Proxies{Networks: []netip.Prefix{netip.MustParsePrefix("10.0.0.10/32"), netip.MustParsePrefix("2001:db8::/32")}, Header: api.Forwarded}); !reflect.DeepEqual(c.proxies, want) {
		t.Errorf("proxies = %+v, want %+v", c.proxies, want)
	}
	if !slices.Equal(c.ReservedLabels, []string{"acme.example/"}) {
		t.Errorf("ReservedLabels = %v", c.ReservedLabels)
	}
	if c.Trial != kubernetes.TrialAlways || !slices.Equal(c.Escalating, []string{"argocd", "flux-system"}) {
		t.Errorf("trial %q, escalating namespaces %q", c.Trial, c.Escalating)
	}
	if c.LogLevel != slog.LevelDebug || c.LogFormat != "text" || c.certificate == nil || c.tokens == nil || c.policies == nil {
		t.Errorf("log or files: %+v", c)
	}
	if lab, other := c.egress.of("lab"), c.egress.of("acme"); !lab.AllowLoopback || other.AllowLoopback || lab != c.egress.of("lab") {
		t.Error("egress rules are not per project, or not the same pointer twice")
	}
}

func TestConfigReportsEveryFaultAtOnce(t *testing.T) {
	tests := []struct {
		name, text string
		want       []string
	}{
		{"empty", "", []string{"c.yaml: is empty"}},
		{"not YAML", "listen: [", []string{"not YAML"}},
		{"two documents", "listen: 127.0.0.1:1\n---\nlisten: 127.0.0.1:2\n", []string{"more than one YAML document"}},
		{"not a mapping", "- a\n", []string{"must be a mapping"}},
		{"unknown keys", "listne: x\nlog: {levle: info}\n", []string{
			"listne (line 1): unknown key; known here:", "log.levle (line 2): unknown key; known here: format, level",
		}},
		{"twice", "listen: 127.0.0.1:1\nlisten: 127.0.0.1:2\n", []string{"listen (line 2): the key stands here twice"}},
		{"anchors", "listen: &a 127.0.0.1:1\ndataDir: *a\n", []string{"listen (line 1): holds an anchor or alias", "dataDir (line 2): holds an anchor or alias"}},
		{"merge", "log: {<<: {level: info}}\n", []string{"merge keys"}},
		{"kinds", "listen: 1\negress: {allowLoopback: maybe, networks: 10.0.0.0/8}\nlease: {maxTTL: 3}\nquota: {perVIM: -1}\ncheckInterval: soon\n", []string{
			"listen (line 1): must be a string", "egress.allowLoopback (line 2): must be true or false", "egress.networks (line 2): must be a list",
			"lease.maxTTL (line 3): must be a duration", "quota.perVIM (line 4): must be a whole number", "checkInterval (line 5): must be a duration",
		}},
		{"values", "listen: nowhere\nlog: {level: loud, format: xml}\nlease: {defaultTTL: 2h, maxTTL: 1h, trial: maybe}\ncheckInterval: 1s\ntokensFile: /nowhere\npolicyDir: /nowhere\ntls: {certFile: /nowhere}\negress: {networks: [x], ports: [0], projects: {lab: {ports: [y]}}}\n", []string{
			"listen: must be host:port", "log.level (line 2): must be debug", "log.format: must be json or text", "lease.defaultTTL: must not be longer", "lease.trial (line 3): must be always, sampled or never",
			"checkInterval: must be at least 10s", "tokensFile: open /nowhere", "policyDir: reading policies: open /nowhere",
			"tls.keyFile: must name the key", "egress.ports[0] (line 8): must be a string", "egress.projects.lab: port",
		}},
		{"proxies", "trustedProxies: {networks: [zog, 0.0.0.0/0, \"::/0\"], header: X-Real-IP}\nreservedLabels: [\"\"]\n", []string{
			"trustedProxies.networks: zog is no address", "0.0.0.0/0 is everybody", "::/0 is everybody", "trustedProxies.header: must be X-Forwarded-For or Forwarded",
			"reservedLabels (line 2): must not hold an empty text",
		}},
		{"egress", "egress: {networks: [x], projects: {lab: {networks: [y]}}}\n", []string{"egress: ", "egress.projects.lab: "}},
		{"no TLS", "listen: 0.0.0.0:8420\n", []string{"tls: must be set", "tokensFile: must name the file"}},
		{"a name is not an address", "listen: localhost:8420\n", []string{"tls: must be set"}},
		{"max below what Kubernetes gives", "lease: {maxTTL: 5m, defaultTTL: 5m}\n", []string{"lease.maxTTL: must be at least 10m"}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			_, err := loadConfig(story.WriteFile(t, "c.yaml", test.text, 0o600), console.Environment{"HOME=/h"}, keep)
			if err == nil {
				t.Fatal("loadConfig accepted it")
			}
			for _, want := range test.want {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("loadConfig = %v\nwant it to say %q", err, want)
				}
			}
			if strings.Contains(err.Error(), "\n") && test.name != "values" {
				t.Errorf("the error has several lines: %v", err)
			}
		})
	}
}

func TestConfigRefusesFilesThatOthersControl(t *testing.T) {
	cert, key := story.ServerCertificate(t)
	tokens, password := tokensFile(t), story.WriteFile(t, "password", "pw", 0o600)
	config := story.WriteFile(t, "c.yaml", "tls: {certFile: "+cert+", keyFile: "+key+"}\ntokensFile: "+tokens+
		"\ncharts: {logins: [{host: a.example, username: u, passwordFile: "+password+"}]}\n", 0o600)
	if _, err := loadConfig(config, console.Environment{"HOME=/h"}, keep); err != nil {
		t.Fatal(err)
	}
	for _, f := range []struct {
		name string
		mode os.FileMode
		want string
	}{
		{config, 0o666, "chmod go-w " + config},
		{key, 0o644, "tls.keyFile: " + key + " can be read or changed by others"},
		{cert, 0o664, "tls.certFile: " + cert + " can be changed by others"},
		{password, 0o644, "charts.logins.passwordFile: " + password + " can be read"},
		{tokens, 0o622, "tokensFile: " + tokens + " can be changed by others"},
	} {
		if err := os.Chmod(f.name, f.mode); err != nil {
			t.Fatal(err)
		}
	}
	_, err := loadConfig(config, console.Environment{"HOME=/h"}, keep)
	if err == nil {
		t.Fatal("loadConfig accepted loose files")
	}
	for _, want := range []string{"chmod go-w " + config, "tls.keyFile: " + key + " can be read", "tls.certFile: " + cert, "tokensFile: " + tokens, "charts.logins.passwordFile: " + password + " can be"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("loadConfig = %v\nwant it to say %q", err, want)
		}
	}
}

func TestTokensFileIsStrict(t *testing.T) {
	digest := strings.Repeat("ab", 32)
	for name, test := range map[string]struct{ text, want string }{
		"nobody":        {"tokens: []\n", "lists no token"},
		"unknown key":   {"tokens: [{name: a, project: p, roles: [member], sha256: " + digest + ", token: vbt_x}]\n", "tokens[0].token (line 1): unknown key"},
		"system":        {"tokens: [{name: a, project: p, roles: [system], sha256: " + digest + "}]\n", "the broker's own"},
		"not a digest":  {"tokens: [{name: a, project: p, roles: [member], sha256: vbt_canary}]\n", "64 lower-case hex digits"},
		"names collide": {"tokens: [{name: a, project: p, roles: [member], sha256: " + digest + "}, {name: a, project: p, roles: [member], sha256: " + strings.Repeat("cd", 32) + "}]\n", "taken by another"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := readTokens(story.WriteFile(t, "tokens.yaml", test.text, 0o600))
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Fatalf("readTokens = %v, want %q", err, test.want)
			}
			if strings.Contains(err.Error(), "canary") {
				t.Errorf("the error repeats what may be a token: %v", err)
			}
		})
	}
}

func TestDevListensOnLoopbackOnly(t *testing.T) {
	for listen, ok := range map[string]bool{
		"127.0.0.1:0": true, "[::1]:8420": true, "127.9.9.9:1": true,
		"0.0.0.0:8420": false, ":8420": false, "10.0.0.1:8420": false, "localhost:8420": false, "[::]:1": false, "[::ffff:10.0.0.1]:1": false,
	} {
		c := devConfig(console.Environment{"HOME=/h"})
		c.Listen = listen
		d := &strictyaml.Document{Name: "dev"}
		c.validate(d)
		if (d.Err() == nil) != ok {
			t.Errorf("validate of --dev --listen %s = %v, want allowed: %v", listen, d.Err(), ok)
		}
	}
}

func TestDevTokenIsKeptAndPrivate(t *testing.T) {
	dir := t.TempDir()
	first, err := devTokens(dir)
	if err != nil {
		t.Fatal(err)
	}
	name := filepath.Join(dir, devTokenFile)
	info, err := os.Stat(name)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Fatalf("%s has mode %v, want 0600 (%v)", name, info.Mode(), err)
	}
	token, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	again, err := devTokens(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, tokens := range []*policy.StaticTokens{first, again} {
		p, err := tokens.Authenticate(t.Context(), strings.TrimSpace(string(token)))
		if err != nil || p.Name != "admin" {
			t.Errorf("Authenticate(dev token) = %+v, %v", p, err)
		}
	}
	if err := os.Chmod(name, 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := devTokens(dir); err == nil || !strings.Contains(err.Error(), "remove it") {
		t.Errorf("devTokens of a token that others could read = %v, want a refusal with the remedy", err)
	}
}
