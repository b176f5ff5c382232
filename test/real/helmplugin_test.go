package real_test

import (
	"log/slog"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"helm.sh/helm/v4/pkg/action"
	"helm.sh/helm/v4/pkg/chart/common"
	chart "helm.sh/helm/v4/pkg/chart/v2"
	"helm.sh/helm/v4/pkg/kube"
	"k8s.io/cli-runtime/pkg/genericclioptions"

	"github.com/vimbroker/vimbroker/test/real"
)

// TestHelmThroughThePlugin: Helm's own library installs, upgrades and removes a chart with a kubeconfig
// that names the exec plugin and holds no credential. One process of it goes on after its lease was
// revoked, with the next one.
func TestHelmThroughThePlugin(t *testing.T) {
	b := sitDown(t, real.Kubernetes(t))
	b.Must(t, "vimbroker vim register --kubeconfig ~/.kube/config edge")
	b.Must(t, "vimbroker lease issue --vim edge --role edit --namespace default --exec-plugin > plugin.conf")
	for _, pair := range b.Env {
		key, value, _ := strings.Cut(pair, "=")
		t.Setenv(key, value)
	}
	flags, file, namespace := genericclioptions.NewConfigFlags(true), filepath.Join(b.Dir, "plugin.conf"), "default"
	flags.KubeConfig, flags.Namespace = &file, &namespace
	helm := action.NewConfiguration()
	helm.SetLogger(slog.DiscardHandler)
	if err := helm.Init(flags, namespace, "secret"); err != nil {
		t.Fatal(err)
	}
	pages := &chart.Chart{
		Metadata: &chart.Metadata{APIVersion: "v2", Name: "pages", Version: "1.0.0"},
		Templates: []*common.File{{Name: "templates/pages.yaml", Data: []byte(
			"apiVersion: v1\nkind: ConfigMap\nmetadata: {name: {{ .Release.Name }}-pages}\ndata: {text: {{ .Values.text | quote }}}\n")}},
	}
	holds := func(want string) {
		t.Helper()
		if got := b.Must(t, "kubectl get configmaps -o jsonpath='{.items[?(@.metadata.name==\"plugged-pages\")].data.text}'"); got != want {
			t.Errorf("the chart's object holds %q, want %q", got, want)
		}
	}

	install := action.NewInstall(helm)
	install.ReleaseName, install.Namespace, install.WaitStrategy, install.Timeout = "plugged", namespace, kube.StatusWatcherStrategy, 5*time.Minute
	if _, err := install.RunWithContext(t.Context(), pages, map[string]any{"text": "first"}); err != nil {
		t.Fatalf("installing: %v", err)
	}
	holds("first")
	b.Must(t, "vimbroker lease revoke --vim edge --wait")
	upgrade := func() error {
		up := action.NewUpgrade(helm)
		up.Namespace, up.WaitStrategy, up.Timeout = namespace, kube.StatusWatcherStrategy, 5*time.Minute
		_, err := up.RunWithContext(t.Context(), "plugged", pages, map[string]any{"text": "second"})
		return err
	}
	var err error
	if !real.Poll(t, patience, func() bool { // a refusal has client-go ask the plugin anew
		err = upgrade()
		return err == nil
	}) {
		t.Errorf("upgrading after the lease was revoked: %v", err)
	}
	holds("second")
	remove := action.NewUninstall(helm)
	remove.WaitStrategy, remove.Timeout = kube.StatusWatcherStrategy, 5*time.Minute
	if _, err := remove.Run("plugged"); err != nil {
		t.Errorf("removing: %v", err)
	}
	holds("")
	if n := len(b.leases(t)); n != 2 {
		t.Errorf("%d leases, want the one that was revoked and the next", n)
	}
	id := b.id(t, "edge")
	b.Must(t, "vimbroker vim delete edge --drain --wait")
	b.nothingLeft(t, id)
}
