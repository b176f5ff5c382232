package vnfpkg_test

import (
	"bytes"
	"crypto/rand"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/vimbroker/vimbroker/lifecycle/vnfpkg"
	"github.com/vimbroker/vimbroker/test/golden"
)

// manifests are a few workloads, and what is none.
var manifests = []vnfpkg.ManifestFile{
	{Path: "10-web.yaml", Text: []byte("kind: Deployment\nmetadata: {name: web}\nspec: {replicas: 2}\n---\nkind: Service\nmetadata: {name: web}\n")},
	{Path: "more/20-db.yaml", Text: []byte("kind: StatefulSet\nmetadata: {name: db}\nspec: {replicas: '${SIZE}'}\n---\nkind: Secret\nmetadata: {name: login}\n---\n" +
		"kind: DaemonSet\nmetadata: {name: agent}\n---\n# nothing\n---\nkind: Pod\nmetadata: {name: once}\n")},
}

func draft(vdus ...vnfpkg.DraftVDU) vnfpkg.Assembly {
	return vnfpkg.Assembly{
		VNFDID: "b1bb0ce7", Provider: "Acme: \"é\"", ProductName: "web", SoftwareVersion: "1.0", Version: "2.0",
		Manifests: manifests, VDUs: vdus,
	}
}

func TestWorkloads(t *testing.T) {
	got, err := vnfpkg.Workloads(manifests)
	want := vnfpkg.Found{VDUs: []vnfpkg.DraftVDU{{"web", 2, 2, 2}, {"db", 1, 1, 1}, {"once", 1, 1, 1}}, Secrets: []string{"login"}}
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Errorf("Workloads = %v, differs:\n%s", err, diff)
	}
	for text, want := range map[string]string{
		"kind: [":                          "a.yaml is no YAML",
		"kind: Pod\nmetadata: {name: web}": "a.yaml has a second workload named web",
	} {
		_, err := vnfpkg.Workloads(append(manifests[:1:1], vnfpkg.ManifestFile{Path: "a.yaml", Text: []byte(text)}))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("Workloads(%q) = %v, want %q", text, err, want)
		}
	}
}

// An object of any kind is a VDU if it says so, by another name than its own.
func TestWorkloadsThatNameTheirVDU(t *testing.T) {
	got, err := vnfpkg.Workloads([]vnfpkg.ManifestFile{{Path: "a.yaml", Text: []byte(
		"kind: MachineDeployment\nmetadata: {name: '${CLUSTER}-workers', annotations: {vimbroker.io/vdu: workers}}\nspec: {replicas: 2}\n---\n" +
			"kind: Deployment\nmetadata: {name: '${NAME}', annotations: {vimbroker.io/vdu: front}}\n---\nkind: MachineDeployment\nmetadata: {name: none}\n")}})
	want := vnfpkg.Found{VDUs: []vnfpkg.DraftVDU{{"workers", 2, 2, 2}, {"front", 1, 1, 1}}}
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Errorf("Workloads = %v, differs:\n%s", err, diff)
	}
}

func TestPack(t *testing.T) {
	d := draft(vnfpkg.DraftVDU{Name: "web", Number: 2, Min: 1, Max: 5}, vnfpkg.DraftVDU{Name: "db", Number: 1, Min: 1, Max: 1})
	var first, again bytes.Buffer
	for _, b := range []*bytes.Buffer{&first, &again} {
		if err := vnfpkg.Pack(b, d); err != nil {
			t.Fatal(err)
		}
	}
	if !bytes.Equal(first.Bytes(), again.Bytes()) {
		t.Error("the same draft gives other bytes the second time")
	}
	c, err := open(first.Bytes(), vnfpkg.ArchiveLimits{})
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range manifests {
		if text, err := c.Read("Files/kubernetes/" + m.Path); err != nil || !bytes.Equal(text, m.Text) {
			t.Errorf("%s = %q, %v", m.Path, text, err)
		}
	}
	got, err := c.Descriptor()
	want := vnfpkg.VNFD{
		ID: d.VNFDID, Provider: d.Provider, ProductName: "web", SoftwareVersion: "1.0", Version: "2.0", VNFMInfo: []string{"vimbroker"},
		DefaultFlavour: "simple", Inputs: map[string]string{}, Parameters: map[string]bool{},
		Flavours: map[string]vnfpkg.Flavour{"simple": {
			ID: "simple", Description: "As the manifests are",
			VDUs: map[string]vnfpkg.VDU{
				"web": {ID: "web", Name: "web", Min: 1, Max: 5, Initial: 1},
				"db":  {ID: "db", Name: "db", Min: 1, Max: 1, Initial: 1},
			},
			Aspects:      map[string]vnfpkg.Aspect{"web": {ID: "web", Name: "web", MaxLevel: 4, Deltas: map[string]int{"web": 1}}},
			Levels:       map[string]vnfpkg.Level{"default": {Description: "As the manifests are", Scale: map[string]int{"web": 1}, Instances: map[string]int{"web": 2}}},
			DefaultLevel: "default",
		}},
	}
	if diff := cmp.Diff(want, got, cmpopts.IgnoreUnexported(vnfpkg.Flavour{})); err != nil || diff != "" {
		t.Errorf("Descriptor = %v, differs:\n%s", err, diff)
	}
}

// What is packed is written word for word, whether or not it scales.
func TestPackedText(t *testing.T) {
	for name, d := range map[string]vnfpkg.Assembly{
		"scales": draft(vnfpkg.DraftVDU{Name: "web", Number: 2, Min: 1, Max: 5}), "stays": draft(vnfpkg.DraftVDU{Name: "db", Number: 1, Min: 1, Max: 1}),
	} {
		var packed bytes.Buffer
		if err := vnfpkg.Pack(&packed, d); err != nil {
			t.Fatal(err)
		}
		c, err := open(packed.Bytes(), vnfpkg.ArchiveLimits{})
		if err != nil {
			t.Fatal(err)
		}
		said := strings.Join(c.Paths(""), "\n")
		for _, path := range []string{vnfpkg.MetaFile, c.Entry} {
			text, err := c.Read(path)
			if err != nil {
				t.Fatal(err)
			}
			said += "\n\n# " + path + "\n" + string(text)
		}
		golden.Compare(t, "testdata/packed/"+name+".txt", said)
	}
}

// The VDUs of a base HOT are those that it takes something for; the number of one can be set where it takes that, too.
func TestTemplates(t *testing.T) {
	d := draft()
	d.Manifests, d.Flavour = nil, "large"
	d.Templates = []vnfpkg.ManifestFile{
		{Path: "top.yaml", Text: []byte("resources:\n  a: {flavor: {get_param: [nfv, VDU, RTR, computeFlavourId]}, count: {get_param: [nfv, VDU, RTR, desired_capacity]}, again: {get_param: [nfv, VDU, RTR, computeFlavourId]}}\n" +
			"  b: [{flavor: {get_param: [nfv, VDU, FW, computeFlavourId]}}, {get_param: [nfv, VDU, disk, vcImageId]}, {get_param: [nfv, CP, x, network]}]\n" +
			"  c: {get_param: [other, VDU, x, desired_capacity]}\n  c2: {get_param: [nfv, CP, x, computeFlavourId]}\n  c3: [get_param, [nfv, VDU, x, desired_capacity]]\n  d: {get_param: [nfv, VDU, less]}\n" +
			"  e: {get_param: [nfv, VDU, more, desired_capacity, more]}\n  f: {other: [nfv, VDU, f, desired_capacity]}\n")},
		{Path: "nested/init.sh", Text: []byte("a: [")},
	}
	d.VDUs = vnfpkg.Templates(d.Templates, 4)
	if diff := cmp.Diff([]vnfpkg.DraftVDU{{Name: "RTR", Number: 1, Min: 1, Max: 4}, {Name: "FW", Number: 1, Min: 1, Max: 1}}, d.VDUs); diff != "" {
		t.Errorf("Templates differs:\n%s", diff)
	}
	var archive bytes.Buffer
	if err := vnfpkg.Pack(&archive, d); err != nil {
		t.Fatal(err)
	}
	c, err := open(archive.Bytes(), vnfpkg.ArchiveLimits{})
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range d.Templates {
		if text, err := c.Read("BaseHOT/large/" + m.Path); err != nil || !bytes.Equal(text, m.Text) {
			t.Errorf("%s = %q, %v", m.Path, text, err)
		}
	}
	got, err := c.Descriptor()
	if f := got.Flavours["large"]; err != nil || len(got.Flavours) != 1 || len(f.VDUs) != 2 || len(f.Aspects) != 1 || f.Aspects["RTR"].MaxLevel != 3 {
		t.Errorf("Descriptor = %+v, %v", got, err)
	}
}

func TestPackRefuses(t *testing.T) {
	nameless := draft()
	nameless.Provider = " "
	outside := draft()
	outside.Manifests = []vnfpkg.ManifestFile{{Path: "../a.yaml"}}
	for want, d := range map[string]vnfpkg.Assembly{
		"the provider is missing":             nameless,
		"file of this path":                   outside,
		"1 and at most 5, make no sense":      draft(vnfpkg.DraftVDU{Name: "web", Number: 6, Min: 1, Max: 5}),
		"0 instances, of at least 1":          draft(vnfpkg.DraftVDU{Name: "web", Min: 1, Max: 5}),
		"-1 and at most 1, make no sense":     draft(vnfpkg.DraftVDU{Name: "web", Min: -1, Max: 1}),
		"0 and at most 100001, make no sense": draft(vnfpkg.DraftVDU{Name: "web", Max: 100_001}),
	} {
		if err := vnfpkg.Pack(&bytes.Buffer{}, d); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("Pack = %v, want %q", err, want)
		}
	}
}

// The least and the most that a workload may have are packed, and are what the descriptor says.
func TestPackAtTheLimits(t *testing.T) {
	var b bytes.Buffer
	if err := vnfpkg.Pack(&b, draft(vnfpkg.DraftVDU{Name: "web", Number: 100_000, Max: 100_000})); err != nil {
		t.Fatal(err)
	}
	c, err := open(b.Bytes(), vnfpkg.ArchiveLimits{})
	if err != nil {
		t.Fatal(err)
	}
	got, err := c.Descriptor()
	if err != nil {
		t.Fatal(err)
	}
	f := got.Flavours["simple"]
	if v := f.VDUs["web"]; v.Min != 0 || v.Max != 100_000 || f.Aspects["web"].MaxLevel != 100_000 {
		t.Errorf("the VDU is %+v, with the aspect %+v", v, f.Aspects["web"])
	}
	if n, said := f.Number("web", f.Levels["default"]); n != 100_000 || !said {
		t.Errorf("Number = %d, %t; want all", n, said)
	}
}

// errFull is that of a disk that takes no more.
var errFull = errors.New("full")

// disk takes so many bytes.
type disk int

func (d *disk) Write(p []byte) (int, error) {
	if *d -= disk(len(p)); *d < 0 {
		return 0, errFull
	}
	return len(p), nil
}

func TestPackOnAFullDisk(t *testing.T) {
	d := draft()
	noise := make([]byte, 100<<10)
	if _, err := rand.Read(noise); err != nil {
		t.Fatal(err)
	}
	for range 3 {
		d.Manifests = append(slices.Clone(d.Manifests), vnfpkg.ManifestFile{Path: fmt.Sprint(len(d.Manifests)), Text: noise})
	}
	var whole bytes.Buffer
	if err := vnfpkg.Pack(&whole, d); err != nil {
		t.Fatal(err)
	}
	for n := range 12 {
		room := whole.Len()*n/12 + n/11*(whole.Len()/12-1)
		left := disk(room)
		if err := vnfpkg.Pack(&left, d); !errors.Is(err, errFull) {
			t.Errorf("Pack on a disk of %d bytes = %v", room, err)
		}
	}
}

// TestScripts: a package says which of its life-cycle operations run code.
func TestScripts(t *testing.T) {
	for interfaces, want := range map[string][]string{
		"{Vnflcm: {type: tosca.interfaces.nfv.Vnflcm, inputs: {a: b}, instantiate: [], instantiate_start: noop, heal: {}, scale: {implementation: noop}, terminate: }}": nil,
		"{Vnflcm: {instantiate_start: {implementation: Scripts/x.py}, terminate_end: y.py}}":                                                                            {"instantiate_start", "terminate_end"},
		"{Vnflcm: {operations: {heal: {implementation: {primary: x}}}}}":                                                                                                {"heal"},
		"{Vnflcm: {terminate_end: y.py, scale_end: &a x.py, heal_start: z.py, heal_end: ~, instantiate_start: *a}}":                                                     {"heal_start", "instantiate_start", "scale_end", "terminate_end"},
		"{Vnflcm: {operations: {heal: {implementation: {primary: x}}, scale: y.py, change: noop, terminate_end: {implementation: z}}}}":                                 {"heal", "scale", "terminate_end"},
		"{Other: {start: x.py}}": nil,
		"{Vnflcm: {heal: '', scale: {implementation: null}, terminate: [x], change: {implementation: noop}}}": nil,
		"{Vnflcm: {heal: {implementation: x.py, implementation: noop}}}":                                      {"heal"},
	} {
		text := strings.Replace(top, "node_templates:", "node_templates:\n    Scripted:\n      type: tosca.nodes.nfv.VNF\n      interfaces: "+interfaces, 1)
		files := []file{
			meta(),
			{name: "Definitions/top.yaml", text: text},
			{name: "Definitions/types.yaml", text: types},
			{name: "Definitions/simple.yaml", text: simple},
		}
		c, err := open(archive(t, files...), vnfpkg.ArchiveLimits{})
		if err != nil {
			t.Fatal(err)
		}
		got, err := c.Descriptor()
		if err != nil || !cmp.Equal(got.Scripts, want) {
			t.Errorf("%s: scripts %v, %v, want %v", interfaces, got.Scripts, err, want)
		}
	}
}
