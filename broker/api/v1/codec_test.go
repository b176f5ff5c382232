package v1_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	v1 "github.com/vimbroker/vimbroker/broker/api/v1"
	"github.com/vimbroker/vimbroker/broker/secret"
)

// canary is longer than any name that a fault repeats.
const canary = "canary-5e11-secret-value-that-is-no-name"

// full is a registration with every field set.
func full() v1.Registration {
	text := secret.NewText(canary)
	return v1.Registration{
		Name: "core-1", Type: "kubernetes", Endpoint: "https://k8s.example:6443", CACert: "pem", InsecureSkipVerify: true, Namespace: "apps",
		Region: "r", Project: "p", Domain: "d",
		Credential: v1.Credential{
			Token: text, ClientCertificate: "pem", ClientKey: text, Username: "u", Password: text,
			ApplicationCredentialID: "id", ApplicationCredentialSecret: text,
		},
		Kubeconfig: text, Context: "c", CloudsYAML: text, Cloud: "one",
		Labels: map[string]string{"site": "north"}, Shared: true, Default: true,
	}
}

func encode(t testing.TB, v any) string {
	t.Helper()
	var b bytes.Buffer
	if err := v1.Encode(&b, v); err != nil {
		t.Fatalf("Encode(%T) = %v", v, err)
	}
	return b.String()
}

func TestEncodeThenDecodeIsTheSame(t *testing.T) {
	var got v1.Registration
	if err := v1.Decode([]byte(encode(t, full())), &got); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(full(), got); diff != "" {
		t.Errorf("Decode(Encode(registration)) (-want +got):\n%s", diff)
	}
	no := false
	change := v1.Change{Labels: map[string]*string{"gone": nil}, Shared: &no, Credential: v1.Credential{Token: secret.NewText(canary)}}
	var changed v1.Change
	if err := v1.Decode([]byte(encode(t, change)), &changed); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(change, changed); diff != "" {
		t.Errorf("Decode(Encode(change)) (-want +got):\n%s", diff)
	}
}

func TestOnlyEncodeRevealsSecrets(t *testing.T) {
	l := v1.IssuedLease{ClientConfig: v1.ClientConfig{Text: secret.NewText(canary)}}
	for _, v := range []any{full(), l, &l, v1.Rotation{Credential: full().Credential}} {
		if !strings.Contains(encode(t, v), canary) {
			t.Errorf("Encode(%T) does not send the secret", v)
		}
		printed := fmt.Sprintf("%v %+v %#v", v, v, v)
		marshalled, _ := json.Marshal(v)
		if strings.Contains(printed+string(marshalled), canary) {
			t.Errorf("%T prints its secret", v)
		}
	}
}

func TestNothingToSayIsLeftOut(t *testing.T) {
	if got := encode(t, v1.Registration{Name: "x"}); got != `{"name":"x"}` {
		t.Errorf("a registration of a name is %s", got)
	}
	if got := encode(t, v1.Change{}); got != `{}` {
		t.Errorf("a change of nothing is %s", got)
	}
	if got := encode(t, v1.IssuedLease{}); strings.Contains(got, "0001") || strings.Contains(got, "clientConfig") || !strings.Contains(got, `"namespaces":[]`) {
		t.Errorf("an empty lease is %s", got)
	}
	if got := encode(t, v1.List[v1.VIM]{}); got != `{"items":[],"nextPageToken":""}` {
		t.Errorf("an empty list is %s", got)
	}
}

func TestClientConfigIsAStringOrAnObject(t *testing.T) {
	for wire, want := range map[string]v1.ClientConfig{
		`"apiVersion: v1\n"`: {Text: secret.NewText("apiVersion: v1\n")},
		`"{}"`:               {Text: secret.NewText("{}")},
		`{"token":"t"}`:      {Text: secret.NewText(`{"token":"t"}`), Object: true},
	} {
		var l v1.IssuedLease
		if err := v1.DecodeAnswer([]byte(`{"clientConfig":`+wire+`}`), &l); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, l.ClientConfig); diff != "" {
			t.Errorf("%s (-want +got):\n%s", wire, diff)
		}
		if got := encode(t, l); !strings.Contains(got, `"clientConfig":`+wire) {
			t.Errorf("%s comes out as %s", wire, got)
		}
	}
	for _, wire := range []string{`[17]`, `{"token":`, `"apiVersion`, "\"\xff\"", `7`} {
		var l v1.IssuedLease
		if err := v1.DecodeAnswer([]byte(`{"clientConfig":`+wire+`}`), &l); err == nil || !l.ClientConfig.Text.Empty() {
			t.Errorf("%s is taken for a client configuration: %v", wire, err)
		}
	}
	for what, c := range map[string]v1.ClientConfig{
		"an object that is none": {Text: secret.NewText(canary), Object: true}, "half an object": {Text: secret.NewText(`{"token":"` + canary), Object: true},
	} {
		var b bytes.Buffer
		if err := v1.Encode(&b, v1.IssuedLease{ClientConfig: c}); err == nil || strings.Contains(err.Error(), canary) {
			t.Errorf("%s is written: %v", what, err)
		}
	}
}

func TestDecodeAnswerOutlivesTheNextRelease(t *testing.T) {
	var v v1.VIM
	if err := v1.DecodeAnswer([]byte(`{"name":"x","colour":"red","createdAt":"2026-03-01T12:00:00Z"}`), &v); err != nil {
		t.Fatal(err)
	}
	if v.Name != "x" || !v.CreatedAt.Equal(time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)) {
		t.Errorf("DecodeAnswer() = %+v", v)
	}
}

func TestFaultsNameTheField(t *testing.T) {
	for body, want := range map[string]v1.FieldError{
		`{"name":17}`:                           {Field: "name", Message: "must be a string"},
		`{"shared":"yes"}`:                      {Field: "shared", Message: "must be true or false"},
		`{"labels":[]}`:                         {Field: "labels", Message: "must be an object"},
		`{"labels":{"a":1}}`:                    {Field: "labels.a", Message: "must be a string"},
		`{"credential":{"token":17}}`:           {Field: "credential.token", Message: "must be a string"},
		`{"credential":[]}`:                     {Field: "credential", Message: "must be an object"},
		`{"credential":null}`:                   {Field: "credential", Message: "must not be null"},
		`{"colour":1}`:                          {Field: "colour", Message: "unknown field"},
		`{"name":"a","name":"b"}`:               {Field: "name", Message: "is given twice"},
		`{"labels":{"a":"1","a":"2"}}`:          {Field: "labels.a", Message: "is given twice"},
		`{"labels":{"a":null}}`:                 {Field: "labels.a", Message: "must not be null"},
		`{"` + strings.Repeat("x", 40) + `":1}`: {Field: "?", Message: "unknown field"},
		`{"two words":1}`:                       {Field: "?", Message: "unknown field"},
		"{\"name\":\"\xff\"}":                   {Field: "name", Message: "not valid JSON", Syntax: true},
		`{"name":`:                              {Field: "name", Message: "not valid JSON", Syntax: true},
		`{}{}`:                                  {Message: "not valid JSON", Syntax: true},
		``:                                      {Message: "not valid JSON", Syntax: true},
		`{"kubeconfig":"[secret]"}`:             {Field: "kubeconfig", Message: `secret is the placeholder "[secret]", not a value`},
		strings.Repeat(`{"labels":`, 20000):     {Message: "nests too deeply"},
	} {
		var r v1.Registration
		err := v1.Decode([]byte(body), &r)
		var got *v1.FieldError
		if !errors.As(err, &got) {
			t.Errorf("Decode(%.60s) = %v, want a field error", body, err)
			continue
		}
		if *got != want {
			t.Errorf("Decode(%.60s) = %.200v, want %.200v", body, *got, want)
		}
	}
	var c v1.Change
	if err := v1.Decode([]byte(`{"labels":{"a":null}}`), &c); err != nil || len(c.Labels) != 1 {
		t.Errorf("null does not remove a label: %v, %v", c.Labels, err)
	}
	if err := v1.Decode([]byte(`{"labels":null}`), &c); err == nil {
		t.Error("null removes all labels")
	}
}

// Whatever arrives, what is decoded encodes to the same again, and what is
// refused brings no value back.
func FuzzDecode(f *testing.F) {
	f.Add(encode(f, full()))
	for _, body := range []string{
		`{"credential":{"token":"CANARY"}}`, `{"credential":{"token":["CANARY"]}}`, `{"credential":{"token":"CANARY`, `{"name":"CANARY","x":1}`,
		`{"labels":{"a":"CANARY","a":"b"}}`, `"CANARY"`, `CANARY`, `{"kubeconfig":"CANARY"} CANARY`, `{"credential":{"password":{"v":"CANARY"}}}`,
	} {
		f.Add(strings.ReplaceAll(body, "CANARY", canary))
	}
	f.Fuzz(func(t *testing.T, body string) {
		var r v1.Registration
		if err := v1.Decode([]byte(body), &r); err != nil {
			var fault *v1.FieldError
			if !errors.As(err, &fault) {
				t.Fatalf("Decode() = %T, want a field error", err)
			}
			if strings.Contains(err.Error(), canary) {
				t.Fatalf("Decode() = %v", err)
			}
			return
		}
		wire := encode(t, r)
		var again v1.Registration
		if err := v1.Decode([]byte(wire), &again); err != nil {
			t.Fatalf("Decode(Encode(r)) = %v", err)
		}
		if got := encode(t, again); got != wire {
			t.Fatalf("Encode(Decode(Encode(r))) is another text")
		}
		var c v1.Change
		_ = v1.Decode([]byte(body), &c)
	})
}

// An empty text is a value: it clears what is there.
func TestAChangeCanClear(t *testing.T) {
	empty := ""
	change := v1.Change{Description: &empty, CACert: &empty, ServerName: &empty, Namespace: &empty}
	if got, want := encode(t, change), `{"description":"","caCert":"","serverName":"","namespace":""}`; got != want {
		t.Errorf("a change that clears is sent as %s, want %s", got, want)
	}
}
