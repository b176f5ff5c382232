package heat

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/gophercloud/gophercloud/v2"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/broker/clientconfig"
	"github.com/vimbroker/vimbroker/broker/secret"
	"github.com/vimbroker/vimbroker/lifecycle"
	"github.com/vimbroker/vimbroker/policy/egress"
	"github.com/vimbroker/vimbroker/test/fake"
)

// script answers requests, "GET stacks?name=x": a list of answers for each, of which the last stays. One that it does not
// know it answers with 500.
type script struct {
	answers map[string][]string
	asked   []string
	// tokens are those that were sent, bodies what was.
	tokens, bodies []string
	// each is called before an answer.
	each func(request string)
}

// RoundTrip implements [http.RoundTripper]. An answer of the form "404 {}" has that status; others are 200.
func (s *script) RoundTrip(r *http.Request) (*http.Response, error) {
	request := r.Method + " " + strings.TrimPrefix(r.URL.RequestURI(), "/")
	s.asked, s.tokens = append(s.asked, request), append(s.tokens, r.Header.Get("X-Auth-Token"))
	if r.Body != nil {
		body, _ := io.ReadAll(r.Body)
		s.bodies = append(s.bodies, string(body))
	}
	if s.each != nil {
		s.each(request)
	}
	if err := r.Context().Err(); err != nil {
		return nil, err
	}
	status, body := 500, "{}"
	if all := s.answers[request]; len(all) > 0 {
		status, body = 200, all[0]
		if _, err := fmt.Sscanf(all[0], "%3d ", &status); err == nil {
			body = all[0][4:]
		}
		if len(all) > 1 {
			s.answers[request] = all[1:]
		}
	}
	return &http.Response{
		StatusCode: status, Header: http.Header{"Content-Type": {"application/json"}, "X-Subject-Token": {"subject"}},
		Body: io.NopCloser(strings.NewReader(body)), Request: r,
	}, nil
}

func (s *script) client() *gophercloud.ServiceClient {
	return &gophercloud.ServiceClient{ProviderClient: &gophercloud.ProviderClient{HTTPClient: http.Client{Transport: s}}, Endpoint: "https://heat.example/"}
}

func (s *script) count(request string) (n int) {
	for _, asked := range s.asked {
		if asked == request {
			n++
		}
	}
	return n
}

// Each answer that is no success is an error of a kind, with what can be done; a page of some gateway is none of the
// service's.
func TestRefusalsOfServices(t *testing.T) {
	const member = "give the registered user the roles that Heat asks for (member; for Heat heat_stack_owner); see the cloud's quota of stacks, " +
		"and whether it leaves a type of resources to its administrators"
	const gateway = "check the endpoint, and what stands in front of it"
	for _, c := range []struct {
		who            string
		code           int
		body           string
		kind           error
		detail, remedy string
	}{
		{orchestrator, 409, `{"NeutronError":{"type":"OverQuota"}}`, broker.ErrQuota, "cannot do: Heat says that the quota is used up (409)", "remove what is not needed"},
		{orchestrator, 409, `{"NeutronError":{"type":"InUse"}}`, broker.ErrConflict, "cannot do: the state of what stands there does not allow it (409)", "see what is in the way, and try again"},
		{orchestrator, 409, `{"code":409}`, broker.ErrConflict, "cannot do: the state of what stands there does not allow it (409)", "see what is in the way, and try again"},
		{orchestrator, 409, `{"error":{"code":409}}`, broker.ErrConflict, "cannot do: the state of what stands there does not allow it (409)", "see what is in the way, and try again"},
		{orchestrator, 409, `{"code":408,"error":{"code":410}}`, broker.ErrUnreachable, "cannot do: what answers is not Heat (409)", gateway},
		{orchestrator, 409, `no JSON`, broker.ErrUnreachable, "cannot do: what answers is not Heat (409)", gateway},
		{orchestrator, 429, `{}`, broker.ErrUnreachable, "cannot do: Heat limits requests (429)", "try again later"},
		{orchestrator, 499, `{"code":499}`, broker.ErrInvalid, "cannot do: Heat finds it invalid (499)", "correct the template in the package, the parameters or the specification"},
		{orchestrator, 500, `{}`, broker.ErrUnreachable, "cannot do: Heat cannot do it now (500)", "try again later"},
		{orchestrator, 501, `{}`, broker.ErrUnreachable, "cannot do: Heat cannot do it now (501)", "try again later"},
		{orchestrator, 401, `{"code":401}`, broker.ErrUnauthorized, "cannot do: Heat does not know the lease's credential (401)", "see whether the lease was revoked"},
		{orchestrator, 401, `Authentication required`, broker.ErrUnauthorized, "cannot do: Heat does not know the lease's credential (401)", "see whether the lease was revoked"},
		{orchestrator, 401, `Please log in`, broker.ErrUnreachable, "cannot do: what answers is not Heat (401)", gateway},
		{orchestrator, 404, `{"code":404}`, broker.ErrNotFound, "cannot do: Heat does not find it (404)", "see whether it was removed"},
		{keystone, 404, `{"error":{"code":404}}`, broker.ErrUnauthorized, "cannot do: Keystone does not know the lease's credential (404)", "see whether the lease was revoked"},
		{keystone, 404, `no JSON`, broker.ErrUnreachable, "cannot do: what answers is not Keystone (404)", gateway},
		{keystone, 400, `{"code":400}`, broker.ErrInvalid, "cannot do: Keystone finds it invalid (400)", "correct the template in the package, the parameters or the specification"},
		{orchestrator, 403, `{"code":403}`, broker.ErrForbidden, "cannot do: Heat does not let the lease do it (403)", member},
	} {
		err := refusal(gophercloud.ErrUnexpectedResponseCode{Actual: c.code, Body: []byte(c.body)}, "do", c.who)
		e, ok := errors.AsType[*broker.Error](err)
		if !ok || e.Kind != c.kind || e.Detail != c.detail || e.Remedy != c.remedy {
			t.Errorf("%s answers %d %s: %#v, want %v: %s; %s", c.who, c.code, c.body, e, c.kind, c.detail, c.remedy)
		}
		if answered := c.kind != broker.ErrUnreachable || c.remedy == "try again later"; is(err, c.code) != answered || is(err, c.code+1) {
			t.Errorf("%s answers %d %s: is the answer %d: %t", c.who, c.code, c.body, c.code, !answered)
		}
	}
	if err := refusal(nil, "do", orchestrator); err != nil {
		t.Errorf("a success is refused: %v", err)
	}
	e, ok := errors.AsType[*broker.Error](refusal(errors.New("x"), "do", orchestrator))
	if !ok || e.Kind != broker.ErrUnreachable || !strings.HasPrefix(e.Detail, "cannot do: ") {
		t.Errorf("no answer: %#v", e)
	}
}

// What Heat says of a template is repeated where it finds that invalid, and nowhere else.
func TestWhatHeatExplains(t *testing.T) {
	w := wish{Unspoken: []string{"s3cret"}}
	for _, c := range []struct {
		code          int
		message, want string
	}{
		{400, "s3cret is\nwrong", "cannot do: Heat finds it invalid (400): (a value of the template) is wrong"},
		{400, "", "cannot do: Heat finds it invalid (400)"},
		{409, "wrong", "cannot do: the state of what stands there does not allow it (409)"},
	} {
		body := fmt.Sprintf(`{"code":%d,"error":{"message":%q}}`, c.code, c.message)
		err := w.explained(refusal(gophercloud.ErrUnexpectedResponseCode{Actual: c.code, Body: []byte(body)}, "do", orchestrator))
		if e, ok := errors.AsType[*broker.Error](err); !ok || e.Detail != c.want || e.Remedy == "" {
			t.Errorf("%d %q: %v, want %s", c.code, c.message, err, c.want)
		}
	}
	if err := w.explained(nil); err != nil {
		t.Errorf("a success is explained: %v", err)
	}
}

// A service is found in the catalog of the lease's token, in the VIM's region, at an address that a token may go to.
func TestServiceInTheCatalog(t *testing.T) {
	entry := func(kind, face, region, url string) string {
		return fmt.Sprintf(`{"type":%q,"endpoints":[{"interface":%q,"region":%q,"url":%q}]}`, kind, face, region, url)
	}
	catalog := func(entries ...string) string {
		return `{"token":{"catalog":[` + strings.Join(entries, ",") + `]}}`
	}
	const path = "v3/auth/tokens"
	good := entry("orchestration", "public", "One", "https://one/v1/")
	for name, c := range map[string]struct {
		region, from  string
		appCredential bool
		answer        string
		want, detail  string
		kind          error
	}{
		"the first":             {answer: catalog(entry("compute", "public", "One", "https://no"), entry("orchestration", "internal", "One", "https://no"), good, entry("orchestration", "public", "Two", "https://two")), want: "https://one/v1/"},
		"of a region":           {region: "Two", answer: catalog(good, entry("orchestration", "public", "Two", "https://two")), want: "https://two/"},
		"of no such region":     {region: "Three", answer: catalog(good), kind: broker.ErrUnsupported, detail: "the cloud has no public endpoint of Heat (orchestration) in the VIM's region"},
		"of an empty catalog":   {answer: catalog(), kind: broker.ErrUnsupported, detail: "the cloud has no public endpoint of Heat (orchestration) in the VIM's region"},
		"without a catalog":     {answer: `{"token":{}}`, kind: broker.ErrUnreachable, detail: "cannot look at the lease's token: what answers is not Keystone"},
		"plain on plain":        {from: "http://cloud", answer: catalog(entry("orchestration", "public", "", "http://one")), want: "http://one/"},
		"plain on TLS":          {answer: catalog(entry("orchestration", "public", "", "http://one")), kind: broker.ErrUnsupported, detail: "the catalog's endpoint of Heat is none that a token is sent to"},
		"another scheme":        {from: "http://cloud", answer: catalog(entry("orchestration", "public", "", "ftp://one")), kind: broker.ErrUnsupported, detail: "the catalog's endpoint of Heat is none that a token is sent to"},
		"a token that is none":  {answer: `401 {"error":{"code":401}}`, kind: broker.ErrUnauthorized, detail: "cannot look at the lease's token: Keystone does not know the lease's credential (401)"},
		"an application's":      {appCredential: true, answer: "201 " + catalog(good), want: "https://one/v1/"},
		"an application's none": {appCredential: true, answer: `401 {"error":{"code":401}}`, kind: broker.ErrUnauthorized, detail: "cannot log in with the lease: Keystone does not know the lease's credential (401)"},
	} {
		config := clientconfig.Config{
			Endpoint: "https://cloud", Client: clientconfig.OpenStackClient{Region: c.region},
			Credential: secret.Credential{Kind: broker.CredentialProjectToken, Token: secret.NewText("lease")},
		}
		if c.from != "" {
			config.Endpoint = c.from
		}
		if c.appCredential {
			config.ApplicationCredentialID, config.ApplicationCredentialSecret = "id", secret.NewText("word")
		}
		s := &script{answers: map[string][]string{"GET " + path: {c.answer}, "POST " + path: {c.answer}}}
		identity := s.client()
		identity.Endpoint += "v3/"
		got, err := endpoint(t.Context(), identity, config, "orchestration", orchestrator)
		e, is := errors.AsType[*broker.Error](err)
		if got != c.want || is != (c.kind != nil) || is && (e.Kind != c.kind || e.Detail != c.detail || e.Remedy == "") {
			t.Errorf("%s: %q, %v, want %q, %v: %s", name, got, err, c.want, c.kind, c.detail)
		}
		if token := map[bool]string{false: "lease", true: "subject"}[c.appCredential]; c.want != "" && identity.Token() != token {
			t.Errorf("%s: the token is %q, want %s", name, identity.Token(), token)
		}
	}
}

// A connection whose authorities are none, or whose cloud does not answer, is no service.
func TestDialThatFails(t *testing.T) {
	rules := egress.Default()
	_, err := Dial(t.Context(), clientconfig.Config{Endpoint: "https://cloud", CACert: "none"}, rules, "network", "Neutron")
	if e, ok := errors.AsType[*broker.Error](err); !ok || e.Kind != broker.ErrInvalid || e.Field != "caCert" || e.Detail != "holds no certificate" {
		t.Errorf("authorities that are none: %v", err)
	}
	if s, err := Dial(t.Context(), clientconfig.Config{Endpoint: "https://127.0.0.1:1"}, rules, "network", "Neutron"); err == nil || s != nil {
		t.Errorf("a cloud that does not answer: %v, %v", s, err)
	}
}

// Ports are the connection points of their servers, sorted; what is no id, name or address is left out.
func TestPortsOfServers(t *testing.T) {
	const path = "GET stacks/n/i/resources?nested_depth=10&type=OS%3A%3ANeutron%3A%3APort&with_detail=true"
	port := func(name, id, device string) string {
		return fmt.Sprintf(`{"resource_name":%q,"physical_resource_id":%q,"attributes":{"device_id":%q,"mac_address":"FA:16:3E:00:00:01",`+
			`"fixed_ips":[{"subnet_id":"s","ip_address":"192.0.2.7"},{"subnet_id":"s","ip_address":"192.0.2.6"},{"subnet_id":"a b","ip_address":"192.0.2.8"},`+
			`{"subnet_id":"s","ip_address":"none"},{"subnet_id":"s","ip_address":"fe80::1%%eth0"},{"subnet_id":"t","ip_address":"2001:DB8::1"}]}}`, name, id, device)
	}
	cp := func(name, id string) lifecycle.CP {
		return lifecycle.CP{CPD: name, ID: id, MAC: "fa:16:3e:00:00:01", Addresses: map[string][]string{"s": {"192.0.2.7", "192.0.2.6"}, "t": {"2001:db8::1"}}}
	}
	k := &stack{Name: "n", ID: "i"}
	s := &script{answers: map[string][]string{path: {`{"resources":[` + strings.Join([]string{
		port("b", "1", "one"), port("a", "3", "one"), port("a", "2", "one"), port("c", "4", "two"), port("d", "a b", "two"), port("e\n", "5", "two"),
	}, ",") + `]}`}}}
	on := &server{&Service{orchestrator, nil, s.client()}}
	for _, n := range []int{1, maxPorts} {
		all := make([]part, n+2)
		for i := range n {
			all[i].Type = portType
		}
		got, err := on.connected(t.Context(), k, all)
		want := map[string][]lifecycle.CP{"one": {cp("a", "2"), cp("a", "3"), cp("b", "1")}, "two": {cp("c", "4")}}
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("of %d ports: %+v, %v, want %+v", n, got, err, want)
		}
	}
	s.answers[path] = []string{`403 {"code":403}`}
	if got, err := on.connected(t.Context(), k, []part{{Type: portType}}); !errors.Is(err, broker.ErrForbidden) || got != nil {
		t.Errorf("ports that nobody may see: %+v, %v", got, err)
	}
	bare := port("a", "1", "one")
	s.answers[path] = []string{`{"resources":[` + strings.ReplaceAll(bare, "FA:16:3E:00:00:01", fake.Canary) + `]}`}
	if got, err := on.connected(t.Context(), k, []part{{Type: portType}}); err != nil || len(got["one"]) != 1 || got["one"][0].MAC != "" {
		t.Errorf("a port with an address that is none: %+v, %v", got, err)
	}
}

// worker does a wave on a server that a script is.
func worker(s *script, w lifecycle.Wave) (*run, *[]string) {
	told := &[]string{}
	return &run{
		server: &server{&Service{orchestrator, nil, s.client()}}, pause: time.Microsecond, instance: "i", wave: w, told: map[string]status{},
		progress: func(o lifecycle.Observation) {
			*told = append(*told, fmt.Sprintf("%s standing %t ready %t %s", o.Name, o.Standing, o.Ready, o.Message))
		},
	}, told
}

func ended(t *testing.T, cause error) context.Context {
	t.Helper()
	ctx, end := context.WithCancelCause(t.Context())
	end(cause)
	return ctx
}
