package script

import (
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/vimbroker/vimbroker/policy"
	"github.com/vimbroker/vimbroker/test/csar"
	"github.com/vimbroker/vimbroker/test/fakeheat"
	"github.com/vimbroker/vimbroker/test/fakekeystone"
	"github.com/vimbroker/vimbroker/test/fakeneutron"
	"github.com/vimbroker/vimbroker/test/story"
)

// listener is a Keystone that keeps every secret that others come with.
type listener struct {
	*fakekeystone.Server
	secrets *canaries
}

func (l listener) Works(token string) bool {
	l.secrets.add("token "+token[max(0, len(token)-8):], token)
	for _, c := range l.AppCreds() {
		l.secrets.add("the secret of "+c.Name, c.Secret)
	}
	return l.Server.Works(token)
}

// neighbours are three projects at one cloud: acme's VIM is shared with the others, and its link with one of them.
type neighbours struct {
	*story.Site
	t        *testing.T
	keystone *fakekeystone.Server
	heat     *fakeheat.Server
	neutron  *fakeneutron.Server
	secrets  *canaries
	terminal strings.Builder
	url      string
}

func meet(t *testing.T) *neighbours {
	t.Helper()
	n := &neighbours{
		t: t, keystone: fakekeystone.New(t, fakekeystone.Options{}), heat: fakeheat.New(t), neutron: fakeneutron.New(t),
		secrets: &canaries{text: map[string][]string{}},
		Site:    story.NewSite(t, story.BuildWithFailpoints(t, t.TempDir()), "sol003: {enabled: true}\nlog: {level: debug}\n"),
	}
	n.heat.Believe(listener{n.keystone, n.secrets})
	n.neutron.Believe(listener{n.keystone, n.secrets})
	n.keystone.SetCatalog(
		fakekeystone.Endpoint{Service: "identity", Interface: "public", Region: "RegionOne", URL: n.keystone.Endpoint + "/v3"},
		fakekeystone.Endpoint{Service: "orchestration", Interface: "public", Region: "RegionOne", URL: n.heat.URL + "/heat/v1/project"},
		fakekeystone.Endpoint{Service: "network", Interface: "public", Region: "RegionOne", URL: n.neutron.Endpoint()},
	)
	project := n.keystone.Project("demo")
	user := n.keystone.User("operator", project, "member")
	n.secrets.add("the VIM's password", user.Password)
	n.Write(t, "root/ca.pem", n.keystone.CA+n.heat.CA+n.neutron.CA)
	n.Write(t, "root/clouds.yaml", fmt.Sprintf("clouds: {nfv: {auth: {auth_url: %q, username: %q, password: %q, project_id: %q, user_domain_name: Default}}}\n",
		n.keystone.Endpoint+"/v3", user.Name, user.Password, project.ID))
	n.Write(t, "root/own.csar", string(csar.TackerHeatOwn("5f4a2c1e-93c5-4d0e-8d0f-7a35f1a40033").Zip(t)))
	tokens := "tokens:\n"
	for _, who := range []struct{ name, project, role string }{
		{"root", "ops", "admin"},
		{"alice", "acme", "member"},
		{"bob", "other", "member"},
		{"carl", "third", "member"},
		{"for-other", "other", "project-admin"},
		{"for-third", "third", "project-admin"},
	} {
		token, digest := policy.NewToken()
		n.secrets.add(who.name+"'s token", token)
		n.Write(t, "root/"+who.name, token+"\n")
		tokens += fmt.Sprintf("- {name: %s, project: %s, roles: [%s], sha256: %s}\n", who.name, who.project, who.role, digest)
	}
	n.Write(t, "etc/vimbroker/tokens.yaml", tokens)
	// A lease for Heat is unbounded on a cloud that was registered with a password; here members may take one.
	policies, err := os.ReadFile(filepath.Join("..", "..", "policy", "default.cedar"))
	if err != nil || os.Mkdir(n.File("etc/vimbroker/policies"), 0o700) != nil {
		t.Fatal(err)
	}
	n.Write(t, "etc/vimbroker/policies/default.cedar", strings.Replace(string(policies), `unless { ["bounded", "namespaces"].contains(context.grade)`,
		`unless { ["bounded", "namespaces", "unbounded"].contains(context.grade)`, 1))
	for _, set := range n.Env {
		if at, is := strings.CutPrefix(set, "VIMBROKER_ADDR="); is {
			n.url = at
		}
	}
	n.Follow(t, []story.Step{{Settings: "policyDir: /etc/vimbroker/policies\noauth: {issuer: " + n.url + "}\n"}, {Command: "systemctl restart vimbroker"}})
	return n
}

// as runs a command as somebody; one that is to fail says something.
func (n *neighbours) as(who, line, fails string) string {
	n.t.Helper()
	r := n.Try(n.t, "vimbroker "+line+" --token-file "+who)
	n.terminal.WriteString(r.Stdout + r.Stderr)
	if (r.Code != 0) != (fails != "") || !strings.Contains(r.Stderr, fails) {
		n.t.Errorf("%s: %s: exit code %d, want it to fail with %q\n%s%s", who, line, r.Code, fails, r.Stdout, r.Stderr)
	}
	return r.Stdout
}

// A link is used by the instance of a project that it is shared with, is not there for a third, and goes when nobody uses it. Of
// its whole life, and of a link that an instance makes for itself, no secret is found.
func TestALinkIsShared(t *testing.T) {
	n := meet(t)
	n.as("alice", "vim register --clouds-yaml clouds.yaml --cloud nfv --ca-cert-file ca.pem cloud", "")
	n.as("root", "vim share cloud --project acme --with other --with third", "")
	n.as("alice", "link create sgi --vim cloud --cidr 10.9.0.0/24 --share-with other", "")
	n.as("alice", "link create own --vim cloud --cidr 10.8.0.0/24", "")
	n.as("alice", `link create wide --vim cloud --spec '{"cidr": "10.7.0.0/24", "router": "r"}'`, "needs the permission link:adopt")
	n.as("alice", "link create theirs --vim cloud --network id-1", "needs the permission link:adopt")
	network := strings.TrimSpace(n.as("alice", "link show sgi -o jsonpath={.networks[0].networkId}", ""))
	for _, who := range []string{"bob", "carl"} {
		n.as(who, "package upload own.csar", "")
		n.as(who, "vnf create --vnfd 5f4a2c1e-93c5-4d0e-8d0f-7a35f1a40033 upf", "")
	}
	const instantiate = "vnf instantiate upf --vim cloud --wait --link VDU1_CP1="
	n.as("carl", "link show sgi", "you see no virtual link")
	n.as("carl", instantiate+"sgi", "you see no such virtual link")
	n.as("carl", instantiate+network, "you see no such virtual link") // by the cloud's id of it
	n.as("bob", instantiate+"own", "you see no such virtual link")
	n.as("bob", instantiate+"sgi", "")
	if got := n.as("bob", "vnf show upf -o json", ""); !strings.Contains(got, network) {
		t.Errorf("the instance is not on network %s: %s", network, got)
	}
	if got := n.as("alice", "link show sgi -o jsonpath={.useCount}", ""); strings.TrimSpace(got) != "1" {
		t.Errorf("the link has %s uses, want that of the other project", got)
	}
	if got := n.as("carl", "link list -o name", ""); strings.Contains(got, "sgi") {
		t.Errorf("a third project sees %s", got)
	}
	n.as("bob", "link delete sgi", "policy does not allow bob to link:delete")
	n.as("alice", "link delete sgi", "is used by VNF instances")
	n.as("carl", "link delete sgi --force", "you see no virtual link")
	n.isGranted(network)
	n.as("bob", "vnf terminate upf --wait", "")
	n.as("alice", "link delete sgi", "")
	n.as("alice", "link delete own", "")
	n.as("root", "audit list --limit 1000 -o json", "")
	if left := n.neutron.All(); len(left) > 0 {
		t.Errorf("on the cloud there is still %q", left)
	}
	if len(n.secrets.text) < 10 {
		t.Fatalf("only %d secrets are known: the search would find nothing", len(n.secrets.text))
	}
	if found := n.secrets.in([]byte(n.terminal.String())); found != nil {
		t.Errorf("on the terminal: %v", found)
	}
	log := n.Broker.File
	n.Follow(t, []story.Step{{Command: "systemctl stop vimbroker"}})
	files := 0
	if err := filepath.WalkDir(n.File("var/lib/vimbroker"), func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() {
			n.find(path)
			files++
		}
		return err
	}); err != nil || files < 2 {
		t.Errorf("%d files are searched, %v", files, err)
	}
	n.find(log)
}

// isGranted: a VNFM of the project that the link is shared with gets its network in a grant, one of the third project is refused.
func (n *neighbours) isGranted(network string) {
	n.t.Helper()
	n.Write(n.t, "root/placements.yaml", "- {vim: cloud, profile: token, links: {SGI_CP: sgi}, managedLinks: {innerVL: sgi}}\n")
	for project, want := range map[string]int{"other": http.StatusCreated, "third": http.StatusForbidden} {
		line := "vimbroker client create tacker --placements placements.yaml -o json --token-file for-" + project
		made := read[struct{ ID, ClientSecret string }](n.t, n.Must(n.t, line))
		v := &tacker{t: n.t, broker: n.url, id: made.ID, secret: made.ClientSecret, accept: "application/json", url: "http://127.0.0.1:1"}
		status, text := v.ask("INSTANTIATE", "op-"+project)
		if status != want {
			n.t.Errorf("a VNFM of project %s is granted %d %s, want %d", project, status, text, want)
		}
		for _, link := range []string{`"extCps":[{"cpdId":"SGI_CP"`, `"vnfVirtualLinkDescId":"innerVL"`, `"resourceId":"` + network + `"`} {
			if strings.Contains(text, link) != (want == http.StatusCreated) {
				n.t.Errorf("a VNFM of project %s is granted %s", project, text)
			}
		}
	}
}

// find looks for secrets in a file.
func (n *neighbours) find(name string) {
	n.t.Helper()
	text, err := os.ReadFile(name) //nolint:gosec // it is the test's
	if found := n.secrets.in(text); err != nil || found != nil {
		n.t.Errorf("in %s: %v, %v", name, found, err)
	}
}
