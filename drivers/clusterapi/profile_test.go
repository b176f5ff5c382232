package clusterapi_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/vimbroker/vimbroker/broker"
	shown "github.com/vimbroker/vimbroker/broker/hub"
	"github.com/vimbroker/vimbroker/broker/onboard"
	"github.com/vimbroker/vimbroker/broker/secret"
	"github.com/vimbroker/vimbroker/drivers/clusterapi"
	"github.com/vimbroker/vimbroker/policy/egress"
	"github.com/vimbroker/vimbroker/test/fake"
)

// fleet keeps ClusterProfile objects as an API server does, without defaults.
type fleet struct {
	objects map[string]map[string]any
	writes  int
	sent    []string
}

func (f *fleet) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	const root = "/apis/multicluster.x-k8s.io/v1alpha1/namespaces/fleet/clusterprofiles"
	name, part, _ := strings.Cut(strings.TrimPrefix(strings.TrimPrefix(r.URL.Path, root), "/"), "/")
	switch {
	case !strings.HasPrefix(r.URL.Path, root) || r.Header.Get("Authorization") != "Bearer t":
		w.WriteHeader(http.StatusForbidden)
	case r.Method == http.MethodGet:
		items := []map[string]any{}
		for _, name := range slices.Sorted(maps.Keys(f.objects)) {
			items = append(items, f.objects[name])
		}
		_ = json.NewEncoder(w).Encode(map[string]any{"metadata": map[string]any{"resourceVersion": "1"}, "items": items})
	case r.Method == http.MethodDelete:
		delete(f.objects, name)
		f.writes++
		_, _ = io.WriteString(w, `{}`)
	default:
		var o map[string]any
		if json.NewDecoder(r.Body).Decode(&o) != nil || r.Header.Get("Content-Type") != "application/apply-patch+yaml" {
			w.WriteHeader(http.StatusBadRequest)
			return
		}
		status := http.StatusOK
		f.sent = append(f.sent, fmt.Sprintf("%s %s?%s: %v", name, part, r.URL.RawQuery, slices.Sorted(maps.Keys(o))))
		if part == "status" {
			f.objects[name]["status"] = o["status"]
		} else {
			if now := f.objects[name]; now != nil {
				o["status"] = now["status"]
			} else {
				status = http.StatusCreated
			}
			f.objects[name] = o
		}
		f.writes++
		w.WriteHeader(status)
		_, _ = io.WriteString(w, `{}`)
	}
}

// TestPublish: objects become what is given, what is as it should be is not written, and those of other managers stay.
func TestPublish(t *testing.T) {
	f := &fleet{objects: map[string]map[string]any{}}
	foreign := func(name string, labels map[string]any) {
		f.objects[name] = map[string]any{"metadata": map[string]any{"name": name, "namespace": "fleet", "labels": labels}}
	}
	foreign("theirs", map[string]any{"x-k8s.io/cluster-manager": "vimbroker", "vimbroker.io/shown-by": "another"})
	for i := range 5 {
		foreign(fmt.Sprint("old", i), map[string]any{"vimbroker.io/shown-by": "h1"})
	}
	server := fake.New(t, f.ServeHTTP)
	rules := egress.Default()
	rules.AllowLoopback = true
	access := onboard.ManagementAccess{VIM: "h1", Endpoint: server.URL, CACert: server.CA, Token: secret.NewText("t"), Egress: rules}
	d := clusterapi.New()
	t.Cleanup(d.Close)
	edge := shown.ClusterProfile{
		Name: "edge", VIM: "v1", Project: "p", VIMName: "edge", Server: "https://edge:6443", CA: "PEM", ServerName: "edge", Role: "view",
		System: "uid", Version: "v1.36.3", Healthy: "True", Reason: "Reachable",
	}
	if err := d.Publish(t.Context(), access, "fleet", "h1", []shown.ClusterProfile{edge}); err != nil {
		t.Fatal(err)
	}
	if got := slices.Sorted(maps.Keys(f.objects)); !slices.Equal(got, []string{"edge", "theirs"}) || f.writes != 7 {
		t.Errorf("there are %v after %d writes", got, f.writes)
	}
	if !slices.Equal(f.sent, []string{
		"edge ?fieldManager=vimbroker&force=true: [apiVersion kind metadata spec]", "edge status?fieldManager=vimbroker&force=true: [apiVersion kind metadata status]",
	}) {
		t.Errorf("sent are %q", f.sent)
	}
	text, err := json.Marshal(f.objects["edge"])
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		`"displayName":"p/edge"`, `"clusterManager":{"name":"vimbroker"}`, `"vimbroker.io/shown-by":"h1"`, `"x-k8s.io/cluster-manager":"vimbroker"`,
		`"type":"ControlPlaneHealthy"`, `"status":"True"`, `"kubernetes":"v1.36.3"`, `{"name":"cluster.clusterset.k8s.io","value":"uid"}`,
		`"server":"https://edge:6443"`, `"tls-server-name":"edge"`, `"certificate-authority-data":"UEVN"`,
		`"extension":{"role":"view","vim":"v1"},"name":"client.authentication.k8s.io/exec"`,
	} {
		if !strings.Contains(string(text), want) {
			t.Errorf("the object lacks %s: %s", want, text)
		}
	}
	f.writes = 0
	if err := d.Publish(t.Context(), access, "fleet", "h1", []shown.ClusterProfile{edge}); err != nil || f.writes != 0 {
		t.Errorf("what is there is written %d times, %v", f.writes, err)
	}
	edge.Healthy, edge.Reason = "False", "Unreachable"
	theirs := edge
	theirs.Name = "theirs"
	err = d.Publish(t.Context(), access, "fleet", "h1", []shown.ClusterProfile{theirs, edge})
	if !errors.Is(err, broker.ErrConflict) || !strings.Contains(err.Error(), "theirs") || f.writes != 1 || f.objects["theirs"]["status"] != nil {
		t.Errorf("with another manager's object in the way: %v, %d writes", err, f.writes)
	}
}

// TestProfilesInTheWayAreNamed: three of them, and nothing is written of any.
func TestProfilesInTheWayAreNamed(t *testing.T) {
	for n, want := range map[int]string{1: "p0", 2: "p0, p1", 3: "p0, p1, p2", 4: "p0, p1, p2"} {
		f := &fleet{objects: map[string]map[string]any{}}
		var wanted []shown.ClusterProfile
		for i := range n {
			name := fmt.Sprint("p", i)
			f.objects[name] = map[string]any{"metadata": map[string]any{"name": name, "namespace": "fleet", "labels": map[string]any{"vimbroker.io/shown-by": "another"}}}
			wanted = append(wanted, shown.ClusterProfile{Name: name, VIM: "v"})
		}
		server := fake.New(t, f.ServeHTTP)
		rules := egress.Default()
		rules.AllowLoopback = true
		d := clusterapi.New()
		t.Cleanup(d.Close)
		err := d.Publish(t.Context(), onboard.ManagementAccess{VIM: "h1", Endpoint: server.URL, CACert: server.CA, Token: secret.NewText("t"), Egress: rules}, "fleet", "h1", wanted)
		if e, is := errors.AsType[*broker.Error](err); !is || !strings.HasSuffix(e.Detail, " in the way: "+want) || f.writes != 0 {
			t.Errorf("%d in the way: %v, %d writes", n, err, f.writes)
		}
	}
}
