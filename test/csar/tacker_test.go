package csar_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/broker/api/sol003"
	"github.com/vimbroker/vimbroker/lifecycle"
	"github.com/vimbroker/vimbroker/test/csar"
	"github.com/vimbroker/vimbroker/test/doors"
)

// named are the manifests that requests name.
var named = []string{
	"Files/kubernetes/config.yaml", "Files/kubernetes/service_secret.yaml", "Files/kubernetes/deployment.yaml", "Files/kubernetes/pod.yaml",
}

func (r *rig) instantiate(vnfd string, how lifecycle.Instantiation) (string, lifecycle.Operation, error) {
	r.t.Helper()
	id := r.made(vnfd)
	how.VIM = "edge"
	o, err := r.Instantiate(r.t.Context(), alice, id, how)
	return id, o, err
}

// TestTackersPackage: a package as Tacker's users have it runs as it is.
func TestTackersPackage(t *testing.T) {
	r := newRig(t)
	r.upload(csar.Tacker())

	id, o, err := r.instantiate(csar.TackerVNFD, lifecycle.Instantiation{Flavour: "simple", Namespace: "edge", Files: named})
	r.ends(lifecycle.Completed, o, err)
	const all = "deployments/edge-web configmaps/edge-pages pods/edge-probe secrets/edge-login services/edge-web"
	if got := r.names("edge"); !sameWords(got, all) {
		t.Errorf("in namespace edge there is %s, want %s", got, all)
	}
	if got := r.names("default"); got != "" {
		t.Errorf("in namespace default there is %s", got)
	}
	if n := r.pods("edge", "edge-web"); n != 1 {
		t.Errorf("level_1 has %d web servers, want 1: the level decides, and not the manifest", n)
	}

	o, err = r.Scale(t.Context(), alice, id, lifecycle.Scaling{Aspect: "web_aspect", Steps: 2})
	r.ends(lifecycle.Completed, o, err)
	if n := r.pods("edge", "edge-web"); n != 3 {
		t.Errorf("scaled out by two there are %d web servers, want 3", n)
	}
	if _, err := r.Scale(t.Context(), alice, id, lifecycle.Scaling{Aspect: "web_aspect", Steps: 1}); !errors.Is(err, broker.ErrInvalid) {
		t.Errorf("scaling beyond the level: %v", err)
	}
	i, err := r.Instance(t.Context(), alice, id)
	if err != nil || len(i.Shape.VNFCs) != 4 {
		t.Errorf("the instance has the VNFCs %+v, %v, want 3 web servers and the probe", i.Shape.VNFCs, err)
	}
	for _, c := range i.Shape.VNFCs {
		if vdu := map[bool]string{true: "edge-probe", false: "edge-web"}[c.Name == "edge-probe"]; c.VDU != vdu {
			t.Errorf("%s is a VNFC of %s, want %s", c.Name, c.VDU, vdu)
		}
	}

	o, err = r.Terminate(t.Context(), alice, id, nil)
	r.ends(lifecycle.Completed, o, err)
	if got := r.names("edge"); got != "" || r.pods("edge", "edge-web") != 0 {
		t.Errorf("after terminate there is %s", got)
	}
	if strings.Contains(r.log.String(), "Y2FuYXJ5") {
		t.Error("the log has the package's secret")
	}
}

func sameWords(a, b string) bool {
	count := map[string]int{}
	for _, w := range strings.Fields(a) {
		count[w]++
	}
	for _, w := range strings.Fields(b) {
		count[w]--
	}
	for _, n := range count {
		if n != 0 {
			return false
		}
	}
	return true
}

// TestTackersLevelsAndFlavours: what the descriptor says decides on the number of instances.
func TestTackersLevelsAndFlavours(t *testing.T) {
	r := newRig(t)
	r.upload(csar.Tacker())
	web := []string{"Files/kubernetes/deployment.yaml"}
	for _, c := range []struct {
		flavour, level string
		want, scaled   int
	}{
		{"simple", "level_1", 1, 2},
		{"simple", "level_2", 3, 0},
		{"complex", "", 1, 3},
	} {
		id, o, err := r.instantiate(csar.TackerVNFD, lifecycle.Instantiation{Flavour: c.flavour, Level: c.level, Files: web})
		r.ends(lifecycle.Completed, o, err)
		if n := r.pods("default", "edge-web"); n != c.want {
			t.Errorf("%s %s has %d instances, want %d", c.flavour, c.level, n, c.want)
		}
		if c.scaled > 0 {
			o, err = r.Scale(t.Context(), alice, id, lifecycle.Scaling{Aspect: "web_aspect", Steps: 1})
			r.ends(lifecycle.Completed, o, err)
			if n := r.pods("default", "edge-web"); n != c.scaled {
				t.Errorf("%s %s scaled out has %d instances, want %d", c.flavour, c.level, n, c.scaled)
			}
		}
		o, err = r.Terminate(t.Context(), alice, id, nil)
		r.ends(lifecycle.Completed, o, err)
	}
	for _, how := range []lifecycle.Instantiation{{Flavour: "vdumap"}, {Flavour: "simple", Level: "level_3"}} {
		if _, _, err := r.instantiate(csar.TackerVNFD, how); !errors.Is(err, broker.ErrInvalid) {
			t.Errorf("%+v: %v, want what is invalid", how, err)
		}
	}
}

// TestTackersPackagesThatDoNotRun: each is refused with its reason, before anything is made.
func TestTackersPackagesThatDoNotRun(t *testing.T) {
	r := newRig(t)
	simple := csar.Tacker()["Definitions/edge_df_simple.yaml"]
	for id, c := range map[string]struct {
		more  csar.Files
		files []string
		want  string
	}{
		"scripted": {csar.Files{"Definitions/edge_df_simple.yaml": strings.Replace(simple, "instantiate_start: noop",
			"instantiate_end: {implementation: mgmt-driver}", 1)}, named, "instantiate_end"},
		"chart in files":   {csar.Files{"Files/kubernetes/web/Chart.yaml": "name: web", "Files/kubernetes/web/templates/web.yaml": "{{ . }}"}, nil, "name the chart"},
		"chart named":      {csar.Files{"Files/kubernetes/web-0.1.0.tgz": "\x1f\x8b"}, []string{"Files/kubernetes/web-0.1.0.tgz"}, "no chart that Helm can read"},
		"missing":          {nil, []string{"Files/kubernetes/none.yaml"}, "not in the package"},
		"elsewhere":        {nil, []string{"http://example.org/deployment.yaml"}, "not in the package"},
		"answer":           {nil, []string{"Files/kubernetes/token-review.yaml"}, "TokenReview"},
		"two namespaces":   {csar.Files{"Files/kubernetes/pod.yaml": strings.Replace(csar.Tacker()["Files/kubernetes/pod.yaml"], "namespace: default", "namespace: other", 1)}, named, "it reaches: cluster"},
		"bound to default": {csar.Files{"Files/kubernetes/pod.yaml": bound}, named, "subject"},
	} {
		t.Run(id, func(t *testing.T) {
			if err := r.tryUpload(csar.Tacker().As(id).With(c.more)); err != nil {
				t.Fatal(err)
			}
			i, err := r.CreateInstance(t.Context(), alice, lifecycle.NewInstance{VNFDID: id})
			var o lifecycle.Operation
			if err == nil {
				o, err = r.Instantiate(t.Context(), alice, i.ID, lifecycle.Instantiation{Flavour: "simple", VIM: "edge", Namespace: "edge", Files: c.files})
			}
			got := ""
			if err != nil {
				got = err.Error()
			} else if o = r.ends(lifecycle.RolledBack, o, nil); o.Failure != nil {
				got = o.Failure.Detail
			}
			if !strings.Contains(got, c.want) {
				t.Errorf("the reason is %q, want %q in it", got, c.want)
			}
			if calls := r.cluster.Calls(); len(calls) > 0 {
				t.Errorf("the cluster was changed: %v", calls)
			}
		})
	}
}

// bound binds an account of the package by the namespace that its manifests name.
const bound = `
apiVersion: v1
kind: ServiceAccount
metadata: {name: edge, namespace: default}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: edge, namespace: default}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: edge}
subjects:
- {kind: ServiceAccount, name: edge, namespace: default}
`

// TestAPackageIsOrderedByTheRequest: also one that is signed, and is not to be changed.
func TestAPackageIsOrderedByTheRequest(t *testing.T) {
	r := newRig(t)
	c := r.doors()
	r.upload(csar.Tacker())
	one := lcm + "/vnf_instances/" + r.made(csar.TackerVNFD)
	ordered := func(order, path string) (*http.Response, string) {
		return c.Ask("POST", one+"/instantiate"+path,
			`{"flavourId":"simple","vimConnectionInfo":{"vim":{"vimId":"edge"}},"additionalParams":{"namespace":"edge","lcm-kubernetes-def-files":["`+strings.Join(named, `","`)+`"],"order":`+order+`}}`)
	}
	for order, says := range map[string]string{
		`[{"wave":1,"kind":"Job"}]`:            "rule 1 is about no object",
		`[{"wave":1}]`:                         "rule 1 needs a kind",
		`[{"wave":40000,"kind":"Service"}]`:    "rule 1 needs a wave from",
		`[{"wave":1,"kind":"Pod","label":""}]`: "rule 1 has a member that is none of",
	} {
		if answer, text := ordered(order, "?"+sol003.DryRun); answer.StatusCode != http.StatusUnprocessableEntity && answer.StatusCode != http.StatusBadRequest || !strings.Contains(text, says) {
			t.Errorf("%s: %d %s, want %q", order, answer.StatusCode, text, says)
		}
	}
	answer, text := ordered(`[{"wave":1,"kind":"Deployment"}]`, "")
	if answer.StatusCode != http.StatusAccepted {
		t.Fatal(answer.StatusCode, text)
	}
	o, err := r.Operation(t.Context(), alice, base(answer.Header.Get("Location")))
	o = r.ends(lifecycle.Completed, o, err)
	i, err := r.Instance(t.Context(), alice, o.Instance)
	if err != nil {
		t.Fatal(err)
	}
	wave := map[string]int{}
	for _, made := range i.Shape.Resources {
		wave[made.Kind] = made.Wave
	}
	if wave["Deployment"] <= wave["Pod"] {
		t.Errorf("the waves are %v, want the Deployment after the Pod", wave)
	}
}

// storages does a task of an instance, and answers with the storages that it has changed, and those that there are.
func (r *rig) storages(c *doors.Client, one, task, body string) (changed, all []string) {
	r.t.Helper()
	answer, text := c.Ask("POST", one+task, body)
	if answer.StatusCode != http.StatusAccepted {
		r.t.Fatal(answer.StatusCode, text)
	}
	path := strings.TrimPrefix(answer.Header.Get("Location"), c.URL)
	begun, err := r.Operation(r.t.Context(), alice, base(path))
	r.ends(lifecycle.Completed, begun, err)
	var o sol003.OpOcc
	_, text = c.Ask("GET", path, "")
	if err := json.Unmarshal([]byte(text), &o); err != nil {
		r.t.Fatal(err)
	}
	if o.Resources != nil {
		for _, s := range o.Resources.Storages {
			changed = append(changed, s.ChangeType+" "+s.DescID)
		}
	}
	_, text = c.Ask("GET", one, "")
	var shown sol003.VNFInstance
	if err := json.Unmarshal([]byte(text), &shown); err != nil {
		r.t.Fatal(err)
	}
	if shown.Instantiated != nil {
		for _, s := range shown.Instantiated.Storages {
			if s.ID == "" || s.Storage.VIMConnectionID != "vim" {
				r.t.Errorf("storage %+v is nowhere", s)
			}
			all = append(all, s.Storage.Type+" "+s.DescID)
		}
	}
	slices.Sort(changed)
	return changed, all
}

// TestClaimsAreStorage: the claims of a package are the storages of its instance, and changes of an operation.
func TestClaimsAreStorage(t *testing.T) {
	r := newRig(t)
	c := r.doors()
	const file = "Files/kubernetes/claim.yaml"
	r.upload(csar.Tacker().With(csar.Files{file: "apiVersion: v1\nkind: PersistentVolumeClaim\nmetadata: {name: data}\n" +
		"spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}\n"}))
	one := lcm + "/vnf_instances/" + r.made(csar.TackerVNFD)
	for _, step := range []struct{ task, body, changed, all string }{
		{"/instantiate", `{"flavourId":"complex","vimConnectionInfo":{"vim":{"vimId":"edge"}},
			"additionalParams":{"namespace":"edge","lcm-kubernetes-def-files":["Files/kubernetes/deployment.yaml","` + file + `"]}}`, "[ADDED data]", "[PersistentVolumeClaim data]"},
		{"/scale", `{"type":"SCALE_OUT","aspectId":"web_aspect","numberOfSteps":1}`, "[]", "[PersistentVolumeClaim data]"},
		{"/heal", "{}", "[]", "[PersistentVolumeClaim data]"},
		{"/terminate", `{"terminationType":"FORCEFUL"}`, "[REMOVED data]", "[]"},
	} {
		if changed, all := r.storages(c, one, step.task, step.body); fmt.Sprint(changed) != step.changed || fmt.Sprint(all) != step.all {
			t.Errorf("%s has changed %v, and there are %v, want %s and %s", step.task, changed, all, step.changed, step.all)
		}
	}
}

// TestVolumesOfAStackAreStorage: so are the volumes of a stack and of its nested ones, as they come and go with a scale.
func TestVolumesOfAStackAreStorage(t *testing.T) {
	const volume = ":\n    type: OS::Cinder::Volume\n    properties: {size: 1}\n"
	r := newRig(t)
	c := r.doors()
	vnf := csar.TackerServers()
	const top, nested = "BaseHOT/simple/sample.yaml", "BaseHOT/simple/nested/VDU1.yaml"
	vnf[top] = strings.Replace(vnf[top], "\noutputs: {}", "\n  shared:\n    type: OS::Heat::ResourceGroup\n    properties: {count: 1, resource_def: {type: OS::Cinder::Volume}}\noutputs: {}", 1)
	vnf[nested] += "\n  VDU1-VirtualStorage" + volume
	r.upload(vnf)
	one := lcm + "/vnf_instances/" + r.made(csar.TackerServersVNFD)
	const data, shared = "OS::Cinder::Volume VDU1-VirtualStorage", "OS::Cinder::Volume shared"
	for _, step := range []struct{ task, body, changed, all string }{
		{
			"/instantiate", `{"flavourId":"simple","vimConnectionInfo":{"vim":{"vimId":"cloud","vimType":"ETSINFV.OPENSTACK_KEYSTONE.V_3"}},
				"additionalParams":{"nfv":{"CP":{"VDU1_CP1":{"network":"net0"}}}}}`,
			"[ADDED VDU1-VirtualStorage ADDED shared]", "[" + data + " " + shared + "]",
		},
		{
			"/scale", `{"type":"SCALE_OUT","aspectId":"VDU1_scale","numberOfSteps":1}`,
			"[ADDED VDU1-VirtualStorage]", "[" + data + " " + data + " " + shared + "]",
		},
		{"/heal", "{}", "[]", "[" + data + " " + data + " " + shared + "]"},
		{
			"/scale", `{"type":"SCALE_IN","aspectId":"VDU1_scale","numberOfSteps":1}`,
			"[REMOVED VDU1-VirtualStorage]", "[" + data + " " + shared + "]",
		},
		{"/terminate", `{"terminationType":"FORCEFUL"}`, "[REMOVED VDU1-VirtualStorage REMOVED shared]", "[]"},
	} {
		if changed, all := r.storages(c, one, step.task, step.body); fmt.Sprint(changed) != step.changed || fmt.Sprint(all) != step.all {
			t.Errorf("%s has changed %v, and there are %v, want %s and %s", step.task, changed, all, step.changed, step.all)
		}
	}
}
