package helm

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/broker/secret"
	"github.com/vimbroker/vimbroker/drivers/helm/chart"
	"github.com/vimbroker/vimbroker/lifecycle"
	"github.com/vimbroker/vimbroker/test/fake"
)

// doubted are releases whose plans ask the cluster for everything that a plan may ask for. Each counts the requests
// that a plan can do without.
func doubted() []struct {
	name      string
	in        func(*lifecycle.PlanInput)
	revisions []revision
	answers   []chart.Rendering
	spared    int
} {
	hooks := func(all ...string) string { return "[" + strings.Join(all, ",") + "]" }
	ours := func(version int, status, mark string, of ...string) revision {
		return revision{version: version, status: status, mark: mark, owner: vnf, manifest: configMap("a"), hooks: hooks(of...)}
	}
	defined := defining(configMap("a"))
	looks := answer(configMap("a"))
	looks.Asked = []chart.Lookup{{APIVersion: "v1", Kind: "ConfigMap", Name: "a"}}
	event := func(name, event string) string { return hookOf(name, event, `"before-hook-creation","hook-succeeded"`) }
	return []struct {
		name      string
		in        func(*lifecycle.PlanInput)
		revisions []revision
		answers   []chart.Rendering
		spared    int
	}{
		{"INSTANTIATE", does(lifecycle.Instantiate), nil, []chart.Rendering{defined}, 3},
		{"CHANGE_VNFPKG", does(lifecycle.ChangePackage, stands("a b h", 1)), []revision{ours(1, deployed, older, event("h", "post-upgrade"))}, []chart.Rendering{looks}, 3},
		{"a rollback", does(lifecycle.ChangePackage, undoing(older), stands("a passed", 1, 2)), []revision{ours(1, superseded, "first", event("pre", "pre-rollback"), event("post", "post-rollback")), ours(2, deployed, older, event("passed", "post-upgrade"))}, nil, 2},
		{"a release of Helm's", does(lifecycle.ChangePackage, stands("a h", 1)), []revision{ours(1, deployed, older), ours(2, deployed, older, event("h", "pre-upgrade"))}, []chart.Rendering{answer(configMap("a"))}, 3},
		{"HEAL", does(lifecycle.Heal, stands("a h", 1)), []revision{ours(1, deployed, older, event("h", "post-install"))}, nil, 0},
		{"HEAL without its record", does(lifecycle.Heal, stands("a", 1, 2)), []revision{ours(1, deployed, older)}, []chart.Rendering{answer(configMap("a"))}, 3},
		{"tests", does(lifecycle.Heal, stands("a", 1), func(in *lifecycle.PlanInput) { in.Tests = true }), []revision{ours(1, deployed, older, event("probe", "test"))}, nil, 0},
		{"TERMINATE", does(lifecycle.Terminate, stands("a h", 1)), []revision{ours(1, deployed, older, event("h", "post-install"), event("first", "pre-delete"), event("last", "post-delete"))}, nil, 0},
		{"TERMINATE of what Helm made", does(lifecycle.Terminate, stands("a h", 1)), []revision{ours(1, deployed, older), ours(2, deployed, older, event("h", "pre-upgrade"))}, nil, 0},
	}
}

// planWithout makes the plan where the nth request for a path fails, and reports whether there was one.
func (r *release) planWithout(path string, nth int) (said string, asked bool, err error) {
	var seen atomic.Int32 // they come side by side
	r.s.Watch(func(request *http.Request, _ []byte) *fake.Fault {
		if request.URL.Path == path && r.asks(request) && int(seen.Add(1)) == nth {
			return &fake.Fault{Kind: fake.Refuse, Status: http.StatusInternalServerError}
		}
		return nil
	})
	defer r.s.Watch(nil)
	said, err = r.plan()
	return said, int(seen.Load()) >= nth, err
}

// A plan whose request is not answered is none, whichever it is: half a plan would leave, or remove, what it does not know of.
func TestNoPlanRestsOnARequestThatFails(t *testing.T) {
	for _, c := range doubted() {
		t.Run(c.name, func(t *testing.T) {
			r := newRelease(t, c.in, c.revisions, c.answers)
			whole, err := r.plan()
			if err != nil {
				t.Fatal(err)
			}
			counts, order := map[string]int{}, []string{}
			for _, asked := range r.s.Requests() {
				path := asked.Path
				if strings.Contains(path, "/secrets/"+recordPrefix) && !strings.HasSuffix(path, ".v1") {
					continue // one is like all
				}
				if counts[path]++; counts[path] == 1 {
					order = append(order, path)
				}
			}
			var spared, unasked []string
			for _, path := range order {
				for nth := 1; nth <= counts[path]; nth++ {
					said, asked, err := r.planWithout(path, nth)
					for again := 0; again < 2 && err == nil && said == whole; again++ { // a request whose answer is lost is sent again
						said, asked, err = r.planWithout(path, nth)
					}
					what := fmt.Sprintf("%s %d of %d", path, nth, counts[path])
					switch {
					case err == nil && said == whole && !asked: // one plan may send a request again, and so ask once more than another
						unasked = append(unasked, what)
					case err == nil && said == whole: // a hook of a later event, which is looked at for faults of its own
						spared = append(spared, what)
					case err == nil:
						t.Errorf("without %s it is\n%s\nwant\n%s", what, said, whole)
					case !errors.Is(err, broker.ErrUnreachable) || !strings.Contains(err.Error(), "(500)"):
						t.Errorf("without %s: %v", what, err)
					}
				}
			}
			if len(spared) != c.spared || len(unasked) > 1 {
				t.Errorf("requests that can fail are %q, want %d; not asked again are %q", spared, c.spared, unasked)
			}
		})
	}
}

// What the program that renders says is a rendering, or a fault of the chart that says so.
func TestProgramsThatAnswerOddly(t *testing.T) {
	for says, ok := range map[string]bool{`{"release":{}}`: true, "x": false, "": false, "[]": false} {
		d := New(Options{Program: []string{"/bin/sh", "-c", "echo '" + says + "'"}})
		a, err := d.render(t.Context(), "acme", chart.Task{})
		if ok != (err == nil) || !ok && (!errors.Is(err, broker.ErrInvalid) || !strings.Contains(err.Error(), "does not answer as it should") || len(a.Release) > 0) {
			t.Errorf("a program that says %q: %+v, %v", says, a, err)
		}
	}
}

// A rendering that is given up is no rendering.
func TestARenderingThatIsGivenUp(t *testing.T) {
	pipe := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	ctx, end := context.WithCancel(t.Context())
	defer end()
	go func() {
		_, _ = os.ReadFile(pipe) // until it runs
		end()
	}()
	d := New(Options{Program: []string{"/bin/sh", "-c", "echo > " + pipe + "; exec cat " + pipe}})
	if _, err := d.render(ctx, "acme", chart.Task{}); !errors.Is(err, context.Canceled) {
		t.Errorf("it ends with %v", err)
	}
}

// A chart is the package's one archive or one folder, or lies where the request says.
func TestChartsOfRequests(t *testing.T) {
	files := func(paths ...string) (all []lifecycle.Manifest) {
		for _, p := range paths {
			all = append(all, lifecycle.Manifest{Path: p, Text: secret.NewText(p)})
		}
		return all
	}
	for name, c := range map[string]struct {
		named   []string
		files   []lifecycle.Manifest
		archive string
		paths   string
		says    string
	}{
		"an archive":              {nil, files("a.tgz"), "a.tgz", "", ""},
		"an archive by its name":  {[]string{"a.tgz"}, files("a.tgz"), "a.tgz", "", ""},
		"a folder":                {nil, files("c/Chart.yaml", "c/templates/a.yaml"), "", "Chart.yaml templates/a.yaml", ""},
		"a folder with archives":  {nil, files("c/Chart.yaml", "c/charts/a.tgz"), "", "Chart.yaml charts/a.tgz", ""},
		"an archive in a folder":  {nil, files("c/charts/a.tgz", "c/Chart.yaml"), "", "charts/a.tgz Chart.yaml", ""},
		"two archives":            {nil, files("a.tgz", "b.tgz"), "", "", "the package holds no chart where it was"},
		"none":                    {nil, files("a.yaml"), "", "", "the package holds no chart where it was"},
		"one elsewhere, unpinned": {[]string{"oci://r.example/web:1.0.0"}, nil, "", "", "must pin the chart by its digest"},
	} {
		r, err := New(Options{}).requestOf(t.Context(), lifecycle.PlanInput{Instance: vnf, Namespace: "cnf", Named: c.named, Manifests: c.files}, parameters{})
		var paths []string
		for _, f := range r.Files {
			paths = append(paths, f.Path)
		}
		if string(r.Archive) != c.archive || c.says == "" && strings.Join(paths, " ") != c.paths || err == nil != (c.says == "") || err != nil && !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: archive %q, files %q, %v", name, r.Archive, paths, err)
		}
	}
	r := newRelease(t, does(lifecycle.Instantiate), nil, nil)
	r.in.Named = []string{"oci://r.example/web:1.0.0"}
	if said, err := r.plan(); !errors.Is(err, broker.ErrInvalid) || !strings.Contains(said, "must pin the chart") {
		t.Errorf("a plan of a chart that is not pinned: %s", said)
	}
	c := r.c
	c.Config.Endpoint, c.Config.CACert = "https://h", "none"
	if p, err := r.d.Plan(t.Context(), c, r.in); err == nil || errors.Is(err, broker.ErrUnreachable) || len(p.Stages) > 0 {
		t.Errorf("a plan by authorities that are none: %v", err)
	}
}

// What Helm has made of a release is the instance's where a record of that release is.
func TestObjectsOfARelease(t *testing.T) {
	record := lifecycle.Resource{Version: "v1", Kind: "Secret", Plural: "secrets", Namespace: "cnf", Name: recordPrefix + "web.v1", UID: "u"}
	object := lifecycle.Resource{Version: "v1", Kind: "ConfigMap", Plural: "configmaps", Namespace: "cnf", Name: "made"}
	for name, c := range map[string]struct {
		change func(*lifecycle.Resource)
		ours   bool
	}{
		"its record":          {func(*lifecycle.Resource) {}, true},
		"another's":           {func(r *lifecycle.Resource) { r.Name = recordPrefix + "other.v1" }, false},
		"elsewhere":           {func(r *lifecycle.Resource) { r.Namespace = "elsewhere" }, false},
		"one that was not":    {func(r *lifecycle.Resource) { r.UID = "" }, false},
		"a map":               {func(r *lifecycle.Resource) { r.Kind = "ConfigMap" }, false},
		"of another group":    {func(r *lifecycle.Resource) { r.Group = "x.example" }, false},
		"without a version":   {func(r *lifecycle.Resource) { r.Name = recordPrefix + "web" }, false},
		"of another name":     {func(r *lifecycle.Resource) { r.Name = "web.v1" }, false},
		"of a dotted release": {func(r *lifecycle.Resource) { r.Name = recordPrefix + "web.v1.v2" }, false},
		"of no release":       {func(r *lifecycle.Resource) { r.Name = recordPrefix + ".v1" }, false},
	} {
		r, release := newRelease(t, does(lifecycle.Instantiate), nil, nil), "web"
		if name == "of no release" {
			release = ""
		}
		r.s.Put("/api/v1/namespaces/cnf/configmaps/made", map[string]any{"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{
			"name": "made", "namespace": "cnf", "annotations": map[string]any{"meta.helm.sh/release-name": release, "meta.helm.sh/release-namespace": "cnf"},
		}})
		of := record
		c.change(&of)
		seen, err := r.d.Observe(t.Context(), r.s.Connection(lifecycle.StageRules{ClusterWide: true, Rules: []broker.Rule{
			{APIGroups: []string{"*", "", "x.example"}, Resources: []string{"secrets", "configmaps", "namespaces"}, Verbs: []string{"get"}},
		}}), vnf, []lifecycle.Resource{of, object})
		if err != nil || len(seen) != 2 || seen[1].Standing != c.ours {
			t.Errorf("%s: %+v, %v", name, seen, err)
		}
	}
}
