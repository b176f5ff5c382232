package real_test

import (
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/vimbroker/vimbroker/test/real"
	"github.com/vimbroker/vimbroker/test/story"
)

// Pods of a registered cluster are callers by the token that is projected for the broker, and lease without a secret;
// one that is deleted is not.
func TestServiceAccountsOfARealCluster(t *testing.T) {
	c := real.Kubernetes(t)
	const namespace = "callers-of-broker"
	c.Run(t, "", "create", "namespace", namespace)
	t.Cleanup(func() {
		_, _ = exec.Command(c.Kubectl, "--kubeconfig", c.Kubeconfig, "delete", "namespace", namespace).Output()
	})
	for _, account := range []string{"runner", "stranger"} {
		c.Run(t, "", "-n", namespace, "create", "serviceaccount", account)
	}
	for _, pod := range []string{"p1", "p2"} {
		c.ApplyText(t, `{apiVersion: v1, kind: Pod, metadata: {name: `+pod+`, namespace: `+namespace+`},
			spec: {serviceAccountName: runner, containers: [{name: c, image: none.example/none}]}}`)
	}
	bin := story.Build(t, t.TempDir())
	site := story.NewSite(t, bin, `
trust:
  - name: hub
    vim: default/hub-1
    principals:
      - {match: {serviceaccount: "`+namespace+`:runner"}, name: "{pod}", project: default, roles: [member]}
`)
	try := func(tokenFile string, args ...string) (string, error) {
		command := exec.Command(bin, args...)
		command.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + t.TempDir(), "VIMBROKER_ADDR=" + site.Broker.URL, "VIMBROKER_TOKEN_FILE=" + tokenFile}
		out, err := command.CombinedOutput()
		return string(out), err
	}
	root := site.File("root/token")
	if out, err := try(root, "vim", "register", "hub-1", "--project", "default", "--kubeconfig", c.Kubeconfig); err != nil {
		t.Fatalf("vim register = %v\n%s", err, out)
	}
	token := func(account, audience string, more ...string) string {
		text := c.Run(t, "", append([]string{"-n", namespace, "create", "token", account, "--audience", audience, "--duration=10m"}, more...)...)
		name := filepath.Join(t.TempDir(), "token")
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return name
	}
	of := func(pod string) []string { return []string{"--bound-object-kind=Pod", "--bound-object-name=" + pod} }
	first, second, late := token("runner", "vimbroker", of("p1")...), token("runner", "vimbroker", of("p2")...), token("runner", "vimbroker", of("p2")...)
	if !real.Poll(t, patience, func() bool { // the server asks for keys every ten seconds
		answer, err := http.Get(site.Broker.URL + "/readyz?verbose")
		if err != nil {
			return false
		}
		defer answer.Body.Close()
		text, err := io.ReadAll(answer.Body)
		return err == nil && strings.Contains(string(text), `"name":"trust","usable":true`)
	}) {
		t.Fatal("the server does not get the keys of the cluster")
	}
	out, err := try(first, "whoami")
	if err != nil || !strings.Contains(out, "k8s:hub:"+namespace+":runner") || !strings.Contains(out, "p1") {
		t.Errorf("whoami of a pod = %s", out)
	}
	if out, err := try(first, "lease", "issue", "--vim", "hub-1", "--namespace", namespace, "--role", "view", "-o", "json"); err != nil || !strings.Contains(out, `"k8s:hub:`) {
		t.Errorf("a lease of a pod = %v\n%s", err, out)
	}
	if out, err := try(second, "whoami"); err != nil {
		t.Errorf("another pod = %v\n%s", err, out)
	}
	c.Run(t, "", "-n", namespace, "delete", "pod", "p2", "--force", "--grace-period=0")
	for what, name := range map[string]string{
		"a deleted pod": late, "another account": token("stranger", "vimbroker"), "another audience": token("runner", "other"),
		"the API server's audience": token("runner", "https://kubernetes.default.svc.cluster.local"),
	} {
		var out string
		if !real.Poll(t, patience, func() bool { // what was believed once is for a minute
			out, err = try(name, "whoami")
			return err != nil && strings.Contains(out, "does not know this token")
		}) {
			t.Errorf("%s = %v\n%s", what, err, out)
		}
	}
	log, err := try(root, "audit", "list", "--action", "server:login", "-o", "json")
	if err != nil || !strings.Contains(log, "the cluster does not take it") || !strings.Contains(log, "no rule matches its claims") || !strings.Contains(log, "audience is another") {
		t.Errorf("the audit log = %v\n%s", err, log)
	}
}
