package lifecycle

import (
	"slices"
	"testing"

	"github.com/vimbroker/vimbroker/broker/secret"
	"github.com/vimbroker/vimbroker/lifecycle/vnfpkg"
)

// A flavour is translated where it describes containers and the package brings nothing else for Kubernetes.
func TestTranslated(t *testing.T) {
	of := func(containers bool, paths ...string) PackageView {
		return PackageView{
			VNFD: vnfpkg.VNFD{Flavours: map[string]vnfpkg.Flavour{"f": {ID: "f", Containers: containers, Networks: []string{"VduCp a", "VnfVirtualLink b"}}}}, Paths: paths,
			Read: func(paths []string) ([]Manifest, error) { return []Manifest{{Path: "read " + paths[0]}}, nil },
			Translate: func(flavour string, inputs map[string]string, loose bool) (secret.Text, error) {
				return secret.NewText(flavour + inputs["a"] + map[bool]string{true: " loose"}[loose]), nil
			},
		}
	}
	for _, p := range []PackageView{
		of(false, "vnfd.yaml"), of(true, "Files/kubernetes/a.yaml"), of(true, "chart/Chart.yaml"), of(true, "Files/chart.tgz"), {VNFD: of(true).VNFD},
	} {
		if now := p.translated("f", nil, false); p.Translates("f") || len(now.Paths) != len(p.Paths) || len(p.unmade(p.VNFD.Flavours["f"]).Networks) != 2 {
			t.Errorf("%v is translated", p.Paths)
		}
	}
	p := of(true, "vnfd.yaml", "BaseHOT/f/top.yaml")
	now := p.translated("f", map[string]string{"a": "!"}, true)
	if !slices.IsSorted(now.Paths) || !slices.Contains(now.Paths, translatedFile) || slices.Contains(p.Paths, translatedFile) {
		t.Errorf("the paths are %v, of %v", now.Paths, p.Paths)
	}
	if made, err := now.Read([]string{translatedFile}); err != nil || made[0].Text.Reveal() != "f! loose" {
		t.Errorf("%v, %v", made, err)
	}
	if file, _ := now.Read([]string{"vnfd.yaml"}); file[0].Path != "read vnfd.yaml" {
		t.Errorf("a file of the package is %v", file)
	}
	if got := p.unmade(p.VNFD.Flavours["f"]).Networks; len(got) != 1 || got[0] != "VnfVirtualLink b" {
		t.Errorf("what others make is %v", got)
	}
}
