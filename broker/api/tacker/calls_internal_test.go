package tacker

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"net/http/httptest"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/broker/api"
	"github.com/vimbroker/vimbroker/policy"
	"github.com/vimbroker/vimbroker/test/doors"
)

const (
	idA = "0b8a8b0e-5a3c-4b64-9f1d-2f5f3c5d7e11"
	idB = "1c9b9c1f-6b4d-4c75-8a2e-3a6a4d6e8f22"
)

// noting notes what it is asked, and answers with these VIMs, or with an error of the call that has one.
type noting struct {
	vims  []broker.VIM
	errs  map[string]error
	calls []string
}

// said notes a call with the fields that are set, but for the credential.
func (n *noting) said(name string, args ...any) error {
	text := name
	for _, arg := range args {
		v := reflect.ValueOf(arg)
		if v.Kind() != reflect.Struct {
			text += fmt.Sprintf(" %v", arg)
			continue
		}
		for i := range v.NumField() {
			f := v.Field(i)
			if f.IsZero() || v.Type().Field(i).Name == "Credential" {
				continue
			}
			text += fmt.Sprintf(" %s=%+v", v.Type().Field(i).Name, reflect.Indirect(f))
		}
	}
	n.calls = append(n.calls, text)
	return n.errs[name]
}

func (n *noting) one(id string) (v broker.VIM) {
	for _, v = range n.vims {
		if v.ID == id {
			return v
		}
	}
	return broker.VIM{}
}

func (n *noting) RegisterVIM(_ context.Context, _ policy.Principal, r broker.Registration) (broker.VIM, error) {
	return broker.VIM{ID: idA, Type: r.Type}, n.said("RegisterVIM", r)
}

func (n *noting) VIM(_ context.Context, _ policy.Principal, id string) (broker.VIM, error) {
	return n.one(id), n.said("VIM", id)
}

func (n *noting) VIMs(_ context.Context, _ policy.Principal, q broker.VIMQuery) ([]broker.VIM, string, error) {
	q.Page = broker.Page{}
	return n.vims, "", n.said("VIMs", q)
}

func (n *noting) UpdateVIM(_ context.Context, _ policy.Principal, id string, c broker.Change) (broker.VIM, error) {
	return n.one(id), n.said("UpdateVIM", id, c)
}

func (n *noting) DeleteVIM(_ context.Context, _ policy.Principal, id string, d broker.Deletion) (broker.VIM, bool, error) {
	return n.one(id), true, n.said("DeleteVIM", id, d)
}

// Each request leads to these calls, with what it says and no more, and to the answer of what they return.
func TestWhatIsAskedOfTheRegistry(t *testing.T) {
	of := func(id, name, project string, isDefault bool) broker.VIM {
		return broker.VIM{
			ID: id, Name: name, Project: project, Type: kubernetes, Default: isDefault, Revision: 7,
			Current: broker.Generation{Target: broker.Target{Namespace: "apps"}},
		}
	}
	body := func(more string) string {
		return `{"vim":{"type":"kubernetes","name":"a","auth_url":"https://k","auth_cred":{"bearer_token":"t"},"vim_project":{"name":"apps"}` + more + `}}`
	}
	const registered = "RegisterVIM Name=a Type=kubernetes Endpoint=https://k Namespace=apps"
	secondDefault := &broker.Error{Kind: broker.ErrExists, Field: "default", Detail: "there is one"}
	taken := &broker.Error{Kind: broker.ErrExists, Field: "name", Detail: "taken"}
	missing, away := &broker.Error{Kind: broker.ErrNotFound}, &broker.Error{Kind: broker.ErrUnavailable, Detail: "the store is away"}
	const second = `409 VimDefaultDuplicateException: Default VIM already exists`
	for name, c := range map[string]struct {
		ask, body string
		errs      map[string]error
		calls     string
		want      string // the status with the names that are listed, or with the fault
	}{
		"all":                     {"GET /v1.0/vims", "", nil, "VIMs", "200 a b"},
		"of a name":               {"GET /v1.0/vims?name=a", "", nil, "VIMs Name=a", "200 a"},
		"of two names":            {"GET /v1.0/vims?name=a&name=b", "", nil, "VIMs", "200 a b"},
		"of a type":               {"GET /v1.0/vims?type=kubernetes", "", nil, "VIMs Type=kubernetes", "200 a b"},
		"of two types":            {"GET /v1.0/vims?type=openstack&type=x", "", nil, "VIMs", "200"},
		"of an id":                {"GET /v1.0/vims?id=" + idA, "", nil, "VIM " + idA, "200 a"},
		"of two ids":              {"GET /v1.0/vims?id=" + idA + "&id=" + idB, "", nil, "VIMs", "200 a b"},
		"of an id that is none":   {"GET /v1.0/vims?id=a", "", nil, "", "200"},
		"of an id of nobody":      {"GET /v1.0/vims?id=" + idA, "", map[string]error{"VIM": missing}, "VIM " + idA, "200"},
		"of an id, away":          {"GET /v1.0/vims?id=" + idA, "", map[string]error{"VIM": away}, "VIM " + idA, "503 ServiceUnavailable: the store is away"},
		"all, away":               {"GET /v1.0/vims", "", map[string]error{"VIMs": away}, "VIMs", "503 ServiceUnavailable: the store is away"},
		"one":                     {"GET /v1.0/vims/" + idB, "", nil, "VIM " + idB, "200 b"},
		"a registration":          {"POST /v1.0/vims", body(""), nil, registered, "201"},
		"for its own tenant":      {"POST /v1.0/vims", body(`,"tenant_id":"core"`), nil, registered, "201"},
		"for another tenant":      {"POST /v1.0/vims", body(`,"tenant_id":"ran"`), nil, registered + " Project=ran", "201"},
		"for no tenant":           {"POST /v1.0/vims", body(`,"tenant_id":""`), nil, registered, "201"},
		"denied":                  {"POST /v1.0/vims", body(""), map[string]error{"RegisterVIM": &broker.Error{Kind: broker.ErrDenied, Detail: "no"}}, registered, "403 NotAuthorized: no"},
		"of a name that is taken": {"POST /v1.0/vims", body(""), map[string]error{"RegisterVIM": taken}, registered, "409 DuplicateEntity: vim already exist"},
		"a second default":        {"POST /v1.0/vims", body(`,"is_default":true`), map[string]error{"RegisterVIM": secondDefault}, registered + " Default=true; VIMs", second + " " + idA + "."},
		"of another tenant":       {"POST /v1.0/vims", body(`,"tenant_id":"ran"`), map[string]error{"RegisterVIM": secondDefault}, registered + " Project=ran; VIMs", second + " " + idB + "."},
		"of a tenant without one": {"POST /v1.0/vims", body(`,"tenant_id":"x"`), map[string]error{"RegisterVIM": secondDefault}, registered + " Project=x; VIMs", second + "."},
		"a second default, away":  {"POST /v1.0/vims", body(""), map[string]error{"RegisterVIM": secondDefault, "VIMs": away}, registered + "; VIMs", "503 ServiceUnavailable: the store is away"},
		"of an odd endpoint": {
			"POST /v1.0/vims", body(""),
			map[string]error{"RegisterVIM": &broker.Error{Kind: broker.ErrInvalid, Field: "endpoint", Detail: "is odd", Remedy: "take another"}},
			registered, "400 HTTPBadRequest: Invalid input for auth_url. Reason: is odd; take another.",
		},
		"of what is odd as a whole": {"POST /v1.0/vims", body(""), map[string]error{"RegisterVIM": broker.Invalid("", "is odd")}, registered, "400 HTTPBadRequest: is odd"},
		"a failure of no kind":      {"POST /v1.0/vims", body(""), map[string]error{"RegisterVIM": errors.New("canary")}, registered, "500 HTTPInternalServerError: " + internal},
		"a new name":                {"PUT /v1.0/vims/" + idA, `{"vim":{"name":"c"}}`, nil, "UpdateVIM " + idA + " Name=c", "200 a"},
		"a new description":         {"PUT /v1.0/vims/" + idA, `{"vim":{"description":"d"}}`, nil, "UpdateVIM " + idA + " Description=d", "200 a"},
		"a default no more":         {"PUT /v1.0/vims/" + idA, `{"vim":{"is_default":"False"}}`, nil, "UpdateVIM " + idA + " Default=false", "200 a"},
		"a new extra":               {"PUT /v1.0/vims/" + idA, `{"vim":{"extra":{"a":1}}}`, nil, "UpdateVIM " + idA + ` Extra={"a":1}`, "200 a"},
		"nothing new":               {"PUT /v1.0/vims/" + idA, `{"vim":{}}`, nil, "UpdateVIM " + idA, "200 a"},
		"a new project":             {"PUT /v1.0/vims/" + idA, `{"vim":{"vim_project":{"name":"shop"}}}`, nil, "VIM " + idA + "; UpdateVIM " + idA + " Namespace=shop IfRevision=7", "200 a"},
		"the same project":          {"PUT /v1.0/vims/" + idA, `{"vim":{"vim_project":{"name":"apps"}}}`, nil, "VIM " + idA + "; UpdateVIM " + idA + " IfRevision=7", "200 a"},
		"a project that is none":    {"PUT /v1.0/vims/" + idA, `{"vim":{"vim_project":{"x":"y"}}}`, nil, "VIM " + idA, "400 HTTPBadRequest: Invalid input for vim_project."},
		"a credential of none":      {"PUT /v1.0/vims/" + idA, `{"vim":{"auth_cred":{"x":"y"}}}`, nil, "VIM " + idA, "400 HTTPBadRequest: Invalid input for auth_cred."},
		"a project of nobody":       {"PUT /v1.0/vims/" + idA, `{"vim":{"vim_project":{"name":"a"}}}`, map[string]error{"VIM": missing}, "VIM " + idA, "404 VimNotFoundException: Specified VIM id " + idA + " is invalid."},
		"a change, away":            {"PUT /v1.0/vims/" + idA, `{"vim":{"name":"c"}}`, map[string]error{"UpdateVIM": away}, "UpdateVIM " + idA + " Name=c", "503 ServiceUnavailable: the store is away"},
		"a change to a default":     {"PUT /v1.0/vims/" + idB, `{"vim":{"is_default":true}}`, map[string]error{"UpdateVIM": secondDefault}, "UpdateVIM " + idB + " Default=true; VIMs", second + " " + idB + "."},
		"a change of an id of none": {"PUT /v1.0/vims/a", `{"vim":{"name":"c"}}`, nil, "", "404 VimNotFoundException: Specified VIM id is invalid."},
		"a deletion":                {"DELETE /v1.0/vims/" + idA, "", nil, "DeleteVIM " + idA, "204"},
		"a deletion in use":         {"DELETE /v1.0/vims/" + idA, "", map[string]error{"DeleteVIM": &broker.Error{Kind: broker.ErrConflict, Detail: "leases live"}}, "DeleteVIM " + idA, "409 VimInUseException: VIM " + idA + " is still in use by VNF: leases live"},
		"a deletion of none":        {"DELETE /v1.0/vims/a", "", nil, "", "404 VimNotFoundException: Specified VIM id is invalid."},
	} {
		n := &noting{vims: []broker.VIM{of(idA, "a", "core", true), of(idB, "b", "ran", true)}, errs: c.errs}
		method, path, _ := strings.Cut(c.ask, " ")
		answer, said := doors.Serve(t, nil, Door(Options{Registry: n})).Ask(method, path, c.body)
		var got struct {
			VIM         *struct{ Name string }
			VIMs        []struct{ Name string }
			TackerError struct{ Type, Message string }
		}
		if err := json.Unmarshal([]byte(said), &got); said != "" && err != nil {
			t.Errorf("%s: %v: %s", name, err, said)
		}
		text := fmt.Sprint(answer.StatusCode)
		if got.VIM != nil && got.VIM.Name != "" {
			text += " " + got.VIM.Name
		}
		for _, v := range got.VIMs {
			text += " " + v.Name
		}
		if f := got.TackerError; f.Type != "" {
			text += " " + f.Type + ": " + f.Message
		}
		if answer.StatusCode < 400 && text != c.want || !strings.HasPrefix(text, c.want) {
			t.Errorf("%s: %s, want %s", name, text, c.want)
		}
		if calls := strings.Join(n.calls, "; "); calls != c.calls {
			t.Errorf("%s asks %q, want %q", name, calls, c.calls)
		}
	}
}

// An error that is not of a second default is passed on as it is.
func TestAnotherErrorIsNoSecondDefault(t *testing.T) {
	for _, err := range []error{
		nil, errors.New("canary"), &broker.Error{Kind: broker.ErrExists, Field: "name"}, &broker.Error{Kind: broker.ErrInvalid, Field: "default"},
	} {
		if got := (&server{}).secondDefault(nil, "core", err); !errors.Is(got, err) {
			t.Errorf("of %v comes %v", err, got)
		}
	}
}

// The version is shown where the caller has come: over TLS or not.
func TestWhereTheVersionIs(t *testing.T) {
	for scheme, over := range map[string]*tls.ConnectionState{"http": nil, "https": {}} {
		r := httptest.NewRequest("GET", "/", nil)
		r.Host, r.TLS = "broker.example", over
		a, err := versions(&api.Call{Request: r})
		want := map[string]any{"versions": []any{map[string]any{
			"id": "v1.0", "status": "CURRENT", "links": []any{map[string]any{"rel": "self", "href": scheme + "://broker.example/v1.0"}},
		}}}
		if diff := cmp.Diff(want, a.Body); diff != "" || err != nil {
			t.Errorf("%s: %v (-want +got):\n%s", scheme, err, diff)
		}
	}
}
