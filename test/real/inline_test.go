package real_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/vimbroker/vimbroker/policy"
	"github.com/vimbroker/vimbroker/test/real"
	"github.com/vimbroker/vimbroker/test/story"
)

// inlinePolicy lets administrators bring VIMs with requests.
const inlinePolicy = `@id("inline") permit (principal, action == Action::"vim:inline", resource) when { principal.roles.contains("admin") && context.inline };`

// TestACNFOnAVIMThatItsRequestBrings: an instance's request brings the cluster's token, PATCH replaces it, and the VIM
// goes with the resources. The server is killed between each two of these steps. Neither token is anywhere in what the
// server stores, logs and answers.
func TestACNFOnAVIMThatItsRequestBrings(t *testing.T) {
	t.Parallel()
	c := real.Kubernetes(t)
	c.WithNode(t)
	b := &bench{data: t.TempDir()}
	b.bin = story.BuildWithFailpoints(t, t.TempDir())
	armed := filepath.Join(t.TempDir(), "failpoint")
	token, digest := policy.NewToken()
	write := func(name, text string) string {
		t.Helper()
		path := filepath.Join(b.data, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	write("dev-token", token) // where the bench looks for it
	write("policies/site.cedar", inlinePolicy)
	config := write("config.yaml", fmt.Sprintf(`
listen: 127.0.0.1:0
dataDir: %s
tokensFile: %s
policyDir: %s
sol003: {enabled: true}
egress: {allowLoopback: true}
`, filepath.Join(b.data, "state"), write("tokens.yaml", "tokens: [{name: admin, project: default, roles: [admin], sha256: "+digest+"}]\n"), filepath.Join(b.data, "policies")))
	var logs []fmt.Stringer
	serve := func() {
		t.Helper()
		var err error
		if b.broker, err = story.Serve(b.bin, b.data, []string{"HOME=" + b.data, "VIMBROKER_FAILPOINT=" + armed}, "--config", config); err != nil {
			t.Fatal(err)
		}
		logs = append(logs, b.broker.Log)
		b.Shell = story.Shell{Dir: b.data, Env: []string{
			"HOME=" + b.data, "PATH=" + strings.Join([]string{filepath.Dir(b.bin), filepath.Dir(c.Kubectl), os.Getenv("PATH")}, ":"),
			"VIMBROKER_ADDR=" + b.broker.URL, "VIMBROKER_TOKEN_FILE=" + filepath.Join(b.data, "dev-token"),
		}}
	}
	serve()
	t.Cleanup(func() { b.broker.Kill() })
	kubectl := func(line string) string {
		t.Helper()
		return strings.TrimSpace(b.Must(t, "kubectl --kubeconfig "+c.Kubeconfig+" "+line))
	}
	kubectl("create namespace brought")
	t.Cleanup(func() { kubectl("delete namespace brought --wait=false") })
	one, two := c.AdminToken(t), c.AdminToken(t)
	ca, err := json.Marshal(c.CAPEM)
	if err != nil {
		t.Fatal(err)
	}

	type vim struct {
		ID, State  string
		Generation int
		Labels     map[string]string
	}
	vims := func() []vim {
		t.Helper()
		var list struct{ Items []vim }
		b.decode(t, "vimbroker vim list -o json", &list)
		return list.Items
	}
	// killed makes a request that the server does not survive, and starts the next one.
	killed := func(point, method, path, body string) {
		t.Helper()
		if err := os.WriteFile(armed, []byte(point), 0o600); err != nil {
			t.Fatal(err)
		}
		r, err := http.NewRequestWithContext(t.Context(), method, b.broker.URL+path, bytes.NewReader([]byte(body)))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Authorization", "Bearer "+token)
		r.Header.Set("Version", "2.0.0")
		r.Header.Set("Content-Type", "application/json")
		if answer, err := http.DefaultClient.Do(r); err == nil {
			_ = answer.Body.Close()
		}
		if state, err := b.broker.Ended(patience); err != nil || state.Exited() {
			t.Fatalf("%s: the server was not killed: %v", point, err)
		}
		if err := os.Remove(armed); err != nil {
			t.Fatal(err)
		}
		serve()
	}
	// canaries fails where a token is in a file, a log or an answer.
	canaries := func(when string, paths ...string) {
		t.Helper()
		seen := map[string]string{"the audit log": b.Must(t, "vimbroker audit list -o json"), "the VIMs": b.Must(t, "vimbroker vim list -o json")}
		for n, log := range logs {
			seen[fmt.Sprintf("the log of server %d", n+1)] = log.String()
		}
		for _, path := range paths {
			var answer json.RawMessage
			b.ask(t, "GET", path, "", nil, &answer)
			seen[path] = string(answer)
			if strings.Contains(string(answer), "accessInfo") {
				t.Errorf("%s, %s has accessInfo", when, path)
			}
		}
		err := filepath.WalkDir(filepath.Join(b.data, "state"), func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return err
			}
			text, err := os.ReadFile(path)
			seen[path] = string(text)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		for where, text := range seen {
			if strings.Contains(text, one) || strings.Contains(text, two) {
				t.Errorf("%s, a token is in %s", when, where)
			}
		}
	}

	b.onboard(t, "web-1", "1.0", sample(t))
	var made struct{ ID string }
	b.ask(t, "POST", "/vnflcm/v2/vnf_instances", "application/json", []byte(`{"vnfdId":"web-1","vnfInstanceName":"web"}`), &made)
	instance := "/vnflcm/v2/vnf_instances/" + made.ID
	instantiate := `{"flavourId":"simple","additionalParams":{"namespace":"brought"},"vimConnectionInfo":{"site":{"vimType":"ETSINFV.KUBERNETES.V_1",
		"interfaceInfo":{"endpoint":"` + c.Endpoint + `","ssl_ca_cert":` + string(ca) + `},"accessInfo":{"bearer_token":"` + one + `"}}}}`
	killed("inline.brought", "POST", instance+"/instantiate", instantiate)
	left := vims()
	if len(left) != 1 || left[0].Generation != 1 || left[0].Labels["vimbroker.io/vnf-instance"] != made.ID || left[0].Labels["vimbroker.io/vim-connection"] != "site" {
		t.Fatalf("the server that was killed has left %+v", left)
	}
	b.ask(t, "POST", instance+"/instantiate", "application/json", []byte(instantiate), nil)
	b.Must(t, "vimbroker vnf watch web")
	// own are the VIMs but for the one that was left, which a pass removes some minutes later.
	own := func() []vim {
		t.Helper()
		return slices.DeleteFunc(vims(), func(v vim) bool { return v.ID == left[0].ID })
	}
	brought := own()
	if len(brought) != 1 || brought[0].Generation != 1 {
		t.Fatalf("the repeat has brought %+v", brought)
	}
	var shown struct {
		VIMs map[string]map[string]any `json:"vimConnectionInfo"`
	}
	b.ask(t, "GET", instance, "", nil, &shown)
	if site := shown.VIMs["site"]; len(shown.VIMs) != 1 || site["vimId"] != brought[0].ID || len(site) != 2 {
		t.Errorf("the instance shows %v", shown.VIMs)
	}
	canaries("while it runs", instance, "/vnflcm/v2/vnf_lcm_op_occs?all_fields")

	patch := `{"vimConnectionInfo":{"site":{"accessInfo":{"bearer_token":"` + two + `"}}}}`
	killed("inline.rotated", "PATCH", instance, patch)
	if !real.Poll(t, patience, func() bool { // the next server ends what that one has left
		var left []json.RawMessage
		b.ask(t, "GET", "/vnflcm/v2/vnf_lcm_op_occs?filter=(eq,operationState,STARTING)", "", nil, &left)
		return len(left) == 0
	}) {
		t.Error("the PATCH of the server that was killed is not ended")
	}
	b.ask(t, "PATCH", instance, "application/merge-patch+json", []byte(patch), nil)
	if now := own(); len(now) != 1 || now[0].ID != brought[0].ID || now[0].Generation != 3 {
		t.Errorf("after PATCH and its repeat the VIMs are %+v, want generation 3", now)
	}
	b.Must(t, "vimbroker vnf scale web --aspect web --steps 1 --wait")
	if got := kubectl("-n brought get deployment web -o jsonpath={.status.readyReplicas}"); got != "2" {
		t.Errorf("%q replicas are ready", got)
	}
	canaries("after PATCH", instance, "/vnflcm/v2/vnf_lcm_op_occs?all_fields")

	killed("inline.unneeded", "POST", instance+"/terminate", `{"terminationType":"FORCEFUL"}`)
	if !real.Poll(t, patience, func() bool { return len(own()) == 0 }) {
		t.Errorf("after TERMINATE there is %+v", own())
	}
	if got := kubectl("-n brought get deployments,services,secrets,configmaps -l vimbroker.io/instance -o name"); got != "" {
		t.Errorf("after TERMINATE there is\n%s", got)
	}
	b.leasesEnded(t)
	canaries("after TERMINATE", instance, "/vnflcm/v2/vnf_lcm_op_occs?all_fields")
	if keys, err := os.ReadDir(filepath.Join(b.data, "state", "keys")); err != nil || slices.ContainsFunc(keys, func(d fs.DirEntry) bool { return strings.Contains(d.Name(), brought[0].ID) }) {
		t.Errorf("the VIM's keys are there after it: %v, %v", keys, err)
	}
}
