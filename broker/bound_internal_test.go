package broker

import (
	"reflect"
	"testing"
	"time"
)

// TestEveryFieldOfAGenerationIsBound fails where a field is left out of the digest
// under which a credential is sealed.
func TestEveryFieldOfAGenerationIsBound(t *testing.T) {
	unbound := map[string]bool{"Sealed": true, "SealedAs": true, "Key": true, "KeyStore": true}
	base := Generation{Discovered: Discovered{Cloud: &Cloud{}}}
	before := boundDigest("kubernetes", base)
	if boundDigest("openstack", base) == before {
		t.Error("the type of the VIM is not bound")
	}
	var walk func(v reflect.Value, path string)
	changed := base
	walk = func(v reflect.Value, path string) {
		if v.Type() == reflect.TypeFor[time.Time]() {
			v.Set(reflect.ValueOf(time.UnixMicro(1)))
		} else {
			switch v.Kind() {
			case reflect.Pointer:
				v.Set(reflect.New(v.Type().Elem()))
				walk(v.Elem(), path)
				return
			case reflect.Struct:
				for i := range v.NumField() {
					if name := v.Type().Field(i).Name; !unbound[name] {
						walk(v.Field(i), path+"."+name)
					}
				}
				return
			case reflect.String:
				v.SetString("x")
			case reflect.Bool:
				v.SetBool(true)
			case reflect.Int, reflect.Int64:
				v.SetInt(7)
			case reflect.Slice:
				v.Set(reflect.MakeSlice(v.Type(), 1, 1))
				if v.Type().Elem().Kind() == reflect.String {
					v.Index(0).SetString("x")
				} else {
					walk(v.Index(0), path+"[0]")
					return
				}
			case reflect.Map:
				v.Set(reflect.ValueOf(map[string]string{"x": "x"}))
			default:
				t.Fatalf("%s is a %s: say here how it is changed", path, v.Kind())
			}
		}
		now := boundDigest("kubernetes", changed)
		if now == before {
			t.Errorf("%s is not bound: a row in which it was changed would open", path)
		}
		before = now
	}
	for i := range reflect.TypeFor[Generation]().NumField() {
		name := reflect.TypeFor[Generation]().Field(i).Name
		if !unbound[name] {
			walk(reflect.ValueOf(&changed).Elem().Field(i), name)
		}
	}
}

// TestTheBoundDigestStays: were it to change, no VIM that is stored would open.
func TestTheBoundDigestStays(t *testing.T) {
	g := Generation{
		Number: 3, Identity: "uid", CredentialKind: CredentialBearerToken, Username: "u", CredentialExpiresAt: time.UnixMicro(1_700_000_000_000_000),
		Target:     Target{Endpoint: "https://vim:6443", CACert: "pem", ServerName: "kubernetes", Namespace: "cnf", Scope: Scope{Region: "R"}},
		Discovered: Discovered{Regions: []string{"a", "b"}},
	}
	const want = "8956c2a80dae3224e8301c528c74cb2cab7d9407b062f48c04b537fd9b12421b"
	if got := boundDigest("kubernetes", g); got != want {
		t.Errorf("boundDigest = %s, want %s as it always was", got, want)
	}
}

// TestEmptyValuesAreBound: a cloud whose openings nobody asked about, one that has none, and one with an opening that
// needs no reason make leases of different grades.
func TestEmptyValuesAreBound(t *testing.T) {
	seen := map[string]int{}
	for i, openings := range []map[string]string{nil, {}, {"trusts": ""}, {"trusts": "", "impersonation": ""}} {
		g := Generation{Discovered: Discovered{Cloud: &Cloud{Openings: openings}}}
		digest := boundDigest("openstack", g)
		if other, twice := seen[digest]; twice {
			t.Errorf("openings %d (%v) and %d have one digest: a row in which one became the other would open", i, openings, other)
		}
		seen[digest] = i
	}
}
