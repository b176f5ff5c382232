package server

import (
	"errors"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/vimbroker/vimbroker/broker/strictyaml"
	"github.com/vimbroker/vimbroker/cmd/vimbroker/console"
	"github.com/vimbroker/vimbroker/test/story"
)

var place = regexp.MustCompile(`^[^ ]+: `)

// faultsOf are the faults of an error, each with its key, without the file and the line.
func faultsOf(t *testing.T, err error) (all []string) {
	t.Helper()
	var faults *strictyaml.Faults
	if err != nil && !errors.As(err, &faults) {
		t.Fatalf("%v is no list of faults", err)
	}
	if faults != nil {
		for _, line := range faults.Lines {
			all = append(all, place.ReplaceAllString(line, ""))
		}
	}
	slices.Sort(all)
	return all
}

// Each rule of the configuration holds alone: its last good value has no fault, and one beyond is refused by the key's name.
func TestEachRuleOfTheConfiguration(t *testing.T) {
	cert, key := story.ServerCertificate(t)
	tokens := tokensFile(t)
	withTLS := "tls: {certFile: " + cert + ", keyFile: " + key + "}\n"
	const (
		needsTLS = "tls: must be set (certFile and keyFile) unless listen is a loopback address"
		listen   = "listen: must be host:port, like 127.0.0.1:8420"
		issuer   = "oauth.issuer: must be an https URL without path, query and fragment, like https://vimbroker.example:8443; http only on loopback"
		caFile   = "oauth.caFile: needs an oauth.issuer that is https: there is no certificate otherwise"
		past     = "must be forever, or a duration of at least 24h, like 8760h"
		pair     = "sol003.notifications.certFile: and keyFile go together"
	)
	for text, want := range map[string][]string{
		"listen: 127.0.0.1:0":                                                         nil,
		"listen: 127.0.0.1:65535":                                                     nil,
		"listen: 127.0.0.1:65536":                                                     {listen},
		"listen: 127.0.0.1:http":                                                      {listen},
		"listen: 127.0.0.1":                                                           {listen},
		"listen: 10.0.0.1:1":                                                          {needsTLS},
		withTLS + "listen: 10.0.0.1:1":                                                nil,
		"tls: {certFile: " + cert + "}":                                               {"tls.keyFile: must name the key that belongs to tls.certFile"},
		"tls: {keyFile: " + key + "}":                                                 {"tls.certFile: must name the certificate chain that belongs to tls.keyFile"},
		"oauth: {issuer: \"https://a.example:8443\"}":                                 nil,
		"oauth: {issuer: \"http://127.0.0.1:8443\"}":                                  nil,
		"oauth: {issuer: \"http://a.example\"}":                                       {issuer},
		"oauth: {issuer: \"ftp://127.0.0.1\"}":                                        {issuer},
		"oauth: {issuer: \"https://a.example/\"}":                                     {issuer},
		"oauth: {issuer: \"https://a.example?\"}":                                     {issuer},
		"oauth: {issuer: \"https://a.example?b\"}":                                    {issuer},
		"oauth: {issuer: \"https://a.example#b\"}":                                    {issuer},
		"oauth: {issuer: \"https://u@a.example\"}":                                    {issuer},
		"oauth: {issuer: \"https://:8443\"}":                                          {issuer},
		"oauth: {issuer: \"https://a.example:x\"}":                                    {issuer},
		"oauth: {issuer: \"https://a.example\", caFile: " + cert + "}":                nil,
		"oauth: {issuer: \"http://127.0.0.1\", caFile: " + cert + "}":                 {caFile},
		"oauth: {caFile: " + cert + "}":                                               {caFile},
		"sol003: {notifications: {certFile: " + cert + ", keyFile: " + key + "}}":     nil,
		"lease: {defaultTTL: 1h, maxTTL: 1h}":                                         nil,
		"lease: {defaultTTL: 1h1s, maxTTL: 1h}":                                       {"lease.defaultTTL: must not be longer than lease.maxTTL (1h0m0s)"},
		"lease: {defaultTTL: 10m, maxTTL: 10m}":                                       nil,
		"lease: {defaultTTL: 1m, maxTTL: 9m59s}":                                      {"lease.maxTTL: must be at least 10m, the shortest lease that Kubernetes gives"},
		"lease: {standingTTL: 10m}":                                                   nil,
		"lease: {standingTTL: 9m59s}":                                                 {"lease.standingTTL: must be at least 10m, the shortest token that Kubernetes gives"},
		"lease: {standingIdle: 1h}":                                                   nil,
		"lease: {standingIdle: 59m59s}":                                               {"lease.standingIdle: must be at least 1h"},
		"lease: {standingIdle: 2h, standingMax: 2h}":                                  nil,
		"lease: {standingIdle: 2h, standingMax: 1h59m}":                               {"lease.standingIdle: must not be longer than lease.standingMax (1h59m0s)"},
		"lease: {trial: sampled}":                                                     nil,
		"limits: {inFlight: 0}":                                                       nil,
		"limits: {inFlight: 8, project: {inFlight: 8}}":                               nil,
		"limits: {inFlight: 7, project: {inFlight: 7}}":                               {"limits.inFlight: must be at least 8, or 0 for no bound"},
		"limits: {inFlight: 8, project: {inFlight: 9}}":                               {"limits.project.inFlight: must not be more than limits.inFlight (8)"},
		"limits: {inFlight: 0, project: {inFlight: 99}}":                              nil,
		"shutdownDelay: 5m":                                                           nil,
		"shutdownDelay: 5m1s":                                                         {"shutdownDelay: must be at most 5m0s"},
		"quota: {packageMiB: 1}":                                                      nil,
		"quota: {packageMiB: 0}":                                                      {"quota.packageMiB: must be at least 1"},
		"vnf: {driftInterval: 1m}":                                                    nil,
		"vnf: {driftInterval: 59s}":                                                   {"vnf.driftInterval: must be at least 1m"},
		"vnf: {operationsPerVIM: 1, operationsPerProject: 1}":                         nil,
		"vnf: {operationsPerVIM: 1000, operationsPerProject: 1000}":                   nil,
		"vnf: {operationsPerVIM: 0}":                                                  {"vnf.operationsPerVIM: must be 1 to 1000"},
		"vnf: {operationsPerVIM: 1001}":                                               {"vnf.operationsPerVIM: must be 1 to 1000"},
		"vnf: {operationsPerProject: 0}":                                              {"vnf.operationsPerProject: must be 1 to 1000"},
		"vnf: {operationsPerProject: 1001}":                                           {"vnf.operationsPerProject: must be 1 to 1000"},
		"checkInterval: 10s":                                                          nil,
		"checkInterval: 9s":                                                           {"checkInterval: must be at least 10s"},
		"audit: {checkpointInterval: 1s}":                                             nil,
		"audit: {checkpointInterval: 999ms}":                                          {"audit.checkpointInterval: must be at least 1s"},
		"retention: {audit: 24h, leases: forever}":                                    nil,
		"retention: {audit: 23h59m}":                                                  {"retention.audit: " + past},
		"retention: {leases: always}":                                                 {"retention.leases: " + past},
		"trustedProxies: {header: X-Forwarded-For}":                                   nil,
		"charts: {logins: [{host: \"a/b\", username: u, passwordFile: " + key + "}]}": {"charts.logins[0]: needs host, like registry.example.com:5000, username and passwordFile"},
		"charts: {logins: [{host: \"u@a\", username: u, passwordFile: " + key + "}]}": {"charts.logins[0]: needs host, like registry.example.com:5000, username and passwordFile"},
		"charts: {logins: [{username: u, passwordFile: " + key + "}]}":                {"charts.logins[0]: needs host, like registry.example.com:5000, username and passwordFile"},
		"charts: {logins: [{host: a, passwordFile: " + key + "}]}":                    {"charts.logins[0]: needs host, like registry.example.com:5000, username and passwordFile"},
		"charts: {keyringFile: /nowhere}":                                             {"charts.keyringFile: open /nowhere: no such file or directory"},
		"sol003: {notifications: {certFile: " + cert + "}}":                           {pair},
		"tackerAPI: {compat: maybe}":                                                  {"tackerAPI.compat: must be tacker, or be left out"},
		"tackerAPI: {compat: tacker}":                                                 nil,
		"onapAPI: {connectivity: none}":                                               nil,
		"onapAPI: {connectivity: lease}":                                              nil,
		"onapAPI: {connectivity: some}":                                               {"onapAPI.connectivity: must be lease or none, or be left out"},
		"log: {level: warn}":                                                          nil,
		"log: {format: TEXT}":                                                         {"log.format: must be json or text"},
	} {
		c, d, err := parseConfig(story.WriteFile(t, "c.yaml", "tokensFile: "+tokens+"\n"+text+"\n", 0o600), console.Environment{"HOME=/h"})
		if err != nil {
			t.Fatal(err)
		}
		if c.validate(d); strings.Contains(text, "File") {
			c.load(d)
		}
		if got := faultsOf(t, d.Err()); !slices.Equal(got, want) {
			t.Errorf("%s\nhas the faults\n  %s\nwant\n  %s", text, strings.Join(got, "\n  "), strings.Join(want, "\n  "))
		}
	}
	if _, err := loadConfig(story.WriteFile(t, "c.yaml", "tls: {certFile: "+cert+", keyFile: "+cert+"}\ntokensFile: "+tokensFile(t)+"\n", 0o600), console.Environment{"HOME=/h"}, keep); err == nil ||
		!strings.Contains(err.Error(), "tls: ") {
		t.Errorf("a certificate in place of a key: %v", err)
	}
	c, err := loadConfig(story.WriteFile(t, "c.yaml", "tokensFile: "+tokens+"\nretention: {audit: 48h, leases: forever}\n", 0o600), console.Environment{"HOME=/h"}, keep)
	if err != nil || c.Terms.Keep.Audit != 48*time.Hour || c.Terms.Keep.Leases != 0 {
		t.Errorf("what is kept: %+v, %v", c.Terms.Keep, err)
	}
	for compat, want := range map[string]bool{"tacker": true, "\"\"": false} {
		c, err := loadConfig(story.WriteFile(t, "c.yaml", "tokensFile: "+tokens+"\ntackerAPI: {compat: "+compat+"}\nonapAPI: {connectivity: "+map[bool]string{true: "none", false: "lease"}[want]+"}\n", 0o600), console.Environment{"HOME=/h"}, keep)
		if err != nil || c.TackerAPI.Compat != want || c.ONAP.NoLease != want {
			t.Errorf("compat %s: %+v, %+v, %v", compat, c.TackerAPI, c.ONAP, err)
		}
	}
	if c := (config{Trust: make([]trustConfig, 1)}); c.letsIn() {
		t.Error("an entry without a principal lets callers in")
	}
	for dev, want := range map[string][]string{
		"127.0.0.1:0": nil, "nowhere": {listen},
		"10.0.0.1:1": {"listen: --dev serves plain HTTP, so it listens on 127.0.0.1 or [::1] only; use --config for other addresses"},
	} {
		c, d := devConfig(console.Environment{"HOME=/h"}), &strictyaml.Document{Name: "dev"}
		c.Listen = dev
		if c.validate(d); !slices.Equal(faultsOf(t, d.Err()), want) {
			t.Errorf("serve --dev --listen %s: %v, want %v", dev, d.Err(), want)
		}
	}
}

// Of a configuration whose database alone is used no other file is read; each fault of its text counts all the same.
func TestADatabaseAloneIsLoaded(t *testing.T) {
	dsn := story.WriteFile(t, "dsn", "postgres://u:pa55@127.0.0.1/db?sslmode=disable", 0o600)
	for text, want := range map[string]string{
		"tokensFile: /nowhere\ndatabase: {postgres: {dsnFile: " + dsn + "}}":                    "",
		"tokensFile: /nowhere\ndatabase: {postgres: {dsnFile: /gone}}":                          "database.postgres.dsnFile: open /gone",
		"tokensFile: /nowhere\ncheckInterval: 1s\ndatabase: {postgres: {dsnFile: " + dsn + "}}": "checkInterval: must be at least 10s",
	} {
		c, err := loadDatabase(story.WriteFile(t, "c.yaml", text+"\n", 0o600), console.Environment{"HOME=/h"})
		if want == "" && (err != nil || !strings.Contains(c.Database.Postgres.dsn.Reveal(), "pa55")) || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
	for what, load := range map[string]func(string) error{
		"all": func(name string) error { _, err := loadConfig(name, nil, keep); return err }, "a database": func(name string) error { _, err := loadDatabase(name, nil); return err },
	} {
		if err := load("/nowhere"); !errors.Is(err, os.ErrNotExist) || !strings.HasPrefix(err.Error(), "reading the configuration: ") {
			t.Errorf("%s of a configuration that is not there: %v", what, err)
		}
	}
}

// A file that is missing is one fault, not two.
func TestAFileThatIsMissingIsOneFault(t *testing.T) {
	const gone = ": open /gone: no such file or directory"
	vault := "keyStores: [{vault: {address: \"https://v.example\", auth: {%s}}}]"
	barbican := "keyStores: [{barbican: {authURL: \"https://k.example\", endpoint: \"https://b.example\", auth: {%s}}}]"
	keystone := "trust: [{name: k, keystone: {authURL: \"https://k.example\", roles: {a: reader}, auth: {%s}}}]"
	password, credential := "password: {userID: u, projectID: p, passwordFile: /gone}", "applicationCredential: {id: i, secretFile: /gone}"
	for text, want := range map[string][]string{
		"database: {postgres: {dsnFile: /gone}}":                                {"database.postgres.dsnFile" + gone},
		fmt.Sprintf(vault, "appRole: {roleIDFile: /gone, secretIDFile: /gone}"): {"keyStores[0].vault.auth.appRole.roleIDFile" + gone, "keyStores[0].vault.auth.appRole.secretIDFile" + gone},
		fmt.Sprintf(vault, "jwt: {role: r, tokenFile: /gone}"):                  {"keyStores[0].vault.auth.jwt.tokenFile" + gone},
		fmt.Sprintf(vault, "tokenFile: /gone"):                                  {"keyStores[0].vault.auth.tokenFile" + gone},
		fmt.Sprintf(barbican, password):                                         {"keyStores[0].barbican.auth.password.passwordFile" + gone},
		fmt.Sprintf(barbican, credential):                                       {"keyStores[0].barbican.auth.applicationCredential.secretFile" + gone},
		fmt.Sprintf(keystone, password):                                         {"trust[0].keystone.auth.password.passwordFile" + gone},
		fmt.Sprintf(keystone, credential):                                       {"trust[0].keystone.auth.applicationCredential.secretFile" + gone},
		fmt.Sprintf(barbican, "password: {userID: u, projectID: p}"):            {"keyStores[0].barbican.auth.password.passwordFile: must name a file"},
		fmt.Sprintf(keystone, "password: {userID: u, projectID: p}"):            {"trust[0].keystone.auth.password.passwordFile: must name a file"},
		fmt.Sprintf(keystone, "applicationCredential: {id: i}"):                 {"trust[0].keystone.auth.applicationCredential.secretFile: must name a file"},
		"tls: {certFile: /gone, keyFile: /gone}":                                {"tls: loading the certificate /gone with its key" + gone},
		"charts: {caFile: /gone}":                                               {"charts.caFile" + gone},
		"oauth: {issuer: \"https://a.example\", caFile: /gone}":                 {"oauth.caFile" + gone},
		"sol003: {signersFile: /gone, vnfmCAFile: /gone}":                       {"sol003.signersFile" + gone, "sol003.vnfmCAFile" + gone},
		"sol003: {notifications: {caFile: /gone}}":                              {"sol003.notifications.caFile" + gone},
	} {
		_, err := loadConfig(story.WriteFile(t, "c.yaml", "tokensFile: "+tokensFile(t)+"\n"+text+"\n", 0o600), console.Environment{"HOME=/h"}, keep)
		if got := faultsOf(t, err); !slices.Equal(got, want) {
			t.Errorf("%s\nhas the faults\n  %s\nwant\n  %s", text, strings.Join(got, "\n  "), strings.Join(want, "\n  "))
		}
	}
}

// Sinks and anchors: each rule alone.
func TestEachRuleOfSinks(t *testing.T) {
	dir, file := t.TempDir(), story.WriteFile(t, "file", "x", 0o600)
	sink := func(name, more string) string {
		return fmt.Sprintf("{name: %s, kind: file, path: %s/%s, mode: required%s}", name, dir, name, more)
	}
	many := func(key string, n int) string {
		var all []string
		for i := range n {
			one := sink(fmt.Sprintf("s%d", i), "")
			if key == "anchors" {
				one = strings.Replace(one, ", mode: required", "", 1)
			}
			all = append(all, one)
		}
		return key + ": [" + strings.Join(all, ", ") + "]"
	}
	name := strings.Repeat("n", 40)
	const spelled = "must be a name like site-siem: small letters, digits and single hyphens, at most 40"
	for text, want := range map[string][]string{
		many("sinks", 8): nil, many("sinks", 9): {"audit.sinks: must be at most 8"}, many("anchors", 8): nil, many("anchors", 9): {"audit.anchors: must be at most 8"},
		"sinks: [" + sink("a", ", within: 30s") + "]": nil, "sinks: [" + sink("a", ", within: 29s") + "]": {"audit.sinks[0].within: must be at least 30s"},
		"sinks: [" + sink(name, "") + "]": nil, "sinks: [" + sink(name+"n", "") + "]": {"audit.sinks[0].name: " + spelled}, "sinks: [" + sink("a--b", "") + "]": {"audit.sinks[0].name: " + spelled},
		"sinks: [{name: a, kind: file, mode: required, path: " + file + "/x}]": {"audit.sinks[0].path: " + file + " is no directory"},
	} {
		_, err := loadConfig(story.WriteFile(t, "c.yaml", "tokensFile: "+tokensFile(t)+"\naudit: {"+text+"}\n", 0o600), console.Environment{"HOME=/h"}, keep)
		if got := faultsOf(t, err); !slices.Equal(got, want) {
			t.Errorf("%s\nhas the faults\n  %s\nwant\n  %s", text, strings.Join(got, "\n  "), strings.Join(want, "\n  "))
		}
	}
}

// The table of trust: each rule of its own alone.
func TestEachRuleOfTrust(t *testing.T) {
	cert, key := story.ServerCertificate(t)
	password := story.WriteFile(t, "password", "x", 0o600)
	const one = "must be exactly one of issuer, vim, certificates and keystone, and with keystone without principals"
	rule := "principals: [{match: {sub: x}, project: p, roles: [reader]}]"
	login := "keystone: {authURL: \"https://k.example\", auth: {password: {userID: u, projectID: p, passwordFile: " + password + "}}, roles: {member: member}}"
	of := func(name, more string) string { return "{name: " + name + ", " + more + "}" }
	oidc := func(name, at string) string { return of(name, "issuer: \"https://"+at+"\", audience: a, "+rule) }
	mesh := of("mesh", "certificates: {caFile: "+cert+"}, principals: [{match: {uri: \"spiffe://acme/x\"}, project: p, roles: [reader]}]")
	for text, want := range map[string][]string{
		"trust: [" + oidc("a", "a.example") + ", " + oidc("b", "b.example") + "]":         nil,
		"trust: [" + oidc("a", "a.example") + ", " + oidc("a", "b.example") + "]":         {"trust[1].name: is the name of another entry"},
		"trust: [" + oidc("a", "a.example") + ", " + oidc("b", "a.example") + "]":         {"trust[1].issuer: is the issuer of another entry"},
		"trust: [" + of("k", login) + "]":                                                 nil,
		"trust: [" + of("k", login) + ", " + of("l", login) + "]":                         {"trust[1].keystone: is the second one: callers come from one Keystone"},
		"trust: [" + of("k", login+", "+rule) + "]":                                       {"trust[0]: " + one},
		"trust: [" + of("k", login+", vim: p/v") + "]":                                    {"trust[0]: " + one},
		"trust: [" + of("k", login+", issuer: \"https://a.example\"") + "]":               {"trust[0]: " + one},
		"trust: [" + of("k", login+", certificates: {caFile: "+cert+"}") + "]":            {"trust[0]: " + one},
		"trust: [" + mesh + "]":                                                           {"trust[0].certificates: needs tls, or trustedProxies with clientCert: callers show certificates while connecting"},
		"trustedProxies: {networks: [10.0.0.1], clientCert: true}\ntrust: [" + mesh + "]": nil,
		"tls: {certFile: " + cert + ", keyFile: " + key + "}\ntrust: [" + mesh + "]":      nil,
	} {
		_, err := loadConfig(story.WriteFile(t, "c.yaml", "tokensFile: "+tokensFile(t)+"\n"+text+"\n", 0o600), console.Environment{"HOME=/h"}, keep)
		if got := faultsOf(t, err); !slices.Equal(got, want) {
			t.Errorf("%s\nhas the faults\n  %s\nwant\n  %s", text, strings.Join(got, "\n  "), strings.Join(want, "\n  "))
		}
	}
	var c config
	if c.mutual() {
		t.Error("callers of a server of plain HTTP show certificates")
	}
	if c.TrustedProxies.ClientCert = true; !c.mutual() {
		t.Error("callers behind a proxy that tells their certificates show none")
	}
}
