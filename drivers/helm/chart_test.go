package helm_test

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/google/uuid"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/broker/secret"
	"github.com/vimbroker/vimbroker/drivers/helm"
	"github.com/vimbroker/vimbroker/lifecycle"
	"github.com/vimbroker/vimbroker/lifecycle/vnfpkg"
	"github.com/vimbroker/vimbroker/test/fake"
	"github.com/vimbroker/vimbroker/test/fakeobjects"
)

// chartOf is a chart of these files, as a folder of a package.
func chartOf(files map[string]string) []lifecycle.Manifest {
	all := []lifecycle.Manifest{{Path: "c/Chart.yaml", Text: secret.NewText("apiVersion: v2\nname: web\nversion: 1.0.0\n")}}
	for name, text := range files {
		m := lifecycle.Manifest{Path: "c/" + name, Text: secret.NewText(text)}
		if name == "Chart.yaml" {
			all[0] = m
			continue
		}
		all = append(all, m)
	}
	return all
}

// packed is the same as an archive.
func packed(t *testing.T, add func(*tar.Writer), files map[string]string) []lifecycle.Manifest {
	t.Helper()
	var out bytes.Buffer
	z := gzip.NewWriter(&out)
	w := tar.NewWriter(z)
	for _, m := range chartOf(files) {
		text := m.Text.Reveal()
		if err := w.WriteHeader(&tar.Header{Name: m.Path, Mode: 0o600, Size: int64(len(text))}); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write([]byte(text)); err != nil {
			t.Fatal(err)
		}
	}
	if add != nil {
		add(w)
	}
	if err := errors.Join(w.Close(), z.Close()); err != nil {
		t.Fatal(err)
	}
	return []lifecycle.Manifest{{Path: "web-1.0.0.tgz", Text: secret.NewText(out.String())}}
}

func inputOf(chart []lifecycle.Manifest) lifecycle.PlanInput {
	return lifecycle.PlanInput{
		Operation: lifecycle.Instantiate, Instance: uuid.NewString(), Name: "web", Namespace: "cnf", Mark: uuid.NewString(), Manifests: chart,
	}
}

func plan(t *testing.T, s *fakeobjects.Server, in lifecycle.PlanInput) (lifecycle.Plan, error) {
	t.Helper()
	d := driver()
	return d.Plan(t.Context(), s.Connection(d.Survey(in)), in)
}

// applied is the object of that name as a plan applies it last; empty where it does not.
func applied(p lifecycle.Plan, name string) (text string) {
	for _, stage := range p.Stages {
		for _, w := range stage.Waves {
			for _, o := range w.Objects {
				if o.Name == name && w.Deed == lifecycle.Apply {
					text = o.Manifest.Reveal()
				}
			}
		}
	}
	return text
}

const configMap = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata: "

// TestHostileCharts: what a chart tries ends in an error that names it, and repeats nothing of a value; what it asks
// of the machine it does not get.
func TestHostileCharts(t *testing.T) {
	s := fakeobjects.New(t)
	host := filepath.Join(t.TempDir(), "host")
	if err := os.WriteFile(host, []byte(`{"description": "canary of the host"}`), 0o644); err != nil { //nolint:gosec // who may read it is not what is shown
		t.Fatal(err)
	}
	t.Setenv("CANARY", "canary of the environment")
	const value = "canary-of-the-values"
	for name, c := range map[string]struct {
		chart []lifecycle.Manifest
		says  string
	}{
		"memory":      {chartOf(map[string]string{"templates/a.yaml": `{{ $x := repeat 1000000000 "aaaaaaaaaa" }}`}), "more time or memory"},
		"recursion":   {chartOf(map[string]string{"templates/a.yaml": `{{ define "a" }}{{ include "a" . }}{{ end }}{{ include "a" . }}`}), "a.yaml"},
		"endless":     {chartOf(map[string]string{"templates/a.yaml": `{{ range until 100000 }}{{ range until 100000 }}{{ end }}{{ end }}`}), "more time or memory"},
		"many":        {chartOf(map[string]string{"templates/a.yaml": "{{ range until 10001 }}\n---\n" + strings.Replace(configMap, "name: a", "name: a{{ . }}", 1) + "{}\n{{ end }}"}), "more than 10000 objects"},
		"value":       {chartOf(map[string]string{"templates/a.yaml": `{{ fail (printf "no %s" .Values.password) }}`}), "templates/a.yaml:1 stops by itself"},
		"by chance":   {chartOf(map[string]string{"templates/a.yaml": `{{ mustToDate "2006" .Values.password }}`}), "templates/a.yaml:1 cannot be rendered"},
		"as a place":  {chartOf(map[string]string{"templates/a.yaml": `{{ fail (printf "web/templates/%s" .Values.password) }}`}), "web/templates/a.yaml:1 stops by itself"},
		"as a line":   {chartOf(map[string]string{"templates/a.yaml": `{{ fail "web/templates/a.yaml:4711" }}`}), "web/templates/a.yaml:1 stops by itself"},
		"required":    {chartOf(map[string]string{"templates/a.yaml": `{{ required "canary-of-the-values" .Values.none }}`}), "templates/a.yaml:1 stops by itself"},
		"yaml":        {chartOf(map[string]string{"templates/a.yaml": `a: {{ .Values.password }}: [`}), "templates/a.yaml gives no YAML"},
		"environment": {chartOf(map[string]string{"templates/a.yaml": configMap + `{x: "{{ env "CANARY" }}"}`}), "calls a function"},
		"expanded":    {chartOf(map[string]string{"templates/a.yaml": configMap + `{x: "{{ expandenv "$CANARY" }}"}`}), "calls a function"},
		"schema": {chartOf(map[string]string{
			"values.schema.json": `{"$ref": "file://` + host + `"}`, "templates/a.yaml": configMap + "{}",
		}), "values.schema.json"},
		"schema at a server": {chartOf(map[string]string{
			"values.schema.json": `{"$ref": "` + s.URL + `/canary"}`, "templates/a.yaml": configMap + "{}",
		}), "values.schema.json"},
		"unfit": {chartOf(map[string]string{
			"values.schema.json": `{"properties": {"password": {"enum": ["x"]}}}`, "templates/a.yaml": configMap + "{}",
		}), "values.schema.json at /password"},
		"no chart":   {chartOf(map[string]string{"Chart.yaml": "name: web"}), "no chart that Helm can read"},
		"library":    {chartOf(map[string]string{"Chart.yaml": "apiVersion: v2\nname: web\nversion: 1.0.0\ntype: library"}), "library chart"},
		"dependency": {chartOf(map[string]string{"Chart.yaml": "apiVersion: v2\nname: web\nversion: 1.0.0\ndependencies: [{name: db, version: 1.0.0, repository: 'https://example.org'}]"}), "dependency db"},
		"record":     {chartOf(map[string]string{"templates/a.yaml": "apiVersion: v1\nkind: Secret\nmetadata: {name: sh.helm.release.v1.vnf1.v2}\n"}), "records of releases"},
		"record as a hook": {chartOf(map[string]string{
			"templates/a.yaml": "apiVersion: v1\nkind: Secret\nmetadata: {name: sh.helm.release.v1.vnf1.v2, annotations: {helm.sh/hook: pre-install}}\n",
		}), "records of releases"},
		"record as a definition": {chartOf(map[string]string{
			"crds/a.yaml": "apiVersion: v1\nkind: Secret\nmetadata: {name: sh.helm.release.v1.vnf1.v2}\n", "templates/a.yaml": configMap + "{}",
		}), "records of releases"},
		"long":       {chartOf(map[string]string{"templates/a.yaml": "{{/*" + strings.Repeat("a", 16<<20) + "*/}}\n" + configMap + "{}"}), "more than 16 MiB unpacked"},
		"hooks":      {chartOf(map[string]string{"templates/a.yaml": "{{ range until 1001 }}\n---\n" + strings.Replace(configMap, "name: a", "name: a{{ . }}, annotations: {helm.sh/hook: post-delete}", 1) + "{}\n{{ end }}"}), "more than 1000 hooks"},
		"late hook":  {chartOf(map[string]string{"templates/a.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata: {generateName: a, annotations: {helm.sh/hook: pre-delete}}\n"}), "generateName"},
		"kubernetes": {chartOf(map[string]string{"Chart.yaml": "apiVersion: v2\nname: web\nversion: 1.0.0\nkubeVersion: '>= 2.0.0'"}), "asks for Kubernetes"},
		"bomb": {packed(t, func(w *tar.Writer) {
			_ = w.WriteHeader(&tar.Header{Name: "c/templates/big.yaml", Mode: 0o600, Size: 64 << 20})
			_, _ = w.Write(make([]byte, 64<<20))
		}, nil), "more than 32 MiB unpacked"},
		"outside":    {packed(t, func(w *tar.Writer) { _ = w.WriteHeader(&tar.Header{Name: "c/../../x", Mode: 0o600}) }, nil), "no chart that Helm can read"},
		"no archive": {[]lifecycle.Manifest{{Path: "web.tgz", Text: secret.NewText("canary-of-the-values")}}, "no chart that Helm can read"},
	} {
		t.Run(name, func(t *testing.T) {
			in := inputOf(c.chart)
			in.Parameters = []byte(`{"helm_values": {"password": "` + value + `"}}`)
			_, err := plan(t, s, in)
			if !errors.Is(err, broker.ErrInvalid) || !strings.Contains(err.Error(), c.says) || strings.Contains(err.Error(), value) {
				t.Errorf("Plan = %v, want one that says %q", err, c.says)
			}
		})
	}
	for _, called := range s.Calls() {
		if strings.Contains(called, "canary") {
			t.Errorf("a chart had the server called: %s", called)
		}
	}

	// What asks for something of the machine in vain.
	p, err := plan(t, s, inputOf(packed(t, func(w *tar.Writer) {
		_ = w.WriteHeader(&tar.Header{Name: "c/files/link", Typeflag: tar.TypeSymlink, Linkname: host})
	}, map[string]string{"templates/a.yaml": configMap + `
  file: {{ .Files.Get "` + host + `" | quote }}
  above: {{ .Files.Get "../../../../../../../../` + host + `" | quote }}
  link: {{ .Files.Get "files/link" | quote }}
  name: {{ getHostByName "localhost" | quote }}
  looked: {{ lookup "v1" "Secret" "cnf" "" | toJson | quote }}
`})))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`"file":""`, `"above":""`, `"link":""`, `"name":""`, `"looked":"{}"`} {
		if got := applied(p, "a"); !strings.Contains(got, want) {
			t.Errorf("the object is %s, want %s in it", got, want)
		}
	}
}

// TestRenderingOutlastsASignalToTheServer: a terminal sends its to all processes of a group, and so may what
// runs services; an operation whose chart is being rendered does not fail of it.
func TestRenderingOutlastsASignalToTheServer(t *testing.T) {
	c := exec.CommandContext(t.Context(), os.Args[0], renders)
	in, err := c.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	c.Stdout = &out
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	// More than a pipe takes: it reads when this is written.
	if _, err := io.WriteString(in, strings.Repeat(" ", 4<<20)); err != nil {
		t.Fatal(err)
	}
	for _, s := range []os.Signal{os.Interrupt, syscall.SIGTERM, syscall.SIGHUP} {
		if err := c.Process.Signal(s); err != nil {
			t.Fatal(err)
		}
	}
	_, err = io.WriteString(in, "{}")
	if err := errors.Join(err, in.Close(), c.Wait()); err != nil || !strings.Contains(out.String(), "no chart that Helm can read") {
		t.Errorf("it answers %q, %v", out.String(), err)
	}
}

// TestNobodyWaitsForAChart: an operation that is canceled does not.
func TestNobodyWaitsForAChart(t *testing.T) {
	s := fakeobjects.New(t)
	in := inputOf(chartOf(map[string]string{"templates/a.yaml": `{{ range until 100000 }}{{ range until 100000 }}{{ end }}{{ end }}`}))
	d := driver()
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() {
		_, err := d.Plan(ctx, s.Connection(d.Survey(in)), in)
		ended <- err
	}()
	cancel()
	if err := <-ended; err == nil {
		t.Error("a chart without an end was planned")
	}
}

// TestGroupsThatFail: a chart is rendered without a group whose own server is away, and not at all where the cluster
// fails otherwise to say what it serves: an upgrade would remove what hangs on it.
func TestGroupsThatFail(t *testing.T) {
	const group = "/apis/a.example/v1$"
	in := inputOf(chartOf(map[string]string{"templates/a.yaml": configMap + `{served: {{ .Capabilities.APIVersions.Has "a.example/v1" | quote }}}`}))
	for name, c := range map[string]struct {
		fault fake.Fault
		want  string // of the rendering; empty: there is none
	}{
		"none":                   {fake.Fault{Path: "/nothing$", Kind: fake.Drop}, `"served":"true"`},
		"its server is away":     {fake.Fault{Path: group, Kind: fake.HTML, Status: 503}, `"served":"false"`},
		"the API server is away": {fake.Fault{Path: "/api/v1$", Kind: fake.HTML, Status: 503}, ""},
		"too many requests":      {fake.Fault{Path: group, Kind: fake.Refuse, Status: 429}, ""},
		"an internal error":      {fake.Fault{Path: group, Kind: fake.Refuse, Status: 500}, ""},
		"a gateway's time-out":   {fake.Fault{Path: group, Kind: fake.HTML, Status: 504}, ""},
		"not found":              {fake.Fault{Path: group, Kind: fake.HTML}, ""},
		"a broken connection":    {fake.Fault{Path: group, Kind: fake.Drop}, ""},
		"another's answer":       {fake.Fault{Path: group, Kind: fake.JSON, Status: 200, Body: "{}"}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			s := fakeobjects.New(t)
			s.Serve(fakeobjects.Kind{Group: "a.example", Version: "v1", Kind: "Thing", Plural: "things", Namespaced: true})
			c.fault.Times = -1
			s.Fail(c.fault)
			p, err := plan(t, s, in)
			if c.want == "" {
				if !errors.Is(err, broker.ErrUnreachable) {
					t.Errorf("Plan = %v, want %v", err, broker.ErrUnreachable)
				}
				return
			}
			if got := applied(p, "a"); err != nil || !strings.Contains(got, c.want) {
				t.Errorf("Plan = %s, %v, want %s in it", got, err, c.want)
			}
		})
	}
}

// TestValues: the request's are laid over the chart's, one after the other, and the descriptor says how many there are.
func TestValues(t *testing.T) {
	s := fakeobjects.New(t)
	in := inputOf(chartOf(map[string]string{
		"values.yaml":      "a: chart\nb: chart\nc: {d: chart, e: gone}\nreplicas: 1\n",
		"templates/a.yaml": configMap + `{a: {{ .Values.a | quote }}, b: {{ .Values.b | quote }}, c: {{ .Values.c | toJson | quote }}, number: {{ .Values.replicas | quote }}, big: {{ .Values.big | quote }}}`,
	}))
	in.Flavour = vnfpkg.Flavour{VDUs: map[string]vnfpkg.VDU{"VDU1": {ID: "VDU1", Name: "web"}}}
	in.Replicas = map[string]int32{"web": 4}
	in.Parameters = []byte(`{"helm_values": {"a": "request", "c": {"e": null}, "big": 12345678}, "helm_parameters": {"b": "set,with", "c.d": 7},
		"helm_value_names": {"VDU1": {"replica": "replicas"}}}`)
	p, err := plan(t, s, in)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := applied(p, "a"), `{"a":"request","b":"set,with","big":"12345678","c":"{\"d\":7}","number":"4"}`; !strings.Contains(got, want) {
		t.Errorf("the object is %s, want %s in it", got, want)
	}
	for _, bad := range []string{`{"helm_values": []}`, `{"helm_parameters": {"a": {"b": 1}}}`, `{"helm_parameters": {"a[b]": "canary"}}`} {
		in.Parameters = []byte(bad)
		if _, err := plan(t, s, in); !errors.Is(err, broker.ErrInvalid) || strings.Contains(err.Error(), "canary") {
			t.Errorf("with %s Plan = %v, want %v", bad, err, broker.ErrInvalid)
		}
	}
}

// TestNamesOfFilesAddNothing: a file whose name has lines of its own gives the objects that its text does, also where
// they are read again from the release's record.
func TestNamesOfFilesAddNothing(t *testing.T) {
	s := fakeobjects.New(t)
	in := inputOf(packed(t, nil, map[string]string{"templates/x\n---\n" + strings.Replace(configMap, "name: a", "name: hidden", 1) + "{}\n---\n#.yaml": configMap + "{}"}))
	first, err := plan(t, s, in)
	if err != nil {
		t.Fatal(err)
	}
	if err := driver().Run(t.Context(), s.Connection(first.Stages[0].Grant), in.Instance, first.Stages[0].Waves[0], func(lifecycle.Observation) {}); err != nil {
		t.Fatal(err)
	}
	in.Standing = first.Resources
	again, err := plan(t, s, in)
	if err != nil {
		t.Fatal(err)
	}
	if applied(first, "a") == "" || applied(again, "a") != applied(first, "a") || applied(again, "hidden") != "" {
		t.Errorf("the plan applies %s, and going on %s and %s", applied(first, "a"), applied(again, "a"), applied(again, "hidden"))
	}
}

// TestHooksAndDefinitions: in the order of Helm, each hook by itself.
func TestHooksAndDefinitions(t *testing.T) {
	s := fakeobjects.New(t)
	hook := func(name, annotations string) string {
		return "---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: " + name + ", annotations: {" + annotations + "}}\n"
	}
	p, err := plan(t, s, inputOf(chartOf(map[string]string{
		"crds/a.yaml": "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {name: things.example.com}\n" +
			"spec: {group: example.com, scope: Namespaced, names: {kind: Thing, plural: things}, versions: [{name: v1, served: true, storage: true}]}\n",
		"templates/a.yaml": configMap + "{}\n" + hook("second", "helm.sh/hook: pre-install, helm.sh/hook-weight: '2'") +
			hook("first", "helm.sh/hook: pre-install, helm.sh/hook-weight: '-1', helm.sh/hook-delete-policy: hook-succeeded") +
			hook("after", "helm.sh/hook: post-install") + hook("never", "helm.sh/hook: pre-upgrade") + hook("tests", "helm.sh/hook: test") +
			hook("kept", "helm.sh/resource-policy: keep"),
	})))
	if err != nil {
		t.Fatal(err)
	}
	var did []string
	for _, stage := range p.Stages {
		for _, w := range stage.Waves {
			for _, o := range w.Objects {
				did = append(did, fmt.Sprintf("%s %s", w.Deed, strings.Split(o.Name, ".release.v1.vnf")[0]))
			}
		}
	}
	want := "apply sh.helm, apply things.example.com, apply first, delete second, apply second, delete first, apply a, apply kept, delete after, apply after, apply sh.helm"
	if got := strings.Join(did, ", "); got != want {
		t.Errorf("the plan is\n%s, want\n%s", got, want)
	}
	var has []string
	for _, r := range p.Resources {
		if name := strings.Split(r.Name, ".release.v1.vnf")[0]; r.Outlives {
			has = append(has, name+" outlives")
		} else {
			has = append(has, name)
		}
	}
	if got, want := strings.Join(has, ", "), "sh.helm, things.example.com outlives, second, a, kept outlives, after"; got != want {
		t.Errorf("the instance consists of %s, want %s", got, want)
	}
}

// TestBasis: which packages are made as releases.
func TestBasis(t *testing.T) {
	for name, c := range map[string]struct {
		paths, named []string
		files        string
		kind         error
	}{
		"packed":           {paths: []string{"Files/kubernetes/web.tgz"}, files: "Files/kubernetes/web.tgz"},
		"folder":           {paths: []string{"a/Chart.yaml", "a/charts/b/Chart.yaml", "a/charts/c.tgz"}, files: "a/Chart.yaml a/charts/b/Chart.yaml a/charts/c.tgz"},
		"named":            {paths: []string{"a.tgz", "b.tgz"}, named: []string{"b.tgz"}, files: "b.tgz"},
		"named folder":     {paths: []string{"a/Chart.yaml", "ab/Chart.yaml"}, named: []string{"a/"}, files: "a/Chart.yaml"},
		"several":          {paths: []string{"a.tgz", "b.tgz"}, kind: broker.ErrInvalid},
		"manifests beside": {paths: []string{"Files/kubernetes/a.tgz", "Files/kubernetes/b.yaml"}, kind: broker.ErrInvalid},
		"none":             {paths: []string{"Files/kubernetes/b.yaml"}, kind: broker.ErrUnsupported},
		"not there":        {paths: []string{"a.tgz"}, named: []string{"c.tgz"}, kind: broker.ErrUnsupported},
		"manifest named":   {paths: []string{"a.yaml"}, named: []string{"a.yaml"}, kind: broker.ErrUnsupported},
	} {
		b, err := driver().Basis(lifecycle.Source{Paths: c.paths, Named: c.named})
		if !errors.Is(err, c.kind) || c.kind == nil && (strings.Join(b.Files, " ") != c.files || b.Namespace != "default") {
			t.Errorf("%s: Basis = %+v, %v, want %q, %v", name, b, err, c.files, c.kind)
		}
	}
}

// TestWithoutTheProgram: charts are refused, with what to do.
func TestWithoutTheProgram(t *testing.T) {
	s := fakeobjects.New(t)
	d, in := helm.New(helm.Options{Program: []string{filepath.Join(t.TempDir(), "none")}}), inputOf(chartOf(map[string]string{"templates/a.yaml": configMap + "{}"}))
	_, err := d.Plan(t.Context(), s.Connection(d.Survey(in)), in)
	if !errors.Is(err, broker.ErrUnsupported) || !strings.Contains(err.Error(), "renders charts") {
		t.Errorf("Plan = %v, want that there is no program", err)
	}
}

// TestSample: the chart of the documentation gives what its page says.
func TestSample(t *testing.T) {
	s := fakeobjects.New(t)
	const root = "../../docs/samples/chart"
	var files []lifecycle.Manifest
	err := filepath.WalkDir(root, func(name string, entry os.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		text, err := os.ReadFile(name)
		files = append(files, lifecycle.Manifest{Path: "chart" + strings.TrimPrefix(name, root), Text: secret.NewText(string(text))})
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	in := inputOf(files)
	in.Replicas = map[string]int32{"web": 2}
	p, err := plan(t, s, in)
	if err != nil {
		t.Fatal(err)
	}
	if got := applied(p, "web"); !strings.Contains(got, `"replicas":2`) || !strings.Contains(got, `"vimbroker.io/vdu":"web"`) {
		t.Errorf("the Deployment is %s", got)
	}
	for _, name := range []string{"web-login", "web-pages", "web-started"} {
		if applied(p, name) == "" {
			t.Errorf("the plan does not apply %s", name)
		}
	}
}

// A workload whose number an autoscaler of the chart sets is not scaled: the operation would say that it was.
func TestScalingBesideAnAutoscaler(t *testing.T) {
	s := fakeobjects.New(t)
	s.Serve(fakeobjects.Kind{Group: "autoscaling", Version: "v2", Kind: "HorizontalPodAutoscaler", Plural: "horizontalpodautoscalers", Namespaced: true})
	const workload = "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web}\nspec: {replicas: 1, template: {spec: {containers: []}}}\n"
	in := inputOf(chartOf(map[string]string{"templates/a.yaml": workload}))
	in.Operation, in.Scaled, in.Replicas = lifecycle.ScaleVNF, []string{"web"}, map[string]int32{"web": 2}
	if _, err := plan(t, s, in); err != nil {
		t.Errorf("without an autoscaler: %v", err)
	}
	in.Manifests = chartOf(map[string]string{"templates/a.yaml": workload + "---\napiVersion: autoscaling/v2\nkind: HorizontalPodAutoscaler\n" +
		"metadata: {name: web}\nspec: {scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: web}}\n"})
	if _, err := plan(t, s, in); !errors.Is(err, broker.ErrInvalid) || !strings.Contains(err.Error(), "an autoscaler of the package sets its number") {
		t.Errorf("beside one: %v", err)
	}
}

// A block of text at the end of a template ends with a line, as Helm has it, and the namespace default is what it says.
func TestObjectsAreAsHelmReadsThem(t *testing.T) {
	p, err := plan(t, fakeobjects.New(t), inputOf(chartOf(map[string]string{
		"templates/a.yaml": configMap + "\n  rules: |\n    {}\n",
		"templates/b.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: b, namespace: default}\n---\n" +
			"apiVersion: v1\nkind: ConfigMap\nmetadata: {name: b}\n",
	})))
	if err != nil {
		t.Fatal(err)
	}
	if got := applied(p, "a"); !strings.Contains(got, `"rules":"{}\n"`) {
		t.Errorf("the block of text is %s", got)
	}
	if !slices.Equal(p.Facts.Namespaces, []string{"cnf", "default"}) {
		t.Errorf("the objects are in %q", p.Facts.Namespaces)
	}
}
