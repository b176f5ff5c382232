package real_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/vimbroker/vimbroker/test/real"
	"github.com/vimbroker/vimbroker/test/story"
)

// TestStories tells the stories in testdata: the real binary, a real API server,
// the real kubectl.
func TestStories(t *testing.T) {
	t.Parallel()
	c := real.Kubernetes(t)
	bin := story.Build(t, t.TempDir())
	files := registrations(c, c.BasicAuthProxy(t), c.AdminToken(t))
	story.Run(t, "testdata", bin, []string{filepath.Dir(c.Kubectl)}, map[string]story.Command{
		"kube": func(ts *testscript.TestScript, _ bool, _ []string) {
			for name, text := range files {
				ts.Check(os.WriteFile(ts.MkAbs(name), []byte(text), 0o600))
			}
			ts.Setenv("KUBE_ENDPOINT", c.Endpoint)
			ts.Setenv("HOME", ts.MkAbs("home")) // kubectl caches there what the cluster serves
		},
	})
}

// registrations are the files that people register a cluster with: certificates,
// a token, a password, and the VIM files of Tacker, the first with spaces where the CA's
// line breaks were.
func registrations(c *real.Cluster, proxy real.BasicAuth, token string) map[string]string {
	return map[string]string{
		"ca.pem":     c.CAPEM,
		"admin.crt":  c.AdminCert,
		"admin.key":  c.AdminKey,
		"admin.conf": kubeconfigOf(c),
		"token":      token + "\n",
		"tacker-token.yaml": fmt.Sprintf(`auth_url: %q
bearer_token: %q
ssl_ca_cert: %q
project_name: "default"
type: "kubernetes"
`, c.Endpoint, token, strings.Join(strings.Fields(c.CAPEM), " ")),
		"tacker-basic.yaml": fmt.Sprintf(`auth_url: %q
username: %q
password: %q
ssl_ca_cert: None
project_name: "default"
type: "kubernetes"
`, proxy.Endpoint, proxy.Username, proxy.Password),
	}
}

func kubeconfigOf(c *real.Cluster) string {
	text, err := os.ReadFile(c.Kubeconfig)
	if err != nil {
		panic(err) // the cluster wrote it
	}
	return string(text)
}
