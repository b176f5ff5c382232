package clientconfig_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/vimbroker/vimbroker/broker/clientconfig"
	"github.com/vimbroker/vimbroker/broker/secret"
)

func TestDecodeIsTheInverseOfJSON(t *testing.T) {
	insecure := tokenConfig(t)
	insecure.InsecureSkipVerify, insecure.CACert, insecure.Client, insecure.ExpiresAt = true, "", clientconfig.KubernetesClient{}, time.Time{}
	for name, c := range map[string]clientconfig.Config{
		"token": tokenConfig(t), "certificate": certificateConfig(t), "password": passwordConfig(t), "insecure": insecure,
	} {
		text, err := c.Render(clientconfig.JSON)
		if err != nil {
			t.Fatalf("%s: Render() = %v", name, err)
		}
		got, err := clientconfig.Decode(text)
		if err != nil {
			t.Fatalf("%s: Decode() = %v", name, err)
		}
		if diff := cmp.Diff(c, got); diff != "" {
			t.Errorf("%s: (-want +got):\n%s", name, diff)
		}
		var object map[string]any
		if err := json.Unmarshal([]byte(text.Reveal()), &object); err != nil {
			t.Fatal(err)
		}
		if expires, ok := object["expiresAt"]; ok && expires != "2026-03-01T12:00:00Z" {
			t.Errorf("%s: expiresAt = %v, want UTC", name, expires)
		}
	}
}

func TestDecodeRefusesWithoutEchoing(t *testing.T) {
	const good = `{"vim":"v","lease":"l","endpoint":"https://h","insecureSkipVerify":false,"token":"` + canary + `"`
	for name, text := range map[string]string{
		"nothing":            "",
		"cut short":          good,
		"an unknown field":   good + `,"` + canary + `":1}`,
		"something behind":   good + `}{}`,
		"another type":       `{"endpoint":"https://h","token":{"a":"` + canary + `"}}`,
		"a number":           `{"endpoint":"https://h","token":4711}`,
		"a bad time":         good + `,"expiresAt":"` + canary + `"}`,
		"not JSON":           canary,
		"two credentials":    good + `,"username":"u","password":"p"}`,
		"no credential":      `{"vim":"v","endpoint":"https://h"}`,
		"no endpoint":        `{"vim":"v","token":"` + canary + `"}`,
		"an array":           `[` + good + `}]`,
		"null for an object": `null`,
		"a kind":             good + `,"kind":"` + canary + `"}`,
		"a user's id":        good + `,"userId":"` + canary + `"}`,
		"a token and an application credential's id":          good + `,"applicationCredentialId":"` + canary + `"}`,
		"a token and an application credential's secret":      good + `,"applicationCredentialSecret":"` + canary + `"}`,
		"a cluster's application credential":                  `{"vim":"v","endpoint":"https://h","applicationCredentialId":"i","applicationCredentialSecret":"` + canary + `"}`,
		"an application credential's secret beside the cloud": `{"vim":"v","endpoint":"https://h","applicationCredentialSecret":"` + canary + `","cloud":{"projectId":"p","applicationCredentialId":"i","applicationCredentialSecret":"s"}}`,
		"a cloud without a project":                           good + `,"cloud":{}}`,
		"a cloud with a namespace":                            good + `,"namespace":"n","cloud":{"projectId":"p"}}`,
	} {
		_, err := clientconfig.Decode(secret.NewText(text))
		if err == nil {
			t.Errorf("%s: Decode() = nil, want an error", name)
			continue
		}
		for _, word := range []string{canary, "4711"} {
			if strings.Contains(err.Error(), word) {
				t.Errorf("%s: the error holds the input", name)
			}
		}
	}
}

func FuzzDecode(f *testing.F) {
	f.Add(`{"vim":"v","lease":"l","endpoint":"https://h","insecureSkipVerify":false,"token":"t","expiresAt":"2026-03-01T12:00:00.5+09:00"}`)
	f.Add(`{"endpoint":"h","username":"u","password":"p","caCert":"\u2028<&>"}`)
	f.Fuzz(func(t *testing.T, text string) {
		c, err := clientconfig.Decode(secret.NewText(text))
		if err != nil {
			return
		}
		again, err := c.Render(clientconfig.JSON)
		if err != nil {
			t.Fatalf("what was decoded does not render: %v", err)
		}
		same, err := clientconfig.Decode(again)
		if err != nil {
			t.Fatalf("what was rendered does not decode: %v", err)
		}
		if diff := cmp.Diff(c, same); diff != "" {
			t.Errorf("(-decoded +rendered and decoded):\n%s", diff)
		}
		if _, err := c.Render(clientconfig.Kubeconfig); err != nil {
			t.Errorf("Render(kubeconfig) = %v", err)
		}
	})
}
