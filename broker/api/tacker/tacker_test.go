package tacker_test

import (
	"encoding/json"
	"maps"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/vimbroker/vimbroker/test/conformance"
	"github.com/vimbroker/vimbroker/test/fakekeystone"
)

const (
	fresh = `^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{6}$`
	later = `^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d$`
)

func matches(t *testing.T, what string, got any, pattern string) {
	t.Helper()
	if text, _ := got.(string); !regexp.MustCompile(pattern).MatchString(text) {
		t.Errorf("%s = %v, want %s", what, got, pattern)
	}
}

// encode makes values of JSON comparable.
func encode(v any) string {
	text, _ := json.Marshal(v)
	return string(text)
}

func TestAVIMHasTackersShape(t *testing.T) {
	b := newBench(t, false)
	made := b.vim("alice", "POST", "/v1.0/vims.json", b.body("k1", "extra", `{"a":{"b":1}}`, "description", `"d1"`, "project_id", `"demo"`, "tenant_id", `"demo"`), http.StatusCreated)
	id := made["id"].(string)
	matches(t, "created_at", made["created_at"], fresh)
	delete(made, "created_at")
	want := map[string]any{
		"id": id, "type": "kubernetes", "tenant_id": "demo", "name": "k1", "description": "d1", "is_default": false,
		"placement_attr": map[string]any{"regions": []any{"default", "kube-node-lease", "kube-public", "kube-system"}},
		"updated_at":     nil, "extra": map[string]any{"a": map[string]any{"b": 1.0}}, "auth_url": b.kube.Endpoint,
		"vim_project": map[string]any{"name": "default"}, "status": "ACTIVE",
		"auth_cred": map[string]any{
			"bearer_token": "***", "ssl_ca_cert": b.kube.CA, "auth_url": b.kube.Endpoint, "username": "None", "key_type": "fernet_key",
		},
	}
	if diff := cmp.Diff(want, made); diff != "" {
		t.Errorf("answer to POST (-want +got):\n%s", diff)
	}
	shown := b.vim("alice", "GET", "/v1.0/vims/"+id+".json", "", http.StatusOK)
	matches(t, "created_at when shown", shown["created_at"], later)
	delete(shown, "created_at")
	if diff := cmp.Diff(want, shown); diff != "" {
		t.Errorf("GET (-want +got):\n%s", diff)
	}

	changed := b.vim("alice", "PUT", "/v1.0/vims/"+id, `{"vim":{"name":"k2","extra":{"a":{"c":2}}}}`, http.StatusOK)
	matches(t, "updated_at", changed["updated_at"], fresh)
	matches(t, "created_at after PUT", changed["created_at"], later)
	if got := encode(changed["extra"]); changed["name"] != "k2" || got != `{"a":{"b":1,"c":2}}` {
		t.Errorf("after PUT: name %v, extra %s", changed["name"], got)
	}
	if changed = b.vim("alice", "PUT", "/v1.0/vims/"+id, `{"vim":{"extra":{"a":{"b":null}}}}`, http.StatusOK); encode(changed["extra"]) != `{"a":{"c":2}}` {
		t.Errorf("extra after a null: %s", encode(changed["extra"]))
	}
	matches(t, "updated_at when shown", b.vim("alice", "GET", "/v1.0/vims/"+id, "", http.StatusOK)["updated_at"], later)

	i, leave := conformance.Occupy(t, b.store, id)
	if answer, text := b.call("alice", "DELETE", "/v1.0/vims/"+id, ""); answer.StatusCode != http.StatusConflict || !strings.Contains(text, i.ID) || !strings.Contains(text, "terminate") {
		t.Errorf("DELETE under a VNF instance = %d %q, want 409 that names it", answer.StatusCode, text)
	}
	leave()
	if answer, text := b.call("alice", "DELETE", "/v1.0/vims/"+id+".json", ""); answer.StatusCode != http.StatusNoContent || text != "" {
		t.Errorf("DELETE = %d %q", answer.StatusCode, text)
	}
	b.vim("alice", "POST", "/v1.0/vims", b.body("k2"), http.StatusCreated) // the name is free again
	if strings.Contains(b.wire.String(), b.kube.AdminToken) {
		t.Error("an answer holds the credential")
	}
}

func TestOnlyOneThingIsUpdated(t *testing.T) {
	b := newBench(t, false)
	v := b.vim("alice", "POST", "/v1.0/vims", b.body("k1"), http.StatusCreated)
	path := "/v1.0/vims/" + v["id"].(string)
	credOf := func(v map[string]any) map[string]any { return v["auth_cred"].(map[string]any) }

	// A token, a name, a description.
	if v = b.vim("alice", "PUT", path, `{"vim":{"auth_cred":{"bearer_token":"`+b.kube.AdminToken+`"}}}`, http.StatusOK); credOf(v)["ssl_ca_cert"] != b.kube.CA {
		t.Error("a new token lost the CA")
	}
	// No verification, and a CA again: both with the credential, as Tacker's client sends it.
	token := `"bearer_token":"` + b.kube.AdminToken + `"`
	if v = b.vim("alice", "PUT", path, `{"vim":{"auth_cred":{`+token+`,"ssl_ca_cert":"None"}}}`, http.StatusOK); credOf(v)["ssl_ca_cert"] != "None" {
		t.Errorf("CA after None: %v", credOf(v)["ssl_ca_cert"])
	}
	ca := encode(strings.Join(strings.Fields(b.kube.CA), " "))
	// Whom the credential is shown to changes with the CA, so it is demanded again.
	answer, text := b.call("alice", "PUT", path, `{"vim":{"auth_cred":{"ssl_ca_cert":`+ca+`}}}`)
	if answer.StatusCode != http.StatusBadRequest || !strings.Contains(text, "must be given again") {
		t.Errorf("a CA without the credential = %d %s", answer.StatusCode, text)
	}
	if v = b.vim("alice", "PUT", path, `{"vim":{"auth_cred":{`+token+`,"ssl_ca_cert":`+ca+`}}}`, http.StatusOK); credOf(v)["ssl_ca_cert"] != b.kube.CA {
		t.Error("the CA did not come back")
	}
	// The same CA again is no change.
	b.vim("alice", "PUT", path, `{"vim":{"auth_cred":{"ssl_ca_cert":`+ca+`},"vim_project":{"name":"default"}}}`, http.StatusOK)
	// Another way to log in, and then only its password.
	basic := `"password":"` + b.kube.Password + `"`
	v = b.vim("alice", "PUT", path, `{"vim":{"auth_cred":{"username":"`+b.kube.Username+`",`+basic+`}}}`, http.StatusOK)
	if c := credOf(v); c["username"] != b.kube.Username || c["password"] != "***" || c["bearer_token"] != nil {
		t.Errorf("auth_cred after the change to basic authentication: %v", c)
	}
	b.vim("alice", "PUT", path, `{"vim":{"auth_cred":{`+basic+`}}}`, http.StatusOK)
	if v = b.vim("alice", "PUT", path, `{"vim":{"vim_project":{"name":"cnf"},"is_default":"True"}}`, http.StatusOK); encode(v["vim_project"]) != `{"name":"cnf"}` || v["is_default"] != true {
		t.Errorf("vim_project %v, is_default %v", v["vim_project"], v["is_default"])
	}
}

func TestACloudHasTackersShape(t *testing.T) {
	b, cloud := newBench(t, false), fakekeystone.New(t, fakekeystone.Options{Plain: true})
	project := cloud.Project("demo")
	user := cloud.User("operator", project, "member")
	body := `{"vim":{"type":"openstack","name":"os1","description":"d1","auth_url":"` + cloud.Endpoint + `",
			"auth_cred":{"username":"operator","password":"` + user.Password + `","user_domain_name":"Default","cert_verify":"True"},
			"vim_project":{"name":"demo","project_domain_name":"Default"}}}`
	made := b.vim("alice", "POST", "/v1.0/vims", body, http.StatusCreated)
	id := made["id"].(string)
	delete(made, "created_at")
	cred := map[string]any{
		"username": "operator", "user_domain_name": "Default", "cert_verify": "True", "project_id": nil, "project_name": "demo",
		"project_domain_name": "Default", "auth_url": cloud.Endpoint + "/v3", "key_type": "fernet_key", "password": "***",
	}
	if diff := cmp.Diff(map[string]any{
		"id": id, "type": "openstack", "tenant_id": "demo", "name": "os1", "description": "d1", "is_default": false, "status": "ACTIVE",
		"placement_attr": map[string]any{"regions": []any{"RegionOne", "RegionTwo"}}, "updated_at": nil, "extra": map[string]any{},
		"auth_url": cloud.Endpoint + "/v3", "vim_project": map[string]any{"name": "demo", "project_domain_name": "Default"}, "auth_cred": cred,
	}, made); diff != "" {
		t.Errorf("answer to POST (-want +got):\n%s", diff)
	}

	// A new password alone, by the user's name or without it.
	cloud.SetPassword(user.ID, "n3w")
	path := "/v1.0/vims/" + id
	for _, name := range []string{`"username":"operator",`, ""} {
		v := b.vim("alice", "PUT", path, `{"vim":{"auth_cred":{`+name+`"password":"n3w"}}}`, http.StatusOK)
		if diff := cmp.Diff(cred, v["auth_cred"]); diff != "" {
			t.Errorf("auth_cred after a new password (-want +got):\n%s", diff)
		}
	}
	// What is said again is no change, and what would lead elsewhere wants the credential.
	b.vim("alice", "PUT", path, `{"vim":{"auth_cred":{"username":"operator","cert_verify":"True"},"vim_project":{"name":"demo"}}}`, http.StatusOK)
	answer, text := b.call("alice", "PUT", path, `{"vim":{"vim_project":{"name":"other"}}}`)
	if answer.StatusCode != http.StatusBadRequest || !strings.Contains(text, "must be given again") {
		t.Errorf("another project without the credential = %d %s", answer.StatusCode, text)
	}
	for fault, more := range map[string]string{
		"auth_cred":               `"auth_cred":{"bearer_token":"s3cret"}`,
		"auth_cred.cert_verify":   `"auth_cred":{"cert_verify":"perhaps"}`,
		"vim_project":             `"vim_project":{"namespace":"s3cret"}`,
		"auth_cred.client_secret": `"auth_cred":{"client_secret":"s3cret"}`,
	} {
		full := map[string]any{}
		for _, part := range []string{body, `{"vim":{"name":"x",` + more + `}}`} {
			var one struct{ VIM map[string]any }
			if err := json.Unmarshal([]byte(part), &one); err != nil {
				t.Fatal(err)
			}
			maps.Copy(full, one.VIM)
		}
		answer, text := b.call("alice", "POST", "/v1.0/vims", encode(map[string]any{"vim": full}))
		if answer.StatusCode != http.StatusBadRequest || !strings.Contains(text, "Invalid input for "+fault+". ") {
			t.Errorf("POST %s = %d %s, want a fault of %s", more, answer.StatusCode, text, fault)
		}
	}
	if wire := b.wire.String(); strings.Contains(wire, user.Password) || strings.Contains(wire, "n3w") || strings.Contains(wire, "s3cret") {
		t.Error("an answer holds a credential")
	}
	if answer, _ := b.call("alice", "DELETE", path, ""); answer.StatusCode != http.StatusNoContent {
		t.Errorf("DELETE = %d", answer.StatusCode)
	}
}

func TestListsAreFiltered(t *testing.T) {
	b := newBench(t, false)
	var ids []string
	for _, who := range []string{"alice", "mallet"} {
		for _, name := range []string{"a", "b"} {
			ids = append(ids, b.vim(who, "POST", "/v1.0/vims", b.body(name, "is_default", encode(name == "a")), http.StatusCreated)["id"].(string))
		}
	}
	for _, c := range []struct {
		who, query, want string
	}{
		{"alice", "", "demo/a demo/b"},
		{"root", "", "demo/a demo/b other/a other/b"},
		{"alice", "?name=a", "demo/a"},
		{"alice", "?name=a&name=b", "demo/a demo/b"},
		{"alice", "?name=z", ""},
		{"alice", "?type=openstack", ""},
		{"alice", "?type=kubernetes&name=b", "demo/b"},
		{"alice", "?id=" + ids[1], "demo/b"},
		{"alice", "?id=" + ids[1] + "&name=a", ""},
		{"alice", "?id=" + ids[2], ""}, // mallet's
		{"alice", "?id=a", ""},
		{"alice", "?is_default=True", "demo/a"},
		{"alice", "?status=x&limit=1&sort_key=name&zog=1", "demo/a demo/b"},
	} {
		answer, text := b.call(c.who, "GET", "/v1.0/vims.json"+c.query, "")
		var got struct {
			VIMs []map[string]any
		}
		if err := json.Unmarshal([]byte(text), &got); err != nil || answer.StatusCode != http.StatusOK {
			t.Fatalf("GET %s = %d %s", c.query, answer.StatusCode, text)
		}
		var names []string
		for _, v := range got.VIMs {
			names = append(names, v["tenant_id"].(string)+"/"+v["name"].(string))
		}
		if got := strings.Join(names, " "); got != c.want {
			t.Errorf("%s: list%s = %q, want %q", c.who, c.query, got, c.want)
		}
	}
	// What is shared by name is listed as what is shared with every project.
	if answer, text := b.call("root", "PATCH", "/v1/vims/"+ids[3], `{"sharedWith":["demo"]}`); answer.StatusCode != http.StatusOK {
		t.Fatalf("sharing = %d %s", answer.StatusCode, text)
	}
	if _, text := b.call("alice", "GET", "/v1.0/vims?id="+ids[3]+"&fields=name&fields=tenant_id", ""); text != `{"vims":[{"name":"b","tenant_id":"other"}]}` {
		t.Errorf("a VIM that is shared by name = %s", text)
	}
	if _, text := b.call("alice", "GET", "/v1.0/vims?name=b&fields=tenant_id", ""); text != `{"vims":[{"tenant_id":"demo"},{"tenant_id":"other"}]}` {
		t.Errorf("list with a VIM that is shared by name = %s", text)
	}
	if _, text := b.call("alice", "GET", "/v1.0/vims?name=a&fields=id&fields=zog", ""); text != `{"vims":[{"id":"`+ids[0]+`"}]}` {
		t.Errorf("list of ids = %s", text)
	}
	for _, path := range []string{"/v1.0/vims/" + ids[2], "/v1.0/vims/a"} {
		for _, method := range []string{"GET", "PUT", "DELETE"} {
			if answer, text := b.call("alice", method, path, `{"vim":{"name":"x"}}`); answer.StatusCode != http.StatusNotFound || !strings.Contains(text, `"VimNotFoundException"`) {
				t.Errorf("%s of another's VIM %s = %d %s", method, path, answer.StatusCode, text)
			}
		}
	}
}

func TestFaultsAreTackers(t *testing.T) {
	for _, compat := range []bool{false, true} {
		b := newBench(t, compat)
		pick := func(documented, tackers int) int {
			if compat {
				return tackers
			}
			return documented
		}
		id := b.vim("alice", "POST", "/v1.0/vims", b.body("k1", "is_default", "true"), http.StatusCreated)["id"].(string)
		second := b.vim("alice", "POST", "/v1.0/vims", b.body("k2"), http.StatusCreated)["id"].(string)
		b.vim("mallet", "POST", "/v1.0/vims", b.body("k1", "is_default", "true"), http.StatusCreated) // another project's
		none := "11111111-1111-4111-8111-111111111111"
		for _, c := range []struct {
			method, path, body string
			status             int
			kind, message      string
		}{
			{"POST", "", "", 400, "HTTPBadRequest", "Resource body required"},
			{"POST", "", "[]", 400, "HTTPBadRequest", "Resource body required"},
			{"POST", "", "{}", 400, "HTTPBadRequest", "Resource body required"},
			{"PUT", "/" + id, "", 400, "BadRequest", "Bad body request: Invalid format: b''"},
			{"POST", "", "{s3cret", 400, "MalformedRequestBody", "Malformed request body: Cannot understand JSON"},
			{"POST", "", `{"vims":[]}`, 400, "HTTPBadRequest", "Bulk operation not supported"},
			{"POST", "", `{"vin":{}}`, 400, "HTTPBadRequest", "Unable to find 'vim' in request body"},
			{"POST", "", `{"vim":{}}`, 400, "HTTPBadRequest", "Failed to parse request. Required attribute 'type' not specified"},
			{"POST", "", b.body("x", "zog", "1", "bogus", "2", "s3 cret", "3"), 400, "HTTPBadRequest", "Unrecognized attribute(s) '?, bogus, zog'"},
			{"POST", "", b.body("x", "id", `"x"`), 400, "HTTPBadRequest", "Attribute 'id' not allowed in POST"},
			{"PUT", "/" + id, `{"vim":{"type":"openstack"}}`, 400, "HTTPBadRequest", "Cannot update read-only attribute type"},
			{"POST", "", b.body("x", "name", "7"), 400, "HTTPBadRequest", "Invalid input for name. Reason: '7' is not a valid string."},
			{"POST", "", b.body("x", "auth_cred", `"s3cret"`), 400, "HTTPBadRequest", "Invalid input for auth_cred. Reason: it is not a dictionary, or it is empty."},
			{"POST", "", b.body("x", "auth_cred", `{"zog":"s3cret"}`), 400, "HTTPBadRequest", "Invalid input for auth_cred. Reason: holds a key that a VIM of type kubernetes does not have."},
			{"POST", "", b.body("x", "tenant_id", `"zzz"`), 400, "HTTPBadRequest", "Specifying 'tenant_id' other than authenticated tenant in request requires admin privileges"},
			{"POST", "", b.body("k1"), 409, "DuplicateEntity", "vim already exist with given ['tenant_id', 'name', 'deleted_at']"},
			{"POST", "", b.body("x", "is_default", "true"), pick(409, 500), "VimDefaultDuplicateException", "Default VIM already exists " + id + "."},
			{"PUT", "/" + second, `{"vim":{"is_default":true}}`, pick(409, 500), "VimDefaultDuplicateException", "Default VIM already exists " + id + "."},
			{"GET", "/" + none, "", pick(404, 500), "VimNotFoundException", "Specified VIM id " + none + " is invalid. Please verify and pass a valid VIM id"},
			{"DELETE", "/" + none, "", pick(404, 500), "VimNotFoundException", "Specified VIM id " + none + " is invalid. Please verify and pass a valid VIM id"},
			{"POST", "", b.body("x", "auth_cred", `{"bearer_token":"s3cret","ssl_ca_cert":"None"}`), pick(400, 500), "VimUnauthorizedException", ""},
			{"POST", "", b.body("x", "auth_url", `"https://127.0.0.1:1"`), pick(503, 500), "VimConnectionException", ""},
			{"PUT", "/" + id, `{"vim":{"name":"k2"}}`, pick(409, 500), map[bool]string{false: "DuplicateEntity", true: "HTTPInternalServerError"}[compat], ""},
		} {
			answer, text := b.call("alice", c.method, "/v1.0/vims"+c.path, c.body)
			var got struct {
				TackerError struct{ Type, Message, Detail string }
			}
			if err := json.Unmarshal([]byte(text), &got); err != nil {
				t.Fatalf("%s %s %s = %s", c.method, c.path, c.body, text)
			}
			if e := got.TackerError; answer.StatusCode != c.status || e.Type != c.kind || c.message != "" && e.Message != c.message || e.Message == "" {
				t.Errorf("compat %v: %s %s %.60s = %d %s, want %d %s %q", compat, c.method, c.path, c.body, answer.StatusCode, text, c.status, c.kind, c.message)
			}
		}
		if wire := b.wire.String(); strings.Contains(wire, "s3cret") || strings.Contains(wire, "s3 cret") {
			t.Error("an answer repeats a credential")
		}
		answer, _ := b.call("alice", "GET", "/v1.0/vims?is_default=True", "")
		if want := pick(200, 500); answer.StatusCode != want {
			t.Errorf("compat %v: filter by is_default = %d, want %d", compat, answer.StatusCode, want)
		}
		b.vim("root", "POST", "/v1.0/vims", b.body("x", "tenant_id", `"zzz"`), http.StatusCreated)
		// One that may not register at all is told so: the tenant is its own.
		if answer, text := b.call("rita", "POST", "/v1.0/vims", b.body("x", "tenant_id", `"demo"`)); answer.StatusCode != http.StatusForbidden || strings.Contains(text, "tenant_id") {
			t.Errorf("compat %v: registration by a reader = %d %s", compat, answer.StatusCode, text)
		}
	}
}

func TestDoors(t *testing.T) {
	b := newBench(t, false)
	for _, c := range []struct {
		who, method, path string
		status            int
		want              string
	}{
		{"", "GET", "/", 200, `{"versions":[{"id":"v1.0","links":[{"href":"` + b.url + `/v1.0","rel":"self"}],"status":"CURRENT"}]}`},
		{"", "GET", "/v1.0/vims.json", 401, `{"error":{"code":401,"message":"The request you have made requires authentication.","title":"Unauthorized"}}`},
		{"nobody", "GET", "/v1.0/zog", 401, `"Unauthorized"`},
		{"alice", "GET", "/v1.0/", 404, "<h1>404 Not Found</h1>"},
		{"alice", "GET", "/v1.0", 404, "The resource could not be found."},
		{"alice", "GET", "/v1.0/vims/", 404, "<h1>"},
		{"alice", "PATCH", "/v1.0/vims/x", 404, "<h1>"},
		{"alice", "POST", "/", 404, "<h1>"},
		{"alice", "GET", "/v1.0/extensions.json", 200, `"nfvo"`},
		{"alice", "GET", "/v1.0/vims", 200, `{"vims":[]}`},
		{"alice", "GET", "/v1/vims", 200, `"items"`},
	} {
		answer, text := b.call(c.who, c.method, c.path, "")
		if answer.StatusCode != c.status || !strings.Contains(text, c.want) {
			t.Errorf("%s %s = %d %s, want %d %s", c.method, c.path, answer.StatusCode, text, c.status, c.want)
		}
		if strings.HasPrefix(c.path, "/v1.0") {
			matches(t, "X-Openstack-Request-Id", answer.Header.Get("X-Openstack-Request-Id"), `^req-[0-9a-f-]{36}$`)
		}
		if c.status == 401 && answer.Header.Get("WWW-Authenticate") == "" {
			t.Errorf("%s: no challenge", c.path)
		}
	}
}

// Tacker's server fails where a filter is none of its columns, and where one is repeated.
func TestListsThatTackerCannotMake(t *testing.T) {
	for _, compat := range []bool{false, true} {
		b := newBench(t, compat)
		b.vim("alice", "POST", "/v1.0/vims", b.body("k1"), http.StatusCreated)
		for query, fails := range map[string]bool{
			"": false, "?name=k1": false, "?zog=1": false,
			"?is_default=True": true, "?shared=x": true, "?name=k1&name=k2": true,
		} {
			want := http.StatusOK
			if compat && fails {
				want = http.StatusInternalServerError
			}
			if answer, text := b.call("alice", "GET", "/v1.0/vims"+query, ""); answer.StatusCode != want {
				t.Errorf("compat %v: GET /v1.0/vims%s = %d %s, want %d", compat, query, answer.StatusCode, text, want)
			}
		}
	}
}
