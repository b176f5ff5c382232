package cloud_test

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/vimbroker/vimbroker/test/real"
	"github.com/vimbroker/vimbroker/test/real/pki"
	"github.com/vimbroker/vimbroker/test/story"
)

// commandLine is the binary, pointed at a server of its own.
type commandLine struct {
	bin, dir string
	env      []string
}

func newCommandLine(t *testing.T) commandLine {
	t.Helper()
	c := commandLine{bin: story.Build(t, t.TempDir()), dir: t.TempDir()}
	c.env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + c.dir, "TMPDIR=" + t.TempDir()}
	data := filepath.Join(c.dir, "data")
	server, err := story.Serve(c.bin, c.dir, c.env, "--dev", "--listen", "127.0.0.1:0", "--data-dir", data)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(server.Kill)
	c.env = append(c.env, "VIMBROKER_ADDR="+server.URL, "VIMBROKER_TOKEN_FILE="+filepath.Join(data, "dev-token"))
	return c
}

// run returns what a command says on both its outputs.
func (c commandLine) run(t *testing.T, args ...string) (stdout, stderr string, err error) {
	t.Helper()
	var out, faults strings.Builder
	command := exec.CommandContext(t.Context(), c.bin, args...)
	command.Dir, command.Env, command.Stdout, command.Stderr = c.dir, c.env, &out, &faults
	err = command.Run()
	return out.String(), faults.String(), err
}

// tackerFile is a VIM file as Tacker's operators have it.
type tackerFile struct{ url, username, password, project, projectDomain, userDomain, ca string }

func (f tackerFile) write(t *testing.T) string {
	t.Helper()
	return private(t, fmt.Sprintf("auth_url: %q\nusername: %q\npassword: %q\nproject_name: %q\nproject_domain_name: %q\nuser_domain_name: %q\nssl_ca_cert: %q\ntype: openstack\n",
		f.url, f.username, f.password, f.project, f.projectDomain, f.userDomain, strings.Join(strings.Fields(f.ca), " ")))
}

// A user of one domain in a project of another, both with twins elsewhere; and what
// Tacker's file can have wrong: each is told apart, in one line that says what to do.
func TestTackersFileInTwoDomains(t *testing.T) {
	o := real.OpenStack(t)
	behind := o.TLS(t)
	staff, tenants := o.Domain(t, "staff"), o.Domain(t, "tenants")
	user := o.ProjectIn(t, staff, "staff", "operator", "member")
	project := o.ProjectIn(t, tenants, "tenants", "nfv", "member")
	o.ProjectIn(t, "default", "Default", "operator", "member") // a twin of the user
	o.ProjectIn(t, "default", "Default", "nfv", "member")      // a twin of the project
	var roles struct{ Roles []struct{ ID string } }
	o.Do(t, "GET", o.AuthURL+"/roles?name=member", nil, &roles)
	grant := func(to real.Tenant, on string) {
		t.Helper()
		o.Do(t, "PUT", o.AuthURL+"/projects/"+on+"/users/"+to.UserID+"/roles/"+roles.Roles[0].ID, nil, nil)
	}
	grant(user, project.ProjectID)
	idle := o.ProjectIn(t, staff, "staff", "idle", "member")
	o.TakeRole(t, idle, "member")
	disabled := o.ProjectIn(t, staff, "staff", "disabled", "member")
	o.SetEnabled(t, disabled, false)

	c := newCommandLine(t)
	good := tackerFile{behind.AuthURL, user.Username, user.Password, "nfv", "tenants", "staff", behind.CAPEM}
	if out, faults, err := c.run(t, "vim", "register", "--config-file", good.write(t), "core"); err != nil || faults != "" {
		t.Fatalf("register: %v: %s%s", err, out, faults)
	}
	out, faults, err := c.run(t, "vim", "show", "core", "-o", "json")
	if err != nil {
		t.Fatalf("show: %v: %s", err, faults)
	}
	for _, want := range []string{
		`"projectDomain": "tenants"`, `"userDomain": "staff"`, `"projectId": "` + project.ProjectID + `"`, `"userId": "` + user.UserID + `"`,
	} {
		if !strings.Contains(out, want) {
			t.Errorf("the VIM does not say %s:\n%s", want, out)
		}
	}
	used, faults, err := c.run(t, "lease", "issue", "--vim", "core", "--ttl", "10m", "--format", "json")
	if err != nil || !strings.Contains(used, project.ProjectID) {
		t.Errorf("a lease: %v: %s", err, faults)
	}

	stranger, err := pki.NewCA("somebody else's CA")
	if err != nil {
		t.Fatal(err)
	}
	closed, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	closed.Close()
	said := map[string]string{}
	for name, f := range map[string]struct {
		change func(f *tackerFile)
		says   []string
	}{
		"wrong password":       {func(f *tackerFile) { f.password = "wrong-" + f.password }, []string{"user with this password", "(401)", "check user name"}},
		"wrong user":           {func(f *tackerFile) { f.username = "nobody" }, []string{"user with this password", "(401)"}},
		"wrong user domain":    {func(f *tackerFile) { f.userDomain = "tenants" }, []string{"in this user domain", "(401)"}},
		"wrong project":        {func(f *tackerFile) { f.project = "nothing" }, []string{"project: user and password are right", "no role on that project", "check the project's name"}},
		"wrong project domain": {func(f *tackerFile) { f.projectDomain = "Default" }, []string{"projectDomain: ", "in another domain", "domain that the project is in"}},
		"no roles": {func(f *tackerFile) { f.username, f.password = idle.Username, idle.Password }, []string{
			"project: ", "no role on any project", "openstack role add",
		}},
		"a disabled user": {func(f *tackerFile) { f.username, f.password = disabled.Username, disabled.Password }, []string{"user with this password", "is enabled"}},
		"unreachable":     {func(f *tackerFile) { f.url = "https://" + closed.Addr().String() }, []string{"refuses connections", "port"}},
		"no such name":    {func(f *tackerFile) { f.url = "https://keystone.invalid:5000/v3" }, []string{"cannot be resolved", "name servers"}},
		"another CA":      {func(f *tackerFile) { f.ca = string(stranger.PEM) }, []string{"not signed by the given CA", "give the CA"}},
		"no TLS":          {func(f *tackerFile) { f.url = strings.Replace(o.AuthURL, "http:", "https:", 1) }, []string{"the connection to Keystone broke", "serves https"}},
		"not Keystone":    {func(f *tackerFile) { f.url = behind.KeyManager }, []string{"does not answer as Keystone does", "check that the endpoint"}},
	} {
		bad := good
		f.change(&bad)
		_, faults, err := c.run(t, "vim", "register", "--config-file", bad.write(t), "other")
		t.Logf("%s: %s", name, strings.TrimSpace(faults))
		if err == nil || strings.Count(faults, "\n") != 1 || !strings.HasPrefix(faults, "vimbroker: ") || strings.Contains(faults, bad.password) {
			t.Errorf("%s: %v, %q, want one line without the password", name, err, faults)
		}
		for _, words := range f.says {
			if !strings.Contains(faults, words) {
				t.Errorf("%s: %q does not say %q", name, faults, words)
			}
		}
		said[name], _, _ = strings.Cut(faults, " [request ") // each has an id of its own
	}
	// What is one to Keystone is one here; all else is told apart.
	same := []string{"wrong user", "wrong user domain", "a disabled user"}
	for _, name := range same {
		if said[name] != said["wrong password"] {
			t.Errorf("%s is told apart from a wrong password, which Keystone does not do: %q", name, said[name])
		}
		delete(said, name)
	}
	names := map[string]string{}
	for name, line := range said {
		if other, taken := names[line]; taken {
			t.Errorf("%s and %s are told as the same: %q", name, other, line)
		}
		names[line] = name
	}
	if out, _, err := c.run(t, "vim", "list", "-o", "json"); err != nil || strings.Contains(out, `"other"`) {
		t.Errorf("of what was refused something is left: %s", out)
	}
}
