package main

import (
	"fmt"
	"net/http"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/vimbroker/vimbroker/broker/api"
	"github.com/vimbroker/vimbroker/cmd/vimbroker/console"
	"github.com/vimbroker/vimbroker/cmd/vimbroker/root"
	"github.com/vimbroker/vimbroker/policy"
	"github.com/vimbroker/vimbroker/test/fakekube"
	"github.com/vimbroker/vimbroker/test/story"
)

// neverSent are kinds of refusals that no command can bring upon a person: of requests
// that the client does not make, or not as often ("limited").
var neverSent = []string{"malformed", "method", "media-type", "too-slow", "limited"}

var (
	requestID = regexp.MustCompile(` \[request [0-9a-f-]{36}\]$`)
	// leadsOn is a remedy: in parentheses, or as what must be instead.
	leadsOn = regexp.MustCompile(`\(.+\)|must |give |leave |choose |did you mean|known: |ask for |make it |revoke |wait |configure |set VIMBROKER|is required with`)
	// ofREST are words of another door: operations, headers, and names of fields.
	ofREST = regexp.MustCompile(`/v1/|urn:|ETag|Authorization|\b(caCert|insecureSkipVerify|serverName|sharedWith|clusterWide|cloudsYaml|keyStore|pageToken|idPrefix|applicationCredential\w*|clientCertificate|clientKey)\b`)
	typed  = regexp.MustCompile(`"(vimbroker [^"]+)"|(?:see|with): (vimbroker [a-z -]+)`)
	flag   = regexp.MustCompile(`(?:^|[\s("])--([a-z][a-z-]*)`)
)

// TestEveryRefusalLeadsForward walks over what a server refuses to the command line: each
// refusal is one line that names the field in the words of the command, the reason, a
// remedy that can be typed, and the request's id.
func TestEveryRefusalLeadsForward(t *testing.T) {
	kube := fakekube.New(t, fakekube.Options{})
	i := serveConfig(t, "quota: {perPrincipal: 1}\n")
	bob, digest := policy.NewToken()
	policies := t.TempDir()
	if err := os.WriteFile(policies+"/site.cedar", []byte(`@id("no-edit") forbid (principal, action == Action::"lease:issue", resource)
		when { context.role == "edit" };`), 0o600); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(i.tokens)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(i.tokens, append(text, "  - {name: bob, project: acme, roles: [member], sha256: "+digest+"}\n"...), 0o600); err != nil {
		t.Fatal(err)
	}
	i.restart(t, "quota: {perPrincipal: 1}\npolicyDir: "+policies+"\n")
	stranger, _ := policy.NewToken()
	files := map[string]string{
		"KUBECONFIG": story.WriteFile(t, "kubeconfig", kube.Kubeconfig(), 0o600),
		"CA":         story.WriteFile(t, "ca.pem", kube.CA, 0o600),
		"TOKEN":      story.WriteFile(t, "token", kube.AdminToken+"\n", 0o600),
		"WRONG":      story.WriteFile(t, "wrong", "wrong-canary\n", 0o600),
		"HUGE":       story.WriteFile(t, "huge", strings.Repeat("x", 1<<20), 0o600),
		"BOB":        story.WriteFile(t, "bob", bob+"\n", 0o600),
		"STRANGER":   story.WriteFile(t, "stranger", stranger+"\n", 0o600),
		"URL":        kube.Endpoint,
		"OUT":        t.TempDir() + "/out",
	}
	args := func(line string) []string {
		words := strings.Fields(line)
		for n, word := range words {
			if to, ok := files[word]; ok {
				words[n] = to
			}
		}
		return words
	}
	must := func(line string) {
		t.Helper()
		if code, _, stderr := i.run(t, args(line)...); code != 0 {
			t.Fatalf("%s: %d %s", line, code, stderr)
		}
	}
	must("vim register --kubeconfig KUBECONFIG edge")
	must("lease issue --vim edge --out OUT --role view")

	titles := map[string]string{} // of kinds of refusals, by title
	for _, k := range api.Kinds() {
		if k.Status >= 400 && k.Status < 500 && !slices.Contains(neverSent, k.Name) {
			titles[k.Title] = k.Name
		}
	}
	i.env = append(i.env, "KUBERNETES_EXEC_INFO="+kube.ExecInfo()) // as kubectl runs the command credential
	const byFields, nobody = "vim register --endpoint URL --ca-cert-file CA --bearer-token-file TOKEN ", "00000000-0000-0000-0000-000000000000"
	for _, c := range []struct {
		line string
		// field is what is at fault, as the person typed it; empty where it is no one field.
		field, reason string
		before        func()
	}{
		{line: "vim show nowhere", reason: "no such VIM"},
		{line: "vim check nowhere", reason: "no such VIM"},
		{line: "vim inventory nowhere", reason: "no such VIM"},
		{line: "key rotate nowhere", reason: "no such VIM"},
		{line: "exec nowhere -- true", reason: "no such VIM"},
		{line: "credential --vim nowhere", reason: "no such VIM"},
		{line: "lease issue --vim nowhere", reason: "no such VIM"},
		{line: "lease list --vim nowhere", reason: "no such VIM"},
		{line: "lease revoke --vim nowhere", reason: "no such VIM"},
		{line: "lease show " + nobody, reason: "no such lease"},
		{line: "lease renew " + nobody + " --out OUT --replace", reason: "no such lease"},
		{line: "lease revoke " + nobody, reason: "no such lease"},
		{line: "vim list --token-file STRANGER", reason: "the server does not know this token"},
		{line: "token list --token-file BOB", reason: "policy does not allow bob to token:list"},
		{line: "vim share edge --with lab --token-file BOB", field: "--with", reason: "policy does not let you share VIMs"},
		{line: "vim update edge --label vimbroker.io/a=b --token-file BOB", field: "--label", reason: "policy does not let you change labels"},
		{line: "lease issue --vim edge --role cluster-admin --cluster-wide --token-file BOB", reason: "such a lease (default.cluster-wide-writes-need-admin)"},
		{line: "lease issue --vim edge -n default --role edit --token-file BOB", reason: "(site.no-edit)"},
		{line: "lease issue --vim edge", reason: "quota"},

		{line: byFields + "edge", field: "NAME", reason: "the project has a VIM of this name"},
		{line: byFields + "..", field: "NAME", reason: "which URLs and paths read as a directory"},
		{line: byFields + "--type cloud new", field: "--type", reason: "must be kubernetes or openstack"},
		{line: byFields + "--label =y new", field: "--label", reason: "a key must be a Kubernetes label key"},
		{line: byFields + "--namespace A_B new", field: "--namespace", reason: "must be a DNS label"},
		{line: byFields + "--region r new", field: "--region", reason: "is OpenStack's"},
		{line: byFields + "--cloud-project p new", field: "--cloud-project", reason: "OpenStack's"},
		{line: byFields + "--server-name a/b new", field: "--server-name", reason: "DNS name"},
		{line: byFields + "--username u new", field: "--bearer-token-file", reason: "must be one of token, --client-cert-file with --client-key-file"},
		{line: "vim register --endpoint ftp://x --bearer-token-file TOKEN new", field: "--endpoint", reason: "must begin with https://"},
		{line: "vim register --endpoint URL new", field: "--bearer-token-file", reason: "holds no credential that can be used"},
		{line: "vim register --endpoint URL --username u new", field: "--password-file", reason: "is required with username"},
		{line: "vim register --endpoint URL --ca-cert-file WRONG --bearer-token-file TOKEN new", field: "--ca-cert-file", reason: "is not PEM"},
		{line: "vim register --endpoint URL --ca-cert-file HUGE --bearer-token-file TOKEN new", reason: "request body too large"},
		{line: "vim register --endpoint URL --ca-cert-file CA --bearer-token-file WRONG new", reason: "the API server refuses the credential"},
		{
			line: "lease issue --vim edge --rule get:pods -n default --token-file BOB", reason: `what "vimbroker vim rbac VIM --for engine" prints`,
			before: func() { kube.Deny(fakekube.Denial{Verb: "create", Resource: "roles"}) },
		},
		{line: byFields + "new", reason: "may not", before: func() { kube.Deny(fakekube.Denial{Resource: "namespaces"}) }},
		{line: byFields + "new", reason: "does not serve SelfSubjectReview", before: func() {
			kube.Deny()
			kube.FailNext("POST", "/selfsubjectreviews$", http.StatusNotFound, 1)
		}},

		{line: "vim update edge --endpoint https://127.0.0.1:8443", field: "--bearer-token-file", reason: "changing endpoint changes where the credential is sent"},
		{line: "vim update edge --ca-cert-file CA --insecure-skip-verify", field: "--bearer-token-file", reason: "changing --"},
		{line: "vim update edge --name .", field: "--name", reason: "choose another"},
		{line: "vim update edge --description x --if-revision 77", field: "--if-revision", reason: "the VIM has changed since it was read"},
		{line: "vim delete edge --if-revision 77", field: "--if-revision", reason: "the VIM has changed since it was read"},
		{line: "vim delete edge", reason: "leases on the VIM are still live"},
		{line: "vim rotate edge --bearer-token-file WRONG", reason: "the API server refuses the credential"},
		{line: "vim list --status happy", field: "--status", reason: "must be one of"},
		{line: "vim list --type cloud", field: "--type", reason: "must be one of"},

		{line: "lease issue", field: "--vim", reason: "no VIM named, and the project has no default"},
		{line: "lease issue --vim edge --ttl 5m", field: "--ttl", reason: "is below 600 s"},
		{line: "exec edge --ttl 5m -- true", field: "--ttl", reason: "is below 600 s"},
		{line: "credential --vim edge --ttl 5m", field: "--ttl", reason: "is below 600 s"},
		{line: "lease issue --vim edge --role no-such", field: "--role", reason: "the cluster has no ClusterRole no-such"},
		{line: "lease issue --vim edge --role a/b", field: "--role", reason: "must be the name of a ClusterRole"},
		{line: "lease issue --vim edge -n nowhere", field: "--namespace", reason: "the cluster has no namespace nowhere"},
		{line: "lease issue --vim edge -n A_B", field: "--namespace", reason: "must be DNS labels"},
		{line: "lease issue --vim edge -n vimbroker", field: "--namespace", reason: "is kept for the broker's own"},
		{line: "lease issue --vim edge -n default --cluster-wide", field: "--cluster-wide", reason: "exclude each other"},
		{line: "lease issue --vim edge --rule get:pods --role view", field: "--rule", reason: "in place of a role"},
		{line: "lease issue --vim edge --rule get:!!", field: "--rule", reason: "must hold names of"},
		{line: "lease issue --vim edge --format clouds.yaml", field: "--format", reason: "must be one of"},
		{line: "lease list --state gone", field: "--state", reason: "must be one of"},

		{line: "key migrate --to nowhere", field: "--to", reason: "is not configured here"},
		{line: "audit list --outcome happy", field: "--outcome", reason: "must be one of"},
		{line: "audit list --action lease:isue", field: "--action", reason: "did you mean lease:issue?"},
		{line: "audit prove 99999", field: "SEQ", reason: "must be between"},
		{line: "policy explain lease:isue --vim edge", field: "ACTION", reason: "did you mean lease:issue?"},
		{line: "policy explain lease:issue", field: "--vim", reason: "not to a Project; give one"},
		{line: "policy explain lease:issue --vim edge --grade wide", field: "--grade", reason: "is not known here"},
		{line: "policy explain lease:issue --vim edge --principal bob --with-role membr", field: "--with-role", reason: "did you mean member?"},
	} {
		if c.before != nil {
			c.before()
		}
		code, _, stderr := i.run(t, args(c.line)...)
		lines := strings.Split(strings.TrimSpace(stderr), "\n")
		said := lines[len(lines)-1] // those before say how far it is
		for title := range titles {
			if strings.Contains(said, title) {
				delete(titles, title)
			}
		}
		if strings.Contains(said, "does not know this token") {
			delete(titles, "not authenticated")
		}
		wrong := func(format string, args ...any) {
			t.Errorf("%s\n\t%s\n\t%s", c.line, said, fmt.Sprintf(format, args...))
		}
		switch {
		case code == 0 || !strings.HasPrefix(said, "vimbroker: "):
			wrong("code %d, want a refusal", code)
			continue
		case !requestID.MatchString(said):
			wrong("names no request")
		}
		said = requestID.ReplaceAllString(said, "")
		if !strings.Contains(said, c.reason) || c.field != "" && !strings.Contains(said, c.field+": ") {
			wrong("want the field %q and the reason %q", c.field, c.reason)
		}
		if found := ofREST.FindString(said); found != "" {
			wrong("has %q, a word of another door", found)
		}
		if !leadsOn.MatchString(said) {
			wrong("has no remedy")
		}
		if strings.Contains(said, "canary") || strings.Contains(said, bob) || strings.Contains(said, stranger) {
			t.Errorf("%s: a secret is in the refusal", c.line)
		}
		for _, m := range typed.FindAllStringSubmatch(said, -1) {
			suggested(t, strings.Fields(m[1]+m[2]))
		}
		called, _, err := root.Command(&console.Console{}).Find(strings.Fields(c.line))
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range flag.FindAllStringSubmatch(typed.ReplaceAllString(said, ""), -1) {
			if called.Flag(m[1]) == nil && called.InheritedFlags().Lookup(m[1]) == nil {
				wrong("names --%s, which %s does not have", m[1], called.CommandPath())
			}
		}
	}
	for title, name := range titles {
		t.Errorf("no line here is refused as %s (%s): add one, or say in neverSent that none can be", name, title)
	}
}

// suggested fails unless the words are a command with these flags.
func suggested(t *testing.T, words []string) {
	t.Helper()
	var found *cobra.Command
	found, rest, err := root.Command(&console.Console{}).Find(words[1:])
	if err != nil || !found.Runnable() || found.HasSubCommands() {
		t.Errorf("there is no command %q: %v", words, err)
		return
	}
	if err := found.ParseFlags(rest); err != nil {
		t.Errorf("%q: %v", words, err)
	}
}
