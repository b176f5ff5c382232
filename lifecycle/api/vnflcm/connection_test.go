package vnflcm_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/broker/secret"
	"github.com/vimbroker/vimbroker/lifecycle"
)

func TestVIMsThatRequestsBring(t *testing.T) {
	canary := secret.NewText("canary")
	for name, c := range map[string]struct {
		info string
		want lifecycle.InlineVIM
	}{
		"a token of Kubernetes": {
			`{"vimId":"x","vimType":"ETSINFV.KUBERNETES.V_1","interfaceInfo":{"endpoint":"https://e:6443","ssl_ca_cert":"pem"},"accessInfo":{"bearer_token":"canary"},"extra":{"a":"canary"}}`,
			lifecycle.InlineVIM{Type: "kubernetes", Endpoint: "https://e:6443", CACert: "pem", Credential: broker.Credential{Token: canary}},
		},
		"a user of Kubernetes, as Tacker names the type": {
			`{"vimType":"kubernetes","interfaceInfo":{"endpoint":"https://e:6443"},"accessInfo":{"username":"u","password":"canary"}}`,
			lifecycle.InlineVIM{Type: "kubernetes", Endpoint: "https://e:6443", Credential: broker.Credential{Username: "u", Password: canary}},
		},
		"a cluster of charts, as Tacker names the type": {
			`{"vimType":"ETSINFV.HELM.V_3","interfaceInfo":{"endpoint":"https://e:6443"},"accessInfo":{"bearer_token":"canary"}}`,
			lifecycle.InlineVIM{Type: "kubernetes", Endpoint: "https://e:6443", Credential: broker.Credential{Token: canary}},
		},
		"a user of Keystone": {
			`{"vimType":"ETSINFV.OPENSTACK_KEYSTONE.V_3","interfaceInfo":{"endpoint":"https://k/v3","trustedCertificates":["a","b"],
			"skipCertificateVerification":false},"accessInfo":{"username":"u","password":"canary","region":"r","project":"p","projectDomain":"d","userDomain":"ud"}}`,
			lifecycle.InlineVIM{
				Type: "openstack", Endpoint: "https://k/v3", CACert: "a\nb", Credential: broker.Credential{Username: "u", Password: canary},
				Scope: broker.Scope{Region: "r", ProjectName: "p", ProjectDomainName: "d", UserDomainName: "ud"},
			},
		},
		"an application credential, not verified": {
			`{"vimType":"ETSINFV.OPENSTACK_KEYSTONE.V_3","interfaceInfo":{"endpoint":"http://k","skipCertificateVerification":true,"skipCertificateHostnameCheck":true},
			"accessInfo":{"application_credential_id":"i","application_credential_secret":"canary"}}`,
			lifecycle.InlineVIM{
				Type: "openstack", Endpoint: "http://k", InsecureSkipVerify: true,
				Credential: broker.Credential{ApplicationCredentialID: "i", ApplicationCredentialSecret: canary},
			},
		},
	} {
		l := newLife()
		answer, text := serve(t, l).Ask("POST", "/vnf_instances/342e17b8-eb02-4f1e-9859-4705aab0d23d/instantiate", `{"flavourId":"f","vimConnectionInfo":{"site":`+c.info+`}}`)
		if answer.StatusCode != 202 {
			t.Errorf("%s: %d %s", name, answer.StatusCode, text)
		}
		if diff := cmp.Diff(lifecycle.Instantiation{Flavour: "f", Connection: "site", Inline: &c.want}, l.asked); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
	for infos, want := range map[string]lifecycle.Modification{
		`{"site":{"vimId":"v"}}`: {Connection: "site", VIM: "v"},
		`{"site":{"vimId":"v","interfaceInfo":{"trustedCertificates":["a"]},"accessInfo":{"bearer_token":"canary"}}}`: {
			Connection: "site", Inline: &lifecycle.InlineVIM{CACert: "a", Credential: broker.Credential{Token: canary}},
		},
	} {
		l := newLife()
		answer, text := serve(t, l).Ask("PATCH", "/vnf_instances/342e17b8-eb02-4f1e-9859-4705aab0d23d", `{"vimConnectionInfo":`+infos+`}`)
		if diff := cmp.Diff(want, l.asked); diff != "" || answer.StatusCode != 202 {
			t.Errorf("PATCH with %s = %d %s (-want +got):\n%s", infos, answer.StatusCode, text, diff)
		}
	}
	if answer, text := serve(t, newLife()).Ask("PATCH", "/vnf_instances/x", `{"vimConnectionInfo":{"a":{"vimId":"v"},"b":{"vimId":"w"}}}`); answer.StatusCode != 422 ||
		!strings.Contains(text, "names 2 VIMs, and one is changed at a time") {
		t.Errorf("PATCH of two VIMs = %d %s", answer.StatusCode, text)
	}
	l := newLife()
	answer, text := serve(t, l).Ask("PATCH", "/vnf_instances/342e17b8-eb02-4f1e-9859-4705aab0d23d", `{"vimConnectionInfo":{"site":{"accessInfo":{"bearer_token":"canary"}}}}`)
	if answer.StatusCode != 202 {
		t.Errorf("PATCH = %d %s", answer.StatusCode, text)
	}
	if diff := cmp.Diff(lifecycle.Modification{Connection: "site", Inline: &lifecycle.InlineVIM{Credential: broker.Credential{Token: canary}}}, l.asked); diff != "" {
		t.Errorf("PATCH (-want +got):\n%s", diff)
	}
}

// TestNoCredentialOfARequestIsKept: what is stored of a request, and shown again, has no access information, whatever
// the request calls it and whichever request it is in.
func TestNoCredentialOfARequestIsKept(t *testing.T) {
	const one = "/vnf_instances/342e17b8-eb02-4f1e-9859-4705aab0d23d"
	const brings = `{"site":{"vimId":"i","vimType":"ETSINFV.KUBERNETES.V_1","interfaceInfo":{"endpoint":"https://u:canary@e"},
		"accessInfo":{"bearer_token":"canary"},"AccessInfo":{"bearer_token":"canary"},"extra":{"password":"canary"}}}`
	const misspelt = `{"site":{"vimId":"i","vimType":"t","accessinfo":{"bearer_token":"canary"},"extra":{"password":"canary"}}}`
	const wrong = `["canary"]`
	for _, c := range []struct{ method, path, body, kept string }{
		{"POST", one + "/instantiate", `{"flavourId":"f","vimConnectionInfo":` + brings, `{"site":{"vimId":"i","vimType":"ETSINFV.KUBERNETES.V_1"}}`},
		{"POST", one + "/instantiate", `{"flavourId":"f","vimConnectionInfo":` + misspelt, `{"site":{"vimId":"i","vimType":"t"}}`},
		{"PATCH", one, `{"vimConnectionInfo":` + brings, `{"site":{"vimId":"i","vimType":"ETSINFV.KUBERNETES.V_1"}}`},
		{"POST", one + "/change_vnfpkg", `{"vnfdId":"d","vimConnectionInfo":` + misspelt, `{"site":{"vimId":"i","vimType":"t"}}`},
		{"POST", one + "/scale", `{"type":"SCALE_OUT","aspectId":"a","vimConnectionInfo":` + wrong, ""},
		{"POST", one + "/heal", `{"cause":"c","vimConnectionInfo":` + wrong, ""},
		{"POST", one + "/terminate", `{"terminationType":"FORCEFUL","vimConnectionInfo":` + brings, `{"site":{"vimId":"i","vimType":"ETSINFV.KUBERNETES.V_1"}}`},
	} {
		l := newLife()
		answer, text := serve(t, l).Ask(c.method, c.path, c.body+`,"additionalParams":{"upgrade_type":"kept"}}`)
		if answer.StatusCode != 202 {
			t.Errorf("%s %s = %d %s", c.method, c.path, answer.StatusCode, text)
		}
		kept := string(l.params)
		if strings.Contains(kept, "canary") || c.kept != "" && !strings.Contains(kept, `"vimConnectionInfo":`+c.kept) || !strings.Contains(kept, `"additionalParams":{"upgrade_type":"kept"}`) {
			t.Errorf("%s %s keeps %s", c.method, c.path, kept)
		}
	}
}

// TestNoValueOfAChartIsShown: what is stored of a request to be shown says which chart it is of, and no value, whichever
// request it is in; also beside a VIM.
func TestNoValueOfAChartIsShown(t *testing.T) {
	const one, vim = "/vnf_instances/342e17b8-eb02-4f1e-9859-4705aab0d23d", `,"vimConnectionInfo":{"site":{"vimId":"i"}}`
	const given = `,"additionalParams":{"helm_chart_path":"c.tgz","helm_values":{"password":"canary"},"helm_parameters":{"a.b":"canary"},"helm_value":{"password":"canary"},"helm_value_names":{"V":{"replica":"n"}}}`
	for request, body := range map[string]string{
		one + "/instantiate":   `{"flavourId":"f"` + given + vim + `}`,
		one + "/change_vnfpkg": `{"vnfdId":"d"` + given + `}`,
		one + "/scale":         `{"type":"SCALE_OUT","aspectId":"a"` + given + `}`,
		one + "/heal":          `{"cause":"c"` + strings.Replace(given, "helm_values", "Helm_Values", 1) + `}`,
	} {
		l := newLife()
		answer, text := serve(t, l).Ask("POST", request, body)
		if kept := string(l.params); answer.StatusCode != 202 || strings.Contains(kept, "canary") ||
			!strings.Contains(kept, `"additionalParams":{"helm_chart_path":"c.tgz","helm_value_names":{"V":{"replica":"n"}}}`) {
			t.Errorf("%s = %d %s, and keeps %s", request, answer.StatusCode, text, kept)
		}
	}
}

// TestStoredCredentialsAreNotShown: rows of earlier versions hold requests as they came.
func TestStoredCredentialsAreNotShown(t *testing.T) {
	l := newLife()
	for params, want := range map[string]string{
		`{"vnfdId":"d","vimConnectionInfo":{"site":{"vimId":"i","vimType":"t","accessInfo":{"password":"canary"}}}}`: `{"vimConnectionInfo":{"site":{"vimId":"i","vimType":"t"}},"vnfdId":"d"}`,
		`{"vnfdId":"d","vimConnectionInfo":["canary"]}`:                                                              `{"vnfdId":"d"}`,
		`{"vnfdId":"d","additionalParams":{"helm_chart_path":"c","helm_values":{"p":"canary"}}}`:                     `{"additionalParams":{"helm_chart_path":"c"},"vnfdId":"d"}`,
		`{"vimConnectionInfo":"canary","vnfdId":1,"vnfdId":2}`:                                                       ``,
	} {
		l.o.Type, l.o.State, l.o.Params = lifecycle.ChangePackage, lifecycle.Completed, []byte(params)
		answer, text := serve(t, l).Ask("GET", "/vnf_lcm_op_occs/x", "")
		if answer.StatusCode != 200 || strings.Contains(text, "canary") || want != "" && !strings.Contains(text, `"operationParams":`+want) {
			t.Errorf("%s is shown as %d %s", params, answer.StatusCode, text)
		}
	}
}
