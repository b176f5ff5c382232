// Package codec reads and writes the JSON bodies of every door: strictly or tolerant of
// unknown fields, with secrets as [secret.Text], and with errors that hold no value.
//
// It uses github.com/go-json-experiment/json, because that library refuses repeated
// names and invalid UTF-8, matches names in their exact case, and says where a text is
// wrong without a second parse; encoding/json does none of this.
package codec

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

// MediaType is that of JSON.
const MediaType = "application/json"

// MaxDepth is the greatest depth of a request. The deepest body of any door needs six
// levels.
const MaxDepth = 16

// Codec reads and writes JSON. The zero Codec knows secrets; a package whose types have
// two forms on the wire adds how those are read and written.
type Codec struct {
	Write *json.Marshalers
	Read  *json.Unmarshalers
}

var (
	plaintext = json.MarshalToFunc(func(e *jsontext.Encoder, t secret.Text) error {
		return e.WriteToken(jsontext.String(t.Reveal()))
	})
	sealing = json.UnmarshalFromFunc(readText)
)

// Encode writes v as JSON with its secrets in plain text, for the wire, or for the person
// who asked for the credential. Its error holds none of them.
func (c Codec) Encode(w io.Writer, v any) error {
	// Members of a map are sorted, so that the same value always gives the same text.
	err := json.MarshalWrite(w, v, json.WithMarshalers(json.JoinMarshalers(plaintext, c.Write)), json.Deterministic(true),
		jsontext.AllowInvalidUTF8(true))
	if err != nil {
		// The library's text can quote the value it was writing.
		return errors.New("encoding a " + reflect.TypeOf(v).String())
	}
	return nil
}

// Strict reads a request body into v: one JSON value and nothing behind it, no unknown
// field, no field twice, names in their exact case, null only if the type takes one
// ([nullable]), at most [MaxDepth] levels. A fault is a [*FieldError].
func (c Codec) Strict(data []byte, v any) error {
	return c.decode(data, v, true)
}

// Tolerant is Strict for standards that tell a server to ignore attributes it does not
// know, and in which null stands for an absent one.
func (c Codec) Tolerant(data []byte, v any) error {
	return c.decode(data, v, false)
}

// Answer reads a server's answer. Unknown fields are ignored, so that a client works with
// the server's next release.
func (c Codec) Answer(data []byte, v any) error {
	return asFieldError(json.Unmarshal(data, v, c.reading()))
}

func (c Codec) decode(data []byte, v any, strict bool) error {
	if err := scan(data, v, strict); err != nil {
		return err
	}
	return asFieldError(json.Unmarshal(data, v, c.reading(), json.RejectUnknownMembers(strict)))
}

func (c Codec) reading() json.Options {
	return json.WithUnmarshalers(json.JoinUnmarshalers(sealing, c.Read))
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

// Kept is a JSON value that a store kept, for an answer. False if there is none, or if it
// would make the whole answer fail: not JSON, or nested too deeply.
func Kept(text string) (jsontext.Value, bool) {
	if scan([]byte(text), nil, false) != nil || !jsontext.Value(text).IsValid() {
		return nil, false
	}
	return jsontext.Value(text), true
}

// refused is an error whose text is our own and holds no input.
type refused struct{ error }

// nullable is implemented by requests in which null has a meaning somewhere.
type nullable interface{ TakesNull(jsontext.Pointer) bool }

// scan refuses what decoding would accept silently or at too high a price: null where
// it has no meaning and would pass for an absent field, and nesting without end. The
// decoder itself reports bad syntax.
func scan(data []byte, v any, strict bool) error {
	takes, _ := v.(nullable)
	d := jsontext.NewDecoder(bytes.NewBuffer(data))
	for {
		t, err := d.ReadToken()
		if err != nil {
			return nil
		}
		if d.StackDepth() > MaxDepth {
			return &FieldError{Message: "nests too deeply"}
		}
		if !strict || t.Kind() != 'n' {
			continue
		}
		if p := d.StackPointer(); takes == nil || !takes.TakesNull(p) {
			return &FieldError{Field: dotted(p), Message: "must not be null"}
		}
	}
}

// FieldError is a fault of a JSON text and its place. It holds names of fields and never
// a value.
type FieldError struct {
	// Field is dotted, as "credential.token"; empty for the whole text.
	Field   string
	Message string
	// Syntax: the text is not JSON. False means JSON of the wrong shape.
	Syntax bool
}

func (e *FieldError) Error() string {
	if e.Field == "" {
		return e.Message
	}
	return e.Field + ": " + e.Message
}

// asFieldError rewrites the decoder's errors in the broker's own words, because the
// decoder quotes its input.
func asFieldError(err error) error {
	if err == nil {
		return nil
	}
	var syntax *jsontext.SyntacticError
	if errors.As(err, &syntax) {
		f := &FieldError{Field: dotted(syntax.JSONPointer), Message: "not valid JSON", Syntax: true}
		if errors.Is(err, jsontext.ErrDuplicateName) {
			f.Message, f.Syntax = "is given twice", false
		}
		return f
	}
	var shape *json.SemanticError
	if !errors.As(err, &shape) {
		return &FieldError{Message: "not valid JSON", Syntax: true}
	}
	f := &FieldError{Field: dotted(shape.JSONPointer)}
	var ours refused
	switch {
	case errors.As(err, &ours):
		f.Message = ours.Error()
	case errors.Is(err, json.ErrUnknownName):
		f.Message = "unknown field"
	case shape.GoType == nil:
		f.Message = "has the wrong form"
	default:
		f.Message = "must be " + wanted(shape.GoType)
	}
	return f
}

// wanted names the JSON that a Go type is read from.
func wanted(t reflect.Type) string {
	if t == reflect.TypeFor[secret.Text]() {
		return "a string"
	}
	switch t.Kind() {
	case reflect.Pointer:
		return wanted(t.Elem())
	case reflect.String:
		return "a string"
	case reflect.Bool:
		return "true or false"
	case reflect.Int, reflect.Int64:
		return "a whole number"
	case reflect.Slice:
		return "a list"
	case reflect.Struct, reflect.Map:
		return "an object"
	}
	return "of another form"
}

// longestName is the length up to which a field's name is repeated. No name of the
// broker's is longer, and a caller may have put a secret in place of a name.
const longestName = 32

// dotted turns a JSON pointer into the form that people write. A name that no field
// could have becomes a question mark.
func dotted(p jsontext.Pointer) string {
	var names []string
	for name := range p.Tokens() {
		if name == "" || len(name) > longestName || strings.ContainsFunc(name, unusual) {
			name = "?"
		}
		names = append(names, name)
	}
	return strings.Join(names, ".")
}

// unusual reports whether a character has no place in a field's name.
func unusual(r rune) bool {
	return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("-_/.", r))
}
