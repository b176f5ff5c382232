package grants_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/broker/api/grants"
	"github.com/vimbroker/vimbroker/broker/asset"
	"github.com/vimbroker/vimbroker/broker/clientconfig"
	"github.com/vimbroker/vimbroker/broker/grant"
	"github.com/vimbroker/vimbroker/broker/oauth"
	"github.com/vimbroker/vimbroker/broker/secret"
	"github.com/vimbroker/vimbroker/policy"
	"github.com/vimbroker/vimbroker/test/doors"
)

const id = "0d6c5a6e-6a0e-4d6f-8b1b-0c1f7f1f2a11"

// giver gives one grant, and remembers what it was asked for.
type giver struct {
	state    grant.State
	asked    grant.GrantRequest
	notified string
	err      error
	// change alters what is given.
	change func(*grant.Grant, *clientconfig.Config)
}

func (g *giver) Request(_ context.Context, _ policy.Principal, r grant.GrantRequest) (grant.Grant, grant.Loan, error) {
	g.asked = r
	return g.Grant(context.Background(), policy.Principal{}, id)
}

func (g *giver) Grant(context.Context, policy.Principal, string) (grant.Grant, grant.Loan, error) {
	given := grant.Grant{
		ID: id, Client: "tacker-id", Request: g.asked, State: g.state,
		Placement: oauth.Placement{Zone: "nova", Flavours: map[string]string{"VDU1": "m1"}, Images: map[string]string{"img": "cirros"}},
	}
	lent := grant.Loan{
		Lease: broker.Lease{ID: "5e1f-lease", VIM: "vim-id"},
		Config: clientconfig.Config{
			Endpoint: "https://10.0.0.1:6443", CACert: "PEM", Credential: secret.Credential{LeaseSecret: secret.NewText("canary")},
		},
	}
	if g.change != nil {
		g.change(&given, &lent.Config)
	}
	return given, lent, g.err
}

func (g *giver) Notify(_ context.Context, _ policy.Principal, operation, state string) error {
	g.notified = operation + " " + state
	return g.err
}

const request = `{"vnfInstanceId":"i","vnfLcmOpOccId":"o","vnfdId":"v","flavourId":"simple","operation":"SCALE","isAutomaticInvocation":false,
	"addResources":[{"id":"a1","type":"COMPUTE","resourceTemplateId":"VDU1"}],"tempResources":[{"id":"t1","type":"COMPUTE"}],
	"removeResources":[{"id":"r1","type":"COMPUTE","resource":{"resourceId":"x"}}],"updateResources":[{"id":"u1","type":"STORAGE"}],
	"placementConstraints":[{"affinityOrAntiAffinity":"AFFINITY","scope":"ZONE","resource":[{"idType":"GRANT","resourceId":"a1"},{"idType":"GRANT","resourceId":"t1"}]}],
	"additionalParams":{"site":"north","n":1,"files":["a"],"none":null},
	"_links":{"vnfLcmOpOcc":{"href":"http://vnfm/o"},"vnfInstance":{"href":"http://vnfm/i"}}}`

func open(t *testing.T, g *giver) *doors.Client {
	return openAs(t, "https://broker.example", g)
}

func openAs(t *testing.T, issuer string, g *giver) *doors.Client {
	c := doors.Serve(t, nil, grants.Door(g, issuer))
	c.Version = "1.4.0"
	return c
}

// TestNoSecretIsGivenThatGoesToAnUnverifiedTokenEndpoint: without ssl_ca_cert Tacker verifies nothing.
func TestNoSecretIsGivenThatGoesToAnUnverifiedTokenEndpoint(t *testing.T) {
	for name, change := range map[string]func(*grant.Grant, *clientconfig.Config){
		"a VIM that is not verified": func(_ *grant.Grant, c *clientconfig.Config) { c.InsecureSkipVerify = true },
		"no authorities":             func(_ *grant.Grant, c *clientconfig.Config) { c.CACert = "" },
	} {
		for _, version := range []string{"1.4.0", "1.2.0"} {
			answer, body := open(t, &giver{state: grant.Granted, change: change}).Ask("POST", "/grant/v1/grants", request, "Version", version)
			if answer.StatusCode != http.StatusInternalServerError || strings.Contains(body, "canary") {
				t.Errorf("%s: POST as version %s = %d %s, want 500 without the secret", name, version, answer.StatusCode, body)
			}
		}
	}
}

func TestAGrantAsTheStandardHasIt(t *testing.T) {
	g := &giver{state: grant.Granted}
	c := open(t, g)
	answer, body := c.Ask("POST", "/grant/v1/grants", request)
	if answer.StatusCode != http.StatusCreated || answer.Header.Get("Location") != c.URL+"/grant/v1/grants/"+id || answer.Header.Get("Version") != "1.4.0" {
		t.Fatalf("POST = %d %v %s", answer.StatusCode, answer.Header, body)
	}
	if g.asked.Parameters["site"] != "north" || len(g.asked.Parameters) != 1 || g.asked.Type != "SCALE" || g.asked.Add[0] != "a1" || g.asked.OperationURL != "http://vnfm/o" {
		t.Errorf("it is asked for %+v", g.asked)
	}
	for _, want := range []string{
		`"vimConnectionInfo":{"vim-5e1f":{"vimId":"vim-id","vimType":"ETSINFV.KUBERNETES.V_1"`,
		`"interfaceInfo":{"endpoint":"https://10.0.0.1:6443","ssl_ca_cert":"PEM"}`,
		`"accessInfo":{"oidc_token_url":"https://broker.example/oidc/token","username":"5e1f-lease","password":"canary","client_id":"tacker-id"}`,
		`"extra":{"lease_id":"5e1f-lease"}`,
		`"zones":[{"id":"zone-1","zoneId":"nova","vimConnectionId":"vim-5e1f"}]`,
		`"addResources":[{"resourceDefinitionId":"a1","vimConnectionId":"vim-5e1f","zoneId":"zone-1"}]`,
		`"tempResources":[{"resourceDefinitionId":"t1"`, `"removeResources":[{"resourceDefinitionId":"r1","vimConnectionId":"vim-5e1f"}]`, `"updateResources":[{"resourceDefinitionId":"u1"`,
		`"computeResourceFlavours":[{"vimConnectionId":"vim-5e1f","vnfdVirtualComputeDescId":"VDU1","vimFlavourId":"m1"}]`,
		`"softwareImages":[{"vimConnectionId":"vim-5e1f","vnfdSoftwareImageId":"img","vimSoftwareImageId":"cirros"}]`,
		`"vnfLcmOpOcc":{"href":"http://vnfm/o"}`,
	} {
		if !strings.Contains(body, want) {
			t.Errorf("the grant lacks %s:\n%s", want, body)
		}
	}
	contract(t, body)
	if strings.Contains(body, "VirtualLinks") {
		t.Errorf("a grant without links names some: %s", body)
	}
	if answer, shown := c.Ask("GET", "/grant/v1/grants/"+id, ""); answer.StatusCode != http.StatusOK || shown != body || answer.Header.Get("Location") != "" {
		t.Errorf("GET = %d %v %s", answer.StatusCode, answer.Header, shown)
	}
	g.state = grant.Deciding
	if answer, body := c.Ask("POST", "/grant/v1/grants", request); answer.StatusCode != http.StatusAccepted || answer.Header.Get("Location") != c.URL+"/grant/v1/grants/"+id || body != "" {
		t.Errorf("POST of what is decided on later = %d %v %s", answer.StatusCode, answer.Header, body)
	}
}

// A grant names the links of its placement, on its connection; in the form of older clients it names none.
func TestAGrantNamesLinks(t *testing.T) {
	c := open(t, &giver{state: grant.Granted, change: func(g *grant.Grant, _ *clientconfig.Config) {
		g.Links = map[string]asset.Asset{
			"CP1": {ID: "l1", Made: asset.Made{Network: "n1", Subnet: "s1"}},
			"CP2": {ID: "l2", Made: asset.Made{Network: "n2"}},
		}
		g.ManagedLinks = map[string]asset.Asset{"VL1": {ID: "l3", Made: asset.Made{Network: "n3"}}}
	}})
	answer, body := c.Ask("POST", "/grant/v1/grants", request)
	if answer.StatusCode != http.StatusCreated {
		t.Fatalf("POST = %d %s", answer.StatusCode, body)
	}
	for _, want := range []string{
		`"extVirtualLinks":[{"id":"l1","vimConnectionId":"vim-5e1f","resourceId":"n1","extCps":[{"cpdId":"CP1","cpConfig":{"CP1":{"cpProtocolData":` +
			`[{"layerProtocol":"IP_OVER_ETHERNET"}]}}}]}`,
		`{"id":"l2","vimConnectionId":"vim-5e1f","resourceId":"n2","extCps":[{"cpdId":"CP2",`,
		`"extManagedVirtualLinks":[{"id":"l3","vnfVirtualLinkDescId":"VL1","vimConnectionId":"vim-5e1f","resourceId":"n3"}]`,
	} {
		if !strings.Contains(body, want) {
			t.Errorf("the grant lacks %s:\n%s", want, body)
		}
	}
	contract(t, body)
	if _, body := c.Ask("POST", "/grant/v1/grants", request, "Version", "1.2.0"); strings.Contains(body, "VirtualLinks") {
		t.Errorf("as version 1.2.0 it has links: %s", body)
	}
}

// TestAGrantForOlderClients: SOL003 V2.6.1 has VIM connections as an array of what has an id, which
// zones and resources refer to.
func TestAGrantForOlderClients(t *testing.T) {
	raw := func(g *grant.Grant, c *clientconfig.Config) {
		c.Credential = secret.Credential{Kind: broker.CredentialBearerToken, Token: secret.NewText("canary-token")}
		c.Client = clientconfig.KubernetesClient{}
	}
	for name, change := range map[string]func(*grant.Grant, *clientconfig.Config){"standing": nil, "a token": raw} {
		c := open(t, &giver{state: grant.Granted, change: change})
		for _, version := range []string{"1.2.0", "1.2.0-impl:example.com:1"} {
			answer, body := c.Ask("POST", "/grant/v1/grants", request, "Version", version)
			if answer.StatusCode != http.StatusCreated || answer.Header.Get("Version") != "1.2.0" || strings.Contains(body, "vimConnectionInfo") {
				t.Fatalf("%s: POST as version %s = %d %v %s", name, version, answer.StatusCode, answer.Header, body)
			}
			var got struct {
				VIMs []struct {
					ID      string            `json:"id"`
					VIM     string            `json:"vimId"`
					Type    string            `json:"vimType"`
					Face    map[string]string `json:"interfaceInfo"`
					Access  map[string]string `json:"accessInfo"`
					Further map[string]string `json:"extra"`
				} `json:"vimConnections"`
				Zones []struct {
					VIM string `json:"vimConnectionId"`
				} `json:"zones"`
				Add []struct {
					VIM string `json:"vimConnectionId"`
				} `json:"addResources"`
			}
			if err := json.Unmarshal([]byte(body), &got); err != nil || len(got.VIMs) != 1 || len(got.Zones) != 1 || len(got.Add) != 1 {
				t.Fatalf("%s: %v: %s", name, err, body)
			}
			vim := got.VIMs[0]
			if vim.ID == "" || vim.ID != got.Zones[0].VIM || vim.ID != got.Add[0].VIM || vim.Type != "ETSINFV.KUBERNETES.V_1" || vim.Face["endpoint"] == "" || len(vim.Access) == 0 {
				t.Errorf("%s: the connection is %+v in %s", name, vim, body)
			}
			if again, shown := c.Ask("GET", "/grant/v1/grants/"+id, "", "Version", version); again.StatusCode != http.StatusOK || shown != body {
				t.Errorf("%s: GET = %d %s", name, again.StatusCode, shown)
			}
		}
	}
	c := open(t, &giver{state: grant.Granted})
	if _, body := c.Ask("POST", "/grant/v1/grants", request); strings.Contains(body, "vimConnections") {
		t.Errorf("version 1.4.0 has the array, too: %s", body)
	}
	for _, version := range []string{"1.3.0", "1.2", "1.2.0, 1.4.0", "2.0.0"} {
		if answer, body := c.Ask("POST", "/grant/v1/grants", request, "Version", version); answer.StatusCode != http.StatusNotAcceptable {
			t.Errorf("version %s = %d %s", version, answer.StatusCode, body)
		}
	}
}

// TestAGrantForTackersV1: version 1 of Tacker's API (tacker/vnfm/nfvo_client.py) names no version, and has its
// request, which it has made JSON already, made JSON once more.
func TestAGrantForTackersV1(t *testing.T) {
	const asked = `{"vnfInstanceId": "i", "vnfLcmOpOccId": "o", "vnfdId": "v", "operation": "TERMINATE", "isAutomaticInvocation": false, "_links": {"vnfLcmOpOcc": {"href": "http://vnfm/vnflcm/v1/vnf_lcm_op_occs/o"}, "vnfInstance": {"href": "http://vnfm/vnflcm/v1/vnf_instances/i"}}, "removeResources": [{"id": "r1", "type": "COMPUTE", "resourceTemplateId": "VDU1", "vduId": "VDU1", "resource": {"vimConnectionId": "x", "resourceId": "y", "vimLevelResourceType": null}}]}`
	text, err := json.Marshal(asked)
	if err != nil {
		t.Fatal(err)
	}
	sent := string(text)
	g := &giver{state: grant.Granted}
	c := open(t, g)
	c.Version = ""
	headers := []string{"User-Agent", "python-requests/2.31.0", "Accept", "*/*"}
	answer, body := c.Ask("POST", "/grant/v1/grants", sent, headers...)
	if answer.StatusCode != http.StatusCreated || answer.Header.Get("Version") != "1.2.0" {
		t.Fatalf("POST = %d %v %s", answer.StatusCode, answer.Header, body)
	}
	if g.asked.ID != "o" || g.asked.Type != "TERMINATE" || len(g.asked.Remove) != 1 || g.asked.OperationURL != "http://vnfm/vnflcm/v1/vnf_lcm_op_occs/o" {
		t.Errorf("it is asked for %+v", g.asked)
	}
	if !strings.Contains(body, `"vimConnections":[{`) || !strings.Contains(body, `"removeResources":[{"resourceDefinitionId":"r1"`) {
		t.Errorf("it is given %s", body)
	}
	for name, c := range map[string]struct {
		method, path, body, version string
		status                      int
	}{
		"a request as the standard has it":    {"POST", "/grant/v1/grants", asked, "", 400},
		"no request at all":                   {"POST", "/grant/v1/grants", "", "", 400},
		"a text that does not end":            {"POST", "/grant/v1/grants", sent[:100], "", 400},
		"a text of something else":            {"POST", "/grant/v1/grants", `"[]"`, "", 422},
		"a text in a text":                    {"POST", "/grant/v1/grants", `"\"{}\""`, "", 422},
		"a text, with the version of the map": {"POST", "/grant/v1/grants", sent, "1.4.0", 422},
		"the same grant, by nobody's version": {"GET", "/grant/v1/grants/" + id, "", "", 400},
	} {
		g.asked = grant.GrantRequest{}
		headers := []string{"Version", c.version}
		if answer, body := open(t, g).Ask(c.method, c.path, c.body, headers...); answer.StatusCode != c.status || g.asked.ID != "" || answer.Header.Get("Version") != "1.4.0" {
			t.Errorf("%s = %d %s, want %d", name, answer.StatusCode, body, c.status)
		}
	}
}

func TestWhatAGrantHasOnlyWhereItIsSo(t *testing.T) {
	for name, c := range map[string]struct {
		change       func(*grant.Grant, *clientconfig.Config)
		want, absent string
	}{
		"a server that is not verified": {
			func(_ *grant.Grant, c *clientconfig.Config) { c.InsecureSkipVerify = true },
			`"interfaceInfo":{"endpoint":"https://10.0.0.1:6443"}`, "ssl_ca_cert",
		},
		"a token": {
			func(_ *grant.Grant, c *clientconfig.Config) {
				c.Credential = secret.Credential{Kind: broker.CredentialBearerToken, Token: secret.NewText("canary-token")}
				c.Client = clientconfig.KubernetesClient{}
			},
			"canary-token", "oidc_token_url",
		},
		"no zone, and no assets": {
			func(g *grant.Grant, _ *clientconfig.Config) { g.Placement = oauth.Placement{} },
			`"zoneId":"default"`, "vimAssets",
		},
	} {
		t.Run(name, func(t *testing.T) {
			g := &giver{state: grant.Granted, change: c.change}
			answer, body := openAs(t, "http://127.0.0.1:8420", g).Ask("POST", "/grant/v1/grants", request)
			if answer.StatusCode != http.StatusCreated || !strings.Contains(body, c.want) || strings.Contains(body, c.absent) {
				t.Errorf("POST = %d %s, want %s, and no %s", answer.StatusCode, body, c.want, c.absent)
			}
			contract(t, body)
		})
	}
}

// contract compares a grant with ETSI's OpenAPI document, where that is beside the repository.
func contract(t *testing.T, body string) {
	t.Helper()
	doc, err := openapi3.NewLoader().LoadFromFile("../../../../shared/sol003/sol003_operation_openapi.json")
	if errors.Is(err, fs.ErrNotExist) {
		t.Log("ETSI's OpenAPI document is not beside the repository, in ../shared/sol003")
		return
	}
	if err != nil {
		t.Fatal(err)
	}
	var value any
	if err := json.Unmarshal([]byte(body), &value); err != nil {
		t.Fatal(err)
	}
	schema := doc.Paths.Find("/grants").Post.Responses.Status(http.StatusCreated).Value.Content.Get("application/json").Schema.Value
	if err := schema.VisitJSON(value); err != nil {
		t.Errorf("ETSI's document: %v", err)
	}
}

func TestWhatElseTheDoorAnswers(t *testing.T) {
	g := &giver{state: grant.Deciding}
	c := open(t, g)
	want := func(status int, words, method, path, body string, headers ...string) {
		t.Helper()
		answer, text := c.Ask(method, path, body, headers...)
		if answer.StatusCode != status || !strings.Contains(text, words) || strings.Contains(text, "canary") {
			t.Errorf("%s %s = %d %s, want %d %s", method, path, answer.StatusCode, text, status, words)
		}
	}
	want(202, "", "POST", "/grant/v1/grants", request)
	want(202, "", "GET", "/grant/v1/grants/"+id, "")
	want(200, `"version":"1.4.0"`, "GET", "/grant/api_versions", "", "Version", "")
	want(200, `"uriPrefix":"/grant/v1"`, "GET", "/grant/v1/api_versions", "", "Version", "")
	want(400, "Version", "POST", "/grant/v1/grants", request, "Version", "")
	want(400, "Version", "POST", "/grant/v1/grants", "null", "Version", "")
	want(406, "1.4.0", "POST", "/grant/v1/grants", request, "Version", "2.0.0")
	want(401, "", "POST", "/grant/v1/grants", request, "Authorization", "Bearer nobody")
	want(405, "", "PUT", "/grant/v1/grants/"+id, "{}")
	want(405, "", "DELETE", "/grant/v1/grants/"+id, "")
	want(405, "", "GET", "/grant/v1/grants", "")
	want(400, "", "POST", "/grant/v1/grants", "{")
	want(415, "", "POST", "/grant/v1/grants", "a=b", "Content-Type", "text/plain")
	want(413, "", "POST", "/grant/v1/grants", `{"x":"`+strings.Repeat("x", 2<<20)+`"}`)
	for old, other := range map[string]string{
		`,"isAutomaticInvocation":false`: ``, `"isAutomaticInvocation":false`: `"isAutomaticInvocation":null`, `"type":"STORAGE"`: `"type":"MAGIC"`, `"id":"t1","type":"COMPUTE"`: `"id":"t1"`,
	} {
		field := map[bool]string{true: "isAutomaticInvocation", false: "Resources"}[strings.Contains(old, "isAuto")]
		want(422, field, "POST", "/grant/v1/grants", strings.Replace(request, old, other, 1))
	}
	const two = `"resource":[{"idType":"GRANT","resourceId":"a"},{"idType":"RES_MGMT","resourceId":"b"}]`
	constrained := func(field, rest string) string {
		plain := strings.Replace(request, `"placementConstraints"`, `"x"`, 1)
		return strings.Replace(plain, `"isAutomaticInvocation"`, `"`+field+`":[{`+rest+`}],"isAutomaticInvocation"`, 1)
	}
	for _, wrong := range []string{
		`"scope":"ZONE",` + two, `"affinityOrAntiAffinity":"NEAR","scope":"ZONE",` + two, `"affinityOrAntiAffinity":"AFFINITY","scope":"RACK",` + two,
		`"affinityOrAntiAffinity":"AFFINITY","scope":"ZONE"`, `"affinityOrAntiAffinity":"AFFINITY","scope":"ZONE","resource":[{"idType":"GRANT","resourceId":"a"}]`,
		`"affinityOrAntiAffinity":"AFFINITY","scope":"ZONE",` + strings.Replace(two, "RES_MGMT", "MAGIC", 1),
		`"affinityOrAntiAffinity":"AFFINITY","scope":"ZONE",` + strings.Replace(two, `"b"`, `""`, 1),
	} {
		want(422, "placementConstraints", "POST", "/grant/v1/grants", constrained("placementConstraints", wrong))
	}
	want(422, "vimConstraints", "POST", "/grant/v1/grants", constrained("vimConstraints", `"sameResourceGroup":true`))
	want(202, "", "POST", "/grant/v1/grants", constrained("vimConstraints", two))
	apart := func(scope string, fallback bool) string {
		return fmt.Sprintf(`"affinityOrAntiAffinity":"ANTI_AFFINITY","scope":%q,"fallbackBestEffort":%t,`, scope, fallback) + two
	}
	const near = `"affinityOrAntiAffinity":"AFFINITY","scope":"ZONE",` + two
	for rest, scope := range map[string]string{
		`"affinityOrAntiAffinity":"AFFINITY","scope":"ZONE",` + two: "", `"affinityOrAntiAffinity":"ANTI_AFFINITY","scope":"NFVI_NODE",` + two: "",
		`"affinityOrAntiAffinity":"ANTI_AFFINITY","scope":"ZONE","fallbackBestEffort":true,` + two: "",
		`"affinityOrAntiAffinity":"ANTI_AFFINITY","scope":"ZONE",` + two:                           "ZONE",
		apart("ZONE", true) + `},{` + apart("ZONE_GROUP", false):                                   "ZONE_GROUP",
		apart("NFVI_NODE", false) + `},{` + apart("ZONE", false):                                   "ZONE",
		near + `},{` + apart("ZONE", false):                                                        "ZONE",
		near + `},{` + apart("ZONE", true):                                                         "",
	} {
		want(202, "", "POST", "/grant/v1/grants", constrained("placementConstraints", rest))
		if g.asked.Apart != scope {
			t.Errorf("%s: apart in %q, want %q", rest, g.asked.Apart, scope)
		}
	}
	want(204, "", "GET", "/grant/v1/notifications", "", "Version", "")
	if want(204, "", "POST", "/grant/v1/notifications", `{"vnfLcmOpOccId":"o","operationState":"COMPLETED"}`, "Version", "1.3.0"); g.notified != "o COMPLETED" {
		t.Errorf("told %q", g.notified)
	}
	g.notified = ""
	want(204, "", "POST", "/grant/v1/notifications", `{"notificationType":"VnfIdentifierCreationNotification"}`)
	want(204, "", "POST", "/grant/v1/notifications", `{"vnfLcmOpOccId":"o"}`)
	want(204, "", "POST", "/grant/v1/notifications", `{"operationState":"COMPLETED"}`)
	want(400, "", "POST", "/grant/v1/notifications", "{")
	want(401, "", "POST", "/grant/v1/notifications", `{"vnfLcmOpOccId":"o","operationState":"COMPLETED"}`, "Authorization", "Bearer nobody")
	want(401, "", "GET", "/grant/v1/notifications", "", "Authorization", "Bearer nobody")
	if g.notified != "" {
		t.Errorf("told %q", g.notified)
	}
	g.err = &broker.Error{Kind: broker.ErrDenied, Detail: "the reason"}
	want(403, `"detail":"the reason"`, "POST", "/grant/v1/grants", request)
	want(403, `"status":403`, "GET", "/grant/v1/grants/"+id, "")
	g.err = &broker.Error{Kind: broker.ErrNotFound, Detail: "no such grant"}
	want(404, "no such grant", "GET", "/grant/v1/grants/"+id, "")
	want(404, "no such grant", "POST", "/grant/v1/notifications", `{"vnfLcmOpOccId":"o","operationState":"COMPLETED"}`)
	// A configuration that has no form for VNFMs is not given.
	g.err, g.state = nil, grant.Granted
	g.change = func(_ *grant.Grant, c *clientconfig.Config) {
		c.Credential = secret.Credential{Kind: broker.CredentialBearerToken, Token: secret.NewText("canary")}
	}
	want(422, "not supported", "POST", "/grant/v1/grants", request)
}

// TestTheWholeRequestTellsItFromOthers: the spelling of the JSON tells nothing, and all that it says does.
func TestTheWholeRequestTellsItFromOthers(t *testing.T) {
	g := &giver{state: grant.Granted}
	c := open(t, g)
	whole := func(body string) string {
		t.Helper()
		if answer, text := c.Ask("POST", "/grant/v1/grants", body); answer.StatusCode != http.StatusCreated {
			t.Fatalf("POST = %d %s", answer.StatusCode, text)
		}
		if strings.Contains(string(g.asked.Rest), "north") {
			t.Errorf("additionalParams are not apart: %s", g.asked.Rest)
		}
		return string(g.asked.Rest) + "\n" + string(g.asked.Additional)
	}
	first := whole(request)
	var members map[string]any
	if err := json.Unmarshal([]byte(request), &members); err != nil {
		t.Fatal(err)
	}
	sorted, err := json.MarshalIndent(members, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	if again := whole(string(sorted)); again != first {
		t.Errorf("in another order it is\n%s, not\n%s", again, first)
	}
	for old, other := range map[string]string{
		`"flavourId":"simple"`: `"flavourId":"other"`, `"isAutomaticInvocation":false`: `"isAutomaticInvocation":true`,
		`"scope":"ZONE"`: `"scope":"NFVI_NODE"`, `"resourceId":"x"`: `"resourceId":"y"`, `"n":1`: `"n":2`, `"files":["a"]`: `"files":["b"]`,
	} {
		if whole(strings.Replace(request, old, other, 1)) == first {
			t.Errorf("with %s it is the same request", other)
		}
	}
}
