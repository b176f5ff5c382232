package real_test

import (
	"cmp"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/vimbroker/vimbroker/policy"
	"github.com/vimbroker/vimbroker/test/field"
	"github.com/vimbroker/vimbroker/test/real"
	"github.com/vimbroker/vimbroker/test/story"
)

// TestFieldONAPFigures measures ONAP's door: looks at an instance and at its status beside many (INSTANCES, 1000), and an
// instance of a chart of twenty objects against "helm install --wait".
func TestFieldONAPFigures(t *testing.T) {
	field.Only(t)
	s := newONAP(t)
	s.unbounded()
	s.namespace("onap-figures")
	small := map[string]string{
		"web/Chart.yaml":          "apiVersion: v2\nname: web\nversion: 1.0.0\n",
		"web/templates/page.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: {{ .Release.Name }}-page}\n",
	}
	large := map[string]string{"web/Chart.yaml": "apiVersion: v2\nname: web\nversion: 1.0.0\n", "web/templates/web.yaml": strings.Split(onapChart["./web/templates/web.yaml"], "---")[0], "web/values.yaml": "replicas: 1\n"}
	for n := range 19 {
		large[fmt.Sprintf("web/templates/m%d.yaml", n)] = fmt.Sprintf("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: {{ .Release.Name }}-%d}\n", n)
	}
	for version, chart := range map[string]map[string]string{"1": small, "20": large} {
		s.ask(201, "POST", "/v1/rb/definition", `{"rb-name": "rb", "rb-version": "`+version+`"}`)
		s.ask(200, "POST", "/v1/rb/definition/rb/"+version+"/content", tarGz(t, chart))
		s.ask(201, "POST", "/v1/rb/definition/rb/"+version+"/profile", `{"profile-name": "p", "namespace": "onap-figures"}`)
	}
	s.register("figures")
	create := func(version, release string) onapInstance {
		return readONAP[onapInstance](t, s.ask(201, "POST", "/v1/instance", map[string]any{
			"rb-name": "rb", "rb-version": version, "profile-name": "p", "cloud-region": "figures", "release-name": release,
		}))
	}
	dir := t.TempDir()
	for name, text := range large {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	var ours, helms []time.Duration
	for n := range 5 {
		began := time.Now()
		create("20", fmt.Sprintf("ours-%d", n))
		ours = append(ours, time.Since(began))
		began = time.Now()
		c := exec.CommandContext(t.Context(), filepath.Join(real.HelmTools(t), "helm"), "--kubeconfig", s.cluster.Kubeconfig, "--namespace", "onap-figures",
			"install", fmt.Sprintf("helms-%d", n), filepath.Join(dir, "web"), "--wait")
		if out, err := c.CombinedOutput(); err != nil {
			t.Fatalf("helm install: %v: %s", err, out)
		}
		helms = append(helms, time.Since(began))
	}
	slices.Sort(ours)
	slices.Sort(helms)
	t.Logf("an instance of 20 objects: %v (%v), helm install --wait: %v (%v): %.2f", ours[2], ours, helms[2], helms, float64(ours[2])/float64(helms[2]))

	many, err := strconv.Atoi(cmp.Or(os.Getenv("INSTANCES"), "1000"))
	if err != nil {
		t.Fatal(err)
	}
	ids, made := make([]string, many), make(chan int)
	var workers sync.WaitGroup
	for range 12 {
		workers.Go(func() {
			for n := range made {
				ids[n] = create("1", fmt.Sprintf("i%d", n)).ID
			}
		})
	}
	began := time.Now()
	for n := range many {
		made <- n
	}
	close(made)
	workers.Wait()
	t.Logf("%d instances in %v; resident afterwards: %s", many, time.Since(began), s.resident())
	first := s.measure(ids, "/status", 1, looked)
	t.Logf("first GET instance/status of %d: p50 %v, p99 %v", looked, first[len(first)/2], first[len(first)*99/100])
	for _, path := range []string{"", "/status"} {
		for _, clients := range []int{1, 64} {
			began := time.Now()
			all := s.measure(ids, path, clients, 0)
			t.Logf("GET instance%s, %d clients: %.0f/s, p50 %v, p99 %v", path, clients, float64(len(all))/time.Since(began).Seconds(), all[len(all)/2], all[len(all)*99/100])
		}
	}
}

// resident is the server's memory, as its kernel writes it.
func (s *onapStand) resident() string {
	s.t.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", s.b.PID()))
	if err != nil {
		s.t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(text), "VmRSS:")
	size, _, _ := strings.Cut(rest, "\n")
	return strings.TrimSpace(size)
}

// looked is of how many instances the status is read: of each the first is issued a lease.
const looked = 64

// measure has clients look for ten seconds, or at so many instances once; how long each took, sorted.
func (s *onapStand) measure(ids []string, path string, clients, once int) (all []time.Duration) {
	s.t.Helper()
	var mu sync.Mutex
	var workers sync.WaitGroup
	until := time.Now().Add(10 * time.Second)
	for c := range clients {
		workers.Go(func() {
			client := &http.Client{Transport: &http.Transport{}}
			for n := c; time.Now().Before(until) && (once == 0 || n < once); n += clients {
				r, _ := http.NewRequestWithContext(s.t.Context(), "GET", s.url+"/v1/instance/"+ids[n%min(len(ids), looked)]+path, nil)
				r.SetBasicAuth(s.user, s.token)
				began := time.Now()
				answer, err := client.Do(r)
				if err != nil || answer.StatusCode != 200 {
					s.t.Errorf("GET instance%s: %v %v", path, answer, err)
					return
				}
				io.Copy(io.Discard, answer.Body)
				answer.Body.Close()
				mu.Lock()
				all = append(all, time.Since(began))
				mu.Unlock()
			}
		})
	}
	workers.Wait()
	if slices.Sort(all); len(all) == 0 {
		s.t.Fatalf("GET instance%s, %d clients: no answer", path, clients)
	}
	return all
}

// unbounded starts the server anew without limits of callers, for one with a client's id and secret.
func (s *onapStand) unbounded() {
	s.t.Helper()
	s.b.Kill()
	const root = "vbt_rrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrr"
	tokens, config := filepath.Join(s.dir, "tokens.yaml"), filepath.Join(s.dir, "config.yaml")
	for path, text := range map[string]string{
		tokens: "tokens:\n  - name: root\n    project: core\n    roles: [admin]\n    sha256: " + policy.Digest(root) + "\n",
		config: "listen: 127.0.0.1:0\ndataDir: " + filepath.Join(s.dir, "free") + "\ntokensFile: " + tokens + "\negress: {allowLoopback: true}\n" +
			"onapAPI: {enabled: true}\nlimits: {address: {perSecond: 100000}, principal: {perSecond: 100000, inFlight: 256}, project: {perSecond: 100000, inFlight: 256}}\n",
	} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			s.t.Fatal(err)
		}
	}
	b, err := story.Serve(s.bin, s.dir, os.Environ(), "--config", config)
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(b.Kill)
	s.b, s.url = b, b.URL+"/onap"
	r, _ := http.NewRequestWithContext(s.t.Context(), "POST", b.URL+"/v1/clients", strings.NewReader(`{"name": "so", "roles": ["member"]}`))
	r.Header.Set("Authorization", "Bearer "+root)
	r.Header.Set("Content-Type", "application/json")
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		s.t.Fatal(err)
	}
	defer answer.Body.Close()
	text, _ := io.ReadAll(answer.Body)
	client := readONAP[struct{ ID, ClientSecret string }](s.t, string(text))
	s.user, s.token = client.ID, client.ClientSecret
}
