package helm_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/vimbroker/vimbroker/broker/secret"
	"github.com/vimbroker/vimbroker/drivers/manifests"
	"github.com/vimbroker/vimbroker/lifecycle"
	"github.com/vimbroker/vimbroker/test/fakeobjects"
	"github.com/vimbroker/vimbroker/test/pods"
)

// TestAChartIsJudgedAsItsObjects: in a chart, outright and by its values, an object reaches what it reaches as a manifest,
// and no pod is of another level.
func TestAChartIsJudgedAsItsObjects(t *testing.T) {
	s := fakeobjects.New(t)
	s.Serve(fakeobjects.Kind{Group: "k8s.cni.cncf.io", Version: "v1", Kind: "NetworkAttachmentDefinition", Plural: "network-attachment-definitions", Namespaced: true})
	s.Put("/apis/networking.k8s.io/v1/namespaces/other/ingresses/shop", map[string]any{
		"kind": "Ingress", "metadata": map[string]any{"name": "shop", "namespace": "other"},
		"spec": map[string]any{"rules": []any{map[string]any{"host": "shop.example.com"}}},
	})
	objects := []string{
		`{"apiVersion": "networking.k8s.io/v1", "kind": "Ingress", "metadata": {"name": "steal"}, "spec": {"rules": [{"host": "shop.example.com"}]}}`,
		`{"apiVersion": "v1", "kind": "Service", "metadata": {"name": "steal"}, "spec": {"externalIPs": ["192.0.2.1"]}}`,
		`{"apiVersion": "k8s.cni.cncf.io/v1", "kind": "NetworkAttachmentDefinition", "metadata": {"name": "nic"}, "spec": {"config": "{\"type\": \"host-device\"}"}}`,
	}
	all, chance := pods.Cases(), rand.New(rand.NewPCG(7, 7))
	for range 100 {
		all = append(all, pods.Case{Pod: pods.Random(chance, "a")})
	}
	for n, c := range all {
		pods.Set(c.Pod, "metadata.name", fmt.Sprintf("p%d", n))
		text, err := json.Marshal(c.Pod)
		if err != nil {
			t.Fatal(err)
		}
		objects = append(objects, string(text))
	}
	whole := strings.Join(objects, "\n---\n")
	given := map[string]string{"shop.example.com": "host", "192.0.2.1": "address", "Unconfined": "profile", "spc_t": "type", "host-device": "cni"}
	values, varied := "", whole
	for text, name := range given {
		values += name + ": " + text + "\n"
		varied = strings.ReplaceAll(varied, text, "{{ .Values."+name+" }}")
	}
	in := inputOf([]lifecycle.Manifest{{Path: "a.yaml", Text: secret.NewText(whole)}})
	d := manifests.New()
	p, err := d.Plan(t.Context(), s.Connection(d.Survey(in)), in)
	if err != nil {
		t.Fatal(err)
	}
	want := fmt.Sprint(p.Facts.PodSecurity, p.Facts.Privileged, p.Facts.Reaches)
	if len(p.Facts.Reaches) < 20 || !strings.Contains(want, "rules.host") {
		t.Fatalf("as manifests they reach %s: the test sees nothing", want)
	}
	for form, template := range map[string]string{"outright": whole, "by values": varied} {
		p, err := plan(t, s, inputOf(chartOf(map[string]string{"templates/a.yaml": template, "values.yaml": values})))
		if err != nil {
			t.Fatal(err)
		}
		if got := fmt.Sprint(p.Facts.PodSecurity, p.Facts.Privileged, p.Facts.Reaches); got != want {
			t.Errorf("%s in a chart they are\n%s, want\n%s", form, got, want)
		}
	}
}

// TestAStatefulSetOfAChartFindsItsClaims: as under Helm it takes those that stand, and its templates stay as the chart has them.
func TestAStatefulSetOfAChartFindsItsClaims(t *testing.T) {
	s := fakeobjects.New(t)
	s.Serve(fakeobjects.Kind{Group: "apps", Version: "v1", Kind: "StatefulSet", Plural: "statefulsets", Namespaced: true, Scales: true})
	s.Serve(fakeobjects.Kind{Version: "v1", Kind: "PersistentVolumeClaim", Plural: "persistentvolumeclaims", Namespaced: true})
	s.Put("/api/v1/namespaces/cnf/persistentvolumeclaims/data-db-0", map[string]any{
		"kind": "PersistentVolumeClaim", "metadata": map[string]any{"name": "data-db-0", "namespace": "cnf"},
	})
	p, err := plan(t, s, inputOf(chartOf(map[string]string{"templates/a.yaml": `{"apiVersion": "apps/v1", "kind": "StatefulSet", "metadata": {"name": "db"}, "spec": {` +
		`"volumeClaimTemplates": [{"metadata": {"name": "data"}, "spec": {}}], "template": {"spec": {"containers": []}}}}`})))
	if got := applied(p, "db"); err != nil || !strings.Contains(got, `[{"metadata":{"name":"data"},"spec":{}}]`) {
		t.Errorf("%v, and it is %s", err, got)
	}
}
