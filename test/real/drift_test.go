package real_test

import (
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"github.com/vimbroker/vimbroker/test/quickstore"
	"github.com/vimbroker/vimbroker/test/real"
	"github.com/vimbroker/vimbroker/test/story"
)

// TestDriftIsSeen: what somebody removes or changes by hand is shown with the instance, and healed.
func TestDriftIsSeen(t *testing.T) {
	t.Parallel()
	c := real.Kubernetes(t)
	c.WithNode(t)
	b := sitDown(t, c)
	b.onCluster(t, "create namespace drift")
	t.Cleanup(func() { b.onCluster(t, "delete namespace drift --wait=false") })
	b.Must(t, "vimbroker vim register --kubeconfig ~/.kube/config edge1")
	b.onboard(t, "web-1", "1.0", sample(t))
	b.Must(t, "vimbroker vnf create --vnfd web-1 web")
	b.Must(t, "vimbroker vnf instantiate web --vim edge1 --namespace drift --wait")

	if err := b.broker.Stop(); err != nil {
		t.Fatal(err)
	}
	b.onCluster(t, "-n drift set image deployment/web web="+real.MissingImage+" --field-manager=mallory")
	b.onCluster(t, "-n drift delete configmap web-pages")

	// A server that starts looks at once at what is due. A look from before the change would be the last for a while.
	db, err := quickstore.Raw(filepath.Join(b.data, "vimbroker.db"))
	if err != nil {
		t.Fatal(err)
	}
	_, err = db.ExecContext(t.Context(), "UPDATE vnf_instances SET observed_at = 0")
	if err := errors.Join(err, db.Close()); err != nil {
		t.Fatal(err)
	}
	if b.broker, err = story.Serve(b.bin, b.Dir, b.Env, "--dev", "--listen", "127.0.0.1:0", "--data-dir", b.data); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { b.broker.Kill() })
	b.Env = append(b.Env, "VIMBROKER_ADDR="+b.broker.URL)
	var shown string
	if !real.Poll(t, patience, func() bool {
		shown = b.Must(t, "vimbroker vnf show web")
		if strings.Contains(shown, "Drift unknown") { // the look took too long, and the next is in half an hour
			b.Try(t, "vimbroker vnf check web")
		}
		return strings.Contains(shown, "2 missing or changed")
	}) {
		t.Fatalf("no drift is shown:\n%s", shown)
	}
	for _, want := range []string{"deployment/web in drift was changed by mallory", "configmap/web-pages in drift is missing"} {
		if !strings.Contains(shown, want) {
			t.Errorf("%q is not shown:\n%s", want, shown)
		}
	}
	if list := b.Must(t, "vimbroker vnf list"); !strings.Contains(list, "DRIFT") {
		t.Errorf("vnf list:\n%s", list)
	}
	b.Must(t, "vimbroker vnf heal web --wait")
	if got := b.onCluster(t, "-n drift get deployment/web configmap/web-pages -o name"); !strings.Contains(got, "web-pages") {
		t.Errorf("after healing there is\n%s", got)
	}
	if got := b.onCluster(t, "-n drift get deployment/web -o jsonpath={.spec.template.spec.containers[*].image}"); got == real.MissingImage {
		t.Error("healing has not taken the image back")
	}
	b.Must(t, "vimbroker vnf terminate web --wait")
	b.leasesEnded(t)
	if log := b.broker.Log.String(); strings.Contains(log, canary) {
		t.Error("the server's log has the secret")
	}
}
