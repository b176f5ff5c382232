package csar_test

import (
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/vimbroker/vimbroker/broker/api/sol003"
	"github.com/vimbroker/vimbroker/lifecycle"
	"github.com/vimbroker/vimbroker/test/csar"
	"github.com/vimbroker/vimbroker/test/fake"
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
			t.Errorf("Heat has %v for the secret parameter", got)
		}
	}
	wantLogin()
	if !strings.Contains(said.String(), `"login":"<hidden>"`) && !strings.Contains(said.String(), `"login":"\u003chidden\u003e"`) {
		t.Error("no answer says that the request gave the secret parameter")
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

// The ports of a stack's servers are shown as the connection points of its VNFCs, with the addresses that Neutron gave
// them, and nothing else of what it says. What is no address is left out; that nothing can be had hinders nothing.
func TestConnectionPointsOfServers(t *testing.T) {
	r := newRig(t)
	c := r.doors()
	r.upload(csar.TackerServers())
	one := lcm + "/vnf_instances/" + r.made(csar.TackerServersVNFD)
	worked := func(path, body string) (points [][]sol003.VNFCCPInfo) {
		t.Helper()
		answer, text := c.Ask("POST", one+path, body)
		if answer.StatusCode != http.StatusAccepted {
			t.Fatalf("POST %s = %d %s", path, answer.StatusCode, text)
		}
		o, err := r.Operation(t.Context(), alice, base(answer.Header.Get("Location")))
		r.ends(lifecycle.Completed, o, err)
		_, text = c.Ask("GET", one, "")
		var shown sol003.VNFInstance
		if err := json.Unmarshal([]byte(text), &shown); err != nil || shown.Instantiated == nil {
			t.Fatalf("the instance is %s, %v", text, err)
		}
		if strings.Contains(text, fake.Canary) {
			t.Errorf("the instance shows more of a port than its addresses: %s", text)
		}
		outside := 0
		for _, v := range shown.Instantiated.Resources {
			points = append(points, v.CPs)
			for _, p := range v.CPs {
				if p.CPDID == "VDU1_CP1" && slices.ContainsFunc(shown.Instantiated.ExtCPs, func(e sol003.ExtCPInfo) bool {
					return e.VNFCCPID == p.ID && e.CPDID == p.CPDID && e.Protocol != nil
				}) {
					outside++
				} else if p.CPDID == "VDU1_CP1" {
					t.Errorf("VDU1_CP1 is not shown outside: %+v", shown.Instantiated.ExtCPs)
				}
			}
		}
		if outside != len(shown.Instantiated.ExtCPs) {
			t.Errorf("outside there are %+v, want %d", shown.Instantiated.ExtCPs, outside)
		}
		return points
	}
	// said has Neutron say something else of ports, from now on.
	said := func(change ...string) {
		r.heat.Heal()
		changes := strings.NewReplacer(change...)
		r.heat.Fail(fake.Fault{Kind: fake.Edit, Method: "GET", Path: "/resources$", Times: -1, Edit: func(_ http.Header, body []byte) []byte {
			if !strings.Contains(string(body), "fixed_ips") {
				return body
			}
			return []byte(changes.Replace(string(body)))
		}})
	}
	point := func(cp string, protocol ...sol003.CPProtocol) sol003.VNFCCPInfo {
		return sol003.VNFCCPInfo{CPDID: cp, Protocol: protocol}
	}
	address := func(subnet, mac string) sol003.CPProtocol {
		return sol003.CPProtocol{Layer: "IP_OVER_ETHERNET", Address: sol003.IPOverEthernet{MAC: mac, IPs: []sol003.IPAddresses{
			{Type: "IPV4", Addresses: []string{"192.0.2.7"}, SubnetID: subnet}, {Type: "IPV6", Addresses: []string{"2001:db8::7"}, SubnetID: subnet},
		}}}
	}
	const mac = "fa:16:3e:00:00:01"
	both := []sol003.VNFCCPInfo{point("VDU1_CP1", address("subnet-of-VDU1_CP1", mac)), point("VDU1_CP2", address("subnet-of-VDU1_CP2", mac))}
	scale := func(deed string) [][]sol003.VNFCCPInfo {
		t.Helper()
		return worked("/scale", `{"type":"SCALE_`+deed+`","aspectId":"VDU1_scale","numberOfSteps":1}`)
	}
	for _, step := range []struct {
		name string
		said []string
		do   func() [][]sol003.VNFCCPInfo
		want []sol003.VNFCCPInfo
		of   int
	}{
		{"as it is", nil, func() [][]sol003.VNFCCPInfo {
			return worked("/instantiate", `{"flavourId":"simple","vimConnectionInfo":{"vim":{"vimId":"cloud","vimType":"ETSINFV.OPENSTACK_KEYSTONE.V_3"}},
				"additionalParams":{"nfv":{"CP":{"VDU1_CP1":{"network":"net0"}}}}}`)
		}, both, 1},
		{
			"no addresses",
			[]string{"192.0.2.7", "192.0.2.7\\n", "2001:db8::7", "fe80::1%eth0", mac, "<b>"},
			func() [][]sol003.VNFCCPInfo { return scale("OUT") },
			[]sol003.VNFCCPInfo{point("VDU1_CP1"), point("VDU1_CP2")},
			2,
		},
		{"no subnet", []string{"subnet-of-", "../"}, func() [][]sol003.VNFCCPInfo { return scale("IN") }, []sol003.VNFCCPInfo{
			point("VDU1_CP1", sol003.CPProtocol{Layer: "IP_OVER_ETHERNET", Address: sol003.IPOverEthernet{MAC: mac}}),
			point("VDU1_CP2", sol003.CPProtocol{Layer: "IP_OVER_ETHERNET", Address: sol003.IPOverEthernet{MAC: mac}}),
		}, 1},
		{"of no server", []string{"device_id", "device"}, func() [][]sol003.VNFCCPInfo { return scale("OUT") }, nil, 2},
		{"no answer", []string{"{", ""}, func() [][]sol003.VNFCCPInfo { return scale("IN") }, nil, 1},
	} {
		said(step.said...)
		got := step.do()
		if len(got) != step.of {
			t.Fatalf("%s: %d VNFCs are shown, want %d", step.name, len(got), step.of)
		}
		for _, points := range got {
			if diff := cmp.Diff(step.want, points, cmpopts.IgnoreFields(sol003.VNFCCPInfo{}, "ID")); diff != "" {
				t.Errorf("%s: the connection points (-want +got):\n%s", step.name, diff)
			}
		}
	}
}
