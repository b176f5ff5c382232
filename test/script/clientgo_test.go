package script

import (
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/vimbroker/vimbroker/test/fakekube"
	"github.com/vimbroker/vimbroker/test/story"
)

// TestClientGoThroughThePlugin: one process of client-go uses two clusters through the exec
// plugin at the same time, while their leases are revoked again and again. Each refusal has it
// ask the plugin anew, and no token of one cluster is ever shown to the other.
func TestClientGoThroughThePlugin(t *testing.T) {
	bin := story.BuildWithFailpoints(t, t.TempDir())
	home := t.TempDir()
	for key, value := range map[string]string{
		"PATH": filepath.Dir(bin) + string(os.PathListSeparator) + os.Getenv("PATH"), "HOME": home, "TMPDIR": home, "XDG_RUNTIME_DIR": "",
	} {
		t.Setenv(key, value)
	}
	data := filepath.Join(home, "data")
	b, err := story.Serve(bin, home, []string{"HOME=" + home, "TMPDIR=" + home}, "--dev", "--listen", "127.0.0.1:0", "--data-dir", data)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(b.Kill)
	t.Setenv("VIMBROKER_ADDR", b.URL)
	t.Setenv("VIMBROKER_TOKEN_FILE", filepath.Join(data, "dev-token"))
	vimbroker := func(args ...string) string {
		t.Helper()
		out, err := exec.Command(bin, args...).Output()
		if err != nil {
			t.Fatalf("vimbroker %s: %v", args, err)
		}
		return string(out)
	}

	names := []string{"a", "b"}
	var kubes []*fakekube.Server
	var clients []*kubernetes.Clientset
	for _, name := range names {
		k := fakekube.New(t, fakekube.Options{})
		file := filepath.Join(home, name)
		if err := os.WriteFile(file, []byte(k.Kubeconfig()), 0o600); err != nil {
			t.Fatal(err)
		}
		vimbroker("vim", "register", "--kubeconfig", file, name)
		config, err := clientcmd.RESTConfigFromKubeConfig([]byte(vimbroker("lease", "issue", "--vim", name, "--role", "view", "--exec-plugin")))
		if err != nil {
			t.Fatal(err)
		}
		client, err := kubernetes.NewForConfig(config)
		if err != nil {
			t.Fatal(err)
		}
		k.Requests()
		kubes, clients = append(kubes, k), append(clients, client)
	}
	for range 3 {
		var all sync.WaitGroup
		for i, client := range clients {
			for range 4 {
				all.Go(func() {
					_, err := client.CoreV1().Namespaces().List(t.Context(), metav1.ListOptions{})
					if apierrors.IsUnauthorized(err) { // the lease was revoked: now it has another
						_, err = client.CoreV1().Namespaces().List(t.Context(), metav1.ListOptions{})
					}
					if err != nil {
						t.Errorf("cluster %s: %v", names[i], err)
					}
				})
			}
		}
		all.Wait()
		for _, name := range names {
			vimbroker("lease", "revoke", "--vim", name)
		}
	}
	shown := map[string]string{} // the cluster, by the token
	for i, k := range kubes {
		listed := map[string]bool{}
		for _, r := range k.Requests() {
			token := r.Header.Get("Authorization")
			if at, before := shown[token]; before && at != names[i] {
				t.Errorf("a token of cluster %s was shown to %s", at, names[i])
			}
			shown[token] = names[i]
			if r.Query == "" && r.Path == "/api/v1/namespaces" {
				listed[token] = true
			}
		}
		if len(listed) < 3 {
			t.Errorf("cluster %s was shown %d tokens, want one for each lease that was revoked", names[i], len(listed))
		}
	}
}
