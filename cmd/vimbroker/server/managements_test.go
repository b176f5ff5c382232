package server

import (
	"context"
	"net"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/vimbroker/vimbroker/broker/onboard"
	"github.com/vimbroker/vimbroker/cmd/vimbroker/console"
	"github.com/vimbroker/vimbroker/test/fakekube"
	"github.com/vimbroker/vimbroker/test/story"
)

// TestManagementClustersOfTheConfiguration are enabled once their VIM is registered; they and
// their clusters are counted.
func TestManagementClustersOfTheConfiguration(t *testing.T) {
	kube, edge := fakekube.New(t, fakekube.Options{ClusterAPI: []string{"v1beta2"}}), fakekube.New(t, fakekube.Options{})
	kube.PutCluster(fakekube.Cluster{Namespace: "tenant", Name: "edge", Ready: true, Kubeconfig: edge.Kubeconfig()})
	kube.PutCluster(fakekube.Cluster{Namespace: "tenant", Name: "forged", Ready: true, Kubeconfig: "none"})
	w := wireDev(t, filepath.Join(t.TempDir(), "data"), func(c *config) {
		c.Managements = []managementConfig{{VIM: "hub", Project: "default", Settings: onboard.Settings{
			Namespaces: []string{"tenant"}, Projects: map[string]string{"": "default"},
		}}}
	})
	tried, again := make(chan struct{}, 8), make(chan time.Time)
	w.after = func(time.Duration) <-chan time.Time {
		tried <- struct{}{}
		return again
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- w.run(ctx, l, func() {}) }()
	defer func() {
		stop()
		<-ended
	}()
	patience := time.After(time.Minute)
	select {
	case <-tried:
	case <-patience:
		t.Fatal("nobody tries to enable it")
	}
	w.must(http.StatusCreated, "POST", "/v1/vims", map[string]any{"name": "hub", "kubeconfig": kube.Kubeconfig()})
	again <- time.Time{}
	var m map[string]any
	for status := 0; status != http.StatusOK; status, m = w.call("GET", "/v1/management-clusters/hub", nil) {
		select {
		case <-tried:
			t.Fatal("it is not enabled, and its VIM is registered")
		case <-patience:
			t.Fatal("it is not enabled")
		case <-time.After(20 * time.Millisecond):
		}
	}
	if m["enabledBy"] != "system:configuration" || m["account"] != onboard.AccountEngine {
		t.Errorf("the management cluster is %v", m)
	}
	// A reload that changes it needs no restart; one that does not leaves alone what a person has changed.
	next := *w.live.now.Load()
	next.Managements = slices.Clone(next.Managements)
	next.Managements[0].Settings.MaxGone = 9
	if taken, restart := w.live.replace(next); !slices.Equal(taken, []string{"managementClusters"}) || len(restart) != 0 {
		t.Errorf("a reload takes %q and leaves %q to a restart", taken, restart)
	}
	w.reloaded(ctx)
	for m["maxGone"] != float64(9) {
		select {
		case <-patience:
			t.Fatal("the reload changes nothing")
		case <-time.After(20 * time.Millisecond):
		}
		_, m = w.call("GET", "/v1/management-clusters/hub", nil)
	}
	missing := []string{
		`vimbroker_management_cluster_adoptions_total{management_cluster="hub",project="default"} 1`,
		`vimbroker_management_cluster_queue{management_cluster="hub",project="default"} 0`,
		`vimbroker_management_clusters 1`, `vimbroker_management_clusters_unwatched 0`, `vimbroker_management_clusters_held 0`,
		`vimbroker_clusters{state="registered"} 1`, `vimbroker_clusters{state="quarantined"} 1`, `vimbroker_clusters{state="retired"} 0`,
		`vimbroker_clusters_not_well{reason="secretInvalid"} 1`,
	}
	for len(missing) > 0 {
		got := httptest.NewRecorder()
		w.handler.ServeHTTP(got, httptest.NewRequestWithContext(ctx, "GET", "http://127.0.0.1:8420/metrics", nil))
		lines := strings.Split(got.Body.String(), "\n")
		missing = slices.DeleteFunc(missing, func(line string) bool { return slices.Contains(lines, line) })
		select {
		case <-patience:
			t.Fatalf("not among the metrics: %q", missing)
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// TestFaultsOfManagementClusters are told before the server starts, each with its key.
func TestFaultsOfManagementClusters(t *testing.T) {
	read := func(text string) (config, error) {
		return loadConfig(story.WriteFile(t, "c.yaml", "tokensFile: "+tokensFile(t)+"\nmanagementClusters: "+text+"\n", 0o600), console.Environment{"HOME=/h"}, keep)
	}
	c, err := read(`[{vim: hub, project: ops, namespaces: [b, a], selector: {onboard: "yes"}, projects: {"": north, b: south}, secretName: "{cluster}-admin",
  secretKey: conf, nameTemplate: "{cluster}", copyLabels: [site], controlPlanes: [planes.example.org], account: leases, maxGone: 5, maxGoneShare: 30, annotation: in}]`)
	if err != nil {
		t.Fatal(err)
	}
	want := onboard.Settings{
		Namespaces: []string{"a", "b"}, Selector: map[string]string{"onboard": "yes"}, Projects: map[string]string{"": "north", "b": "south"},
		SecretName: "{cluster}-admin", SecretKey: "conf", NameTemplate: "{cluster}", CopyLabels: []string{"site"},
		ControlPlanes: []string{"planes.example.org"}, Account: "leases", MaxGone: 5, MaxGoneShare: 30, Annotation: "in",
	}
	if diff := cmp.Diff([]managementConfig{{VIM: "hub", Project: "ops", Settings: want}}, c.Managements); diff != "" {
		t.Errorf("read (-want +got):\n%s", diff)
	}
	for text, fault := range map[string]string{
		`{vim: hub}`: "managementClusters: must be a list",
		`[{project: ops, namespaces: [a], projects: {"": x}}]`:                                                                       "managementClusters[0].vim: must be",
		`[{vim: hub, namespaces: [a], projects: {"": x}}]`:                                                                           "managementClusters[0].project: must be",
		`[{vim: hub, project: ops, projects: {"": x}}]`:                                                                              "managementClusters[0].namespaces: must name",
		`[{vim: hub, project: ops, namespaces: [a]}]`:                                                                                "managementClusters[0].projects: name no project",
		`[{vim: hub, project: ops, namespaces: [a], projects: {"": x}, account: root}]`:                                              "managementClusters[0].account: must be",
		`[{vim: hub, project: ops, namespaces: [a], projects: {a: x}}, {vim: hub, project: ops, namespaces: [b], projects: {b: x}}]`: "managementClusters[1].vim: is named twice",
	} {
		if _, err := read(text); err == nil || !strings.Contains(strings.ReplaceAll(err.Error(), " (line 2)", ""), fault) {
			t.Errorf("%s: %v, want %q", text, err, fault)
		}
	}
}
