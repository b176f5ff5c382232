package rebuild_test

import (
	"encoding/pem"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/broker/rebuild"
	"github.com/vimbroker/vimbroker/test/real/pki"
)

func TestEndpoint(t *testing.T) {
	for raw, want := range map[string]string{
		"https://a.example":            "https://a.example",
		"https://A.example:443/":       "https://a.example",
		"https://a.example:6443/p/q/":  "https://a.example:6443/p/q",
		"https://a.example:65535":      "https://a.example:65535",
		"https://[2001:DB8::0:1]:6443": "https://[2001:db8::1]:6443",
		"https://a.example/.x/..y/z..": "https://a.example/.x/..y/z..",

		"https://a.example/p/../q":              "",
		"https://a.example/./q":                 "",
		"https://a.example/p/..":                "",
		"https://a.example//q":                  "",
		"https://a.example/%2e%2e":              "",
		"https://a.example/a b":                 "",
		"https://a.example/a%2Fb":               "",
		"https://a.09":                          "",
		"https://a.example:":                    "",
		"https://a.example:0":                   "",
		"https://a.example:0443":                "",
		"https://a.example:65536":               "",
		"https://[::1%25lo]:6443":               "",
		"https://[10.0.0.1]:6443":               "",
		"https://::1":                           "",
		"https://0x7f.1":                        "",
		"https://127.1":                         "",
		"https://a..example":                    "",
		"https://u@a.example":                   "",
		"https://a.example?":                    "",
		"https://a.example#f":                   "",
		"https:a.example":                       "",
		"http://a.example":                      "",
		"a.example":                             "",
		"":                                      "",
		"https://" + strings.Repeat("a/", 1100): "",
	} {
		got, err := rebuild.Endpoint("endpoint", raw, false)
		if got != want || (want == "") != errors.Is(err, broker.ErrInvalid) {
			t.Errorf("Endpoint(%q) = %q, %v, want %q", raw, got, err, want)
		}
	}
	for raw, want := range map[string]string{"http://a.example:80": "http://a.example", "http://a.example:443": "http://a.example:443", "ftp://a.example": ""} {
		if got, err := rebuild.Endpoint("endpoint", raw, true); got != want || (want == "") != (err != nil) {
			t.Errorf("Endpoint(%q), http allowed = %q, %v, want %q", raw, got, err, want)
		}
	}
}

func TestCABundle(t *testing.T) {
	ca, err := pki.NewCA("lab")
	if err != nil {
		t.Fatal(err)
	}
	block, _ := pem.Decode(ca.PEM)
	of := func(kind string) string {
		return string(pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: block.Bytes}))
	}
	good := of("CERTIFICATE")
	for name, c := range map[string]struct{ text, want string }{
		"one":                 {good, good},
		"twice":               {good + good, good},
		"with words between":  {"lab:\n" + good + "the end\n", good},
		"spaces for breaks":   {strings.ReplaceAll(good, "\n", " "), good},
		"none":                {" \n", ""},
		"another kind":        {of("TRUSTED CERTIFICATE"), "error"},
		"a key":               {good + of("PRIVATE KEY"), "error"},
		"no certificate":      {strings.Replace(good, "MII", "MIJ", 1), "error"},
		"with a header":       {strings.Replace(good, "-----\n", "-----\nProc-Type: 4,ENCRYPTED\n\n", 1), "error"},
		"without its end":     {good[:len(good)-20], "error"},
		"an end without more": {good + "-----END CERTIFICATE-----\n", "error"},
		"long":                {strings.Repeat(good, 129), "error"},
	} {
		got, err := rebuild.CABundle("caCert", c.text)
		if c.want == "error" && !errors.Is(err, broker.ErrInvalid) || c.want != "error" && (err != nil || got != c.want) {
			t.Errorf("CABundle of %s = %q, %v, want %q", name, got, err, c.want)
		}
	}
	if at := rebuild.CertificateExpiry(good); at.Before(time.Now()) {
		t.Errorf("CertificateExpiry = %v, want years from now", at)
	}
	if at := rebuild.CertificateExpiry("x"); !at.IsZero() {
		t.Errorf("CertificateExpiry of nothing = %v, want zero", at)
	}
}
