package secret_test

import (
	"encoding/json"
	"encoding/xml"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"github.com/vimbroker/vimbroker/broker/secret"
)

type body struct {
	Token secret.Text `json:"token" yaml:"token"`
}

func TestTextDecodes(t *testing.T) {
	for _, tc := range []struct{ format, in, want string }{
		{"json", `{"token": "canary-3f9a1c77"}`, canary},
		{"json", `{"token": "a\nb\u00e4\"\\\/"}`, "a\nbä\"\\/"},
		{"json", `{"token": ""}`, ""},
		{"json", `{}`, ""},
		{"yaml", `token: canary-3f9a1c77`, canary},
		{"yaml", "token: |\n  a\n  b\n", "a\nb\n"},
		{"yaml", `token: "0123"`, "0123"},
		{"yaml", `token: !!str 0123`, "0123"},
		{"yaml", `token: ""`, ""},
		{"yaml", `other: 1`, ""},
		{"xml", `<body><Token>canary-3f9a1c77</Token></body>`, canary},
	} {
		var got body
		if err := decoders[tc.format]([]byte(tc.in), &got); err != nil {
			t.Errorf("%s %s: %v", tc.format, tc.in, err)
		} else if got.Token.Reveal() != tc.want {
			t.Errorf("%s %s = %q, want %q", tc.format, tc.in, got.Token.Reveal(), tc.want)
		}
	}
}

func TestTextDecodesStringsOnlyAndErrorsQuoteNothing(t *testing.T) {
	for _, tc := range []struct{ format, in string }{
		{"json", `{"token": 73973973}`},
		{"json", `{"token": null}`},
		{"json", `{"token": true}`},
		{"json", `{"token": ["canary-3f9a1c77"]}`},
		{"json", `{"token": {"canary-3f9a1c77": "canary-3f9a1c77"}}`},
		{"json", `{"token": "[secret]"}`},
		{"json", "{\"token\": \"canary-3f9a1c77\xff\"}"},
		{"json", `{"token": "canary-3f9a1c77\ud800"}`},
		{"yaml", `token: 73973973`},
		{"yaml", `token: 0123`},
		{"yaml", `token: 2020-01-01`},
		{"yaml", `token: [canary-3f9a1c77]`},
		{"yaml", `token: {canary-3f9a1c77: canary-3f9a1c77}`},
		{"yaml", `token: !!binary Y2FuYXJ5LTNmOWExYzc3`},
		{"yaml", `token: !custom canary-3f9a1c77`},
		{"yaml", `token: !!str [canary-3f9a1c77]`},
		{"yaml", `token: !!str {canary-3f9a1c77: canary-3f9a1c77}`},
		{"yaml", `token: "[secret]"`},
		{"xml", `<body><Token>[secret]</Token></body>`},
	} {
		got := body{Token: secret.NewText("before")}
		err := decoders[tc.format]([]byte(tc.in), &got)
		if err == nil {
			t.Errorf("%s %s = nil, want an error", tc.format, tc.in)
			continue
		}
		for _, s := range append(spellings, "73973973", "0123", "2020") {
			if strings.Contains(err.Error(), s) {
				t.Errorf("%s %s: the error quotes the input: %v", tc.format, tc.in, err)
			}
		}
		if got.Token.Reveal() != "before" {
			t.Errorf("%s %s: the text was changed though decoding erred", tc.format, tc.in)
		}
	}
}

// Text that is no UTF-8 is taken from nobody.
func TestTextIsUTF8(t *testing.T) {
	for plain, want := range map[string]string{"bä": "", "b\xff": "secret must be valid UTF-8", "[secret]": `secret is the placeholder "[secret]", not a value`} {
		text := secret.NewText("before")
		err := text.UnmarshalText([]byte(plain))
		if want == "" && (err != nil || text.Reveal() != plain) || want != "" && (err == nil || err.Error() != want || text.Reveal() != "before") {
			t.Errorf("%q: %q, %v", plain, text.Reveal(), err)
		}
	}
}

var decoders = map[string]func([]byte, any) error{
	"json": json.Unmarshal,
	"yaml": yaml.Unmarshal,
	"xml":  xml.Unmarshal,
}

// FuzzTextUnmarshalJSON: whatever decodes is exactly the string that JSON
// spelled, and no error quotes the input.
func FuzzTextUnmarshalJSON(f *testing.F) {
	for _, seed := range []string{`"a"`, `""`, `null`, `1`, `"\u0000"`, `"\ud83d\ude00"`, `"[secret]"`, "\"\xff\"", `"abcdefgh`, ` "x" `} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		var text secret.Text
		err := text.UnmarshalJSON(data)
		if err != nil {
			if !text.Empty() {
				t.Error("decoding erred and set the text")
			}
			if len(data) > 60 && strings.Contains(err.Error(), string(data[1:len(data)-1])) {
				t.Error("the error quotes the input")
			}
			return
		}
		again, err := json.Marshal(text.Reveal())
		if err != nil {
			t.Fatal(err)
		}
		var back secret.Text
		if err := back.UnmarshalJSON(again); err != nil || !back.Equal(text) {
			t.Errorf("the text does not survive another round: %v", err)
		}
	})
}
