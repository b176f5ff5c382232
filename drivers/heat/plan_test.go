package heat_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/uuid"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/broker/secret"
	"github.com/vimbroker/vimbroker/drivers/heat"
	"github.com/vimbroker/vimbroker/lifecycle"
	"github.com/vimbroker/vimbroker/lifecycle/vnfpkg"
	"github.com/vimbroker/vimbroker/test/fake"
	"github.com/vimbroker/vimbroker/test/fakeheat"
)

// hot is a base HOT of Tacker's form: servers, ports, a scaling group, and an image on a volume.
const hot = `heat_template_version: 2013-05-23
parameters:
  nfv:
    type: json
  zone: {type: string, default: nova}
resources:
  VDU1_scale_group:
    type: OS::Heat::AutoScalingGroup
    properties:
      min_size: 1
      max_size: 3
      desired_capacity: {get_param: [nfv, VDU, VDU1, desired_capacity]}
      resource:
        type: VDU1.yaml
        properties:
          flavor: {get_param: [nfv, VDU, VDU1, computeFlavourId]}
          image: {get_param: [nfv, VDU, VDU1-VirtualStorage, vcImageId]}
          net: {get_param: [nfv, CP, VDU1_CP1, network]}
          subnet: {get_param: [nfv, CP, VDU1_CP1, fixed_ips, 0, subnet]}
          az: {get_param: [nfv, VDU, VDU1, locationConstraints]}
  extra:
    type: OS::Heat::RandomString
    condition: wanted
`

const nested = `heat_template_version: 2013-05-23
parameters: {flavor: {type: string}}
resources:
  VDU1:
    type: OS::Nova::Server
    properties: {flavor: {get_param: flavor}, user_data: {get_file: init.sh}}
`

func tacker(top string) lifecycle.PlanInput {
	file := func(path, text string) lifecycle.Manifest {
		return lifecycle.Manifest{Path: "BaseHOT/simple/" + path, Text: secret.NewText(text)}
	}
	return lifecycle.PlanInput{
		Operation: lifecycle.Instantiate, Instance: "i", Replicas: map[string]int32{"vdu-1": 2},
		Manifests: []lifecycle.Manifest{file("simple.yaml", top), file("nested/VDU1.yaml", nested), file("nested/init.sh", "#!/bin/sh\n")},
		Flavour: vnfpkg.Flavour{
			ID: "simple", VDUs: map[string]vnfpkg.VDU{"VDU1": {ID: "VDU1", Name: "vdu-1", Compute: "m1.tiny"}},
			Images: map[string]string{"VDU1-VirtualStorage": "cirros"},
		},
		Parameters: json.RawMessage(`{"CP":{"VDU1_CP1":{"network":"net0"}}}`),
	}
}

// The parameter nfv has what Tacker's default user data puts there, and the request's over it.
func TestParametersOfTacker(t *testing.T) {
	s := fakeheat.New(t)
	p := mustPlan(t, s, tacker(hot))
	var wish struct {
		Parameters struct {
			NFV json.RawMessage `json:"nfv"`
		} `json:"parameters"`
		Files map[string]string `json:"files"`
	}
	if err := json.Unmarshal([]byte(p.Stages[0].Waves[0].Objects[0].Manifest.Reveal()), &wish); err != nil {
		t.Fatal(err)
	}
	const want = `{"CP":{"VDU1_CP1":{"fixed_ips":[{"subnet":null}],"network":"net0"}},` +
		`"VDU":{"VDU1":{"computeFlavourId":"m1.tiny","desired_capacity":2,"locationConstraints":null},"VDU1-VirtualStorage":{"vcImageId":"cirros"}}}`
	if string(wish.Parameters.NFV) != want {
		t.Errorf("nfv = %s, want %s", wish.Parameters.NFV, want)
	}
	if wish.Files["VDU1.yaml"] != nested || wish.Files["init.sh"] == "" || len(wish.Files) != 2 {
		t.Errorf("the files are %v", wish.Files)
	}
	if !slices.Equal(p.Facts.Kinds, []string{"OS::Heat::AutoScalingGroup", "OS::Heat::RandomString", "OS::Nova::Server"}) || !slices.Equal(p.Facts.Images, []string{"cirros"}) {
		t.Errorf("policies weigh %+v", p.Facts)
	}
	if len(p.Resources) != 2 || p.Resources[1].Name != "VDU1_scale_group" || p.Resources[1].VDU != "vdu-1" || p.Stages[0].Grant.Purpose != "heat" {
		t.Errorf("the instance consists of %+v under %+v", p.Resources, p.Stages[0].Grant)
	}
}

// Whatever operation applies a stack, its plan says what the stack reaches.
func TestAPlanSaysWhatItReaches(t *testing.T) {
	s := fakeheat.New(t)
	in := tacker(hot + "  open: {type: OS::Neutron::Port, properties: {port_security_enabled: false}}\n")
	for _, in.Operation = range []lifecycle.OperationType{lifecycle.Instantiate, lifecycle.ScaleVNF, lifecycle.Heal, lifecycle.ChangePackage} {
		p, err := heat.New().Plan(t.Context(), connect(s, lifecycle.StageRules{}), in)
		if err != nil || len(p.Facts.Reaches) != 1 || p.Facts.Reaches[0].What != lifecycle.ReachNetwork || p.Facts.Reaches[0].Name != "open" {
			t.Errorf("%s: %+v, %v, want the port to reach the network", in.Operation, p.Facts.Reaches, err)
		}
	}
}

// A template declares the wave of its stack. Variables that are for manifests are none of an instance's other part.
func TestOnePartOfTwo(t *testing.T) {
	in := tacker(hot + "    metadata: {vimbroker.io/wave: \"-2\"}\n")
	in.Variables, in.Hybrid = map[string]string{"zone": "az1", "COLOUR": "red"}, true
	p := mustPlan(t, fakeheat.New(t), in)
	if at := p.Stages[0].Waves[0].Objects; at[0].Declared != -2 || at[len(at)-1].Declared != -2 || p.Resources[0].Declared != -2 {
		t.Errorf("the stack is declared for wave %d", at[0].Declared)
	}
	if sent := p.Stages[0].Waves[0].Objects[0].Manifest.Reveal(); strings.Contains(sent, "COLOUR") || !strings.Contains(sent, "az1") {
		t.Errorf("the stack gets %s", sent)
	}
}

// What cannot be right is refused before anything is made, with the file or the field.
func TestRefusals(t *testing.T) {
	s := fakeheat.New(t)
	for says, change := range map[string]func(*lifecycle.PlanInput){
		"additionalParams.nfv.CP.VDU1_CP1.network": func(in *lifecycle.PlanInput) { in.Parameters = nil },
		"additionalParams.variables.size":          func(in *lifecycle.PlanInput) { in.Variables = map[string]string{"size": "1"} },
		"simple.yaml:24 must give vimbroker.io/wave as a whole number": func(in *lifecycle.PlanInput) {
			*in = tacker(hot + "    metadata: {vimbroker.io/wave: late}\n")
		},
		"the same for all resources": func(in *lifecycle.PlanInput) {
			*in = tacker(hot + "    metadata: {vimbroker.io/wave: 1}\n  more:\n    type: OS::Heat::RandomString\n    metadata: {vimbroker.io/wave: 2}\n")
		},
		"VDU VDU1 cannot be scaled": func(in *lifecycle.PlanInput) {
			*in = tacker(strings.Replace(hot, "{get_param: [nfv, VDU, VDU1, desired_capacity]}", "1", 1))
			in.Operation, in.Scaled = lifecycle.ScaleVNF, []string{"vdu-1"}
		},
		"simple.yaml:14 refers to an URL": func(in *lifecycle.PlanInput) {
			*in = tacker(strings.Replace(hot, "type: VDU1.yaml", "type: http://169.254.169.254/VDU1.yaml", 1))
		},
		"that is not under BaseHOT/simple: ../../Definitions/vnfd.yaml": func(in *lifecycle.PlanInput) {
			*in = tacker(strings.Replace(hot, "type: VDU1.yaml", "type: ../../Definitions/vnfd.yaml", 1))
			in.Manifests = append(in.Manifests, lifecycle.Manifest{Path: "Definitions/vnfd.yaml", Text: secret.NewText(nested)})
		},
		"simple.yaml:14 holds an anchor or alias; write the value itself (key type)": func(in *lifecycle.PlanInput) {
			*in = tacker(strings.Replace(hot, "type: VDU1.yaml", "type: &t VDU1.yaml", 1))
		},
		"2 templates that no other refers to": func(in *lifecycle.PlanInput) {
			in.Manifests = append(in.Manifests, lifecycle.Manifest{Path: "BaseHOT/simple/other.yaml", Text: secret.NewText(nested)})
		},
		"nested deeper than": func(in *lifecycle.PlanInput) {
			in.Manifests[1].Text = secret.NewText(strings.Replace(nested, "OS::Nova::Server", "VDU1.yaml", 1))
		},
		"simple.yaml:8 has Heat work out which template to read": func(in *lifecycle.PlanInput) {
			*in = tacker(strings.Replace(hot, "        type: VDU1.yaml\n", "        type: {list_join: ['', [ht, 'tp://169.254.169.254/VDU1.yaml']]}\n", 1))
		},
		"simple.yaml:24 has Heat work out": func(in *lifecycle.PlanInput) {
			*in = tacker(hot + "  more: {type: OS::Heat::ResourceGroup, properties: {get_param: [nfv, more]}}\n")
		},
		"nested/VDU1.yaml:5 has Heat work out": func(in *lifecycle.PlanInput) {
			in.Manifests[1].Text = secret.NewText(strings.Replace(nested, "OS::Nova::Server", "AWS::CloudFormation::Stack", 1))
		},
		"simple.yaml:26 has Heat work out": func(in *lifecycle.PlanInput) {
			*in = tacker(hot + "  more:\n    type: OS::Heat::ResourceGroup\n    properties: {resource_def: {type: OS::Heat::Stack, properties: {template: x}}}\n")
		},
		"is longer than 512 KiB": func(in *lifecycle.PlanInput) {
			in.Manifests[1].Text = secret.NewText(nested + strings.Repeat("#\n", 256<<10))
		},
		"is one resource too many": func(in *lifecycle.PlanInput) {
			var more strings.Builder
			for n := range 1000 {
				fmt.Fprintf(&more, "  r%d: {type: OS::Heat::None}\n", n)
			}
			in.Manifests[1].Text = secret.NewText(nested + more.String())
		},
		"has no resources": func(in *lifecycle.PlanInput) {
			in.Manifests[1].Text = secret.NewText("heat_template_version: 2013-05-23\n")
		},
		"is not a template in YAML": func(in *lifecycle.PlanInput) { in.Manifests[1].Text = secret.NewText("a: [") },
		"could not be found": func(in *lifecycle.PlanInput) {
			*in = tacker(strings.Replace(hot, "OS::Heat::RandomString", "Unheard", 1))
		},
		"declares no parameter nfv": func(in *lifecycle.PlanInput) { *in = tacker("resources: {a: {type: OS::Heat::RandomString}}\n") },
		"do not give password, a pa": func(in *lifecycle.PlanInput) {
			*in = tacker(strings.Replace(hot, "  zone: {type: string, default: nova}", "  password: {type: string}", 1))
		},
	} {
		in := tacker(hot)
		change(&in)
		_, err := heat.New().Plan(t.Context(), connect(s, lifecycle.StageRules{}), in)
		if !errors.Is(err, broker.ErrInvalid) || !strings.Contains(err.Error(), says) {
			t.Errorf("Plan = %v, want %v with %q", err, broker.ErrInvalid, says)
		}
	}
	if n := s.Count("POST", "/heat/v1/project/stacks"); n != 0 {
		t.Errorf("%d stacks were made", n)
	}
}

// Templates that refer to one another many times are read once: what they would come to is Heat's to refuse.
func TestTemplatesAreReadOnce(t *testing.T) {
	s := fakeheat.New(t)
	in := tacker("resources:\n  top: {type: n0.yaml}\n")
	in.Parameters, in.Manifests = nil, in.Manifests[:1]
	for n := range 10 { // without that, 60 to the power of 9 readings
		text := "resources:\n"
		for m := range 60 {
			kind := fmt.Sprintf("n%d.yaml", n+1)
			if n == 9 {
				kind = "OS::Heat::None"
			}
			text += fmt.Sprintf("  r%d: {type: %s}\n", m, kind)
		}
		in.Manifests = append(in.Manifests, lifecycle.Manifest{Path: fmt.Sprintf("BaseHOT/simple/nested/n%d.yaml", n), Text: secret.NewText(text)})
	}
	s.Fail(fake.Fault{Kind: fake.JSON, Path: "/validate$", Status: 200, Body: "{}"})
	if p, err := heat.New().Plan(t.Context(), connect(s, lifecycle.StageRules{}), in); err != nil || len(p.Resources) != 2 {
		t.Errorf("Plan = %+v, %v", p.Resources, err)
	}
}

// The sample of the docs is a VNF of one VDU, which scales, as a package of it says.
func TestTheSample(t *testing.T) {
	const dir = "../../docs/samples/router/BaseHOT/simple"
	var files []vnfpkg.ManifestFile
	in := lifecycle.PlanInput{
		Operation: lifecycle.Instantiate, Instance: uuid.NewString(), Flavour: vnfpkg.Flavour{ID: "simple", VDUs: map[string]vnfpkg.VDU{}},
		Replicas: map[string]int32{}, Parameters: json.RawMessage(`{"VDU":{"RTR":{"computeFlavourId":"m1.tiny"}},"CP":{"RTR_CP":{"network":"net0"}}}`),
	}
	for _, name := range []string{"router.yaml", "nested/RTR.yaml"} {
		text, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, vnfpkg.ManifestFile{Path: name, Text: text})
		in.Manifests = append(in.Manifests, lifecycle.Manifest{Path: "BaseHOT/simple/" + name, Text: secret.NewText(string(text))})
	}
	for _, v := range vnfpkg.Templates(files, 5) {
		in.Flavour.VDUs[v.Name] = vnfpkg.VDU{ID: v.Name, Name: v.Name, Max: v.Max}
		in.Replicas[v.Name] = int32(v.Max) //nolint:gosec // a few
	}
	s := fakeheat.New(t)
	seen, err := do(t.Context(), s, in, mustPlan(t, s, in))
	if err != nil || len(in.Flavour.VDUs) != 1 || len(seen["RTR_group"].VNFCs) != 5 || !seen["banner"].Ready {
		t.Errorf("of the VDUs %v come %+v, %v", in.Flavour.VDUs, seen, err)
	}
}

// What the template hides of what a request gives is hidden, and nothing else.
func TestWhatTheTemplateHides(t *testing.T) {
	const top = `parameters:
  open: {type: string, default: x}
  password: {type: string, hidden: true, default: canary-default}
  shown: {type: string, hidden: no, default: x}
  nfv: {type: json%s}
resources: {a: {type: OS::Heat::RandomString}}
`
	source := func(nfv string, parameters bool, given ...string) lifecycle.Source {
		return lifecycle.Source{
			Flavour: "simple", Paths: []string{"BaseHOT/simple/top.yaml"}, Given: given, Parameters: parameters,
			Read: func(paths []string) ([]lifecycle.Manifest, error) {
				if len(paths) != 1 {
					return nil, fmt.Errorf("asked for %v", paths)
				}
				return []lifecycle.Manifest{{Path: paths[0], Text: secret.NewText(fmt.Sprintf(top, nfv))}}, nil
			},
		}
	}
	for _, c := range []struct {
		of         lifecycle.Source
		hidden     []string
		parameters bool
	}{
		{source("", false, "open", "password"), []string{"password"}, false},
		{source(", hidden: true", true), nil, true},
		{source("", true, "open", "shown"), nil, false},
	} {
		b, err := heat.New().Basis(c.of)
		if err != nil || !slices.Equal(b.Secret, c.hidden) || b.SecretParameters != c.parameters {
			t.Errorf("Basis of %v = %+v, %v, want that it hides %v, %v", c.of.Given, b, err, c.hidden, c.parameters)
		}
	}
	broken := source("", true)
	broken.Read = func([]string) ([]lifecycle.Manifest, error) {
		return nil, &broker.Error{Kind: broker.ErrInvalid, Detail: "too long"}
	}
	if _, err := heat.New().Basis(broken); err == nil {
		t.Error("templates that cannot be read hide nothing")
	}
}

// What secret parameters default to is in no message, however short, and though a request may show it.
func TestDefaultsOfSecretParametersAreUnspoken(t *testing.T) {
	s := fakeheat.New(t)
	in := tacker(strings.Replace(hot, "  zone: {type: string, default: nova}", "  pin: {type: number, hidden: true, default: 4711}\n"+
		"  keys: {type: json, hidden: 'true', default: {a: [canary-list], b: canary-member}}", 1))
	in.Manifests[1].Text = secret.NewText(strings.Replace(nested, "parameters: {flavor: {type: string}}",
		"parameters: {flavor: {type: string}, login: {type: string, hidden: on, default: canary-nested}}", 1))
	p := mustPlan(t, s, in)
	s.Break("VDU1", "4711 and canary-list and canary-member and canary-nested are wrong")
	if _, err := do(t.Context(), s, in, p); err == nil || strings.Contains(err.Error(), "4711") || strings.Contains(err.Error(), "canary") || !strings.Contains(err.Error(), "are wrong") {
		t.Errorf("a stack that fails = %v", err)
	}
}

// What a request gives secret parameters is in no message, whole, in lines or quoted.
func TestGivenSecretParametersAreUnspoken(t *testing.T) {
	s := fakeheat.New(t)
	in := tacker(strings.Replace(strings.Replace(hot, "  zone: {type: string, default: nova}", "  pin: {type: string, hidden: true}\n  zone: {type: string, default: nova}", 1),
		"    type: json\n", "    type: json\n    hidden: true\n", 1))
	in.Variables = map[string]string{"pin": "canary-one\ncanary \"two\"", "zone": "seen-zone"}
	in.Parameters = []byte(`{"CP": {"VDU1_CP1": {"network": "net0"}}, "secrets": ["canary-three", 471100]}`)
	p := mustPlan(t, s, in)
	s.Break("VDU1", `canary-one and canary-one\ncanary \"two\" and canary-three and 471100 in seen-zone are wrong`)
	_, err := do(t.Context(), s, in, p)
	if err == nil || strings.Contains(err.Error(), "4711") || strings.Contains(err.Error(), "canary") || !strings.Contains(err.Error(), "in seen-zone are wrong") {
		t.Errorf("a stack that fails = %v", err)
	}
}

// An instance is made from the base HOT of its flavour, and from nothing else.
func TestBasis(t *testing.T) {
	paths := []string{"BaseHOT/other/x.yaml", "BaseHOT/simple/nested/VDU1.yaml", "BaseHOT/simple/top.yaml", "Files/kubernetes/a.yaml"}
	b, err := heat.New().Basis(lifecycle.Source{Flavour: "simple", Paths: paths})
	if err != nil || !slices.Equal(b.Files, paths[1:3]) || b.Namespace != "" {
		t.Errorf("Basis = %+v, %v", b, err)
	}
	const files = "additionalParams.lcm-kubernetes-def-files"
	for field, s := range map[string]lifecycle.Source{
		"flavourId":                          {Flavour: "simpl", Paths: paths},
		"additionalParams.namespace":         {Flavour: "simple", Paths: paths, Namespace: "shop"},
		"additionalParams.order":             {Flavour: "simple", Paths: paths, Ordered: true},
		"additionalParams.helm_release_name": {Flavour: "simple", Paths: paths, Release: "web"},
		files:                                {Flavour: "simple", Paths: paths, Named: paths[3:]},
	} {
		if _, err := heat.New().Basis(s); !errors.Is(err, broker.ErrInvalid) || !strings.Contains(err.Error(), field) {
			t.Errorf("Basis of %+v = %v, want one of %s", s, err, field)
		}
	}
}

// A deed and its VNFCs follow from the operation; what Heat does not know is refused, of a plan and of a wave.
func TestDeedsOfOperations(t *testing.T) {
	s := fakeheat.New(t)
	in := tacker(hot)
	in.VNFCs = []lifecycle.VNFC{{UID: "u"}}
	for operation, deed := range map[lifecycle.OperationType]lifecycle.Deed{
		lifecycle.Instantiate: lifecycle.Apply, lifecycle.ChangePackage: lifecycle.Apply, lifecycle.ChangeConn: lifecycle.Apply, lifecycle.ScaleVNF: lifecycle.Apply,
		lifecycle.Heal: lifecycle.Replace,
	} {
		in.Operation = operation
		w := mustPlan(t, s, in).Stages[0].Waves[0]
		if w.Deed != deed || len(w.VNFCs) > 0 != (deed == lifecycle.Replace) {
			t.Errorf("%s: %s of %+v", operation, w.Deed, w.VNFCs)
		}
	}
	in.Operation = lifecycle.ModifyInfo
	var e *broker.Error
	if _, err := heat.New().Plan(t.Context(), connect(s, lifecycle.StageRules{}), in); !errors.As(err, &e) || e.Kind != broker.ErrUnsupported || e.Detail != "operation MODIFY_INFO is not one of VNFs on OpenStack" {
		t.Errorf("an operation that is none: %v", err)
	}
	err := heat.New().Run(t.Context(), connect(s, lifecycle.StageRules{}), "i", lifecycle.Wave{Deed: lifecycle.Scale}, nil)
	if !errors.Is(err, broker.ErrUnsupported) || err.Error() != `deed "scale": `+broker.ErrUnsupported.Error() {
		t.Errorf("a deed that is none: %v", err)
	}
}
