package manifests

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/iotest"
	"time"

	"k8s.io/pod-security-admission/api"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/broker/api/sol003"
	"github.com/vimbroker/vimbroker/broker/asset"
	"github.com/vimbroker/vimbroker/broker/asset/spec"
	"github.com/vimbroker/vimbroker/broker/clientconfig"
	"github.com/vimbroker/vimbroker/broker/secret"
	"github.com/vimbroker/vimbroker/lifecycle"
	"github.com/vimbroker/vimbroker/test/fake"
	"github.com/vimbroker/vimbroker/test/fakeobjects"
)

// script answers requests, "GET /api/v1/namespaces/n/pods": a list of answers for each, of which the last stays. An answer
// of the form "404 {}" has that status, others 200; what it does not know it answers with 500.
type script struct {
	mu      sync.Mutex
	answers map[string][]string
	asked   []string
	bodies  []string
	broken  error
}

// RoundTrip implements [http.RoundTripper].
func (s *script) RoundTrip(r *http.Request) (*http.Response, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	request := r.Method + " " + r.URL.Path
	s.asked = append(s.asked, request)
	if r.Body != nil {
		body, _ := io.ReadAll(r.Body)
		s.bodies = append(s.bodies, string(body))
	}
	if s.broken != nil {
		return nil, s.broken
	}
	status, body := 500, "{}"
	if all := s.answers[request]; len(all) > 0 {
		status, body = 200, all[0]
		if _, err := fmt.Sscanf(all[0], "%3d ", &status); err == nil {
			body = all[0][4:]
		}
		if len(all) > 1 {
			s.answers[request] = all[1:]
		}
	}
	return &http.Response{StatusCode: status, Header: http.Header{}, Body: io.NopCloser(strings.NewReader(body)), Request: r}, nil
}

// on is an API server that a script is.
func on(s *script) *server {
	return &server{
		base: &url.URL{Scheme: "https", Host: "api.example"}, http: &http.Client{Transport: s}, token: secret.NewText("t"), manager: "us",
		further: func(context.Context, lifecycle.StageRules, func(lifecycle.Connection) error) error { return nil },
	}
}

// doing is a wave of instance i, and what it tells.
func doing(s *script, w lifecycle.Wave) (*run, *[]string) {
	told := &[]string{}
	return &run{server: on(s), pause: time.Microsecond, instance: "i", wave: w, progress: func(o lifecycle.Observation) {
		*told = append(*told, fmt.Sprintf("%s %t %t %s", o.Name, o.Standing, o.Ready, o.Message))
	}}, told
}

func refusing(code int, reason, kind, name string) string {
	return fmt.Sprintf(`%d {"kind":"Status","code":%d,"reason":%q,"details":{"kind":%q,"name":%q}}`, code, code, reason, kind, name)
}

const (
	forbidden = `403 {"kind":"Status","code":403,"message":"x"}`
	mapPath   = "/api/v1/namespaces/n/configmaps/a"
	ourMap    = `{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"a","uid":"u","labels":{"vimbroker.io/instance":"i"}}}`
	webPath   = "/apis/apps/v1/namespaces/n/deployments/web"
)

var (
	goneMap   = refusing(404, "NotFound", "configmaps", "a")
	aMap      = lifecycle.Resource{Version: "v1", Kind: "ConfigMap", Plural: "configmaps", Namespace: "n", Name: "a"}
	web       = lifecycle.Resource{Group: "apps", Version: "v1", Kind: "Deployment", Plural: "deployments", Namespace: "n", Name: "web", VDU: "web"}
	theirMap  = strings.Replace(ourMap, `:"i"`, `:"j"`, 1)
	goingMap  = strings.Replace(ourMap, `"uid":"u"`, `"uid":"u","deletionTimestamp":"x"`, 1)
	anotherOf = strings.Replace(ourMap, `"uid":"u"`, `"uid":"v"`, 1)
)

func detail(err error) string {
	if e, is := errors.AsType[*broker.Error](err); is {
		return e.Detail
	}
	if err != nil {
		return "other: " + err.Error()
	}
	return ""
}

// What a cluster serves is asked for by group and version; a 404 says that one is not there where the list of groups does.
func TestKindsThatAreServed(t *testing.T) {
	const list, groups = `{"kind":"APIResourceList","resources":[{"name":"as","kind":"A"}]}`, `{"kind":"APIGroupList","groups":[{"name":"g","versions":[{"version":"v1"}]},{"name":"h","versions":[{"version":"v1"}]}]}`
	const gateway = "cannot ask which kinds the cluster serves: the endpoint does not answer as a Kubernetes API server does"
	for name, c := range map[string]struct {
		group, version string
		answers        map[string][]string
		n              int
		want           string
	}{
		"served":                 {"g", "v1", map[string][]string{"GET /apis/g/v1": {list}}, 1, ""},
		"the core":               {"", "v1", map[string][]string{"GET /api/v1": {list}}, 1, ""},
		"no list":                {"g", "v1", map[string][]string{"GET /apis/g/v1": {`{}`}}, 0, gateway},
		"not there":              {"g", "v2", map[string][]string{"GET /apis/g/v2": {"404 "}, "GET /apis": {groups}}, 0, ""},
		"a group not there":      {"x", "v1", map[string][]string{"GET /apis/x/v1": {"404 "}, "GET /apis": {groups}}, 0, ""},
		"there after all":        {"g", "v1", map[string][]string{"GET /apis/g/v1": {"404 "}, "GET /apis": {groups}}, 0, gateway + " (404)"},
		"the core, not there":    {"", "v1", map[string][]string{"GET /api/v1": {"404 "}}, 0, gateway + " (404)"},
		"another core":           {"", "v2", map[string][]string{"GET /api/v2": {"404 "}, "GET /apis": {groups}}, 0, ""},
		"v1 of a group":          {"h", "v2", map[string][]string{"GET /apis/h/v2": {"404 "}, "GET /apis": {groups}}, 0, ""},
		"refused":                {"g", "v1", map[string][]string{"GET /apis/g/v1": {forbidden}}, 0, "other: the API server refused a request"},
		"no groups":              {"g", "v2", map[string][]string{"GET /apis/g/v2": {"404 "}, "GET /apis": {`{}`}}, 0, gateway},
		"groups that are hidden": {"g", "v2", map[string][]string{"GET /apis/g/v2": {"404 "}, "GET /apis": {forbidden}}, 0, "cannot ask which kinds the cluster serves: the cluster forbids it (403)"},
	} {
		got, err := on(&script{answers: c.answers}).served(t.Context(), c.group, c.version)
		if len(got) != c.n || detail(err) != c.want || err == nil != (c.want == "") {
			t.Errorf("%s: %v, %v, want %d and %q", name, got, err, c.n, c.want)
		}
	}
	if _, err := on(&script{broken: errors.New("x")}).served(t.Context(), "g", "v1"); err == nil {
		t.Error("a server that is away serves nothing")
	}
}

// A draft knows versions and kinds that the cluster serves, sorted, without those of others' servers that are away.
func TestWhatADraftSeesServed(t *testing.T) {
	const groups = `{"kind":"APIGroupList","groups":[{"versions":[{"groupVersion":"g/v1"},{"groupVersion":"_/v1"},{"groupVersion":"g/V"},{"groupVersion":"h/v1"}]}]}`
	const core = `{"kind":"APIResourceList","resources":[{"name":"pods","kind":"Pod"},{"name":"pods/eviction","kind":"Eviction"},{"name":"odd","kind":"odd"},{"name":"apods","kind":"Pod"}]}`
	const more = `{"kind":"APIResourceList","resources":[{"name":"as","kind":"A"}]}`
	full := func(change map[string][]string) *script {
		s := &script{answers: map[string][]string{"GET /version": {`{"gitVersion":"v1.30.1"}`}, "GET /apis": {groups}, "GET /api/v1": {core}, "GET /apis/g/v1": {more}, "GET /apis/h/v1": {"503 {}"}}}
		for key, v := range change {
			s.answers[key] = v
		}
		return s
	}
	for name, c := range map[string]struct {
		s    *script
		want string
		err  string
	}{
		"all":                    {full(nil), "v1.30.1 g/v1 g/v1/A v1 v1/Pod", ""},
		"the core is away":       {full(map[string][]string{"GET /api/v1": {"503 {}"}}), " ", "cannot ask which kinds the cluster serves: the API server cannot do it now (503)"},
		"a group that fails":     {full(map[string][]string{"GET /apis/g/v1": {"500 {}"}}), " ", "cannot ask which kinds the cluster serves: the API server cannot do it now (500)"},
		"no version":             {full(map[string][]string{"GET /version": {forbidden}}), " ", "cannot ask which kinds the cluster serves: the cluster forbids it (403)"},
		"no groups":              {full(map[string][]string{"GET /apis": {forbidden}}), " ", "cannot ask which kinds the cluster serves: the cluster forbids it (403)"},
		"a group that is a page": {full(map[string][]string{"GET /apis/h/v1": {"{}"}}), " ", "cannot ask which kinds the cluster serves: the endpoint does not answer as a Kubernetes API server does"},
	} {
		version, names, err := (&Draft{server: on(c.s)}).Serves(t.Context())
		if got := version + " " + strings.Join(names, " "); got != c.want || detail(err) != c.err {
			t.Errorf("%s: %q, %v, want %q, %q", name, got, err, c.want, c.err)
		}
	}
}

// A Secret, and an object of the instance, as a draft reads them.
func TestWhatADraftReads(t *testing.T) {
	const path = "GET /api/v1/namespaces/n/secrets/a"
	stored := `{"metadata":{"name":"a","uid":"u","labels":{"vimbroker.io/instance":"i"}},"data":{"k":"dg=="}}`
	gone := refusing(404, "NotFound", "secrets", "a")
	for answer, want := range map[string]string{
		stored: "i v", gone: "none", forbidden: "cannot read Secret n/a: the cluster forbids it (403)",
		strings.Replace(stored, `"a"`, `"b"`, 1): "cannot read Secret n/a: the endpoint does not answer as a Kubernetes API server does",
		strings.Replace(stored, `"u"`, `""`, 1):  "cannot read Secret n/a: the endpoint does not answer as a Kubernetes API server does",
	} {
		d := &Draft{server: on(&script{answers: map[string][]string{path: {answer}}}), in: lifecycle.PlanInput{Namespace: "n"}}
		got := "none"
		switch s, err := d.Secret(t.Context(), "a"); {
		case err != nil:
			got = detail(err)
		case s != nil:
			got = s.Owner + " " + string(s.Data["k"])
		}
		if got != want {
			t.Errorf("%s: %s, want %s", answer, got, want)
		}
	}
	for answer, want := range map[string]string{
		ourMap: ourMap, theirMap: "", goneMap: "", forbidden: "cannot read ConfigMap n/a: the cluster forbids it (403)", `[]`: "cannot read ConfigMap n/a: the endpoint does not answer as a Kubernetes API server does",
		`{"metadata":{"name":"a","labels":{"vimbroker.io/instance":"i"},"uid":7}}`: "cannot read ConfigMap n/a: the endpoint does not answer as a Kubernetes API server does",
		strings.Replace(ourMap, `"a"`, `"b"`, 1):                                   "cannot read ConfigMap n/a: the endpoint does not answer as a Kubernetes API server does",
		strings.Replace(theirMap, `"labels"`, `"annotations":{"meta.helm.sh/release-name":"r","meta.helm.sh/release-namespace":"n"},"labels"`, 1): "released",
	} {
		d := &Draft{server: on(&script{answers: map[string][]string{"GET " + mapPath: {answer}}}), in: lifecycle.PlanInput{Instance: "i"}}
		d.Release(ReleaseOf("n", "r"))
		whole, err := d.Standing(t.Context(), aMap)
		got := string(whole)
		if err != nil {
			got = detail(err)
		}
		if want == "released" {
			want = answer
		}
		if got != want {
			t.Errorf("%s: %s, want %s", answer, got, want)
		}
	}
}

// A draft plans its calls in their order: objects that pass are none of the instance's, what is kept is, and what no call is
// about is left.
func TestStepsOfADraft(t *testing.T) {
	const core = `{"kind":"APIResourceList","resources":[{"name":"configmaps","kind":"ConfigMap","namespaced":true,"verbs":["patch","delete"]}]}`
	const definitions = `{"kind":"APIResourceList","resources":[{"name":"customresourcedefinitions","kind":"CustomResourceDefinition","verbs":["patch","delete"]}]}`
	const groups = `{"kind":"APIGroupList","groups":[]}`
	s := &script{answers: map[string][]string{
		"GET /api/v1": {core}, "GET /apis/apiextensions.k8s.io/v1": {definitions}, "GET /version": {`{"gitVersion":"v1.30.1"}`}, "GET /apis": {groups}, "GET /api/v1/namespaces/n": {`{}`},
		"GET /apis/g/v1": {"404 "}, "GET /apis/served/v1": {`{"kind":"APIResourceList","resources":[{"name":"as","kind":"A","namespaced":true,"verbs":["patch","delete"]}]}`},
		"GET /apis/apps/v1": {`{"kind":"APIResourceList","resources":[{"name":"deployments","kind":"Deployment","namespaced":true,"verbs":["patch","delete"]}]}`},
	}}
	file := func(text string) []lifecycle.Manifest {
		return []lifecycle.Manifest{{Path: "a.yaml", Text: secret.NewText(text)}}
	}
	cm := func(name string) string {
		return "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: " + name + "}\ndata: {v: \"${NOT_A_VARIABLE}\"}\n"
	}
	crd := func(group string) string {
		return "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {name: as." + group + "}\nspec: {group: " + group + ", scope: Namespaced, names: {kind: A, plural: as}, versions: [{name: v1, served: true}, {name: \"_\"}]}\n"
	}
	resource := func(name string) lifecycle.Resource {
		r := aMap
		r.Name = name
		return r
	}
	in := lifecycle.PlanInput{Instance: "i", Namespace: "n", Labels: map[string]string{"l": "1"}, Standing: []lifecycle.Resource{resource("kept"), resource("old"), resource("left"), resource("one"), resource("later")}}
	d := &Draft{server: on(s), in: in, defined: kinds{}}
	read := func(text string) Objects {
		t.Helper()
		all, err := d.Read(t.Context(), file(text), Marks{Labels: map[string]string{"m": "2"}})
		if err != nil {
			t.Fatal(err)
		}
		return all
	}
	if all, err := d.Read(t.Context(), nil, Marks{}); err != nil || len(all.Resources()) != 0 {
		t.Errorf("nothing is read as %v, %v", all.Resources(), err)
	}
	one := read(cm("one") + "---\n" + crd("g") + "---\n" + crd("served"))
	text, err := one.YAML()
	if want := "---\n# Source: a.yaml\napiVersion: v1\ndata:\n    v: ${NOT_A_VARIABLE}\nkind: ConfigMap\nmetadata:\n    labels:\n        l: \"1\"\n        m: \"2\"\n        vimbroker.io/instance: i\n    name: one\n    namespace: \"n\"\n"; err != nil || !strings.HasSuffix(text, want) {
		t.Errorf("it is written as %s, %v, want it to end with %s", text, err, want)
	}
	var names []string
	for _, r := range one.Resources() {
		names = append(names, r.Kind+" "+r.Name)
	}
	if want := []string{"CustomResourceDefinition as.g", "ConfigMap one"}; !slices.Equal(names, want) {
		t.Errorf("the resources are %q, want %q: a definition of what is served is another's", names, want)
	}
	later := read("apiVersion: g/v1\nkind: A\nmetadata: {name: a}\n")
	passing, second := read(cm("hook")), read(cm("later"))
	if err := errors.Join(d.ApplyPassing(t.Context(), passing), d.Apply(t.Context(), one), d.Apply(t.Context(), later), d.ApplyPassing(t.Context(), second)); err != nil {
		t.Fatal(err)
	}
	d.Keep(resource("kept"), resource("kept"))
	if err := d.Remove(t.Context(), []lifecycle.Resource{resource("old")}); err != nil {
		t.Fatal(err)
	}
	if left := d.Left(); !reflect.DeepEqual(left, []lifecycle.Resource{resource("old"), resource("left"), resource("later")}) {
		t.Errorf("left are %+v", left)
	}
	if err := d.Replace(); err != nil {
		t.Errorf("nothing to replace: %v", err)
	}
	d.in.VNFCs = []lifecycle.VNFC{{VDU: "x", Kind: "Pod", Namespace: "n", Name: "p"}}
	if err := d.Replace(); detail(err) != "Pod n/p runs no VDU of the instance" {
		t.Errorf("a pod of nobody: %v", err)
	}
	p := d.Plan()
	var steps, has []string
	for _, stage := range p.Stages {
		for _, w := range stage.Waves {
			for _, o := range w.Objects {
				steps = append(steps, string(w.Deed)+" "+o.Name)
			}
		}
	}
	for _, r := range p.Resources {
		has = append(has, r.Name)
	}
	if want := []string{"apply hook", "apply as.g", "apply one", "apply a", "apply later", "delete old"}; !slices.Equal(steps, want) {
		t.Errorf("the steps are %q, want %q", steps, want)
	}
	if want := []string{"as.g", "one", "a", "kept"}; !slices.Equal(has, want) {
		t.Errorf("the instance has %q, want %q", has, want)
	}
	for says, text := range map[string]string{
		"needs spec.group": crd("_"), "has no metadata": "apiVersion: v1\nkind: ConfigMap\n", "has no name": "apiVersion: v1\nkind: ConfigMap\nmetadata: {}\n",
	} {
		if _, err := d.Read(t.Context(), file(text), Marks{}); !strings.Contains(detail(err), says) {
			t.Errorf("%q: %v, want %s", text, err, says)
		}
	}
	d.in.Waves = []lifecycle.WaveRule{{Wave: 1, Name: "none"}}
	if all, err := d.Read(t.Context(), file(cm("waves")), Marks{}); err != nil || len(all.Resources()) != 1 {
		t.Errorf("an order is of manifests, and no chart's: %v, %v", all.Resources(), err)
	}
	order := []lifecycle.Manifest{{Path: "order.yaml", Text: secret.NewText("waves: []\n")}}
	if _, err := d.Read(t.Context(), order, Marks{}); !strings.Contains(detail(err), "order.yaml:1: apiVersion is missing") {
		t.Errorf("a chart's order is an object: %v", err)
	}
	d.in.Standing = append(d.in.Standing, lifecycle.Resource{Group: "apiextensions.k8s.io", Kind: "CustomResourceDefinition", Name: "as.served"})
	if all := read(crd("served")).Resources(); len(all) != 1 {
		t.Errorf("a definition that is recorded as the instance's: %+v", all)
	}
	d.in.Volumes = []lifecycle.Volume{{Storage: "x"}}
	if _, err := d.Read(t.Context(), file(cm("x")), Marks{}); !strings.Contains(detail(err), "are of manifests: a chart makes its claims by itself") {
		t.Errorf("a volume of a chart: %v", err)
	}
	d.in.Volumes = nil
	s.answers["GET /apis/served2/v1"] = []string{forbidden}
	if _, err := d.Read(t.Context(), file(crd("served2")), Marks{}); !errors.Is(err, broker.ErrForbidden) {
		t.Errorf("a definition whose kind nobody may ask for: %v", err)
	}
	s.answers["GET /apis/served/v2"] = []string{forbidden}
	d.in.Standing = nil
	if _, err := d.Read(t.Context(), file(strings.Replace(crd("served"), `{name: "_"}`, "{name: v2}", 1)), Marks{}); !errors.Is(err, broker.ErrForbidden) {
		t.Errorf("a definition of which nobody may ask for a version: %v", err)
	}
	d.in.Operation, d.in.Scaled, d.in.Replicas = lifecycle.ScaleVNF, []string{"web"}, map[string]int32{"web": 2, "db": 2}
	s.answers["GET /apis/autoscaling/v2"] = []string{`{"kind":"APIResourceList","resources":[{"name":"scalers","kind":"HorizontalPodAutoscaler","namespaced":true,"verbs":["patch","delete"]}]}`}
	workload := func(name string) string {
		return "---\napiVersion: apps/v1\nkind: Deployment\nmetadata: {name: " + name + "}\nspec: {replicas: 1}\n"
	}
	scaler := func(name string) string {
		return "---\napiVersion: autoscaling/v2\nkind: HorizontalPodAutoscaler\nmetadata: {name: a}\nspec: {scaleTargetRef: {kind: Deployment, name: " + name + "}}\n"
	}
	for text, want := range map[string]string{
		workload("web") + workload("db"): "", workload("web") + workload("db") + scaler("db"): "",
		workload("web") + scaler("web"): "VDU web cannot be scaled: an autoscaler of the package sets its number",
	} {
		if _, err := d.Read(t.Context(), file(text), Marks{}); detail(err) != want {
			t.Errorf("scaling %s: %v, want %q", text, err, want)
		}
	}
	s.answers["GET /version"] = []string{"500 {}"}
	for name, apply := range map[string]func(context.Context, Objects) error{"applied": d.Apply, "applied in passing": d.ApplyPassing} {
		if err := apply(t.Context(), one); detail(err) != "cannot ask which version the cluster is: the API server cannot do it now (500)" {
			t.Errorf("%s on a cluster that does not answer: %v", name, err)
		}
	}
	s.answers["GET /api/v1"] = []string{"500 {}"}
	if err := d.Remove(t.Context(), []lifecycle.Resource{resource("old")}); detail(err) != "cannot ask which kinds the cluster serves: the API server cannot do it now (500)" {
		t.Errorf("removed on a cluster that does not answer: %v", err)
	}
	if _, err := New().Draft(lifecycle.Connection{Config: clientconfig.Config{Endpoint: "none"}}, in); !errors.Is(err, broker.ErrInvalid) {
		t.Errorf("a draft of nowhere: %v", err)
	}
}

// A connection needs an address and a token; an answer that is none is no API server's.
func TestConnectionsThatAreNone(t *testing.T) {
	token := secret.Credential{Kind: broker.CredentialBearerToken, Token: secret.NewText("t")}
	for name, c := range map[string]struct {
		of   clientconfig.Config
		kind error
		want string
	}{
		"no URL":       {clientconfig.Config{Endpoint: "://", Credential: token}, broker.ErrInvalid, "cannot be used as an API server's address"},
		"no host":      {clientconfig.Config{Endpoint: "https:///x", Credential: token}, broker.ErrInvalid, "cannot be used as an API server's address"},
		"no token":     {clientconfig.Config{Endpoint: "https://h"}, broker.ErrUnsupported, "the lease holds no token, and life-cycle operations on Kubernetes use no other credential"},
		"no authority": {clientconfig.Config{Endpoint: "https://h", CACert: "none", Credential: token}, nil, ""},
	} {
		_, err := New().connect(lifecycle.Connection{Config: c.of})
		if c.kind != nil && (!errors.Is(err, c.kind) || detail(err) != c.want) || err == nil {
			t.Errorf("%s: %v, want %v: %s", name, err, c.kind, c.want)
		}
	}
	nowhere := lifecycle.Connection{Config: clientconfig.Config{Endpoint: "none"}}
	in := lifecycle.PlanInput{Operation: lifecycle.Instantiate}
	_, planned := New().Plan(t.Context(), nowhere, in)
	_, observed := New().Observe(t.Context(), nowhere, "i", nil)
	_, shown := New().Read(t.Context(), nowhere, nil)
	_, listed := New().List(t.Context(), nowhere, aMap, "", false)
	_, made := Volumes{}.Make(t.Context(), asset.Connection{Config: nowhere.Config}, asset.Asset{Volume: spec.VolumeSpec{Namespace: "n"}})
	for name, err := range map[string]error{"plan": planned, "observe": observed, "run": New().Run(t.Context(), nowhere, "i", lifecycle.Wave{}, nil), "read": shown, "list": listed, "volume": made} {
		if !errors.Is(err, broker.ErrInvalid) {
			t.Errorf("%s: %v, want %v", name, err, broker.ErrInvalid)
		}
	}
	somewhere := lifecycle.Connection{Config: clientconfig.Config{Endpoint: "https://h", Credential: token}}
	if err := New().Run(t.Context(), somewhere, "i", lifecycle.Wave{Deed: lifecycle.Look}, nil); !errors.Is(err, broker.ErrUnsupported) {
		t.Errorf("a deed that is none: %v", err)
	}
	for body, said := range map[string]bool{`{"kind":"Status","code":403}`: true, `{"kind":"Page","code":403}`: false, `{"kind":"Status","code":404}`: false, `{"kind":"Status","code":403`: false, `{"kind":"Status","code":403,"message":7}`: false} {
		err := on(&script{answers: map[string][]string{"GET /x": {"403 " + body}}}).call(t.Context(), request{method: http.MethodGet, path: "/x"}, nil)
		if r, is := errors.AsType[*refusal](err); !is || r.is(403) != said || r.is(404) {
			t.Errorf("%s is the API server's own word: %t", body, !said)
		}
	}
	torn := on(&script{})
	torn.http.Transport = trip(func(r *http.Request) (*http.Response, error) {
		return &http.Response{StatusCode: 404, Body: io.NopCloser(io.MultiReader(strings.NewReader("{}"), iotest.ErrReader(io.ErrUnexpectedEOF))), Request: r}, nil
	})
	if err := torn.call(t.Context(), request{method: http.MethodGet, path: "/x"}, nil); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("an answer that is cut off: %v", err)
	}
	var whole found
	if err := whole.UnmarshalJSON([]byte(`{"kind":"A","metadata":{"name":"a","uid":"u"},"spec":{"n":1e999}}`)); err == nil {
		t.Error("a number that is none is read")
	}
	var into struct{}
	if err := on(&script{answers: map[string][]string{"GET /x": {"page"}}}).call(t.Context(), request{method: http.MethodGet, path: "/x"}, &into); !errors.Is(err, errNotKubernetes) {
		t.Errorf("a page: %v", err)
	}
}

// An object is applied where none is, or where the instance's own is; a conflict is looked into.
func TestApplyingAnObject(t *testing.T) {
	manifest := `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a","uid":"old","resourceVersion":"old"}}`
	patch, get := "PATCH "+mapPath, "GET "+mapPath
	conflict := refusing(409, "Conflict", "configmaps", "a")
	for name, c := range map[string]struct {
		applied, manifest string
		answers           map[string][]string
		asked             []string
		want, body        string
	}{
		"made":                    {"", manifest, map[string][]string{patch: {ourMap}}, []string{patch}, "", `"resourceVersion":"1"`},
		"changed":                 {"m", manifest, map[string][]string{get: {ourMap}, patch: {ourMap}}, []string{get, patch}, "", `"uid":"u"`},
		"made again":              {"m", manifest, map[string][]string{get: {goneMap}, patch: {ourMap}}, []string{get, patch}, "", `"resourceVersion":"1"`},
		"another's":               {"m", manifest, map[string][]string{get: {theirMap}}, []string{get}, "ConfigMap n/a exists on the cluster and is not the instance's", ""},
		"there after all":         {"", manifest, map[string][]string{patch: {conflict, ourMap}, get: {ourMap}}, []string{patch, get, patch}, "", `"uid":"u"`},
		"another's after all":     {"", manifest, map[string][]string{patch: {conflict}, get: {theirMap}}, []string{patch, get}, "ConfigMap n/a exists on the cluster and is not the instance's", ""},
		"going":                   {"m", manifest, map[string][]string{get: {goingMap, goneMap}, patch: {ourMap}}, []string{get, get, patch}, "", `"resourceVersion":"1"`},
		"refused":                 {"", manifest, map[string][]string{patch: {forbidden}}, []string{patch}, "cannot apply ConfigMap n/a: the cluster forbids it (403)", ""},
		"not seen":                {"m", manifest, map[string][]string{get: {forbidden}}, []string{get}, "cannot read ConfigMap n/a: the cluster forbids it (403)", ""},
		"answered by another":     {"", manifest, map[string][]string{patch: {theirMap}}, []string{patch}, "cannot apply ConfigMap n/a: the endpoint does not answer as a Kubernetes API server does", ""},
		"answered as another":     {"", manifest, map[string][]string{patch: {strings.Replace(ourMap, `"a"`, `"b"`, 1)}}, []string{patch}, "cannot apply ConfigMap n/a: the endpoint does not answer as a Kubernetes API server does", ""},
		"a manifest that is none": {"", "none", nil, nil, "the manifest of ConfigMap n/a is none", ""},
		"one without metadata":    {"", "{}", nil, nil, "the manifest of ConfigMap n/a is none", ""},
		"one cut off":             {"", manifest[:len(manifest)-1], nil, nil, "the manifest of ConfigMap n/a is none", ""},
	} {
		s := &script{answers: c.answers}
		r, _ := doing(s, lifecycle.Wave{})
		o := lifecycle.Object{Resource: aMap, Manifest: secret.NewText(c.manifest)}
		o.Applied = c.applied
		made, err := r.apply(t.Context(), o)
		if detail(err) != c.want || err == nil && made.Metadata.UID != "u" || !slices.Equal(s.asked, c.asked) {
			t.Errorf("%s: %v, want %q; asked is %q, want %q", name, err, c.want, s.asked, c.asked)
		}
		if c.body != "" && (!strings.Contains(s.bodies[len(s.bodies)-1], c.body) || strings.Contains(s.bodies[len(s.bodies)-1], "old")) {
			t.Errorf("%s: sent is %s, want %s in it", name, s.bodies[len(s.bodies)-1], c.body)
		}
	}
	for says, answers := range map[string]map[string][]string{
		"the operation was stopped while it waited: ConfigMap n/a is being deleted": {get: {goingMap}}, "the operation was stopped while it waited: ConfigMap n/a is changed by others again and again": {get: {ourMap}, patch: {conflict}},
	} {
		r, _ := doing(&script{answers: answers}, lifecycle.Wave{})
		ctx, end := context.WithCancel(t.Context())
		r.pause = time.Hour
		r.http.Transport = trip(func(q *http.Request) (*http.Response, error) {
			if len(answers) == 1 || q.Method == http.MethodPatch {
				defer end()
			}
			return (&script{answers: answers}).RoundTrip(q.WithContext(context.WithoutCancel(q.Context())))
		})
		o := lifecycle.Object{Resource: aMap, Manifest: secret.NewText(manifest)}
		o.Applied = "m"
		if _, err := r.apply(ctx, o); !errors.Is(err, lifecycle.ErrNotReady) || detail(err) != says {
			t.Errorf("%v, want %s", err, says)
		}
	}
}

type trip func(*http.Request) (*http.Response, error)

func (f trip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// The very object is removed, once; what has taken its place is another's.
func TestRemovingAnObject(t *testing.T) {
	get, remove := "GET "+mapPath, "DELETE "+mapPath
	conflict := refusing(409, "Conflict", "configmaps", "a")
	for name, c := range map[string]struct {
		answers map[string][]string
		asked   []string
		want    string
		told    []string
	}{
		"there":                 {map[string][]string{get: {ourMap}, remove: {`{"kind":"Status"}`}}, []string{get, remove}, "", []string{"a true false is being deleted"}},
		"going":                 {map[string][]string{get: {goingMap}}, []string{get}, "", []string{"a true false is being deleted"}},
		"gone":                  {map[string][]string{get: {goneMap}}, []string{get}, "", []string{"a false false is missing"}},
		"another's":             {map[string][]string{get: {theirMap}}, []string{get}, "", []string{"a false false is missing: an object of the same name is not the instance's"}},
		"gone meanwhile":        {map[string][]string{get: {ourMap}, remove: {goneMap}}, []string{get, remove}, "", []string{"a false false is missing"}},
		"replaced meanwhile":    {map[string][]string{get: {ourMap, anotherOf}, remove: {conflict}}, []string{get, remove, get}, "", []string{"a false false is missing"}},
		"gone in a conflict":    {map[string][]string{get: {ourMap, goneMap}, remove: {conflict}}, []string{get, remove, get}, "", []string{"a false false is missing"}},
		"there in a conflict":   {map[string][]string{get: {ourMap}, remove: {conflict}}, []string{get, remove, get}, "cannot delete ConfigMap n/a: it was changed or replaced meanwhile (409)", nil},
		"unseen after conflict": {map[string][]string{get: {ourMap, forbidden}, remove: {conflict}}, []string{get, remove, get}, "cannot read ConfigMap n/a: the cluster forbids it (403)", nil},
		"refused":               {map[string][]string{get: {ourMap}, remove: {forbidden}}, []string{get, remove}, "cannot delete ConfigMap n/a: the cluster forbids it (403)", nil},
		"answered by a page":    {map[string][]string{get: {ourMap}, remove: {`{}`}}, []string{get, remove}, "cannot delete ConfigMap n/a: the endpoint does not answer as a Kubernetes API server does", nil},
		"not seen":              {map[string][]string{get: {forbidden}}, []string{get}, "cannot read ConfigMap n/a: the cluster forbids it (403)", nil},
	} {
		s := &script{answers: c.answers}
		r, told := doing(s, lifecycle.Wave{Deed: lifecycle.Delete})
		w := &waiting{Object: lifecycle.Object{Resource: aMap}, done: r.isGone(aMap)}
		err := r.remove(t.Context(), w)
		if detail(err) != c.want || !slices.Equal(s.asked, c.asked) || !slices.Equal(*told, c.told) {
			t.Errorf("%s: %v, want %q; asked is %q, want %q; told is %q, want %q", name, err, c.want, s.asked, c.asked, *told, c.told)
		}
	}
}

// Objects of a kind go together, custom resources before the others, and one kind after the other.
func TestOrderOfRemoving(t *testing.T) {
	s := &script{answers: map[string][]string{}}
	var all []lifecycle.Object
	for _, r := range []lifecycle.Resource{
		{Version: "v1", Kind: "Secret", Plural: "secrets", Namespace: "n", Name: "1"},
		{Version: "v1", Kind: "Secret", Plural: "secrets", Namespace: "n", Name: "2"},
		{Version: "v1", Kind: "ConfigMap", Plural: "configmaps", Namespace: "n", Name: "3"},
		{Group: "g", Version: "v1", Kind: "A", Plural: "as", Namespace: "n", Name: "4"},
	} {
		s.answers["GET "+pathOf(r)] = []string{
			fmt.Sprintf(`{"kind":%q,"metadata":{"name":%q,"uid":"u","labels":{"vimbroker.io/instance":"i"}}}`, r.Kind, r.Name), refusing(404, "NotFound", r.Plural, r.Name),
		}
		s.answers["DELETE "+pathOf(r)] = []string{`{"kind":"Status"}`}
		all = append(all, lifecycle.Object{Resource: r})
	}
	r, _ := doing(s, lifecycle.Wave{Deed: lifecycle.Delete, Objects: all})
	if err := r.deleteAll(t.Context()); err != nil {
		t.Fatal(err)
	}
	at := func(request string) int { return slices.Index(s.asked, request) }
	custom, first, second, third := at("DELETE /apis/g/v1/namespaces/n/as/4"), at("DELETE /api/v1/namespaces/n/secrets/1"), at("DELETE /api/v1/namespaces/n/secrets/2"), at("GET /api/v1/namespaces/n/configmaps/3")
	if custom < 0 || custom > min(first, second) || max(first, second) > third {
		t.Errorf("they go as %q", s.asked)
	}
	s.answers["GET "+pathOf(all[3].Resource)] = []string{forbidden}
	if err := r.deleteAll(t.Context()); detail(err) != "cannot read A n/4: the cluster forbids it (403)" {
		t.Errorf("one that cannot be seen: %v", err)
	}
}

// readyWeb is a Deployment of the instance with a number of replicas, all of them ready.
func readyWeb(n int) string {
	return fmt.Sprintf(`{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"web","uid":"u","generation":1,"labels":{"vimbroker.io/instance":"i"}},"spec":{"replicas":%d},`+
		`"status":{"observedGeneration":1,"replicas":%[1]d,"readyReplicas":%[1]d,"availableReplicas":%[1]d,"updatedReplicas":%[1]d,"conditions":[{"type":"Available","status":"True"}]}}`, n)
}

func podsOf(uids ...string) string {
	var all []string
	for _, uid := range uids {
		ready := "True"
		if strings.HasPrefix(uid, "slow") {
			ready = "False"
		}
		all = append(all, fmt.Sprintf(`{"metadata":{"name":%q,"uid":%[1]q,"labels":{"vimbroker.io/instance":"i","vimbroker.io/vdu":"web"}},"status":{"conditions":[{"type":"Ready","status":%q}]}}`, uid, ready))
	}
	return `{"kind":"PodList","items":[` + strings.Join(all, ",") + `]}`
}

const listPods = "GET /api/v1/namespaces/n/pods"

// A number of replicas is set on the instance's own workload, and is reached when so many pods are there.
func TestScalingAWorkload(t *testing.T) {
	get, scale := "GET "+webPath, "PATCH "+webPath+"/scale"
	gone := refusing(404, "NotFound", "deployments", "web")
	for name, c := range map[string]struct {
		answers map[string][]string
		want    string
	}{
		"done":               {map[string][]string{get: {readyWeb(2)}, scale: {`{"kind":"Scale"}`}, listPods: {podsOf("a"), podsOf("a", "b")}}, ""},
		"another's":          {map[string][]string{get: {strings.Replace(readyWeb(2), `:"i"`, `:"j"`, 1)}}, "Deployment n/web is missing: an object of the same name is not the instance's"},
		"missing":            {map[string][]string{get: {gone}}, "Deployment n/web is missing"},
		"not seen":           {map[string][]string{get: {forbidden}}, "cannot read Deployment n/web: the cluster forbids it (403)"},
		"refused":            {map[string][]string{get: {readyWeb(2)}, scale: {forbidden}}, "cannot scale Deployment n/web: the cluster forbids it (403)"},
		"answered by a page": {map[string][]string{get: {readyWeb(2)}, scale: {`{"kind":"Page"}`}}, "cannot scale Deployment n/web: the endpoint does not answer as a Kubernetes API server does"},
		"removed meanwhile":  {map[string][]string{get: {readyWeb(2), gone}, scale: {`{"kind":"Scale"}`}}, "will not become ready by itself: Deployment n/web was removed meanwhile"},
		"unseen meanwhile":   {map[string][]string{get: {readyWeb(2), forbidden}, scale: {`{"kind":"Scale"}`}}, "cannot read Deployment n/web: the cluster forbids it (403)"},
		"pods not seen":      {map[string][]string{get: {readyWeb(2)}, scale: {`{"kind":"Scale"}`}, listPods: {forbidden}}, "cannot list pods in namespace n: the cluster forbids it (403)"},
	} {
		s := &script{answers: c.answers}
		r, _ := doing(s, lifecycle.Wave{Deed: lifecycle.Scale, Objects: []lifecycle.Object{{Resource: web, Replicas: 2}}})
		if err := r.scaleAll(t.Context()); detail(err) != c.want {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
	custom := lifecycle.Resource{Group: "g", Version: "v1", Kind: "A", Plural: "as", Namespace: "n", Name: "web", VDU: "web"}
	r, _ := doing(&script{}, lifecycle.Wave{})
	own := read(t, `{"apiVersion":"g/v1","kind":"A","metadata":{"name":"web","uid":"u","labels":{"vimbroker.io/instance":"i"}}}`)
	if is, err := r.hasReplicas(t.Context(), lifecycle.Object{Resource: custom, Replicas: 9})(own); !is || err != nil {
		t.Errorf("what runs no pods has its number: %t, %v", is, err)
	}
	for name, o := range map[string]*found{"unready": read(t, strings.Replace(readyWeb(2), `"readyReplicas":2`, `"readyReplicas":1`, 1)), "none": nil} {
		if is, err := r.hasReplicas(t.Context(), lifecycle.Object{Resource: web, Replicas: 2})(o); is || err != nil {
			t.Errorf("%s has its number: %t, %v", name, is, err)
		}
	}
}

// Pods are replaced once they are gone and as many others are ready.
func TestReplacingPods(t *testing.T) {
	get, pod, remove := "GET "+webPath, "GET /api/v1/namespaces/n/pods/old", "DELETE /api/v1/namespaces/n/pods/old"
	own := `{"kind":"Pod","metadata":{"name":"old","uid":"old","labels":{"vimbroker.io/instance":"i"}}}`
	gone, conflict := refusing(404, "NotFound", "pods", "old"), refusing(409, "Conflict", "pods", "old")
	full := func(change map[string][]string) map[string][]string {
		all := map[string][]string{get: {readyWeb(2)}, pod: {own}, remove: {`{"kind":"Status"}`}, listPods: {podsOf("new", "old"), podsOf("new", "slow"), podsOf("new", "other")}}
		for key, v := range change {
			all[key] = v
		}
		return all
	}
	for name, c := range map[string]struct {
		change  map[string][]string
		removed bool
		want    string
	}{
		"there":              {nil, true, ""},
		"gone before":        {map[string][]string{pod: {gone}}, false, ""},
		"going":              {map[string][]string{pod: {strings.Replace(own, `"uid"`, `"deletionTimestamp":"x","uid"`, 1)}}, false, ""},
		"another's":          {map[string][]string{pod: {strings.Replace(own, `:"i"`, `:"j"`, 1)}}, false, ""},
		"gone meanwhile":     {map[string][]string{remove: {gone}}, true, ""},
		"replaced meanwhile": {map[string][]string{remove: {conflict}}, true, ""},
		"refused":            {map[string][]string{remove: {forbidden}}, true, "cannot delete Pod n/old: the cluster forbids it (403)"},
		"not seen":           {map[string][]string{pod: {forbidden}}, false, "cannot read Pod n/old: the cluster forbids it (403)"},
		"workload not seen":  {map[string][]string{get: {forbidden}}, true, "cannot read Deployment n/web: the cluster forbids it (403)"},
		"pods not seen":      {map[string][]string{listPods: {forbidden}}, true, "cannot list pods in namespace n: the cluster forbids it (403)"},
	} {
		s := &script{answers: full(c.change)}
		r, _ := doing(s, lifecycle.Wave{Deed: lifecycle.Replace, Objects: []lifecycle.Object{{Resource: web}}, VNFCs: []lifecycle.VNFC{{Namespace: "n", Name: "old", UID: "old"}}})
		err := r.replaceAll(t.Context())
		if detail(err) != c.want || slices.Contains(s.asked, remove) != c.removed {
			t.Errorf("%s: %v, want %q; asked is %q", name, err, c.want, s.asked)
		}
	}
	r, _ := doing(&script{answers: map[string][]string{listPods: {podsOf()}}}, lifecycle.Wave{})
	uncounted := read(t, strings.Replace(readyWeb(1), `"spec":{"replicas":1}`, `"spec":{}`, 1))
	if is, err := r.hasOthers(t.Context(), lifecycle.Object{Resource: web}, nil)(uncounted); !is || err != nil {
		t.Errorf("a workload without a number has others: %t, %v", is, err)
	}
	bare := lifecycle.Object{Resource: aMap, Manifest: secret.NewText("none")}
	r, _ = doing(&script{}, lifecycle.Wave{Objects: []lifecycle.Object{bare}})
	if err := r.replaceAll(t.Context()); detail(err) != "the manifest of ConfigMap n/a is none" {
		t.Errorf("a pod that is to be made again of nothing: %v", err)
	}
}

const events = "GET /api/v1/namespaces/n/events"

func happened(of ...string) string {
	var all []string
	for i := 0; i < len(of); i += 3 {
		all = append(all, fmt.Sprintf(`{"reason":%q,"message":%q,"lastTimestamp":%q}`, of[i], of[i+1], of[i+2]))
	}
	return `{"items":[` + strings.Join(all, ",") + `]}`
}

// The newest event counts; of a Job that is gone its end is told by one.
func TestEventsThatTell(t *testing.T) {
	for name, c := range map[string]struct{ answer, of, want string }{
		"the newest":       {happened("Old", "a", "1", "New", "b", "3", "Mid", "c", "2"), "", "New b"},
		"the last of two":  {happened("One", "a", "1", "Two", "b", "1"), "", "Two b"},
		"of a reason":      {happened("New", "b", "3", "Mid", "c", "2"), "Mid", "Mid c"},
		"none":             {happened(), "", " "},
		"none of a reason": {happened("New", "b", "3"), "Mid", " "},
		"not a word":       {happened("a b", "c", "1"), "", " c"},
		"not seen":         {forbidden, "", "cannot list events in namespace n: the cluster forbids it (403)"},
	} {
		reason, says, err := on(&script{answers: map[string][]string{events: {c.answer}}}).newestEvent(t.Context(), aMap, "u", c.of)
		if got := reason + " " + says; err == nil && got != c.want || err != nil && detail(err) != c.want {
			t.Errorf("%s: %q, %v, want %q", name, got, err, c.want)
		}
	}
	job := lifecycle.Resource{Group: "batch", Version: "v1", Kind: "Job", Plural: "jobs", Namespace: "n", Name: "j", Passes: true, UID: "u"}
	get := "GET /apis/batch/v1/namespaces/n/jobs/j"
	gone := refusing(404, "NotFound", "jobs", "j")
	kept, unmade := job, job
	kept.Passes, unmade.UID = false, ""
	for name, c := range map[string]struct {
		of     lifecycle.Resource
		deed   lifecycle.Deed
		events []string
		want   string
	}{
		"complete":       {job, lifecycle.Apply, []string{happened("Completed", "x", "1")}, "true false "},
		"failed":         {job, lifecycle.Apply, []string{happened(), happened("BackoffLimitExceeded", "why", "1")}, "false true has failed (BackoffLimitExceeded: why)"},
		"who knows":      {job, lifecycle.Apply, []string{happened(), happened("SuccessfulCreate", "why", "1")}, "none"},
		"not seen":       {job, lifecycle.Apply, []string{forbidden}, "cannot list events in namespace n: the cluster forbids it (403)"},
		"not seen later": {job, lifecycle.Apply, []string{happened(), forbidden}, "cannot list events in namespace n: the cluster forbids it (403)"},
		"one that stays": {kept, lifecycle.Apply, []string{happened("Completed", "x", "1")}, "none"},
		"one never made": {unmade, lifecycle.Apply, []string{happened("Completed", "x", "1")}, "none"},
		"one removed":    {job, lifecycle.Delete, []string{happened("Completed", "x", "1")}, "none"},
	} {
		r, _ := doing(&script{answers: map[string][]string{get: {gone}, events: c.events}}, lifecycle.Wave{Deed: c.deed})
		o, err := r.getWaited(t.Context(), c.of)
		got := "none"
		if err != nil {
			got = detail(err)
		} else if o != nil {
			s := o.state()
			got = fmt.Sprintf("%t %t %s", s.ready, s.failed, s.message)
		}
		if got != c.want {
			t.Errorf("a Job, %s: %s, want %s", name, got, c.want)
		}
	}
	claim := lifecycle.Resource{Version: "v1", Kind: claimKind, Plural: claimPlural, Namespace: "n", Name: "c"}
	pod, other := claim, claim
	pod.Kind, pod.Plural, other.Group = "Pod", "pods", "x.example"
	for name, c := range map[string]struct {
		of    lifecycle.Resource
		phase string
		deed  lifecycle.Deed
		want  string
	}{
		"pending": {claim, "Pending", lifecycle.Apply, "Why"}, "bound": {claim, "Bound", lifecycle.Apply, ""}, "removed": {claim, "Pending", lifecycle.Delete, ""},
		"a pod instead": {pod, "Pending", lifecycle.Apply, ""}, "one of another group": {other, "Pending", lifecycle.Apply, ""},
	} {
		text := fmt.Sprintf(`{"kind":%q,"apiVersion":"v1","metadata":{"name":"c","uid":"u"},"status":{"phase":%q}}`, c.of.Kind, c.phase)
		r, _ := doing(&script{answers: map[string][]string{"GET " + pathOf(c.of): {text}, events: {happened("Why", "x", "1")}}}, lifecycle.Wave{Deed: c.deed})
		if o, err := r.getWaited(t.Context(), c.of); err != nil || o.event != c.want {
			t.Errorf("a claim, %s: %v, want the event %q", name, err, c.want)
		}
	}
	r, _ := doing(&script{answers: map[string][]string{"GET " + pathOf(job): {forbidden}}}, lifecycle.Wave{Deed: lifecycle.Apply})
	if o, err := r.getWaited(t.Context(), job); o != nil || detail(err) != "cannot read Job n/j: the cluster forbids it (403)" {
		t.Errorf("a Job that cannot be seen: %v, %v", o, err)
	}
}

// Why a workload is not ready: a claim without a volume, a pod, or an event.
func TestWhatIsExplained(t *testing.T) {
	set := lifecycle.Resource{Group: "apps", Version: "v1", Kind: "StatefulSet", Plural: "statefulsets", Namespace: "n", Name: "db", VDU: "web"}
	waits := strings.Replace(podsOf("slow"), `"status":{`, `"status":{"containerStatuses":[{"state":{"waiting":{"reason":"ErrImagePull","message":"no image"}}}],`, 1)
	fine := podsOf("a")
	claims := func(of ...string) string {
		var all []string
		for i := 0; i < len(of); i += 2 {
			all = append(all, fmt.Sprintf(`{"metadata":{"name":%q,"uid":"c"},"status":{"phase":%q}}`, of[i], of[i+1]))
		}
		return `{"kind":"PersistentVolumeClaimList","items":[` + strings.Join(all, ",") + `]}`
	}
	const listed = "GET /api/v1/namespaces/n/persistentvolumeclaims"
	for name, c := range map[string]struct {
		of       lifecycle.Resource
		deed     lifecycle.Deed
		standing bool
		makes    []string
		was      string
		answers  map[string][]string
		want     string
	}{
		"a pod":                     {web, lifecycle.Apply, true, nil, "", map[string][]string{listPods: {waits}}, ": pod slow: ErrImagePull (no image)"},
		"the same as before":        {web, lifecycle.Apply, true, nil, ": pod slow: ErrImagePull (no image)", map[string][]string{listPods: {waits}}, "untold"},
		"another than before":       {web, lifecycle.Apply, true, nil, ": before", map[string][]string{listPods: {waits}}, ": pod slow: ErrImagePull (no image)"},
		"no more":                   {web, lifecycle.Apply, true, nil, ": before", map[string][]string{listPods: {fine}}, ""},
		"pods that are fine":        {web, lifecycle.Apply, true, nil, "", map[string][]string{listPods: {fine}, events: {happened("FailedCreate", "x", "1")}}, "untold"},
		"an event":                  {set, lifecycle.Apply, true, nil, "", map[string][]string{listPods: {fine}, events: {happened("FailedCreate", "x", "1")}}, ": FailedCreate (x)"},
		"no event":                  {set, lifecycle.Apply, true, nil, "", map[string][]string{listPods: {fine}, events: {happened()}}, "untold"},
		"an event that is not seen": {set, lifecycle.Apply, true, nil, "", map[string][]string{listPods: {fine}, events: {forbidden}}, "untold"},
		"a pod before an event":     {set, lifecycle.Apply, true, nil, "", map[string][]string{listPods: {waits}, events: {happened("FailedCreate", "x", "1")}}, ": pod slow: ErrImagePull (no image)"},
		"a claim before a pod":      {set, lifecycle.Apply, true, []string{"data"}, "", map[string][]string{listPods: {waits}, listed: {claims("data-db-1", "Bound", "data-db-0", "Bound", "data-db-2", "Pending", "data-dbx-0", "Pending", "data-db-x", "Pending")}, events: {happened("Failed", "no class", "1")}}, ": its claim data-db-2 is not ready: Failed (no class)"},
		"a claim of no pod":         {set, lifecycle.Apply, true, []string{"data"}, "", map[string][]string{listPods: {waits}, listed: {claims("data-db-0", "Pending")}, events: {happened("WaitForFirstConsumer", "x", "1")}}, ": pod slow: ErrImagePull (no image)"},
		"claims that are not seen":  {set, lifecycle.Apply, true, []string{"data"}, "", map[string][]string{listPods: {waits}, listed: {forbidden}}, ": pod slow: ErrImagePull (no image)"},
		"a claim without events":    {set, lifecycle.Apply, true, []string{"data"}, "", map[string][]string{listPods: {waits}, listed: {claims("data-db-0", "Pending")}, events: {forbidden}}, ": pod slow: ErrImagePull (no image)"},
		"pods that are not seen":    {set, lifecycle.Apply, true, nil, "", map[string][]string{listPods: {forbidden}, events: {happened("FailedCreate", "x", "1")}}, "untold"},
		"what is removed":           {web, lifecycle.Delete, true, nil, "", map[string][]string{listPods: {waits}}, "untold"},
		"what is missing":           {web, lifecycle.Apply, false, nil, "", map[string][]string{listPods: {waits}}, "untold"},
		"a claim of what runs none": {lifecycle.Resource{Group: "apps", Version: "v1", Kind: "StatefulSet", Plural: "statefulsets", Namespace: "n", Name: "db"}, lifecycle.Apply, true, []string{"data"}, "", map[string][]string{listed: {claims("data-db-0", "Pending")}, events: {happened("Failed", "no class", "1")}}, ": its claim data-db-0 is not ready: Failed (no class)"},
		"what runs no VDU, of none": {lifecycle.Resource{Group: "apps", Version: "v1", Kind: "StatefulSet", Plural: "statefulsets", Namespace: "n", Name: "db"}, lifecycle.Apply, true, nil, "", map[string][]string{events: {happened("FailedCreate", "x", "1")}}, "untold"},
		"what runs no VDU":          {aMap, lifecycle.Apply, true, nil, "", map[string][]string{listPods: {waits}}, "untold"},
	} {
		r, told := doing(&script{answers: c.answers}, lifecycle.Wave{Deed: c.deed})
		w := &waiting{Object: lifecycle.Object{Resource: c.of}, makes: c.makes, why: c.was}
		w.is = lifecycle.Observation{Resource: c.of, Standing: c.standing, Message: "waits" + c.was}
		r.explain(t.Context(), []*waiting{w})
		got := "untold"
		if len(*told) > 0 {
			got = strings.TrimPrefix((*told)[0], c.of.Name+" true false waits")
		}
		if got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
	s := &script{answers: map[string][]string{listPods: {waits}}}
	r, told := doing(s, lifecycle.Wave{})
	var all []*waiting
	for range 6 {
		all = append(all, &waiting{Object: lifecycle.Object{Resource: web}, is: lifecycle.Observation{Standing: true}})
	}
	if r.explain(t.Context(), all); len(*told) != maxNamed || len(s.asked) != 1 {
		t.Errorf("of six %d are told, by %q", len(*told), s.asked)
	}
}

// What stands is read and listed as it was asked for; what is not served is told from what is refused.
func TestReadingAndListing(t *testing.T) {
	listed := `{"kind":"ConfigMapList","items":[{"metadata":{"name":"a","uid":"u","namespace":"n"}},{"metadata":{"name":"b","uid":"v","namespace":"n"}}]}`
	half := `{"kind":"ConfigMapList","metadata":{"continue":"c"},"items":[{"metadata":{"name":"a","uid":"u","namespace":"n"}}]}`
	rest := `{"kind":"ConfigMapList","items":[{"metadata":{"name":"b","uid":"v","namespace":"n"}}]}`
	anyMap := lifecycle.Resource{Version: "v1", Kind: "ConfigMap", Plural: "configmaps", Namespace: "n"}
	for name, c := range map[string]struct {
		of     lifecycle.Resource
		cached bool
		answer []string
		n      int
		want   string
	}{
		"one":             {aMap, false, []string{listed}, 1, ""},
		"all":             {anyMap, false, []string{listed}, 2, ""},
		"cached":          {aMap, true, []string{listed}, 1, ""},
		"not cached":      {aMap, true, []string{"504 {}", listed}, 1, ""},
		"half cached":     {anyMap, true, []string{half, "410 {}", listed}, 2, ""},
		"in two pages":    {anyMap, true, []string{half, rest}, 2, ""},
		"never whole":     {anyMap, false, []string{half, forbidden}, 0, "cannot list configmaps: the cluster forbids it (403)"},
		"not served":      {aMap, false, []string{refusing(404, "NotFound", "", "")}, 0, "the cluster serves no such kind under that name"},
		"by a gateway":    {aMap, false, []string{"404 x"}, 0, "cannot list configmaps: the endpoint does not answer as a Kubernetes API server does (404)"},
		"refused":         {aMap, false, []string{forbidden}, 0, "cannot list configmaps: the cluster forbids it (403)"},
		"of no namespace": {lifecycle.Resource{Version: "v1", Kind: "ConfigMap", Plural: "configmaps"}, false, []string{listed}, 2, ""},
		"no namespace":    {lifecycle.Resource{Version: "v1", Kind: "ConfigMap", Plural: "configmaps", Namespace: "N"}, false, nil, 0, "is no name of a namespace"},
	} {
		s := fakeobjects.New(t)
		for _, a := range c.answer {
			f := fake.Fault{Method: "GET", Path: "/configmaps$", Kind: fake.JSON, Status: 200, Body: a}
			if _, err := fmt.Sscanf(a, "%3d ", &f.Status); err == nil {
				f.Body = a[4:]
			}
			s.Fail(f)
		}
		all, err := New().List(t.Context(), s.Connection(lifecycle.StageRules{}), c.of, "", c.cached)
		if len(all) != c.n || detail(err) != c.want {
			t.Errorf("%s: %d, %v, want %d, %q", name, len(all), err, c.n, c.want)
		}
		for _, o := range all {
			if !o.Ready || o.Kind != "ConfigMap" || o.Namespace != "n" || o.Name == "" || len(o.Object) == 0 {
				t.Errorf("%s: shown is %+v", name, o)
			}
		}
	}
}

// The release by whose rules pods are judged is the namespace's where that names one, or else the cluster's.
func TestReleasesThatJudge(t *testing.T) {
	for label, want := range map[string]string{"": "v1.30", "v1.25": "v1.25", "latest": "v1.30", "none": "v1.30"} {
		s := on(&script{answers: map[string][]string{
			"GET /version": {`{"gitVersion":"v1.30.1"}`}, "GET /api/v1/namespaces/n": {`{"metadata":{"labels":{"pod-security.kubernetes.io/enforce-version":"` + label + `"}}}`},
		}})
		own, err := s.release(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if got, err := s.enforced(t.Context(), "n", own); err != nil || got.String() != want {
			t.Errorf("%q: %s, %v, want %s", label, got, err, want)
		}
	}
	for answer, want := range map[string]string{forbidden: "latest", `{"gitVersion":"odd"}`: "latest", `{"gitVersion":"v1.30-x"}`: "v1.30", `{"gitVersion":"v1.30+x"}`: "v1.30", "500 {}": "cannot ask which version the cluster is: the API server cannot do it now (500)"} {
		got, err := on(&script{answers: map[string][]string{"GET /version": {answer}}}).release(t.Context())
		if said := got.String(); err == nil && said != want || err != nil && detail(err) != want {
			t.Errorf("%s: %s, %v, want %s", answer, said, err, want)
		}
	}
	if _, err := on(&script{answers: map[string][]string{"GET /api/v1/namespaces/n": {"500 {}"}}}).enforced(t.Context(), "n", api.LatestVersion()); detail(err) != "cannot read the labels of namespace n: the API server cannot do it now (500)" {
		t.Errorf("a namespace that is not seen: %v", err)
	}
}

// Hosts of others are read once; a lease that may not, or a cluster without Ingresses, knows none.
func TestHostsOfOthersAreRead(t *testing.T) {
	for answer, want := range map[error]error{
		nil: nil, &broker.Error{Kind: broker.ErrForbidden}: nil, &broker.Error{Kind: broker.ErrNotFound}: nil, &broker.Error{Kind: broker.ErrUnreachable}: broker.ErrUnreachable,
	} {
		s, asked := on(&script{}), 0
		s.further = func(context.Context, lifecycle.StageRules, func(lifecycle.Connection) error) error {
			asked++
			return answer
		}
		for range 2 {
			if hosts, err := s.hostsOfOthers(t.Context(), lifecycle.PlanInput{}); !errors.Is(err, want) || err == nil != (want == nil) || hosts == nil != (want != nil) {
				t.Errorf("%v: %v, %v, want %v", answer, hosts, err, want)
			}
		}
		if asked != 1 && want == nil {
			t.Errorf("%v: asked %d times", answer, asked)
		}
	}
	s := on(&script{})
	s.further = func(_ context.Context, g lifecycle.StageRules, do func(lifecycle.Connection) error) error {
		if !g.ClusterWide || len(g.Rules) != 1 || !slices.Equal(g.Rules[0].Verbs, []string{"list"}) {
			t.Errorf("it asks for %+v", g)
		}
		return do(lifecycle.Connection{Config: clientconfig.Config{Endpoint: "none"}})
	}
	if _, err := s.hostsOfOthers(t.Context(), lifecycle.PlanInput{}); !errors.Is(err, broker.ErrInvalid) {
		t.Errorf("a lease of nowhere: %v", err)
	}
}

// A definition is the instance's where it is missing, has its label, or is the very one that is recorded.
func TestWhoseADefinitionIs(t *testing.T) {
	of := lifecycle.Resource{Group: definitionGroup, Version: "v1", Kind: definitionKind, Plural: "customresourcedefinitions", Name: "as.g"}
	recorded := of
	recorded.UID = "uid-as.g"
	bare := strings.Replace(there(of, ""), `,"labels":{"vimbroker.io/instance":"i"}`, "", 1)
	for name, c := range map[string]struct {
		answer string
		stands []lifecycle.Resource
		ours   bool
	}{
		"missing": {gone(of), nil, true}, "labelled": {there(of, ""), nil, true}, "recorded": {bare, []lifecycle.Resource{recorded}, true},
		"another": {bare, nil, false}, "another since": {strings.Replace(bare, "uid-as.g", "uid-2", 1), []lifecycle.Resource{recorded}, false}, "not seen": {forbidden, nil, false},
	} {
		ours, err := on(&script{answers: answers{getOf(of): {c.answer}}}).ownDefinition(t.Context(), lifecycle.PlanInput{Instance: "i", Standing: c.stands}, &object{Resource: of})
		if ours != c.ours || err == nil != (name != "not seen") {
			t.Errorf("%s: %t, %v", name, ours, err)
		}
	}
}

// A link of which no network can be made is refused before the cluster is asked for anything.
func TestALinkThatIsNoneIsRefusedFirst(t *testing.T) {
	s := &script{}
	in := lifecycle.PlanInput{Links: []lifecycle.Link{{CPs: []sol003.ExtCP{{CPDID: "net"}}}}, Manifests: []lifecycle.Manifest{{Path: "a.yaml", Text: secret.NewText("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n")}}}
	all, err := on(s).settled(t.Context(), in, nil, nil)
	if e, is := errors.AsType[*broker.Error](err); !is || e.Field != "extVirtualLinks" || all != nil || len(s.asked) > 0 {
		t.Errorf("%v, %v, after %q", all, err, s.asked)
	}
}

// Hosts of others are asked for where an Ingress has a host, and each object is judged by the release of where it is.
func TestWhatStandsAround(t *testing.T) {
	away := &broker.Error{Kind: broker.ErrUnreachable}
	hosted := func(group, kind, host string) *object {
		return &object{Resource: lifecycle.Resource{Group: group, Kind: kind, Namespace: "n"}, content: map[string]any{"spec": map[string]any{"rules": []any{map[string]any{"host": host}}}}}
	}
	for name, c := range map[string]struct {
		o    *object
		want error
	}{
		"a host": {hosted("networking.k8s.io", "Ingress", "h"), away}, "no host": {hosted("networking.k8s.io", "Ingress", ""), nil},
		"another kind": {hosted("networking.k8s.io", "Other", "h"), nil}, "another group": {hosted("x", "Ingress", "h"), nil},
	} {
		s := on(&script{answers: map[string][]string{
			"GET /version": {`{"gitVersion":"v1.30.1"}`}, "GET /api/v1/namespaces/n": {`{"metadata":{"labels":{"pod-security.kubernetes.io/enforce-version":"v1.25"}}}`},
		}})
		s.further = func(context.Context, lifecycle.StageRules, func(lifecycle.Connection) error) error { return away }
		elsewhere := hosted("x", "A", "")
		elsewhere.Namespace = "m"
		if err := s.around(t.Context(), lifecycle.PlanInput{Namespace: "n"}, []*object{elsewhere, c.o, elsewhere}); !errors.Is(err, c.want) || err == nil != (c.want == nil) {
			t.Errorf("%s: %v, want %v", name, err, c.want)
		}
		if here, there := c.o.release.String(), elsewhere.release.String(); here != "v1.25" || there != "v1.30" {
			t.Errorf("%s: judged by %s, and elsewhere by %s", name, here, there)
		}
	}
	s := on(&script{answers: map[string][]string{"GET /version": {forbidden}, "GET /api/v1/namespaces/n": {forbidden}}})
	s.hosts = map[string]bool{"h": true}
	all := []*object{hosted("", "ConfigMap", ""), hosted("networking.k8s.io", "Ingress", "h")}
	if err := s.around(t.Context(), lifecycle.PlanInput{Namespace: "n"}, all); err != nil || len(sharedHosts(all[1])) != 1 || all[0].hostsOfOthers == nil {
		t.Errorf("hosts that are known: %v, %v", all[1].hostsOfOthers, err)
	}
}

// The claims that a set would take are looked at under a lease of their own, whose failures are the plan's.
func TestClaimsThatCannotBeLookedAt(t *testing.T) {
	o := &object{Resource: bareSet, content: map[string]any{"spec": map[string]any{"volumeClaimTemplates": []any{map[string]any{"metadata": map[string]any{"name": "data"}}}}}}
	for name, c := range map[string]struct {
		to   lifecycle.Connection
		err  error
		want error
	}{
		"nowhere":           {lifecycle.Connection{Config: clientconfig.Config{Endpoint: "none"}}, nil, broker.ErrInvalid},
		"without rights":    {fakeobjects.New(t).Connection(lifecycle.StageRules{}), nil, broker.ErrForbidden},
		"without a lease":   {lifecycle.Connection{}, &broker.Error{Kind: broker.ErrQuota}, broker.ErrQuota},
		"without namespace": {lifecycle.Connection{}, &broker.MissingNamespace{}, nil},
	} {
		s := on(&script{})
		s.further = func(_ context.Context, g lifecycle.StageRules, do func(lifecycle.Connection) error) error {
			if want := []broker.Rule{{APIGroups: []string{""}, Resources: []string{claimPlural}, Verbs: []string{"list"}}}; g.ClusterWide || !slices.Equal(g.Namespaces, []string{"n"}) || !reflect.DeepEqual(g.Rules, want) {
				t.Errorf("it asks for %+v", g)
			}
			if c.err != nil {
				return c.err
			}
			return do(c.to)
		}
		if err := s.spared(t.Context(), lifecycle.PlanInput{Instance: "i", Namespace: "n"}, o, map[string]bool{}); !errors.Is(err, c.want) || err == nil != (c.want == nil) {
			t.Errorf("%s: %v, want %v", name, err, c.want)
		}
	}
}

// Volumes and links are leased with what they need, and refused by field.
func TestLeasesOfAssets(t *testing.T) {
	volume := func(v spec.VolumeSpec, existing string) error {
		_, err := Volumes{}.Lease(asset.Asset{ID: "1", Existing: existing, Volume: v})
		return err
	}
	link := func(s spec.LinkSpec, spans ...spec.Span) error {
		_, err := Links{}.Lease(asset.Asset{Spec: s, Spans: spans})
		return err
	}
	nad, yes := &spec.PodNetwork{Type: "bridge", Device: "br0"}, true
	for name, c := range map[string]struct {
		err   error
		field string
	}{
		"a volume":        {volume(spec.VolumeSpec{Namespace: "n", Size: "1Gi"}, ""), ""},
		"a claim":         {volume(spec.VolumeSpec{Namespace: "n"}, "data"), ""},
		"no namespace":    {volume(spec.VolumeSpec{Size: "1Gi"}, ""), "spec.namespace"},
		"no claim":        {volume(spec.VolumeSpec{Namespace: "n"}, "A b"), "existing.claimName"},
		"no size":         {volume(spec.VolumeSpec{Namespace: "n", Size: "x"}, ""), "spec.size"},
		"nothing":         {volume(spec.VolumeSpec{Namespace: "n", Size: "0"}, ""), "spec.size"},
		"less":            {volume(spec.VolumeSpec{Namespace: "n", Size: "-1"}, ""), "spec.size"},
		"a class":         {volume(spec.VolumeSpec{Namespace: "n", Size: "1", Class: "A b"}, ""), "spec.storageClass"},
		"a mode":          {volume(spec.VolumeSpec{Namespace: "n", Size: "1", Modes: []string{"ReadWriteMany", "Read"}}, ""), "spec.accessModes"},
		"a link":          {link(spec.LinkSpec{NAD: nad}), ""},
		"no network":      {link(spec.LinkSpec{}), "spec.nad"},
		"spans":           {link(spec.LinkSpec{NAD: nad}, spec.Span{}), "spans"},
		"a pool":          {link(spec.LinkSpec{NAD: nad, SubnetPool: "p"}), "spec"},
		"a router":        {link(spec.LinkSpec{NAD: nad, Router: "r"}), "spec"},
		"port security":   {link(spec.LinkSpec{NAD: nad, PortSecurity: &yes}), "spec"},
		"a segment":       {link(spec.LinkSpec{NAD: nad, Segment: &spec.LinkSegment{}}), "spec"},
		"rules":           {link(spec.LinkSpec{NAD: nad, Rules: []spec.SecurityRule{}}), "spec"},
		"another network": {link(spec.LinkSpec{NAD: &spec.PodNetwork{Type: "x"}}), "spec.nad.type"},
	} {
		e, is := errors.AsType[*broker.Error](c.err)
		if is != (c.field != "") || is && (e.Field != c.field || e.Kind != broker.ErrInvalid || e.Detail == "") {
			t.Errorf("%s: %v, want one of %q", name, c.err, c.field)
		}
	}
	for existing, verbs := range map[string]string{"": "get,create,patch,delete vimbroker-1", "data": "get data"} {
		r, err := Volumes{}.Lease(asset.Asset{ID: "1", Existing: existing, Volume: spec.VolumeSpec{Namespace: "n", Size: "1"}})
		if err != nil || len(r.Rules) != 1 || strings.Join(r.Rules[0].Verbs, ",")+" "+strings.Join(r.Rules[0].ResourceNames, ",") != verbs || !slices.Equal(r.Namespaces, []string{"n"}) {
			t.Errorf("the lease of %q is %+v, %v", existing, r, err)
		}
	}
}

// An error says what ended the wait; a call that is cut off is one of the object that it was about.
func TestWhatEndsAWait(t *testing.T) {
	for cause, want := range map[error]string{
		context.DeadlineExceeded: "not ready in time: ConfigMap n/a waits", context.Canceled: "the operation was stopped while it waited: ConfigMap n/a waits",
		errFailed: "will not become ready by itself: ConfigMap n/a waits", io.EOF: "ConfigMap n/a waits",
	} {
		if err := notReady(aMap, "waits", cause); detail(err) != want || !errors.Is(err, lifecycle.ErrNotReady) || !errors.Is(err, cause) {
			t.Errorf("%v: %v, want %q", cause, err, want)
		}
	}
	stopped, stop := context.WithCancel(t.Context())
	stop()
	late, end := context.WithTimeout(t.Context(), 0)
	defer end()
	gone, refused := &broker.Error{Kind: broker.ErrUnreachable}, &broker.Error{Kind: broker.ErrForbidden}
	for _, c := range []struct {
		ctx  context.Context
		err  error
		want error
	}{
		{t.Context(), gone, broker.ErrUnreachable}, {stopped, refused, broker.ErrForbidden}, {stopped, gone, lifecycle.ErrNotReady}, {late, refused, lifecycle.ErrNotReady}, {late, gone, lifecycle.ErrNotReady},
	} {
		if err := (&run{}).cut(c.ctx, aMap, c.err); !errors.Is(err, c.want) {
			t.Errorf("%v where the context is %v: %v, want %v", c.err, c.ctx.Err(), err, c.want)
		}
	}
}

// What is read of resources that stand, that are missing, and that nobody may see; an autoscaler that is missing targets nothing.
func TestReadingResources(t *testing.T) {
	s := fakeobjects.New(t)
	s.Serve(fakeobjects.Kind{Group: "autoscaling", Version: "v2", Kind: "HorizontalPodAutoscaler", Plural: "horizontalpodautoscalers", Namespaced: true})
	s.Put(mapPath, map[string]any{"kind": "ConfigMap", "apiVersion": "v1", "metadata": map[string]any{"name": "a", "namespace": "n"}})
	may := lifecycle.StageRules{ClusterWide: true, Rules: []broker.Rule{{APIGroups: []string{"", "autoscaling"}, Resources: []string{"configmaps", "horizontalpodautoscalers"}, Verbs: []string{"get"}}}}
	missing := aMap
	missing.Name = "b"
	all, err := New().Read(t.Context(), s.Connection(may), []lifecycle.Resource{aMap, missing})
	if err != nil || len(all) != 2 || !all[0].Ready || len(all[0].Object) == 0 || all[1].Ready || len(all[1].Object) != 0 || !reflect.DeepEqual(all[1].Resource, missing) {
		t.Errorf("read are %+v, %v", all, err)
	}
	if _, err := New().Read(t.Context(), s.Connection(lifecycle.StageRules{}), []lifecycle.Resource{aMap}); !errors.Is(err, broker.ErrForbidden) {
		t.Errorf("what nobody may see: %v", err)
	}
	s.Fail(fake.Fault{Method: "GET", Path: "/jobs$", Kind: fake.JSON, Status: 200, Body: `{"kind":"JobList","items":[{"metadata":{"name":"j","uid":"u","namespace":"n"}}]}`})
	jobs := aJob
	jobs.Name = ""
	if listed, err := New().List(t.Context(), s.Connection(may), jobs, "", false); err != nil || len(listed) != 1 || listed[0].Ready {
		t.Errorf("a Job of a list, which names no kind, is ready before it is complete: %+v, %v", listed, err)
	}
	scaler := lifecycle.Resource{Group: "autoscaling", Version: "v2", Kind: "HorizontalPodAutoscaler", Plural: "horizontalpodautoscalers", Namespace: "n", Name: "h"}
	seen, err := New().Observe(t.Context(), s.Connection(may), "i", []lifecycle.Resource{scaler})
	if err != nil || seen[0].Standing || seen[0].Message != "is missing" {
		t.Errorf("an autoscaler that is missing: %+v, %v", seen, err)
	}
}

// A claim that exists is taken while it is to stay; the claim of a volume that cannot be removed is told.
func TestClaimsOfVolumes(t *testing.T) {
	const path = "/api/v1/namespaces/n/persistentvolumeclaims/"
	may := lifecycle.StageRules{ClusterWide: true, Rules: []broker.Rule{{APIGroups: []string{""}, Resources: []string{"persistentvolumeclaims"}, Verbs: []string{"get"}}}}
	s := fakeobjects.New(t)
	s.Put(path+"data", map[string]any{"kind": "PersistentVolumeClaim", "metadata": map[string]any{"name": "data", "namespace": "n"}})
	s.Put(path+"going", map[string]any{"kind": "PersistentVolumeClaim", "metadata": map[string]any{"name": "going", "namespace": "n", "deletionTimestamp": "x"}})
	s.Put(path+"vimbroker-1", map[string]any{"kind": "PersistentVolumeClaim", "metadata": map[string]any{"name": "vimbroker-1", "namespace": "n", "labels": map[string]any{instanceLabel: "1"}}})
	c := s.Connection(may)
	to := asset.Connection{Config: c.Config, Egress: c.Egress}
	none := s.Connection(lifecycle.StageRules{})
	for existing, field := range map[string]string{"data": "", "going": "existing.claimName", "none": "existing.claimName"} {
		_, err := Volumes{}.Make(t.Context(), to, asset.Asset{ID: "1", Existing: existing, Volume: spec.VolumeSpec{Namespace: "n"}})
		if e, is := errors.AsType[*broker.Error](err); is != (field != "") || is && e.Field != field {
			t.Errorf("claim %s: %v, want one of %q", existing, err, field)
		}
	}
	if _, err := (Volumes{}).Make(t.Context(), asset.Connection{Config: none.Config, Egress: none.Egress}, asset.Asset{ID: "1", Existing: "data", Volume: spec.VolumeSpec{Namespace: "n"}}); !errors.Is(err, broker.ErrForbidden) {
		t.Errorf("a claim that nobody may see: %v", err)
	}
	if err := (Volumes{}).Remove(t.Context(), to, asset.Asset{ID: "1", Volume: spec.VolumeSpec{Namespace: "n"}}); !errors.Is(err, broker.ErrForbidden) {
		t.Errorf("a claim that nobody may remove: %v", err)
	}
	may.Rules[0].Verbs = []string{"get", "create", "patch", "delete"}
	c = s.Connection(may)
	for id, v := range map[string]spec.VolumeSpec{"2": {Namespace: "n", Size: "1Gi"}, "3": {Namespace: "n", Size: "2Gi", Class: "fast", Modes: []string{"ReadOnlyMany", "ReadWriteMany"}}} {
		want := map[string]any{"accessModes": []any{"ReadWriteOnce"}, "resources": map[string]any{"requests": map[string]any{"storage": v.Size}}}
		if v.Class != "" {
			want["storageClassName"], want["accessModes"] = v.Class, []any{"ReadOnlyMany", "ReadWriteMany"}
		}
		of := asset.Asset{ID: id, Volume: v}
		if _, err := (Volumes{}).Make(t.Context(), asset.Connection{Config: c.Config, Egress: c.Egress}, of); err != nil {
			t.Errorf("volume %s: %v", id, err)
		}
		made := s.Get(path + "vimbroker-" + id)
		if got := mapAt(made, "spec"); !reflect.DeepEqual(got, want) || text(mapAt(made, "metadata", "labels"), instanceLabel) != id {
			t.Errorf("volume %s is %v, want %v", id, made, want)
		}
		if err := (Volumes{}).Remove(t.Context(), asset.Connection{Config: c.Config, Egress: c.Egress}, of); err != nil || s.Get(path+"vimbroker-"+id) != nil {
			t.Errorf("volume %s is removed: %v", id, err)
		}
	}
	if err := (Volumes{}).Remove(t.Context(), to, asset.Asset{ID: "1", Existing: "data", Volume: spec.VolumeSpec{Namespace: "n"}}); err != nil {
		t.Errorf("a claim of others: %v", err)
	}
}

// A chart's object runs the VDU that its name has beside the release's; without a release, none.
func TestVDUsOfNames(t *testing.T) {
	for _, c := range []struct{ release, name, has, want string }{
		{"r", "web-r", "", "web"},
		{"r", "r-web", "", "web"},
		{"r", "web", "", ""},
		{"r", "r-web-r", "", "r-web"},
		{"r", "web-r", "own", "own"},
		{"", "web-", "", ""},
		{"", "-web", "", ""},
		{"r", "r-" + strings.Repeat("v", 63), "", strings.Repeat("v", 63)},
		{"r", "r-" + strings.Repeat("v", 64), "", ""},
	} {
		meta := map[string]any{"name": c.name}
		if c.has != "" {
			setText(meta, "annotations", vduAnnotation, c.has)
		}
		(&Marks{Release: c.release}).annotate(meta)
		if got := text(mapAt(meta, "annotations"), vduAnnotation); got != c.want {
			t.Errorf("%+v: %q", c, got)
		}
	}
}

// What a package is made from, what of a request is secret, and what divides it, or why that cannot be said.
func TestSourcesThatCannotBeRead(t *testing.T) {
	broken := &broker.Error{Kind: broker.ErrInvalid, Detail: "too long"}
	source := func(text string, err error, given ...string) lifecycle.Source {
		return lifecycle.Source{Paths: []string{"Files/kubernetes/a.yaml"}, Given: given, Read: func([]string) ([]lifecycle.Manifest, error) {
			return []lifecycle.Manifest{{Path: "a.yaml", Text: secret.NewText(text)}}, err
		}}
	}
	if _, err := New().Basis(source("", broken, "v")); !errors.Is(err, broker.ErrInvalid) {
		t.Errorf("a package that cannot be read: %v", err)
	}
	unread := source("", nil, "v")
	unread.Read = nil
	if b, err := New().Basis(unread); err != nil || b.Secret != nil {
		t.Errorf("a package that is not read: %+v, %v", b, err)
	}
	packed := lifecycle.Source{Paths: []string{"a.tgz"}, Named: []string{"a.tgz"}}
	if _, err := New().Basis(packed); !errors.Is(err, broker.ErrUnsupported) {
		t.Errorf("a packed chart: %v", err)
	}
	for text, want := range map[string]string{
		"kind: Secret\napiVersion: v1\nstringData: {a: \"${v}\"}\n": "v", "kind: Secret\napiVersion: x/v1\nstringData: {a: \"${v}\"}\n": "", "kind: ConfigMap\napiVersion: v1\ndata: {a: \"${v}\"}\n": "",
		"kind: List\nitems:\n- {kind: Secret, apiVersion: v1, data: {a: \"${v}\"}}\n": "v", "kind: List\nmetadata: {annotations: {vimbroker.io/secret-variables: \"x, v\"}}\n": "v", "a: [": "v",
		"kind: Secret\napiVersion: v1\nother: {a: \"${v}\"}\n": "", "kind: Odd\nitems:\n- {kind: Secret, apiVersion: v1, data: {a: \"${v}\"}}\n": "",
	} {
		if b, err := New().Basis(source(text, nil, "v")); err != nil || strings.Join(b.Secret, " ") != want {
			t.Errorf("of %q secret is %q, %v, want %q", text, b.Secret, err, want)
		}
	}
	for name, s := range map[string]lifecycle.Source{"no files": {}, "unreadable": source("", broken), "not YAML": source("a: [", nil)} {
		if _, err := New().Divide(s); !errors.Is(err, broker.ErrInvalid) {
			t.Errorf("%s is divided: %v", name, err)
		}
	}
	if all, err := New().Warnings(source("", broken)); !errors.Is(err, broker.ErrInvalid) || all != nil {
		t.Errorf("unreadable: %q, %v", all, err)
	}
	for n, want := range map[int]string{MaxWarnings: "no kind", MaxWarnings + 1: "and 2 more"} {
		all, err := New().Warnings(source(strings.Repeat("---\nkind: Odd\napiVersion: v1\nmetadata: {name: a}\n", n), nil))
		if err != nil || len(all) != MaxWarnings || !strings.Contains(all[len(all)-1], want) {
			t.Errorf("of %d warnings there are %d, the last %q, %v", n, len(all), all[len(all)-1], err)
		}
	}
}
