package manifests

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/vimbroker/vimbroker/lifecycle"
	"github.com/vimbroker/vimbroker/test/fake"
	"github.com/vimbroker/vimbroker/test/fakeobjects"
	"github.com/vimbroker/vimbroker/test/golden"
)

// TestObservationsOfACorpus: what is asked for resources that stand, or do not, and what is told of each.
func TestObservationsOfACorpus(t *testing.T) {
	const (
		owned  = `,"managedFields":[{"manager":"us","operation":"Apply","time":"2","fieldsV1":{"f:spec":{"f:replicas":{},"f:a":{}}}}]`
		lost   = `,"managedFields":[{"manager":"us","operation":"Apply","time":"2","fieldsV1":{"f:spec":{"f:a":{}}}},{"manager":"hpa","operation":"Update","subresource":"scale","time":"3"},{"manager":"kubelet","operation":"Update","subresource":"status","time":"3"}]`
		both   = `,"managedFields":[{"manager":"us","operation":"Apply","time":"2","fieldsV1":{"f:spec":{}}},{"manager":"kubectl","operation":"Update","time":"3"},{"manager":"kubectl","operation":"Apply","time":"2"},{"manager":"old","operation":"Update","time":"1"},{"manager":"a b","operation":"Update","time":"3"}]`
		later  = `,"managedFields":[{"manager":"us","operation":"Apply","time":"2","fieldsV1":{"f:spec":{}}},{"manager":"kubectl","operation":"Update","time":"3"},{"manager":"us","operation":"Update","subresource":"scale","time":"4"}]`
		core   = `{"kind":"APIResourceList","resources":[{"name":"configmaps","kind":"ConfigMap"}]}`
		podsIn = "GET /api/v1/namespaces/m/pods"
	)
	scalesWeb := lifecycle.Resource{Group: "autoscaling", Version: "v2", Kind: scaler, Plural: scalers, Namespace: "n", Name: "h"}
	ownScaler := fmt.Sprintf(`{"kind":%q,"apiVersion":"autoscaling/v2","metadata":{"name":"h","uid":"h","labels":{"vimbroker.io/instance":"i"}},"spec":{"scaleTargetRef":{"kind":"Deployment","name":"web"}},"status":{}}`, scaler)
	as := func(r lifecycle.Resource, meta string) lifecycle.Resource {
		r.Applied = read(t, thereWith(r, meta, "")).mark()
		return r
	}
	unnamed := web
	unnamed.VDU = ""
	bareCustom := custom
	bareCustom.VDU = ""
	ready := numbered(2, 2)
	var got []string
	for _, c := range []struct {
		name    string
		all     []lifecycle.Resource
		answers answers
	}{
		{"a map", []lifecycle.Resource{as(aMap, "")}, answers{getOf(aMap): {there(aMap, "")}}},
		{"what is missing, or another's", []lifecycle.Resource{aMap, anotherMap}, answers{getOf(aMap): {gone(aMap)}, getOf(anotherMap): {strings.Replace(there(anotherMap, ""), `:"i"`, `:"j"`, 1)}}},
		{"a kind that is served no more", []lifecycle.Resource{aSecret}, answers{getOf(aSecret): {"404 x"}, "GET /api/v1": {core}}},
		{"a kind that is served", []lifecycle.Resource{aMap}, answers{getOf(aMap): {"404 x"}, "GET /api/v1": {core}}},
		{"a kind that nobody says is served", []lifecycle.Resource{aMap}, answers{getOf(aMap): {"404 x"}, "GET /api/v1": {"500 {}"}}},
		{"refused", []lifecycle.Resource{aMap}, answers{getOf(aMap): {forbidden}, "GET /api/v1": {core}}},
		{"workloads of two namespaces", []lifecycle.Resource{as(web, ""), as(webInM, ""), unnamed, otherWeb}, answers{
			getOf(web): {there(web, ready)}, getOf(webInM): {there(webInM, numbered(1, 0))}, getOf(otherWeb): {gone(otherWeb)}, listPods: {podsOf("b", "slow", "a")}, podsIn: {podsOf("m")},
		}},
		{"pods that are not seen", []lifecycle.Resource{web}, answers{getOf(web): {there(web, ready)}, listPods: {forbidden}}},
		{"a workload that is gone", []lifecycle.Resource{web}, answers{getOf(web): {gone(web)}}},
		{"a claim", []lifecycle.Resource{aClaim}, answers{getOf(aClaim): {there(aClaim, `,"status":{"phase":"Bound"}`)}}},
		{"unchanged", []lifecycle.Resource{as(unnamed, owned)}, answers{getOf(web): {thereWith(web, owned, ready)}}},
		{"unchanged, and applied by another too", []lifecycle.Resource{as(unnamed, owned)}, answers{getOf(web): {thereWith(web, strings.Replace(owned, "[", `[{"manager":"kubectl","operation":"Apply","time":"1","fieldsV1":{"f:spec":{"f:z":{}}}},{"manager":"us","operation":"Update","time":"1","fieldsV1":{"f:spec":{"f:z":{}}}},{"manager":"us","operation":"Apply","subresource":"scale","time":"1","fieldsV1":{"f:z":{}}},`, 1), ready)}}},
		{"a number that somebody has changed", []lifecycle.Resource{as(unnamed, owned)}, answers{getOf(web): {thereWith(web, lost, ready)}, listScalers: {scalersOf("j", "other")}}},
		{"a number that an autoscaler has changed", []lifecycle.Resource{as(unnamed, owned)}, answers{getOf(web): {thereWith(web, lost, ready)}, listScalers: {scalersOf("j", "web")}}},
		{"numbers that autoscalers have changed", []lifecycle.Resource{as(unnamed, owned), as(otherWeb, owned)}, answers{
			getOf(web): {thereWith(web, lost, ready)}, getOf(otherWeb): {thereWith(otherWeb, lost, ready)}, listScalers: {scalersOf("j", "other")}, listPods: {podsOf()},
		}},
		{"a number that an autoscaler of the instance has changed", []lifecycle.Resource{as(unnamed, owned), scalesWeb}, answers{getOf(web): {thereWith(web, lost, ready)}, getOf(scalesWeb): {ownScaler}}},
		{"a number, and an autoscaler that is missing", []lifecycle.Resource{as(unnamed, owned), scalesWeb}, answers{getOf(web): {thereWith(web, lost, ready)}, getOf(scalesWeb): {gone(scalesWeb)}, listScalers: {scalersOf("i", "web")}}},
		{"a number, and autoscalers that are not seen", []lifecycle.Resource{as(unnamed, owned)}, answers{getOf(web): {thereWith(web, lost, ready)}, listScalers: {forbidden}}},
		{"more than a number", []lifecycle.Resource{as(unnamed, owned)}, answers{getOf(web): {thereWith(web, both, ready)}}},
		{"changed before we scaled it", []lifecycle.Resource{as(unnamed, owned)}, answers{getOf(web): {thereWith(web, later, ready)}}},
		{"more than a number, with an autoscaler", []lifecycle.Resource{as(unnamed, owned), scalesWeb}, answers{getOf(web): {thereWith(web, both, ready)}, getOf(scalesWeb): {ownScaler}}},
		{"what has no number", []lifecycle.Resource{as(aMap, owned)}, answers{getOf(aMap): {thereWith(aMap, lost, "")}}},
		{"what may have a number", []lifecycle.Resource{as(custom, owned)}, answers{getOf(custom): {thereWith(custom, lost, "")}, listScalers: {scalersOf("j", "x")}, listPods: {podsOf()}}},
		{"what has no number that is known", []lifecycle.Resource{as(bareCustom, owned)}, answers{getOf(custom): {thereWith(custom, lost, "")}}},
		{"what was never applied", []lifecycle.Resource{unnamed}, answers{getOf(web): {thereWith(web, both, ready)}}},
	} {
		s := fakeobjects.NewPlain(t)
		var mu sync.Mutex
		var lines []string
		s.Watch(func(r *http.Request, _ []byte) *fake.Fault {
			mu.Lock()
			defer mu.Unlock()
			lines = append(lines, r.Method+" "+r.URL.RequestURI())
			f := fake.Fault{Kind: fake.JSON, Status: http.StatusInternalServerError, Body: "{}"}
			if all := c.answers[r.Method+" "+r.URL.Path]; len(all) > 0 {
				f.Status, f.Body = http.StatusOK, all[0]
				if _, err := fmt.Sscanf(all[0], "%3d ", &f.Status); err == nil {
					f.Body = all[0][4:]
				}
			}
			return &f
		})
		all, err := As("us").Observe(t.Context(), s.Connection(lifecycle.StageRules{}), "i", c.all)
		s.Watch(nil)
		slices.Sort(lines)
		for _, o := range all {
			text, _ := json.Marshal(o)
			lines = append(lines, untold.ReplaceAllString(string(text), ""))
		}
		got = append(got, "== "+c.name+"\n"+(&protocol{lines: lines}).end(err))
	}
	golden.Compare(t, "testdata/observed.txt", strings.Join(got, "\n"))
}
