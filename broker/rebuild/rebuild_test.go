package rebuild_test

import (
	"encoding/pem"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/broker/rebuild"
	"github.com/vimbroker/vimbroker/broker/strictyaml"
	"github.com/vimbroker/vimbroker/test/real/pki"
)

const maxURL = 2048

// of is a host and a path of so many bytes.
func of(n int) string { return "a.example/" + strings.Repeat("a", n-len("a.example/")) }

func TestEndpoint(t *testing.T) {
	for raw, want := range map[string]string{
		"https://a.example":            "https://a.example",
		"https://A.example:443/":       "https://a.example",
		"https://a.example:6443/p/q/":  "https://a.example:6443/p/q",
		"https://a.example:65535":      "https://a.example:65535",
		"https://[2001:DB8::0:1]:6443": "https://[2001:db8::1]:6443",
		"https://a.example/.x/..y/z..": "https://a.example/.x/..y/z..",
		"https://10.0.0.1:443":         "https://10.0.0.1",
		"https://" + of(maxURL-8):      "https://" + of(maxURL-8),

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
		"https://" + of(maxURL-7):               "",
		"https://@a.example":                    "",
		"https://::1:6443":                      "",
		"https://[a.example]":                   "",
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
	if _, err := rebuild.Endpoint("endpoint", "https:a.example", false); err == nil || err.Error() != "endpoint: has a path that is not a plain prefix" {
		t.Errorf("an endpoint without a host: %v", err)
	}
	for plain, want := range map[bool]string{false: "endpoint: must begin with https://: a credential is never sent unencrypted", true: "endpoint: must begin with https:// or http://"} {
		if _, err := rebuild.Endpoint("endpoint", "ftp://a.example", plain); err == nil || err.Error() != want {
			t.Errorf("an endpoint of another scheme, http allowed %t: %v", plain, err)
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

// A certificate and its key are taken apart and written anew; an error says which of both is at fault, and why.
func TestKeyPair(t *testing.T) {
	ca, err := pki.NewCA("lab")
	if err != nil {
		t.Fatal(err)
	}
	mine, err := ca.Client("me", nil, time.Now().Add(time.Hour))
	if err != nil {
		t.Fatal(err)
	}
	other, err := ca.Client("other", nil, time.Now().Add(time.Hour))
	if err != nil {
		t.Fatal(err)
	}
	cert, key := string(mine.Cert), string(mine.Key)
	for what, c := range map[string]struct {
		cert, key string
		keyFault  bool
		want      string
	}{
		"a pair":                  {cert, key, false, ""},
		"with its authority":      {cert + string(ca.PEM), key, false, ""},
		"with words between":      {"me:\n" + cert, "key:\n" + key + "the end\n", false, ""},
		"a certificate of none":   {"x", key, false, "is not PEM; give certificates as PEM files hold them"},
		"a key as a certificate":  {key, key, false, "PEM block 1 is no certificate"},
		"an unfinished boundary":  {cert + "-----BEGIN CERT", key, false, "holds an unfinished PEM boundary"},
		"a boundary within":       {strings.Replace(cert, "\n", "\n-----BEGIN X-----\n", 1), key, false, "PEM block 1 does not end"},
		"a block without its end": {"-----BEGIN CERTIFICATE-----\nAAAA\n", key, false, "PEM block 1 does not end"},
		"more behind a block":     {"-----BEGIN CERTIFICATE-----\nAAAA=A\n-----END CERTIFICATE-----\n", key, false, "PEM block 1 is not base64"},
		"an empty block":          {"-----BEGIN CERTIFICATE-----\n-----END CERTIFICATE-----\n", key, false, "PEM block 1 is not base64"},
		"a key of none":           {cert, "x", true, "is not PEM; give certificates as PEM files hold them"},
		"two keys":                {cert, key + key, true, "holds more than one PEM block"},
		"an encrypted key":        {cert, strings.ReplaceAll(key, "EC PRIVATE", "ENCRYPTED PRIVATE"), true, "is encrypted: give the key without a passphrase"},
		"a certificate as a key":  {cert, cert, true, "is no PEM private key (PKCS #8, PKCS #1 or SEC 1)"},
		"another's key":           {cert, string(other.Key), true, "is not the private key of the client certificate"},
	} {
		gotCert, gotKey, keyFault, err := rebuild.KeyPair(c.cert, c.key)
		if c.want != "" {
			if err == nil || err.Error() != c.want || keyFault != c.keyFault || gotCert+gotKey != "" {
				t.Errorf("%s: %q, %q, the key is at fault: %t, %v, want %q", what, gotCert, gotKey, keyFault, err, c.want)
			}
			continue
		}
		if err != nil || keyFault || gotCert != strings.TrimPrefix(c.cert, "me:\n") || gotKey != key {
			t.Errorf("%s: %q, %q, the key is at fault: %t, %v", what, gotCert, gotKey, keyFault, err)
		}
	}
}

// Of PEM 64 KiB are taken, as they come and as they are written anew.
func TestPEMHasABound(t *testing.T) {
	const bound = 64 << 10
	ca, err := pki.NewCA("lab")
	if err != nil {
		t.Fatal(err)
	}
	words := func(n int) string { return strings.Repeat(" ", n-len(ca.PEM)) + string(ca.PEM) }
	for n, want := range map[int]string{bound: "", bound + 1: "ca: is longer than 65536 bytes"} {
		got, err := rebuild.CABundle("ca", words(n))
		if want == "" && (err != nil || got != string(ca.PEM)) || want != "" && (err == nil || err.Error() != want) {
			t.Errorf("%d bytes: %q, %v, want %q", n, got, err, want)
		}
	}
	// Without line breaks text is shorter than what is written of it.
	var dense strings.Builder
	for n := 0; ; n++ {
		one, err := pki.NewCA(fmt.Sprint("lab ", n))
		if err != nil {
			t.Fatal(err)
		}
		text := strings.ReplaceAll(string(one.PEM), "\n", "")
		if dense.Len()+len(text) > bound {
			break
		}
		dense.WriteString(text)
	}
	if got, err := rebuild.CABundle("ca", dense.String()); err == nil || err.Error() != "ca: is longer than 65536 bytes" || got != "" {
		t.Errorf("%d bytes without line breaks: %d, %v", dense.Len(), len(got), err)
	}
}

func TestHostNames(t *testing.T) {
	label := strings.Repeat("a", 63)
	long := strings.Join([]string{label, label, label, label[:61]}, ".")
	for name, want := range map[string]string{
		"": "", "A.Example": "a.example", "a_b.example": "a_b.example", label: label, long: long,
		label + "a": "-", long + "a": "-", "a b": "-", "a.": "-", "10.0.0.1": "-", "a.0x7f": "-", "-a": "-", "a-": "-",
	} {
		got, err := rebuild.ServerName("serverName", name)
		if want == "-" {
			if err == nil || err.Error() != "serverName: must be a DNS name" || got != "" {
				t.Errorf("%q: %q, %v", name, got, err)
			}
			continue
		}
		if err != nil || got != want {
			t.Errorf("%q: %q, %v, want %q", name, got, err, want)
		}
	}
}

// The first fault of a document is told, with its line where there is one.
func TestTheFaultOfADocument(t *testing.T) {
	first, second := strictyaml.Defect{At: "a.b", Text: "is bad", Line: 1}, strictyaml.Defect{At: "c", Text: "is worse"}
	for want, faults := range map[string][]strictyaml.Defect{
		"<nil>": nil, "a.b: is bad (line 1)": {first, second}, "c: is worse": {second, first},
	} {
		err := rebuild.Fault(&strictyaml.Document{Faults: faults})
		if fmt.Sprint(err) != want || err != nil && !errors.Is(err, broker.ErrInvalid) {
			t.Errorf("%v, want %s", err, want)
		}
	}
}
