package secret_test

import (
	"strings"
	"testing"

	"github.com/vimbroker/vimbroker/broker/secret"
)

// A credential comes back as it was packed, and is empty where it holds nothing that a VIM takes.
func TestACredentialIsPacked(t *testing.T) {
	text := secret.NewText("x")
	for what, c := range map[string]struct {
		is    secret.Credential
		empty bool
	}{
		"nothing": {secret.Credential{}, true}, "a kind": {secret.Credential{Kind: "k"}, true}, "a user's id": {secret.Credential{UserID: "x"}, true},
		"the secret of a lease": {secret.Credential{LeaseSecret: text}, true}, "all that is none": {secret.Credential{Kind: "k", UserID: "x", LeaseSecret: text}, true},
		"a token": {secret.Credential{Token: text}, false}, "a certificate": {secret.Credential{ClientCertificate: "x"}, false}, "a key": {secret.Credential{ClientKey: text}, false},
		"a user": {secret.Credential{Username: "x"}, false}, "a password": {secret.Credential{Password: text}, false},
		"an application credential": {secret.Credential{ApplicationCredentialID: "x"}, false}, "its secret": {secret.Credential{ApplicationCredentialSecret: text}, false},
	} {
		if c.is.Empty() != c.empty {
			t.Errorf("%s is empty: %v", what, !c.empty)
		}
		packed, err := c.is.Pack()
		if err != nil {
			t.Fatal(err)
		}
		if back, err := secret.Unpack(packed); err != nil || back.Reveal() != c.is.Reveal() {
			t.Errorf("%s comes back as %+v, %v", what, back, err)
		}
	}
	if back, err := secret.Unpack(secret.NewText("{no JSON")); err == nil || !back.Empty() || strings.Contains(err.Error(), "no JSON") {
		t.Errorf("what is no credential: %v", err)
	}
}

// A version tells a key from the owner's others, and only what was made here names an owner.
func TestVersionsOfKeys(t *testing.T) {
	const id, random = "0b8a1d5e-5a3f-4f83-9a36-1d5f5f0f7c11", "00112233445566778899aabbccddeeff"
	for what, owner := range map[string]secret.Owner{
		"no id": {Generation: 1}, "another spelling": {ID: strings.ToUpper(id), Generation: 1}, "no generation": {ID: id}, "a negative one": {ID: id, Generation: -1},
	} {
		if version, err := owner.NewVersion(); err == nil || version != "" {
			t.Errorf("%s: %q, %v", what, version, err)
		}
	}
	for _, generation := range []int64{1, 12} {
		owner := secret.Owner{ID: id, Generation: generation}
		version, err := owner.NewVersion()
		if back, made := secret.OwnerOf(id, version); err != nil || !made || back != owner {
			t.Errorf("%+v comes back as %+v, %v, %v", owner, back, made, err)
		}
	}
	if _, made := secret.OwnerOf(id, "1."+random); !made {
		t.Error("a version names no owner")
	}
	for _, version := range []string{
		"", "1", "." + random, "0." + random, "-1." + random, "01." + random, "+1." + random, "x." + random, "99999999999999999999." + random, "1.",
		"1." + random[:30], "1." + random + "00", "1." + strings.ToUpper(random), "1." + random[:31] + "x", "1." + random + ".2",
	} {
		if owner, made := secret.OwnerOf(id, version); made || owner != (secret.Owner{}) {
			t.Errorf("%q names %+v", version, owner)
		}
	}
	for _, other := range []string{"", "x", strings.ToUpper(id), "{" + id + "}", "urn:uuid:" + id, strings.ReplaceAll(id, "-", "")} {
		if _, made := secret.OwnerOf(other, "1."+random); made || secret.IsID(other) {
			t.Errorf("%q is an id", other)
		}
	}
}
