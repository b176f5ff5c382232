package helm

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"sync"
	"testing"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/broker/secret"
	"github.com/vimbroker/vimbroker/drivers/helm/chart"
	"github.com/vimbroker/vimbroker/drivers/manifests"
	"github.com/vimbroker/vimbroker/lifecycle"
	"github.com/vimbroker/vimbroker/lifecycle/vnfpkg"
	"github.com/vimbroker/vimbroker/test/fakeobjects"
	"github.com/vimbroker/vimbroker/test/golden"
)

const (
	vnf   = "11111111-2222-4333-8444-555555555555"
	mine  = "mark-of-this"
	older = "mark-of-before"
)

// revision is a record of the release on the cluster.
type revision struct {
	version            int
	status, mark       string
	owner              string // of its label
	manifest, chart    string
	hooks, definitions string // JSON
	config             string
	broken             string // instead of all
	undated            bool   // it does not say when the first was deployed
}

func (r revision) put(t *testing.T, s *fakeobjects.Server, in lifecycle.PlanInput) {
	t.Helper()
	body := map[string]json.RawMessage{"version": json.RawMessage(fmt.Sprint(r.version)), "manifest": quoted(r.manifest), "name": quoted("vnf111111112222")}
	for key, text := range map[string]string{"hooks": r.hooks, definitionsKey: r.definitions, "chart": r.chart, "config": r.config} {
		if text != "" {
			body[key] = json.RawMessage(text)
		}
	}
	one := record{body: body, info: map[string]json.RawMessage{"status": quoted(r.status), "description": quoted("was " + r.status), "first_deployed": quoted(fmt.Sprint("first-", r.version))}}
	if r.undated {
		delete(one.info, "first_deployed")
	}
	value, err := one.packed(false)
	if err != nil {
		t.Fatal(err)
	}
	if r.broken != "" {
		value = r.broken
	}
	labels := map[string]any{}
	if r.owner != "" {
		labels["vimbroker.io/instance"] = r.owner
	}
	if r.mark != "" {
		labels[markLabel] = r.mark
	}
	s.Put("/api/v1/namespaces/cnf/secrets/"+recordName(in, r.version), map[string]any{
		"apiVersion": "v1", "kind": "Secret", "data": map[string][]byte{"release": []byte(value)}, "metadata": map[string]any{"name": recordName(in, r.version), "namespace": "cnf", "labels": labels},
	})
}

// steps are a plan on a few lines: each wave with its objects, of records what they say, and what the instance then has.
func steps(t *testing.T, p lifecycle.Plan, err error) string {
	t.Helper()
	if e, is := errors.AsType[*broker.Error](err); is {
		return fmt.Sprintf("%v\n  field %q\n  %s\n  %s\n", e.Kind, e.Field, e.Detail, e.Remedy)
	} else if err != nil {
		return "other: " + err.Error() + "\n"
	}
	var b strings.Builder
	for _, s := range p.Stages {
		for _, w := range s.Waves {
			fmt.Fprintf(&b, "%s in %q\n", w.Deed, s.Grant.Namespaces)
			for _, v := range w.VNFCs {
				fmt.Fprintf(&b, "  of pod %s\n", v.Name)
			}
			for _, o := range w.Objects {
				fmt.Fprintf(&b, "  %s %s vdu %q release %q%s\n", o.Kind, o.Name, o.VDU, o.Release, said(t, o))
			}
		}
	}
	for _, r := range p.Resources {
		fmt.Fprintf(&b, "has %s %s wave %d outlives %t\n", r.Kind, r.Name, r.Wave, r.Outlives)
	}
	return b.String()
}

// said is what an object says: of a record its state.
func said(t *testing.T, o lifecycle.Object) string {
	t.Helper()
	if o.Manifest.Empty() {
		return ""
	}
	if o.Kind != "Secret" || o.Group != "" || !strings.HasPrefix(o.Name, recordPrefix) {
		return " " + o.Manifest.Reveal()
	}
	var s struct {
		Metadata struct{ Labels map[string]string }
		Data     map[string][]byte
	}
	if err := json.Unmarshal([]byte(o.Manifest.Reveal()), &s); err != nil {
		t.Fatal(err)
	}
	r, err := decode(&manifests.StoredSecret{Labels: s.Metadata.Labels, Data: s.Data})
	if err != nil {
		t.Fatal(err)
	}
	_, stamped := r.info["last_deployed"]
	return fmt.Sprintf(" revision %d %s %q mark %q labels %s %s first %s back to %s definitions %d %t manifest %q stamped %t", r.version, r.status(), r.text(r.info, "description"), r.mark,
		s.Metadata.Labels["status"], s.Metadata.Labels["version"], r.info["first_deployed"], r.info["rollback_revision"], len(r.definitions), r.defined, r.text(r.body, "manifest"), stamped)
}

func configMap(name string) string {
	return `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"` + name + `"}}`
}

func hookOf(name, event, policies string, more ...string) string {
	return fmt.Sprintf(`{"name":%q,"kind":"ConfigMap","path":%q,"manifest":%q,"events":[%q],"weight":%d,"delete_policies":[%s]}`,
		name, "templates/"+name+"\n.yaml", configMap(name)+strings.Join(more, ""), event, len(name), policies)
}

func answer(objects ...string) chart.Rendering {
	var a chart.Rendering
	for i, o := range objects {
		a.Objects = append(a.Objects, chart.ChartFile{Path: fmt.Sprintf("templates/%d.yaml", i), Text: []byte(o)})
	}
	a.Release = json.RawMessage(`{"info":{"status":"unknown"},"chart":{"metadata":{"name":"web","version":"1.0.0"}},"hooks":[` + hookOf("pre", "pre-install", `"before-hook-creation"`) + "," + hookOf("post", "post-install", `"hook-succeeded"`) + "," +
		hookOf("preup", "pre-upgrade", "") + "," + hookOf("probe", "test", "") + `]}`)
	return a
}

// defining is an answer with a definition.
func defining(objects ...string) chart.Rendering {
	a := answer(objects...)
	a.Definitions = []chart.ChartFile{{Path: "crds/x.yaml", Text: []byte(`{"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition","metadata":{"name":"xs.x.example"},` +
		`"spec":{"group":"x.example","scope":"Namespaced","names":{"kind":"X","plural":"xs"},"versions":[{"name":"v1","served":true,"storage":true}]}}`)}}
	return a
}

func standing(kind, plural, name string) lifecycle.Resource {
	return lifecycle.Resource{Version: "v1", Kind: kind, Plural: plural, Namespace: "cnf", Name: name, UID: "uid-" + name}
}

// stands are what instances consist of: objects, and records of revisions.
func stands(names string, versions ...int) func(*lifecycle.PlanInput) {
	return func(in *lifecycle.PlanInput) {
		for _, name := range strings.Fields(names) {
			in.Standing = append(in.Standing, standing("ConfigMap", "configmaps", name))
		}
		for _, v := range versions {
			in.Standing = append(in.Standing, standing("Secret", "secrets", recordName(*in, v)))
		}
	}
}

func does(op lifecycle.OperationType, more ...func(*lifecycle.PlanInput)) func(*lifecycle.PlanInput) {
	return func(in *lifecycle.PlanInput) {
		in.Operation = op
		for _, change := range more {
			change(in)
		}
	}
}

func given(parameters string) func(*lifecycle.PlanInput) {
	return func(in *lifecycle.PlanInput) { in.Parameters = json.RawMessage(parameters) }
}

func undoing(mark string) func(*lifecycle.PlanInput) {
	return func(in *lifecycle.PlanInput) { in.Undone = mark }
}

const secretOf = `{"apiVersion":"v1","kind":"Secret","metadata":{"name":"login"},"data":{"a":"VALUE","tls.crt":"VALUE2"}}`

// releases are small releases with requests. Each differs from another in what only a whole plan shows.
var releases = []struct {
	name      string
	in        func(*lifecycle.PlanInput)
	revisions []revision
	answers   []chart.Rendering
}{
	{"INSTANTIATE", does(lifecycle.Instantiate), nil, []chart.Rendering{answer(configMap("a"), configMap("b"))}},
	{"INSTANTIATE again, of this attempt", does(lifecycle.Instantiate, stands("", 1)), []revision{{version: 1, status: pendingInstall, mark: mine, owner: vnf, manifest: configMap("kept"), definitions: "[]"}}, []chart.Rendering{answer(configMap("a"))}},
	{"INSTANTIATE again, definitions unknown", does(lifecycle.Instantiate, stands("", 1)), []revision{{version: 1, status: pendingInstall, mark: mine, owner: vnf, manifest: configMap("kept")}}, []chart.Rendering{answer(configMap("a"))}},
	{"INSTANTIATE over a release of nobody", does(lifecycle.Instantiate), []revision{{version: 1, status: deployed}}, []chart.Rendering{answer(configMap("a"))}},
	{"INSTANTIATE beside another instance", does(lifecycle.Instantiate), []revision{{version: 1, status: deployed, owner: "j"}}, []chart.Rendering{answer(configMap("a"))}},
	{"a chart with a fault", does(lifecycle.Instantiate), nil, []chart.Rendering{{Fault: "is none"}}},
	{"a chart of no release", does(lifecycle.Instantiate), nil, []chart.Rendering{{Release: json.RawMessage("[]")}}},
	{"a release without info", does(lifecycle.Instantiate), nil, []chart.Rendering{{Release: json.RawMessage(`{"info":[]}`)}}},
	{"a chart that gives a record", does(lifecycle.Instantiate), nil, []chart.Rendering{answer(strings.Replace(secretOf, "login", recordPrefix+"x.v1", 1))}},
	{"a chart that gives a map of that name", does(lifecycle.Instantiate), nil, []chart.Rendering{answer(configMap(recordPrefix + "x.v1"))}},
	{"a chart with hooks that are none", does(lifecycle.Instantiate), nil, []chart.Rendering{{Release: json.RawMessage(`{"info":{"status":"x"},"hooks":[7]}`), Objects: answer(configMap("a")).Objects}}},
	{"a chart with a hook of no form", does(lifecycle.Instantiate), nil, []chart.Rendering{{Release: json.RawMessage(`{"info":{"status":"x"},"hooks":[{"name":"h","manifest":"kind: X","events":["pre-delete"]}]}`), Objects: answer(configMap("a")).Objects}}},
	{"a chart with a hook of no kind", does(lifecycle.Instantiate), nil, []chart.Rendering{{Release: json.RawMessage(`{"info":{"status":"x"},"hooks":[{"name":"h","manifest":"{\"apiVersion\":\"x/v1\",\"kind\":\"X\",\"metadata\":{\"name\":\"x\"}}","events":["pre-delete"]}]}`), Objects: answer(configMap("a")).Objects}}},
	{"a chart with nothing that stands", does(lifecycle.Instantiate), nil, []chart.Rendering{answer("kind: X")}},
	{"definitions with a fault", does(lifecycle.Instantiate), nil, []chart.Rendering{{Release: answer().Release, Objects: answer(configMap("a")).Objects, Definitions: []chart.ChartFile{{Path: "crds/a", Text: []byte("kind: X")}}}}},
	{"lookups without end", does(lifecycle.ChangePackage, stands("a b c d", 1)), []revision{{version: 1, status: deployed, mark: older, owner: vnf}}, []chart.Rendering{
		{Asked: []chart.Lookup{{APIVersion: "v1", Kind: "ConfigMap", Name: "a"}}}, {Asked: []chart.Lookup{{APIVersion: "v1", Kind: "ConfigMap", Name: "b", Namespace: "cnf"}}}, {Asked: []chart.Lookup{{APIVersion: "v1", Kind: "ConfigMap", Name: "c"}}}, {Asked: []chart.Lookup{{APIVersion: "v1", Kind: "ConfigMap", Name: "d"}}},
	}},
	{"lookups of what is not there", does(lifecycle.ChangePackage, stands("a", 1)), []revision{{version: 1, status: deployed, mark: older, owner: vnf}}, []chart.Rendering{func() chart.Rendering {
		r := answer(configMap("a"))
		r.Asked = []chart.Lookup{{APIVersion: "v2", Kind: "ConfigMap", Name: "a"}, {APIVersion: "v1", Kind: "Secret", Name: "a"}, {APIVersion: "v1", Kind: "ConfigMap", Name: "a", Namespace: "ns"}, {APIVersion: "v1", Kind: "ConfigMap", Name: "x"}}
		return r
	}(), answer(configMap("wrong"))}},
	{"parameters that are none", does(lifecycle.Instantiate, given(`{"helm_parameters":7}`)), nil, nil},
	{"a list for one value", does(lifecycle.Instantiate, given(`{"helm_parameters":{"a":[1]}}`)), nil, nil},
	{"an object for one value", does(lifecycle.Instantiate, given(`{"helm_parameters":{"a":{}}}`)), nil, nil},
	{"two charts", does(lifecycle.Instantiate, func(in *lifecycle.PlanInput) { in.Manifests = nil }), nil, nil},
	{"CHANGE_VNFPKG", does(lifecycle.ChangePackage, stands("a gone", 1)), []revision{{version: 1, status: deployed, mark: older, owner: vnf, manifest: configMap("a")}}, []chart.Rendering{answer(configMap("a"), configMap("new"))}},
	{"CHANGE_VNFPKG of what Helm made", does(lifecycle.ChangePackage, stands("a", 1)), []revision{{version: 1, status: superseded, mark: older, owner: vnf}, {version: 2, status: deployed, mark: older, owner: vnf, hooks: "[" + hookOf("preup", "pre-upgrade", "") + "]"}}, []chart.Rendering{answer(configMap("a"))}},
	{"CHANGE_VNFPKG of what never stood", does(lifecycle.ChangePackage, stands("a", 1)), []revision{{version: 1, status: failed, mark: older, owner: vnf}}, []chart.Rendering{answer(configMap("a"))}},
	{"somebody is at it", does(lifecycle.ChangePackage, stands("a", 1)), []revision{{version: 1, status: deployed, mark: older, owner: vnf}, {version: 2, status: pendingUpgrade, mark: older, owner: vnf}}, nil},
	{"an attempt before is at it", does(lifecycle.ChangePackage, stands("a", 1, 2)), []revision{{version: 1, status: deployed, mark: older, owner: vnf}, {version: 2, status: pendingUpgrade, mark: "another", owner: vnf}}, []chart.Rendering{answer(configMap("a"))}},
	{"revisions of before", does(lifecycle.ChangePackage, stands("a", 1, 2, 11, 12)), []revision{{version: 1, status: deployed, mark: "m1", owner: vnf}, {version: 2, status: deployed, mark: "m2", owner: vnf}, {version: 3, status: deployed, mark: "m3", owner: vnf}, {version: 11, status: failed, mark: "m11", owner: vnf}, {version: 12, status: failed, mark: "m12", owner: vnf}}, []chart.Rendering{answer(configMap("a"))}},
	{"a revision superseded last", does(lifecycle.ChangePackage, stands("a", 1, 2)), []revision{{version: 1, status: superseded, mark: "m1", owner: vnf}, {version: 2, status: superseded, mark: "m2", owner: vnf}}, []chart.Rendering{answer(configMap("a"))}},
	{"what outlives", does(lifecycle.ChangePackage, stands("a kept", 1), func(in *lifecycle.PlanInput) { in.Standing[1].Outlives = true }), []revision{{version: 1, status: deployed, mark: older, owner: vnf}}, []chart.Rendering{answer(configMap("a"))}},
	{"a record that is broken", does(lifecycle.ChangePackage, stands("a", 1)), []revision{{version: 1, owner: vnf, broken: "*"}}, nil},
	{"a record of nobody that is broken", does(lifecycle.ChangePackage, stands("a", 1)), []revision{{version: 1, broken: "*"}}, []chart.Rendering{answer(configMap("a"))}},
	{"a rollback", does(lifecycle.ChangePackage, undoing(older), stands("a", 1, 2)), []revision{{version: 1, status: superseded, mark: "first", owner: vnf, manifest: configMap("was")}, {version: 2, status: deployed, mark: older, owner: vnf, manifest: configMap("a"), hooks: "[" + hookOf("passed", "post-upgrade", `"hook-succeeded"`) + "," + hookOf("stays", "post-upgrade", "") + "]"}}, nil},
	{"a rollback to what failed", does(lifecycle.ChangePackage, undoing(older), stands("a", 1, 2)), []revision{{version: 1, status: failed, mark: "first", owner: vnf, manifest: configMap("was")}, {version: 2, status: deployed, mark: older, owner: vnf, manifest: configMap("a")}}, []chart.Rendering{answer(configMap("a"))}},
	{"a rollback, resumed", does(lifecycle.ChangePackage, undoing(older), stands("a", 1, 2, 3)), []revision{{version: 1, status: superseded, mark: "first", owner: vnf, manifest: configMap("was")}, {version: 2, status: deployed, mark: older, owner: vnf, manifest: configMap("a")}, {version: 3, status: pendingRollback, mark: mine, owner: vnf, manifest: configMap("was")}}, nil},
	{"a rollback that stands, resumed", does(lifecycle.ChangePackage, undoing(older), stands("a", 1, 2, 3)), []revision{{version: 1, status: superseded, mark: "first", owner: vnf, manifest: configMap("was")}, {version: 2, status: superseded, mark: older, owner: vnf, manifest: configMap("a")}, {version: 3, status: deployed, mark: mine, owner: vnf, manifest: configMap("was")}}, nil},
	{"SCALE by a value", does(lifecycle.ScaleVNF, stands("a", 1), given(`{"helm_value_names":{"VDU1":{"replica":"n"},"x":{}}}`), func(in *lifecycle.PlanInput) { in.Scaled, in.Replicas = []string{"web"}, map[string]int32{"web": 2} }), []revision{{version: 1, status: deployed, mark: older, owner: vnf, chart: `{"metadata":{"name":"web","version":"1.0.0"}}`}}, []chart.Rendering{answer(configMap("a"))}},
	{"SCALE by a workload", does(lifecycle.ScaleVNF, stands("a", 1), func(in *lifecycle.PlanInput) { in.Scaled, in.Replicas = []string{"web"}, map[string]int32{"web": 2} }), []revision{{version: 1, status: deployed, mark: older, owner: vnf}}, []chart.Rendering{answer(`{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"web"},"spec":{"replicas":1}}`)}},
	{"SCALE by nothing", does(lifecycle.ScaleVNF, stands("a", 1), func(in *lifecycle.PlanInput) { in.Scaled = []string{"web"} }), []revision{{version: 1, status: deployed, mark: older, owner: vnf}}, []chart.Rendering{answer(configMap("a"))}},
	{"SCALE to another chart", does(lifecycle.ScaleVNF, stands("a", 1)), []revision{{version: 1, status: deployed, mark: older, owner: vnf, chart: `{"metadata":{"name":"web","version":"2.0.0"}}`}}, []chart.Rendering{answer(configMap("a"))}},
	{"SCALE to no chart", does(lifecycle.ScaleVNF, stands("a", 1)), []revision{{version: 1, status: deployed, mark: older, owner: vnf, chart: `{"metadata":{"name":"web","version":"2.0.0"}}`}}, []chart.Rendering{{Release: json.RawMessage("[]")}}},
	{"a Secret that changes", does(lifecycle.ChangePackage, stands("", 1), func(in *lifecycle.PlanInput) {
		in.Standing = append(in.Standing, standing("Secret", "secrets", "login"))
	}), []revision{{version: 1, status: deployed, mark: older, owner: vnf}}, []chart.Rendering{answer(secretOf), answer(strings.Replace(secretOf, "VALUE", "OTHER", 1))}},
	{"a Secret that may change", does(lifecycle.ChangePackage, stands("", 1), given(`{"helm_new_secrets":true}`), func(in *lifecycle.PlanInput) {
		in.Standing = append(in.Standing, standing("Secret", "secrets", "login"))
	}), []revision{{version: 1, status: deployed, mark: older, owner: vnf}}, []chart.Rendering{answer(secretOf), answer(strings.Replace(secretOf, "VALUE", "OTHER", 1))}},
	{"a certificate that changes", does(lifecycle.ChangePackage, stands("", 1), func(in *lifecycle.PlanInput) {
		in.Standing = append(in.Standing, standing("Secret", "secrets", "login"))
	}), []revision{{version: 1, status: deployed, mark: older, owner: vnf}}, []chart.Rendering{answer(secretOf), answer(strings.Replace(secretOf, "VALUE2", "OTHER", 1))}},
	{"a Secret for TLS that changes", does(lifecycle.ChangePackage, stands("", 1), func(in *lifecycle.PlanInput) {
		in.Standing = append(in.Standing, standing("Secret", "secrets", "login"))
	}), []revision{{version: 1, status: deployed, mark: older, owner: vnf}}, []chart.Rendering{answer(strings.Replace(secretOf, `"kind"`, `"type":"kubernetes.io/tls","kind"`, 1)), answer(strings.Replace(strings.Replace(secretOf, `"kind"`, `"type":"kubernetes.io/tls","kind"`, 1), "VALUE", "OTHER", 1))}},
	{"a new Secret that changes", does(lifecycle.ChangePackage, stands("", 1)), []revision{{version: 1, status: deployed, mark: older, owner: vnf}}, []chart.Rendering{answer(secretOf), answer(strings.Replace(secretOf, "VALUE", "OTHER", 1))}},
	{"a Secret whose chart fails then", does(lifecycle.ChangePackage, stands("", 1), func(in *lifecycle.PlanInput) {
		in.Standing = append(in.Standing, standing("Secret", "secrets", "login"))
	}), []revision{{version: 1, status: deployed, mark: older, owner: vnf}}, []chart.Rendering{answer(secretOf), {Fault: "is none now"}}},
	{"HEAL", does(lifecycle.Heal, stands("a h left", 1)), []revision{{version: 1, status: deployed, mark: older, owner: vnf, manifest: configMap("a"), hooks: "[" + hookOf("h", "post-install", "") + "]"}}, nil},
	{"HEAL of a pod", does(lifecycle.Heal, stands("", 1), func(in *lifecycle.PlanInput) {
		in.Replicas, in.VNFCs = map[string]int32{"web": 1}, []lifecycle.VNFC{{VDU: "web", Kind: "Pod", Namespace: "cnf", Name: "web-1"}}
	}), []revision{{version: 1, status: deployed, mark: older, owner: vnf, manifest: `{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"web"},"spec":{}}`}}, nil},
	{"HEAL of a pod of nobody", does(lifecycle.Heal, stands("", 1), func(in *lifecycle.PlanInput) {
		in.VNFCs = []lifecycle.VNFC{{VDU: "web", Kind: "Pod", Namespace: "cnf", Name: "web-1"}}
	}), []revision{{version: 1, status: deployed, mark: older, owner: vnf, manifest: configMap("a")}}, nil},
	{"HEAL without its record", does(lifecycle.Heal, stands("a", 1, 2)), []revision{{version: 1, status: deployed, mark: older, owner: vnf, manifest: configMap("a")}}, []chart.Rendering{answer(configMap("a"))}},
	{"HEAL without any record", does(lifecycle.Heal, stands("a", 1)), nil, []chart.Rendering{answer(configMap("a"))}},
	{"HEAL, resumed", does(lifecycle.Heal, stands("a", 1, 2)), []revision{{version: 1, status: deployed, mark: older, owner: vnf, manifest: configMap("a")}, {version: 2, status: pendingUpgrade, mark: mine, owner: vnf, manifest: configMap("a"), definitions: "[]"}}, nil},
	{"HEAL of a broken release", does(lifecycle.Heal, stands("a", 1)), []revision{{version: 1, status: deployed, mark: older, owner: vnf, manifest: "kind: X"}}, nil},
	{"tests", does(lifecycle.Heal, stands("a", 1), func(in *lifecycle.PlanInput) { in.Tests = true }), []revision{{version: 1, status: deployed, mark: older, owner: vnf, manifest: configMap("a"), hooks: "[" + hookOf("probe", "test", `"hook-succeeded","before-hook-creation"`) + "]"}}, nil},
	{"tests of nothing", does(lifecycle.Heal, stands("a", 1), func(in *lifecycle.PlanInput) { in.Tests = true }), nil, []chart.Rendering{answer(configMap("a"))}},
	{"TERMINATE", does(lifecycle.Terminate, stands("a h", 1)), []revision{{version: 1, status: deployed, mark: older, owner: vnf, manifest: configMap("a") + "\n---\n" + configMap("beside"), hooks: "[" + hookOf("h", "post-install", "") + "," + hookOf("first", "pre-delete", "") + "," + hookOf("last", "post-delete", "") + "," + hookOf("probe", "test", "") + "]"}}, nil},
	{"TERMINATE of what is not served", does(lifecycle.Terminate, stands("a", 1)), []revision{{version: 1, status: deployed, mark: older, owner: vnf, manifest: `{"apiVersion":"x/v1","kind":"X","metadata":{"name":"x"}}`, hooks: `[{"name":"h","manifest":"kind: X","events":["post-install"]}]`}}, nil},
	{"TERMINATE without records", does(lifecycle.Terminate, stands("a", 1)), nil, nil},
	{"TERMINATE of a namespace that is gone", does(lifecycle.Terminate, stands("a", 1), func(in *lifecycle.PlanInput) { in.Gone = []string{"cnf"} }), nil, nil},
	{"TERMINATE with hooks that are none", does(lifecycle.Terminate, stands("a", 1)), []revision{{version: 1, status: deployed, mark: older, owner: vnf, hooks: "[7]"}}, nil},
	{"CHANGE_VNFPKG of Helm's hooks that are none", does(lifecycle.ChangePackage, stands("a", 1)), []revision{{version: 1, status: deployed, mark: older, owner: vnf}, {version: 2, status: deployed, mark: older, owner: vnf, hooks: "[7]"}}, nil},
	{"a new Secret beside another", does(lifecycle.ChangePackage, stands("", 1), func(in *lifecycle.PlanInput) {
		in.Standing = append(in.Standing, standing("Secret", "secrets", "other"))
	}), []revision{{version: 1, status: deployed, mark: older, owner: vnf}}, []chart.Rendering{answer(secretOf), answer(strings.Replace(secretOf, "VALUE", "OTHER", 1))}},
	{"a Secret of no form", does(lifecycle.ChangePackage, stands("", 1), func(in *lifecycle.PlanInput) {
		in.Standing = append(in.Standing, standing("Secret", "secrets", "login"))
	}), []revision{{version: 1, status: deployed, mark: older, owner: vnf}}, []chart.Rendering{answer(strings.Replace(secretOf, `"data"`, `"stringData":7,"data"`, 1)), answer(strings.Replace(strings.Replace(secretOf, `"data"`, `"stringData":7,"data"`, 1), "VALUE", "OTHER", 1))}},
	{"a chart with a fault that looks up", does(lifecycle.Instantiate), nil, []chart.Rendering{{Fault: "is none", Asked: []chart.Lookup{{APIVersion: "v1", Kind: "ConfigMap", Name: "x"}}}}},
	{"a revision of another state last", does(lifecycle.ChangePackage, stands("a", 1, 2)), []revision{{version: 1, status: deployed, mark: "m1", owner: vnf}, {version: 2, status: "uninstalling", mark: "m2", owner: vnf}}, []chart.Rendering{answer(configMap("a"))}},
	{"a Secret of another group", does(lifecycle.Instantiate), nil, []chart.Rendering{answer(`{"apiVersion":"x.example/v1","kind":"Secret","metadata":{"name":"` + recordPrefix + `x.v1"}}`)}},
	{"TERMINATE beside a namesake", does(lifecycle.Terminate, stands("h", 1), func(in *lifecycle.PlanInput) {
		in.Standing = append(in.Standing, lifecycle.Resource{Version: "v1", Kind: "ConfigMap", Plural: "configmaps", Namespace: "elsewhere", Name: "h", UID: "u"})
	}), []revision{{version: 1, status: deployed, mark: older, owner: vnf, manifest: configMap("a"), hooks: "[" + hookOf("h", "post-install", "") + "]"}}, nil},
	{"an operation that is none", does(lifecycle.ModifyInfo), nil, nil},
	{"a revision of Helm's that has taken over the mark", does(lifecycle.ChangePackage, stands("a", 1)), []revision{{version: 1, status: superseded, mark: mine, owner: vnf, manifest: configMap("a")}, {version: 2, status: deployed, mark: mine, owner: vnf, manifest: configMap("a")}}, []chart.Rendering{answer(configMap("a"))}},
	{"a new Secret beside a map of its name", does(lifecycle.ChangePackage, stands("login", 1)), []revision{{version: 1, status: deployed, mark: older, owner: vnf}}, []chart.Rendering{answer(secretOf), answer(strings.Replace(secretOf, "VALUE", "OTHER", 1))}},
	{"CHANGE_VNFPKG over a release of nobody", does(lifecycle.ChangePackage, stands("a")), []revision{{version: 1, status: deployed, manifest: configMap("a")}}, []chart.Rendering{answer(configMap("a"))}},
	{"a rollback of hooks that are none", does(lifecycle.ChangePackage, undoing(older), stands("a", 1, 2)), []revision{{version: 1, status: superseded, mark: "first", owner: vnf, manifest: configMap("was")}, {version: 2, status: deployed, mark: older, owner: vnf, manifest: configMap("a"), hooks: "[7]"}}, nil},
	{"CHANGE_VNFPKG of what is not dated", does(lifecycle.ChangePackage, stands("a", 1)), []revision{{version: 1, status: deployed, mark: older, owner: vnf, manifest: configMap("a"), undated: true}}, []chart.Rendering{answer(configMap("a"))}},
	{"an attempt of nobody is at it", does(lifecycle.ChangePackage, stands("a", 1)), []revision{{version: 1, status: deployed, mark: older, owner: vnf}, {version: 2, status: pendingUpgrade, mark: mine}}, []chart.Rendering{answer(configMap("a"))}},
	{"tests with hooks that are none", does(lifecycle.Heal, stands("a", 1), func(in *lifecycle.PlanInput) { in.Tests = true }), []revision{{version: 1, status: deployed, mark: older, owner: vnf, hooks: "[7]"}}, nil},
	{"HEAL without its record, of a pod of nobody", does(lifecycle.Heal, stands("a", 1, 2), func(in *lifecycle.PlanInput) {
		in.VNFCs = []lifecycle.VNFC{{VDU: "web", Kind: "Pod", Namespace: "cnf", Name: "web-1"}}
	}), []revision{{version: 1, status: deployed, mark: older, owner: vnf, manifest: configMap("a")}}, []chart.Rendering{answer(configMap("a"))}},
	{"a rollback that stands to nothing before it, resumed", does(lifecycle.ChangePackage, undoing(older), stands("a", 1, 2)), []revision{{version: 1, status: superseded, mark: older, owner: vnf, manifest: configMap("a")}, {version: 2, status: deployed, mark: mine, owner: vnf, manifest: configMap("was")}}, []chart.Rendering{defining(configMap("a"))}},
	{"TERMINATE of a namespace that is going, with its record", does(lifecycle.Terminate, stands("a", 1), func(in *lifecycle.PlanInput) { in.Gone = []string{"cnf"} }), []revision{{version: 1, status: deployed, mark: older, owner: vnf, manifest: configMap("a"), hooks: "[" + hookOf("first", "pre-delete", "") + "]"}}, nil},
	{"HEAL over a revision of Helm's that has taken over the mark", does(lifecycle.Heal, stands("a", 1, 2)), []revision{{version: 1, status: superseded, mark: mine, owner: vnf, manifest: configMap("a")}, {version: 2, status: deployed, mark: mine, owner: vnf, manifest: configMap("a")}}, nil},
	{"CHANGE_VNFPKG ten revisions after one that was given up", does(lifecycle.ChangePackage, stands("a", 1, 2, 10)), []revision{{version: 1, status: pendingUpgrade, mark: "m1", owner: vnf}, {version: 2, status: pendingUpgrade, mark: "m2", owner: vnf}, {version: 10, status: deployed, mark: older, owner: vnf, manifest: configMap("a")}}, []chart.Rendering{answer(configMap("a"))}},
	{"another name", does(lifecycle.Instantiate, func(in *lifecycle.PlanInput) { in.Release = "web" }), nil, []chart.Rendering{answer(configMap("cfg-web"))}},
}

// release is a release of the table on a cluster of its own.
type release struct {
	t       *testing.T
	s       *fakeobjects.Server
	d       *Driver
	c       lifecycle.Connection
	in      lifecycle.PlanInput
	dir     string
	answers []chart.Rendering

	mu     sync.Mutex
	tokens map[string]bool // of the plan that is being made; guarded by mu
}

func newRelease(t *testing.T, change func(*lifecycle.PlanInput), revisions []revision, answers []chart.Rendering) *release {
	t.Helper()
	r := &release{t: t, s: fakeobjects.NewPlain(t), dir: t.TempDir(), answers: answers, in: lifecycle.PlanInput{
		Instance: vnf, Namespace: "cnf", Mark: mine, Manifests: []lifecycle.Manifest{{Path: "web.tgz", Text: secret.NewText("packed")}},
		Flavour: vnfpkg.Flavour{VDUs: map[string]vnfpkg.VDU{"VDU1": {Name: "web"}}},
	}}
	r.s.Serve(fakeobjects.Kind{Group: "x.example", Version: "v1", Kind: "Secret", Plural: "secrets", Namespaced: true})
	change(&r.in)
	for _, one := range revisions {
		one.put(t, r.s, r.in)
	}
	for _, name := range strings.Fields("a b c d") {
		r.s.Put("/api/v1/namespaces/cnf/configmaps/"+name, map[string]any{"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"name": name, "namespace": "cnf", "labels": map[string]any{"vimbroker.io/instance": vnf}}})
	}
	// Each run answers with the next file; the last stays.
	r.d = New(Options{Program: []string{"/bin/sh", "-c", "cd " + r.dir + " && cat 0 && for i in 1 2 3 4; do if [ -f $i ]; then mv $i $((i-1)); fi; done"}})
	return r
}

// connection is one whose token, and those of its further leases, are those of the plan that is being made.
func (r *release) connection(g lifecycle.StageRules) lifecycle.Connection {
	c := r.s.Connection(g)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.tokens["Bearer "+c.Config.Token.Reveal()] = true
	c.Further = func(_ context.Context, g lifecycle.StageRules, do func(lifecycle.Connection) error) error {
		return do(r.connection(g))
	}
	return c
}

// asks reports whether a request is one of the plan that is being made: one that was given up before comes late.
func (r *release) asks(request *http.Request) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.tokens[request.Header.Get("Authorization")]
}

// plan makes the plan anew, with tokens of its own.
func (r *release) plan() (string, error) {
	r.t.Helper()
	for i, a := range r.answers {
		text, err := json.Marshal(a)
		if err != nil {
			r.t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(r.dir, fmt.Sprint(i)), text, 0o600); err != nil {
			r.t.Fatal(err)
		}
	}
	r.mu.Lock()
	r.tokens = map[string]bool{}
	r.mu.Unlock()
	r.c = r.connection(lifecycle.StageRules{ClusterWide: true, Rules: []broker.Rule{
		{APIGroups: []string{""}, Resources: []string{"secrets", "configmaps", "namespaces"}, Verbs: []string{"get"}},
		{APIGroups: []string{"apiextensions.k8s.io"}, Resources: []string{"customresourcedefinitions"}, Verbs: []string{"get"}},
	}})
	p, err := r.d.Plan(r.t.Context(), r.c, r.in)
	for i := range 5 {
		_ = os.Remove(filepath.Join(r.dir, fmt.Sprint(i)))
	}
	return strings.ReplaceAll(steps(r.t, p, err), vnf, "INSTANCE"), err
}

// TestPlansOfReleases: what comes out of each release and request, whole: waves, records, objects, what the instance
// consists of, and errors with field and remedy.
func TestPlansOfReleases(t *testing.T) {
	var got []string
	for _, c := range releases {
		said, _ := newRelease(t, c.in, c.revisions, c.answers).plan()
		got = append(got, "== "+c.name+"\n"+said)
	}
	if golden.Updating() {
		if err := os.WriteFile("testdata/plans.txt", []byte(strings.Join(got, "\n")), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	text, err := os.ReadFile("testdata/plans.txt")
	if err != nil {
		t.Fatal(err)
	}
	want := strings.SplitAfter(string(text), "\n\n")
	if len(want) != len(got) {
		t.Fatalf("there are %d plans, and %d in testdata/plans.txt; write it with -update, and look at what changes", len(got), len(want))
	}
	for i := range got {
		if strings.TrimSpace(got[i]) != strings.TrimSpace(want[i]) {
			t.Errorf("%s\nwant\n%s", got[i], want[i])
		}
	}
}

// What a record cannot be read for stays the cause.
func TestWhyARecordIsNone(t *testing.T) {
	_, err := newRelease(t, does(lifecycle.ChangePackage, stands("a", 1)), []revision{{version: 1, owner: vnf, broken: "*"}}, nil).plan()
	if _, is := errors.AsType[base64.CorruptInputError](err); !is {
		t.Errorf("a record that is not in base64: %v", err)
	}
}

// Bounds of names, records and answers, each at its last good value and one beyond.
func TestBoundsOfReleases(t *testing.T) {
	in := lifecycle.PlanInput{Instance: vnf, Namespace: "cnf"}
	for name, want := range map[string]int{recordName(in, 1): 2, recordName(in, 1<<30-1): 1 << 30, recordName(in, 1<<30): 1, recordPrefix + releaseName(in) + ".v0": 1, recordPrefix + releaseName(in) + ".vx": 1, recordPrefix + "other.v7": 1} {
		in.Standing = []lifecycle.Resource{standing("Secret", "secrets", name)}
		all := versions(in)
		if len(all) != ahead+min(want-1, 1) || all[len(all)-1] != want+ahead-1 {
			t.Errorf("with %s there may be %v, want them to %d", name, all, want+ahead-1)
		}
		in.Standing[0].Kind = "ConfigMap"
		if all := versions(in); len(all) != ahead || all[0] != 1 {
			t.Errorf("with a map %s there may be %v", name, all)
		}
		in.Standing[0].Kind, in.Standing[0].Group = "Secret", "x"
		if all := versions(in); len(all) != ahead || all[0] != 1 {
			t.Errorf("with another Secret %s there may be %v", name, all)
		}
	}
	for text, want := range map[string]string{"a b~": "a b~", "a\nb\x7f": "a?b?", "ä": "?", strings.Repeat("x", 200): strings.Repeat("x", 200), strings.Repeat("x", 201): strings.Repeat("x", 200)} {
		if got := oneLine(text); got != want {
			t.Errorf("%q is shown as %q, want %q", text, got, want)
		}
	}
	members := func(n int) map[string]json.RawMessage {
		m := map[string]json.RawMessage{}
		for i := range n {
			m[fmt.Sprint("m", i)] = json.RawMessage("1")
		}
		return m
	}
	for _, c := range []struct {
		body, info int
		ok         bool
	}{{maxMembers - 2, maxMembers, true}, {maxMembers - 1, maxMembers, false}, {maxMembers - 2, maxMembers + 1, false}} {
		r := record{body: members(c.body), info: members(c.info)}
		r.body["version"] = json.RawMessage("7")
		value, err := r.packed(false)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := decode(&manifests.StoredSecret{Data: map[string][]byte{"release": []byte(value)}}); err == nil != c.ok || c.ok && got.version != 7 {
			t.Errorf("a record of %d and %d members: %v", c.body, c.info, err)
		}
	}
	random := make([]byte, maxRecordStored)
	_, _ = rand.NewChaCha8([32]byte{}).Read(random) // which nothing packs
	heavy := record{body: map[string]json.RawMessage{"version": json.RawMessage("1"), "name": quoted(base64.StdEncoding.EncodeToString(random))}, info: map[string]json.RawMessage{}}
	if _, err := heavy.packed(false); !errors.Is(err, broker.ErrInvalid) || !strings.Contains(err.Error(), "and the Secret that records it holds 1048576") {
		t.Errorf("a record that does not fit into a Secret: %v", err)
	}
	light := record{body: map[string]json.RawMessage{"version": json.RawMessage("1")}, info: map[string]json.RawMessage{}}
	whole, err := light.packed(false)
	if err != nil {
		t.Fatal(err)
	}
	packed, err := base64.StdEncoding.DecodeString(whole)
	if err != nil {
		t.Fatal(err)
	}
	for _, value := range []string{base64.StdEncoding.EncodeToString(packed[:len(packed)-1]), "*", "AAAA", base64.StdEncoding.EncodeToString([]byte("none"))} {
		if _, err := decode(&manifests.StoredSecret{Data: map[string][]byte{"release": []byte(value)}}); err == nil {
			t.Errorf("%q is read", value)
		}
	}
	for body, ok := range map[string]bool{`{"info":{},"version":1}`: true, `{"info":null,"version":1}`: false, `{"info":{},"version":"x"}`: false, `{"info":{},"version":1,"vimbroker.io/definitions":7}`: false} {
		var raw map[string]json.RawMessage
		_ = json.Unmarshal([]byte(body), &raw)
		r := record{body: raw}
		if raw["info"] != nil {
			_ = json.Unmarshal(raw["info"], &r.info)
		}
		value, err := r.packed(false)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := decode(&manifests.StoredSecret{Data: map[string][]byte{"release": []byte(value)}}); err == nil != ok {
			t.Errorf("%s is read: %v", body, err)
		}
	}
	var b bounds
	if _, err := b.Write(make([]byte, chart.MaxAnswer)); err != nil {
		t.Errorf("an answer as long as may be: %v", err)
	}
	if _, err := b.Write([]byte{1}); err == nil || b.Len() != chart.MaxAnswer {
		t.Errorf("an answer a byte longer: %v, %d bytes", err, b.Len())
	}
}

// A record that is packed well is refused for what it says; its hooks are bounded, and its mark is one that it has first.
func TestWhatARecordSays(t *testing.T) {
	for text, ok := range map[string]bool{"7": false, `{"info":7,"version":1}`: false, `{"info":{},"version":1}`: true} {
		var packed bytes.Buffer
		w := gzip.NewWriter(&packed)
		if _, err := w.Write([]byte(text)); err != nil || w.Close() != nil {
			t.Fatal(err)
		}
		_, err := decode(&manifests.StoredSecret{Data: map[string][]byte{"release": []byte(base64.StdEncoding.EncodeToString(packed.Bytes()))}})
		if _, is := errors.AsType[*json.UnmarshalTypeError](err); is == ok || err == nil != ok {
			t.Errorf("%s is read: %v", text, err)
		}
	}
	for n, ok := range map[int]bool{maxHooks: true, maxHooks + 1: false} {
		all, err := record{body: map[string]json.RawMessage{"hooks": json.RawMessage("[" + strings.Repeat(`{"name":"h"},`, n-1) + `{"name":"h"}]`)}}.hooks("")
		if ok != (err == nil) || ok && len(all) != n || !ok && !errors.Is(err, broker.ErrInvalid) {
			t.Errorf("a record with %d hooks has %d, %v", n, len(all), err)
		}
	}
	p := &plan{records: []record{{own: true}, {mark: "a"}, {own: true, mark: "b"}, {own: true, mark: "b"}, {own: true, mark: "c"}}}
	for at, want := range []bool{false, false, true, false, true} {
		if got := p.marked(at); got != want {
			t.Errorf("revision %d of %+v is made here for its mark: %t, want %t", at, p.records, got, want)
		}
	}
}

// What a package's files and a request say of charts, or why not: the error names the field.
func TestBasisOfCharts(t *testing.T) {
	const pinned = "oci://r.example/web:1.0.0@sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
	for name, c := range map[string]struct {
		s     lifecycle.Source
		files string
		kind  error
		field string
	}{
		"a packed chart":          {lifecycle.Source{Paths: []string{"a.tgz"}}, "a.tgz", nil, ""},
		"a folder":                {lifecycle.Source{Paths: []string{"c/Chart.yaml", "c/charts/d/Chart.yaml", "c/x", "other"}}, "c/Chart.yaml c/charts/d/Chart.yaml c/x", nil, ""},
		"no chart":                {lifecycle.Source{Paths: []string{"x"}}, "", broker.ErrUnsupported, "additionalParams.helm_chart_path"},
		"two charts":              {lifecycle.Source{Paths: []string{"a.tgz", "b.tgz"}}, "", broker.ErrInvalid, "additionalParams.helm_chart_path"},
		"one of two":              {lifecycle.Source{Paths: []string{"a.tgz", "b.tgz"}, Named: []string{"b.tgz"}}, "b.tgz", nil, ""},
		"both of two":             {lifecycle.Source{Paths: []string{"a.tgz", "b.tgz"}, Named: []string{"a.tgz", "b.tgz"}}, "", broker.ErrUnsupported, "additionalParams.helm_chart_path"},
		"none of two":             {lifecycle.Source{Paths: []string{"a.tgz"}, Named: []string{"b.tgz"}}, "", broker.ErrUnsupported, "additionalParams.helm_chart_path"},
		"manifests beside":        {lifecycle.Source{Paths: []string{"Files/kubernetes/m.yaml", "a.tgz"}}, "", broker.ErrInvalid, "additionalParams.helm_chart_path"},
		"a chart among manifests": {lifecycle.Source{Paths: []string{"Files/kubernetes/a.tgz"}}, "Files/kubernetes/a.tgz", nil, ""},
		"an order":                {lifecycle.Source{Paths: []string{"a.tgz"}, Ordered: true}, "", broker.ErrInvalid, "additionalParams.order"},
		"an order of no chart":    {lifecycle.Source{Ordered: true}, "", broker.ErrUnsupported, "additionalParams.helm_chart_path"},
		"an order of another":     {lifecycle.Source{Named: []string{pinned}, Ordered: true}, "", broker.ErrInvalid, "additionalParams.order"},
		"an order of two others":  {lifecycle.Source{Named: []string{pinned, pinned}, Ordered: true}, "", broker.ErrUnsupported, "additionalParams.helm_chart_path"},
		"an order of a manifest":  {lifecycle.Source{Named: []string{"m.yaml"}, Ordered: true}, "", broker.ErrUnsupported, "additionalParams.helm_chart_path"},
		"variables":               {lifecycle.Source{Paths: []string{"a.tgz"}, Given: []string{"v"}}, "", broker.ErrInvalid, "additionalParams.variables"},
		"variables of no chart":   {lifecycle.Source{Given: []string{"v"}}, "", broker.ErrUnsupported, "additionalParams.helm_chart_path"},
		"a release that is none":  {lifecycle.Source{Paths: []string{"a.tgz"}, Release: "A"}, "", broker.ErrInvalid, "additionalParams.helm_release_name"},
		"a release":               {lifecycle.Source{Paths: []string{"a.tgz"}, Release: "a"}, "a.tgz", nil, ""},
		"a chart elsewhere":       {lifecycle.Source{Named: []string{pinned}}, "", nil, ""},
		"one that is not pinned":  {lifecycle.Source{Named: []string{"oci://r.example/web:1.0.0"}}, "", broker.ErrInvalid, "additionalParams.helm_chart_path"},
		"one that is none":        {lifecycle.Source{Named: []string{"oci://"}}, "", broker.ErrInvalid, "additionalParams.helm_chart_path"},
	} {
		b, err := New(Options{}).Basis(c.s)
		e, is := errors.AsType[*broker.Error](err)
		if is != (c.kind != nil) || is && (e.Kind != c.kind || e.Field != c.field) || err == nil && (strings.Join(b.Files, " ") != c.files || b.Namespace != "default" || !b.SecretParameters) {
			t.Errorf("%s: %+v, %v, want %q, %v of %s", name, b.Files, err, c.files, c.kind, c.field)
		}
	}
	in := lifecycle.PlanInput{Namespace: "cnf"}
	for name, c := range map[string]struct {
		r    lifecycle.Resource
		want bool
	}{
		"a Secret": {standing("Secret", "secrets", "a"), true}, "a map": {standing("ConfigMap", "configmaps", "a"), true}, "a service": {standing("Service", "services", "a"), false}, "a record": {standing("Secret", "secrets", recordPrefix+"a.v1"), false},
		"another's": {lifecycle.Resource{Kind: "Secret", Namespace: "ns", Name: "a"}, false}, "of another group": {lifecycle.Resource{Group: "x", Kind: "Secret", Namespace: "cnf", Name: "a"}, false},
	} {
		if looksUp(in, c.r) != c.want {
			t.Errorf("%s may be looked up: %t", name, !c.want)
		}
	}
}

// Objects are the same where all of group, kind, namespace and name are.
func TestUnlikeObjects(t *testing.T) {
	one := lifecycle.Resource{Group: "apps", Version: "v1", Kind: "Deployment", Namespace: "a", Name: "x"}
	all := []lifecycle.Resource{one}
	for _, change := range []func(*lifecycle.Resource){
		func(r *lifecycle.Resource) { r.Group = "extensions" }, func(r *lifecycle.Resource) { r.Kind = "StatefulSet" },
		func(r *lifecycle.Resource) { r.Namespace = "b" }, func(r *lifecycle.Resource) { r.Name = "y" },
	} {
		other := one
		change(&other)
		all = append(all, other)
	}
	later := one
	later.Version = "v2"
	if got := unlike(append(all, later, all[1]), nil); !reflect.DeepEqual(got, all) {
		t.Errorf("of objects that come twice there are %v, want each once: %v", got, all)
	}
	if got := unlike(all, []lifecycle.Resource{later, all[3]}); !reflect.DeepEqual(got, []lifecycle.Resource{all[1], all[2], all[4]}) {
		t.Errorf("unlike two there are %v", got)
	}
}
