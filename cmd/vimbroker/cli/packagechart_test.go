package cli

import (
	"archive/zip"
	"bytes"
	"slices"
	"strings"
	"testing"
)

// A chart's directory is packed whole, and the flags say which of its workloads are VDUs.
func TestPackOfAChart(t *testing.T) {
	f := packing{vnfd: "web-1.0", provider: "local", version: "1.0", most: 3, vdus: []string{"web"}}
	archive, err := f.pack("../../../docs/samples/chart")
	if err != nil {
		t.Fatal(err)
	}
	again, err := f.pack("../../../docs/samples/chart")
	if err != nil || !bytes.Equal(archive, again) {
		t.Errorf("packed again it is another: %v", err)
	}
	z, err := zip.NewReader(bytes.NewReader(archive), int64(len(archive)))
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, file := range z.File {
		names = append(names, file.Name)
	}
	for _, want := range []string{"Files/kubernetes/chart/Chart.yaml", "Files/kubernetes/chart/templates/_names.tpl", "Files/kubernetes/chart/values.yaml"} {
		if !slices.Contains(names, want) {
			t.Errorf("the package holds %v, want %s", names, want)
		}
	}
	vnfd, err := z.Open("Definitions/vnfd.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var text bytes.Buffer
	if _, err := text.ReadFrom(vnfd); err != nil || !strings.Contains(text.String(), "max_scale_level: 2") {
		t.Errorf("the descriptor is %s, %v, want one with a scaling aspect", text.String(), err)
	}
	if _, err := f.pack("../../../docs/samples/web"); err == nil || !strings.Contains(err.Error(), "--vdu is for Helm charts") {
		t.Errorf("--vdu with manifests: %v", err)
	}
}
