package render

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"
	"testing"
	"testing/iotest"

	"github.com/ProtonMail/go-crypto/openpgp"
	"github.com/ProtonMail/go-crypto/openpgp/armor"
	"github.com/ProtonMail/go-crypto/openpgp/packet"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/vimbroker/vimbroker/drivers/helm/chart"
)

const (
	head = "apiVersion: v2\nname: web\nversion: 1.0.0\n"
	a    = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n"
)

// task is a chart of these files.
func task(files map[string]string) chart.Task {
	r := chart.Task{Release: "web", Namespace: "cnf", Revision: 1, KubeVersion: "v1.36.1"}
	for _, name := range slices.Sorted(maps.Keys(files)) {
		r.Files = append(r.Files, chart.ChartFile{Path: name, Text: []byte(files[name])})
	}
	if files["Chart.yaml"] == "" {
		r.Files = append(r.Files, chart.ChartFile{Path: "Chart.yaml", Text: []byte(head)})
	}
	return r
}

// objects are those of a rendering, one after the other.
func objects(a chart.Rendering) string {
	var all []string
	for _, o := range a.Objects {
		all = append(all, string(o.Text))
	}
	return strings.Join(all, "\n")
}

// The kinds that a chart's definitions bring are those that are served, of definitions that can be read.
func TestKindsThatAChartDefines(t *testing.T) {
	const good = `{"kind":"CustomResourceDefinition","spec":{"group":"g","names":{"kind":"A"},"versions":[{"name":"v1","served":true},{"name":"v2"}]}}`
	for text, want := range map[string]string{
		good: "g/v1 g/v1/A", strings.Replace(good, "CustomResourceDefinition", "Other", 1): "", strings.Replace(good, `"names"`, `"Group":7,"names"`, 1): "", "[": "",
	} {
		if got := strings.Join(defined([]chart.ChartFile{{Path: "crds/a.yaml", Text: []byte(text)}}), " "); got != want {
			t.Errorf("%s defines %q, want %q", text, got, want)
		}
	}
}

// Of a definition each version counts that is served, wherever it stands, and of several definitions each.
func TestEachVersionThatAChartDefines(t *testing.T) {
	of := func(kind string, served ...bool) chart.ChartFile {
		var versions []string
		for n, is := range served {
			versions = append(versions, fmt.Sprintf(`{"name":"v%d","served":%t}`, n+1, is))
		}
		return chart.ChartFile{Text: []byte(fmt.Sprintf(`{"kind":"CustomResourceDefinition","spec":{"group":"g","names":{"kind":%q},"versions":[%s]}}`, kind, strings.Join(versions, ",")))}
	}
	for want, all := range map[string][]chart.ChartFile{
		"g/v2 g/v2/A g/v3 g/v3/A":             {of("A", false, true, true)},
		"g/v1 g/v1/A g/v3 g/v3/A":             {of("A", true, false, true)},
		"g/v1 g/v1/A g/v1 g/v1/B g/v2 g/v2/B": {of("A", true), {Text: []byte("[")}, of("C", false), of("B", true, true)},
	} {
		if got := strings.Join(defined(all), " "); got != want {
			t.Errorf("defined is %q, want %q", got, want)
		}
	}
}

// A text given for one value stays one, whatever signs it holds and however often.
func TestAValueIsOneWhateverItHolds(t *testing.T) {
	for _, value := range []string{"a,b", "a,b,c=d,e", ",,", "x=1,y=2,z", "a b", "a.b,c"} {
		r := task(map[string]string{"templates/a.yaml": a + "data: {x: {{ .Values.x | toJson | quote }}, size: {{ len .Values | quote }}}\n"})
		r.Sets = []chart.Set{{Name: "x", Value: value}}
		want, err := json.Marshal(value)
		if err != nil {
			t.Fatal(err)
		}
		got, err := render(r)
		var o struct {
			Data map[string]string `json:"data"`
		}
		if err != nil || json.Unmarshal([]byte(objects(got)), &o) != nil || o.Data["x"] != string(want) || o.Data["size"] != "1" {
			t.Errorf("%s is %v, %v", want, o.Data, err)
		}
	}
}

// What lies below an ignored folder is none of the chart's, however deep; what is beside it is.
func TestWhatIsIgnoredIsIgnoredToItsDepth(t *testing.T) {
	for file, there := range map[string]bool{
		"templates/old/a.yaml": false, "templates/old/b/a.yaml": false, "templates/old/b/c/d/a.yaml": false, "templates/x/old/b/a.yaml": false,
		"templates/older/a.yaml": true, "templates/x/y/a.yaml": true, "templates/a.bak": false, "templates/x/y/a.bak": false,
	} {
		got, err := render(task(map[string]string{".helmignore": "old/\n*.bak\n", file: a}))
		if err != nil || (len(got.Objects) == 1) != there {
			t.Errorf("%s: %d objects, %v", file, len(got.Objects), err)
		}
	}
}

// What is wrong with a chart or its values is said by where it stands, and nothing is rendered.
func TestChartsThatCannotBeRendered(t *testing.T) {
	for name, c := range map[string]struct {
		files  map[string]string
		change func(*chart.Task)
		says   string
	}{
		"a definition": {map[string]string{"crds/a.yaml": "a: ["}, nil, "a template gives no YAML"},
		"a dependency's values": {
			map[string]string{"Chart.yaml": head + "dependencies: [{name: db, version: 1.0.0}]\n", "charts/db/Chart.yaml": strings.Replace(head, "web", "db", 1)},
			func(r *chart.Task) { r.Values = json.RawMessage(`{"db":7}`) }, "the chart's dependencies cannot be worked out",
		},
		"a version of a cluster": {nil, func(r *chart.Task) { r.KubeVersion = "none" }, "the cluster does not say which version of Kubernetes it is"},
		"another cluster":        {map[string]string{"Chart.yaml": head + "kubeVersion: '>= 2.0.0'\n"}, nil, "the chart asks for Kubernetes >= 2.0.0, and the cluster is v1.36.1"},
		"an object":              {map[string]string{"templates/a.yaml": "a: ["}, nil, "gives no YAML"},
		"an ignore file":         {map[string]string{".helmignore": "**\n"}, nil, "its .helmignore cannot be read"},
		"no version":             {map[string]string{"Chart.yaml": "apiVersion: v2\nname: web\n"}, nil, "it is no chart that Helm can read"},
		"no such version":        {map[string]string{"Chart.yaml": "apiVersion: v2\nname: web\nversion: x\n"}, nil, "it is no chart that Helm can read"},
		"no such type":           {map[string]string{"Chart.yaml": head + "type: odd\n"}, nil, "it is no chart that Helm can read"},
		"no archive":             {nil, func(r *chart.Task) { r.Archive = []byte("x") }, "it is no chart that Helm can read"},
		"another name":           {nil, func(r *chart.Task) { r.Name = "db" }, "it is web 1.0.0, and not what it is named by"},
		"another version":        {nil, func(r *chart.Task) { r.Name, r.Version = "web", "2.0.0" }, "it is web 1.0.0, and not what it is named by"},
		"a library":              {map[string]string{"Chart.yaml": head + "type: library\n"}, nil, "it is a library chart"},
		"one dependency of two":  {map[string]string{"Chart.yaml": head + "dependencies: [{name: db, version: 1.0.0}, {name: mq, version: 1.0.0}]\n", "charts/db/Chart.yaml": strings.Replace(head, "web", "db", 1)}, nil, "its dependency mq is not in its folder charts"},
		"values":                 {nil, func(r *chart.Task) { r.Values = json.RawMessage("[]") }, "the values of the request are not a JSON object"},
		"a profile's values":     {nil, func(r *chart.Task) { r.Overlay.Values = "- a" }, "the values of the profile are not a mapping in YAML"},
		"a value's name":         {nil, func(r *chart.Task) { r.Sets = []chart.Set{{Name: "a[x]", Value: "1"}} }, "a[x] does not name a value of a chart"},
		"an override": {nil, func(r *chart.Task) {
			r.Overlay.Sets = []chart.Set{{Name: "a[x" + strings.Repeat("~", 200) + "]", Value: "1"}}
		}, "override a[x" + strings.Repeat("~", 97) + " is not in Helm's notation"},
		"a missing value below": {
			map[string]string{"Chart.yaml": head + "dependencies: [{name: db, version: 1.0.0}]\n", "charts/db/Chart.yaml": strings.Replace(head, "web", "db", 1), "charts/db/templates/a.yaml": "a: 1\nb: {{ .Values.a.b.c }}"},
			nil, "web/charts/db/templates/a.yaml:2 asks for a value that is not there",
		},
		"a missing value":         {map[string]string{"templates/a.yaml": "{{ .Values.a.b.c }}"}, nil, "web/templates/a.yaml:1 asks for a value that is not there"},
		"a schema":                {map[string]string{"values.schema.json": `{"properties":{"a":{"enum":[1]}}}`}, func(r *chart.Task) { r.Values = json.RawMessage(`{"a":2}`) }, "the values do not fit the chart's values.schema.json at /a"},
		"a keyring without keys":  {nil, func(r *chart.Task) { r.Signed, r.Keyring = true, []byte("x") }, "the keyring of the server holds no keys of OpenPGP"},
		"an armoured one of none": {nil, func(r *chart.Task) { r.Signed, r.Keyring = true, []byte("-----BEGIN PGP PUBLIC KEY BLOCK-----") }, "the keyring of the server holds no keys of OpenPGP"},
		"an armoured one of other things": {nil, func(r *chart.Task) {
			r.Signed, r.Keyring = true, []byte("-----BEGIN PGP PUBLIC KEY BLOCK-----\n\nAAAA\n=xxxx\n-----END PGP PUBLIC KEY BLOCK-----\n")
		}, "the keyring of the server holds no keys of OpenPGP"},
	} {
		r := task(c.files)
		if c.change != nil {
			c.change(&r)
		}
		got, err := render(r)
		if err == nil || !strings.Contains(err.Error(), c.says) || len(got.Objects) > 0 || len(got.Release) > 0 {
			t.Errorf("%s: %d objects, %v, want it to say %q", name, len(got.Objects), err, c.says)
		}
	}
}

// A chart gives what its files and its values say, those of an overlay in their places.
func TestChartsThatAreRendered(t *testing.T) {
	const value = a + "data: {x: {{ .Values.x | quote }}, z: {{ .Values.z | quote }}}\n"
	says := func(x, y string) string {
		return fmt.Sprintf(`{"apiVersion":"v1","data":{"x":%q,"z":%q},"kind":"ConfigMap","metadata":{"name":"a"}}`, x, y)
	}
	plainly := `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a"}}`
	for name, c := range map[string]struct {
		files  map[string]string
		change func(*chart.Task)
		want   string
	}{
		"its own values": {map[string]string{"values.yaml": "x: 1\nz: 2\n", "templates/a.yaml": value}, nil, says("1", "2")},
		"given values":   {map[string]string{"values.yaml": "x: 1\nz: 2\n", "templates/a.yaml": value}, func(r *chart.Task) { r.Values = json.RawMessage(`{"x":3}`) }, says("3", "2")},
		"no values": {map[string]string{"values.yaml": "x: 1\nz: 2\n", "templates/a.yaml": value}, func(r *chart.Task) {
			r.Values = json.RawMessage("null")
			r.Sets = []chart.Set{{Name: "z", Value: "a,b"}}
		}, says("1", "a,b")},
		"a profile's over the given": {map[string]string{"templates/a.yaml": value}, func(r *chart.Task) { r.Values, r.Overlay.Values = json.RawMessage(`{"x":3,"z":4}`), "x: 5\n" }, says("5", "4")},
		"an override over all": {map[string]string{"templates/a.yaml": value}, func(r *chart.Task) {
			r.Overlay.Values, r.Sets, r.Overlay.Sets = "x: 5\n", []chart.Set{{Name: "x", Value: "6"}, {Name: "z", Value: "7"}}, []chart.Set{{Name: "x", Value: "8"}}
		}, says("8", "7")},
		"a file of an overlay":   {map[string]string{"templates/a.yaml": value, "templates/b.yaml": a}, func(r *chart.Task) { r.Overlay.Files = []chart.ChartFile{{Path: "templates/a.yaml"}} }, plainly},
		"a file that is ignored": {map[string]string{".helmignore": "old/\n", "templates/old/a.yaml": value, "templates/a.yaml": a}, nil, plainly},
		"a place from the root":  {map[string]string{"/templates/a.yaml": value, "templates/a.yaml": a}, nil, plainly},
		"a cluster that will do": {map[string]string{"Chart.yaml": head + "kubeVersion: '>= 1.30.0-0'\n", "templates/a.yaml": a}, nil, plainly},
		"dependencies":           {map[string]string{"Chart.yaml": head + "dependencies: [{name: mq, version: 1.0.0}, {name: db, version: 1.0.0}]\n", "charts/db/Chart.yaml": strings.Replace(head, "web", "db", 1), "charts/mq/Chart.yaml": strings.Replace(head, "web", "mq", 1), "templates/a.yaml": a}, nil, plainly},
		"a definition it asks of": {map[string]string{
			"crds/a.yaml":      `{"kind":"CustomResourceDefinition","spec":{"group":"x.example","names":{"kind":"X"},"versions":[{"name":"v1","served":true},{"name":"v2"}]}}` + "\n---\n[]\n---\n" + `{"kind":"X","spec":{"group":"y.example","names":{"kind":"Y"},"versions":[{"name":"v1","served":true}]}}`,
			"templates/a.yaml": `{{ if and (.Capabilities.APIVersions.Has "x.example/v1") (.Capabilities.APIVersions.Has "x.example/v1/X") (not (.Capabilities.APIVersions.Has "x.example/v2")) (not (.Capabilities.APIVersions.Has "y.example/v1")) }}` + a + `{{ end }}`,
		}, nil, plainly},
	} {
		r := task(c.files)
		if c.change != nil {
			c.change(&r)
		}
		got, err := render(r)
		if err != nil || objects(got) != c.want {
			t.Errorf("%s: %v\n%s\nwant\n%s", name, err, objects(got), c.want)
		}
	}
}

// A lookup is noted once, and so many at most; what was found is given, and what cannot be read is not there.
func TestLookups(t *testing.T) {
	of := func(name string) chart.Lookup {
		return chart.Lookup{APIVersion: "v1", Kind: "ConfigMap", Namespace: "cnf", Name: name}
	}
	l := &lookups{found: []chart.LookedUp{{Lookup: of("a"), Object: json.RawMessage(`{"kind":"ConfigMap","metadata":{"name":"a"}}`)}, {Lookup: of("b"), Object: json.RawMessage("[]")}}}
	kind, _, err := l.GetClientFor("v1", "ConfigMap")
	if err != nil {
		t.Fatal(err)
	}
	in := kind.Namespace("cnf")
	for name, there := range map[string]bool{"a": true, "b": false, "c": false} {
		for range 2 {
			if o, err := in.Get(t.Context(), name, metav1.GetOptions{}); (err == nil) != there || there && o.GetName() != name {
				t.Errorf("%s: %v, %v", name, o, err)
			}
		}
	}
	if len(l.asked) != 3 {
		t.Errorf("three lookups, each twice, are noted as %v", l.asked)
	}
	for n := range maxLookups {
		_, _ = in.Get(t.Context(), fmt.Sprint("n", n), metav1.GetOptions{})
	}
	if len(l.asked) != maxLookups || l.asked[maxLookups-1].Name != fmt.Sprint("n", maxLookups-4) {
		t.Errorf("%d lookups are noted, the last %v", len(l.asked), l.asked[len(l.asked)-1])
	}
	if _, err := in.List(t.Context(), metav1.ListOptions{}); err == nil {
		t.Error("what is not looked up by name is shown")
	}
}

// Notes are no objects, the chart's own as those of its dependencies; and a file that says what to ignore counts at the top alone.
func TestWhatOfAChartIsNoObject(t *testing.T) {
	files := map[string]string{
		"Chart.yaml":           head + "dependencies: [{name: db, version: 1.0.0}]\n",
		"charts/db/Chart.yaml": strings.Replace(head, "web", "db", 1) + "dependencies: [{name: mq, version: 1.0.0}]\n", "charts/db/charts/mq/Chart.yaml": strings.Replace(head, "web", "mq", 1),
		"templates/NOTES.txt": "note: own", "charts/db/templates/NOTES.txt": "note: of a dependency", "charts/db/charts/mq/templates/NOTES.txt": "note: below",
		"templates/a.yaml": a, "files/.helmignore": "templates/\n*.yaml\n",
	}
	got, err := render(task(files))
	if err != nil || objects(got) != `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a"}}` || !strings.Contains(string(got.Release), `"notes":"note: own"`) {
		t.Errorf("%v: %s of %s", err, objects(got), got.Release)
	}
	// A fault is told of each depth, with its line.
	files["charts/db/charts/mq/templates/b.yaml"] = "a: 1\nb: 2\nc: {{ .Values.a.b.c }}"
	if _, err := render(task(files)); err == nil || !strings.Contains(err.Error(), "web/charts/db/charts/mq/templates/b.yaml:3 ") {
		t.Errorf("a fault two charts below: %v", err)
	}
}

// A file of an overlay takes the place of the chart's of its path, and stands once; another is added.
func TestAFileOfAnOverlayStandsOnce(t *testing.T) {
	of := func(pairs ...string) (all []chart.ChartFile) {
		for i := 0; i < len(pairs); i += 2 {
			all = append(all, chart.ChartFile{Path: pairs[i], Text: []byte(pairs[i+1])})
		}
		return all
	}
	all := of("a", "1", "b", "2", "c", "3")
	var got []string
	for _, f := range laidOver(all, of("b", "new", "d", "4")) {
		got = append(got, f.Path+string(f.Text))
	}
	if want := []string{"a1", "c3", "bnew", "d4"}; !slices.Equal(got, want) {
		t.Errorf("laid over are %q, want %q", got, want)
	}
	if len(all) != 3 || string(all[1].Text) != "2" || all[2].Path != "c" {
		t.Errorf("the chart's own are changed: %v", all)
	}
}

// A fault is at the innermost of the places that it names which are the chart's; a line beyond a template's end is none.
func TestAFaultIsAtTheInnermostPlace(t *testing.T) {
	lines := map[string]int{"web/templates/a.yaml": 9, "web/templates/_b.tpl": 5}
	for says, want := range map[string]string{
		"web/templates/a.yaml:3": "web/templates/a.yaml:3", "web/templates/a.yaml:3: web/templates/_b.tpl:2: bad": "web/templates/_b.tpl:2",
		"web/templates/_b.tpl:2: web/templates/a.yaml:3 and web/templates/a.yaml:9": "web/templates/a.yaml:9", "web/templates/a.yaml:10": "web/templates/a.yaml",
		"web/templates/a.yaml:3: web/templates/a.yaml": "web/templates/a.yaml:3", "web/templates/a.yaml:3: web/templates/_b.tpl: bad": "web/templates/_b.tpl",
		"other/templates/a.yaml:3": "a template", "web/templates/a.yaml:3: other/templates/x.yaml:1": "web/templates/a.yaml:3", "": "a template",
	} {
		if got := faultOf(errors.New(says), lines).Error(); got != want+" cannot be rendered" {
			t.Errorf("%q is at %q, want %q", says, got, want)
		}
	}
}

// An object answers the lookup that it was found for, and no other: not one of another namespace, kind, version or name.
func TestAnObjectAnswersItsOwnLookup(t *testing.T) {
	of := chart.Lookup{APIVersion: "v1", Kind: "ConfigMap", Namespace: "cnf", Name: "a"}
	l := &lookups{found: []chart.LookedUp{{Lookup: of, Object: json.RawMessage(`{"kind":"ConfigMap","metadata":{"name":"a"}}`)}}}
	for _, asked := range []chart.Lookup{
		of,
		{APIVersion: "v1", Kind: "ConfigMap", Namespace: "other", Name: "a"},
		{APIVersion: "v1", Kind: "ConfigMap", Name: "a"},
		{APIVersion: "v1", Kind: "Secret", Namespace: "cnf", Name: "a"},
		{APIVersion: "v2", Kind: "ConfigMap", Namespace: "cnf", Name: "a"},
		{APIVersion: "v1", Kind: "ConfigMap", Namespace: "cnf", Name: "b"},
	} {
		kind, _, err := l.GetClientFor(asked.APIVersion, asked.Kind)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := kind.Namespace(asked.Namespace).Get(t.Context(), asked.Name, metav1.GetOptions{}); (err == nil) != (asked == of) {
			t.Errorf("%+v: %v", asked, err)
		}
	}
}

// Of a keyring of several blocks, or of one, every key counts.
func TestEveryKeyOfAKeyringCounts(t *testing.T) {
	var blocks [][]byte
	var prints []string
	for _, name := range []string{"one", "two", "three"} {
		e, err := openpgp.NewEntity(name, "", name+"@example.org", &packet.Config{Algorithm: packet.PubKeyAlgoEdDSA})
		if err != nil {
			t.Fatal(err)
		}
		var b bytes.Buffer
		w, err := armor.Encode(&b, openpgp.PublicKeyType, nil)
		if err == nil {
			err = errors.Join(e.Serialize(w), w.Close())
		}
		if err != nil {
			t.Fatal(err)
		}
		blocks, prints = append(blocks, b.Bytes()), append(prints, fmt.Sprintf("%x", e.PrimaryKey.Fingerprint))
	}
	for n := 1; n <= len(blocks); n++ {
		for _, between := range []string{"\n", "\n\n\n"} {
			keys, err := keyring(append([]byte(" \n"), bytes.Join(blocks[:n], []byte(between))...))
			var got []string
			for _, k := range keys {
				got = append(got, fmt.Sprintf("%x", k.PrimaryKey.Fingerprint))
			}
			if err != nil || !slices.Equal(got, prints[:n]) {
				t.Errorf("of %d blocks the keys are %v (%v), want %v", n, got, err, prints[:n])
			}
		}
	}
}

// An index gives the first address of a version.
func TestIndexes(t *testing.T) {
	for name, c := range map[string]struct{ index, url, says string }{
		"its first address":         {"entries: {web: [{version: 1.0.0, urls: [u, v], digest: d}]}", "u", ""},
		"one without an address":    {"entries: {web: [{version: 1.0.0, urls: []}, {version: 1.0.0, urls: [u], digest: d}]}", "u", ""},
		"another version":           {"entries: {web: [{version: 2.0.0, urls: [u]}]}", "", "the repository has no web 1.0.0"},
		"another chart":             {"entries: {db: [{version: 1.0.0, urls: [u]}]}", "", "the repository has no web 1.0.0"},
		"versions that are no list": {"entries: {web: 7}", "", "no index that Helm can read"},
		"no YAML":                   {"entries: [", "", "no index that Helm can read"},
	} {
		got, err := find(chart.Task{Index: []byte(c.index), Name: "web", Version: "1.0.0"})
		if got.URL != c.url || c.url != "" && got.Digest != "d" || err == nil != (c.says == "") || err != nil && !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %+v, %v, want %q, %q", name, got, err, c.url, c.says)
		}
	}
}

// A task that does not come whole, or is too long, ends before the process gives anything up.
func TestTasksThatAreNotTaken(t *testing.T) {
	defer signal.Reset(os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	for name, in := range map[string]io.Reader{
		"broken":   io.MultiReader(strings.NewReader("{}"), iotest.ErrReader(errors.New("broken"))),
		"too long": io.LimitReader(zeros{}, chart.MaxRequest+1),
	} {
		var out bytes.Buffer
		if code := Main(in, &out); code != 1 || out.Len() > 0 {
			t.Errorf("a task that is %s: %d, %q", name, code, out.String())
		}
	}
	if f, err := os.Open(os.DevNull); err != nil {
		t.Errorf("the process opens no file any more: %v", err)
	} else {
		_ = f.Close()
	}
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) { clear(p); return len(p), nil }

// A name is shown as far as it can be.
func TestNamesOfCharts(t *testing.T) {
	for text, want := range map[string]string{" ~": " ~", "a\x1f\x7fb": "ab", "ä": "", strings.Repeat("x", 100): strings.Repeat("x", 100), strings.Repeat("x", 101): strings.Repeat("x", 100)} {
		if got := printable(text); got != want {
			t.Errorf("%q is shown as %q, want %q", text, got, want)
		}
	}
}
