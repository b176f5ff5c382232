// Package script tells stories of the binary: a real server, the real command
// line, and a fake cluster or cloud at the network. Each .txtar file is one
// story that a user can read.
package script

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/vimbroker/vimbroker/test/fake"
	"github.com/vimbroker/vimbroker/test/fakekube"
	"github.com/vimbroker/vimbroker/test/story"
)

func TestStories(t *testing.T) {
	story.Run(t, ".", story.BuildWithFailpoints(t, t.TempDir()), nil, map[string]story.Command{
		"kube":        kube,
		"silent":      silent,
		"member":      member,
		"upstream":    upstream,
		"alive":       alive,
		"cloud":       cloud,
		"newpassword": newPassword,
		"minted":      minted,
		"welcome":     welcome,
	})
}

// clusters are the fakes of the stories that run, by work directory.
var clusters sync.Map

func of(ts *testscript.TestScript) *fakekube.Server {
	s, ok := clusters.Load(ts.Getenv("WORK"))
	if !ok {
		ts.Fatalf("the story has no cluster: it begins with kube")
	}
	return s.(*fakekube.Server)
}

// kube starts a fake cluster, which serves the versions of Cluster API that are named, and writes what people register clusters with:
// kubeconfig, ca.pem, token, password, and the two VIM files of Tacker, one with spaces
// where the CA's line breaks were.
func kube(ts *testscript.TestScript, _ bool, args []string) {
	s, err := fakekube.Start(fakekube.Options{ClusterAPI: args})
	ts.Check(err)
	ts.Defer(s.Close)
	clusters.Store(ts.Getenv("WORK"), s)
	for name, text := range map[string]string{
		"kubeconfig": s.Kubeconfig(),
		"ca.pem":     s.CA,
		"unverified": fmt.Sprintf("{current-context: a, contexts: [{name: a, context: {cluster: a, user: a}}], clusters: [{name: a, cluster: {server: %q, insecure-skip-tls-verify: true}}], users: [{name: a, user: {token: %q}}]}",
			s.Endpoint, s.AdminToken),
		"token":    s.AdminToken + "\n",
		"password": s.Password + "\n",
		"tacker-token.yaml": fmt.Sprintf("auth_url: %q\nbearer_token: %q\nssl_ca_cert: %q\nproject_name: \"default\"\ntype: \"kubernetes\"\n",
			s.Endpoint, s.AdminToken, strings.Join(strings.Split(strings.TrimSpace(s.CA), "\n"), " ")),
		"tacker-basic.yaml": fmt.Sprintf("auth_url: %q\nusername: %q\npassword: %q\nssl_ca_cert: None\nproject_name: \"default\"\ntype: \"kubernetes\"\n",
			s.Endpoint, s.Username, s.Password),
	} {
		ts.Check(os.WriteFile(ts.MkAbs(name), []byte(text), 0o600))
	}
	ts.Setenv("KUBE_ENDPOINT", s.Endpoint)
	ts.Setenv("KUBE_CA", base64.StdEncoding.EncodeToString([]byte(s.CA)))
}

// silent has the cluster answer nothing any more, or again.
func silent(ts *testscript.TestScript, neg bool, _ []string) {
	if neg {
		of(ts).Heal()
		return
	}
	of(ts).Fail(fake.Fault{Kind: fake.Hang})
}

// member puts a Cluster into namespace tenant of the cluster: one that is not up yet, one whose
// secret is of a cluster of its own, or one whose secret is garbage; or removes it.
func member(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) != 2 && (!neg || len(args) != 1) {
		ts.Fatalf("usage: member NAME begun|up|forged, or ! member NAME")
	}
	if neg {
		of(ts).DropCluster("tenant", args[0])
		return
	}
	c := fakekube.Cluster{Namespace: "tenant", Name: args[0], Ready: args[1] != "begun"}
	switch args[1] {
	case "up":
		s, err := fakekube.Start(fakekube.Options{})
		ts.Check(err)
		ts.Defer(s.Close)
		c.Kubeconfig = s.Kubeconfig()
	case "forged":
		c.Kubeconfig = "none"
	}
	of(ts).PutCluster(c)
}

// upstream asserts how many service accounts of leases the cluster holds.
func upstream(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: upstream N")
	}
	got := slices.DeleteFunc(of(ts).Names("serviceaccounts", ""), func(name string) bool { return !strings.HasPrefix(name, "vimbroker-") })
	if strconv.Itoa(len(got)) != args[0] {
		ts.Fatalf("the cluster holds %v, want %s service accounts of leases", got, args[0])
	}
}

var jwt = regexp.MustCompile(`eyJ[\w-]+\.([\w-]+)\.[\w-]+`)

// alive asserts whether the cluster takes the token that a file holds.
func alive(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) != 1 {
		ts.Fatalf("usage: [!] alive FILE")
	}
	found := jwt.FindStringSubmatch(ts.ReadFile(args[0]))
	if found == nil {
		ts.Fatalf("%s holds no token", args[0])
	}
	text, err := base64.RawURLEncoding.DecodeString(found[1])
	ts.Check(err)
	var claims struct {
		ID string `json:"jti"`
	}
	ts.Check(json.Unmarshal(text, &claims))
	takes := slices.ContainsFunc(of(ts).Tokens(), func(t fakekube.Token) bool { return t.ID == claims.ID })
	if takes == neg {
		ts.Fatalf("the cluster takes the token in %s: %v", args[0], takes)
	}
}
