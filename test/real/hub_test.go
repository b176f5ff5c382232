package real_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/vimbroker/vimbroker/test/field"
	"github.com/vimbroker/vimbroker/test/process"
	"github.com/vimbroker/vimbroker/test/real"
	"github.com/vimbroker/vimbroker/test/story"
)

// TestFieldHub: a hub shows the VIMs of its project as ClusterProfile objects. A program with the field's own library, which
// knows nothing of vimbroker but its plugin, lists the nodes of each; a profile that somebody edited gets no credential.
func TestFieldHub(t *testing.T) {
	field.Only(t)
	root, err := process.Repository()
	if err != nil {
		t.Fatal(err)
	}
	tools := filepath.Join(root, "bin", "inventory")
	hub := real.OwnKubernetes(t)
	hub.Apply(t, "-f", filepath.Join(tools, "multicluster.x-k8s.io_clusterprofiles.yaml"))
	hub.Run(t, "", "create", "namespace", "fleet")
	o := &onboarded{t: t, hub: hub, bin: story.Build(t, t.TempDir()), dir: process.TempDir(t, "vimbroker-hub-")}
	o.start()
	shell := o.shell()
	edge, core := real.OwnKubernetes(t), real.OwnKubernetes(t)
	register := func(name string, c *real.Cluster, nodes int) {
		kubeconfig := filepath.Join(o.dir, name+".kubeconfig")
		if err := os.WriteFile(kubeconfig, []byte(c.NewKubeconfig(t)), 0o600); err != nil {
			t.Fatal(err)
		}
		shell.Must(t, "vimbroker vim register --kubeconfig "+kubeconfig+" "+name)
		for n := range nodes {
			c.ApplyText(t, fmt.Sprintf("apiVersion: v1\nkind: Node\nmetadata: {name: node-%d}\n", n))
		}
	}
	register("hub", hub, 1)
	register("edge", edge, 2)
	register("core", core, 3)
	register("Core_P", core, 0) // no object can have that name
	shell.Must(t, "vimbroker vim register --kubeconfig "+filepath.Join(o.dir, "core.kubeconfig")+" --project others theirs-alone")
	hub.ApplyText(t, `apiVersion: multicluster.x-k8s.io/v1alpha1
kind: ClusterProfile
metadata: {name: theirs, namespace: fleet, labels: {x-k8s.io/cluster-manager: other}}
spec: {displayName: theirs, clusterManager: {name: other}}
`)
	shell.Must(t, "vimbroker vim update hub --label vimbroker.io/hub=true --label vimbroker.io/hub-namespace=fleet")

	var client struct{ ID, ClientSecret string }
	secretFile := filepath.Join(o.dir, "client.secret")
	if err := errors.Join(json.Unmarshal([]byte(shell.Must(t, "vimbroker client create inventory --role member -o json")), &client),
		os.WriteFile(secretFile, []byte(client.ClientSecret), 0o600)); err != nil {
		t.Fatal(err)
	}
	providers := filepath.Join(o.dir, "providers.json")
	text, err := json.Marshal(map[string]any{"providers": []any{map[string]any{"name": "vimbroker", "execConfig": map[string]any{
		"apiVersion": "client.authentication.k8s.io/v1", "command": o.bin, "provideClusterInfo": true,
		"args": []string{"credential", "--profile", "--rule", "list:nodes", "--cluster-wide"},
		"env": []any{
			map[string]string{"name": "VIMBROKER_ADDR", "value": o.broker.URL},
			map[string]string{"name": "HOME", "value": o.dir},
			map[string]string{"name": "VIMBROKER_CLIENT_ID", "value": client.ID},
			map[string]string{"name": "VIMBROKER_CLIENT_SECRET_FILE", "value": secretFile},
		},
	}}}})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(providers, text, 0o600); err != nil {
		t.Fatal(err)
	}
	list := func() string {
		out, err := exec.CommandContext(t.Context(), filepath.Join(tools, "inventory"), hub.Kubeconfig, "fleet", providers).CombinedOutput()
		if err != nil {
			t.Logf("inventory: %v: %s", err, out)
		}
		return string(out)
	}
	var last string
	if !real.Poll(t, 90*time.Second, func() bool {
		last = list()
		return strings.Contains(last, "hub nodes 1") && strings.Contains(last, "edge nodes 2") && strings.Contains(last, "core nodes 3") &&
			strings.Count(last, "nodes 3") == 2
	}) {
		t.Fatalf("the field's library lists %s", last)
	}
	shown := hub.Run(t, "", "-n", "fleet", "get", "clusterprofiles", "-o", "json")
	if strings.Contains(shown, "theirs-alone") {
		t.Error("a hub shows a VIM that its project does not see")
	}
	for _, c := range []*real.Cluster{hub, edge, core} {
		token, err := c.NewAdminToken(t.Context(), time.Hour)
		if err != nil || strings.Contains(shown, token) || strings.Contains(shown, "client-key") || strings.Contains(shown, "PRIVATE") {
			t.Errorf("the profiles hold a credential, %v", err)
		}
	}
	if leases := shell.Must(t, "vimbroker lease list --vim hub --state active -o json"); strings.Contains(leases, "system:profiles") {
		t.Errorf("the lease that wrote the profiles lives on: %s", leases)
	}
	o.editProfile(hub, edge, core, list)

	shell.Must(t, "vimbroker vim delete core --drain")
	if !real.Poll(t, 90*time.Second, func() bool {
		names := hub.Run(t, "", "-n", "fleet", "get", "clusterprofiles", "-o", "name")
		return !strings.Contains(names, "/core\n") && strings.Contains(names, "/theirs") && strings.Contains(names, "/edge")
	}) {
		t.Error("the profile of a VIM that is gone is there still, or another's is not")
	}
	shell.Must(t, "vimbroker vim update hub --label vimbroker.io/hub=false")
	if !real.Poll(t, 90*time.Second, func() bool {
		names := hub.Run(t, "", "-n", "fleet", "get", "clusterprofiles", "-o", "name")
		return strings.Count(names, "\n") <= 1 && strings.Contains(names, "/theirs")
	}) {
		t.Error("profiles of what is no hub any more are there still, or another's is not")
	}
}

// editProfile makes a profile point elsewhere in each way there is: its reader gets no credential, and nobody else does.
func (o *onboarded) editProfile(hub, edge, core *real.Cluster, list func() string) {
	t := o.t
	thief, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer thief.Close()
	var called atomic.Int32
	go func() {
		for {
			c, err := thief.Accept()
			if err != nil {
				return
			}
			called.Add(1)
			c.Close()
		}
	}()
	status := hub.Run(t, "", "-n", "fleet", "get", "clusterprofile", "edge", "-o", "jsonpath={.status}")
	at := "/status/accessProviders/0/cluster/"
	coreVIM, err := o.VIM(t.Context(), "core")
	if err != nil {
		t.Fatal(err)
	}
	ca := func(pem string) string {
		text, err := json.Marshal([]byte(pem))
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	set := func(field, value string) string {
		return fmt.Sprintf(`[{"op":"add","path":%q,"value":%s}]`, at+field, value)
	}
	config := func(value string) string { return set("extensions/0/extension", value) }
	for name, patch := range map[string]string{
		"another cluster":     set("server", fmt.Sprintf("%q", core.Endpoint)),
		"another server":      set("server", fmt.Sprintf("%q", "https://"+thief.Addr().String())),
		"plain HTTP":          set("server", fmt.Sprintf("%q", strings.Replace(edge.Endpoint, "https", "http", 1))),
		"a login in the URL":  set("server", fmt.Sprintf("%q", strings.Replace(edge.Endpoint, "https://", "https://a:b@", 1))),
		"another path":        set("server", fmt.Sprintf("%q", edge.Endpoint+"/x")),
		"another authority":   set("certificate-authority-data", ca(core.CAPEM)),
		"one authority more":  set("certificate-authority-data", ca(edge.CAPEM+"\n"+core.CAPEM)),
		"no authority":        fmt.Sprintf(`[{"op":"remove","path":%q}]`, at+"certificate-authority-data"),
		"a proxy":             set("proxy-url", fmt.Sprintf("%q", "http://"+thief.Addr().String())),
		"another VIM":         config(fmt.Sprintf(`{"vim":%q}`, coreVIM.ID)),
		"a VIM that is not":   config(`{"vim":"nothing"}`),
		"no VIM":              config(`{}`),
		"no word to a plugin": fmt.Sprintf(`[{"op":"remove","path":%q}]`, at+"extensions"),
	} {
		hub.Run(t, "", "-n", "fleet", "patch", "clusterprofile", "edge", "--subresource=status", "--type=json", "-p", patch)
		if got := list(); !strings.Contains(got, "edge refused") || !strings.Contains(got, "core nodes 3") {
			t.Errorf("with %s the library lists %s", name, got)
		}
		hub.Run(t, "", "-n", "fleet", "patch", "clusterprofile", "edge", "--subresource=status", "--type=json", "-p",
			`[{"op":"replace","path":"/status","value":`+status+`}]`)
	}
	if n := called.Load(); n != 0 {
		t.Errorf("another server was called %d times", n)
	}
	if got := list(); !strings.Contains(got, "edge nodes 2") {
		t.Errorf("with the profile as it was the library lists %s", got)
	}
}
