package script

import (
	"fmt"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/vimbroker/vimbroker/test/fakekeystone"
)

// cloudOf is the fake Keystone of a story, with its user.
type cloudOf struct {
	*fakekeystone.Server
	user fakekeystone.User
}

// clouds are the fakes of the stories that run, by work directory.
var clouds sync.Map

func theCloud(ts *testscript.TestScript) cloudOf {
	c, ok := clouds.Load(ts.Getenv("WORK"))
	if !ok {
		ts.Fatalf("the story has no cloud: it begins with cloud")
	}
	return c.(cloudOf)
}

// cloud starts a fake Keystone, and writes what people register clouds with: ca.pem,
// password, the secret of an application credential that may make others and of one that
// may not, a clouds.yaml, and Tacker's VIM file. "cloud plain" starts one without TLS, for
// Tacker's file as its documentation has it.
func cloud(ts *testscript.TestScript, _ bool, args []string) {
	plain := len(args) == 1 && args[0] == "plain"
	s, err := fakekeystone.Start(fakekeystone.Options{Plain: plain})
	ts.Check(err)
	ts.Defer(s.Close)
	project := s.Project("demo")
	u := s.User("operator", project, "member")
	write := func(name, text string) { ts.Check(os.WriteFile(ts.MkAbs(name), []byte(text), 0o600)) }
	tacker := fmt.Sprintf("auth_url: '%s'\nusername: '%s'\npassword: '%s'\nproject_name: 'demo'\nproject_domain_name: 'Default'\nuser_domain_name: 'Default'\n",
		s.Endpoint, u.Name, u.Password)
	if plain {
		write("tacker-http.yaml", tacker+"type: 'openstack'\n")
		return
	}
	clouds.Store(ts.Getenv("WORK"), cloudOf{s, u})
	write("tacker.yaml", tacker+fmt.Sprintf("ssl_ca_cert: %q\nextra: {area: a@b}\n", strings.Join(strings.Fields(s.CA), " ")))
	write("clouds.yaml", fmt.Sprintf("clouds:\n  nfv:\n    region_name: RegionTwo\n    auth:\n      auth_url: %s/v3\n      username: %s\n      password: %s\n"+
		"      project_id: %s\n      user_domain_name: Default\n", s.Endpoint, u.Name, u.Password, project.ID))
	write("ca.pem", s.CA)
	write("password", u.Password+"\n")
	ts.Setenv("KEYSTONE", s.Endpoint)
	for _, unrestricted := range []bool{true, false} {
		name := map[bool]string{true: "FREE", false: "BOUND"}[unrestricted]
		c := s.AppCred(fakekeystone.AppCred{Name: name, UserID: u.ID, ProjectID: project.ID, Roles: []string{"member"}, Unrestricted: unrestricted})
		ts.Setenv(name, c.ID)
		write(strings.ToLower(name), c.Secret+"\n")
	}
}

// newPassword changes the user's password at Keystone, and in the file.
func newPassword(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 0 {
		ts.Fatalf("usage: newpassword")
	}
	const password = "an0ther-password"
	c := theCloud(ts)
	c.SetPassword(c.user.ID, password)
	ts.Check(os.WriteFile(ts.MkAbs("password"), []byte(password+"\n"), 0o600))
}

// minted asserts how many application credentials of leases Keystone holds.
func minted(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: minted N")
	}
	n := 0
	for _, c := range theCloud(ts).AppCreds() {
		if strings.HasPrefix(c.Name, "lease-") { // a check deletes its probe in the background
			n++
		}
	}
	if strconv.Itoa(n) != args[0] {
		ts.Fatalf("Keystone holds %d application credentials of leases, want %s", n, args[0])
	}
}

// leasedID finds the application credential's id in each form of a client configuration.
var leasedID = regexp.MustCompile(`(?i)application_?credential_?id["']?[:=] ?["']?([0-9a-f]{32})`)

// welcome asserts whether Keystone knows the application credential that a file holds.
func welcome(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) != 1 {
		ts.Fatalf("usage: [!] welcome FILE")
	}
	text := ts.ReadFile(args[0])
	found := leasedID.FindStringSubmatch(text)
	if found == nil {
		ts.Fatalf("%s holds no application credential", args[0])
	}
	takes := slices.ContainsFunc(theCloud(ts).AppCreds(), func(c fakekeystone.AppCred) bool {
		return c.ID == found[1] && strings.Contains(text, c.Secret)
	})
	if takes == neg {
		ts.Fatalf("Keystone takes the credential in %s: %v", args[0], takes)
	}
}
