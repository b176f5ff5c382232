package oauth

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"

	"github.com/vimbroker/vimbroker/broker"
)

// fieldOf is the field of an error of a kind; "no error" for none.
func fieldOf(err, kind error) string {
	e, known := errors.AsType[*broker.Error](err)
	switch {
	case err == nil:
		return ""
	case !known || e.Kind != kind:
		return "of another kind: " + err.Error()
	}
	return e.Field
}

func key(t *testing.T) *ecdsa.PrivateKey {
	t.Helper()
	made, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return made
}

// A set of keys has one to eight public keys that sign, each with an id of its own.
func TestWhichSetsOfKeysAreTaken(t *testing.T) {
	made := key(t)
	set := func(n int, change func(*jose.JSONWebKey)) string {
		var all jose.JSONWebKeySet
		for i := range n {
			k := jose.JSONWebKey{Key: &made.PublicKey, KeyID: fmt.Sprint("k", i)}
			change(&k)
			all.Keys = append(all.Keys, k)
		}
		text, err := json.Marshal(all)
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	same := func(*jose.JSONWebKey) {}
	pad := func(n int) string {
		text := set(1, same)
		return text + strings.Repeat(" ", n-len(text))
	}
	broken := strings.Replace(set(1, same), `"x":"`, `"x":"AAAA`, 1)
	for what, c := range map[string]struct {
		text string
		want bool
	}{
		"one": {set(1, same), true}, "eight": {set(8, same), true}, "nine": {set(9, same), false}, "none": {`{"keys":[]}`, false}, "no JSON": {"x", false},
		"one that signs": {set(1, func(k *jose.JSONWebKey) { k.Use = "sig" }), true}, "one that encrypts": {set(1, func(k *jose.JSONWebKey) { k.Use = "enc" }), false},
		"one without an id":    {set(1, func(k *jose.JSONWebKey) { k.KeyID = "" }), false},
		"two of an id":         {set(2, func(k *jose.JSONWebKey) { k.KeyID = "k" }), false},
		"a private one":        {set(1, func(k *jose.JSONWebKey) { k.Key = made }), false},
		"keys twice":           {strings.TrimSuffix(set(1, same), "}") + `,"keys":7}`, false},
		"one of no exponent":   {`{"keys":[{"kty":"RSA","kid":"k","n":"AQAB","e":"AA"}]}`, false},
		"one that is no point": {broken, false}, "the largest": {pad(maxKeySet), true}, "too large": {pad(maxKeySet + 1), false},
	} {
		keys, err := publicKeys(c.text)
		if (err == nil) != c.want || !c.want && fieldOf(err, broker.ErrInvalid) != "certificate" || c.want && len(keys) == 0 {
			t.Errorf("%s: %d keys, %v", what, len(keys), err)
		}
	}
}

// A certificate is named by one kind of name, in its form.
func TestNamesOfCertificates(t *testing.T) {
	long := func(n int) string { return strings.Repeat("a", n) }
	for _, c := range []struct {
		c    Certificate
		want bool
	}{
		{Certificate{SANDNS, "host"}, true},
		{Certificate{SANDNS, long(maxCertificateName)}, true},
		{Certificate{SANDNS, long(maxCertificateName + 1)}, false},
		{Certificate{SANDNS, ""}, false},
		{Certificate{SANDNS, "a\tb"}, false},
		{Certificate{SANEmail, "a@b"}, true},
		{Certificate{SANURI, "spiffe://a/b"}, true},
		{Certificate{SANURI, "a/b"}, false},
		{Certificate{SANURI, "%zz://"}, false},
		{Certificate{SANIP, "10.0.0.1"}, true},
		{Certificate{SANIP, "10.0.0"}, false},
		{Certificate{SubjectDN, "CN=a,O=b"}, true},
		{Certificate{SubjectDN, "CN=a, O=b"}, false},
		{Certificate{"x", "a"}, false},
		{Certificate{JWKS, "x"}, false},
	} {
		if err := c.c.check(); (err == nil) != c.want || !c.want && fieldOf(err, broker.ErrInvalid) != "certificate" {
			t.Errorf("%.40v: %v", c.c, err)
		}
	}
	leaf := &x509.Certificate{IPAddresses: []net.IP{{1, 2}, net.ParseIP("10.0.0.1")}}
	for _, c := range []struct {
		c    Certificate
		want bool
	}{
		{Certificate{SANIP, "10.0.0.1"}, true},
		{Certificate{SANIP, "::ffff:10.0.0.1"}, true},
		{Certificate{SANIP, "10.0.0.2"}, false},
		{Certificate{SANIP, ""}, false},
		{Certificate{SubjectDN, ""}, false},
		{Certificate{"x", "10.0.0.1"}, false},
		{Certificate{JWKS, "10.0.0.1"}, false},
	} {
		if got := c.c.names(leaf); got != c.want {
			t.Errorf("%v names the certificate: %v", c.c, got)
		}
	}
	for what, raw := range map[string][]byte{"no subject": nil, "no name": {1}, "more than one": {0x30, 0, 0x30, 0}} {
		if got := Subject(&x509.Certificate{RawSubject: raw}); got != "" {
			t.Errorf("%s is %q", what, got)
		}
	}
}

// What a client's placements may say.
func TestWhatAPlacementSays(t *testing.T) {
	members := func(n int) map[string]string {
		all := map[string]string{}
		for i := range n {
			all[fmt.Sprint(i)] = "v"
		}
		return all
	}
	long := func(n int) string { return strings.Repeat("a", n) }
	for _, c := range []struct {
		p     Placement
		field string
	}{
		{Placement{}, ""},
		{Placement{Parameters: members(maxMembers)}, ""},
		{Placement{Parameters: members(maxMembers + 1)}, "parameters"},
		{Placement{Images: map[string]string{"": "v"}}, "images"},
		{Placement{Links: map[string]string{"a\tb": "v"}}, "links"},
		{Placement{Flavours: map[string]string{"n": "a\tb"}}, "flavours"},
		{Placement{Zone: long(maxWord)}, ""},
		{Placement{Zone: long(maxWord + 1)}, "zone"},
		{Placement{Role: "a\tb"}, "role"},
		{Placement{VNFD: "["}, "vnfd"},
		{Placement{Parameters: map[string]string{"a": "["}}, "vnfd"},
		{Placement{Grade: broker.GradeBounded}, ""},
		{Placement{Grade: "x"}, "grade"},
		{Placement{Profile: "x"}, "profile"},
		{Placement{TTL: 0}, ""},
		{Placement{TTL: -1}, "ttl"},
	} {
		if err := c.p.check(); fieldOf(err, broker.ErrInvalid) != c.field {
			t.Errorf("%.80v: %v, want an error about %q", c.p, err, c.field)
		}
	}
	ask := Ask{VNFD: "vnfd-1", Instance: "i", Parameters: map[string]string{"site": "north"}}
	for _, c := range []struct {
		p    Placement
		want bool
	}{
		{Placement{}, true},
		{Placement{VNFD: "vnfd-*"}, true},
		{Placement{VNFD: "other"}, false},
		{Placement{VNFD: "["}, false},
		{Placement{Instance: "i"}, true},
		{Placement{Instance: "j"}, false},
		{Placement{Parameters: map[string]string{"site": "n*"}}, true},
		{Placement{Parameters: map[string]string{"site": "s*"}}, false},
		{Placement{Parameters: map[string]string{"zone": "*"}}, false},
		{Placement{Parameters: map[string]string{"site": "["}}, false},
		// Each of what it says has to match, beside whatever else does.
		{Placement{VNFD: "vnfd-1", Instance: "i", Parameters: map[string]string{"site": "north"}}, true},
		{Placement{VNFD: "other", Instance: "i", Parameters: map[string]string{"site": "north"}}, false},
		{Placement{VNFD: "vnfd-1", Instance: "j", Parameters: map[string]string{"site": "north"}}, false},
		{Placement{VNFD: "vnfd-1", Instance: "i", Parameters: map[string]string{"site": "south"}}, false},
		{Placement{VNFD: "vnfd-1", Instance: "i", Parameters: map[string]string{"site": "north", "zone": "*"}}, false},
		{Placement{VNFD: "vnfd-1", Instance: "j"}, false},
		{Placement{Instance: "j", Parameters: map[string]string{"site": "north"}}, false},
	} {
		if _, got := (Client{Placements: []Placement{c.p}}).Place(ask); got != c.want {
			t.Errorf("%v matches: %v", c.p, got)
		}
	}
	for _, c := range []struct {
		most, is broker.Grade
		want     bool
	}{
		{"", broker.GradeUnbounded, false},
		{broker.GradeNamespaces, broker.GradeBounded, false},
		{broker.GradeNamespaces, broker.GradeNamespaces, false},
		{broker.GradeNamespaces, broker.GradeUnbounded, true},
		{broker.GradeUnbounded, "x", true},
		{broker.GradeBounded, "", true},
	} {
		if got := (Placement{Grade: c.most}).exceeds(c.is); got != c.want {
			t.Errorf("%q exceeds %q: %v", c.is, c.most, got)
		}
	}
	for p, want := range map[Lending][2]bool{"": {true, true}, OIDC: {true, true}, Token: {false, false}, User: {false, true}, PassThrough: {false, true}} {
		if p.Fetches() != want[0] || p.Stands() != want[1] {
			t.Errorf("%q fetches %v, stands %v", p, p.Fetches(), p.Stands())
		}
	}
	for want, all := range map[string][]Placement{"none": nil, "(default),a": {{VIM: "a"}, {}, {VIM: "a"}}} {
		if got := placed(all); got != want {
			t.Errorf("%v are on %q", all, got)
		}
	}
	if got := values(map[string]string{"a": "x", "b": "y"}); !slices.Contains(got, "x") || !slices.Contains(got, "y") || len(got) != 2 {
		t.Errorf("values = %q", got)
	}
}

func TestWhatANewClientMayBe(t *testing.T) {
	many := func(n int) []string { return slices.Repeat([]string{"vnfm"}, n) }
	for _, c := range []struct {
		r     NewClient
		field string
	}{
		{NewClient{Name: "n", Project: "p", Roles: many(1)}, ""},
		{NewClient{Name: "n", Project: "p", Roles: many(maxRoles)}, ""},
		{NewClient{Name: "n", Project: "p", Roles: many(maxRoles + 1)}, "roles"},
		{NewClient{Name: "n", Project: "p"}, "roles"},
		{NewClient{Name: "a b", Project: "p", Roles: many(1)}, "name"},
		{NewClient{Name: "n", Project: "a b", Roles: many(1)}, "project"},
		{NewClient{Name: "n", Project: "p", Roles: []string{"a b"}}, "roles"},
		{NewClient{Name: "n", Project: "p", Roles: []string{"system"}}, "roles"},
	} {
		if err := c.r.check(); fieldOf(err, broker.ErrInvalid) != c.field {
			t.Errorf("%.80v: %v, want an error about %q", c.r, err, c.field)
		}
	}
	for _, c := range []struct {
		r     Rotation
		want  time.Duration
		field string
	}{
		{Rotation{}, DefaultOverlap, ""},
		{Rotation{RevokeLeases: true}, 0, ""},
		{Rotation{Overlap: new(MaxOverlap)}, MaxOverlap, ""},
		{Rotation{Overlap: new(MaxOverlap + 1)}, 0, "overlap"},
		{Rotation{Overlap: new(time.Duration(-1))}, 0, "overlap"},
		{Rotation{Overlap: new(time.Duration(0)), RevokeLeases: true}, 0, ""},
		{Rotation{Overlap: new(time.Duration(1)), RevokeLeases: true}, 0, "overlap"},
	} {
		if got, err := c.r.overlap(); got != c.want || fieldOf(err, broker.ErrInvalid) != c.field {
			t.Errorf("%v: %v, %v", c.r, got, err)
		}
	}
	for text, want := range map[string]string{"": "", "12345678901": "", "123456789012": "123456789012", "1234567890123": "123456789012"} {
		if got := secretID(text); got != want {
			t.Errorf("the id of %q is %q", text, got)
		}
	}
}
