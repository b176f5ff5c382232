package manifests_test

import (
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/broker/asset/spec"
	"github.com/vimbroker/vimbroker/drivers/manifests"
	"github.com/vimbroker/vimbroker/lifecycle"
)

const parted = `apiVersion: v1
kind: ConfigMap
metadata: {name: %s, annotations: {vimbroker.io/part: %q}}
`

// Each part has the objects that name it, the first those that name none; the network of a link is of the part that has the link.
func TestObjectsOfAPart(t *testing.T) {
	s := multus(t)
	in := linked("sgi-cp", spec.LinkSpec{CIDR: "10.9.0.0/24", NAD: &spec.PodNetwork{Type: "macvlan", Device: "eth1"}})
	links := in.Links
	in.Manifests = append(in.Manifests, input(
		fmt.Sprintf(parted, "near", "near"), fmt.Sprintf(parted, "far", "far"),
		"apiVersion: v1\nkind: List\nitems:\n- {apiVersion: v1, kind: ConfigMap, metadata: {name: listed, annotations: {vimbroker.io/part: far}}}\n",
	).Manifests...)
	names := func(part string) (all []string) {
		of := in
		if of.Part, of.Parts = part, map[string]string{"near": "", "far": "far"}; part == "" {
			of.Links = nil
		}
		for _, r := range mustPlan(t, s, of).Resources {
			all = append(all, r.Name)
			if r.Part != "" {
				t.Errorf("%s is said to be of part %s by its driver", r.Name, r.Part)
			}
		}
		return all
	}
	if got := strings.Join(names(""), " "); got != "near front" {
		t.Errorf("the first part has %q", got)
	}
	if got := strings.Join(names("far"), " "); got != "far listed sgi-cp" {
		t.Errorf("the other part has %q", got)
	}
	only := linked("sgi-cp", links[0].Spec)
	only.Parts = map[string]string{"near": ""}
	if got := applied(t, mustPlan(t, s, only), "NetworkAttachmentDefinition").Metadata.Annotations; got["vimbroker.io/part"] != "" {
		t.Errorf("the network of the only part names one: %v", got)
	}
}

// Annotations without any are left out: whoever adds one would have changed what is ours.
func TestAnnotationsWithoutAny(t *testing.T) {
	p := mustPlan(t, multus(t), input("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, annotations: {}}\n"))
	if text := p.Stages[0].Waves[0].Objects[0].Manifest.Reveal(); strings.Contains(text, "annotations") {
		t.Errorf("there is applied %s", text)
	}
}

// An object that names a part for which there is no VIM is nobody's, in an instance of one part too. No variable is put in.
func TestPartThatIsNot(t *testing.T) {
	s := multus(t)
	for text, says := range map[string]string{
		fmt.Sprintf(parted, "a", "other"):   "a.yaml:3: ConfigMap a is of part other, and vimConnectionInfo has no VIM of Kubernetes with that key",
		fmt.Sprintf(parted, "a", "${SITE}"): "is of part ${SITE}",
	} {
		in := input(text)
		in.Variables = map[string]string{"SITE": "near"}
		in.Parts = map[string]string{"near": "", "far": "far"}
		_, err := plan(t, s, in)
		if !errors.Is(err, broker.ErrInvalid) || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: the error is %v, want %q", text, err, says)
		}
	}
}

// The parts that objects name are read with the networks that their pods name; the order of waves names none.
func TestDivide(t *testing.T) {
	pod := func(part, networks string) string {
		return fmt.Sprintf("apiVersion: v1\nkind: Pod\nmetadata: {name: a, annotations: {vimbroker.io/part: %s, k8s.v1.cni.cncf.io/networks: '%s'}}\n", part, networks)
	}
	files := map[string]string{
		"Files/kubernetes/a.yaml":     strings.ReplaceAll(attachedPod, "NETWORKS", "sgi-cp") + "---\n" + pod("far", `[{"name":"n6-cp","namespace":"x"}]`),
		"Files/kubernetes/b.yaml":     pod("far", "x/sgi-cp@net1, other"),
		"Files/kubernetes/order.yaml": "waves:\n- {wave: 1, kind: Pod}\n",
	}
	source := lifecycle.Source{Paths: []string{"Files/kubernetes/a.yaml", "Files/kubernetes/b.yaml", "Files/kubernetes/order.yaml"}}
	source.Read = func(paths []string) (all []lifecycle.Manifest, err error) {
		for _, p := range paths {
			all = append(all, input(files[p]).Manifests[0])
		}
		all[len(all)-1].Path = "order.yaml"
		return all, nil
	}
	got, err := manifests.New().Divide(source)
	want := map[string]map[string]bool{"": {"sgi-cp": true}, "far": {"n6-cp": true, "sgi-cp": true, "other": true}}
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("it is divided into %v (%v), want %v", got, err, want)
	}
	files["Files/kubernetes/a.yaml"] = files["Files/kubernetes/b.yaml"]
	if got, err := manifests.New().Divide(source); err != nil || len(got) != 1 {
		t.Errorf("objects of one part are divided into %v (%v)", got, err)
	}
	source.Named = []string{"none.yaml"}
	if _, err := manifests.New().Divide(source); !errors.Is(err, broker.ErrInvalid) {
		t.Errorf("a file that is not there is divided: %v", err)
	}
}
