package v1

import (
	"bytes"
	"errors"
	"io"
	"reflect"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/vimbroker/vimbroker/broker/secret"
)

// MediaType is that of every body but a [Problem].
const MediaType = "application/json"

var (
	// plaintext writes secrets out; only Encode may.
	plaintext = json.WithMarshalers(json.JoinMarshalers(
		json.MarshalToFunc(func(e *jsontext.Encoder, t secret.Text) error {
			return e.WriteToken(jsontext.String(t.Reveal()))
		}),
		json.MarshalToFunc(writeConfig),
	))
	sealing = json.WithUnmarshalers(json.JoinUnmarshalers(
		json.UnmarshalFromFunc(readText),
		json.UnmarshalFromFunc(readConfig),
	))
)

// Encode writes v as JSON with its secrets in plain text: what goes over the
// wire, or to the person who asked for the credential. An error holds none.
func Encode(w io.Writer, v any) error {
	if err := json.MarshalWrite(w, v, plaintext, json.Deterministic(true)); err != nil {
		// The library's text can quote the value it was writing.
		return errors.New("encoding a " + reflect.TypeOf(v).String())
	}
	return nil
}

// Decode reads a request body strictly into v: one JSON value and nothing behind
// it, no unknown field, no field twice, names in their exact case, no null
// but where the type takes one. What is wrong comes as a [*FieldError], which
// names the field and never holds its value.
func Decode(data []byte, v any) error {
	if err := scan(data, v); err != nil {
		return err
	}
	return asFieldError(json.Unmarshal(data, v, sealing, json.RejectUnknownMembers(true)))
}

// DecodeAnswer reads an answer into v. Fields that this version does not know
// are ignored, so that a client outlives its server's next release.
func DecodeAnswer(data []byte, v any) error {
	return asFieldError(json.Unmarshal(data, v, sealing))
}

// readText takes a JSON string and nothing else.
func readText(d *jsontext.Decoder, t *secret.Text) error {
	var s string
	if err := json.UnmarshalDecode(d, &s); err != nil {
		return err
	}
	if err := t.UnmarshalText([]byte(s)); err != nil {
		return refused{err}
	}
	return nil
}

// refused is an error whose text is our own and holds no input.
type refused struct{ error }

// nullable is implemented by requests in which null may stand somewhere.
type nullable interface{ takesNull(jsontext.Pointer) bool }

// takesNull: null is a value in extra.
func (*Registration) takesNull(p jsontext.Pointer) bool { return inExtra(p) }

// takesNull: null removes a label, or a member of extra.
func (*Change) takesNull(p jsontext.Pointer) bool {
	return p.Parent() == "/labels" || inExtra(p)
}

func inExtra(p jsontext.Pointer) bool { return strings.HasPrefix(string(p), "/extra/") }

// deepest is how far a request may nest: none of ours goes further than four.
const deepest = 16

// scan refuses what decoding would take without a word or at too high a price:
// null where v gives it no meaning, which would pass for an absent field, and
// nesting without end. Bad syntax is left for the decoder to report.
func scan(data []byte, v any) error {
	takes, _ := v.(nullable)
	d := jsontext.NewDecoder(bytes.NewBuffer(data))
	for {
		t, err := d.ReadToken()
		if err != nil {
			return nil
		}
		if d.StackDepth() > deepest {
			return &FieldError{Message: "nests too deeply"}
		}
		if t.Kind() != 'n' {
			continue
		}
		if p := d.StackPointer(); takes == nil || !takes.takesNull(p) {
			return &FieldError{Field: dotted(p), Message: "must not be null"}
		}
	}
}
