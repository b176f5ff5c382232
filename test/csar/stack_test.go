package csar_test

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/vimbroker/vimbroker/lifecycle"
	"github.com/vimbroker/vimbroker/lifecycle/api/sol003"
	"github.com/vimbroker/vimbroker/test/csar"
)

// TestNoSecretOfAStackIsFound looks for what a base HOT hides, has as properties or puts out where none of it may be:
// in the answers, the notifications, the database and the log of a VNF's whole life, failures included in which Heat
// repeats it all.
func TestNoSecretOfAStackIsFound(t *testing.T) {
	const canary = "canary-5d20e7b1"
	r := newRig(t)
	c := r.doors()
	var said strings.Builder
	ask := func(want int, method, path, body string) http.Header {
		t.Helper()
		answer, text := c.Ask(method, path, body)
		if answer.StatusCode != want {
			t.Fatalf("%s %s = %d %s, want %d", method, path, answer.StatusCode, text, want)
		}
		said.WriteString(text)
		return answer.Header
	}
	worked := func(want lifecycle.OperationState, path, body string) string {
		t.Helper()
		at := strings.TrimPrefix(ask(http.StatusAccepted, "POST", path, body).Get("Location"), c.URL)
		o, err := r.Operation(t.Context(), alice, base(at))
		r.ends(want, o, err)
		ask(http.StatusOK, "GET", at, "")
		return at
	}
	n := r.nfvo()
	subscription := ask(http.StatusCreated, "POST", lcm+"/subscriptions", `{"callbackUri":"`+n.URL+`","verbosity":"FULL"}`).Get("Location")

	vnf := csar.TackerHeat()
	const top, nested = "BaseHOT/simple/sample.yaml", "BaseHOT/simple/nested/VDU1.yaml"
	vnf[top] = strings.NewReplacer(
		"    type: json\n", "    type: json\n  login: {type: string, hidden: true, default: "+canary+"-default}\n",
		"outputs: {}", "  pages:\n    type: OS::Heat::Value\n    properties: {value: "+canary+"-property}\noutputs: {login: {value: "+canary+"-output}}",
	).Replace(vnf[top])
	vnf[nested] = strings.Replace(vnf[nested], "parameters:\n", "parameters:\n  key: {type: string, hidden: true, default: "+canary+"-nested}\n", 1)
	r.upload(vnf)
	one := lcm + "/vnf_instances/" + r.made(csar.TackerHeatVNFD)

	const request = `{"flavourId":"simple","vimConnectionInfo":{"vim":{"vimId":"cloud","vimType":"ETSINFV.OPENSTACK_KEYSTONE.V_3"}},
		"additionalParams":{"nfv":{"CP":{"VDU1_CP1":{"network":"net0"}}}%s}}`
	instantiation := strings.Replace(request, "%s", `,"variables":{"login":"`+canary+`-given"}`, 1)
	ask(http.StatusOK, "POST", one+"/instantiate?"+sol003.DryRun, instantiation)
	r.heat.Break("VDU1", "cannot boot with "+strings.Join([]string{canary + "-default", canary + "-property", canary + "-nested", canary + "-given"}, ", "))
	failed := worked(lifecycle.FailedTemp, one+"/instantiate", instantiation)
	if !strings.Contains(said.String(), "cannot boot with (a value of the template)") {
		t.Error("no answer has Heat's reason: the test proves nothing")
	}
	r.heat.Break("VDU1", "")
	ask(http.StatusAccepted, "POST", failed+"/retry", "")
	o, err := r.Operation(t.Context(), alice, base(failed))
	r.ends(lifecycle.Completed, o, err)
	wantLogin := func() {
		t.Helper()
		if got := r.heat.Parameter("vnf-"+base(one), "login"); got != canary+"-given" {
			t.Errorf("Heat has %v for the hidden parameter", got)
		}
	}
	wantLogin()
	if !strings.Contains(said.String(), `"login":"<hidden>"`) && !strings.Contains(said.String(), `"login":"\u003chidden\u003e"`) {
		t.Error("no answer says that the request gave the hidden parameter")
	}
	worked(lifecycle.Completed, one+"/scale", `{"type":"SCALE_OUT","aspectId":"VDU1_scale","numberOfSteps":1}`)
	worked(lifecycle.Completed, one+"/heal", `{}`)
	wantLogin()
	if err := r.Observe(t.Context()); err != nil {
		t.Fatal(err)
	}
	ask(http.StatusOK, "GET", one, "")
	worked(lifecycle.Completed, one+"/terminate", `{"terminationType":"FORCEFUL"}`)
	ask(http.StatusNoContent, "DELETE", one, "")

	if err := r.subscriptions.Work(t.Context(), base(subscription)); err != nil {
		t.Fatal(err)
	}
	told := strings.Join(n.told, "\n")
	if !strings.Contains(told, "cannot boot with") {
		t.Errorf("%d notifications, and none has Heat's reason: the test proves nothing", len(n.told))
	}
	texts := map[string]string{"the answers": said.String(), "the notifications": told, "the log": r.log.String()}
	files, err := filepath.Glob(filepath.Join(r.dir, "*.db*"))
	if err != nil || len(files) == 0 {
		t.Fatalf("there is no database: %v", err)
	}
	for _, name := range files {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		texts[filepath.Base(name)] = string(text)
	}
	for where, text := range texts {
		if strings.Contains(text, "canary") {
			t.Errorf("in %s is a secret", where)
		}
	}
}
