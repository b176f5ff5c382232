package real_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/vimbroker/vimbroker/lifecycle/vnfpkg"
	"github.com/vimbroker/vimbroker/test/field"
	"github.com/vimbroker/vimbroker/test/real"
)

// TestFieldTenThousandObjects has an instance of as many objects as there may be go before the deadline of its operation,
// and without another waiting behind it: the cluster's collector of garbage takes 20 objects a second.
func TestFieldTenThousandObjects(t *testing.T) {
	field.Only(t)
	c := real.Kubernetes(t)
	c.WithNode(t)
	b := sitDown(t, c)
	b.onCluster(t, "create namespace crowd")
	t.Cleanup(func() { b.onCluster(t, "delete namespace crowd --wait=false") })
	b.Must(t, "vimbroker vim register --kubeconfig ~/.kube/config edge1")
	var manifest strings.Builder
	for n := range 9_999 {
		fmt.Fprintf(&manifest, "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c%d}\n---\n", n)
	}
	b.onboard(t, "crowd-1", "1.0", sample(t, "name: web", "name: beside"))
	b.onboard(t, "crowd-2", "1.0", vnfpkg.ManifestFile{Path: "crowd.yaml", Text: []byte(manifest.String())})
	for _, vnfd := range []string{"crowd-1", "crowd-2"} {
		b.Must(t, "vimbroker vnf create --vnfd "+vnfd+" "+vnfd)
		began := time.Now()
		b.Must(t, "vimbroker vnf instantiate "+vnfd+" --vim edge1 --namespace crowd --wait")
		t.Logf("%s is instantiated in %s", vnfd, time.Since(began).Round(time.Millisecond))
	}
	began := time.Now()
	b.Must(t, "vimbroker vnf terminate crowd-2")
	b.Must(t, "vimbroker vnf terminate crowd-1 --wait")
	beside := time.Since(began)
	b.Try(t, "vimbroker vnf watch crowd-2")
	all := time.Since(began)
	t.Logf("10 000 objects go in %s, and four beside them in %s", all.Round(time.Millisecond), beside.Round(time.Millisecond))
	if left := b.onCluster(t, "-n crowd get configmaps -o name"); left != "configmap/kube-root-ca.crt" {
		t.Errorf("after terminate there is %.200s", left)
	}
	if all > 5*time.Minute {
		t.Error("they go at the collector's pace")
	}
}
