package csar_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/vimbroker/vimbroker/broker/api/sol003"
	"github.com/vimbroker/vimbroker/lifecycle"
	"github.com/vimbroker/vimbroker/test/csar"
)

// networks are the templates of a descriptor that ask for networks: in each package the last two are made by nothing.
const networks = `    VDU1_CP1:
      type: tosca.nodes.nfv.VduCp
    internalVL1:
      type: tosca.nodes.nfv.VnfVirtualLink
    VDU1_CP9:
      type: tosca.nodes.nfv.VduCp
    internalVL9:
      type: tosca.nodes.nfv.VnfVirtualLink
`

// What a descriptor and a request ask for of networks, and is not done, is said by the dry run, the operation and the
// instance, for as long as it has resources. What a base HOT makes is done.
func TestNoNetworkIsLeftOutInSilence(t *testing.T) {
	const managed = `"extManagedVirtualLinks":[{"id":"m1","vnfVirtualLinkDescId":"internalVL9","resourceId":"r"}]`
	for name, c := range map[string]struct {
		pkg              csar.Files
		vnfd, file, body string
		want             []string
	}{
		"manifests": {
			csar.Tacker(), csar.TackerVNFD, "Definitions/edge_df_simple.yaml", `{"flavourId":"simple","vimConnectionInfo":{"vim":{"vimId":"edge"}},
				"additionalParams":{"namespace":"edge","lcm-kubernetes-def-files":["Files/kubernetes/deployment.yaml"]}}`,
			[]string{"VduCp VDU1_CP1 ", "VduCp VDU1_CP9 ", "VnfVirtualLink internalVL1 ", "VnfVirtualLink internalVL9 "},
		},
		"base HOT": {
			csar.TackerServers(), csar.TackerServersVNFD, "Definitions/sample_df_simple.yaml", `{"flavourId":"simple",
				"vimConnectionInfo":{"vim":{"vimId":"cloud"}},"additionalParams":{"nfv":{"CP":{"VDU1_CP1":{"network":"net0"}}}},` + managed + `}`,
			[]string{"VduCp VDU1_CP9 ", "VnfVirtualLink internalVL9 ", " m1 "},
		},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t)
			c.pkg[c.file] = strings.Replace(c.pkg[c.file], "    VDU1:\n", networks+"    VDU1:\n", 1)
			r.upload(c.pkg)
			door, one := r.doors(), lcm+"/vnf_instances/"+r.made(c.vnfd)
			says := func(who string, lines, want []string) {
				t.Helper()
				for i := range max(len(lines), len(want)) {
					if len(lines) != len(want) || !strings.Contains(lines[i], want[i]) {
						t.Fatalf("%s says %q, want %q", who, lines, want)
					}
				}
			}
			into := func(path string, to any) {
				t.Helper()
				if _, text := door.Ask("GET", path, ""); json.Unmarshal([]byte(text), to) != nil {
					t.Fatal(text)
				}
			}
			_, text := door.Ask("POST", one+"/instantiate?"+sol003.DryRun, c.body)
			var seen sol003.Preview
			if err := json.Unmarshal([]byte(text), &seen); err != nil {
				t.Fatal(text)
			}
			says("the dry run", seen.NotDone, c.want)
			for _, step := range []struct {
				task, body string
				want       []string
			}{
				{"/instantiate", c.body, c.want},
				{"/heal", "{}", c.want},
				{"/change_vnfpkg", fmt.Sprintf(`{"vnfdId":%q}`, c.vnfd), c.want},
				{"/terminate", `{"terminationType":"FORCEFUL"}`, nil},
			} {
				answer, text := door.Ask("POST", one+step.task, step.body)
				if answer.StatusCode != http.StatusAccepted {
					t.Fatalf("%s = %d %s", step.task, answer.StatusCode, text)
				}
				path := strings.TrimPrefix(answer.Header.Get("Location"), door.URL)
				begun, err := r.Operation(t.Context(), alice, base(path))
				r.ends(lifecycle.Completed, begun, err)
				var o sol003.OpOcc
				into(path, &o)
				says("the operation of "+step.task, o.Own.NotDone, step.want)
				var i sol003.VNFInstance
				into(one, &i)
				says("the instance after "+step.task, i.Own.NotDone, step.want)
			}
		})
	}
}

// A request that would connect an instance to a network of others is refused with the field and a remedy.
func TestAConnectionThatIsNotMadeIsRefused(t *testing.T) {
	r := newRig(t)
	r.upload(csar.Tacker())
	one := lcm + "/vnf_instances/" + r.made(csar.TackerVNFD)
	answer, text := r.doors().Ask("POST", one+"/instantiate", `{"flavourId":"simple","vimConnectionInfo":{"vim":{"vimId":"edge"}},
		"extVirtualLinks":[{"id":"net0","resourceId":"r","extCps":[{"cpdId":"CP9"}]}]}`)
	var said struct{ Remedy string }
	if err := json.Unmarshal([]byte(text), &said); err != nil || answer.StatusCode != http.StatusUnprocessableEntity ||
		!strings.Contains(text, "extVirtualLinks") || !strings.Contains(text, "CP9") || !strings.Contains(said.Remedy, "connection point") {
		t.Errorf("instantiate = %d %s", answer.StatusCode, text)
	}
	answer, text = r.doors().Ask("POST", one+"/instantiate", `{"flavourId":"simple","vimConnectionInfo":{"vim":{"vimId":"edge"}},
		"extManagedVirtualLinks":[{"id":"m1","vnfVirtualLinkDescId":"internalVL1","resourceId":"r"}]}`)
	if answer.StatusCode != http.StatusUnprocessableEntity || !strings.Contains(text, "extManagedVirtualLinks: names") {
		t.Errorf("instantiate with a managed link that is not taken = %d %s", answer.StatusCode, text)
	}
}
