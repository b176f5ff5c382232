package helm

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/vimbroker/vimbroker/broker"
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
	defined := answer(configMap("a"))
	defined.Definitions = []chart.ChartFile{{Path: "crds/x.yaml", Text: []byte(`{"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition","metadata":{"name":"xs.x.example"},` +
		`"spec":{"group":"x.example","scope":"Namespaced","names":{"kind":"X","plural":"xs"},"versions":[{"name":"v1","served":true,"storage":true}]}}`)}}
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
			spared := 0
			for _, path := range order {
				for nth := 1; nth <= counts[path]; nth++ {
					seen := 0
					before := r.c.Config.Credential.Token.Reveal()
					r.s.Watch(func(asked *http.Request, _ []byte) *fake.Fault {
						if asked.URL.Path != path || asked.Header.Get("Authorization") == "Bearer "+before { // one that was given up comes late
							return nil
						}
						if seen++; seen == nth {
							return &fake.Fault{Kind: fake.Refuse, Status: http.StatusInternalServerError}
						}
						return nil
					})
					said, err := r.plan()
					r.s.Watch(nil)
					what := fmt.Sprintf("%s %d of %d", path, nth, counts[path])
					switch {
					case err == nil && said == whole: // a hook of a later event, which is looked at for faults of its own
						spared++
					case err == nil:
						t.Errorf("without %s it is\n%s\nwant\n%s", what, said, whole)
					case !errors.Is(err, broker.ErrUnreachable) || !strings.Contains(err.Error(), "(500)"):
						t.Errorf("without %s: %v", what, err)
					}
				}
			}
			if spared != c.spared {
				t.Errorf("%d requests can fail, want %d", spared, c.spared)
			}
		})
	}
}
