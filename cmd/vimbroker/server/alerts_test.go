package server

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/vimbroker/vimbroker/broker/delivery"
	"github.com/vimbroker/vimbroker/policy"
	"github.com/vimbroker/vimbroker/test/fakekube"
	"github.com/vimbroker/vimbroker/test/story"
)

// alertRule is one of deploy/alerts.yaml.
type alertRule struct {
	Alert       string            `yaml:"alert"`
	Expr        string            `yaml:"expr"`
	For         string            `yaml:"for"`
	Labels      map[string]string `yaml:"labels"`
	Annotations map[string]string `yaml:"annotations"`
}

func alertRules(t *testing.T) (all []alertRule) {
	t.Helper()
	var file struct {
		Groups []struct {
			Name  string      `yaml:"name"`
			Rules []alertRule `yaml:"rules"`
		} `yaml:"groups"`
	}
	if err := yaml.Unmarshal([]byte(deployed(t, "alerts.yaml")), &file); err != nil {
		t.Fatal(err)
	}
	for _, g := range file.Groups {
		all = append(all, g.Rules...)
	}
	if len(all) < 12 {
		t.Fatalf("deploy/alerts.yaml has %d rules: it is not read as it is meant", len(all))
	}
	return all
}

// Each rule has a summary, and leads to its row in the runbook's table of alerts; each row has a rule.
func TestAlertsLeadToTheRunbook(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("..", "..", "..", "docs", "runbook.md"))
	if err != nil {
		t.Fatal(err)
	}
	anchors := map[string]bool{}
	for _, m := range regexp.MustCompile(`(?m)^#{2,3} (.*)$`).FindAllStringSubmatch(string(text), -1) {
		anchors[strings.ReplaceAll(strings.ToLower(regexp.MustCompile(`[^\w -]`).ReplaceAllString(m[1], "")), " ", "-")] = true
	}
	rows := map[string]bool{} // of the table of alerts
	for _, m := range regexp.MustCompile(`(?m)^\| <a id="(\w+)"></a>(\w+) \|`).FindAllStringSubmatch(string(text), -1) {
		rows[m[2]] = true
		if anchors[m[1]] = true; m[1] != strings.ToLower(m[2]) {
			t.Errorf("the row of %s in the runbook has the anchor %s", m[2], m[1])
		}
	}
	for _, m := range regexp.MustCompile(`\]\(#([^)]*)\)`).FindAllStringSubmatch(string(text), -1) {
		if !anchors[m[1]] {
			t.Errorf("the runbook leads to a section that is not there: %s", m[1])
		}
	}
	seen := map[string]bool{}
	for _, r := range alertRules(t) {
		_, anchor, _ := strings.Cut(r.Annotations["runbook_url"], "docs/runbook.md#")
		if !rows[r.Alert] || anchor != strings.ToLower(r.Alert) {
			t.Errorf("%s leads to %q, which is not its row of the runbook", r.Alert, r.Annotations["runbook_url"])
		}
		if r.Annotations["summary"] == "" || r.Annotations["description"] == "" || !slices.Contains([]string{"warning", "critical"}, r.Labels["severity"]) {
			t.Errorf("%s lacks a summary, a description or a severity", r.Alert)
		}
		if seen[r.Alert] {
			t.Errorf("two rules are named %s", r.Alert)
		}
		seen[r.Alert] = true
	}
	for name := range rows {
		if !seen[name] {
			t.Errorf("the runbook has a row for %s, which no rule raises", name)
		}
	}
}

// Each rule has a test that makes it fire, and one in which it stays silent. TestAlertsFire runs them.
func TestEveryAlertIsTested(t *testing.T) {
	var file struct {
		Tests []struct {
			Rules []struct {
				Name   string `yaml:"alertname"`
				Alerts []any  `yaml:"exp_alerts"`
			} `yaml:"alert_rule_test"`
		} `yaml:"tests"`
	}
	if err := yaml.Unmarshal([]byte(deployed(t, "alerts_test.yaml")), &file); err != nil {
		t.Fatal(err)
	}
	fires, silent := map[string]bool{}, map[string]bool{}
	for _, test := range file.Tests {
		for _, r := range test.Rules {
			fires[r.Name] = fires[r.Name] || len(r.Alerts) > 0
			silent[r.Name] = silent[r.Name] || len(r.Alerts) == 0
		}
	}
	for _, r := range alertRules(t) {
		if !fires[r.Alert] || !silent[r.Alert] {
			t.Errorf("%s: a test makes it fire: %v; in one it stays silent: %v", r.Alert, fires[r.Alert], silent[r.Alert])
		}
	}
}

var (
	selector = regexp.MustCompile(`\b((?:vimbroker|process|go)_[a-z_]+)(?:\{([^}]*)\})?`)
	matcher  = regexp.MustCompile(`(\w+)(=~|!~|!=|=)"([^"]*)"`)
	grouping = regexp.MustCompile(`\bby \(([^)]*)\)`)
	sample   = regexp.MustCompile(`(?m)^([a-z_]+)(?:\{(.*)\})? `)
)

// A pass that stands raises an alarm, whoever's work it is.
func TestEveryPassIsWatched(t *testing.T) {
	w := wireDev(t, filepath.Join(t.TempDir(), "data"), func(*config) {})
	served := map[string]bool{}
	w.passes()
	for _, m := range sample.FindAllStringSubmatch(w.metrics(), -1) {
		if m[1] == "vimbroker_pass_interval_seconds" {
			for _, l := range matcher.FindAllStringSubmatch(m[2], -1) {
				served[l[3]] = true
			}
		}
	}
	for _, name := range []string{
		"reap", "settle", "settle-packages", "settle-clients", "settle-token-keys", "follow-grants", "forget-grants",
		"drift", "secret-parameters", "settle-subscriptions",
	} {
		if !served[name] {
			t.Errorf("the metrics say nothing of the pass %s: %v", name, served)
		}
	}
}

// The page on jobs describes each pass.
func TestEveryPassIsDescribed(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("..", "..", "..", "docs", "design", "jobs.md"))
	if err != nil {
		t.Fatal(err)
	}
	described, run := 0, map[string]bool{}
	for _, p := range wireDev(t, filepath.Join(t.TempDir(), "data"), func(*config) {}).passes() {
		name := p.Name
		if strings.HasPrefix(name, "deliver-") {
			name = "deliver-NAME"
		}
		run[name] = true
		if described++; !strings.Contains(string(text), "\n| `"+name+"` | ") {
			t.Errorf("docs/design/jobs.md says nothing of the pass %s", p.Name)
		}
	}
	if described < 15 {
		t.Errorf("the server has %d passes: they are not read as they are meant", described)
	}
	for _, m := range regexp.MustCompile("(?m)^\\| `([a-zA-Z-]+)` \\| ").FindAllStringSubmatch(string(text), -1) {
		if name := m[1]; !run[name] && name != "deliver-NAME" && name != "keep-pushed" { // there is no sink, and no place to push to
			t.Errorf("docs/design/jobs.md describes the pass %s, which no server runs", name)
		}
	}
}

// Whoever a caller was, somebody knows what a lease that he has left behind may still do: each kind of callers but those of
// Keystone, whom only their tokens tell, has a directory.
func TestWhoIsAskedAboutCallers(t *testing.T) {
	w := wireDev(t, filepath.Join(t.TempDir(), "data"), func(*config) {})
	var all []string
	for by := range w.delegates().Directories {
		all = append(all, by)
	}
	slices.Sort(all)
	if want := []string{policy.ByCertificate, policy.ByClient, policy.ByCluster, policy.ByIssuer, policy.ByStaticToken}; !slices.Equal(all, want) {
		t.Errorf("there are directories of %q, want %q", all, want)
	}
}

// Everything that rules and dashboard ask for is what a server serves of which all parts are in use.
func TestAlertsAndDashboardAskForWhatIsServed(t *testing.T) {
	cert, key := story.ServerCertificate(t)
	own, err := openCertificate(cert, key)
	if err != nil {
		t.Fatal(err)
	}
	kube := fakekube.New(t, fakekube.Options{})
	data := t.TempDir()
	w := wireDev(t, filepath.Join(data, "data"), func(c *config) {
		c.certificate = own
		c.VNF.PerVIM = 1
		c.Audit.Sinks = []sinkConfig{{
			outletConfig: outletConfig{Name: "local", Kind: "file", Path: filepath.Join(data, "audit.jsonl")},
			Mode:         delivery.BestEffort, Within: time.Hour,
		}}
	})
	vim := w.must(http.StatusCreated, "POST", "/v1/vims", map[string]any{"name": "edge", "kubeconfig": kube.Kubeconfig()})["id"].(string)
	w.must(http.StatusCreated, "POST", "/v1/management-clusters", map[string]any{"vim": "edge", "namespaces": []string{"a"}, "projects": map[string]any{"": "default"}})
	w.must(http.StatusCreated, "POST", "/v1/leases", map[string]any{"vim": "edge", "role": "view"})
	w.call("POST", "/v1/leases", map[string]any{"vim": "nowhere", "role": "view"})
	w.upload("web-1", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: web}\n")
	deaf := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPost {
			panic(http.ErrAbortHandler)
		}
		w.WriteHeader(http.StatusNoContent)
	}))
	t.Cleanup(deaf.Close)
	told := w.must(http.StatusCreated, "POST", "/vnflcm/v2/subscriptions", map[string]any{"callbackUri": deaf.URL})["id"].(string)
	for range 2 { // one is under way, and one waits
		vnf := w.must(http.StatusCreated, "POST", "/vnflcm/v2/vnf_instances", map[string]any{"vnfdId": "web-1"})["id"].(string)
		w.must(http.StatusAccepted, "POST", "/vnflcm/v2/vnf_instances/"+vnf+"/instantiate", map[string]any{
			"flavourId": "simple", "vimConnectionInfo": map[string]any{"edge": map[string]any{"vimId": vim, "vimType": "kubernetes"}},
		})
	}
	for _, p := range w.passes() {
		if p.Name == "reap" {
			if err := p.Run(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := w.subscribers.Work(t.Context(), told); err == nil {
		t.Error("a subscriber that hangs up takes a notification")
	}
	served := map[string]map[string]map[string]bool{} // by metric and label, the values
	for _, m := range sample.FindAllStringSubmatch(w.metrics(), -1) {
		if served[m[1]] == nil {
			served[m[1]] = map[string]map[string]bool{"job": {"vimbroker": true}, "instance": {}}
		}
		for _, l := range matcher.FindAllStringSubmatch(m[2], -1) {
			if served[m[1]][l[1]] == nil {
				served[m[1]][l[1]] = map[string]bool{}
			}
			served[m[1]][l[1]][l[3]] = true
		}
	}
	// Labels of which every value is always served.
	full := []string{"state", "status", "limit", "days", "alarm", "type", "reason"}
	// Which has a sample for the states that there are.
	served["vimbroker_vnf_operation_oldest_timestamp_seconds"]["state"] = served["vimbroker_vnf_operations"]["state"]
	check := func(who, expr string) {
		t.Helper()
		labels := map[string]bool{}
		for _, m := range selector.FindAllStringSubmatch(expr, -1) {
			of := served[m[1]]
			if of == nil {
				t.Errorf("%s asks for %s, which no server serves", who, m[1])
				continue
			}
			for l := range of {
				labels[l] = true
			}
			for _, c := range matcher.FindAllStringSubmatch(m[2], -1) {
				if of[c[1]] == nil {
					t.Errorf("%s: %s has no label %s", who, m[1], c[1])
				}
				for value := range strings.SplitSeq(c[3], "|") {
					if slices.Contains(full, c[1]) && !of[c[1]][value] {
						t.Errorf("%s: %s is never %q of %s", who, c[1], value, m[1])
					}
				}
			}
		}
		for _, m := range grouping.FindAllStringSubmatch(expr, -1) {
			for label := range strings.SplitSeq(m[1], ", ") {
				if !labels[label] {
					t.Errorf("%s groups by %s, which no metric of it has: %s", who, label, expr)
				}
			}
		}
	}
	for _, r := range alertRules(t) {
		check(r.Alert, r.Expr)
	}
	var board struct {
		Panels []struct {
			Title   string
			Targets []struct{ Expr string }
		}
	}
	if err := json.Unmarshal([]byte(deployed(t, "dashboard.json")), &board); err != nil {
		t.Fatal(err)
	}
	asked := 0
	for _, p := range board.Panels {
		for _, q := range p.Targets {
			asked++
			check("panel "+p.Title, q.Expr)
		}
	}
	if asked < 30 {
		t.Errorf("the dashboard asks %d times: it is not read as it is meant", asked)
	}
}
