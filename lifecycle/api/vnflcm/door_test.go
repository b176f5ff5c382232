package vnflcm_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/broker/api/sol003"
	"github.com/vimbroker/vimbroker/lifecycle"
	"github.com/vimbroker/vimbroker/lifecycle/api/vnflcm"
	"github.com/vimbroker/vimbroker/policy"
	"github.com/vimbroker/vimbroker/test/doors"
)

var noon = time.Date(2031, 5, 6, 12, 0, 0, 0, time.UTC)

// life has one instance and one operation, and remembers what was asked for.
type life struct {
	vnflcm.Lifecycle
	vnflcm.Occurrences
	i     lifecycle.Instance
	o     lifecycle.Operation
	asked any
	// params is what would be kept of the request.
	params json.RawMessage
	err    error
}

func (l *life) Instance(context.Context, policy.Principal, string) (lifecycle.Instance, error) {
	return l.i, l.err
}

func (l *life) Instances(context.Context, policy.Principal, lifecycle.InstanceQuery) ([]lifecycle.Instance, string, error) {
	return []lifecycle.Instance{l.i}, "more", l.err
}

func (l *life) Operation(context.Context, policy.Principal, string) (lifecycle.Operation, error) {
	return l.o, l.err
}

func (l *life) Operations(_ context.Context, _ policy.Principal, q lifecycle.OperationQuery) ([]lifecycle.Operation, string, error) {
	l.asked = q
	return []lifecycle.Operation{l.o}, "", l.err
}

func (l *life) CreateInstance(_ context.Context, _ policy.Principal, r lifecycle.NewInstance) (lifecycle.Instance, error) {
	l.asked = r
	return l.i, l.err
}

func (l *life) DeleteInstance(_ context.Context, _ policy.Principal, _ string, ifRevision int64) error {
	l.asked = ifRevision
	return l.err
}

func (l *life) begun(r any) (lifecycle.Operation, error) {
	l.asked = r
	return l.o, l.err
}

func (l *life) Modify(_ context.Context, _ policy.Principal, _ string, m lifecycle.Modification) (lifecycle.Operation, error) {
	l.params, m.Params = m.Params, nil
	return l.begun(m)
}

func (l *life) Instantiate(_ context.Context, _ policy.Principal, _ string, r lifecycle.Instantiation) (lifecycle.Operation, error) {
	l.params, r.Params = r.Params, nil
	return l.begun(r)
}

func (l *life) Preview(_ context.Context, _ policy.Principal, _ string, r lifecycle.Asked) (lifecycle.Preview, error) {
	what := fmt.Sprintf("preview of a %T", r)
	if make, is := r.(lifecycle.Instantiation); is {
		what = "preview of " + make.Flavour
	}
	_, err := l.begun(what)
	return lifecycle.Preview{}, err
}

func (l *life) Check(_ context.Context, _ policy.Principal, id string) (lifecycle.Instance, error) {
	_, err := l.begun("check of " + id)
	return l.i, err
}

func (l *life) Connect(_ context.Context, _ policy.Principal, _ string, r lifecycle.Connecting) (lifecycle.Operation, error) {
	l.params, r.Params = r.Params, nil
	return l.begun(r)
}

func (l *life) Scale(_ context.Context, _ policy.Principal, _ string, r lifecycle.Scaling) (lifecycle.Operation, error) {
	l.params, r.Params = r.Params, nil
	return l.begun(r)
}

func (l *life) Heal(_ context.Context, _ policy.Principal, _ string, r lifecycle.Healing) (lifecycle.Operation, error) {
	l.params, r.Params = r.Params, nil
	return l.begun(r)
}

func (l *life) ChangePackage(_ context.Context, _ policy.Principal, _ string, r lifecycle.PackageChange) (lifecycle.Operation, error) {
	l.params, r.Params = r.Params, nil
	return l.begun(r)
}

func (l *life) Terminate(_ context.Context, _ policy.Principal, _ string, params json.RawMessage) (lifecycle.Operation, error) {
	l.params = params
	return l.begun("terminate")
}

func (l *life) Retry(context.Context, policy.Principal, string) (lifecycle.Operation, error) {
	return l.begun("retry")
}

func (l *life) Rollback(context.Context, policy.Principal, string) (lifecycle.Operation, error) {
	return l.begun("rollback")
}

func (l *life) Fail(context.Context, policy.Principal, string) (lifecycle.Operation, error) {
	return l.begun("fail")
}

func (l *life) Cancel(_ context.Context, _ policy.Principal, _ string, mode lifecycle.CancelMode) (lifecycle.Operation, error) {
	return l.begun(mode)
}

func newLife() *life {
	shape := lifecycle.Shape{
		Package: "p", Product: lifecycle.Product{VNFDID: "d", Provider: "acme", Name: "web", SoftwareVersion: "1", VNFDVersion: "2"},
		Part: lifecycle.Part{VIM: "5b2f0a52-6f3f-4a55-9a86-1f0c6f0f7c01", VIMName: "edge", VIMType: "kubernetes", Namespace: "shop"}, Flavour: "simple",
		Scale: map[string]int{"front": 1}, MaxScale: map[string]int{"front": 4}, Replicas: map[string]int32{"front": 1},
		Resources: []lifecycle.Resource{{Group: "apps", Version: "v1", Kind: "Deployment", Plural: "deployments", Namespace: "shop", Name: "front"}},
		VNFCs:     []lifecycle.VNFC{{VDU: "front", Kind: "Pod", Namespace: "shop", Name: "front-1", Ready: true}},
	}
	l := &life{i: lifecycle.Instance{
		ID: "342e17b8-eb02-4f1e-9859-4705aab0d23d", Project: "core", Name: "web", State: lifecycle.Instantiated, CreatedBy: "alice", CreatedAt: noon,
		Metadata: []byte(`{"a":"b"}`), Revision: 7, Shape: shape,
	}}
	l.o = lifecycle.Operation{
		ID: "bde115b1-f26f-402e-affa-baaa27119f24", Instance: l.i.ID, Project: "core", Type: lifecycle.ScaleVNF, State: lifecycle.FailedTemp,
		Asker: policy.Delegation{Name: "alice"}, StartedAt: noon, StateEnteredAt: noon, Params: []byte(`{"type":"SCALE_OUT","aspectId":"front"}`),
		Failure: &lifecycle.Failure{Status: 409, Title: "conflict", Detail: "the object front is another's"}, Revision: 3,
	}
	return l
}

// subscriptions are none that anybody asks for.
type subscriptions = vnflcm.Subscriptions

func serve(t *testing.T, l *life) *doors.Client {
	t.Helper()
	c := doors.Serve(t, nil, vnflcm.Door(l, l, struct{ subscriptions }{}))
	c.URL, c.Version = c.URL+sol003.Prefix, sol003.Version
	return c
}

func TestRequests(t *testing.T) {
	name := "shop"
	const instances, operations = "/vnf_instances", "/vnf_lcm_op_occs"
	const one, op = instances + "/342e17b8-eb02-4f1e-9859-4705aab0d23d", operations + "/bde115b1-f26f-402e-affa-baaa27119f24"
	for _, c := range []struct {
		method, path, body string
		status             int
		asked              any
	}{
		{"POST", instances, `{"vnfdId":"d","vnfInstanceName":"web","unknown":1}`, 201, lifecycle.NewInstance{VNFDID: "d", Name: "web"}},
		{"POST", instances, `{}`, 400, nil},
		{"PATCH", one, `{"vnfInstanceName":"shop"}`, 202, lifecycle.Modification{Name: &name}},
		{"PATCH", one, `{"vnfdId":"e"}`, 422, nil},
		{"PATCH", one, `{"vimConnectionInfo":{}}`, 202, lifecycle.Modification{}},
		{"PATCH", one, `{"vimConnectionInfo":{"v":null}}`, 422, nil},
		{"PATCH", one, `{"vimConnectionInfo":{"v":{"interfaceInfo":{"endpoint":"https://canary"}}}}`, 422, nil},
		{"PATCH", one, `{"vimConnectionInfo":{"v":{"accessInfo":{"bearer_token":"canary"}},"w":{}}}`, 422, nil},
		{"PATCH", one, `{"vimConnectionInfo":{"v":{"vimId":"far"}}}`, 202, lifecycle.Modification{Connection: "v", VIM: "far"}},
		{"PATCH", one, `{"vimConnectionInfo":{"v":{}}}`, 422, nil},
		{"PATCH", one, `{"vimConnectionInfo":{"v":{"vimType":"mist","accessInfo":{"bearer_token":"canary"}}}}`, 422, nil},
		{"POST", instances, `{"vnfdId":`, 400, nil},
		{"POST", one + "/instantiate", `{"flavourId":`, 400, nil},
		{"POST", one + "/scale", `{"type":`, 400, nil},
		{"GET", "/vnf_snapshots", ``, 501, nil},
		{"POST", one + "/scale", `{"type":"SCALE_OUT"}`, 400, nil},
		{"POST", one + "/change_vnfpkg", `{}`, 400, nil},
		{"POST", one + "/change_vnfpkg", `{"vnfdId":"e","additionalParams":{"helm_release_name":"x"}}`, 422, nil},
		{"POST", one + "/change_vnfpkg", `{"vnfdId":"e","additionalParams":{"helm_chart_path":"a","lcm-kubernetes-def-files":["b"]}}`, 422, nil},
		{"POST", one + "/change_vnfpkg", `{"vnfdId":"e","additionalParams":{"order":[{"wave":1,"kinds":"Job"}]}}`, 422, nil},
		{"POST", one + "/change_vnfpkg", `{"vnfdId":"e","additionalParams":{"order":[]}}`, 202, lifecycle.PackageChange{VNFDID: "e", Waves: []lifecycle.WaveRule{}}},
		{"POST", one + "/change_ext_conn", `{"extVirtualLinks":[{"id":"net"}]}`, 422, nil},
		{"POST", one + "/instantiate", `{"flavourId":"f","additionalParams":{"order":[{"wave":1,"kind":"Job"},{"wave":2,"kinds":"Job"}]}}`, 422, nil},
		{
			"POST", one + "/instantiate", `{"flavourId":"f","additionalParams":{"order":[{"wave":1,"kind":"Job","name":"n","labels":{"a":"b"}},{"wave":-2,"name":"m"}]}}`, 202,
			lifecycle.Instantiation{Flavour: "f", Waves: []lifecycle.WaveRule{{Wave: 1, Kind: "Job", Name: "n", Labels: map[string]string{"a": "b"}}, {Wave: -2, Name: "m"}}},
		},
		{"DELETE", one, ``, 204, int64(0)},
		{
			"POST", one + "/instantiate",
			`{"flavourId":"simple","instantiationLevelId":"l","vimConnectionInfo":{"v":{"vimId":"edge","vimType":"ETSINFV.KUBERNETES.V_1"}},
			"additionalParams":{"namespace":"shop","lcm-kubernetes-def-files":["a.yaml"],"variables":{"A":"b"},"upgrade_type":1}}`, 202,
			lifecycle.Instantiation{Flavour: "simple", Level: "l", VIM: "edge", Connection: "v", Namespace: "shop", Files: []string{"a.yaml"}, Variables: map[string]string{"A": "b"}},
		},
		{"POST", one + "/instantiate", `{"flavourId":"simple"}`, 202, lifecycle.Instantiation{Flavour: "simple"}},
		{"POST", one + "/instantiate?dry_run", `{"flavourId":"simple"}`, 200, "preview of simple"},
		{"POST", one + "/instantiate", `{}`, 400, nil},
		{"POST", one + "/instantiate", `{"flavourId":"f","vimConnectionInfo":{"v":{"vimId":"edge","accessInfo":{"bearer_token":"canary"}}}}`, 422, nil},
		{"POST", one + "/instantiate", `{"flavourId":"f","vimConnectionInfo":{"v":{"vimId":"edge","interfaceInfo":{"endpoint":"https://other"}}}}`, 422, nil},
		{"POST", one + "/instantiate", `{"flavourId":"f","vimConnectionInfo":{"v":{"vimType":"x"}}}`, 422, nil},
		{
			"POST", one + "/instantiate", `{"flavourId":"f","vimConnectionInfo":{"v":{"vimId":"edge","vimType":"kubernetes","interfaceInfo":{},"accessInfo":{}}}}`, 202,
			lifecycle.Instantiation{Flavour: "f", VIM: "edge", Connection: "v"},
		},
		{
			"POST", one + "/instantiate", `{"flavourId":"f","vimConnectionInfo":{"v":{"vimType":"ETSINFV.KUBERNETES.V_1",
			"interfaceInfo":{"endpoint":"https://e:6443"},"accessInfo":{"oidc_token_url":"https://canary","client_secret":"canary"}}}}`, 422, nil,
		},
		{
			"POST", one + "/instantiate", `{"flavourId":"f","vimConnectionInfo":{"v":{"vimType":"ETSINFV.HELM.V_4",
			"interfaceInfo":{"endpoint":"https://e:6443"},"accessInfo":{"bearer_token":"canary"}}}}`, 422, nil,
		},
		{
			"POST", one + "/instantiate", `{"flavourId":"f","vimConnectionInfo":{"v":{
			"interfaceInfo":{"endpoint":"https://e:6443"},"accessInfo":{"bearer_token":"canary"}}}}`, 400, nil,
		},
		{
			"POST", one + "/instantiate", `{"flavourId":"f","vimConnectionInfo":{"v":{"vimType":"ETSINFV.OPENSTACK_KEYSTONE.V_3",
			"interfaceInfo":{"endpoint":"https://k/v3","skipCertificateHostnameCheck":true},"accessInfo":{"username":"u","password":"canary"}}}}`, 422, nil,
		},
		{"POST", one + "/change_vnfpkg", `{"vnfdId":"e","vimConnectionInfo":{"v":{"accessInfo":{"bearer_token":"canary"}}}}`, 422, nil},
		{
			"POST", one + "/instantiate", `{"flavourId":"f","vimConnectionInfo":{"w":{"vimId":"b"},"v":{"vimId":"a"}}}`, 202,
			lifecycle.Instantiation{Flavour: "f", VIM: "a", Connection: "v", More: []lifecycle.Site{{VIM: "b", Connection: "w"}}},
		},
		{"POST", one + "/instantiate", `{"flavourId":"f","vimConnectionInfo":{"v":{"vimId":"a"},"w":{"vimId":"b"},"x":{"vimId":"c"}}}`, 422, nil},
		{"POST", one + "/instantiate", `{"flavourId":"f","vimConnectionInfo":{"v":{"vimId":"a"},"w":{}}}`, 422, nil},
		{"POST", one + "/instantiate", `{"flavourId":"f","vimConnectionInfo":{"v":{"vimId":"a"},"w":{"vimId":"b"}},"additionalParams":{"helm_values":{"a":"canary"}}}`, 422, nil},
		{"POST", one + "/instantiate", `{"flavourId":"f","additionalParams":{"use_helm":"canary"}}`, 422, nil},
		{"POST", one + "/instantiate", `{"flavourId":"f","additionalParams":{"helm_values":{"a":"canary"}}}`, 202, lifecycle.Instantiation{Flavour: "f", Parameters: json.RawMessage(`{"helm_values":{"a":"canary"}}`)}},
		{"POST", one + "/instantiate", `{"flavourId":"f","additionalParams":{"helm_values":{"a":"canary"},"lcm-kubernetes-def-files":["a"]}}`, 422, nil},
		{"POST", one + "/instantiate", `{"flavourId":"f","additionalParams":{"helm_chart_path":"a","lcm-kubernetes-def-files":["b"]}}`, 422, nil},
		{
			"POST", one + "/instantiate", `{"flavourId":"f","additionalParams":{"helm_chart_path":"web.tgz","helm_values":{"a":1},"helm_value_names":{"VDU1":{"replica":"n"}}}}`, 202,
			lifecycle.Instantiation{
				Flavour: "f", Files: []string{"web.tgz"}, Parameters: json.RawMessage(`{"helm_values":{"a":1},"helm_value_names":{"VDU1":{"replica":"n"}}}`),
			},
		},
		{
			"POST", one + "/change_vnfpkg", `{"vnfdId":"e","additionalParams":{"helm_chart_path":"web.tgz"}}`, 202,
			lifecycle.PackageChange{VNFDID: "e", Files: []string{"web.tgz"}},
		},
		{
			"POST", one + "/change_vnfpkg", `{"vnfdId":"e","additionalParams":{"helm_chart_path":"web.tgz","helm_parameters":{"a.b":"c"}}}`, 202,
			lifecycle.PackageChange{VNFDID: "e", Files: []string{"web.tgz"}, Parameters: json.RawMessage(`{"helm_parameters":{"a.b":"c"}}`)},
		},
		{"POST", one + "/instantiate", `{"flavourId":"f","additionalParams":{"lcm-operation-user-data":"UserData/canary.py"}}`, 422, nil},
		{"POST", one + "/change_vnfpkg", `{"vnfdId":"e","additionalParams":{"lcm-operation-coordinate-new-vnf":"canary.py"}}`, 422, nil},
		{"POST", one + "/instantiate", `{"flavourId":"f","additionalParams":{"tf_dir_path":"Files/terraform"}}`, 422, nil},
		{
			"POST", one + "/instantiate", `{"flavourId":"f","additionalParams":{"helm_value":{"password":"canary"},"site":"canary"}}`, 202,
			lifecycle.Instantiation{Flavour: "f", Others: []string{"helm_value", "site"}},
		},
		{
			"POST", one + "/change_vnfpkg", `{"vnfdId":"e","additionalParams":{"upgrade_type":"RollingUpdate","vdu_params":[{"vdu_id":"VDU1"}]}}`, 202,
			lifecycle.PackageChange{VNFDID: "e"},
		},
		{"POST", one + "/scale", `{"type":"SCALE_OUT","aspectId":"front"}`, 202, lifecycle.Scaling{Aspect: "front", Steps: 1}},
		{"POST", one + "/scale", `{"type":"SCALE_IN","aspectId":"front","numberOfSteps":2}`, 202, lifecycle.Scaling{Aspect: "front", Steps: -2}},
		{"POST", one + "/scale", `{"type":"SCALE_IN","aspectId":"front","numberOfSteps":0}`, 422, nil},
		{"POST", one + "/scale", `{"type":"UP","aspectId":"front"}`, 422, nil},
		{"POST", one + "/heal", `{"vnfcInstanceId":["front-1"],"cause":"x"}`, 202, lifecycle.Healing{VNFCs: []string{"front-1"}}},
		{"POST", one + "/change_vnfpkg", `{"vnfdId":"e"}`, 202, lifecycle.PackageChange{VNFDID: "e"}},
		{"POST", one + "/instantiate", `{"flavourId":"f","extVirtualLinks":[],"extManagedVirtualLinks":null}`, 202, lifecycle.Instantiation{Flavour: "f"}},
		{
			"POST", one + "/instantiate", `{"flavourId":"f","extVirtualLinks":[{"id":"net","resourceId":"r","extCps":[{"cpdId":"CP1","cpConfig":{"c":{"cpProtocolData":[
				{"layerProtocol":"IP_OVER_ETHERNET","ipOverEthernet":{"ipAddresses":[{"type":"IPV4","fixedAddresses":["10.0.0.7"],"subnetId":"s"}]}}]}}}]}]}`, 202,
			lifecycle.Instantiation{Flavour: "f", Links: []lifecycle.Link{{Ext: "net", Name: "r", CPs: []sol003.ExtCP{
				{CPDID: "CP1", Config: map[string]sol003.CPConfig{"c": {Protocol: []sol003.CPProtocol{{
					Layer: "IP_OVER_ETHERNET", Address: sol003.IPOverEthernet{IPs: []sol003.IPAddresses{{Type: "IPV4", Fixed: []string{"10.0.0.7"}, SubnetID: "s"}}},
				}}}}},
			}}}},
		},
		{"POST", one + "/instantiate", `{"flavourId":"f","extVirtualLinks":[{"id":"net","resourceId":"r","extCps":[{"cpdId":"CP1"}],"extLinkPorts":[{"id":"p"}]}]}`, 422, nil},
		{"POST", one + "/instantiate", `{"flavourId":"f","extVirtualLinks":[{"id":"net","resourceId":"r","extCps":[{"cpdId":"CP1","cpConfig":{"c":{"linkPortId":"p"}}}]}]}`, 422, nil},
		{"POST", one + "/instantiate", `{"flavourId":"f","extVirtualLinks":[{"id":"net","resourceId":"r","extCps":[{"cpdId":"CP1","cpConfig":{"c":{"cpProtocolData":[
			{"layerProtocol":"IP_OVER_ETHERNET","ipOverEthernet":{"macAddress":"fa:16:3e:00:00:01"}}]}}}]}]}`, 422, nil},
		{
			"POST", one + "/change_ext_conn", `{"extVirtualLinks":[{"id":"net","resourceId":"r","extCps":[{"cpdId":"CP1"}]}]}`, 202,
			lifecycle.Connecting{Links: []lifecycle.Link{{Ext: "net", Name: "r", CPs: []sol003.ExtCP{{CPDID: "CP1"}}}}},
		},
		{"POST", one + "/instantiate?dry_run", `{"flavourId":"f","extVirtualLinks":[{"id":"net"}]}`, 422, nil},
		{"POST", one + "/change_vnfpkg", `{"vnfdId":"e","extVirtualLinks":[{"id":"net"}]}`, 422, nil},
		{
			"POST", one + "/instantiate", `{"flavourId":"f","extManagedVirtualLinks":[{"id":"a","vnfVirtualLinkDescId":"internalVL1","resourceId":"r"}]}`, 202,
			lifecycle.Instantiation{Flavour: "f", Links: []lifecycle.Link{{Ext: "a", Name: "r", VL: "internalVL1"}}},
		},
		{
			"POST", one + "/change_vnfpkg", `{"vnfdId":"e","extManagedVirtualLinks":[]}`, 202, lifecycle.PackageChange{VNFDID: "e"},
		},
		{"POST", one + "/instantiate", `{"flavourId":"f","extManagedVirtualLinks":[` + strings.Repeat(`{"id":"a"},`, 200) + `{"id":"b"}]}`, 422, nil},
		{"POST", one + "/change_vnfpkg", `{"vnfdId":"e","additionalParams":{"namespace":"x"}}`, 422, nil},
		{"POST", one + "/terminate", `{"terminationType":"GRACEFUL"}`, 202, "terminate"},
		{"POST", one + "/terminate", `{}`, 422, nil},
		{"POST", one + "/operate", `{}`, 501, nil},
		{"POST", one + "/change_ext_conn", `{}`, 400, nil},
		{"POST", "/subscriptions", `{}`, 400, nil},
		{"GET", operations + "?vnfInstanceId=x", ``, 200, lifecycle.OperationQuery{Instance: "x"}},
		{"POST", op + "/retry", ``, 202, "retry"},
		{"POST", op + "/rollback", ``, 202, "rollback"},
		{"POST", op + "/fail", ``, 200, "fail"},
		{"POST", op + "/cancel", `{"cancelMode":"FORCEFUL"}`, 202, lifecycle.Forceful},
	} {
		l := newLife()
		answer, text := serve(t, l).Ask(c.method, c.path, c.body)
		if answer.StatusCode != c.status || strings.Contains(text, "canary") {
			t.Errorf("%s %s %s = %d %s, want %d", c.method, c.path, c.body, answer.StatusCode, text, c.status)
		}
		if diff := cmp.Diff(c.asked, l.asked); diff != "" {
			t.Errorf("%s %s %s asked for (-want +got):\n%s", c.method, c.path, c.body, diff)
		}
		if answer.StatusCode == http.StatusAccepted && !strings.Contains(c.path, "/vnf_lcm_op_occs/") {
			if where := answer.Header.Get("Location"); !strings.HasSuffix(where, op) || text != "" {
				t.Errorf("%s %s: Location %q, body %q", c.method, c.path, where, text)
			}
		}
		if answer.Header.Get("Version") != "2.0.0" {
			t.Errorf("%s %s: Version %q", c.method, c.path, answer.Header.Get("Version"))
		}
	}
}

func TestPreconditions(t *testing.T) {
	l := newLife()
	c := serve(t, l)
	const one = "/vnf_instances/342e17b8-eb02-4f1e-9859-4705aab0d23d"
	answer, _ := c.Ask("GET", one, "")
	tag := answer.Header.Get("ETag")
	if answer, text := c.Ask("DELETE", one, "", "If-Match", tag); answer.StatusCode != 204 || l.asked != int64(7) {
		t.Errorf("DELETE with %s = %d %s, asked for revision %v", tag, answer.StatusCode, text, l.asked)
	}
	if answer, text := c.Ask("DELETE", one, "", "If-Match", "*"); answer.StatusCode != 204 || l.asked != int64(0) {
		t.Errorf("DELETE of whatever is there = %d %s, asked for revision %v", answer.StatusCode, text, l.asked)
	}
	if answer, _ := c.Ask("PATCH", one, "{}", "If-Match", "7"); answer.StatusCode != 422 {
		t.Errorf("PATCH with something that is no ETag = %d", answer.StatusCode)
	}
	if answer, _ := c.Ask("DELETE", one, "", "If-Match", "7"); answer.StatusCode != 422 {
		t.Errorf("DELETE with something that is no ETag = %d", answer.StatusCode)
	}
	l.err = &broker.Error{Kind: broker.ErrPrecondition, Field: "If-Match", Detail: "changed"}
	if answer, _ := c.Ask("PATCH", one, "{}", "If-Match", tag); answer.StatusCode != 412 {
		t.Errorf("PATCH of one that has changed = %d", answer.StatusCode)
	}
}

// TestLinksAreThoseThatAreLegal in each state.
func TestLinksAreThoseThatAreLegal(t *testing.T) {
	links := func(l *life, path string) map[string]struct{ Href string } {
		var shown struct {
			Links map[string]struct{ Href string } `json:"_links"`
		}
		_, text := serve(t, l).Ask("GET", path, "")
		if err := json.Unmarshal([]byte(text), &shown); err != nil {
			t.Fatal(err)
		}
		return shown.Links
	}
	keys := func(m map[string]struct{ Href string }) string {
		var out []string
		for _, name := range []string{"self", "vnfInstance", "instantiate", "terminate", "scale", "heal", "changeVnfPkg", "changeExtConn", "operate", "retry", "rollback", "fail", "cancel"} {
			if _, ok := m[name]; ok {
				out = append(out, name)
			}
		}
		if len(out) != len(m) {
			t.Errorf("links %v", m)
		}
		return strings.Join(out, " ")
	}
	l := newLife()
	if got := keys(links(l, "/vnf_instances/x")); got != "self terminate scale heal changeVnfPkg changeExtConn" {
		t.Errorf("INSTANTIATED: %s", got)
	}
	l.i.Shape.Scale = nil
	if got := keys(links(l, "/vnf_instances/x")); got != "self terminate heal changeVnfPkg changeExtConn" {
		t.Errorf("INSTANTIATED, with nothing that scales: %s", got)
	}
	l.i.State, l.i.Shape = lifecycle.NotInstantiated, lifecycle.Shape{}
	if got := keys(links(l, "/vnf_instances/x")); got != "self instantiate" {
		t.Errorf("NOT_INSTANTIATED: %s", got)
	}
	for state, want := range map[lifecycle.OperationState]string{
		lifecycle.Starting: "self vnfInstance cancel", lifecycle.Processing: "self vnfInstance cancel", lifecycle.RollingBack: "self vnfInstance cancel",
		lifecycle.Completed: "self vnfInstance", lifecycle.Failed: "self vnfInstance", lifecycle.RolledBack: "self vnfInstance",
		lifecycle.FailedTemp: "self vnfInstance retry rollback fail",
	} {
		l.o.State = state
		if got := keys(links(l, "/vnf_lcm_op_occs/x")); got != want {
			t.Errorf("%s: %s, want %s", state, got, want)
		}
	}
	l.o.State, l.o.Type = lifecycle.FailedTemp, lifecycle.Heal
	if got := keys(links(l, "/vnf_lcm_op_occs/x")); got != "self vnfInstance retry fail" {
		t.Errorf("a HEAL: %s", got)
	}
	for _, state := range []lifecycle.OperationState{lifecycle.Starting, lifecycle.Processing} {
		l.o.State, l.o.Type = state, lifecycle.ModifyInfo
		if got := keys(links(l, "/vnf_lcm_op_occs/x")); got != "self vnfInstance" {
			t.Errorf("a MODIFY_INFO that is %s: %s", state, got)
		}
	}
}

// TestChangesAreThoseOfWhatIsCompleted: before, and where it failed, an operation has changed nothing yet.
func TestChangesAreThoseOfWhatIsCompleted(t *testing.T) {
	l := newLife()
	l.o.Steps = []lifecycle.Observation{{Resource: lifecycle.Resource{VDU: "front"}, VNFCs: []lifecycle.VNFC{{VDU: "front", Kind: "Pod", Name: "front-2"}}}}
	l.o.Target.Product.VNFDID = "e"
	for kind, params := range map[lifecycle.OperationType]string{
		lifecycle.ModifyInfo: `{"vnfInstanceName":"shop"}`, lifecycle.ChangePackage: `{"vnfdId":"e"}`,
	} {
		l.o.Type, l.o.Params = kind, []byte(params)
		for _, state := range []lifecycle.OperationState{
			lifecycle.Starting, lifecycle.Processing, lifecycle.FailedTemp, lifecycle.Failed, lifecycle.RollingBack, lifecycle.RolledBack, lifecycle.Completed,
		} {
			l.o.State = state
			var shown struct{ ChangedInfo, ModificationsTriggeredByVnfPkgChange, ResourceChanges json.RawMessage }
			_, text := serve(t, l).Ask("GET", "/vnf_lcm_op_occs/x", "")
			if err := json.Unmarshal([]byte(text), &shown); err != nil {
				t.Fatal(err)
			}
			done := state == lifecycle.Completed
			if (shown.ChangedInfo != nil) != (done && kind == lifecycle.ModifyInfo) || (shown.ResourceChanges != nil) != done ||
				(shown.ModificationsTriggeredByVnfPkgChange != nil) != (done && kind == lifecycle.ChangePackage) {
				t.Errorf("%s of %s shows %s", state, kind, text)
			}
		}
	}
}

// An operation that is not served is not told of an instance that the caller does not see; how far an instance scales is
// shown.
func TestWhatAnInstanceOffers(t *testing.T) {
	l := newLife()
	const one = "/vnf_instances/342e17b8-eb02-4f1e-9859-4705aab0d23d"
	if _, body := serve(t, l).Ask("GET", one, ""); !strings.Contains(body, `"maxScaleLevels":[{"aspectId":"front","scaleLevel":4}]`) {
		t.Errorf("the instance is %s, want one with the highest level of its aspect", body)
	}
	l.err = &broker.Error{Kind: broker.ErrNotFound, Detail: "no such VNF instance"}
	for _, task := range []string{"operate", "scale_to_level", "create_snapshot"} {
		if answer, body := serve(t, l).Ask("POST", one+"/"+task, "{}"); answer.StatusCode != http.StatusNotFound {
			t.Errorf("%s of an instance that is not there = %d %s, want 404", task, answer.StatusCode, body)
		}
	}
}
