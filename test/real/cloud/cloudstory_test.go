package cloud_test

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/vimbroker/vimbroker/test/csar"
	"github.com/vimbroker/vimbroker/test/process"
	"github.com/vimbroker/vimbroker/test/real"
	"github.com/vimbroker/vimbroker/test/story"
)

// TestCloudStories tells the stories in testdata/openstack: the real binary, a real
// Keystone behind TLS, OpenStack's own client.
func TestCloudStories(t *testing.T) { cloudStories(t, "testdata/openstack") }

// TestHeatStories tells what people and VNFMs see of VNFs on Heat.
func TestHeatStories(t *testing.T) { cloudStories(t, "testdata/heat") }

// TestHeatFaults tells what they see where a stack fails, or takes too long.
func TestHeatFaults(t *testing.T) { cloudStories(t, "testdata/heatfaults") }

// cloudStories runs the stories of a directory in a tenant of their own: what one leases, another would count.
func cloudStories(t *testing.T, dir string) {
	t.Helper()
	t.Parallel()
	bin := story.Build(t, t.TempDir())
	o := real.OpenStack(t)
	who := o.Project(t)
	id, secret := o.ApplicationCredential(t, who, "bound", false)
	behind := o.TLS(t)
	files := cloudFiles(behind, who)
	files["bound"] = secret + "\n"
	files["edge.csar"] = string(csar.TackerHeat().Zip(t))
	files["edge-2.csar"] = string(csar.TackerHeatAs("edge-2", "affinity:", "proximity:").Zip(t))
	const port = "properties: {value: {get_param: net}}"
	files["broken.csar"] = string(csar.TackerHeatAs("broken", port, "properties: {value: only-for-the-port, fail: true}").Zip(t))
	files["slow.csar"] = string(csar.TackerHeatAs("slow", port, "properties: {action_wait_secs: {create: 600}}").Zip(t))
	// As Tacker's documentation has it.
	files["tacker-http.yaml"] = fmt.Sprintf("auth_url: '%s'\nusername: '%s'\npassword: '%s'\nproject_name: '%s'\nproject_domain_name: 'Default'\nuser_domain_name: 'Default'\ntype: 'openstack'\n",
		o.AuthURL, who.Username, who.Password, who.Project)
	story.Run(t, dir, bin, nil, map[string]story.Command{
		"cloud": func(ts *testscript.TestScript, _ bool, _ []string) {
			for name, text := range files {
				ts.Check(os.WriteFile(ts.MkAbs(name), []byte(text), 0o600))
			}
			for name, value := range map[string]string{
				"KEYSTONE": behind.AuthURL, "PROJECT": who.Project, "PROJECT_ID": who.ProjectID, "BOUND": id, "HOME": ts.MkAbs("home"),
			} {
				ts.Setenv(name, value)
			}
		},
		"newpassword": func(ts *testscript.TestScript, _ bool, _ []string) {
			const password = "an0ther-password"
			o.Do(t, "PATCH", o.AuthURL+"/users/"+who.UserID, map[string]any{"user": map[string]any{"password": password}}, nil)
			ts.Check(os.WriteFile(ts.MkAbs("password"), []byte(password+"\n"), 0o600))
		},
		// minted waits until Keystone holds so many application credentials of leases and of
		// checks: the probe of a check is deleted after its answer.
		"minted": func(ts *testscript.TestScript, _ bool, args []string) {
			if len(args) != 1 {
				ts.Fatalf("usage: minted N")
			}
			late := time.After(process.Patience)
			tick := time.NewTicker(100 * time.Millisecond)
			defer tick.Stop()
			for {
				held := minted(t, o, who)
				if strconv.Itoa(len(held)) == args[0] {
					return
				}
				select {
				case <-tick.C:
				case <-late:
					ts.Fatalf("Keystone holds %q, want %s application credentials of leases", held, args)
				}
			}
		},
	})
}

// cloudFiles are what people register a cloud with: a password, Tacker's VIM file, with
// spaces where the CA's line breaks were, and a clouds.yaml.
func cloudFiles(behind *real.SecureCloud, who real.Tenant) map[string]string {
	return map[string]string{
		"ca.pem":   behind.CAPEM,
		"password": who.Password + "\n",
		"tacker.yaml": fmt.Sprintf("auth_url: %q\nusername: %q\npassword: %q\nproject_name: %q\nproject_domain_name: %q\nuser_domain_name: %q\nssl_ca_cert: %q\ntype: openstack\n",
			behind.AuthURL, who.Username, who.Password, who.Project, who.Domain, who.Domain, strings.Join(strings.Fields(behind.CAPEM), " ")),
		"clouds.yaml": fmt.Sprintf("clouds:\n  nfv:\n    region_name: RegionOne\n    auth: {auth_url: %q, username: %q, password: %q, project_id: %q, user_domain_id: %q}\n",
			behind.AuthURL, who.Username, who.Password, who.ProjectID, who.DomainID),
	}
}

// minted are the names of the application credentials that a tenant's user has for
// leases, and of those that a check has left.
func minted(t testing.TB, o *real.Cloud, who real.Tenant) []string {
	t.Helper()
	var all struct {
		Items []struct{ Name string } `json:"application_credentials"`
	}
	o.Do(t, "GET", o.AuthURL+"/users/"+who.UserID+"/application_credentials", nil, &all)
	names := []string{}
	for _, c := range all.Items {
		if strings.HasPrefix(c.Name, "lease-") || strings.HasPrefix(c.Name, "vimbroker-") {
			names = append(names, c.Name)
		}
	}
	return names
}
