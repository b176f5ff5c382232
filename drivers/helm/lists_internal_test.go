package helm

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/vimbroker/vimbroker/drivers/helm/chart"
	"github.com/vimbroker/vimbroker/drivers/manifests"
	"github.com/vimbroker/vimbroker/lifecycle"
	"github.com/vimbroker/vimbroker/lifecycle/vnfpkg"
)

// TestCertificatesMayBeMadeAgain: by the name's end, in either member of a Secret, and those of a Secret for TLS; all else counts.
func TestCertificatesMayBeMadeAgain(t *testing.T) {
	for key, counts := range map[string]bool{
		"tls.crt": false, "tls.key": false, "ca.pem": false, "store.p12": false, "store.jks": false, "a.b.jks": false,
		"password": true, "jks": true, "tls.crt.old": true, "key": true, "tls.csr": true, "TLS.CRT": true,
	} {
		for _, member := range []string{"data", "stringData"} {
			for kind, of := range map[string]bool{"Opaque": counts, "kubernetes.io/tls": false} {
				object := fmt.Sprintf(`{"kind":"Secret","type":%q,"metadata":{"name":"s"},%q:{%q:"v"}}`, kind, member, key)
				if got := secretsOf([]chart.ChartFile{{Text: []byte(object)}}); (len(got["s"]) == 1) != of {
					t.Errorf("%s in %s of type %s: %v", key, member, kind, got)
				}
			}
		}
	}
}

// TestFoldersOfCharts: a chart within another is a part of it; one whose name begins as another's is none.
func TestFoldersOfCharts(t *testing.T) {
	for paths, want := range map[string]string{
		"web/Chart.yaml web-db/Chart.yaml":                             "web web-db",
		"web-db/Chart.yaml web/Chart.yaml webs/Chart.yaml":             "web-db web webs",
		"web/Chart.yaml web/charts/db/Chart.yaml web/charts/x.tgz":     "web",
		"a/web.tgz a/web/Chart.yaml a/web.tgz.prov a/web-1.tgz":        "a/web.tgz a/web a/web-1.tgz",
		"web/charts/db/Chart.yaml other/x.yaml web/charts/db/y/z.yaml": "web/charts/db",
	} {
		if got := strings.Join(charts(strings.Fields(paths)), " "); got != want {
			t.Errorf("of %q the charts are %q, want %q", paths, got, want)
		}
	}
	paths := strings.Fields("web-db/Chart.yaml web-db/values.yaml web/Chart.yaml web/values.yaml web/charts/db/Chart.yaml")
	for root, want := range map[string]string{
		"web": "web/Chart.yaml web/values.yaml web/charts/db/Chart.yaml", "web/": "web/Chart.yaml web/values.yaml web/charts/db/Chart.yaml",
		"web-db": "web-db/Chart.yaml web-db/values.yaml", "we": "", "web/charts": "", "web.tgz": "",
	} {
		if got := strings.Join(filesOf(root, paths), " "); got != want {
			t.Errorf("the files of %q are %q, want %q", root, got, want)
		}
	}
}

// TestHooksOfAnEvent: in the order of weight and name; without an event all are meant but those that are tests alone.
func TestHooksOfAnEvent(t *testing.T) {
	of := func(name string, weight int, events ...string) string {
		text, err := json.Marshal(map[string]any{"name": name, "kind": "Job", "weight": weight, "events": events})
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	r := record{body: map[string]json.RawMessage{"hooks": json.RawMessage("[" + strings.Join([]string{
		of("z", 1, "pre-install", "test"), of("y", 0, "test"), of("b", 0, "pre-install"), of("a", 0, "post-install", "pre-install"),
		of("x", -1, "test", "post-delete"), of("none", 0), of("c", -5, "pre-upgrade"),
	}, ",") + "]")}}
	for event, want := range map[string]string{
		"": "c x a b none z", "test": "x y z", "pre-install": "a b z", "post-install": "a", "post-delete": "x", "pre-upgrade": "c", "pre-delete": "",
	} {
		all, err := r.hooks(event)
		var got []string
		for _, h := range all {
			got = append(got, h.Name)
		}
		if err != nil || strings.Join(got, " ") != want {
			t.Errorf("hooks of %q are %q (%v), want %q", event, got, err, want)
		}
	}
}

// TestHooksThatPassGoWithTheLastOfTheirEvent: of several each, and the last that ran goes first.
func TestHooksThatPassGoWithTheLastOfTheirEvent(t *testing.T) {
	a := answer(configMap("a"))
	a.Release = json.RawMessage(`{"info":{"status":"unknown"},"hooks":[` + strings.Join([]string{
		hookOf("one", "post-install", `"hook-succeeded"`), hookOf("four", "post-install", `"hook-succeeded"`), hookOf("stays", "post-install", `"hook-failed"`),
		hookOf("passes", "post-install", `"hook-succeeded"`),
	}, ",") + "]}")
	said, err := newRelease(t, does(lifecycle.Instantiate), nil, []chart.Rendering{a}).plan()
	if err != nil {
		t.Fatal(err)
	}
	var gone []string
	deletes := false
	for line := range strings.Lines(said) {
		if !strings.HasPrefix(line, " ") {
			deletes = strings.HasPrefix(line, string(lifecycle.Delete))
		} else if deletes {
			gone = append(gone, strings.Fields(line)[1])
		}
	}
	last := gone[max(len(gone)-3, 0):]
	if slices.Sort(last); !slices.Equal(last, []string{"four", "one", "passes"}) || strings.Contains(said, "has ConfigMap one") || !strings.Contains(said, "has ConfigMap stays") {
		t.Errorf("at last %q go\n%s", last, said)
	}
}

// TestDefinitionsAreRecordedWhileARevisionIsPending, of whichever kind; afterwards only that there are none.
func TestDefinitionsAreRecordedWhileARevisionIsPending(t *testing.T) {
	for _, state := range states {
		for defined, definitions := range map[bool][]lifecycle.Manifest{true: filesAs([]chart.ChartFile{{Path: "crds/a.yaml", Text: []byte("x")}}), false: nil} {
			r := record{
				version: 1, defined: true, definitions: definitions, body: map[string]json.RawMessage{"version": json.RawMessage("1")},
				info: map[string]json.RawMessage{"status": quoted(state.name)},
			}
			written, err := r.written(lifecycle.PlanInput{Release: "web"})
			if err != nil {
				t.Fatal(err)
			}
			var s struct{ Data map[string][]byte }
			if err := json.Unmarshal([]byte(written.Text.Reveal()), &s); err != nil {
				t.Fatal(err)
			}
			again, err := decode(&manifests.StoredSecret{Data: s.Data})
			if want := state.pending || !defined; err != nil || again.defined != want || want && len(again.definitions) != len(definitions) {
				t.Errorf("%s with %d definitions is read with %d, known %t (%v)", state.name, len(definitions), len(again.definitions), again.defined, err)
			}
		}
	}
}

// TestAHeaderSaysWhatItsRecordDid: whose it is, for which work, and where it stands.
func TestAHeaderSaysWhatItsRecordDid(t *testing.T) {
	for _, own := range []bool{true, false} {
		from := &manifests.StoredSecret{}
		r := record{version: 7, mark: "m", own: own, from: from, info: map[string]json.RawMessage{"status": quoted(deployed), "description": quoted("d")}}
		h := r.header()
		if h.version != 7 || h.mark != "m" || h.own != own || h.from != from || h.status() != deployed || len(h.info) != 1 || h.body != nil {
			t.Errorf("own %t: %+v", own, h)
		}
	}
	// A release of nobody's, beside the instance's own, makes nothing of Helm's the instance's.
	said, err := newRelease(t, does(lifecycle.ChangePackage, stands("a", 1, 2)), []revision{
		{version: 1, status: deployed, mark: "m1"}, {version: 2, status: failed, mark: "m2", owner: vnf},
	}, []chart.Rendering{answer(configMap("a"))}).plan()
	if err != nil || strings.Contains(said, `release "cnf/vnf`) {
		t.Errorf("over one that stood as nobody's: %v\n%s", err, said)
	}
}

// TestNumbersOfVDUsAreSaid, also where a VDU has none, by the VDU's id and by its name.
func TestNumbersOfVDUsAreSaid(t *testing.T) {
	in := lifecycle.PlanInput{
		Instance: vnf, Manifests: []lifecycle.Manifest{{Path: "web.tgz"}}, Replicas: map[string]int32{"web": 0, "db": 3, "mq": 1},
		Flavour: vnfpkg.Flavour{VDUs: map[string]vnfpkg.VDU{"VDU1": {Name: "web"}, "VDU2": {Name: "db"}, "VDU3": {Name: "mq"}}},
	}
	in.Parameters = json.RawMessage(`{"helm_value_names":{"VDU1":{"replica":"w.n"},"VDU2":{"replica":"d.n"},"mq":{"replica":"m.n"},"other":{"replica":"o.n"},"VDU9":{}},` +
		`"helm_parameters":{"t":"a\"b\\c","n":7,"b":true,"z":null}}`)
	p, err := parametersOf(in)
	if err != nil {
		t.Fatal(err)
	}
	r, err := (&Driver{}).requestOf(t.Context(), in, p)
	got := map[string]string{}
	for _, s := range r.Sets {
		got[s.Name] = s.Value
	}
	want := map[string]string{"w.n": "0", "d.n": "3", "m.n": "1", "t": `a"b\c`, "n": "7", "b": "true", "z": "null"}
	if err != nil || !maps.Equal(got, want) || len(r.Sets) != len(want) {
		t.Errorf("the chart is given %v (%v), want %v", r.Sets, err, want)
	}
}

// TestEachObjectThatAChartMayLookUpIsSurveyed: however many there are, up to what one lease can hold.
func TestEachObjectThatAChartMayLookUpIsSurveyed(t *testing.T) {
	for _, n := range []int{1, maxNames, maxNames + 1, 3*maxNames + 1} {
		in := lifecycle.PlanInput{Instance: vnf, Namespace: "cnf", Operation: lifecycle.ChangePackage}
		want := map[string]bool{}
		for i := range n {
			in.Standing = append(in.Standing, standing("ConfigMap", "configmaps", fmt.Sprint("m", i)), standing("Secret", "secrets", fmt.Sprint("s", i)))
			want[fmt.Sprint("configmaps m", i)], want[fmt.Sprint("secrets s", i)] = true, true
		}
		in.Standing = append(in.Standing, standing("Service", "services", "other"))
		for _, rule := range (&Driver{Driver: manifests.As("helm")}).Survey(in).Rules {
			for _, name := range rule.ResourceNames {
				delete(want, rule.Resources[0]+" "+name)
				if name == "other" {
					t.Errorf("%+v", rule)
				}
			}
			if len(rule.ResourceNames) > maxNames {
				t.Errorf("a rule names %d", len(rule.ResourceNames))
			}
		}
		if len(want) > 0 {
			t.Errorf("of %d of each kind %d are not surveyed", n, len(want))
		}
	}
}

// TestAnOperationThatGivesNoValuesGoesOnWithThoseThatStand: also with those that Helm has set since, and with the files of a profile.
func TestAnOperationThatGivesNoValuesGoesOnWithThoseThatStand(t *testing.T) {
	const parameters = `{"helm_values":{"given":1},"helm_parameters":{"one":2},"overlay":{"values":"over: 3","sets":[{"name":"x","value":"4"}],"files":[{"path":"f","text":"NQ=="}]}}`
	for _, c := range []struct {
		kept, stands       bool
		values, sets, over string
	}{
		{true, true, `{"set":"since"}`, "[]", ""}, {true, false, `{"given":1}`, "[{one 2}]", "over: 3"}, {false, true, `{"given":1}`, "[{one 2}]", "over: 3"},
	} {
		revisions := []revision{{version: 1, status: map[bool]string{true: deployed, false: failed}[c.stands], mark: older, owner: vnf, config: `{"set":"since"}`}}
		r := newRelease(t, does(lifecycle.ChangePackage, stands("a", 1), given(parameters), func(in *lifecycle.PlanInput) { in.Kept = c.kept }), revisions, []chart.Rendering{answer(configMap("a"))})
		asked := filepath.Join(r.dir, "asked")
		r.d = New(Options{Program: []string{"/bin/sh", "-c", "cat > " + asked + " && cat " + filepath.Join(r.dir, "0")}})
		if said, err := r.plan(); err != nil {
			t.Fatal(said, err)
		}
		text, err := os.ReadFile(asked)
		var task chart.Task
		if err != nil || json.Unmarshal(text, &task) != nil {
			t.Fatal(err)
		}
		if string(task.Values) != c.values || fmt.Sprint(task.Sets) != c.sets || task.Overlay.Values != c.over || len(task.Overlay.Sets) != len(c.over)/len("over: 3") ||
			len(task.Overlay.Files) != 1 || !task.Upgrade || task.Revision != 2 {
			t.Errorf("kept %t of what stands %t: values %s, sets %v, overlay %+v, revision %d", c.kept, c.stands, task.Values, task.Sets, task.Overlay, task.Revision)
		}
	}
}

// TestARecordSaysItsRevision: one under the name of another is none, and in the way where it is the instance's.
func TestARecordSaysItsRevision(t *testing.T) {
	for owner, refused := range map[string]bool{"": false, vnf: true} {
		r := newRelease(t, does(lifecycle.ChangePackage, stands("a", 1, 2)), []revision{
			{version: 1, status: deployed, mark: older, owner: vnf}, {version: 7, status: deployed, mark: "m7", owner: owner},
		}, []chart.Rendering{answer(configMap("a"))})
		const path = "/api/v1/namespaces/cnf/secrets/"
		o := r.s.Get(path + recordName(r.in, 7))
		o["metadata"].(map[string]any)["name"] = recordName(r.in, 2)
		r.s.Put(path+recordName(r.in, 2), o)
		r.s.Remove(path + recordName(r.in, 7))
		said, err := r.plan()
		if refused != (err != nil) || refused && !strings.Contains(said, "is no record of the release as Helm writes it") || !refused && became(said, 2) == "" {
			t.Errorf("of %q: %v\n%s", owner, err, said)
		}
	}
}

// TestEachVDUThatIsScaledHasANumber: a value of the chart or a workload, whichever of several it is.
func TestEachVDUThatIsScaledHasANumber(t *testing.T) {
	for _, scaled := range [][]string{{"web", "other"}, {"other", "web"}, {"web", "db", "other"}, {"web", "db"}} {
		said, err := newRelease(t, does(lifecycle.ScaleVNF, stands("a", 1), given(`{"helm_value_names":{"VDU1":{"replica":"n"}}}`), func(in *lifecycle.PlanInput) {
			in.Scaled, in.Replicas = scaled, map[string]int32{"web": 2, "db": 2, "other": 2}
		}), []revision{{version: 1, status: deployed, mark: older, owner: vnf}}, []chart.Rendering{
			answer(`{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"db"},"spec":{"template":{"spec":{"containers":[{"name":"c","image":"i"}]}}}}`),
		}).plan()
		if refused := slices.Contains(scaled, "other"); refused != (err != nil) || refused && !strings.Contains(said, "VDU other cannot be scaled") {
			t.Errorf("%q: %v\n%s", scaled, err, said)
		}
	}
}

// TestEachKeyOfEachSecretIsKept: the one that changes is told, wherever it stands, and a key that goes or comes anew too.
func TestEachKeyOfEachSecretIsKept(t *testing.T) {
	of := func(name, data string) string {
		return fmt.Sprintf(`{"apiVersion":"v1","kind":"Secret","metadata":{"name":%q},"data":{%s}}`, name, data)
	}
	for name, c := range map[string]struct {
		second []string
		says   string
	}{
		"as it was":        {[]string{of("one", `"a":"MQ==","b":"Mg=="`), of("two", `"c":"Mw=="`)}, ""},
		"another first":    {[]string{of("one", `"a":"OQ==","b":"Mg=="`), of("two", `"c":"Mw=="`)}, "Secret cnf/one would change"},
		"another second":   {[]string{of("one", `"a":"MQ==","b":"OQ=="`), of("two", `"c":"Mw=="`)}, "Secret cnf/one would change"},
		"another Secret":   {[]string{of("one", `"a":"MQ==","b":"Mg=="`), of("two", `"c":"OQ=="`)}, "Secret cnf/two would change"},
		"a key less":       {[]string{of("one", `"a":"MQ=="`), of("two", `"c":"Mw=="`)}, "Secret cnf/one would change"},
		"a Secret less":    {[]string{of("one", `"a":"MQ==","b":"Mg=="`)}, "Secret cnf/two would change"},
		"in another order": {[]string{of("two", `"c":"Mw=="`), of("one", `"b":"Mg==","a":"MQ=="`)}, ""},
	} {
		said, err := newRelease(t, does(lifecycle.ChangePackage, stands("", 1), func(in *lifecycle.PlanInput) {
			in.Standing = append(in.Standing, standing("Secret", "secrets", "one"), standing("Secret", "secrets", "two"))
		}), []revision{{version: 1, status: deployed, mark: older, owner: vnf}}, []chart.Rendering{
			answer(of("one", `"a":"MQ==","b":"Mg=="`), of("two", `"c":"Mw=="`)), answer(c.second...),
		}).plan()
		if (c.says == "") != (err == nil) || !strings.Contains(said, c.says) {
			t.Errorf("%s: %v\n%s", name, err, said)
		}
	}
}

// TestEveryRecordGoesWithItsInstance, however many there are.
func TestEveryRecordGoesWithItsInstance(t *testing.T) {
	var revisions []revision
	var versions []int
	for v := 1; v <= history+3; v++ {
		versions = append(versions, v)
		revisions = append(revisions, revision{version: v, status: superseded, mark: fmt.Sprint("m", v), owner: vnf, hooks: "[" + hookOf(fmt.Sprint("h", v), "post-upgrade", "") + "]"})
	}
	r := newRelease(t, does(lifecycle.Terminate, stands("a", versions...)), revisions, nil)
	said, err := r.plan()
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range versions {
		for _, gone := range []string{"Secret " + recordName(r.in, v) + " ", fmt.Sprint("ConfigMap h", v, " ")} {
			if strings.Count(said, "  "+gone) != 1 {
				t.Errorf("%sgoes %d times\n%s", gone, strings.Count(said, "  "+gone), said)
			}
		}
	}
	if strings.Contains(said, "\nhas ") {
		t.Errorf("it still has something\n%s", said)
	}
}

// TestSingleValuesAreSingle: lists and objects are refused, the empty ones too.
func TestSingleValuesAreSingle(t *testing.T) {
	for value, single := range map[string]bool{"[]": false, "{}": false, "[1]": false, `{"a":1}`: false, `"[]"`: true, `"{}"`: true, `""`: true, "0": true, "false": true, "null": true} {
		in := lifecycle.PlanInput{Instance: vnf, Manifests: []lifecycle.Manifest{{Path: "web.tgz"}}, Parameters: json.RawMessage(`{"helm_parameters":{"a":` + value + `}}`)}
		p, err := parametersOf(in)
		if err != nil {
			t.Fatal(err)
		}
		if r, err := (&Driver{}).requestOf(t.Context(), in, p); single != (err == nil) || single && r.Sets[0].Value != strings.Trim(value, `"`) {
			t.Errorf("%s: %v, %v", value, r.Sets, err)
		}
	}
}

// TestTheSecretOfARecordSaysWhatHelmLooksFor: name, owner, state, revision, and when it was made.
func TestTheSecretOfARecordSaysWhatHelmLooksFor(t *testing.T) {
	for deployedAt, createdAt := range map[string]string{`"2031-05-06T07:08:09.5Z"`: "1935817689", `"1960-01-01T00:00:00Z"`: "0", `7`: "0", ``: "0"} {
		r := record{version: 12, body: map[string]json.RawMessage{}, info: map[string]json.RawMessage{"status": quoted(superseded)}}
		if deployedAt != "" {
			r.info["last_deployed"] = json.RawMessage(deployedAt)
		}
		written, err := r.written(lifecycle.PlanInput{Release: "web"})
		var s struct {
			Type     string
			Metadata struct {
				Name   string
				Labels map[string]string
			}
		}
		if err != nil || json.Unmarshal([]byte(written.Text.Reveal()), &s) != nil {
			t.Fatal(err)
		}
		want := map[string]string{"name": "web", "owner": "helm", "status": "superseded", "version": "12", "createdAt": createdAt}
		if s.Type != "helm.sh/release.v1" || s.Metadata.Name != "sh.helm.release.v1.web.v12" || !maps.Equal(s.Metadata.Labels, want) {
			t.Errorf("deployed at %s: %+v, want %v", deployedAt, s, want)
		}
	}
}
